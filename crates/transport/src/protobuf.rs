//! As much of protobuf as the built-in services speak: fields of varints and bytes.

/// A field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    /// Four or eight bytes, which no message here has.
    Fixed,
}

/// The fields of a message, in order. Ends at the first thing that is no field; [`Fields::is_sound`]
/// tells whether that was the message's end.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// After the last field: whether the message was well-formed to its end.
    pub fn is_sound(&self) -> bool {
        self.rest.is_empty()
    }

    fn field(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
        let key = varint(rest)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(rest)?),
            1 => skip(rest, 8)?,
            5 => skip(rest, 4)?,
            2 => {
                let length = usize::try_from(varint(rest)?).ok()?;
                let (bytes, after) = rest.split_at_checked(length)?;
                *rest = after;
                Value::Bytes(bytes)
            }
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let mut rest = self.rest;
        let field = Self::field(&mut rest)?;
        self.rest = rest;
        Some(field)
    }
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn skip<'a>(rest: &mut &'a [u8], bytes: usize) -> Option<Value<'a>> {
    *rest = rest.get(bytes..)?;
    Some(Value::Fixed)
}

pub(crate) fn put_varint(out: &mut Vec<u8>, value: u64) {
    let mut rest = value;
    while rest >= 0x80 {
        let [low, ..] = rest.to_le_bytes();
        out.push(low | 0x80);
        rest >>= 7;
    }
    let [low, ..] = rest.to_le_bytes();
    out.push(low);
}

pub(crate) fn put_number(out: &mut Vec<u8>, field: u64, value: u64) {
    put_varint(out, field << 3);
    put_varint(out, value);
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(out, field << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trip(fields in proptest::collection::vec(
            (1u64..1 << 29, any::<u64>(), proptest::option::of(proptest::collection::vec(any::<u8>(), 0..20))), 0..10)) {
            let mut message = Vec::new();
            for (field, number, bytes) in &fields {
                match bytes {
                    Some(bytes) => put_bytes(&mut message, *field, bytes),
                    None => put_number(&mut message, *field, *number),
                }
            }
            let mut read = Fields::new(&message);
            for (field, number, bytes) in &fields {
                let value = bytes.as_deref().map_or(Value::Varint(*number), Value::Bytes);
                prop_assert_eq!(read.next(), Some((*field, value)));
            }
            prop_assert!(read.next().is_none() && read.is_sound());
        }

        #[test]
        fn any_bytes(message in proptest::collection::vec(any::<u8>(), 0..60)) {
            let mut read = Fields::new(&message);
            prop_assert!(read.by_ref().count() <= message.len());
        }
    }
}
