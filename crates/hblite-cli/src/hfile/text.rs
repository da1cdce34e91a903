//! Keys, cells and values of the file info as HBase's printer shows them.

use std::fmt::Write as _;

use hblite_hfile::file_info;
use hblite_model::bytes::to_string_binary;
use hblite_model::cell::{TagIter, key};
use hblite_model::{CellRef, CellType};

/// `row/family:qualifier/timestamp/type`.
pub(super) fn key_text(flat_key: &[u8]) -> String {
    if !key::is_well_formed(flat_key) {
        return to_string_binary(flat_key);
    }
    let row = to_string_binary(key::row(flat_key));
    let family = to_string_binary(key::family(flat_key));
    let separator = if family.is_empty() { "" } else { ":" };
    let qualifier = to_string_binary(key::qualifier(flat_key));
    let timestamp = match key::timestamp(flat_key) {
        i64::MAX => "LATEST_TIMESTAMP".to_owned(),
        i64::MIN => "OLDEST_TIMESTAMP".to_owned(),
        timestamp => timestamp.to_string(),
    };
    let cell_type = match key::type_code(flat_key) {
        CellType::MINIMUM => "Minimum".to_owned(),
        CellType::MAXIMUM => "Maximum".to_owned(),
        code => CellType::from_code(code).map_or(code.to_string(), |known| known.to_string()),
    };
    format!("{row}/{family}{separator}{qualifier}/{timestamp}/{cell_type}")
}

/// A key where a cell is expected.
pub(super) fn optional_key(flat_key: Option<&[u8]>) -> String {
    match flat_key {
        Some(flat_key) => format!("Optional[{}/seqid=0]", key_text(flat_key)),
        None => "Optional.empty".to_owned(),
    }
}

/// A key of the index.
pub(super) fn index_key(flat_key: &[u8]) -> String {
    format!("{}/vlen=0/mvcc=0", key_text(flat_key))
}

/// A cell without its value.
pub(super) fn cell_text(cell: &CellRef<'_>) -> String {
    let length = cell.value().len();
    format!("{}/vlen={length}/seqid={}", key_text(cell.key()), cell.sequence_id() as i64)
}

/// Value and tags of a cell.
pub(super) fn value_text(cell: &CellRef<'_>) -> String {
    let mut text = to_string_binary(cell.value());
    for (index, tag) in TagIter::new(cell.tags()).enumerate() {
        let value = to_string_binary(tag.value);
        let _ = write!(text, " T[{index}]: [Tag type : {}, value : {value}]", tag.tag_type.0);
    }
    text
}

/// A value of the file info: a number, a bool, a key, a range or bytes.
pub(super) fn file_info_value(name: &[u8], value: &[u8]) -> String {
    const NUMBERS: [&[u8]; 10] = [
        file_info::AVG_KEY_LENGTH,
        file_info::AVG_VALUE_LENGTH,
        file_info::CREATE_TIME,
        file_info::MAX_TAGS_LENGTH,
        file_info::KEY_VALUE_VERSION,
        file_info::MAX_MEMSTORE_TS,
        file_info::MAX_SEQUENCE_ID,
        file_info::EARLIEST_PUT,
        file_info::DELETE_FAMILY_COUNT,
        file_info::DELETE_MARKERS,
    ];
    const BOOLS: [&[u8]; 4] = [
        file_info::MAJOR_COMPACTION,
        file_info::TAGS_COMPRESSED,
        file_info::HISTORICAL,
        file_info::EXCLUDE_FROM_MINOR_COMPACTION,
    ];
    let number = |bytes: &[u8]| match *bytes {
        [a, b, c, d] => Some(i64::from(i32::from_be_bytes([a, b, c, d]))),
        _ => bytes.try_into().ok().map(i64::from_be_bytes),
    };
    if let (file_info::LARGEST_ROW, Some((bytes, row))) = (name, value.split_first_chunk()) {
        return format!("{} bytes, {}", u64::from_be_bytes(*bytes), to_string_binary(row));
    }
    let known = match value {
        [byte] if BOOLS.contains(&name) => Some((*byte != 0).to_string()),
        _ if NUMBERS.contains(&name) => number(value).map(|number| number.to_string()),
        _ if name == file_info::LAST_KEY => Some(index_key(value)),
        _ if name == file_info::TIME_RANGE && value.len() == 16 => {
            let (min, max) = value.split_at(8);
            number(min).zip(number(max)).map(|(min, max)| format!("{min}....{max}"))
        }
        _ => None,
    };
    known.unwrap_or_else(|| to_string_binary(value))
}
