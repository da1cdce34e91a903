//! A bijection of 0..n that scatters neighbours: a step that is coprime to n.

use rand::Rng;
use rand::RngExt as _;

/// Maps each rank to a different entity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Permutation {
    step: u64,
    shift: u64,
    count: u64,
}

impl Permutation {
    pub(super) fn new(count: u64, random: &mut impl Rng) -> Self {
        let shift = random.random_range(0..count);
        let mut step = random.random_range(0..count).max(1);
        while greatest_common_divisor(step, count) != 1 {
            step = step % count + 1;
        }
        Self { step, shift, count }
    }

    pub(super) fn apply(&self, rank: u64) -> u64 {
        let product = u128::from(rank) * u128::from(self.step) + u128::from(self.shift);
        (product % u128::from(self.count)) as u64
    }
}

fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::random;

    #[test]
    fn each_rank_has_an_entity_of_its_own() {
        for count in [1, 2, 3, 12, 97, 1000] {
            let permutation = Permutation::new(count, &mut random(count, 0));
            let mut entities: Vec<u64> = (0..count).map(|rank| permutation.apply(rank)).collect();
            entities.sort_unstable();
            assert_eq!(entities, (0..count).collect::<Vec<_>>());
        }
    }
}
