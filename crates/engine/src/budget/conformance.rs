//! What every store of budgets must do, as one suite that runs on each of them.
//!
//! [`budgets_conformance`] panics with the rule that does not hold.

use super::{BidId, Book, Budgets, Notice};
use crate::item::impression_cost;
use crate::rows::places;
use crate::{BudgetCeilings, Catalog, LineItem, Position, Timestamp};
use openrtb::Micros;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Runs the suite on stores that `make` makes, whose reservations are held for `held_us`
/// microseconds (the bid's `exp` and the grace).
pub fn budgets_conformance<B>(make: impl Fn() -> B, held_us: i64)
where
    B: Budgets + Sync,
    B::Book: Sync,
{
    for rule in [
        reserves_up_to_the_smaller_ceiling,
        settles_once_and_never_above_what_was_reserved,
        releases_what_is_lost,
        remembers_a_win,
        expires_on_time_and_settles_late,
        takes_back_what_never_left,
        starts_every_day_anew,
        never_goes_back_to_a_day,
        keeps_accounts_over_reloads,
        reserves_once_for_a_bid,
    ] {
        rule(&make(), held_us);
    }
    for seed in 0..40 {
        agrees_with_a_model(&make(), held_us, seed);
    }
    never_overspends(&make());
    refunds_are_seen(&make());
}

const NOON: Timestamp = Timestamp(43_200_000_000);
const DAY_US: i64 = 86_400_000_000;
/// At this price an impression costs 10 micros.
const CPM: Micros = Micros(10_000);

fn item(id: &str, total: Option<i64>, daily: Option<i64>) -> LineItem {
    LineItem {
        budget: BudgetCeilings {
            total: total.map(Micros),
            daily: daily.map(Micros),
        },
        ..LineItem::plain(id, CPM)
    }
}

/// One line item, opened at noon.
struct One<'b, B: Budgets> {
    budgets: &'b B,
    book: B::Book,
}

const AT: Position = Position(0);
const BID: BidId = BidId(1);

impl<'b, B: Budgets> One<'b, B> {
    fn open(budgets: &'b B, total: Option<i64>, daily: Option<i64>) -> Self {
        let book = open(budgets, &[item("a", total, daily)], NOON);
        One { budgets, book }
    }

    fn reserve(&self, bid: u128, amount: i64, now: Timestamp) -> bool {
        self.book.reserve(AT, BidId(bid), Micros(amount), now)
    }

    fn available(&self, now: Timestamp) -> i64 {
        self.book.available(AT, now).0
    }

    fn settle(&self, bid: BidId, cost: i64, now: Timestamp) -> Notice {
        self.budgets.settle(bid, Micros(cost * 1000), now)
    }
}

fn open<B: Budgets>(budgets: &B, items: &[LineItem], now: Timestamp) -> B::Book {
    match Catalog::build(items.to_vec()) {
        Ok(catalog) => budgets.open(&catalog, now),
        Err(error) => unreachable!("the suite's ids are unique: {error}"),
    }
}

fn reserves_up_to_the_smaller_ceiling<B: Budgets>(budgets: &B, _held_us: i64) {
    let one = One::open(budgets, Some(25), Some(20));
    assert_eq!(one.available(NOON), 20, "the smaller ceiling");
    assert!(one.reserve(1, 10, NOON));
    assert!(!one.reserve(2, 11, NOON), "short by a micro");
    assert!(one.reserve(3, 10, NOON), "to the last micro");
    assert_eq!(one.available(NOON), 0);
    assert!(!one.reserve(4, 1, NOON));
    let free = One::open(budgets, None, None);
    assert!(free.available(NOON) > i64::MAX / 8, "no ceiling");
}

