//! A server's side of a connection, frame by frame, without a socket.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::{Duration, Instant};

use common::wire::*;
use common::{ECHO, FAIL, GROW, STREAM, TELL, Test, options};
use proptest::prelude::*;
use transport::h2::{ErrorCode, Host, ServerConnection};
use transport::{CallGroup, Counter, ServerLimits, ServerOptions, TransportKind};

/// A connection and its host, and the client's reader.
struct Bench {
    machine: ServerConnection,
    host: Host<Test>,
    reader: Reader,
    now: Instant,
    rest: Vec<u8>,
}

impl Bench {
    fn new(options: &ServerOptions) -> Self {
        let now = Instant::now();
        Self {
            machine: ServerConnection::new(&options.limits, TransportKind::Unix, None, now),
            host: Host::alone(Test::default(), options).unwrap(),
            reader: Reader::default(),
            now,
            rest: Vec::new(),
        }
    }

    /// After the handshake, its frames read.
    fn ready(options: &ServerOptions) -> Self {
        let mut bench = Self::new(options);
        assert_eq!(
            bench.say(&hello()),
            ["SETTINGS", "WINDOW 0 8323073", "SETTINGS ACK"]
        );
        bench
    }

    /// What the machine answers to bytes; the last line is the error, if there is one.
    fn say(&mut self, bytes: &[u8]) -> Vec<String> {
        let (out, error) = self.raw(bytes);
        let mut lines = self.reader.lines(&out);
        lines.extend(error.map(|code| format!("error {code:?}")));
        lines
    }

    fn raw(&mut self, bytes: &[u8]) -> (Vec<u8>, Option<ErrorCode>) {
        self.rest.extend_from_slice(bytes);
        let result = self.machine.receive(&self.rest, self.now, &mut self.host);
        let out = std::mem::take(self.machine.out());
        match result {
            Ok(taken) => {
                self.rest.drain(..taken);
                (out, None)
            }
            Err(error) => (out, Some(error.code)),
        }
    }

    fn count(&self, counter: Counter) -> u64 {
        self.host.counters().get(counter)
    }
}

const OK_HEADERS: &str = ":status=200 content-type=application/grpc";

/// What a fresh connection answers to bytes.
#[track_caller]
fn check(bytes: &[u8], expect: &[&str]) {
    check_with(&options(1), bytes, expect);
}

#[track_caller]
fn check_with(options: &ServerOptions, bytes: &[u8], expect: &[&str]) {
    let mut bench = Bench::ready(options);
    assert_eq!(bench.say(bytes), expect);
}

/// The two lines of a call that ends well with a short message.
fn well(stream: u32, text: &str) -> [String; 3] {
    let prefix = String::from_utf8(message(text.as_bytes())).unwrap();
    [
        format!("HEADERS {stream} {OK_HEADERS}"),
        format!("DATA {stream} {prefix:?}"),
        format!("HEADERS {stream} grpc-status=0 end"),
    ]
}

fn fails(stream: u32, code: u8, message: &str) -> String {
    format!("HEADERS {stream} {OK_HEADERS} grpc-status={code} grpc-message={message} end")
}

#[test]
fn unary_calls() {
    let mut bench = Bench::ready(&options(1));
    assert_eq!(bench.say(&call(1, ECHO, b"hi")), well(1, "hi"));
    assert_eq!(
        bench.say(&[call(3, ECHO, b"a"), call(5, ECHO, b"b")].concat()),
        [well(3, "a"), well(5, "b")].concat()
    );
    assert_eq!(
        bench.say(&call(7, FAIL, b"")),
        [fails(7, 5, "no such %E2%80%9Cthing%E2%80%9D: 100%25%0A")]
    );
    // The warm reply: 9 + 2, 9 + 5 + 2 and 9 + 1 bytes.
    assert_eq!(bench.raw(&call(9, ECHO, b"hi")).0.len(), 37);
    assert_eq!(bench.machine.calls(), 0);
}

#[test]
fn shapes_of_a_request() {
    let whole = message(b"hi");
    let ended_by_empty = [
        headers(1, 0, ECHO, &[]),
        data(1, 0, &whole),
        data(1, END, &[]),
    ]
    .concat();
    let ended_by_trailers = [
        headers(1, 0, ECHO, &[]),
        data(1, 0, &whole),
        frame(HEADERS, END | END_HEADERS, 1, &block(&[("x", "y")])),
    ]
    .concat();
    let mut byte_by_byte = headers(1, 0, ECHO, &[]);
    for (at, byte) in whole.iter().enumerate() {
        byte_by_byte.extend(data(
            1,
            if at + 1 == whole.len() { END } else { 0 },
            &[*byte],
        ));
    }
    let padded = [
        headers(1, 0, ECHO, &[]),
        data(1, END | PADDED, &[&[3][..], &whole, &[0; 3]].concat()),
    ]
    .concat();
    let head = request_block(ECHO, &[]);
    let mut split_block = frame(
        HEADERS,
        PADDED | WITH_PRIORITY,
        1,
        &[&[2, 0, 0, 0, 9, 1][..], &head[..10], &[0, 0]].concat(),
    );
    split_block.extend(frame(CONTINUATION, 0, 1, &head[10..11]));
    split_block.extend(frame(CONTINUATION, END_HEADERS, 1, &head[11..]));
    split_block.extend(data(1, END, &whole));
    let noise = [
        frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 9]),
        headers(1, 0, ECHO, &[(":authority", "sock%2Fbid.sock")][..0]),
        frame(0xee, 0xff, 1, b"unknown"),
        window(1, 10),
        settings(&[(0x99, 7)]),
        data(1, END, &whole),
    ]
    .concat();
    for bytes in [
        ended_by_empty,
        ended_by_trailers,
        byte_by_byte,
        padded,
        split_block,
    ] {
        check(&bytes, &well(1, "hi").each_ref().map(String::as_str));
    }
    let mut expect = vec!["SETTINGS ACK".to_owned()];
    expect.extend(well(1, "hi"));
    assert_eq!(Bench::ready(&options(1)).say(&noise), expect);
}

