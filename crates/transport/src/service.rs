//! The service behind a server: it answers where the bytes arrive, synchronously, on its thread.

use std::time::{Duration, Instant};

use crate::h2::grpc;
use crate::metadata::{Metadata, ReplyMetadata};
use crate::{PeerCred, Status, TransportKind};

/// How many messages a method takes and gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodKind {
    /// One message in, one out.
    Unary,
    /// Any number in, any number out; the stream ends when the client ends it, or with an error.
    Bidi,
}

/// A method a service has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// The service's own number for it, given back in [`Call::method`].
    pub id: u32,
    /// How many messages.
    pub kind: MethodKind,
}

/// What a server serves. Every server thread has its own, made by the factory given to
/// [`crate::serve`]: no lock, no `Send`, no task. A call runs where its bytes were read, so it must be
/// short; while it runs the thread's other connections wait.
pub trait Service {
    /// The method at a path such as `/nearbid.v1.Bidder/Bid`; `None` is answered `UNIMPLEMENTED`.
    fn method(&self, path: &str) -> Option<Method>;

    /// One request message in; zero or more reply messages out, for [`MethodKind::Unary`] exactly one
    /// (a unary call that ends well without one is answered with an empty message).
    ///
    /// An error ends the call with that status; messages written in the same call to a unary method
    /// are dropped, those of a stream are sent before it.
    fn call(&mut self, call: &Call<'_>, reply: &mut Reply<'_>) -> Result<(), Status>;

    /// Where [`crate::Counters::in_flight`] counts a call. Asked of calls that do not end in the read
    /// they came in, whose message is not there yet or gone (`call.message` is empty).
    fn group(&self, call: &Call<'_>) -> CallGroup {
        let _ = call;
        CallGroup::OTHER
    }

    /// Called about every [`crate::ServerOptions::tick`] on the thread, and once when the thread ends;
    /// for handing on what was counted per thread.
    fn tick(&mut self, now: Instant) {
        let _ = now;
    }
}

/// Calls in flight are counted in groups, which a service may use as it likes: by format, say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallGroup(u8);

impl CallGroup {
    /// How many groups there are.
    pub const COUNT: usize = 8;
    /// The group of calls that no service has: of built-in methods, and those turned away. The last.
    pub const OTHER: Self = Self(Self::COUNT as u8 - 1);

    /// A group by number, from 0; what is beyond the last one is [`OTHER`](Self::OTHER).
    pub const fn new(number: u8) -> Self {
        if (number as usize) < Self::COUNT {
            Self(number)
        } else {
            Self::OTHER
        }
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One request message and what is known about the call it belongs to.
#[derive(Debug)]
pub struct Call<'a> {
    /// [`Method::id`].
    pub method: u32,
    /// The message, without gRPC's 5-byte prefix. It usually lies in the buffer it was read into, at
    /// any alignment.
    pub message: &'a [u8],
    /// X of `application/grpc+X`; empty for `application/grpc`.
    pub subtype: &'a str,
    /// What was left of `grpc-timeout` at `received`; `None` when the client set none. Zero never
    /// reaches a service: the call has ended with `DEADLINE_EXCEEDED`.
    pub timeout: Option<Duration>,
    /// When the message's last bytes were read: one clock read per socket read, shared by every call
    /// in it.
    pub received: Instant,
    /// How long they may have waited before that, while the thread was at others: at most this. A
    /// thread that keeps up sees next to nothing here.
    pub waited: Duration,
    /// The channel it came over.
    pub kind: TransportKind,
    /// Who called, on a Unix socket.
    pub peer: Option<PeerCred>,
    pub(crate) metadata: Metadata<'a>,
}

impl<'a> Call<'a> {
    /// A call that came over no socket: a plain message, no deadline, no metadata. For tests of
    /// services; the fields can be set.
    pub fn local(method: u32, message: &'a [u8], received: Instant) -> Self {
        Self {
            method,
            message,
            subtype: "",
            timeout: None,
            received,
            waited: Duration::ZERO,
            kind: TransportKind::Unix,
            peer: None,
            metadata: Metadata::default(),
        }
    }

    /// The value of a metadata key that [`crate::ServerOptions::keep_metadata`] lists: the first one
    /// if it was sent more than once. Any other key is not kept: `None`. `-bin` values are as on the
    /// wire, in base64.
    pub fn metadata(&self, name: &str) -> Option<&'a [u8]> {
        self.metadata.get(name)
    }
}

/// Where a service writes its answer.
#[derive(Debug)]
pub struct Reply<'a> {
    buffer: &'a mut ReplyBuffer,
}

/// What a [`Reply`] writes into: a server thread has one and uses it for every call.
#[derive(Debug, Default)]
pub struct ReplyBuffer {
    /// The last message, being written.
    message: Vec<u8>,
    /// Whether there is a last message.
    open: bool,
    /// Messages before it, each behind its gRPC prefix.
    framed: Vec<u8>,
    /// Initial metadata.
    pub(crate) metadata: ReplyMetadata,
}

impl ReplyBuffer {
    /// Memory kept for the next call.
    const IDLE_BYTES_MAX: usize = 64 << 10;

    /// An empty reply.
    pub fn reply(&mut self) -> Reply<'_> {
        for buffer in [
            &mut self.message,
            &mut self.framed,
            &mut self.metadata.block,
        ] {
            buffer.clear();
            buffer.shrink_to(Self::IDLE_BYTES_MAX);
        }
        self.open = false;
        Reply { buffer: self }
    }

    /// The last message, without prefix; `None` if none was written.
    pub fn message(&self) -> Option<&[u8]> {
        self.open.then_some(self.message.as_slice())
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.open && self.framed.is_empty()
    }

    /// The message, if there is one and no other before it.
    pub(crate) fn only_message(&self) -> Option<&[u8]> {
        self.message().filter(|_| self.framed.is_empty())
    }

    /// Every message, each behind its gRPC prefix.
    pub(crate) fn frame_all(&mut self) -> &[u8] {
        self.close_message();
        &self.framed
    }

    /// An empty message, where there must be one.
    pub(crate) fn open_empty(&mut self) {
        self.open = true;
    }

    fn close_message(&mut self) {
        if std::mem::take(&mut self.open) {
            self.framed
                .extend_from_slice(&grpc::prefix(self.message.len()));
            self.framed.append(&mut self.message);
        }
    }
}

impl Reply<'_> {
    /// Starts the next message and gives the empty buffer for its bytes; its gRPC prefix is the
    /// transport's. A further call starts a further message, for streams.
    pub fn message(&mut self) -> &mut Vec<u8> {
        self.buffer.close_message();
        self.buffer.open = true;
        &mut self.buffer.message
    }

    /// Initial metadata of the reply. The name must be lower case (`[a-z0-9_.-]`) and not the
    /// protocol's own (`:path`, `grpc-…`, `content-type`, …), the value printable ASCII: anything else
    /// is left out. Ignored once a stream's first message is out.
    pub fn metadata(&mut self, name: &str, value: &[u8]) {
        self.buffer.metadata.push(name, value);
    }
}
