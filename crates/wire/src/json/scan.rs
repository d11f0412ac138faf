//! Passes over stretches of a JSON text, 16 to 64 bytes at a time.
//!
//! A request is mostly what nobody asks for, and passing over it byte by byte is what costs. What
//! is passed over here is not looked into: a string ends at its quote, an object or array where its
//! brackets balance (by count, of both kinds together), anything else where a separator stands.

use openrtb::{Limit, Read, Refusal};
use wide::{u8x16, u8x32};

use crate::record::look;

/// Room for the last bytes of a text, where there are fewer than are looked at together.
type Room<const N: usize> = Option<[u8; N]>;

/// The `N` bytes at `at`, in place; past the end, spaces are put behind them in `room`.
#[inline(always)]
pub(crate) fn window<'t, const N: usize>(
    text: &'t [u8],
    at: usize,
    room: &'t mut Room<N>,
) -> &'t [u8; N] {
    match text.get(at..).and_then(<[u8]>::first_chunk) {
        Some(bytes) => {
            look(bytes);
            bytes
        }
        None => last_window(text, at, room),
    }
}

#[cold]
#[inline(never)]
fn last_window<'t, const N: usize>(text: &[u8], at: usize, room: &'t mut Room<N>) -> &'t [u8; N] {
    let bytes = room.insert([b' '; N]);
    let rest = text.get(at..).unwrap_or_default();
    look(rest);
    for (to, from) in bytes.iter_mut().zip(rest) {
        *to = *from;
    }
    bytes
}

/// Which of 16 bytes are `byte`, the first the lowest bit.
#[inline(always)]
pub(crate) fn equal16(bytes: &[u8; 16], byte: u8) -> u32 {
    let window = u8x16::from(*bytes);
    window.simd_eq(u8x16::splat(byte)).to_bitmask()
}

/// Where a string ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StringEnd {
    /// The place of its closing quote.
    pub(crate) at: usize,
    /// Whether it is known to have no escapes and no control characters.
    pub(crate) clean: bool,
}

/// Where the string that starts at `at`, behind its opening quote, ends.
#[inline(always)]
pub(crate) fn string_end(text: &[u8], at: usize) -> Read<StringEnd> {
    let mut room = None;
    let bytes = u8x32::from(*window::<32>(text, at, &mut room));
    let quotes = bytes.simd_eq(u8x32::splat(b'"')).to_bitmask();
    let backslashes = bytes.simd_eq(u8x32::splat(b'\\')).to_bitmask();
    // All bits up to the lowest quote: nothing is escaped up to there.
    let string = quotes ^ quotes.wrapping_sub(1);
    if quotes != 0 && backslashes & string == 0 {
        let controls = bytes.simd_eq(bytes.min(u8x32::splat(0x1F))).to_bitmask();
        return Ok(StringEnd {
            at: at + quotes.trailing_zeros() as usize,
            clean: controls & string == 0,
        });
    }
    Ok(StringEnd {
        at: long_string_end(text, at)?,
        clean: false,
    })
}

#[inline(never)]
fn long_string_end(text: &[u8], mut at: usize) -> Read<usize> {
    let mut escapes = Escapes::default();
    while at < text.len() {
        let mut room = None;
        let bytes = Halves::of(window(text, at, &mut room));
        let quotes = bytes.equal(b'"') & !escapes.escaped(bytes.equal(b'\\'));
        if quotes != 0 {
            return Ok(at + quotes.trailing_zeros() as usize);
        }
        at += 64;
    }
    Err(Refusal::Malformed)
}

/// Where the number or literal that starts at `at` is over: at the first comma, closing bracket or
/// white space. It is not checked to be one, but that there is something.
#[inline(always)]
pub(crate) fn word_end(text: &[u8], at: usize) -> Read<usize> {
    let mut room = None;
    let window = u8x16::from(*window::<16>(text, at, &mut room));
    let brackets = (window | u8x16::splat(0x20)).simd_eq(u8x16::splat(b'}'));
    let spaces = window.simd_eq(window.min(u8x16::splat(b' ')));
    let commas = window.simd_eq(u8x16::splat(b','));
    match (brackets | spaces | commas).to_bitmask() {
        0 => long_word_end(text, at + 16),
        // Nothing at all is no value.
        ends if ends & 1 != 0 => Err(Refusal::Malformed),
        ends => Ok(at + ends.trailing_zeros() as usize),
    }
}

#[inline(never)]
fn long_word_end(text: &[u8], at: usize) -> Read<usize> {
    let rest = text.get(at..).unwrap_or_default();
    let ends = |&byte: &u8| byte <= b' ' || matches!(byte, b',' | b'}' | b']');
    look(rest);
    match rest.iter().position(ends) {
        Some(len) => Ok(at + len),
        None => Err(Refusal::Malformed),
    }
}

/// Where the brackets that are open at `at`, outside of strings, have been closed, `open` of them
/// (0 where the first one is still to come, at `at`): behind the last one. `deeper_max` more may be
/// open at a time.
#[inline(never)]
pub(crate) fn closing(text: &[u8], mut at: usize, open: u32, deeper_max: u32) -> Read<usize> {
    let depth_max = open + deeper_max;
    let mut depth = open;
    let (mut escapes, mut inside) = (Escapes::default(), 0);
    while at < text.len() {
        let mut room = None;
        let bytes = Halves::of(window(text, at, &mut room));
        let quotes = bytes.equal(b'"') & !escapes.escaped(bytes.equal(b'\\'));
        let strings = prefix_xor(quotes) ^ inside;
        inside = ((strings as i64) >> 63) as u64;
        // `{` and `[`, and `}` and `]`, differ in one bit.
        let folded = bytes.or(0x20);
        let opens = folded.equal(b'{') & !strings;
        let closes = folded.equal(b'}') & !strings;
        let (opened, closed) = (opens.count_ones(), closes.count_ones());
        // Most blocks can neither close the last bracket nor pass the limit, in whatever order.
        if depth > closed && depth + opened <= depth_max {
            depth = depth + opened - closed;
        } else if let Some(bit) = walk(opens, closes, &mut depth, depth_max)? {
            return Ok(at + bit as usize + 1);
        }
        at += 64;
    }
    Err(Refusal::Malformed)
}

