//! Shared by the readers of lines: input without a byte order mark, and the error for a line that
//! is too long. And for writers, what keeps the first bytes from being taken for such a mark.

use std::io::{self, ErrorKind, Read, Write};

/// The mark that some editors write before UTF-8.
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// The marks before UTF-16.
const UTF_16_MARKS: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];
/// What is read first: a mark of UTF-16 and two characters.
const HEAD_SIZE: u64 = 6;

/// Input without its byte order mark, if there is one. UTF-16 is an error.
#[derive(Debug)]
pub(crate) struct Unmarked<R> {
    input: R,
    /// Bytes read while looking for the mark and not yet returned; `None` before that.
    head: Option<Vec<u8>>,
}

impl<R> Unmarked<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, head: None }
    }
}

impl<R: Read> Read for Unmarked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.head.is_none() {
            let mut head = Vec::new();
            self.input.by_ref().take(HEAD_SIZE).read_to_end(&mut head)?;
            if head.starts_with(&BYTE_ORDER_MARK) {
                head.drain(..BYTE_ORDER_MARK.len());
            } else if is_utf_16(&head) {
                let what = "it is UTF-16, and must be UTF-8: iconv -f UTF-16 -t UTF-8 converts it";
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            }
            self.head = Some(head);
        }
        match &mut self.head {
            Some(head) if !head.is_empty() => {
                let count = head.len().min(buffer.len());
                buffer[..count].copy_from_slice(&head[..count]);
                head.drain(..count);
                Ok(count)
            }
            _ => self.input.read(buffer),
        }
    }
}

/// Whether a mark of UTF-16 and two characters of ASCII begin a text. Rows may begin with the mark
/// alone.
fn is_utf_16(head: &[u8]) -> bool {
    match *head {
        [0xff, 0xfe, a, 0, b, 0] | [0xfe, 0xff, 0, a, 0, b] => {
            a.is_ascii() && b.is_ascii() && a != 0 && b != 0
        }
        _ => false,
    }
}

/// Output of which a reader returns every byte: if it begins like a byte order mark, one comes
/// before it.
#[derive(Debug)]
pub(crate) struct Marked<W> {
    output: W,
    is_begun: bool,
}

impl<W> Marked<W> {
    pub(crate) fn new(output: W) -> Self {
        Self { output, is_begun: false }
    }

    pub(crate) fn into_inner(self) -> W {
        self.output
    }
}

impl<W: Write> Write for Marked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_begun && !bytes.is_empty() {
            let is_mark = bytes.starts_with(&BYTE_ORDER_MARK)
                || UTF_16_MARKS.iter().any(|mark| bytes.starts_with(mark));
            if is_mark {
                self.output.write_all(&BYTE_ORDER_MARK)?;
            }
            self.is_begun = true;
        }
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// The error for a line over the limit.
pub(crate) fn too_long(limit: usize) -> String {
    format!("longer than {limit} bytes, the limit of a line")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut found = Vec::new();
        Unmarked::new(bytes).read_to_end(&mut found).map(|_| found)
    }

    #[test]
    fn what_is_written_comes_back_whatever_it_begins_with() {
        let starts: [&[u8]; 8] = [
            b"",
            b"r",
            b"row\tv\n",
            b"\xef\xbb\xbf",
            b"\xef\xbb\xbfrow\tv\n",
            b"\xff\xfer\0o\0w\0",
            b"\xfe\xff\0r\0o",
            b"\xff\xfe\x01\tv\n",
        ];
        for text in starts {
            let mut output = Marked::new(Vec::new());
            for part in text.chunks(4) {
                output.write_all(part).unwrap();
            }
            assert_eq!(read(&output.into_inner()).unwrap(), text);
        }
        assert_eq!(read(b"\xef\xbb\xbfrow").unwrap(), b"row");
        assert_eq!(read(b"\xff\xfe\x01\tv\n").unwrap(), b"\xff\xfe\x01\tv\n");
    }

    #[test]
    fn utf_16_is_refused_by_name() {
        for text in [&b"\xff\xfer\0o\0w\0"[..], b"\xfe\xff\0r\0o\0w"] {
            let error = read(text).unwrap_err();
            assert!(error.to_string().contains("UTF-16"), "{error}");
        }
    }
}
