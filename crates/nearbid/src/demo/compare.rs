//! Whether all runs decided alike, request by request.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// The first request that two runs decided differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its number, counted from 1.
    pub request: u64,
    /// What the first run decided, as a line of JSON; empty when it has no such request.
    pub first: String,
    /// What the other did.
    pub other: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference {
            request,
            first,
            other,
        } = self;
        write!(
            f,
            "request {request}:\n  {}\n  {}",
            first.trim_end(),
            other.trim_end()
        )
    }
}

/// Compares two files of decisions, one a line, in the order of the requests.
///
/// # Errors
/// A file cannot be read.
pub fn first_difference(first: &Path, other: &Path) -> io::Result<Option<Difference>> {
    difference(
        BufReader::new(File::open(first)?),
        BufReader::new(File::open(other)?),
    )
}

fn difference(mut first: impl BufRead, mut other: impl BufRead) -> io::Result<Option<Difference>> {
    let mut request = 0;
    loop {
        let (mut left, mut right) = (String::new(), String::new());
        let read = first.read_line(&mut left)? + other.read_line(&mut right)?;
        request += 1;
        if left != right {
            return Ok(Some(Difference {
                request,
                first: left,
                other: right,
            }));
        }
        if read == 0 {
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[track_caller]
    fn check(first: &str, other: &str, expect: Option<u64>) {
        let found = difference(first.as_bytes(), other.as_bytes()).unwrap();
        assert_eq!(
            found.map(|found| found.request),
            expect,
            "{first:?} {other:?}"
        );
    }

    #[test]
    fn the_first_difference_is_named() {
        check("", "", None);
        check("a\nb\n", "a\nb\n", None);
        check("a\nb\nc\n", "a\nx\ny\n", Some(2));
        check("a\n", "a\nb\n", Some(2));
        check("a\nb\n", "a\n", Some(2));
    }
}
