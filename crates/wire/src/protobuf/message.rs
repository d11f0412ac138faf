//! Whole messages in protobuf.

use super::cursor::{FIXED64, Fields, LEN, VARINT, int32, tag};
use super::value;
use crate::limits::Meter;
use crate::message::reverse::Reverse;
use crate::message::{DecodeError, Entry, Extension, FieldSink, FieldSource, Message, check_count};
use openrtb::Refusal;

/// Writes a message in front of what has been written.
pub(crate) fn encode<'b, M: Message>(message: &M, out: Reverse<'b>) -> Reverse<'b> {
    let mut encoder = Encoder(out);
    message.write_rev(&mut encoder);
    encoder.0
}

/// Writes fields, each in front of those behind it.
pub(super) struct Encoder<'b>(Reverse<'b>);

impl<'b> Encoder<'b> {
    pub(super) fn new(out: Reverse<'b>) -> Encoder<'b> {
        Encoder(out)
    }

    pub(super) fn finish(self) -> Reverse<'b> {
        self.0
    }
}

impl Encoder<'_> {
    /// Fields that are encoded already.
    #[inline(always)]
    pub(super) fn raw(&mut self, fields: &[u8]) {
        if let Some(room) = self.0.claim(fields.len()) {
            room.copy_from_slice(fields);
        }
    }

    pub(super) fn text(&mut self, number: u32, value: Option<&str>) {
        if let Some(value) = value {
            self.bytes(number, value.as_bytes());
        }
    }

    pub(super) fn optional<M: Message>(&mut self, number: u32, value: Option<&M>) {
        if let Some(value) = value {
            self.part(number, value);
        }
    }

    /// A sub-message that `write` writes.
    #[inline(always)]
    pub(super) fn nested(&mut self, number: u32, write: impl FnOnce(&mut Self)) {
        let before = self.0.len();
        write(self);
        self.varint(number, LEN, (self.0.len() - before) as u64);
    }

    /// A varint, in front of it the tag of its field. Neither this nor the next two are part of their
    /// callers, which would be too long for the processor to keep.
    #[inline(never)]
    fn varint(&mut self, number: u32, layout: u32, value: u64) {
        let tag = tag(number, layout);
        let [low, high] = two_bytes(tag.into());
        let [first, second] = two_bytes(value);
        match (tag, value) {
            (0..0x80, 0..0x80) => self.0.put([tag as u8, value as u8]),
            (0..0x80, 0x80..0x4000) => self.0.put([tag as u8, first, second]),
            (0x80..0x4000, 0..0x80) => self.0.put([low, high, value as u8]),
            (0x80..0x4000, 0x80..0x4000) => self.0.put([low, high, first, second]),
            _ => self.long_varint(tag, value),
        }
    }

    #[inline(never)]
    fn long_varint(&mut self, tag: u32, value: u64) {
        self.bare_varint(value);
        self.bare_varint(tag.into());
    }

    #[inline(always)]
    fn bare_varint(&mut self, value: u64) {
        match value {
            0..0x80 => self.0.put([value as u8]),
            0x80..0x4000 => self.0.put(two_bytes(value)),
            _ => self.longest_varint(value),
        }
    }

    #[inline(never)]
    fn longest_varint(&mut self, value: u64) {
        let len = (70 - (value | 1).leading_zeros() as usize) / 7;
        let Some(room) = self.0.claim(len) else {
            return;
        };
        let mut rest = value;
        for byte in room.iter_mut() {
            *byte = rest as u8 | 0x80;
            rest >>= 7;
        }
        if let Some(last) = room.last_mut() {
            *last &= 0x7F;
        }
    }

    #[inline(never)]
    fn bytes(&mut self, number: u32, bytes: &[u8]) {
        let (tag, len) = (tag(number, LEN), bytes.len());
        let [low, high] = two_bytes(tag.into());
        match (tag, len) {
            (0..0x80, 0..0x80) => self.0.put_headed([tag as u8, len as u8], bytes),
            (0x80..0x4000, 0..0x80) => self.0.put_headed([low, high, len as u8], bytes),
            _ => {
                self.raw(bytes);
                self.long_varint(tag, len as u64);
            }
        }
    }

    #[inline(never)]
    fn part<M: Message>(&mut self, number: u32, part: &M) {
        self.nested(number, |encoder| part.write_rev(encoder));
    }
}

