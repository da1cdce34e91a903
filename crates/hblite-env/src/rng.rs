//! Randomness for file names and region ids: real, or from a seed.

use std::fmt::Debug;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of random numbers.
pub trait Random: Send + Sync + Debug {
    /// The next number, uniform over all 64-bit values.
    fn next_u64(&self) -> u64;
}

/// The splitmix64 generator: small, and good enough for names. Not for secrets.
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    /// A generator that returns the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// A generator seeded by the operating system.
    pub fn from_entropy() -> Self {
        Self::new(RandomState::new().hash_one(std::process::id()))
    }
}

impl Random for SeededRandom {
    fn next_u64(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
