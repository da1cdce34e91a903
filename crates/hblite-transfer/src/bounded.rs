//! Input of which one line cannot take more than so many bytes.

use std::io::{self, Read};

/// Gives out bytes until a budget is used up, which every line renews.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    input: R,
    limit: usize,
    left: usize,
}

impl<R: Read> Bounded<R> {
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self { input, limit, left: limit }
    }

    /// A new line begins.
    pub(crate) fn renew(&mut self) {
        self.left = self.limit;
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(too_long(self.limit));
        }
        let count = self.input.read(buffer)?;
        self.left = self.left.saturating_sub(count);
        Ok(count)
    }
}

/// The error of a line that does not end.
pub(crate) fn too_long(limit: usize) -> io::Error {
    let message =
        format!("longer than {limit} bytes: is a quote not closed, or the limit too low?");
    io::Error::new(io::ErrorKind::InvalidData, message)
}
