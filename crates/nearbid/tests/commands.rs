//! `nearbid decide` and `nearbid check` as a person runs them.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const LINE_ITEMS: &str = r#"{"id": "li", "adomain": ["brand.example"], "cpm": 1, "budget": {"total": 0.001},
    "creatives": [{"id": "c", "type": "native", "adm": "{}"}]}"#;
const REQUEST: &str = r#"{"id": "\u0072", "imp": [{"id": "1", "native": {}}]}"#;
const BID: &str = r#"{"id":"r","bids":[{"imp":"1","deal":null,"line_item":"li","creative":"c","price_micros":1000000,"cur":"USD"}]}"#;
const NO_BUDGET: &str = r#"{"id":"r","no_bid":"budget","nbr":508}"#;
const INVALID: &str = r#"{"id":null,"no_bid":"invalid_request","nbr":2}"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("items.json"),
        LINE_ITEMS.replace('\n', " "),
    )
    .unwrap();
    folder
}

fn nearbid(folder: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nearbid"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Who stops reading early has a reason, which is what is looked at.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().unwrap()
}

#[track_caller]
fn check_decide(args: &[&str], requests: &[u8], expect: &[&str]) {
    let folder = folder();
    let mut all = vec!["decide", "--line-items", "items.json", "-"];
    all.extend(args);
    let output = nearbid(folder.path(), &all, requests);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    let lines: Vec<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(lines, expect, "{args:?}");
}

#[test]
fn budgets_are_restored_unless_spent() {
    let requests = format!("{REQUEST}\n{REQUEST}");
    for format in ["json", "protobuf", "flatbuffers"] {
        let args = ["--format", format];
        check_decide(&args, requests.as_bytes(), &[BID, BID]);
        let args = ["--spend", "--format", format];
        check_decide(&args, requests.as_bytes(), &[BID, NO_BUDGET]);
    }
}

#[test]
fn every_line_gets_its_decision_in_order() {
    let long = format!(
        "{{\"id\": \"x\", \"imp\": [], \"ext\": \"{}\"}}",
        "x".repeat(400_000)
    );
    let requests = [
        b"not json\n".as_slice(),
        REQUEST.as_bytes(),
        b"\r\n\n   \n",
        long.as_bytes(),
        b"\n{\"id\": \"e\", \"imp\": []}\n\xff\xfe\n",
        REQUEST.as_bytes(),
    ]
    .concat();
    let no_imp = r#"{"id":"e","no_bid":"invalid_request","nbr":2}"#;
    check_decide(
        &[],
        &requests,
        &[INVALID, BID, INVALID, no_imp, INVALID, BID],
    );
}

#[test]
fn the_moment_and_the_base_currency_are_arguments() {
    check_decide(
        &["--base", "EUR"],
        REQUEST.as_bytes(),
        &[r#"{"id":"r","no_bid":"currency","nbr":511}"#],
    );
    let folder = folder();
    for (args, expect) in [
        (["--now", "yesterday"], "not a time of RFC 3339"),
        (["--base", "EURO"], "not three letters of ISO 4217"),
        (
            ["--format", "xml"],
            "not one of protobuf, flatbuffers, json",
        ),
    ] {
        let all = [
            "decide",
            "--line-items",
            "items.json",
            "-",
            args[0],
            args[1],
        ];
        let output = nearbid(folder.path(), &all, b"");
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(expect), "{told}");
    }
}

#[test]
fn whoever_stops_reading_is_no_error() {
    let folder = folder();
    std::fs::write(
        folder.path().join("r"),
        format!("{REQUEST}\n").repeat(20_000),
    )
    .unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_nearbid"))
        .args(["decide", "--line-items", "items.json", "r"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
}

// Long: a table of cases.
#[test]
fn check_tells_all_that_is_wrong() {
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("bad.json", "[{\"id\": \"a\"}]");
    write("rates.json", "{\"EUR\": 1.08}");
    write(
        "good.toml",
        "line-items = \"items.json\"\nrates = \"rates.json\"\nlisten = [\"unix:///s\"]\n",
    );
    write(
        "bad.toml",
        "line-items = \"items.json\"\nlisten = [\"x\"]\nexp-s = 0\n",
    );
    let check = |args: &[&str], code: i32, expect: &[&str]| {
        let output = nearbid(folder.path(), &[&["check"], args].concat(), b"");
        let told =
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{told}");
        for part in expect {
            assert!(told.contains(part), "{part} is not in {told}");
        }
    };
    check(
        &["--line-items", "items.json"],
        0,
        &["items.json: good, 1 read"],
    );
    check(
        &["--config", "good.toml"],
        0,
        &[
            "good.toml: good\n",
            "items.json: good, 1 read",
            "rates.json: good, 1 read",
        ],
    );
    check(
        &["--config", "bad.toml", "--line-items", "bad.json"],
        1,
        &[
            "bad.toml:2:1: listen is \"x\": `x` has no port",
            "bad.toml:3:1: exp-s is 0; allowed: 1 to 604800",
            "bad.json:1:2: line item \"a\": adomain is missing",
            "bad.json:1:2: line item \"a\": cpm is missing",
        ],
    );
    check(
        &["--line-items", "bad.json", "--json"],
        1,
        &[
            "{\"ok\":false,\"good\":{},\"bad\":[{\"file\":\"bad.json\",\"faults\":[{\"line\":1,\"column\":2,\"line_item\":\"a\",\"key\":\"adomain\",\"problem\":\"is missing\"",
        ],
    );
    check(&[], 1, &["nothing to check"]);
    // The environment stands above the file, as it does for the bidder.
    for (variable, value, expect) in [
        (
            "NEARBID_GRACE_S",
            "700000",
            "grace-s is 700000; allowed: 0 to 604800",
        ),
        (
            "NEARBID_LINE_ITEMS",
            "bad.json",
            "line item \"a\": cpm is missing",
        ),
        ("NEARBID_THREADS", "many", "invalid value 'many'"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_nearbid"))
            .args(["check", "--config", "good.toml"])
            .env(variable, value)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let told =
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(expect), "{expect} is not in {told}");
    }
    check(
        &["--rates", "absent.json"],
        1,
        &["absent.json: cannot be read"],
    );
}
