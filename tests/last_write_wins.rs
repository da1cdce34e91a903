//! Goal: of writes that follow one another without timestamps, the last one wins, at any speed, and
//! ten versions of a column are kept, whatever happens to the store in between.
//!
//! Method: random sequences of writes to a row, without pauses and with the clock of the system,
//! compared with `hblite_reference::writes`. A failure prints the seed.

use std::sync::Arc;

use hblite::{
    Action, CheckAndMutate, ColumnFamilyDescriptor, Connection, Delete, Env, Get, Increment,
    ManualClock, Options, Put, Result, Scan, Table, TableDescriptor, TimeRange,
};
use hblite_env::{Clock, CrashFileSystem, SystemClock};
use hblite_reference::writes::{ONE, Random, Row, VERSIONS, VERSIONS_MAX, cells_of, get, sequence};

use crate::testkit;

const SEQUENCES: u64 = 1_000;

fn create(connection: &Connection) -> Result<Table> {
    let versions = ColumnFamilyDescriptor::new(VERSIONS).with_versions(VERSIONS_MAX as u32);
    let table = TableDescriptor::new(testkit::name("t"))
        .with_family(versions)
        .with_family(ColumnFamilyDescriptor::new(ONE));
    connection.admin().create_table(&table)?;
    connection.table("t")
}

fn apply(table: &Table, action: Action, in_batch: bool) -> Result<()> {
    match action {
        action if in_batch => table.batch(&[action])?.remove(0).map(drop),
        Action::Mutation(mutation) => table.mutate_all(&[mutation]),
        Action::RowMutations(all) => table.mutate_row(&all).map(drop),
        Action::CheckAndMutate(check) => {
            assert!(table.check_and_mutate(&check)?.is_success, "{check:?}");
            Ok(())
        }
        Action::Get(_) => unreachable!("not a write"),
    }
}

/// Applies the sequences to a store on which `between` does something after each write. Returns the
/// store.
fn run_all(
    mut connection: Connection,
    seeds: std::ops::Range<u64>,
    mut between: impl FnMut(Connection, &mut Random) -> Result<Connection>,
) -> Result<Connection> {
    create(&connection)?;
    for seed in seeds {
        let row = format!("{:03x}-{seed}", seed * 2_654_435_761 % 4_096);
        let (mut expected, mut random) = (Row::default(), Random::new(seed ^ 0xabcd));
        let writes = sequence(seed);
        for (step, write) in writes.iter().enumerate() {
            let table = connection.table("t")?;
            apply(&table, write.action(&row), random.below(4) == 0)?;
            expected.apply(write);
            connection = between(connection, &mut random)?;
            let found = cells_of(&connection.table("t")?.get(&get(&row))?);
            assert_eq!(found, expected.cells(), "seed {seed}, after {:?}", &writes[..=step]);
        }
    }
    Ok(connection)
}

#[test]
fn sequences_of_writes_in_memory() -> Result<()> {
    run_all(hblite::open_in_memory()?, 0..SEQUENCES, |connection, _| Ok(connection))?;
    Ok(())
}

#[test]
fn sequences_of_writes_beside_flushes_compactions_splits_and_opens() -> Result<()> {
    let fs = Arc::new(hblite_env::MemFileSystem::new());
    let open =
        || Options::new().with_env(Env::in_memory().with_fs(fs.clone())).open(testkit::STORE);
    run_all(open()?, 0..SEQUENCES, |connection, random| {
        let admin = connection.admin();
        match random.below(200) {
            0..=3 => admin.flush_table("t")?,
            4 | 5 => admin.major_compact_table("t")?,
            6 => {
                let row = format!("{:03x}", random.below(4_096));
                // Refused where a region begins there already.
                let _ = admin.split_table("t", Some(row.as_bytes()));
            }
            7 => {
                connection.close()?;
                return open();
            }
            _ => {}
        }
        Ok(connection)
    })?
    .close()
}

#[test]
fn sequences_of_writes_beside_kills() -> Result<()> {
    let engine = || Options::new().with_flush_on_close(false);
    let open = |fs: &CrashFileSystem| {
        let env = Env::in_memory().with_fs(Arc::new(fs.clone()));
        engine().with_env(env).open(testkit::STORE)
    };
    let mut fs = CrashFileSystem::new();
    run_all(open(&fs)?, 0..SEQUENCES, |connection, random| match random.below(60) {
        0 => {
            fs = fs.after_kill();
            open(&fs)
        }
        _ => Ok(connection),
    })?;
    Ok(())
}

