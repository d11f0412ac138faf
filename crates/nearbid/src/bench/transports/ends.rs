//! The two ends of a measured call, each a process: what the bench starts in its pods.
//!
//! Both say a line when they are ready. The exchange's end then waits for a line, makes its calls and
//! answers with a line of JSON. Both end when their standard input does, so none outlives the bench.

use std::io::{BufRead as _, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use bidder::service::BID_PATH;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use transport::{Address, Client, ClientOptions, Code, ServerOptions, StartError};

use super::plan::{Load, Stack};
use super::work::{Handler, SUBTYPE, fixed_no};
use crate::output;

/// Latencies are kept from 1 ns to this.
const LATENCY_NS_MAX: u64 = 60_000_000_000;
/// For all calls of a run.
const RUN_MAX: Duration = Duration::from_secs(120);
/// Longest wait for a reply before it is seen that the run takes too long.
const WAIT_MAX: Duration = Duration::from_millis(100);
/// One request file.
const REQUESTS_BYTES_MAX: usize = 256 << 20;
/// One message on a bare socket.
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// What both ends take.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[arg(long, value_enum)]
    stack: Stack,
    #[arg(long, value_enum)]
    load: Load,
    #[arg(long)]
    address: Address,
    /// Line items to decide with
    #[arg(long)]
    line_items: PathBuf,
    /// Requests, each behind its length
    #[arg(long)]
    requests: PathBuf,
    #[arg(long)]
    calls: u64,
}

/// What the exchange's end measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    pub p50_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub per_s: f64,
    pub errors: u64,
}

/// The bidder's end.
///
/// # Errors
/// It cannot listen.
pub fn bidder(args: &Args) -> anyhow::Result<ExitCode> {
    let handler = || Handler::new(args.load.work(), &args.line_items);
    // What is wrong with the line items is said here, not on a thread.
    drop(handler()?);
    match args.stack {
        Stack::Nearbid => {
            let options = ServerOptions {
                threads: 1,
                ..ServerOptions::default()
            };
            let (work, items) = (args.load.work(), args.line_items.clone());
            let factory = move |_| match Handler::new(work, &items) {
                Ok(handler) => handler,
                Err(error) => {
                    output::tell(&format!("{error:#}"));
                    std::process::exit(1)
                }
            };
            let listen = [args.address.clone()];
            let _server = transport::serve(&listen, options, factory)?;
            ready()?;
            until_end();
        }
        Stack::Tonic => tonic::serve(args)?,
        Stack::Bare => bare_bidder(args)?,
        Stack::GrpcGo => bail!("grpc-go is in peers/go"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The exchange's end.
///
/// # Errors
/// It cannot connect, or the calls take too long.
pub fn exchange(args: &Args) -> anyhow::Result<ExitCode> {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let pool = read_requests(&args.requests)?;
    match args.stack {
        Stack::Nearbid => ours(args, &pool)?,
        Stack::Tonic => tonic::call(args, &pool)?,
        Stack::Bare => bare_exchange(args, &pool)?,
        Stack::GrpcGo => bail!("grpc-go is in peers/go"),
    }
    until_end();
    Ok(ExitCode::SUCCESS)
}

fn ready() -> anyhow::Result<()> {
    output::say("ready")?;
    Ok(std::io::stdout().flush()?)
}

/// Waits until standard input ends.
fn until_end() {
    let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
}

/// Says that all is ready, and waits to be told to begin.
fn begin() -> anyhow::Result<()> {
    ready()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    ensure!(!line.is_empty(), "the bench is gone");
    Ok(())
}

fn read_requests(path: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let all = std::fs::read(path).with_context(|| format!("{}", path.display()))?;
    ensure!(
        all.len() <= REQUESTS_BYTES_MAX,
        "{}: too big",
        path.display()
    );
    let (mut pool, mut rest) = (Vec::new(), all.as_slice());
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        let (message, tail) = tail
            .split_at_checked(length)
            .context("a request is cut off")?;
        pool.push(message.to_vec());
        rest = tail;
    }
    ensure!(!pool.is_empty(), "{}: no request", path.display());
    Ok(pool)
}

fn message(pool: &[Vec<u8>], number: u64) -> &[u8] {
    let at = number as usize % pool.len().max(1);
    pool.get(at).map_or(&[], Vec::as_slice)
}

/// What comes of the calls.
struct Results {
    latency_ns: Histogram<u64>,
    errors: u64,
    start: Instant,
}

impl Results {
    fn new() -> anyhow::Result<Results> {
        Ok(Results {
            latency_ns: Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3)?,
            errors: 0,
            start: Instant::now(),
        })
    }

    fn add(&mut self, latency: Duration, answered: bool) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.latency_ns.saturating_record(nanos.max(1));
        self.errors += u64::from(!answered);
    }

    fn say(&self) -> anyhow::Result<()> {
        let elapsed = self.start.elapsed().as_secs_f64().max(1e-9);
        let us = |quantile| self.latency_ns.value_at_quantile(quantile) as f64 / 1e3;
        let measured = Measured {
            p50_us: us(0.5),
            p99_us: us(0.99),
            p999_us: us(0.999),
            per_s: (self.latency_ns.len() - self.errors) as f64 / elapsed,
            errors: self.errors,
        };
        output::say(&serde_json::to_string(&measured)?)?;
        Ok(std::io::stdout().flush()?)
    }
}

