//! What a run costs: CPU time and peak memory, of this process and of the bidder's.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time, user and system, that the calling thread has used.
pub fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// CPU time, user and system, that the threads of a process have used which are alive. In
/// nanoseconds by the scheduler's own account, not in ticks of 10 ms as in `/proc/PID/stat`.
///
/// # Errors
/// The process is gone, or the kernel keeps no such account.
pub fn process_cpu(pid: u32) -> io::Result<Duration> {
    let mut total = Duration::ZERO;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(task?.path().join("schedstat"))?;
        total += on_cpu(&text).ok_or(io::ErrorKind::InvalidData)?;
    }
    Ok(total)
}

/// The first number of `schedstat`: nanoseconds on a CPU.
fn on_cpu(schedstat: &str) -> Option<Duration> {
    let nanos = schedstat.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

/// The most memory, resident, that a process has had, in bytes; `None` asks for this process.
///
/// # Errors
/// The process is gone, or `/proc` is not there.
pub fn peak_memory_bytes(pid: Option<u32>) -> io::Result<u64> {
    let of = pid.map_or("self".to_owned(), |pid| pid.to_string());
    let status = fs::read_to_string(format!("/proc/{of}/status"))?;
    high_water_bytes(&status).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn high_water_bytes(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_the_kernel_writes_is_read() {
        assert_eq!(
            on_cpu("1234567 89 10\n"),
            Some(Duration::from_nanos(1_234_567))
        );
        assert_eq!(on_cpu(""), None);
        assert_eq!(
            high_water_bytes("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"),
            Some(2 << 20)
        );
        assert_eq!(high_water_bytes("VmRSS:\t 1 kB\n"), None);
    }

    #[test]
    fn work_shows_in_the_account() {
        let before = thread_cpu();
        let mut sum = 0_u64;
        while thread_cpu() - before < Duration::from_millis(20) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(process_cpu(std::process::id()).unwrap() >= Duration::from_millis(10));
        assert!(peak_memory_bytes(None).unwrap() > 1 << 19);
    }
}
