//! Any bytes, in any pieces, to a client's side of a connection: no panic, and every call ends once.

#![no_main]

use std::collections::BTreeSet;
use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use transport::h2::{ClientConfig, ClientConnection, Request};

fuzz_target!(|input: &[u8]| {
    let Some((cut, input)) = input.split_first() else { return };
    let now = Instant::now();
    let config = ClientConfig {
        authority: "localhost".to_owned(),
        message_bytes_max: 512,
        unsent_bytes_max: 1 << 20,
        keep_metadata: vec!["x"],
    };
    let mut machine = ClientConnection::new(config, now);
    let message = [7; 70_000];
    let mut open = BTreeSet::new();
    for (tag, bytes) in (0..).zip([0, 100, 70_000]) {
        let message = message.get(..bytes).expect("it is as long as the longest");
        let request = Request { path: "/a/U", subtype: "proto", metadata: &[("x", b"1")], message, timeout: None };
        if machine.start(tag, &request, None).is_ok() {
            open.insert(tag);
        }
    }
    let mut bytes = Vec::new();
    for piece in input.chunks(usize::from(*cut).max(1)) {
        bytes.extend_from_slice(piece);
        let result = machine.receive(&bytes, now, |ended| {
            assert!(open.remove(&ended.tag), "a call ended twice");
            assert!(ended.message.len() <= 512);
        });
        let Ok(taken) = result else { break };
        bytes.drain(..taken);
        machine.out().clear();
        if machine.cancel(2) {
            assert!(open.remove(&2));
        }
    }
    assert!(machine.abandon().into_iter().eq(open));
});
