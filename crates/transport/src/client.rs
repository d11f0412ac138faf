//! The calling side: one thread, evented, several connections to one address, many calls in flight.

use std::fmt;
use std::io;
use std::net::ToSocketAddrs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::channel::{Channel, Gone, Received};
use crate::h2::{ClientConfig, ClientConnection, Ended, Request};
use crate::metadata::Metadata;
use crate::{Address, Code, Status, TransportKind, socket};

/// How a client connects and what it takes of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOptions {
    /// Connections to the address, at least 1. Calls go to the one with the fewest in flight. Default 1.
    pub connections: usize,
    /// `:authority`. Default `localhost`, as other gRPC clients say on Unix sockets.
    pub authority: String,
    /// Calls in flight, all connections together. Default 4,096.
    pub in_flight_max: usize,
    /// One reply message. Default 4 MiB.
    pub message_bytes_max: usize,
    /// Bytes queued that a connection has not sent, before [`StartError::Full`]. Default 4 MiB.
    pub unsent_bytes_max: usize,
    /// For each connection to be made. Default 5 s.
    pub connect_timeout: Duration,
    /// Wait before a lost connection is made again; doubles with every failure up to `backoff_max`.
    /// Default 10 ms.
    pub backoff_min: Duration,
    /// Default 1 s.
    pub backoff_max: Duration,
    /// Reply metadata to keep for [`Finished::metadata`].
    pub keep_metadata: Vec<&'static str>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            connections: 1,
            authority: "localhost".to_owned(),
            in_flight_max: 4096,
            message_bytes_max: 4 << 20,
            unsent_bytes_max: 4 << 20,
            connect_timeout: Duration::from_secs(5),
            backoff_min: Duration::from_millis(10),
            backoff_max: Duration::from_secs(1),
            keep_metadata: Vec::new(),
        }
    }
}

/// A call of one [`Client`]; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub(crate) u64);

impl CallId {
    /// A number that grows with every call of the client, by one, from 0.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Why a call was not started; nothing of it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartError {
    /// As many calls or bytes are in flight as the options or the peer allow: poll, then try again.
    Full,
    /// No connection now: poll makes a new one.
    Closed,
    /// A metadata name or value, or the path, cannot be sent.
    Metadata,
}

impl std::error::Error for StartError {}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "as many calls are in flight as are allowed",
            Self::Closed => "not connected",
            Self::Metadata => "the path or a metadata pair cannot be sent",
        })
    }
}

/// A call that ended.
#[derive(Debug)]
pub struct Finished<'a> {
    /// What [`Client::start`] gave.
    pub id: CallId,
    /// How it ended.
    pub status: Status,
    /// The reply message; empty if there was none.
    pub message: &'a [u8],
    pub(crate) metadata: Metadata<'a>,
}

impl<'a> Finished<'a> {
    /// The value of a key of the reply's metadata or trailers that [`ClientOptions::keep_metadata`]
    /// lists.
    pub fn metadata(&self, name: &str) -> Option<&'a [u8]> {
        self.metadata.get(name)
    }
}

/// A gRPC client for unary calls, driven by its caller: [`start`](Self::start) queues calls,
/// [`poll`](Self::poll) writes what is queued, reads what has come and reports the calls that ended.
///
/// Calls in flight on a connection that is lost end with `UNAVAILABLE`, as do those a server going
/// away says it did not look at; the connection is made again by `poll`. A host name is looked up
/// anew for every connection, which may block.
pub struct Client {
    address: Address,
    options: ClientOptions,
    config: ClientConfig,
    epoll: OwnedFd,
    events: Vec<Event>,
    input: Vec<u8>,
    channels: Vec<Place>,
    /// Calls that ended without the server's word, to be reported by the next poll.
    ended: Vec<(u64, Status)>,
    /// No call's deadline is before this.
    deadline: Option<Instant>,
    next: u64,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_flight = self.in_flight();
        f.debug_struct("Client")
            .field("address", &self.address)
            .field("in_flight", &in_flight)
            .finish()
    }
}

/// A connection, or the lack of one.
#[derive(Debug)]
struct Place {
    state: State,
    backoff: Duration,
}

