//! The index against its naive twin: the same bids, prices, creatives and reasons, over random
//! line items, requests, budgets, flights, notices and reloads.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod support;

use engine::{
    BidId, Book, BudgetCeilings, Budgets, Catalog, Categories, Chosen, Creative, Hours, Inventory,
    LineItem, MemoryBook, MemoryBudgets, MemoryLimits, Numbers, OsTarget, Places, Rates, Scratch,
    Snapshot, Status, Targeting, Timestamp, Version, VideoSize, decide, naive,
};
use openrtb::{Channel, Country, Currency, DeviceType, MediaType, Micros, Reason};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use std::sync::Arc;
use support::{ChannelObject, Deal, Decided, Imp, Medium, Request, Str};

const HOUR_US: i64 = 3_600_000_000;

/// Mostly the first, sometimes one of the rest.
fn skewed<T: Clone + std::fmt::Debug + 'static>(values: &[T]) -> impl Strategy<Value = T> + use<T> {
    let (first, all) = (values[0].clone(), values.to_vec());
    prop_oneof![5 => Just(first), 3 => select(all)]
}

fn texts(values: &'static [&'static str], max: usize) -> impl Strategy<Value = Vec<Str>> {
    prop_oneof![6 => Just(Vec::new()), 1 => vec(spelled(values), 0..=max)]
}

fn spelled(values: &'static [&'static str]) -> impl Strategy<Value = Str> {
    (select(values), prop::bool::weighted(0.1)).prop_map(|(text, escaped)| {
        if escaped {
            Str::escaped(text)
        } else {
            text.into()
        }
    })
}

fn ints(values: &'static [i32], max: usize) -> impl Strategy<Value = Vec<i32>> {
    prop_oneof![4 => Just(Vec::new()), 1 => vec(select(values), 0..=max)]
}

const SEATS: &[&str] = &["default", "seat-1", "seat-2", "Default"];
const DOMAINS: &[&str] = &[
    "brand.example",
    "shop.brand.example",
    "www.brand.example.",
    " .Other.Example",
    "www.com",
    "com",
    "BÜCHER.example",
    ".",
    "example",
];
const CATEGORIES: &[&str] = &["IAB1", "IAB1-5", "IAB1-5-2", "IAB11", "IAB2", "-", "1"];
const BUNDLES: &[&str] = &["app.one", "app.two", "App.One"];
const DEALS: &[&str] = &["d0", "d1", "d2", "d3", " d0", "77"];
const MIMES: &[&str] = &["video/mp4", "VIDEO/MP4", "image/png", "audio/mpeg", "Ⅷ"];
const INTS: &[i32] = &[1, 2, 3, 15, 30, -1, 500, i32::MAX];
const SIZES: &[i32] = &[320, 640, 480, 1, i32::MAX];
const CODES: &[&str] = &["USA", "DEU", "FRA", "JPN"];
/// Times around which flights and requests lie.
const TIMES: &[i64] = &[
    0,
    1,
    10 * HOUR_US,
    24 * HOUR_US,
    24 * HOUR_US + 1,
    50 * HOUR_US,
    -1,
];

fn country() -> impl Strategy<Value = Country> {
    select(CODES).prop_map(|code| Country::from_alpha3(code).unwrap())
}

fn creative() -> impl Strategy<Value = Creative> {
    let what = (
        select(&MediaType::ALL[..]),
        skewed(&[300, 728]),
        skewed(&[250, 90]),
    );
    let played = (
        option::weighted(0.9, select(INTS)),
        option::of(select(INTS)),
    );
    let behaviour = (ints(INTS, 2), ints(INTS, 2), prop::bool::weighted(0.7));
    let mime = option::weighted(0.9, select(MIMES));
    (what, played, behaviour, mime).prop_map(|(what, played, behaviour, mime)| Creative {
        id: format!("{what:?}{mime:?}"),
        media: what.0,
        w: Some(what.1),
        h: Some(what.2),
        duration: played.0,
        mime: mime.map(str::to_owned),
        protocol: played.1,
        apis: behaviour.0,
        attr: behaviour.1,
        secure: behaviour.2,
        adm: String::new(),
    })
}

fn video_size() -> impl Strategy<Value = VideoSize> {
    let bound = || option::weighted(0.3, select(SIZES));
    let bounded = (bound(), bound(), bound(), bound());
    let bounded = bounded.prop_map(|(min_w, min_h, max_w, max_h)| VideoSize {
        min_w,
        min_h,
        max_w,
        max_h,
    });
    prop_oneof![2 => Just(VideoSize::default()), 1 => bounded]
}

