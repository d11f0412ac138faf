//! Holds the HTTP/2 of `transport` to h2spec, a conformance suite written by others
//! (github.com/summerwind/h2spec), run against the example `echo`. What it finds is either mended or
//! in [`EXCEPTIONS`] with the reason why it is no fault.

use crate::process::finish;
use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// What is installed, by Go.
const MODULE: &str = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible";
const SUITES: [&str; 3] = ["generic", "http2", "hpack"];

/// h2spec cannot say that it speaks gRPC, so it is answered 415 as soon as its header list is there, with
/// the end of the stream. What it then does wrong on a stream that is over is passed over (RFC 9113
/// 5.1 and 8.1 let a server answer early). The same faults in a gRPC call are cases of `transport`'s
/// `tests/server_machine.rs`, which the second text names.
const ANSWERED: &str = "the stream was answered and over before that";

/// Tests that fail, and why that is right.
#[rustfmt::skip]
const EXCEPTIONS: [(&str, &str, &str); 8] = [
    ("http2/5.1", "closed: Sends a DATA frame after sending RST_STREAM frame", "what_follows_a_reset_is_dropped: Netty sends what it had ready behind its own reset"),
    ("http2/5.1", "closed: Sends a HEADERS frame after sending RST_STREAM frame", "what_follows_a_reset_is_dropped"),
    ("http2/6.9", "Sends a WINDOW_UPDATE frame with a flow control window increment of 0 on a stream", "streams_that_break_the_rules"),
    ("http2/6.9.1", "Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream", "streams_that_break_the_rules"),
    ("http2/8.1", "Sends a second HEADERS frame without the END_STREAM flag", "streams_that_break_the_rules"),
    ("http2/8.1.2.1", "Sends a HEADERS frame that contains a pseudo-header field as trailers", "streams_that_break_the_rules"),
    ("http2/8.1.2.6", "Sends a HEADERS frame with the \"content-length\" header field which does not equal the DATA frame payload length", "streams_that_break_the_rules"),
    ("http2/8.1.2.6", "Sends a HEADERS frame with the \"content-length\" header field which does not equal the sum of the multiple DATA frames payload length", "streams_that_break_the_rules"),
];

/// How many of its tests pass. Go is there.
pub fn check(root: &Path) -> Result<u64> {
    let folder = target(root).join("h2spec");
    std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let mut install = Command::new("go");
    install.args(["install", MODULE]).env("GOBIN", &folder);
    // Outside of every module of ours: its dependencies are none of theirs.
    install.current_dir(&folder);
    finish(install)?;
    let report = folder.join("report.xml");
    // What an earlier run left says nothing of this one.
    let _ = std::fs::remove_file(&report);
    let (server, port) = Server::start(root)?;
    let mut h2spec = Command::new(folder.join("h2spec"));
    h2spec.args(SUITES).args(["--host", "127.0.0.1", "--port"]);
    h2spec.arg(port).arg("--junit-report").arg(&report);
    h2spec.stdout(Stdio::null());
    // It fails where a test does; which ones is in the report.
    h2spec.status().context("running h2spec")?;
    drop(server);
    let text = std::fs::read_to_string(&report).context("h2spec wrote no report")?;
    judge(&results(&text))
}

fn target(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root.join(target)
}

/// The example, serving until this is dropped.
struct Server {
    child: Child,
    /// Its output, which it goes on writing to.
    _says: BufReader<ChildStdout>,
}

