//! Reading header blocks.

use std::fmt;

use super::huffman;
use super::table::{Dynamic, STATIC};

/// Why a header block cannot be read. The connection cannot go on (RFC 9113 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HpackError {
    /// It ends in the middle of a field.
    Short,
    /// An integer that no sane peer sends: over 2^28.
    Integer,
    /// An index that neither table has.
    Index,
    /// A Huffman-coded string with a wrong code or padding.
    Huffman,
    /// A table size above what was allowed, or one that is not at the block's start.
    TableSize,
    /// More goes into the table than any sane block puts there.
    Entries,
}

impl std::error::Error for HpackError {}

impl fmt::Display for HpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "header block ends in a field",
            Self::Integer => "integer out of range",
            Self::Index => "index of no field",
            Self::Huffman => "wrong Huffman code",
            Self::TableSize => "table size not allowed",
            Self::Entries => "too much for the table in one block",
        })
    }
}

/// A field of a header list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// As it was sent; not checked.
    pub name: &'a [u8],
    /// As it was sent; not checked.
    pub value: &'a [u8],
    /// What the reader returned for this field when it last met it in a table; 0 at first, and for
    /// fields that are in none. With it the reader need not look at a field it knows.
    pub mark: u8,
}

/// Strings that one block puts into the table, in bytes: two bytes of a block can ask for a copy of
/// a name that fills the table, again and again.
const ENTERED_BYTES_MAX: usize = 64 << 10;

/// One direction's decoder, with its dynamic table.
#[derive(Debug)]
pub struct Decoder {
    dynamic: Dynamic,
    static_marks: [u8; STATIC.len()],
    version: u64,
    table_bytes_max: usize,
    /// Bytes that the block at hand has put into the table.
    entered_bytes: usize,
}

/// Splits a block behind the fields it begins with that are one index of a byte each, as they mostly
/// are on a warm connection.
#[inline]
pub(crate) fn split_indexed(block: &[u8]) -> (&[u8], &[u8]) {
    // 0x80 is no index, and 0xff goes on in the next byte.
    let indexed = block
        .iter()
        .take_while(|byte| matches!(byte, 0x81..=0xfe))
        .count();
    block.split_at_checked(indexed).unwrap_or((block, &[]))
}

/// The bytes of a block that are not read yet.
struct Block<'a>(&'a [u8]);

impl<'a> Block<'a> {
    #[inline]
    fn byte(&mut self) -> Result<u8, HpackError> {
        let (byte, rest) = self.0.split_first().ok_or(HpackError::Short)?;
        self.0 = rest;
        Ok(*byte)
    }

    /// The integer whose first byte was `first`, of which the low `prefix_bits` are its own.
    #[inline]
    fn integer(&mut self, first: u8, prefix_bits: u32) -> Result<usize, HpackError> {
        let mask = (1usize << prefix_bits) - 1;
        let low = usize::from(first) & mask;
        if low < mask {
            Ok(low)
        } else {
            self.long_integer(mask)
        }
    }

    fn long_integer(&mut self, mask: usize) -> Result<usize, HpackError> {
        let mut value = 0usize;
        for shift in [0, 7, 14, 21] {
            let byte = self.byte()?;
            value |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value + mask);
            }
        }
        Err(HpackError::Integer)
    }

    /// A string: as it lies in the block, or decoded into the end of `scratch`.
    #[inline]
    fn string(&mut self, scratch: &mut Vec<u8>) -> Result<Text<'a>, HpackError> {
        let first = self.byte()?;
        let length = self.integer(first, 7)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(HpackError::Short)?;
        self.0 = rest;
        if first & 0x80 == 0 {
            return Ok(Text::Plain(text));
        }
        let start = scratch.len();
        huffman::decode(text, scratch)?;
        Ok(Text::Decoded(start, scratch.len()))
    }
}

/// Where a string lies.
#[derive(Clone, Copy)]
enum Text<'a> {
    Plain(&'a [u8]),
    Decoded(usize, usize),
}

impl<'a> Text<'a> {
    fn bytes(self, scratch: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Plain(text) => text,
            Self::Decoded(start, end) => scratch.get(start..end).unwrap_or_default(),
        }
    }
}

impl Decoder {
    /// A decoder whose peer was told `table_bytes_max` (`SETTINGS_HEADER_TABLE_SIZE`, 4,096 by default).
    pub fn new(table_bytes_max: usize) -> Self {
        Self {
            dynamic: Dynamic::new(table_bytes_max),
            static_marks: [0; STATIC.len()],
            version: 0,
            table_bytes_max,
            entered_bytes: 0,
        }
    }

