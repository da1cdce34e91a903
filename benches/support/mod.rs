//! What the benchmarks share: a table of narrow rows, and how long they run.
//!
//! A row is sixteen hex digits of a mixed counter, so rows in counter order come in random key
//! order; it has one cell with a value of 100 bytes.

// Each benchmark is a separate program and uses its part of this.
#![allow(dead_code)]

use std::path::Path;
use std::time::Duration;

use criterion::Criterion;
use hblite::{ColumnFamilyDescriptor, Connection, Get, Put, Table, TableDescriptor, TableName};
use tempfile::TempDir;

/// Rows of a filled table.
pub(crate) const ROWS: u64 = 100_000;

const TABLE: &str = "cells";
const FAMILY: &str = "f";
const QUALIFIER: &str = "field000";
const BATCH: usize = 1000;

/// A run of a few seconds per benchmark; the command line can extend it.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args()
}

/// A store on disk with a table. The directory is removed when it is dropped.
pub(crate) struct Store {
    /// The table.
    pub table: Table,
    /// The open store.
    pub connection: Connection,
    /// Its directory.
    pub dir: TempDir,
}

impl Store {
    /// A store with an empty table.
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().expect("a directory for the benchmark");
        let (connection, table) = open(dir.path());
        Self { table, connection, dir }
    }

    /// A store with [`ROWS`] rows, all of them in memory and in the log.
    pub(crate) fn filled() -> Self {
        let store = Self::new();
        let numbers: Vec<u64> = (0..ROWS).collect();
        for batch in numbers.chunks(BATCH) {
            let puts: Vec<Put> = batch.iter().map(|number| put_of(*number)).collect();
            store.table.put_all(&puts).expect("a batch of puts");
        }
        store
    }

    /// A store with [`ROWS`] rows, all of them in one file.
    pub(crate) fn flushed() -> Self {
        let store = Self::filled();
        let admin = store.connection.admin();
        admin.flush_table(store.table.name()).expect("a flush");
        admin.major_compact_table(store.table.name()).expect("a compaction");
        store
    }
}

/// Opens the store in `dir`, and creates the table if it does not exist.
pub(crate) fn open(dir: &Path) -> (Connection, Table) {
    let connection = hblite::open(dir).expect("the store opens");
    let name: TableName = TABLE.parse().expect("the name of a table");
    if !connection.admin().table_exists(&name).expect("an answer") {
        let family = ColumnFamilyDescriptor::new(FAMILY);
        let descriptor = TableDescriptor::new(name.clone()).with_family(family);
        connection.admin().create_table(&descriptor).expect("a new table");
    }
    let table = connection.table(&name).expect("the table");
    (connection, table)
}

/// A new table `t` with the family `f`, whose flushed files are not compacted.
pub(crate) fn create_uncompacted(connection: &Connection) -> hblite::Result<Table> {
    let name: TableName = "t".parse()?;
    let mut family = ColumnFamilyDescriptor::new("f");
    family.set_configuration("hbase.hstore.compaction.min", "50");
    connection.admin().create_table(&TableDescriptor::new(name.clone()).with_family(family))?;
    connection.table(&name)
}

/// The put of a row.
pub(crate) fn put_of(number: u64) -> Put {
    let mut value = [b'x'; 100];
    for (index, chunk) in value[..48].chunks_exact_mut(8).enumerate() {
        chunk.copy_from_slice(&mix(number ^ ((index as u64 + 1) << 56)).to_le_bytes());
    }
    Put::new(row_of(number)).add(FAMILY, QUALIFIER, value)
}

/// The get of the newest version of a row's column.
pub(crate) fn get_of(number: u64) -> Get {
    Get::new(row_of(number)).with_column(FAMILY, QUALIFIER)
}

/// The row of a number.
pub(crate) fn row_of(number: u64) -> String {
    format!("{:016x}", mix(number))
}

/// An endless series of random numbers of rows in a filled table.
pub(crate) fn picks() -> impl Iterator<Item = u64> {
    (1 << 40..).map(|turn| mix(turn) % ROWS)
}

/// A bijection of the 64-bit numbers that leaves no order (the finalizer of splitmix64).
fn mix(counter: u64) -> u64 {
    let mut mixed = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
