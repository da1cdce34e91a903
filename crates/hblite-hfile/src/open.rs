//! Reads what opening a file needs: trailer, root index, meta index, file info, Bloom metas.
//!
//! ```text
//! load-on-open   root data index | meta index | file info | general Bloom meta? | delete family
//!                Bloom meta?                             by position, the last two by magic
//! ```

use std::path::Path;
use std::sync::Arc;

use hblite_env::ReadableFile;
use hblite_model::{BloomType, DataBlockEncoding, Error, Exception, Result};

use crate::block::{BlockFile, BlockType, HEADER_SIZE, Payload, Source};
use crate::bloom::BloomReader;
use crate::encoding::cells::CellLayout;
use crate::error::{Damage, Parsed};
use crate::file_info::{self, FileInfo};
use crate::index::DataIndex;
use crate::trailer::{TRAILER_SIZE, Trailer, TrailerError};

/// What is known about an open file.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) trailer: Trailer,
    /// CRC-32C of the trailer's bytes, which have no checksum of their own.
    pub(crate) trailer_checksum: u32,
    pub(crate) info: FileInfo,
    pub(crate) layout: CellLayout,
    pub(crate) encoding: DataBlockEncoding,
    pub(crate) tags_compressed: bool,
    pub(crate) max_sequence_id: Option<u64>,
    pub(crate) max_cell_sequence_id: u64,
    pub(crate) time_range: (i64, i64),
    pub(crate) earliest_put: i64,
    pub(crate) delete_family_count: Option<u64>,
    /// Parsed from the file info: they are compared with the row of every get.
    pub(crate) last_key: Option<Box<[u8]>>,
    pub(crate) last_bloom_key: Option<Box<[u8]>>,
    /// Absent in a file without cells.
    pub(crate) index: Option<DataIndex>,
    /// Offset and payload.
    pub(crate) meta_index: (u64, Payload),
    pub(crate) bloom_type: BloomType,
    pub(crate) bloom_prefix_length: usize,
    pub(crate) bloom: Option<BloomReader>,
    pub(crate) delete_family_bloom: Option<BloomReader>,
}

/// Parses a file of `length` bytes as far as opening it needs.
pub(crate) fn open(source: Source, length: u64, path: &Path) -> Result<(BlockFile, Opened)> {
    let (trailer, trailer_checksum) = read_trailer(&source, length, path)?;
    let file = BlockFile::new(source, path, trailer.compression, length - TRAILER_SIZE as u64);
    let (root, mut offset) = read_next(&file, trailer.load_on_open_data_offset, ROOT)?;
    let meta_index_offset = offset;
    let meta_index;
    (meta_index, offset) = read_next(&file, offset, ROOT)?;
    if offset != trailer.file_info_offset {
        let damage = Damage::new("file info is not where the trailer says");
        return Err(file.corrupt(offset, &damage));
    }
    let (info, mut offset) = read_next(&file, offset, &[BlockType::FileInfo])?;
    let corrupt_info = |damage: Damage| file.corrupt(trailer.file_info_offset, &damage);
    let info = FileInfo::parse(&info).map_err(corrupt_info)?;
    let index = open_index(&file, &trailer, &root)?;
    let meta_index = (meta_index_offset, meta_index);
    let mut opened = describe(trailer, info, index, meta_index).map_err(corrupt_info)?;
    opened.trailer_checksum = trailer_checksum;
    while offset < file.end() {
        offset = open_filter(&file, offset, &mut opened)?;
    }
    Ok((file, opened))
}

const ROOT: &[BlockType] = &[BlockType::RootIndex];

/// The trailer and the checksum of its bytes.
fn read_trailer(source: &Source, length: u64, path: &Path) -> Result<(Trailer, u32)> {
    let (bytes, start) = trailer_bytes(source, length, path)?;
    match Trailer::parse(&bytes, start) {
        Ok(trailer) => Ok((trailer, crc32c::crc32c(&bytes))),
        Err(TrailerError::Damaged(damage)) => Err(corrupt(path, start, &damage)),
        Err(TrailerError::Unsupported(what)) => Err(unsupported(path, &what)),
    }
}

/// The checksum of the trailer's bytes, without parsing them.
pub(crate) fn trailer_checksum(
    file: Arc<dyn ReadableFile>,
    length: u64,
    path: &Path,
) -> Result<u32> {
    trailer_bytes(&Source::Read(file), length, path).map(|(bytes, _)| crc32c::crc32c(&bytes))
}

/// The trailer's bytes, and where they begin.
fn trailer_bytes(source: &Source, length: u64, path: &Path) -> Result<([u8; TRAILER_SIZE], u64)> {
    let Some(start) = length.checked_sub(TRAILER_SIZE as u64) else {
        return Err(corrupt(path, 0, &Damage::new("file is too short to be an HFile")));
    };
    let mut bytes = [0; TRAILER_SIZE];
    source.read_exact_at(path, &mut bytes, start)?;
    Ok((bytes, start))
}

fn corrupt(path: &Path, offset: u64, damage: &Damage) -> Error {
    damage.in_file(path, offset)
}

fn unsupported(path: &Path, what: &str) -> Error {
    let message = format!("{}: {what}", path.display());
    Error::new(Exception::UnsupportedOperation, message)
}

