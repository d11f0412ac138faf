//! Everything that has to hold before a change lands, on a fresh machine: it installs what the
//! checks need, runs them in the order in which they fail fastest, and says what it skipped.

use crate::counts::Outcome;
use crate::process::{command, finish};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What ran, for the closing lines.
#[derive(Default)]
pub struct Report {
    passed: u64,
    failed: u64,
    skipped: Vec<String>,
}

/// How much to run.
#[derive(Clone, Copy, clap::Args)]
pub struct Args {
    /// Seconds each fuzz target runs.
    #[arg(long, default_value_t = 20)]
    fuzz_seconds: u32,
    /// Leave out fuzzing, which builds for minutes on a cold machine.
    #[arg(long)]
    no_fuzz: bool,
}

type Step = (&'static str, fn(&Workspace<'_>, &mut Report) -> Result<()>);

/// What every step is given.
struct Workspace<'a> {
    root: &'a Path,
    args: Args,
}

const STEPS: &[Step] = &[
    ("set-up", set_up),
    ("formatting", formatting),
    ("generated files", generated_files),
    ("invariants", invariants),
    ("clippy", clippy),
    ("tests", tests),
    ("documentation", documentation),
    ("peers", peers),
    ("counts", counts),
    ("h2spec", h2spec),
    ("fuzz smoke", fuzz_smoke),
];

/// Runs every step, goes on after one that fails, and fails at the end if any did.
pub fn run(root: &Path, args: Args) -> Result<()> {
    let context = Workspace { root, args };
    let mut report = Report::default();
    let mut broken = Vec::new();
    for (name, step) in STEPS {
        let start = Instant::now();
        println!("=== {name}");
        if let Err(error) = step(&context, &mut report) {
            println!("=== {name}: FAILED: {error:#}");
            report.failed += 1;
            broken.push(*name);
        }
        println!("=== {name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    for reason in &report.skipped {
        println!("skipped: {reason}");
    }
    let skipped = report.skipped.len();
    println!(
        "{} passed, {} failed, {skipped} skipped",
        report.passed, report.failed
    );
    if !broken.is_empty() {
        bail!("failed: {}", broken.join(", "));
    }
    Ok(())
}

/// What the checks run beside Rust, and the Debian package that brings it.
const PROGRAMS: &[(&str, &str)] = &[
    // The fuzzers, and the counts.
    ("c++", "g++"),
    ("valgrind", "valgrind"),
    // The clients in other languages.
    ("flatc", "flatbuffers-compiler"),
    ("javac", "default-jdk-headless"),
    ("mvn", "maven"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("protoc", "protobuf-compiler"),
    ("python3", "python3"),
];

/// Debian's Go is too old for grpc-go, so it is not installed here.
const GO: &str =
    "the client in Go: no go on the path; install 1.26 or later from https://go.dev/dl";

/// Installs what is missing. What Debian does not give is a failure here, so that no check is left out
/// unseen; the other steps run all the same.
fn set_up(context: &Workspace<'_>, report: &mut Report) -> Result<()> {
    let missing: Vec<&str> = PROGRAMS
        .iter()
        .filter(|(program, _)| !on_path(program))
        .map(|(_, package)| *package)
        .collect();
    let mut faults = Vec::new();
    if !missing.is_empty() {
        faults.extend(apt_install(&missing).err());
    }
    if !on_path("cargo-fuzz") && !context.args.no_fuzz {
        let args = ["install", "-q", "--locked", "cargo-fuzz"];
        faults.extend(command(context.root, "cargo", &args).err());
    }
    faults.extend(python(context).err());
    if !on_path("go") {
        report.skipped.push(GO.to_owned());
    }
    if !faults.is_empty() {
        let faults: Vec<String> = faults.iter().map(|fault| format!("{fault:#}")).collect();
        bail!("{}", faults.join("; "));
    }
    Ok(())
}

/// A virtual environment with what the client in Python needs, for the interop tests.
fn python(context: &Workspace<'_>) -> Result<()> {
    let venv = venv(context.root);
    if !venv.join("bin/pip").is_file() {
        if !python_has("ensurepip") {
            apt_install(&["python3-venv"])?;
        }
        let venv_text = venv.to_string_lossy().into_owned();
        command(context.root, "python3", &["-m", "venv", &venv_text])?;
    }
    let pip = venv.join("bin/pip").to_string_lossy().into_owned();
    let args = ["install", "-q", "-r", "clients/python/requirements.txt"];
    command(context.root, &pip, &args)
}

fn venv(root: &Path) -> PathBuf {
    root.join("target/venv")
}

fn imports_grpc(venv: &Path) -> bool {
    succeeds(
        &venv.join("bin/python3").to_string_lossy(),
        &["-c", "import grpc, flatbuffers, grpc_tools"],
    )
}

fn python_has(module: &str) -> bool {
    succeeds("python3", &["-c", &format!("import {module}")])
}

fn apt_install(packages: &[&str]) -> Result<()> {
    if !on_path("apt-get") {
        bail!("install {packages:?} with your system's package manager");
    }
    let here = Path::new(".");
    command(here, "apt-get", &["update", "-qq"])?;
    command(
        here,
        "apt-get",
        &[&["install", "-y", "-qq"][..], packages].concat(),
    )
}

fn formatting(context: &Workspace<'_>, _: &mut Report) -> Result<()> {
    command(context.root, "cargo", &["fmt", "--all", "--check"])
}

fn generated_files(context: &Workspace<'_>, _: &mut Report) -> Result<()> {
    crate::codegen::run(context.root, true)
}

fn invariants(context: &Workspace<'_>, _: &mut Report) -> Result<()> {
    crate::tidy::run(context.root)
}

fn clippy(context: &Workspace<'_>, _: &mut Report) -> Result<()> {
    let args = [
        "clippy",
        "-q",
        "--workspace",
        "--exclude",
        "peers",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ];
    command(context.root, "cargo", &args)
}

fn tests(context: &Workspace<'_>, report: &mut Report) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "test",
        "--workspace",
        "--exclude",
        "peers",
        "--locked",
        "--no-fail-fast",
        "--",
        // Tests that find nothing to work on say so there.
        "--show-output",
    ]);
    cargo.current_dir(context.root).stderr(Stdio::inherit());
    let venv = venv(context.root);
    if imports_grpc(&venv) {
        cargo.env("PYTHON", venv.join("bin/python3"));
    }
    let output = cargo.output().context("running cargo test")?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    count(&text, report);
    if !output.status.success() {
        bail!("cargo test: {}", output.status);
    }
    Ok(())
}

