//! The cells of an entry, plain or compressed with dictionaries.
//!
//! ```text
//! plain        u32 length │ u32 key length │ u32 value length │ key │ value [│ u16 length │ tags]
//! compressed   varint key length │ varint value length │ varint tags length
//!              │ row │ family │ qualifier     each new or known, see `dictionary`
//!              │ i64 timestamp │ u8 type │ value │ tags
//!   tags       as they are, or tag*: type and value, each new or known
//! ```
//!
//! Source: HBase's `KeyValueCodecWithTags`, `WALCellCodec.CompressedKvDecoder`,
//! `TagCompressionContext`.

use hblite_model::cell::key;
use hblite_model::{CellRef, CellType};

use super::dictionary::{self, Dictionary};
use super::input::{Damage, Decoded, Input};
use super::{CLOSE_MARKER, ENTRY_SIZE_MAX, HBaseLogEntry, MARKER_FAMILY};

/// What is known from the previous cells.
#[derive(Debug)]
pub(super) struct CellDecoder {
    dictionaries: Option<Dictionaries>,
}

#[derive(Debug)]
struct Dictionaries {
    rows: Dictionary,
    families: Dictionary,
    qualifiers: Dictionary,
    tags: Option<Dictionary>,
}

impl CellDecoder {
    pub(super) fn plain() -> Self {
        Self { dictionaries: None }
    }

    pub(super) fn compressed(has_tag_compression: bool) -> Self {
        let dictionaries = Dictionaries {
            rows: Dictionary::new(dictionary::LARGE),
            families: Dictionary::new(dictionary::SMALL),
            qualifiers: Dictionary::new(dictionary::SMALL),
            tags: has_tag_compression.then(|| Dictionary::new(dictionary::LARGE)),
        };
        Self { dictionaries: Some(dictionaries) }
    }

    /// Appends the next cell to the entry, or records what it marks.
    pub(super) fn read(&mut self, input: &mut Input<'_>, entry: &mut HBaseLogEntry) -> Decoded<()> {
        match &mut self.dictionaries {
            None => read_plain(input, entry),
            Some(dictionaries) => dictionaries.read(input, entry),
        }
    }
}

fn read_plain(input: &mut Input<'_>, entry: &mut HBaseLogEntry) -> Decoded<()> {
    let length = input.u32()?;
    let mut cell = Input::new(input.take(length)?);
    // The end of the file cannot be inside a complete cell.
    let parts = |cell: &mut Input<'_>| {
        let (key_length, value_length) = (cell.u32().ok()?, cell.u32().ok()?);
        Some((key_length, value_length))
    };
    let malformed = Damage::Malformed("the lengths of a cell do not add up");
    let (key_length, value_length) = parts(&mut cell).ok_or(malformed)?;
    let key = cell.take(key_length).map_err(|_| malformed)?;
    let value = cell.take(value_length).map_err(|_| malformed)?;
    let tags = match cell.rest() {
        [] => &[][..],
        [high, low, tags @ ..] if u16::from_be_bytes([*high, *low]) as usize == tags.len() => tags,
        _ => return Err(malformed),
    };
    push(entry, key, value, tags)
}

fn push(entry: &mut HBaseLogEntry, key: &[u8], value: &[u8], tags: &[u8]) -> Decoded<()> {
    if !key::is_well_formed(key) {
        return Err("the key of a cell is malformed".into());
    }
    if CellType::from_code(key::type_code(key)).is_none() {
        return Err("a cell has no known type".into());
    }
    if key::family(key) == MARKER_FAMILY {
        entry.is_close |= key::qualifier(key) == CLOSE_MARKER;
        return Ok(());
    }
    if entry.cells.as_bytes().len() + key.len() + value.len() + tags.len() > ENTRY_SIZE_MAX {
        return Err("its cells are larger than 512 MiB".into());
    }
    entry.cells.push(&CellRef::new(key, value, tags, 0));
    Ok(())
}

impl Dictionaries {
    fn read(&mut self, input: &mut Input<'_>, entry: &mut HBaseLogEntry) -> Decoded<()> {
        let (key_length, value_length) = (input.varint()? as usize, input.varint()? as usize);
        let tags_length = input.varint()? as usize;
        let row = self.rows.read(input)?;
        let family = self.families.read(input)?;
        let qualifier = self.qualifiers.read(input)?;
        if row.len() > i16::MAX as usize || family.len() > i8::MAX as usize {
            return Err("a row or family is too long".into());
        }
        if key_length != key::encoded_length(row, family, qualifier) {
            return Err("a key does not have the announced length".into());
        }
        if tags_length > u16::MAX as usize {
            return Err("the tags of a cell are too long".into());
        }
        let timestamp = i64::from_be_bytes(input.array()?);
        let type_code = input.u8()?;
        let key = key::build(row, family, qualifier, timestamp, type_code);
        let value = input.take(value_length)?;
        match &mut self.tags {
            None => push(entry, &key, value, input.take(tags_length)?),
            Some(dictionary) => {
                let tags = read_tags(dictionary, input, tags_length)?;
                push(entry, &key, value, &tags)
            }
        }
    }
}

/// Reads tags of `length` uncompressed bytes.
fn read_tags(
    dictionary: &mut Dictionary,
    input: &mut Input<'_>,
    length: usize,
) -> Decoded<Vec<u8>> {
    let mut tags = Vec::new();
    while tags.len() < length {
        let tag = dictionary.read(input)?;
        let size = u16::try_from(tag.len()).map_err(|_| "a tag is too long")?;
        tags.extend_from_slice(&size.to_be_bytes());
        tags.extend_from_slice(tag);
    }
    match tags.len() == length {
        true => Ok(tags),
        false => Err("tags do not have the announced length".into()),
    }
}
