//! Rows of samples, and what is promised of them.

use serde::Serialize;

use super::ends::Measured;
use super::plan::{Case, Cores, Load, Placement, Stack};
use super::process::Account;

/// One run of a case.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    pub measured: Measured,
    pub bidder: Account,
    pub exchange: Account,
    pub bidder_peak_mib: f64,
    pub exchange_peak_mib: f64,
}

/// A row: medians of the rounds, CPU and switches a request.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub case: Case,
    /// Whether the ends were in network namespaces of their own.
    pub isolated: bool,
    pub p50_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub bidder_cpu_us: f64,
    pub exchange_cpu_us: f64,
    /// Least and most of the rounds, both sides.
    pub cpu_us_spread: (f64, f64),
    /// Null where the run was too short to tell.
    pub bidder_system_us: Option<f64>,
    pub exchange_system_us: Option<f64>,
    pub bidder_user_us: Option<f64>,
    pub exchange_user_us: Option<f64>,
    pub bidder_switches: f64,
    pub exchange_switches: f64,
    pub bidder_peak_mib: f64,
    pub exchange_peak_mib: f64,
    /// User instructions a call; null where not counted.
    pub bidder_instructions: Option<f64>,
    pub per_s: f64,
    pub errors: u64,
}

impl Row {
    /// The row of some rounds of so many calls.
    pub fn new(case: Case, isolated: bool, calls: u64, samples: &[Sample]) -> Row {
        let of = |figure: &dyn Fn(&Sample) -> f64| median(samples.iter().map(figure).collect());
        let calls = calls.max(1) as f64;
        let both: Vec<_> = samples
            .iter()
            .map(|one| hundredth((one.bidder.cpu_us + one.exchange.cpu_us) / calls))
            .collect();
        let bidder_cpu_us = hundredth(of(&|one| one.bidder.cpu_us / calls));
        let exchange_cpu_us = hundredth(of(&|one| one.exchange.cpu_us / calls));
        let share = |side: &dyn Fn(&Sample) -> Account| {
            let all = samples.iter().map(side);
            all.reduce(|sum, one| Account {
                system_ticks: sum.system_ticks + one.system_ticks,
                user_ticks: sum.user_ticks + one.user_ticks,
                ..sum
            })
            .and_then(Account::system_share)
        };
        let (bidder, exchange) = (share(&|one| one.bidder), share(&|one| one.exchange));
        Row {
            case,
            isolated,
            p50_us: hundredth(of(&|one| one.measured.p50_us)),
            p99_us: hundredth(of(&|one| one.measured.p99_us)),
            p999_us: hundredth(of(&|one| one.measured.p999_us)),
            bidder_cpu_us,
            exchange_cpu_us,
            cpu_us_spread: (
                both.iter().copied().fold(f64::INFINITY, f64::min),
                both.iter().copied().fold(0.0, f64::max),
            ),
            bidder_system_us: bidder.map(|share| hundredth(share * bidder_cpu_us)),
            exchange_system_us: exchange.map(|share| hundredth(share * exchange_cpu_us)),
            bidder_user_us: bidder.map(|share| hundredth((1.0 - share) * bidder_cpu_us)),
            exchange_user_us: exchange.map(|share| hundredth((1.0 - share) * exchange_cpu_us)),
            bidder_switches: hundredth(of(&|one| one.bidder.switches / calls)),
            exchange_switches: hundredth(of(&|one| one.exchange.switches / calls)),
            bidder_peak_mib: hundredth(of(&|one| one.bidder_peak_mib)),
            exchange_peak_mib: hundredth(of(&|one| one.exchange_peak_mib)),
            bidder_instructions: None,
            per_s: of(&|one| one.measured.per_s).round(),
            errors: samples.iter().map(|one| one.measured.errors).sum(),
        }
    }

    fn both(&self) -> f64 {
        self.bidder_cpu_us + self.exchange_cpu_us
    }
}

