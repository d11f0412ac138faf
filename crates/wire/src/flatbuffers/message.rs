//! Whole messages in FlatBuffers.
//!
//! The layout of a table follows from which fields are set: offsets and integers in the order of
//! their slots, then flags, then doubles. So the set of fields, one bit each, is all that a table's
//! vtable depends on; whether there already is one is a look at one place, not a search.

use super::cursor::Table;
use crate::json::ext;
use crate::limits::Meter;
use crate::message::reverse::Reverse;
use crate::message::{DecodeError, Entry, Extension, FieldSink, FieldSource, Message, check_count};
use openrtb::Refusal;

/// The slot of `ext`, and its protobuf number.
const EXT: (u16, u32) = (0, 99);

/// Slots of a message; the number of the message has the rest of a word.
const SLOT_BITS: u32 = 51;

/// Room that writing needs, to be used again and again.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// Places and integers of the tables at hand, in the order their fields were met: the highest slot
    /// first, an inner table behind its outer one.
    words: Vec<u32>,
    flags: Vec<u8>,
    doubles: Vec<f64>,
    /// The text of an `ext`.
    text: Vec<u8>,
}

/// Writes a message; behind its length where it is size-prefixed. Alignment counts the length in, as
/// readers of size-prefixed buffers expect.
pub(crate) fn encode<M: Message>(
    message: &M,
    size_prefixed: bool,
    room: &mut Room,
    out: &mut Reverse<'_>,
) {
    room.clear();
    let mut builder = Builder {
        out,
        room,
        vtables: [(0, 0); VTABLES],
    };
    let root = builder.table(message);
    let prefix_bytes = if size_prefixed { 4 } else { 0 };
    builder.out.align(8, 4 + prefix_bytes);
    let offset = (builder.place() + 4).wrapping_sub(root);
    builder.out.put(offset.to_le_bytes());
    if size_prefixed {
        let len = builder.place();
        builder.out.put(len.to_le_bytes());
    }
}

/// How many vtables are remembered. Messages that share a place only write theirs more often.
const VTABLES: usize = 32;

/// Where something starts, in bytes before the end of the buffer. Always a multiple of 4: every part
/// fills up what would keep the next one from being aligned.
type Place = u32;

struct Builder<'w, 'b> {
    out: &'w mut Reverse<'b>,
    room: &'w mut Room,
    /// By message: the key of the last vtable, and its place (0: none yet).
    vtables: [(u64, Place); VTABLES],
}

/// Which slots of a table are set, by what they hold.
#[derive(Clone, Copy, Default)]
struct Set {
    /// Places, turned into offsets when the table is written.
    places: u64,
    ints: u64,
    flags: u64,
    doubles: u64,
}

impl Set {
    fn all(&self) -> u64 {
        self.places | self.ints | self.flags | self.doubles
    }
}

/// Where the groups of fields lie in a table, in bytes.
struct Layout {
    flags_at: usize,
    doubles_at: usize,
    len: usize,
}

impl Layout {
    #[inline(always)]
    fn of(set: &Set) -> Layout {
        let flags_at = 4 + 4 * (set.places | set.ints).count_ones() as usize;
        let doubles_at = (flags_at + set.flags.count_ones() as usize).next_multiple_of(4);
        let len = doubles_at + 8 * set.doubles.count_ones() as usize;
        Layout {
            flags_at,
            doubles_at,
            len,
        }
    }
}

impl Builder<'_, '_> {
    #[inline(always)]
    fn place(&self) -> Place {
        self.out.len() as Place
    }

    #[inline(always)]
    fn table<M: Message>(&mut self, message: &M) -> Place {
        let mut fields = Fields {
            builder: self,
            set: Set::default(),
            ext: None,
        };
        message.write_rev(&mut fields);
        // Its number is the highest, its slot the lowest.
        if let Some(place) = fields.ext {
            fields.keep_place(EXT.0.into(), place);
        }
        let set = fields.set;
        self.finish_table(M::INDEX, set)
    }

