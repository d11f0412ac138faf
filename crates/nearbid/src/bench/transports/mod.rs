//! The call itself, beside other stacks: the experiment that this project began with, repeated.
//!
//! Two nodes as network namespaces, a bidder and an exchange as processes in their pods, over VXLAN,
//! over a bridge, and over a socket in a shared folder. The rounds of all rows are interleaved.

pub mod ends;
mod nodes;
mod plan;
mod process;
mod rows;
mod work;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;
use wire::Format;

use super::Options;
use super::decider::Setup;
use super::plot;
use super::report::{Report, WITHOUT_PEERS};
use super::requests::Requests;
use crate::demo::process::{Folder, Stop};
use crate::load::usage;
use crate::progress::Progress;
use nodes::Nodes;
use plan::{Case, Cores, Load, Placement, Stack, name};
use process::{Account, End, Seat};
use rows::{Row, Sample};

/// To start an end, and for all calls of a run.
const READY_MAX: Duration = Duration::from_secs(60);
const RUN_MAX: Duration = Duration::from_secs(150);
/// Different requests, taken round and round.
const REQUESTS: usize = 2000;
/// Calls of the two runs whose difference is counted.
const COUNTED_CALLS: [u64; 2] = [500, 1500];
const TITLE: &str = "The call: both sides' CPU a request";

/// What the subcommand takes.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Needs root and iproute2 for its network namespaces, which are gone afterwards; \
without them it runs what it can on the loopback interface, and says so.

Examples:
  nearbid bench transports --quick --out report
  nearbid bench transports --placement unix --placement tcp --stack nearbid --load sequential --json"
)]
pub struct Args {
    /// Calls a run
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    requests: u32,
    /// Rounds over all rows; the median counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Which traffic to generate
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only what the bounds ask for, of every placement: under five minutes
    #[arg(long)]
    quick: bool,
    /// Only these placements
    #[arg(long, value_enum)]
    placement: Vec<Placement>,
    /// Only these stacks
    #[arg(long, value_enum)]
    stack: Vec<Stack>,
    /// Only these loads
    #[arg(long, value_enum)]
    load: Vec<Load>,
    /// Folder for the report: a Markdown file, the rows as JSON, and a plot
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the rows as one JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    /// What all benches have.
    pub(super) fn options(&self) -> Options {
        Options {
            requests: self.requests,
            rounds: self.rounds,
            seed: self.seed,
            quick: false,
            out: self.out.clone(),
            json: self.json,
        }
    }
}

/// Runs the bench.
///
/// # Errors
/// An end fails, or the bench is asked to stop.
pub fn run(args: &Args) -> anyhow::Result<Report> {
    let stop = Stop::on_signals()?;
    let mut bench = Bench::new(args, stop)?;
    let mut cases = plan::cases(&args.placement, &args.stack, &args.load, args.quick);
    cases.retain(|case| bench.can(*case));
    ensure!(
        !cases.is_empty(),
        "nothing to run: {}",
        bench.notes.join(" ")
    );
    let samples = bench.rounds(&cases, args.rounds)?;
    let mut rows = Vec::new();
    for (case, samples) in cases.iter().zip(&samples) {
        let isolated = bench.nodes.is_some();
        let mut row = Row::new(*case, isolated, bench.calls, samples);
        row.bidder_instructions = bench.instructions(*case)?;
        rows.push(row);
    }
    Ok(bench.report(args, &rows))
}

struct Bench {
    nodes: Option<Nodes>,
    folder: Folder,
    stop: Stop,
    calls: u64,
    go: Option<PathBuf>,
    notes: Vec<String>,
    /// Sockets so far: each run has its own.
    sockets: u32,
}

