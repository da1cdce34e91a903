//! The contents of a description: settings to write with, and the cells.
//!
//! Missing members take the writer's defaults. Invalid members are errors that name them.

use std::fmt;

use hblite_hfile::{BloomHash, ChecksumType, HFileWriterOptions, StoreFileInfo, file_info};
use hblite_model::cell::key;
use hblite_model::{BloomType, Cell, CellComparator, CellRef, Compression, DataBlockEncoding};
use serde_json::{Map, Value};

use crate::unhex;

/// A text that is not a description of an HFile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidDescription {
    /// Where, as a JSON pointer; empty for the whole text.
    pub at: String,
    /// What is wrong.
    pub message: String,
}

impl InvalidDescription {
    pub(crate) fn new(at: &str, message: impl Into<String>) -> Self {
        Self { at: at.to_owned(), message: message.into() }
    }
}

impl fmt::Display for InvalidDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.at.is_empty() { "" } else { ": " };
        write!(f, "{}{separator}{}", self.at, self.message)
    }
}

impl std::error::Error for InvalidDescription {}

pub(crate) type Parsed<T> = Result<T, InvalidDescription>;

/// Names in the file info that the format defines and a writer sets.
const OWN_FILE_INFO: [&[u8]; 15] = [
    file_info::KEY_VALUE_VERSION,
    file_info::MAX_MEMSTORE_TS,
    file_info::DATA_BLOCK_ENCODING,
    file_info::MAX_SEQUENCE_ID,
    file_info::MAJOR_COMPACTION,
    file_info::COMPACTION_EVENT,
    file_info::TIME_RANGE,
    file_info::EARLIEST_PUT,
    file_info::DELETE_FAMILY_COUNT,
    file_info::BLOOM_FILTER_TYPE,
    file_info::BLOOM_FILTER_PARAM,
    file_info::LAST_BLOOM_KEY,
    file_info::HISTORICAL,
    b"INDEX_BLOCK_ENCODING",
    b"CUSTOM_TIERING_TIME_RANGE",
];

/// An HFile, described as JSON.
#[derive(Debug, Clone)]
pub struct Description {
    json: Value,
}

impl Description {
    /// Parses a description.
    ///
    /// # Errors
    /// If `text` is not a JSON object.
    pub fn parse(text: &str) -> Parsed<Self> {
        let json: Value = serde_json::from_str(text)
            .map_err(|error| InvalidDescription::new("", error.to_string()))?;
        if !json.is_object() {
            return Err(InvalidDescription::new("", "a description is a JSON object"));
        }
        Ok(Self { json })
    }

    /// The member at a JSON pointer; `None` if it is missing or null.
    pub fn get(&self, pointer: &str) -> Option<&Value> {
        self.json.pointer(pointer).filter(|value| !value.is_null())
    }

    /// The same, including null.
    pub(crate) fn member(&self, pointer: &str) -> Option<&Value> {
        self.json.pointer(pointer)
    }

    /// A number, of 64 bits; negative ones as their two's complement.
    ///
    /// # Errors
    /// If it is of another type.
    pub fn number(&self, pointer: &str) -> Parsed<Option<u64>> {
        self.typed(pointer, "a number of 64 bits", |value| {
            value.as_u64().or_else(|| value.as_i64().map(|number| number as u64))
        })
    }

    /// A string.
    ///
    /// # Errors
    /// If it is of another type.
    pub fn text(&self, pointer: &str) -> Parsed<Option<&str>> {
        self.typed(pointer, "a string", Value::as_str)
    }

    /// True or false.
    ///
    /// # Errors
    /// If it is of another type.
    pub fn flag(&self, pointer: &str) -> Parsed<Option<bool>> {
        self.typed(pointer, "true or false", Value::as_bool)
    }

    /// An object.
    pub(crate) fn object(&self, pointer: &str) -> Parsed<Option<&Map<String, Value>>> {
        self.typed(pointer, "an object", Value::as_object)
    }

    pub(crate) fn typed<'a, T>(
        &'a self,
        pointer: &str,
        what: &str,
        take: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Parsed<Option<T>> {
        let wrong = || InvalidDescription::new(pointer, format!("must be {what}"));
        self.get(pointer).map(|value| take(value).ok_or_else(wrong)).transpose()
    }

    /// One of HBase's names.
    fn name<T>(&self, pointer: &str, of: fn(&str) -> Option<T>) -> Parsed<Option<T>> {
        let Some(name) = self.text(pointer)? else { return Ok(None) };
        let unknown = || InvalidDescription::new(pointer, format!("unknown name {name}"));
        of(name).ok_or_else(unknown).map(Some)
    }

