//! The Go program under `peers/go`: built if this machine has Go, flatc and protoc, then asked for a
//! round between two of ours.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use openrtb::{Country, DeviceType, MediaType, Micros, Text};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::Format;

use super::decider::Setup;
use super::measure::{Row, quartiles};
use super::requests::{Request, Requests};
use crate::demo::process::Folder;

/// The source, from where this was built.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../peers/go");
const PATHS: [&str; 4] = ["flatbuffers", "protobuf", "json", "json-sonic"];

/// The program, running.
pub struct Go {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    rounds: Vec<Vec<Cost>>,
    /// Its input; gone with it.
    folder: Folder,
}

/// What a request cost on one of its paths in one round.
#[derive(Clone, Debug, Deserialize)]
struct Cost {
    path: String,
    /// With what reading the clock takes.
    ns: f64,
    watch_ns: f64,
    allocs: f64,
    bytes: f64,
}

impl Go {
    /// Builds and starts it; inside, why there is none on this machine.
    ///
    /// # Errors
    /// It is there and fails, or decides differently.
    pub fn start(setup: &Setup, requests: &Requests) -> anyhow::Result<Result<Go, String>> {
        let program = match build()? {
            Ok(program) => program,
            Err(why) => return Ok(Err(why)),
        };
        let folder = Folder::new().context("a temporary folder")?;
        write_inputs(&folder, setup, requests)?;
        let go = Go::launch(program, folder)?;
        compare(&go.folder, requests)?;
        Ok(Ok(go))
    }

