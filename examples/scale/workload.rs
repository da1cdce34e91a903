//! The table: rows of 24 bytes in random order, one cell each with a value of 100 bytes.
//!
//! A row is `user:` with the sixteen hex digits of a mixed counter and `:id`; a value is half
//! random and half not, as fields of records are.

use hblite::{ColumnFamilyDescriptor, Connection, Get, Put, Table, TableDescriptor};

use crate::Result;
use crate::arguments::Arguments;

const TABLE: &str = "cells";
pub(crate) const FAMILY: &str = "f";
const QUALIFIER: &str = "field0";
const VALUE_SIZE: usize = 100;

/// Bytes of a cell's contents: row, family, qualifier, timestamp, type and value.
pub(crate) const CELL_SIZE: u64 = (24 + 1 + 6 + 8 + 1 + VALUE_SIZE) as u64;

/// Creates the table.
pub(crate) fn create(connection: &Connection, arguments: &Arguments) -> Result<()> {
    let mut family = ColumnFamilyDescriptor::new(FAMILY);
    for setting in &arguments.settings {
        let (name, value) = setting.split_once('=').ok_or("--set takes NAME=VALUE")?;
        family.set_attribute(name, value)?;
    }
    let descriptor = TableDescriptor::new(TABLE.parse()?).with_family(family);
    // Rows are distributed evenly over the hex digits.
    let width = u64::MAX / arguments.regions;
    let splits: Vec<Vec<u8>> = (1..arguments.regions)
        .map(|index| format!("user:{:016x}", index * width).into_bytes())
        .collect();
    connection.admin().create_table_with_splits(&descriptor, &splits)?;
    Ok(())
}

/// The table of an open store.
pub(crate) fn table(connection: &Connection) -> Result<Table> {
    Ok(connection.table(TABLE)?)
}

/// The put of a number.
pub(crate) fn put(number: u64) -> Put {
    let mut value = [b'x'; VALUE_SIZE];
    for (index, chunk) in value[..VALUE_SIZE / 2].chunks_exact_mut(8).enumerate() {
        chunk.copy_from_slice(&mix(number ^ ((index as u64 + 1) << 56)).to_le_bytes());
    }
    Put::new(row(number)).add(FAMILY, QUALIFIER, value)
}

/// The get of a number's row.
pub(crate) fn get(number: u64) -> Get {
    Get::new(row(number)).with_column(FAMILY, QUALIFIER)
}

fn row(number: u64) -> String {
    format!("user:{:016x}:id", mix(number))
}

/// A bijection of the 64-bit numbers without visible order (the finalizer of splitmix64).
pub(crate) fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