impl Bench {
    fn new(args: &Args, stop: Stop) -> anyhow::Result<Bench> {
        let folder = Folder::new().context("a temporary folder")?;
        let mut notes = vec![
            "No real wire was there: both nodes are namespaces of one machine, and share its cores."
                .to_owned(),
        ];
        notes.push(write_inputs(&folder, args.seed)?);
        let only_unix = args.placement == [Placement::Unix];
        let nodes = Nodes::new().map_err(|error| {
            let lost = if only_unix {
                ""
            } else {
                " `overlay` is left out, `tcp` is loopback."
            };
            notes.push(format!("NOT in network namespaces ({error:#}).{lost}"));
        });
        let wants_go = args.stack.is_empty() || args.stack.contains(&Stack::GrpcGo);
        let go = if wants_go {
            go_program(&mut notes)?
        } else {
            None
        };
        if !cfg!(feature = "peers") {
            notes.push(WITHOUT_PEERS.to_owned());
        }
        Ok(Bench {
            nodes: nodes.ok(),
            folder,
            stop,
            calls: args.requests.into(),
            go,
            notes,
            sockets: 0,
        })
    }

    fn can(&self, case: Case) -> bool {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        (case.placement != Placement::Overlay || self.nodes.is_some())
            && (case.cores != Cores::Two || cpus > 1)
            && match case.stack {
                Stack::Nearbid | Stack::Bare => true,
                Stack::Tonic => cfg!(feature = "peers"),
                Stack::GrpcGo => self.go.is_some(),
            }
    }

    /// The samples of every case, in the order of the cases.
    fn rounds(&mut self, cases: &[Case], rounds: u32) -> anyhow::Result<Vec<Vec<Sample>>> {
        let total = cases.len() as u64 * u64::from(rounds);
        let progress = Progress::new("transports".to_owned(), total);
        let mut samples = vec![Vec::new(); cases.len()];
        let mut done = 0;
        for _ in 0..rounds {
            for (case, samples) in cases.iter().zip(&mut samples) {
                let sample = self.sample(*case).with_context(|| case.to_string())?;
                samples.push(sample);
                done += 1;
                progress.at(done);
            }
        }
        progress.done();
        Ok(samples)
    }

    fn sample(&mut self, case: Case) -> anyhow::Result<Sample> {
        let (bidder, mut exchange) = self.start(case, self.calls, &[])?;
        let before = (Account::of(bidder.id())?, Account::of(exchange.id())?);
        exchange.tell()?;
        let line = exchange
            .line(&self.stop, RUN_MAX)
            .with_context(|| self.said("exchange"))?;
        let after = (Account::of(bidder.id())?, Account::of(exchange.id())?);
        let mib =
            |id| Ok::<_, std::io::Error>(usage::peak_memory_bytes(Some(id))? as f64 / 1048576.0);
        Ok(Sample {
            measured: serde_json::from_str(&line).with_context(|| format!("{line:?}"))?,
            bidder: after.0.since(before.0),
            exchange: after.1.since(before.1),
            bidder_peak_mib: mib(bidder.id())?,
            exchange_peak_mib: mib(exchange.id())?,
        })
    }

    /// Both ends, connected and warm; the bidder by way of `through`.
    fn start(&mut self, case: Case, calls: u64, through: &[&str]) -> anyhow::Result<(End, End)> {
        let (bidder, exchange, address) = self.seats(case)?;
        let command = |end| self.command(case, end, &address, calls);
        let mut served: Vec<_> = through.iter().map(|word| (*word).to_owned()).collect();
        served.extend(command("bidder")?);
        let bidder = End::start(bidder, &served, &self.folder.join("bidder.log"))?;
        bidder
            .line(&self.stop, READY_MAX)
            .with_context(|| self.said("bidder"))?;
        let exchange = End::start(
            exchange,
            &command("exchange")?,
            &self.folder.join("exchange.log"),
        )?;
        exchange
            .line(&self.stop, READY_MAX)
            .with_context(|| self.said("exchange"))?;
        Ok((bidder, exchange))
    }

