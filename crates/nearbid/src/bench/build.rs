//! Building a request in each format from an owned one, into a buffer that is used again and again.
//!
//! Whoever builds has just made the request, so it lies in the cache. Here 8,192 others were built
//! since, so each is first walked from end to end, and so is its template; only then the watch counts.
//!
//! Generated requests of a placement differ in more than a template lets them. So what a template
//! cannot patch is taken from the first request of the placement, and all paths build the same.

use std::collections::HashMap;
use std::hint::black_box;

use anyhow::{Context as _, ensure};
use wire::message::BidRequest;
use wire::template::{ImpPatch, Patch, Template};
use wire::{Encoder, Format};

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
    let drawn = Requests::draw(options.requests(), options.seed, &setup)?;
    let drawn: Vec<_> = drawn.none().map(|request| &request.owned).collect();
    let requests = Placed::all(&drawn)?;
    let templates = Format::ALL.map(|format| Templates::lay_out(format, &requests));
    for templates in &templates {
        templates.check(&requests)?;
    }
    let mut contenders = Vec::new();
    for (format, path) in PATHS {
        contenders.push(ours(path, format, &requests));
    }
    for (templates, path) in templates.iter().zip(TEMPLATE_PATHS) {
        contenders.push(templates.contender(path, &requests));
    }
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
    let placements = templates.first().map_or(0, |templates| templates.all.len());
    let count = requests.len();
    report.notes.push(format!(
        "Templates: {count} requests of {placements} placements, which come in no order."
    ));
    Ok(report)
}

const PATHS: [(Format, &str); 3] = [
    (Format::FlatBuffers, "flatbuffers/build"),
    (Format::Protobuf, "protobuf/build"),
    (Format::Json, "json/build"),
];

/// In the order of [`Format::ALL`].
const TEMPLATE_PATHS: [&str; 3] = ["protobuf/template", "flatbuffers/template", "json/template"];

/// Impressions of a generated request, at most.
const IMPS_MAX: usize = 16;

/// A request, and the number of the placement it is of.
struct Placed {
    request: BidRequest,
    placement: usize,
}

impl Placed {
    /// All requests, each with what a template cannot patch taken from the first of its placement: of
    /// those whose impressions have the same `tagid`s.
    fn all(drawn: &[&BidRequest]) -> anyhow::Result<Vec<Placed>> {
        let mut firsts: HashMap<Vec<_>, (usize, &BidRequest)> = HashMap::new();
        let mut all = Vec::with_capacity(drawn.len());
        for &request in drawn {
            let imps: Vec<_> = request.imp.iter().map(ImpPatch::of).collect();
            ensure!(imps.len() <= IMPS_MAX, "too many impressions");
            let tags: Vec<_> = request.imp.iter().map(|imp| &imp.tagid).collect();
            let next = firsts.len();
            let (placement, first) = *firsts.entry(tags).or_insert((next, request));
            let mut placed = first.clone();
            Patch::of(request, &imps).apply(&mut placed)?;
            all.push(Placed {
                request: placed,
                placement,
            });
        }
        Ok(all)
    }
}

/// A template for every placement.
struct Templates {
    format: Format,
    all: Vec<Template>,
}

impl Templates {
    fn lay_out(format: Format, requests: &[Placed]) -> Templates {
        let mut all = Vec::new();
        for Placed { request, placement } in requests {
            if *placement == all.len() {
                all.push(Template::new(format, request));
            }
        }
        Templates { format, all }
    }

    fn fill<'e>(&self, placed: &Placed, encoder: &'e mut Encoder) -> Option<&'e [u8]> {
        let mut imps = [ImpPatch::default(); IMPS_MAX];
        for (patch, imp) in imps.iter_mut().zip(&placed.request.imp) {
            *patch = ImpPatch::of(imp);
        }
        let imps = imps.get(..placed.request.imp.len())?;
        let template = self.all.get(placed.placement)?;
        template
            .fill(&Patch::of(&placed.request, imps), encoder)
            .ok()
    }

    /// Makes sure that every template is filled to what is built of the whole request.
    fn check(&self, requests: &[Placed]) -> anyhow::Result<()> {
        let (mut encoder, mut whole) = (Encoder::new(), Encoder::new());
        for placed in requests {
            let filled = self
                .fill(placed, &mut encoder)
                .context("a template is missing")?;
            let built = whole.encode(self.format, &placed.request);
            ensure!(
                decoded(self.format, filled)? == decoded(self.format, built)?,
                "a template makes something else"
            );
            #[cfg(feature = "peers")]
            ensure!(
                self.format != Format::FlatBuffers || peers::read::flatbuffers(filled).is_ok(),
                "the crate flatbuffers refuses what a template makes"
            );
        }
        Ok(())
    }

    fn contender<'r>(&'r self, path: &'static str, requests: &'r [Placed]) -> Contender<'r> {
        let mut encoder = Encoder::new();
        let walk = |placed: &&Placed| {
            walk(&placed.request);
            walk(&self.all.get(placed.placement));
        };
        contender(path, requests.iter().collect(), walk, move |placed| {
            black_box(self.fill(placed, &mut encoder));
        })
    }
}

/// The libraries that build FlatBuffers.
const LIBRARIES: [&str; 2] = ["flatbuffers/official", "flatbuffers/planus"];

fn ours<'r>(path: &'static str, format: Format, requests: &'r [Placed]) -> Contender<'r> {
    let owned: Vec<_> = requests.iter().map(|placed| &placed.request).collect();
    let mut encoder = Encoder::new();
    contender(path, owned, walk, move |request| {
        black_box(encoder.encode(format, *request));
    })
}

fn contender<'r, T: 'r>(
    path: &'static str,
    requests: Vec<T>,
    walk: impl Fn(&T) + Copy + 'r,
    mut build: impl FnMut(&T) + 'r,
) -> Contender<'r> {
    Contender {
        path,
        items: requests.len(),
        pass: Box::new(move |watch| {
            for some in requests.chunks(WALKED) {
                some.iter().for_each(walk);
                watch.time(|| some.iter().for_each(&mut build));
            }
        }),
    }
}

/// So many requests are walked, then built: few enough to lie in the cache, and enough that reading
/// the watch is little beside them.
const WALKED: usize = 4;

/// Reads all of a request: it is held against itself, and only we know that.
fn walk<T: PartialEq>(request: &T) {
    black_box(black_box(request) == black_box(request));
}

#[cfg(feature = "peers")]
fn libraries(requests: &[Placed]) -> anyhow::Result<Vec<Contender<'_>>> {
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
    requests: &'r [Placed],
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
        let mut all = Vec::with_capacity(requests.len());
        let mut encoder = Encoder::new();
        for placed in requests {
            let ours = encoder.encode(format, &placed.request);
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
        Ok(contender(path, all, walk, move |request| {
            build(request, &mut keep)
        }))
    }
}

fn decoded(format: Format, bytes: &[u8]) -> anyhow::Result<BidRequest> {
    wire::decode(format, bytes, &wire::Limits::default()).context("reading back what was built")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_builder_has_a_row() {
        let json = run(&Options::least()).unwrap().json();
        for (_, path) in PATHS {
            assert!(json.contains(&format!("\"path\":\"{path}\"")), "{json}");
        }
        for path in TEMPLATE_PATHS {
            assert!(json.contains(&format!("\"path\":\"{path}\"")), "{json}");
        }
        let peers = json.contains("\"path\":\"flatbuffers/library\"");
        assert_eq!(peers, cfg!(feature = "peers"), "{json}");
    }
}
