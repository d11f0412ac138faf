//! Bytes that somebody made to hurt: whatever they are, reading ends in answers or a refusal,
//! within the limits.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod common;

use common::answers::answers;
use common::encode::flatbuffers;
use common::encode::protobuf::{len, number, varint};
use common::{FULL, encodings, encodings_of};
use openrtb::{Limit, Read, Refusal, RequestTexts, RequestView, Step};
use proptest::prelude::*;
use serde_json::json;
use wire::{Format, Limits, Reader, Visit};

/// A refusal for this limit.
fn over<T>(limit: Limit) -> Read<T> {
    Err(Refusal::OverLimit(limit))
}

fn with(set: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    set(&mut limits);
    limits
}

#[track_caller]
fn check(limits: Limits, format: Format, bytes: &[u8], expect: Read<()>) {
    let got = answers(&mut Reader::new(limits), format, bytes);
    assert_eq!(got.map(drop), expect, "{format}, {} bytes", bytes.len());
}

/// Asks everything of bytes that may be anything. More entries than there may be work are a bug.
fn survive(reader: &mut Reader, format: Format, bytes: &[u8]) -> Read<()> {
    let answers = answers(reader, format, bytes)?;
    // Each impression and deal has lines that cost no work of their own.
    let lines_max = 20 * reader.limits().work_max as usize;
    assert!(answers.lines().count() <= lines_max);
    Ok(())
}

#[test]
fn a_message_cut_short_anywhere() {
    let mut reader = Reader::default();
    for (format, bytes) in encodings(FULL) {
        for end in 0..bytes.len() {
            let got = survive(&mut reader, format, &bytes[..end]);
            if format == Format::Json {
                assert_eq!(got, Err(Refusal::Malformed), "{end}");
            }
        }
    }
}

#[test]
fn a_message_with_any_byte_changed() {
    let mut reader = Reader::new(with(|limits| limits.work_max = 5000));
    for (format, mut bytes) in encodings(FULL) {
        for at in 0..bytes.len() {
            let sound = bytes[at];
            let flips = (0..8).map(|bit| sound ^ 1 << bit);
            for byte in flips.chain([0, 0x7F, 0x80, 0xFF, b'"', b'\\', b'{', b']']) {
                bytes[at] = byte;
                let _ = survive(&mut reader, format, &bytes);
            }
            bytes[at] = sound;
        }
    }
}

#[test]
fn a_message_with_something_cut_out_or_put_in() {
    let mut reader = Reader::new(with(|limits| limits.work_max = 5000));
    for (format, bytes) in encodings(FULL) {
        for at in 0..bytes.len() {
            for gap in [1, 2, 4, 7] {
                let after = (at + gap).min(bytes.len());
                let cut = [&bytes[..at], &bytes[after..]].concat();
                let _ = survive(&mut reader, format, &cut);
                let doubled = [&bytes[..after], &bytes[at..]].concat();
                let _ = survive(&mut reader, format, &doubled);
            }
        }
    }
}

#[test]
fn message_length() {
    for (format, bytes) in encodings(FULL) {
        let max = bytes.len() as u32;
        check(with(|l| l.message_bytes_max = max), format, &bytes, Ok(()));
        check(
            with(|l| l.message_bytes_max = max - 1),
            format,
            &bytes,
            over(Limit::MessageBytes),
        );
        // Checked before anything is looked at.
        check(
            Limits::default(),
            format,
            &vec![b'{'; 262_145],
            over(Limit::MessageBytes),
        );
    }
}

