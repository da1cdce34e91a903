//! Throughput of single operations and small batches, with one to sixteen threads.
//!
//! 1,000,000 cells of 134 bytes (rows of 16 hex digits, values of 100 bytes) in blocks of 64 KiB.
//! Each line is one workload: its name, operations per second of wall clock, and, for a single
//! thread on Linux, per second of that thread's processor time, which a busy machine disturbs less.
//! Reads run in several passes, and the medians are printed. Arguments select workloads by the
//! beginning of their names; the set-up that they need runs with them.

#[path = "../support/line.rs"]
mod line;
mod process;
mod store;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use hblite::filter::{Comparator, CompareOperator, Filter};
use hblite::{Durability, Get, Put, Scan};

use process::{anonymous_kib, thread_cpu_time};
use store::{
    BATCH, FAMILY, FLUSH_SIZE_BYTES, QUALIFIER, Store, mix, open, put_of, row_of, value_of,
};

const WIDE_COLUMNS: u64 = 1_000;
const VERSIONS: u64 = 10;
const REWRITTEN_ROWS: u64 = 20_000;

/// How many threads share the work of a row.
const THREADS: [u64; 5] = [1, 2, 4, 8, 16];
/// How often reads of one thread are repeated.
const PASSES: usize = 5;

/// How much each workload does.
struct Sizes {
    cells: u64,
    /// They fit into a memstore.
    logged_cells: u64,
    single_puts: u64,
    synced_puts: u64,
    regions: u64,
    gets: u64,
    short_scans: u64,
    wide_rows: u64,
    version_rows: u64,
}

/// A hundredth for `cargo test --benches`, which only checks that the program runs.
static SIZES: LazyLock<Sizes> = LazyLock::new(|| {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let of = |full: u64| if is_measured { full } else { full / 100 };
    Sizes {
        cells: of(1_000_000),
        logged_cells: of(250_000),
        single_puts: of(200_000),
        synced_puts: of(3_000),
        regions: of(1_000),
        gets: of(300_000),
        short_scans: of(20_000),
        wide_rows: of(200),
        version_rows: of(20_000),
    }
});

fn main() {
    let run = Run::from_arguments();
    run.line();
    run.loads();
    run.single_puts();
    run.synced_puts();
    if run.wants_any(&["get", "ycsb", "scan"]) {
        run.reads();
    }
    if run.wants_any(&["create", "open", "recover", "flush", "settle"]) {
        run.fixed_costs();
    }
    if run.wants_any(&["wide"]) {
        run.wide_rows();
    }
    if run.wants_any(&["versions"]) {
        run.versions();
    }
    if run.wants_any(&["markers"]) {
        run.markers();
    }
    if run.wants("pile_up") {
        run.pile_up();
    }
}

/// Which workloads run, and where.
struct Run {
    selected: Vec<String>,
    dir: PathBuf,
}

impl Run {
    fn from_arguments() -> Self {
        let selected = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
        let dir = std::env::temp_dir().join(format!("hblite-rows-{}", std::process::id()));
        Self { selected: selected.collect(), dir }
    }

    fn wants(&self, name: &str) -> bool {
        self.selected.is_empty() || self.selected.iter().any(|start| name.starts_with(&**start))
    }

    fn wants_any(&self, groups: &[&str]) -> bool {
        self.selected.is_empty()
            || self.selected.iter().any(|start| groups.iter().any(|group| start.starts_with(group)))
    }

    /// Runs `work`, `count` operations in all, on this many threads.
    fn measure(&self, name: &str, threads: u64, count: u64, work: impl Fn(u64) + Sync) {
        self.measure_passes(name, threads, count, 1, work);
    }

    /// The same several times, for work that changes nothing.
    fn measure_reads(&self, name: &str, threads: u64, count: u64, work: impl Fn(u64) + Sync) {
        let passes = if threads == 1 { PASSES } else { 1 };
        self.measure_passes(name, threads, count, passes, work);
    }

