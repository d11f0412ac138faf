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
        let (low, high) = match self.bytes.get(self.at..) {
            Some([low @ 0..0x80, ..]) => {
                self.at += 1;
                return Ok(u64::from(*low));
            }
            Some([low, high @ 0..0x80, ..]) => (*low, *high),
            _ => return self.long_varint(),
        };
        self.at += 2;
        Ok(u64::from(low & 0x7F) | u64::from(high) << 7)
    }

    #[inline(never)]
    fn long_varint(&mut self) -> Read<u64> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(Refusal::Malformed)?;
            self.at += 1;
            // The tenth byte has room for one bit.
            if shift == 63 && byte > 1 {
                return Err(Refusal::Malformed);
            }
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Refusal::Malformed)
    }

    /// The value of a [`FIXED64`] field, as a double.
    #[inline]
    pub(crate) fn f64(&mut self) -> Read<f64> {
        self.fixed().map(f64::from_le_bytes)
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
        let len = self.varint()?;
        let room = (self.bytes.len() - self.at) as u64;
        if len > room {
            return Err(Refusal::Malformed);
        }
        let start = self.at();
        self.at += len as usize;
        Ok(Span {
            start,
            end: self.at(),
        })
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
        match tag & 7 {
            LEN => self.span().map(drop),
            VARINT => self.varint().map(drop),
            FIXED64 => self.fixed::<8>().map(drop),
            FIXED32 => self.fixed::<4>().map(drop),
            _ => self.skip_group(tag),
        }
    }

    #[cold]
    #[inline(never)]
    fn skip_group(&mut self, tag: u32) -> Read<()> {
        let mut open = [0; GROUP_DEPTH_MAX];
        let mut depth = 0;
        let mut tag = tag;
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
                        return Ok(());
                    }
                }
                LEN => self.span().map(drop)?,
                VARINT => self.varint().map(drop)?,
                FIXED64 => self.fixed::<8>().map(drop)?,
                FIXED32 => self.fixed::<4>().map(drop)?,
                _ => return Err(Refusal::Malformed),
            }
            tag = self.tag()?.ok_or(Refusal::Malformed)?;
        }
    }
}

/// The `int32` that a varint stands for; `None` where it is no 32-bit value. A negative one is
/// written with its sign extended to 64 bits.
#[inline]
pub(crate) fn int32(varint: u64) -> Option<i32> {
    i32::try_from(varint as i64).ok()
}
