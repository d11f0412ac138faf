//! Whole messages in FlatBuffers.
//!
//! The layout of a table follows from which fields are set: words (places of parts, integers and flags),
//! then doubles, each group with the highest slot first. So the set of fields, one bit each, is all that
//! a vtable depends on; whether there already is one is a look at one place, not a search. A flag takes
//! a word of its own: three bytes more, and one group of fields less in every table.

use super::cursor::Table;
use super::template::Part;
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
    stacks: Stacks,
    /// The text of an `ext`.
    text: Vec<u8>,
}

/// The values of the tables at hand, by what they are, in the order their fields were met: the highest
/// slot first, an inner table behind its outer one.
#[derive(Debug, Default)]
struct Stacks {
    words: Vec<Word>,
    doubles: Vec<f64>,
}

/// A field of four bytes: what its lower half says, plus, where the upper half has all bits set, where
/// the field lies.
pub(super) type Word = u64;

/// A word that points to `place`.
#[inline(always)]
pub(super) fn pointing(place: Place) -> Word {
    u64::from(u32::MAX) << 32 | u64::from(place.wrapping_neg())
}

/// What a word says that lies at `at`.
#[inline(always)]
pub(super) fn resolved(word: Word, at: Place) -> u32 {
    (word as u32).wrapping_add((word >> 32) as u32 & at)
}

impl Stacks {
    /// Lets go of what a message that did not fit has left.
    fn clear(&mut self) {
        self.words.clear();
        self.doubles.clear();
    }
}

/// Writes a message; behind its length where it is size-prefixed. Alignment counts the length in, as
/// readers of size-prefixed buffers expect.
pub(crate) fn encode<'b, M: Message>(
    message: &M,
    size_prefixed: bool,
    room: &mut Room,
    out: Reverse<'b>,
) -> Reverse<'b> {
    let mut builder = Builder::new(room, out);
    let root = builder.table(message);
    let prefix_bytes = if size_prefixed { 4 } else { 0 };
    builder.out.align(8, 4 + prefix_bytes);
    let offset = (builder.place() + 4).wrapping_sub(root);
    builder.out.put(offset.to_le_bytes());
    if size_prefixed {
        let len = builder.place();
        builder.out.put(len.to_le_bytes());
    }
    builder.finish(room)
}

/// How many vtables are remembered. Messages that share a place only write theirs more often.
const VTABLES: usize = 32;

/// Where something starts, in bytes before the end of the buffer. Always a multiple of 4: every part
/// fills up what would keep the next one from being aligned.
pub(super) type Place = u32;

pub(super) struct Builder<'b> {
    pub(super) out: Reverse<'b>,
    room: Room,
    /// Of the table at hand: what is on the stacks, and where its `ext` lies.
    set: Set,
    ext: Option<Place>,
    /// By message: the key of the last vtable, and its place (0: none yet).
    vtables: [(u64, Place); VTABLES],
}

/// Which slots of a table are set, by what they hold.
#[derive(Clone, Copy, Default)]
pub(super) struct Set {
    pub(super) words: u64,
    pub(super) doubles: u64,
}

/// A group of fields.
#[derive(Clone, Copy)]
pub(super) enum Group {
    Words,
    Doubles,
}

impl Set {
    /// The slots of a group.
    pub(super) fn group(&mut self, group: Group) -> &mut u64 {
        match group {
            Group::Words => &mut self.words,
            Group::Doubles => &mut self.doubles,
        }
    }

    fn all(&self) -> u64 {
        self.words | self.doubles
    }

    /// How many slots there are up to the highest that is set.
    fn slots(&self) -> usize {
        (u64::BITS - self.all().leading_zeros()) as usize
    }
}

/// Where the groups of fields lie in a table, in bytes.
pub(super) struct Layout {
    doubles_at: usize,
    pub(super) len: usize,
}

/// Behind the offset to the vtable.
const WORDS_AT: usize = 4;

impl Layout {
    #[inline(always)]
    pub(super) fn of(set: &Set) -> Layout {
        let doubles_at = WORDS_AT + 4 * set.words.count_ones() as usize;
        let len = doubles_at + 8 * set.doubles.count_ones() as usize;
        Layout { doubles_at, len }
    }
}

impl<'b> Builder<'b> {
    pub(super) fn new(room: &mut Room, out: Reverse<'b>) -> Builder<'b> {
        let mut builder = Builder {
            out,
            room: core::mem::take(room),
            set: Set::default(),
            ext: None,
            vtables: [(0, 0); VTABLES],
        };
        builder.room.stacks.clear();
        builder
    }

    /// Gives the room back.
    pub(super) fn finish(self, room: &mut Room) -> Reverse<'b> {
        *room = self.room;
        self.out
    }
}

