//! Processes and folders that do not outlive the demo, however it ends.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// How often a process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// From SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(10);

/// Tells a subcommand that it is the demo's: it ends when the demo does, even if that is killed.
const OF_A_DEMO: &str = "NEARBID_DEMO";

/// Has this process end with the demo that started it, if one did.
///
/// # Errors
/// The system's; or the demo is gone already.
pub fn end_with_demo() -> anyhow::Result<()> {
    let Some(demo) = std::env::var_os(OF_A_DEMO) else {
        return Ok(());
    };
    set_parent_process_death_signal(Some(Signal::TERM)).context("ending with the demo")?;
    let parent = getppid().map(|pid| pid.as_raw_nonzero().to_string());
    anyhow::ensure!(
        parent.is_some_and(|parent| demo == *parent),
        "the demo is gone; {OF_A_DEMO} is not meant to be set by hand"
    );
    Ok(())
}

/// Set when the demo is asked to stop (Ctrl-C, SIGTERM, SIGHUP).
#[derive(Clone, Debug)]
pub struct Stop(Arc<AtomicBool>);

/// The demo was asked to stop.
#[derive(Debug)]
pub struct Stopped;

impl std::error::Error for Stopped {}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped")
    }
}

impl Stop {
    /// Listens to the signals from now on.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn on_signals() -> io::Result<Stop> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Stop(flag))
    }

    /// # Errors
    /// [`Stopped`] once it was asked to stop.
    pub fn check(&self) -> Result<(), Stopped> {
        if self.0.load(Ordering::Relaxed) {
            Err(Stopped)
        } else {
            Ok(())
        }
    }
}

/// A folder of our own that goes with everything in it when dropped.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new, empty folder that only this user enters.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> io::Result<Folder> {
        let mut attempt = 0;
        loop {
            let name = format!("nearbid-{}-{attempt}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// A path in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A process of this same executable that ends when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    name: String,
    /// Where its standard error goes, if not to ours.
    log: Option<PathBuf>,
}

impl Process {
    /// Starts a subcommand with `arguments`. Standard output can be read; standard error goes to
    /// `log` or, without one, where ours goes.
    ///
    /// # Errors
    /// It cannot be started, or the log not be written.
    pub fn start<A: AsRef<OsStr>>(
        name: &str,
        arguments: &[A],
        log: Option<PathBuf>,
    ) -> anyhow::Result<Process> {
        let executable = std::env::current_exe().context("where this executable lies")?;
        let errors = match &log {
            Some(path) => Stdio::from(File::create(path).context("a log in the temporary folder")?),
            None => Stdio::inherit(),
        };
        // What configures a bidder in this shell is not for the demo's.
        let ours =
            |(key, _): &(OsString, OsString)| key.as_encoded_bytes().starts_with(b"NEARBID_");
        let child = Command::new(&executable)
            .env_clear()
            .envs(std::env::vars_os().filter(|variable| !ours(variable)))
            .env(OF_A_DEMO, std::process::id().to_string())
            .arg(name)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .with_context(|| format!("{} {name}", executable.display()))?;
        Ok(Process {
            child,
            name: name.to_owned(),
            log,
        })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// The system's.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits until it ends, or the demo is asked to stop.
    ///
    /// # Errors
    /// [`Stopped`], or the system's.
    pub fn wait(&mut self, stop: &Stop) -> anyhow::Result<ExitStatus> {
        loop {
            let ended = self.ended()?;
            // Ctrl-C ends children too: that is no fault of theirs.
            stop.check()?;
            if let Some(status) = ended {
                return Ok(status);
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits until `done` gives something. A process that ends first is a fault, with what it said.
    ///
    /// # Errors
    /// It ended, it took longer than `within`, or the demo is asked to stop.
    pub fn wait_until<T>(
        &mut self,
        stop: &Stop,
        within: Duration,
        mut done: impl FnMut() -> Option<T>,
    ) -> anyhow::Result<T> {
        let until = Instant::now() + within;
        loop {
            if let Some(value) = done() {
                return Ok(value);
            }
            let ended = self.ended()?;
            stop.check()?;
            if let Some(status) = ended {
                bail!("{} ended with {status}\n{}", self.name, self.said());
            }
            if Instant::now() >= until {
                bail!(
                    "{} is not ready after {} s\n{}",
                    self.name,
                    within.as_secs(),
                    self.said()
                );
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// What it wrote to standard output; waits for the end of it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn output(&mut self) -> io::Result<String> {
        let mut text = String::new();
        if let Some(mut output) = self.child.stdout.take() {
            output.read_to_string(&mut text)?;
        }
        Ok(text)
    }

    /// The log so far.
    pub fn said(&self) -> String {
        let text = self
            .log
            .as_ref()
            .and_then(|path| std::fs::read_to_string(path).ok());
        text.unwrap_or_default()
    }

    /// Asks it to end and waits for it; kills it if it takes too long.
    ///
    /// # Errors
    /// The system's.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended()? {
            return Ok(status);
        }
        if let Some(pid) = i32::try_from(self.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM)?;
        }
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            thread::sleep(LOOK_EVERY);
        }
        self.child.kill()?;
        self.child.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_folder_goes_with_what_is_in_it() {
        let folder = Folder::new().unwrap();
        let inside = folder.join("a/b");
        std::fs::create_dir_all(&inside).unwrap();
        drop(folder);
        assert!(!inside.exists());
    }
}
