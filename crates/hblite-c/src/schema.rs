//! Descriptions of tables.

use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::time::Duration;

use hblite::{ColumnFamilyDescriptor, TableDescriptor};
use parking_lot::Mutex;

use crate::error::{Code, Error, Failure, run};
use crate::memory::{Bytes, give};
use crate::registry::{self, Object};

/// The description of a table that is to be created. `hblite_free` ends it.
#[derive(Debug)]
pub struct Schema {
    pub(crate) parts: Mutex<Parts>,
}

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) table: TableDescriptor,
    pub(crate) splits: Vec<Vec<u8>>,
}

impl Object for Schema {
    const NAME: &'static str = "hblite_schema";
}

fn change(
    schema: *mut Schema,
    error: Option<&mut MaybeUninit<Error>>,
    change: impl FnOnce(&mut Parts) -> Result<(), Failure>,
) -> Code {
    run(error, || change(&mut registry::get(schema)?.parts.lock()))
}

/// Describes a table with this name, "table" or "namespace:table", still without families.
/// `*schema` is the caller's, who ends it with `hblite_free`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_schema_new(
    name: Bytes<'_>,
    schema: Option<&mut MaybeUninit<*mut Schema>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let schema = give(schema, null_mut())?;
        let table = TableDescriptor::new(name.text()?.parse()?);
        *schema = registry::add(Schema { parts: Mutex::new(Parts { table, splits: Vec::new() }) })?;
        Ok(())
    })
}

/// Adds a family that keeps so many versions of a column, each for so many seconds. 0 stands for
/// the default: one version, without end.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_schema_add_family(
    schema: *mut Schema,
    family: Bytes<'_>,
    versions: u32,
    ttl_seconds: u32,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(schema, error, |parts| {
        let mut family = ColumnFamilyDescriptor::new(family.get()?);
        if versions > 0 {
            family = family.with_versions(versions);
        }
        if ttl_seconds > 0 {
            family = family.with_time_to_live(Duration::from_secs(ttl_seconds.into()));
        }
        Ok(parts.table.add_family(family)?)
    })
}

/// Sets one of HBase's attributes, such as "COMPRESSION" to "ZSTD", of a family that was added, or
/// with an empty `family` of the table.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_schema_set(
    schema: *mut Schema,
    family: Bytes<'_>,
    attribute: Bytes<'_>,
    value: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(schema, error, |parts| {
        let (name, attribute, value) = (family.get()?, attribute.text()?, value.text()?);
        if name.is_empty() {
            return Ok(parts.table.set_attribute(attribute, value)?);
        }
        let Some(mut family) = parts.table.family(name).cloned() else {
            let name = String::from_utf8_lossy(name);
            return Err(Failure::argument(format!(
                "the schema has no family {name}: add it first"
            )));
        };
        family.set_attribute(attribute, value)?;
        parts.table.set_family(family);
        Ok(())
    })
}

/// Splits the table at this key: a region ends before it, and another begins with it.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_schema_add_split(
    schema: *mut Schema,
    key: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(schema, error, |parts| {
        parts.splits.push(key.get()?.to_vec());
        Ok(())
    })
}