impl Builder<'_> {
    #[inline(always)]
    pub(super) fn place(&self) -> Place {
        self.out.len() as Place
    }

    /// A table.
    #[inline(always)]
    pub(super) fn table<M: Message>(&mut self, message: &M) -> Place {
        let outer = (core::mem::take(&mut self.set), self.ext.take());
        message.write_rev(self);
        let place = self.finish_table(M::INDEX);
        (self.set, self.ext) = outer;
        place
    }

    /// Writes what a table points to, and gives its fields instead of writing it. No other table may be
    /// at hand.
    pub(super) fn part<M: Message>(&mut self, message: &M) -> Part {
        message.write_rev(self);
        if let Some(place) = self.ext.take() {
            self.keep_place(EXT.0.into(), place);
        }
        let Stacks { words, doubles } = core::mem::take(&mut self.room.stacks);
        Part {
            set: core::mem::take(&mut self.set),
            words,
            doubles,
        }
    }

    /// A string, if there is one.
    #[inline(always)]
    pub(super) fn text(&mut self, text: Option<&str>) -> Option<Place> {
        text.map(|text| string(&mut self.out, text.as_bytes()))
    }

    /// A string that `write` appends to nothing.
    pub(super) fn composed(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Place {
        self.room.text.clear();
        write(&mut self.room.text);
        string(&mut self.out, &self.room.text)
    }

    /// Puts places aside while no table is at hand.
    pub(super) fn keep_places<const N: usize>(&mut self, places: [Place; N]) {
        self.room.stacks.words.extend(places.map(Word::from));
    }

    /// The places that were put aside last; zeros where there are none.
    pub(super) fn kept_places<const N: usize>(&mut self) -> [Place; N] {
        let stack = &mut self.room.stacks.words;
        let places = stack.last_chunk().copied().unwrap_or([0; N]);
        stack.truncate(stack.len().saturating_sub(N));
        places.map(|place| place as Place)
    }

    /// Writes the table whose fields are on the stacks, and takes them off.
    #[inline(never)]
    fn finish_table(&mut self, index: u16) -> Place {
        // Its number is the highest, its slot the lowest.
        if let Some(place) = self.ext {
            self.keep_place(EXT.0.into(), place);
        }
        let set = self.set;
        let layout = Layout::of(&set);
        if set.doubles != 0 {
            self.out.align(8, 0);
        }
        let start = self.place() + layout.len as Place;
        let Some(table) = self.out.claim(layout.len) else {
            return start;
        };
        let vtable = self.vtable(index, start, &set, &layout);
        let Some((to_vtable, fields)) = table.split_first_chunk_mut::<WORDS_AT>() else {
            return start;
        };
        *to_vtable = vtable.wrapping_sub(start).to_le_bytes();
        let (words, doubles) = split(fields, layout.doubles_at - WORDS_AT);
        let stacks = &mut self.room.stacks;
        pop_words(&mut stacks.words, words, start - WORDS_AT as Place);
        if set.doubles != 0 {
            pop_doubles(&mut stacks.doubles, doubles);
        }
        start
    }

    /// The place of the vtable of a table that starts at `start`: the last one of the same message, or
    /// a new one in front of the table.
    #[inline(always)]
    fn vtable(&mut self, index: u16, start: Place, set: &Set, layout: &Layout) -> Place {
        let key = set.all() | u64::from(index) << SLOT_BITS;
        match self.vtables.get(usize::from(index) % VTABLES) {
            Some((same, place)) if *same == key && *place != 0 => *place,
            _ => self.new_vtable(index, start, set, layout),
        }
    }

    #[inline(never)]
    fn new_vtable(&mut self, index: u16, start: Place, set: &Set, layout: &Layout) -> Place {
        let room_len = vtable_len(set.slots());
        let place = start + room_len as Place;
        let Some(vtable) = self.out.claim(room_len) else {
            return place;
        };
        fill_vtable(vtable, set, layout);
        let key = set.all() | u64::from(index) << SLOT_BITS;
        if let Some(seen) = self.vtables.get_mut(usize::from(index) % VTABLES) {
            *seen = (key, place);
        }
        place
    }

    #[inline(always)]
    fn keep_place(&mut self, slot: u32, place: Place) {
        self.keep_word(slot, pointing(place));
    }

    #[inline(always)]
    fn keep_word(&mut self, slot: u32, word: Word) {
        self.room.stacks.words.push(word);
        self.set.words |= 1 << slot;
    }

    fn int_vector(&mut self, values: &[i32]) -> Place {
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
            self.room.stacks.words.push(pointing(place));
        }
        self.finish_vector(values.len())
    }

    /// A vector of the places on the stack, the last one first.
    #[inline(never)]
    fn finish_vector(&mut self, len: usize) -> Place {
        let bytes = 4 + 4 * len;
        let start = self.place() + bytes as Place;
        if let Some(room) = self.out.claim(bytes)
            && let Some((head, entries)) = room.split_first_chunk_mut::<4>()
        {
            *head = (len as u32).to_le_bytes();
            let stack = &mut self.room.stacks.words;
            let rest = stack.len().saturating_sub(len);
            let (words, _) = entries.as_chunks_mut::<4>();
            let mut at = start - 4;
            // Unlike a table, a vector has its last entry last.
            for (room, word) in words.iter_mut().zip(stack.drain(rest..).rev()) {
                *room = resolved(word, at).to_le_bytes();
                at = at.wrapping_sub(4);
            }
        }
        start
    }

    /// An `ext`: the text of the whole object.
    fn extension<E: Extension>(&mut self, ext: &E) -> Place {
        self.room.text.clear();
        match ext::join_trusting(ext, &mut self.room.text) {
            Some(text) => string(&mut self.out, text.as_bytes()),
            None => string(&mut self.out, &self.room.text),
        }
    }
}

