//! Line items, frozen: in price order, so that the first that is left is the best.

use crate::change::Change;
use crate::flights::Flights;
use crate::index::Index;
use crate::rules::{Ruled, Rules};
use crate::{Book, Budgets, LineItem, Timestamp};
use core::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// A line item's place in a [`Catalog`]: 0 is the highest `cpm`, equal ones by the bytes of `id`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position(pub(crate) u32);

impl Position {
    /// The place, counted from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The line items that may bid, and their index. Made once, never changed; a reload makes another,
/// which has what it can of the one before.
#[derive(Debug)]
pub struct Catalog {
    items: Vec<LineItem>,
    by_id: Arc<HashMap<Box<str>, Position>>,
    pub(crate) index: Index,
    pub(crate) rules: Arc<Rules>,
    /// Never another catalog's: it tells them from each other.
    flights: Arc<Flights>,
}

/// Why line items make no catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogError {
    /// These ids occur more than once; each is named once, sorted.
    Duplicates(Vec<String>),
    /// There are more than [`Catalog::LINE_ITEMS_MAX`].
    TooMany {
        /// How many there are.
        line_items: usize,
    },
}

impl core::fmt::Display for CatalogError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            CatalogError::Duplicates(ids) => {
                write!(f, "line item ids occur more than once: {}", ids.join(", "))
            }
            CatalogError::TooMany { line_items } => {
                let max = Catalog::LINE_ITEMS_MAX;
                write!(f, "{line_items} line items; at most {max} are allowed")
            }
        }
    }
}

impl std::error::Error for CatalogError {}

impl Catalog {
    /// How many line items a catalog may hold.
    pub const LINE_ITEMS_MAX: usize = 16 << 20;

    /// Freezes line items: sorts them by price and builds their index.
    pub fn build(items: Vec<LineItem>) -> Result<Catalog, CatalogError> {
        Catalog::after(None, items)
    }

    /// Builds the catalog that takes this one's place: the same as [`Catalog::build`] makes of the
    /// line items, but what this one knows of them and is still so is shared and not built again.
    /// Where budgets, flights or markup are all that changed that is everything; another target or
    /// price builds the dimension that it is of. With a line item more or less, or a price that
    /// moves one to another place, nothing is shared.
    pub fn rebuild(&self, items: Vec<LineItem>) -> Result<Catalog, CatalogError> {
        Catalog::after(Some(self), items)
    }

    fn after(before: Option<&Catalog>, mut items: Vec<LineItem>) -> Result<Catalog, CatalogError> {
        if items.len() > Self::LINE_ITEMS_MAX {
            let line_items = items.len();
            return Err(CatalogError::TooMany { line_items });
        }
        sort(&mut items);
        let change = Change::new(before, &items);
        let by_id = match change.before() {
            Some(before) => before.by_id.clone(),
            None => Arc::new(positions(&items)?),
        };
        Ok(Catalog {
            by_id,
            index: Index::new(&change),
            rules: change.part(|was| &was.rules, Ruled::from, Rules::new),
            flights: Arc::new(Flights::new(&items)),
            items,
        })
    }

    /// The line item at a position of this catalog; `None` for another catalog's past the end.
    pub fn item(&self, at: Position) -> Option<&LineItem> {
        self.items.get(at.index())
    }

    /// The line items in the order of their positions.
    pub fn items(&self) -> impl Iterator<Item = (Position, &LineItem)> {
        (0..).map(Position).zip(&self.items)
    }

    /// Where the line item with this id is.
    pub fn position_of(&self, id: &str) -> Option<Position> {
        self.by_id.get(id).copied()
    }

    /// When which line items are live. Also what tells this catalog from every other one.
    pub(crate) fn flights(&self) -> &Arc<Flights> {
        &self.flights
    }

