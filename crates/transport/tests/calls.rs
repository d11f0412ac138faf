//! One conformance suite, client against server, over every kind of address.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::Duration;

use common::{
    ECHO, FAIL, GROW, LONG, Place, SILENT, TELL, WAIT, WAITED, client, client_with, options,
    over_both,
};
use transport::{
    Call, Client, ClientOptions, Code, Counter, Method, MethodKind, Reply, ServerLimits,
    ServerOptions, Service, StartError, Status,
};

/// A unary call's code and message.
fn call(client: &mut Client, path: &str, message: &[u8]) -> (Code, Vec<u8>) {
    let (status, reply) = client.unary(path, "", &[], message, LONG);
    (status.code, reply)
}

#[test]
fn unary_calls_of_every_size() {
    let limits = ServerLimits {
        message_bytes_max: 8 << 20,
        partial_bytes_per_connection_max: 9 << 20,
        ..Default::default()
    };
    over_both(
        &ServerOptions {
            limits,
            ..options(1)
        },
        |place| {
            let mut client = client_with(
                place,
                ClientOptions {
                    message_bytes_max: 16 << 20,
                    ..Default::default()
                },
            );
            for bytes in [
                0,
                1,
                5,
                100,
                2048,
                16_379,
                16_380,
                65_535,
                65_536,
                200_000,
                1 << 20,
                5 << 20,
            ] {
                let message: Vec<u8> = (0..bytes).map(|at: u32| at.to_le_bytes()[0]).collect();
                let (code, reply) = call(&mut client, ECHO, &message);
                assert_eq!((code, reply == message), (Code::Ok, true), "{bytes} bytes");
            }
            // A large reply to a small request, twice, as windows must come back.
            for _ in 0..2 {
                let (code, reply) = call(&mut client, GROW, b"12000000");
                assert_eq!((code, reply.len()), (Code::Ok, 12_000_000));
            }
            assert_eq!(call(&mut client, SILENT, b"x"), (Code::Ok, Vec::new()));
        },
    );
}

