//! Writes one HFile.
//!
//! For the order of the blocks, see the crate's drawing. Cells must come in the order of the
//! comparator. A writer that is dropped before [`HFileWriter::finish`] leaves a file that no reader
//! accepts; its owner removes it.
//!
//! Threads: one owner. Source: `HFileWriterImpl`, `StoreFileWriter`.

use std::collections::BTreeMap;
use std::path::Path;

use hblite_env::FileSystem;
use hblite_model::cell::{CELL_SIZE_MAX, TagIter, key};
use hblite_model::{BloomType, CellRef, DataBlockEncoding, Error, Exception, Result};

use crate::block::{BlockPosition, BlockType, BlockWriter, HEADER_SIZE, PAYLOAD_SIZE_MAX};
use crate::bloom::{BloomKey, BloomWriter};
use crate::encoding::BlockEncoder;
use crate::encoding::cells::CellLayout;
use crate::file_info::{self, FileInfo};
use crate::index::{FinishedIndex, IndexWriter, index_key, write_root_entry};
use crate::options::{HFileWriterOptions, StoreFileInfo};
use crate::statistics::Statistics;
use crate::trailer::{TRAILER_SIZE, Trailer};

/// Bytes of a serialized tag without its value: length and type.
const TAG_FIXED_SIZE: usize = 3;

/// The result of writing a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HFileSummary {
    /// Bytes of the file.
    pub length: u64,
    /// Cells in it.
    pub cells: u64,
    /// Data blocks in it.
    pub data_blocks: u64,
    /// Smallest and largest timestamp; `(i64::MAX, -1)` without cells.
    pub time_range: (i64, i64),
}

/// A file being written.
#[derive(Debug)]
pub struct HFileWriter {
    options: HFileWriterOptions,
    blocks: BlockWriter,
    encoder: BlockEncoder,
    index: IndexWriter,
    bloom: Option<BloomWriter>,
    delete_family_bloom: Option<BloomWriter>,
    statistics: Statistics,
    info: FileInfo,
    meta_blocks: BTreeMap<Vec<u8>, Vec<u8>>,
    /// First key of the open data block.
    first_key: Vec<u8>,
    last_key: Vec<u8>,
    /// Last key of the previous data block.
    last_key_of_block: Vec<u8>,
    trailer: Trailer,
    data_blocks: u64,
}

impl HFileWriter {
    /// Creates the file at `path`.
    ///
    /// # Errors
    /// `Invalid` for settings that no file can have, `Unsupported` for codecs that cannot be
    /// written, `Io` if the file exists or cannot be created.
    pub fn create(fs: &dyn FileSystem, path: &Path, options: HFileWriterOptions) -> Result<Self> {
        options.check()?;
        let layout = CellLayout { has_tags: options.include_tags, has_mvcc: options.include_mvcc };
        let bloom = |key| {
            let (size, rate) = (options.bloom_block_size, options.bloom_error_rate);
            BloomWriter::new(key, options.hash, size, rate)
        };
        let (checksum, bytes_per_checksum) = (options.checksum, options.bytes_per_checksum);
        Ok(Self {
            blocks: BlockWriter::create(
                fs,
                path,
                options.compression,
                checksum,
                bytes_per_checksum,
            )?,
            encoder: BlockEncoder::new(
                options.encoding,
                layout,
                options.compress_tags,
                options.block_size,
            ),
            index: IndexWriter::new(options.index_chunk_size, options.index_min_entries),
            bloom: options.bloom_key().map(bloom),
            // A ROWCOL filter holds the rows of family deletes itself.
            delete_family_bloom: (options.bloom != BloomType::RowCol).then(|| bloom(BloomKey::Row)),
            statistics: Statistics::new(),
            info: FileInfo::default(),
            meta_blocks: BTreeMap::new(),
            first_key: Vec::new(),
            last_key: Vec::new(),
            last_key_of_block: Vec::new(),
            trailer: Trailer {
                total_uncompressed_bytes: TRAILER_SIZE as u64,
                comparator: options.comparator,
                compression: options.compression,
                ..Trailer::default()
            },
            data_blocks: 0,
            options,
        })
    }

    /// Appends a cell; its key must not be smaller than that of the previous cell.
    ///
    /// # Errors
    /// `Io` if the cell is out of order or cannot be written, `Invalid` if it is too large or has
    /// tags that the file does not keep. After `Io` the writer is useless.
    #[inline]
    pub fn append(&mut self, cell: &CellRef<'_>) -> Result<()> {
        let repeats_key = self.check(cell)?;
        if let Some(bloom) = &mut self.bloom {
            bloom.add(cell);
        }
        if let Some(bloom) = &mut self.delete_family_bloom {
            bloom.add_if_family_delete(cell);
        }
        // A run of equal keys stays in one block, so that a search finds its first cell.
        if !repeats_key && self.encoder.is_full(self.options.block_size) {
            self.finish_data_block()?;
            self.write_inline_blocks(false)?;
        }
        if self.encoder.is_empty() {
            self.first_key.clear();
            self.first_key.extend_from_slice(cell.key());
        }
        self.encoder.append(cell);
        self.statistics.add(cell);
        self.last_key.clear();
        self.last_key.extend_from_slice(cell.key());
        Ok(())
    }