fn settles_once_and_never_above_what_was_reserved<B: Budgets>(budgets: &B, _held_us: i64) {
    let one = One::open(budgets, Some(100), None);
    assert!(one.reserve(1, 10, NOON) && one.reserve(2, 10, NOON));
    assert_eq!(
        one.budgets.settle(BID, Micros(6_001), NOON),
        Notice::Settled(Micros(7))
    );
    assert_eq!(one.available(NOON), 83, "the difference is free again");
    assert_eq!(one.settle(BID, 9, NOON), Notice::Repeated);
    assert_eq!(budgets.release(BID, NOON), Notice::Repeated);
    assert_eq!(one.available(NOON), 83, "a second notice changes nothing");
    assert_eq!(one.settle(BidId(2), 11, NOON), Notice::Settled(Micros(10)));
    assert_eq!(one.available(NOON), 83, "never above what was reserved");
    assert_eq!(one.settle(BidId(9), 1, NOON), Notice::Unknown);
    assert!(one.reserve(3, 10, NOON));
    assert_eq!(
        one.settle(BidId(3), -5, NOON),
        Notice::Settled(Micros(0)),
        "never below nothing"
    );
    assert_eq!(one.available(NOON), 83);
}

fn releases_what_is_lost<B: Budgets>(budgets: &B, _held_us: i64) {
    let one = One::open(budgets, Some(10), None);
    assert!(one.reserve(1, 10, NOON));
    assert_eq!(budgets.release(BID, NOON), Notice::Released(Micros(10)));
    assert_eq!(one.available(NOON), 10);
    assert_eq!(
        one.settle(BID, 10, NOON),
        Notice::Repeated,
        "it had its notice"
    );
    assert_eq!(budgets.release(BidId(9), NOON), Notice::Unknown);
    assert_eq!(one.available(NOON), 10);
}

fn remembers_a_win<B: Budgets>(budgets: &B, held_us: i64) {
    let one = One::open(budgets, Some(40), None);
    for bid in 1..=4 {
        assert!(one.reserve(bid, 10, NOON));
    }
    assert_eq!(budgets.win(BidId(9), NOON), Notice::Unknown);
    assert_eq!(budgets.win(BID, NOON), Notice::Won);
    assert_eq!(budgets.win(BID, NOON), Notice::Repeated);
    assert_eq!(one.available(NOON), 0, "it moves no money");
    assert_eq!(one.settle(BID, 10, NOON), Notice::Settled(Micros(10)));
    assert_eq!(budgets.win(BID, NOON), Notice::Repeated, "too late to say");
    assert_eq!(budgets.win(BidId(2), NOON), Notice::Won);
    assert_eq!(
        budgets.release(BidId(2), NOON),
        Notice::Released(Micros(10)),
        "what won may never be shown"
    );
    let late = NOON.plus_us(held_us);
    assert_eq!(budgets.win(BidId(3), late), Notice::WonLate, "unswept");
    budgets.expire(late);
    assert_eq!(budgets.win(BidId(4), late), Notice::WonLate);
    assert_eq!(budgets.win(BidId(4), late), Notice::Repeated);
    assert_eq!(
        one.settle(BidId(4), 10, late),
        Notice::SettledLate(Micros(10))
    );
}

fn expires_on_time_and_settles_late<B: Budgets>(budgets: &B, held_us: i64) {
    let one = One::open(budgets, Some(10), None);
    assert!(one.reserve(1, 10, NOON));
    assert_eq!(
        budgets.expire(NOON.plus_us(held_us - 1)),
        0,
        "not before its time"
    );
    assert_eq!(one.available(NOON), 0);
    let late = NOON.plus_us(held_us);
    assert_eq!(budgets.expire(late), 1);
    assert_eq!(budgets.expire(late), 0, "once");
    assert!(one.reserve(2, 10, late), "what expired is free again");
    assert_eq!(one.settle(BID, 8, late), Notice::SettledLate(Micros(8)));
    assert_eq!(one.available(late), -8, "what was spent was spent");
    assert_eq!(one.settle(BID, 8, late), Notice::Repeated);
    let later = late.plus_us(held_us);
    assert_eq!(
        one.settle(BidId(2), 1, later),
        Notice::SettledLate(Micros(1)),
        "without a sweep"
    );
    assert_eq!(one.available(later), 1);
    assert!(one.reserve(3, 1, later));
    let last = later.plus_us(held_us);
    assert_eq!(
        budgets.release(BidId(3), last),
        Notice::Released(Micros(0)),
        "nothing is held"
    );
    assert_eq!(one.available(last), 1);
}

