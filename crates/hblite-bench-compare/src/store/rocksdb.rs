//! RocksDB 11.8 through the crate rocksdb 0.25.
//!
//! Bloom filters on whole keys and on columns (a prefix extractor drops the version); a get seeks
//! the column within its prefix. Level compaction with dynamic levels, four write buffers, two
//! background jobs, format 6.

use std::ffi::CStr;
use std::path::Path;

use rocksdb::compaction_filter::{CompactionFilter, Decision};
use rocksdb::compaction_filter_factory::{CompactionFilterContext, CompactionFilterFactory};
use rocksdb::{
    BlockBasedOptions, BottommostLevelCompaction, Cache, CompactOptions, DB, DBCompressionType,
    DBRawIterator, FlushOptions, Options, ReadOptions, SliceTransform, WaitForCompactOptions,
    WriteBatch, WriteOptions,
};

use super::{
    BLOCK_SIZE_BYTES, Direction, Durability, Engine, Opening, Part, Result, Span, Store, Version,
};
use crate::cells::{Qualifier, SampleCell, Tally};
use crate::codec::{self, Reader, Sweep, VERSION_SIZE};
use crate::rows::Row;

const BLOOM_BITS_PER_KEY: f64 = 10.0;
const MEMTABLE_BLOOM_RATIO: f64 = 0.1;
const WRITE_BUFFERS_MAX: i32 = 4;
const BACKGROUND_JOBS: i32 = 2;
const FORMAT_VERSION: i32 = 6;

/// RocksDB with or without LZ4.
pub(super) struct RocksDb {
    /// Whether blocks are compressed by LZ4.
    pub(super) is_compressed: bool,
}

impl Engine for RocksDb {
    fn name(&self) -> &'static str {
        if self.is_compressed { "rocksdb-lz4" } else { "rocksdb" }
    }

    fn open(&self, dir: &Path, opening: Opening) -> Result<Box<dyn Store>> {
        let db = DB::open(&options(self.is_compressed, opening), dir)?;
        let mut write = WriteOptions::default();
        write.set_sync(opening.durability == Durability::Machine);
        Ok(Box::new(OpenRocksDb { db, write }))
    }
}

fn options(is_compressed: bool, opening: Opening) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_size(BLOCK_SIZE_BYTES);
    table.set_bloom_filter(BLOOM_BITS_PER_KEY, false);
    table.set_whole_key_filtering(true);
    table.set_block_cache(&Cache::new_hyper_clock_cache(opening.cache_bytes, 0));
    table.set_format_version(FORMAT_VERSION);

    let compression = if is_compressed { DBCompressionType::Lz4 } else { DBCompressionType::None };
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&table);
    options.set_compression_type(compression);
    options.set_prefix_extractor(SliceTransform::create("column", column_of, Some(has_column)));
    options.set_memtable_prefix_bloom_ratio(MEMTABLE_BLOOM_RATIO);
    options.set_write_buffer_size(opening.write_buffer_bytes());
    options.set_max_write_buffer_number(WRITE_BUFFERS_MAX);
    options.set_level_compaction_dynamic_level_bytes(true);
    options.set_max_background_jobs(BACKGROUND_JOBS);
    if opening.drops_markers {
        options.set_compaction_filter_factory(Sweeps);
    }
    options
}

fn column_of(key: &[u8]) -> &[u8] {
    &key[..key.len() - VERSION_SIZE]
}

fn has_column(key: &[u8]) -> bool {
    key.len() >= VERSION_SIZE
}

/// The highest version there can be: within the prefix domain, before every real one.
const HIGHEST_VERSION: [u8; VERSION_SIZE] = [0; VERSION_SIZE];

struct OpenRocksDb {
    db: DB,
    write: WriteOptions,
}

impl Store for OpenRocksDb {
    fn put(&self, cells: &[SampleCell]) -> Result<()> {
        let mut key = codec::key_buffer();
        if let [cell] = cells {
            codec::encode(&mut key, cell);
            return Ok(self.db.put_opt(&key, cell.value(), &self.write)?);
        }
        let mut batch = WriteBatch::default();
        for cell in cells {
            codec::encode(&mut key, cell);
            batch.put(&key, cell.value());
        }
        Ok(self.db.write_opt(batch, &self.write)?)
    }

