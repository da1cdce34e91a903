//! Shared by the readers of lines: input without a byte order mark, and the error for a line that
//! is too long.

use std::io::{self, Read};

/// The mark that some editors write before UTF-8.
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Input without its byte order mark, if there is one.
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
            self.input.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut head)?;
            if head == BYTE_ORDER_MARK {
                head.clear();
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

/// The error for a line over the limit.
pub(crate) fn too_long(limit: usize) -> String {
    format!("longer than {limit} bytes, the limit of a line")
}
