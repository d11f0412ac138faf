//! What a server has seen, counted without a lock: every thread writes its own cells.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{CallGroup, TransportKind};

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*) => {
        /// Something a server counts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Counter { $($(#[doc = $doc])* $variant,)* }

        impl Counter {
            /// Every counter, in the order of a report.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name in metrics, in the style of Prometheus, without prefix and `_total`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it counts, in a sentence or two.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),*).trim_ascii(),)* }
            }
        }
    };
}

counters! {
    /// Connections accepted over Unix sockets.
    AcceptedUnix = "connections_accepted_unix",
    /// Connections accepted over TCP.
    AcceptedTcp = "connections_accepted_tcp",
    /// Connections that ended, of either kind.
    Closed = "connections_closed",
    /// Connections closed at accept: the peer is on no list.
    RefusedPeer = "connections_refused_peer",
    /// Connections closed at accept: `connections_max` are open.
    RefusedFull = "connections_refused_full",
    /// Accepts that failed, mostly for want of descriptors or memory; they are tried again at a tick.
    AcceptFailed = "accept_failed",
    /// Connections that ended without a word while calls were in flight.
    Lost = "connections_lost",
    /// Calls whose headers were taken.
    Calls = "calls",
    /// Calls that ended with status OK.
    CallsOk = "calls_ok",
    /// Calls that ended with another status.
    CallsFailed = "calls_failed",
    /// Calls that the client reset before they were answered.
    CallsReset = "calls_reset",
    /// Calls refused because the connection had `streams_per_connection_max` in flight.
    CallsRefused = "calls_refused",
    /// Calls ended with `RESOURCE_EXHAUSTED` because a byte limit of the connection or server was met.
    CallsShed = "calls_shed",
    /// Calls whose message or header list was over its limit.
    CallsTooLarge = "calls_too_large",
    /// Calls whose deadline had passed on arrival.
    CallsExpired = "calls_expired",
    /// Calls for a method that does not exist, or in an encoding that is not spoken.
    CallsUnimplemented = "calls_unimplemented",
    /// Calls whose gRPC framing was malformed.
    CallsMalformed = "calls_malformed",
    /// HTTP requests that were no gRPC.
    NotGrpc = "requests_not_grpc",
    /// Streams reset because their request broke HTTP/2's rules.
    StreamErrors = "stream_errors",
    /// Connections ended because the peer broke HTTP/2's rules.
    ErrorProtocol = "connection_errors_protocol",
    /// Connections ended because of a frame of the wrong size.
    ErrorFrameSize = "connection_errors_frame_size",
    /// Connections ended because of flow control.
    ErrorFlowControl = "connection_errors_flow_control",
    /// Connections ended because of header compression.
    ErrorCompression = "connection_errors_compression",
    /// Connections ended because a frame came on a closed stream.
    ErrorStreamClosed = "connection_errors_stream_closed",
    /// Connections ended because of too many resets.
    FloodResets = "connection_errors_resets",
    /// Connections ended because of too many frames that carry nothing, or waste.
    FloodControl = "connection_errors_control_frames",
    /// Connections ended because of a header block beyond every limit.
    FloodHeaders = "connection_errors_header_block",
    /// Connections ended because the handshake took too long.
    TimeoutHandshake = "connection_timeouts_handshake",
    /// Connections ended because a frame or header block took too long.
    TimeoutFrame = "connection_timeouts_frame",
    /// Connections ended because the peer took nothing of what waited for it.
    TimeoutSlowReader = "connection_timeouts_slow_reader",
    /// Connections told to go away because they were idle.
    TimeoutIdle = "connection_timeouts_idle",
    /// Connections ended because a ping was not answered.
    TimeoutKeepalive = "connection_timeouts_keepalive",
    /// Calls ended because their request took too long to come.
    TimeoutRequest = "call_timeouts_request",
}

/// One thread's cells. Only its thread writes, so a count is a load and a store.
#[derive(Debug)]
pub(crate) struct Cells {
    counts: [AtomicU64; Counter::ALL.len()],
    in_flight: InFlight<AtomicU64>,
}