#[derive(Debug)]
enum State {
    Connected(Box<Connected>),
    Connecting { socket: OwnedFd, since: Instant },
    Waiting { until: Instant },
}

#[derive(Debug)]
struct Connected {
    channel: Channel,
    machine: ClientConnection,
    /// Part of a frame.
    rest: Vec<u8>,
    /// Whether epoll looks for room to write.
    wants_out: bool,
}

/// What one read takes.
const READ_BYTES: usize = 64 << 10;
/// The longest part of a frame that is kept, and more.
const REST_BYTES_MAX: usize = 32 << 10;
/// How long to wait with nothing to do, before time is looked at again.
const NAP_MAX: Duration = Duration::from_secs(60);

impl Connected {
    /// One write of everything that is queued; `false`: the connection is lost.
    fn send(&mut self) -> bool {
        let out = self.machine.out();
        if out.is_empty() {
            return true;
        }
        match self.channel.send(out) {
            Ok(sent) => drop(out.drain(..sent)),
            Err(Gone) => return false,
        }
        if out.is_empty() {
            out.shrink_to(READ_BYTES);
        }
        true
    }

    /// One read; `false`: the connection is lost.
    fn read(&mut self, input: &mut [u8], each: &mut impl FnMut(Ended<'_>)) -> bool {
        let held = self.rest.len();
        let Some(front) = input.get_mut(..held) else {
            return false;
        };
        front.copy_from_slice(&self.rest);
        let Some(space) = input.get_mut(held..) else {
            return false;
        };
        let bytes = match self.channel.receive(space) {
            Received::Bytes { count, .. } => count,
            Received::Nothing => return true,
            Received::End => return false,
        };
        let input = input.get(..held + bytes).unwrap_or_default();
        let Ok(taken) = self.machine.receive(input, Instant::now(), each) else {
            // Says why; nothing is lost if it cannot.
            self.send();
            return false;
        };
        self.rest.clear();
        self.rest
            .extend_from_slice(input.get(taken..).unwrap_or_default());
        self.rest.len() <= REST_BYTES_MAX
    }

    /// A server that goes away is left when it has answered what it took.
    fn is_over(&self) -> bool {
        self.machine.is_leaving() && self.machine.calls() == 0
    }
}

impl Client {
    /// Connects every connection, and fails if one cannot be made.
    pub fn connect(address: &Address, options: ClientOptions) -> io::Result<Self> {
        let config = ClientConfig {
            authority: options.authority.clone(),
            message_bytes_max: options.message_bytes_max,
            unsent_bytes_max: options.unsent_bytes_max,
            keep_metadata: options.keep_metadata.clone(),
        };
        let mut client = Self {
            address: address.clone(),
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            config,
            events: Vec::with_capacity(options.connections.max(1)),
            input: vec![0; READ_BYTES + REST_BYTES_MAX],
            channels: Vec::new(),
            ended: Vec::new(),
            deadline: None,
            next: 0,
            options,
        };
        for number in 0..client.options.connections.max(1) {
            let socket = connect_now(address, client.options.connect_timeout)?;
            let state = client.connected(number, socket, true)?;
            client.channels.push(Place {
                state,
                backoff: client.options.backoff_min,
            });
        }
        Ok(client)
    }

    fn connected(&self, channel: usize, socket: OwnedFd, new: bool) -> io::Result<State> {
        let data = EventData::new_u64(channel as u64);
        match new {
            true => epoll::add(&self.epoll, &socket, data, EventFlags::IN)?,
            false => epoll::modify(&self.epoll, &socket, data, EventFlags::IN)?,
        }
        let machine = ClientConnection::new(self.config.clone(), Instant::now());
        Ok(State::Connected(Box::new(Connected {
            channel: Channel::plain(socket),
            machine,
            rest: Vec::new(),
            wants_out: false,
        })))
    }

