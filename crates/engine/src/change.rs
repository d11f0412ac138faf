//! What of a catalog has to be built anew when line items change, and what need not.
//!
//! What a catalog knows of its line items is in parts, and each part is made of one column: what it
//! reads of every line item, in the order of their positions. Where the line items keep their places
//! and a column is what it was in the catalog before, so is the part, and both catalogs have the same
//! one. A part is handed its column and no line items, so it cannot depend on what was not compared.

use crate::{Catalog, LineItem};
use core::iter::Map;
use core::slice::Iter;
use std::sync::Arc;

/// What a part is made of: a value of each line item, in the order of their positions.
pub(crate) trait Column<V>: ExactSizeIterator<Item = V> + Clone {}

impl<V, C: ExactSizeIterator<Item = V> + Clone> Column<V> for C {}

/// Line items in the order of their positions, and how they differ from those of a catalog before.
pub(crate) struct Change<'i> {
    items: &'i [LineItem],
    before: Option<Before<'i>>,
}

/// A catalog in which every line item has the place that it has now.
struct Before<'i> {
    catalog: &'i Catalog,
    /// Each line item that is not as it was: before, and now.
    changed: Vec<(&'i LineItem, &'i LineItem)>,
}

impl<'i> Change<'i> {
    /// Compares line items with those of the catalog before, if there is one.
    pub fn new(before: Option<&'i Catalog>, items: &'i [LineItem]) -> Change<'i> {
        let before = before.and_then(|catalog| Before::new(catalog, items));
        Change { items, before }
    }

    /// The catalog before, if every line item has its place still.
    pub fn before(&self) -> Option<&'i Catalog> {
        self.before.as_ref().map(|before| before.catalog)
    }

    /// The part whose column has these values: that of the catalog before, where `was` finds it, if
    /// it is made of the same column, or else one that is built.
    pub fn part<P, V, F>(
        &self,
        was: impl Fn(&Catalog) -> &Arc<P>,
        value: F,
        build: impl FnOnce(Map<Iter<'i, LineItem>, F>) -> P,
    ) -> Arc<P>
    where
        V: PartialEq,
        F: Fn(&'i LineItem) -> V + Clone,
    {
        match &self.before {
            Some(before) if before.has_column(&value) => was(before.catalog).clone(),
            _ => Arc::new(build(self.items.iter().map(value))),
        }
    }
}

impl<'i> Before<'i> {
    /// `None` where a line item has come, gone or moved: all rows are other ones then, and to compare
    /// would cost more than it could save.
    fn new(catalog: &'i Catalog, items: &'i [LineItem]) -> Option<Before<'i>> {
        if catalog.len() != items.len() {
            return None;
        }
        let mut changed = Vec::new();
        for ((_, was), is) in catalog.items().zip(items) {
            if was.id != is.id {
                return None;
            }
            if was != is {
                changed.push((was, is));
            }
        }
        Some(Before { catalog, changed })
    }

    /// Whether a column has the values it has now.
    fn has_column<V: PartialEq>(&self, value: impl Fn(&'i LineItem) -> V) -> bool {
        let mut changed = self.changed.iter();
        changed.all(|(was, is)| value(was) == value(is))
    }
}
