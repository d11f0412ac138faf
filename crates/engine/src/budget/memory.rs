//! Budgets in memory: one atomic a line item on the request's path, and a short lock for a bid.
//!
//! What a line item has left is one number, its *headroom*: the smaller of total and daily
//! ceiling, less what is settled, less what is reserved. Reserving is one compare-and-swap of it.
//! All else (ceilings, what is settled, the UTC day) changes under the account's lock, and
//! reaches the headroom as a difference, so that it never undoes a reservation made meanwhile.

use super::{BidId, Book, Budgets, Notice};
use crate::item::impression_cost;
use crate::{BLOCK_LEN, Block, BudgetCeilings, Catalog, LineItem, Position, Timestamp};
use openrtb::Micros;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long a store keeps what, and how much of it at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimits {
    /// How long the exchange may take to bill a bid: `bid.exp`, in microseconds.
    pub exp_us: i64,
    /// How much longer a reservation is held for a notice that is on its way, in microseconds.
    pub grace_us: i64,
    /// How long after that a bid is remembered, so that a late notice settles and a repeated one
    /// changes nothing, in microseconds.
    pub remembered_us: i64,
    /// How many bids are known at once, reserved or remembered. When full, those remembered are
    /// forgotten early, the oldest first; if all are reserved, no further bid is made.
    pub bids_max: usize,
    /// Room made for so many bids at the start, so that memory does not grow with the first ones.
    pub bids_min: usize,
    /// How many accounts of line items that are in no catalog any more are kept; those gone
    /// longest are dropped first.
    pub closed_accounts_max: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        MemoryLimits {
            exp_us: 120_000_000,
            grace_us: 60_000_000,
            remembered_us: 3_600_000_000,
            bids_max: 1 << 21,
            bids_min: 1 << 15,
            closed_accounts_max: 100_000,
        }
    }
}

/// How often what happened to budgets, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetCounts {
    /// Reservations made, those of tests included.
    pub reserved: u64,
    /// Bids that could not be reserved because too many are known.
    pub full: u64,
    /// Bids taken back: tests, and bids of requests that proved invalid.
    pub cancelled: u64,
    /// Win notices.
    pub won: u64,
    /// Billing notices in time.
    pub settled: u64,
    /// Billing notices after expiry.
    pub settled_late: u64,
    /// Loss notices.
    pub released: u64,
    /// Reservations that expired.
    pub expired: u64,
    /// Notices for a bid that had one.
    pub repeated: u64,
    /// Notices for a bid that is not known.
    pub unknown: u64,
}

/// A store of budgets in memory. A clone is the same store.
#[derive(Clone, Debug)]
pub struct MemoryBudgets(Arc<Store>);

#[derive(Debug)]
struct Store {
    limits: MemoryLimits,
    /// The latest UTC day seen. It never goes back, so that a clock that does cannot spend a day's
    /// ceiling twice; and it is one for all accounts, so that it does not matter which of them
    /// were looked at on which day.
    day: AtomicI64,
    accounts: Mutex<Accounts>,
    shards: [Mutex<Shard>; SHARDS],
    counts: [AtomicU64; COUNTERS],
}

const SHARDS: usize = 16;
const COUNTERS: usize = 10;

#[derive(Clone, Copy)]
enum Counter {
    Reserved,
    Full,
    Cancelled,
    Settled,
    SettledLate,
    Released,
    Expired,
    Repeated,
    Unknown,
    Won,
}

impl MemoryBudgets {
    /// An empty store.
    pub fn new(limits: MemoryLimits) -> MemoryBudgets {
        let store = Store {
            limits,
            day: AtomicI64::new(i64::MIN),
            accounts: Mutex::default(),
            shards: core::array::from_fn(|_| Mutex::new(Shard::new(&limits))),
            counts: [const { AtomicU64::new(0) }; COUNTERS],
        };
        MemoryBudgets(Arc::new(store))
    }