#[test]
fn malformed_grpc() {
    let with = |body: &[u8], more: &[(&str, &str)]| {
        [headers(1, 0, ECHO, more), data(1, END, body)].concat()
    };
    let two = [message(b"a"), message(b"b")].concat();
    for (bytes, code, text) in [
        (with(&[], &[]), 13, "a unary call without a message"),
        (
            headers(1, END, ECHO, &[]),
            13,
            "a unary call without a message",
        ),
        (
            with(&message(b"hi")[..6], &[]),
            13,
            "the request ends in a message",
        ),
        (with(&[0, 0], &[]), 13, "the request ends in a message"),
        (with(&two, &[]), 13, "more than one message in a unary call"),
        (
            with(&[1, 0, 0, 0, 0], &[]),
            13,
            "compressed message without grpc-encoding",
        ),
        (with(&[2, 0, 0, 0, 0], &[]), 13, "malformed message prefix"),
        (
            with(&message(b""), &[("grpc-timeout", "0n")]),
            4,
            "the deadline passed before the call was served",
        ),
        (
            with(&[0, 0xff, 0xff, 0xff, 0xff], &[]),
            8,
            "message larger than the limit",
        ),
    ] {
        check(&bytes, &[&fails(1, code, text)]);
    }
    // Answered before its message has come.
    check(
        &with(&message(b""), &[("grpc-timeout", "1")]),
        &[&fails(1, 13, "malformed grpc-timeout"), "RST 1 0"],
    );
    let gzip = with(&[1, 0, 0, 0, 0], &[("grpc-encoding", "gzip")]);
    let text = fails(1, 12, "compression is not supported")
        .replace(" end", " grpc-accept-encoding=identity end");
    check(&gzip, &[&text]);
    // Named, but not used.
    check(
        &with(&message(b"hi"), &[("grpc-encoding", "gzip")]),
        &well(1, "hi").each_ref().map(String::as_str),
    );
}

#[test]
fn streams_of_messages() {
    let mut bench = Bench::ready(&options(1));
    assert_eq!(bench.say(&headers(1, 0, STREAM, &[])), [""; 0]);
    // Each byte of a message is a message of the answer.
    let both = [message(b"ab"), message(b"c")].concat();
    assert_eq!(
        bench.say(&data(1, 0, &both[..9])),
        [
            format!("HEADERS 1 {OK_HEADERS}"),
            format!("DATA 1 {:?}", "\0\0\0\0\u{1}a\0\0\0\0\u{1}b")
        ]
    );
    assert_eq!(bench.say(&data(1, 0, &both[9..12])), [""; 0]);
    assert_eq!(
        bench.say(&data(1, 0, &both[12..])),
        [format!("DATA 1 {:?}", "\0\0\0\0\u{1}c")]
    );
    assert_eq!(
        bench.say(&data(1, END, &[])),
        ["HEADERS 1 grpc-status=0 end"]
    );
    // An error after messages.
    bench.say(&headers(3, 0, STREAM, &[]));
    let lines = bench.say(&data(3, 0, &message(b"fail")));
    assert_eq!(
        lines[2..],
        [
            "HEADERS 3 grpc-status=10 grpc-message=as told end",
            "RST 3 0"
        ]
    );
    // What still comes is dropped.
    assert_eq!(
        bench.say(&[data(3, 0, &message(b"more")), data(3, END, &[])].concat()),
        [""; 0]
    );
    // One that is empty, and one that is cut short.
    assert_eq!(
        bench.say(&headers(5, END, STREAM, &[])),
        [format!("HEADERS 5 {OK_HEADERS} grpc-status=0 end")]
    );
    let cut = [
        headers(7, 0, STREAM, &[]),
        data(7, END, &message(b"ab")[..6]),
    ]
    .concat();
    assert_eq!(
        bench.say(&cut),
        [fails(7, 13, "the request ends in a message")]
    );
    assert_eq!(bench.machine.calls(), 0);
}

#[test]
fn frames_beside_messages_are_forgiven() {
    // What clients send for each answer that they take: a probe, and two windows given back.
    let mut bench = Bench::ready(&options(1));
    bench.say(&headers(1, 0, STREAM, &[]));
    for round in 0..5000 {
        let beside = [
            data(1, 0, &message(b"a")),
            frame(PING, 0, 0, &[0; 8]),
            window(0, 6),
            window(1, 6),
        ];
        let lines = bench.say(&beside.concat());
        let is_answer = |line: &String| line.starts_with("DATA 1 ");
        assert!(lines.iter().any(is_answer), "{round}: {lines:?}");
    }
    // And of those who take one answer and go.
    for stream in (3..8000).step_by(2) {
        let taken = [
            headers(stream, 0, STREAM, &[]),
            data(stream, 0, &message(b"a")),
        ];
        let lines = bench.say(&taken.concat());
        assert!(
            lines.iter().any(|line| line.starts_with("DATA ")),
            "{stream}: {lines:?}"
        );
        bench.say(&frame(PING, 0, 0, &[0; 8]));
        bench.say(&data(stream, END, &[]));
    }
}

