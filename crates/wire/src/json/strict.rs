//! Reads a JSON text strictly (RFC 8259), from its start to its end.
//!
//! The view in place passes over what nobody asks for; a whole message has to be well-formed to its
//! last byte. So this reader looks at each byte once, and nesting costs it a bit of a stack of fixed
//! size, not a call.

use super::number;
use crate::message::{Cause, DecodeError};
use openrtb::{Limit, decode_escape};
use std::borrow::Cow;

type Step<T> = Result<T, DecodeError>;

/// The deepest nesting that can be allowed, in levels (`Limits::greatest`).
const LEVELS_MAX: usize = 1024;

/// A JSON text, and how far it has been read.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
    depth_max: u32,
}

/// A value, or its start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token<'a> {
    Null,
    Bool(bool),
    /// The number as written.
    Number(&'a str),
    String(Quoted<'a>),
    /// The members follow.
    Object,
    /// The elements follow.
    Array,
}

/// A string as it is spelled, without its quotes: its escapes are those of the RFC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted<'a> {
    pub(crate) spelled: &'a [u8],
    escaped: bool,
    /// Where its first quote stands.
    pub(crate) at: usize,
}

impl<'a> Quoted<'a> {
    /// The text; `None` where it is no Unicode.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let spelled = core::str::from_utf8(self.spelled).ok()?;
        if !self.escaped {
            return Some(Cow::Borrowed(spelled));
        }
        let mut text = String::with_capacity(spelled.len());
        let mut rest = spelled;
        while let Some(at) = rest.find('\\') {
            let (plain, escape) = rest.split_at_checked(at)?;
            let (c, tail) = decode_escape(escape)?;
            text.push_str(plain);
            text.push(c);
            rest = tail;
        }
        text.push_str(rest);
        Some(Cow::Owned(text))
    }

    /// The text as bytes, for comparing: where it is no Unicode, as it is spelled.
    pub(crate) fn bytes(self) -> Cow<'a, [u8]> {
        match self.escaped.then(|| self.text()) {
            Some(Some(Cow::Owned(text))) => Cow::Owned(text.into_bytes()),
            _ => Cow::Borrowed(self.spelled),
        }
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a [u8], depth_max: u32) -> Reader<'a> {
        Reader {
            text,
            at: 0,
            depth: 0,
            depth_max: depth_max.min(LEVELS_MAX as u32),
        }
    }

    /// Where the reader stands, in bytes from the start of the text.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// The text that was read since the reader stood at `start`, as written.
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        self.text.get(start..self.at).unwrap_or_default()
    }

    #[cold]
    fn malformed(&self, what: &'static str) -> DecodeError {
        DecodeError::malformed(what, self.offset())
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Moves to the next byte that is no white space.
    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Makes sure that nothing but white space is left.
    pub(crate) fn end(&mut self) -> Step<()> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.malformed("bytes after the value")),
        }
    }

    /// The next value, or its start.
    pub(crate) fn token(&mut self) -> Step<Token<'a>> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => self.quoted().map(Token::String),
            Some(b'{') => self.open().map(|()| Token::Object),
            Some(b'[') => self.open().map(|()| Token::Array),
            Some(b'-' | b'0'..=b'9') => self.number().map(Token::Number),
            Some(b'n') => self.literal("null", Token::Null),
            Some(b't') => self.literal("true", Token::Bool(true)),
            Some(b'f') => self.literal("false", Token::Bool(false)),
            Some(_) => Err(self.malformed("no JSON value")),
            None => Err(self.malformed("ends where a value is due")),
        }
    }

    fn open(&mut self) -> Step<()> {
        if self.depth >= self.depth_max {
            return Err(DecodeError::new(
                Cause::OverLimit(Limit::Depth),
                self.offset(),
            ));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    fn literal(&mut self, name: &str, token: Token<'a>) -> Step<Token<'a>> {
        let end = self.at + name.len();
        if self.text.get(self.at..end) != Some(name.as_bytes()) {
            return Err(self.malformed("no JSON value"));
        }
        self.at = end;
        Ok(token)
    }

    fn number(&mut self) -> Step<&'a str> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let number = number::prefix(rest).ok_or_else(|| self.malformed("no JSON number"))?;
        self.at += number.len();
        Ok(number)
    }

    fn quoted(&mut self) -> Step<Quoted<'a>> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0x20..) => self.at += 1,
                Some(_) => return Err(self.malformed("a control character in a string")),
                None => return Err(self.malformed("a string that does not end")),
            }
        }
        let spelled = self.since(start);
        self.at += 1;
        Ok(Quoted {
            spelled,
            escaped,
            at: start - 1,
        })
    }

    fn escape(&mut self) -> Step<()> {
        let (kind, hex) = match self.text.get(self.at + 1..) {
            Some([kind, rest @ ..]) => (*kind, rest.get(..4)),
            _ => return Err(self.malformed("a string that does not end")),
        };
        self.at += match (kind, hex) {
            (b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', _) => 2,
            (b'u', Some(hex)) if hex.iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return Err(self.malformed("an escape that JSON does not have")),
        };
        Ok(())
    }

    /// The key of the next member of the object at hand, with the reader behind its colon; `None`
    /// where the object is over. `first` says whether no member came before.
    pub(crate) fn member(&mut self, first: &mut bool) -> Step<Option<Quoted<'a>>> {
        if !self.separator(first, b'}')? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.malformed("no key where one is due"));
        }
        let key = self.quoted()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.malformed("no colon where one is due"));
        }
        self.at += 1;
        self.skip_space();
        Ok(Some(key))
    }

    /// Whether another element of the array at hand follows.
    pub(crate) fn element(&mut self, first: &mut bool) -> Step<bool> {
        self.separator(first, b']')
    }

    fn separator(&mut self, first: &mut bool, close: u8) -> Step<bool> {
        self.skip_space();
        let first = core::mem::replace(first, false);
        match self.peek() {
            Some(byte) if byte == close => {
                self.close();
                return Ok(false);
            }
            Some(b',') if !first => self.at += 1,
            Some(_) if first => return Ok(true),
            Some(_) => return Err(self.malformed("neither a comma nor an end where one is due")),
            None => return Err(self.malformed("ends inside an object or array")),
        }
        self.skip_space();
        match self.peek() {
            Some(byte) if byte == close => Err(self.malformed("a comma without a value behind it")),
            _ => Ok(true),
        }
    }

    /// Reads what is left of a value that started with `token`.
    pub(crate) fn skip(&mut self, token: Token<'a>) -> Step<()> {
        self.emit(token, &mut |_| {})
    }

    /// Reads what is left of a value that started with `token`, and hands it out without white space
    /// but otherwise as spelled.
    pub(crate) fn emit(&mut self, token: Token<'a>, out: &mut impl FnMut(&[u8])) -> Step<()> {
        let mut open = Levels::default();
        let mut first = open.enter(token, out);
        while let Some(in_object) = open.innermost() {
            let comma = if first { "" } else { "," };
            let more = match in_object {
                false => self.element(&mut first)?,
                true => match self.member(&mut first)? {
                    None => false,
                    Some(key) => {
                        for part in [comma.as_bytes(), b"\"", key.spelled, b"\":"] {
                            out(part);
                        }
                        true
                    }
                },
            };
            if !more {
                out(if in_object { b"}" } else { b"]" });
                open.leave();
                first = false;
                continue;
            }
            if !in_object {
                out(comma.as_bytes());
            }
            first = open.enter(self.token()?, out);
        }
        Ok(())
    }
}

