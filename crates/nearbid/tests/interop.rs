//! A stock gRPC client of another language gets bids and no-bids, over the socket and TCP, in
//! protobuf and, by metadata, in FlatBuffers.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const LINE_ITEMS: &str = r#"[{"id": "li", "seat": "s", "adomain": ["brand.example"], "cpm": 2.5,
    "targeting": {"countries": ["USA"]},
    "creatives": [{"id": "c", "type": "banner", "w": 300, "h": 250, "mime": "image/png", "adm": "<a>"}]}]"#;

/// Killed when dropped, so that a failing test leaves nothing behind.
struct Bidder(Child);

impl Drop for Bidder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The Python to run: `PYTHON`, or the one on the path.
fn python() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn has_what_the_script_needs() -> bool {
    let imports = "import grpc, grpc_tools, flatbuffers";
    let probe = Command::new(python()).args(["-c", imports]).output();
    probe.is_ok_and(|output| output.status.success())
}

/// Starts a bidder in `folder`; gives the addresses it says it listens on, as gRPC targets.
fn start(folder: &Path) -> (Bidder, Vec<String>) {
    let (items, socket) = (folder.join("items.json"), folder.join("bid.sock"));
    std::fs::write(&items, LINE_ITEMS).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_nearbid"))
        .arg("bidder")
        .args(["--line-items".as_ref(), items.as_os_str()])
        .args(["--listen", &format!("unix://{}", socket.display())])
        .args(["--listen", "tcp://127.0.0.1:0", "--admin", "127.0.0.1:0"])
        .args(["--log-format", "json"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let bidder = Bidder(child);
    let events = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap_or_default());
    let is_ready = |event: &serde_json::Value| event.get("message").is_some_and(|m| m == "ready");
    let ready = events.into_iter().find(is_ready).unwrap();
    let listen = ready.get("listen").and_then(|l| l.as_str()).unwrap();
    let target = |address: &str| address.replace("unix://", "unix:").replace("tcp://", "");
    (bidder, listen.split(',').map(target).collect())
}

#[test]
fn python_gets_bids_and_no_bids() {
    if !has_what_the_script_needs() {
        println!("skipped: Python's grpcio, grpcio-tools and flatbuffers not present");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (_bidder, targets) = start(folder.path());
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(python())
        .arg(here.join("tests/interop.py"))
        .arg(here.join("../../schema"))
        .args(&targets)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    println!("{said}");
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("protobuf, flatbuffers, health").count(), 2);
}