#[test]
fn too_large_is_dropped_and_the_connection_lives() {
    let mut bench = Bench::ready(&options(1));
    bench.say(&headers(1, 0, ECHO, &[]));
    assert_eq!(
        bench.say(&data(1, 0, &[0, 0xff, 0xff, 0xff, 0xff])),
        [
            fails(1, 8, "message larger than the limit"),
            "RST 1 0".to_owned()
        ]
    );
    // 32 MiB more, with the connection's window given back and nothing kept.
    let (mut windows, chunk) = (0, data(1, 0, &[7; 16_384]));
    for _ in 0..2048 {
        for line in bench.say(&chunk) {
            assert!(line.starts_with("WINDOW "), "{line}");
            windows += 1;
        }
    }
    assert!(windows > 3);
    assert_eq!(bench.say(&call(3, ECHO, b"hi")), well(3, "hi"));
    assert_eq!(bench.say(&data(1, END, &[])), [""; 0]);
    assert_eq!(
        (bench.machine.calls(), bench.count(Counter::CallsTooLarge)),
        (0, 1)
    );
}

/// grpc-go says nothing more on a stream that was answered early: neither an end nor a reset.
#[test]
fn a_call_that_is_answered_early_is_over() {
    let mut bench = Bench::ready(&options(1));
    for call in 0..2000 {
        let stream = 2 * call + 1;
        let lines = bench.say(
            &[
                headers(stream, 0, ECHO, &[]),
                data(stream, 0, &[0, 0xff, 0xff, 0xff, 0xff]),
            ]
            .concat(),
        );
        let last = lines.last().unwrap();
        assert_eq!(*last, format!("RST {stream} 0"), "{lines:?}");
        assert_eq!(bench.machine.calls(), 0);
    }
    // Unread replies before the end: it is over when they are out.
    bench.say(&settings(&[(4, 5)]));
    bench.say(&headers(5001, 0, STREAM, &[]));
    let lines = bench.say(&data(5001, 0, &message(b"fail")));
    assert!(
        !lines.iter().any(|line| line.starts_with("RST")),
        "{lines:?}"
    );
    assert_eq!(bench.machine.calls(), 1);
    let lines = bench.say(&window(5001, 1000));
    assert_eq!(lines.last().unwrap(), "RST 5001 0", "{lines:?}");
    assert_eq!(bench.machine.calls(), 0);
}

/// As many as a client may have in flight, all turned away before it has heard of it.
#[test]
fn what_is_on_its_way_to_calls_that_are_over_is_dropped() {
    let mut bench = Bench::ready(&options(1));
    let streams = || (0..512).map(|call| 2 * call + 1);
    let begun: Vec<u8> = streams()
        .flat_map(|stream| headers(stream, 0, "/no/such", &[]))
        .collect();
    assert_eq!(bench.say(&begun).len(), 2 * 512);
    for stream in streams() {
        assert_eq!(bench.say(&data(stream, END, &message(b"hi"))), [""; 0]);
    }
    assert_eq!(bench.say(&call(2001, ECHO, b"hi")), well(2001, "hi"));
}

/// Netty sends what it had ready behind its own reset.
#[test]
fn what_follows_a_reset_is_dropped() {
    let mut bench = Bench::ready(&options(1));
    for late in [data(1, END, &[]), data(1, 0, b"late")] {
        bench.say(&headers(1, 0, ECHO, &[]));
        assert_eq!(bench.say(&[rst(1, 8), late].concat()), [""; 0]);
        assert_eq!(bench.say(&call(3, ECHO, b"hi")), well(3, "hi"));
        bench = Bench::ready(&options(1));
    }
}

#[test]
fn incomplete_requests_are_bounded_together() {
    let limits = ServerLimits {
        partial_bytes_per_connection_max: 30_000,
        ..ServerLimits::default()
    };
    let mut bench = Bench::ready(&ServerOptions {
        limits,
        ..options(1)
    });
    let start = |stream| {
        [
            headers(stream, 0, ECHO, &[]),
            data(stream, 0, &message(&[7; 20_000])[..14_000]),
        ]
        .concat()
    };
    assert_eq!(bench.say(&[start(1), start(3)].concat()), [""; 0]);
    assert_eq!(
        bench.say(&start(5)),
        [
            fails(5, 8, "too many incomplete requests on the connection"),
            "RST 5 0".to_owned()
        ]
    );
    // Room again, when one of them is gone.
    bench.say(&rst(1, 8));
    assert_eq!(bench.say(&start(7)), [""; 0]);
    assert_eq!(bench.count(Counter::CallsShed), 1);
}

#[test]
fn replies_wait_for_windows() {
    let mut bench = Bench::new(&options(1));
    bench.say(&[PREFACE, &settings(&[(4, 10)])].concat());
    assert_eq!(
        bench.say(&call(1, GROW, b"20")),
        [
            format!("HEADERS 1 {OK_HEADERS}"),
            format!("DATA 1 {:?}", "\0\0\0\0\u{14}ggggg")
        ]
    );
    assert_eq!(bench.say(&window(1, 3)), [format!("DATA 1 {:?}", "ggg")]);
    // The initial window changes those of open streams: 12 are to come, 2 more are allowed.
    assert_eq!(
        bench.say(&settings(&[(4, 12)])),
        ["SETTINGS ACK".to_owned(), format!("DATA 1 {:?}", "gg")]
    );
    // Below zero, and up again.
    assert_eq!(bench.say(&settings(&[(4, 0)])), ["SETTINGS ACK"]);
    assert_eq!(bench.say(&window(1, 12)), [""; 0]);
    assert_eq!(
        bench.say(&window(1, 100)),
        [
            format!("DATA 1 {:?}", "g".repeat(10)),
            "HEADERS 1 grpc-status=0 end".to_owned()
        ]
    );
    // The connection's own window: 65,535 less the 25 above.
    bench.say(&settings(&[(4, 1 << 20)]));
    let lines = bench.say(&call(3, GROW, b"100000"));
    assert_eq!(
        lines[1..],
        ["DATA 3 16384 bytes"; 3]
            .into_iter()
            .chain(["DATA 3 16358 bytes"])
            .collect::<Vec<_>>()
    );
    let lines = bench.say(&window(0, 1 << 20));
    assert_eq!(lines.last().unwrap(), "HEADERS 3 grpc-status=0 end");
    assert_eq!(bench.machine.calls(), 0);
}

