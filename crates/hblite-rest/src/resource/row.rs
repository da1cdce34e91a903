//! `/TABLE/ROW...`: a row, or a range of rows, and the cells of it that a path selects.

use hblite::{Operation, Scan, TimeRange};
use hyper::header::HeaderName;
use hyper::{Method, StatusCode};

use super::row_update;
use super::target::{self, Target};
use crate::failure::{Answer, Failure, is_do_not_retry};
use crate::gateway::Gateway;
use crate::java;
use crate::media::Format;
use crate::model;
use crate::model::cell_set::{CellSet, RowModel};
use crate::request::Request;
use crate::response::Response;

pub(crate) fn answer(gateway: &Gateway, target: &Target<'_>) -> Answer {
    match target.request.method {
        Method::PUT | Method::POST => row_update::update(gateway, target),
        Method::DELETE => row_update::delete(gateway, target),
        _ => get(gateway, target),
    }
}

fn get(gateway: &Gateway, target: &Target<'_>) -> Answer {
    let format = Format::accepted(target.request, Format::CELLS)?;
    if format == Format::Binary {
        return get_binary(gateway, target);
    }
    let set = read(gateway, target)?;
    if set.rows.is_empty() {
        return Ok(Response::not_found());
    }
    Ok(model::answer(&set, format))
}

/// The value of one column, as plain bytes.
fn get_binary(gateway: &Gateway, target: &Target<'_>) -> Answer {
    if target.spec.columns.len() != 1 {
        return Err(Failure::bad_request(
            "Bad request: Default 'GET' method only works if there is exactly 1 column in \
                 the row. Using the 'Accept' header with one of these formats lets you retrieve \
                 the entire row if it has multiple columns: text/xml, application/json, \
                 application/x-protobuf, application/protobuf",
        ));
    }
    let set = read(gateway, target)?;
    let cell = set.rows.into_iter().next().and_then(|row| row.cells.into_iter().next());
    let Some(cell) = cell else { return Ok(Response::not_found()) };
    let timestamp = cell.timestamp().to_string();
    let response = Response::ok().with_body(Format::Binary.media_type(), cell.value);
    Ok(response.with_header(HeaderName::from_static("x-timestamp"), timestamp))
}

/// The cells that the path selects; none if the table or family does not exist.
fn read(gateway: &Gateway, target: &Target<'_>) -> Result<CellSet, Failure> {
    let rows = match target.spec.is_single_row() {
        true => read_row(gateway, target)?,
        false => read_range(gateway, target)?,
    };
    match rows {
        Ok(rows) => Ok(CellSet { rows }),
        Err(error) if is_do_not_retry(&error) => Ok(CellSet::default()),
        Err(error) => Err(error.into()),
    }
}

fn read_row(
    gateway: &Gateway,
    target: &Target<'_>,
) -> Result<hblite::Result<Vec<RowModel>>, Failure> {
    let table = || gateway.requested(target.request, Operation::Get, target.table);
    let get = || table()?.get(&target::get(&target.spec)?);
    let row = match get() {
        Ok(row) if row.is_empty() => return Ok(Ok(Vec::new())),
        Ok(row) => row,
        Err(error) => return Ok(Err(error)),
    };
    if !target.request.memory.try_hold(&row) {
        return Err(Failure::out_of_memory());
    }
    let mut model = RowModel::from(&row);
    // HBase returns one more than the path requests.
    model.cells.truncate(usize::try_from(target.spec.values_max).unwrap_or(0).saturating_add(1));
    Ok(Ok(vec![model]))
}

/// Reads the rows of a range up to the limits of the path and of the gateway.
fn read_range(
    gateway: &Gateway,
    target: &Target<'_>,
) -> Result<hblite::Result<Vec<RowModel>>, Failure> {
    let size_max = gateway.options.limits.answer_size_max_bytes;
    let values_max = usize::try_from(target.spec.values_max).unwrap_or(0).saturating_add(1);
    let (mut rows, mut size, mut values) = (Vec::new(), 0, 0);
    let table = || gateway.requested(target.request, Operation::Scan, target.table);
    let mut scanner = match scan(target).and_then(|scan| table()?.scan(&scan)) {
        Ok(scanner) => scanner,
        Err(error) => return Ok(Err(error)),
    };
    loop {
        let row = match scanner.next_row() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(Ok(rows)),
            Err(error) => return Ok(Err(error)),
        };
        if !target.request.memory.try_hold(row) {
            return Err(Failure::out_of_memory());
        }
        let mut model = RowModel::new(row.row());
        for cell in row.cells().take(values_max - values) {
            size += model.push(&cell);
        }
        values += model.cells.len();
        if size > size_max {
            let message = format!(
                "Unavailable\r\nthe rows have more than {size_max} bytes: use a scanner, or \
                     a path that ends with *\r\n"
            );
            return Err(Failure::text(StatusCode::SERVICE_UNAVAILABLE, message));
        }
        rows.push(model);
        if values >= values_max {
            return Ok(Ok(rows));
        }
    }
}

fn scan(target: &Target<'_>) -> hblite::Result<Scan> {
    let spec = &target.spec;
    let end = spec.end_row.as_deref().unwrap_or_default();
    let scan = Scan::new()
        .with_start_row(&spec.row)
        .with_time_range(TimeRange::new(spec.start_time, spec.end_time)?)
        .with_versions(u32::try_from(spec.versions_max).unwrap_or(0))
        .with_cache_blocks(caches_blocks(target.request));
    // If both rows are equal, HBase's client scans that row.
    let scan = match spec.row == end {
        true => scan.with_stop_row_inclusive(end),
        false => scan.with_stop_row(end),
    };
    Ok(java::add_columns(scan, &spec.columns, Scan::with_family, Scan::with_column))
}

/// Whether blocks that are read stay in the cache.
fn caches_blocks(request: &Request) -> bool {
    request.parameter("nocache").is_none()
}
