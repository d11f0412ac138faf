//! Other people's clients against our server. What is not installed is skipped, and said so.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::process::Command;

use common::{options, over_both};
use transport::{Address, Counter};

/// The Python to run: `PYTHON`, or the one on the path.
fn python() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn has_grpcio() -> bool {
    let probe = Command::new(python()).args(["-c", "import grpc"]).output();
    probe.is_ok_and(|output| output.status.success())
}

#[test]
fn grpc_c_core() {
    if !has_grpcio() {
        println!("skipped: Python's grpcio not present");
        return;
    }
    over_both(&options(2), |place| {
        let target = match &place.address {
            Address::Unix(path) => format!("unix:{}", path.display()),
            Address::Tcp(host_port) => host_port.clone(),
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop.py");
        let output = Command::new(python())
            .args([script, &target])
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        println!("{}", said.concat());
        assert!(output.status.success(), "{}", said.concat());
        let counters = place.server.counters();
        for counter in [
            Counter::ErrorProtocol,
            Counter::StreamErrors,
            Counter::FloodControl,
            Counter::FloodResets,
        ] {
            assert_eq!(counters.get(counter), 0, "{}", counter.name());
        }
    });
}
