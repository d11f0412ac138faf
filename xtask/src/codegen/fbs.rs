//! `openrtb.fbs`, from the protobuf schema: a table for a message, a slot for a number.

use super::schema::{Field, Kind, Message};
use std::fmt::Write as _;

const HEAD: &str = r#"// Made by "cargo xtask codegen" from schema/openrtb.proto; do not edit.
//
// OpenRTB 2.6 as FlatBuffers, for any language with a stock flatc (2.0.8 and later):
//
//   flatc --go schema/openrtb.fbs            (or --python, --cpp, --java, --ts, --rust, ...)
//   flatc --go schema/openrtb_response.fbs   (the same tables; the root is BidResponse)
//
// A slot is the protobuf field number, so a field added later moves no other; numbers not in use are
// deprecated slots named unused. Slot 0 is the whole `ext` object as JSON text, typed extensions
// included. What is not set is absent: every number and flag defaults to null, so an explicit 0 or
// false is kept. Strings are UTF-8. Buffers carry no file identifier; in a stream each stands behind
// its length (size-prefixed). `flatc --conform` against an older version tells whether a slot moved.

namespace nearbid.openrtb;
"#;

/// The text of `openrtb.fbs`.
pub fn request(messages: &[Message]) -> String {
    let mut text = HEAD.to_owned();
    for message in messages.iter().filter(|message| !message.is_ext) {
        table(&mut text, message);
    }
    text.push_str("\nroot_type BidRequest;\n");
    text
}

/// The text of `openrtb_response.fbs`.
pub fn response() -> String {
    "include \"openrtb.fbs\";\nroot_type nearbid.openrtb.BidResponse;\n".to_owned()
}

fn table(text: &mut String, message: &Message) {
    let _ = write!(text, "\n/// {}\ntable {} {{\n", message.doc, message.name);
    for slot in 0..message.slots() {
        match message.fields.iter().find(|field| field.slot() == slot) {
            Some(field) => line(text, field),
            // flatc wants every slot up to the highest.
            None => {
                let _ = writeln!(text, "  unused{slot}: bool (id: {slot}, deprecated);");
            }
        }
    }
    text.push_str("}\n");
}

fn line(text: &mut String, field: &Field) {
    let kind = match &field.kind {
        Kind::String | Kind::Ext(_) | Kind::Json | Kind::Rest => "string".to_owned(),
        Kind::Int => "int = null".to_owned(),
        Kind::Bool => "bool = null".to_owned(),
        Kind::Double | Kind::Floor => "double = null".to_owned(),
        Kind::Message(name) => name.clone(),
        Kind::Strings => "[string]".to_owned(),
        Kind::Ints => "[int]".to_owned(),
        Kind::Messages(name) | Kind::Entries(name) => format!("[{name}]"),
    };
    // `deprecated` would keep the field from being read at all, so the standard's own is a comment.
    if field.deprecated {
        text.push_str("  /// Deprecated by the standard.\n");
    }
    let _ = writeln!(text, "  {}: {kind} (id: {});", field.name, field.slot());
}