    /// Writes a table whose fields are on the stacks, and takes them off.
    #[inline(never)]
    fn finish_table(&mut self, index: u16, set: Set) -> Place {
        let layout = Layout::of(&set);
        if set.doubles != 0 {
            self.out.align(8, 0);
        }
        let start = self.place() + layout.len as Place;
        let Some(table) = self.out.claim(layout.len) else {
            return start;
        };
        let vtable = self.vtable(index, start, &set, &layout);
        let (words, rest) = table
            .split_at_mut_checked(layout.flags_at)
            .unwrap_or_default();
        let flags_len = layout.doubles_at - layout.flags_at;
        let (flags, doubles) = rest.split_at_mut_checked(flags_len).unwrap_or_default();
        let (words, _) = words.as_chunks_mut::<4>();
        if let [to_vtable, words @ ..] = words {
            *to_vtable = vtable.wrapping_sub(start).to_le_bytes();
            self.room.pop_words(words, start - 4, &set);
        }
        if set.flags != 0 {
            pop(&mut self.room.flags, flags, set.flags.count_ones());
        }
        let (doubles, _) = doubles.as_chunks_mut::<8>();
        for room in doubles {
            *room = self.room.doubles.pop().unwrap_or_default().to_le_bytes();
        }
        start
    }

    /// The place of the vtable of a table that starts at `start`: the last one of the same message, or
    /// a new one in front of the table.
    #[inline(always)]
    fn vtable(&mut self, index: u16, start: Place, set: &Set, layout: &Layout) -> Place {
        let key = set.all() | u64::from(index) << SLOT_BITS;
        let seen = self.vtables.get(usize::from(index) % VTABLES);
        match seen {
            Some((same, place)) if *same == key && *place != 0 => *place,
            _ => self.new_vtable(index, start, set, layout),
        }
    }

    #[inline(never)]
    fn new_vtable(&mut self, index: u16, start: Place, set: &Set, layout: &Layout) -> Place {
        let len = 4 + 2 * (u64::BITS - set.all().leading_zeros()) as usize;
        // Two more bytes where it takes them to stay aligned; no slot claims them.
        let room_len = len.next_multiple_of(4);
        let place = start + room_len as Place;
        let Some(vtable) = self.out.claim(room_len) else {
            return place;
        };
        vtable.fill(0);
        let (entries, _) = vtable.as_chunks_mut::<2>();
        if let [own, table, slots @ ..] = entries {
            *own = (len as u16).to_le_bytes();
            *table = (layout.len as u16).to_le_bytes();
            let groups = [
                (set.places | set.ints, 4, 4),
                (set.flags, layout.flags_at, 1),
                (set.doubles, layout.doubles_at, 8),
            ];
            for (group, mut at, step) in groups {
                for slot in bits(group) {
                    if let Some(entry) = slots.get_mut(slot) {
                        *entry = (at as u16).to_le_bytes();
                    }
                    at += step;
                }
            }
        }
        let key = set.all() | u64::from(index) << SLOT_BITS;
        if let Some(seen) = self.vtables.get_mut(usize::from(index) % VTABLES) {
            *seen = (key, place);
        }
        place
    }

    #[inline(always)]
    fn string(&mut self, text: &[u8]) -> Place {
        string(self.out, text)
    }

    fn ints(&mut self, values: &[i32]) -> Place {
        if let Some(room) = self.out.claim(4 + 4 * values.len()) {
            let (words, _) = room.as_chunks_mut::<4>();
            if let [len, entries @ ..] = words {
                *len = (values.len() as u32).to_le_bytes();
                for (room, value) in entries.iter_mut().zip(values) {
                    *room = value.to_le_bytes();
                }
            }
        }
        self.place()
    }

    /// A vector of what `write` writes.
    #[inline(always)]
    fn vector<T>(&mut self, values: &[T], mut write: impl FnMut(&mut Self, &T) -> Place) -> Place {
        for value in values.iter().rev() {
            let place = write(self, value);
            self.room.words.push(place);
        }
        self.finish_vector(values.len())
    }

