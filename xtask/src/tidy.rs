//! The invariants of ARCHITECTURE.md that a machine can see: which crate may depend on which, where
//! format names and `unsafe` may stand, that a dependency is chosen once, that a file says why it
//! exists, and that a long function says why it is long.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a crate of the workspace may depend on outside of tests. A crate that is not listed may
/// depend on anything but what [`FORBIDDEN`] says.
const ALLOWED: &[(&str, &[&str])] = &[
    ("openrtb", &[]),
    ("engine", &["openrtb"]),
    ("wire", &["openrtb", "wide"]),
    ("transport", &["nix", "rustix"]),
];
const FORBIDDEN: &[(&str, &str)] = &[("exchange", "engine"), ("bidder", "exchange")];

/// Where no format may be named, not even in a comment.
const FORMAT_FREE: &[&str] = &["crates/engine/src", "crates/openrtb/src"];
const FORMAT_NAMES: &[&str] = &["flatbuffer", "protobuf", "json"];

/// Licences of dependencies, as parts of an SPDX expression; one of each alternative suffices.
const LICENCES: &[&str] = &[
    "Apache-2.0",
    "MIT",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
    "0BSD",
    "BSL-1.0",
    "CC0-1.0",
    "MIT-0",
    "NCSA",
];

const FUNCTION_LINES_MAX: usize = 70;
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Checks everything and fails with all that is wrong.
pub fn run(root: &Path) -> Result<()> {
    let files = tracked_files(root)?;
    let mut faults = Vec::new();
    check_dependencies(root, &mut faults)?;
    check_manifests(root, &files, &mut faults)?;
    for file in &files {
        check_file(root, file, &mut faults)?;
    }
    if !faults.is_empty() {
        bail!(
            "{} invariants are broken:\n  {}",
            faults.len(),
            faults.join("\n  ")
        );
    }
    println!("tidy: {} files, no invariant broken", files.len());
    Ok(())
}

fn tracked_files(root: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .context("running git ls-files")?;
    let names = String::from_utf8(output.stdout)?;
    let files = names
        .split('\0')
        .filter(|n| !n.is_empty())
        .map(PathBuf::from);
    Ok(files.filter(|f| root.join(f).is_file()).collect())
}

fn check_dependencies(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root)
        .output()
        .context("running cargo metadata")?;
    if !output.status.success() {
        bail!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    let packages = packages.context("cargo metadata names no packages")?;
    for package in packages {
        if package["source"].is_null() {
            check_edges(package, faults);
        } else {
            check_licence(package, faults);
        }
    }
    Ok(())
}

fn check_edges(package: &Value, faults: &mut Vec<String>) {
    let name = text(&package["name"]);
    let dependencies: BTreeSet<&str> = package["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|d| d["kind"].is_null())
        .map(|d| text(&d["name"]))
        .collect();
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    if let Some(allowed) = allowed.get(name) {
        for extra in dependencies.iter().filter(|d| !allowed.contains(d)) {
            faults.push(format!(
                "crate {name} depends on {extra}; it may depend on {allowed:?} alone"
            ));
        }
    }
    for (from, to) in FORBIDDEN {
        if name == *from && dependencies.contains(to) {
            faults.push(format!("crate {from} must never depend on {to}"));
        }
    }
}

fn check_licence(package: &Value, faults: &mut Vec<String>) {
    let licence = text(&package["license"]);
    if !permissive(licence) {
        let name = text(&package["name"]);
        faults.push(format!(
            "dependency {name}: licence {licence:?} is not among {LICENCES:?}"
        ));
    }
}

/// Whether every part that must hold has an alternative that is allowed.
fn permissive(expression: &str) -> bool {
    let known = |part: &str| {
        let part = part.trim().trim_matches(['(', ')']).trim();
        LICENCES.contains(&part.split(" WITH ").next().unwrap_or(part))
    };
    expression
        .replace('/', " OR ")
        .split(" AND ")
        .all(|all| all.split(" OR ").any(known))
}

fn check_manifests(root: &Path, files: &[PathBuf], faults: &mut Vec<String>) -> Result<()> {
    let members = files.iter().filter(|f| {
        f.ends_with("Cargo.toml") && (f.starts_with("crates") || f.starts_with("xtask"))
    });
    for manifest in members {
        let text = std::fs::read_to_string(root.join(manifest))?;
        let mut in_dependencies = false;
        for (line, number) in text.lines().zip(1..) {
            if line.starts_with('[') {
                in_dependencies = line.contains("dependencies");
            } else if in_dependencies && line.contains('=') && !line.contains("workspace") {
                let place = format!("{}:{number}", manifest.display());
                faults.push(format!(
                    "{place}: versions are chosen in the workspace's Cargo.toml: {line}"
                ));
            }
        }
    }
    Ok(())
}

fn check_file(root: &Path, file: &Path, faults: &mut Vec<String>) -> Result<()> {
    let path = root.join(file);
    let bytes = std::fs::metadata(&path)?.len();
    if bytes > FILE_BYTES_MAX {
        faults.push(format!(
            "{}: {bytes} bytes; at most {FILE_BYTES_MAX}",
            file.display()
        ));
    }
    if file.extension().is_none_or(|e| e != "rs") {
        return Ok(());
    }
    let text = std::fs::read_to_string(&path)?;
    check_opening(file, &text, faults);
    check_words(file, &text, faults);
    check_function_lengths(file, &text, faults);
    for (page, heading) in citations(&text) {
        let page_text = std::fs::read_to_string(root.join(&page)).unwrap_or_default();
        let mut headings = page_text.lines().filter(|line| line.starts_with('#'));
        if !headings.any(|line| line.trim_start_matches('#').trim() == heading) {
            let file = file.display();
            faults.push(format!("{file}: {page} has no heading {heading:?}"));
        }
    }
    Ok(())
}

/// The pages and headings that comments cite: a path in backticks, a comma, the heading in quotes.
fn citations(text: &str) -> Vec<(String, String)> {
    let comments = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("//"));
    let text: Vec<&str> = comments
        .flat_map(|line| line.trim_start_matches(['/', '!']).split_whitespace())
        .collect();
    let cited = |rest: &str| {
        let (page, rest) = rest.split_once("`, \"")?;
        let (heading, _) = rest.split_once('"')?;
        let is_page = page.ends_with(".md") && !page.contains(char::is_whitespace);
        is_page.then(|| (format!("docs/{page}"), heading.to_owned()))
    };
    let text = text.join(" ");
    text.split("`docs/").skip(1).filter_map(cited).collect()
}

