//! Peers that stall, vanish, flood or lie, over real sockets: they cost nobody else a call, and leave
//! nothing behind.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use common::{ECHO, GROW, LONG, Place, client, eventually, options, place, wire};
use transport::{Address, Code, Counter, PeerPolicy, ServerLimits, ServerOptions};

fn raw(place: &Place) -> UnixStream {
    let Address::Unix(path) = &place.address else {
        panic!("not unix")
    };
    let stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

fn count(place: &Place, counter: Counter) -> u64 {
    place.server.counters().get(counter)
}

/// Reads until the server has closed, whichever way.
fn drained(mut stream: &UnixStream) -> Vec<u8> {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("{error}"),
    }
    all
}

fn serves(place: &Place) {
    let mut client = client(place);
    let (status, reply) = client.unary(ECHO, "", &[], b"still there", LONG);
    assert_eq!(
        (status.code, reply.as_slice()),
        (Code::Ok, &b"still there"[..])
    );
}

fn with(limits: ServerLimits) -> Place {
    place(
        "unix",
        ServerOptions {
            limits,
            tick: Duration::from_millis(5),
            ..options(1)
        },
    )
}

const SHORT: Duration = Duration::from_millis(50);

#[test]
fn who_says_nothing_is_closed() {
    let place = with(ServerLimits {
        handshake_timeout: SHORT,
        ..ServerLimits::default()
    });
    for start in [&b""[..], b"PRI * HT", wire::PREFACE] {
        let mut stream = raw(&place);
        stream.write_all(start).unwrap();
        assert!(!drained(&stream).is_empty());
    }
    assert_eq!(count(&place, Counter::TimeoutHandshake), 3);
    serves(&place);
}

#[test]
fn who_drips_is_closed() {
    let limits = ServerLimits {
        frame_timeout: SHORT,
        ..ServerLimits::default()
    };
    let place = with(limits);
    let block = wire::request_block(ECHO, &[]);
    for start in [
        wire::call(1, ECHO, b"half a frame")[..20].to_vec(),
        wire::frame(wire::HEADERS, 0, 1, &block[..5]),
    ] {
        let mut stream = raw(&place);
        stream.write_all(&[wire::hello(), start].concat()).unwrap();
        drained(&stream);
    }
    // A block that goes on, byte by byte.
    let mut stream = raw(&place);
    stream
        .write_all(&[wire::hello(), wire::frame(wire::HEADERS, 0, 1, &[])].concat())
        .unwrap();
    let drip = wire::frame(wire::CONTINUATION, 0, 1, &[0x10]);
    eventually("the dripping one is closed", || {
        stream.write_all(&drip).is_err()
    });
    assert_eq!(count(&place, Counter::TimeoutFrame), 3);
    serves(&place);
}

#[test]
fn a_request_that_never_ends_is_ended() {
    let place = with(ServerLimits {
        request_timeout: SHORT,
        ..ServerLimits::default()
    });
    let mut stream = raw(&place);
    stream
        .write_all(&[wire::hello(), wire::headers(1, 0, ECHO, &[])].concat())
        .unwrap();
    eventually("the call ends", || {
        count(&place, Counter::TimeoutRequest) == 1
    });
    // Only the call: the connection lives.
    stream.write_all(&wire::call(3, ECHO, b"alive")).unwrap();
    let mut seen = Vec::new();
    eventually("an answer", || {
        let mut bytes = [0; 1000];
        let n = stream.read(&mut bytes).unwrap();
        seen.extend_from_slice(&bytes[..n]);
        seen.windows(5).any(|bytes| bytes == b"alive")
    });
}

#[test]
fn who_does_not_read_is_closed() {
    let limits = ServerLimits {
        slow_reader_timeout: SHORT,
        ..ServerLimits::default()
    };
    let place = with(limits);
    // One whose socket is full, and one whose windows are shut.
    let mut full = raw(&place);
    let wide = [
        wire::PREFACE,
        &wire::settings(&[(4, 0x7fff_ffff)]),
        &wire::window(0, 0x7000_0000),
    ]
    .concat();
    full.write_all(&wide).unwrap();
    for stream in (1..100).step_by(2) {
        if full
            .write_all(&wire::call(stream, GROW, b"500000"))
            .is_err()
        {
            break;
        }
    }
    let mut shut = raw(&place);
    shut.write_all(
        &[
            wire::PREFACE,
            &wire::settings(&[(4, 0)]),
            &wire::call(1, GROW, b"500000"),
        ]
        .concat(),
    )
    .unwrap();
    eventually("both are closed", || {
        count(&place, Counter::TimeoutSlowReader) == 2
    });
    serves(&place);
    eventually("and gone", || {
        place.server.counters().connections_open() == 0
    });
}

#[test]
fn keepalive_and_idle() {
    let quiet = ServerLimits {
        keepalive_interval: Some(SHORT),
        ..ServerLimits::default()
    };
    let place = with(quiet);
    let mut stream = raw(&place);
    stream.write_all(&wire::hello()).unwrap();
    drained(&stream);
    assert_eq!(count(&place, Counter::TimeoutKeepalive), 1);
    let place = with(ServerLimits {
        idle_timeout: Some(SHORT),
        ..ServerLimits::default()
    });
    let mut stream = raw(&place);
    stream.write_all(&wire::hello()).unwrap();
    drained(&stream);
    assert_eq!(count(&place, Counter::TimeoutIdle), 1);
}

/// Dies at every byte of a session, while somebody else calls.
#[test]
fn who_dies_at_any_byte() {
    let place = place("unix", options(1));
    let mut other = client(&place);
    let mut bytes = wire::hello();
    bytes.extend(wire::call(1, ECHO, b"abc"));
    bytes.extend(wire::call(3, GROW, b"100000"));
    bytes.extend(wire::headers(5, 0, ECHO, &[]));
    for length in 0..bytes.len() {
        let mut stream = raw(&place);
        stream.write_all(&bytes[..length]).unwrap();
        drop(stream);
        if length % 10 == 0 {
            assert!(other.unary(ECHO, "", &[], b"x", LONG).0.is_ok());
        }
    }
    eventually("all are gone", || {
        place.server.counters().connections_open() == 1
    });
}

#[test]
fn one_connection_too_many() {
    let place = with(ServerLimits {
        connections_max: 2,
        ..ServerLimits::default()
    });
    let kept = [raw(&place), raw(&place)];
    eventually("two", || place.server.counters().connections_open() == 2);
    assert!(drained(&raw(&place)).is_empty());
    assert_eq!(count(&place, Counter::RefusedFull), 1);
    drop(kept);
    eventually("room again", || {
        place.server.counters().connections_open() == 0
    });
    serves(&place);
}

#[test]
fn who_may_call() {
    let (uid, gid) = (
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw(),
    );
    for (uids, gids, allowed) in [
        (vec![], vec![], true),
        (vec![uid], vec![], true),
        (vec![], vec![gid], true),
        (vec![uid + 1], vec![gid + 1], false),
    ] {
        let place = place(
            "unix",
            ServerOptions {
                peers: PeerPolicy { uids, gids },
                ..options(1)
            },
        );
        if allowed {
            serves(&place);
        } else {
            assert!(drained(&raw(&place)).is_empty());
        }
        assert_eq!(count(&place, Counter::RefusedPeer), u64::from(!allowed));
    }
}
