//! Blocks: what an HFile is made of.
//!
//! ```text
//! 33-byte header | payload as stored (compressed or not) | u32 checksum per chunk
//! ```
//!
//! [`BlockFile`] reads them from a finished file, [`BlockWriter`] writes them one after another.
//!
//! Invariants: a payload is returned only after its header, its bounds and its checksums were
//! verified. Only [`BlockFile::reread`] skips the checksums, and only for a mapped block that was
//! verified before. A checksum that does not match is always an error.
//! Threads: a [`BlockFile`] is shared freely; a [`BlockWriter`] has one owner.

pub(crate) mod block_type;
pub(crate) mod checksum;
pub(crate) mod compression;
mod file;
mod header;
mod output;
mod writer;

use std::ops::{Deref, Range};
use std::sync::Arc;

use hblite_env::FileBytes;

pub use block_type::BlockType;
pub(crate) use file::{BlockFile, Source};
pub use header::BlockHeader;
pub(crate) use header::{HEADER_SIZE, PAYLOAD_SIZE_MAX};
pub(crate) use writer::{BlockPosition, BlockWriter};

use crate::error::{Parsed, ensure};

/// The payload of a block: a part of the mapped file, or its own memory.
#[derive(Debug, Clone)]
pub(crate) struct Payload {
    bytes: FileBytes,
    start: usize,
    end: usize,
}

impl Payload {
    /// A payload that was decompressed or decoded.
    pub(crate) fn owned(mut bytes: Vec<u8>) -> Self {
        // Usually there is no spare capacity; if there is, the cache would not count it.
        bytes.shrink_to_fit();
        let end = bytes.len();
        Self { bytes: FileBytes::Owned(Arc::new(bytes)), start: 0, end }
    }

    /// Bytes of memory that the payload keeps, none if it is in a mapped file.
    pub(crate) fn heap_size(&self) -> usize {
        match &self.bytes {
            FileBytes::Mapped(_) => 0,
            FileBytes::Owned(bytes) => bytes.capacity(),
        }
    }

    /// Its place in the file, if it is used in place.
    pub(crate) fn range(&self) -> Range<u64> {
        self.start as u64..self.end as u64
    }

    /// A part of this payload; `range` must lie within it.
    pub(crate) fn slice(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.end - self.start);
        let (start, end) = (self.start + range.start, self.start + range.end);
        Self { bytes: self.bytes, start, end }
    }
}

impl Deref for Payload {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }
}

/// Checks the blocks of a list, which must follow one another within the file, so that a list names
/// no block twice, and no more than the file can have.
#[derive(Debug)]
pub(crate) struct BlockOrder {
    /// Where the previous block ends.
    next: u64,
    /// Where the blocks of the file end.
    end: u64,
}

impl BlockOrder {
    /// For a list in a file whose blocks end at `end`.
    pub(crate) fn new(end: u64) -> Self {
        Self { next: 0, end }
    }

    /// Checks the next block of the list.
    pub(crate) fn check(&mut self, offset: u64, on_disk_size: u32) -> Parsed<()> {
        ensure(on_disk_size as usize >= HEADER_SIZE, "listed block is smaller than its header")?;
        ensure(offset >= self.next, "listed blocks are not in order")?;
        let end = offset.saturating_add(u64::from(on_disk_size));
        ensure(end <= self.end, "listed block lies outside the file")?;
        self.next = end;
        Ok(())
    }
}