    /// How often what happened, since the start.
    pub fn counts(&self) -> BudgetCounts {
        let of = |counter| {
            self.0
                .counter(counter)
                .map_or(0, |c| c.load(Ordering::Relaxed))
        };
        BudgetCounts {
            reserved: of(Counter::Reserved),
            full: of(Counter::Full),
            cancelled: of(Counter::Cancelled),
            won: of(Counter::Won),
            settled: of(Counter::Settled),
            settled_late: of(Counter::SettledLate),
            released: of(Counter::Released),
            expired: of(Counter::Expired),
            repeated: of(Counter::Repeated),
            unknown: of(Counter::Unknown),
        }
    }

    /// How many bids are known now, reserved or remembered.
    pub fn bids(&self) -> usize {
        self.0
            .shards
            .iter()
            .map(|shard| lock(shard).bids.len())
            .sum()
    }
}

impl Budgets for MemoryBudgets {
    type Book = MemoryBook;

    fn open(&self, catalog: &Catalog, now: Timestamp) -> MemoryBook {
        let day = self.0.day(now);
        let funded = Arc::new(Funded::new(catalog, day));
        let mut accounts = lock(&self.0.accounts);
        let generation = accounts.next_generation();
        let opened = catalog.items().map(|(at, item)| {
            let account = accounts.of(&item.id);
            account.open(item, at, &funded, generation, day);
            account
        });
        let opened = opened.collect();
        accounts.close_others(generation, self.0.limits.closed_accounts_max);
        MemoryBook {
            store: self.0.clone(),
            accounts: opened,
            funded,
        }
    }

    fn win(&self, bid: BidId, now: Timestamp) -> Notice {
        self.0.win(bid, now)
    }

    fn settle(&self, bid: BidId, price: Micros, now: Timestamp) -> Notice {
        self.0.notice(bid, now, |known| {
            let spent = impression_cost(price).min(known.amount);
            let reserved = known.reserved();
            known.account.settle(spent, reserved, self.0.day(now));
            match known.state {
                State::Reserved => Notice::Settled(spent),
                State::Expired | State::Done => Notice::SettledLate(spent),
            }
        })
    }

    fn release(&self, bid: BidId, now: Timestamp) -> Notice {
        self.0.notice(bid, now, |known| {
            let reserved = known.reserved();
            known.account.refund(reserved);
            Notice::Released(reserved)
        })
    }

    fn cancel(&self, bid: BidId) {
        self.0.cancel(bid);
    }

    fn expire(&self, now: Timestamp) -> usize {
        self.0
            .shards
            .iter()
            .map(|shard| self.0.expire(shard, now))
            .sum()
    }
}

impl Store {
    /// The day to reckon with at `now`.
    fn day(&self, now: Timestamp) -> i64 {
        let (day, latest) = (now.day(), self.day.load(Ordering::Relaxed));
        if day > latest {
            self.day.fetch_max(day, Ordering::Relaxed);
        }
        day.max(latest)
    }

    fn counter(&self, counter: Counter) -> Option<&AtomicU64> {
        self.counts.get(counter as usize)
    }

    fn count(&self, counter: Counter, more: usize) {
        if let Some(counter) = self.counter(counter) {
            counter.fetch_add(more as u64, Ordering::Relaxed);
        }
    }

