//! Kills a procedure after each of its operations, opens the store, and cuts the power.
//!
//! An open finishes what it finds half done. What it relies on was perhaps never made durable: a
//! kill keeps a rename that a power cut takes back, after what depended on it is gone. So at the
//! end `check` must find nothing, and tables and snapshots have all of their rows or, where the
//! procedure removes them, none.
//!
//! `HBLITE_CUTS=all` cuts the opens after a restore and a truncation off after each operation, not
//! only after every third, which takes a minute longer.

use hblite::{
    ColumnFamilyDescriptor, Connection, FailSafeSnapshot, FindingKind, MergeKind, Result, Scan,
    SnapshotOptions, SplitPoints, TableName,
};
use hblite_env::CrashFileSystem;

use crate::testkit::{self, cuts, durable_put, name};

const FAMILIES: [&str; 2] = ["a", "b"];
const ROWS: usize = 6;

type Procedure = fn(&Connection) -> Result<()>;

fn open(fs: CrashFileSystem) -> Result<Connection> {
    testkit::open(fs, testkit::by_hand())
}

/// A store with table `t`, and table `off`, which is disabled. Snapshots `s-t` and `s-off` have
/// other files than their tables.
fn prepare() -> (CrashFileSystem, Connection) {
    let fs = CrashFileSystem::new();
    let connection = open(fs.clone()).expect("an empty disk opens");
    let admin = connection.admin();
    for table in ["t", "off"] {
        testkit::create(&connection, table, &FAMILIES).expect("the table is new");
        for number in 0..ROWS {
            let put = durable_put(&format!("row-{number}"), &FAMILIES, "value");
            connection.table(table).and_then(|table| table.put(&put)).expect("a put");
            if number % 3 == 2 {
                admin.flush_table(name(table)).expect("a flush");
            }
        }
        admin
            .snapshot(&format!("s-{table}"), name(table), &SnapshotOptions::default())
            .expect("a snapshot");
        admin.major_compact_table(name(table)).expect("a compaction");
    }
    admin.disable_table(name("off")).expect("it is enabled");
    (fs, connection)
}

/// The number of rows, and of the cells that each of them has.
fn count(connection: &Connection, table: &TableName) -> (usize, usize) {
    let rows = connection.table(table.clone()).and_then(|table| table.scan(&Scan::new()));
    let cells: Vec<usize> = rows.expect("a scan").map(|row| row.expect("a row").len()).collect();
    let each = cells.first().copied().unwrap_or_default();
    assert!(cells.iter().all(|count| *count == each), "rows of {table} have {cells:?} cells");
    (cells.len(), each)
}

/// Everything that exists is whole, after a procedure that may empty table `emptied`, or remove one
/// of its families.
fn verify(fs: &CrashFileSystem, emptied: &str, context: &str) {
    let defects = testkit::check(fs).defects;
    // A power cut may leave an unused directory, or a region whose creation it interrupted.
    let is_known =
        |kind| matches!(kind, FindingKind::UnknownDirectory | FindingKind::RegionMissing);
    let defects: Vec<_> = defects.into_iter().filter(|found| !is_known(found.kind)).collect();
    assert!(defects.is_empty(), "{context}: {defects:?}");
    let connection = open(fs.clone()).unwrap_or_else(|error| panic!("{context}: {error}"));
    let (admin, whole) = (connection.admin(), (ROWS, FAMILIES.len()));
    for snapshot in admin.list_snapshots().expect("a list") {
        let clone = name(&format!("clone-{}", snapshot.name));
        admin
            .clone_snapshot(&snapshot.name, clone.clone())
            .unwrap_or_else(|error| panic!("{context}: {}: {error}", snapshot.name));
        assert_eq!(count(&connection, &clone), whole, "{context}: {}", snapshot.name);
    }
    for text in ["t", "off", "new"] {
        let table = name(text);
        if !admin.table_exists(table.clone()).expect("an answer") {
            assert!(["new", emptied].contains(&text), "{context}: {table} is gone");
            continue;
        }
        if admin.is_table_disabled(table.clone()).expect("an answer") {
            admin.enable_table(table.clone()).unwrap_or_else(|error| panic!("{context}: {error}"));
        }
        let found = count(&connection, &table);
        let is_possible = match text == emptied {
            true => [(0, 0), (ROWS, 1), whole].contains(&found),
            false => found == whole,
        };
        assert!(is_possible, "{context}: {table} has {found:?} rows and cells of each");
    }
}