#[test]
fn a_reader_that_opens_no_window_is_shed() {
    let limits = ServerLimits {
        unsent_bytes_per_connection_max: 50_000,
        ..ServerLimits::default()
    };
    let mut bench = Bench::new(&ServerOptions {
        limits,
        ..options(1)
    });
    bench.say(&[PREFACE, &settings(&[(4, 0)])].concat());
    let mut last = Vec::new();
    for stream in (1..20).step_by(2) {
        last = bench.say(&call(stream, GROW, b"10000"));
    }
    assert_eq!(
        last,
        [fails(19, 8, "too many replies wait for the client to read")]
    );
    let lines = bench.say(&[settings(&[(4, 1 << 20)]), window(0, 1 << 20)].concat());
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.contains("grpc-status=0"))
            .count(),
        5
    );
}

#[test]
fn a_full_output_stops_the_input() {
    let limits = ServerLimits {
        unsent_bytes_per_connection_max: 50_000,
        ..ServerLimits::default()
    };
    let mut bench = Bench::new(&ServerOptions {
        limits,
        ..options(1)
    });
    bench.say(&[PREFACE, &settings(&[(4, 1 << 20)]), &window(0, 1 << 30)].concat());
    let calls: Vec<u8> = (0..10)
        .flat_map(|n| call(1 + 2 * n, GROW, b"20000"))
        .collect();
    let taken = bench
        .machine
        .receive(&calls, bench.now, &mut bench.host)
        .unwrap();
    assert!(taken < calls.len() && bench.machine.is_full());
    assert!(bench.machine.out().len() < 50_000 + 20_100);
    assert_eq!(
        bench
            .machine
            .receive(&calls[taken..], bench.now, &mut bench.host),
        Ok(0)
    );
}

#[test]
fn what_is_not_grpc() {
    let body = "DATA 1 46 bytes";
    for (fields, status) in [
        (
            vec![(":method", "GET"), (":scheme", "http"), (":path", "/")],
            "405",
        ),
        (
            vec![
                (":method", "POST"),
                (":scheme", "http"),
                (":path", ECHO),
                ("content-type", "text/html"),
            ],
            "415",
        ),
    ] {
        let bytes = frame(HEADERS, END | END_HEADERS, 1, &block(&fields));
        check(
            &bytes,
            &[
                &format!("HEADERS 1 :status={status} content-type=text/plain"),
                body,
                "DATA 1 \"\" end",
            ],
        );
    }
}

#[test]
fn streams_that_break_the_rules() {
    for (fields, body) in [
        (vec![("Upper", "x")], &[][..]),
        (vec![("connection", "close")], &[]),
        (vec![("te", "gzip")], &[]),
        (vec![(":path", "/again")], &[]),
        (vec![("content-length", "3")], b"four"),
        (vec![("content-length", "x")], &[]),
    ] {
        let bytes = [headers(1, 0, ECHO, &fields), data(1, END, body)].concat();
        check(&bytes, &["RST 1 1"]);
    }
    check(
        &[headers(1, 0, ECHO, &[]), headers(1, 0, ECHO, &[])].concat(),
        &["RST 1 1"],
    );
    let pseudo_in_trailers = frame(
        HEADERS,
        END | END_HEADERS,
        1,
        &block(&[(":method", "POST")]),
    );
    check(
        &[headers(1, 0, ECHO, &[]), pseudo_in_trailers].concat(),
        &["RST 1 1"],
    );
    let nine = headers(1, 0, ECHO, &[("content-length", "9")]);
    check(
        &[nine, data(1, 0, b"four"), data(1, END, b"four")].concat(),
        &["RST 1 1"],
    );
    check(
        &[headers(1, 0, ECHO, &[]), window(1, 0)].concat(),
        &["RST 1 1"],
    );
    check(
        &[headers(1, 0, ECHO, &[]), window(1, 0x7fff_ffff)].concat(),
        &["RST 1 3"],
    );
    // The stream's window is 1 MiB; what goes beyond it on a bidi stream that is never served, too.
    let mut bench = Bench::ready(&options(1));
    bench.say(&call(1, ECHO, b"x"));
    assert_eq!(bench.say(&call(3, ECHO, b"hi")), well(3, "hi"));
}

