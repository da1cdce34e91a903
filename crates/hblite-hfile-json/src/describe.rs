//! Describes a file.
//!
//! Cells are written one by one, so the file need not fit into memory. The file is read twice,
//! because the digest precedes the cells.

use std::io::{self, Write};
use std::sync::Arc;

use hblite_hfile::{BlockHeader, BlockUse, HFileReader, HFileScanner, file_info};
use hblite_model::{CellComparator, CellRef, Result};
use serde_json::{Map, Value, json};

use crate::digest::{digest, sha256};
use crate::hex;

/// Longer values of the file info are replaced by their digest.
const FILE_INFO_VALUE_MAX: usize = 400;
/// The maximum number of blocks listed.
const BLOCKS_MAX: usize = 80;

/// Writes the description of a file, including all its cells, under `name`.
///
/// # Errors
/// Those of `out`; damage in the file is reported as [`io::ErrorKind::InvalidData`].
pub fn write_description(
    out: &mut dyn Write,
    name: &str,
    reader: &Arc<HFileReader>,
) -> io::Result<()> {
    let mid_key = reader.mid_key().map_err(damaged)?;
    let key = |key: Option<&[u8]>| key.map_or(Value::Null, |key| json!(hex(key)));
    writeln!(out, "{{")?;
    writeln!(out, "  \"format\": 1,")?;
    member(out, "name", &json!(name))?;
    member(out, "settings", &settings(reader).map_err(damaged)?)?;
    member(out, "cell_count", &json!(reader.entries()))?;
    member(out, "first_key", &key(reader.first_key()))?;
    member(out, "last_key", &key(reader.last_key()))?;
    member(out, "mid_key", &key(mid_key.as_deref()))?;
    member(out, "digest", &json!(digest(reader).map_err(damaged)?))?;
    write_cells(out, reader)?;
    let meta_blocks = meta_blocks(reader).map_err(damaged)?;
    if !meta_blocks.is_empty() {
        member(out, "meta_blocks", &Value::Object(meta_blocks))?;
    }
    member(out, "file_info", &Value::Object(described_file_info(reader)))?;
    let trailer = trailer_numbers(reader).map(|(name, number)| (name.to_owned(), json!(number)));
    member(out, "trailer", &Value::Object(Map::from_iter(trailer)))?;
    write_blocks(out, reader)?;
    writeln!(out, "}}")
}

fn damaged(error: hblite_model::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.message().to_owned())
}

/// A member followed by another one; members of an object are on lines of their own.
fn member(out: &mut dyn Write, name: &str, value: &Value) -> io::Result<()> {
    let Value::Object(members) = value else {
        return writeln!(out, "  {}: {value},", json!(name));
    };
    writeln!(out, "  {}: {{", json!(name))?;
    for (index, (name, value)) in members.iter().enumerate() {
        let comma = if index + 1 < members.len() { "," } else { "" };
        writeln!(out, "    {}: {value}{comma}", json!(name))?;
    }
    writeln!(out, "  }},")
}

/// The settings that can be read from a file.
fn settings(reader: &Arc<HFileReader>) -> Result<Value> {
    let (has_tags, has_mvcc) = reader.has_tags_and_mvcc();
    let is_true = |key| file_info::is_true(reader.file_info(key));
    let header = reader.block_headers().next().transpose()?.map(|(_, header)| header);
    let meta = reader.bloom_meta().or_else(|| reader.delete_family_bloom_meta());
    let mut scanner = HFileScanner::new(reader.clone()).with_block_use(BlockUse::Pass);
    scanner.seek_first()?;
    let family = scanner.current().map(|cell| cell.family().to_vec());
    let mut settings = json!({
        "encoding": reader.encoding().name(),
        "compression": reader.compression().name(),
        "bloom": reader.bloom_type().name(),
        "bloom_param": reader.bloom_prefix_length(),
        "include_mvcc": has_mvcc,
        "include_tags": has_tags,
        "compress_tags": is_true(file_info::TAGS_COMPRESSED),
        "comparator": match reader.comparator() {
            CellComparator::Default => "default",
            CellComparator::Meta => "meta",
        },
        "create_time": reader.create_time().unwrap_or_default(),
        "max_seq_id": reader.max_sequence_id(),
        "major_compaction": is_true(file_info::MAJOR_COMPACTION),
    });
    if let Some(header) = header {
        settings["checksum"] = json!(header.checksum_type.name());
        settings["bytes_per_checksum"] = json!(header.bytes_per_checksum);
    }
    if let Some(meta) = meta {
        settings["hash"] = json!(meta.hash.name());
    }
    if let Some(family) = family.and_then(|family| String::from_utf8(family).ok()) {
        settings["family"] = json!(family);
    }
    Ok(settings)
}