    /// Reads one whole block and gives every field to `field`, in order, which returns its mark.
    /// `scratch` is for strings to be decoded into; it grows to at most 8/5 of the block and is empty
    /// afterwards.
    pub fn decode(
        &mut self,
        block: &[u8],
        scratch: &mut Vec<u8>,
        field: impl FnMut(Field<'_>) -> u8,
    ) -> Result<(), HpackError> {
        self.fields(block, true, scratch, field)
    }

    /// Like [`decode`](Self::decode), for what [`split_indexed`] leaves of a block.
    pub(crate) fn decode_rest(
        &mut self,
        rest: &[u8],
        scratch: &mut Vec<u8>,
        field: impl FnMut(Field<'_>) -> u8,
    ) -> Result<(), HpackError> {
        self.fields(rest, false, scratch, field)
    }

    /// Changes whenever the table does: as long as it does not, the same indices mean the same fields.
    #[inline]
    pub(crate) fn table_version(&self) -> u64 {
        self.version
    }

    #[inline]
    fn fields(
        &mut self,
        block: &[u8],
        mut first_field: bool,
        scratch: &mut Vec<u8>,
        mut field: impl FnMut(Field<'_>) -> u8,
    ) -> Result<(), HpackError> {
        let mut block = Block(block);
        self.entered_bytes = 0;
        while let Ok(first) = block.byte() {
            if first & 0x80 != 0 {
                self.indexed(block.integer(first, 7)?, &mut field)?;
            } else if first & 0xe0 == 0x20 {
                let size = block.integer(first, 5)?;
                if !first_field || size > self.table_bytes_max {
                    return Err(HpackError::TableSize);
                }
                self.version = self.version.wrapping_add(1);
                self.dynamic.resize(size);
                continue;
            } else {
                scratch.clear();
                self.literal(first, &mut block, scratch, &mut field)?;
            }
            first_field = false;
        }
        scratch.clear();
        Ok(())
    }

    #[inline]
    fn indexed(
        &mut self,
        index: usize,
        field: &mut impl FnMut(Field<'_>) -> u8,
    ) -> Result<(), HpackError> {
        let at = index.checked_sub(1).ok_or(HpackError::Index)?;
        let Some(mark) = self.static_marks.get_mut(at) else {
            let at = at - STATIC.len();
            let known = self.dynamic.mark(at).map_or(0, |mark| *mark);
            let (name, value) = self.dynamic.get(at).ok_or(HpackError::Index)?;
            let new = field(Field {
                name,
                value,
                mark: known,
            });
            if new != known
                && let Some(mark) = self.dynamic.mark(at)
            {
                *mark = new;
            }
            return Ok(());
        };
        let (name, value) = STATIC.get(at).ok_or(HpackError::Index)?;
        *mark = field(Field {
            name: name.as_bytes(),
            value: value.as_bytes(),
            mark: *mark,
        });
        Ok(())
    }

    fn literal(
        &mut self,
        first: u8,
        block: &mut Block<'_>,
        scratch: &mut Vec<u8>,
        field: &mut impl FnMut(Field<'_>) -> u8,
    ) -> Result<(), HpackError> {
        let enters_table = first & 0x40 != 0;
        // Never-indexed fields (0x10) are read like those without indexing: we pass none on.
        let index = block.integer(first, if enters_table { 6 } else { 4 })?;
        if enters_table {
            // The name may lie in a field that its own insertion evicts, so it is copied.
            let name = if index == 0 {
                block.string(scratch)?
            } else {
                let start = scratch.len();
                scratch.extend_from_slice(self.name(index)?);
                Text::Decoded(start, scratch.len())
            };
            let value = block.string(scratch)?;
            let (name, value) = (name.bytes(scratch), value.bytes(scratch));
            self.entered_bytes += name.len() + value.len();
            if self.entered_bytes > ENTERED_BYTES_MAX {
                return Err(HpackError::Entries);
            }
            let mark = field(Field {
                name,
                value,
                mark: 0,
            });
            self.version = self.version.wrapping_add(1);
            self.dynamic.insert(name, value, mark);
        } else if index == 0 {
            let (name, value) = (block.string(scratch)?, block.string(scratch)?);
            field(Field {
                name: name.bytes(scratch),
                value: value.bytes(scratch),
                mark: 0,
            });
        } else {
            let value = block.string(scratch)?;
            field(Field {
                name: self.name(index)?,
                value: value.bytes(scratch),
                mark: 0,
            });
        }
        Ok(())
    }

    #[inline]
    fn name(&self, index: usize) -> Result<&[u8], HpackError> {
        let at = index.checked_sub(1).ok_or(HpackError::Index)?;
        match STATIC.get(at) {
            Some((name, _)) => Ok(name.as_bytes()),
            None => Ok(self
                .dynamic
                .get(at - STATIC.len())
                .ok_or(HpackError::Index)?
                .0),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::super::{encode, huffman::tests::encode as huffman_encode};
    use super::*;
    use proptest::prelude::*;

    fn unhex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<(String, String)>, HpackError> {
        let mut fields = Vec::new();
        let mut scratch = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decoder.decode(block, &mut scratch, |field| {
            fields.push((text(field.name), text(field.value)));
            0
        })?;
        assert!(scratch.is_empty());
        Ok(fields)
    }

    /// Blocks in hexadecimal on one decoder, each with `name: value` lines; then the table's size.
    #[track_caller]
    fn check(table_bytes: usize, blocks: &[(&str, &[&str], usize)]) {
        let mut decoder = Decoder::new(table_bytes);
        for (hex, expect, size) in blocks {
            let fields = decode(&mut decoder, &unhex(hex)).unwrap();
            let lines: Vec<_> = fields.iter().map(|(n, v)| format!("{n}: {v}")).collect();
            assert_eq!(&lines, expect);
            let mut held = 0;
            for (name, value) in (0..).map_while(|index| decoder.dynamic.get(index)) {
                held += name.len() + value.len() + 32;
            }
            assert_eq!(held, *size);
        }
    }

    #[test]
    fn rfc_c2_single_fields() {
        check(
            4096,
            &[(
                "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
                &["custom-key: custom-header"],
                55,
            )],
        );
        check(
            4096,
            &[(
                "040c 2f73 616d 706c 652f 7061 7468",
                &[":path: /sample/path"],
                0,
            )],
        );
        check(
            4096,
            &[(
                "1008 7061 7373 776f 7264 0673 6563 7265 74",
                &["password: secret"],
                0,
            )],
        );
        check(4096, &[("82", &[":method: GET"], 0)]);
    }

    const C3: [&[&str]; 3] = [
        &[
            ":method: GET",
            ":scheme: http",
            ":path: /",
            ":authority: www.example.com",
        ],
        &[
            ":method: GET",
            ":scheme: http",
            ":path: /",
            ":authority: www.example.com",
            "cache-control: no-cache",
        ],
        &[
            ":method: GET",
            ":scheme: https",
            ":path: /index.html",
            ":authority: www.example.com",
            "custom-key: custom-value",
        ],
    ];

    #[test]
    fn rfc_c3_requests() {
        check(
            4096,
            &[
                (
                    "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                    C3[0],
                    57,
                ),
                ("8286 84be 5808 6e6f 2d63 6163 6865", C3[1], 110),
                (
                    "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
                    C3[2],
                    164,
                ),
            ],
        );
    }

    #[test]
    fn rfc_c4_requests_with_huffman() {
        check(
            4096,
            &[
                ("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", C3[0], 57),
                ("8286 84be 5886 a8eb 1064 9cbf", C3[1], 110),
                (
                    "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
                    C3[2],
                    164,
                ),
            ],
        );
    }

    const C5: [&[&str]; 3] = [
        &[
            ":status: 302",
            "cache-control: private",
            "date: Mon, 21 Oct 2013 20:13:21 GMT",
            "location: https://www.example.com",
        ],
        &[
            ":status: 307",
            "cache-control: private",
            "date: Mon, 21 Oct 2013 20:13:21 GMT",
            "location: https://www.example.com",
        ],
        &[
            ":status: 200",
            "cache-control: private",
            "date: Mon, 21 Oct 2013 20:13:22 GMT",
            "location: https://www.example.com",
            "content-encoding: gzip",
            "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
        ],
    ];

    #[test]
    fn rfc_c5_responses_with_eviction() {
        check(
            256,
            &[
                (
                    "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 \
                     2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 \
                     6c65 2e63 6f6d",
                    C5[0],
                    222,
                ),
                ("4803 3330 37c1 c0bf", C5[1], 222),
                (
                    "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d \
                     54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 \
                     5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e \
                     3d31",
                    C5[2],
                    215,
                ),
            ],
        );
    }

    #[test]
    fn rfc_c6_responses_with_huffman() {
        check(
            256,
            &[
                (
                    "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 \
                     2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
                    C5[0],
                    222,
                ),
                ("4883 640e ffc1 c0bf", C5[1], 222),
                (
                    "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab \
                     77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f \
                     9587 3160 65c0 03ed 4ee5 b106 3d50 07",
                    C5[2],
                    215,
                ),
            ],
        );
    }

    #[test]
    fn integers_of_c1() {
        for (value, prefix_bits, expect) in [
            (10, 5, &[0x0a][..]),
            (1337, 5, &[0x1f, 0x9a, 0x0a]),
            (42, 8, &[0x2a]),
            (31, 5, &[0x1f, 0]),
        ] {
            let mut out = Vec::new();
            encode::integer(&mut out, 0, prefix_bits, value);
            assert_eq!(out, expect);
            let mut block = Block(&out);
            let first = block.byte().unwrap();
            assert_eq!(block.integer(first, u32::from(prefix_bits)), Ok(value));
        }
    }

    #[test]
    fn refused() {
        for (hex, expect) in [
            ("80", HpackError::Index),
            ("be", HpackError::Index),
            ("7f ff ff ff ff 0f", HpackError::Integer),
            ("ff ff ff ff ff ff ff ff ff ff ff 01", HpackError::Integer),
            ("40", HpackError::Short),
            ("4005 6162", HpackError::Short),
            ("0f", HpackError::Short),
            ("3f e2 1f", HpackError::TableSize),
            ("82 20", HpackError::TableSize),
            ("0081 ff 00", HpackError::Huffman),
        ] {
            assert_eq!(
                decode(&mut Decoder::new(4096), &unhex(hex)),
                Err(expect),
                "{hex}"
            );
        }
        assert_eq!(
            decode(&mut Decoder::new(4096), &unhex("20 3f e1 1f 82"))
                .unwrap()
                .len(),
            1
        );
    }

    /// How a field is written.
    fn write(block: &mut Vec<u8>, form: u8, name: &str, value: &str) {
        block.push(match form % 3 {
            0 => 0x40,
            1 => 0x00,
            _ => 0x10,
        });
        for text in [name, value] {
            let coded = huffman_encode(text.as_bytes());
            if form & 0x80 == 0 {
                encode::integer(block, 0, 7, text.len());
                block.extend_from_slice(text.as_bytes());
            } else {
                encode::integer(block, 0x80, 7, coded.len());
                block.extend_from_slice(&coded);
            }
        }
    }

    #[test]
    fn marks_stay_with_their_fields() {
        let mut decoder = Decoder::new(100);
        let mut marks = |block: &[u8], new: u8| {
            let mut seen = Vec::new();
            let take = |field: Field<'_>| {
                seen.push(field.mark);
                new
            };
            decoder.decode(block, &mut Vec::new(), take).unwrap();
            seen
        };
        assert_eq!(marks(&[0x83, 0x40, 1, b'a', 1, b'1', 0xbe], 5), [0, 0, 5]);
        assert_eq!(marks(&[0x83, 0xbe, 0x40, 1, b'b', 1, b'2'], 6), [5, 5, 0]);
        assert_eq!(
            marks(&[0x83, 0xbe, 0xbf, 0x00, 1, b'a', 1, b'1'], 7),
            [6, 6, 6, 0]
        );
        // The third evicts the first.
        assert_eq!(marks(&[0x40, 1, b'c', 1, b'3', 0xbe, 0xbf], 8), [0, 8, 7]);
    }

    proptest! {
        #[test]
        fn round_trip(
            table_bytes in 0usize..200,
            blocks in proptest::collection::vec(
                proptest::collection::vec((any::<u8>(), "[a-z-]{1,30}", "[ -~]{0,60}"), 0..8), 1..8),
        ) {
            let mut decoder = Decoder::new(table_bytes);
            // A list of what the table must hold, newest first, to refer to fields by index.
            let mut table: Vec<(String, String)> = Vec::new();
            for fields in blocks {
                let (mut block, mut expect) = (Vec::new(), Vec::new());
                for (form, name, value) in fields {
                    let again = table.iter().position(|(n, _)| n.len() % 4 == usize::from(form) % 4);
                    if let (true, Some(at)) = (form & 0x40 != 0, again) {
                        encode::indexed(&mut block, 62 + at);
                        expect.push(table[at].clone());
                        continue;
                    }
                    write(&mut block, form, &name, &value);
                    expect.push((name.clone(), value.clone()));
                    if form % 3 == 0 {
                        table.insert(0, (name, value));
                        let mut size = 0;
                        table.retain(|(n, v)| { size += n.len() + v.len() + 32; size <= table_bytes });
                    }
                }
                prop_assert_eq!(decode(&mut decoder, &block).unwrap(), expect);
            }
        }

        #[test]
        fn any_bytes(blocks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 1..4)) {
            let mut decoder = Decoder::new(4096);
            for block in blocks {
                let _ = decode(&mut decoder, &block);
            }
        }
    }
}