/// The payload of the block at `offset`, and where the next one begins.
fn read_next(file: &BlockFile, offset: u64, expected: &[BlockType]) -> Result<(Payload, u64)> {
    let (header, payload) = file.read(offset, expected, None)?;
    Ok((payload, offset + header.on_disk_size() as u64))
}

fn open_index(file: &BlockFile, trailer: &Trailer, root: &[u8]) -> Result<Option<DataIndex>> {
    let (offset, count) = (trailer.load_on_open_data_offset, trailer.data_index_count as usize);
    if count == 0 {
        if trailer.entry_count > 0 || !root.is_empty() {
            return Err(file.corrupt(offset, &Damage::new("cells without an index")));
        }
        return Ok(None);
    }
    let levels = trailer.num_data_index_levels;
    DataIndex::open(file, trailer.comparator, offset, root, count, levels).map(Some)
}

/// Reads the values of the file info that are needed often.
fn describe(
    trailer: Trailer,
    info: FileInfo,
    index: Option<DataIndex>,
    meta_index: (u64, Payload),
) -> Parsed<Opened> {
    let encoding = match info.get(file_info::DATA_BLOCK_ENCODING) {
        None => DataBlockEncoding::None,
        Some(name) => std::str::from_utf8(name)
            .ok()
            .and_then(DataBlockEncoding::from_name)
            .ok_or_else(|| Damage::new("unknown data block encoding"))?,
    };
    let has_mvcc = info.has_mvcc()?;
    let last_key = info.get(file_info::LAST_KEY);
    let last_key_fits = last_key.is_some_and(hblite_model::cell::key::is_well_formed);
    if index.is_some() && !last_key_fits {
        return Err(Damage::new("last key is missing or malformed"));
    }
    // The trailer has no checksum, but the file info does: a trailer that says that there are no
    // cells is damaged.
    if index.is_some() != last_key.is_some() || index.is_some() != (trailer.entry_count > 0) {
        return Err(Damage::new("trailer and file info disagree about whether there are cells"));
    }
    let unsigned = |number: i64| u64::try_from(number).ok();
    Ok(Opened {
        layout: CellLayout { has_tags: info.get(file_info::MAX_TAGS_LENGTH).is_some(), has_mvcc },
        encoding,
        tags_compressed: info.bool(file_info::TAGS_COMPRESSED),
        max_sequence_id: info.i64(file_info::MAX_SEQUENCE_ID)?.and_then(unsigned),
        max_cell_sequence_id: info
            .i64(file_info::MAX_MEMSTORE_TS)?
            .and_then(unsigned)
            .unwrap_or_default(),
        time_range: info.time_range()?.unwrap_or((0, i64::MAX)),
        earliest_put: info.i64(file_info::EARLIEST_PUT)?.unwrap_or(i64::MAX),
        last_key: last_key.map(Box::from),
        last_bloom_key: info.get(file_info::LAST_BLOOM_KEY).map(Box::from),
        delete_family_count: info.i64(file_info::DELETE_FAMILY_COUNT)?.and_then(unsigned),
        index,
        meta_index,
        bloom_type: bloom_type(&info)?,
        bloom_prefix_length: usize::try_from(
            info.i32(file_info::BLOOM_FILTER_PARAM)?.unwrap_or_default(),
        )
        .map_err(|_| Damage::new("negative row prefix length"))?,
        bloom: None,
        delete_family_bloom: None,
        trailer_checksum: 0,
        trailer,
        info,
    })
}

fn bloom_type(info: &FileInfo) -> Parsed<BloomType> {
    let Some(name) = info.get(file_info::BLOOM_FILTER_TYPE) else {
        return Ok(BloomType::None);
    };
    let bloom_type = std::str::from_utf8(name)
        .ok()
        .and_then(BloomType::from_name)
        .ok_or_else(|| Damage::new("unknown type of Bloom filter"))?;
    let last_key = info.get(file_info::LAST_BLOOM_KEY);
    if bloom_type == BloomType::RowCol
        && !last_key.is_none_or(hblite_model::cell::key::is_well_formed)
    {
        return Err(Damage::new("last Bloom key is malformed"));
    }
    Ok(bloom_type)
}

/// Reads the Bloom meta at `offset`; returns where the next block begins.
fn open_filter(file: &BlockFile, offset: u64, opened: &mut Opened) -> Result<u64> {
    if file.end() - offset < HEADER_SIZE as u64 {
        return Err(file.corrupt(offset, &Damage::new("bytes that are not a block")));
    }
    let kinds = [BlockType::GeneralBloomMeta, BlockType::DeleteFamilyBloomMeta];
    let block_type = file.header(offset)?.block_type;
    let (payload, next) = read_next(file, offset, &kinds)?;
    let has_flat_keys =
        block_type == BlockType::GeneralBloomMeta && opened.bloom_type == BloomType::RowCol;
    let comparator = opened.trailer.comparator;
    let filter = BloomReader::parse(&payload, has_flat_keys, comparator, file.end())
        .map_err(|damage| file.corrupt(offset, &damage))?;
    if block_type == BlockType::DeleteFamilyBloomMeta {
        opened.delete_family_bloom = Some(filter);
    } else if opened.bloom_type != BloomType::None {
        opened.bloom = Some(filter);
    }
    Ok(next)
}
