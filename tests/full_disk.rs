//! A store on a full disk: goal and method.
//!
//! While there is no space, writes are refused with an error that says so and can be retried, and
//! reads continue. When there is space again, writes, flushes and compactions resume without a
//! restart. Nothing that was acknowledged is lost, nothing that was refused appears, and no row is
//! torn. A workload over two families runs while space runs out and comes back, on a file system
//! that counts its bytes and on a real one of a few megabytes; a map keeps what was acknowledged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use hblite::{
    Clock, Connection, Delete, Durability, Env, ErrorKind, Get, Options, Put, Scan, Table,
};
use hblite_env::{FaultFileSystem, FileSystem as _, MemFileSystem, Random as _, SeededRandom};

use crate::testkit::{self, name};

/// Rows with their value, which both families have.
type Rows = BTreeMap<String, Vec<u8>>;

/// Advances by a millisecond at each reading, so no delete hides a later put.
#[derive(Debug)]
struct TickingClock(AtomicI64);

impl Clock for TickingClock {
    fn now_millis(&self) -> i64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(TickingClock(AtomicI64::new(1_700_000_000_000)))
}

/// Small files and a small log, for frequent flushes, compactions and log rolls.
fn options() -> Options {
    Options::new()
        .with_memstore_flush_size_bytes(64 << 10)
        .with_memstore_total_size_bytes(2 << 20)
        .with_busy_wait(Duration::from_millis(20))
        .with_wal_roll_size_bytes(64 << 10)
        .with_wal_segments_max(3)
}

fn create_table(connection: &Connection) {
    testkit::create(connection, "t", &["f", "g"]).expect("there is space");
}

/// What a workload did.
#[derive(Debug, Default)]
struct Counts {
    written: usize,
    refused: usize,
}

struct Workload {
    random: SeededRandom,
    acknowledged: Rows,
    counts: Counts,
}

impl Workload {
    fn new(seed: u64) -> Self {
        let (acknowledged, counts) = (Rows::new(), Counts::default());
        Self { random: SeededRandom::new(seed), acknowledged, counts }
    }

    /// Writes or deletes a row. A refusal must be one for lack of space or memory.
    fn step(&mut self, table: &Table) -> bool {
        let row = format!("row-{:03}", self.random.next_u64() % 200);
        let durability = [Durability::SyncWal, Durability::FsyncWal, Durability::AsyncWal]
            [(self.random.next_u64() % 3) as usize];
        let is_delete = self.random.next_u64().is_multiple_of(8);
        let size = 1 + self.random.next_u64() % 4_000;
        let value: Vec<u8> = (0..size).map(|_| self.random.next_u64() as u8).collect();
        let written = if is_delete {
            table.delete(&Delete::new(row.as_str()).with_durability(durability))
        } else {
            let put =
                Put::new(row.as_str()).add("f", "q", value.clone()).add("g", "q", value.clone());
            table.put(&put.with_durability(durability))
        };
        match written {
            Ok(()) if is_delete => drop(self.acknowledged.remove(&row)),
            Ok(()) => drop(self.acknowledged.insert(row, value)),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
                self.counts.refused += 1;
                return false;
            }
        }
        self.counts.written += 1;
        true
    }

    /// Compares every row with what was acknowledged.
    fn verify(&self, table: &Table, when: &str) {
        let mut found = Rows::new();
        for row in table.scan(&Scan::new()).expect("reads go on") {
            let row = row.expect("reads go on");
            let values: Vec<&[u8]> = row.cells().map(|cell| cell.value()).collect();
            assert_eq!(values.len(), 2, "{when}: a torn row: {row:?}");
            assert_eq!(values[0], values[1], "{when}: a torn row");
            found.insert(String::from_utf8_lossy(row.row()).into_owned(), values[0].to_vec());
        }
        let differ = found.iter().zip(&self.acknowledged).find(|(left, right)| left != right);
        let differ = differ.map(|((row, _), (expected, _))| (row, expected));
        assert!(
            found == self.acknowledged,
            "{when}: {} of {}, {differ:?}",
            found.len(),
            self.acknowledged.len()
        );
        if let Some((row, value)) = self.acknowledged.iter().next() {
            let got = table.get(&Get::new(row.as_str())).expect("reads go on");
            assert_eq!(got.cells().next().map(|cell| cell.value()), Some(&value[..]));
        }
    }

    /// Writes until the disk has been full for a while.
    fn fill(&mut self, table: &Table) {
        let start = self.counts.refused;
        for _ in 0..100_000 {
            self.step(table);
            if self.counts.refused >= start + 40 {
                return;
            }
        }
        panic!("the disk never gets full: {:?}", self.counts);
    }

    /// Writes until writes succeed again.
    fn resume(&mut self, table: &Table) {
        // Memory may be full of cells that could not be flushed: the flusher retries on its own.
        until_accepted(|| self.step(table));
        for _ in 0..50 {
            self.step(table);
        }
    }

    /// Writes a row after which all that ASYNC_WAL acknowledged is in the log.
    fn write_last(&mut self, table: &Table) {
        let put = Put::new("last").add("f", "q", "v").add("g", "q", "v");
        // The writes before may have filled the memory: this one waits for their flush.
        until_accepted(|| match table.put(&put) {
            Ok(()) => true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
                false
            }
        });
        self.acknowledged.insert("last".to_owned(), b"v".to_vec());
    }
}

