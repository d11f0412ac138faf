//! Whole messages in JSON.

use super::strict::{Quoted, Reader, Token};
use super::{ext, number};
use crate::limits::Meter;
use crate::message::{DecodeError, Entry, Extension, FieldSink, FieldSource, Message, check_count};
use crate::protobuf::value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write as _;

/// Appends a message, without white space.
pub(crate) fn encode<M: Message>(message: &M, out: &mut Vec<u8>) {
    object(message, out);
}

/// Appends a message and tells which of its fields are in it, the bit of a number each.
pub(super) fn object<M: Message>(message: &M, out: &mut Vec<u8>) -> u64 {
    Encoder::object(out, |encoder| message.write(encoder))
}

/// Writes the members of an object, a comma in front of each.
pub(super) struct Encoder<'b> {
    out: &'b mut Vec<u8>,
    written: u64,
}

impl<'b> Encoder<'b> {
    pub(super) fn new(out: &'b mut Vec<u8>) -> Encoder<'b> {
        Encoder { out, written: 0 }
    }

    /// Appends an object whose members `write` writes, and tells which fields they are.
    pub(super) fn object(out: &mut Vec<u8>, write: impl FnOnce(&mut Encoder<'_>)) -> u64 {
        let start = out.len();
        let mut encoder = Encoder::new(out);
        write(&mut encoder);
        let written = encoder.written;
        // The first comma is where the object opens.
        match out.get_mut(start) {
            Some(comma) => *comma = b'{',
            None => out.push(b'{'),
        }
        out.push(b'}');
        written
    }
}

impl Encoder<'_> {
    /// Members that are written already.
    pub(super) fn raw(&mut self, members: &[u8]) {
        self.out.extend_from_slice(members);
    }

    pub(super) fn text(&mut self, number: u32, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.member(number, name, |out| write_string(value, out));
        }
    }

    pub(super) fn optional<M: Message>(&mut self, number: u32, name: &str, value: Option<&M>) {
        if let Some(value) = value {
            self.nested(number, name, |to| value.write(to));
        }
    }

    pub(super) fn nested(&mut self, number: u32, name: &str, write: impl FnOnce(&mut Encoder<'_>)) {
        self.member(number, name, |out| {
            Encoder::object(out, write);
        });
    }

    pub(super) fn member(&mut self, number: u32, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        self.key(number, name);
        write(self.out);
    }

    fn key(&mut self, number: u32, name: &str) {
        self.written |= 1u64.checked_shl(number).unwrap_or(0);
        self.out.extend_from_slice(b",\"");
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    pub(super) fn list<T>(
        &mut self,
        number: u32,
        name: &str,
        values: impl ExactSizeIterator<Item = T>,
        each: impl Fn(T, &mut Vec<u8>),
    ) {
        if values.len() == 0 {
            return;
        }
        self.key(number, name);
        for (index, value) in values.enumerate() {
            self.out.push(if index == 0 { b'[' } else { b',' });
            each(value, self.out);
        }
        self.out.push(b']');
    }
}

impl FieldSink for Encoder<'_> {
    const ONE_KEY: bool = true;

    fn string(&mut self, number: u32, name: &'static str, value: &Option<String>) {
        self.text(number, name, value.as_deref());
    }

    fn int(&mut self, number: u32, name: &'static str, value: Option<i32>) {
        if let Some(value) = value {
            self.key(number, name);
            write_int(value.into(), self.out);
        }
    }

    fn bool(&mut self, number: u32, name: &'static str, value: Option<bool>) {
        if let Some(value) = value {
            self.key(number, name);
            self.out.push(if value { b'1' } else { b'0' });
        }
    }

    fn double(&mut self, number: u32, name: &'static str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.key(number, name);
            write_double(value, self.out);
        }
    }

    fn floor(&mut self, number: u32, name: &'static str, value: Option<f64>) {
        let Some(value) = value else { return };
        self.key(number, name);
        if value.is_finite() {
            write_double(value, self.out);
        } else {
            // JSON has no infinity, but it has numbers whose nearest double is infinite.
            let infinite: &[u8] = if value < 0.0 { b"-1e999" } else { b"1e999" };
            self.out.extend_from_slice(infinite);
        }
    }

    fn message<M: Message>(&mut self, number: u32, name: &'static str, value: &Option<Box<M>>) {
        self.optional(number, name, value.as_deref());
    }

    fn ext<E: Extension>(&mut self, number: u32, name: &'static str, value: &Option<Box<E>>) {
        if let Some(value) = value {
            self.key(number, name);
            ext::join(&**value, self.out);
        }
    }

