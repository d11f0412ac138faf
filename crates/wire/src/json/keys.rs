//! Finds the few keys that are read among the many that are not, without a branch for each.
//!
//! A key of at most 15 bytes is a number of 128 bits. A multiplier, found by the compiler, sends
//! each key of a set to a slot of its own; a key is in the set if it is the one in its slot. What
//! is noted for a key that is in no slot lands in place 0, which nobody reads.

use openrtb::{Read, Refusal};

use super::cursor::Cursor;
use super::scan;

/// The longest key that can be in a set, in bytes.
const KEY_BYTES_MAX: usize = 15;
/// The most keys in a set.
const KEYS_MAX: usize = 15;
const SLOTS: usize = 32;

/// A key: its bytes, then zeros, then its length.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Word {
    low: u64,
    high: u64,
}

/// A set of at most 15 keys.
pub(crate) struct Keys {
    multiplier: u64,
    slots: [(Word, u8); SLOTS],
    len: u8,
}

/// Where the values of a set of keys start: by place in the set, counted from 1. 0 is "not there".
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    places: [u32; KEYS_MAX + 1],
    /// Where the object is over, behind its bracket; 0 where that was not found out.
    end: u32,
}

impl Found {
    /// Where the value of the key with this place in its set starts.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> Option<usize> {
        match self.places.get(place) {
            Some(&at @ 1..) => Some(at as usize),
            _ => None,
        }
    }

    /// Where the object is over, if all of it was walked.
    pub(crate) fn end(&self) -> Option<usize> {
        (self.end > 0).then_some(self.end as usize)
    }

    /// Notes a value, unless the key was there before: the first counts. The place, if it was
    /// noted, else 0.
    #[inline(always)]
    fn note(&mut self, place: usize, at: usize) -> usize {
        let Some(to) = self.places.get_mut(place) else {
            return 0;
        };
        let first = *to == 0;
        // Texts are shorter than 2³² bytes: `Limits` sees to it.
        *to = if first { at as u32 } else { *to };
        place * usize::from(first)
    }
}