fn takes_back_what_never_left<B: Budgets>(budgets: &B, held_us: i64) {
    let one = One::open(budgets, Some(10), None);
    assert!(one.reserve(1, 10, NOON));
    budgets.cancel(BID);
    one.book.cancel(BidId(9));
    assert_eq!(one.available(NOON), 10);
    assert_eq!(
        one.settle(BID, 10, NOON),
        Notice::Unknown,
        "as if it had not been made"
    );
    assert_eq!(budgets.expire(NOON.plus_us(held_us)), 0);
}

fn starts_every_day_anew<B: Budgets>(budgets: &B, held_us: i64) {
    let one = One::open(budgets, Some(25), Some(10));
    let midnight = Timestamp(DAY_US);
    let (before, after) = (midnight.plus_us(-1), midnight);
    assert!(one.reserve(1, 10, before));
    assert_eq!(one.settle(BID, 10, before), Notice::Settled(Micros(10)));
    assert_eq!(one.available(before), 0);
    one.book.follow(after);
    assert_eq!(bits(&one.book), [0], "a new day funds it");
    assert_eq!(one.available(after), 10);
    assert_eq!(one.available(before), 10, "a day never comes back");
    assert!(one.reserve(2, 10, after));
    let next = after.plus_us(DAY_US);
    assert_eq!(
        one.available(next),
        0,
        "what is reserved stays reserved, day or no day"
    );
    budgets.expire(next.plus_us(held_us));
    assert_eq!(one.available(next), 10);
    assert_eq!(
        one.settle(BidId(2), 7, next),
        Notice::SettledLate(Micros(7))
    );
    assert_eq!(one.available(next), 3, "spend is of the day of its notice");
    assert_eq!(one.available(next.plus_us(DAY_US)), 8, "the total goes on");
    assert_eq!(one.book.left(next.plus_us(DAY_US)), Micros(8));
}

/// Which accounts were looked at on the later day makes no difference.
fn never_goes_back_to_a_day<B: Budgets>(budgets: &B, _held_us: i64) {
    let items = [item("a", None, Some(10)), item("b", None, Some(10))];
    let book = open(budgets, &items, NOON);
    for (at, bid) in [(Position(0), BidId(1)), (Position(1), BidId(2))] {
        assert!(book.reserve(at, bid, Micros(10), NOON));
        budgets.settle(bid, CPM, NOON);
    }
    let tomorrow = NOON.plus_us(DAY_US);
    book.follow(tomorrow);
    assert_eq!(book.available(Position(0), tomorrow), Micros(10));
    for at in [Position(0), Position(1)] {
        assert_eq!(book.available(at, NOON), Micros(10), "{at:?}");
    }
}

fn keeps_accounts_over_reloads<B: Budgets>(budgets: &B, _held_us: i64) {
    let items = [item("a", Some(20), None), item("b", None, None)];
    let book = open(budgets, &items, NOON);
    for bid in [1, 2] {
        assert!(book.reserve(Position(0), BidId(bid), Micros(5), NOON));
    }
    assert_eq!(
        budgets.settle(BidId(2), Micros(4000), NOON),
        Notice::Settled(Micros(4))
    );
    let available = |total, daily| {
        let items = [item("0", Some(3), None), item("a", total, daily)];
        open(budgets, &items, NOON).available(Position(1), NOON).0
    };
    assert_eq!(available(Some(20), None), 11, "spend and reservations stay");
    assert_eq!(available(Some(8), None), -1, "the new ceiling counts");
    assert_eq!(
        available(None, Some(10)),
        1,
        "what was spent today counts for a new daily ceiling"
    );
    let gone = open(budgets, &items[1..], NOON);
    assert_eq!(
        budgets.settle(BidId(1), Micros(3000), NOON),
        Notice::Settled(Micros(3))
    );
    assert_eq!(bits(&gone), [0]);
    assert_eq!(gone.left(NOON), Micros(0), "no ceiling, nothing to count");
    assert_eq!(
        available(Some(20), None),
        13,
        "a line item that comes back has its spend"
    );
}

