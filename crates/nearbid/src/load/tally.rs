//! Counts answers and writes down decisions, in the order of the requests.
//!
//! Replies come back in any order; two runs can only be compared when their decisions stand in the
//! same one. What has come early waits here. It is little: a call ends within its timeout, so no
//! more can wait than the rate allows in that time.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

use sha2::{Digest, Sha256};

use super::answer::Answer;

/// What came of a run's requests.
#[derive(Debug)]
pub struct Tally<W> {
    counts: Counts,
    digest: Sha256,
    decisions: Option<W>,
    /// Number of the request that `early` begins with.
    next: u64,
    early: VecDeque<Option<String>>,
}

/// Answers by kind. `bids`, `no_bids` and `errors` add up to the requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that got at least one bid.
    pub bids: u64,
    /// Requests without a bid, by reason.
    pub no_bids: BTreeMap<String, u64>,
    /// Calls that failed, by gRPC status code, and replies that are no answer (`BAD_REPLY`).
    pub errors: BTreeMap<String, u64>,
}

impl Counts {
    fn add(&mut self, answer: &Answer) {
        match answer {
            Answer::Bids { .. } => self.bids += 1,
            Answer::NoBid { no_bid, .. } => *self.no_bids.entry(no_bid.clone()).or_default() += 1,
            Answer::Error { error } => *self.errors.entry(error.clone()).or_default() += 1,
        }
    }

    /// All answers.
    pub fn requests(&self) -> u64 {
        self.bids + self.no_bids.values().sum::<u64>() + self.errors.values().sum::<u64>()
    }
}

impl<W: Write> Tally<W> {
    /// An empty one. `decisions` gets one line a request, in their order.
    pub fn new(decisions: Option<W>) -> Tally<W> {
        Tally {
            counts: Counts::default(),
            digest: Sha256::new(),
            decisions,
            next: 0,
            early: VecDeque::new(),
        }
    }

    /// Takes the answer to request `index`.
    ///
    /// # Errors
    /// The decisions cannot be written.
    pub fn add(&mut self, index: u64, answer: &Answer) -> io::Result<()> {
        self.counts.add(answer);
        let line = answer.line();
        let Some(ahead) = index
            .checked_sub(self.next)
            .and_then(|n| usize::try_from(n).ok())
        else {
            return Ok(());
        };
        if ahead >= self.early.len() {
            self.early.resize(ahead + 1, None);
        }
        if let Some(slot) = self.early.get_mut(ahead) {
            *slot = Some(line);
        }
        self.settle()
    }

    /// Writes what stands in order now.
    fn settle(&mut self) -> io::Result<()> {
        while let Some(Some(line)) = self.early.front_mut().map(Option::take) {
            self.early.pop_front();
            self.next += 1;
            self.digest.update(line.as_bytes());
            if let Some(decisions) = &mut self.decisions {
                decisions.write_all(line.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Requests answered so far.
    pub fn answered(&self) -> u64 {
        self.counts.requests()
    }

    /// The counts, and the SHA-256 of the decisions' lines in hexadecimal.
    ///
    /// # Errors
    /// The decisions cannot be written.
    pub fn finish(mut self) -> io::Result<(Counts, String)> {
        if let Some(decisions) = &mut self.decisions {
            decisions.flush()?;
        }
        let hex = self
            .digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok((self.counts, hex))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn no_bid(id: &str) -> Answer {
        Answer::NoBid {
            id: Some(id.to_owned()),
            no_bid: "floor".to_owned(),
            nbr: 507,
        }
    }

    fn run(order: &[u64]) -> (Counts, String, String) {
        let mut lines = Vec::new();
        let mut tally = Tally::new(Some(&mut lines));
        for index in order {
            tally.add(*index, &no_bid(&index.to_string())).unwrap();
        }
        let (counts, digest) = tally.finish().unwrap();
        (counts, digest, String::from_utf8(lines).unwrap())
    }

    #[test]
    fn the_order_of_replies_does_not_matter() {
        let in_order = run(&[0, 1, 2, 3, 4]);
        assert_eq!(in_order, run(&[4, 2, 0, 1, 3]));
        assert_eq!(in_order.0.no_bids["floor"], 5);
        assert_eq!(in_order.2.lines().count(), 5);
        assert_ne!(in_order.1, run(&[0, 1, 2, 3]).1);
    }

    #[test]
    fn the_digest_is_that_of_the_lines() {
        let (_, digest, lines) = run(&[1, 0]);
        let expect: String = Sha256::digest(lines.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(digest, expect);
    }
}
