//! Reads the bytes of one message after another from a connection.
//!
//! Invariants: at most `left` bytes of the current message are handed out. The buffer grows only as
//! bytes arrive, so a length that a client claims costs no memory, and each growth is charged
//! beforehand. Bytes of the next message that arrive early stay in the buffer.
//!
//! Threads: one, that of the connection.

use std::io::{self, Read};
use std::rc::Rc;

use super::error::{ProtocolError, Result};
use crate::memory::Allowance;

/// How much is read from the connection at once.
const CHUNK: usize = 16 * 1024;
/// A larger buffer is freed after a message.
const BUFFER_KEPT: usize = 2 * CHUNK;

/// Where bytes come from.
pub(crate) trait Source: Read {
    /// The next message is expected from now on; it may not begin for a long time.
    fn expect_message(&mut self) {}

    /// The message has arrived as far as it is needed, and is being answered. An error if the
    /// connection is ending.
    fn message_is_read(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<T: AsRef<[u8]>> Source for io::Cursor<T> {}

/// A connection as messages are read from it.
pub(crate) struct Input {
    stream: Box<dyn Source>,
    /// The account for the buffer, and for what the message is decoded to.
    allowance: Rc<Allowance>,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that are filled.
    end: usize,
    /// Bytes of `buffer` that were handed out.
    start: usize,
    /// Bytes that the current message may still have.
    left: usize,
    /// Whether the message has exactly as many bytes.
    is_framed: bool,
}

impl Input {
    pub(crate) fn new(stream: Box<dyn Source>, allowance: Rc<Allowance>) -> Self {
        let buffer = Vec::new();
        Self { stream, allowance, buffer, end: 0, start: 0, left: 0, is_framed: false }
    }

    /// The memory of the connection.
    pub(crate) fn allowance(&self) -> &Rc<Allowance> {
        &self.allowance
    }

    /// The size of the buffer after unused memory has been released.
    pub(crate) fn kept_bytes(&mut self) -> usize {
        self.give_back();
        self.buffer.capacity()
    }

    /// Bytes that the current message may still have; for a framed one, exactly those left.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Starts a message without a frame, of at most `size_max` bytes.
    pub(crate) fn start_message(&mut self, size_max: usize) {
        self.give_back();
        self.left = size_max;
        self.is_framed = false;
    }

    /// Reads the size of a frame, and starts the message in it.
    pub(crate) fn start_frame(&mut self, size_max: usize) -> Result<()> {
        self.give_back();
        self.left = 4;
        let size = self.take_array().map(u32::from_be_bytes)?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > size_max {
            let message = format!("a frame of {size} bytes; the limit is {size_max}");
            return Err(ProtocolError::TooLarge(message));
        }
        self.start_sized_message(size);
        Ok(())
    }

    /// Starts a message of exactly `size` bytes.
    pub(crate) fn start_sized_message(&mut self, size: usize) {
        self.give_back();
        self.left = size;
        self.is_framed = true;
    }

    /// Skips the rest of a message whose size is known.
    pub(crate) fn end_message(&mut self) -> Result<()> {
        while self.is_framed && self.left > 0 {
            self.take(self.left.min(CHUNK))?;
        }
        Ok(())
    }

    /// Waits for a message; `false` if the connection ends instead.
    pub(crate) fn await_message(&mut self) -> Result<bool> {
        self.stream.expect_message();
        self.peek(1).map(|bytes| !bytes.is_empty())
    }

    /// As [`Source::message_is_read`].
    pub(crate) fn message_is_read(&mut self) -> Result<()> {
        Ok(self.stream.message_is_read()?)
    }

    /// The next bytes, which stay unread; fewer only at the end of the connection. `count` is at
    /// most a few bytes: they are not charged to a message.
    pub(crate) fn peek(&mut self, count: usize) -> Result<&[u8]> {
        while self.end - self.start < count && self.read_more()? {}
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }

    /// The next `count` bytes of the message.
    pub(crate) fn take(&mut self, count: usize) -> Result<&[u8]> {
        if count > self.left {
            let message = format!("{count} bytes more than the message may have");
            return Err(match self.is_framed {
                true => ProtocolError::Malformed("the frame ends within the message".to_owned()),
                false => ProtocolError::TooLarge(message),
            });
        }
        while self.end - self.start < count {
            if !self.read_more()? {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
        self.left -= count;
        let from = self.start;
        self.start += count;
        Ok(&self.buffer[from..self.start])
    }

    /// The next `N` bytes of the message.
    pub(crate) fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// Reads once from the connection; `false` at its end.
    fn read_more(&mut self) -> Result<bool> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > 0 && self.buffer.len() - self.end < CHUNK {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.buffer.len() - self.end < CHUNK {
            // Doubles the buffer, so a long value is not copied for each of its chunks.
            self.grow(self.end + CHUNK.max(self.end))?;
        }
        loop {
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes the buffer longer. While it is copied, there are two of them.
    fn grow(&mut self, length: usize) -> Result<()> {
        let (before, more) = (self.buffer.capacity(), length.saturating_sub(self.buffer.len()));
        if length > before && !self.allowance.try_take(length) {
            return Err(ProtocolError::NoMemory);
        }
        self.buffer.try_reserve_exact(more).map_err(|_| ProtocolError::NoMemory)?;
        self.buffer.resize(length, 0);
        if length > before {
            self.allowance.keep(self.allowance.taken_bytes().saturating_sub(before));
        }
        Ok(())
    }

    /// Frees the memory of a large message.
    fn give_back(&mut self) {
        if self.start == self.end && self.buffer.len() > BUFFER_KEPT {
            self.buffer = Vec::new();
            (self.start, self.end) = (0, 0);
        }
    }
}
