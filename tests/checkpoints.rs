//! Goal: after any writes and procedures, a rewind restores exactly the state at the checkpoint,
//! and a fork begins with it. Method: random operations through the public API on a store in memory
//! and on one in a directory; everything that can be read is recorded at each checkpoint and
//! compared after each rewind and in each fork.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use hblite::{
    ColumnFamilyDescriptor, Connection, Delete, Get, Increment, NamespaceDescriptor, Options, Put,
    Result, Scan, SnapshotOptions, SplitPoints, SystemTables, Table, TableDescriptor, TableName,
};
use hblite_env::{Random as _, SeededRandom};

use crate::testkit;

const TABLES: [&str; 4] = ["a", "b", "n:c", "n:d"];
const CHECKPOINTS: [&str; 3] = ["one", "two", "three"];

/// Everything that can be read: tables, regions, cells of every version, namespaces, snapshots.
fn picture(connection: &Connection) -> Result<String> {
    let (admin, mut text) = (connection.admin(), String::new());
    for namespace in admin.list_namespaces()? {
        let _ = writeln!(text, "namespace {namespace:?}");
    }
    for snapshot in admin.list_snapshots()? {
        let _ = writeln!(text, "snapshot {}", snapshot.name);
    }
    for descriptor in admin.list_tables(SystemTables::Exclude)? {
        let name = descriptor.name().clone();
        let _ = writeln!(text, "table {descriptor} {:?}", admin.table_state(&name)?);
        let table = connection.table(name)?;
        for region in table.regions()? {
            let _ = writeln!(text, "region {}", region.region_name_as_string());
        }
        if !admin.is_table_enabled(descriptor.name())? {
            continue;
        }
        for row in table.scan(&Scan::new().with_raw(true).with_all_versions())? {
            for cell in row?.cells() {
                let _ = writeln!(text, "{cell:?} {:?}", cell.value());
            }
        }
    }
    // Counters of requests and memory differ; ids of the latest writes do not.
    let engine = connection
        .backend_as::<hblite_engine::Timeline>()
        .map(|timeline| timeline.engine())
        .expect("an embedded store");
    let mut ids: Vec<String> = Vec::new();
    for region in engine.online_regions() {
        if !region.info().table().is_system() {
            let id = region.last_sequence_id();
            ids.push(format!("{} {id}", region.info().region_name_as_string()));
        }
    }
    ids.sort();
    let _ = writeln!(text, "{}", ids.join("\n"));
    Ok(text)
}

struct World {
    random: SeededRandom,
    steps: u64,
}

impl World {
    fn below(&self, limit: usize) -> usize {
        usize::try_from(self.random.next_u64() % limit as u64).expect("below a usize")
    }

    fn name(&self) -> TableName {
        TABLES[self.below(TABLES.len())].parse().expect("a name")
    }

    /// One random operation. One that the current state does not allow is refused and has no
    /// effect.
    fn step(&mut self, connection: &Connection) -> Result<()> {
        self.steps += 1;
        let (admin, name) = (connection.admin(), self.name());
        let table = connection.table(name.clone())?;
        let row = format!("row-{:02}", self.below(40));
        match self.below(20) {
            0 => {
                let family = ColumnFamilyDescriptor::new("f").with_versions(3);
                admin.create_table(&TableDescriptor::new(name).with_family(family))
            }
            1 => admin.create_namespace(&NamespaceDescriptor::new("n")),
            2 if self.below(3) == 0 => {
                admin.disable_table(&name)?;
                admin.delete_table(&name)
            }
            3 => admin.split_table(&name, Some(row.as_bytes())),
            4 => admin.flush_table(&name),
            5 => admin.major_compact_table(&name),
            6 if self.below(2) == 0 => {
                admin.disable_table(&name)?;
                admin.truncate_table(&name, SplitPoints::Preserve)
            }
            7 => admin.snapshot(&format!("s{}", self.below(3)), &name, &SnapshotOptions::default()),
            8 => table.delete(&Delete::new(row)),
            9 => table.increment(&Increment::new(row).add("f", "n", 1)).map(drop),
            _ => {
                let value = format!("{}-{}", self.steps, "x".repeat(self.below(200)));
                table.put(&Put::new(row).add("f", "q", value))
            }
        }
    }

    fn run(&mut self, connection: &Connection, steps: usize) {
        for _ in 0..steps {
            let _refused = self.step(connection);
        }
    }
}

/// Nothing is compacted unless a step says so: a raw scan shows it.
fn options() -> Options {
    Options::new().with_compaction_enabled(false)
}

