//! Tables and families as Python describes them.

use hblite::{ColumnFamilyDescriptor, TableDescriptor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyString};

use crate::call::to_exception;
use crate::data::bytes_of;

/// Attributes of families besides those that every family has.
const FAMILY: &[&str] = &[
    "CACHE_BLOOMS_ON_WRITE",
    "CACHE_DATA_ON_WRITE",
    "CACHE_INDEX_ON_WRITE",
    "COMPRESS_TAGS",
    "EVICT_BLOCKS_ON_CLOSE",
    "IN_MEMORY_COMPACTION",
    "IS_MOB",
    "MOB_THRESHOLD",
    "NEW_VERSION_BEHAVIOR",
    "PREFETCH_BLOCKS_ON_OPEN",
];

/// The table with these families: names, or names with options.
pub(crate) fn table_of(
    py: Python<'_>,
    name: &str,
    families: &Bound<'_, PyAny>,
    attributes: Option<&Bound<'_, PyDict>>,
) -> PyResult<TableDescriptor> {
    let failed = |error: hblite::Error| to_exception(py, &error);
    let mut table = TableDescriptor::new(name.parse().map_err(failed)?);
    if let Some(attributes) = attributes {
        set_attributes(py, &mut table, attributes)?;
    }
    if let Ok(families) = families.cast::<PyDict>() {
        for (name, options) in families {
            let options = (!options.is_none()).then(|| options.cast::<PyDict>()).transpose()?;
            table.add_family(family_of(py, &name, options, None)?).map_err(failed)?;
        }
        return Ok(table);
    }
    if families.is_instance_of::<PyString>() || families.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("families is a list or a dictionary, not one name"));
    }
    for name in families.try_iter()? {
        table.add_family(family_of(py, &name?, None, None)?).map_err(failed)?;
    }
    Ok(table)
}

/// Sets attributes of a table.
pub(crate) fn set_attributes(
    py: Python<'_>,
    table: &mut TableDescriptor,
    attributes: &Bound<'_, PyDict>,
) -> PyResult<()> {
    for (name, value) in attributes {
        let name = name.extract::<String>()?.to_ascii_uppercase();
        let set = table.set_attribute(&name, &text_of(&value)?);
        set.map_err(|error| to_exception(py, &error))?;
    }
    Ok(())
}

/// The family with these options, or that of a table with these instead of its own.
pub(crate) fn family_of(
    py: Python<'_>,
    name: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
    table: Option<&TableDescriptor>,
) -> PyResult<ColumnFamilyDescriptor> {
    let name = bytes_of(name)?;
    let present = table.and_then(|table| table.family(&name)).cloned();
    let mut family = present.unwrap_or_else(|| ColumnFamilyDescriptor::new(&name));
    for (option, value) in options.into_iter().flatten() {
        let option = option.extract::<String>()?;
        let attribute = option.to_ascii_uppercase();
        // HBase keeps attributes that it does not know: a misspelled one would have no effect.
        let is_known = FAMILY.contains(&attribute.as_str())
            || ColumnFamilyDescriptor::new(&name).attributes().contains_key(&attribute);
        if option != attribute && !is_known {
            return Err(PyTypeError::new_err(format!("{option} is not an option of a family")));
        }
        let set = family.set_attribute(&attribute, &text_of(&value)?);
        set.map_err(|error| to_exception(py, &error))?;
    }
    Ok(family)
}

fn text_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyBool>() {
        Ok(value) => Ok(value.is_true().to_string()),
        Err(_) => value.str()?.extract(),
    }
}
