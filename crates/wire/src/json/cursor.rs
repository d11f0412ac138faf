//! Moves over a JSON text and cannot leave it.
//!
//! A [`Cursor`] is a text and the index of its structure; a place in it is a number. A value is
//! looked at where it starts ([`Cursor::value`]), and what is looked at is checked against the
//! grammar of RFC 8259 to its last byte. Objects and arrays are walked member by member
//! ([`Members`], [`Elements`]); walking checks keys, colons, commas and the closing bracket, and
//! passes over the values without looking into them.

use openrtb::{Read, Refusal};

use super::index::{Block, Index, Indexed, white_space};
use super::number;

/// A text with its structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    blocks: &'a [Block],
    root: usize,
    escapes: bool,
}

/// A value, as far as it is known without decoding it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    /// The number as written, known to be one.
    Number(&'a str),
    /// What stands between the quotes, not decoded nor checked.
    String(&'a [u8]),
    /// Where the object starts.
    Object(usize),
    /// Where the array starts.
    Array(usize),
}

impl<'a> Cursor<'a> {
    /// A cursor over `text`, which must be one object of at most `depth_max` levels; `index` is
    /// room that is used again and again.
    #[inline]
    pub(crate) fn new(text: &'a [u8], index: &'a mut Index, depth_max: u32) -> Read<Cursor<'a>> {
        let Indexed {
            text,
            blocks,
            root,
            escapes,
        } = index.build(text, depth_max)?;
        Ok(Cursor {
            text,
            blocks,
            root,
            escapes,
        })
    }

    /// Where the outermost object starts.
    pub(crate) fn root(&self) -> usize {
        self.root
    }

    /// Whether there is a backslash anywhere in the text.
    pub(crate) fn escapes(&self) -> bool {
        self.escapes
    }

    /// The byte at `at`; 0, which is never part of a text outside of strings, past the end.
    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    /// The 16 bytes at `at`, the first the lowest; zeros past the end.
    #[inline(always)]
    pub(crate) fn window(&self, at: usize) -> u128 {
        match self.text.get(at..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => u128::from_le_bytes(*bytes),
            None => self.last_window(at),
        }
    }

    #[cold]
    #[inline(never)]
    fn last_window(&self, at: usize) -> u128 {
        let mut bytes = [0; 16];
        let rest = self.text.get(at..).unwrap_or_default();
        for (to, from) in bytes.iter_mut().zip(rest) {
            *to = *from;
        }
        u128::from_le_bytes(bytes)
    }

    #[inline(always)]
    fn slice(&self, start: usize, end: usize) -> Read<&'a [u8]> {
        self.text.get(start..end).ok_or(Refusal::Malformed)
    }

    /// The first byte that is no white space, at `at` or after it, and its place.
    #[inline(always)]
    fn solid(&self, at: usize) -> (u8, usize) {
        match self.byte(at) {
            byte @ 0x21.. => (byte, at),
            _ => self.solid_after_space(at),
        }
    }

    #[inline(never)]
    fn solid_after_space(&self, at: usize) -> (u8, usize) {
        let at = white_space(self.text, at);
        (self.byte(at), at)
    }

    /// The first place at `at` or after it where `pick` has a bit.
    #[inline(always)]
    fn next(&self, at: usize, pick: impl Fn(&Block) -> u64) -> Read<usize> {
        let mut number = at / 64;
        let block = self.blocks.get(number).ok_or(Refusal::Malformed)?;
        let mut bits = pick(block) & u64::MAX << (at % 64);
        while bits == 0 {
            number += 1;
            bits = pick(self.blocks.get(number).ok_or(Refusal::Malformed)?);
        }
        Ok(number * 64 + bits.trailing_zeros() as usize)
    }

    /// The next mark outside of strings, at `at` or after it.
    #[inline(always)]
    fn next_mark(&self, at: usize) -> Read<usize> {
        self.next(at, |block| block.marks)
    }

    /// The next quote, at `at` or after it.
    #[inline(always)]
    fn next_quote(&self, at: usize) -> Read<usize> {
        self.next(at, |block| block.quotes)
    }

    /// The key of `member` as it is spelled, not decoded nor checked.
    pub(crate) fn key(&self, member: Member) -> Read<&'a [u8]> {
        self.slice(member.key_start, member.key_end)
    }

    /// The value that starts at `at`, checked to its end.
    #[inline]
    pub(crate) fn value(&self, at: usize) -> Read<Value<'a>> {
        match self.byte(at) {
            b'"' => {
                let end = self.next_quote(at + 1)?;
                self.ends(end + 1)?;
                Ok(Value::String(self.slice(at + 1, end)?))
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
        self.ends(at + number.len())?;
        Ok(number)
    }

    fn literal(&self, at: usize) -> Read<Value<'a>> {
        for (name, value) in [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
        ] {
            let end = at + name.len();
            if self.text.get(at..end) == Some(name.as_bytes()) {
                return self.ends(end).map(|()| value);
            }
        }
        Err(Refusal::Malformed)
    }

    /// Makes sure that a value is over: only white space up to the next comma or closing bracket.
    #[inline(always)]
    fn ends(&self, at: usize) -> Read<()> {
        match self.solid(at).0 {
            b',' | b'}' | b']' => Ok(()),
            _ => Err(Refusal::Malformed),
        }
    }

    /// Where the value that starts at `at` is over: the mark that follows it.
    #[inline(always)]
    fn after(&self, at: usize) -> Read<usize> {
        let mark = self.next_mark(at)?;
        if !matches!(self.byte(mark), b'{' | b'[') {
            // There must be a value before the mark.
            return if mark > at {
                Ok(mark)
            } else {
                Err(Refusal::Malformed)
            };
        }
        if mark > at {
            return Err(Refusal::Malformed);
        }
        match self.solid(self.closing(at)? + 1) {
            (b',' | b'}' | b']', mark) => Ok(mark),
            _ => Err(Refusal::Malformed),
        }
    }

    /// Where the object or array that opens at `at` closes.
    #[inline(never)]
    fn closing(&self, at: usize) -> Read<usize> {
        let mut number = at / 64;
        let mut from = u64::MAX << (at % 64);
        let mut depth = 0;
        loop {
            let block = self.blocks.get(number).ok_or(Refusal::Malformed)?;
            let (opens, mut closes) = (block.opens & from, block.closes & from);
            let mut closed = 0;
            // Only where there are as many closing brackets as are open can the last one be found.
            while closes != 0 && depth <= closed + closes.count_ones() {
                let bit = closes & closes.wrapping_neg();
                closes ^= bit;
                closed += 1;
                if depth + (opens & (bit - 1)).count_ones() == closed {
                    return Ok(number * 64 + bit.trailing_zeros() as usize);
                }
            }
            depth = depth + opens.count_ones() - closed - closes.count_ones();
            number += 1;
            from = u64::MAX;
        }
    }

    /// The members of the object that starts at `at`.
    #[inline]
    pub(crate) fn members(&self, at: usize) -> Members<'a> {
        Members {
            cursor: *self,
            walk: Walk::First(at + 1),
        }
    }

    /// The elements of the array that starts at `at`.
    #[inline]
    pub(crate) fn elements(&self, at: usize) -> Elements<'a> {
        Elements {
            cursor: *self,
            walk: Walk::First(at + 1),
        }
    }

    /// Where the next member or element of a walk starts, if there is one.
    #[inline(always)]
    fn enter(&self, walk: Walk, close: u8) -> Read<Option<(u8, usize)>> {
        match walk {
            Walk::First(at) => match self.solid(at) {
                (byte, _) if byte == close => Ok(None),
                start => Ok(Some(start)),
            },
            Walk::Past(value) => {
                let mark = self.after(value)?;
                match self.byte(mark) {
                    b',' => Ok(Some(self.solid(mark + 1))),
                    byte if byte == close => Ok(None),
                    _ => Err(Refusal::Malformed),
                }
            }
        }
    }
}

