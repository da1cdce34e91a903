//! Measures the memory that the client needs for the regions that it knows (Linux).
//!
//!     cargo run --release -p hblite-client --example region_memory URL TABLE
//!
//! Looks up the regions of a table one after the other, and prints the resident memory of this
//! process after the first one and after the last one.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use std::process::ExitCode;

use hblite_client::Client;
use hblite_model::{Error, Result, TableName};

/// The unit of `VmRSS`.
const KIB: u64 = 1024;

/// Bytes of this process that are in memory.
fn resident_bytes() -> Result<u64> {
    let path = "/proc/self/status";
    let status = std::fs::read_to_string(path).map_err(|error| Error::io_of(path, error))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let size = line.trim().trim_end_matches(" kB").parse::<u64>();
    size.map(|size| size * KIB).map_err(|_| Error::do_not_retry(format!("{path} has no VmRSS")))
}

async fn measure(url: &str, table: &TableName) -> Result<()> {
    let client = Client::connect(url).await?;
    let admin = client.admin();
    let mut region = admin.locate_region(table, b"").await?.region;
    let (before, mut regions) = (resident_bytes()?, 1);
    while !region.end_key().is_empty() {
        region = admin.locate_region(table, region.end_key()).await?.region;
        regions += 1;
    }
    let after = resident_bytes()?;
    // All of them are known: this reads hbase:meta no more.
    let lookups = client.metrics().meta.answered;
    let mut row = Vec::new();
    for _ in 0..regions {
        row = admin.locate_region(table, &row).await?.region.end_key().to_vec();
    }
    let again = client.metrics().meta.answered - lookups;
    println!("{regions} regions, {lookups} lookups, {again} when they are located again");
    println!("{before} bytes resident after the first one, {after} after the last one");
    println!("{:.0} bytes for each", after.saturating_sub(before) as f64 / f64::from(regions));
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, table] = arguments.as_slice() else {
        eprintln!("usage: region_memory URL TABLE");
        return ExitCode::from(2);
    };
    let done = match table.parse() {
        Ok(table) => measure(url, &table).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("region_memory: {error}");
            ExitCode::FAILURE
        }
    }
}
