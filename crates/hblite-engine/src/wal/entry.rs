//! The records of a log: what is written, how, and how it is checked and decoded. The format is
//! drawn at the head of [`super`].
//!
//! Invariant: a record is valid only at its own place. Its checksum starts from the log file's salt
//! and the record's offset, so that neither a user's value with a copy of a log, nor stale bytes of
//! another file, can be mistaken for a record.
//!
//! Decoding borrows from its input and checks every length against it; it allocates nothing.

use std::ops::Range;

use hblite_model::cell::{KEY_VALUE_HEADER_SIZE, key};
use hblite_model::{CellBuffer, CellRef, Error, Nonce, Result};
use smallvec::SmallVec;

use super::log_file::LogPosition;

/// Bytes in front of each payload: its length and its checksum.
pub(super) const RECORD_HEADER_SIZE: usize = 4 + 4;
/// Maximum length of a payload in bytes: 1 GiB.
pub(super) const PAYLOAD_LENGTH_MAX: usize = 1 << 30;
/// Maximum length of a region's name in bytes.
pub(super) const REGION_NAME_LENGTH_MAX: usize = 64;

/// No store gets to a greater sequence id: there is room for those of all later writes.
const SEQUENCE_ID_MAX: u64 = 1 << 62;
const KIND_EDIT: u8 = 1;
const KIND_MARK: u8 = 2;
const KIND_EDIT_WITH_NONCE: u8 = 3;
/// Sequence id, write time and count of cells.
const EDIT_FIXED_SIZE: usize = 8 + 8 + 4;
const EDIT_LENGTH_MIN: usize = 1 + 1 + 1 + EDIT_FIXED_SIZE;
/// Group and number.
const NONCE_SIZE: usize = 8 + 8;
const MARK_LENGTH: usize = 1 + 8 + 8 + 8;
/// Bytes of the record of a mark.
pub(super) const MARK_SIZE: usize = RECORD_HEADER_SIZE + MARK_LENGTH;
const TAGS_LENGTH_SIZE: usize = 2;

const _: () = assert!(EDIT_LENGTH_MIN == 23 && MARK_LENGTH == 25);

/// The time and nonce of a write.
#[derive(Debug, Clone, Copy)]
pub struct EditOrigin {
    /// Milliseconds since 1970-01-01 UTC.
    pub write_time: i64,
    /// Identifies the write, so that a retry of it is recognized.
    pub nonce: Option<Nonce>,
}

/// The cells of one atomic write (`WALEdit`), until they are in the log and in memory. It borrows
/// values from the write, and owns keys, whose timestamps the store gives.
#[derive(Debug, Default)]
pub struct WalEdit<'v> {
    /// The keys, each followed by what the cell does not borrow: its tags, perhaps its value.
    bytes: SmallVec<[u8; 64]>,
    cells: SmallVec<[EditCell<'v>; 1]>,
}

#[derive(Debug)]
struct EditCell<'v> {
    /// Where the key begins.
    start: usize,
    key_length: usize,
    tags_length: u16,
    value: EditValue<'v>,
}

#[derive(Debug)]
enum EditValue<'v> {
    Borrowed(&'v [u8]),
    /// After the tags, this long.
    Owned(usize),
}

impl<'v> WalEdit<'v> {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Appends a cell without its value, which the edit borrows; its tags are replaced by `tags`.
    ///
    /// # Panics
    /// If the tags are longer than 65,535 bytes, which their length field cannot hold.
    #[inline]
    pub fn push_borrowed(&mut self, cell: &CellRef<'v>, tags: &[u8]) {
        self.push_key(cell.key(), tags, EditValue::Borrowed(cell.value()));
    }

    /// Appends a copy of a cell.
    ///
    /// # Panics
    /// As [`WalEdit::push_borrowed`].
    pub fn push(&mut self, cell: &CellRef<'_>) {
        self.push_key(cell.key(), cell.tags(), EditValue::Owned(cell.value().len()));
        self.bytes.extend_from_slice(cell.value());
    }

