//! Says what is wrong with line items, rates and configuration, all of it at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bidder::config::Keys;
use bidder::{Faults, line_items, rates};
use clap::Parser as _;
use serde::Serialize;

use crate::bidder::read_config;
use crate::output;

/// What `nearbid check` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exits with 1 when anything is wrong.

Examples:
  nearbid check --line-items examples/line-items.json
  nearbid check --config nearbid.toml --json")]
pub struct Args {
    /// A configuration file, under the environment's variables; its line items and rates are checked too
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A line items file
    #[arg(long, value_name = "FILE")]
    line_items: Option<PathBuf>,
    /// A rates file
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What was found.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// Whether nothing is wrong.
    ok: bool,
    /// How many line items or rates each good file holds; of a configuration nothing is counted.
    good: BTreeMap<String, Option<usize>>,
    /// What is wrong with the others.
    bad: Vec<Faults>,
}

impl Report {
    fn take(&mut self, file: &Path, checked: Result<Option<usize>, Faults>) {
        match checked {
            Ok(count) => drop(self.good.insert(file.display().to_string(), count)),
            Err(faults) => self.bad.push(faults),
        }
    }
}

/// Checks what it is given and prints what it finds.
///
/// # Errors
/// Nothing was given to check.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let report = check(&args)?;
    anyhow::ensure!(
        !report.good.is_empty() || !report.bad.is_empty(),
        "nothing to check; give --config, --line-items or --rates"
    );
    if args.json {
        output::say(&serde_json::to_string(&report)?)?;
    } else {
        output::say(&text(&report))?;
    }
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What `nearbid bidder` takes from the environment, which stands above the file.
#[derive(clap::Parser)]
struct Environment {
    #[command(flatten)]
    keys: Keys,
}

fn check(args: &Args) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let (mut items_files, mut rates_files) = (Vec::new(), Vec::new());
    if let Some(file) = &args.config {
        let environment = Environment::try_parse_from(["nearbid"])?;
        match read_config(Some(file), environment.keys) {
            Ok(config) => {
                report.take(file, Ok(None));
                items_files.push(config.line_items);
                rates_files.extend(config.rates);
            }
            Err(faults) => report.bad.push(faults),
        }
    }
    items_files.extend(args.line_items.clone());
    rates_files.extend(args.rates.clone());
    for file in items_files {
        report.take(
            &file,
            line_items::read(&file).map(|items| Some(items.len())),
        );
    }
    for file in rates_files {
        report.take(&file, rates::read(&file).map(|rates| Some(rates.len())));
    }
    report.ok = report.bad.is_empty();
    Ok(report)
}

fn text(report: &Report) -> String {
    let good = report.good.iter().map(|(file, count)| match count {
        Some(count) => format!("{file}: good, {count} read"),
        None => format!("{file}: good"),
    });
    let bad = report.bad.iter().map(Faults::to_string);
    good.chain(bad).collect::<Vec<_>>().join("\n")
}