#[test]
fn sequences_of_writes_beside_rewinds_and_forks() -> Result<()> {
    run_all(hblite::open_in_memory()?, 0..SEQUENCES, |connection, random| {
        match random.below(60) {
            0 => {
                connection.checkpoint("here")?;
                connection.rewind("here")?;
            }
            1 => {
                connection.checkpoint("here")?;
                return connection.fork("here");
            }
            _ => {}
        }
        Ok(connection)
    })?;
    Ok(())
}

#[test]
fn sequences_of_writes_under_a_clock_that_stands_still() -> Result<()> {
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let env = Env::in_memory().with_clock(clock);
    let connection = Options::new().with_env(env).open_in_memory()?;
    run_all(connection, 0..SEQUENCES, |connection, random| {
        if random.below(20) == 0 {
            connection.admin().flush_table("t")?;
        }
        Ok(connection)
    })?;
    Ok(())
}

fn table() -> Result<(Connection, Table)> {
    let connection = hblite::open_in_memory()?;
    let table = create(&connection)?;
    Ok((connection, table))
}

fn now() -> i64 {
    SystemClock.now_millis()
}

#[test]
fn ten_puts_in_a_row_are_ten_versions() -> Result<()> {
    let (_store, table) = table()?;
    for burst in 0..200 {
        let row = format!("r{burst}");
        for column in ["a", "b", "c"] {
            for version in 0..VERSIONS_MAX {
                table.put(&Put::new(&row).add(VERSIONS, column, version.to_string()))?;
            }
        }
        for column in ["a", "b", "c"] {
            let get = Get::new(&row).with_column(VERSIONS, column).with_all_versions();
            let found: Vec<_> = table.get(&get)?.cells().map(|cell| cell.value()[0]).collect();
            assert_eq!(found, b"9876543210", "{column} of burst {burst}");
        }
    }
    Ok(())
}

#[test]
fn puts_stay_near_the_clock_and_the_newest_wins() -> Result<()> {
    let (_store, table) = table()?;
    for number in 0..20_000 {
        table.put(&Put::new("r").add(VERSIONS, "q", number.to_string()))?;
        let found = table.get(&Get::new("r"))?;
        let cell = found.cells().next().expect("the value");
        assert_eq!(cell.value(), number.to_string().as_bytes());
        assert!(cell.timestamp() <= now() + 10, "{} ahead", cell.timestamp() - now());
    }
    Ok(())
}

#[test]
fn puts_after_deletes_stay_near_the_clock() -> Result<()> {
    let (_store, table) = table()?;
    for number in 0..300 {
        table.put(&Put::new("r").add(ONE, "q", number.to_string()))?;
        let found = table.get(&Get::new("r"))?;
        let cell = found.cells().next().expect("the value");
        assert_eq!(cell.value(), number.to_string().as_bytes());
        assert!(cell.timestamp() <= now() + 10, "{} ahead", cell.timestamp() - now());
        table.delete(&Delete::new("r"))?;
        assert!(table.get(&Get::new("r"))?.is_empty(), "delete {number}");
    }
    Ok(())
}

#[test]
fn what_follows_a_counter_is_after_it_without_a_wait() -> Result<()> {
    let fs = CrashFileSystem::new();
    let open = |fs: &CrashFileSystem| {
        let env = Env::in_memory().with_fs(Arc::new(fs.clone()));
        Options::new().with_env(env).open(testkit::STORE)
    };
    let connection = open(&fs)?;
    let table = create(&connection)?;
    for _ in 0..3_000 {
        table.increment(&Increment::new("r").add(ONE, "n", 1))?;
    }
    let ahead = |table: &Table| -> Result<i64> {
        let found = table.get(&Get::new("r"))?;
        Ok(found.cells().next().expect("a value").timestamp() - now())
    };
    assert!(ahead(&table)? > 1_000, "the counter ran ahead by {} ms", ahead(&table)?);
    connection.admin().flush_table("t")?;
    // Once from the log, once from a file.
    for (round, value) in ["killed", "again"].into_iter().enumerate() {
        let fs = fs.after_kill();
        let connection = open(&fs)?;
        let table = connection.table("t")?;
        let before = ahead(&table)?;
        table.put(&Put::new("r").add(ONE, "n", value))?;
        assert_eq!(table.get(&Get::new("r"))?.text(ONE, "n")?, Some(value), "round {round}");
        assert!(ahead(&table)? <= before + 10);
        table.delete(&Delete::new("r"))?;
        assert!(table.get(&Get::new("r"))?.is_empty());
        // Other rows are not affected.
        table.put(&Put::new("other").add(ONE, "n", value))?;
        let other = table.get(&Get::new("other"))?;
        assert!(other.cells().all(|cell| cell.timestamp() <= now() + 10));
        if round == 0 {
            connection.admin().flush_table("t")?;
        }
    }
    Ok(())
}

