//! A Bloom filter over the rows of a growing segment. Most gets of rows that were not written
//! recently end here, after a few nanoseconds instead of a search of the skip list.
//!
//! The filter grows in layers of fourfold capacity, each with 16 bits per row. A row sets 4 bits of
//! one word, in the newest layer; a probe tests each layer. At most 3 % of the probes of absent
//! rows return "maybe" (measured with 500,000 rows).
//!
//! Invariant: where there is a layer, there are those before it.
//!
//! Threads: inserts and probes run at once. A probe whose read point covers a completed insert sees
//! the row; any other may miss it.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::row_hash::row_hash;

/// Rows that the first layer is sized for.
const FIRST_LAYER_ROWS: usize = 1024;
/// With 8 layers, the last is sized for 16 million rows; it also takes any beyond.
const LAYER_COUNT: usize = 8;
/// At 16 bits per row.
const ROWS_PER_WORD: usize = 4;
/// Rows whose words are read together.
const ROWS_AT_ONCE: usize = 16;

/// Which rows may be present. The count comes last, so that its owner can keep it next to others
/// that every insert changes.
#[derive(Default)]
#[repr(C)]
pub(super) struct RowBloom {
    layers: [OnceLock<Box<[AtomicU64]>>; LAYER_COUNT],
    /// Rows that set a new bit. Probes do not read what may be next to it, the last layers, unless
    /// there are rows in them.
    row_count: AtomicUsize,
}

impl RowBloom {
    /// Adds `row` and returns the number of heap bytes that the filter grew by.
    pub(super) fn insert(&self, row: &[u8]) -> usize {
        let (words, grown) = self.newest_words();
        let (word, mask) = locate(words, row);
        if word.load(Ordering::Relaxed) & mask != mask {
            word.fetch_or(mask, Ordering::Relaxed);
            self.row_count.fetch_add(1, Ordering::Relaxed);
        }
        grown
    }

    /// Adds rows and returns the number of heap bytes that the filter grew by.
    ///
    /// First it only reads the words of several rows: the processor waits for all of them at once.
    /// Setting a bit is an atomic operation, which waits for everything before it.
    pub(super) fn insert_all<'a>(&self, mut rows: impl Iterator<Item = &'a [u8]>) -> usize {
        let mut grown = rows.next().map_or(0, |row| self.insert(row));
        while let Some(next) = rows.next() {
            let (words, more) = self.newest_words();
            grown += more;
            let mut places: [Option<(&AtomicU64, u64)>; ROWS_AT_ONCE] = [None; ROWS_AT_ONCE];
            for (place, row) in places.iter_mut().zip(std::iter::once(next).chain(&mut rows)) {
                let (word, mask) = locate(words, row);
                *place = Some((word, mask & !word.load(Ordering::Relaxed)));
            }
            let missing = places.iter().flatten().filter(|(_, missing)| *missing != 0);
            let mut added = 0;
            for (word, missing) in missing {
                word.fetch_or(*missing, Ordering::Relaxed);
                added += 1;
            }
            if added > 0 {
                self.row_count.fetch_add(added, Ordering::Relaxed);
            }
        }
        grown
    }

    /// Reads what an insert of `row` reads, so that the processor has it.
    pub(super) fn prefetch(&self, row: &[u8]) {
        let layer = layer_of(self.row_count.load(Ordering::Relaxed));
        if let Some(words) = self.layers[layer].get() {
            black_box(locate(words, row).0.load(Ordering::Relaxed));
        }
    }

    /// The layer for the next rows, and the heap bytes that the filter grew by.
    fn newest_words(&self) -> (&[AtomicU64], usize) {
        let mut grown = 0;
        let layer = layer_of(self.row_count.load(Ordering::Relaxed));
        let words = self.words_of(layer, &mut grown);
        (words, grown)
    }

    /// A layer; `grown` grows by the heap bytes of what is new.
    fn words_of(&self, layer: usize, grown: &mut usize) -> &[AtomicU64] {
        self.layers[layer].get_or_init(|| {
            if let Some(before) = layer.checked_sub(1) {
                self.words_of(before, grown);
            }
            let words = new_words(layer_rows(layer) / ROWS_PER_WORD);
            *grown += size_of_val(&*words);
            words
        })
    }

    /// Whether `row` may be present; false is certain.
    pub(super) fn may_contain(&self, row: &[u8]) -> bool {
        self.layers.iter().map_while(OnceLock::get).any(|words| {
            let (word, mask) = locate(words, row);
            word.load(Ordering::Relaxed) & mask == mask
        })
    }

    /// Heap bytes of the layers.
    pub(super) fn heap_size(&self) -> usize {
        self.layers.iter().map_while(OnceLock::get).map(|words| size_of_val(&**words)).sum()
    }
}

