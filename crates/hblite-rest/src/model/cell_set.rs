//! Rows and their cells: `CellSet`.
//!
//! Keys, columns and values are Base64 in XML and JSON. Rows can be written one by one, for
//! answers that are sent while they are read.

use hblite::{CellRef, LATEST_TIMESTAMP, RowResult};
use hyper::StatusCode;
use prost::Message as _;
use serde::{Deserialize, Deserializer};

use super::scalar::Scalar;
use super::{FromBody, Model, stargate};
use crate::java;
use crate::xml;

/// The markup around the values of a cell or row in a document, in bytes.
const CELL_TEXT: usize = 80;

/// A cell in a body. Without a column, it applies to the column in the path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CellModel {
    pub(crate) column: Option<Vec<u8>>,
    /// `None` for the time of the write.
    pub(crate) timestamp: Option<i64>,
    pub(crate) value: Vec<u8>,
}

impl CellModel {
    /// The timestamp of a write.
    pub(crate) fn timestamp(&self) -> i64 {
        self.timestamp.unwrap_or(LATEST_TIMESTAMP)
    }
}

/// A row in a body. Without a key, it applies to the row in the path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RowModel {
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) cells: Vec<CellModel>,
}

impl RowModel {
    /// An empty row.
    pub(crate) fn new(key: &[u8]) -> Self {
        Self { key: Some(key.to_vec()), cells: Vec::new() }
    }

    /// Adds a cell, and returns about how many bytes it takes in an answer.
    pub(crate) fn push(&mut self, cell: &CellRef<'_>) -> usize {
        let column = [cell.family(), b":", cell.qualifier()].concat();
        let size = column.len() + cell.value().len() + size_of::<CellModel>();
        let (timestamp, value) = (Some(cell.timestamp()), cell.value().to_vec());
        self.cells.push(CellModel { column: Some(column), timestamp, value });
        size
    }

    /// About how many bytes it takes in XML or JSON.
    pub(crate) fn text_size(&self) -> usize {
        let base64 = |bytes: usize| bytes / 3 * 4 + 4;
        let cell = |cell: &CellModel| {
            base64(cell.column.as_ref().map_or(0, Vec::len)) + base64(cell.value.len())
        };
        let cells: usize = self.cells.iter().map(|each| cell(each) + CELL_TEXT).sum();
        cells + base64(self.key.as_ref().map_or(0, Vec::len)) + CELL_TEXT
    }

    pub(crate) fn write_json(&self, out: &mut String) {
        out.push('{');
        if let Some(key) = &self.key {
            out.push_str("\"key\":\"");
            push_base64(out, key);
            out.push_str("\",");
        }
        out.push_str("\"Cell\":[");
        for (index, cell) in self.cells.iter().enumerate() {
            out.push_str(if index == 0 { "{" } else { ",{" });
            if let Some(column) = &cell.column {
                out.push_str("\"column\":\"");
                push_base64(out, column);
                out.push_str("\",");
            }
            out.push_str("\"timestamp\":");
            out.push_str(&cell.timestamp().to_string());
            out.push_str(",\"$\":\"");
            push_base64(out, &cell.value);
            out.push_str("\"}");
        }
        out.push_str("]}");
    }

    pub(crate) fn write_xml(&self, out: &mut String) {
        out.push_str("<Row");
        if let Some(key) = &self.key {
            xml::attribute(out, "key", &java::encode_base64(key));
        }
        if self.cells.is_empty() {
            out.push_str("/>");
            return;
        }
        out.push('>');
        for cell in &self.cells {
            out.push_str("<Cell");
            if let Some(column) = &cell.column {
                xml::attribute(out, "column", &java::encode_base64(column));
            }
            xml::attribute(out, "timestamp", &cell.timestamp().to_string());
            out.push('>');
            push_base64(out, &cell.value);
            out.push_str("</Cell>");
        }
        out.push_str("</Row>");
    }

    fn to_message(&self) -> stargate::Row {
        let values = self.cells.iter().map(|cell| stargate::Cell {
            row: None,
            column: cell.column.clone(),
            timestamp: cell.timestamp.filter(|timestamp| *timestamp != LATEST_TIMESTAMP),
            data: Some(cell.value.clone()),
        });
        stargate::Row { key: self.key.clone().unwrap_or_default(), values: values.collect() }
    }
}

impl From<&RowResult> for RowModel {
    fn from(row: &RowResult) -> Self {
        let mut model = Self::new(row.row());
        for cell in row.cells() {
            model.push(&cell);
        }
        model
    }
}

fn push_base64(out: &mut String, bytes: &[u8]) {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode_string(bytes, out);
}

/// Rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CellSet {
    pub(crate) rows: Vec<RowModel>,
}

impl CellSet {
    /// About how many bytes it takes in XML or JSON.
    fn text_size(&self) -> usize {
        self.rows.iter().map(RowModel::text_size).sum::<usize>() + CELL_TEXT
    }
}

impl Model for CellSet {
    fn to_text(&self) -> String {
        self.to_json()
    }

    fn to_xml(&self) -> String {
        let mut out = String::with_capacity(self.text_size());
        out.push_str(xml::DECLARATION);
        if self.rows.is_empty() {
            out.push_str("<CellSet/>");
            return out;
        }
        out.push_str("<CellSet>");
        for row in &self.rows {
            row.write_xml(&mut out);
        }
        out.push_str("</CellSet>");
        out
    }

    fn to_json(&self) -> String {
        let mut out = String::with_capacity(self.text_size());
        out.push_str("{\"Row\":[");
        for (index, row) in self.rows.iter().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            row.write_json(&mut out);
        }
        out.push_str("]}");
        out
    }

    fn to_protobuf(&self) -> Vec<u8> {
        let rows = self.rows.iter().map(RowModel::to_message).collect();
        stargate::CellSet { rows }.encode_to_vec()
    }
}

/// The JSON of a body.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonSet {
    #[serde(rename = "Row", default = "no_rows")]
    rows: Option<Vec<JsonRow>>,
}

/// The default of a set: empty, which is not null.
fn no_rows() -> Option<Vec<JsonRow>> {
    Some(Vec::new())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonRow {
    #[serde(default, deserialize_with = "base64_text")]
    key: Option<Vec<u8>>,
    #[serde(rename = "Cell", default)]
    cells: Option<Vec<JsonCell>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonCell {
    #[serde(default, deserialize_with = "base64_text")]
    column: Option<Vec<u8>>,
    #[serde(default)]
    timestamp: Scalar<i64>,
    #[serde(rename = "$", default, deserialize_with = "base64_text")]
    value: Option<Vec<u8>>,
}

/// Base64 or null.
pub(super) fn base64_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<u8>>, D::Error> {
    let text = Option::<std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
    let decode = |text: std::borrow::Cow<'de, str>| {
        java::decode_base64_text(&text).ok_or_else(|| serde::de::Error::custom("not Base64"))
    };
    text.map(decode).transpose()
}

impl FromBody for CellSet {
    fn from_xml(bytes: &[u8]) -> std::result::Result<Self, StatusCode> {
        xml::read(bytes, "CellSet", |set| {
            let binary = |text: Option<&str>| text.map(java::decode_base64_text);
            let rows = xml::children(set, "Row").map(|row| {
                let cells = xml::children(row, "Cell").map(|cell| {
                    Some(CellModel {
                        column: binary(cell.attribute("column"))
                            .map_or(Some(None), |column| column.map(Some))?,
                        timestamp: cell
                            .attribute("timestamp")
                            .and_then(|timestamp| timestamp.trim().parse().ok()),
                        value: java::decode_base64_text(&xml::content(cell))?,
                    })
                });
                let key = binary(row.attribute("key")).map_or(Some(None), |key| key.map(Some))?;
                Some(RowModel { key, cells: cells.collect::<Option<_>>()? })
            });
            rows.collect::<Option<_>>().map(|rows| Self { rows })
        })
        .flatten()
        .ok_or(StatusCode::BAD_REQUEST)
    }

    fn from_json(bytes: &[u8]) -> serde_json::Result<Option<Self>> {
        let set: JsonSet = serde_json::from_slice(bytes)?;
        let cell = |cell: JsonCell| CellModel {
            column: cell.column,
            timestamp: cell.timestamp.0,
            value: cell.value.unwrap_or_default(),
        };
        let row = |row: JsonRow| RowModel {
            key: row.key,
            cells: row.cells.unwrap_or_default().into_iter().map(cell).collect(),
        };
        Ok(set.rows.map(|rows| Self { rows: rows.into_iter().map(row).collect() }))
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, prost::DecodeError> {
        let set = stargate::CellSet::decode(bytes)?;
        let cell = |cell: stargate::Cell| CellModel {
            column: Some(cell.column.unwrap_or_default()),
            timestamp: cell.timestamp,
            value: cell.data.unwrap_or_default(),
        };
        let row = |row: stargate::Row| RowModel {
            key: Some(row.key),
            cells: row.values.into_iter().map(cell).collect(),
        };
        Ok(Self { rows: set.rows.into_iter().map(row).collect() })
    }
}