#[test]
fn impressions() {
    for (count, expect) in [
        (256, Ok(())),
        (257, over(Limit::Imps)),
        (100_000, over(Limit::Imps)),
    ] {
        let imps = vec![json!({}); count];
        for (format, bytes) in encodings_of(&json!({ "imp": imps })) {
            let limits = with(|limits| limits.message_bytes_max = 1 << 21);
            check(limits, format, &bytes, expect);
        }
    }
    // What is no object is no impression, but counts as work.
    let nulls = format!(r#"{{"imp": [{}{{}}]}}"#, "0,".repeat(1000));
    check(Limits::default(), Format::Json, nulls.as_bytes(), Ok(()));
    check(
        with(|l| l.work_max = 1000),
        Format::Json,
        nulls.as_bytes(),
        over(Limit::Work),
    );
}

#[test]
fn deals_of_an_impression() {
    for (count, expect) in [(256, Ok(())), (257, over(Limit::Deals))] {
        let deals = vec![json!({}); count];
        let imp = json!({"pmp": {"deals": deals}});
        for (format, bytes) in encodings_of(&json!({"imp": [imp, imp]})) {
            check(Limits::default(), format, &bytes, expect);
        }
    }
}

#[test]
fn depth_of_json() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels - 1), "]".repeat(levels - 1));
        format!(r#"{{"id":"r","x":"[[[[","ext":{open}{close},"y":0}}"#)
    };
    for (levels, expect) in [
        (63, Ok(())),
        (64, Ok(())),
        (65, over(Limit::Depth)),
        (10_000, over(Limit::Depth)),
        (100_000, over(Limit::Depth)),
    ] {
        check(
            Limits::default(),
            Format::Json,
            nested(levels).as_bytes(),
            expect,
        );
    }
    check(
        with(|l| l.depth_max = 1),
        Format::Json,
        b"{\"id\":\"[\"}",
        Ok(()),
    );
    check(
        with(|l| l.depth_max = 1),
        Format::Json,
        b"{\"cur\":[]}",
        over(Limit::Depth),
    );
    // Many, but side by side.
    let wide = format!(r#"{{"ext":[{}0]}}"#, "[[]],{},".repeat(10_000));
    check(Limits::default(), Format::Json, wide.as_bytes(), Ok(()));
}

#[test]
fn depth_of_groups() {
    let nested = |levels: usize| {
        let (start, end) = (varint(7 << 3 | 3), varint(7 << 3 | 4));
        [start.repeat(levels), end.repeat(levels)].concat()
    };
    for (levels, expect) in [
        (64, Ok(())),
        (65, over(Limit::Depth)),
        (10_000, over(Limit::Depth)),
    ] {
        check(Limits::default(), Format::Protobuf, &nested(levels), expect);
    }
    check(
        Limits::default(),
        Format::Protobuf,
        &nested(1).repeat(10_000),
        Ok(()),
    );
}