// Long: a table of cases.
#[test]
fn connections_that_break_the_rules() {
    let open = headers(1, 0, ECHO, &[]);
    let closed = call(1, ECHO, b"x");
    let then = |start: &[u8], bytes: &[u8]| [start, bytes].concat();
    for (bytes, code, what) in [
        (data(0, 0, b""), 1, "DATA on stream 0"),
        (data(1, 0, b"x"), 1, "DATA on an idle stream"),
        (
            headers(2, 0, ECHO, &[]),
            1,
            "a client's stream with an even identifier",
        ),
        (headers(0, 0, ECHO, &[]), 1, "HEADERS on stream 0"),
        (
            then(&closed, &data(1, 0, b"x")),
            5,
            "DATA on a closed stream",
        ),
        (
            then(&closed, &headers(1, END, ECHO, &[])),
            5,
            "HEADERS on a closed stream",
        ),
        (
            then(&open, &frame(CONTINUATION, END_HEADERS, 1, b"")),
            1,
            "CONTINUATION of no header block",
        ),
        (
            then(&frame(HEADERS, 0, 1, b""), &frame(PING, 0, 0, &[0; 8])),
            1,
            "a header block is interrupted",
        ),
        (
            frame(HEADERS, END_HEADERS, 1, &[0x80]),
            9,
            "unreadable header block",
        ),
        (
            frame(HEADERS, END_HEADERS | PADDED, 1, &[9, 1]),
            1,
            "more padding than payload",
        ),
        (
            frame(HEADERS, END_HEADERS | PADDED, 1, &[]),
            6,
            "padded frame without a padding length",
        ),
        (
            frame(HEADERS, END_HEADERS | WITH_PRIORITY, 1, &[0, 0, 0, 1, 0]),
            1,
            "a stream depends on itself",
        ),
        (
            frame(DATA, 0, 1, &[0; 16_385]),
            6,
            "frame longer than SETTINGS_MAX_FRAME_SIZE",
        ),
        (frame(PING, 0, 0, &[0; 7]), 6, "PING of a wrong length"),
        (frame(PING, 0, 1, &[0; 8]), 1, "PING on a stream"),
        (
            frame(SETTINGS, 0, 0, &[0; 5]),
            6,
            "SETTINGS of a wrong length",
        ),
        (
            frame(SETTINGS, ACK, 0, &[0; 6]),
            6,
            "SETTINGS ACK with a payload",
        ),
        (frame(SETTINGS, 0, 1, &[]), 1, "SETTINGS on a stream"),
        (settings(&[(2, 2)]), 1, "SETTINGS_ENABLE_PUSH out of range"),
        (
            settings(&[(4, 1 << 31)]),
            3,
            "SETTINGS_INITIAL_WINDOW_SIZE out of range",
        ),
        (
            settings(&[(5, 16_383)]),
            1,
            "SETTINGS_MAX_FRAME_SIZE out of range",
        ),
        (
            settings(&[(5, 1 << 24)]),
            1,
            "SETTINGS_MAX_FRAME_SIZE out of range",
        ),
        (window(0, 0), 1, "WINDOW_UPDATE of 0"),
        (
            window(0, 0x7fff_ffff),
            3,
            "the connection's window is over 2^31 - 1",
        ),
        (window(1, 1), 1, "WINDOW_UPDATE on an idle stream"),
        (rst(1, 8), 1, "RST_STREAM on an idle stream"),
        (rst(0, 8), 1, "RST_STREAM on stream 0"),
        (frame(RST, 0, 1, &[0; 3]), 6, "RST_STREAM of a wrong length"),
        (
            frame(PRIORITY, 0, 1, &[0; 4]),
            6,
            "PRIORITY of a wrong length",
        ),
        (frame(PUSH, 0, 1, &[0; 4]), 1, "PUSH_PROMISE is not allowed"),
        (frame(GOAWAY, 0, 1, &[0; 8]), 1, "GOAWAY on a stream"),
        (frame(GOAWAY, 0, 0, &[0; 7]), 6, "GOAWAY too short"),
    ] {
        let mut bench = Bench::ready(&options(1));
        let lines = bench.say(&bytes);
        let told = &lines[lines.len() - 2];
        assert!(
            told.starts_with("GOAWAY ") && told.ends_with(&format!(" {code} {what}")),
            "{told}, want {what}"
        );
        assert!(lines.last().unwrap().starts_with("error "));
    }
}

#[test]
fn not_http2_at_all() {
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"PRI * HTTP/2.0\r\n\r\nSX",
        &[0x16, 3, 1],
    ] {
        let mut bench = Bench::new(&options(1));
        assert_eq!(bench.say(bytes).last().unwrap(), "error Protocol");
    }
    let mut bench = Bench::new(&options(1));
    bench.say(PREFACE);
    let lines = bench.say(&frame(PING, 0, 0, &[0; 8]));
    assert_eq!(
        lines,
        [
            "GOAWAY 0 1 the first frame is not SETTINGS",
            "error Protocol"
        ]
    );
}

/// Sends the same bytes again and again; gives how often, and the error.
fn flood(bytes: impl Fn(u32) -> Vec<u8>) -> (u32, String, Counter) {
    let mut bench = Bench::ready(&options(1));
    for round in 0..100_000 {
        let lines = bench.say(&bytes(round));
        if let Some(error) = lines.last().filter(|line| line.starts_with("error ")) {
            let cause = bench
                .host
                .counters()
                .iter()
                .find(|(c, n)| c.name().starts_with("connection_") && *n > 0);
            return (round, error.clone(), cause.unwrap().0);
        }
    }
    panic!("no end to it");
}

