//! gRPC over Unix sockets and TCP, server and client, for small calls that are answered where their
//! bytes arrive. It knows bytes and metadata, no message.
//!
//! Three layers, each usable without the one above it:
//!
//! * [`h2`]: HTTP/2 and gRPC as state machines without I/O: bytes in, bytes out;
//! * sockets: [`Address`], the socket file's life, who the peer is;
//! * [`serve`] and [`Client`]: threads and epoll around the machines. A thread reads once, answers
//!   every request in what it read, and writes once; a warm call takes no lock and allocates nothing.

mod address;
mod channel;
mod client;
mod counters;
pub mod h2;
mod health;
mod limits;
mod metadata;
mod peer;
mod protobuf;
mod reflection;
mod server;
mod service;
mod socket;
mod status;

pub use address::{Address, AddressError, TransportKind, UNIX_PATH_BYTES_MAX};
pub use client::{CallId, Client, ClientOptions, Finished, StartError};
pub use counters::{Counter, Counters};
pub use limits::ServerLimits;
pub use peer::{PeerCred, PeerPolicy};
pub use server::{Drained, ServeError, Server, ServerOptions, SocketOptions, serve};
pub use service::{Call, CallGroup, Method, MethodKind, Reply, ReplyBuffer, Service};
pub use socket::SocketError;
pub use status::{Code, Status};