#[test]
fn length_of_strings_that_are_used() {
    for (bytes, expect) in [(4096, Ok(())), (4097, over(Limit::StringBytes))] {
        let long = "x".repeat(bytes);
        for used in [
            json!({"id": long}),
            json!({"cur": ["USD", long]}),
            json!({"device": {"geo": {"country": long}}}),
            json!({"imp": [{"id": long}]}),
            json!({"imp": [{"bidfloorcur": long}]}),
            json!({"imp": [{"video": {"mimes": [long]}}]}),
            json!({"imp": [{"pmp": {"deals": [{"id": long}]}}]}),
            json!({"imp": [{"pmp": {"deals": [{"wadomain": [long]}]}}]}),
        ] {
            for (format, bytes) in encodings_of(&used) {
                check(Limits::default(), format, &bytes, expect);
            }
        }
    }
    // Decoded, an escape is shorter.
    let escaped = format!(r#"{{"id": "{}"}}"#, r"\u0078".repeat(4096));
    check(Limits::default(), Format::Json, escaped.as_bytes(), Ok(()));
    let unused =
        json!({"user": {"id": "x".repeat(100_000)}, "device": {"ua": "x".repeat(100_000)}});
    for (format, bytes) in encodings_of(&unused) {
        check(Limits::default(), format, &bytes, Ok(()));
    }
}

/// Asks for one list again and again, up to a refusal or a million times.
struct AskAgain;

impl Visit for AskAgain {
    type Out = (Read<()>, usize);

    fn visit<'a, V: RequestView<'a>>(self, view: &V) -> (Read<()>, usize) {
        let mut entries = 0;
        for _ in 0..1_000_000 {
            let walked = view.texts(RequestTexts::Bcat, |_| {
                entries += 1;
                Step::On
            });
            if walked.is_err() {
                return (walked, entries);
            }
        }
        (Ok(()), entries)
    }
}

#[test]
fn work_is_bounded_however_often_a_list_is_asked_for() {
    let request = json!({"bcat": vec!["IAB1"; 100]});
    for (format, bytes) in encodings_of(&request) {
        let mut reader = Reader::default();
        for _ in 0..2 {
            let (got, entries) = reader.read(format, &bytes, AskAgain).unwrap();
            assert_eq!(got, over(Limit::Work), "{format}");
            assert!(entries <= 200_000, "{format}: {entries}");
            // A list of a hundred can be walked hundreds of times all the same.
            assert!(entries >= 50_000, "{format}: {entries}");
        }
    }
}

#[test]
fn work_grows_with_what_is_passed_over() {
    // A key behind a hundred kilobytes of something else, asked for again and again.
    let heavy = format!(
        r#"{{"imp": [{{"video": {{"ext": [{}0], "w": 1, "h": 1}}}}]}}"#,
        "0,".repeat(50_000)
    );
    struct Sizes;
    impl Visit for Sizes {
        type Out = usize;
        fn visit<'a, V: RequestView<'a>>(self, view: &V) -> usize {
            use openrtb::ImpView;
            let imp = view.imp(0).unwrap();
            (0..1_000_000)
                .take_while(|_| imp.video_size().is_ok())
                .count()
        }
    }
    let walks = Reader::default().read(Format::Json, heavy.as_bytes(), Sizes);
    assert!(walks.unwrap() <= 200_000 / (100_000 / 64));
}

/// Adds a table with a single offset in `slot`; where the table and its offset are.
fn table_of_one(out: &mut Vec<u8>, slot: u16) -> (usize, usize) {
    let vtable = out.len();
    let size = 4 + 2 * (slot + 1);
    out.extend(size.to_le_bytes());
    out.extend([8, 0]);
    out.resize(vtable + usize::from(size) - 2, 0);
    out.extend([4, 0]);
    let at = out.len();
    out.extend(u32::from(size).to_le_bytes());
    out.extend([0; 4]);
    (at, at + 4)
}

/// Adds a vector of which every element points at what comes right behind it.
fn vector_of_the_same(out: &mut Vec<u8>, len: usize) -> usize {
    let at = out.len();
    out.extend((len as u32).to_le_bytes());
    out.extend(
        (1..=len)
            .rev()
            .flat_map(|left| (4 * left as u32).to_le_bytes()),
    );
    at
}

/// `len` impressions of `len` deals of `len` strings, in a few kilobytes.
fn all_the_same(len: usize) -> Vec<u8> {
    const IMP: u16 = 2;
    const PMP: u16 = 11;
    const DEALS: u16 = 2;
    const WSEAT: u16 = 4;
    let mut out = vec![0; 4];
    let (root, mut pointer) = table_of_one(&mut out, IMP);
    flatbuffers::point(&mut out, 0, root);
    for tables in [&[PMP, DEALS][..], &[WSEAT]] {
        let vector = vector_of_the_same(&mut out, len);
        flatbuffers::point(&mut out, pointer, vector);
        let mut pointers: Vec<usize> = (0..len).map(|at| vector + 4 + 4 * at).collect();
        for &slot in tables {
            let (table, inside) = table_of_one(&mut out, slot);
            for &from in &pointers {
                flatbuffers::point(&mut out, from, table);
            }
            pointers = vec![inside];
        }
        pointer = pointers[0];
    }
    let vector = vector_of_the_same(&mut out, len);
    flatbuffers::point(&mut out, pointer, vector);
    out.extend([1, 0, 0, 0, b's', 0]);
    out
}

#[test]
fn flatbuffers_whose_every_vector_points_at_the_same_table() {
    let lines = answers(
        &mut Reader::default(),
        Format::FlatBuffers,
        &all_the_same(10),
    );
    assert_eq!(lines.unwrap().matches("wseat s").count(), 1000);
    let most = all_the_same(250);
    assert!(most.len() < 4000);
    check(
        Limits::default(),
        Format::FlatBuffers,
        &most,
        over(Limit::Work),
    );
}

#[test]
fn an_ext_that_many_tables_share_is_work_each_time() {
    const IMP: u16 = 2;
    const EXT: u16 = 0;
    let ext: Vec<String> = (0..20_000).map(|key| format!("\"{key}\":1")).collect();
    let ext = format!("{{{}}}", ext.join(","));
    let mut out = vec![0; 4];
    let (root, pointer) = table_of_one(&mut out, IMP);
    flatbuffers::point(&mut out, 0, root);
    let vector = vector_of_the_same(&mut out, 250);
    flatbuffers::point(&mut out, pointer, vector);
    let (table, inside) = table_of_one(&mut out, EXT);
    for at in 0..250 {
        flatbuffers::point(&mut out, vector + 4 + 4 * at, table);
    }
    let at = out.len();
    flatbuffers::point(&mut out, inside, at);
    out.extend((ext.len() as u32).to_le_bytes());
    out.extend(ext.as_bytes());
    out.push(0);
    let limits = Limits::default();
    assert!(out.len() < limits.message_bytes_max as usize);
    let error = wire::decode::<wire::message::BidRequest>(Format::FlatBuffers, &out, &limits)
        .unwrap_err()
        .to_string();
    // A few of them, not hundreds.
    let taken_apart: usize = error
        .split_once("imp[")
        .and_then(|(_, rest)| rest.split_once(']')?.0.parse().ok())
        .unwrap();
    assert!(error.contains("work_max") && taken_apart < 16, "{error}");
}

#[test]
fn flatbuffers_of_all_kinds_of_offsets() {
    // Every aligned word of a sound message in turn made to point at itself, backwards, at the
    // start, at the end, past it, and as far as it goes.
    let sound = encodings(FULL).pop().unwrap().1;
    let mut reader = Reader::new(with(|limits| limits.work_max = 20_000));
    let end = sound.len() as u32;
    for at in 0..sound.len() - 4 {
        let here = at as u32;
        for offset in [
            0,
            1,
            4,
            4u32.wrapping_neg(),
            here.wrapping_neg(),
            end - here,
            end - here - 1,
            end - here - 4,
            1 << 31,
            u32::MAX,
            1 << 30,
        ] {
            let mut bytes = sound.clone();
            bytes[at..at + 4].copy_from_slice(&offset.to_le_bytes());
            let _ = survive(&mut reader, Format::FlatBuffers, &bytes);
        }
    }
}

#[test]
fn flatbuffers_may_start_anywhere() {
    for (format, bytes) in encodings(FULL) {
        let expect = answers(&mut Reader::default(), format, &bytes);
        for shift in 1..8 {
            let moved = [vec![0; shift], bytes.clone()].concat();
            assert_eq!(
                answers(&mut Reader::default(), format, &moved[shift..]),
                expect
            );
        }
    }
}

#[test]
fn protobuf_that_claims_more_than_there_is() {
    for claim in [6, 100, 1 << 31, u64::from(u32::MAX), 1 << 40, u64::MAX] {
        for tag in [1, 2, 5, 11, 12, 40] {
            let bytes = [varint(tag << 3 | 2), varint(claim), b"12345".to_vec()].concat();
            check(
                Limits::default(),
                Format::Protobuf,
                &bytes,
                Err(Refusal::Malformed),
            );
        }
    }
}

#[test]
fn protobuf_parts_without_end() {
    // A hundred thousand parts of one message merge, each walked when it is looked at.
    let parts = len(2, len(3, number(6, 640)).repeat(50_000));
    check(
        Limits::default(),
        Format::Protobuf,
        &parts,
        over(Limit::Work),
    );
    check(
        with(|l| l.work_max = 10_000_000),
        Format::Protobuf,
        &parts,
        Ok(()),
    );
}

/// A request of the fields in the tests' table, with values of the right types.
fn request() -> impl Strategy<Value = serde_json::Value> {
    let int = prop_oneof![0..10i32, any::<i32>()];
    let ints = prop::collection::vec(int.clone(), 0..4);
    let text = prop_oneof![
        "",
        "[a-z]{1,8}",
        "USA|FRA|US",
        "\\PC{0,70}",
        "[\"\\\\{},:\\[\\]\n]{1,5}"
    ];
    let texts = prop::collection::vec(text.clone(), 0..4);
    let double = prop_oneof![-1.0..100.0f64, prop::num::f64::NORMAL];
    let parts = (
        ints,
        texts,
        (text.clone(), text),
        (int.clone(), int),
        double,
        any::<[bool; 12]>(),
    );
    parts.prop_map(|(ints, texts, (a, b), (w, h), double, there)| {
        let mut medium = json!({"w": w, "h": h, "mimes": texts, "battr": ints, "api": ints});
        let mut format = json!({"format": [{"w": h, "h": w}, {}]});
        let mut deals = vec![
            json!({"id": a, "bidfloor": double, "wseat": texts}),
            json!({"at": w}),
        ];
        let mut request = json!({"id": a, "bcat": texts, "tmax": w, "test": there[0]});
        if there[1] {
            request["device"] = json!({"devicetype": w, "ua": b, "geo": {"country": a}});
        }
        if there[2] {
            format = json!({});
        }
        if there[3] {
            deals.clear();
        }
        let mut imp = json!({"id": b, "secure": there[4], "bidfloor": double, "bidfloorcur": a});
        if there[5] {
            imp["banner"] = format;
            imp["banner"]["w"] = json!(w);
            imp["banner"]["h"] = json!(h);
        }
        if there[6] {
            imp["pmp"] = json!({"private_auction": there[7], "deals": deals});
        }
        if there[8] {
            medium["rqddurs"] = json!(ints);
            medium["minduration"] = json!(h);
        }
        if there[9] {
            medium["mincpmpersec"] = json!(double);
            imp["qty"] = json!({"multiplier": double});
        }
        if there[10] {
            imp["video"] = medium;
        }
        let imps = if there[11] {
            vec![imp.clone(), json!({}), imp]
        } else {
            vec![imp]
        };
        request["imp"] = json!(imps);
        request
    })
}

proptest! {
    #[test]
    fn all_formats_answer_alike(request in request()) {
        let mut reader = Reader::default();
        let mut all = encodings_of(&request).into_iter();
        let (format, bytes) = all.next().unwrap();
        let expect = answers(&mut reader, format, &bytes).unwrap();
        for (format, bytes) in all {
            prop_assert_eq!(answers(&mut reader, format, &bytes).unwrap(), expect.clone());
        }
    }

    #[test]
    fn mutated_bytes_end_in_answers_or_a_refusal(
        request in request(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut reader = Reader::new(with(|limits| limits.work_max = 10_000));
        for (format, mut bytes) in encodings_of(&request) {
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
                let _ = survive(&mut reader, format, &bytes);
            }
        }
    }

    #[test]
    fn any_bytes_end_in_answers_or_a_refusal(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut reader = Reader::default();
        for format in Format::ALL {
            let _ = survive(&mut reader, format, &bytes);
        }
    }
}
