//! A connection: a channel, the machine behind it, and what neither could take yet.

use std::time::Instant;

use rustix::event::epoll::EventFlags;

use super::arrival::{Arrival, Rounds};
use crate::channel::{Channel, Gone, Received};
use crate::h2::{ConnectionError, ErrorCode, Held, Host, ServerConnection};
use crate::{Counter, ServerLimits, Service};

/// How long a connection that is over waits for the peer to close, so that it gets to read what we
/// said last: a socket closed with unread bytes resets the connection.
const LINGER: std::time::Duration = std::time::Duration::from_secs(1);
/// Buffers of a connection at rest are no larger.
const REST_BYTES_MAX: usize = 4096;

/// Buffers that a thread uses for whichever connection it is at.
#[derive(Debug)]
pub(super) struct Buffers {
    /// What is being read, behind what was left of the last read.
    input: Vec<u8>,
    /// For a connection that has nothing to send, until it does.
    out: Vec<u8>,
    /// When the thread asked for events.
    pub rounds: Rounds,
}

impl Buffers {
    /// One read: many small requests.
    const READ_BYTES: usize = 64 << 10;
    /// An output buffer that grew larger is not kept.
    const OUT_BYTES_MAX: usize = 256 << 10;

    pub fn new() -> Self {
        Self {
            input: vec![0; Self::READ_BYTES + (32 << 10)],
            out: Vec::new(),
            rounds: Rounds::new(Instant::now()),
        }
    }
}

/// Whether a connection goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alive {
    Yes,
    /// To be closed now.
    No,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub channel: Channel,
    machine: ServerConnection,
    /// Read, but not taken by the machine: part of a frame, or whole ones if it is full.
    rest: Vec<u8>,
    /// What epoll was told to look for.
    pub interest: EventFlags,
    /// Set when it is over: what waits is sent, then nothing more, and the peer is to close until then.
    closing: Option<Instant>,
    /// Our side was shut.
    shut: bool,
    opened: Instant,
    /// Since when part of a frame, or of a header block, waits for the rest.
    partial_since: Option<Instant>,
    /// When the socket last took something.
    wrote: Instant,
    /// When replies were last let out by the client's windows, and their count then.
    let_out: (Instant, u64),
    /// When the peer last sent something.
    read: Instant,
    arrival: Arrival,
    /// When there was last a call, and the last one's stream.
    used: (Instant, u32),
    pinged: Option<Instant>,
}

impl Connection {
    pub fn new(channel: Channel, machine: ServerConnection, now: Instant) -> Self {
        Self {
            channel,
            machine,
            rest: Vec::new(),
            interest: EventFlags::empty(),
            closing: None,
            shut: false,
            opened: now,
            partial_since: None,
            wrote: now,
            let_out: (now, 0),
            read: now,
            arrival: Arrival::new(now),
            used: (now, 0),
            pinged: None,
        }
    }

    pub fn calls(&self) -> usize {
        self.machine.calls()
    }

    /// What epoll is to look for.
    pub fn wanted(&mut self) -> EventFlags {
        let mut flags = EventFlags::empty();
        // What is not going to be read must not be looked for, or epoll reports it for ever.
        let is_ready = !self.machine.is_full() && self.machine.out().len() < Buffers::READ_BYTES;
        if self.closing.is_some() || is_ready && self.has_room() {
            flags |= EventFlags::IN;
        }
        if !self.machine.out().is_empty() {
            flags |= EventFlags::OUT;
        }
        flags
    }

    /// Whether a read has room for more: what was left of the last ones is read together with it.
    fn has_room(&self) -> bool {
        self.rest.len() < Buffers::READ_BYTES
    }

    /// One read, everything that is in it, one write.
    pub fn readable<S: Service>(&mut self, buffers: &mut Buffers, host: &mut Host<S>) -> Alive {
        let held = self.rest.len();
        let (Some(front), true) = (buffers.input.get_mut(..held), self.has_room()) else {
            return Alive::Yes;
        };
        front.copy_from_slice(&self.rest);
        let Some(space) = buffers.input.get_mut(held..) else {
            return Alive::Yes;
        };
        let (bytes, all) = match self.channel.receive(space) {
            Received::Bytes { count, all } => (count, all),
            Received::Nothing => return Alive::Yes,
            Received::End => return self.end_of_input(host),
        };
        if self.closing.is_some() {
            return Alive::Yes;
        }
        let now = Instant::now();
        self.read = now;
        let after = self.arrival.read(now, all, &mut buffers.rounds);
        host.waited = now.saturating_duration_since(after);
        let mut input = std::mem::take(&mut buffers.input);
        let alive = self.take_in(
            input.get(..held + bytes).unwrap_or_default(),
            now,
            buffers,
            host,
        );
        std::mem::swap(&mut buffers.input, &mut input);
        alive
    }

