//! What `nearbid` takes on its command line. A subcommand is a module: `Args` says what it takes,
//! `run` does it and answers with the process's exit code.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{bench, bidder, check, convert, decide, demo, generate, load};

/// A real-time ad bidder that runs inside the exchange's cluster.
#[derive(Debug, Parser)]
#[command(name = "nearbid", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure reading, building and matching, beside other libraries
    Bench(bench::Args),
    /// Run the bidder: answer bid requests over gRPC
    Bidder(Box<bidder::Args>),
    /// Check line items, rates and configuration, and print every fault
    Check(check::Args),
    /// Turn a stream of requests or responses from one wire format into another
    Convert(convert::Args),
    /// Decide on requests offline and print the decisions, one a line
    Decide(decide::Args),
    /// Run a bidder and an exchange over TCP and a Unix socket in every format, and compare
    Demo(demo::Args),
    /// Make realistic bid requests
    Generate(generate::Args),
    /// Send bid requests to a bidder at a fixed rate, and tell how they were answered
    Load(load::Args),
}

impl Cli {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// What a person has to read; the exit code is then 1.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Bench(args) => bench::run(args),
            Command::Bidder(args) => bidder::run(*args),
            Command::Check(args) => check::run(args),
            Command::Convert(args) => convert::run(args),
            Command::Decide(args) => decide::run(args),
            Command::Demo(args) => demo::run(args),
            Command::Generate(args) => generate::run(args),
            Command::Load(args) => load::run(args),
        }
    }
}
