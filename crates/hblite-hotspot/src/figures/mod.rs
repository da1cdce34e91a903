//! How evenly loads are spread: figures for one list of loads, and for one list per time window.
//!
//! These are pure functions over counts. A load is the work of one region (or server), in requests
//! or bytes. Sequential keys look even over a whole run and are hot at every moment, so look at the
//! figures per window first: [`Windowed`].

pub mod balancer;
mod windowed;

use serde::{Deserialize, Serialize};

pub use windowed::Windowed;

/// How evenly one list of loads is spread.
///
/// ```
/// use hblite_hotspot::figures::Figures;
/// let figures = Figures::of(&[60, 20, 20]).expect("there was load");
/// assert_eq!(figures.hottest_share, 0.6);
/// assert!((figures.max_over_mean - 1.8).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The hottest one's share of the whole load: 1/n if even, 1 if it has everything.
    pub hottest_share: f64,
    /// The hottest one's load over the mean load: 1 if even, n if it has everything.
    pub max_over_mean: f64,
    /// Standard deviation (of the population) over the mean: 0 if even, √(n−1) at worst.
    pub coefficient_of_variation: f64,
    /// Gini coefficient: 0 if even, (n−1)/n at worst.
    pub gini: f64,
    /// Shannon entropy of the shares over its maximum ln n: 1 if even, 0 at worst; 1 for n = 1.
    pub normalised_entropy: f64,
    /// The number of equally loaded ones with the same concentration: 1/Σ share², the inverse of
    /// the Herfindahl index. n if even, 1 at worst.
    pub effective_count: f64,
}

impl Figures {
    /// The figures of a list of loads; `None` if there was no load at all.
    pub fn of(loads: &[u64]) -> Option<Self> {
        let total: u128 = loads.iter().map(|&load| u128::from(load)).sum();
        if total == 0 {
            return None;
        }
        let count = loads.len() as f64;
        let total = total as f64;
        let mean = total / count;
        let max = loads.iter().copied().max().unwrap_or(0) as f64;
        let square_deviation: f64 = loads.iter().map(|&load| (load as f64 - mean).powi(2)).sum();
        let shares = || loads.iter().map(|&load| load as f64 / total);
        let entropy: f64 =
            shares().filter(|share| *share > 0.0).map(|share| -share * share.ln()).sum();
        let concentration: f64 = shares().map(|share| share * share).sum();
        Some(Self {
            hottest_share: max / total,
            max_over_mean: max / mean,
            coefficient_of_variation: (square_deviation / count).sqrt() / mean,
            gini: gini(loads, total),
            normalised_entropy: if loads.len() > 1 { entropy / count.ln() } else { 1.0 },
            effective_count: 1.0 / concentration,
        })
    }

    /// The figures by name, in the order in which tables show them.
    pub fn named(&self) -> [(FigureName, f64); 6] {
        FigureName::ALL.map(|name| (name, self.get(name)))
    }

    /// One figure.
    pub fn get(&self, name: FigureName) -> f64 {
        match name {
            FigureName::MaxOverMean => self.max_over_mean,
            FigureName::HottestShare => self.hottest_share,
            FigureName::CoefficientOfVariation => self.coefficient_of_variation,
            FigureName::Gini => self.gini,
            FigureName::Entropy => self.normalised_entropy,
            FigureName::Effective => self.effective_count,
        }
    }

    fn set(&mut self, name: FigureName, value: f64) {
        *match name {
            FigureName::MaxOverMean => &mut self.max_over_mean,
            FigureName::HottestShare => &mut self.hottest_share,
            FigureName::CoefficientOfVariation => &mut self.coefficient_of_variation,
            FigureName::Gini => &mut self.gini,
            FigureName::Entropy => &mut self.normalised_entropy,
            FigureName::Effective => &mut self.effective_count,
        } = value;
    }
}

/// The mean difference of all pairs over twice the mean, from the sorted loads.
fn gini(loads: &[u64], total: f64) -> f64 {
    let mut sorted = loads.to_vec();
    sorted.sort_unstable();
    let count = sorted.len() as f64;
    let weighted: f64 =
        sorted.iter().zip(1u32..).map(|(&load, rank)| f64::from(rank) * load as f64).sum();
    (2.0 * weighted / (count * total) - (count + 1.0) / count).max(0.0)
}

/// A figure of [`Figures`] by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureName {
    /// [`Figures::max_over_mean`], `max/mean`.
    MaxOverMean,
    /// [`Figures::hottest_share`], `hottest share`.
    HottestShare,
    /// [`Figures::coefficient_of_variation`], `cv`.
    CoefficientOfVariation,
    /// [`Figures::gini`], `gini`.
    Gini,
    /// [`Figures::normalised_entropy`], `entropy`.
    Entropy,
    /// [`Figures::effective_count`], `effective regions`.
    Effective,
}

impl FigureName {
    /// All, in the order in which tables show them.
    pub const ALL: [Self; 6] = [
        Self::MaxOverMean,
        Self::HottestShare,
        Self::CoefficientOfVariation,
        Self::Gini,
        Self::Entropy,
        Self::Effective,
    ];

