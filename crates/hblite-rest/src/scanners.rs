//! The open scanners of all clients.
//!
//! A scanner is kept until it is deleted, expires, or is the least recently used one when there are
//! too many. One that rests holds no memory or files of the store: it continues after its last row
//! with what is there then, as HBase's does once the lease of its region's scanner is over.
//! Requests for the same scanner run one after the other. Threads: any.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use hblite::{CellRef, ClientScanners, ResultScanner, RowResult, Scan, Table, TableName};
use hblite_wire::memory::{MemoryAccount, MemoryBudget, MemoryCharge};
use parking_lot::Mutex;

use crate::memory::Allowance;
use crate::model::cell_set::{CellSet, RowModel};

/// The overhead of an open scanner, in addition to its request: positions in memory and files, and
/// their keys.
const SCANNER_BYTES: usize = 4 * 1024;
/// How long a scanner without a request keeps the state of the store that it reads: half of HBase's
/// lease.
const RESTS_AFTER_MS: i64 = 30_000;
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
    Begun(Table, Box<Scan>, Box<ResultScanner>),
    Ended,
}

/// The cells of a scan, one after the other.
#[derive(Debug)]
pub(crate) struct Cells {
    rows: Rows,
    /// The last row that was read.
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
                    let rows = Box::new(table.scan(scan)?);
                    self.rows = Rows::Begun(table.clone(), scan.clone(), rows);
                    continue;
                }
                Rows::Begun(_, _, rows) => rows.next().transpose()?,
                Rows::Ended => None,
            };
            let Some(row) = next else {
                self.rows = Rows::Ended;
                return Ok(None);
            };
            // A row that was read must not be lost, even if there is no memory for it.
            let before = self.charge.size_bytes().saturating_sub(row_size(&self.row));
            self.charge.overdraw(before.saturating_add(row_size(&row)));
            (self.row, self.next) = (row, 0);
        }
        Ok(self.row.cells().nth(self.next))
    }

    /// The table, until the scan has ended.
    pub(crate) fn table(&self) -> Option<&TableName> {
        match &self.rows {
            Rows::Waiting(table, _) | Rows::Begun(table, ..) => Some(table.name()),
            Rows::Ended => None,
        }
    }

    /// Whether another row may be read: not while more memory is charged than there is.
    pub(crate) fn has_memory(&self) -> bool {
        self.next < self.row.len() || self.charge.account().has_room(1)
    }

    pub(crate) fn advance(&mut self) {
        self.next += 1;
    }

    /// Lets go of the state of the store.
    fn rest(&mut self) {
        if let Rows::Begun(table, scan, _) = &self.rows {
            let left = match self.row.is_empty() {
                true => scan.clone(),
                false => Box::new((**scan).clone().with_start_row_exclusive(self.row.row())),
            };
            self.rows = Rows::Waiting(table.clone(), left);
        }
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
            let unused_ms = now_millis.saturating_sub(scanner.used_at_ms.load(Ordering::Relaxed));
            if unused_ms >= RESTS_AFTER_MS
                && let Some(mut cells) = scanner.cells.try_lock()
            {
                cells.rest();
            }
            unused_ms < self.expiry_ms
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

#[cfg(test)]
mod tests {
    use hblite::{ColumnFamilyDescriptor, Put, TableDescriptor};

    use super::*;

    #[test]
    fn a_scanner_that_rests_goes_on_after_its_last_row_with_what_is_there() {
        let connection = hblite::open_in_memory().unwrap();
        let family = ColumnFamilyDescriptor::new("f");
        let descriptor = TableDescriptor::new("t".parse().unwrap()).with_family(family);
        connection.admin().create_table(&descriptor).unwrap();
        let table = connection.table("t").unwrap();
        let put = |row| table.put(&Put::new(row).add("f", "q", "v").add("f", "r", "v")).unwrap();
        ["b", "d"].into_iter().for_each(put);
        let budget = Arc::new(MemoryBudget::new(1 << 20));
        let scanners = Scanners::new(10, Duration::from_secs(3600), &budget);
        let request = Allowance::new(budget.account(1 << 20).charge());
        let rows = Rows::Waiting(table.clone(), Box::new(Scan::new()));
        let id = scanners.add(rows, 1, 0, &request).unwrap();
        let next = || {
            let scanner = scanners.get(&id, 0).unwrap();
            let mut cells = scanner.cells.lock();
            let found =
                cells.peek().unwrap().map(|cell| (cell.row().to_vec(), cell.qualifier()[0]));
            cells.advance();
            found
        };
        assert_eq!(next(), Some((b"b".to_vec(), b'q')));
        ["a", "c"].into_iter().for_each(put);
        scanners.close_expired(RESTS_AFTER_MS - 1);
        assert!(matches!(scanners.get(&id, 0).unwrap().cells.lock().rows, Rows::Begun(..)));
        scanners.close_expired(RESTS_AFTER_MS);
        assert!(matches!(scanners.get(&id, 0).unwrap().cells.lock().rows, Rows::Waiting(..)));
        let cells = [(b"b", b'r'), (b"c", b'q'), (b"c", b'r'), (b"d", b'q'), (b"d", b'r')];
        for (row, qualifier) in cells {
            assert_eq!(next(), Some((row.to_vec(), qualifier)));
        }
        assert_eq!(next(), None);
        put("e");
        scanners.close_expired(RESTS_AFTER_MS);
        assert_eq!(next(), None, "it has ended");
    }
}
