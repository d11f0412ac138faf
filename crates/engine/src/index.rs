//! The index of a catalog: for each value of each targeting dimension, the row of line items that
//! it lets through.
//!
//! "Any" is folded into every row of a dimension, and a value that no line item names shares the
//! row of those that take any. A dimension of few values has a row a value; one of many (deals)
//! has short lists of positions, and rows where a list would be longer than a row is wide.

use crate::change::{Change, Column};
use crate::intern::Interner;
use crate::keyed::Keyed;
use crate::rows::{Row, RowBuilder, RowId, Rows};
use crate::systems::Systems;
use crate::{BLOCK_LEN, Hours, LineItem, Numbers, Targeting, VideoSize, keys};
use openrtb::{Channel, Country, DeviceType, Floor, MediaType, MediaTypes, Micros, Reason};
use std::sync::Arc;

/// The index of a catalog's line items: a part for each dimension. Catalogs share those in which
/// their line items do not differ.
#[derive(Debug)]
pub(crate) struct Index {
    pub prices: Arc<Prices>,
    pub deals: Arc<Deals>,
    countries: Arc<Dimension>,
    device_types: Arc<Dimension>,
    formats: Arc<Dimension>,
    sizes: Arc<Sizes>,
    pub places: Arc<Keyed>,
    pub systems: Arc<Systems>,
    channels: Arc<Dimension>,
    pub inventory: Arc<Keyed>,
    pub publishers: Arc<Keyed>,
    pub categories: Arc<Keyed>,
    pub languages: Arc<Keyed>,
    connection_types: Arc<Dimension>,
    hours: Arc<Dimension>,
    positions: Arc<Dimension>,
    plcmts: Arc<Dimension>,
    interstitial: Arc<Dimension>,
    rewarded: Arc<Dimension>,
    stages: Stages,
}

impl Index {
    /// Indexes line items, which are in price order.
    #[rustfmt::skip] // A table: the part, its column, how it is made of it.
    pub fn new(change: &Change<'_>) -> Index {
        let mut index = Index {
            prices: change.part(|was| &was.index.prices, |item| item.cpm, Prices::new),
            deals: change.part(|was| &was.index.deals, |item| &*item.targeting.deals, Deals::new),
            countries: change.part(|was| &was.index.countries, |item| &*item.targeting.countries, countries),
            device_types: change.part(|was| &was.index.device_types, |item| &*item.targeting.device_types, device_types),
            formats: change.part(|was| &was.index.formats, media, formats),
            sizes: change.part(|was| &was.index.sizes, |item| item.targeting.video_size, Sizes::new),
            places: change.part(|was| &was.index.places, |item| item.targeting.places.as_deref(), keys::places),
            systems: change.part(|was| &was.index.systems, |item| &*item.targeting.os, Systems::new),
            channels: change.part(|was| &was.index.channels, |item| item.targeting.channels, numbers),
            inventory: change.part(|was| &was.index.inventory, |item| item.targeting.inventory.as_deref(), keys::inventory),
            publishers: change.part(|was| &was.index.publishers, |item| item.targeting.publishers.as_deref(), keys::publishers),
            categories: change.part(|was| &was.index.categories, |item| item.targeting.categories.as_deref(), keys::categories),
            languages: change.part(|was| &was.index.languages, |item| item.targeting.languages.as_deref(), keys::languages),
            connection_types: change.part(|was| &was.index.connection_types, |item| item.targeting.connection_types, numbers),
            hours: change.part(|was| &was.index.hours, |item| &item.targeting.hours, hours),
            positions: change.part(|was| &was.index.positions, placed, positions),
            plcmts: change.part(|was| &was.index.plcmts, |item| item.targeting.plcmts, numbers),
            interstitial: change.part(|was| &was.index.interstitial, |item| item.targeting.interstitial, flags),
            rewarded: change.part(|was| &was.index.rewarded, |item| item.targeting.rewarded, flags),
            stages: Stages::ALWAYS,
        };
        index.stages = index.targeted();
        index
    }

    /// The stages at which some line item may drop out.
    fn targeted(&self) -> Stages {
        let targeted = [
            (Reason::Place, self.places.is_targeted()),
            (Reason::Os, self.systems.is_targeted()),
            (Reason::Channel, self.channels.is_targeted),
            (Reason::Inventory, self.inventory.is_targeted()),
            (Reason::Publisher, self.publishers.is_targeted()),
            (Reason::Category, self.categories.is_targeted()),
            (Reason::Language, self.languages.is_targeted()),
            (Reason::ConnectionType, self.connection_types.is_targeted),
            (Reason::Hour, self.hours.is_targeted),
            (Reason::Position, self.positions.is_targeted),
            (Reason::Plcmt, self.plcmts.is_targeted),
            (Reason::Interstitial, self.interstitial.is_targeted),
            (Reason::Rewarded, self.rewarded.is_targeted),
        ];
        let targeted = targeted.into_iter().filter(|(_, targeted)| *targeted);
        targeted.fold(Stages::ALWAYS, |stages, (stage, _)| stages.with(stage))
    }

