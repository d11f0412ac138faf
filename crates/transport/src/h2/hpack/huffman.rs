//! HPACK's Huffman code (RFC 7541 5.2 and appendix B).
//!
//! The code is canonical: codes of one length follow each other in the order of their symbols. So
//! the lengths alone are the table, and everything else is computed from them at compile time.

use super::HpackError;

/// Bits of the code of each byte, and of the end-of-string symbol at last.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, //
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, //
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, //
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, //
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, //
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, //
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, //
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, //
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, //
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, //
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, //
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, //
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, //
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, //
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, //
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, //
    30,
];
const END_OF_STRING: u16 = 256;
const LENGTH_MAX: usize = 30;
/// Codes up to this length are found by one look at a table.
const SHORT_BITS: u32 = 8;

/// The codes of one length: `first` is the lowest one, aligned to the left of 32 bits; `past` the one
/// after the highest, as 64 bits because it may be past them all.
#[derive(Clone, Copy)]
struct Group {
    bits: u32,
    first: u32,
    past: u64,
    /// Where its symbols start in [`Code::symbols`].
    start: usize,
}

struct Code {
    groups: [Group; LENGTH_MAX],
    symbols: [u16; 257],
    /// By the first 8 bits: symbol and length; length 0 where the code is longer.
    short: [(u8, u8); 256],
}

static CODE: Code = build();

#[allow(
    clippy::indexing_slicing,
    reason = "runs at compile time, where a bad index is a build error"
)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "symbols are below 257, lengths below 31"
)]
const fn build() -> Code {
    let empty = Group {
        bits: 0,
        first: 0,
        past: 0,
        start: 0,
    };
    let mut code = Code {
        groups: [empty; LENGTH_MAX],
        symbols: [0; 257],
        short: [(0, 0); 256],
    };
    let (mut next, mut placed, mut length) = (0u64, 0usize, 1usize);
    while length <= LENGTH_MAX {
        next <<= 1;
        let shift = 32 - length as u32;
        let first = next;
        let start = placed;
        let mut symbol = 0usize;
        while symbol < 257 {
            if LENGTHS[symbol] as usize == length {
                code.symbols[placed] = symbol as u16;
                if length as u32 <= SHORT_BITS {
                    let from = (next << (SHORT_BITS - length as u32)) as usize;
                    let mut at = from;
                    while at < from + (1 << (SHORT_BITS - length as u32)) {
                        code.short[at] = (symbol as u8, length as u8);
                        at += 1;
                    }
                }
                placed += 1;
                next += 1;
            }
            symbol += 1;
        }
        code.groups[length - 1] = Group {
            bits: length as u32,
            first: (first << shift) as u32,
            past: next << shift,
            start,
        };
        length += 1;
    }
    assert!(
        placed == 257 && next == 1 << LENGTH_MAX,
        "the lengths are a complete code"
    );
    code
}

/// The symbol whose code starts `window`, and the code's bits.
#[inline]
fn symbol(window: u64) -> Option<(u16, u32)> {
    let short = usize::try_from(window >> (64 - SHORT_BITS)).ok()?;
    let (byte, bits) = *CODE.short.get(short)?;
    if bits != 0 {
        return Some((u16::from(byte), u32::from(bits)));
    }
    let top = u32::try_from(window >> 32).ok()?;
    let group = CODE
        .groups
        .iter()
        .find(|group| u64::from(top) < group.past)?;
    let offset = usize::try_from((top - group.first) >> (32 - group.bits)).ok()?;
    Some((*CODE.symbols.get(group.start + offset)?, group.bits))
}

/// Appends what `coded` spells to `out`: at most 8/5 of its length.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    out.reserve(coded.len().saturating_mul(8) / 5 + 1);
    let mut input = coded.iter();
    // The bits not yet decoded, aligned to the left, and how many they are.
    let (mut window, mut held) = (0u64, 0u32);
    loop {
        while held <= 56 {
            let Some(byte) = input.next() else { break };
            window |= u64::from(*byte) << (56 - held);
            held += 8;
        }
        if held == 0 {
            return Ok(());
        }
        // Past the end come ones, as in the padding.
        let padded = window | u64::MAX.checked_shr(held).unwrap_or(0);
        let (symbol, bits) = symbol(padded).ok_or(HpackError::Huffman)?;
        if bits > held {
            // Only padding is left: fewer than eight bits, all ones.
            let ones = held < 8 && padded == u64::MAX;
            return if ones {
                Ok(())
            } else {
                Err(HpackError::Huffman)
            };
        }
        match u8::try_from(symbol) {
            Ok(byte) => out.push(byte),
            Err(_) => {
                debug_assert_eq!(symbol, END_OF_STRING);
                return Err(HpackError::Huffman);
            }
        }
        window <<= bits;
        held -= bits;
    }
}

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use proptest::prelude::*;

    fn code_of(symbol: usize) -> (u64, u32) {
        let group = CODE.groups[usize::from(LENGTHS[symbol]) - 1];
        let symbols = &CODE.symbols[group.start..];
        let offset = symbols
            .iter()
            .position(|s| usize::from(*s) == symbol)
            .unwrap() as u64;
        (
            (u64::from(group.first) >> (32 - group.bits)) + offset,
            group.bits,
        )
    }

    /// The naive encoder, a bit at a time.
    pub fn encode(text: &[u8]) -> Vec<u8> {
        let mut bits = Vec::new();
        for byte in text {
            let (code, length) = code_of(usize::from(*byte));
            bits.extend((0..length).rev().map(|bit| code >> bit & 1 == 1));
        }
        while bits.len() % 8 != 0 {
            bits.push(true);
        }
        bits.chunks(8)
            .map(|byte| byte.iter().fold(0, |b, bit| b << 1 | u8::from(*bit)))
            .collect()
    }

    /// Codes spelled out in appendix B, one of each end of the table.
    #[test]
    fn codes_of_the_standard() {
        for (symbol, code, bits) in [
            (usize::from(b'0'), 0x0, 5),
            (usize::from(b'a'), 0x3, 5),
            (usize::from(b'/'), 0x18, 6),
            (usize::from(b':'), 0x5c, 7),
            (usize::from(b'Z'), 0xfd, 8),
            (usize::from(b'?'), 0x3fc, 10),
            (usize::from(b'\\'), 0x7fff0, 19),
            (0, 0x1ff8, 13),
            (9, 0xffffea, 24),
            (10, 0x3ffffffc, 30),
            (255, 0x3ffffee, 26),
            (256, 0x3fffffff, 30),
        ] {
            assert_eq!(code_of(symbol), (code, bits), "symbol {symbol}");
        }
    }

    #[test]
    fn refused() {
        for coded in [
            &[0xff][..],               // padding of eight bits
            &[0xff, 0xff, 0xff, 0xff], // the end of string, spelled
            &[0x00],                   // padding of zeros: `0` and 000
            &[0x18, 0x00],             // likewise
            &[0xff, 0xff, 0xff, 0xff, 0x0],
        ] {
            assert_eq!(
                decode(coded, &mut Vec::new()),
                Err(HpackError::Huffman),
                "{coded:?}"
            );
        }
        assert_eq!(decode(&[], &mut Vec::new()), Ok(()));
    }

    proptest! {
        #[test]
        fn round_trip(text in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut out = Vec::new();
            decode(&encode(&text), &mut out).unwrap();
            prop_assert_eq!(out, text);
        }

        #[test]
        fn any_bytes(coded in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut out = Vec::new();
            if decode(&coded, &mut out).is_ok() {
                prop_assert_eq!(encode(&out), coded);
            }
        }
    }
}
