//! The admin port: health for Kubernetes, metrics for Prometheus.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State as Extract;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use engine::{BLOCK_LEN, Book, MemoryBook, Snapshot};
use openrtb::Micros;
use transport::{Counters, Server, TransportKind};

use crate::service::{Heartbeat, Shared, call_groups};
use crate::time;

/// A server thread that has not ticked for so long hangs.
const HEARTBEAT_MAX: Duration = Duration::from_secs(10);

/// What is to be done about a socket that nobody can connect to any more.
const GONE: &str = "not ready: a socket file is gone; restart to have it back\n";

/// What the admin port tells of.
pub(crate) struct Admin {
    pub shared: Arc<Shared>,
    /// Whether calls are welcome: all is loaded and listening, and nobody asked to stop.
    pub ready: AtomicBool,
    /// One for each server thread.
    pub heartbeats: Mutex<Vec<Heartbeat>>,
    /// The server, while it serves; it is taken to be drained.
    pub server: Mutex<Option<Server>>,
}

impl Admin {
    pub fn new(shared: Arc<Shared>) -> Admin {
        Admin {
            shared,
            ready: AtomicBool::new(false),
            heartbeats: Mutex::default(),
            server: Mutex::default(),
        }
    }

    /// A heartbeat for a new server thread. It starts alive.
    pub fn heartbeat(&self) -> Heartbeat {
        let heartbeat = Heartbeat::default();
        heartbeat.store(time::now().0.unsigned_abs(), Ordering::Relaxed);
        let mut heartbeats = self
            .heartbeats
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        heartbeats.push(heartbeat.clone());
        heartbeat
    }

    fn is_alive(&self) -> bool {
        let now = time::now().0.unsigned_abs();
        let heartbeats = self
            .heartbeats
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        heartbeats.iter().all(|heartbeat| {
            let silent_us = now.saturating_sub(heartbeat.load(Ordering::Relaxed));
            u128::from(silent_us) < HEARTBEAT_MAX.as_micros()
        })
    }

    fn counters(&self) -> Option<Counters> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.as_ref().map(Server::counters)
    }

    /// All metrics: those counted by threads, and those that are looked up when asked for.
    fn metrics(&self) -> String {
        let mut text = Text(self.shared.metrics.text());
        push_budgets(&mut text, &self.shared);
        if let Some(counters) = self.counters() {
            push_transport(&mut text, &counters);
        }
        text.0
    }
}

/// Every path of the admin port.
pub(crate) fn router(admin: Arc<Admin>) -> Router {
    Router::new()
        .route("/health/live", get(live))
        .route("/health/ready", get(ready))
        .route("/metrics", get(metrics))
        .with_state(admin)
}

async fn live(Extract(admin): Extract<Arc<Admin>>) -> (StatusCode, &'static str) {
    match admin.is_alive() {
        true => (StatusCode::OK, "alive\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "a server thread hangs\n"),
    }
}

async fn ready(Extract(admin): Extract<Arc<Admin>>) -> (StatusCode, &'static str) {
    let server = admin.server.lock().unwrap_or_else(PoisonError::into_inner);
    let is_reachable = server.as_ref().is_none_or(Server::is_reachable);
    match (admin.ready.load(Ordering::SeqCst), is_reachable) {
        (true, true) => (StatusCode::OK, "ready\n"),
        (true, false) => (StatusCode::SERVICE_UNAVAILABLE, GONE),
        (false, _) => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    }
}

async fn metrics(Extract(admin): Extract<Arc<Admin>>) -> impl IntoResponse {
    const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, TEXT)], admin.metrics())
}

fn push_budgets(text: &mut Text, shared: &Shared) {
    let state = shared.current.load();
    let (left, funded) = budgets(&state.snapshot);
    let counts = shared.budgets.counts();
    text.gauge(
        "budget_left_units",
        "Left of all budgets, in the base currency.",
        left,
    );
    text.gauge(
        "line_items_funded",
        "Line items whose budget may cover one impression.",
        funded,
    );
    text.gauge(
        "bids_known",
        "Bids reserved or remembered.",
        shared.budgets.bids(),
    );
    text.counter("bids_reserved", "Reservations made.", counts.reserved);
    text.counter(
        "bids_refused_full",
        "Bids not made: too many are known.",
        counts.full,
    );
    text.counter(
        "bids_cancelled",
        "Bids taken back, those of tests.",
        counts.cancelled,
    );
    text.counter("bids_won", "Bids with a win notice.", counts.won);
    text.counter("bids_settled", "Bids billed in time.", counts.settled);
    text.counter(
        "bids_settled_late",
        "Bids billed after they expired.",
        counts.settled_late,
    );
    text.counter("bids_released", "Bids lost.", counts.released);
    text.counter("bids_expired", "Reservations that expired.", counts.expired);
}

/// What is left of all budgets together, and how many line items may still pay for one impression.
fn budgets(snapshot: &Snapshot<MemoryBook>) -> (Micros, u64) {
    let (book, now) = (snapshot.book(), time::now());
    book.follow(now);
    let blocks = 0..snapshot.catalog().len().div_ceil(BLOCK_LEN);
    let funded = |block| {
        book.funded(block)
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum::<u64>()
    };
    (book.left(now), blocks.map(funded).sum())
}

fn push_transport(text: &mut Text, counters: &Counters) {
    text.head(
        "gauge",
        "calls_in_flight",
        "Calls that have begun and not ended.",
    );
    for transport in [TransportKind::Unix, TransportKind::Tcp] {
        for (format, group) in call_groups() {
            let count = counters.in_flight(transport, group);
            let labels = format!("{{format=\"{format}\",transport=\"{}\"}}", transport.name());
            text.value("calls_in_flight", &labels, count);
        }
    }
    text.gauge(
        "connections_open",
        "Connections.",
        counters.connections_open(),
    );
    for (counter, count) in counters.iter() {
        let name = format!("transport_{}", counter.name());
        text.counter(&name, counter.help(), count);
    }
}

/// Metrics in their text format, those that are looked up when they are asked for.
struct Text(String);

impl Text {
    fn gauge(&mut self, name: &str, help: &str, value: impl fmt::Display) {
        self.push("gauge", name, help, value);
    }

    fn counter(&mut self, name: &str, help: &str, count: u64) {
        self.push("counter", &format!("{name}_total"), help, count);
    }

    fn push(&mut self, kind: &str, name: &str, help: &str, value: impl fmt::Display) {
        self.head(kind, name, help);
        self.value(name, "", value);
    }

    // Writing to a string cannot fail.

    fn head(&mut self, kind: &str, name: &str, help: &str) {
        let _ = write!(
            self.0,
            "# HELP nearbid_{name} {help}\n# TYPE nearbid_{name} {kind}\n"
        );
    }

    fn value(&mut self, name: &str, labels: &str, value: impl fmt::Display) {
        let _ = writeln!(self.0, "nearbid_{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use transport::Counter;

    #[test]
    fn every_counter_is_documented() {
        let manual = include_str!("../../../docs/operating.md");
        for counter in Counter::ALL {
            let row = format!("| `{}` | {} |\n", counter.name(), counter.help());
            assert!(manual.contains(&row), "{row}");
        }
    }
}