    fn measure_passes(
        &self,
        name: &str,
        threads: u64,
        count: u64,
        passes: usize,
        work: impl Fn(u64) + Sync,
    ) {
        if !self.wants(name) {
            return;
        }
        let (mut elapsed, mut busy) = (Vec::new(), Vec::new());
        for _ in 0..passes {
            let (began, cpu_before) = (Instant::now(), thread_cpu_time());
            if threads == 1 {
                work(0);
                busy.extend(thread_cpu_time().zip(cpu_before).map(|(now, then)| now - then));
            } else {
                std::thread::scope(|scope| {
                    for thread in 0..threads {
                        let work = &work;
                        scope.spawn(move || work(thread));
                    }
                });
            }
            elapsed.push(began.elapsed());
        }
        let rate = |mut times: Vec<Duration>| {
            times.sort_unstable();
            Some(count as f64 / times.get(times.len() / 2)?.as_secs_f64())
        };
        let wall = rate(elapsed).unwrap_or(f64::NAN);
        let cpu = rate(busy).map(|rate| format!("{rate:>14.0} /s of CPU time")).unwrap_or_default();
        println!("{name:<28} {wall:>12.0} /s{cpu}");
    }

    fn store(&self) -> Store {
        Store::new(self.dir.clone())
    }

    /// What the rows of several threads depend on.
    fn line(&self) {
        if self.wants("line") {
            let mut passes: Vec<f64> = (0..PASSES).filter_map(|_| line::nanoseconds()).collect();
            passes.sort_by(f64::total_cmp);
            let median = passes.get(passes.len() / 2).copied().unwrap_or(f64::NAN);
            println!("{:<28} {median:>12.0} ns", "line");
        }
    }

    fn loads(&self) {
        if self.wants("load_sorted") {
            let store = self.store();
            let mut numbers: Vec<u64> = (0..SIZES.cells).map(mix).collect();
            numbers.sort_unstable();
            self.measure("load_sorted", 1, SIZES.cells, |_| store.load(numbers.iter().copied()));
        }
        if self.wants("load_random") {
            let store = self.store();
            self.measure("load_random", 1, SIZES.cells, |_| store.load((0..SIZES.cells).map(mix)));
        }
        if self.wants("load_8_threads") {
            let (store, each) = (self.store(), SIZES.cells / 8);
            self.measure("load_8_threads", 8, SIZES.cells, |thread| {
                store.load((thread * each..(thread + 1) * each).map(mix));
            });
        }
        if self.wants("rewrite_8_threads") {
            // Batches of neighboring rows, which are in memory.
            let (store, batches) = (self.store(), SIZES.cells / 8 / BATCH as u64);
            self.measure("rewrite_8_threads", 8, SIZES.cells, |thread| {
                for batch in 0..batches {
                    let first = mix(thread * batches + batch) % REWRITTEN_ROWS;
                    store.load((first..first + BATCH as u64).map(|row| row % REWRITTEN_ROWS));
                }
            });
        }
        if self.wants("load_regions") {
            let store = Store::with_regions(self.dir.clone(), SIZES.regions, FLUSH_SIZE_BYTES);
            self.measure("load_regions", 1, SIZES.cells, |_| store.load((0..SIZES.cells).map(mix)));
        }
    }

