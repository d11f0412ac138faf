//! Building a request from an owned one, each library by its own means, into a buffer that is used
//! again and again.

use crate::{flatbuffers as official, json, planus as generated, prost as messages};
use flatbuffers::FlatBufferBuilder;
use generated::nearbid::openrtb as tables;
use prost::Message;

/// The builder of the crate `flatbuffers`.
#[derive(Default)]
pub struct FlatBuffers(FlatBufferBuilder<'static>);

impl FlatBuffers {
    /// Builds a request.
    pub fn build(&mut self, request: &tables::BidRequest) -> &[u8] {
        self.0.reset();
        let root = official::pack_BidRequest(&mut self.0, request);
        self.0.finish(root, None);
        self.0.finished_data()
    }
}

/// The builder of planus.
#[derive(Default)]
pub struct Planus(planus::Builder);

impl Planus {
    /// Builds a request.
    pub fn build(&mut self, request: &tables::BidRequest) -> &[u8] {
        self.0.clear();
        self.0.finish(request, None)
    }
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
