//! The life of a socket file: bound beside its name and renamed into place, so that a client never
//! finds half a socket; never taken from a live server, never left behind.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::AddressError;

/// Why an address cannot be listened on.
#[derive(Debug)]
pub enum SocketError {
    /// The path (or the name beside it that is bound first) is longer than the system allows.
    Path(AddressError),
    /// A server answers at this path.
    Live(PathBuf),
    /// Something that is no socket is at this path; it is not touched.
    NotASocket(PathBuf),
    /// The folder could not be made.
    Folder(PathBuf, io::Error),
    /// The system refused.
    System(&'static str, io::Error),
}

impl std::error::Error for SocketError {}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(error) => error.fmt(f),
            Self::Live(path) => write!(f, "another server answers at {}", path.display()),
            Self::NotASocket(path) => {
                write!(
                    f,
                    "{} exists and is no socket; it was left alone",
                    path.display()
                )
            }
            Self::Folder(path, error) => {
                write!(f, "cannot make the folder {}: {error}", path.display())
            }
            Self::System(what, error) => write!(f, "{what}: {error}"),
        }
    }
}