    fn end_of_input<S: Service>(&mut self, host: &mut Host<S>) -> Alive {
        if self.closing.is_none() && self.machine.calls() > 0 {
            host.count(Counter::Lost);
        }
        Alive::No
    }

    /// The socket takes bytes again: sends what waits, then goes on with what was read.
    pub fn writable<S: Service>(&mut self, buffers: &mut Buffers, host: &mut Host<S>) -> Alive {
        let now = Instant::now();
        if self.send(now, buffers) == Alive::No {
            return self.end_of_input(host);
        }
        if self.closing.is_some() || self.rest.is_empty() || !self.machine.out().is_empty() {
            return Alive::Yes;
        }
        let input = std::mem::take(&mut self.rest);
        host.waited = now.saturating_duration_since(self.read);
        self.take_in(&input, now, buffers, host)
    }

    /// Gives bytes to the machine and sends what it says, as long as both go on.
    fn take_in<S: Service>(
        &mut self,
        input: &[u8],
        now: Instant,
        buffers: &mut Buffers,
        host: &mut Host<S>,
    ) -> Alive {
        let shared = &host.shared;
        self.machine
            .set_crowded(shared.held.is_crowded(&shared.limits));
        self.lend_out(buffers);
        let mut rest = input;
        loop {
            let Ok(taken) = self.machine.receive(rest, now, host) else {
                self.close(now);
                return self.send(now, buffers);
            };
            rest = rest.get(taken..).unwrap_or_default();
            let full = self.machine.is_full();
            if self.send(now, buffers) == Alive::No {
                return self.end_of_input(host);
            }
            if !full || !self.machine.out().is_empty() {
                break;
            }
            self.lend_out(buffers);
        }
        self.keep(rest, rest.len() < input.len(), now);
        if self.machine.is_done() {
            self.close(now);
            return self.send(now, buffers);
        }
        Alive::Yes
    }

    /// Keeps what was not taken for the next time.
    fn keep(&mut self, rest: &[u8], progress: bool, now: Instant) {
        self.rest.clear();
        self.rest.shrink_to(REST_BYTES_MAX);
        self.rest.extend_from_slice(rest);
        let in_block = self.machine.is_in_block();
        if rest.is_empty() && !in_block {
            self.partial_since = None;
        } else if self.partial_since.is_none() || (progress && !in_block) {
            self.partial_since = Some(now);
        }
    }

    /// Tells the server what is held for the peer now.
    pub fn account(&mut self, held: &Held) {
        self.machine.account(self.rest.len(), held);
    }

    /// The connection is gone, and with it what was held and in flight.
    pub fn abandon<S: Service>(&mut self, host: &mut Host<S>) {
        self.machine.abandon(host);
    }

    fn lend_out(&mut self, buffers: &mut Buffers) {
        if self.machine.out().capacity() == 0 {
            *self.machine.out() = std::mem::take(&mut buffers.out);
        }
    }

    /// Sends what waits, in one write.
    pub fn send(&mut self, now: Instant, buffers: &mut Buffers) -> Alive {
        let out = self.machine.out();
        if !out.is_empty() {
            match self.channel.send(out) {
                Ok(0) => {}
                Ok(sent) => {
                    out.drain(..sent);
                    self.wrote = now;
                }
                Err(Gone) => return Alive::No,
            }
        }
        if out.is_empty() {
            let out = std::mem::take(out);
            if out.capacity() <= Buffers::OUT_BYTES_MAX {
                buffers.out = out;
            }
            if self.closing.is_some() && !std::mem::replace(&mut self.shut, true) {
                self.closing = Some(now + LINGER);
                self.channel.finish();
            }
        }
        Alive::Yes
    }

