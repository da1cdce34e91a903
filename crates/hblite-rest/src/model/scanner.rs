//! What a scanner selects: `Scanner`.

use hblite::{Result, Scan, TimeRange};
use hyper::StatusCode;
use prost::Message as _;
use serde::{Deserialize, Deserializer};

use super::cell_set::base64_text;
use super::scalar::{Scalar, or_zero};
use super::{FromBody, filter, stargate};
use crate::java;
use crate::xml;

/// The rows, columns and versions of a scanner, and how many cells an answer has.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(crate) struct ScannerModel {
    #[serde(deserialize_with = "base64_or_empty")]
    pub(crate) start_row: Vec<u8>,
    #[serde(deserialize_with = "base64_or_empty")]
    pub(crate) end_row: Vec<u8>,
    #[serde(rename = "column", deserialize_with = "base64_list")]
    pub(crate) columns: Vec<Vec<u8>>,
    /// Cells of an answer.
    #[serde(deserialize_with = "or_zero")]
    pub(crate) batch: i32,
    #[serde(deserialize_with = "or_zero")]
    pub(crate) start_time: i64,
    #[serde(deserialize_with = "or_zero")]
    pub(crate) end_time: i64,
    /// A filter in JSON.
    #[serde(deserialize_with = "text")]
    pub(crate) filter: Option<String>,
    #[serde(deserialize_with = "or_zero")]
    pub(crate) max_versions: i32,
    #[serde(deserialize_with = "or_zero")]
    pub(crate) caching: i32,
    /// Visibility labels, which hblite does not have.
    pub(crate) labels: Option<Vec<String>>,
    #[serde(deserialize_with = "or_zero")]
    pub(crate) cache_blocks: bool,
}

impl Default for ScannerModel {
    fn default() -> Self {
        Self {
            start_row: Vec::new(),
            end_row: Vec::new(),
            columns: Vec::new(),
            batch: i32::MAX,
            start_time: 0,
            end_time: i64::MAX,
            filter: None,
            max_versions: i32::MAX,
            caching: -1,
            labels: None,
            cache_blocks: true,
        }
    }
}

impl ScannerModel {
    /// The scan that this describes.
    ///
    /// # Errors
    /// As [`filter::build`] and [`TimeRange::new`].
    pub(crate) fn scan(&self) -> Result<Scan> {
        let mut scan = Scan::new()
            .with_start_row(&self.start_row)
            .with_time_range(TimeRange::new(self.start_time, self.end_time)?)
            .with_versions(u32::try_from(self.max_versions).unwrap_or(0))
            .with_caching(u32::try_from(self.caching).unwrap_or(0))
            .with_cache_blocks(self.cache_blocks);
        // If both rows are equal, HBase's client scans that row.
        scan = match self.start_row == self.end_row {
            true => scan.with_stop_row_inclusive(&self.end_row),
            false => scan.with_stop_row(&self.end_row),
        };
        if let Some(text) = self.filter.as_deref().filter(|text| !text.is_empty()) {
            scan = scan.with_filter(filter::build(text)?);
        }
        Ok(java::add_columns(scan, &self.columns, Scan::with_family, Scan::with_column))
    }
}

fn text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<String>, D::Error> {
    Scalar::deserialize(deserializer).map(|scalar| scalar.0)
}

fn base64_or_empty<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<u8>, D::Error> {
    base64_text(deserializer).map(Option::unwrap_or_default)
}

fn base64_list<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<Vec<u8>>, D::Error> {
    let texts = Option::<Vec<String>>::deserialize(deserializer)?.unwrap_or_default();
    let decode = |text: &String| {
        java::decode_base64_text(text).ok_or_else(|| serde::de::Error::custom("not Base64"))
    };
    texts.iter().map(decode).collect()
}

/// A number of an attribute; `None` if it is malformed.
fn number<T: std::str::FromStr>(
    node: roxmltree::Node<'_, '_>,
    name: &str,
    default: T,
) -> Option<T> {
    node.attribute(name).map_or(Some(default), |text| text.trim().parse().ok())
}

impl ScannerModel {
    fn read_xml(node: roxmltree::Node<'_, '_>) -> Option<Self> {
        let default = Self::default();
        let bytes =
            |name: &str| node.attribute(name).map_or(Some(Vec::new()), java::decode_base64_text);
        let columns = xml::children(node, "column")
            .map(|column| java::decode_base64_text(&xml::content(column)));
        Some(Self {
            start_row: bytes("startRow")?,
            end_row: bytes("endRow")?,
            columns: columns.collect::<Option<_>>()?,
            batch: number(node, "batch", default.batch)?,
            start_time: number(node, "startTime", default.start_time)?,
            end_time: number(node, "endTime", default.end_time)?,
            filter: xml::children(node, "filter").next().map(xml::content),
            max_versions: number(node, "maxVersions", default.max_versions)?,
            caching: number(node, "caching", default.caching)?,
            labels: None,
            cache_blocks: node
                .attribute("cacheBlocks")
                .is_none_or(|text| matches!(text.trim(), "true" | "1")),
        })
    }
}

impl FromBody for ScannerModel {
    fn from_xml(bytes: &[u8]) -> std::result::Result<Self, StatusCode> {
        let read = xml::read(bytes, "Scanner", Self::read_xml).ok_or(StatusCode::BAD_REQUEST)?;
        read.ok_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn from_json(bytes: &[u8]) -> serde_json::Result<Option<Self>> {
        serde_json::from_slice(bytes).map(Some)
    }

    fn from_protobuf(bytes: &[u8]) -> std::result::Result<Self, prost::DecodeError> {
        let message = stargate::Scanner::decode(bytes)?;
        let default = Self::default();
        Ok(Self {
            start_row: message.start_row.unwrap_or_default(),
            end_row: message.end_row.unwrap_or_default(),
            columns: message.columns,
            batch: message.batch.unwrap_or(default.batch),
            start_time: message.start_time.unwrap_or(default.start_time),
            end_time: message.end_time.unwrap_or(default.end_time),
            filter: message.filter,
            max_versions: message.max_versions.unwrap_or(default.max_versions),
            caching: message.caching.unwrap_or(default.caching),
            labels: Some(message.labels),
            cache_blocks: message.cache_blocks.unwrap_or(default.cache_blocks),
        })
    }
}
