//! Cells as in a block without encoding, and their offsets.
//!
//! ```text
//! i32 key length | i32 value length | flat key | value | [u16 tags length | tags] | [vlong mvcc]
//! ```
//!
//! Every data block is converted to this form when it is read, so that the same code searches and
//! iterates over all of them. [`CellOffsets::of`] checks each length once; after that,
//! [`CellLayout::cell`] cannot fail.

use hblite_model::CellRef;
use hblite_model::cell::{KEY_VALUE_HEADER_SIZE, key};

use crate::error::{Damage, Parsed, reserve, reserve_exact};
use crate::input::{vlong_at, vlong_size, vlong_size_of_first, write_vlong};

/// Bytes of the length field before the tags.
const TAGS_LENGTH_SIZE: usize = 2;

/// The largest block for which two-byte offsets are tried. In larger blocks the last cell most
/// likely begins beyond 64 KiB.
const SHORT_TRIED_MAX: usize = 2 << 16;

/// Which optional parts the cells of a file have. All cells have the same parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellLayout {
    pub(crate) has_tags: bool,
    pub(crate) has_mvcc: bool,
}

impl CellLayout {
    /// Bytes of `cell` in this layout.
    #[inline]
    pub(crate) fn size(self, cell: &CellRef<'_>) -> usize {
        let mut size = cell.serialized_size();
        if self.has_tags {
            size += TAGS_LENGTH_SIZE + cell.tags().len();
        }
        if self.has_mvcc {
            size += vlong_size(cell.sequence_id() as i64);
        }
        size
    }

    /// Appends `cell`, whose lengths the caller has checked.
    #[inline]
    pub(crate) fn append(self, out: &mut Vec<u8>, cell: &CellRef<'_>) {
        let (key, value) = (cell.key(), cell.value());
        out.reserve(KEY_VALUE_HEADER_SIZE + key.len() + value.len() + 16);
        out.extend_from_slice(&(key.len() as u32).to_be_bytes());
        out.extend_from_slice(&(value.len() as u32).to_be_bytes());
        out.extend_from_slice(key);
        out.extend_from_slice(value);
        if self.has_tags {
            out.extend_from_slice(&(cell.tags().len() as u16).to_be_bytes());
            out.extend_from_slice(cell.tags());
        }
        if self.has_mvcc {
            write_vlong(out, cell.sequence_id() as i64);
        }
    }

    /// The flat key of the cell that begins at `at`.
    #[inline(always)]
    pub(crate) fn key(bytes: &[u8], at: usize) -> &[u8] {
        let (header, rest) = split_header(&bytes[at..]);
        &rest[..(header >> 32) as usize]
    }

    /// The lengths, key and value of the cell that begins at `at`.
    #[inline(always)]
    pub(crate) fn serialized(bytes: &[u8], at: usize) -> &[u8] {
        let cell = &bytes[at..];
        let (header, _) = split_header(cell);
        &cell[..KEY_VALUE_HEADER_SIZE + (header >> 32) as usize + header as u32 as usize]
    }

    /// The cell that begins at `at`, one of the accepted [`CellOffsets`] of these bytes.
    #[inline(always)]
    pub(crate) fn cell(self, bytes: &[u8], at: usize) -> CellRef<'_> {
        let (header, rest) = split_header(&bytes[at..]);
        let (key_length, value_length) = ((header >> 32) as usize, header as u32 as usize);
        let (key_and_value, mut rest) = rest.split_at(key_length + value_length);
        let (key, value) = key_and_value.split_at(key_length);
        let mut tags: &[u8] = &[];
        if self.has_tags {
            let length = u16::from_be_bytes([rest[0], rest[1]]) as usize;
            (tags, rest) = rest[TAGS_LENGTH_SIZE..].split_at(length);
        }
        let sequence_id = if self.has_mvcc { vlong_at(rest) as u64 } else { 0 };
        CellRef::new(key, value, tags, sequence_id)
    }

    /// As [`Self::key`], after checking that the key is in `bytes` and well-formed.
    pub(crate) fn checked_key(bytes: &[u8], at: usize) -> Parsed<&[u8]> {
        let cut = || Damage::new("cell extends beyond its block");
        let header = bytes.get(at..at + KEY_VALUE_HEADER_SIZE).ok_or_else(cut)?;
        let (lengths, _) = split_header(header);
        let start = at + KEY_VALUE_HEADER_SIZE;
        let flat_key = bytes.get(start..start + (lengths >> 32) as usize).ok_or_else(cut)?;
        if !key::is_well_formed(flat_key) {
            return Err(Damage::new("lengths inside a key do not fit"));
        }
        Ok(flat_key)
    }

    /// Where the cell that begins at `at` ends, after checking all of it.
    #[inline]
    pub(crate) fn check(self, bytes: &[u8], at: usize) -> Parsed<usize> {
        let cut = || Damage::new("cell extends beyond its block");
        let key_length = Self::checked_key(bytes, at)?.len();
        let (lengths, _) = split_header(&bytes[at..]);
        let mut end = at + KEY_VALUE_HEADER_SIZE + key_length + lengths as u32 as usize;
        if self.has_tags {
            let length = bytes.get(end..end + TAGS_LENGTH_SIZE).ok_or_else(cut)?;
            end += TAGS_LENGTH_SIZE + u16::from_be_bytes([length[0], length[1]]) as usize;
        }
        if self.has_mvcc {
            end += vlong_size_of_first(*bytes.get(end).ok_or_else(cut)?);
        }
        if end > bytes.len() { Err(cut()) } else { Ok(end) }
    }
}

