//! How long gets and puts wait while files are compacted: their latencies without a compaction,
//! with one in the background (paced), and with one that a caller waits for (unpaced).
//!
//! ```sh
//! cargo bench --bench compaction_pause                # ten files of 200,000 rows
//! HBLITE_PAUSE_ROWS=50000 cargo bench --bench compaction_pause
//! ```
//!
//! One thread alternates gets of random rows and puts of new ones. Each figure is over all
//! operations of a phase; a phase with a compaction ends with it, and has no figure if it took less
//! than half a second.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hblite::{ColumnFamilyDescriptor, Connection, FlushRequest, Options, Table, TableDescriptor};
use support::{get_of, put_of};
use tempfile::TempDir;

const FILES: u64 = 10;
const ROWS_PER_FILE: u64 = 200_000;
const BATCH: u64 = 1_000;
const QUIET: Duration = Duration::from_secs(5);
const SHORTEST: Duration = Duration::from_millis(500);

/// Latencies of a phase.
#[derive(Default)]
struct Latencies {
    gets: Vec<Duration>,
    puts: Vec<Duration>,
}

fn main() {
    let rows = std::env::var("HBLITE_PAUSE_ROWS").ok().and_then(|rows| rows.parse().ok());
    // Without it, nothing is measured: `cargo test --benches` only checks that the program runs.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let (default, quiet) = if is_measured { (ROWS_PER_FILE, QUIET) } else { (BATCH, SHORTEST) };
    let rows = rows.unwrap_or(default);
    println!("{:<36}{:>10}{:>13}{:>13}{:>13}{:>13}", "", "count", "p50", "p99", "p99.9", "max");
    let mut numbers = FILES * rows..;
    let store = Filled::new(rows);
    let alone = measure(&store.table, FILES * rows, &mut numbers, |began| began.elapsed() > quiet);
    print("no compaction", &alone);
    let began = Instant::now();
    store.compact_in_background();
    let is_done = |_| store.file_count() < FILES;
    let paced = measure(&store.table, FILES * rows, &mut numbers, is_done);
    report("compaction in the background", &paced, began.elapsed());
    drop(store);

    let store = Filled::new(rows);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let admin = store.connection.admin();
            admin.major_compact_table(store.table.name()).expect("a compaction");
            is_over.store(true, Ordering::Relaxed);
        });
        let began = Instant::now();
        let is_done = |_| is_over.load(Ordering::Relaxed);
        let unpaced = measure(&store.table, FILES * rows, &mut numbers, is_done);
        report("compaction, waited for", &unpaced, began.elapsed());
    });
}

/// A store whose table has [`FILES`] files that are not compacted yet.
struct Filled {
    table: Table,
    connection: Connection,
    _dir: TempDir,
}

impl Filled {
    fn new(rows: u64) -> Self {
        let dir = TempDir::new().expect("a directory for the benchmark");
        // Flushes happen only on request.
        let engine = Options::new()
            .with_memstore_flush_size_bytes(256 << 20)
            .with_memstore_total_size_bytes(1 << 30);
        let connection = engine.open(dir.path()).expect("a new store");
        let name = "cells".parse().expect("the name of a table");
        let mut descriptor =
            TableDescriptor::new(name).with_family(ColumnFamilyDescriptor::new("f"));
        descriptor.set_attribute("COMPACTION_ENABLED", "false").expect("an attribute");
        connection.admin().create_table(&descriptor).expect("a new table");
        let table = connection.table(descriptor.name()).expect("the table");
        for file in 0..FILES {
            for first in (file * rows..(file + 1) * rows).step_by(BATCH as usize) {
                let puts: Vec<_> = (first..first + BATCH).map(put_of).collect();
                table.put_all(&puts).expect("a batch of puts");
            }
            connection.admin().flush_table(table.name()).expect("a flush");
        }
        Self { table, connection, _dir: dir }
    }

    fn compact_in_background(&self) {
        let admin = self.connection.admin();
        let mut descriptor = admin.describe_table(self.table.name()).expect("the table");
        descriptor.set_attribute("COMPACTION_ENABLED", "true").expect("an attribute");
        admin.modify_table(&descriptor).expect("an alter");
        // Only the flush of a region, not that of a table, checks whether a compaction is due.
        self.table.put(&put_of(0)).expect("a put");
        let regions = admin.regions(self.table.name()).expect("the table");
        admin.flush(&FlushRequest::region(regions[0].encoded_name())).expect("a flush");
    }

    fn file_count(&self) -> u64 {
        let status = self.connection.admin().status().expect("a status");
        let mine =
            status.regions.iter().filter(|region| region.region.table() == self.table.name());
        mine.map(|region| region.store_file_count).sum()
    }
}

fn measure(
    table: &Table,
    rows: u64,
    numbers: &mut impl Iterator<Item = u64>,
    is_over: impl Fn(Instant) -> bool,
) -> Latencies {
    let began = Instant::now();
    let mut latencies = Latencies::default();
    let mut picks = support::picks();
    while !is_over(began) {
        for _ in 0..100 {
            let get = get_of(picks.next().expect("endless") % rows);
            let put = put_of(numbers.next().expect("endless"));
            let start = Instant::now();
            table.get(&get).expect("a get");
            let between = Instant::now();
            table.put(&put).expect("a put");
            latencies.gets.push(between - start);
            latencies.puts.push(between.elapsed());
        }
    }
    latencies
}

fn report(phase: &str, latencies: &Latencies, took: Duration) {
    print(phase, latencies);
    let note = if took < SHORTEST { ", too short to mean anything" } else { "" };
    println!("    the compaction took {:.1} s{note}", took.as_secs_f64());
}

fn print(phase: &str, latencies: &Latencies) {
    for (what, times) in [("gets", &latencies.gets), ("puts", &latencies.puts)] {
        let mut times = times.clone();
        times.sort_unstable();
        let at = |share: f64| {
            let place = (times.len() as f64 * share) as usize;
            let time = times.get(place.min(times.len().saturating_sub(1)));
            format!("{:.1} µs", time.map_or(0.0, |time| time.as_secs_f64() * 1e6))
        };
        let name = format!("{what}, {phase}");
        println!(
            "{name:<36}{:>10}{:>13}{:>13}{:>13}{:>13}",
            times.len(),
            at(0.5),
            at(0.99),
            at(0.999),
            at(1.0)
        );
    }
}
