//! The bidder as a process: over a Unix socket and TCP, in every format, through reloads, signals
//! and death.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use transport::{Address, Client, ClientOptions, Code, Status};
use wire::message::{BidRequest, BidResponse};
use wire::notify::{self, Notice, NoticeKind, NoticeOutcome};
use wire::{Format, Limits};

const BID: &str = "/nearbid.v1.Bidder/Bid";
const NOTIFY: &str = "/nearbid.v1.Bidder/Notify";
/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const LINE_ITEMS: &str = r#"[{"id": "li", "seat": "s", "adomain": ["brand.example"], "cat": ["IAB1"], "cpm": 2.5,
    "budget": {"total": 0.01}, "targeting": {"countries": ["USA"]},
    "creatives": [{"id": "c", "type": "banner", "w": 300, "h": 250, "mime": "image/png", "attr": [1], "adm": "<a>"}]}]"#;

/// Gets a bid.
const YES: &str = r#"{"id": "r1", "imp": [{"id": "1", "bidfloor": 1, "banner": {"w": 300, "h": 250}}],
    "device": {"geo": {"country": "USA"}}, "tmax": 60000}"#;
/// Gets none, because of its country.
const NO: &str = r#"{"id": "r2", "imp": [{"id": "1", "banner": {"w": 300, "h": 250}}],
    "device": {"geo": {"country": "FRA"}}, "tmax": 60000}"#;

type Metadata<'a> = &'a [(&'a str, &'a [u8])];

/// A running bidder in a folder of its own; killed when dropped.
struct Bidder {
    child: Child,
    folder: tempfile::TempDir,
    ready: Value,
    logs: std::sync::mpsc::Receiver<String>,
}

impl Bidder {
    fn start(line_items: &str, extra: &[&str]) -> Bidder {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("items.json"), line_items).unwrap();
        Bidder::start_in(folder, extra)
    }

    fn start_in(folder: tempfile::TempDir, extra: &[&str]) -> Bidder {
        let mut child = command(folder.path(), extra).spawn().unwrap();
        let logs = lines_of(child.stderr.take().unwrap());
        let mut seen = Vec::new();
        let ready = loop {
            let Ok(line) = logs.recv_timeout(PATIENCE) else {
                panic!("never ready: {seen:?}")
            };
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event["message"] == "ready" {
                break event;
            }
            seen.push(line);
        };
        Bidder {
            child,
            folder,
            ready,
            logs,
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("sockets/bid.sock")
    }

    fn addresses(&self) -> [Address; 2] {
        let listen = self.ready["listen"].as_str().unwrap();
        let addresses: Vec<Address> = listen.split(',').map(|a| a.parse().unwrap()).collect();
        addresses.try_into().unwrap()
    }

    fn client(&self) -> Client {
        connect(&self.addresses()[0])
    }

    fn admin(&self, path: &str) -> (u16, String) {
        get(self.ready["admin"].as_str().unwrap(), path)
    }

    /// The value of a metric, its labels included in the name.
    fn metric(&self, name: &str) -> f64 {
        let (status, text) = self.admin("/metrics");
        assert_eq!(status, 200);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}"))
            .parse()
            .unwrap()
    }

    fn wait_for_metric(&self, name: &str, expect: f64) {
        let start = Instant::now();
        while self.metric(name) != expect {
            assert!(start.elapsed() < PATIENCE, "{name} never became {expect}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn write_line_items(&self, text: &str) {
        std::fs::write(self.folder.path().join("items.json"), text).unwrap();
    }

    fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }

    fn kill(mut self) -> tempfile::TempDir {
        self.signal(Signal::KILL);
        self.wait();
        let other = tempfile::tempdir().unwrap();
        std::mem::replace(&mut self.folder, other)
    }
}

impl Drop for Bidder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(folder: &Path, extra: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearbid"));
    command.args(["bidder", "--log-format", "json", "--threads", "2"]);
    command.arg("--line-items").arg(folder.join("items.json"));
    let socket = format!("unix://{}", folder.join("sockets/bid.sock").display());
    command.args(["--listen", &socket, "--listen", "tcp://127.0.0.1:0"]);
    command.args(["--admin", "127.0.0.1:0"]).args(extra);
    command.stderr(Stdio::piped()).stdout(Stdio::null());
    command
}

