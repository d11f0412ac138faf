//! The decision: which line items bid for a request, at what price, and if none does, why not.
//!
//! Pure: no async, no I/O, no clock, no wire format. Time, randomness and the request's view are
//! passed in, so the same request, line items, budgets and clock give the same decision. The
//! rules are in `docs/decisions.md`.

mod banner_sizes;
mod budget;
mod catalog;
mod change;
mod decision;
mod flights;
mod fold;
mod index;
mod intern;
mod item;
mod keyed;
mod keys;
mod matching;
pub mod naive;
mod price;
mod rows;
mod rules;
mod systems;
mod targeting;

#[cfg(feature = "conformance")]
pub use budget::conformance::budgets_conformance;
pub use budget::{
    BidId, Book, BudgetCounts, Budgets, MemoryBook, MemoryBudgets, MemoryLimits, Notice,
};
pub use catalog::{Catalog, CatalogError, Position, Snapshot};
pub use decision::{Bid, Decision, Invalid, Outcome};
pub use item::{BudgetCeilings, Creative, LineItem, Status, Timestamp, VideoSize};
pub use matching::{Scratch, WORK_MAX, decide};
pub use price::Rates;
pub use targeting::{
    Categories, Chosen, Hours, Inventory, Numbers, OsTarget, Places, Targeting, Version,
};

/// Line items of a block; the index walks positions in blocks.
pub const BLOCK_LEN: usize = 512;

/// A set of line items of one block: bit `i % 64` of word `i / 64` is position
/// `block × BLOCK_LEN + i`.
pub type Block = [u64; BLOCK_LEN / 64];
