//! Numbers for names in an HBase table: counters assign them, checkAndMutate makes them unique.

use hblite::{CheckAndMutate, Get, Put, Table};
use hblite_rowkey::IdStore;

use crate::error::{Error, Result};

/// The lookup table for numeric substitution, LOG_TYPES: rows `[kind][name]`.
#[derive(Debug, Clone)]
pub struct IdTable {
    table: Table,
    family: &'static str,
}

/// The column with the number of a name.
const ID: &str = "id";
/// The column with the counter of a kind.
const NEXT: &str = "next";

impl IdTable {
    /// Numbers stored in a family of a table.
    pub fn new(table: Table, family: &'static str) -> Self {
        Self { table, family }
    }
}

fn row(kind: u8, name: &[u8]) -> Vec<u8> {
    [&[kind], name].concat()
}

impl IdStore for IdTable {
    type Error = Error;

    fn find(&self, kind: u8, name: &[u8]) -> Result<Option<u64>> {
        let row = row(kind, name);
        let found = self.table.get(&Get::new(&row).with_column(self.family, ID))?;
        found
            .value(self.family, ID)
            .map(|value| {
                let number = <[u8; 8]>::try_from(value);
                number
                    .map(u64::from_be_bytes)
                    .map_err(|_| Error::row(&row, "its id is not 8 bytes long"))
            })
            .transpose()
    }

    fn next_number(&self, kind: u8) -> Result<u64> {
        let number = self.table.increment_column([kind], self.family, NEXT, 1)?;
        u64::try_from(number).map_err(|_| Error::row(&[kind], "the counter is negative"))
    }

    fn register_if_absent(&self, kind: u8, name: &[u8], number: u64) -> Result<bool> {
        let row = row(kind, name);
        let put = Put::new(&row).add(self.family, ID, number.to_be_bytes());
        let check = CheckAndMutate::new(&row).if_not_exists(self.family, ID).then(put);
        Ok(self.table.check_and_mutate(&check)?.is_success)
    }
}
