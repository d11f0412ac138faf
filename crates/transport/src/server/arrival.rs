//! How long bytes may have waited before they were read: what tells a thread that is behind.
//!
//! The kernel does not say when bytes came. But it says, whenever it is asked for events, which
//! connections have some; one that is not among them has none at that moment. So what is read of it
//! next came later, and what is left in a socket after a full read is as old as what was read.

use std::time::{Duration, Instant};

/// A longer time between asking for events and the first read was spent asleep: nothing was there when
/// the kernel was asked, and the first that came ended the sleep.
const AWAKE_MAX: Duration = Duration::from_micros(50);

/// When a thread asked for events.
#[derive(Debug)]
pub(super) struct Rounds {
    asked: Instant,
    /// Whether the round before had as many events as are taken at once: more may have been there.
    is_full: bool,
    /// Whether something was read since, and in the round before.
    has_read: bool,
    had_read: bool,
    /// Connections that had nothing to be read the last time but one that the kernel was asked had
    /// nothing before this.
    quiet: Instant,
    /// When the first read of the round at hand was.
    first: Instant,
}

impl Rounds {
    pub fn new(now: Instant) -> Rounds {
        Rounds {
            asked: now,
            is_full: false,
            has_read: false,
            had_read: false,
            quiet: now,
            first: now,
        }
    }

    /// Events are asked for next; `is_full`: those at hand are as many as are taken at once.
    pub fn ask(&mut self, now: Instant, is_full: bool) {
        self.asked = now;
        self.is_full = is_full;
        self.had_read = std::mem::take(&mut self.has_read);
    }

    /// Something was read at `now` of a connection that had nothing in the round before: it came
    /// after this.
    pub fn read(&mut self, now: Instant) -> Instant {
        if !self.has_read {
            let slept = now.saturating_duration_since(self.asked) > AWAKE_MAX;
            self.quiet = if slept {
                now
            } else if self.is_full {
                self.quiet
            } else if self.had_read {
                self.first
            } else {
                // The round before had nothing, or was cut short by a signal: it took no time.
                self.asked
            };
            self.first = now;
            self.has_read = true;
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

    /// A round: when events were asked for, and what was then read: which connection, when, whether
    /// all of it; how long that may have waited. All in microseconds.
    type Round<'r> = (u64, &'r [(usize, u64, bool, u64)]);

    #[track_caller]
    fn check(rounds: &[Round<'_>]) {
        let start = Instant::now();
        let at = |us| start + Duration::from_micros(us);
        let mut state = Rounds::new(start);
        let mut connections = [Arrival::new(start), Arrival::new(start)];
        for (asked, reads) in rounds {
            state.ask(at(*asked), false);
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
            (10, &[(0, 1000, true, 0)]),
            (1010, &[(0, 9000, true, 0), (1, 9001, true, 1)]),
        ]);
    }

    /// A process that is stopped and goes on is told of a signal first.
    #[test]
    fn what_follows_a_round_without_events_is_fresh() {
        check(&[
            (10, &[(0, 1000, true, 0)]),
            (1010, &[]),
            (500_000, &[(0, 500_010, true, 10), (1, 500_020, true, 20)]),
        ]);
    }

    #[test]
    fn what_came_during_a_round_is_as_old_as_the_round() {
        check(&[
            (10, &[(0, 1000, true, 0)]),
            // It had nothing at 1000, and something at 1400.
            (1400, &[(1, 1401, true, 401)]),
            // It was read at 1000, and had nothing at 1401.
            (1900, &[(0, 1910, true, 509), (1, 1950, true, 549)]),
        ]);
    }

    #[test]
    fn what_did_not_get_its_turn_may_be_older() {
        let start = Instant::now();
        let at = |us| start + Duration::from_micros(us);
        for (is_full, quiet) in [(false, 1400), (true, 1020)] {
            let mut rounds = Rounds::new(start);
            for (asked, is_full, read) in [
                (0, false, 1000),
                (1010, false, 1020),
                (1390, false, 1400),
                (1410, is_full, 1420),
            ] {
                rounds.ask(at(asked), is_full);
                rounds.read(at(read));
            }
            assert_eq!(rounds.quiet, at(quiet), "{is_full}");
        }
    }

    #[test]
    fn what_a_full_read_left_is_as_old_as_what_it_took() {
        check(&[
            (10, &[(0, 1000, false, 0)]),
            (2000, &[(0, 2001, false, 1001), (1, 2500, true, 1500)]),
            (4000, &[(0, 4001, true, 3001)]),
            (4100, &[(0, 4101, true, 100)]),
        ]);
    }
}
