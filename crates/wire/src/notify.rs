//! What became of bids: the messages of `Notify` (`schema/bidder.proto`), owned. Protobuf only.
//!
//! They are small and rare, so they are decoded as a whole; unknown fields are passed over.

use openrtb::{Read, Refusal};

use crate::protobuf::cursor::{Fields, LEN, VARINT, tag};

/// Notices in one call at most.
pub const NOTICES_MAX: usize = 1000;

/// What became of one bid. Texts that are not UTF-8 are malformed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notice {
    /// [`NoticeKind`] by number; 0 where it is not given.
    pub kind: i32,
    /// `bid.id`.
    pub bid_id: String,
    /// Price for 1,000 impressions in millionths of a unit of `cur`.
    pub price_micros: Option<i64>,
    /// The price's currency.
    pub cur: Option<String>,
    /// Why the bid was lost (AdCOM "Loss Reason Codes").
    pub loss_reason: Option<i32>,
    /// `id` of the request.
    pub auction_id: Option<String>,
    /// `bid.impid`.
    pub imp_id: Option<String>,
}

/// What a notice says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the kinds of schema/bidder.proto, by name")]
pub enum NoticeKind {
    Win = 1,
    Billing = 2,
    Loss = 3,
}

impl NoticeKind {
    /// The kind with this number.
    pub const fn from_number(number: i32) -> Option<NoticeKind> {
        match number {
            1 => Some(NoticeKind::Win),
            2 => Some(NoticeKind::Billing),
            3 => Some(NoticeKind::Loss),
            _ => None,
        }
    }
}

/// What a notice did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the outcomes of schema/bidder.proto, by name")]
pub enum NoticeOutcome {
    Applied = 1,
    Duplicate = 2,
    Unknown = 3,
    Late = 4,
}

impl NoticeOutcome {
    /// The outcome with this number.
    pub const fn from_number(number: i32) -> Option<NoticeOutcome> {
        match number {
            1 => Some(NoticeOutcome::Applied),
            2 => Some(NoticeOutcome::Duplicate),
            3 => Some(NoticeOutcome::Unknown),
            4 => Some(NoticeOutcome::Late),
            _ => None,
        }
    }
}

/// Reads a `NotifyRequest`. `None` in place of the notices where there are more than
/// [`NOTICES_MAX`].
///
/// # Errors
/// [`Refusal::Malformed`], and groups nested too deep.
pub fn decode_request(bytes: &[u8]) -> Read<Option<Vec<Notice>>> {
    const NOTICES: u32 = tag(1, LEN);
    let (mut fields, mut notices) = (Fields::new(bytes), Vec::new());
    while let Some(tag) = fields.tag()? {
        match tag {
            NOTICES if notices.len() == NOTICES_MAX => return Ok(None),
            NOTICES => notices.push(decode_notice(fields.message()?)?),
            other => fields.skip(other)?,
        }
    }
    Ok(Some(notices))
}

fn decode_notice(mut fields: Fields<'_>) -> Read<Notice> {
    let mut notice = Notice::default();
    while let Some(field) = fields.tag()? {
        match (field >> 3, field & 7) {
            (1, VARINT) => notice.kind = int32(fields.varint()?),
            (2, LEN) => notice.bid_id = text(&mut fields)?,
            // An int64 is sent as its two's complement.
            (3, VARINT) => notice.price_micros = Some(fields.varint()? as i64),
            (4, LEN) => notice.cur = Some(text(&mut fields)?),
            (5, VARINT) => notice.loss_reason = Some(int32(fields.varint()?)),
            (6, LEN) => notice.auction_id = Some(text(&mut fields)?),
            (7, LEN) => notice.imp_id = Some(text(&mut fields)?),
            _ => fields.skip(field)?,
        }
    }
    Ok(notice)
}

/// Appends a `NotifyRequest`.
pub fn encode_request(notices: &[Notice], out: &mut Vec<u8>) {
    let mut message = Vec::new();
    for notice in notices {
        message.clear();
        push_int(1, i64::from(notice.kind), &mut message);
        push_text(2, &notice.bid_id, &mut message);
        if let Some(price) = notice.price_micros {
            push_int(3, price, &mut message);
        }
        if let Some(cur) = &notice.cur {
            push_text(4, cur, &mut message);
        }
        if let Some(reason) = notice.loss_reason {
            push_int(5, i64::from(reason), &mut message);
        }
        if let Some(id) = &notice.auction_id {
            push_text(6, id, &mut message);
        }
        if let Some(id) = &notice.imp_id {
            push_text(7, id, &mut message);
        }
        push_bytes(1, &message, out);
    }
}

