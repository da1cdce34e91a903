//! A process that reports the contents of the store on the disk.
//!
//! It checks the directory as `hblite check` does, opens the store, reads every row, and closes it.
//! Its output: `defect TEXT`, `row TABLE ROW NUMBER`, where NUMBER is the operation that wrote the
//! row, `torn TABLE ROW`, and `done`. A worker prints the rows that it finds, too.

use std::path::Path;

use hblite::{Connection, FindingKind, Result, RowResult, Scan};
use hblite_env::Env;

use crate::worker::{self, TABLES};

/// The end of a report.
pub(crate) const DONE: &str = "done";
/// The end of what a worker found; what it writes follows.
pub(crate) const READY: &str = "ready";

/// Prints what is in the store.
///
/// # Errors
/// The store cannot be checked, opened or read.
#[allow(clippy::print_stdout, reason = "the lines are what the process is for")]
pub(crate) fn report(dir: &Path, seed: u64) -> Result<()> {
    let checked = hblite_engine::check(&Env::system(), dir, &mut |_| {})?;
    // A power cut may leave an unused directory, or a region whose creation it interrupted.
    let known = [FindingKind::UnknownDirectory, FindingKind::RegionMissing];
    for defect in checked.defects.iter().filter(|defect| !known.contains(&defect.kind)) {
        println!("defect {defect}");
    }
    let connection = worker::open(dir)?;
    report_rows(&connection, seed)?;
    connection.close()?;
    println!("{DONE}");
    Ok(())
}

/// Prints the rows of an open store.
///
/// # Errors
/// They cannot be read.
pub(crate) fn report_rows(connection: &Connection, seed: u64) -> Result<()> {
    for table in TABLES {
        if connection.admin().table_exists(table)? {
            report_table(connection, table, seed)?;
        }
    }
    Ok(())
}

#[allow(clippy::print_stdout, reason = "the lines are what the process is for")]
fn report_table(connection: &Connection, name: &str, seed: u64) -> Result<()> {
    for row in connection.table(name)?.scan(&Scan::new())? {
        let row = row?;
        let key = String::from_utf8_lossy(row.row()).into_owned();
        match number(&row, &key, seed) {
            Some(number) => println!("row {name} {key} {number}"),
            None => println!("torn {name} {key}"),
        }
    }
    Ok(())
}

/// The operation that wrote a row, if all of the row is from it.
fn number(row: &RowResult, key: &str, seed: u64) -> Option<u64> {
    let values: Vec<&[u8]> = row.cells().map(|cell| cell.value()).collect();
    let [first, second] = values[..] else { return None };
    let text = std::str::from_utf8(first).ok()?;
    let number = text.split_once(':')?.0.parse().ok()?;
    let thread = key.split_once('-')?.1.parse().ok()?;
    let write = worker::write(seed, thread, number);
    let is_whole = first == second
        && write.row == key
        && text == worker::value(&write, number)
        && row.cells().all(|cell| cell.timestamp() == number as i64);
    is_whole.then_some(number)
}
