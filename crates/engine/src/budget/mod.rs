//! Money behind the decision (`docs/decisions.md`, "Budgets").
//!
//! A store of budgets ([`Budgets`]) outlives every set of line items: it knows an account for each
//! line item id, takes the notices, and forgets nothing on a reload. A [`Book`] is what the
//! decision sees of it for one catalog, by position, so that nothing is looked up on the path.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod memory;

pub use memory::{BudgetCounts, MemoryBook, MemoryBudgets, MemoryLimits};

use crate::{Block, Catalog, Position, Timestamp};
use openrtb::Micros;

/// Identity of a bid: 128 bits that the caller draws, so that nobody can guess another's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BidId(pub u128);

impl BidId {
    /// Reads what [`BidId`] prints: 32 hexadecimal digits, lower case.
    pub fn parse(text: &str) -> Option<BidId> {
        let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if text.len() != 32 || !text.bytes().all(digit) {
            return None;
        }
        u128::from_str_radix(text, 16).ok().map(BidId)
    }
}

impl core::fmt::Display for BidId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl core::fmt::Debug for BidId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "BidId({self})")
    }
}

/// What a notice did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The bid won; its reservation stands, and its money waits for the billing notice.
    Won,
    /// The bid won, although its reservation had expired.
    WonLate,
    /// The bid's reservation is settled at this amount.
    Settled(Micros),
    /// The bid's reservation had expired; this amount is settled all the same.
    SettledLate(Micros),
    /// The bid is lost: this amount is free again (nothing, where the reservation had expired).
    Released(Micros),
    /// The bid had this notice already, or was settled or released; nothing changed.
    Repeated,
    /// No such bid, or so long ago that it is forgotten; nothing changed.
    Unknown,
}

/// A store of budgets. Safe to call from many threads at once; time is passed in.
///
/// One suite, `conformance` (behind the feature of that name), runs on every store.
pub trait Budgets {
    /// What the decision sees for one catalog.
    type Book: Book;

    /// Opens the accounts of a catalog's line items. What was spent and reserved under an id
    /// stays; the ceilings are the catalog's from now on. Refunds show in the book opened last.
    fn open(&self, catalog: &Catalog, now: Timestamp) -> Self::Book;
    /// A win notice: it is remembered, and moves no money.
    fn win(&self, bid: BidId, now: Timestamp) -> Notice;
    /// A billing notice: the bid's reservation becomes spend at `price` a thousand impressions,
    /// for one impression, rounded up, and never above what was reserved.
    fn settle(&self, bid: BidId, price: Micros, now: Timestamp) -> Notice;
    /// A loss notice: what the bid reserved is free again.
    fn release(&self, bid: BidId, now: Timestamp) -> Notice;
    /// Takes back a bid that never left: as if it had not been made.
    fn cancel(&self, bid: BidId);
    /// Frees what is reserved by bids whose time is over; how many there were.
    fn expire(&self, now: Timestamp) -> usize;
}

/// The budgets of one catalog's line items.
pub trait Book {
    /// Called once a decision before anything else, so that the book can follow the UTC day.
    fn follow(&self, now: Timestamp);
    /// Of the line items of a block, those that may be able to pay for one impression at their
    /// `cpm`. A clear bit is right; a set one may not be, so [`Book::available`] decides.
    fn funded(&self, block: usize) -> Block;
    /// What is neither spent nor reserved: the smaller of total and daily. May be below zero.
    fn available(&self, at: Position, now: Timestamp) -> Micros;
    /// Reserves `amount` for `bid`, or does nothing and says false: not enough is available, too
    /// many reservations are open, or the bid id was used before.
    fn reserve(&self, at: Position, bid: BidId, amount: Micros, now: Timestamp) -> bool;
    /// As [`Budgets::cancel`].
    fn cancel(&self, bid: BidId);
    /// What is left of all ceilings together; line items without one do not count.
    fn left(&self, now: Timestamp) -> Micros;
}
