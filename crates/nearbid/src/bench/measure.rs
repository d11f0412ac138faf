//! Rounds, CPU time and allocations.
//!
//! CPU time of the one thread that works, not time by the clock: others use the machine too. What a
//! path shares with all others (the copy out of the "socket") is measured apart, right before or
//! after, and subtracted. A path is run once untimed before, so that the two find the requests in
//! the same cache.

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// One path through all requests.
pub struct Contender<'c> {
    /// Its name in rows.
    pub path: &'static str,
    /// How many requests a pass works on.
    pub items: usize,
    /// One pass of the work.
    pub work: Box<dyn FnMut() + 'c>,
    /// One pass of what the work includes and does not count.
    pub base: Box<dyn FnMut() + 'c>,
}

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
    for round in 0..rounds {
        for (contender, samples) in contenders.iter_mut().zip(&mut samples) {
            uncounted(|| samples.push(sample(contender, round % 2 == 0)));
        }
        between()?;
    }
    let rows = contenders.iter().zip(&samples).zip(counts);
    Ok(rows
        .map(|((contender, samples), counts)| Row::new(contender.path, samples, counts))
        .collect())
}

/// Nanoseconds a request of one round.
fn sample(contender: &mut Contender<'_>, base_first: bool) -> f64 {
    (contender.base)();
    let (work, base) = if base_first {
        let base = timed(&mut contender.base);
        (timed(&mut contender.work), base)
    } else {
        (timed(&mut contender.work), timed(&mut contender.base))
    };
    net(work, base, contender.items)
}

/// What one item costs beyond what the copy alone does.
fn net(work_ns: f64, base_ns: f64, items: usize) -> f64 {
    (work_ns - base_ns) / items.max(1) as f64
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

/// Allocations and bytes a request. The first pass warms up what is kept.
#[cfg(feature = "peers")]
fn count(contender: &mut Contender<'_>) -> Option<(f64, f64)> {
    (contender.work)();
    let (base, work) = (
        allocation_counter::measure(|| (contender.base)()),
        allocation_counter::measure(|| (contender.work)()),
    );
    let share = |work: u64, base: u64| (work - base) as f64 / contender.items.max(1) as f64;
    let allocs = share(work.count_total, base.count_total);
    Some((allocs, share(work.bytes_total, base.bytes_total)))
}

/// Without peers the system's allocator stays as it is, and nobody counts.
#[cfg(not(feature = "peers"))]
fn count(contender: &mut Contender<'_>) -> Option<(f64, f64)> {
    (contender.work)();
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
    fn what_the_work_includes_is_subtracted() {
        for (work, base, items, expect) in [
            (30.0, 10.0, 4, 5.0),
            (10.0, 10.0, 4, 0.0),
            (3.0, 1.0, 0, 2.0),
        ] {
            assert_eq!(net(work, base, items), expect, "{work} {base} {items}");
        }
    }
}
