//! A line item: what an advertiser wants to buy, as the decision sees it (`docs/decisions.md`,
//! "Line items"). Whoever loads line items checks them; nothing here relies on that for safety.

use crate::Targeting;
use openrtb::{MediaType, Micros};

/// A moment, in microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Before every other moment.
    pub const MIN: Timestamp = Timestamp(i64::MIN);
    /// After every other moment.
    pub const MAX: Timestamp = Timestamp(i64::MAX);
    const DAY_US: i64 = 86_400_000_000;

    /// The UTC day, counted from 1970-01-01.
    pub const fn day(self) -> i64 {
        self.0.div_euclid(Self::DAY_US)
    }

    /// The moment `us` microseconds later.
    #[must_use]
    pub const fn plus_us(self, us: i64) -> Timestamp {
        Timestamp(self.0.saturating_add(us))
    }
}

/// Whether a line item may bid at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// It bids inside its flight.
    #[default]
    Active,
    /// It never bids.
    Paused,
}

/// What may be spent, in the bidder's base currency. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetCeilings {
    /// Over the whole flight.
    pub total: Option<Micros>,
    /// In a UTC day.
    pub daily: Option<Micros>,
}

/// Bounds on `imp.video`'s player size in pixels, inclusive. `None` is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the bounds, by name")]
pub struct VideoSize {
    pub min_w: Option<i32>,
    pub min_h: Option<i32>,
    pub max_w: Option<i32>,
    pub max_h: Option<i32>,
}

impl VideoSize {
    /// Whether any bound is set, so that the size must be known.
    pub fn is_bounded(&self) -> bool {
        *self != VideoSize::default()
    }

    /// Whether a size of `w` × `h` is inside.
    pub fn admits(&self, w: i32, h: i32) -> bool {
        let inside = |min: Option<i32>, at: i32, max: Option<i32>| {
            min.is_none_or(|min| min <= at) && max.is_none_or(|max| at <= max)
        };
        inside(self.min_w, w, self.max_w) && inside(self.min_h, h, self.max_h)
    }
}

/// One markup that a line item may bid with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creative {
    /// `bid.crid` and `bid.adid`.
    pub id: String,
    /// The medium that an impression must offer.
    pub media: MediaType,
    /// Width in pixels (banner).
    pub w: Option<i32>,
    /// Height in pixels (banner).
    pub h: Option<i32>,
    /// Length in seconds (video and audio).
    pub duration: Option<i32>,
    /// Mime type (banner, video and audio).
    pub mime: Option<String>,
    /// AdCOM "Creative Subtypes" (video and audio).
    pub protocol: Option<i32>,
    /// What it needs of the player or container (AdCOM "API Frameworks").
    pub apis: Vec<i32>,
    /// What it does (AdCOM "Creative Attributes").
    pub attr: Vec<i32>,
    /// Whether it loads over HTTPS alone.
    pub secure: bool,
    /// The markup, which may hold macros for the exchange to expand.
    pub adm: String,
}

/// A line item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineItem {
    /// Identity; equal prices are decided by it, smaller bytes first.
    pub id: String,
    /// The buyer seat that the bid is placed under.
    pub seat: String,
    /// Whether it may bid.
    pub status: Status,
    /// First moment of the flight.
    pub start: Option<Timestamp>,
    /// First moment after the flight.
    pub end: Option<Timestamp>,
    /// Advertiser domains, as written.
    pub adomain: Vec<String>,
    /// Content categories of the creatives, in the taxonomy `cattax`.
    pub cat: Vec<String>,
    /// Taxonomy of `cat` (AdCOM "Category Taxonomies").
    pub cattax: i32,
    /// The app that the creatives advertise.
    pub bundle: Option<String>,
    /// Price for 1,000 impressions, in the base currency.
    pub cpm: Micros,
    /// What may be spent.
    pub budget: BudgetCeilings,
    /// Where it may bid.
    pub targeting: Targeting,
    /// In order of preference.
    pub creatives: Vec<Creative>,
}

impl LineItem {
    /// Whether it is active and `now` is inside its flight, `[start, end)`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.status == Status::Active
            && self.start.is_none_or(|start| start <= now)
            && self.end.is_none_or(|end| now < end)
    }
}

/// What tests and the conformance suite begin with.
#[cfg(any(test, feature = "conformance"))]
mod plain {
    use super::*;

    impl LineItem {
        /// A line item that bids wherever its creative fits.
        pub(crate) fn plain(id: &str, cpm: Micros) -> LineItem {
            LineItem {
                id: id.into(),
                seat: "default".into(),
                status: Status::Active,
                start: None,
                end: None,
                adomain: vec!["brand.example".into()],
                cat: Vec::new(),
                cattax: 1,
                bundle: None,
                cpm,
                budget: BudgetCeilings::default(),
                targeting: Targeting::default(),
                creatives: vec![Creative::plain(MediaType::Native)],
            }
        }
    }

    impl Creative {
        /// A creative that asks for nothing but its medium.
        pub(crate) fn plain(media: MediaType) -> Creative {
            Creative {
                id: "creative".into(),
                media,
                w: None,
                h: None,
                duration: None,
                mime: None,
                protocol: None,
                apis: Vec::new(),
                attr: Vec::new(),
                secure: true,
                adm: String::new(),
            }
        }
    }
}

/// What one impression costs at a price a thousand: rounded up, never below nothing.
pub(crate) fn impression_cost(price: Micros) -> Micros {
    Micros(price.0.max(0).saturating_add(999) / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_utc_and_whole() {
        for (us, day) in [(-1, -1), (0, 0), (86_399_999_999, 0), (86_400_000_000, 1)] {
            assert_eq!(Timestamp(us).day(), day, "{us}");
        }
    }

    #[test]
    fn sizes_are_inclusive() {
        let size = VideoSize {
            min_w: Some(640),
            max_h: Some(480),
            ..VideoSize::default()
        };
        for (w, h, expect) in [(640, 480, true), (639, 480, false), (640, 481, false)] {
            assert_eq!(size.admits(w, h), expect, "{w}x{h}");
        }
        assert!(size.is_bounded() && !VideoSize::default().is_bounded());
    }

    #[test]
    fn cost_is_rounded_up_and_saturates() {
        for (price, cost) in [
            (1, 1),
            (1000, 1),
            (1001, 2),
            (-5, 0),
            (i64::MAX, i64::MAX / 1000),
        ] {
            assert_eq!(impression_cost(Micros(price)), Micros(cost), "{price}");
        }
    }
}
