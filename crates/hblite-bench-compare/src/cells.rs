//! The cells that are written to every store, and the tally of what a store returns.
//!
//! Everything in a cell follows from the number of its row, its column and its version, so a
//! reader's answer is checked without keeping what was written.
//!
//! ```text
//! row 16 | family 1 "f" | qualifier 8 "field000" | timestamp 8 | type 1 | value 100
//! ```
//!
//! The first half of the value is random and the second constant: about what LZ4 can halve.

use crate::rows::{ROW_SIZE, Row, mix, row_of};

/// The only family.
pub(crate) const FAMILY: &[u8] = b"f";
/// The only qualifier, except in wide rows.
pub(crate) const QUALIFIER: Qualifier = *b"field000";
/// Bytes of a qualifier.
const QUALIFIER_SIZE: usize = 8;
/// Bytes of a value.
pub(crate) const VALUE_SIZE: usize = 100;
/// Bytes of a cell before any store adds to it.
pub(crate) const RAW_CELL_SIZE: usize = ROW_SIZE + 1 + QUALIFIER_SIZE + 8 + 1 + VALUE_SIZE;
/// All timestamps of loaded cells are lower, in milliseconds since 1970.
pub(crate) const TIMESTAMP_END: i64 = TIMESTAMP_FIRST + 2_000_000;

const RANDOM_SIZE: usize = VALUE_SIZE / 2;
const TIMESTAMP_FIRST: i64 = 1_700_000_000_000;

/// A qualifier, as stores receive it.
pub(crate) type Qualifier = [u8; QUALIFIER_SIZE];

/// What a cell does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellKind {
    /// It has a value.
    Put,
    /// It hides all versions of its column up to its timestamp (HBase's `DeleteColumn`).
    Marker,
}

/// One cell to write.
#[derive(Clone, Copy)]
pub(crate) struct SampleCell {
    /// The row.
    pub(crate) row: Row,
    /// The qualifier.
    pub(crate) qualifier: Qualifier,
    /// Milliseconds since 1970.
    pub(crate) timestamp: i64,
    /// Put or delete marker.
    pub(crate) kind: CellKind,
    value: [u8; VALUE_SIZE],
}

impl SampleCell {
    /// The cell of a row that has one.
    pub(crate) fn of(number: u64) -> Self {
        Self::at(number, 0, 0)
    }

    /// One version of one column of a row. Later versions are newer.
    pub(crate) fn at(number: u64, column: u16, version: u16) -> Self {
        let seed = number ^ (u64::from(column) << 40) ^ (u64::from(version) << 32);
        let mut value = [b'x'; VALUE_SIZE];
        for (index, chunk) in value[..RANDOM_SIZE].chunks_mut(8).enumerate() {
            let word = mix(seed ^ ((index as u64 + 1) << 56)).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        let timestamp = TIMESTAMP_FIRST + (number % 1_000_000) as i64 + i64::from(version);
        let (row, qualifier) = (row_of(number), qualifier_of(column));
        Self { row, qualifier, timestamp, kind: CellKind::Put, value }
    }

    /// The marker that deletes the cell of a row.
    pub(crate) fn marker_of(number: u64) -> Self {
        Self { kind: CellKind::Marker, ..Self::of(number) }
    }

    /// The value; that of a marker is empty.
    #[inline]
    pub(crate) fn value(&self) -> &[u8] {
        match self.kind {
            CellKind::Put => &self.value,
            CellKind::Marker => &[],
        }
    }
}

/// The qualifier of a column, which has three decimal digits.
pub(crate) fn qualifier_of(column: u16) -> Qualifier {
    let mut qualifier = QUALIFIER;
    for (place, unit) in qualifier[QUALIFIER_SIZE - 3..].iter_mut().zip([100, 10, 1]) {
        *place = b'0' + (column / unit % 10) as u8;
    }
    qualifier
}

/// The number of cells seen, and a sum over their parts in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    cells: u64,
    sum: u64,
    /// Bits of timestamps that are not summed.
    timestamp_ignored: i64,
}

