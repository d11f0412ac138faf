//! Sets of line items as rows of bits, in price order.
//!
//! A row has a bit for each position, in blocks of 512: one cache line. Its summary has a bit for
//! each block that is not empty, so that what is sparse is passed over 32,768 positions at a time.

use crate::{BLOCK_LEN, Block};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// The block of nothing.
pub(crate) const NONE: Block = [0; BLOCK_LEN / 64];

/// The block of every place.
pub(crate) const ALL: Block = [u64::MAX; BLOCK_LEN / 64];

/// Keeps in `left` what `right` has too.
#[inline(always)]
pub(crate) fn keep(left: &mut Block, right: &Block) {
    for (left, right) in left.iter_mut().zip(right) {
        *left &= right;
    }
}

/// Puts into `left` what `right` has.
pub(crate) fn add(left: &mut Block, right: &Block) {
    for (left, right) in left.iter_mut().zip(right) {
        *left |= right;
    }
}

/// Whether nothing is in the block.
#[inline(always)]
pub(crate) fn is_empty(block: &Block) -> bool {
    block.iter().fold(0, |all, word| all | word) == 0
}

/// Puts the place `at` of a block in.
pub(crate) fn set(block: &mut Block, at: usize) {
    if let Some(word) = block.get_mut(at / 64) {
        *word |= 1 << (at % 64);
    }
}

/// Takes the place `at` of a block out.
pub(crate) fn unset(block: &mut Block, at: usize) {
    if let Some(word) = block.get_mut(at / 64) {
        *word &= !(1 << (at % 64));
    }
}

/// The places of a block below `len`.
pub(crate) fn first(len: usize) -> Block {
    let mut block = NONE;
    let mut rest = len;
    for word in &mut block {
        *word = if rest >= 64 {
            u64::MAX
        } else {
            (1 << rest) - 1
        };
        rest = rest.saturating_sub(64);
    }
    block
}

/// The places in the block, in order.
pub(crate) fn places(block: Block) -> impl Iterator<Item = usize> {
    block
        .into_iter()
        .enumerate()
        .flat_map(|(word, bits)| ones(bits).map(move |at| word * 64 + at))
}

/// The bits that are set in a word, the lowest first.
#[inline(always)]
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let at = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (at < 64).then_some(at as usize)
    })
}

/// A bit for each block that is not empty.
pub(crate) fn summary(blocks: &[Block]) -> impl Iterator<Item = u64> {
    blocks.chunks(64).map(|blocks| {
        let bit = |(at, block): (usize, &Block)| u64::from(!is_empty(block)) << at;
        blocks.iter().enumerate().map(bit).sum()
    })
}

/// A row, borrowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'r> {
    blocks: &'r [Block],
    summary: &'r [u64],
}

impl<'r> Row<'r> {
    /// The row of no line item.
    pub const NONE: Row<'static> = Row {
        blocks: &[],
        summary: &[],
    };

    /// The row of these blocks and their summary.
    pub fn of(blocks: &'r [Block], summary: &'r [u64]) -> Row<'r> {
        Row { blocks, summary }
    }

    /// All blocks.
    pub fn blocks(self) -> &'r [Block] {
        self.blocks
    }

    /// The block at `at`; past the end, nothing.
    #[inline(always)]
    pub fn block(self, at: usize) -> &'r Block {
        self.blocks.get(at).unwrap_or(&NONE)
    }

    /// The summary of the blocks from `at × 64`; past the end, nothing.
    #[inline(always)]
    pub fn summary(self, at: usize) -> u64 {
        self.summary.get(at).copied().unwrap_or(0)
    }

    /// How many words the summary has.
    pub fn summary_len(self) -> usize {
        self.summary.len()
    }
}

/// Which row of [`Rows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowId(u32);

impl RowId {
    /// The row of every line item: nothing to check.
    pub const ALL: RowId = RowId(u32::MAX);
}

impl Default for RowId {
    fn default() -> RowId {
        RowId::ALL
    }
}

/// Many rows of one length. Equal ones are kept once.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    len: usize,
    /// How many blocks a row has, and how many words its summary.
    blocks_len: usize,
    summary_len: usize,
    blocks: Vec<Block>,
    summaries: Vec<u64>,
    by_hash: HashMap<u64, Vec<RowId>>,
    hasher: RandomState,
}

/// A row in the making.
#[derive(Clone, Debug)]
pub(crate) struct RowBuilder(Vec<Block>);

impl RowBuilder {
    /// Puts a position in.
    pub fn set(&mut self, at: usize) {
        if let Some(block) = self.0.get_mut(at / BLOCK_LEN) {
            set(block, at % BLOCK_LEN);
        }
    }

