//! The response that nearly every request gets: no bid, and why. Written straight into the reply
//! buffer, which is used again and again, so that a no allocates nothing.

use std::io::Write;

use openrtb::Text;

use crate::Format;
use crate::fields::response;
use crate::protobuf::cursor::{LEN, VARINT, tag};

/// Appends a `BidResponse` that holds nothing but `id`, if it is known, and `nbr`
/// (OpenRTB 2.6, 4.2.1).
pub fn no_bid(format: Format, id: Option<Text<'_>>, nbr: i32, out: &mut Vec<u8>) {
    match format {
        Format::Json => json(id, nbr, out),
        Format::Protobuf => with(id, |id| protobuf(id, nbr, out)),
        Format::FlatBuffers => with(id, |id| flatbuffers(id, nbr, out)),
    }
}

fn with(id: Option<Text<'_>>, f: impl FnOnce(Option<&str>)) {
    match id {
        Some(id) => id.with(|id| f(Some(id))),
        None => f(None),
    }
}

fn json(id: Option<Text<'_>>, nbr: i32, out: &mut Vec<u8>) {
    out.push(b'{');
    if let Some(id) = id {
        out.extend_from_slice(b"\"id\":\"");
        match id {
            Text::Escaped(spelled) => out.extend_from_slice(spelled.as_bytes()),
            plain => plain.with(|id| push_escaped(id, out)),
        }
        out.extend_from_slice(b"\",");
    }
    // Writing to a vector cannot fail.
    let _ = write!(out, "\"nbr\":{nbr}}}");
}

/// Spells a text as JSON does (RFC 8259, section 7), without the quotes.
fn push_escaped(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => {
                let _ = write!(out, "\\u{byte:04x}");
            }
            _ => out.push(byte),
        }
    }
}

fn protobuf(id: Option<&str>, nbr: i32, out: &mut Vec<u8>) {
    if let Some(id) = id {
        push_varint(tag(response::ID.into(), LEN).into(), out);
        push_varint(id.len() as u64, out);
        out.extend_from_slice(id.as_bytes());
    }
    push_varint(tag(response::NBR.into(), VARINT).into(), out);
    // A negative int32 is extended to 64 bits.
    push_varint(i64::from(nbr) as u64, out);
}

fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The root offset, a vtable, padding, the table, and behind it the string, each at a multiple of
/// its alignment.
fn flatbuffers(id: Option<&str>, nbr: i32, out: &mut Vec<u8>) {
    const VTABLE_AT: usize = 4;
    const VTABLE_BYTES: usize = 4 + 2 * (response::NBR as usize + 1);
    const TABLE_AT: usize = (VTABLE_AT + VTABLE_BYTES).next_multiple_of(4);
    // In the table: the distance to the vtable, `nbr`, and the offset of `id`.
    const NBR_AT: u16 = 4;
    const ID_AT: u16 = 8;
    const TABLE_BYTES: u16 = 12;

    out.extend_from_slice(&(TABLE_AT as u32).to_le_bytes());
    let (id_at, table_bytes) = match id {
        Some(_) => (ID_AT, TABLE_BYTES),
        None => (0, ID_AT),
    };
    out.extend_from_slice(&(VTABLE_BYTES as u16).to_le_bytes());
    out.extend_from_slice(&table_bytes.to_le_bytes());
    for slot in 0..=response::NBR {
        let at = match slot {
            response::ID => id_at,
            response::NBR => NBR_AT,
            _ => 0,
        };
        out.extend_from_slice(&at.to_le_bytes());
    }
    out.extend_from_slice(&[0; TABLE_AT - VTABLE_AT - VTABLE_BYTES]);
    out.extend_from_slice(&((TABLE_AT - VTABLE_AT) as i32).to_le_bytes());
    out.extend_from_slice(&nbr.to_le_bytes());
    if let Some(id) = id {
        // The string stands right behind the offset that leads to it.
        out.extend_from_slice(&u32::from(TABLE_BYTES - ID_AT).to_le_bytes());
        // Ids are as long as the request that they came in, which is below 2³² bytes.
        out.extend_from_slice(&(id.len() as u32).to_le_bytes());
        out.extend_from_slice(id.as_bytes());
        out.push(0);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::flatbuffers::cursor::Table;

    const IDS: [Option<Text<'static>>; 5] = [
        None,
        Some(Text::Plain("r1")),
        Some(Text::Plain("a \"quote\", a \\ and a \u{1}")),
        Some(Text::Escaped(r"\u0072\/\n1")),
        Some(Text::Plain("é😀")),
    ];

    fn check(format: Format, read: impl Fn(&[u8]) -> (Option<Vec<u8>>, i32)) {
        for id in IDS {
            for nbr in [2, 507, 0, -1] {
                let mut out = Vec::new();
                no_bid(format, id, nbr, &mut out);
                let id = id.map(|id| id.into_string().into_bytes());
                assert_eq!(read(&out), (id, nbr));
            }
        }
    }

    #[test]
    fn flatbuffers_reads_back() {
        check(Format::FlatBuffers, |bytes| {
            let table = Table::root(bytes).unwrap();
            let id = table.string(response::ID).unwrap();
            (
                id.map(<[u8]>::to_vec),
                table.i32(response::NBR).unwrap().unwrap(),
            )
        });
    }

    #[test]
    fn protobuf_reads_back() {
        use crate::protobuf::cursor::{Fields, int32};
        check(Format::Protobuf, |bytes| {
            let mut fields = Fields::new(bytes);
            let (mut id, mut nbr) = (None, None);
            while let Some(tag) = fields.tag().unwrap() {
                match tag {
                    10 => id = Some(fields.bytes().unwrap().to_vec()),
                    48 => nbr = int32(fields.varint().unwrap()),
                    _ => unreachable!(),
                }
            }
            (id, nbr.unwrap())
        });
    }

    #[test]
    fn json_reads_back() {
        check(Format::Json, |bytes| {
            let value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            let id = value["id"].as_str().map(|id| id.as_bytes().to_vec());
            (id, value["nbr"].as_i64().unwrap() as i32)
        });
    }

    #[test]
    fn it_is_appended() {
        for format in Format::ALL {
            let (mut alone, mut behind) = (Vec::new(), b"12345".to_vec());
            no_bid(format, IDS[1], 507, &mut alone);
            no_bid(format, IDS[1], 507, &mut behind);
            assert_eq!(behind, [b"12345", &*alone].concat());
        }
    }
}
