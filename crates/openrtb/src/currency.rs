//! Currency codes (ISO 4217).

use crate::Text;

/// A currency: three letters, or something that no rate and no base currency can equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Currency([u8; 3]);

impl Currency {
    /// The default of `cur`, `imp.bidfloorcur` and `deal.bidfloorcur`.
    pub const USD: Currency = Currency(*b"USD");
    /// What is not three letters: known, but equal to no currency that has a rate.
    pub const OTHER: Currency = Currency([0; 3]);

    /// The currency with this code, trimmed and in any case; `None` unless three ASCII letters.
    pub fn parse(code: &str) -> Option<Currency> {
        let bytes: [u8; 3] = code.trim().as_bytes().try_into().ok()?;
        bytes
            .iter()
            .all(u8::is_ascii_alphabetic)
            .then(|| Currency(bytes.map(|b| b.to_ascii_uppercase())))
    }

    /// The currency that a request names; [`Currency::OTHER`] where it is no three letters,
    /// `None` where nothing is left when trimmed.
    #[inline]
    pub fn of(text: Text<'_>) -> Option<Currency> {
        if text.is("USD") {
            return Some(Currency::USD);
        }
        text.with(|code| match Currency::parse(code) {
            Some(currency) => Some(currency),
            None if code.trim().is_empty() => None,
            None => Some(Currency::OTHER),
        })
    }

    /// The code, upper case; `"???"` for [`Currency::OTHER`].
    pub fn code(&self) -> &str {
        match core::str::from_utf8(&self.0) {
            Ok(code) if *self != Currency::OTHER => code,
            _ => "???",
        }
    }
}

impl core::fmt::Debug for Currency {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_trimmed_and_folded() {
        for (text, expect) in [
            (" usd ", Some("USD")),
            ("eur", Some("EUR")),
            ("IN", Some("???")),
            ("US D", Some("???")),
            ("U5D", Some("???")),
            ("  ", None),
        ] {
            let got = Currency::of(Text::Plain(text));
            assert_eq!(got.as_ref().map(Currency::code), expect, "{text:?}");
        }
    }
}
