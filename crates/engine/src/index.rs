//! The index of a catalog: for each value of each targeting dimension, the row of line items that
//! it lets through.
//!
//! "Any" is folded into every row of a dimension, and a value that no line item names shares the
//! row of those that take any. A dimension of few values has a row a value; one of many (deals)
//! has short lists of positions, and rows where a list would be longer than a row is wide.

use crate::intern::Interner;
use crate::rows::{Row, RowBuilder, RowId, Rows};
use crate::{BLOCK_LEN, LineItem};
use openrtb::{Country, DeviceType, Floor, MediaTypes, Micros};

/// The index of a catalog's line items.
#[derive(Debug)]
pub(crate) struct Index {
    rows: Rows,
    /// `cpm` by position; it never rises.
    prices: Box<[Micros]>,
    /// The highest `cpm` of each block.
    tops: Box<[Micros]>,
    open: RowId,
    countries: Dimension,
    device_types: Dimension,
    formats: Dimension,
    sizes: Sizes,
    pub deals: Deals,
}

impl Index {
    /// Indexes line items, which are in price order.
    pub fn new(items: &[LineItem]) -> Index {
        let mut rows = Rows::new(items.len());
        let prices: Box<[_]> = items.iter().map(|item| item.cpm).collect();
        Index {
            tops: prices.iter().step_by(BLOCK_LEN).copied().collect(),
            prices,
            open: rows.select(|at| items.get(at).is_some_and(|i| i.targeting.deals.is_empty())),
            countries: countries(&mut rows, items),
            device_types: device_types(&mut rows, items),
            formats: formats(&mut rows, items),
            sizes: Sizes::new(&mut rows, items),
            deals: Deals::new(&mut rows, items),
            rows,
        }
    }

    /// Those that bid in the open market.
    pub fn open(&self) -> Posting<'_> {
        self.posting(self.open)
    }

    /// Those that bid through the deal with this number.
    pub fn deal(&self, number: u32) -> Posting<'_> {
        match self.deals.postings.get(number as usize) {
            Some(DealPosting::Positions(positions)) => Posting::Positions(positions),
            Some(DealPosting::Row(row)) => self.posting(*row),
            None => Posting::Positions(&[]),
        }
    }

    fn posting(&self, row: RowId) -> Posting<'_> {
        self.rows.get(row).map_or(Posting::All, Posting::Row)
    }

    /// Those that take the country; `None` is all of them.
    pub fn country(&self, country: Option<Country>) -> Option<Row<'_>> {
        self.rows
            .get(self.countries.row(country.map(Country::index)))
    }

    /// Those that take the device type; `None` is all of them.
    pub fn device_type(&self, device: Option<DeviceType>) -> Option<Row<'_>> {
        let value = device.map(|device| usize::from(device.number()));
        self.rows.get(self.device_types.row(value))
    }

    /// Those with a creative of one of the media; `None` is all of them.
    pub fn format(&self, offered: MediaTypes) -> Option<Row<'_>> {
        self.rows
            .get(self.formats.row(Some(usize::from(offered.bits()))))
    }

    /// Those that take the size of player: rows that a line item must all be in. They may let
    /// too many through where [`Index::sizes_are_exact`] is false.
    pub fn video_size(&self, size: Option<(i32, i32)>) -> [Option<Row<'_>>; 4] {
        self.sizes.rows(size).map(|row| self.rows.get(row))
    }

    /// Whether [`Index::video_size`] says all there is to say.
    pub fn sizes_are_exact(&self) -> bool {
        self.sizes.exact
    }

    /// The first block in which every `cpm` is below `floor`.
    pub fn end(&self, floor: Floor) -> usize {
        match floor {
            Floor::NONE => self.tops.len(),
            Floor::At(floor) => self.tops.partition_point(|top| *top >= floor),
            Floor::Unmeetable => 0,
        }
    }

    /// How many of a block's line items, from its start, have a `cpm` of at least `floor`.
    #[inline]
    pub fn above(&self, block: usize, floor: Floor) -> usize {
        let Floor::At(floor) = floor else {
            return 0;
        };
        let prices = self.prices.get(block * BLOCK_LEN..).unwrap_or_default();
        let prices = prices.get(..BLOCK_LEN).unwrap_or(prices);
        prices.partition_point(|price| *price >= floor)
    }
}

