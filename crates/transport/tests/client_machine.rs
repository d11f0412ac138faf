//! A client's side of a connection, against servers that answer as they should not.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::{Duration, Instant};

use common::wire::*;
use common::{ECHO, GROW, Test, options};
use proptest::prelude::*;
use transport::h2::{ClientConfig, ClientConnection, ErrorCode, Host, Request, ServerConnection};
use transport::{Code, StartError, TransportKind};

fn config() -> ClientConfig {
    ClientConfig {
        authority: "localhost".to_owned(),
        message_bytes_max: 1000,
        unsent_bytes_max: 200_000,
        keep_metadata: vec!["kept"],
    }
}

struct Bench {
    machine: ClientConnection,
    reader: Reader,
    now: Instant,
    next: u64,
}

impl Bench {
    fn new() -> Self {
        let now = Instant::now();
        let mut machine = ClientConnection::new(config(), now);
        assert!(machine.out().starts_with(PREFACE));
        machine.out().drain(..PREFACE.len());
        Self {
            machine,
            reader: Reader::default(),
            now,
            next: 0,
        }
    }

    fn start(&mut self, path: &str, message: &[u8]) -> Result<(), StartError> {
        let request = Request {
            path,
            subtype: "",
            metadata: &[],
            message,
            timeout: None,
        };
        self.machine.start(self.next, &request, None)?;
        self.next += 1;
        Ok(())
    }

    /// With calls in flight, and what they sent read.
    fn calling(calls: u32) -> Self {
        let mut bench = Self::new();
        for _ in 0..calls {
            bench.start(ECHO, b"hi").unwrap();
        }
        bench.sent();
        bench
    }

    fn sent(&mut self) -> Vec<String> {
        let out = std::mem::take(self.machine.out());
        self.reader.lines(&out)
    }

    /// The calls that end by these bytes: tag, code, message for people, reply. Or the error.
    fn hear(&mut self, bytes: &[u8]) -> Result<Vec<(u64, Code, String, String)>, ErrorCode> {
        let mut ended = Vec::new();
        let taken = self.machine.receive(bytes, self.now, |call| {
            let reply = String::from_utf8_lossy(call.message).into_owned();
            ended.push((
                call.tag,
                call.status.code,
                call.status.message.into_owned(),
                reply,
            ));
        });
        taken.map(|_| ended).map_err(|error| error.code)
    }
}

fn reply_headers(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | flags, stream, &block(fields))
}

/// A good start of a reply.
fn opened(stream: u32) -> Vec<u8> {
    reply_headers(
        stream,
        0,
        &[(":status", "200"), ("content-type", "application/grpc")],
    )
}

fn trailers(stream: u32, status: &str) -> Vec<u8> {
    reply_headers(stream, END, &[("grpc-status", status)])
}

