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
