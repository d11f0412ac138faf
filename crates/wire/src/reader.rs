//! Hands out a view over received bytes, whichever format they are in.
//!
//! The view borrows the bytes and the reader's own room, so it lives in a callback: [`Visit`] is
//! written once over any [`RequestView`] and compiled once a format, and nothing is dispatched
//! at run time but the choice of the format.

use openrtb::{Read, RequestView};

use crate::limits::Meter;
use crate::{Format, Limits, flatbuffers, json, protobuf};

/// What is to be done with a request.
pub trait Visit {
    /// What comes of it.
    type Out;

    /// Looks at the request.
    fn visit<'a, V: RequestView<'a>>(self, view: &V) -> Self::Out;
}

/// Reads requests, one after the other. Keeps the room that reading needs, some 100 bytes for each
/// impression allowed, so that a warm reader allocates nothing.
#[derive(Debug)]
pub struct Reader {
    meter: Meter,
    json_imps: Vec<json::keys::Found>,
    protobuf_imps: Vec<protobuf::view::ImpScan>,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader::new(Limits::default())
    }
}

impl Reader {
    /// A reader that keeps these limits.
    pub fn new(limits: Limits) -> Reader {
        Reader {
            meter: Meter::new(limits),
            json_imps: Vec::new(),
            protobuf_imps: Vec::new(),
        }
    }

    /// The limits that the reader keeps.
    pub fn limits(&self) -> &Limits {
        self.meter.limits()
    }

    /// Opens the request that `bytes` hold and lets `visit` look at it.
    ///
    /// # Errors
    ///
    /// [`openrtb::Refusal`] where the bytes cannot be opened. What the visitor runs into later is
    /// in what comes of it.
    #[inline]
    pub fn read<V: Visit>(&mut self, format: Format, bytes: &[u8], visit: V) -> Read<V::Out> {
        let meter = &self.meter;
        meter.limits().check_length(bytes)?;
        meter.restart();
        match format {
            Format::FlatBuffers => {
                let view = flatbuffers::view::Request::read(bytes, meter)?;
                Ok(visit.visit(&view))
            }
            Format::Protobuf => {
                let imps = &mut self.protobuf_imps;
                let view = protobuf::view::Request::read(bytes, imps, meter)?;
                Ok(visit.visit(&view))
            }
            Format::Json => {
                let imps = &mut self.json_imps;
                let view = json::view::Request::read(bytes, imps, meter)?;
                Ok(visit.visit(&view))
            }
        }
    }
}
