//! What the work on one request costs, beside what libraries and another language make of the same
//! request: reading and deciding, building, matching, and the call.
//!
//! A figure means something only beside others of the same run, so every run races all paths in
//! interleaved rounds. Before any time counts, all paths have to decide alike.

mod build;
mod counts;
mod decider;
mod formats;
#[cfg(feature = "peers")]
mod go;
mod matching;
mod measure;
mod paths;
mod plot;
mod report;
mod requests;
mod transports;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::output;

/// What the subcommand takes.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Read a request in each format and decide on it
    Formats(Options),
    /// Build a request in each format
    Build(Options),
    /// Find the best line item, or none, among 10 to 1,000,000
    Matching(Options),
    /// Make calls over each kind of socket, beside other stacks
    Transports(transports::Args),
    /// Count the instructions of a no in each format; needs valgrind
    Counts(counts::Args),
    /// What `counts` has valgrind run
    #[command(hide = true)]
    Passes(counts::Passes),
    /// A bidder that `transports` starts
    #[command(hide = true)]
    BidderEnd(transports::ends::Args),
    /// An exchange that `transports` starts
    #[command(hide = true)]
    ExchangeEnd(transports::ends::Args),
}

/// What every bench takes.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Different requests to work on
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    requests: u32,
    /// Rounds over all paths; the median counts
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    /// Which traffic to generate
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A short run that tells little: 1,024 requests, 3 rounds, fewer line items
    #[arg(long, conflicts_with_all = ["requests", "rounds"])]
    quick: bool,
    /// Folder for the report: a Markdown file, the rows as JSON, and a plot
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the rows as one JSON object
    #[arg(long)]
    json: bool,
}

impl Options {
    fn requests(&self) -> usize {
        if self.quick {
            1024
        } else {
            self.requests as usize
        }
    }

    fn rounds(&self) -> usize {
        if self.quick { 3 } else { self.rounds as usize }
    }
}

/// Runs a bench and prints what came of it.
///
/// # Errors
/// Two paths decide differently, a path fails, or the report cannot be written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (options, report) = match args.what {
        What::Formats(options) => (options.clone(), formats::run(&options)?),
        What::Build(options) => (options.clone(), build::run(&options)?),
        What::Matching(options) => (options.clone(), matching::run(&options)?),
        What::Transports(args) => (args.options(), transports::run(&args)?),
        What::BidderEnd(args) => return transports::ends::bidder(&args),
        What::ExchangeEnd(args) => return transports::ends::exchange(&args),
        What::Counts(args) => return counts::run(&args),
        What::Passes(passes) => return passes.run(),
    };
    if let Some(folder) = &options.out {
        report
            .write(folder)
            .with_context(|| format!("cannot write to {}", folder.display()))?;
    }
    if options.json {
        output::say(&report.json())?;
    } else {
        output::say(&report.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
impl Options {
    /// A run that only shows that everything runs.
    fn least() -> Options {
        Options {
            requests: 48,
            rounds: 2,
            seed: 1,
            quick: false,
            out: None,
            json: true,
        }
    }
}
