//! Everything that is made from `schema/*.proto`: the FlatBuffers schema, the owned messages in
//! Rust, and the descriptors that gRPC reflection serves. All of it is committed; `--check` tells
//! whether it still is what the schema makes.

mod fbs;
mod rust;
mod schema;

use anyhow::{Context, Result, bail};
use std::path::Path;

/// Makes every file, or with `check` compares and fails naming those that are stale.
pub fn run(root: &Path, check: bool) -> Result<()> {
    let mut stale = Vec::new();
    for (path, content) in make(&root.join("schema"))? {
        let file = root.join(path);
        if std::fs::read(&file).ok().as_deref() == Some(content.as_slice()) {
            continue;
        }
        if check {
            stale.push(path);
        } else {
            write(&file, &content)?;
            println!("made {path}");
        }
    }
    if !stale.is_empty() {
        bail!("stale, run `cargo xtask codegen`: {}", stale.join(", "));
    }
    Ok(())
}

/// What is made from the schema, by path from the root of the project.
fn make(schema: &Path) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let mut compiler = protox::Compiler::new([schema])?;
    compiler.include_source_info(true).include_imports(true);
    compiler.open_file("bidder.proto")?;
    let messages = schema::read(&compiler.descriptor_pool(), "openrtb.proto")?;
    compiler.include_source_info(false);
    Ok(vec![
        ("schema/openrtb.fbs", fbs::request(&messages).into()),
        ("schema/openrtb_response.fbs", fbs::response().into()),
        ("schema/bidder.binpb", compiler.encode_file_descriptor_set()),
        (
            "crates/wire/src/generated/mod.rs",
            rust::messages(&messages).into(),
        ),
    ])
}

fn write(file: &Path, content: &[u8]) -> Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, content).with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use prost_reflect::{DescriptorPool, Kind, MessageDescriptor};
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    fn root() -> PathBuf {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
    }

    fn compile() -> DescriptorPool {
        let mut compiler = protox::Compiler::new([root().join("schema")]).unwrap();
        compiler.open_file("bidder.proto").unwrap();
        compiler.descriptor_pool()
    }

    #[test]
    fn what_is_committed_is_what_the_schema_makes() {
        run(&root(), true).unwrap();
    }

    #[test]
    fn a_slot_is_a_field_number() {
        let text = std::fs::read_to_string(root().join("schema/openrtb.fbs")).unwrap();
        for line in [
            "  id: string (id: 1);",
            "  ext: string (id: 0);",
            "  bidfloor: double = null (id: 8);",
            "  unused22: bool (id: 22, deprecated);",
            "  request_native: NativeRequest (id: 50);",
            "  ps: [InterestGroupAuctionBuyerPsEntry] (id: 5);",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}");
        }
    }

    /// The list of the IAB's fields, if it is present: by message, number and type as it spells them.
    fn iab_fields() -> Option<BTreeMap<String, Vec<(u32, String)>>> {
        let beside = root().join("../shared");
        let folder = std::env::var_os("NEARBID_SHARED").map_or(beside, PathBuf::from);
        let file = folder.join("spec/openrtb-2.6-field-numbers.txt");
        let Ok(text) = std::fs::read_to_string(&file) else {
            println!("skipped: {} not present", file.display());
            return None;
        };
        let mut messages = BTreeMap::new();
        let mut fields: &mut Vec<_> = &mut Vec::new();
        for line in text.lines() {
            if let Some(head) = line.strip_prefix("## ") {
                let name = head.split_whitespace().next().unwrap();
                fields = messages.entry(name.to_owned()).or_default();
            } else if let Some((number, rest)) = line.trim().split_once(' ')
                && let Ok(number) = number.parse()
            {
                let field = rest.split("  ").next().unwrap();
                fields.push((number, field.to_owned()));
            }
        }
        Some(messages)
    }

    /// Our message for one of the IAB's, whose names are nested.
    fn flat(pool: &DescriptorPool, name: &str) -> Option<MessageDescriptor> {
        let (name, ext) = match name.strip_suffix(".Ext") {
            Some(name) => (name, "Ext"),
            None => (name, ""),
        };
        let flat = match name.split_once('.') {
            Some(("NativeRequest" | "NativeResponse", _)) => name.replace('.', ""),
            _ => name.rsplit('.').next().unwrap().to_owned(),
        };
        pool.get_message_by_name(&format!("nearbid.openrtb.{flat}{ext}"))
    }

    /// Whether a field is what the list says, `repeated BidRequest.Video video` for one. Names of messages
    /// are compared without what they are nested in.
    fn agrees(field: &prost_reflect::FieldDescriptor, expect: &str) -> bool {
        let (expect, is_list) = match expect.strip_prefix("repeated ") {
            Some(expect) => (expect, true),
            None => (expect, expect.starts_with("map ")),
        };
        let (kind, name) = expect.rsplit_once(' ').unwrap();
        let kind = kind.rsplit('.').next().unwrap();
        let is_kind = match field.kind() {
            Kind::Message(message) if field.is_map() => {
                let (key, value) = (
                    message.map_entry_key_field(),
                    message.map_entry_value_field(),
                );
                format!("map < {:?} , {:?} >", key.kind(), value.kind()) == kind
            }
            Kind::Message(message) => message.name().ends_with(kind),
            scalar => format!("{scalar:?}") == kind,
        };
        is_kind && field.name() == name && (field.is_list() || field.is_map()) == is_list
    }

    #[test]
    fn fields_are_those_of_the_iab() {
        let pool = compile();
        for (name, expect) in iab_fields().into_iter().flatten() {
            let Some(message) = flat(&pool, &name) else {
                assert!(
                    expect.is_empty() && name.ends_with(".Ext"),
                    "{name} is missing"
                );
                continue;
            };
            let is_ours = |field: &prost_reflect::FieldDescriptor| field.number() == schema::REST;
            let ours = message.fields().filter(|field| !is_ours(field)).count();
            assert_eq!(ours, expect.len(), "{name}");
            for (number, expect) in expect {
                let field = message.get_field(number);
                assert!(
                    field.is_some_and(|field| agrees(&field, &expect)),
                    "{name} {number} {expect}"
                );
            }
        }
    }
}