/// By transport and group.
type InFlight<N> = [[N; CallGroup::COUNT]; 2];

impl Default for Cells {
    fn default() -> Self {
        Self {
            counts: std::array::from_fn(|_| AtomicU64::new(0)),
            in_flight: Default::default(),
        }
    }
}

impl Cells {
    #[inline]
    pub fn count(&self, counter: Counter) {
        self.add(counter, 1);
    }

    #[inline]
    pub fn add(&self, counter: Counter, n: u64) {
        if let Some(cell) = self.counts.get(counter as usize) {
            change(cell, n);
        }
    }

    /// A call is in flight from now on.
    pub fn count_begun(&self, kind: TransportKind, group: CallGroup) {
        if let Some(cell) = in_flight(&self.in_flight, kind, group) {
            change(cell, 1);
        }
    }

    /// A call that was in flight is not any more, however it ended.
    pub fn count_ended(&self, kind: TransportKind, group: CallGroup) {
        if let Some(cell) = in_flight(&self.in_flight, kind, group) {
            change(cell, u64::MAX);
        }
    }

    pub fn get(&self, counter: Counter) -> u64 {
        self.counts
            .get(counter as usize)
            .map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}

/// Adds; `u64::MAX` takes one away.
#[inline]
fn change(cell: &AtomicU64, n: u64) {
    let now = cell.load(Ordering::Relaxed).wrapping_add(n);
    cell.store(now, Ordering::Relaxed);
}

fn in_flight<N>(all: &InFlight<N>, kind: TransportKind, group: CallGroup) -> Option<&N> {
    let [unix, tcp] = all;
    let of_kind = match kind {
        TransportKind::Unix => unix,
        TransportKind::Tcp => tcp,
    };
    of_kind.get(group.index())
}

/// A snapshot of a server's counters, all threads together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters {
    counts: Vec<u64>,
    in_flight: InFlight<u64>,
}

impl Counters {
    pub(crate) fn sum(threads: &[Arc<Cells>]) -> Self {
        let total = |counter: &Counter| {
            threads
                .iter()
                .map(|cells| cells.get(*counter))
                .fold(0, u64::wrapping_add)
        };
        let mut in_flight = InFlight::default();
        for cells in threads {
            let all = in_flight.iter_mut().flatten();
            for (sum, cell) in all.zip(cells.in_flight.iter().flatten()) {
                *sum += cell.load(Ordering::Relaxed);
            }
        }
        Self {
            counts: Counter::ALL.iter().map(total).collect(),
            in_flight,
        }
    }

    /// One counter.
    pub fn get(&self, counter: Counter) -> u64 {
        self.counts.get(counter as usize).copied().unwrap_or(0)
    }

    /// Calls of a group that are in flight now.
    pub fn in_flight(&self, kind: TransportKind, group: CallGroup) -> u64 {
        in_flight(&self.in_flight, kind, group)
            .copied()
            .unwrap_or(0)
    }

    /// All of them, those at zero too.
    pub fn iter(&self) -> impl Iterator<Item = (Counter, u64)> + '_ {
        Counter::ALL
            .iter()
            .map(|counter| (*counter, self.get(*counter)))
    }

    /// Connections that are open now.
    pub fn connections_open(&self) -> u64 {
        let accepted = self
            .get(Counter::AcceptedUnix)
            .wrapping_add(self.get(Counter::AcceptedTcp));
        accepted.saturating_sub(self.get(Counter::Closed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_sums_add_up() {
        let mut names: Vec<_> = Counter::ALL.iter().map(|c| c.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Counter::ALL.len());
        let threads = [Arc::new(Cells::default()), Arc::new(Cells::default())];
        for (n, cells) in (1..).zip(&threads) {
            cells.add(Counter::TimeoutRequest, n);
            cells.count(Counter::AcceptedUnix);
        }
        let sum = Counters::sum(&threads);
        assert_eq!(
            (sum.get(Counter::TimeoutRequest), sum.connections_open()),
            (3, 2)
        );
    }
}
