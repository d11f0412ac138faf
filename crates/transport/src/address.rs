//! Where a server listens and a client connects: `unix://…` or `tcp://…`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The longest path a Unix socket address holds: `sun_path` is 108 bytes with its closing zero.
pub const UNIX_PATH_BYTES_MAX: usize = 107;

/// An address to listen on or to connect to.
///
/// Written as `unix:///abs/path`, `unix:/abs/path`, `unix:relative/path`, `tcp://host:port` or
/// `host:port`. [`Display`](fmt::Display) gives a form that parses back to the same address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// A socket file. Absolute, or relative to the working directory.
    Unix(PathBuf),
    /// `host:port`; an IPv6 host is in brackets.
    Tcp(String),
}

/// The kind of channel a call came over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransportKind {
    /// A Unix stream socket.
    Unix,
    /// TCP.
    Tcp,
}

impl TransportKind {
    /// `unix` or `tcp`, as in metrics and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unix => "unix",
            Self::Tcp => "tcp",
        }
    }
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a text is no [`Address`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressError {
    /// Nothing was given, or nothing after `unix:` or `tcp://`.
    Empty,
    /// A scheme other than `unix` and `tcp`.
    Scheme(String),
    /// `unix://` followed by a host: after `unix://` comes an absolute path.
    UnixHost(String),
    /// A Unix path longer than [`UNIX_PATH_BYTES_MAX`] bytes.
    UnixPathTooLong {
        /// The path as given.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// A Unix path that holds a zero byte, which ends a path for the kernel.
    UnixPathZero,
    /// A TCP address without a port from 0 to 65535 behind its last colon.
    Port(String),
    /// A TCP address without a host.
    Host(String),
}

impl std::error::Error for AddressError {}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the address is empty; use unix:///path or tcp://host:port"),
            Self::Scheme(s) => write!(
                f,
                "unknown scheme `{s}`; use unix:///path or tcp://host:port"
            ),
            Self::UnixHost(s) => write!(
                f,
                "`unix://{s}` names a host; an absolute path has three slashes: unix:///{s}"
            ),
            Self::UnixPathTooLong { path, bytes } => write!(
                f,
                "the socket path {} is {bytes} bytes; the system allows {UNIX_PATH_BYTES_MAX}: use a shorter folder",
                path.display()
            ),
            Self::UnixPathZero => f.write_str("the socket path holds a zero byte"),
            Self::Port(s) => write!(
                f,
                "`{s}` has no port; use host:port with a port from 0 to 65535"
            ),
            Self::Host(s) => write!(
                f,
                "`{s}` has no host; use host:port, for every interface 0.0.0.0:port"
            ),
        }
    }
}

impl Address {
    /// The kind of channel this address leads to.
    pub const fn kind(&self) -> TransportKind {
        match self {
            Self::Unix(_) => TransportKind::Unix,
            Self::Tcp(_) => TransportKind::Tcp,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) if path.is_absolute() => write!(f, "unix://{}", path.display()),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(host_port) => write!(f, "tcp://{host_port}"),
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Some(rest) = text.strip_prefix("unix:") {
            return unix(rest);
        }
        if let Some(rest) = text.strip_prefix("tcp://") {
            return tcp(rest);
        }
        match text.split_once("://") {
            Some((scheme, _)) => Err(AddressError::Scheme(scheme.to_owned())),
            None => tcp(text),
        }
    }
}

fn unix(rest: &str) -> Result<Address, AddressError> {
    let path = match rest.strip_prefix("//") {
        Some(path) if path.is_empty() || path.starts_with('/') => path,
        Some(host) => return Err(AddressError::UnixHost(host.to_owned())),
        None => rest,
    };
    if path.is_empty() {
        return Err(AddressError::Empty);
    }
    check_unix_path(Path::new(path))?;
    Ok(Address::Unix(PathBuf::from(path)))
}

/// What the kernel asks of a socket's path, told before it is tried.
pub(crate) fn check_unix_path(path: &Path) -> Result<(), AddressError> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.len() > UNIX_PATH_BYTES_MAX {
        return Err(AddressError::UnixPathTooLong {
            path: path.to_owned(),
            bytes: bytes.len(),
        });
    }
    if bytes.contains(&0) {
        return Err(AddressError::UnixPathZero);
    }
    Ok(())
}

fn tcp(text: &str) -> Result<Address, AddressError> {
    if text.is_empty() {
        return Err(AddressError::Empty);
    }
    let Some((host, port)) = text.rsplit_once(':') else {
        return Err(AddressError::Port(text.to_owned()));
    };
    if !port.bytes().all(|b| b.is_ascii_digit()) || port.parse::<u16>().is_err() {
        return Err(AddressError::Port(text.to_owned()));
    }
    let bracketed = host.starts_with('[') && host.ends_with(']') && host.len() > 2;
    if host.is_empty() || host.contains('/') || (host.contains(':') && !bracketed) {
        return Err(AddressError::Host(text.to_owned()));
    }
    Ok(Address::Tcp(text.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<(TransportKind, &str), &str>) {
        match (text.parse::<Address>(), expect) {
            (Ok(address), Ok((kind, shown))) => {
                assert_eq!(
                    (address.kind(), address.to_string().as_str()),
                    (kind, shown)
                );
                assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
            }
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{error} lacks {part}");
            }
            (got, want) => panic!("{text}: {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn forms() {
        use TransportKind::{Tcp, Unix};
        check("unix:///run/a.sock", Ok((Unix, "unix:///run/a.sock")));
        check("unix:/run/a.sock", Ok((Unix, "unix:///run/a.sock")));
        check("unix:a/b.sock", Ok((Unix, "unix:a/b.sock")));
        check("tcp://127.0.0.1:9090", Ok((Tcp, "tcp://127.0.0.1:9090")));
        check("localhost:0", Ok((Tcp, "tcp://localhost:0")));
        check("[::1]:80", Ok((Tcp, "tcp://[::1]:80")));
    }

    #[test]
    fn refused() {
        check("", Err("empty"));
        check("unix:", Err("empty"));
        check("unix://", Err("empty"));
        check("tcp://", Err("empty"));
        check("unix://run/a.sock", Err("unix:///run/a.sock"));
        check("http://a:1", Err("unknown scheme `http`"));
        check("localhost", Err("no port"));
        check("localhost:65536", Err("no port"));
        check("localhost:+1", Err("no port"));
        check("localhost:", Err("no port"));
        check(":80", Err("no host"));
        check("::1:80", Err("no host"));
        check("tcp:///run/a.sock:1", Err("no host"));
        check("unix:a\0b", Err("zero byte"));
    }

    #[test]
    fn path_limit() {
        let longest = format!("unix:/{}", "x".repeat(UNIX_PATH_BYTES_MAX - 1));
        assert!(longest.parse::<Address>().is_ok());
        check(
            &format!("{longest}x"),
            Err("is 108 bytes; the system allows 107"),
        );
    }
}
