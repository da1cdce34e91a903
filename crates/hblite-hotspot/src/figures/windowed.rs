//! Figures per time window, and their summary over all windows.

use serde::{Deserialize, Serialize};

use super::{FigureName, Figures};

/// The summary of the figures of many windows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Windowed {
    /// Mean of the windows' figures, each window weighted by its load: what the average request
    /// sees.
    pub mean: Figures,
    /// The worst window, separately for each figure.
    pub worst: Figures,
    /// Windows with any load.
    pub windows: usize,
}

impl Windowed {
    /// Summarizes the loads of successive windows. Windows without load are ignored; so are
    /// windows with a single region, which nothing can spread, if others have more. `None` if no
    /// window has load.
    ///
    /// ```
    /// use hblite_hotspot::figures::{Figures, Windowed};
    /// // Sequential keys: each window has one region, the whole run all of them.
    /// let windows = [[9, 0, 0], [0, 9, 0], [0, 0, 9]];
    /// let windowed = Windowed::of(windows.iter().map(|loads| loads.as_slice())).expect("load");
    /// assert_eq!(windowed.mean.max_over_mean, 3.0);
    /// assert_eq!(Figures::of(&[9, 9, 9]).expect("load").max_over_mean, 1.0);
    /// ```
    pub fn of<'w>(windows: impl IntoIterator<Item = &'w [u64]>) -> Option<Self> {
        let windows: Vec<&[u64]> = windows.into_iter().collect();
        let has_many = windows.iter().any(|loads| loads.len() > 1);
        let mut sum: Option<Self> = None;
        let mut total = 0.0;
        for loads in windows.into_iter().filter(|loads| loads.len() > 1 || !has_many) {
            let Some(figures) = Figures::of(loads) else { continue };
            let weight: f64 = loads.iter().map(|&load| load as f64).sum();
            total += weight;
            let windowed = sum.get_or_insert(Self { mean: zero(), worst: figures, windows: 0 });
            windowed.windows += 1;
            for (name, value) in figures.named() {
                windowed.mean.set(name, windowed.mean.get(name) + weight * value);
                windowed.worst.set(name, worse(name, windowed.worst.get(name), value));
            }
        }
        let mut windowed = sum?;
        for name in FigureName::ALL {
            windowed.mean.set(name, windowed.mean.get(name) / total);
        }
        Some(windowed)
    }
}

fn zero() -> Figures {
    Figures {
        hottest_share: 0.0,
        max_over_mean: 0.0,
        coefficient_of_variation: 0.0,
        gini: 0.0,
        normalised_entropy: 0.0,
        effective_count: 0.0,
    }
}

fn worse(name: FigureName, one: f64, other: f64) -> f64 {
    if name.is_better_when_greater() { one.min(other) } else { one.max(other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_counts_by_its_load() {
        let windows: [&[u64]; 3] = [&[3, 1], &[0, 0], &[12, 0]];
        let windowed = Windowed::of(windows).expect("load");
        assert_eq!(windowed.windows, 2);
        // max/mean 1.5 with weight 4, 2 with weight 12.
        assert!((windowed.mean.max_over_mean - (1.5 * 4.0 + 2.0 * 12.0) / 16.0).abs() < 1e-12);
        assert_eq!(windowed.worst.max_over_mean, 2.0);
        assert_eq!(windowed.worst.effective_count, 1.0);
    }

    #[test]
    fn a_table_with_one_region_says_nothing_about_spread() {
        let windowed = Windowed::of([&[90][..], &[90], &[0, 9], &[0, 0, 9]]).expect("load");
        assert_eq!((windowed.mean.max_over_mean, windowed.windows), (2.5, 2));
        let windowed = Windowed::of([&[90][..], &[90]]).expect("load");
        assert_eq!((windowed.mean.max_over_mean, windowed.windows), (1.0, 2));
    }

    #[test]
    fn no_load_has_no_figures() {
        assert_eq!(Windowed::of([[0u64, 0].as_slice()]), None);
    }
}
