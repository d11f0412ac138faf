//! Output that is whole or not there: a file is written beside its place and renamed into it at the
//! end, so that a failed run leaves no half of one that looks like all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

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
    /// Writes to `path`; without one, or with `-`, to standard output.
    ///
    /// # Errors
    /// The file beside `path` cannot be made.
    pub fn create(path: Option<&Path>) -> io::Result<Output> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Output {
                to: BufWriter::new(Sink::Stdout(io::stdout())),
                file: None,
            });
        };
        let mut name = path
            .file_name()
            .ok_or(io::ErrorKind::InvalidFilename)?
            .to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = File::create_new(&temporary)?;
        Ok(Output {
            to: BufWriter::with_capacity(1 << 16, Sink::File(file)),
            file: Some(Beside {
                temporary,
                path: path.to_owned(),
            }),
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
}
