//! One connection of a server: HTTP/2's streams and gRPC's calls, without I/O.
//!
//! Bytes that have come are given to [`ServerConnection::receive`] with the time they were read;
//! bytes for the peer pile up in [`ServerConnection::out`]. A message that lies whole in a DATA frame
//! is handed to the service where it is; only one that comes in pieces is gathered first.

use std::time::{Duration, Instant};

use super::frame::{self, ConnectionError, ErrorCode, MAX_31, PREFACE};
use super::grpc;
use super::head::{Admission, RequestHead};
use super::host::{Host, Route, Then};
use super::hpack::{self, Field, HpackError};
use super::link::{Budget, Event, Link, RecentResets, STREAM_WINDOW_BYTES};
use super::reply::ReplyEncoder;
use super::slots::{Slot, Slots};
use super::stream::{End, Request, Stream};
use crate::metadata::{Kept, Metadata};
use crate::{Call, Code, Counter, PeerCred, ServerLimits, Service, Status, TransportKind};

/// What our pings carry when they follow a GOAWAY.
const DRAIN_PING: [u8; 8] = *b"goodbye!";
/// What our pings carry when they ask whether the peer lives.
const ALIVE_PING: [u8; 8] = *b"anybody?";

/// For who comes with a browser.
const NOT_GRPC_BODY: &[u8] = b"This is a gRPC server: POST application/grpc.\n";

const SECOND_MESSAGE: Status =
    Status::fixed(Code::Internal, "more than one message in a unary call");

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
    /// A ping of ours that was not answered.
    pinging: bool,
    limits: ConnectionLimits,
}

/// The limits a connection needs at hand.
#[derive(Debug)]
struct ConnectionLimits {
    streams: usize,
    header_list_bytes: u32,
    message_bytes: usize,
    partial_bytes: usize,
    unsent_bytes: usize,
}

/// What a connection remembers of header blocks, and of their values, is no longer than this, each.
const KNOWN_BYTES_MAX: usize = 256;

/// What the last header block began with: the same bytes say the same as long as the table stands.
#[derive(Debug, Default)]
struct KnownStart {
    bytes: Vec<u8>,
    table: u64,
    head: Option<RequestHead<Route>>,
    kept: Kept,
}

impl KnownStart {
    #[inline]
    fn recall(&self, start: &[u8], table: u64, kept: &mut Kept) -> Option<RequestHead<Route>> {
        let head = self
            .head
            .filter(|_| self.table == table && self.bytes == start)?;
        kept.copy_from(&self.kept);
        Some(head)
    }

    fn remember(&mut self, start: &[u8], table: u64, head: RequestHead<Route>, kept: &Kept) {
        self.head = None;
        if start.len() > KNOWN_BYTES_MAX || kept.bytes() > KNOWN_BYTES_MAX {
            return;
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(start);
        self.table = table;
        self.head = Some(head);
        self.kept.copy_from(kept);
    }
}

/// The method that was asked for last, which is mostly the one that is asked for next.
#[derive(Debug, Default)]
struct LastPath {
    path: Vec<u8>,
    route: Option<Route>,
}

impl LastPath {
    #[inline]
    fn route(&mut self, path: &[u8], find: impl FnOnce(&str) -> Option<Route>) -> Option<Route> {
        if path.len() > KNOWN_BYTES_MAX {
            return std::str::from_utf8(path).ok().and_then(find);
        }
        if self.route.is_none() || self.path != path {
            self.route = std::str::from_utf8(path).ok().and_then(find);
            self.path.clear();
            self.path.extend_from_slice(path);
        }
        self.route
    }
}

/// What becomes of the start of a message.
enum Piece<'a> {
    /// It is whole: the message, and what follows it.
    Whole(&'a [u8], &'a [u8]),
    /// It goes on.
    Partial,
    /// The call ends.
    Refused(Status, Counter),
}

