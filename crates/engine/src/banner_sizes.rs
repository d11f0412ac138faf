//! The banner sizes of creatives: who has one of each. It spares the last stage line items whose
//! banners are of other sizes than those offered; it does not say that one fits.

use crate::Block;
use crate::rows::{self, RowBuilder, RowId, Rows};

/// Who has a creative of each size of banner.
#[derive(Debug, Default)]
pub(crate) struct BannerSizes {
    rows: Rows,
    /// By the size's number; `None` where it has no row of its own.
    by_size: Box<[Option<RowId>]>,
    /// Those with a creative that is no banner, or whose size has no row.
    otherwise: RowId,
}

impl BannerSizes {
    /// So many sizes have rows: those that the most creatives have.
    const SIZES_MAX: usize = 64;

    /// Of so many line items and numbers of sizes. `creatives` has the position of each creative's
    /// line item and the number of its size, `None` of one that is no banner or has none.
    pub fn new(
        line_items: usize,
        numbers: usize,
        creatives: impl Iterator<Item = (usize, Option<u32>)> + Clone,
    ) -> BannerSizes {
        let mut rows = Rows::new(line_items);
        let mut counts = vec![0usize; numbers];
        for size in creatives.clone().filter_map(|(_, size)| size) {
            if let Some(count) = counts.get_mut(size as usize) {
                *count += 1;
            }
        }
        let mut most: Vec<_> = (0..counts.len()).collect();
        most.sort_by_key(|size| core::cmp::Reverse(counts.get(*size)));
        let mut by_size: Vec<Option<RowBuilder>> = vec![None; counts.len()];
        for size in most.into_iter().take(Self::SIZES_MAX) {
            if let Some(row) = by_size.get_mut(size) {
                *row = Some(rows.builder());
            }
        }
        let mut otherwise = rows.builder();
        for (at, size) in creatives {
            let row = size.and_then(|size| by_size.get_mut(size as usize)?.as_mut());
            row.unwrap_or(&mut otherwise).set(at);
        }
        let by_size = by_size.into_iter().map(|row| Some(rows.add(row?)));
        BannerSizes {
            by_size: by_size.collect(),
            otherwise: rows.add(otherwise),
            rows,
        }
    }

    /// Whether it can spare anything: not where everybody has another creative than a banner.
    pub fn is_of_use(&self) -> bool {
        self.otherwise != RowId::ALL
    }

    /// Keeps of a block those that may have a creative of one of the sizes.
    pub fn keep(&self, sizes: &[u32], block: usize, left: &mut Block) {
        let of_sizes = sizes
            .iter()
            .filter_map(|size| *self.by_size.get(*size as usize)?);
        let mut any = rows::NONE;
        for id in of_sizes.chain([self.otherwise]) {
            match self.rows.get(id) {
                Some(row) => rows::add(&mut any, row.block(block)),
                None => return,
            }
        }
        rows::keep(left, &any);
    }
}