#[test]
fn what_a_call_knows() {
    over_both(&options(1), |place| {
        let mut client = client_with(
            place,
            ClientOptions {
                keep_metadata: vec!["seen", "grpc-status"],
                ..Default::default()
            },
        );
        let kind = place.address.kind();
        let peer = if kind.name() == "unix" { "true" } else { "-" };
        for (subtype, metadata, expect, seen) in [
            ("", &[][..], format!(" {kind} None {peer} true"), "-"),
            (
                "proto",
                &[("x-seen", &b"a b"[..])],
                format!("proto {kind} None {peer} true"),
                "a b",
            ),
            (
                "json",
                &[("x-other", b"1"), ("y", b"2")],
                format!(r#"json {kind} Some("1") {peer} true"#),
                "-",
            ),
        ] {
            client
                .start(TELL, subtype, metadata, b"", Some(Duration::from_secs(5)))
                .unwrap();
            let mut answers = 0;
            while client.in_flight() > 0 {
                answers += client
                    .poll(LONG, |finished| {
                        assert!(finished.status.is_ok(), "{}", finished.status);
                        assert_eq!(String::from_utf8_lossy(finished.message), expect);
                        assert_eq!(finished.metadata("seen"), Some(seen.as_bytes()));
                        assert_eq!(finished.metadata("other"), None);
                    })
                    .unwrap();
            }
            assert_eq!(answers, 1);
        }
    });
}

/// What comes while a thread is at another call is as late as that takes; what ends its sleep is not.
#[test]
fn how_long_a_call_waited() {
    over_both(&options(1), |place| {
        let (mut first, mut second) = (client(place), client(place));
        for client in [&mut first, &mut second] {
            assert_eq!(call(client, ECHO, b"").0, Code::Ok);
        }
        let waited = |client: &mut Client| {
            let (code, reply) = call(client, WAITED, b"");
            assert_eq!(code, Code::Ok);
            String::from_utf8(reply).unwrap().parse::<u64>().unwrap()
        };
        first.start(WAIT, "", &[], b"1000000", None).unwrap();
        first.poll(Duration::ZERO, |_| {}).unwrap();
        // Until the thread is at it.
        while place.server.counters().get(Counter::Calls) < 3 {
            std::thread::yield_now();
        }
        assert!(waited(&mut second) > 200_000);
        assert!(waited(&mut second) < 200_000);
    });
}

#[test]
fn errors_are_told() {
    over_both(&options(1), |place| {
        let mut client = client(place);
        let (status, reply) = client.unary(FAIL, "", &[], b"", LONG);
        assert_eq!((status.code, reply), (Code::NotFound, Vec::new()));
        assert_eq!(status.message, "no such \u{201c}thing\u{201d}: 100%\n");
        assert_eq!(
            call(&mut client, "/test.Test/Nothing", b"").0,
            Code::Unimplemented
        );
        assert_eq!(call(&mut client, "/", b"").0, Code::Unimplemented);
        assert_eq!(
            call(&mut client, ECHO, &vec![0; (256 << 10) + 1]).0,
            Code::ResourceExhausted
        );
        assert_eq!(
            call(&mut client, ECHO, b"still there"),
            (Code::Ok, b"still there".to_vec())
        );
        for (path, metadata) in [
            ("no-slash", &[][..]),
            ("/a b", &[]),
            (ECHO, &[("Upper", &b""[..])]),
            (ECHO, &[("x", b"a\nb")]),
        ] {
            assert_eq!(
                client.start(path, "", metadata, b"", None),
                Err(StartError::Metadata)
            );
        }
        let large = vec![b'x'; 20_000];
        assert_eq!(
            client.start(ECHO, "", &[("x", &large)], b"", None),
            Err(StartError::Metadata)
        );
        assert_eq!(place.server.counters().get(Counter::CallsTooLarge), 1);
        assert_eq!(place.server.counters().get(Counter::CallsUnimplemented), 2);
        assert_eq!(place.server.counters().connections_open(), 1);
    });
}

/// Many in flight on several connections and threads; far past every window of a connection.
fn flood(place: &Place, calls: u64, bytes: usize) {
    let mut client = client_with(
        place,
        ClientOptions {
            connections: 4,
            in_flight_max: 64,
            ..ClientOptions::default()
        },
    );
    let mut message = vec![7; bytes];
    let (mut started, mut ended) = (0u64, 0u64);
    let mut seen = vec![false; usize::try_from(calls).unwrap()];
    while ended < calls {
        while started < calls {
            message[..8].copy_from_slice(&started.to_le_bytes());
            match client.start(ECHO, "", &[], &message, Some(LONG)) {
                Ok(id) => assert_eq!(id.number(), started),
                Err(StartError::Full) => break,
                Err(error) => panic!("{error}"),
            }
            started += 1;
        }
        let polled = client.poll(LONG, |finished| {
            assert!(finished.status.is_ok(), "{}", finished.status);
            assert_eq!(finished.message[..8], finished.id.number().to_le_bytes());
            assert_eq!(finished.message.len(), bytes);
            let seen = &mut seen[usize::try_from(finished.id.number()).unwrap()];
            assert!(!std::mem::replace(seen, true), "told twice");
        });
        ended += polled.unwrap() as u64;
    }
    assert_eq!(
        (
            client.in_flight(),
            place.server.counters().get(Counter::CallsOk)
        ),
        (0, calls)
    );
}

#[test]
fn two_hundred_thousand_calls() {
    over_both(&options(2), |place| flood(place, 200_000, 200));
}

#[test]
fn large_calls_at_once() {
    over_both(&options(2), |place| flood(place, 2_000, 50_000));
}

#[test]
fn deadlines() {
    over_both(&options(1), |place| {
        let mut client = client(place);
        // The server is busy with the first when the second one's time is over.
        client.start(WAIT, "", &[], b"200000", Some(LONG)).unwrap();
        client
            .start(WAIT, "", &[], b"200001", Some(Duration::from_millis(50)))
            .unwrap();
        let mut codes = Vec::new();
        while client.in_flight() > 0 {
            client
                .poll(LONG, |finished| {
                    codes.push((finished.id.number(), finished.status.code))
                })
                .unwrap();
        }
        assert_eq!(codes, [(1, Code::DeadlineExceeded), (0, Code::Ok)]);
        // Over before it is there: the service never sees it.
        client
            .start(ECHO, "", &[], b"", Some(Duration::ZERO))
            .unwrap();
        client
            .poll(LONG, |finished| {
                assert_eq!(finished.status.code, Code::DeadlineExceeded)
            })
            .unwrap();
        assert_eq!(call(&mut client, ECHO, b"x").0, Code::Ok);
    });
}

#[test]
fn cancelled_calls() {
    over_both(&options(1), |place| {
        let mut client = client(place);
        let busy = client.start(WAIT, "", &[], b"100000", Some(LONG)).unwrap();
        let given_up = client.start(ECHO, "", &[], b"x", None).unwrap();
        client.poll(Duration::ZERO, |_| {}).unwrap();
        client.cancel(given_up);
        client.cancel(given_up);
        let mut codes = Vec::new();
        while client.in_flight() > 0 {
            client
                .poll(LONG, |finished| {
                    codes.push((finished.id, finished.status.code))
                })
                .unwrap();
        }
        assert_eq!(codes, [(given_up, Code::Cancelled), (busy, Code::Ok)]);
        assert_eq!(call(&mut client, ECHO, b"x").0, Code::Ok);
    });
}

#[test]
fn health_is_told() {
    over_both(&options(1), |place| {
        let mut client = client(place);
        let check = "/grpc.health.v1.Health/Check";
        assert_eq!(call(&mut client, check, b""), (Code::Ok, vec![8, 1]));
        assert_eq!(
            call(&mut client, check, b"\x0a\x09test.Test"),
            (Code::Ok, vec![8, 1])
        );
        assert_eq!(call(&mut client, check, b"\x0a\x01x").0, Code::NotFound);
        place.server.set_serving(false);
        assert_eq!(call(&mut client, check, b""), (Code::Ok, vec![8, 2]));
        place.server.set_serving(true);
        assert_eq!(call(&mut client, check, b""), (Code::Ok, vec![8, 1]));
    });
}

/// Says which thread it is on.
struct Numbered(usize);

impl Service for Numbered {
    fn method(&self, path: &str) -> Option<Method> {
        (path == ECHO).then_some(Method {
            id: 0,
            kind: MethodKind::Unary,
        })
    }

    fn call(&mut self, _: &Call<'_>, reply: &mut Reply<'_>) -> Result<(), Status> {
        reply
            .message()
            .extend_from_slice(self.0.to_string().as_bytes());
        Ok(())
    }
}

#[test]
fn threads_share_the_connections() {
    for kind in ["unix", "tcp"] {
        let folder = tempfile::tempdir().unwrap();
        let address = if kind == "unix" {
            common::unix(&folder)
        } else {
            "127.0.0.1:0".parse().unwrap()
        };
        let server = transport::serve(&[address], options(4), Numbered).unwrap();
        let address = server.local_addresses().first().unwrap();
        let mut clients: Vec<_> = (0..20)
            .map(|_| Client::connect(address, ClientOptions::default()).unwrap())
            .collect();
        let mut counts = [0; 4];
        for client in &mut clients {
            let (status, thread) = client.unary(ECHO, "", &[], b"", LONG);
            assert!(status.is_ok(), "{status}");
            counts[std::str::from_utf8(&thread)
                .unwrap()
                .parse::<usize>()
                .unwrap()] += 1;
        }
        assert!(
            counts.iter().all(|count| (4..=6).contains(count)),
            "{kind}: {counts:?}"
        );
    }
}

#[test]
fn a_lost_server() {
    let folder = tempfile::tempdir().unwrap();
    let address = common::unix(&folder);
    let serve = || {
        transport::serve(std::slice::from_ref(&address), options(1), |_| {
            common::Test::default()
        })
        .unwrap()
    };
    let server = serve();
    let mut client = Client::connect(
        &address,
        ClientOptions {
            connections: 2,
            ..Default::default()
        },
    )
    .unwrap();
    assert_eq!(call(&mut client, ECHO, b"x").0, Code::Ok);
    drop(server);
    // What was queued before the loss was seen is lost with the connection, or refused without one.
    let (status, _) = client.unary(ECHO, "", &[], b"x", Duration::from_millis(100));
    assert_eq!(status.code, Code::Unavailable);
    assert!(Client::connect(&address, ClientOptions::default()).is_err());
    let _server = serve();
    common::eventually("the client connects again", || {
        call(&mut client, ECHO, b"x").0 == Code::Ok
    });
}
