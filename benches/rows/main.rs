//! Throughput of single operations and small batches, with one to sixteen threads.
//!
//! 1,000,000 cells of 134 bytes (rows of 16 hex digits, values of 100 bytes) in blocks of 64 KiB.
//! Each line is one workload: its name, operations per second of wall clock, and, for a single
//! thread on Linux, per second of that thread's processor time, which a busy machine disturbs less.
//! The first, `line`, is how far apart the processors are, on which several threads depend.
//! Reads run in several passes, and the medians are printed. Arguments select workloads by the
//! beginning of their names; the set-up that they need runs with them.

#[path = "../support/line.rs"]
mod line;
mod process;
mod reads;
mod shapes;
mod store;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use hblite::Durability;

use process::{anonymous_kib, thread_cpu_time};
use store::{BATCH, FLUSH_SIZE_BYTES, Store, mix, open, put_of};

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
    queue_rounds: u64,
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
        queue_rounds: of(1_000_000),
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
    if run.wants_any(&["get", "scan"]) {
        run.reads();
    }
    run.mixed();
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
    if run.wants("queue") {
        run.queue();
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

    /// A store with all cells in one file.
    fn settled(&self) -> Store {
        let store = self.store();
        store.load((0..SIZES.cells).map(mix));
        store.settle();
        store
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