fn reserves_once_for_a_bid<B: Budgets>(budgets: &B, _held_us: i64) {
    let one = One::open(budgets, Some(100), None);
    assert!(one.reserve(1, 10, NOON));
    assert!(!one.reserve(1, 10, NOON), "a bid id is used once");
    assert!(
        !one.book.reserve(Position(7), BidId(2), Micros(1), NOON),
        "no such line item"
    );
    assert_eq!(one.available(NOON), 90);
}

/// The positions that the book says may be funded.
fn bits<K: Book>(book: &K) -> Vec<usize> {
    places(book.funded(0)).collect()
}

/// A random number that is the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// The rules of budgets, written the obvious way.
#[derive(Default)]
struct Model {
    settled: BTreeMap<String, BTreeMap<i64, i64>>,
    bids: BTreeMap<BidId, ModelBid>,
}

struct ModelBid {
    item: String,
    amount: i64,
    expires: Timestamp,
    had_notice: bool,
    expired: bool,
}

impl Model {
    fn available(&self, item: &LineItem, now: Timestamp) -> Option<i64> {
        let days = self.settled.get(&item.id);
        let settled: i64 = days.into_iter().flatten().map(|(_, spent)| spent).sum();
        let today = days
            .and_then(|days| days.get(&now.day()))
            .copied()
            .unwrap_or(0);
        let open = self.bids.values().filter(|bid| bid.item == item.id);
        let open = open.filter(|bid| !bid.had_notice && !bid.expired);
        let reserved: i64 = open.map(|bid| bid.amount).sum();
        let left = |ceiling: Option<Micros>, spent| ceiling.map(|c| c.0 - spent - reserved);
        let (total, daily) = (
            left(item.budget.total, settled),
            left(item.budget.daily, today),
        );
        total.into_iter().chain(daily).min()
    }

    fn expire(&mut self, now: Timestamp) {
        for bid in self.bids.values_mut().filter(|bid| bid.expires <= now) {
            bid.expired = true;
        }
    }

    fn notice(&mut self, bid: BidId, billed: Option<i64>, now: Timestamp) -> Notice {
        let Some(bid) = self.bids.get_mut(&bid) else {
            return Notice::Unknown;
        };
        if bid.had_notice {
            return Notice::Repeated;
        }
        bid.had_notice = true;
        bid.expired |= bid.expires <= now;
        let Some(price) = billed else {
            return Notice::Released(Micros(if bid.expired { 0 } else { bid.amount }));
        };
        let spent = impression_cost(Micros(price)).0.min(bid.amount);
        let days = self.settled.entry(bid.item.clone()).or_default();
        *days.entry(now.day()).or_default() += spent;
        if bid.expired {
            Notice::SettledLate(Micros(spent))
        } else {
            Notice::Settled(Micros(spent))
        }
    }
}

fn random_items(random: &mut Random) -> Vec<LineItem> {
    let mut items = Vec::new();
    for id in ["a", "b", "c", "d"] {
        let mut ceiling = || match random.below(3) {
            0 => None,
            _ => Some(random.below(60) as i64),
        };
        let (total, daily) = (ceiling(), ceiling());
        if random.below(5) > 0 {
            items.push(item(id, total, daily));
        }
    }
    items
}

