//! Where the lines of a shell come from.

use std::io::{self, BufRead, Read as _};

/// The maximum length of a line, in bytes; a longer one is refused.
const LINE_SIZE_MAX: u64 = 16 << 20;

/// Where lines come from: a script, a terminal.
pub trait Lines {
    /// The next line without its terminator; `None` after the last one.
    ///
    /// # Errors
    /// The source cannot be read.
    fn next_line(&mut self) -> io::Result<Option<String>>;
}

/// No lines at all: a command that asks a question gets no answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLines;

impl Lines for NoLines {
    fn next_line(&mut self) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// The lines of a reader. They must be UTF-8, and are of bounded length.
#[derive(Debug)]
pub struct ReadLines<R> {
    reader: R,
}

impl<R: BufRead> ReadLines<R> {
    /// The lines of `reader`.
    pub fn new(reader: R) -> Self {
        Self { reader }
    }
}

impl<R: BufRead> Lines for ReadLines<R> {
    fn next_line(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        let limited = &mut (&mut self.reader).take(LINE_SIZE_MAX + 1);
        if limited.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        if bytes.len() as u64 > LINE_SIZE_MAX {
            return Err(invalid_data(format!("longer than {LINE_SIZE_MAX} bytes")));
        }
        let mut line = String::from_utf8(bytes).map_err(|_| invalid_data("not UTF-8"))?;
        if line.ends_with('\n') {
            line.pop();
            if line.ends_with('\r') {
                line.pop();
            }
        }
        Ok(Some(line))
    }
}

fn invalid_data(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_utf8() {
        let mut lines = ReadLines::new(&b"a\r\nb"[..]);
        assert_eq!(lines.next_line().unwrap().as_deref(), Some("a"));
        assert_eq!(lines.next_line().unwrap().as_deref(), Some("b"));
        assert_eq!(lines.next_line().unwrap(), None);
        assert!(ReadLines::new(&b"\xff\n"[..]).next_line().is_err());
        let endless = io::BufReader::new(io::repeat(b'x'));
        assert!(ReadLines::new(endless).next_line().is_err());
    }
}
