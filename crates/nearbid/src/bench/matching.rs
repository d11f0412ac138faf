//! Finding the best line item, or none, among 10 to 1,000,000: the index against the naive twin,
//! which holds every line item against every rule. All three figures include the reason.
//!
//! Budgets never run out here, so that a bid costs no more than a no and leaves nothing behind.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::ensure;
use engine::{
    BLOCK_LEN, BidId, Block, Book, BudgetCeilings, Budgets, Catalog, Creative, Decision, LineItem,
    Notice, Position, Rates, Scratch, Snapshot, Status, Targeting, Timestamp, VideoSize, naive,
};
use openrtb::{
    CategoriesOf, Channel, ChannelText, Country, Currency, DealTexts, DealView, DeviceInt,
    DeviceText, DeviceType, ImpView, MediaInt, MediaInts, MediaType, MediaTypes, Micros, Read,
    RequestTexts, RequestView, Step, Text,
};
use serde_json::{Value, json};

use super::measure::{quartiles, tenth, timed};
use super::report::{self, Report};
use super::{Options, plot};

const COUNTS: [usize; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];
const COUNT_QUICK_MAX: usize = 100_000;
/// The naive twin is asked this often at most: line items times requests.
const NAIVE_WORK_MAX: usize = 8_000_000;
/// The A-tree takes long to build beyond this.
#[cfg(feature = "peers")]
const TREE_ITEMS_MAX: usize = 10_000;
const NOW: Timestamp = Timestamp(1_780_315_200_000_000);
const HEAD: [&str; 8] = [
    "line items",
    "hit ns",
    "miss ns",
    "linear ns",
    "miss of linear",
    "A-tree hit",
    "A-tree miss",
    "build ms",
];

/// Runs the bench.
///
/// # Errors
/// The index and the twin decide differently.
pub fn run(options: &Options) -> anyhow::Result<Report> {
    let mut sizes = Vec::new();
    for count in COUNTS {
        if count <= COUNT_QUICK_MAX || !options.quick {
            sizes.push(measure(count, options)?);
        }
    }
    let line = |of: fn(&Size) -> Option<f64>| {
        sizes
            .iter()
            .filter_map(|size| Some((size.count as f64, of(size)?)))
            .collect()
    };
    let series = [
        ("hit", line(|size| Some(size.hit))),
        ("miss", line(|size| Some(size.miss))),
        ("linear", line(|size| Some(size.linear))),
        ("A-tree hit", line(|size| size.tree.map(|(hit, _)| hit))),
        ("A-tree miss", line(|size| size.tree.map(|(_, miss)| miss))),
    ];
    let title = "Matching: the best line item, or why there is none";
    let cells = sizes.iter().map(Size::cells).collect();
    let rows = sizes.iter().map(Size::row).collect();
    let plot = plot::lines(title, &series);
    let table = (HEAD.to_vec(), cells);
    let mut report = Report::of_table(("matching", title), options, table, rows, plot);
    report.notes = notes(&sizes);
    Ok(report)
}

fn notes(sizes: &[Size]) -> Vec<String> {
    let at = |count: usize| sizes.iter().find(|size| size.count == count);
    let mut notes = Vec::new();
    if let (Some(few), Some(many)) = (at(100), at(100_000)) {
        let times = many.hit / few.hit;
        notes.push(format!(
            "A hit at 100,000 costs {times:.2} × that at 100 (at most 3)."
        ));
    }
    if let Some(most) = at(1_000_000) {
        let part = most.linear / most.miss;
        notes.push(format!(
            "A miss at 1,000,000 costs 1/{part:.0} of linear (at most 1/500)."
        ));
    }
    notes.push(
        "Hits are the best of several; misses have line items for the country and for the device \
         type, but none for both, and the country changes from request to request."
            .to_owned(),
    );
    let peers = cfg!(feature = "peers");
    let tree = "The A-tree gives no reason; past 10,000 line items it takes too long to build.";
    notes.push(if peers { tree } else { report::WITHOUT_PEERS }.to_owned());
    notes
}

