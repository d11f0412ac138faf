//! The view over any bytes, as JSON.

#![no_main]

mod ask;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ask::ask(wire::Format::Json, bytes));
