//! A request's header list: what it asks for, and whether it may (RFC 9113 8, gRPC over HTTP/2).

use std::time::Duration;

use super::grpc;
use super::hpack::{Field, ListSize};
use crate::metadata::Kept;
use crate::{Code, Status};

// What is known of a field that lies in a table, see [`Field::mark`].

/// To be looked at every time.
const MARK_NONE: u8 = 0;
/// Sound, and nobody's business.
const MARK_HARMLESS: u8 = 1;
/// `:method: POST`.
const MARK_POST: u8 = 2;
/// A `:scheme`.
const MARK_SCHEME: u8 = 3;
/// An `:authority`.
const MARK_AUTHORITY: u8 = 4;
/// A `:path`.
const MARK_PATH: u8 = 5;
/// `content-type: application/grpc`.
const MARK_GRPC: u8 = 6;

/// The pseudo-header fields of a request.
const METHOD: u8 = 1;
const SCHEME: u8 = 2;
const PATH: u8 = 4;
const AUTHORITY: u8 = 8;

/// What a request's header list says, gathered a field at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RequestHead<R> {
    /// Which pseudo-header fields have come.
    pseudo: u8,
    /// Whether a regular field has come, after which no pseudo-header field may.
    regular: bool,
    malformed: bool,
    size: ListSize,
    post: bool,
    grpc: bool,
    route: Option<R>,
    bad_timeout: bool,
    /// `grpc-timeout`.
    pub timeout: Option<Duration>,
    /// Whether `grpc-encoding` names a compression, of which none is spoken.
    pub compressed: bool,
    /// `content-length`.
    pub content_length: Option<u64>,
}

/// What becomes of a request after its header list.
#[derive(Debug, PartialEq)]
pub(crate) enum Admission<R> {
    /// HTTP's rules are broken: the stream is reset.
    Malformed,
    /// HTTP, but no gRPC: answered with this `:status`.
    NotGrpc(&'static str),
    /// gRPC, but it ends here.
    Ends(Status),
    /// For this method.
    Serve(R),
}

impl<R: Copy> RequestHead<R> {
    pub fn new(list_bytes_max: u32) -> Self {
        Self {
            pseudo: 0,
            regular: false,
            malformed: false,
            size: ListSize::new(list_bytes_max),
            post: false,
            grpc: false,
            route: None,
            bad_timeout: false,
            timeout: None,
            compressed: false,
            content_length: None,
        }
    }