// Long: one simulation, told in the order in which it happens.
fn agrees_with_a_model<B: Budgets>(budgets: &B, held_us: i64, seed: u64) {
    let (mut random, mut model, mut now) = (Random(seed), Model::default(), NOON);
    let mut items = random_items(&mut random);
    let mut book = open(budgets, &items, now);
    for step in 0..300u128 {
        let bid = BidId(step.saturating_sub(random.below(12).into()));
        let at = format!("seed {seed}, step {step}, {bid:?}");
        match random.below(12) {
            0..4 => {
                let place = random.below(4) as usize;
                let amount = random.below(15) as i64;
                let Some(item) = items.get(place) else {
                    continue;
                };
                let pays = model.available(item, now).is_none_or(|left| left >= amount);
                let bid = BidId(step);
                let reserved = book.reserve(Position(place as u32), bid, Micros(amount), now);
                assert_eq!(reserved, pays, "reserve {amount}: {at}");
                if reserved {
                    let (item, expires) = (item.id.clone(), now.plus_us(held_us));
                    let (had_notice, expired) = (false, false);
                    let reserved = ModelBid {
                        item,
                        amount,
                        expires,
                        had_notice,
                        expired,
                    };
                    model.bids.insert(bid, reserved);
                }
            }
            4..7 => {
                let price = random.below(20_000) as i64;
                let notice = budgets.settle(bid, Micros(price), now);
                assert_eq!(
                    notice,
                    model.notice(bid, Some(price), now),
                    "settle {price}: {at}"
                );
            }
            7 => {
                let notice = budgets.release(bid, now);
                assert_eq!(notice, model.notice(bid, None, now), "release: {at}");
            }
            8 => {
                budgets.expire(now);
                model.expire(now);
            }
            9 => now = now.plus_us(random.below(held_us.unsigned_abs() / 4) as i64),
            10 => now = now.plus_us(random.below(DAY_US as u64 / 4) as i64),
            _ => {
                items = random_items(&mut random);
                book = open(budgets, &items, now);
            }
        }
        book.follow(now);
        let funded = book.funded(0);
        for (place, item) in items.iter().enumerate() {
            let left = book.available(Position(place as u32), now).0;
            let is_funded = places(funded).any(|at| at == place);
            assert!(
                is_funded || left < impression_cost(CPM).0,
                "bit of {}: {at}",
                item.id
            );
            if let Some(expect) = model.available(item, now) {
                assert_eq!(left, expect, "available to {}: {at}", item.id);
            }
        }
    }
}

/// Many threads reserve, settle and release at once: every micro goes once.
fn never_overspends<B>(budgets: &B)
where
    B: Budgets + Sync,
    B::Book: Sync,
{
    const THREADS: u128 = 4;
    const TURNS: u128 = 4000;
    let total = 30_000;
    let one = One::open(budgets, Some(total), Some(total + 1));
    let (reserved, settled) = (AtomicI64::new(0), AtomicI64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (one, reserved, settled) = (&one, &reserved, &settled);
            scope.spawn(move || {
                for turn in 0..TURNS {
                    let bid = BidId(thread << 64 | turn);
                    if !one.book.reserve(AT, bid, Micros(10), NOON) {
                        continue;
                    }
                    match turn % 4 {
                        0 => drop(one.budgets.release(bid, NOON)),
                        1 => drop(reserved.fetch_add(10, Ordering::Relaxed)),
                        _ => {
                            one.settle(bid, 7, NOON);
                            settled.fetch_add(7, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let (reserved, settled) = (reserved.into_inner(), settled.into_inner());
    assert!(
        reserved + settled <= total,
        "{reserved} + {settled} of {total}"
    );
    assert_eq!(one.available(NOON), total - reserved - settled);
    assert!(one.available(NOON) < 10, "and all of it can be spent");
}

/// One thread takes the last of a budget while another gives some back: in the end it is there,
/// and the book says so, whoever was quicker.
fn refunds_are_seen<B>(budgets: &B)
where
    B: Budgets + Sync,
    B::Book: Sync,
{
    const ROUNDS: u128 = 500;
    let one = One::open(budgets, Some(20), None);
    let (round, done) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for bid in 0..ROUNDS {
                wait_for(&round, bid as u64 + 1);
                one.budgets.release(BidId(2 * bid), NOON);
                done.fetch_add(1, Ordering::SeqCst);
            }
        });
        for bid in 0..ROUNDS {
            assert!(one.reserve(2 * bid, 10, NOON));
            round.fetch_add(1, Ordering::SeqCst);
            let last = one.reserve(2 * bid + 1, 10, NOON);
            wait_for(&done, bid as u64 + 1);
            assert!(last && one.available(NOON) == 10, "round {bid}");
            assert_eq!(
                bits(&one.book),
                [0],
                "round {bid} of {ROUNDS}: it is funded"
            );
            one.budgets.release(BidId(2 * bid + 1), NOON);
        }
    });
}

fn wait_for(counter: &AtomicU64, value: u64) {
    while counter.load(Ordering::SeqCst) < value {
        std::thread::yield_now();
    }
}
