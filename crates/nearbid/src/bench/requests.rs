//! Generated requests in all formats, and the decisions on them.

use anyhow::ensure;
use wire::message::BidRequest;
use wire::{Format, Reader};

use super::decider::{Decider, DescribeNaively, Setup};
use crate::generate::Traffic;

/// So many requests are drawn at most for one that gets no bid.
const DRAWS_A_NO_MAX: usize = 16;

/// Requests: a no is what nearly all answers are and what the bench times, but the decisions on
/// those that get bids are compared too.
pub struct Requests {
    /// All that were drawn.
    pub all: Vec<Request>,
    /// Which of them get no bid.
    none: Vec<usize>,
}

/// One request.
pub struct Request {
    /// Owned.
    pub owned: BidRequest,
    /// In the formats, by the place of each in [`Format::ALL`].
    bytes: [Box<[u8]>; 3],
    /// What the naive twin decides, as `nearbid decide` prints it.
    pub decision: String,
}

impl Request {
    /// The request in a format.
    pub fn bytes(&self, format: Format) -> &[u8] {
        let [protobuf, flatbuffers, json] = &self.bytes;
        match format {
            Format::Protobuf => protobuf,
            Format::FlatBuffers => flatbuffers,
            Format::Json => json,
        }
    }

    /// Whether it gets a bid.
    pub fn has_bids(&self) -> bool {
        !self.decision.contains("\"no_bid\"")
    }
}

impl Requests {
    /// Draws until `count` requests get no bid.
    ///
    /// # Errors
    /// Nearly all get bids, or one cannot be read.
    pub fn draw(count: usize, seed: u64, setup: &Setup) -> anyhow::Result<Requests> {
        let mut decider = Decider::new(setup)?;
        let mut reader = Reader::default();
        let (mut all, mut none) = (Vec::new(), Vec::new());
        for owned in Traffic::new(seed) {
            let bytes = Format::ALL.map(|format| encoded(format, &owned));
            let [protobuf, ..] = &bytes;
            let visit = DescribeNaively(&mut decider);
            let decision = reader
                .read(Format::Protobuf, protobuf, visit)
                .map_err(|refusal| {
                    anyhow::anyhow!("a generated request is refused: {refusal:?}")
                })?;
            let request = Request {
                owned,
                bytes,
                decision,
            };
            if !request.has_bids() {
                none.push(all.len());
            }
            all.push(request);
            if none.len() == count {
                break;
            }
            ensure!(
                all.len() < count * DRAWS_A_NO_MAX,
                "too few requests get no bid"
            );
        }
        Ok(Requests { all, none })
    }

    /// Those that get no bid.
    pub fn none(&self) -> impl ExactSizeIterator<Item = &Request> + Clone {
        self.none
            .iter()
            .filter_map(|at| self.all.get(*at))
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// How many get no bid, by reason, the most frequent first.
    pub fn reasons(&self) -> Vec<(String, usize)> {
        let mut counts = std::collections::BTreeMap::new();
        for request in self.none() {
            let line: serde_json::Value =
                serde_json::from_str(&request.decision).unwrap_or_default();
            let reason = line.get("no_bid").and_then(|reason| reason.as_str());
            *counts.entry(reason.unwrap_or("?").to_owned()).or_insert(0) += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

fn encoded(format: Format, request: &BidRequest) -> Box<[u8]> {
    let mut bytes = Vec::new();
    wire::encode(format, request, &mut bytes);
    bytes.into()
}
