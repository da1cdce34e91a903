//! `/TABLE/scanner`: scanners that a client comes back to.
//!
//! A scanner is kept until it is deleted, was not used for some time, or too many others were.
//! Requests for one scanner go one after the other. Threads: any.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use hblite::{CellRef, Error, Exception, ResultScanner, RowResult, Scan, Table};
use hyper::header::HeaderName;
use hyper::{Method, StatusCode};
use parking_lot::Mutex;

use super::table_scan::number;
use crate::failure::{Answer, Failure, is_runtime_exception};
use crate::gateway::Gateway;
use crate::java;
use crate::media::Format;
use crate::model::FromBody as _;
use crate::model::cell_set::{CellSet, RowModel};
use crate::model::scanner::ScannerModel;
use crate::request::Request;
use crate::response::Response;

/// The scanners that are open.
#[derive(Debug)]
pub(crate) struct Scanners {
    count_max: usize,
    expiry_ms: i64,
    last_number: AtomicU64,
    open: Mutex<HashMap<String, Arc<Scanner>>>,
}

#[derive(Debug)]
struct Scanner {
    /// Cells of an answer.
    batch: i32,
    /// By the store's clock.
    used_at_ms: AtomicI64,
    cells: Mutex<Cells>,
}

/// A scan, which begins when its first rows are wanted: only then does a client hear of a table
/// that does not exist.
#[derive(Debug)]
enum Rows {
    Waiting(Table, Box<Scan>),
    Begun(Box<ResultScanner>),
}

/// The cells of a scan, one after the other.
#[derive(Debug)]
struct Cells {
    rows: Rows,
    row: RowResult,
    /// Index in the row.
    next: usize,
}

impl Cells {
    /// The next cell, which stays the next until [`Cells::advance`].
    fn peek(&mut self) -> hblite::Result<Option<CellRef<'_>>> {
        while self.next >= self.row.len() {
            let next = match &mut self.rows {
                Rows::Waiting(table, scan) => {
                    self.rows = Rows::Begun(Box::new(table.scan(scan)?));
                    continue;
                }
                Rows::Begun(rows) => rows.next(),
            };
            match next.transpose()? {
                Some(row) => (self.row, self.next) = (row, 0),
                None => return Ok(None),
            }
        }
        Ok(self.row.cells().nth(self.next))
    }

    fn advance(&mut self) {
        self.next += 1;
    }
}

impl Scanners {
    pub(crate) fn new(count_max: usize, expiry: Duration) -> Self {
        Self {
            count_max,
            expiry_ms: i64::try_from(expiry.as_millis()).unwrap_or(i64::MAX),
            last_number: AtomicU64::new(0),
            open: Mutex::default(),
        }
    }

    /// Closes scanners that were not used for too long.
    pub(crate) fn expire(&self, now_ms: i64) {
        self.open.lock().retain(|_, scanner| {
            let used_at_ms = scanner.used_at_ms.load(Ordering::Relaxed);
            now_ms.saturating_sub(used_at_ms) < self.expiry_ms
        });
    }

    /// Keeps a scanner, and returns its id.
    fn add(&self, rows: Rows, batch: i32, now_ms: i64) -> String {
        let number = self.last_number.fetch_add(1, Ordering::Relaxed);
        let id = format!("{now_ms}{number:x}");
        let cells = Mutex::new(Cells { rows, row: RowResult::default(), next: 0 });
        let scanner = Scanner { batch, used_at_ms: AtomicI64::new(now_ms), cells };
        let mut open = self.open.lock();
        while open.len() >= self.count_max {
            let used_at = |scanner: &Arc<Scanner>| scanner.used_at_ms.load(Ordering::Relaxed);
            let oldest = open.iter().min_by_key(|(_, scanner)| used_at(scanner));
            let Some(id) = oldest.map(|(id, _)| id.clone()) else { break };
            open.remove(&id);
        }
        open.insert(id.clone(), Arc::new(scanner));
        id
    }

    fn get(&self, id: &str, now_ms: i64) -> Option<Arc<Scanner>> {
        let scanner = self.open.lock().get(id).cloned()?;
        scanner.used_at_ms.store(now_ms, Ordering::Relaxed);
        Some(scanner)
    }

    fn remove(&self, id: &str) -> bool {
        self.open.lock().remove(id).is_some()
    }
}

