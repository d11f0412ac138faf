//! Line items, frozen: in price order, so that the first that is left is the best.

use crate::flights::Flights;
use crate::index::Index;
use crate::rules::Rules;
use crate::{Book, Budgets, LineItem, Timestamp};
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

/// The line items that may bid, and their index. Made once, never changed; a reload makes another.
#[derive(Debug)]
pub struct Catalog {
    items: Vec<LineItem>,
    by_id: HashMap<Box<str>, Position>,
    pub(crate) index: Index,
    pub(crate) rules: Rules,
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
    pub fn build(mut items: Vec<LineItem>) -> Result<Catalog, CatalogError> {
        if items.len() > Self::LINE_ITEMS_MAX {
            let line_items = items.len();
            return Err(CatalogError::TooMany { line_items });
        }
        items.sort_by(|a, b| b.cpm.cmp(&a.cpm).then_with(|| a.id.cmp(&b.id)));
        let by_id = positions(&items)?;
        let rules = Rules::new(&items);
        Ok(Catalog {
            index: Index::new(&items, &rules),
            rules,
            flights: Arc::new(Flights::new(&items)),
            items,
            by_id,
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{BudgetCeilings, Status, Targeting};
    use openrtb::Micros;

    fn item(id: &str, cpm: i64) -> LineItem {
        LineItem {
            id: id.into(),
            seat: "default".into(),
            status: Status::Active,
            start: None,
            end: None,
            adomain: vec!["brand.example".into()],
            cat: Vec::new(),
            cattax: 1,
            bundle: None,
            cpm: Micros(cpm),
            budget: BudgetCeilings::default(),
            targeting: Targeting::default(),
            creatives: Vec::new(),
        }
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
}
