//! Protobuf: `schema/openrtb.proto`, wire-compatible with the IAB's own.

pub(crate) mod cursor;
pub(crate) mod message;
pub(crate) mod template;
pub(crate) mod value;
pub(crate) mod view;
