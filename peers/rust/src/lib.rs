//! The libraries that nearbid is measured against, each doing the work of one request the way its
//! own documentation says to: read it, and show it to the decision as a
//! [`RequestView`](openrtb::RequestView), so that the same engine decides on all of them. And tonic, whose
//! [`call`] is measured against ours.
//!
//! Nothing here is part of what is shipped: `nearbid bench` links it with the feature `peers`.

pub mod call;
#[doc(hidden)]
pub mod flag;
pub mod matching;
#[doc(hidden)]
pub mod raw;
pub mod read;
pub mod sonic;
mod view;
pub mod write;

// The modules `prost`, `planus`, `flatbuffers` and `json`: see the build script.
include!(concat!(env!("OUT_DIR"), "/generated.rs"));
