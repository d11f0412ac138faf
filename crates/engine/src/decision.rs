//! The answer to a request: bids in market order, or the one reason why there is none.

use crate::{BidId, Book, Creative, LineItem, Position};
use openrtb::{Limit, Micros, Reason, Refusal, RequestView, Text};

/// What was decided about a request. `'a` is the life of the snapshot's borrow, which the request's
/// bytes outlive.
#[derive(Clone, Debug)]
pub struct Decision<'a> {
    /// The request's `id`; `None` where the request is invalid and its id could not be read.
    pub id: Option<Text<'a>>,
    /// The bids, or why there are none.
    pub outcome: Outcome<'a>,
}

/// Bids or none.
#[derive(Clone, Debug)]
pub enum Outcome<'a> {
    /// At least one bid, by impression, then by market: deals in request order, open market last.
    Bids(Vec<Bid<'a>>),
    /// No bid: the stage at which the last line item dropped out.
    NoBid(Reason),
    /// No bid, `Reason::InvalidRequest`: why the request could not be decided on.
    Invalid(Invalid),
}

impl<'a> Decision<'a> {
    /// The bids; empty where there are none.
    pub fn bids(&self) -> &[Bid<'a>] {
        match &self.outcome {
            Outcome::Bids(bids) => bids,
            Outcome::NoBid(_) | Outcome::Invalid(_) => &[],
        }
    }

    /// Why there is no bid; `None` where there is one.
    pub fn no_bid(&self) -> Option<Reason> {
        match self.outcome {
            Outcome::Bids(_) => None,
            Outcome::NoBid(reason) => Some(reason),
            Outcome::Invalid(_) => Some(Reason::InvalidRequest),
        }
    }
}

/// Why a request is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Invalid {
    /// What had to be read is not well-formed in its format.
    Malformed,
    /// A limit of the reader was passed.
    OverLimit(Limit),
    /// It has no `id`.
    NoId,
    /// It has no impression.
    NoImp,
}

impl Invalid {
    /// The stable name, as it stands in metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Invalid::Malformed => "malformed",
            Invalid::OverLimit(limit) => limit.name(),
            Invalid::NoId => "no_id",
            Invalid::NoImp => "no_imp",
        }
    }
}

impl From<Refusal> for Invalid {
    fn from(refusal: Refusal) -> Invalid {
        match refusal {
            Refusal::Malformed => Invalid::Malformed,
            Refusal::OverLimit(limit) => Invalid::OverLimit(limit),
        }
    }
}

/// A bid for one market of one impression. Its price for one impression is reserved.
#[derive(Clone, Debug)]
pub struct Bid<'a> {
    /// Identity, for its notices.
    pub id: BidId,
    /// `imp.id`.
    pub imp: Text<'a>,
    /// `deal.id`; `None` in the open market.
    pub deal: Option<Text<'a>>,
    /// The line item's place in the catalog.
    pub position: Position,
    /// The line item.
    pub item: &'a LineItem,
    /// The creative: the line item's first that fits.
    pub creative: &'a Creative,
    /// The price for 1,000 impressions, in the base currency.
    pub price: Micros,
    /// Whether the request was a test: nothing is reserved for this bid, and no notice counts.
    pub test: bool,
}

/// A decision in the making. Whatever ends it, what its bids reserved is either kept or dropped.
pub(crate) struct Draft<'a, 'b, K> {
    pub id: Option<Text<'a>>,
    pub bids: Vec<Bid<'a>>,
    book: &'b K,
}

impl<'a, 'b, K: Book> Draft<'a, 'b, K> {
    pub fn new(book: &'b K) -> Self {
        Draft {
            id: None,
            bids: Vec::new(),
            book,
        }
    }

    /// The decision, once all markets are through (with the reason if there is no bid) or the
    /// request proved invalid.
    pub fn finish<'r>(
        mut self,
        request: &impl RequestView<'r>,
        decided: Result<Reason, Invalid>,
    ) -> Decision<'a> {
        let outcome = match decided.and_then(|reason| self.mark_test(request).map(|()| reason)) {
            Ok(_) if !self.bids.is_empty() => Outcome::Bids(self.bids),
            Ok(reason) => Outcome::NoBid(reason),
            Err(cause) => {
                self.drop_reservations();
                Outcome::Invalid(cause)
            }
        };
        let malformed = matches!(outcome, Outcome::Invalid(Invalid::Malformed));
        let id = if malformed { None } else { self.id };
        Decision { id, outcome }
    }

    /// A test's reservations counted within the request; now they are dropped.
    fn mark_test<'r>(&mut self, request: &impl RequestView<'r>) -> Result<(), Invalid> {
        if !self.bids.is_empty() && request.test()? {
            self.drop_reservations();
            self.bids.iter_mut().for_each(|bid| bid.test = true);
        }
        Ok(())
    }

    fn drop_reservations(&self) {
        // The book finds what was reserved last first.
        for bid in self.bids.iter().rev() {
            self.book.cancel(bid.id);
        }
    }
}
