//! The decision, offline: one line a request, by the same rules and code as the service.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use engine::{
    Bid, BidId, Book, Catalog, CatalogError, Decision, LineItem, MemoryBook, MemoryBudgets,
    MemoryLimits, Rates, Scratch, Snapshot, Timestamp,
};
use openrtb::{Currency, Reason, RequestView};
use serde::Serialize;
use wire::message::BidRequest;
use wire::{Format, Limits, Reader, Visit};

use crate::lines::Lines;

/// What `nearbid decide` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nearbid decide --line-items examples/line-items.json requests.ndjson
  nearbid generate --requests 1000 --seed 1 | nearbid decide --line-items examples/line-items.json -")]
pub struct Args {
    /// Line items: a JSON array, or one object a line
    #[arg(long, value_name = "FILE")]
    line_items: PathBuf,
    /// Currency rates: {"EUR": 1.08}, base units for one unit of the other currency
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,
    /// The moment to decide at, RFC 3339 [default: now]
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    now: Option<Timestamp>,
    /// The currency of prices and budgets
    #[arg(long, value_name = "CODE", default_value = "USD", value_parser = parse_currency)]
    base: Currency,
    /// Decide from JSON as it stands, or from the request converted
    #[arg(long, value_name = "FORMAT", default_value = "json", value_parser = parse_format)]
    format: Format,
    /// Let what bids reserve stay reserved for the requests after them
    #[arg(long)]
    spend: bool,
    /// Requests, one JSON object a line; - for standard input
    #[arg(value_name = "REQUESTS")]
    requests: PathBuf,
}

/// Prints the decision on every request, in their order.
///
/// # Errors
/// A file that cannot be read or written, or whose faults are then all told.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let items = bidder::line_items::read(&args.line_items)?;
    let rates = match &args.rates {
        Some(file) => bidder::rates::read(file)?,
        None => Vec::new(),
    };
    let settings = Settings {
        rates: Rates::new(args.base, rates),
        now: args.now.unwrap_or_else(bidder::time::now),
        format: args.format,
        spend: args.spend,
        limits: Limits::default(),
    };
    let mut decider = Decider::new(items, settings)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match decide_lines(&mut decider, open(&args.requests)?, &mut out) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        done => done.with_context(|| format!("deciding on {}", args.requests.display())),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn open(requests: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    if requests == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = std::fs::File::open(requests)
        .with_context(|| format!("cannot read {}", requests.display()))?;
    Ok(Box::new(std::io::BufReader::with_capacity(1 << 16, file)))
}

fn decide_lines(
    decider: &mut Decider,
    requests: impl BufRead,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let line_bytes_max = decider.settings.limits.message_bytes_max as usize;
    let mut lines = Lines::new(requests, line_bytes_max);
    let mut line_out = Vec::new();
    while let Some(line) = lines.next()? {
        line_out.clear();
        // A line cut at the limit is one byte too long for the reader, which says so.
        decider.decide(line, &mut line_out);
        out.write_all(&line_out)?;
    }
    out.flush()
}

/// What decisions depend on beside the line items.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The base currency and what others are worth in it.
    pub rates: Rates,
    /// The moment of every decision.
    pub now: Timestamp,
    /// The format that requests are converted to before they are read.
    pub format: Format,
    /// Whether budgets are kept from one request to the next, or restored.
    pub spend: bool,
    /// What a request may be.
    pub limits: Limits,
}

/// Decides on requests, one after the other.
pub struct Decider {
    settings: Settings,
    snapshot: Snapshot<MemoryBook>,
    reader: Reader,
    scratch: Scratch,
    bids: u128,
    converted: Vec<u8>,
}

impl Decider {
    /// A decider over these line items, their budgets untouched.
    ///
    /// # Errors
    /// Too many line items, or two with the same id.
    pub fn new(items: Vec<LineItem>, settings: Settings) -> Result<Decider, CatalogError> {
        let catalog = Arc::new(Catalog::build(items)?);
        let budgets = MemoryBudgets::new(MemoryLimits {
            // Time stands still and every bid of a run may have to be remembered.
            bids_max: usize::MAX >> 1,
            bids_min: 0,
            ..MemoryLimits::default()
        });
        Ok(Decider {
            snapshot: Snapshot::open(catalog, &budgets, settings.now),
            reader: Reader::new(settings.limits),
            settings,
            scratch: Scratch::default(),
            bids: 0,
            converted: Vec::new(),
        })
    }

