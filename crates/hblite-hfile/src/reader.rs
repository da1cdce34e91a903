//! Opens an HFile and provides what needs no position in it.
//!
//! Opening reads trailer, root index, file info and Bloom metas: no data block, no leaf of the
//! index, no Bloom chunk. Each of these is read, and its checksums verified, when it is first
//! needed.
//!
//! ```text
//! open         blocks are copied out of the file and verified on every read; plain and decoded
//!              blocks go into the block cache
//! open_mapped  plain blocks are used in place and verified once; decoded ones go into the cache
//! ```
//!
//! Invariants: the file must not change while a reader is open; removing its name is fine. An open
//! file keeps a descriptor, a mapped file does not. For the effect of changes by other processes,
//! see `block/file.rs`. Threads: shared by `Arc`; every scan has its own [`crate::HFileScanner`].

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hblite_env::FileSystem;
use hblite_model::{BloomType, CellComparator, Compression, DataBlockEncoding, Error, Result};

use crate::block::{BlockFile, BlockHeader, BlockType, Payload, Source};
use crate::bloom::BloomReader;
use crate::cache::{BlockCache, BlockKey, OffsetsBudget};
use crate::data_block::{BlockUse, DataBlock};
use crate::encoding::cells::CellLayout;
use crate::encoding::{self, PlainCells};
use crate::error::{Damage, copied};
use crate::file_info::{self, FileInfo};
use crate::index::{DataBlockPosition, DataIndex};
use crate::input::Input;
use crate::open::{self, Opened};
use crate::sparse_marks::SparseMarks;
use crate::trailer::Trailer;

/// Memory for cell offsets of a reader without a shared cache.
const OFFSETS_LIMIT_ALONE: usize = 64 << 20;

/// An open HFile.
#[derive(Debug)]
pub struct HFileReader {
    file: BlockFile,
    length: u64,
    opened: Opened,
    /// What this reader has taken from the budget for cell offsets.
    offsets_taken: AtomicUsize,
    offsets_alone: OffsetsBudget,
    cache: Option<Cached>,
}

/// One of the ways in which a [`BlockFile`] reads a block.
type ReadBlock = fn(&BlockFile, u64, &[BlockType], Option<u32>) -> Result<(BlockHeader, Payload)>;

/// The shared cache and this reader's number in it.
#[derive(Debug)]
struct Cached {
    cache: Arc<BlockCache>,
    file: u64,
    /// Whether its blocks stay longer than others.
    is_preferred: bool,
}

impl HFileReader {
    /// Opens the finished file at `path`. Blocks that are read go into `cache` if there is one.
    ///
    /// # Errors
    /// `Io` if the file cannot be read, `Corrupt` if it is damaged or not an HFile, `Unsupported`
    /// if it is encrypted, has a codec or comparator that hblite lacks, or is of version 1 or 2.
    pub fn open(fs: &dyn FileSystem, path: &Path, cache: Option<Arc<BlockCache>>) -> Result<Self> {
        Self::open_copy(fs, path, path, cache)
    }