    /// Takes a field and gives its mark. `route` finds the method of a path; `names` are the metadata to
    /// keep in `kept`. A list over its limit is counted on, but not looked at any more.
    #[inline]
    pub fn field(
        &mut self,
        field: Field<'_>,
        names: &[&'static str],
        kept: &mut Kept,
        route: impl FnOnce(&[u8]) -> Option<R>,
    ) -> u8 {
        if !self.size.takes(&field) {
            return field.mark;
        }
        match field.mark {
            MARK_HARMLESS => self.regular = true,
            MARK_POST => {
                self.pseudo(METHOD);
                self.post = true;
            }
            MARK_SCHEME => self.pseudo(SCHEME),
            MARK_AUTHORITY => self.pseudo(AUTHORITY),
            MARK_GRPC => {
                self.regular = true;
                self.grpc = true;
            }
            MARK_PATH => {
                self.pseudo(PATH);
                self.route = route(field.value);
            }
            _ => return self.new_field(field, names, kept, route),
        }
        field.mark
    }

    /// A pseudo-header field of a request that is sound by itself.
    #[inline]
    fn pseudo(&mut self, bit: u8) {
        self.malformed |= self.regular || self.pseudo & bit != 0;
        self.pseudo |= bit;
    }

    fn new_field(
        &mut self,
        field: Field<'_>,
        names: &[&'static str],
        kept: &mut Kept,
        route: impl FnOnce(&[u8]) -> Option<R>,
    ) -> u8 {
        let Field { name, value, .. } = field;
        let malformed_before = std::mem::replace(&mut self.malformed, !value_is_sound(value));
        let mark = match name.strip_prefix(b":") {
            Some(pseudo) => self.pseudo_field(pseudo, value, route),
            None => {
                self.regular = true;
                self.regular_field(name, value, names, kept)
            }
        };
        // Only what is sound wherever it stands is known by its mark.
        let mark = if self.malformed { MARK_NONE } else { mark };
        self.malformed |= malformed_before;
        mark
    }

    fn regular_field(
        &mut self,
        name: &[u8],
        value: &[u8],
        names: &[&'static str],
        kept: &mut Kept,
    ) -> u8 {
        match name {
            b"content-type" => {
                let subtype = grpc::subtype(value);
                self.grpc = subtype.is_some();
                match subtype {
                    Some("") => return MARK_GRPC,
                    Some(subtype) => kept.keep_subtype(subtype),
                    None => {}
                }
            }
            b"te" => {
                self.malformed |= value != b"trailers";
                return MARK_HARMLESS;
            }
            b"grpc-timeout" => {
                self.timeout = grpc::parse_timeout(value);
                self.bad_timeout = self.timeout.is_none();
            }
            b"grpc-encoding" => self.compressed = value != b"identity",
            b"content-length" => {
                let length = decimal(value);
                let conflict = self.content_length.is_some() && self.content_length != length;
                self.malformed |= length.is_none() || conflict;
                self.content_length = length;
            }
            _ => {
                self.malformed |= !name_is_sound(name) || belongs_to_connection(name);
                if !kept.keep(names, name, value) {
                    return MARK_HARMLESS;
                }
            }
        }
        MARK_NONE
    }

    fn pseudo_field(
        &mut self,
        name: &[u8],
        value: &[u8],
        route: impl FnOnce(&[u8]) -> Option<R>,
    ) -> u8 {
        match name {
            b"method" => {
                self.pseudo(METHOD);
                self.post = value == b"POST";
                if self.post { MARK_POST } else { MARK_NONE }
            }
            b"scheme" => {
                self.pseudo(SCHEME);
                MARK_SCHEME
            }
            b"path" => {
                self.pseudo(PATH);
                self.malformed |= value.is_empty();
                self.route = route(value);
                MARK_PATH
            }
            // Any authority, or none: over a Unix socket every client has its own idea of it.
            b"authority" => {
                self.pseudo(AUTHORITY);
                MARK_AUTHORITY
            }
            _ => {
                self.malformed = true;
                MARK_NONE
            }
        }
    }

    /// What becomes of the request.
    pub fn admission(&self) -> Admission<R> {
        let required = METHOD | SCHEME | PATH;
        if self.size.is_over() {
            return Admission::Ends(Status::fixed(
                Code::ResourceExhausted,
                "header list too large",
            ));
        }
        if self.malformed || self.pseudo & required != required {
            return Admission::Malformed;
        }
        if !self.post {
            return Admission::NotGrpc("405");
        }
        if !self.grpc {
            return Admission::NotGrpc("415");
        }
        if self.bad_timeout {
            return Admission::Ends(Status::fixed(Code::Internal, "malformed grpc-timeout"));
        }
        match self.route {
            Some(route) => Admission::Serve(route),
            None => Admission::Ends(Status::fixed(
                Code::Unimplemented,
                "unknown service or method",
            )),
        }
    }
}

fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// RFC 9113 8.2.1, for values.
#[inline]
fn value_is_sound(value: &[u8]) -> bool {
    let edge = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    // Without an early exit, so that it is done many bytes at a time.
    let unsound = value
        .iter()
        .fold(false, |unsound, b| unsound | matches!(b, 0 | b'\r' | b'\n'));
    !unsound && !edge(value.first()) && !edge(value.last())
}

/// RFC 9113 8.2.1, for names: lower case, visible, no colon.
pub(crate) fn name_is_sound(name: &[u8]) -> bool {
    !name.is_empty()
        && name
            .iter()
            .all(|b| matches!(b, b'!'..=b'~') && !b.is_ascii_uppercase() && *b != b':')
}

/// Fields that are not HTTP/2's (RFC 9113 8.2.2).
fn belongs_to_connection(name: &[u8]) -> bool {
    matches!(
        name,
        b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: [(&str, &str); 5] = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/s/m"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];

    fn gather(fields: &[(&str, &str)]) -> RequestHead<u32> {
        let mut head = RequestHead::new(400);
        let mut kept = Kept::default();
        for (name, value) in fields {
            let mut field = Field {
                name: name.as_bytes(),
                value: value.as_bytes(),
                mark: 0,
            };
            let route = |path: &[u8]| (path == b"/s/m").then_some(7);
            // What its mark says is the same as what it says itself.
            let mut twin = head;
            field.mark = twin.field(field, &[], &mut kept, route);
            head.field(field, &[], &mut kept, route);
            assert_eq!(head, twin);
        }
        head
    }

    /// The good list with a change: a field's value (or none: it is left out), or a field more.
    #[track_caller]
    fn check(name: &str, value: Option<&str>, expect: Admission<u32>) {
        let mut fields: Vec<_> = GOOD.iter().copied().filter(|(n, _)| *n != name).collect();
        if let Some(value) = value {
            let at = if name.starts_with(':') {
                0
            } else {
                fields.len()
            };
            fields.insert(at, (name, value));
        }
        assert_eq!(gather(&fields).admission(), expect, "{name}: {value:?}");
    }

    fn ends(code: Code, message: &'static str) -> Admission<u32> {
        Admission::Ends(Status::fixed(code, message))
    }

    #[test]
    fn admissions() {
        use Admission::{Malformed, NotGrpc, Serve};
        check("x", Some("y"), Serve(7));
        check("te", None, Serve(7));
        check("te", Some("gzip"), Malformed);
        check(":method", Some("GET"), NotGrpc("405"));
        check(":method", None, Malformed);
        check(":scheme", None, Malformed);
        check(":path", None, Malformed);
        check(":path", Some(""), Malformed);
        check(
            ":path",
            Some("/s/other"),
            ends(Code::Unimplemented, "unknown service or method"),
        );
        check(":status", Some("200"), Malformed);
        check("content-type", Some("application/json"), NotGrpc("415"));
        check("content-type", None, NotGrpc("415"));
        check("grpc-timeout", Some("1S"), Serve(7));
        check(
            "grpc-timeout",
            Some("soon"),
            ends(Code::Internal, "malformed grpc-timeout"),
        );
        check("content-length", Some("12"), Serve(7));
        check("content-length", Some("-1"), Malformed);
        check("content-length", Some("99999999999999999999"), Malformed);
        check("Upper", Some("y"), Malformed);
        check("a b", Some("y"), Malformed);
        check("", Some("y"), Malformed);
        check("connection", Some("close"), Malformed);
        check("transfer-encoding", Some("chunked"), Malformed);
        check("x", Some("a\nb"), Malformed);
        check("x", Some(" a"), Malformed);
        check(
            "x",
            Some(&"v".repeat(200)),
            ends(Code::ResourceExhausted, "header list too large"),
        );
    }

    #[test]
    fn authorities() {
        for authority in [
            "localhost",
            "",
            "sock%2Fbid.sock",
            "/sock/bid.sock",
            "bidder:9090",
        ] {
            check(":authority", Some(authority), Admission::Serve(7));
        }
        check(":authority", None, Admission::Serve(7));
    }

    #[test]
    fn order_and_repeats() {
        let mut fields = GOOD.to_vec();
        fields.push((":authority", "x"));
        assert_eq!(gather(&fields).admission(), Admission::Malformed);
        for (name, value) in GOOD.iter().take(3) {
            let mut fields = vec![(*name, *value)];
            fields.extend(GOOD);
            assert_eq!(
                gather(&fields).admission(),
                Admission::Malformed,
                "{name} twice"
            );
        }
        let mut fields = GOOD.to_vec();
        fields.extend([("content-length", "1"), ("content-length", "2")]);
        assert_eq!(gather(&fields).admission(), Admission::Malformed);
    }
}
