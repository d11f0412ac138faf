//! One connection of a server: HTTP/2's streams and gRPC's calls, without I/O.
//!
//! Bytes that have come are given to [`ServerConnection::receive`] with the time they were read;
//! bytes for the peer pile up in [`ServerConnection::out`]. A message that lies whole in a DATA frame
//! is handed to the service where it is; only one that comes in pieces is gathered first.
//!
//! Here is what a connection is and what happens to it; [`requests`] is the way in, up to the service,
//! and [`replies`] the way out.

mod known;
mod replies;
mod requests;

use std::time::{Duration, Instant};

use super::frame::{self, ConnectionError, ErrorCode, MAX_31, PREFACE};
use super::host::{Held, HeldBytes, Host, Route};
use super::link::{Budget, Event, Link, RecentResets, STREAM_WINDOW_BYTES, WASTE};
use super::reply::ReplyEncoder;
use super::slots::Slots;
use super::stream::Stream;
use crate::metadata::Metadata;
use crate::{
    Call, CallGroup, Code, Counter, PeerCred, ServerLimits, Service, Status, TransportKind,
};
use known::{KnownStart, LastPath};

/// What our pings carry when they follow a GOAWAY.
const DRAIN_PING: [u8; 8] = *b"goodbye!";
/// What our pings carry when they ask whether the peer lives.
const ALIVE_PING: [u8; 8] = *b"anybody?";

type Checked<T = ()> = Result<T, ConnectionError>;

/// How far a connection is on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaving {
    No,
    /// The client was told; what it sent before it saw that still counts.
    Told,
    /// Streams above this one are not looked at, and it was told so.
    After(u32),
}

/// A server's side of one connection.
#[derive(Debug)]
pub struct ServerConnection {
    link: Link,
    kind: TransportKind,
    peer: Option<PeerCred>,
    preface_bytes: usize,
    streams: Slots<Stream>,
    /// The highest stream the client has opened.
    last: u32,
    leaving: Leaving,
    encoder: ReplyEncoder,
    known: KnownStart,
    paths: LastPath,
    resets: Budget,
    recent: RecentResets,
    /// Bytes of requests that are not complete.
    partial_bytes: usize,
    /// Bytes of replies that the windows do not let out.
    unsent_bytes: usize,
    /// What the server knows that is held for this client.
    held: HeldBytes,
    limits: ConnectionLimits,
}

/// The limits a connection needs at hand.
#[derive(Debug)]
struct ConnectionLimits {
    streams: usize,
    header_list_bytes: u32,
    message_bytes: usize,
    partial_bytes: usize,
    /// What holds now: `unsent_bytes_max`, or less in a crowd.
    unsent_bytes: usize,
    unsent_bytes_max: usize,
}

/// What may wait for a client that does not read while the whole server holds as much as it may, so
/// that those who read are served all the same.
const CROWDED_UNSENT_BYTES_MAX: usize = 16 << 10;

impl ServerConnection {
    /// A connection that was just accepted. Its first bytes are in [`out`](Self::out) already.
    pub fn new(
        limits: &ServerLimits,
        kind: TransportKind,
        peer: Option<PeerCred>,
        now: Instant,
    ) -> Self {
        let mut link = Link::new(
            true,
            limits.header_list_bytes_max,
            limits.control_frames_max,
            now,
        );
        link.greet(&[
            (
                frame::SETTINGS_MAX_CONCURRENT_STREAMS,
                limits.streams_per_connection_max,
            ),
            (frame::SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES),
            (
                frame::SETTINGS_MAX_HEADER_LIST_SIZE,
                limits.header_list_bytes_max,
            ),
        ]);
        Self {
            link,
            kind,
            peer,
            preface_bytes: 0,
            streams: Slots::default(),
            last: 0,
            leaving: Leaving::No,
            encoder: ReplyEncoder::default(),
            known: KnownStart::default(),
            paths: LastPath::default(),
            resets: Budget::new(limits.resets_max, now),
            recent: RecentResets::new(limits.streams_per_connection_max as usize),
            partial_bytes: 0,
            unsent_bytes: 0,
            held: HeldBytes::default(),
            limits: ConnectionLimits {
                streams: limits.streams_per_connection_max as usize,
                header_list_bytes: limits.header_list_bytes_max,
                message_bytes: limits.message_bytes_max,
                partial_bytes: limits.partial_bytes_per_connection_max,
                unsent_bytes: limits.unsent_bytes_per_connection_max,
                unsent_bytes_max: limits.unsent_bytes_per_connection_max,
            },
        }
    }

