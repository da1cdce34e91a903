//! Python's objects as operations, and rows as Python's objects.

use std::borrow::Cow;
use std::time::Duration;

use hblite::filter::parse_filter;
use hblite::{CellRef, Durability, Error, Get, RowResult, Scan, TimeRange};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyMemoryView, PyString, PyTuple};

use crate::call::to_exception;

/// Bytes, or text in UTF-8.
///
/// # Errors
/// `TypeError` for other objects.
pub(crate) fn bytes_of<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Cow::Borrowed(text.to_str()?.as_bytes()));
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(Cow::Owned(bytes.to_vec()));
    }
    if let Ok(view) = value.cast::<PyMemoryView>() {
        let bytes = view.call_method0("tobytes")?;
        return Ok(Cow::Owned(bytes.cast::<PyBytes>()?.as_bytes().to_vec()));
    }
    let name = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("expected bytes or str, not {name}")))
}

/// A family, and after a colon a qualifier.
fn parse_column(column: &[u8]) -> (&[u8], Option<&[u8]>) {
    match column.iter().position(|byte| *byte == b':') {
        Some(colon) => (&column[..colon], Some(&column[colon + 1..])),
        None => (column, None),
    }
}

/// A column with a qualifier.
pub(crate) fn whole_column(column: &[u8]) -> PyResult<(&[u8], &[u8])> {
    let (family, qualifier) = parse_column(column);
    let qualifier = qualifier.ok_or_else(|| {
        let column = String::from_utf8_lossy(column);
        PyValueError::new_err(format!("a column is family:qualifier, and {column} has no colon"))
    })?;
    Ok((family, qualifier))
}

/// Calls `visit` with each column of a row's data, a mapping of columns to `V`.
pub(crate) fn for_each_column<'py>(
    data: &Bound<'py, PyDict>,
    mut visit: impl FnMut(&[u8], &[u8], &Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    for (column, value) in data {
        let column = bytes_of(&column)?;
        let (family, qualifier) = whole_column(&column)?;
        visit(family, qualifier, &value)?;
    }
    Ok(())
}

/// Calls `visit` with each column or family of a list of them.
pub(crate) fn for_each_name(
    columns: Option<&Bound<'_, PyAny>>,
    mut visit: impl FnMut(&[u8], Option<&[u8]>) -> PyResult<()>,
) -> PyResult<()> {
    let Some(columns) = columns else { return Ok(()) };
    // A single name can be iterated too, as its characters.
    if columns.is_instance_of::<PyBytes>() || columns.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("columns is a list of names, not one name"));
    }
    for column in columns.try_iter()? {
        let column = column?;
        let column = bytes_of(&column)?;
        let (family, qualifier) = parse_column(&column);
        visit(family, qualifier)?;
    }
    Ok(())
}

/// What gets and scans have in common, as Python's keyword arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Families and columns in the order given: in HBase, the last one of a family decides.
    names: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    versions: Option<u32>,
    time_range: Option<TimeRange>,
    filter: Option<hblite::filter::Filter>,
}

impl Reading {
    pub(crate) fn new(
        py: Python<'_>,
        columns: Option<&Bound<'_, PyAny>>,
        versions: Option<u32>,
        time_range: Option<(i64, i64)>,
        filter: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let failed = |error: Error| to_exception(py, &error);
        let mut reading = Self { versions, ..Self::default() };
        for_each_name(columns, |family, qualifier| {
            reading.names.push((family.to_vec(), qualifier.map(<[u8]>::to_vec)));
            Ok(())
        })?;
        if let Some((min, max)) = time_range {
            reading.time_range = Some(TimeRange::new(min, max).map_err(failed)?);
        }
        if let Some(filter) = filter {
            let filter = parse_filter(bytes_of(filter)?).map_err(|error| failed(error.into()))?;
            reading.filter = Some(filter);
        }
        Ok(reading)
    }
}

