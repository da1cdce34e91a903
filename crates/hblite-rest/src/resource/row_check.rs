//! Updates that read the row first: conditional puts and deletes, appends, increments.
//!
//! The last cell of the body is the condition: the value that its column must have.

use hblite::{Append, CheckAndMutate, Delete, Increment, Operation, Put, bytes};
use hyper::StatusCode;

use super::target::{Columns, Target, key, number_format};
use crate::failure::{Answer, Failure};
use crate::gateway::Gateway;
use crate::java;
use crate::media::Format;
use crate::model;
use crate::model::cell_set::{CellModel, CellSet, RowModel};
use crate::response::Response;

/// The row of a body that must have exactly one.
fn only_row(set: &CellSet) -> Result<&RowModel, Failure> {
    match set.rows.as_slice() {
        [row] => Ok(row),
        _ => Err(Failure::bad_request("Bad request: Number of rows specified is not 1.")),
    }
}

fn column_of(cell: &CellModel) -> Result<&[u8], Failure> {
    let column = cell.column.as_deref();
    column.ok_or_else(|| Failure::bad_request("Bad request: Column found to be null."))
}

pub(super) fn check_and_put(gateway: &Gateway, target: &Target<'_>, set: &CellSet) -> Answer {
    let table = gateway.requested(target.request, Operation::CheckAndMutate, target.table)?;
    let row = only_row(set)?;
    let key = key(row, target);
    let Some((check, cells)) = row.cells.split_last().filter(|(_, cells)| !cells.is_empty()) else {
        return Err(Failure::bad_request(
            "Bad request: Either row key is null or no data found for columns specified.",
        ));
    };
    let Some(check_column) = &check.column else {
        return Err(Failure::text(
            StatusCode::BAD_REQUEST,
            "Bad request\r\njava.lang.NullPointerException\n\r\n",
        ));
    };
    let (family, Some(qualifier @ [_, ..])) = java::parse_column(check_column) else {
        return Err(Failure::bad_request("Bad request: Column incorrectly specified."));
    };
    let mut put = Put::new(key);
    let mut is_checked_column_put = false;
    for cell in cells {
        let column = column_of(cell)?;
        let (family, Some(qualifier)) = java::parse_column(column) else {
            return Err(Failure::bad_request("Bad request"));
        };
        put = put.add_at(family, qualifier, cell.timestamp(), cell.value.as_slice());
        is_checked_column_put |= column == check_column.as_slice();
    }
    if !is_checked_column_put {
        return Err(Failure::bad_request("Bad request: The column to put and check do not match."));
    }
    let check = CheckAndMutate::new(key).if_equals(family, qualifier, check.value.as_slice());
    match table.check_and_mutate(&check.then(put))?.is_success {
        true => Ok(Response::ok()),
        false => Ok(Response::text(StatusCode::NOT_MODIFIED, "Value not Modified\r\n")),
    }
}

pub(super) fn check_and_delete(gateway: &Gateway, target: &Target<'_>, set: &CellSet) -> Answer {
    let table = gateway.requested(target.request, Operation::CheckAndMutate, target.table)?;
    let row = only_row(set)?;
    let key = key(row, target);
    let Some((check, cells)) = row.cells.split_last() else {
        return Err(Failure::text(
            StatusCode::BAD_REQUEST,
            "Bad request\r\njava.lang.IndexOutOfBoundsException: Index -1 out of bounds for \
             length 0\n\r\n",
        ));
    };
    let Some(check_column) = check.column.as_ref().or(target.spec.columns.first()) else {
        return Err(Failure::bad_request("Bad request: Column not specified for check."));
    };
    let mut delete = Delete::new(key);
    for cell in cells {
        delete = match java::parse_column(column_of(cell)?) {
            (family, None) => delete.family_at(family, cell.timestamp()),
            (family, Some(qualifier)) => delete.column_at(family, qualifier, cell.timestamp()),
        };
    }
    let (family, Some(qualifier)) = java::parse_column(check_column) else {
        return Err(Failure::bad_request("Bad request: Column to check incorrectly specified."));
    };
    if cells.is_empty() {
        delete = delete.columns(family, qualifier);
    }
    let check = CheckAndMutate::new(key).if_equals(family, qualifier, check.value.as_slice());
    match table.check_and_mutate(&check.then(delete))?.is_success {
        true => Ok(Response::ok()),
        false => Ok(Response::text(StatusCode::NOT_MODIFIED, " Delete check failed.\r\n")),
    }
}

const INCOMPLETE: &str = "Bad request: Column incorrectly specified.";

pub(super) fn append(gateway: &Gateway, target: &Target<'_>, set: &CellSet) -> Answer {
    let table = gateway.requested(target.request, Operation::Append, target.table)?;
    let row = only_row(set)?;
    let mut append = Append::new(key(row, target)).with_returned_results(target.returns_result);
    let mut columns = Columns::new(target);
    for cell in &row.cells {
        let (family, qualifier) = columns.next(cell, INCOMPLETE)?;
        append = append.add(family, qualifier, cell.value.as_slice());
    }
    let result = table.append(&append)?;
    if !target.returns_result {
        return Ok(Response::ok());
    }
    if result.is_empty() {
        return Ok(Response::text(StatusCode::NOT_MODIFIED, "Append return empty.\r\n"));
    }
    target.request.memory.overdraw(&result);
    answer_cells(target, RowModel::from(&result))
}

pub(super) fn increment(gateway: &Gateway, target: &Target<'_>, set: &CellSet) -> Answer {
    let table = gateway.requested(target.request, Operation::Increment, target.table)?;
    let row = only_row(set)?;
    let mut increment =
        Increment::new(key(row, target)).with_returned_results(target.returns_result);
    let mut columns = Columns::new(target);
    for cell in &row.cells {
        let (family, qualifier) = columns.next(cell, INCOMPLETE)?;
        // The amount is written in digits.
        let amount = bytes::to_string_binary(&cell.value);
        let amount = amount.parse().map_err(|_| number_format(&amount))?;
        increment = increment.add(family, qualifier, amount);
    }
    let result = table.increment(&increment)?;
    if !target.returns_result {
        return Ok(Response::ok());
    }
    if result.is_empty() {
        return Ok(Response::text(StatusCode::NOT_MODIFIED, "Increment return empty.\r\n"));
    }
    target.request.memory.overdraw(&result);
    // HBase returns the row of the request, not the new values.
    answer_cells(target, row.clone())
}

fn answer_cells(target: &Target<'_>, row: RowModel) -> Answer {
    let offered = [Format::Protobuf, Format::Xml, Format::Json, Format::ProtobufIetf];
    let format = Format::accepted(target.request, &offered);
    // HBase finds no writer for other forms.
    let format = format.map_err(|_| Failure::UNEXPECTED)?;
    Ok(model::answer(&CellSet { rows: vec![row] }, format))
}