    /// How many line items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// Puts line items in the order of their positions: by keys, for line items are large to move.
fn sort(items: &mut [LineItem]) {
    items.sort_by_cached_key(|item| Reverse(item.cpm));
    for alike in items.chunk_by_mut(|a, b| a.cpm == b.cpm) {
        alike.sort_by_cached_key(|item| item.id.clone());
    }
}

fn positions(items: &[LineItem]) -> Result<HashMap<Box<str>, Position>, CatalogError> {
    let mut by_id = HashMap::with_capacity(items.len());
    let mut duplicates = Vec::new();
    for (at, item) in (0..).map(Position).zip(items) {
        if by_id.insert(item.id.as_str().into(), at).is_some() {
            duplicates.push(item.id.clone());
        }
    }
    if duplicates.is_empty() {
        return Ok(by_id);
    }
    duplicates.sort();
    duplicates.dedup();
    Err(CatalogError::Duplicates(duplicates))
}

/// What a decision reads: a frozen catalog and the book of its budgets. Swapped whole.
#[derive(Debug)]
pub struct Snapshot<K: Book> {
    catalog: Arc<Catalog>,
    book: K,
}

impl<K: Book> Snapshot<K> {
    /// Opens the catalog's accounts in a store of budgets; what was spent and reserved under a
    /// line item's id stays.
    pub fn open<B>(catalog: Arc<Catalog>, budgets: &B, now: Timestamp) -> Snapshot<K>
    where
        B: Budgets<Book = K>,
    {
        let book = budgets.open(&catalog, now);
        Snapshot { catalog, book }
    }

    /// The line items.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Their budgets.
    pub fn book(&self) -> &K {
        &self.book
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::{Creative, Hours, Numbers, OsTarget, Status, Targeting, Timestamp};
    use openrtb::{Country, DeviceType, MediaType, Micros};

    fn item(id: &str, cpm: i64) -> LineItem {
        LineItem::plain(id, Micros(cpm))
    }

    #[test]
    fn positions_follow_price_then_the_bytes_of_the_id() {
        let items = vec![item("b", 1), item("é", 2), item("z", 2), item("a", 1)];
        let catalog = Catalog::build(items).unwrap();
        let ids: Vec<_> = catalog.items().map(|(_, item)| item.id.as_str()).collect();
        assert_eq!(ids, ["z", "é", "a", "b"]);
        for (at, item) in catalog.items() {
            assert_eq!(catalog.position_of(&item.id), Some(at));
            assert_eq!(catalog.item(at), Some(item));
        }
        assert_eq!(catalog.position_of("c"), None);
    }

    #[test]
    fn ids_are_unique() {
        let items = ["b", "a", "b", "a", "b", "c"]
            .map(|id| item(id, 1))
            .to_vec();
        let error = Catalog::build(items).unwrap_err();
        assert_eq!(
            error,
            CatalogError::Duplicates(vec!["a".into(), "b".into()])
        );
    }

    fn creative() -> Creative {
        Creative {
            w: Some(300),
            h: Some(250),
            ..Creative::plain(MediaType::Banner)
        }
    }

    /// Three line items, at three prices.
    fn catalog() -> Catalog {
        let items = [("a", 30), ("b", 20), ("c", 10)].map(|(id, cpm)| LineItem {
            creatives: vec![creative()],
            ..item(id, cpm)
        });
        Catalog::build(items.to_vec()).unwrap()
    }

    /// The parts of a catalog that another one does not share.
    fn not_shared(of: &Catalog, with: &Catalog) -> Vec<&'static str> {
        let parts = |of: &Catalog| {
            let rules = ("rules", Arc::as_ptr(&of.rules).cast());
            let by_id = ("by_id", Arc::as_ptr(&of.by_id).cast());
            let mut parts = of.index.parts();
            parts.extend([rules, by_id]);
            parts
        };
        let parts = parts(of).into_iter().zip(parts(with));
        parts
            .filter(|(a, b)| a != b)
            .map(|((name, _), _)| name)
            .collect()
    }

    /// `rebuilt` is all that is built when the second line item changes.
    fn check(change: impl Fn(&mut LineItem), rebuilt: &[&str]) {
        let before = catalog();
        let mut items = before.items.clone();
        let again = before.rebuild(items.clone()).unwrap();
        assert!(not_shared(&again, &before).is_empty());
        items.reverse();
        change(&mut items[1]);
        let after = again.rebuild(items).unwrap();
        assert_eq!(not_shared(&after, &before), rebuilt);
        assert!(!Arc::ptr_eq(after.flights(), again.flights()));
    }

