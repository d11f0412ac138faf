//! The index over each format's view decides as the naive twin does, bids and reasons: on generated
//! requests whose values were changed, and, where the twin finds the bytes well-formed, on messages
//! whose bytes were.
//!
//! A decision over one format's bytes, held against the twin's, counts as one execution. How many and
//! which, from the environment: `NEARBID_EXECUTIONS` (in all), `NEARBID_SEED`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{
    BidId, Book as _, Catalog, Decision, MemoryBook, MemoryBudgets, MemoryLimits, Rates, Scratch,
    Snapshot, Timestamp, naive,
};
use nearbid::generate::Traffic;
use openrtb::{Currency, Micros, Reason, RequestView};
use serde_json::{Value, json};
use wire::message::{BidRequest, Entry, Extension, FieldSource, Message};
use wire::{Encoder, Format, Reader, Visit};

/// Without an environment: what a run of all tests has time for.
const EXECUTIONS: u64 = 120_000;
/// Requests that values are drawn from.
const REQUESTS: u64 = 512;
/// A request whose values were changed as often is another one next.
const CHANGES_MAX: usize = 4;
/// A request gets more impressions from another one below this.
const IMPS_MAX: usize = 4;
/// Changed requests that are decided on with the same line items.
const REQUESTS_A_CATALOG: u64 = 500;
/// 2026-06-01T12:00:00Z, a Monday.
const NOW: Timestamp = Timestamp(1_780_315_200_000_000);