#[test]
fn a_future_timestamp_that_a_client_chose_hides_later_writes() -> Result<()> {
    let (_store, table) = table()?;
    let future = now() + 3_600_000;
    table.put(&Put::new("r").add_at(ONE, "q", future, "future"))?;
    table.put(&Put::new("r").add(ONE, "q", "present"))?;
    assert_eq!(table.get(&Get::new("r"))?.text(ONE, "q")?, Some("future"));
    table.delete(&Delete::new("r"))?;
    assert_eq!(table.get(&Get::new("r"))?.text(ONE, "q")?, Some("future"));
    Ok(())
}

#[test]
fn no_change_of_one_millisecond_is_lost() -> Result<()> {
    let (_store, table) = table()?;
    for round in 0..300 {
        let row = format!("r{round}");
        // The range has the first value only, so that each increment begins with it.
        let first = Put::new(&row).add_at(VERSIONS, "n", 5, 10_i64.to_be_bytes());
        table.put(&first)?;
        for _ in 0..2 {
            let range = TimeRange::new(0, 6)?;
            let increment = Increment::new(&row).add(VERSIONS, "n", 1).with_time_range(range);
            table.increment(&increment)?;
        }
        table.put(&Put::new(&row).add(VERSIONS, "q", "0"))?;
        for (old, new) in [("0", "1"), ("1", "2")] {
            let check = CheckAndMutate::new(&row).if_equals(VERSIONS, "q", old);
            let put = Put::new(&row).add(VERSIONS, "q", new);
            assert!(table.check_and_mutate(&check.then(put))?.is_success);
        }
        let found = table.get(&get(&row))?;
        assert_eq!(found.cells().count(), 6, "round {round}: {found:?}");
    }
    Ok(())
}

#[test]
fn a_clock_that_is_set_back_a_little_stands_still() -> Result<()> {
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let env = Env::in_memory().with_clock(clock.clone());
    let connection = Options::new().with_env(env).open_in_memory()?;
    let table = create(&connection)?;
    table.put(&Put::new("a").add(ONE, "q", "1"))?;
    clock.advance(-9_000);
    table.put(&Put::new("a").add(ONE, "q", "2"))?;
    table.put(&Put::new("b").add(ONE, "q", "2"))?;
    let times = |row: &str| -> Result<Vec<i64>> {
        Ok(table.get(&Get::new(row))?.cells().map(|cell| cell.timestamp()).collect())
    };
    assert_eq!(table.get(&Get::new("a"))?.text(ONE, "q")?, Some("2"));
    assert_eq!(times("b")?, [1_700_000_000_000]);
    // A larger jump is followed, and an older timestamp is hidden, as in HBase.
    clock.advance(-3_600_000);
    table.put(&Put::new("a").add(ONE, "q", "3"))?;
    table.put(&Put::new("b").add(ONE, "other", "3"))?;
    assert_eq!(table.get(&Get::new("a"))?.text(ONE, "q")?, Some("2"));
    assert_eq!(times("b")?, [1_700_000_000_000 - 3_609_000, 1_700_000_000_000]);
    Ok(())
}

#[test]
fn the_catalog_is_below_the_clock_after_each_change() -> Result<()> {
    let connection = hblite::open_in_memory()?;
    let admin = connection.admin();
    for round in 0..100 {
        create(&connection)?;
        admin.disable_table("t")?;
        admin.delete_table("t")?;
        let time = now();
        let meta = connection.table("hbase:meta")?;
        for row in meta.scan(&Scan::new().with_raw(true).with_all_versions())? {
            for cell in row?.cells() {
                assert!(cell.timestamp() < time, "round {round}: {cell:?} at {time}");
            }
        }
    }
    Ok(())
}
