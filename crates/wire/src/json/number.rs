//! Numbers as JSON spells them (RFC 8259, section 6), and what they stand for.

/// The number at the start of `text`, as written; `None` where there is none. What follows it is
/// the caller's to check.
#[inline]
pub(crate) fn prefix(text: &[u8]) -> Option<&str> {
    let mut at = usize::from(text.first() == Some(&b'-'));
    let whole = digits(text, at);
    // At least one digit, and no leading zero.
    if whole == 0 || whole > 1 && text.get(at) == Some(&b'0') {
        return None;
    }
    at += whole;
    if text.get(at) == Some(&b'.') {
        let places = digits(text, at + 1);
        if places == 0 {
            return None;
        }
        at += 1 + places;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1;
        at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
        let exponent = digits(text, at);
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    // Digits, signs and points only: this is ASCII.
    core::str::from_utf8(text.get(..at)?).ok()
}

/// The whole of `text` as a number.
pub(crate) fn whole(text: &str) -> Option<&str> {
    prefix(text.as_bytes()).filter(|number| number.len() == text.len())
}

/// How many digits stand at `at`.
#[inline]
fn digits(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The number as a signed 32-bit integer, a fraction floored; `None` out of range.
#[inline]
pub(crate) fn int(number: &str) -> Option<i32> {
    match number.as_bytes() {
        digits @ [b'0'..=b'9', ..] if digits.len() <= 9 => {
            let mut value = 0;
            for digit in digits {
                if !digit.is_ascii_digit() {
                    return long_int(number);
                }
                value = value * 10 + i32::from(digit - b'0');
            }
            Some(value)
        }
        _ => long_int(number),
    }
}

/// [`int`] for any spelling: exact, however many digits there are.
#[inline(never)]
fn long_int(number: &str) -> Option<i32> {
    let (negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, saturating_exponent(exponent)),
        None => (number, 0),
    };
    let (whole, places) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut point = exponent.saturating_add(whole.len() as i64);
    let (mut value, mut fraction) = (0i64, false);
    for byte in whole.bytes().chain(places.bytes()) {
        let digit = i64::from(byte.wrapping_sub(b'0'));
        if point > 0 {
            value = value.saturating_mul(10).saturating_add(digit);
        } else {
            fraction |= digit != 0;
        }
        point -= 1;
    }
    // Zeros that an exponent stands for; ten are past 32 bits, unless there is nothing but zeros.
    for _ in 0..point.min(10) {
        value = value.saturating_mul(10);
    }
    let floor = match negative {
        true => -value - i64::from(fraction),
        false => value,
    };
    i32::try_from(floor).ok()
}

/// An exponent, held within what a text can balance.
fn saturating_exponent(exponent: &str) -> i64 {
    let digits = exponent.trim_start_matches(['+', '-']);
    let size = digits.bytes().fold(0i64, |value, byte| {
        value
            .saturating_mul(10)
            .saturating_add(i64::from(byte.wrapping_sub(b'0')))
            .min(1 << 40)
    });
    match exponent.starts_with('-') {
        true => -size,
        false => size,
    }
}

/// The number as its nearest double, which may be infinite.
#[inline]
pub(crate) fn double(number: &str) -> f64 {
    match few_digits(number.as_bytes()) {
        Some(value) => value,
        None => number.parse().unwrap_or(f64::NAN),
    }
}

/// Numbers of few digits and no exponent: both the digits and the power of ten are exact doubles,
/// so their quotient is the nearest double.
#[inline]
fn few_digits(number: &[u8]) -> Option<f64> {
    const TENS: [f64; 17] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    ];
    if number.len() > 16 {
        return None;
    }
    let (mut digits, mut places, mut after_point) = (0u64, 0, 0);
    for byte in number {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                places += after_point;
            }
            b'.' => after_point = 1,
            _ => return None,
        }
    }
    if digits >= 1 << 53 {
        return None;
    }
    Some(digits as f64 / TENS.get(places)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_that_of_rfc_8259() {
        for number in [
            "0", "-0", "10", "3.0", "0.5", "1e5", "1E+5", "-2.5e-3", "1e999999",
        ] {
            assert_eq!(whole(number), Some(number));
        }
        for text in [
            "", "-", "+1", "01", "-01", ".5", "5.", "1e", "1e+", "NaN", "Infinity", "0x1", "1 ",
            "1.e5", " 1",
        ] {
            assert_eq!(whole(text), None, "{text:?}");
        }
    }

    #[test]
    fn integers_are_floored_and_bounded() {
        let zeros = format!("0.{}1", "0".repeat(300));
        for (number, expect) in [
            ("3", Some(3)),
            ("3.0", Some(3)),
            ("3e0", Some(3)),
            ("3.9", Some(3)),
            ("0.99e1", Some(9)),
            ("-0", Some(0)),
            ("-0.5", Some(-1)),
            ("-3.0", Some(-3)),
            ("1e9", Some(1_000_000_000)),
            ("1e10", None),
            ("2147483647", Some(i32::MAX)),
            ("2147483647.9", Some(i32::MAX)),
            ("2147483648", None),
            ("-2147483648", Some(i32::MIN)),
            ("-2147483648.1", None),
            ("4294967299", None),
            ("1e999999999999999999999", None),
            ("0e999999999999999999999", Some(0)),
            ("1e-999999999999999999999", Some(0)),
            ("-1e-999999999999999999999", Some(-1)),
            ("2.9999999999999999999999", Some(2)),
            (&zeros, Some(0)),
        ] {
            assert_eq!(int(number), expect, "{number}");
        }
    }

    #[test]
    fn doubles_are_the_nearest() {
        for number in [
            "0",
            "1.1",
            "2.2800000000000002",
            "0.30000000000000004",
            "9007199254740993",
            "1e22",
            "1.10000000000000001",
            "123456.789012345",
            "0.000001",
        ] {
            assert_eq!(Ok(double(number)), number.parse(), "{number}");
        }
        assert_eq!(double("1e999999"), f64::INFINITY);
    }
}
