//! LMDB through heed 0.22: one database in one memory map.
//!
//! LMDB has no log: puts that need not survive a machine crash use `NO_SYNC`. They survive the
//! process, but a machine crash may then corrupt the file.

use std::ops::Bound;
use std::path::Path;

use heed::types::Bytes;
use heed::{Env, EnvFlags, EnvOpenOptions, WithoutTls};

use super::{Direction, Durability, Engine, Opening, Result, Span, Store};
use crate::cells::{Row, SampleCell, Tally};
use crate::codec::{self, NewestVersions};

const MAP_SIZE_BYTES: usize = 40 << 30;

type Cells = heed::Database<Bytes, Bytes>;

/// LMDB.
pub(super) struct Lmdb;

impl Engine for Lmdb {
    fn name(&self) -> &'static str {
        "lmdb"
    }

    fn open(&self, dir: &Path, opening: Opening) -> Result<Box<dyn Store>> {
        std::fs::create_dir_all(dir)?;
        let mut flags = EnvFlags::NO_READ_AHEAD;
        if opening.durability == Durability::Process {
            flags |= EnvFlags::NO_SYNC;
        }
        let env = open_env(dir, flags)?;
        let read = env.read_txn()?;
        let existing = env.open_database(&read, None)?;
        drop(read);
        let cells = match existing {
            Some(cells) => cells,
            None => {
                let mut write = env.write_txn()?;
                let cells = env.create_database(&mut write, None)?;
                write.commit()?;
                cells
            }
        };
        Ok(Box::new(OpenLmdb { env, cells }))
    }
}

#[expect(unsafe_code, reason = "LMDB maps a file, and can be told not to sync it")]
fn open_env(dir: &Path, flags: EnvFlags) -> Result<Env<WithoutTls>> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(MAP_SIZE_BYTES);
    // SAFETY: NO_SYNC risks the file if the machine crashes, which is acceptable in a benchmark;
    // NO_READ_AHEAD only advises the kernel.
    unsafe { options.flags(flags) };
    // SAFETY: the directory belongs to this run alone, and nothing else changes the mapped file.
    Ok(unsafe { options.open(dir) }?)
}

struct OpenLmdb {
    env: Env<WithoutTls>,
    cells: Cells,
}

impl Store for OpenLmdb {
    fn put(&self, cells: &[SampleCell]) -> Result<()> {
        let mut transaction = self.env.write_txn()?;
        let mut key = codec::key_buffer();
        for cell in cells {
            codec::encode_put(&mut key, &cell.row, cell.timestamp);
            self.cells.put(&mut transaction, &key, &cell.value)?;
        }
        Ok(transaction.commit()?)
    }

    fn get(&self, row: &Row, tally: &mut Tally) -> Result<()> {
        let mut column = codec::key_buffer();
        codec::encode_column(&mut column, row);
        let transaction = self.env.read_txn()?;
        match self.cells.get_greater_than_or_equal_to(&transaction, &column)? {
            Some((key, value)) => codec::emit_if_in(tally, &column, key, value),
            None => Ok(()),
        }
    }

    fn scan(&self, span: Span<'_>, tally: &mut Tally) -> Result<()> {
        let transaction = self.env.read_txn()?;
        let mut bound = codec::key_buffer();
        match (span.start, span.direction) {
            (None, Direction::Forward) => read(self.cells.iter(&transaction)?, span, tally),
            (None, Direction::Reverse) => read(self.cells.rev_iter(&transaction)?, span, tally),
            (Some(row), Direction::Forward) => {
                codec::encode_row_start(&mut bound, row);
                let range = (Bound::Included(bound.as_slice()), Bound::Unbounded);
                read(self.cells.range(&transaction, &range)?, span, tally)
            }
            (Some(row), Direction::Reverse) => {
                codec::encode_row_end(&mut bound, row);
                let range = (Bound::Unbounded, Bound::Excluded(bound.as_slice()));
                read(self.cells.rev_range(&transaction, &range)?, span, tally)
            }
        }
    }

    fn secure(&self) -> Result<()> {
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        Ok(self.env.force_sync()?)
    }

    fn settle(&self) -> Result<()> {
        self.flush()
    }
}

fn read<'a>(
    entries: impl Iterator<Item = heed::Result<(&'a [u8], &'a [u8])>>,
    span: Span<'_>,
    tally: &mut Tally,
) -> Result<()> {
    let mut filter = NewestVersions::new(tally, span.direction, span.rows);
    for entry in entries {
        let (key, value) = entry?;
        if !filter.push(key, value)? {
            break;
        }
    }
    filter.finish()
}
