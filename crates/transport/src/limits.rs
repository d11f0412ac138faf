//! What a peer may take of the server: every bound by name, with its unit and its default.

use std::time::Duration;

use crate::TransportKind;

/// The bounds on what peers can make a server hold or do. A breach is answered in the protocol's own
/// terms and counted (see [`crate::Counter`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLimits {
    /// Open connections of all threads together. One more is closed at accept. Default 10,000.
    pub connections_max: usize,
    /// Calls in flight on one connection (`SETTINGS_MAX_CONCURRENT_STREAMS`). One more is refused with
    /// `REFUSED_STREAM`, which is safe to retry. Default 512.
    pub streams_per_connection_max: u32,
    /// One call's header list, counted as RFC 9113 6.5.2 does. More: the call ends with
    /// `RESOURCE_EXHAUSTED`; a block more than that on the wire ends the connection. Default 16 KiB.
    pub header_list_bytes_max: u32,
    /// One request message. More: that call ends with `RESOURCE_EXHAUSTED`, its bytes are dropped as
    /// they come. Default 256 KiB.
    pub message_bytes_max: usize,
    /// Request messages of one connection that are not complete yet, together. More: the call that
    /// would exceed it ends with `RESOURCE_EXHAUSTED`. Default 4 MiB.
    pub partial_bytes_per_connection_max: usize,
    /// The same of all connections together, with what was read and not yet taken. Default 256 MiB.
    pub partial_bytes_max: usize,
    /// Replies of one connection that wait for the peer, in its windows or its socket. More: nothing is
    /// read from the peer before it reads, and calls that still arrive end with `RESOURCE_EXHAUSTED`.
    /// Default 1 MiB.
    pub unsent_bytes_per_connection_max: usize,
    /// The same of all connections together. From there on each may hold 16 KiB, so that those who read
    /// are served. Default 256 MiB.
    pub unsent_bytes_max: usize,
    /// Calls a peer may reset before they are answered: a burst, refilled at as many a second. More:
    /// `ENHANCE_YOUR_CALM` (CVE-2023-44487). Default 20.
    pub resets_max: u32,
    /// Frames that carry nothing (PING, SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA, unknown), header
    /// lists that begin no call (trailers, refused calls), and streams that break the rules: a burst,
    /// refilled at as many a second and by calls that end. More: `ENHANCE_YOUR_CALM`. Default 1,000.
    pub control_frames_max: u32,
    /// From accept to the peer's first SETTINGS. Default 10 s.
    pub handshake_timeout: Duration,
    /// From a frame's or header block's first byte to its last. Default 10 s.
    pub frame_timeout: Duration,
    /// From a unary call's headers to the end of its request, and from the start of a stream's message
    /// to its end. Default 30 s.
    pub request_timeout: Duration,
    /// Without a byte taken by a peer that has bytes to take. Default 10 s.
    pub slow_reader_timeout: Duration,
    /// A connection over TCP without calls is told to go away after this: its peer may be long gone
    /// without a word. Default 10 min.
    pub tcp_idle_timeout: Option<Duration>,
    /// The same over a Unix socket, where the system tells of a peer that is gone. Default: never.
    pub unix_idle_timeout: Option<Duration>,
    /// A silent connection is pinged after this, and closed after as long again without an answer.
    /// Default: never.
    pub keepalive_interval: Option<Duration>,
}

impl ServerLimits {
    /// When a connection without calls is told to go away.
    pub(crate) fn idle_timeout(&self, kind: TransportKind) -> Option<Duration> {
        match kind {
            TransportKind::Tcp => self.tcp_idle_timeout,
            TransportKind::Unix => self.unix_idle_timeout,
        }
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            streams_per_connection_max: 512,
            header_list_bytes_max: 16 << 10,
            message_bytes_max: 256 << 10,
            partial_bytes_per_connection_max: 4 << 20,
            partial_bytes_max: 256 << 20,
            unsent_bytes_per_connection_max: 1 << 20,
            unsent_bytes_max: 256 << 20,
            resets_max: 20,
            control_frames_max: 1_000,
            handshake_timeout: Duration::from_secs(10),
            frame_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            slow_reader_timeout: Duration::from_secs(10),
            tcp_idle_timeout: Some(Duration::from_secs(600)),
            unix_idle_timeout: None,
            keepalive_interval: None,
        }
    }
}
