//! Whole messages in FlatBuffers.
//!
//! The layout of a table follows from which fields are set: offsets and integers in the order of
//! their slots, then flags, then doubles. So the set of fields, one bit each, is all that a table's
//! vtable depends on; whether there already is one is a look at one place, not a search.

use super::cursor::Table;
use crate::json::ext;
use crate::limits::Meter;
use crate::message::reverse::Reverse;
use crate::message::{
    DecodeError, Entry, Extension, FieldSink, FieldSource, Message, Slots, check_count,
};
use openrtb::Refusal;

/// The slot of `ext`, and its protobuf number.
const EXT: (u16, u32) = (0, 99);

/// Slots of a message; the number of the message has the rest of a word.
const SLOT_BITS: u32 = 51;

/// Appends a message.
pub(crate) fn encode<M: Message>(message: &M, out: &mut Vec<u8>) {
    write(message, 0, out);
}

/// Appends a message behind its length, four bytes, little-endian. Alignment counts the length in, as
/// readers of size-prefixed buffers expect.
pub(crate) fn encode_size_prefixed<M: Message>(message: &M, out: &mut Vec<u8>) {
    write(message, 4, out);
}

fn write<M: Message>(message: &M, prefix_bytes: usize, out: &mut Vec<u8>) {
    let mut builder = Builder {
        out: Reverse::new(out),
        vtables: [(0, 0); VTABLES],
    };
    let root = builder.table(message);
    builder.out.align(8, 4 + prefix_bytes);
    let offset = (builder.out.len() + 4) as u32 - root;
    builder.out.put(&offset.to_le_bytes());
    if prefix_bytes > 0 {
        let len = builder.out.len() as u32;
        builder.out.put(&len.to_le_bytes());
    }
    builder.out.finish();
}

/// How many vtables are remembered. Messages that share a place only write theirs more often.
const VTABLES: usize = 32;

/// Where something starts, in bytes before the end of the buffer.
type Place = u32;

struct Builder<'b> {
    out: Reverse<'b>,
    /// By message: the key of the last vtable, and its place (0: none yet).
    vtables: [(u64, Place); VTABLES],
}

/// Which slots of a table are set, by what they hold.
#[derive(Default)]
struct Set {
    /// Places, turned into offsets when the table is written.
    places: u64,
    ints: u64,
    flags: u64,
    doubles: u64,
}

