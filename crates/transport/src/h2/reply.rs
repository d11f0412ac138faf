//! Header blocks of replies. What every reply says goes into the client's table once, and is a byte
//! from then on.

use super::grpc;
use super::hpack;
use crate::{Code, Status};

/// Static table: `:status: 200`.
const STATUS_200: usize = 8;
/// Static table: a name for other statuses.
const STATUS_NAME: usize = 8;
/// Static table.
const CONTENT_TYPE_NAME: usize = 31;
/// The dynamic table starts here.
const DYNAMIC_FIRST: usize = 62;
/// The table of a peer that says nothing, and as much as two fields of ours need.
const TABLE_BYTES_DEFAULT: u32 = 4096;
/// Longer subtypes are spelled out every time.
const SUBTYPE_BYTES_MAX: usize = 64;

/// The encoder of one connection.
#[derive(Debug, Default)]
pub(crate) struct ReplyEncoder {
    /// Fields we put into the peer's table. It never has more than two, so none is ever evicted.
    inserted: usize,
    /// The number of the insertion that holds `content-type`, and for which subtype.
    content_type: Option<(usize, String)>,
    /// The number of the insertion that holds `grpc-status: 0`.
    ok: Option<usize>,
    /// The peer wants a smaller table: ours is given up.
    without_table: bool,
}

impl ReplyEncoder {
    /// To be called at the start of every block, with the smallest table the peer asked for so far.
    #[inline]
    fn begin(&mut self, out: &mut Vec<u8>, table_bytes_min: u32) {
        if table_bytes_min < TABLE_BYTES_DEFAULT && !self.without_table {
            hpack::table_size_update(out, 0);
            *self = Self {
                without_table: true,
                ..Self::default()
            };
        }
    }

    /// The headers before a reply's first message.
    #[inline]
    pub fn headers(&mut self, out: &mut Vec<u8>, table_bytes_min: u32, subtype: &str) {
        self.begin(out, table_bytes_min);
        hpack::indexed(out, STATUS_200);
        match &self.content_type {
            Some((number, known)) if known == subtype => {
                hpack::indexed(out, DYNAMIC_FIRST + self.inserted - number);
            }
            _ => self.content_type(out, subtype),
        }
    }

    fn content_type(&mut self, out: &mut Vec<u8>, subtype: &str) {
        let mut value = grpc::CONTENT_TYPE.to_vec();
        if !subtype.is_empty() {
            value.push(b'+');
            value.extend_from_slice(subtype.as_bytes());
        }
        if self.without_table || self.content_type.is_some() || subtype.len() > SUBTYPE_BYTES_MAX {
            return hpack::literal_named(out, CONTENT_TYPE_NAME, &value);
        }
        hpack::literal_indexing(out, CONTENT_TYPE_NAME, b"", &value);
        self.inserted += 1;
        self.content_type = Some((self.inserted, subtype.to_owned()));
    }

    /// The trailers of a call that ended well.
    #[inline]
    pub fn ok(&mut self, out: &mut Vec<u8>, table_bytes_min: u32) {
        self.begin(out, table_bytes_min);
        if let Some(number) = self.ok {
            hpack::indexed(out, DYNAMIC_FIRST + self.inserted - number);
        } else if self.without_table {
            hpack::literal(out, b"grpc-status", b"0");
        } else {
            hpack::literal_indexing(out, 0, b"grpc-status", b"0");
            self.inserted += 1;
            self.ok = Some(self.inserted);
        }
    }

    /// The trailers of a call that ended otherwise.
    pub fn failed(&mut self, out: &mut Vec<u8>, table_bytes_min: u32, status: &Status) {
        self.begin(out, table_bytes_min);
        let mut code = Vec::new();
        grpc::write_decimal(&mut code, u64::from(status.code.number()));
        hpack::literal(out, b"grpc-status", &code);
        if !status.message.is_empty() {
            hpack::literal(out, b"grpc-message", &grpc::percent_encode(&status.message));
        }
        if status.code == Code::Unimplemented {
            // Tells a client whose compression was refused what is spoken.
            hpack::literal(out, b"grpc-accept-encoding", b"identity");
        }
    }

    /// An answer to what is no gRPC.
    pub fn not_grpc(&mut self, out: &mut Vec<u8>, table_bytes_min: u32, http_status: &str) {
        self.begin(out, table_bytes_min);
        hpack::literal_named(out, STATUS_NAME, http_status.as_bytes());
        hpack::literal_named(out, CONTENT_TYPE_NAME, b"text/plain");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(
        decoder: &mut hpack::Decoder,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> (usize, Vec<String>) {
        let (mut block, mut fields) = (Vec::new(), Vec::new());
        write(&mut block);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decoder
            .decode(&block, &mut Vec::new(), |n, v| {
                fields.push(format!("{}: {}", text(n), text(v)))
            })
            .unwrap();
        (block.len(), fields)
    }

    #[test]
    fn a_warm_reply_is_three_bytes() {
        let (mut encoder, mut decoder) = (ReplyEncoder::default(), hpack::Decoder::new(4096));
        for (subtype, content_type, headers_bytes) in [
            ("proto", "content-type: application/grpc+proto", None),
            ("proto", "content-type: application/grpc+proto", Some(2)),
            ("json", "content-type: application/grpc+json", None),
            ("", "content-type: application/grpc", None),
            ("proto", "content-type: application/grpc+proto", Some(2)),
        ] {
            let (bytes, fields) = read(&mut decoder, |out| encoder.headers(out, u32::MAX, subtype));
            assert_eq!(fields, [":status: 200", content_type]);
            assert!(headers_bytes.is_none_or(|expect| expect == bytes));
            let (_, fields) = read(&mut decoder, |out| encoder.ok(out, u32::MAX));
            assert_eq!(fields, ["grpc-status: 0"]);
        }
        assert_eq!(read(&mut decoder, |out| encoder.ok(out, u32::MAX)).0, 1);
    }

    /// A peer that wants a smaller table, at any time, is told that ours is gone.
    #[test]
    fn a_smaller_table() {
        for warm in [false, true] {
            let (mut encoder, mut decoder) = (ReplyEncoder::default(), hpack::Decoder::new(4096));
            if warm {
                read(&mut decoder, |out| encoder.headers(out, 4096, ""));
                read(&mut decoder, |out| encoder.ok(out, 4096));
            }
            for _ in 0..2 {
                let (_, fields) = read(&mut decoder, |out| encoder.headers(out, 100, ""));
                assert_eq!(fields, [":status: 200", "content-type: application/grpc"]);
                assert_eq!(
                    read(&mut decoder, |out| encoder.ok(out, 100)).1,
                    ["grpc-status: 0"]
                );
            }
        }
    }

    #[test]
    fn failures() {
        let (mut encoder, mut decoder) = (ReplyEncoder::default(), hpack::Decoder::new(4096));
        let status = Status::new(Code::Unimplemented, "no 100%");
        let (_, fields) = read(&mut decoder, |out| encoder.failed(out, u32::MAX, &status));
        assert_eq!(
            fields,
            [
                "grpc-status: 12",
                "grpc-message: no 100%25",
                "grpc-accept-encoding: identity"
            ]
        );
        let (_, fields) = read(&mut decoder, |out| encoder.not_grpc(out, u32::MAX, "415"));
        assert_eq!(fields, [":status: 415", "content-type: text/plain"]);
    }
}