/// What was measured at one number of line items.
struct Size {
    count: usize,
    hit: f64,
    miss: f64,
    linear: f64,
    /// Hit and miss of the A-tree.
    tree: Option<(f64, f64)>,
    build_ms: f64,
}

impl Size {
    fn row(&self) -> Value {
        json!({
            "line_items": self.count,
            "hit_ns": tenth(self.hit),
            "miss_ns": tenth(self.miss),
            "linear_ns": tenth(self.linear),
            "a_tree_hit_ns": self.tree.map(|(hit, _)| tenth(hit)),
            "a_tree_miss_ns": self.tree.map(|(_, miss)| tenth(miss)),
            "build_ms": tenth(self.build_ms),
        })
    }

    fn cells(&self) -> Vec<String> {
        let some = |ns: Option<f64>| ns.map_or("–".to_owned(), |ns| format!("{ns:.0}"));
        vec![
            self.count.to_string(),
            format!("{:.1}", self.hit),
            format!("{:.1}", self.miss),
            format!("{:.0}", self.linear),
            format!("1/{:.0}", self.linear / self.miss.max(f64::MIN_POSITIVE)),
            some(self.tree.map(|(hit, _)| hit)),
            some(self.tree.map(|(_, miss)| miss)),
            format!("{:.1}", self.build_ms),
        ]
    }
}

fn measure(count: usize, options: &Options) -> anyhow::Result<Size> {
    let dice = &mut Dice(options.seed);
    let mut items: Vec<_> = (0..count).map(|number| line_item(number, dice)).collect();
    let mut catalog = Catalog::build(Vec::new());
    let build_ns = timed(&mut || catalog = Catalog::build(std::mem::take(&mut items)));
    let snapshot = Snapshot::open(Arc::new(catalog?), &Endless, NOW);
    let hits: Vec<_> = (0..options.requests())
        .map(|at| request(at, true, dice))
        .collect();
    let misses: Vec<_> = (0..options.requests())
        .map(|at| request(at, false, dice))
        .collect();
    let rounds = options.rounds();

    let asked = (NAIVE_WORK_MAX / count / 2).clamp(1, options.requests());
    let twin = Twin {
        snapshot: &snapshot,
        rates: Rates::new(Currency::USD, []),
    };
    let mut linear = Vec::new();
    let mut index = Index {
        snapshot: &snapshot,
        rates: twin.rates.clone(),
        scratch: Scratch::default(),
    };
    for (hit, miss) in hits.iter().zip(&misses).take(asked) {
        for request in [hit, miss] {
            let (ours, theirs) = (index.decide(request), twin.decide(request));
            ensure!(
                same(&ours, &theirs),
                "at {count} line items: {ours:?}, naively {theirs:?}"
            );
        }
        ensure!(index.decide(miss).bids().is_empty(), "a miss hit");
    }
    let (mut hit, mut miss) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        hit.push(per_request(&hits, |request| {
            drop(black_box(index.decide(request)))
        }));
        miss.push(per_request(&misses, |request| {
            drop(black_box(index.decide(request)))
        }));
        // The twin's figure moves little and takes long.
        if round < 3 {
            let some = misses.get(..asked).unwrap_or(&misses);
            linear.push(per_request(some, |request| {
                drop(black_box(twin.decide(request)))
            }));
        }
    }
    Ok(Size {
        count,
        hit: quartiles(&hit).1,
        miss: quartiles(&miss).1,
        linear: quartiles(&linear).1,
        tree: tree(&snapshot, &mut index, &hits, &misses)?,
        build_ms: build_ns / 1e6,
    })
}

/// CPU nanoseconds a request.
fn per_request(requests: &[Request], mut decide: impl FnMut(&Request)) -> f64 {
    timed(&mut || requests.iter().for_each(&mut decide)) / requests.len().max(1) as f64
}

struct Index<'s> {
    snapshot: &'s Snapshot<Endless>,
    rates: Rates,
    scratch: Scratch,
}

impl<'s> Index<'s> {
    fn decide(&mut self, request: &Request) -> Decision<'s> {
        let (rates, scratch) = (&self.rates, &mut self.scratch);
        engine::decide(&request, self.snapshot, rates, NOW, scratch, &mut || {
            BidId(1)
        })
    }
}

