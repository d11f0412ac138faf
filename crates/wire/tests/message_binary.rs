//! What decoding makes of bytes that no encoder of ours writes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use openrtb::Limit;
use wire::message::{BidRequest, Cause, Imp, Message};
use wire::{Format, Limits, decode, encode};

/// What a request in protobuf reads as, in JSON.
fn check(parts: &[&[u8]], expect: &str) {
    let bytes = parts.concat();
    let read: BidRequest = decode(Format::Protobuf, &bytes, &Limits::default())
        .unwrap_or_else(|error| panic!("{bytes:?}: {error}"));
    assert_eq!(text(&read), expect, "{bytes:?}");
}

fn text<M: Message>(message: &M) -> String {
    let mut bytes = Vec::new();
    encode(Format::Json, message, &mut bytes);
    String::from_utf8(bytes).unwrap()
}

fn check_error(format: Format, bytes: &[u8], cause: Cause, path: &str) {
    let error = decode::<BidRequest>(format, bytes, &Limits::default()).unwrap_err();
    assert_eq!((error.cause(), &*error.path()), (cause, path), "{error}");
}

/// A part behind its tag and length.
fn part(tag: u8, bytes: &[u8]) -> Vec<u8> {
    [&[tag, bytes.len() as u8], bytes].concat()
}

const TRUNCATED: Cause = Cause::Malformed("cut short, out of bounds, or of no known layout");

#[test]
fn the_last_scalar_counts_and_parts_merge() {
    // tmax is 8 (0x40), id 1 (0x0A), device 5 (0x2A), its w 25 (0xC8 0x01), its h 26 (0xD0 0x01).
    check(
        &[b"\x40\x01", b"\x0a\x01a", b"\x40\x02", b"\x0a\x01b"],
        r#"{"id":"b","tmax":2}"#,
    );
    check(&[b"\x0a\x01a", b"\x0a\x00"], "{}");
    check(&[b"\x0a\x01a", b"\x0a\x01\xff"], "{}");
    check(
        &[
            b"\x2a\x03\xc8\x01\x05",
            b"\x40\x01",
            b"\x2a\x06\xd0\x01\x06\xc8\x01\x07",
        ],
        r#"{"device":{"w":7,"h":6},"tmax":1}"#,
    );
}