    /// The name in tables and conditions.
    pub fn text(self) -> &'static str {
        match self {
            Self::MaxOverMean => "max/mean",
            Self::HottestShare => "hottest share",
            Self::CoefficientOfVariation => "cv",
            Self::Gini => "gini",
            Self::Entropy => "entropy",
            Self::Effective => "effective regions",
        }
    }

    /// Whether a greater value means a more even spread.
    pub fn is_better_when_greater(self) -> bool {
        matches!(self, Self::Entropy | Self::Effective)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(left: f64, right: f64) {
        assert!((left - right).abs() <= 1e-9 * right.abs().max(1.0), "{left} is not {right}");
    }

    #[test]
    fn a_small_list_has_the_figures_that_a_hand_computes() {
        let figures = Figures::of(&[10, 5, 3, 2]).expect("load");
        close(figures.hottest_share, 0.5);
        close(figures.max_over_mean, 2.0);
        // Deviations 5, 0, −2, −3 from 5: variance 38/4.
        close(figures.coefficient_of_variation, 9.5f64.sqrt() / 5.0);
        // Differences of pairs 5+7+8+2+3+1 = 26, twice, over 2·4²·5.
        close(figures.gini, 52.0 / 160.0);
        let entropy =
            -(0.5 * 0.5f64.ln() + 0.25 * 0.25f64.ln() + 0.15 * 0.15f64.ln() + 0.1 * 0.1f64.ln());
        close(figures.normalised_entropy, entropy / 4f64.ln());
        close(figures.effective_count, 1.0 / (0.25 + 0.0625 + 0.0225 + 0.01));
    }

    #[test]
    fn one_that_has_everything_is_the_worst() {
        let figures = Figures::of(&[0, 0, 80, 0]).expect("load");
        close(figures.hottest_share, 1.0);
        close(figures.max_over_mean, 4.0);
        close(figures.coefficient_of_variation, 3f64.sqrt());
        close(figures.gini, 0.75);
        close(figures.normalised_entropy, 0.0);
        close(figures.effective_count, 1.0);
    }

    #[test]
    fn no_load_has_no_figures() {
        assert_eq!(Figures::of(&[]), None);
        assert_eq!(Figures::of(&[0, 0]), None);
    }

    #[test]
    fn the_largest_counts_do_not_overflow() {
        let figures = Figures::of(&[u64::MAX; 3]).expect("load");
        close(figures.max_over_mean, 1.0);
    }

    proptest! {
        #[test]
        fn even_loads_are_even(load in 1..u64::from(u32::MAX), count in 1..200usize) {
            let figures = Figures::of(&vec![load; count]).expect("load");
            close(figures.max_over_mean, 1.0);
            close(figures.coefficient_of_variation, 0.0);
            close(figures.gini, 0.0);
            close(figures.normalised_entropy, 1.0);
            close(figures.effective_count, count as f64);
        }

        #[test]
        fn figures_stay_in_their_bounds(loads in prop::collection::vec(0..1_000_000u64, 1..60)) {
            let Some(figures) = Figures::of(&loads) else { return Ok(()) };
            let count = loads.len() as f64;
            let slack = 1e-9;
            prop_assert!(figures.hottest_share >= 1.0 / count - slack);
            prop_assert!(figures.hottest_share <= 1.0);
            prop_assert!(figures.gini <= (count - 1.0) / count + slack);
            prop_assert!((-slack..=1.0 + slack).contains(&figures.normalised_entropy));
            prop_assert!(figures.effective_count >= 1.0 - slack);
            close(figures.max_over_mean, figures.hottest_share * count);
            close(
                figures.effective_count,
                count / (1.0 + figures.coefficient_of_variation.powi(2)),
            );
        }

        #[test]
        fn order_and_scale_change_nothing(
            loads in prop::collection::vec(1..100_000u64, 1..40),
            factor in 1..1000u64,
        ) {
            let scaled: Vec<u64> = loads.iter().rev().map(|load| load * factor).collect();
            let (one, other) = (Figures::of(&loads), Figures::of(&scaled));
            let (one, other) = (one.expect("load"), other.expect("load"));
            for ((_, left), (_, right)) in one.named().into_iter().zip(other.named()) {
                close(left, right);
            }
        }

        #[test]
        fn load_that_moves_to_the_hotter_makes_it_worse(
            low in 1..1000u64, high in 1..1000u64, rest in prop::collection::vec(0..1000u64, 0..9),
        ) {
            let (low, high) = (low.min(high), low.max(high));
            let with = |low: u64, high: u64| {
                Figures::of(&[&[low, high], rest.as_slice()].concat()).expect("load")
            };
            let (before, after) = (with(low, high), with(low - 1, high + 1));
            prop_assert!(after.gini > before.gini - 1e-12);
            prop_assert!(after.coefficient_of_variation > before.coefficient_of_variation);
            prop_assert!(after.normalised_entropy < before.normalised_entropy + 1e-12);
        }
    }
}
