//! Runs the service until it is told to stop.

use std::process::ExitCode;

/// What the subcommand takes.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the subcommand.
///
/// # Errors
/// What a person has to read.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built in")
}
