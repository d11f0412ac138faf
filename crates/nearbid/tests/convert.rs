//! `nearbid convert` and `nearbid generate`, as a user runs them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const FORMATS: [&str; 3] = ["json", "protobuf", "flatbuffers"];

fn nearbid(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nearbid"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[track_caller]
fn done(folder: &Path, arguments: &[&str]) {
    let output = nearbid(folder, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn every_pair_of_formats_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        done(
            folder.path(),
            &[
                "generate",
                "--requests",
                "200",
                "--seed",
                "11",
                "--format",
                format,
                "--out",
                format,
            ],
        );
    }
    for from in FORMATS {
        for to in FORMATS {
            done(
                folder.path(),
                &["convert", "--from", from, "--to", to, from, "out"],
            );
            let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
            assert!(read("out") == read(to), "{from} to {to}");
        }
    }
}

#[test]
fn responses_are_converted_too() {
    let folder = tempfile::tempdir().unwrap();
    let response =
        "{\"id\":\"r\",\"seatbid\":[{\"bid\":[{\"id\":\"b\",\"impid\":\"1\",\"price\":1.5}]}]}\n";
    fs::write(folder.path().join("in"), response).unwrap();
    done(
        folder.path(),
        &[
            "convert",
            "--from",
            "json",
            "--to",
            "protobuf",
            "--message",
            "response",
            "in",
            "pb",
        ],
    );
    done(
        folder.path(),
        &[
            "convert",
            "--from",
            "protobuf",
            "--to",
            "json",
            "--message",
            "response",
            "pb",
            "out",
        ],
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("out")).unwrap(),
        response
    );
}

#[test]
fn a_bad_record_is_named_and_leaves_no_half_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let good = "{\"id\":\"a\",\"imp\":[{\"id\":\"1\"}]}";
    fs::write(
        folder.path().join("in"),
        format!("{good}\n{{\"id\":\"b\",\n{good}\n"),
    )
    .unwrap();

    let stopped = nearbid(
        folder.path(),
        &["convert", "--from", "json", "--to", "protobuf", "in", "out"],
    );
    let told = String::from_utf8(stopped.stderr).unwrap();
    assert!(
        !stopped.status.success() && told.contains("in: line 2: "),
        "{told}"
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

    let arguments = [
        "convert",
        "--keep-going",
        "--from",
        "json",
        "--to",
        "json",
        "in",
        "out",
    ];
    let went_on = nearbid(folder.path(), &arguments);
    let told = String::from_utf8(went_on.stderr).unwrap();
    assert_eq!(went_on.status.code(), Some(1));
    assert!(
        told.contains("in: line 2: ") && told.contains("2 records converted, 1 left out"),
        "{told}"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("out"))
            .unwrap()
            .lines()
            .count(),
        2
    );
}

#[test]
fn a_stream_cut_short_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["protobuf", "flatbuffers"] {
        done(
            folder.path(),
            &[
                "generate",
                "--requests",
                "3",
                "--format",
                format,
                "--out",
                "in",
            ],
        );
        let bytes = fs::read(folder.path().join("in")).unwrap();
        fs::write(folder.path().join("in"), &bytes[..bytes.len() - 1]).unwrap();
        let output = nearbid(
            folder.path(),
            &["convert", "--from", format, "--to", "json", "in", "out"],
        );
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && told.contains("record 3"),
            "{told}"
        );
        assert!(!folder.path().join("out").exists());
    }
}
