//! The sequence of entities that requests are about.

use rand::RngExt as _;
use rand_distr::weighted::WeightedAliasIndex;
use rand_distr::{Distribution as _, Pareto, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::distribution::EntityLaw;
use super::permutation::Permutation;
use super::random;

const PURPOSE: u64 = 1;
const PURPOSE_WEIGHTS: u64 = 2;

/// Returns the entity, 0 to n − 1, of successive requests, without end.
///
/// ```
/// use hblite_hotspot::generate::{Entities, EntityLaw};
/// let mut entities = Entities::new(EntityLaw::Zipfian { theta: 0.99 }, 1000, 5000, 7);
/// assert!((0..5000).all(|_| entities.next_entity() < 1000));
/// ```
#[derive(Debug)]
pub struct Entities {
    random: Xoshiro256PlusPlus,
    count: u64,
    requests: u64,
    drawn: u64,
    law: Law,
}

#[derive(Debug)]
enum Law {
    Uniform,
    Zipfian { ranks: Zipf<f64>, permutation: Permutation },
    Latest { theta: f64 },
    Weighted(WeightedAliasIndex<f64>),
}

impl Entities {
    /// A stream over `count` entities (at least one). The population of [`EntityLaw::Latest`] grows
    /// over the expected number of `requests`.
    pub fn new(law: EntityLaw, count: u64, requests: u64, seed: u64) -> Self {
        let count = count.clamp(1, u64::from(u32::MAX));
        let mut generator = random(seed, PURPOSE);
        let law = match law {
            EntityLaw::Uniform => Law::Uniform,
            EntityLaw::Zipfian { theta } => Law::Zipfian {
                ranks: zipf(count, theta),
                permutation: Permutation::new(count, &mut generator),
            },
            EntityLaw::Latest { theta } => Law::Latest { theta },
            EntityLaw::PowerLaw { alpha } => Law::Weighted(
                WeightedAliasIndex::new(weights(alpha, count, seed))
                    .expect("weights are positive and finite"),
            ),
        };
        Self { random: generator, count, requests: requests.max(1), drawn: 0, law }
    }

    /// The entity of the next request.
    pub fn next_entity(&mut self) -> u64 {
        let entity = match &self.law {
            Law::Uniform => self.random.random_range(0..self.count),
            Law::Zipfian { ranks, permutation } => {
                permutation.apply(ranks.sample(&mut self.random) as u64 - 1)
            }
            Law::Latest { theta } => {
                let population = self.population();
                let rank = zipf(population, *theta).sample(&mut self.random) as u64;
                population - rank
            }
            Law::Weighted(weights) => weights.sample(&mut self.random) as u64,
        };
        self.drawn += 1;
        entity
    }

    /// The number of entities so far.
    fn population(&self) -> u64 {
        let grown = u128::from(self.count) * u128::from(self.drawn + 1);
        (grown.div_ceil(u128::from(self.requests)) as u64).clamp(1, self.count)
    }
}

fn zipf(count: u64, theta: f64) -> Zipf<f64> {
    Zipf::new(count as f64, theta).expect("there is an entity, and the exponent is not negative")
}

fn weights(alpha: f64, count: u64, seed: u64) -> Vec<f64> {
    let pareto = Pareto::new(1.0, alpha - 1.0).expect("the exponent is above 1");
    let mut generator = random(seed, PURPOSE_WEIGHTS);
    // A larger weight would make the others vanish in the sum.
    (0..count).map(|_| pareto.sample(&mut generator).min(1e12)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::chi_square::assert_fits;
    use super::*;

    const REQUESTS: u64 = 400_000;

    fn counts(law: EntityLaw, count: u64, seed: u64) -> Vec<u64> {
        let mut entities = Entities::new(law, count, REQUESTS, seed);
        let mut counts = vec![0; count as usize];
        for _ in 0..REQUESTS {
            counts[entities.next_entity() as usize] += 1;
        }
        counts
    }

    fn zipf_probabilities(count: u64, theta: f64) -> Vec<f64> {
        let weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-theta)).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    #[test]
    fn uniform_is_uniform() {
        assert_fits(&counts(EntityLaw::Uniform, 1000, 1), &vec![1e-3; 1000]);
    }

    #[test]
    fn zipfian_follows_its_formula() {
        for (theta, seed) in [(0.0, 1), (0.5, 2), (0.99, 3), (1.0, 4), (1.5, 5), (3.0, 6)] {
            let found = counts(EntityLaw::Zipfian { theta }, 1000, seed);
            let permutation = Permutation::new(1000, &mut random(seed, PURPOSE));
            let by_rank: Vec<u64> =
                (0..1000).map(|rank| found[permutation.apply(rank) as usize]).collect();
            assert_fits(&by_rank, &zipf_probabilities(1000, theta));
        }
    }

    #[test]
    fn latest_follows_its_formula_by_age() {
        let mut entities = Entities::new(EntityLaw::Latest { theta: 0.99 }, 500, REQUESTS, 9);
        let mut by_age = vec![0u64; 500];
        // From the moment on at which the population is complete, and before it when there are 250.
        let mut young = vec![0u64; 250];
        for request in 0..2 * REQUESTS {
            let population = entities.population();
            let entity = entities.next_entity();
            assert!(entity < population);
            if request >= REQUESTS {
                by_age[(population - 1 - entity) as usize] += 1;
            } else if population == 250 {
                young[(population - 1 - entity) as usize] += 1;
            }
        }
        assert_fits(&by_age, &zipf_probabilities(500, 0.99));
        assert_fits(&young, &zipf_probabilities(250, 0.99));
    }

    #[test]
    fn power_law_weights_and_shares_follow_their_formulas() {
        let alpha = 2.2;
        let weights = weights(alpha, 100_000, 11);
        // P(weight > x) = x^(1−α), in bins of equal probability.
        let mut bins = vec![0u64; 50];
        for weight in &weights {
            bins[((weight.powf(1.0 - alpha) * 50.0) as usize).min(49)] += 1;
        }
        assert_fits(&bins, &[0.02; 50]);

        let weights = super::weights(alpha, 1000, 12);
        let sum: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        assert_fits(&counts(EntityLaw::PowerLaw { alpha }, 1000, 12), &shares);
    }

    #[test]
    fn a_seed_gives_the_same_stream_and_another_seed_another() {
        let stream = |seed| {
            let mut entities = Entities::new(EntityLaw::Zipfian { theta: 0.9 }, 1 << 20, 100, seed);
            (0..100).map(|_| entities.next_entity()).collect::<Vec<_>>()
        };
        assert_eq!(stream(1), stream(1));
        assert_ne!(stream(1), stream(2));
        // The same in this version and all later ones, so that old results can be reproduced.
        assert_eq!(stream(1)[..4], PINNED);
    }

    const PINNED: [u64; 4] = [1_016_886, 732_756, 134_339, 281_699];
}
