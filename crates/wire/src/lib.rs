//! The only crate that knows wire formats.
//!
//! Requests are read in place: a [`Reader`] hands out an [`openrtb::RequestView`] over the received
//! bytes, whichever [`Format`] they are in, and nothing is decoded that nobody asks for.

mod flatbuffers;
mod format;
mod json;
mod limits;
mod protobuf;

pub use format::Format;
pub use limits::{LimitRange, Limits};