impl Tally {
    /// A tally of cells whose timestamps are not known.
    pub(crate) fn without_timestamps() -> Self {
        Self { timestamp_ignored: -1, ..Self::default() }
    }

    /// Counts a cell that a store returned.
    #[inline]
    pub(crate) fn add(&mut self, row: &[u8], qualifier: &[u8], timestamp: i64, value: &[u8]) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let timestamp = timestamp & !self.timestamp_ignored;
        let key = head(row) ^ tail(row).rotate_left(23) ^ tail(qualifier) ^ timestamp as u64;
        let word = key ^ head(value).rotate_left(41) ^ tail(value) ^ value.len() as u64;
        self.sum = (self.sum.rotate_left(5) ^ word).wrapping_mul(ODD);
        self.cells += 1;
    }

    /// The tally that a store must produce for these rows of one cell, in this order.
    pub(crate) fn of(numbers: impl Iterator<Item = u64>) -> Self {
        let mut tally = Self::default();
        numbers.for_each(|number| tally.add_row(number));
        tally
    }

    /// Counts the cell of a row that has one.
    pub(crate) fn add_row(&mut self, number: u64) {
        self.add_cell(&SampleCell::of(number));
    }

    /// Counts a cell that was written.
    pub(crate) fn add_cell(&mut self, cell: &SampleCell) {
        self.add(&cell.row, &cell.qualifier, cell.timestamp, cell.value());
    }

    /// How many cells were counted.
    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }
}

/// The first eight bytes, or all if there are fewer.
#[inline]
fn head(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => short(bytes),
    }
}

/// The last eight bytes, or all if there are fewer.
#[inline]
fn tail(bytes: &[u8]) -> u64 {
    match bytes.last_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => short(bytes),
    }
}

#[cold]
fn short(bytes: &[u8]) -> u64 {
    bytes.iter().fold(bytes.len() as u64, |word, byte| (word << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(change: impl FnOnce(&mut SampleCell)) -> SampleCell {
        let mut cell = SampleCell::of(1);
        change(&mut cell);
        cell
    }

    fn tally_of(cell: &SampleCell, mut tally: Tally) -> Tally {
        tally.add_cell(cell);
        tally
    }

    #[test]
    fn columns_and_versions_differ() {
        assert_eq!(qualifier_of(0), QUALIFIER);
        assert_eq!(&qualifier_of(987), b"field987");
        let (first, later) = (SampleCell::at(1, 0, 0), SampleCell::at(1, 0, 9));
        assert!(first.timestamp < later.timestamp && later.timestamp < TIMESTAMP_END);
        assert_ne!(first.value(), later.value());
        assert_ne!(first.value(), SampleCell::at(1, 1, 0).value());
    }

    #[test]
    fn tally_sees_a_changed_part_and_a_changed_order() {
        let expected = Tally::of([1, 2].into_iter());
        assert_ne!(expected, Tally::of([2, 1].into_iter()));
        assert_ne!(expected, Tally::of([1].into_iter()));

        let whole = Tally::of([1].into_iter());
        for cell in [
            changed(|cell| cell.timestamp += 1),
            changed(|cell| cell.qualifier[7] += 1),
            changed(|cell| cell.value[0] ^= 1),
            changed(|cell| cell.kind = CellKind::Marker),
        ] {
            assert_ne!(whole, tally_of(&cell, Tally::default()));
        }
    }

    #[test]
    fn tally_without_timestamps_sees_the_rest() {
        let whole = tally_of(&SampleCell::of(1), Tally::without_timestamps());
        let newer = changed(|cell| cell.timestamp += 1);
        assert_eq!(whole, tally_of(&newer, Tally::without_timestamps()));
        let other = changed(|cell| cell.value[0] ^= 1);
        assert_ne!(whole, tally_of(&other, Tally::without_timestamps()));
    }
}