    /// Puts in all that the other row has.
    pub fn add(&mut self, other: &RowBuilder) {
        let words = self.0.as_flattened_mut().iter_mut();
        for (word, more) in words.zip(other.0.as_flattened()) {
            *word |= more;
        }
    }

    /// The blocks.
    pub fn into_blocks(self) -> Vec<Block> {
        self.0
    }
}

impl Rows {
    /// No rows yet, each to be about `len` line items.
    pub fn new(len: usize) -> Rows {
        let blocks_len = len.div_ceil(BLOCK_LEN);
        Rows {
            len,
            blocks_len,
            summary_len: blocks_len.div_ceil(64),
            blocks: Vec::new(),
            summaries: Vec::new(),
            by_hash: HashMap::new(),
            hasher: RandomState::new(),
        }
    }

    /// How many line items a row is about.
    pub fn len(&self) -> usize {
        self.len
    }

    /// How many blocks a row has.
    pub fn blocks_len(&self) -> usize {
        self.blocks_len
    }

    /// A row of nothing, to be filled.
    pub fn builder(&self) -> RowBuilder {
        RowBuilder(vec![NONE; self.blocks_len()])
    }

    /// A row of the positions for which `is_in`, which has one entry a position, says so.
    pub fn select(&mut self, is_in: impl Iterator<Item = bool>) -> RowId {
        let mut row = self.builder();
        let members = is_in.enumerate().filter(|(_, is_in)| *is_in);
        members.for_each(|(at, _)| row.set(at));
        self.add(row)
    }

    /// Keeps a row.
    pub fn add(&mut self, row: RowBuilder) -> RowId {
        let blocks = row.into_blocks();
        let members: u32 = blocks
            .as_flattened()
            .iter()
            .map(|word| word.count_ones())
            .sum();
        if members as usize == self.len {
            return RowId::ALL;
        }
        let hash = self.hasher.hash_one(&blocks);
        let known = self.by_hash.get(&hash).into_iter().flatten();
        let mut equal = known.filter(|id| self.slice(**id) == Some(&*blocks));
        if let Some(id) = equal.next() {
            return *id;
        }
        // Rows are never empty of blocks here: without line items every row is ALL.
        let id = RowId((self.blocks.len() / self.blocks_len.max(1)) as u32);
        self.summaries.extend(summary(&blocks));
        self.blocks.extend(blocks);
        self.by_hash.entry(hash).or_default().push(id);
        id
    }

    #[inline(always)]
    fn slice(&self, id: RowId) -> Option<&[Block]> {
        of_row(&self.blocks, id, self.blocks_len)
    }

    /// The row; `None` for the row of every line item.
    #[inline(always)]
    pub fn get(&self, id: RowId) -> Option<Row<'_>> {
        if id == RowId::ALL {
            return None;
        }
        let blocks = self.slice(id)?;
        let summary = of_row(&self.summaries, id, self.summary_len)?;
        Some(Row { blocks, summary })
    }
}

/// What belongs to a row, of which each has `len`.
#[inline(always)]
fn of_row<T>(all: &[T], id: RowId, len: usize) -> Option<&[T]> {
    all.get((id.0 as usize).wrapping_mul(len)..)?.get(..len)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn blocks_keep_places_in_order() {
        for len in [0, 1, 63, 64, 65, 511, 512] {
            assert!(places(first(len)).eq(0..len), "{len}");
        }
        let mut block = first(512);
        unset(&mut block, 100);
        keep(&mut block, &first(130));
        assert!(places(block).eq((0..130).filter(|at| *at != 100)));
        assert!(!is_empty(&block) && is_empty(&NONE));
    }

    #[test]
    fn equal_rows_are_kept_once_and_full_ones_not_at_all() {
        let mut rows = Rows::new(70_000);
        let odd = rows.select((0..70_000).map(|at| at % 2 == 1));
        let late = rows.select((0..70_000).map(|at| at >= 69_000));
        assert_eq!(rows.select((0..70_000).map(|at| at % 2 == 1)), odd);
        assert_eq!(rows.select((0..70_000).map(|_| true)), RowId::ALL);
        assert!(rows.get(RowId::ALL).is_none());
        let late = rows.get(late).unwrap();
        assert_eq!(late.summary_len(), 3);
        assert_eq!(
            (late.summary(0), late.summary(1), late.summary(3)),
            (0, 0, 0)
        );
        let blocks: Vec<_> = ones(late.summary(2)).map(|at| at + 128).collect();
        assert_eq!(blocks, [134, 135, 136]);
        assert!(places(*late.block(134)).eq(392..512));
        assert_eq!(rows.get(odd).unwrap().block(1000), &NONE);
    }
}
