//! The schema as the generators see it: messages with fields of few kinds, read from the compiled
//! `.proto` files. What the formats could not all carry is refused here, with the place.

use anyhow::{Context, Result, bail, ensure};
use prost_reflect::{DescriptorPool, FieldDescriptor, Kind as ProtoKind, MessageDescriptor};
use std::collections::{BTreeMap, HashMap};

/// The number of the `ext` of every message that has one.
pub const EXT: u32 = 99;
/// The number of the JSON text in every Ext.
pub const REST: u32 = 20260;
/// FlatBuffers slots, with the number of the message, fit one 64-bit key.
const SLOT_MAX: u32 = 50;

/// A message of the schema.
pub struct Message {
    pub name: String,
    /// Its comment, one line.
    pub doc: String,
    /// By number, ascending.
    pub fields: Vec<Field>,
    /// Holds the extensions of another message. Such a message is JSON text in FlatBuffers.
    pub is_ext: bool,
    /// An entry of a map.
    pub is_entry: bool,
}

/// A field of a message.
pub struct Field {
    pub number: u32,
    pub name: String,
    pub kind: Kind,
    pub deprecated: bool,
}

/// What a field holds.
#[derive(Clone, PartialEq, Eq)]
pub enum Kind {
    String,
    Int,
    Bool,
    Double,
    /// A price that bids have to reach: the one double that may be infinite.
    Floor,
    Message(String),
    Ext(String),
    /// The rest of an Ext, as JSON text.
    Rest,
    /// Any JSON value: `google.protobuf.Value` in protobuf, text elsewhere.
    Json,
    Strings,
    Ints,
    Messages(String),
    /// `map<string, double>`, by the name of its entry.
    Entries(String),
}

/// The messages of a package, in the order of the file; entries of maps after their owner.
pub fn read(pool: &DescriptorPool, file: &str) -> Result<Vec<Message>> {
    let file = pool
        .get_file_by_name(file)
        .with_context(|| format!("no {file} among the compiled files"))?;
    let docs = comments(&file);
    let mut messages = Vec::new();
    for message in file.messages() {
        let doc = docs.get(message.path()).cloned().unwrap_or_default();
        ensure!(!doc.is_empty(), "{}: has no comment", message.name());
        messages.push(read_message(&message, doc)?);
        for nested in message.child_messages() {
            ensure!(
                nested.is_map_entry(),
                "{}: nested messages are not flat",
                nested.full_name()
            );
            let doc = format!("An entry of a map of {}.", message.name());
            messages.push(read_message(&nested, doc)?);
        }
    }
    ensure_no_cycle(&messages)?;
    Ok(messages)
}

/// Leading comments by path, joined to one line.
fn comments(file: &prost_reflect::FileDescriptor) -> HashMap<Vec<i32>, String> {
    let info = file.file_descriptor_proto().source_code_info.as_ref();
    info.into_iter()
        .flat_map(|info| &info.location)
        .filter_map(|location| {
            let lines = location.leading_comments.as_ref()?.lines().map(str::trim);
            Some((
                location.path.clone(),
                lines.collect::<Vec<_>>().join(" ").trim().to_owned(),
            ))
        })
        .collect()
}

fn read_message(message: &MessageDescriptor, doc: String) -> Result<Message> {
    let mut fields = message
        .fields()
        .map(|field| {
            read_field(&field).with_context(|| format!("{}.{}", message.name(), field.name()))
        })
        .collect::<Result<Vec<_>>>()?;
    fields.sort_by_key(|field| field.number);
    let is_ext = fields.iter().any(|field| field.kind == Kind::Rest);
    for field in &fields {
        ensure!(
            is_ext || field.number == EXT || field.number <= SLOT_MAX,
            "{}.{}: slots go up to {SLOT_MAX}",
            message.name(),
            field.name
        );
    }
    Ok(Message {
        name: name_of(message),
        doc,
        fields,
        is_ext,
        is_entry: message.is_map_entry(),
    })
}

fn name_of(message: &MessageDescriptor) -> String {
    match message.parent_message() {
        Some(parent) => format!("{}{}", parent.name(), message.name()),
        None => message.name().to_owned(),
    }
}

fn read_field(field: &FieldDescriptor) -> Result<Field> {
    let one = !field.is_list() && !field.is_map();
    let in_entry = field.parent_message().is_map_entry();
    ensure!(
        !one || in_entry || field.supports_presence(),
        "is neither optional nor repeated"
    );
    let kind = match (field.kind(), one) {
        (ProtoKind::String, true) if field.number() == REST => Kind::Rest,
        (ProtoKind::String, true) => Kind::String,
        (ProtoKind::Int32, true) => Kind::Int,
        (ProtoKind::Bool, true) => Kind::Bool,
        (ProtoKind::Double, true) if field.name() == "bidfloor" => Kind::Floor,
        (ProtoKind::Double, true) => Kind::Double,
        (ProtoKind::String, false) => Kind::Strings,
        (ProtoKind::Int32, false) => Kind::Ints,
        (ProtoKind::Message(m), true) if m.full_name() == "google.protobuf.Value" => Kind::Json,
        (ProtoKind::Message(m), true) if field.number() == EXT => Kind::Ext(name_of(&m)),
        (ProtoKind::Message(m), true) => Kind::Message(name_of(&m)),
        (ProtoKind::Message(m), false) if field.is_map() => {
            let value = m.map_entry_value_field().kind();
            ensure!(
                m.map_entry_key_field().kind() == ProtoKind::String && value == ProtoKind::Double,
                "is a map of other than string to double"
            );
            Kind::Entries(name_of(&m))
        }
        (ProtoKind::Message(m), false) => Kind::Messages(name_of(&m)),
        (kind, _) => bail!("{kind:?} is not among the kinds that every format carries"),
    };
    let options = field.field_descriptor_proto().options.as_ref();
    Ok(Field {
        number: field.number(),
        name: field.name().to_owned(),
        kind,
        deprecated: options.is_some_and(|options| options.deprecated()),
    })
}

/// No message may hold itself: the depth of a decoder is then that of the schema.
fn ensure_no_cycle(messages: &[Message]) -> Result<()> {
    fn walk<'m>(
        name: &'m str,
        by_name: &BTreeMap<&str, &'m Message>,
        path: &mut Vec<&'m str>,
    ) -> Result<()> {
        if path.contains(&name) {
            bail!("{} holds itself: {}", name, path.join(" > "));
        }
        path.push(name);
        let message = by_name
            .get(name)
            .with_context(|| format!("no message {name}"))?;
        for field in &message.fields {
            if let Some(held) = field.kind.message() {
                walk(held, by_name, path)?;
            }
        }
        path.pop();
        Ok(())
    }
    let by_name = messages.iter().map(|m| (m.name.as_str(), m)).collect();
    messages
        .iter()
        .try_for_each(|message| walk(&message.name, &by_name, &mut Vec::new()))
}

impl Kind {
    /// The message that the field holds, if it holds one.
    pub fn message(&self) -> Option<&str> {
        match self {
            Kind::Message(name) | Kind::Ext(name) | Kind::Messages(name) | Kind::Entries(name) => {
                Some(name)
            }
            _ => None,
        }
    }
}

impl Field {
    /// Where the field lies in a FlatBuffers table.
    pub fn slot(&self) -> u32 {
        match self.kind {
            Kind::Ext(_) => 0,
            _ => self.number,
        }
    }
}

impl Message {
    /// One more than the highest slot.
    pub fn slots(&self) -> u32 {
        let slots = self.fields.iter().map(|field| field.slot() + 1);
        slots.max().unwrap_or(0)
    }
}