fn is_generated(text: &str) -> bool {
    text.starts_with("// Made by")
}

fn check_opening(file: &Path, text: &str, faults: &mut Vec<String>) {
    let first = text
        .lines()
        .find(|l| !l.trim().is_empty() && !l.starts_with("#!"));
    if !is_generated(text) && !first.is_some_and(|l| l.starts_with("//!")) {
        faults.push(format!(
            "{}: does not open with why it exists (//!)",
            file.display()
        ));
    }
}

fn check_words(file: &Path, text: &str, faults: &mut Vec<String>) {
    let format_free = FORMAT_FREE.iter().any(|dir| file.starts_with(dir));
    let this_file = file.ends_with("xtask/src/tidy.rs");
    for (line, number) in text.lines().zip(1..) {
        let place = format!("{}:{number}", file.display());
        let lower = line.to_lowercase();
        if format_free && FORMAT_NAMES.iter().any(|name| lower.contains(name)) {
            faults.push(format!("{place}: names a format; only wire does"));
        }
        if !this_file && line.contains("allow(unsafe_code)") {
            faults.push(format!("{place}: allows unsafe"));
        }
    }
}

/// A function past the limit needs a comment line that says why: `// Long: …` right above it.
fn check_function_lengths(file: &Path, text: &str, faults: &mut Vec<String>) {
    if is_generated(text) {
        return;
    }
    let lines: Vec<&str> = text.lines().collect();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let end = lines.iter().skip(start + 1).position(|l| {
            l.trim_start().starts_with('}') && l.len() - l.trim_start().len() == indent
        });
        let length = end.map_or(0, |end| end + 2);
        let above = lines
            .iter()
            .take(start)
            .rev()
            .take_while(|l| is_attribute_or_comment(l));
        let excused = above
            .into_iter()
            .any(|l| l.trim_start().starts_with("// Long:"));
        if length > FUNCTION_LINES_MAX && !excused {
            let place = format!("{}:{}", file.display(), start + 1);
            faults.push(format!("{place}: {name} has {length} lines; past {FUNCTION_LINES_MAX} it needs a line \"// Long: why\" above it"));
        }
    }
}

fn is_attribute_or_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("//") || line.starts_with("#[")
}

fn function_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|w| {
        w.starts_with("pub") || matches!(*w, "const" | "async" | "unsafe" | "extern" | "\"C\"")
    });
    (words.next() == Some("fn") && !line.trim_end().ends_with(';'))
        .then(|| words.next())?
        .map(|name| name.split(['(', '<']).next().unwrap_or(name))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences() {
        for (expression, expect) in [
            ("MIT OR Apache-2.0", true),
            ("MIT/Apache-2.0", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception OR MIT", true),
            ("GPL-3.0-only", false),
            ("MIT AND GPL-3.0-only", false),
            ("", false),
        ] {
            assert_eq!(permissive(expression), expect, "{expression}");
        }
    }

    #[test]
    fn citations_are_found_across_lines() {
        let text = "//! As it is (`DOCS/a.md`,\n//! \"Two words\"); `DOCS/b.md` is another.\n"
            .replace("DOCS", "docs");
        assert_eq!(citations(&text), [("docs/a.md".into(), "Two words".into())]);
    }

    #[test]
    fn a_long_function_needs_a_reason() {
        let body = "    let x = 1;\n".repeat(80);
        let long = format!("fn long() {{\n{body}}}\n");
        for (text, expect) in [
            (long.clone(), 1),
            (format!("// Long: a table.\n{long}"), 0),
            ("fn short() {\n}\n".to_owned(), 0),
        ] {
            let mut faults = Vec::new();
            check_function_lengths(Path::new("x.rs"), &text, &mut faults);
            assert_eq!(faults.len(), expect, "{faults:?}");
        }
    }
}
