//! Reads records from CSV, TSV, JSON lines, Parquet, lines that are keys, and tables.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::str::FromStr;

use hblite::filter::{Filter, ListOperator};
use hblite_rowkey::{Design, Value};
use serde_json::Value as Json;

use super::{BadRecords, RECORDS_MAX, Table};

/// Bytes of a line beyond which it is refused.
const LINE_MAX: u64 = 1 << 20;
/// Longest Parquet file, in bytes: it is read into memory.
const PARQUET_MAX: u64 = 1 << 30;

/// The form of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values; the first line names the fields.
    Csv,
    /// The same, separated by tabs.
    Tsv,
    /// An object of texts, numbers and booleans per line.
    JsonLines,
    /// Parquet: the columns that are not nested.
    Parquet,
}

/// Why records cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// The source cannot be read.
    Io(io::Error),
    /// The input is not a record.
    Bad(BadRecords),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Bad(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<BadRecords> for ReadError {
    fn from(error: BadRecords) -> Self {
        Self::Bad(error)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "csv" => Ok(Self::Csv),
            "tsv" => Ok(Self::Tsv),
            "jsonl" => Ok(Self::JsonLines),
            "parquet" => Ok(Self::Parquet),
            _ => Err(format!("{text:?} is not csv, tsv, jsonl or parquet")),
        }
    }
}

impl Format {
    /// The form that the name of a file suggests, if any.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, end) = name.rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "jsonl" | "ndjson" | "json" => Some(Self::JsonLines),
            "parquet" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }
}

fn bad(line: u64, reason: impl fmt::Display) -> ReadError {
    ReadError::Bad(BadRecords(format!("line {line}: {reason}")))
}

impl Table {
    /// Reads all records.
    ///
    /// # Errors
    /// [`ReadError`] with the line, or the row group and the column.
    pub fn read(source: impl Read, format: Format) -> Result<Self, ReadError> {
        match format {
            Format::Csv => delimited(source, b','),
            Format::Tsv => delimited(source, b'\t'),
            Format::JsonLines => json_lines(source),
            Format::Parquet => parquet(source),
        }
    }

    /// Reads keys, one per line as `Bytes.toStringBinary` prints them, as records of the fields of
    /// their design.
    ///
    /// # Errors
    /// [`ReadError`] with the line.
    pub fn read_keys(source: impl Read, design: &Design) -> Result<Self, ReadError> {
        let fields = design.fields().iter().map(|field| field.name.clone()).collect();
        let mut rows = Vec::new();
        for_each_line(source, |number, line| {
            let key = hblite::bytes::from_string_binary(line);
            let values = design.decode(&key).map_err(|error| bad(number, error))?;
            rows.push(values.iter().map(text_of).collect());
            check_count(rows.len())
        })?;
        Ok(Self::new(fields, rows)?)
    }
}

impl Table {
    /// Reads the keys of a table of a store or a cluster, and the times of their newest cells as
    /// the field `written`. With a share from 0 to 1, servers choose that share of the rows at
    /// random. Servers send keys without values, and do not cache the blocks that they read.
    ///
    /// # Errors
    /// [`ReadError`] if a row is not a key of the design, and those of the store.
    pub fn of_table(
        connection: &hblite::Connection,
        table: &str,
        design: &Design,
        share: Option<f32>,
    ) -> Result<Self, ReadError> {
        let store = |error: hblite::Error| BadRecords(error.message().to_owned());
        let table = connection.table(table).map_err(store)?;
        let mut fields = vec![WRITTEN.to_owned()];
        fields.extend(design.fields().iter().map(|field| field.name.clone()));
        let mut rows = Vec::new();
        let mut scanner = table.scan(&keys_of(share)).map_err(store)?;
        while let Some(row) = scanner.next_row().map_err(store)? {
            let newest = row.cells().map(|cell| cell.timestamp()).max().unwrap_or(0);
            let values = design.decode(row.row()).map_err(|error| {
                let row = hblite::bytes::to_string_binary(row.row());
                BadRecords(format!("row {row}: {error}"))
            })?;
            let written = std::iter::once(newest.max(0).to_string());
            rows.push(written.chain(values.iter().map(text_of)).collect());
            check_count(rows.len())?;
        }
        Ok(Self::new(fields, rows)?)
    }
}

/// A scan for keys, or for a share of them.
fn keys_of(share: Option<f32>) -> hblite::Scan {
    let keys = Filter::key_only(false);
    let filter = match share {
        Some(share) => {
            Filter::list(ListOperator::MustPassAll, vec![Filter::random_row(share), keys])
        }
        None => keys,
    };
    hblite::Scan::new().with_filter(filter).with_cache_blocks(false)
}

/// The field with the time of a row's newest cell.
const WRITTEN: &str = "written";

/// A value as it is parsed again.
fn text_of(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        Value::Bytes(bytes) | Value::Digest(bytes) => hblite::bytes::to_string_binary(bytes),
        number => number.to_string(),
    }
}

