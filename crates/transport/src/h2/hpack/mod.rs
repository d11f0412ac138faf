//! HPACK, header compression for HTTP/2 (RFC 7541).
//!
//! Our own, because the call is what this crate is for: a warm header list is read without an
//! allocation whatever the peer's encoder does, and nothing of a connection at rest is larger than
//! its dynamic table.

mod decode;
mod encode;
mod huffman;
mod size;
mod table;

pub(crate) use decode::split_indexed;
pub use decode::{Decoder, Field, HpackError};
pub(crate) use encode::{Encoder, Memo, Name, indexed, literal_named};
pub use encode::{integer, literal};
pub(crate) use size::ListSize;