#[test]
fn every_format_decides_as_the_naive_twin() {
    let executions = number("NEARBID_EXECUTIONS", EXECUTIONS);
    let seed = number("NEARBID_SEED", 1);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    println!("NEARBID_EXECUTIONS={executions} NEARBID_SEED={seed}, {threads} threads");
    let done: Vec<Done> = std::thread::scope(|scope| {
        let run = |thread| move || Run::new(seed * 1000 + thread).until(executions / threads);
        let threads: Vec<_> = (0..threads).map(|t| scope.spawn(run(t))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let sum = |of: fn(&Done) -> u64| done.iter().map(of).sum::<u64>();
    let reasons: Vec<_> = (0..Reason::ALL.len())
        .map(|at| done.iter().map(|done| done.reasons[at]).sum::<u64>())
        .zip(Reason::ALL)
        .filter(|(count, _)| *count > 0)
        .map(|(count, reason)| format!("{} {count}", reason.name()))
        .collect();
    println!(
        "{} executions ({} on changed bytes, {} of them refused): bids {}, {}",
        sum(|done| done.executions),
        sum(|done| done.on_changed_bytes),
        sum(|done| done.refused),
        sum(|done| done.bids),
        reasons.join(", ")
    );
    // What is compared has to get everywhere, or the comparison says little.
    assert!(sum(|done| done.bids) > 0);
    assert!(reasons.len() >= 12, "{reasons:?}");
}

/// What a reader does not look at is nobody's business: with all of it changed the decision stays.
#[test]
fn bytes_that_are_not_looked_at_do_not_matter() {
    let mut run = Run::new(number("NEARBID_SEED", 1));
    let (mut unread, mut all) = ([0; 3], [0; 3]);
    for _ in 0..12 {
        let mut line_items = LineItems::new(&mut run);
        for _ in 0..25 {
            let request = run.pick().clone();
            for (at, format) in Format::ALL.into_iter().enumerate() {
                let mut bytes = Vec::new();
                wire::encode(format, &request, &mut bytes);
                let (expect, looked_at) = wire::record::looked_at(&bytes, || {
                    line_items.decide(&mut run.reader, &mut run.scratch, format, &bytes)
                });
                all[at] += bytes.len();
                unread[at] += looked_at.iter().filter(|looked_at| !**looked_at).count();
                for _ in 0..4 {
                    let draw = &mut run.draw;
                    let others = bytes.iter_mut().zip(&looked_at).filter(|(_, is)| !**is);
                    others.for_each(|(byte, _)| *byte = draw.bits() as u8);
                    let got = line_items.decide(&mut run.reader, &mut run.scratch, format, &bytes);
                    assert!(got == expect, "{format} {got:?} {expect:?}\n{bytes:?}");
                }
            }
        }
    }
    let share = |at: usize| unread[at] * 100 / all[at];
    println!(
        "not looked at: {} %, {} %, {} % of {:?}",
        share(0),
        share(1),
        share(2),
        Format::ALL
    );
    // JSON is looked at to find where things end; the others say so.
    assert!(share(0) > 50 && share(1) > 70, "{} {}", share(0), share(1));
}

fn number(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(otherwise, |value| value.parse().unwrap())
}

#[derive(Default)]
struct Done {
    executions: u64,
    on_changed_bytes: u64,
    refused: u64,
    bids: u64,
    reasons: [u64; Reason::ALL.len()],
}

struct Run {
    draw: Draw,
    requests: Vec<BidRequest>,
    /// The one that is being changed, and how often it is yet to be.
    request: BidRequest,
    changes: usize,
    encoders: [Encoder; 3],
    reader: Reader,
    scratch: Scratch,
    done: Done,
}

impl Run {
    fn new(seed: u64) -> Run {
        Run {
            draw: Draw(seed),
            requests: Traffic::new(seed).take(REQUESTS as usize).collect(),
            request: BidRequest::default(),
            changes: 0,
            encoders: Default::default(),
            reader: Reader::default(),
            scratch: Scratch::default(),
            done: Done::default(),
        }
    }

    fn until(mut self, executions: u64) -> Done {
        let (start, mut told) = (Instant::now(), Instant::now());
        while self.done.executions < executions {
            let mut line_items = LineItems::new(&mut self);
            for _ in 0..REQUESTS_A_CATALOG {
                self.one(&mut line_items);
            }
            if told.elapsed() > Duration::from_secs(60) {
                told = Instant::now();
                let seconds = start.elapsed().as_secs();
                println!("{} executions after {seconds} s", self.done.executions);
            }
        }
        self.done
    }

    /// One changed request: in all formats, then with its bytes changed.
    fn one(&mut self, line_items: &mut LineItems) {
        let mut request = std::mem::take(&mut self.request);
        if self.changes == 0 {
            self.changes = CHANGES_MAX;
            request.clone_from(self.pick());
        }
        self.changes -= 1;
        for _ in 0..=self.draw.below(4) {
            self.change(&mut request);
        }
        // JSON is dearest to read.
        let twin = [
            Format::Protobuf,
            Format::FlatBuffers,
            Format::FlatBuffers,
            Format::Json,
        ];
        let twin = self.draw.pick(&twin);
        let mut encoders = std::mem::take(&mut self.encoders);
        let bytes: Vec<&[u8]> = Format::ALL
            .into_iter()
            .zip(&mut encoders)
            .map(|(format, encoder)| encoder.encode(format, &request))
            .collect();
        let expect = line_items.naively(&mut self.reader, twin, bytes[twin as usize]);
        for (format, bytes) in Format::ALL.into_iter().zip(&bytes) {
            let got = line_items.decide(&mut self.reader, &mut self.scratch, format, bytes);
            assert!(
                got == expect,
                "{format} {got:?}, the twin over {twin} {expect:?}\n{}\n{}",
                line_items.text,
                String::from_utf8_lossy(&json_of(&request))
            );
            self.done.executions += 1;
        }
        match expect {
            Some(Outcome::NoBid(reason)) => {
                let at = Reason::ALL.iter().position(|r| *r == reason).unwrap();
                self.done.reasons[at] += 1;
            }
            Some(Outcome::Bids(_)) => self.done.bids += 1,
            Some(Outcome::Invalid(_)) | None => {}
        }
        let format = Format::ALL[self.draw.below(3)];
        let changed = self.draw.changed(bytes[format as usize]);
        self.encoders = encoders;
        self.request = request;
        self.on_changed(line_items, format, &changed);
    }

    fn on_changed(&mut self, line_items: &mut LineItems, format: Format, bytes: &[u8]) {
        let got = line_items.decide(&mut self.reader, &mut self.scratch, format, bytes);
        let expect = line_items.naively(&mut self.reader, format, bytes);
        self.done.executions += 1;
        self.done.on_changed_bytes += 1;
        match expect {
            // The twin reads everything, the index what it needs: only the twin may see the damage.
            None | Some(Outcome::Invalid(_)) => self.done.refused += 1,
            expect => assert!(
                got == expect,
                "{format} {got:?}, the twin {expect:?}\n{}\n{bytes:?}",
                line_items.text
            ),
        }
    }

    fn pick(&mut self) -> &BidRequest {
        let at = self.draw.below(self.requests.len());
        &self.requests[at]
    }

    /// Takes a part from another request, or draws a field of a part that decisions look at.
    fn change(&mut self, request: &mut BidRequest) {
        let other = &self.requests[self.draw.below(self.requests.len())];
        let draw = &mut self.draw;
        match draw.below(22) {
            0 => request.device.clone_from(&other.device),
            1 => request.imp.clone_from(&other.imp),
            2 if request.imp.len() < IMPS_MAX => request.imp.extend(other.imp.iter().cloned()),
            3 => request.site.clone_from(&other.site),
            4 => request.app.clone_from(&other.app),
            5 => request.cur.clone_from(&other.cur),
            6 => {
                request.bcat.clone_from(&other.bcat);
                request.badv.clone_from(&other.badv);
            }
            7 => draw.field(request),
            8..=10 => draw.any(&mut request.imp, Draw::field),
            11 => draw.any(&mut request.imp, |draw, imp| draw.part(&mut imp.banner)),
            12 | 13 => draw.any(&mut request.imp, |draw, imp| draw.part(&mut imp.video)),
            14 => draw.any(&mut request.imp, |draw, imp| draw.part(&mut imp.audio)),
            15 => draw.any(&mut request.imp, |draw, imp| draw.part(&mut imp.native)),
            16 => draw.any(&mut request.imp, |draw, imp| draw.part(&mut imp.pmp)),
            17 => draw.any(&mut request.imp, |draw, imp| {
                let deals = imp.pmp.iter_mut().flat_map(|pmp| &mut pmp.deals);
                deals.for_each(|deal| draw.field(deal));
            }),
            18 => draw.part(&mut request.device),
            19 => {
                let device = request.device.get_or_insert_default();
                draw.part(&mut device.geo);
            }
            20 => draw.part(&mut request.site),
            _ => draw.part(&mut request.app),
        }
    }
}

fn json_of(request: &BidRequest) -> Vec<u8> {
    let mut bytes = Vec::new();
    wire::encode(Format::Json, request, &mut bytes);
    bytes
}

/// What a decision came to; `None` where the reader opens no view.
type Decided = Option<Outcome>;

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    NoBid(Reason),
    /// Why it is [`Reason::InvalidRequest`].
    Invalid(engine::Invalid),
    /// Impression, deal, line item, creative and price of each.
    Bids(Vec<(String, Option<String>, String, String, Micros)>),
}

impl Outcome {
    fn of(decision: &Decision<'_>, book: &MemoryBook) -> Outcome {
        for bid in decision.bids() {
            book.cancel(bid.id);
        }
        match (&decision.outcome, decision.no_bid()) {
            (engine::Outcome::Invalid(cause), _) => Outcome::Invalid(*cause),
            (_, Some(reason)) => Outcome::NoBid(reason),
            (_, None) => Outcome::Bids(
                decision
                    .bids()
                    .iter()
                    .map(|bid| {
                        let deal = bid.deal.map(openrtb::Text::into_string);
                        let (item, creative) = (bid.item.id.clone(), bid.creative.id.clone());
                        (bid.imp.into_string(), deal, item, creative, bid.price)
                    })
                    .collect(),
            ),
        }
    }
}

/// Line items drawn from what requests say, so that they are met now and then.
struct LineItems {
    text: String,
    snapshot: Snapshot<MemoryBook>,
    rates: Rates,
    bids: u128,
}

impl LineItems {
    fn new(run: &mut Run) -> LineItems {
        let count = 1 + run.draw.below(24);
        let items: Vec<Value> = (0..count).map(|at| line_item(run, at)).collect();
        let text = serde_json::to_string(&items).unwrap();
        let items = bidder::line_items::parse(Path::new("drawn"), &text);
        let items = items.unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        let catalog = Arc::new(Catalog::build(items).unwrap());
        let budgets = MemoryBudgets::new(MemoryLimits::default());
        let rates = [("EUR", 1_080_000), ("GBP", 1_270_000), ("JPY", 6_700)]
            .map(|(code, rate)| (Currency::parse(code).unwrap(), Micros(rate)));
        LineItems {
            text,
            snapshot: Snapshot::open(catalog, &budgets, NOW),
            rates: Rates::new(Currency::USD, rates.to_vec()),
            bids: 0,
        }
    }

    fn decide(
        &mut self,
        reader: &mut Reader,
        scratch: &mut Scratch,
        format: Format,
        bytes: &[u8],
    ) -> Decided {
        let decide = Indexed(self, scratch);
        reader.read(format, bytes, decide).ok()
    }

    fn naively(&mut self, reader: &mut Reader, format: Format, bytes: &[u8]) -> Decided {
        reader.read(format, bytes, Naively(self)).ok()
    }
}

struct Indexed<'d>(&'d mut LineItems, &'d mut Scratch);

impl Visit for Indexed<'_> {
    type Out = Outcome;

    fn visit<'a, V: RequestView<'a>>(self, view: &V) -> Outcome {
        let Indexed(line_items, scratch) = self;
        let LineItems {
            snapshot,
            rates,
            bids,
            ..
        } = line_items;
        let mut ids = || next(bids);
        let decision = engine::decide(view, snapshot, rates, NOW, scratch, &mut ids);
        Outcome::of(&decision, snapshot.book())
    }
}

struct Naively<'d>(&'d mut LineItems);

