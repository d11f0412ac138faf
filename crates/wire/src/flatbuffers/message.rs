//! Whole messages in FlatBuffers.
//!
//! A table of a message always has the same layout: every field its schema knows has its place in it,
//! set or not, and the vtable in front of the table says which are. So a field is written where it
//! belongs as it is met, whether a number is there is no branch, and no vtable is looked for. A request is
//! a fifth longer than with fields packed by what is set and vtables shared, which took twice as long.

use super::cursor::Table;
use crate::json::ext;
use crate::limits::Meter;
use crate::message::copy::copy;
use crate::message::forward::Forward;
use crate::message::{DecodeError, Entry, Extension, FieldSink, FieldSource, Message, check_count};
use core::marker::PhantomData;
use openrtb::Refusal;

/// By so much it is more work to take the text of an `ext` apart than to read it.
const EXT_WORK: usize = 8;

/// The slot of `ext`, and its protobuf number.
const EXT: (u16, u32) = (0, 99);

/// Slots of a message, at most.
const SLOTS_MAX: usize = 64;

/// Writes a message; behind its length where it is size-prefixed. Alignment counts the length in, as
/// readers of size-prefixed buffers expect. `text` is room to be used again and again.
pub(crate) fn encode<M: Message>(
    message: &M,
    size_prefixed: bool,
    text: &mut Vec<u8>,
    out: &mut Forward<'_>,
) {
    let prefix = size_prefixed.then(|| out.claim(4));
    let root_at = out.len();
    let root = out.claim(4);
    let mut builder = Builder { out, text };
    let place = builder.table(message);
    if let Some(root) = root.and_then(|root| root.first_chunk_mut()) {
        *root = (place - root_at as Place).to_le_bytes();
    }
    if let Some(prefix) = prefix.flatten().and_then(|prefix| prefix.first_chunk_mut()) {
        *prefix = (builder.place() - 4).to_le_bytes();
    }
}

/// Where something starts, in bytes from the start of the buffer. Always a multiple of 4: every part
/// fills up what would keep the next one from being aligned.
pub(super) type Place = u32;

/// Where the fields of a message lie: behind its vtable, first the doubles, then offsets and integers,
/// then flags.
pub(super) struct Layout {
    /// By slot: where the field starts, in bytes from the start of the table; 0 where there is none.
    at: [u16; SLOTS_MAX],
    /// What the vtable says of its own length, in bytes.
    vtable_bytes: u16,
    /// What the vtable says of the table's length, in bytes.
    table_bytes: u16,
    has_doubles: bool,
}

impl Layout {
    #[expect(clippy::indexing_slicing, reason = "evaluated while compiling")]
    const fn of(fields: &[(u32, &str, u8)]) -> Layout {
        let mut layout = Layout {
            at: [0; SLOTS_MAX],
            vtable_bytes: 4,
            // Behind the offset to the vtable.
            table_bytes: 4,
            has_doubles: false,
        };
        let mut bytes = 8;
        while bytes > 0 {
            let mut index = 0;
            while index < fields.len() {
                let (number, _, width) = fields[index];
                let slot = slot(number);
                // The rest of an extension is no field of a table.
                if width == bytes && (slot as usize) < SLOTS_MAX {
                    layout.at[slot as usize] = layout.table_bytes;
                    layout.table_bytes += bytes as u16;
                    layout.has_doubles |= bytes == 8;
                    if layout.vtable_bytes < 4 + 2 * (slot + 1) {
                        layout.vtable_bytes = 4 + 2 * (slot + 1);
                    }
                }
                index += 1;
            }
            bytes /= 2;
        }
        layout
    }

    /// Where the table starts, in bytes behind the start of its vtable.
    const fn table_at(&self) -> usize {
        (self.vtable_bytes as usize).next_multiple_of(4)
    }

    /// What vtable and table take, in bytes.
    const fn len(&self) -> usize {
        self.table_at() + (self.table_bytes as usize).next_multiple_of(4)
    }

    /// A field by its slot.
    #[inline(always)]
    fn gap(&self, slot: u16) -> Gap {
        let says = self.at.get(usize::from(slot)).copied().unwrap_or_default();
        Gap {
            entry: 4 + 2 * usize::from(slot),
            at: self.table_at() + usize::from(says),
            says,
        }
    }
}

/// The slot of a field.
const fn slot(number: u32) -> u16 {
    if number == EXT.1 {
        EXT.0
    } else {
        number as u16
    }
}

/// A field that may be set: where, in bytes from the start of [`Fields`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gap {
    /// Its entry in the vtable.
    entry: usize,
    /// Its value.
    at: usize,
    /// What the entry says where the field is set.
    says: u16,
}

