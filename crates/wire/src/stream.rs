//! Streams of messages, in a file or a pipe: JSON one a line, protobuf each behind its length as a
//! varint, FlatBuffers each behind its length as four bytes, little-endian (size-prefixed).
//!
//! A record is held in memory one at a time, and never more than `message_bytes_max` of it. One that is
//! longer is an error that names it, and the next one can still be read.

use crate::Format;
use crate::message::{Encoder, Message};
use core::fmt;
use std::io::{self, BufRead, Read as _, Write};

/// The records of a stream, in order.
#[derive(Debug)]
pub struct Records<R> {
    format: Format,
    input: R,
    message_bytes_max: u32,
    record: Vec<u8>,
    /// Records (lines of JSON) begun so far.
    number: u64,
    /// Bytes read so far.
    offset: u64,
    /// Where the record at hand begins.
    begun: u64,
    /// What is left of a record that was too long.
    left_over: LeftOver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOver {
    None,
    /// Up to the end of the line.
    Line,
    Bytes(u64),
    /// Everything: where the next record would start is not known.
    All,
}

/// One record of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Counted from 1: the number of the line in JSON, of the message in the others.
    pub number: u64,
    /// Where the message starts in the stream, in bytes.
    pub offset: u64,
    /// The message, without its length or the end of its line.
    pub bytes: &'a [u8],
}

/// Why a record could not be read, and which.
#[derive(Debug)]
pub struct StreamError {
    /// [`Record::number`].
    pub number: u64,
    /// Where the record starts in the stream, in bytes.
    pub offset: u64,
    /// Why.
    pub kind: StreamErrorKind,
}

/// Why a record could not be read.
#[derive(Debug)]
pub enum StreamErrorKind {
    /// It is longer than this many bytes. The next record can be read.
    TooLong(u32),
    /// The stream ends inside of it.
    Truncated,
    /// Its length is no length. Nothing after it can be read.
    BadLength,
    /// The stream cannot be read.
    Io(io::Error),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}, at byte {}: ", self.number, self.offset)?;
        match &self.kind {
            StreamErrorKind::TooLong(max) => write!(f, "longer than {max} bytes"),
            StreamErrorKind::Truncated => f.write_str("the stream ends inside of it"),
            StreamErrorKind::BadLength => f.write_str("its length is no varint of 32 bits"),
            StreamErrorKind::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StreamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            StreamErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for StreamErrorKind {
    fn from(error: io::Error) -> StreamErrorKind {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => StreamErrorKind::Truncated,
            _ => StreamErrorKind::Io(error),
        }
    }
}

impl<R: BufRead> Records<R> {
    /// The records of `input`, none longer than `message_bytes_max`.
    pub fn new(format: Format, input: R, message_bytes_max: u32) -> Records<R> {
        Records {
            format,
            input,
            message_bytes_max,
            record: Vec::new(),
            number: 0,
            offset: 0,
            begun: 0,
            left_over: LeftOver::None,
        }
    }