    /// The settings for writing such a file.
    ///
    /// # Errors
    /// If a setting is of another type or unknown.
    pub fn options(&self) -> Parsed<HFileWriterOptions> {
        let mut options = HFileWriterOptions::default();
        let size = |name: &str, field: &mut usize| {
            let pointer = format!("/settings/{name}");
            if let Some(number) = self.number(&pointer)? {
                let too_large = |_| InvalidDescription::new(&pointer, "is too large");
                *field = usize::try_from(number).map_err(too_large)?;
            }
            Ok(())
        };
        let flag = |name: &str, field: &mut bool| {
            self.flag(&format!("/settings/{name}")).map(|flag| *field = flag.unwrap_or(*field))
        };
        let mut prefix_length = 0;
        size("bloom_param", &mut prefix_length)?;
        options.bloom_prefix_length = prefix_length.min(u32::MAX as usize) as u32;
        size("block_size", &mut options.block_size)?;
        size("bloom_block_size", &mut options.bloom_block_size)?;
        size("bytes_per_checksum", &mut options.bytes_per_checksum)?;
        size("index_chunk_size", &mut options.index_chunk_size)?;
        size("index_min_entries", &mut options.index_min_entries)?;
        flag("include_mvcc", &mut options.include_mvcc)?;
        flag("include_tags", &mut options.include_tags)?;
        flag("compress_tags", &mut options.compress_tags)?;
        self.set_names(&mut options)?;
        let rate = "/settings/bloom_error_rate";
        if let Some(rate) = self.typed(rate, "a number", Value::as_f64)? {
            options.bloom_error_rate = rate as f32;
        }
        if let Some(time) = self.number("/settings/create_time")? {
            options.create_time = time as i64;
        }
        Ok(options)
    }

    fn set_names(&self, options: &mut HFileWriterOptions) -> Parsed<()> {
        let comparator = |name: &str| match name {
            "default" => Some(CellComparator::Default),
            "meta" => Some(CellComparator::Meta),
            _ => None,
        };
        macro_rules! set {
            ($field:ident, $member:literal, $of:expr) => {
                if let Some(value) = self.name(concat!("/settings/", $member), $of)? {
                    options.$field = value;
                }
            };
        }
        set!(encoding, "encoding", DataBlockEncoding::from_name);
        set!(compression, "compression", Compression::from_name);
        set!(bloom, "bloom", BloomType::from_name);
        set!(hash, "hash", BloomHash::from_name);
        set!(checksum, "checksum", ChecksumType::from_name);
        set!(comparator, "comparator", comparator);
        Ok(())
    }

    /// What a store would know about the file. A file without `max_seq_id` was written outside of a
    /// store.
    ///
    /// # Errors
    /// If a setting is of another type.
    pub fn store_file_info(&self) -> Parsed<StoreFileInfo> {
        Ok(StoreFileInfo {
            max_sequence_id: self.number("/settings/max_seq_id")?,
            major_compaction: self.flag("/settings/major_compaction")?.unwrap_or_default(),
            compacted_files: Vec::new(),
        })
    }

    /// The cells in file order; `None` if the description has only their digest.
    ///
    /// # Errors
    /// If a part of a cell is missing or impossible.
    pub fn cells(&self) -> Parsed<Option<Vec<Cell>>> {
        let Some(cells) = self.typed("/cells", "an array", Value::as_array)? else {
            return Ok(None);
        };
        (0..cells.len()).map(|index| self.cell(index)).collect::<Parsed<_>>().map(Some)
    }

    fn cell(&self, index: usize) -> Parsed<Cell> {
        let at = |name: &str| format!("/cells/{index}/{name}");
        let missing = |name: &str| InvalidDescription::new(&at(name), "is missing");
        let bytes = |name: &str| self.bytes(&at(name));
        let number = |name: &str| self.number(&at(name));
        let needed = |name: &str| bytes(name)?.ok_or_else(|| missing(name));
        let (row, family) = (needed("row")?, needed("family")?);
        let (qualifier, value) = (needed("qualifier")?, needed("value")?);
        let tags = bytes("tags")?.unwrap_or_default();
        for (name, length, max) in [
            ("row", row.len(), key::ROW_LENGTH_MAX),
            ("family", family.len(), key::FAMILY_LENGTH_MAX),
            ("tags", tags.len(), usize::from(u16::MAX)),
        ] {
            if length > max {
                let message = format!("has {length} bytes, at most {max} are possible");
                return Err(InvalidDescription::new(&at(name), message));
            }
        }
        let timestamp = number("ts")?.ok_or_else(|| missing("ts"))? as i64;
        let code = number("type")?.ok_or_else(|| missing("type"))?;
        let code = u8::try_from(code)
            .map_err(|_| InvalidDescription::new(&at("type"), "must be 0 to 255"))?;
        let sequence_id = number("mvcc")?.unwrap_or_default();
        let flat_key = key::build(&row, &family, &qualifier, timestamp, code);
        Ok(CellRef::new(&flat_key, &value, &tags, sequence_id).to_cell())
    }