/// Takes brackets one by one; `Some` is the one that closes the last open one.
#[inline(always)]
fn walk(opens: u64, closes: u64, depth: &mut u32, depth_max: u32) -> Read<Option<u32>> {
    let mut brackets = opens | closes;
    while brackets != 0 {
        let bit = brackets & brackets.wrapping_neg();
        brackets ^= bit;
        if opens & bit != 0 {
            *depth += 1;
            if *depth > depth_max {
                return Err(Refusal::OverLimit(Limit::Depth));
            }
            continue;
        }
        *depth = depth.saturating_sub(1);
        if *depth == 0 {
            return Ok(Some(bit.trailing_zeros()));
        }
    }
    Ok(None)
}

/// 64 bytes.
#[derive(Clone, Copy)]
struct Halves([u8x32; 2]);

impl Halves {
    #[inline(always)]
    fn of(bytes: &[u8; 64]) -> Halves {
        let (mut low, mut high) = ([0; 32], [0; 32]);
        low.copy_from_slice(bytes.split_at(32).0);
        high.copy_from_slice(bytes.split_at(32).1);
        Halves([u8x32::from(low), u8x32::from(high)])
    }

    #[inline(always)]
    fn or(self, bits: u8) -> Halves {
        Halves(self.0.map(|half| half | u8x32::splat(bits)))
    }

    /// Which bytes are `byte`, the first the lowest bit.
    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        let mask = |half: u8x32| u64::from(half.simd_eq(u8x32::splat(byte)).to_bitmask());
        let Halves([low, high]) = self;
        mask(low) | mask(high) << 32
    }
}

/// Whether a run of backslashes goes on from one block to the next.
#[derive(Default)]
struct Escapes {
    /// 1 where the next byte is escaped.
    next: u64,
}

impl Escapes {
    /// Which bytes are escaped: those behind an odd run of backslashes.
    #[inline(always)]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        if backslashes | self.next == 0 {
            return 0;
        }
        // Runs of backslashes, started on odd and on even places, are told apart by adding: the
        // carry moves through a run and comes out behind it.
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let active = backslashes & !self.next;
        let follows = active << 1 | self.next;
        let odd_starts = active & !EVEN & !follows;
        let (even_runs, carry) = odd_starts.overflowing_add(active);
        self.next = u64::from(carry);
        (EVEN ^ (even_runs << 1)) & follows
    }
}

/// Each bit is the exclusive or of itself and all lower ones: with quotes, 1 inside strings.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// [`string_end`], byte by byte.
    fn naive_string_end(text: &[u8], mut at: usize) -> Read<usize> {
        while at < text.len() {
            match text[at] {
                b'"' => return Ok(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        Err(Refusal::Malformed)
    }

    /// [`closing`], byte by byte.
    fn naive_closing(text: &[u8], mut at: usize, open: u32, deeper_max: u32) -> Read<usize> {
        let mut depth = open;
        while at < text.len() {
            match text[at] {
                b'"' => at = naive_string_end(text, at + 1)?,
                b'{' | b'[' if depth == open + deeper_max => {
                    return Err(Refusal::OverLimit(Limit::Depth));
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth <= 1 => return Ok(at + 1),
                b'}' | b']' => depth -= 1,
                // Not where a backslash belongs, but it takes the quote behind it along.
                b'\\' if matches!(text.get(at + 1), Some(b'"' | b'\\')) => at += 1,
                _ => {}
            }
            at += 1;
        }
        Err(Refusal::Malformed)
    }

    /// Text that is mostly structure.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => prop::sample::select(br#"{}[]"\,:1 "#.to_vec()).prop_map(|byte| vec![byte]),
            1 => (0..70usize).prop_map(|len| vec![b'x'; len]),
            1 => (0..9usize).prop_map(|len| vec![b'\\'; len]),
        ];
        prop::collection::vec(piece, 0..150).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn strings_end_where_they_do_byte_by_byte(text in text(), at in 0..20usize) {
            let expect = naive_string_end(&text, at);
            let got = string_end(&text, at);
            prop_assert_eq!(got.map(|end| end.at), expect);
            if let Ok(StringEnd { at: end, clean: true }) = got {
                let string = &text[at..end];
                prop_assert!(!string.iter().any(|&byte| byte < 0x20 || byte == b'\\'));
            }
        }

        #[test]
        fn brackets_close_where_they_do_byte_by_byte(
            text in text(), at in 0..20usize, open in 1..4u32, deeper in 0..6u32,
        ) {
            let expect = naive_closing(&text, at, open, deeper);
            prop_assert_eq!(closing(&text, at, open, deeper), expect);
        }

        #[test]
        fn words_end_at_separators(text in text(), at in 0..20usize) {
            let rest = text.get(at..).unwrap_or_default();
            let end = rest.iter().position(|byte| b",]} ".contains(byte));
            // Past the end there is nothing, which is no value, or a value without an end.
            let expect = end.filter(|&len| len > 0).map(|len| at + len);
            let past_end = rest.len() < 16 && !rest.is_empty() && end.is_none();
            let expect = if past_end { Some(text.len()) } else { expect };
            prop_assert_eq!(word_end(&text, at).ok(), expect);
        }
    }
}