    /// Operations that are done once: the median of their times.
    fn fixed_costs(&self) {
        if self.wants("create") {
            self.time("create", 7, || {
                let began = Instant::now();
                let store = self.store();
                let elapsed = began.elapsed();
                drop(store);
                elapsed
            });
        }
        for name in ["flush", "settle"] {
            if self.wants(name) {
                self.time(name, 3, || {
                    let store = self.store();
                    store.load((0..SIZES.cells).map(mix));
                    let began = Instant::now();
                    if name == "settle" {
                        store.settle();
                    } else {
                        store.flush();
                    }
                    began.elapsed()
                });
            }
        }
        if self.wants("open") {
            let store = self.store();
            store.load((0..SIZES.cells).map(mix));
            store.settle();
            store.connection.clone().close().expect("a store that closes");
            self.time("open", 9, || {
                let began = Instant::now();
                let connection = open(&self.dir, FLUSH_SIZE_BYTES);
                let elapsed = began.elapsed();
                connection.close().expect("a store that closes");
                elapsed
            });
        }
        if self.wants("recover") {
            let store = self.store();
            store.load((0..SIZES.logged_cells).map(mix));
            // The files as a kill of the process would leave them.
            let copy = self.dir.with_extension("copy");
            self.time("recover", 5, || {
                copy_dir(&self.dir, &copy);
                let began = Instant::now();
                let connection = open(&copy, FLUSH_SIZE_BYTES);
                let elapsed = began.elapsed();
                drop(connection);
                std::fs::remove_dir_all(&copy).expect("a directory that goes");
                elapsed
            });
        }
    }

    fn time(&self, name: &str, count: usize, once: impl Fn() -> Duration) {
        let mut times: Vec<Duration> = (0..count).map(|_| once()).collect();
        times.sort_unstable();
        println!("{name:<28} {:>12.2} ms", times[count / 2].as_secs_f64() * 1000.0);
    }

    /// Memory of the process: what the row before needs, if it is selected alone.
    fn memory(&self, name: &str) {
        if let Some(kib) = anonymous_kib().filter(|_| self.wants(name)) {
            println!("{name:<28} {:>12.1} MiB", kib as f64 / 1024.0);
        }
    }

    fn single_puts(&self) {
        for threads in THREADS {
            let name = format!("put_{threads}_threads");
            if !self.wants(&name) {
                continue;
            }
            let store = self.store();
            let each = SIZES.single_puts / threads;
            self.measure(&name, threads, SIZES.single_puts, |thread| {
                for turn in thread * each..(thread + 1) * each {
                    store.table.put(&put_of(mix(turn))).expect("a put");
                }
            });
        }
    }

    fn synced_puts(&self) {
        if !self.wants("put_fsync") {
            return;
        }
        let store = self.store();
        self.measure("put_fsync", 1, SIZES.synced_puts, |_| {
            for turn in 0..SIZES.synced_puts {
                let put = put_of(mix(turn)).with_durability(Durability::FsyncWal);
                store.table.put(&put).expect("a put");
            }
        });
    }

    fn reads(&self) {
        let store = self.store();
        store.load((0..SIZES.cells).map(mix));
        store.settle();
        for threads in THREADS {
            self.gets(&store, threads);
            self.short_scans(&store, threads);
        }
        self.full_scans(&store);
        // The fewer puts first: what they leave in memory is another source for what follows.
        for (name, writes_every) in [("ycsb_b", 20), ("ycsb_a", 2)] {
            THREADS.iter().for_each(|threads| self.ycsb(&store, *threads, name, writes_every));
        }
    }

    fn gets(&self, store: &Store, threads: u64) {
        let each = SIZES.gets / threads;
        let picks = |thread: u64, is_zipfian: bool| {
            (0..each).map(move |turn| {
                let random = mix(turn ^ ((thread + 1) << 40));
                if is_zipfian { zipfian(random) } else { random % SIZES.cells }
            })
        };
        let uniform = move |thread: u64| picks(thread, false);
        self.measure_reads(&format!("get_random_{threads}"), threads, SIZES.gets, |thread| {
            for number in uniform(thread) {
                assert_eq!(store.get(mix(number)), 1);
            }
        });
        self.memory(&format!("get_random_{threads}_memory"));
        let zipfian = move |thread: u64| picks(thread, true);
        self.measure_reads(&format!("get_zipfian_{threads}"), threads, SIZES.gets, |thread| {
            for number in zipfian(thread) {
                assert_eq!(store.get(mix(number)), 1);
            }
        });
        self.measure_reads(&format!("get_missing_{threads}"), threads, SIZES.gets, |thread| {
            for number in uniform(thread) {
                assert_eq!(store.get(mix(number + SIZES.cells)), 0);
            }
        });
    }

