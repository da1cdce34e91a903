//! How a file is written.

use hblite_model::{
    BloomType, CellComparator, ColumnFamilyDescriptor, Compression, DataBlockEncoding, Error,
    Result, setters,
};

use crate::block::HEADER_SIZE;
use crate::block::checksum::ChecksumType;
use crate::bloom::{BloomHash, BloomKey};

/// Settings of a new file; the defaults are HBase's.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HFileWriterOptions {
    /// A data block ends when its cells reach this many bytes (65,536).
    pub block_size: usize,
    /// How cells are packed in data blocks (NONE).
    pub encoding: DataBlockEncoding,
    /// Codec of all blocks (NONE).
    pub compression: Compression,
    /// Keys of the general Bloom filter (ROW).
    pub bloom: BloomType,
    /// Bytes of the row that form a key of [`BloomType::RowPrefixFixedLength`], for which it must
    /// be at least 1 (0).
    pub bloom_prefix_length: u32,
    /// Bytes of a Bloom chunk (131,072; `io.storefile.bloom.block.size`).
    pub bloom_block_size: usize,
    /// Rate of false positives, between 0 and 1 (0.01; `io.storefile.bloom.error.rate`).
    pub bloom_error_rate: f32,
    /// Hash function of the filters (murmur; `hbase.hash.type`).
    pub hash: BloomHash,
    /// Checksum of blocks (CRC32C).
    pub checksum: ChecksumType,
    /// Bytes under one checksum, at least 33 (16,384).
    pub bytes_per_checksum: usize,
    /// Whether cells keep their sequence ids (true).
    pub include_mvcc: bool,
    /// Whether cells keep tags (false); without it a cell with tags is refused.
    pub include_tags: bool,
    /// Whether tags are compressed by a dictionary, in encodings that can (false).
    pub compress_tags: bool,
    /// An index node is written when it reaches this many bytes (131,072;
    /// `hfile.index.block.max.size`).
    pub index_chunk_size: usize,
    /// Intermediate nodes have more entries than this (16; `hfile.index.block.min.entries`).
    pub index_min_entries: usize,
    /// Order of the cells.
    pub comparator: CellComparator,
    /// When the file is begun, in milliseconds; 0 if unknown.
    pub create_time: i64,
}

impl Default for HFileWriterOptions {
    fn default() -> Self {
        Self {
            block_size: 64 * 1024,
            encoding: DataBlockEncoding::None,
            compression: Compression::None,
            bloom: BloomType::Row,
            bloom_prefix_length: 0,
            bloom_block_size: 128 * 1024,
            bloom_error_rate: 0.01,
            hash: BloomHash::Murmur,
            checksum: ChecksumType::Crc32C,
            bytes_per_checksum: 16 * 1024,
            include_mvcc: true,
            include_tags: false,
            compress_tags: false,
            index_chunk_size: 128 * 1024,
            index_min_entries: 16,
            comparator: CellComparator::Default,
            create_time: 0,
        }
    }
}

setters! { HFileWriterOptions:
    with_block_size sets block_size: usize;
    with_encoding sets encoding: DataBlockEncoding;
    with_compression sets compression: Compression;
    with_bloom sets bloom: BloomType;
    with_bloom_prefix_length sets bloom_prefix_length: u32;
    with_bloom_block_size sets bloom_block_size: usize;
    with_bloom_error_rate sets bloom_error_rate: f32;
    with_hash sets hash: BloomHash;
    with_checksum sets checksum: ChecksumType;
    with_bytes_per_checksum sets bytes_per_checksum: usize;
    with_mvcc sets include_mvcc: bool;
    with_tags sets include_tags: bool;
    with_compressed_tags sets compress_tags: bool;
    with_index_chunk_size sets index_chunk_size: usize;
    with_index_min_entries sets index_min_entries: usize;
    with_comparator sets comparator: CellComparator;
    with_create_time sets create_time: i64;
}

/// Maximum bytes of a setting that is a size.
const SIZE_MAX: usize = 1 << 28;

impl HFileWriterOptions {
    /// How files of a family are written, according to its settings, which do not determine whether
    /// cells keep tags. Where tables are created without sanity checks, the block size can be any
    /// number: as in HBase, each key has a block of its own if it is 0 or negative.
    pub fn of_family(family: &ColumnFamilyDescriptor) -> Self {
        let block_size = usize::try_from(family.block_size()).unwrap_or(0);
        Self {
            block_size: block_size.clamp(1, SIZE_MAX),
            encoding: family.data_block_encoding(),
            compression: family.compression(),
            bloom: family.bloom(),
            bloom_prefix_length: family.bloom_prefix_length(),
            compress_tags: family.attributes().get("COMPRESS_TAGS").is_none_or(|on| on != "false"),
            ..Self::default()
        }
    }

    /// Refuses settings that no file can have.
    pub(crate) fn check(&self) -> Result<()> {
        let sizes = [
            ("block size", self.block_size, 1),
            ("Bloom block size", self.bloom_block_size, 1),
            ("bytes per checksum", self.bytes_per_checksum, HEADER_SIZE),
            ("index chunk size", self.index_chunk_size, 1),
        ];
        for (name, size, min) in sizes {
            if !(min..=SIZE_MAX).contains(&size) {
                let message =
                    format!("{name} of {size} bytes; it must be from {min} to {SIZE_MAX}");
                return Err(Error::illegal_argument(message));
            }
        }
        if !(self.bloom_error_rate > 0.0 && self.bloom_error_rate < 1.0) {
            let rate = self.bloom_error_rate;
            let message = format!("Bloom error rate of {rate}; it must be between 0 and 1");
            return Err(Error::illegal_argument(message));
        }
        if self.bloom == BloomType::RowPrefixFixedLength && self.bloom_prefix_length == 0 {
            let message = "Bloom filter of row prefixes without a length; it must be at least 1";
            return Err(Error::illegal_argument(message));
        }
        Ok(())
    }

    /// The key of the general Bloom filter.
    pub(crate) fn bloom_key(&self) -> Option<BloomKey> {
        match self.bloom {
            BloomType::None => None,
            BloomType::Row => Some(BloomKey::Row),
            BloomType::RowCol => Some(BloomKey::RowCol),
            BloomType::RowPrefixFixedLength => {
                Some(BloomKey::RowPrefix(self.bloom_prefix_length as usize))
            }
        }
    }

    /// Whether tags are compressed: only if the encoding can.
    pub(crate) fn tags_compressed(&self) -> bool {
        self.compress_tags && self.encoding != DataBlockEncoding::None
    }
}

/// What the store knows about a file when it is complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreFileInfo {
    /// Largest log sequence id of its cells; `None` for files written outside a store.
    pub max_sequence_id: Option<u64>,
    /// Whether a major compaction wrote it.
    pub major_compaction: bool,
    /// Names of the files that were compacted into it, none for a flush.
    pub compacted_files: Vec<String>,
}
