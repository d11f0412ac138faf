//! A server thread: its epoll, its connections, its service.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::SocketFlags;

use super::connection::{Alive, Buffers, Connection};
use super::control::{Control, Desk, Incoming, Order};
use crate::channel::Channel;
use crate::h2::{Host, ServerConnection, Shared};
use crate::socket::BACKLOG;
use crate::{Counter, PeerCred, PeerPolicy, Service, TransportKind};

/// Events taken from the kernel at once.
const EVENTS_MAX: usize = 256;
/// Connections accepted before others get their turn.
const ACCEPTS_MAX: usize = 64;
/// Turns of accepting, at a drain, for what had connected before: no backlog is longer.
const LAST_TURNS_MAX: usize = BACKLOG.unsigned_abs() as usize / ACCEPTS_MAX;
/// In how many ticks every connection's clock is looked at once.
const SWEEP_TICKS: usize = 10;

/// What an event is about.
const WAKE: u64 = u64::MAX;
const LISTENER: u64 = 1 << 63;

/// A listening socket, shared by all threads.
#[derive(Debug)]
pub(super) struct Listener {
    pub socket: OwnedFd,
    pub kind: TransportKind,
    /// Whether epoll looks at it; not while there are no descriptors to accept with.
    armed: bool,
}

impl Listener {
    pub fn new(socket: OwnedFd, kind: TransportKind) -> Self {
        Self {
            socket,
            kind,
            armed: false,
        }
    }
}

/// What a thread needs to know of the options.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub peers: PeerPolicy,
    pub tick: Duration,
    pub drain_grace: Duration,
}

/// A place for a connection. The generation tells an event for the one that was here before.
#[derive(Debug, Default)]
struct Place {
    generation: u32,
    connection: Option<Box<Connection>>,
}

pub(super) struct Worker<S> {
    number: usize,
    control: Arc<Control>,
    settings: Settings,
    epoll: OwnedFd,
    listeners: Vec<Listener>,
    host: Host<S>,
    buffers: Buffers,
    places: Vec<Place>,
    free: Vec<usize>,
    open: usize,
    /// When the events at hand were taken.
    now: Instant,
    next_tick: Instant,
    /// The next place whose clock is looked at.
    sweep: usize,
    serving: bool,
    /// When the drain started; whether its second step was taken.
    draining: Option<(Instant, bool)>,
}

impl<S: Service> Worker<S> {
    pub fn new(
        number: usize,
        service: S,
        shared: Arc<Shared>,
        control: Arc<Control>,
        settings: Settings,
        listeners: Vec<Listener>,
    ) -> io::Result<Self> {
        let desk = desk(&control, number)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(
            &epoll,
            desk.wake_fd(),
            EventData::new_u64(WAKE),
            EventFlags::IN,
        )?;
        let host = Host::new(service, shared, desk.cells.clone());
        Ok(Self {
            number,
            control,
            settings,
            epoll,
            listeners,
            host,
            buffers: Buffers::new(),
            places: Vec::new(),
            free: Vec::new(),
            open: 0,
            now: Instant::now(),
            next_tick: Instant::now(),
            sweep: 0,
            serving: true,
            draining: None,
        })
    }

