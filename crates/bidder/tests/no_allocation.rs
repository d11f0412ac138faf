//! A warm no through the service allocates nothing, whichever format it comes in, decided or shed.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use bidder::config::{Deadline, Overload, Shed};
use bidder::metrics::Metrics;
use bidder::response::BidTerms;
use bidder::service::{BID_PATH, BID_STREAM_PATH, BidderService, Heartbeat, Shared};
use bidder::snapshot::State;
use engine::{Catalog, MemoryBudgets, MemoryLimits, Rates, Snapshot};
use openrtb::Currency;
use transport::{Call, Code, MethodKind, ReplyBuffer, Service};
use wire::message::BidRequest;
use wire::{Format, Limits};

fn service(shed: Shed) -> BidderService {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/line-items.json"
    );
    let items = bidder::line_items::read(Path::new(path)).unwrap();
    let budgets = MemoryBudgets::new(MemoryLimits::default());
    let catalog = Arc::new(Catalog::build(items).unwrap());
    let state = State {
        snapshot: Snapshot::open(catalog, &budgets, bidder::time::now()),
        rates: Rates::new(Currency::USD, None),
    };
    let shared = Shared {
        current: Arc::new(ArcSwap::from_pointee(state)),
        budgets,
        terms: BidTerms {
            base: Currency::USD,
            exp_s: 120,
            notice_url: None,
        },
        deadline: Deadline {
            network_margin: Duration::from_millis(1),
            decision_min: Duration::from_millis(1),
        },
        overload: Overload {
            wait_max: Some(Duration::from_millis(20)),
            shed,
        },
        limits: Limits::default(),
        validate: false,
        metrics: Metrics::new().unwrap(),
        draining: AtomicBool::new(false),
    };
    BidderService::new(Arc::new(shared), Heartbeat::default())
}

/// Requests that end at different stages: country, floor, deal, deadline, and an escaped id.
const NOS: [&str; 5] = [
    r#"{"id": "1", "imp": [{"id": "1", "banner": {"w": 300, "h": 250}}],
        "device": {"devicetype": 2, "geo": {"country": "JPN"}}, "badv": ["a.example"], "tmax": 100}"#,
    r#"{"id": "2", "imp": [{"id": "1", "banner": {"format": [{"w": 300, "h": 250}]}, "bidfloor": 900.1234567},
        {"id": "2", "video": {"mimes": ["video/mp4"], "w": 1920, "h": 1080}, "bidfloor": 901}],
        "device": {"devicetype": 3, "geo": {"country": "us"}}, "cur": ["EUR", "USD"]}"#,
    r#"{"id": "3", "imp": [{"id": "1", "native": {"request": "{}"},
        "pmp": {"private_auction": 1, "deals": [{"id": "x", "bidfloor": 1, "wseat": ["a"]}]}}]}"#,
    r#"{"id": "4", "imp": [{"id": "1", "banner": {"w": 300, "h": 250}}], "tmax": 1}"#,
    r#"{"id": "\u0035", "imp": [{"id": "\/1", "audio": {"mimes": ["audio/mp4"]}}]}"#,
];

#[test]
fn a_warm_no_allocates_nothing() {
    let mut service = service(Shed::NoBid);
    let bid = service.method(BID_PATH).unwrap().id;
    let mut buffer = ReplyBuffer::default();
    for (format, subtype) in [
        (Format::Protobuf, "proto"),
        (Format::FlatBuffers, "flatbuffers"),
        (Format::Json, "json"),
    ] {
        for json in NOS {
            let request: BidRequest =
                wire::decode(Format::Json, json.as_bytes(), &Limits::default()).unwrap();
            let mut message = Vec::new();
            wire::encode(format, &request, &mut message);
            if format == Format::Json {
                message = json.as_bytes().to_vec();
            }
            let mut call = || {
                let mut call = Call::local(bid, &message, Instant::now());
                call.subtype = subtype;
                service.call(&call, &mut buffer.reply()).unwrap();
            };
            call();
            call();
            let counted = allocation_counter::measure(&mut call);
            assert_eq!(counted.count_total, 0, "{format}: {json}");
            let answer = buffer.message().unwrap();
            let answer: wire::message::BidResponse =
                wire::decode(format, answer, &Limits::default()).unwrap();
            assert!(
                answer.nbr.is_some() && answer.seatbid.is_empty(),
                "{answer:?}"
            );
        }
    }
}

/// What waited too long is answered without a decision.
#[test]
fn what_waited_too_long_is_shed() {
    const OVERLOAD: i32 = 510;
    for (shed, waited_ms, expect) in [
        (Shed::NoBid, 20, Ok(false)),
        (Shed::NoBid, 21, Ok(true)),
        (Shed::ResourceExhausted, 20, Ok(false)),
        (Shed::ResourceExhausted, 21, Err(Code::ResourceExhausted)),
    ] {
        let mut service = service(shed);
        let bid = service.method(BID_PATH).unwrap().id;
        let mut buffer = ReplyBuffer::default();
        let mut call = Call::local(bid, NOS[1].as_bytes(), Instant::now());
        call.subtype = "json";
        call.waited = Duration::from_millis(waited_ms);
        let mut got = Ok(());
        let mut once = || got = service.call(&call, &mut buffer.reply());
        once();
        once();
        let counted = allocation_counter::measure(once);
        assert_eq!(counted.count_total, 0, "{shed:?} {waited_ms}");
        let got = got.map_err(|status| status.code).map(|()| {
            let answer = buffer.message().unwrap();
            let answer: wire::message::BidResponse =
                wire::decode(Format::Json, answer, &Limits::default()).unwrap();
            answer.nbr == Some(OVERLOAD)
        });
        assert_eq!(got, expect, "{shed:?} {waited_ms}");
    }
}

/// A stream goes on after a request that is invalid.
#[test]
fn a_stream_answers_what_is_invalid() {
    let mut service = service(Shed::ResourceExhausted);
    let stream = service.method(BID_STREAM_PATH).unwrap();
    assert_eq!(stream.kind, MethodKind::Bidi);
    let mut buffer = ReplyBuffer::default();
    for (json, waited_ms, id, nbr) in [
        (NOS[0], 0, Some("1"), 503),
        (r#"{"id": "x"}"#, 0, Some("x"), 2),
        (r#"{"imp": [{"id": "1"}]}"#, 0, None, 2),
        ("{\"id\": NaN", 0, None, 2),
        ("", 0, None, 2),
        (NOS[4], 21, Some("5"), 510),
    ] {
        let mut call = Call::local(stream.id, json.as_bytes(), Instant::now());
        call.subtype = "json";
        call.waited = Duration::from_millis(waited_ms);
        service.call(&call, &mut buffer.reply()).unwrap();
        let answer: wire::message::BidResponse =
            wire::decode(Format::Json, buffer.message().unwrap(), &Limits::default()).unwrap();
        assert_eq!(
            (answer.id.as_deref(), answer.nbr),
            (id, Some(nbr)),
            "{json}"
        );
    }
}
