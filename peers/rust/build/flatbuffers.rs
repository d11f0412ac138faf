//! Tables and builders for the crate `flatbuffers`, as flatc writes them (there is no flatc for
//! every developer, and Debian's is older than the crate). Builders take the owned structs that
//! planus generates, as flatc's object interface takes its own.

use super::schema::{Field, Kind, Message};
use std::fmt::Write as _;

/// The text of the module.
pub fn generate(messages: &[&Message]) -> String {
    let mut text = "use super::planus::nearbid::openrtb as owned;\n".to_owned();
    for message in messages {
        table(&mut text, message);
        verifier(&mut text, message);
        pack(&mut text, message);
    }
    text
}

fn table(text: &mut String, message: &Message) {
    let name = &message.name;
    let _ = write!(
        text,
        "#[derive(Copy, Clone, PartialEq)]
pub struct {name}<'a> {{ pub _tab: ::flatbuffers::Table<'a> }}
impl<'a> ::flatbuffers::Follow<'a> for {name}<'a> {{
    type Inner = {name}<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {{
        Self {{ _tab: unsafe {{ ::flatbuffers::Table::new(buf, loc) }} }}
    }}
}}
impl<'a> {name}<'a> {{
"
    );
    for field in &message.fields {
        getter(text, field);
    }
    text.push_str("}\n");
}

fn getter(text: &mut String, field: &Field) {
    let (of, got) = (read_as(&field.kind, "'a"), got(&field.kind));
    let _ = write!(
        text,
        "    pub const VT_{constant}: ::flatbuffers::VOffsetT = {offset};
    #[inline]
    pub fn r#{name}(&self) -> Option<{got}> {{
        unsafe {{ self._tab.get::<{of}>(Self::VT_{constant}, None) }}
    }}
",
        constant = field.name.to_uppercase(),
        offset = 4 + 2 * field.slot(),
        name = field.name,
    );
}

/// The type that the table is asked for.
fn read_as(kind: &Kind, life: &str) -> String {
    let forwards = |of: &str| format!("::flatbuffers::ForwardsUOffset<{of}>");
    let vector = |of: &str| forwards(&format!("::flatbuffers::Vector<{life}, {of}>"));
    match kind {
        Kind::String | Kind::Ext(_) | Kind::Json | Kind::Rest => forwards(&format!("&{life} str")),
        Kind::Int => "i32".to_owned(),
        Kind::Bool => "bool".to_owned(),
        Kind::Double | Kind::Floor => "f64".to_owned(),
        Kind::Message(name) => forwards(&format!("{name}<{life}>")),
        Kind::Strings => vector(&forwards(&format!("&{life} str"))),
        Kind::Ints => vector("i32"),
        Kind::Messages(name) | Kind::Entries(name) => vector(&forwards(&format!("{name}<{life}>"))),
    }
}

/// The type that it answers with.
fn got(kind: &Kind) -> String {
    let of = read_as(kind, "'a");
    match of.strip_prefix("::flatbuffers::ForwardsUOffset<") {
        Some(inner) => inner.strip_suffix('>').unwrap_or(inner).to_owned(),
        None => of,
    }
}

fn verifier(text: &mut String, message: &Message) {
    let name = &message.name;
    let _ = write!(
        text,
        "impl ::flatbuffers::Verifiable for {name}<'_> {{
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier<'_, '_>,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {{
        v.visit_table(pos)?
"
    );
    for field in &message.fields {
        let _ = writeln!(
            text,
            "            .visit_field::<{}>(\"{}\", Self::VT_{}, false)?",
            read_as(&field.kind, "'_"),
            field.name,
            field.name.to_uppercase(),
        );
    }
    text.push_str("            .finish();\n        Ok(())\n    }\n}\n");
}

fn pack(text: &mut String, message: &Message) {
    let name = &message.name;
    let _ = write!(
        text,
        "pub fn pack_{name}<'b>(
    fbb: &mut ::flatbuffers::FlatBufferBuilder<'b>,
    from: &owned::{owned},
) -> ::flatbuffers::WIPOffset<{name}<'b>> {{
",
        owned = owned_struct(name)
    );
    for field in &message.fields {
        if let Some(made) = made_before(&field.kind) {
            let _ = writeln!(
                text,
                "    let {}_ = from.{}.as_ref().map(|x| {made});",
                field.name,
                owned_field(&field.name)
            );
        }
    }
    text.push_str("    let start = fbb.start_table();\n");
    // flatc writes the widest fields first, so that fewer bytes pad.
    let mut fields: Vec<_> = message.fields.iter().collect();
    fields.sort_by_key(|field| std::cmp::Reverse(width(&field.kind)));
    for field in fields {
        let value = match made_before(&field.kind) {
            Some(_) => format!("{}_", field.name),
            None => format!("from.{}", owned_field(&field.name)),
        };
        let _ = writeln!(
            text,
            "    if let Some(x) = {value} {{ fbb.push_slot_always({name}::VT_{}, x); }}",
            field.name.to_uppercase()
        );
    }
    text.push_str(
        "    let end = fbb.end_table(start);\n    ::flatbuffers::WIPOffset::new(end.value())\n}\n",
    );
}

/// How planus spells a struct: `EID` is `Eid`.
fn owned_struct(name: &str) -> String {
    match name.split_at_checked(1) {
        Some((first, rest)) if name.chars().all(char::is_uppercase) => {
            format!("{first}{}", rest.to_lowercase())
        }
        _ => name.to_owned(),
    }
}

/// How planus spells a field: `type` is `type_`.
fn owned_field(name: &str) -> String {
    match name {
        "type" | "ref" => format!("{name}_"),
        _ => name.to_owned(),
    }
}

/// What has to stand in the buffer before the table that points at it; `x` is the owned value.
fn made_before(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::String | Kind::Ext(_) | Kind::Json | Kind::Rest => "fbb.create_string(x)".to_owned(),
        Kind::Int | Kind::Bool | Kind::Double | Kind::Floor => return None,
        Kind::Message(name) => format!("pack_{name}(fbb, x)"),
        Kind::Ints => "fbb.create_vector(x)".to_owned(),
        Kind::Strings => {
            "{ let w: Vec<_> = x.iter().map(|x| fbb.create_string(x)).collect(); fbb.create_vector(&w) }"
                .to_owned()
        }
        Kind::Messages(name) | Kind::Entries(name) => format!(
            "{{ let w: Vec<_> = x.iter().map(|x| pack_{name}(fbb, x)).collect(); fbb.create_vector(&w) }}"
        ),
    })
}

const fn width(kind: &Kind) -> u8 {
    match kind {
        Kind::Double | Kind::Floor => 8,
        Kind::Bool => 1,
        _ => 4,
    }
}
