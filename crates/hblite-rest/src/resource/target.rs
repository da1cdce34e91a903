//! The rows that a path selects, and the keys and columns of a body for them.

use hblite::{Get, TimeRange};
use hyper::StatusCode;

use crate::failure::Failure;
use crate::java;
use crate::model::cell_set::{CellModel, RowModel};
use crate::request::Request;
use crate::row_spec::RowSpec;

/// The rows that a path selects, and the change that the query requests.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    pub(crate) request: &'a Request,
    pub(crate) table: &'a str,
    pub(crate) spec: RowSpec,
    /// `put`, `delete`, `append` or `increment`.
    pub(crate) check: Option<&'a str>,
    /// Whether an append or increment returns the new values.
    pub(crate) returns_result: bool,
}

impl<'a> Target<'a> {
    pub(crate) fn locate(
        request: &'a Request,
        table: &'a str,
        path: &str,
    ) -> Result<Self, Failure> {
        let spec = RowSpec::parse(path, request.key_encoding());
        let mut spec = spec.map_err(|_| Failure::UNEXPECTED)?;
        if let Some(versions) = request.parameter("v") {
            spec.versions_max = versions.parse().map_err(|_| Failure::UNEXPECTED)?;
        }
        Ok(Self {
            request,
            table,
            spec,
            check: request.parameter("check"),
            returns_result: request
                .parameter("rr")
                .is_some_and(|value| value.eq_ignore_ascii_case("true")),
        })
    }
}

/// The key of a row in a body, or else in the path.
pub(super) fn key<'r>(row: &'r RowModel, target: &'r Target<'_>) -> &'r [u8] {
    row.key.as_deref().unwrap_or(&target.spec.row)
}

/// The columns of cells: their own, or those of the path in turn.
pub(super) struct Columns<'r> {
    of_path: std::collections::btree_set::Iter<'r, Vec<u8>>,
}

impl<'r> Columns<'r> {
    pub(super) fn new(target: &'r Target<'_>) -> Self {
        Self { of_path: target.spec.columns.iter() }
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

/// HBase's answer to a text that is not a number.
pub(super) fn number_format(text: &str) -> Failure {
    let message =
        format!("Bad request\r\njava.lang.NumberFormatException: For input string: \"{text}\"\n");
    Failure::text(StatusCode::BAD_REQUEST, message + "\r\n")
}

/// The get of one row.
pub(super) fn get(spec: &RowSpec) -> hblite::Result<Get> {
    let get = Get::new(&spec.row)
        .with_time_range(TimeRange::new(spec.start_time, spec.end_time)?)
        .with_versions(u32::try_from(spec.versions_max).unwrap_or(0));
    Ok(java::add_columns(get, &spec.columns, Get::with_family, Get::with_column))
}