    #[inline]
    fn push_key(&mut self, key: &[u8], tags: &[u8], value: EditValue<'v>) {
        let (start, key_length) = (self.bytes.len(), key.len());
        let tags_length = u16::try_from(tags.len()).expect("tags of a cell are under 64 KiB");
        self.bytes.extend_from_slice(key);
        if !tags.is_empty() {
            self.bytes.extend_from_slice(tags);
        }
        self.cells.push(EditCell { start, key_length, tags_length, value });
    }

    #[inline]
    fn resolve<'e>(&'e self, cell: &'e EditCell<'v>) -> CellRef<'e> {
        let (key, rest) = self.bytes[cell.start..].split_at(cell.key_length);
        let (tags, rest) = rest.split_at(usize::from(cell.tags_length));
        let value = match cell.value {
            EditValue::Borrowed(value) => value,
            EditValue::Owned(length) => &rest[..length],
        };
        CellRef::new(key, value, tags, 0)
    }

    /// The cell at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<CellRef<'_>> {
        self.cells.get(index).map(|cell| self.resolve(cell))
    }

    /// The cells in the order in which they were pushed.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = CellRef<'_>> + Clone {
        self.cells.iter().map(|cell| self.resolve(cell))
    }

    /// The keys of some of the cells.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn keys(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        self.cells[range].iter().map(|cell| &self.bytes[cell.start..cell.start + cell.key_length])
    }

    /// Replaces the timestamp of the cell at `index`, if it exists.
    pub fn set_timestamp(&mut self, index: usize, timestamp: i64) {
        if let Some(EditCell { start, key_length, .. }) = self.cells.get(index) {
            key::set_timestamp(&mut self.bytes[*start..*start + *key_length], timestamp);
        }
    }

    /// Removes the cells at these indexes, which ascend.
    pub fn remove(&mut self, indexes: &[usize]) {
        let mut index = 0;
        self.cells.retain(|_| {
            index += 1;
            indexes.binary_search(&(index - 1)).is_err()
        });
    }

    /// Bytes in the log.
    fn logged_size(&self) -> usize {
        let size =
            |cell: CellRef<'_>| cell.serialized_size() + TAGS_LENGTH_SIZE + cell.tags().len();
        self.iter().map(size).sum()
    }
}

/// The cells of a buffer, of which it borrows the values.
impl<'v> From<&'v CellBuffer> for WalEdit<'v> {
    fn from(cells: &'v CellBuffer) -> Self {
        let mut edit = Self::default();
        cells.iter().for_each(|cell| edit.push_borrowed(&cell, cell.tags()));
        edit
    }
}

/// What the log knows about itself at some point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// All of the log before this survives a power cut.
    pub(super) synced: LogPosition,
    /// The oldest log file that is still needed; older ones may be missing, or reappear.
    pub(super) oldest_live: u64,
}

/// One decoded write (`WALKeyImpl` and `WALEdit`), borrowed from the log's bytes.
#[derive(Debug, Clone, Copy)]
pub struct WalEntry<'a> {
    /// The encoded name of the region.
    pub region: &'a str,
    /// The position of the write in the order of its region.
    pub sequence_id: u64,
    /// The time of the write, in milliseconds since 1970-01-01 UTC.
    pub write_time: i64,
    /// Identifies the write, so that a retry of it is recognized.
    pub nonce: Option<Nonce>,
    /// The number of its log file.
    pub log_file: u64,
    /// The offset of its record there.
    pub offset: u64,
    cell_count: u32,
    cells: &'a [u8],
}

impl<'a> WalEntry<'a> {
    /// An entry that is in no log file.
    pub(super) fn of_cells(
        region: &'a str,
        sequence_id: u64,
        write_time: i64,
        cells: &'a CellBuffer,
    ) -> Self {
        let (cell_count, cells) = (cells.len() as u32, cells.as_bytes());
        Self {
            region,
            sequence_id,
            write_time,
            nonce: None,
            log_file: 0,
            offset: 0,
            cell_count,
            cells,
        }
    }