// Long: a table of cases.
#[test]
fn floods_end() {
    let control = Counter::FloodControl;
    for (name, bytes, most, cause) in [
        (
            "ping",
            Box::new(|_| frame(PING, 0, 0, &[0; 8])) as Box<dyn Fn(u32) -> Vec<u8>>,
            1000,
            control,
        ),
        (
            "ping ack",
            Box::new(|_| frame(PING, ACK, 0, &[0; 8])),
            1000,
            control,
        ),
        ("settings", Box::new(|_| settings(&[])), 1000, control),
        (
            "priority",
            Box::new(|_| frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 0])),
            1000,
            control,
        ),
        (
            "unknown",
            Box::new(|_| frame(0x50, 0, 0, &[])),
            1000,
            control,
        ),
        ("window", Box::new(|_| window(0, 1)), 1000, control),
        (
            "empty data",
            Box::new(|round| {
                if round == 0 {
                    headers(1, 0, ECHO, &[])
                } else {
                    data(1, 0, &[])
                }
            }),
            1000,
            control,
        ),
        (
            "reset",
            Box::new(|round| {
                [headers(1 + 2 * round, 0, ECHO, &[]), rst(1 + 2 * round, 8)].concat()
            }),
            20,
            Counter::FloodResets,
        ),
        (
            "trailers of no call",
            Box::new(|round| match round {
                0 => [headers(1, 0, ECHO, &[]), window(1, 0)].concat(),
                _ => frame(HEADERS, END | END_HEADERS, 1, &block(&[("x", "y")])),
            }),
            1000,
            control,
        ),
        (
            "calls that break the rules",
            Box::new(|round| headers(1 + 2 * round, END, ECHO, &[("Upper", "")])),
            1000,
            control,
        ),
        (
            "calls that the server resets",
            Box::new(|round| {
                let stream = 1 + 2 * round;
                [headers(stream, 0, ECHO, &[]), window(stream, 0)].concat()
            }),
            1000,
            control,
        ),
        (
            "calls beyond the limit",
            Box::new(|round| headers(1 + 2 * round, 0, ECHO, &[])),
            1513,
            control,
        ),
        (
            "continuation",
            Box::new(|round| match round {
                0 => frame(HEADERS, 0, 1, &[]),
                _ => frame(CONTINUATION, 0, 1, &[]),
            }),
            1001,
            control,
        ),
        (
            "header block",
            Box::new(|round| match round {
                0 => frame(HEADERS, 0, 1, &[]),
                _ => frame(CONTINUATION, 0, 1, &block(&[("x", &"y".repeat(1000))])),
            }),
            20,
            Counter::FloodHeaders,
        ),
    ] {
        let (rounds, error, counted) = flood(bytes);
        assert_eq!(
            (error.as_str(), counted),
            ("error EnhanceYourCalm", cause),
            "{name}"
        );
        assert!(rounds <= most, "{name}: {rounds}");
    }
}

#[test]
fn what_is_honest_is_no_flood() {
    // A ping, two window updates and an empty DATA frame with every call.
    let mut bench = Bench::ready(&options(1));
    for round in 0..5000 {
        let stream = 1 + 2 * round;
        let bytes = [
            headers(stream, 0, ECHO, &[]),
            data(stream, 0, &message(b"hi")),
            data(stream, END, &[]),
            frame(PING, 0, 0, &[0; 8]),
            window(0, 7),
            window(stream, 7),
        ]
        .concat();
        assert_eq!(bench.say(&bytes).len(), 4, "round {round}");
    }
    // Resets, at twenty a second.
    for round in 0..200 {
        bench.now += Duration::from_millis(51);
        let stream = 20_001 + 2 * round;
        assert_eq!(
            bench.say(&[headers(stream, 0, ECHO, &[]), rst(stream, 8)].concat()),
            [""; 0]
        );
    }
    assert_eq!(bench.count(Counter::CallsReset), 200);
}

/// Warm header blocks are not read field by field; they must mean what cold ones mean.
#[test]
fn the_same_bytes_after_the_table_changed() {
    let mut bench = Bench::ready(&options(1));
    let entering = |name: &str, value: &str| {
        let mut out = vec![0x40];
        for text in [name, value] {
            out.push(u8::try_from(text.len()).unwrap());
            out.extend_from_slice(text.as_bytes());
        }
        out
    };
    let mut stream = 1;
    let mut tell = |bench: &mut Bench, block: &[u8]| {
        let bytes = [
            frame(HEADERS, END_HEADERS, stream, block),
            data(stream, END, &message(b"")),
        ]
        .concat();
        stream += 2;
        let lines = bench.say(&bytes);
        assert_eq!(lines.len(), 3, "{lines:?}");
        let (start, rest) = lines[0].split_once("seen=").unwrap();
        assert!(start.starts_with("HEADERS"));
        (rest.to_owned(), lines[1].contains("json "))
    };
    let cold = [
        vec![0x83, 0x86],
        entering(":path", TELL),
        entering("content-type", "application/grpc+json"),
        entering("x-seen", "one"),
        entering("x-seen", "two"),
    ]
    .concat();
    assert_eq!(tell(&mut bench, &cold).0, "one");
    // 65 the path, 64 the type, 63 one, 62 two.
    let (one, two) = (
        [0x83, 0x86, 0xc1, 0xc0, 0xbf],
        [0x83, 0x86, 0xc1, 0xc0, 0xbe],
    );
    for _ in 0..3 {
        assert_eq!(tell(&mut bench, &one), ("one".to_owned(), true));
        assert_eq!(tell(&mut bench, &two), ("two".to_owned(), true));
        assert_eq!(tell(&mut bench, &two), ("two".to_owned(), true));
        // The same start, and a literal behind it.
        let more = [&one[..4], &block(&[("x-seen", "three")])].concat();
        assert_eq!(tell(&mut bench, &more), ("three".to_owned(), true));
        let late = [&two[..], &block(&[("grpc-timeout", "1S")])].concat();
        assert_eq!(tell(&mut bench, &late), ("two".to_owned(), true));
    }
    // One more field in the table, and every index means another field.
    let shifted = [0x83, 0x86, 0xc2, 0xc1, 0xbf];
    let entered = [&two[..4], &entering("x-other", "four")].concat();
    assert_eq!(tell(&mut bench, &entered).0, "-");
    assert_eq!(tell(&mut bench, &shifted), ("two".to_owned(), true));
    assert_eq!(tell(&mut bench, &shifted), ("two".to_owned(), true));
    // A table size update may not follow fields.
    let bytes = frame(
        HEADERS,
        END | END_HEADERS,
        1001,
        &[0x83, 0x86, 0xc2, 0xc1, 0x20],
    );
    assert_eq!(bench.say(&bytes).last().unwrap(), "error Compression");
}