const REGIONS: &[&str] = &["CA", "us-ca", " US-CA", "BE", "US-", ""];
const CITIES: &[&str] = &["Berlin", " BERLIN ", "Zürich", "803", ""];
const SYSTEMS: &[&str] = &["Android", "ios", " iOS", "tvOS", " ", ""];
const VERSIONS: &[&str] = &[
    "14",
    "14.2",
    "14.2.1",
    "13",
    "15",
    "9.0.0.0",
    "0",
    "99999",
    "1.2.3.4.5",
    "x",
    "14.",
    "",
];
const PUBLISHERS: &[&str] = &["pub-1", "PUB-1", "pub-2"];
const LANGUAGES: &[&str] = &["en", "EN-us", " de", "en-US-x", "e", "-"];

fn named(values: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    prop_oneof![1 => Just(vec![]), 2 => vec(skewed(values).prop_map(String::from), 1..4)]
}

fn chosen<T: Clone + std::fmt::Debug + 'static>(
    list: impl Fn() -> BoxedStrategy<T>,
) -> impl Strategy<Value = Option<Box<Chosen<T>>>> {
    (list(), list()).prop_map(|(include, exclude)| Some(Box::new(Chosen { include, exclude })))
}

fn places() -> BoxedStrategy<Places> {
    let lists = (named(REGIONS), named(CITIES), named(CITIES));
    lists
        .prop_map(|(regions, cities, metros)| Places {
            regions,
            cities,
            metros,
        })
        .boxed()
}

fn inventory() -> BoxedStrategy<Inventory> {
    let lists = (named(DOMAINS), named(BUNDLES));
    lists
        .prop_map(|(domains, bundles)| Inventory { domains, bundles })
        .boxed()
}

fn categories() -> impl Strategy<Value = Option<Box<Categories>>> {
    let lists = (named(CATEGORIES), named(CATEGORIES), skewed(&[1, 6]));
    lists.prop_map(|(include, exclude, cattax)| {
        let chosen = Chosen { include, exclude };
        Some(Box::new(Categories { cattax, chosen }))
    })
}

fn os() -> impl Strategy<Value = Box<[OsTarget]>> {
    let version = || select(VERSIONS).prop_map(Version::parse);
    let target = (skewed(SYSTEMS), version(), version()).prop_map(|(name, min, max)| OsTarget {
        name: name.into(),
        min_version: min,
        max_version: max,
    });
    vec(target, 1..4).prop_map(Into::into)
}

/// Numbers from 1.
fn numbers() -> impl Strategy<Value = Numbers> {
    vec(1..8u8, 1..4)
        .prop_map(|numbers| numbers.into_iter().fold(Numbers::default(), Numbers::with))
}

fn channels() -> impl Strategy<Value = Numbers> {
    vec(select(&Channel::ALL[..]), 1..3).prop_map(|all| {
        all.into_iter()
            .fold(Numbers::default(), Numbers::with_channel)
    })
}

fn hours() -> impl Strategy<Value = Hours> {
    let part = (0..7usize, 0..24u8, 0..25u8);
    vec(part, 1..6).prop_map(|parts| {
        let all = parts.into_iter();
        all.fold(Hours::default(), |hours, (day, from, to)| {
            hours.with(day, from, to)
        })
    })
}

/// What of a targeting stays.
#[derive(Clone, Copy, Debug)]
enum Focus {
    /// All that was there before the others, and each of those now and then.
    Broad,
    /// One of the others alone.
    On(usize),
}

/// How many dimensions [`thin`] knows.
const DIMENSIONS: usize = 13;

fn thin(targeting: Targeting, stays: &[bool; DIMENSIONS]) -> Targeting {
    fn keep<T: Default>(stays: bool, value: T) -> T {
        if stays { value } else { T::default() }
    }
    Targeting {
        places: keep(stays[0], targeting.places),
        os: keep(stays[1], targeting.os),
        channels: keep(stays[2], targeting.channels),
        inventory: keep(stays[3], targeting.inventory),
        publishers: keep(stays[4], targeting.publishers),
        categories: keep(stays[5], targeting.categories),
        languages: keep(stays[6], targeting.languages),
        connection_types: keep(stays[7], targeting.connection_types),
        hours: keep(stays[8], targeting.hours),
        positions: keep(stays[9], targeting.positions),
        plcmts: keep(stays[10], targeting.plcmts),
        interstitial: keep(stays[11], targeting.interstitial),
        rewarded: keep(stays[12], targeting.rewarded),
        ..targeting
    }
}

