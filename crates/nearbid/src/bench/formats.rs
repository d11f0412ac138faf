//! Reading a request in each format, and deciding on it: a no, on the example line items.

use std::hint::black_box;

use anyhow::ensure;
use wire::Format;

use super::Options;
use super::decider::{Decide, Decider, Describe, Setup};
use super::measure::{self, Contender};
use super::paths::{InPlace, Open};
use super::report::{Bound, Report};
use super::requests::Requests;

/// What is promised: a path costs at most this part of another.
#[rustfmt::skip]
const BOUNDS: [Bound; 8] = [
    Bound::new("flatbuffers/in_place", "protobuf/decode_all", 35.0),
    Bound::new("flatbuffers/in_place", "flatbuffers/verified_root", 25.0),
    Bound::new("flatbuffers/in_place", "go/flatbuffers", 2.0),
    Bound::new("protobuf/in_place", "protobuf/decode_all", 14.0),
    Bound::new("protobuf/in_place", "go/protobuf", 20.0),
    Bound::new("json/in_place", "json/decode_all", 11.0),
    Bound::new("json/in_place", "json/sonic_narrow", 2.3),
    Bound::new("json/in_place", "go/json", 9.0),
];

/// Runs the bench.
///
/// # Errors
/// Two paths decide differently, or one fails.
pub fn run(options: &Options) -> anyhow::Result<Report> {
    let setup = Setup::example()?;
    let requests = Requests::draw(options.requests(), options.seed, &setup)?;
    let mut entrants = Entrants {
        setup: &setup,
        requests: &requests,
        contenders: Vec::new(),
    };
    entrants.enter(
        "flatbuffers/in_place",
        Format::FlatBuffers,
        InPlace::new(Format::FlatBuffers),
    )?;
    entrants.enter(
        "protobuf/in_place",
        Format::Protobuf,
        InPlace::new(Format::Protobuf),
    )?;
    entrants.enter("json/in_place", Format::Json, InPlace::new(Format::Json))?;
    #[cfg(feature = "peers")]
    enter_peers(&mut entrants)?;
    let (rows, notes) = race(entrants.contenders, options, &setup, &requests)?;
    let title = "Reading a request in place, and deciding on it";
    let mut report = Report::new("formats", title, options, rows);
    report.notes.push(traffic(&requests));
    report.notes.extend(notes);
    report.bounds = BOUNDS.to_vec();
    Ok(report)
}

/// The paths of the race, each known to decide as the naive twin does.
struct Entrants<'r> {
    setup: &'r Setup,
    requests: &'r Requests,
    contenders: Vec<Contender<'r>>,
}

impl<'r> Entrants<'r> {
    fn enter<P: Open + 'r>(
        &mut self,
        path: &'static str,
        format: Format,
        mut by: P,
    ) -> anyhow::Result<()> {
        let mut decider = Decider::new(self.setup)?;
        for (number, request) in self.requests.all.iter().enumerate() {
            let decision = by.open(request.bytes(format), Describe(&mut decider));
            let decision = decision.unwrap_or_else(|refusal| format!("{refusal:?}"));
            ensure!(
                decision == request.decision,
                "{path} decides differently on request {number}:\n  {decision}\n  {}",
                request.decision
            );
        }
        let requests: Vec<_> = self
            .requests
            .none()
            .map(|request| request.bytes(format))
            .collect();
        let mut sockets = Sockets::new(&requests);
        self.contenders.push(Contender {
            path,
            items: requests.len(),
            pass: Box::new(move |watch| {
                for round in requests.chunks(Sockets::COUNT) {
                    let received = sockets.receive(round);
                    watch.time(|| {
                        for bytes in received {
                            let _ = black_box(by.open(bytes, Decide(&mut decider)));
                        }
                    });
                }
            }),
        });
        Ok(())
    }
}

/// The receive buffers of some connections, used again and again. All of a round come in before the
/// first is decided on, as those that are ready do: a read from a socket is over when it returns, but a
/// copy goes on while the processor has begun with what follows, which would pay for it. So many fit
/// into the nearest caches, as what was just received does.
struct Sockets(Vec<Vec<u8>>);

