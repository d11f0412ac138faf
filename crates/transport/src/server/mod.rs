//! The serving side: threads, their sockets, and how they go away.

mod arrival;
mod connection;
mod control;
mod worker;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::h2::Shared;
use crate::socket::{self, Listening, SocketError, SocketFile};
use crate::{Address, Counter, Counters, PeerPolicy, ServerLimits, Service};
use control::{Control, Order};
use worker::{Listener, Settings, Worker};

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
    files: Vec<SocketFile>,
    shared: Arc<Shared>,
    control: Arc<Control>,
    threads: Vec<JoinHandle<()>>,
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
    let shared = Arc::new(Shared::new(&options)?);
    let listening = listen_all(listen, &options.socket)?;
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let control = Arc::new(Control::new(threads).map_err(ServeError::Thread)?);
    let settings = Settings {
        peers: options.peers,
        tick: options.tick,
        drain_grace: options.drain_grace,
    };
    let mut server = Server {
        addresses: listening.iter().map(|one| one.address.clone()).collect(),
        files: Vec::new(),
        shared: shared.clone(),
        control: control.clone(),
        threads: Vec::new(),
    };
    let factory = Arc::new(factory);
    for number in 0..threads {
        let listeners = share(&listening).map_err(ServeError::Thread)?;
        let (shared, control, settings) = (shared.clone(), control.clone(), settings.clone());
        let factory = factory.clone();
        let start = move || {
            Worker::new(
                number,
                factory(number),
                shared,
                control,
                settings,
                listeners,
            )
        };
        server
            .threads
            .push(spawn(number, start).map_err(ServeError::Thread)?);
    }
    server.files = listening.into_iter().filter_map(|one| one.file).collect();
    Ok(server)
}

fn listen_all(
    addresses: &[Address],
    options: &SocketOptions,
) -> Result<Vec<Listening>, ServeError> {
    if addresses.is_empty() {
        return Err(ServeError::NoAddress);
    }
    let listen = |address: &Address| {
        socket::listen(address, options).map_err(|error| ServeError::Listen {
            address: address.clone(),
            error,
        })
    };
    addresses.iter().map(listen).collect()
}

/// The listening sockets, for one thread.
fn share(listening: &[Listening]) -> io::Result<Vec<Listener>> {
    let one = |one: &Listening| Ok(Listener::new(one.socket.try_clone()?, one.address.kind()));
    listening.iter().map(one).collect()
}

/// Starts a thread and waits until it has what it needs.
fn spawn<S: Service>(
    number: usize,
    start: impl FnOnce() -> io::Result<Worker<S>> + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let (ready, started) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new()
        .name(format!("transport-{number}"))
        .spawn(move || match start() {
            Ok(worker) => {
                // The one who waits is gone only if another thread failed; then there is an order to stop.
                let _ = ready.send(Ok(()));
                worker.run();
            }
            Err(error) => {
                let _ = ready.send(Err(error));
            }
        })?;
    match started.recv() {
        Ok(Ok(())) => Ok(thread),
        Ok(Err(error)) => Err(error),
        // The factory has panicked; its message is on standard error.
        Err(_) => Err(io::Error::other("the thread ended while it started")),
    }
}

impl Server {
    /// Where it listens, in the order asked for, with the real port where 0 was asked.
    pub fn local_addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Whether every socket file is still there. One that somebody removed keeps new callers out, and
    /// comes back with a new server only.
    pub fn is_reachable(&self) -> bool {
        self.files.iter().all(SocketFile::is_there)
    }

    /// What `grpc.health.v1.Health` says from now on; `Watch` streams are told.
    pub fn set_serving(&self, serving: bool) {
        self.shared.health.set(serving);
        self.control.wake_all();
    }

    /// Everything counted so far.
    pub fn counters(&self) -> Counters {
        let cells: Vec<_> = self
            .control
            .desks
            .iter()
            .map(|desk| desk.cells.clone())
            .collect();
        Counters::sum(&cells)
    }

    fn calls_ended(&self) -> u64 {
        let counters = self.counters();
        counters
            .get(Counter::CallsOk)
            .wrapping_add(counters.get(Counter::CallsFailed))
    }

    /// Goes away without losing a call: `NOT_SERVING`, socket file removed, what has connected is
    /// still accepted, GOAWAY, calls in flight end, connections close. What is left at the deadline is
    /// cut.
    pub fn drain(mut self, deadline: Duration) -> Drained {
        let ended = self.calls_ended();
        self.set_serving(false);
        self.files.clear();
        self.control.drain_until(Instant::now() + deadline);
        self.join();
        Drained {
            finished: self.calls_ended().wrapping_sub(ended),
            cut: self.control.cut.load(Ordering::Acquire),
        }
    }

    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.control.give_order(Order::Stop);
        self.join();
    }
}
