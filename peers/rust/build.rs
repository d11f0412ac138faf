//! Generates, from `schema/`, what the libraries' own generators would: messages of prost, code of
//! planus, tables and builders of the crate `flatbuffers` as flatc writes them, and structs for
//! serde. All of it stays in the build folder: it is long, and full of `unsafe`.

#[path = "build/flatbuffers.rs"]
mod flatbuffers;
#[path = "build/json.rs"]
mod json;
// The same reading of the schema that the project's own code is made from.
#[allow(dead_code, reason = "what only the project's own generators ask for")]
#[path = "../../xtask/src/codegen/schema.rs"]
mod schema;

use anyhow::{Context, Result};
use prost_reflect::prost_types::FileDescriptorSet;
use schema::{Kind, Message};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const SCHEMA: &str = "../../schema";
const PROTO: &str = "openrtb.proto";
const FBS: &str = "openrtb.fbs";
const ROOT: &str = "BidRequest";

/// What generated code may do, and what is written by hand here may not.
const LIFTED: &[&str] = &[
    "unsafe_code",
    "missing_docs",
    "rust_2018_idioms",
    "dead_code",
    "non_snake_case",
    "non_camel_case_types",
    "unused_imports",
    "clippy::all",
    "clippy::unwrap_used",
    "clippy::expect_used",
    "clippy::panic",
    "clippy::indexing_slicing",
];

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed={SCHEMA}");
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").context("OUT_DIR is not set")?);
    let mut compiler = protox::Compiler::new([SCHEMA])?;
    compiler.include_source_info(true).include_imports(true);
    compiler.open_file(PROTO)?;
    let messages = schema::read(&compiler.descriptor_pool(), PROTO)?;

    let all = reachable(&messages, true);
    prost(compiler.file_descriptor_set(), &all, &out)?;
    let tables = reachable(&messages, false);
    planus(&tables, &out)?;
    let tables: Vec<_> = messages
        .iter()
        .filter(|m| tables.contains(&m.name))
        .collect();
    fs::write(out.join("flatbuffers.rs"), flatbuffers::generate(&tables))?;
    fs::write(out.join("json.rs"), json::generate(&tables))?;
    fs::write(
        out.join("generated.rs"),
        modules(&["prost", "planus", "flatbuffers", "json"]),
    )?;
    Ok(())
}

/// The messages that a request may hold. Without `extensions`, `ext` is text and holds none.
fn reachable(messages: &[Message], extensions: bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next = vec![ROOT];
    while let Some(name) = next.pop() {
        let message = messages.iter().find(|message| message.name == name);
        if !found.insert(name.to_owned()) {
            continue;
        }
        let fields = message.into_iter().flat_map(|message| &message.fields);
        let fields = fields.filter(|field| extensions || !matches!(field.kind, Kind::Ext(_)));
        next.extend(fields.filter_map(|field| field.kind.message()));
    }
    found
}

fn prost(mut files: FileDescriptorSet, keep: &BTreeSet<String>, out: &Path) -> Result<()> {
    files.file.retain(|file| file.name() == PROTO);
    for file in &mut files.file {
        file.message_type
            .retain(|message| keep.contains(message.name()));
        file.source_code_info = None;
    }
    prost_build::Config::new().out_dir(out).compile_fds(files)?;
    fs::rename(out.join("nearbid.openrtb.rs"), out.join("prost.rs"))?;
    Ok(())
}

fn planus(keep: &BTreeSet<String>, out: &Path) -> Result<()> {
    let text = fs::read_to_string(Path::new(SCHEMA).join(FBS))?;
    let schema = out.join(FBS);
    fs::write(&schema, only(&text, keep))?;
    let declarations =
        planus_translation::translate_files(&[&schema]).context("planus refuses the schema")?;
    let code = planus_codegen::generate_rust(&declarations, false)
        .map_err(|error| anyhow::anyhow!("planus: {error}"))?;
    fs::write(out.join("planus.rs"), code)?;
    Ok(())
}

/// The FlatBuffers schema with these tables alone.
fn only(text: &str, keep: &BTreeSet<String>) -> String {
    let mut kept = true;
    let lines = text.lines().filter(|line| {
        if let Some(table) = line.strip_prefix("table ") {
            kept = keep.contains(table.trim_end_matches([' ', '{']));
        }
        let keep_line = kept && !line.starts_with("///");
        kept |= *line == "}";
        keep_line
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Modules that take in the generated files, each free of the lints of what is written by hand.
fn modules(names: &[&str]) -> String {
    let lifted = LIFTED.join(", ");
    let module = |name: &&str| {
        format!(
            "#[allow({lifted}, reason = \"generated\")]\n\
             pub mod {name} {{ include!(concat!(env!(\"OUT_DIR\"), \"/{name}.rs\")); }}\n"
        )
    };
    names.iter().map(module).collect()
}
