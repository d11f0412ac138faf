//! The extensions of a message, between one JSON object and typed fields with a rest.
//!
//! A key has one home. It goes to its typed field exactly when the field gives it back as the same
//! JSON value; everything else stays in the rest, as it is spelled. An `ext` that is no object, or
//! that repeats a key, goes there whole. On the way back typed fields win. So nothing that an
//! exchange puts into an `ext` is lost or changed in value, whichever formats it passes through.

use super::message::{Decoder, object};
use super::strict::{Reader, Token};
use crate::limits::Meter;
use crate::message::{DecodeError, Extension, Message};
use std::borrow::Cow;
use std::collections::HashSet;

/// The deepest nesting of a value that is compared, in levels. A deeper one stays in the rest.
const COMPARED_LEVELS_MAX: u32 = 64;

/// Takes the text of an `ext` apart. A text that is no JSON is all rest.
pub(crate) fn split<E: Extension>(text: &str, meter: &Meter) -> E {
    let mut ext = E::default();
    if E::FIELDS.len() == 1 {
        // Nothing but the rest: no need to look closer.
        if !is_empty_object(text) {
            ext.set_rest(text.to_owned());
        }
        return ext;
    }
    let Some(members) = members(text, meter.limits().depth_max) else {
        ext.set_rest(text.to_owned());
        return ext;
    };
    let mut rest = String::new();
    let mut taken = members.is_empty();
    for member in &members {
        if take(&mut ext, member, meter) {
            taken = true;
            continue;
        }
        rest.push(if rest.is_empty() { '{' } else { ',' });
        rest.push_str(member.text);
    }
    if !taken {
        ext.set_rest(text.to_owned());
    } else if !rest.is_empty() {
        rest.push('}');
        ext.set_rest(rest);
    }
    ext
}

struct Member<'a> {
    key: Cow<'a, [u8]>,
    /// Key and value as written.
    text: &'a str,
    /// Stands at the value.
    value: Reader<'a>,
}

/// The members of a text that is an object and repeats no key.
fn members(text: &str, depth_max: u32) -> Option<Vec<Member<'_>>> {
    let mut reader = Reader::new(text.as_bytes(), depth_max);
    let Ok(Token::Object) = reader.token() else {
        return None;
    };
    let (mut members, mut keys, mut first) = (Vec::new(), HashSet::new(), true);
    while let Some(key) = reader.member(&mut first).ok()? {
        let value = reader;
        let token = reader.token().ok()?;
        reader.skip(token).ok()?;
        members.push(Member {
            key: key.bytes(),
            text: text.get(key.at..reader.offset())?,
            value,
        });
        if !keys.insert(key.bytes()) {
            return None;
        }
    }
    reader.end().ok()?;
    Some(members)
}

/// Moves a member to its typed field, if the field gives it back as it is.
fn take<E: Extension>(ext: &mut E, member: &Member<'_>, meter: &Meter) -> bool {
    let Some(number) = E::number(&member.key) else {
        return false;
    };
    let faithful = is_faithful::<E>(number, member.value, meter).unwrap_or(false);
    faithful && read(ext, number, member.value, meter).is_ok()
}

fn read<M: Message>(
    message: &mut M,
    number: u32,
    value: Reader<'_>,
    meter: &Meter,
) -> Result<(), DecodeError> {
    let mut decoder = Decoder::at(value, meter)?;
    message.read(number, &mut decoder).map(drop)
}

fn is_empty_object(text: &str) -> bool {
    let inside = text
        .trim_ascii()
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    inside.is_some_and(|inside| inside.trim_ascii().is_empty())
}

/// Whether the field gives the value back as it is. An error only where the value is malformed.
pub(super) fn is_faithful<M: Message>(
    number: u32,
    value: Reader<'_>,
    meter: &Meter,
) -> Result<bool, DecodeError> {
    let mut end = value;
    let token = end.token()?;
    end.skip(token)?;
    let mut message = M::default();
    if read(&mut message, number, value, meter).is_err() {
        return Ok(false);
    }
    let mut text = Vec::new();
    object(&message, &mut text);
    // The object has this one member, or none; its key has neither quotes nor colons in it.
    let written = text.strip_suffix(b"}").unwrap_or_default();
    let colon = written.iter().position(|byte| *byte == b':');
    let written = colon.and_then(|colon| written.get(colon + 1..));
    Ok(written.is_some_and(|written| is_same(written, end.since(value.offset()))))
}

/// Whether two JSON texts are the same value: members in any order, strings as they read, numbers as
/// they are spelled.
pub(crate) fn is_same(a: &[u8], b: &[u8]) -> bool {
    a == b || canonical(a).is_some_and(|a| canonical(b) == Some(a))
}