/// Line items of a market before anything else is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Posting<'r> {
    /// Every line item.
    All,
    /// The line items of a row.
    Row(Row<'r>),
    /// These positions, in order.
    Positions(&'r [u32]),
}

/// A dimension of few values: the row of each, by the value's number.
#[derive(Debug)]
struct Dimension {
    by_value: Box<[RowId]>,
    /// For an unknown value, and for one that no line item names: those that take any.
    otherwise: RowId,
}

impl Dimension {
    /// `named` calls back with each value that the line item takes, or says that it takes any.
    fn new(
        rows: &mut Rows,
        items: &[LineItem],
        values: usize,
        named: impl Fn(&LineItem, &mut dyn FnMut(usize)) -> Takes,
    ) -> Dimension {
        let mut any = rows.builder();
        let mut by_value: Vec<Option<RowBuilder>> = vec![None; values];
        for (at, item) in items.iter().enumerate() {
            let takes = named(item, &mut |value| {
                if let Some(row) = by_value.get_mut(value) {
                    row.get_or_insert_with(|| rows.builder()).set(at);
                }
            });
            if takes == Takes::Any {
                any.set(at);
            }
        }
        let otherwise = rows.add(any.clone());
        let row = |row: Option<RowBuilder>| match row {
            None => otherwise,
            Some(mut row) => {
                row.add(&any);
                rows.add(row)
            }
        };
        Dimension {
            by_value: by_value.into_iter().map(row).collect(),
            otherwise,
        }
    }

    fn row(&self, value: Option<usize>) -> RowId {
        let row = value.and_then(|value| self.by_value.get(value));
        *row.unwrap_or(&self.otherwise)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Any value, and unknown.
    Any,
    /// What it named.
    Named,
}

impl Takes {
    fn any_if(any: bool) -> Takes {
        if any { Takes::Any } else { Takes::Named }
    }
}

fn countries(rows: &mut Rows, items: &[LineItem]) -> Dimension {
    Dimension::new(rows, items, Country::COUNT, |item, name| {
        let countries = &item.targeting.countries;
        countries.iter().for_each(|country| name(country.index()));
        Takes::any_if(countries.is_empty())
    })
}

fn device_types(rows: &mut Rows, items: &[LineItem]) -> Dimension {
    Dimension::new(rows, items, 9, |item, name| {
        let targets = &item.targeting.device_types;
        for target in targets {
            name(target.number().into());
            if *target == DeviceType::MOBILE {
                name(DeviceType::PHONE.number().into());
                name(DeviceType::TABLET.number().into());
            }
        }
        Takes::any_if(targets.is_empty())
    })
}

/// The value is the set of media offered, so that one row answers for all of them.
fn formats(rows: &mut Rows, items: &[LineItem]) -> Dimension {
    Dimension::new(rows, items, 16, |item, name| {
        let media = item.creatives.iter().map(|creative| creative.media);
        let has = media.fold(MediaTypes::NONE, MediaTypes::with);
        (0..16)
            .filter(|offered| offered & usize::from(has.bits()) != 0)
            .for_each(name);
        Takes::Named
    })
}

/// The bounds on the size of player, one dimension of thresholds each.
#[derive(Debug)]
struct Sizes {
    bounds: [Thresholds; 4],
    /// Those without any bound.
    unknown: RowId,
    exact: bool,
}

impl Sizes {
    fn new(rows: &mut Rows, items: &[LineItem]) -> Sizes {
        let size = |at: usize| items.get(at).map(|item| item.targeting.video_size);
        // A bound from above is one from below with the sign turned.
        let least = |bound: Option<i32>| bound.map(i64::from);
        let most = |bound: Option<i32>| bound.map(|bound| -i64::from(bound));
        let bounds = [
            Thresholds::new(rows, |at| least(size(at)?.min_w)),
            Thresholds::new(rows, |at| least(size(at)?.min_h)),
            Thresholds::new(rows, |at| most(size(at)?.max_w)),
            Thresholds::new(rows, |at| most(size(at)?.max_h)),
        ];
        Sizes {
            unknown: rows.select(|at| size(at).is_some_and(|size| !size.is_bounded())),
            exact: bounds.iter().all(|bounds| bounds.exact),
            bounds,
        }
    }

    fn rows(&self, size: Option<(i32, i32)>) -> [RowId; 4] {
        let Some((w, h)) = size else {
            return [self.unknown, RowId::ALL, RowId::ALL, RowId::ALL];
        };
        let (w, h) = (i64::from(w), i64::from(h));
        let [min_w, min_h, max_w, max_h] = &self.bounds;
        [min_w.row(w), min_h.row(h), max_w.row(-w), max_h.row(-h)]
    }
}

/// A row for each threshold: those whose bound is at or below it, or that have none.
#[derive(Debug)]
struct Thresholds {
    at: Box<[i64]>,
    /// One more than thresholds: the first row is of those without a bound.
    rows: Box<[RowId]>,
    /// Whether every bound is a threshold. If there are too many, a value between two thresholds
    /// takes the row of the upper one, which may let too many through.
    exact: bool,
}

impl Thresholds {
    /// So many thresholds get a row.
    const THRESHOLDS_MAX: usize = 64;

    fn new(rows: &mut Rows, bound: impl Fn(usize) -> Option<i64>) -> Thresholds {
        let mut bounds: Vec<_> = (0..rows.len()).filter_map(&bound).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let exact = bounds.len() <= Self::THRESHOLDS_MAX;
        if !exact {
            // Evenly spread ones, the last included.
            let every = bounds.len().div_ceil(Self::THRESHOLDS_MAX);
            bounds.reverse();
            bounds = bounds.into_iter().step_by(every).collect();
            bounds.reverse();
        }
        let free = rows.select(|at| bound(at).is_none());
        let up_to = |threshold: &i64| rows.select(|at| bound(at).is_none_or(|b| b <= *threshold));
        let up_to: Vec<_> = bounds.iter().map(up_to).collect();
        Thresholds {
            rows: core::iter::once(free).chain(up_to).collect(),
            at: bounds.into(),
            exact,
        }
    }

    fn row(&self, value: i64) -> RowId {
        let reached = self.at.partition_point(|threshold| *threshold <= value);
        let met = reached.checked_sub(1).and_then(|last| self.at.get(last)) == Some(&value);
        let row = if self.exact || met {
            reached
        } else {
            reached + 1
        };
        let last = self.rows.last().unwrap_or(&RowId::ALL);
        *self.rows.get(row).unwrap_or(last)
    }
}

/// The deals that line items name, and who bids through them.
#[derive(Debug)]
pub(crate) struct Deals {
    numbers: Interner<Box<str>>,
    postings: Box<[DealPosting]>,
}

#[derive(Debug)]
enum DealPosting {
    Positions(Box<[u32]>),
    Row(RowId),
}

impl Deals {
    fn new(rows: &mut Rows, items: &[LineItem]) -> Deals {
        let mut numbers = Interner::<Box<str>>::default();
        let mut postings: Vec<Vec<u32>> = Vec::new();
        for (at, item) in (0u32..).zip(items) {
            for deal in &item.targeting.deals {
                let number = numbers.number(deal.as_str()) as usize;
                postings.resize_with(postings.len().max(number + 1), Vec::new);
                match postings.get_mut(number) {
                    Some(posting) if posting.last() != Some(&at) => posting.push(at),
                    _ => (),
                }
            }
        }
        let posting = |positions: Vec<u32>| {
            if positions.len() < rows.blocks_len() {
                return DealPosting::Positions(positions.into());
            }
            let mut row = rows.builder();
            positions.iter().for_each(|at| row.set(*at as usize));
            DealPosting::Row(rows.add(row))
        };
        let postings = postings.into_iter().map(posting).collect();
        Deals { numbers, postings }
    }

    /// The number of a deal that some line item names.
    pub fn number(&self, id: &str) -> Option<u32> {
        self.numbers.get(id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
}
