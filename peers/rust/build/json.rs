//! Structs that serde reads the whole of a request into and writes it from: a field for each of the
//! standard, `ext` kept as the text it is.

use super::schema::{Field, Kind, Message};
use std::fmt::Write as _;

/// The text of the module.
pub fn generate(messages: &[&Message]) -> String {
    let mut text = String::new();
    for message in messages {
        let _ = writeln!(
            text,
            "#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize, ::serde::Deserialize)]\n\
             pub struct {} {{",
            message.name
        );
        for field in &message.fields {
            field_of(&mut text, field);
        }
        text.push_str("}\n");
    }
    text
}

fn field_of(text: &mut String, field: &Field) {
    let (of, attribute) = match &field.kind {
        Kind::String => ("Option<String>".to_owned(), OPTION),
        Kind::Int => ("Option<i32>".to_owned(), OPTION),
        Kind::Bool => ("Option<bool>".to_owned(), FLAG),
        Kind::Double | Kind::Floor => ("Option<f64>".to_owned(), OPTION),
        Kind::Message(name) => (format!("Option<{name}>"), OPTION),
        Kind::Strings => ("Vec<String>".to_owned(), LIST),
        Kind::Ints => ("Vec<i32>".to_owned(), LIST),
        Kind::Messages(name) => (format!("Vec<{name}>"), LIST),
        Kind::Ext(_) => ("Option<crate::raw::Raw>".to_owned(), OPTION),
        // None of these is in a request.
        Kind::Rest | Kind::Json | Kind::Entries(_) => return,
    };
    let _ = writeln!(text, "#[serde({attribute})] pub r#{}: {of},", field.name);
}

const OPTION: &str = "skip_serializing_if = \"Option::is_none\"";
const LIST: &str = "default, skip_serializing_if = \"Vec::is_empty\"";
const FLAG: &str = "default, with = \"crate::flag\", skip_serializing_if = \"Option::is_none\"";