    /// A bid's shard. Ids are drawn at random, so any of their bits spread them.
    fn shard(&self, bid: BidId) -> MutexGuard<'_, Shard> {
        let [first, ..] = &self.shards;
        let at = (bid.0 % SHARDS as u128) as usize;
        lock(self.shards.get(at).unwrap_or(first))
    }

    /// Remembers that a bid won.
    fn win(&self, bid: BidId, now: Timestamp) -> Notice {
        let mut shard = self.shard(bid);
        let notice = match shard.bids.get_mut(&key(bid)) {
            None => Notice::Unknown,
            Some(known) if known.won || known.state == State::Done => Notice::Repeated,
            Some(known) => {
                self.count(Counter::Expired, usize::from(known.expire(now)));
                known.won = true;
                match known.state {
                    State::Reserved => Notice::Won,
                    State::Expired | State::Done => Notice::WonLate,
                }
            }
        };
        self.count_notice(notice);
        notice
    }

    /// Applies the first notice for a bid that moves money.
    fn notice(&self, bid: BidId, now: Timestamp, apply: impl FnOnce(&Known) -> Notice) -> Notice {
        let mut shard = self.shard(bid);
        let notice = match shard.bids.get_mut(&key(bid)) {
            None => Notice::Unknown,
            Some(known) if known.state == State::Done => Notice::Repeated,
            Some(known) => {
                self.count(Counter::Expired, usize::from(known.expire(now)));
                let notice = apply(known);
                known.state = State::Done;
                notice
            }
        };
        self.count_notice(notice);
        notice
    }

    fn count_notice(&self, notice: Notice) {
        let counter = match notice {
            Notice::Won | Notice::WonLate => Counter::Won,
            Notice::Settled(_) => Counter::Settled,
            Notice::SettledLate(_) => Counter::SettledLate,
            Notice::Released(_) => Counter::Released,
            Notice::Repeated => Counter::Repeated,
            Notice::Unknown => Counter::Unknown,
        };
        self.count(counter, 1);
    }

    fn cancel(&self, bid: BidId) {
        let removed = self.shard(bid).remove(bid);
        if let Some(known) = removed {
            known.account.refund(known.reserved());
            self.count(Counter::Cancelled, 1);
        }
    }

    /// Expires what is due in a shard, a little at a time so that no bid waits long for its lock.
    fn expire(&self, shard: &Mutex<Shard>, now: Timestamp) -> usize {
        let mut expired = 0;
        loop {
            let (more, left) = lock(shard).expire(now, self.limits.remembered_us);
            expired += more;
            if !left {
                self.count(Counter::Expired, expired);
                return expired;
            }
        }
    }
}

/// The budgets of one catalog's line items, in memory.
#[derive(Debug)]
pub struct MemoryBook {
    store: Arc<Store>,
    /// By position.
    accounts: Box<[Arc<Account>]>,
    funded: Arc<Funded>,
}

impl Book for MemoryBook {
    fn follow(&self, now: Timestamp) {
        self.funded.follow(self.store.day(now));
    }

    fn funded(&self, block: usize) -> Block {
        self.funded.block(block)
    }

    fn available(&self, at: Position, now: Timestamp) -> Micros {
        let Some(account) = self.accounts.get(at.index()) else {
            return Micros::ZERO;
        };
        account.follow(self.store.day(now));
        let headroom = account.headroom.load(Ordering::SeqCst);
        self.funded.notice_short(at, headroom, account);
        Micros(headroom)
    }

    fn reserve(&self, at: Position, bid: BidId, amount: Micros, now: Timestamp) -> bool {
        let Some(account) = self.accounts.get(at.index()) else {
            return false;
        };
        account.follow(self.store.day(now));
        let Some(headroom) = account.take(amount) else {
            return false;
        };
        let limits = &self.store.limits;
        let held_us = limits.exp_us.saturating_add(limits.grace_us);
        let known = Known {
            account: account.clone(),
            amount,
            expires: now.plus_us(held_us),
            state: State::Reserved,
            won: false,
        };
        let added = self.store.shard(bid).add(bid, known, now, limits);
        if !added {
            account.refund(amount);
            self.store.count(Counter::Full, 1);
            return false;
        }
        self.funded.notice_short(at, headroom, account);
        self.store.count(Counter::Reserved, 1);
        true
    }

    fn cancel(&self, bid: BidId) {
        self.store.cancel(bid);
    }

