//! `hblite digest`: computes digests of tables, and shows which rows of two tables differ.

use std::ops::ControlFlow;
use std::process::ExitCode;

use clap::Args;
use hblite::{Connection, TableName};
use hblite_transfer::{
    CellView, CompareOptions, Comparison, KeyFields, TransferError, compare, digest,
    digest_of_fields,
};
use indicatif::ProgressBar;
use serde_json::json;

use super::design;
use super::place::{self, Missing};
use crate::interrupt::Interrupt;
use crate::output::{fail, print, row_spinner};

/// Status for tables that differ.
const DIFFERENT: u8 = 1;
/// Status for tables that could not be read, or for wrong usage.
const FAILED: u8 = 2;

/// The tables, and how to compare them.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DigestArguments {
    /// Directory of a store, or a cluster: hbase://zookeeper-host:2181/hbase or
    /// hbase+rpc://host:16000
    left: String,
    /// Compares with the tables of the same names here, cell by cell
    right: Option<String>,
    /// A table; may be given several times. By default, all but the system's
    #[arg(long = "table", value_name = "TABLE")]
    tables: Vec<String>,
    /// Maximum number of versions of a column; by default, all that the family keeps
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(i32).range(1..))]
    versions: Option<u32>,
    /// Includes delete markers and what they hide
    #[arg(long)]
    raw: bool,
    /// Digests the fields of keys of this design instead of their bytes, as for a table that was
    /// copied to another key
    #[arg(long, value_name = "DESIGN", conflicts_with = "right")]
    key: Option<String>,
    /// Leaves out rows without a key of --key, instead of ending at the first
    #[arg(long, requires = "key")]
    skip_bad_rows: bool,
    /// Maximum number of differing rows to show per table
    #[arg(long, value_name = "COUNT", default_value_t = 10, requires = "right")]
    show: usize,
    /// Prints a line of JSON per table
    #[arg(long)]
    json: bool,
    /// Regions read at a time
    #[arg(long, value_name = "COUNT", default_value_t = 2,
        value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: u16,
}

const AFTER_HELP: &str = "\
Examples:
  hblite digest ./hblite-data --table users
  hblite digest ./hblite-data hbase://zk1,zk2:2181/hbase
  hblite digest ./hblite-data --table log --key 'ts:timestamp|host:str'

Equal cells give equal digests, whatever the regions and files. With one place, a line per table
shows its digest, rows and cells; run the command at both places and compare the lines. With two,
the rows that differ are shown. Tags, such as times to live of single cells, are not compared.
After a compaction, --raw may find differences between tables that give the same answers.
Exit status: 0 if nothing differs, 1 if something does, 2 if something could not be read.";

pub(crate) fn run(arguments: &DigestArguments) -> ExitCode {
    let interrupt = Interrupt::default();
    if let Err(error) = interrupt.catch() {
        return fail(&error.to_string(), FAILED);
    }
    match run_digest(arguments, &interrupt) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(DIFFERENT),
        Err(error) => fail(&error.to_string(), interrupt.exit_status().unwrap_or(FAILED)),
    }
}

/// Returns whether nothing differs.
fn run_digest(arguments: &DigestArguments, interrupt: &Interrupt) -> Result<bool, TransferError> {
    let left = place::open(&arguments.left, Missing::Read)?;
    let result = match &arguments.right {
        None => digest_all(arguments, &left, interrupt).map(|()| true),
        Some(right) if *right == arguments.left => {
            Err(TransferError::Invalid("both places are the same".into()))
        }
        Some(right) => {
            let right = place::open(right, Missing::Read)?;
            let result = compare_all(arguments, (&left, &right), interrupt);
            right.close()?;
            result
        }
    };
    left.close()?;
    result
}

impl DigestArguments {
    fn view(&self) -> CellView {
        let view = if self.raw { CellView::RAW } else { CellView::VISIBLE };
        self.versions.map_or(view, |versions| view.with_versions(versions))
    }
}

