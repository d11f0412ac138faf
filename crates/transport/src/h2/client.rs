//! One connection of a client, without I/O: unary gRPC calls, many in flight.

use std::time::{Duration, Instant};

use super::frame::{self, ConnectionError, ErrorCode, FRAME_BYTES_MAX, MAX_31, PREFACE};
use super::grpc::{self, PREFIX_BYTES};
use super::hpack::{self, Encoder, Field, ListSize, Memo, Name};
use super::link::{Event, Link, STREAM_WINDOW_BYTES, WASTE};
use super::slots::{Slot, Slots};
use super::stream::Unsent;
use crate::metadata::{self, Kept, Metadata};
use crate::{Code, StartError, Status};

/// Header lists of replies: as large as a server takes them.
const HEADER_BLOCK_BYTES_MAX: u32 = 16 << 10;
/// All header lists of one reply: headers and trailers, each as large as a server may send them.
const HEADER_LISTS_BYTES_MAX: u32 = 2 * HEADER_BLOCK_BYTES_MAX;
/// Frames that carry nothing, a second: a server of ours sends none, others send a few for each call.
const CONTROL_FRAMES_MAX: u32 = 10_000;
/// Memory that a finished call may leave behind for the next one.
const IDLE_BODY_BYTES_MAX: usize = 16 << 10;

// The static table.
const METHOD_POST: usize = 3;
const SCHEME_HTTP: usize = 6;
const PATH_NAME: usize = 4;
const AUTHORITY_NAME: usize = 1;
const CONTENT_TYPE_NAME: usize = 31;

/// What a connection is to do for all of its calls.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// `:authority`.
    pub authority: String,
    /// One reply message.
    pub message_bytes_max: usize,
    /// Bytes that wait for the server, before no more calls are taken.
    pub unsent_bytes_max: usize,
    /// Reply metadata to keep.
    pub keep_metadata: Vec<&'static str>,
}

/// What a call asks for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `/package.Service/Method`.
    pub path: &'a str,
    /// X of `application/grpc+X`, or empty.
    pub subtype: &'a str,
    /// Names and values.
    pub metadata: &'a [(&'a str, &'a [u8])],
    /// Without prefix.
    pub message: &'a [u8],
    /// For `grpc-timeout`.
    pub timeout: Option<Duration>,
}

/// A call that ended: its caller's number for it, how, the reply's message, and metadata.
#[derive(Debug)]
pub struct Ended<'a> {
    /// What was given to [`ClientConnection::start`].
    pub tag: u64,
    /// How.
    pub status: Status,
    /// Empty if there was none.
    pub message: &'a [u8],
    pub(crate) metadata: Metadata<'a>,
}

#[derive(Debug)]
struct OpenCall {
    id: u32,
    tag: u64,
    deadline: Option<Instant>,
    /// What came of the reply, from its first prefix on.
    body: Vec<u8>,
    kept: Kept,
    lists: ListSize,
    http_status: Option<u32>,
    grpc_status: Option<Code>,
    grpc_message: String,
    send_window: i64,
    unsent: Unsent,
    receive_left: u32,
}

impl Default for OpenCall {
    fn default() -> Self {
        Self {
            id: 0,
            tag: 0,
            deadline: None,
            body: Vec::new(),
            kept: Kept::default(),
            lists: ListSize::new(HEADER_LISTS_BYTES_MAX),
            http_status: None,
            grpc_status: None,
            grpc_message: String::new(),
            send_window: 0,
            unsent: Unsent::default(),
            receive_left: 0,
        }
    }
}

impl OpenCall {
    fn start(&mut self, id: u32, tag: u64, send_window: u32) {
        self.id = id;
        self.tag = tag;
        self.body.clear();
        self.body.shrink_to(IDLE_BODY_BYTES_MAX);
        self.kept.clear();
        self.lists = ListSize::new(HEADER_LISTS_BYTES_MAX);
        self.http_status = None;
        self.grpc_status = None;
        self.grpc_message.clear();
        self.send_window = i64::from(send_window);
        self.unsent.clear();
        self.receive_left = STREAM_WINDOW_BYTES;
    }

