//! What generated traffic is like, pinned: whoever changes it sees by how much, and says so.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engine::Rates;
use nearbid::decide::{Decider, Settings};
use nearbid::generate::Traffic;
use openrtb::Currency;
use serde_json::Value;
use sha2::{Digest, Sha256};
use wire::message::{BidRequest, Imp};
use wire::{Format, Limits};

fn encoded(format: Format, request: &BidRequest) -> Vec<u8> {
    let mut bytes = Vec::new();
    wire::encode(format, request, &mut bytes);
    bytes
}

/// Filled fields: scalars, and lists of scalars.
fn fields(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(fields).sum(),
        Value::Array(entries) if entries.iter().any(|e| e.is_object() || e.is_array()) => {
            entries.iter().map(fields).sum()
        }
        _ => 1,
    }
}

/// Every scalar.
fn scalars(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(scalars).sum(),
        Value::Array(entries) => entries.iter().map(scalars).sum(),
        _ => 1,
    }
}

#[test]
fn requests_are_as_large_as_an_exchanges() {
    let (mut by_field, mut by_scalar, mut by_byte) = (Vec::new(), Vec::new(), Vec::new());
    for request in Traffic::new(7).take(4000) {
        let json = encoded(Format::Json, &request);
        let value: Value = serde_json::from_slice(&json).unwrap();
        by_field.push(fields(&value));
        by_scalar.push(scalars(&value));
        by_byte.push(json.len());
    }
    for list in [&mut by_field, &mut by_scalar, &mut by_byte] {
        list.sort_unstable();
    }
    let span = |list: &[usize]| (list[0], list[list.len() / 2], list[list.len() - 1]);
    let (least, median, most) = span(&by_field);
    assert!(
        least >= 60 && (92..=98).contains(&median) && most <= 200,
        "{:?}",
        span(&by_field)
    );
    let (least, median, most) = span(&by_scalar);
    assert!(
        least >= 60 && (100..=112).contains(&median) && most <= 200,
        "{:?}",
        span(&by_scalar)
    );
    let (least, median, most) = span(&by_byte);
    assert!(
        least >= 2048 && (2500..=2750).contains(&median) && most <= 4000,
        "{:?}",
        span(&by_byte)
    );
}

/// A kind of request: its name, whether a request is of it, and its share in percent.
type Kind = (
    &'static str,
    fn(&BidRequest) -> bool,
    std::ops::RangeInclusive<usize>,
);

fn any_imp(request: &BidRequest, is: fn(&Imp) -> bool) -> bool {
    request.imp.iter().any(is)
}

fn device_type(request: &BidRequest) -> i32 {
    request
        .device
        .as_ref()
        .and_then(|device| device.devicetype)
        .unwrap_or(0)
}

const KINDS: [Kind; 24] = [
    ("web", |r| r.site.is_some(), 45..=52),
    ("app", |r| r.app.is_some(), 48..=55),
    ("television", |r| matches!(device_type(r), 3 | 7), 11..=15),
    ("phone", |r| device_type(r) == 4, 45..=60),
    ("computer", |r| device_type(r) == 2, 18..=25),
    ("banner", |r| any_imp(r, |i| i.banner.is_some()), 45..=56),
    ("video", |r| any_imp(r, |i| i.video.is_some()), 34..=44),
    ("native", |r| any_imp(r, |i| i.native.is_some()), 9..=16),
    ("audio", |r| any_imp(r, |i| i.audio.is_some()), 4..=7),
    ("several imps", |r| r.imp.len() > 1, 3..=8),
    (
        "several media",
        |r| {
            any_imp(r, |i| {
                i.banner.is_some() && (i.video.is_some() || i.native.is_some())
            })
        },
        4..=9,
    ),
    ("floor", |r| any_imp(r, |i| i.bidfloor.is_some()), 97..=100),
    (
        "other currency",
        |r| any_imp(r, |i| i.bidfloorcur.as_deref().is_some_and(|c| c != "USD")),
        5..=12,
    ),
    ("deals", |r| any_imp(r, |i| i.pmp.is_some()), 18..=25),
    (
        "private auction",
        |r| {
            any_imp(r, |i| {
                i.pmp
                    .as_ref()
                    .is_some_and(|p| p.private_auction == Some(true))
            })
        },
        2..=6,
    ),
    (
        "pod",
        |r| any_imp(r, |i| i.video.as_ref().is_some_and(|v| v.podid.is_some())),
        2..=5,
    ),
    (
        "content",
        |r| {
            r.site.as_ref().is_some_and(|s| s.content.is_some())
                || r.app.as_ref().is_some_and(|a| a.content.is_some())
        },
        26..=40,
    ),
    (
        "eids",
        |r| r.user.as_ref().is_some_and(|u| !u.eids.is_empty()),
        45..=65,
    ),
    (
        "schain",
        |r| r.source.as_ref().is_some_and(|s| s.schain.is_some()),
        92..=99,
    ),
    (
        "sua",
        |r| r.device.as_ref().is_some_and(|d| d.sua.is_some()),
        25..=40,
    ),
    (
        "gpp",
        |r| r.regs.as_ref().is_some_and(|x| x.gpp.is_some()),
        30..=45,
    ),
    ("blocked advertisers", |r| !r.badv.is_empty(), 40..=60),
    ("blocked categories", |r| !r.bcat.is_empty(), 50..=75),
    ("test", |r| r.test == Some(true), 0..=1),
];

