//! The decision over the index.
//!
//! A market is walked block by block, in price order. Of each block only the line items count
//! that get further than the furthest stage reached so far: their rows are ANDed, and as a rule
//! nothing is left and the walk goes on. If something is left, the furthest stage moves on, and
//! only then is the request asked what that stage needs. So the one pass finds the best line item
//! and, where there is none, the exact stage at which the last one dropped out; and hardly anything
//! is read that could not change the answer: country, device type and media, at which nearly every
//! request drops out, are asked for together.

use crate::decision::Draft;
use crate::flights::{Live, LiveAtHand};
use crate::index::Posting;
use crate::intern::NumberSet;
use crate::item::impression_cost;
use crate::keyed::{Keyed, Slot};
use crate::keys::Hits;
use crate::rows::{self, Row};
use crate::rules::{DealRules, ImpRules, RequestRules};
use crate::systems::System;
use crate::{
    BLOCK_LEN, Bid, BidId, Block, Book, Catalog, Decision, Hours, Invalid, LineItem, Position,
    Rates, Snapshot, Timestamp,
};
use core::cell::Cell;
use core::ops::ControlFlow;
use openrtb::{
    Channel, Currency, DealView, DeviceInt, DeviceText, Floor, ImpView, Limit, MediaInt, MediaType,
    MediaTypes, Micros, Read, Reason, Refusal, RequestTexts, RequestView, Step, Text,
};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most that one request may cost, in blocks of line items, in line items that are looked at one by
/// one, and in bids, over all its markets. With a million line items a market that nobody wins costs some 2,000.
pub const WORK_MAX: u32 = 1 << 20;
/// What a bid counts for: no answer has more than 4,096.
const WORK_OF_BID: u32 = 256;

/// Room that a decision works in. Keep one for each thread: once warm, a no allocates nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    live: LiveAtHand,
    room: Room,
    built: Built,
}

/// Rows that are put together for a request: one for each dimension of many values.
#[derive(Debug, Default)]
struct Built {
    is_used: Cell<bool>,
    slots: [Slot; 5],
}

impl Built {
    fn slot(&self, place: usize) -> Option<&Slot> {
        self.is_used.set(true);
        self.slots.get(place)
    }

    /// Another request begins.
    #[inline]
    fn forget(&mut self) {
        if self.is_used.take() {
            self.slots.iter_mut().for_each(Slot::forget);
        }
    }
}

/// The slots, by place.
const PLACES: usize = 0;
const INVENTORY: usize = 1;
const PUBLISHERS: usize = 2;
const CATEGORIES: usize = 3;
const LANGUAGES: usize = 4;

/// What is read of a request, in the catalog's numbers.
#[derive(Debug, Default)]
struct Room {
    request: RequestRules,
    imp: ImpRules,
    deal: DealRules,
    /// The deals whose market has been.
    deals_seen: NumberSet,
    /// A hash of each impression's id and the impression, sorted.
    imp_ids: Vec<(u64, usize)>,
    /// The impressions that share their id with another one, or have none; sorted.
    unusable: Vec<usize>,
    hits: Hits,
    system: System,
}

impl Room {
    fn resize(&mut self, catalog: &Catalog) {
        self.request.resize(&catalog.rules);
        self.imp.resize(&catalog.rules);
        self.deal.resize(&catalog.rules);
        self.deals_seen.resize(catalog.index.deals.len());
    }
}

/// Decides on a request (`docs/decisions.md`): the bids, whose prices are then reserved in the
/// snapshot's book, or the one reason why there is none.
///
/// `ids` draws an id for every bid that is tried. The decision borrows from the snapshot and from
/// the request's bytes, which outlive it.
pub fn decide<'a: 's, 's, V: RequestView<'a>, K: Book>(
    request: &V,
    snapshot: &'s Snapshot<K>,
    rates: &Rates,
    now: Timestamp,
    scratch: &mut Scratch,
    ids: &mut impl FnMut() -> BidId,
) -> Decision<'s> {
    let (catalog, book) = (snapshot.catalog(), snapshot.book());
    book.follow(now);
    if !scratch.live.is_of(catalog) {
        scratch.room.resize(catalog);
    }
    let live = scratch.live.at(catalog, now);
    scratch.room.request.forget();
    scratch.built.forget();
    let mut matching = Matching {
        request,
        catalog,
        book,
        rates,
        now,
        live,
        any_live: live.any(),
        room: &mut scratch.room,
        built: &scratch.built,
        ids,
        draft: Draft::new(book),
        rows: Plan::default(),
        furthest: None,
        channel: None,
        offered: MediaTypes::NONE,
        video_size: None,
        imp_floor: None,
        work: 0,
    };
    let decided = matching.decide();
    matching.draft.finish(request, decided)
}