    fn launch(program: PathBuf, folder: Folder) -> anyhow::Result<Go> {
        let mut child = Command::new(program)
            .arg("-dir")
            .arg(folder.join(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start peers/go")?;
        let (Some(ask), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("peers/go has no pipes");
        };
        let answers = BufReader::new(answers);
        let mut go = Go {
            child,
            ask,
            answers,
            rounds: Vec::new(),
            folder,
        };
        let ready = go.line()?;
        ensure!(ready == "ready", "peers/go says {ready:?}");
        Ok(go)
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.answers
            .read_line(&mut line)
            .context("reading from peers/go")?;
        ensure!(!line.is_empty(), "peers/go ended");
        Ok(line.trim_end().to_owned())
    }

    /// One round over all its paths.
    ///
    /// # Errors
    /// It ended, or says what it should not.
    pub fn round(&mut self) -> anyhow::Result<()> {
        self.ask
            .write_all(b"\n")
            .context("asking peers/go for a round")?;
        let line = self.line()?;
        self.rounds
            .push(serde_json::from_str(&line).context("the answer of peers/go")?);
        Ok(())
    }

    /// Its rows, and a note on what they are. The faster of the two readers of JSON counts.
    pub fn rows(&self) -> (Vec<Row>, String) {
        let row = |path: &str, name: &str| {
            let costs = self
                .rounds
                .iter()
                .flatten()
                .filter(|cost| cost.path == path);
            let ns: Vec<_> = costs.clone().map(|cost| cost.ns - cost.watch_ns).collect();
            let median =
                |of: fn(&Cost) -> f64| quartiles(&costs.clone().map(of).collect::<Vec<_>>()).1;
            Row::new(
                name,
                &ns,
                Some((median(|cost| cost.allocs), median(|cost| cost.bytes))),
            )
        };
        let json = ["json", "json-sonic"].map(|path| row(path, "go/json"));
        let [standard, sonic] = &json;
        let note = format!(
            "Go reads FlatBuffers in place, without verifying (it has no verifier); protobuf and JSON \
             into structs. JSON: encoding/json {:.1} ns, bytedance/sonic {:.1} ns; the faster counts.",
            standard.ns, sonic.ns
        );
        let mut rows = vec![
            row("flatbuffers", "go/flatbuffers"),
            row("protobuf", "go/protobuf"),
        ];
        rows.extend(json.into_iter().min_by(|a, b| a.ns.total_cmp(&b.ns)));
        (rows, note)
    }
}

impl Drop for Go {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Builds the program; inside, why there is none on this machine.
///
/// # Errors
/// It does not build.
pub fn build() -> anyhow::Result<Result<PathBuf, String>> {
    let source = Path::new(SOURCE);
    if !source.is_dir() {
        return Ok(Err(format!("{SOURCE} is not there")));
    }
    for tool in ["go", "flatc", "protoc"] {
        let version = if tool == "go" { "version" } else { "--version" };
        let found = Command::new(tool)
            .arg(version)
            .stdout(Stdio::null())
            .status();
        if !found.is_ok_and(|status| status.success()) {
            return Ok(Err(format!("{tool} is not installed")));
        }
    }
    let built = Command::new(source.join("build.sh"))
        .stdout(Stdio::null())
        .status()
        .context("peers/go/build.sh")?;
    ensure!(built.success(), "peers/go/build.sh failed");
    Ok(Ok(source.join("peer")))
}

fn write_inputs(folder: &Folder, setup: &Setup, requests: &Requests) -> anyhow::Result<()> {
    for format in Format::ALL {
        let mut all = Vec::new();
        for request in &requests.all {
            let bytes = request.bytes(format);
            all.extend_from_slice(&u32::try_from(bytes.len())?.to_le_bytes());
            all.extend_from_slice(bytes);
        }
        fs::write(folder.join(format!("{format}.requests")), all)?;
    }
    fs::write(folder.join("setup.json"), setup_of(setup).to_string())?;
    Ok(())
}

/// What to decide with, in plain values.
pub fn setup_of(setup: &Setup) -> Value {
    let mut items: Vec<_> = setup.items.iter().collect();
    items.sort_by(|a, b| b.cpm.cmp(&a.cpm).then_with(|| a.id.cmp(&b.id)));
    let items: Vec<_> = items
        .into_iter()
        .map(|item| line_item(item, setup))
        .collect();
    let rates: serde_json::Map<_, _> = Setup::rates()
        .flatten()
        .map(|(currency, Micros(rate))| (currency.code().to_owned(), rate.into()))
        .collect();
    json!({ "base": setup.rates.base().code(), "rates": rates, "line_items": items })
}

fn line_item(item: &engine::LineItem, setup: &Setup) -> Value {
    let ceilings = [item.budget.total, item.budget.daily].into_iter().flatten();
    let size = &item.targeting.video_size;
    json!({
        "id": item.id,
        "seat": item.seat,
        "live": item.is_live(setup.now),
        "adomain": item.adomain,
        "cat": item.cat,
        "cattax": item.cattax,
        "bundle": item.bundle.as_deref().unwrap_or_default(),
        "cpm_micros": item.cpm.0,
        "available_micros": ceilings.min().map_or(i64::MAX, |ceiling| ceiling.0),
        "deals": item.targeting.deals,
        "countries": item.targeting.countries.iter().flat_map(|of| codes(*of)).collect::<Vec<_>>(),
        "device_types": device_types(&item.targeting.device_types),
        "video_size": {
            "min_w": size.min_w.unwrap_or(0),
            "min_h": size.min_h.unwrap_or(0),
            "max_w": size.max_w.unwrap_or(0),
            "max_h": size.max_h.unwrap_or(0),
        },
        "creatives": item.creatives.iter().map(creative).collect::<Vec<_>>(),
    })
}

/// The codes of a country, alpha-3 and alpha-2.
fn codes(country: Country) -> Vec<String> {
    let letters = || 'A'..='Z';
    let pairs = letters().flat_map(|a| letters().map(move |b| format!("{a}{b}")));
    let alpha2 = pairs.filter(|code| Country::of(Text::Plain(code)) == Some(country));
    [country.alpha3().to_owned()]
        .into_iter()
        .chain(alpha2)
        .collect()
}

/// The types that meet a target.
fn device_types(targets: &[DeviceType]) -> Vec<u8> {
    let mut numbers: Vec<_> = targets.iter().map(|of| of.number()).collect();
    if targets.contains(&DeviceType::MOBILE) {
        numbers.extend([DeviceType::PHONE, DeviceType::TABLET].map(DeviceType::number));
    }
    numbers
}

fn creative(of: &engine::Creative) -> Value {
    let media = MediaType::ALL.iter().position(|media| *media == of.media);
    json!({
        "id": of.id,
        "media": media,
        "w": of.w.unwrap_or(0),
        "h": of.h.unwrap_or(0),
        "duration": of.duration.unwrap_or(0),
        "mime": of.mime.as_deref().unwrap_or_default(),
        "protocol": of.protocol.unwrap_or(0),
        "apis": of.apis,
        "attr": of.attr,
        "secure": of.secure,
    })
}

/// Holds its decisions against ours.
fn compare(folder: &Folder, requests: &Requests) -> anyhow::Result<()> {
    for path in PATHS {
        let file = folder.join(format!("{path}.decisions"));
        let decisions = fs::read_to_string(&file).context("the decisions of peers/go")?;
        ensure!(
            decisions.lines().count() == requests.all.len(),
            "go/{path} left requests out"
        );
        for (number, (line, request)) in decisions.lines().zip(&requests.all).enumerate() {
            ensure!(
                alike(line, request)?,
                "go/{path} decides differently on request {number}:\n  {line}\n  {}",
                request.decision
            );
        }
    }
    Ok(())
}

fn alike(line: &str, request: &Request) -> serde_json::Result<bool> {
    let mut ours: Value = serde_json::from_str(&request.decision)?;
    if let Some(ours) = ours.as_object_mut() {
        ours.remove("nbr");
    }
    Ok(serde_json::from_str::<Value>(line)? == ours)
}
