//! The exchange's side of a run: sends bid requests at a fixed rate and says how they were answered.
//!
//! Open loop ([`pace`]): requests leave at their times whatever the replies do, and a latency counts
//! from the time a request should have left. Two threads: one calls ([`drive`]), one counts what
//! came ([`tally`]).

mod answer;
mod drive;
mod pace;
mod pool;
mod tally;
pub mod usage;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use transport::{Address, Client, ClientOptions, Code};
use wire::message::BidResponse;
use wire::{Format, Limits};

use crate::decide::parse_format;
use crate::output;
use crate::progress::Progress;
use answer::{Answer, BAD_REPLY};
use drive::{Batch, Measured, Plan};
use pace::Pace;
use pool::Pool;
use tally::{Counts, Tally};

/// Stands among the status codes for requests that never left.
const NOT_SENT: &str = "NOT_SENT";
/// Batches that may wait to be counted before the calling thread waits for it.
const BATCHES_MAX: usize = 64;

/// What the subcommand takes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the bidder listens: `unix:///path` or `tcp://host:port`
    #[arg(long, value_name = "ADDR")]
    target: Address,
    /// Wire format: json, protobuf or flatbuffers
    #[arg(long, default_value = "flatbuffers", value_parser = parse_format)]
    format: Format,
    /// Requests a second, sent at even distances whatever the replies do
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    rate: u32,
    /// How many requests to generate and send, or a file with one JSON request a line, sent once
    #[arg(long, value_name = "FILE|N", default_value = "20000")]
    requests: Requests,
    /// Run for this many seconds instead, taking the requests round and round
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    duration: Option<u64>,
    /// Connections
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    connections: u16,
    /// Calls in flight, all connections together; what is due beyond that waits, and its latency counts
    #[arg(long, value_name = "CALLS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    in_flight_max: u32,
    /// Give a call up after this many milliseconds, and the run after as long without a connection
    #[arg(long, value_name = "MS", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    timeout_ms: u64,
    /// Which traffic to generate
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write every decision to this file, one JSON object a line, in the order of the requests
    #[arg(long, value_name = "FILE")]
    decisions: Option<PathBuf>,
    /// Print the outcome as one JSON object
    #[arg(long)]
    json: bool,
}

/// Where requests come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requests {
    Generated(u64),
    File(PathBuf),
}

impl std::str::FromStr for Requests {
    type Err = String;

    fn from_str(text: &str) -> Result<Requests, String> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Requests::File(text.into()));
        }
        match text.parse() {
            Ok(0) | Err(_) => Err(format!("{text} is not a number from 1 to {}", u64::MAX)),
            Ok(count) => Ok(Requests::Generated(count)),
        }
    }
}

/// What a run came to, as `--json` prints it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// `tcp` or `unix`.
    pub transport: String,
    /// Name of the wire format.
    pub format: String,
    /// Requests that were to be sent.
    pub requests: u64,
    /// Requests that got no answer.
    pub errors: u64,
    /// The same by gRPC status code; `BAD_REPLY`: the reply was no answer; `NOT_SENT`: the bidder went
    /// away and stayed away.
    pub errors_by_code: BTreeMap<String, u64>,
    /// Requests that got at least one bid.
    pub bids: u64,
    /// Requests that got none, by reason.
    pub no_bids: BTreeMap<String, u64>,
    /// Requests a second that were asked for.
    pub rate: u32,
    /// Requests a second that were answered.
    pub achieved: f64,
    /// Latency from the time a request was due, in µs.
    pub p50_us: f64,
    /// 99 of 100 were faster.
    pub p99_us: f64,
    /// 999 of 1,000 were faster.
    pub p999_us: f64,
    /// The slowest.
    pub max_us: f64,
    /// Points of the percentile curve: percentile, latency in µs.
    pub latency_us: Vec<(f64, f64)>,
    /// CPU time a request of the thread that calls, user and system, in µs.
    pub cpu_us: f64,
    /// The most memory this process has had, in MiB.
    pub peak_mib: f64,
    /// SHA-256 of the decisions, one JSON object a line as `--decisions` writes them.
    pub decisions_sha256: String,
}