    fn get(&self, row: &Row, qualifier: &Qualifier, tally: &mut Tally) -> Result<()> {
        let mut column = codec::key_buffer();
        codec::encode_column(&mut column, row, qualifier);
        let mut sought = column.clone();
        sought.extend_from_slice(&HIGHEST_VERSION);
        let mut read = ReadOptions::default();
        read.set_prefix_same_as_start(true);
        let mut iterator = self.db.raw_iterator_opt(read);
        iterator.seek(&sought);
        if let Some((key, value)) = iterator.item() {
            codec::emit_if_in(tally, &column, key, value)?;
        }
        Ok(iterator.status()?)
    }

    fn get_version(&self, version: Version<'_>, tally: &mut Tally) -> Result<()> {
        version.emit(tally, self.db.get_pinned(version.key())?.as_deref());
        Ok(())
    }

    fn read(&self, span: Span<'_>, tally: &mut Tally) -> Result<()> {
        let bounds = span.bounds();
        let mut read = ReadOptions::default();
        match span.part {
            Part::Column(..) => read.set_prefix_same_as_start(true),
            Part::All | Part::From(_) | Part::Row(_) => read.set_total_order_seek(true),
        }
        let (lower, upper) = (bounds.lower, bounds.upper);
        let mut iterator = match span.direction {
            Direction::Forward => {
                if let Some(upper) = upper {
                    read.set_iterate_upper_bound(upper);
                }
                let mut iterator = self.db.raw_iterator_opt(read);
                seek(&mut iterator, span.part, lower);
                iterator
            }
            Direction::Reverse => {
                let mut iterator = self.db.raw_iterator_opt(read);
                match upper {
                    Some(upper) => iterator.seek_for_prev(upper),
                    None => iterator.seek_to_last(),
                }
                iterator
            }
        };
        let mut reader = Reader::new(span, tally);
        while let Some((key, value)) = iterator.item() {
            if !reader.push(key, value)? {
                break;
            }
            match span.direction {
                Direction::Forward => iterator.next(),
                Direction::Reverse => iterator.prev(),
            }
        }
        reader.finish()?;
        Ok(iterator.status()?)
    }

    fn secure(&self) -> Result<()> {
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        let mut flush = FlushOptions::default();
        flush.set_wait(true);
        self.db.flush_opt(&flush)?;
        Ok(self.db.wait_for_compact(&WaitForCompactOptions::default())?)
    }

    fn settle(&self) -> Result<()> {
        self.flush()?;
        let mut compact = CompactOptions::default();
        compact.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
        self.db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &compact);
        Ok(self.db.wait_for_compact(&WaitForCompactOptions::default())?)
    }

    fn drop_markers(&self) -> Result<()> {
        self.settle()
    }
}

fn seek(iterator: &mut DBRawIterator<'_>, part: Part<'_>, lower: Option<Vec<u8>>) {
    let Some(mut sought) = lower else {
        return iterator.seek_to_first();
    };
    if let Part::Column(..) = part {
        sought.extend_from_slice(&HIGHEST_VERSION);
    }
    iterator.seek(sought);
}

/// Makes the filter of each compaction.
struct Sweeps;

impl CompactionFilterFactory for Sweeps {
    type Filter = SweepFilter;

    fn create(&mut self, context: CompactionFilterContext) -> SweepFilter {
        SweepFilter { sweep: Sweep::default(), is_full: context.is_full_compaction }
    }

    fn name(&self) -> &CStr {
        c"sweep"
    }
}

/// Drops delete markers and what they hide, where nothing older can be left.
struct SweepFilter {
    sweep: Sweep,
    is_full: bool,
}

impl CompactionFilter for SweepFilter {
    fn filter(&mut self, _: u32, key: &[u8], _: &[u8]) -> Decision {
        match self.is_full && self.sweep.drops(key) {
            true => Decision::Remove,
            false => Decision::Keep,
        }
    }

    fn name(&self) -> &CStr {
        c"sweep"
    }
}
