//! A finished file, read block by block.
//!
//! ```text
//! Mapped   bytes are used in place; a block is verified when it is first read, and on request
//! Read     every read copies the block into memory of its own and verifies the copy
//! ```
//!
//! Mapped bytes follow the file: if another process writes to it, verified bytes change; if it is
//! truncated, accessing the missing pages kills the process (SIGBUS). A file that is read has
//! neither problem: the verified bytes are a private copy, and a short file is an error.
//!
//! Threads: shared freely.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{FileBytes, ReadableFile};
use hblite_model::{Compression, Error, Exception, Result};

use super::header::{BlockHeader, HEADER_SIZE};
use super::{BlockType, Payload, compression};
use crate::error::{Damage, Parsed, copied, reserve_exact};

/// Where the bytes of a file come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// Used in place.
    Mapped(FileBytes),
    /// Copied on each access.
    Read(Arc<dyn ReadableFile>),
}

impl Source {
    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// `Corrupt` if the file has become shorter, `Io` if it cannot be read.
    pub(crate) fn read_exact_at(&self, path: &Path, buffer: &mut [u8], offset: u64) -> Result<()> {
        let read = match self {
            Self::Mapped(bytes) => usize::try_from(offset)
                .ok()
                .and_then(|start| bytes.get(start..start.checked_add(buffer.len())?))
                .map(|bytes| buffer.copy_from_slice(bytes))
                .ok_or_else(|| ErrorKind::UnexpectedEof.into()),
            Self::Read(file) => file.read_exact_at(buffer, offset),
        };
        read.map_err(|error| unreadable(path, offset, error))
    }
}

/// A finished file, seen as blocks.
#[derive(Debug)]
pub(crate) struct BlockFile {
    source: Source,
    path: PathBuf,
    compression: Compression,
    /// Where the trailer begins: no block extends beyond it.
    end: u64,
}

impl BlockFile {
    /// A file whose bytes up to `end` are blocks.
    pub(crate) fn new(source: Source, path: &Path, compression: Compression, end: u64) -> Self {
        Self { source, path: path.to_path_buf(), compression, end }
    }

