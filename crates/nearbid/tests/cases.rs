//! The worked examples of the decision's contract, in every format.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::path::{Path, PathBuf};

use bidder::{line_items, rates};
use engine::Rates;
use nearbid::decide::{Decider, Settings};
use openrtb::Currency;
use serde_json::Value;
use wire::{Format, Limits};

/// The folder of the examples, where it is present.
fn cases() -> Option<PathBuf> {
    let shared = match std::env::var_os("NEARBID_SHARED") {
        Some(shared) => PathBuf::from(shared),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let cases = shared.join("spec/cases");
    if !cases.is_dir() {
        println!("skipped: {} not present", cases.display());
        return None;
    }
    Some(cases)
}

struct Case {
    line_items: String,
    rates: Option<String>,
    base: String,
    now: String,
}

impl Case {
    fn decider(&self, format: Format) -> Decider {
        let items = line_items::parse(Path::new("line_items"), &self.line_items);
        let rates = self.rates.as_deref().unwrap_or("{}");
        let rates = rates::parse(Path::new("rates"), rates).unwrap_or_else(|e| panic!("{e}"));
        let settings = Settings {
            rates: Rates::new(Currency::parse(&self.base).unwrap(), rates),
            now: bidder::time::parse(&self.now).unwrap(),
            format,
            spend: false,
            limits: Limits::default(),
        };
        Decider::new(items.unwrap_or_else(|e| panic!("{e}")), settings).unwrap()
    }
}

fn decide(decider: &mut Decider, request: &str) -> Value {
    let mut out = Vec::new();
    decider.decide(request.as_bytes(), &mut out);
    serde_json::from_slice(&out).unwrap()
}

/// Collects what disagrees, so that a run shows all of it.
#[derive(Default)]
struct Report {
    checked: usize,
    wrong: Vec<String>,
}

impl Report {
    fn check(&mut self, name: &str, format: Format, request: &str, got: &Value, expected: &Value) {
        self.checked += 1;
        if got != expected && self.wrong.len() < 20 {
            let request: String = request.chars().take(2000).collect();
            self.wrong.push(format!(
                "{name} ({format})\n  got      {got}\n  expected {expected}\n  request  {request}"
            ));
        }
    }

    fn finish(self) {
        assert!(self.wrong.is_empty(), "\n{}", self.wrong.join("\n"));
        assert!(self.checked > 0);
        println!("{} decisions agree", self.checked);
    }
}

/// One set of line items over many requests.
fn check_set(report: &mut Report, folder: &Path, requests: &Path, rates: Option<&Path>) {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let case = Case {
        line_items: read(&folder.join("line_items.json")),
        rates: rates.map(read),
        base: "USD".to_owned(),
        now: "2026-12-01T12:00:00Z".to_owned(),
    };
    let (requests, expected) = (read(requests), read(&folder.join("expected.ndjson")));
    assert_eq!(requests.lines().count(), expected.lines().count());
    for format in Format::ALL {
        let mut decider = case.decider(format);
        for (at, (request, expected)) in requests.lines().zip(expected.lines()).enumerate() {
            let name = format!("{} line {}", folder.display(), at + 1);
            let got = decide(&mut decider, request);
            let expected = serde_json::from_str(expected).unwrap();
            report.check(&name, format, request, &got, &expected);
        }
    }
}

/// The text of a value of a JSON object as it is written: what a request says may not survive
/// being read and written again (`1.10`, a repeated key).
fn raw_request(line: &str) -> String {
    use serde_json::value::RawValue;
    #[derive(serde::Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        request: Option<&'a RawValue>,
        raw: Option<String>,
    }
    let line: Line<'_> = serde_json::from_str(line).unwrap();
    match (line.request, line.raw) {
        (Some(request), None) => request.get().to_owned(),
        (None, Some(raw)) => raw,
        _ => panic!("a case has either a request or its raw text"),
    }
}

#[test]
fn rules() {
    let Some(cases) = cases() else { return };
    let mut report = Report::default();
    let text = std::fs::read_to_string(cases.join("rules.ndjson")).unwrap();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let case = Case {
            line_items: value["line_items"].to_string(),
            rates: value.get("rates").map(Value::to_string),
            base: value["base"].as_str().unwrap_or("USD").to_owned(),
            now: value["now"].as_str().unwrap().to_owned(),
        };
        let request = raw_request(line);
        for format in Format::ALL {
            let got = decide(&mut case.decider(format), &request);
            let name = value["name"].as_str().unwrap();
            report.check(name, format, &request, &got, &value["expected"]);
        }
    }
    report.finish();
}

#[test]
fn corpus() {
    let Some(cases) = cases() else { return };
    let mut report = Report::default();
    let requests = cases.join("../../corpus/requests.ndjson");
    for set in ["corpus-20", "corpus-300"] {
        check_set(&mut report, &cases.join(set), &requests, None);
    }
    report.finish();
}

#[test]
fn sets() {
    let Some(cases) = cases() else { return };
    let mut report = Report::default();
    let sets = cases.join("sets");
    let (requests, rates) = (sets.join("requests.ndjson"), sets.join("rates.json"));
    let mut folders: Vec<_> = std::fs::read_dir(&sets)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    for folder in folders {
        check_set(&mut report, &folder, &requests, Some(&rates));
    }
    report.finish();
}
