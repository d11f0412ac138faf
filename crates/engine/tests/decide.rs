//! What a decision does besides deciding: what it reads, what it reserves, and when.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod support;

use engine::{
    BidId, Book, Catalog, Chosen, Hours, Invalid, LineItem, MemoryBook, MemoryBudgets,
    MemoryLimits, OsTarget, Position, Rates, Scratch, Snapshot, Status, Timestamp, Version, decide,
    naive,
};
use openrtb::{Currency, Micros, Reason, Text};
use std::sync::Arc;
use support::{
    ChannelObject, Deal, Decided, Imp, Medium, Reads, Request, line_item, request, strs, video_imp,
};

const NOW: Timestamp = Timestamp(1_000_000);

fn open(items: Vec<LineItem>) -> Snapshot<MemoryBook> {
    let catalog = Arc::new(Catalog::build(items).unwrap());
    Snapshot::open(catalog, &MemoryBudgets::new(MemoryLimits::default()), NOW)
}

fn rates() -> Rates {
    Rates::new(Currency::USD, [])
}

fn decided(request: &Request, snapshot: &Snapshot<MemoryBook>, now: Timestamp) -> Decided {
    let (mut scratch, mut ids) = (Scratch::default(), support::ids());
    Decided::from(&decide(
        &request,
        snapshot,
        &rates(),
        now,
        &mut scratch,
        &mut ids,
    ))
}

fn limited(id: &str, total: i64) -> LineItem {
    let mut item = line_item(id);
    item.budget.total = Some(Micros(total));
    item
}

#[test]
fn a_bid_names_what_it_bids_with() {
    let decided = decided(&request(), &open(vec![line_item("a")]), NOW);
    assert_eq!(decided.id.as_deref(), Some("r1"));
    let [bid] = &decided.bids[..] else {
        panic!("{decided:?}");
    };
    assert_eq!((&*bid.imp, &*bid.item, &*bid.creative), ("1", "a", "v1"));
    assert_eq!((bid.price, &bid.deal, bid.test), (2_000_000, &None, false));
}

/// A request that uses every part of the decision, and bids in each of its three markets.
fn full_request() -> Request {
    let mut request = Request {
        bcat: strs(&["IAB9"]),
        badv: strs(&["other.example"]),
        bapp: strs(&["app.two"]),
        wseat: strs(&["default"]),
        bseat: strs(&["other"]),
        ..request()
    };
    let imp = &mut request.imps[0];
    imp.secure = true;
    imp.bidfloor = Some(0.5);
    imp.deals = vec![Deal {
        id: Some("d1".into()),
        wseat: strs(&["default"]),
        wadomain: strs(&["example"]),
        at: Some(3),
        ..Deal::default()
    }];
    request.imps.push(video_imp("2"));
    request
}

fn full_items() -> Vec<LineItem> {
    let mut dealt = line_item("dealt");
    dealt.targeting.deals = vec!["d1".into()];
    let mut open = limited("open", 1_000_000);
    open.bundle = Some("app.one".into());
    open.cat = vec!["IAB1".into()];
    open.creatives[0].attr = vec![7];
    open.creatives[0].apis = vec![];
    vec![dealt, open]
}

#[test]
fn whatever_read_fails_nothing_stays_reserved() {
    let snapshot = open(full_items());
    let mut bids = 0;
    for fail_at in 0.. {
        let request = Request {
            reads: Reads {
                fail_at: Some(fail_at),
                ..Reads::default()
            },
            ..full_request()
        };
        let decided = decided(&request, &snapshot, NOW);
        if request.reads.count.get() <= fail_at {
            assert_eq!(
                decided.bids.len(),
                3,
                "the request is read in {fail_at} reads"
            );
            assert!(fail_at > 30, "{fail_at}");
            break;
        }
        assert_eq!(decided.invalid, Some(Invalid::Malformed), "read {fail_at}");
        assert_eq!(decided.no_bid, Some(Reason::InvalidRequest));
        assert_eq!(decided.id, None, "a malformed request has no id");
        let at = snapshot.catalog().position_of("open").unwrap();
        assert_eq!(
            snapshot.book().available(at, NOW),
            Micros(1_000_000),
            "read {fail_at}"
        );
        bids += 1;
    }
    assert!(bids > 30);
}

