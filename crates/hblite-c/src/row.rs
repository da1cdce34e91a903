//! The cells of a row.

use std::mem::MaybeUninit;
use std::ptr::null;

use crate::error::{Code, Error, run};
use crate::memory::{Bytes, Cell, Row, give};
use crate::registry::{self, Object};

impl Object for Row {
    const NAME: &'static str = "hblite_row";
}

/// Sets `*cells` to the first of the cells of a row and `*count` to their number, which is 0 for a
/// row that does not exist. The cells and all their bytes stay until the row is freed.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_row_cells(
    row: *mut Row,
    cells: Option<&mut MaybeUninit<*const Cell<'static>>>,
    count: Option<&mut MaybeUninit<usize>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let (cells, count) = (give(cells, null())?, give(count, 0)?);
        let row = registry::get(row)?;
        (*cells, *count) = (row.cells().as_ptr().cast(), row.cells().len());
        Ok(())
    })
}

/// Sets `*value` to the newest value of a column, whose `data` is NULL if the row has none. The
/// bytes stay until the row is freed.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_row_value(
    row: *mut Row,
    family: Bytes<'_>,
    qualifier: Bytes<'_>,
    mut value: Option<&mut MaybeUninit<Bytes<'static>>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        Bytes::NONE.give(&mut value)?;
        let row = registry::get(row)?;
        let found = row.result().value(family.get()?, qualifier.get()?);
        found.map_or(Bytes::NONE, Bytes::new).give(&mut value)
    })
}