    fn close(&mut self, now: Instant) {
        self.closing.get_or_insert(now + LINGER);
        self.rest = Vec::new();
    }

    /// Starts to go away; see [`ServerConnection::go_away`].
    pub fn go_away(&mut self, now: Instant, buffers: &mut Buffers) -> Alive {
        self.machine.go_away();
        self.send(now, buffers)
    }

    /// Goes away; calls in flight end.
    pub fn go_away_now<S: Service>(
        &mut self,
        now: Instant,
        buffers: &mut Buffers,
        host: &mut Host<S>,
    ) -> Alive {
        self.machine.go_away_now(host);
        if self.machine.is_done() {
            self.close(now);
        }
        self.send(now, buffers)
    }

    /// Tells the health to who watches it.
    pub fn notify_health<S: Service>(
        &mut self,
        now: Instant,
        buffers: &mut Buffers,
        host: &mut Host<S>,
    ) -> Alive {
        if self.closing.is_some() || self.machine.calls() == 0 {
            return Alive::Yes;
        }
        self.machine.notify_health(host);
        self.send(now, buffers)
    }

    /// Looks at the clock: what takes too long, ends.
    pub fn check_time<S: Service>(
        &mut self,
        limits: &ServerLimits,
        now: Instant,
        buffers: &mut Buffers,
        host: &mut Host<S>,
    ) -> Alive {
        let since = |then: Instant| now.saturating_duration_since(then);
        if let Some(until) = self.closing {
            // As long as something waits to be read, the peer has the time of any slow reader.
            let over = if self.shut {
                now >= until
            } else {
                since(self.wrote) >= limits.slow_reader_timeout
            };
            return if over { Alive::No } else { Alive::Yes };
        }
        let (held_back, let_out) = self.machine.held_back();
        if held_back == 0 || let_out != self.let_out.1 {
            self.let_out = (now, let_out);
        }
        let last = self.machine.last_stream();
        if self.machine.calls() > 0 || last != self.used.1 {
            self.used = (now, last);
        }
        let blocked = !self.machine.out().is_empty();
        let overdue = if blocked && since(self.wrote) >= limits.slow_reader_timeout
            || held_back > 0 && since(self.let_out.0) >= limits.slow_reader_timeout
        {
            Some((Counter::TimeoutSlowReader, "replies were not read in time"))
        } else if !self.machine.is_ready() && since(self.opened) >= limits.handshake_timeout {
            Some((Counter::TimeoutHandshake, "no SETTINGS in time"))
        } else if !blocked
            && self
                .partial_since
                .is_some_and(|then| since(then) >= limits.frame_timeout)
        {
            Some((Counter::TimeoutFrame, "a frame did not come in time"))
        } else {
            None
        };
        if let Some((cause, what)) = overdue {
            self.machine.fail(
                ConnectionError {
                    code: ErrorCode::EnhanceYourCalm,
                    cause,
                    what,
                },
                host,
            );
            self.close(now);
            return self.send(now, buffers);
        }
        self.machine.expire(limits.request_timeout, now, host);
        if self.machine.is_done() {
            self.close(now);
        }
        if self.keep_alive(limits, now, host) == Alive::No {
            return Alive::No;
        }
        self.send(now, buffers)
    }

    fn keep_alive<S: Service>(
        &mut self,
        limits: &ServerLimits,
        now: Instant,
        host: &mut Host<S>,
    ) -> Alive {
        let since = |then: Instant| now.saturating_duration_since(then);
        if limits
            .idle_timeout(self.machine.kind())
            .is_some_and(|timeout| since(self.used.0) >= timeout)
        {
            host.count(Counter::TimeoutIdle);
            self.used.0 = now;
            self.machine.go_away_now(host);
            self.close(now);
        }
        let Some(interval) = limits.keepalive_interval else {
            return Alive::Yes;
        };
        let quiet_since = self
            .pinged
            .map_or(self.read, |pinged| pinged.max(self.read));
        if since(quiet_since) < interval {
            return Alive::Yes;
        }
        if self.pinged.is_some_and(|pinged| pinged > self.read) {
            host.count(Counter::TimeoutKeepalive);
            return Alive::No;
        }
        self.machine.ping();
        self.pinged = Some(now);
        Alive::Yes
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::{Call, Method, MethodKind, Reply, ServerOptions, Status, TransportKind};

    /// Answers with 1,000 bytes.
    struct Thousand;

    impl Service for Thousand {
        fn method(&self, _: &str) -> Option<Method> {
            let kind = MethodKind::Unary;
            Some(Method { id: 0, kind })
        }

        fn call(&mut self, _: &Call<'_>, reply: &mut Reply<'_>) -> Result<(), Status> {
            reply.message().resize(1000, b'x');
            Ok(())
        }
    }

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    }