/// Applies what was read to a get or a scan.
macro_rules! apply {
    ($name:ident, $read:ty) => {
        pub(crate) fn $name(self, mut read: $read) -> $read {
            for (family, qualifier) in self.names {
                read = match qualifier {
                    Some(qualifier) => read.with_column(family, qualifier),
                    None => read.with_family(family),
                };
            }
            if let Some(versions) = self.versions {
                read = read.with_versions(versions);
            }
            if let Some(time_range) = self.time_range {
                read = read.with_time_range(time_range);
            }
            match self.filter {
                Some(filter) => read.with_filter(filter),
                None => read,
            }
        }
    };
}

impl Reading {
    apply!(get, Get);
    apply!(scan, Scan);
}

/// How the cells of a row are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// A value for each column.
    Values,
    /// A pair of value and timestamp for each column.
    Pairs,
    /// A list of such pairs for each column, the newest first.
    Versions,
    /// The same of a raw scan, with the type of each cell.
    Raw,
}

impl Shape {
    /// That of a get, or of a scan that is not raw.
    pub(crate) fn new(versions: Option<u32>, timestamps: bool) -> Self {
        match (versions, timestamps) {
            (Some(_), _) => Self::Versions,
            (None, true) => Self::Pairs,
            (None, false) => Self::Values,
        }
    }
}

/// A row as a dictionary of its columns, in the order of the store.
pub(crate) fn row_dict<'py>(
    py: Python<'py>,
    row: &RowResult,
    shape: Shape,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let mut name = Vec::new();
    // The versions of the column that `name` has.
    let mut versions: Option<Bound<'py, PyList>> = None;
    for cell in row.cells() {
        if is_column(&cell, &name) {
            // Without versions, the first cell of a column is the newest.
            if let Some(versions) = &versions {
                versions.append(version(py, &cell, shape)?)?;
            }
            continue;
        }
        name.clear();
        name.extend_from_slice(cell.family());
        name.push(b':');
        name.extend_from_slice(cell.qualifier());
        let column = PyBytes::new(py, &name);
        match shape {
            Shape::Values => dict.set_item(column, PyBytes::new(py, cell.value()))?,
            Shape::Pairs => dict.set_item(column, version(py, &cell, shape)?)?,
            Shape::Versions | Shape::Raw => {
                let list = PyList::new(py, [version(py, &cell, shape)?])?;
                dict.set_item(column, &list)?;
                versions = Some(list);
            }
        }
    }
    Ok(dict)
}

fn is_column(cell: &CellRef<'_>, name: &[u8]) -> bool {
    let family = cell.family();
    name.len() == family.len() + 1 + cell.qualifier().len()
        && name.starts_with(family)
        && name.ends_with(cell.qualifier())
        && name[family.len()] == b':'
}

fn version<'py>(
    py: Python<'py>,
    cell: &CellRef<'_>,
    shape: Shape,
) -> PyResult<Bound<'py, PyTuple>> {
    let (value, timestamp) = (PyBytes::new(py, cell.value()), cell.timestamp());
    match shape {
        Shape::Raw => (value, timestamp, type_name(cell)).into_pyobject(py),
        Shape::Values | Shape::Pairs | Shape::Versions => (value, timestamp).into_pyobject(py),
    }
}

/// HBase's name of what a cell is: `Put`, or that of a delete marker.
pub(crate) fn type_name(cell: &CellRef<'_>) -> String {
    cell.cell_type().map_or_else(String::new, |kind| kind.to_string())
}

/// The durability with one of HBase's names, such as `FSYNC_WAL`.
pub(crate) fn durability_of(name: Option<&str>) -> PyResult<Durability> {
    let Some(name) = name else { return Ok(Durability::default()) };
    Durability::from_name(name).ok_or_else(|| {
        PyValueError::new_err(format!("{name} is not one of HBase's names, such as FSYNC_WAL"))
    })
}

/// A number of seconds.
pub(crate) fn seconds(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err(format!("{seconds} is not a time to live in seconds")))
}