/// A varint that takes two bytes.
#[inline(always)]
fn two_bytes(value: u64) -> [u8; 2] {
    [value as u8 | 0x80, (value >> 7) as u8]
}

impl FieldSink for Encoder<'_> {
    #[inline(always)]
    fn string(&mut self, number: u32, _: &'static str, value: &Option<String>) {
        if let Some(value) = value {
            self.bytes(number, value.as_bytes());
        }
    }

    #[inline(always)]
    fn int(&mut self, number: u32, _: &'static str, value: Option<i32>) {
        if let Some(value) = value {
            self.varint(number, VARINT, i64::from(value) as u64);
        }
    }

    #[inline(always)]
    fn bool(&mut self, number: u32, _: &'static str, value: Option<bool>) {
        if let Some(value) = value {
            self.varint(number, VARINT, value.into());
        }
    }

    #[inline(always)]
    fn double(&mut self, number: u32, _: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.0.put(value.to_le_bytes());
            self.bare_varint(tag(number, FIXED64).into());
        }
    }

    #[inline(always)]
    fn floor(&mut self, number: u32, name: &'static str, value: Option<f64>) {
        self.double(number, name, value);
    }

    #[inline(always)]
    fn message<M: Message>(&mut self, number: u32, _: &'static str, value: &Option<Box<M>>) {
        if let Some(value) = value {
            self.part(number, &**value);
        }
    }

    #[inline(always)]
    fn ext<E: Extension>(&mut self, number: u32, name: &'static str, value: &Option<Box<E>>) {
        self.message(number, name, value);
    }

    #[inline(always)]
    fn rest(&mut self, number: u32, name: &'static str, value: &Option<String>) {
        self.string(number, name, value);
    }

    fn json(&mut self, number: u32, _: &'static str, value: &Option<String>) {
        if let Some(value) = value.as_deref().and_then(value::from_json) {
            self.bytes(number, &value);
        }
    }

    #[inline(always)]
    fn strings(&mut self, number: u32, _: &'static str, values: &[String]) {
        for value in values.iter().rev() {
            self.bytes(number, value.as_bytes());
        }
    }

    #[inline(always)]
    fn ints(&mut self, number: u32, _: &'static str, values: &[i32]) {
        if values.is_empty() {
            return;
        }
        let before = self.0.len();
        for value in values.iter().rev() {
            self.bare_varint(i64::from(*value) as u64);
        }
        self.varint(number, LEN, (self.0.len() - before) as u64);
    }

    #[inline(always)]
    fn messages<M: Message>(&mut self, number: u32, _: &'static str, values: &[M]) {
        for value in values.iter().rev() {
            self.part(number, value);
        }
    }

    #[inline(always)]
    fn entries<E: Entry>(&mut self, number: u32, name: &'static str, values: &[E]) {
        self.messages(number, name, values);
    }
}

/// Reads a message, in any order of fields: a scalar that repeats counts as last written, the parts
/// of a sub-message merge, and fields that the schema does not know are passed over.
pub(crate) fn decode<M: Message>(bytes: &[u8], meter: &Meter) -> Result<M, DecodeError> {
    let mut message = M::default();
    let fields = Fields::new(bytes);
    let tag = 0;
    Decoder { fields, tag, meter }.fill(&mut message)?;
    Ok(message)
}

struct Decoder<'a, 'm> {
    /// The message at hand, behind the tag of the field at hand.
    fields: Fields<'a>,
    tag: u32,
    meter: &'m Meter,
}