    fn left(&self, now: Timestamp) -> Micros {
        let day = self.store.day(now);
        let left = |account: &Arc<Account>| {
            account.follow(day);
            account.left()
        };
        Micros(
            self.accounts
                .iter()
                .filter_map(left)
                .fold(0, i64::saturating_add),
        )
    }
}

/// The money of one line item id.
#[derive(Debug, Default)]
struct Account {
    /// What is neither settled nor reserved.
    headroom: AtomicI64,
    /// The UTC day that the headroom is of; the last of all days where no ceiling is daily, so
    /// that there is nothing to follow.
    day: AtomicI64,
    ledger: Mutex<Ledger>,
}

#[derive(Debug)]
struct Ledger {
    ceilings: BudgetCeilings,
    settled: i64,
    /// Of that, on `day`.
    settled_on_day: i64,
    day: i64,
    generation: u64,
    /// Where refunds show; `None` while no catalog has the line item.
    shown: Option<(Arc<Funded>, Position)>,
}

impl Default for Ledger {
    fn default() -> Self {
        Ledger {
            // An account without a catalog has nothing to give.
            ceilings: BudgetCeilings {
                total: Some(Micros::ZERO),
                daily: None,
            },
            settled: 0,
            settled_on_day: 0,
            day: i64::MIN,
            generation: 0,
            shown: None,
        }
    }
}

impl Ledger {
    /// As good as no ceiling: no sum of reservations gets near it.
    const UNLIMITED: i64 = i64::MAX / 4;

    /// The ceilings less what is settled, on the ledger's day.
    fn left(&self) -> i64 {
        let left = |ceiling: Option<Micros>, settled: i64| {
            ceiling.map_or(Self::UNLIMITED, |c| {
                c.0.min(Self::UNLIMITED).saturating_sub(settled)
            })
        };
        left(self.ceilings.total, self.settled).min(left(self.ceilings.daily, self.settled_on_day))
    }

    fn follow(&mut self, day: i64) {
        if self.day < day {
            self.day = day;
            self.settled_on_day = 0;
        }
    }
}

impl Account {
    /// Reserves, with one atomic operation: what is left then, or `None` if it is not enough.
    fn take(&self, amount: Micros) -> Option<i64> {
        let less = |headroom: i64| (headroom >= amount.0).then(|| headroom - amount.0);
        let taken = self
            .headroom
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        taken.ok().map(|before| before - amount.0)
    }

    /// Moves on to a later day. One atomic load where it is the same.
    fn follow(&self, day: i64) {
        if self.day.load(Ordering::Acquire) < day {
            self.change(0, |ledger| ledger.follow(day));
        }
    }

    fn refund(&self, reserved: Micros) {
        self.change(reserved.0, |_| ());
    }

    /// Books spend, and frees what had been reserved for it.
    fn settle(&self, spent: Micros, reserved: Micros, day: i64) {
        self.change(reserved.0, |ledger| {
            ledger.follow(day);
            ledger.settled = ledger.settled.saturating_add(spent.0);
            ledger.settled_on_day = ledger.settled_on_day.saturating_add(spent.0);
        });
    }

    fn open(&self, item: &LineItem, at: Position, funded: &Arc<Funded>, generation: u64, day: i64) {
        self.change(0, |ledger| {
            ledger.follow(day);
            ledger.ceilings = item.budget;
            ledger.generation = generation;
            ledger.shown = Some((funded.clone(), at));
        });
    }

    /// Changes the ledger; the difference that makes, and `freed`, go to the headroom.
    fn change(&self, freed: i64, change: impl FnOnce(&mut Ledger)) {
        let mut ledger = lock(&self.ledger);
        let before = ledger.left();
        change(&mut ledger);
        let more = ledger.left().saturating_sub(before).saturating_add(freed);
        self.headroom.fetch_add(more, Ordering::SeqCst);
        let daily = ledger.ceilings.daily.is_some();
        let day = if daily { ledger.day } else { i64::MAX };
        self.day.store(day, Ordering::Release);
        if let Some((funded, at)) = &ledger.shown {
            funded.show(*at, self);
        }
    }