impl Builder<'_> {
    fn place(&self) -> Place {
        self.out.len() as Place
    }

    #[inline]
    fn table<M: Message>(&mut self, message: &M) -> Place {
        let mut fields = Fields {
            builder: self,
            values: M::Slots::NONE,
            set: Set::default(),
        };
        message.write_rev(&mut fields);
        let Fields { values, set, .. } = fields;
        self.finish_table(M::INDEX, values.as_ref(), &set)
    }

    fn finish_table(&mut self, index: u16, values: &[u64], set: &Set) -> Place {
        let words = set.places | set.ints;
        let flags_at = 4 + 4 * words.count_ones() as usize;
        let doubles_at = (flags_at + set.flags.count_ones() as usize).next_multiple_of(4);
        let len = doubles_at + 8 * set.doubles.count_ones() as usize;
        self.out.align(if set.doubles == 0 { 4 } else { 8 }, 0);
        let start = self.place() + len as Place;
        let key = words | set.flags | set.doubles | u64::from(index) << SLOT_BITS;
        let seen = self.vtables.get(usize::from(index) % VTABLES);
        let seen = seen.filter(|seen| seen.0 == key && seen.1 != 0);
        let vtable_len = vtable_len(words | set.flags | set.doubles);
        let vtable = seen.map_or(start + vtable_len as Place, |seen| seen.1);
        let is_new = seen.is_none();

        let (table, _) = self.out.claim(len);
        let (head, rest) = table.split_at_mut_checked(4).unwrap_or_default();
        head.copy_from_slice(&(vtable.wrapping_sub(start)).to_le_bytes());
        let (words_room, rest) = rest.split_at_mut_checked(flags_at - 4).unwrap_or_default();
        let (flags_room, doubles_room) = rest
            .split_at_mut_checked(doubles_at - flags_at)
            .unwrap_or_default();
        let mut at = start - 4;
        for (slot, room) in bits(words).zip(words_room.chunks_exact_mut(4)) {
            let value = value(values, slot) as u32;
            let is_place = set.places >> slot & 1 == 1;
            room.copy_from_slice(&(if is_place { at - value } else { value }).to_le_bytes());
            at -= 4;
        }
        flags_room.fill(0);
        for (slot, room) in bits(set.flags).zip(flags_room) {
            *room = value(values, slot) as u8;
        }
        for (slot, room) in bits(set.doubles).zip(doubles_room.chunks_exact_mut(8)) {
            room.copy_from_slice(&value(values, slot).to_le_bytes());
        }
        if is_new {
            self.vtable(
                vtable_len,
                len,
                [
                    (words, 4, 4),
                    (set.flags, flags_at, 1),
                    (set.doubles, doubles_at, 8),
                ],
            );
            if let Some(seen) = self.vtables.get_mut(usize::from(index) % VTABLES) {
                *seen = (key, vtable);
            }
        }
        start
    }

    /// Writes a vtable for groups of fields: their slots, where the first lies, and how far apart.
    fn vtable(&mut self, len: usize, table_len: usize, groups: [(u64, usize, usize); 3]) {
        let (vtable, _) = self.out.claim(len);
        vtable.fill(0);
        let (entries, _) = vtable.as_chunks_mut::<2>();
        if let [own, table, slots @ ..] = entries {
            *own = (len as u16).to_le_bytes();
            *table = (table_len as u16).to_le_bytes();
            for (set, mut at, step) in groups {
                for slot in bits(set) {
                    if let Some(entry) = slots.get_mut(slot) {
                        *entry = (at as u16).to_le_bytes();
                    }
                    at += step;
                }
            }
        }
    }

    fn string(&mut self, text: &[u8]) -> Place {
        let (room, _) = self.claim_string(text.len());
        if let Some(room) = room.get_mut(..text.len()) {
            room.copy_from_slice(text);
        }
        self.place()
    }

    /// Room for a string whose length has been written, and the stack.
    fn claim_string(&mut self, len: usize) -> (&mut [u8], &[u8]) {
        // At least one zero ends it; more align its length.
        let zeros = 1 + (self.out.len() + len + 1).wrapping_neg() % 4;
        let (room, stack) = self.out.claim(4 + len + zeros);
        let (head, room) = room.split_at_mut_checked(4).unwrap_or_default();
        head.copy_from_slice(&(len as u32).to_le_bytes());
        if let Some(zeros) = room.get_mut(len..) {
            zeros.fill(0);
        }
        (room, stack)
    }

    fn ints(&mut self, values: &[i32]) -> Place {
        self.out.align(4, 0);
        let (room, _) = self.out.claim(4 + 4 * values.len());
        let (words, _) = room.as_chunks_mut::<4>();
        if let [len, entries @ ..] = words {
            *len = (values.len() as u32).to_le_bytes();
            for (room, value) in entries.iter_mut().zip(values) {
                *room = value.to_le_bytes();
            }
        }
        self.place()
    }

    /// A vector of what `write` writes.
    #[inline]
    fn vector<T>(&mut self, values: &[T], mut write: impl FnMut(&mut Self, &T) -> Place) -> Place {
        let before = self.out.stack_len();
        for value in values.iter().rev() {
            let place = write(self, value);
            self.out.stack().extend_from_slice(&place.to_le_bytes());
        }
        self.finish_vector(values.len(), before)
    }

    /// A vector of the places that were pushed on the stack, the last one first.
    fn finish_vector(&mut self, len: usize, before: usize) -> Place {
        self.out.align(4, 0);
        let start = self.out.len() + 4 + 4 * len;
        let (room, stack) = self.out.claim(4 + 4 * len);
        let (words, _) = room.as_chunks_mut::<4>();
        let (places, _) = stack.get(before..).unwrap_or_default().as_chunks::<4>();
        if let [head, entries @ ..] = words {
            *head = (len as u32).to_le_bytes();
            let mut at = start as Place - 4;
            for (room, place) in entries.iter_mut().zip(places.iter().rev()) {
                *room = (at - Place::from_le_bytes(*place)).to_le_bytes();
                at -= 4;
            }
        }
        self.out.unwind(before);
        start as Place
    }

    /// An `ext`: the text of the whole object.
    fn ext<E: Extension>(&mut self, ext: &E) -> Place {
        let before = self.out.stack_len();
        ext::join(ext, self.out.stack());
        let len = self.out.stack_len() - before;
        let (room, stack) = self.claim_string(len);
        let text = stack.get(before..).unwrap_or_default();
        for (room, byte) in room.iter_mut().zip(text) {
            *room = *byte;
        }
        self.out.unwind(before);
        self.place()
    }
}

/// The slots of a set, ascending.
#[inline(always)]
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let slot = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (slot < u64::BITS).then_some(slot as usize)
    })
}

#[inline(always)]
fn value(values: &[u64], slot: usize) -> u64 {
    values.get(slot).copied().unwrap_or_default()
}

