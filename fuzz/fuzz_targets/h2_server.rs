//! Any bytes, in any pieces, to a server's side of a connection: no panic, and no output or memory
//! beyond what the limits allow.

#![no_main]

use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use transport::h2::{Host, ServerConnection};
use transport::{Call, Method, MethodKind, Reply, ServerLimits, ServerOptions, Service, Status, TransportKind};

struct Echo;

impl Service for Echo {
    fn method(&self, path: &str) -> Option<Method> {
        match path {
            "/a/U" => Some(Method { id: 0, kind: MethodKind::Unary }),
            "/a/B" => Some(Method { id: 1, kind: MethodKind::Bidi }),
            _ => None,
        }
    }

    fn call(&mut self, call: &Call<'_>, reply: &mut Reply<'_>) -> Result<(), Status> {
        reply.metadata("x", call.metadata("x").unwrap_or_default());
        reply.message().extend_from_slice(call.message);
        reply.message().extend_from_slice(call.subtype.as_bytes());
        Ok(())
    }
}

/// Small enough for the fuzzer to meet them.
fn limits() -> ServerLimits {
    ServerLimits {
        streams_per_connection_max: 4,
        header_list_bytes_max: 1024,
        message_bytes_max: 512,
        partial_bytes_per_connection_max: 1024,
        unsent_bytes_per_connection_max: 4096,
        control_frames_max: 64,
        ..ServerLimits::default()
    }
}

/// A set of descriptors with one file, `a`, which is far larger than a question for it.
fn descriptors() -> Vec<u8> {
    let file = [&b"\x0a\x01a\xfa\x01\x80\x04"[..], &[b'x'; 512]].concat();
    [&b"\x0a\x87\x04"[..], &file].concat()
}

const HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

fuzz_target!(|input: &[u8]| {
    // The first two bytes say how the rest is cut, and whether it is greeted for.
    let Some(([cut, greet], input)) = input.split_first_chunk() else { return };
    let options = ServerOptions {
        limits: limits(),
        keep_metadata: vec!["x"],
        reflection: Some(descriptors()),
        ..ServerOptions::default()
    };
    let mut now = Instant::now();
    let mut machine = ServerConnection::new(&options.limits, TransportKind::Unix, None, now);
    let mut host = Host::alone(Echo, &options).expect("the options are good");
    let mut bytes = if greet & 1 == 1 { HELLO.to_vec() } else { Vec::new() };
    for piece in input.chunks(usize::from(*cut).max(1)) {
        bytes.extend_from_slice(piece);
        now += Duration::from_millis(u64::from(greet >> 4));
        let Ok(taken) = machine.receive(&bytes, now, &mut host) else { return };
        bytes.drain(..taken);
        // One message's reply may go beyond the limit, and every frame may be answered shortly.
        assert!(machine.out().len() <= 4096 + 2048 + 64 * (piece.len() + 16));
        assert!(machine.calls() <= 4);
        machine.out().clear();
        if greet & 2 == 2 {
            machine.go_away();
        }
    }
    machine.go_away_now(&mut host);
});