impl Sockets {
    const COUNT: usize = 16;

    fn new(requests: &[&[u8]]) -> Sockets {
        let longest = requests.iter().map(|bytes| bytes.len()).max().unwrap_or(0);
        let buffer = |_| Vec::with_capacity(longest);
        Sockets((0..Self::COUNT).map(buffer).collect())
    }

    /// What is received of a round.
    fn receive(&mut self, round: &[&[u8]]) -> &[Vec<u8>] {
        for (buffer, bytes) in self.0.iter_mut().zip(round) {
            buffer.clear();
            buffer.extend_from_slice(bytes);
        }
        black_box(&mut self.0);
        self.0.get(..round.len()).unwrap_or_default()
    }
}

#[cfg(feature = "peers")]
fn enter_peers(entrants: &mut Entrants<'_>) -> anyhow::Result<()> {
    use super::paths::peer::{FlatBuffers, Planus, PlanusOwned, Prost, SerdeJson, Sonic};
    entrants.enter(
        "flatbuffers/verified_root",
        Format::FlatBuffers,
        FlatBuffers,
    )?;
    entrants.enter("flatbuffers/planus", Format::FlatBuffers, Planus)?;
    entrants.enter("flatbuffers/decode_all", Format::FlatBuffers, PlanusOwned)?;
    entrants.enter("protobuf/decode_all", Format::Protobuf, Prost)?;
    entrants.enter("json/decode_all", Format::Json, SerdeJson)?;
    entrants.enter("json/sonic_narrow", Format::Json, Sonic)
}

/// Races, with Go's rounds between ours where there is Go.
#[cfg(feature = "peers")]
fn race(
    mut contenders: Vec<Contender<'_>>,
    options: &Options,
    setup: &Setup,
    requests: &Requests,
) -> anyhow::Result<(Vec<measure::Row>, Vec<String>)> {
    let mut go = match super::go::Go::start(setup, requests)? {
        Ok(go) => go,
        Err(why) => {
            let rows = measure::race(&mut contenders, options.rounds(), || Ok(()))?;
            return Ok((rows, vec![format!("No rows of Go: {why}.")]));
        }
    };
    let mut rows = measure::race(&mut contenders, options.rounds(), || go.round())?;
    let (of_go, note) = go.rows();
    rows.extend(of_go);
    Ok((rows, vec![note]))
}

#[cfg(not(feature = "peers"))]
fn race(
    mut contenders: Vec<Contender<'_>>,
    options: &Options,
    _: &Setup,
    _: &Requests,
) -> anyhow::Result<(Vec<measure::Row>, Vec<String>)> {
    let rows = measure::race(&mut contenders, options.rounds(), || Ok(()))?;
    Ok((rows, vec![super::report::WITHOUT_PEERS.to_owned()]))
}

/// What was decided on.
fn traffic(requests: &Requests) -> String {
    let bids = requests.all.len() - requests.none().len();
    let mean = |format: Format| {
        let bytes: usize = requests
            .none()
            .map(|request| request.bytes(format).len())
            .sum();
        bytes / requests.none().len().max(1)
    };
    let reasons: Vec<_> = requests
        .reasons()
        .into_iter()
        .map(|(reason, count)| format!("{reason} {count}"))
        .collect();
    format!(
        "{} different requests that get no bid ({}); on these and {bids} that get bids all paths \
         decide alike. Mean length: FlatBuffers {}, protobuf {}, JSON {} bytes.",
        requests.none().len(),
        reasons.join(", "),
        mean(Format::FlatBuffers),
        mean(Format::Protobuf),
        mean(Format::Json),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_path_decides_alike_and_has_a_row() {
        let report = run(&Options::least()).unwrap();
        let json = report.json();
        for format in ["flatbuffers", "protobuf", "json"] {
            assert!(
                json.contains(&format!("\"path\":\"{format}/in_place\"")),
                "{json}"
            );
        }
        let peers = json.contains("\"path\":\"protobuf/decode_all\"");
        assert_eq!(peers, cfg!(feature = "peers"), "{json}");
        assert!(
            report.text().contains("48 different requests"),
            "{}",
            report.text()
        );
    }
}
