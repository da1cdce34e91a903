//! LMDB through heed 0.22: one database in one memory map.
//!
//! LMDB has no log: puts that need not survive a machine crash use `NO_SYNC`. They survive the
//! process, but a machine crash may then corrupt the file.

use std::path::Path;

use heed::types::Bytes;
use heed::{Env, EnvFlags, EnvOpenOptions, RwIter, WithoutTls};

use super::{Direction, Durability, Engine, Opening, Result, Span, Store, Version};
use crate::cells::{Qualifier, SampleCell, Tally};
use crate::codec::{self, Reader, Sweep};
use crate::rows::Row;

const MAP_SIZE_BYTES: usize = 256 << 30;

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
            codec::encode(&mut key, cell);
            self.cells.put(&mut transaction, &key, cell.value())?;
        }
        Ok(transaction.commit()?)
    }

    fn get(&self, row: &Row, qualifier: &Qualifier, tally: &mut Tally) -> Result<()> {
        let mut column = codec::key_buffer();
        codec::encode_column(&mut column, row, qualifier);
        let transaction = self.env.read_txn()?;
        match self.cells.get_greater_than_or_equal_to(&transaction, &column)? {
            Some((key, value)) => codec::emit_if_in(tally, &column, key, value),
            None => Ok(()),
        }
    }

    fn get_version(&self, version: Version<'_>, tally: &mut Tally) -> Result<()> {
        let transaction = self.env.read_txn()?;
        version.emit(tally, self.cells.get(&transaction, &version.key())?);
        Ok(())
    }

    fn read(&self, span: Span<'_>, tally: &mut Tally) -> Result<()> {
        let transaction = self.env.read_txn()?;
        let bounds = span.bounds();
        let range = bounds.as_range();
        match span.direction {
            Direction::Forward => pass(self.cells.range(&transaction, &range)?, span, tally),
            Direction::Reverse => pass(self.cells.rev_range(&transaction, &range)?, span, tally),
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

    fn drop_markers(&self) -> Result<()> {
        let mut transaction = self.env.write_txn()?;
        let mut entries = self.cells.iter_mut(&mut transaction)?;
        let mut sweep = Sweep::default();
        while let Some(entry) = entries.next() {
            if sweep.drops(entry?.0) {
                delete_current(&mut entries)?;
            }
        }
        drop(entries);
        transaction.commit()?;
        self.flush()
    }
}

#[expect(unsafe_code, reason = "an entry that is deleted must not be borrowed")]
fn delete_current(entries: &mut RwIter<'_, Bytes, Bytes>) -> Result<()> {
    // SAFETY: the caller keeps no key or value of this database.
    unsafe { entries.del_current() }?;
    Ok(())
}

fn pass<'a>(
    entries: impl Iterator<Item = heed::Result<(&'a [u8], &'a [u8])>>,
    span: Span<'_>,
    tally: &mut Tally,
) -> Result<()> {
    let mut reader = Reader::new(span, tally);
    for entry in entries {
        let (key, value) = entry?;
        if !reader.push(key, value)? {
            break;
        }
    }
    reader.finish()
}
