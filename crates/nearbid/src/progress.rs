//! How far a long job is: a bar where a person watches, a line now and then where a log is kept.
//! Always on standard error: standard output is for results.

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// Time between lines in a log.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// A job's progress.
#[derive(Debug)]
pub struct Progress {
    name: String,
    total: u64,
    bar: Option<ProgressBar>,
    next_line: Cell<Instant>,
}

impl Progress {
    /// Nothing of `total` is done.
    pub fn new(name: String, total: u64) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| bar(&name, total));
        Progress {
            name,
            total,
            bar,
            next_line: Cell::new(Instant::now() + LINE_EVERY),
        }
    }

    /// `done` of the total are done.
    pub fn at(&self, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        } else if Instant::now() >= self.next_line.get() {
            self.next_line.set(Instant::now() + LINE_EVERY);
            output::tell(&format!("{}: {done} of {}", self.name, self.total));
        }
    }

    /// It is over; the bar goes.
    pub fn done(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(name: &str, total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:18} {wide_bar} {pos}/{len} {per_sec}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total)
        .with_style(style)
        .with_prefix(name.to_owned())
}
