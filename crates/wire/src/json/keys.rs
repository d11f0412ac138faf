//! Tells the few keys that are read from the many that are not, without a branch for each.
//!
//! A key of at most 15 bytes is two words. A multiplier, found by the compiler, sends the words of
//! each key of a set to a slot of its own; a key is in the set if it is the one in its slot. What
//! is noted for a key that is in no slot lands in place 0, which nobody reads.

use openrtb::Read;

use super::cursor::{Cursor, Member};

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
pub(crate) struct Found([u32; KEYS_MAX + 1]);

impl Found {
    /// Where the value of the key with this place in its set starts.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> Option<usize> {
        match self.0.get(place) {
            Some(&at @ 1..) => Some(at as usize),
            _ => None,
        }
    }

    /// Notes a value, unless the key was there before: the first counts.
    #[inline(always)]
    fn note(&mut self, place: usize, at: usize) -> bool {
        let Some(to) = self.0.get_mut(place) else {
            return false;
        };
        let first = *to == 0;
        // Texts are shorter than 2³² bytes: `Limits` sees to it.
        *to = if first { at as u32 } else { *to };
        first && place > 0
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
            Some(&(key, place)) if key == word => usize::from(place),
            _ => 0,
        }
    }

    /// Where the values of these keys start in the object at `at`, noted up to the end of the
    /// object or until all are found. `pass` is told how far each member is from the one before,
    /// in bytes.
    #[inline(always)]
    pub(crate) fn find(
        &self,
        cursor: &Cursor<'_>,
        at: usize,
        mut pass: impl FnMut(usize) -> Read<()>,
    ) -> Read<Found> {
        let mut found = Found::default();
        let (mut left, mut last) = (self.len, at);
        let mut members = cursor.members(at);
        while let Some(member) = members.next()? {
            pass(member.value - last)?;
            last = member.value;
            let place = self.place_of(cursor, member)?;
            left -= u8::from(found.note(place, member.value));
            if left == 0 {
                break;
            }
        }
        Ok(found)
    }

    #[inline(always)]
    fn place_of(&self, cursor: &Cursor<'_>, member: Member) -> Read<usize> {
        let place = match Word::read(cursor, member) {
            Some(word) => self.place(word),
            None => 0,
        };
        if place == 0 && cursor.escapes() {
            return self.escaped_place(cursor.key(member)?);
        }
        Ok(place)
    }

    /// The place of a key that may be spelled with escapes.
    #[inline(never)]
    fn escaped_place(&self, spelled: &[u8]) -> Read<usize> {
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
                    None => return Ok(0),
                },
                byte => byte,
            };
            let Some(to) = key.get_mut(len) else {
                return Ok(0);
            };
            *to = byte;
            len += 1;
        }
        Ok(self.place(Word::of(key.get(..len).unwrap_or_default())))
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

    /// The word of a member's key; `None` where it is longer than 15 bytes.
    #[inline(always)]
    fn read(cursor: &Cursor<'_>, member: Member) -> Option<Word> {
        let len = member.key_end - member.key_start;
        let &(low, high) = MASKS.get(len)?;
        let window = cursor.window(member.key_start);
        Some(Word {
            low: window as u64 & low,
            high: (window >> 64) as u64 & high | (len as u64) << 56,
        })
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
    use super::super::index::Index;
    use super::*;

    const KEYS: Keys = Keys::new(&["id", "imp", "private_auction", "w", "mincpmpersec"]);

    fn check(text: &str, places: &[usize]) {
        let mut index = Index::default();
        let cursor = Cursor::new(text.as_bytes(), &mut index, 64).unwrap();
        let found = KEYS.find(&cursor, cursor.root(), |_| Ok(())).unwrap();
        let there: Vec<usize> = (1..=KEYS_MAX)
            .filter(|&place| found.at(place).is_some())
            .collect();
        assert_eq!(there, places, "{text}");
    }

    #[test]
    fn keys_are_found_by_their_whole_name() {
        check(
            r#"{"id":1,"imp":2,"private_auction":3,"w":4}"#,
            &[1, 2, 3, 4],
        );
        check(r#"{"ID":1,"im":2,"private_auction_":3,"ww":4,"":5}"#, &[]);
        check(r#"{"id\u0000":1,"private_auctio":2}"#, &[]);
    }

    #[test]
    fn keys_may_be_spelled_with_escapes() {
        check(r#"{"\u0069d":1,"i\u006Dp":2}"#, &[1, 2]);
        check(r#"{"\u0069\u0064":1,"i\mp":2,"\w":3,"w\":4}":5}"#, &[1]);
    }

    #[test]
    fn the_first_of_repeated_keys_counts() {
        let text = br#"{"w":null,"w":4,"w":5}"#;
        let mut index = Index::default();
        let cursor = Cursor::new(text, &mut index, 64).unwrap();
        let found = KEYS.find(&cursor, cursor.root(), |_| Ok(())).unwrap();
        assert_eq!(found.at(4), Some(5));
    }
}