    /// Where the two ends run, and the address between them.
    fn seats(&mut self, case: Case) -> anyhow::Result<(Seat<'static>, Seat<'static>, String)> {
        let pod = match case.placement {
            Placement::Overlay => nodes::FAR,
            Placement::Tcp | Placement::Unix => nodes::NEAR,
        };
        let cpus = match case.cores {
            Cores::Same => (Some(0), Some(0)),
            Cores::Two => (Some(0), Some(1)),
            Cores::Free => (None, None),
        };
        let isolated = self.nodes.is_some();
        let seat = |pod, cpu| Seat {
            pod: isolated.then_some(pod),
            cpu,
        };
        self.sockets += 1;
        let address = match case.placement {
            Placement::Unix => {
                let socket = self.folder.join(format!("{}.sock", self.sockets));
                format!("unix://{}", socket.display())
            }
            _ if isolated => format!("tcp://{}:9090", pod.address),
            _ => {
                let free = std::net::TcpListener::bind("127.0.0.1:0")?;
                format!("tcp://{}", free.local_addr()?)
            }
        };
        let exchange = seat(nodes::EXCHANGE, cpus.1);
        Ok((seat(pod.name, cpus.0), exchange, address))
    }

    fn command(
        &self,
        case: Case,
        end: &str,
        address: &str,
        calls: u64,
    ) -> anyhow::Result<Vec<String>> {
        let path = |path: &Path| path.display().to_string();
        let calls = calls.to_string();
        if let (Stack::GrpcGo, Some(go)) = (case.stack, &self.go) {
            let folder = path(&self.folder.join(""));
            let load = name(&case.load);
            let words = [
                &path(go),
                "call",
                "-end",
                end,
                "-address",
                address,
                "-load",
                &load,
                "-dir",
                &folder,
                "-calls",
                &calls,
            ];
            return Ok(words.map(str::to_owned).to_vec());
        }
        let (stack, load) = (name(&case.stack), name(&case.load));
        let words = [
            &path(&std::env::current_exe()?),
            "bench",
            &format!("{end}-end"),
            "--stack",
            &stack,
            "--load",
            &load,
            "--address",
            address,
            "--calls",
            &calls,
            "--line-items",
            &path(&self.folder.join("line-items.json")),
            "--requests",
            &path(&self.folder.join("flatbuffers.requests")),
        ];
        Ok(words.map(str::to_owned).to_vec())
    }

    /// What an end said on standard error, for who reads why it failed.
    fn said(&self, end: &str) -> String {
        let said = std::fs::read_to_string(self.folder.join(format!("{end}.log")));
        format!("the {end}'s end: {}", said.unwrap_or_default().trim())
    }

    /// User instructions of the bidder a call, where they are counted: valgrind runs it twice, and
    /// what starting costs falls out of the difference.
    fn instructions(&mut self, case: Case) -> anyhow::Result<Option<f64>> {
        let counted = case.placement == Placement::Unix
            && case.cores == Cores::Same
            && case.load == Load::Sequential
            && matches!(case.stack, Stack::Nearbid | Stack::Tonic);
        if !counted {
            return Ok(None);
        }
        let mut counts = [0.0; 2];
        for (count, calls) in counts.iter_mut().zip(COUNTED_CALLS) {
            let Some(found) = self.counted(case, calls)? else {
                self.notes.push(
                    "Instructions are not counted: no valgrind (Debian: apt-get install valgrind)."
                        .to_owned(),
                );
                return Ok(None);
            };
            *count = found;
        }
        let [few, many] = COUNTED_CALLS.map(|calls| (calls + ends::warm_calls(calls)) as f64);
        let [of_few, of_many] = counts;
        Ok(Some(((of_many - of_few) / (many - few)).round()))
    }

    fn counted(&mut self, case: Case, calls: u64) -> anyhow::Result<Option<f64>> {
        let found = std::process::Command::new("valgrind")
            .arg("--version")
            .output();
        if !found.is_ok_and(|found| found.status.success()) {
            return Ok(None);
        }
        let through = [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
        ];
        let (mut bidder, mut exchange) = self.start(case, calls, &through)?;
        exchange.tell()?;
        exchange.line(&self.stop, RUN_MAX)?;
        exchange.end();
        bidder.end();
        let said = self.said("bidder");
        let count = super::counts::collected(&said);
        Ok(Some(
            count.with_context(|| format!("valgrind says no count: {said}"))? as f64,
        ))
    }

