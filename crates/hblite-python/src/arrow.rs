//! Scans as streams of Arrow's C data interface, for pandas, Polars, DuckDB and others: no object
//! of Python is made for a cell.
//!
//! A batch ends after [`BATCH_CELLS`] cells or [`BATCH_BYTES`]. Whoever reads the stream does so on
//! any thread, with or without the interpreter's lock, so nothing here needs it.
//!
//! Source: <https://arrow.apache.org/docs/format/CStreamInterface.html>.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float32Builder, Float64Builder, Int16Builder, Int32Builder,
    Int64Builder, StringBuilder, TimestampMillisecondBuilder,
};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use hblite::{CellRef, ResultScanner, RowResult};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyString, PyType};

use crate::data::{bytes_of, type_name, whole_column};

/// Cells, or rows of chosen columns, after which a batch ends.
const BATCH_CELLS: usize = 64 * 1024;
/// Bytes after which a batch ends.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// The name of the column with row keys. No column of a table has it, for lack of a colon.
const ROW: &str = "row";
/// A larger value might not fit Arrow's 32-bit offsets together with the others of its batch.
const VALUE_BYTES_MAX: usize = 1 << 30;

/// The type of a column of chosen columns. Numbers are big-endian, as HBase's `Bytes.toBytes`
/// writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Binary,
    Text,
    Bool,
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
}

const KINDS: &[(&str, Kind)] = &[
    ("binary", Kind::Binary),
    ("utf8", Kind::Text),
    ("bool", Kind::Bool),
    ("int16", Kind::Int16),
    ("int32", Kind::Int32),
    ("int64", Kind::Int64),
    ("float32", Kind::Float32),
    ("float64", Kind::Float64),
];

impl Kind {
    /// A type by its name, or one of Python's types.
    fn of(kind: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = match (kind.cast::<PyString>(), kind.cast::<PyType>()) {
            (Ok(name), _) => name.to_str()?.to_owned(),
            (_, Ok(class)) => match class.name()?.to_str()? {
                "bytes" => "binary".to_owned(),
                "str" => "utf8".to_owned(),
                "int" => "int64".to_owned(),
                "float" => "float64".to_owned(),
                other => other.to_owned(),
            },
            _ => {
                return Err(PyTypeError::new_err("a type is a name such as \"int64\", or a class"));
            }
        };
        let kind = KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        kind.ok_or_else(|| {
            let known: Vec<&str> = KINDS.iter().map(|(known, _)| *known).collect();
            PyValueError::new_err(format!("{name} is not a type; these are: {}", known.join(", ")))
        })
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Binary => DataType::Binary,
            Self::Text => DataType::Utf8,
            Self::Bool => DataType::Boolean,
            Self::Int16 => DataType::Int16,
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
        }
    }

    fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// A column of a table, as a column of Arrow.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) family: Vec<u8>,
    pub(crate) qualifier: Vec<u8>,
    name: String,
    kind: Kind,
}

/// Chosen columns, a row of Arrow for each row of the table.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    key: Kind,
    pub(crate) columns: Vec<Column>,
}

impl Columns {
    /// The argument `types` of a scan: `{"row": "utf8", "info:visits": "int64"}`.
    ///
    /// # Errors
    /// `ValueError`, `TypeError` for what is not a column or a type.
    pub(crate) fn new(types: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut columns = Self { key: Kind::Binary, columns: Vec::new() };
        for (column, kind) in types {
            let (column, kind) = (bytes_of(&column)?, Kind::of(&kind)?);
            if *column == *ROW.as_bytes() {
                columns.key = kind;
                continue;
            }
            let (family, qualifier) = whole_column(&column)?;
            let (family, qualifier) = (family.to_vec(), qualifier.to_vec());
            let name = String::from_utf8_lossy(&column).into_owned();
            columns.columns.push(Column { family, qualifier, name, kind });
        }
        Ok(columns)
    }
}

