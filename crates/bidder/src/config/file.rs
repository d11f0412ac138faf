//! The configuration file: TOML, every fault of it at once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::Keys;
use crate::fault::{self, Fault, Faults, Sink, place, shown};

/// The longest configuration file, in bytes.
const CONFIG_FILE_BYTES_MAX: u64 = 1 << 20;

/// What a configuration file gives, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// The file; empty where there is none.
    pub path: PathBuf,
    /// Its keys.
    pub keys: Keys,
    /// Line and column of each key, both from 1.
    pub places: HashMap<String, (usize, usize)>,
}

impl File {
    /// Reads a file.
    ///
    /// # Errors
    /// Every key that is unknown or of the wrong type, and what is no TOML, with its place.
    pub fn read(path: &Path) -> Result<File, Faults> {
        File::parse(path, &fault::read(path, CONFIG_FILE_BYTES_MAX)?)
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn parse(path: &Path, text: &str) -> Result<File, Faults> {
        let sink = Sink::default();
        let mut file = File {
            path: path.to_owned(),
            ..File::default()
        };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            sink.push(|| fault_at(text, at, "", format!("not TOML: {}", error.message()), ""));
        }
        for (key, value) in table.into_inner() {
            let (name, at) = (key.get_ref().to_string(), key.span().start);
            let written = text.get(value.span()).map(shown).unwrap_or_default();
            if !Keys::names().contains(&name) {
                let problem = "is no key of the configuration".to_owned();
                let allowed = Keys::names().join(", ");
                sink.push(|| fault_at(text, at, &name, problem, &allowed));
                continue;
            }
            match read_key(key, value) {
                Ok(keys) => file.keys = file.keys.or(keys),
                Err(error) => {
                    let problem = format!("is {written}: {}", error.message());
                    sink.push(|| fault_at(text, at, &name, problem, ""));
                }
            }
            file.places.insert(name, place(text, at));
        }
        sink.finish(path, file)
    }
}

/// One key of the file, so that a fault of one does not hide another's.
fn read_key<'t>(
    key: Spanned<toml::de::DeString<'t>>,
    value: Spanned<DeValue<'t>>,
) -> Result<Keys, Error> {
    let span = value.span();
    let table = DeTable::from_iter([(key, value)]);
    Keys::deserialize(Deserializer::from(Spanned::new(span, table)))
}

fn fault_at(text: &str, at: usize, key: &str, problem: String, allowed: &str) -> Fault {
    let (line, column) = place(text, at);
    Fault {
        line,
        column,
        line_item: None,
        key: key.to_owned(),
        problem,
        allowed: allowed.to_owned(),
    }
}
