//! A string of a request, as it lies in the received bytes.
//!
//! Most strings are their own text. Some are spelled with backslash escapes
//! (RFC 8259, section 7), and decoding those up front would mean copying what
//! nobody asks for. So a [`Text`] remembers how it is spelled, and is decoded
//! where its text is needed, into a buffer on the stack.

/// A string of a request. It is valid Unicode: readers make sure of it before they hand one out.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// The text itself.
    Plain(&'a str),
    /// The text itself, in ASCII. To see that is a good deal cheaper than to see that bytes are UTF-8,
    /// and most strings that a reader hands out never have to be a `str`.
    Ascii(&'a [u8]),
    /// Text spelled with backslash escapes, known to decode.
    Escaped(&'a str),
}

/// The longest text that [`Text::with`] decodes, in bytes. Readers refuse used strings above
/// their own limit, which is at most this.
pub const TEXT_BYTES_MAX: usize = 4096;

/// Room for one decoded text.
pub struct TextBuffer([u8; TEXT_BYTES_MAX]);

impl Default for TextBuffer {
    fn default() -> Self {
        TextBuffer([0; TEXT_BYTES_MAX])
    }
}

impl<'a> Text<'a> {
    /// The text that these bytes are; `None` where they are not UTF-8.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Option<Text<'a>> {
        if is_ascii(bytes) {
            return Some(Text::Ascii(bytes));
        }
        core::str::from_utf8(bytes).ok().map(Text::Plain)
    }

    /// The text when it needs no decoding.
    pub fn plain(self) -> Option<&'a str> {
        match self {
            Text::Plain(text) => Some(text),
            Text::Ascii(bytes) => Some(ascii(bytes)),
            Text::Escaped(_) => None,
        }
    }

    /// The bytes of the text when it needs no decoding.
    #[inline]
    pub fn plain_bytes(self) -> Option<&'a [u8]> {
        match self {
            Text::Plain(text) => Some(text.as_bytes()),
            Text::Ascii(bytes) => Some(bytes),
            Text::Escaped(_) => None,
        }
    }

    /// Calls `f` with the text, decoded on the stack where it has to be.
    #[inline]
    pub fn with<R>(self, f: impl FnOnce(&str) -> R) -> R {
        match self {
            Text::Plain(text) => f(text),
            Text::Ascii(bytes) => f(ascii(bytes)),
            Text::Escaped(spelled) => with_decoded(spelled, f),
        }
    }

    /// [`Text::with`], for who needs no more than the bytes.
    #[inline]
    pub fn with_bytes<R>(self, f: impl FnOnce(&[u8]) -> R) -> R {
        match self.plain_bytes() {
            Some(bytes) => f(bytes),
            None => self.with(|text| f(text.as_bytes())),
        }
    }

    /// Whether the text is `other`.
    #[inline]
    pub fn is(self, other: &str) -> bool {
        match self.plain_bytes() {
            Some(bytes) => bytes == other.as_bytes(),
            None => self.with(|text| text == other),
        }
    }

    /// Whether two texts are the same, however they are spelled.
    pub fn same(self, other: Text<'_>) -> bool {
        match (self.plain_bytes(), other.plain_bytes()) {
            (Some(a), Some(b)) => a == b,
            _ => self.with(|a| other.is(a)),
        }
    }

    /// The text, owned.
    pub fn into_string(self) -> String {
        self.with(str::to_owned)
    }
}

/// Whether every byte is ASCII: eight at a time, the last eight overlapping those before. Shorter ones
/// likewise by fours and twos: how long a text is is hard to predict.
#[inline]
fn is_ascii(bytes: &[u8]) -> bool {
    let high = if let Some(last) = bytes.last_chunk::<8>() {
        let (chunks, _) = bytes.as_chunks::<8>();
        let all = chunks.iter().chain([last]);
        all.fold(0, |high, chunk| high | u64::from_le_bytes(*chunk))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_le_bytes(*first) | u32::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u16::from_le_bytes(*first) | u16::from_le_bytes(*last))
    } else {
        bytes.first().map_or(0, |byte| u64::from(*byte))
    };
    high & 0x8080_8080_8080_8080 == 0
}

/// Bytes known to be ASCII. Should they not be, they read as the empty string, as below.
fn ascii(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or("")
}

#[cold]
fn with_decoded<R>(spelled: &str, f: impl FnOnce(&str) -> R) -> R {
    let mut buffer = TextBuffer::default();
    // A spelling that does not decode, or is too long, never becomes a `Text`; should one, it
    // reads as the empty string, which is the same as unknown everywhere.
    f(decode_escapes(spelled, &mut buffer).unwrap_or(""))
}