    /// Adds a pair to the file info; values that the writer determines itself take precedence.
    pub fn append_file_info(&mut self, key: &[u8], value: &[u8]) {
        self.info.insert(key, value);
    }

    /// Adds a meta block, which readers that do not know its name ignore.
    pub fn append_meta_block(&mut self, name: &[u8], content: Vec<u8>) {
        self.meta_blocks.insert(name.to_vec(), content);
    }

    /// Number of delete markers of all kinds so far.
    pub fn delete_markers(&self) -> u64 {
        self.statistics.delete_markers
    }

    /// Number of cells so far.
    pub fn cells(&self) -> u64 {
        self.statistics.cells
    }

    /// Bytes of the file so far, without the open block.
    pub fn position(&self) -> u64 {
        self.blocks.position()
    }

    /// Writes the rest and makes the file durable; the caller makes its name durable.
    ///
    /// # Errors
    /// `Io`: the file is useless.
    pub fn finish(mut self, store_file: &StoreFileInfo) -> Result<HFileSummary> {
        self.finish_data_block()?;
        self.write_inline_blocks(true)?;
        let meta_index = self.write_meta_blocks()?;
        let index =
            std::mem::replace(&mut self.index, IndexWriter::new(0, 0)).finish(&mut self.blocks)?;
        assert!(self.encoder.is_empty(), "every cell is in a block");
        assert!(
            self.trailer.first_data_block_offset <= self.trailer.last_data_block_offset,
            "the first data block comes first"
        );
        self.note_index(&index);
        self.write(BlockType::RootIndex, &meta_index)?;
        self.describe(store_file);
        let info = self.info.encode();
        self.trailer.file_info_offset = self.write(BlockType::FileInfo, &info)?.offset;
        let filters = [
            (BlockType::GeneralBloomMeta, self.bloom.take()),
            (BlockType::DeleteFamilyBloomMeta, self.delete_family_bloom.take()),
        ];
        for (block_type, filter) in filters {
            if let Some(filter) = filter.filter(|filter| !filter.is_empty()) {
                self.write(block_type, &filter.encode_meta())?;
            }
        }
        let length = self.blocks.finish(&self.trailer.encode())?;
        Ok(HFileSummary {
            length,
            cells: self.statistics.cells,
            data_blocks: self.data_blocks,
            time_range: self.statistics.time_range(),
        })
    }

    /// Checks order and size; returns whether the key equals that of the previous cell.
    #[inline]
    fn check(&self, cell: &CellRef<'_>) -> Result<bool> {
        let tags = cell.tags().len();
        if cell.key().len() + cell.value().len() > CELL_SIZE_MAX || tags > u16::MAX as usize {
            return Err(Error::illegal_argument(format!("cell is too large: {cell}")));
        }
        if tags > 0 {
            self.check_tags(cell)?;
        }
        if self.statistics.cells == 0 {
            return Ok(false);
        }
        // Encodings write the family once per block.
        if self.options.encoding != DataBlockEncoding::None
            && cell.family() != key::family(&self.last_key)
        {
            return Err(Error::illegal_argument(format!("file is of another family: {cell}")));
        }
        let order = self.options.comparator.compare_keys(&self.last_key, cell.key());
        if order.is_gt() {
            return Err(self.out_of_order(cell));
        }
        Ok(order.is_eq())
    }

    fn check_tags(&self, cell: &CellRef<'_>) -> Result<()> {
        if !self.options.include_tags {
            return Err(Error::illegal_argument(format!("file keeps no tags: {cell}")));
        }
        let size: usize =
            TagIter::new(cell.tags()).map(|tag| TAG_FIXED_SIZE + tag.value.len()).sum();
        if size != cell.tags().len() {
            return Err(Error::illegal_argument(format!("malformed tags: {cell}")));
        }
        Ok(())
    }

    #[cold]
    fn out_of_order(&self, cell: &CellRef<'_>) -> Error {
        let last = CellRef::new(&self.last_key, b"", b"", 0);
        Error::invalid_argument(
            Exception::Io,
            format!(
                "Added a key not lexically larger than previous. Current cell = {cell}, \
                 prevCell = {last}"
            ),
        )
    }

    /// Writes a block and counts it in the file's uncompressed size.
    fn write(&mut self, block_type: BlockType, payload: &[u8]) -> Result<BlockPosition> {
        self.count_uncompressed(1, payload.len() as u64);
        self.blocks.write(block_type, payload)
    }

    fn count_uncompressed(&mut self, blocks: u64, payload_bytes: u64) {
        self.trailer.total_uncompressed_bytes += blocks * HEADER_SIZE as u64 + payload_bytes;
    }

