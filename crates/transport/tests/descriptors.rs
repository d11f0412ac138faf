//! A server out of descriptors waits for one; it does not spin, and it does not fail. Alone in its
//! process, because the limit is the process's.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::os::unix::net::UnixStream;
use std::time::Duration;

use common::{ECHO, LONG, client, eventually, options, place};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use transport::{Address, Counter};

#[test]
fn out_of_descriptors() {
    let place = place("unix", options(1));
    let Address::Unix(path) = &place.address else {
        panic!("not unix")
    };
    let mut first = client(&place);
    assert!(first.unary(ECHO, "", &[], b"", LONG).0.is_ok());
    let open = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
    let before = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(open + 20),
            ..before
        },
    )
    .unwrap();
    // Each takes two descriptors, ours and the server's, until there are none.
    let mut streams = Vec::new();
    while let Ok(stream) = UnixStream::connect(path) {
        streams.push(stream);
    }
    let failed = || place.server.counters().get(Counter::AcceptFailed);
    eventually("an accept fails", || failed() > 0);
    let (start, pause) = (failed(), Duration::from_millis(550));
    std::thread::sleep(pause);
    // It tries again at a tick, every 100 ms, and not a thousand times.
    assert!(failed() - start <= 12, "{} in {pause:?}", failed() - start);
    assert!(first.unary(ECHO, "", &[], b"still there", LONG).0.is_ok());
    drop(streams);
    eventually("all are gone", || {
        place.server.counters().connections_open() == 1
    });
    setrlimit(Resource::Nofile, before).unwrap();
    assert!(client(&place).unary(ECHO, "", &[], b"", LONG).0.is_ok());
}