/// Adds up cargo's closing lines, and keeps what tests say they skipped.
fn count(text: &str, report: &mut Report) {
    for line in text.lines() {
        if let Some(reason) = line.trim().strip_prefix("skipped: ") {
            report.skipped.push(reason.to_owned());
        }
        if line.starts_with("test result:") {
            report.passed += number_before(line, " passed");
            report.failed += number_before(line, " failed");
        }
    }
}

fn number_before(line: &str, word: &str) -> u64 {
    let before = line.split(word).next().unwrap_or_default();
    let digits = before.rsplit(' ').next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

fn documentation(context: &Workspace<'_>, _: &mut Report) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "doc",
        "-q",
        "--workspace",
        "--exclude",
        "peers",
        "--no-deps",
        "--locked",
    ]);
    cargo
        .env("RUSTDOCFLAGS", "-D warnings")
        .current_dir(context.root);
    finish(cargo)
}

/// The libraries that `nearbid bench` compares with compile against what is here. Their tests are not
/// run: the bench compares their decisions with ours before anything else.
fn peers(context: &Workspace<'_>, _: &mut Report) -> Result<()> {
    let args = [
        "check",
        "-q",
        "-p",
        "nearbid",
        "--features",
        "peers",
        "--locked",
    ];
    command(context.root, "cargo", &args)
}

fn counts(context: &Workspace<'_>, report: &mut Report) -> Result<()> {
    if !on_path("valgrind") {
        report.skipped.push("counts: no valgrind".to_owned());
        return Ok(());
    }
    match crate::counts::check(context.root)? {
        Outcome::Held(counts) => report.passed += counts as u64,
        Outcome::Skipped(reason) => report.skipped.push(format!("counts: {reason}")),
    }
    Ok(())
}

fn h2spec(context: &Workspace<'_>, report: &mut Report) -> Result<()> {
    if !on_path("go") {
        report.skipped.push("h2spec: no go on the path".to_owned());
        return Ok(());
    }
    report.passed += crate::h2spec::check(context.root)?;
    Ok(())
}

fn fuzz_smoke(context: &Workspace<'_>, report: &mut Report) -> Result<()> {
    if context.args.no_fuzz {
        report.skipped.push("fuzz smoke: --no-fuzz".to_owned());
        return Ok(());
    }
    if !on_path("c++") {
        let reason = "fuzz smoke: the fuzzers need a C++ compiler";
        report.skipped.push(reason.to_owned());
        return Ok(());
    }
    for target in fuzz_targets(context.root)? {
        let seconds = format!("-max_total_time={}", context.args.fuzz_seconds);
        let mut cargo = Command::new("cargo");
        cargo.args([
            "fuzz",
            "run",
            "--fuzz-dir",
            "fuzz",
            &target,
            "--",
            &seconds,
            "-print_final_stats=0",
        ]);
        cargo.env("RUSTC_BOOTSTRAP", "1").current_dir(context.root);
        finish(cargo).with_context(|| format!("fuzz target {target}"))?;
        report.passed += 1;
    }
    Ok(())
}

fn fuzz_targets(root: &Path) -> Result<Vec<String>> {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["fuzz", "list", "--fuzz-dir", "fuzz"])
        .current_dir(root);
    let output = cargo.output().context("running cargo fuzz list")?;
    let names = String::from_utf8(output.stdout)?;
    if names.trim().is_empty() {
        bail!("cargo fuzz list names no target");
    }
    Ok(names.lines().map(str::to_owned).collect())
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

fn succeeds(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

#[cfg(test)]
mod closing_lines {
    use super::*;

    #[test]
    fn closing_lines_add_up() {
        let mut report = Report::default();
        count(
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured\n  skipped: no corpus\n\
             test result: FAILED. 3 passed; 2 failed; 0 ignored",
            &mut report,
        );
        assert_eq!((report.passed, report.failed), (15, 2));
        assert_eq!(report.skipped, ["no corpus"]);
    }
}
