//! A warm call allocates nothing, on either side, whatever its headers are.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::time::Instant;

use allocation_counter::measure;
use common::wire::{Reader, call, data, frame, headers, hello, message, window};
use common::{ECHO, Test, options};
use transport::TransportKind;
use transport::h2::{ClientConfig, ClientConnection, Host, Request, ServerConnection};

const WARM: u32 = 200;
const MEASURED: u32 = 1000;

/// Serves calls made by `bytes` of their number; gives the allocations of those after the warm ones.
fn allocations(bytes: impl Fn(u32) -> Vec<u8>) -> u64 {
    let options = options(1);
    let now = Instant::now();
    let mut machine = ServerConnection::new(&options.limits, TransportKind::Unix, None, now);
    let mut host = Host::alone(Test::default(), &options).unwrap();
    let mut reader = Reader::default();
    machine
        .receive(&[hello(), window(0, 0x7000_0000)].concat(), now, &mut host)
        .unwrap();
    let calls: Vec<_> = (0..WARM + MEASURED).map(bytes).collect();
    let (warm, measured) = calls.split_at(WARM as usize);
    let mut serve = |calls: &[Vec<u8>], machine: &mut ServerConnection| {
        for call in calls {
            machine.out().clear();
            assert_eq!(machine.receive(call, now, &mut host), Ok(call.len()));
        }
    };
    for call in warm {
        serve(std::slice::from_ref(call), &mut machine);
        reader.lines(machine.out());
    }
    let count = measure(|| serve(measured, &mut machine)).count_total;
    let last = reader.lines(machine.out());
    assert_eq!(
        last.last().unwrap(),
        &format!("HEADERS {} grpc-status=0 end", 2 * (WARM + MEASURED) - 1)
    );
    count
}

#[test]
fn of_a_server() {
    let stream = |n: u32| 2 * n + 1;
    let hi = |n: u32| message(&vec![7; 100 + (n as usize % 10)]);
    assert_eq!(allocations(|n| call(stream(n), ECHO, b"hi")), 0);
    assert_eq!(allocations(|n| call(stream(n), ECHO, &vec![7; 16_000])), 0);
    // In pieces, and ended by an empty frame, as some clients do.
    let pieces = |n: u32| {
        let (stream, whole) = (stream(n), hi(n));
        let (start, rest) = whole.split_at(50);
        [
            headers(stream, 0, ECHO, &[]),
            data(stream, 0, start),
            data(stream, 0, rest),
            data(stream, 1, &[]),
        ]
        .concat()
    };
    assert_eq!(allocations(pieces), 0);
    // Metadata that is kept, and a timeout that is never the same.
    let rich = |n: u32| {
        let timeout = format!("{}m", n + 1);
        let head = headers(
            stream(n),
            0,
            ECHO,
            &[
                ("x-seen", "json"),
                ("grpc-timeout", &timeout),
                ("user-agent", "x"),
            ],
        );
        [head, data(stream(n), 1, &hi(n))].concat()
    };
    assert_eq!(allocations(rich), 0);
    // Names and values that enter the table, and push others out of it, with every call.
    let entering = |n: u32| {
        let mut block = common::wire::request_block(ECHO, &[]);
        for name in ["grpc-timeout", "x-seen"] {
            block.push(0x40);
            let value = format!("{}m", 10_000 + n);
            for text in [name, &value] {
                block.push(u8::try_from(text.len()).unwrap());
                block.extend(text.as_bytes());
            }
        }
        [frame(1, 4, stream(n), &block), data(stream(n), 1, &hi(n))].concat()
    };
    assert_eq!(allocations(entering), 0);
}

#[test]
fn of_a_client() {
    let now = Instant::now();
    let options = options(1);
    let config = ClientConfig {
        authority: "localhost".to_owned(),
        message_bytes_max: 1 << 20,
        unsent_bytes_max: 1 << 20,
        keep_metadata: Vec::new(),
    };
    let mut client = ClientConnection::new(config, now);
    let mut server = ServerConnection::new(&options.limits, TransportKind::Unix, None, now);
    let mut host = Host::alone(Test::default(), &options).unwrap();
    let request = Request {
        path: ECHO,
        subtype: "proto",
        metadata: &[("x-seen", b"1")],
        message: &[7; 2000],
        timeout: None,
    };
    let mut round = || {
        for tag in 0..8 {
            client.start(tag, &request, None).unwrap();
        }
        assert_eq!(
            server.receive(client.out(), now, &mut host),
            Ok(client.out().len())
        );
        client.out().clear();
        let mut ended = 0;
        let taken = client.receive(server.out(), now, |call| {
            assert!(call.status.is_ok() && call.message.len() == 2000);
            ended += 1;
        });
        assert_eq!((taken, ended), (Ok(server.out().len()), 8));
        server.out().clear();
    };
    // The preface before, and past the first windows.
    for _ in 0..100 {
        round();
    }
    assert_eq!(measure(|| (0..1000).for_each(|_| round())).count_total, 0);
}