struct Matching<'x, 's, V, K, F> {
    request: &'x V,
    catalog: &'s Catalog,
    book: &'s K,
    rates: &'x Rates,
    now: Timestamp,
    live: &'x Live,
    any_live: bool,
    room: &'x mut Room,
    built: &'x Built,
    ids: &'x mut F,
    draft: Draft<'s, 's, K>,
    rows: Plan<'x>,
    /// The furthest stage that a line item has come to; `None` before the first market.
    furthest: Option<Reason>,
    /// Of the request, once a stage is reached that asks for it.
    channel: Option<Option<Channel>>,
    /// Of the impression, once the stage is reached that asks for it.
    offered: MediaTypes,
    video_size: Option<(i32, i32)>,
    imp_floor: Option<Floor>,
    /// What it has cost so far.
    work: u32,
}

/// The stages that every catalog has, where nothing else is targeted in between, and at which nearly
/// every line item drops out.
const LEAD: [Reason; 3] = [Reason::Country, Reason::DeviceType, Reason::Format];

/// The rows that a line item must be in to get past the stages reached.
struct Plan<'a> {
    /// `None` is the row of every line item.
    few: [Option<Row<'a>>; Plan::FEW],
    /// Those that there is no room for among the few; nothing is laid out for what hardly any
    /// catalog needs.
    more: Option<[Row<'a>; Plan::ROWS_MAX - Plan::FEW]>,
    len: usize,
    /// How many of them are about the request, whatever the impression.
    of_request: usize,
    /// The last stage whose rows are in.
    through: Reason,
}

impl Default for Plan<'_> {
    #[inline(always)]
    fn default() -> Self {
        Plan {
            few: [None; Plan::FEW],
            more: None,
            len: 0,
            of_request: 0,
            through: Reason::Deal,
        }
    }
}

impl<'a> Plan<'a> {
    /// Country, device type, format, and four bounds of size.
    const FEW: usize = 7;
    /// One for each stage from country to rewarded, and three more: there are four bounds of size.
    const ROWS_MAX: usize = 20;

    /// The rows, but for those that are too many.
    #[inline(always)]
    fn few(&self) -> impl Iterator<Item = &Row<'a>> {
        self.few
            .get(..self.len)
            .unwrap_or(&self.few)
            .iter()
            .flatten()
    }

    /// The rest of the rows.
    #[inline(always)]
    fn more(&self) -> &[Row<'a>] {
        match (&self.more, self.len.checked_sub(Self::FEW)) {
            (Some(more), Some(len)) => more.get(..len).unwrap_or(more),
            _ => &[],
        }
    }

    /// Keeps what all rows have of a block.
    #[inline(always)]
    fn keep(&self, block: usize, left: &mut Block) {
        for row in self.few().chain(self.more()) {
            rows::keep(left, row.block(block));
        }
    }

    /// Keeps what the rows from the one at `since` on have of a block.
    #[inline(always)]
    fn keep_since(&self, since: usize, block: usize, left: &mut Block) {
        let few = self.few.get(since..self.len.min(Self::FEW));
        for row in few.unwrap_or_default().iter().flatten() {
            rows::keep(left, row.block(block));
        }
        for row in self.more().iter().skip(since.saturating_sub(Self::FEW)) {
            rows::keep(left, row.block(block));
        }
    }

    /// Adds a row; none is needed where every line item is in it.
    fn push(&mut self, row: Option<Row<'a>>) {
        let Some(row) = row else {
            return;
        };
        match self.len.checked_sub(Self::FEW) {
            None => {
                if let Some(slot) = self.few.get_mut(self.len) {
                    *slot = Some(row);
                }
            }
            Some(at) => {
                let none = [Row::NONE; Plan::ROWS_MAX - Plan::FEW];
                if let Some(slot) = self.more.get_or_insert(none).get_mut(at) {
                    *slot = row;
                }
            }
        }
        self.len += 1;
    }

    /// Begins with the rows of [`LEAD`] up to that of the stage `at`.
    #[inline(always)]
    fn begin(&mut self, rows: [Option<Row<'a>>; LEAD.len()], at: usize) {
        if let Some(few) = self.few.first_chunk_mut() {
            *few = rows;
        }
        self.len = at + 1;
        self.of_request = LEAD.len() - 1;
        self.through = *LEAD.get(at).unwrap_or(&Reason::Country);
    }

    /// Another impression begins: the rows of the last one go.
    fn begin_imp(&mut self) {
        if self.through > Reason::Hour {
            self.through = Reason::Hour;
            self.len = self.of_request;
        }
    }
}