    /// Appends the decision on a request (JSON text) to `out`: one JSON object and a newline, as
    /// `docs/decisions.md`, "Answer", has it.
    pub fn decide(&mut self, json: &[u8], out: &mut Vec<u8>) {
        let converted = match self.settings.format {
            Format::Json => None,
            format => match self.convert(json, format) {
                Ok(()) => Some(std::mem::take(&mut self.converted)),
                Err(_) => return write_line(out, &NoBid::invalid()),
            },
        };
        let bytes = converted.as_deref().unwrap_or(json);
        let visit = Decide {
            settings: &self.settings,
            snapshot: &self.snapshot,
            scratch: &mut self.scratch,
            bids: &mut self.bids,
            out,
        };
        if self
            .reader
            .read(self.settings.format, bytes, visit)
            .is_err()
        {
            write_line(out, &NoBid::invalid());
        }
        self.converted = converted.unwrap_or_default();
    }

    fn convert(&mut self, json: &[u8], format: Format) -> Result<(), wire::DecodeError> {
        let request: BidRequest = wire::decode(Format::Json, json, &self.settings.limits)?;
        self.converted.clear();
        wire::encode(format, &request, &mut self.converted);
        Ok(())
    }
}

/// One decision, over whichever view.
struct Decide<'d> {
    settings: &'d Settings,
    snapshot: &'d Snapshot<MemoryBook>,
    scratch: &'d mut Scratch,
    bids: &'d mut u128,
    out: &'d mut Vec<u8>,
}

impl Visit for Decide<'_> {
    type Out = ();

    fn visit<'a, V: RequestView<'a>>(self, view: &V) {
        let mut ids = || {
            *self.bids += 1;
            BidId(*self.bids)
        };
        let Settings { rates, now, .. } = self.settings;
        let decision = engine::decide(view, self.snapshot, rates, *now, self.scratch, &mut ids);
        write_decision(&decision, rates.base(), self.out);
        if !self.settings.spend {
            for bid in decision.bids() {
                self.snapshot.book().cancel(bid.id);
            }
        }
    }
}

/// Appends a decision as one JSON object and a newline.
pub fn write_decision(decision: &Decision<'_>, base: Currency, out: &mut Vec<u8>) {
    let id = decision.id.map(openrtb::Text::into_string);
    match decision.no_bid() {
        Some(reason) => write_line(out, &NoBid::new(id, reason)),
        None => {
            let bids = decision.bids().iter();
            let bids = bids.map(|bid| BidLine::new(bid, base)).collect();
            write_line(out, &Bids { id, bids });
        }
    }
}

fn write_line(out: &mut Vec<u8>, line: &impl Serialize) {
    // Writing to a vector cannot fail, and no value of these can fail to be written.
    let _ = serde_json::to_writer(&mut *out, line);
    out.push(b'\n');
}

#[derive(Serialize)]
struct Bids {
    id: Option<String>,
    bids: Vec<BidLine>,
}

#[derive(Serialize)]
struct BidLine {
    imp: String,
    deal: Option<String>,
    line_item: String,
    creative: String,
    price_micros: i64,
    cur: String,
}

impl BidLine {
    fn new(bid: &Bid<'_>, base: Currency) -> BidLine {
        BidLine {
            imp: bid.imp.into_string(),
            deal: bid.deal.map(openrtb::Text::into_string),
            line_item: bid.item.id.clone(),
            creative: bid.creative.id.clone(),
            price_micros: bid.price.0,
            cur: base.code().to_owned(),
        }
    }
}

#[derive(Serialize)]
struct NoBid {
    id: Option<String>,
    no_bid: &'static str,
    nbr: i32,
}

impl NoBid {
    fn new(id: Option<String>, reason: Reason) -> NoBid {
        NoBid {
            id,
            no_bid: reason.name(),
            nbr: reason.nbr(),
        }
    }

    fn invalid() -> NoBid {
        NoBid::new(None, Reason::InvalidRequest)
    }
}

fn parse_moment(text: &str) -> Result<Timestamp, String> {
    bidder::time::parse(text)
        .ok_or_else(|| "not a time of RFC 3339 such as 2026-12-01T12:00:00Z".to_owned())
}

fn parse_currency(text: &str) -> Result<Currency, String> {
    Currency::parse(text).ok_or_else(|| "not three letters of ISO 4217".to_owned())
}

pub(crate) fn parse_format(text: &str) -> Result<Format, String> {
    let names = Format::ALL.map(Format::name).join(", ");
    Format::from_name(text).ok_or_else(|| format!("not one of {names}"))
}