fn write_cells(out: &mut dyn Write, reader: &Arc<HFileReader>) -> io::Result<()> {
    write!(out, "  \"cells\": [")?;
    let mut scanner = HFileScanner::new(reader.clone()).with_block_use(BlockUse::Pass);
    let mut more = scanner.seek_first().map_err(damaged)?;
    let mut separator = "\n";
    while more {
        let Some(cell) = scanner.current() else { break };
        write!(out, "{separator}    ")?;
        write_cell(out, &cell)?;
        separator = ",\n";
        more = scanner.next().map_err(damaged)?;
    }
    writeln!(out, "\n  ],")
}

fn write_cell(out: &mut dyn Write, cell: &CellRef<'_>) -> io::Result<()> {
    write!(
        out,
        "{{\"row\": \"{}\", \"family\": \"{}\", \"qualifier\": \"{}\", \"ts\": {}, \"type\": {}, \
         \"value\": \"{}\", \"tags\": \"{}\", \"mvcc\": {}}}",
        hex(cell.row()),
        hex(cell.family()),
        hex(cell.qualifier()),
        cell.timestamp(),
        cell.type_code(),
        hex(cell.value()),
        hex(cell.tags()),
        cell.sequence_id() as i64
    )
}

fn meta_blocks(reader: &HFileReader) -> Result<Map<String, Value>> {
    let mut blocks = Map::new();
    for name in reader.meta_block_names()? {
        let content = reader.meta_block(&name)?.unwrap_or_default();
        blocks.insert(String::from_utf8_lossy(&name).into_owned(), json!(hex(&content)));
    }
    Ok(blocks)
}

fn described_file_info(reader: &HFileReader) -> Map<String, Value> {
    let pair = |(name, value): (&[u8], &[u8])| {
        let value = if value.len() > FILE_INFO_VALUE_MAX {
            format!("sha256:{}:{}", sha256(value), value.len())
        } else {
            hex(value)
        };
        (String::from_utf8_lossy(name).into_owned(), json!(value))
    };
    reader.file_info_map().iter().map(pair).collect()
}

/// Names and numbers of the trailer.
pub(crate) fn trailer_numbers(reader: &HFileReader) -> impl Iterator<Item = (&'static str, i64)> {
    let trailer = reader.trailer();
    [
        ("major", 3),
        ("minor", i64::from(trailer.minor_version)),
        ("file_info_offset", trailer.file_info_offset as i64),
        ("load_on_open_data_offset", trailer.load_on_open_data_offset as i64),
        ("uncompressed_data_index_size", trailer.uncompressed_data_index_size as i64),
        ("total_uncompressed_bytes", trailer.total_uncompressed_bytes as i64),
        ("data_index_count", i64::from(trailer.data_index_count)),
        ("meta_index_count", i64::from(trailer.meta_index_count)),
        ("entry_count", trailer.entry_count as i64),
        ("num_data_index_levels", i64::from(trailer.num_data_index_levels)),
        ("first_data_block_offset", trailer.first_data_block_offset),
        ("last_data_block_offset", trailer.last_data_block_offset),
        ("compression_codec", trailer.compression_codec() as i64),
    ]
    .into_iter()
}

/// A block in the form used in descriptions.
pub(crate) fn block(offset: u64, header: &BlockHeader) -> Value {
    json!([
        offset,
        String::from_utf8_lossy(header.block_type.magic()),
        header.size_without_header(),
        header.uncompressed_size,
        header.previous_offset,
    ])
}

fn write_blocks(out: &mut dyn Write, reader: &HFileReader) -> io::Result<()> {
    let mut listed = Vec::new();
    let mut count = 0;
    for item in reader.block_headers() {
        let (offset, header) = item.map_err(damaged)?;
        if count < BLOCKS_MAX {
            listed.push(block(offset, &header).to_string());
        }
        count += 1;
    }
    writeln!(out, "  \"block_count\": {count},")?;
    writeln!(out, "  \"blocks\": [\n    {}\n  ]", listed.join(",\n    "))
}