/// One growing column of a batch.
enum Builder {
    Binary(BinaryBuilder),
    Text(StringBuilder),
    Bool(BooleanBuilder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Binary => Self::Binary(BinaryBuilder::new()),
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
            Kind::Int16 => Self::Int16(Int16Builder::new()),
            Kind::Int32 => Self::Int32(Int32Builder::new()),
            Kind::Int64 => Self::Int64(Int64Builder::new()),
            Kind::Float32 => Self::Float32(Float32Builder::new()),
            Kind::Float64 => Self::Float64(Float64Builder::new()),
        }
    }

    /// Appends a value, or null; `None` if the bytes are not a value of the type.
    fn append(&mut self, value: Option<&[u8]>) -> Option<()> {
        fn fixed<const N: usize>(value: Option<&[u8]>) -> Option<Option<[u8; N]>> {
            value.map(|value| value.try_into().ok()).map_or(Some(None), |value| value.map(Some))
        }
        match self {
            Self::Binary(builder) => builder.append_option(value),
            Self::Text(builder) => {
                builder.append_option(value.map(std::str::from_utf8).transpose().ok()?);
            }
            Self::Bool(builder) => builder.append_option(fixed::<1>(value)?.map(|b| b[0] != 0)),
            Self::Int16(builder) => builder.append_option(fixed(value)?.map(i16::from_be_bytes)),
            Self::Int32(builder) => builder.append_option(fixed(value)?.map(i32::from_be_bytes)),
            Self::Int64(builder) => builder.append_option(fixed(value)?.map(i64::from_be_bytes)),
            Self::Float32(builder) => builder.append_option(fixed(value)?.map(f32::from_be_bytes)),
            Self::Float64(builder) => builder.append_option(fixed(value)?.map(f64::from_be_bytes)),
        }
        Some(())
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Binary(mut builder) => Arc::new(builder.finish()),
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::Bool(mut builder) => Arc::new(builder.finish()),
            Self::Int16(mut builder) => Arc::new(builder.finish()),
            Self::Int32(mut builder) => Arc::new(builder.finish()),
            Self::Int64(mut builder) => Arc::new(builder.finish()),
            Self::Float32(mut builder) => Arc::new(builder.finish()),
            Self::Float64(mut builder) => Arc::new(builder.finish()),
        }
    }
}

/// The batches of a scan.
struct Batches {
    /// `None` after the last row or an error.
    rows: Option<ResultScanner>,
    /// A row of which cells are left, and the place of the first one.
    rest: Option<(RowResult, usize)>,
    columns: Option<Arc<Columns>>,
    is_raw: bool,
    schema: SchemaRef,
    process: u32,
}

/// The stream of a scan's cells, or of chosen columns of its rows, as a capsule of Python.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    rows: ResultScanner,
    columns: Option<Columns>,
    is_raw: bool,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = Arc::new(match &columns {
        None => cells_schema(is_raw),
        Some(columns) => columns_schema(columns),
    });
    let (process, columns) = (std::process::id(), columns.map(Arc::new));
    let batches = Batches { rows: Some(rows), rest: None, columns, is_raw, schema, process };
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

fn cells_schema(is_raw: bool) -> Schema {
    let time = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let mut fields = vec![
        Field::new(ROW, DataType::Binary, false),
        Field::new("column", DataType::Binary, false),
        Field::new("timestamp", time, false),
        Field::new("value", DataType::Binary, false),
    ];
    if is_raw {
        fields.push(Field::new("type", DataType::Utf8, false));
    }
    Schema::new(fields)
}

fn columns_schema(columns: &Columns) -> Schema {
    let mut fields = vec![Field::new(ROW, columns.key.data_type(), false)];
    let of = |column: &Column| Field::new(&column.name, column.kind.data_type(), true);
    fields.extend(columns.columns.iter().map(of));
    Schema::new(fields)
}

impl Batches {
    /// The next row, or the rest of one.
    fn next_row(&mut self) -> Result<Option<(RowResult, usize)>, ArrowError> {
        if let Some(rest) = self.rest.take() {
            return Ok(Some(rest));
        }
        let Some(rows) = &mut self.rows else { return Ok(None) };
        let row = rows.next().transpose();
        let row = row.map_err(|error| {
            let class = error.exception().class_name();
            ArrowError::ExternalError(format!("{} ({class})", error.message()).into())
        })?;
        Ok(row.map(|row| (row, 0)))
    }

