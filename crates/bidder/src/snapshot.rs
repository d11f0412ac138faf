//! What decisions read: line items, rates and the book of budgets, frozen and swapped whole.
//!
//! A reload builds beside the path and swaps when everything is good; a bad file changes nothing.
//! Budgets live outside and survive: what was spent and reserved under a line item's id stays.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use engine::{Catalog, CatalogError, MemoryBook, MemoryBudgets, Rates, Snapshot};
use openrtb::Currency;

use crate::fault::Faults;
use crate::{line_items, rates, time};

/// What one decision reads.
#[derive(Debug)]
pub struct State {
    /// Line items and their budgets.
    pub snapshot: Snapshot<MemoryBook>,
    /// What other currencies are worth.
    pub rates: Rates,
}

/// The state now. Readers keep a cache of it each; see [`arc_swap::Cache`].
pub type Current = Arc<ArcSwap<State>>;

/// Where states are made from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The line items file.
    pub line_items: PathBuf,
    /// The rates file.
    pub rates: Option<PathBuf>,
    /// The currency of prices and budgets.
    pub base: Currency,
    /// The budgets, which outlive every state.
    pub budgets: MemoryBudgets,
}

/// Why no state could be made.
#[derive(Debug)]
pub enum LoadError {
    /// A file has faults.
    Faults(Faults),
    /// The line items make no catalog.
    Catalog(CatalogError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Faults(faults) => faults.fmt(f),
            LoadError::Catalog(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}

impl Source {
    /// Reads the files and makes a state of them: quicker where there is a state before, for what its
    /// catalog knows of line items that have not changed is taken from there.
    ///
    /// # Errors
    /// What is wrong with the files; nothing has changed then.
    pub fn load(&self, before: Option<&State>) -> Result<State, LoadError> {
        let items = line_items::read(&self.line_items).map_err(LoadError::Faults)?;
        let rates = match &self.rates {
            Some(file) => rates::read(file).map_err(LoadError::Faults)?,
            None => Vec::new(),
        };
        let catalog = match before {
            Some(before) => before.snapshot.catalog().rebuild(items),
            None => Catalog::build(items),
        };
        let catalog = catalog.map_err(LoadError::Catalog)?;
        Ok(State {
            snapshot: Snapshot::open(Arc::new(catalog), &self.budgets, time::now()),
            rates: Rates::new(self.base, rates),
        })
    }

    /// Whether the line items file is there and holds nothing but white space, not even the `[]` of no
    /// line items: what a writer leaves who had truncated it when the disk was full.
    pub fn is_blank(&self) -> bool {
        // A pipe would not open until somebody writes.
        if !std::fs::metadata(&self.line_items).is_ok_and(|file| file.is_file()) {
            return false;
        }
        let Ok(file) = File::open(&self.line_items) else {
            return false;
        };
        let mut bytes = BufReader::new(file).bytes();
        bytes.all(|byte| byte.is_ok_and(|byte| BLANK.contains(&byte)))
    }

    /// What the files look like from outside.
    pub fn stamp(&self) -> Stamp {
        Stamp {
            line_items: FileStamp::of(&self.line_items),
            rates: self.rates.as_deref().and_then(FileStamp::of),
        }
    }
}

/// White space, and what a byte order mark is made of.
const BLANK: &[u8] = b" \t\r\n\xEF\xBB\xBF";

/// What tells that the files have changed, without reading them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    line_items: Option<FileStamp>,
    rates: Option<FileStamp>,
}

/// A file's inode, length and moment of change; links are followed, so that a mounted
/// configuration that is swapped as a link is seen too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified_ns: i128,
}

impl FileStamp {
    fn of(file: &Path) -> Option<FileStamp> {
        let metadata = std::fs::metadata(file).ok()?;
        let seconds = i128::from(metadata.mtime());
        Some(FileStamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified_ns: seconds * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use engine::MemoryLimits;

    #[test]
    fn a_reload_is_the_file_as_it_is_now() {
        let folder = tempfile::tempdir().unwrap();
        let source = Source {
            line_items: folder.path().join("line-items.json"),
            rates: None,
            base: Currency::USD,
            budgets: MemoryBudgets::new(MemoryLimits::default()),
        };
        let load = |keys: &str, before: Option<&State>| {
            let rest =
                r#""adomain":["a.example"],"creatives":[{"id":"c","type":"native","adm":"{}"}]"#;
            let items = ["a", "b"].map(|id| format!(r#"{{"id":"{id}",{keys},{rest}}}"#));
            std::fs::write(&source.line_items, items.join("\n")).unwrap();
            source.load(before).unwrap()
        };
        let mut state = load(r#""cpm":2"#, None);
        for keys in [
            r#""cpm":2,"budget":{"total":1}"#,
            r#""cpm":2,"budget":{"total":2},"targeting":{"countries":["USA"]}"#,
            r#""cpm":3,"status":"paused""#,
        ] {
            let (after, anew) = (load(keys, Some(&state)), load(keys, None));
            let items = |of: &State| -> Vec<_> {
                let items = of.snapshot.catalog().items();
                items.map(|(at, item)| (at, item.clone())).collect()
            };
            assert_eq!(items(&after), items(&anew), "{keys}");
            assert_ne!(items(&after), items(&state), "{keys}");
            state = after;
        }
    }
}