    /// Like [`Self::open`] for the file at `path`, but errors call it `name`: for a hard link to,
    /// or a copy of, a file with a better known name.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_copy(
        fs: &dyn FileSystem,
        path: &Path,
        name: &Path,
        cache: Option<Arc<BlockCache>>,
    ) -> Result<Self> {
        let opened = fs.open_finished(path).and_then(|file| Ok((file.length()?, file)));
        let (length, file) = opened.map_err(|error| Error::io("opening", name, error))?;
        Self::open_source(Source::Read(file), length, name, cache)
    }

    /// As [`Self::open`], but plain blocks are used in place, in the mapped file: faster, and only
    /// for files that no other process writes to or truncates. Accessing a page that was cut off
    /// kills the process.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_mapped(
        fs: &dyn FileSystem,
        path: &Path,
        cache: Option<Arc<BlockCache>>,
    ) -> Result<Self> {
        let bytes = fs
            .open(path)
            .and_then(|file| file.map())
            .map_err(|error| Error::io("opening", path, error))?;
        let length = bytes.len() as u64;
        Self::open_source(Source::Mapped(bytes), length, path, cache)
    }

    fn open_source(
        source: Source,
        length: u64,
        path: &Path,
        cache: Option<Arc<BlockCache>>,
    ) -> Result<Self> {
        let (file, opened) = open::open(source, length, path)?;
        let cache =
            cache.map(|cache| Cached { file: cache.register_file(), cache, is_preferred: false });
        Ok(Self {
            file,
            length,
            opened,
            offsets_taken: AtomicUsize::new(0),
            offsets_alone: OffsetsBudget::new(OFFSETS_LIMIT_ALONE),
            cache,
        })
    }

    /// The same, but its blocks are evicted from the cache only if such blocks take more than a
    /// quarter of it (HBase's IN_MEMORY).
    #[must_use]
    pub fn preferred(mut self) -> Self {
        if let Some(cached) = &mut self.cache {
            cached.is_preferred = true;
        }
        self
    }

    /// Reads data blocks from the first on, while there is memory for them, so that later reads
    /// find them in memory: decoded in the cache, or verified, with the positions of their cells
    /// known.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn fill_cache(&self) -> Result<()> {
        let Some(index) = &self.opened.index else { return Ok(()) };
        let is_in_place = self.uses_cells_in_place();
        let mut position = Some(index.first());
        while let Some(block) = position {
            let is_full = match &self.cache {
                _ if is_in_place => self.offsets_budget().is_used_up(),
                Some(cached) => cached.cache.is_full(),
                None => true,
            };
            if is_full {
                break;
            }
            self.data_block(index, block, BlockUse::Keep)?;
            position = index.next(&self.file, block)?;
        }
        Ok(())
    }

    /// The path of the file when it was opened.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// CRC-32 of the file from its load-on-open section to its end: root index, file info, Bloom
    /// metas and trailer. It differs between files with different cells, origins or times.
    ///
    /// # Errors
    /// `Io`, `Corrupt` if the file was truncated.
    pub fn tail_checksum(&self) -> Result<u32> {
        self.file.checksum(self.opened.trailer.load_on_open_data_offset, self.length)
    }

    /// Number of cells.
    pub fn entries(&self) -> u64 {
        self.opened.trailer.entry_count
    }

    /// The numbers of the trailer.
    pub fn trailer(&self) -> &Trailer {
        &self.opened.trailer
    }

    /// The order of the cells.
    #[inline]
    pub fn comparator(&self) -> CellComparator {
        self.opened.trailer.comparator
    }

    /// The codec of all blocks.
    pub fn compression(&self) -> Compression {
        self.opened.trailer.compression
    }

    /// How cells are packed.
    pub fn encoding(&self) -> DataBlockEncoding {
        self.opened.encoding
    }

    /// Whether cells have a tags part, and whether they have sequence ids.
    pub fn has_tags_and_mvcc(&self) -> (bool, bool) {
        (self.opened.layout.has_tags, self.opened.layout.has_mvcc)
    }

    /// The whole file info.
    pub fn file_info_map(&self) -> &FileInfo {
        &self.opened.info
    }

    /// One value of the file info; its keys are in [`crate::file_info`].
    pub fn file_info(&self, key: &[u8]) -> Option<&[u8]> {
        self.opened.info.get(key)
    }

    /// Flat key of the first cell, `None` in an empty file.
    pub fn first_key(&self) -> Option<&[u8]> {
        self.opened.index.as_ref().map(DataIndex::first_key)
    }

    /// Flat key of the last cell, `None` in an empty file.
    pub fn last_key(&self) -> Option<&[u8]> {
        self.opened.index.as_ref().and(self.opened.last_key.as_deref())
    }

    /// Index key of the block in the middle, where HBase splits; `None` in an empty file.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn mid_key(&self) -> Result<Option<Vec<u8>>> {
        let index = self.opened.index.as_ref();
        index.map(|index| index.mid_key(&self.file).map(<[u8]>::to_vec)).transpose()
    }

    /// Largest log sequence id of its cells, if recorded.
    pub fn max_sequence_id(&self) -> Option<u64> {
        self.opened.max_sequence_id
    }

    /// Largest sequence id that a cell carries.
    pub fn max_cell_sequence_id(&self) -> u64 {
        self.opened.max_cell_sequence_id
    }

    /// Smallest and largest timestamp; everything if the file does not say. `(i64::MAX, -1)` if it
    /// has no cells.
    pub fn time_range(&self) -> (i64, i64) {
        self.opened.time_range
    }

    /// Smallest timestamp of a put, `i64::MAX` if there is none or the file does not say.
    pub fn earliest_put(&self) -> i64 {
        self.opened.earliest_put
    }

    /// When it was begun, in milliseconds since 1970-01-01 UTC, if recorded.
    pub fn create_time(&self) -> Option<i64> {
        let bytes = self.opened.info.get(file_info::CREATE_TIME)?;
        bytes.try_into().ok().map(i64::from_be_bytes)
    }

    /// Number of DeleteFamily and DeleteFamilyVersion cells, if recorded.
    pub fn delete_family_count(&self) -> Option<u64> {
        self.opened.delete_family_count
    }

    /// The content of a meta block.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn meta_block(&self, name: &[u8]) -> Result<Option<Vec<u8>>> {
        for entry in self.meta_index() {
            let (found, offset, size) = entry?;
            if found == name {
                let (_, payload) = self.file.read(offset, &[BlockType::Meta], Some(size))?;
                let content = copied(&payload);
                return content.map(Some).map_err(|damage| self.file.corrupt(offset, &damage));
            }
        }
        Ok(None)
    }

    /// Name, offset and on-disk size of each meta block.
    pub(crate) fn meta_index(&self) -> impl Iterator<Item = Result<(&[u8], u64, u32)>> {
        let (offset, index) = &self.opened.meta_index;
        let mut input = Input::new(index);
        let mut entry = move || {
            let (block_offset, size) = (input.offset()?, input.length()? as u32);
            Ok((input.byte_array()?, block_offset, size))
        };
        (0..self.opened.trailer.meta_index_count)
            .map(move |_| entry().map_err(|damage: Damage| self.file.corrupt(*offset, &damage)))
    }

    /// CRC-32C of the trailer as it was when the file was opened.
    pub(crate) fn trailer_checksum(&self) -> u32 {
        self.opened.trailer_checksum
    }

    /// What was read when the file was opened.
    #[inline]
    pub(crate) fn opened(&self) -> &Opened {
        &self.opened
    }

    #[inline]
    pub(crate) fn file(&self) -> &BlockFile {
        &self.file
    }

    /// The general Bloom filter and that of family deletes, if present.
    pub(crate) fn filters(&self) -> (Option<&BloomReader>, Option<&BloomReader>) {
        (self.opened.bloom.as_ref(), self.opened.delete_family_bloom.as_ref())
    }

    /// What the file info says about the general Bloom filter, whether there is one or not.
    pub(crate) fn described_bloom_type(&self) -> BloomType {
        self.opened.bloom_type
    }

    #[inline]
    pub(crate) fn layout(&self) -> CellLayout {
        self.opened.layout
    }

    #[inline]
    pub(crate) fn index(&self) -> Option<&DataIndex> {
        self.opened.index.as_ref()
    }

    /// Whether cells are used where they are in the mapped file.
    #[inline]
    fn uses_cells_in_place(&self) -> bool {
        self.file.is_mapped()
            && self.compression() == Compression::None
            && encoding::is_in_place(self.encoding())
    }

    /// A data block. What is learned about it, and the block itself if it is decoded or copied,
    /// stays in memory if `block_use` says so.
    #[inline]
    pub(crate) fn data_block(
        &self,
        index: &DataIndex,
        position: DataBlockPosition,
        block_use: BlockUse,
    ) -> Result<Arc<DataBlock>> {
        let (offset, size, state) = index.block(&self.file, position)?;
        if block_use == BlockUse::Verify {
            return self.read_data_block(offset, size, BlockFile::read_copy);
        }
        if let Some(block) = state.known.get() {
            return Ok(block.clone());
        }
        let read: ReadBlock = if state.is_verified() { BlockFile::reread } else { BlockFile::read };
        if self.uses_cells_in_place() {
            let block = self.read_data_block(offset, size, read)?;
            state.set_verified();
            if block_use == BlockUse::Pass {
                return Ok(block);
            }
            if self.take_offsets(block.offsets_size()) {
                // A concurrent reader produces the same bytes; they count twice until this reader
                // is closed.
                return Ok(state.known.get_or_init(|| block).clone());
            }
            if state.sparse.get().is_none() && self.comparator() == CellComparator::Default {
                let marks = SparseMarks::of(block.all(), block.range());
                let marks = marks.map_err(|damage| self.file.corrupt(offset, &damage))?;
                state.sparse.get_or_init(|| Box::new(marks));
            }
            return Ok(block);
        }
        let key = self.cache.as_ref().map(|cached| BlockKey { file: cached.file, offset });
        if let (Some(cached), Some(key)) = (&self.cache, key)
            && let Some(block) = cached.cache.get(key)
        {
            return Ok(block);
        }
        let block = self.read_data_block(offset, size, read)?;
        state.set_verified();
        if let (Some(cached), Some(key), BlockUse::Keep) = (&self.cache, key, block_use) {
            cached.cache.insert(key, block.clone(), cached.is_preferred);
        }
        Ok(block)
    }

    fn offsets_budget(&self) -> &OffsetsBudget {
        self.cache.as_ref().map_or(&self.offsets_alone, |cached| cached.cache.offsets())
    }

    fn take_offsets(&self, size: usize) -> bool {
        let taken = self.offsets_budget().take(size);
        if taken {
            self.offsets_taken.fetch_add(size, Ordering::Relaxed);
        }
        taken
    }

    /// Reads, decompresses, decodes and checks a data block.
    fn read_data_block(&self, offset: u64, size: u32, read: ReadBlock) -> Result<Arc<DataBlock>> {
        let (encoding, layout) = (self.encoding(), self.opened.layout);
        let expected = encoding::block_type(encoding);
        let (_, payload) = read(&self.file, offset, &[expected], Some(size))?;
        let parse = || {
            let tags_compressed = self.opened.tags_compressed;
            let cells = match encoding::decode(encoding, layout, tags_compressed, &payload)? {
                PlainCells::InPlace(range) => payload.slice(range),
                PlainCells::Decoded(cells) => Payload::owned(cells),
            };
            DataBlock::new(cells, layout, self.comparator()).map(Arc::new)
        };
        parse().map_err(|damage: Damage| self.file.corrupt(offset, &damage))
    }
}

