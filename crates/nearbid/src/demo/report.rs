//! The demo's results as a table for people, as Markdown, and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::machine::Machine;
use super::row::{Measured, Row};

/// `--json`: exactly the rows.
#[derive(Debug, Serialize)]
pub struct Rows<'a> {
    /// In the order in which they ran.
    pub rows: Vec<&'a Row>,
}

impl<'a> Rows<'a> {
    /// The rows of what was measured.
    pub fn of(measured: &'a [Measured]) -> Rows<'a> {
        Rows {
            rows: measured.iter().map(|measured| &measured.row).collect(),
        }
    }
}

/// `report.json`: the rows, and what is needed to read them.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    /// As in `--json`.
    #[serde(flatten)]
    pub rows: Rows<'a>,
    /// Where it ran.
    pub machine: &'a Machine,
    /// Requests a second that were asked for.
    pub rate: u32,
    /// Whether every run decided every request alike.
    pub same_decisions: bool,
    /// What `--json` leaves out, in the order of the rows.
    pub details: Vec<Detail<'a>>,
}

/// What a row leaves out.
#[derive(Debug, Serialize)]
pub struct Detail<'a> {
    /// Peak memory of the exchange's process in MiB.
    pub exchange_peak_mib: f64,
    /// Requests a second that were answered.
    pub achieved: f64,
    /// What the errors were.
    pub errors_by_code: &'a BTreeMap<String, u64>,
    /// The percentile curve: percentile, latency in µs.
    pub latency_us: &'a [(f64, f64)],
}

impl<'a> Detail<'a> {
    /// Of one row.
    pub fn of(measured: &'a Measured) -> Detail<'a> {
        Detail {
            exchange_peak_mib: measured.exchange_peak_mib,
            achieved: measured.achieved,
            errors_by_code: &measured.errors_by_code,
            latency_us: &measured.latency_us,
        }
    }
}

const HEAD: [&str; 9] = [
    "transport",
    "format",
    "p50 µs",
    "p99 µs",
    "p99.9 µs",
    "bidder CPU µs",
    "exchange CPU µs",
    "bidder MiB",
    "exchange MiB",
];

fn cells(measured: &Measured) -> [String; 9] {
    let row = &measured.row;
    let one = |value: f64| format!("{value:.1}");
    [
        row.transport.clone(),
        row.format.clone(),
        one(row.p50_us),
        one(row.p99_us),
        one(row.p999_us),
        one(row.bidder_cpu_us),
        one(row.exchange_cpu_us),
        one(row.bidder_peak_mib),
        one(measured.exchange_peak_mib),
    ]
}

/// The table, in columns for a terminal.
pub fn table(measured: &[Measured]) -> String {
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(measured.iter().map(cells));
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..HEAD.len()).filter_map(width).collect();
    rows.iter().map(|row| line(row, &widths)).collect()
}