    /// The stage after one, up to the last that is decided a block at a time.
    #[inline(always)]
    pub fn after(&self, stage: Reason) -> Option<Reason> {
        self.stages.after(stage)
    }

    /// Whether these stages come one after the other, with nothing targeted in between.
    #[inline(always)]
    pub fn has_stages(&self, stages: &[Reason]) -> bool {
        let next = stages.iter().skip(1);
        stages
            .iter()
            .zip(next)
            .all(|(stage, next)| self.after(*stage) == Some(*next))
    }

    /// Those that take the country; `None` is all of them.
    #[inline(always)]
    pub fn country(&self, country: Option<Country>) -> Option<Row<'_>> {
        self.countries.row(country.map(Country::index))
    }

    /// Those that take the device type; `None` is all of them.
    #[inline(always)]
    pub fn device_type(&self, device: Option<DeviceType>) -> Option<Row<'_>> {
        let value = device.map(|device| usize::from(device.number()));
        self.device_types.row(value)
    }

    /// Those with a creative of one of the media; `None` is all of them.
    #[inline(always)]
    pub fn format(&self, offered: MediaTypes) -> Option<Row<'_>> {
        self.formats.row(Some(usize::from(offered.bits())))
    }

    /// Those that take the size of player: rows that a line item must all be in. They may let
    /// too many through where [`Index::sizes_are_exact`] is false.
    pub fn video_size(&self, size: Option<(i32, i32)>) -> [Option<Row<'_>>; 4] {
        self.sizes.rows(size)
    }

    /// Those that take the channel; `None` is all of them.
    pub fn channel(&self, channel: Option<Channel>) -> Option<Row<'_>> {
        self.channels.row(channel.map(|channel| channel as usize))
    }

    /// Those that take the type of connection; `None` is all of them.
    pub fn connection_type(&self, number: Option<i32>) -> Option<Row<'_>> {
        self.connection_types.row(value(number))
    }

    /// Those that take the hour of the week; `None` is all of them.
    pub fn hour(&self, hour: Option<usize>) -> Option<Row<'_>> {
        self.hours.row(hour)
    }

    /// Those that take the positions of banner and video; `None` is all of them.
    pub fn position(&self, banner: Option<i32>, video: Option<i32>) -> Option<Row<'_>> {
        let known = |pos| value(pos).filter(|pos| *pos < POSITIONS).unwrap_or(0);
        let pair = known(banner) * POSITIONS + known(video);
        self.positions.row(Some(pair))
    }

    /// Those that take the kind of placement; `None` is all of them.
    pub fn plcmt(&self, number: Option<i32>) -> Option<Row<'_>> {
        self.plcmts.row(value(number))
    }

    /// Those that take `instl`; `None` is all of them.
    pub fn interstitial(&self, instl: bool) -> Option<Row<'_>> {
        self.interstitial.row(Some(instl.into()))
    }

    /// Those that take `rwdd`; `None` is all of them.
    pub fn rewarded(&self, rwdd: bool) -> Option<Row<'_>> {
        self.rewarded.row(Some(rwdd.into()))
    }

    /// Whether [`Index::video_size`] says all there is to say.
    pub fn sizes_are_exact(&self) -> bool {
        self.sizes.exact
    }
}

/// Prices by position; they never rise.
#[derive(Debug)]
pub(crate) struct Prices {
    cpms: Box<[Micros]>,
    /// The highest of each block.
    tops: Box<[Micros]>,
}

impl Prices {
    fn new(column: impl Column<Micros>) -> Prices {
        Prices {
            tops: column.clone().step_by(BLOCK_LEN).collect(),
            cpms: column.collect(),
        }
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
        let prices = self.cpms.get(block * BLOCK_LEN..).unwrap_or_default();
        let prices = prices.get(..BLOCK_LEN).unwrap_or(prices);
        prices.partition_point(|price| *price >= floor)
    }
}