    /// Gets of rows by Zipf's law; one in `writes_every` is a put instead.
    fn ycsb(&self, store: &Store, threads: u64, name: &str, writes_every: u64) {
        let each = SIZES.gets / threads;
        self.measure(&format!("{name}_{threads}"), threads, SIZES.gets, |thread| {
            for turn in 0..each {
                let random = mix(turn ^ ((thread + 7) << 40));
                let row = mix(zipfian(random));
                if random.rotate_left(17).is_multiple_of(writes_every) {
                    store.table.put(&put_of(row)).expect("a put");
                } else {
                    assert_eq!(store.get(row), 1);
                }
            }
        });
    }

    fn short_scans(&self, store: &Store, threads: u64) {
        for is_reversed in [false, true] {
            let name = if is_reversed { "scan_100_reverse" } else { "scan_100" };
            let each = SIZES.short_scans / threads;
            self.measure_reads(
                &format!("{name}_{threads}"),
                threads,
                SIZES.short_scans,
                |thread| {
                    for turn in 0..each {
                        let row = row_of(mix(mix(turn ^ (thread << 40)) % SIZES.cells));
                        let scan = Scan::new().with_start_row(row).with_limit(100);
                        store.scan(&scan.with_reversed(is_reversed));
                    }
                },
            );
        }
    }

    fn full_scans(&self, store: &Store) {
        for (name, is_reversed) in [("scan_full", false), ("scan_full_reverse", true)] {
            self.measure_reads(name, 1, SIZES.cells, |_| {
                let cells = store.scan(&Scan::new().with_reversed(is_reversed));
                assert_eq!(cells, SIZES.cells);
            });
        }
        // The first byte of a value is random; this keeps one in ten.
        let smallest = Comparator::binary([0xe6]);
        let filter = Filter::value(CompareOperator::GreaterOrEqual, smallest);
        self.measure_reads("scan_filter", 1, SIZES.cells, |_| {
            let cells = store.scan(&Scan::new().with_filter(filter.clone()));
            assert!((SIZES.cells / 20..SIZES.cells / 5).contains(&cells), "{cells}");
        });
    }

    fn wide_rows(&self) {
        let store = self.store();
        for number in 0..SIZES.wide_rows {
            let mut put = Put::new(row_of(mix(number)));
            for column in 0..WIDE_COLUMNS {
                put = put.add(FAMILY, qualifier_of(column), value_of(number ^ column));
            }
            store.table.put(&put).expect("a put");
        }
        store.settle();
        self.measure_reads("wide_column", 1, SIZES.gets, |_| {
            for turn in 0..SIZES.gets {
                let random = mix(turn);
                let row = row_of(mix(random % SIZES.wide_rows));
                let qualifier = qualifier_of((random >> 32) % WIDE_COLUMNS);
                let get = Get::new(row).with_column(FAMILY, qualifier);
                assert_eq!(store.table.get(&get).expect("an answer").len(), 1);
            }
        });
        self.measure_reads("wide_row", 1, 10 * SIZES.wide_rows * WIDE_COLUMNS, |_| {
            for turn in 0..10 * SIZES.wide_rows {
                let get = Get::new(row_of(mix(turn % SIZES.wide_rows)));
                let found = store.table.get(&get).expect("an answer");
                assert_eq!(found.len() as u64, WIDE_COLUMNS);
            }
        });
    }