    /// Serves until it is told to stop, or has drained.
    pub fn run(mut self) {
        self.arm_listeners();
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS_MAX);
        while !self.is_over() {
            let is_full = events.len() == EVENTS_MAX;
            events.clear();
            let at_once = self.buffers.rounds.ask(self.now, is_full);
            let mut asked = Ok(());
            if at_once {
                asked = self.ask(&mut events, &Timespec::default());
                if events.is_empty() {
                    self.buffers.rounds.nothing();
                }
            }
            if asked.is_ok() && events.is_empty() {
                asked = self.ask(&mut events, &self.patience());
            }
            // Nothing but a bug makes this fail; to go on would spin.
            if asked.is_err() {
                break;
            }
            for event in &events {
                self.event(event.data.u64(), event.flags);
            }
            self.now = Instant::now();
            self.on_time(self.now);
        }
        self.finish();
    }

    /// Takes events from the kernel.
    fn ask(&self, events: &mut Vec<Event>, wait: &Timespec) -> Result<(), Errno> {
        match epoll::wait(&self.epoll, spare_capacity(events), Some(wait)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn patience(&self) -> Timespec {
        let left = self.next_tick.saturating_duration_since(self.now);
        // In whole milliseconds, upwards: finer ones need a newer system call.
        let millis = i64::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i64::MAX);
        Timespec {
            tv_sec: millis / 1000,
            tv_nsec: millis % 1000 * 1_000_000,
        }
    }

    fn event(&mut self, about: u64, flags: EventFlags) {
        if about == WAKE {
            self.woken();
        } else if about & LISTENER != 0 {
            self.accept(usize::try_from(about & !LISTENER).unwrap_or(usize::MAX));
        } else {
            self.connection_event(about, flags);
        }
    }

    // Connections.

    fn connection_event(&mut self, about: u64, flags: EventFlags) {
        let (index, generation) = split(about);
        let Some(place) = self
            .places
            .get_mut(index)
            .filter(|place| place.generation == generation)
        else {
            return;
        };
        let Some(connection) = &mut place.connection else {
            return;
        };
        let mut alive = Alive::Yes;
        if flags.contains(EventFlags::OUT) {
            alive = connection.writable(&mut self.buffers, &mut self.host);
        }
        if alive == Alive::Yes
            && flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR)
        {
            alive = connection.readable(&mut self.buffers, &mut self.host);
        }
        self.settle(index, alive);
    }

    /// After something was done to a connection: closes it, or tells epoll what to look for now.
    fn settle(&mut self, index: usize, alive: Alive) {
        let Some(place) = self.places.get_mut(index) else {
            return;
        };
        let Some(connection) = &mut place.connection else {
            return;
        };
        if alive == Alive::No {
            return self.close(index);
        }
        connection.account(&self.host.shared.held);
        let wanted = connection.wanted();
        if wanted != connection.interest {
            connection.interest = wanted;
            let data = EventData::new_u64(join(index, place.generation));
            if epoll::modify(&self.epoll, &connection.channel, data, wanted).is_err() {
                self.close(index);
            }
        }
    }

    fn close(&mut self, index: usize) {
        let Some(place) = self.places.get_mut(index) else {
            return;
        };
        // Closing the descriptor takes it out of epoll.
        if let Some(mut connection) = place.connection.take() {
            connection.abandon(&mut self.host);
            place.generation = place.generation.wrapping_add(1) & (u32::MAX >> 1);
            self.free.push(index);
            self.open -= 1;
            self.host.count(Counter::Closed);
            self.count_out();
        }
        if self.open == 0 {
            self.places = Vec::new();
            self.free = Vec::new();
        }
    }

    /// A connection is gone from the counts.
    fn count_out(&self) {
        self.control.open.fetch_sub(1, Ordering::Relaxed);
        if let Some(desk) = self.control.desks.get(self.number) {
            desk.open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn adopt(&mut self, incoming: Incoming) {
        let now = Instant::now();
        let Incoming { socket, kind, peer } = incoming;
        let machine = ServerConnection::new(&self.host.shared.limits, kind, peer, now);
        let mut connection = Box::new(Connection::new(Channel::plain(socket), machine, now));
        self.host.count(match kind {
            TransportKind::Unix => Counter::AcceptedUnix,
            TransportKind::Tcp => Counter::AcceptedTcp,
        });
        let mut alive = connection.send(now, &mut self.buffers);
        if self.draining.is_some() && alive == Alive::Yes {
            alive = connection.go_away(now, &mut self.buffers);
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() - 1
        });
        self.open += 1;
        if let Some(place) = self.places.get_mut(index) {
            connection.interest = connection.wanted();
            let data = EventData::new_u64(join(index, place.generation));
            if epoll::add(&self.epoll, &connection.channel, data, connection.interest).is_err() {
                alive = Alive::No;
            }
            place.connection = Some(connection);
        }
        if alive == Alive::No {
            self.close(index);
        }
    }

    // Accepting.

    fn arm_listeners(&mut self) {
        for (number, listener) in (0u64..).zip(&mut self.listeners) {
            if !listener.armed {
                let flags = EventFlags::IN | EventFlags::EXCLUSIVE;
                let data = EventData::new_u64(LISTENER | number);
                listener.armed = epoll::add(&self.epoll, &listener.socket, data, flags).is_ok();
            }
        }
    }

    /// Accepts what has connected, but lets others have their turn; `false` if that was all of it.
    fn accept(&mut self, number: usize) -> bool {
        for _ in 0..ACCEPTS_MAX {
            let Some(listener) = self.listeners.get_mut(number) else {
                return false;
            };
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match rustix::net::accept_with(&listener.socket, flags) {
                Ok(socket) => {
                    let kind = listener.kind;
                    self.welcome(socket, kind);
                }
                Err(Errno::AGAIN) => return false,
                Err(error) if is_about_the_peer(error) => {}
                Err(_) => {
                    // It would be reported again at once; the next tick tries again.
                    listener.armed = false;
                    let _ = epoll::delete(&self.epoll, &listener.socket);
                    self.host.count(Counter::AcceptFailed);
                    return false;
                }
            }
        }
        true
    }

    /// Lets a connection in, or not, and finds the thread for it.
    fn welcome(&mut self, socket: OwnedFd, kind: TransportKind) {
        let peer = match kind {
            TransportKind::Unix => PeerCred::of(&socket),
            TransportKind::Tcp => None,
        };
        if kind == TransportKind::Unix && !self.settings.peers.allows(peer) {
            return self.host.count(Counter::RefusedPeer);
        }
        if self.control.open.fetch_add(1, Ordering::Relaxed)
            >= self.host.shared.limits.connections_max
        {
            self.control.open.fetch_sub(1, Ordering::Relaxed);
            return self.host.count(Counter::RefusedFull);
        }
        if kind == TransportKind::Tcp {
            // Without it replies only come later.
            let _ = rustix::net::sockopt::set_tcp_nodelay(&socket, true);
        }
        let incoming = Incoming { socket, kind, peer };
        let thread = self.control.least_busy(self.number);
        if let Some(desk) = self.control.desks.get(thread) {
            desk.open.fetch_add(1, Ordering::Relaxed);
            if thread != self.number {
                desk.inbox().push(incoming);
                return desk.wake();
            }
        }
        self.adopt(incoming);
    }

    fn woken(&mut self) {
        let control = self.control.clone();
        let Some(desk) = control.desks.get(self.number) else {
            return;
        };
        desk.awake();
        let incoming = std::mem::take(&mut *desk.inbox());
        for connection in incoming {
            self.adopt(connection);
        }
    }

    // Time, health, and the end.

    fn on_time(&mut self, now: Instant) {
        let serving = self.host.shared.health.is_serving();
        if serving != std::mem::replace(&mut self.serving, serving) {
            self.all(|connection, buffers, host| connection.notify_health(now, buffers, host));
        }
        if self.draining.is_none() && self.control.order() == Order::Drain {
            self.start_drain(now);
        }
        if let Some((started, false)) = self.draining
            && now.saturating_duration_since(started) >= self.settings.drain_grace
        {
            self.draining = Some((started, true));
            self.all(|connection, buffers, host| connection.go_away_now(now, buffers, host));
        }
        if now >= self.next_tick {
            self.next_tick = now + self.settings.tick;
            self.tick(now);
        }
    }

    fn tick(&mut self, now: Instant) {
        self.host.service.tick(now);
        self.arm_listeners();
        for _ in 0..self.places.len().div_ceil(SWEEP_TICKS) {
            self.sweep = if self.sweep + 1 < self.places.len() {
                self.sweep + 1
            } else {
                0
            };
            self.check_time(self.sweep, now);
        }
    }

    fn check_time(&mut self, index: usize, now: Instant) {
        let Some(connection) = self
            .places
            .get_mut(index)
            .and_then(|place| place.connection.as_mut())
        else {
            return;
        };
        let shared = self.host.shared.clone();
        let alive = connection.check_time(&shared.limits, now, &mut self.buffers, &mut self.host);
        self.settle(index, alive);
    }

    fn all(&mut self, mut each: impl FnMut(&mut Connection, &mut Buffers, &mut Host<S>) -> Alive) {
        for index in 0..self.places.len() {
            if let Some(connection) = self
                .places
                .get_mut(index)
                .and_then(|place| place.connection.as_mut())
            {
                let alive = each(connection, &mut self.buffers, &mut self.host);
                self.settle(index, alive);
            }
        }
    }

    /// The socket files are gone by now, so what is connected to them waits here or was accepted.
    fn start_drain(&mut self, now: Instant) {
        self.draining = Some((now, false));
        for number in 0..self.listeners.len() {
            for _ in 0..LAST_TURNS_MAX {
                if !self.accept(number) {
                    break;
                }
            }
        }
        self.listeners.clear();
        self.control.accepting.fetch_sub(1, Ordering::AcqRel);
        self.control.wake_all();
        self.all(|connection, buffers, _| connection.go_away(now, buffers));
    }

    fn is_over(&mut self) -> bool {
        match self.control.order() {
            Order::Serve => false,
            Order::Stop => true,
            Order::Drain => {
                self.control
                    .deadline()
                    .is_some_and(|deadline| Instant::now() >= deadline)
                    || self.has_drained()
            }
        }
    }

    fn has_drained(&mut self) -> bool {
        self.draining.is_some()
            && self.open == 0
            && self.control.accepting.load(Ordering::Acquire) == 0
            && self
                .control
                .desks
                .get(self.number)
                .is_none_or(|desk| desk.inbox().is_empty())
    }

    fn finish(mut self) {
        let open = self
            .places
            .iter()
            .filter_map(|place| place.connection.as_ref());
        let cut: usize = open.map(|connection| connection.calls()).sum();
        self.control.cut.fetch_add(cut as u64, Ordering::AcqRel);
        for index in 0..self.places.len() {
            self.close(index);
        }
        self.host.service.tick(Instant::now());
    }
}

