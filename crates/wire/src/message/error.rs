//! Why bytes are no message, and where.

use core::fmt;
use openrtb::{Limit, Refusal};

/// Why bytes could not be decoded, at which byte, and in which field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError(Box<Detail>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Detail {
    cause: Cause,
    offset: usize,
    /// From the inside out.
    path: Vec<Segment>,
}

/// Why bytes could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// They are not well-formed; what is wrong.
    Malformed(&'static str),
    /// A limit was passed.
    OverLimit(Limit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment {
    Field(&'static str),
    Index(usize),
}

impl DecodeError {
    #[cold]
    pub(crate) fn new(cause: Cause, offset: usize) -> DecodeError {
        let path = Vec::new();
        DecodeError(Box::new(Detail {
            cause,
            offset,
            path,
        }))
    }

    #[cold]
    pub(crate) fn malformed(what: &'static str, offset: usize) -> DecodeError {
        DecodeError::new(Cause::Malformed(what), offset)
    }

    #[cold]
    pub(crate) fn refused(refusal: Refusal, offset: usize) -> DecodeError {
        let cause = match refusal {
            Refusal::Malformed => {
                Cause::Malformed("cut short, out of bounds, or of no known layout")
            }
            Refusal::OverLimit(limit) => Cause::OverLimit(limit),
        };
        DecodeError::new(cause, offset)
    }

    /// The same error, seen from the message that holds the field.
    #[cold]
    pub(crate) fn in_field(mut self, name: &'static str) -> DecodeError {
        self.0.path.push(Segment::Field(name));
        self
    }

    /// The same error, seen from the list.
    #[cold]
    pub(crate) fn in_entry(mut self, index: usize) -> DecodeError {
        self.0.path.push(Segment::Index(index));
        self
    }

    /// Why.
    pub fn cause(&self) -> Cause {
        self.0.cause
    }

    /// At which byte of the message, counted from 0.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// In which field, from the outermost message, as `imp[0].video.w`; empty where the damage is
    /// in none.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for segment in self.0.path.iter().rev() {
            match segment {
                Segment::Field(name) if path.is_empty() => path.push_str(name),
                Segment::Field(name) => path.extend([".", name]),
                Segment::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }
}

impl From<DecodeError> for Refusal {
    fn from(error: DecodeError) -> Refusal {
        match error.cause() {
            Cause::Malformed(_) => Refusal::Malformed,
            Cause::OverLimit(limit) => Refusal::OverLimit(limit),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause() {
            Cause::Malformed(what) => f.write_str(what)?,
            Cause::OverLimit(limit) => write!(f, "over the limit {}", limit.name())?,
        }
        write!(f, " at byte {}", self.offset())?;
        if !self.0.path.is_empty() {
            write!(f, ", in {}", self.path())?;
        }
        Ok(())
    }
}

impl std::error::Error for DecodeError {}
