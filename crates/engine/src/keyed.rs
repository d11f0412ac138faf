//! Dimensions of many values: domains, bundles, places and the like.
//!
//! A row for each value would cost too much: a line item may name 100,000. So each value that some
//! line item names has the list of those that include it and of those that exclude it, at 4
//! bytes an entry, and a row only where that takes no more. A request has few values, and most of
//! them nobody names; where somebody does, their lists are put together to one row, in room that
//! is used again ([`Slot`]). The rest of the walk sees a row like any other.

use crate::change::Column;
use crate::intern::Interner;
use crate::rows::{self, Row, RowBuilder, RowId, Rows};
use crate::{BLOCK_LEN, Block, Chosen};
use core::cell::{Cell, OnceCell};

/// A dimension of many values, of several kinds.
#[derive(Debug)]
pub(crate) struct Keyed {
    rows: Rows,
    /// Those that include nothing.
    free: RowId,
    kinds: Box<[Kind]>,
}

/// Values of one kind, numbered.
#[derive(Debug)]
struct Kind {
    numbers: Interner<Box<str>>,
    include: Postings,
    exclude: Postings,
}

/// Whether a line item includes or excludes a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Include,
    Exclude,
}

/// Both sides of what a line item chose.
pub(crate) fn sides<T>(chosen: Option<&Chosen<T>>) -> impl Iterator<Item = (Side, &T)> {
    chosen.into_iter().flat_map(|chosen| {
        [
            (Side::Include, &chosen.include),
            (Side::Exclude, &chosen.exclude),
        ]
    })
}

/// A value of a request that some line item names: its kind and its number.
pub(crate) type Hit = (usize, u32);

impl Keyed {
    /// `names` tells, of what a line item chose, each value that it includes or excludes,
    /// comparable.
    pub fn new<V>(
        column: impl Column<V>,
        kinds: usize,
        names: impl Fn(V, &mut dyn FnMut(Side, usize, &str)),
    ) -> Keyed {
        let mut rows = Rows::new(column.len());
        let mut free = rows.builder();
        let mut named: Vec<_> = (0..kinds).map(|_| Named::default()).collect();
        for (at, chosen) in (0u32..).zip(column) {
            let mut is_free = true;
            names(chosen, &mut |side, kind, value| {
                if let Some(named) = named.get_mut(kind) {
                    named.add(side, value, at);
                }
                is_free &= matches!(side, Side::Exclude);
            });
            if is_free {
                free.set(at as usize);
            }
        }
        let kinds = named.into_iter().map(|named| Kind {
            include: Postings::new(&mut rows, named.include, &named.numbers, Some(&free)),
            exclude: Postings::new(&mut rows, named.exclude, &named.numbers, None),
            numbers: named.numbers,
        });
        Keyed {
            kinds: kinds.collect(),
            free: rows.add(free),
            rows,
        }
    }

    /// Whether some line item names a value.
    pub fn is_targeted(&self) -> bool {
        (0..self.kinds.len()).any(|kind| self.names(kind))
    }

    /// Whether some line item names a value of a kind.
    pub fn names(&self, kind: usize) -> bool {
        self.kinds
            .get(kind)
            .is_some_and(|kind| kind.numbers.len() > 0)
    }

    /// A value that some line item names.
    pub fn hit(&self, kind: usize, value: &str) -> Option<Hit> {
        Some((kind, self.kinds.get(kind)?.numbers.get(value)?))
    }

    /// Those that take a request with these values, a row that may be built in `slot`; `None` is
    /// all of them.
    pub fn row<'r>(&'r self, hits: &[Hit], slot: &'r Slot) -> Option<Row<'r>> {
        let mut included = self.postings(hits, |kind| &kind.include);
        let excludes = self.postings(hits, |kind| &kind.exclude).next().is_some();
        match (included.next(), included.next(), excludes) {
            (None, _, false) => self.rows.get(self.free),
            (Some((_, Posting::Row(row))), None, false) => self.rows.get(row),
            _ => Some(slot.build(|blocks| self.fill(hits, blocks))),
        }
    }