    /// Number of cells.
    pub fn cell_count(&self) -> usize {
        self.cell_count as usize
    }

    /// The cells, each with the entry's sequence id.
    pub fn cells(&self) -> WalCells<'a> {
        WalCells { rest: self.cells, sequence_id: self.sequence_id }
    }
}

/// Iterates over the cells of a [`WalEntry`].
#[derive(Debug, Clone)]
pub struct WalCells<'a> {
    rest: &'a [u8],
    sequence_id: u64,
}

impl<'a> Iterator for WalCells<'a> {
    type Item = CellRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<CellRef<'a>> {
        let (parts, rest) = split_cell(self.rest)?;
        self.rest = rest;
        Some(CellRef::new(parts.key, parts.value, parts.tags, self.sequence_id))
    }
}

struct CellParts<'a> {
    key: &'a [u8],
    value: &'a [u8],
    tags: &'a [u8],
}

/// The first cell of `bytes` and what follows it, if its lengths fit.
#[inline]
fn split_cell(bytes: &[u8]) -> Option<(CellParts<'_>, &[u8])> {
    let (lengths, rest) = bytes.split_first_chunk::<KEY_VALUE_HEADER_SIZE>()?;
    let [a, b, c, d, e, f, g, h] = *lengths;
    let (key, rest) = rest.split_at_checked(u32::from_be_bytes([a, b, c, d]) as usize)?;
    let (value, rest) = rest.split_at_checked(u32::from_be_bytes([e, f, g, h]) as usize)?;
    let (tags_length, rest) = rest.split_first_chunk::<TAGS_LENGTH_SIZE>()?;
    let (tags, rest) = rest.split_at_checked(u16::from_be_bytes(*tags_length) as usize)?;
    key::is_well_formed(key).then_some((CellParts { key, value, tags }, rest))
}

/// What was decoded; the error says what is malformed.
type Decoded<T> = std::result::Result<T, &'static str>;

/// A decoded payload.
#[derive(Debug)]
pub(super) enum Payload<'a> {
    Edit(WalEntry<'a>),
    Mark(Mark),
}

/// Where a record goes: what its checksum starts from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) salt: u32,
    /// Offset of the record in its log file.
    pub(super) offset: u64,
}

impl Place {
    fn checksum(self, payload: &[u8]) -> u32 {
        let start = self.salt ^ (self.offset as u32) ^ (payload.len() as u32).rotate_left(16);
        let mut hasher = crc32fast::Hasher::new_with_initial(start);
        hasher.update(payload);
        hasher.finalize()
    }
}

/// Bytes of the record of an edit.
///
/// # Errors
/// `IllegalArgument` if the cells are larger than 1 GiB.
#[inline]
pub(super) fn record_size(region: &str, origin: EditOrigin, edit: &WalEdit<'_>) -> Result<usize> {
    assert!(region.len() <= REGION_NAME_LENGTH_MAX, "a name that the log has accepted");
    let nonce_size = if origin.nonce.is_some() { NONCE_SIZE } else { 0 };
    let length = 2 + region.len() + EDIT_FIXED_SIZE + nonce_size + edit.logged_size();
    if length > PAYLOAD_LENGTH_MAX {
        return Err(Error::illegal_argument("a write to the log is larger than 1 GiB"));
    }
    Ok(RECORD_HEADER_SIZE + length)
}

/// Writes the record of an edit to `out`, which has its size; `place` is its position.
pub(super) fn write_edit(
    out: &mut [u8],
    place: Place,
    region: &str,
    sequence_id: u64,
    origin: EditOrigin,
    edit: &WalEdit<'_>,
) {
    write_record(out, place, |out| {
        let kind = if origin.nonce.is_some() { KIND_EDIT_WITH_NONCE } else { KIND_EDIT };
        out.put(&[kind, region.len() as u8]);
        out.put(region.as_bytes());
        out.put(&sequence_id.to_be_bytes());
        out.put(&origin.write_time.to_be_bytes());
        if let Some(Nonce { group, number }) = origin.nonce {
            out.put(&group.to_be_bytes());
            out.put(&number.to_be_bytes());
        }
        out.put(&(edit.len() as u32).to_be_bytes());
        for cell in edit.iter() {
            out.put(&(cell.key().len() as u32).to_be_bytes());
            out.put(&(cell.value().len() as u32).to_be_bytes());
            out.put(cell.key());
            out.put(cell.value());
            out.put(&(cell.tags().len() as u16).to_be_bytes());
            out.put(cell.tags());
        }
    });
}