    fn report(self, args: &Args, rows: &[Row]) -> Report {
        let head = vec![
            "placement/stack/cores/load",
            "p50 µs",
            "p99",
            "p99.9",
            "bidder CPU µs",
            "exchange CPU µs",
            "both, from to",
            "switches",
            "peak MiB",
            "instructions",
            "per s",
            "errors",
        ];
        let cells = rows.iter().map(cells).collect();
        let values = rows.iter().map(|row| json!(row)).collect();
        let bars: Vec<_> = rows
            .iter()
            .map(|row| {
                let ns = (row.bidder_cpu_us + row.exchange_cpu_us) * 1e3;
                super::measure::Row::new(&row.case.to_string(), &[ns], None)
            })
            .collect();
        let plot = plot::bars(TITLE, &bars);
        let options = args.options();
        let mut report =
            Report::of_table(("transports", TITLE), &options, (head, cells), values, plot);
        report.notes = rows::bounds(rows);
        report.notes.extend(self.notes.iter().cloned());
        report
    }
}

fn cells(row: &Row) -> Vec<String> {
    let (least, most) = row.cpu_us_spread;
    let counted = row.bidder_instructions;
    vec![
        row.case.to_string(),
        format!("{:.1}", row.p50_us),
        format!("{:.1}", row.p99_us),
        format!("{:.1}", row.p999_us),
        format!("{:.2}", row.bidder_cpu_us),
        format!("{:.2}", row.exchange_cpu_us),
        format!("{least:.1} to {most:.1}"),
        format!("{:.2} {:.2}", row.bidder_switches, row.exchange_switches),
        format!("{:.1} {:.1}", row.bidder_peak_mib, row.exchange_peak_mib),
        counted.map_or("–".to_owned(), |count| format!("{count:.0}")),
        format!("{:.0}", row.per_s),
        row.errors.to_string(),
    ]
}

/// Writes what the ends read: requests of which 1 in 100 gets a bid, in two formats; line items; and
/// the same in plain values. Gives a note on them.
fn write_inputs(folder: &Folder, seed: u64) -> anyhow::Result<String> {
    let setup = Setup::example()?;
    let drawn = Requests::draw(REQUESTS * 99 / 100, seed, &setup)?;
    let bids: Vec<_> = drawn.all.iter().filter(|one| one.has_bids()).collect();
    let mut mixed = Vec::new();
    for (number, none) in drawn.none().enumerate() {
        if number % 99 == 0 {
            let at = number / 99 % bids.len().max(1);
            mixed.extend(bids.get(at).copied());
        }
        mixed.push(none);
    }
    let mut total = 0;
    for format in [Format::FlatBuffers, Format::Protobuf] {
        let mut all = Vec::new();
        for request in &mixed {
            let bytes = request.bytes(format);
            all.extend_from_slice(&u32::try_from(bytes.len())?.to_le_bytes());
            all.extend_from_slice(bytes);
        }
        total = all.len();
        std::fs::write(folder.join(format!("{format}.requests")), all)?;
    }
    std::fs::write(folder.join("line-items.json"), super::decider::LINE_ITEMS)?;
    #[cfg(feature = "peers")]
    std::fs::write(
        folder.join("setup.json"),
        super::go::setup_of(&setup).to_string(),
    )?;
    Ok(format!(
        "{} different requests, of which 1 in 100 gets a bid; mean length in protobuf {} bytes.",
        mixed.len(),
        total / mixed.len().max(1)
    ))
}

/// The Go program, or a note on why there is none.
#[cfg(feature = "peers")]
fn go_program(notes: &mut Vec<String>) -> anyhow::Result<Option<PathBuf>> {
    Ok(match super::go::build()? {
        Ok(program) => Some(program),
        Err(why) => {
            notes.push(format!("No rows of Go: {why}."));
            None
        }
    })
}

#[cfg(not(feature = "peers"))]
fn go_program(_: &mut Vec<String>) -> anyhow::Result<Option<PathBuf>> {
    Ok(None)
}
