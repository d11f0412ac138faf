//! What a machine makes and checks in this project: `cargo xtask --help`.

mod ci;
mod codegen;
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
    /// Everything a change must pass; installs what the checks need
    Ci(ci::Args),
}

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let root = root.context("xtask lies in the root of the project")?;
    match Cli::parse().command {
        Command::Codegen { check } => codegen::run(root, check),
        Command::Tidy => tidy::run(root),
        Command::Ci(args) => ci::run(root, args),
    }
}