    /// A vector of the places on the stack, the last one first.
    fn finish_vector(&mut self, len: usize) -> Place {
        let bytes = 4 + 4 * len;
        let start = self.place() + bytes as Place;
        if let Some(room) = self.out.claim(bytes) {
            let (words, _) = room.as_chunks_mut::<4>();
            if let [head, entries @ ..] = words {
                *head = (len as u32).to_le_bytes();
                let all_places = Set {
                    places: u64::MAX,
                    ..Set::default()
                };
                self.room.pop_words(entries, start - 4, &all_places);
            }
        }
        start
    }

    /// An `ext`: the text of the whole object.
    fn ext<E: Extension>(&mut self, ext: &E) -> Place {
        self.room.text.clear();
        match ext::join_trusting(ext, &mut self.room.text) {
            Some(text) => string(self.out, text.as_bytes()),
            None => string(self.out, &self.room.text),
        }
    }
}

/// A string: its length, its bytes, and at least one zero.
#[inline(always)]
fn string(out: &mut Reverse<'_>, text: &[u8]) -> Place {
    let len = text.len();
    let bytes = 4 + (len + 1).next_multiple_of(4);
    if let Some(room) = out.claim(bytes) {
        if let Some(zeros) = room.last_chunk_mut::<4>() {
            *zeros = [0; 4];
        }
        if let Some((head, room)) = room.split_first_chunk_mut::<4>() {
            *head = (len as u32).to_le_bytes();
            if let Some(room) = room.get_mut(..len) {
                room.copy_from_slice(text);
            }
        }
    }
    out.len() as Place
}

impl Room {
    /// What a message that did not fit has left.
    fn clear(&mut self) {
        self.words.clear();
        self.flags.clear();
        self.doubles.clear();
    }

    /// Takes words off their stack, the last one first, into a table or vector whose first word lies at
    /// `at`. Places become offsets.
    #[inline(always)]
    fn pop_words(&mut self, words: &mut [[u8; 4]], mut at: Place, set: &Set) {
        let rest = self.words.len().saturating_sub(words.len());
        let stack = self.words.get(rest..).unwrap_or_default();
        let mut slots = bits(set.places | set.ints);
        for (room, value) in words.iter_mut().zip(stack.iter().rev()) {
            let slot = slots.next().unwrap_or(0);
            let is_place = set.places >> slot & 1 == 1;
            let value = if is_place {
                at.wrapping_sub(*value)
            } else {
                *value
            };
            *room = value.to_le_bytes();
            at = at.wrapping_sub(4);
        }
        self.words.truncate(rest);
    }
}

/// Takes `len` flags off their stack, the last one first; what is left of `room` becomes zero.
fn pop(stack: &mut Vec<u8>, room: &mut [u8], len: u32) {
    let rest = stack.len().saturating_sub(len as usize);
    let flags = stack.get(rest..).unwrap_or_default();
    for (room, flag) in room
        .iter_mut()
        .zip(flags.iter().rev().chain(core::iter::repeat(&0)))
    {
        *room = *flag;
    }
    stack.truncate(rest);
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

/// The fields of a table, gathered on the stacks until it can be written.
struct Fields<'t, 'w, 'b> {
    builder: &'t mut Builder<'w, 'b>,
    set: Set,
    ext: Option<Place>,
}

impl Fields<'_, '_, '_> {
    #[inline(always)]
    fn keep_place(&mut self, number: u32, place: Place) {
        self.builder.room.words.push(place);
        self.set.places |= 1 << number;
    }
}

impl FieldSink for Fields<'_, '_, '_> {
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
            self.builder.room.words.push(value as u32);
            self.set.ints |= 1 << number;
        }
    }

    #[inline(always)]
    fn bool(&mut self, number: u32, _: &'static str, value: Option<bool>) {
        if let Some(value) = value {
            self.builder.room.flags.push(value.into());
            self.set.flags |= 1 << number;
        }
    }

    #[inline(always)]
    fn double(&mut self, number: u32, _: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.builder.room.doubles.push(value);
            self.set.doubles |= 1 << number;
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
            self.ext = Some(self.builder.ext(&**value));
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