    /// The object that the extension is part of holds it: [`ext::join`].
    fn rest(&mut self, _: u32, _: &'static str, _: &Option<String>) {}

    fn json(&mut self, number: u32, name: &'static str, value: &Option<String>) {
        let Some(value) = value else { return };
        let before = self.out.len();
        self.key(number, name);
        if !ext::append_compact(value, self.out) {
            self.out.truncate(before);
        }
    }

    fn strings(&mut self, number: u32, name: &'static str, values: &[String]) {
        self.list(number, name, values.iter(), |value, out| {
            write_string(value, out)
        });
    }

    fn ints(&mut self, number: u32, name: &'static str, values: &[i32]) {
        self.list(number, name, values.iter(), |value, out| {
            write_int((*value).into(), out)
        });
    }

    fn messages<M: Message>(&mut self, number: u32, name: &'static str, values: &[M]) {
        self.list(number, name, values.iter(), |value, out| {
            object(value, out);
        });
    }

    fn entries<E: Entry>(&mut self, number: u32, name: &'static str, values: &[E]) {
        if values.is_empty() {
            return;
        }
        self.key(number, name);
        let start = self.out.len();
        for (key, value) in values.iter().map(E::pair) {
            self.out.push(b',');
            write_string(key, self.out);
            self.out.push(b':');
            write_double(if value.is_finite() { value } else { 0.0 }, self.out);
        }
        if let Some(comma) = self.out.get_mut(start) {
            *comma = b'{';
        }
        self.out.push(b'}');
    }
}

pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    write_escaped(text, out);
    out.push(b'"');
}

/// A string without its quotes.
pub(super) fn write_escaped(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    while let Some(at) = first_escape(rest) {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(plain);
        if let [byte, tail @ ..] = tail {
            write_escape(*byte, out);
            rest = tail;
        }
    }
    out.extend_from_slice(rest);
}

/// Where the first byte stands that has to be escaped. Looks at 16 bytes at a time: most strings have
/// none.
fn first_escape(text: &[u8]) -> Option<usize> {
    let (chunks, _) = text.as_chunks::<16>();
    let any = |chunk: &[u8; 16]| {
        chunk
            .iter()
            .fold(false, |any, byte| any | must_escape(*byte))
    };
    let start = 16 * chunks.iter().take_while(|chunk| !any(chunk)).count();
    let rest = text.get(start..).unwrap_or_default();
    let at = rest.iter().position(|byte| must_escape(*byte))?;
    Some(start + at)
}

fn must_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    let short: &[u8] = match byte {
        b'"' => b"\\\"",
        b'\\' => b"\\\\",
        b'\n' => b"\\n",
        b'\r' => b"\\r",
        b'\t' => b"\\t",
        _ => {
            // A vector takes whatever is written.
            let _ = write!(out, "\\u{byte:04x}");
            return;
        }
    };
    out.extend_from_slice(short);
}

fn write_int(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    let mut digits = [0; 20];
    let mut rest = value.unsigned_abs();
    let mut len = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        len += 1;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(digits.len() - len..).unwrap_or_default());
}

/// The shortest decimal of a finite double.
pub(crate) fn write_double(value: f64, out: &mut Vec<u8>) {
    let size = value.abs();
    let micros = value * 1e6;
    if size < 1e15 && value == value.trunc() && !(value == 0.0 && value.is_sign_negative()) {
        write_int(value as i64, out);
    } else if size < 1e8 && micros.round() / 1e6 == value && value != 0.0 {
        // Six places at most, as nearly all have; fifteen digits name one double only.
        let micros = micros.round() as i64;
        if value < 0.0 {
            out.push(b'-');
        }
        write_micros(micros.unsigned_abs(), out);
    } else {
        // Both are the shortest decimal that reads back as the same double.
        let _ = match size == 0.0 || (1e-7..1e21).contains(&size) {
            true => write!(out, "{value}"),
            false => write!(out, "{value:e}"),
        };
    }
}

fn write_micros(micros: u64, out: &mut Vec<u8>) {
    write_int((micros / 1_000_000) as i64, out);
    out.push(b'.');
    let mut rest = micros % 1_000_000;
    while rest != 0 {
        out.push(b'0' + (rest / 100_000) as u8);
        rest = rest % 100_000 * 10;
    }
}