    /// Bytes in hexadecimal digits.
    ///
    /// # Errors
    /// If it is of another type.
    pub fn bytes(&self, pointer: &str) -> Parsed<Option<Vec<u8>>> {
        let wrong = || InvalidDescription::new(pointer, "must be pairs of hexadecimal digits");
        self.text(pointer)?.map(|text| unhex(text).ok_or_else(wrong)).transpose()
    }

    /// Names and contents of the meta blocks.
    ///
    /// # Errors
    /// If a content is not in hexadecimal digits.
    pub fn meta_blocks(&self) -> Parsed<Vec<(Vec<u8>, Vec<u8>)>> {
        self.pairs("/meta_blocks", |_| true)
    }

    /// File info that no writer sets by itself, such as that of bulk loads.
    ///
    /// # Errors
    /// If a value is neither hexadecimal digits nor a digest; digests are left out.
    pub fn foreign_file_info(&self) -> Parsed<Vec<(Vec<u8>, Vec<u8>)>> {
        self.pairs("/file_info", |(name, value)| {
            let is_digest = value.as_str().is_some_and(|value| value.starts_with("sha256:"));
            let is_own = OWN_FILE_INFO.contains(&name.as_bytes()) || name.starts_with("hfile.");
            !is_digest && !is_own
        })
    }

    fn pairs(
        &self,
        pointer: &str,
        is_wanted: impl Fn(&(&String, &Value)) -> bool,
    ) -> Parsed<Vec<(Vec<u8>, Vec<u8>)>> {
        let Some(object) = self.object(pointer)? else { return Ok(Vec::new()) };
        let pair = |(name, value): (&String, &Value)| {
            let wrong = || {
                let at = format!("{pointer}/{name}");
                InvalidDescription::new(&at, "must be pairs of hexadecimal digits")
            };
            let value = value.as_str().and_then(unhex).ok_or_else(wrong)?;
            Ok((name.clone().into_bytes(), value))
        };
        object.iter().filter(is_wanted).map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(text: &str) -> Description {
        Description::parse(text).unwrap()
    }

    #[test]
    fn what_is_not_told_is_as_the_writer_has_it() {
        let empty = description("{}");
        assert_eq!(empty.options(), Ok(HFileWriterOptions::default()));
        assert_eq!(empty.store_file_info(), Ok(StoreFileInfo::default()));
        assert_eq!((empty.cells(), empty.meta_blocks()), (Ok(None), Ok(vec![])));
    }

    #[test]
    fn errors_name_the_member() {
        let error = |text: &str| {
            let description = description(text);
            let options = description.options().map(|_| ());
            let cells = description.cells().map(|_| ());
            options.and(cells).and(description.meta_blocks().map(|_| ())).unwrap_err().to_string()
        };
        for (text, expected) in [
            (r#"{"settings": {"encoding": "ZIP"}}"#, "/settings/encoding: unknown name ZIP"),
            (r#"{"settings": {"block_size": "1"}}"#, "/settings/block_size: must be a number"),
            (r#"{"settings": {"include_mvcc": 1}}"#, "/settings/include_mvcc: must be true"),
            (r#"{"cells": 1}"#, "/cells: must be an array"),
            (r#"{"cells": [{"row": "0"}]}"#, "/cells/0/row: must be pairs"),
            (r#"{"cells": [{"row": "00"}]}"#, "/cells/0/family: is missing"),
            (r#"{"meta_blocks": {"a": "x"}}"#, "/meta_blocks/a: must be pairs"),
        ] {
            let found = error(text);
            assert!(found.starts_with(expected), "{found}");
        }
        assert!(Description::parse("[]").is_err() && Description::parse("{").is_err());
    }

    #[test]
    fn parts_that_no_key_holds_are_refused() {
        let long = "00".repeat(40_000);
        let cell = format!(
            r#"{{"cells": [{{"row": "{long}", "family": "66", "qualifier": "", "value": "",
               "ts": 1, "type": 4}}]}}"#
        );
        let error = description(&cell).cells().unwrap_err();
        assert_eq!(error.at, "/cells/0/row");
    }
}
