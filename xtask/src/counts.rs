//! Holds a change to the instructions that a no costs in each format: `docs/counts.json` has them as
//! they were, and more than [`RISE_PERCENT_MAX`] above is a failure that names the format.
//!
//! Another compiler makes other code, so counts are compared only with those that the same compiler
//! made. That nothing is allocated for a no is a test of its own.

#![allow(
    clippy::indexing_slicing,
    reason = "a key that a JSON value lacks is null"
)]

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const FILE: &str = "docs/counts.json";
/// By so much a count may rise.
const RISE_PERCENT_MAX: u64 = 3;

/// What came of the comparison.
pub enum Outcome {
    /// Every count is where it was, or below; how many there are.
    Held(usize),
    /// They cannot be compared, and why.
    Skipped(String),
}

/// Counts, and compares with the counts on file.
pub fn check(root: &Path) -> Result<Outcome> {
    let path = root.join(FILE);
    let text = std::fs::read_to_string(&path).context(FILE)?;
    let known: Value = serde_json::from_str(&text).context(FILE)?;
    let compiler = compiler()?;
    if known["compiler"] != compiler.as_str() {
        let of = &known["compiler"];
        let reason = format!("{FILE} is of {of}, this is \"{compiler}\"");
        return Ok(Outcome::Skipped(reason));
    }
    let counted = count(root)?;
    let rises = rises(&known["instructions"], &counted);
    if !rises.is_empty() {
        bail!(
            "{}; if that is meant, `cargo xtask counts --update`",
            rises.join(", ")
        );
    }
    Ok(Outcome::Held(counted.len()))
}

/// Counts, and puts the counts on file.
pub fn update(root: &Path) -> Result<()> {
    let instructions: serde_json::Map<_, _> = count(root)?
        .into_iter()
        .map(|(path, count)| (path, count.into()))
        .collect();
    let file = json!({ "compiler": compiler()?, "instructions": instructions });
    let text = format!("{}\n", serde_json::to_string_pretty(&file)?);
    std::fs::write(root.join(FILE), text).context(FILE)
}

/// The paths whose count rose too much, or that have none on file.
fn rises(known: &Value, counted: &[(String, u64)]) -> Vec<String> {
    let rise = |(path, count): &(String, u64)| {
        let Some(was) = known[path].as_u64() else {
            return Some(format!("{path}: {FILE} has no count"));
        };
        (count * 100 > was * (100 + RISE_PERCENT_MAX)).then(|| {
            let percent = *count as f64 * 100.0 / was as f64 - 100.0;
            format!("{path}: {count} instructions a no, {percent:.1} % above the {was} on file")
        })
    };
    counted.iter().filter_map(rise).collect()
}

/// Instructions of a no, by path.
fn count(root: &Path) -> Result<Vec<(String, u64)>> {
    let build = ["build", "-q", "--release", "--locked", "-p", "nearbid"];
    crate::process::command(root, "cargo", &build)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let program = root.join(target).join("release/nearbid");
    let output = Command::new(&program)
        .args(["bench", "counts", "--json"])
        .output()
        .with_context(|| format!("{}", program.display()))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    let counted: Value = serde_json::from_slice(&output.stdout)?;
    let rows = counted["rows"].as_array().context("no rows")?;
    let row = |row: &Value| {
        let path = row["path"].as_str()?.to_owned();
        Some((path, row["instructions"].as_u64()?))
    };
    rows.iter()
        .map(row)
        .collect::<Option<_>>()
        .context("a row without a count")
}

/// The compiler and what it makes code for.
fn compiler() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("rustc")?;
    let text = String::from_utf8(output.stdout)?;
    let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
    let release = of("release: ").context("rustc -vV says no release")?;
    let host = of("host: ").context("rustc -vV says no host")?;
    Ok(format!("rustc {release} {host}"))
}

#[cfg(test)]
mod comparison {
    use super::*;

    #[test]
    fn a_rise_is_named() {
        let known = json!({ "json/in_place": 1000, "protobuf/in_place": 1000 });
        let counted = |json, protobuf| {
            [("json/in_place", json), ("protobuf/in_place", protobuf)]
                .map(|(path, count)| (path.to_owned(), count))
        };
        assert!(rises(&known, &counted(1030, 500)).is_empty());
        let rises = rises(&known, &counted(1031, 1000));
        assert_eq!(
            rises,
            ["json/in_place: 1031 instructions a no, 3.1 % above the 1000 on file"]
        );
        let unknown = [("flatbuffers/in_place".to_owned(), 1)];
        assert_eq!(super::rises(&known, &unknown).len(), 1);
    }
}
