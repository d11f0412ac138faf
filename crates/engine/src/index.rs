//! The index of a catalog: for each value of each targeting dimension, the row of line items that
//! it lets through.
//!
//! "Any" is folded into every row of a dimension, and a value that no line item names shares the
//! row of those that take any. A dimension of few values has a row a value; one of many (deals)
//! has short lists of positions, and rows where a list would be longer than a row is wide.

use crate::intern::Interner;
use crate::keyed::Keyed;
use crate::rows::{self, Row, RowBuilder, RowId, Rows};
use crate::rules::Rules;
use crate::systems::Systems;
use crate::{BLOCK_LEN, Block, Hours, LineItem, Numbers, Targeting, Version, keys};
use openrtb::{Channel, Country, DeviceType, Floor, MediaType, MediaTypes, Micros, Reason};

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
    pub places: Keyed,
    pub systems: Systems,
    channels: Dimension,
    pub inventory: Keyed,
    pub publishers: Keyed,
    pub categories: Keyed,
    pub languages: Keyed,
    connection_types: Dimension,
    hours: Dimension,
    positions: Dimension,
    plcmts: Dimension,
    interstitial: Dimension,
    rewarded: Dimension,
    pub banner_sizes: BannerSizes,
    pub deals: Deals,
    stages: Stages,
}

impl Index {
    /// Indexes line items, which are in price order.
    pub fn new(items: &[LineItem], rules: &Rules) -> Index {
        let mut rows = Rows::new(items.len());
        let prices: Box<[_]> = items.iter().map(|item| item.cpm).collect();
        let mut index = Index {
            tops: prices.iter().step_by(BLOCK_LEN).copied().collect(),
            prices,
            open: rows.select(|at| items.get(at).is_some_and(|i| i.targeting.deals.is_empty())),
            countries: countries(&mut rows, items),
            device_types: device_types(&mut rows, items),
            formats: formats(&mut rows, items),
            sizes: Sizes::new(&mut rows, items),
            places: keys::places(&mut rows, items),
            systems: Systems::new(&mut rows, items),
            channels: channels(&mut rows, items),
            inventory: keys::inventory(&mut rows, items),
            publishers: keys::publishers(&mut rows, items),
            categories: keys::categories(&mut rows, items),
            languages: keys::languages(&mut rows, items),
            connection_types: connection_types(&mut rows, items),
            hours: hours(&mut rows, items),
            positions: positions(&mut rows, items),
            plcmts: plcmts(&mut rows, items),
            interstitial: flags(&mut rows, items, |targeting| targeting.interstitial),
            rewarded: flags(&mut rows, items, |targeting| targeting.rewarded),
            banner_sizes: BannerSizes::new(&mut rows, items, rules),
            deals: Deals::new(&mut rows, items),
            stages: Stages::ALWAYS,
            rows,
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

    /// All rows, for who puts one together of several.
    pub fn rows(&self) -> &Rows {
        &self.rows
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

    /// Those that take the system, folded, and its version; `None` is all of them. It may let too
    /// many through where [`Systems::is_exact`] is false.
    pub fn system(&self, name: Option<&str>, version: Option<Version>) -> Option<Row<'_>> {
        self.rows.get(self.systems.row(name, version))
    }

    /// Those that take the channel; `None` is all of them.
    pub fn channel(&self, channel: Option<Channel>) -> Option<Row<'_>> {
        let value = channel.map(|channel| channel as usize);
        self.rows.get(self.channels.row(value))
    }

    /// Those that take the type of connection; `None` is all of them.
    pub fn connection_type(&self, number: Option<i32>) -> Option<Row<'_>> {
        self.rows.get(self.connection_types.row(value(number)))
    }

    /// Those that take the hour of the week; `None` is all of them.
    pub fn hour(&self, hour: Option<usize>) -> Option<Row<'_>> {
        self.rows.get(self.hours.row(hour))
    }

    /// Those that take the positions of banner and video; `None` is all of them.
    pub fn position(&self, banner: Option<i32>, video: Option<i32>) -> Option<Row<'_>> {
        let known = |pos| value(pos).filter(|pos| *pos < POSITIONS).unwrap_or(0);
        let pair = known(banner) * POSITIONS + known(video);
        self.rows.get(self.positions.row(Some(pair)))
    }

    /// Those that take the kind of placement; `None` is all of them.
    pub fn plcmt(&self, number: Option<i32>) -> Option<Row<'_>> {
        self.rows.get(self.plcmts.row(value(number)))
    }

    /// Those that take `instl`; `None` is all of them.
    pub fn interstitial(&self, instl: bool) -> Option<Row<'_>> {
        self.rows.get(self.interstitial.row(Some(instl.into())))
    }

    /// Those that take `rwdd`; `None` is all of them.
    pub fn rewarded(&self, rwdd: bool) -> Option<Row<'_>> {
        self.rows.get(self.rewarded.row(Some(rwdd.into())))
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
    /// Whether some line item does not take any.
    is_targeted: bool,
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
            is_targeted: otherwise != RowId::ALL,
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

