//! Copies bytes, forwards or backwards.
//!
//! For a short length, the beginning and the end are loaded, which may overlap, before the first
//! store. So up to 128 bytes need no loop, and source and destination may overlap as well.
//!
//! Invariant: every load and store is within the `count` bytes at `from` and at `to`: a word that
//! begins at `at` is used only if `at + size_of(word) <= count`.

#![allow(unsafe_code, reason = "the functions of the C library are unsafe")]

use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};

const WORD: usize = size_of::<__m128i>();
/// What a round of a loop copies.
const STEP: usize = 4 * WORD;

type Four = (__m128i, __m128i, __m128i, __m128i);

/// Copies `count` bytes; the two places may overlap.
///
/// # Safety
/// `from` is valid for reads of `count` bytes, and `to` for writes.
#[inline(always)]
pub(crate) unsafe fn copy(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: the conditions on `count` keep every word within the places.
    unsafe {
        if count <= WORD {
            match count {
                8.. => copy_ends::<u64>(to, from, count),
                4.. => copy_ends::<u32>(to, from, count),
                2.. => copy_ends::<u16>(to, from, count),
                1 => *to = *from,
                0 => {}
            }
        } else if count <= 2 * WORD {
            let last = count - WORD;
            let (head, tail) = (load(from), load(from.add(last)));
            store(to, head);
            store(to.add(last), tail);
        } else if count <= 4 * WORD {
            let last = count - 2 * WORD;
            let (first, second) = (load(from), load(from.add(WORD)));
            let (third, fourth) = (load(from.add(last)), load(from.add(last + WORD)));
            store(to, first);
            store(to.add(WORD), second);
            store(to.add(last), third);
            store(to.add(last + WORD), fourth);
        } else if count <= 2 * STEP {
            let last = count - STEP;
            let (head, tail) = (load_four(from), load_four(from.add(last)));
            store_four(to, head);
            store_four(to.add(last), tail);
        } else if to.addr().wrapping_sub(from.addr()) >= count {
            copy_forwards(to, from, count);
        } else {
            copy_backwards(to, from, count);
        }
    }
}

/// Copies more than [`STEP`] bytes. `to` is not within the bytes to be read, except at their start.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_forwards(to: *mut u8, from: *const u8, count: usize) {
    let (last, mut at) = (count - STEP, 0);
    // SAFETY: `at` is below `last`, from where a whole step is left.
    unsafe {
        // Read before anything that is written could reach it.
        let tail = load_four(from.add(last));
        while at < last {
            store_four(to.add(at), load_four(from.add(at)));
            at += STEP;
        }
        store_four(to.add(last), tail);
    }
}

/// Copies more than [`STEP`] bytes. `from` is below `to`.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_backwards(to: *mut u8, from: *const u8, count: usize) {
    let mut end = count;
    // SAFETY: there is more than a step before `end` when it moves.
    unsafe {
        let head = load_four(from);
        while end > STEP {
            end -= STEP;
            store_four(to.add(end), load_four(from.add(end)));
        }
        store_four(to, head);
    }
}

/// Copies `count` bytes as the first and the last `T` of them.
///
/// # Safety
/// As [`copy`]; `count` is at least the size of a `T` and at most twice that.
#[inline(always)]
unsafe fn copy_ends<T: Copy>(to: *mut u8, from: *const u8, count: usize) {
    let last = count - size_of::<T>();
    // SAFETY: both values are within the places, and need no alignment.
    unsafe {
        let head = from.cast::<T>().read_unaligned();
        let tail = from.add(last).cast::<T>().read_unaligned();
        to.cast::<T>().write_unaligned(head);
        to.add(last).cast::<T>().write_unaligned(tail);
    }
}

/// # Safety
/// `from` is valid for reads of a word.
#[inline(always)]
unsafe fn load(from: *const u8) -> __m128i {
    // SAFETY: the instruction needs no alignment.
    unsafe { _mm_loadu_si128(from.cast()) }
}

/// # Safety
/// `to` is valid for writes of a word.
#[inline(always)]
unsafe fn store(to: *mut u8, word: __m128i) {
    // SAFETY: the instruction needs no alignment.
    unsafe { _mm_storeu_si128(to.cast(), word) }
}

/// # Safety
/// `from` is valid for reads of a step.
#[inline(always)]
unsafe fn load_four(from: *const u8) -> Four {
    // SAFETY: four words are a step.
    unsafe {
        (load(from), load(from.add(WORD)), load(from.add(2 * WORD)), load(from.add(3 * WORD)))
    }
}

/// # Safety
/// `to` is valid for writes of a step.
#[inline(always)]
unsafe fn store_four(to: *mut u8, words: Four) {
    // SAFETY: four words are a step.
    unsafe {
        store(to, words.0);
        store(to.add(WORD), words.1);
        store(to.add(2 * WORD), words.2);
        store(to.add(3 * WORD), words.3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERN: [u8; 700] = {
        let (mut pattern, mut at) = ([0; 700], 0);
        while at < pattern.len() {
            pattern[at] = (at * 31 % 251) as u8;
            at += 1;
        }
        pattern
    };

    /// The same as a copy through memory of its own, whether the places overlap or not.
    fn check(count: usize, from: usize, to: usize) {
        let mut bytes = PATTERN.to_vec();
        let mut expected = PATTERN.to_vec();
        expected.copy_within(from..from + count, to);
        let all = bytes.as_mut_ptr();
        // SAFETY: both places are within `bytes`.
        unsafe { copy(all.add(to), all.add(from), count) };
        assert!(bytes == expected, "{count} bytes from {from} to {to}");
    }

    #[test]
    fn every_length_is_copied_to_every_alignment() {
        // Under Miri, only those at which the way of copying changes.
        let limits = [0..=9, 15..=17, 31..=33, 63..=65, 127..=129, 191..=193];
        let others = if cfg!(miri) { 0..=0 } else { 0..=300 };
        for count in limits.into_iter().flatten().chain(others) {
            for shift in [0, 1, 7, 15] {
                check(count, shift, 350 + shift % 3);
                check(count, 350, shift);
            }
        }
    }

    #[test]
    fn places_may_overlap() {
        for count in [1, 3, 9, 17, 31, 33, 65, 127, 129, 191, 192, 193, 260, 300] {
            for distance in [0, 1, 2, 8, 15, 16, 17, 63, 64, 65, 128, 200] {
                check(count, 5, 5 + distance);
                check(count, 5 + distance, 5);
            }
        }
    }
}
