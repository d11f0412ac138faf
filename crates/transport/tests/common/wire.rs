//! Frames written and read the simple way, to talk to a machine with.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use transport::h2::hpack::{Decoder, literal};

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const WITH_PRIORITY: u8 = 0x20;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

pub fn settings(pairs: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> = pairs
        .iter()
        .flat_map(|(k, v)| [&k.to_be_bytes()[..], &v.to_be_bytes()].concat())
        .collect();
    frame(SETTINGS, 0, 0, &payload)
}

pub fn hello() -> Vec<u8> {
    [PREFACE, &settings(&[])].concat()
}

pub fn window(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW, 0, stream, &increment.to_be_bytes())
}

pub fn rst(stream: u32, code: u32) -> Vec<u8> {
    frame(RST, 0, stream, &code.to_be_bytes())
}

pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        literal(&mut out, name.as_bytes(), value.as_bytes());
    }
    out
}

/// A gRPC request's header list, and more fields.
pub fn request_block(path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let mut fields = vec![
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        ("content-type", "application/grpc"),
    ];
    fields.extend(more);
    block(&fields)
}

pub fn headers(stream: u32, flags: u8, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    frame(
        HEADERS,
        END_HEADERS | flags,
        stream,
        &request_block(path, more),
    )
}

/// A message behind its prefix.
pub fn message(bytes: &[u8]) -> Vec<u8> {
    [
        &[0][..],
        &u32::try_from(bytes.len()).unwrap().to_be_bytes(),
        bytes,
    ]
    .concat()
}

pub fn data(stream: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    frame(DATA, flags, stream, payload)
}

/// A whole unary call.
pub fn call(stream: u32, path: &str, bytes: &[u8]) -> Vec<u8> {
    [
        headers(stream, 0, path, &[]),
        data(stream, END, &message(bytes)),
    ]
    .concat()
}

/// Frames as lines, to compare: kind, stream, flags, and what is in them.
pub struct Reader {
    decoder: Decoder,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            decoder: Decoder::new(4096),
        }
    }
}

impl Reader {
    pub fn lines(&mut self, mut bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        while !bytes.is_empty() {
            let length = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]) as usize;
            let (kind, flags) = (bytes[3], bytes[4]);
            let stream = u32::from_be_bytes(bytes[5..9].try_into().unwrap());
            lines.push(self.line(kind, flags, stream, &bytes[9..9 + length]));
            bytes = &bytes[9 + length..];
        }
        lines
    }

    fn line(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> String {
        let number = |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
        let end = if kind < 2 && flags & END != 0 {
            " end"
        } else {
            ""
        };
        match kind {
            DATA if payload.len() > 40 => format!("DATA {stream} {} bytes{end}", payload.len()),
            DATA => format!("DATA {stream} {:?}{end}", String::from_utf8_lossy(payload)),
            HEADERS => {
                let mut fields = Vec::new();
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                self.decoder
                    .decode(payload, &mut Vec::new(), |field| {
                        fields.push(format!("{}={}", text(field.name), text(field.value)));
                        0
                    })
                    .unwrap();
                format!("HEADERS {stream} {}{end}", fields.join(" "))
            }
            RST => format!("RST {stream} {}", number(0)),
            SETTINGS if flags & ACK != 0 => "SETTINGS ACK".to_owned(),
            SETTINGS => "SETTINGS".to_owned(),
            PING => format!(
                "PING{} {}",
                if flags & ACK != 0 { " ACK" } else { "" },
                String::from_utf8_lossy(payload)
            ),
            GOAWAY => format!(
                "GOAWAY {} {} {}",
                number(0),
                number(4),
                String::from_utf8_lossy(&payload[8..])
            ),
            WINDOW => format!("WINDOW {stream} {}", number(0)),
            _ => panic!("frame of kind {kind}"),
        }
    }
}