/// A text that is the same for all spellings of a value; `None` where it is nested too deeply.
fn canonical(text: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(text, COMPARED_LEVELS_MAX);
    let mut out = Vec::new();
    append_canonical(&mut reader, &mut out)?;
    Some(out)
}

/// Recurses once a level: [`COMPARED_LEVELS_MAX`] bounds it.
fn append_canonical(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Option<()> {
    let mut first = true;
    match reader.token().ok()? {
        Token::Array => {
            out.push(b'[');
            while reader.element(&mut first).ok()? {
                append_canonical(reader, out)?;
                out.push(b',');
            }
            out.push(b']');
        }
        Token::Object => {
            let mut members = Vec::new();
            while let Some(key) = reader.member(&mut first).ok()? {
                let mut value = Vec::new();
                append_canonical(reader, &mut value)?;
                members.push((key.bytes(), value));
            }
            // Stable: a key that repeats keeps its order.
            members.sort_by(|a, b| a.0.cmp(&b.0));
            out.push(b'{');
            for (key, value) in members {
                append_counted(&key, out);
                out.extend(value);
            }
            out.push(b'}');
        }
        Token::String(text) => append_counted(&text.bytes(), out),
        token => reader
            .emit(token, &mut |part| out.extend_from_slice(part))
            .ok()?,
    }
    Some(())
}

/// A string that nothing in it can end.
fn append_counted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend(text.len().to_le_bytes());
    out.extend_from_slice(text);
}

/// Appends extensions as one JSON object, or as what they are where they were none. A rest that is no
/// JSON, which only a binary format can carry, is left out.
pub(crate) fn join<E: Extension>(ext: &E, out: &mut Vec<u8>) {
    let start = out.len();
    let written = object(ext, out);
    let Some(rest) = ext.rest() else { return };
    if written == 0 {
        out.truncate(start);
        if !append_compact(rest, out) {
            out.extend_from_slice(b"{}");
        }
    } else {
        out.pop();
        let end = out.len();
        if append_members::<E>(rest, written, out).is_none() {
            out.truncate(end);
        }
        out.push(b'}');
    }
}

/// The text of extensions as [`join`] writes it, but taking the rest for the JSON that it should be:
/// written to `out`, or, where it is the rest alone, given back.
pub(crate) fn join_trusting<'e, E: Extension>(ext: &'e E, out: &mut Vec<u8>) -> Option<&'e str> {
    let start = out.len();
    let written = object(ext, out);
    let rest = ext.rest()?;
    if written == 0 {
        out.truncate(start);
        return Some(rest);
    }
    if may_splice::<E>(rest, written) {
        if let Some(close) = out.last_mut() {
            *close = b',';
        }
        out.extend_from_slice(rest.as_bytes().get(1..).unwrap_or_default());
    } else {
        out.truncate(start);
        join(ext, out);
    }
    None
}

/// Whether the members of `rest` can follow the typed ones as they are: it is an object, and no key of
/// theirs is in it, in any spelling.
fn may_splice<E: Extension>(rest: &str, written: u64) -> bool {
    let is_object = rest.starts_with('{') && rest.ends_with('}') && !is_empty_object(rest);
    let names = E::FIELDS
        .iter()
        .filter(|(number, ..)| is_written(*number, written));
    is_object && !rest.contains('\\') && !names.into_iter().any(|(_, name, _)| rest.contains(name))
}

fn is_written(number: u32, written: u64) -> bool {
    1u64.checked_shl(number)
        .is_some_and(|bit| written & bit != 0)
}

/// Appends the members of `rest` that no typed field has written.
fn append_members<E: Extension>(rest: &str, written: u64, out: &mut Vec<u8>) -> Option<()> {
    let mut reader = Reader::new(rest.as_bytes(), u32::MAX);
    let Token::Object = reader.token().ok()? else {
        return None;
    };
    let mut first = true;
    while let Some(key) = reader.member(&mut first).ok()? {
        let token = reader.token().ok()?;
        if E::number(&key.bytes()).is_some_and(|number| is_written(number, written)) {
            reader.skip(token).ok()?;
            continue;
        }
        for part in [b",\"", key.spelled, b"\":"] {
            out.extend_from_slice(part);
        }
        reader
            .emit(token, &mut |part| out.extend_from_slice(part))
            .ok()?;
    }
    reader.end().ok()
}

/// Appends a JSON text without white space; `false`, and nothing, where it is none.
pub(super) fn append_compact(text: &str, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut reader = Reader::new(text.as_bytes(), u32::MAX);
    let mut emit = || {
        let token = reader.token()?;
        reader.emit(token, &mut |part| out.extend_from_slice(part))?;
        reader.end()
    };
    let done = emit().is_ok();
    if !done {
        out.truncate(start);
    }
    done
}
