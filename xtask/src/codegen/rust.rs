//! The owned messages in Rust and, for each, the walk over its fields that every encoder and decoder
//! shares. Written the way rustfmt would, so that no formatter has to be installed.

use super::schema::{Field, Kind, Message};
use std::fmt::Write as _;

const HEAD: &str = r#"// Made by "cargo xtask codegen" from schema/openrtb.proto; do not edit.
//! The messages of OpenRTB 2.6 and Native Ads 1.2, owned, with the walk over their fields.
#![allow(missing_docs, reason = "the fields of the standards, by name")]

use crate::message::{Entry, Extension, FieldSink, FieldSource, Message};
use openrtb::Limit;
"#;

const COLUMNS_MAX: usize = 100;

/// Objects that may stand in JSON where the standard has text: message, field of the text, field of
/// the object. JSON has one key for the two.
const INLINE: &[(&str, &str, &str)] = &[
    ("Native", "request", "request_native"),
    ("Bid", "adm", "adm_native"),
];

/// Messages whose number in a list has a limit of its own.
const LIMITS: &[(&str, &str)] = &[("Imp", "Imps"), ("Deal", "Deals")];

/// The text of the generated module.
pub fn messages(messages: &[Message]) -> String {
    let mut text = HEAD.to_owned();
    for (index, message) in messages.iter().enumerate() {
        structure(&mut text, message);
        implementation(&mut text, index, message);
        if message.is_ext {
            extension(&mut text, message);
        }
        if message.is_entry {
            entry(&mut text, message);
        }
    }
    text
}

fn structure(text: &mut String, message: &Message) {
    let _ = write!(
        text,
        "\n/// {}\n#[derive(Clone, Debug, Default, PartialEq)]\npub struct {} {{\n",
        message.doc, message.name
    );
    for field in &message.fields {
        let _ = writeln!(
            text,
            "    pub {}: {},",
            ident(field),
            rust_type(&field.kind)
        );
    }
    text.push_str("}\n");
}

fn implementation(text: &mut String, index: usize, message: &Message) {
    let _ = writeln!(text, "\nimpl Message for {} {{", message.name);
    let _ = writeln!(text, "    const INDEX: u16 = {index};");
    for (_, limit) in LIMITS.iter().filter(|(name, _)| *name == message.name) {
        let _ = writeln!(
            text,
            "    const LIMIT: Option<Limit> = Some(Limit::{limit});"
        );
    }
    fields(text, message);
    number(text, message);
    inline(text, message);
    write(text, message);
    write_rev(text, message);
    read(text, message);
    text.push_str("}\n");
}

fn fields(text: &mut String, message: &Message) {
    text.push_str(
        "    #[rustfmt::skip]\n    const FIELDS: &'static [(u32, &'static str, u8)] = &[",
    );
    let mut column = COLUMNS_MAX;
    for field in &message.fields {
        let bytes = bytes(&field.kind);
        let entry = format!("({}, \"{}\", {bytes}),", field.number, field.name);
        if column + 1 + entry.len() > COLUMNS_MAX {
            text.push_str("\n       ");
            column = 7;
        }
        text.push(' ');
        text.push_str(&entry);
        column += 1 + entry.len();
    }
    text.push_str("\n    ];\n");
}

/// What the value of a field takes, or what points to it.
fn bytes(kind: &Kind) -> usize {
    match kind {
        Kind::Double | Kind::Floor => 8,
        Kind::Bool => 1,
        _ => 4,
    }
}

fn number(text: &mut String, message: &Message) {
    let keys: Vec<_> = message
        .fields
        .iter()
        .filter(|f| is_key(message, f))
        .collect();
    if keys.is_empty() {
        text.push_str("\n    fn number(_: &[u8]) -> Option<u32> {\n        None\n    }\n");
        return;
    }
    text.push_str("\n    fn number(key: &[u8]) -> Option<u32> {\n        match key {\n");
    for field in keys {
        let _ = writeln!(
            text,
            "            b\"{}\" => Some({}),",
            field.name, field.number
        );
    }
    text.push_str("            _ => None,\n        }\n    }\n");
}

/// Whether the field is a key of the JSON object.
fn is_key(message: &Message, field: &Field) -> bool {
    field.kind != Kind::Rest && object_of(message, field).is_none()
}

/// The field of the text in whose place the field's object stands.
fn object_of<'m>(message: &'m Message, field: &Field) -> Option<&'m Field> {
    let entry = INLINE
        .iter()
        .find(|(name, _, object)| *name == message.name && *object == field.name)?;
    message.fields.iter().find(|field| field.name == entry.1)
}

