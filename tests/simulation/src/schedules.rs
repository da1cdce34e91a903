//! Small programs under thousands of schedules: each is a race that one part of the engine must
//! handle correctly in every interleaving.
//!
//! The simulation of a whole machine (`main.rs`) meets these races by chance. Here each race runs
//! alone, so a few hundred switch points are tried in thousands of orders. A deadlock fails the
//! test and names the waiting threads. `HBLITE_SCHEDULES` is how many schedules each program gets,
//! 2,500 by default; a failure names its seed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite::{
    CheckAndMutate, ColumnFamilyDescriptor, Connection, Durability, Error, Exception, Get, Options,
    Put, Scan, Table, TableDescriptor, TableName,
};
use hblite_env::simulation::{self, Policy};
use hblite_env::{CrashFileSystem, Env, thread};

const SCHEDULES: u64 = 2_500;
const STEPS_MAX: u64 = 1_000_000;

/// Runs `program` under many schedules, half of them by chance and half by priorities.
fn explore(program: impl Fn()) {
    let setting = std::env::var("HBLITE_SCHEDULES").ok().and_then(|text| text.parse().ok());
    let mut switches = 0;
    for seed in 0..setting.unwrap_or(SCHEDULES) {
        let policy = match seed % 2 {
            0 => Policy::Random { switch_one_in: 1 + seed % 5 },
            _ => Policy::Priorities { changes: 1 + (seed % 7) as usize, steps: 600 },
        };
        let options =
            simulation::Options { seed, policy, steps_max: STEPS_MAX, keeps_trace: false };
        let (outcome, report) = simulation::run(options, &program);
        outcome.unwrap_or_else(|failure| panic!("schedule {seed}: {failure}"));
        switches += report.switches;
    }
    assert!(switches > 0, "no thread ever gave way to another");
}

fn open(env: &Env) -> Connection {
    let engine = Options::new().with_compaction_enabled(false);
    engine.with_env(env.clone()).open(Path::new("/store")).expect("a store")
}

fn create(connection: &Connection) -> Table {
    let name: TableName = "t".parse().expect("a name");
    let families = TableDescriptor::new(name.clone())
        .with_family(ColumnFamilyDescriptor::new("f"))
        .with_family(ColumnFamilyDescriptor::new("g"));
    connection.admin().create_table(&families).expect("a table");
    connection.table(&name).expect("the table")
}

/// Both families of a row in one write: a reader sees both or none.
fn put(row: &str, number: u64) -> Put {
    let value = number.to_be_bytes();
    Put::new(row).add("f", "q", value).add("g", "q", value)
}

/// The number in both families of a row, which must be the same; 0 if there is none.
fn number_of(table: &Table, row: &str) -> u64 {
    let found = table.get(&Get::new(row)).expect("an answer");
    let number = |family: &str| {
        found.value(family, "q").map_or(0, |v| u64::from_be_bytes(v.try_into().expect("8 bytes")))
    };
    assert_eq!(number("f"), number("g"), "half a write is visible");
    number("f")
}

/// MVCC: writes of several rows become visible as a whole, in order, and stay visible.
#[test]
fn readers_see_whole_writes_and_never_go_back() {
    explore(|| {
        let connection = open(&Env::in_memory());
        let table = &create(&connection);
        thread::scope(|scope| {
            for row in ["a", "b"] {
                scope.spawn(move || {
                    for number in 1..=3 {
                        table.put(&put(row, number)).expect("a put");
                        assert!(number_of(table, row) >= number, "one's own write is not visible");
                    }
                });
            }
            scope.spawn(move || {
                let mut last = [0; 2];
                for _ in 0..4 {
                    for (last, row) in last.iter_mut().zip(["a", "b"]) {
                        let number = number_of(table, row);
                        assert!(number >= *last, "a read went back from {last} to {number}");
                        *last = number;
                    }
                }
            });
        });
        assert_eq!((number_of(table, "a"), number_of(table, "b")), (3, 3));
    });
}