/// A string: its length, its bytes, and at least one zero.
#[inline(always)]
pub(super) fn string(out: &mut Reverse<'_>, text: &[u8]) -> Place {
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

/// The first `len` bytes, and the others; nothing where there are not as many.
#[inline(always)]
fn split(room: &mut [u8], len: usize) -> (&mut [u8], &mut [u8]) {
    room.split_at_mut_checked(len).unwrap_or_default()
}

/// A vtable; perhaps two bytes more than it says, to stay aligned.
pub(super) fn new_vtable(set: &Set, layout: &Layout) -> Vec<u8> {
    let mut vtable = vec![0; vtable_len(set.slots())];
    fill_vtable(&mut vtable, set, layout);
    vtable
}

fn vtable_len(slots: usize) -> usize {
    (4 + 2 * slots).next_multiple_of(4)
}

#[inline(always)]
fn fill_vtable(vtable: &mut [u8], set: &Set, layout: &Layout) {
    vtable.fill(0);
    let (entries, _) = vtable.as_chunks_mut::<2>();
    if let [own, table, entries @ ..] = entries {
        *own = (4 + 2 * set.slots() as u16).to_le_bytes();
        *table = (layout.len as u16).to_le_bytes();
        fill_entries(entries, set.words, WORDS_AT, 4);
        fill_entries(entries, set.doubles, layout.doubles_at, 8);
    }
}

/// The slots of a group, the highest first.
#[inline(always)]
pub(super) fn slots(mut group: u64) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let slot = group.checked_ilog2()?;
        group ^= 1 << slot;
        Some(slot)
    })
}

/// Says in a vtable where a group of fields lies: the highest slot first, `step` bytes each.
#[inline(always)]
fn fill_entries(entries: &mut [[u8; 2]], group: u64, mut at: usize, step: usize) {
    for slot in slots(group) {
        if let Some(entry) = entries.get_mut(slot as usize) {
            *entry = (at as u16).to_le_bytes();
        }
        at += step;
    }
}

/// Takes as many words off the stack as there is room for, in the order they were pushed; the first
/// one lies at `at`.
#[inline(always)]
fn pop_words(stack: &mut Vec<Word>, room: &mut [u8], mut at: Place) {
    let (chunks, _) = room.as_chunks_mut::<4>();
    let rest = stack.len().saturating_sub(chunks.len());
    for (chunk, word) in chunks.iter_mut().zip(stack.get(rest..).unwrap_or_default()) {
        *chunk = resolved(*word, at).to_le_bytes();
        at = at.wrapping_sub(4);
    }
    stack.truncate(rest);
}

/// Takes as many doubles off the stack as there is room for, in the order they were pushed.
fn pop_doubles(stack: &mut Vec<f64>, room: &mut [u8]) {
    let (chunks, _) = room.as_chunks_mut::<8>();
    let rest = stack.len().saturating_sub(chunks.len());
    for (chunk, double) in chunks.iter_mut().zip(stack.get(rest..).unwrap_or_default()) {
        *chunk = double.to_le_bytes();
    }
    stack.truncate(rest);
}

impl FieldSink for Builder<'_> {
    #[inline(always)]
    fn string(&mut self, number: u32, _: &'static str, value: &Option<String>) {
        if let Some(value) = value {
            let place = string(&mut self.out, value.as_bytes());
            self.keep_place(number, place);
        }
    }

    #[inline(always)]
    fn int(&mut self, number: u32, _: &'static str, value: Option<i32>) {
        if let Some(value) = value {
            self.keep_word(number, (value as u32).into());
        }
    }

    #[inline(always)]
    fn bool(&mut self, number: u32, _: &'static str, value: Option<bool>) {
        if let Some(value) = value {
            self.keep_word(number, value.into());
        }
    }

    #[inline(always)]
    fn double(&mut self, number: u32, _: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.room.stacks.doubles.push(value);
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
            let place = self.table(&**value);
            self.keep_place(number, place);
        }
    }

    #[inline(always)]
    fn ext<E: Extension>(&mut self, _: u32, _: &'static str, value: &Option<Box<E>>) {
        if let Some(value) = value {
            self.ext = Some(self.extension(&**value));
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
            let write =
                |builder: &mut Self, value: &String| string(&mut builder.out, value.as_bytes());
            let place = self.vector(values, write);
            self.keep_place(number, place);
        }
    }

    #[inline(always)]
    fn ints(&mut self, number: u32, _: &'static str, values: &[i32]) {
        if !values.is_empty() {
            let place = self.int_vector(values);
            self.keep_place(number, place);
        }
    }

    #[inline(always)]
    fn messages<M: Message>(&mut self, number: u32, _: &'static str, values: &[M]) {
        if !values.is_empty() {
            let place = self.vector(values, Builder::table);
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
