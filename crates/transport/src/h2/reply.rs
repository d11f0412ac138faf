//! Header blocks of replies.

use super::grpc;
use super::hpack::{self, Encoder, Memo, Name};
use crate::{Code, Status};

/// Static table: `:status: 200`.
const STATUS_200: usize = 8;
/// Static table: a name for other statuses.
const STATUS_NAME: usize = 8;
/// Static table.
const CONTENT_TYPE_NAME: usize = 31;

/// The encoder of one connection.
#[derive(Debug, Default)]
pub(crate) struct ReplyEncoder {
    encoder: Encoder,
    headers: Memo,
    ok: Memo,
}

impl ReplyEncoder {
    /// The headers before a reply's first message. `table_bytes_min` is the smallest table that the
    /// peer asked for so far.
    #[inline]
    pub fn headers(&mut self, out: &mut Vec<u8>, table_bytes_min: u32, subtype: &str) {
        self.encoder.begin(out, table_bytes_min);
        self.encoder
            .run(out, &mut self.headers, [subtype, ""], |encoder, out| {
                hpack::indexed(out, STATUS_200);
                let start = if subtype.is_empty() {
                    grpc::CONTENT_TYPE
                } else {
                    grpc::CONTENT_TYPE_PLUS
                };
                encoder.field(
                    out,
                    Name::Index(CONTENT_TYPE_NAME),
                    [start, subtype.as_bytes()],
                );
            });
    }

    /// The trailers of a call that ended well.
    #[inline]
    pub fn ok(&mut self, out: &mut Vec<u8>, table_bytes_min: u32) {
        self.encoder.begin(out, table_bytes_min);
        self.encoder
            .run(out, &mut self.ok, ["", ""], |encoder, out| {
                encoder.field(out, Name::Spelled("grpc-status"), [b"0", b""]);
            });
    }

    /// The trailers of a call that ended otherwise.
    pub fn failed(&mut self, out: &mut Vec<u8>, table_bytes_min: u32, status: &Status) {
        self.encoder.begin(out, table_bytes_min);
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
        self.encoder.begin(out, table_bytes_min);
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
            .decode(&block, &mut Vec::new(), |field| {
                fields.push(format!("{}: {}", text(field.name), text(field.value)));
                0
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
            ("json", "content-type: application/grpc+json", Some(2)),
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
