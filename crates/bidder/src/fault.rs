//! What is wrong with a file, every fault of it at once.
//!
//! Whoever repairs a file of 100,000 line items wants to do it in one go. So readers do not stop
//! at the first fault: they collect, and nothing is loaded if anything was collected.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// How many faults are kept and printed; the rest is only counted.
pub const FAULTS_MAX: usize = 100;

/// The longest part of a faulty value that is shown, in characters.
const VALUE_CHARS_MAX: usize = 60;

/// What is wrong at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The line, from 1; 0 where the fault is the whole file's.
    pub line: usize,
    /// The column in characters, from 1; 0 where the fault is the whole file's.
    pub column: usize,
    /// The line item's id, where it could be read.
    pub line_item: Option<String>,
    /// The key, with its way from the line item on: `creatives[0].w`. Empty where none is at fault.
    pub key: String,
    /// What is wrong with it, the value as written included.
    pub problem: String,
    /// What is allowed.
    pub allowed: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}: ", self.line, self.column)?;
        }
        if let Some(id) = &self.line_item {
            write!(f, "line item {id:?}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{} ", self.key)?;
        }
        f.write_str(&self.problem)?;
        if self.allowed.is_empty() {
            return Ok(());
        }
        write!(f, "; allowed: {}", self.allowed)
    }
}

/// Every fault of a file. Nothing of that file was loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Faults {
    /// The file.
    pub file: PathBuf,
    /// The first [`FAULTS_MAX`] faults.
    pub faults: Vec<Fault>,
    /// How many there are in all.
    pub count: usize,
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut newline = "";
        for fault in &self.faults {
            let space = if fault.line > 0 { "" } else { " " };
            write!(f, "{newline}{}:{space}{fault}", self.file.display())?;
            newline = "\n";
        }
        match self.count.saturating_sub(self.faults.len()) {
            0 => Ok(()),
            more => write!(f, "{newline}{}: {more} more faults", self.file.display()),
        }
    }
}

impl std::error::Error for Faults {}

/// Collects the faults of one file.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    faults: RefCell<Vec<Fault>>,
    count: Cell<usize>,
}

impl Sink {
    /// Takes a fault in, made only if it will be kept.
    pub fn push(&self, fault: impl FnOnce() -> Fault) {
        let count = self.count.get();
        if count < FAULTS_MAX {
            self.faults.borrow_mut().push(fault());
        }
        self.count.set(count.saturating_add(1));
    }

    /// `value`, unless there was a fault.
    pub fn finish<T>(self, file: &Path, value: T) -> Result<T, Faults> {
        match self.count.get() {
            0 => Ok(value),
            count => Err(Faults {
                file: file.to_owned(),
                faults: self.faults.into_inner(),
                count,
            }),
        }
    }
}

/// A value as it is written, shortened so that it fits a line.
pub(crate) fn shown(written: &str) -> String {
    let mut shown: String = written
        .chars()
        .take(VALUE_CHARS_MAX)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if written.chars().nth(VALUE_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// A file as text, or the one fault that keeps it from being read.
///
/// # Errors
/// The file cannot be read, is longer than `bytes_max`, or is not UTF-8.
pub(crate) fn read(file: &Path, bytes_max: u64) -> Result<String, Faults> {
    read_text(file, bytes_max).map_err(|fault| Faults {
        file: file.to_owned(),
        faults: vec![fault],
        count: 1,
    })
}

fn read_text(file: &Path, bytes_max: u64) -> Result<String, Fault> {
    use std::io::Read;
    use std::os::unix::fs::OpenOptionsExt;

    let unreadable =
        |error: std::io::Error| whole_file(format!("cannot be read: {error}"), String::new());
    // Opening a pipe would wait for somebody who writes, and with it whoever reloads.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut options = std::fs::File::options();
    let open = options.read(true).custom_flags(nonblocking).open(file);
    let open = open.map_err(unreadable)?;
    let metadata = open.metadata().map_err(unreadable)?;
    if metadata.is_dir() || !metadata.is_file() {
        let allowed = "a regular file, or a link to one".to_owned();
        return Err(whole_file("is not a file".to_owned(), allowed));
    }
    let mut bytes = Vec::new();
    open.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > bytes_max) {
        let allowed = format!("at most {bytes_max} bytes");
        return Err(whole_file("is too long".to_owned(), allowed));
    }
    String::from_utf8(bytes).map_err(|error| not_unicode(error.as_bytes(), &error))
}

fn not_unicode(bytes: &[u8], error: &std::string::FromUtf8Error) -> Fault {
    let good = bytes
        .get(..error.utf8_error().valid_up_to())
        .and_then(|good| std::str::from_utf8(good).ok())
        .unwrap_or_default();
    let (line, column) = place(good, good.len());
    Fault {
        line,
        column,
        ..whole_file("a byte is not UTF-8".to_owned(), "UTF-8 text".to_owned())
    }
}

fn whole_file(problem: String, allowed: String) -> Fault {
    Fault {
        line: 0,
        column: 0,
        line_item: None,
        key: String::new(),
        problem,
        allowed,
    }
}

/// Line and column, both from 1, of the byte `at` of `text`; the column counts characters.
pub(crate) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |s| s.chars().count()) + 1;
    (line, column)
}
