//! A query of a Bloom filter in two halves, so that a reader of several files can prefetch the
//! memory of the next filter while it waits for the first.
//!
//! Threads: values.

use super::{BloomHash, positions};

/// The numbers of one key, which are the same for every filter with the same hash function.
#[derive(Debug, Default)]
pub struct KeyHash(Option<(BloomHash, usize, (u32, u32))>);

impl KeyHash {
    /// The numbers of `key`: the same key at each call, or a prefix of it.
    #[inline]
    pub(super) fn pair(&mut self, hash: BloomHash, key: &[u8]) -> (u32, u32) {
        match self.0 {
            Some((of, length, pair)) if of == hash && length == key.len() => pair,
            _ => {
                let pair = hash.pair(key);
                self.0 = Some((hash, key.len(), pair));
                pair
            }
        }
    }
}

/// What is left of the question whether a filter has a row, when only its bits are missing.
#[derive(Debug)]
pub struct RowProbe<'b>(Probe<'b>);

#[derive(Debug)]
enum Probe<'b> {
    Decided(bool),
    Bits { bits: &'b [u8], pair: (u32, u32), hash_count: u32 },
}

impl<'b> RowProbe<'b> {
    /// The bits need not be asked.
    pub fn decided(answer: bool) -> Self {
        Self(Probe::Decided(answer))
    }

    /// A key with these numbers, in a chunk that is not empty.
    pub(super) fn of(bits: &'b [u8], pair: (u32, u32), hash_count: u32) -> Self {
        Self(Probe::Bits { bits, pair, hash_count })
    }

    /// The byte that [`RowProbe::may_contain`] looks at first. It excludes half of the rows that
    /// the file does not have, and is rarely in the processor's caches.
    #[inline]
    pub fn first_byte(&self) -> Option<&'b u8> {
        let Probe::Bits { bits, pair, .. } = self.0 else { return None };
        let mut first = None;
        positions(pair, 1, bits.len() as u64 * 8, |position| {
            first = bits.get(position / 8);
            false
        });
        first
    }

    /// Whether the row may have been added.
    #[inline]
    pub fn may_contain(&self) -> bool {
        match self.0 {
            Probe::Decided(answer) => answer,
            Probe::Bits { bits, pair, hash_count } => {
                positions(pair, hash_count, bits.len() as u64 * 8, |position| {
                    bits[position / 8] & (1 << (position % 8)) != 0
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_hash_function_and_the_length() {
        let mut hash = KeyHash::default();
        for (function, length) in
            [(BloomHash::Murmur, 5), (BloomHash::Murmur, 5), (BloomHash::Murmur, 3)]
                .into_iter()
                .chain([(BloomHash::Jenkins, 3), (BloomHash::Murmur3, 5)])
        {
            let key = &b"row-1"[..length];
            assert_eq!(hash.pair(function, key), function.pair(key));
        }
    }

    #[test]
    fn the_first_byte_is_one_that_excludes_a_row() {
        let mut bits = [0xff_u8; 128];
        let pair = BloomHash::Murmur.pair(b"row-1");
        assert!(RowProbe::of(&bits, pair, 7).may_contain());
        let first = std::ptr::from_ref(RowProbe::of(&bits, pair, 7).first_byte().unwrap());
        let index = first.addr() - bits.as_ptr().addr();
        bits[index] = 0;
        assert!(!RowProbe::of(&bits, pair, 1).may_contain());
        for answer in [false, true] {
            let probe = RowProbe::decided(answer);
            assert_eq!((probe.first_byte(), probe.may_contain()), (None, answer));
        }
    }
}
