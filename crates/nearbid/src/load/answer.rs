//! What a reply decided, in the terms in which `decide` prints a decision (`docs/decisions.md`,
//! "Answer"), so that the two can be compared line by line.

use openrtb::Reason;
use serde::Serialize;
use wire::message::{Bid, BidResponse};

/// The decision that a call's reply holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// At least one bid.
    Bids {
        /// `id` of the request.
        id: Option<String>,
        /// The bids in the order of an answer: by impression, then market.
        bids: Vec<PlacedBid>,
    },
    /// None.
    NoBid {
        /// `id` of the request.
        id: Option<String>,
        /// Name of the reason.
        no_bid: String,
        /// Its number.
        nbr: i32,
    },
    /// The call failed.
    Error {
        /// gRPC's name of the status code, or `BAD_REPLY`.
        error: String,
    },
}

/// One bid, without its own id, which differs from run to run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlacedBid {
    /// `bid.impid`.
    pub imp: Option<String>,
    /// `bid.dealid`; null in the open market.
    pub deal: Option<String>,
    /// `bid.cid`.
    pub line_item: Option<String>,
    /// `bid.crid`.
    pub creative: Option<String>,
    /// `bid.price` in millionths.
    pub price_micros: i64,
    /// Currency of the response.
    pub cur: Option<String>,
}

/// Counted as the error of a reply that does not decode or says neither bids nor a reason.
pub const BAD_REPLY: &str = "BAD_REPLY";

impl Answer {
    /// The answer that a response gives.
    pub fn of(response: BidResponse) -> Answer {
        let BidResponse {
            id,
            seatbid,
            cur,
            nbr,
            ..
        } = response;
        let bids: Vec<PlacedBid> = seatbid
            .into_iter()
            .flat_map(|seat| seat.bid)
            .map(|bid| placed(bid, cur.clone()))
            .collect();
        match nbr {
            _ if !bids.is_empty() => Answer::Bids { id, bids },
            Some(nbr) => Answer::NoBid {
                id,
                no_bid: reason(nbr),
                nbr,
            },
            None => Answer::Error {
                error: BAD_REPLY.to_owned(),
            },
        }
    }

    /// As one line of JSON.
    pub fn line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

fn placed(bid: Bid, cur: Option<String>) -> PlacedBid {
    PlacedBid {
        imp: bid.impid,
        deal: bid.dealid,
        line_item: bid.cid,
        creative: bid.crid,
        price_micros: (bid.price.unwrap_or_default() * 1e6).round() as i64,
        cur,
    }
}

/// A reason that is not ours keeps its number for a name.
fn reason(nbr: i32) -> String {
    Reason::from_nbr(nbr).map_or_else(|| format!("nbr_{nbr}"), |reason| reason.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::message::SeatBid;

    #[test]
    fn answers_are_printed_like_decisions() {
        let bid = Bid {
            id: Some("b".to_owned()),
            impid: Some("1".to_owned()),
            cid: Some("li-1".to_owned()),
            crid: Some("c1".to_owned()),
            price: Some(2.5),
            ..Bid::default()
        };
        let response = BidResponse {
            id: Some("r".to_owned()),
            cur: Some("USD".to_owned()),
            seatbid: vec![SeatBid {
                bid: vec![bid],
                ..SeatBid::default()
            }],
            ..BidResponse::default()
        };
        assert_eq!(
            Answer::of(response).line(),
            "{\"id\":\"r\",\"bids\":[{\"imp\":\"1\",\"deal\":null,\"line_item\":\"li-1\",\
             \"creative\":\"c1\",\"price_micros\":2500000,\"cur\":\"USD\"}]}\n"
        );
        let no = BidResponse {
            nbr: Some(507),
            ..BidResponse::default()
        };
        assert_eq!(
            Answer::of(no).line(),
            "{\"id\":null,\"no_bid\":\"floor\",\"nbr\":507}\n"
        );
    }

    #[test]
    fn an_empty_reply_is_an_error() {
        let answer = Answer::of(BidResponse::default());
        assert_eq!(
            answer,
            Answer::Error {
                error: BAD_REPLY.to_owned()
            }
        );
    }
}