#[test]
fn a_test_reserves_within_itself_alone() {
    let snapshot = open(vec![limited("a", 2000), line_item("b")]);
    for _ in 0..3 {
        let mut request = request();
        request.test = true;
        request.imps.push(video_imp("2"));
        let decided = decided(&request, &snapshot, NOW);
        let items: Vec<_> = decided
            .bids
            .iter()
            .map(|bid| (&*bid.item, bid.test))
            .collect();
        assert_eq!(items, [("a", true), ("b", true)]);
    }
    assert_eq!(
        snapshot.book().available(Position::default(), NOW),
        Micros(2000)
    );
}

#[test]
fn lists_are_read_once_however_many_line_items_ask() {
    let items = (0..3000).map(|at| {
        let mut item = line_item(&format!("{at}"));
        item.bundle = Some("app.one".into());
        item.cat = vec!["IAB1".into()];
        item.targeting.deals = if at % 2 == 0 {
            vec!["d1".into()]
        } else {
            vec![]
        };
        item.creatives[0].attr = vec![1];
        item.creatives[0].apis = vec![at];
        item.creatives.push(item.creatives[0].clone());
        item
    });
    let snapshot = open(items.collect());
    let mut request = full_request();
    request.bseat.clear();
    request.reads.log = Some(Default::default());
    for imp in &mut request.imps {
        imp.video.as_mut().unwrap().api = vec![-1];
    }
    let decided = decided(&request, &snapshot, NOW);
    assert_eq!(decided.no_bid, Some(Reason::Blocked));
    let log = request.reads.log.unwrap().into_inner();
    assert!(log.len() > 20, "{log:?}");
    assert!(log.values().all(|times| *times == 1), "{log:?}");
}

#[test]
fn nothing_is_read_that_cannot_matter() {
    let mut item = line_item("a");
    item.targeting.countries = vec![openrtb::Country::from_alpha3("FRA").unwrap()];
    let mut request = request();
    request.reads.log = Some(Default::default());
    assert_eq!(
        decided(&request, &open(vec![item]), NOW).no_bid,
        Some(Reason::Country)
    );
    // What every catalog targets is asked for in one go.
    let log = request.reads.log.unwrap().into_inner();
    let first = ["Cur", "country", "device_type"];
    assert!(log.keys().take(3).eq(first), "{log:?}");
    assert!(
        log.len() == 4 && log.keys().any(|read| read.ends_with("media_types")),
        "{log:?}"
    );
}

#[test]
fn whom_a_deal_keeps_out_gets_no_further() {
    let mut item = line_item("a");
    item.targeting.deals = vec!["d1".into()];
    item.targeting.countries = vec![openrtb::Country::from_alpha3("FRA").unwrap()];
    let snapshot = open(vec![item]);
    for (wadomain, expect) in [
        ("other.example", Reason::Deal),
        ("example", Reason::Country),
    ] {
        let mut request = request();
        request.imps[0].private_auction = true;
        request.imps[0].deals = vec![Deal {
            id: Some("d1".into()),
            wadomain: strs(&[wadomain]),
            ..Deal::default()
        }];
        let decided = decided(&request, &snapshot, NOW);
        assert_eq!(decided.no_bid, Some(expect), "{wadomain}");
    }
}

/// What a request is asked for that only some line items care about.
fn read_of_the_rest(snapshot: &Snapshot<MemoryBook>, request: Request) -> Vec<String> {
    let request = Request {
        reads: Reads {
            log: Some(Default::default()),
            ..Reads::default()
        },
        ..request
    };
    decided(&request, snapshot, NOW);
    let rest = [
        "Os",
        "Osv",
        "Region",
        "Metro",
        "City",
        "Connectiontype",
        "Utcoffset",
        "channel",
        "Domain",
        "Bundle",
        "Publisher",
        "Language",
        "Langb",
        "cattax of ",
        "categories of ",
        "instl",
        "rwdd",
        "Pos",
        "Plcmt",
    ];
    let log = request.reads.log.unwrap().into_inner();
    let of_the_rest = |read: &String| {
        let field = read.split_once(") ").map_or(&**read, |(_, field)| field);
        rest.iter().any(|rest| {
            field.split(' ').any(|word| word == *rest)
                || field.starts_with(rest) && rest.ends_with(' ')
        })
    };
    log.into_keys().filter(of_the_rest).collect()
}

