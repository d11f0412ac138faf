//! Whole messages: owned, and written to or read from any of the formats.
//!
//! Each message knows its fields once: [`Message::write`] walks over them and hands each to a
//! [`FieldSink`], [`Message::read`] fills one from a [`FieldSource`]. An encoder is a sink and a
//! decoder is a source, so that a format never lists fields and a message never names a format. Both
//! are monomorphised: what runs is straight-line code.
//!
//! What decoding makes of odd values is what a view in place makes of them: unknown is absent.

pub(crate) mod copy;
mod error;
pub(crate) mod forward;
pub(crate) mod reverse;

pub use crate::generated::*;
pub use error::{Cause, DecodeError};

use crate::limits::Meter;
use crate::{Limits, flatbuffers, json, protobuf};
use forward::Forward;
use openrtb::{Limit, Read, Refusal};
use reverse::Reverse;

/// Appends `message` to `out`. Where many messages are written, an [`Encoder`] is quicker.
pub fn encode<M: Message>(format: crate::Format, message: &M, out: &mut Vec<u8>) {
    out.extend_from_slice(Encoder::new().encode(format, message));
}

/// Writes messages, one after the other, into room of its own that is used again and again: a warm
/// encoder allocates nothing. It keeps about as much as the longest message took.
#[derive(Debug, Default)]
pub struct Encoder {
    /// What binary formats are written into; all of it is room.
    bytes: Vec<u8>,
    text: Vec<u8>,
}

impl Encoder {
    /// An encoder without any room yet.
    pub fn new() -> Encoder {
        Encoder::default()
    }

    /// The message in this format.
    pub fn encode<M: Message>(&mut self, format: crate::Format, message: &M) -> &[u8] {
        match format {
            crate::Format::Protobuf => self.protobuf(|out| protobuf::message::encode(message, out)),
            crate::Format::FlatBuffers => self.tables(message, false),
            crate::Format::Json => self.json(|out| json::message::encode(message, out)),
        }
    }

    /// What `write` writes in front of the end.
    pub(crate) fn protobuf(
        &mut self,
        write: impl for<'b> FnMut(Reverse<'b>) -> Reverse<'b>,
    ) -> &[u8] {
        reverse::fill(&mut self.bytes, write)
    }

    /// What `write` writes, with room for a text.
    pub(crate) fn flatbuffers(
        &mut self,
        mut write: impl FnMut(&mut Vec<u8>, &mut Forward<'_>),
    ) -> &[u8] {
        let Encoder { bytes, text } = self;
        forward::fill(bytes, |out| write(text, out))
    }

    /// What `write` appends.
    pub(crate) fn json(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        self.text.clear();
        write(&mut self.text);
        &self.text
    }

    /// The message in FlatBuffers, behind its length.
    pub(crate) fn size_prefixed<M: Message>(&mut self, message: &M) -> &[u8] {
        self.tables(message, true)
    }

    fn tables<M: Message>(&mut self, message: &M, size_prefixed: bool) -> &[u8] {
        self.flatbuffers(|text, out| {
            flatbuffers::message::encode(message, size_prefixed, text, out);
        })
    }
}

/// Room to start with, in bytes.
const ROOM_BYTES_MIN: usize = 4096;

/// What `write` makes of all of a buffer, once that is long enough: `None` where it is not.
fn until_it_fits<T>(buffer: &mut Vec<u8>, mut write: impl FnMut(&mut [u8]) -> Option<T>) -> T {
    loop {
        if let Some(written) = write(buffer) {
            return written;
        }
        buffer.resize((2 * buffer.len()).max(ROOM_BYTES_MIN), 0);
    }
}

/// Reads the whole of `bytes` as a message: strictly (what is not well-formed anywhere is an error),
/// and within `limits`, but for the one on strings that are used.
pub fn decode<M: Message>(
    format: crate::Format,
    bytes: &[u8],
    limits: &Limits,
) -> Result<M, DecodeError> {
    let meter = Meter::new(*limits);
    meter.restart();
    limits
        .check_length(bytes)
        .map_err(|refusal| DecodeError::refused(refusal, 0))?;
    match format {
        crate::Format::Protobuf => protobuf::message::decode(bytes, &meter),
        crate::Format::FlatBuffers => flatbuffers::message::decode(bytes, &meter),
        crate::Format::Json => json::message::decode(bytes, &meter),
    }
}

type Decode<M> = fn(crate::Format, &[u8], &Limits) -> Result<M, DecodeError>;
type Encode<M> = for<'e> fn(&'e mut Encoder, crate::Format, &M) -> &'e [u8];
type Compiled<M> = (Decode<M>, Encode<M>);

/// Has the code for the two messages compiled here, once, and not in every crate that uses it: in builds
/// without much optimization, which share such code, that saves most of what those crates take to build.
#[doc(hidden)]
pub static COMPILED_HERE: (Compiled<BidRequest>, Compiled<BidResponse>) =
    ((decode, Encoder::encode), (decode, Encoder::encode));