struct Twin<'s> {
    snapshot: &'s Snapshot<Endless>,
    rates: Rates,
}

impl<'s> Twin<'s> {
    fn decide(&self, request: &Request) -> Decision<'s> {
        naive::decide(&request, self.snapshot, &self.rates, NOW, &mut || BidId(1))
    }
}

fn same(a: &Decision<'_>, b: &Decision<'_>) -> bool {
    let bids = |of: &Decision<'_>| of.bids().iter().map(|bid| bid.position).collect::<Vec<_>>();
    a.no_bid() == b.no_bid() && bids(a) == bids(b)
}

#[cfg(feature = "peers")]
fn tree(
    snapshot: &Snapshot<Endless>,
    index: &mut Index<'_>,
    hits: &[Request],
    misses: &[Request],
) -> anyhow::Result<Option<(f64, f64)>> {
    const ASKED_MAX: usize = 512;
    if snapshot.catalog().len() > TREE_ITEMS_MAX {
        return Ok(None);
    }
    let matcher =
        peers::matching::Matcher::new(snapshot.catalog(), NOW).map_err(anyhow::Error::msg)?;
    let mut times = [0.0; 2];
    for (time, requests) in times.iter_mut().zip([hits, misses]) {
        let requests = requests.get(..ASKED_MAX).unwrap_or(requests);
        for request in requests {
            let best = matcher.best(&request.facts()).map_err(anyhow::Error::msg)?;
            let ours = index
                .decide(request)
                .bids()
                .first()
                .map(|bid| bid.position.index());
            ensure!(
                best == ours,
                "the A-tree finds {best:?}, the index {ours:?}"
            );
        }
        *time = per_request(requests, |request| {
            drop(black_box(matcher.best(&request.facts())))
        });
    }
    let [hit, miss] = times;
    Ok(Some((hit, miss)))
}

#[cfg(not(feature = "peers"))]
fn tree(
    _: &Snapshot<Endless>,
    _: &mut Index<'_>,
    _: &[Request],
    _: &[Request],
) -> anyhow::Result<Option<(f64, f64)>> {
    Ok(None)
}

/// Line items come in this many groups: a country's belong to one, and each group leaves out some
/// device types.
const GROUPS: u64 = 7;

/// A line item: one to three countries of a group, two of the group's four device types, a least
/// size of the player or none, a price between 0.50 and 30.
fn line_item(number: usize, dice: &mut Dice) -> LineItem {
    let group = dice.below(GROUPS);
    let countries = (0..=dice.below(3))
        .filter_map(|_| country(group, dice.below(1 << 16)))
        .collect();
    let first = dice.below(4);
    let device_types = [first, first + 1]
        .into_iter()
        .filter_map(|at| device_type(group, at % 4));
    let sized = dice.below(2) == 0;
    let video_size = VideoSize {
        min_w: sized.then_some(320 << dice.below(2)),
        min_h: sized.then_some(180 << dice.below(2)),
        ..VideoSize::default()
    };
    LineItem {
        id: format!("li-{number:07}"),
        seat: "default".to_owned(),
        status: Status::Active,
        start: None,
        end: None,
        adomain: vec!["brand.example".to_owned()],
        cat: Vec::new(),
        cattax: 1,
        bundle: None,
        cpm: Micros(500_000 + 10_000 * i64::try_from(dice.below(2_950)).unwrap_or(0)),
        budget: BudgetCeilings::default(),
        targeting: Targeting {
            countries,
            device_types: device_types.collect(),
            video_size,
            ..Targeting::default()
        },
        creatives: vec![Creative {
            id: "c".to_owned(),
            media: MediaType::Video,
            w: None,
            h: None,
            duration: Some(15),
            mime: Some("video/mp4".to_owned()),
            protocol: None,
            apis: Vec::new(),
            attr: Vec::new(),
            secure: true,
            adm: "<VAST/>".to_owned(),
        }],
    }
}