    fn finish_data_block(&mut self) -> Result<()> {
        if self.encoder.is_empty() {
            return Ok(());
        }
        let block_type = match self.options.encoding {
            DataBlockEncoding::None => BlockType::Data,
            _ => BlockType::EncodedData,
        };
        // A long run of equal keys, which stay in one block, can make it this large.
        let cells_size = self.encoder.unencoded_size();
        if cells_size > PAYLOAD_SIZE_MAX {
            let message = format!("cells of {cells_size} bytes cannot be one block");
            return Err(Error::illegal_argument(message));
        }
        self.statistics.end_block(key::row(&self.first_key), key::row(&self.last_key));
        let payload = self.encoder.finish();
        let payload_size = payload.len() as u64;
        let block = self.blocks.write(block_type, payload)?;
        self.encoder.clear();
        self.count_uncompressed(1, payload_size);
        let key = if self.data_blocks == 0 {
            self.trailer.first_data_block_offset = block.offset as i64;
            self.first_key.clone()
        } else {
            let (left, right) = (&self.last_key_of_block, &self.first_key);
            let key = index_key(self.options.comparator, left, right);
            let compare = |left: &[u8], right| self.options.comparator.compare_keys(left, right);
            assert!(compare(left, &key).is_lt(), "an index key is after the previous block");
            assert!(
                compare(&key, right).is_le(),
                "an index key is not after its block's first key"
            );
            key
        };
        self.trailer.last_data_block_offset = block.offset as i64;
        self.index.push(key, block);
        self.last_key_of_block.clone_from(&self.last_key);
        self.data_blocks += 1;
        assert!(self.data_blocks <= self.statistics.cells, "a data block has a cell");
        Ok(())
    }

    /// Writes the leaf and the Bloom chunks that are due between data blocks.
    fn write_inline_blocks(&mut self, closing: bool) -> Result<()> {
        if let Some(size) = self.index.write_leaf_if_due(&mut self.blocks, closing)? {
            self.count_uncompressed(1, size as u64);
        }
        for filter in [&mut self.bloom, &mut self.delete_family_bloom].into_iter().flatten() {
            let (blocks, bytes) = filter.write_chunks(&mut self.blocks, closing)?;
            self.trailer.total_uncompressed_bytes += blocks * HEADER_SIZE as u64 + bytes;
        }
        Ok(())
    }

    /// Writes the meta blocks; returns the payload of their index.
    fn write_meta_blocks(&mut self) -> Result<Vec<u8>> {
        let mut index = Vec::new();
        for (name, content) in std::mem::take(&mut self.meta_blocks) {
            let block = self.write(BlockType::Meta, &content)?;
            write_root_entry(&mut index, &name, block);
            self.trailer.meta_index_count += 1;
        }
        Ok(index)
    }

    fn note_index(&mut self, index: &FinishedIndex) {
        self.trailer.load_on_open_data_offset = index.root.offset;
        self.trailer.data_index_count = index.root_entries;
        self.trailer.num_data_index_levels = index.levels;
        self.trailer.uncompressed_data_index_size = index.uncompressed_size;
        self.trailer.entry_count = self.statistics.cells;
    }

    /// Fills the file info.
    fn describe(&mut self, store_file: &StoreFileInfo) {
        let (options, info) = (&self.options, &mut self.info);
        self.statistics.describe(info, options.include_tags, options.include_mvcc);
        if self.statistics.cells > 0 {
            info.insert(file_info::LAST_KEY, self.last_key.as_slice());
        }
        info.insert(file_info::CREATE_TIME, options.create_time.to_be_bytes());
        if options.include_tags {
            let compressed = file_info::bool_value(options.tags_compressed());
            info.insert(file_info::TAGS_COMPRESSED, compressed);
        }
        if options.encoding != DataBlockEncoding::None {
            info.insert(file_info::DATA_BLOCK_ENCODING, options.encoding.name());
        }
        if let Some(bloom) = self.bloom.as_ref().filter(|bloom| !bloom.is_empty()) {
            info.insert(file_info::BLOOM_FILTER_TYPE, options.bloom.name());
            info.insert(file_info::LAST_BLOOM_KEY, bloom.last_key());
            if options.bloom == BloomType::RowPrefixFixedLength {
                let length = options.bloom_prefix_length.to_be_bytes();
                info.insert(file_info::BLOOM_FILTER_PARAM, length);
            }
        }
        let major = file_info::bool_value(store_file.major_compaction);
        info.insert(file_info::MAJOR_COMPACTION, major);
        info.insert(file_info::HISTORICAL, file_info::bool_value(false));
        if let Some(sequence_id) = store_file.max_sequence_id {
            let event = file_info::compaction_event(&store_file.compacted_files);
            info.insert(file_info::MAX_SEQUENCE_ID, sequence_id.to_be_bytes());
            info.insert(file_info::COMPACTION_EVENT, event);
        }
    }
}
