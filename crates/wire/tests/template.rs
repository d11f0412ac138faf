//! What a template makes of a patch is the message that the patch makes of the template's: random
//! messages and patches, in every format.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod common;

use common::answers::answers;
use common::random::Random;
use proptest::prelude::*;
use wire::message::{BidRequest, Imp, ImpExt, Site};
use wire::template::{ImpCount, ImpPatch, Patch, Template};
use wire::{Encoder, Format, Limits, Reader, decode};

/// Random messages are larger than requests are.
fn limits() -> Limits {
    Limits {
        message_bytes_max: 1 << 24,
        work_max: 1 << 24,
        ..Limits::default()
    }
}

/// A template of `base`, filled with what `with` has of what a patch sets, in a format: that it reads
/// as the whole message, and is it, but in FlatBuffers.
fn check_format(format: Format, base: &BidRequest, with: &BidRequest, encoder: &mut Encoder) {
    let none = Imp::default();
    let imps: Vec<_> = (0..base.imp.len())
        .map(|at| ImpPatch::of(with.imp.get(at).unwrap_or(&none)))
        .collect();
    let patch = Patch::of(with, &imps);
    let mut whole = base.clone();
    patch.apply(&mut whole).unwrap();
    let template = Template::new(format, base);
    let filled = template.fill(&patch, encoder).unwrap().to_vec();
    let encoded = encoder.encode(format, &whole);
    let read = |bytes| decode::<BidRequest>(format, bytes, &limits()).unwrap();
    assert_eq!(read(&filled), read(encoded), "{format}");
    let mut reader = Reader::new(limits());
    assert_eq!(
        answers(&mut reader, format, &filled),
        answers(&mut reader, format, encoded),
        "{format}"
    );
    if format != Format::FlatBuffers {
        assert_eq!(
            String::from_utf8_lossy(&filled),
            String::from_utf8_lossy(encoded),
            "{format}"
        );
    }
}

fn check(base: &BidRequest, with: &BidRequest) {
    let mut encoder = Encoder::new();
    for format in Format::ALL {
        check_format(format, base, with, &mut encoder);
    }
}

proptest! {
    #[test]
    fn a_filled_template_is_the_whole_message(base: u64, with: u64) {
        let base: BidRequest = Random::new(base).message();
        check(&base, &Random::new(with).message());
        check(&base, &base);
        check(&base, &BidRequest::default());
        check(&BidRequest::default(), &base);
    }
}

/// Every set of the fields that a patch sets, on a template that has them all, has none, or has the
/// messages that they are in.
#[test]
fn every_field_is_set_or_not() {
    let ext = ImpExt {
        gpid: Some("g".to_owned()),
        igs: Some(Box::default()),
        json: Some(r#"{"tid":7,"a":"\"tid\""}"#.to_owned()),
        ..ImpExt::default()
    };
    let imp = Imp {
        tagid: Some("t".to_owned()),
        secure: Some(true),
        exp: Some(60),
        dt: Some(1.5),
        ext: Some(Box::new(ext)),
        ..Imp::default()
    };
    let bases = [
        BidRequest::default(),
        BidRequest {
            imp: vec![Imp::default()],
            ..BidRequest::default()
        },
        BidRequest {
            imp: vec![imp.clone(), Imp::default(), imp],
            site: Some(Box::default()),
            source: Some(Box::default()),
            at: Some(1),
            cur: vec!["USD".to_owned()],
            ..BidRequest::default()
        },
    ];
    let text = |bits: u32, bit: u32| (bits >> bit & 1 == 1).then(|| format!("\"{bit}\n"));
    for base in bases {
        for bits in 0..1 << 13 {
            let ext = ImpExt {
                tid: text(bits, 0),
                ..ImpExt::default()
            };
            let imp = Imp {
                id: text(bits, 1),
                bidfloor: text(bits, 2).map(|_| 0.1),
                bidfloorcur: text(bits, 3),
                ext: Some(Box::new(ext)),
                ..Imp::default()
            };
            let site = Site {
                page: text(bits, 4),
                r#ref: text(bits, 5),
                ..Site::default()
            };
            let with = BidRequest {
                id: text(bits, 6),
                imp: vec![imp],
                site: Some(Box::new(site)),
                device: text(bits, 7).map(|_| Box::default()),
                user: text(bits, 8).map(|_| Box::default()),
                regs: text(bits, 9).map(|_| Box::default()),
                tmax: text(bits, 10).map(|_| -1),
                ..BidRequest::default()
            };
            check(&base, &with);
        }
    }
}

#[test]
fn a_warm_fill_allocates_nothing() {
    let full: BidRequest =
        decode(Format::Json, common::FULL.as_bytes(), &Limits::default()).unwrap();
    let imps: Vec<_> = full.imp.iter().map(ImpPatch::of).collect();
    let patch = Patch::of(&full, &imps);
    for format in Format::ALL {
        let template = Template::new(format, &full);
        let mut encoder = Encoder::new();
        let cold = template.fill(&patch, &mut encoder).unwrap().len();
        let mut warm = 0;
        let count = allocation_counter::measure(|| {
            warm = template.fill(&patch, &mut encoder).unwrap().len();
        });
        assert_eq!((count.count_total, warm), (0, cold), "{format}");
    }
}

#[test]
fn impressions_have_to_be_as_many() {
    let base = BidRequest {
        imp: vec![Imp::default(); 2],
        ..BidRequest::default()
    };
    let one = [ImpPatch::default()];
    let patch = Patch {
        id: Some("r"),
        imp: &one,
        ..Patch::default()
    };
    let error = ImpCount {
        template: 2,
        patch: 1,
    };
    for format in Format::ALL {
        let template = Template::new(format, &base);
        assert_eq!(template.imps(), 2);
        assert_eq!(template.fill(&patch, &mut Encoder::new()), Err(error));
    }
    let mut whole = base.clone();
    assert_eq!(patch.apply(&mut whole), Err(error));
    assert_eq!(whole, base);
}

/// A text that JSON cannot nest more deeply is carried all the same.
#[test]
fn the_deepest_ext_is_carried() {
    let nested = format!("{}{}", "[".repeat(1023), "]".repeat(1023));
    let ext = wire::message::Ext {
        json: Some(format!("{{\"x\":{nested}}}")),
    };
    let base = BidRequest {
        ext: Some(Box::new(ext)),
        ..BidRequest::default()
    };
    let patch = Patch {
        id: Some("r"),
        ..Patch::default()
    };
    let mut whole = base.clone();
    patch.apply(&mut whole).unwrap();
    let mut encoder = Encoder::new();
    let template = Template::new(Format::Json, &base);
    let filled = template.fill(&patch, &mut encoder).unwrap().to_vec();
    let encoded = encoder.encode(Format::Json, &whole);
    let sorted = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes.sort_unstable();
        bytes
    };
    assert_eq!(sorted(&filled), sorted(encoded));
}