/// Names to the left, numbers to the right.
fn line(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
        let space = " ".repeat(width.saturating_sub(cell.chars().count()));
        let padded = if column < 2 {
            format!("{cell}{space}")
        } else {
            format!("{space}{cell}")
        };
        line.push_str(if column == 0 { "" } else { "  " });
        line.push_str(&padded);
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

/// The answers: once if all rows gave the same, else row by row.
pub fn answers(measured: &[Measured]) -> String {
    let texts: Vec<String> = measured
        .iter()
        .map(|measured| answer(&measured.row))
        .collect();
    match texts.first() {
        Some(first) if texts.iter().all(|text| text == first) => {
            format!("Each time: {first}\n")
        }
        _ => measured
            .iter()
            .zip(&texts)
            .map(|(measured, text)| format!("{}: {text}\n", measured.name()))
            .collect(),
    }
}

fn answer(row: &Row) -> String {
    let mut text = format!(
        "{} requests, {} bids, {} errors",
        row.requests, row.bids, row.errors
    );
    let _ = write!(text, "; no bids:");
    let mut reasons: Vec<(&String, &u64)> = row.no_bids.iter().collect();
    reasons.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    for (at, (name, count)) in reasons.into_iter().enumerate() {
        let _ = write!(text, "{} {name} {count}", if at == 0 { "" } else { "," });
    }
    text
}

/// What a Unix socket costs compared with TCP, format by format, and the formats compared on it.
pub fn ratios(measured: &[Measured]) -> String {
    let find = |transport: &str, format: &str| {
        measured
            .iter()
            .find(|m| m.row.transport == transport && m.row.format == format)
    };
    let mut text = String::new();
    for unix in measured.iter().filter(|m| m.row.transport == "unix") {
        let Some(tcp) = find("tcp", &unix.row.format) else {
            continue;
        };
        let _ = writeln!(
            text,
            "unix/tcp, {}: p50 {}, bidder CPU {}, exchange CPU {}",
            unix.row.format,
            ratio(unix.row.p50_us, tcp.row.p50_us),
            ratio(unix.row.bidder_cpu_us, tcp.row.bidder_cpu_us),
            ratio(unix.row.exchange_cpu_us, tcp.row.exchange_cpu_us),
        );
    }
    for format in ["protobuf", "json"] {
        let (Some(base), Some(other)) = (find("unix", "flatbuffers"), find("unix", format)) else {
            continue;
        };
        let _ = writeln!(
            text,
            "{format}/flatbuffers, unix: p50 {}, bidder CPU {}",
            ratio(other.row.p50_us, base.row.p50_us),
            ratio(other.row.bidder_cpu_us, base.row.bidder_cpu_us),
        );
    }
    text
}

fn ratio(value: f64, to: f64) -> String {
    if to > 0.0 {
        format!("{:.2}", value / to)
    } else {
        "–".to_owned()
    }
}

/// The whole report.
pub fn markdown(measured: &[Measured], machine: &Machine, rate: u32, verdict: &str) -> String {
    let mut rows = String::new();
    for measured in measured {
        let _ = writeln!(rows, "| {} |", cells(measured).join(" | "));
    }
    format!(
        "# A bidder and an exchange on one machine\n\n\
         Two processes: a bidder with four line items, and an exchange that sends {rate} requests a \
         second at even distances, whatever the replies do. A latency counts from the time a request \
         was due. CPU is user and system time a request: of the bidder's whole process, and of the \
         exchange's calling thread; encoding requests before the run and checking decisions are not \
         in it. Memory is the peak resident set; the exchange's holds the run's requests.\n\n\
         | {} |\n| --- | --- |{}\n{rows}\n{}\n{verdict}\n\n```text\n{}```\n\n\
         ![Latency](latency.svg)\n\n![CPU](cpu.svg)\n\n## Where\n\n{}\n",
        HEAD.join(" | "),
        " --: |".repeat(HEAD.len() - 2),
        answers(measured),
        ratios(measured),
        machine.note(),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::super::row::example;
    use super::*;

    fn measured() -> Vec<Measured> {
        vec![
            example("tcp", "flatbuffers", 2.0),
            example("unix", "flatbuffers", 1.0),
            example("unix", "json", 1.5),
        ]
    }

    #[test]
    fn a_table_is_in_columns() {
        let text = table(&measured());
        let expect = "\
transport  format       p50 µs  p99 µs  p99.9 µs  bidder CPU µs  exchange CPU µs  bidder MiB  exchange MiB
tcp        flatbuffers   100.0   180.0     600.0           12.0             16.0         9.5          40.0
unix       flatbuffers    50.0    90.0     300.0            6.0              8.0         9.5          40.0
unix       json           75.0   135.0     450.0            9.0             12.0         9.5          40.0
";
        assert_eq!(text, expect);
    }

    #[test]
    fn equal_answers_are_told_once() {
        let mut measured = measured();
        assert_eq!(
            answers(&measured),
            "Each time: 1000 requests, 10 bids, 0 errors; no bids: country 790, floor 200\n"
        );
        measured[1].row.bids = 9;
        assert_eq!(answers(&measured).lines().count(), 3);
    }

    #[test]
    fn ratios_compare_what_there_is() {
        assert_eq!(
            ratios(&measured()),
            "unix/tcp, flatbuffers: p50 0.50, bidder CPU 0.50, exchange CPU 0.50\n\
             json/flatbuffers, unix: p50 1.50, bidder CPU 1.50\n"
        );
        assert_eq!(ratio(1.0, 0.0), "–");
    }

    #[test]
    fn the_report_holds_every_row() {
        let machine = Machine {
            cpu: "a cpu".to_owned(),
            ..Machine::default()
        };
        let text = markdown(&measured(), &machine, 1000, "All alike.");
        assert_eq!(
            text.lines().filter(|line| line.starts_with("| ")).count(),
            2 + 3
        );
        for part in [
            "All alike.",
            "a cpu",
            "latency.svg",
            "cpu.svg",
            "1000 requests a second",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