fn run(connection: &Connection, seed: u64, rounds: usize) -> Result<()> {
    let mut world = World { random: SeededRandom::new(seed), steps: 0 };
    let mut pictures = BTreeMap::new();
    let (mut rewinds, mut changed) = (0, 0);
    world.run(connection, 40);
    for round in 0..rounds {
        let name = CHECKPOINTS[world.below(CHECKPOINTS.len())];
        let steps = world.below(30);
        world.run(connection, steps);
        let place = format!("seed {seed}, round {round}, checkpoint {name}");
        match pictures.get(name) {
            Some(expected) if world.below(3) > 0 => {
                changed += usize::from(picture(connection)? != *expected);
                connection.rewind(name)?;
                assert_eq!(picture(connection)?, *expected, "{place}");
                rewinds += 1;
            }
            Some(expected) => {
                let fork = connection.fork(name)?;
                assert_eq!(picture(&fork)?, *expected, "{place}: fork");
                let before = picture(connection)?;
                world.run(&fork, 10);
                assert_eq!(picture(connection)?, before, "{place}: its parent");
            }
            None => {
                // A checkpoint flushes, and changes nothing else that can be read.
                connection.checkpoint(name)?;
                pictures.insert(name, picture(connection)?);
            }
        }
    }
    assert!(rewinds > 3 && changed > 2, "seed {seed}: {rewinds} rewinds, {changed} changes");
    Ok(())
}

#[test]
fn a_store_in_memory_returns_to_each_checkpoint() -> Result<()> {
    for seed in 0..4 {
        run(&options().open_in_memory()?, seed, 30)?;
    }
    Ok(())
}

#[test]
fn a_store_in_a_directory_returns_to_each_checkpoint() -> Result<()> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("store");
    let connection = options().open(&path)?;
    run(&connection, 9, 16)?;
    let before = picture(&connection)?;
    connection.close()?;
    // The directory has the same contents, and nothing of the checkpoints remains.
    let report = hblite::check(&path)?;
    assert!(report.defects.is_empty(), "{:?}", report.defects);
    assert_eq!(picture(&options().open(&path)?)?, before);
    Ok(())
}

/// A table with one row, in the checkpoint "one".
fn checkpoint_of_a_row(connection: &Connection) -> Result<Table> {
    let descriptor =
        TableDescriptor::new("t".parse()?).with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&descriptor)?;
    let table = connection.table("t")?;
    table.put(&Put::new("a").add("f", "q", "1"))?;
    connection.checkpoint("one")?;
    Ok(table)
}

/// A scan that is under way must not mix the states before and after a rewind, nor continue with
/// rows that are gone.
#[test]
fn a_scanner_of_before_a_rewind_ends_with_an_error() -> Result<()> {
    let dir = tempfile::tempdir().expect("a directory");
    let stores = [options().open_in_memory()?, options().open(dir.path().join("store"))?];
    for connection in stores {
        let table = checkpoint_of_a_row(&connection)?;
        // A handle from before a rewind, and a scanner from between two.
        for rewinds in 1..3 {
            table.put(&Put::new("b").add("f", "q", "2"))?;
            let scanner = || table.scan(&Scan::new());
            let (mut rows, mut parts, mut cells) = (scanner()?, scanner()?, scanner()?);
            assert_eq!(rows.next_row()?.expect("a row").row(), b"a");
            connection.rewind("one")?;
            let errors = [
                rows.next_row().map(drop),
                parts.next_row_within(std::time::Duration::MAX).map(drop),
                cells.for_each_cell(|_| panic!("a cell of the state before the rewind")),
                rows.next().expect("not the end").map(drop),
            ];
            for error in errors.map(|result| result.expect_err("the scanner is unknown")) {
                assert_eq!(error.exception(), hblite::Exception::UnknownScanner, "{rewinds}");
                assert!(error.message().contains("rewound"), "{error}");
            }
            assert!(rows.next().is_none(), "an iterator ends after an error");
            let now: Vec<_> = scanner()?.map(|row| row.map(|r| r.row().to_vec())).collect();
            assert_eq!(now.into_iter().collect::<Result<Vec<_>>>()?, [b"a"]);
        }
    }
    Ok(())
}

/// A handle stays with its table through rewinds, and finds it in one state or the other.
#[test]
fn reads_during_rewinds_find_the_table() -> Result<()> {
    let dir = tempfile::tempdir().expect("a directory");
    let stores = [options().open_in_memory()?, options().open(dir.path().join("store"))?];
    for connection in stores {
        let table = checkpoint_of_a_row(&connection)?;
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut reads = 0;
                while !is_over.load(Ordering::Relaxed) {
                    match table.get(&Get::new("a")) {
                        Ok(row) => assert_eq!(row.value("f", "q"), Some(&b"1"[..])),
                        // The engine of a directory ends under the operations in progress.
                        Err(error) => {
                            assert_eq!(error.kind(), hblite::ErrorKind::Closed, "{error}");
                        }
                    }
                    reads += 1;
                }
                reads
            });
            let end = testkit::SetOnDrop(&is_over);
            let rewound: Result<()> = (0..20).try_for_each(|_| connection.rewind("one"));
            drop(end);
            assert!(reader.join().expect("no panic") > 0);
            rewound
        })?;
        // What changes tables afterwards changes what the handle sees.
        connection.admin().disable_table("t")?;
        let error = table.get(&Get::new("a")).expect_err("disabled");
        assert_eq!(error.exception(), hblite::Exception::TableNotEnabled);
        connection.admin().enable_table("t")?;
        assert_eq!(table.get(&Get::new("a"))?.value("f", "q"), Some(&b"1"[..]));
        assert_eq!(table.regions()?.len(), 1);
    }
    Ok(())
}