    /// The name of the file in errors.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether bytes are used in place.
    #[inline]
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.source, Source::Mapped(_))
    }

    /// Bytes of a mapped file, in place; `None` if it is not mapped or has no such bytes.
    #[inline]
    pub(crate) fn mapped(&self, range: Range<u64>) -> Option<&[u8]> {
        let Source::Mapped(bytes) = &self.source else { return None };
        bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
    }

    /// Like [`Self::mapped`], as a payload that can outlive the reader.
    pub(crate) fn in_place(&self, range: Range<u64>) -> Option<Payload> {
        let Source::Mapped(bytes) = &self.source else { return None };
        let (start, end) = (range.start.try_into().ok()?, range.end.try_into().ok()?);
        (start <= end && end <= bytes.len()).then(|| Payload { bytes: bytes.clone(), start, end })
    }

    /// Hints that these bytes of a mapped file are going to be read.
    pub(crate) fn request(&self, range: Range<u64>) {
        if let Source::Mapped(bytes) = &self.source
            && let (Ok(start), Ok(end)) = (range.start.try_into(), range.end.try_into())
        {
            bytes.request(start..end);
        }
    }

    /// Whether a byte is in memory: reading it in place does not wait for the disk.
    pub(crate) fn is_in_memory(&self, offset: u64) -> bool {
        match &self.source {
            Source::Mapped(bytes) => {
                usize::try_from(offset).is_ok_and(|offset| bytes.is_in_memory(offset))
            }
            Source::Read(_) => true,
        }
    }

    /// Bytes before the trailer.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// CRC-32 of the bytes from `start` to `end`, which may be after the blocks.
    pub(crate) fn checksum(&self, start: u64, end: u64) -> Result<u32> {
        let length = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        reserve_exact(&mut bytes, length).map_err(|damage| self.corrupt(start, &damage))?;
        bytes.resize(length, 0);
        self.source.read_exact_at(&self.path, &mut bytes, start)?;
        Ok(crc32fast::hash(&bytes))
    }

    /// The error for damage in the block at `offset`.
    #[cold]
    pub(crate) fn corrupt(&self, offset: u64, damage: &Damage) -> Error {
        damage.in_file(&self.path, offset)
    }

    /// The header at `offset`, after checking that its block is before the trailer.
    pub(crate) fn header(&self, offset: u64) -> Result<BlockHeader> {
        let bytes = self.bytes(offset, HEADER_SIZE)?;
        self.parse_header(offset, &bytes)
    }

    fn parse_header(&self, offset: u64, bytes: &[u8]) -> Result<BlockHeader> {
        let header = BlockHeader::parse(bytes).map_err(|damage| self.corrupt(offset, &damage))?;
        if header.on_disk_size() as u64 > self.end - offset {
            return Err(self.outside(offset));
        }
        Ok(header)
    }

    #[cold]
    fn outside(&self, offset: u64) -> Error {
        self.corrupt(offset, &Damage::new("block lies outside the file"))
    }

    /// Bytes of the file, all of them before the trailer.
    fn bytes(&self, offset: u64, length: usize) -> Result<Payload> {
        let end = offset.checked_add(length as u64).filter(|end| *end <= self.end);
        end.ok_or_else(|| self.outside(offset))?;
        match &self.source {
            Source::Mapped(bytes) => {
                // Both fit: they are at most the length of a slice.
                let (start, end) = (offset as usize, offset as usize + length);
                Ok(Payload { bytes: bytes.clone(), start, end })
            }
            source => {
                let mut buffer = Vec::new();
                reserve_exact(&mut buffer, length)
                    .map_err(|damage| self.corrupt(offset, &damage))?;
                buffer.resize(length, 0);
                source.read_exact_at(&self.path, &mut buffer, offset)?;
                Ok(Payload::owned(buffer))
            }
        }
    }

    /// Header and bytes of the block at `offset`, of `on_disk_size` bytes if the caller knows it.
    fn block(&self, offset: u64, on_disk_size: Option<u32>) -> Result<(BlockHeader, Payload)> {
        let known = match on_disk_size {
            // A size from the index must cover at least a header.
            Some(size) if size as usize >= HEADER_SIZE => Some(self.bytes(offset, size as usize)?),
            _ => None,
        };
        let header = match &known {
            Some(block) => self.parse_header(offset, &block[..HEADER_SIZE])?,
            None => self.header(offset)?,
        };
        let found = header.on_disk_size();
        if let Some(size) = on_disk_size.filter(|size| *size as usize != found) {
            let damage = Damage::new(format!("block of {found} bytes, {size} in the index"));
            return Err(self.corrupt(offset, &damage));
        }
        Ok((header, known.map_or_else(|| self.bytes(offset, found), Ok)?))
    }

    /// The verified payload of the block at `offset`, which must have one of the `expected` types
    /// and, if the caller knows it, `on_disk_size` bytes.
    pub(crate) fn read(
        &self,
        offset: u64,
        expected: &[BlockType],
        on_disk_size: Option<u32>,
    ) -> Result<(BlockHeader, Payload)> {
        if let Some(size) = on_disk_size {
            // Its checksums need all of it.
            self.request(offset..offset.saturating_add(u64::from(size)));
        }
        let (header, block) = self.block(offset, on_disk_size)?;
        self.payload(offset, expected, &header, block, true)
    }

    /// Like [`Self::read`], for a block whose checksums were verified since the file was opened.
    /// They are verified again unless the file is mapped.
    pub(crate) fn reread(
        &self,
        offset: u64,
        expected: &[BlockType],
        on_disk_size: Option<u32>,
    ) -> Result<(BlockHeader, Payload)> {
        let (header, block) = self.block(offset, on_disk_size)?;
        self.payload(offset, expected, &header, block, !self.is_mapped())
    }

    /// Like [`Self::read`], but the verified bytes can no longer change: a mapped block is copied
    /// first.
    pub(crate) fn read_copy(
        &self,
        offset: u64,
        expected: &[BlockType],
        on_disk_size: Option<u32>,
    ) -> Result<(BlockHeader, Payload)> {
        let (_, mut block) = self.block(offset, on_disk_size)?;
        if self.is_mapped() {
            let copy = copied(&block).map_err(|damage| self.corrupt(offset, &damage))?;
            block = Payload::owned(copy);
        }
        let header = self.parse_header(offset, &block[..HEADER_SIZE])?;
        if header.on_disk_size() != block.len() {
            return Err(self.corrupt(offset, &Damage::new("block changes while it is read")));
        }
        self.payload(offset, expected, &header, block, true)
    }

    /// Verifies the checksums of the block at `offset`, whatever its type. Returns its header.
    pub(crate) fn verify(&self, offset: u64) -> Result<BlockHeader> {
        let (header, block) = self.block(offset, None)?;
        self.request(offset..offset.saturating_add(block.len() as u64));
        verify_checksums(&header, &block).map_err(|damage| self.corrupt(offset, &damage))?;
        Ok(header)
    }

    fn payload(
        &self,
        offset: u64,
        expected: &[BlockType],
        header: &BlockHeader,
        block: Payload,
        verify: bool,
    ) -> Result<(BlockHeader, Payload)> {
        let corrupt = |damage: Damage| self.corrupt(offset, &damage);
        if !expected.contains(&header.block_type) {
            let message = format!("{:?} block where {expected:?} belongs", header.block_type);
            return Err(corrupt(Damage::new(message)));
        }
        if verify {
            verify_checksums(header, &block).map_err(corrupt)?;
        }
        let payload = block.slice(HEADER_SIZE..header.data_size());
        if self.compression == Compression::None {
            if header.uncompressed_size != header.stored_size {
                return Err(corrupt(Damage::new("uncompressed block whose two sizes differ")));
            }
            return Ok((*header, payload));
        }
        let size = header.uncompressed_size;
        let payload = compression::decompress(self.compression, &payload, size).map_err(corrupt)?;
        Ok((*header, Payload::owned(payload)))
    }
}

#[cold]
fn unreadable(path: &Path, offset: u64, error: std::io::Error) -> Error {
    if error.kind() == ErrorKind::UnexpectedEof {
        let message = "the file has become shorter since it was opened";
        return Error::corrupt(Exception::CorruptHFile, path, offset, message);
    }
    Error::io(&format!("reading offset {offset} of"), path, error)
}

fn verify_checksums(header: &BlockHeader, block: &[u8]) -> Parsed<()> {
    let (data, stored) = block.split_at(header.data_size());
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
