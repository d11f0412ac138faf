//! Money is an integer number of millionths of a currency unit, from the moment it is read.

/// Millionths of a currency unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Micros(pub i64);

/// Why a decimal is no amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecimalError {
    /// Not a decimal number as RFC 8259, section 6, spells one.
    NotANumber,
    /// More than six places after the point.
    TooManyPlaces,
    /// Beyond ±1,000,000,000,000 units.
    TooLarge,
}

impl core::fmt::Display for DecimalError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            DecimalError::NotANumber => "is no decimal number",
            DecimalError::TooManyPlaces => "has more than 6 decimals",
            DecimalError::TooLarge => "is beyond 1,000,000,000,000",
        })
    }
}

impl std::error::Error for DecimalError {}

impl Micros {
    /// Nothing.
    pub const ZERO: Micros = Micros(0);
    /// One unit.
    pub const UNIT: i64 = 1_000_000;
    const UNITS_MAX: i128 = 1_000_000_000_000;

    /// Reads a decimal as RFC 8259, section 6, spells it (an exponent is allowed), exactly: `2.5` is 2,500,000.
    pub fn parse(decimal: &str) -> Result<Micros, DecimalError> {
        let digits = Digits::parse(decimal).ok_or(DecimalError::NotANumber)?;
        let (whole, exact) = digits.scaled(6).ok_or(DecimalError::TooLarge)?;
        if !exact {
            return Err(DecimalError::TooManyPlaces);
        }
        if whole.abs() > Self::UNITS_MAX * i128::from(Self::UNIT) {
            return Err(DecimalError::TooLarge);
        }
        i64::try_from(whole)
            .map(Micros)
            .map_err(|_| DecimalError::TooLarge)
    }

    /// The amount in units of currency, for formats that hold a double.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / Self::UNIT as f64
    }
}

impl core::fmt::Display for Micros {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (sign, amount) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let (units, rest) = (amount / 1_000_000, amount % 1_000_000);
        if rest == 0 {
            return write!(f, "{sign}{units}");
        }
        let places = format!("{rest:06}");
        write!(f, "{sign}{units}.{}", places.trim_end_matches('0'))
    }
}

/// What a market asks at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floor {
    /// A price a thousand, in the currency it was given in or converted to.
    At(Micros),
    /// No price meets it: not finite, above a million units, or in a currency without a rate.
    Unmeetable,
}

impl Floor {
    /// No floor.
    pub const NONE: Floor = Floor::At(Micros::ZERO);
    const UNITS_MAX: f64 = 1_000_000.0;

    /// A floor as a request gives it: the shortest decimal of the double, rounded up to micros.
    #[inline]
    pub fn from_units(units: f64) -> Floor {
        if !units.is_finite() || units > Self::UNITS_MAX {
            return Floor::Unmeetable;
        }
        if units <= 0.0 {
            return Floor::NONE;
        }
        // The nearest number of micros, if it is the double's decimal, is its shortest one: both
        // have at most 15 digits, and no two such decimals share a double.
        let micros = (units * 1e6).round();
        if micros / 1e6 == units {
            return Floor::At(Micros(micros as i64));
        }
        Self::from_long_decimal(units)
    }

    #[cold]
    fn from_long_decimal(units: f64) -> Floor {
        let mut shortest = ShortestDecimal::default();
        let written = core::fmt::Write::write_fmt(&mut shortest, format_args!("{units:e}"));
        let digits = written.ok().and_then(|()| Digits::parse(shortest.as_str()));
        let scaled = digits.and_then(|d| d.scaled(6));
        match scaled.map(|(whole, exact)| i64::try_from(whole + i128::from(!exact))) {
            Some(Ok(micros)) => Floor::At(Micros(micros)),
            _ => Floor::Unmeetable,
        }
    }

    /// The floor in another currency at `rate` (micros of it for one unit), rounded up.
    pub fn convert(self, rate: Micros) -> Floor {
        let Floor::At(Micros(floor)) = self else {
            return self;
        };
        let product = i128::from(floor) * i128::from(rate.0);
        let unit = i128::from(Micros::UNIT);
        match i64::try_from((product + unit - 1) / unit) {
            Ok(micros) => Floor::At(Micros(micros)),
            Err(_) => Floor::Unmeetable,
        }
    }
}

/// Room for the shortest decimal of a double with an exponent (24 bytes at most): a no
/// allocates nothing, whatever its floor looks like.
#[derive(Default)]
struct ShortestDecimal {
    bytes: [u8; 32],
    len: usize,
}

impl ShortestDecimal {
    fn as_str(&self) -> &str {
        let written = self.bytes.get(..self.len).unwrap_or_default();
        core::str::from_utf8(written).unwrap_or_default()
    }
}

