//! Metadata without allocation: what was asked to be kept of a peer's, and what a reply carries.

use crate::h2::hpack;

/// Marks the content-subtype among kept values; names have the numbers below it.
const SUBTYPE: u8 = u8::MAX;
/// How many names can be kept.
pub(crate) const NAMES_MAX: usize = SUBTYPE as usize;

/// Values kept of one header list, packed: name's number, length in 2 bytes, value.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    packed: Vec<u8>,
}

impl Kept {
    /// Memory that a stream at rest may hold on to.
    const IDLE_BYTES_MAX: usize = 512;

    pub fn clear(&mut self) {
        if self.packed.capacity() > Self::IDLE_BYTES_MAX {
            self.packed = Vec::new();
        }
        self.packed.clear();
    }

    pub fn bytes(&self) -> usize {
        self.packed.len()
    }

    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.clear();
        self.packed.extend_from_slice(&other.packed);
    }

    /// Keeps `value` if `name` is in `names`, and says whether it is. Both machines give it no field
    /// beyond the limit of a header list, which bounds this; a value too long for its length field is
    /// left out.
    pub fn keep(&mut self, names: &[&'static str], name: &[u8], value: &[u8]) -> bool {
        let found = (0..SUBTYPE)
            .zip(names)
            .find(|(_, known)| known.as_bytes() == name);
        if let Some((number, _)) = found {
            self.push(number, value);
        }
        found.is_some()
    }

    pub fn keep_subtype(&mut self, value: &str) {
        self.push(SUBTYPE, value.as_bytes());
    }

    fn push(&mut self, number: u8, value: &[u8]) {
        if let Ok(length) = u16::try_from(value.len()) {
            self.packed.push(number);
            self.packed.extend_from_slice(&length.to_be_bytes());
            self.packed.extend_from_slice(value);
        }
    }

    fn find(&self, wanted: u8) -> Option<&[u8]> {
        let mut rest = self.packed.as_slice();
        while let [number, high, low, tail @ ..] = rest {
            let (value, next) =
                tail.split_at_checked(usize::from(u16::from_be_bytes([*high, *low])))?;
            if *number == wanted {
                return Some(value);
            }
            rest = next;
        }
        None
    }

    pub fn get(&self, names: &[&'static str], name: &str) -> Option<&[u8]> {
        if self.packed.is_empty() {
            return None;
        }
        let number = names.iter().position(|known| *known == name)?;
        self.find(u8::try_from(number).ok()?)
    }

    pub fn subtype(&self) -> &str {
        if self.packed.is_empty() {
            return "";
        }
        self.find(SUBTYPE)
            .and_then(|value| std::str::from_utf8(value).ok())
            .unwrap_or("")
    }
}

/// A view of kept metadata.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Metadata<'a> {
    pub names: &'a [&'static str],
    pub kept: Option<&'a Kept>,
}

impl<'a> Metadata<'a> {
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.kept?.get(self.names, name)
    }
}

/// Metadata of a reply, as an HPACK block that uses no table.
#[derive(Debug, Default)]
pub(crate) struct ReplyMetadata {
    pub block: Vec<u8>,
}

impl ReplyMetadata {
    pub fn push(&mut self, name: &str, value: &[u8]) {
        if may_send(name, value) {
            hpack::literal(&mut self.block, name.as_bytes(), value);
        }
    }
}

/// Whether a metadata pair may go on the wire: a name of gRPC's alphabet that is not the protocol's
/// own, and a value of printable ASCII.
pub(crate) fn may_send(name: &str, value: &[u8]) -> bool {
    let alphabet =
        |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-' | b'.');
    let reserved = name.starts_with("grpc-")
        || matches!(
            name,
            "content-type" | "te" | "connection" | "keep-alive" | "proxy-connection"
        )
        || matches!(
            name,
            "transfer-encoding" | "upgrade" | "content-length" | "host"
        );
    !name.is_empty()
        && !reserved
        && name.bytes().all(alphabet)
        && value.iter().all(|b| matches!(b, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept() {
        let names = ["a", "b", "c"];
        let mut kept = Kept::default();
        kept.keep(&names, b"b", b"first");
        kept.keep(&names, b"x", b"unknown");
        kept.keep_subtype("proto");
        kept.keep(&names, b"b", b"second");
        kept.keep(&names, b"c", b"");
        assert_eq!(kept.get(&names, "b"), Some(&b"first"[..]));
        assert_eq!(kept.get(&names, "c"), Some(&b""[..]));
        assert_eq!(kept.get(&names, "a"), None);
        assert_eq!(kept.get(&names, "x"), None);
        assert_eq!(kept.subtype(), "proto");
        kept.clear();
        assert_eq!((kept.get(&names, "b"), kept.subtype()), (None, ""));
    }

    #[test]
    fn what_may_be_sent() {
        for (name, value, expect) in [
            ("nearbid-format", &b"json"[..], true),
            ("a_b.c-1", b"", true),
            ("Upper", b"", false),
            ("", b"", false),
            (":path", b"", false),
            ("grpc-status", b"0", false),
            ("content-type", b"x", false),
            ("te", b"x", false),
            ("x", b"a\r\nb", false),
            ("x", b"\x80", false),
        ] {
            assert_eq!(may_send(name, value), expect, "{name}");
        }
    }
}
