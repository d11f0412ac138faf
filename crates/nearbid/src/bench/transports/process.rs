//! An end of the call as a process: started in its pod and on its cores, asked for lines, looked at
//! from outside for what it costs.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::nodes;
use crate::demo::process::Stop;
use crate::load::usage;

/// How often a stop is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// From the end of its input to SIGKILL. A process that is counted takes longer to say its count.
const GRACE: Duration = Duration::from_secs(10);

/// Where a process runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seat<'a> {
    /// Its pod; `None`: where the bench is.
    pub pod: Option<&'a str>,
    /// Its processor; `None`: any.
    pub cpu: Option<u32>,
}

impl Seat<'_> {
    /// The words before a command that has it run there. Each of them becomes the next, so the
    /// process id stays.
    fn words(self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(pod) = self.pod {
            let namespace = nodes::namespace(pod);
            words.extend(["ip", "netns", "exec", &namespace].map(str::to_owned));
        }
        if let Some(cpu) = self.cpu {
            words.extend(["taskset".to_owned(), "-c".to_owned(), cpu.to_string()]);
        }
        words
    }
}

/// A process that ends with its input.
#[derive(Debug)]
pub struct End {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl End {
    /// Starts a command at a seat. Standard error goes to `errors`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(seat: Seat<'_>, command: &[String], errors: &Path) -> anyhow::Result<End> {
        let mut words = seat.words();
        words.extend_from_slice(command);
        let (program, rest) = words.split_first().context("a command")?;
        let mut child = Command::new(program)
            .args(rest)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(errors)?)
            .spawn()
            .with_context(|| format!("cannot run `{program}`"))?;
        let (sender, lines) = channel();
        let input = child.stdin.take();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(End {
            child,
            input,
            lines,
        })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Tells it to go on.
    ///
    /// # Errors
    /// It is gone.
    pub fn tell(&mut self) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("its input is closed")?;
        input.write_all(b"\n")?;
        Ok(input.flush()?)
    }

    /// Its next line.
    ///
    /// # Errors
    /// It ended, said nothing for `within`, or the bench is asked to stop.
    pub fn line(&self, stop: &Stop, within: Duration) -> anyhow::Result<String> {
        let until = Instant::now() + within;
        loop {
            stop.check()?;
            match self.lines.recv_timeout(LOOK_EVERY) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => {
                    // Ctrl-C ends it too: that is no fault of its own.
                    std::thread::sleep(LOOK_EVERY);
                    stop.check()?;
                    bail!("it ended");
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until => {
                    bail!("it says nothing for {} s", within.as_secs());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Closes its input and waits for its end.
    pub fn end(&mut self) {
        drop(self.input.take());
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a process has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// Processor time in µs, by the scheduler.
    pub cpu_us: f64,
    /// Of it in the kernel, in ticks of 10 ms.
    pub system_ticks: f64,
    /// And outside of it.
    pub user_ticks: f64,
    /// Context switches, asked for and not.
    pub switches: f64,
}

impl Account {
    /// Of a process.
    ///
    /// # Errors
    /// It is gone.
    pub fn of(pid: u32) -> anyhow::Result<Account> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let (user_ticks, system_ticks) = ticks(&stat).context("/proc/PID/stat")?;
        let mut switches = 0.0;
        for task in fs::read_dir(format!("/proc/{pid}/task"))? {
            switches += switched(&fs::read_to_string(task?.path().join("status"))?);
        }
        Ok(Account {
            cpu_us: usage::process_cpu(pid)?.as_secs_f64() * 1e6,
            system_ticks,
            user_ticks,
            switches,
        })
    }

    /// What came since `before`.
    pub fn since(self, before: Account) -> Account {
        Account {
            cpu_us: self.cpu_us - before.cpu_us,
            system_ticks: self.system_ticks - before.system_ticks,
            user_ticks: self.user_ticks - before.user_ticks,
            switches: self.switches - before.switches,
        }
    }

    /// The part of the time that was spent in the kernel; nothing where it was too short to tell.
    pub fn system_share(self) -> Option<f64> {
        let all = self.system_ticks + self.user_ticks;
        (all >= 5.0).then(|| self.system_ticks / all)
    }
}

/// User and system time of `/proc/PID/stat` (proc(5): fields 14 and 15); the name before them may
/// hold anything.
fn ticks(stat: &str) -> Option<(f64, f64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

fn switched(status: &str) -> f64 {
    let counts = status.lines().filter_map(|line| {
        let (name, count) = line.split_once(':')?;
        name.ends_with("ctxt_switches").then_some(count)
    });
    counts
        .filter_map(|count| count.trim().parse::<f64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_writes_is_read() {
        let stat = "1 (a) b) S 1 1 1 0 -1 4194560 1 2 3 4 17 23 0 0 20";
        assert_eq!(ticks(stat), Some((17.0, 23.0)));
        assert_eq!(ticks("1 (a"), None);
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n";
        assert_eq!(switched(status), 7.0);
    }

    #[test]
    fn a_seat_is_words_before_the_command() {
        let seat = Seat {
            pod: Some("node1"),
            cpu: Some(1),
        };
        let pid = std::process::id();
        let expect = format!("ip netns exec nearbid-{pid}-node1 taskset -c 1");
        assert_eq!(seat.words().join(" "), expect);
        assert!(Seat::default().words().is_empty());
    }
}
