//! A small HTTP/1.1 server for the admin port and the notices, on one thread of its own.
//!
//! It is not on the request's path, but anybody may connect to it, so it is bounded in
//! connections, in the length of a head, and in the time that a head and a connection may take. One
//! connection more takes the place of the one that has been idle longest, so that nobody keeps others
//! out by holding connections, whether silent or kept alive.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{sleep, timeout};

/// What a peer may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpLimits {
    /// Open connections; one more takes the place of the one that has been idle longest.
    pub connections_max: usize,
    /// From a connection's or request's begin to the end of its head.
    pub head_time_max: Duration,
    /// After this a connection is closed behind its request.
    pub connection_time_max: Duration,
    /// Length of a head in bytes.
    pub head_bytes_max: usize,
}

/// A request that has begun may take this long after its connection was told to close.
const CLOSING_TIME_MAX: Duration = Duration::from_secs(5);

/// What it takes a thread to end after that.
const ENDING_TIME_MAX: Duration = Duration::from_millis(200);

/// Pause after the system refuses to accept, for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Until when what has begun may end, once the server is to stop.
type Stop = Option<Instant>;

/// A server that runs until it is stopped or dropped.
pub(crate) struct HttpServer {
    /// Where it listens, with the real port where 0 was asked.
    pub address: SocketAddr,
    stop: watch::Sender<Stop>,
    thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    /// Listens, and serves `app` on a thread called `name`.
    ///
    /// # Errors
    /// The address cannot be listened on, or the system gives no thread or timer.
    pub fn start(
        name: &str,
        listen: SocketAddr,
        app: Router,
        limits: HttpLimits,
    ) -> std::io::Result<HttpServer> {
        let listener = TcpListener::bind(listen)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let listener = {
            let _entered = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let (stop, stopped) = watch::channel(None);
        let run = move || runtime.block_on(accept(listener, app, limits, stopped));
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(run)?;
        Ok(HttpServer {
            address,
            stop,
            thread: Some(thread),
        })
    }

    /// Tells it to stop: it accepts nothing more, and what has begun may take until then.
    pub fn stop(&self, until: Instant) {
        self.stop.send_replace(Some(until));
    }

    /// Waits for the end, once it was told to stop.
    pub fn join(mut self, until: Instant) {
        if let Some(thread) = self.thread.take() {
            join_until(thread, until);
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop(Instant::now());
            // It panics nowhere; if it did, there is nothing left to do for it.
            let _ = thread.join();
        }
    }
}

/// Waits for a thread that was told to end, but not beyond a time: the process ends it then.
pub(crate) fn join_until(thread: JoinHandle<()>, until: Instant) {
    const PAUSE: Duration = Duration::from_millis(2);
    while !thread.is_finished() {
        if Instant::now() >= until + ENDING_TIME_MAX {
            return;
        }
        std::thread::sleep(PAUSE);
    }
    // It panics nowhere; if it did, there is nothing left to do for it.
    let _ = thread.join();
}

/// Connections by their tasks.
#[derive(Default)]
struct Open {
    tasks: JoinSet<()>,
    by_task: HashMap<Id, (AbortHandle, Arc<LastUsed>)>,
    /// Grows with everything that happens: what happened before has a lower number.
    clock: Arc<AtomicU64>,
}

/// When a connection was made or its last answer began, by [`Open::clock`].
#[derive(Default)]
struct LastUsed(AtomicU64);

impl LastUsed {
    fn now(&self, clock: &AtomicU64) {
        let now = clock.fetch_add(1, Ordering::Relaxed);
        self.0.store(now, Ordering::Relaxed);
    }
}

impl Open {
    /// Serves a connection, in the place of another if there is none left.
    fn add(
        &mut self,
        stream: TcpStream,
        app: &Router,
        limits: HttpLimits,
        stopped: &watch::Receiver<Stop>,
    ) {
        if self.by_task.len() >= limits.connections_max {
            self.drop_idlest();
        }
        let used = Arc::<LastUsed>::default();
        used.now(&self.clock);
        let service = TowerToHyperService::new(app.clone());
        let noting = (used.clone(), self.clock.clone());
        let service = service_fn(move |request| {
            let (used, clock) = &noting;
            used.now(clock);
            service.call(request)
        });
        let task = self
            .tasks
            .spawn(serve(stream, service, limits, stopped.clone()));
        self.by_task.insert(task.id(), (task, used));
    }

    fn drop_idlest(&mut self) {
        let last_used =
            |(_, (_, used)): &(&Id, &(AbortHandle, Arc<LastUsed>))| used.0.load(Ordering::Relaxed);
        let idlest = self.by_task.iter().min_by_key(last_used);
        if let Some(id) = idlest.map(|(id, _)| *id)
            && let Some((task, _)) = self.by_task.remove(&id)
        {
            task.abort();
        }
    }

    /// Waits for a connection to end; for ever if there is none.
    async fn ended(&mut self) {
        let id = match self.tasks.join_next_with_id().await {
            Some(Ok((id, ()))) => id,
            Some(Err(error)) => error.id(),
            None => return std::future::pending().await,
        };
        self.by_task.remove(&id);
    }

    /// Waits until all have ended.
    async fn all_ended(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

async fn accept(
    listener: tokio::net::TcpListener,
    app: Router,
    limits: HttpLimits,
    mut stopped: watch::Receiver<Stop>,
) {
    let mut open = Open::default();
    let until = loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => open.add(stream, &app, limits, &stopped),
                Err(_) => sleep(ACCEPT_PAUSE).await,
            },
            () = open.ended() => {}
            _ = stopped.changed() => break stop_time(&stopped),
        }
    };
    // Requests that have begun end, and no connection outlives this.
    let _ = timeout(until, open.all_ended()).await;
}

/// How long what has begun may still take.
fn stop_time(stopped: &watch::Receiver<Stop>) -> Duration {
    let left = |until: Instant| until.saturating_duration_since(Instant::now());
    stopped
        .borrow()
        .map_or(Duration::ZERO, left)
        .min(CLOSING_TIME_MAX)
}

/// One connection, from accept to its end. What goes wrong on it is its peer's affair.
async fn serve<S>(
    stream: TcpStream,
    service: S,
    limits: HttpLimits,
    mut stopped: watch::Receiver<Stop>,
) where
    S: Service<
            hyper::Request<hyper::body::Incoming>,
            Response = axum::response::Response,
            Error = std::convert::Infallible,
        >,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time_max)
        .max_buf_size(limits.head_bytes_max)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let closing_time = tokio::select! {
        _ = connection.as_mut() => return,
        () = sleep(limits.connection_time_max) => CLOSING_TIME_MAX,
        _ = stopped.changed() => stop_time(&stopped),
    };
    connection.as_mut().graceful_shutdown();
    let _ = timeout(closing_time, connection).await;
}
