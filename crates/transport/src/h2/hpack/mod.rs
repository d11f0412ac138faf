//! HPACK, header compression for HTTP/2 (RFC 7541).

mod encode;

pub use encode::{integer, literal};
