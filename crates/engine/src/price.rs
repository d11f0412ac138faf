//! What a market asks at least, in the base currency (`docs/decisions.md`, "Money").

use openrtb::{Currency, DealView, Floor, ImpView, Micros, Read};

/// The bidder's currency and what others are worth in it.
#[derive(Clone, Debug)]
pub struct Rates {
    base: Currency,
    /// Micros of the base currency for one unit, by currency.
    rates: Vec<(Currency, Micros)>,
}

impl Rates {
    /// Rates into `base`: micros of `base` for one unit of each other currency. A rate is above
    /// zero; of two for one currency the first counts, and one for `base` itself is not used.
    pub fn new(base: Currency, rates: impl IntoIterator<Item = (Currency, Micros)>) -> Rates {
        let mut rates: Vec<_> = rates.into_iter().filter(|(of, _)| *of != base).collect();
        rates.sort_by_key(|(of, _)| *of);
        rates.dedup_by_key(|(of, _)| *of);
        Rates { base, rates }
    }

    /// The bidder's currency.
    pub fn base(&self) -> Currency {
        self.base
    }

    /// A floor in the base currency: rounded up to micros of its own currency, converted, and
    /// rounded up again. Nothing is nothing in any currency.
    pub fn to_base(&self, floor: Floor, of: Currency) -> Floor {
        if of == self.base || floor == Floor::NONE {
            return floor;
        }
        let at = self.rates.binary_search_by_key(&of, |(of, _)| *of);
        match at.ok().and_then(|at| self.rates.get(at)) {
            Some((_, rate)) => floor.convert(*rate),
            None => Floor::Unmeetable,
        }
    }

    /// The open market's floor: `imp.bidfloor` in `imp.bidfloorcur`.
    pub(crate) fn imp_floor<'a>(&self, imp: &impl ImpView<'a>) -> Read<Floor> {
        let floor = imp.bidfloor()?.map_or(Floor::NONE, Floor::from_units);
        if floor == Floor::NONE {
            return Ok(floor);
        }
        let of = imp.bidfloorcur()?.and_then(Currency::of);
        Ok(self.to_base(floor, of.unwrap_or(Currency::USD)))
    }

    /// The deal's own floor; `None` where it names none. Its currency does not inherit.
    pub(crate) fn deal_floor<'a>(&self, deal: &impl DealView<'a>) -> Read<Option<Floor>> {
        let Some(units) = deal.bidfloor()? else {
            return Ok(None);
        };
        let floor = Floor::from_units(units);
        if floor == Floor::NONE {
            return Ok(Some(floor));
        }
        let of = deal.bidfloorcur()?.and_then(Currency::of);
        Ok(Some(self.to_base(floor, of.unwrap_or(Currency::USD))))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn floors_are_converted_once_and_rounded_up() {
        let eur = Currency::parse("EUR").unwrap();
        let gbp = Currency::parse("GBP").unwrap();
        let rates = Rates::new(
            Currency::USD,
            [
                (eur, Micros(1_080_000)),
                (eur, Micros(9)),
                (Currency::USD, Micros(9)),
            ],
        );
        let at = |micros| Floor::At(Micros(micros));
        for (floor, of, expect) in [
            (at(1_000_001), eur, at(1_080_002)),
            (at(1_000_001), Currency::USD, at(1_000_001)),
            (at(1), gbp, Floor::Unmeetable),
            (at(1), Currency::OTHER, Floor::Unmeetable),
            (Floor::NONE, gbp, Floor::NONE),
            (Floor::Unmeetable, eur, Floor::Unmeetable),
        ] {
            assert_eq!(rates.to_base(floor, of), expect, "{floor:?} {of:?}");
        }
    }
}