    /// What the reply says, once the server has ended it.
    fn result(&self) -> (Status, &[u8]) {
        let code = match (self.grpc_status, self.http_status) {
            (Some(code), _) => code,
            (None, Some(200)) => {
                return (
                    Status::fixed(Code::Unknown, "the reply has no grpc-status"),
                    &[],
                );
            }
            (None, status) => {
                let status = status.unwrap_or(0);
                return (
                    Status::new(code_of_http(status), format!("HTTP status {status}")),
                    &[],
                );
            }
        };
        let status = Status::new(code, self.grpc_message.clone());
        if code != Code::Ok {
            return (status, &[]);
        }
        match grpc::split_prefix(&self.body) {
            Some((prefix, message)) if prefix.flag == 0 && prefix.length == message.len() => {
                (status, message)
            }
            _ => (
                Status::fixed(Code::Internal, "the reply is not one whole message"),
                &[],
            ),
        }
    }
}

/// The code for a reply that is no gRPC (gRPC's http-grpc-status-mapping).
fn code_of_http(status: u32) -> Code {
    match status {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        429 | 502 | 503 | 504 => Code::Unavailable,
        _ => Code::Unknown,
    }
}

fn status_of_reset(code: u32) -> Status {
    let refused = u32::from(ErrorCode::RefusedStream as u8);
    let cancel = u32::from(ErrorCode::Cancel as u8);
    let calm = u32::from(ErrorCode::EnhanceYourCalm as u8);
    let what = "the server reset the call";
    if code == refused {
        Status::fixed(Code::Unavailable, "the server refused the call, unseen")
    } else if code == cancel {
        Status::fixed(Code::Cancelled, what)
    } else if code == calm {
        Status::fixed(Code::ResourceExhausted, what)
    } else {
        Status::fixed(Code::Internal, what)
    }
}

/// A client's side of one connection.
#[derive(Debug)]
pub struct ClientConnection {
    link: Link,
    encoder: Encoder,
    common: Memo,
    calls: Slots<OpenCall>,
    next: u32,
    /// The server takes no more calls.
    leaving: bool,
    /// Bytes of requests that the server's windows hold back.
    held_back: usize,
    scratch: Vec<u8>,
    config: ClientConfig,
}

impl ClientConnection {
    /// A connection that was just made. Its first bytes are in [`out`](Self::out) already.
    pub fn new(config: ClientConfig, now: Instant) -> Self {
        let mut link = Link::new(false, HEADER_BLOCK_BYTES_MAX, CONTROL_FRAMES_MAX, now);
        link.out.extend_from_slice(PREFACE);
        link.greet(&[
            (frame::SETTINGS_ENABLE_PUSH, 0),
            (frame::SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES),
            (frame::SETTINGS_MAX_HEADER_LIST_SIZE, HEADER_BLOCK_BYTES_MAX),
        ]);
        Self {
            link,
            encoder: Encoder::default(),
            common: Memo::default(),
            calls: Slots::default(),
            next: 1,
            leaving: false,
            held_back: 0,
            scratch: Vec::new(),
            config,
        }
    }

