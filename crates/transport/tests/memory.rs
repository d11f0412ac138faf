//! Memory of a server stays what it is, whatever comes and goes. Alone in its process, to be measured.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::io::Write;
use std::os::unix::net::UnixStream;

use common::{ECHO, LONG, Place, eventually, options, place, wire};
use transport::{Address, Client, ClientOptions, Code};

fn raw(place: &Place) -> UnixStream {
    let Address::Unix(path) = &place.address else {
        panic!("not unix")
    };
    UnixStream::connect(path).unwrap()
}

fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_ascii_whitespace()
        .nth(1)
        .unwrap()
        .parse::<usize>()
        .unwrap()
        << 10
}

/// Connections made and dropped, large messages, floods: memory stays.
#[test]
fn memory_stays() {
    let place = place("unix", options(1));
    let round = || {
        for _ in 0..200 {
            let mut stream = raw(&place);
            stream
                .write_all(
                    &[
                        wire::hello(),
                        wire::call(1, ECHO, b"x"),
                        wire::headers(3, 0, ECHO, &[]),
                    ]
                    .concat(),
                )
                .unwrap();
        }
        let mut client = Client::connect(&place.address, ClientOptions::default()).unwrap();
        for _ in 0..5 {
            let (status, reply) = client.unary(ECHO, "", &[], &vec![7; 200_000], LONG);
            assert_eq!((status.code, reply.len()), (Code::Ok, 200_000));
            client.start(ECHO, "", &[], b"given up", None).unwrap();
        }
        eventually("one is left", || {
            place.server.counters().connections_open() == 1
        });
    };
    for _ in 0..5 {
        round();
    }
    let before = resident_bytes();
    for _ in 0..45 {
        round();
    }
    let after = resident_bytes();
    assert!(
        after <= before + (1 << 20),
        "from {before} to {after} bytes"
    );
}
