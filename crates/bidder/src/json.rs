//! JSON files that people write: every value with its place, and every fault with the place, the
//! key, the value and what is allowed.
//!
//! A file of 200,000 line items is split into its entries first and each is parsed on its own, so
//! that no syntax tree of the whole file is ever held.

use engine::Targeting;
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::fault::{Fault, Sink, place, shown};

/// A piece of a file: its text, and where it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'t> {
    pub text: &'t str,
    /// Line of its first byte, from 1.
    pub line: usize,
    /// Column of its first byte in characters, from 1.
    pub column: usize,
}

impl<'t> Piece<'t> {
    /// The whole of a file.
    pub fn whole(text: &'t str) -> Self {
        Piece {
            text: text.strip_prefix('\u{feff}').unwrap_or(text),
            line: 1,
            column: 1,
        }
    }

    /// The place of a byte of it in the file.
    fn place(&self, at: usize) -> (usize, usize) {
        match place(self.text, at) {
            (1, column) => (self.line, self.column + column - 1),
            (line, column) => (self.line + line - 1, column),
        }
    }
}

/// Where faults of one entry go, with what names the entry.
pub(crate) struct Entry<'t> {
    pub piece: Piece<'t>,
    pub sink: &'t Sink,
    /// The line item's id, once it is known.
    pub line_item: Option<String>,
}

impl<'t> Entry<'t> {
    pub fn new(piece: Piece<'t>, sink: &'t Sink) -> Self {
        Entry {
            piece,
            sink,
            line_item: None,
        }
    }

    /// Takes in a fault at byte `at` of the piece.
    pub fn fault(&self, at: usize, key: &str, problem: String, allowed: &str) {
        self.sink.push(|| {
            let (line, column) = self.piece.place(at);
            Fault {
                line,
                column,
                line_item: self.line_item.clone(),
                key: key.to_owned(),
                problem,
                allowed: allowed.to_owned(),
            }
        });
    }

    /// The entry parsed; `None` when it is no JSON (RFC 8259), which is then a fault.
    pub fn parse(&self) -> Option<Value<'t>> {
        let parsed = parse_to_ast(self.piece.text, &CollectOptions::default(), &STRICT);
        match parsed.map(|parsed| parsed.value) {
            Ok(Some(value)) => Some(value),
            Ok(None) => {
                self.fault(0, "", "a value is missing".to_owned(), "a JSON value");
                None
            }
            Err(error) => {
                let problem = format!("not JSON: {}", error.kind());
                self.fault(error.range().start, "", problem, "");
                None
            }
        }
    }

    /// A value as it is written, shortened.
    pub fn written(&self, value: &Value<'_>) -> String {
        shown(value.text(self.piece.text))
    }
}

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
};

/// The fields of an object, read key by key.
pub(crate) struct Fields<'v, 't> {
    entry: &'v Entry<'t>,
    object: &'v Object<'t>,
    /// The way to the object, with its dot: `creatives[0].`.
    way: String,
}

impl<'v, 't> Fields<'v, 't> {
    /// The fields of `object`; a key that is not one of `keys`, or comes twice, is a fault.
    pub fn new(
        entry: &'v Entry<'t>,
        object: &'v Object<'t>,
        way: String,
        of: &str,
        keys: &[&str],
    ) -> Self {
        let fields = Fields { entry, object, way };
        for (at, property) in object.properties.iter().enumerate() {
            let key = property.name.as_str();
            let before = object.properties.iter().take(at);
            if !keys.contains(&key) {
                let problem = format!("is no key of {of}");
                fields.fault_at(property.start(), key, problem, &keys.join(", "));
            } else if before.into_iter().any(|p| p.name.as_str() == key) {
                let problem = "is given twice".to_owned();
                fields.fault_at(property.start(), key, problem, "each key once");
            }
        }
        fields
    }

    /// The value of `key`.
    pub fn value(&self, key: &str) -> Option<&'v Value<'t>> {
        let mut properties = self.object.properties.iter();
        properties
            .find(|property| property.name.as_str() == key)
            .map(|property| &property.value)
    }

    /// The value of `key` as `read` understands it. A value that `read` refuses is a fault.
    pub fn optional<T>(
        &self,
        key: &str,
        allowed: &str,
        read: impl FnOnce(&'v Value<'t>) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(key)?;
        let read = read(value);
        if read.is_none() {
            self.fault(key, value, allowed);
        }
        read
    }

    /// As [`Fields::optional`]; a missing key is a fault too.
    pub fn required<T>(
        &self,
        key: &str,
        allowed: &str,
        read: impl FnOnce(&'v Value<'t>) -> Option<T>,
    ) -> Option<T> {
        if self.value(key).is_none() {
            self.missing(key, allowed);
        }
        self.optional(key, allowed, read)
    }

    /// The entries of the list at `key`; none where there is no such key. `allowed` says what an
    /// entry may be.
    pub fn list<T>(
        &self,
        key: &str,
        allowed: &str,
        read: impl Fn(&'v Value<'t>) -> Option<T>,
    ) -> Vec<T> {
        let Some(value) = self.value(key) else {
            return Vec::new();
        };
        let Some(list) = value.as_array() else {
            self.fault(key, value, &format!("an array; each entry {allowed}"));
            return Vec::new();
        };
        let mut entries = Vec::with_capacity(list.elements.len());
        for (at, value) in list.elements.iter().enumerate() {
            match read(value) {
                Some(entry) => entries.push(entry),
                None => self.fault(&format!("{key}[{at}]"), value, allowed),
            }
        }
        entries
    }