/// Which of the open levels are objects, a bit each.
#[derive(Default)]
struct Levels {
    objects: [u64; LEVELS_MAX / 64],
    depth: usize,
}

impl Levels {
    /// Hands out a token and enters the level that it opens, if it does.
    fn enter(&mut self, token: Token<'_>, out: &mut impl FnMut(&[u8])) -> bool {
        match token {
            Token::Null => out(b"null"),
            Token::Bool(true) => out(b"true"),
            Token::Bool(false) => out(b"false"),
            Token::Number(number) => out(number.as_bytes()),
            Token::String(text) => {
                for part in [b"\"", text.spelled, b"\""] {
                    out(part);
                }
            }
            Token::Object => self.push(true, out, b"{"),
            Token::Array => self.push(false, out, b"["),
        }
        matches!(token, Token::Object | Token::Array)
    }

    fn push(&mut self, object: bool, out: &mut impl FnMut(&[u8]), bracket: &[u8]) {
        out(bracket);
        // The reader has made sure that there is a level left.
        if let Some(word) = self.objects.get_mut(self.depth / 64) {
            let bit = 1 << (self.depth % 64);
            *word = if object { *word | bit } else { *word & !bit };
        }
        self.depth += 1;
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Whether the innermost open level is an object; `None` where none is open.
    fn innermost(&self) -> Option<bool> {
        let level = self.depth.checked_sub(1)?;
        let word = self.objects.get(level / 64)?;
        Some(word >> (level % 64) & 1 == 1)
    }
}
