//! Runs the service until it is told to stop.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bidder::Faults;
use bidder::config::{Config, File, Keys, LogFormat};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};

/// What `nearbid bidder` takes. Every key is also a variable (`--exp-s` is `NEARBID_EXP_S`) and a
/// key of the file (`exp-s = 120`).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A flag stands above its environment variable, and that above the file.

Examples:
  nearbid bidder --line-items examples/line-items.json \\
      --listen unix:///run/nearbid/bid.sock --listen tcp://127.0.0.1:9090 --admin 127.0.0.1:9091
  nearbid bidder --config nearbid.toml --log-format json
  NEARBID_LINE_ITEMS=items.json NEARBID_LISTEN=unix:///run/nearbid/bid.sock nearbid bidder"
)]
pub struct Args {
    /// The same keys in a TOML file
    #[arg(long, env = "NEARBID_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    keys: Keys,
}

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// What is wrong with the configuration, line items or rates, all of it; or an address that cannot
/// be listened on.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let config = read_config(args.config.as_deref(), args.keys)?;
    let _log = start_logging(&config);
    bidder::run(config)?;
    Ok(ExitCode::SUCCESS)
}

/// The configuration of flags, environment and file.
///
/// # Errors
/// All that is wrong with it.
pub fn read_config(file: Option<&Path>, keys: Keys) -> Result<Config, Faults> {
    let file = match file {
        Some(file) => File::read(file)?,
        None => File::default(),
    };
    Config::new(keys, file)
}

/// Log lines that wait for a slow reader; more are dropped.
const LOG_LINES_MAX: usize = 4096;

/// Logs go to standard error, by a thread of their own: a reader that is slow, gone or a full disk
/// costs lines of the log and nothing else. What a subcommand prints goes to standard output. The log
/// is written as far as it goes when what this gives is dropped.
fn start_logging(config: &Config) -> WorkerGuard {
    let (writer, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(LOG_LINES_MAX)
        .thread_name("log")
        .finish(std::io::stderr());
    let logs = tracing_subscriber::fmt()
        .with_env_filter(config.log_level.name())
        .with_writer(writer)
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal());
    match config.log_format {
        LogFormat::Text => logs.with_target(false).init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
    guard
}