fn focus(item: LineItem, focus: Focus, stays: &[bool; DIMENSIONS]) -> LineItem {
    match focus {
        Focus::Broad => LineItem {
            targeting: thin(item.targeting, stays),
            ..item
        },
        Focus::On(dimension) => {
            let mut stays = [false; DIMENSIONS];
            stays[dimension] = true;
            LineItem {
                targeting: Targeting {
                    deals: Vec::new(),
                    countries: Vec::new(),
                    device_types: Vec::new(),
                    video_size: VideoSize::default(),
                    ..thin(item.targeting, &stays)
                },
                ..item
            }
        }
    }
}

fn targeting() -> impl Strategy<Value = Targeting> {
    let deals =
        prop_oneof![2 => Just(vec![]), 1 => vec(skewed(DEALS).prop_map(String::from), 1..3)];
    let countries = prop_oneof![1 => Just(vec![]), 1 => vec(country(), 1..3)];
    let device = (1i64..=8).prop_map(|number| DeviceType::new(number).unwrap());
    let devices = prop_oneof![1 => Just(vec![]), 1 => vec(device, 1..3)];
    let flag = || any::<bool>().prop_map(Some);
    let texts = (
        chosen(places),
        chosen(inventory),
        chosen(|| named(PUBLISHERS).boxed()),
        categories(),
        chosen(|| named(LANGUAGES).boxed()),
        os(),
    );
    let others = (
        channels(),
        numbers(),
        hours(),
        numbers(),
        numbers(),
        flag(),
        flag(),
    );
    (deals, countries, devices, video_size(), texts, others).prop_map(
        |(deals, countries, device_types, video_size, texts, others)| Targeting {
            deals,
            countries,
            device_types,
            video_size,
            places: texts.0,
            inventory: texts.1,
            publishers: texts.2,
            categories: texts.3,
            languages: texts.4,
            os: texts.5,
            channels: others.0,
            connection_types: others.1,
            hours: others.2,
            positions: others.3,
            plcmts: others.4,
            interstitial: others.5,
            rewarded: others.6,
        },
    )
}

fn money() -> impl Strategy<Value = i64> {
    select(
        &[
            2_000_000, 1, 999, 1000, 1001, 1_080_000, 1_100_000, 5_000_000,
        ][..],
    )
}

fn budget() -> impl Strategy<Value = BudgetCeilings> {
    let ceiling = || option::weighted(0.3, select(&[0, 999, 2000, 4000, 10_000][..]));
    (ceiling(), ceiling()).prop_map(|(total, daily)| BudgetCeilings {
        total: total.map(Micros),
        daily: daily.map(Micros),
    })
}

fn line_item() -> impl Strategy<Value = LineItem> {
    let status = prop_oneof![9 => Just(Status::Active), 1 => Just(Status::Paused)];
    let time = || option::weighted(0.2, select(TIMES).prop_map(Timestamp));
    let domains = vec(skewed(DOMAINS).prop_map(String::from), 1..3);
    let cat = vec(select(CATEGORIES).prop_map(String::from), 0..2);
    let bundle = option::weighted(0.3, select(BUNDLES).prop_map(String::from));
    let who = (
        skewed(SEATS),
        domains,
        cat,
        prop_oneof![8 => Just(1), 1 => Just(6)],
        bundle,
    );
    let creatives = vec(creative(), 1..3);
    let when = (status, time(), time());
    (
        when,
        who,
        money(),
        budget(),
        targeting(),
        creatives,
        "[a-zé]",
    )
        .prop_map(
            |((status, start, end), who, cpm, budget, targeting, creatives, id)| LineItem {
                id,
                seat: who.0.into(),
                status,
                start,
                end,
                adomain: who.1,
                cat: who.2,
                cattax: who.3,
                bundle: who.4,
                cpm: Micros(cpm),
                budget,
                targeting,
                creatives,
            },
        )
}

/// Line items; their ids are made unique. Large catalogs repeat a few line items many times.
fn line_items() -> impl Strategy<Value = Vec<LineItem>> {
    let copies = prop_oneof![20 => Just(1usize), 1 => Just(12)];
    let stays = || prop::array::uniform13(prop::bool::weighted(0.1));
    let items = |len| vec((line_item(), stays()), len);
    let broad = prop_oneof![1 => items(0..4), 4 => items(4..200)];
    let broad = broad.prop_map(|items| (items, Focus::Broad));
    let narrow = (
        prop_oneof![3 => items(1..4), 1 => items(4..60)],
        0..DIMENSIONS,
    )
        .prop_map(|(items, on)| (items, Focus::On(on)));
    (prop_oneof![broad, narrow], copies).prop_map(|((items, on), copies)| {
        let items: Vec<_> = items
            .into_iter()
            .map(|(item, stays)| focus(item, on, &stays))
            .collect();
        let mut all: Vec<_> = items
            .iter()
            .cycle()
            .take(items.len() * copies)
            .cloned()
            .collect();
        for (at, item) in all.iter_mut().enumerate() {
            item.id = format!("{}{at}", item.id);
            item.cpm.0 += (at / items.len()) as i64 % 3;
        }
        all
    })
}

