//! `grpc.reflection.v1` and `v1alpha` (the same messages): what the server serves, told from the
//! descriptors its builder gave.

use std::collections::BTreeMap;

use crate::protobuf::{self, Fields, Value};
use crate::{Code, Status};

/// A file of the set, as it lies in it.
#[derive(Debug)]
struct File {
    bytes: Vec<u8>,
    imports: Vec<String>,
}

/// The descriptors by name.
#[derive(Debug, Default)]
pub(crate) struct Reflection {
    files: Vec<File>,
    by_name: BTreeMap<String, usize>,
    /// Every message, enum, service and method, by its full name.
    by_symbol: BTreeMap<String, usize>,
    services: Vec<String>,
}

/// Messages nest so deep at most in a set that we take.
const DEPTH_MAX: usize = 32;

// Fields of descriptor.proto.
const SET_FILE: u64 = 1;
const FILE_NAME: u64 = 1;
const FILE_PACKAGE: u64 = 2;
const FILE_DEPENDENCY: u64 = 3;
const FILE_MESSAGE: u64 = 4;
const FILE_ENUM: u64 = 5;
const FILE_SERVICE: u64 = 6;
const MESSAGE_NESTED: u64 = 3;
const MESSAGE_ENUM: u64 = 4;
const SERVICE_METHOD: u64 = 2;
/// Messages, enums, services and methods all have their name here.
const NAME: u64 = 1;

// Fields of reflection.proto.
const REQUEST_FILE_BY_NAME: u64 = 3;
const REQUEST_FILE_BY_SYMBOL: u64 = 4;
const REQUEST_LIST_SERVICES: u64 = 7;
const REPLY_ORIGINAL: u64 = 2;
const REPLY_FILES: u64 = 4;
const REPLY_SERVICES: u64 = 6;
const REPLY_ERROR: u64 = 7;

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// The values of one field of a message that are bytes.
fn all(message: &[u8], wanted: u64) -> impl Iterator<Item = &[u8]> {
    Fields::new(message).filter_map(move |field| match field {
        (number, Value::Bytes(bytes)) if number == wanted => Some(bytes),
        _ => None,
    })
}

fn full_name(scope: &str, message: &[u8]) -> Option<String> {
    let name = text(all(message, NAME).last()?)?;
    Some(if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}.{name}")
    })
}

impl Reflection {
    /// Reads a `FileDescriptorSet`; `None` if it is none.
    pub fn new(set: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(set);
        fields.by_ref().for_each(drop);
        let mut reflection = Self::default();
        for file in all(set, SET_FILE) {
            reflection.add(file)?;
        }
        (fields.is_sound() && !reflection.files.is_empty()).then_some(reflection)
    }

    fn add(&mut self, file: &[u8]) -> Option<()> {
        let name = text(all(file, FILE_NAME).last()?)?.to_owned();
        let package = all(file, FILE_PACKAGE).last().map_or(Some(""), text)?;
        let imports = all(file, FILE_DEPENDENCY)
            .filter_map(text)
            .map(str::to_owned)
            .collect();
        let number = self.files.len();
        for message in all(file, FILE_MESSAGE) {
            self.add_message(package, message, number, DEPTH_MAX)?;
        }
        for symbol in all(file, FILE_ENUM) {
            self.by_symbol.insert(full_name(package, symbol)?, number);
        }
        for service in all(file, FILE_SERVICE) {
            let service_name = full_name(package, service)?;
            for method in all(service, SERVICE_METHOD) {
                self.by_symbol
                    .insert(full_name(&service_name, method)?, number);
            }
            self.by_symbol.insert(service_name.clone(), number);
            self.services.push(service_name);
        }
        self.by_name.insert(name, number);
        self.files.push(File {
            bytes: file.to_vec(),
            imports,
        });
        Some(())
    }

