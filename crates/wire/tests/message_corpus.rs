//! What exchanges send, through every pair of formats.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::path::PathBuf;
use wire::message::{BidRequest, BidResponse, Message};
use wire::{Format, Limits, decode, encode};

/// A file of the corpus; `None`, and a line that says so, where it is not present.
fn corpus(name: &str) -> Option<String> {
    let root = std::env::var_os("NEARBID_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let file = root.join("corpus").join(name);
    let text = std::fs::read_to_string(&file).ok();
    if text.is_none() {
        println!("skipped: {} not present", file.display());
    }
    text
}

fn check<M: Message + PartialEq + std::fmt::Debug>(name: &str) {
    let limits = Limits::default();
    for (line, text) in corpus(name)
        .iter()
        .flat_map(|text| text.lines())
        .enumerate()
    {
        let line = line + 1;
        let message: M = decode(Format::Json, text.as_bytes(), &limits)
            .unwrap_or_else(|error| panic!("{name}:{line}: {error}"));
        for format in Format::ALL {
            let mut bytes = Vec::new();
            encode(format, &message, &mut bytes);
            let back: M = decode(format, &bytes, &limits)
                .unwrap_or_else(|error| panic!("{name}:{line}, {format}: {error}"));
            assert_eq!(back, message, "{name}:{line}, {format}");
        }
    }
}

#[test]
fn requests_survive_every_format() {
    check::<BidRequest>("requests.ndjson");
}

#[test]
fn responses_survive_every_format() {
    check::<BidResponse>("responses.ndjson");
}
