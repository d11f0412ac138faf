//! How a call ends: gRPC's status codes and a message for people.

use std::borrow::Cow;
use std::fmt;

/// A gRPC status code, with the numbers of the gRPC specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Code {
    /// Done.
    Ok = 0,
    /// The caller gave the call up.
    Cancelled = 1,
    /// Something that says nothing more, and any code this list does not have.
    Unknown = 2,
    /// The request is wrong, whatever the state of the server.
    InvalidArgument = 3,
    /// The deadline passed first.
    DeadlineExceeded = 4,
    /// What was asked for does not exist.
    NotFound = 5,
    /// It exists already.
    AlreadyExists = 6,
    /// The caller may not.
    PermissionDenied = 7,
    /// A limit was met.
    ResourceExhausted = 8,
    /// The server's state does not allow it.
    FailedPrecondition = 9,
    /// Given up because of a conflict.
    Aborted = 10,
    /// Past the end.
    OutOfRange = 11,
    /// No such method, or no such encoding.
    Unimplemented = 12,
    /// An invariant was broken: a malformed gRPC message, for one.
    Internal = 13,
    /// Not now; to try again is safe where the call did not reach the service.
    Unavailable = 14,
    /// Data is lost.
    DataLoss = 15,
    /// The caller is not known.
    Unauthenticated = 16,
}

impl Code {
    const ALL: [Self; 17] = [
        Self::Ok,
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
    ];

    /// The code of a number; [`Code::Unknown`] for one that is not gRPC's.
    pub fn from_number(number: u32) -> Self {
        usize::try_from(number)
            .ok()
            .and_then(|n| Self::ALL.get(n))
            .copied()
            .unwrap_or(Self::Unknown)
    }

    /// The number on the wire, 0 to 16.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The specification's spelling, as `DEADLINE_EXCEEDED`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Cancelled => "CANCELLED",
            Self::Unknown => "UNKNOWN",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Aborted => "ABORTED",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::DataLoss => "DATA_LOSS",
            Self::Unauthenticated => "UNAUTHENTICATED",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a call ended: a code, and a message for people (empty when there is nothing to say).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The code.
    pub code: Code,
    /// For people; UTF-8, percent-encoded on the wire.
    pub message: Cow<'static, str>,
}

impl Status {
    /// Done, nothing to say.
    pub const OK: Self = Self {
        code: Code::Ok,
        message: Cow::Borrowed(""),
    };

    /// A code with a message.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// A code with a message that the program holds; usable in constants.
    pub const fn fixed(code: Code, message: &'static str) -> Self {
        Self {
            code,
            message: Cow::Borrowed(message),
        }
    }

    /// Whether the code is [`Code::Ok`].
    pub fn is_ok(&self) -> bool {
        self.code == Code::Ok
    }
}

impl std::error::Error for Status {}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            self.code.fmt(f)
        } else {
            write!(f, "{}: {}", self.code, self.message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for number in 0..17 {
            assert_eq!(u32::from(Code::from_number(number).number()), number);
        }
        assert_eq!(Code::from_number(17), Code::Unknown);
        assert_eq!(Code::from_number(u32::MAX), Code::Unknown);
    }
}
