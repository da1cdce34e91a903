//! Concurrent operations must appear to have been done one after the other.
//!
//! Threads read and write a few rows in every way that the API has, while the store flushes,
//! compacts, splits, merges and alters. Every call and answer is recorded with its time. Then, for
//! every row, the checker looks for an order of its operations that explains all answers and in
//! which an operation that ended comes before those that began later: the row is *linearizable*. A
//! scan counts as a read of each row of its range, including those that it did not return, some
//! time between its start and the moment at which it returned (or passed) the row. So no row is
//! torn, skipped, returned twice, or returned in a state that it never had. Each round ends by
//! closing and opening the store and reading everything again. In some rounds a write of the log
//! fails under the writers, and is undone or stops the log: an unacknowledged write may or may not
//! have happened, but an acknowledged one must be found.
//!
//! `HBLITE_HISTORY_ROUNDS` is how often each kind of round is run, 1 by default, and
//! `HBLITE_HISTORY_SEED` the seed of the threads' random choices.

#[path = "history/mod.rs"]
mod history;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

use hblite::{
    Clock, ColumnFamilyDescriptor, Connection, Env, ManualClock, Options, TableDescriptor,
};
use hblite_env::{Fault, FaultFileSystem, MemFileSystem, Operation, Random as _, SeededRandom};

use crate::testkit::{self, name};
use history::atomic_row::{COLUMNS, FAMILIES};
use history::client::Client;
use history::recorder::{Event, Recorder, by_row};
use history::report::assert_explained;
use history::stirrer::{Work, stir};
use history::workload::{Choice, Worker};

const ROWS: usize = 8;
const OPERATIONS: usize = 2_400;
const MILLIS_AT_FIRST: i64 = 1_000_000_000_000;
const LOOKS_BETWEEN_LEAPS: i64 = 1_000;
/// Six days.
const LEAP_MS: i64 = 6 * 24 * 60 * 60 * 1000;

/// Advances by a millisecond whenever it is read, and occasionally by so many days that major
/// compactions drop the sequence ids of older files.
#[derive(Debug, Default)]
struct TickingClock(AtomicI64);

impl Clock for TickingClock {
    fn now_millis(&self) -> i64 {
        let looks = self.0.fetch_add(1, Ordering::SeqCst);
        MILLIS_AT_FIRST + looks + looks / LOOKS_BETWEEN_LEAPS * LEAP_MS
    }
}

/// What the clock does.
#[derive(Debug, Clone, Copy)]
enum Time {
    Moves,
    Stands,
}

struct Round {
    threads: usize,
    time: Time,
    seed: u64,
    compacts_in_background: bool,
    /// Which write of the log fails, if one does.
    failing_write: Option<u64>,
    /// Whether the log cannot undo that, and stops.
    stops_log: bool,
}

impl Round {
    /// A round in which nothing fails.
    fn of(threads: usize, time: Time, seed: u64) -> Self {
        let compacts_in_background = true;
        Self { threads, time, seed, compacts_in_background, failing_write: None, stops_log: false }
    }

    fn options(&self, fs: &FaultFileSystem) -> Options {
        let engine = Options::new()
            .with_memstore_flush_size_bytes(64 * 1024)
            // Without background work, files pile up and are compacted in pairs.
            .with_compaction_enabled(self.compacts_in_background)
            .with_compaction_files_min(2)
            .with_compaction_files_max(if self.compacts_in_background { 10 } else { 2 });
        let clock: Arc<dyn Clock> = match self.time {
            Time::Moves => Arc::new(TickingClock::default()),
            Time::Stands => Arc::new(ManualClock::new(MILLIS_AT_FIRST)),
        };
        let env = Env::in_memory().with_clock(clock).with_fs(Arc::new(fs.clone()));
        engine.with_env(env)
    }

    fn name(&self) -> String {
        let Self { threads, time, seed, failing_write, .. } = self;
        let failure = failing_write.map(|nth| format!(", write {nth} of the log fails"));
        format!("seed {seed}, {threads} threads, time {time:?}{}", failure.unwrap_or_default())
    }

