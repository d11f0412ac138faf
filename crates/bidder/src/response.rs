//! The response to a request that is bid for (`docs/decisions.md`, "Answer"). It is the
//! rare answer, so it is built as an owned message; the usual one is `wire::no_bid`.

use engine::{Bid, Decision};
use openrtb::{Currency, MediaType, Text};
use wire::message::{self, BidResponse, SeatBid};

/// What every bid of a service carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidTerms {
    /// The currency of prices.
    pub base: Currency,
    /// `bid.exp`, in seconds.
    pub exp_s: u32,
    /// What `burl` and `lurl` begin with; without it, bids carry none.
    pub notice_url: Option<String>,
}

/// The response to a decision with bids: seats by first appearance, their bids in order.
pub fn bid_response(decision: &Decision<'_>, terms: &BidTerms) -> BidResponse {
    let mut seats: Vec<SeatBid> = Vec::new();
    for bid in decision.bids() {
        let message = bid_message(bid, terms);
        let known = |seat: &&mut SeatBid| seat.seat.as_deref() == Some(&bid.item.seat);
        match seats.iter_mut().find(known) {
            Some(seat) => seat.bid.push(message),
            None => seats.push(SeatBid {
                seat: Some(bid.item.seat.clone()),
                bid: vec![message],
                ..SeatBid::default()
            }),
        }
    }
    BidResponse {
        id: decision.id.map(Text::into_string),
        bidid: decision.bids().first().map(|bid| bid.id.to_string()),
        cur: Some(terms.base.code().to_owned()),
        seatbid: seats,
        ..BidResponse::default()
    }
}

fn bid_message(bid: &Bid<'_>, terms: &BidTerms) -> message::Bid {
    let (item, creative) = (bid.item, bid.creative);
    let is_timed = matches!(creative.media, MediaType::Video | MediaType::Audio);
    message::Bid {
        id: Some(bid.id.to_string()),
        impid: Some(bid.imp.into_string()),
        price: Some(bid.price.to_f64()),
        adid: Some(creative.id.clone()),
        adm: Some(creative.adm.clone()),
        adomain: item.adomain.clone(),
        bundle: item.bundle.clone(),
        cid: Some(item.id.clone()),
        crid: Some(creative.id.clone()),
        cat: item.cat.clone(),
        cattax: Some(item.cattax),
        attr: creative.attr.clone(),
        apis: creative.apis.clone(),
        protocol: creative.protocol.filter(|_| is_timed),
        dur: creative.duration.filter(|_| is_timed),
        dealid: bid.deal.map(Text::into_string),
        w: creative.w,
        h: creative.h,
        mtype: Some(creative.media.mtype()),
        exp: i32::try_from(terms.exp_s).ok(),
        burl: notice_url(terms, "billing", bid, BILLING_MACROS),
        lurl: notice_url(terms, "loss", bid, LOSS_MACROS),
        ..message::Bid::default()
    }
}

const BILLING_MACROS: &str = "&price=${AUCTION_PRICE}&cur=${AUCTION_CURRENCY}";
const LOSS_MACROS: &str = "&reason=${AUCTION_LOSS}";

fn notice_url(terms: &BidTerms, kind: &str, bid: &Bid<'_>, macros: &str) -> Option<String> {
    let url = terms.notice_url.as_deref()?;
    Some(format!("{url}/{kind}?id={}{macros}", bid.id))
}