fn hundredth(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// The middle one; of two, what lies between.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = |at: usize| values.get(at).copied().unwrap_or(0.0);
    let half = values.len() / 2;
    match values.len() % 2 {
        1 => at(half),
        _ => (at(half.saturating_sub(1)) + at(half)) / 2.0,
    }
}

/// What is promised, each with its figure where the rows for it were run.
pub fn bounds(rows: &[Row]) -> Vec<String> {
    use Cores::{Free, Same};
    use Load::{Full, Paced, Saturated, Sequential, Shed};
    use Placement::{Tcp, Unix};
    use Stack::{Bare, GrpcGo, Nearbid, Tonic};
    let row = |placement, stack, cores, load| {
        let case = Case {
            placement,
            stack,
            cores,
            load,
        };
        rows.iter().find(|row| row.case == case)
    };
    let bidder = |stack, cores, load| Some(row(Unix, stack, cores, load)?.bidder_cpu_us);
    let both = |stack, load| Some(row(Unix, stack, Free, load)?.both());
    let counted = |stack| row(Unix, stack, Same, Sequential)?.bidder_instructions;
    let above_bare =
        |stack| Some(bidder(stack, Same, Sequential)? - bidder(Bare, Same, Sequential)?);
    let p50 = |placement| Some(row(placement, Nearbid, Same, Sequential)?.p50_us);
    [
        (
            "bidder instructions a call, unix, sequential: of tonic's",
            part(counted(Nearbid), counted(Tonic)),
            1.0 / 20.0,
        ),
        (
            "bidder CPU a call above bare, unix, same core, sequential: of tonic's",
            part(
                above_bare(Nearbid).map(|above| above.max(0.0)),
                above_bare(Tonic),
            ),
            1.0 / 5.0,
        ),
        (
            "both sides' CPU a request, unix, paced, free: of grpc-go's",
            part(both(Nearbid, Paced), both(GrpcGo, Paced)),
            1.0 / 6.0,
        ),
        (
            "p50 of ours, unix against tcp between pods, same core, sequential",
            part(p50(Unix), p50(Tcp)),
            0.6,
        ),
        (
            "bidder CPU a request, unix, saturated, free: of tonic's",
            part(
                bidder(Nearbid, Free, Saturated),
                bidder(Tonic, Free, Saturated),
            ),
            1.0 / 7.0,
        ),
        (
            "both sides' CPU µs a request, unix, full, free (a figure, not a test)",
            both(Nearbid, Full),
            2.0,
        ),
        (
            "a shed request's bidder CPU, unix, free: of a served no's under the same load",
            part(bidder(Nearbid, Free, Shed), bidder(Nearbid, Free, Full)),
            1.0,
        ),
    ]
    .into_iter()
    .map(|(what, value, at_most)| verdict(what, value, at_most))
    .collect()
}

fn part(of: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let whole = whole.filter(|whole| *whole > 0.0)?;
    Some(of? / whole)
}

fn verdict(what: &str, value: Option<f64>, at_most: f64) -> String {
    match value {
        None => format!("{what}: not measured (at most {at_most:.3})"),
        Some(value) => {
            let kept = if value <= at_most { "kept" } else { "MISSED" };
            format!("{what}: {value:.3} (at most {at_most:.3}: {kept})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle() {
        for (values, expect) in [
            (vec![], 0.0),
            (vec![3.0], 3.0),
            (vec![9.0, 1.0, 5.0], 5.0),
            (vec![4.0, 1.0], 2.5),
        ] {
            assert_eq!(median(values.clone()), expect, "{values:?}");
        }
    }

    #[test]
    fn a_bound_says_whether_it_is_kept() {
        let ends = |value, at_most, end: &str| {
            let said = verdict("a", value, at_most);
            assert!(said.ends_with(end), "{said}");
        };
        ends(Some(0.5), 0.6, "0.500 (at most 0.600: kept)");
        ends(Some(0.7), 0.6, "MISSED)");
        ends(
            part(Some(1.0), Some(0.0)),
            0.6,
            "not measured (at most 0.600)",
        );
        assert_eq!(bounds(&[]).len(), 7);
    }
}
