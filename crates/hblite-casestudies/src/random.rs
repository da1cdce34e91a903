//! Random numbers that are the same on every machine: ChaCha8, one stream per record.

use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

/// The random numbers of one record.
#[derive(Debug)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    /// Those of record `index`: any record can be generated without the ones before it.
    pub(crate) fn of(seed: u64, index: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(index);
        Self(random)
    }

    /// A number below `count`, which must not be 0.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        self.0.random_range(0..count)
    }

    /// Any number.
    pub(crate) fn number(&mut self) -> u64 {
        self.0.random()
    }

    /// One of these.
    pub(crate) fn one_of<'t, T: ?Sized>(&mut self, choices: &[&'t T]) -> &'t T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A size that follows a power law, in whole numbers: half of all draws give `unit`, a quarter
    /// twice that, an eighth four times, up to `greatest`.
    pub(crate) fn power_law(&mut self, unit: u64, greatest: u64) -> u64 {
        let doublings = self.number().leading_zeros().min(40);
        (unit << doublings).min(greatest)
    }
}
