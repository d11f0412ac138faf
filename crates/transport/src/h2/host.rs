//! What the connections of one thread share: the service, the built-in ones, buffers, counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::counters::{Cells, Counter, Counters};
use crate::health::Health;
use crate::metadata::{Kept, NAMES_MAX};
use crate::reflection::Reflection;
use crate::service::{Call, MethodKind, ReplyBuffer, Service};
use crate::{ServeError, ServerLimits, ServerOptions, Status};

/// What all threads of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub limits: ServerLimits,
    pub keep_metadata: Vec<&'static str>,
    pub health: Health,
    pub reflection: Option<Reflection>,
    pub held: Held,
}

/// What all connections together hold for their peers, in bytes: as of each one's last event.
#[derive(Debug, Default)]
pub(crate) struct Held {
    partial: AtomicUsize,
    unsent: AtomicUsize,
}

/// One connection's part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HeldBytes {
    /// Of requests that are not complete.
    pub partial: usize,
    /// Of replies that wait.
    pub unsent: usize,
}

impl Held {
    /// One connection holds something else than before.
    pub fn change(&self, before: HeldBytes, after: HeldBytes) {
        // Sums of what was added before, so they neither overflow nor go below zero.
        let change = |sum: &AtomicUsize, before: usize, after: usize| {
            sum.fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
        };
        change(&self.partial, before.partial, after.partial);
        change(&self.unsent, before.unsent, after.unsent);
    }

    /// Whether so much more of incomplete requests may be held.
    pub fn has_partial_room(&self, bytes: usize, limits: &ServerLimits) -> bool {
        self.partial.load(Ordering::Relaxed).saturating_add(bytes) <= limits.partial_bytes_max
    }

    /// Whether as many replies wait as may.
    #[inline]
    pub fn is_crowded(&self, limits: &ServerLimits) -> bool {
        self.unsent.load(Ordering::Relaxed) >= limits.unsent_bytes_max
    }
}

impl Shared {
    pub fn new(options: &ServerOptions) -> Result<Self, ServeError> {
        let names = &options.keep_metadata;
        let sound = |name: &&str| super::head::name_is_sound(name.as_bytes());
        if names.len() > NAMES_MAX || !names.iter().all(sound) {
            return Err(ServeError::KeepMetadata);
        }
        let reflection = match &options.reflection {
            Some(set) => Some(Reflection::new(set).ok_or(ServeError::Reflection)?),
            None => None,
        };
        Ok(Self {
            limits: options.limits.clone(),
            keep_metadata: names.clone(),
            health: Health::new(options.health.clone()),
            reflection,
            held: Held::default(),
        })
    }
}

/// A method, of the service or built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Unary(u32),
    Bidi(u32),
    HealthCheck,
    HealthWatch,
    Reflection,
}

impl Route {
    /// Whether it takes one message and gives one.
    pub const fn is_unary(self) -> bool {
        matches!(self, Self::Unary(_) | Self::HealthCheck)
    }
}

/// What a message did to its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// What was written is sent.
    Reply,
    /// The stream stays open and is told of changes of this service's health.
    Watch { known: bool },
}

/// One thread's service, buffers and counters, used by all of its connections.
#[derive(Debug)]
pub struct Host<S> {
    pub(crate) service: S,
    pub(crate) shared: Arc<Shared>,
    pub(crate) cells: Arc<Cells>,
    /// When the bytes at hand were read.
    pub(crate) now: Instant,
    /// How long they may have waited before that.
    pub(crate) waited: Duration,
    pub(crate) reply: ReplyBuffer,
    /// For Huffman-coded strings.
    pub(crate) scratch: Vec<u8>,
    /// For the header list that is being read.
    pub(crate) kept: Kept,
    spare_bodies: Vec<Vec<u8>>,
}

/// Buffers for bodies that a thread keeps for its next calls.
const SPARE_BODIES_MAX: usize = 32;
/// Larger ones go back to the system.
const SPARE_BODY_BYTES_MAX: usize = 64 << 10;

impl<S: Service> Host<S> {
    pub(crate) fn new(service: S, shared: Arc<Shared>, cells: Arc<Cells>) -> Self {
        Self {
            service,
            shared,
            cells,
            now: Instant::now(),
            waited: Duration::ZERO,
            reply: ReplyBuffer::default(),
            scratch: Vec::new(),
            kept: Kept::default(),
            spare_bodies: Vec::new(),
        }
    }

    /// A host of its own, without a server: for tests, fuzzing, and channels that are no sockets.
    pub fn alone(service: S, options: &ServerOptions) -> Result<Self, ServeError> {
        Ok(Self::new(
            service,
            Arc::new(Shared::new(options)?),
            Arc::default(),
        ))
    }

    /// What this host has counted.
    pub fn counters(&self) -> Counters {
        Counters::sum(std::slice::from_ref(&self.cells))
    }

    pub(crate) fn count(&self, counter: Counter) {
        self.cells.count(counter);
    }

    /// An empty buffer for a request that comes in pieces.
    pub(crate) fn body(&mut self) -> Vec<u8> {
        self.spare_bodies.pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&mut self, mut body: Vec<u8>) {
        if body.capacity() != 0
            && body.capacity() <= SPARE_BODY_BYTES_MAX
            && self.spare_bodies.len() < SPARE_BODIES_MAX
        {
            body.clear();
            self.spare_bodies.push(body);
        }
    }

    /// The method at a path: the service's, or else a built-in one.
    #[inline]
    pub(crate) fn route(service: &S, shared: &Shared, path: &str) -> Option<Route> {
        match service.method(path) {
            Some(method) => Some(match method.kind {
                MethodKind::Unary => Route::Unary(method.id),
                MethodKind::Bidi => Route::Bidi(method.id),
            }),
            None => built_in(shared, path),
        }
    }

    /// Hands a message to whoever it is for; the answer is in `reply`.
    #[inline]
    pub(crate) fn call(
        service: &mut S,
        shared: &Shared,
        reply: &mut ReplyBuffer,
        route: Route,
        call: &Call<'_>,
    ) -> Result<Then, Status> {
        let mut reply = reply.reply();
        match route {
            Route::Unary(_) | Route::Bidi(_) => {
                service.call(call, &mut reply).map(|()| Then::Reply)
            }
            Route::HealthCheck => shared
                .health
                .check(call.message, reply.message())
                .map(|()| Then::Reply),
            Route::HealthWatch => {
                let known = shared.health.watch(call.message, reply.message())?;
                Ok(Then::Watch { known })
            }
            Route::Reflection => match &shared.reflection {
                Some(reflection) => reflection
                    .answer(call.message, reply.message())
                    .map(|()| Then::Reply),
                None => Ok(Then::Reply),
            },
        }
    }
}

#[cold]
fn built_in(shared: &Shared, path: &str) -> Option<Route> {
    match path {
        "/grpc.health.v1.Health/Check" => Some(Route::HealthCheck),
        "/grpc.health.v1.Health/Watch" => Some(Route::HealthWatch),
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
        | "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo" => {
            shared.reflection.is_some().then_some(Route::Reflection)
        }
        _ => None,
    }
}
