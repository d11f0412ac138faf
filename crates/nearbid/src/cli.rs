//! What `nearbid` takes on its command line. A subcommand is a module: `Args` says what it takes,
//! `run` does it and answers with the process's exit code.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{bidder, check, decide};

/// A real-time ad bidder that runs inside the exchange's cluster.
#[derive(Debug, Parser)]
#[command(name = "nearbid", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the bidder: answer bid requests over gRPC
    Bidder(bidder::Args),
    /// Check line items, rates and configuration, and print every fault
    Check(check::Args),
    /// Decide on requests offline and print the decisions, one a line
    Decide(decide::Args),
}

impl Cli {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// What a person has to read; the exit code is then 1.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Bidder(args) => bidder::run(args),
            Command::Check(args) => check::run(args),
            Command::Decide(args) => decide::run(args),
        }
    }
}
