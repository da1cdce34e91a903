//! `/TABLE/multiget[/COLUMNS]?row=...`: several rows by their keys.

use hblite::filter::parse_filter;
use hblite::{Get, Operation};
use hyper::StatusCode;

use super::target;
use crate::failure::{Answer, Failure, is_do_not_retry, is_runtime_exception};
use crate::gateway::Gateway;
use crate::java;
use crate::media::Format;
use crate::model;
use crate::model::cell_set::{CellSet, RowModel};
use crate::request::Request;
use crate::response::Response;
use crate::row_spec::RowSpec;

/// `path` begins with `multiget` and is decoded.
pub(crate) fn get(gateway: &Gateway, request: &Request, table: &str, path: &str) -> Answer {
    let versions = request.parameter("v").map(str::parse::<i32>).transpose();
    let versions = versions.map_err(|_| Failure::UNEXPECTED)?;
    let format = Format::accepted(request, Format::STRUCTURED)?;
    let columns = path.replace("multiget", "").replace('/', "");
    let filter = match filter_text(request)? {
        Some(text) => Some(parse_filter(text).map_err(|error| unexpected(error.into()))?),
        None => None,
    };
    let get = |key: &str| -> Result<Get, Failure> {
        let spec = RowSpec::parse(key, request.key_encoding());
        let mut spec = spec.map_err(|_| Failure::UNEXPECTED)?;
        spec.versions_max = versions.unwrap_or(spec.versions_max);
        let columns = columns.trim_end_matches(',').split(',');
        if !columns.clone().all(str::is_empty) {
            spec.columns.extend(columns.map(|column| column.as_bytes().to_vec()));
        }
        let get = target::get(&spec).map_err(unexpected)?;
        Ok(match &filter {
            Some(filter) => get.with_filter(filter.clone()),
            None => get,
        })
    };
    // One get at a time: each repeats the columns and the filter. All are checked before the first
    // is executed.
    let keys = || request.parameters_called("row");
    keys().try_for_each(|key| get(key).map(drop))?;
    let table = gateway.table(table).map_err(unexpected)?;
    request.note(Operation::Get, table.name(), keys().count());
    let mut rows = Vec::new();
    for key in keys() {
        let row = table.get(&get(key)?).map_err(unexpected)?;
        if row.is_empty() {
            continue;
        }
        if !request.memory.try_hold(&row) {
            return Err(Failure::out_of_memory());
        }
        rows.push(RowModel::from(&row));
    }
    if rows.is_empty() {
        return Ok(Response::text(StatusCode::NOT_FOUND, "No rows found.\r\n"));
    }
    Ok(model::answer(&CellSet { rows }, format))
}

/// A filter in the filter language, plain or in Base64.
pub(super) fn filter_text(request: &Request) -> Result<Option<Vec<u8>>, Failure> {
    if let Some(text) = request.parameter("filter_b64") {
        return java::decode_base64_url(text).map(Some).ok_or(Failure::UNEXPECTED);
    }
    Ok(request.parameter("filter").map(|text| text.as_bytes().to_vec()))
}

/// HBase expects only I/O errors here.
pub(super) fn unexpected(error: hblite::Error) -> Failure {
    match is_runtime_exception(&error) || is_do_not_retry(&error) {
        true => Failure::UNEXPECTED,
        false => error.into(),
    }
}
