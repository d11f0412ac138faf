//! Frames as bytes (RFC 9113 4 and 6).

use crate::Counter;
use std::fmt;

/// What a client says first (RFC 9113 3.4).
pub(crate) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes of a frame's head.
pub(crate) const HEAD_BYTES: usize = 9;
/// The payload we take, and what a peer takes that says nothing else (`SETTINGS_MAX_FRAME_SIZE`).
pub(crate) const FRAME_BYTES_MAX: usize = 16_384;
/// The highest stream identifier, and the highest window.
pub(crate) const MAX_31: u32 = 0x7fff_ffff;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

/// On DATA and HEADERS.
pub(crate) const END_STREAM: u8 = 0x1;
/// On SETTINGS and PING.
pub(crate) const ACK: u8 = 0x1;
/// On HEADERS and CONTINUATION.
pub(crate) const END_HEADERS: u8 = 0x4;
/// On DATA and HEADERS.
pub(crate) const PADDED: u8 = 0x8;
/// On HEADERS.
pub(crate) const WITH_PRIORITY: u8 = 0x20;

pub(crate) const SETTINGS_HEADER_TABLE_SIZE: u16 = 1;
pub(crate) const SETTINGS_ENABLE_PUSH: u16 = 2;
pub(crate) const SETTINGS_MAX_CONCURRENT_STREAMS: u16 = 3;
pub(crate) const SETTINGS_INITIAL_WINDOW_SIZE: u16 = 4;
pub(crate) const SETTINGS_MAX_FRAME_SIZE: u16 = 5;
pub(crate) const SETTINGS_MAX_HEADER_LIST_SIZE: u16 = 6;

/// HTTP/2's error codes (RFC 9113 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the standard's")]
pub enum ErrorCode {
    NoError = 0,
    Protocol = 1,
    Internal = 2,
    FlowControl = 3,
    SettingsTimeout = 4,
    StreamClosed = 5,
    FrameSize = 6,
    RefusedStream = 7,
    Cancel = 8,
    Compression = 9,
    EnhanceYourCalm = 11,
}

/// Why a connection cannot go on; the peer is told with a GOAWAY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionError {
    /// What the GOAWAY says.
    pub code: ErrorCode,
    /// Where it is counted.
    pub cause: Counter,
    /// What was wrong, for people.
    pub what: &'static str,
}

impl std::error::Error for ConnectionError {}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

impl ConnectionError {
    pub(crate) const fn protocol(what: &'static str) -> Self {
        Self {
            code: ErrorCode::Protocol,
            cause: Counter::ErrorProtocol,
            what,
        }
    }

    pub(crate) const fn frame_size(what: &'static str) -> Self {
        Self {
            code: ErrorCode::FrameSize,
            cause: Counter::ErrorFrameSize,
            what,
        }
    }

    pub(crate) const fn flow_control(what: &'static str) -> Self {
        Self {
            code: ErrorCode::FlowControl,
            cause: Counter::ErrorFlowControl,
            what,
        }
    }

    pub(crate) const fn stream_closed(what: &'static str) -> Self {
        Self {
            code: ErrorCode::StreamClosed,
            cause: Counter::ErrorStreamClosed,
            what,
        }
    }

    pub(crate) const fn compression(what: &'static str) -> Self {
        Self {
            code: ErrorCode::Compression,
            cause: Counter::ErrorCompression,
            what,
        }
    }

    pub(crate) const fn calm(cause: Counter, what: &'static str) -> Self {
        Self {
            code: ErrorCode::EnhanceYourCalm,
            cause,
            what,
        }
    }
}

/// A frame's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl Head {
    /// The head at the start of `input`, and what follows it; `None` if it is not there yet.
    #[inline]
    pub fn split(input: &[u8]) -> Option<(Self, &[u8])> {
        let ([a, b, c, kind, flags, stream @ ..], rest) =
            input.split_first_chunk::<HEAD_BYTES>()?;
        let length = u32::from_be_bytes([0, *a, *b, *c]);
        let stream = u32::from_be_bytes(*stream) & MAX_31;
        Some((
            Self {
                length: length as usize,
                kind: *kind,
                flags: *flags,
                stream,
            },
            rest,
        ))
    }

    pub fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// A frame's head as bytes.
#[inline]
pub(crate) fn head(length: usize, kind: u8, flags: u8, stream: u32) -> [u8; HEAD_BYTES] {
    let [_, a, b, c] = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    let [d, e, f, g] = stream.to_be_bytes();
    [a, b, c, kind, flags, d, e, f, g]
}

/// Appends a frame.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&head(payload.len(), kind, flags, stream));
    out.extend_from_slice(payload);
}

/// Appends a frame whose payload `write` appends.
#[inline]
pub(crate) fn put_with(
    out: &mut Vec<u8>,
    kind: u8,
    flags: u8,
    stream: u32,
    write: impl FnOnce(&mut Vec<u8>),
) {
    let at = out.len();
    out.extend_from_slice(&[0; HEAD_BYTES]);
    write(out);
    let length = out.len() - at - HEAD_BYTES;
    if let Some(place) = out.get_mut(at..at + HEAD_BYTES) {
        place.copy_from_slice(&head(length, kind, flags, stream));
    }
}

pub(crate) fn put_setting(payload: &mut Vec<u8>, setting: u16, value: u32) {
    payload.extend_from_slice(&setting.to_be_bytes());
    payload.extend_from_slice(&value.to_be_bytes());
}

pub(crate) fn put_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    put(out, WINDOW_UPDATE, 0, stream, &increment.to_be_bytes());
}

pub(crate) fn put_reset(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    put(
        out,
        RST_STREAM,
        0,
        stream,
        &u32::from(code as u8).to_be_bytes(),
    );
}

pub(crate) fn put_go_away(out: &mut Vec<u8>, last: u32, code: ErrorCode, what: &str) {
    put_with(out, GOAWAY, 0, 0, |out| {
        out.extend_from_slice(&last.to_be_bytes());
        out.extend_from_slice(&u32::from(code as u8).to_be_bytes());
        out.extend_from_slice(what.as_bytes());
    });
}