impl Gap {
    /// The field of a table at `place`, in bytes from the start of the message. Its vtable lies where a
    /// [`Builder`] puts it.
    pub(super) fn of_table(self, place: Place) -> Gap {
        let start = (place as usize + usize::from(self.says)).saturating_sub(self.at);
        Gap {
            entry: start + self.entry,
            at: start + self.at,
            says: self.says,
        }
    }
}

/// The layout of each message.
pub(super) trait Laid: Message {
    const LAYOUT: &'static Layout = &Layout::of(Self::FIELDS);

    /// A field of a table that starts with its vtable.
    #[inline(always)]
    fn gap(number: u32) -> Gap {
        Self::LAYOUT.gap(slot(number))
    }
}

impl<M: Message> Laid for M {}

/// Writes one part behind the other.
pub(super) struct Builder<'o, 'b> {
    pub(super) out: &'o mut Forward<'b>,
    /// Room for the text of an `ext`.
    pub(super) text: &'o mut Vec<u8>,
}

impl<'b> Builder<'_, 'b> {
    /// Where the next part starts.
    #[inline(always)]
    pub(super) fn place(&self) -> Place {
        self.out.len() as Place
    }

    /// A table, with its vtable in front and what it points to behind it.
    #[inline(never)]
    pub(super) fn table<M: Message>(&mut self, message: &M) -> Place {
        if M::LAYOUT.has_doubles && !(self.out.len() + M::LAYOUT.table_at() + 4).is_multiple_of(8) {
            self.zeros();
        }
        let start = self.place();
        let place = start + M::LAYOUT.table_at() as Place;
        let Some(bytes) = self.out.claim(M::LAYOUT.len()) else {
            return place;
        };
        bytes.fill(0);
        let mut table = Fields { bytes, start };
        table.put(0, M::LAYOUT.vtable_bytes.to_le_bytes());
        table.put(2, M::LAYOUT.table_bytes.to_le_bytes());
        table.put(
            M::LAYOUT.table_at(),
            (M::LAYOUT.table_at() as u32).to_le_bytes(),
        );
        message.write(&mut Writer {
            builder: self,
            table,
            message: PhantomData::<M>,
        });
        place
    }

    /// Four zeros, so that the next part is aligned to eight.
    fn zeros(&mut self) {
        if let Some(room) = self.out.claim(4) {
            room.fill(0);
        }
    }

    /// A string: its length, its bytes, and at least one zero. No part of its callers: they would be
    /// too long for the processor to keep.
    #[inline(never)]
    pub(super) fn string(&mut self, text: &[u8]) -> Place {
        string(self.out, text)
    }

    /// A string that `write` appends to nothing.
    pub(super) fn composed(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Place {
        self.text.clear();
        write(self.text);
        string(self.out, self.text)
    }

    fn ints(&mut self, values: &[i32]) -> Place {
        let place = self.place();
        if let Some(entries) = self.vector(values.len()) {
            for (entry, value) in entries.iter_mut().zip(values) {
                *entry = value.to_le_bytes();
            }
        }
        place
    }

    /// A vector of what `write` writes.
    #[inline(always)]
    fn all<T>(&mut self, values: &[T], mut write: impl FnMut(&mut Self, &T) -> Place) -> Place {
        let place = self.place();
        if let Some(entries) = self.vector(values.len()) {
            let mut at = place;
            for (entry, value) in entries.iter_mut().zip(values) {
                at += 4;
                *entry = (write(self, value) - at).to_le_bytes();
            }
        }
        place
    }

    /// The entries of a vector behind its length, not filled yet.
    #[inline(always)]
    fn vector(&mut self, len: usize) -> Option<&'b mut [[u8; 4]]> {
        let (head, entries) = self.out.claim(4 + 4 * len)?.split_first_chunk_mut()?;
        *head = (len as u32).to_le_bytes();
        Some(entries.as_chunks_mut().0)
    }

    /// An `ext`: the text of the whole object.
    fn extension<E: Extension>(&mut self, ext: &E) -> Place {
        self.text.clear();
        match ext::join_trusting(ext, self.text) {
            Some(text) => string(self.out, text.as_bytes()),
            None => string(self.out, self.text),
        }
    }
}

#[inline(always)]
fn string(out: &mut Forward<'_>, text: &[u8]) -> Place {
    let place = out.len() as Place;
    let len = text.len();
    let bytes = 4 + (len + 1).next_multiple_of(4);
    if let Some(room) = out.claim(bytes) {
        if let Some(zeros) = room.last_chunk_mut::<4>() {
            *zeros = [0; 4];
        }
        if let Some((head, room)) = room.split_first_chunk_mut::<4>() {
            *head = (len as u32).to_le_bytes();
            if let Some(room) = room.get_mut(..len) {
                copy(room, text);
            }
        }
    }
    place
}

