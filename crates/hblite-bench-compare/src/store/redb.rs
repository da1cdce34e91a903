//! redb 4.4: one table of byte keys in one file.
//!
//! redb has no log: a commit that need not survive a machine crash is `Durability::None`, which
//! does not survive the process either until a durable commit follows.

use std::path::Path;

use redb::{AccessGuard, Database, ReadableDatabase, StorageError, TableDefinition};

use super::{CACHE_SIZE_BYTES, Direction, Durability, Engine, Opening, Result, Span, Store};
use crate::cells::{Row, SampleCell, Tally};
use crate::codec::{self, NewestVersions};

const FILE_NAME: &str = "cells.redb";
const CELLS: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("cells");

/// redb.
pub(super) struct Redb;

impl Engine for Redb {
    fn name(&self) -> &'static str {
        "redb"
    }

    fn open(&self, dir: &Path, opening: Opening) -> Result<Box<dyn Store>> {
        std::fs::create_dir_all(dir)?;
        let path = dir.join(FILE_NAME);
        let is_new = !path.exists();
        let db = Database::builder().set_cache_size(CACHE_SIZE_BYTES).create(path)?;
        let durability = match opening.durability {
            Durability::Process => redb::Durability::None,
            Durability::Machine => redb::Durability::Immediate,
        };
        let store = OpenRedb { db, durability };
        if is_new {
            store.commit(redb::Durability::Immediate, &[])?;
        }
        Ok(Box::new(store))
    }
}

struct OpenRedb {
    db: Database,
    durability: redb::Durability,
}

impl OpenRedb {
    fn commit(&self, durability: redb::Durability, cells: &[SampleCell]) -> Result<()> {
        let mut transaction = self.db.begin_write()?;
        transaction.set_durability(durability)?;
        {
            let mut table = transaction.open_table(CELLS)?;
            let mut key = codec::key_buffer();
            for cell in cells {
                codec::encode_put(&mut key, &cell.row, cell.timestamp);
                table.insert(key.as_slice(), cell.value.as_slice())?;
            }
        }
        Ok(transaction.commit()?)
    }
}

impl Store for OpenRedb {
    fn put(&self, cells: &[SampleCell]) -> Result<()> {
        self.commit(self.durability, cells)
    }

    fn get(&self, row: &Row, tally: &mut Tally) -> Result<()> {
        let (mut column, mut end) = (codec::key_buffer(), codec::key_buffer());
        codec::encode_column(&mut column, row);
        codec::encode_row_end(&mut end, row);
        let table = self.db.begin_read()?.open_table(CELLS)?;
        if let Some(entry) = table.range(column.as_slice()..end.as_slice())?.next() {
            let (key, value) = entry?;
            codec::emit_if_in(tally, &column, key.value(), value.value())?;
        }
        Ok(())
    }

    fn scan(&self, span: Span<'_>, tally: &mut Tally) -> Result<()> {
        let table = self.db.begin_read()?.open_table(CELLS)?;
        let mut bound = codec::key_buffer();
        match (span.start, span.direction) {
            (None, Direction::Forward) => read(table.range::<&[u8]>(..)?, span, tally),
            (None, Direction::Reverse) => read(table.range::<&[u8]>(..)?.rev(), span, tally),
            (Some(row), Direction::Forward) => {
                codec::encode_row_start(&mut bound, row);
                read(table.range(bound.as_slice()..)?, span, tally)
            }
            (Some(row), Direction::Reverse) => {
                codec::encode_row_end(&mut bound, row);
                read(table.range(..bound.as_slice())?.rev(), span, tally)
            }
        }
    }

    fn secure(&self) -> Result<()> {
        self.commit(redb::Durability::Immediate, &[])
    }

    fn flush(&self) -> Result<()> {
        self.secure()
    }

    fn settle(&self) -> Result<()> {
        self.secure()
    }
}

type Bytes<'a> = AccessGuard<'a, &'static [u8]>;

fn read<'a>(
    entries: impl Iterator<Item = std::result::Result<(Bytes<'a>, Bytes<'a>), StorageError>>,
    span: Span<'_>,
    tally: &mut Tally,
) -> Result<()> {
    let mut filter = NewestVersions::new(tally, span.direction, span.rows);
    for entry in entries {
        let (key, value) = entry?;
        if !filter.push(key.value(), value.value())? {
            break;
        }
    }
    filter.finish()
}
