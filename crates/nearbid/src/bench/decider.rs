//! The decision that every path has to come to, on the example line items.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use engine::{
    BidId, Catalog, Decision, LineItem, MemoryBook, MemoryBudgets, MemoryLimits, Rates, Scratch,
    Snapshot, Timestamp,
};
use engine::{Book as _, naive};
use openrtb::{Currency, Micros, Reason, RequestView};
use wire::Visit;

use crate::decide;

/// The example line items, as JSON.
pub const LINE_ITEMS: &str = include_str!("../../../../examples/line-items.json");
/// What a unit of each currency is worth in micros of the base currency.
const RATES: [(&str, Micros); 3] = [
    ("EUR", Micros(1_080_000)),
    ("GBP", Micros(1_270_000)),
    ("JPY", Micros(6_700)),
];
/// The moment of every decision: 2026-06-01T12:00:00Z, 1,780,315,200 seconds.
const NOW: Timestamp = Timestamp(1_780_315_200_000_000);

/// What to decide with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The line items.
    pub items: Vec<LineItem>,
    /// The base currency and what others are worth in it.
    pub rates: Rates,
    /// The moment of every decision.
    pub now: Timestamp,
}

impl Setup {
    /// The example line items.
    ///
    /// # Errors
    /// They are not what they should be.
    pub fn example() -> anyhow::Result<Setup> {
        let items = bidder::line_items::parse(Path::new("examples/line-items.json"), LINE_ITEMS)?;
        let rates = Setup::rates()
            .collect::<Option<Vec<_>>>()
            .context("a currency of the bench")?;
        Ok(Setup {
            items,
            rates: Rates::new(Currency::USD, rates),
            now: NOW,
        })
    }

    /// The rates, for those who decide elsewhere.
    pub fn rates() -> impl Iterator<Item = Option<(Currency, Micros)>> {
        RATES
            .into_iter()
            .map(|(code, rate)| Some((Currency::parse(code)?, rate)))
    }
}

/// Decides, and takes back what bids reserve, so that every request finds the same budgets.
pub struct Decider {
    snapshot: Snapshot<MemoryBook>,
    rates: Rates,
    now: Timestamp,
    scratch: Scratch,
    drawn: u128,
}

impl Decider {
    /// A decider over these line items.
    ///
    /// # Errors
    /// Two line items have the same id.
    pub fn new(setup: &Setup) -> anyhow::Result<Decider> {
        let budgets = MemoryBudgets::new(MemoryLimits::default());
        let catalog = Arc::new(Catalog::build(setup.items.clone())?);
        Ok(Decider {
            snapshot: Snapshot::open(catalog, &budgets, setup.now),
            rates: setup.rates.clone(),
            now: setup.now,
            scratch: Scratch::default(),
            drawn: 0,
        })
    }
}

/// Leaves the budgets as they were.
fn take_back(decision: &Decision<'_>, snapshot: &Snapshot<MemoryBook>) {
    for bid in decision.bids() {
        snapshot.book().cancel(bid.id);
    }
}

/// Decides; what comes of it is the number of the reason, or 0 for bids.
pub struct Decide<'d>(pub &'d mut Decider);

impl Visit for Decide<'_> {
    type Out = i32;

    #[inline]
    fn visit<'a, V: RequestView<'a>>(self, view: &V) -> i32 {
        let Decider {
            snapshot,
            rates,
            now,
            scratch,
            drawn,
        } = self.0;
        let mut ids = || next_id(drawn);
        let decision = engine::decide(view, snapshot, rates, *now, scratch, &mut ids);
        take_back(&decision, snapshot);
        decision.no_bid().map_or(0, Reason::nbr)
    }
}

/// Decides; what comes of it is the decision as `nearbid decide` prints it.
pub struct Describe<'d>(pub &'d mut Decider);

impl Visit for Describe<'_> {
    type Out = String;

    fn visit<'a, V: RequestView<'a>>(self, view: &V) -> String {
        let Decider {
            snapshot,
            rates,
            now,
            scratch,
            drawn,
        } = self.0;
        let mut ids = || next_id(drawn);
        let decision = engine::decide(view, snapshot, rates, *now, scratch, &mut ids);
        take_back(&decision, snapshot);
        line(&decision, rates.base())
    }
}

/// As [`Describe`], by the naive twin: what all others have to say.
pub struct DescribeNaively<'d>(pub &'d mut Decider);

impl Visit for DescribeNaively<'_> {
    type Out = String;

    fn visit<'a, V: RequestView<'a>>(self, view: &V) -> String {
        let Decider {
            snapshot,
            rates,
            now,
            drawn,
            ..
        } = self.0;
        let mut ids = || next_id(drawn);
        let decision = naive::decide(view, snapshot, rates, *now, &mut ids);
        take_back(&decision, snapshot);
        line(&decision, rates.base())
    }
}

fn next_id(drawn: &mut u128) -> BidId {
    *drawn += 1;
    BidId(*drawn)
}

fn line(decision: &Decision<'_>, base: Currency) -> String {
    let mut line = Vec::new();
    decide::write_decision(decision, base, &mut line);
    String::from_utf8(line).unwrap_or_default()
}
