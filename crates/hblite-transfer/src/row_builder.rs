//! Makes mutations of the cells of one row, as few as possible without changing any cell.

use hblite::{CellType, Delete, Durability, Mutation, Put};

/// Collects the cells of one row in the order in which they are written.
#[derive(Debug)]
pub(crate) struct RowBuilder {
    row: Vec<u8>,
    durability: Durability,
    open: Open,
    done: Vec<Mutation>,
}

#[derive(Debug)]
enum Open {
    Nothing,
    /// A put and the time to live of its cells.
    Put(Put, Option<i64>),
    Delete(Delete),
}

impl RowBuilder {
    pub(crate) fn new(row: impl Into<Vec<u8>>, durability: Durability) -> Self {
        Self { row: row.into(), durability, open: Open::Nothing, done: Vec::new() }
    }

    /// Adds a value; `ttl` is the cell's own time to live in milliseconds.
    pub(crate) fn add_put(
        &mut self,
        family: &[u8],
        qualifier: &[u8],
        timestamp: i64,
        value: &[u8],
        ttl: Option<i64>,
    ) {
        let put = match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Put(put, of_put) if of_put == ttl => put,
            other => {
                self.close(other);
                let put = Put::new(&self.row).with_durability(self.durability);
                match ttl {
                    Some(millis) => put.with_time_to_live_ms(millis),
                    None => put,
                }
            }
        };
        self.open = Open::Put(put.add_at(family, qualifier, timestamp, value), ttl);
    }

    /// Adds a delete marker. A marker of a whole family has no qualifier.
    pub(crate) fn add_marker(
        &mut self,
        family: &[u8],
        qualifier: &[u8],
        timestamp: i64,
        cell_type: CellType,
    ) {
        let delete = match std::mem::replace(&mut self.open, Open::Nothing) {
            // `Delete` drops earlier markers of a family when one for the whole family is added.
            Open::Delete(delete) if cell_type != CellType::DeleteFamily => delete,
            other => {
                self.close(other);
                Delete::new(&self.row).with_durability(self.durability)
            }
        };
        self.open = Open::Delete(match cell_type {
            CellType::Delete => delete.column_at(family, qualifier, timestamp),
            CellType::DeleteColumn => delete.columns_at(family, qualifier, timestamp),
            CellType::DeleteFamilyVersion => delete.family_version(family, timestamp),
            _ => delete.family_at(family, timestamp),
        });
    }

    fn close(&mut self, open: Open) {
        self.done.extend(match open {
            Open::Nothing => None,
            Open::Put(put, _) => Some(Mutation::from(put)),
            Open::Delete(delete) => Some(delete.into()),
        });
    }

    pub(crate) fn finish(mut self) -> Vec<Mutation> {
        let open = std::mem::replace(&mut self.open, Open::Nothing);
        self.close(open);
        self.done
    }
}