impl Visit for Naively<'_> {
    type Out = Outcome;

    fn visit<'a, V: RequestView<'a>>(self, view: &V) -> Outcome {
        let LineItems {
            snapshot,
            rates,
            bids,
            ..
        } = self.0;
        let mut ids = || next(bids);
        let decision = naive::decide(view, snapshot, rates, NOW, &mut ids);
        Outcome::of(&decision, snapshot.book())
    }
}

fn next(bids: &mut u128) -> BidId {
    *bids += 1;
    BidId(*bids)
}

/// A line item that targets some of what a request says.
fn line_item(run: &mut Run, at: usize) -> Value {
    let request = run.pick().clone();
    let draw = &mut run.draw;
    let mut item = json!({
        "id": format!("item-{at}"),
        "adomain": [draw.pick(&["brand.example", "www.shop.example", "Car.Example"])],
        "cpm": draw.pick(&[0.01, 0.5, 1.0, 2.5, 7.25, 30.0]),
        "targeting": targeting(draw, &request),
        "creatives": (0..=draw.below(2)).map(|n| creative(draw, n)).collect::<Vec<_>>(),
    });
    for (key, value) in [
        ("seat", json!(draw.pick(&["default", "seat-1", "seat-2"]))),
        ("status", json!("paused")),
        (
            "start",
            json!(draw.pick(&["2026-05-01T00:00:00Z", "2026-06-02T00:00:00Z"])),
        ),
        (
            "end",
            json!(draw.pick(&["2026-06-01T12:00:00Z", "2027-01-01T00:00:00Z"])),
        ),
        (
            "cat",
            json!([draw.pick(&["IAB1", "IAB7-1", "IAB19-18", "IAB25"])]),
        ),
        ("cattax", json!(draw.pick(&[1, 6]))),
        (
            "bundle",
            json!(draw.pick(&["com.example.game", "1234567890"])),
        ),
        (
            "budget",
            json!({ "total": draw.pick(&[0.000_001, 0.01, 100.0]) }),
        ),
    ] {
        if draw.below(8) == 0 {
            item[key] = value;
        }
    }
    item
}

