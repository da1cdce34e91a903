//! Puts and deletes of rows.

use hblite::{Delete, LATEST_TIMESTAMP, Operation, Put};
use hyper::StatusCode;

use super::row_check;
use super::target::{Columns, Target, key, number_format};
use crate::failure::{Answer, Failure};
use crate::gateway::Gateway;
use crate::java;
use crate::media::Format;
use crate::model::FromBody as _;
use crate::model::cell_set::CellSet;
use crate::response::Response;

/// PUT and POST, which do the same.
pub(super) fn update(gateway: &Gateway, target: &Target<'_>) -> Answer {
    if Format::of_body(target.request, Format::CELLS)? == Format::Binary {
        gateway.check_writable()?;
        return put_value(gateway, target);
    }
    let set = CellSet::read_needed(target.request)?;
    gateway.check_writable()?;
    match target.check.map(str::to_ascii_lowercase).as_deref() {
        Some("put") => row_check::check_and_put(gateway, target, &set),
        Some("delete") => row_check::check_and_delete(gateway, target, &set),
        Some("append") => row_check::append(gateway, target, &set),
        Some("increment") => row_check::increment(gateway, target, &set),
        None | Some("") => put_rows(gateway, target, &set),
        Some(_) => {
            let check = target.check.unwrap_or_default();
            Err(Failure::bad_request(&format!("Invalid check value '{check}'")))
        }
    }
}

fn put_rows(gateway: &Gateway, target: &Target<'_>, set: &CellSet) -> Answer {
    let mut puts = Vec::with_capacity(set.rows.len());
    for row in &set.rows {
        let mut put = Put::new(key(row, target));
        let mut columns = Columns::new(target);
        for cell in &row.cells {
            let (family, qualifier) = columns.next(cell, "Bad request")?;
            put = put.add_at(family, qualifier, cell.timestamp(), cell.value.as_slice());
        }
        // The message of a single put, not of one of several.
        put.as_mutation().check()?;
        puts.push(put);
    }
    let table = gateway.table(target.table)?;
    target.request.note(Operation::Put, table.name(), puts.len());
    table.put_all(&puts)?;
    Ok(Response::ok())
}

/// Puts the unchanged body into the column of the path or of the header `X-Column`.
fn put_value(gateway: &Gateway, target: &Target<'_>) -> Answer {
    let request = target.request;
    // HBase uses the path's columns first, even if the header names one.
    let Some(column) = target.spec.columns.first() else {
        return Err(Failure::text(
            StatusCode::BAD_REQUEST,
            "Bad request\r\njava.lang.ArrayIndexOutOfBoundsException: Index 0 out of bounds for \
             length 0\n\r\n",
        ));
    };
    let row = request.header("x-row").map_or(target.spec.row.as_slice(), str::as_bytes);
    let column = request.header("x-column").map_or(column.as_slice(), str::as_bytes);
    let timestamp = match request.header("x-timestamp") {
        Some(text) => text.parse().map_err(|_| number_format(text))?,
        None => LATEST_TIMESTAMP,
    };
    let (family, Some(qualifier)) = java::parse_column(column) else {
        return Err(Failure::bad_request("Bad request"));
    };
    // Once in the change, and once in the write built from it.
    if !request.memory.try_take(2 * request.body.len()) {
        return Err(Failure::out_of_memory());
    }
    let put = Put::new(row).add_at(family, qualifier, timestamp, request.body.as_ref());
    gateway.requested(request, Operation::Put, target.table)?.put(&put)?;
    Ok(Response::ok())
}

/// DELETE: the row, or families and columns of it, up to the timestamp of the path.
pub(super) fn delete(gateway: &Gateway, target: &Target<'_>) -> Answer {
    gateway.check_writable()?;
    let spec = &target.spec;
    let timestamp = spec.timestamp();
    let mut delete = match timestamp {
        Some(timestamp) => Delete::new(&spec.row).with_timestamp(timestamp),
        None => Delete::new(&spec.row),
    };
    for column in &spec.columns {
        delete = match (java::parse_column(column), timestamp) {
            ((family, None), None) => delete.family(family),
            ((family, None), Some(timestamp)) => delete.family_at(family, timestamp),
            ((family, Some(qualifier)), None) => delete.columns(family, qualifier),
            ((family, Some(qualifier)), Some(timestamp)) => {
                delete.columns_at(family, qualifier, timestamp)
            }
        };
    }
    // HBase constructs the delete before anything catches exceptions.
    delete.as_mutation().check().map_err(|_| Failure::UNEXPECTED)?;
    gateway.requested(target.request, Operation::Delete, target.table)?.delete(&delete)?;
    Ok(Response::ok())
}
