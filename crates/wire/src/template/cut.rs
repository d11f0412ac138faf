//! An encoded message, cut where fields are to be put in.

/// The fields of a message that are the same in all requests, in pieces: each gap has one in front of
/// it, and the last one stands behind all gaps.
#[derive(Debug, PartialEq)]
pub(crate) struct Cut {
    bytes: Box<[u8]>,
    /// Where each piece ends.
    ends: Box<[usize]>,
}

impl Cut {
    /// Cuts a message that is given as its fields, each by number and ascending; gaps are numbers of
    /// fields that are not among them, ascending.
    pub(crate) fn new<'a>(fields: impl IntoIterator<Item = (u32, &'a [u8])>, gaps: &[u32]) -> Cut {
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        for (number, field) in fields {
            let passed = gaps.iter().filter(|gap| **gap < number).count();
            while ends.len() < passed {
                ends.push(bytes.len());
            }
            bytes.extend_from_slice(field);
        }
        ends.resize(gaps.len() + 1, bytes.len());
        Cut {
            bytes: bytes.into(),
            ends: ends.into(),
        }
    }

    /// The pieces; empty ones where there are fewer.
    #[inline]
    pub(crate) fn pieces<const N: usize>(&self) -> [&[u8]; N] {
        let mut start = 0;
        core::array::from_fn(|index| {
            let end = self.ends.get(index).copied().unwrap_or(start);
            let piece = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            piece
        })
    }
}

/// A message that may be there without a field that a patch sets.
#[derive(Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) cut: Cut,
    pub(crate) is_set: bool,
}

impl Part {
    /// The message, cut as its format is.
    pub(crate) fn new<M>(message: Option<&M>, gaps: &[u32], cut: fn(&M, &[u32]) -> Cut) -> Part {
        Part {
            cut: message.map_or_else(|| Cut::new([], gaps), |message| cut(message, gaps)),
            is_set: message.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fields: &[u32], gaps: &[u32], expect: [&[u8]; 4]) {
        let bytes: Vec<_> = fields.iter().map(|number| [*number as u8]).collect();
        let fields = fields.iter().copied().zip(bytes.iter().map(|b| &b[..]));
        assert_eq!(Cut::new(fields, gaps).pieces::<4>(), expect, "{gaps:?}");
    }

    #[test]
    fn a_message_is_cut_at_gaps() {
        check(&[], &[], [b"", b"", b"", b""]);
        check(&[1, 2, 3], &[], [b"\x01\x02\x03", b"", b"", b""]);
        check(&[2, 2, 5], &[1, 3, 6], [b"", b"\x02\x02", b"\x05", b""]);
        check(&[1, 9], &[2, 3, 4], [b"\x01", b"", b"", b"\x09"]);
        check(&[1], &[2, 3], [b"\x01", b"", b"", b""]);
        check(&[9], &[2, 3], [b"", b"", b"\x09", b""]);
    }
}
