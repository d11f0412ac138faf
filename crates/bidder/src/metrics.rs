//! What the bidder counts, in Prometheus' terms.
//!
//! A server thread counts into cells of its own and hands them on at every tick: on the request's
//! path nothing is shared. By format and transport, never by line item: there may be a million.

use engine::Invalid;
use openrtb::{Limit, Reason};
use prometheus::core::Collector;
use prometheus::local::{LocalHistogram, LocalIntCounter};
use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts, Registry, TextEncoder,
};
use transport::TransportKind;
use wire::Format;

use crate::snapshot::State;
use crate::time;

/// Every cause of an invalid request. That a call names no format, or two, is apart.
const CAUSES: [Invalid; 3 + Limit::ALL.len()] = {
    let [message, imps, deals, depth, string, work] = Limit::ALL;
    [
        Invalid::Malformed,
        Invalid::NoId,
        Invalid::NoImp,
        Invalid::OverLimit(message),
        Invalid::OverLimit(imps),
        Invalid::OverLimit(deals),
        Invalid::OverLimit(depth),
        Invalid::OverLimit(string),
        Invalid::OverLimit(work),
    ]
};

/// The place of a cause in [`CAUSES`].
fn index(cause: Invalid) -> usize {
    match cause {
        Invalid::Malformed => 0,
        Invalid::NoId => 1,
        Invalid::NoImp => 2,
        Invalid::OverLimit(limit) => 3 + limit as usize,
    }
}

/// What came of a reload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reload {
    /// The new files are read from now on.
    Ok,
    /// A file has faults; the old ones stay.
    Refused,
}

impl Reload {
    const fn name(self) -> &'static str {
        match self {
            Reload::Ok => "ok",
            Reload::Refused => "refused",
        }
    }
}

/// Everything counted, all threads together.
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    bids: IntCounterVec,
    no_bids: IntCounterVec,
    invalid: IntCounterVec,
    shed: IntCounterVec,
    decision_seconds: HistogramVec,
    call_seconds: HistogramVec,
    notices: IntCounterVec,
    reloads: IntCounterVec,
    reloaded_at: IntGauge,
    line_items: IntGauge,
}

/// Upper bounds of the buckets, in seconds: a no takes well under a microsecond, and a host gives
/// a bidder a few milliseconds.
const BUCKETS: &[f64] = &[
    2.5e-7, 5e-7, 1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3,
    1e-2, 2.5e-2, 5e-2, 0.1,
];

const WAY: [&str; 2] = ["format", "transport"];

impl Metrics {
    /// Nothing counted yet.
    ///
    /// # Errors
    /// A name or label that Prometheus does not allow: none of ours, as a test knows.
    pub fn new() -> prometheus::Result<Metrics> {
        let register = Register(Registry::new_custom(Some("nearbid".to_owned()), None)?);
        let [reason, cause] = ["reason", "cause"].map(|label| [label, "format", "transport"]);
        let metrics = Metrics {
            requests: register.counters("requests_total", "Calls of Bid.", &WAY)?,
            bids: register.counters("bids_total", "Bids made.", &WAY)?,
            no_bids: register.counters("no_bids_total", "Answers without a bid.", &reason)?,
            invalid: register.counters("invalid_total", "Calls that are invalid.", &cause)?,
            shed: register.counters(
                "shed_total",
                "Calls that waited too long and were answered RESOURCE_EXHAUSTED.",
                &WAY,
            )?,
            decision_seconds: register.histograms(
                "decision_seconds",
                "From the view of a request to its answer.",
            )?,
            call_seconds: register
                .histograms("call_seconds", "From a request's last bytes to its answer.")?,
            notices: register.counters("notices_total", "Notices.", &["kind", "outcome"])?,
            reloads: register.counters("reloads_total", "Reloads of files.", &["result"])?,
            reloaded_at: register.gauge(Opts::new(
                "reloaded_at_seconds",
                "When files were last taken over.",
            ))?,
            line_items: register.gauge(Opts::new("line_items", "Line items loaded."))?,
            registry: register.0.clone(),
        };
        // Alerts want a series that is there before it first counts.
        for result in [Reload::Ok, Reload::Refused] {
            metrics.reloads.with_label_values(&[result.name()]);
        }
        let build = Opts::new("build_info", "The version that runs; always 1.");
        let build = build.const_label("version", env!("CARGO_PKG_VERSION"));
        register.gauge(build)?.set(1);
        Ok(metrics)
    }

