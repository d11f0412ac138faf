//! What the tests with clients of other languages share: a bidder to call, and what there is to run.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, missing_docs)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A running bidder with line items from a file; killed when dropped, so that a failing test leaves
/// nothing behind.
pub struct Bidder {
    child: Child,
    /// Of its socket.
    _folder: tempfile::TempDir,
    /// Where it listens: `unix:///path`, then `host:port`. Every gRPC library takes both.
    pub targets: Vec<String>,
    admin: String,
}

impl Bidder {
    pub fn start(line_items: &Path) -> Bidder {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("bid.sock");
        let mut child = Command::new(env!("CARGO_BIN_EXE_nearbid"))
            .arg("bidder")
            .args(["--line-items".as_ref(), line_items.as_os_str()])
            .args(["--listen", &format!("unix://{}", socket.display())])
            .args(["--listen", "tcp://127.0.0.1:0", "--admin", "127.0.0.1:0"])
            // Whoever tests decisions wants them from a machine that is behind, too; and some tests
            // stop the process.
            .args(["--wait-us-max", "0"])
            .args(["--log-format", "json"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let ready = lines.find_map(|line| {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap_or_default();
            event
                .get("message")
                .is_some_and(|m| m == "ready")
                .then_some(event)
        });
        // The bidder goes on logging: someone has to read it.
        std::thread::spawn(move || lines.for_each(drop));
        let ready = ready.unwrap();
        let text = |key| ready.get(key).and_then(Value::as_str).unwrap();
        let target = |address: &str| address.replace("tcp://", "");
        Bidder {
            targets: text("listen").split(',').map(target).collect(),
            admin: text("admin").to_owned(),
            child,
            _folder: folder,
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The metrics as text, once they tell of everything that came before.
    pub fn metrics(&self) -> String {
        // A server thread hands on what it counted every 100 ms.
        std::thread::sleep(std::time::Duration::from_millis(500));
        let mut admin = TcpStream::connect(&self.admin).unwrap();
        let request = "GET /metrics HTTP/1.1\r\nhost: bidder\r\nconnection: close\r\n\r\n";
        admin.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        admin.read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Bidder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The Python to run: `PYTHON`, or the one on the path.
pub fn python() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// Whether Python has what `clients/python/requirements.txt` names.
pub fn python_has_grpc() -> bool {
    let imports = "import grpc, grpc_tools, flatbuffers";
    let probe = Command::new(python()).args(["-c", imports]).output();
    probe.is_ok_and(|output| output.status.success())
}

/// Runs a command to its end; gives what it wrote to standard output. Fails with all that it wrote.
pub fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [out, err] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(
        output.status.success(),
        "{command:?}: {}\n{out}{err}",
        output.status
    );
    out
}
