//! `nearbid bench transports`, with few calls: every row is there, and nothing stays behind.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The temporary folder of the bench is inside of `folder`, where a test can look for what is left.
fn bench(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearbid"));
    command
        .args(["bench", "transports"])
        .args(arguments)
        .env("TMPDIR", folder);
    command
}

/// The namespaces that a run made.
fn namespaces(pid: u32) -> Vec<String> {
    let Ok(listed) = Command::new("ip").args(["netns", "list"]).output() else {
        return Vec::new();
    };
    let of_run = format!("nearbid-{pid}-");
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mine = listed.lines().filter(|line| line.starts_with(&of_run));
    mine.map(str::to_owned).collect()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn a_short_run_has_its_rows_and_leaves_nothing() {
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let child = bench(
        folder.path(),
        &[
            "--json",
            "--quick",
            "--requests",
            "200",
            "--rounds",
            "1",
            "--placement",
            "unix",
            "--stack",
            "nearbid",
            "--stack",
            "bare",
        ],
    )
    .arg("--out")
    .arg(out.path())
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let pid = child.id();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = printed["rows"].as_array().unwrap();
    let words = |row: &Value| {
        let word = |key: &str| row[key].as_str().unwrap().to_owned();
        ["placement", "stack", "cores", "load"].map(word).join("/")
    };
    let names: Vec<_> = rows.iter().map(words).collect();
    let expect = [
        "unix/nearbid/same/sequential",
        "unix/bare/same/sequential",
        "unix/nearbid/free/saturated",
        "unix/nearbid/free/paced",
        "unix/nearbid/free/full",
        "unix/nearbid/free/shed",
    ];
    assert_eq!(names, expect);
    for row in rows {
        assert_eq!(row["errors"], 0, "{row}");
        for key in [
            "p50_us",
            "p99_us",
            "per_s",
            "bidder_cpu_us",
            "exchange_cpu_us",
        ] {
            assert!(row[key].as_f64().unwrap() > 0.0, "{key}: {row}");
        }
    }
    assert!(rows[1]["bidder_instructions"].is_null());
    let report = std::fs::read_to_string(out.path().join("transports.md")).unwrap();
    assert!(report.contains("No real wire was there"), "{report}");
    assert!(is_empty(folder.path()));
    assert_eq!(namespaces(pid), Vec::<String>::new());
}

#[test]
fn a_run_that_is_stopped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = bench(folder.path(), &["--stack", "nearbid", "--load", "paced"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    let until = Instant::now() + Duration::from_secs(60);
    // Its sockets are there once both ends are.
    while is_empty(folder.path()) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs(2));
    let process = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(process, Signal::TERM).unwrap();
    assert!(!child.wait().unwrap().success());
    assert!(is_empty(folder.path()));
    assert_eq!(namespaces(pid), Vec::<String>::new());
}
