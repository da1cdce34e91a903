//! Traced reads: every scan and get, with its rows, cells, bytes and regions.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hblite::{Get, ResultScanner, RowResult, Scan, Table};
use hblite_rowkey::{Keyed, ScanBounds, printable};

use crate::error::Result;

/// A list of reads, in the order in which they began.
#[derive(Debug, Default)]
pub struct Trace {
    steps: Mutex<Vec<Arc<Step>>>,
}

/// One scan or get.
#[derive(Debug)]
pub struct Step {
    /// The table.
    pub table: String,
    /// What was read.
    pub access: TracedRead,
    cost: Mutex<Cost>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TracedRead {
    /// One row.
    Get {
        /// The row.
        row: Vec<u8>,
        /// Other settings, to print.
        options: String,
    },
    /// Rows in order.
    Scan {
        /// From where to where.
        bounds: ScanBounds,
        /// Other settings, to print.
        options: String,
    },
}

/// The cost of reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Scans.
    pub scans: u64,
    /// Gets.
    pub gets: u64,
    /// Regions visited, counted for each scan and get.
    pub regions: u64,
    /// Rows returned.
    pub rows: u64,
    /// Cells returned.
    pub cells: u64,
    /// Bytes of returned rows, families, qualifiers and values.
    pub bytes: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.scans += other.scans;
        self.gets += other.gets;
        self.regions += other.regions;
        self.rows += other.rows;
        self.cells += other.cells;
        self.bytes += other.bytes;
    }
}

impl Cost {
    fn add_row(&mut self, row: &RowResult) {
        self.rows += 1;
        for cell in row {
            self.cells += 1;
            let bytes = cell.row().len()
                + cell.family().len()
                + cell.qualifier().len()
                + cell.value().len();
            self.bytes += bytes as u64;
        }
    }
}

impl Trace {
    /// An empty trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// The scans and gets so far. A scan's cost is complete when it is dropped.
    pub fn steps(&self) -> Vec<Arc<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Their total cost.
    pub fn cost(&self) -> Cost {
        let mut cost = Cost::default();
        for step in self.steps() {
            cost += step.cost();
        }
        cost
    }

    fn begin(&self, table: &Table, access: TracedRead) -> Arc<Step> {
        let step = Step { table: table.name().to_string(), access, cost: Mutex::default() };
        let step = Arc::new(step);
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&step));
        step
    }
}

impl Step {
    /// What it cost.
    pub fn cost(&self) -> Cost {
        *self.cost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_cost(&self, cost: Cost) {
        *self.cost.lock().unwrap_or_else(PoisonError::into_inner) = cost;
    }
}

/// Keys as HBase prints them, and only settings that differ from the default.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cost = self.cost();
        let options = match &self.access {
            TracedRead::Get { row, options } => {
                write!(f, "get  {} \"{}\"", self.table, printable(row))?;
                options
            }
            TracedRead::Scan { bounds, options } => {
                write!(f, "scan {}", self.table)?;
                if !bounds.start.is_empty() {
                    let after = if bounds.is_start_inclusive { "" } else { " exclusive" };
                    write!(f, " start \"{}\"{after}", printable(&bounds.start))?;
                }
                if !bounds.stop.is_empty() {
                    let with = if bounds.is_stop_inclusive { " inclusive" } else { "" };
                    write!(f, " stop \"{}\"{with}", printable(&bounds.stop))?;
                }
                if bounds.is_reversed {
                    f.write_str(" reversed")?;
                }
                options
            }
        };
        if !options.is_empty() {
            write!(f, " {options}")?;
        }
        write!(f, ": rows {}, cells {}, regions {}", cost.rows, cost.cells, cost.regions)
    }
}

/// A table whose reads are traced.
#[derive(Debug)]
pub struct TableReader {
    table: Table,
    /// Start keys of the regions at the last refresh.
    starts: Mutex<Arc<Vec<Vec<u8>>>>,
}