#[cfg(test)]
impl Index {
    /// The name of each part, and where it lies.
    pub fn parts(&self) -> Vec<(&'static str, *const ())> {
        macro_rules! parts {
            ($($part:ident),*) => {{
                let Index { $($part,)* stages: _ } = self;
                vec![$((stringify!($part), Arc::as_ptr($part).cast())),*]
            }};
        }
        parts!(
            prices,
            deals,
            countries,
            device_types,
            formats,
            sizes,
            places,
            systems,
            channels,
            inventory,
            publishers,
            categories,
            languages,
            connection_types,
            hours,
            positions,
            plcmts,
            interstitial,
            rewarded
        )
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
    rows: Rows,
    by_value: Box<[RowId]>,
    /// For an unknown value, and for one that no line item names: those that take any.
    otherwise: RowId,
    /// Whether some line item does not take any.
    is_targeted: bool,
}

impl Dimension {
    /// `named` calls back with each value that a line item takes, or says that it takes any.
    fn new<V>(
        column: impl Column<V>,
        values: usize,
        named: impl Fn(V, &mut dyn FnMut(usize)) -> Takes,
    ) -> Dimension {
        let mut rows = Rows::new(column.len());
        let mut any = rows.builder();
        let mut by_value: Vec<Option<RowBuilder>> = vec![None; values];
        for (at, wanted) in column.enumerate() {
            let takes = named(wanted, &mut |value| {
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
            is_targeted: otherwise != RowId::ALL,
            otherwise,
            rows,
        }
    }

    /// Those that take the value; `None` is all of them.
    #[inline(always)]
    fn row(&self, value: Option<usize>) -> Option<Row<'_>> {
        let row = value.and_then(|value| self.by_value.get(value));
        self.rows.get(*row.unwrap_or(&self.otherwise))
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

fn countries<'i>(column: impl Column<&'i [Country]>) -> Dimension {
    Dimension::new(column, Country::COUNT, |countries, name| {
        countries.iter().for_each(|country| name(country.index()));
        Takes::any_if(countries.is_empty())
    })
}

fn device_types<'i>(column: impl Column<&'i [DeviceType]>) -> Dimension {
    Dimension::new(column, 9, |targets, name| {
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

/// The media of a line item's creatives.
fn media(item: &LineItem) -> MediaTypes {
    let media = item.creatives.iter().map(|creative| creative.media);
    media.fold(MediaTypes::NONE, MediaTypes::with)
}

/// The value is the set of media offered, so that one row answers for all of them.
fn formats(column: impl Column<MediaTypes>) -> Dimension {
    Dimension::new(column, 16, |has, name| {
        (0..16)
            .filter(|offered| offered & usize::from(has.bits()) != 0)
            .for_each(name);
        Takes::Named
    })
}

fn numbers(column: impl Column<Numbers>) -> Dimension {
    Dimension::new(column, Numbers::COUNT, |numbers, name| {
        let is_in =
            |number: &usize| u8::try_from(*number).is_ok_and(|number| numbers.contains(number));
        (0..Numbers::COUNT).filter(is_in).for_each(name);
        Takes::any_if(numbers.is_empty())
    })
}

/// The value of a field of numbers.
fn value(number: Option<i32>) -> Option<usize> {
    number.and_then(|number| usize::try_from(number).ok())
}

fn hours<'i>(column: impl Column<&'i Hours>) -> Dimension {
    Dimension::new(column, Hours::COUNT, |hours, name| {
        if hours.is_empty() {
            return Takes::Any;
        }
        (0..Hours::COUNT)
            .filter(|hour| hours.contains(*hour))
            .for_each(name);
        Takes::Named
    })
}

/// Positions of one medium, 0 for unknown.
const POSITIONS: usize = Targeting::POSITION_MAX as usize + 1;

/// The positions that a line item wants, if it wants any, and its media, one of which must be there.
fn placed(item: &LineItem) -> Option<(Numbers, MediaTypes)> {
    let positions = item.targeting.positions;
    (!positions.is_empty()).then(|| (positions, media(item)))
}

/// The value is the banner's position and the video's, so that one row answers for both.
fn positions(column: impl Column<Option<(Numbers, MediaTypes)>>) -> Dimension {
    Dimension::new(column, POSITIONS * POSITIONS, |placed, name| {
        let Some((positions, media)) = placed else {
            return Takes::Any;
        };
        let banner = media.contains(MediaType::Banner);
        let video = media.contains(MediaType::Video);
        let is_met = |pos: usize| u8::try_from(pos).is_ok_and(|pos| positions.contains(pos));
        (0..POSITIONS * POSITIONS)
            .filter(|pair| banner && is_met(pair / POSITIONS) || video && is_met(pair % POSITIONS))
            .for_each(name);
        Takes::Named
    })
}

fn flags(column: impl Column<Option<bool>>) -> Dimension {
    Dimension::new(column, 2, |wanted, name| {
        wanted.into_iter().for_each(|flag| name(flag.into()));
        Takes::any_if(wanted.is_none())
    })
}

/// Stages of the walk over blocks, a bit each.
#[derive(Clone, Copy, Debug)]
struct Stages(u32);

impl Stages {
    /// Those at which every catalog's line items are looked at.
    const ALWAYS: Stages = Stages(0)
        .with(Reason::Country)
        .with(Reason::DeviceType)
        .with(Reason::Format)
        .with(Reason::VideoSize)
        .with(Reason::Floor)
        .with(Reason::Budget);

    const fn with(self, stage: Reason) -> Stages {
        Stages(self.0 | 1 << stage as u32)
    }

    #[inline(always)]
    fn after(self, stage: Reason) -> Option<Reason> {
        let later = self.0 & u32::MAX << 1 << stage as u32;
        Reason::ALL.get(later.trailing_zeros() as usize).copied()
    }
}

/// The bounds on the size of player, one dimension of thresholds each.
#[derive(Debug)]
struct Sizes {
    rows: Rows,
    bounds: [Thresholds; 4],
    /// Those without any bound.
    unknown: RowId,
    exact: bool,
}

impl Sizes {
    fn new(column: impl Column<VideoSize>) -> Sizes {
        let mut rows = Rows::new(column.len());
        // A bound from above is one from below with the sign turned.
        let least = |bound: Option<i32>| bound.map(i64::from);
        let most = |bound: Option<i32>| bound.map(|bound| -i64::from(bound));
        let sizes = || column.clone();
        let bounds = [
            Thresholds::new(&mut rows, sizes().map(|size| least(size.min_w))),
            Thresholds::new(&mut rows, sizes().map(|size| least(size.min_h))),
            Thresholds::new(&mut rows, sizes().map(|size| most(size.max_w))),
            Thresholds::new(&mut rows, sizes().map(|size| most(size.max_h))),
        ];
        Sizes {
            unknown: rows.select(column.map(|size| !size.is_bounded())),
            exact: bounds.iter().all(|bounds| bounds.exact),
            bounds,
            rows,
        }
    }

    fn rows(&self, size: Option<(i32, i32)>) -> [Option<Row<'_>>; 4] {
        let Some((w, h)) = size else {
            return [self.rows.get(self.unknown), None, None, None];
        };
        let (w, h) = (i64::from(w), i64::from(h));
        let [min_w, min_h, max_w, max_h] = &self.bounds;
        [min_w.row(w), min_h.row(h), max_w.row(-w), max_h.row(-h)].map(|row| self.rows.get(row))
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

    fn new(rows: &mut Rows, column: impl Column<Option<i64>>) -> Thresholds {
        let mut bounds: Vec<_> = column.clone().flatten().collect();
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
        let free = rows.select(column.clone().map(|bound| bound.is_none()));
        let up_to = bounds.iter().map(|threshold| {
            let is_met = |bound: Option<i64>| bound.is_none_or(|bound| bound <= *threshold);
            rows.select(column.clone().map(is_met))
        });
        let up_to: Vec<_> = up_to.collect();
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

/// The deals that line items name, who bids through them, and who bids through none.
#[derive(Debug)]
pub(crate) struct Deals {
    rows: Rows,
    /// By the bytes of their ids: a request's need not be looked at as text.
    numbers: Interner<Box<[u8]>>,
    postings: Box<[DealPosting]>,
    open: RowId,
}

#[derive(Debug)]
enum DealPosting {
    Positions(Box<[u32]>),
    Row(RowId),
}

impl Deals {
    fn new<'i>(column: impl Column<&'i [String]>) -> Deals {
        let mut rows = Rows::new(column.len());
        let open = rows.select(column.clone().map(<[_]>::is_empty));
        let mut numbers = Interner::<Box<[u8]>>::default();
        let mut postings: Vec<Vec<u32>> = Vec::new();
        for (at, deals) in (0u32..).zip(column) {
            for deal in deals {
                let number = numbers.number(deal.as_bytes()) as usize;
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
        Deals {
            postings: postings.into_iter().map(posting).collect(),
            numbers,
            open,
            rows,
        }
    }

    /// The number of a deal that some line item names.
    pub fn number(&self, id: &[u8]) -> Option<u32> {
        self.numbers.get(id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Those that bid in the open market.
    #[inline(always)]
    pub fn open(&self) -> Posting<'_> {
        self.posting(self.open)
    }

    /// Those that bid through the deal with this number.
    pub fn of(&self, number: u32) -> Posting<'_> {
        match self.postings.get(number as usize) {
            Some(DealPosting::Positions(positions)) => Posting::Positions(positions),
            Some(DealPosting::Row(row)) => self.posting(*row),
            None => Posting::Positions(&[]),
        }
    }

    #[inline(always)]
    fn posting(&self, row: RowId) -> Posting<'_> {
        self.rows.get(row).map_or(Posting::All, Posting::Row)
    }
}
