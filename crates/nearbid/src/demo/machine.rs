//! Where a run took place, for those who read its figures elsewhere.

use serde::Serialize;

/// The machine and the build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Processors this process may use.
    pub cpus: usize,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Version of the kernel.
    pub kernel: String,
    /// Version of nearbid.
    pub version: String,
    /// Whether the build was optimised.
    pub optimised: bool,
}

impl Machine {
    /// This one. What the system does not tell is `unknown` or 0.
    pub fn here() -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let unknown = || "unknown".to_owned();
        let memory_kib = value(&read("/proc/meminfo"), "MemTotal")
            .and_then(|text| text.strip_suffix(" kB")?.trim().parse::<u64>().ok());
        let kernel = read("/proc/sys/kernel/osrelease").trim().to_owned();
        Machine {
            cpu: value(&read("/proc/cpuinfo"), "model name").unwrap_or_else(unknown),
            cpus: std::thread::available_parallelism().map_or(0, usize::from),
            memory_mib: memory_kib.unwrap_or(0) / 1024,
            kernel: if kernel.is_empty() { unknown() } else { kernel },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            optimised: !cfg!(debug_assertions),
        }
    }

    /// What to know before comparing.
    pub fn note(&self) -> String {
        let build = if self.optimised {
            "optimised"
        } else {
            "NOT optimised (use --release)"
        };
        format!(
            "{}, {} CPUs, {} MiB, Linux {}; nearbid {}, {build} build. Bidder and exchange share these \
             CPUs, unpinned; TCP is the loopback interface, so no network was there. Compare rows of \
             one run with each other, never with another machine's or another day's.",
            self.cpu, self.cpus, self.memory_mib, self.kernel, self.version
        )
    }
}

/// The value behind `key` and a colon, of its first line.
fn value(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_behind_their_key() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: other\n";
        assert_eq!(
            value(text, "model name").as_deref(),
            Some("Some CPU @ 2 GHz")
        );
        assert_eq!(value(text, "MemTotal"), None);
    }

    #[test]
    fn the_note_says_when_figures_mean_little() {
        let note = Machine::default().note();
        assert!(note.contains("NOT optimised"), "{note}");
        assert!(Machine::here().cpus > 0);
    }
}