/// The length of a vtable up to the last slot that is set.
fn vtable_len(set: u64) -> usize {
    4 + 2 * (u64::BITS - set.leading_zeros()) as usize
}

/// The fields of a table, gathered until it can be written.
struct Fields<'w, 'b, V> {
    builder: &'w mut Builder<'b>,
    values: V,
    set: Set,
}

impl<V: Slots> Fields<'_, '_, V> {
    /// Keeps a value and gives the bit of its slot.
    #[inline(always)]
    fn keep(&mut self, number: u32, value: u64) -> u64 {
        if let Some(room) = self.values.as_mut().get_mut(number as usize) {
            *room = value;
        }
        1 << number
    }

    #[inline(always)]
    fn keep_place(&mut self, number: u32, place: Place) {
        self.set.places |= self.keep(number, place.into());
    }
}

impl<V: Slots> FieldSink for Fields<'_, '_, V> {
    #[inline(always)]
    fn string(&mut self, number: u32, _: &'static str, value: &Option<String>) {
        if let Some(value) = value {
            let place = self.builder.string(value.as_bytes());
            self.keep_place(number, place);
        }
    }

    #[inline(always)]
    fn int(&mut self, number: u32, _: &'static str, value: Option<i32>) {
        if let Some(value) = value {
            self.set.ints |= self.keep(number, value as u64);
        }
    }

    #[inline(always)]
    fn bool(&mut self, number: u32, _: &'static str, value: Option<bool>) {
        if let Some(value) = value {
            self.set.flags |= self.keep(number, value.into());
        }
    }

    #[inline(always)]
    fn double(&mut self, number: u32, _: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.set.doubles |= self.keep(number, value.to_bits());
        }
    }

    #[inline(always)]
    fn floor(&mut self, number: u32, name: &'static str, value: Option<f64>) {
        self.double(number, name, value);
    }

    #[inline(always)]
    fn message<M: Message>(&mut self, number: u32, _: &'static str, value: &Option<Box<M>>) {
        if let Some(value) = value {
            let place = self.builder.table(&**value);
            self.keep_place(number, place);
        }
    }

    #[inline(always)]
    fn ext<E: Extension>(&mut self, _: u32, _: &'static str, value: &Option<Box<E>>) {
        if let Some(value) = value {
            let place = self.builder.ext(&**value);
            self.keep_place(EXT.0.into(), place);
        }
    }

    /// Part of the text of an `ext`; an extension is no table.
    fn rest(&mut self, _: u32, _: &'static str, _: &Option<String>) {}

    #[inline(always)]
    fn json(&mut self, number: u32, name: &'static str, value: &Option<String>) {
        self.string(number, name, value);
    }

    #[inline(always)]
    fn strings(&mut self, number: u32, _: &'static str, values: &[String]) {
        if !values.is_empty() {
            let place = self
                .builder
                .vector(values, |builder, value| builder.string(value.as_bytes()));
            self.keep_place(number, place);
        }
    }

    #[inline(always)]
    fn ints(&mut self, number: u32, _: &'static str, values: &[i32]) {
        if !values.is_empty() {
            let place = self.builder.ints(values);
            self.keep_place(number, place);
        }
    }

    #[inline(always)]
    fn messages<M: Message>(&mut self, number: u32, _: &'static str, values: &[M]) {
        if !values.is_empty() {
            let place = self.builder.vector(values, Builder::table);
            self.keep_place(number, place);
        }
    }

    #[inline(always)]
    fn entries<E: Entry>(&mut self, number: u32, name: &'static str, values: &[E]) {
        self.messages(number, name, values);
    }
}

/// Reads a message: every field of every table that the schema knows. Tables that are pointed at
/// more than once are read more than once; the limit on work bounds what that can cost.
pub(crate) fn decode<M: Message>(bytes: &[u8], meter: &Meter) -> Result<M, DecodeError> {
    let table = Table::root(bytes).map_err(|refusal| DecodeError::refused(refusal, 0))?;
    let mut message = M::default();
    let slot = 0;
    Decoder { table, slot, meter }.fill(&mut message)?;
    Ok(message)
}

struct Decoder<'a, 'm> {
    table: Table<'a>,
    /// The field at hand.
    slot: u16,
    meter: &'m Meter,
}

