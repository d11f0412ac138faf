//! Says so, before anything else runs, where the program was built for a newer processor than this
//! one: the alternative is a crash on the first instruction that the processor does not know.

/// What x86-64-v3 adds that the program's code may hold, as the kernel spells it (the level is
/// defined by the System V psABI).
const NEEDED: &[&str] = &["avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"];

/// Fails with what is missing. Where the kernel does not say what the processor has, there is
/// nothing to compare with.
pub fn check() -> anyhow::Result<()> {
    if !cfg!(target_feature = "avx2") {
        return Ok(());
    }
    let Ok(cpuinfo) = std::fs::read_to_string("/proc/cpuinfo") else {
        return Ok(());
    };
    let missing = missing(&cpuinfo);
    anyhow::ensure!(
        missing.is_empty(),
        "this program is built for x86-64-v3 processors (2013 and later); this one lacks {}. \
         Build it for this machine: RUSTFLAGS=\"-C target-cpu=x86-64\" cargo build --release -p nearbid",
        missing.join(", ")
    );
    Ok(())
}

fn missing(cpuinfo: &str) -> Vec<&'static str> {
    let flags = cpuinfo.lines().find_map(|l| l.strip_prefix("flags"));
    let Some(flags) = flags.and_then(|l| l.split_once(':')) else {
        return Vec::new();
    };
    let has = |wanted: &str| flags.1.split_whitespace().any(|flag| flag == wanted);
    NEEDED.iter().copied().filter(|flag| !has(flag)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_processor_lacks() {
        let all = "processor : 0\nflags\t\t: fpu avx2 bmi1 bmi2 f16c fma abm movbe\n";
        for (cpuinfo, expect) in [
            (all.to_owned(), vec![]),
            (all.replace("avx2 bmi1", "avx bmi1"), vec!["avx2"]),
            (String::new(), vec![]),
        ] {
            assert_eq!(missing(&cpuinfo), expect, "{cpuinfo}");
        }
    }
}
