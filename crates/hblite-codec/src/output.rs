//! The destination of decompressed bytes: a buffer with a limit, whose memory a caller can account
//! for.

use std::io::{ErrorKind, Read};

use crate::error::CodecError;

/// Memory that is granted immediately: this multiple of the input, and this many bytes.
const RESERVE_FACTOR: usize = 16;
const RESERVE_FIXED: usize = 64 * 1024;
/// A stream is read in pieces of at most this size.
const PIECE_SIZE: usize = 128 * 1024;
/// The first piece of a stream: this multiple of the input, and this many bytes.
const PIECE_FACTOR: usize = 4;
const PIECE_MIN: usize = 16;

/// Grants memory for output.
pub trait Memory {
    /// Reserves room in `bytes` for `more` bytes beyond its length. False if there is no memory.
    #[must_use]
    fn try_reserve(&mut self, bytes: &mut Vec<u8>, more: usize) -> bool;
}

/// The memory of the process, without a limit of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Heap;

impl Memory for Heap {
    fn try_reserve(&mut self, bytes: &mut Vec<u8>, more: usize) -> bool {
        bytes.try_reserve(more).is_ok()
    }
}

/// A buffer for at most `size_max` bytes.
///
/// Invariant: it is never longer than `size_max`.
pub struct Output<'m> {
    bytes: Vec<u8>,
    size_max: usize,
    memory: &'m mut dyn Memory,
}

impl std::fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Output");
        out.field("len", &self.bytes.len()).field("size_max", &self.size_max);
        out.finish_non_exhaustive()
    }
}

impl<'m> Output<'m> {
    /// An empty buffer that may become `size_max` bytes long.
    pub fn new(size_max: usize, memory: &'m mut dyn Memory) -> Self {
        Self { bytes: Vec::new(), size_max, memory }
    }

    /// Reserves memory for all of the output, if that is likely for `stored` bytes of input.
    ///
    /// # Errors
    /// [`CodecError::NoMemory`].
    pub fn reserve_for(&mut self, stored: usize) -> Result<(), CodecError> {
        let likely = stored.saturating_mul(RESERVE_FACTOR).saturating_add(RESERVE_FIXED);
        self.reserve(self.size_max.min(likely))
    }

    /// The output.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Bytes of the output so far.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes that may still follow.
    pub(crate) fn room(&self) -> usize {
        self.size_max - self.bytes.len()
    }

    /// Bytes that may still follow and for which memory was granted.
    #[cfg(feature = "zstd")]
    pub(crate) fn granted(&self) -> usize {
        (self.bytes.capacity() - self.bytes.len()).min(self.room())
    }

    /// Calls `write` with a buffer of `count` zeros and appends as many bytes as it reports
    /// written.
    pub(crate) fn append_with(
        &mut self,
        count: usize,
        write: impl FnOnce(&mut [u8]) -> Result<usize, CodecError>,
    ) -> Result<usize, CodecError> {
        if count > self.room() {
            return Err(CodecError::TooLarge(self.size_max));
        }
        self.reserve(count)?;
        let start = self.bytes.len();
        self.bytes.resize(start + count, 0);
        let written = write(&mut self.bytes[start..]);
        let kept = start + *written.as_ref().unwrap_or(&0);
        debug_assert!(kept <= self.bytes.len(), "a codec wrote beyond its buffer");
        self.bytes.truncate(kept);
        written
    }

    /// Appends `bytes`.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
        if bytes.len() > self.room() {
            return Err(CodecError::TooLarge(self.size_max));
        }
        self.reserve(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends everything that `reader` produces from `stored` bytes.
    ///
    /// # Errors
    /// [`CodecError`], with the name of the codec where its bytes are malformed.
    pub fn append_stream(
        &mut self,
        codec: &'static str,
        stored: usize,
        mut reader: impl Read,
    ) -> Result<(), CodecError> {
        loop {
            let most = PIECE_FACTOR.saturating_mul(stored + self.len()).saturating_add(PIECE_MIN);
            let count = self.room().min(PIECE_SIZE).min(most);
            if count == 0 {
                // The limit is reached: a stream with one byte more is too large.
                let is_at_end = read(&mut reader, &mut [0], codec)? == 0;
                return if is_at_end { Ok(()) } else { Err(CodecError::TooLarge(self.size_max)) };
            }
            if self.append_with(count, |buffer| read(&mut reader, buffer, codec))? == 0 {
                return Ok(());
            }
        }
    }

    fn reserve(&mut self, more: usize) -> Result<(), CodecError> {
        if self.bytes.capacity() - self.bytes.len() >= more
            || self.memory.try_reserve(&mut self.bytes, more)
        {
            return Ok(());
        }
        Err(CodecError::NoMemory(self.bytes.len().saturating_add(more)))
    }
}

fn read(reader: &mut impl Read, buffer: &mut [u8], codec: &str) -> Result<usize, CodecError> {
    let size = buffer.len();
    reader.read(buffer).map_err(|error| match error.kind() {
        ErrorKind::OutOfMemory => CodecError::NoMemory(size),
        _ => CodecError::malformed(format!("{codec}: {error}")),
    })
}
