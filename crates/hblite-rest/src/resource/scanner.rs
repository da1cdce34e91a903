//! `/TABLE/scanner`: scans over several requests.

use hblite::{Error, Exception, Operation};
use hyper::header::HeaderName;
use hyper::{Method, StatusCode};

use super::table_scan::number;
use crate::failure::{Answer, Failure, is_runtime_exception};
use crate::gateway::Gateway;
use crate::java;
use crate::media::Format;
use crate::memory::Allowance;
use crate::model;
use crate::model::FromBody as _;
use crate::model::scanner::ScannerModel;
use crate::request::Request;
use crate::response::Response;
use crate::scanners::{Cells, Rows, next_rows};

/// PUT and POST, which do the same.
pub(crate) fn create(gateway: &Gateway, request: &Request, table: &str) -> Answer {
    let model = ScannerModel::read(request)?.ok_or(Failure::UNEXPECTED)?;
    gateway.check_writable()?;
    let made = model.scan().and_then(|scan| {
        scan.check()?;
        Ok(Rows::Waiting(gateway.table(table)?, Box::new(scan)))
    });
    let rows = made.map_err(|error| match is_runtime_exception(&error) {
        true => Failure::bad_request("Bad request"),
        false => Failure::text(StatusCode::SERVICE_UNAVAILABLE, "Unavailable\r\n"),
    })?;
    let now_ms = gateway.connection.now_millis();
    let id = gateway.scanners.add(rows, model.batch, now_ms, &request.memory);
    let id = id.ok_or_else(Failure::out_of_memory)?;
    Ok(Response::created(&format!("{}/{id}", request.url().trim_end_matches('/'))))
}

/// `/TABLE/scanner/ID`.
pub(crate) fn answer(gateway: &Gateway, request: &Request, id: &str) -> Answer {
    let scanner = gateway.scanners.get(id, gateway.connection.now_millis());
    if request.method == Method::DELETE {
        gateway.check_writable()?;
        return Ok(match gateway.scanners.remove(id) {
            true => Response::ok(),
            false => Response::not_found(),
        });
    }
    let format = Format::accepted(request, Format::CELLS)?;
    let rows_max: i32 = number(request, "n", 0)?;
    let cells_max: i32 = number(request, "c", 0)?;
    let Some(scanner) = scanner else { return Ok(Response::not_found()) };
    let mut cells = scanner.cells.lock();
    if let Some(table) = cells.table() {
        request.note(Operation::Scan, table, 1);
    }
    if !cells.has_memory() {
        return Err(Failure::out_of_memory());
    }
    let answered = match format {
        Format::Binary => next_cell(&mut cells, &request.memory),
        _ => {
            let limit = if cells_max > 0 { cells_max } else { scanner.batch };
            let size_max = gateway.options.limits.answer_size_max_bytes;
            let set = next_rows(&mut cells, limit, rows_max, size_max, &request.memory);
            set.map(|set| {
                set.map(|set| match set.rows.is_empty() {
                    true => Response::new(StatusCode::NO_CONTENT),
                    false => model::answer(&set, format).without_caching(),
                })
            })
        }
    };
    let answered = answered.map_err(|error| failed(gateway, id, error))?;
    answered.ok_or_else(Failure::out_of_memory)
}

fn failed(gateway: &Gateway, id: &str, error: Error) -> Failure {
    match error.exception() {
        Exception::TableNotEnabled => {
            gateway.scanners.remove(id);
            Failure::text(StatusCode::GONE, "Gone\r\n")
        }
        Exception::TableNotFound => Failure::Answered(Response::not_found()),
        _ => error.into(),
    }
}

/// The value of the next cell, as plain bytes; `None` if there is no memory for it.
fn next_cell(cells: &mut Cells, memory: &Allowance) -> hblite::Result<Option<Response>> {
    let Some(cell) = cells.peek()? else {
        return Ok(Some(Response::new(StatusCode::NO_CONTENT)));
    };
    if !memory.try_hold_cell(&cell) {
        return Ok(None);
    }
    let column = [cell.family(), b":", cell.qualifier()].concat();
    let header = HeaderName::from_static;
    let response = Response::ok()
        .with_body(Format::Binary.media_type(), cell.value().to_vec())
        .without_caching()
        .with_header(header("x-row"), java::encode_base64(cell.row()))
        .with_header(header("x-column"), java::encode_base64(&column))
        .with_header(header("x-timestamp"), cell.timestamp().to_string());
    cells.advance();
    Ok(Some(response))
}
