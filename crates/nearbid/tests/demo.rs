//! The main job, end to end, with few requests.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// The temporary folder of the demo is inside of `folder`, where a test can look for what is left.
fn demo(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearbid"));
    command
        .arg("demo")
        .args(arguments)
        .current_dir(folder)
        .env("TMPDIR", folder);
    command
}

const KEYS: [&str; 13] = [
    "bidder_cpu_us",
    "bidder_peak_mib",
    "bids",
    "decisions_sha256",
    "errors",
    "exchange_cpu_us",
    "format",
    "no_bids",
    "p50_us",
    "p999_us",
    "p99_us",
    "requests",
    "transport",
];

#[test]
fn six_runs_decide_alike() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--requests", "600", "--rate", "2000", "--json"];
    let output = demo(folder.path(), &arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed.as_object().unwrap().len(), 1);
    let rows = printed["rows"].as_array().unwrap();
    let names: Vec<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{} {}",
                row["transport"].as_str().unwrap(),
                row["format"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            "tcp flatbuffers",
            "tcp protobuf",
            "tcp json",
            "unix flatbuffers",
            "unix protobuf",
            "unix json"
        ]
    );
    for row in rows {
        check_row(row);
        for same in ["decisions_sha256", "bids", "no_bids"] {
            assert_eq!(row[same], rows[0][same]);
        }
    }
    check_report(&folder.path().join("report"), rows);
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        1,
        "only the report is left"
    );
}

fn check_row(row: &Value) {
    let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS);
    assert_eq!(
        (&row["requests"], &row["errors"]),
        (&Value::from(600), &Value::from(0))
    );
    let no_bids: u64 = row["no_bids"]
        .as_object()
        .unwrap()
        .values()
        .map(|n| n.as_u64().unwrap())
        .sum();
    assert_eq!(row["bids"].as_u64().unwrap() + no_bids, 600);
    let number = |key: &str| row[key].as_f64().unwrap();
    assert!(number("p50_us") > 0.0 && number("p50_us") <= number("p99_us"));
    assert!(number("p99_us") <= number("p999_us"));
    assert!(number("bidder_cpu_us") > 0.0 && number("exchange_cpu_us") > 0.0);
    assert!(number("bidder_peak_mib") > 1.0);
    assert_eq!(row["decisions_sha256"].as_str().unwrap().len(), 64);
}

fn check_report(folder: &Path, rows: &[Value]) {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let report: Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(report["rows"].as_array().unwrap(), rows);
    assert_eq!(report["same_decisions"], true);
    assert!(read("report.md").contains("| unix | flatbuffers |"));
    for plot in ["latency.svg", "cpu.svg"] {
        assert!(read(plot).starts_with("<svg "));
    }
}

/// Processes that have `folder` in their command line, as both of the demo's have.
fn processes_of(folder: &Path) -> usize {
    let folder = folder.as_os_str().as_encoded_bytes().to_vec();
    let names_it = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.windows(folder.len()).any(|part| part == folder)
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(Result::ok)
        .filter(names_it)
        .count()
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

/// To the demo alone, or as a terminal does it: to its children as well.
fn signal(child: &Child, name: &str, to_group: bool) {
    let sign = if to_group { "-" } else { "" };
    let to = format!("{sign}{}", child.id());
    let status = Command::new("kill")
        .args([name, "--", &to])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn stopped_it_leaves_nothing() {
    for (name, to_group) in [("-INT", false), ("-TERM", false), ("-INT", true)] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = demo(folder.path(), &["--requests", "1000000", "--rate", "1000"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        wait_for("bidder and load run", || processes_of(folder.path()) == 2);
        signal(&child, name, to_group);
        let status = child.wait().unwrap();
        let mut told = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut told)
            .unwrap();
        assert_eq!(status.code(), Some(130), "{name}: {told}");
        assert_eq!(processes_of(folder.path()), 0, "{name}");
        let left: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
}
