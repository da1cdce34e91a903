//! Reads and writes of one table.

use hblite::filter::CompareOperator;
use hblite::{Append, CheckAndMutate, FromValue, Get, Increment, Mutation, Scan};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrow::Columns;
use crate::batch::Batch;
use crate::call::{Owned, wait};
use crate::data::{Reading, Shape, bytes_of, for_each_column, row_dict, whole_column};
use crate::scanner::Scanner;
use crate::writes::{delete_of, put_of};

/// A table. `db["users"]` makes one, without asking whether it exists.
///
/// Keys, columns and values are bytes, or str that is encoded as UTF-8; answers are bytes. A column
/// is `family:qualifier`. All threads may share a table.
///
/// >>> import hblite
/// >>> db = hblite.memory()
/// >>> db.create_table("users", {"info": dict(versions=3)})
/// >>> users = db["users"]
/// >>> users.put("u1", {"info:name": "Ada"})
/// >>> users.get("u1")
/// {b'info:name': b'Ada'}
/// >>> db.close()
#[pyclass(module = "hblite", frozen)]
#[derive(Debug)]
pub(crate) struct Table {
    table: Owned<hblite::Table>,
}

impl Table {
    pub(crate) fn new(table: hblite::Table) -> Self {
        Self { table: Owned::new(table) }
    }

    fn check(
        &self,
        py: Python<'_>,
        row: &[u8],
        column: &Bound<'_, PyAny>,
        (operator, expected): (&str, Option<&Bound<'_, PyAny>>),
        then: impl Into<Mutation>,
    ) -> PyResult<bool> {
        let table = self.table.get(py)?;
        let column = bytes_of(column)?;
        let (family, qualifier) = whole_column(&column)?;
        let check = CheckAndMutate::new(row);
        let expected = expected.map(bytes_of).transpose()?;
        let operator = stored_compares(operator, expected.is_some())?;
        let expected = expected.as_deref().unwrap_or_default();
        let check = check.if_matches(family, qualifier, operator, expected);
        let check = check.then(then);
        Ok(wait(py, || table.check_and_mutate(&check))?.is_success)
    }
}

#[pymethods]
impl Table {
    /// The name.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.table.get(py)?.name().to_string())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<hblite.Table {}>", self.name(py)?))
    }