impl core::fmt::Write for ShortestDecimal {
    fn write_str(&mut self, s: &str) -> core::fmt::Result {
        let end = self.len + s.len();
        let room = self.bytes.get_mut(self.len..end).ok_or(core::fmt::Error)?;
        room.copy_from_slice(s.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// A decimal: `sign × digits × 10^exponent`.
struct Digits<'a> {
    negative: bool,
    whole: &'a str,
    places: &'a str,
    exponent: i64,
}

impl<'a> Digits<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (rest.get(..at)?, parse_exponent(rest.get(at + 1..)?)?),
            None => (rest, 0),
        };
        let (whole, places) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        let canonical = whole == "0" || !whole.is_empty() && !whole.starts_with('0');
        (canonical && digits(whole) && digits(places)).then_some(Digits {
            negative,
            whole,
            places,
            exponent,
        })
    }

    /// The value × 10^`shift`, towards zero, and whether that is exact. `None` past 38 digits.
    fn scaled(&self, shift: i64) -> Option<(i128, bool)> {
        let point = i64::try_from(self.whole.len())
            .ok()?
            .checked_add(self.exponent)?
            .checked_add(shift)?;
        let (mut value, mut exact, mut at) = (0i128, true, 0i64);
        for digit in self.whole.bytes().chain(self.places.bytes()) {
            let digit = i128::from(digit - b'0');
            if at < point {
                value = value.checked_mul(10)?.checked_add(digit)?;
            } else {
                exact &= digit == 0;
            }
            at += 1;
        }
        while at < point && value != 0 {
            value = value.checked_mul(10)?;
            at += 1;
        }
        Some((if self.negative { -value } else { value }, exact))
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Beyond i64 the value is zero or infinite all the same; the sign decides which.
    let magnitude = digits
        .parse::<i64>()
        .unwrap_or(i64::MAX / 4)
        .min(i64::MAX / 4);
    Some(if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<i64, DecimalError>) {
        assert_eq!(Micros::parse(text).map(|m| m.0), expect, "{text}");
    }

    #[test]
    fn decimals_are_read_exactly() {
        check("2.5", Ok(2_500_000));
        check("0.000999", Ok(999));
        check("1e3", Ok(1_000_000_000));
        check("10E-1", Ok(1_000_000));
        check("-1.10", Ok(-1_100_000));
        check("1.1000000", Ok(1_100_000));
        check("0e99999999999999999999", Ok(0));
    }

    #[test]
    fn what_is_no_amount() {
        use DecimalError::{NotANumber, TooLarge, TooManyPlaces};
        check("0.0000001", Err(TooManyPlaces));
        check("1e-99999999999999999999", Err(TooManyPlaces));
        check("1e999999", Err(TooLarge));
        check("1000000000001", Err(TooLarge));
        for text in [
            "", "-", ".5", "5.", "+1", "01", "1e", "1e+", "NaN", "1_0", "0x1", " 1",
        ] {
            check(text, Err(NotANumber));
        }
    }

    #[test]
    fn floors_round_up_from_the_shortest_decimal() {
        let at = |m| Floor::At(Micros(m));
        for (units, expect) in [
            (1.1, at(1_100_000)),
            (1.100_000_01, at(1_100_001)),
            ("1.10000000000000001".parse().unwrap_or(0.0), at(1_100_000)),
            (5e-324, at(1)),
            (-3.0, Floor::NONE),
            (0.0, Floor::NONE),
            (1_000_000.0, at(1_000_000_000_000)),
            (999_999.999_999, at(999_999_999_999)),
            (1_000_000.000_000_1, Floor::Unmeetable),
            (f64::INFINITY, Floor::Unmeetable),
            (f64::NAN, Floor::Unmeetable),
        ] {
            assert_eq!(Floor::from_units(units), expect, "{units}");
        }
    }

    #[test]
    fn the_quick_way_to_micros_agrees_with_the_long_one() {
        let mut state = 7u64;
        for _ in 0..200_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let micros = (state >> 24) % 1_000_000_000_000;
            for units in [
                micros as f64 / 1e6,
                micros as f64 / 1e7,
                f64::from_bits(state >> 2),
            ] {
                if units > 0.0 && units <= Floor::UNITS_MAX {
                    assert_eq!(
                        Floor::from_units(units),
                        Floor::from_long_decimal(units),
                        "{units}"
                    );
                }
            }
        }
    }

    #[test]
    fn conversion_rounds_up() {
        let floor = Floor::from_units(1.000_001).convert(Micros(1_080_000));
        assert_eq!(floor, Floor::At(Micros(1_080_002)));
        assert_eq!(Floor::NONE.convert(Micros(1_080_000)), Floor::NONE);
    }

    #[test]
    fn amounts_print_as_decimals() {
        for (micros, expect) in [
            (2_500_000, "2.5"),
            (-1, "-0.000001"),
            (0, "0"),
            (3_000_000, "3"),
        ] {
            assert_eq!(Micros(micros).to_string(), expect);
        }
    }
}
