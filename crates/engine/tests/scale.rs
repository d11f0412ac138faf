//! What a decision costs at 100 to 1,000,000 line items, against the naive twin in the same run.
//!
//! `cargo test --release -p engine --test scale -- --ignored --nocapture`

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod support;

use engine::{
    BidId, Book, Catalog, LineItem, MemoryBook, MemoryBudgets, MemoryLimits, Rates, Scratch,
    Snapshot, Timestamp, VideoSize, decide, naive,
};
use openrtb::{Country, Currency, DeviceType, MediaType, Micros};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Decided, Request};

const COUNTRIES: [&str; 40] = [
    "USA", "DEU", "FRA", "JPN", "GBR", "ITA", "ESP", "BRA", "IND", "CAN", "AUS", "MEX", "NLD",
    "SWE", "NOR", "DNK", "FIN", "POL", "PRT", "CHE", "AUT", "BEL", "IRL", "TUR", "ZAF", "ARG",
    "CHL", "COL", "PER", "KOR", "TWN", "THA", "VNM", "IDN", "MYS", "PHL", "SGP", "NZL", "EGY",
    "SAU",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}

fn country(code: &str) -> Country {
    Country::from_alpha3(code).unwrap()
}

fn device_type(half: u64, which: u64) -> DeviceType {
    DeviceType::new([[2, 6], [3, 7]][half as usize][which as usize]).unwrap()
}

/// All line items target countries and device types, some sizes and deals.
fn line_items(len: usize) -> Vec<LineItem> {
    let mut random = Random(7);
    let item = |at: usize| {
        let mut item = support::line_item(&format!("li-{at}"));
        item.cpm = Micros(500_000 + random.below(5_000_000) as i64);
        item.adomain = vec![format!("brand{}.example", random.below(50_000))];
        item.seat = format!("seat-{}", random.below(200));
        let target = &mut item.targeting;
        // Countries at even places go with some device types, those at odd ones with others.
        let half = random.below(2);
        let mut one = || country(COUNTRIES[(random.below(20) * 2 + half) as usize]);
        target.countries = vec![one(), one()];
        target.device_types = vec![device_type(half, random.below(2))];
        if random.below(3) == 0 {
            let min_w = Some(random.of(&[320, 640, 1280]));
            target.video_size = VideoSize {
                min_w,
                ..VideoSize::default()
            };
        }
        if random.below(10) == 0 {
            target.deals = vec![format!("deal-{}", random.below(1000))];
        }
        if random.below(2) == 0 {
            item.creatives[0].media = MediaType::Banner;
        }
        item
    };
    (0..len).map(item).collect()
}

/// Requests of rotating countries. A miss is of a country and a device type that many line items
/// target, but none both.
fn requests(hit: bool) -> Vec<Request> {
    let mut random = Random(9);
    let request = |at: usize| {
        let mut request = support::request();
        request.country = Some(COUNTRIES[at % COUNTRIES.len()].into());
        let half = (at as u64 + u64::from(!hit)) % 2;
        request.device_type = Some(device_type(half, random.below(2)).number().into());
        let imp = &mut request.imps[0];
        imp.bidfloor = Some(random.below(10) as f64 / 10.0);
        request
    };
    (0..80).map(request).collect()
}

/// The median time of a request.
fn time(requests: &[Request], rounds: usize, mut decide: impl FnMut(&Request)) -> Duration {
    let mut times = Vec::new();
    for round in 0..rounds {
        for request in requests {
            let start = Instant::now();
            decide(request);
            if round > 0 || rounds == 1 {
                times.push(start.elapsed());
            }
        }
    }
    times.sort();
    times[times.len() / 2]
}

struct Times {
    hit: Duration,
    miss: Duration,
    naive_miss: Duration,
}

fn measure(len: usize) -> Times {
    let items = line_items(len);
    let start = Instant::now();
    let catalog = Arc::new(Catalog::build(items).unwrap());
    println!("{len}: built in {:?}", start.elapsed());
    let budgets = MemoryBudgets::new(MemoryLimits::default());
    let snapshot: Snapshot<MemoryBook> = Snapshot::open(catalog, &budgets, Timestamp(0));
    let (rates, mut scratch) = (Rates::new(Currency::USD, []), Scratch::default());
    let (mut next, now) = (0, Timestamp(0));
    let mut ids = || {
        next += 1;
        BidId(next)
    };
    let (hits, misses) = (requests(true), requests(false));
    for request in hits
        .iter()
        .chain(&misses)
        .step_by(if len > 10_000 { 27 } else { 1 })
    {
        let fast = decide(&request, &snapshot, &rates, now, &mut scratch, &mut || {
            BidId(1)
        });
        let fast = Decided::from(&fast);
        fast.bids
            .iter()
            .for_each(|bid| snapshot.book().cancel(bid.id));
        let slow = Decided::from(&naive::decide(
            &request,
            &snapshot,
            &rates,
            now,
            &mut || BidId(1),
        ));
        slow.bids
            .iter()
            .for_each(|bid| snapshot.book().cancel(bid.id));
        assert_eq!(fast, slow);
    }
    let mut index = |request: &Request| {
        let decision = decide(&request, &snapshot, &rates, now, &mut scratch, &mut ids);
        decision
            .bids()
            .iter()
            .for_each(|bid| snapshot.book().cancel(bid.id));
    };
    let rounds = if len > 10_000 { 50 } else { 500 };
    let hit = time(&hits, rounds, &mut index);
    let miss = time(&misses, rounds, &mut index);
    let few = if len > 10_000 {
        &misses[..5]
    } else {
        &misses[..]
    };
    let naive_miss = time(few, 1, |request| {
        naive::decide(&request, &snapshot, &rates, now, &mut || BidId(1));
    });
    println!("{len}: hit {hit:?}, miss {miss:?}, naive miss {naive_miss:?}");
    Times {
        hit,
        miss,
        naive_miss,
    }
}

#[test]
#[ignore = "takes gigabytes and a release build"]
fn a_decision_costs_little_at_any_number_of_line_items() {
    let [few, many, most] = [100, 100_000, 1_000_000].map(measure);
    assert!(
        many.hit < 3 * few.hit,
        "best found, 100,000 line items against 100"
    );
    assert!(
        most.miss * 500 < most.naive_miss,
        "nothing found, 1,000,000 line items"
    );
    assert!(few.miss < few.naive_miss);
}