    /// Cells for one server thread.
    pub fn local(&self) -> LocalMetrics {
        LocalMetrics {
            ways: FORMATS.map(|format| TRANSPORTS.map(|transport| self.way(format, transport))),
            formatless: TRANSPORTS.map(|transport| {
                let way = ["unknown", transport.name()];
                let [format, transport] = way;
                Formatless {
                    requests: self.requests.with_label_values(&way).local(),
                    invalid: self
                        .invalid
                        .with_label_values(&["format", format, transport])
                        .local(),
                }
            }),
        }
    }

    fn way(&self, format: Format, transport: TransportKind) -> Way {
        let way @ [format, transport] = [format.name(), transport.name()];
        let counter = |vec: &IntCounterVec, first: &str| {
            vec.with_label_values(&[first, format, transport]).local()
        };
        Way {
            requests: self.requests.with_label_values(&way).local(),
            bids: self.bids.with_label_values(&way).local(),
            no_bids: Reason::ALL.map(|reason| counter(&self.no_bids, reason.name())),
            invalid: CAUSES.map(|cause| counter(&self.invalid, cause.name())),
            shed: self.shed.with_label_values(&way).local(),
            decision_seconds: self.decision_seconds.with_label_values(&way).local(),
            call_seconds: self.call_seconds.with_label_values(&way).local(),
        }
    }

    /// Counts a notice.
    pub fn count_notice(&self, kind: &str, outcome: &str) {
        self.notices.with_label_values(&[kind, outcome]).inc();
    }

    /// Counts a reload.
    pub fn count_reload(&self, result: Reload) {
        self.reloads.with_label_values(&[result.name()]).inc();
    }

    /// Takes in that this state is read from now on.
    pub fn loaded(&self, state: &State) {
        let line_items = state.snapshot.catalog().len();
        self.line_items
            .set(i64::try_from(line_items).unwrap_or(i64::MAX));
        self.reloaded_at.set(time::now().0 / 1_000_000);
    }

    /// Everything in the metrics' text format.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail, and every family has a name.
        let _ = TextEncoder::new().encode_utf8(&self.registry.gather(), &mut text);
        text
    }
}

/// Makes metrics and registers them.
struct Register(Registry);

impl Register {
    fn counters(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
    ) -> prometheus::Result<IntCounterVec> {
        self.registered(IntCounterVec::new(Opts::new(name, help), labels)?)
    }

    fn histograms(&self, name: &str, help: &str) -> prometheus::Result<HistogramVec> {
        let options = HistogramOpts::new(name, help).buckets(BUCKETS.to_vec());
        self.registered(HistogramVec::new(options, &WAY)?)
    }

    fn gauge(&self, options: Opts) -> prometheus::Result<IntGauge> {
        self.registered(IntGauge::with_opts(options)?)
    }

    fn registered<M: Collector + Clone + 'static>(&self, metric: M) -> prometheus::Result<M> {
        self.0.register(Box::new(metric.clone()))?;
        Ok(metric)
    }
}

const FORMATS: [Format; 3] = [Format::Protobuf, Format::FlatBuffers, Format::Json];
const TRANSPORTS: [TransportKind; 2] = [TransportKind::Unix, TransportKind::Tcp];

/// What one server thread counted since its last tick.
pub struct LocalMetrics {
    ways: [[Way; 2]; 3],
    formatless: [Formatless; 2],
}

/// Calls over one transport that name no format, or two.
struct Formatless {
    requests: LocalIntCounter,
    invalid: LocalIntCounter,
}

