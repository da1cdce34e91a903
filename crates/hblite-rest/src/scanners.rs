//! The open scanners of all clients.
//!
//! A scanner is kept until it is deleted, expires, or is the least recently used one when there are
//! too many. Requests for the same scanner run one after the other. Threads: any.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use hblite::{CellRef, ClientScanners, ResultScanner, RowResult, Scan, Table};
use hblite_wire::memory::{MemoryAccount, MemoryBudget, MemoryCharge};
use parking_lot::Mutex;

use crate::memory::Allowance;
use crate::model::cell_set::{CellSet, RowModel};

/// The overhead of an open scanner, in addition to its request: positions in memory and files, and
/// their keys.
const SCANNER_BYTES: usize = 4 * 1024;
/// The overhead of a cell in a row.
const CELL_BYTES: usize = 64;

/// The open scanners.
#[derive(Debug)]
pub(crate) struct Scanners {
    count_max: usize,
    expiry_ms: i64,
    last_number: AtomicU64,
    open: Mutex<HashMap<String, Arc<Scanner>>>,
    /// The memory of all scanners.
    memory: Arc<MemoryAccount>,
}

/// An open scanner.
#[derive(Debug)]
pub(crate) struct Scanner {
    /// Cells of an answer.
    pub(crate) batch: i32,
    /// By the store's clock.
    used_at_ms: AtomicI64,
    pub(crate) cells: Mutex<Cells>,
}

/// A scan, which begins when its first rows are requested: only then does a client get the error
/// for a table that does not exist.
#[derive(Debug)]
pub(crate) enum Rows {
    Waiting(Table, Box<Scan>),
    Begun(Box<ResultScanner>),
}

/// The cells of a scan, one after the other.
#[derive(Debug)]
pub(crate) struct Cells {
    rows: Rows,
    row: RowResult,
    /// Index in the row.
    next: usize,
    /// The memory of the scanner, including the row.
    charge: MemoryCharge,
}

impl Cells {
    /// The next cell, which stays the next until [`Cells::advance`].
    pub(crate) fn peek(&mut self) -> hblite::Result<Option<CellRef<'_>>> {
        while self.next >= self.row.len() {
            let next = match &mut self.rows {
                Rows::Waiting(table, scan) => {
                    self.rows = Rows::Begun(Box::new(table.scan(scan)?));
                    continue;
                }
                Rows::Begun(rows) => rows.next(),
            };
            let Some(row) = next.transpose()? else { return Ok(None) };
            // A row that was read must not be lost, even if there is no memory for it.
            let before = self.charge.size_bytes().saturating_sub(row_size(&self.row));
            self.charge.overdraw(before.saturating_add(row_size(&row)));
            (self.row, self.next) = (row, 0);
        }
        Ok(self.row.cells().nth(self.next))
    }

    /// Whether another row may be read: not while more memory is charged than there is.
    pub(crate) fn has_memory(&self) -> bool {
        self.next < self.row.len() || self.charge.account().has_room(1)
    }

    pub(crate) fn advance(&mut self) {
        self.next += 1;
    }
}

impl Scanners {
    pub(crate) fn new(count_max: usize, expiry: Duration, memory: &Arc<MemoryBudget>) -> Self {
        Self {
            count_max,
            expiry_ms: i64::try_from(expiry.as_millis()).unwrap_or(i64::MAX),
            last_number: AtomicU64::new(0),
            open: Mutex::default(),
            memory: memory.account(memory.size_bytes() / 2),
        }
    }

    /// Keeps a scanner, and returns its id; `None` if there is no memory for it. At most, it takes
    /// as much memory as its request has taken.
    pub(crate) fn add(
        &self,
        rows: Rows,
        batch: i32,
        now_ms: i64,
        request: &Allowance,
    ) -> Option<String> {
        let mut charge = self.memory.charge();
        if !charge.try_resize(SCANNER_BYTES + request.taken_bytes()) {
            return None;
        }
        let number = self.last_number.fetch_add(1, Ordering::Relaxed);
        let id = format!("{now_ms}{number:x}");
        let cells = Mutex::new(Cells { rows, row: RowResult::default(), next: 0, charge });
        let scanner = Scanner { batch, used_at_ms: AtomicI64::new(now_ms), cells };
        let mut open = self.open.lock();
        while open.len() >= self.count_max {
            let used_at = |scanner: &Arc<Scanner>| scanner.used_at_ms.load(Ordering::Relaxed);
            let oldest = open.iter().min_by_key(|(_, scanner)| used_at(scanner));
            let Some(id) = oldest.map(|(id, _)| id.clone()) else { break };
            open.remove(&id);
        }
        open.insert(id.clone(), Arc::new(scanner));
        Some(id)
    }

    pub(crate) fn get(&self, id: &str, now_ms: i64) -> Option<Arc<Scanner>> {
        let scanner = self.open.lock().get(id).cloned()?;
        scanner.used_at_ms.store(now_ms, Ordering::Relaxed);
        Some(scanner)
    }

    pub(crate) fn remove(&self, id: &str) -> bool {
        self.open.lock().remove(id).is_some()
    }
}

impl ClientScanners for Scanners {
    fn open_count(&self) -> usize {
        self.open.lock().len()
    }

    fn close_expired(&self, now_millis: i64) {
        self.open.lock().retain(|_, scanner| {
            let used_at_ms = scanner.used_at_ms.load(Ordering::Relaxed);
            now_millis.saturating_sub(used_at_ms) < self.expiry_ms
        });
    }

    fn close_all(&self) {
        let closed = std::mem::take(&mut *self.open.lock());
        drop(closed);
    }
}

/// The memory of a row in a scanner that has returned a part of it.
fn row_size(row: &RowResult) -> usize {
    row.cells().map(|cell| cell.serialized_size() + CELL_BYTES).sum()
}

/// The next rows: at most `limit` cells, `rows_max` rows unless that is 0, and about `size_max`
/// bytes, or as many as `memory` has room for; `None` if that is none. A row may continue in the
/// next answer.
pub(crate) fn next_rows(
    cells: &mut Cells,
    limit: i32,
    rows_max: i32,
    size_max: usize,
    memory: &Allowance,
) -> hblite::Result<Option<CellSet>> {
    let mut rows: Vec<RowModel> = Vec::new();
    let rows_max = usize::try_from(rows_max).ok().filter(|max| *max > 0).unwrap_or(usize::MAX);
    let mut left = i64::from(limit);
    let mut size = 0;
    while let Some(cell) = cells.peek()? {
        if !memory.try_hold_cell(&cell) {
            // The client gets the rest with its next request.
            return Ok((!rows.is_empty()).then_some(CellSet { rows }));
        }
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
    Ok(Some(CellSet { rows }))
}
