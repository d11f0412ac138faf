//! Moves over a FlatBuffer and cannot leave it.
//!
//! There is no pass up front: an offset is checked when it is followed, so a read costs what it
//! looks at. Every offset is taken with wrapping arithmetic and every byte through a checked
//! slice, so a hostile offset either lands inside the message, where it means something odd but
//! harmless, or is [`Refusal::Malformed`]. Alignment is not needed: the message may start
//! anywhere.
//!
//! A field is found by its slot, which is its protobuf field number (slot 0 is `ext`).

use openrtb::{Read, Refusal};

use crate::record::look;

/// A table: where it lies, and the vtable that says where its fields are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    vtable: &'a [u8],
}

impl<'a> Table<'a> {
    /// The root table of a message without size prefix.
    #[inline]
    pub(crate) fn root(bytes: &'a [u8]) -> Read<Table<'a>> {
        Table::follow(bytes, 0)
    }

    /// Where the table lies in the message.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The table that the offset at `at` points to.
    #[inline]
    fn follow(bytes: &'a [u8], at: usize) -> Read<Table<'a>> {
        let at = at.wrapping_add(u32_at(bytes, at)?);
        // The distance is signed; two's complement makes the subtraction right either way.
        let back = i32::from_le_bytes(chunk(bytes, at)?) as isize;
        let vtable = at.wrapping_sub(back as usize);
        let len = usize::from(u16::from_le_bytes(chunk(bytes, vtable)?));
        Ok(Table {
            bytes,
            at,
            vtable: bytes
                .get(vtable..vtable.wrapping_add(len))
                .ok_or(Refusal::Malformed)?,
        })
    }

    /// Where the field in `slot` lies; `None` where it is not set.
    #[inline]
    fn field(&self, slot: u16) -> Option<usize> {
        let entry = 4 + 2 * usize::from(slot);
        let entry: &[u8; 2] = self.vtable.get(entry..entry + 2)?.try_into().ok()?;
        look(entry);
        match u16::from_le_bytes(*entry) {
            0 => None,
            offset => Some(self.at.wrapping_add(usize::from(offset))),
        }
    }

    /// A scalar of `N` bytes.
    #[inline]
    fn scalar<const N: usize>(&self, slot: u16) -> Read<Option<[u8; N]>> {
        self.field(slot).map(|at| chunk(self.bytes, at)).transpose()
    }

    /// A `bool`: any byte but 0 is true.
    #[inline]
    pub(crate) fn bool(&self, slot: u16) -> Read<Option<bool>> {
        Ok(self.scalar::<1>(slot)?.map(|byte| byte != [0]))
    }

    /// An `int`.
    #[inline]
    pub(crate) fn i32(&self, slot: u16) -> Read<Option<i32>> {
        Ok(self.scalar(slot)?.map(i32::from_le_bytes))
    }

    /// A `double`.
    #[inline]
    pub(crate) fn f64(&self, slot: u16) -> Read<Option<f64>> {
        Ok(self.scalar(slot)?.map(f64::from_le_bytes))
    }

    /// A `string`, not yet known to be UTF-8.
    #[inline]
    pub(crate) fn string(&self, slot: u16) -> Read<Option<&'a [u8]>> {
        self.field(slot)
            .map(|at| string_at(self.bytes, at))
            .transpose()
    }

    /// A table.
    #[inline]
    pub(crate) fn table(&self, slot: u16) -> Read<Option<Table<'a>>> {
        self.field(slot)
            .map(|at| Table::follow(self.bytes, at))
            .transpose()
    }

    /// Whether the field is set; what it holds is not looked at.
    #[inline]
    pub(crate) fn has(&self, slot: u16) -> bool {
        self.field(slot).is_some()
    }

    /// A vector whose elements take 4 bytes each: integers, strings or tables. Not set is empty.
    #[inline]
    pub(crate) fn vector(&self, slot: u16) -> Read<Vector<'a>> {
        let Some(at) = self.field(slot) else {
            return Ok(Vector {
                bytes: self.bytes,
                at: 0,
                len: 0,
            });
        };
        let at = at.wrapping_add(u32_at(self.bytes, at)?);
        let len = u32_at(self.bytes, at)?;
        let at = at.wrapping_add(4);
        // A length that the message cannot hold is refused here, before anybody loops over it.
        let room = self.bytes.len().checked_sub(at).ok_or(Refusal::Malformed)?;
        if len > room / 4 {
            return Err(Refusal::Malformed);
        }
        Ok(Vector {
            bytes: self.bytes,
            at,
            len,
        })
    }
}

/// A vector of 4-byte elements, known to lie inside the message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector<'a> {
    bytes: &'a [u8],
    at: usize,
    len: usize,
}

impl<'a> Vector<'a> {
    /// How many elements there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where the element lies; past the end is [`Refusal::Malformed`].
    #[inline]
    fn element(&self, index: usize) -> Read<usize> {
        if index < self.len {
            Ok(self.at + 4 * index)
        } else {
            Err(Refusal::Malformed)
        }
    }

    /// The element as an integer.
    #[inline]
    pub(crate) fn i32(&self, index: usize) -> Read<i32> {
        chunk(self.bytes, self.element(index)?).map(i32::from_le_bytes)
    }

    /// The element as a string, not yet known to be UTF-8.
    #[inline]
    pub(crate) fn string(&self, index: usize) -> Read<&'a [u8]> {
        string_at(self.bytes, self.element(index)?)
    }

    /// The element as a table.
    #[inline]
    pub(crate) fn table(&self, index: usize) -> Read<Table<'a>> {
        Table::follow(self.bytes, self.element(index)?)
    }
}

/// `N` bytes at `at`.
#[inline]
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> Read<[u8; N]> {
    let slice = bytes.get(at..at.wrapping_add(N));
    let slice = slice.ok_or(Refusal::Malformed)?;
    look(slice);
    slice.try_into().map_err(|_| Refusal::Malformed)
}

/// An unsigned offset or length at `at`.
#[inline]
fn u32_at(bytes: &[u8], at: usize) -> Read<usize> {
    Ok(u32::from_le_bytes(chunk(bytes, at)?) as usize)
}

/// The string that the offset at `at` points to.
#[inline]
fn string_at(bytes: &[u8], at: usize) -> Read<&[u8]> {
    let at = at.wrapping_add(u32_at(bytes, at)?);
    let len = u32_at(bytes, at)?;
    let start = at.wrapping_add(4);
    let string = bytes.get(start..start.wrapping_add(len));
    let string = string.ok_or(Refusal::Malformed)?;
    look(string);
    Ok(string)
}