/// Runs the subcommand.
///
/// # Errors
/// The bidder cannot be reached, or the requests cannot be read.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let outcome = outcome(&args)?;
    if let Some(unsent) = outcome.errors_by_code.get(NOT_SENT) {
        let ms = args.timeout_ms;
        output::tell(&format!(
            "no connection for {ms} ms: {unsent} requests were not sent"
        ));
    }
    if args.json {
        output::say(&serde_json::to_string(&outcome)?)?;
    } else {
        output::say(&text(&outcome))?;
    }
    Ok(if outcome.errors == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn outcome(args: &Args) -> anyhow::Result<Outcome> {
    let pool = match &args.requests {
        Requests::Generated(count) => Pool::generated(*count, args.seed, args.format),
        Requests::File(path) => Pool::read(path, args.format)?,
    };
    let pace = Pace::new(args.rate);
    let requests = match (args.duration, &args.requests) {
        (Some(seconds), _) => pace.within(Duration::from_secs(seconds)),
        (None, Requests::Generated(count)) => *count,
        (None, Requests::File(_)) => pool.len(),
    };
    let timeout = Duration::from_millis(args.timeout_ms);
    let plan = Plan {
        pool: &pool,
        format: args.format,
        pace,
        requests,
        timeout,
    };
    let (measured, counts, digest) = call(args, &plan)?;
    summary(args, requests, &measured, counts, digest)
}

/// Connects, then calls on this thread and counts on another.
fn call(args: &Args, plan: &Plan<'_>) -> anyhow::Result<(Measured, Counts, String)> {
    let mut client = connect(args)?;
    let decisions = args.decisions.as_ref().map(|path| {
        File::create(path)
            .map(BufWriter::new)
            .with_context(|| format!("{}", path.display()))
    });
    let tally = Tally::new(decisions.transpose()?);
    let name = format!("{} {}", args.target.kind(), plan.format);
    let progress = Progress::new(name, plan.requests);
    let (sender, batches) = sync_channel(BATCHES_MAX);
    thread::scope(|scope| {
        let counting = scope.spawn(|| count(tally, plan.format, batches, progress));
        let measured = drive::drive(plan, &mut client, &sender);
        drop(sender);
        let counted = counting
            .join()
            .map_err(|_| anyhow!("the counting thread ended"))?;
        let (counts, digest) = counted.context("the decisions cannot be written")?;
        Ok((measured?, counts, digest))
    })
}

fn connect(args: &Args) -> anyhow::Result<Client> {
    let options = ClientOptions {
        connections: usize::from(args.connections),
        in_flight_max: args.in_flight_max as usize,
        ..ClientOptions::default()
    };
    Client::connect(&args.target, options).with_context(|| {
        let target = &args.target;
        format!("cannot connect to {target}; a bidder has to run there (`nearbid bidder --listen {target}`)")
    })
}

fn count<W: std::io::Write>(
    mut tally: Tally<W>,
    format: Format,
    batches: Receiver<Batch>,
    progress: Progress,
) -> std::io::Result<(Counts, String)> {
    for batch in batches {
        for (index, code, message) in batch.replies() {
            tally.add(index, &answer(format, code, message))?;
        }
        progress.at(tally.answered());
    }
    progress.done();
    tally.finish()
}

fn answer(format: Format, code: Code, message: &[u8]) -> Answer {
    if code != Code::Ok {
        return Answer::Error {
            error: code.name().to_owned(),
        };
    }
    match wire::decode::<BidResponse>(format, message, &Limits::default()) {
        Ok(response) => Answer::of(response),
        Err(_) => Answer::Error {
            error: BAD_REPLY.to_owned(),
        },
    }
}

fn summary(
    args: &Args,
    requests: u64,
    measured: &Measured,
    mut counts: Counts,
    digest: String,
) -> anyhow::Result<Outcome> {
    if measured.unsent > 0 {
        counts.errors.insert(NOT_SENT.to_owned(), measured.unsent);
    }
    let latency = &measured.latency_ns;
    let us = |quantile: f64| tenth(latency.value_at_quantile(quantile) as f64 / 1e3);
    Ok(Outcome {
        transport: args.target.kind().name().to_owned(),
        format: args.format.name().to_owned(),
        requests,
        errors: counts.errors.values().sum(),
        errors_by_code: counts.errors,
        bids: counts.bids,
        no_bids: counts.no_bids,
        rate: args.rate,
        achieved: tenth(
            (requests - measured.unsent) as f64 / measured.elapsed.as_secs_f64().max(1e-9),
        ),
        p50_us: us(0.5),
        p99_us: us(0.99),
        p999_us: us(0.999),
        max_us: tenth(latency.max() as f64 / 1e3),
        latency_us: curve(latency),
        cpu_us: hundredth(measured.cpu.as_secs_f64() * 1e6 / requests.max(1) as f64),
        peak_mib: mib(usage::peak_memory_bytes(None)?),
        decisions_sha256: digest,
    })
}

/// `value` to one decimal.
pub fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// `value` to two decimals.
pub fn hundredth(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Bytes as MiB, to one decimal.
pub fn mib(bytes: u64) -> f64 {
    tenth(bytes as f64 / f64::from(1 << 20))
}

/// Percentiles ever closer to 100, five to a factor of ten, as far as there are values.
fn curve(latency: &Histogram<u64>) -> Vec<(f64, f64)> {
    let values = latency.len() as f64;
    (0..=30)
        .map(|step| 0.1_f64.powf(f64::from(step) / 5.0))
        .take_while(|above| above * values >= 1.0)
        .map(|above| {
            let us = latency.value_at_quantile(1.0 - above) as f64 / 1e3;
            let percentile = (1e7 * (1.0 - above)).round() / 1e5;
            (percentile, tenth(us))
        })
        .collect()
}

fn text(outcome: &Outcome) -> String {
    let by = |counts: &BTreeMap<String, u64>| -> String {
        counts
            .iter()
            .map(|(name, count)| format!(" {name} {count}"))
            .collect()
    };
    format!(
        "{} {}: {} requests at {}/s (answered {}/s)\n\
         latency  p50 {} µs  p99 {} µs  p99.9 {} µs  max {} µs, from the time each was due\n\
         answers  bids {}  no bids{}  errors {}{}\n\
         costs    {} µs CPU a request, {} MiB at most\n\
         decisions sha256 {}",
        outcome.transport,
        outcome.format,
        outcome.requests,
        outcome.rate,
        outcome.achieved,
        outcome.p50_us,
        outcome.p99_us,
        outcome.p999_us,
        outcome.max_us,
        outcome.bids,
        by(&outcome.no_bids),
        outcome.errors,
        by(&outcome.errors_by_code),
        outcome.cpu_us,
        outcome.peak_mib,
        outcome.decisions_sha256,
    )
}
