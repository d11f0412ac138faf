//! One measured combination of transport and format, as the demo prints it.

use std::collections::BTreeMap;

use openrtb::Reason;
use serde::Serialize;

use crate::load::Outcome;

/// A row of `--json`; the keys are a contract.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// `tcp` or `unix`.
    pub transport: String,
    /// `protobuf`, `flatbuffers` or `json`.
    pub format: String,
    /// Requests sent.
    pub requests: u64,
    /// Calls that failed, and answers that only say that the bidder was too busy or too late.
    pub errors: u64,
    /// Requests that got at least one bid.
    pub bids: u64,
    /// Requests that got none, by reason. With `bids` and `errors` they add up to `requests`.
    pub no_bids: BTreeMap<String, u64>,
    /// Latency in µs, from the time a request was due; half were faster.
    pub p50_us: f64,
    /// 99 of 100 were faster.
    pub p99_us: f64,
    /// 999 of 1,000 were faster.
    pub p999_us: f64,
    /// CPU time a request of the bidder's process, user and system, in µs.
    pub bidder_cpu_us: f64,
    /// The same of the exchange's calling thread.
    pub exchange_cpu_us: f64,
    /// The most memory, resident, that the bidder's process has had, in MiB.
    pub bidder_peak_mib: f64,
    /// SHA-256 of the decisions, one JSON object a line, in the order of the requests.
    pub decisions_sha256: String,
}

/// A row, and what the report shows beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The row.
    pub row: Row,
    /// Peak memory of the exchange's process, its pool of requests included, in MiB.
    pub exchange_peak_mib: f64,
    /// Requests a second that were answered.
    pub achieved: f64,
    /// The percentile curve: percentile, latency in µs.
    pub latency_us: Vec<(f64, f64)>,
    /// What the errors were.
    pub errors_by_code: BTreeMap<String, u64>,
}

/// What a run cost the bidder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BidderCost {
    /// CPU time a request, in µs.
    pub cpu_us: f64,
    /// Peak memory in MiB.
    pub peak_mib: f64,
}

/// Answers that speak of the bidder's state and not of the request: in a comparison they are faults.
const BUSY: [Reason; 3] = [Reason::Deadline, Reason::Overload, Reason::ShuttingDown];

impl Measured {
    /// What the exchange and the bidder measured, together.
    pub fn new(outcome: Outcome, cost: BidderCost) -> Measured {
        let mut no_bids = outcome.no_bids;
        let mut errors_by_code = outcome.errors_by_code;
        for name in BUSY.map(Reason::name) {
            if let Some(count) = no_bids.remove(name) {
                errors_by_code.insert(name.to_owned(), count);
            }
        }
        let row = Row {
            transport: outcome.transport,
            format: outcome.format,
            requests: outcome.requests,
            errors: errors_by_code.values().sum(),
            bids: outcome.bids,
            no_bids,
            p50_us: outcome.p50_us,
            p99_us: outcome.p99_us,
            p999_us: outcome.p999_us,
            bidder_cpu_us: cost.cpu_us,
            exchange_cpu_us: outcome.cpu_us,
            bidder_peak_mib: cost.peak_mib,
            decisions_sha256: outcome.decisions_sha256,
        };
        Measured {
            row,
            exchange_peak_mib: outcome.peak_mib,
            achieved: outcome.achieved,
            latency_us: outcome.latency_us,
            errors_by_code,
        }
    }

    /// `tcp json` and the like.
    pub fn name(&self) -> String {
        format!("{} {}", self.row.transport, self.row.format)
    }
}

/// A measured row for tests of what is made of rows.
#[cfg(test)]
pub fn example(transport: &str, format: &str, factor: f64) -> Measured {
    let counts = |list: &[(&str, u64)]| list.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
    let outcome = Outcome {
        transport: transport.to_owned(),
        format: format.to_owned(),
        requests: 1000,
        errors: 0,
        errors_by_code: BTreeMap::new(),
        bids: 10,
        no_bids: counts(&[("country", 790), ("floor", 200)]),
        rate: 1000,
        achieved: 1000.0,
        p50_us: 50.0 * factor,
        p99_us: 90.0 * factor,
        p999_us: 300.0 * factor,
        max_us: 500.0 * factor,
        latency_us: vec![
            (0.0, 30.0 * factor),
            (90.0, 70.0 * factor),
            (99.0, 90.0 * factor),
        ],
        cpu_us: 8.0 * factor,
        peak_mib: 40.0,
        decisions_sha256: "0f".repeat(32),
    };
    Measured::new(
        outcome,
        BidderCost {
            cpu_us: 6.0 * factor,
            peak_mib: 9.5,
        },
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn the_json_of_a_row_is_a_contract() {
        let json = serde_json::to_string(&example("unix", "json", 1.0).row).unwrap();
        assert_eq!(
            json,
            format!(
                "{{\"transport\":\"unix\",\"format\":\"json\",\"requests\":1000,\"errors\":0,\
                 \"bids\":10,\"no_bids\":{{\"country\":790,\"floor\":200}},\"p50_us\":50.0,\
                 \"p99_us\":90.0,\"p999_us\":300.0,\"bidder_cpu_us\":6.0,\"exchange_cpu_us\":8.0,\
                 \"bidder_peak_mib\":9.5,\"decisions_sha256\":\"{}\"}}",
                "0f".repeat(32)
            )
        );
    }

    #[test]
    fn being_busy_is_an_error() {
        let mut outcome = Outcome {
            no_bids: [("deadline", 3), ("overload", 2), ("floor", 1)]
                .map(|(name, count)| (name.to_owned(), count))
                .into(),
            ..outcome()
        };
        outcome.errors_by_code.insert("UNAVAILABLE".to_owned(), 4);
        let row = Measured::new(
            outcome,
            BidderCost {
                cpu_us: 0.0,
                peak_mib: 0.0,
            },
        )
        .row;
        assert_eq!(
            (row.errors, row.no_bids.len(), row.no_bids["floor"]),
            (9, 1, 1)
        );
    }

    fn outcome() -> Outcome {
        serde_json::from_str(
            r#"{"transport":"tcp","format":"json","requests":10,"errors":4,"errors_by_code":{},
            "bids":0,"no_bids":{},"rate":1,"achieved":1.0,"p50_us":1.0,"p99_us":1.0,"p999_us":1.0,
            "max_us":1.0,"latency_us":[],"cpu_us":1.0,"peak_mib":1.0,"decisions_sha256":""}"#,
        )
        .unwrap()
    }
}
