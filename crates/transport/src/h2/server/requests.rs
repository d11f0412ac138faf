//! Requests: header lists, the DATA that follows, and the messages in it, up to the service.

use std::time::Duration;

use super::{Checked, Leaving, ServerConnection};
use crate::h2::frame::{self, ConnectionError, ErrorCode};
use crate::h2::grpc;
use crate::h2::head::{self, Admission, RequestHead};
use crate::h2::host::{Host, Route, Then};
use crate::h2::hpack::{self, Field, HpackError, ListSize};
use crate::h2::link::STREAM_WINDOW_BYTES;
use crate::h2::slots::Slot;
use crate::h2::stream::{End, Request};
use crate::metadata::{Kept, Metadata};
use crate::{Call, Code, Counter, Service, Status};

/// For who comes with a browser.
const NOT_GRPC_BODY: &[u8] = b"This is a gRPC server: POST application/grpc.\n";

const SECOND_MESSAGE: Status =
    Status::fixed(Code::Internal, "more than one message in a unary call");
const TOO_LATE: Status = Status::fixed(
    Code::DeadlineExceeded,
    "the deadline passed before the call was served",
);
const UNREAD: Status = Status::fixed(
    Code::ResourceExhausted,
    "too many replies wait for the client to read",
);

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
    #[inline]
    pub(super) fn headers<S: Service>(
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
            self.link.note_waste(host.now);
            return Ok(());
        }
        if self.streams.len() >= self.limits.streams {
            host.count(Counter::CallsRefused);
            self.link.note_waste(host.now);
            self.recent
                .reset(&mut self.link.out, id, ErrorCode::RefusedStream);
            return Ok(());
        }
        self.admit(id, end_stream, &head, host);
        Ok(())
    }

    /// Reads a request's header block; what is to be kept of it is in the host.
    #[inline]
    pub(super) fn read_head<S: Service>(
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
    pub(super) fn admit<S: Service>(
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
            other => {
                self.turn_away(slot, end_stream, other, host);
                self.stop_if_answered(id, host);
            }
        }
    }

    #[cold]
    pub(super) fn turn_away<S: Service>(
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
    #[cold]
    pub(super) fn trailers<S: Service>(
        &mut self,
        id: u32,
        end_stream: bool,
        block: &[u8],
        host: &mut Host<S>,
    ) -> Checked {
        // Made up for when the call ends.
        self.link.note_waste(host.now);
        let mut malformed = !end_stream;
        let mut size = ListSize::new(self.limits.header_list_bytes);
        self.link
            .decoder
            .decode(block, &mut host.scratch, |field| {
                malformed |= !size.takes(&field) || !head::name_is_sound(field.name);
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
    pub(super) fn slot_of(&mut self, id: u32, closed: &'static str) -> Checked<Option<Slot>> {
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
    pub(super) fn data<S: Service>(
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
        } else {
            self.stop_if_answered(id, host);
        }
        Ok(())
    }

    /// Bytes of a request that is wanted: whole messages go to the service, the rest is gathered.
    #[inline]
    pub(super) fn content<S: Service>(
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
    pub(super) fn gathered<S: Service>(
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
    pub(super) fn gather<S: Service>(
        &mut self,
        slot: Slot,
        payload: &[u8],
        host: &mut Host<S>,
    ) -> bool {
        let Some(stream) = self.streams.get(slot) else {
            return false;
        };
        let partial = self.partial_bytes.saturating_add(payload.len());
        // Of these the server may not have heard yet.
        let more = partial.saturating_sub(self.held.partial);
        let too_much = if partial > self.limits.partial_bytes {
            Some("too many incomplete requests on the connection")
        } else if !host.shared.held.has_partial_room(more, &host.shared.limits) {
            Some("too many incomplete requests on the server")
        } else {
            None
        };
        if let Some(why) = too_much {
            host.count(Counter::CallsShed);
            self.give_up(slot, Status::fixed(Code::ResourceExhausted, why), host);
            return false;
        }
        if stream.body.is_empty() {
            stream.gathering = Some(host.now);
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
    pub(super) fn messages<S: Service>(
        &mut self,
        slot: Slot,
        route: Route,
        bytes: &[u8],
        host: &mut Host<S>,
    ) {
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

    pub(super) fn cut_short<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
        host.count(Counter::CallsMalformed);
        self.give_up(
            slot,
            Status::fixed(Code::Internal, "the request ends in a message"),
            host,
        );
    }

    /// The client has sent all of a request.
    #[inline]
    pub(super) fn end_of_request<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
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
    pub(super) fn serve<S: Service>(
        &mut self,
        slot: Slot,
        route: Route,
        message: &[u8],
        host: &mut Host<S>,
    ) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        let timeout = stream
            .timeout
            .map(|timeout| timeout.saturating_sub(stream.age(host.now)));
        if timeout == Some(Duration::ZERO) {
            host.count(Counter::CallsExpired);
            return self.give_up(slot, TOO_LATE, host);
        }
        // Both: one frame can hold many messages of a stream.
        let waiting = self.unsent_bytes + self.link.out.len();
        if waiting >= self.limits.unsent_bytes {
            host.count(Counter::CallsShed);
            return self.give_up(slot, UNREAD, host);
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
            waited: host.waited,
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
}
