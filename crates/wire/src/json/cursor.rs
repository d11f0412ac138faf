//! Moves over a JSON text and cannot leave it.
//!
//! A place in the text is a number. A value is looked at where it starts ([`Cursor::value`]), and
//! what is looked at is checked against the grammar of RFC 8259 to its last byte. Arrays are walked
//! element by element ([`Elements`]), objects by their keys ([`super::keys`]); both check what
//! stands between values, and pass over values without looking into them ([`super::scan`]).
//! Nothing recurses.

use openrtb::{Limit, Read, Refusal};

use super::{number, scan};
use crate::record::look;

/// A text, and how many levels it may be nested below what is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    deeper_max: u32,
}

/// A value, as far as it is known without decoding it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    /// The number as written, known to be one.
    Number(&'a str),
    /// What stands between the quotes, neither decoded nor checked, and whether it is known to
    /// have no escapes and no control characters.
    String(&'a [u8], bool),
    /// Where the object starts.
    Object(usize),
    /// Where the array starts.
    Array(usize),
}

impl<'a> Cursor<'a> {
    /// A cursor over `text`, in which at most `depth_max` brackets may be open at a time.
    pub(crate) fn new(text: &'a [u8], depth_max: u32) -> Cursor<'a> {
        Cursor {
            text,
            deeper_max: depth_max,
        }
    }

    /// The cursor for what is inside `levels` more brackets.
    #[inline]
    pub(crate) fn inside(&self, levels: u32) -> Read<Cursor<'a>> {
        match self.deeper_max.checked_sub(levels) {
            Some(deeper_max) => Ok(Cursor {
                deeper_max,
                ..*self
            }),
            None => Err(Refusal::OverLimit(Limit::Depth)),
        }
    }

    /// The text, where it is scanned.
    #[inline(always)]
    pub(crate) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The byte at `at`; 0, which is never part of a text outside of strings, past the end.
    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        look(self.text.get(at..at + 1).unwrap_or_default());
        self.text.get(at).copied().unwrap_or(0)
    }

    #[inline(always)]
    pub(crate) fn slice(&self, start: usize, end: usize) -> Read<&'a [u8]> {
        self.text.get(start..end).ok_or(Refusal::Malformed)
    }

    /// The first byte that is no white space, at `at` or after it, and its place.
    #[inline(always)]
    pub(crate) fn solid(&self, at: usize) -> (u8, usize) {
        match self.byte(at) {
            byte @ 0x21.. => (byte, at),
            _ => self.solid_after_space(at),
        }
    }

    #[inline(never)]
    fn solid_after_space(&self, at: usize) -> (u8, usize) {
        let rest = self.text.get(at..).unwrap_or_default();
        let solid = |byte: &u8| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        let space = rest.iter().position(solid).unwrap_or(rest.len());
        look(rest.get(..space).unwrap_or_default());
        let at = at + space;
        (self.byte(at), at)
    }

    /// Makes sure that the text is over at `at`, but for white space.
    pub(crate) fn finish(&self, at: usize) -> Read<()> {
        if self.solid(at).1 < self.text.len() {
            return Err(Refusal::Malformed);
        }
        Ok(())
    }

    /// The value at `at`, checked to its end.
    #[inline]
    pub(crate) fn value(&self, at: usize) -> Read<Value<'a>> {
        match self.byte(at) {
            b'"' => {
                let end = scan::string_end(self.text, at + 1)?;
                self.check_end(end.at + 1)?;
                Ok(Value::String(self.slice(at + 1, end.at)?, end.clean))
            }
            b'{' => Ok(Value::Object(at)),
            b'[' => Ok(Value::Array(at)),
            b'-' | b'0'..=b'9' => Ok(Value::Number(self.number(at)?)),
            _ => self.literal(at),
        }
    }

    #[inline]
    fn number(&self, at: usize) -> Read<&'a str> {
        let rest = self.text.get(at..).unwrap_or_default();
        let number = number::prefix(rest).ok_or(Refusal::Malformed)?;
        look(number.as_bytes());
        self.check_end(at + number.len())?;
        Ok(number)
    }

    fn literal(&self, at: usize) -> Read<Value<'a>> {
        for (name, value) in [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
        ] {
            let end = at + name.len();
            look(self.text.get(at..end).unwrap_or_default());
            if self.text.get(at..end) == Some(name.as_bytes()) {
                return self.check_end(end).map(|()| value);
            }
        }
        Err(Refusal::Malformed)
    }

    /// Makes sure that a value is over: only white space up to the next comma or closing bracket.
    #[inline(always)]
    fn check_end(&self, at: usize) -> Read<()> {
        match self.solid(at).0 {
            b',' | b'}' | b']' => Ok(()),
            _ => Err(Refusal::Malformed),
        }
    }

    /// Passes over the value at `at`: where it is over.
    #[inline(always)]
    pub(crate) fn after(&self, at: usize) -> Read<usize> {
        match self.byte(at) {
            b'"' => Ok(scan::string_end(self.text, at + 1)?.at + 1),
            b'{' | b'[' => scan::closing(self.text, at, 0, self.deeper_max),
            _ => scan::word_end(self.text, at),
        }
    }

    /// Passes over the rest of the object that is walked: where it is over. `at` is behind a value.
    #[inline]
    pub(crate) fn after_rest(&self, at: usize) -> Read<usize> {
        scan::closing(self.text, at, 1, self.deeper_max)
    }

    /// The elements of the array that starts at `at`.
    #[inline]
    pub(crate) fn elements(&self, at: usize) -> Elements<'a> {
        Elements {
            cursor: *self,
            walk: Walk::First(at + 1),
        }
    }
}

/// The elements of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements<'a> {
    cursor: Cursor<'a>,
    walk: Walk,
}

/// How far a walk has come.
#[derive(Clone, Copy, Debug)]
enum Walk {
    /// At its start, behind the bracket.
    First(usize),
    /// At an element that starts here and is still to be passed over.
    At(usize),
    /// Behind an element.
    Behind(usize),
    /// Behind the whole array.
    Over(usize),
}

impl Elements<'_> {
    /// Where the next element starts; `None` at the end.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Read<Option<usize>> {
        let cursor = self.cursor;
        let behind = match self.walk {
            Walk::First(at) => {
                let (first, at) = cursor.solid(at);
                if first == b']' {
                    self.walk = Walk::Over(at + 1);
                    return Ok(None);
                }
                self.walk = Walk::At(at);
                return Ok(Some(at));
            }
            Walk::At(at) => cursor.after(at)?,
            Walk::Behind(end) => end,
            Walk::Over(_) => return Ok(None),
        };
        match cursor.solid(behind) {
            (b',', mark) => {
                let at = cursor.solid(mark + 1).1;
                self.walk = Walk::At(at);
                Ok(Some(at))
            }
            (b']', mark) => {
                self.walk = Walk::Over(mark + 1);
                Ok(None)
            }
            _ => Err(Refusal::Malformed),
        }
    }

    /// Says where the element at hand is over, to who found out.
    #[inline]
    pub(crate) fn pass(&mut self, end: usize) {
        self.walk = Walk::Behind(end);
    }

    /// Where the array is over, once there are no more elements.
    #[inline]
    pub(crate) fn end(&self) -> Option<usize> {
        match self.walk {
            Walk::Over(end) => Some(end),
            _ => None,
        }
    }
}
