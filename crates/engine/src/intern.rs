//! Strings and other values as small numbers: a catalog numbers what its line items name, a
//! request's lists become sets of those numbers, and a check is a bit.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Numbers values from 0.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    numbers: HashMap<T, u32, BuildHasherDefault<Mix>>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner {
            numbers: HashMap::default(),
        }
    }
}

impl<T: Hash + Eq> Interner<T> {
    /// How many values have a number.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a value, which it gets if it has none.
    pub fn number<Q>(&mut self, value: &Q) -> u32
    where
        Q: Hash + Eq + ToOwned + ?Sized,
        T: core::borrow::Borrow<Q> + From<Q::Owned>,
    {
        let next = self.numbers.len() as u32;
        match self.numbers.get(value) {
            Some(number) => *number,
            None => *self.numbers.entry(value.to_owned().into()).or_insert(next),
        }
    }

    /// The number of a value that has one.
    #[inline]
    pub fn get<Q: Hash + Eq + ?Sized>(&self, value: &Q) -> Option<u32>
    where
        T: core::borrow::Borrow<Q>,
    {
        self.numbers.get(value).copied()
    }
}

/// A quick hash. A peer that makes its strings collide gains nothing: the tables hold what the
/// operator named, and a peer's strings are only looked up in them.
#[derive(Debug, Default)]
pub(crate) struct Mix(u64);

impl Mix {
    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product as u64).rotate_left(23) ^ (product >> 64) as u64;
    }
}

impl Hasher for Mix {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let tail = rest
            .iter()
            .fold(rest.len() as u64, |tail, byte| tail << 8 | u64::from(*byte));
        self.mix(tail);
    }

    /// A length: one word.
    #[inline]
    fn write_usize(&mut self, len: usize) {
        self.mix(len as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// A set of numbers below a bound. Emptying it costs what is in it.
#[derive(Debug, Default)]
pub(crate) struct NumberSet {
    bits: Vec<u64>,
    members: Vec<u32>,
}

impl NumberSet {
    /// Makes room for the numbers below `len`, and empties the set.
    pub fn resize(&mut self, len: usize) {
        self.clear();
        self.bits.resize(len.div_ceil(64), 0);
    }

    /// Puts a number in; false where it is in already.
    pub fn insert(&mut self, number: u32) -> bool {
        let bit = 1 << (number % 64);
        match self.bits.get_mut(number as usize / 64) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                self.members.push(number);
                true
            }
            _ => false,
        }
    }

    /// Whether the number is in.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        let word = self.bits.get(number as usize / 64);
        word.is_some_and(|word| word & 1 << (number % 64) != 0)
    }

    /// What is in, in the order in which it was put in.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// Whether nothing is in.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Takes everything out.
    #[inline]
    pub fn clear(&mut self) {
        for number in self.members.drain(..) {
            if let Some(word) = self.bits.get_mut(number as usize / 64) {
                *word = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbered_once() {
        let mut interner = Interner::<Box<str>>::default();
        assert_eq!(interner.number("a"), 0);
        assert_eq!(interner.number("b"), 1);
        assert_eq!(interner.number("a"), 0);
        assert_eq!(
            (interner.get("b"), interner.get("c"), interner.len()),
            (Some(1), None, 2)
        );
    }

    #[test]
    fn sets_forget() {
        let mut set = NumberSet::default();
        set.resize(100);
        assert!(set.insert(3) && set.insert(99) && !set.insert(3));
        assert!(set.contains(99) && !set.contains(98) && !set.insert(128));
        set.clear();
        assert!(set.is_empty() && !set.contains(3) && set.insert(3));
    }
}
