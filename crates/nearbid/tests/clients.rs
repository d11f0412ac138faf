//! The programs of `clients/`, built as `clients/README.md` says and run against a bidder: over a Unix
//! socket and TCP, in protobuf and FlatBuffers, a bid and none. Beside them what a short program does
//! not show: deadlines, cancellation, big messages, metadata and authorities of each library.
//!
//! What a client is built from is copied below `target/` first, so that nothing is made in the source
//! tree; its packages come from its language's registry.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Bidder, python, python_has_grpc, run};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What the hard programs end in, one line for each: `TestDeadlines` in Go, `deadlines` elsewhere.
const CHECKS: &[&str] = &[
    "many at once",
    "big messages",
    "metadata",
    "deadlines",
    "cancellation",
    "authorities",
];

#[test]
fn go() {
    if !present("Go", &["go", "protoc", "flatc"]) {
        return;
    }
    let client = copy("go", &["hard_test.go"]);
    run(Command::new("sh").arg("generate.sh").current_dir(&client));
    let build = ["build", "-buildvcs=false", "-o", "bid", "."];
    run(Command::new("go").args(build).current_dir(&client));
    let build = ["test", "-c", "-vet=off", "-o", "hard", "."];
    run(Command::new("go").args(build).current_dir(&client));
    let bidder = start();
    for target in &bidder.targets {
        check_client(|| Command::new(client.join("bid")), target);
        let said = run(Command::new(client.join("hard"))
            .arg("-test.v")
            .env("NEARBID_ADDRESS", target)
            .env("NEARBID_PID", bidder.id().to_string()));
        assert_eq!(said.matches("--- PASS").count(), CHECKS.len(), "{said}");
    }
    check_bidder(&bidder);
}

#[test]
fn java() {
    if !present("Java", &["javac", "mvn", "flatc"]) {
        return;
    }
    let client = copy("java", &["Hard.java"]);
    let source = client.join("src/main/java");
    std::fs::rename(client.join("Hard.java"), source.join("Hard.java")).unwrap();
    run(Command::new("mvn")
        .args(["-B", "-q", "compile", "exec:exec"])
        .args(["-Dexec.executable=echo", "-Dexec.args=%classpath"])
        .arg("-Dexec.outputFile=target/classpath")
        .current_dir(&client));
    let classpath = std::fs::read_to_string(client.join("target/classpath")).unwrap();
    let java = |class: &str| {
        let mut command = Command::new("java");
        command.args(["-cp", classpath.trim(), class]);
        command
    };
    let bidder = start();
    for target in &bidder.targets {
        check_client(|| java("Bid"), target);
        check_hard(java("Hard"), target, &bidder);
    }
    check_bidder(&bidder);
}

#[test]
fn node() {
    if !present("Node", &["node", "npm", "flatc"]) {
        return;
    }
    let client = copy("node", &["hard.mjs"]);
    let install = ["ci", "--no-audit", "--no-fund"];
    run(Command::new("npm").args(install).current_dir(&client));
    run(Command::new("sh").arg("generate.sh").current_dir(&client));
    let node = |script: &str| {
        let mut command = Command::new("node");
        command.arg(client.join(script));
        command
    };
    let bidder = start();
    for target in &bidder.targets {
        check_client(|| node("bid.mjs"), target);
        check_hard(node("hard.mjs"), target, &bidder);
    }
    check_bidder(&bidder);
}

/// The hard checks of the C core are those of the transport's interop test.
#[test]
fn python_client() {
    if !python_has_grpc() {
        println!("skipped: clients/python: install what its requirements.txt names");
        return;
    }
    if !present("Python", &["flatc"]) {
        return;
    }
    let client = copy("python", &[]);
    run(Command::new("sh")
        .arg("generate.sh")
        .env("PYTHON", python())
        .current_dir(&client));
    let bidder = start();
    for target in &bidder.targets {
        let bid = || {
            let mut command = Command::new(python());
            command.arg(client.join("bid.py"));
            command
        };
        check_client(bid, target);
    }
    check_bidder(&bidder);
}

/// Whether all programs are there that a client is built with; says so if not.
fn present(language: &str, programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing: Vec<_> = programs
        .iter()
        .filter(|p| !std::env::split_paths(&path).any(|dir| dir.join(p).is_file()))
        .collect();
    if !missing.is_empty() {
        println!("skipped: the client in {language}: install {missing:?}");
    }
    missing.is_empty()
}

fn start() -> Bidder {
    Bidder::start(&Path::new(ROOT).join("examples/line-items.json"))
}

/// A client's folder below `target/`, with the schema where the client expects it and with files of
/// `tests/clients` beside its own.
fn copy(language: &str, extra: &[&str]) -> PathBuf {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("client-{language}"));
    let _ = std::fs::remove_dir_all(&to);
    let client = Path::new("clients").join(language);
    let list = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let tracked = run(Command::new("git")
        .args(list)
        .args([Path::new("schema"), &client])
        .current_dir(ROOT));
    for file in tracked.split_terminator('\0') {
        copy_file(&Path::new(ROOT).join(file), &to.join(file));
    }
    for file in extra {
        let from = Path::new(ROOT).join("crates/nearbid/tests/clients");
        copy_file(&from.join(file), &to.join(&client).join(file));
    }
    to.join(client)
}

fn copy_file(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::copy(from, to).unwrap();
}

/// Runs a short client for a country that is targeted and for one that is not.
fn check_client(client: impl Fn() -> Command, target: &str) {
    let formats = ["protobuf", "flatbuffers"];
    let said = run(client().arg(target));
    assert_eq!(said.lines().count(), formats.len(), "{target}: {said}");
    for (line, format) in said.lines().zip(formats) {
        let id = line.strip_prefix(&format!("{format}: bid 0.27 USD, id "));
        let is_id = |id: &str| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit());
        assert!(id.is_some_and(is_id), "{target}: {line}");
    }
    let said = run(client().args([target, "FRA"]));
    let no = formats.map(|format| format!("{format}: no bid, nbr 505\n"));
    assert_eq!(said, no.concat(), "{target}");
}

fn check_hard(mut program: Command, target: &str, bidder: &Bidder) {
    let said = run(program.args([target, &bidder.id().to_string()]));
    let well: Vec<String> = CHECKS
        .iter()
        .map(|check| format!("{check}: well\n"))
        .collect();
    assert_eq!(said, well.concat(), "{target}");
}

/// The bidder has nothing to hold against the clients, and holds nothing of them once they are gone.
fn check_bidder(bidder: &Bidder) {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let metrics = bidder.metrics();
        let faults: Vec<&str> = metrics.lines().filter(|line| is_fault(line)).collect();
        if faults.is_empty() {
            return;
        }
        assert!(Instant::now() < end, "{faults:#?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a line of metrics counts what there should be none of.
fn is_fault(line: &str) -> bool {
    let none_of = [
        "nearbid_calls_in_flight",
        "nearbid_connections_open",
        "nearbid_transport_call_timeouts",
        "nearbid_transport_calls_malformed",
        "nearbid_transport_calls_refused",
        "nearbid_transport_connection_errors",
        "nearbid_transport_connection_timeouts",
        "nearbid_transport_requests_not_grpc",
        "nearbid_transport_stream_errors",
    ];
    none_of.iter().any(|name| line.starts_with(name)) && !line.ends_with(" 0")
}
