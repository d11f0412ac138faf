//! Turns streams of requests or responses from one wire format into another.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use wire::message::{BidRequest, BidResponse, Message};
use wire::{Format, Limits, Record, RecordWriter, Records, StreamError, StreamErrorKind};

use crate::decide::parse_format;
use crate::output::{self, Output};

/// What `nearbid convert` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Streams: JSON has one message a line; protobuf messages stand behind their \
length as a varint, FlatBuffers behind theirs as four bytes, little-endian (size-prefixed).

Examples:
  nearbid generate --requests 100 | nearbid convert --from json --to flatbuffers - requests.bin
  nearbid convert --from protobuf --to json --message response responses.bin"
)]
pub struct Args {
    /// Format of the input: json, protobuf or flatbuffers
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Format,
    /// Format of the output
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    to: Format,
    /// What the messages are
    #[arg(long, default_value = "request")]
    message: Kind,
    /// Leave out records that are not well-formed, and tell which and how many
    #[arg(long)]
    keep_going: bool,
    /// Where to read; - for standard input
    #[arg(value_name = "IN", default_value = "-")]
    input: PathBuf,
    /// Where to write; - for standard output
    #[arg(value_name = "OUT", default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Request,
    Response,
}

/// Converts every record, in order. The exit code is 1 when records were left out.
///
/// # Errors
/// A file that cannot be read or written, or (unless told to keep going) a record that is not
/// well-formed: with the file, the record and what is wrong with it.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let output = Output::create(Some(&args.output))
        .with_context(|| format!("cannot write {}", args.output.display()))?;
    let done = match args.message {
        Kind::Request => convert::<BidRequest>(&args, output),
        Kind::Response => convert::<BidResponse>(&args, output),
    };
    match done {
        Ok(0) => Ok(ExitCode::SUCCESS),
        Ok(_) => Ok(ExitCode::FAILURE),
        // Whoever reads has seen enough.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// How many records were left out.
fn convert<M: Message>(args: &Args, output: Output) -> anyhow::Result<u64> {
    let limits = Limits::default();
    let mut records = Records::new(args.from, open(&args.input)?, limits.message_bytes_max);
    let mut writer = RecordWriter::new(args.to, output);
    let mut left_out = 0;
    let mut converted = 0_u64;
    loop {
        match next::<M>(args.from, &mut records, &limits) {
            Ok(Some(message)) => writer.write(&message)?,
            Ok(None) => break,
            Err(fault) => {
                let told = format!("{}: {}", args.input.display(), fault.text);
                if !args.keep_going || fault.is_the_systems {
                    bail!(told);
                }
                output::tell(&told);
                left_out += 1;
                continue;
            }
        }
        converted += 1;
    }
    writer
        .finish()?
        .finish()
        .with_context(|| format!("{}", args.output.display()))?;
    if left_out > 0 {
        output::tell(&format!(
            "{converted} records converted, {left_out} left out"
        ));
    }
    Ok(left_out)
}

fn open(input: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    if input == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(input).with_context(|| format!("cannot read {}", input.display()))?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

/// Why a record could not be converted.
struct Fault {
    text: String,
    /// Reading failed; what comes next is not known.
    is_the_systems: bool,
}

fn next<M: Message>(
    format: Format,
    records: &mut Records<impl BufRead>,
    limits: &Limits,
) -> Result<Option<M>, Fault> {
    let Some(Record { number, bytes, .. }) = records.next().map_err(fault_of)? else {
        return Ok(None);
    };
    let decoded = wire::decode(format, bytes, limits);
    decoded.map(Some).map_err(|error| Fault {
        text: format!("{} {number}: {error}", unit(format)),
        is_the_systems: false,
    })
}

fn fault_of(error: StreamError) -> Fault {
    let is_the_systems = matches!(error.kind, StreamErrorKind::Io(_));
    Fault {
        text: error.to_string(),
        is_the_systems,
    }
}

fn unit(format: Format) -> &'static str {
    if format == Format::Json {
        "line"
    } else {
        "record"
    }
}
