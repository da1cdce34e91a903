//! Writes that are sent together.

use hblite::Mutation;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call::{Owned, wait};
use crate::writes::{delete_of, put_of};

/// Writes that `Table.batch` collects. They are sent in their order, with one log entry for each
/// region; each is applied as a whole, and after an error some may have been.
///
/// A batch may be used by one thread at a time.
#[pyclass(module = "hblite")]
#[derive(Debug)]
pub(crate) struct Batch {
    table: Owned<hblite::Table>,
    writes: Vec<Mutation>,
    size: Option<usize>,
}

impl Batch {
    pub(crate) fn new(table: hblite::Table, size: Option<usize>) -> Self {
        Self { table: Owned::new(table), writes: Vec::new(), size }
    }

    fn push(&mut self, py: Python<'_>, write: impl Into<Mutation>) -> PyResult<()> {
        self.writes.push(write.into());
        match self.size {
            Some(size) if self.writes.len() >= size => self.send(py),
            _ => Ok(()),
        }
    }
}

#[pymethods]
impl Batch {
    /// Adds a write as of `Table.put`.
    #[pyo3(signature = (row, data, *, timestamp=None, ttl=None, durability=None))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn put(
        &mut self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        data: &Bound<'_, PyDict>,
        timestamp: Option<i64>,
        ttl: Option<f64>,
        durability: Option<&str>,
    ) -> PyResult<()> {
        self.push(py, put_of(row, data, timestamp, ttl, durability)?)
    }

    /// Adds a delete as of `Table.delete`.
    #[pyo3(signature = (row, columns=None, *, timestamp=None, exact=false, durability=None))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn delete(
        &mut self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
        timestamp: Option<i64>,
        exact: bool,
        durability: Option<&str>,
    ) -> PyResult<()> {
        self.push(py, delete_of(row, columns, timestamp, exact, durability)?)
    }

    /// Sends what was collected. It is dropped if that fails.
    fn send(&mut self, py: Python<'_>) -> PyResult<()> {
        let writes = std::mem::take(&mut self.writes);
        let table = self.table.get(py)?;
        wait(py, || table.mutate_all(&writes))
    }

    /// The number of writes that were not sent yet.
    fn __len__(&self) -> usize {
        self.writes.len()
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (exception=None, _value=None, _traceback=None))]
    fn __exit__(
        &mut self,
        py: Python<'_>,
        exception: Option<&Bound<'_, PyAny>>,
        _value: Option<&Bound<'_, PyAny>>,
        _traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        if exception.is_some() {
            self.writes.clear();
        }
        self.send(py)
    }
}