fn medium() -> impl Strategy<Value = Medium> {
    let lists = (ints(INTS, 2), ints(INTS, 6), ints(INTS, 6), ints(INTS, 3));
    let bound = || option::weighted(0.3, select(INTS));
    let by_second = prop::bool::weighted(0.05);
    let place = || skewed(&[Some(1), Some(0), Some(4), Some(8), Some(i32::MAX), None]);
    let places = (place(), place());
    (texts(MIMES, 3), lists, bound(), bound(), by_second, places).prop_map(
        |(mimes, lists, minduration, maxduration, priced_by_second, places)| Medium {
            pos: places.0,
            plcmt: places.1,
            mimes,
            battr: lists.0,
            api: lists.1,
            protocols: lists.2,
            rqddurs: lists.3,
            minduration,
            maxduration,
            priced_by_second,
        },
    )
}

fn floor() -> impl Strategy<Value = Option<f64>> {
    skewed(&[
        None,
        Some(0.0),
        Some(-1.0),
        Some(1.1),
        Some(1.000_000_1),
        Some(2.0),
        Some(1.0),
        Some(f64::NAN),
        Some(1_000_001.0),
    ])
}

fn floor_currency() -> impl Strategy<Value = Option<Str>> {
    skewed(&[
        None,
        Some(" usd"),
        Some("EUR"),
        Some("XXX"),
        Some("u5d"),
        Some(" "),
    ])
    .prop_map(|currency| currency.map(Str::from))
}

fn deal() -> impl Strategy<Value = Deal> {
    let id = prop_oneof![4 => Just(Some("d0".into())), 4 => spelled(DEALS).prop_map(Some), 1 => Just(None)];
    let at = select(&[None, Some(3), Some(3), Some(1)][..]);
    (
        id,
        floor(),
        floor_currency(),
        at,
        texts(SEATS, 2),
        texts(DOMAINS, 3),
    )
        .prop_map(|(id, bidfloor, bidfloorcur, at, wseat, wadomain)| Deal {
            id,
            bidfloor,
            bidfloorcur,
            at,
            wseat,
            wadomain,
        })
}

fn imp() -> impl Strategy<Value = Imp> {
    let medium = || option::of(medium());
    let media = (medium(), medium(), medium(), medium());
    let size = || select(SIZES);
    let banner_size = (skewed(&[300, 728]), skewed(&[250, 90]));
    let sizes = (option::of((size(), size())), vec(banner_size, 0..3));
    let quantity = skewed(&[None, None, None, None, Some(1.0), Some(2.0)]);
    let flags = (
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.3),
        quantity,
        any::<bool>(),
        any::<bool>(),
    );
    let id = select(&[Some("1"), Some("2"), Some("3"), Some("4"), Some(" 1"), None][..]);
    let deals = prop_oneof![1 => Just(vec![]), 1 => vec(deal(), 1..5)];
    (id, media, sizes, floor(), floor_currency(), flags, deals).prop_map(
        |(id, media, sizes, bidfloor, bidfloorcur, flags, deals)| Imp {
            id: id.map(Str::from),
            banner: media.0,
            video: media.1,
            audio: media.2,
            native: media.3,
            video_size: sizes.0,
            banner_sizes: sizes.1,
            bidfloor,
            bidfloorcur,
            private_auction: flags.0,
            secure: flags.1,
            qty_multiplier: flags.2,
            instl: flags.3,
            rwdd: flags.4,
            deals,
        },
    )
}

/// A text that may be longer than what counts.
fn place(values: &'static [&'static str]) -> impl Strategy<Value = Option<Str>> {
    let long = "a-".repeat(128);
    prop_oneof![
        2 => Just(None),
        40 => spelled(values).prop_map(Some),
        1 => Just(Some(Str::from(&*long))),
    ]
}

fn channel_object() -> impl Strategy<Value = ChannelObject> {
    let texts = (
        place(DOMAINS),
        place(BUNDLES),
        place(PUBLISHERS),
        place(LANGUAGES),
        place(LANGUAGES),
    );
    let cat = || prop_oneof![1 => Just(vec![]), 4 => vec(spelled(CATEGORIES), 0..3), 1 => vec(spelled(CATEGORIES), 30..40)];
    let cattax = || skewed(&[None, Some(1), Some(6)]);
    (texts, cat(), cat(), cattax(), cattax()).prop_map(|(texts, own, content, tax, content_tax)| {
        ChannelObject {
            texts: texts.into(),
            categories: [own, content],
            cattax: [tax, content_tax],
        }
    })
}

