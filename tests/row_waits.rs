//! Waits for the lock of a row, counted for the row that is held. The truth is measured here, by
//! those that wait.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use hblite::{Durability, Increment, Put, RowWaits};

use crate::testkit;

const THREADS: u32 = 3;
const INCREMENTS: u32 = 30;

/// Each increment holds its row until the disk has it. Puts of other rows hold none for long.
#[test]
fn increments_of_a_row_wait_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let connection = hblite::open(dir.path()).unwrap();
    testkit::create(&connection, "t", &["f"]).unwrap();
    let table = connection.table("t").unwrap();
    let admin = connection.admin();
    let start = admin.row_counts(u64::MAX).unwrap().unwrap().until;
    let together = Barrier::new(THREADS as usize + 1);
    let begun = Instant::now();
    let took: Duration = thread::scope(|scope| {
        let increment = || {
            let one = Increment::new("hot").add("f", "n", 1).with_durability(Durability::FsyncWal);
            together.wait();
            let begun = Instant::now();
            (0..INCREMENTS).for_each(|_| drop(table.increment(&one).unwrap()));
            begun.elapsed()
        };
        let increments: Vec<_> = (0..THREADS).map(|_| scope.spawn(increment)).collect();
        together.wait();
        for row in 0..2_000 {
            table.put(&Put::new(format!("row {row}")).add("f", "q", "value")).unwrap();
        }
        increments.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let elapsed = begun.elapsed();
    let counts = admin.row_counts(start).unwrap().unwrap();
    let mut waits = RowWaits::default();
    counts.regions.iter().for_each(|region| waits.add(&region.waits));
    let [first, ..] = &waits.rows[..] else { panic!("{waits:?}") };
    assert_eq!(first.row, b"hot", "{waits:?}");
    // While one increments, the others wait, whatever they do besides.
    let micros = u128::from(first.micros);
    assert!(micros <= took.as_micros(), "{waits:?} in {took:?}");
    assert!(2 * micros >= took.saturating_sub(elapsed).as_micros(), "{waits:?} in {took:?}");
    assert!((1..=u64::from(THREADS * INCREMENTS)).contains(&first.waits), "{waits:?}");
    // No other row was locked exclusively, so none is said.
    let others = waits.rows[1..].iter().filter(|row| !row.row.is_empty());
    assert_eq!(others.count(), 0, "{waits:?}");
    assert_eq!(waits.waits, waits.rows.iter().map(|row| row.waits).sum::<u64>());
    connection.close().unwrap();
}
