//! The calling side: one thread, evented, several connections to one address, many calls in flight.

use std::fmt;
use std::io;
use std::time::Duration;

use crate::metadata::Metadata;
use crate::{Address, Code, Status};

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
/// away says it did not look at; the connection is made again by `poll`.
#[derive(Debug)]
pub struct Client {
    options: ClientOptions,
}

impl Client {
    /// Connects every connection, and fails if one cannot be made.
    pub fn connect(address: &Address, options: ClientOptions) -> io::Result<Self> {
        let _ = address;
        let _ = Self { options };
        Err(io::Error::from(io::ErrorKind::Unsupported))
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
        let _ = (path, subtype, metadata, message, timeout, &self.options);
        Err(StartError::Closed)
    }

    /// Writes what is queued, then waits up to `wait` (to the microsecond; zero: not at all) for
    /// something to happen, reads it and calls `each` for every call that ended. Gives their number,
    /// which may be 0 before `wait` is over. An error is the system's, not a peer's.
    pub fn poll(&mut self, wait: Duration, each: impl FnMut(Finished<'_>)) -> io::Result<usize> {
        let _ = (wait, each);
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Gives a call up: it ends with `CANCELLED` at the next poll, the server is told. Nothing
    /// happens if it has ended.
    pub fn cancel(&mut self, id: CallId) {
        let _ = id;
    }

    /// Calls that were started and have not been reported.
    pub fn in_flight(&self) -> usize {
        0
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
        let _ = (path, subtype, metadata, message, timeout);
        (Status::fixed(Code::Unavailable, ""), Vec::new())
    }
}
