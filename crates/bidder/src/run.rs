//! The service from start to end.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use engine::{MemoryBudgets, MemoryLimits};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use transport::{Address, Drained, ServeError, Server, ServerOptions};

use crate::admin::{self, Admin};
use crate::config::Config;
use crate::descriptors;
use crate::http::{HttpLimits, HttpServer};
use crate::keeper::Keeper;
use crate::metrics::Metrics;
use crate::notices;
use crate::response::BidTerms;
use crate::service::{BidderService, FORMAT_METADATA, SERVICE, Shared};
use crate::snapshot::{LoadError, Source};

/// Why the service did not start.
#[derive(Debug)]
pub enum RunError {
    /// Line items or rates.
    Load(LoadError),
    /// Bid requests cannot be answered.
    Serve(ServeError),
    /// An HTTP port cannot be listened on.
    Http {
        /// `admin` or `notices`.
        port: &'static str,
        /// Its address.
        listen: SocketAddr,
        /// Why not.
        error: std::io::Error,
    },
    /// Signals, threads or metrics cannot be set up.
    Setup {
        /// What cannot.
        what: &'static str,
        /// Why not.
        error: String,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Load(error) => error.fmt(f),
            RunError::Serve(error) => error.fmt(f),
            RunError::Http {
                port,
                listen,
                error,
            } => {
                write!(f, "{port} cannot listen on {listen}: {error}")
            }
            RunError::Setup { what, error } => write!(f, "cannot {what}: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

/// Serves until SIGTERM or SIGINT, then drains. SIGHUP reloads. A second SIGTERM or SIGINT ends the
/// process at once.
///
/// # Errors
/// What keeps the service from starting.
pub fn run(config: Config) -> Result<(), RunError> {
    let mut signals = listen_for_signals().map_err(setup("listen for signals"))?;
    let mut config = config;
    let http_connections_max = http_connections_max(&config);
    descriptors::make_room(&mut config, http_connections_max);
    let (shared, source) = load(&config)?;
    let admin = Arc::new(Admin::new(shared.clone()));
    let admin_port = start_admin(&config, &admin)?;
    let notice_port = start_notices(&config, &shared)?;
    let server = start_server(&config, &shared, &admin)?;
    let mut keeper = Keeper::start(shared.clone(), source)
        .map_err(setup("start the thread that reloads files"))?;
    let listen = server.local_addresses().to_vec();
    set(&admin, Some(server));
    admin.ready.store(true, Ordering::SeqCst);
    say_ready(&listen, admin_port.as_ref(), notice_port.as_ref());

    wait(&mut signals, &keeper);

    let until = Instant::now() + config.drain_max;
    admin.ready.store(false, Ordering::SeqCst);
    shared.draining.store(true, Ordering::SeqCst);
    if let Some(server) = set(&admin, None) {
        let Drained { finished, cut } = server.drain(config.drain_max);
        tracing::info!(finished, cut, "drained");
    }
    // All at once: what is left of the time is there for each of them.
    let ports = [notice_port, admin_port].into_iter().flatten();
    let ports: Vec<HttpServer> = ports.inspect(|port| port.stop(until)).collect();
    keeper.stop();
    ports.into_iter().for_each(|port| port.join(until));
    keeper.join(until);
    Ok(())
}

/// SIGTERM, SIGINT and SIGHUP come as data from here on. After the first of those that end the
/// process, a second ends it at once.
fn listen_for_signals() -> std::io::Result<Signals> {
    let signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let ending = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        // In this order: the first signal finds the flag down, and raises it.
        signal_hook::flag::register_conditional_shutdown(signal, 1, ending.clone())
            .and_then(|_| signal_hook::flag::register(signal, ending.clone()))?;
    }
    Ok(signals)
}

fn load(config: &Config) -> Result<(Arc<Shared>, Source), RunError> {
    let us = |s: u32| i64::from(s) * 1_000_000;
    let budgets = MemoryBudgets::new(MemoryLimits {
        exp_us: us(config.exp_s),
        grace_us: us(config.grace_s),
        ..MemoryLimits::default()
    });
    let source = Source {
        line_items: config.line_items.clone(),
        rates: config.rates.clone(),
        base: config.base,
        budgets: budgets.clone(),
    };
    let state = source.load(None).map_err(RunError::Load)?;
    let metrics = Metrics::new().map_err(setup("set metrics up"))?;
    metrics.loaded(&state);
    let shared = Shared {
        current: Arc::new(ArcSwap::from_pointee(state)),
        budgets,
        terms: BidTerms {
            base: config.base,
            exp_s: config.exp_s,
            notice_url: config.notices.as_ref().map(|notices| notices.url.clone()),
        },
        deadline: config.deadline,
        overload: config.overload,
        limits: config.limits,
        validate: config.validate,
        metrics,
        draining: AtomicBool::new(false),
    };
    Ok((Arc::new(shared), source))
}

const ADMIN_LIMITS: HttpLimits = HttpLimits {
    connections_max: 256,
    head_time_max: Duration::from_secs(2),
    connection_time_max: Duration::from_secs(120),
    head_bytes_max: 16 << 10,
};

const NOTICE_LIMITS: HttpLimits = HttpLimits {
    connections_max: 1024,
    head_time_max: Duration::from_secs(10),
    connection_time_max: Duration::from_secs(600),
    head_bytes_max: 16 << 10,
};

/// Descriptors that the HTTP ports may need.
fn http_connections_max(config: &Config) -> usize {
    let admin = config.admin.map_or(0, |_| ADMIN_LIMITS.connections_max);
    let notices = config.notices.as_ref();
    admin + notices.map_or(0, |_| NOTICE_LIMITS.connections_max)
}

fn start_admin(config: &Config, admin: &Arc<Admin>) -> Result<Option<HttpServer>, RunError> {
    let Some(listen) = config.admin else {
        return Ok(None);
    };
    start_http("admin", listen, admin::router(admin.clone()), ADMIN_LIMITS)
}

fn start_notices(config: &Config, shared: &Arc<Shared>) -> Result<Option<HttpServer>, RunError> {
    let Some(notices) = &config.notices else {
        return Ok(None);
    };
    let app = notices::router(shared.clone());
    start_http("notices", notices.listen, app, NOTICE_LIMITS)
}

fn start_http(
    port: &'static str,
    listen: SocketAddr,
    app: axum::Router,
    limits: HttpLimits,
) -> Result<Option<HttpServer>, RunError> {
    let started = HttpServer::start(port, listen, app, limits);
    started.map(Some).map_err(|error| RunError::Http {
        port,
        listen,
        error,
    })
}

fn start_server(
    config: &Config,
    shared: &Arc<Shared>,
    admin: &Arc<Admin>,
) -> Result<Server, RunError> {
    let options = ServerOptions {
        keep_metadata: vec![FORMAT_METADATA],
        health: vec![SERVICE.to_owned()],
        reflection: Some(DESCRIPTORS.to_vec()),
        ..config.server.clone()
    };
    let (shared, admin) = (shared.clone(), admin.clone());
    let service = move |_| BidderService::new(shared.clone(), admin.heartbeat());
    transport::serve(&config.listen, options, service).map_err(RunError::Serve)
}

/// `schema/bidder.proto` and what it imports, for reflection.
const DESCRIPTORS: &[u8] = include_bytes!("../../../schema/bidder.binpb");

fn say_ready(listen: &[Address], admin: Option<&HttpServer>, notices: Option<&HttpServer>) {
    let listen: Vec<String> = listen.iter().map(ToString::to_string).collect();
    let address = |port: Option<&HttpServer>| port.map(|port| port.address.to_string());
    tracing::info!(
        listen = listen.join(","),
        admin = address(admin),
        notices = address(notices),
        version = env!("CARGO_PKG_VERSION"),
        "ready"
    );
}

/// Puts a server in its place, and gives what was there.
fn set(admin: &Admin, server: Option<Server>) -> Option<Server> {
    let mut place = admin.server.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *place, server)
}

/// Reloads at SIGHUP; returns at SIGTERM or SIGINT.
fn wait(signals: &mut Signals, keeper: &Keeper) {
    for signal in signals.forever() {
        if signal != SIGHUP {
            tracing::info!(signal, "stopping");
            return;
        }
        keeper.reload();
    }
}

fn setup<E: fmt::Display>(what: &'static str) -> impl Fn(E) -> RunError {
    move |error| RunError::Setup {
        what,
        error: error.to_string(),
    }
}
