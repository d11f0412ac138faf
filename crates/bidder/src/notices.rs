//! Notices: what became of bids, by gRPC (`Notify`) and by GET on the URLs that bids carry.
//!
//! Both ways end in the same store of budgets. A notice that cannot be understood changes nothing,
//! so a reservation is never lost to a misconfigured exchange: it settles late or expires.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State as Extract};
use axum::http::{StatusCode, header};
use axum::routing::get;
use engine::{BidId, Budgets, Notice as Did, Rates, Timestamp};
use openrtb::{Currency, Floor, Micros};
use transport::{Call, Code, Status};
use wire::Format;
use wire::notify::{self, Notice, NoticeKind, NoticeOutcome};

use crate::service::Shared;
use crate::snapshot::State;
use crate::time;

/// What a notice asks for, understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// The bid won; money waits for the billing notice.
    Win,
    /// Settle at this price for 1,000; `None`: at the price that was bid.
    Billing(Option<Micros>),
    Loss,
}

impl Asked {
    const fn name(self) -> &'static str {
        match self {
            Asked::Win => "win",
            Asked::Billing(_) => "billing",
            Asked::Loss => "loss",
        }
    }
}

/// Applies one notice, and counts it. A bid id that is none of ours is unknown.
fn apply(shared: &Shared, asked: Asked, bid_id: &str, now: Timestamp) -> NoticeOutcome {
    let outcome = match (asked, BidId::parse(bid_id)) {
        (_, None) => NoticeOutcome::Unknown,
        (Asked::Win, Some(bid)) => outcome(shared.budgets.win(bid, now)),
        (Asked::Billing(price), Some(bid)) => {
            // What is settled is never above what was reserved, so "all of it" is the bid's price.
            let price = price.unwrap_or(Micros(i64::MAX));
            outcome(shared.budgets.settle(bid, price, now))
        }
        (Asked::Loss, Some(bid)) => outcome(shared.budgets.release(bid, now)),
    };
    shared
        .metrics
        .count_notice(asked.name(), outcome_name(outcome));
    outcome
}

fn outcome(did: Did) -> NoticeOutcome {
    match did {
        Did::Won | Did::Settled(_) | Did::Released(_) => NoticeOutcome::Applied,
        Did::WonLate | Did::SettledLate(_) => NoticeOutcome::Late,
        Did::Repeated => NoticeOutcome::Duplicate,
        Did::Unknown => NoticeOutcome::Unknown,
    }
}

const fn outcome_name(outcome: NoticeOutcome) -> &'static str {
    match outcome {
        NoticeOutcome::Applied => "applied",
        NoticeOutcome::Duplicate => "duplicate",
        NoticeOutcome::Unknown => "unknown",
        NoticeOutcome::Late => "late",
    }
}

/// A price in the base currency, rounded up; `None` where its currency has no rate.
fn in_base(price: Floor, cur: Option<Currency>, rates: &Rates) -> Option<Micros> {
    match rates.to_base(price, cur.unwrap_or(rates.base())) {
        Floor::At(price) => Some(price),
        Floor::Unmeetable => None,
    }
}

/// Answers a call of `Notify`. All of its notices are understood before any is applied.
pub(crate) fn notify(
    shared: &Shared,
    state: &State,
    now: Timestamp,
    call: &Call<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Status> {
    if Format::from_grpc_subtype(call.subtype) != Some(Format::Protobuf) {
        return Err(refused("notices come as protobuf"));
    }
    let notices = notify::decode_request(call.message)
        .map_err(|_| refused("the message is not well-formed"))?
        .ok_or(refused("there are more than 1,000 notices"))?;
    let asked = notices
        .iter()
        .map(|notice| understand(notice, &state.rates));
    let asked: Vec<Asked> = asked.collect::<Result<_, _>>().map_err(refused)?;
    let notices = notices.iter().zip(asked);
    let outcomes = notices.map(|(notice, asked)| apply(shared, asked, &notice.bid_id, now));
    notify::encode_response(&outcomes.collect::<Vec<_>>(), out);
    Ok(())
}

const fn refused(message: &'static str) -> Status {
    Status::fixed(Code::InvalidArgument, message)
}

fn understand(notice: &Notice, rates: &Rates) -> Result<Asked, &'static str> {
    match NoticeKind::from_number(notice.kind) {
        Some(NoticeKind::Win) => Ok(Asked::Win),
        Some(NoticeKind::Loss) => Ok(Asked::Loss),
        Some(NoticeKind::Billing) => {
            let cur = match notice.cur.as_deref().filter(|cur| !cur.is_empty()) {
                Some(cur) => Some(Currency::parse(cur).ok_or(CURRENCY)?),
                None => None,
            };
            match notice.price_micros {
                None => Ok(Asked::Billing(None)),
                Some(..0) => Err("a price is below 0"),
                Some(price) => in_base(Floor::At(Micros(price)), cur, rates)
                    .map(|price| Asked::Billing(Some(price)))
                    .ok_or(CURRENCY),
            }
        }
        None => Err("a notice says neither win, billing nor loss"),
    }
}

const CURRENCY: &str = "a price is in a currency that has no rate here";

/// Answers notices by GET: `…/billing?id=…&price=…&cur=…` and `…/loss?id=…&reason=…`, under
/// whatever path leads here.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    // A HEAD is a look, and a notice is no place to look at: unless it is refused, it is a GET to axum.
    Router::new()
        .fallback(get(by_url).head(only_get))
        .with_state(shared)
}

