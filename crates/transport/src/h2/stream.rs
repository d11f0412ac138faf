//! A call in flight, as the server sees it.

use std::time::{Duration, Instant};

use super::host::Route;
use super::link::STREAM_WINDOW_BYTES;
use crate::metadata::Kept;
use crate::{CallGroup, Status};

/// How far a stream's request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Request {
    /// More is to come, and is wanted.
    #[default]
    Open,
    /// More is to come; it is dropped, because the answer is out already.
    Unwanted,
    /// The client has ended it.
    Ended,
}

/// How a reply ends.
#[derive(Debug)]
pub(crate) enum End {
    /// With gRPC's trailers.
    Status(Status),
    /// With its body: it is no gRPC.
    Body,
}

/// A call in flight.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub id: u32,
    /// The method; `None` for what was answered at its headers.
    pub route: Option<Route>,
    pub request: Request,
    pub opened: Option<Instant>,
    /// `grpc-timeout`, counted from `opened`.
    pub timeout: Option<Duration>,
    pub compressed: bool,
    pub content_length: Option<u64>,
    /// Bytes of DATA without padding, for `content_length`.
    pub content_bytes: u64,
    /// The start of a message whose rest is to come.
    pub body: Vec<u8>,
    /// Since when, if there is one.
    pub gathering: Option<Instant>,
    pub kept: Kept,
    pub receive_left: u32,
    pub send_window: i64,
    /// Whether the reply's headers are out.
    pub headers_sent: bool,
    pub unsent: Unsent,
    /// How the call ends, once everything is out; or `None` if the reply goes on.
    pub end: Option<End>,
    /// A `Watch` of a service that is known or not.
    pub watch: Option<bool>,
    /// Where it is counted as in flight; not before it has outlived the read that it came in.
    pub counted: Option<CallGroup>,
}

impl Stream {
    /// Makes the slot ready for a new call.
    #[inline]
    pub fn start(&mut self, id: u32, send_window: u32, now: Instant) {
        self.id = id;
        self.route = None;
        self.request = Request::Open;
        self.opened = Some(now);
        self.content_bytes = 0;
        self.receive_left = STREAM_WINDOW_BYTES;
        self.send_window = i64::from(send_window);
        self.headers_sent = false;
        self.end = None;
        self.watch = None;
    }

    /// Whether as much came as `content-length` said, if it said anything.
    #[inline]
    pub fn length_holds(&self, ended: bool) -> bool {
        match self.content_length {
            None => true,
            Some(length) if ended => self.content_bytes == length,
            Some(length) => self.content_bytes <= length,
        }
    }

    /// Since when the rest of a request is waited for, if it must come: that of a unary call, that of a
    /// message which has begun, and what is dropped. A stream may rest between its messages.
    pub fn waits_since(&self) -> Option<Instant> {
        match self.request {
            Request::Open if self.route.is_some_and(Route::is_unary) => self.opened,
            Request::Open if self.body.is_empty() => None,
            Request::Open => self.gathering,
            Request::Unwanted => self.opened,
            Request::Ended => None,
        }
    }

    /// How long it has been open.
    pub fn age(&self, now: Instant) -> Duration {
        self.opened.map_or(Duration::ZERO, |opened| {
            now.saturating_duration_since(opened)
        })
    }
}

/// Bytes of a stream that the peer's windows did not let out yet.
#[derive(Debug, Default)]
pub(crate) struct Unsent {
    bytes: Vec<u8>,
    sent: usize,
}

impl Unsent {
    pub fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn rest(&self) -> &[u8] {
        self.bytes.get(self.sent..).unwrap_or_default()
    }

    /// So many bytes of [`rest`](Self::rest) are out.
    pub fn advance(&mut self, bytes: usize) {
        self.sent = self.sent.saturating_add(bytes).min(self.bytes.len());
        if self.sent == self.bytes.len() {
            self.clear();
        }
    }

    #[inline]
    pub fn clear(&mut self) {
        if self.bytes.capacity() > 0 {
            *self = Self::default();
        }
    }
}
