//! HTTP/2 and gRPC without I/O: bytes in, bytes out.

mod frame;
pub(crate) mod grpc;
mod head;
mod host;
pub mod hpack;
mod link;
mod reply;
mod server;
mod streams;

pub use frame::{ConnectionError, ErrorCode};
pub use host::Host;
pub(crate) use host::Shared;
pub use server::ServerConnection;
