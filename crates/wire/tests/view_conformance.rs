//! One suite for the views of all formats: the same request gives the same answers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod common;

use common::answers::answers;
use common::encode::protobuf::{double, len, number, varint};
use common::{FULL, FULL_ANSWERS, encodings};
use openrtb::{Read, Refusal, RequestView};
use wire::{Format, Limits, Reader, Visit};

/// Answers, one a line or between bars, without the indentation.
fn compact(answers: &str) -> String {
    let lines = answers.split(['|', '\n']).map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" | ")
}

#[track_caller]
fn check_bytes(format: Format, bytes: &[u8], expect: &str) {
    let got = answers(&mut Reader::default(), format, bytes);
    let got = got.unwrap_or_else(|refusal| format!("{refusal:?}"));
    let shown = String::from_utf8_lossy(bytes);
    assert_eq!(compact(&got), compact(expect), "{format}: {shown}");
}

/// A well-typed request, in every format.
#[track_caller]
fn check(request: &str, expect: &str) {
    for (format, bytes) in encodings(request) {
        check_bytes(format, &bytes, expect);
    }
}

/// A request as only JSON can spell it.
#[track_caller]
fn check_json(request: &str, expect: &str) {
    check_bytes(Format::Json, request.as_bytes(), expect);
}

/// The parts of a protobuf message, put together.
#[track_caller]
fn check_protobuf(parts: &[Vec<u8>], expect: &str) {
    check_bytes(Format::Protobuf, &parts.concat(), expect);
}

#[test]
fn every_answer() {
    for (format, bytes) in encodings(FULL) {
        let got = answers(&mut Reader::default(), format, &bytes).unwrap();
        assert_eq!(got.trim(), FULL_ANSWERS.trim(), "{format}");
    }
}

#[test]
fn nothing_is_known_of_nothing() {
    check("{}", "");
    check(r#"{"imp": []}"#, "");
    check(r#"{"imp": [{}]}"#, "imp");
    check(r#"{"device": {}}"#, "");
    check(r#"{"device": {"geo": {}}}"#, "");
    check(r#"{"imp": [{"pmp": {}, "qty": {}}]}"#, "imp");
    check(
        r#"{"imp": [{"banner": {}, "video": {}, "native": {}}]}"#,
        "imp | banner | video | native",
    );
}

#[test]
fn empty_strings_are_unknown() {
    check(r#"{"id": "", "cur": ["", "USD", ""]}"#, "cur USD");
    check(r#"{"device": {"geo": {"country": ""}}}"#, "");
    check(
        r#"{"imp": [{"id": "", "bidfloorcur": "", "pmp": {"deals": [{"id": "", "wseat": [""]}]}}]}"#,
        "imp | deal",
    );
}

#[test]
fn a_value_of_zero_is_known() {
    check(
        r#"{"tmax": 0, "cattax": 0, "test": false, "imp": [{"bidfloor": 0.0, "secure": false,
            "video": {"minduration": 0}, "pmp": {"deals": [{"bidfloor": 0.0, "at": 0}]}}]}"#,
        "tmax 0 | cattax 0 | imp | bidfloor 0.0 | video | video.minduration 0
            | deal | bidfloor 0.0 | at 0",
    );
}

#[test]
fn out_of_range_is_unknown() {
    for devicetype in ["-1", "0", "9", "2147483647", "-2147483648"] {
        check(
            &format!(r#"{{"device": {{"devicetype": {devicetype}}}}}"#),
            "",
        );
    }
    check(r#"{"device": {"devicetype": 8}}"#, "device_type 8");
    for size in [
        r#""w": 0, "h": 1"#,
        r#""w": 1, "h": -1"#,
        r#""w": 1"#,
        r#""h": 1"#,
    ] {
        check(
            &format!(r#"{{"imp": [{{"video": {{{size}}}, "banner": {{{size}}}}}]}}"#),
            "imp | banner | video",
        );
    }
    check(
        r#"{"imp": [{"video": {"w": 2147483647, "h": 1, "minduration": -1, "maxduration": 2147483647,
            "rqddurs": [-5, 0, 5]}}]}"#,
        "imp | video | video.rqddurs 0 | video.rqddurs 5 | video.maxduration 2147483647
            | video.size 2147483647x1",
    );
    check(
        r#"{"tmax": -5, "cattax": -1, "imp": [{"bidfloor": -3.0, "banner": {"battr": [-1]}}]}"#,
        "tmax -5 | cattax -1 | imp | bidfloor -3.0 | banner | banner.battr -1",
    );
}

#[test]
fn banner_sizes_come_from_the_list_if_it_holds_an_object() {
    check(
        r#"{"imp": [{"banner": {"w": 300, "h": 250}}]}"#,
        "imp | banner | banner.size 300x250",
    );
    check(
        r#"{"imp": [{"banner": {"w": 300, "h": 250, "format": []}}]}"#,
        "imp | banner | banner.size 300x250",
    );
    check(
        r#"{"imp": [{"banner": {"w": 300, "h": 250, "format": [{"w": 0, "h": 250}]}}]}"#,
        "imp | banner",
    );
    check_json(
        r#"{"imp": [{"banner": {"w": 300, "h": 250, "format": [7, null, [{}], "x"]}}]}"#,
        "imp | banner | banner.size 300x250",
    );
    check_json(
        r#"{"imp": [{"banner": {"w": 300, "h": 250, "format": {"w": 1, "h": 1}}}]}"#,
        "imp | banner | banner.size 300x250",
    );
}

#[test]
fn fields_that_a_medium_does_not_have_are_not_read() {
    check_json(
        r#"{"imp": [{
            "banner": {"protocols": [1], "rqddurs": [1], "minduration": 1, "mincpmpersec": 1, "durfloors": [{}]},
            "native": {"mimes": ["a/b"], "protocols": [1], "maxduration": 1, "mincpmpersec": 1},
            "video": {"format": [{"w": 1, "h": 1}]}}]}"#,
        "imp | banner | video | native",
    );
}

