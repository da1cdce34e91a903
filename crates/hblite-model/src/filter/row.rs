//! Filters on row keys: comparison, prefix, stop row, chance.

use std::cmp::Ordering;

use super::state::{Evaluate, ReturnCode};
use super::{Comparator, CompareOperator};
use crate::cell::CellRef;
use crate::direction::Direction;
use crate::error::Result;

/// The answer for the cells of a row that was decided by its key.
fn by_row(rejected: bool) -> ReturnCode {
    if rejected { ReturnCode::NextRow } else { ReturnCode::Include }
}

/// `RowFilter`.
#[derive(Debug)]
pub(super) struct Row {
    operator: CompareOperator,
    comparator: Comparator,
    rejected: bool,
}

impl Row {
    pub(super) fn new(operator: CompareOperator, comparator: Comparator) -> Self {
        Self { operator, comparator, rejected: false }
    }
}

impl Evaluate for Row {
    fn reset(&mut self) {
        self.rejected = false;
    }

    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if !self.comparator.passes(self.operator, row)? {
            self.rejected = true;
        }
        Ok(self.rejected)
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(by_row(self.rejected))
    }

    fn filter_row(&mut self) -> bool {
        self.rejected
    }
}

/// `PrefixFilter`.
#[derive(Debug)]
pub(super) struct Prefix {
    prefix: Vec<u8>,
    direction: Direction,
    /// Whether rows from here on are past the prefix.
    is_past: bool,
    /// True until a row has passed: without a call of `filter_row_key` no row does.
    rejected: bool,
}

impl Prefix {
    pub(super) fn new(prefix: Vec<u8>, direction: Direction) -> Self {
        Self { prefix, direction, is_past: false, rejected: true }
    }
}

impl Evaluate for Prefix {
    fn reset(&mut self) {
        self.rejected = true;
    }

    fn filter_all_remaining(&self) -> bool {
        self.is_past
    }

    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        // A row shorter than the prefix proves nothing, so the scan continues after it.
        let Some(head) = row.get(..self.prefix.len()).filter(|_| !self.is_past) else {
            return Ok(true);
        };
        let ordering = head.cmp(self.prefix.as_slice());
        if self.direction.apply(ordering) == Ordering::Greater {
            self.is_past = true;
        }
        self.rejected = ordering != Ordering::Equal;
        Ok(self.rejected)
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(by_row(self.rejected))
    }

    fn filter_row(&mut self) -> bool {
        self.rejected
    }
}

/// `InclusiveStopFilter`.
#[derive(Debug)]
pub(super) struct InclusiveStop {
    stop_row: Vec<u8>,
    direction: Direction,
    is_done: bool,
}

impl InclusiveStop {
    pub(super) fn new(stop_row: Vec<u8>, direction: Direction) -> Self {
        Self { stop_row, direction, is_done: false }
    }
}

impl Evaluate for InclusiveStop {
    fn filter_all_remaining(&self) -> bool {
        self.is_done
    }

    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if !self.is_done {
            let ordering = row.cmp(self.stop_row.as_slice());
            self.is_done = self.direction.apply(ordering) == Ordering::Greater;
        }
        Ok(self.is_done)
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(by_row(self.is_done))
    }
}

/// `RandomRowFilter`.
#[derive(Debug)]
pub(super) struct RandomRow {
    chance: f32,
    state: u64,
    rejected: bool,
}

impl RandomRow {
    pub(super) fn new(chance: f32, seed: u64) -> Self {
        Self { chance, state: seed, rejected: false }
    }

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

impl Evaluate for RandomRow {
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
