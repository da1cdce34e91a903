//! The trailer: the last 4096 bytes, always.
//!
//! ```text
//! TRABLK"$ | varint length | FileTrailerProto | zero bytes | u32 version (minor << 24 | major)
//! ```
//!
//! It has no checksum of its own; [`Trailer::parse`] checks what it can; the blocks that it points
//! to have their own checksums. Source: HBase's `FixedFileTrailer`.

use hblite_model::protobuf::{MessageWriter, read_message};
use hblite_model::{CellComparator, Compression, Error, Exception, Result};

use crate::block::compression;
use crate::error::{Damage, Parsed, ensure};
use crate::input::Input;

/// Bytes of the trailer.
pub(crate) const TRAILER_SIZE: usize = 4096;

const MAGIC: &[u8; 8] = b"TRABLK\"$";
const VERSION_SIZE: usize = 4;
const MAJOR_VERSION: u32 = 3;
const MINOR_VERSION: u32 = 3;
/// The offset of data blocks in empty files.
const NO_OFFSET: i64 = -1;

/// Class names that also mean HBase's normal order of cells, in addition to the one that is
/// written.
const DEFAULT_COMPARATORS: [&str; 5] = [
    "org.apache.hadoop.hbase.KeyValue$KeyComparator",
    "org.apache.hadoop.hbase.CellComparator",
    "org.apache.hadoop.hbase.CellComparatorImpl",
    "org.apache.hadoop.hbase.InnerStoreCellComparator",
    "",
];
/// Class names that also mean the order of hbase:meta, in addition to the one that is written.
const META_COMPARATORS: [&str; 2] = [
    "org.apache.hadoop.hbase.MetaCellComparator",
    "org.apache.hadoop.hbase.CellComparatorImpl$MetaCellComparator",
];

/// The numbers of a trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailer {
    /// Offset of the file info block.
    pub file_info_offset: u64,
    /// Offset of the root data index, the first block that is read when the file is opened.
    pub load_on_open_data_offset: u64,
    /// Uncompressed payload bytes of all data index blocks, mid-key included.
    pub uncompressed_data_index_size: u64,
    /// Uncompressed bytes of all blocks except intermediate and root data index, with the trailer.
    pub total_uncompressed_bytes: u64,
    /// Entries of the root data index.
    pub data_index_count: u32,
    /// Entries of the meta index.
    pub meta_index_count: u32,
    /// Number of cells.
    pub entry_count: u64,
    /// 1: the root points at data blocks; 2: at leaves; and so on.
    pub num_data_index_levels: u32,
    /// Offset of the first data block, -1 in an empty file.
    pub first_data_block_offset: i64,
    /// Offset of the last data block, -1 in an empty file.
    pub last_data_block_offset: i64,
    /// Order of the cells.
    pub comparator: CellComparator,
    /// Codec of all blocks.
    pub compression: Compression,
    /// Minor version; the major version is always 3.
    pub minor_version: u32,
}

impl Default for Trailer {
    fn default() -> Self {
        Self {
            file_info_offset: 0,
            load_on_open_data_offset: 0,
            uncompressed_data_index_size: 0,
            total_uncompressed_bytes: 0,
            data_index_count: 0,
            meta_index_count: 0,
            entry_count: 0,
            num_data_index_levels: 1,
            first_data_block_offset: NO_OFFSET,
            last_data_block_offset: NO_OFFSET,
            comparator: CellComparator::Default,
            compression: Compression::None,
            minor_version: MINOR_VERSION,
        }
    }
}

/// Why a trailer cannot be used.
#[derive(Debug)]
pub(crate) enum TrailerError {
    Damaged(Damage),
    /// Intact, but with something that hblite does not support.
    Unsupported(String),
}

impl From<Damage> for TrailerError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

impl Trailer {
    /// The number of the codec.
    pub fn compression_codec(&self) -> u64 {
        self.compression.number().into()
    }

