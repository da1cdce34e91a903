//! The rows of a scan, written one by one in the form of an answer.
//!
//! XML and JSON are one document. Protobuf is a sequence of cell sets, each with up to ten rows
//! after its length in two bytes; of a longer set, these are the low 16 bits, as in HBase.

use hblite::RowResult;

use crate::media::Format;
use crate::model::Model as _;
use crate::model::cell_set::{CellSet, RowModel};
use crate::xml;

/// Rows of a cell set in protobuf (`hbase.rest.scan.fetchsize`).
const SET_ROWS: usize = 10;

/// The length of the beginning of a document, in bytes.
const SET_TEXT: usize = 80;

/// What was written so far.
#[derive(Debug)]
pub(crate) struct CellStream {
    format: Format,
    has_rows: bool,
    /// Rows of the next cell set in protobuf.
    set: CellSet,
    /// Whether a scan without rows is one empty cell set.
    writes_empty_set: bool,
}

impl CellStream {
    /// A stream of at most `limit` rows.
    pub(crate) fn new(format: Format, limit: i32) -> Self {
        let writes_empty_set = usize::try_from(limit).unwrap_or(0) < SET_ROWS;
        Self { format, has_rows: false, set: CellSet::default(), writes_empty_set }
    }

    /// Appends a row.
    pub(crate) fn row(&mut self, row: &RowResult, out: &mut Vec<u8>) {
        let model = RowModel::from(row);
        let mut text = String::new();
        match self.format {
            Format::Xml => {
                text.reserve(model.text_size() + SET_TEXT);
                if !self.has_rows {
                    text.push_str(xml::DECLARATION);
                    text.push_str("<CellSet>");
                }
                model.write_xml(&mut text);
            }
            Format::Json => {
                text.reserve(model.text_size());
                text.push_str(if self.has_rows { "," } else { "{\"Row\":[" });
                model.write_json(&mut text);
            }
            _ => {
                self.set.rows.push(model);
                if self.set.rows.len() == SET_ROWS {
                    self.write_set(out);
                }
            }
        }
        self.has_rows = true;
        out.extend_from_slice(text.as_bytes());
    }

    /// Appends what comes after the last row.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        match (self.format, self.has_rows) {
            (Format::Xml, true) => out.extend_from_slice(b"</CellSet>"),
            (Format::Json, true) => out.extend_from_slice(b"]}"),
            (Format::Xml, false) => out.extend_from_slice(CellSet::default().to_xml().as_bytes()),
            (Format::Json, false) => out.extend_from_slice(CellSet::default().to_json().as_bytes()),
            (_, has_rows) => {
                if !self.set.rows.is_empty() || (!has_rows && self.writes_empty_set) {
                    self.write_set(out);
                }
            }
        }
    }

    fn write_set(&mut self, out: &mut Vec<u8>) {
        let message = std::mem::take(&mut self.set).to_protobuf();
        let length = (message.len() & usize::from(u16::MAX)) as u16;
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&message);
    }
}
