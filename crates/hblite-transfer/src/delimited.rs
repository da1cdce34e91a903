//! Reads and writes lines of fields: CSV with quotes, TSV without, by the rules of ImportTsv.
//!
//! With quotes, a field may contain anything. Without, a field that contains the separator or the
//! end of a line cannot be written. Fields are raw bytes, or escaped as HBase prints them (`\xHH`).
//!
//! Source: `ImportTsv.TsvParser.parse`, `TsvImporterMapper.map`. The writer's output is what they
//! read: with `HBASE_TS_KEY` a line per row and timestamp, without it a line per row.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use csv::{QuoteStyle, WriterBuilder};
use hblite::bytes::{from_string_binary, to_string_binary};
use hblite::{Durability, Mutation, Put, RowResult};

use crate::columns::{Column, Columns, HeaderNames};
use crate::error::{BadLine, TransferError};
use crate::export::{RowWriter, time_to_live};
use crate::import::{ImportOptions, RowRead, RowReader};
use crate::input::Marked;
use crate::records::{RecordFormat, RecordReader};

const BUFFER_SIZE: usize = 1 << 16;

/// How fields are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelimitedFormat {
    /// The byte between fields.
    pub separator: u8,
    /// Whether `"` encloses fields that contain a separator, a quote (doubled) or the end of a
    /// line.
    pub has_quotes: bool,
    /// Whether fields are escaped as HBase prints bytes.
    pub is_escaped: bool,
    /// Whether an empty field becomes no cell, instead of one with an empty value
    /// (`importtsv.skip.empty.columns`).
    pub skips_empty_columns: bool,
}

impl DelimitedFormat {
    /// Commas and quotes.
    pub const CSV: Self =
        Self { separator: b',', has_quotes: true, is_escaped: false, skips_empty_columns: false };

    /// Tabs, no quotes: what ImportTsv reads.
    pub const TSV: Self = Self { separator: b'\t', has_quotes: false, ..Self::CSV };

    fn decode<'a>(&self, field: &'a [u8]) -> Result<Cow<'a, [u8]>, String> {
        if !self.is_escaped {
            return Ok(Cow::Borrowed(field));
        }
        let text = std::str::from_utf8(field).map_err(|_| "not UTF-8".to_owned())?;
        Ok(Cow::Owned(from_string_binary(text)))
    }

    fn encode<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.is_escaped {
            Cow::Owned(to_string_binary(bytes).into_bytes())
        } else {
            Cow::Borrowed(bytes)
        }
    }
}

/// Rows from lines of fields. Empty lines are skipped.
#[derive(Debug)]
pub struct DelimitedReader<R> {
    records: RecordReader<R>,
    format: DelimitedFormat,
    columns: Columns,
    timestamp: i64,
    durability: Durability,
}

impl<R: Read> DelimitedReader<R> {
    /// Reads from `input`. With a `header` the first line is one: it names the columns if `columns`
    /// does not.
    ///
    /// # Errors
    /// `Invalid` if the columns are not named, or are not valid; `Read`; `BadLine` if the header
    /// cannot be read.
    pub fn new(
        input: R,
        format: DelimitedFormat,
        columns: Option<Columns>,
        header: Option<&HeaderNames>,
        options: &ImportOptions,
    ) -> Result<Self, TransferError> {
        let record_format = RecordFormat {
            separator: format.separator,
            has_quotes: format.has_quotes,
            size_max: options.line_size_max,
            field_lines_max: options.field_lines_max,
        };
        let mut records = RecordReader::new(input, record_format);
        let mut named = None;
        if let Some(header) = header
            && records.next()?
            && columns.is_none()
        {
            let names = records.fields().map(std::str::from_utf8).collect::<Result<Vec<_>, _>>();
            let names = names
                .map_err(|_| TransferError::Invalid("columns: the header is not UTF-8".into()))?;
            named = Some(Columns::from_header(&names, header)?);
        }
        let columns = columns.or(named).ok_or_else(|| {
            TransferError::Invalid(
                "columns: none are named, neither as an option nor by a header line".into(),
            )
        })?;
        let (timestamp, durability) = (options.timestamp, options.durability);
        Ok(Self { records, format, columns, timestamp, durability })
    }