    /// Calls that are answered with more than they are long, over windows that are wide open.
    fn calls(from: u32, count: u32) -> Vec<u8> {
        let mut block = vec![0x83, 0x86, 0x04, 1, b'/', 0x0f, 0x10, 16];
        block.extend(b"application/grpc");
        let call = |n: u32| {
            let stream = 2 * n + 1;
            let message = [0, 0, 0, 0, 100];
            [
                frame(1, 4, stream, &block),
                frame(0, 1, stream, &[&message[..], &[7; 100]].concat()),
            ]
            .concat()
        };
        (from..from + count).flat_map(call).collect()
    }

    fn hello() -> Vec<u8> {
        let wide = [0, 4, 0x7f, 0xff, 0xff, 0xff];
        let mut bytes = crate::h2::PREFACE.to_vec();
        bytes.extend(frame(4, 0, 0, &wide));
        bytes.extend(frame(8, 0, 0, &0x7000_0000u32.to_be_bytes()));
        bytes
    }

    /// Epoll would tell for ever of bytes that nobody reads.
    #[test]
    fn what_is_looked_for_is_read() {
        let options = ServerOptions::default();
        let now = Instant::now();
        let mut host = Host::alone(Thousand, &options).unwrap();
        let mut buffers = Buffers::new();
        for (held, looks) in [
            (0, true),
            (Buffers::READ_BYTES - 1, true),
            (Buffers::READ_BYTES, false),
        ] {
            let (mut peer, socket) = UnixStream::pair().unwrap();
            let machine = ServerConnection::new(&options.limits, TransportKind::Unix, None, now);
            let mut connection = Connection::new(Channel::plain(socket.into()), machine, now);
            connection.rest = vec![0; held];
            assert_eq!(
                connection.wanted().contains(EventFlags::IN),
                looks,
                "{held}"
            );
            peer.write_all(b"more").unwrap();
            let before = connection.read;
            let _ = connection.readable(&mut buffers, &mut host);
            assert_eq!(connection.read > before, looks, "{held}");
        }
    }

    /// A peer that reads a little now and then is served whatever it sends.
    #[test]
    fn a_slow_reader_gets_everything() {
        let options = ServerOptions::default();
        let now = Instant::now();
        let mut host = Host::alone(Thousand, &options).unwrap();
        let mut buffers = Buffers::new();
        let (mut peer, socket) = UnixStream::pair().unwrap();
        peer.set_nonblocking(true).unwrap();
        let machine = ServerConnection::new(&options.limits, TransportKind::Unix, None, now);
        let mut connection = Connection::new(Channel::plain(socket.into()), machine, now);
        let mut unsent = [hello(), calls(0, 20_000)].concat();
        let (mut waited, mut seen, mut idle) = (0, 0, 0);
        // A peer that reads a little now and then, and sends whenever it can.
        while seen < 20_000 * 1000 {
            if let Ok(sent) = peer.write(&unsent) {
                unsent.drain(..sent);
            }
            let before = (connection.read, connection.rest.len());
            if connection.wanted().contains(EventFlags::IN) {
                assert!(connection.rest.len() < Buffers::READ_BYTES);
                assert_eq!(connection.readable(&mut buffers, &mut host), Alive::Yes);
            } else {
                waited += 1;
            }
            let read = peer.read(&mut [0; 7_000]).unwrap_or(0);
            seen += read;
            if connection.wanted().contains(EventFlags::OUT) {
                assert_eq!(connection.writable(&mut buffers, &mut host), Alive::Yes);
            }
            let still = read == 0 && before == (connection.read, connection.rest.len());
            idle = if still { idle + 1 } else { 0 };
            assert!(idle < 1000, "stuck at {seen} bytes");
        }
        assert!(waited > 0 && unsent.is_empty());
    }
}