/// What only some line items ask for.
fn audience() -> impl Strategy<Value = Request> {
    let texts = (
        place(SYSTEMS),
        place(VERSIONS),
        place(REGIONS),
        place(CITIES),
        place(CITIES),
    );
    let ints = (
        skewed(&[Some(2), Some(0), Some(8), Some(-1), Some(258), None]),
        skewed(&[Some(0), Some(-720), Some(840), Some(841), Some(90), None]),
    );
    let object = || option::weighted(0.5, channel_object());
    let channels = (object(), object(), object());
    (texts, ints, channels).prop_map(|(texts, ints, channels)| Request {
        device_texts: texts.into(),
        device_ints: ints.into(),
        channels: channels.into(),
        ..Request::default()
    })
}

fn request() -> impl Strategy<Value = Request> {
    let id = option::weighted(0.97, spelled(&["r1", "日本"]));
    let device = skewed(&[Some(4), Some(1), Some(5), Some(3), Some(9), None]);
    let country = skewed(&["USA", "us", "DEU", "ZZZ", "CHE"]);
    let cur = skewed(&[&["EUR", "usd "][..], &["EUR"], &[" "], &["IN"]]);
    let cur = prop_oneof![9 => Just(&[][..]), 1 => cur];
    let categories = (
        texts(CATEGORIES, 2),
        texts(CATEGORIES, 4),
        prop_oneof![8 => Just(None), 1 => Just(Some(6))],
    );
    let others = (
        texts(DOMAINS, 2),
        texts(BUNDLES, 2),
        texts(SEATS, 3),
        texts(SEATS, 2),
    );
    let imps = prop_oneof![20 => vec(imp(), 1..2), 20 => vec(imp(), 2..5), 1 => Just(vec![])];
    (
        id,
        imps,
        device,
        country,
        any::<bool>(),
        cur,
        categories,
        others,
        audience(),
    )
        .prop_map(
            |(id, imps, device_type, country, test, cur, categories, others, audience)| Request {
                id,
                imps,
                device_type,
                country: Some(country.into()),
                test,
                cur: support::strs(cur),
                bcat: categories.0,
                acat: categories.1,
                cattax: categories.2,
                badv: others.0,
                bapp: others.1,
                wseat: others.2,
                bseat: others.3,
                ..audience
            },
        )
}

/// What happens to a bidder.
#[derive(Clone, Debug)]
enum Event {
    Request(Box<Request>),
    /// The clock is set.
    Now(i64),
    /// The bid made so many bids ago is billed.
    Billed(usize, i64),
    Lost(usize),
    Expire,
    /// Every so many line items change their ceilings, or go.
    Reload(usize, BudgetCeilings, bool),
}

fn event() -> impl Strategy<Value = Event> {
    let time = (select(TIMES), -2..2i64).prop_map(|(time, more)| Event::Now(time + more));
    let later = (0..200_000_000i64).prop_map(|more| Event::Now(10 * HOUR_US + more));
    prop_oneof![
        12 => request().prop_map(|request| Event::Request(Box::new(request))),
        1 => time,
        1 => later,
        2 => (0..5usize, money()).prop_map(|(bid, price)| Event::Billed(bid, price)),
        2 => (0..5usize).prop_map(Event::Lost),
        1 => Just(Event::Expire),
        1 => (1..4usize, budget(), any::<bool>())
            .prop_map(|(every, budget, go)| Event::Reload(every, budget, go)),
    ]
}

fn rates() -> Rates {
    let eur = Currency::parse("EUR").unwrap();
    Rates::new(Currency::USD, [(eur, Micros(1_080_000))])
}

/// A bidder: the twins differ in how they decide, and in nothing else.
struct Bidder {
    snapshot: Snapshot<MemoryBook>,
    budgets: MemoryBudgets,
    bids: Vec<BidId>,
    next_id: u128,
    now: Timestamp,
}

impl Bidder {
    fn new(items: Vec<LineItem>, now: Timestamp) -> Bidder {
        let budgets = MemoryBudgets::new(MemoryLimits {
            bids_min: 0,
            ..MemoryLimits::default()
        });
        let catalog = Arc::new(Catalog::build(items).unwrap());
        let snapshot = Snapshot::open(catalog, &budgets, now);
        Bidder {
            snapshot,
            budgets,
            bids: Vec::new(),
            next_id: 0,
            now,
        }
    }