/// Keys of a targeting, each with what a request would meet, if it says anything there.
type Keys = Vec<(&'static str, Option<Value>)>;

/// Few keys, or nothing would get far; most often one.
fn targeting(draw: &mut Draw, request: &BidRequest) -> Value {
    let keys = [
        of_device(draw, request),
        of_channel(draw, request),
        of_imp(draw, request),
    ]
    .concat();
    let mut targeting = json!({});
    for _ in 0..=draw.below(3) {
        if let (key, Some(value)) = &keys[draw.below(keys.len())] {
            targeting[*key] = value.clone();
        }
    }
    targeting
}

fn of_device(draw: &mut Draw, request: &BidRequest) -> Keys {
    let device = request.device.clone().unwrap_or_default();
    let geo = device.geo.clone().unwrap_or_default();
    let country = geo.country.filter(|code| code.len() == 3);
    let from = draw.below(12);
    let hours = json!([{ "days": ["mon"], "from": from, "to": 12 + draw.below(12) }]);
    let least = draw.pick(&["4", "14.2", "17.0.1"]);
    let os = |name| json!([{ "name": name, "min_version": least }]);
    vec![
        ("countries", country.map(|country| json!([country, "DEU"]))),
        ("device_types", between(1..=8, device.devicetype)),
        ("connection_types", between(1..=7, device.connectiontype)),
        ("places", draw.chosen(Some("regions"), geo.region)),
        ("places", draw.chosen(Some("cities"), geo.city)),
        ("places", draw.chosen(Some("metros"), geo.metro)),
        ("os", device.os.map(os)),
        ("hours", Some(hours)),
    ]
}

fn of_channel(draw: &mut Draw, request: &BidRequest) -> Keys {
    let site = request.site.clone().unwrap_or_default();
    let app = request.app.clone().unwrap_or_default();
    let content = site.content.or(app.content).unwrap_or_default();
    let publisher = site.publisher.or(app.publisher).unwrap_or_default();
    let cat = [site.cat, app.cat, content.cat].concat();
    let cattax = draw.pick(&[1, 1, 6]);
    let categories = |cat: &String| json!({ "include": [cat], "cattax": cattax });
    let channel = draw.pick(&["site", "app", "dooh"]);
    vec![
        ("channels", Some(json!([channel]))),
        ("inventory", draw.chosen(Some("domains"), site.domain)),
        ("inventory", draw.chosen(Some("bundles"), app.bundle)),
        ("publishers", draw.chosen(None, publisher.id)),
        ("languages", draw.chosen(None, content.language)),
        ("categories", cat.first().map(categories)),
    ]
}

fn of_imp(draw: &mut Draw, request: &BidRequest) -> Keys {
    let imp = request.imp.first().cloned().unwrap_or_default();
    let video = imp.video.unwrap_or_default();
    let pos = video.pos.or(imp.banner.and_then(|banner| banner.pos));
    let deals = imp.pmp.unwrap_or_default().deals.into_iter();
    let deals: Vec<_> = deals.flat_map(|deal| deal.id).collect();
    let bound = draw.pick(&["min_w", "max_w"]);
    vec![
        ("deals", (!deals.is_empty()).then(|| json!(deals))),
        ("video_size", Some(json!({ bound: 640 }))),
        ("positions", between(1..=7, pos)),
        ("plcmts", between(1..=4, video.plcmt)),
        ("interstitial", Some(json!(draw.below(2) == 0))),
        ("rewarded", Some(json!(draw.below(2) == 0))),
    ]
}

fn between(range: std::ops::RangeInclusive<i32>, value: Option<i32>) -> Option<Value> {
    let value = value.filter(|value| range.contains(value));
    value.map(|value| json!([value]))
}

fn creative(draw: &mut Draw, number: usize) -> Value {
    let mut creative = json!({ "id": format!("creative-{number}"), "adm": "<x/>" });
    let media = draw.pick(&["banner", "video", "audio", "native"]);
    creative["type"] = json!(media);
    let (w, h) = draw.pick(&[(300, 250), (320, 50), (728, 90)]);
    let keys = match media {
        "banner" => vec![
            ("w", json!(w)),
            ("h", json!(h)),
            ("mime", json!("image/jpeg")),
        ],
        "video" => vec![
            ("mime", json!("video/mp4")),
            ("duration", json!(draw.pick(&[6, 15, 30]))),
            ("protocol", json!(draw.pick(&[2, 3, 7]))),
        ],
        "audio" => vec![("mime", json!("audio/mp4")), ("duration", json!(30))],
        _ => Vec::new(),
    };
    for (key, value) in keys {
        creative[key] = value;
    }
    if draw.below(6) == 0 {
        creative["attr"] = json!([draw.pick(&[1, 3, 6])]);
    }
    if draw.below(6) == 0 {
        creative["secure"] = json!(false);
    }
    creative
}

/// SplitMix64, and what is drawn with it.
struct Draw(u64);

type Drawn = Result<(), Infallible>;

const TEXTS: &[&str] = &[
    "a",
    "0",
    "é",
    "日本",
    "USA",
    "us",
    " deu ",
    "XX",
    "USD",
    "eur",
    " GBP",
    "1.5",
    "seat-1",
    "default",
    "brand.example",
    "shop.example.",
    "IAB1",
    "IAB19",
    "com.example.game",
    "en",
    "en-US",
    "video/mp4",
    "IMAGE/JPEG",
    "iOS",
    "14.2.1",
    "\u{1}\"\\/",
];
const INTS: &[i32] = &[
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    -1,
    15,
    30,
    60,
    300,
    250,
    320,
    640,
    1080,
    65_536,
    i32::MAX,
    i32::MIN,
];
const DOUBLES: &[f64] = &[
    0.0,
    -1.0,
    1.0,
    0.5,
    1e-9,
    0.000_001,
    2.5,
    2.500_000_1,
    7.25,
    1e15,
    1e300,
    -0.0,
];

impl Draw {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Draws one field of a message, or takes it away.
    fn field<M: Message>(&mut self, message: &mut M) {
        let (number, ..) = M::FIELDS[self.below(M::FIELDS.len())];
        let Ok(known) = message.read(number, self);
        assert!(known);
    }

    /// As [`Draw::field`], of a message that may have to be made first, or goes.
    fn part<M: Message>(&mut self, message: &mut Option<Box<M>>) {
        if self.below(8) == 0 {
            *message = None;
        } else {
            self.field(message.get_or_insert_default().as_mut());
        }
    }

    fn any<T>(&mut self, list: &mut [T], mut change: impl FnMut(&mut Draw, &mut T)) {
        if !list.is_empty() {
            let at = self.below(list.len());
            change(self, &mut list[at]);
        }
    }

    /// Includes or excludes an entry, of the list with this key where there are several.
    fn chosen(&mut self, key: Option<&str>, entry: Option<String>) -> Option<Value> {
        let which = self.pick(&["include", "include", "exclude"]);
        let list = json!([entry?]);
        Some(match key {
            Some(key) => json!({ which: { key: list } }),
            None => json!({ which: list }),
        })
    }

    /// A copy with a few bytes changed, left out or cut off.
    fn changed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len().max(1));
            let change = self.below(16);
            match bytes.get_mut(at) {
                Some(byte) if change < 6 => *byte ^= 1 << self.below(8),
                Some(byte) if change < 12 => *byte = self.bits() as u8,
                Some(_) if change < 14 => drop(bytes.remove(at)),
                Some(byte) if change < 15 => {
                    let byte = *byte;
                    bytes.insert(at, byte);
                }
                _ => bytes.truncate(at),
            }
        }
        bytes
    }

    fn many<T>(&mut self, into: &mut Vec<T>, mut draw: impl FnMut(&mut Draw) -> T) -> Drawn {
        if self.below(4) == 0 {
            into.clear();
            return Ok(());
        }
        for _ in 0..=self.below(2) {
            let value = draw(self);
            into.push(value);
        }
        Ok(())
    }

    fn maybe<T>(&mut self, into: &mut Option<T>, value: T) -> Drawn {
        *into = (self.below(6) > 0).then_some(value);
        Ok(())
    }
}