/// The cells of one format over one transport.
pub struct Way {
    /// Calls of `Bid`.
    pub requests: LocalIntCounter,
    /// Bids made.
    pub bids: LocalIntCounter,
    no_bids: [LocalIntCounter; Reason::ALL.len()],
    invalid: [LocalIntCounter; CAUSES.len()],
    /// Calls that waited too long and were answered with a status.
    pub shed: LocalIntCounter,
    /// From the view to the answer.
    pub decision_seconds: LocalHistogram,
    /// From the last bytes to the answer.
    pub call_seconds: LocalHistogram,
}

impl LocalMetrics {
    /// The cells of a call.
    pub fn way(&self, format: Format, transport: TransportKind) -> &Way {
        let [protobuf, flatbuffers, json] = &self.ways;
        let [unix, tcp] = match format {
            Format::Protobuf => protobuf,
            Format::FlatBuffers => flatbuffers,
            Format::Json => json,
        };
        match transport {
            TransportKind::Unix => unix,
            TransportKind::Tcp => tcp,
        }
    }

    /// Counts a call that names no format, or two.
    pub fn count_formatless(&self, transport: TransportKind) {
        let [unix, tcp] = &self.formatless;
        let cells = match transport {
            TransportKind::Unix => unix,
            TransportKind::Tcp => tcp,
        };
        cells.requests.inc();
        cells.invalid.inc();
    }

    /// Hands on what was counted.
    pub fn flush(&self) {
        for cells in &self.formatless {
            cells.requests.flush();
            cells.invalid.flush();
        }
        for way in self.ways.iter().flatten() {
            way.requests.flush();
            way.bids.flush();
            way.no_bids.iter().for_each(LocalIntCounter::flush);
            way.invalid.iter().for_each(LocalIntCounter::flush);
            way.shed.flush();
            way.decision_seconds.flush();
            way.call_seconds.flush();
        }
    }
}

impl Way {
    /// Counts an answer without a bid.
    pub fn count_no_bid(&self, reason: Reason) {
        if let Some(counter) = self.no_bids.get(reason as usize) {
            counter.inc();
        }
    }

    /// Counts a call answered `INVALID_ARGUMENT`.
    pub fn count_invalid(&self, cause: Invalid) {
        if let Some(counter) = self.invalid.get(index(cause)) {
            counter.inc();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_cause_has_its_own_cell() {
        for (at, cause) in CAUSES.into_iter().enumerate() {
            assert_eq!(index(cause), at, "{}", cause.name());
        }
    }

    #[test]
    fn every_reason_has_its_own_cell() {
        for (at, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, at, "{}", reason.name());
        }
    }

    #[test]
    fn what_is_counted_shows_after_a_flush() {
        let metrics = Metrics::new().unwrap();
        let local = metrics.local();
        let way = local.way(Format::FlatBuffers, TransportKind::Unix);
        way.requests.inc();
        way.count_no_bid(Reason::Floor);
        way.count_invalid(Invalid::NoImp);
        local.count_formatless(TransportKind::Tcp);
        way.decision_seconds.observe(3e-7);
        let line =
            "nearbid_no_bids_total{format=\"flatbuffers\",reason=\"floor\",transport=\"unix\"} ";
        assert!(
            metrics.text().contains(&format!("{line}0\n")),
            "{}",
            metrics.text()
        );
        local.flush();
        let text = metrics.text();
        for line in [
            &format!("{line}1\n"),
            "nearbid_requests_total{format=\"flatbuffers\",transport=\"unix\"} 1\n",
            "nearbid_invalid_total{cause=\"no_imp\",format=\"flatbuffers\",transport=\"unix\"} 1\n",
            "nearbid_invalid_total{cause=\"format\",format=\"unknown\",transport=\"tcp\"} 1\n",
            "nearbid_decision_seconds_bucket{format=\"flatbuffers\",transport=\"unix\",le=\"0.0000005\"} 1\n",
            "nearbid_build_info{version=\"",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
    }
}