/// Looks at the message that `bytes` start with.
#[inline]
fn piece(bytes: &[u8], message_bytes_max: usize, compressed: bool) -> Piece<'_> {
    let Some((prefix, rest)) = grpc::split_prefix(bytes) else {
        return Piece::Partial;
    };
    if prefix.flag != 0 {
        return refuse_flag(prefix.flag, compressed);
    }
    if prefix.length > message_bytes_max {
        let status = Status::fixed(Code::ResourceExhausted, "message larger than the limit");
        return Piece::Refused(status, Counter::CallsTooLarge);
    }
    match rest.split_at_checked(prefix.length) {
        Some((message, after)) => Piece::Whole(message, after),
        None => Piece::Partial,
    }
}

#[cold]
fn refuse_flag(flag: u8, compressed: bool) -> Piece<'static> {
    if flag == 1 && compressed {
        let status = Status::fixed(Code::Unimplemented, "compression is not supported");
        return Piece::Refused(status, Counter::CallsUnimplemented);
    }
    let what = if flag == 1 {
        "compressed message without grpc-encoding"
    } else {
        "malformed message prefix"
    };
    Piece::Refused(Status::fixed(Code::Internal, what), Counter::CallsMalformed)
}

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
            recent: RecentResets::default(),
            partial_bytes: 0,
            unsent_bytes: 0,
            pinging: false,
            limits: ConnectionLimits {
                streams: limits.streams_per_connection_max as usize,
                header_list_bytes: limits.header_list_bytes_max,
                message_bytes: limits.message_bytes_max,
                partial_bytes: limits.partial_bytes_per_connection_max,
                unsent_bytes: limits.unsent_bytes_per_connection_max,
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

    // Requests.

    #[inline]
    fn headers<S: Service>(
        &mut self,
        id: u32,
        end_stream: bool,
        block: &[u8],
        host: &mut Host<S>,
    ) -> Checked {
        if id <= self.last {
            return self.trailers(id, end_stream, block, host);
        }
        if id.is_multiple_of(2) {
            return Err(ConnectionError::protocol(
                "a client's stream with an even identifier",
            ));
        }
        self.last = id;
        let head = self
            .read_head(block, host)
            .map_err(|_| ConnectionError::compression("unreadable header block"))?;
        if matches!(self.leaving, Leaving::After(last) if id > last) {
            return Ok(());
        }
        if self.streams.len() >= self.limits.streams {
            host.count(Counter::CallsRefused);
            self.recent
                .reset(&mut self.link.out, id, ErrorCode::RefusedStream);
            return Ok(());
        }
        self.admit(id, end_stream, &head, host);
        Ok(())
    }

    /// Reads a request's header block; what is to be kept of it is in the host.
    #[inline]
    fn read_head<S: Service>(
        &mut self,
        block: &[u8],
        host: &mut Host<S>,
    ) -> Result<RequestHead<Route>, HpackError> {
        let (start, rest) = hpack::split_indexed(block);
        let table = self.link.decoder.table_version();
        let (decoder, paths) = (&mut self.link.decoder, &mut self.paths);
        let Host {
            service,
            shared,
            scratch,
            kept,
            ..
        } = host;
        kept.clear();
        let recalled = self.known.recall(start, table, kept);
        let mut head = recalled.unwrap_or_else(|| RequestHead::new(self.limits.header_list_bytes));
        let mut take = |field: Field<'_>, head: &mut RequestHead<Route>, kept: &mut Kept| {
            head.field(field, &shared.keep_metadata, kept, |path| {
                paths.route(path, |path| Host::route(service, shared, path))
            })
        };
        if recalled.is_none() {
            decoder.decode(start, scratch, |field| take(field, &mut head, kept))?;
            self.known.remember(start, table, head, kept);
        }
        if !rest.is_empty() {
            let at_start = start.is_empty();
            let field = |field: Field<'_>| take(field, &mut head, kept);
            match at_start {
                true => decoder.decode(rest, scratch, field)?,
                false => decoder.decode_rest(rest, scratch, field)?,
            }
        }
        Ok(head)
    }

    #[inline]
    fn admit<S: Service>(
        &mut self,
        id: u32,
        end_stream: bool,
        head: &RequestHead<Route>,
        host: &mut Host<S>,
    ) {
        let slot = self.streams.open(id);
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        stream.start(id, self.link.settings.initial_window, host.now);
        std::mem::swap(&mut stream.kept, &mut host.kept);
        stream.timeout = head.timeout;
        stream.compressed = head.compressed;
        stream.content_length = head.content_length;
        match head.admission() {
            Admission::Serve(route) => {
                host.count(Counter::Calls);
                stream.route = Some(route);
                if end_stream {
                    self.end_of_request(slot, host);
                }
            }
            other => self.turn_away(slot, end_stream, other, host),
        }
    }

    #[cold]
    fn turn_away<S: Service>(
        &mut self,
        slot: Slot,
        end_stream: bool,
        why: Admission<Route>,
        host: &mut Host<S>,
    ) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        stream.request = if end_stream {
            Request::Ended
        } else {
            Request::Unwanted
        };
        let (id, table) = (stream.id, self.link.settings.table_bytes_min);
        match why {
            Admission::Malformed => self.stream_error(slot, ErrorCode::Protocol, host),
            Admission::NotGrpc(http_status) => {
                host.count(Counter::NotGrpc);
                stream.headers_sent = true;
                stream.end = Some(End::Body);
                frame::put_with(
                    &mut self.link.out,
                    frame::HEADERS,
                    frame::END_HEADERS,
                    id,
                    |out| {
                        self.encoder.not_grpc(out, table, http_status);
                    },
                );
                self.send(slot, NOT_GRPC_BODY);
                self.send_end_if_due(slot, host);
            }
            Admission::Ends(status) => {
                host.count(Counter::Calls);
                host.count(match status.code {
                    Code::Unimplemented => Counter::CallsUnimplemented,
                    Code::ResourceExhausted => Counter::CallsTooLarge,
                    _ => Counter::CallsMalformed,
                });
                self.end(slot, status, host);
            }
            Admission::Serve(_) => {}
        }
    }

    /// A header block on a stream that was opened before: trailers, which end a request.
    fn trailers<S: Service>(
        &mut self,
        id: u32,
        end_stream: bool,
        block: &[u8],
        host: &mut Host<S>,
    ) -> Checked {
        let mut malformed = !end_stream;
        self.link
            .decoder
            .decode(block, &mut host.scratch, |field| {
                malformed |= !super::head::name_is_sound(field.name);
                field.mark
            })
            .map_err(|_| ConnectionError::compression("unreadable header block"))?;
        let Some(slot) = self.slot_of(id, "HEADERS on a closed stream")? else {
            return Ok(());
        };
        if malformed {
            self.stream_error(slot, ErrorCode::Protocol, host);
        } else {
            self.end_of_request(slot, host);
        }
        Ok(())
    }

    /// The stream that DATA or trailers are for; `None` where they are to be dropped.
    #[inline]
    fn slot_of(&mut self, id: u32, closed: &'static str) -> Checked<Option<Slot>> {
        let slot = self.streams.find(id);
        match slot.and_then(|slot| self.streams.get(slot)) {
            Some(stream) if stream.request != Request::Ended => return Ok(slot),
            None if self.recent.contains(id) => return Ok(None),
            None if matches!(self.leaving, Leaving::After(last) if id > last) => return Ok(None),
            _ => {}
        }
        if id > self.last {
            return Err(ConnectionError::protocol("DATA on an idle stream"));
        }
        Err(ConnectionError::stream_closed(closed))
    }

    #[inline]
    fn data<S: Service>(
        &mut self,
        id: u32,
        end_stream: bool,
        payload: &[u8],
        flow_bytes: u32,
        host: &mut Host<S>,
    ) -> Checked {
        let Some(slot) = self.slot_of(id, "DATA on a closed stream")? else {
            return Ok(());
        };
        let Some(stream) = self.streams.get(slot) else {
            return Ok(());
        };
        let Some(left) = stream.receive_left.checked_sub(flow_bytes) else {
            self.stream_error(slot, ErrorCode::FlowControl, host);
            return Ok(());
        };
        stream.receive_left = left;
        stream.content_bytes = stream.content_bytes.wrapping_add(payload.len() as u64);
        if !stream.length_holds(end_stream) {
            self.stream_error(slot, ErrorCode::Protocol, host);
            return Ok(());
        }
        if left <= STREAM_WINDOW_BYTES / 2 && !end_stream {
            frame::put_window_update(&mut self.link.out, id, STREAM_WINDOW_BYTES - left);
            stream.receive_left = STREAM_WINDOW_BYTES;
        }
        match stream.route {
            Some(route) if stream.request == Request::Open => {
                self.content(slot, route, end_stream, payload, host);
            }
            _ => {}
        }
        // A stream is closed only after its request has ended, so the slot is still this one's.
        if end_stream {
            self.end_of_request(slot, host);
        }
        Ok(())
    }

    /// Bytes of a request that is wanted: whole messages go to the service, the rest is gathered.
    #[inline]
    fn content<S: Service>(
        &mut self,
        slot: Slot,
        route: Route,
        end_stream: bool,
        payload: &[u8],
        host: &mut Host<S>,
    ) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        if !stream.body.is_empty() {
            return self.gathered(slot, route, end_stream, payload, host);
        }
        // A unary call is answered when its request has ended; until then it is gathered, whole or not.
        if route.is_unary() && !end_stream {
            self.gather(slot, payload, host);
            return;
        }
        self.messages(slot, route, payload, host);
    }

    /// More bytes of a message that is being gathered.
    fn gathered<S: Service>(
        &mut self,
        slot: Slot,
        route: Route,
        end_stream: bool,
        payload: &[u8],
        host: &mut Host<S>,
    ) {
        let whole = self.gather(slot, payload, host);
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        if stream.request != Request::Open || (route.is_unary() && !end_stream) {
            return;
        }
        if whole {
            let body = std::mem::take(&mut stream.body);
            self.partial_bytes = self.partial_bytes.saturating_sub(body.len());
            self.messages(slot, route, &body, host);
            host.give_back(body);
        } else if route.is_unary() {
            self.cut_short(slot, host);
        }
    }

    /// Adds to the message that is being gathered, if it may be that long; gives whether it is whole.
    fn gather<S: Service>(&mut self, slot: Slot, payload: &[u8], host: &mut Host<S>) -> bool {
        let Some(stream) = self.streams.get(slot) else {
            return false;
        };
        if self.partial_bytes.saturating_add(payload.len()) > self.limits.partial_bytes {
            host.count(Counter::CallsShed);
            let status = Status::fixed(
                Code::ResourceExhausted,
                "too many incomplete requests on the connection",
            );
            self.give_up(slot, status, host);
            return false;
        }
        if stream.body.capacity() == 0 {
            stream.body = host.body();
        }
        self.partial_bytes += payload.len();
        stream.body.extend_from_slice(payload);
        let unary = stream.route.is_some_and(Route::is_unary);
        let (status, counter) =
            match piece(&stream.body, self.limits.message_bytes, stream.compressed) {
                Piece::Partial => return false,
                Piece::Whole(_, after) if !unary || after.is_empty() => return true,
                Piece::Whole(..) => (SECOND_MESSAGE, Counter::CallsMalformed),
                Piece::Refused(status, counter) => (status, counter),
            };
        host.count(counter);
        self.give_up(slot, status, host);
        false
    }

    /// Serves every whole message in `bytes`, which start where a message starts.
    #[inline]
    fn messages<S: Service>(&mut self, slot: Slot, route: Route, bytes: &[u8], host: &mut Host<S>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some(stream) = self.streams.get(slot) else {
                return;
            };
            match piece(rest, self.limits.message_bytes, stream.compressed) {
                Piece::Whole(_, after) if route.is_unary() && !after.is_empty() => {
                    host.count(Counter::CallsMalformed);
                    return self.give_up(slot, SECOND_MESSAGE, host);
                }
                Piece::Whole(message, after) => {
                    rest = after;
                    self.serve(slot, route, message, host);
                    let ended = self
                        .streams
                        .get(slot)
                        .is_none_or(|stream| stream.request != Request::Open);
                    if ended || route.is_unary() {
                        return;
                    }
                }
                Piece::Partial if route.is_unary() => return self.cut_short(slot, host),
                Piece::Partial => {
                    self.gather(slot, rest, host);
                    return;
                }
                Piece::Refused(status, counter) => {
                    host.count(counter);
                    return self.give_up(slot, status, host);
                }
            }
        }
    }

    fn cut_short<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
        host.count(Counter::CallsMalformed);
        self.give_up(
            slot,
            Status::fixed(Code::Internal, "the request ends in a message"),
            host,
        );
    }

    /// The client has sent all of a request.
    #[inline]
    fn end_of_request<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        if !stream.length_holds(true) {
            return self.stream_error(slot, ErrorCode::Protocol, host);
        }
        let wanted = stream.request == Request::Open;
        if let (true, Some(route)) = (wanted, stream.route) {
            if !stream.body.is_empty() && route.is_unary() {
                // A message that was whole before, ended by an empty frame or by trailers.
                self.gathered(slot, route, true, &[], host);
            } else if !stream.body.is_empty() {
                self.cut_short(slot, host);
            } else if route.is_unary() && stream.end.is_none() {
                host.count(Counter::CallsMalformed);
                self.give_up(
                    slot,
                    Status::fixed(Code::Internal, "a unary call without a message"),
                    host,
                );
            }
        }
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        stream.request = Request::Ended;
        // A watch goes on until the client resets it; any other stream has had its answer.
        if wanted && stream.end.is_none() && stream.watch.is_none() {
            self.end(slot, Status::OK, host);
        } else {
            self.close_if_ended(slot, host);
        }
    }

    /// Hands a message to the service and sends what it answers.
    #[inline]
    fn serve<S: Service>(&mut self, slot: Slot, route: Route, message: &[u8], host: &mut Host<S>) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        let timeout = stream
            .timeout
            .map(|timeout| timeout.saturating_sub(stream.age(host.now)));
        if timeout == Some(Duration::ZERO) {
            host.count(Counter::CallsExpired);
            let status = Status::fixed(
                Code::DeadlineExceeded,
                "the deadline passed before the call was served",
            );
            return self.give_up(slot, status, host);
        }
        if self.unsent_bytes >= self.limits.unsent_bytes {
            host.count(Counter::CallsShed);
            let status = Status::fixed(
                Code::ResourceExhausted,
                "too many replies wait for the client to read",
            );
            return self.give_up(slot, status, host);
        }
        let call = Call {
            method: match route {
                Route::Unary(id) | Route::Bidi(id) => id,
                Route::HealthCheck | Route::HealthWatch | Route::Reflection => 0,
            },
            message,
            subtype: stream.kept.subtype(),
            timeout,
            received: host.now,
            kind: self.kind,
            peer: self.peer,
            metadata: Metadata {
                names: &host.shared.keep_metadata,
                kept: Some(&stream.kept),
            },
        };
        let result = Host::call(
            &mut host.service,
            &host.shared,
            &mut host.reply,
            route,
            &call,
        );
        match result {
            Ok(then) => {
                if let Then::Watch { known } = then {
                    stream.watch = Some(known);
                }
                self.send_reply(slot, route, host);
                if route.is_unary() {
                    self.end(slot, Status::OK, host);
                }
            }
            Err(status) => {
                if !route.is_unary() {
                    self.send_reply(slot, route, host);
                }
                self.give_up(slot, status, host);
            }
        }
    }

    // Replies.

    /// Sends what the service wrote: headers if they are not out yet, then the messages.
    #[inline]
    fn send_reply<S: Service>(&mut self, slot: Slot, route: Route, host: &mut Host<S>) {
        if route.is_unary() && host.reply.message().is_none() {
            // A message there must be.
            host.reply.open_empty();
        }
        if host.reply.is_empty() {
            return;
        }
        self.send_headers(slot, &host.reply.metadata.block);
        let sent = host
            .reply
            .only_message()
            .is_some_and(|message| self.send_whole(slot, message));
        if !sent {
            self.send(slot, host.reply.frame_all());
        }
    }

    /// Sends a message in one frame, if nothing is before it and it fits; `false` if not.
    #[inline]
    fn send_whole(&mut self, slot: Slot, message: &[u8]) -> bool {
        let Some(stream) = self.streams.get(slot) else {
            return false;
        };
        stream.unsent.len() == 0
            && self
                .link
                .send_message(stream.id, &mut stream.send_window, 0, message)
    }

    #[inline]
    fn send_headers(&mut self, slot: Slot, metadata: &[u8]) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        if std::mem::replace(&mut stream.headers_sent, true) {
            return;
        }
        let table = self.link.settings.table_bytes_min;
        frame::put_with(
            &mut self.link.out,
            frame::HEADERS,
            frame::END_HEADERS,
            stream.id,
            |out| {
                self.encoder.headers(out, table, stream.kept.subtype());
                out.extend_from_slice(metadata);
            },
        );
    }

    /// Sends bytes of messages, or keeps what the windows do not let out.
    #[inline]
    fn send(&mut self, slot: Slot, bytes: &[u8]) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        let sent = match stream.unsent.len() {
            0 => self
                .link
                .send_data(stream.id, &mut stream.send_window, bytes),
            _ => 0,
        };
        if let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
            stream.unsent.push(rest);
            self.unsent_bytes += rest.len();
        }
    }

    /// Ends a call whose request may still be coming; that is then dropped.
    fn give_up<S: Service>(&mut self, slot: Slot, status: Status, host: &mut Host<S>) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        if stream.request == Request::Open {
            stream.request = Request::Unwanted;
        }
        self.partial_bytes = self.partial_bytes.saturating_sub(stream.body.len());
        host.give_back(std::mem::take(&mut stream.body));
        self.end(slot, status, host);
    }

    /// Ends a reply, at once or as soon as the windows let it out.
    #[inline]
    fn end<S: Service>(&mut self, slot: Slot, status: Status, host: &mut Host<S>) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        if stream.end.is_some() {
            return;
        }
        host.count(if status.is_ok() {
            Counter::CallsOk
        } else {
            Counter::CallsFailed
        });
        stream.watch = None;
        stream.end = Some(End::Status(status));
        self.send_end_if_due(slot, host);
    }

    /// Ends the reply if it is to end and everything of it is out.
    #[inline]
    fn send_end_if_due<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
        let due = |stream: &mut Stream| stream.unsent.len() == 0 && stream.end.is_some();
        if self.streams.get(slot).is_some_and(due) {
            self.send_end(slot);
            self.close_if_ended(slot, host);
        }
    }

    /// Sends the trailers; without headers before, both in one.
    #[inline]
    fn send_end(&mut self, slot: Slot) {
        let table = self.link.settings.table_bytes_min;
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        let status = match &stream.end {
            Some(End::Status(status)) => status,
            Some(End::Body) => {
                return frame::put(
                    &mut self.link.out,
                    frame::DATA,
                    frame::END_STREAM,
                    stream.id,
                    &[],
                );
            }
            None => return,
        };
        let flags = frame::END_HEADERS | frame::END_STREAM;
        let headers_sent = std::mem::replace(&mut stream.headers_sent, true);
        frame::put_with(
            &mut self.link.out,
            frame::HEADERS,
            flags,
            stream.id,
            |out| {
                if !headers_sent {
                    self.encoder.headers(out, table, stream.kept.subtype());
                }
                if status.is_ok() {
                    self.encoder.ok(out, table);
                } else {
                    self.encoder.failed(out, table, status);
                }
            },
        );
        self.link.progress();
    }

    /// Closes a stream that both sides have ended.
    #[inline]
    fn close_if_ended<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        if stream.request == Request::Ended && stream.end.is_some() && stream.unsent.len() == 0 {
            self.close(slot, host);
        }
    }

    #[inline]
    fn close<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        self.unsent_bytes = self.unsent_bytes.saturating_sub(stream.unsent.len());
        self.partial_bytes = self.partial_bytes.saturating_sub(stream.body.len());
        stream.unsent.clear();
        stream.kept.clear();
        host.give_back(std::mem::take(&mut stream.body));
        let id = stream.id;
        self.streams.close(id);
    }

    #[cold]
    fn stream_error<S: Service>(&mut self, slot: Slot, code: ErrorCode, host: &mut Host<S>) {
        host.count(Counter::StreamErrors);
        self.reset(slot, code, host);
    }

    fn reset<S: Service>(&mut self, slot: Slot, code: ErrorCode, host: &mut Host<S>) {
        if let Some(stream) = self.streams.get(slot) {
            let id = stream.id;
            self.recent.reset(&mut self.link.out, id, code);
        }
        self.close(slot, host);
    }

    // Windows.

    fn window<S: Service>(&mut self, id: u32, increment: u32, host: &mut Host<S>) -> Checked {
        if id == 0 {
            self.flush_all(host);
            return Ok(());
        }
        if id > self.last || id.is_multiple_of(2) {
            return Err(ConnectionError::protocol("WINDOW_UPDATE on an idle stream"));
        }
        let Some(slot) = self.streams.find(id) else {
            return Ok(());
        };
        let Some(stream) = self.streams.get(slot) else {
            return Ok(());
        };
        stream.send_window += i64::from(increment);
        if increment == 0 {
            self.stream_error(slot, ErrorCode::Protocol, host);
        } else if stream.send_window > i64::from(MAX_31) {
            self.stream_error(slot, ErrorCode::FlowControl, host);
        } else {
            self.flush(slot, host);
        }
        Ok(())
    }

    fn initial_window<S: Service>(&mut self, change: i64, host: &mut Host<S>) -> Checked {
        for place in 0..self.streams.len() {
            let Some(slot) = self.streams.nth(place) else {
                break;
            };
            let Some(stream) = self.streams.get(slot) else {
                break;
            };
            stream.send_window += change;
            if stream.send_window > i64::from(MAX_31) {
                return Err(ConnectionError::flow_control(
                    "a stream's window is over 2^31 - 1",
                ));
            }
        }
        self.flush_all(host);
        Ok(())
    }

    fn flush_all<S: Service>(&mut self, host: &mut Host<S>) {
        let mut place = 0;
        while self.unsent_bytes > 0
            && self.link.send_window > 0
            && let Some(slot) = self.streams.nth(place)
        {
            self.flush(slot, host);
            // Unless it was closed, and the next one has taken its place.
            place += usize::from(self.streams.nth(place) == Some(slot));
        }
    }

    /// Sends what a stream's window lets out.
    fn flush<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        if stream.unsent.len() == 0 {
            return;
        }
        let sent = self
            .link
            .send_data(stream.id, &mut stream.send_window, stream.unsent.rest());
        stream.unsent.advance(sent);
        self.unsent_bytes = self.unsent_bytes.saturating_sub(sent);
        self.send_end_if_due(slot, host);
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

    /// Ends unary calls whose request does not come.
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
            let waits = match stream.request {
                Request::Open => stream.route.is_some_and(Route::is_unary),
                Request::Unwanted => true,
                Request::Ended => false,
            };
            if !waits || stream.age(now) < timeout {
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

    /// Asks the peer whether it lives. False: it did not answer the last time.
    pub(crate) fn ping(&mut self) -> bool {
        frame::put(&mut self.link.out, frame::PING, 0, 0, &ALIVE_PING);
        !std::mem::replace(&mut self.pinging, true)
    }

    fn pong<S: Service>(&mut self, opaque: [u8; 8], host: &mut Host<S>) {
        self.pinging = false;
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
