//! HTTP/2 and gRPC without I/O: bytes in, bytes out.

pub(crate) mod grpc;
pub mod hpack;