    /// What the values of a request have on one side, but for those that have nothing.
    fn postings<'k>(
        &'k self,
        hits: &'k [Hit],
        side: impl Fn(&'k Kind) -> &'k Postings + 'k,
    ) -> impl Iterator<Item = (&'k Postings, Posting)> {
        hits.iter().filter_map(move |(kind, number)| {
            let postings = side(self.kinds.get(*kind)?);
            let posting = *postings.by_value.get(*number as usize)?;
            (posting != Posting::NOTHING).then_some((postings, posting))
        })
    }

    /// Puts a row together.
    fn fill(&self, hits: &[Hit], blocks: &mut Vec<Block>) {
        let rows = &self.rows;
        put(blocks, rows, self.free);
        for (postings, posting) in self.postings(hits, |kind| &kind.include) {
            match posting {
                // Of no row is the row of all.
                Posting::Row(id) => match rows.get(id) {
                    Some(row) => each_word(blocks, row, |word, more| *word |= more),
                    None => put(blocks, rows, RowId::ALL),
                },
                Posting::Positions { .. } => {
                    each_position(blocks, postings.positions(posting), rows::set);
                }
            }
        }
        for (postings, posting) in self.postings(hits, |kind| &kind.exclude) {
            match posting {
                Posting::Row(id) => match rows.get(id) {
                    Some(row) => each_word(blocks, row, |word, less| *word &= !less),
                    None => blocks.fill(rows::NONE),
                },
                Posting::Positions { .. } => {
                    each_position(blocks, postings.positions(posting), rows::unset);
                }
            }
        }
    }
}

/// Makes the blocks those of a row.
fn put(blocks: &mut Vec<Block>, rows: &Rows, id: RowId) {
    blocks.clear();
    match rows.get(id) {
        Some(row) => blocks.extend_from_slice(row.blocks()),
        None => {
            let lens = (0..rows.len()).step_by(BLOCK_LEN);
            blocks.extend(lens.map(|start| rows::first((rows.len() - start).min(BLOCK_LEN))));
        }
    }
}

fn each_word(blocks: &mut [Block], row: Row<'_>, change: impl Fn(&mut u64, u64)) {
    let words = blocks.as_flattened_mut().iter_mut();
    for (word, other) in words.zip(row.blocks().as_flattened()) {
        change(word, *other);
    }
}

fn each_position(blocks: &mut [Block], positions: &[u32], change: impl Fn(&mut Block, usize)) {
    for at in positions {
        let at = *at as usize;
        if let Some(block) = blocks.get_mut(at / BLOCK_LEN) {
            change(block, at % BLOCK_LEN);
        }
    }
}

/// What line items name of one kind, while it is collected.
#[derive(Default)]
struct Named {
    numbers: Interner<Box<str>>,
    /// The value's number and the line item's position.
    include: Vec<(u32, u32)>,
    exclude: Vec<(u32, u32)>,
}

impl Named {
    fn add(&mut self, side: Side, value: &str, at: u32) {
        let number = self.numbers.number(value);
        match side {
            Side::Include => self.include.push((number, at)),
            Side::Exclude => self.exclude.push((number, at)),
        }
    }
}

/// Who names each value, by the value's number.
#[derive(Debug)]
struct Postings {
    by_value: Box<[Posting]>,
    /// What the postings of positions are of.
    positions: Box<[u32]>,
}

/// Who names a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Posting {
    Positions { start: u32, len: u32 },
    Row(RowId),
}

impl Posting {
    const NOTHING: Posting = Posting::Positions { start: 0, len: 0 };
}

impl Postings {
    /// Of `named` values. Every row gets what is `also` in it.
    fn new(
        rows: &mut Rows,
        mut named: Vec<(u32, u32)>,
        numbers: &Interner<Box<str>>,
        also: Option<&RowBuilder>,
    ) -> Postings {
        named.sort_unstable();
        named.dedup();
        let mut by_value = vec![Posting::NOTHING; numbers.len()];
        let mut positions = Vec::new();
        for alike in named.chunk_by(|(a, _), (b, _)| a == b) {
            let of_value = alike.iter().map(|(_, at)| *at);
            let posting = if size_of_val(alike) / 2 > rows.blocks_len() * size_of::<Block>() {
                let mut row = also.cloned().unwrap_or_else(|| rows.builder());
                of_value.for_each(|at| row.set(at as usize));
                Posting::Row(rows.add(row))
            } else {
                // A file of line items is too short to name 2³² values.
                let start = positions.len() as u32;
                positions.extend(of_value);
                Posting::Positions {
                    start,
                    len: positions.len() as u32 - start,
                }
            };
            let value = alike.first().map_or(0, |(number, _)| *number as usize);
            if let Some(slot) = by_value.get_mut(value) {
                *slot = posting;
            }
        }
        Postings {
            by_value: by_value.into(),
            positions: positions.into(),
        }
    }

