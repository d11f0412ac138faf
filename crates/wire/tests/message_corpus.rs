//! What exchanges send, through every pair of formats.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use serde_json::Value;
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

/// Compares every `ext` of a document with the one in the same place of the other, and counts them.
fn compare_exts(given: &Value, found: &Value, place: &str) -> usize {
    match (given, found) {
        (Value::Object(given), Value::Object(found)) => {
            let mut count = 0;
            for (key, value) in given {
                let place = format!("{place}.{key}");
                if key == "ext" {
                    assert_eq!(found.get(key), Some(value), "{place}");
                    count += 1;
                } else if let Some(found) = found.get(key) {
                    count += compare_exts(value, found, &place);
                }
            }
            count
        }
        (Value::Array(given), Value::Array(found)) if given.len() == found.len() => {
            let pairs = given.iter().zip(found).enumerate();
            pairs
                .map(|(index, (given, found))| {
                    compare_exts(given, found, &format!("{place}[{index}]"))
                })
                .sum()
        }
        _ => 0,
    }
}

fn check_exts<M: Message>(name: &str, least: usize) {
    let Some(corpus) = corpus(name) else { return };
    let limits = Limits::default();
    let mut count = 0;
    for (line, text) in corpus.lines().enumerate() {
        let given: Value = serde_json::from_str(text).unwrap();
        for format in Format::ALL {
            let (mut bytes, mut json) = (Vec::new(), Vec::new());
            let read: M = decode(Format::Json, text.as_bytes(), &limits).unwrap();
            encode(format, &read, &mut bytes);
            let back: M = decode(format, &bytes, &limits).unwrap();
            encode(Format::Json, &back, &mut json);
            let found = serde_json::from_slice(&json).unwrap();
            count += compare_exts(&given, &found, &format!("{name}:{} {format} ", line + 1));
        }
    }
    assert!(count >= least, "{count}");
}

#[test]
fn extensions_of_requests_survive_every_format() {
    check_exts::<BidRequest>("requests.ndjson", 10_000);
}

#[test]
fn extensions_of_responses_survive_every_format() {
    check_exts::<BidResponse>("responses.ndjson", 1_000);
}