/// The open that follows the kill is cut off after every `stride`-th of its operations, too.
/// Strides below three need `HBLITE_CUTS=all`.
fn at_every_operation(stride: usize, procedure: Procedure, emptied: &str) {
    let wants_all = std::env::var("HBLITE_CUTS").is_ok_and(|cuts| cuts == "all");
    let stride = if wants_all { stride } else { stride.max(3) };
    let work = |connection: Connection| {
        let _ = procedure(&connection);
    };
    cuts::at_every_operation(1, prepare, work, |fs, (), cut| {
        let opened = open(fs.after_kill());
        drop(opened.unwrap_or_else(|error| panic!("killed, {cut}: {error}")));
        cuts::at_every_open_after_a_kill(fs, stride, open, |fs, of_open| {
            for seed in 0..3 {
                let context = format!("killed, {cut}; opened, {of_open}; power cut, seed {seed}");
                verify(&fs.after_power_cut(seed), emptied, &context);
            }
        });
    });
}

#[test]
fn a_snapshot_is_deleted() {
    at_every_operation(3, |connection| connection.admin().delete_snapshot("s-t"), "");
}

#[test]
fn a_snapshot_is_taken() {
    let take: Procedure =
        |connection| connection.admin().snapshot("another", name("t"), &SnapshotOptions::default());
    at_every_operation(3, take, "");
}

#[test]
fn a_snapshot_is_restored() {
    at_every_operation(
        1,
        |connection| connection.admin().restore_snapshot("s-off", FailSafeSnapshot::Take),
        "",
    );
}

#[test]
fn a_snapshot_is_cloned() {
    at_every_operation(9, |connection| connection.admin().clone_snapshot("s-t", name("new")), "");
}

#[test]
fn a_table_is_truncated() {
    at_every_operation(
        1,
        |connection| connection.admin().truncate_table(name("off"), SplitPoints::Preserve),
        "off",
    );
}

#[test]
fn a_table_is_dropped() {
    at_every_operation(9, |connection| connection.admin().delete_table(name("off")), "off");
}

#[test]
fn a_region_is_split_and_merged() {
    let split_and_merge: Procedure = |connection| {
        let admin = connection.admin();
        admin.split_table(name("t"), Some(b"row-3"))?;
        admin.major_compact_table(name("t"))?;
        let regions = admin.regions(name("t"))?;
        let names: Vec<&str> = regions.iter().map(|region| region.encoded_name()).collect();
        admin.merge_regions(&names, MergeKind::Adjacent)
    };
    at_every_operation(9, split_and_merge, "");
}

#[test]
fn a_region_is_truncated() {
    let truncate: Procedure = |connection| {
        let admin = connection.admin();
        let region = admin.regions(name("t"))?.remove(0);
        admin.truncate_region(region.encoded_name())
    };
    at_every_operation(9, truncate, "t");
}

#[test]
fn a_family_is_deleted_and_made_again() {
    let delete: Procedure = |connection| {
        let admin = connection.admin();
        admin.delete_family(name("off"), "b")?;
        admin.add_family(name("off"), &ColumnFamilyDescriptor::new("b"))
    };
    at_every_operation(9, delete, "off");
}

#[test]
fn a_table_is_created() {
    let create: Procedure = |connection| {
        let table = testkit::descriptor("new", &FAMILIES);
        connection.admin().create_table_with_splits(&table, &[b"m".to_vec()])
    };
    at_every_operation(9, create, "new");
}

#[test]
fn tables_are_disabled_altered_and_enabled() {
    let alter: Procedure = |connection| {
        let admin = connection.admin();
        admin.disable_table(name("t"))?;
        let mut table = admin.describe_table(name("off"))?;
        table.set_attribute("altered", "true")?;
        admin.modify_table(&table)?;
        admin.enable_table(name("off"))?;
        admin.enable_table(name("t"))
    };
    at_every_operation(9, alter, "");
}