    fn positions(&self, posting: Posting) -> &[u32] {
        let Posting::Positions { start, len } = posting else {
            return &[];
        };
        let (start, len) = (start as usize, len as usize);
        self.positions.get(start..start + len).unwrap_or_default()
    }
}

/// Room for one row that is built for a request, used again for the next one.
#[derive(Default)]
pub(crate) struct Slot {
    row: OnceCell<Built>,
    spare: Cell<Built>,
}

#[derive(Debug, Default)]
struct Built {
    blocks: Vec<Block>,
    summary: Vec<u64>,
}

impl core::fmt::Debug for Slot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Slot").field(&self.row).finish()
    }
}

impl Slot {
    /// The row, filled by `fill` if it is the first that is built since [`Slot::forget`].
    fn build(&self, fill: impl FnOnce(&mut Vec<Block>)) -> Row<'_> {
        let built = self.row.get_or_init(|| {
            let mut built = self.spare.take();
            fill(&mut built.blocks);
            built.summary.clear();
            built.summary.extend(rows::summary(&built.blocks));
            built
        });
        Row::of(&built.blocks, &built.summary)
    }

    /// Another request begins.
    #[inline]
    pub fn forget(&mut self) {
        if let Some(built) = self.row.take() {
            self.spare.set(built);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// These publishers, included and excluded.
    fn chosen(include: &[&str], exclude: &[&str]) -> Chosen<Vec<String>> {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Chosen {
            include: owned(include),
            exclude: owned(exclude),
        }
    }

    /// `spread` line items with each choice, so that postings are positions or rows.
    fn check(choices: &[Chosen<Vec<String>>], spread: usize, values: &[&str], expect: &[usize]) {
        let all: Vec<_> = (0..spread).flat_map(|_| choices).collect();
        let keyed = Keyed::new(all.iter().copied(), 1, |chosen, name| {
            for (side, list) in sides(Some(chosen)) {
                list.iter().for_each(|value| name(side, 0, value));
            }
        });
        let hits: Vec<_> = values
            .iter()
            .filter_map(|value| keyed.hit(0, value))
            .collect();
        let mut slot = Slot::default();
        // Twice: room that is used again holds nothing of before.
        for _ in 0..2 {
            slot.forget();
            let row = keyed.row(&hits, &slot);
            let is_in = |at: &usize| {
                row.is_none_or(|row| rows::places(*row.block(at / 512)).any(|p| p == at % 512))
            };
            let got: Vec<_> = (0..all.len()).filter(is_in).collect();
            let expect =
                (0..spread).flat_map(|s| expect.iter().map(move |at| s * choices.len() + at));
            assert_eq!(got, expect.collect::<Vec<_>>(), "{values:?}");
        }
    }

    #[test]
    fn values_lead_to_those_that_take_them() {
        let choices = [
            chosen(&[], &[]),
            chosen(&["a", "b", "a"], &[]),
            chosen(&["b"], &["c"]),
            chosen(&[], &["a"]),
        ];
        for spread in [1, 3, 400] {
            check(&choices, spread, &[], &[0, 3]);
            check(&choices, spread, &["x"], &[0, 3]);
            check(&choices, spread, &["a"], &[0, 1]);
            check(&choices, spread, &["b"], &[0, 1, 2, 3]);
            check(&choices, spread, &["b", "c"], &[0, 1, 3]);
            check(&choices, spread, &["a", "b", "c"], &[0, 1]);
            check(&choices[1..2], spread, &[], &[]);
            check(&choices[1..2], spread, &["a"], &[0]);
            check(&choices[3..], spread, &["a"], &[]);
            check(&choices[..1], spread, &["a"], &[0]);
        }
    }
}
