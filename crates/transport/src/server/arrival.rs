//! How long bytes may have waited before they were read: what tells a thread that is behind.
//!
//! The kernel does not say when bytes came. But it says, whenever it is asked for events, which
//! connections have some; one that is not among them has none at that moment. So what is read of it
//! next came later, and what is left in a socket after a full read is as old as what was read.
//!
//! What ends a sleep is fresh, whatever kept the thread from running then. So a thread that was at work
//! for long asks without waiting first: if nothing is there, it sleeps next.

use std::time::{Duration, Instant};

/// A shorter round of events is over before anything can have waited for it.
const LONG_MIN: Duration = Duration::from_micros(50);

/// A thread's rounds of events: asking for them, and what is read then.
#[derive(Debug)]
pub(super) struct Rounds {
    /// When the first read of the round at hand, or of the last one that had one, was.
    first: Instant,
    /// Whether something was read in the round at hand.
    has_read: bool,
    /// Of the round before: whether it was long, and whether it had as many events as are taken at
    /// once, so that more may have been there.
    was_long: bool,
    was_full: bool,
    /// What is read of a connection that had nothing to be read the last time came after this.
    quiet: Instant,
}

impl Rounds {
    pub fn new(now: Instant) -> Rounds {
        Rounds {
            first: now,
            has_read: false,
            was_long: false,
            was_full: false,
            quiet: now,
        }
    }

    /// Events are asked for next; `is_full`: those at hand are as many as are taken at once. Gives
    /// whether to ask without waiting first.
    pub fn ask(&mut self, now: Instant, is_full: bool) -> bool {
        let has_read = std::mem::take(&mut self.has_read);
        self.was_long = has_read && now.saturating_duration_since(self.first) >= LONG_MIN;
        self.was_full = is_full;
        self.was_long || self.was_full
    }

    /// There was nothing, without waiting.
    pub fn nothing(&mut self) {
        (self.was_long, self.was_full) = (false, false);
    }

    /// Something was read at `now` of a connection that had nothing in the round before: it came
    /// after this.
    pub fn read(&mut self, now: Instant) -> Instant {
        if !std::mem::replace(&mut self.has_read, true) {
            self.quiet = match (self.was_full, self.was_long) {
                (true, _) => self.quiet,
                (false, true) => self.first,
                (false, false) => now,
            };
            self.first = now;
        }
        self.quiet
    }
}

/// A connection's part of it.
#[derive(Debug)]
pub(super) struct Arrival {
    /// When it was last read.
    read: Instant,
    /// What is still to be read came after this, where the last read did not take all there was.
    left: Option<Instant>,
}

impl Arrival {
    pub fn new(now: Instant) -> Arrival {
        Arrival {
            read: now,
            left: None,
        }
    }

    /// What was read at `now` came after the moment this gives; `all`: nothing was left.
    pub fn read(&mut self, now: Instant, all: bool, rounds: &mut Rounds) -> Instant {
        let quiet = rounds.read(now);
        let after = self.left.unwrap_or_else(|| quiet.max(self.read)).min(now);
        self.read = now;
        self.left = (!all).then_some(after);
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was there when events were asked for.
    #[derive(Clone, Copy, PartialEq)]
    enum There {
        /// Nothing: the thread slept until something came.
        Nothing,
        /// Something at once.
        Some,
        /// The same, and the round before had as many events as are taken at once.
        More,
    }
    use There::{More, Nothing, Some as Any};

    /// A round: when events were asked for, what was there, and what was then read: which connection,
    /// when, whether all of it; how long that may have waited. In microseconds.
    type Round<'r> = (u64, There, &'r [(usize, u64, bool, u64)]);

    #[track_caller]
    fn check(rounds: &[Round<'_>]) {
        let start = Instant::now();
        let at = |us| start + Duration::from_micros(us);
        let mut state = Rounds::new(start);
        let mut connections = [Arrival::new(start), Arrival::new(start)];
        for (asked, there, reads) in rounds {
            if state.ask(at(*asked), *there == More) && *there == Nothing {
                state.nothing();
            }
            for (which, now, all, waited) in *reads {
                let Some(connection) = connections.get_mut(*which) else {
                    continue;
                };
                let after = connection.read(at(*now), *all, &mut state);
                let got = at(*now).saturating_duration_since(after);
                assert_eq!(got, Duration::from_micros(*waited), "{asked} {which} {now}");
            }
        }
    }

    #[test]
    fn what_ends_a_sleep_is_fresh() {
        check(&[
            (10, Nothing, &[(0, 1000, true, 0)]),
            (1010, Nothing, &[(0, 9000, true, 0), (1, 9001, true, 1)]),
            // A long round.
            (9900, Nothing, &[(1, 20_000, true, 0)]),
        ]);
    }

    /// A process that is stopped and goes on is told of a signal first.
    #[test]
    fn what_follows_a_round_without_events_is_fresh() {
        check(&[
            (10, Nothing, &[(0, 1000, true, 0)]),
            (1900, Nothing, &[]),
            (
                500_000,
                Any,
                &[(0, 500_010, true, 0), (1, 500_020, true, 10)],
            ),
        ]);
    }

    #[test]
    fn what_came_during_a_round_is_as_old_as_the_round() {
        check(&[
            (10, Nothing, &[(0, 1000, true, 0)]),
            // It had nothing at 1000, and something at 1400.
            (1400, Any, &[(1, 1401, true, 401)]),
            // It was read at 1000, and had nothing at 1401.
            (1900, Any, &[(0, 1910, true, 509), (1, 1950, true, 549)]),
        ]);
    }

    #[test]
    fn what_did_not_get_its_turn_may_be_older() {
        for (there, waited) in [(Any, 100), (More, 500)] {
            check(&[
                (10, Nothing, &[(0, 1000, true, 0)]),
                (1390, Any, &[(0, 1400, true, 400)]),
                (1490, there, &[(1, 1500, true, waited)]),
            ]);
        }
    }

    #[test]
    fn what_a_full_read_left_is_as_old_as_what_it_took() {
        check(&[
            (10, Nothing, &[(0, 1000, false, 0)]),
            (2000, Any, &[(0, 2001, false, 1001), (1, 2500, true, 1500)]),
            (4000, Any, &[(0, 4001, true, 3001)]),
            (4100, Any, &[(0, 4101, true, 100)]),
        ]);
    }
}