fn new_words(count: usize) -> Box<[AtomicU64]> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

/// Rows that a layer is sized for.
fn layer_rows(layer: usize) -> usize {
    FIRST_LAYER_ROWS << (2 * layer)
}

/// The layer for the next row after `row_count`.
fn layer_of(row_count: usize) -> usize {
    let mut capacity = 0;
    let is_full = |layer: &usize| {
        capacity += layer_rows(*layer);
        row_count >= capacity
    };
    (0..LAYER_COUNT - 1).take_while(is_full).count()
}

/// The word of `row` and the bits that the row sets in it.
#[inline]
fn locate<'a>(words: &'a [AtomicU64], row: &[u8]) -> (&'a AtomicU64, u64) {
    let hash = row_hash(row);
    // The number of words is a power of two. The upper bits select the word, the lower ones the
    // mask.
    let index = (hash >> 32) as usize & (words.len() - 1);
    let mask = (0..4).fold(0, |mask, i| mask | 1 << (hash >> (6 * i) & 63));
    (&words[index], mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_missed_and_few_absent_ones_are_let_through() {
        let bloom = RowBloom::default();
        let mut grown = 0;
        assert!(!bloom.may_contain(b""));
        for i in 0..100_000 {
            grown += bloom.insert(format!("user{i:012}").as_bytes());
        }
        assert_eq!(grown, bloom.heap_size());
        assert!(grown < 100_000 * 10, "{grown} bytes");
        assert!((0..100_000).all(|i| bloom.may_contain(format!("user{i:012}").as_bytes())));
        let absent = (100_000..200_000)
            .filter(|i| bloom.may_contain(format!("user{i:012}").as_bytes()))
            .count();
        assert!(absent < 3_000, "{absent} of 100,000 absent rows");
    }

    #[test]
    fn rows_added_together_are_all_there() {
        for count in [0, 1, 2, 16, 17, 18, 100, 20_000] {
            let (bloom, one_by_one) = (RowBloom::default(), RowBloom::default());
            let rows: Vec<String> = (0..count).map(|i| format!("user{i:012}")).collect();
            let grown = bloom.insert_all(rows.iter().map(String::as_bytes));
            let expected: usize = rows.iter().map(|row| one_by_one.insert(row.as_bytes())).sum();
            assert_eq!((grown, bloom.heap_size()), (expected, expected), "{count} rows");
            assert!(rows.iter().all(|row| bloom.may_contain(row.as_bytes())), "{count} rows");
        }
    }

    #[test]
    fn a_row_written_again_and_again_does_not_fill_the_filter() {
        let bloom = RowBloom::default();
        for _ in 0..10 * FIRST_LAYER_ROWS {
            bloom.insert(b"counter");
        }
        assert_eq!(bloom.heap_size(), FIRST_LAYER_ROWS / ROWS_PER_WORD * 8);
    }

    #[test]
    fn layers_follow_each_other() {
        assert_eq!(layer_of(0), 0);
        assert_eq!(layer_of(1023), 0);
        assert_eq!(layer_of(1024), 1);
        assert_eq!(layer_of(1024 + 4096), 2);
        assert_eq!(layer_of(usize::MAX), LAYER_COUNT - 1);
    }
}
