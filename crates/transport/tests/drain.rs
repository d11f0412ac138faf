//! Going away under load: every call sent before the GOAWAY ends well, and nothing is left behind.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{ECHO, LONG, Place, WAIT, options, place, wire};
use transport::{Client, ClientOptions, Code, Counter, Drained, ServerOptions, StartError};

/// Calls as fast as it goes until the server is gone. Gives how many ended well; any that did not
/// must be of the kind that is safe to try again.
fn load(address: &transport::Address, answered: &AtomicU64, stop: &AtomicBool) -> u64 {
    let options = ClientOptions {
        connections: 2,
        in_flight_max: 32,
        ..ClientOptions::default()
    };
    let mut client = Client::connect(address, options).unwrap();
    let mut well = 0;
    while !stop.load(Ordering::Relaxed) || client.in_flight() > 0 {
        let mut gone = false;
        while !stop.load(Ordering::Relaxed) {
            match client.start(ECHO, "", &[], b"hello", Some(LONG)) {
                Ok(_) => {}
                Err(StartError::Full) => break,
                Err(_) => {
                    gone = true;
                    break;
                }
            }
        }
        let wait = if gone { Duration::from_millis(5) } else { LONG };
        let polled = client.poll(wait, |finished| {
            match finished.status.code {
                Code::Ok => well += 1,
                code => panic!("a call was lost: {code} {}", finished.status.message),
            }
            answered.fetch_add(1, Ordering::Relaxed);
        });
        polled.unwrap();
    }
    well
}

fn drain_under_load(kind: &str) {
    let Place {
        server,
        address,
        folder: _folder,
    } = place(kind, options(2));
    let (answered, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let (well, drained) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| load(&address, &answered, &stop)))
            .collect();
        common::eventually("load", || answered.load(Ordering::Relaxed) > 20_000);
        let drained = server.drain(LONG);
        stop.store(true, Ordering::Relaxed);
        (
            clients
                .into_iter()
                .map(|client| client.join().unwrap())
                .sum::<u64>(),
            drained,
        )
    });
    assert!(well > 20_000);
    assert_eq!(drained.cut, 0);
    if let transport::Address::Unix(path) = &address {
        assert!(!path.exists());
    }
}

#[test]
fn under_load_unix() {
    drain_under_load("unix");
}

#[test]
fn under_load_tcp() {
    drain_under_load("tcp");
}

/// Who has connected, and even sent, but was not accepted yet, is served.
#[test]
fn what_waits_in_the_backlog_is_served() {
    use std::io::{Read, Write};
    let Place {
        server,
        address,
        folder: _folder,
    } = place("unix", options(1));
    // The only thread is busy, so nobody accepts.
    let mut client = Client::connect(&address, ClientOptions::default()).unwrap();
    client.start(WAIT, "", &[], b"300000", Some(LONG)).unwrap();
    client.poll(Duration::ZERO, |_| {}).unwrap();
    common::eventually("the thread is busy", || {
        server.counters().get(Counter::Calls) == 1
    });
    let transport::Address::Unix(path) = &address else {
        panic!("not unix")
    };
    let mut late = std::os::unix::net::UnixStream::connect(path).unwrap();
    late.write_all(&[wire::hello(), wire::call(1, ECHO, b"late")].concat())
        .unwrap();
    let drainer = std::thread::spawn(move || server.drain(LONG));
    let mut seen = Vec::new();
    late.read_to_end(&mut seen).unwrap();
    assert!(seen.windows(4).any(|bytes| bytes == b"late"), "{seen:?}");
    while client.in_flight() > 0 {
        client
            .poll(LONG, |finished| assert!(finished.status.is_ok()))
            .unwrap();
    }
    // It never answered the ping, so the grace was waited for; it has been cut off, not waited for.
    assert_eq!(drainer.join().unwrap().cut, 0);
}

#[test]
fn a_deadline_is_hard() {
    use std::io::Write;
    let Place {
        server,
        address,
        folder: _folder,
    } = place(
        "unix",
        ServerOptions {
            drain_grace: Duration::ZERO,
            ..options(1)
        },
    );
    let transport::Address::Unix(path) = &address else {
        panic!("not unix")
    };
    let mut half = std::os::unix::net::UnixStream::connect(path).unwrap();
    half.write_all(&[wire::hello(), wire::headers(1, 0, ECHO, &[])].concat())
        .unwrap();
    common::eventually("the call begins", || {
        server.counters().get(Counter::Calls) == 1
    });
    let started = Instant::now();
    assert_eq!(
        server.drain(Duration::from_millis(200)),
        Drained {
            finished: 0,
            cut: 1
        }
    );
    assert!(started.elapsed() < LONG);
}

#[test]
fn an_idle_server_drains_at_once() {
    for kind in ["unix", "tcp"] {
        let Place {
            server,
            address,
            folder: _folder,
        } = place(kind, options(2));
        let mut client = Client::connect(
            &address,
            ClientOptions {
                connections: 3,
                ..ClientOptions::default()
            },
        )
        .unwrap();
        assert!(client.unary(ECHO, "", &[], b"", LONG).0.is_ok());
        let drainer = std::thread::spawn(move || {
            let started = Instant::now();
            let drained = server.drain(LONG);
            (drained, started.elapsed())
        });
        while !drainer.is_finished() {
            client.poll(Duration::from_millis(5), |_| {}).unwrap();
        }
        let (drained, took) = drainer.join().unwrap();
        assert_eq!(drained.cut, 0);
        assert!(took < Duration::from_secs(5), "{took:?}");
        let (status, _) = client.unary(ECHO, "", &[], b"", Duration::from_millis(50));
        assert_eq!(status.code, Code::Unavailable);
    }
}
