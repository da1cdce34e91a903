//! A panic in the middle of a write or a flush: goal and method.
//!
//! A panic is a bug, and the thread that has it is lost. No other thread may wait for it forever:
//! writes in progress end, with an error or without, and later ones are refused until the store is
//! opened again. Then it has everything that was acknowledged. A file system panics at one of the
//! first writes to the log, while several threads write.
//!
//! A panic of the flushing thread is an error of the store's status, and the flush is tried again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hblite::{Connection, Durability, Get, Put, StoreStatus, Table};
use hblite_env::{Fault, FaultFileSystem, MemFileSystem, Operation};

use crate::testkit;

const THREADS: usize = 8;
/// More than any thread writes before the fault occurs.
const ROWS_MAX: usize = 1_000_000;
/// A thread that takes longer than this waits forever.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a thread ended that wrote rows until one was refused.
#[derive(Debug)]
enum End {
    Panicked,
    Refused(String),
}

fn row(thread: usize, number: usize) -> String {
    format!("{thread}-{number:04}")
}

/// Writes rows, and returns how many were acknowledged.
fn write(table: &Table, thread: usize) -> (usize, End) {
    let durability = [Durability::SyncWal, Durability::FsyncWal][thread % 2];
    for number in 0..ROWS_MAX {
        let put = Put::new(row(thread, number)).add("f", "q", vec![b'v'; 50 << (number % 8)]);
        let put = put.with_durability(durability);
        match catch_unwind(AssertUnwindSafe(|| table.put(&put))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return (number, End::Refused(error.to_string())),
            Err(_) => return (number, End::Panicked),
        }
    }
    unreachable!("the fault occurs before that");
}

fn open(fs: &FaultFileSystem) -> (Connection, Table) {
    let connection = testkit::open(fs.clone(), testkit::by_hand()).expect("a store opens");
    let name = testkit::name("t");
    if !connection.admin().table_exists(&name).expect("an answer") {
        testkit::create(&connection, "t", &["f"]).expect("a new table");
    }
    let table = connection.table(&name).expect("the table");
    (connection, table)
}

#[test]
fn no_thread_waits_for_one_that_panicked() {
    for nth in [1, 2, 40] {
        for operation in [Operation::Write, Operation::Sync] {
            let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
            let (connection, table) = open(&fs);
            fs.inject(Fault::on(operation).in_path("hblite-wal").nth(nth).panic());
            let (done, ends) = mpsc::channel();
            let start = |thread| {
                let (done, table) = (done.clone(), table.clone());
                std::thread::spawn(move || {
                    let (written, end) = write(&table, thread);
                    done.send((thread, written, end)).unwrap();
                })
            };
            let threads: Vec<_> = (0..THREADS).map(start).collect();
            let wait = |_| ends.recv_timeout(PATIENCE).expect("a thread waits forever");
            let ends: Vec<(usize, usize, End)> = (0..THREADS).map(wait).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            let panics = ends.iter().filter(|(_, _, end)| matches!(end, End::Panicked)).count();
            assert_eq!(panics, 1, "{ends:?}");
            for (_, _, end) in &ends {
                let End::Refused(message) = end else { continue };
                assert!(message.contains("a thread panicked during a write"), "{message}");
                assert!(message.contains("reopen the store"), "{message}");
            }
            // What was acknowledged is readable, now and after the store is opened again.
            let check = |table: &Table| {
                for (thread, written, _) in &ends {
                    for number in 0..*written {
                        let found = table.get(&Get::new(row(*thread, number))).unwrap();
                        assert!(!found.is_empty(), "{operation:?} {nth}: {thread} {number}");
                    }
                }
            };
            check(&table);
            drop((table, connection));
            let (_connection, table) = open(&fs);
            check(&table);
            table.put(&Put::new("after").add("f", "q", "v")).unwrap();
        }
    }
}

#[test]
fn a_flush_that_panicked_is_tried_again() {
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    let options = testkit::by_hand().with_memstore_flush_size_bytes(64 << 10);
    let connection = testkit::open(fs.clone(), options).unwrap();
    testkit::create(&connection, "t", &["f"]).unwrap();
    let table = connection.table(testkit::name("t")).unwrap();
    fs.inject(Fault::on(Operation::Create).in_path("/.tmp/").forever().panic());
    for number in 0..100 {
        table.put(&Put::new(row(0, number)).add("f", "q", vec![b'v'; 1_000])).unwrap();
    }
    let until = |what: &str, is_met: &dyn Fn(&StoreStatus) -> bool| {
        let began = Instant::now();
        while !is_met(&connection.admin().status().unwrap()) {
            assert!(began.elapsed() < PATIENCE, "{what}");
            std::thread::yield_now();
        }
    };
    until("the status has the panic", &|status| {
        let error = status.last_error.as_deref().unwrap_or_default();
        error.contains("hblite-flusher panicked in region") && error.contains("injected: Create")
    });
    fs.heal();
    until("the flush succeeds", &|status| {
        let files = |region: &hblite::RegionStatus| region.store_file_count;
        status.last_error.is_none() && status.regions.iter().map(files).sum::<u64>() > 0
    });
    for number in 0..100 {
        assert!(!table.get(&Get::new(row(0, number))).unwrap().is_empty());
    }
}