/// PUT and POST, which do the same.
pub(crate) fn create(gateway: &Gateway, request: &Request, table: &str) -> Answer {
    let model = ScannerModel::read(request)?.ok_or(Failure::UNEXPECTED)?;
    gateway.check_writable()?;
    let made = model.scan().and_then(|scan| {
        scan.check()?;
        Ok(Rows::Waiting(gateway.table(table)?, Box::new(scan)))
    });
    let rows = made.map_err(|error| match is_runtime_exception(&error) {
        true => Failure::bad_request("Bad request"),
        false => Failure::text(StatusCode::SERVICE_UNAVAILABLE, "Unavailable\r\n"),
    })?;
    let now_ms = gateway.connection.now_millis();
    let id = gateway.scanners.add(rows, model.batch, now_ms);
    Ok(Response::created(&format!("{}/{id}", request.url().trim_end_matches('/'))))
}

/// `/TABLE/scanner/ID`.
pub(crate) fn answer(gateway: &Gateway, request: &Request, id: &str) -> Answer {
    let scanner = gateway.scanners.get(id, gateway.connection.now_millis());
    if request.method == Method::DELETE {
        gateway.check_writable()?;
        return Ok(match gateway.scanners.remove(id) {
            true => Response::ok(),
            false => Response::not_found(),
        });
    }
    let format = Format::accepted(request, Format::CELLS)?;
    let rows_max: i32 = number(request, "n", 0)?;
    let cells_max: i32 = number(request, "c", 0)?;
    let Some(scanner) = scanner else { return Ok(Response::not_found()) };
    let mut cells = scanner.cells.lock();
    let answered = match format {
        Format::Binary => next_cell(&mut cells),
        _ => {
            let limit = if cells_max > 0 { cells_max } else { scanner.batch };
            let size_max = gateway.options.limits.answer_size_max_bytes;
            next_rows(&mut cells, limit, rows_max, size_max).map(|set| match set.rows.is_empty() {
                true => Response::new(StatusCode::NO_CONTENT),
                false => Response::model(&set, format).without_caching(),
            })
        }
    };
    answered.map_err(|error| failed(gateway, id, error))
}

fn failed(gateway: &Gateway, id: &str, error: Error) -> Failure {
    match error.exception() {
        Exception::TableNotEnabled => {
            gateway.scanners.remove(id);
            Failure::text(StatusCode::GONE, "Gone\r\n")
        }
        Exception::TableNotFound => Failure::Answered(Response::not_found()),
        _ => error.into(),
    }
}

/// The value of the next cell, as it is.
fn next_cell(cells: &mut Cells) -> hblite::Result<Response> {
    let Some(cell) = cells.peek()? else {
        return Ok(Response::new(StatusCode::NO_CONTENT));
    };
    let column = [cell.family(), b":", cell.qualifier()].concat();
    let header = HeaderName::from_static;
    let response = Response::ok()
        .with_body(Format::Binary.media_type(), cell.value().to_vec())
        .without_caching()
        .with_header(header("x-row"), java::encode_base64(cell.row()))
        .with_header(header("x-column"), java::encode_base64(&column))
        .with_header(header("x-timestamp"), cell.timestamp().to_string());
    cells.advance();
    Ok(response)
}

/// The next rows: at most `limit` cells, `rows_max` rows unless that is 0, and about `size_max`
/// bytes. A row may continue in the next answer.
fn next_rows(
    cells: &mut Cells,
    limit: i32,
    rows_max: i32,
    size_max: usize,
) -> hblite::Result<CellSet> {
    let mut rows: Vec<RowModel> = Vec::new();
    let rows_max = usize::try_from(rows_max).ok().filter(|max| *max > 0).unwrap_or(usize::MAX);
    let mut left = i64::from(limit);
    let mut size = 0;
    while let Some(cell) = cells.peek()? {
        if rows.last().is_none_or(|row| row.key.as_deref() != Some(cell.row())) {
            if rows.len() == rows_max {
                break;
            }
            rows.push(RowModel::new(cell.row()));
        }
        if let Some(row) = rows.last_mut() {
            size += row.push(&cell);
        }
        cells.advance();
        left -= 1;
        if left <= 0 || size > size_max {
            break;
        }
    }
    Ok(CellSet { rows })
}