/// Blocks that unfold: many references to one large field of the table.
#[test]
fn a_header_bomb() {
    let mut bench = Bench::ready(&options(1));
    let mut bomb = vec![0x40, 1, b'x', 0x7f, 0xa1, 0x1e];
    bomb.extend(vec![b'y'; 4000]);
    bomb.extend(vec![0xbe; 12_000]);
    let bytes = frame(HEADERS, END | END_HEADERS, 1, &bomb);
    assert_eq!(bench.say(&bytes), [fails(1, 8, "header list too large")]);
    assert_eq!(bench.say(&call(3, ECHO, b"hi")), well(3, "hi"));
}

/// The same in trailers, which are read for their names alone.
#[test]
fn a_header_bomb_in_trailers() {
    let mut bench = Bench::ready(&options(1));
    let mut enter = vec![0x40, 0x7f, 0xa1, 0x1e];
    enter.extend(vec![b'n'; 4000]);
    enter.push(0);
    let start = [
        headers(1, 0, ECHO, &[]),
        data(1, 0, &message(b"hi")),
        headers(3, 0, ECHO, &[]),
        data(3, 0, &message(b"hi")),
    ];
    bench.say(&start.concat());
    // Large, but within the limit: four times 4,032.
    let large = [&enter[..], &[0xbe; 3]].concat();
    assert_eq!(
        bench.say(&frame(HEADERS, END | END_HEADERS, 1, &large)),
        well(1, "hi")
    );
    let bomb = frame(HEADERS, END | END_HEADERS, 3, &[0xbe; 16_000]);
    assert_eq!(bench.say(&bomb), ["RST 3 1"]);
    assert_eq!(bench.say(&call(5, ECHO, b"hi")), well(5, "hi"));
}

/// A block of which every two bytes copy a name that fills the table.
#[test]
fn a_table_bomb() {
    let mut bench = Bench::ready(&options(1));
    let mut bomb = vec![0x40, 0x7f, 0xa1, 0x1e];
    bomb.extend(vec![b'n'; 4000]);
    bomb.push(0);
    bomb.extend([0x7e, 0].repeat(6_000));
    let lines = bench.say(&frame(HEADERS, END | END_HEADERS, 1, &bomb));
    assert_eq!(lines.last().unwrap(), "error Compression");
}

/// Tiny messages of one frame whose answers are large: what waits for the client stays bounded.
#[test]
fn a_frame_full_of_questions() {
    let file = [&b"\x0a\x01a\xfa\x01\xe0\xe2\x01"[..], &[b'x'; 29_024]].concat();
    let set = [&b"\x0a\xe8\xe2\x01"[..], &file].concat();
    let limits = ServerLimits {
        unsent_bytes_per_connection_max: 100_000,
        ..ServerLimits::default()
    };
    let mut bench = Bench::new(&ServerOptions {
        limits,
        reflection: Some(set),
        ..options(1)
    });
    bench.say(&[PREFACE, &settings(&[(4, 1 << 30)]), &window(0, 1 << 30)].concat());
    let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    let questions = message(b"\x1a\x01a").repeat(800);
    bench.say(&headers(1, 0, path, &[]));
    let (out, error) = bench.raw(&data(1, 0, &questions));
    assert!(
        error.is_none() && out.len() > 100_000 && out.len() < 140_000,
        "{}",
        out.len()
    );
    let end = "grpc-status=8 grpc-message=too many replies wait for the client to read end";
    let lines = bench.reader.lines(&out);
    let [.., status, reset] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert!(status.ends_with(end) && reset == "RST 1 0", "{lines:?}");
    // The stream is over, the connection is not.
    bench.say(&data(1, END, &[]));
    assert_eq!(bench.say(&call(3, ECHO, b"hi")), well(3, "hi"));
}

/// Up when a call outlives its read, down however it ends.
#[test]
fn calls_in_flight() {
    let mut bench = Bench::ready(&options(1));
    let now = |bench: &Bench| common::in_flight(&bench.host.counters());
    let in_flight = |bench: &Bench, method| {
        let group = CallGroup::new(method);
        bench.host.counters().in_flight(TransportKind::Unix, group)
    };
    bench.say(&call(1, ECHO, b"hi"));
    assert_eq!(now(&bench), 0);
    let watch = "/grpc.health.v1.Health/Watch";
    let begun = [
        headers(3, 0, ECHO, &[]),
        headers(5, 0, STREAM, &[]),
        headers(7, 0, ECHO, &[]),
        call(9, ECHO, b"whole"),
        headers(11, 0, "/no/such", &[]),
        call(13, watch, b""),
        headers(15, 0, STREAM, &[]),
    ];
    bench.say(&begun.concat());
    let counts = |bench: &Bench| [0, 1, 7].map(|method| in_flight(bench, method));
    // There is no such method, so that one is over.
    assert_eq!((now(&bench), counts(&bench)), (5, [2, 2, 1]));
    for (bytes, expect) in [
        (data(3, END, &message(b"hi")), [1, 2, 1]),
        (rst(5, 8), [1, 1, 1]),
        // Its request broke a rule.
        (window(7, 0), [0, 1, 1]),
        (data(15, END, b""), [0, 0, 1]),
        (rst(13, 8), [0, 0, 0]),
    ] {
        bench.say(&bytes);
        assert_eq!(counts(&bench), expect, "{bytes:?}");
    }
    assert_eq!(now(&bench), 0);
}