fn check_count(count: usize) -> Result<(), ReadError> {
    if count <= RECORDS_MAX {
        return Ok(());
    }
    let message = format!("more than {RECORDS_MAX} records: use a part of them");
    Err(ReadError::Bad(BadRecords(message)))
}

fn delimited(source: impl Read, delimiter: u8) -> Result<Table, ReadError> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(source);
    let wrong = |error: csv::Error| {
        let message = error.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(error) => ReadError::Io(error),
            _ => ReadError::Bad(BadRecords(message)),
        }
    };
    let names = reader.headers().map_err(wrong)?;
    let fields = names.iter().map(|name| name.trim().to_owned()).collect();
    let mut rows = Vec::new();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(wrong)? {
        rows.push(record.iter().map(str::to_owned).collect());
        check_count(rows.len())?;
    }
    Ok(Table::new(fields, rows)?)
}

fn parquet(source: impl Read) -> Result<Table, ReadError> {
    let mut file = Vec::new();
    source.take(PARQUET_MAX + 1).read_to_end(&mut file).map_err(ReadError::Io)?;
    if file.len() as u64 > PARQUET_MAX {
        let message = "a Parquet file of more than 1 GiB: use a part of its rows or columns";
        return Err(ReadError::Bad(BadRecords(message.to_owned())));
    }
    Ok(super::parquet::read(&file)?)
}

fn json_lines(source: impl Read) -> Result<Table, ReadError> {
    let mut fields: Vec<String> = Vec::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for_each_line(source, |number, line| {
        let object: serde_json::Map<String, Json> =
            serde_json::from_str(line).map_err(|error| bad(number, error))?;
        if object.is_empty() {
            return Err(bad(number, "the record has no fields"));
        }
        if fields.is_empty() {
            fields = object.keys().cloned().collect();
        }
        let value = |name: &String| match object.get(name) {
            Some(Json::String(text)) => Ok(text.clone()),
            Some(value @ (Json::Number(_) | Json::Bool(_))) => Ok(value.to_string()),
            Some(_) => Err(bad(number, format!("{name} is neither text nor a number"))),
            None => Err(bad(number, format!("there is no {name}, as in the first record"))),
        };
        rows.push(fields.iter().map(value).collect::<Result<_, _>>()?);
        check_count(rows.len())
    })?;
    Ok(Table::new(fields, rows)?)
}

/// Calls `each` with the number and text of each line that is not empty.
fn for_each_line(
    source: impl Read,
    mut each: impl FnMut(u64, &str) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut reader = io::BufReader::new(source);
    let mut bytes = Vec::new();
    let mut number = 0;
    loop {
        bytes.clear();
        let limited = &mut (&mut reader).take(LINE_MAX + 1);
        if limited.read_until(b'\n', &mut bytes).map_err(ReadError::Io)? == 0 {
            return Ok(());
        }
        number += 1;
        if bytes.len() as u64 > LINE_MAX {
            return Err(bad(number, format!("longer than {LINE_MAX} bytes")));
        }
        let line = std::str::from_utf8(&bytes).map_err(|_| bad(number, "not UTF-8"))?;
        let line = line.trim_end_matches(['\n', '\r']);
        if !line.is_empty() {
            each(number, line)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gives_the_same_records() {
        let csv = Table::read(&b"host,ts\nweb1,7\n\"a, b\",8\n"[..], Format::Csv).expect("csv");
        let tsv = Table::read(&b"host\tts\nweb1\t7\na, b\t8\n"[..], Format::Tsv).expect("tsv");
        let json = b"{\"host\":\"web1\",\"ts\":7}\n\n{\"ts\":8,\"host\":\"a, b\"}\n";
        let json = Table::read(&json[..], Format::JsonLines).expect("json");
        assert_eq!((&csv, &tsv), (&tsv, &json));
        let design = Design::parse("host:str|ts:u64").expect("a design");
        let keys = b"web1\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x07\n\
                     a, b\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x08\n";
        let keys = Table::read_keys(&keys[..], &design).expect("keys");
        assert_eq!(csv, keys);
    }

    #[test]
    fn what_is_no_record_is_refused_with_its_line() {
        for (text, reason) in [
            (&b"{\"a\":1}\n[1]\n"[..], "line 2"),
            (b"{\"a\":1}\n{\"b\":1}\n", "line 2: there is no a"),
            (b"{\"a\":[1]}\n", "line 1: a is neither"),
            (b"{\"a\":1}\n\xff\n", "line 2: not UTF-8"),
            (b"{ }\n{\"a\":1}\n", "line 1: the record has no fields"),
            (b"", "there are no records"),
        ] {
            let error = Table::read(text, Format::JsonLines).expect_err(reason).to_string();
            assert!(error.contains(reason), "{error}");
        }
        assert!(Table::read(&b"a,b\n1\n"[..], Format::Csv).is_err());
    }
}
