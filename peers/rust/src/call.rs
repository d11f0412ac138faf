//! tonic's call, as its own documentation has it, on one thread: server and client over a Unix socket
//! or TCP. Messages are bytes already: what is compared is the call.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::{Buf as _, BufMut as _, Bytes};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpListener, UnixListener};
use tokio::task::LocalSet;
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::{NamedService, UnaryService};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};

/// What answers a message: writes the reply.
pub type Handler = fn(&[u8], &mut Vec<u8>);

type Fault = Box<dyn std::error::Error + Send + Sync>;

const PATH: &str = "/nearbid.v1.Bidder/Bid";

/// Passes bytes on.
#[derive(Clone, Copy, Debug)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

#[derive(Clone)]
struct Bidder(Handler);

impl NamedService for Bidder {
    const NAME: &'static str = "nearbid.v1.Bidder";
}

impl tower_service::Service<http::Request<Body>> for Bidder {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let answer = Answer(self.0);
        Box::pin(async move { Ok(tonic::server::Grpc::new(Raw).unary(answer, request).await) })
    }
}

struct Answer(Handler);

impl UnaryService<Bytes> for Answer {
    type Response = Bytes;
    type Future = Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let mut reply = Vec::new();
        (self.0)(request.get_ref(), &mut reply);
        ready(Ok(Response::new(reply.into())))
    }
}

/// Serves on this thread until the process ends. `target` is `unix:///path` or `tcp://host:port`;
/// `ready` is called once it listens.
///
/// # Errors
/// It cannot listen.
pub fn serve(target: &str, handler: Handler, ready: impl FnOnce()) -> Result<(), Fault> {
    runtime()?.block_on(async {
        let server = Server::builder().add_service(Bidder(handler));
        if let Some(path) = target.strip_prefix("unix://") {
            let listener = UnixListener::bind(path)?;
            ready();
            server
                .serve_with_incoming(UnixListenerStream::new(listener))
                .await?;
        } else {
            let host = target.trim_start_matches("tcp://");
            let listener = TcpListener::bind(host).await?;
            ready();
            server
                .serve_with_incoming(TcpListenerStream::new(listener))
                .await?;
        }
        Ok(())
    })
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// Calls to make.
#[derive(Clone, Debug)]
pub struct Calls {
    /// The messages, taken round and round.
    pub pool: Vec<Bytes>,
    /// How many calls.
    pub calls: u64,
    /// Over how many connections.
    pub connections: usize,
    /// Calls in flight where they have no times of their own.
    pub in_flight: usize,
}

/// The client, connected.
pub struct Client {
    runtime: tokio::runtime::Runtime,
    channels: Vec<Channel>,
}

/// What is told of each call: its latency, and the reply where there was one.
type Each = Rc<RefCell<dyn FnMut(Duration, Option<&[u8]>)>>;

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn connect(target: &str, connections: usize) -> Result<Client, Fault> {
        let runtime = runtime()?;
        let target = target.replace("tcp://", "http://");
        let mut channels = Vec::new();
        for _ in 0..connections.max(1) {
            let endpoint = Endpoint::from_shared(target.clone())?;
            channels.push(runtime.block_on(endpoint.connect())?);
        }
        Ok(Client { runtime, channels })
    }

    /// Makes the calls: each at its time after the start, which `due` knows, or where that is `None`
    /// so many at once as may be in flight.
    ///
    /// # Errors
    /// There is no timer.
    pub fn run(
        &self,
        calls: &Calls,
        due: Option<fn(u64) -> Duration>,
        each: impl FnMut(Duration, Option<&[u8]>) + 'static,
    ) -> Result<(), Fault> {
        let each: Each = Rc::new(RefCell::new(each));
        let local = LocalSet::new();
        match due {
            None => local.block_on(&self.runtime, self.closed(calls, &each)),
            Some(due) => local.block_on(&self.runtime, self.open(calls, due, &each))?,
        }
        Ok(())
    }

    async fn closed(&self, calls: &Calls, each: &Each) {
        let next = Rc::new(Cell::new(0));
        let pool = Rc::new(calls.pool.clone());
        let workers = self
            .channels
            .iter()
            .cycle()
            .take(calls.in_flight.max(1))
            .map(|channel| {
                let (channel, each, next) = (channel.clone(), each.clone(), next.clone());
                let (pool, calls) = (pool.clone(), calls.calls);
                tokio::task::spawn_local(async move {
                    let mut grpc = tonic::client::Grpc::new(channel);
                    while next.get() < calls {
                        let number = next.replace(next.get() + 1);
                        call(&mut grpc, message(&pool, number), Instant::now(), &each).await;
                    }
                })
            });
        for worker in workers.collect::<Vec<_>>() {
            let _ = worker.await;
        }
    }

    async fn open(&self, calls: &Calls, due: fn(u64) -> Duration, each: &Each) -> io::Result<()> {
        let timer = Timer::new()?;
        let start = Instant::now();
        let mut running = Vec::new();
        for (number, channel) in (0..calls.calls).zip(self.channels.iter().cycle()) {
            let at = start + due(number);
            timer.until(at).await?;
            let (message, each) = (message(&calls.pool, number), each.clone());
            let mut grpc = tonic::client::Grpc::new(channel.clone());
            running.push(tokio::task::spawn_local(async move {
                call(&mut grpc, message, at, &each).await;
            }));
        }
        for one in running {
            let _ = one.await;
        }
        Ok(())
    }
}

fn message(pool: &[Bytes], number: u64) -> Bytes {
    let at = number as usize % pool.len().max(1);
    pool.get(at).cloned().unwrap_or_default()
}

async fn call(grpc: &mut tonic::client::Grpc<Channel>, message: Bytes, at: Instant, each: &Each) {
    let path = http::uri::PathAndQuery::from_static(PATH);
    let reply = match grpc.ready().await {
        Ok(()) => grpc.unary(Request::new(message), path, Raw).await.ok(),
        Err(_) => None,
    };
    let reply = reply.as_ref().map(|reply| reply.get_ref().as_ref());
    (each.borrow_mut())(at.elapsed(), reply);
}

/// tokio's own timers are of 1 ms.
struct Timer(AsyncFd<OwnedFd>);

impl Timer {
    fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        #[allow(
            deprecated,
            reason = "what is to replace it is unsafe, and an OwnedFd is what it asks for"
        )]
        Ok(Timer(AsyncFd::new(timer)?))
    }

    async fn until(&self, at: Instant) -> io::Result<()> {
        let wait = at.saturating_duration_since(Instant::now());
        if wait.is_zero() {
            return Ok(());
        }
        let none = Timespec::default();
        let once = Itimerspec {
            it_interval: none,
            it_value: Timespec::try_from(wait).unwrap_or(none),
        };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once)?;
        let mut ready = self.0.readable().await?;
        let _ = rustix::io::read(&self.0, &mut [0_u8; 8]);
        ready.clear_ready();
        Ok(())
    }
}
