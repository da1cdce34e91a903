//! The cost and benefit of a family's settings, as a table: size, point gets, scans in both
//! directions.
//!
//! ```sh
//! cargo bench --bench settings
//! ```
//!
//! The data are visits to web pages: rows of a user and a reversed time, four columns of names,
//! addresses and numbers, as a log has them. Each line changes one setting of the default, the last
//! ones several. A store is loaded, flushed, compacted to one file and opened again, so gets and
//! scans read only files. Decompressed, the data slightly exceed the block cache (64 MiB), so a few
//! gets in a hundred have to decompress a block.

use std::path::Path;
use std::time::{Duration, Instant};

use hblite::{
    BloomType, ColumnFamilyDescriptor, Compression, DataBlockEncoding, Get, Put, Scan, Table,
    TableDescriptor,
};
use tempfile::TempDir;

const FAMILY: &str = "f";
const USERS: u64 = 5_000;
const BATCH: usize = 1_000;
const SCAN_ROUNDS: usize = 5;

fn main() {
    // `cargo test` only checks that it runs; `cargo bench` measures.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let rows = if is_measured { 250_000 } else { 2_000 };
    println!("{rows} rows of 4 cells; gets: median and 99th percentile");
    println!("| family | bytes a cell | load | get | get of none | scan | reverse scan |");
    println!("|---|---|---|---|---|---|---|");
    for (name, family) in families() {
        println!("| {name} {}", measure(&family, rows));
    }
}

fn family() -> ColumnFamilyDescriptor {
    ColumnFamilyDescriptor::new(FAMILY)
}

fn families() -> Vec<(String, ColumnFamilyDescriptor)> {
    let mut families = vec![("default".to_owned(), family())];
    for bytes in [4, 8, 16, 32, 128, 256] {
        families.push((format!("BLOCKSIZE {bytes} KiB"), family().with_block_size(bytes << 10)));
    }
    for bloom in [BloomType::None, BloomType::RowCol] {
        families.push((format!("BLOOMFILTER {}", bloom.name()), family().with_bloom(bloom)));
    }
    for encoding in [
        DataBlockEncoding::Prefix,
        DataBlockEncoding::Diff,
        DataBlockEncoding::FastDiff,
        DataBlockEncoding::RowIndexV1,
    ] {
        let encoded = family().with_data_block_encoding(encoding);
        families.push((format!("DATA_BLOCK_ENCODING {}", encoding.name()), encoded));
    }
    for compression in [Compression::Snappy, Compression::Lz4, Compression::Zstd, Compression::Gz] {
        let compressed = family().with_compression(compression);
        families.push((format!("COMPRESSION {}", compression.name()), compressed));
    }
    let fast_diff = family().with_data_block_encoding(DataBlockEncoding::FastDiff);
    families.push(("FAST_DIFF, LZ4".into(), fast_diff.clone().with_compression(Compression::Lz4)));
    families.push(("FAST_DIFF, ZSTD".into(), fast_diff.with_compression(Compression::Zstd)));
    let small = family().with_compression(Compression::Lz4).with_block_size(16 << 10);
    families.push(("LZ4, BLOCKSIZE 16 KiB".into(), small));
    families
}

/// The rest of a line of the table.
fn measure(family: &ColumnFamilyDescriptor, rows: u64) -> String {
    let dir = TempDir::new().expect("a directory for the benchmark");
    let loaded = load(dir.path(), family, rows);
    let connection = hblite::open(dir.path()).expect("the store opens");
    let table = connection.table("visits").expect("the table");
    let cells = (rows * 4) as f64;
    let line = format!(
        "| {:.1} | {} | {} | {} | {} | {} |",
        bytes_below(&dir.path().join("data/default")) as f64 / cells,
        rate(cells / loaded.as_secs_f64()),
        get_times(&table, rows, b""),
        get_times(&table, rows, b"!"),
        rate(cells / scan_time(&table, rows, false).as_secs_f64()),
        rate(cells / scan_time(&table, rows, true).as_secs_f64()),
    );
    connection.close().expect("the store closes");
    line
}