/// Key length (upper half) and value length (lower half) in one load, and the bytes after them.
#[inline(always)]
fn split_header(bytes: &[u8]) -> (u64, &[u8]) {
    let (header, rest) =
        bytes.split_first_chunk::<KEY_VALUE_HEADER_SIZE>().expect("cells were checked");
    (u64::from_be_bytes(*header), rest)
}

/// Where each cell of a block begins; at least one cell.
///
/// Two bytes per cell if the last cell begins within 64 KiB, four otherwise. Blocks are closed by
/// the cell that reaches the block size, so two are enough for blocks of that size.
#[derive(Debug)]
pub(crate) enum CellOffsets {
    Short(Box<[u16]>),
    Long(Box<[u32]>),
}

impl CellOffsets {
    /// Iterates over the cells of a block and checks each.
    pub(crate) fn of(bytes: &[u8], layout: CellLayout) -> Parsed<Self> {
        let first_size = layout.check(bytes, 0)?;
        let expected = bytes.len() / first_size + 1;
        if u32::try_from(bytes.len()).is_err() {
            return Err(Damage::new("data block over 4 GiB"));
        }
        if bytes.len() <= SHORT_TRIED_MAX
            && let Some(short) =
                Self::collect(bytes, layout, expected, |at| u16::try_from(at).ok())?
        {
            return Ok(Self::Short(short));
        }
        let long = Self::collect(bytes, layout, expected, |at| u32::try_from(at).ok())?;
        Ok(Self::Long(long.expect("an offset is below the size of the block")))
    }

    /// `None` if an offset is too large for `narrow`.
    fn collect<T>(
        bytes: &[u8],
        layout: CellLayout,
        expected: usize,
        narrow: impl Fn(usize) -> Option<T>,
    ) -> Parsed<Option<Box<[T]>>> {
        let mut offsets = Vec::new();
        reserve_exact(&mut offsets, expected)?;
        let mut at = 0;
        while at < bytes.len() {
            reserve(&mut offsets, 1)?;
            let Some(offset) = narrow(at) else { return Ok(None) };
            offsets.push(offset);
            at = layout.check(bytes, at)?;
        }
        Ok(Some(offsets.into_boxed_slice()))
    }

    /// Number of cells.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Short(offsets) => offsets.len(),
            Self::Long(offsets) => offsets.len(),
        }
    }

    /// Where the cell at `index` begins.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> usize {
        match self {
            Self::Short(offsets) => offsets[index] as usize,
            Self::Long(offsets) => offsets[index] as usize,
        }
    }

    /// Bytes of memory.
    pub(crate) fn heap_size(&self) -> usize {
        match self {
            Self::Short(offsets) => size_of_val::<[u16]>(offsets),
            Self::Long(offsets) => size_of_val::<[u32]>(offsets),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_and_cut_blocks_are_refused() {
        let key = key::build(b"row", b"f", b"q", 7, 4);
        for (has_tags, has_mvcc) in [(false, false), (true, false), (false, true), (true, true)] {
            let layout = CellLayout { has_tags, has_mvcc };
            let mut block = Vec::new();
            let mut ends = vec![0];
            for sequence_id in [0, 300, i64::MAX as u64] {
                let cell = CellRef::new(&key, b"value", b"\0\x02\x08x", sequence_id);
                layout.append(&mut block, &cell);
                assert_eq!(block.len() - ends[ends.len() - 1], layout.size(&cell));
                ends.push(block.len());
            }
            let offsets = CellOffsets::of(&block, layout).unwrap();
            assert_eq!(offsets.len(), 3);
            let cell = layout.cell(&block, offsets.get(1));
            assert_eq!((cell.key(), cell.value()), (key.as_slice(), b"value".as_slice()));
            assert_eq!(cell.tags().is_empty(), !has_tags);
            assert_eq!(cell.sequence_id(), if has_mvcc { 300 } else { 0 });
            for cut in (0..block.len()).filter(|cut| *cut == 0 || !ends.contains(cut)) {
                assert!(CellOffsets::of(&block[..cut], layout).is_err(), "cut at {cut}");
            }
        }
    }
}
