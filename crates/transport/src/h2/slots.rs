//! The streams of a connection: found by identifier, kept in slots that are used again.

use std::collections::VecDeque;

/// Where a stream is kept, as long as it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(usize);

#[derive(Debug)]
pub(crate) struct Slots<T> {
    /// Identifier and slot of every open stream; sorted, because identifiers count upwards.
    open: VecDeque<(u32, Slot)>,
    slots: Vec<T>,
    free: Vec<Slot>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            open: VecDeque::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T: Default> Slots<T> {
    /// Slots that are kept when a connection has nothing to do.
    const IDLE_MAX: usize = 64;

    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Opens a stream with an identifier above all others. What is in the slot is as it was left.
    #[inline]
    pub fn open(&mut self, id: u32) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(T::default());
            Slot(self.slots.len() - 1)
        });
        self.open.push_back((id, slot));
        slot
    }

    #[inline]
    pub fn find(&self, id: u32) -> Option<Slot> {
        match self.open.back() {
            Some((last, slot)) if *last == id => Some(*slot),
            _ => self.position(id).and_then(|at| self.nth(at)),
        }
    }

    /// Most streams end in the order they began.
    #[inline]
    fn position(&self, id: u32) -> Option<usize> {
        match self.open.front() {
            Some((first, _)) if *first == id => Some(0),
            _ => self.search(id),
        }
    }

    fn search(&self, id: u32) -> Option<usize> {
        self.open.binary_search_by_key(&id, |(id, _)| *id).ok()
    }

    #[inline]
    pub fn get(&mut self, slot: Slot) -> Option<&mut T> {
        self.slots.get_mut(slot.0)
    }

    pub fn peek(&self, slot: Slot) -> Option<&T> {
        self.slots.get(slot.0)
    }

    /// Closes a stream.
    #[inline]
    pub fn close(&mut self, id: u32) {
        let closed = match self.open.back() {
            Some((last, _)) if *last == id => self.open.pop_back(),
            _ => self.position(id).and_then(|at| self.open.remove(at)),
        };
        if let Some((_, slot)) = closed {
            self.free.push(slot);
        }
        if self.open.is_empty() && self.slots.len() > Self::IDLE_MAX {
            *self = Self::default();
        }
    }

    /// The open stream at a place from 0 to [`len`](Self::len), oldest first.
    pub fn nth(&self, place: usize) -> Option<Slot> {
        self.open.get(place).map(|(_, slot)| *slot)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a map.
        #[test]
        fn same_as_a_map(steps in proptest::collection::vec((any::<bool>(), 0u32..400), 0..400)) {
            let mut slots = Slots::<u32>::default();
            let mut map = BTreeMap::new();
            let mut next = 1;
            for (open, id) in steps {
                if open {
                    let slot = slots.open(next);
                    *slots.get(slot).unwrap() = next * 10;
                    map.insert(next, next * 10);
                    next += 2;
                } else {
                    slots.close(id);
                    map.remove(&id);
                }
                prop_assert_eq!(slots.len(), map.len());
                let slot = slots.find(id);
                let found = slot.map(|slot| *slots.get(slot).unwrap());
                prop_assert_eq!(found, map.get(&id).copied());
                for (place, value) in map.values().enumerate() {
                    let slot = slots.nth(place).unwrap();
                    prop_assert_eq!(slots.get(slot).unwrap(), value);
                }
            }
        }
    }
}
