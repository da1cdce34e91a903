//! Backups of a store that is written to, flushed, compacted and split meanwhile.
//!
//! Each writer writes rows 0, 1, 2, … one after the other, spread over all regions, with the same
//! number in columns of two families. So a consistent copy has the rows of each writer up to some
//! number, at least up to the one that was acknowledged before the backup began, and no partial
//! row.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hblite::{ColumnFamilyDescriptor, Connection, Options, Put, Result, Scan, TableDescriptor};

use crate::testkit::{self, name};

const WRITERS: usize = 2;
const BACKUPS: usize = 6;
const COLUMNS: [(&str, &str); 4] = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")];

/// Consecutive numbers are far apart in row order.
fn row_name(writer: usize, number: u64) -> String {
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
    format!("{spread:04x}-{writer}-{number:08}")
}

fn options() -> Options {
    Options::new()
        .with_memstore_flush_size_bytes(128 * 1024)
        .with_region_split_first_size_bytes(Some(512 * 1024))
        .with_wal_roll_size_bytes(64 * 1024)
}

fn write_rows(
    connection: &Connection,
    writer: usize,
    acknowledged: &AtomicU64,
    is_over: &AtomicBool,
) -> Result<()> {
    let table = connection.table(name("t"))?;
    for number in 1.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let mut put = Put::new(row_name(writer, number));
        for (family, qualifier) in COLUMNS {
            put = put.add(family, qualifier, format!("{number:0100}"));
        }
        table.put(&put)?;
        acknowledged.store(number, Ordering::SeqCst);
    }
    Ok(())
}

/// Flushes, compacts, splits and alters, alternately.
fn disturb(connection: &Connection, is_over: &AtomicBool) -> Result<()> {
    let (admin, table) = (connection.admin(), name("t"));
    for turn in 0_u16.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        admin.flush_table(&table)?;
        let key = format!("{:04x}", turn.wrapping_mul(7919));
        // A region that still refers to its parent cannot be split.
        let _ = admin.split_table(&table, Some(key.as_bytes()));
        match turn % 3 {
            0 => admin.major_compact_table(&table)?,
            _ => admin.compact_table(&table)?,
        }
        if turn % 4 == 1 {
            let family = ColumnFamilyDescriptor::new("c");
            admin.add_family(&table, &family)?;
            admin.delete_family(&table, family.name())?;
        }
    }
    Ok(())
}

/// The copy is undamaged and has the first rows of each writer, at least `least`.
fn assert_one_moment(copy: &Path, least: &[u64; WRITERS]) -> Result<()> {
    let report = hblite::check(copy)?;
    assert_eq!(report.defects, [], "{}", copy.display());
    let connection = options().open(copy)?;
    assert_eq!(connection.recovery().expect("embedded").torn_tail, None);
    let mut found = [(); WRITERS].map(|()| Vec::new());
    for row in connection.table(name("t"))?.scan(&Scan::new())? {
        let row = row?;
        assert_eq!(row.len(), COLUMNS.len(), "a row is not whole: {row:?}");
        let name = String::from_utf8_lossy(row.row()).into_owned();
        let mut parts = name.split('-').skip(1);
        let mut next = || parts.next().and_then(|part| part.parse::<u64>().ok());
        let (Some(writer), Some(number)) = (next(), next()) else { panic!("{name}") };
        let value = format!("{number:0100}");
        assert!(row.cells().all(|cell| cell.value() == value.as_bytes()), "torn: {row:?}");
        found[usize::try_from(writer).expect("small")].push(number);
    }
    for (writer, numbers) in found.iter_mut().enumerate() {
        numbers.sort_unstable();
        let count = numbers.len() as u64;
        assert_eq!(numbers.last().copied().unwrap_or(0), count, "writer {writer}: not a beginning");
        assert!(count >= least[writer], "writer {writer}: {count} rows, not {}", least[writer]);
    }
    connection.close()
}

#[test]
fn copies_are_of_one_moment_whatever_goes_on() -> Result<()> {
    let dir = tempfile::tempdir().expect("a directory");
    let connection = options().open(dir.path().join("store"))?;
    let table = testkit::descriptor("t", &["a", "b"]);
    connection.admin().create_table_with_splits(&table, &[b"8".to_vec()])?;
    let (acknowledged, is_over) = ([const { AtomicU64::new(0) }; WRITERS], AtomicBool::new(false));
    let counts = || [0, 1].map(|writer: usize| acknowledged[writer].load(Ordering::SeqCst));
    let mut made = Vec::new();
    std::thread::scope(|scope| -> Result<()> {
        let (connection, is_over) = (&connection, &is_over);
        let mut threads = vec![scope.spawn(|| disturb(connection, is_over))];
        for (writer, acknowledged) in acknowledged.iter().enumerate() {
            threads
                .push(scope.spawn(move || write_rows(connection, writer, acknowledged, is_over)));
        }
        let backups = (0..BACKUPS).try_for_each(|number| {
            // Waits for progress since the last one.
            let wanted = counts().map(|count| count + 300);
            while (0..WRITERS).any(|writer| counts()[writer] < wanted[writer]) {
                if threads.iter().any(|thread| thread.is_finished()) {
                    return Ok(());
                }
                std::thread::yield_now();
            }
            let (to, least) = (dir.path().join(format!("copy-{number}")), counts());
            connection.admin().backup(&to)?;
            made.push((to, least));
            Ok(())
        });
        is_over.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().expect("no thread panics")?;
        }
        backups
    })?;
    assert_eq!(made.len(), BACKUPS, "a thread ended early");
    let last = counts();
    connection.close()?;
    for (copy, least) in &made {
        assert_one_moment(copy, least)?;
    }
    // The original is intact, even after its copies were opened.
    assert_one_moment(&dir.path().join("store"), &last)
}

#[test]
fn a_closed_store_is_copied() -> Result<()> {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, copy) = (dir.path().join("store"), dir.path().join("copy"));
    let connection = options().open(&store)?;
    let table = TableDescriptor::new(name("t")).with_family(ColumnFamilyDescriptor::new("a"));
    connection.admin().create_table(&table)?;
    connection.table(name("t"))?.put(&Put::new("r").add("a", "x", "v"))?;
    assert!(hblite::backup(&store, &copy).is_err(), "it is open");
    connection.close()?;
    let report = hblite::backup(&store, &copy)?;
    assert!(report.files_linked > 0 && report.bytes > 0, "{report:?}");
    assert_eq!(hblite::check(&copy)?.defects, []);
    assert_eq!(hblite::open(&copy)?.table(name("t"))?.scan(&Scan::new())?.count(), 1);
    Ok(())
}