#[test]
fn every_kind_of_request_has_its_share() {
    let requests: Vec<BidRequest> = Traffic::new(3).take(5000).collect();
    for (name, is, share) in KINDS {
        let count = requests.iter().filter(|request| is(request)).count();
        assert!(
            count > 0 && share.contains(&(count * 100 / requests.len())),
            "{name}: {count}"
        );
    }
}

#[test]
fn traffic_is_skewed_and_ids_are_not_repeated() {
    let mut ids = BTreeSet::new();
    let (mut countries, mut sites, mut deals) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut of_sites = 0;
    for request in Traffic::new(4).take(5000) {
        assert!(ids.insert(request.id.clone().unwrap()));
        let geo = request
            .device
            .as_ref()
            .and_then(|device| device.geo.as_ref());
        *countries
            .entry(geo.and_then(|geo| geo.country.clone()))
            .or_insert(0) += 1;
        if let Some(site) = &request.site {
            of_sites += 1;
            *sites.entry(site.domain.clone()).or_insert(0) += 1;
        }
        for deal in request
            .imp
            .iter()
            .filter_map(|imp| imp.pmp.as_ref())
            .flat_map(|pmp| &pmp.deals)
        {
            *deals.entry(deal.id.clone()).or_insert(0) += 1;
        }
    }
    let most = |counts: &BTreeMap<Option<String>, usize>| counts.values().copied().max().unwrap();
    assert!(
        (1600..2100).contains(&countries[&Some("USA".to_owned())]),
        "{countries:?}"
    );
    assert!(
        countries.len() > 25
            && countries.contains_key(&None)
            && countries.contains_key(&Some("US".to_owned()))
    );
    assert!(
        sites.len() > 400 && most(&sites) * 12 > of_sites,
        "{} {}",
        sites.len(),
        most(&sites)
    );
    assert!(
        deals.len() > 150 && most(&deals) * 8 > deals.values().sum(),
        "{} {}",
        deals.len(),
        most(&deals)
    );
}

#[test]
fn a_seed_gives_the_same_requests_everywhere() {
    let mut digest = Sha256::new();
    for request in Traffic::new(1).take(1000) {
        digest.update(encoded(Format::Json, &request));
        digest.update(b"\n");
    }
    let hex: String = digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(
        hex,
        "1eaf08fa989f0fffa052c1003cb59952575153ae0587553c207e8f9779c39a54"
    );
}

#[test]
fn a_request_does_not_depend_on_those_before() {
    let traffic = Traffic::new(5);
    for (index, request) in (0..).zip(Traffic::new(5).take(50)) {
        assert_eq!(traffic.request(index), request);
    }
    assert_ne!(traffic.request(0), Traffic::new(6).request(0));
}

#[test]
fn every_format_carries_every_request() {
    for request in Traffic::new(9).take(500) {
        for format in Format::ALL {
            let bytes = encoded(format, &request);
            let back: BidRequest = wire::decode(format, &bytes, &Limits::default()).unwrap();
            assert_eq!(back, request, "{format}");
        }
    }
}

/// The example's line items, which cannot run out in a run: about one request in five passes
/// targeting and about one in a hundred gets a bid, alike in every format.
#[test]
fn the_example_bids_on_one_in_a_hundred() {
    const REQUESTS: usize = 20_000;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/line-items.json");
    let mut reasons = Vec::new();
    for format in Format::ALL {
        let items = bidder::line_items::read(&file).unwrap();
        let settings = Settings {
            rates: Rates::new(Currency::USD, Vec::new()),
            now: bidder::time::now(),
            format,
            spend: true,
            limits: Limits::default(),
        };
        let mut decider = Decider::new(items, settings).unwrap();
        let mut decisions = Vec::new();
        for request in Traffic::new(1).take(REQUESTS) {
            decider.decide(&encoded(Format::Json, &request), &mut decisions);
        }
        reasons.push(count(&decisions));
    }
    assert!(
        reasons.iter().all(|counts| *counts == reasons[0]),
        "{reasons:?}"
    );
    let of = |name: &str| reasons[0].get(name).copied().unwrap_or(0);
    assert!(
        (REQUESTS / 125..=REQUESTS / 80).contains(&of("bid")),
        "{reasons:?}"
    );
    let passed = of("bid") + of("floor") + of("blocked");
    assert!(
        (REQUESTS * 18 / 100..=REQUESTS * 22 / 100).contains(&passed),
        "{reasons:?}"
    );
    for never in ["budget", "inactive", "invalid_request"] {
        assert_eq!(of(never), 0, "{never}");
    }
}

fn count(decisions: &[u8]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in std::str::from_utf8(decisions).unwrap().lines() {
        let decision: Value = serde_json::from_str(line).unwrap();
        let reason = decision["no_bid"].as_str().unwrap_or("bid").to_owned();
        *counts.entry(reason).or_insert(0) += 1;
    }
    counts
}