    /// The fields.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    fn parse(&self) -> Result<Put, String> {
        if let Some(flaw) = self.records.flaw() {
            return Err(flaw.to_owned());
        }
        self.check_field_count(self.records.len())?;
        let field = |index: usize| self.records.get(index).unwrap_or_default();
        let (mut timestamp, mut ttl) = (self.timestamp, None);
        for (index, column) in self.columns.fields().iter().enumerate() {
            match column {
                Column::Timestamp => {
                    timestamp =
                        number(field(index)).ok_or_else(|| invalid("timestamp", field(index)))?;
                }
                Column::TimeToLive if !field(index).is_empty() => {
                    let millis = number(field(index)).filter(|millis| *millis > 0);
                    ttl = Some(millis.ok_or_else(|| invalid("cell TTL", field(index)))?);
                }
                _ => {}
            }
        }
        let row = self.format.decode(field(self.columns.row_key()))?;
        let mut put = Put::new(row).with_durability(self.durability);
        if let Some(millis) = ttl {
            put = put.with_time_to_live_ms(millis);
        }
        for (column, value) in self.columns.fields().iter().zip(self.records.fields()) {
            if let Column::Cell { family, qualifier } = column
                && !(self.format.skips_empty_columns && value.is_empty())
            {
                put = put.add_at(family, qualifier, timestamp, self.format.decode(value)?);
            }
        }
        put.as_mutation().check().map_err(|error| error.message().to_owned())?;
        Ok(put)
    }

    /// Fewer fields than columns are allowed, as long as no field with a special meaning is
    /// missing.
    fn check_field_count(&self, count: usize) -> Result<(), String> {
        let columns = self.columns.fields();
        let is_missing = |column| columns.iter().skip(count).any(|missing| *missing == column);
        let complaint = if count <= 1 {
            "No delimiter"
        } else if count > columns.len() {
            "Excessive columns"
        } else if is_missing(Column::RowKey) {
            "No row key"
        } else if is_missing(Column::Timestamp) {
            "No timestamp"
        } else if is_missing(Column::Attributes) {
            "No attributes specified"
        } else if is_missing(Column::TimeToLive) {
            "No cell TTL specified"
        } else {
            return Ok(());
        };
        Err(complaint.to_owned())
    }
}

impl<R: Read> RowReader for DelimitedReader<R> {
    fn next(&mut self, into: &mut Vec<Mutation>) -> Result<RowRead, TransferError> {
        if !self.records.next()? {
            return Ok(RowRead::End);
        }
        let line = self.records.first_line();
        Ok(match self.parse() {
            Ok(put) => {
                into.push(put.into());
                RowRead::Line(line)
            }
            Err(reason) => RowRead::Bad(BadLine { line, reason }),
        })
    }
}

fn number(field: &[u8]) -> Option<i64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

fn invalid(what: &str, field: &[u8]) -> String {
    format!("Invalid {what} {}", String::from_utf8_lossy(field))
}

fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        // The settings of reader and writer leave no other kind.
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Rows as lines of fields.
#[derive(Debug)]
pub struct DelimitedWriter<W: Write> {
    output: csv::Writer<Marked<W>>,
    format: DelimitedFormat,
    columns: Columns,
    tags_left_out: u64,
}

/// What the cells of one line share, newest first.
type LineKey = (Reverse<i64>, Option<i64>);