impl Server {
    /// It, and its port.
    fn start(root: &Path) -> Result<(Server, String)> {
        let mut cargo = Command::new("cargo");
        cargo.args([
            "run",
            "-q",
            "--locked",
            "-p",
            "transport",
            "--example",
            "echo",
        ]);
        cargo.args(["--", "tcp://127.0.0.1:0"]).current_dir(root);
        cargo.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = cargo.spawn().context("running the example echo")?;
        let mut says = BufReader::new(child.stdout.take().context("no output of echo")?);
        let mut address = String::new();
        says.read_line(&mut address)?;
        let server = Server { child, _says: says };
        let port = address.trim().rsplit(':').next().unwrap_or_default();
        ensure!(!port.is_empty(), "the example echo gave no address");
        Ok((server, port.to_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It drains when its input ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A test of h2spec: its section, its name, and whether it passed.
#[derive(Debug, PartialEq)]
struct Test {
    section: String,
    name: String,
    passed: bool,
}

/// The tests of a JUnit report, which has each on a line of its own, and what failed below it.
fn results(report: &str) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    for line in report.lines().map(str::trim_start) {
        if line.starts_with("<testcase ") {
            tests.push(Test {
                section: attribute(line, "package"),
                name: attribute(line, "classname"),
                passed: true,
            });
        } else if line.starts_with("<error") || line.starts_with("<failure") {
            tests
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|test| test.passed = false);
        }
    }
    tests
}

fn attribute(line: &str, name: &str) -> String {
    let start = format!("{name}=\"");
    let value = line.split_once(&start).map_or("", |(_, value)| value);
    let value = value.split('"').next().unwrap_or_default();
    value
        .replace("&#34;", "\"")
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace("&amp;", "&")
}

/// How many passed, where those that failed are the exceptions and no others.
fn judge(tests: &[Test]) -> Result<u64> {
    ensure!(!tests.is_empty(), "h2spec ran no test");
    let of = |test: &Test| {
        let is_it = |(section, name, _): &&(&str, &str, &str)| {
            (*section, *name) == (&test.section, &test.name)
        };
        EXCEPTIONS.iter().find(is_it)
    };
    let mut wrong = Vec::new();
    for test in tests {
        let Test {
            section,
            name,
            passed,
        } = test;
        match (passed, of(test)) {
            (false, None) => wrong.push(format!("{section} {name}: failed")),
            (true, Some(_)) => wrong.push(format!(
                "{section} {name}: passes, and is no exception any more"
            )),
            (false, Some((.., case))) => println!("h2spec {section} {name}: {ANSWERED} ({case})"),
            (true, None) => {}
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("; "));
    }
    Ok(tests.iter().filter(|test| test.passed).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(section: &str, name: &str, passed: bool) -> Test {
        let (section, name) = (section.to_owned(), name.to_owned());
        Test {
            section,
            name,
            passed,
        }
    }

    #[test]
    fn a_report_is_read() {
        let report = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="5.1. Stream States" package="http2/5.1" id="5.1" tests="2" errors="1">
    <testcase package="http2/5.1" classname="idle: Sends a DATA frame" time="0.0001"></testcase>
    <testcase package="http2/5.1" classname="the &#34;x&#34; field" time="2.0005">
      <error>GOAWAY Frame
Connection closed</error>
    </testcase>
  </testsuite>
</testsuites>"#;
        let expect = [
            test("http2/5.1", "idle: Sends a DATA frame", true),
            test("http2/5.1", "the \"x\" field", false),
        ];
        assert_eq!(results(report), expect);
    }

    #[test]
    fn exceptions_fail_and_nothing_else_does() -> Result<()> {
        let exceptions = || EXCEPTIONS.map(|(section, name, _)| test(section, name, false));
        let mut tests = Vec::from(exceptions());
        tests.push(test("http2/4.1", "Sends a frame", true));
        assert_eq!(judge(&tests)?, 1);
        tests.push(test("http2/4.1", "Sends another", false));
        assert!(judge(&tests).is_err_and(|e| e.to_string() == "http2/4.1 Sends another: failed"));
        let mut mended = exceptions();
        mended[0].passed = true;
        assert!(judge(&mended).is_err_and(|e| e.to_string().contains("no exception any more")));
        assert!(judge(&[]).is_err());
        Ok(())
    }
}