impl TableReader {
    /// A reader for a table.
    ///
    /// # Errors
    /// `Store` if it does not exist.
    pub fn new(table: Table) -> Result<Self> {
        let reader = Self { table, starts: Mutex::default() };
        reader.refresh()?;
        Ok(reader)
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Reads the list of regions again, to count those that reads visit: they may have been split.
    ///
    /// # Errors
    /// Those of the store.
    pub fn refresh(&self) -> Result<()> {
        let regions = self.table.regions()?;
        let starts = regions.iter().map(|region| region.start_key().to_vec()).collect();
        *self.starts.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(starts);
        Ok(())
    }

    fn starts(&self) -> Arc<Vec<Vec<u8>>> {
        Arc::clone(&self.starts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads one row.
    ///
    /// # Errors
    /// Those of the store.
    pub fn get(&self, get: &Get, options: &str, trace: &Trace) -> Result<RowResult> {
        let access = TracedRead::Get { row: get.row().to_vec(), options: options.to_owned() };
        let step = trace.begin(&self.table, access);
        let row = self.table.get(get)?;
        let mut cost = Cost { gets: 1, regions: 1, ..Cost::default() };
        if !row.is_empty() {
            cost.add_row(&row);
        }
        step.set_cost(cost);
        Ok(row)
    }

    /// Reads the rows between bounds. The store stops at `limit`; `refine` may set more, which
    /// `options` describes.
    ///
    /// # Errors
    /// Those of the store.
    pub fn scan(
        &self,
        bounds: &ScanBounds,
        limit: Option<u64>,
        options: &str,
        refine: impl FnOnce(Scan) -> Scan,
        trace: &Trace,
    ) -> Result<TracedScan> {
        let scan = Scan::new()
            .with_start_bound(hblite::row_bound(&bounds.start, bounds.is_start_inclusive))
            .with_stop_bound(hblite::row_bound(&bounds.stop, bounds.is_stop_inclusive))
            .with_reversed(bounds.is_reversed);
        let mut options = options.to_owned();
        let scan = match limit {
            Some(limit) => {
                let space = if options.is_empty() { "" } else { " " };
                options = format!("limit {limit}{space}{options}");
                scan.with_limit(u32::try_from(limit).unwrap_or(u32::MAX))
            }
            None => scan,
        };
        let access = TracedRead::Scan { bounds: bounds.clone(), options };
        let step = trace.begin(&self.table, access);
        let scanner = self.table.scan(&refine(scan))?;
        Ok(TracedScan {
            scanner,
            step,
            starts: self.starts(),
            cost: Cost { scans: 1, ..Cost::default() },
            limit,
            last_row: bounds.start.clone(),
            has_ended: false,
        })
    }
}

/// The rows of a scan; when it is dropped, its cost is in the trace.
#[derive(Debug)]
pub struct TracedScan {
    scanner: ResultScanner,
    step: Arc<Step>,
    starts: Arc<Vec<Vec<u8>>>,
    cost: Cost,
    limit: Option<u64>,
    last_row: Vec<u8>,
    has_ended: bool,
}

impl Iterator for TracedScan {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        match self.scanner.next() {
            Some(Ok(row)) => {
                self.cost.add_row(&row);
                self.last_row.clear();
                self.last_row.extend_from_slice(row.row());
                Some(Ok(Row(row)))
            }
            Some(Err(error)) => Some(Err(error.into())),
            None => {
                self.has_ended = true;
                None
            }
        }
    }
}

impl TracedScan {
    /// Regions from the scan's start to its current position.
    fn regions(&self) -> u64 {
        let TracedRead::Scan { bounds, .. } = &self.step.access else { return 1 };
        let region = |row: &[u8]| {
            self.starts.partition_point(|start| start.as_slice() <= row).saturating_sub(1)
        };
        let last_region = self.starts.len().saturating_sub(1);
        let is_reversed = bounds.is_reversed;
        let first = match (bounds.start.is_empty(), is_reversed) {
            (true, true) => last_region,
            (false, true) if !bounds.is_start_inclusive => {
                let from = self.starts.partition_point(|start| *start < bounds.start);
                from.saturating_sub(1)
            }
            _ => region(&bounds.start),
        };
        let last = match (self.has_ended, bounds.stop.is_empty(), is_reversed) {
            (false, _, _) => region(&self.last_row),
            (true, true, false) => last_region,
            (true, true, true) => 0,
            (true, false, true) => region(&bounds.stop),
            (true, false, false) => {
                let from = self.starts.partition_point(|start| *start < bounds.stop);
                from.saturating_sub(1)
            }
        };
        first.abs_diff(last) as u64 + 1
    }
}

impl Drop for TracedScan {
    fn drop(&mut self) {
        // A scan that reached its limit did not look further.
        self.has_ended &= self.limit != Some(self.cost.rows);
        self.cost.regions = self.regions();
        self.step.set_cost(self.cost);
    }
}

/// A row that can be merged by its key.
#[derive(Debug)]
pub struct Row(pub RowResult);

impl Keyed for Row {
    fn key(&self) -> &[u8] {
        self.0.row()
    }
}