    /// Queues a call; the next [`poll`](Self::poll) sends it. `path` is `/package.Service/Method`,
    /// `subtype` the X of `application/grpc+X` or empty. After `timeout` the call ends with
    /// `DEADLINE_EXCEEDED` here, and the server is told both ways (`grpc-timeout`, `RST_STREAM`).
    pub fn start(
        &mut self,
        path: &str,
        subtype: &str,
        metadata: &[(&str, &[u8])],
        message: &[u8],
        timeout: Option<Duration>,
    ) -> Result<CallId, StartError> {
        if self.in_flight() >= self.options.in_flight_max {
            return Err(StartError::Full);
        }
        let request = Request {
            path,
            subtype,
            metadata,
            message,
            timeout,
        };
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let tag = self.next;
        let (mut failed, mut tried) = (StartError::Closed, None);
        // The idlest first; another one if that one takes no more.
        while let Some((number, connected)) = self.idlest_but(tried) {
            match connected.machine.start(tag, &request, deadline) {
                Ok(()) => {
                    self.next += 1;
                    self.deadline = [self.deadline, deadline].into_iter().flatten().min();
                    return Ok(CallId(tag));
                }
                Err(error) if error == StartError::Metadata || tried.is_some() => {
                    return Err(error);
                }
                Err(error) => (failed, tried) = (error, Some(number)),
            }
        }
        Err(failed)
    }

    /// The connection with the fewest calls in flight, apart from one.
    fn idlest_but(&mut self, but: Option<usize>) -> Option<(usize, &mut Connected)> {
        let channels = self.channels.iter_mut().enumerate();
        let usable = channels.filter_map(|(number, channel)| match &mut channel.state {
            State::Connected(one) if Some(number) != but && !one.machine.is_leaving() => {
                Some((number, &mut **one))
            }
            _ => None,
        });
        usable.min_by_key(|(_, connected)| connected.machine.calls())
    }