#[test]
fn integers_and_flags() {
    check(&[b"\x40\xff\xff\xff\xff\x07"], r#"{"tmax":2147483647}"#);
    check(
        &[b"\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"],
        r#"{"tmax":-1}"#,
    );
    // No value of 32 bits.
    check(&[b"\x40\x05", b"\x40\xff\xff\xff\xff\x0f"], "{}");
    check(&[b"\x40\x80\x80\x80\x80\x10"], "{}");
    check(&[b"\x78\x80\x02"], r#"{"test":1}"#);
    // Not finite: unknown, but for a floor. Device is 5, pxratio 28; Imp is 2, bidfloor 8.
    let infinity = f64::INFINITY.to_le_bytes();
    check(
        &[&part(0x2A, &[b"\xe1\x01", &infinity[..]].concat())],
        r#"{"device":{}}"#,
    );
    check(
        &[&part(0x12, &[b"\x41", &infinity[..]].concat())],
        r#"{"imp":[{"bidfloor":1e999}]}"#,
    );
    check(
        &[&part(
            0x12,
            &[b"\x41", &f64::NAN.to_le_bytes()[..]].concat(),
        )],
        r#"{"imp":[{"bidfloor":1e999}]}"#,
    );
}

#[test]
fn lists_are_packed_or_not() {
    // Regs is 14 (0x72), gpp_sid 3: packed 0x1A, not 0x18.
    check(
        &[&part(0x72, b"\x18\x01\x1a\x02\x02\x03\x18\x04")],
        r#"{"regs":{"gpp_sid":[1,2,3,4]}}"#,
    );
    check(
        &[&part(0x72, b"\x1a\x07\x02\xff\xff\xff\xff\x0f\x03")],
        r#"{"regs":{"gpp_sid":[2,3]}}"#,
    );
    check(
        &[b"\x5a\x03USD", b"\x5a\x00", b"\x5a\x01\xff", b"\x5a\x03EUR"],
        r#"{"cur":["USD","EUR"]}"#,
    );
}

#[test]
fn what_the_schema_does_not_know_is_passed_over() {
    check(&[b"\xf8\x7f\x01", b"\x0a\x01a"], r#"{"id":"a"}"#);
    // A group, and another layout of a known field.
    check(
        &[
            b"\xfb\x7f\x08\x01\xfc\x7f",
            b"\x08\x05",
            b"\x42\x01\x09",
            b"\x0a\x01a",
        ],
        r#"{"id":"a"}"#,
    );
    // An extension of somebody else, in BidRequest.ext.
    check(&[b"\x9a\x06\x04\xa2\x1f\x01x"], r#"{"ext":{}}"#);
    // Ours, which may hold anything; JSON leaves out what is none.
    check(&[b"\x9a\x06\x06\xa2\xf2\x09\x02{}"], r#"{"ext":{}}"#);
    check(&[b"\x9a\x06\x06\xa2\xf2\x09\x02{]"], r#"{"ext":{}}"#);
    check(&[b"\x9a\x06\x08\xa2\xf2\x09\x04[1 ]"], r#"{"ext":[1]}"#);
}

#[test]
fn protobuf_that_is_not_well_formed() {
    for (bytes, path) in [
        (&b"\x0a\x05a"[..], "id"),
        (b"\x0a", "id"),
        (b"\x0a\xff\xff\xff\xff\x0f", "id"),
        (b"\x40\xff", "tmax"),
        (b"\x2a\x04\xc8\x01\xff\xff", "device.w"),
        (b"\x12\x00\x12\x02\x1a\x09", "imp[1].video"),
        (b"\x00\x01", ""),
        (b"\x07", ""),
        (b"\xfb\x7f\x08", ""),
    ] {
        check_error(Format::Protobuf, bytes, TRUNCATED, path);
    }
}

#[test]
fn short_protobuf_that_makes_a_large_message() {
    // Device of sua of browsers, each two bytes.
    let imps = b"\x12\x00".repeat(300);
    check_error(
        Format::Protobuf,
        &imps,
        Cause::OverLimit(Limit::Imps),
        "imp",
    );
    let mut data = b"\x42\x00".repeat(100_000);
    let mut len = vec![0x32];
    let mut rest = data.len();
    while rest >= 0x80 {
        len.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    len.push(rest as u8);
    len.append(&mut data);
    let error = decode::<BidRequest>(Format::Protobuf, &len, &Limits::default()).unwrap_err();
    assert_eq!(error.cause(), Cause::OverLimit(Limit::Work));
}

/// A FlatBuffer whose root has a vector in `slot` with `len` times the same empty table.
fn all_the_same(slot: usize, len: u32) -> Vec<u8> {
    let vtable_len = 4 + 2 * (slot + 1);
    let mut vtable = vec![0; vtable_len.next_multiple_of(4)];
    vtable[0] = vtable_len as u8;
    vtable[2] = 8;
    vtable[4 + 2 * slot] = 4;
    let table_at = 4 + vtable.len() as u32;
    let mut bytes = table_at.to_le_bytes().to_vec();
    bytes.extend(&vtable);
    bytes.extend((vtable.len() as i32).to_le_bytes());
    bytes.extend(4u32.to_le_bytes());
    bytes.extend(len.to_le_bytes());
    for index in 0..len {
        // The empty table lies behind the vector, its vtable behind it.
        bytes.extend((4 * (len - index)).to_le_bytes());
    }
    bytes.extend((-4i32).to_le_bytes());
    bytes.extend([4, 0, 4, 0]);
    bytes
}

#[test]
fn tables_that_are_pointed_at_again_and_again() {
    let read: BidRequest =
        decode(Format::FlatBuffers, &all_the_same(2, 3), &Limits::default()).unwrap();
    assert_eq!(read.imp, vec![Imp::default(); 3]);
    check_error(
        Format::FlatBuffers,
        &all_the_same(2, 300),
        Cause::OverLimit(Limit::Imps),
        "imp",
    );
    // As if the imps were strings: cur is 11.
    let read: BidRequest = decode(
        Format::FlatBuffers,
        &all_the_same(11, 3),
        &Limits::default(),
    )
    .unwrap_or_default();
    assert!(read.cur.len() <= 3);
}

#[test]
fn flatbuffers_that_are_not_well_formed() {
    for bytes in [
        &b""[..],
        b"\x04\0\0",
        b"\xff\xff\xff\xff",
        b"\x04\0\0\0\xf0\0\0\0",
    ] {
        check_error(Format::FlatBuffers, bytes, TRUNCATED, "");
    }
    let mut bytes = all_the_same(2, 3);
    bytes.truncate(bytes.len() - 4);
    check_error(Format::FlatBuffers, &bytes, TRUNCATED, "imp[0]");
}

/// Every way that a string can be shorter than it says, and every offset that leads astray.
#[test]
fn flatbuffers_with_any_word_changed() {
    let request: BidRequest = decode(
        Format::Json,
        br#"{"id":"r","imp":[{"id":"1","video":{"w":1},"ext":{"gpid":"g","x":1}}],"cur":["USD"]}"#,
        &Limits::default(),
    )
    .unwrap();
    let mut bytes = Vec::new();
    encode(Format::FlatBuffers, &request, &mut bytes);
    for at in (0..bytes.len()).step_by(4) {
        for word in [
            0,
            1,
            4,
            0x7FFF_FFFF,
            0x8000_0000,
            0xFFFF_FFFC,
            0xFFFF_FFFF_u32,
        ] {
            let mut bytes = bytes.clone();
            if let Some(place) = bytes.get_mut(at..at + 4) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            let _ = decode::<BidRequest>(Format::FlatBuffers, &bytes, &Limits::default());
        }
    }
}
