//! OpenTSDB's table of names: three bytes for each metric, tag name and tag value, both ways.
//!
//! ```text
//! row [kind][name]          id:id    = the number
//! row [kind][0xFF][number]  id:name  = the name
//! ```

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use hblite::{Get, Put, Table};
use hblite_rowkey::{IdStore, Ids};

use crate::error::{Error, Result};
use crate::ids::IdTable;

/// The family of the table.
pub(super) const FAMILY: &str = "id";
/// The column with the name of a number.
const NAME: &str = "name";
/// The byte after the kind in rows by number. No name begins with it: it is not UTF-8.
const BY_NUMBER: u8 = 0xFF;

/// A number of three bytes.
pub(super) type Uid = [u8; 3];

/// Numbers of the table. The name of a number is written before the number can be found. The loser
/// of a race to register leaves behind the name of an unused number.
struct UidTable {
    table: Table,
    ids: IdTable,
}

impl IdStore for UidTable {
    type Error = Error;

    fn find(&self, kind: u8, name: &[u8]) -> Result<Option<u64>> {
        self.ids.find(kind, name)
    }

    fn next_number(&self, kind: u8) -> Result<u64> {
        self.ids.next_number(kind)
    }

    fn register_if_absent(&self, kind: u8, name: &[u8], number: u64) -> Result<bool> {
        let row = row(kind, to_uid(number, name)?);
        self.table.put(&Put::new(row).add(FAMILY, NAME, name))?;
        self.ids.register_if_absent(kind, name, number)
    }
}

/// Numbers for names, and names for numbers.
pub(super) struct Uids {
    ids: Ids<UidTable>,
    names: RwLock<HashMap<(u8, Uid), String>>,
}

impl Uids {
    pub(super) fn new(table: Table) -> Self {
        let ids = IdTable::new(table.clone(), FAMILY);
        Self { ids: Ids::new(UidTable { table, ids }), names: RwLock::default() }
    }

    /// The number of a name, registering the name if it has none.
    pub(super) fn register(&self, kind: u8, name: &str) -> Result<Uid> {
        to_uid(self.ids.id(kind, name.as_bytes())?, name.as_bytes())
    }

    /// The number of a name, if it has one.
    pub(super) fn find(&self, kind: u8, name: &str) -> Result<Option<Uid>> {
        let number = self.ids.find(kind, name.as_bytes())?;
        number.map(|number| to_uid(number, name.as_bytes())).transpose()
    }

    /// The name of a number.
    pub(super) fn name(&self, kind: u8, uid: Uid) -> Result<String> {
        let known = self.names.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known.get(&(kind, uid)) {
            return Ok(name.clone());
        }
        drop(known);
        let row = row(kind, uid);
        let found = self.ids.store().table.get(&Get::new(&row))?;
        let name = found.value(FAMILY, NAME).and_then(|name| std::str::from_utf8(name).ok());
        let name = name.ok_or_else(|| Error::row(&row, "the number has no name"))?.to_owned();
        let mut known = self.names.write().unwrap_or_else(PoisonError::into_inner);
        known.insert((kind, uid), name.clone());
        Ok(name)
    }
}

fn row(kind: u8, uid: Uid) -> Vec<u8> {
    [&[kind, BY_NUMBER], &uid[..]].concat()
}

fn to_uid(number: u64, name: &[u8]) -> Result<Uid> {
    match number.to_be_bytes() {
        [0, 0, 0, 0, 0, a, b, c] => Ok([a, b, c]),
        _ => Err(Error::row(name, "all numbers of three bytes are in use")),
    }
}
