//! The records of a log: written, checked and decoded. The format is drawn at the head of
//! [`super`].
//!
//! Invariant: a record is valid only at its own place. Its checksum starts from the segment's salt
//! and the record's offset, so that neither a user's value with a copy of a log, nor stale bytes of
//! another file, can be mistaken for a record.
//!
//! Decoding borrows from its input and checks every length against it; it allocates nothing.

use hblite_model::cell::{KEY_VALUE_HEADER_SIZE, key};
use hblite_model::{CellBuffer, CellRef, Error, Nonce, Result};

use super::segment::LogPosition;

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
const EDIT_OVERHEAD_MAX: usize = 1 + 1 + REGION_NAME_LENGTH_MAX + EDIT_FIXED_SIZE + NONCE_SIZE;
const MARK_LENGTH: usize = 1 + 8 + 8 + 8;
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

/// What the log knows about itself at some point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// All of the log before this survives a power cut.
    pub(super) synced: LogPosition,
    /// The oldest segment that is still needed; older ones may be missing, or reappear.
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
    /// The number of its segment.
    pub segment: u64,
    /// The offset of its record there.
    pub offset: u64,
    cell_count: u32,
    cells: &'a [u8],
}

impl<'a> WalEntry<'a> {
    /// An entry that is in no segment.
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
            segment: 0,
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
    /// Offset of the record in its segment.
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

/// Refuses what does not fit into a record.
///
/// # Errors
/// `IllegalArgument` if the cells are larger than 1 GiB.
#[inline]
pub(super) fn check_edit(edit: &CellBuffer) -> Result<()> {
    if edit.as_bytes().len() > PAYLOAD_LENGTH_MAX - EDIT_OVERHEAD_MAX {
        return Err(Error::illegal_argument("a write to the log is larger than 1 GiB"));
    }
    Ok(())
}

/// Appends the record of a checked edit to `out`; `place` is its position.
pub(super) fn write_edit(
    out: &mut Vec<u8>,
    place: Place,
    region: &str,
    sequence_id: u64,
    origin: EditOrigin,
    edit: &CellBuffer,
) {
    let nonce_size = if origin.nonce.is_some() { NONCE_SIZE } else { 0 };
    let length = 2 + region.len() + EDIT_FIXED_SIZE + nonce_size + edit.as_bytes().len();
    assert!(region.len() <= REGION_NAME_LENGTH_MAX && length <= PAYLOAD_LENGTH_MAX);
    out.reserve(RECORD_HEADER_SIZE + length);
    write_record(out, place, |out| {
        let kind = if origin.nonce.is_some() { KIND_EDIT_WITH_NONCE } else { KIND_EDIT };
        out.extend_from_slice(&[kind, region.len() as u8]);
        out.extend_from_slice(region.as_bytes());
        out.extend_from_slice(&sequence_id.to_be_bytes());
        out.extend_from_slice(&origin.write_time.to_be_bytes());
        if let Some(Nonce { group, number }) = origin.nonce {
            out.extend_from_slice(&group.to_be_bytes());
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(&(edit.len() as u32).to_be_bytes());
        out.extend_from_slice(edit.as_bytes());
    });
}

/// Appends a record with the payload of a record from another position.
pub(super) fn write_payload(out: &mut Vec<u8>, place: Place, payload: &[u8]) {
    write_record(out, place, |out| out.extend_from_slice(payload));
}

/// Appends the record of a mark to `out`.
pub(super) fn write_mark(out: &mut Vec<u8>, place: Place, mark: Mark) {
    write_record(out, place, |out| {
        out.push(KIND_MARK);
        out.extend_from_slice(&mark.synced.segment.to_be_bytes());
        out.extend_from_slice(&mark.synced.offset.to_be_bytes());
        out.extend_from_slice(&mark.oldest_live.to_be_bytes());
    });
}

#[inline]
fn write_record(out: &mut Vec<u8>, place: Place, write_payload: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; RECORD_HEADER_SIZE]);
    write_payload(out);
    let payload = start + RECORD_HEADER_SIZE;
    let length = (out.len() - payload) as u32;
    let checksum = place.checksum(&out[payload..]);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    out[start + 4..payload].copy_from_slice(&checksum.to_be_bytes());
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
    let LogPosition { segment, offset } = position;
    Ok(WalEntry { region, sequence_id, write_time, nonce, segment, offset, cell_count, cells })
}

fn decode_nonce(bytes: &[u8]) -> Option<(Nonce, &[u8])> {
    let (group, rest) = bytes.split_first_chunk()?;
    let (number, rest) = rest.split_first_chunk()?;
    let nonce = Nonce { group: u64::from_be_bytes(*group), number: u64::from_be_bytes(*number) };
    Some((nonce, rest))
}

fn decode_mark(bytes: &[u8]) -> Option<Mark> {
    let (segment, rest) = bytes.split_first_chunk()?;
    let (offset, rest) = rest.split_first_chunk()?;
    let (oldest_live, rest) = rest.split_first_chunk()?;
    let synced =
        LogPosition { segment: u64::from_be_bytes(*segment), offset: u64::from_be_bytes(*offset) };
    rest.is_empty().then_some(Mark { synced, oldest_live: u64::from_be_bytes(*oldest_live) })
}
