//! How long a scan takes over several files, per cell that they have.
//!
//! ```sh
//! cargo bench --bench merges          # 150,000 rows in each file
//! ```
//!
//! The files have different rows, half of their rows in common, or all. Rows are in random order.
//! Nothing is compacted. Each figure is the best of seven scans.

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use hblite::{Connection, Options, Put, Result, Scan, Table};

const ROWS_PER_FILE: u64 = 150_000;
const BATCH: u64 = 100;
const SCANS: usize = 7;

/// The row with this number in the file with this number. Two files have a row in common if this
/// returns the same for both.
type RowOf = fn(number: u64, file: u64) -> (u64, u64);

const CASES: [(&str, RowOf); 3] = [
    ("different rows", |number, file| (number, 1 + file)),
    ("half of the rows in common", |number, file| (number, (1 + file) * (number % 2))),
    ("the same rows", |number, _| (number, 0)),
];

fn main() -> Result<()> {
    // Without it, nothing is measured: `cargo test --benches` only checks that the program runs.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let rows = if is_measured { ROWS_PER_FILE } else { BATCH };
    for files in [2, 5] {
        for (name, row_of) in CASES {
            let dir = tempfile::tempdir().expect("a directory");
            let best = measure(dir.path(), files, rows, row_of)?;
            let nanoseconds = best.as_secs_f64() * 1e9 / (files * rows) as f64;
            println!("{files} files, {name:<28} {nanoseconds:>8.1} ns per stored cell");
        }
    }
    Ok(())
}

fn measure(dir: &Path, files: u64, rows: u64, row_of: RowOf) -> Result<Duration> {
    let connection = open(dir)?;
    let table = support::create_uncompacted(&connection)?;
    for file in 0..files {
        for first in (0..rows).step_by(BATCH as usize) {
            let put = |number| put_of(row_of(number, file));
            table.put_all(&(first..first + BATCH).map(put).collect::<Vec<_>>())?;
        }
        connection.admin().flush_table(table.name())?;
    }
    let times = (0..SCANS).map(|_| scan(&table)).collect::<Result<Vec<_>>>()?;
    Ok(times.into_iter().min().unwrap_or_default())
}

/// A store whose memstore has room for all rows of a file.
fn open(dir: &Path) -> Result<Connection> {
    let options = Options::new()
        .with_memstore_flush_size_bytes(512 << 20)
        .with_memstore_total_size_bytes(1 << 30);
    options.open(dir)
}

fn put_of((number, variant): (u64, u64)) -> Put {
    let scattered = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Put::new(format!("row{scattered:020}{variant}")).add("f", "q", [b'x'; 100])
}

fn scan(table: &Table) -> Result<Duration> {
    let began = Instant::now();
    let mut cells = 0;
    table.scan(&Scan::new())?.for_each_cell(|_| cells += 1)?;
    std::hint::black_box(cells);
    Ok(began.elapsed())
}
