//! The main job: a bidder and an exchange on this machine, over TCP and a Unix socket, in all three
//! formats, with the same requests and so the same decisions.
//!
//! Bidder and exchange are processes of their own, as they are in a cluster, so that their CPU time
//! and memory can be told apart. Every combination gets a fresh bidder: peaks and budgets start
//! from nothing.

mod compare;
pub(crate) mod machine;
mod plot;
pub(crate) mod process;
mod report;
mod row;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use transport::{Address, TransportKind};
use wire::Format;

use crate::load::{Outcome, hundredth, mib, usage};
use crate::output;
use machine::Machine;
pub use process::end_with_demo;
use process::{Folder, Process, Stop, Stopped};
use report::{Detail, Report, Rows};
use row::{BidderCost, Measured};

/// The line items that the bidder runs with.
const LINE_ITEMS: &str = include_str!("../../../../examples/line-items.json");
/// The order of the runs.
const TRANSPORTS: [TransportKind; 2] = [TransportKind::Tcp, TransportKind::Unix];
const FORMATS: [Format; 3] = [Format::FlatBuffers, Format::Protobuf, Format::Json];
/// A bidder listens after this or never.
const START_MAX: Duration = Duration::from_secs(30);
/// Exit code after a signal, as a shell gives it for Ctrl-C.
const STOPPED: u8 = 130;

/// What the subcommand takes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Requests for each combination of transport and format
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    requests: u64,
    /// Requests a second
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    rate: u32,
    /// Which traffic to generate
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the report: report.md, report.json, latency.svg, cpu.svg
    #[arg(long, value_name = "DIR", default_value = "report")]
    out: PathBuf,
    /// Print the rows as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// A process cannot be started or fails, or the report cannot be written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let stop = Stop::on_signals()?;
    match demo(&args, &stop) {
        Err(error) if error.is::<Stopped>() => Ok(ExitCode::from(STOPPED)),
        done => done,
    }
}

fn demo(args: &Args, stop: &Stop) -> anyhow::Result<ExitCode> {
    let folder = Folder::new().context("a temporary folder")?;
    let line_items = folder.join("line-items.json");
    fs::write(&line_items, LINE_ITEMS).context("the line items")?;

    let mut measured = Vec::new();
    for transport in TRANSPORTS {
        for format in FORMATS {
            let number = measured.len() + 1;
            output::tell(&format!(
                "{number}/6 {transport} {format}: {} requests at {}/s",
                args.requests, args.rate
            ));
            let run = Run {
                args,
                stop,
                folder: &folder,
                line_items: &line_items,
            };
            measured.push(run.measure(transport, format)?);
        }
    }
    let verdict = verdict(&measured, &folder)?;
    let machine = Machine::here();
    print(args, &measured, &machine, &verdict)?;
    write_report(args, &measured, &machine, &verdict)?;
    let good = verdict.same && measured.iter().all(|measured| measured.row.errors == 0);
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What every combination has in common.
struct Run<'a> {
    args: &'a Args,
    stop: &'a Stop,
    folder: &'a Folder,
    line_items: &'a Path,
}

impl Run<'_> {
    /// Starts a bidder, lets the exchange run, and reads what that cost.
    fn measure(&self, transport: TransportKind, format: Format) -> anyhow::Result<Measured> {
        let (mut bidder, address) = self.start_bidder(transport)?;
        let before = usage::process_cpu(bidder.id()).context("the bidder's CPU time")?;
        let outcome = self.exchange(&address, transport, format)?;
        let after = usage::process_cpu(bidder.id()).context("the bidder's CPU time")?;
        let peak = usage::peak_memory_bytes(Some(bidder.id())).context("the bidder's memory")?;
        let status = bidder.end()?;
        ensure!(
            status.success(),
            "the bidder ended with {status}\n{}",
            bidder.said()
        );
        let cpu = after.saturating_sub(before).as_secs_f64() * 1e6;
        let cpu_us = hundredth(cpu / outcome.requests.max(1) as f64);
        Ok(Measured::new(
            outcome,
            BidderCost {
                cpu_us,
                peak_mib: mib(peak),
            },
        ))
    }

    /// A bidder that listens on a socket in the temporary folder, or on a free port.
    fn start_bidder(&self, transport: TransportKind) -> anyhow::Result<(Process, Address)> {
        let listen = match transport {
            TransportKind::Unix => Address::Unix(self.folder.join("bid.sock")).to_string(),
            TransportKind::Tcp => "tcp://127.0.0.1:0".to_owned(),
        };
        let arguments: [OsString; 6] = [
            "--line-items".into(),
            self.line_items.into(),
            "--listen".into(),
            listen.into(),
            "--log-format".into(),
            "json".into(),
        ];
        let log = self.folder.join("bidder.log");
        let mut bidder = Process::start("bidder", &arguments, Some(log.clone()))?;
        let address = bidder.wait_until(self.stop, START_MAX, || listening(&log))?;
        Ok((bidder, address))
    }

    fn exchange(
        &self,
        address: &Address,
        transport: TransportKind,
        format: Format,
    ) -> anyhow::Result<Outcome> {
        let decisions = decisions(self.folder, transport.name(), format.name());
        let arguments: Vec<OsString> = vec![
            "--target".into(),
            address.to_string().into(),
            "--format".into(),
            format.name().into(),
            "--requests".into(),
            self.args.requests.to_string().into(),
            "--rate".into(),
            self.args.rate.to_string().into(),
            "--seed".into(),
            self.args.seed.to_string().into(),
            "--decisions".into(),
            decisions.into(),
            "--json".into(),
        ];
        let mut load = Process::start("load", &arguments, None)?;
        let status = load.wait(self.stop)?;
        let output = load.output()?;
        serde_json::from_str(&output).with_context(|| format!("load ended with {status}"))
    }
}

