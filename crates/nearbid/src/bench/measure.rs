//! Rounds, CPU time and allocations.
//!
//! CPU time of the one thread that works, not time by the clock: others use the machine too. What a
//! path shares with all others (the copy out of the "socket") is no part of what the watch counts.

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// One path through all requests.
pub struct Contender<'c> {
    /// Its name in rows.
    pub path: &'static str,
    /// How many requests a pass works on.
    pub items: usize,
    /// One pass, which says what of it counts.
    pub pass: Pass<'c>,
}

/// One pass over all requests.
pub type Pass<'c> = Box<dyn FnMut(&mut Watch) + 'c>;

/// Adds up the thread's CPU time over the parts of a pass that count.
#[derive(Debug, Default)]
pub struct Watch {
    ns: f64,
    parts: u32,
}

impl Watch {
    /// Counts what `part` takes.
    pub fn time<R>(&mut self, part: impl FnOnce() -> R) -> R {
        let start = cpu_ns();
        let result = part();
        self.ns += (cpu_ns() - start) as f64;
        self.parts += 1;
        result
    }

    /// Nanoseconds, less what the watch itself takes.
    fn net_ns(&self, idle_ns: f64) -> f64 {
        self.ns - idle_ns * f64::from(self.parts)
    }

    /// Nanoseconds that it counts around nothing: the median, as one that is interrupted counts more.
    fn idle_ns() -> f64 {
        let once = |_| {
            let mut watch = Watch::default();
            watch.time(|| ());
            watch.ns
        };
        quartiles(&(0..IDLE_PARTS).map(once).collect::<Vec<_>>()).1
    }
}

/// So often a watch is read around nothing.
const IDLE_PARTS: u32 = 1001;

/// What a request costs on a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The path.
    pub path: String,
    /// CPU time in nanoseconds: the median of the rounds.
    pub ns: f64,
    /// The lower and the upper quartile of the rounds.
    pub ns_spread: (f64, f64),
    /// Allocations; `None` where they are not counted.
    pub allocs: Option<f64>,
    /// Bytes allocated; `None` where they are not counted.
    pub bytes: Option<f64>,
}

impl Row {
    /// A row of these rounds.
    pub fn new(path: &str, rounds: &[f64], counts: Option<(f64, f64)>) -> Row {
        let (low, ns, high) = quartiles(rounds);
        Row {
            path: path.to_owned(),
            ns: tenth(ns),
            ns_spread: (tenth(low), tenth(high)),
            allocs: counts.map(|(allocs, _)| hundredth(allocs)),
            bytes: counts.map(|(_, bytes)| hundredth(bytes)),
        }
    }
}

/// Runs all paths, round by round; `between` is called in every round, for what runs elsewhere.
pub fn race(
    contenders: &mut [Contender<'_>],
    rounds: usize,
    mut between: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Vec<Row>> {
    let counts: Vec<_> = contenders.iter_mut().map(count).collect();
    let mut samples = vec![Vec::with_capacity(rounds); contenders.len()];
    for _ in 0..rounds {
        for (contender, samples) in contenders.iter_mut().zip(&mut samples) {
            uncounted(|| samples.push(sample(contender)));
        }
        between()?;
    }
    let rows = contenders.iter().zip(&samples).zip(counts);
    Ok(rows
        .map(|((contender, samples), counts)| Row::new(contender.path, samples, counts))
        .collect())
}

/// Nanoseconds a request of one round.
fn sample(contender: &mut Contender<'_>) -> f64 {
    let idle_ns = Watch::idle_ns();
    let mut watch = Watch::default();
    (contender.pass)(&mut watch);
    watch.net_ns(idle_ns) / contender.items.max(1) as f64
}

/// Nanoseconds of CPU time that `work` takes on this thread.
pub fn timed(work: &mut dyn FnMut()) -> f64 {
    let start = cpu_ns();
    work();
    (cpu_ns() - start) as f64
}

fn cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Allocations and bytes a request, of whole passes: what a pass does beside the work allocates nothing
/// once it is warm, which the first pass is for.
#[cfg(feature = "peers")]
fn count(contender: &mut Contender<'_>) -> Option<(f64, f64)> {
    let mut pass = || (contender.pass)(&mut Watch::default());
    pass();
    let counted = allocation_counter::measure(pass);
    let share = |of: u64| of as f64 / contender.items.max(1) as f64;
    Some((share(counted.count_total), share(counted.bytes_total)))
}

/// Without peers the system's allocator stays as it is, and nobody counts.
#[cfg(not(feature = "peers"))]
fn count(contender: &mut Contender<'_>) -> Option<(f64, f64)> {
    (contender.pass)(&mut Watch::default());
    None
}

/// Counting costs time itself, so not while the clock runs.
fn uncounted(work: impl FnOnce()) {
    #[cfg(feature = "peers")]
    allocation_counter::opt_out(work);
    #[cfg(not(feature = "peers"))]
    work();
}

/// The lower quartile, the median and the upper quartile; zeros of nothing.
pub fn quartiles(samples: &[f64]) -> (f64, f64, f64) {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * sorted.len().saturating_sub(1) as f64;
        let of = |place: f64| sorted.get(place as usize).copied().unwrap_or(0.0);
        let (below, above) = (of(place.floor()), of(place.ceil()));
        below + (above - below) * place.fract()
    };
    (at(0.25), at(0.5), at(0.75))
}

/// Rounded to tenths.
pub fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn hundredth(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn check(samples: &[f64], expect: (f64, f64, f64)) {
        assert_eq!(quartiles(samples), expect, "{samples:?}");
    }

    #[test]
    fn quartiles_lie_between_the_samples() {
        check(&[], (0.0, 0.0, 0.0));
        check(&[7.0], (7.0, 7.0, 7.0));
        check(&[2.0, 1.0], (1.25, 1.5, 1.75));
        check(&[5.0, 1.0, 4.0, 2.0, 3.0], (2.0, 3.0, 4.0));
    }

    #[test]
    fn what_is_timed_counts_and_nothing_else() {
        let burn = || {
            let start = cpu_ns();
            while cpu_ns() - start < 2_000_000 {}
        };
        let mut watch = Watch::default();
        for _ in 0..3 {
            burn();
            watch.time(burn);
        }
        assert_eq!(watch.parts, 3);
        assert!((6e6..9e6).contains(&watch.ns), "{watch:?}");
    }

    #[test]
    fn the_watch_does_not_count_itself() {
        for (ns, parts, idle_ns, expect) in [
            (30.0, 2, 5.0, 20.0),
            (10.0, 1, 10.0, 0.0),
            (0.0, 0, 7.0, 0.0),
        ] {
            let watch = Watch { ns, parts };
            assert_eq!(watch.net_ns(idle_ns), expect, "{watch:?} {idle_ns}");
        }
    }
}
