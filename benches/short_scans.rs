//! How many short scans a store makes a second that has no memory for the places of all cells.
//!
//! ```sh
//! cargo bench --bench short_scans
//! ```
//!
//! 1,000,000 cells of 134 bytes in random order, in blocks of 64 KiB, all in the memory of the
//! operating system, with a block cache of 1 MiB: a store of that kind with 64 MiB has more than
//! 5,000,000 cells. Nothing is compacted. Each figure is the median of five seconds.

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use hblite::{Connection, Options, Put, Result, Scan, Table};

const CELLS: u64 = 1_000_000;
const BATCH: u64 = 100;
const TURNS: usize = 5;
const CACHE_BYTES: u64 = 1 << 20;

fn main() -> Result<()> {
    // Without it, nothing is measured: `cargo test --benches` only checks that the program runs.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let (cells, turn) = match is_measured {
        true => (CELLS, Duration::from_secs(1)),
        false => (10 * BATCH, Duration::from_millis(1)),
    };
    for files in [1, 5] {
        let dir = tempfile::tempdir().expect("a directory");
        let (_connection, table) = load(dir.path(), cells, files)?;
        for rows in [10, 100] {
            for is_reverse in [false, true] {
                let rate = measure(&table, cells, rows, is_reverse, turn)?;
                let name = if is_reverse { "reverse scans" } else { "scans" };
                println!("{files} files, {name} of {rows} rows {rate:>10.0} /s");
            }
        }
    }
    Ok(())
}

fn load(dir: &Path, cells: u64, files: u64) -> Result<(Connection, Table)> {
    let options = Options::new()
        .with_memstore_flush_size_bytes(512 << 20)
        .with_memstore_total_size_bytes(1 << 30)
        .with_block_cache_size_bytes(CACHE_BYTES);
    let connection = options.open(dir)?;
    let table = support::create_uncompacted(&connection)?;
    for file in 0..files {
        let numbers: Vec<u64> = (file..cells).step_by(files as usize).collect();
        for batch in numbers.chunks(BATCH as usize) {
            let puts: Vec<Put> = batch.iter().map(|number| put(*number)).collect();
            table.put_all(&puts)?;
        }
        connection.admin().flush_table(table.name())?;
    }
    Ok((connection, table))
}

/// Scattered over all numbers.
fn row(number: u64) -> [u8; 16] {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut row = [0; 16];
    row[..8].copy_from_slice(&mixed.to_be_bytes());
    row[8..].copy_from_slice(&number.to_be_bytes());
    row
}

fn put(number: u64) -> Put {
    Put::new(row(number)).add("f", "q", [b'x'; 100])
}

fn measure(table: &Table, cells: u64, rows: u32, is_reverse: bool, turn: Duration) -> Result<f64> {
    let (mut rates, mut number) = (Vec::new(), 0_u64);
    // The first turn is not counted: it reads and verifies the blocks.
    for _ in 0..=TURNS {
        let (began, mut scans) = (Instant::now(), 0_u32);
        while began.elapsed() < turn {
            number += 1;
            let start = row(number.wrapping_mul(0xD129_2F5D_8C64_31F1) % cells);
            let scan = Scan::new().with_start_row(start).with_limit(rows).with_reversed(is_reverse);
            let mut found = 0;
            table.scan(&scan)?.for_each_cell(|_| found += 1)?;
            std::hint::black_box(found);
            scans += 1;
        }
        rates.push(f64::from(scans) / began.elapsed().as_secs_f64());
    }
    rates.remove(0);
    rates.sort_by(f64::total_cmp);
    Ok(rates[TURNS / 2])
}