    /// Bytes for the server; what was sent is to be removed.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.link.out
    }

    /// Calls in flight.
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Whether the server takes no more calls on this connection; it is over when none is in flight.
    pub fn is_leaving(&self) -> bool {
        self.leaving
    }

    /// Queues a call, which ends by `deadline` if it is expired then.
    pub fn start(
        &mut self,
        tag: u64,
        request: &Request<'_>,
        deadline: Option<Instant>,
    ) -> Result<(), StartError> {
        if self.leaving || self.next > MAX_31 {
            return Err(StartError::Closed);
        }
        let waiting = self.link.out.len().saturating_add(self.held_back);
        if self.calls.len() >= self.link.settings.streams_max as usize
            || waiting >= self.config.unsent_bytes_max
        {
            return Err(StartError::Full);
        }
        check(request)?;
        let id = self.next;
        let start = self.link.out.len();
        frame::put_with(
            &mut self.link.out,
            frame::HEADERS,
            frame::END_HEADERS,
            id,
            |out| {
                self.encoder.begin(out, self.link.settings.table_bytes_min);
                self.encoder.run(
                    out,
                    &mut self.common,
                    [request.path, request.subtype],
                    |encoder, out| {
                        write_common(encoder, out, &self.config.authority, request);
                    },
                );
                write_own(out, request);
            },
        );
        debug_assert!(
            self.link.out.len() - start <= frame::HEAD_BYTES + FRAME_BYTES_MAX,
            "checked before"
        );
        self.next += 2;
        let slot = self.calls.open(id);
        if let Some(call) = self.calls.get(slot) {
            call.start(id, tag, self.link.settings.initial_window);
            call.deadline = deadline;
            self.held_back += send_message(&mut self.link, call, request.message);
        }
        Ok(())
    }

    /// Gives a call up and tells the server; `false` if there is none with this tag.
    pub fn cancel(&mut self, tag: u64) -> bool {
        let found = self
            .slots()
            .find(|slot| self.calls.peek(*slot).is_some_and(|call| call.tag == tag));
        found.is_some_and(|slot| self.give_up(slot).is_some())
    }

    /// Gives the calls up whose deadline has passed; gives their tags. `earliest` is lowered to the
    /// first deadline of the others.
    pub fn expire(&mut self, now: Instant, earliest: &mut Option<Instant>) -> Vec<u64> {
        let mut late = Vec::new();
        for slot in self.slots() {
            match self.calls.peek(slot).and_then(|call| call.deadline) {
                Some(deadline) if deadline <= now => late.push(slot),
                deadline => *earliest = [*earliest, deadline].into_iter().flatten().min(),
            }
        }
        late.into_iter()
            .filter_map(|slot| self.give_up(slot))
            .collect()
    }

    fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..self.calls.len()).map_while(|place| self.calls.nth(place))
    }

    fn give_up(&mut self, slot: Slot) -> Option<u64> {
        let call = self.calls.get(slot)?;
        let tag = call.tag;
        frame::put_reset(&mut self.link.out, call.id, ErrorCode::Cancel);
        self.close(slot);
        Some(tag)
    }

    /// The tags of all calls in flight, which end here: the connection is lost.
    pub fn abandon(self) -> Vec<u64> {
        self.slots()
            .filter_map(|slot| self.calls.peek(slot))
            .map(|call| call.tag)
            .collect()
    }

    fn close(&mut self, slot: Slot) {
        let Some(call) = self.calls.get(slot) else {
            return;
        };
        self.held_back = self.held_back.saturating_sub(call.unsent.len());
        let id = call.id;
        self.calls.close(id);
    }

    /// Takes bytes that were read at `now`, up to the last complete frame in them; `each` is given the
    /// calls that ended. Gives how many bytes were taken; the rest is to be given again, with what
    /// follows it. An error ends the connection; [`out`](Self::out) says why.
    pub fn receive(
        &mut self,
        input: &[u8],
        now: Instant,
        mut each: impl FnMut(Ended<'_>),
    ) -> Result<usize, ConnectionError> {
        let result = self.frames(input, now, &mut each);
        if let Err(error) = &result {
            self.leaving = true;
            self.link.fail(0, *error);
        }
        result
    }

    fn frames(
        &mut self,
        input: &[u8],
        now: Instant,
        each: &mut impl FnMut(Ended<'_>),
    ) -> Result<usize, ConnectionError> {
        let mut taken = 0;
        while let Some((bytes, event)) = self
            .link
            .next(input.get(taken..).unwrap_or_default(), now)?
        {
            taken += bytes;
            self.event(event, now, each)?;
        }
        if self.link.is_flooded() {
            return Err(WASTE);
        }
        Ok(taken)
    }

    fn event(
        &mut self,
        event: Event<'_>,
        now: Instant,
        each: &mut impl FnMut(Ended<'_>),
    ) -> Result<(), ConnectionError> {
        match event {
            Event::Headers {
                stream,
                end_stream,
                block,
            } => self.headers(stream, end_stream, &block, now, each),
            Event::Data {
                stream,
                end_stream,
                payload,
                flow_bytes,
            } => self.data(stream, end_stream, payload, flow_bytes, each),
            Event::Reset { stream, code } => {
                if let Some(slot) = self.slot_of(stream)? {
                    self.finish(slot, Some(status_of_reset(code)), each);
                }
                Ok(())
            }
            Event::Window { stream, increment } => self.window(stream, increment, each),
            Event::InitialWindow(change) => self.initial_window(change),
            Event::GoAway { last } => {
                self.go_away(last, each);
                Ok(())
            }
            Event::Pong(_) | Event::Nothing => Ok(()),
        }
    }

    /// The call on a stream; `None` if it has ended. A stream that was never opened is an error.
    fn slot_of(&self, id: u32) -> Result<Option<Slot>, ConnectionError> {
        if id.is_multiple_of(2) || id >= self.next {
            return Err(ConnectionError::protocol("a frame on an idle stream"));
        }
        Ok(self.calls.find(id))
    }

    fn headers(
        &mut self,
        id: u32,
        end_stream: bool,
        block: &[u8],
        now: Instant,
        each: &mut impl FnMut(Ended<'_>),
    ) -> Result<(), ConnectionError> {
        let found = self.slot_of(id)?;
        let mut nobody = OpenCall::default();
        let call = match found.and_then(|slot| self.calls.get(slot)) {
            Some(call) => call,
            None => {
                self.link.note_waste(now);
                &mut nobody
            }
        };
        if call.http_status.is_some() && !end_stream {
            // Neither the headers nor the trailers.
            self.link.note_waste(now);
        }
        let names = &self.config.keep_metadata;
        self.link
            .decoder
            .decode(block, &mut self.scratch, |field| {
                reply_field(call, field, names)
            })
            .map_err(|_| ConnectionError::compression("unreadable header block"))?;
        let too_large = call.lists.is_over();
        match found {
            Some(slot) if too_large => {
                if !end_stream {
                    frame::put_reset(&mut self.link.out, id, ErrorCode::Cancel);
                }
                let status = Status::fixed(
                    Code::ResourceExhausted,
                    "the reply's header lists are larger than the limit",
                );
                self.finish(slot, Some(status), each);
            }
            Some(slot) if end_stream => self.finish(slot, None, each),
            _ => {}
        }
        Ok(())
    }

    fn data(
        &mut self,
        id: u32,
        end_stream: bool,
        payload: &[u8],
        flow_bytes: u32,
        each: &mut impl FnMut(Ended<'_>),
    ) -> Result<(), ConnectionError> {
        let Some(slot) = self.slot_of(id)? else {
            return Ok(());
        };
        let Some(call) = self.calls.get(slot) else {
            return Ok(());
        };
        let Some(left) = call.receive_left.checked_sub(flow_bytes) else {
            frame::put_reset(&mut self.link.out, id, ErrorCode::FlowControl);
            let status = Status::fixed(Code::Internal, "the reply is larger than its window");
            self.finish(slot, Some(status), each);
            return Ok(());
        };
        call.receive_left = left;
        if left <= STREAM_WINDOW_BYTES / 2 && !end_stream {
            frame::put_window_update(&mut self.link.out, id, STREAM_WINDOW_BYTES - left);
            call.receive_left = STREAM_WINDOW_BYTES;
        }
        let claimed = |body: &[u8]| grpc::split_prefix(body).map_or(0, |(prefix, _)| prefix.length);
        if call.body.len() < PREFIX_BYTES || claimed(&call.body) <= self.config.message_bytes_max {
            call.body.extend_from_slice(payload);
        }
        let whole = PREFIX_BYTES.saturating_add(self.config.message_bytes_max);
        if claimed(&call.body) > self.config.message_bytes_max || call.body.len() > whole {
            if !end_stream {
                frame::put_reset(&mut self.link.out, id, ErrorCode::Cancel);
            }
            let status = Status::fixed(
                Code::ResourceExhausted,
                "the reply is larger than the limit",
            );
            self.finish(slot, Some(status), each);
        } else if end_stream {
            self.finish(slot, None, each);
        }
        Ok(())
    }

    /// A call ends: as `status` says, or else as its reply does.
    fn finish(&mut self, slot: Slot, status: Option<Status>, each: &mut impl FnMut(Ended<'_>)) {
        let Some(call) = self.calls.get(slot) else {
            return;
        };
        if call.unsent.len() > 0 && status.is_none() {
            // The server has answered before it had all of the request.
            frame::put_reset(&mut self.link.out, call.id, ErrorCode::Cancel);
        }
        let (status, message) = match status {
            Some(status) => (status, &[][..]),
            None => call.result(),
        };
        each(Ended {
            tag: call.tag,
            status,
            message,
            metadata: Metadata {
                names: &self.config.keep_metadata,
                kept: Some(&call.kept),
            },
        });
        self.close(slot);
        self.link.progress();
    }

    fn window(
        &mut self,
        id: u32,
        increment: u32,
        each: &mut impl FnMut(Ended<'_>),
    ) -> Result<(), ConnectionError> {
        if id == 0 {
            self.flush_all();
            return Ok(());
        }
        let Some(slot) = self.slot_of(id)? else {
            return Ok(());
        };
        let Some(call) = self.calls.get(slot) else {
            return Ok(());
        };
        call.send_window += i64::from(increment);
        if increment == 0 || call.send_window > i64::from(MAX_31) {
            frame::put_reset(&mut self.link.out, id, ErrorCode::FlowControl);
            self.finish(
                slot,
                Some(Status::fixed(Code::Internal, "a window out of range")),
                each,
            );
        } else {
            self.flush(slot);
        }
        Ok(())
    }

    fn initial_window(&mut self, change: i64) -> Result<(), ConnectionError> {
        for place in 0..self.calls.len() {
            let Some(call) = self.calls.nth(place).and_then(|slot| self.calls.get(slot)) else {
                break;
            };
            call.send_window += change;
            if call.send_window > i64::from(MAX_31) {
                return Err(ConnectionError::flow_control(
                    "a stream's window is over 2^31 - 1",
                ));
            }
        }
        self.flush_all();
        Ok(())
    }

    fn flush_all(&mut self) {
        for place in 0..self.calls.len() {
            if self.held_back == 0 || self.link.send_window <= 0 {
                return;
            }
            if let Some(slot) = self.calls.nth(place) {
                self.flush(slot);
            }
        }
    }

    /// Sends what a call's window lets out.
    fn flush(&mut self, slot: Slot) {
        let Some(call) = self.calls.get(slot).filter(|call| call.unsent.len() > 0) else {
            return;
        };
        let sent = self
            .link
            .send_data(call.id, &mut call.send_window, call.unsent.rest());
        call.unsent.advance(sent);
        self.held_back = self.held_back.saturating_sub(sent);
        if call.unsent.len() == 0 {
            frame::put(
                &mut self.link.out,
                frame::DATA,
                frame::END_STREAM,
                call.id,
                &[],
            );
        }
    }

    /// The server goes away: what it did not look at can be tried elsewhere.
    fn go_away(&mut self, last: u32, each: &mut impl FnMut(Ended<'_>)) {
        self.leaving = true;
        let mut place = self.calls.len();
        while let Some(slot) = place
            .checked_sub(1)
            .and_then(|before| self.calls.nth(before))
        {
            place -= 1;
            if self.calls.get(slot).is_some_and(|call| call.id > last) {
                let status = Status::fixed(
                    Code::Unavailable,
                    "the server went away before it saw the call",
                );
                self.finish(slot, Some(status), each);
            }
        }
    }
}

// What is known of a field that lies in a table, see [`Field::mark`].

/// `:status: 200`.
const MARK_HTTP_OK: u8 = 1;
/// `grpc-status: 0`.
const MARK_GRPC_OK: u8 = 2;
/// Nobody's business.
const MARK_HARMLESS: u8 = 3;

/// A field of a reply's headers or trailers; gives its mark. Lists over their limit are counted on, but
/// not looked at any more.
#[inline]
fn reply_field(call: &mut OpenCall, field: Field<'_>, names: &[&'static str]) -> u8 {
    if !call.lists.takes(&field) {
        return field.mark;
    }
    match field.mark {
        MARK_HTTP_OK => call.http_status = Some(200),
        MARK_GRPC_OK => call.grpc_status = Some(Code::Ok),
        MARK_HARMLESS => {}
        _ => return new_reply_field(call, field, names),
    }
    field.mark
}

fn new_reply_field(call: &mut OpenCall, field: Field<'_>, names: &[&'static str]) -> u8 {
    let Field { name, value, .. } = field;
    let number = || {
        std::str::from_utf8(value)
            .ok()
            .and_then(|text| text.parse::<u32>().ok())
    };
    match name {
        b":status" => {
            call.http_status = number();
            if call.http_status == Some(200) {
                MARK_HTTP_OK
            } else {
                0
            }
        }
        b"grpc-status" => {
            call.grpc_status = Some(number().map_or(Code::Unknown, Code::from_number));
            if call.grpc_status == Some(Code::Ok) {
                MARK_GRPC_OK
            } else {
                0
            }
        }
        b"grpc-message" => {
            call.grpc_message = grpc::percent_decode(value);
            0
        }
        _ if call.kept.keep(names, name, value) => 0,
        _ => MARK_HARMLESS,
    }
}

/// Whether a request's path and metadata can be sent, in one frame.
fn check(request: &Request<'_>) -> Result<(), StartError> {
    let mut bytes = request.path.len() + request.subtype.len();
    let graphic = |text: &str| text.bytes().all(|b| b.is_ascii_graphic());
    let mut sound =
        request.path.starts_with('/') && graphic(request.path) && graphic(request.subtype);
    for (name, value) in request.metadata {
        sound &= metadata::may_send(name, value);
        bytes = bytes
            .saturating_add(name.len())
            .saturating_add(value.len())
            .saturating_add(8);
    }
    // The rest of the block is the authority and a few short fields.
    if sound && bytes < FRAME_BYTES_MAX / 2 {
        Ok(())
    } else {
        Err(StartError::Metadata)
    }
}

/// What is the same for every call of a method in a format.
fn write_common(encoder: &mut Encoder, out: &mut Vec<u8>, authority: &str, request: &Request<'_>) {
    hpack::indexed(out, METHOD_POST);
    hpack::indexed(out, SCHEME_HTTP);
    encoder.field(out, Name::Index(PATH_NAME), [request.path.as_bytes(), b""]);
    encoder.field(
        out,
        Name::Index(AUTHORITY_NAME),
        [authority.as_bytes(), b""],
    );
    let start = if request.subtype.is_empty() {
        grpc::CONTENT_TYPE
    } else {
        grpc::CONTENT_TYPE_PLUS
    };
    encoder.field(
        out,
        Name::Index(CONTENT_TYPE_NAME),
        [start, request.subtype.as_bytes()],
    );
    encoder.field(out, Name::Spelled("te"), [b"trailers", b""]);
}

/// The length of a `grpc-timeout`, at most: eight digits and a unit.
const TIMEOUT_BYTES_MAX: usize = 9;

/// What is this call's own.
fn write_own(out: &mut Vec<u8>, request: &Request<'_>) {
    if let Some(timeout) = request.timeout {
        let mut text = Vec::with_capacity(TIMEOUT_BYTES_MAX);
        grpc::write_timeout(&mut text, timeout);
        hpack::literal(out, b"grpc-timeout", &text);
    }
    for (name, value) in request.metadata {
        hpack::literal(out, name.as_bytes(), value);
    }
}

/// Sends a request's message and the end of the stream, in one frame where it fits; gives how many
/// bytes the windows hold back.
#[inline]
fn send_message(link: &mut Link, call: &mut OpenCall, message: &[u8]) -> usize {
    if link.send_message(call.id, &mut call.send_window, frame::END_STREAM, message) {
        return 0;
    }
    call.unsent.push(&grpc::prefix(message.len()));
    call.unsent.push(message);
    let sent = link.send_data(call.id, &mut call.send_window, call.unsent.rest());
    call.unsent.advance(sent);
    if call.unsent.len() == 0 {
        frame::put(&mut link.out, frame::DATA, frame::END_STREAM, call.id, &[]);
    }
    call.unsent.len()
}
