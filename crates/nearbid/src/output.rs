//! Output that is whole or not there: a file is written beside its place and renamed into it at the
//! end, so that a failed run leaves no half of one that looks like all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Prints a result and a line end to standard output.
///
/// # Errors
/// Nobody takes it, or the disk behind it is full.
pub fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Tells a person something on standard error. Where nobody listens, it goes unheard: that is no
/// reason to stop.
pub fn tell(text: &str) {
    let _ = io::stderr()
        .lock()
        .write_all(format!("{text}\n").as_bytes());
}

/// Where a command writes: a file, or standard output.
#[derive(Debug)]
pub struct Output {
    to: BufWriter<Sink>,
    file: Option<Beside>,
}

#[derive(Debug)]
enum Sink {
    Stdout(io::Stdout),
    File(File),
}

/// A file beside its place; gone when dropped before it was renamed.
#[derive(Debug)]
struct Beside {
    temporary: PathBuf,
    path: PathBuf,
}

impl Output {
    /// Writes to `path`; without one, or with `-`, to standard output. What is no file (a device, a
    /// pipe) is written to as it is; of a link, the file that it leads to is replaced.
    ///
    /// # Errors
    /// The file beside `path` cannot be made, or what is there not be opened.
    pub fn create(path: Option<&Path>) -> io::Result<Output> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Output {
                to: BufWriter::new(Sink::Stdout(io::stdout())),
                file: None,
            });
        };
        if std::fs::metadata(path).is_ok_and(|is| !is.is_file()) {
            let file = File::options().write(true).open(path)?;
            return Ok(Output {
                to: BufWriter::with_capacity(1 << 16, Sink::File(file)),
                file: None,
            });
        }
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut name = path
            .file_name()
            .ok_or(io::ErrorKind::InvalidFilename)?
            .to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = File::create_new(&temporary)?;
        Ok(Output {
            to: BufWriter::with_capacity(1 << 16, Sink::File(file)),
            file: Some(Beside { temporary, path }),
        })
    }

    /// Everything is written: puts the file in its place.
    ///
    /// # Errors
    /// The last bytes cannot be written, or the file not be renamed.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.flush()?;
        match &self.file {
            Some(Beside { temporary, path }) => std::fs::rename(temporary, path),
            None => Ok(()),
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Nothing is there after a rename.
        let _ = std::fs::remove_file(&self.temporary);
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout(out) => out.write(bytes),
            Sink::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Stdout(out) => out.flush(),
            Sink::File(file) => file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        std::fs::write(&path, "old").unwrap();

        let mut half = Output::create(Some(&path)).unwrap();
        half.write_all(b"ne").unwrap();
        drop(half);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);

        let mut whole = Output::create(Some(&path)).unwrap();
        whole.write_all(b"new").unwrap();
        whole.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        std::fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();

        let mut output = Output::create(Some(&link)).unwrap();
        output.write_all(b"new").unwrap();
        output.finish().unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
    }

    #[test]
    fn what_is_no_file_is_written_to_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        let reader = {
            let path = path.clone();
            std::thread::spawn(move || std::fs::read_to_string(path).unwrap())
        };
        let mut output = Output::create(Some(&path)).unwrap();
        output.write_all(b"new").unwrap();
        output.finish().unwrap();
        assert_eq!(reader.join().unwrap(), "new");
        assert!(std::fs::create_dir(path.join("x")).is_err());
        let error = Output::create(Some(folder.path())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }
}
