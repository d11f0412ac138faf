//! Building a request in each format from an owned one, into a buffer that is used again and again.
//!
//! Whoever builds has just made the request, so it lies in the cache. Here 8,192 others were built
//! since, so each is first walked from end to end; the walk is measured apart and subtracted.

use std::hint::black_box;
use std::rc::Rc;

#[cfg(feature = "peers")]
use anyhow::{Context as _, ensure};
use wire::Format;

use super::Options;
use super::decider::Setup;
use super::measure::{self, Contender};
use super::report::{self, Bound, Report};
use super::requests::Requests;

const BOUNDS: [Bound; 4] = [
    Bound::new("flatbuffers/build", "flatbuffers/library", 2.5),
    Bound::new("flatbuffers/template", "flatbuffers/library", 8.0),
    Bound::new("flatbuffers/template", "protobuf/build", 1.0),
    Bound::new("protobuf/build", "protobuf/library", 3.0),
];

/// Runs the bench.
///
/// # Errors
/// A library builds something else than we do, or fails.
pub fn run(options: &Options) -> anyhow::Result<Report> {
    let setup = Setup::example()?;
    let requests = Requests::draw(options.requests(), options.seed, &setup)?;
    let mut contenders = vec![
        ours("flatbuffers/build", Format::FlatBuffers, &requests),
        ours("protobuf/build", Format::Protobuf, &requests),
        ours("json/build", Format::Json, &requests),
    ];
    #[cfg(feature = "peers")]
    contenders.extend(libraries(&requests)?);
    let mut rows = measure::race(&mut contenders, options.rounds(), || Ok(()))?;
    let faster = rows
        .iter()
        .filter(|row| LIBRARIES.contains(&row.path.as_str()));
    if let Some(mut row) = faster.min_by(|a, b| a.ns.total_cmp(&b.ns)).cloned() {
        row.path = "flatbuffers/library".to_owned();
        rows.push(row);
    }
    let mut report = Report::new(
        "build",
        "Building a request from an owned one",
        options,
        rows,
    );
    report.bounds = BOUNDS.to_vec();
    let note = if cfg!(feature = "peers") {
        "Library: prost, serde_json, and of the crate flatbuffers and planus the faster. What each \
         builds reads back as the same request as what we build."
    } else {
        report::WITHOUT_PEERS
    };
    report.notes.push(note.to_owned());
    Ok(report)
}

/// The libraries that build FlatBuffers.
const LIBRARIES: [&str; 2] = ["flatbuffers/official", "flatbuffers/planus"];

fn ours<'r>(path: &'static str, format: Format, requests: &'r Requests) -> Contender<'r> {
    let owned: Vec<_> = requests.none().map(|request| &request.owned).collect();
    let mut out = Vec::new();
    contender(path, owned, move |request| {
        out.clear();
        wire::encode(format, *request, &mut out);
        black_box(&out);
    })
}

fn contender<'r, T: PartialEq + 'r>(
    path: &'static str,
    requests: Vec<T>,
    mut build: impl FnMut(&T) + 'r,
) -> Contender<'r> {
    let requests = Rc::new(requests);
    let walked = Rc::clone(&requests);
    Contender {
        path,
        items: requests.len(),
        work: Box::new(move || {
            for request in requests.iter() {
                walk(request);
                build(request);
            }
        }),
        base: Box::new(move || walked.iter().for_each(walk)),
    }
}

/// Reads all of a request: it is held against itself, and only we know that.
fn walk<T: PartialEq>(request: &T) {
    black_box(black_box(request) == black_box(request));
}

#[cfg(feature = "peers")]
fn libraries(requests: &Requests) -> anyhow::Result<Vec<Contender<'_>>> {
    use peers::{read, write};
    let (mut official, mut planus) = (write::FlatBuffers::default(), write::Planus::default());
    let (mut message, mut text) = (Vec::new(), Vec::new());
    let of = |path, format| Library {
        path,
        format,
        requests,
    };
    Ok(vec![
        of("flatbuffers/official", Format::FlatBuffers)
            .enter(read::planus_owned, move |request, keep| {
                keep(official.build(request))
            })?,
        of("flatbuffers/planus", Format::FlatBuffers)
            .enter(read::planus_owned, move |request, keep| {
                keep(planus.build(request))
            })?,
        of("protobuf/library", Format::Protobuf).enter(read::prost, move |request, keep| {
            let _ = black_box(write::prost(request, &mut message));
            keep(&message);
        })?,
        of("json/library", Format::Json).enter(read::serde_json, move |request, keep| {
            let _ = black_box(write::serde_json(request, &mut text));
            keep(&text);
        })?,
    ])
}

/// A library as a path.
#[cfg(feature = "peers")]
struct Library<'r> {
    path: &'static str,
    format: Format,
    requests: &'r Requests,
}

#[cfg(feature = "peers")]
impl<'r> Library<'r> {
    /// The path, once what it builds is known to read back as what we build. `build` hands what it
    /// built to its second argument.
    fn enter<T: PartialEq + 'r>(
        self,
        read: fn(&[u8]) -> openrtb::Read<T>,
        mut build: impl FnMut(&T, &mut dyn FnMut(&[u8])) + 'r,
    ) -> anyhow::Result<Contender<'r>> {
        let Library {
            path,
            format,
            requests,
        } = self;
        let mut all = Vec::with_capacity(requests.none().len());
        for request in requests.none() {
            let ours = request.bytes(format);
            let owned = read(ours).map_err(|_| anyhow::anyhow!("{path} refuses a request"))?;
            let mut theirs = Vec::new();
            build(&owned, &mut |bytes| theirs.extend_from_slice(bytes));
            ensure!(
                decoded(format, &theirs)? == decoded(format, ours)?,
                "{path} builds something else"
            );
            all.push(owned);
        }
        let mut keep = |bytes: &[u8]| {
            black_box(bytes);
        };
        Ok(contender(path, all, move |request| {
            build(request, &mut keep)
        }))
    }
}

#[cfg(feature = "peers")]
fn decoded(format: Format, bytes: &[u8]) -> anyhow::Result<wire::message::BidRequest> {
    wire::decode(format, bytes, &wire::Limits::default()).context("reading back what was built")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_builder_has_a_row() {
        let json = run(&Options::least()).unwrap().json();
        assert!(json.contains("\"path\":\"flatbuffers/build\""), "{json}");
        let peers = json.contains("\"path\":\"flatbuffers/library\"");
        assert_eq!(peers, cfg!(feature = "peers"), "{json}");
    }
}
