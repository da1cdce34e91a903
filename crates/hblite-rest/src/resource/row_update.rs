//! Puts and deletes of rows.

use hblite::{Delete, LATEST_TIMESTAMP, Put};
use hyper::StatusCode;

use super::row::Resource;
use super::row_check;
use crate::failure::{Answer, Failure};
use crate::gateway::Gateway;
use crate::java;
use crate::media::Format;
use crate::model::FromBody as _;
use crate::model::cell_set::{CellModel, CellSet, RowModel};
use crate::response::Response;

/// PUT and POST, which do the same.
pub(super) fn update(gateway: &Gateway, resource: &Resource<'_>) -> Answer {
    if Format::of_body(resource.request, Format::CELLS)? == Format::Binary {
        gateway.check_writable()?;
        return put_value(gateway, resource);
    }
    let set = CellSet::read_needed(resource.request)?;
    gateway.check_writable()?;
    match resource.check.map(str::to_ascii_lowercase).as_deref() {
        Some("put") => row_check::check_and_put(gateway, resource, &set),
        Some("delete") => row_check::check_and_delete(gateway, resource, &set),
        Some("append") => row_check::append(gateway, resource, &set),
        Some("increment") => row_check::increment(gateway, resource, &set),
        None | Some("") => put_rows(gateway, resource, &set),
        Some(_) => {
            let check = resource.check.unwrap_or_default();
            Err(Failure::bad_request(&format!("Invalid check value '{check}'")))
        }
    }
}

/// The key of a row in a body, or else in the path.
pub(super) fn key<'r>(row: &'r RowModel, resource: &'r Resource<'_>) -> &'r [u8] {
    row.key.as_deref().unwrap_or(&resource.spec.row)
}

/// The columns of cells: their own, or one after the other from the path.
pub(super) struct Columns<'r> {
    of_path: std::collections::btree_set::Iter<'r, Vec<u8>>,
}

impl<'r> Columns<'r> {
    pub(super) fn new(resource: &'r Resource<'_>) -> Self {
        Self { of_path: resource.spec.columns.iter() }
    }

    /// Family and qualifier for `cell`.
    ///
    /// # Errors
    /// 400 without a column, and with `incomplete` for one without a qualifier.
    pub(super) fn next(
        &mut self,
        cell: &'r CellModel,
        incomplete: &str,
    ) -> Result<(&'r [u8], &'r [u8]), Failure> {
        let column = match &cell.column {
            Some(column) => Some(column),
            None => self.of_path.next(),
        };
        let column =
            column.ok_or_else(|| Failure::bad_request("Bad request: Column found to be null."))?;
        match java::parse_column(column) {
            (family, Some(qualifier)) => Ok((family, qualifier)),
            (_, None) => Err(Failure::bad_request(incomplete)),
        }
    }
}

fn put_rows(gateway: &Gateway, resource: &Resource<'_>, set: &CellSet) -> Answer {
    let mut puts = Vec::with_capacity(set.rows.len());
    for row in &set.rows {
        let mut put = Put::new(key(row, resource));
        let mut columns = Columns::new(resource);
        for cell in &row.cells {
            let (family, qualifier) = columns.next(cell, "Bad request")?;
            put = put.add_at(family, qualifier, cell.timestamp(), cell.value.as_slice());
        }
        // The message of a single put, not of one of several.
        put.as_mutation().check()?;
        puts.push(put);
    }
    gateway.table(resource.table)?.put_all(&puts)?;
    Ok(Response::ok())
}

/// Puts the body, as it is, into the column of the path or of the header `X-Column`.
fn put_value(gateway: &Gateway, resource: &Resource<'_>) -> Answer {
    let request = resource.request;
    // HBase looks at the path's columns first, even if the header names one.
    let Some(column) = resource.spec.columns.first() else {
        return Err(Failure::text(
            StatusCode::BAD_REQUEST,
            "Bad request\r\njava.lang.ArrayIndexOutOfBoundsException: Index 0 out of bounds for \
             length 0\n\r\n",
        ));
    };
    let row = request.header("x-row").map_or(resource.spec.row.as_slice(), str::as_bytes);
    let column = request.header("x-column").map_or(column.as_slice(), str::as_bytes);
    let timestamp = match request.header("x-timestamp") {
        Some(text) => text.parse().map_err(|_| number_format(text))?,
        None => LATEST_TIMESTAMP,
    };
    let (family, Some(qualifier)) = java::parse_column(column) else {
        return Err(Failure::bad_request("Bad request"));
    };
    let put = Put::new(row).add_at(family, qualifier, timestamp, request.body.as_ref());
    gateway.table(resource.table)?.put(&put)?;
    Ok(Response::ok())
}

/// What HBase answers to a text that is no number.
pub(super) fn number_format(text: &str) -> Failure {
    let message =
        format!("Bad request\r\njava.lang.NumberFormatException: For input string: \"{text}\"\n");
    Failure::text(StatusCode::BAD_REQUEST, message + "\r\n")
}

/// DELETE: the row, or families and columns of it, up to the timestamp of the path.
pub(super) fn delete(gateway: &Gateway, resource: &Resource<'_>) -> Answer {
    gateway.check_writable()?;
    let spec = &resource.spec;
    let timestamp = spec.timestamp();
    let mut delete = match timestamp {
        Some(timestamp) => Delete::at(&spec.row, timestamp),
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
    // HBase makes the delete before anything catches what goes wrong.
    delete.as_mutation().check().map_err(|_| Failure::UNEXPECTED)?;
    gateway.table(resource.table)?.delete(&delete)?;
    Ok(Response::ok())
}
