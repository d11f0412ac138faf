//! Makes traffic that looks like an exchange's: for trying things out, for load, and for tests.
//!
//! Recorded traffic cannot be given away, and random fields look like nothing that is real: what a
//! request says has to agree with itself (an iPhone sends iOS and a number for a bundle), and a few
//! sites, countries and deals make up most of it. So there is a small world of outlets, visited by
//! Zipf's law ([`inventory`], [`visit`]); a seed picks the visits.

mod devices;
mod ids;
mod imp;
mod inventory;
mod people;
mod place_of_ad;
mod places;
mod rng;
mod size;
mod traffic;
mod visit;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use wire::{Format, RecordWriter};

use crate::decide::parse_format;
use crate::output::Output;

pub use traffic::Traffic;

/// What `nearbid generate` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The same seed gives the same requests, on every machine. \
Request n does not depend on how many are made."
)]
pub struct Args {
    /// How many requests
    #[arg(long, value_name = "N")]
    requests: u64,
    /// Which traffic
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// json (one request a line), protobuf (behind a varint length) or flatbuffers (size-prefixed)
    #[arg(long, value_name = "FORMAT", default_value = "json", value_parser = parse_format)]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes the requests.
///
/// # Errors
/// They cannot be written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match write(&args) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        done => done.context("writing requests")?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write(args: &Args) -> io::Result<()> {
    let output = Output::create(args.out.as_deref())?;
    let mut writer = RecordWriter::new(args.format, output);
    let count = usize::try_from(args.requests).unwrap_or(usize::MAX);
    for request in Traffic::new(args.seed).take(count) {
        writer.write(&request)?;
    }
    writer.finish()?.finish()
}

/// `value` as a field that is set, in the field's own type.
fn some<T, U: From<T>>(value: T) -> Option<U> {
    Some(value.into())
}