/// Memstore swap: while flushes replace segments by files, no acknowledged row is missing and none
/// is read twice.
#[test]
fn a_flush_hides_and_doubles_nothing() {
    explore(|| {
        let connection = open(&Env::in_memory());
        let table = &create(&connection);
        let admin = connection.admin();
        let (begun, done) = (&AtomicU64::new(0), &AtomicU64::new(0));
        thread::scope(|scope| {
            scope.spawn(move || {
                for number in 1..=5 {
                    begun.store(number, Ordering::SeqCst);
                    table.put(&put(&format!("row{number}"), number)).expect("a put");
                    done.store(number, Ordering::SeqCst);
                }
            });
            scope.spawn(|| {
                for _ in 0..3 {
                    admin.flush_table(table.name()).expect("a flush");
                }
            });
            scope.spawn(move || {
                for _ in 0..3 {
                    let before = done.load(Ordering::SeqCst);
                    let mut cells = 0;
                    let mut scanner = table.scan(&Scan::new()).expect("a scan");
                    scanner.for_each_cell(|_| cells += 1).expect("an answer");
                    let after = begun.load(Ordering::SeqCst);
                    assert!(cells >= 2 * before, "{cells} cells of {before} acknowledged rows");
                    assert!(cells <= 2 * after, "{cells} cells of {after} rows");
                }
            });
        });
    });
}

/// Group commit: what was acknowledged with FSYNC_WAL survives a power cut, whichever writer wrote
/// and synced the log.
#[test]
fn an_acknowledged_sync_survives_a_power_cut() {
    explore(|| {
        let disk = CrashFileSystem::new();
        let env = Env::in_memory().with_fs(Arc::new(disk.clone()));
        let connection = open(&env);
        let table = &create(&connection);
        let done: &[AtomicU64; 3] = &Default::default();
        let cut = thread::scope(|scope| {
            for (writer, done) in done.iter().enumerate() {
                scope.spawn(move || {
                    for number in 1..=2 {
                        let put = put(&format!("row{writer}"), number);
                        table.put(&put.with_durability(Durability::FsyncWal)).expect("a put");
                        done.store(number, Ordering::SeqCst);
                    }
                });
            }
            scope
                .spawn(|| {
                    thread::yield_now();
                    let acknowledged = done.each_ref().map(|done| done.load(Ordering::SeqCst));
                    (acknowledged, disk.after_power_cut(1))
                })
                .join()
        });
        let (acknowledged, rest) = cut.expect("the power cut");
        let again = open(&Env::in_memory().with_fs(Arc::new(rest)));
        let table = again.table("t").expect("the table");
        for (writer, number) in acknowledged.into_iter().enumerate() {
            assert!(number_of(&table, &format!("row{writer}")) >= number, "a write is lost");
        }
    });
}

/// Row locks: of conditional writes of one row that meet, those that succeed form a chain. Each
/// sees what the one before it wrote, so none is lost.
#[test]
fn conditional_writes_of_a_row_come_one_after_the_other() {
    explore(|| {
        let connection = open(&Env::in_memory());
        let table = &create(&connection);
        table.put(&put("row", 0)).expect("a put");
        let done = &AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(move || {
                    for _ in 0..2 {
                        let before = number_of(table, "row");
                        let check = CheckAndMutate::new("row")
                            .if_equals("f", "q", before.to_be_bytes())
                            .then(put("row", before + 1));
                        let answer = table.check_and_mutate(&check).expect("an answer");
                        done.fetch_add(u64::from(answer.is_success), Ordering::SeqCst);
                    }
                });
            }
        });
        let done = done.load(Ordering::SeqCst);
        assert!(done > 0, "no write succeeded");
        assert_eq!(number_of(table, "row"), done, "two writes saw the same number");
    });
}

/// Region close: a write to a table that is being taken out of service succeeds completely or is
/// refused; no thread waits forever, and acknowledged writes exist afterwards.
#[test]
fn a_write_that_meets_a_closing_region_is_done_or_refused() {
    explore(|| {
        let connection = open(&Env::in_memory());
        let table = &create(&connection);
        let admin = connection.admin();
        let done = &AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(move || {
                for number in 1..=4 {
                    match table.put(&put("row", number)) {
                        Ok(()) => done.store(number, Ordering::SeqCst),
                        Err(error) => assert!(is_out_of_service(&error), "{error}"),
                    }
                }
            });
            scope.spawn(move || {
                for _ in 0..3 {
                    if let Err(error) = table.get(&Get::new("row")) {
                        assert!(is_out_of_service(&error), "{error}");
                    }
                }
            });
            scope.spawn(|| {
                admin.disable_table(table.name()).expect("a disabled table");
                admin.enable_table(table.name()).expect("an enabled table");
            });
        });
        assert_eq!(number_of(table, "row"), done.load(Ordering::SeqCst));
    });
}

fn is_out_of_service(error: &Error) -> bool {
    matches!(error.exception(), Exception::TableNotEnabled | Exception::NotServingRegion)
}