/// Appends a `NotifyResponse`.
pub fn encode_response(outcomes: &[NoticeOutcome], out: &mut Vec<u8>) {
    // Every outcome is one byte as a varint; a packed list of them is their bytes.
    let packed: Vec<u8> = outcomes.iter().map(|outcome| *outcome as u8).collect();
    if !packed.is_empty() {
        push_bytes(1, &packed, out);
    }
}

/// Reads a `NotifyResponse`. An outcome that is not known reads as `None`.
///
/// # Errors
/// As [`decode_request`].
pub fn decode_response(bytes: &[u8]) -> Read<Vec<Option<NoticeOutcome>>> {
    let (mut fields, mut outcomes) = (Fields::new(bytes), Vec::new());
    let outcome = |value| NoticeOutcome::from_number(int32(value));
    while let Some(field) = fields.tag()? {
        match (field >> 3, field & 7) {
            (1, VARINT) => outcomes.push(outcome(fields.varint()?)),
            (1, LEN) => {
                let mut packed = fields.message()?;
                while !packed.is_done() {
                    outcomes.push(outcome(packed.varint()?));
                }
            }
            _ => fields.skip(field)?,
        }
    }
    Ok(outcomes)
}

/// An enum or int32 as protobuf reads it: the low 32 bits.
fn int32(value: u64) -> i32 {
    value as i32
}

fn text(fields: &mut Fields<'_>) -> Read<String> {
    let text = std::str::from_utf8(fields.bytes()?);
    text.map(str::to_owned).map_err(|_| Refusal::Malformed)
}

fn push_int(number: u32, value: i64, out: &mut Vec<u8>) {
    push_varint(tag(number, VARINT).into(), out);
    push_varint(value as u64, out);
}

fn push_text(number: u32, value: &str, out: &mut Vec<u8>) {
    push_bytes(number, value.as_bytes(), out);
}

fn push_bytes(number: u32, value: &[u8], out: &mut Vec<u8>) {
    push_varint(tag(number, LEN).into(), out);
    push_varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_back() {
        let notices = vec![
            Notice {
                kind: NoticeKind::Billing as i32,
                bid_id: "é".into(),
                price_micros: Some(-1),
                cur: Some("EUR".into()),
                ..Notice::default()
            },
            Notice {
                kind: 3,
                loss_reason: Some(102),
                auction_id: Some("a".into()),
                imp_id: Some("1".into()),
                ..Notice::default()
            },
        ];
        let mut bytes = Vec::new();
        encode_request(&notices, &mut bytes);
        assert_eq!(decode_request(&bytes), Ok(Some(notices)));
    }

    #[test]
    fn a_response_comes_back_packed_or_not() {
        use NoticeOutcome::{Applied, Late};
        let mut bytes = Vec::new();
        encode_response(&[Applied, Late], &mut bytes);
        assert_eq!(bytes, [10, 2, 1, 4]);
        let expect = Ok(vec![Some(Applied), Some(Late)]);
        assert_eq!(decode_response(&bytes), expect);
        assert_eq!(decode_response(&[8, 1, 8, 4]), expect);
        assert_eq!(decode_response(&[8, 9]), Ok(vec![None]));
    }

    #[test]
    fn hostile_requests_are_refused() {
        for bytes in [
            &b"\x0a\x05a"[..],
            b"\x0a\x03\x12\x01\xff",
            b"\x0a",
            b"\x08",
            b"\x0a\x02\x12\x7f",
            b"\x0b",
        ] {
            assert!(decode_request(bytes).is_err(), "{bytes:x?}");
        }
        let many = [10, 0].repeat(NOTICES_MAX + 1);
        assert_eq!(decode_request(&many), Ok(None));
        let most = decode_request(many.get(2..).unwrap_or_default());
        assert_eq!(
            most.map(|notices| notices.map(|n| n.len())),
            Ok(Some(NOTICES_MAX))
        );
    }
}
