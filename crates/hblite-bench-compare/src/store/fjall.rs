//! fjall 3.1: one keyspace, journal handed to the operating system with every write.
//!
//! A get is a range that starts at the column and ends after its first entry.

use std::ops::Bound;
use std::path::Path;
use std::thread;
use std::time::Duration;

use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{CompressionType, Database, Guard, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{
    BLOCK_SIZE_BYTES, CACHE_SIZE_BYTES, Direction, Durability, Engine, Opening, Result, Span, Store,
};
use crate::cells::{Row, SampleCell, Tally};
use crate::codec::{self, NewestVersions};

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
        let db = Database::builder(dir)
            .cache_size(CACHE_SIZE_BYTES as u64)
            .worker_threads(WORKERS)
            .max_journaling_size(JOURNAL_MAX_BYTES)
            .open()?;
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
            codec::encode_put(&mut key, &cell.row, cell.timestamp);
            self.cells.insert(key.as_slice(), cell.value.as_slice())?;
        } else {
            let mut batch = self.db.batch();
            for cell in cells {
                codec::encode_put(&mut key, &cell.row, cell.timestamp);
                batch.insert(&self.cells, key.as_slice(), cell.value.as_slice());
            }
            batch.commit()?;
        }
        match self.durability {
            Durability::Process => Ok(()),
            Durability::Machine => Ok(self.db.persist(PersistMode::SyncData)?),
        }
    }

    fn get(&self, row: &Row, tally: &mut Tally) -> Result<()> {
        let (mut column, mut end) = (codec::key_buffer(), codec::key_buffer());
        codec::encode_column(&mut column, row);
        codec::encode_row_end(&mut end, row);
        if let Some(entry) = self.cells.range(column.as_slice()..end.as_slice()).next() {
            let (key, value) = entry.into_inner()?;
            codec::emit_if_in(tally, &column, &key, &value)?;
        }
        Ok(())
    }

    fn scan(&self, span: Span<'_>, tally: &mut Tally) -> Result<()> {
        let mut bound = codec::key_buffer();
        match (span.start, span.direction) {
            (None, Direction::Forward) => read(self.cells.iter(), span, tally),
            (None, Direction::Reverse) => read(self.cells.iter().rev(), span, tally),
            (Some(row), Direction::Forward) => {
                codec::encode_row_start(&mut bound, row);
                read(self.cells.range(bound.as_slice()..), span, tally)
            }
            (Some(row), Direction::Reverse) => {
                codec::encode_row_end(&mut bound, row);
                let range = (Bound::Unbounded, Bound::Excluded(bound.as_slice()));
                read(self.cells.range::<&[u8], _>(range).rev(), span, tally)
            }
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
}

fn read(entries: impl Iterator<Item = Guard>, span: Span<'_>, tally: &mut Tally) -> Result<()> {
    let mut filter = NewestVersions::new(tally, span.direction, span.rows);
    for entry in entries {
        let (key, value) = entry.into_inner()?;
        if !filter.push(&key, &value)? {
            break;
        }
    }
    filter.finish()
}