impl<'a> Decoder<'a, '_> {
    #[cold]
    fn refused(&self, refusal: Refusal) -> DecodeError {
        DecodeError::refused(refusal, self.table.at())
    }

    fn spend(&self, bytes: usize) -> Result<(), DecodeError> {
        self.meter.spend(bytes).map_err(|r| self.refused(r))
    }

    /// Fills a message from the table.
    fn fill<M: Message>(&mut self, message: &mut M) -> Result<(), DecodeError> {
        for (number, name) in M::FIELDS {
            self.slot = if *number == EXT.1 {
                EXT.0
            } else {
                *number as u16
            };
            if self.table.has(self.slot) {
                self.spend(0)?;
                message
                    .read(*number, self)
                    .map_err(|error| error.in_field(name))?;
            }
        }
        Ok(())
    }

    fn part<M: Message>(&self, table: Table<'a>, part: &mut M) -> Result<(), DecodeError> {
        self.spend(size_of::<M>())?;
        let (slot, meter) = (0, self.meter);
        Decoder { table, slot, meter }.fill(part)
    }

    /// A string; `None` where it is empty or no UTF-8.
    fn text(&self, bytes: &'a [u8]) -> Result<Option<&'a str>, DecodeError> {
        self.spend(bytes.len())?;
        let text = core::str::from_utf8(bytes).ok();
        Ok(text.filter(|text| !text.is_empty()))
    }

    fn field_text(&self) -> Result<Option<&'a str>, DecodeError> {
        match self.table.string(self.slot) {
            Ok(Some(bytes)) => self.text(bytes),
            Ok(None) => Ok(None),
            Err(refusal) => Err(self.refused(refusal)),
        }
    }
}

impl FieldSource for Decoder<'_, '_> {
    type Error = DecodeError;

    fn string(&mut self, into: &mut Option<String>) -> Result<(), DecodeError> {
        *into = self.field_text()?.map(str::to_owned);
        Ok(())
    }

    fn int(&mut self, into: &mut Option<i32>) -> Result<(), DecodeError> {
        *into = self.table.i32(self.slot).map_err(|r| self.refused(r))?;
        Ok(())
    }

    fn bool(&mut self, into: &mut Option<bool>) -> Result<(), DecodeError> {
        *into = self.table.bool(self.slot).map_err(|r| self.refused(r))?;
        Ok(())
    }

    fn double(&mut self, into: &mut Option<f64>) -> Result<(), DecodeError> {
        self.floor(into)?;
        *into = into.filter(|value| value.is_finite());
        Ok(())
    }

    fn floor(&mut self, into: &mut Option<f64>) -> Result<(), DecodeError> {
        *into = self.table.f64(self.slot).map_err(|r| self.refused(r))?;
        Ok(())
    }

    fn message<M: Message>(&mut self, into: &mut Option<Box<M>>) -> Result<(), DecodeError> {
        if let Some(table) = self.table.table(self.slot).map_err(|r| self.refused(r))? {
            self.part(table, &mut **into.insert(Box::default()))?;
        }
        Ok(())
    }

    fn ext<E: Extension>(&mut self, into: &mut Option<Box<E>>) -> Result<(), DecodeError> {
        let text = self.field_text()?;
        *into = text.map(|text| Box::new(ext::split(text, self.meter)));
        Ok(())
    }

    /// Part of the text of an `ext`; an extension is no table.
    fn rest(&mut self, _: &mut Option<String>) -> Result<(), DecodeError> {
        Ok(())
    }

    fn json(&mut self, into: &mut Option<String>) -> Result<(), DecodeError> {
        self.string(into)
    }

    fn strings(&mut self, into: &mut Vec<String>) -> Result<(), DecodeError> {
        let vector = self.table.vector(self.slot).map_err(|r| self.refused(r))?;
        for index in 0..vector.len() {
            let text = vector
                .string(index)
                .map_err(|r| self.refused(r))
                .and_then(|bytes| self.text(bytes))
                .map_err(|error| error.in_entry(index))?;
            into.extend(text.map(str::to_owned));
        }
        Ok(())
    }

    fn ints(&mut self, into: &mut Vec<i32>) -> Result<(), DecodeError> {
        let vector = self.table.vector(self.slot).map_err(|r| self.refused(r))?;
        for index in 0..vector.len() {
            self.spend(0)?;
            into.push(vector.i32(index).map_err(|r| self.refused(r))?);
        }
        Ok(())
    }

    fn messages<M: Message>(&mut self, into: &mut Vec<M>) -> Result<(), DecodeError> {
        let vector = self.table.vector(self.slot).map_err(|r| self.refused(r))?;
        check_count::<M>(vector.len(), self.meter).map_err(|r| self.refused(r))?;
        for index in 0..vector.len() {
            let mut message = M::default();
            vector
                .table(index)
                .map_err(|r| self.refused(r))
                .and_then(|table| self.part(table, &mut message))
                .map_err(|error| error.in_entry(index))?;
            into.push(message);
        }
        Ok(())
    }

    fn entries<E: Entry>(&mut self, into: &mut Vec<E>) -> Result<(), DecodeError> {
        self.messages(into)
    }
}