impl FieldSource for Draw {
    type Error = Infallible;

    fn string(&mut self, into: &mut Option<String>) -> Drawn {
        let value = self.pick(TEXTS).to_owned();
        self.maybe(into, value)
    }

    fn int(&mut self, into: &mut Option<i32>) -> Drawn {
        let value = self.pick(INTS);
        self.maybe(into, value)
    }

    fn bool(&mut self, into: &mut Option<bool>) -> Drawn {
        let value = self.below(2) == 0;
        self.maybe(into, value)
    }

    fn double(&mut self, into: &mut Option<f64>) -> Drawn {
        let value = self.pick(DOUBLES);
        self.maybe(into, value)
    }

    fn floor(&mut self, into: &mut Option<f64>) -> Drawn {
        self.double(into)
    }

    fn message<M: Message>(&mut self, into: &mut Option<Box<M>>) -> Drawn {
        self.part(into);
        Ok(())
    }

    /// An extension means nothing to a decision.
    fn ext<E: Extension>(&mut self, _: &mut Option<Box<E>>) -> Drawn {
        Ok(())
    }

    fn rest(&mut self, _: &mut Option<String>) -> Drawn {
        Ok(())
    }

    fn json(&mut self, into: &mut Option<String>) -> Drawn {
        self.maybe(into, "{\"a\":1}".to_owned())
    }

    fn strings(&mut self, into: &mut Vec<String>) -> Drawn {
        self.many(into, |draw| draw.pick(TEXTS).to_owned())
    }

    fn ints(&mut self, into: &mut Vec<i32>) -> Drawn {
        self.many(into, |draw| draw.pick(INTS))
    }

    fn messages<M: Message>(&mut self, into: &mut Vec<M>) -> Drawn {
        self.many(into, |draw| {
            let mut message = M::default();
            draw.field(&mut message);
            draw.field(&mut message);
            message
        })
    }

    fn entries<E: Entry>(&mut self, into: &mut Vec<E>) -> Drawn {
        self.many(into, |draw| E::new("a".to_owned(), draw.pick(DOUBLES)))
    }
}
