//! The streams of a server's connection: found by identifier, kept in slots that are used again.

use std::time::{Duration, Instant};

use super::host::Route;
use super::link::STREAM_WINDOW_BYTES;
use crate::Status;
use crate::metadata::Kept;

/// How far a stream's request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// More is to come, and is wanted.
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
#[derive(Debug)]
pub(crate) struct Stream {
    pub id: u32,
    /// The method; `None` for what was answered at its headers.
    pub route: Option<Route>,
    pub request: Request,
    pub opened: Instant,
    /// `grpc-timeout`, counted from `opened`.
    pub timeout: Option<Duration>,
    pub compressed: bool,
    pub content_length: Option<u64>,
    /// Bytes of DATA without padding, for `content_length`.
    pub content_bytes: u64,
    /// The start of a message whose rest is to come.
    pub body: Vec<u8>,
    pub kept: Kept,
    pub receive_left: u32,
    pub send_window: i64,
    /// Whether the reply's headers are out.
    pub headers_sent: bool,
    /// Reply bytes that the windows did not let out yet, from `unsent_at` on.
    pub unsent: Vec<u8>,
    pub unsent_at: usize,
    /// How the call ends, once everything is out; or `None` if the reply goes on.
    pub end: Option<End>,
    /// A `Watch` of a service that is known or not.
    pub watch: Option<bool>,
}

impl Stream {
    fn new(now: Instant) -> Self {
        Self {
            id: 0,
            route: None,
            request: Request::Open,
            opened: now,
            timeout: None,
            compressed: false,
            content_length: None,
            content_bytes: 0,
            body: Vec::new(),
            kept: Kept::default(),
            receive_left: 0,
            send_window: 0,
            headers_sent: false,
            unsent: Vec::new(),
            unsent_at: 0,
            end: None,
            watch: None,
        }
    }

    fn start(&mut self, id: u32, send_window: u32, now: Instant) {
        self.id = id;
        self.route = None;
        self.request = Request::Open;
        self.opened = now;
        self.timeout = None;
        self.compressed = false;
        self.content_length = None;
        self.content_bytes = 0;
        self.receive_left = STREAM_WINDOW_BYTES;
        self.send_window = i64::from(send_window);
        self.headers_sent = false;
        self.end = None;
        self.watch = None;
    }

    pub fn unsent_bytes(&self) -> usize {
        self.unsent.len() - self.unsent_at
    }
}

/// Where a stream is kept, as long as it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(usize);

#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// Identifier and slot of every open stream; sorted, because clients count upwards.
    open: Vec<(u32, Slot)>,
    slots: Vec<Stream>,
    free: Vec<Slot>,
}

impl Streams {
    /// Slots that are kept when a connection has nothing to do.
    const IDLE_SLOTS_MAX: usize = 16;

    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Opens a stream with an identifier above all others.
    #[inline]
    pub fn open(&mut self, id: u32, send_window: u32, now: Instant) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Stream::new(now));
            Slot(self.slots.len() - 1)
        });
        if let Some(stream) = self.slots.get_mut(slot.0) {
            stream.start(id, send_window, now);
        }
        self.open.push((id, slot));
        slot
    }

    #[inline]
    pub fn find(&self, id: u32) -> Option<Slot> {
        match self.open.last() {
            Some((last, slot)) if *last == id => Some(*slot),
            _ => self
                .position(id)
                .and_then(|at| self.open.get(at))
                .map(|(_, slot)| *slot),
        }
    }

    fn position(&self, id: u32) -> Option<usize> {
        self.open.binary_search_by_key(&id, |(id, _)| *id).ok()
    }

    #[inline]
    pub fn get(&mut self, slot: Slot) -> Option<&mut Stream> {
        self.slots.get_mut(slot.0)
    }

    /// Ends a stream; gives its body's buffer back.
    #[inline]
    pub fn close(&mut self, slot: Slot) -> Vec<u8> {
        let Some(stream) = self.slots.get_mut(slot.0) else {
            return Vec::new();
        };
        stream.kept.clear();
        stream.unsent = Vec::new();
        stream.unsent_at = 0;
        let (id, body) = (stream.id, std::mem::take(&mut stream.body));
        if let Some(at) = self.position(id) {
            self.open.remove(at);
            self.free.push(slot);
        }
        if self.open.is_empty() && self.slots.len() > Self::IDLE_SLOTS_MAX {
            *self = Self::default();
        }
        body
    }

    /// The open stream at a place from 0 to [`len`](Self::len), oldest first.
    pub fn nth(&self, place: usize) -> Option<Slot> {
        self.open.get(place).map(|(_, slot)| *slot)
    }
}
