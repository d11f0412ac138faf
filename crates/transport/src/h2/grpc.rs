//! gRPC's own rules on top of HTTP/2: message prefix, timeouts, content types, status texts.

use std::time::Duration;

/// Bytes before a message: a flag for compression, and the length in 4 bytes, big end first.
pub(crate) const PREFIX_BYTES: usize = 5;

/// The prefix of an uncompressed message. A reply longer than 4 GiB cannot be framed; the length
/// saturates, and the client refuses it by its limit.
#[inline]
pub(crate) fn prefix(length: usize) -> [u8; PREFIX_BYTES] {
    let [a, b, c, d] = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    [0, a, b, c, d]
}

/// What a message's prefix says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// 0: not compressed; 1: as `grpc-encoding` says; anything else is an error.
    pub flag: u8,
    /// Of the message behind it.
    pub length: usize,
}

/// The prefix at the start of `bytes` and what follows it; `None` if it is not complete.
#[inline]
pub(crate) fn split_prefix(bytes: &[u8]) -> Option<(Prefix, &[u8])> {
    let ([flag, length @ ..], rest) = bytes.split_first_chunk::<PREFIX_BYTES>()?;
    Some((
        Prefix {
            flag: *flag,
            length: u32::from_be_bytes(*length) as usize,
        },
        rest,
    ))
}

/// A `grpc-timeout`: at most 8 digits and a unit. `None` if it is none.
pub(crate) fn parse_timeout(text: &[u8]) -> Option<Duration> {
    let (unit, digits) = text.split_last()?;
    if digits.is_empty() || digits.len() > 8 {
        return None;
    }
    let mut amount = 0u64;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        amount = amount * 10 + u64::from(digit);
    }
    match unit {
        b'H' => Some(Duration::from_secs(amount * 3600)),
        b'M' => Some(Duration::from_secs(amount * 60)),
        b'S' => Some(Duration::from_secs(amount)),
        b'm' => Some(Duration::from_millis(amount)),
        b'u' => Some(Duration::from_micros(amount)),
        b'n' => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

/// Writes a `grpc-timeout` in the finest unit that 8 digits hold, rounded down. Longer than 99,999,999
/// hours is cut to that.
pub(crate) fn write_timeout(out: &mut Vec<u8>, timeout: Duration) {
    const AMOUNT_MAX: u128 = 99_999_999;
    let units = [
        (timeout.as_nanos(), b'n'),
        (timeout.as_micros(), b'u'),
        (timeout.as_millis(), b'm'),
        (u128::from(timeout.as_secs()), b'S'),
        (u128::from(timeout.as_secs() / 60), b'M'),
    ];
    let hours = (u128::from(timeout.as_secs() / 3600).min(AMOUNT_MAX), b'H');
    let (amount, unit) = units
        .into_iter()
        .find(|(amount, _)| *amount <= AMOUNT_MAX)
        .unwrap_or(hours);
    write_decimal(out, u64::try_from(amount).unwrap_or(0));
    out.push(unit);
}

/// Writes a number in decimal.
pub(crate) fn write_decimal(out: &mut Vec<u8>, number: u64) {
    let start = out.len();
    let mut rest = number;
    loop {
        let [digit, ..] = (rest % 10).to_le_bytes();
        out.push(b'0' + digit);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if let Some(digits) = out.get_mut(start..) {
        digits.reverse();
    }
}

/// What comes after `application/grpc` in every content type of gRPC.
pub(crate) const CONTENT_TYPE: &[u8] = b"application/grpc";
/// With a subtype behind it.
pub(crate) const CONTENT_TYPE_PLUS: &[u8] = b"application/grpc+";

/// The content-subtype: empty for `application/grpc`; `None` for what is not gRPC. Parameters behind
/// `;` mean nothing to gRPC. In lower case, as a media type is case-insensitive only in theory.
pub(crate) fn subtype(content_type: &[u8]) -> Option<&str> {
    let rest = content_type.strip_prefix(CONTENT_TYPE)?;
    let name = rest
        .split(|b| *b == b';')
        .next()
        .unwrap_or_default()
        .trim_ascii_end();
    match name.split_first() {
        None => Some(""),
        Some((b'+', name)) if name.iter().all(|b| b.is_ascii_graphic()) => {
            std::str::from_utf8(name).ok()
        }
        Some(_) => None,
    }
}

/// Status messages longer than this are cut: no peer needs more, and they must fit one frame.
const MESSAGE_BYTES_MAX: usize = 1024;

/// A status message as gRPC sends it: every byte but printable ASCII, and `%`, as `%XX`.
pub(crate) fn percent_encode(message: &str) -> Vec<u8> {
    const HEX: [u8; 16] = *b"0123456789ABCDEF";
    let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
    let mut out = Vec::new();
    let whole = |start: usize, c: char| start + c.len_utf8() <= MESSAGE_BYTES_MAX;
    let cut: usize = message
        .char_indices()
        .take_while(|(at, c)| whole(*at, *c))
        .map(|(_, c)| c.len_utf8())
        .sum();
    for byte in message.bytes().take(cut) {
        match byte {
            b' '..=b'~' if byte != b'%' => out.push(byte),
            _ => out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]),
        }
    }
    out
}