    /// The next record; `None` at the end. Lines of white space are passed over, but counted.
    #[allow(
        clippy::should_implement_trait,
        reason = "lends its buffer, which an iterator cannot"
    )]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, StreamError> {
        let found = self.pass_left_over().and_then(|()| {
            self.begun = self.offset;
            match self.format {
                Format::Json => self.line(),
                Format::Protobuf => self.behind_varint(),
                Format::FlatBuffers => self.behind_u32(),
            }
        });
        match found {
            Ok(Some(offset)) => Ok(Some(Record {
                number: self.number,
                offset,
                bytes: &self.record,
            })),
            Ok(None) => Ok(None),
            Err(kind) => Err(StreamError {
                number: self.number,
                offset: self.begun,
                kind,
            }),
        }
    }

    /// Passes over what is left of a record that was too long.
    fn pass_left_over(&mut self) -> Result<(), StreamErrorKind> {
        self.offset += match core::mem::replace(&mut self.left_over, LeftOver::None) {
            LeftOver::None => 0,
            LeftOver::Line => self.input.skip_until(b'\n')? as u64,
            LeftOver::Bytes(len) => io::copy(&mut self.input.by_ref().take(len), &mut io::sink())?,
            LeftOver::All => io::copy(&mut self.input, &mut io::sink())?,
        };
        Ok(())
    }

    /// Reads a line that holds more than white space, and gives its place.
    fn line(&mut self) -> Result<Option<u64>, StreamErrorKind> {
        let max = self.message_bytes_max as usize;
        loop {
            self.record.clear();
            self.begun = self.offset;
            // One byte more than is allowed, and the end of the line.
            let mut input = self.input.by_ref().take(max as u64 + 2);
            let len = input.read_until(b'\n', &mut self.record)?;
            if len == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.offset += len as u64;
            let is_whole = self.record.last() == Some(&b'\n') || len < max + 2;
            let trimmed = self.record.trim_ascii_end().len();
            self.record.truncate(trimmed);
            if !is_whole {
                self.left_over = LeftOver::Line;
            }
            if trimmed > max {
                return Err(StreamErrorKind::TooLong(self.message_bytes_max));
            }
            if trimmed > 0 {
                return Ok(Some(self.begun));
            }
            self.pass_left_over()?;
        }
    }

    fn behind_varint(&mut self) -> Result<Option<u64>, StreamErrorKind> {
        let mut len = 0u64;
        for shift in (0..35).step_by(7) {
            let mut byte = [0];
            if self.input.read(&mut byte)? == 0 {
                return self.no_length(shift == 0);
            }
            self.offset += 1;
            let [byte] = byte;
            len |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 && u32::try_from(len).is_ok() {
                return self.body(len);
            }
        }
        self.number += 1;
        self.left_over = LeftOver::All;
        Err(StreamErrorKind::BadLength)
    }

    fn behind_u32(&mut self) -> Result<Option<u64>, StreamErrorKind> {
        let mut prefix = Vec::with_capacity(4);
        let read = self.input.by_ref().take(4).read_to_end(&mut prefix)?;
        self.offset += read as u64;
        match <[u8; 4]>::try_from(prefix) {
            Ok(prefix) => self.body(u32::from_le_bytes(prefix).into()),
            Err(_) => self.no_length(read == 0),
        }
    }

    /// The stream ends where a length is due, or inside of it.
    fn no_length(&mut self, is_end: bool) -> Result<Option<u64>, StreamErrorKind> {
        if is_end {
            return Ok(None);
        }
        self.number += 1;
        Err(StreamErrorKind::Truncated)
    }

    /// Reads a message of `len` bytes, and gives its place.
    fn body(&mut self, len: u64) -> Result<Option<u64>, StreamErrorKind> {
        self.number += 1;
        if len > self.message_bytes_max.into() {
            self.left_over = LeftOver::Bytes(len);
            return Err(StreamErrorKind::TooLong(self.message_bytes_max));
        }
        let start = self.offset;
        self.record.clear();
        let read = self
            .input
            .by_ref()
            .take(len)
            .read_to_end(&mut self.record)? as u64;
        self.offset += read;
        if read < len {
            return Err(StreamErrorKind::Truncated);
        }
        Ok(Some(start))
    }
}

/// Writes a stream that [`Records`] reads.
#[derive(Debug)]
pub struct RecordWriter<W> {
    format: Format,
    output: W,
    encoder: Encoder,
}

impl<W: Write> RecordWriter<W> {
    /// A writer of records. Give it a buffered `output`.
    pub fn new(format: Format, output: W) -> RecordWriter<W> {
        RecordWriter {
            format,
            output,
            encoder: Encoder::new(),
        }
    }

    /// Writes a message as the next record.
    pub fn write<M: Message>(&mut self, message: &M) -> io::Result<()> {
        let (format, output) = (self.format, &mut self.output);
        match format {
            Format::FlatBuffers => output.write_all(self.encoder.size_prefixed(message)),
            Format::Json => {
                // The text has no line breaks: those of strings are escaped.
                output.write_all(self.encoder.encode(format, message))?;
                output.write_all(b"\n")
            }
            Format::Protobuf => {
                let bytes = self.encoder.encode(format, message);
                write_varint(bytes.len(), output)?;
                output.write_all(bytes)
            }
        }
    }