    /// What can still be spent; `None` where there is no ceiling.
    fn left(&self) -> Option<i64> {
        let limited = lock(&self.ledger).left() < Ledger::UNLIMITED;
        limited.then(|| self.headroom.load(Ordering::SeqCst).max(0))
    }
}

/// Which positions may be able to pay for one impression at their `cpm`: a bit each, so that the
/// index passes over the others for nothing.
///
/// A bit may be set for one that is short, never clear for long for one that is not: who changes
/// a headroom writes the bit after it and then looks at the headroom again, so whoever writes
/// last has seen the last headroom.
#[derive(Debug)]
struct Funded {
    words: Box<[AtomicU64]>,
    /// Those with a daily ceiling: a new day may fund each of them.
    daily: Box<[u64]>,
    day: AtomicI64,
    /// What one impression costs, by position.
    costs: Box<[i64]>,
}

impl Funded {
    fn new(catalog: &Catalog, day: i64) -> Funded {
        let words = catalog.len().div_ceil(BLOCK_LEN) * (BLOCK_LEN / 64);
        let mut daily = vec![0u64; words];
        for (at, item) in catalog.items() {
            if let Some(word) = daily.get_mut(at.index() / 64) {
                *word |= u64::from(item.budget.daily.is_some()) << (at.index() % 64);
            }
        }
        Funded {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            daily: daily.into(),
            day: AtomicI64::new(day),
            costs: catalog
                .items()
                .map(|(_, item)| impression_cost(item.cpm).0)
                .collect(),
        }
    }

    /// On a new day every daily ceiling may be full again. The exact check sees to those that
    /// are not.
    fn follow(&self, day: i64) {
        if self.day.load(Ordering::Acquire) < day {
            for (word, daily) in self.words.iter().zip(&self.daily) {
                word.fetch_or(*daily, Ordering::SeqCst);
            }
            // Last, so that nobody sees the new day without its bits.
            self.day.fetch_max(day, Ordering::AcqRel);
        }
    }

    fn block(&self, block: usize) -> Block {
        let mut bits = [0; BLOCK_LEN / 64];
        let first = block * bits.len();
        let words = self.words.get(first..).unwrap_or_default();
        for (bits, word) in bits.iter_mut().zip(words) {
            *bits = word.load(Ordering::Relaxed);
        }
        bits
    }

    /// Clears the bit of a position whose headroom was seen to be short.
    fn notice_short(&self, at: Position, headroom: i64, account: &Account) {
        let word = self.words.get(at.index() / 64);
        let is_set = |word: &AtomicU64| word.load(Ordering::Relaxed) & bit(at) != 0;
        if headroom < self.cost(at) && word.is_some_and(is_set) {
            self.show(at, account);
        }
    }

    /// Makes the bit follow the headroom.
    fn show(&self, at: Position, account: &Account) {
        let cost = self.cost(at);
        self.write(at, || account.headroom.load(Ordering::SeqCst) >= cost);
    }

    /// Writes a bit until it is what `pays` still says after the write. Another turn is only
    /// needed where another thread has changed the headroom in between.
    fn write(&self, at: Position, mut pays: impl FnMut() -> bool) {
        let Some(word) = self.words.get(at.index() / 64) else {
            return;
        };
        loop {
            let funded = pays();
            if funded {
                word.fetch_or(bit(at), Ordering::SeqCst);
            } else {
                word.fetch_and(!bit(at), Ordering::SeqCst);
            }
            if pays() == funded {
                return;
            }
        }
    }

    fn cost(&self, at: Position) -> i64 {
        self.costs.get(at.index()).copied().unwrap_or(i64::MAX)
    }
}

fn bit(at: Position) -> u64 {
    1 << (at.index() % 64)
}