    /// What it answers to an event.
    fn on(&mut self, event: &Event, scratch: Option<&mut Scratch>) -> String {
        let bid = |ago: &usize| {
            self.bids
                .iter()
                .rev()
                .nth(*ago)
                .copied()
                .unwrap_or(BidId(0))
        };
        match event {
            Event::Request(request) => format!("{:?}", self.decide(request, scratch)),
            Event::Now(now) => {
                self.now = Timestamp(*now);
                String::new()
            }
            Event::Billed(ago, price) => {
                format!(
                    "{:?}",
                    self.budgets.settle(bid(ago), Micros(*price), self.now)
                )
            }
            Event::Lost(ago) => format!("{:?}", self.budgets.release(bid(ago), self.now)),
            Event::Expire => format!("{}", self.budgets.expire(self.now)),
            Event::Reload(every, budget, go) => {
                self.reload(*every, *budget, *go);
                String::new()
            }
        }
    }

    fn decide(&mut self, request: &Request, scratch: Option<&mut Scratch>) -> Decided {
        let rates = rates();
        let mut ids = || {
            self.next_id += 1;
            BidId(self.next_id)
        };
        let (snapshot, now) = (&self.snapshot, self.now);
        let decision = match scratch {
            Some(scratch) => decide(&request, snapshot, &rates, now, scratch, &mut ids),
            None => naive::decide(&request, snapshot, &rates, now, &mut ids),
        };
        let decided = Decided::from(&decision);
        self.bids.extend(decided.bids.iter().map(|bid| bid.id));
        decided
    }

    fn reload(&mut self, every: usize, budget: BudgetCeilings, go: bool) {
        let mut items = Vec::new();
        for (at, item) in self.snapshot.catalog().items() {
            let mut item = item.clone();
            let changes = at.index() % every == 0;
            if changes {
                item.budget = budget;
            }
            if !(changes && go) {
                items.push(item);
            }
        }
        self.take_over(self.snapshot.catalog().rebuild(items).unwrap());
    }

    fn take_over(&mut self, catalog: Catalog) {
        self.snapshot = Snapshot::open(Arc::new(catalog), &self.budgets, self.now);
    }

    fn available(&self) -> Vec<Micros> {
        let (catalog, book) = (self.snapshot.catalog(), self.snapshot.book());
        catalog
            .items()
            .map(|(at, _)| book.available(at, self.now))
            .collect()
    }
}

fn check(items: Vec<LineItem>, events: &[Event]) -> Result<(), TestCaseError> {
    let now = Timestamp(10 * HOUR_US);
    let mut scratch = Scratch::default();
    let (mut index, mut twin) = (Bidder::new(items.clone(), now), Bidder::new(items, now));
    for event in events {
        prop_assert_eq!(
            index.on(event, Some(&mut scratch)),
            twin.on(event, None),
            "{:?}",
            event
        );
    }
    prop_assert_eq!(index.available(), twin.available());
    Ok(())
}