    /// Writes what is buffered and gives the output back.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

fn write_varint(mut value: usize, output: &mut impl Write) -> io::Result<()> {
    while value >= 0x80 {
        output.write_all(&[value as u8 | 0x80])?;
        value >>= 7;
    }
    output.write_all(&[value as u8])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::message::BidRequest;
    use crate::{Limits, decode};

    /// What a stream reads as: each record's number, place and bytes, or its error.
    fn check(format: Format, stream: &[u8], bytes_max: u32, expect: &[&str]) {
        let mut records = Records::new(format, stream, bytes_max);
        let mut seen = Vec::new();
        loop {
            match records.next() {
                Ok(None) => break,
                Ok(Some(record)) => seen.push(format!(
                    "{}@{} {}",
                    record.number,
                    record.offset,
                    String::from_utf8_lossy(record.bytes)
                )),
                Err(error) => seen.push(error.to_string()),
            }
        }
        assert_eq!(seen, expect, "{format}");
    }

    #[test]
    fn lines() {
        check(Format::Json, b"", 9, &[]);
        check(
            Format::Json,
            b"{}\n\r\n  \n[1]\r\n{\"a\":1}",
            9,
            &["1@0 {}", "4@8 [1]", "5@13 {\"a\":1}"],
        );
        check(
            Format::Json,
            b"12345\n123456\n1234567890\n          \n1\n123456",
            5,
            &[
                "1@0 12345",
                "record 2, at byte 6: longer than 5 bytes",
                "record 3, at byte 13: longer than 5 bytes",
                "5@35 1",
                "record 6, at byte 37: longer than 5 bytes",
            ],
        );
    }

    #[test]
    fn messages_behind_a_varint() {
        check(
            Format::Protobuf,
            b"\x02ab\x00\x06abcdef\x83\x80\x00abc\x03ab",
            5,
            &[
                "1@1 ab",
                "2@4 ",
                "record 3, at byte 4: longer than 5 bytes",
                "4@14 abc",
                "record 5, at byte 17: the stream ends inside of it",
            ],
        );
        check(
            Format::Protobuf,
            b"\xff\xff\xff\xff\x7fabc",
            5,
            &["record 1, at byte 0: its length is no varint of 32 bits"],
        );
        check(
            Format::Protobuf,
            b"\xff\xff\xff\xff\x0fabc",
            5,
            &["record 1, at byte 0: longer than 5 bytes"],
        );
    }

    #[test]
    fn messages_behind_four_bytes() {
        check(
            Format::FlatBuffers,
            b"\x02\0\0\0ab\x06\0\0\0abcdef\x01\0\0\0x\x01\0",
            5,
            &[
                "1@4 ab",
                "record 2, at byte 6: longer than 5 bytes",
                "3@20 x",
                "record 4, at byte 21: the stream ends inside of it",
            ],
        );
    }

    #[test]
    fn what_is_written_can_be_read() {
        let request = |id: &str| BidRequest {
            id: Some(id.repeat(100)),
            ..BidRequest::default()
        };
        let requests = [request("a\n"), request("b"), BidRequest::default()];
        for format in Format::ALL {
            let mut writer = RecordWriter::new(format, Vec::new());
            for request in &requests {
                writer.write(request).unwrap();
            }
            let stream = writer.finish().unwrap();
            let mut records = Records::new(format, &*stream, 1000);
            for (number, request) in (1..).zip(&requests) {
                let record = records.next().unwrap().unwrap();
                assert_eq!(record.number, number);
                let read: BidRequest = decode(format, record.bytes, &Limits::default()).unwrap();
                assert_eq!(read, *request, "{format}");
            }
            assert_eq!(records.next().unwrap(), None);
        }
    }
}
