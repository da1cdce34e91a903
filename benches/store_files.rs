//! The cost of reading store files, in one run: mapped or read into the block cache, and verified.
//!
//! ```sh
//! cargo bench --bench store_files                     # 1,000,000 rows of 100 bytes
//! HBLITE_STORE_FILES_ROWS=200000 cargo bench --bench store_files
//! ```
//!
//! Each figure is the median of five passes over a table of one file that the operating system has
//! in memory, per second of processor time, so that other processes do not count. One thread reads.
//! The last part is processor time of the whole process while nothing else happens.

mod support;

use std::hint::black_box;
use std::time::Duration;

use hblite::{
    ColumnFamilyDescriptor, Compression, Connection, Options, Scan, Table, TableDescriptor,
};
use support::{get_of, put_of};
use tempfile::TempDir;

const ROWS: u64 = 1_000_000;
const BATCH: u64 = 1_000;
const PASSES: usize = 5;
const GETS: u64 = 100_000;
const MIB: f64 = 1_048_576.0;
const TICK: Duration = Duration::from_millis(10);

/// How files are read.
struct Mode {
    name: &'static str,
    are_files_mapped: bool,
    block_cache_size_bytes: u64,
}

const MODES: [Mode; 4] = [
    Mode { name: "mapped", are_files_mapped: true, block_cache_size_bytes: 64 << 20 },
    Mode { name: "read, cache 8 MiB", are_files_mapped: false, block_cache_size_bytes: 8 << 20 },
    Mode { name: "read, cache 64 MiB", are_files_mapped: false, block_cache_size_bytes: 64 << 20 },
    Mode { name: "read, all cached", are_files_mapped: false, block_cache_size_bytes: 1 << 30 },
];

fn main() {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let rows = std::env::var("HBLITE_STORE_FILES_ROWS").ok().and_then(|rows| rows.parse().ok());
    let rows = rows.unwrap_or(if is_measured { ROWS } else { BATCH });
    println!("{:<24}{:>14}{:>16}{:>20}", "", "gets", "scan rows", "not cached rows");
    for compression in [Compression::None, Compression::Lz4] {
        let store = Filled::new(rows, compression);
        println!("{rows} rows, {compression}, {:.0} MiB", store.bytes() as f64 / MIB);
        for mode in &MODES {
            store.reads(mode, rows);
        }
        store.copies();
    }
    if is_measured {
        idle();
    }
}

/// A closed store whose table has one file.
struct Filled {
    dir: TempDir,
}

impl Filled {
    fn new(rows: u64, compression: Compression) -> Self {
        let store = Self { dir: tempfile::tempdir().expect("a directory") };
        let connection = store.open(&MODES[0]);
        let family = ColumnFamilyDescriptor::new("f").with_compression(compression);
        let table = TableDescriptor::new("t".parse().expect("a name")).with_family(family);
        connection.admin().create_table(&table).expect("a table");
        let table = connection.table("t").expect("a table");
        for start in (0..rows).step_by(BATCH as usize) {
            let puts: Vec<_> = (start..rows.min(start + BATCH)).map(put_of).collect();
            table.put_all(&puts).expect("puts");
        }
        connection.admin().flush_table(table.name()).expect("a flush");
        connection.admin().major_compact_table(table.name()).expect("a compaction");
        connection.close().expect("a close");
        store
    }

    fn open(&self, mode: &Mode) -> Connection {
        let engine = Options::new()
            .with_compaction_enabled(false)
            .with_split_enabled(false)
            .with_files_mapped(mode.are_files_mapped)
            .with_block_cache_size_bytes(mode.block_cache_size_bytes)
            .with_scrub_period(None);
        engine.open(self.dir.path()).expect("a store")
    }

    fn bytes(&self) -> u64 {
        bytes(&self.open(&MODES[0]))
    }

    fn reads(&self, mode: &Mode, rows: u64) {
        let connection = self.open(mode);
        let table = connection.table("t").expect("a table");
        let scan = Scan::new();
        scan_rows(&table, &scan);
        let scanned = median(|| scan_rows(&table, &scan));
        let uncached = median(|| scan_rows(&table, &Scan::new().with_cache_blocks(false)));
        let mut number = 0_u64;
        let gets = median(|| {
            for _ in 0..GETS {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                black_box(table.get(&get_of((number >> 20) % rows)).expect("a row"));
            }
        });
        let per_second = |count: u64, took: Duration| count as f64 / took.as_secs_f64();
        println!(
            "  {:<22}{:>14.0}{:>16.0}{:>20.0}",
            mode.name,
            per_second(GETS, gets),
            per_second(rows, scanned),
            per_second(rows, uncached)
        );
        connection.close().expect("a close");
    }

    /// Reads every block to verify it.
    fn copies(&self) {
        let connection = self.open(&MODES[0]);
        let (admin, table) = (connection.admin(), connection.table("t").expect("a table"));
        let size = bytes(&connection) as f64 / MIB;
        let compaction = median(|| admin.major_compact_table(table.name()).expect("a compaction"));
        let scrub = median(|| assert_eq!(admin.scrub().expect("a round").damaged, []));
        println!("  compaction {:.0} MiB", size / compaction.as_secs_f64());
        println!("  verification {:.0} MiB", size / scrub.as_secs_f64());
        connection.close().expect("a close");
    }
}

fn bytes(connection: &Connection) -> u64 {
    let regions = connection.admin().status().expect("a status").regions;
    regions.iter().map(|region| region.store_file_size_bytes).sum()
}

fn scan_rows(table: &Table, scan: &Scan) {
    let mut scanner = table.scan(scan).expect("a scan");
    while let Some(row) = scanner.next_row().expect("a row") {
        black_box(row.row());
    }
}

/// Processor time of one call, of several.
fn median(mut work: impl FnMut()) -> Duration {
    let mut took: Vec<Duration> = (0..PASSES)
        .map(|_| {
            let before = processor_time();
            work();
            processor_time() - before
        })
        .collect();
    took.sort();
    // The clock is coarse.
    took[PASSES / 2].max(TICK)
}

/// Processor time of an idle store, with the scrubber going round without a pause and without it.
fn idle() {
    const WATCHED: Duration = Duration::from_secs(10);
    let store = Filled::new(ROWS, Compression::None);
    let without_pause = Some(Duration::from_millis(1));
    for (name, scrub_period) in [("off", None), ("at 8 MiB/s", without_pause)] {
        let engine = Options::new().with_scrub_period(scrub_period);
        let connection = engine.open(store.dir.path()).expect("a store");
        let before = processor_time();
        std::thread::sleep(WATCHED);
        let used = processor_time() - before;
        let read = connection.admin().status().expect("a status").scrub.bytes as f64 / MIB;
        println!("scrubber {name}: {used:?} of processor in {WATCHED:?}, {read:.0} MiB of files");
        connection.close().expect("a close");
    }
}

/// User and system time of this process, as Linux counts them: in ticks.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may have spaces: 11 fields, then the two.
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after.split_whitespace().skip(11).take(2);
    TICK * ticks.filter_map(|ticks| ticks.parse::<u32>().ok()).sum()
}