proptest! {
    #[test]
    fn the_index_decides_as_its_twin(items in line_items(), events in vec(event(), 1..40)) {
        check(items, &events)?;
    }

    /// More bounds on sizes than there are rows for, and more line items than in one block.
    #[test]
    fn many_sizes(
        items in vec((line_item(), 0..4000i32, 0..4000i32), 600..700),
        events in vec(event(), 1..10),
        w in 0..4000i32,
    ) {
        let items = items.into_iter().enumerate().map(|(at, (mut item, w, h))| {
            item.id = format!("{}{at}", item.id);
            item.targeting.video_size.min_w = Some(w);
            item.targeting.video_size.max_h = Some(h);
            item
        });
        let mut events = events;
        for event in &mut events {
            if let Event::Request(request) = event {
                request.imps.iter_mut().for_each(|imp| imp.video_size = Some((w, 4000 - w)));
            }
        }
        check(items.collect(), &events)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// More systems and versions than there are rows for, more sizes of banners, and line items in
    /// more than one block.
    #[test]
    fn many_systems_and_banner_sizes(
        items in vec((line_item(), 0..40u8, (0..300u32, 0..300u32), 1..100i32), 600..700),
        events in vec(event(), 1..10),
        (name, version, w) in (0..40u8, 0..300u32, 1..100i32),
    ) {
        let version_of = |number: u32| Version::parse(&format!("{}.{}", number / 10, number % 10));
        let items = items.into_iter().enumerate().map(|(at, (mut item, name, (min, max), w))| {
            item.id = format!("{}{at}", item.id);
            item.targeting = Targeting::default();
            item.targeting.os = [OsTarget {
                name: format!("os {name}"),
                min_version: (min % 5 > 0).then(|| version_of(min.min(max))).flatten(),
                max_version: (max % 5 > 0).then(|| version_of(min.max(max))).flatten(),
            }]
            .into();
            if at % 3 == 0 {
                item.targeting.os = [].into();
            }
            item.creatives.iter_mut().for_each(|creative| creative.w = Some(w));
            item
        });
        let mut events = events;
        for event in &mut events {
            if let Event::Request(request) = event {
                request.device_texts[0] = Some(Str::from(&*format!("OS {name} ")));
                request.device_texts[1] = Some(Str::from(&*format!("{}.{}", version / 10, version % 10)));
                request.imps.iter_mut().for_each(|imp| {
                    imp.banner_sizes = (w..w + 5).map(|w| (w, 250)).collect();
                });
            }
        }
        check(items.collect(), &events)?;
    }
}

/// What a reload may change of a line item: it gets it of another one.
type Field = fn(&mut LineItem, LineItem);

const FIELDS: [Field; 29] = [
    |item, other| item.status = other.status,
    |item, other| item.start = other.start,
    |item, other| item.end = other.end,
    |item, other| item.budget = other.budget,
    |item, other| item.cpm = other.cpm,
    |item, _| item.cpm.0 += 1,
    |item, other| item.seat = other.seat,
    |item, other| item.adomain = other.adomain,
    |item, other| item.cat = other.cat,
    |item, other| item.cattax = other.cattax,
    |item, other| item.bundle = other.bundle,
    |item, other| item.creatives = other.creatives,
    |item, other| item.targeting.deals = other.targeting.deals,
    |item, other| item.targeting.countries = other.targeting.countries,
    |item, other| item.targeting.device_types = other.targeting.device_types,
    |item, other| item.targeting.video_size = other.targeting.video_size,
    |item, other| item.targeting.places = other.targeting.places,
    |item, other| item.targeting.os = other.targeting.os,
    |item, other| item.targeting.channels = other.targeting.channels,
    |item, other| item.targeting.inventory = other.targeting.inventory,
    |item, other| item.targeting.publishers = other.targeting.publishers,
    |item, other| item.targeting.categories = other.targeting.categories,
    |item, other| item.targeting.languages = other.targeting.languages,
    |item, other| item.targeting.connection_types = other.targeting.connection_types,
    |item, other| item.targeting.hours = other.targeting.hours,
    |item, other| item.targeting.positions = other.targeting.positions,
    |item, other| item.targeting.plcmts = other.targeting.plcmts,
    |item, other| item.targeting.interstitial = other.targeting.interstitial,
    |item, other| item.targeting.rewarded = other.targeting.rewarded,
];

/// A reload: line items, by number, that change in a field.
type Reload = Vec<(usize, usize, LineItem)>;

fn reload() -> impl Strategy<Value = Reload> {
    // Past the fields: the line item goes, or another one comes.
    vec((any::<usize>(), 0..FIELDS.len() + 2, line_item()), 0..4)
}

fn reloaded(items: &[LineItem], reload: Reload, round: usize) -> Vec<LineItem> {
    let mut items = items.to_vec();
    for (number, (at, field, other)) in reload.into_iter().enumerate() {
        let at = at % items.len().max(1);
        match (FIELDS.get(field), items.get_mut(at)) {
            (Some(change), Some(item)) => change(item, other),
            (None, Some(_)) if field == FIELDS.len() => {
                items.swap_remove(at);
            }
            _ => items.push(LineItem {
                id: format!("{}/{round}/{number}", other.id),
                ..other
            }),
        }
    }
    items
}

/// Over reloads, one after the other, the catalog that is rebuilt of the one before decides as the
/// one that is built of the line items alone.
fn check_rebuilt(
    items: Vec<LineItem>,
    reloads: Vec<(Reload, Vec<Request>)>,
) -> Result<(), TestCaseError> {
    let now = Timestamp(10 * HOUR_US);
    let (mut items, mut rebuilt) = (items.clone(), Bidder::new(items, now));
    let mut built = Bidder::new(items.clone(), now);
    let (mut scratch, mut other_scratch) = (Scratch::default(), Scratch::default());
    for (round, (reload, requests)) in reloads.into_iter().enumerate() {
        items = reloaded(&items, reload, round);
        rebuilt.take_over(rebuilt.snapshot.catalog().rebuild(items.clone()).unwrap());
        built.take_over(Catalog::build(items.clone()).unwrap());
        let (catalog, of_built) = (rebuilt.snapshot.catalog(), built.snapshot.catalog());
        prop_assert!(catalog.items().eq(of_built.items()), "round {}", round);
        for (at, item) in catalog.items() {
            prop_assert_eq!(catalog.position_of(&item.id), Some(at));
        }
        for request in requests {
            prop_assert_eq!(
                rebuilt.decide(&request, Some(&mut scratch)),
                built.decide(&request, Some(&mut other_scratch)),
                "round {}: {:?}",
                round,
                request
            );
        }
    }
    Ok(())
}

/// The same line items, reloads and requests every time; a failure prints them.
#[test]
fn a_rebuilt_catalog_decides_as_one_that_is_built() {
    let reloads = vec((reload(), vec(request(), 1..6)), 1..5);
    TestRunner::deterministic()
        .run(&(line_items(), reloads), |(items, reloads)| {
            check_rebuilt(items, reloads)
        })
        .unwrap_or_else(|failure| panic!("the deterministic seed: {failure}"));
}

/// Lists of 100,000 entries, and more line items that name a domain than a row is long.
#[test]
fn long_lists() {
    let mut items = Vec::new();
    for at in 0..3000 {
        let mut item = support::line_item(&format!("{at}"));
        item.cpm = Micros(1_000_000 + at % 7);
        let entries = if at % 1000 == 0 {
            100_000
        } else {
            at as usize % 5
        };
        let domains = (0..entries).map(|entry| format!("site{entry}.example"));
        let mut inventory = Chosen::<Inventory>::default();
        let list = match at % 3 {
            0 => &mut inventory.exclude.domains,
            _ => &mut inventory.include.domains,
        };
        *list = domains.collect();
        item.targeting.inventory = Some(Box::new(inventory));
        items.push(item);
    }
    let mut events = Vec::new();
    for domain in [
        "site0.example",
        "a.site3.example",
        "site99999.example",
        "x.example",
    ] {
        let mut request = support::request();
        let mut site = ChannelObject::default();
        site.texts[0] = Some(domain.into());
        request.channels[0] = Some(site);
        for seat in ["default", "nobody"] {
            request.bseat = support::strs(&[seat]);
            events.push(Event::Request(Box::new(request.clone())));
        }
    }
    check(items, &events).unwrap();
}

/// The generators are of no use where they do not reach.
#[test]
fn every_reason_is_reached() {
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeMap::<_, usize>::new();
    for _ in 0..400 {
        let items = line_items().new_tree(&mut runner).unwrap().current();
        let mut bidder = Bidder::new(items, Timestamp(10 * HOUR_US));
        let mut scratch = Scratch::default();
        for _ in 0..20 {
            let request = request().new_tree(&mut runner).unwrap().current();
            let decided = bidder.decide(&request, Some(&mut scratch));
            let no_bid = decided.no_bid.map(Reason::name);
            let bids = decided.bids.iter().map(|bid| match &bid.deal {
                None => "bid",
                Some(_) if bid.price == bid_cpm(&bidder, &bid.item) => "deal bid",
                Some(_) => "fixed price",
            });
            for what in no_bid.into_iter().chain(bids) {
                *seen.entry(what).or_default() += 1;
            }
        }
    }
    let reasons = Reason::ALL
        .into_iter()
        .filter(|reason| !is_of_the_service(*reason));
    let wanted = reasons
        .map(Reason::name)
        .chain(["bid", "deal bid", "fixed price"]);
    for what in wanted {
        assert!(
            seen.get(what).is_some_and(|times| *times >= 20),
            "{what}: {seen:?}"
        );
    }
}

fn is_of_the_service(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Deadline | Reason::Overload | Reason::ShuttingDown
    )
}

