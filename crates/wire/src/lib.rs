//! The only crate that knows wire formats.
//!
//! Requests are read in place: a [`Reader`] hands out an [`openrtb::RequestView`] over the received
//! bytes, whichever [`Format`] they are in, and nothing is decoded that nobody asks for. Every
//! byte comes from a peer, so every access is checked and everything has a [limit](Limits).

mod fields;
mod flatbuffers;
mod format;
mod generated;
mod json;
mod limits;
pub mod message;
pub mod notify;
mod protobuf;
mod reader;
#[cfg(feature = "record")]
pub mod record;
#[cfg(not(feature = "record"))]
mod record;
mod response;
mod stream;
pub mod template;

pub use format::Format;
pub use limits::{LimitRange, Limits};
pub use message::{DecodeError, Encoder, decode, encode};
pub use reader::{Reader, Visit};
pub use response::no_bid;
pub use stream::{Record, RecordWriter, Records, StreamError, StreamErrorKind};