    fn versions(&self) {
        let store = self.store();
        for version in 0..VERSIONS {
            let puts: Vec<Put> = (0..SIZES.version_rows)
                .map(|row| {
                    let timestamp = i64::try_from(1 + version).expect("small");
                    Put::new(row_of(mix(row))).add_at(FAMILY, QUALIFIER, timestamp, value_of(row))
                })
                .collect();
            for batch in puts.chunks(BATCH) {
                store.table.put_all(batch).expect("a batch of puts");
            }
        }
        store.settle();
        for (name, versions) in [("versions_newest", 1), ("versions_all", VERSIONS)] {
            self.measure_reads(name, 1, SIZES.gets, |_| {
                for turn in 0..SIZES.gets {
                    let get = Get::new(row_of(mix(mix(turn) % SIZES.version_rows)));
                    let get = get.with_column(FAMILY, QUALIFIER);
                    let get = get.with_versions(i32::try_from(versions).expect("small"));
                    let found = store.table.get(&get).expect("an answer");
                    assert_eq!(found.len() as u64, versions);
                }
            });
        }
    }

    /// A load with memstores of 1 MiB, which compactions cannot keep up with.
    fn pile_up(&self) {
        let store = Store::with_regions(self.dir.clone(), 1, 1 << 20);
        let (mut files_max, mut longest) = (0, Duration::ZERO);
        let began = Instant::now();
        for batch in 0..SIZES.cells / BATCH as u64 {
            let first = batch * BATCH as u64;
            let began = Instant::now();
            store.load((first..first + BATCH as u64).map(mix));
            longest = longest.max(began.elapsed());
            files_max = files_max.max(store.file_count());
        }
        println!(
            "{:<28} {files_max:>12} files, {:.1} ms for the slowest batch, {:.1} s in all",
            "pile_up",
            longest.as_secs_f64() * 1000.0,
            began.elapsed().as_secs_f64(),
        );
    }

    /// A scan over rows of which nine in ten are deleted.
    fn markers(&self) {
        // All markers fit in memory, so that nothing is flushed and compacted before its time.
        let store = Store::with_regions(self.dir.clone(), 1, 8 * FLUSH_SIZE_BYTES);
        store.load((0..SIZES.cells).map(mix));
        store.settle();
        let doomed: Vec<u64> = (0..SIZES.cells).filter(|number| number % 10 != 0).collect();
        for batch in doomed.chunks(BATCH) {
            let deletes = batch
                .iter()
                .map(|number| hblite::Delete::new(row_of(mix(*number))).columns(FAMILY, QUALIFIER));
            let deletes: Vec<_> = deletes.collect();
            store.table.delete_all(&deletes).expect("a batch of deletes");
        }
        self.measure_reads("markers_memory", 1, SIZES.cells, |_| {
            assert_eq!(store.scan(&Scan::new()), SIZES.cells / 10);
        });
        store.flush();
        self.measure_reads("markers_flushed", 1, SIZES.cells, |_| {
            assert_eq!(store.scan(&Scan::new()), SIZES.cells / 10);
        });
        // Unlike the flush of a table, that of a region has it compacted where that is due.
        store.load(std::iter::once(mix(0)));
        self.time("markers_dropped", 1, || {
            let began = Instant::now();
            store.flush_region();
            while store.file_count() > 1 {
                std::thread::sleep(Duration::from_millis(1));
            }
            began.elapsed()
        });
        self.measure_reads("markers_compacted", 1, SIZES.cells, |_| {
            assert_eq!(store.scan(&Scan::new()), SIZES.cells / 10);
        });
    }
}

fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy_dir(&path, &target),
            false => drop(std::fs::copy(&path, &target).expect("a copy")),
        }
    }
}

fn qualifier_of(column: u64) -> [u8; 8] {
    let mut qualifier = *b"field000";
    for (place, digit) in qualifier[5..].iter_mut().zip([100, 10, 1]) {
        *place = b'0' + u8::try_from(column / digit % 10).expect("a digit");
    }
    qualifier
}

/// A number of a row by Zipf's law with exponent 0.99, nearly (`u` to the power of 100).
fn zipfian(random: u64) -> u64 {
    let share = (random >> 11) as f64 / (1_u64 << 53) as f64;
    let place = (SIZES.cells as f64).powf(share);
    mix(place as u64) % SIZES.cells
}
