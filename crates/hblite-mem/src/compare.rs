//! Compares bytes.
//!
//! Invariant: every load is within the `count` bytes at `left` and at `right`: a word that begins
//! at `at` is used only if `at + size_of(word) <= count`.

#![allow(unsafe_code, reason = "the functions of the C library are unsafe")]

use core::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8};

const WORD: usize = size_of::<__m128i>();
const ALL_EQUAL: i32 = 0xffff;

/// The order of two times `count` bytes: negative, zero or positive.
///
/// # Safety
/// Both places are valid for reads of `count` bytes.
#[inline(always)]
pub(crate) unsafe fn compare(left: *const u8, right: *const u8, count: usize) -> i32 {
    // SAFETY: the conditions on `count` keep every word within the places.
    unsafe {
        match count {
            WORD.. => compare_words(left, right, count),
            8.. => compare_ends(count - 8, |at| (eight(left, at), eight(right, at))),
            4.. => compare_ends(count - 4, |at| (four(left, at), four(right, at))),
            _ => {
                let mut at = 0;
                while at < count && *left.add(at) == *right.add(at) {
                    at += 1;
                }
                if at == count { 0 } else { difference(left, right, at) }
            }
        }
    }
}

/// # Safety
/// As [`compare`]; `count` is at least that of a word.
#[inline(always)]
unsafe fn compare_words(left: *const u8, right: *const u8, count: usize) -> i32 {
    let (mut at, last) = (0, count - WORD);
    // SAFETY: `at` is at most `last`, from where a whole word is left, and a difference is in it.
    unsafe {
        loop {
            let (l, r) =
                (_mm_loadu_si128(left.add(at).cast()), _mm_loadu_si128(right.add(at).cast()));
            let equal = _mm_movemask_epi8(_mm_cmpeq_epi8(l, r));
            if equal != ALL_EQUAL {
                return difference(left, right, at + equal.trailing_ones() as usize);
            }
            if at == last {
                return 0;
            }
            at = (at + WORD).min(last);
        }
    }
}

/// Compares the numbers at the start and at `last`, which together cover all bytes.
#[inline(always)]
fn compare_ends<T: Ord>(last: usize, numbers: impl Fn(usize) -> (T, T)) -> i32 {
    let (left, right) = numbers(0);
    left.cmp(&right).then_with(|| {
        let (left, right) = numbers(last);
        left.cmp(&right)
    }) as i32
}

/// # Safety
/// Both places have a byte at `at`.
#[inline(always)]
unsafe fn difference(left: *const u8, right: *const u8, at: usize) -> i32 {
    // SAFETY: as stated.
    unsafe { i32::from(*left.add(at)) - i32::from(*right.add(at)) }
}

/// # Safety
/// Eight bytes can be read at `at`.
#[inline(always)]
unsafe fn eight(from: *const u8, at: usize) -> u64 {
    // SAFETY: the number needs no alignment.
    u64::from_be(unsafe { from.add(at).cast::<u64>().read_unaligned() })
}

/// # Safety
/// Four bytes can be read at `at`.
#[inline(always)]
unsafe fn four(from: *const u8, at: usize) -> u32 {
    // SAFETY: the number needs no alignment.
    u32::from_be(unsafe { from.add(at).cast::<u32>().read_unaligned() })
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    fn order(left: &[u8], right: &[u8]) -> i32 {
        assert_eq!(left.len(), right.len());
        // SAFETY: both have that many bytes.
        unsafe { compare(left.as_ptr(), right.as_ptr(), left.len()) }
    }

    #[test]
    fn a_difference_anywhere_is_found() {
        let lengths = if cfg!(miri) { 0..=35 } else { 0..=140 };
        for count in lengths {
            let equal: Vec<u8> = (0..count).map(|at| (at * 31 % 251) as u8).collect();
            assert_eq!(order(&equal, &equal.clone()), 0);
            for at in 0..count {
                let mut greater = equal.clone();
                greater[at] = 0xff;
                // What follows a difference does not matter.
                greater[at + 1..].fill(0);
                assert!(order(&equal, &greater) < 0, "{count} bytes, a difference at {at}");
                assert!(order(&greater, &equal) > 0, "{count} bytes, a difference at {at}");
            }
        }
    }

    #[test]
    fn the_order_is_that_of_slices() {
        let mut state = 1_u32;
        let mut digit = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8 % 3
        };
        let rounds = if cfg!(miri) { 1 } else { 200 };
        let longest = if cfg!(miri) { 40 } else { 80 };
        for count in (0..longest).flat_map(|count| std::iter::repeat_n(count, rounds)) {
            let (mut left, mut right): (Vec<u8>, Vec<u8>) =
                (0..count).map(|_| (digit(), digit())).unzip();
            // Otherwise nearly all pairs differ at the beginning.
            let equal = usize::from(digit()) * count / 3;
            right[..equal].copy_from_slice(&left[..equal]);
            assert_eq!(order(&left, &right).signum(), left.cmp(&right) as i32);
            // Numbers of other alignments.
            left.insert(0, 7);
            right.insert(0, 8);
            assert_eq!(order(&left[1..], &right[1..]).signum(), left[1..].cmp(&right[1..]) as i32);
        }
    }
}
