//! Moves over a protobuf message and cannot leave it.
//!
//! [`Fields`] walks the fields of one message in the order they were written. The caller looks
//! at the tag, takes the value if it wants it, and skips it otherwise. Nothing recurses: a
//! sub-message is skipped by its length, and groups, which nobody writes any more, by a walk with
//! a stack of fixed size.
//!
//! Positions are those of the whole received message, so that a place found in one walk
//! ([`Span`]) can be visited again later.

use openrtb::{Limit, Read, Refusal};

use crate::record::look;

/// How a value is laid out (the lowest three bits of a tag).
pub(crate) const VARINT: u32 = 0;
/// Eight bytes.
pub(crate) const FIXED64: u32 = 1;
/// A length, then that many bytes.
pub(crate) const LEN: u32 = 2;
const GROUP_START: u32 = 3;
const GROUP_END: u32 = 4;
/// Four bytes.
pub(crate) const FIXED32: u32 = 5;

/// Nesting of groups that is walked through; more is over the limit.
const GROUP_DEPTH_MAX: usize = 64;

/// The tag of a field with this number and layout.
pub(crate) const fn tag(number: u32, layout: u32) -> u32 {
    number << 3 | layout
}

/// A stretch of the received message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The fields of a message, in the order they were written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    /// From the start of the received message to the end of this one.
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// The fields of a whole message.
    pub(crate) fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { bytes, at: 0 }
    }

    /// The fields of what lies at `span` of `bytes`; none where `span` is not inside.
    #[inline]
    pub(crate) fn within(bytes: &'a [u8], span: Span) -> Fields<'a> {
        Fields {
            bytes: bytes.get(..span.end as usize).unwrap_or_default(),
            at: span.start as usize,
        }
    }

    /// Where the next field starts, in the whole message.
    #[inline]
    pub(crate) fn at(&self) -> u32 {
        // Messages are shorter than 2³² bytes: `Limits` sees to it.
        self.at as u32
    }

    /// How many bytes are left.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// Whether nothing is left.
    #[inline(always)]
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The tag of the next field; `None` at the end.
    #[inline(always)]
    pub(crate) fn tag(&mut self) -> Read<Option<u32>> {
        if self.is_done() {
            return Ok(None);
        }
        match u32::try_from(self.varint()?) {
            Ok(tag) if tag >= 8 => Ok(Some(tag)),
            _ => Err(Refusal::Malformed),
        }
    }

    /// The value of a [`VARINT`] field.
    #[inline(always)]
    pub(crate) fn varint(&mut self) -> Read<u64> {
        let (value, at) = match self.bytes.get(self.at..) {
            Some([low @ 0..0x80, ..]) => (u64::from(*low), self.at + 1),
            Some([low, high @ 0..0x80, ..]) => {
                let value = u64::from(low & 0x7F) | u64::from(*high) << 7;
                (value, self.at + 2)
            }
            _ => long_varint(self.bytes, self.at)?,
        };
        look(self.bytes.get(self.at..at).unwrap_or_default());
        self.at = at;
        Ok(value)
    }

    /// The value of a [`FIXED64`] field, as a double.
    #[inline]
    pub(crate) fn f64(&mut self) -> Read<f64> {
        let value = self.fixed()?;
        let start = self.at - value.len();
        look(self.bytes.get(start..self.at).unwrap_or_default());
        Ok(f64::from_le_bytes(value))
    }

    #[inline]
    fn fixed<const N: usize>(&mut self) -> Read<[u8; N]> {
        let end = self.at.wrapping_add(N);
        let value = self.bytes.get(self.at..end).ok_or(Refusal::Malformed)?;
        self.at = end;
        value.try_into().map_err(|_| Refusal::Malformed)
    }

    /// Where the value of a [`LEN`] field lies.
    #[inline(always)]
    pub(crate) fn span(&mut self) -> Read<Span> {
        self.value(LEN)
    }

    /// The value of a [`LEN`] field. Text is not yet known to be UTF-8.
    #[inline]
    pub(crate) fn bytes(&mut self) -> Read<&'a [u8]> {
        let span = self.span()?;
        self.bytes
            .get(span.start as usize..span.end as usize)
            .ok_or(Refusal::Malformed)
    }

    /// The value of a [`LEN`] field, as a message.
    #[inline]
    pub(crate) fn message(&mut self) -> Read<Fields<'a>> {
        let span = self.span()?;
        Ok(Fields::within(self.bytes, span))
    }

    /// Moves past the value of the field whose tag was just read.
    #[inline(always)]
    pub(crate) fn skip(&mut self, tag: u32) -> Read<()> {
        self.value(tag).map(drop)
    }

    /// Moves past the value of the field whose tag was just read: where it lies, without the length
    /// before it.
    #[inline(always)]
    pub(crate) fn value(&mut self, tag: u32) -> Read<Span> {
        let mut start = self.at();
        // One way for both: which of the two comes next is hard to predict.
        if tag & 7 & !LEN == VARINT {
            let long = tag & LEN != 0;
            let varint = self.varint()?;
            start = if long { self.at() } else { start };
            let len = if long { varint } else { 0 };
            if len > self.left() as u64 {
                return Err(Refusal::Malformed);
            }
            self.at += len as usize;
            return Ok(Span {
                start,
                end: self.at(),
            });
        }
        match tag & 7 {
            FIXED64 => self.fixed::<8>().map(drop)?,
            FIXED32 => self.fixed::<4>().map(drop)?,
            _ => self.at = group_end(self.bytes, self.at, tag)?,
        }
        Ok(Span {
            start,
            end: self.at(),
        })
    }
}

/// A varint of any length, and where it is over.
#[inline(never)]
fn long_varint(bytes: &[u8], start: usize) -> Read<(u64, usize)> {
    let mut value = 0;
    for (at, shift) in (start..).zip((0..70).step_by(7)) {
        let byte = *bytes.get(at).ok_or(Refusal::Malformed)?;
        // The tenth byte has room for one bit.
        if shift == 63 && byte > 1 {
            return Err(Refusal::Malformed);
        }
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok((value, at + 1));
        }
    }
    Err(Refusal::Malformed)
}

/// Where the group is over whose first tag is `tag` and whose fields start at `at`.
#[cold]
#[inline(never)]
fn group_end(bytes: &[u8], at: usize, mut tag: u32) -> Read<usize> {
    let mut fields = Fields { bytes, at };
    let mut open = [0; GROUP_DEPTH_MAX];
    let mut depth = 0;
    loop {
        match tag & 7 {
            GROUP_START => {
                let place = open.get_mut(depth);
                *place.ok_or(Refusal::OverLimit(Limit::Depth))? = tag >> 3;
                depth += 1;
            }
            GROUP_END => {
                depth = depth.checked_sub(1).ok_or(Refusal::Malformed)?;
                if open.get(depth) != Some(&(tag >> 3)) {
                    return Err(Refusal::Malformed);
                }
                if depth == 0 {
                    return Ok(fields.at);
                }
            }
            VARINT | FIXED64 | LEN | FIXED32 => fields.skip(tag)?,
            _ => return Err(Refusal::Malformed),
        }
        tag = fields.tag()?.ok_or(Refusal::Malformed)?;
    }
}

/// The `int32` that a varint stands for; `None` where it is no 32-bit value. A negative one is
/// written with its sign extended to 64 bits.
#[inline]
pub(crate) fn int32(varint: u64) -> Option<i32> {
    i32::try_from(varint as i64).ok()
}