    /// Writes what is queued, then waits up to `wait` (to the microsecond; zero: not at all) for
    /// something to happen, reads it and calls `each` for every call that ended. Gives their number,
    /// which may be 0 before `wait` is over. An error is the system's, not a peer's.
    pub fn poll(
        &mut self,
        wait: Duration,
        mut each: impl FnMut(Finished<'_>),
    ) -> io::Result<usize> {
        let mut now = Instant::now();
        self.send_all(now)?;
        self.expire(now);
        let mut finished = self.report(&mut each);
        let wait = if finished > 0 {
            Duration::ZERO
        } else {
            self.nap(wait, now)
        };
        self.wait(wait)?;
        let events = std::mem::take(&mut self.events);
        for event in &events {
            finished += self.event(event.data.u64(), event.flags, &mut each)?;
        }
        self.events = events;
        now = Instant::now();
        self.reconnect(now)?;
        // Windows and settings that the server waits for must not wait for the next call.
        self.send_all(now)?;
        Ok(finished + self.report(&mut each))
    }

    /// How long to wait, at most `wait`, for no deadline or reconnection to be late.
    fn nap(&self, wait: Duration, now: Instant) -> Duration {
        let reconnect = self
            .channels
            .iter()
            .filter_map(|channel| match channel.state {
                State::Waiting { until } => Some(until),
                State::Connecting { since, .. } => Some(since + self.options.connect_timeout),
                State::Connected(_) => None,
            });
        let due = reconnect.chain(self.deadline).min();
        due.map_or(NAP_MAX, |due| due.saturating_duration_since(now))
            .min(wait)
    }

    fn wait(&mut self, wait: Duration) -> io::Result<()> {
        self.events.clear();
        let mut timeout = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        if wait.subsec_nanos().is_multiple_of(1_000_000) {
            timeout = timespec(wait);
        } else {
            // epoll counts in milliseconds, but is itself something to poll, in nanoseconds.
            let mut ready = [PollFd::new(&self.epoll, PollFlags::IN)];
            match rustix::event::poll(&mut ready, Some(&timespec(wait))) {
                Ok(0) | Err(Errno::INTR) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
        }
        match epoll::wait(
            &self.epoll,
            spare_capacity(&mut self.events),
            Some(&timeout),
        ) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn event(
        &mut self,
        number: u64,
        flags: EventFlags,
        each: &mut impl FnMut(Finished<'_>),
    ) -> io::Result<usize> {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(channel) = self.channels.get_mut(number) else {
            return Ok(0);
        };
        let mut finished = 0;
        let alive = match &mut channel.state {
            State::Waiting { .. } => true,
            State::Connecting { .. } => return self.connection_made(number).map(|()| 0),
            State::Connected(connected)
                if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) =>
            {
                connected.read(&mut self.input, &mut |ended| {
                    finished += 1;
                    each(Finished {
                        id: CallId(ended.tag),
                        status: ended.status,
                        message: ended.message,
                        metadata: ended.metadata,
                    });
                })
            }
            State::Connected(_) => true,
        };
        if !alive {
            self.lose(number, "the connection was lost");
        }
        Ok(finished)
    }

    /// Writes what is queued on every connection.
    fn send_all(&mut self, now: Instant) -> io::Result<()> {
        for number in 0..self.channels.len() {
            let Some(Place {
                state: State::Connected(connected),
                ..
            }) = self.channels.get_mut(number)
            else {
                continue;
            };
            if connected.is_over() {
                // Lost on purpose: nothing was in flight, and a new connection is made at once.
                self.lose(number, "");
                if let Some(channel) = self.channels.get_mut(number) {
                    channel.state = State::Waiting { until: now };
                }
                continue;
            }
            if !connected.send() {
                self.lose(number, "the connection was lost");
                continue;
            }
            let wants_out = !connected.machine.out().is_empty();
            if wants_out != connected.wants_out {
                connected.wants_out = wants_out;
                let flags = if wants_out {
                    EventFlags::IN | EventFlags::OUT
                } else {
                    EventFlags::IN
                };
                epoll::modify(
                    &self.epoll,
                    &connected.channel,
                    EventData::new_u64(number as u64),
                    flags,
                )?;
            }
        }
        Ok(())
    }

    /// Ends the calls of a connection that is gone.
    fn lose(&mut self, number: usize, why: &'static str) {
        let Some(channel) = self.channels.get_mut(number) else {
            return;
        };
        let until = Instant::now() + channel.backoff;
        channel.backoff = (channel.backoff * 2).min(self.options.backoff_max);
        if let State::Connected(connected) =
            std::mem::replace(&mut channel.state, State::Waiting { until })
        {
            for tag in connected.machine.abandon() {
                self.ended
                    .push((tag, Status::fixed(Code::Unavailable, why)));
            }
        }
    }

    /// Starts the connections whose time has come.
    fn reconnect(&mut self, now: Instant) -> io::Result<()> {
        for number in 0..self.channels.len() {
            match self.channels.get(number).map(|channel| &channel.state) {
                Some(State::Waiting { until }) if now >= *until => {
                    self.start_connection(number, now)?
                }
                Some(State::Connecting { since, .. })
                    if now.saturating_duration_since(*since) >= self.options.connect_timeout =>
                {
                    self.lose(number, "");
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn start_connection(&mut self, number: usize, now: Instant) -> io::Result<()> {
        let state = match start_to_connect(&self.address) {
            Err(_) => {
                self.lose(number, "");
                return Ok(());
            }
            Ok(socket) if self.address.kind() == TransportKind::Unix => {
                self.connected(number, socket, true)?
            }
            Ok(socket) => {
                epoll::add(
                    &self.epoll,
                    &socket,
                    EventData::new_u64(number as u64),
                    EventFlags::OUT,
                )?;
                State::Connecting { socket, since: now }
            }
        };
        if let Some(channel) = self.channels.get_mut(number) {
            channel.state = state;
        }
        Ok(())
    }

    /// A connection that was being made is there, or not.
    fn connection_made(&mut self, number: usize) -> io::Result<()> {
        let Some(channel) = self.channels.get_mut(number) else {
            return Ok(());
        };
        let nothing = State::Waiting {
            until: Instant::now(),
        };
        let State::Connecting { socket, .. } = std::mem::replace(&mut channel.state, nothing)
        else {
            return Ok(());
        };
        if !matches!(rustix::net::sockopt::socket_error(&socket), Ok(Ok(()))) {
            self.lose(number, "");
            return Ok(());
        }
        let state = self.connected(number, socket, false)?;
        if let Some(channel) = self.channels.get_mut(number) {
            channel.state = state;
        }
        Ok(())
    }

    /// Ends calls whose time is over.
    fn expire(&mut self, now: Instant) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        self.deadline = None;
        for channel in &mut self.channels {
            let State::Connected(connected) = &mut channel.state else {
                continue;
            };
            for tag in connected.machine.expire(now, &mut self.deadline) {
                let status = Status::fixed(Code::DeadlineExceeded, "no answer within the deadline");
                self.ended.push((tag, status));
            }
        }
    }

    /// Reports the calls that ended without the server.
    fn report(&mut self, each: &mut impl FnMut(Finished<'_>)) -> usize {
        let count = self.ended.len();
        for (id, status) in self.ended.drain(..) {
            each(Finished {
                id: CallId(id),
                status,
                message: &[],
                metadata: Metadata::default(),
            });
        }
        count
    }

    /// Gives a call up: it ends with `CANCELLED` at the next poll, the server is told. Nothing
    /// happens if it has ended.
    pub fn cancel(&mut self, id: CallId) {
        let connected = self
            .channels
            .iter_mut()
            .filter_map(|channel| match &mut channel.state {
                State::Connected(connected) => Some(connected),
                _ => None,
            });
        for connected in connected {
            if connected.machine.cancel(id.0) {
                let status = Status::fixed(Code::Cancelled, "cancelled by the caller");
                return self.ended.push((id.0, status));
            }
        }
    }

    /// Calls that were started and have not been reported.
    pub fn in_flight(&self) -> usize {
        let connected = self.channels.iter().map(|channel| match &channel.state {
            State::Connected(connected) => connected.machine.calls(),
            _ => 0,
        });
        connected.sum::<usize>() + self.ended.len()
    }

    /// One call, waited for. Other calls that end meanwhile are lost to their starter: for health
    /// checks and tests.
    pub fn unary(
        &mut self,
        path: &str,
        subtype: &str,
        metadata: &[(&str, &[u8])],
        message: &[u8],
        timeout: Duration,
    ) -> (Status, Vec<u8>) {
        let deadline = Instant::now() + timeout;
        let mut started = None;
        let mut answer = None;
        while answer.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.start_if(started.is_none(), path, subtype, metadata, message, left) {
                Ok(Some(id)) => started = Some(id),
                Ok(None) => {}
                Err(error) if left.is_zero() || error == StartError::Metadata => {
                    return (
                        Status::new(Code::Unavailable, error.to_string()),
                        Vec::new(),
                    );
                }
                Err(_) => {}
            }
            let polled = self.poll(left, |finished| {
                if Some(finished.id) == started {
                    answer = Some((finished.status, finished.message.to_vec()));
                }
            });
            if let Err(error) = polled {
                return (Status::new(Code::Internal, error.to_string()), Vec::new());
            }
        }
        answer.unwrap_or((Status::OK, Vec::new()))
    }

    fn start_if(
        &mut self,
        wanted: bool,
        path: &str,
        subtype: &str,
        metadata: &[(&str, &[u8])],
        message: &[u8],
        timeout: Duration,
    ) -> Result<Option<CallId>, StartError> {
        if !wanted {
            return Ok(None);
        }
        self.start(path, subtype, metadata, message, Some(timeout))
            .map(Some)
    }
}

fn timespec(wait: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(wait.subsec_nanos()),
    }
}

/// Connects and waits for it. A Unix socket whose server is slow to accept is tried again.
fn connect_now(address: &Address, timeout: Duration) -> io::Result<OwnedFd> {
    const AGAIN: Duration = Duration::from_millis(1);
    let deadline = Instant::now() + timeout;
    let path = match address {
        Address::Tcp(host_port) => return socket::connect_tcp(host_port, timeout),
        Address::Unix(path) => path,
    };
    loop {
        match socket::connect_unix(path) {
            Err(error)
                if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline =>
            {
                std::thread::sleep(AGAIN);
            }
            result => return result,
        }
    }
}

fn start_to_connect(address: &Address) -> io::Result<OwnedFd> {
    match address {
        Address::Unix(path) => socket::connect_unix(path),
        Address::Tcp(host_port) => {
            let mut addresses = host_port.to_socket_addrs()?;
            socket::start_tcp(addresses.next().ok_or(io::ErrorKind::NotFound)?)
        }
    }
}
