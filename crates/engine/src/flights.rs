//! Which line items are live, as a row that follows the clock.
//!
//! A row is right from one start or end of a flight until the next. Between those, the same
//! frozen row serves every thread, and to see that it still holds is two comparisons; whoever
//! first passes the end of it makes the next one, from the one before.

use crate::rows::{self, Row};
use crate::{BLOCK_LEN, Block, Catalog, LineItem, Status, Timestamp};
use std::sync::{Arc, Mutex, PoisonError};

/// The starts and ends of all flights.
#[derive(Debug)]
pub(crate) struct Flights {
    /// When each line item becomes live or ceases to be, in order. A line item is live before its
    /// first change if it has no start, and each of its changes turns that over.
    changes: Vec<(Timestamp, u32)>,
    latest: Mutex<Arc<Live>>,
}

/// The line items that are live in a stretch of time.
#[derive(Debug)]
pub(crate) struct Live {
    /// How many changes have happened.
    changed: usize,
    from: Timestamp,
    /// `None`: for ever.
    until: Option<Timestamp>,
    blocks: Vec<Block>,
    summary: Vec<u64>,
}

impl Flights {
    pub fn new(items: &[LineItem]) -> Flights {
        let mut blocks = vec![rows::NONE; items.len().div_ceil(BLOCK_LEN)];
        let mut changes = Vec::new();
        for (at, item) in (0u32..).zip(items) {
            let never = item
                .start
                .zip(item.end)
                .is_some_and(|(start, end)| end <= start);
            if item.status == Status::Paused || never {
                continue;
            }
            if item.start.is_none() {
                toggle(&mut blocks, at);
            }
            changes.extend(
                item.start
                    .into_iter()
                    .chain(item.end)
                    .map(|time| (time, at)),
            );
        }
        changes.sort_unstable();
        let always = Live {
            changed: 0,
            from: Timestamp::MIN,
            until: changes.first().map(|(time, _)| *time),
            summary: rows::summary(&blocks).collect(),
            blocks,
        };
        Flights {
            changes,
            latest: Mutex::new(Arc::new(always)),
        }
    }

    /// The row at `now`. Takes a lock: for when the row at hand does not cover `now`.
    #[cold]
    pub fn at(&self, now: Timestamp) -> Arc<Live> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if !latest.covers(now) {
            *latest = Arc::new(self.changed(&latest, now));
        }
        latest.clone()
    }

    /// The row at `now`, made from another one, earlier or later.
    fn changed(&self, from: &Live, now: Timestamp) -> Live {
        let changed = self.changes.partition_point(|(time, _)| *time <= now);
        let between = changed.min(from.changed)..changed.max(from.changed);
        let mut blocks = from.blocks.clone();
        for (_, at) in self.changes.get(between).unwrap_or_default() {
            toggle(&mut blocks, *at);
        }
        let before = changed
            .checked_sub(1)
            .and_then(|last| self.changes.get(last));
        Live {
            changed,
            from: before.map_or(Timestamp::MIN, |(time, _)| *time),
            until: self.changes.get(changed).map(|(time, _)| *time),
            summary: rows::summary(&blocks).collect(),
            blocks,
        }
    }
}

fn toggle(blocks: &mut [Block], at: u32) {
    let at = at as usize;
    let word = blocks.as_flattened_mut().get_mut(at / 64);
    if let Some(word) = word {
        *word ^= 1 << (at % 64);
    }
}

impl Live {
    /// Whether this is the row at `now`.
    #[inline]
    pub fn covers(&self, now: Timestamp) -> bool {
        self.from <= now && self.until.is_none_or(|until| now < until)
    }

    /// The row.
    pub fn row(&self) -> Row<'_> {
        Row::of(&self.blocks, &self.summary)
    }

    /// Whether any line item is live.
    pub fn any(&self) -> bool {
        self.summary.iter().any(|word| *word != 0)
    }
}

/// The live row that a thread has at hand, and whose it is.
#[derive(Debug, Default)]
pub(crate) struct LiveAtHand(Option<(Arc<Flights>, Arc<Live>)>);

impl LiveAtHand {
    /// Whether the row at hand is of this catalog.
    #[inline]
    pub fn is_of(&self, catalog: &Catalog) -> bool {
        matches!(&self.0, Some((flights, _)) if Arc::ptr_eq(flights, catalog.flights()))
    }

    /// The catalog's row at `now`.
    #[inline]
    pub fn at(&mut self, catalog: &Catalog, now: Timestamp) -> &Live {
        let of_catalog = self.is_of(catalog);
        match self.0.take() {
            Some(hand) if of_catalog && hand.1.covers(now) => &self.0.insert(hand).1,
            _ => {
                let flights = catalog.flights();
                &self.0.insert((flights.clone(), flights.at(now))).1
            }
        }
    }
}
