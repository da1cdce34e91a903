//! Blocks: what an HFile is made of.
//!
//! ```text
//! 33-byte header | payload as stored (compressed or not) | u32 checksum per chunk
//! ```
//!
//! [`BlockFile`] reads them out of a finished file, [`BlockWriter`] writes them one after another.
//!
//! Invariants: a payload is handed out only after header, bounds and (unless the caller knows that
//! it was done before) checksums were verified. A checksum that does not fit is an error, always.
//! Threads: a [`BlockFile`] is shared freely; a [`BlockWriter`] has one owner.

pub(crate) mod block_type;
pub(crate) mod checksum;
pub(crate) mod compression;
mod header;
mod writer;

use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::FileBytes;
use hblite_model::{Compression, Error, Exception, Result};

pub use block_type::BlockType;
pub use header::BlockHeader;
pub(crate) use header::{HEADER_SIZE, PAYLOAD_SIZE_MAX};
pub(crate) use writer::{BlockPosition, BlockWriter};

use crate::error::{Damage, Parsed, ensure};

/// The payload of a block: a part of the mapped file, or memory of its own.
#[derive(Debug, Clone)]
pub(crate) struct Payload {
    bytes: FileBytes,
    start: usize,
    end: usize,
}

impl Payload {
    /// A payload that was decompressed or decoded.
    pub(crate) fn owned(mut bytes: Vec<u8>) -> Self {
        // Mostly there is no room left over; what there is would not be counted by the cache.
        bytes.shrink_to_fit();
        let end = bytes.len();
        Self { bytes: FileBytes::Owned(Arc::new(bytes)), start: 0, end }
    }

    /// A part of this payload; `range` must lie within it.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.end - self.start);
        let (start, end) = (self.start + range.start, self.start + range.end);
        Self { bytes: self.bytes.clone(), start, end }
    }
}

impl Deref for Payload {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }
}

/// Looks at the blocks that a list names, which must lie one behind the other within the file: so
/// a list names no block twice, and never more than the file can have.
#[derive(Debug)]
pub(crate) struct BlockOrder {
    /// Where the block before ends.
    next: u64,
    /// Where the blocks of the file end.
    end: u64,
}

impl BlockOrder {
    /// For a list in a file whose blocks end at `end`.
    pub(crate) fn new(end: u64) -> Self {
        Self { next: 0, end }
    }

    /// Looks at the next block of the list.
    pub(crate) fn check(&mut self, offset: u64, on_disk_size: u32) -> Parsed<()> {
        ensure(on_disk_size as usize >= HEADER_SIZE, "listed block is smaller than its header")?;
        ensure(offset >= self.next, "listed blocks do not lie one behind the other")?;
        let end = offset.saturating_add(u64::from(on_disk_size));
        ensure(end <= self.end, "listed block lies outside of the file")?;
        self.next = end;
        Ok(())
    }
}

/// A finished file, seen as blocks.
#[derive(Debug)]
pub(crate) struct BlockFile {
    bytes: FileBytes,
    path: PathBuf,
    compression: Compression,
    /// Where the trailer begins: no block reaches beyond.
    end: usize,
}

impl BlockFile {
    pub(crate) fn new(bytes: FileBytes, path: &Path, compression: Compression, end: usize) -> Self {
        Self { bytes, path: path.to_path_buf(), compression, end }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes before the trailer.
    pub(crate) fn end(&self) -> u64 {
        self.end as u64
    }

    /// The error for damage in the block at `offset`.
    #[cold]
    pub(crate) fn corrupt(&self, offset: u64, damage: &Damage) -> Error {
        Error::corrupt(Exception::CorruptHFile, &self.path, offset, damage)
    }

    /// The header at `offset`, after checking that its block lies before the trailer.
    pub(crate) fn header(&self, offset: u64) -> Result<BlockHeader> {
        self.header_at(offset).map(|(header, _)| header).map_err(|d| self.corrupt(offset, &d))
    }

    fn header_at(&self, offset: u64) -> Parsed<(BlockHeader, usize)> {
        let outside = || Damage::new("block lies outside of the file");
        let start = usize::try_from(offset).map_err(|_| outside())?;
        let header_end = start.checked_add(HEADER_SIZE).filter(|end| *end <= self.end);
        let header = BlockHeader::parse(&self.bytes[start..header_end.ok_or_else(outside)?])?;
        if header.on_disk_size() > self.end - start {
            return Err(outside());
        }
        Ok((header, start))
    }

    /// The verified payload of the block at `offset`, which must be of one of the `expected`
    /// types and, where the caller knows it, of `on_disk_size` bytes.
    pub(crate) fn read(
        &self,
        offset: u64,
        expected: &[BlockType],
        on_disk_size: Option<u32>,
    ) -> Result<(BlockHeader, Payload)> {
        self.payload(offset, expected, on_disk_size, true).map_err(|d| self.corrupt(offset, &d))
    }

    /// As [`Self::read`], for a block whose checksums were verified since the file was opened.
    pub(crate) fn reread(
        &self,
        offset: u64,
        expected: &[BlockType],
        on_disk_size: Option<u32>,
    ) -> Result<(BlockHeader, Payload)> {
        self.payload(offset, expected, on_disk_size, false).map_err(|d| self.corrupt(offset, &d))
    }

    fn payload(
        &self,
        offset: u64,
        expected: &[BlockType],
        on_disk_size: Option<u32>,
        verify: bool,
    ) -> Parsed<(BlockHeader, Payload)> {
        let (header, start) = self.header_at(offset)?;
        if !expected.contains(&header.block_type) {
            let message = format!("{:?} block where {expected:?} belongs", header.block_type);
            return Err(Damage::new(message));
        }
        if let Some(size) = on_disk_size
            && size as usize != header.on_disk_size()
        {
            let found = header.on_disk_size();
            return Err(Damage::new(format!("block of {found} bytes, {size} in the index")));
        }
        let data_end = start + header.data_size();
        if verify {
            let stored = &self.bytes[data_end..start + header.on_disk_size()];
            let data = &self.bytes[start..data_end];
            verify_checksums(&header, data, stored)?;
        }
        let payload =
            Payload { bytes: self.bytes.clone(), start: start + HEADER_SIZE, end: data_end };
        if self.compression == Compression::None {
            if header.uncompressed_size != header.stored_size {
                return Err(Damage::new("uncompressed block whose two sizes differ"));
            }
            return Ok((header, payload));
        }
        let size = header.uncompressed_size;
        let payload = compression::decompress(self.compression, &payload, size)?;
        Ok((header, Payload::owned(payload)))
    }
}

fn verify_checksums(header: &BlockHeader, data: &[u8], stored: &[u8]) -> Parsed<()> {
    match header.checksum_type.mismatch(data, header.bytes_per_checksum, stored) {
        None => Ok(()),
        Some(mismatch) => Err(Damage::new(format!(
            "{} of the chunk at +{} is {:08x}, the file says {:08x}",
            header.checksum_type.name(),
            mismatch.start,
            mismatch.found,
            mismatch.expected
        ))),
    }
}
