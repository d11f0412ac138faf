//! The view over any bytes, as protobuf.

#![no_main]

mod ask;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ask::ask(wire::Format::Protobuf, bytes));
