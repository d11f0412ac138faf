//! Building a request from an owned one, each library by its own means, into a buffer that is used
//! again and again where the library lets one.

use crate::{flatbuffers as official, json, planus as generated, prost as messages};
use flatbuffers::FlatBufferBuilder;
use generated::nearbid::openrtb as tables;
use prost::Message;

/// Builds with the crate `flatbuffers`.
pub fn flatbuffers<'b>(
    request: &tables::BidRequest,
    builder: &'b mut FlatBufferBuilder<'_>,
) -> &'b [u8] {
    builder.reset();
    let root = official::pack_BidRequest(builder, request);
    builder.finish(root, None);
    builder.finished_data()
}

/// Builds with planus.
pub fn planus<'b>(request: &tables::BidRequest, builder: &'b mut planus::Builder) -> &'b [u8] {
    builder.clear();
    builder.finish(request, None)
}

/// Encodes with prost.
///
/// # Errors
/// None: a `Vec` always has room.
pub fn prost(request: &messages::BidRequest, out: &mut Vec<u8>) -> Result<(), prost::EncodeError> {
    out.clear();
    request.encode(out)
}

/// Writes with `serde_json`.
///
/// # Errors
/// None that a request can cause.
pub fn serde_json(request: &json::BidRequest, out: &mut Vec<u8>) -> serde_json::Result<()> {
    out.clear();
    serde_json::to_writer(out, request)
}
