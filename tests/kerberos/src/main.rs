//! Puts, gets, scans and increments on a cluster that authenticates with Kerberos: one run, with
//! everything read back and compared.
//!
//!     cargo run -p hblite-kerberos -- URL TABLE [SECONDS]
//!
//! It creates the table, or uses the one that an earlier run has left. With a time, it repeats
//! everything until then, each time over new connections. `tools/conformance/kerberos` runs it with
//! many settings. The status is 0 if all answers are right, 1 with an error on standard error.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hblite_client::{Client, Table};
use hblite_model::{
    Action, ColumnFamilyDescriptor, Error, Get, Put, Result, RowResult, Scan, TableDescriptor,
    TableName,
};

/// More than one wrapped message, in requests and in answers.
const LARGE: usize = 300_000;
const ROWS: usize = 500;
const CALLERS: usize = 8;
const INCREMENTS: i64 = 5;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(url), Some(table), Ok(seconds)) = (
        arguments.first(),
        arguments.get(1),
        arguments.get(2).map_or(Ok(0), |seconds| seconds.parse()),
    ) else {
        eprintln!("usage: hblite-kerberos URL TABLE [SECONDS]");
        return ExitCode::from(2);
    };
    match run(url, table, Duration::from_secs(seconds)).await {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(url: &str, table: &str, time: Duration) -> Result<String> {
    let began = Instant::now();
    let client = Client::connect(url).await?;
    let name: TableName = table.parse()?;
    let admin = client.admin();
    if !admin.table_exists(&name).await? {
        let family = ColumnFamilyDescriptor::new("f");
        let descriptor = TableDescriptor::new(name.clone()).with_family(family);
        admin.create_table(&descriptor, &[b"h".to_vec(), b"r".to_vec()]).await?;
    }
    let table = client.table(name);
    let (rows, counted) = loop {
        large_values(&table).await?;
        let done = (many_rows(&table).await?, counter(&table).await?);
        if began.elapsed() >= time {
            break done;
        }
        client.close();
    };
    let opened = client.metrics().connections_opened;
    Ok(format!("{rows} rows, a counter at {counted}, {opened} connections"))
}

fn wrong(what: String) -> Error {
    Error::do_not_retry(what)
}

/// Values that no wrapped message holds, in each region.
async fn large_values(table: &Table) -> Result<()> {
    for row in ["a", "m", "z"] {
        let value: Vec<u8> = (0..LARGE).map(|at| (at % 251) as u8).collect();
        table.mutate(Put::new(row).add("f", "large", &value[..]).as_mutation()).await?;
        let read = table.get(&Get::new(row)).await?;
        if read.value("f", "large") != Some(&value[..]) {
            return Err(wrong(format!("the large value of {row} is another one")));
        }
    }
    Ok(())
}

/// Rows written in one batch, and read by one scan.
async fn many_rows(table: &Table) -> Result<usize> {
    let keys: Vec<String> = (0..ROWS).map(|number| format!("n{number:06}")).collect();
    let puts = keys.iter().map(|key| Action::from(Put::new(key).add("f", "q", key.as_str())));
    let puts: Vec<Action> = puts.collect();
    for result in table.batch(&puts).await? {
        result?;
    }
    let mut scanner = table.scan(&Scan::new().with_prefix("n").with_caching(70)).await?;
    let mut found = Vec::new();
    while let Some(row) = scanner.next_row().await? {
        let row: RowResult = row;
        let value = String::from_utf8_lossy(row.value("f", "q").unwrap_or_default()).into_owned();
        if value.as_bytes() != row.row() {
            return Err(wrong(format!("a row has the value {value}")));
        }
        found.push(value);
    }
    if found != keys {
        return Err(wrong(format!("a scan has {} of {ROWS} rows", found.len())));
    }
    Ok(found.len())
}

/// A counter that many callers increment at once, over one connection.
async fn counter(table: &Table) -> Result<i64> {
    let table = Arc::new(table.clone());
    let before = table.increment_column(b"counter", b"f", b"q", 0).await?;
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let table = Arc::clone(&table);
            tokio::spawn(async move {
                for _ in 0..INCREMENTS {
                    table.increment_column(b"counter", b"f", b"q", 1).await?;
                }
                Ok::<(), Error>(())
            })
        })
        .collect();
    for caller in callers {
        caller.await.map_err(|error| wrong(error.to_string()))??;
    }
    let after = table.increment_column(b"counter", b"f", b"q", 0).await?;
    let expected = before + CALLERS as i64 * INCREMENTS;
    if after != expected {
        return Err(wrong(format!("the counter is {after}, not {expected}")));
    }
    Ok(after)
}
