//! `nearbid load` against `nearbid bidder`, as a user runs them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A bidder on a socket in `folder`; gone when dropped.
struct Bidder(Child);

impl Bidder {
    fn start(folder: &Path) -> Bidder {
        let items = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/line-items.json"
        );
        let child = Command::new(env!("CARGO_BIN_EXE_nearbid"))
            .args(["bidder", "--line-items", items, "--listen", "unix:bid.sock"])
            .current_dir(folder)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for("a socket", || folder.join("bid.sock").exists());
        Bidder(child)
    }
}

fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if is() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not within 30 s: {what}");
}

impl Drop for Bidder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearbid"));
    command.args(arguments).current_dir(folder);
    command
}

fn load(folder: &Path, more: &[&str]) -> Output {
    command(
        folder,
        &[&["load", "--target", "unix:bid.sock", "--json"], more].concat(),
    )
    .output()
    .unwrap()
}

#[track_caller]
fn outcome(output: &Output) -> Value {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn what_came_over_the_socket_is_what_decide_prints() {
    let folder = tempfile::tempdir().unwrap();
    let _bidder = Bidder::start(folder.path());
    let generate = [
        "generate",
        "--requests",
        "1500",
        "--seed",
        "21",
        "--out",
        "requests",
    ];
    assert!(
        command(folder.path(), &generate)
            .status()
            .unwrap()
            .success()
    );
    let items = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/line-items.json"
    );
    let decide = command(
        folder.path(),
        &["decide", "--line-items", items, "requests"],
    )
    .output()
    .unwrap();
    let expect = String::from_utf8(decide.stdout).unwrap();
    assert_eq!(expect.lines().count(), 1500);

    for format in ["json", "protobuf", "flatbuffers"] {
        let more = [
            "--format",
            format,
            "--requests",
            "requests",
            "--rate",
            "5000",
            "--connections",
            "3",
            "--decisions",
            "decisions",
        ];
        let outcome = outcome(&load(folder.path(), &more));
        assert_eq!(
            (&outcome["requests"], &outcome["errors"]),
            (&Value::from(1500), &Value::from(0))
        );
        let decisions = std::fs::read_to_string(folder.path().join("decisions")).unwrap();
        for (got, expect) in decisions.lines().zip(expect.lines()) {
            assert_eq!(got, expect, "{format}");
        }
        assert_eq!(decisions.lines().count(), 1500);
    }
}

#[test]
fn a_run_by_time_takes_requests_round_and_round() {
    let folder = tempfile::tempdir().unwrap();
    let _bidder = Bidder::start(folder.path());
    let more = [
        "--requests",
        "10",
        "--rate",
        "500",
        "--duration",
        "1",
        "--decisions",
        "decisions",
    ];
    let outcome = outcome(&load(folder.path(), &more));
    assert_eq!(outcome["requests"], 500);
    let decisions = std::fs::read_to_string(folder.path().join("decisions")).unwrap();
    let lines: Vec<&str> = decisions.lines().collect();
    assert_eq!(lines.len(), 500);
    assert!(
        lines
            .iter()
            .enumerate()
            .all(|(at, line)| *line == lines[at % 10])
    );
}

/// Whatever the bidder does, requests are due at their times: those that had to wait for one of the
/// two places in flight show it.
#[test]
fn waiting_for_a_place_in_flight_counts() {
    let folder = tempfile::tempdir().unwrap();
    let _bidder = Bidder::start(folder.path());
    let more = [
        "--requests",
        "5000",
        "--rate",
        "10000000",
        "--in-flight-max",
        "2",
    ];
    let outcome = outcome(&load(folder.path(), &more));
    let number = |key: &str| outcome[key].as_f64().unwrap();
    let took_us = 5000.0 / number("achieved") * 1e6;
    assert!(
        number("p50_us") > 0.3 * took_us && number("max_us") < 1.1 * took_us,
        "{outcome}"
    );
}

#[test]
fn a_bidder_that_goes_away_ends_the_run_with_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let bidder = Bidder::start(folder.path());
    let more = [
        "load",
        "--target",
        "unix:bid.sock",
        "--requests",
        "1000",
        "--rate",
        "50",
        "--timeout-ms",
        "300",
        "--decisions",
        "decisions",
        "--json",
    ];
    let child = command(folder.path(), &more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It is made once the connections stand.
    wait_for("load has connected", || {
        folder.path().join("decisions").exists()
    });
    drop(bidder);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let unsent = outcome["errors_by_code"]["NOT_SENT"].as_u64().unwrap();
    assert!(
        !output.status.success()
            && told.contains(&format!("no connection for 300 ms: {unsent} requests")),
        "{told}"
    );
    let no_bids = outcome["no_bids"].as_object().unwrap().values();
    let answered = no_bids
        .chain([&outcome["bids"]])
        .map(|count| count.as_u64().unwrap());
    let answered: u64 = answered.sum();
    assert_eq!(answered + outcome["errors"].as_u64().unwrap(), 1000);
    assert!(unsent > 0 && unsent <= outcome["errors"].as_u64().unwrap());
}

#[test]
fn requests_that_are_none_are_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("requests"),
        "{\"id\":\"a\",\"imp\":[]}\n\n{]\n",
    )
    .unwrap();
    let output = load(folder.path(), &["--requests", "requests"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && told.contains("requests:3"),
        "{told}"
    );
}