/// The time that puts, flushes and compactions take.
fn load(dir: &Path, family: &ColumnFamilyDescriptor, rows: u64) -> Duration {
    let connection = hblite::open(dir).expect("a new store");
    let descriptor =
        TableDescriptor::new("visits".parse().expect("a name")).with_family(family.clone());
    connection.admin().create_table(&descriptor).expect("a new table");
    let table = connection.table("visits").expect("the table");
    let start = Instant::now();
    let numbers: Vec<u64> = (0..rows).collect();
    for batch in numbers.chunks(BATCH) {
        let puts: Vec<Put> = batch.iter().map(|number| visit(*number)).collect();
        table.put_all(&puts).expect("a batch of puts");
    }
    connection.admin().flush_table(table.name()).expect("a flush");
    connection.admin().major_compact_table(table.name()).expect("a compaction");
    let loaded = start.elapsed();
    connection.close().expect("the store closes");
    loaded
}

/// The median and the 99th percentile of gets of random rows, whose keys end with `suffix`.
fn get_times(table: &Table, rows: u64, suffix: &[u8]) -> String {
    let mut times = Vec::new();
    for turn in 0..rows {
        let get = Get::new([row_of(mix(turn) % rows).as_bytes(), suffix].concat());
        let start = Instant::now();
        let row = table.get(&get).expect("an answer");
        times.push(start.elapsed());
        assert_eq!(row.cells().len(), if suffix.is_empty() { 4 } else { 0 });
    }
    // The first half finds caches as the opening left them.
    let mut times = times.split_off(times.len() / 2);
    times.sort_unstable();
    let at = |percent: usize| times[times.len() * percent / 100].as_nanos() as f64 / 1e3;
    format!("{:.2}, {:.2} µs", at(50), at(99))
}

fn scan_time(table: &Table, rows: u64, is_reversed: bool) -> Duration {
    let mut times = Vec::new();
    for _ in 0..SCAN_ROUNDS {
        let start = Instant::now();
        let mut cells = 0;
        let mut scanner = table.scan(&Scan::new().with_reversed(is_reversed)).expect("a scan");
        scanner.for_each_cell(|_| cells += 1).expect("all cells");
        assert_eq!(cells, rows * 4);
        times.push(start.elapsed());
    }
    median(times)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Rows that come in the order of time, so that users are mixed.
fn row_of(number: u64) -> String {
    format!("user{:06}/{:019}", mix(number) % USERS, i64::MAX - time_of(number))
}

fn time_of(number: u64) -> i64 {
    1_700_000_000_000 + number as i64 * 731
}

fn visit(number: u64) -> Put {
    const PAGES: [&str; 6] = ["home", "search", "cart", "product", "checkout", "help"];
    let dice = mix(number ^ 0xfeed);
    let page = PAGES[(dice % 6) as usize];
    Put::new(row_of(number))
        .add(FAMILY, "address", format!("https://shop.example/{page}/{:x}", dice >> 40))
        .add(FAMILY, "agent", format!("Browser/{}.0 (system {})", dice % 30 + 90, dice % 7))
        .add(FAMILY, "milliseconds", (dice % 900).to_string())
        .add(FAMILY, "status", if dice.is_multiple_of(50) { "404" } else { "200" })
}

fn bytes_below(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).expect("a directory");
    entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                bytes_below(&path)
            } else {
                std::fs::metadata(&path).expect("a file").len()
            }
        })
        .sum()
}

fn rate(per_second: f64) -> String {
    format!("{:.2}M/s", per_second / 1e6)
}

/// A bijection of the 64-bit numbers that leaves no order (the finalizer of splitmix64).
fn mix(counter: u64) -> u64 {
    let mut mixed = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