/// The line of a bidder's log that says that it is ready, and where.
#[derive(Deserialize)]
struct Ready {
    message: String,
    listen: String,
}

/// Where the bidder of this log listens, once it does.
fn listening(log: &Path) -> Option<Address> {
    address_in(&fs::read_to_string(log).ok()?)
}

fn address_in(log: &str) -> Option<Address> {
    let mut lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Ready>(line).ok());
    lines
        .find(|line| line.message == "ready")?
        .listen
        .parse()
        .ok()
}

fn decisions(folder: &Folder, transport: &str, format: &str) -> PathBuf {
    folder.join(format!("{transport}-{format}.ndjson"))
}

/// Whether all runs decided alike, and a sentence on it.
struct Verdict {
    same: bool,
    text: String,
}

/// Compares every run's decisions with the first one's.
fn verdict(measured: &[Measured], folder: &Folder) -> anyhow::Result<Verdict> {
    let of = |measured: &Measured| decisions(folder, &measured.row.transport, &measured.row.format);
    let Some((first, others)) = measured.split_first() else {
        return Ok(Verdict {
            same: true,
            text: String::new(),
        });
    };
    for other in others {
        if let Some(difference) = compare::first_difference(&of(first), &of(other))? {
            let text = format!(
                "{} and {} differ at {difference}",
                first.name(),
                other.name()
            );
            return Ok(Verdict { same: false, text });
        }
    }
    let digest = &first.row.decisions_sha256;
    let runs = measured.len();
    Ok(Verdict {
        same: true,
        text: format!("All {runs} runs decided every request alike (SHA-256 {digest})."),
    })
}

fn write_report(
    args: &Args,
    measured: &[Measured],
    machine: &Machine,
    verdict: &Verdict,
) -> anyhow::Result<()> {
    let report = Report {
        rows: Rows::of(measured),
        machine,
        rate: args.rate,
        same_decisions: verdict.same,
        details: measured.iter().map(Detail::of).collect(),
    };
    let json = serde_json::to_string_pretty(&report)? + "\n";
    let markdown = report::markdown(measured, machine, args.rate, &verdict.text);
    fs::create_dir_all(&args.out).with_context(|| format!("{}", args.out.display()))?;
    for (name, text) in [
        ("report.md", markdown),
        ("report.json", json),
        ("latency.svg", plot::latency(measured)),
        ("cpu.svg", plot::cpu(measured)),
    ] {
        let path = args.out.join(name);
        fs::write(&path, text).with_context(|| format!("{}", path.display()))?;
    }
    output::tell(&format!("The report is in {}", args.out.display()));
    Ok(())
}

fn print(
    args: &Args,
    measured: &[Measured],
    machine: &Machine,
    verdict: &Verdict,
) -> anyhow::Result<()> {
    if args.json {
        output::say(&serde_json::to_string(&Rows::of(measured))?)?;
        if !verdict.same {
            output::tell(&verdict.text);
        }
        return Ok(());
    }
    let parts = [
        report::table(measured),
        report::answers(measured),
        report::ratios(measured),
        format!("{}\n", verdict.text),
        format!("{}\n", machine.note()),
    ];
    output::say(&parts.join("\n"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_says_where_the_bidder_listens() {
        let log = "{\"level\":\"INFO\",\"message\":\"loaded\"}\n\
                   {\"level\":\"INFO\",\"listen\":\"tcp://127.0.0.1:4711\",\"message\":\"ready\"}\n";
        assert_eq!(address_in(log), "127.0.0.1:4711".parse().ok());
        assert_eq!(address_in("{\"message\":\"ready\""), None);
    }
}
