//! What a server's threads and its owner tell each other.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::event::{EventfdFlags, eventfd};

use crate::counters::Cells;
use crate::{PeerCred, TransportKind};

/// What the threads are to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Order {
    Serve = 0,
    Drain = 1,
    Stop = 2,
}

/// A connection on its way to the thread that is to serve it.
#[derive(Debug)]
pub(super) struct Incoming {
    pub socket: OwnedFd,
    pub kind: TransportKind,
    pub peer: Option<PeerCred>,
}

/// A thread, as the others see it.
#[derive(Debug)]
pub(super) struct Desk {
    wake: OwnedFd,
    inbox: Mutex<Vec<Incoming>>,
    /// Connections it has, those on their way included.
    pub open: AtomicUsize,
    pub cells: Arc<Cells>,
}

impl Desk {
    fn new() -> io::Result<Self> {
        Ok(Self {
            wake: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            inbox: Mutex::new(Vec::new()),
            open: AtomicUsize::new(0),
            cells: Arc::default(),
        })
    }

    pub fn wake(&self) {
        // Full means that it is to wake already.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    pub fn wake_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Takes the wake-up back.
    pub fn awake(&self) {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
    }

    /// A panic elsewhere leaves the list as good as it was.
    pub fn inbox(&self) -> MutexGuard<'_, Vec<Incoming>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) struct Control {
    pub desks: Vec<Desk>,
    /// Connections of all threads.
    pub open: AtomicUsize,
    /// Threads that may still accept a connection, for themselves or another.
    pub accepting: AtomicUsize,
    /// Calls that were open when the deadline passed.
    pub cut: AtomicU64,
    order: AtomicU8,
    deadline: Mutex<Option<Instant>>,
}

impl Control {
    pub fn new(threads: usize) -> io::Result<Self> {
        Ok(Self {
            desks: (0..threads)
                .map(|_| Desk::new())
                .collect::<io::Result<_>>()?,
            open: AtomicUsize::new(0),
            accepting: AtomicUsize::new(threads),
            cut: AtomicU64::new(0),
            order: AtomicU8::new(Order::Serve as u8),
            deadline: Mutex::new(None),
        })
    }

    pub fn wake_all(&self) {
        self.desks.iter().for_each(Desk::wake);
    }

    pub fn order(&self) -> Order {
        match self.order.load(Ordering::Acquire) {
            0 => Order::Serve,
            1 => Order::Drain,
            _ => Order::Stop,
        }
    }

    pub fn give_order(&self, order: Order) {
        self.order.store(order as u8, Ordering::Release);
        self.wake_all();
    }

    pub fn drain_until(&self, deadline: Instant) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = Some(deadline);
        self.give_order(Order::Drain);
    }

    pub fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread with the fewest connections; `own`, if none has fewer.
    pub fn least_busy(&self, own: usize) -> usize {
        let open = |desk: &Desk| desk.open.load(Ordering::Relaxed);
        let mine = self.desks.get(own).map_or(usize::MAX, open);
        let others = self.desks.iter().map(open).enumerate();
        others
            .min_by_key(|(_, open)| *open)
            .filter(|(_, open)| *open < mine)
            .map_or(own, |(thread, _)| thread)
    }
}