#[test]
fn one_stream_too_many() {
    let limits = ServerLimits {
        streams_per_connection_max: 2,
        ..ServerLimits::default()
    };
    let mut bench = Bench::ready(&ServerOptions {
        limits,
        ..options(1)
    });
    bench.say(&[headers(1, 0, ECHO, &[]), headers(3, 0, ECHO, &[])].concat());
    assert_eq!(bench.say(&call(5, ECHO, b"x")), ["RST 5 7"]);
    assert_eq!(bench.say(&data(1, END, &message(b"hi"))), well(1, "hi"));
    assert_eq!(bench.say(&call(7, ECHO, b"hi")), well(7, "hi"));
}

#[test]
fn going_away() {
    let mut bench = Bench::ready(&options(1));
    bench.say(&headers(1, 0, ECHO, &[]));
    bench.machine.go_away();
    assert_eq!(bench.say(&[]), ["GOAWAY 2147483647 0 ", "PING goodbye!"]);
    // Sent before the client saw it: served.
    assert_eq!(bench.say(&call(3, ECHO, b"hi")), well(3, "hi"));
    assert_eq!(
        bench.say(&frame(PING, ACK, 0, b"goodbye!")),
        ["GOAWAY 3 0 "]
    );
    // Sent after: not looked at. What was begun before ends.
    assert_eq!(bench.say(&call(5, ECHO, b"no")), [""; 0]);
    assert!(!bench.machine.is_done());
    assert_eq!(bench.say(&data(1, END, &message(b"hi"))), well(1, "hi"));
    assert!(bench.machine.is_done());
}

#[test]
fn watches() {
    let mut bench = Bench::ready(&options(1));
    let watch = "/grpc.health.v1.Health/Watch";
    let lines = bench.say(&call(1, watch, b"\x0a\x09test.Test"));
    assert_eq!(
        lines,
        [
            format!("HEADERS 1 {OK_HEADERS}"),
            format!("DATA 1 {:?}", "\0\0\0\0\u{2}\u{8}\u{1}")
        ]
    );
    let lines = bench.say(&call(3, watch, b"\x0a\x01x"));
    assert_eq!(lines[1], format!("DATA 3 {:?}", "\0\0\0\0\u{2}\u{8}\u{3}"));
    assert_eq!(bench.machine.calls(), 2);
    bench.machine.go_away_now(&mut bench.host);
    let lines = bench.say(&[]);
    assert_eq!(lines.len(), 3);
    assert!(lines[1].contains("grpc-status=14") && bench.machine.is_done());
}

/// A session with a bit of everything.
fn session() -> Vec<u8> {
    let mut bytes = hello();
    bytes.extend(call(1, ECHO, b"one"));
    bytes.extend(headers(
        3,
        0,
        STREAM,
        &[("x-seen", "1"), ("grpc-timeout", "1S")],
    ));
    bytes.extend(settings(&[(4, 20), (1, 100)]));
    bytes.extend(data(3, 0, &[message(b"ab"), message(b"c")].concat()[..9]));
    bytes.extend(call(5, GROW, b"100"));
    bytes.extend(data(
        3,
        PADDED | END,
        &[
            &[2][..],
            &[message(b"ab"), message(b"c")].concat()[9..],
            &[0, 0],
        ]
        .concat(),
    ));
    bytes.extend([window(5, 500), window(3, 9), frame(PING, 0, 0, b"12345678")].concat());
    let head = request_block(FAIL, &[]);
    bytes.extend(frame(HEADERS, END, 7, &head[..20]));
    bytes.extend(frame(CONTINUATION, END_HEADERS, 7, &head[20..]));
    bytes.extend(
        [
            headers(9, 0, ECHO, &[("Bad", "x")]),
            rst(9, 8),
            headers(11, 0, ECHO, &[]),
            rst(11, 8),
        ]
        .concat(),
    );
    bytes.extend(call(13, "/none", b""));
    bytes.extend(call(15, ECHO, b"last"));
    bytes
}

fn run(pieces: &[&[u8]]) -> (Vec<u8>, bool, Vec<u64>) {
    let mut bench = Bench::new(&options(1));
    let mut all = Vec::new();
    let mut failed = false;
    for piece in pieces {
        let (out, error) = bench.raw(piece);
        all.extend(out);
        failed = error.is_some();
        if failed {
            break;
        }
    }
    (
        all,
        failed,
        bench.host.counters().iter().map(|(_, n)| n).collect(),
    )
}

#[test]
fn a_byte_at_a_time() {
    let bytes = session();
    let whole = run(&[&bytes]);
    assert!(!whole.1);
    let pieces: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(run(&pieces), whole);
}

proptest! {
    #[test]
    fn any_split_gives_the_same(mut cuts in proptest::collection::vec(0usize..1200, 0..12)) {
        let bytes = session();
        cuts.iter_mut().for_each(|cut| *cut = (*cut).min(bytes.len()));
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(run(&pieces), run(&[&bytes]));
    }

    /// Never a panic, and not much more out than in, but for what was asked for.
    #[test]
    fn mutations(changes in proptest::collection::vec((0usize..1200, any::<u8>(), 0u8..3), 1..20)) {
        let mut bytes = session();
        for (at, byte, how) in changes {
            let at = at.min(bytes.len() - 1);
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let (out, ..) = run(&[&bytes]);
        prop_assert!(out.len() < common::GROW_BYTES_MAX + 64 * bytes.len());
    }

    #[test]
    fn noise_after_the_handshake(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        run(&[&hello(), &bytes]);
    }

    /// Frames of any kind with well-chosen sizes get further than noise.
    #[test]
    fn frames_of_any_kind(frames in proptest::collection::vec(
        (0u8..11, any::<u8>(), 0u32..8, proptest::collection::vec(any::<u8>(), 0..40)), 0..40)) {
        let mut bytes = hello();
        for (kind, flags, stream, payload) in frames {
            bytes.extend(frame(kind, flags, stream, &payload));
        }
        run(&[&bytes]);
    }
}
