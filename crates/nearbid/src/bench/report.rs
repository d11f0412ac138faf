//! What a run says: a table for people, rows for programs, and a folder with both and a plot.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::measure::Row;
use super::{Options, plot};
use crate::demo::machine::Machine;

/// What a build without peers says.
pub const WITHOUT_PEERS: &str =
    "Built without the feature `peers`: our own rows only, and no allocations counted.";

/// What came of a bench.
pub struct Report {
    /// Its subcommand.
    name: &'static str,
    title: &'static str,
    /// How it was run.
    command: String,
    /// The rows, as JSON has them.
    rows: Vec<Value>,
    head: Vec<&'static str>,
    cells: Vec<Vec<String>>,
    plot: String,
    /// What to know of the run, a sentence each.
    pub notes: Vec<String>,
    /// What is promised of the rows.
    pub bounds: Vec<Bound>,
    times: Vec<(String, f64)>,
}

/// A promise: `path` costs at most the `part`th part of what `of` costs.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    path: &'static str,
    of: &'static str,
    part: f64,
}

impl Bound {
    /// A promise.
    pub const fn new(path: &'static str, of: &'static str, part: f64) -> Bound {
        Bound { path, of, part }
    }

    /// How it stands; nothing where a path was not run.
    fn verdict(&self, times: &[(String, f64)]) -> Option<String> {
        let time = |path: &str| {
            times
                .iter()
                .find(|(name, _)| name == path)
                .map(|(_, ns)| *ns)
        };
        let measured = time(self.of)? / time(self.path)?.max(f64::MIN_POSITIVE);
        let Bound { path, of, part } = self;
        let kept = if measured >= *part { "kept" } else { "MISSED" };
        Some(format!(
            "{path} is 1/{measured:.1} of {of} (at most 1/{part}: {kept})"
        ))
    }
}

impl Report {
    /// The report of rows that each have a path.
    pub fn new(
        name: &'static str,
        title: &'static str,
        options: &Options,
        rows: Vec<Row>,
    ) -> Report {
        let least = rows.iter().map(|row| row.ns).fold(f64::INFINITY, f64::min);
        Report {
            name,
            title,
            command: command(name, options),
            head: vec![
                "path",
                "ns",
                "quartiles",
                "of the least",
                "allocations",
                "bytes",
            ],
            cells: rows.iter().map(|row| cells(row, least)).collect(),
            plot: plot::bars(title, &rows),
            notes: Vec::new(),
            bounds: Vec::new(),
            times: rows.iter().map(|row| (row.path.clone(), row.ns)).collect(),
            rows: rows.iter().map(|row| json!(row)).collect(),
        }
    }