fn channels(rows: &mut Rows, items: &[LineItem]) -> Dimension {
    Dimension::new(rows, items, Numbers::COUNT, |item, name| {
        each_number(item.targeting.channels, name)
    })
}

fn connection_types(rows: &mut Rows, items: &[LineItem]) -> Dimension {
    Dimension::new(rows, items, Numbers::COUNT, |item, name| {
        each_number(item.targeting.connection_types, name)
    })
}

fn plcmts(rows: &mut Rows, items: &[LineItem]) -> Dimension {
    Dimension::new(rows, items, Numbers::COUNT, |item, name| {
        each_number(item.targeting.plcmts, name)
    })
}

/// Names the numbers of a set.
fn each_number(numbers: Numbers, name: &mut dyn FnMut(usize)) -> Takes {
    let is_in = |number: &usize| u8::try_from(*number).is_ok_and(|number| numbers.contains(number));
    (0..Numbers::COUNT).filter(is_in).for_each(name);
    Takes::any_if(numbers.is_empty())
}

/// The value of a field of numbers.
fn value(number: Option<i32>) -> Option<usize> {
    number.and_then(|number| usize::try_from(number).ok())
}

fn hours(rows: &mut Rows, items: &[LineItem]) -> Dimension {
    Dimension::new(rows, items, Hours::COUNT, |item, name| {
        let hours = &item.targeting.hours;
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

/// The value is the banner's position and the video's, so that one row answers for both.
fn positions(rows: &mut Rows, items: &[LineItem]) -> Dimension {
    Dimension::new(rows, items, POSITIONS * POSITIONS, |item, name| {
        let positions = item.targeting.positions;
        if positions.is_empty() {
            return Takes::Any;
        }
        let has = |media| item.creatives.iter().any(|of| of.media == media);
        let (banner, video) = (has(MediaType::Banner), has(MediaType::Video));
        let is_met = |pos: usize| u8::try_from(pos).is_ok_and(|pos| positions.contains(pos));
        (0..POSITIONS * POSITIONS)
            .filter(|pair| banner && is_met(pair / POSITIONS) || video && is_met(pair % POSITIONS))
            .for_each(name);
        Takes::Named
    })
}

fn flags(
    rows: &mut Rows,
    items: &[LineItem],
    wanted: impl Fn(&Targeting) -> Option<bool>,
) -> Dimension {
    Dimension::new(rows, items, 2, |item, name| {
        let wanted = wanted(&item.targeting);
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

/// The banner sizes of creatives: who has one of each. It spares the last stage line items whose
/// banners are of other sizes than those offered; it does not say that one fits.
#[derive(Debug)]
pub(crate) struct BannerSizes {
    /// By the size's number in [`Rules`]; `None` where it has no row of its own.
    by_size: Box<[Option<RowId>]>,
    /// Those with a creative that is no banner, or whose size has no row.
    otherwise: RowId,
}

impl BannerSizes {
    /// So many sizes have rows: those that the most creatives have.
    const SIZES_MAX: usize = 64;

    fn new(rows: &mut Rows, items: &[LineItem], rules: &Rules) -> BannerSizes {
        let mut counts = vec![0usize; rules.sizes_len()];
        for size in items.iter().flat_map(|item| sizes(item, rules)).flatten() {
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
        for (at, item) in items.iter().enumerate() {
            for size in sizes(item, rules) {
                let row = size.and_then(|size| by_size.get_mut(size as usize)?.as_mut());
                row.unwrap_or(&mut otherwise).set(at);
            }
        }
        let by_size = by_size.into_iter().map(|row| Some(rows.add(row?)));
        BannerSizes {
            by_size: by_size.collect(),
            otherwise: rows.add(otherwise),
        }
    }

    /// Whether it can spare anything: not where everybody has another creative than a banner.
    pub fn is_of_use(&self) -> bool {
        self.otherwise != RowId::ALL
    }

    /// Keeps of a block those that may have a creative of one of the sizes.
    pub fn keep(&self, rows: &Rows, sizes: &[u32], block: usize, left: &mut Block) {
        let of_sizes = sizes
            .iter()
            .filter_map(|size| *self.by_size.get(*size as usize)?);
        let mut any = rows::NONE;
        for id in of_sizes.chain([self.otherwise]) {
            match rows.get(id) {
                Some(row) => rows::add(&mut any, row.block(block)),
                None => return,
            }
        }
        rows::keep(left, &any);
    }
}

/// The size of each creative; `None` of one that is no banner.
fn sizes<'i>(item: &'i LineItem, rules: &'i Rules) -> impl Iterator<Item = Option<u32>> + 'i {
    item.creatives.iter().map(|of| match of.media {
        MediaType::Banner => rules.size(of.w.zip(of.h)?),
        _ => None,
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
