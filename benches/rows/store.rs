//! The store that the workloads run on, and its rows.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use hblite::{
    ColumnFamilyDescriptor, Connection, Get, Options, Put, Scan, Table, TableDescriptor, TableName,
};

pub(crate) const FAMILY: &str = "f";
pub(crate) const QUALIFIER: &str = "field000";
pub(crate) const BATCH: usize = 100;
pub(crate) const FLUSH_SIZE_BYTES: u64 = 64 << 20;
/// The settings of the family.
const ALL_VERSIONS: u32 = i32::MAX as u32;

/// A store on disk with one table. The directory is removed when it is dropped.
pub(crate) struct Store {
    pub(crate) table: Table,
    pub(crate) connection: Connection,
    dir: PathBuf,
}

impl Store {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self::with_regions(dir, 1, FLUSH_SIZE_BYTES)
    }

    /// The table is split evenly.
    pub(crate) fn with_regions(dir: PathBuf, count: u64, flush_size_bytes: u64) -> Self {
        let connection = open(&dir, flush_size_bytes);
        Self::on(connection, dir, count)
    }

    /// Nothing is flushed and compacted before its time.
    pub(crate) fn at_rest(dir: PathBuf) -> Self {
        let options = engine_options(8 * FLUSH_SIZE_BYTES).with_compaction_enabled(false);
        let connection = options.open(&dir).expect("a store");
        Self::on(connection, dir, 1)
    }

    fn on(connection: Connection, dir: PathBuf, count: u64) -> Self {
        let name: TableName = "cells".parse().expect("the name of a table");
        let family = ColumnFamilyDescriptor::new(FAMILY).with_versions(ALL_VERSIONS);
        let descriptor = TableDescriptor::new(name.clone()).with_family(family);
        let splits: Vec<_> = (1..count).map(|n| row_of(u64::MAX / count * n).to_vec()).collect();
        let admin = connection.admin();
        admin.create_table_with_splits(&descriptor, &splits).expect("a new table");
        let table = connection.table(&name).expect("the table");
        Self { table, connection, dir }
    }

    pub(crate) fn load(&self, mut numbers: impl Iterator<Item = u64>) {
        loop {
            let puts: Vec<Put> = numbers.by_ref().take(BATCH).map(put_of).collect();
            if puts.is_empty() {
                return;
            }
            self.table.put_all(&puts).expect("a batch of puts");
        }
    }

    pub(crate) fn flush(&self) {
        self.connection.admin().flush_table(self.table.name()).expect("a flush");
    }

    pub(crate) fn settle(&self) {
        self.flush();
        let admin = self.connection.admin();
        admin.major_compact_table(self.table.name()).expect("a compaction");
    }

    /// How many files the region with the most has.
    pub(crate) fn file_count(&self) -> u64 {
        let status = self.connection.admin().status().expect("a status");
        let regions =
            status.regions.iter().filter(|region| region.region.table() == self.table.name());
        regions.map(|region| region.store_file_count).max().unwrap_or(0)
    }

    pub(crate) fn get(&self, row: u64) -> usize {
        let get = Get::new(row_of(row)).with_column(FAMILY, QUALIFIER);
        self.table.get(&get).expect("an answer").len()
    }

    pub(crate) fn scan(&self, scan: &Scan) -> u64 {
        let (mut cells, mut bytes) = (0, 0);
        let mut scanner = self.table.scan(scan).expect("a scanner");
        scanner
            .for_each_cell(|cell| {
                cells += 1;
                bytes += cell.row().len() + cell.value().len();
            })
            .expect("a scan");
        std::hint::black_box(bytes);
        cells
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.connection.clone().close().expect("a store that closes");
        std::fs::remove_dir_all(&self.dir).expect("a directory that goes");
    }
}

pub(crate) fn open(dir: &Path, flush_size_bytes: u64) -> Connection {
    engine_options(flush_size_bytes).open(dir).expect("a store")
}

fn engine_options(flush_size_bytes: u64) -> Options {
    Options::new()
        .with_memstore_flush_size_bytes(flush_size_bytes)
        .with_memstore_total_size_bytes(256 << 20)
}

/// The put of a row, with a timestamp of its own.
pub(crate) fn put_of(number: u64) -> Put {
    static TIMESTAMP: AtomicU64 = AtomicU64::new(1);
    let timestamp = TIMESTAMP.load(Ordering::Relaxed) as i64;
    Put::new(row_of(number)).add_at(FAMILY, QUALIFIER, timestamp, value_of(number))
}

pub(crate) fn value_of(number: u64) -> [u8; 100] {
    let mut value = [b'x'; 100];
    for (index, chunk) in value[..48].chunks_exact_mut(8).enumerate() {
        chunk.copy_from_slice(&mix(number ^ ((index as u64 + 1) << 56)).to_le_bytes());
    }
    value
}

pub(crate) fn row_of(number: u64) -> [u8; 16] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut row = [0; 16];
    for (pair, byte) in row.chunks_exact_mut(2).zip(number.to_be_bytes()) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    row
}

/// A bijection of the 64-bit numbers that leaves no order (the finalizer of splitmix64).
pub(crate) fn mix(counter: u64) -> u64 {
    let mut mixed = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
