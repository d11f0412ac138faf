//! Strings as JSON spells them (RFC 8259, section 7): what is between the quotes, looked at only
//! when the string is used.

use openrtb::{Read, Refusal, Text};

use crate::limits::Meter;
use crate::record::look;

/// The string that is spelled so; `None` where it is empty or no Unicode. A control character
/// that is not escaped, or an escape that is none, is [`Refusal::Malformed`].
#[inline]
pub(crate) fn text<'a>(spelled: &'a [u8], meter: &Meter) -> Read<Option<Text<'a>>> {
    let (mut control, mut backslash) = (false, false);
    for &byte in spelled {
        control |= byte < 0x20;
        backslash |= byte == b'\\';
    }
    if control {
        return Err(Refusal::Malformed);
    }
    match backslash {
        false => meter.text(spelled),
        true => escaped(spelled, meter),
    }
}

#[cold]
#[inline(never)]
fn escaped<'a>(spelled: &'a [u8], meter: &Meter) -> Read<Option<Text<'a>>> {
    look(spelled);
    meter.spend(spelled.len())?;
    let decoded = decoded(spelled)?;
    meter.check_string(decoded.len)?;
    Ok(match core::str::from_utf8(spelled) {
        Ok(spelled) if decoded.unicode => Some(Text::Escaped(spelled)),
        _ => None,
    })
}

/// What a spelling decodes to.
#[derive(Debug, PartialEq, Eq)]
struct Decoded {
    /// Bytes in UTF-8.
    len: usize,
    /// Whether no surrogate stands alone.
    unicode: bool,
}

/// Checks every escape of a spelling.
fn decoded(spelled: &[u8]) -> Read<Decoded> {
    let mut decoded = Decoded {
        len: 0,
        unicode: true,
    };
    let mut rest = spelled;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            decoded.len += 1;
            continue;
        }
        let (&kind, tail) = rest.split_first().ok_or(Refusal::Malformed)?;
        rest = tail;
        decoded.len += match kind {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 1,
            b'u' => {
                let unit = hex4(rest).ok_or(Refusal::Malformed)?;
                rest = rest.get(4..).unwrap_or_default();
                match unit {
                    0..0x80 => 1,
                    0x80..0x800 => 2,
                    0xD800..0xDC00 => match low_surrogate(rest) {
                        true => {
                            rest = rest.get(6..).unwrap_or_default();
                            4
                        }
                        false => {
                            decoded.unicode = false;
                            3
                        }
                    },
                    0xDC00..0xE000 => {
                        decoded.unicode = false;
                        3
                    }
                    _ => 3,
                }
            }
            _ => return Err(Refusal::Malformed),
        };
    }
    Ok(decoded)
}

/// Whether the low half of a surrogate pair is spelled here.
fn low_surrogate(rest: &[u8]) -> bool {
    let unit = rest.strip_prefix(b"\\u").and_then(hex4);
    unit.is_some_and(|unit| (0xDC00..0xE000).contains(&unit))
}

/// Four hexadecimal digits.
fn hex4(rest: &[u8]) -> Option<u32> {
    let digits = rest.get(..4)?;
    digits.iter().try_fold(0, |value, &digit| {
        Some(value << 4 | char::from(digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use openrtb::Limit;

    /// `expect` is the decoded text, `None` for unknown.
    fn check(spelled: impl AsRef<[u8]>, expect: Read<Option<&str>>) {
        let meter = Meter::new(Limits::default());
        meter.restart();
        let spelled = spelled.as_ref();
        let got = text(spelled, &meter).map(|text| text.map(Text::into_string));
        assert_eq!(
            got,
            expect.map(|text| text.map(str::to_owned)),
            "{:?}",
            String::from_utf8_lossy(spelled)
        );
    }

    #[test]
    fn strings_are_decoded_where_they_need_it() {
        check("", Ok(None));
        check("plain é", Ok(Some("plain é")));
        check(r"a\/b\\c\u0041\n", Ok(Some("a/b\\cA\n")));
        check(r"\ud83d\ude00\u00e9\u20ac", Ok(Some("😀é€")));
    }

    #[test]
    fn what_is_no_unicode_is_unknown() {
        for spelled in [
            r"\ud800",
            r"\ud800\u0041",
            r"\udc00",
            r"\ud83d\ud83d",
            r"x\udfff",
        ] {
            check(spelled, Ok(None));
        }
        check(b"\xff", Ok(None));
        check(b"\\n\xc3", Ok(None));
    }

    #[test]
    fn bad_grammar_is_malformed() {
        for spelled in [
            r"\",
            r"\x",
            r"\u12",
            r"\u12G4",
            r"\u+123",
            "a\nb",
            "\0",
            r"\ud800\u12",
        ] {
            check(spelled, Err(Refusal::Malformed));
        }
    }

    #[test]
    fn length_is_that_of_the_decoded_text() {
        let over = Err(Refusal::OverLimit(Limit::StringBytes));
        let longest = "x".repeat(4096);
        check(&longest, Ok(Some(&longest)));
        check(r"\u0078".repeat(4096), Ok(Some(&longest)));
        check("x".repeat(4097), over);
        check(r"\u0078".repeat(4097), over);
    }
}
