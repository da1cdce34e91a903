//! What a store of many regions costs: creation, open, close, backup, with and without new data.
//!
//! ```sh
//! cargo run --release --example regions -- --regions 10000 --dir DIR
//! ```
//!
//! prints a line for each step, with its seconds. Each step begins where the last one ended, in one
//! process.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use hblite::{ColumnFamilyDescriptor, Connection, Get, Put, Table, TableDescriptor};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Measures a store of so many regions.
#[derive(Debug, Parser)]
struct Arguments {
    /// Regions of the table
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    regions: u64,
    /// Directory in which a folder 'regions-store' is made, and removed at the end
    #[arg(long)]
    dir: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed.
            let _ = writeln!(std::io::stderr(), "regions: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The first row of a region.
fn row(region: u64) -> String {
    format!("{region:08}")
}

fn timed<T>(what: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    let result = step()?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "| {what} | {:.2} |", begun.elapsed().as_secs_f64())?;
    stdout.flush()?;
    Ok(result)
}

fn put(table: &Table, regions: impl Iterator<Item = u64>) -> Result<()> {
    let puts: Vec<Put> = regions.map(|n| Put::new(row(n)).add("f", "q", "value")).collect();
    for part in puts.chunks(1_000) {
        table.put_all(part)?;
    }
    Ok(())
}

fn run(arguments: &Arguments) -> Result<()> {
    let home = arguments.dir.join("regions-store");
    std::fs::create_dir(&home).map_err(|error| format!("{}: {error}", home.display()))?;
    let result = measure(arguments.regions, &home);
    std::fs::remove_dir_all(&home)?;
    result
}

fn measure(regions: u64, home: &std::path::Path) -> Result<()> {
    let dir = home.join("store");
    let open = || -> Result<Connection> { Ok(hblite::open(&dir)?) };
    let close = |connection: Connection| -> Result<()> { Ok(connection.close()?) };
    writeln!(std::io::stdout(), "| {regions} regions | s |\n| --- | --- |")?;
    let connection = open()?;
    let descriptor =
        TableDescriptor::new("t".parse()?).with_family(ColumnFamilyDescriptor::new("f"));
    let splits: Vec<Vec<u8>> = (1..regions).map(|n| row(n).into_bytes()).collect();
    timed("create the table", || {
        Ok(connection.admin().create_table_with_splits(&descriptor, &splits)?)
    })?;
    let table = connection.table("t")?;
    put(&table, 0..regions)?;
    drop(table);
    timed("close, a row in each region", || close(connection))?;
    let connection = timed("open", open)?;
    timed("close, nothing new", || close(connection))?;
    let connection = open()?;
    put(&connection.table("t")?, (0..regions).step_by(100))?;
    timed("close, a row in one region of 100", || close(connection))?;
    timed("backup of the closed store", || Ok(hblite::backup(&dir, home.join("closed"))?))?;
    let connection = open()?;
    timed("backup of the open store, nothing new", || {
        Ok(connection.admin().backup(home.join("open"))?)
    })?;
    put(&connection.table("t")?, 0..regions)?;
    timed("backup of the open store, a row in each region", || {
        Ok(connection.admin().backup(home.join("open-new"))?)
    })?;
    close(connection)?;
    timed("check", || {
        let report = hblite::check(home.join("open-new"))?;
        if report.defects.is_empty() { Ok(()) } else { Err("the backup has defects".into()) }
    })?;
    let connection = hblite::open(home.join("open-new"))?;
    let table = connection.table("t")?;
    if table.get(&Get::new(row(regions - 1)))?.is_empty() {
        return Err("the last row is not in the backup".into());
    }
    drop(table);
    close(connection)
}