    #[test]
    fn what_the_index_does_not_hold_builds_nothing() {
        check(|item| item.budget.total = Some(Micros(1)), &[]);
        check(|item| item.status = Status::Paused, &[]);
        check(|item| item.start = Some(Timestamp(1)), &[]);
        check(|item| item.end = Some(Timestamp(1)), &[]);
        check(|item| item.creatives[0].id = "d".into(), &[]);
        check(|item| item.creatives[0].adm = "<div/>".into(), &[]);
    }

    #[test]
    fn a_price_that_keeps_its_place_builds_prices() {
        check(|item| item.cpm = Micros(19), &["prices"]);
    }

    #[test]
    fn what_rules_are_about_builds_them() {
        check(|item| item.seat = "s".into(), &["rules"]);
        check(|item| item.adomain.push("b.example".into()), &["rules"]);
        check(|item| item.cat.push("IAB1".into()), &["rules"]);
        check(|item| item.cattax = 6, &["rules"]);
        check(|item| item.bundle = Some("app".into()), &["rules"]);
        check(|item| item.creatives[0].w = Some(728), &["rules"]);
        check(|item| item.creatives[0].secure = false, &["rules"]);
        check(|item| item.creatives[0].mime = Some("m".into()), &["rules"]);
        check(|item| item.creatives[0].attr.push(1), &["rules"]);
        check(|item| item.creatives[0].apis.push(1), &["rules"]);
        check(|item| item.creatives[0].protocol = Some(1), &["rules"]);
        check(|item| item.creatives[0].duration = Some(1), &["rules"]);
        let native = |item: &mut LineItem| item.creatives[0].media = MediaType::Native;
        check(native, &["formats", "rules"]);
        check(|item| item.creatives.push(creative()), &["rules"]);
    }

    #[test]
    fn a_target_builds_its_dimension() {
        let check = |change: fn(&mut Targeting), dimension| {
            check(|item| change(&mut item.targeting), &[dimension]);
        };
        check(|of| of.deals.push("d".into()), "deals");
        check(
            |of| of.countries.extend(Country::from_alpha3("USA")),
            "countries",
        );
        check(|of| of.device_types.push(DeviceType::PHONE), "device_types");
        check(|of| of.video_size.min_w = Some(1), "sizes");
        check(|of| of.places = Some(Box::default()), "places");
        check(
            |of| {
                of.os = [OsTarget {
                    name: "x".into(),
                    min_version: None,
                    max_version: None,
                }]
                .into()
            },
            "systems",
        );
        check(|of| of.channels = Numbers::default().with(1), "channels");
        check(|of| of.inventory = Some(Box::default()), "inventory");
        check(|of| of.publishers = Some(Box::default()), "publishers");
        check(|of| of.categories = Some(Box::default()), "categories");
        check(|of| of.languages = Some(Box::default()), "languages");
        check(
            |of| of.connection_types = Numbers::default().with(1),
            "connection_types",
        );
        check(|of| of.hours = Hours::default().with(0, 0, 1), "hours");
        check(|of| of.positions = Numbers::default().with(1), "positions");
        check(|of| of.plcmts = Numbers::default().with(1), "plcmts");
        check(|of| of.interstitial = Some(true), "interstitial");
        check(|of| of.rewarded = Some(true), "rewarded");
    }

    #[test]
    fn what_moves_comes_or_goes_builds_all() {
        let before = catalog();
        let all = before.index.parts().len() + 2;
        let changes: [fn(&mut Vec<LineItem>); 4] = [
            |items| items[1].cpm = Micros(31),
            |items| items[1].id = "d".into(),
            |items| items.push(item("d", 1)),
            |items| items.truncate(2),
        ];
        for change in changes {
            let mut items = before.items.clone();
            change(&mut items);
            let after = before.rebuild(items).unwrap();
            assert_eq!(not_shared(&after, &before).len(), all);
        }
        let twice = [before.items.clone(), before.items.clone()].concat();
        assert!(before.rebuild(twice).is_err());
    }
}
