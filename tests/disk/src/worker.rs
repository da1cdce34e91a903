//! A process that writes to a store on the disk until it is killed.
//!
//! Some threads write rows of their own, one operation after the other; each operation follows from
//! the seed, the thread and the operation's number. Another flushes, compacts, splits, merges,
//! alters and takes snapshots. After each operation, a writer prints a line to standard output:
//! what is printed was acknowledged.
//!
//! | table | durability |
//! |---|---|
//! | `synced` | FSYNC_WAL: an acknowledged write survives a power cut |
//! | `logged` | SYNC_WAL: it survives with the next write to `synced` |

use std::io::Write as _;
use std::path::Path;

use hblite::{
    Admin, ColumnFamilyDescriptor, Connection, Delete, Durability, ErrorKind, MergeKind, Options,
    Put, Result, SnapshotOptions, TableDescriptor, TableName,
};
use hblite_env::SeededRandom;

use crate::disk::below;
use crate::report::{self, READY};

pub(crate) const THREADS: u64 = 4;
pub(crate) const TABLES: [&str; 2] = ["synced", "logged"];
const FAMILIES: [&str; 2] = ["f", "g"];
const ROWS: u64 = 40;
const REGIONS_MAX: usize = 5;

/// An operation of a writer.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) table: &'static str,
    pub(crate) row: String,
    pub(crate) is_delete: bool,
    size: usize,
}

/// The operation with this number of this thread.
pub(crate) fn write(seed: u64, thread: u64, number: u64) -> Write {
    let random = SeededRandom::new(seed ^ (thread << 56) ^ number.wrapping_mul(0x9e37_79b9));
    let table = TABLES[below(&random, 2) as usize];
    let row = format!("{:02}-{thread}", below(&random, ROWS));
    let is_delete = below(&random, 5) == 0;
    let size = if below(&random, 10) == 0 { 6_000 } else { 200 };
    Write { table, row, is_delete, size: below(&random, size) as usize }
}

/// The value that an operation puts: its number, and bytes that follow from it.
pub(crate) fn value(write: &Write, number: u64) -> String {
    let fill = char::from(b'a' + (number % 26) as u8).to_string();
    format!("{number}:{}", fill.repeat(write.size))
}

fn options() -> Options {
    Options::new().with_memstore_flush_size_bytes(64 << 10).with_wal_roll_size_bytes(64 << 10)
}

/// Opens the store as the worker and the report do.
pub(crate) fn open(dir: &Path) -> Result<Connection> {
    options().open(dir)
}

/// Works until the process is killed.
///
/// # Errors
/// The store does not open, or an operation failed for another reason than being busy.
pub(crate) fn work(dir: &Path, seed: u64, round: u64, first: &[u64]) -> Result<()> {
    let connection = open(dir)?;
    create_tables(&connection.admin())?;
    report::report_rows(&connection, seed)?;
    say(READY);
    std::thread::scope(|scope| {
        let connection = &connection;
        let writers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let first = first[thread as usize];
                scope.spawn(move || write_on(connection, seed, thread, first))
            })
            .collect();
        scope.spawn(move || stir(connection, seed.wrapping_add(round)));
        writers.into_iter().try_for_each(|writer| writer.join().expect("a writer does not panic"))
    })
}

fn create_tables(admin: &Admin) -> Result<()> {
    for name in TABLES {
        if !admin.table_exists(name)? {
            let name: TableName = name.parse()?;
            let [f, g] = FAMILIES.map(ColumnFamilyDescriptor::new);
            let table = TableDescriptor::new(name).with_family(f).with_family(g);
            admin.create_table_with_splits(&table, &[b"10".to_vec(), b"30".to_vec()])?;
        }
    }
    Ok(())
}

/// A line that is printed before anything else happens, even if the process is then killed.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // The reader may have ended: then this process is about to be killed.
    let _ = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
}

fn write_on(connection: &Connection, seed: u64, thread: u64, first: u64) -> Result<()> {
    for number in first.. {
        let write = write(seed, thread, number);
        let table = connection.table(write.table)?;
        let is_synced = write.table == TABLES[0];
        let durability = if is_synced { Durability::FsyncWal } else { Durability::SyncWal };
        let written = || {
            if write.is_delete {
                let delete = Delete::new(&write.row).with_timestamp(number as i64);
                return table.delete(&delete.with_durability(durability));
            }
            let value = value(&write, number);
            let mut put = Put::new(&write.row).with_timestamp(number as i64);
            for family in FAMILIES {
                put = put.add(family, "q", value.as_str());
            }
            table.put(&put.with_durability(durability))
        };
        while let Err(error) = written() {
            if error.kind() != ErrorKind::Busy {
                return Err(error);
            }
        }
        say(&format!("{thread} {number}"));
    }
    Ok(())
}

/// Changes what it can. An error is that of a disk without power, or a permitted refusal.
fn stir(connection: &Connection, seed: u64) {
    let random = SeededRandom::new(seed);
    let admin = connection.admin();
    for number in 0.. {
        let table = TABLES[below(&random, 2) as usize];
        if let Err(error) = stir_once(&admin, &random, table, number)
            && matches!(error.kind(), ErrorKind::Io | ErrorKind::Closed)
        {
            return;
        }
    }
}

fn stir_once(admin: &Admin, random: &SeededRandom, table: &str, number: u64) -> Result<()> {
    match below(random, 12) {
        0..=3 => admin.flush_table(table),
        4 => admin.compact_table(table),
        5 => admin.major_compact_table(table),
        6 | 7 => {
            let regions = admin.regions(table)?;
            if regions.len() < REGIONS_MAX {
                let key = format!("{:02}", 1 + below(random, ROWS - 1));
                return admin.split_table(table, Some(key.as_bytes()));
            }
            let first = below(random, regions.len() as u64 - 1) as usize;
            let pair = [regions[first].encoded_name(), regions[first + 1].encoded_name()];
            admin.merge_regions(&pair, MergeKind::Adjacent)
        }
        8 | 9 => {
            let mut descriptor = admin.describe_table(table)?;
            descriptor.set_attribute("stirred", &number.to_string())?;
            admin.modify_table(&descriptor)
        }
        10 => {
            for snapshot in admin.list_snapshots()? {
                admin.delete_snapshot(&snapshot.name)?;
            }
            Ok(())
        }
        _ => admin.snapshot(&format!("s{number}"), table, &SnapshotOptions::default()),
    }
}
