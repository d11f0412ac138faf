//! FlatBuffers: `schema/openrtb.fbs`, root `BidRequest`, no file identifier, no size prefix.

pub(crate) mod cursor;
pub(crate) mod message;
pub(crate) mod template;
pub(crate) mod view;