// Long: a table of cases.
#[test]
fn how_calls_end() {
    let whole = |body: &[u8], end: Vec<u8>| [opened(1), data(1, 0, body), end].concat();
    for (bytes, code, text, reply) in [
        (
            whole(&message(b"yes"), trailers(1, "0")),
            Code::Ok,
            "",
            "yes",
        ),
        (
            whole(&[], trailers(1, "0")),
            Code::Internal,
            "the reply is not one whole message",
            "",
        ),
        (
            whole(&message(b"yes")[..7], trailers(1, "0")),
            Code::Internal,
            "the reply is not one whole message",
            "",
        ),
        (
            whole(&[message(b"a"), message(b"b")].concat(), trailers(1, "0")),
            Code::Internal,
            "the reply is not one whole message",
            "",
        ),
        (
            whole(&[1, 0, 0, 0, 0], trailers(1, "0")),
            Code::Internal,
            "the reply is not one whole message",
            "",
        ),
        (
            whole(&message(b"dropped"), trailers(1, "5")),
            Code::NotFound,
            "",
            "",
        ),
        (whole(&[], trailers(1, "99")), Code::Unknown, "", ""),
        (whole(&[], trailers(1, "x")), Code::Unknown, "", ""),
        (
            whole(&[], reply_headers(1, END, &[])),
            Code::Unknown,
            "the reply has no grpc-status",
            "",
        ),
        (
            whole(&message(b"yes"), data(1, END, &[])),
            Code::Unknown,
            "the reply has no grpc-status",
            "",
        ),
        (
            whole(&[0, 0xff, 0xff, 0xff, 0xff], vec![]),
            Code::ResourceExhausted,
            "the reply is larger than the limit",
            "",
        ),
        (
            whole(&message(&[b'x'; 1001]), trailers(1, "0")),
            Code::ResourceExhausted,
            "the reply is larger than the limit",
            "",
        ),
        (
            reply_headers(
                1,
                END,
                &[
                    (":status", "200"),
                    ("grpc-status", "12"),
                    ("grpc-message", "no %41%"),
                ],
            ),
            Code::Unimplemented,
            "no A%",
            "",
        ),
        (
            reply_headers(1, END, &[(":status", "503")]),
            Code::Unavailable,
            "HTTP status 503",
            "",
        ),
        (
            reply_headers(1, END, &[(":status", "404")]),
            Code::Unimplemented,
            "HTTP status 404",
            "",
        ),
        (
            rst(1, 7),
            Code::Unavailable,
            "the server refused the call, unseen",
            "",
        ),
        (rst(1, 8), Code::Cancelled, "the server reset the call", ""),
        (
            rst(1, 11),
            Code::ResourceExhausted,
            "the server reset the call",
            "",
        ),
        (rst(1, 2), Code::Internal, "the server reset the call", ""),
        (window(1, 0), Code::Internal, "a window out of range", ""),
        (
            window(1, 0x7fff_ffff),
            Code::Internal,
            "a window out of range",
            "",
        ),
    ] {
        let mut bench = Bench::calling(1);
        let ended = bench.hear(&[settings(&[]), bytes].concat()).unwrap();
        assert_eq!(ended, [(0, code, text.to_owned(), reply.to_owned())]);
        assert_eq!(bench.machine.calls(), 0);
        // What still comes on the stream is nobody's.
        assert_eq!(
            bench.hear(&[data(1, 0, b"late"), trailers(1, "0"), rst(1, 0)].concat()),
            Ok(vec![])
        );
    }
}

#[test]
fn large_replies_need_their_windows() {
    let now = Instant::now();
    let mut machine = ClientConnection::new(
        ClientConfig {
            message_bytes_max: 8 << 20,
            ..config()
        },
        now,
    );
    let request = Request {
        path: ECHO,
        subtype: "",
        metadata: &[],
        message: b"",
        timeout: None,
    };
    machine.start(0, &request, None).unwrap();
    machine
        .receive(&[settings(&[]), opened(1)].concat(), now, |_| {})
        .unwrap();
    machine.out().clear();
    let mut lines = Vec::new();
    for _ in 0..200 {
        machine
            .receive(&data(1, 0, &[0; 16_384]), now, |_| {})
            .unwrap();
        lines.extend(Reader::default().lines(&std::mem::take(machine.out())));
    }
    // 3.1 MiB: every half of a MiB on the stream, none yet on the connection.
    assert!(
        lines.iter().all(|line| line.starts_with("WINDOW 1 ")),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 6);
}