/// Reads a message. The first of a repeated key counts, and keys that the schema does not know are
/// passed over, but what they hold has to be well-formed too.
pub(crate) fn decode<M: Message>(bytes: &[u8], meter: &Meter) -> Result<M, DecodeError> {
    let reader = Reader::new(bytes, meter.limits().depth_max);
    let mut decoder = Decoder::at(reader, meter)?;
    if !matches!(decoder.token, Token::Object) {
        return Err(DecodeError::malformed("no JSON object", 0));
    }
    let mut message = M::default();
    decoder.fill(&mut message)?;
    decoder.reader.end()?;
    Ok(message)
}

/// Stands at a value, of which the first token has been read.
pub(super) struct Decoder<'a, 'm> {
    reader: Reader<'a>,
    token: Token<'a>,
    /// Where the value starts.
    start: Reader<'a>,
    /// Whether a string takes the value as it is written, whatever it is.
    verbatim: bool,
    meter: &'m Meter,
}

impl<'a, 'm> Decoder<'a, 'm> {
    /// A decoder of the value that the reader stands at.
    pub(super) fn at(reader: Reader<'a>, meter: &'m Meter) -> Result<Self, DecodeError> {
        let mut decoder = Decoder {
            reader,
            token: Token::Null,
            start: reader,
            verbatim: false,
            meter,
        };
        decoder.begin()?;
        Ok(decoder)
    }

    /// Begins the next value.
    fn begin(&mut self) -> Result<(), DecodeError> {
        self.start = self.reader;
        self.token = self.reader.token()?;
        Ok(())
    }

    fn spend(&self, bytes: usize) -> Result<(), DecodeError> {
        self.meter
            .spend(bytes)
            .map_err(|refusal| DecodeError::refused(refusal, self.reader.offset()))
    }

    /// Passes over what is left of the value.
    fn skip(&mut self) -> Result<(), DecodeError> {
        self.reader.skip(self.token)
    }

    /// The value as it is written.
    fn raw(&mut self) -> Result<&'a [u8], DecodeError> {
        self.skip()?;
        let raw = self.reader.since(self.start.offset());
        self.spend(raw.len())?;
        Ok(raw)
    }

    /// Fills a message from the members of the object that was just opened.
    fn fill<M: Message>(&mut self, message: &mut M) -> Result<(), DecodeError> {
        let (mut seen, mut first) = (0u128, true);
        while let Some(key) = self.reader.member(&mut first)? {
            self.spend(key.spelled.len())?;
            self.begin()?;
            let number = M::number(&key.bytes()).filter(|number| seen >> number & 1 == 0);
            match number {
                Some(number) => {
                    seen |= 1 << number;
                    self.fill_field(message, number)?;
                }
                None => self.skip()?,
            }
        }
        Ok(())
    }

    /// Fills a field from the value.
    pub(super) fn fill_field<M: Message>(
        &mut self,
        message: &mut M,
        number: u32,
    ) -> Result<(), DecodeError> {
        let number = self.text_or_object::<M>(number)?;
        let read = message.read(number, self);
        self.verbatim = false;
        read.map(drop)
            .map_err(|error| error.in_field(M::name(number)))
    }

    /// Where JSON has one key for a text and an object: the field that the value belongs to. An object
    /// that the schema would not give back as it is becomes its own text.
    fn text_or_object<M: Message>(&mut self, number: u32) -> Result<u32, DecodeError> {
        let object = M::object(number);
        if object == number || !matches!(self.token, Token::Object) {
            return Ok(number);
        }
        if ext::is_faithful::<M>(object, self.start, self.meter)? {
            return Ok(object);
        }
        self.verbatim = true;
        Ok(number)
    }

    /// A string, or a number as it is written; `None` where it is unknown.
    fn take_text(&mut self) -> Result<Option<String>, DecodeError> {
        if self.verbatim {
            let raw = core::str::from_utf8(self.raw()?);
            return Ok(raw.ok().map(str::to_owned));
        }
        let text = match self.token {
            Token::String(quoted) => {
                self.spend(quoted.spelled.len())?;
                quoted.text().map(Cow::into_owned)
            }
            Token::Number(number) => Some(number.to_owned()),
            _ => {
                self.skip()?;
                None
            }
        };
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// A number, or a string that is one, as spelled.
    fn take_number(&mut self) -> Result<Option<Cow<'a, str>>, DecodeError> {
        match self.token {
            Token::Number(number) => Ok(Some(Cow::Borrowed(number))),
            Token::String(quoted) => {
                let text = quoted.text();
                Ok(text.filter(|text| number::whole(text).is_some()))
            }
            _ => {
                self.skip()?;
                Ok(None)
            }
        }
    }

    fn take_int(&mut self) -> Result<Option<i32>, DecodeError> {
        Ok(self.take_number()?.and_then(|number| number::int(&number)))
    }

    fn take_double(&mut self) -> Result<Option<f64>, DecodeError> {
        Ok(self.take_number()?.map(|number| number::double(&number)))
    }

    /// Calls `each` at every element of a list; what is no list is passed over.
    fn elements(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        if !matches!(self.token, Token::Array) {
            return self.skip();
        }
        let (mut first, mut index) = (true, 0);
        while self.reader.element(&mut first)? {
            self.spend(0)?;
            self.begin()?;
            each(self).map_err(|error| error.in_entry(index))?;
            index += 1;
        }
        Ok(())
    }
}

