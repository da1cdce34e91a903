//! fjall 3.1: one keyspace, journal handed to the operating system with every write.
//!
//! A get is a range that starts at the column and ends after its first entry.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fjall::compaction::filter::{
    CompactionFilter, CompactionFilterResult, Context, Factory, ItemAccessor, Verdict,
};
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{CompressionType, Database, Guard, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{
    BLOCK_SIZE_BYTES, Direction, Durability, Engine, Opening, Result, Span, Store, Version,
};
use crate::cells::{Qualifier, SampleCell, Tally};
use crate::codec::{self, Reader, Sweep};
use crate::rows::Row;

const WORKERS: usize = 2;
const JOURNAL_MAX_BYTES: u64 = 512 << 20;
const IDLE_CHECK: Duration = Duration::from_millis(10);

/// fjall with or without LZ4.
pub(super) struct Fjall {
    /// Whether blocks are compressed by LZ4.
    pub(super) is_compressed: bool,
}

impl Engine for Fjall {
    fn name(&self) -> &'static str {
        if self.is_compressed { "fjall-lz4" } else { "fjall" }
    }

    fn open(&self, dir: &Path, opening: Opening) -> Result<Box<dyn Store>> {
        let mut builder = Database::builder(dir)
            .cache_size(opening.cache_bytes as u64)
            .worker_threads(WORKERS)
            .max_journaling_size(JOURNAL_MAX_BYTES);
        if opening.drops_markers {
            let sweeps: Arc<dyn Factory> = Arc::new(Sweeps);
            builder =
                builder.with_compaction_filter_factories(Arc::new(move |_| Some(sweeps.clone())));
        }
        let db = builder.open()?;
        let compression =
            if self.is_compressed { CompressionType::Lz4 } else { CompressionType::None };
        let cells = db.keyspace("cells", || {
            KeyspaceCreateOptions::default()
                .data_block_size_policy(BlockSizePolicy::all(BLOCK_SIZE_BYTES as u32))
                .data_block_compression_policy(CompressionPolicy::all(compression))
                .max_memtable_size(opening.write_buffer_bytes() as u64)
        })?;
        Ok(Box::new(OpenFjall { cells, db, durability: opening.durability }))
    }
}

struct OpenFjall {
    cells: Keyspace,
    db: Database,
    durability: Durability,
}

impl OpenFjall {
    fn wait_until_idle(&self) {
        while self.db.outstanding_flushes() > 0
            || self.cells.sealed_memtable_count() > 0
            || self.db.active_compactions() > 0
        {
            thread::sleep(IDLE_CHECK);
        }
    }
}

impl Store for OpenFjall {
    fn put(&self, cells: &[SampleCell]) -> Result<()> {
        let mut key = codec::key_buffer();
        if let [cell] = cells {
            codec::encode(&mut key, cell);
            self.cells.insert(key.as_slice(), cell.value())?;
        } else {
            let mut batch = self.db.batch();
            for cell in cells {
                codec::encode(&mut key, cell);
                batch.insert(&self.cells, key.as_slice(), cell.value());
            }
            batch.commit()?;
        }
        match self.durability {
            Durability::Process => Ok(()),
            Durability::Machine => Ok(self.db.persist(PersistMode::SyncData)?),
        }
    }

    fn get(&self, row: &Row, qualifier: &Qualifier, tally: &mut Tally) -> Result<()> {
        let (mut column, mut end) = (codec::key_buffer(), codec::key_buffer());
        codec::encode_column(&mut column, row, qualifier);
        codec::encode_row_end(&mut end, row);
        if let Some(entry) = self.cells.range(column.as_slice()..end.as_slice()).next() {
            let (key, value) = entry.into_inner()?;
            codec::emit_if_in(tally, &column, &key, &value)?;
        }
        Ok(())
    }

    fn get_version(&self, version: Version<'_>, tally: &mut Tally) -> Result<()> {
        version.emit(tally, self.cells.get(version.key())?.as_deref());
        Ok(())
    }

    fn read(&self, span: Span<'_>, tally: &mut Tally) -> Result<()> {
        let bounds = span.bounds();
        let entries = self.cells.range::<&[u8], _>(bounds.as_range());
        match span.direction {
            Direction::Forward => pass(entries, span, tally),
            Direction::Reverse => pass(entries.rev(), span, tally),
        }
    }

    fn secure(&self) -> Result<()> {
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        self.cells.rotate_memtable_and_wait()?;
        self.wait_until_idle();
        Ok(())
    }

    fn settle(&self) -> Result<()> {
        self.flush()?;
        self.cells.major_compact()?;
        self.wait_until_idle();
        Ok(())
    }

    fn drop_markers(&self) -> Result<()> {
        self.settle()
    }
}

fn pass(entries: impl Iterator<Item = Guard>, span: Span<'_>, tally: &mut Tally) -> Result<()> {
    let mut reader = Reader::new(span, tally);
    for entry in entries {
        let (key, value) = entry.into_inner()?;
        if !reader.push(&key, &value)? {
            break;
        }
    }
    reader.finish()
}

/// Makes the filter of each compaction.
struct Sweeps;

impl Factory for Sweeps {
    fn name(&self) -> &str {
        "sweep"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        Box::new(SweepFilter(Sweep::default()))
    }
}

/// Drops delete markers and what they hide, where nothing older can be left.
struct SweepFilter(Sweep);

impl CompactionFilter for SweepFilter {
    fn filter_item(&mut self, item: ItemAccessor<'_>, context: &Context) -> CompactionFilterResult {
        let is_dropped = context.is_last_level && self.0.drops(item.key());
        Ok(if is_dropped { Verdict::Remove } else { Verdict::Keep })
    }
}
