//! Other programs, run for what they do: one that fails is an error that names it.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// Runs a program in a folder.
pub fn command(dir: &Path, program: &str, args: &[&str]) -> Result<()> {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir);
    finish(command)
}

/// Runs a command that is set up.
pub fn finish(mut command: Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("running {command:?}"))?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(())
}