/// The message of a peer's status. What is no proper `%XX` stands for itself, and what is no UTF-8
/// becomes U+FFFD, as the specification asks: a status is never lost over its text.
pub(crate) fn percent_decode(mut coded: &[u8]) -> String {
    let hex = |digit: &u8| char::from(*digit).to_digit(16);
    let mut out = Vec::new();
    while let Some((byte, rest)) = coded.split_first() {
        coded = rest;
        if *byte == b'%'
            && let [high, low, after @ ..] = rest
            && let (Some(high), Some(low)) = (hex(high), hex(low))
        {
            out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            coded = after;
        } else {
            out.push(*byte);
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn timeouts() {
        for (text, expect) in [
            ("1H", Some(Duration::from_secs(3600))),
            ("99999999H", Some(Duration::from_secs(99_999_999 * 3600))),
            ("2M", Some(Duration::from_secs(120))),
            ("3S", Some(Duration::from_secs(3))),
            ("250m", Some(Duration::from_millis(250))),
            ("00000001u", Some(Duration::from_micros(1))),
            ("0n", Some(Duration::ZERO)),
            ("", None),
            ("n", None),
            ("1", None),
            ("1x", None),
            ("-1S", None),
            ("+1S", None),
            ("1 S", None),
            ("100000000n", None),
            ("1.5S", None),
        ] {
            assert_eq!(parse_timeout(text.as_bytes()), expect, "{text}");
        }
    }

    #[test]
    fn timeouts_written() {
        for (timeout, expect) in [
            (Duration::ZERO, "0n"),
            (Duration::from_nanos(99_999_999), "99999999n"),
            (Duration::from_millis(100), "100000u"),
            (Duration::from_secs(100), "100000m"),
            (Duration::from_secs(1_000_000), "1000000S"),
            (Duration::from_secs(100_000_000), "1666666M"),
            (Duration::MAX, "99999999H"),
        ] {
            let mut out = Vec::new();
            write_timeout(&mut out, timeout);
            assert_eq!(String::from_utf8(out).unwrap(), expect);
        }
    }

    #[test]
    fn content_types() {
        for (text, expect) in [
            ("application/grpc", Some("")),
            ("application/grpc+proto", Some("proto")),
            ("application/grpc+json; charset=utf-8", Some("json")),
            ("application/grpc;x", Some("")),
            ("application/grpc+", Some("")),
            ("application/grpc-web", None),
            ("application/grpc+a b", None),
            ("application/json", None),
            ("", None),
        ] {
            assert_eq!(subtype(text.as_bytes()), expect, "{text}");
        }
    }

    #[test]
    fn messages() {
        for (message, coded) in [
            ("plain text", "plain text"),
            ("100%", "100%25"),
            ("a\nb", "a%0Ab"),
            ("é", "%C3%A9"),
            ("", ""),
        ] {
            assert_eq!(percent_encode(message), coded.as_bytes());
            assert_eq!(percent_decode(coded.as_bytes()), message);
        }
        for (coded, message) in [
            ("%", "%"),
            ("%4", "%4"),
            ("%zz", "%zz"),
            ("%41%", "A%"),
            ("%ff", "\u{fffd}"),
        ] {
            assert_eq!(percent_decode(coded.as_bytes()), message);
        }
        assert_eq!(percent_encode(&"é".repeat(2000)).len(), 3072);
    }

    proptest! {
        #[test]
        fn messages_come_back(message in "\\PC{0,100}") {
            prop_assert_eq!(percent_decode(&percent_encode(&message)), message);
        }

        #[test]
        fn timeouts_are_read_as_written(nanos in any::<u64>()) {
            let mut out = Vec::new();
            write_timeout(&mut out, Duration::from_nanos(nanos));
            let read = parse_timeout(&out).unwrap();
            prop_assert!(read <= Duration::from_nanos(nanos));
            prop_assert!(read.as_nanos() >= u128::from(nanos) / 100 * 99);
        }
    }
}
