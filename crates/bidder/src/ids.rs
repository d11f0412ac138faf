//! Bid ids: unique, also across restarts and threads, and from those that a peer has seen it
//! cannot tell another one's. A notice is money, so an id must not be guessed.

use std::hash::{BuildHasher, RandomState};

use engine::BidId;

/// Draws the bid ids of one thread: a counter under a keyed hash. The keys are random, read from
/// the system once when this is made.
#[derive(Debug)]
pub struct BidIds {
    high: RandomState,
    low: RandomState,
    drawn: u64,
}

impl Default for BidIds {
    fn default() -> Self {
        BidIds {
            high: RandomState::new(),
            low: RandomState::new(),
            drawn: 0,
        }
    }
}

impl BidIds {
    /// The next id.
    pub fn draw(&mut self) -> BidId {
        self.drawn = self.drawn.wrapping_add(1);
        let (high, low) = (
            self.high.hash_one(self.drawn),
            self.low.hash_one(self.drawn),
        );
        BidId(u128::from(high) << 64 | u128::from(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_of_two_threads_differ() {
        let draw = || {
            let mut ids = BidIds::default();
            (0..1000).map(|_| ids.draw()).collect::<Vec<_>>()
        };
        let other = std::thread::spawn(draw).join().unwrap_or_default();
        let all: HashSet<_> = draw().into_iter().chain(draw()).chain(other).collect();
        assert_eq!(all.len(), 3000);
    }
}
