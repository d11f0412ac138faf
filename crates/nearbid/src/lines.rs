//! Lines of a stream, in bounded memory however long one is.

use std::io::{BufRead, Read};

/// The lines of a stream that hold more than white space.
pub struct Lines<R> {
    from: R,
    line_bytes_max: usize,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Lines of `from`. Of a line longer than `line_bytes_max`, that many bytes and one more are
    /// kept.
    pub fn new(from: R, line_bytes_max: usize) -> Self {
        Lines {
            from,
            line_bytes_max,
            line: Vec::new(),
        }
    }

    /// The next line without its newline; `None` at the end.
    ///
    /// # Errors
    /// The stream's own.
    pub fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        while self.read_line()? {
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(&self.line));
            }
        }
        Ok(None)
    }

    /// Reads a line; whether there was one.
    fn read_line(&mut self) -> std::io::Result<bool> {
        self.line.clear();
        let kept = self.line_bytes_max.saturating_add(1) as u64;
        let read = (&mut self.from)
            .take(kept)
            .read_until(b'\n', &mut self.line)?;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if read as u64 == kept {
            self.from.skip_until(b'\n')?;
        }
        Ok(read > 0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Lines;

    #[test]
    fn lines_are_cut_behind_the_limit() {
        let text = b"abc\n\n  \nabcd\r\nabcdefgh\nxy";
        let mut lines = Lines::new(&text[..], 4);
        let mut got = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            got.push(String::from_utf8(line.to_vec()).unwrap());
        }
        assert_eq!(got, ["abc", "abcd\r", "abcde", "xy"]);
    }
}
