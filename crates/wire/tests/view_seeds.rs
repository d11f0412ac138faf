//! Writes seeds for the fuzz targets `read_json`, `read_protobuf` and `read_flatbuffers`:
//! `cargo test -p wire --test view_seeds -- --ignored`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod common;

use std::path::Path;

use common::{FULL, encodings};

#[test]
#[ignore = "writes to fuzz/corpus"]
fn write_seeds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, request) in [
        ("full", FULL),
        ("empty", "{}"),
        (
            "small",
            r#"{"id": "r", "imp": [{"id": "1", "video": {"w": 1, "h": 2}}]}"#,
        ),
        (
            "wide",
            r#"{"id": "r", "imp": [{}, {}, {}], "cur": ["USD", "", "EUR"], "tmax": -1}"#,
        ),
    ] {
        for (number, (format, bytes)) in encodings(request).into_iter().enumerate() {
            let folder = corpus.join(format!("read_{format}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(format!("{name}-{number}")), bytes).unwrap();
        }
    }
}