#[test]
fn connections_that_break_the_rules() {
    for (bytes, code) in [
        (trailers(3, "0"), ErrorCode::Protocol),
        (data(2, 0, b"x"), ErrorCode::Protocol),
        (rst(5, 0), ErrorCode::Protocol),
        (frame(PUSH, 0, 1, &[0; 8]), ErrorCode::Protocol),
        (settings(&[(2, 1)]), ErrorCode::Protocol),
        (
            frame(HEADERS, END_HEADERS, 1, &[0x80]),
            ErrorCode::Compression,
        ),
        (frame(PING, 0, 0, b"short"), ErrorCode::FrameSize),
        (window(0, 0x7fff_ffff), ErrorCode::FlowControl),
    ] {
        let mut bench = Bench::calling(1);
        assert_eq!(bench.hear(&[settings(&[]), bytes].concat()), Err(code));
        assert!(bench.sent().last().unwrap().starts_with("GOAWAY 0 "));
        assert_eq!(bench.start(ECHO, b""), Err(StartError::Closed));
        assert_eq!(bench.machine.abandon(), [0]);
    }
    assert_eq!(
        Bench::calling(1).hear(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        Err(ErrorCode::FrameSize)
    );
}

#[test]
fn a_server_that_goes_away() {
    let goaway = |last: u32| frame(GOAWAY, 0, 0, &[last.to_be_bytes(), [0; 4]].concat());
    let mut bench = Bench::calling(3);
    assert_eq!(
        bench.hear(&[settings(&[]), goaway(0x7fff_ffff)].concat()),
        Ok(vec![])
    );
    assert!(bench.machine.is_leaving());
    assert_eq!(bench.start(ECHO, b""), Err(StartError::Closed));
    let unseen = |tag| {
        (
            tag,
            Code::Unavailable,
            "the server went away before it saw the call".to_owned(),
            String::new(),
        )
    };
    assert_eq!(bench.hear(&goaway(1)), Ok(vec![unseen(2), unseen(1)]));
    let bytes = [opened(1), data(1, 0, &message(b"yes")), trailers(1, "0")].concat();
    assert_eq!(
        bench.hear(&bytes),
        Ok(vec![(0, Code::Ok, String::new(), "yes".to_owned())])
    );
}

#[test]
fn the_servers_limits_are_kept() {
    let mut bench = Bench::new();
    bench
        .hear(&settings(&[(3, 2), (4, 10), (5, 20_000), (1, 0)]))
        .unwrap();
    bench.sent();
    bench.start(ECHO, b"12345").unwrap();
    bench.start(ECHO, b"123456").unwrap();
    assert_eq!(bench.start(ECHO, b""), Err(StartError::Full));
    let lines = bench.sent();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[1], format!("DATA 1 {:?} end", "\0\0\0\0\u{5}12345"));
    assert_eq!(lines[3], format!("DATA 3 {:?}", "\0\0\0\0\u{6}12345"));
    bench.hear(&window(3, 1)).unwrap();
    assert_eq!(bench.sent(), [r#"DATA 3 "6""#, r#"DATA 3 "" end"#]);
    // Without a table every call is spelled out; the reader would fail otherwise.
    bench.hear(&trailers(1, "1")).unwrap();
    bench.start(ECHO, b"").unwrap();
    assert!(bench.sent()[0].contains(":path=/test.Test/Echo"));
    // An answer before the request is whole.
    bench
        .hear(&[settings(&[(4, 0)]), trailers(3, "1")].concat())
        .unwrap();
    bench.sent();
    bench.start(ECHO, b"held back").unwrap();
    bench.sent();
    bench.hear(&trailers(7, "8")).unwrap();
    assert_eq!(bench.sent(), ["RST 7 8"]);
}

#[test]
fn what_waits_is_bounded() {
    let mut bench = Bench::new();
    bench.hear(&settings(&[(4, 0)])).unwrap();
    let mut started = 0;
    while bench.start(ECHO, &[0; 50_000]).is_ok() {
        started += 1;
    }
    assert_eq!(
        (started, bench.start(ECHO, b"")),
        (4, Err(StartError::Full))
    );
    assert!(bench.machine.cancel(0) && !bench.machine.cancel(0));
    bench.sent();
    assert_eq!(bench.start(ECHO, b""), Ok(()));
}

#[test]
fn deadlines() {
    let mut bench = Bench::new();
    let request = Request {
        path: ECHO,
        subtype: "",
        metadata: &[],
        message: b"",
        timeout: None,
    };
    let at = |ms| Some(bench.now + Duration::from_millis(ms));
    for (tag, deadline) in [(0, at(30)), (1, at(10)), (2, None), (3, at(20))] {
        bench.machine.start(tag, &request, deadline).unwrap();
    }
    let mut earliest = None;
    assert_eq!(
        bench
            .machine
            .expire(bench.now + Duration::from_millis(20), &mut earliest),
        [1, 3]
    );
    assert_eq!(earliest, at(30));
    assert_eq!(bench.machine.calls(), 2);
}

/// What a server says to three calls.
fn replies() -> (ClientConnection, Vec<u8>) {
    let now = Instant::now();
    let mut client = ClientConnection::new(config(), now);
    for (tag, path, message) in [
        (0, ECHO, &b"hello"[..]),
        (1, GROW, b"500"),
        (2, "/none", b""),
    ] {
        let request = Request {
            path,
            subtype: "json",
            metadata: &[],
            message,
            timeout: None,
        };
        client.start(tag, &request, None).unwrap();
    }
    let options = options(1);
    let mut server = ServerConnection::new(&options.limits, TransportKind::Unix, None, now);
    let mut host = Host::alone(Test::default(), &options).unwrap();
    server
        .receive(&std::mem::take(client.out()), now, &mut host)
        .unwrap();
    server.go_away();
    server.go_away_now(&mut host);
    (client, std::mem::take(server.out()))
}

fn run(pieces: &[&[u8]]) -> (Vec<(u64, Code, usize)>, Vec<u8>) {
    let (mut client, _) = replies();
    let (mut rest, mut ended) = (Vec::new(), Vec::new());
    for piece in pieces {
        rest.extend_from_slice(piece);
        let each = |call: transport::h2::Ended<'_>| {
            ended.push((call.tag, call.status.code, call.message.len()))
        };
        let Ok(taken) = client.receive(&rest, Instant::now(), each) else {
            break;
        };
        rest.drain(..taken);
    }
    let out = std::mem::take(client.out());
    ended.extend(
        client
            .abandon()
            .into_iter()
            .map(|tag| (tag, Code::Unavailable, 0)),
    );
    (ended, out)
}

proptest! {
    #[test]
    fn any_split_gives_the_same(mut cuts in proptest::collection::vec(0usize..900, 0..12)) {
        let bytes = replies().1;
        let whole = run(&[&bytes]);
        prop_assert_eq!(&whole.0, &[(0, Code::Ok, 5), (1, Code::Ok, 500), (2, Code::Unimplemented, 0)]);
        cuts.iter_mut().for_each(|cut| *cut = (*cut).min(bytes.len()));
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(run(&pieces), whole);
    }

    /// Whatever the server says, each call ends once.
    #[test]
    fn mutations(changes in proptest::collection::vec((0usize..900, any::<u8>(), 0u8..3), 1..20)) {
        let mut bytes = replies().1;
        for (at, byte, how) in changes {
            let at = at.min(bytes.len() - 1);
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let mut tags: Vec<_> = run(&[&bytes]).0.into_iter().map(|(tag, ..)| tag).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, [0, 1, 2]);
    }
}

/// Header lists that unfold, or go on without end: the call ends, and what is kept of it stays small.
#[test]
fn a_header_bomb() {
    let mut enter = vec![0x40, 4];
    enter.extend(b"kept");
    enter.extend([0x7f, 0xa1, 0x1e]);
    enter.extend(vec![b'y'; 4000]);
    let bomb = [&enter[..], &[0xbe; 12_000]].concat();
    for end in [0, END] {
        let mut bench = Bench::calling(2);
        bench.hear(&settings(&[])).unwrap();
        bench.sent();
        let bytes = frame(HEADERS, END_HEADERS | end, 1, &bomb);
        let text = "the reply's header lists are larger than the limit";
        let ended = (0, Code::ResourceExhausted, text.to_owned(), String::new());
        assert_eq!(bench.hear(&bytes), Ok(vec![ended]));
        let told = if end == 0 { vec!["RST 1 8"] } else { vec![] };
        assert_eq!(bench.sent(), told);
        // The other call is as it was.
        let bytes = [opened(3), data(3, 0, &message(b"yes")), trailers(3, "0")].concat();
        let ended = (1, Code::Ok, String::new(), "yes".to_owned());
        assert_eq!(bench.hear(&bytes), Ok(vec![ended]));
    }
    // Many lists, each within the limit.
    let mut bench = Bench::calling(1);
    let some = reply_headers(1, 0, &[("kept", &"y".repeat(4000))]);
    let ended = bench
        .hear(&[settings(&[]), some.repeat(10)].concat())
        .unwrap();
    assert_eq!(ended[0].1, Code::ResourceExhausted);
}

#[test]
fn header_lists_of_no_call_are_a_flood() {
    let mut bench = Bench::calling(1);
    bench
        .hear(&[settings(&[]), opened(1), trailers(1, "0")].concat())
        .unwrap();
    let mut rounds = 0;
    let error = loop {
        rounds += 1;
        match bench.hear(&trailers(1, "0")) {
            Ok(_) => assert!(rounds < 20_000),
            Err(error) => break error,
        }
    };
    assert_eq!(error, ErrorCode::EnhanceYourCalm);
}
