//! A small HTTP/1.1 server for the admin port and the notices, on one thread of its own.
//!
//! It is not on the request's path, but anybody may connect to it, so it is bounded in
//! connections, in the length of a head, and in the time that a head and a connection may take.

use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// What a peer may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpLimits {
    /// Open connections; more wait in the system's queue.
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

/// Pause after the system refuses to accept, for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A server that runs until it is stopped or dropped.
pub(crate) struct HttpServer {
    /// Where it listens, with the real port where 0 was asked.
    pub address: SocketAddr,
    stop: watch::Sender<bool>,
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
        let (stop, stopped) = watch::channel(false);
        let run = move || {
            runtime.block_on(async {
                match tokio::net::TcpListener::from_std(listener) {
                    Ok(listener) => accept(listener, app, limits, stopped).await,
                    Err(error) => tracing::error!(%error, "cannot listen"),
                }
            });
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(run)?;
        Ok(HttpServer {
            address,
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // It panics nowhere; if it did, there is nothing left to do for it.
            let _ = thread.join();
        }
    }
}

async fn accept(
    listener: tokio::net::TcpListener,
    app: Router,
    limits: HttpLimits,
    mut stopped: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(limits.connections_max));
    loop {
        let next = async {
            let place = room.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            _ = stopped.changed() => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = serve(stream, app.clone(), limits, stopped.clone());
                tokio::spawn(async move {
                    connection.await;
                    drop(place);
                });
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
    // Requests that have begun end, and no connection outlives this.
    let all = u32::try_from(limits.connections_max).unwrap_or(u32::MAX);
    let _ = timeout(CLOSING_TIME_MAX, room.acquire_many(all)).await;
}

/// One connection, from accept to its end. What goes wrong on it is its peer's affair.
async fn serve(
    stream: TcpStream,
    app: Router,
    limits: HttpLimits,
    mut stopped: watch::Receiver<bool>,
) {
    let service = TowerToHyperService::new(app);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time_max)
        .max_buf_size(limits.head_bytes_max)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = sleep(limits.connection_time_max) => {}
        _ = stopped.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(CLOSING_TIME_MAX, connection).await;
}
