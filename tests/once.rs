//! Writes that are sent again but must take effect once: nonces, from many threads and across a
//! crash.

use std::sync::Arc;
use std::thread;

use hblite::{
    Append, CheckAndMutate, Connection, Get, Increment, Nonce, Options, Put, Result, RowMutations,
};
use hblite_env::{CrashFileSystem, Env};

use crate::testkit;

const THREADS: u64 = 8;
const WRITES: u64 = 200;

fn counter(connection: &Connection) -> Result<i64> {
    let row = connection.table("t")?.get(&Get::new("row"))?;
    let value = row.value("f", "n").and_then(|value| value.try_into().ok());
    Ok(value.map_or(0, i64::from_be_bytes))
}

fn one() -> Increment {
    Increment::new("row").add("f", "n", 1)
}

/// All threads send all writes, so each is sent eight times, often at the same time.
#[test]
fn writes_that_all_threads_send_count_once() -> Result<()> {
    let connection = hblite::open_in_memory()?;
    testkit::create(&connection, "t", &["f"])?;
    let table = connection.table("t")?;
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for number in 0..WRITES {
                    let row = table.once(Nonce { group: 1, number }).increment(&one()).unwrap();
                    // Every sender receives the counter after its write.
                    let value = row.value("f", "n").unwrap().try_into().unwrap();
                    assert!((1..=WRITES as i64).contains(&i64::from_be_bytes(value)));
                }
            });
        }
    });
    assert_eq!(counter(&connection)?, WRITES as i64);
    // Another caller's numbers are other writes.
    table.once(Nonce { group: 2, number: 0 }).increment(&one())?;
    assert_eq!(counter(&connection)?, WRITES as i64 + 1);
    Ok(())
}

#[test]
fn a_repeat_gives_what_the_first_gave() -> Result<()> {
    let connection = hblite::open_in_memory()?;
    testkit::create(&connection, "t", &["f"])?;
    let table = connection.table("t")?;
    let nonce = |number| Nonce { group: 7, number };

    let append = Append::new("row").add("f", "text", "ab");
    let first = table.once(nonce(1)).append(&append)?;
    table.append(&append)?;
    assert_eq!(table.once(nonce(1)).append(&append)?, first);

    let mutations = RowMutations::new("row").add(Put::new("row").add("f", "p", "1")).add(one());
    let first = table.once(nonce(2)).mutate_row(&mutations)?;
    table.increment(&one())?;
    assert_eq!(table.once(nonce(2)).mutate_row(&mutations)?, first);
    assert_eq!(counter(&connection)?, 2);

    let check = CheckAndMutate::new("row").if_not_exists("f", "owner");
    let claim = check.then_mutate_row(
        RowMutations::new("row").add(Put::new("row").add("f", "owner", "me")).add(one()),
    );
    let first = table.once(nonce(3)).check_and_mutate(&claim)?;
    assert!(first.is_success);
    // The column exists now, but this is the same write.
    assert_eq!(table.once(nonce(3)).check_and_mutate(&claim)?, first);
    assert!(!table.once(nonce(4)).check_and_mutate(&claim)?.is_success);
    assert_eq!(counter(&connection)?, 3);
    Ok(())
}

/// A failed write was not done: its repeat is tried.
#[test]
fn a_write_that_failed_may_be_repeated() -> Result<()> {
    let connection = hblite::open_in_memory()?;
    testkit::create(&connection, "t", &["f"])?;
    let table = connection.table("t")?;
    table.put(&Put::new("row").add("f", "n", "not a counter"))?;
    let nonce = Nonce { group: 1, number: 1 };
    table.once(nonce).increment(&one()).unwrap_err();
    table.put(&Put::new("row").add("f", "n", 5i64.to_be_bytes()))?;
    table.once(nonce).increment(&one())?;
    table.once(nonce).increment(&one())?;
    assert_eq!(counter(&connection)?, 6);
    Ok(())
}

/// The process was killed before its answer arrived.
#[test]
fn a_repeat_after_a_crash_counts_once() -> Result<()> {
    let disk = CrashFileSystem::new();
    let open = |disk: &CrashFileSystem| {
        let env = Env::in_memory().with_fs(Arc::new(disk.clone()));
        Options::new().with_env(env).open("/store")
    };
    let connection = open(&disk)?;
    testkit::create(&connection, "t", &["f"])?;
    let nonce = Nonce { group: 3, number: 9 };
    connection.table("t")?.once(nonce).increment(&one())?;
    let left = disk.after_kill();
    drop(connection);
    let connection = open(&left)?;
    for _ in 0..3 {
        connection.table("t")?.once(nonce).increment(&one())?;
    }
    assert_eq!(counter(&connection)?, 1);
    Ok(())
}
