//! Input of which one line cannot take more than so many bytes.

use std::io::{self, Read};

/// The mark that some editors write in front of UTF-8.
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Gives out bytes until a budget is used up, which every line renews. Remembers those that it
/// gave out last. Leaves a byte order mark out, since the parser behind takes a read of it alone
/// for the end.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    input: R,
    limit: usize,
    left: usize,
    /// Bytes of the beginning that were read to look for a mark; `None` before that.
    head: Option<Vec<u8>>,
    /// What the last reads gave, and its offset in the input.
    last: Vec<u8>,
    last_offset: u64,
}

impl<R: Read> Bounded<R> {
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self { input, limit, left: limit, head: None, last: Vec::new(), last_offset: 0 }
    }

    /// A new line begins.
    pub(crate) fn renew(&mut self) {
        self.left = self.limit;
    }

    /// The byte at an offset of the input, if it was given out by the last read, or just before.
    pub(crate) fn byte_at(&self, offset: u64) -> Option<u8> {
        let index = usize::try_from(offset.checked_sub(self.last_offset)?).ok()?;
        self.last.get(index).copied()
    }

    fn read_unmarked(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.head.is_none() {
            let mut head = Vec::new();
            loop {
                head.clear();
                self.input.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut head)?;
                if head != BYTE_ORDER_MARK {
                    break;
                }
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

    /// Remembers a read. Of the one before the last byte is enough.
    fn remember(&mut self, bytes: &[u8]) {
        let kept = self.last.len().saturating_sub(1);
        self.last_offset += kept as u64;
        self.last.drain(..kept);
        self.last.extend_from_slice(bytes);
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(too_long(self.limit));
        }
        let count = self.read_unmarked(buffer)?;
        self.left = self.left.saturating_sub(count);
        if count > 0 {
            self.remember(&buffer[..count]);
        }
        Ok(count)
    }
}

/// The error of a line that does not end.
pub(crate) fn too_long(limit: usize) -> io::Error {
    let message =
        format!("longer than {limit} bytes: is a quote not closed, or the limit too low?");
    io::Error::new(io::ErrorKind::InvalidData, message)
}