fn bid_cpm(bidder: &Bidder, item: &str) -> i64 {
    let catalog = bidder.snapshot.catalog();
    catalog
        .item(catalog.position_of(item).unwrap())
        .unwrap()
        .cpm
        .0
}

/// A request may allocate the first time, to make room; after that a no allocates nothing.
#[test]
fn a_warm_no_allocates_nothing() {
    let mut runner = TestRunner::deterministic();
    let mut noes = BTreeMap::<_, usize>::new();
    let (rates, mut ids) = (rates(), support::ids());
    for _ in 0..200 {
        let items = line_items().new_tree(&mut runner).unwrap().current();
        let Bidder { snapshot, now, .. } = &Bidder::new(items, Timestamp(10 * HOUR_US));
        let mut scratch = Scratch::default();
        for _ in 0..20 {
            let request = &request().new_tree(&mut runner).unwrap().current();
            let mut no_bid = None;
            let mut decide = || {
                let decision = decide(&request, snapshot, &rates, *now, &mut scratch, &mut ids);
                no_bid = decision.no_bid();
            };
            decide();
            let allocated = allocation_counter::measure(decide).count_total;
            if let Some(reason) = no_bid {
                *noes.entry(reason).or_default() += 1;
                assert_eq!(allocated, 0, "{reason:?}");
            }
        }
    }
    assert_eq!(noes.len(), 24, "{noes:?}");
}