impl<'a> Decoder<'a, '_> {
    #[cold]
    fn refused(&self, refusal: Refusal) -> DecodeError {
        DecodeError::refused(refusal, self.fields.at() as usize)
    }

    /// Fills a message from the fields that are left.
    fn fill<M: Message>(&mut self, message: &mut M) -> Result<(), DecodeError> {
        while let Some(tag) = self.fields.tag().map_err(|r| self.refused(r))? {
            self.spend(0)?;
            self.tag = tag;
            let known = message
                .read(tag >> 3, self)
                .map_err(|error| error.in_field(M::name(tag >> 3)))?;
            if !known {
                self.skip()?;
            }
        }
        Ok(())
    }

    fn spend(&self, bytes: usize) -> Result<(), DecodeError> {
        self.meter.spend(bytes).map_err(|r| self.refused(r))
    }

    fn skip(&mut self) -> Result<(), DecodeError> {
        let tag = self.tag;
        self.fields.skip(tag).map_err(|r| self.refused(r))
    }

    /// Whether the value is laid out like this. A field that is not is another field, and passed over.
    fn is(&mut self, layout: u32) -> Result<bool, DecodeError> {
        if self.tag & 7 == layout {
            return Ok(true);
        }
        self.skip().map(|()| false)
    }

    fn varint(&mut self) -> Result<u64, DecodeError> {
        self.fields.varint().map_err(|r| self.refused(r))
    }

    fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let bytes = self.fields.bytes().map_err(|r| self.refused(r))?;
        self.spend(bytes.len())?;
        Ok(bytes)
    }

    /// A string; `None` where it is empty or no UTF-8.
    fn text(&mut self) -> Result<Option<String>, DecodeError> {
        let text = core::str::from_utf8(self.bytes()?);
        Ok(text.ok().filter(|text| !text.is_empty()).map(str::to_owned))
    }

    /// Fills `part` from the sub-message at hand.
    fn part<M: Message>(&mut self, part: &mut M) -> Result<(), DecodeError> {
        let fields = self.fields.message().map_err(|r| self.refused(r))?;
        let (meter, tag) = (self.meter, 0);
        Decoder { fields, tag, meter }.fill(part)
    }
}

impl FieldSource for Decoder<'_, '_> {
    type Error = DecodeError;

    fn string(&mut self, into: &mut Option<String>) -> Result<(), DecodeError> {
        if self.is(LEN)? {
            *into = self.text()?;
        }
        Ok(())
    }

    fn int(&mut self, into: &mut Option<i32>) -> Result<(), DecodeError> {
        if self.is(VARINT)? {
            *into = int32(self.varint()?);
        }
        Ok(())
    }

    fn bool(&mut self, into: &mut Option<bool>) -> Result<(), DecodeError> {
        if self.is(VARINT)? {
            *into = Some(self.varint()? != 0);
        }
        Ok(())
    }

    fn double(&mut self, into: &mut Option<f64>) -> Result<(), DecodeError> {
        self.floor(into)?;
        *into = into.filter(|value| value.is_finite());
        Ok(())
    }

    fn floor(&mut self, into: &mut Option<f64>) -> Result<(), DecodeError> {
        if self.is(FIXED64)? {
            *into = Some(self.fields.f64().map_err(|r| self.refused(r))?);
        }
        Ok(())
    }

    fn message<M: Message>(&mut self, into: &mut Option<Box<M>>) -> Result<(), DecodeError> {
        if self.is(LEN)? {
            self.spend(size_of::<M>())?;
            self.part(&mut **into.get_or_insert_default())?;
        }
        Ok(())
    }

    fn ext<E: Extension>(&mut self, into: &mut Option<Box<E>>) -> Result<(), DecodeError> {
        self.message(into)
    }

    fn rest(&mut self, into: &mut Option<String>) -> Result<(), DecodeError> {
        self.string(into)
    }

    fn json(&mut self, into: &mut Option<String>) -> Result<(), DecodeError> {
        if self.is(LEN)? {
            *into = value::to_json(self.bytes()?);
        }
        Ok(())
    }

    fn strings(&mut self, into: &mut Vec<String>) -> Result<(), DecodeError> {
        if self.is(LEN)? {
            into.extend(self.text()?);
        }
        Ok(())
    }

    fn ints(&mut self, into: &mut Vec<i32>) -> Result<(), DecodeError> {
        if self.tag & 7 == VARINT {
            into.extend(int32(self.varint()?));
        } else if self.is(LEN)? {
            let mut packed = self.fields.message().map_err(|r| self.refused(r))?;
            while !packed.is_done() {
                self.spend(0)?;
                into.extend(int32(packed.varint().map_err(|r| self.refused(r))?));
            }
        }
        Ok(())
    }

    fn messages<M: Message>(&mut self, into: &mut Vec<M>) -> Result<(), DecodeError> {
        if self.is(LEN)? {
            self.spend(size_of::<M>())?;
            let index = into.len();
            check_count::<M>(index + 1, self.meter).map_err(|r| self.refused(r))?;
            let mut entry = M::default();
            self.part(&mut entry)
                .map_err(|error| error.in_entry(index))?;
            into.push(entry);
        }
        Ok(())
    }

    fn entries<E: Entry>(&mut self, into: &mut Vec<E>) -> Result<(), DecodeError> {
        self.messages(into)
    }
}