impl Keys {
    #[allow(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, over constants"
    )]
    pub(crate) const fn new(keys: &[&str]) -> Keys {
        assert!(keys.len() <= KEYS_MAX);
        let mut multiplier = 0x9E37_79B9_7F4A_7C15u64;
        loop {
            let mut slots = [(Word { low: 0, high: 0 }, 0); SLOTS];
            let mut placed = 0;
            while placed < keys.len() {
                let word = Word::of(keys[placed].as_bytes());
                let slot = word.slot(multiplier);
                if slots[slot].1 != 0 {
                    break;
                }
                placed += 1;
                slots[slot] = (word, placed as u8);
            }
            if placed == keys.len() {
                return Keys {
                    multiplier,
                    slots,
                    len: placed as u8,
                };
            }
            multiplier = multiplier.wrapping_mul(0x5851_F42D_4C95_7F2D) | 1;
        }
    }

    /// The place of a key in the set, counted from 1; 0 where it is not in it.
    #[inline(always)]
    fn place(&self, word: Word) -> usize {
        match self.slots.get(word.slot(self.multiplier)) {
            // Multiplied rather than chosen: which keys there are is hard to predict.
            Some(&(key, place)) => usize::from(place) * usize::from(key.is(word)),
            None => 0,
        }
    }

    /// Where the values of these keys start in the object at `start`, noted up to the end of the
    /// object, or until all are found.
    #[inline(always)]
    pub(crate) fn find(
        &self,
        cursor: &Cursor<'_>,
        start: usize,
        pass: impl FnMut(usize) -> Read<()>,
    ) -> Read<Found> {
        self.walk(cursor, start, false, pass, |_, _| Ok(None))
    }

    /// [`Keys::find`], to the end of the object: [`Found::end`] is known. `enter` is called for the
    /// first value of each key, with its place and where it starts, and may tell where it is over.
    #[inline(always)]
    pub(crate) fn walk(
        &self,
        cursor: &Cursor<'_>,
        start: usize,
        to_end: bool,
        mut pass: impl FnMut(usize) -> Read<()>,
        mut enter: impl FnMut(usize, usize) -> Read<Option<usize>>,
    ) -> Read<Found> {
        let mut found = Found::default();
        let (mut left, mut last) = (self.len, start);
        let mut next = cursor.solid(start + 1);
        if next.0 == b'}' {
            found.end = next.1 as u32 + 1;
            return Ok(found);
        }
        loop {
            let (b'"', quote) = next else {
                return Err(Refusal::Malformed);
            };
            let (place, value) = self.member(cursor, quote + 1)?;
            pass(value - last)?;
            last = value;
            let noted = found.note(place, value);
            left -= u8::from(noted > 0);
            if left == 0 && !to_end {
                return Ok(found);
            }
            let end = match noted {
                0 => None,
                place => enter(place, value)?,
            };
            let end = match end {
                Some(end) => end,
                None => cursor.after(value)?,
            };
            if left == 0 {
                found.end = cursor.after_rest(end)? as u32;
                return Ok(found);
            }
            match cursor.solid(end) {
                (b',', comma) => next = cursor.solid(comma + 1),
                (b'}', brace) => {
                    found.end = brace as u32 + 1;
                    return Ok(found);
                }
                _ => return Err(Refusal::Malformed),
            }
        }
    }

    /// The member whose key starts at `start`, behind its quote: the key's place, 0 where it is not
    /// in the set, and where the value starts.
    #[inline(always)]
    fn member(&self, cursor: &Cursor<'_>, start: usize) -> Read<(usize, usize)> {
        let mut room = None;
        let bytes = scan::window(cursor.text(), start, &mut room);
        let len = (scan::equal16(bytes, b'"') | 1 << 16).trailing_zeros();
        let escaped = scan::equal16(bytes, b'\\') << (16 - len) & 0xFFFF;
        let (place, end) = match Word::read(bytes, len as usize) {
            Some(word) if escaped == 0 => (self.place(word), start + len as usize),
            _ => self.unusual_key(cursor, start)?,
        };
        let (b':', colon) = cursor.solid(end + 1) else {
            return Err(Refusal::Malformed);
        };
        Ok((place, cursor.solid(colon + 1).1))
    }

    /// The place and end of a key of more than 15 bytes, or with escapes.
    #[cold]
    #[inline(never)]
    fn unusual_key(&self, cursor: &Cursor<'_>, start: usize) -> Read<(usize, usize)> {
        let end = scan::string_end(cursor.text(), start)?.at;
        Ok((self.spelled_place(cursor.slice(start, end)?), end))
    }

    /// The place of a key that may be spelled with escapes.
    fn spelled_place(&self, spelled: &[u8]) -> usize {
        let mut key = [0; KEY_BYTES_MAX];
        let mut len = 0;
        let mut rest = spelled;
        while let Some((&byte, tail)) = rest.split_first() {
            rest = tail;
            let byte = match byte {
                // Keys that are read are ASCII letters and underscores: of the escapes only \u
                // can spell one of these.
                b'\\' => match ascii_escape(tail) {
                    Some(byte) => {
                        rest = tail.get(5..).unwrap_or_default();
                        byte
                    }
                    None => return 0,
                },
                byte => byte,
            };
            let Some(to) = key.get_mut(len) else {
                return 0;
            };
            *to = byte;
            len += 1;
        }
        self.place(Word::of(key.get(..len).unwrap_or_default()))
    }
}