fn digest_all(
    arguments: &DigestArguments,
    connection: &Connection,
    interrupt: &Interrupt,
) -> Result<(), TransferError> {
    let fields = arguments.key.as_deref().map(|key| KeyFields::new(design(key)?)).transpose()?;
    let fields = fields.map(|fields| fields.with_bad_rows_skipped(arguments.skip_bad_rows));
    for name in place::tables(&arguments.left, connection, &arguments.tables)? {
        let bar = row_spinner();
        let table = connection.table(&name)?;
        let (view, threads) = (arguments.view(), arguments.threads.into());
        let progress = |cells| advance(&bar, cells, interrupt);
        let digest = match &fields {
            Some(fields) => digest_of_fields(&table, view, fields, threads, &progress),
            None => digest(&table, view, threads, &progress),
        };
        bar.finish_and_clear();
        let digest = digest?;
        print(&if arguments.json {
            let (rows, cells) = (digest.rows, digest.cells);
            let sum = digest.to_string();
            let line =
                json!({"table": name.to_string(), "digest": sum, "rows": rows, "cells": cells});
            format!("{line}\n")
        } else {
            format!("{digest}  {name}  rows {}, cells {}\n", digest.rows, digest.cells)
        });
    }
    Ok(())
}

/// Returns whether nothing differs.
fn compare_all(
    arguments: &DigestArguments,
    (left, right): (&Connection, &Connection),
    interrupt: &Interrupt,
) -> Result<bool, TransferError> {
    let at_right = arguments.right.as_deref().unwrap_or_default();
    let mut names = place::tables(&arguments.left, left, &arguments.tables)?;
    names.extend(place::tables(at_right, right, &arguments.tables)?);
    names.sort();
    names.dedup();
    let mut is_equal = true;
    for name in names {
        for (connection, at) in [(left, arguments.left.as_str()), (right, at_right)] {
            if !connection.admin().table_exists(&name)? {
                print(&missing(arguments, &name, at));
                is_equal = false;
            }
        }
        if left.admin().table_exists(&name)? && right.admin().table_exists(&name)? {
            let comparison = compare_table(arguments, &name, (left, right), interrupt)?;
            is_equal &= comparison.is_equal();
            print(&to_text(arguments, &name, &comparison));
        }
    }
    Ok(is_equal)
}

fn compare_table(
    arguments: &DigestArguments,
    name: &TableName,
    (left, right): (&Connection, &Connection),
    interrupt: &Interrupt,
) -> Result<Comparison, TransferError> {
    let options = CompareOptions::of(arguments.view())
        .with_threads(arguments.threads.into())
        .with_differences_kept(arguments.show);
    let bar = row_spinner();
    let comparison = compare(&left.table(name)?, &right.table(name)?, &options, &|rows| {
        advance(&bar, rows, interrupt)
    });
    bar.finish_and_clear();
    comparison
}

fn advance(bar: &ProgressBar, count: u64, interrupt: &Interrupt) -> ControlFlow<()> {
    bar.inc(count);
    interrupt.answer()
}

fn missing(arguments: &DigestArguments, table: &TableName, place: &str) -> String {
    if arguments.json {
        let line = json!({"table": table.to_string(), "is_equal": false, "missing_at": place});
        return format!("{line}\n");
    }
    format!("{table}: does not exist at {place}\n")
}

fn to_text(arguments: &DigestArguments, table: &TableName, comparison: &Comparison) -> String {
    let Comparison { left_rows, right_rows, rows_different, first } = comparison;
    if arguments.json {
        let first: Vec<String> = first.iter().map(ToString::to_string).collect();
        let line = json!({
            "table": table.to_string(), "is_equal": comparison.is_equal(),
            "left_rows": left_rows, "right_rows": right_rows,
            "rows_different": rows_different, "first": first,
        });
        return format!("{line}\n");
    }
    if comparison.is_equal() {
        return format!("{table}: equal, rows {left_rows}\n");
    }
    let mut text = format!(
        "{table}: rows that differ: {rows_different} (left: {left_rows} rows, right: {right_rows} \
         rows)\n"
    );
    for difference in first {
        text += &format!("  {difference}\n");
    }
    let others = rows_different - first.len() as u64;
    if others > 0 {
        text += &format!("  and {others} more\n");
    }
    text
}
