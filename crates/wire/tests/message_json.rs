//! What decoding makes of JSON as exchanges spell it, and of extensions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use openrtb::Limit;
use wire::message::{BidRequest, BidResponse, Cause, Imp, ImpExt, Message};
use wire::{Format, Limits, decode, encode};

fn text<M: Message>(message: &M) -> String {
    let mut bytes = Vec::new();
    encode(Format::Json, message, &mut bytes);
    String::from_utf8(bytes).unwrap()
}

/// What a request reads as, written down again.
fn check(request: &str, expect: &str) {
    check_bytes(request.as_bytes(), expect);
}

fn check_bytes(request: &[u8], expect: &str) {
    let read: BidRequest = decode(Format::Json, request, &Limits::default())
        .unwrap_or_else(|error| panic!("{}: {error}", String::from_utf8_lossy(request)));
    assert_eq!(text(&read), expect, "{}", String::from_utf8_lossy(request));
}

/// What an impression's `ext` becomes: the typed part, then the rest; and that it is written back the
/// same, here and through the other formats.
fn check_ext(ext: &str, typed: &str, rest: Option<&str>) {
    let imp = format!(r#"{{"ext":{ext}}}"#);
    let imp: Imp = decode(Format::Json, imp.as_bytes(), &Limits::default()).unwrap();
    let mut found = *imp.ext.clone().unwrap();
    assert_eq!(found.json.as_deref(), rest, "{ext}");
    found.json = None;
    assert_eq!(text(&found), typed, "{ext}");
    for format in Format::ALL {
        let mut bytes = Vec::new();
        encode(format, &imp, &mut bytes);
        let back: Imp = decode(format, &bytes, &Limits::default()).unwrap();
        assert_eq!(back, imp, "{ext}, {format}");
        let back: serde_json::Value = serde_json::from_str(&text(&back)).unwrap();
        let ext: serde_json::Value = serde_json::from_str(ext).unwrap();
        assert_eq!(back.get("ext"), Some(&ext), "{format}");
    }
}

fn check_error(request: &[u8], what: Cause, offset: usize, path: &str) {
    let error = decode::<BidRequest>(Format::Json, request, &Limits::default()).unwrap_err();
    let request = String::from_utf8_lossy(request);
    assert_eq!(
        (error.cause(), error.offset()),
        (what, offset),
        "{request}: {error}"
    );
    assert_eq!(error.path(), path, "{request}");
}

#[test]
fn values_of_the_right_type() {
    let request = concat!(
        r#"{"id":"r\u0001\"","imp":[{"id":"1","bidfloor":1.1,"secure":0},{}],"site":{},"at":-7,"#,
        r#""cur":["USD","EUR"],"test":1}"#
    );
    check(request, request);
}

#[test]
fn what_a_value_plainly_means_counts() {
    for (given, expect) in [
        (r#"{"id":1.50}"#, r#"{"id":"1.50"}"#),
        (r#"{"id":-1E5}"#, r#"{"id":"-1E5"}"#),
        (r#"{"tmax":"3"}"#, r#"{"tmax":3}"#),
        (r#"{"tmax":"\u0033.9"}"#, r#"{"tmax":3}"#),
        (r#"{"tmax":3.0}"#, r#"{"tmax":3}"#),
        (r#"{"tmax":-0.5}"#, r#"{"tmax":-1}"#),
        (r#"{"tmax":2147483647.9}"#, r#"{"tmax":2147483647}"#),
        (r#"{"test":true}"#, r#"{"test":1}"#),
        (r#"{"test":"0"}"#, r#"{"test":0}"#),
        (r#"{"test":1.9}"#, r#"{"test":1}"#),
        (r#"{"cur":["USD",3,1.0]}"#, r#"{"cur":["USD","3","1.0"]}"#),
        (
            r#"{"device":{"pxratio":"1.5"}}"#,
            r#"{"device":{"pxratio":1.5}}"#,
        ),
        (
            r#"{"imp":[{"bidfloor":"0.10"}]}"#,
            r#"{"imp":[{"bidfloor":0.1}]}"#,
        ),
    ] {
        check(given, expect);
    }
}

#[test]
fn what_is_unknown_is_absent() {
    for value in [
        r#""id":null"#,
        r#""id":"""#,
        r#""id":true"#,
        r#""id":["a"]"#,
        r#""id":{"a":1}"#,
        r#""id":"\ud800""#,
        r#""tmax":null"#,
        r#""tmax":true"#,
        r#""tmax":"a""#,
        r#""tmax":"""#,
        r#""tmax":" 3""#,
        r#""tmax":"03""#,
        r#""tmax":2147483648"#,
        r#""tmax":1e10"#,
        r#""tmax":"NaN""#,
        r#""test":2"#,
        r#""test":-1"#,
        r#""test":"true""#,
        r#""cur":"USD""#,
        r#""cur":{}"#,
        r#""cur":[null,"",true,[],{}]"#,
        r#""imp":{"id":"1"}"#,
        r#""imp":[null,1,"a",[{}]]"#,
        r#""device":[]"#,
        r#""device":null"#,
        r#""other":[{}]"#,
        r#""ID":"a""#,
        r#""json":"a""#,
    ] {
        check(&format!("{{{value}}}"), "{}");
    }
    check_bytes(b"{\"id\":\"\xff\",\"\xfe\":1,\"tmax\":1}", r#"{"tmax":1}"#);
    check(r#"{"device":{"pxratio":1e999}}"#, r#"{"device":{}}"#);
}

#[test]
fn a_floor_stays_out_of_reach() {
    for (given, expect) in [
        ("1e999999", "1e999"),
        ("-1e400", "-1e999"),
        ("\"1e400\"", "1e999"),
    ] {
        let request = format!(
            r#"{{"imp":[{{"bidfloor":{given},"pmp":{{"deals":[{{"bidfloor":{given}}}]}}}}]}}"#
        );
        check(&request, &request.replace(given, expect));
    }
}

#[test]
fn the_first_of_a_repeated_key_counts() {
    check(r#"{"id":"a","id":"b"}"#, r#"{"id":"a"}"#);
    check(r#"{"id":null,"id":"b"}"#, "{}");
    check(r#"{"id":"a","\u0069d":"b"}"#, r#"{"id":"a"}"#);
    check(r#"{"imp":[{}],"imp":[{},{}]}"#, r#"{"imp":[{}]}"#);
}

#[test]
fn a_native_request_may_be_an_object() {
    let faithful =
        r#"{"imp":[{"native":{"request":{"ver":"1.2","assets":[{"id":1,"required":1}]}}}]}"#;
    check(faithful, faithful);
    let request: BidRequest =
        decode(Format::Json, faithful.as_bytes(), &Limits::default()).unwrap();
    let [imp] = request.imp.as_slice() else {
        panic!("one impression")
    };
    assert!(imp.native.as_ref().unwrap().request_native.is_some());
    // What the schema would not give back as it is stays as its own text.
    check(
        r#"{"imp":[{"native":{"request":{"native":{"ver":"1.2"}},"ver":"1"}}]}"#,
        r#"{"imp":[{"native":{"request":"{\"native\":{\"ver\":\"1.2\"}}","ver":"1"}}]}"#,
    );
    check(
        r#"{"imp":[{"native":{"request":"{}"}}]}"#,
        r#"{"imp":[{"native":{"request":"{}"}}]}"#,
    );
}

#[test]
fn doubles_are_written_as_their_shortest_decimal() {
    for (given, expect) in [
        ("0.1", "0.1"),
        ("1.10", "1.1"),
        ("100", "100"),
        ("-2.5", "-2.5"),
        ("-0.0", "-0"),
        ("1e15", "1e15"),
        ("123456789012345", "123456789012345"),
        ("1e-6", "0.000001"),
        ("1e-9", "1e-9"),
        ("2.2800000000000002", "2.2800000000000002"),
        ("1e300", "1e300"),
        ("0.30000000000000004", "0.30000000000000004"),
        ("99999999.999999", "99999999.999999"),
        ("1.0000005", "1.0000005"),
        ("123456789.5", "123456789.5"),
        ("5e-324", "5e-324"),
        ("1e20", "100000000000000000000"),
    ] {
        let expect = expect.replace("1e15", "1000000000000000");
        check(
            &format!(r#"{{"device":{{"pxratio":{given}}}}}"#),
            &format!(r#"{{"device":{{"pxratio":{expect}}}}}"#),
        );
    }
}

#[test]
fn extensions_go_where_they_come_back_the_same() {
    check_ext("{}", "{}", None);
    check_ext(
        r#"{"gpid":"g","tid":"t"}"#,
        r#"{"gpid":"g","tid":"t"}"#,
        None,
    );
    check_ext(r#"{"gpid":"\u0067"}"#, r#"{"gpid":"g"}"#, None);
    check_ext(
        r#"{"bidder":{"a":1.0},"gpid":"g","x":[1]}"#,
        r#"{"gpid":"g"}"#,
        Some(r#"{"bidder":{"a":1.0},"x":[1]}"#),
    );
    check_ext(r#"{"intrinsic":1}"#, r#"{"intrinsic":1}"#, None);
    // Not what the field would give back.
    for ext in [
        r#"{"gpid":1}"#,
        r#"{"gpid":""}"#,
        r#"{"gpid":null}"#,
        r#"{"intrinsic":true}"#,
        r#"{"intrinsic":"1"}"#,
        r#"{"igs":{"ae":1.0}}"#,
        r#"{"igs":{"ae":1,"other":2}}"#,
        r#"{"igs":[{"ae":1}]}"#,
        r#"{"skadn":{"versions":[]}}"#,
        r#"{"skadn":{"versions":["1",null]}}"#,
        r#"{"json":"x"}"#,
        // No object.
        r#"[1]"#,
        r#""text""#,
        "1.50",
        "null",
        "true",
        r#""""#,
    ] {
        check_ext(ext, "{}", Some(ext));
    }
    check_ext(
        r#"{"skadn":{"versions":["2.0","3.0"],"ext":{"a":1,"b":2.50}},"gpid":7}"#,
        r#"{"skadn":{"versions":["2.0","3.0"],"ext":{"a":1,"b":2.50}}}"#,
        Some(r#"{"gpid":7}"#),
    );
}

#[test]
fn white_space_in_an_ext_is_not_kept_in_json() {
    let imp = r#"{"ext":{ "a" :\t[ 1, "b c" ] }}"#.replace("\\t", "\n");
    let imp: Imp = decode(Format::Json, imp.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(text(&imp), r#"{"ext":{"a":[1,"b c"]}}"#);
}

#[test]
fn an_ext_that_repeats_a_key_stays_whole() {
    for ext in [
        r#"{"gpid":"a","gpid":"b"}"#,
        r#"{"gpid":"a","x":1,"\u0078":2}"#,
    ] {
        let imp: Imp = decode(
            Format::Json,
            format!(r#"{{"ext":{ext}}}"#).as_bytes(),
            &Limits::default(),
        )
        .unwrap();
        assert_eq!(imp.ext.unwrap().json.as_deref(), Some(ext));
    }
}

#[test]
fn typed_fields_win_over_the_rest() {
    let ext = |json: &str| Imp {
        ext: Some(Box::new(ImpExt {
            gpid: Some("typed".to_owned()),
            json: Some(json.to_owned()),
            ..ImpExt::default()
        })),
        ..Imp::default()
    };
    for (json, expect) in [
        (
            r#"{"gpid":"rest","a":1}"#,
            r#"{"ext":{"gpid":"typed","a":1}}"#,
        ),
        (
            r#"{"a":"\n","\u0067pid":"rest"}"#,
            r#"{"ext":{"gpid":"typed","a":"\n"}}"#,
        ),
        ("{\"a\": [1,\n2]}", r#"{"ext":{"gpid":"typed","a":[1,2]}}"#),
        ("{}", r#"{"ext":{"gpid":"typed"}}"#),
        (r#"["no object"]"#, r#"{"ext":{"gpid":"typed"}}"#),
        ("{\"no\":\"JSON\"", r#"{"ext":{"gpid":"typed"}}"#),
    ] {
        assert_eq!(text(&ext(json)), expect);
        if json != "{\"no\":\"JSON\"" {
            let mut bytes = Vec::new();
            encode(Format::FlatBuffers, &ext(json), &mut bytes);
            let back: Imp = decode(Format::FlatBuffers, &bytes, &Limits::default()).unwrap();
            assert_eq!(text(&back), expect);
        }
    }
}

#[test]
fn maps_and_values() {
    let response =
        r#"{"ext":{"igi":[{"igb":[{"maxbid":1.5,"pbs":{"a":[1,null]},"ps":{"x":1,"y":2.5}}]}]}}"#;
    let read: BidResponse = decode(Format::Json, response.as_bytes(), &Limits::default()).unwrap();
    let ext = read.ext.as_ref().unwrap();
    assert_eq!((ext.igi.len(), ext.json.as_deref()), (1, None));
    for format in Format::ALL {
        let mut bytes = Vec::new();
        encode(format, &read, &mut bytes);
        let back: BidResponse = decode(format, &bytes, &Limits::default()).unwrap();
        assert_eq!(text(&back), response, "{format}");
    }
    // Numbers that protobuf's Value would not give back, keys that repeat.
    for igb in [
        r#""pbs":1.0"#,
        r#""pbs":[1e999]"#,
        r#""pbs":{"a":1,"a":2}"#,
        r#""ps":{"a":1,"a":2}"#,
    ] {
        let response = format!(r#"{{"ext":{{"igi":[{{"igb":[{{{igb}}}]}}]}}}}"#);
        let read: BidResponse =
            decode(Format::Json, response.as_bytes(), &Limits::default()).unwrap();
        assert!(read.ext.as_ref().unwrap().igi.is_empty(), "{igb}");
        assert_eq!(text(&read), response);
    }
}

#[test]
fn what_is_not_well_formed_is_an_error_wherever_it_stands() {
    let malformed = Cause::Malformed;
    for (request, what, offset, path) in [
        ("", "ends where a value is due", 0, ""),
        ("[]", "no JSON object", 0, ""),
        ("{} x", "bytes after the value", 3, ""),
        ("{\"id\":\"a\"", "ends inside an object or array", 9, ""),
        ("{\"id\":\"a", "a string that does not end", 8, ""),
        ("{\"id\":\"a\n\"}", "a control character in a string", 8, ""),
        (
            "{\"id\":\"\\x\"}",
            "an escape that JSON does not have",
            7,
            "",
        ),
        (
            "{\"id\":\"\\u12g4\"}",
            "an escape that JSON does not have",
            7,
            "",
        ),
        ("{\"id\":NaN}", "no JSON value", 6, ""),
        ("{\"id\":01}", "no JSON number", 6, ""),
        ("{\"id\":1,}", "a comma without a value behind it", 8, ""),
        (
            "{\"other\":[1,]}",
            "a comma without a value behind it",
            12,
            "",
        ),
        ("{\"id\" 1}", "no colon where one is due", 6, ""),
        ("{id:1}", "no key where one is due", 1, ""),
        (
            "{\"imp\":[{},{\"video\":{\"w\":1 2}}]}",
            "neither a comma nor an end where one is due",
            27,
            "imp[1].video",
        ),
        (
            "{\"imp\":[{\"ext\":{\"a\":tru}}]}",
            "no JSON value",
            20,
            "imp[0].ext",
        ),
        ("\u{feff}{}", "no JSON value", 0, ""),
    ] {
        check_error(request.as_bytes(), malformed(what), offset, path);
    }
}

#[test]
fn limits() {
    let over = Cause::OverLimit;
    let deep = |levels: usize| format!("{{\"x\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    check(&deep(63), "{}");
    check_error(deep(64).as_bytes(), over(Limit::Depth), 68, "");
    check_error(deep(100_000).as_bytes(), over(Limit::Depth), 68, "");
    let imps = |count: usize| format!("{{\"imp\":[{}]}}", vec!["{}"; count].join(","));
    check_error(imps(257).as_bytes(), over(Limit::Imps), 777, "imp[256]");
    check_error(
        " ".repeat(262_145).as_bytes(),
        over(Limit::MessageBytes),
        0,
        "",
    );
    // A short text that makes a large message.
    let data = format!(
        "{{\"user\":{{\"data\":[{}]}}}}",
        vec!["{}"; 80_000].join(",")
    );
    let error =
        decode::<BidRequest>(Format::Json, data.as_bytes(), &Limits::default()).unwrap_err();
    assert_eq!(error.cause(), over(Limit::Work));
}
