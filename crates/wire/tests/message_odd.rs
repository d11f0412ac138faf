//! Requests whose values are odd: the view over the JSON gives the same answers as the views over what
//! it is converted to.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod common;

use common::{FULL, answers::answers};
use proptest::prelude::*;
use serde_json::Value;
use wire::message::BidRequest;
use wire::{Format, Limits, Reader, decode, encode};

/// Values as JSON spells them, of every type and at every edge.
const ODD: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "1",
    "2",
    "-1",
    "-0",
    "3",
    "4.0",
    "5.9",
    "0.5",
    "-0.5",
    "1e0",
    "10E-1",
    "1e2",
    "1e999",
    "-1e999",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967299",
    "1.10000000000000001",
    "123456789012345678901234567890",
    "\"\"",
    "\"1\"",
    "\"0\"",
    "\"3.0\"",
    "\" 3\"",
    "\"03\"",
    "\"1e999\"",
    "\"NaN\"",
    "\"true\"",
    "\"USD\"",
    "\"usd \"",
    "\"US\"",
    "\"\\u0055SA\"",
    "\"\\ud800\"",
    "\"\\ud83d\\ude00\"",
    "\"a\\/b\\n\"",
    "\"video\\/mp4\"",
    "[]",
    "[1]",
    "[\"1\"]",
    "[[1]]",
    "[null]",
    "[{}]",
    "{}",
    "{\"id\":1}",
    "[0,1.5,\"2\",null,true,\"\",\"x\",{},[],-1]",
    "[{\"w\":300,\"h\":250},1,{\"w\":\"300\",\"h\":50.9},{}]",
    "{\"w\":1,\"w\":2}",
];

/// Puts `odd` in place of the value number `at` of a document, counted depth first.
fn replace(document: &mut Value, at: &mut usize, odd: &str) -> bool {
    if *at == 0 {
        *document = Value::String(format!("@{odd}@"));
        return true;
    }
    *at -= 1;
    match document {
        Value::Object(members) => members.values_mut().any(|value| replace(value, at, odd)),
        Value::Array(values) => values.iter_mut().any(|value| replace(value, at, odd)),
        _ => false,
    }
}

/// The text of a document with the odd values as they are spelled.
fn spell(document: &Value, odd: &[&str]) -> String {
    let mut text = document.to_string();
    for odd in odd {
        let marked = Value::String(format!("@{odd}@")).to_string();
        text = text.replace(&marked, odd);
    }
    text
}

fn check(request: &str) {
    let mut reader = Reader::default();
    let read = decode::<BidRequest>(Format::Json, request.as_bytes(), &Limits::default());
    let read = read.unwrap_or_else(|error| panic!("{request}: {error}"));
    let expect = answers(&mut reader, Format::Json, request.as_bytes()).unwrap();
    for format in Format::ALL {
        let mut bytes = Vec::new();
        encode(format, &read, &mut bytes);
        let found = answers(&mut reader, format, &bytes);
        assert_eq!(found.as_ref(), Ok(&expect), "{format}: {request}");
        let back: BidRequest = decode(format, &bytes, &Limits::default()).unwrap();
        assert_eq!(back, read, "{format}: {request}");
    }
}

/// Every value of a full request but the request itself, with every odd one in its place.
#[test]
fn one_odd_value() {
    for odd in ODD {
        for at in 1.. {
            let mut document: Value = serde_json::from_str(FULL).unwrap();
            if !replace(&mut document, &mut { at }, odd) {
                break;
            }
            check(&spell(&document, &[odd]));
        }
    }
}

proptest! {
    #[test]
    fn several_odd_values(places in prop::collection::vec((1..160usize, 0..ODD.len()), 1..12)) {
        let mut document: Value = serde_json::from_str(FULL).unwrap();
        let mut odd = Vec::new();
        for (mut at, which) in places {
            replace(&mut document, &mut at, ODD[which]);
            odd.push(ODD[which]);
        }
        check(&spell(&document, &odd));
    }
}
