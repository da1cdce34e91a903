//! The rows of a store, in key order, in random order, and as random choices.
//!
//! A row is the sixteen hex digits of a number. The space of numbers is divided evenly among the
//! rows, and each row is at a random place of its part. So the row at any position is computed, and
//! a store of any size is written and checked without a list of its rows. Each part also has a
//! second place, for a row that a store gets later or never.

/// Bytes of a row.
pub(crate) const ROW_SIZE: usize = 16;

/// The exponent of Zipf's law that YCSB uses.
const ZIPF_EXPONENT: f64 = 0.99;

/// A row, as stores receive it.
pub(crate) type Row = [u8; ROW_SIZE];

/// The rows of a store. Positions count in key order from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    count: u64,
    /// Numbers per row.
    share: u64,
}

impl Rows {
    /// `count` rows, at least one.
    pub(crate) fn new(count: u64) -> Self {
        let count = count.max(1);
        Self { count, share: u64::MAX / count }
    }

    /// How many rows there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The row at a position.
    pub(crate) fn at(&self, position: u64) -> u64 {
        position * self.share + mix(position) % self.share
    }

    /// The row of the same part that is not among the rows.
    pub(crate) fn other_at(&self, position: u64) -> u64 {
        let distance = 1 + mix(!position) % (self.share - 1);
        position * self.share + (mix(position) % self.share + distance) % self.share
    }

    /// All rows in key order.
    pub(crate) fn sorted(self) -> impl DoubleEndedIterator<Item = u64> {
        (0..self.count).map(move |position| self.at(position))
    }

    /// All rows and the others, in key order.
    pub(crate) fn sorted_with_others(self) -> impl Iterator<Item = u64> {
        (0..self.count).flat_map(move |position| {
            let (row, other) = (self.at(position), self.other_at(position));
            [row.min(other), row.max(other)]
        })
    }

    /// All rows in random order.
    pub(crate) fn shuffled(self) -> impl Iterator<Item = u64> {
        self.shuffled_part(0, 1)
    }

    /// Part `part` of `parts` of the rows in random order.
    pub(crate) fn shuffled_part(self, part: usize, parts: usize) -> impl Iterator<Item = u64> {
        let start = |part: usize| self.count * part as u64 / parts as u64;
        (start(part)..start(part + 1)).map(move |turn| self.at(self.shuffle(turn)))
    }

    /// The others in random order.
    pub(crate) fn others_shuffled(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |turn| self.other_at(self.shuffle(turn)))
    }

    /// An endless random choice of positions.
    pub(crate) fn positions(self, seed: u64) -> impl Iterator<Item = u64> {
        (0..).map(move |turn: u64| mix(turn ^ (seed << 48)) % self.count)
    }

    /// An endless random choice of rows, each equally likely.
    pub(crate) fn picks(self, seed: u64) -> impl Iterator<Item = u64> {
        self.positions(seed).map(move |position| self.at(position))
    }

    /// An endless random choice of rows by Zipf's law; the favorites are scattered.
    pub(crate) fn zipfian(self, seed: u64) -> impl Iterator<Item = u64> {
        // The law's continuous form, inverted: a rank for each fraction from 0 to 1.
        let power = 1.0 - ZIPF_EXPONENT;
        let span = (self.count as f64).powf(power) - 1.0;
        (0..).map(move |turn: u64| {
            let fraction = (mix(turn ^ (seed << 48)) >> 11) as f64 / (1_u64 << 53) as f64;
            let rank = (1.0 + fraction * span).powf(power.recip()) as u64 - 1;
            self.at(self.shuffle(rank.min(self.count - 1)))
        })
    }

    /// An endless choice of rows that do not exist, distributed like those that do.
    pub(crate) fn absent(self) -> impl Iterator<Item = u64> {
        self.positions(0).map(move |position| self.other_at(position))
    }

    /// A bijection of the positions that leaves no order.
    fn shuffle(self, position: u64) -> u64 {
        let bits = u64::BITS - (self.count - 1).leading_zeros();
        let mut shuffled = position;
        loop {
            shuffled = mix_bits(shuffled, bits);
            if shuffled < self.count {
                return shuffled;
            }
        }
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
pub(crate) fn mix(counter: u64) -> u64 {
    let mut mixed = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The same for the numbers of so many bits.
fn mix_bits(number: u64, bits: u32) -> u64 {
    let mask = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
    let shift = bits.div_ceil(2);
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15) & mask;
    for odd in [0x9e37_79b9_7f4a_7c15_u64, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        mixed = mixed.wrapping_mul(odd) & mask;
        mixed ^= mixed >> shift;
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_sort_as_their_numbers() {
        let rows = Rows::new(1000);
        assert!(rows.sorted().map(row_of).is_sorted_by(|one, next| one < next));
        let all = rows.sorted_with_others();
        assert!(all.map(row_of).is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn shuffled_rows_are_all_rows_in_no_order() {
        for count in [1, 2, 3, 1000, 1024, 1025] {
            let rows = Rows::new(count);
            let sorted: Vec<u64> = rows.sorted().collect();
            let mut shuffled: Vec<u64> = rows.shuffled().collect();
            assert!(count < 4 || sorted != shuffled);
            shuffled.sort_unstable();
            assert_eq!(sorted, shuffled);
        }
        let positions = (0..1000).map(|turn| Rows::new(1000).shuffle(turn) as f64);
        let positions: Vec<f64> = positions.collect();
        let distance: f64 = positions.windows(2).map(|two| (two[1] - two[0]).abs()).sum();
        assert!((250.0..420.0).contains(&(distance / 999.0)), "a third is expected");
    }

    #[test]
    fn parts_are_the_whole() {
        let rows = Rows::new(1001);
        let parts = (0..3).flat_map(|part| rows.shuffled_part(part, 3));
        assert!(parts.eq(rows.shuffled()));
    }

    #[test]
    fn picked_rows_exist_and_others_do_not() {
        let rows = Rows::new(1000);
        let sorted: Vec<u64> = rows.sorted().collect();
        let exists = |number: u64| sorted.binary_search(&number).is_ok();
        assert!(rows.picks(3).take(5000).all(exists));
        assert!(rows.zipfian(3).take(5000).all(exists));
        assert!(!rows.absent().take(5000).any(exists));
        assert!(!rows.others_shuffled().any(exists));
    }

    #[test]
    fn zipfian_rows_have_favorites() {
        let mut counts = std::collections::BTreeMap::<u64, u32>::new();
        let rows = Rows::new(1000);
        rows.zipfian(1).take(100_000).for_each(|row| *counts.entry(row).or_default() += 1);
        let mut counts: Vec<u32> = counts.into_values().collect();
        counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        // The continuous form gives the first rank ln 2 / ln 1000 of all.
        assert!((8_000..12_000).contains(&counts[0]), "{}", counts[0]);
        assert!((1.5..2.0).contains(&(f64::from(counts[0]) / f64::from(counts[1]))));
    }
}
