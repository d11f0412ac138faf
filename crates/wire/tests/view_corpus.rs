//! Requests that others wrote, where they are present: JSON in place must give the answers that
//! protobuf and FlatBuffers in place give over the same request, decoded and encoded.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod common;

use std::path::PathBuf;

use common::answers::answers;
use wire::message::BidRequest;
use wire::{Format, Limits, Reader, decode, encode};

/// A file of the folder that `NEARBID_SHARED` names, or of one beside the workspace.
fn file(name: &str) -> Option<String> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let folder = std::env::var_os("NEARBID_SHARED").map_or(PathBuf::from(beside), PathBuf::from);
    let text = std::fs::read_to_string(folder.join(name)).ok();
    if text.is_none() {
        println!("skipped: {} not present", folder.join(name).display());
    }
    text
}

/// Compares the answers over one request in all formats.
fn compare(reader: &mut Reader, request: &[u8]) -> Result<(), String> {
    let expect = answers(reader, Format::Json, request).map_err(|e| format!("JSON: {e:?}"))?;
    let message: BidRequest =
        decode(Format::Json, request, &Limits::default()).map_err(|e| format!("decode: {e:?}"))?;
    for format in Format::ALL {
        let mut bytes = Vec::new();
        encode(format, &message, &mut bytes);
        let got = answers(reader, format, &bytes).map_err(|e| format!("{format}: {e:?}"))?;
        if got != expect {
            return Err(format!("{format}: {got}\nJSON in place: {expect}"));
        }
    }
    Ok(())
}

fn check(name: &str, request_of: impl Fn(&str) -> Option<String>) {
    let Some(text) = file(name) else {
        return;
    };
    let mut reader = Reader::default();
    let mut faults = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some(request) = request_of(line) else {
            continue;
        };
        if let Err(fault) = compare(&mut reader, request.as_bytes()) {
            faults.push(format!("{name}:{}: {fault}\n{request}", number + 1));
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults, the first:\n{}",
        faults.len(),
        faults[0]
    );
}

#[test]
fn corpus() {
    check("corpus/requests.ndjson", |line| Some(line.to_owned()));
}

#[test]
fn sets() {
    check("spec/cases/sets/requests.ndjson", |line| {
        Some(line.to_owned())
    });
}

#[test]
fn rules() {
    check("spec/cases/rules.ndjson", |line| {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        // Cases of exact text have the invalid ones among them.
        case.get("request").map(serde_json::Value::to_string)
    });
}