/// Every account by line item id.
#[derive(Debug, Default)]
struct Accounts {
    by_id: HashMap<Box<str>, Arc<Account>>,
    generation: u64,
}

impl Accounts {
    fn next_generation(&mut self) -> u64 {
        self.generation += 1;
        self.generation
    }

    fn of(&mut self, id: &str) -> Arc<Account> {
        if let Some(account) = self.by_id.get(id) {
            return account.clone();
        }
        let account = Arc::<Account>::default();
        self.by_id.insert(id.into(), account.clone());
        account
    }

    /// Closes the accounts that the last catalog does not have, and drops those gone longest
    /// when there are too many. Their open bids settle all the same.
    fn close_others(&mut self, generation: u64, closed_accounts_max: usize) {
        let mut closed = Vec::new();
        for (id, account) in &self.by_id {
            let mut ledger = lock(&account.ledger);
            if ledger.generation != generation {
                ledger.shown = None;
                closed.push((ledger.generation, id.clone()));
            }
        }
        let excess = closed.len().saturating_sub(closed_accounts_max);
        closed.sort();
        for (_, id) in closed.iter().take(excess) {
            self.by_id.remove(id);
        }
    }
}

/// What is known of a bid.
#[derive(Debug)]
struct Known {
    account: Arc<Account>,
    amount: Micros,
    expires: Timestamp,
    state: State,
    /// It had its win notice.
    won: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its amount is reserved.
    Reserved,
    /// Its time is over; nothing is reserved any more.
    Expired,
    /// It had the notice that ends it: billing or loss.
    Done,
}

impl Known {
    /// What is reserved for it now.
    fn reserved(&self) -> Micros {
        match self.state {
            State::Reserved => self.amount,
            State::Expired | State::Done => Micros::ZERO,
        }
    }

    /// Frees what is reserved if its time is over; whether it was.
    fn expire(&mut self, now: Timestamp) -> bool {
        let due = self.state == State::Reserved && self.expires <= now;
        if due {
            self.account.refund(self.amount);
            self.state = State::Expired;
        }
        due
    }
}

/// The key of a bid: a [`BidId`] that is not aligned to 16 bytes, for there are many.
type Key = [u64; 2];

fn key(bid: BidId) -> Key {
    [(bid.0 >> 64) as u64, bid.0 as u64]
}

/// A part of the known bids, by id.
#[derive(Debug)]
struct Shard {
    bids: HashMap<Key, Known>,
    /// When each bid's reservation expires, the earliest first.
    held: VecDeque<(Timestamp, Key)>,
    /// When each bid of the past is forgotten, the earliest first.
    remembered: VecDeque<(Timestamp, Key)>,
}

impl Shard {
    /// So many are looked at under one lock.
    const EXPIRED_AT_ONCE_MAX: usize = 256;

    fn new(limits: &MemoryLimits) -> Shard {
        let room = limits.bids_min.min(limits.bids_max) / SHARDS;
        let mut shard = Shard {
            bids: HashMap::with_capacity(room),
            held: VecDeque::with_capacity(room),
            remembered: VecDeque::new(),
        };
        shard.touch(room);
        shard
    }

    /// Fills the room and empties it again: memory that was never written is not there yet.
    fn touch(&mut self, room: usize) {
        let nobody = Arc::<Account>::default();
        for at in 0..room as u64 {
            let known = Known {
                account: nobody.clone(),
                amount: Micros::ZERO,
                expires: Timestamp::MIN,
                state: State::Done,
                won: false,
            };
            self.bids.insert([at, at], known);
            self.held.push_back((Timestamp::MIN, [at, at]));
        }
        self.bids.clear();
        self.held.clear();
    }