#[test]
fn a_field_is_read_only_where_a_line_item_cares_and_gets_that_far() {
    let read = |change: &dyn Fn(&mut LineItem)| {
        let mut item = line_item("a");
        change(&mut item);
        let mut request = full_request();
        request.imps.truncate(1);
        request.channels[1] = Some(ChannelObject::default());
        read_of_the_rest(&open(vec![item, line_item("b")]), request)
    };
    assert_eq!(
        read_of_the_rest(&open(full_items()), full_request()),
        [""; 0]
    );
    assert_eq!(read(&|_| {}), [""; 0]);
    let publishers = || {
        Some(Box::new(Chosen {
            include: vec!["p".to_owned()],
            exclude: Vec::new(),
        }))
    };
    assert_eq!(
        read(&|item| item.targeting.publishers = publishers()),
        ["Publisher", "channel"]
    );
    assert_eq!(
        read(&|item| {
            item.targeting.publishers = publishers();
            item.targeting.countries = vec![openrtb::Country::from_alpha3("FRA").unwrap()];
            item.cpm = Micros(1);
        }),
        ["Publisher", "channel"],
        "another line item gets that far"
    );
    let region = |item: &mut LineItem| {
        let places = item.targeting.places.get_or_insert_default();
        places.exclude.regions = vec!["CA".to_owned()];
    };
    assert_eq!(read(&region), ["Region"]);
    let os = |min_version| {
        move |item: &mut LineItem| {
            item.targeting.os = [OsTarget {
                name: "ios".to_owned(),
                min_version,
                max_version: None,
            }]
            .into();
        }
    };
    assert_eq!(read(&os(None)), ["Os"]);
    assert_eq!(read(&os(Version::parse("0"))), ["Os"], "of another system");
    assert_eq!(read(&|item| item.targeting.rewarded = Some(true)).len(), 1);
    assert_eq!(
        read(&|item| item.targeting.hours = Hours::default().with(0, 0, 1)),
        ["Utcoffset"]
    );
}

#[test]
fn flights_are_half_open_whichever_way_the_clock_goes() {
    let mut items = Vec::new();
    for (id, start, end) in [
        ("a", Some(10), Some(20)),
        ("b", None, Some(15)),
        ("c", Some(30), None),
    ] {
        let mut item = line_item(id);
        (item.start, item.end) = (start.map(Timestamp), end.map(Timestamp));
        items.push(item);
    }
    for (id, start, end, status) in [
        ("never", Some(5), Some(5), Status::Active),
        ("backwards", Some(9), Some(3), Status::Active),
        ("paused", None, None, Status::Paused),
    ] {
        let mut item = line_item(id);
        (item.start, item.end) = (start.map(Timestamp), end.map(Timestamp));
        item.status = status;
        items.push(item);
    }
    let snapshot = open(items);
    let (mut scratch, mut ids) = (Scratch::default(), support::ids());
    for (now, expect) in [
        (i64::MIN, Some("b")),
        (9, Some("b")),
        (10, Some("a")),
        (19, Some("a")),
        (20, None),
        (29, None),
        (30, Some("c")),
        (i64::MAX, Some("c")),
        (19, Some("a")),
        (20, None),
        (14, Some("a")),
        (5, Some("b")),
        (31, Some("c")),
    ] {
        let (request, now) = (&request(), Timestamp(now));
        let decision = decide(&request, &snapshot, &rates(), now, &mut scratch, &mut ids);
        let item = decision.bids().first().map(|bid| &*bid.item.id);
        assert_eq!(item, expect, "{now:?}");
        let no_bid = expect.is_none().then_some(Reason::Inactive);
        assert_eq!(decision.no_bid(), no_bid, "{now:?}");
    }
}

#[test]
fn a_scratch_serves_one_catalog_after_another() {
    let (mut scratch, mut ids) = (Scratch::default(), support::ids());
    for round in 0..4 {
        let mut items = vec![line_item("a")];
        if round % 2 == 0 {
            items.extend((0..2000).map(|at| {
                let mut item = line_item(&format!("{at}"));
                item.seat = format!("seat-{at}");
                item.cpm = Micros(1);
                item
            }));
        }
        let snapshot = open(items);
        let mut request = request();
        let expect = if round % 2 == 0 { Some("1999") } else { None };
        request.wseat = strs(&["seat-1999"]);
        let request = &request;
        let decision = decide(&request, &snapshot, &rates(), NOW, &mut scratch, &mut ids);
        assert_eq!(
            decision.bids().first().map(|bid| &*bid.item.id),
            expect,
            "{round}"
        );
    }
}

