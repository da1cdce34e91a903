//! The cells that are written to every store, and the tally of what a store returns.
//!
//! A row is the sixteen hex digits of a mixed counter, so rows in counter order are in random key
//! order, and no two are the same. Everything else in a cell follows from its row: a reader's
//! answer is checked without keeping what was written.
//!
//! ```text
//! row 16 | family 1 "f" | qualifier 8 "field000" | timestamp 8 | type 1 | value 100
//! ```
//!
//! The first half of the value is random and the second constant: about what LZ4 can halve.

/// The only family.
pub(crate) const FAMILY: &[u8] = b"f";
/// The only qualifier.
pub(crate) const QUALIFIER: &[u8] = b"field000";
/// Bytes of a row.
pub(crate) const ROW_SIZE: usize = 16;
/// Bytes of a value.
pub(crate) const VALUE_SIZE: usize = 100;
/// Bytes of a cell before any store adds to it.
pub(crate) const RAW_CELL_SIZE: usize = ROW_SIZE + 1 + 8 + 8 + 1 + VALUE_SIZE;

const RANDOM_SIZE: usize = VALUE_SIZE / 2;
const TIMESTAMP_FIRST: i64 = 1_700_000_000_000;

/// A row, as stores receive it.
pub(crate) type Row = [u8; ROW_SIZE];

/// One cell to write.
#[derive(Clone, Copy)]
pub(crate) struct SampleCell {
    /// The row.
    pub(crate) row: Row,
    /// Milliseconds since 1970.
    pub(crate) timestamp: i64,
    /// The value.
    pub(crate) value: [u8; VALUE_SIZE],
}

impl SampleCell {
    /// The cell of a row.
    pub(crate) fn of(number: u64) -> Self {
        let mut value = [b'x'; VALUE_SIZE];
        for (index, chunk) in value[..RANDOM_SIZE].chunks_mut(8).enumerate() {
            let word = mix(number ^ ((index as u64 + 1) << 56)).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        let timestamp = TIMESTAMP_FIRST + (number % 1_000_000) as i64;
        Self { row: row_of(number), timestamp, value }
    }
}

/// The existing rows, in key order and in random order.
pub(crate) struct Rows {
    sorted: Vec<u64>,
}

impl Rows {
    /// The first `count` rows.
    pub(crate) fn new(count: u64) -> Self {
        let mut sorted: Vec<u64> = (0..count).map(mix).collect();
        sorted.sort_unstable();
        Self { sorted }
    }

    /// All rows in key order.
    pub(crate) fn sorted(&self) -> &[u64] {
        &self.sorted
    }

    /// All rows in random order.
    pub(crate) fn shuffled(&self) -> impl Iterator<Item = u64> {
        (0..self.sorted.len() as u64).map(mix)
    }

    /// An endless random choice of existing rows.
    pub(crate) fn picks(&self, seed: u64) -> impl Iterator<Item = u64> {
        let count = self.sorted.len() as u64;
        (0..).map(move |turn: u64| mix(mix(turn ^ (seed << 48)) % count))
    }

    /// An endless series of rows that do not exist, distributed like those that do.
    pub(crate) fn absent(&self) -> impl Iterator<Item = u64> {
        (self.sorted.len() as u64..).map(mix)
    }
}

/// The row of a number: its hex digits, so rows sort as their numbers do.
pub(crate) fn row_of(number: u64) -> Row {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut row = [0; ROW_SIZE];
    for (pair, byte) in row.chunks_exact_mut(2).zip(number.to_be_bytes()) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    row
}

/// A bijection of the 64-bit numbers that leaves no order (the finalizer of splitmix64).
fn mix(counter: u64) -> u64 {
    let mut mixed = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The number of cells seen, and a sum over their parts in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    cells: u64,
    sum: u64,
}

impl Tally {
    /// Counts a cell that a store returned.
    #[inline]
    pub(crate) fn add(&mut self, row: &[u8], qualifier: &[u8], timestamp: i64, value: &[u8]) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let key = head(row) ^ tail(row).rotate_left(23) ^ tail(qualifier) ^ timestamp as u64;
        let word = key ^ head(value).rotate_left(41) ^ tail(value) ^ value.len() as u64;
        self.sum = (self.sum.rotate_left(5) ^ word).wrapping_mul(ODD);
        self.cells += 1;
    }

    /// The tally that a store must produce for these rows, in this order.
    pub(crate) fn of(numbers: impl Iterator<Item = u64>) -> Self {
        let mut tally = Self::default();
        for number in numbers {
            tally.add_row(number);
        }
        tally
    }

    /// Counts the cell that belongs to a row.
    pub(crate) fn add_row(&mut self, number: u64) {
        let cell = SampleCell::of(number);
        self.add(&cell.row, QUALIFIER, cell.timestamp, &cell.value);
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

    #[test]
    fn rows_sort_as_their_numbers() {
        let rows = Rows::new(1000);
        let keys: Vec<Row> = rows.sorted().iter().copied().map(row_of).collect();
        assert!(keys.is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn shuffled_and_picked_rows_are_there_and_absent_ones_are_not() {
        let rows = Rows::new(1000);
        let there = |number: u64| rows.sorted().binary_search(&number).is_ok();
        assert!(rows.shuffled().all(there));
        assert!(rows.picks(3).take(5000).all(there));
        assert!(!rows.absent().take(5000).any(there));
    }

    #[test]
    fn tally_sees_a_changed_part_and_a_changed_order() {
        let expected = Tally::of([1, 2].into_iter());
        assert_ne!(expected, Tally::of([2, 1].into_iter()));
        assert_ne!(expected, Tally::of([1].into_iter()));

        let cell = SampleCell::of(1);
        let whole = Tally::of([1].into_iter());
        let mut other = Tally::default();
        other.add(&cell.row, QUALIFIER, cell.timestamp + 1, &cell.value);
        assert_ne!(whole, other);
        let mut other = Tally::default();
        other.add(&cell.row, QUALIFIER, cell.timestamp, &cell.value[..99]);
        assert_ne!(whole, other);
    }
}