    /// Bytes for the peer; what was sent is to be removed.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.link.out
    }

    /// Whether so much waits in [`out`](Self::out) that no more is received.
    pub fn is_full(&self) -> bool {
        self.link.out.len() >= self.limits.unsent_bytes
    }

    /// Replies that the client's windows hold back, and how many bytes of replies were let out so far:
    /// a client that never opens them shows by the second number.
    pub(crate) fn held_back(&self) -> (usize, u64) {
        (self.unsent_bytes, self.link.data_bytes_sent)
    }

    /// Tells the server what is held for this client now, with what was read and not taken.
    pub(crate) fn account(&mut self, rest_bytes: usize, held: &Held) {
        let now = HeldBytes {
            partial: self.partial_bytes + rest_bytes,
            unsent: self.unsent_bytes + self.link.out.len(),
        };
        if now != self.held {
            held.change(self.held, now);
            self.held = now;
        }
    }

    /// Whether the whole server holds so many replies back that this one may hold fewer.
    #[inline]
    pub(crate) fn set_crowded(&mut self, crowded: bool) {
        self.limits.unsent_bytes = if crowded {
            self.limits.unsent_bytes_max.min(CROWDED_UNSENT_BYTES_MAX)
        } else {
            self.limits.unsent_bytes_max
        };
    }

    /// The channel it came over.
    pub(crate) fn kind(&self) -> TransportKind {
        self.kind
    }

    /// The highest stream the client has opened: it changes with every call.
    pub(crate) fn last_stream(&self) -> u32 {
        self.last
    }

    /// Calls in flight.
    pub fn calls(&self) -> usize {
        self.streams.len()
    }

    /// Whether the peer has said hello.
    pub fn is_ready(&self) -> bool {
        self.link.ready
    }

    /// Whether a header block has begun and not ended.
    pub fn is_in_block(&self) -> bool {
        self.link.in_block()
    }

    /// Whether there is nothing left to do but to close, once [`out`](Self::out) is sent.
    pub fn is_done(&self) -> bool {
        matches!(self.leaving, Leaving::After(_)) && self.streams.len() == 0
    }

    /// Takes bytes that were read at `now`, up to the last complete frame in them, or until
    /// [`is_full`](Self::is_full). Gives how many were taken; the rest is to be given again, with
    /// what follows it.
    ///
    /// An error ends the connection: send [`out`](Self::out), which says why, and close.
    pub fn receive<S: Service>(
        &mut self,
        input: &[u8],
        now: Instant,
        host: &mut Host<S>,
    ) -> Checked<usize> {
        host.now = now;
        let result = self.frames(input, host);
        if let Err(error) = &result {
            host.count(error.cause);
            self.link.fail(self.last, *error);
        }
        result
    }

    /// Counts the calls that have outlived the read they came in; most end in it.
    #[cold]
    fn count_in_flight<S: Service>(&mut self, host: &mut Host<S>) {
        let mut place = self.streams.len();
        while let Some(slot) = place.checked_sub(1).and_then(|at| self.streams.nth(at)) {
            place -= 1;
            let Some(stream) = self.streams.get(slot).filter(|s| s.counted.is_none()) else {
                // So were those before it.
                return;
            };
            let group = match stream.route {
                Some(Route::Unary(method) | Route::Bidi(method)) => host.service.group(&Call {
                    method,
                    message: &[],
                    subtype: stream.kept.subtype(),
                    timeout: stream.timeout,
                    received: host.now,
                    waited: host.waited,
                    kind: self.kind,
                    peer: self.peer,
                    metadata: Metadata {
                        names: &host.shared.keep_metadata,
                        kept: Some(&stream.kept),
                    },
                }),
                _ => CallGroup::OTHER,
            };
            stream.counted = Some(group);
            host.cells.count_begun(self.kind, group);
        }
    }

    /// The connection is gone, and with it the calls that were in flight and what was held.
    pub(crate) fn abandon<S: Service>(&mut self, host: &mut Host<S>) {
        while let Some(slot) = self.streams.nth(0) {
            self.close(slot, host);
        }
        host.shared.held.change(self.held, HeldBytes::default());
        self.held = HeldBytes::default();
    }

    fn frames<S: Service>(&mut self, input: &[u8], host: &mut Host<S>) -> Checked<usize> {
        let mut taken = self.preface(input)?;
        if self.preface_bytes < PREFACE.len() {
            return Ok(taken);
        }
        while !self.is_full() {
            let rest = input.get(taken..).unwrap_or_default();
            let Some((bytes, event)) = self.link.next(rest, host.now)? else {
                break;
            };
            taken += bytes;
            self.event(event, host)?;
        }
        if self.link.is_flooded() {
            return Err(WASTE);
        }
        if self.streams.len() > 0 {
            self.count_in_flight(host);
        }
        Ok(taken)
    }

    #[inline]
    fn preface(&mut self, input: &[u8]) -> Checked<usize> {
        let Some(missing) = PREFACE
            .get(self.preface_bytes..)
            .filter(|missing| !missing.is_empty())
        else {
            return Ok(0);
        };
        let bytes = missing.len().min(input.len());
        if input.get(..bytes) != missing.get(..bytes) {
            return Err(ConnectionError::protocol("not HTTP/2: wrong preface"));
        }
        self.preface_bytes += bytes;
        Ok(bytes)
    }

    #[inline]
    fn event<S: Service>(&mut self, event: Event<'_>, host: &mut Host<S>) -> Checked {
        match event {
            Event::Headers {
                stream,
                end_stream,
                block,
            } => self.headers(stream, end_stream, &block, host),
            Event::Data {
                stream,
                end_stream,
                payload,
                flow_bytes,
            } => self.data(stream, end_stream, payload, flow_bytes, host),
            Event::Window { stream, increment } => self.window(stream, increment, host),
            Event::Reset { stream, code: _ } => self.reset_by_peer(stream, host),
            Event::InitialWindow(change) => self.initial_window(change, host),
            Event::Pong(opaque) => {
                self.pong(opaque, host);
                Ok(())
            }
            // A client that goes away closes when its calls have ended.
            Event::GoAway { .. } | Event::Nothing => Ok(()),
        }
    }

    // Resets, health, time, and going away.

    fn reset_by_peer<S: Service>(&mut self, id: u32, host: &mut Host<S>) -> Checked {
        if id > self.last || id.is_multiple_of(2) {
            return Err(ConnectionError::protocol("RST_STREAM on an idle stream"));
        }
        let Some(slot) = self.streams.find(id) else {
            return Ok(());
        };
        let answered = self
            .streams
            .get(slot)
            .is_some_and(|stream| stream.headers_sent || stream.end.is_some());
        self.close(slot, host);
        // Some clients (Netty) still send what they had ready.
        self.recent.remember(id);
        if answered {
            return Ok(());
        }
        host.count(Counter::CallsReset);
        if self.resets.take(host.now) {
            return Ok(());
        }
        Err(ConnectionError::calm(
            Counter::FloodResets,
            "too many calls reset",
        ))
    }

    /// Tells `Watch` streams what the health is now.
    pub(crate) fn notify_health<S: Service>(&mut self, host: &mut Host<S>) {
        for place in 0..self.streams.len() {
            let Some(slot) = self.streams.nth(place) else {
                return;
            };
            let Some(known) = self.streams.get(slot).and_then(|stream| stream.watch) else {
                continue;
            };
            let shared = host.shared.clone();
            shared.health.write(known, host.reply.reply().message());
            self.send_reply(slot, Route::HealthWatch, host);
        }
    }

    /// Ends calls the rest of whose request does not come.
    pub(crate) fn expire<S: Service>(
        &mut self,
        timeout: Duration,
        now: Instant,
        host: &mut Host<S>,
    ) {
        let mut place = 0;
        while let Some(slot) = self.streams.nth(place) {
            place += 1;
            let Some(stream) = self.streams.get(slot) else {
                return;
            };
            let late = |since| now.saturating_duration_since(since) >= timeout;
            if !stream.waits_since().is_some_and(late) {
                continue;
            }
            host.count(Counter::TimeoutRequest);
            self.give_up(
                slot,
                Status::fixed(Code::DeadlineExceeded, "the request did not come"),
                host,
            );
            self.reset(slot, ErrorCode::Cancel, host);
            place -= 1;
        }
    }

    /// Asks the peer whether it lives; any byte of it is an answer.
    pub(crate) fn ping(&mut self) {
        frame::put(&mut self.link.out, frame::PING, 0, 0, &ALIVE_PING);
    }

    fn pong<S: Service>(&mut self, opaque: [u8; 8], host: &mut Host<S>) {
        if opaque == DRAIN_PING && self.leaving == Leaving::Told {
            self.go_away_now(host);
        }
    }

    /// Starts to go away: the client is told to start no more calls, and pinged, so that its answer
    /// shows when it knows. Until then its calls are served.
    pub fn go_away(&mut self) {
        if self.leaving == Leaving::No {
            self.leaving = Leaving::Told;
            frame::put_go_away(&mut self.link.out, MAX_31, ErrorCode::NoError, "");
            frame::put(&mut self.link.out, frame::PING, 0, 0, &DRAIN_PING);
        }
    }

    /// Calls from here on are not looked at; those before end as they would.
    pub fn go_away_now<S: Service>(&mut self, host: &mut Host<S>) {
        if matches!(self.leaving, Leaving::After(_)) {
            return;
        }
        self.leaving = Leaving::After(self.last);
        frame::put_go_away(&mut self.link.out, self.last, ErrorCode::NoError, "");
        let mut place = 0;
        while let Some(slot) = self.streams.nth(place) {
            if self
                .streams
                .get(slot)
                .is_some_and(|stream| stream.watch.is_some())
            {
                self.give_up(
                    slot,
                    Status::fixed(Code::Unavailable, "the server is going away"),
                    host,
                );
            }
            place += usize::from(self.streams.nth(place) == Some(slot));
        }
    }

    /// Tells the peer why the connection ends here, and counts it.
    pub(crate) fn fail<S: Service>(&mut self, error: ConnectionError, host: &mut Host<S>) {
        host.count(error.cause);
        self.link.fail(self.last, error);
    }
}