/// Repeats a write that is refused for lack of memory until it is accepted.
fn until_accepted(mut write: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !write() {
        assert!(begin.elapsed() < Duration::from_secs(60), "writes do not resume");
    }
}

/// Flushes and compacts until it succeeds: a background flush may be in progress.
fn flush_and_compact(connection: &Connection) {
    let admin = connection.admin();
    admin.flush_table(name("t")).expect("there is space");
    admin.major_compact_table(name("t")).expect("there is space");
}

#[test]
fn writes_resume_when_there_is_space_again() {
    for seed in 1..7 {
        let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
        let env = Env::in_memory().with_clock(clock()).with_fs(Arc::new(fs.clone()));
        let connection = options().with_env(env.clone()).open("/t").expect("an empty directory");
        create_table(&connection);
        let table = connection.table(name("t")).expect("a legal name");
        let mut workload = Workload::new(seed);
        for round in 0..4 {
            fs.limit_space(20_000 + workload.random.next_u64() % 200_000);
            workload.fill(&table);
            workload.verify(&table, "while the disk is full");
            fs.free_space(1 + workload.random.next_u64() % 20_000);
            for _ in 0..20 {
                workload.step(&table);
            }
            workload.verify(&table, "with a little space");
            fs.heal();
            workload.resume(&table);
            workload.verify(&table, "with space again");
            if round % 2 == 0 {
                flush_and_compact(&connection);
                workload.verify(&table, "after a flush");
            }
        }
        assert!(workload.counts.refused >= 160, "{:?}", workload.counts);
        connection.close().expect("there is space");
        let connection = options().with_env(env).open("/t").expect("a sound store");
        let table = connection.table(name("t")).expect("a legal name");
        workload.verify(&table, "opened again");
    }
}

/// The process is killed while the disk is full.
#[test]
fn a_kill_on_a_full_disk_keeps_what_was_acknowledged() {
    for seed in 1..7 {
        let memory = MemFileSystem::new();
        let fs = FaultFileSystem::new(Arc::new(memory.clone()));
        let env = Env::in_memory().with_clock(clock()).with_fs(Arc::new(fs.clone()));
        let options = options();
        let connection = options.clone().with_env(env).open("/t").expect("an empty directory");
        create_table(&connection);
        let table = connection.table(name("t")).expect("a legal name");
        let mut workload = Workload::new(seed);
        fs.limit_space(100_000);
        workload.fill(&table);
        fs.heal();
        workload.resume(&table);
        workload.write_last(&table);
        // As a kill would leave it: names and contents of one moment, without the holder's lock.
        // The store still compacts, which would make a copy file by file inconsistent.
        let left = memory.fork().expect("files in memory can be forked");
        drop((table, connection));
        let env = Env::in_memory().with_fs(left);
        let connection = options.with_env(env).open("/t").expect("a sound store");
        workload.verify(&connection.table(name("t")).expect("a legal name"), "after the kill");
    }
}
