//! What the tests of views share.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "tests; each uses a part"
)]

pub mod answers;
pub mod encode;
pub mod random;

use serde_json::Value;
use wire::Format;

/// A well-typed request in every format, JSON as it is spelled.
pub fn encodings(request: &str) -> Vec<(Format, Vec<u8>)> {
    let mut encodings = encodings_of(&serde_json::from_str(request).unwrap());
    encodings[0].1 = request.as_bytes().to_vec();
    encodings
}

/// A well-typed request in every format, JSON first; in protobuf with its lists of integers packed
/// and not.
pub fn encodings_of(request: &Value) -> Vec<(Format, Vec<u8>)> {
    vec![
        (Format::Json, request.to_string().into_bytes()),
        (
            Format::Protobuf,
            encode::protobuf::message(encode::REQUEST, request, true),
        ),
        (
            Format::Protobuf,
            encode::protobuf::message(encode::REQUEST, request, false),
        ),
        (
            Format::FlatBuffers,
            encode::flatbuffers::message(encode::REQUEST, request),
        ),
    ]
}

/// Every answer over one impression, filled in.
pub const FULL: &str = r#"{
    "id": "r1", "test": true, "tmax": 120, "at": 2, "cattax": 7, "allimps": false,
    "cur": ["USD", "EUR"], "bcat": ["IAB1-5", "IAB2"], "acat": ["IAB3"],
    "badv": ["rival.example", "other.example"], "bapp": ["com.rival"],
    "wseat": ["s1"], "bseat": ["s2", "s3"], "wlang": ["en"],
    "user": {"id": "u", "yob": 1980, "geo": {"country": "FRA"}},
    "device": {"dnt": true, "ua": "agent \"x\" {[,]}", "os": "Android", "osv": "14.2",
        "connectiontype": 2, "devicetype": 3, "w": 1920, "pxratio": 1.5,
        "geo": {"lat": 1.5, "lon": -2.25, "country": "USA", "region": "CA", "metro": "803",
            "city": "Los Angeles", "type": 2, "utcoffset": -480}},
    "site": {"id": "s", "domain": "news.example", "cat": ["IAB12", "IAB1-5"], "sectioncat": ["IAB9"],
        "page": "https://news.example/", "publisher": {"id": "p1", "domain": "owner.example"},
        "content": {"id": "c", "cat": ["473", "474"], "language": "en", "cattax": 7, "langb": "en-US"},
        "cattax": 2},
    "app": {"id": "a", "domain": "app.example", "bundle": "com.app", "cat": ["IAB9"],
        "publisher": {"id": "p2"}, "content": {"language": "de"}},
    "dooh": {"id": "d", "venuetype": ["1"], "publisher": {"id": "p3", "cat": ["IAB3"]},
        "domain": "screen.example", "content": {"cat": ["IAB4"], "langb": "fr"}},
    "imp": [
        {"id": "1", "displaymanager": "dm", "instl": true, "rwdd": true, "bidfloor": 1.1, "bidfloorcur": "EUR",
            "secure": true, "exp": 300, "qty": {"multiplier": 2.5, "sourcetype": 1},
            "banner": {"w": 320, "h": 50, "id": "b", "pos": 1, "battr": [1, 2], "mimes": ["image/png"],
                "topframe": true, "api": [3, 5],
                "format": [{"w": 300, "h": 250, "wratio": 6}, {"w": 0, "h": 90}, {"w": 728, "h": 90}]},
            "video": {"mimes": ["video/mp4", "video/webm"], "linearity": 1, "minduration": 5,
                "maxduration": 30, "w": 640, "h": 480, "battr": [8], "boxingallowed": true,
                "playbackmethod": [1, 2], "pos": 7, "plcmt": 3, "api": [1], "protocols": [2, 3], "podid": "p",
                "rqddurs": [15, 30], "mincpmpersec": 0.5, "durfloors": [{"mindur": 5, "bidfloor": 2.5}]},
            "audio": {"mimes": ["audio/mp4"], "minduration": 0, "maxduration": 60,
                "protocols": [9], "battr": [4, -7], "api": [2], "rqddurs": [10],
                "durfloors": [{}]},
            "native": {"request": "{\"ver\":\"1.2\"}", "ver": "1.2", "api": [7], "battr": [6]},
            "pmp": {"private_auction": true, "deals": [
                {"id": "d1", "bidfloor": 5.25, "bidfloorcur": "GBP", "wseat": ["s1", "s2"],
                    "wadomain": ["brand.example"], "at": 3, "guar": 1},
                {}, {"id": "d2", "bidfloor": 0.0}]}},
        {"id": "2", "audio": {}}
    ]
}"#;

/// What is answered over [`FULL`].
pub const FULL_ANSWERS: &str = r#"
id r1
device_type 3
country USA
os Android
osv 14.2
region CA
metro 803
city Los Angeles
connectiontype 2
utcoffset -480
site
site.domain news.example
site.publisher p1
site.language en
site.langb en-US
site.cattax 2
site.cat IAB12
site.cat IAB1-5
site.content.cattax 7
site.content.cat 473
site.content.cat 474
app.domain app.example
app.bundle com.app
app.publisher p2
app.language de
app.cat IAB9
dooh.domain screen.example
dooh.publisher p3
dooh.langb fr
dooh.content.cat IAB4
test true
tmax 120
cattax 7
cur USD
cur EUR
bcat IAB1-5
bcat IAB2
acat IAB3
badv rival.example
badv other.example
bapp com.rival
wseat s1
bseat s2
bseat s3
imp
 id 1
 bidfloor 1.1
 bidfloorcur EUR
 secure true
 instl true
 rwdd true
 multiplier 2.5
 banner
 banner.mimes image/png
 banner.battr 1
 banner.battr 2
 banner.api 3
 banner.api 5
 banner.pos 1
 video
 video.mimes video/mp4
 video.mimes video/webm
 video.battr 8
 video.api 1
 video.protocols 2
 video.protocols 3
 video.rqddurs 15
 video.rqddurs 30
 video.minduration 5
 video.maxduration 30
 video.pos 7
 video.plcmt 3
 video.priced_by_second true
 audio
 audio.mimes audio/mp4
 audio.battr 4
 audio.battr -7
 audio.api 2
 audio.protocols 9
 audio.rqddurs 10
 audio.minduration 0
 audio.maxduration 60
 audio.priced_by_second true
 native
 native.battr 6
 native.api 7
 video.size 640x480
 banner.size 300x250
 banner.size 728x90
 private_auction true
 deal
  id d1
  bidfloor 5.25
  bidfloorcur GBP
  at 3
  wseat s1
  wseat s2
  wadomain brand.example
 deal
 deal
  id d2
  bidfloor 0.0
imp
 id 2
 audio
"#;