    fn add_message(
        &mut self,
        scope: &str,
        message: &[u8],
        file: usize,
        depth: usize,
    ) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let name = full_name(scope, message)?;
        for nested in all(message, MESSAGE_NESTED) {
            self.add_message(&name, nested, file, depth)?;
        }
        for symbol in all(message, MESSAGE_ENUM) {
            self.by_symbol.insert(full_name(&name, symbol)?, file);
        }
        self.by_symbol.insert(name, file);
        Some(())
    }

    /// Answers one `ServerReflectionRequest` with one `ServerReflectionResponse`.
    pub fn answer(&self, request: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
        let mut fields = Fields::new(request);
        let mut asked = None;
        for (number, value) in fields.by_ref() {
            if let (3..=7, Value::Bytes(bytes)) = (number, value) {
                asked = Some((number, bytes));
            }
        }
        if !fields.is_sound() {
            return Err(Status::fixed(
                Code::InvalidArgument,
                "malformed ServerReflectionRequest",
            ));
        }
        protobuf::put_bytes(out, REPLY_ORIGINAL, request);
        match asked {
            Some((REQUEST_FILE_BY_NAME, name)) => self.file(&self.by_name, name, out),
            Some((REQUEST_FILE_BY_SYMBOL, name)) => self.file(&self.by_symbol, name, out),
            Some((REQUEST_LIST_SERVICES, _)) => self.list(out),
            _ => error(out, Code::Unimplemented, "not answered: extensions"),
        }
        Ok(())
    }

    fn list(&self, out: &mut Vec<u8>) {
        let mut list = Vec::new();
        for service in &self.services {
            let mut entry = Vec::new();
            protobuf::put_bytes(&mut entry, NAME, service.as_bytes());
            protobuf::put_bytes(&mut list, 1, &entry);
        }
        protobuf::put_bytes(out, REPLY_SERVICES, &list);
    }

    /// A file and everything it imports, which saves the client asking again.
    fn file(&self, index: &BTreeMap<String, usize>, name: &[u8], out: &mut Vec<u8>) {
        let Some(first) = text(name).and_then(|name| index.get(name)) else {
            return error(out, Code::NotFound, "no such file or symbol");
        };
        let mut wanted = vec![*first];
        let mut at = 0;
        let mut reply = Vec::new();
        while let Some(file) = wanted.get(at).and_then(|number| self.files.get(*number)) {
            protobuf::put_bytes(&mut reply, 1, &file.bytes);
            let imports = file
                .imports
                .iter()
                .filter_map(|import| self.by_name.get(import));
            for number in imports {
                if !wanted.contains(number) {
                    wanted.push(*number);
                }
            }
            at += 1;
        }
        protobuf::put_bytes(out, REPLY_FILES, &reply);
    }
}

fn error(out: &mut Vec<u8>, code: Code, message: &str) {
    let mut error = Vec::new();
    protobuf::put_number(&mut error, 1, u64::from(code.number()));
    protobuf::put_bytes(&mut error, 2, message.as_bytes());
    protobuf::put_bytes(out, REPLY_ERROR, &error);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn message(fields: &[(u64, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (field, bytes) in fields {
            protobuf::put_bytes(&mut out, *field, bytes);
        }
        out
    }

    /// Two files: `a.proto` imports `b.proto`, has a service with a method, and a nested message.
    fn set() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        let service = message(&[(1, b"S"), (2, &message(&[(1, b"M")]))]);
        let nested = message(&[
            (1, b"Outer"),
            (3, &message(&[(1, b"Inner"), (4, &message(&[(1, b"E")]))])),
        ]);
        let a = message(&[
            (1, b"a.proto"),
            (2, b"p.q"),
            (3, b"b.proto"),
            (4, &nested),
            (6, &service),
        ]);
        let b = message(&[(1, b"b.proto"), (5, &message(&[(1, b"Top")]))]);
        (message(&[(1, &a), (1, &b)]), a, b)
    }

    #[track_caller]
    fn check(field: u64, name: &str, expect: (u64, &[u8])) {
        let reflection = Reflection::new(&set().0).unwrap();
        let request = message(&[(1, b"host"), (field, name.as_bytes())]);
        let mut out = Vec::new();
        reflection.answer(&request, &mut out).unwrap();
        let answer: Vec<_> = Fields::new(&out).collect();
        assert_eq!(
            answer,
            [
                (REPLY_ORIGINAL, Value::Bytes(&request)),
                (expect.0, Value::Bytes(expect.1))
            ]
        );
    }

    #[test]
    fn answers() {
        let (_, a, b) = set();
        let both = message(&[(1, &a), (1, &b)]);
        let only_b = message(&[(1, &b)]);
        check(3, "a.proto", (4, &both));
        check(3, "b.proto", (4, &only_b));
        for symbol in [
            "p.q.S",
            "p.q.S.M",
            "p.q.Outer",
            "p.q.Outer.Inner",
            "p.q.Outer.Inner.E",
        ] {
            check(4, symbol, (4, &both));
        }
        check(4, "Top", (4, &only_b));
        check(7, "", (6, &message(&[(1, &message(&[(1, b"p.q.S")]))])));
        for (field, name, code) in [(3, "c.proto", 5), (4, "p.q", 5), (6, "p.q.Outer", 12)] {
            let mut error = vec![8, code];
            let text = if code == 5 {
                "no such file or symbol"
            } else {
                "not answered: extensions"
            };
            protobuf::put_bytes(&mut error, 2, text.as_bytes());
            check(field, name, (7, &error));
        }
    }

    #[test]
    fn refused() {
        let (good, ..) = set();
        assert!(Reflection::new(&[]).is_none());
        assert!(Reflection::new(&good[..good.len() - 1]).is_none());
        assert!(Reflection::new(b"text").is_none());
        let mut deep = message(&[(1, b"M")]);
        for _ in 0..40 {
            deep = message(&[(1, b"M"), (3, &deep)]);
        }
        assert!(Reflection::new(&message(&[(1, &message(&[(1, b"f"), (4, &deep)]))])).is_none());
        let reflection = Reflection::new(&good).unwrap();
        assert_eq!(
            reflection
                .answer(b"\x0a\xff", &mut Vec::new())
                .unwrap_err()
                .code,
            Code::InvalidArgument
        );
    }
}
