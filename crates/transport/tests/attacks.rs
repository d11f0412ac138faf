//! Peers that stall, vanish, flood or lie, over real sockets: they cost nobody else a call, and leave
//! nothing behind.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use common::{
    ECHO, GROW, LONG, Place, STREAM, client, eventually, in_flight, options, place, wire,
};
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

/// Somebody honest is served. The short times that a test sets are the honest one's, too, and a busy
/// machine may well make it miss them: then it comes again.
fn serves(place: &Place) {
    eventually("an honest client is served", || {
        let mut client = client(place);
        let (status, reply) = client.unary(ECHO, "", &[], b"still there", LONG);
        status.is_ok() && reply == b"still there"
    });
}

/// Reads from a raw connection until it has got these bytes.
fn hears(mut stream: &UnixStream, bytes: &[u8]) {
    let mut seen = Vec::new();
    while !seen.windows(bytes.len()).any(|window| window == bytes) {
        let mut some = [0; 10_000];
        let n = stream.read(&mut some).unwrap();
        assert!(n > 0, "the end, after {seen:?}");
        seen.extend_from_slice(&some[..n]);
    }
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
    hears(&stream, b"alive");
}

#[test]
fn a_message_that_never_ends_is_ended() {
    let place = with(ServerLimits {
        request_timeout: SHORT,
        ..ServerLimits::default()
    });
    let mut stream = raw(&place);
    let half = &wire::message(b"half a message")[..10];
    let bytes = [
        wire::hello(),
        // One that rests between messages may.
        wire::headers(1, 0, STREAM, &[]),
        wire::data(1, 0, &wire::message(b"a")),
        wire::headers(3, 0, STREAM, &[]),
        wire::data(3, 0, half),
        wire::headers(5, 0, "/grpc.health.v1.Health/Watch", &[]),
        wire::data(5, 0, half),
    ];
    stream.write_all(&bytes.concat()).unwrap();
    eventually("both halves are ended", || {
        count(&place, Counter::TimeoutRequest) == 2
    });
    std::thread::sleep(2 * SHORT);
    stream
        .write_all(&wire::data(1, 0, &wire::message(b"alive")))
        .unwrap();
    hears(&stream, b"\0\0\0\0\x01v\0\0\0\0\x01e");
    assert_eq!(count(&place, Counter::TimeoutRequest), 2);
}

/// What waits to become a message is bounded over all connections, and what is gone makes room.
#[test]
fn incomplete_requests_are_bounded_together() {
    let place = with(ServerLimits {
        partial_bytes_max: 50_000,
        ..ServerLimits::default()
    });
    let start = |stream| {
        let bytes = wire::message(&[7; 40_000]);
        let pieces = bytes[..20_000].chunks(10_000);
        let pieces = pieces.map(|piece| wire::data(stream, 0, piece));
        let mut all = vec![wire::headers(stream, 0, ECHO, &[])];
        all.extend(pieces);
        all.concat()
    };
    let shed = || count(&place, Counter::CallsShed);
    let held: Vec<_> = (0..2)
        .map(|n| {
            let mut stream = raw(&place);
            let ping = wire::frame(wire::PING, 0, 0, b"in order");
            stream
                .write_all(&[wire::hello(), start(1), ping].concat())
                .unwrap();
            hears(&stream, b"in order");
            assert_eq!(shed(), 0, "{n}");
            stream
        })
        .collect();
    let mut third = raw(&place);
    third
        .write_all(&[wire::hello(), start(1)].concat())
        .unwrap();
    hears(&third, b"too many incomplete requests on the server");
    assert_eq!(shed(), 1);
    // Whole messages need no room.
    serves(&place);
    drop(held);
    eventually("the two are gone", || {
        place.server.counters().connections_open() == 1
    });
    third
        .write_all(
            &[
                start(3),
                wire::data(3, 0, &[7; 10_000]),
                wire::data(3, wire::END, &[7; 10_005]),
            ]
            .concat(),
        )
        .unwrap();
    hears(&third, &[7; 5_000]);
}

/// While the whole server holds back as many replies as it may, those who do not read are held short,
/// and those who do are served.
#[test]
fn replies_that_wait_are_bounded_together() {
    let place = with(ServerLimits {
        unsent_bytes_max: 100_000,
        ..ServerLimits::default()
    });
    let shut = [wire::PREFACE, &wire::settings(&[(4, 0)])].concat();
    let grow = |stream| wire::call(stream, GROW, b"20000");
    let mut first = raw(&place);
    let many: Vec<u8> = (0..6).flat_map(|n| grow(2 * n + 1)).collect();
    let ping = wire::frame(wire::PING, 0, 0, b"in order");
    first
        .write_all(&[shut.clone(), many, ping].concat())
        .unwrap();
    hears(&first, b"in order");
    assert_eq!(count(&place, Counter::CallsShed), 0);
    let mut second = raw(&place);
    second
        .write_all(&[shut, grow(1), grow(3)].concat())
        .unwrap();
    hears(&second, b"too many replies wait for the client to read");
    assert_eq!(count(&place, Counter::CallsShed), 1);
    let (status, reply) = client(&place).unary(GROW, "", &[], b"200000", LONG);
    assert_eq!((status.code, reply.len()), (Code::Ok, 200_000));
    drop(first);
    eventually("there is room again", || {
        let mut third = client(&place);
        let (status, _) = third.unary(ECHO, "", &[], b"x", LONG);
        status.is_ok() && place.server.counters().connections_open() <= 2
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
        unix_idle_timeout: Some(SHORT),
        ..ServerLimits::default()
    });
    let mut stream = raw(&place);
    stream.write_all(&wire::hello()).unwrap();
    drained(&stream);
    assert_eq!(count(&place, Counter::TimeoutIdle), 1);
}

/// A connection whose calls end in the read they come in is not idle.
#[test]
fn who_calls_is_not_idle() {
    let place = with(ServerLimits {
        unix_idle_timeout: Some(4 * SHORT),
        ..ServerLimits::default()
    });
    let mut stream = raw(&place);
    stream.write_all(&wire::hello()).unwrap();
    let until = Instant::now() + 12 * SHORT;
    for stream_id in (1..).step_by(2) {
        let asked = Instant::now();
        stream
            .write_all(&wire::call(stream_id, ECHO, b"alive"))
            .unwrap();
        hears(&stream, b"alive");
        std::thread::sleep(SHORT / 5);
        // A machine too busy to call in time proves nothing.
        if Instant::now() >= until || asked.elapsed() > 2 * SHORT {
            break;
        }
    }
    assert_eq!(count(&place, Counter::TimeoutIdle), 0);
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
    // And so are their calls.
    assert_eq!(in_flight(&place.server.counters()), 0);
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