    /// The trailer as bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let message = MessageWriter::new()
            .number(1, self.file_info_offset)
            .number(2, self.load_on_open_data_offset)
            .number(3, self.uncompressed_data_index_size)
            .number(4, self.total_uncompressed_bytes)
            .number(5, u64::from(self.data_index_count))
            .number(6, u64::from(self.meta_index_count))
            .number(7, self.entry_count)
            .number(8, u64::from(self.num_data_index_levels))
            .number(9, self.first_data_block_offset as u64)
            .number(10, self.last_data_block_offset as u64)
            .bytes(11, self.comparator.class_name())
            .number(12, self.compression_codec())
            .finish();
        let mut out = Vec::with_capacity(TRAILER_SIZE);
        out.extend_from_slice(MAGIC);
        hblite_model::protobuf::write_varint(&mut out, message.len() as u64);
        out.extend_from_slice(&message);
        out.resize(TRAILER_SIZE - VERSION_SIZE, 0);
        out.extend_from_slice(&(self.minor_version << 24 | MAJOR_VERSION).to_be_bytes());
        assert_eq!(out.len(), TRAILER_SIZE, "the fields always fit");
        out
    }

    /// Parses the last [`TRAILER_SIZE`] bytes of a file; its blocks end at `blocks_end`.
    pub(crate) fn parse(
        bytes: &[u8; TRAILER_SIZE],
        blocks_end: u64,
    ) -> std::result::Result<Self, TrailerError> {
        let version = Input::new(&bytes[TRAILER_SIZE - VERSION_SIZE..]).i32()? as u32;
        let (major, minor) = (version & 0x00ff_ffff, version >> 24);
        if matches!(major, 1 | 2) {
            return Err(TrailerError::Unsupported(format!("HFile version {major}")));
        }
        ensure(major == MAJOR_VERSION, "no HFile version at the end of the file")?;
        let mut input = Input::new(&bytes[..TRAILER_SIZE - VERSION_SIZE]);
        ensure(input.take(MAGIC.len())? == MAGIC, "trailer does not begin with its magic")?;
        let length = input.varint()?;
        let message = input.take(length)?;
        let mut fields = Fields { trailer: Self::default(), codec: 2, encrypted: false };
        fields.trailer.minor_version = minor;
        fields.trailer.num_data_index_levels = 0;
        let mut comparator = String::new();
        read_message(message, |field, value| {
            if field == 11 {
                comparator = value.as_text();
                return Ok(());
            }
            fields.set(field, value.as_number())
        })
        .map_err(|error| Damage::new(format!("trailer: {}", error.message())))?;
        fields.finish(&comparator, blocks_end)
    }

    fn check(&self, blocks_end: u64) -> Parsed<()> {
        ensure(
            self.load_on_open_data_offset < blocks_end
                && self.file_info_offset < blocks_end
                && self.load_on_open_data_offset <= self.file_info_offset,
            "trailer points outside the file",
        )?;
        ensure(
            (1..=16).contains(&self.num_data_index_levels),
            "trailer gives an impossible number of index levels",
        )
    }
}

/// Fields in the order in which they appear.
struct Fields {
    trailer: Trailer,
    codec: u64,
    encrypted: bool,
}

impl Fields {
    fn set(&mut self, field: u32, value: u64) -> Result<()> {
        let small = || {
            u32::try_from(value)
                .map_err(|_| Error::new(Exception::CorruptHFile, "a count is out of range"))
        };
        let trailer = &mut self.trailer;
        match field {
            1 => trailer.file_info_offset = value,
            2 => trailer.load_on_open_data_offset = value,
            3 => trailer.uncompressed_data_index_size = value,
            4 => trailer.total_uncompressed_bytes = value,
            5 => trailer.data_index_count = small()?,
            6 => trailer.meta_index_count = small()?,
            7 => trailer.entry_count = value,
            8 => trailer.num_data_index_levels = small()?,
            9 => trailer.first_data_block_offset = value as i64,
            10 => trailer.last_data_block_offset = value as i64,
            12 => self.codec = value,
            13 => self.encrypted = true,
            _ => {}
        }
        Ok(())
    }

    fn finish(
        mut self,
        comparator: &str,
        blocks_end: u64,
    ) -> std::result::Result<Trailer, TrailerError> {
        if self.encrypted {
            return Err(TrailerError::Unsupported("the file is encrypted".to_owned()));
        }
        self.trailer.comparator = comparator_of_class(comparator)
            .ok_or_else(|| TrailerError::Unsupported(format!("comparator class {comparator}")))?;
        self.trailer.compression =
            compression::of_number(self.codec).map_err(TrailerError::Unsupported)?;
        self.trailer.check(blocks_end)?;
        Ok(self.trailer)
    }
}

/// The cell order of a class name in a trailer.
fn comparator_of_class(name: &str) -> Option<CellComparator> {
    let (default, meta) = (CellComparator::Default, CellComparator::Meta);
    if name == default.class_name() || DEFAULT_COMPARATORS.contains(&name) {
        Some(default)
    } else if name == meta.class_name() || META_COMPARATORS.contains(&name) {
        Some(meta)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_comes_back_and_impossible_ones_are_refused() {
        let trailer = Trailer {
            file_info_offset: 180,
            load_on_open_data_offset: 73,
            data_index_count: 1,
            entry_count: 1,
            first_data_block_offset: 0,
            last_data_block_offset: 0,
            comparator: CellComparator::Meta,
            compression: Compression::Gz,
            ..Trailer::default()
        };
        let mut bytes: [u8; TRAILER_SIZE] = trailer.encode().try_into().unwrap();
        assert_eq!(Trailer::parse(&bytes, 500).unwrap(), trailer);
        assert!(matches!(Trailer::parse(&bytes, 180), Err(TrailerError::Damaged(_))));
        bytes[TRAILER_SIZE - 1] = 2;
        assert!(matches!(Trailer::parse(&bytes, 500), Err(TrailerError::Unsupported(_))));
        bytes[TRAILER_SIZE - 1] = 9;
        assert!(matches!(Trailer::parse(&bytes, 500), Err(TrailerError::Damaged(_))));
    }
}