/// Decodes backslash escapes (RFC 8259, section 7) into `buffer`. `None` where an escape is not
/// one of the RFC's, a surrogate stands alone, or the text is longer than the buffer.
pub fn decode_escapes<'b>(spelled: &str, buffer: &'b mut TextBuffer) -> Option<&'b str> {
    let mut rest = spelled;
    let mut len = 0;
    while !rest.is_empty() {
        let run = rest.find('\\').unwrap_or(rest.len());
        let (plain, tail) = rest.split_at_checked(run)?;
        push(buffer, &mut len, plain)?;
        rest = tail;
        if !rest.is_empty() {
            let (c, tail) = decode_escape(rest)?;
            push(buffer, &mut len, c.encode_utf8(&mut [0; 4]))?;
            rest = tail;
        }
    }
    core::str::from_utf8(buffer.0.get(..len)?).ok()
}

fn push(buffer: &mut TextBuffer, len: &mut usize, s: &str) -> Option<()> {
    let end = len.checked_add(s.len())?;
    buffer.0.get_mut(*len..end)?.copy_from_slice(s.as_bytes());
    *len = end;
    Some(())
}

/// One backslash escape (RFC 8259, section 7) at the start of `s`, and what follows it. `None` where
/// it is not one of the RFC's, or a surrogate that stands alone.
pub fn decode_escape(s: &str) -> Option<(char, &str)> {
    let c = match s.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return decode_unicode(s),
        _ => return None,
    };
    Some((c, s.get(2..)?))
}

fn decode_unicode(s: &str) -> Option<(char, &str)> {
    let high = hex4(s.get(2..6)?)?;
    if !(0xD800..0xE000).contains(&high) {
        return Some((char::from_u32(high)?, s.get(6..)?));
    }
    let low = s.get(6..12)?.strip_prefix("\\u").and_then(hex4)?;
    if high >= 0xDC00 || !(0xDC00..0xE000).contains(&low) {
        return None;
    }
    let c = char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))?;
    Some((c, s.get(12..)?))
}

fn hex4(s: &str) -> Option<u32> {
    s.bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(s, 16).ok())?
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn check(spelled: &str, expect: Option<&str>) {
        let mut buffer = TextBuffer::default();
        assert_eq!(decode_escapes(spelled, &mut buffer), expect, "{spelled}");
    }

    #[test]
    fn escapes_decode() {
        check("", Some(""));
        check("plain é", Some("plain é"));
        check(r"a\/b\\c\u0041\n", Some("a/b\\cA\n"));
        check(r"\ud83d\ude00!", Some("😀!"));
        check(r"\u0055SA", Some("USA"));
    }

    #[test]
    fn bad_escapes_do_not() {
        for spelled in [
            r"\",
            r"\x",
            r"\u12",
            r"\u12G4",
            r"\u+123",
            r"\ud800",
            r"\ud800\u0041",
            r"\udc00",
            r"\ud83d\ud83d",
            r"\u00é",
        ] {
            check(spelled, None);
        }
        check(
            &"x".repeat(TEXT_BYTES_MAX),
            Some(&*"x".repeat(TEXT_BYTES_MAX)),
        );
        check(&"x".repeat(TEXT_BYTES_MAX + 1), None);
    }

    #[test]
    fn texts_compare_by_what_they_say() {
        let spellings = [
            Text::Plain("a/b"),
            Text::Ascii(b"a/b"),
            Text::Escaped(r"a\/b"),
        ];
        for a in spellings {
            assert!(spellings.into_iter().all(|b| a.same(b)), "{a:?}");
            assert!(!a.same(Text::Plain("a/c")) && !a.same(Text::Ascii(b"a")));
            assert!(a.is("a/b") && !a.is("a") && !a.is("é"));
        }
    }

    #[test]
    fn bytes_are_text_where_they_are_utf_8() {
        for len in 0..40 {
            for odd in 0..=len {
                let mut text = "x".repeat(len);
                text.insert(odd, 'é');
                assert!(Text::new(text.as_bytes()).is_some_and(|t| t.plain() == Some(&text)));
                let mut bytes = vec![b'x'; len + 1];
                assert!(matches!(Text::new(&bytes), Some(Text::Ascii(b)) if b == bytes));
                bytes[odd] = 0x80;
                assert!(Text::new(&bytes).is_none());
            }
        }
    }
}
