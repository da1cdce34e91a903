//! The part of a table to export: the options of a scan.

use clap::Args;
use hblite::bytes::from_string_binary;
use hblite::descriptor::VERSIONS_ALL;
use hblite::filter::parse_filter;
use hblite::{Scan, TimeRange};
use hblite_transfer::{Columns, TransferError};

/// Rows, columns, versions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selecting what to export (keys may contain \\xHH)")]
pub(crate) struct Selection {
    /// First row
    #[arg(long, value_name = "ROW")]
    start_row: Option<String>,
    /// Row to stop before
    #[arg(long, value_name = "ROW")]
    stop_row: Option<String>,
    /// Only rows with this prefix
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["start_row", "stop_row"])]
    prefix: Option<String>,
    /// Maximum number of rows
    #[arg(long, value_name = "ROWS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    limit: Option<u32>,
    /// Versions of each column: a number, or 'all'
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = versions)]
    versions: u32,
    /// Includes delete markers and what they hide
    #[arg(long)]
    raw: bool,
    /// Earliest timestamp, in milliseconds
    #[arg(long, value_name = "MILLIS")]
    start_time: Option<i64>,
    /// Timestamp to stop before, in milliseconds
    #[arg(long, value_name = "MILLIS")]
    end_time: Option<i64>,
    /// Only cells that pass a filter, in HBase's filter language: "PrefixFilter('u') AND …"
    #[arg(long, value_name = "FILTER")]
    filter: Option<String>,
}

fn versions(text: &str) -> Result<u32, String> {
    match text {
        "all" => Ok(VERSIONS_ALL),
        _ => match text.parse() {
            Ok(versions) if (1..=VERSIONS_ALL).contains(&versions) => Ok(versions),
            _ => Err("a number from 1 on, or 'all'".to_owned()),
        },
    }
}

impl Selection {
    /// Whether more than the newest value of each column is requested.
    pub(crate) fn has_history(&self) -> bool {
        self.versions > 1
    }

    /// Whether delete markers are requested.
    pub(crate) fn is_raw(&self) -> bool {
        self.raw
    }

    /// The scan of these columns, each a family or `family:qualifier`; if there are none, of all.
    pub(crate) fn scan(&self, columns: &[String]) -> Result<Scan, TransferError> {
        let mut scan = self.rows()?;
        for column in columns {
            let column = from_string_binary(column);
            scan = match column.iter().position(|byte| *byte == b':') {
                Some(colon) => scan.with_column(&column[..colon], &column[colon + 1..]),
                None => scan.with_family(&column),
            };
        }
        Ok(scan)
    }

    /// The scan of the cells of these fields.
    pub(crate) fn scan_of_fields(&self, columns: &Columns) -> Result<Scan, TransferError> {
        let scan = self.rows()?;
        Ok(columns
            .cells()
            .fold(scan, |scan, (family, qualifier)| scan.with_column(family, qualifier)))
    }

    fn rows(&self) -> Result<Scan, TransferError> {
        let mut scan = Scan::new().with_versions(self.versions).with_raw(self.raw);
        if let Some(prefix) = &self.prefix {
            scan = scan.with_prefix(from_string_binary(prefix));
        }
        if let Some(row) = &self.start_row {
            scan = scan.with_start_row(from_string_binary(row));
        }
        if let Some(row) = &self.stop_row {
            scan = scan.with_stop_row(from_string_binary(row));
        }
        if let Some(rows) = self.limit {
            scan = scan.with_limit(rows);
        }
        if self.start_time.is_some() || self.end_time.is_some() {
            let (from, to) = (self.start_time.unwrap_or(0), self.end_time.unwrap_or(i64::MAX));
            scan = scan.with_time_range(TimeRange::new(from, to)?);
        }
        if let Some(text) = &self.filter {
            let filter = parse_filter(text);
            scan = scan.with_filter(filter.map_err(|error| {
                TransferError::Invalid(format!("--filter: {}", error.error.message()))
            })?);
        }
        Ok(scan)
    }
}
