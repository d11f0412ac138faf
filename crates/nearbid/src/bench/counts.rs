//! How many instructions a no costs in each format: what a machine can hold a change to, where time
//! is different in every run.
//!
//! valgrind counts this program's own passes over generated requests. A run of two passes less a run
//! of one is a warm pass, without what starting up costs.

use std::hint::black_box;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use wire::Format;

use super::decider::{Decide, Decider, Setup};
use super::paths::{InPlace, Open as _};
use super::requests::Requests;
use crate::decide::parse_format;
use crate::output;

/// Different requests that get no bid.
const REQUESTS: usize = 1024;
/// Which traffic.
const SEED: u64 = 1;

/// What the subcommand takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Print the rows as one JSON object
    #[arg(long)]
    json: bool,
}

/// Passes over the requests in a format.
#[derive(Clone, Debug, clap::Args)]
pub struct Passes {
    /// Wire format: json, protobuf or flatbuffers
    #[arg(long, value_parser = parse_format)]
    format: Format,
    #[arg(long)]
    passes: u32,
}

#[derive(Debug, Serialize)]
struct Row {
    path: String,
    /// Instructions of one no, from the received bytes to the decision.
    instructions: u64,
}

#[derive(Debug, Serialize)]
struct Rows {
    rows: Vec<Row>,
}

/// Counts, and prints what it counted.
///
/// # Errors
/// There is no valgrind, or it does not know an instruction of this build.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let row = |format: Format| {
        let pass = counted(format, 2)?.saturating_sub(counted(format, 1)?);
        Ok(Row {
            path: format!("{}/in_place", format.name()),
            instructions: pass / REQUESTS as u64,
        })
    };
    let rows = Format::ALL
        .into_iter()
        .map(row)
        .collect::<anyhow::Result<Vec<_>>>()?;
    let rows = Rows { rows };
    if args.json {
        output::say(&serde_json::to_string(&rows)?)?;
    } else {
        for row in &rows.rows {
            let Row { path, instructions } = row;
            output::say(&format!("{path:24} {instructions:>8} instructions a no"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Instructions of a whole run of so many passes.
fn counted(format: Format, passes: u32) -> anyhow::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["bench", "passes", "--format", format.name()])
        .args(["--passes", &passes.to_string()])
        .output()
        .context("cannot run valgrind: install it (Debian: apt-get install valgrind)")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "valgrind: {told}");
    collected(&told).with_context(|| format!("valgrind says no count: {told}"))
}

/// The count in what callgrind tells at its end.
pub fn collected(told: &str) -> Option<u64> {
    let (_, count) = told.split_once("Collected :")?;
    count.split_whitespace().next()?.parse().ok()
}

impl Passes {
    /// Makes the passes.
    ///
    /// # Errors
    /// The requests cannot be drawn.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let setup = Setup::example()?;
        let requests = Requests::draw(REQUESTS, SEED, &setup)?;
        let mut decider = Decider::new(&setup)?;
        let mut reader = InPlace::new(self.format);
        for _ in 0..self.passes {
            for request in requests.none() {
                let bytes = black_box(request.bytes(self.format));
                let _ = black_box(reader.open(bytes, Decide(&mut decider)));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found() {
        let told = "==1== Events    : Ir\n==1== Collected : 123456\n==1== \n";
        assert_eq!(collected(told), Some(123_456));
        assert_eq!(collected("==1== Killed"), None);
    }

    #[test]
    fn a_pass_reads_every_format() -> anyhow::Result<()> {
        for format in Format::ALL {
            let passes = Passes { format, passes: 1 };
            assert_eq!(passes.run()?, ExitCode::SUCCESS);
        }
        Ok(())
    }
}
