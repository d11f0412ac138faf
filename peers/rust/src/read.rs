//! Reading a request, each library by its own means. What comes back is a
//! [`RequestView`](openrtb::RequestView), or is one by reference.

use crate::view::malformed;
use crate::{flatbuffers as official, json, planus as generated, prost as messages};
use generated::nearbid::openrtb as tables;
use openrtb::Read;
use planus::ReadAsRoot;
use prost::Message;

/// Decodes the whole of a protobuf message, with prost.
///
/// # Errors
/// What prost refuses.
pub fn prost(bytes: &[u8]) -> Read<messages::BidRequest> {
    messages::BidRequest::decode(bytes).map_err(malformed)
}

/// Decodes the whole of a JSON text, with `serde_json`.
///
/// # Errors
/// What it refuses.
pub fn serde_json(bytes: &[u8]) -> Read<json::BidRequest> {
    serde_json::from_slice(bytes).map_err(malformed)
}

/// Reads what decisions ask of a JSON text, with sonic-rs.
///
/// # Errors
/// What it refuses.
pub fn sonic(bytes: &[u8]) -> Read<crate::sonic::BidRequest<'_>> {
    crate::sonic::read(bytes)
}

/// Verifies the whole of a FlatBuffer, with the crate `flatbuffers`. Its fields are then read in
/// place.
///
/// # Errors
/// What the verifier refuses.
pub fn flatbuffers(bytes: &[u8]) -> Read<official::BidRequest<'_>> {
    flatbuffers::root::<official::BidRequest<'_>>(bytes).map_err(malformed)
}

/// Opens a FlatBuffer with planus, which checks every access.
///
/// # Errors
/// What planus refuses.
pub fn planus(bytes: &[u8]) -> Read<tables::BidRequestRef<'_>> {
    tables::BidRequestRef::read_as_root(bytes).map_err(malformed)
}

/// Decodes the whole of a FlatBuffer, with planus.
///
/// # Errors
/// What planus refuses.
pub fn planus_owned(bytes: &[u8]) -> Read<tables::BidRequest> {
    tables::BidRequest::try_from(planus(bytes)?).map_err(malformed)
}
