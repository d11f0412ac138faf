//! `google.protobuf.Value`: any JSON value, as a message. OpenRTB's protobuf has two fields of it;
//! in the other formats, and in memory, they are JSON text.

use super::cursor::{FIXED64, Fields, LEN, VARINT, tag};
use crate::json::ext::is_same;
use crate::json::number;
use crate::json::strict::{Reader, Token};
use openrtb::Read;
use std::collections::HashSet;

/// The deepest nesting that is carried, in levels.
const LEVELS_MAX: u32 = 32;

const NULL: u32 = tag(1, VARINT);
const NUMBER: u32 = tag(2, FIXED64);
const STRING: u32 = tag(3, LEN);
const BOOL: u32 = tag(4, VARINT);
const STRUCT: u32 = tag(5, LEN);
const LIST: u32 = tag(6, LEN);
/// `Struct.fields` and `ListValue.values`.
const ENTRY: u32 = tag(1, LEN);
/// An entry of `Struct.fields`.
const ENTRY_KEY: u32 = tag(1, LEN);
const ENTRY_VALUE: u32 = tag(2, LEN);

/// Whether a JSON text comes back from protobuf as the same value: its numbers are shortest decimals
/// of doubles, its strings Unicode, and no key repeats.
pub(crate) fn fits(text: &str) -> bool {
    let back = from_json(text).and_then(|value| to_json(&value));
    back.is_some_and(|back| is_same(back.as_bytes(), text.as_bytes()))
}

/// A `Value` from JSON text; `None` where it is none, or cannot be carried.
pub(crate) fn from_json(text: &str) -> Option<Vec<u8>> {
    let mut reader = Reader::new(text.as_bytes(), LEVELS_MAX);
    let mut out = Vec::new();
    append_value(&mut reader, &mut out)?;
    reader.end().ok()?;
    Some(out)
}

/// Recurses once a level: [`LEVELS_MAX`] bounds it.
fn append_value(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Option<()> {
    let mut first = true;
    match reader.token().ok()? {
        Token::Null => out.extend([NULL as u8, 0]),
        Token::Bool(value) => out.extend([BOOL as u8, value.into()]),
        Token::Number(number) => {
            out.push(NUMBER as u8);
            out.extend(number::double(number).to_le_bytes());
        }
        Token::String(text) => append_part(STRING, text.text()?.as_bytes(), out),
        Token::Array => {
            let mut list = Vec::new();
            while reader.element(&mut first).ok()? {
                let mut value = Vec::new();
                append_value(reader, &mut value)?;
                append_part(ENTRY, &value, &mut list);
            }
            append_part(LIST, &list, out);
        }
        Token::Object => {
            let (mut members, mut keys) = (Vec::new(), HashSet::new());
            while let Some(key) = reader.member(&mut first).ok()? {
                let (mut entry, mut value) = (Vec::new(), Vec::new());
                append_value(reader, &mut value)?;
                let key = key.text()?;
                append_part(ENTRY_KEY, key.as_bytes(), &mut entry);
                append_part(ENTRY_VALUE, &value, &mut entry);
                append_part(ENTRY, &entry, &mut members);
                // Protobuf keeps one value a key.
                if !keys.insert(key) {
                    return None;
                }
            }
            append_part(STRUCT, &members, out);
        }
    }
    Some(())
}

fn append_part(tag: u32, part: &[u8], out: &mut Vec<u8>) {
    out.push(tag as u8);
    let mut len = part.len();
    while len >= 0x80 {
        out.push(len as u8 | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
    out.extend_from_slice(part);
}

/// The JSON text of a `Value`; `None` where it is malformed, or something JSON does not have.
pub(crate) fn to_json(value: &[u8]) -> Option<String> {
    let mut out = Vec::new();
    append_json(Fields::new(value), LEVELS_MAX, &mut out).ok()??;
    String::from_utf8(out).ok()
}

/// Recurses once a level: `levels` bounds it.
fn append_json(mut fields: Fields<'_>, levels: u32, out: &mut Vec<u8>) -> Read<Option<()>> {
    let start = out.len();
    let mut known = None;
    // Members of a oneof: the last counts.
    while let Some(tag) = fields.tag()? {
        let before = out.len();
        let value = match tag {
            NULL => fields.varint().map(|_| append(b"null", out))?,
            BOOL => {
                let value = fields.varint()? != 0;
                append(if value { b"true" } else { b"false" }, out)
            }
            NUMBER => append_number(fields.f64()?, out),
            STRING => append_string(fields.bytes()?, out),
            STRUCT => append_entries(fields.message()?, true, levels, out)?,
            LIST => append_entries(fields.message()?, false, levels, out)?,
            _ => {
                fields.skip(tag)?;
                continue;
            }
        };
        out.drain(start..before);
        known = value;
    }
    Ok(known)
}

fn append(literal: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(literal);
    Some(())
}

fn append_number(value: f64, out: &mut Vec<u8>) -> Option<()> {
    value
        .is_finite()
        .then(|| crate::json::message::write_double(value, out))
}

fn append_string(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let text = core::str::from_utf8(text).ok()?;
    crate::json::message::write_string(text, out);
    Some(())
}

/// The entries of a `Struct` or a `ListValue`.
fn append_entries(
    mut fields: Fields<'_>,
    in_struct: bool,
    levels: u32,
    out: &mut Vec<u8>,
) -> Read<Option<()>> {
    let (open, close) = if in_struct {
        (b'{', b'}')
    } else {
        (b'[', b']')
    };
    let mut known = levels.checked_sub(1);
    out.push(open);
    let start = out.len();
    while let Some(tag) = fields.tag()? {
        if tag != ENTRY {
            fields.skip(tag)?;
            continue;
        }
        let entry = fields.message()?;
        let Some(levels) = known else { continue };
        if out.len() > start {
            out.push(b',');
        }
        let value = match in_struct {
            true => append_member(entry, levels, out)?,
            false => append_json(entry, levels, out)?,
        };
        known = value.map(|()| levels);
    }
    out.push(close);
    Ok(known.map(drop))
}

fn append_member(mut fields: Fields<'_>, levels: u32, out: &mut Vec<u8>) -> Read<Option<()>> {
    let (mut key, mut value): (&[u8], _) = (b"", None);
    while let Some(tag) = fields.tag()? {
        match tag {
            ENTRY_KEY => key = fields.bytes()?,
            ENTRY_VALUE => value = Some(fields.message()?),
            _ => fields.skip(tag)?,
        }
    }
    let (Some(value), Some(())) = (value, append_string(key, out)) else {
        return Ok(None);
    };
    out.push(b':');
    append_json(value, levels, out)
}