/// The ASCII character that `u` and four digits stand for.
fn ascii_escape(after_backslash: &[u8]) -> Option<u8> {
    let digits = after_backslash.get(..5)?.strip_prefix(b"u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let number = u32::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()?;
    u8::try_from(number).ok().filter(u8::is_ascii)
}

impl Word {
    /// The word of a key of at most 15 bytes.
    #[allow(
        clippy::indexing_slicing,
        reason = "bounded by the loop's condition, and often evaluated by the compiler"
    )]
    const fn of(key: &[u8]) -> Word {
        let mut bytes = [0; 16];
        let mut at = 0;
        while at < key.len() && at < KEY_BYTES_MAX {
            bytes[at] = key[at];
            at += 1;
        }
        bytes[KEY_BYTES_MAX] = key.len() as u8;
        let both = u128::from_le_bytes(bytes);
        Word {
            low: both as u64,
            high: (both >> 64) as u64,
        }
    }

    /// The word of a key that takes the first `len` of 16 bytes; `None` where that is not all of it.
    #[inline(always)]
    fn read(bytes: &[u8; 16], len: usize) -> Option<Word> {
        let &(low, high) = MASKS.get(len)?;
        let both = u128::from_le_bytes(*bytes);
        Some(Word {
            low: both as u64 & low,
            high: (both >> 64) as u64 & high | (len as u64) << 56,
        })
    }

    #[inline(always)]
    fn is(self, other: Word) -> bool {
        (self.low ^ other.low) | (self.high ^ other.high) == 0
    }

    /// The slot that `multiplier` sends the word to.
    #[inline(always)]
    const fn slot(self, multiplier: u64) -> usize {
        let mixed = self.low ^ self.high.rotate_left(29);
        (mixed.wrapping_mul(multiplier) >> (64 - SLOTS.ilog2())) as usize
    }
}

/// What of 16 bytes belongs to a key, by its length.
const MASKS: [(u64, u64); KEY_BYTES_MAX + 1] = masks();

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, over constants"
)]
const fn masks() -> [(u64, u64); KEY_BYTES_MAX + 1] {
    let mut masks = [(0, 0); KEY_BYTES_MAX + 1];
    let mut len = 0;
    while len < masks.len() {
        let both = (1u128 << (8 * len)) - 1;
        masks[len] = (both as u64, (both >> 64) as u64);
        len += 1;
    }
    masks
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    const KEYS: Keys = Keys::new(&["id", "imp", "private_auction", "w", "mincpmpersec"]);

    fn find(text: &str) -> Found {
        let cursor = Cursor::new(text.as_bytes(), 64);
        KEYS.find(&cursor, 0, |_| Ok(())).unwrap()
    }

    fn check(text: &str, places: &[usize]) {
        let found = find(text);
        let there: Vec<usize> = (1..=KEYS_MAX)
            .filter(|&place| found.at(place).is_some())
            .collect();
        assert_eq!(there, places, "{text}");
        assert_eq!(found.end(), Some(text.len()));
    }

    #[test]
    fn keys_are_found_by_their_whole_name() {
        check("{}", &[]);
        check(
            r#"{"id":1,"imp":2,"private_auction":3,"w":4}"#,
            &[1, 2, 3, 4],
        );
        check(r#"{"ID":1,"im":2,"private_auction_":3,"ww":4,"":5}"#, &[]);
        check(
            r#"{"id\u0000":1,"private_auctio":2,"a_key_of_twenty_bytes":{"id":1}}"#,
            &[],
        );
    }

    #[test]
    fn keys_may_be_spelled_with_escapes() {
        check(r#"{"\u0069d":1,"i\u006Dp":2}"#, &[1, 2]);
        check(r#"{"\u0069\u0064":1,"i\mp":2,"\w":3,"w\":4}":5}"#, &[1]);
    }

    #[test]
    fn the_first_of_repeated_keys_counts() {
        assert_eq!(find(r#"{"w":null,"w":4,"w":5}"#).at(4), Some(5));
    }

    #[test]
    fn a_walk_may_enter_values_and_always_finds_the_end() {
        const KEYS: Keys = Keys::new(&["a", "b"]);
        let text = br#"{"x":[{}],"b":{"a":"}"},"b":1,"a": 2 , "c":{"}":{}} } "#;
        let cursor = Cursor::new(text, 64);
        let mut entered = Vec::new();
        let enter = |place, at| {
            entered.push((place, text[at]));
            Ok(None)
        };
        let found = KEYS.walk(&cursor, 0, true, |_| Ok(()), enter).unwrap();
        assert_eq!(found.end(), Some(text.len() - 1));
        assert_eq!(entered, [(2, b'{'), (1, b'2')]);
    }
}
