//! Scanners that clients have open, by number.
//!
//! Any connection may use a scanner of the same port, as with HBase. A scanner that is not used for
//! the time of its lease is closed. When a connection ends, its scanners stay open until then.
//!
//! As with HBase's client, a scan starts when its first row is requested: a missing table or family
//! is an error then, not when the scanner is opened.
//!
//! Threads: any; calls for the same scanner run one after the other.

use std::collections::HashMap;
use std::sync::Arc;

use hblite::{ClientScanners, Connection, ResultScanner, Table};
use hblite_model::filter::Filter;
use hblite_model::{Error, Exception, Result, RowResult, Scan, TableName};
use hblite_wire::memory::{MemoryAccount, MemoryBudget, MemoryCharge};
use parking_lot::Mutex;

use crate::fault::{Answer, Fault};
use crate::memory::Allowance;
use crate::options::ThriftLimits;

/// The overhead of an open scanner, in addition to its request: positions in memory and files, and
/// their keys.
const SCANNER_BYTES: usize = 16 * 1024;

/// Every open scanner.
#[derive(Debug)]
pub(crate) struct Scanners {
    connection: Connection,
    limits: ThriftLimits,
    /// The account of all open scanners.
    memory: Arc<MemoryAccount>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: i32,
    open: HashMap<i32, Entry>,
}

#[derive(Debug)]
struct Entry {
    scanner: Arc<Scanner>,
    /// Number of the connection that opened it.
    owner: u64,
    used_at_ms: i64,
    /// Its memory, charged while it is open.
    _charge: MemoryCharge,
}

/// One scan of a client.
#[derive(Debug)]
pub(crate) struct Scanner {
    pub(crate) table: TableName,
    rows: Mutex<Rows>,
    /// Whether Thrift 1 returns the cells of a row in order, and not as a map.
    pub(crate) sorts_columns: bool,
}

#[derive(Debug)]
enum Rows {
    NotStarted(Table, Box<Scan>),
    Started(Box<ResultScanner>),
    /// Whether the scan has ended, or failed.
    Ended,
}

impl Scanner {
    pub(crate) fn new(table: Table, scan: Scan, sorts_columns: bool) -> Self {
        let (name, rows) = (table.name().clone(), Rows::NotStarted(table, Box::new(scan)));
        Self { table: name, rows: Mutex::new(rows), sorts_columns }
    }

    /// Up to `count` rows; fewer at the end, or if they are larger than
    /// `size_max_bytes`, or than the memory that is left after the first.
    pub(crate) fn next(
        &self,
        count: i32,
        size_max_bytes: usize,
        allowance: &Allowance,
    ) -> Answer<Vec<RowResult>> {
        let count = usize::try_from(count).map_err(|_| Fault::Internal)?;
        let mut rows = self.rows.lock();
        let mut results = Vec::new();
        let mut size = 0;
        while results.len() < count && size < size_max_bytes {
            let Some(row) = rows.next().map_err(Fault::of_region_server)? else { break };
            size += row.cells().map(|cell| cell.serialized_size()).sum::<usize>();
            let has_room = allowance.try_hold(&row);
            if !has_room {
                // The scan will not return the row again, so it is sent.
                allowance.overdraw(&row);
            }
            results.push(row);
            if !has_room {
                break;
            }
        }
        Ok(results)
    }
}

impl Rows {
    /// The next row. A scan that cannot start is tried again by the next call.
    fn next(&mut self) -> Result<Option<RowResult>> {
        if let Self::NotStarted(table, scan) = self {
            let mut scanner = table.scan(scan)?;
            let first = scanner.next_row()?.cloned();
            *self = Self::Started(Box::new(scanner));
            return Ok(first);
        }
        let Self::Started(scanner) = self else { return Ok(None) };
        match scanner.next_row() {
            Ok(Some(row)) => Ok(Some(row.clone())),
            Ok(None) => {
                *self = Self::Ended;
                Ok(None)
            }
            Err(error) => {
                *self = Self::Ended;
                Err(error)
            }
        }
    }
}

/// Checks what HBase's client checks when it constructs a scan. The region server checks whether
/// batches and the filter agree. The number of filters is checked before the scan starts: until
/// then, it would only take memory.
pub(crate) fn check_scan(scan: &Scan) -> Result<()> {
    scan.filter().map_or(Ok(()), Filter::check_count)?;
    match scan.check() {
        Err(error) if error.exception() == Exception::IncompatibleFilter => Ok(()),
        result => result,
    }
}

impl Scanners {
    pub(crate) fn new(
        connection: Connection,
        limits: ThriftLimits,
        memory: &Arc<MemoryBudget>,
    ) -> Self {
        let memory = memory.account(memory.size_bytes() / 2);
        Self { connection, limits, memory, state: Mutex::default() }
    }

    /// Registers a scanner and returns its number. At most, its scan takes as much memory as its
    /// request has taken.
    ///
    /// # Errors
    /// `IOException` if the connection, or all connections together, have too many;
    /// `CallQueueTooBig` if there is no memory for it.
    pub(crate) fn open(&self, scanner: Scanner, owner: u64, allowance: &Allowance) -> Answer<i32> {
        let mut charge = self.memory.charge();
        if !charge.try_resize(SCANNER_BYTES + allowance.taken_bytes()) {
            return Err(Fault::out_of_memory());
        }
        let mut state = self.state.lock();
        let of_owner = state.open.values().filter(|entry| entry.owner == owner).count();
        if state.open.len() >= self.limits.scanners_max
            || of_owner >= self.limits.connection_scanners_max
        {
            let message = "too many open scanners; close those that are not needed";
            return Err(Error::new(Exception::Io, message).into());
        }
        let mut id = state.next;
        while state.open.contains_key(&id) {
            id = id.wrapping_add(1).max(0);
        }
        state.next = id.wrapping_add(1).max(0);
        let used_at_ms = self.connection.now_millis();
        let scanner = Arc::new(scanner);
        state.open.insert(id, Entry { scanner, owner, used_at_ms, _charge: charge });
        Ok(id)
    }

    /// The scanner of this number, whose lease starts anew.
    pub(crate) fn get(&self, id: i32) -> Option<Arc<Scanner>> {
        let now = self.connection.now_millis();
        let mut state = self.state.lock();
        let entry = state.open.get_mut(&id)?;
        entry.used_at_ms = now;
        Some(Arc::clone(&entry.scanner))
    }

    /// Closes a scanner; `false` if it is not open.
    pub(crate) fn close(&self, id: i32) -> bool {
        self.state.lock().open.remove(&id).is_some()
    }

    /// Closes scanners whose lease has expired.
    pub(crate) fn expire(&self) {
        self.close_expired(self.connection.now_millis());
    }
}

impl ClientScanners for Scanners {
    fn open_count(&self) -> usize {
        self.state.lock().open.len()
    }

    fn close_expired(&self, now_millis: i64) {
        let lease_ms = i64::try_from(self.limits.scanner_lease.as_millis()).unwrap_or(i64::MAX);
        let oldest = now_millis.saturating_sub(lease_ms);
        let is_kept =
            |entry: &Entry| entry.used_at_ms >= oldest || Arc::strong_count(&entry.scanner) > 1;
        self.state.lock().open.retain(|_, entry| is_kept(entry));
    }

    /// Their numbers are not used again.
    fn close_all(&self) {
        let closed = std::mem::take(&mut self.state.lock().open);
        drop(closed);
    }
}