    /// Records histories and checks them. Returns what the store did meanwhile.
    fn run(&self) -> Work {
        let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
        let options = self.options(&fs);
        let connection = options.clone().open("/t").expect("an empty directory opens");
        let families = FAMILIES.map(ColumnFamilyDescriptor::new);
        let table = TableDescriptor::new(name("t"));
        let table = families.into_iter().fold(table, TableDescriptor::with_family);
        connection.admin().create_table(&table).expect("the table is new");

        let (rows, time, start) = (row_names(), AtomicU64::new(0), Instant::now());
        if let Some(nth) = self.failing_write {
            fs.inject(Fault::on(Operation::Write).in_path("WALs").nth(nth));
            if self.stops_log {
                fs.inject(Fault::on(Operation::Truncate).in_path("WALs"));
            }
        }
        let (mut events, work) = self.make_histories(&connection, &rows, &time);
        let made = start.elapsed();
        let closed = connection.close();
        assert_eq!(closed.is_err(), self.stops_log, "{}: {closed:?}", self.name());
        fs.heal();
        let connection = options.open("/t").expect("the store opens again");
        let mut reader = client(&connection, Recorder::new(&time, self.threads));
        for row in &rows {
            reader.get(row, COLUMNS.to_vec());
        }
        assert!(reader.recorder.errors.is_empty(), "{:?}", reader.recorder.errors);
        events.extend(reader.recorder.events);

        let (count, start) = (events.len(), Instant::now());
        for (row, events) in by_row(events) {
            assert_explained(&self.name(), &row, &events);
        }
        let checked = start.elapsed();
        println!("{}: {count} events in {made:?}, checked in {checked:?}; {work:?}", self.name());
        work
    }

    fn make_histories(
        &self,
        connection: &Connection,
        rows: &[String],
        time: &AtomicU64,
    ) -> (Vec<Event>, Work) {
        let (is_over, name) = (AtomicBool::new(false), name("t"));
        std::thread::scope(|scope| {
            let end = testkit::SetOnDrop(&is_over);
            let stirrer = scope.spawn(|| stir(connection, &name, rows, self.seed, &is_over));
            let workers: Vec<_> = (0..self.threads)
                .map(|thread| {
                    let random = SeededRandom::new(self.seed ^ ((thread as u64 + 1) << 32));
                    let client = client(connection, Recorder::new(time, thread));
                    let choice = Choice { rows, thread, random, values: 0 };
                    let mut worker = Worker { client, choice };
                    scope.spawn(move || {
                        worker.work(OPERATIONS / self.threads);
                        worker.client.recorder
                    })
                })
                .collect();
            let ended: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
            drop(end);
            let work = stirrer.join().expect("no panic");
            assert!(work.is_ok() || self.failing_write.is_some(), "{}: {work:?}", self.name());
            let (mut events, mut errors) = (Vec::new(), Vec::new());
            for recorder in ended {
                let recorder = recorder.expect("no panic");
                events.extend(recorder.events);
                errors.extend(recorder.errors);
            }
            // A thread may have finished before the log stopped; the others see it.
            let is_expected = match self.failing_write {
                None => errors.is_empty(),
                Some(_) => !self.stops_log || !errors.is_empty(),
            };
            assert!(is_expected, "{}: {errors:?}", self.name());
            (events, work.unwrap_or_default())
        })
    }
}

fn client<'a>(connection: &Connection, recorder: Recorder<'a>) -> Client<'a> {
    let table = connection.table(name("t")).expect("a legal name");
    Client { table, recorder }
}

fn row_names() -> Vec<String> {
    (0..ROWS).map(|number| format!("row-{number}")).collect()
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// The seeds of the requested number of rounds.
fn seeds() -> impl Iterator<Item = u64> {
    let first = setting("HBLITE_HISTORY_SEED")
        .unwrap_or_else(|| SeededRandom::from_entropy().next_u64() >> 32);
    (0..setting("HBLITE_HISTORY_ROUNDS").unwrap_or(1)).map(move |round| first + round)
}

#[test]
fn every_row_is_linearizable_and_every_scan_sees_rows_that_were() {
    let mut total = Work::new();
    for seed in seeds() {
        for threads in [2, 4, 8, 16] {
            for time in [Time::Moves, Time::Stands] {
                let compacts_in_background = [2, 8].contains(&threads);
                let round = Round { compacts_in_background, ..Round::of(threads, time, seed) };
                for (kind, count) in round.run() {
                    *total.entry(kind).or_default() += count;
                }
            }
        }
    }
    let kinds = ["flush", "minor compaction", "major compaction", "split", "merge", "alter"];
    for kind in kinds.into_iter().chain(["snapshot", "bulk load"]) {
        assert!(total.contains_key(kind), "there was no {kind}: {total:?}");
    }
}

#[test]
fn every_row_is_linearizable_when_the_log_fails_and_the_store_is_opened_again() {
    for seed in seeds() {
        for (threads, time) in [(3, Time::Moves), (8, Time::Stands), (16, Time::Moves)] {
            for stops_log in [true, false] {
                let failing_write = Some(1 + SeededRandom::new(seed).next_u64() % 400);
                Round { failing_write, stops_log, ..Round::of(threads, time, seed) }.run();
            }
        }
    }
}
