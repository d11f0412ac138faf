//! When each request is due: at a fixed rate from the start, whatever the replies do.
//!
//! A load that waits for replies sends less when the bidder is slow, and its percentiles then hide
//! just what one wants to see (coordinated omission). So a request's time is a function of its
//! number alone, and its latency counts from that time even if it was sent later.

use std::time::Duration;

const NANOS_PER_S: u128 = 1_000_000_000;

/// A fixed rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    per_s: u128,
}

impl Pace {
    /// `per_s` requests a second, at least 1.
    pub fn new(per_s: u32) -> Pace {
        Pace {
            per_s: u128::from(per_s.max(1)),
        }
    }

    /// How long after the start request `index`, counted from 0, is due.
    pub fn due(self, index: u64) -> Duration {
        let nanos = u128::from(index) * NANOS_PER_S / self.per_s;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// How many requests are due within `time` (request 0 at once).
    pub fn within(self, time: Duration) -> u64 {
        let whole = time.as_nanos().saturating_mul(self.per_s) / NANOS_PER_S;
        u64::try_from(whole).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(per_s: u32, index: u64, due_ns: u64) {
        assert_eq!(Pace::new(per_s).due(index), Duration::from_nanos(due_ns));
    }

    #[test]
    fn requests_are_due_at_even_distances() {
        check(10_000, 0, 0);
        check(10_000, 1, 100_000);
        check(10_000, 20_000, 2_000_000_000);
        check(3, 1, 333_333_333);
        check(3, 3, 1_000_000_000);
        check(0, 2, 2_000_000_000);
        check(1, u64::MAX, u64::MAX);
    }

    #[test]
    fn rounding_never_adds_up() {
        let pace = Pace::new(7);
        for second in 0..100_000 {
            assert_eq!(pace.due(second * 7), Duration::from_secs(second));
        }
    }

    #[test]
    fn within_counts_what_is_due_before() {
        assert_eq!(Pace::new(2000).within(Duration::from_millis(1500)), 3000);
        assert_eq!(Pace::new(3).within(Duration::from_secs(10)), 30);
        assert_eq!(Pace::new(u32::MAX).within(Duration::MAX), u64::MAX);
    }
}
