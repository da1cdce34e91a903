//! The header in front of every block.
//!
//! ```text
//! at  0  magic
//!     8  i32 on-disk size without header: stored payload and checksums
//!    12  i32 uncompressed payload size
//!    16  i64 offset of the previous block of this type, -1 for the first
//!    24  u8  checksum type
//!    25  i32 bytes per checksum
//!    29  i32 on-disk size of header and stored payload, without checksums
//!    33
//! ```

use super::block_type::{BlockType, MAGIC_SIZE};
use super::checksum::{CHECKSUM_SIZE, ChecksumType};
use crate::error::{Damage, Parsed, ensure};
use crate::input::Input;

/// Bytes of a header.
pub(crate) const HEADER_SIZE: usize = 33;
const _: () = assert!(HEADER_SIZE == MAGIC_SIZE + 4 + 4 + 8 + 1 + 4 + 4);

/// Maximum bytes of a payload, stored or uncompressed, for reading and writing.
pub(crate) const PAYLOAD_SIZE_MAX: usize = 1 << 30;

/// "There is no previous block."
pub(crate) const NO_PREVIOUS: i64 = -1;

/// The fields of a checked header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockHeader {
    /// What the block holds.
    pub block_type: BlockType,
    /// Bytes of the payload as stored.
    pub stored_size: usize,
    /// Bytes of the payload after decompression.
    pub uncompressed_size: usize,
    /// Where the previous block of this type begins, -1 for the first.
    pub previous_offset: i64,
    /// How the block is checked.
    pub checksum_type: ChecksumType,
    /// Bytes under one checksum, at least 1.
    pub bytes_per_checksum: usize,
}

impl BlockHeader {
    /// Parses a header and checks that its sizes are consistent.
    pub(crate) fn parse(bytes: &[u8]) -> Parsed<Self> {
        let mut input = Input::new(bytes);
        let block_type = BlockType::from_magic(input.take(MAGIC_SIZE)?)
            .ok_or_else(|| Damage::new("no block begins here: unknown magic"))?;
        let on_disk_size = input.length()?;
        let uncompressed_size = input.length()?;
        let previous_offset = input.i64()?;
        let checksum_type = ChecksumType::from_code(input.u8()?)
            .ok_or_else(|| Damage::new("unknown checksum type in block header"))?;
        let bytes_per_checksum = input.length()?;
        let data_size = input.length()?;
        ensure(bytes_per_checksum > 0, "bytes per checksum is 0 in block header")?;
        ensure(data_size >= HEADER_SIZE, "block header gives a size below its own")?;
        ensure(
            data_size.max(uncompressed_size) <= PAYLOAD_SIZE_MAX + HEADER_SIZE,
            "block header gives a payload over 1 GiB",
        )?;
        let header = Self {
            block_type,
            stored_size: data_size - HEADER_SIZE,
            uncompressed_size,
            previous_offset,
            checksum_type,
            bytes_per_checksum,
        };
        ensure(on_disk_size == header.size_without_header(), "sizes in block header do not agree")?;
        Ok(header)
    }

    /// Appends the header.
    ///
    /// # Panics
    /// If a payload is over [`PAYLOAD_SIZE_MAX`], which [`super::BlockWriter`] refuses first.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let size = |size: usize| {
            i32::try_from(size).expect("block sizes are checked before they are written")
        };
        out.extend_from_slice(self.block_type.magic());
        out.extend_from_slice(&size(self.size_without_header()).to_be_bytes());
        out.extend_from_slice(&size(self.uncompressed_size).to_be_bytes());
        out.extend_from_slice(&self.previous_offset.to_be_bytes());
        out.push(self.checksum_type.code());
        out.extend_from_slice(&size(self.bytes_per_checksum).to_be_bytes());
        out.extend_from_slice(&size(self.data_size()).to_be_bytes());
    }

    /// Bytes of header and stored payload.
    pub fn data_size(&self) -> usize {
        HEADER_SIZE + self.stored_size
    }

    /// Bytes of stored payload and checksums.
    pub fn size_without_header(&self) -> usize {
        self.on_disk_size() - HEADER_SIZE
    }

    /// Bytes of the whole block: header, stored payload, checksums.
    pub fn on_disk_size(&self) -> usize {
        let chunks = self.data_size().div_ceil(self.bytes_per_checksum);
        self.data_size() + chunks * CHECKSUM_SIZE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_sizes_that_disagree_are_refused() {
        let header = BlockHeader {
            block_type: BlockType::Data,
            stored_size: 36,
            uncompressed_size: 36,
            previous_offset: NO_PREVIOUS,
            checksum_type: ChecksumType::Crc32C,
            bytes_per_checksum: 16384,
        };
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        assert_eq!(bytes.len(), HEADER_SIZE);
        assert_eq!(&bytes[8..16], b"\0\0\0\x28\0\0\0\x24");
        assert_eq!(&bytes[24..], b"\x02\0\0\x40\0\0\0\0\x45");
        assert_eq!(BlockHeader::parse(&bytes).unwrap(), header);
        for at in (0..12).chain([24, 25]).chain(29..HEADER_SIZE) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x80;
            assert!(BlockHeader::parse(&damaged).is_err(), "byte {at}");
        }
        assert!(BlockHeader::parse(&bytes[..HEADER_SIZE - 1]).is_err());
    }
}