    /// As [`Fields::list`]; more entries than a line item may list are a fault.
    pub fn short_list<T>(
        &self,
        key: &str,
        allowed: &str,
        read: impl Fn(&'v Value<'t>) -> Option<T>,
    ) -> Vec<T> {
        let list = self.value(key).and_then(|value| value.as_array());
        let len = list.map_or(0, |list| list.elements.len());
        if let (true, Some(list)) = (len > Targeting::LIST_ENTRIES_MAX, list) {
            let allowed = format!("at most {} entries", Targeting::LIST_ENTRIES_MAX);
            self.fault_at(list.start(), key, format!("has {len} entries"), &allowed);
            return Vec::new();
        }
        self.list(key, allowed, read)
    }

    /// The fields of the object at `key`.
    pub fn object(&self, key: &str, keys: &[&str]) -> Option<Fields<'v, 't>> {
        let object = self.optional(key, "an object", |value| value.as_object())?;
        let way = format!("{}{key}.", self.way);
        Some(Fields::new(self.entry, object, way, key, keys))
    }

    /// The fields of each object in the list at `key`.
    pub fn objects(&self, key: &str, of: &str, keys: &[&str]) -> Vec<Fields<'v, 't>> {
        self.list(key, "an object", |value| value.as_object())
            .into_iter()
            .enumerate()
            .map(|(at, object)| {
                let way = format!("{}{key}[{at}].", self.way);
                Fields::new(self.entry, object, way, of, keys)
            })
            .collect()
    }

    /// Takes in that `value` is not allowed.
    pub fn fault(&self, key: &str, value: &Value<'_>, allowed: &str) {
        let problem = format!("is {}", self.entry.written(value));
        self.fault_at(value.start(), key, problem, allowed);
    }

    /// Takes in that `key` is missing.
    pub fn missing(&self, key: &str, allowed: &str) {
        let problem = "is missing".to_owned();
        self.fault_at(self.object.start(), key, problem, allowed);
    }

    fn fault_at(&self, at: usize, key: &str, problem: String, allowed: &str) {
        let key = format!("{}{key}", self.way);
        self.entry.fault(at, &key, problem, allowed);
    }
}

/// The entries of a file that is a JSON array, or one value a line.
pub(crate) struct Entries<'t> {
    rest: &'t str,
    line: usize,
    column: usize,
    shape: Shape,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Lines,
    /// Inside the array, and whether an entry was seen before.
    Array {
        first: bool,
    },
    /// Behind the array's end: nothing may follow.
    Closed,
    /// The text ended inside the array.
    Unclosed,
    Over,
}

/// One step through a file.
pub(crate) enum Found<'t> {
    /// An entry, to be parsed.
    Entry(Piece<'t>),
    /// Something else than an entry, and what was due.
    Misplaced(Piece<'t>, &'static str),
}

impl<'t> Entries<'t> {
    pub fn new(file: Piece<'t>) -> Self {
        let mut entries = Entries {
            rest: file.text,
            line: file.line,
            column: file.column,
            shape: Shape::Lines,
        };
        entries.skip_space();
        if entries.rest.starts_with('[') {
            entries.cut(1);
            entries.shape = Shape::Array { first: true };
        }
        entries
    }

    fn next_line(&mut self) -> Option<Found<'t>> {
        self.skip_space();
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        Some(Found::Entry(trimmed(self.cut(end))))
    }

    fn next_in_array(&mut self, first: bool) -> Option<Found<'t>> {
        self.skip_space();
        let end = value_end(self.rest);
        let piece = self.cut(end);
        let close = self.cut(1);
        self.shape = match close.text {
            "," => Shape::Array { first: false },
            "]" => Shape::Closed,
            _ => Shape::Unclosed,
        };
        let nothing = match self.shape {
            Shape::Closed => first,
            Shape::Unclosed => true,
            _ => false,
        };
        if nothing && piece.text.is_empty() {
            return self.next();
        }
        Some(Found::Entry(trimmed(piece)))
    }

    fn behind_array(&mut self) -> Option<Found<'t>> {
        self.skip_space();
        self.shape = Shape::Over;
        let rest = self.cut(self.rest.len());
        (!rest.text.is_empty()).then_some(Found::Misplaced(rest, "nothing behind the array"))
    }

    fn end_of_text(&mut self) -> Option<Found<'t>> {
        self.shape = Shape::Over;
        Some(Found::Misplaced(self.cut(0), "a ] that closes the array"))
    }

    fn skip_space(&mut self) {
        let rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        self.cut(self.rest.len() - rest.len());
    }

    /// Takes `len` bytes off the rest, or what there is.
    fn cut(&mut self, len: usize) -> Piece<'t> {
        let (text, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        let piece = Piece {
            text,
            line: self.line,
            column: self.column,
        };
        (self.line, self.column) = piece.place(text.len());
        self.rest = rest;
        piece
    }
}

impl<'t> Iterator for Entries<'t> {
    type Item = Found<'t>;

    fn next(&mut self) -> Option<Found<'t>> {
        match self.shape {
            Shape::Lines => self.next_line(),
            Shape::Array { first } => self.next_in_array(first),
            Shape::Closed => self.behind_array(),
            Shape::Unclosed => self.end_of_text(),
            Shape::Over => None,
        }
    }
}

fn trimmed(piece: Piece<'_>) -> Piece<'_> {
    Piece {
        text: piece.text.trim_end_matches([' ', '\t', '\r', '\n']),
        ..piece
    }
}

/// Where the first value of `text` ends: at a `,` or `]` that is in no string, object or array.
fn value_end(text: &str) -> usize {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b',' | b']' if depth == 0 => return at,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}