    /// The report of any other table.
    pub fn of_table(
        (name, title): (&'static str, &'static str),
        options: &Options,
        (head, cells): (Vec<&'static str>, Vec<Vec<String>>),
        rows: Vec<Value>,
        plot: String,
    ) -> Report {
        let (notes, bounds, times) = (Vec::new(), Vec::new(), Vec::new());
        let command = command(name, options);
        Report {
            name,
            title,
            command,
            rows,
            head,
            cells,
            plot,
            notes,
            bounds,
            times,
        }
    }

    /// `{"rows": […]}`.
    pub fn json(&self) -> String {
        json!({ "rows": self.rows }).to_string()
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.title);
        let head: Vec<String> = self.head.iter().map(|cell| (*cell).to_owned()).collect();
        let width = |column: usize| {
            let cells = self
                .cells
                .iter()
                .chain([&head])
                .filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        for row in [&head].into_iter().chain(&self.cells) {
            for (column, cell) in row.iter().enumerate() {
                let space = " ".repeat(width(column) - cell.chars().count());
                let _ = match column {
                    0 => write!(text, "{cell}{space}"),
                    _ => write!(text, "  {space}{cell}"),
                };
            }
            text.push('\n');
        }
        text.push('\n');
        for line in self
            .verdicts()
            .chain(self.notes.iter().cloned())
            .chain([machine()])
        {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    fn verdicts(&self) -> impl Iterator<Item = String> {
        self.bounds
            .iter()
            .filter_map(|bound| bound.verdict(&self.times))
    }

    fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n`{}`\n\n", self.title, self.command);
        let _ = writeln!(text, "| {} |", self.head.join(" | "));
        let _ = writeln!(text, "| --- |{}", " --: |".repeat(self.head.len() - 1));
        for row in &self.cells {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text.push('\n');
        for verdict in self.verdicts() {
            let _ = writeln!(text, "* {verdict}");
        }
        for note in self.notes.iter().cloned().chain([machine()]) {
            let _ = writeln!(text, "\n{note}");
        }
        let _ = writeln!(text, "\n![{}]({}.svg)", self.title, self.name);
        text
    }

    /// Writes `NAME.md`, `NAME.json` and `NAME.svg` into a folder, which is made if need be.
    ///
    /// # Errors
    /// As the file system.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let put =
            |kind: &str, text: &str| fs::write(folder.join(format!("{}.{kind}", self.name)), text);
        put("md", &self.markdown())?;
        put("json", &(self.json() + "\n"))?;
        put("svg", &self.plot)
    }
}

fn command(name: &str, options: &Options) -> String {
    let (requests, rounds, seed) = (options.requests(), options.rounds(), options.seed);
    format!("nearbid bench {name} --requests {requests} --rounds {rounds} --seed {seed}")
}

fn cells(row: &Row, least: f64) -> Vec<String> {
    let count = |count: Option<f64>| count.map_or("–".to_owned(), |count| format!("{count}"));
    let (low, high) = row.ns_spread;
    vec![
        row.path.clone(),
        format!("{:.1}", row.ns),
        format!("{low:.1} to {high:.1}"),
        format!("{:.2}", row.ns / least.max(f64::MIN_POSITIVE)),
        count(row.allocs),
        count(row.bytes),
    ]
}

/// Where it ran and how it was built.
fn machine() -> String {
    let Machine {
        cpu,
        cpus,
        memory_mib,
        kernel,
        version,
        optimised,
    } = Machine::here();
    let build = if optimised {
        "release build"
    } else {
        "build NOT OPTIMISED (use --release)"
    };
    format!(
        "{cpu}, {cpus} CPUs, {memory_mib} MiB, Linux {kernel}; nearbid {version}, {build}, processor \
         features compiled for: {}. CPU time of the thread (Go: of its process), medians of \
         interleaved rounds, what a path does not share with the others alone. Compare rows of one run \
         with each other, never with another machine's or another day's.",
        features()
    )
}

/// What tells x86-64-v3 from less.
fn features() -> String {
    let features = [
        ("AVX2", cfg!(target_feature = "avx2")),
        ("BMI2", cfg!(target_feature = "bmi2")),
        ("FMA", cfg!(target_feature = "fma")),
        ("LZCNT", cfg!(target_feature = "lzcnt")),
        ("MOVBE", cfg!(target_feature = "movbe")),
    ];
    let on: Vec<_> = features
        .iter()
        .filter(|(_, on)| *on)
        .map(|(name, _)| *name)
        .collect();
    match on.len() {
        0 => "the target's least".to_owned(),
        5 => format!("x86-64-v3 ({})", on.join(", ")),
        _ => on.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_says_whether_it_is_kept() {
        let times = [("a".to_owned(), 10.0), ("b".to_owned(), 250.0)];
        let verdict = |part| Bound::new("a", "b", part).verdict(&times);
        assert_eq!(
            verdict(25.0).as_deref(),
            Some("a is 1/25.0 of b (at most 1/25: kept)")
        );
        assert_eq!(
            verdict(26.0).as_deref(),
            Some("a is 1/25.0 of b (at most 1/26: MISSED)")
        );
        assert_eq!(Bound::new("a", "c", 1.0).verdict(&times), None);
    }
}
