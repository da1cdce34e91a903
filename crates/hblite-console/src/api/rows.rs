//! A page of rows.
//!
//! Bounded in rows, cells per row, bytes per value, total bytes and time. A page names what it
//! leaves out: `more_cells` of a row, `length` of a value, and `next`, where the next page begins.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hblite::bytes::{from_string_binary, to_string_binary};
use hblite::filter::parse_filter;
use hblite::{CellRef, RowResult, Scan, ScanStep};
use serde_json::{Value, json};

use super::{Answer, Failure, Query};
use crate::state::State;

/// Rows of a page.
const ROWS_MAX: u32 = 500;
const ROWS_DEFAULT: u32 = 50;
/// Versions of a column.
const VERSIONS_MAX: u32 = 1_000;
/// Cells of a row.
const CELLS_MAX: usize = 200;
/// Bytes of a value.
const VALUE_MAX: usize = 4 * 1024;
/// Bytes of a page, estimated as they are written.
const PAGE_MAX: usize = 2 * 1024 * 1024;
/// Bytes of cells that a scan collects at once.
const STEP_BYTES: u64 = 1024 * 1024;
/// How long a page may take, and how often a scan checks that.
const TIME_MAX: Duration = Duration::from_secs(5);
const TURN: Duration = Duration::from_millis(500);

pub(super) fn rows(state: &State, query: &Query) -> Answer {
    let table = state.source.connection.table(query.required("table")?)?;
    let limit = query.number("limit", ROWS_DEFAULT, (1, ROWS_MAX))?;
    let scan = scan(query)?;
    let mut scanner = table.scan(&scan)?;
    let begin = Instant::now();
    let mut page = Page::new(limit as usize);
    loop {
        match scanner.next_row_within(TURN)? {
            ScanStep::Row(row) => {
                if !page.take(row) {
                    break;
                }
            }
            ScanStep::Cursor(row) => page.cursor = Some(row),
            ScanStep::End => {
                page.is_end = true;
                break;
            }
        }
        if begin.elapsed() > TIME_MAX {
            page.is_late = true;
            break;
        }
    }
    Ok(page.json())
}

/// The scan that the parameters describe.
fn scan(query: &Query) -> Result<Scan, Failure> {
    let versions = query.number("versions", 1, (1, VERSIONS_MAX))?;
    let mut scan = Scan::new().with_versions(versions).with_size_max_bytes(STEP_BYTES);
    scan = scan.with_reversed(query.is_set("reversed"));
    if let Some(prefix) = query.text("prefix") {
        scan = scan.with_prefix(from_string_binary(prefix));
    }
    if let Some(start) = query.text("start") {
        let start = from_string_binary(start);
        scan = match query.is_set("after") {
            true => scan.with_start_row_exclusive(start),
            false => scan.with_start_row(start),
        };
    }
    if let Some(stop) = query.text("stop") {
        scan = scan.with_stop_row(from_string_binary(stop));
    }
    let columns = query.text("columns").unwrap_or_default();
    for column in columns.split(',').map(str::trim).filter(|column| !column.is_empty()) {
        scan = match column.split_once(':') {
            Some((family, qualifier)) if !qualifier.is_empty() => {
                scan.with_column(from_string_binary(family), from_string_binary(qualifier))
            }
            Some((family, _)) => scan.with_family(from_string_binary(family)),
            None => scan.with_family(from_string_binary(column)),
        };
    }
    Ok(match query.text("filter") {
        Some(text) => {
            let filter = parse_filter(text)
                .map_err(|error| Failure::bad(format!("the filter is not valid: {error}")))?;
            scan.with_filter(filter)
        }
        // Parts of a wide row are enough; a filter may have to see all of it.
        None => scan.with_batch(CELLS_MAX as u32),
    })
}

/// The page so far.
struct Page {
    limit: usize,
    rows: Vec<(Vec<u8>, Vec<Value>, bool)>,
    size: usize,
    cursor: Option<Vec<u8>>,
    is_end: bool,
    is_late: bool,
}

impl Page {
    fn new(limit: usize) -> Self {
        let (rows, cursor) = (Vec::new(), None);
        Self { limit, rows, size: 0, cursor, is_end: false, is_late: false }
    }

    /// Takes a row or a part of one; `false` if it no longer fits on the page.
    fn take(&mut self, row: &RowResult) -> bool {
        self.cursor = None;
        if let Some((key, _, has_more)) = self.rows.last_mut()
            && key == row.row()
        {
            // The parts of a row after the first are left out.
            *has_more = true;
            return true;
        }
        if self.rows.len() == self.limit || self.size > PAGE_MAX {
            return false;
        }
        let cells: Vec<Value> = row.cells().take(CELLS_MAX).map(|cell| self.cell(&cell)).collect();
        let has_more = row.len() > CELLS_MAX;
        self.size += 2 * row.row().len() + 32;
        self.rows.push((row.row().to_vec(), cells, has_more));
        true
    }

    fn cell(&mut self, cell: &CellRef<'_>) -> Value {
        let value = cell.value();
        let shown = &value[..value.len().min(VALUE_MAX)];
        self.size += shown.len() * 4 / 3 + 2 * cell.qualifier().len() + 96;
        // A page of one row may have many cells with large values.
        let shown = if self.size > PAGE_MAX { &[] } else { shown };
        json!({
            "family": to_string_binary(cell.family()),
            "qualifier": to_string_binary(cell.qualifier()),
            "timestamp": cell.timestamp(),
            "length": value.len(),
            "value": STANDARD.encode(shown),
        })
    }

    fn json(self) -> Value {
        let next = match (self.is_end, self.cursor, self.rows.last()) {
            (true, ..) => Value::Null,
            (_, Some(row), _) => json!({ "start": to_string_binary(&row), "after": false }),
            (_, None, Some((row, ..))) => json!({ "start": to_string_binary(row), "after": true }),
            (_, None, None) => Value::Null,
        };
        let rows = self.rows.into_iter().map(|(row, cells, has_more)| {
            json!({ "row": to_string_binary(&row), "cells": cells, "more_cells": has_more })
        });
        json!({ "rows": rows.collect::<Value>(), "next": next, "is_late": self.is_late })
    }
}