/// An impression while its markets are walked.
struct Impression<'m, 'a, I> {
    id: Text<'a>,
    view: &'m I,
}

/// A market while it is walked.
struct Market<'m, 'a, I, D> {
    imp: &'m Impression<'m, 'a, I>,
    deal: Option<(Text<'a>, &'m D)>,
    /// Known once the floor matters.
    terms: Option<Terms>,
    deal_rules_are_read: bool,
}

type DealOf<'a, V> = <<V as RequestView<'a>>::Imp as ImpView<'a>>::Deal;
type MarketOf<'m, 'a, V> = Market<'m, 'a, <V as RequestView<'a>>::Imp, DealOf<'a, V>>;

impl<'m, 'a, I, D> Market<'m, 'a, I, D> {
    fn new(imp: &'m Impression<'m, 'a, I>, deal: Option<(Text<'a>, &'m D)>) -> Self {
        Market {
            imp,
            deal,
            terms: None,
            deal_rules_are_read: false,
        }
    }
}

/// What a market asks, in the base currency.
#[derive(Clone, Copy)]
struct Terms {
    floor: Floor,
    /// The first block whose every line item is below the floor.
    end: usize,
    /// The price of a deal that has one, whatever the line item's.
    fixed_price: Option<Micros>,
}

/// Whether the walk over a market's blocks goes on.
type Walk = ControlFlow<()>;
const ON: Walk = ControlFlow::Continue(());
const DONE: Walk = ControlFlow::Break(());

