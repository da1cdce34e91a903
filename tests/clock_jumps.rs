//! Goal: a clock that jumps causes no loss of a write or of a change of a table, and no order in
//! the log or in a file depends on it.
//!
//! Method: the clock jumps by years, back and forth, between writes, flushes, splits, alterations,
//! snapshots, kills and opens. Cells keep the timestamps that they got; rows are unique, so that no
//! timestamp hides another.

use std::sync::Arc;

use hblite::{
    ColumnFamilyDescriptor, Connection, ManualClock, Options, Put, Result, Scan, SnapshotOptions,
};
use hblite_env::CrashFileSystem;

use crate::testkit;

const YEAR_MS: i64 = 365 * 24 * 3_600_000;
const NOW_MS: i64 = 1_700_000_000_000;
/// The successive settings of the clock, in years from now.
const JUMPS: [i64; 8] = [0, -10, 30, -50, 1, -1, 200, 0];

fn open(fs: &CrashFileSystem, clock: &Arc<ManualClock>) -> Result<Connection> {
    let engine = Options::new().with_flush_on_close(false).with_wal_roll_size_bytes(1 << 10);
    let env = testkit::env(fs.clone()).with_clock(clock.clone());
    engine.with_env(env).open(testkit::STORE)
}

fn rows(connection: &Connection, table: &str) -> Result<Vec<Vec<u8>>> {
    let table = connection.table(table)?;
    table.scan(&Scan::new())?.map(|row| row.map(|row| row.row().to_vec())).collect()
}

fn write(connection: &Connection, written: &mut Vec<Vec<u8>>, turn: usize) -> Result<()> {
    for number in 0..5 {
        let row = format!("{:02x}-{turn}-{number}", (turn * 37 + number * 51) % 256).into_bytes();
        connection.table("t")?.put(&Put::new(row.clone()).add("f", "q", "value"))?;
        written.push(row);
    }
    written.sort();
    Ok(())
}

#[test]
fn a_clock_that_jumps_loses_nothing() -> Result<()> {
    let clock = Arc::new(ManualClock::new(NOW_MS));
    let mut fs = CrashFileSystem::new();
    let mut written = Vec::new();
    let mut connection = open(&fs, &clock)?;
    testkit::create(&connection, "t", &["f"])?;
    for (turn, years) in JUMPS.into_iter().enumerate() {
        clock.set(NOW_MS + years * YEAR_MS);
        write(&connection, &mut written, turn)?;
        let admin = connection.admin();
        match turn % 4 {
            0 => admin.flush_table("t")?,
            1 => admin.split_table("t", Some(format!("{:02x}", 40 + turn * 20).as_bytes()))?,
            2 => admin.major_compact_table("t")?,
            _ => admin.add_family("t", &ColumnFamilyDescriptor::new(format!("f{turn}")))?,
        }
        admin.snapshot(&format!("s{turn}"), "t", &SnapshotOptions::default())?;
        let at_snapshot = written.clone();
        testkit::create(&connection, &format!("t{turn}"), &["f"])?;
        write(&connection, &mut written, turn + 100)?;
        assert_eq!(rows(&connection, "t")?, written, "turn {turn}");
        // Killed, and opened again with the clock elsewhere.
        fs = fs.after_kill();
        clock.set(NOW_MS - years * YEAR_MS);
        connection = open(&fs, &clock)?;
        assert_eq!(rows(&connection, "t")?, written, "turn {turn}, opened again");
        connection.admin().clone_snapshot(&format!("s{turn}"), "clone")?;
        assert_eq!(rows(&connection, "clone")?, at_snapshot, "turn {turn}, the snapshot");
        connection.admin().disable_table("clone")?;
        connection.admin().delete_table("clone")?;
        let tables = connection.admin().list_tables(hblite::SystemTables::Exclude)?;
        assert_eq!(tables.len(), turn + 2, "turn {turn}");
    }
    connection.close()?;
    let report = testkit::check(&fs);
    assert!(report.is_clean(), "{report:?}");
    Ok(())
}
