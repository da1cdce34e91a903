//! redb 4.4: one table of byte keys in one file.
//!
//! redb has no log: a commit that need not survive a machine crash is `Durability::None`, which
//! does not survive the process either until a durable commit follows.

use std::path::Path;

use redb::{AccessGuard, Database, ReadableDatabase, StorageError, TableDefinition};

use super::{Direction, Durability, Engine, Opening, Result, Span, Store, Version};
use crate::cells::{Qualifier, SampleCell, Tally};
use crate::codec::{self, Reader, Sweep};
use crate::rows::Row;

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
        let db = Database::builder().set_cache_size(opening.cache_bytes).create(path)?;
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
                codec::encode(&mut key, cell);
                table.insert(key.as_slice(), cell.value())?;
            }
        }
        Ok(transaction.commit()?)
    }
}

impl Store for OpenRedb {
    fn put(&self, cells: &[SampleCell]) -> Result<()> {
        self.commit(self.durability, cells)
    }

    fn get(&self, row: &Row, qualifier: &Qualifier, tally: &mut Tally) -> Result<()> {
        let (mut column, mut end) = (codec::key_buffer(), codec::key_buffer());
        codec::encode_column(&mut column, row, qualifier);
        codec::encode_row_end(&mut end, row);
        let table = self.db.begin_read()?.open_table(CELLS)?;
        if let Some(entry) = table.range(column.as_slice()..end.as_slice())?.next() {
            let (key, value) = entry?;
            codec::emit_if_in(tally, &column, key.value(), value.value())?;
        }
        Ok(())
    }

    fn get_version(&self, version: Version<'_>, tally: &mut Tally) -> Result<()> {
        let table = self.db.begin_read()?.open_table(CELLS)?;
        let value = table.get(version.key().as_slice())?;
        version.emit(tally, value.as_ref().map(|value| value.value()));
        Ok(())
    }

    fn read(&self, span: Span<'_>, tally: &mut Tally) -> Result<()> {
        let table = self.db.begin_read()?.open_table(CELLS)?;
        let bounds = span.bounds();
        let entries = table.range::<&[u8]>(bounds.as_range())?;
        match span.direction {
            Direction::Forward => pass(entries, span, tally),
            Direction::Reverse => pass(entries.rev(), span, tally),
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

    fn drop_markers(&self) -> Result<()> {
        let transaction = self.db.begin_write()?;
        let mut sweep = Sweep::default();
        transaction.open_table(CELLS)?.retain(|key, _| !sweep.drops(key))?;
        Ok(transaction.commit()?)
    }
}

type Bytes<'a> = AccessGuard<'a, &'static [u8]>;

fn pass<'a>(
    entries: impl Iterator<Item = std::result::Result<(Bytes<'a>, Bytes<'a>), StorageError>>,
    span: Span<'_>,
    tally: &mut Tally,
) -> Result<()> {
    let mut reader = Reader::new(span, tally);
    for entry in entries {
        let (key, value) = entry?;
        if !reader.push(key.value(), value.value())? {
            break;
        }
    }
    reader.finish()
}