#[test]
fn countries_are_codes_of_two_or_three_letters() {
    for (country, expect) in [
        ("USA", "country USA"),
        ("us", "country USA"),
        (" Fra ", "country FRA"),
        ("ZZ9", ""),
        ("ZZZ", ""),
        ("U", ""),
    ] {
        check(
            &format!(r#"{{"device": {{"geo": {{"country": "{country}"}}}}}}"#),
            expect,
        );
    }
}

/// Values of fields that are integers, doubles, flags and strings, as JSON may spell them.
#[test]
fn a_value_counts_as_what_it_plainly_means() {
    for (value, int, double, flag, text) in [
        // value, tmax, bidfloor, test, id
        ("3", "3", "3.0", "", "3"),
        ("3.0", "3", "3.0", "", "3.0"),
        ("3e0", "3", "3.0", "", "3e0"),
        ("3.9", "3", "3.9", "", "3.9"),
        ("-0.5", "-1", "-0.5", "", "-0.5"),
        ("1", "1", "1.0", "true", "1"),
        ("1.5", "1", "1.5", "true", "1.5"),
        ("0", "0", "0.0", "", "0"),
        ("2147483648", "", "2147483648.0", "", "2147483648"),
        ("4294967299", "", "4294967299.0", "", "4294967299"),
        ("1e999999", "", "inf", "", "1e999999"),
        (
            "1.10000000000000001",
            "1",
            "1.1",
            "true",
            "1.10000000000000001",
        ),
        (
            "2.2800000000000002",
            "2",
            "2.2800000000000002",
            "",
            "2.2800000000000002",
        ),
        (r#""3""#, "3", "3.0", "", "3"),
        (r#""3.9""#, "3", "3.9", "", "3.9"),
        (r#""1""#, "1", "1.0", "true", "1"),
        (r#""\u0031""#, "1", "1.0", "true", "1"),
        (r#""1e999999""#, "", "inf", "", "1e999999"),
        (r#"" 3""#, "", "", "", " 3"),
        (r#""+3""#, "", "", "", "+3"),
        (r#""03""#, "", "", "", "03"),
        (r#""NaN""#, "", "", "", "NaN"),
        (r#""inf""#, "", "", "", "inf"),
        (r#""three""#, "", "", "", "three"),
        (r#""true""#, "", "", "", "true"),
        (r#""""#, "", "", "", ""),
        ("true", "", "", "true", ""),
        ("false", "", "", "", ""),
        ("null", "", "", "", ""),
        ("{}", "", "", "", ""),
        ("[]", "", "", "", ""),
        ("[3]", "", "", "", ""),
        (r#"{"x": 3}"#, "", "", "", ""),
    ] {
        let line = |name: &str, value: &str| match value {
            "" => String::new(),
            value => format!("{name} {value} | "),
        };
        let expect = format!(
            "{}{}{}imp | {}{}",
            line("id", text),
            line("test", flag),
            line("tmax", int),
            line("bidfloor", double),
            line("secure", flag)
        );
        check_json(
            &format!(
                r#"{{"id": {value}, "tmax": {value}, "test": {value},
                    "imp": [{{"bidfloor": {value}, "secure": {value}}}]}}"#
            ),
            expect.trim_end_matches(" | "),
        );
    }
}

#[test]
fn entries_of_lists_count_as_what_they_plainly_mean() {
    check_json(
        r#"{"bcat": [1, "IAB2", null, "", true, {}, [], 1.50, ["IAB9"], "\u0049AB3"],
            "imp": [{"video": {"api": [1, "2", 3.9, true, null, "x", {}, [4], 4294967299, 5]}}]}"#,
        "bcat 1 | bcat IAB2 | bcat 1.50 | bcat IAB3 | imp | video | video.api 1 | video.api 2
            | video.api 3 | video.api 5",
    );
    for list in ["null", "3", r#""IAB1""#, "{}", "true"] {
        check_json(
            &format!(r#"{{"bcat": {list}, "imp": [{{"video": {{"api": {list}}}}}]}}"#),
            "imp | video",
        );
    }
}

#[test]
fn what_should_be_an_object_and_is_none_is_absent() {
    for value in ["null", "[]", "3", r#""x""#, "[{}]", "false"] {
        check_json(
            &format!(
                r#"{{"device": {value}, "imp": [{value}, {{"banner": {value}, "video": {value},
                    "audio": {value}, "native": {value}, "pmp": {value}, "qty": {value}}}]}}"#
            ),
            "imp",
        );
        check_json(
            &format!(r#"{{"device": {{"geo": {value}, "devicetype": 2}}}}"#),
            "device_type 2",
        );
        check_json(
            &format!(r#"{{"imp": [{{"pmp": {{"deals": [{value}, {{}}]}}}}]}}"#),
            "imp | deal",
        );
        check_json(
            &format!(r#"{{"imp": [{{"video": {{"durfloors": [{value}]}}}}]}}"#),
            "imp | video",
        );
    }
    check_json(r#"{"imp": {"id": "1"}}"#, "");
}

#[test]
fn prices_by_the_second() {
    for (field, priced) in [
        (r#""mincpmpersec": 0"#, true),
        (r#""mincpmpersec": "0.5""#, true),
        (r#""mincpmpersec": 1e999"#, false),
        (r#""mincpmpersec": null"#, false),
        (r#""mincpmpersec": true"#, false),
        (r#""durfloors": []"#, false),
        (r#""durfloors": [null]"#, false),
        (r#""durfloors": [null, {}]"#, true),
        (r#""durfloors": {}"#, false),
    ] {
        let expect = if priced {
            " | audio.priced_by_second true"
        } else {
            ""
        };
        check_json(
            &format!(r#"{{"imp": [{{"audio": {{{field}}}}}]}}"#),
            &format!("imp | audio{expect}"),
        );
    }
}

#[test]
fn a_multiplier_is_finite() {
    for (value, expect) in [
        ("1", "imp | multiplier 1.0"),
        (r#""2.5""#, "imp | multiplier 2.5"),
        ("1e999", "imp"),
        ("-1e999", "imp"),
        (r#""1e999""#, "imp"),
        ("true", "imp"),
    ] {
        check_json(
            &format!(r#"{{"imp": [{{"qty": {{"multiplier": {value}}}}}]}}"#),
            expect,
        );
    }
    for value in [f64::NAN, f64::INFINITY] {
        check_protobuf(&[len(2, len(20, double(1, value)))], "imp");
    }
}

#[test]
fn json_the_first_of_repeated_keys_counts() {
    check_json(
        r#"{"id": "a", "id": "b", "device": {"devicetype": 1, "devicetype": 2,
            "geo": {"country": "USA", "country": "FRA"}, "geo": {"country": "DEU"}},
            "device": {"devicetype": 4}, "imp": [{"id": "1", "id": "2"}], "imp": []}"#,
        "id a | device_type 1 | country USA | imp | id 1",
    );
    check_json(r#"{"id": null, "id": "b", "imp": null, "imp": [{}]}"#, "");
    check_json(r#"{"\u0069d": "a", "id": "b"}"#, "id a");
    check_json(
        r#"{"imp": [{"video": null, "video": {}, "banner": {"w": 1, "w": 2, "h": 3}}]}"#,
        "imp | banner | banner.size 1x3",
    );
}

#[test]
fn json_keys_are_whole_names_wherever_they_stand() {
    check_json(
        r#"{"ext": {"id": "x", "imp": [{}]}, "ID": "x", "id ": "x", "i": "x", "idd": "x", "": "x",
            "device": {"deviceType": 1, "ext": {"devicetype": 1}},
            "s": "\"id\":\"x\",{[", "t": "\\", "u": "\\\"id\":\"", "id": "r"}"#,
        "id r",
    );
}

#[test]
fn json_escapes_in_keys_and_strings() {
    check_json(
        r#"{"\u0069\u0064": "r\/1\u00e9\ud83d\ude00", "de\u0076ice": {"geo": {"country": "\u0055SA"}},
            "cur": ["\u0055\u0053\u0044"], "imp": [{"pmp": {"dea\u006Cs": [{"i\u0064": "\"d\""}]}}]}"#,
        "id r/1é😀 | country USA | cur USD | imp | deal | id \"d\"",
    );
    // A lone surrogate is no Unicode: of the wrong type.
    check_json(r#"{"id": "\ud800", "cur": ["\udc00", "USD"]}"#, "cur USD");
}

#[test]
fn the_first_of_site_app_and_dooh_counts() {
    check(r#"{"app": {"bundle": "b"}}"#, "app | app.bundle b");
    check(r#"{"dooh": {}}"#, "dooh");
    check(r#"{"dooh": {}, "app": {}}"#, "app");
    check(r#"{"dooh": {}, "app": {}, "site": {}}"#, "site");
    for value in ["null", "[]", "3", r#""x""#, "[{}]", "false"] {
        check_json(
            &format!(r#"{{"app": {{}}, "site": {value}, "dooh": {value}}}"#),
            "app",
        );
        check_json(
            &format!(r#"{{"site": {{"publisher": {value}, "content": {value}, "cat": {value}}}}}"#),
            "site",
        );
    }
    // A site has no bundle, and a screen no categories of its own.
    check_json(
        r#"{"site": {"bundle": "b"}, "dooh": {"bundle": "b", "cat": ["c"], "cattax": 3}}"#,
        "site",
    );
}

#[test]
fn what_few_ask_for_is_unknown_where_it_is_odd() {
    check(
        r#"{"device": {"os": "", "osv": "", "connectiontype": 0, "geo": {"region": "", "city": ""}},
            "site": {"domain": "", "cat": ["", "c"], "publisher": {"id": ""}, "content": {}},
            "app": {"bundle": "", "content": {"language": "", "cat": []}},
            "imp": [{"instl": false, "rwdd": false, "banner": {"pos": 0}, "video": {"pos": -1, "plcmt": -5}}]}"#,
        "connectiontype 0 | site | site.cat c | imp | banner | banner.pos 0 | video",
    );
    check(
        r#"{"device": {"connectiontype": -1, "geo": {"utcoffset": -2147483648}},
            "imp": [{}, {"rwdd": true}, {"instl": true, "video": {"plcmt": 2147483647}}]}"#,
        "connectiontype -1 | utcoffset -2147483648 | imp | imp | rwdd true
            | imp | instl true | video | video.plcmt 2147483647",
    );
    check_json(
        r#"{"device": {"os": 3, "osv": 14.20, "connectiontype": "2", "geo":
                {"region": 7, "metro": true, "city": {}, "utcoffset": -90.5}},
            "app": {"bundle": 1234567890, "domain": [], "cattax": "2", "cat": [1.50, null, {}, "x"],
                "publisher": {"id": 0}, "content": {"cattax": 4294967299, "cat": "IAB1"}},
            "imp": [{"instl": "1", "rwdd": 1.5, "banner": {"pos": "3", "plcmt": 1},
                "audio": {"pos": 1}, "native": {"pos": 1}, "video": {"pos": true, "plcmt": 2.9}}]}"#,
        "os 3 | osv 14.20 | region 7 | connectiontype 2 | utcoffset -91 | app | app.bundle 1234567890
            | app.publisher 0 | app.cattax 2 | app.cat 1.50 | app.cat x | imp | instl true | rwdd true
            | banner | banner.pos 3 | video | video.plcmt 2 | audio | native",
    );
}

#[test]
fn json_what_few_ask_for_by_its_first_key_however_spelled() {
    check_json(
        r#"{"device": {"\u006fs": "a", "os": "b", "geo": {"c\u0069ty": "c", "city": "d"}, "geo": {"metro": "m"}},
            "device": {"osv": "1"}, "s\u0069te": {"dom\u0061in": "\u0061.example", "domain": "x",
                "publisher": {"\u0069d": null, "id": "p"}, "content": {"cat": ["a"], "cat": ["b"]}},
            "site": {"cat": ["c"]}, "app": null, "app": {}, "imp": [{"\u0069nstl": 0, "instl": 1}]}"#,
        "os a | city c | site | site.domain a.example | site.content.cat a | imp",
    );
}

#[test]
fn protobuf_what_few_ask_for_comes_in_parts() {
    let device = [
        len(5, len(4, [len(4, "CA"), number(10, 60)].concat())),
        len(5, [len(14, "a"), number(17, 1)].concat()),
        len(4, len(8, "b0")),
        len(5, [len(14, "b"), len(4, len(7, "city"))].concat()),
        len(5, len(4, number(10, 1 << 40))),
        len(5, [number(17, 2), len(15, b"\xff")].concat()),
    ];
    let app = [
        len(4, [len(4, "x"), len(11, len(1, "p"))].concat()),
        number(8, 5),
        len(
            4,
            [len(12, [len(7, "1"), number(27, 6)].concat()), len(4, "y")].concat(),
        ),
        len(4, [len(11, len(2, "name")), len(12, len(7, "2"))].concat()),
        len(4, [len(12, number(27, 7)), len(8, "b1")].concat()),
    ];
    let imps = [
        len(2, [number(6, 1), number(6, 0), len(18, "x")].concat()),
        len(
            2,
            [number(18, 0), len(3, number(17, 1)), number(18, 1 << 40)].concat(),
        ),
        len(
            2,
            [number(6, 1), len(3, number(17, 3)), len(3, number(17, 4))].concat(),
        ),
        len(2, len(2, [number(4, 1), number(4, 1 << 40)].concat())),
    ];
    check_protobuf(
        &[device.concat(), app.concat(), imps.concat()],
        "os b | region CA | city city | connectiontype 2 | app | app.bundle b1 | app.publisher p
            | app.cat x | app.cat y | app.content.cattax 7 | app.content.cat 1 | app.content.cat 2 | tmax 5
            | imp | imp | rwdd true | video | video.pos 1 | imp | instl true | video | video.pos 4
            | imp | banner",
    );
    let malformed = format!("{:?}", Refusal::Malformed);
    for bytes in [
        len(3, [0x1A, 0x05]),                          // a domain that leaves its site
        len(3, len(11, [0x0A, 0x05])),                 // an id that leaves its publisher
        len(4, len(12, len(7, [0xFF])).split_at(3).0), // half a content
        len(5, len(4, [0x50, 0x80])),                  // a utcoffset that does not end
    ] {
        check_bytes(Format::Protobuf, &bytes, &malformed);
    }
}

#[test]
fn bad_utf8_is_unknown() {
    let bad: &[u8] = b"{\"id\": \"\xff\", \"cur\": [\"\xc3\", \"USD\"], \"x\": \"\xff\"}";
    check_bytes(Format::Json, bad, "cur USD");
    check_protobuf(
        &[len(1, b"\xff"), len(11, b"\xc3"), len(11, "USD")],
        "cur USD",
    );
    let mut flat = common::encode::flatbuffers::message(
        common::encode::REQUEST,
        &serde_json::json!({"id": "bad", "cur": ["USD"]}),
    );
    let at = flat.windows(3).position(|w| w == b"bad").unwrap();
    flat[at] = 0xFF;
    check_bytes(Format::FlatBuffers, &flat, "cur USD");
}

#[test]
fn json_white_space_may_stand_between_tokens() {
    check_json(
        "\r\n\t { \"id\" : \"r\" ,\n\"cur\" : [ \"USD\" , 1 ] , \"device\" : { \"devicetype\" : 3 } ,
            \"tmax\" : 5 , \"imp\" : [ { \"video\" : { } } ] , \"x\" : [ ] } \n",
        "id r | device_type 3 | tmax 5 | cur USD | cur 1 | imp | video",
    );
}

#[test]
fn json_what_is_read_must_be_well_formed() {
    for text in [
        "",
        " ",
        "[1]",
        "3",
        "null",
        "\"x\"",
        "{",
        "}",
        "{}x",
        "{} {}",
        "x{}",
        "{}\0",
        "\u{feff}{}",
        r#"{"id": "r""#,
        r#"{"id": "r}"#,
        r#"{"id": "r"}}"#,
        r#"{"id": "r"}]"#,
        r#"{"id": "r"]"#,
        r#"{"id": "r",}"#,
        r#"{,"id": "r"}"#,
        r#"{"id" "r"}"#,
        r#"{"id": }"#,
        r#"{"id": ,"x": 1}"#,
        r#"{"id":: "r"}"#,
        r#"{id: "r"}"#,
        r#"{'id': 'r'}"#,
        r#"{"id": "r" "s"}"#,
        r#"{"id": "r"; "x": 1}"#,
        r#"{"id": r}"#,
        r#"{"id": nul}"#,
        r#"{"id": nulls}"#,
        r#"{"id": True}"#,
        r#"{"id": NaN}"#,
        r#"{"id": 01}"#,
        r#"{"id": +1}"#,
        r#"{"id": .5}"#,
        r#"{"id": 5.}"#,
        r#"{"id": -}"#,
        r#"{"id": 1e}"#,
        r#"{"id": 1 2}"#,
        r#"{"id": 0x10}"#,
        r#"{"id": Infinity}"#,
        r#"{"id": "\x"}"#,
        r#"{"id": "\u12G4"}"#,
        r#"{"id": "\ud800\u12"}"#,
        "{\"id\": \"a\nb\"}",
        "{\"id\": \"a\0b\"}",
        r#"{"cur": ["USD" "EUR"]}"#,
        r#"{"cur": ["USD",]}"#,
        r#"{"cur": [,"USD"]}"#,
        r#"{"cur": ["USD",,"EUR"]}"#,
        r#"{"cur": ["USD"}}"#,
        r#"{"cur": ["USD"], "device": {"devicetype": 1]}"#,
        r#"{"imp": [{"id": "1"}{"id": "2"}]}"#,
        r#"{"imp": [{"id": "1"} x]}"#,
        r#"{"imp": [{"bidfloor": NaN}]}"#,
        r#"{"imp": [{"video": {"w": 01}}]}"#,
        r#"{"imp": [{]}"#,
        r#"{"device": {"devicetype": 1,}}"#,
        r#"{"v": "a" "b", "id": "r"}"#,
        r#"{"x": 1,,"id": "r"}"#,
        r#"{"x": [1, "id": "r"}"#,
    ] {
        check_json(text, &format!("{:?}", Refusal::Malformed));
    }
}

#[test]
fn json_damage_in_what_is_not_read_passes_unnoticed() {
    check_json(
        "{\"x\": 01, \"y\": NaN, \"z\": \"\\x \u{1}\", \"ext\": {[} a 1, \"b\":], \"id\": \"r\"}",
        "id r",
    );
    // What comes behind the last key that is asked for.
    check_json(
        r#"{"site": {"publisher": {"id": "p",}}}"#,
        "site | site.publisher p",
    );
    // What a view was not asked for.
    struct Country;
    impl Visit for Country {
        type Out = Read<String>;
        fn visit<'a, V: RequestView<'a>>(self, view: &V) -> Read<String> {
            Ok(format!("{:?}", view.country()?))
        }
    }
    let text = br#"{"device": {"geo": {"country": "USA"},"devicetype": 1,}, "site": {,}}"#;
    let read = Reader::default().read(Format::Json, text, Country);
    assert_eq!(read, Ok(Ok("Some(USA)".to_owned())));
}

#[test]
fn protobuf_the_last_of_repeated_scalars_counts() {
    let big = 1u64 << 40;
    check_protobuf(
        &[
            len(1, "a"),
            number(8, 5),
            len(1, "b"),
            number(8, 6),
            number(15, 1),
            number(15, 0),
        ],
        "id b | tmax 6",
    );
    // Also where the last is unknown: empty, no UTF-8, or no 32-bit value.
    check_protobuf(&[len(1, "a"), len(1, "")], "");
    check_protobuf(&[len(1, "a"), len(1, b"\xff")], "");
    check_protobuf(
        &[number(8, 5), number(8, big), number(21, 5), number(21, big)],
        "",
    );
    check_protobuf(
        &[len(
            2,
            len(3, [number(6, 640), number(7, 480), number(6, big)].concat()),
        )],
        "imp | video",
    );
    check_protobuf(
        &[len(
            2,
            [double(8, 1.0), double(8, 2.0), number(12, 1), number(12, 0)].concat(),
        )],
        "imp | bidfloor 2.0",
    );
}

#[test]
fn protobuf_integers() {
    let minus_5 = -5i64 as u64;
    for (value, expect) in [
        (0, "tmax 0"),
        (i32::MAX as u64, "tmax 2147483647"),
        (minus_5, "tmax -5"),
        (i64::from(i32::MIN) as u64, "tmax -2147483648"),
        (1 << 31, ""),
        (u64::from(u32::MAX), ""),
        (i64::from(i32::MIN) as u64 - 1, ""),
        (1 << 40 | 5, ""),
        (u64::MAX >> 1, ""),
    ] {
        check_protobuf(&[number(8, value)], expect);
    }
    // Any non-zero bool is true, and a varint may be longer than it need be.
    check_protobuf(&[number(15, 1 << 40)], "test true");
    check_protobuf(&[varint(8 << 3), vec![0x85, 0x80, 0x80, 0]], "tmax 5");
    check_protobuf(
        &[
            varint(8 << 3),
            vec![0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
        ],
        "tmax 5",
    );
}

#[test]
fn protobuf_fields_come_in_any_order_and_sub_messages_in_parts() {
    let device = [
        len(5, number(18, 2)),
        len(5, len(4, len(3, "FRA"))),
        number(8, 5),
        len(5, len(4, len(4, "region"))),
        len(5, [number(18, 3), len(4, len(3, "USA"))].concat()),
    ];
    check_protobuf(
        &device,
        "device_type 3 | country USA | region region | tmax 5",
    );
    let imp = [
        len(3, [number(6, 640), len(1, "video/mp4")].concat()),
        len(11, len(2, len(1, "d1"))),
        len(15, ""),
        len(3, number(7, 480)),
        len(7, "tagid"),
        len(11, number(1, 1)),
        len(20, double(1, 2.0)),
        len(2, number(1, 300)),
        len(
            3,
            [
                len(1, "video/webm"),
                number(10, 1),
                len(10, [2, 3]),
                number(4, 30),
            ]
            .concat(),
        ),
        len(20, number(2, 1)),
        len(11, [len(2, len(1, "d2")), number(1, 0)].concat()),
        len(2, [number(2, 250), len(15, "")].concat()),
        len(2, len(15, [number(2, 50), number(1, 320)].concat())),
        len(1, "1"),
    ];
    check_protobuf(
        &[len(2, imp.concat()), len(2, len(1, "2"))],
        "imp | id 1 | multiplier 2.0 | banner | video | video.mimes video/mp4
            | video.mimes video/webm | video.battr 1 | video.battr 2 | video.battr 3
            | video.maxduration 30 | audio | video.size 640x480 | banner.size 320x50
            | deal | id d1 | deal | id d2 | imp | id 2",
    );
    check_protobuf(
        &[
            len(11, "USD"),
            len(12, "IAB1"),
            len(11, "EUR"),
            len(2, ""),
            len(12, "IAB2"),
            len(11, "GBP"),
        ],
        "cur USD | cur EUR | cur GBP | bcat IAB1 | bcat IAB2 | imp",
    );
}

#[test]
fn protobuf_a_field_of_another_layout_is_another_field() {
    check_protobuf(
        &[
            len(1, "r"),
            number(1, 7),
            number(8, 5),
            len(8, "x"),
            double(8, 1.0),
            number(5, 1),
            len(15, [1]),
            number(2, 1),
            double(11, 1.0),
        ],
        "id r | tmax 5",
    );
    check_protobuf(
        &[len(
            2,
            [
                double(8, 1.5),
                number(8, 7),
                len(8, "12345678"),
                number(3, 1),
                number(11, 1),
            ]
            .concat(),
        )],
        "imp | bidfloor 1.5",
    );
}

#[test]
fn protobuf_unknown_fields_and_groups_are_passed_over() {
    let group = |number: u64, inside: &[u8]| {
        [
            varint(number << 3 | 3),
            inside.to_vec(),
            varint(number << 3 | 4),
        ]
        .concat()
    };
    let nested = group(
        1,
        &group(2, &[len(1, "x"), number(2, 1), double(3, 1.0)].concat()),
    );
    check_protobuf(
        &[
            nested.clone(),
            len(1, "r"),
            number(500, 1),
            len(20_260, "json"),
            [varint(7 << 3 | 5), vec![0; 4]].concat(),
            len(2, [nested, len(1, "1")].concat()),
        ],
        "id r | imp | id 1",
    );
}

#[test]
fn protobuf_what_is_read_must_be_well_formed() {
    let malformed = format!("{:?}", Refusal::Malformed);
    for bytes in [
        vec![0x80],                                     // a tag that does not end
        vec![0x00, 0x00],                               // field number 0
        vec![0x08],                                     // no value
        vec![0x0A, 0x05, b'x'],                         // shorter than it says
        vec![0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F],       // 4 GB
        [vec![0x0A], varint(u64::MAX)].concat(),        // more than there is address space
        [vec![0x40], vec![0xFF; 10]].concat(),          // more than 64 bits
        [vec![0x40], vec![0x80; 10], vec![0]].concat(), // more than 10 bytes
        [varint(1 << 35 | 2), vec![0]].concat(),        // a tag of more than 32 bits
        vec![0x0E, 0x00],                               // layout 6
        vec![0x0F, 0x00],                               // layout 7
        vec![0x0C],                                     // the end of no group
        vec![0x0B],                                     // a group that does not end
        vec![0x0B, 0x14],                               // a group that another one ends
        vec![0x0B, 0x0A, 0x05, 0x0C],                   // a value that leaves its group
        vec![0x09, 1, 2, 3],                            // half a double
        vec![0x0D, 1, 2, 3],                            // half a float
        len(2, [0x0A, 0x05]),                           // a value that leaves its message
        len(2, len(3, [0x30])),                         // the same, looked at later
        len(2, len(2, len(6, [0x80]))),                 // a packed integer that does not end
    ] {
        check_bytes(Format::Protobuf, &bytes, &malformed);
    }
}

#[test]
fn every_format_reads_again_with_the_same_reader() {
    let mut reader = Reader::new(Limits::default());
    for _ in 0..3 {
        for (format, bytes) in encodings(FULL) {
            let got = answers(&mut reader, format, &bytes).unwrap();
            assert_eq!(got.trim(), FULL_ANSWERS.trim());
            let got = answers(&mut reader, format, &encodings(r#"{"id": "x"}"#)[0].1);
            assert_eq!(got.is_ok(), format == Format::Json);
        }
    }
}
