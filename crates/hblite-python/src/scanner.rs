//! The rows of a scan.

use std::collections::VecDeque;

use hblite::{ResultScanner, RowResult, Scan, Table};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::arrow::{self, Columns};
use crate::call::{Owned, wait};
use crate::data::{Shape, row_dict};

/// Rows that one call reads ahead.
const ROWS_AHEAD: usize = 64;
/// Bytes of rows after which a call reads no further.
const BYTES_AHEAD: usize = 256 * 1024;

/// The rows of a scan, in order: pairs of a key and a dictionary.
///
/// A scanner may be used by one thread at a time. `close()` or the end of a `with` releases what it
/// holds before it has reached the last row.
///
/// It is also a table of Arrow: `polars.DataFrame(scanner)`, `pyarrow.table(scanner)`, or the name
/// of the variable in DuckDB. The columns are row, column, timestamp and value, and of a raw scan
/// type, with a line for each cell; or those of the argument `types`, with a line for each row.
/// Each use scans anew.
#[pyclass(module = "hblite")]
#[derive(Debug)]
pub(crate) struct Scanner {
    /// `None` after the last row, an error or `close`. The lock only makes it shareable: Python
    /// lends the object to one thread at a time.
    rows: Option<Owned<Mutex<ResultScanner>>>,
    ahead: VecDeque<RowResult>,
    shape: Shape,
    table: Owned<Table>,
    scan: Scan,
    columns: Option<Columns>,
}

impl Scanner {
    /// Begins a scan.
    ///
    /// # Errors
    /// Those of the scan.
    pub(crate) fn new(
        py: Python<'_>,
        table: &Table,
        scan: Scan,
        shape: Shape,
        columns: Option<Columns>,
    ) -> PyResult<Self> {
        let rows = Owned::new(Mutex::new(wait(py, || table.scan(&scan))?));
        let table = Owned::new(table.clone());
        Ok(Self { rows: Some(rows), ahead: VecDeque::new(), shape, table, scan, columns })
    }

    fn read_ahead(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(rows) = &mut self.rows else { return Ok(()) };
        let rows = rows.get_mut(py)?.get_mut();
        let ahead = &mut self.ahead;
        let read = wait(py, || {
            let mut bytes = 0;
            while ahead.len() < ROWS_AHEAD && bytes < BYTES_AHEAD {
                let Some(row) = rows.next() else { return Ok(false) };
                let row = row?;
                bytes += row.size_bytes();
                ahead.push_back(row);
            }
            Ok(true)
        });
        if !matches!(read, Ok(true)) {
            self.rows = None;
        }
        read.map(drop)
    }
}

#[pymethods]
impl Scanner {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(
        &mut self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyBytes>, Bound<'py, PyDict>)>> {
        if self.ahead.is_empty() {
            self.read_ahead(py)?;
        }
        let Some(row) = self.ahead.pop_front() else { return Ok(None) };
        Ok(Some((PyBytes::new(py, row.row()), row_dict(py, &row, self.shape)?)))
    }

    /// A stream of Arrow's C data interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer ignore it: consumers convert what they get.
        let _ = requested_schema;
        let table = self.table.get(py)?;
        let rows = wait(py, || table.scan(&self.scan))?;
        arrow::stream(py, rows, self.columns.clone(), self.scan.is_raw())
    }

    /// Ends the scan. The scanner has no further rows.
    fn close(&mut self) {
        self.rows = None;
        self.ahead.clear();
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&mut self, _exception: &Bound<'_, PyAny>) {
        self.close();
    }
}
