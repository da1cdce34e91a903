//! The stream of requests: which entity each is about ([`Entities`]), and when it arrives
//! ([`Arrivals`]).
//!
//! A seed determines all of it. The laws are exact, unlike the approximations of YCSB, whose
//! scrambled Zipfian hashes several ranks to one entity: here a bijection maps ranks to entities.
//! Tests compare samples with the formulas.

mod arrivals;
mod distribution;
mod entities;
mod permutation;

pub use arrivals::Arrivals;
pub use distribution::{BadDistribution, Distribution, EntityLaw};
pub use entities::Entities;

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator for one purpose: the same seed gives unrelated numbers for another purpose.
pub(crate) fn random(seed: u64, purpose: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
pub(crate) mod chi_square {
    //! Pearson's test, with the bound from the normal approximation of Wilson and Hilferty.

    /// Fails if the counts are improbable (one in about 10⁵) under the probabilities. Neighbouring
    /// bins are joined until each expects 10 or more.
    pub(crate) fn assert_fits(counts: &[u64], probabilities: &[f64]) {
        assert_eq!(counts.len(), probabilities.len());
        let total: u64 = counts.iter().sum();
        let sum: f64 = probabilities.iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "the probabilities add up to {sum}");
        let mut bins: Vec<(f64, f64)> = Vec::new();
        let mut open = (0.0, 0.0);
        for (&count, &probability) in counts.iter().zip(probabilities) {
            open = (open.0 + count as f64, open.1 + probability * total as f64);
            if open.1 >= 10.0 {
                bins.push(std::mem::take(&mut open));
            }
        }
        if let Some(last) = bins.last_mut() {
            *last = (last.0 + open.0, last.1 + open.1);
        }
        assert!(bins.len() > 2, "there are bins to compare");
        let statistic: f64 =
            bins.iter().map(|(found, expected)| (found - expected).powi(2) / expected).sum();
        let degrees = (bins.len() - 1) as f64;
        let spread = (2.0 / (9.0 * degrees)).sqrt();
        let limit = degrees * (1.0 - 2.0 / (9.0 * degrees) + 4.26 * spread).powi(3);
        assert!(statistic < limit, "chi-square {statistic:.1} of {degrees} degrees > {limit:.1}");
    }
}
