//! Writes blocks to a new file, one after another.
//!
//! Blocks are assembled in one buffer and written to the file in large pieces (`output.rs`). After
//! an error the file is useless and the writer must not be used again.

use std::path::Path;

use hblite_codec::Compressor;
use hblite_env::FileSystem;
use hblite_model::{Compression, Error, Result};

use super::block_type::BlockType;
use super::checksum::ChecksumType;
use super::compression;
use super::header::{BlockHeader, HEADER_SIZE, NO_PREVIOUS, PAYLOAD_SIZE_MAX};
use super::output::{Output, PIECE_SIZE};

/// Where a block was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockPosition {
    /// Of the header's first byte.
    pub(crate) offset: u64,
    /// Header, stored payload and checksums.
    pub(crate) on_disk_size: u32,
}

/// Appends blocks to a file.
#[derive(Debug)]
pub(crate) struct BlockWriter {
    output: Output,
    /// The piece that is being filled.
    buffer: Vec<u8>,
    /// Bytes of the pieces before it.
    written: u64,
    compressor: Box<dyn Compressor>,
    checksum_type: ChecksumType,
    bytes_per_checksum: usize,
    /// Offset of the last block of each type.
    previous: [i64; BlockType::COUNT],
}

impl BlockWriter {
    /// Creates the file.
    ///
    /// # Errors
    /// `Io` if it exists or cannot be created; `Unsupported` compression.
    pub(crate) fn create(
        fs: &dyn FileSystem,
        path: &Path,
        compression: Compression,
        checksum_type: ChecksumType,
        bytes_per_checksum: usize,
    ) -> Result<Self> {
        let compressor = hblite_codec::codec(compression)?.compressor();
        let file = fs.create(path).map_err(|error| Error::io("creating", path, error))?;
        Ok(Self {
            output: Output::new(file, path),
            buffer: Vec::with_capacity(PIECE_SIZE + PIECE_SIZE / 4),
            written: 0,
            compressor,
            checksum_type,
            bytes_per_checksum,
            previous: [NO_PREVIOUS; BlockType::COUNT],
        })
    }

    /// Where the next block will begin.
    pub(crate) fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Compresses `payload` and writes it as a block.
    pub(crate) fn write(&mut self, block_type: BlockType, payload: &[u8]) -> Result<BlockPosition> {
        let start = self.buffer.len();
        let offset = self.position();
        self.buffer.extend_from_slice(&[0; HEADER_SIZE]);
        self.compressor.compress(payload, &mut self.buffer).map_err(compression::failed)?;
        let stored_size = self.buffer.len() - start - HEADER_SIZE;
        if payload.len().max(stored_size) > PAYLOAD_SIZE_MAX {
            let size = payload.len();
            return Err(Error::illegal_argument(format!("block of {size} bytes is too large")));
        }
        let previous = &mut self.previous[block_type.chain() as usize];
        let header = BlockHeader {
            block_type,
            stored_size,
            uncompressed_size: payload.len(),
            previous_offset: *previous,
            checksum_type: self.checksum_type,
            bytes_per_checksum: self.bytes_per_checksum,
        };
        assert!(*previous < offset as i64, "blocks of a type follow one another");
        *previous = offset as i64;
        let mut header_bytes = Vec::with_capacity(HEADER_SIZE);
        header.write(&mut header_bytes);
        self.buffer[start..start + HEADER_SIZE].copy_from_slice(&header_bytes);
        self.checksum_type.append(&mut self.buffer, start, self.bytes_per_checksum);
        assert_eq!(
            self.buffer.len() - start,
            header.on_disk_size(),
            "a header gives its block's size"
        );
        if self.buffer.len() >= PIECE_SIZE {
            self.written += self.buffer.len() as u64;
            self.output.write(&mut self.buffer)?;
        }
        Ok(BlockPosition { offset, on_disk_size: header.on_disk_size() as u32 })
    }

    /// Writes the trailer and all remaining bytes, and makes them durable.
    ///
    /// Returns the length of the file.
    pub(crate) fn finish(mut self, trailer: &[u8]) -> Result<u64> {
        self.buffer.extend_from_slice(trailer);
        let length = self.position();
        self.output.finish(&self.buffer)?;
        Ok(length)
    }
}
