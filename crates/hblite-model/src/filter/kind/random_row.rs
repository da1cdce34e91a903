//! `RandomRowFilter`: a random part of the rows.

use std::fmt;

use super::{Filter, Kind, by_row};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};

/// A random part of the rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RandomRowFilter {
    /// Share of the rows: below 0 none, above 1 all.
    pub chance: f32,
}

impl Filter {
    /// Each row with this probability (`RandomRowFilter`).
    pub fn random_row(chance: f32) -> Self {
        Self::RandomRow(RandomRowFilter { chance })
    }
}

impl Kind for RandomRowFilter {
    fn evaluator(&self, make: &mut Evaluators) -> Box<dyn Evaluate> {
        let (chance, state) = (self.chance, make.next_seed());
        Box::new(Evaluator { chance, state, rejected: false })
    }

    fn has_filter_row(&self) -> bool {
        true
    }
}

impl fmt::Display for RandomRowFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RandomRowFilter")
    }
}

#[derive(Debug)]
struct Evaluator {
    chance: f32,
    state: u64,
    rejected: bool,
}

impl Evaluator {
    /// The next number of a splitmix64 generator, in `[0, 1)`.
    fn next_fraction(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // An f32 holds 24 bits without rounding up to 1.
        (mixed >> 40) as f32 / (1u32 << 24) as f32
    }
}

impl Evaluate for Evaluator {
    fn reset(&mut self) {
        self.rejected = false;
    }

    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        self.rejected = if self.chance < 0.0 {
            true
        } else if self.chance > 1.0 {
            false
        } else {
            let passes = self.next_fraction() < self.chance;
            !passes
        };
        Ok(self.rejected)
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(by_row(self.rejected))
    }

    fn filter_row(&mut self) -> bool {
        self.rejected
    }
}
