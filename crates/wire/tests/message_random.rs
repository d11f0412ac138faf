//! Random messages of the whole schema: every format gives them back, whatever they pass through, and
//! another implementation of protobuf reads and writes the same bytes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod common;

use common::random::Random;
use proptest::prelude::*;
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage as _, Value};
use std::fmt::Debug;
use wire::message::{BidRequest, BidResponse, Message};
use wire::{Encoder, Format, Limits, decode};

/// Random messages are larger than requests are.
fn limits() -> Limits {
    Limits {
        message_bytes_max: 1 << 24,
        work_max: 1 << 24,
        ..Limits::default()
    }
}

fn check_round_trips<M: Message + PartialEq + Debug>(seed: u64) {
    let message: M = Random::new(seed).message();
    let mut encoder = Encoder::new();
    for first in Format::ALL {
        let bytes = encoder.encode(first, &message).to_vec();
        let once: M = decode(first, &bytes, &limits()).unwrap();
        assert_eq!(once, message, "seed {seed}: {first}");
        for second in Format::ALL {
            let bytes = encoder.encode(second, &once).to_vec();
            let twice: M = decode(second, &bytes, &limits()).unwrap();
            assert_eq!(twice, message, "seed {seed}: {first}, then {second}");
        }
    }
}

fn pool() -> DescriptorPool {
    let set = include_bytes!("../../../schema/bidder.binpb");
    DescriptorPool::decode(set.as_slice()).unwrap()
}

/// Fields that the other implementation did not know, anywhere in a message.
fn unknown_fields(message: &DynamicMessage) -> usize {
    fn within(value: &Value) -> usize {
        match value {
            Value::Message(message) => unknown_fields(message),
            Value::List(values) => values.iter().map(within).sum(),
            Value::Map(values) => values.values().map(within).sum(),
            _ => 0,
        }
    }
    message.unknown_fields().count()
        + message
            .fields()
            .map(|(_, value)| within(value))
            .sum::<usize>()
}

fn check_oracle<M: Message + PartialEq + Debug>(name: &str, seed: u64) {
    let message: M = Random::new(seed).message();
    let mut encoder = Encoder::new();
    let bytes = encoder.encode(Format::Protobuf, &message);
    let descriptor = pool().get_message_by_name(name).unwrap();
    let other = DynamicMessage::decode(descriptor, bytes).unwrap();
    assert_eq!(unknown_fields(&other), 0, "seed {seed}");
    let back: M = decode(Format::Protobuf, &other.encode_to_vec(), &limits()).unwrap();
    // Entries of maps come in another order, so it is for the other implementation to compare.
    let bytes = encoder.encode(Format::Protobuf, &back);
    let again = DynamicMessage::decode(other.descriptor(), bytes).unwrap();
    assert_eq!(again, other, "seed {seed}");
}

proptest! {
    #[test]
    fn requests_pass_through_every_pair_of_formats(seed: u64) {
        check_round_trips::<BidRequest>(seed);
    }

    #[test]
    fn responses_pass_through_every_pair_of_formats(seed: u64) {
        check_round_trips::<BidResponse>(seed);
    }

    #[test]
    fn another_protobuf_agrees_on_requests(seed: u64) {
        check_oracle::<BidRequest>("nearbid.openrtb.BidRequest", seed);
    }

    #[test]
    fn another_protobuf_agrees_on_responses(seed: u64) {
        check_oracle::<BidResponse>("nearbid.openrtb.BidResponse", seed);
    }

    #[test]
    fn damaged_bytes_are_a_message_or_an_error(
        seed: u64,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let message: BidRequest = Random::new(seed).message();
        let mut encoder = Encoder::new();
        for format in Format::ALL {
            let mut bytes = encoder.encode(format, &message).to_vec();
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
                let read = decode::<BidRequest>(format, &bytes, &limits());
                if let Ok(message) = read {
                    for format in Format::ALL {
                        encoder.encode(format, &message);
                    }
                }
                let _ = decode::<BidResponse>(format, &bytes, &limits());
            }
        }
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in Format::ALL {
            let _ = decode::<BidRequest>(format, &bytes, &limits());
        }
    }
}

#[test]
fn every_field_of_the_schema_is_reached() {
    let mut reached = std::collections::BTreeSet::new();
    for seed in 0..1000 {
        Random::new(seed).message_noting::<BidRequest>(&mut reached);
        Random::new(seed).message_noting::<BidResponse>(&mut reached);
    }
    let descriptors = pool();
    let openrtb = descriptors
        .all_messages()
        .filter(|message| message.package_name() == "nearbid.openrtb");
    let fields: usize = openrtb.map(|message| message.fields().count()).sum();
    assert_eq!(reached.len(), fields, "{reached:?}");
}
