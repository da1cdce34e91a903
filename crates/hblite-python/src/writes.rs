//! Python's arguments as writes.

use std::borrow::Cow;

use hblite::{Delete, Put};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::{bytes_of, durability_of, for_each_column, for_each_name, seconds};

/// A put of these columns.
pub(crate) fn put_of(
    row: &Bound<'_, PyAny>,
    data: &Bound<'_, PyDict>,
    timestamp: Option<i64>,
    ttl: Option<f64>,
    durability: Option<&str>,
) -> PyResult<Put> {
    let mut put = Put::new(bytes_of(row)?).with_durability(durability_of(durability)?);
    if let Some(timestamp) = timestamp {
        put = put.with_timestamp(timestamp);
    }
    for_each_column(data, |family, qualifier, value| {
        let value: Cow<'_, [u8]> = bytes_of(value)?;
        put = std::mem::replace(&mut put, Put::new(b"")).add(family, qualifier, value.as_ref());
        Ok(())
    })?;
    Ok(match ttl {
        Some(ttl) => put.with_time_to_live(seconds(ttl)?),
        None => put,
    })
}

/// A delete of a row, or of these columns and families of it.
pub(crate) fn delete_of(
    row: &Bound<'_, PyAny>,
    columns: Option<&Bound<'_, PyAny>>,
    timestamp: Option<i64>,
    exact: bool,
    durability: Option<&str>,
) -> PyResult<Delete> {
    let mut delete = Delete::new(bytes_of(row)?).with_durability(durability_of(durability)?);
    if exact && (timestamp.is_none() || columns.is_none()) {
        return Err(PyValueError::new_err("exact needs a timestamp, and columns"));
    }
    if let Some(timestamp) = timestamp {
        delete = delete.with_timestamp(timestamp);
    }
    let mut is_empty = columns.is_some();
    for_each_name(columns, |family, qualifier| {
        is_empty = false;
        let marked = std::mem::replace(&mut delete, Delete::new(b""));
        delete = match (qualifier, timestamp.filter(|_| exact)) {
            (Some(qualifier), None) => marked.columns(family, qualifier),
            (Some(qualifier), Some(timestamp)) => marked.column_at(family, qualifier, timestamp),
            (None, None) => marked.family(family),
            (None, Some(timestamp)) => marked.family_version(family, timestamp),
        };
        Ok(())
    })?;
    if is_empty {
        return Err(PyValueError::new_err("columns is empty: without it, the row is deleted"));
    }
    Ok(delete)
}