    /// Adds a bid; false where its id is known already or there is no room.
    fn add(&mut self, bid: BidId, known: Known, now: Timestamp, limits: &MemoryLimits) -> bool {
        let bids_max = limits.bids_max.div_ceil(SHARDS);
        if self.bids.len() >= bids_max && !self.make_room(now, limits.remembered_us) {
            return false;
        }
        let (key, expires) = (key(bid), known.expires);
        let Entry::Vacant(vacant) = self.bids.entry(key) else {
            return false;
        };
        vacant.insert(known);
        insert_in_order(&mut self.held, expires, key);
        true
    }

    fn make_room(&mut self, now: Timestamp, remembered_us: i64) -> bool {
        self.expire(now, remembered_us);
        while let Some((_, key)) = self.remembered.pop_front() {
            if self.bids.remove(&key).is_some() {
                return true;
            }
        }
        false
    }

    /// Takes a bid out that was added just now, so it is near the end of the queue.
    fn remove(&mut self, bid: BidId) -> Option<Known> {
        let key = key(bid);
        let known = self.bids.remove(&key)?;
        let queued = self.held.iter().rposition(|(_, held)| *held == key);
        queued.and_then(|at| self.held.remove(at));
        Some(known)
    }

    /// Expires and forgets what is due, up to a number; how many expired, and whether some are
    /// left.
    fn expire(&mut self, now: Timestamp, remembered_us: i64) -> (usize, bool) {
        let mut expired = 0;
        for _ in 0..Self::EXPIRED_AT_ONCE_MAX {
            if let Some((at, key)) = pop_due(&mut self.held, now) {
                if let Some(known) = self.bids.get_mut(&key) {
                    expired += usize::from(known.expire(now));
                    insert_in_order(&mut self.remembered, at.plus_us(remembered_us), key);
                }
            } else if let Some((_, key)) = pop_due(&mut self.remembered, now) {
                self.bids.remove(&key);
            } else {
                return (expired, false);
            }
        }
        (expired, true)
    }
}

fn pop_due(queue: &mut VecDeque<(Timestamp, Key)>, now: Timestamp) -> Option<(Timestamp, Key)> {
    match queue.front() {
        Some((due, _)) if *due <= now => queue.pop_front(),
        _ => None,
    }
}

/// Times nearly always come in order, so the place is nearly always the end.
fn insert_in_order(queue: &mut VecDeque<(Timestamp, Key)>, due: Timestamp, key: Key) {
    let after = queue.iter().rposition(|(other, _)| *other <= due);
    queue.insert(after.map_or(0, |at| at + 1), (due, key));
}

