//! HTTP/2 and gRPC without I/O: bytes in, bytes out.

mod client;
mod frame;
pub(crate) mod grpc;
mod head;
mod host;
pub mod hpack;
mod link;
mod reply;
mod server;
mod slots;
mod stream;

pub use client::{ClientConfig, ClientConnection, Ended, Request};
#[cfg(test)]
pub(crate) use frame::PREFACE;
pub use frame::{ConnectionError, ErrorCode};
pub use host::Host;
pub(crate) use host::{Held, Shared};
pub use server::ServerConnection;