/// Writes a record with the payload of a record from another position.
pub(super) fn write_payload(out: &mut [u8], place: Place, payload: &[u8]) {
    write_record(out, place, |out| out.put(payload));
}

/// Writes the record of a mark to `out`, which has its size.
pub(super) fn write_mark(out: &mut [u8], place: Place, mark: Mark) {
    write_record(out, place, |out| {
        out.put(&[KIND_MARK]);
        out.put(&mark.synced.log_file.to_be_bytes());
        out.put(&mark.synced.offset.to_be_bytes());
        out.put(&mark.oldest_live.to_be_bytes());
    });
}

/// The part of a record that is not written yet.
struct Rest<'o>(&'o mut [u8]);

impl Rest<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let (place, rest) = std::mem::take(&mut self.0).split_at_mut(bytes.len());
        place.copy_from_slice(bytes);
        self.0 = rest;
    }
}

#[inline]
fn write_record(out: &mut [u8], place: Place, write_payload: impl FnOnce(&mut Rest<'_>)) {
    let (header, payload) = out.split_at_mut(RECORD_HEADER_SIZE);
    let mut rest = Rest(payload);
    write_payload(&mut rest);
    assert!(rest.0.is_empty(), "a record has the size that was announced");
    let checksum = place.checksum(payload);
    header[..4].copy_from_slice(&(payload.len() as u32).to_be_bytes());
    header[4..].copy_from_slice(&checksum.to_be_bytes());
}

/// A payload whose length and first bytes could be those of a record; the checksum is not checked,
/// so this is cheap.
pub(super) fn plausible_payload(bytes: &[u8]) -> Option<&[u8]> {
    let (header, rest) = bytes.split_first_chunk::<RECORD_HEADER_SIZE>()?;
    let length = u32::from_be_bytes([header[0], header[1], header[2], header[3]]) as usize;
    let (payload, _) = rest.split_at_checked(length)?;
    let plausible = match *payload {
        [kind @ (KIND_EDIT | KIND_EDIT_WITH_NONCE), region_length, ..] => {
            let region_length = region_length as usize;
            let nonce_size = if kind == KIND_EDIT_WITH_NONCE { NONCE_SIZE } else { 0 };
            (1..=REGION_NAME_LENGTH_MAX).contains(&region_length)
                && length >= EDIT_LENGTH_MIN - 1 + region_length + nonce_size
                && length <= PAYLOAD_LENGTH_MAX
        }
        [KIND_MARK, ..] => length == MARK_LENGTH,
        _ => false,
    };
    plausible.then_some(payload)
}

/// Whether these are the first bytes of a record, but not all of it.
pub(super) fn is_start_of_record(bytes: &[u8]) -> bool {
    let Some((header, payload)) = bytes.split_first_chunk::<RECORD_HEADER_SIZE>() else {
        return true;
    };
    let length = u32::from_be_bytes([header[0], header[1], header[2], header[3]]) as usize;
    let has_name = |name: &[u8]| name.iter().all(u8::is_ascii_alphanumeric);
    payload.len() < length
        && match *payload {
            [] => (EDIT_LENGTH_MIN..=PAYLOAD_LENGTH_MAX).contains(&length),
            [KIND_MARK, ..] => length == MARK_LENGTH,
            [KIND_EDIT | KIND_EDIT_WITH_NONCE] => length <= PAYLOAD_LENGTH_MAX,
            [KIND_EDIT | KIND_EDIT_WITH_NONCE, region_length, ref rest @ ..] => {
                let region_length = region_length as usize;
                (1..=REGION_NAME_LENGTH_MAX).contains(&region_length)
                    && (EDIT_LENGTH_MIN - 1 + region_length..=PAYLOAD_LENGTH_MAX).contains(&length)
                    && has_name(&rest[..rest.len().min(region_length)])
            }
            _ => false,
        }
}

/// The payload of the record at the beginning of `bytes`, at `place`, if there is a valid one.
pub(super) fn valid_payload(bytes: &[u8], place: Place) -> Option<&[u8]> {
    let payload = plausible_payload(bytes)?;
    let stored = u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    (place.checksum(payload) == stored).then_some(payload)
}

/// Decodes a payload at `position` whose checksum was correct.
pub(super) fn decode(position: LogPosition, payload: &[u8]) -> Decoded<Payload<'_>> {
    match payload.split_first() {
        Some((&KIND_EDIT, rest)) => decode_edit(position, false, rest).map(Payload::Edit),
        Some((&KIND_EDIT_WITH_NONCE, rest)) => decode_edit(position, true, rest).map(Payload::Edit),
        Some((&KIND_MARK, rest)) => {
            decode_mark(rest).map(Payload::Mark).ok_or("malformed mark record")
        }
        _ => Err("unknown kind of record"),
    }
}