/// How far a walk over an object or array has come.
#[derive(Clone, Copy, Debug)]
enum Walk {
    /// At its start, behind the bracket.
    First(usize),
    /// At a value that starts here and is still to be passed over.
    Past(usize),
}

/// A member of an object: where its key lies, without the quotes, and where its value starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) key_start: usize,
    pub(crate) key_end: usize,
    pub(crate) value: usize,
}

/// The members of an object, in the order they were written, repeated keys and all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members<'a> {
    cursor: Cursor<'a>,
    walk: Walk,
}

impl<'a> Members<'a> {
    /// The next member; `None` once, at the end.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Read<Option<Member>> {
        let cursor = self.cursor;
        let key_start = match cursor.enter(self.walk, b'}')? {
            None => return Ok(None),
            Some((b'"', at)) => at + 1,
            Some(_) => return Err(Refusal::Malformed),
        };
        let key_end = cursor.next_quote(key_start)?;
        let (b':', colon) = cursor.solid(key_end + 1) else {
            return Err(Refusal::Malformed);
        };
        let value = cursor.solid(colon + 1).1;
        self.walk = Walk::Past(value);
        Ok(Some(Member {
            key_start,
            key_end,
            value,
        }))
    }
}

/// The elements of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements<'a> {
    cursor: Cursor<'a>,
    walk: Walk,
}

impl Elements<'_> {
    /// Where the next element starts; `None` once, at the end.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Read<Option<usize>> {
        let Some((_, value)) = self.cursor.enter(self.walk, b']')? else {
            return Ok(None);
        };
        self.walk = Walk::Past(value);
        Ok(Some(value))
    }
}