async fn only_get() -> (StatusCode, [(header::HeaderName, &'static str); 1]) {
    (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET")])
}

type Answer = (StatusCode, &'static str);
type Parameters = HashMap<String, String>;

async fn by_url(
    Extract(shared): Extract<Arc<Shared>>,
    uri: axum::http::Uri,
    query: Result<Query<Parameters>, QueryRejection>,
) -> Answer {
    let Ok(Query(query)) = query else {
        return (StatusCode::BAD_REQUEST, "the query is not well-formed\n");
    };
    let asked = match uri.path().rsplit('/').next() {
        Some("billing") => billing_of(&query, &shared.current.load().rates),
        Some("loss") => Ok(Asked::Loss),
        _ => return (StatusCode::NOT_FOUND, "notices end in /billing or /loss\n"),
    };
    match (asked, query.get("id")) {
        (Err(why), _) => (StatusCode::BAD_REQUEST, why),
        (Ok(_), None) => (StatusCode::BAD_REQUEST, "id is missing\n"),
        (Ok(asked), Some(id)) => match apply(&shared, asked, id, time::now()) {
            NoticeOutcome::Applied => (StatusCode::OK, "applied\n"),
            NoticeOutcome::Late => (StatusCode::OK, "applied, late\n"),
            NoticeOutcome::Duplicate => (StatusCode::OK, "known already\n"),
            NoticeOutcome::Unknown => (StatusCode::NOT_FOUND, "no such bid\n"),
        },
    }
}

fn billing_of(query: &Parameters, rates: &Rates) -> Result<Asked, &'static str> {
    let price = query.get("price").map(String::as_str);
    let price = price_of(price.unwrap_or(""))?;
    let cur = match query.get("cur").map(String::as_str).unwrap_or("") {
        // The price stands in the response's currency unless the exchange says otherwise.
        "" | "${AUCTION_CURRENCY}" => None,
        cur => Some(Currency::parse(cur).ok_or("cur is no currency code\n")?),
    };
    let price = in_base(price, cur, rates);
    price
        .map(|price| Asked::Billing(Some(price)))
        .ok_or("the price is in a currency that has no rate here, or too high\n")
}

/// A price as an exchange expands `${AUCTION_PRICE}`: a decimal, rounded up to millionths.
fn price_of(text: &str) -> Result<Floor, &'static str> {
    if text.is_empty() {
        return Err("price is missing\n");
    }
    if text.contains("AUCTION_PRICE") {
        return Err("price is the macro itself: the exchange did not expand it\n");
    }
    let is_decimal = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let price: Option<f64> = text.parse().ok().filter(|_| is_decimal);
    let price = price.ok_or("price is no decimal number: an encrypted price cannot be read\n")?;
    Ok(Floor::from_units(price))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn billing(query: &[(&str, &str)]) -> Result<Asked, &'static str> {
        let eur = Currency::parse("EUR").map(|eur| (eur, Micros(1_080_000)));
        let rates = Rates::new(Currency::USD, eur);
        let query = query.iter().map(|(k, v)| (k.to_string(), v.to_string()));
        billing_of(&query.collect(), &rates)
    }

    #[test]
    fn prices_are_read_or_refused_clearly() {
        let at = |micros| Ok(Asked::Billing(Some(Micros(micros))));
        let encrypted = Err("price is no decimal number: an encrypted price cannot be read\n");
        for (price, cur, expect) in [
            ("2.5", "", at(2_500_000)),
            ("2.5", "USD", at(2_500_000)),
            ("2.5", "${AUCTION_CURRENCY}", at(2_500_000)),
            ("1", "eur", at(1_080_000)),
            ("0", "", at(0)),
            ("1.23456789", "", at(1_234_568)),
            ("", "", Err("price is missing\n")),
            (
                "${AUCTION_PRICE}",
                "",
                Err("price is the macro itself: the exchange did not expand it\n"),
            ),
            ("AAABcd-_", "", encrypted),
            ("-1", "", encrypted),
            ("inf", "", encrypted),
            ("1e3", "", encrypted),
            ("1.2.3", "", encrypted),
            ("1", "XX", Err("cur is no currency code\n")),
            (
                "1",
                "GBP",
                Err("the price is in a currency that has no rate here, or too high\n"),
            ),
        ] {
            let got = billing(&[("price", price), ("cur", cur)]);
            assert_eq!(got, expect, "{price:?} {cur:?}");
        }
        assert_eq!(billing(&[]), Err("price is missing\n"));
    }

    #[test]
    fn notices_of_a_call_are_understood_or_refused() {
        let rates = Rates::new(Currency::USD, None);
        let notice = |kind, price_micros, cur: &str| Notice {
            kind,
            price_micros,
            cur: Some(cur.to_owned()),
            ..Notice::default()
        };
        for (notice, expect) in [
            (notice(1, None, ""), Ok(Asked::Win)),
            (notice(2, None, ""), Ok(Asked::Billing(None))),
            (
                notice(2, Some(5), "usd"),
                Ok(Asked::Billing(Some(Micros(5)))),
            ),
            (notice(2, Some(5), "EUR"), Err(CURRENCY)),
            (notice(2, Some(5), "EURO"), Err(CURRENCY)),
            (notice(2, Some(-1), ""), Err("a price is below 0")),
            (notice(3, None, ""), Ok(Asked::Loss)),
            (
                notice(0, None, ""),
                Err("a notice says neither win, billing nor loss"),
            ),
        ] {
            assert_eq!(understand(&notice, &rates), expect, "{notice:?}");
        }
    }
}