#[test]
fn many_impressions_that_share_ids() {
    let snapshot = open(vec![line_item("a")]);
    let imps = (0..500).map(|at| video_imp(&format!("{}", at % 499)));
    let mut request = request();
    request.imps = imps.collect();
    request.imps[7].id = None;
    let decided = decided(&request, &snapshot, NOW);
    assert_eq!(decided.bids.len(), 497);
    assert!(
        decided
            .bids
            .iter()
            .all(|bid| bid.imp != "0" && bid.imp != "7")
    );
}

#[test]
fn threads_spend_a_budget_to_the_last_impression_and_no_further() {
    const IMPRESSIONS: i64 = 1000;
    let snapshot = open(vec![limited("a", 2000 * IMPRESSIONS)]);
    let bids = |thread: u128| {
        let (mut scratch, mut next) = (Scratch::default(), thread << 64);
        let mut bids = 0;
        for _ in 0..IMPRESSIONS {
            let mut ids = || {
                next += 1;
                BidId(next)
            };
            let request = &request();
            let decision = decide(&request, &snapshot, &rates(), NOW, &mut scratch, &mut ids);
            match decision.no_bid() {
                None => bids += 1,
                Some(reason) => assert_eq!(reason, Reason::Budget),
            }
        }
        bids
    };
    let total: i64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| scope.spawn(move || bids(thread)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(total, IMPRESSIONS);
    assert_eq!(
        snapshot.book().available(Position::default(), NOW),
        Micros(0)
    );
}

#[test]
fn the_twin_explains_every_line_item() {
    let mut abroad = line_item("abroad");
    abroad.targeting.countries = vec![openrtb::Country::from_alpha3("FRA").unwrap()];
    let mut cheap = line_item("cheap");
    cheap.cpm = Micros(1);
    let mut dealt = line_item("dealt");
    dealt.targeting.deals = vec!["d1".into()];
    let snapshot = open(vec![
        abroad,
        cheap,
        dealt,
        limited("spent", 0),
        line_item("wins"),
    ]);
    let mut request = request();
    request.imps.push(Imp {
        banner: Some(Medium::default()),
        ..Imp::default()
    });
    request.imps[0].bidfloor = Some(1.0);
    request.imps[0].deals = vec![Deal {
        id: Some("d1".into()),
        ..Deal::default()
    }];
    let explained = naive::explain(&&request, &snapshot, &rates(), NOW).unwrap();
    let mut lines = Vec::new();
    for market in &explained {
        let mut line = market.deal.map_or("open".into(), Text::into_string);
        for (at, reason) in &market.dropped {
            let id = &snapshot.catalog().item(*at).unwrap().id;
            line += &format!(" {id}:{}", reason.map_or("passes", Reason::name));
        }
        assert!(
            market.imp.is("1"),
            "an impression without an id has no markets"
        );
        lines.push(line);
    }
    assert_eq!(
        lines,
        [
            "d1 abroad:deal dealt:passes spent:deal wins:deal cheap:deal",
            "open abroad:country dealt:deal spent:budget wins:passes cheap:floor",
        ]
    );
}

#[test]
fn work_without_end_is_refused() {
    let items = (0..5000).map(|at| line_item(&format!("{at}")));
    let snapshot = open(items.collect());
    let with_imps = |count: usize| {
        let imp = |at: usize| Imp {
            id: Some((*at.to_string()).into()),
            ..request().imps[0].clone()
        };
        Request {
            imps: (0..count).map(imp).collect(),
            bseat: strs(&["default"]),
            ..request()
        }
    };
    let outcome = |request: Request| {
        let (mut scratch, mut ids) = (Scratch::default(), support::ids());
        let decision = decide(&&request, &snapshot, &rates(), NOW, &mut scratch, &mut ids);
        match decision.outcome {
            engine::Outcome::Invalid(cause) => Err(cause),
            _ => Ok(decision.no_bid()),
        }
    };
    assert_eq!(outcome(with_imps(100)), Ok(Some(Reason::Blocked)));
    let bids = Request {
        bseat: Vec::new(),
        ..with_imps(3800)
    };
    assert_eq!(outcome(bids), Ok(None));
    let more = Request {
        bseat: Vec::new(),
        ..with_imps(4100)
    };
    let refused = Err(Invalid::OverLimit(openrtb::Limit::Work));
    assert_eq!(outcome(more), refused);
    let too_much = (engine::WORK_MAX / 5000 + 1) as usize;
    assert_eq!(outcome(with_imps(too_much)), refused);
}