/// A message of the schema. Implemented by the generated code alone.
pub trait Message: Default {
    /// The place of the message among all.
    const INDEX: u16;
    /// The limit on how many of it may stand in a list, if it has one of its own.
    const LIMIT: Option<Limit> = None;
    /// Number and name of every field, by number, and how many bytes its value takes: 8 for a double,
    /// 4 for an integer or what points to something, 1 for a flag.
    const FIELDS: &'static [(u32, &'static str, u8)];

    /// The field of a JSON key.
    fn number(key: &[u8]) -> Option<u32>;

    /// The field that an object under the key of field `number` belongs to: itself, but where JSON
    /// has one key for a text and for the same as an object.
    #[inline]
    fn object(number: u32) -> u32 {
        number
    }

    /// Hands every field to the sink, by number; of a text and an object in its place, where the sink
    /// has [`one key`](FieldSink::ONE_KEY) for both, the text if there is one.
    fn write<S: FieldSink>(&self, to: &mut S);

    /// Hands every field to the sink, the highest number first: for writers that fill a buffer from
    /// its end, and so know the length of a part before they have to write it.
    fn write_rev<S: FieldSink>(&self, to: &mut S);

    /// Fills the field with this number from the source; `false` where there is no such field.
    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error>;

    /// The name of a field.
    fn name(number: u32) -> &'static str {
        let field = Self::FIELDS.iter().find(|field| field.0 == number);
        field.map_or("?", |field| field.1)
    }
}

/// Refuses more messages in a list than are allowed.
pub(crate) fn check_count<M: Message>(count: usize, meter: &Meter) -> Read<()> {
    match M::LIMIT {
        Some(limit) if count > meter.limits().get(limit) as usize => Err(Refusal::OverLimit(limit)),
        _ => Ok(()),
    }
}

/// The extensions of a message: a few typed fields, and the rest as the text of a JSON value.
pub trait Extension: Message {
    /// The rest.
    fn rest(&self) -> Option<&str>;
    /// Sets the rest.
    fn set_rest(&mut self, json: String);
}

/// An entry of a map.
pub trait Entry: Message {
    /// An entry.
    fn new(key: String, value: f64) -> Self;
    /// Key and value; what is not set is empty and 0.
    fn pair(&self) -> (&str, f64);
}

/// What takes the fields of a message, each by number and JSON name. What is absent or empty is
/// handed over too, and means nothing.
#[allow(missing_docs, reason = "the kinds of fields, by name")]
pub trait FieldSink {
    /// Whether a text and the same as an object have one key, as [`Message::object`] says.
    const ONE_KEY: bool = false;

    fn string(&mut self, number: u32, name: &'static str, value: &Option<String>);
    fn int(&mut self, number: u32, name: &'static str, value: Option<i32>);
    fn bool(&mut self, number: u32, name: &'static str, value: Option<bool>);
    fn double(&mut self, number: u32, name: &'static str, value: Option<f64>);
    /// A price that bids have to reach; the one double that may be infinite.
    fn floor(&mut self, number: u32, name: &'static str, value: Option<f64>);
    fn message<M: Message>(&mut self, number: u32, name: &'static str, value: &Option<Box<M>>);
    fn ext<E: Extension>(&mut self, number: u32, name: &'static str, value: &Option<Box<E>>);
    /// The rest of an [`Extension`].
    fn rest(&mut self, number: u32, name: &'static str, value: &Option<String>);
    /// Any JSON value, as text.
    fn json(&mut self, number: u32, name: &'static str, value: &Option<String>);
    fn strings(&mut self, number: u32, name: &'static str, values: &[String]);
    fn ints(&mut self, number: u32, name: &'static str, values: &[i32]);
    fn messages<M: Message>(&mut self, number: u32, name: &'static str, values: &[M]);
    fn entries<E: Entry>(&mut self, number: u32, name: &'static str, values: &[E]);
}

/// What fills the fields of a message. A value that is unknown leaves the field absent; in a list it
/// is left out.
#[allow(missing_docs, reason = "the kinds of fields, by name")]
pub trait FieldSource {
    type Error;

    fn string(&mut self, into: &mut Option<String>) -> Result<(), Self::Error>;
    fn int(&mut self, into: &mut Option<i32>) -> Result<(), Self::Error>;
    fn bool(&mut self, into: &mut Option<bool>) -> Result<(), Self::Error>;
    fn double(&mut self, into: &mut Option<f64>) -> Result<(), Self::Error>;
    fn floor(&mut self, into: &mut Option<f64>) -> Result<(), Self::Error>;
    fn message<M: Message>(&mut self, into: &mut Option<Box<M>>) -> Result<(), Self::Error>;
    fn ext<E: Extension>(&mut self, into: &mut Option<Box<E>>) -> Result<(), Self::Error>;
    fn rest(&mut self, into: &mut Option<String>) -> Result<(), Self::Error>;
    fn json(&mut self, into: &mut Option<String>) -> Result<(), Self::Error>;
    fn strings(&mut self, into: &mut Vec<String>) -> Result<(), Self::Error>;
    fn ints(&mut self, into: &mut Vec<i32>) -> Result<(), Self::Error>;
    fn messages<M: Message>(&mut self, into: &mut Vec<M>) -> Result<(), Self::Error>;
    fn entries<E: Entry>(&mut self, into: &mut Vec<E>) -> Result<(), Self::Error>;
}