fn decode_edit(position: LogPosition, has_nonce: bool, bytes: &[u8]) -> Decoded<WalEntry<'_>> {
    const TOO_SHORT: &str = "record is too short for its fields";
    let (&region_length, rest) = bytes.split_first().ok_or(TOO_SHORT)?;
    let (region, rest) = rest.split_at_checked(region_length as usize).ok_or(TOO_SHORT)?;
    let region = std::str::from_utf8(region).map_err(|_| "malformed name of a region")?;
    let (sequence_id, rest) = rest.split_first_chunk().ok_or(TOO_SHORT)?;
    let (write_time, rest) = rest.split_first_chunk().ok_or(TOO_SHORT)?;
    let (nonce, rest) = match has_nonce {
        true => decode_nonce(rest).map(|(nonce, rest)| (Some(nonce), rest)).ok_or(TOO_SHORT)?,
        false => (None, rest),
    };
    let (cell_count, cells) = rest.split_first_chunk().ok_or(TOO_SHORT)?;
    let cell_count = u32::from_be_bytes(*cell_count);
    let (mut counted, mut rest) = (0, cells);
    while !rest.is_empty() && counted < cell_count {
        (_, rest) = split_cell(rest).ok_or("malformed cell")?;
        counted += 1;
    }
    if counted != cell_count || !rest.is_empty() {
        return Err("count of cells does not fit");
    }
    let (sequence_id, write_time) =
        (u64::from_be_bytes(*sequence_id), i64::from_be_bytes(*write_time));
    if sequence_id > SEQUENCE_ID_MAX {
        return Err("the sequence id is too large");
    }
    let LogPosition { log_file, offset } = position;
    Ok(WalEntry { region, sequence_id, write_time, nonce, log_file, offset, cell_count, cells })
}

fn decode_nonce(bytes: &[u8]) -> Option<(Nonce, &[u8])> {
    let (group, rest) = bytes.split_first_chunk()?;
    let (number, rest) = rest.split_first_chunk()?;
    let nonce = Nonce { group: u64::from_be_bytes(*group), number: u64::from_be_bytes(*number) };
    Some((nonce, rest))
}

fn decode_mark(bytes: &[u8]) -> Option<Mark> {
    let (log_file, rest) = bytes.split_first_chunk()?;
    let (offset, rest) = rest.split_first_chunk()?;
    let (oldest_live, rest) = rest.split_first_chunk()?;
    let synced = LogPosition {
        log_file: u64::from_be_bytes(*log_file),
        offset: u64::from_be_bytes(*offset),
    };
    rest.is_empty().then_some(Mark { synced, oldest_live: u64::from_be_bytes(*oldest_live) })
}