impl FieldSource for Decoder<'_, '_> {
    type Error = DecodeError;

    fn string(&mut self, into: &mut Option<String>) -> Result<(), DecodeError> {
        *into = self.take_text()?;
        Ok(())
    }

    fn int(&mut self, into: &mut Option<i32>) -> Result<(), DecodeError> {
        *into = self.take_int()?;
        Ok(())
    }

    fn bool(&mut self, into: &mut Option<bool>) -> Result<(), DecodeError> {
        *into = match self.token {
            Token::Bool(value) => Some(value),
            _ => match self.take_int()? {
                Some(0) => Some(false),
                Some(1) => Some(true),
                _ => None,
            },
        };
        Ok(())
    }

    fn double(&mut self, into: &mut Option<f64>) -> Result<(), DecodeError> {
        *into = self.take_double()?.filter(|value| value.is_finite());
        Ok(())
    }

    fn floor(&mut self, into: &mut Option<f64>) -> Result<(), DecodeError> {
        *into = self.take_double()?;
        Ok(())
    }

    fn message<M: Message>(&mut self, into: &mut Option<Box<M>>) -> Result<(), DecodeError> {
        if !matches!(self.token, Token::Object) {
            return self.skip();
        }
        self.spend(size_of::<M>())?;
        self.fill(&mut **into.insert(Box::default()))
    }

    fn ext<E: Extension>(&mut self, into: &mut Option<Box<E>>) -> Result<(), DecodeError> {
        let raw = core::str::from_utf8(self.raw()?);
        *into = raw.ok().map(|raw| Box::new(ext::split(raw, self.meter)));
        Ok(())
    }

    /// No key of a JSON object: [`ext::split`] sets it.
    fn rest(&mut self, _: &mut Option<String>) -> Result<(), DecodeError> {
        self.skip()
    }

    fn json(&mut self, into: &mut Option<String>) -> Result<(), DecodeError> {
        let known = !matches!(self.token, Token::Null);
        let raw = core::str::from_utf8(self.raw()?).ok();
        *into = raw
            .filter(|raw| known && value::fits(raw))
            .map(str::to_owned);
        Ok(())
    }

    fn strings(&mut self, into: &mut Vec<String>) -> Result<(), DecodeError> {
        self.elements(|decoder| {
            into.extend(decoder.take_text()?);
            Ok(())
        })
    }

    fn ints(&mut self, into: &mut Vec<i32>) -> Result<(), DecodeError> {
        self.elements(|decoder| {
            into.extend(decoder.take_int()?);
            Ok(())
        })
    }

    fn messages<M: Message>(&mut self, into: &mut Vec<M>) -> Result<(), DecodeError> {
        self.elements(|decoder| {
            if !matches!(decoder.token, Token::Object) {
                return decoder.skip();
            }
            decoder.spend(size_of::<M>())?;
            check_count::<M>(into.len() + 1, decoder.meter)
                .map_err(|refusal| DecodeError::refused(refusal, decoder.reader.offset()))?;
            let mut message = M::default();
            decoder.fill(&mut message)?;
            into.push(message);
            Ok(())
        })
    }

    fn entries<E: Entry>(&mut self, into: &mut Vec<E>) -> Result<(), DecodeError> {
        if !matches!(self.token, Token::Object) {
            return self.skip();
        }
        let (mut seen, mut first) = (HashSet::new(), true);
        while let Some(key) = self.reader.member(&mut first)? {
            self.spend(size_of::<E>())?;
            self.begin()?;
            let value = self.take_double()?.filter(|value| value.is_finite());
            let key = Quoted::text(key).map(Cow::into_owned);
            let Some(key) = key.filter(|key| !key.is_empty() && seen.insert(key.clone())) else {
                continue;
            };
            into.extend(value.map(|value| E::new(key, value)));
        }
        Ok(())
    }
}
