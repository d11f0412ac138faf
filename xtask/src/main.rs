//! What a machine makes and checks in this project: `cargo xtask --help`.

mod ci;
mod codegen;
mod counts;
mod h2spec;
mod process;
mod tidy;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::path::Path;

#[derive(Parser)]
#[command(about = "What a machine makes and checks in this project")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Makes everything that follows from schema/*.proto
    Codegen {
        /// Change nothing; fail and name what is stale
        #[arg(long)]
        check: bool,
    },
    /// The invariants of ARCHITECTURE.md
    Tidy,
    /// The instructions that a no costs, against those on file; needs valgrind
    Counts {
        /// Put what is counted on file
        #[arg(long)]
        update: bool,
    },
    /// HTTP/2 against a conformance suite; needs Go
    H2spec,
    /// Everything a change must pass; installs what the checks need
    Ci(ci::Args),
}

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let root = root.context("xtask lies in the root of the project")?;
    match Cli::parse().command {
        Command::Codegen { check } => codegen::run(root, check),
        Command::Tidy => tidy::run(root),
        Command::Counts { update: true } => counts::update(root),
        Command::Counts { update: false } => match counts::check(root)? {
            counts::Outcome::Held(counts) => {
                println!("{counts} counts held");
                Ok(())
            }
            counts::Outcome::Skipped(reason) => anyhow::bail!("cannot compare: {reason}"),
        },
        Command::H2spec => {
            println!("{} tests of h2spec passed", h2spec::check(root)?);
            Ok(())
        }
        Command::Ci(args) => ci::run(root, args),
    }
}
