//! `hblite columns`: the names of a table's columns, found by a scan. HBase keeps no list of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use hblite::Scan;
use hblite::bytes::to_string_binary;
use hblite_transfer::TransferError;

use super::place::{self, Missing};
use crate::output::{FAILURE, fail, print, row_spinner};

/// Of which table.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ColumnsArguments {
    /// Directory of a store, or a cluster: hbase://zookeeper-host:2181/hbase or
    /// hbase+rpc://host:16000
    place: String,
    /// The table
    table: String,
    /// A column family; may be given several times. By default, all
    #[arg(long = "family", value_name = "FAMILY")]
    families: Vec<String>,
    /// Stops with an error if there are more columns
    #[arg(long, value_name = "COUNT", default_value_t = 100_000)]
    max: usize,
}

const AFTER_HELP: &str = "\
Reads every row, and prints each column with the number of rows that have it. Columns are not
declared in HBase, so nothing but a scan finds them.";

pub(crate) fn run(arguments: &ColumnsArguments) -> ExitCode {
    match columns(arguments) {
        Ok(text) => {
            print(&text);
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error.to_string(), FAILURE),
    }
}

fn columns(arguments: &ColumnsArguments) -> Result<String, TransferError> {
    let connection = place::open(&arguments.place, Missing::Read)?;
    let names = [arguments.table.clone()];
    let table = place::tables(&arguments.place, &connection, &names)?.remove(0);
    let scan = arguments.families.iter().fold(Scan::new(), |scan, name| scan.with_family(name));
    let bar = row_spinner();
    // Rows by family and qualifier.
    let mut columns: BTreeMap<(Vec<u8>, Vec<u8>), u64> = BTreeMap::new();
    for row in connection.table(&table)?.scan(&scan)? {
        let row = row?;
        bar.inc(1);
        for cell in row.cells() {
            let column = (cell.family().to_vec(), cell.qualifier().to_vec());
            *columns.entry(column).or_default() += 1;
        }
        if columns.len() > arguments.max {
            bar.finish_and_clear();
            let message = format!(
                "{table} has more than {} columns: raise --max, or choose a --family",
                arguments.max
            );
            return Err(TransferError::Invalid(message));
        }
    }
    bar.finish_and_clear();
    let mut text = String::new();
    for ((family, qualifier), rows) in columns {
        let column = format!("{}:{}", to_string_binary(&family), to_string_binary(&qualifier));
        let _ = writeln!(text, "{column}  rows {rows}");
    }
    Ok(text)
}
