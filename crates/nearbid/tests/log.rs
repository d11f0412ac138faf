//! A bidder whose log nobody reads, and files that are none: neither may stop it or its end.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

const LINE_ITEMS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/line-items.json"
);

fn nearbid(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearbid"));
    command.args(arguments).current_dir(folder);
    command
}

/// A bidder that listens, and the end of its log.
fn bidder(folder: &Path) -> (Child, ChildStderr) {
    let arguments = [
        "bidder",
        "--line-items",
        LINE_ITEMS,
        "--listen",
        "unix:bid.sock",
    ];
    let mut child = nearbid(folder, &arguments)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = child.stderr.take().unwrap();
    wait_for("a socket", || {
        folder.join("bid.sock").exists().then_some(())
    });
    (child, log)
}

fn wait_for<T>(what: &str, mut is: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(30);
    while Instant::now() < until {
        if let Some(value) = is() {
            return value;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not within 30 s: {what}");
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[track_caller]
fn check_ends_well(mut child: Child, folder: &Path) {
    signal(&child, Signal::TERM);
    let status: ExitStatus = wait_for("an end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    assert!(!folder.join("bid.sock").exists());
}

#[test]
fn a_log_that_is_gone_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (child, log) = bidder(folder.path());
    drop(log);
    for _ in 0..3 {
        signal(&child, Signal::HUP);
        std::thread::sleep(Duration::from_millis(20));
    }
    check_ends_well(child, folder.path());
}

#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (child, log) = bidder(folder.path());
    rustix::pipe::fcntl_setpipe_size(&log, 4096).unwrap();
    // Filled by hand: what the bidder says at its end then finds no room.
    let pipe = format!("/proc/{}/fd/2", child.id());
    let mut full = std::fs::File::options().append(true).open(pipe).unwrap();
    rustix::fs::fcntl_setfl(&full, rustix::fs::OFlags::NONBLOCK).unwrap();
    while std::io::Write::write(&mut full, &[b'x'; 1024]).is_ok() {}
    check_ends_well(child, folder.path());
}

#[test]
fn what_is_no_file_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for path in ["pipe", ".", "/dev/zero"] {
        let output = nearbid(folder.path(), &["check", "--line-items", path])
            .output()
            .unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(
            !output.status.success() && told.contains("is not a file"),
            "{path}: {told}"
        );
    }
}

#[test]
fn a_result_that_nobody_can_take_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = nearbid(folder.path(), &["check", "--line-items", LINE_ITEMS])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("No space left on device"), "{told}");
}

#[test]
fn a_demo_that_is_killed_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "demo",
        "--requests",
        "20000",
        "--rate",
        "500",
        "--out",
        "report",
    ];
    let mut demo = nearbid(folder.path(), &arguments)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .env("TMPDIR", folder.path())
        .spawn()
        .unwrap();
    let children = || {
        let pid = demo.id();
        let path = format!("/proc/{pid}/task/{pid}/children");
        let text = std::fs::read_to_string(path).unwrap();
        let pids: Vec<u32> = text.split_whitespace().flat_map(str::parse).collect();
        (pids.len() == 2).then_some(pids)
    };
    let pids = wait_for("a bidder and a load", children);
    demo.kill().unwrap();
    demo.wait().unwrap();
    for pid in pids {
        wait_for("the end of a child", || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            // A zombie that nobody waits for has ended too.
            stat.map_or(true, |stat| stat.contains(") Z "))
                .then_some(())
        });
    }
}