    /// Reads a row: a dictionary of its columns, empty if there is no such row.
    ///
    /// `columns` lists columns and families; without it, all are read. With `timestamps`, a column
    /// has a pair of value and timestamp, and with `versions` a list of up to so many pairs, the
    /// newest first. `time_range` is a pair of timestamps, the second excluded; `filter` is text in
    /// HBase's filter language.
    ///
    /// >>> import hblite
    /// >>> db = hblite.memory()
    /// >>> db.create_table("t", {"f": dict(versions=2)})
    /// >>> t = db["t"]
    /// >>> t.put("r", {"f:q": "old", "f:other": "x"}, timestamp=1)
    /// >>> t.put("r", {"f:q": "new"}, timestamp=2)
    /// >>> t.get("r", columns=["f:q"], versions=2)
    /// {b'f:q': [(b'new', 2), (b'old', 1)]}
    /// >>> db.close()
    #[pyo3(signature = (row, columns=None, *, versions=None, timestamps=false, time_range=None,
        filter=None))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn get<'py>(
        &self,
        py: Python<'py>,
        row: &Bound<'py, PyAny>,
        columns: Option<&Bound<'py, PyAny>>,
        versions: Option<u32>,
        timestamps: bool,
        time_range: Option<(i64, i64)>,
        filter: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let table = self.table.get(py)?;
        let reading = Reading::new(py, columns, versions, time_range, filter)?;
        let get = reading.get(Get::new(bytes_of(row)?));
        let row = wait(py, || table.get(&get))?;
        row_dict(py, &row, Shape::new(versions, timestamps))
    }

    /// Reads many rows in one call; the answers are in the order of `rows`.
    #[pyo3(signature = (rows, columns=None, *, versions=None, timestamps=false, time_range=None,
        filter=None))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        columns: Option<&Bound<'py, PyAny>>,
        versions: Option<u32>,
        timestamps: bool,
        time_range: Option<(i64, i64)>,
        filter: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let table = self.table.get(py)?;
        let reading = Reading::new(py, columns, versions, time_range, filter)?;
        let mut gets = Vec::new();
        for row in rows.try_iter()? {
            gets.push(reading.clone().get(Get::new(bytes_of(&row?)?)));
        }
        let shape = Shape::new(versions, timestamps);
        let rows = wait(py, || table.get_all(&gets))?;
        rows.iter().map(|row| row_dict(py, row, shape)).collect()
    }

    /// Whether a row, or one of these columns and families of it, exists.
    #[pyo3(signature = (row, columns=None))]
    fn exists(
        &self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let table = self.table.get(py)?;
        let reading = Reading::new(py, columns, None, None, None)?;
        let get = reading.get(Get::new(bytes_of(row)?));
        wait(py, || table.exists(&get))
    }

    /// Reads rows in order: an iterator of pairs of a key and a dictionary as of `get`.
    ///
    /// The rows are those from `start` to before `stop` that begin with `prefix`, at most `limit`;
    /// `include_start` and `include_stop` change which of the two belong to it. With `reverse` they
    /// come in descending order, and `start` is the greater of the two. The other arguments are
    /// those of `get`. `types` is for readers of Arrow: it names columns and how their bytes are
    /// read, as binary, utf8, bool, int16, int32, int64, float32 or float64, big-endian as HBase's
    /// `Bytes.toBytes` writes them; "row" is the key. Other columns, and rows without any of them,
    /// are left out.
    ///
    /// `raw` also reads delete markers, and the cells that they delete while files still have them:
    /// a column has a list of value, timestamp and type. The type is Put, Delete (of one version),
    /// DeleteColumn, DeleteFamily or DeleteFamilyVersion; a marker of a family has no qualifier.
    /// Without `versions`, it reads all. HBase lets a raw scan choose families, but no columns.
    ///
    /// >>> import hblite
    /// >>> db = hblite.memory()
    /// >>> db.create_table("t", ["f"])
    /// >>> t = db["t"]
    /// >>> for key in "a1", "a2", "b1":
    /// ...     t.put(key, {"f:q": key.upper()})
    /// >>> for key, row in t.scan(prefix="a", reverse=True):
    /// ...     print(key, row[b"f:q"])
    /// b'a2' b'A2'
    /// b'a1' b'A1'
    /// >>> [key for key, row in t.scan(filter="PrefixFilter('b')")]
    /// [b'b1']
    /// >>> t.put("a3", {"f:q": "v"}, timestamp=1)
    /// >>> t.delete("a3", ["f:q"], timestamp=2)
    /// >>> list(t.scan("a3", "b", raw=True))
    /// [(b'a3', {b'f:q': [(b'', 2, 'DeleteColumn'), (b'v', 1, 'Put')]})]
    /// >>> db.close()
    #[pyo3(signature = (start=None, stop=None, *, prefix=None, reverse=false, limit=None,
        columns=None, versions=None, timestamps=false, time_range=None, filter=None,
        include_start=true, include_stop=false, types=None, raw=false))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn scan(
        &self,
        py: Python<'_>,
        start: Option<&Bound<'_, PyAny>>,
        stop: Option<&Bound<'_, PyAny>>,
        prefix: Option<&Bound<'_, PyAny>>,
        reverse: bool,
        limit: Option<u32>,
        columns: Option<&Bound<'_, PyAny>>,
        versions: Option<u32>,
        timestamps: bool,
        time_range: Option<(i64, i64)>,
        filter: Option<&Bound<'_, PyAny>>,
        include_start: bool,
        include_stop: bool,
        types: Option<&Bound<'_, PyDict>>,
        raw: bool,
    ) -> PyResult<Scanner> {
        let table = self.table.get(py)?;
        let mut scan = Scan::new().with_reversed(reverse);
        if let Some(prefix) = prefix {
            scan = scan.with_prefix(bytes_of(prefix)?);
        }
        if let Some(start) = start {
            scan = scan.with_start_bound(hblite::row_bound(bytes_of(start)?, include_start));
        }
        if let Some(stop) = stop {
            scan = scan.with_stop_bound(hblite::row_bound(bytes_of(stop)?, include_stop));
        }
        if limit == Some(0) {
            return Err(PyValueError::new_err("limit must be at least 1"));
        }
        if let Some(limit) = limit {
            scan = scan.with_limit(limit);
        }
        let mut scan = Reading::new(py, columns, versions, time_range, filter)?.scan(scan);
        let mut shape = Shape::new(versions, timestamps);
        if raw {
            if types.is_some() {
                let message = "types gives each row a line, which has no place for delete markers";
                return Err(PyValueError::new_err(message));
            }
            scan = if versions.is_none() { scan.with_all_versions() } else { scan }.with_raw(true);
            shape = Shape::Raw;
        }
        let typed = types.map(Columns::new).transpose()?;
        if let Some(typed) = typed.as_ref().filter(|_| columns.is_none()) {
            for column in &typed.columns {
                scan = scan.with_column(&column.family, &column.qualifier);
            }
        }
        Scanner::new(py, table, scan, shape, typed)
    }

    /// Writes columns of a row: all or none.
    ///
    /// `timestamp` is in milliseconds, by default the store's time; `ttl` is in seconds;
    /// `durability` is one of HBase's names, such as `FSYNC_WAL`.
    #[pyo3(signature = (row, data, *, timestamp=None, ttl=None, durability=None))]
    fn put(
        &self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        data: &Bound<'_, PyDict>,
        timestamp: Option<i64>,
        ttl: Option<f64>,
        durability: Option<&str>,
    ) -> PyResult<()> {
        let table = self.table.get(py)?;
        let put = put_of(row, data, timestamp, ttl, durability)?;
        wait(py, || table.put(&put))
    }

    /// Deletes a row, or these columns and families of it.
    ///
    /// `timestamp` limits it to cells that are not newer, and with `exact` to those that have it.
    #[pyo3(signature = (row, columns=None, *, timestamp=None, exact=false, durability=None))]
    fn delete(
        &self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
        timestamp: Option<i64>,
        exact: bool,
        durability: Option<&str>,
    ) -> PyResult<()> {
        let table = self.table.get(py)?;
        let delete = delete_of(row, columns, timestamp, exact, durability)?;
        wait(py, || table.delete(&delete))
    }

    /// Adds to a counter, 1 by default, and returns its new value. Or adds to several counters of
    /// the row in one atomic step: given a dict of columns and amounts, returns one of columns and
    /// new values.
    ///
    /// >>> import hblite
    /// >>> db = hblite.memory()
    /// >>> db.create_table("t", ["f"])
    /// >>> db["t"].increment("r", "f:hits")
    /// 1
    /// >>> db["t"].increment("r", {"f:hits": 1, "f:bytes": 512})
    /// {b'f:bytes': 512, b'f:hits': 2}
    /// >>> db.close()
    #[pyo3(signature = (row, column, amount=None))]
    fn increment<'py>(
        &self,
        py: Python<'py>,
        row: &Bound<'py, PyAny>,
        column: &Bound<'py, PyAny>,
        amount: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.table.get(py)?;
        let mut increment = Increment::new(bytes_of(row)?);
        let Ok(amounts) = column.cast::<PyDict>() else {
            let column = bytes_of(column)?;
            let (family, qualifier) = whole_column(&column)?;
            let increment = increment.add(family, qualifier, amount.unwrap_or(1));
            let new = wait(py, || table.increment(&increment)?.value_as::<i64>(family, qualifier))?;
            return Ok(new.unwrap_or_default().into_pyobject(py)?.into_any());
        };
        if amount.is_some() || amounts.is_empty() {
            let message = "a dict has the columns, at least one, and their amounts";
            return Err(PyValueError::new_err(message));
        }
        for_each_column(amounts, |family, qualifier, amount| {
            let added = std::mem::replace(&mut increment, Increment::new(b""));
            increment = added.add(family, qualifier, amount.extract()?);
            Ok(())
        })?;
        let row = wait(py, || table.increment(&increment))?;
        let counters = PyDict::new(py);
        for cell in row.cells() {
            let column = [cell.family(), b":", cell.qualifier()].concat();
            let new = i64::from_value(cell.value()).unwrap_or_default();
            counters.set_item(PyBytes::new(py, &column), new)?;
        }
        Ok(counters.into_any())
    }

    /// Appends to a value, and returns the new one.
    fn append<'py>(
        &self,
        py: Python<'py>,
        row: &Bound<'py, PyAny>,
        column: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let table = self.table.get(py)?;
        let (row, column) = (bytes_of(row)?, bytes_of(column)?);
        let (family, qualifier) = whole_column(&column)?;
        let append = Append::new(row).add(family, qualifier, bytes_of(value)?.as_ref());
        let row = wait(py, || table.append(&append))?;
        Ok(PyBytes::new(py, row.value(family, qualifier).unwrap_or_default()))
    }

    /// Writes columns of a row if one of its columns has the expected value, or with `None` has
    /// none, in one atomic step. Returns whether it did. `operator` is how the stored value must
    /// compare with the expected one, byte by byte: `==`, `!=`, `<`, `<=`, `>` or `>=`. A column
    /// without a value meets no comparison with one.
    ///
    /// >>> import hblite
    /// >>> db = hblite.memory()
    /// >>> db.create_table("jobs", ["f"])
    /// >>> jobs = db["jobs"]
    /// >>> jobs.check_and_put("job", "f:owner", None, {"f:owner": "me"})
    /// True
    /// >>> jobs.check_and_put("job", "f:owner", None, {"f:owner": "you"})
    /// False
    /// >>> db.close()
    #[pyo3(signature = (row, column, expected, data, *, operator="==", timestamp=None, ttl=None,
        durability=None))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn check_and_put(
        &self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        column: &Bound<'_, PyAny>,
        expected: Option<&Bound<'_, PyAny>>,
        data: &Bound<'_, PyDict>,
        operator: &str,
        timestamp: Option<i64>,
        ttl: Option<f64>,
        durability: Option<&str>,
    ) -> PyResult<bool> {
        let put = put_of(row, data, timestamp, ttl, durability)?;
        self.check(py, &bytes_of(row)?, column, (operator, expected), put)
    }

    /// Deletes a row, or these columns and families of it, under a condition as of
    /// `check_and_put`. Returns whether it did.
    #[pyo3(signature = (row, column, expected, columns=None, *, operator="==", timestamp=None,
        exact=false, durability=None))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn check_and_delete(
        &self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        column: &Bound<'_, PyAny>,
        expected: Option<&Bound<'_, PyAny>>,
        columns: Option<&Bound<'_, PyAny>>,
        operator: &str,
        timestamp: Option<i64>,
        exact: bool,
        durability: Option<&str>,
    ) -> PyResult<bool> {
        let delete = delete_of(row, columns, timestamp, exact, durability)?;
        self.check(py, &bytes_of(row)?, column, (operator, expected), delete)
    }

    /// Collects writes and sends them together: whenever there are `size` of them, and at the end
    /// of the `with`. Those of a `with` that an exception ends are dropped, if not sent yet.
    ///
    /// >>> import hblite
    /// >>> db = hblite.memory()
    /// >>> db.create_table("t", ["f"])
    /// >>> with db["t"].batch() as b:
    /// ...     for number in range(3):
    /// ...         b.put(f"r{number}", {"f:q": "v"})
    /// >>> len(list(db["t"].scan()))
    /// 3
    /// >>> db.close()
    #[pyo3(signature = (size=None))]
    fn batch(&self, py: Python<'_>, size: Option<usize>) -> PyResult<Batch> {
        if size == Some(0) {
            return Err(PyValueError::new_err("size must be at least 1"));
        }
        Ok(Batch::new(self.table.get(py)?.clone(), size))
    }
}

/// HBase's operator for one of Python's, which is turned round: HBase compares the given value with
/// the stored one.
fn stored_compares(operator: &str, is_given: bool) -> PyResult<CompareOperator> {
    Ok(match operator {
        "==" => CompareOperator::Equal,
        "!=" => CompareOperator::NotEqual,
        "<" if is_given => CompareOperator::Greater,
        "<=" if is_given => CompareOperator::GreaterOrEqual,
        ">" if is_given => CompareOperator::Less,
        ">=" if is_given => CompareOperator::LessOrEqual,
        "<" | "<=" | ">" | ">=" => {
            return Err(PyValueError::new_err(format!("{operator} needs an expected value")));
        }
        _ => {
            let message = format!("{operator} is not one of ==, !=, <, <=, > and >=");
            return Err(PyValueError::new_err(message));
        }
    })
}