fn inline(text: &mut String, message: &Message) {
    for field in &message.fields {
        if let Some(instead_of) = object_of(message, field) {
            let _ = write!(
                text,
                "\n    fn object(number: u32) -> u32 {{\n        \
                 if number == {} {{ {} }} else {{ number }}\n    }}\n",
                instead_of.number, field.number
            );
        }
    }
}

fn write(text: &mut String, message: &Message) {
    text.push_str("\n    fn write<S: FieldSink>(&self, to: &mut S) {\n");
    for field in &message.fields {
        match object_of(message, field) {
            None => {
                let _ = writeln!(text, "        {}", write_call(field, &field.name));
            }
            Some(instead_of) => {
                let call = write_call(field, &instead_of.name);
                let _ = writeln!(
                    text,
                    "        if !S::ONE_KEY || self.{}.is_none() {{\n            {call}\n        }}",
                    ident(instead_of)
                );
            }
        }
    }
    text.push_str("    }\n");
}

fn write_rev(text: &mut String, message: &Message) {
    text.push_str("\n    fn write_rev<S: FieldSink>(&self, to: &mut S) {\n");
    for field in message.fields.iter().rev() {
        let _ = writeln!(text, "        {}", write_call(field, &field.name));
    }
    text.push_str("    }\n");
}

fn write_call(field: &Field, name: &str) -> String {
    let by = match field.kind {
        Kind::Int | Kind::Bool | Kind::Double | Kind::Floor => "",
        _ => "&",
    };
    format!(
        "to.{}({}, \"{name}\", {by}self.{});",
        visitor(&field.kind),
        field.number,
        ident(field)
    )
}

fn read(text: &mut String, message: &Message) {
    text.push_str(
        "\n    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {\n        \
         match number {\n",
    );
    for field in &message.fields {
        let _ = writeln!(
            text,
            "            {} => from.{}(&mut self.{})?,",
            field.number,
            visitor(&field.kind),
            ident(field)
        );
    }
    text.push_str("            _ => return Ok(false),\n        }\n        Ok(true)\n    }\n");
}

fn extension(text: &mut String, message: &Message) {
    let _ = write!(
        text,
        "\nimpl Extension for {} {{\n    \
         fn rest(&self) -> Option<&str> {{\n        self.json.as_deref()\n    }}\n\n    \
         fn set_rest(&mut self, json: String) {{\n        self.json = Some(json);\n    }}\n}}\n",
        message.name
    );
}

fn entry(text: &mut String, message: &Message) {
    let _ = write!(
        text,
        "\nimpl Entry for {name} {{\n    \
         fn new(key: String, value: f64) -> {name} {{\n        \
         {name} {{\n            key: Some(key),\n            value: Some(value),\n        }}\n    }}\n\n    \
         fn pair(&self) -> (&str, f64) {{\n        \
         let key = self.key.as_deref();\n        \
         (key.unwrap_or_default(), self.value.unwrap_or_default())\n    }}\n}}\n",
        name = message.name
    );
}

/// The method of `FieldSink` and `FieldSource` for a field of this kind.
fn visitor(kind: &Kind) -> &'static str {
    match kind {
        Kind::String => "string",
        Kind::Int => "int",
        Kind::Bool => "bool",
        Kind::Double => "double",
        Kind::Floor => "floor",
        Kind::Message(_) => "message",
        Kind::Ext(_) => "ext",
        Kind::Rest => "rest",
        Kind::Json => "json",
        Kind::Strings => "strings",
        Kind::Ints => "ints",
        Kind::Messages(_) => "messages",
        Kind::Entries(_) => "entries",
    }
}

fn rust_type(kind: &Kind) -> String {
    match kind {
        Kind::String | Kind::Rest | Kind::Json => "Option<String>".to_owned(),
        Kind::Int => "Option<i32>".to_owned(),
        Kind::Bool => "Option<bool>".to_owned(),
        Kind::Double | Kind::Floor => "Option<f64>".to_owned(),
        Kind::Message(name) | Kind::Ext(name) => format!("Option<Box<{name}>>"),
        Kind::Strings => "Vec<String>".to_owned(),
        Kind::Ints => "Vec<i32>".to_owned(),
        Kind::Messages(name) | Kind::Entries(name) => format!("Vec<{name}>"),
    }
}

fn ident(field: &Field) -> String {
    match field.name.as_str() {
        keyword @ ("ref" | "type") => format!("r#{keyword}"),
        name => name.to_owned(),
    }
}
