//! A stock gRPC client of another language gets bids and no-bids, over the socket and TCP, in
//! protobuf and, by metadata, in FlatBuffers.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::path::Path;
use std::process::Command;

use common::{Bidder, python, python_has_grpc, run};

const LINE_ITEMS: &str = r#"[{"id": "li", "seat": "s", "adomain": ["brand.example"], "cpm": 2.5,
    "targeting": {"countries": ["USA"]},
    "creatives": [{"id": "c", "type": "banner", "w": 300, "h": 250, "mime": "image/png", "adm": "<a>"}]}]"#;

#[test]
fn python_gets_bids_and_no_bids() {
    if !python_has_grpc() {
        println!("skipped: Python's grpcio, grpcio-tools and flatbuffers not present");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let items = folder.path().join("items.json");
    std::fs::write(&items, LINE_ITEMS).unwrap();
    let bidder = Bidder::start(&items);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let said = run(Command::new(python())
        .arg(here.join("tests/interop.py"))
        .arg(here.join("../../schema"))
        .args(&bidder.targets));
    println!("{said}");
    assert_eq!(said.matches("protobuf, flatbuffers, health").count(), 2);
}