/// A table whose fields are being filled.
pub(super) struct Fields<'b> {
    /// Its vtable and itself.
    pub(super) bytes: &'b mut [u8],
    /// Where they start.
    pub(super) start: Place,
}

impl Fields<'_> {
    /// Points at what lies at `place`.
    #[inline(always)]
    pub(super) fn refer(&mut self, gap: Gap, place: Place) {
        self.put(gap.entry, gap.says.to_le_bytes());
        let at = self.start + gap.at as Place;
        self.put(gap.at, place.wrapping_sub(at).to_le_bytes());
    }

    /// Sets a number; `value` is of no account where it is not set.
    #[inline(always)]
    pub(super) fn scalar<const N: usize>(&mut self, gap: Gap, is_set: bool, value: [u8; N]) {
        let says = gap.says & u16::from(is_set).wrapping_neg();
        self.put(gap.entry, says.to_le_bytes());
        self.put(gap.at, value);
    }

    /// Sets a text that is there, written behind all that is.
    pub(super) fn text(&mut self, gap: Gap, text: Option<&str>, to: &mut Builder<'_, '_>) {
        if let Some(text) = text {
            self.refer(gap, to.string(text.as_bytes()));
        }
    }

    /// Crosses a field out that is not kept.
    pub(super) fn keep(&mut self, gap: Gap, keep: bool) {
        if !keep {
            self.put(gap.entry, [0; 2]);
        }
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, at: usize, value: [u8; N]) {
        if let Some(room) = self.bytes.get_mut(at..at + N) {
            room.copy_from_slice(&value);
        }
    }
}

/// Fills the fields of a table of this message.
struct Writer<'w, 'o, 'b, M> {
    builder: &'w mut Builder<'o, 'b>,
    table: Fields<'b>,
    message: PhantomData<M>,
}

impl<'o, 'b, M: Message> Writer<'_, 'o, 'b, M> {
    /// Points at what `write` writes.
    #[inline(always)]
    fn refer(&mut self, number: u32, write: impl FnOnce(&mut Builder<'o, 'b>) -> Place) {
        let place = write(self.builder);
        self.table.refer(M::gap(number), place);
    }
}

impl<M: Message> FieldSink for Writer<'_, '_, '_, M> {
    #[inline(always)]
    fn string(&mut self, number: u32, _: &'static str, value: &Option<String>) {
        if let Some(value) = value {
            self.refer(number, |to| to.string(value.as_bytes()));
        }
    }

    #[inline(always)]
    fn int(&mut self, number: u32, _: &'static str, value: Option<i32>) {
        let bytes = value.unwrap_or_default().to_le_bytes();
        self.table.scalar(M::gap(number), value.is_some(), bytes);
    }

    #[inline(always)]
    fn bool(&mut self, number: u32, _: &'static str, value: Option<bool>) {
        let byte = [u8::from(value == Some(true))];
        self.table.scalar(M::gap(number), value.is_some(), byte);
    }

    #[inline(always)]
    fn double(&mut self, number: u32, _: &'static str, value: Option<f64>) {
        let bytes = value.unwrap_or_default().to_le_bytes();
        self.table.scalar(M::gap(number), value.is_some(), bytes);
    }

    #[inline(always)]
    fn floor(&mut self, number: u32, name: &'static str, value: Option<f64>) {
        self.double(number, name, value);
    }

    #[inline(always)]
    fn message<N: Message>(&mut self, number: u32, _: &'static str, value: &Option<Box<N>>) {
        if let Some(value) = value {
            self.refer(number, |to| to.table(&**value));
        }
    }

    #[inline(always)]
    fn ext<E: Extension>(&mut self, number: u32, _: &'static str, value: &Option<Box<E>>) {
        if let Some(value) = value {
            self.refer(number, |to| to.extension(&**value));
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
            self.refer(number, |to| {
                to.all(values, |to, value| to.string(value.as_bytes()))
            });
        }
    }

    #[inline(always)]
    fn ints(&mut self, number: u32, _: &'static str, values: &[i32]) {
        if !values.is_empty() {
            self.refer(number, |to| to.ints(values));
        }
    }

    #[inline(always)]
    fn messages<N: Message>(&mut self, number: u32, _: &'static str, values: &[N]) {
        if !values.is_empty() {
            self.refer(number, |to| to.all(values, Builder::table));
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
        for (number, name, _) in M::FIELDS {
            self.slot = slot(*number);
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
        // Many tables may have the same text.
        let work = text.map_or(0, |text| text.len() * EXT_WORK);
        self.meter.spend(work).map_err(|r| self.refused(r))?;
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