/// A country of a group.
fn country(group: u64, at: u64) -> Option<Country> {
    static ALL: std::sync::LazyLock<Vec<Country>> = std::sync::LazyLock::new(|| {
        let letters = || 'A'..='Z';
        let codes =
            letters().flat_map(|a| letters().flat_map(move |b| letters().map(move |c| [a, b, c])));
        codes
            .filter_map(|code| Country::from_alpha3(&String::from_iter(code)))
            .collect()
    });
    let of_group = ALL.len() as u64 / GROUPS;
    let at = (at % of_group) * GROUPS + group;
    ALL.get(at as usize).copied()
}

/// The device types of a group: 2 to 8 but for three, which differ from group to group. (1 would
/// be met by phones and tablets too.)
fn device_type(group: u64, at: u64) -> Option<DeviceType> {
    let number = 2 + (group + at) % 7;
    DeviceType::new(number.try_into().ok()?)
}

/// A request's open market: for a hit the country and a device type of the same group; for a miss
/// the country of one group, which is another each time, and a device type that it leaves out.
fn request(number: usize, hit: bool, dice: &mut Dice) -> Request {
    let group = number as u64 % GROUPS;
    let at = if hit {
        dice.below(4)
    } else {
        4 + dice.below(3)
    };
    Request {
        country: country(group, number as u64 / GROUPS),
        device_type: device_type(group, at),
        video_size: if dice.below(4) == 0 {
            (320, 180)
        } else {
            (1920, 1080)
        },
        bidfloor: 0.5 + dice.below(100) as f64 / 100.0,
    }
}

/// splitmix64: the same numbers for a seed, everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % end
    }
}

/// A request with nothing but what matching asks for, already read.
#[derive(Debug)]
struct Request {
    country: Option<Country>,
    device_type: Option<DeviceType>,
    video_size: (i32, i32),
    bidfloor: f64,
}

impl Request {
    #[cfg(feature = "peers")]
    fn facts(&self) -> peers::matching::Facts {
        let floor = match openrtb::Floor::from_units(self.bidfloor) {
            openrtb::Floor::At(floor) => floor,
            openrtb::Floor::Unmeetable => Micros(i64::MAX),
        };
        peers::matching::Facts {
            country: self.country,
            device_type: self.device_type,
            media: MediaTypes::NONE.with(MediaType::Video),
            video_size: Some(self.video_size),
            floor,
        }
    }
}

impl<'a> RequestView<'a> for &Request {
    type Imp = Self;

    fn id(&self) -> Read<Option<Text<'a>>> {
        Ok(Some(Text::Plain("r")))
    }

    fn imps(&self) -> Read<usize> {
        Ok(1)
    }

    fn imp(&self, _: usize) -> Read<Self> {
        Ok(self)
    }

    fn device_type(&self) -> Read<Option<DeviceType>> {
        Ok(self.device_type)
    }

    fn country(&self) -> Read<Option<Country>> {
        Ok(self.country)
    }

    fn test(&self) -> Read<bool> {
        Ok(false)
    }

    fn tmax_ms(&self) -> Read<Option<i32>> {
        Ok(None)
    }

    fn cattax(&self) -> Read<i32> {
        Ok(1)
    }

    fn texts(&self, _: RequestTexts, _: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        Ok(())
    }

    fn device_text(&self, _: DeviceText) -> Read<Option<Text<'a>>> {
        Ok(None)
    }

    fn device_int(&self, _: DeviceInt) -> Read<Option<i32>> {
        Ok(None)
    }

    fn channel(&self) -> Read<Option<Channel>> {
        Ok(None)
    }

    fn channel_text(&self, _: Channel, _: ChannelText) -> Read<Option<Text<'a>>> {
        Ok(None)
    }

    fn categories(&self, _: Channel, _: CategoriesOf, _: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        Ok(())
    }

    fn categories_tax(&self, _: Channel, _: CategoriesOf) -> Read<i32> {
        Ok(1)
    }
}

impl<'a> ImpView<'a> for &Request {
    type Deal = NoDeal;