    /// All cells of some rows; the last row may be cut.
    fn cells(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let (mut keys, mut values) = (BinaryBuilder::new(), BinaryBuilder::new());
        let mut columns = BinaryBuilder::new();
        let mut times = TimestampMillisecondBuilder::new().with_timezone("UTC");
        let mut types = self.is_raw.then(StringBuilder::new);
        let (mut count, mut bytes) = (0, 0);
        let mut column = Vec::new();
        while let Some((row, first)) = self.next_row()? {
            let mut rest = None;
            for (place, cell) in row.cells().enumerate().skip(first) {
                if count >= BATCH_CELLS || bytes >= BATCH_BYTES {
                    rest = Some(place);
                    break;
                }
                name_into(&cell, &mut column);
                check_size(cell.value(), &row, &column)?;
                keys.append_value(row.row());
                columns.append_value(&column);
                times.append_value(cell.timestamp());
                values.append_value(cell.value());
                if let Some(types) = &mut types {
                    types.append_value(type_name(&cell));
                }
                count += 1;
                bytes += row.row().len() + column.len() + cell.value().len();
            }
            self.rest = rest.map(|place| (row, place));
            if count >= BATCH_CELLS || bytes >= BATCH_BYTES {
                break;
            }
        }
        if count == 0 {
            return Ok(None);
        }
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(keys.finish()),
            Arc::new(columns.finish()),
            Arc::new(times.finish()),
            Arc::new(values.finish()),
        ];
        if let Some(mut types) = types {
            arrays.push(Arc::new(types.finish()));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map(Some)
    }

    /// The chosen columns of some rows.
    fn rows_of(&mut self, columns: &Columns) -> Result<Option<RecordBatch>, ArrowError> {
        let mut keys = Builder::new(columns.key);
        let mut builders: Vec<Builder> =
            columns.columns.iter().map(|column| Builder::new(column.kind)).collect();
        let (mut count, mut bytes) = (0, 0);
        while count < BATCH_CELLS && bytes < BATCH_BYTES {
            let Some((row, _)) = self.next_row()? else { break };
            keys.append(Some(row.row())).ok_or_else(|| refused(&row, ROW, columns.key))?;
            for (column, builder) in columns.columns.iter().zip(&mut builders) {
                let value = row.value(&column.family, &column.qualifier);
                check_size(value.unwrap_or_default(), &row, column.name.as_bytes())?;
                builder.append(value).ok_or_else(|| refused(&row, &column.name, column.kind))?;
                bytes += value.map_or(0, <[u8]>::len);
            }
            count += 1;
            bytes += row.row().len();
        }
        if count == 0 {
            return Ok(None);
        }
        let arrays = std::iter::once(keys).chain(builders).map(Builder::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map(Some)
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if self.process != std::process::id() {
            let message = "this process forked after the scan began: open the store after the fork";
            return Err(ArrowError::ExternalError(message.into()));
        }
        match self.columns.clone() {
            None => self.cells(),
            Some(columns) => self.rows_of(&columns),
        }
    }
}

/// The column's name, `family:qualifier`.
fn name_into(cell: &CellRef<'_>, name: &mut Vec<u8>) {
    name.clear();
    name.extend_from_slice(cell.family());
    name.push(b':');
    name.extend_from_slice(cell.qualifier());
}

fn check_size(value: &[u8], row: &RowResult, column: &[u8]) -> Result<(), ArrowError> {
    if value.len() <= VALUE_BYTES_MAX {
        return Ok(());
    }
    let (row, column) = (row.row().escape_ascii(), column.escape_ascii());
    let message = format!("row {row}, column {column}: the value is too large for Arrow");
    Err(ArrowError::ExternalError(message.into()))
}

fn refused(row: &RowResult, column: &str, kind: Kind) -> ArrowError {
    let (row, kind) = (row.row().escape_ascii(), kind.name());
    let message =
        format!("row {row}, column {column}: the value is not of type {kind}; choose binary");
    ArrowError::ExternalError(message.into())
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // The caller is a C function: a panic would end the process.
        let batch = catch_unwind(AssertUnwindSafe(|| self.batch()));
        let batch = batch.unwrap_or_else(|panic: Box<dyn Any + Send>| {
            let text = crate::call::text_of(panic.as_ref());
            Err(ArrowError::ExternalError(text.into()))
        });
        if !matches!(batch, Ok(Some(_))) && self.process == std::process::id() {
            self.rows = None;
        }
        batch.transpose()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// In a process that forked from the scan's, nothing is dropped: that would wait for threads that
/// do not exist there.
impl Drop for Batches {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.rows.take());
        }
    }
}