impl<'a: 's, 's: 'x, 'x, V, K, F> Matching<'x, 's, V, K, F>
where
    V: RequestView<'a>,
    K: Book,
    F: FnMut() -> BidId,
{
    fn decide(&mut self) -> Result<Reason, Invalid> {
        self.draft.id = Some(self.request.id()?.ok_or(Invalid::NoId)?);
        let imps = self.request.imps()?;
        if imps == 0 {
            return Err(Invalid::NoImp);
        }
        if !self.takes_our_currency()? {
            return Ok(Reason::Currency);
        }
        if imps > 1 {
            self.find_unusable(imps)?;
        }
        for index in 0..imps {
            if imps > 1 && self.room.unusable.binary_search(&index).is_ok() {
                continue;
            }
            let view = &self.request.imp(index)?;
            if let Some(id) = view.id()? {
                self.markets(&Impression { id, view })?;
            }
        }
        let nowhere = if self.catalog.is_empty() {
            Reason::Inactive
        } else {
            Reason::Deal
        };
        Ok(self.furthest.unwrap_or(nowhere))
    }

    fn takes_our_currency(&self) -> Read<bool> {
        let (mut is_set, mut is_ours) = (false, false);
        self.request.texts(RequestTexts::Cur, |text| {
            let currency = Currency::of(text);
            is_set |= currency.is_some();
            is_ours |= currency == Some(self.rates.base());
            if is_ours { Step::Enough } else { Step::On }
        })?;
        Ok(is_ours || !is_set && self.rates.base() == Currency::USD)
    }

    /// Finds the impressions that have no id of their own.
    fn find_unusable(&mut self, imps: usize) -> Read<()> {
        let Room {
            imp_ids, unusable, ..
        } = &mut *self.room;
        imp_ids.clear();
        unusable.clear();
        if imps <= FEW_IMPS {
            return find_unusable_of_few(self.request, imps, unusable);
        }
        for index in 0..imps {
            match self.request.imp(index)?.id()? {
                Some(id) => imp_ids.push((hash_of(id), index)),
                None => unusable.push(index),
            }
        }
        imp_ids.sort_unstable();
        for alike in imp_ids
            .chunk_by(|(a, _), (b, _)| a == b)
            .filter(|alike| alike.len() > 1)
        {
            for (_, index) in alike {
                if shares_id(self.request, *index, alike)? {
                    unusable.push(*index);
                }
            }
        }
        unusable.sort_unstable();
        Ok(())
    }

    /// Every market of an impression, in order.
    fn markets(&mut self, imp: &Impression<'_, 'a, V::Imp>) -> Read<()> {
        self.rows.begin_imp();
        self.imp_floor = None;
        self.room.imp.forget();
        self.room.deals_seen.clear();
        // Without line items for deals, a deal's market is none's, which says no more than that
        // some line item is live.
        if self.catalog.index.deals.len() > 0 || !self.any_live {
            imp.view
                .deals(|deal| self.deal(imp, &deal).map(|()| Step::On))?;
        }
        if imp.view.private_auction()? {
            return Ok(());
        }
        self.market(self.catalog.index.deals.open(), &mut Market::new(imp, None))
    }

    fn deal(&mut self, imp: &Impression<'_, 'a, V::Imp>, deal: &DealOf<'a, V>) -> Read<()> {
        let Some(id) = deal.id()? else {
            return Ok(());
        };
        let deals = &self.catalog.index.deals;
        let number = id.with_bytes(|id| deals.number(id));
        let posting = match number {
            Some(number) if !self.room.deals_seen.insert(number) => return Ok(()),
            Some(number) if self.any_live => deals.of(number),
            // Nobody's market.
            _ => {
                self.reach_market();
                return Ok(());
            }
        };
        self.market(posting, &mut Market::new(imp, Some((id, deal))))
    }

    /// Walks one market: bids with the best line item that is left, or takes note of the stage
    /// at which the last one dropped out.
    fn market(&mut self, posting: Posting<'s>, market: &mut MarketOf<'_, 'a, V>) -> Read<()> {
        self.reach_market();
        if !self.any_live {
            return Ok(());
        }
        self.load_rows(market)?;
        if self.is_past(Reason::Floor) {
            self.load_terms(market)?;
        }
        match posting {
            Posting::All => self.walk_row(self.live.row(), market),
            Posting::Row(row) => self.walk_row(row, market),
            Posting::Positions(positions) => self.walk_positions(positions, market),
        }
    }

    /// Takes note of a market: every line item is live and drops out at the deal, or is not live.
    fn reach_market(&mut self) {
        self.reach(match self.any_live {
            true => Reason::Deal,
            false => Reason::Inactive,
        });
    }

    fn reach(&mut self, stage: Reason) {
        self.furthest = self.furthest.max(Some(stage));
    }

    /// Whether only line items that pass this stage can still change the answer.
    #[inline(always)]
    fn is_past(&self, stage: Reason) -> bool {
        self.furthest >= Some(stage)
    }

    /// Refuses a request that makes too much work: impressions and deals without end, over line items
    /// that all get far and are then blocked.
    #[inline(always)]
    fn spend(&mut self, work: u32) -> Read<()> {
        self.work = self.work.saturating_add(work);
        match self.work > WORK_MAX {
            true => Err(Refusal::OverLimit(Limit::Work)),
            false => Ok(()),
        }
    }

    fn walk_row(&mut self, row: Row<'_>, market: &mut MarketOf<'_, 'a, V>) -> Read<()> {
        if let [block] = row.blocks() {
            self.spend(2)?;
            return self.block(0, block, market).map(|_| ());
        }
        for word in 0..row.summary_len() {
            let blocks = self.summary(row, word);
            self.spend(1 + blocks.count_ones())?;
            for at in rows::ones(blocks) {
                let block = word * 64 + at;
                if self.block(block, row.block(block), market)? == DONE {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The blocks of a summary's word that may have something left.
    #[inline(always)]
    fn summary(&self, row: Row<'_>, word: usize) -> u64 {
        let left = row.summary(word) & self.live.row().summary(word);
        let rows = self.rows.few().chain(self.rows.more());
        rows.fold(left, |left, row| left & row.summary(word))
    }

    fn walk_positions(&mut self, positions: &[u32], market: &mut MarketOf<'_, 'a, V>) -> Read<()> {
        let block_of = |at: &u32| *at as usize / BLOCK_LEN;
        for together in positions.chunk_by(|a, b| block_of(a) == block_of(b)) {
            let mut block = rows::NONE;
            together
                .iter()
                .for_each(|at| rows::set(&mut block, *at as usize % BLOCK_LEN));
            let at = together.first().map_or(0, block_of);
            self.spend(1)?;
            if self.block(at, &block, market)? == DONE {
                return Ok(());
            }
        }
        Ok(())
    }

    /// One block of a market. Nearly always nothing of it is left.
    #[inline(always)]
    fn block(
        &mut self,
        block: usize,
        of_market: &Block,
        market: &mut MarketOf<'_, 'a, V>,
    ) -> Read<Walk> {
        if market.terms.is_some_and(|terms| terms.end <= block) {
            return Ok(DONE);
        }
        let mut left = *of_market;
        rows::keep(&mut left, self.live.row().block(block));
        self.rows.keep(block, &mut left);
        if rows::is_empty(&left) {
            return Ok(ON);
        }
        self.left_of_block(block, left, market)
    }

    /// A block of which something is left after the rows: takes it past the stages reached that
    /// have none, then through further ones as long as something is left.
    fn left_of_block(
        &mut self,
        block: usize,
        mut left: Block,
        market: &mut MarketOf<'_, 'a, V>,
    ) -> Read<Walk> {
        if let Some((_, deal)) = market.deal {
            if !market.deal_rules_are_read {
                self.room.deal.read(&self.catalog.rules, deal)?;
                market.deal_rules_are_read = true;
            }
            if self.room.deal.admit_none() {
                return Ok(DONE);
            }
            self.keep_admitted(block, &mut left);
        }
        if self.furthest > Some(Reason::Deal) {
            self.keep_passed(block, &mut left, market)?;
        } else if !rows::is_empty(&left) && self.catalog.index.has_stages(&LEAD) {
            left = self.lead(block, left, market.imp.view)?;
        }
        while !rows::is_empty(&left) {
            let after = |stage| self.catalog.index.after(stage);
            let Some(stage) = self.furthest.and_then(after) else {
                return self.candidates(block, left, market);
            };
            self.reach(stage);
            let since = self.rows.len;
            self.load_rows(market)?;
            self.rows.keep_since(since, block, &mut left);
            self.keep_passing(stage, block, &mut left, market)?;
        }
        Ok(ON)
    }

    /// Keeps those that pass the stages reached for which the rows do not say all.
    fn keep_passed(
        &mut self,
        block: usize,
        left: &mut Block,
        market: &mut MarketOf<'_, 'a, V>,
    ) -> Read<()> {
        for stage in [Reason::Os, Reason::VideoSize, Reason::Floor, Reason::Budget] {
            if self.is_past(stage) {
                self.keep_passing(stage, block, left, market)?;
            }
        }
        if self.is_past(Reason::Blocked) {
            self.keep_offered(block, left, market.imp.view)?;
        }
        Ok(())
    }

    /// Takes the first of what is left past the stages of [`LEAD`], and sees only then how far it
    /// came. At which of them a request drops out is nothing that a processor could learn, and each
    /// wrong guess would cost more than all three rows.
    #[inline(always)]
    fn lead(&mut self, block: usize, left: Block, imp: &V::Imp) -> Read<Block> {
        let index = &self.catalog.index;
        self.offered = imp.media_types()?;
        let rows = [
            index.country(self.request.country()?),
            index.device_type(self.request.device_type()?),
            index.format(self.offered),
        ];
        let (mut left, mut passed) = (left, 0);
        for row in &rows {
            rows::keep(&mut left, row.map_or(&rows::ALL, |row| row.block(block)));
            passed += usize::from(!rows::is_empty(&left));
        }
        let at = passed.min(LEAD.len() - 1);
        self.rows.begin(rows, at);
        self.furthest = LEAD.get(at).copied();
        Ok(left)
    }

    /// Loads the rows of the stages reached, and reads what they ask for.
    fn load_rows(&mut self, market: &MarketOf<'_, 'a, V>) -> Read<()> {
        let (catalog, imp) = (self.catalog, market.imp.view);
        let index = &catalog.index;
        while let Some(stage) = index.after(self.rows.through)
            && self.is_past(stage)
        {
            match stage {
                Reason::Country => self.rows.push(index.country(self.request.country()?)),
                Reason::DeviceType => {
                    self.rows
                        .push(index.device_type(self.request.device_type()?));
                }
                Reason::Format => {
                    self.offered = imp.media_types()?;
                    self.rows.of_request = self.rows.len;
                    self.rows.push(index.format(self.offered));
                }
                Reason::VideoSize => {
                    self.video_size = imp.video_size()?;
                    let rows = index.video_size(self.video_size);
                    rows.into_iter().for_each(|row| self.rows.push(row));
                }
                Reason::Floor => return Ok(()),
                Reason::Position | Reason::Plcmt | Reason::Interstitial | Reason::Rewarded => {
                    self.load_placement(stage, imp)?;
                }
                _ => self.load_audience(stage)?,
            }
            self.rows.through = stage;
        }
        Ok(())
    }

    /// Loads the row of a stage that only some line items care about, and asks the request.
    #[inline(never)]
    fn load_audience(&mut self, stage: Reason) -> Read<()> {
        let index = &self.catalog.index;
        let row = match stage {
            Reason::Os => self.system()?,
            Reason::Channel => index.channel(self.channel()?),
            Reason::ConnectionType => {
                index.connection_type(self.request.device_int(DeviceInt::Connectiontype)?)
            }
            Reason::Hour => {
                let minutes = self.request.device_int(DeviceInt::Utcoffset)?;
                index.hour(minutes.and_then(|minutes| Hours::at(self.now, minutes)))
            }
            _ => return self.load_keyed(stage),
        };
        self.rows.push(row);
        Ok(())
    }

    /// Loads the row of a stage of many values.
    fn load_keyed(&mut self, stage: Reason) -> Read<()> {
        let (catalog, request) = (self.catalog, self.request);
        let index = &catalog.index;
        let channel = match stage {
            Reason::Place => None,
            _ => self.channel()?,
        };
        let hits = &mut self.room.hits;
        hits.clear();
        let (of, place): (&Keyed, _) = match stage {
            Reason::Place => (&index.places, PLACES),
            Reason::Inventory => (&index.inventory, INVENTORY),
            Reason::Publisher => (&index.publishers, PUBLISHERS),
            Reason::Category => (&index.categories, CATEGORIES),
            _ => (&index.languages, LANGUAGES),
        };
        match (place, channel) {
            (PLACES, _) => hits.read_places(of, request)?,
            (_, None) => {}
            (INVENTORY, Some(channel)) => hits.read_inventory(of, channel, request)?,
            (PUBLISHERS, Some(channel)) => hits.read_publisher(of, channel, request)?,
            (CATEGORIES, Some(channel)) => hits.read_categories(of, channel, request)?,
            (_, Some(channel)) => hits.read_language(of, channel, request)?,
        }
        let row = self
            .built
            .slot(place)
            .and_then(|slot| of.row(hits.found(), slot));
        self.rows.push(row);
        Ok(())
    }

    /// Loads the row of a stage of the impression that only some line items care about.
    #[inline(never)]
    fn load_placement(&mut self, stage: Reason, imp: &V::Imp) -> Read<()> {
        let index = &self.catalog.index;
        let row = match stage {
            Reason::Position => {
                let banner = imp.int(MediaType::Banner, MediaInt::Pos)?;
                index.position(banner, imp.int(MediaType::Video, MediaInt::Pos)?)
            }
            Reason::Plcmt => index.plcmt(imp.int(MediaType::Video, MediaInt::Plcmt)?),
            Reason::Interstitial => index.interstitial(imp.instl()?),
            _ => index.rewarded(imp.rwdd()?),
        };
        self.rows.push(row);
        Ok(())
    }

    fn channel(&mut self) -> Read<Option<Channel>> {
        match self.channel {
            Some(channel) => Ok(channel),
            None => Ok(*self.channel.insert(self.request.channel()?)),
        }
    }

    /// Reads the operating system, and its version if that matters: those that take them.
    fn system(&mut self) -> Read<Option<Row<'s>>> {
        let (index, system) = (&self.catalog.index, &mut self.room.system);
        system.set_name(self.request.device_text(DeviceText::Os)?);
        if index.systems.asks_version(system.name()) {
            system.set_version(self.request.device_text(DeviceText::Osv)?);
        }
        Ok(index.systems.row(system.name(), system.version()))
    }

    /// Keeps those that a deal's own lists let in.
    fn keep_admitted(&self, block: usize, left: &mut Block) {
        if self.room.deal.are_unset() {
            return;
        }
        for at in rows::places(*left) {
            if !self
                .room
                .deal
                .admit(&self.catalog.rules, block * BLOCK_LEN + at)
            {
                rows::unset(left, at);
            }
        }
    }

    /// Keeps those that pass a stage for which the rows do not say all.
    fn keep_passing(
        &mut self,
        stage: Reason,
        block: usize,
        left: &mut Block,
        market: &mut MarketOf<'_, 'a, V>,
    ) -> Read<()> {
        match stage {
            Reason::Os if !self.catalog.index.systems.is_exact() => {
                self.keep_with_system(block, left);
            }
            Reason::VideoSize if !self.catalog.index.sizes_are_exact() => {
                self.keep_sized(block, left);
            }
            Reason::Floor => {
                let terms = self.load_terms(market)?;
                if terms.end <= block + 1 {
                    let above = self.catalog.index.prices.above(block, terms.floor);
                    rows::keep(left, &rows::first(above));
                }
            }
            // At a fixed price even one that cannot pay its own may bid.
            Reason::Budget if self.load_terms(market)?.fixed_price.is_none() => {
                rows::keep(left, &self.book.funded(block));
            }
            _ => (),
        }
        Ok(())
    }

    fn keep_with_system(&mut self, block: usize, left: &mut Block) {
        for at in rows::places(*left) {
            let item = self.item(block, at);
            let targets = item.map_or(&[][..], |(_, item)| &item.targeting.os);
            if !targets.is_empty() && !self.room.system.meets(targets) {
                rows::unset(left, at);
            }
        }
    }

    fn keep_sized(&self, block: usize, left: &mut Block) {
        for at in rows::places(*left) {
            let item = position(block, at).and_then(|at| self.catalog.item(at));
            let bounds = item
                .map(|item| item.targeting.video_size)
                .unwrap_or_default();
            let inside = self.video_size.is_some_and(|(w, h)| bounds.admits(w, h));
            if bounds.is_bounded() && !inside {
                rows::unset(left, at);
            }
        }
    }

    /// Reads what a market asks, once.
    fn load_terms(&mut self, market: &mut MarketOf<'_, 'a, V>) -> Read<Terms> {
        if let Some(terms) = market.terms {
            return Ok(terms);
        }
        let mut floor = None;
        if let Some((_, deal)) = market.deal {
            floor = self.rates.deal_floor(deal)?;
        }
        let floor = match floor {
            Some(floor) => floor,
            None => self.imp_floor(market.imp.view)?,
        };
        let mut fixed_price = None;
        if let (Some((_, deal)), Floor::At(price)) = (market.deal, floor)
            && price > Micros::ZERO
            && deal.at()? == Some(FIXED_PRICE)
        {
            fixed_price = Some(price);
        }
        let end = self.catalog.index.prices.end(floor);
        Ok(*market.terms.insert(Terms {
            floor,
            end,
            fixed_price,
        }))
    }

    fn imp_floor(&mut self, imp: &V::Imp) -> Read<Floor> {
        match self.imp_floor {
            Some(floor) => Ok(floor),
            None => Ok(*self.imp_floor.insert(self.rates.imp_floor(imp)?)),
        }
    }

    /// What is left after every row: tries one after the other, the best first.
    fn candidates(
        &mut self,
        block: usize,
        left: Block,
        market: &mut MarketOf<'_, 'a, V>,
    ) -> Read<Walk> {
        let fixed_price = self.load_terms(market)?.fixed_price;
        let mut left = left;
        while let Some(place) = rows::places(left).next() {
            rows::unset(&mut left, place);
            self.spend(1)?;
            let Some((at, item)) = self.item(block, place) else {
                continue;
            };
            let price = fixed_price.unwrap_or(item.cpm);
            let cost = impression_cost(price);
            if self.book.available(at, self.now) < cost {
                continue;
            }
            if self.blocks_all(market.imp.view)? {
                self.reach(Reason::Blocked);
                return Ok(DONE);
            }
            let creative = self.fitting(at, market.imp.view)?;
            let Some(creative) = creative.and_then(|creative| item.creatives.get(creative)) else {
                if !self.is_past(Reason::Blocked) {
                    self.reach(Reason::Blocked);
                    self.keep_offered(block, &mut left, market.imp.view)?;
                }
                continue;
            };
            self.spend(WORK_OF_BID)?;
            let id = (self.ids)();
            if self.book.reserve(at, id, cost, self.now) {
                self.draft.bids.push(Bid {
                    id,
                    imp: market.imp.id,
                    deal: market.deal.map(|(id, _)| id),
                    position: at,
                    item,
                    creative,
                    price,
                    test: false,
                });
                // With a bid no reason is wanted any more, so only candidates matter.
                self.reach(Reason::Blocked);
                return Ok(DONE);
            }
        }
        Ok(ON)
    }

    /// Keeps those that have another creative than banners of sizes that are not offered. Only once
    /// it is no reason any more where one of the others would have dropped out before.
    fn keep_offered(&mut self, block: usize, left: &mut Block, imp: &V::Imp) -> Read<()> {
        let rules = &self.catalog.rules;
        let banner = rules.banner_sizes.is_of_use() && self.offered.contains(MediaType::Banner);
        if banner && !rows::is_empty(left) {
            let sizes = self.room.imp.banner_sizes(rules, imp)?;
            rules.banner_sizes.keep(sizes, block, left);
        }
        Ok(())
    }

    fn item(&self, block: usize, at: usize) -> Option<(Position, &'s LineItem)> {
        let at = position(block, at)?;
        Some((at, self.catalog.item(at)?))
    }

    /// Whether the rules that are the same for every line item block them all.
    fn blocks_all(&mut self, imp: &V::Imp) -> Read<bool> {
        Ok(self.room.imp.blocks_all(imp)?
            || self
                .room
                .request
                .blocks_all(&self.catalog.rules, self.request)?)
    }

    /// The first creative that fits, unless the publisher keeps the line item out.
    fn fitting(&mut self, at: Position, imp: &V::Imp) -> Read<Option<usize>> {
        let rules = &self.catalog.rules;
        if self.room.request.block(rules, at.index(), self.request)? {
            return Ok(None);
        }
        self.room.imp.fitting(rules, at.index(), self.offered, imp)
    }
}

/// `deal.at` of a fixed price.
const FIXED_PRICE: i32 = 3;

fn position(block: usize, at: usize) -> Option<Position> {
    u32::try_from(block * BLOCK_LEN + at).ok().map(Position)
}

/// So many impressions are quicker to hold against each other than to sort.
const FEW_IMPS: usize = 8;

/// Finds the impressions that have no id of their own, in order.
fn find_unusable_of_few<'a>(
    request: &impl RequestView<'a>,
    imps: usize,
    unusable: &mut Vec<usize>,
) -> Read<()> {
    let mut ids = [None; FEW_IMPS];
    for (index, id) in ids.iter_mut().enumerate().take(imps) {
        *id = request.imp(index)?.id()?;
    }
    for (index, id) in ids.iter().enumerate().take(imps) {
        let others = ids.iter().enumerate().filter(|(other, _)| *other != index);
        let is_own = |id: &Text<'_>| {
            let same = |other: &Option<Text<'_>>| other.is_some_and(|other| other.same(*id));
            !others.clone().any(|(_, other)| same(other))
        };
        if !id.as_ref().is_some_and(is_own) {
            unusable.push(index);
        }
    }
    Ok(())
}

fn hash_of(id: Text<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.with(|id| id.hash(&mut hasher));
    hasher.finish()
}

/// Whether an impression has the id of another one among those whose ids have its hash.
fn shares_id<'a>(
    request: &impl RequestView<'a>,
    index: usize,
    alike: &[(u64, usize)],
) -> Read<bool> {
    let id = request.imp(index)?.id()?;
    for (_, other) in alike.iter().filter(|(_, other)| *other != index) {
        let other = request.imp(*other)?.id()?;
        if id.zip(other).is_some_and(|(id, other)| id.same(other)) {
            return Ok(true);
        }
    }
    Ok(false)
}