    fn id(&self) -> Read<Option<Text<'a>>> {
        Ok(Some(Text::Plain("1")))
    }

    fn media_types(&self) -> Read<MediaTypes> {
        Ok(MediaTypes::NONE.with(MediaType::Video))
    }

    fn video_size(&self) -> Read<Option<(i32, i32)>> {
        Ok(Some(self.video_size))
    }

    fn banner_sizes(&self, _: impl FnMut(i32, i32) -> Step) -> Read<()> {
        Ok(())
    }

    fn bidfloor(&self) -> Read<Option<f64>> {
        Ok(Some(self.bidfloor))
    }

    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        Ok(None)
    }

    fn private_auction(&self) -> Read<bool> {
        Ok(false)
    }

    fn deals(&self, _: impl FnMut(NoDeal) -> Read<Step>) -> Read<()> {
        Ok(())
    }

    fn secure(&self) -> Read<bool> {
        Ok(true)
    }

    fn qty_multiplier(&self) -> Read<Option<f64>> {
        Ok(None)
    }

    fn mimes(&self, _: MediaType, _: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        Ok(())
    }

    fn ints(&self, _: MediaType, _: MediaInts, _: impl FnMut(i32) -> Step) -> Read<()> {
        Ok(())
    }

    fn int(&self, _: MediaType, _: MediaInt) -> Read<Option<i32>> {
        Ok(None)
    }

    fn priced_by_second(&self, _: MediaType) -> Read<bool> {
        Ok(false)
    }

    fn instl(&self) -> Read<bool> {
        Ok(false)
    }

    fn rwdd(&self) -> Read<bool> {
        Ok(false)
    }
}

/// The requests have no deals.
enum NoDeal {}

impl<'a> DealView<'a> for NoDeal {
    fn id(&self) -> Read<Option<Text<'a>>> {
        match *self {}
    }

    fn bidfloor(&self) -> Read<Option<f64>> {
        match *self {}
    }

    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        match *self {}
    }

    fn at(&self) -> Read<Option<i32>> {
        match *self {}
    }

    fn texts(&self, _: DealTexts, _: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        match *self {}
    }
}

/// Budgets without an end: nothing is reserved, nothing is spent.
#[derive(Debug)]
struct Endless;

impl Budgets for Endless {
    type Book = Endless;

    fn open(&self, _: &Catalog, _: Timestamp) -> Endless {
        Endless
    }

    fn win(&self, _: BidId, _: Timestamp) -> Notice {
        Notice::Unknown
    }

    fn settle(&self, _: BidId, _: Micros, _: Timestamp) -> Notice {
        Notice::Unknown
    }

    fn release(&self, _: BidId, _: Timestamp) -> Notice {
        Notice::Unknown
    }

    fn cancel(&self, _: BidId) {}

    fn expire(&self, _: Timestamp) -> usize {
        0
    }
}

impl Book for Endless {
    fn follow(&self, _: Timestamp) {}

    fn funded(&self, _: usize) -> Block {
        [u64::MAX; BLOCK_LEN / 64]
    }

    fn available(&self, _: Position, _: Timestamp) -> Micros {
        Micros(i64::MAX)
    }

    fn reserve(&self, _: Position, _: BidId, _: Micros, _: Timestamp) -> bool {
        true
    }

    fn cancel(&self, _: BidId) {}

    fn left(&self, _: Timestamp) -> Micros {
        Micros::ZERO
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn hits_hit_and_misses_miss() {
        let dice = &mut Dice(1);
        let mut countries = std::collections::BTreeSet::new();
        for number in 0..2000 {
            let (hit, miss) = (request(number, true, dice), request(number, false, dice));
            assert!(hit.device_type.is_some() && miss.device_type.is_some());
            countries.insert(miss.country.unwrap());
        }
        assert!(
            countries.len() > 200,
            "the country rotates: {}",
            countries.len()
        );
    }

    #[test]
    fn the_index_the_twin_and_the_tree_agree() {
        let size = measure(700, &Options::least()).unwrap();
        assert!(size.hit > 0.0 && size.miss > 0.0 && size.linear > 0.0);
        assert_eq!(size.tree.is_some(), cfg!(feature = "peers"));
        let row = size.row();
        assert!(
            row.get("line_items").is_some_and(|count| count == 700),
            "{row}"
        );
    }
}