/// Calls before those that count: a tenth, without their own times.
pub fn warm_calls(calls: u64) -> u64 {
    calls / 10 + 1
}

fn ours(args: &Args, pool: &[Vec<u8>]) -> anyhow::Result<()> {
    let options = ClientOptions {
        connections: args.load.connections(),
        in_flight_max: args.load.in_flight(),
        ..ClientOptions::default()
    };
    let mut client = Client::connect(&args.address, options)
        .with_context(|| format!("cannot connect to {}", args.address))?;
    let warm = warm_calls(args.calls);
    call_ours(
        &mut client,
        pool,
        0..warm,
        None,
        args.load.in_flight().min(64),
    )?;
    begin()?;
    let calls = warm..warm + args.calls;
    call_ours(
        &mut client,
        pool,
        calls,
        args.load.due(),
        args.load.in_flight(),
    )?
    .say()
}

/// Makes calls by number, as the client counts them.
fn call_ours(
    client: &mut Client,
    pool: &[Vec<u8>],
    calls: std::ops::Range<u64>,
    due: Option<fn(u64) -> Duration>,
    in_flight_max: usize,
) -> anyhow::Result<Results> {
    let (first, total) = (calls.start, calls.end - calls.start);
    let mut results = Results::new()?;
    let start = results.start;
    let mut left_at = vec![start; usize::try_from(total)?];
    let (mut sent, mut answered) = (0, 0);
    while answered < total {
        ensure!(start.elapsed() < RUN_MAX, "the calls take over {RUN_MAX:?}");
        let mut wait = WAIT_MAX;
        while sent < total && client.in_flight() < in_flight_max {
            let now = Instant::now();
            let at = due.map_or(now, |due| start + due(sent));
            if at > now {
                wait = at - now;
                break;
            }
            match client.start(BID_PATH, SUBTYPE, &[], message(pool, first + sent), None) {
                Ok(_) => {}
                Err(StartError::Full) => break,
                Err(error) => return Err(error).context("a call"),
            }
            if let Some(left) = left_at.get_mut(sent as usize) {
                *left = at;
            }
            sent += 1;
        }
        client.poll(wait, |finished| {
            let number = finished.id.number().wrapping_sub(first) as usize;
            let left = left_at.get(number).copied().unwrap_or(start);
            let answered_well = finished.status.code == Code::Ok && !finished.message.is_empty();
            results.add(left.elapsed(), answered_well);
            answered += 1;
        })?;
    }
    Ok(results)
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

fn bare_bidder(args: &Args) -> anyhow::Result<()> {
    let mut stream: Box<dyn Stream> = match &args.address {
        Address::Unix(path) => {
            let listener = UnixListener::bind(path)?;
            ready()?;
            Box::new(listener.accept()?.0)
        }
        Address::Tcp(host) => {
            let listener = TcpListener::bind(host)?;
            ready()?;
            let (stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
    };
    let (no, mut buffer) = (framed(&fixed_no()), Vec::new());
    while receive(&mut stream, &mut buffer)? {
        stream.write_all(&no)?;
    }
    // What it cost is still to be looked up.
    until_end();
    Ok(())
}

fn bare_exchange(args: &Args, pool: &[Vec<u8>]) -> anyhow::Result<()> {
    let mut stream: Box<dyn Stream> = match &args.address {
        Address::Unix(path) => Box::new(UnixStream::connect(path)?),
        Address::Tcp(host) => {
            let stream = TcpStream::connect(host)?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
    };
    let pool: Vec<_> = pool.iter().map(|request| framed(request)).collect();
    let mut buffer = Vec::new();
    let mut round = |calls| -> anyhow::Result<Results> {
        let mut results = Results::new()?;
        for number in 0..calls {
            let at = Instant::now();
            stream.write_all(message(&pool, number))?;
            ensure!(receive(&mut stream, &mut buffer)?, "the bidder is gone");
            results.add(at.elapsed(), !buffer.is_empty());
        }
        Ok(results)
    };
    round(warm_calls(args.calls))?;
    begin()?;
    round(args.calls)?.say()
}

fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes(), message].concat()
}

/// Receives one message with its length before it, usually with one read; false at the end. The peer
/// has one in flight, so nothing of another lies behind it.
fn receive(stream: &mut impl Read, buffer: &mut Vec<u8>) -> anyhow::Result<bool> {
    buffer.resize(64 << 10, 0);
    let mut held = 0;
    loop {
        let space = buffer.get_mut(held..).unwrap_or_default();
        match stream.read(space)? {
            0 => return Ok(false),
            count => held += count,
        }
        let Some(length) = buffer.first_chunk::<4>().filter(|_| held >= 4) else {
            continue;
        };
        let whole = u32::from_le_bytes(*length) as usize + 4;
        ensure!(whole <= MESSAGE_BYTES_MAX, "a message of {whole} bytes");
        if held >= whole {
            return Ok(true);
        }
        buffer.resize(whole.max(buffer.len()), 0);
    }
}

#[cfg(feature = "peers")]
mod tonic {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    use peers::call;
    use transport::{Call, ReplyBuffer, Service as _};

    thread_local! {
        static HANDLER: RefCell<Option<(Handler, ReplyBuffer)>> = const { RefCell::new(None) };
    }

    /// tonic's thread is this one.
    pub fn serve(args: &Args) -> anyhow::Result<()> {
        let handler = Handler::new(args.load.work(), &args.line_items)?;
        HANDLER.set(Some((handler, ReplyBuffer::default())));
        std::thread::spawn(|| {
            until_end();
            std::process::exit(0);
        });
        let listening = || {
            let _ = ready();
        };
        call::serve(&args.address.to_string(), answer, listening)
            .map_err(|error| anyhow::anyhow!("{error}"))
    }

    fn answer(message: &[u8], out: &mut Vec<u8>) {
        HANDLER.with_borrow_mut(|handler| {
            let Some((handler, buffer)) = handler else {
                return;
            };
            let mut call = Call::local(0, message, Instant::now());
            call.subtype = SUBTYPE;
            if handler.call(&call, &mut buffer.reply()).is_ok() {
                out.extend_from_slice(buffer.message().unwrap_or_default());
            }
        });
    }

    pub fn call(args: &Args, pool: &[Vec<u8>]) -> anyhow::Result<()> {
        let fault = |error: Box<dyn std::error::Error + Send + Sync>| anyhow::anyhow!("{error}");
        let load = args.load;
        let client =
            call::Client::connect(&args.address.to_string(), load.connections()).map_err(fault)?;
        let pool = pool.iter().map(|request| request.clone().into()).collect();
        let mut calls = call::Calls {
            pool,
            calls: warm_calls(args.calls),
            connections: load.connections(),
            in_flight: load.in_flight().min(64),
        };
        client.run(&calls, None, |_, _| {}).map_err(fault)?;
        begin()?;
        calls.calls = args.calls;
        let results = Rc::new(RefCell::new(Results::new()?));
        let each = results.clone();
        let add = move |latency, reply: Option<&[u8]>| {
            let answered = reply.is_some_and(|reply| !reply.is_empty());
            each.borrow_mut().add(latency, answered);
        };
        client.run(&calls, load.due(), add).map_err(fault)?;
        results.borrow().say()
    }
}

#[cfg(not(feature = "peers"))]
mod tonic {
    use super::*;

    pub fn serve(_: &Args) -> anyhow::Result<()> {
        bail!("built without the feature `peers`")
    }

    pub fn call(_: &Args, _: &[Vec<u8>]) -> anyhow::Result<()> {
        bail!("built without the feature `peers`")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_message_on_a_bare_socket_comes_in_any_pieces() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let sent = vec![7_u8; 100_000];
        let all = framed(&sent);
        let writer = std::thread::spawn(move || {
            for piece in all.chunks(33_333) {
                there.write_all(piece).unwrap();
            }
        });
        let mut buffer = Vec::new();
        assert!(receive(&mut here, &mut buffer).unwrap());
        assert_eq!(buffer.get(4..100_004).unwrap(), sent);
        writer.join().unwrap();
        assert!(!receive(&mut here, &mut buffer).unwrap());
    }

    #[test]
    fn a_message_too_big_is_refused() {
        let mut input: &[u8] = &u32::MAX.to_le_bytes();
        assert!(receive(&mut input, &mut Vec::new()).is_err());
    }
}