/// The block cache.
impl HFileReader {
    /// Removes the blocks of this file from the cache. Returns how many there were.
    pub fn evict_blocks(&self) -> u64 {
        self.cache.as_ref().map_or(0, |cached| cached.cache.evict_file(cached.file))
    }
}

impl Drop for HFileReader {
    fn drop(&mut self) {
        self.offsets_budget().give_back(self.offsets_taken.load(Ordering::Relaxed));
        if let Some(cached) = &self.cache
            && !self.uses_cells_in_place()
        {
            cached.cache.evict_file(cached.file);
        }
    }
}

#[cfg(test)]
mod tests {
    use hblite_env::MemFileSystem;
    use hblite_model::{Cell, CellType};

    use super::*;
    use crate::{HFileScanner, HFileWriter, HFileWriterOptions, StoreFileInfo};

    fn file_of_one_cell(fs: &MemFileSystem, path: &Path, options: HFileWriterOptions) {
        let mut writer = HFileWriter::create(fs, path, options).unwrap();
        writer.append(&Cell::new(b"r", b"f", b"q", 1, CellType::Put, b"v").as_ref()).unwrap();
        writer.finish(&StoreFileInfo::default()).unwrap();
    }

    #[test]
    fn a_scanner_takes_memory_for_offsets_only_if_it_keeps_indexes() {
        let (fs, path) = (MemFileSystem::new(), Path::new("f"));
        file_of_one_cell(&fs, path, HFileWriterOptions::default());
        let opened = || {
            let cache = Arc::new(BlockCache::new(1 << 20));
            Arc::new(HFileReader::open_mapped(&fs, path, Some(cache)).unwrap())
        };
        let taken = |reader: &HFileReader| reader.offsets_taken.load(Ordering::Relaxed);
        let reader = opened();
        let mut scanner = HFileScanner::new(reader.clone()).with_block_use(BlockUse::Pass);
        assert!(scanner.seek_first().unwrap());
        assert_eq!(taken(&reader), 0);
        assert!(
            HFileScanner::new(reader.clone())
                .with_block_use(BlockUse::KeepIndex)
                .seek_first()
                .unwrap()
        );
        assert!(taken(&reader) > 0);
        let reader = opened();
        assert!(HFileScanner::new(reader.clone()).seek_first().unwrap());
        assert!(taken(&reader) > 0);
    }

    #[test]
    fn a_decoded_block_is_cached_only_by_a_scanner_with_caching() {
        let (fs, path) = (MemFileSystem::new(), Path::new("f"));
        let encoding = hblite_model::DataBlockEncoding::FastDiff;
        file_of_one_cell(&fs, path, HFileWriterOptions { encoding, ..Default::default() });
        let cache = Arc::new(BlockCache::new(1 << 20));
        let reader =
            HFileReader::open_mapped(&fs, path, Some(cache.clone())).map(Arc::new).unwrap();
        for block_use in [BlockUse::Pass, BlockUse::KeepIndex] {
            let mut scanner = HFileScanner::new(reader.clone()).with_block_use(block_use);
            assert!(scanner.seek_first().unwrap());
            assert_eq!(cache.size_bytes(), 0);
        }
        assert!(HFileScanner::new(reader.clone()).seek_first().unwrap());
        assert!(cache.size_bytes() > 0);
    }
}