/// A lock whose holder panicked still guards sound data: every change here is complete at once.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::conformance::budgets_conformance;
    use super::*;
    use crate::rows;

    const LIMITS: MemoryLimits = MemoryLimits {
        exp_us: 120_000_000,
        grace_us: 60_000_000,
        remembered_us: i64::MAX,
        bids_max: 1 << 20,
        bids_min: 0,
        closed_accounts_max: 4,
    };

    #[test]
    fn it_conforms() {
        budgets_conformance(|| MemoryBudgets::new(LIMITS), 180_000_000);
    }

    fn open(budgets: &MemoryBudgets, ids: &[&str]) -> MemoryBook {
        let item = |id: &&str| LineItem {
            budget: BudgetCeilings {
                total: Some(Micros(1000)),
                daily: None,
            },
            ..LineItem::plain(id, Micros(1000))
        };
        let catalog = Catalog::build(ids.iter().map(item).collect());
        budgets.open(
            &catalog.unwrap_or_else(|e| unreachable!("{e}")),
            Timestamp(0),
        )
    }

    fn reserve(book: &MemoryBook, bid: u128, now: Timestamp) -> bool {
        book.reserve(Position(0), BidId(bid), Micros(1), now)
    }

    #[test]
    fn what_is_known_of_bids_is_bounded() {
        let bids_max = 2 * SHARDS;
        let limits = MemoryLimits {
            bids_max,
            remembered_us: 100,
            ..LIMITS
        };
        let budgets = MemoryBudgets::new(limits);
        let book = open(&budgets, &["a"]);
        let (now, later) = (Timestamp(0), Timestamp(180_000_000));
        for bid in 0..bids_max as u128 {
            assert!(reserve(&book, bid, now), "{bid}");
        }
        assert!(!reserve(&book, 1000, now), "all are reserved");
        assert_eq!(
            book.available(Position(0), now),
            Micros(1000 - bids_max as i64)
        );
        assert_eq!(budgets.counts().full, 1);
        // Bid 1008 goes where 0 and 16 are: they expire, and the oldest is forgotten for it.
        assert!(
            reserve(&book, 1008, later),
            "those remembered are forgotten early"
        );
        assert_eq!(
            budgets.settle(BidId(0), Micros(1000), later),
            Notice::Unknown
        );
        assert_eq!(
            budgets.settle(BidId(16), Micros(1000), later),
            Notice::SettledLate(Micros(1))
        );
        budgets.expire(later);
        assert_eq!(budgets.bids(), bids_max);
        budgets.expire(later.plus_us(100));
        assert_eq!(budgets.bids(), 1, "the rest is forgotten in time");
    }

    #[test]
    fn tests_leave_nothing_behind() {
        let budgets = MemoryBudgets::new(LIMITS);
        let book = open(&budgets, &["a"]);
        for bid in 0..10_000 {
            assert!(reserve(&book, bid, Timestamp(0)));
            book.cancel(BidId(bid));
        }
        let held: usize = budgets
            .0
            .shards
            .iter()
            .map(|shard| lock(shard).held.len())
            .sum();
        assert_eq!((held, budgets.bids()), (0, 0));
    }

    #[test]
    fn accounts_gone_longest_are_dropped_first() {
        let budgets = MemoryBudgets::new(LIMITS);
        assert!(reserve(&open(&budgets, &["a"]), 1, Timestamp(0)));
        assert!(reserve(&open(&budgets, &["b"]), 2, Timestamp(0)));
        open(&budgets, &["c", "d", "e", "f"]);
        open(&budgets, &[]);
        assert_eq!(
            lock(&budgets.0.accounts).by_id.len(),
            LIMITS.closed_accounts_max
        );
        let left = |id| open(&budgets, &[id]).available(Position(0), Timestamp(0));
        assert_eq!(left("a"), Micros(1000), "forgotten");
        let notice = budgets.settle(BidId(1), Micros(1000), Timestamp(0));
        assert_eq!(notice, Notice::Settled(Micros(1)), "its notices are not");
    }

    /// Between a thread's look at the headroom and its write of the bit, another one refunds,
    /// and writes its bit: that one must stand.
    #[test]
    fn a_refund_in_between_is_not_lost() {
        let funded = open(&MemoryBudgets::new(LIMITS), &["a"]).funded;
        let mut looks = 0;
        funded.write(Position(0), || {
            looks += 1;
            if looks == 1 {
                funded.write(Position(0), || true);
            }
            looks > 1
        });
        assert_eq!(rows::places(funded.block(0)).next(), Some(0));
    }

    #[test]
    fn late_comers_find_their_place_in_the_queue() {
        let mut queue = VecDeque::new();
        for due in [5, 7, 6, 1, 7] {
            insert_in_order(&mut queue, Timestamp(due), [0, 0]);
        }
        assert!(queue.iter().map(|(due, _)| due.0).eq([1, 5, 6, 7, 7]));
    }

    #[test]
    fn room_is_made_at_the_start() {
        let limits = MemoryLimits {
            bids_min: 3200,
            ..LIMITS
        };
        let store = MemoryBudgets::new(limits).0;
        let room = |shard: &Mutex<Shard>| lock(shard).bids.capacity();
        assert!(store.shards.iter().all(|shard| room(shard) >= 200));
        assert_eq!(
            store
                .shards
                .iter()
                .map(|shard| lock(shard).bids.len())
                .sum::<usize>(),
            0
        );
    }
}