impl<W: Write> DelimitedWriter<W> {
    /// Writes to `output`; with `has_header`, a line of the columns first.
    ///
    /// # Errors
    /// `Write`; `Unwritable` if a column's name contains a separator and there are no quotes.
    pub fn new(
        output: W,
        format: DelimitedFormat,
        columns: Columns,
        has_header: bool,
    ) -> Result<Self, TransferError> {
        let style = if format.has_quotes { QuoteStyle::Necessary } else { QuoteStyle::Never };
        let output = WriterBuilder::new()
            .delimiter(format.separator)
            .quote_style(style)
            .buffer_capacity(BUFFER_SIZE)
            .from_writer(Marked::new(output));
        let mut writer = Self { output, format, columns, tags_left_out: 0 };
        if has_header {
            let names: Vec<String> =
                writer.columns.fields().iter().map(ToString::to_string).collect();
            let fields: Vec<Cow<'_, [u8]>> =
                names.iter().map(|name| Cow::Borrowed(name.as_bytes())).collect();
            writer.write_line(b"", &fields)?;
        }
        Ok(writer)
    }

    /// Writes the remaining rows and returns the output.
    ///
    /// # Errors
    /// `Write`.
    pub fn into_inner(self) -> Result<W, TransferError> {
        let output = self.output.into_inner();
        output.map(Marked::into_inner).map_err(|error| TransferError::Write(error.into_error()))
    }

    fn write_line(&mut self, row: &[u8], fields: &[Cow<'_, [u8]>]) -> Result<(), TransferError> {
        if !self.format.has_quotes {
            let ends_field =
                |byte: &u8| matches!(byte, b'\n' | b'\r') || *byte == self.format.separator;
            let bad = fields.iter().position(|field| field.iter().any(ends_field));
            if let Some(column) = bad.and_then(|index| self.columns.fields().get(index)) {
                return Err(TransferError::Unwritable(format!(
                    "row {}: {column} holds a separator or the end of a line, which this format \
                     cannot represent: use CSV or JSON lines, or escape the fields",
                    to_string_binary(row)
                )));
            }
        }
        self.output.write_record(fields).map_err(|error| TransferError::Write(io_error(error)))
    }
}

impl<W: Write> RowWriter for DelimitedWriter<W> {
    fn write(&mut self, row: &RowResult) -> Result<(), TransferError> {
        let columns = self.columns.clone();
        let (has_timestamp, has_ttl) = (columns.has_timestamp(), columns.has_time_to_live());
        let mut lines: BTreeMap<LineKey, Vec<Option<&[u8]>>> = BTreeMap::new();
        for cell in row {
            let (ttl, has_others) = time_to_live(&cell);
            self.tags_left_out += u64::from(has_others || (ttl.is_some() && !has_ttl));
            let key = (
                Reverse(if has_timestamp { cell.timestamp() } else { 0 }),
                ttl.filter(|_| has_ttl),
            );
            let values = lines.entry(key).or_insert_with(|| vec![None; columns.fields().len()]);
            for (value, column) in values.iter_mut().zip(columns.fields()) {
                if let Column::Cell { family, qualifier } = column
                    && (family.as_slice(), qualifier.as_slice())
                        == (cell.family(), cell.qualifier())
                {
                    value.get_or_insert(cell.value());
                }
            }
        }
        for ((Reverse(timestamp), ttl), values) in lines {
            let fields: Vec<Cow<'_, [u8]>> = columns
                .fields()
                .iter()
                .zip(values)
                .map(|(column, value)| match column {
                    Column::RowKey => self.format.encode(row.row()),
                    Column::Timestamp => Cow::Owned(timestamp.to_string().into_bytes()),
                    Column::TimeToLive => {
                        Cow::Owned(ttl.map(|millis| millis.to_string()).unwrap_or_default().into())
                    }
                    Column::Attributes => Cow::Borrowed(&[][..]),
                    Column::Cell { .. } => self.format.encode(value.unwrap_or_default()),
                })
                .collect();
            self.write_line(row.row(), &fields)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TransferError> {
        self.output.flush().map_err(TransferError::Write)
    }

    fn takes_pieces(&self) -> bool {
        false
    }

    fn tags_left_out(&self) -> u64 {
        self.tags_left_out
    }
}
