//! Replies: headers, messages as the windows let them out, trailers, and the end of a stream.

use super::{Checked, ServerConnection};
use crate::h2::frame::{self, ConnectionError, ErrorCode, MAX_31};
use crate::h2::host::{Host, Route};
use crate::h2::slots::Slot;
use crate::h2::stream::{End, Request, Stream};
use crate::{Counter, Service, Status};

impl ServerConnection {
    /// Sends what the service wrote: headers if they are not out yet, then the messages.
    #[inline]
    pub(super) fn send_reply<S: Service>(&mut self, slot: Slot, route: Route, host: &mut Host<S>) {
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
    pub(super) fn send_whole(&mut self, slot: Slot, message: &[u8]) -> bool {
        let Some(stream) = self.streams.get(slot) else {
            return false;
        };
        stream.unsent.len() == 0
            && self
                .link
                .send_message(stream.id, &mut stream.send_window, 0, message)
    }

    #[inline]
    pub(super) fn send_headers(&mut self, slot: Slot, metadata: &[u8]) {
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
    pub(super) fn send(&mut self, slot: Slot, bytes: &[u8]) {
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
    pub(super) fn give_up<S: Service>(&mut self, slot: Slot, status: Status, host: &mut Host<S>) {
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
    pub(super) fn end<S: Service>(&mut self, slot: Slot, status: Status, host: &mut Host<S>) {
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
    pub(super) fn send_end_if_due<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
        let due = |stream: &mut Stream| stream.unsent.len() == 0 && stream.end.is_some();
        if self.streams.get(slot).is_some_and(due) {
            self.send_end(slot);
            self.close_if_ended(slot, host);
        }
    }

    /// Sends the trailers; without headers before, both in one.
    #[inline]
    pub(super) fn send_end(&mut self, slot: Slot) {
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
    pub(super) fn close_if_ended<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        if stream.request == Request::Ended && stream.end.is_some() && stream.unsent.len() == 0 {
            self.close(slot, host);
        }
    }

    /// Tells the client to keep the rest of a request that has its whole answer already; what is on its
    /// way is dropped (RFC 9113, 8.1). Not every client says on its own that no more will come, and
    /// until then the call would count as one in flight.
    #[inline]
    pub(super) fn stop_if_answered<S: Service>(&mut self, id: u32, host: &mut Host<S>) {
        let Some(slot) = self.streams.find(id) else {
            return;
        };
        let answered = |stream: &mut Stream| {
            stream.request == Request::Unwanted && stream.end.is_some() && stream.unsent.len() == 0
        };
        if self.streams.get(slot).is_some_and(answered) {
            self.reset(slot, ErrorCode::NoError, host);
        }
    }

    #[inline]
    pub(super) fn close<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
        let Some(stream) = self.streams.get(slot) else {
            return;
        };
        if let Some(group) = stream.counted {
            stream.counted = None;
            host.cells.count_ended(self.kind, group);
        }
        self.unsent_bytes = self.unsent_bytes.saturating_sub(stream.unsent.len());
        self.partial_bytes = self.partial_bytes.saturating_sub(stream.body.len());
        stream.unsent.clear();
        stream.kept.clear();
        host.give_back(std::mem::take(&mut stream.body));
        let id = stream.id;
        self.streams.close(id);
    }

    #[cold]
    pub(super) fn stream_error<S: Service>(
        &mut self,
        slot: Slot,
        code: ErrorCode,
        host: &mut Host<S>,
    ) {
        host.count(Counter::StreamErrors);
        self.link.note_waste(host.now);
        self.reset(slot, code, host);
    }

    pub(super) fn reset<S: Service>(&mut self, slot: Slot, code: ErrorCode, host: &mut Host<S>) {
        if let Some(stream) = self.streams.get(slot) {
            let id = stream.id;
            self.recent.reset(&mut self.link.out, id, code);
        }
        self.close(slot, host);
    }

    // Windows.

    pub(super) fn window<S: Service>(
        &mut self,
        id: u32,
        increment: u32,
        host: &mut Host<S>,
    ) -> Checked {
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

    pub(super) fn initial_window<S: Service>(
        &mut self,
        change: i64,
        host: &mut Host<S>,
    ) -> Checked {
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

    pub(super) fn flush_all<S: Service>(&mut self, host: &mut Host<S>) {
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
    pub(super) fn flush<S: Service>(&mut self, slot: Slot, host: &mut Host<S>) {
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
        let id = stream.id;
        self.unsent_bytes = self.unsent_bytes.saturating_sub(sent);
        self.send_end_if_due(slot, host);
        self.stop_if_answered(id, host);
    }
}