/// Whether an accept failed because of the one that connected, who is gone already; or else because of
/// us, which the next accept would meet again.
fn is_about_the_peer(error: Errno) -> bool {
    matches!(error, Errno::CONNABORTED | Errno::INTR | Errno::PROTO)
}

fn desk(control: &Control, number: usize) -> io::Result<&Desk> {
    control
        .desks
        .get(number)
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
}

/// An event's number for a connection: place and generation.
fn join(index: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | (index as u64 & u64::from(u32::MAX))
}

fn split(about: u64) -> (usize, u32) {
    let index = usize::try_from(about & u64::from(u32::MAX)).unwrap_or(usize::MAX);
    (index, u32::try_from(about >> 32).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that is taken for the peer's would be met again and again.
    #[test]
    fn errors_of_accept() {
        for (error, about_the_peer) in [
            (Errno::CONNABORTED, true),
            (Errno::INTR, true),
            (Errno::PROTO, true),
            (Errno::MFILE, false),
            (Errno::NFILE, false),
            (Errno::NOBUFS, false),
            (Errno::NOMEM, false),
            (Errno::INVAL, false),
            (Errno::BADF, false),
            (Errno::PERM, false),
        ] {
            assert_eq!(is_about_the_peer(error), about_the_peer, "{error}");
        }
    }
}