fn lines_of(from: impl Read + Send + 'static) -> std::sync::mpsc::Receiver<String> {
    let (send, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let _ = send.send(line);
        }
    });
    lines
}

fn wait(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(start.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn connect(address: &Address) -> Client {
    Client::connect(address, ClientOptions::default()).unwrap()
}

fn get(address: &str, path: &str) -> (u16, String) {
    let (status, answer) = ask(address, "GET", path);
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    (status, body.to_owned())
}

/// The status, and the whole answer.
fn ask(address: &str, method: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer)
}

fn encoded(format: Format, json: &str) -> Vec<u8> {
    let request: BidRequest =
        wire::decode(Format::Json, json.as_bytes(), &Limits::default()).unwrap();
    let mut message = Vec::new();
    wire::encode(format, &request, &mut message);
    message
}

fn decoded(format: Format, message: &[u8]) -> BidResponse {
    wire::decode(format, message, &Limits::default()).unwrap()
}

fn bid(client: &mut Client, format: Format, json: &str) -> BidResponse {
    let metadata = [("nearbid-format", format.name().as_bytes())];
    let message = encoded(format, json);
    let (status, answer) = client.unary(BID, "", &metadata, &message, PATIENCE);
    assert_eq!(status, Status::OK);
    decoded(format, &answer)
}

#[track_caller]
fn check_invalid(
    client: &mut Client,
    subtype: &str,
    format: Option<&str>,
    bytes: &[u8],
    why: &str,
) {
    let metadata: Vec<_> = format
        .iter()
        .map(|f| ("nearbid-format", f.as_bytes()))
        .collect();
    let (status, answer) = client.unary(BID, subtype, &metadata, bytes, PATIENCE);
    assert_eq!(status, Status::new(Code::InvalidArgument, why.to_owned()));
    assert!(answer.is_empty());
}

fn notify(client: &mut Client, notices: &[Notice]) -> Vec<NoticeOutcome> {
    let mut message = Vec::new();
    notify::encode_request(notices, &mut message);
    let (status, answer) = client.unary(NOTIFY, "", &[], &message, PATIENCE);
    assert_eq!(status, Status::OK);
    let outcomes = notify::decode_response(&answer).unwrap();
    outcomes.into_iter().map(Option::unwrap).collect()
}

fn notice(kind: NoticeKind, bid_id: &str) -> Notice {
    Notice {
        kind: kind as i32,
        bid_id: bid_id.to_owned(),
        ..Notice::default()
    }
}

/// `adomain` and the like as they were, ids as they came.
fn without_ids(mut response: BidResponse) -> BidResponse {
    response.bidid = None;
    for bid in response.seatbid.iter_mut().flat_map(|seat| &mut seat.bid) {
        bid.id = None;
        bid.burl = None;
        bid.lurl = None;
    }
    response
}

// Long: one scenario, told in the order in which it happens.
#[test]
fn every_format_over_every_transport_gets_the_same_answers() {
    // Budget for every bid of this test.
    let line_items = LINE_ITEMS.replace("0.01", "1");
    let bidder = Bidder::start(&line_items, &[]);
    let mut yes_answers = Vec::new();
    for address in bidder.addresses() {
        let mut client = connect(&address);
        for (format, subtype) in [
            (Format::Protobuf, "proto"),
            (Format::FlatBuffers, "flatbuffers"),
            (Format::Json, "json"),
        ] {
            let name = format.name().as_bytes();
            let ways: [(&str, Metadata<'_>); 3] = [
                (subtype, &[]),
                ("", &[("nearbid-format", name)]),
                (subtype, &[("nearbid-format", name)]),
            ];
            for (subtype, metadata) in ways {
                let call = |client: &mut Client, json| {
                    let message = encoded(format, json);
                    let (status, answer) = client.unary(BID, subtype, metadata, &message, PATIENCE);
                    assert_eq!(status, Status::OK, "{format} {subtype}");
                    decoded(format, &answer)
                };
                let no = call(&mut client, NO);
                assert_eq!((no.id.as_deref(), no.nbr), (Some("r2"), Some(503)));
                assert!(no.seatbid.is_empty());
                yes_answers.push(without_ids(call(&mut client, YES)));
            }
        }
    }
    // Plain gRPC is protobuf.
    let (status, answer) =
        bidder
            .client()
            .unary(BID, "", &[], &encoded(Format::Protobuf, NO), PATIENCE);
    assert_eq!(
        (status, decoded(Format::Protobuf, &answer).nbr),
        (Status::OK, Some(503))
    );

    let first = yes_answers[0].clone();
    assert!(
        yes_answers.iter().all(|answer| *answer == first),
        "{yes_answers:?}"
    );
    let seat = &first.seatbid[0];
    let bid = &seat.bid[0];
    assert_eq!(
        (first.id.as_deref(), first.cur.as_deref()),
        (Some("r1"), Some("USD"))
    );
    assert_eq!((first.nbr, seat.seat.as_deref()), (None, Some("s")));
    assert_eq!((bid.impid.as_deref(), bid.price), (Some("1"), Some(2.5)));
    assert_eq!(
        (bid.cid.as_deref(), bid.crid.as_deref()),
        (Some("li"), Some("c"))
    );
    assert_eq!(
        (bid.adid.as_deref(), bid.adm.as_deref()),
        (Some("c"), Some("<a>"))
    );
    assert_eq!(
        (bid.w, bid.h, bid.mtype, bid.exp),
        (Some(300), Some(250), Some(1), Some(120))
    );
    assert_eq!(
        (&bid.adomain[..], &bid.cat[..]),
        (&["brand.example".to_owned()][..], &["IAB1".to_owned()][..])
    );
    assert_eq!((bid.cattax, &bid.attr[..]), (Some(1), &[1][..]));
    assert_eq!(
        (&bid.dealid, &bid.dur, &bid.protocol, &bid.bundle),
        (&None, &None, &None, &None)
    );
}

#[test]
fn damage_that_no_decision_reads_is_seen_where_all_is_checked() {
    let (lenient, strict) = (
        Bidder::start(LINE_ITEMS, &[]),
        Bidder::start(LINE_ITEMS, &["--validate"]),
    );
    // A user whose id ends too early: nobody targets it.
    let mut damaged = encoded(Format::Protobuf, YES);
    damaged.extend(b"\x32\x02\x0a\x05");
    let mut client = lenient.client();
    let (status, _) = client.unary(BID, "", &[], &damaged, PATIENCE);
    assert_eq!(status, Status::OK);
    let mut client = strict.client();
    let at = damaged.len();
    let why = format!(
        "the message is not well-formed: cut short, out of bounds, or of no known layout at byte {at}, in user.id"
    );
    check_invalid(&mut client, "proto", None, &damaged, &why);
    for format in Format::ALL {
        assert_eq!(bid(&mut client, format, YES).seatbid.len(), 1, "{format}");
    }
    strict.wait_for_metric(
        "nearbid_invalid_total{cause=\"malformed\",format=\"protobuf\",transport=\"unix\"}",
        1.0,
    );
}

#[test]
fn what_is_invalid_is_told_without_being_echoed() {
    let bidder = Bidder::start(LINE_ITEMS, &["--imps-max", "2"]);
    let mut client = bidder.client();
    let malformed = "the message is not well-formed";
    check_invalid(&mut client, "proto", None, b"\x0a\xff", malformed);
    check_invalid(
        &mut client,
        "flatbuffers",
        None,
        b"\xff\xff\xff\xff",
        malformed,
    );
    check_invalid(&mut client, "json", None, b"{\"id\": NaN", malformed);
    check_invalid(&mut client, "json", None, b"", malformed);
    check_invalid(
        &mut client,
        "json",
        None,
        b"{\"imp\": []}",
        "the request has no id",
    );
    check_invalid(&mut client, "proto", None, b"", "the request has no id");
    check_invalid(
        &mut client,
        "json",
        None,
        b"{\"id\": \"1\"}",
        "the request has no impression",
    );
    let three = br#"{"id": "1", "imp": [{"id": "1"}, {"id": "2"}, {"id": "3"}]}"#;
    check_invalid(
        &mut client,
        "json",
        None,
        three,
        "the request is over imps_max",
    );
    let different = "the content-subtype and nearbid-format name different formats";
    check_invalid(
        &mut client,
        "json",
        Some("protobuf"),
        NO.as_bytes(),
        different,
    );
    check_invalid(&mut client, "proto", Some("json"), NO.as_bytes(), different);
    let unknown = "nearbid-format is none of protobuf, flatbuffers, json";
    check_invalid(&mut client, "", Some("xml"), NO.as_bytes(), unknown);
    let subtype = "the content-subtype is none of proto, flatbuffers, json";
    check_invalid(&mut client, "xml", None, NO.as_bytes(), subtype);
    // The connection lives on.
    assert_eq!(bid(&mut client, Format::Json, NO).nbr, Some(503));
    let counted = "nearbid_invalid_total{cause=\"no_id\",format=\"json\",transport=\"unix\"}";
    bidder.wait_for_metric(counted, 1.0);
    let counted = "nearbid_invalid_total{cause=\"format\",format=\"unknown\",transport=\"unix\"}";
    bidder.wait_for_metric(counted, 4.0);
}

#[test]
fn what_comes_too_late_is_a_no() {
    let bidder = Bidder::start(LINE_ITEMS, &["--network-margin-us", "30000000"]);
    let mut client = bidder.client();
    for format in Format::ALL {
        let answer = bid(&mut client, format, &YES.replace("60000", "30000"));
        assert_eq!((answer.nbr, answer.id.as_deref()), (Some(15), Some("r1")));
        assert_eq!(bid(&mut client, format, YES).nbr, None);
    }
    // The call's own timeout is the smaller one.
    let message = encoded(Format::Protobuf, YES);
    let (status, answer) = client.unary(BID, "", &[], &message, Duration::from_secs(29));
    assert_eq!(
        (status, decoded(Format::Protobuf, &answer).nbr),
        (Status::OK, Some(15))
    );
}

#[test]
fn a_notice_counts_once() {
    let bidder = Bidder::start(LINE_ITEMS, &[]);
    let mut client = bidder.client();
    // The budget is for four bids at 0.0025; three are made, the fourth is billed below its price.
    let ids: Vec<String> = (0..4)
        .map(|_| {
            bid(&mut client, Format::Protobuf, YES).seatbid[0].bid[0]
                .id
                .clone()
                .unwrap()
        })
        .collect();
    assert_eq!(bid(&mut client, Format::Protobuf, YES).nbr, Some(508));
    let billing = Notice {
        price_micros: Some(1_000_000),
        cur: Some("USD".to_owned()),
        ..notice(NoticeKind::Billing, &ids[3])
    };
    use NoticeOutcome::{Applied, Duplicate, Unknown};
    let outcomes = notify(
        &mut client,
        &[
            notice(NoticeKind::Win, &ids[0]),
            notice(NoticeKind::Win, &ids[0]),
            notice(NoticeKind::Win, "00000000000000000000000000000000"),
            notice(NoticeKind::Billing, &ids[0]),
            notice(NoticeKind::Win, &ids[0]),
            notice(NoticeKind::Loss, &ids[1]),
            billing.clone(),
            billing,
            notice(NoticeKind::Loss, &ids[0]),
            notice(NoticeKind::Billing, "00000000000000000000000000000000"),
            notice(NoticeKind::Loss, "what"),
        ],
    );
    let expect = [
        Applied, Duplicate, Unknown, Applied, Duplicate, Applied, Applied, Duplicate, Duplicate,
        Unknown, Unknown,
    ];
    assert_eq!(outcomes, expect);
    // 0.0025 of the loss and 0.0015 of the cheaper bill are free again: one more bid, not two.
    assert_eq!(bid(&mut client, Format::Protobuf, YES).nbr, None);
    assert_eq!(bid(&mut client, Format::Protobuf, YES).nbr, Some(508));
    let (status, _) = client.unary(NOTIFY, "json", &[], b"{}", PATIENCE);
    assert_eq!(status.code, Code::InvalidArgument);
    let (status, _) = client.unary(NOTIFY, "", &[], b"\x0a\xff", PATIENCE);
    assert_eq!(status.code, Code::InvalidArgument);
    let applied = "nearbid_notices_total{kind=\"billing\",outcome=\"applied\"}";
    assert_eq!(bidder.metric(applied), 2.0);
    assert_eq!(bidder.metric("nearbid_bids_settled_total"), 2.0);
    assert_eq!(bidder.metric("nearbid_line_items_funded"), 0.0);
    let left = bidder.metric("nearbid_budget_left_units");
    assert!((left - 0.0015).abs() < 1e-9, "{left}");
}

// Long: one scenario, told in the order in which it happens.
#[test]
fn notices_come_by_the_urls_that_bids_carry() {
    let extra = [
        "--notice-url",
        "http://exchange.example/n/",
        "--notices",
        "127.0.0.1:0",
    ];
    let bidder = Bidder::start(LINE_ITEMS, &extra);
    let mut client = bidder.client();
    let port = bidder.ready["notices"].as_str().unwrap().to_owned();
    let path = |url: &str| {
        url.strip_prefix("http://exchange.example")
            .unwrap()
            .to_owned()
    };
    let answer = bid(&mut client, Format::FlatBuffers, YES);
    let first = &answer.seatbid[0].bid[0];
    let (id, burl, lurl) = (
        &first.id,
        first.burl.as_deref().unwrap(),
        first.lurl.as_deref().unwrap(),
    );
    let id = id.as_deref().unwrap();
    assert_eq!(
        burl,
        format!(
            "http://exchange.example/n/billing?id={id}&price=${{AUCTION_PRICE}}&cur=${{AUCTION_CURRENCY}}"
        )
    );
    assert_eq!(
        lurl,
        format!("http://exchange.example/n/loss?id={id}&reason=${{AUCTION_LOSS}}")
    );

    // What cannot be read loses nothing: the real notice still counts.
    let unexpanded = path(burl).replace('{', "%7B").replace('}', "%7D");
    let (status, text) = get(&port, &unexpanded);
    assert_eq!(
        (status, text.as_str()),
        (
            400,
            "price is the macro itself: the exchange did not expand it\n"
        )
    );
    let (status, text) = get(
        &port,
        &path(burl)
            .replace("${AUCTION_PRICE}", "9fZ_x")
            .replace("${AUCTION_CURRENCY}", ""),
    );
    assert_eq!((status, text.contains("encrypted")), (400, true), "{text}");
    let billed = path(burl)
        .replace("${AUCTION_PRICE}", "2.25")
        .replace("${AUCTION_CURRENCY}", "USD");
    // To look is not to bill.
    let (status, head) = ask(&port, "HEAD", &billed);
    assert!(
        status == 405 && head.to_lowercase().contains("\r\nallow: get"),
        "{head}"
    );
    assert_eq!(ask(&port, "POST", &billed).0, 405);
    assert_eq!(bidder.metric("nearbid_bids_settled_total"), 0.0);
    assert_eq!(get(&port, &billed), (200, "applied\n".to_owned()));
    assert_eq!(get(&port, &billed), (200, "known already\n".to_owned()));
    let lost = path(lurl).replace("${AUCTION_LOSS}", "102");
    assert_eq!(get(&port, &lost), (200, "known already\n".to_owned()));
    assert_eq!(get(&port, &lost.replace(id, "0")).0, 404);
    assert_eq!(get(&port, "/n/loss"), (400, "id is missing\n".to_owned()));
    assert_eq!(get(&port, "/n/other?id=1").0, 404);
    assert_eq!(get(&port, "/n/loss?id=%FF&id").0, 404);
    assert_eq!(bidder.metric("nearbid_bids_settled_total"), 1.0);
}

#[test]
fn line_items_are_reloaded_and_a_bad_file_keeps_the_old_ones() {
    let bidder = Bidder::start(LINE_ITEMS, &[]);
    let mut client = bidder.client();
    // Spends all of the budget, which must survive what follows.
    for _ in 0..4 {
        assert_eq!(bid(&mut client, Format::Json, YES).nbr, None);
    }
    let two = format!(
        "{}, {}]",
        &LINE_ITEMS[..LINE_ITEMS.len() - 1],
        LINE_ITEMS[1..LINE_ITEMS.len() - 1]
            .replace("\"li\"", "\"li2\"")
            .replace("USA", "FRA")
    );
    bidder.write_line_items(&two);
    bidder.wait_for_metric("nearbid_reloads_total{result=\"ok\"}", 1.0);
    assert_eq!(bidder.metric("nearbid_line_items"), 2.0);
    assert_eq!(bid(&mut client, Format::Json, NO).nbr, None);
    assert_eq!(bid(&mut client, Format::Json, YES).nbr, Some(508));

    bidder.write_line_items(&two.replace("\"cpm\": 2.5", "\"cpm\": 0"));
    bidder.wait_for_metric("nearbid_reloads_total{result=\"refused\"}", 1.0);
    let start = Instant::now();
    let told = loop {
        let line = bidder.logs.recv_timeout(PATIENCE).unwrap();
        if line.contains("bad file") {
            break line;
        }
        assert!(start.elapsed() < PATIENCE);
    };
    assert!(
        told.contains("line item \\\"li\\\": cpm is 0; allowed: a decimal above 0"),
        "{told}"
    );
    assert_eq!(bid(&mut client, Format::Json, NO).nbr, None);

    // What is left of a file whose writer found the disk full is no wish for no line items.
    for (refused, blank) in [(2.0, ""), (3.0, " \r\n\t")] {
        bidder.write_line_items(blank);
        bidder.wait_for_metric("nearbid_reloads_total{result=\"refused\"}", refused);
        assert_eq!(bid(&mut client, Format::Json, NO).nbr, None);
    }

    // SIGHUP does not wait for the next look at the files.
    bidder.write_line_items("[]");
    bidder.signal(Signal::HUP);
    bidder.wait_for_metric("nearbid_line_items", 0.0);
    assert_eq!(bid(&mut client, Format::Json, NO).nbr, Some(501));
}

#[test]
fn health_and_metrics_are_told() {
    let bidder = Bidder::start(LINE_ITEMS, &[]);
    let mut client = bidder.client();
    assert_eq!(bidder.admin("/health/live").0, 200);
    assert_eq!(bidder.admin("/health/ready"), (200, "ready\n".to_owned()));
    assert_eq!(bidder.admin("/else").0, 404);
    // `grpc.health.v1.HealthCheckRequest`: field 1 is the service's name; status 1 is SERVING.
    let name = b"\x0a\x11nearbid.v1.Bidder";
    let (status, answer) = client.unary("/grpc.health.v1.Health/Check", "", &[], name, PATIENCE);
    assert_eq!((status, answer.as_slice()), (Status::OK, &b"\x08\x01"[..]));
    bid(&mut client, Format::FlatBuffers, NO);
    bid(&mut client, Format::FlatBuffers, YES);
    let way = "format=\"flatbuffers\",transport=\"unix\"";
    bidder.wait_for_metric(&format!("nearbid_requests_total{{{way}}}"), 2.0);
    for (name, expect) in [
        (format!("nearbid_bids_total{{{way}}}"), 1.0),
        (
            "nearbid_no_bids_total{format=\"flatbuffers\",reason=\"country\",transport=\"unix\"}"
                .to_owned(),
            1.0,
        ),
        (format!("nearbid_decision_seconds_count{{{way}}}"), 2.0),
        (format!("nearbid_call_seconds_count{{{way}}}"), 2.0),
        ("nearbid_line_items".to_owned(), 1.0),
        ("nearbid_line_items_funded".to_owned(), 1.0),
        (format!("nearbid_calls_in_flight{{{way}}}"), 0.0),
        (
            "nearbid_calls_in_flight{format=\"unknown\",transport=\"tcp\"}".to_owned(),
            0.0,
        ),
        ("nearbid_connections_open".to_owned(), 1.0),
        ("nearbid_transport_calls_ok_total".to_owned(), 3.0),
        ("nearbid_bids_reserved_total".to_owned(), 1.0),
    ] {
        assert_eq!(bidder.metric(&name), expect, "{name}");
    }
    let text = bidder.admin("/metrics").1;
    assert!(!text.contains("\"li\"") && !text.contains("r1"), "{text}");
    let help = "# HELP nearbid_transport_calls_ok_total Calls that ended with status OK.\n";
    assert!(text.contains(help), "{text}");
    // A call that is not answered yet is in flight in its format, until its client is gone.
    let ask = client
        .start("/grpc.health.v1.Health/Watch", "", &[], name, None)
        .map(drop);
    assert_eq!(ask, Ok(()));
    client.poll(Duration::from_millis(1), |_| {}).unwrap();
    let gauge = "nearbid_calls_in_flight{format=\"unknown\",transport=\"unix\"}";
    bidder.wait_for_metric(gauge, 1.0);
    drop(client);
    bidder.wait_for_metric(gauge, 0.0);
}

#[test]
fn a_hostile_admin_client_keeps_nobody_else_out() {
    let bidder = Bidder::start(LINE_ITEMS, &[]);
    let admin = bidder.ready["admin"].as_str().unwrap();
    let mut silent: Vec<TcpStream> = (0..300)
        .map(|_| TcpStream::connect(admin).unwrap())
        .collect();
    let mut garbage = silent.pop().unwrap();
    garbage.write_all(&[0xFF; 100_000]).unwrap_or_default();
    // The one that has been idle longest makes room for the next.
    assert_eq!(bidder.admin("/health/live").0, 200);
}

/// Connections that are kept alive, and used often enough to be, hold no place that another needs.
#[test]
fn kept_alive_clients_keep_nobody_else_out() {
    let extra = ["--notice-url", "http://h/n", "--notices", "127.0.0.1:0"];
    let bidder = Bidder::start(LINE_ITEMS, &extra);
    for (port, places) in [("admin", 256), ("notices", 1024)] {
        let address = bidder.ready[port].as_str().unwrap();
        let kept: Vec<TcpStream> = (0..places)
            .map(|_| {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                stream
                    .write_all(b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
                    .unwrap();
                let mut answer = [0; 12];
                stream.read_exact(&mut answer).unwrap();
                assert_eq!(&answer, b"HTTP/1.1 404");
                stream
            })
            .collect();
        // A probe waits for a second, not for minutes.
        let mut probe = TcpStream::connect(address).unwrap();
        probe.set_read_timeout(Some(PATIENCE / 6)).unwrap();
        probe
            .write_all(b"GET /health/live HTTP/1.1\r\nHost: h\r\n\r\n")
            .unwrap();
        probe.read_exact(&mut [0; 12]).unwrap();
        drop(kept);
    }
}

/// Whoever still holds a connection, and to whatever: all of it ends within the time that is left.
#[test]
fn the_end_has_one_deadline() {
    let extra = [
        "--notice-url",
        "http://h/n",
        "--notices",
        "127.0.0.1:0",
        "--drain-ms-max",
        "200",
    ];
    let mut bidder = Bidder::start(LINE_ITEMS, &extra);
    let half: Vec<TcpStream> = ["admin", "notices"]
        .map(|port| {
            let mut stream = TcpStream::connect(bidder.ready[port].as_str().unwrap()).unwrap();
            stream.write_all(b"GET /n/loss?id=1 HTTP/1.1\r\n").unwrap();
            stream
        })
        .into();
    bidder.admin("/health/live");
    let start = Instant::now();
    bidder.signal(Signal::TERM);
    assert!(bidder.wait().success());
    // Half a head alone may take ten seconds, and what is told to close five.
    assert!(
        start.elapsed() < Duration::from_secs(4),
        "{:?}",
        start.elapsed()
    );
    drop(half);
}

#[test]
fn sigterm_finishes_what_is_in_flight_and_exits_well() {
    let mut bidder = Bidder::start(LINE_ITEMS, &[]);
    let mut client = bidder.client();
    let message = encoded(Format::Protobuf, NO);
    let mut started = 0;
    while started < 500 {
        match client.start(BID, "", &[], &message, Some(PATIENCE)) {
            Ok(_) => started += 1,
            Err(error) => panic!("{error}"),
        }
    }
    let mut statuses = Vec::new();
    // Sends them, so that they are there before the signal.
    client
        .poll(Duration::ZERO, |call| statuses.push(call.status))
        .unwrap();
    bidder.signal(Signal::TERM);
    let start = Instant::now();
    while statuses.len() < started && start.elapsed() < PATIENCE {
        client
            .poll(Duration::from_millis(10), |call| statuses.push(call.status))
            .unwrap();
    }
    assert_eq!(statuses.len(), started);
    assert!(
        statuses.iter().all(|status| *status == Status::OK),
        "{statuses:?}"
    );
    assert!(bidder.wait().success());
    assert!(!bidder.socket().exists());
    let address = &bidder.addresses()[0];
    assert!(Client::connect(address, ClientOptions::default()).is_err());
    let order: Vec<String> = bidder
        .logs
        .iter()
        .filter_map(|line| {
            serde_json::from_str::<Value>(&line).ok()?["message"]
                .as_str()
                .map(str::to_owned)
        })
        .collect();
    assert_eq!(order, ["stopping", "drained"]);
}

#[test]
fn a_second_signal_ends_it_at_once() {
    use std::os::unix::net::UnixStream;
    let mut bidder = Bidder::start(LINE_ITEMS, &[]);
    // A client that never says that it has seen the GOAWAY holds the drain up for a while.
    let mut silent = UnixStream::connect(bidder.socket()).unwrap();
    silent
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .unwrap();
    bidder.wait_for_metric("nearbid_connections_open", 1.0);
    bidder.signal(Signal::TERM);
    let stopping = bidder.logs.recv_timeout(PATIENCE).unwrap();
    assert!(stopping.contains("stopping"), "{stopping}");
    bidder.signal(Signal::TERM);
    assert_eq!(bidder.wait().code(), Some(1));
}

#[test]
fn after_a_kill_the_socket_works_again() {
    let bidder = Bidder::start(LINE_ITEMS, &[]);
    bid(&mut bidder.client(), Format::Json, NO);
    let socket = bidder.socket();
    let folder = bidder.kill();
    assert!(socket.exists());
    let bidder = Bidder::start_in(folder, &[]);
    assert_eq!(bidder.socket(), socket);
    assert_eq!(bid(&mut bidder.client(), Format::Json, NO).nbr, Some(503));
}

#[test]
fn a_live_socket_is_left_alone() {
    let bidder = Bidder::start(LINE_ITEMS, &[]);
    let second = command(bidder.folder.path(), &[]).output().unwrap();
    let told = String::from_utf8_lossy(&second.stderr);
    assert!(!second.status.success());
    assert!(told.contains("cannot listen on unix://"), "{told}");
    assert_eq!(bid(&mut bidder.client(), Format::Json, NO).nbr, Some(503));
}

#[test]
fn a_socket_that_is_gone_is_told() {
    let bidder = Bidder::start(LINE_ITEMS, &[]);
    assert_eq!(bidder.admin("/health/ready").0, 200);
    std::fs::remove_file(bidder.socket()).unwrap();
    let (status, told) = bidder.admin("/health/ready");
    assert_eq!(status, 503);
    assert!(told.contains("a socket file is gone"), "{told}");
}

#[test]
fn the_socket_and_its_folder_have_their_modes() {
    use std::os::unix::fs::PermissionsExt;
    let bidder = Bidder::start(LINE_ITEMS, &["--socket-file-mode", "0600"]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&bidder.socket()), 0o600);
    assert_eq!(mode(bidder.socket().parent().unwrap()), 0o750);
}

#[test]
fn what_keeps_it_from_starting_is_all_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("items.json"), "[{\"id\": 1}]").unwrap();
    let check = |extra: &[&str], expect: &[&str]| {
        let output = command(folder.path(), extra).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{told}");
        for part in expect {
            assert!(told.contains(part), "{part} is not in {told}");
        }
    };
    check(
        &[],
        &[
            "items.json:1:9: id is 1; allowed: a string",
            "cpm is missing",
            "creatives is missing",
        ],
    );
    check(
        &["--exp-s", "0", "--imps-max", "0"],
        &[
            "exp-s is 0; allowed: 1 to 604800",
            "imps-max is 0; allowed: 1 to 65536",
        ],
    );
    let long = format!("unix:///{}", "x".repeat(120));
    check(&["--listen", &long], &["the system allows 107"]);
}
