//! Which rows requests were for, counted per region.
//!
//! A list of the heaviest rows is of bounded size, and exact but for an error that it states
//! ([`SpaceSaving`](super::SpaceSaving)).

use std::collections::HashMap;

use super::{CallerCounts, LargeItem};
use crate::TableName;

/// The counts since an earlier call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Identifies this moment: the next call gets what came after it.
    pub until: u64,
    /// The regions that had requests, in no order.
    pub regions: Vec<RegionRows>,
    /// Some of the requests, the earliest first.
    pub sample: Vec<SampledRow>,
    /// Who sent the requests of clients, if a server counts them.
    pub callers: CallerCounts,
    /// What is large now, the largest first: at most [`LARGE_MAX`].
    pub large: Vec<LargeItem>,
}

/// The rows of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionRows {
    /// Its table.
    pub table: TableName,
    /// Its encoded name.
    pub region: String,
    /// Gets and scans; a scan counts for the row at which it begins.
    pub reads: HeavyRows,
    /// Mutations.
    pub writes: HeavyRows,
    /// Waits of writes for locks of rows.
    pub waits: RowWaits,
}

/// The rows for whose locks was waited the longest.
///
/// A time is at most [`error_micros`](RowWaits::error_micros) too short and never too long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowWaits {
    /// All waits.
    pub waits: u64,
    /// How long they took together, in microseconds.
    pub micros: u64,
    /// How much too short the time of a row is at most.
    pub error_micros: u64,
    /// The rows that were held, the one that was waited for the longest first.
    pub rows: Vec<WaitedRow>,
}

/// A row that was held while others waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitedRow {
    /// The row, cut after [`ROW_MAX`] bytes; empty if it is not known, because a plain write held
    /// it.
    pub row: Vec<u8>,
    /// For how long was waited, in microseconds.
    pub micros: u64,
    /// How often, as far as that is known.
    pub waits: u64,
}

/// The heaviest of the rows that were requested.
///
/// A count is at most [`error`](HeavyRows::error) too low and never too high, and so is the count
/// 0 of a row that is not in the list. Under a high load only one request in n is counted, as n:
/// then a count of c of N requests also has the standard error of a sample of N / n.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeavyRows {
    /// All requests.
    pub requests: u64,
    /// How much too low a count is at most.
    pub error: u64,
    /// Rows with their requests, the most first. A row is cut after [`ROW_MAX`] bytes.
    pub rows: Vec<(Vec<u8>, u64)>,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledRow {
    /// The place of its region in [`RowCounts::regions`].
    pub region: u32,
    /// Whether it wrote.
    pub is_write: bool,
    /// The row, cut after [`ROW_MAX`] bytes.
    pub row: Vec<u8>,
}

/// Bytes of a row that are kept.
pub const ROW_MAX: usize = 128;
/// Rows of a list.
pub const HEAVY_ROWS_MAX: usize = 64;
/// Large cells and rows in a list.
pub const LARGE_MAX: usize = 64;
/// Rows of a list of waits.
pub const WAITED_ROWS_MAX: usize = 16;

impl HeavyRows {
    /// Adds the counts of another time.
    pub fn add(&mut self, later: &Self) {
        self.requests = self.requests.saturating_add(later.requests);
        self.error = self.error.saturating_add(later.error);
        let mut counts: HashMap<Vec<u8>, u64> = self.rows.drain(..).collect();
        for (row, count) in &later.rows {
            let sum = counts.entry(row.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.rows = counts.into_iter().collect();
        self.keep_the_heaviest();
    }

    /// Orders the rows, and drops those that are too many.
    pub fn keep_the_heaviest(&mut self) {
        self.rows.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        if let Some((_, dropped)) = self.rows.get(HEAVY_ROWS_MAX) {
            self.error = self.error.saturating_add(*dropped);
            self.rows.truncate(HEAVY_ROWS_MAX);
        }
    }
}

impl RowWaits {
    /// Adds the waits of another time.
    pub fn add(&mut self, later: &Self) {
        self.waits = self.waits.saturating_add(later.waits);
        self.micros = self.micros.saturating_add(later.micros);
        self.error_micros = self.error_micros.saturating_add(later.error_micros);
        for row in &later.rows {
            match self.rows.iter_mut().find(|known| known.row == row.row) {
                Some(known) => {
                    known.micros = known.micros.saturating_add(row.micros);
                    known.waits = known.waits.saturating_add(row.waits);
                }
                None => self.rows.push(row.clone()),
            }
        }
        self.keep_the_longest();
    }

    /// Orders the rows, and drops those that are too many.
    pub fn keep_the_longest(&mut self) {
        let order = |row: &WaitedRow| (std::cmp::Reverse(row.micros), row.row.clone());
        self.rows.sort_by_cached_key(order);
        if let Some(dropped) = self.rows.get(WAITED_ROWS_MAX) {
            self.error_micros = self.error_micros.saturating_add(dropped.micros);
            self.rows.truncate(WAITED_ROWS_MAX);
        }
    }
}

impl RowCounts {
    /// Adds the counts of the time that follows.
    pub fn add(&mut self, later: &Self) {
        self.until = later.until;
        self.callers.add(&later.callers);
        self.large.clone_from(&later.large);
        let mut places: HashMap<String, u32> = (0..)
            .zip(&self.regions)
            .map(|(place, region)| (region.region.clone(), place))
            .collect();
        let mut place_of = Vec::with_capacity(later.regions.len());
        for region in &later.regions {
            let next = self.regions.len() as u32;
            let place = *places.entry(region.region.clone()).or_insert(next);
            place_of.push(place);
            match self.regions.get_mut(place as usize) {
                Some(own) => {
                    own.reads.add(&region.reads);
                    own.writes.add(&region.writes);
                    own.waits.add(&region.waits);
                }
                None => self.regions.push(region.clone()),
            }
        }
        let moved = later.sample.iter().filter_map(|sampled| {
            let region = *place_of.get(sampled.region as usize)?;
            Some(SampledRow { region, ..sampled.clone() })
        });
        self.sample.extend(moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heavy(rows: &[(&str, u64)], error: u64) -> HeavyRows {
        let mut heavy = HeavyRows { error, ..HeavyRows::default() };
        for (row, count) in rows {
            heavy.requests += count;
            heavy.rows.push((row.as_bytes().to_vec(), *count));
        }
        heavy
    }

    #[test]
    fn counts_of_two_times_are_added_with_their_errors() {
        let mut sum = heavy(&[("a", 5), ("b", 3)], 2);
        sum.add(&heavy(&[("b", 4), ("c", 1)], 1));
        assert_eq!(sum, heavy(&[("b", 7), ("a", 5), ("c", 1)], 3));
        let many: Vec<(Vec<u8>, u64)> =
            (0..100).map(|row| (vec![row], 200 - u64::from(row))).collect();
        let mut sum = HeavyRows { requests: 20_000, error: 1, rows: many };
        sum.keep_the_heaviest();
        // A row with 136 requests is no longer in the list.
        assert_eq!((sum.rows.len(), sum.error), (HEAVY_ROWS_MAX, 137));
    }

    #[test]
    fn waits_of_two_times_are_added() {
        let row = |row: u8, micros| WaitedRow { row: vec![row], micros, waits: 1 };
        let waits = |rows: Vec<WaitedRow>| RowWaits {
            waits: rows.len() as u64,
            micros: rows.iter().map(|row| row.micros).sum(),
            error_micros: 0,
            rows,
        };
        let mut sum = waits(vec![row(1, 5), row(2, 3)]);
        sum.add(&waits(vec![row(2, 4)]));
        assert_eq!(sum.rows, [WaitedRow { waits: 2, ..row(2, 7) }, row(1, 5)]);
        assert_eq!((sum.waits, sum.micros, sum.error_micros), (3, 12, 0));
        sum.add(&waits((10..26).map(|number| row(number, 1)).collect()));
        assert_eq!((sum.rows.len(), sum.micros, sum.error_micros), (WAITED_ROWS_MAX, 28, 1));
    }

    #[test]
    fn regions_are_found_by_name() {
        let of = |region: &str, row: &str| RowCounts {
            until: 1,
            regions: vec![RegionRows {
                table: "t".parse().unwrap(),
                region: region.to_owned(),
                reads: HeavyRows::default(),
                writes: heavy(&[(row, 1)], 0),
                waits: RowWaits::default(),
            }],
            sample: vec![SampledRow { region: 0, is_write: true, row: row.into() }],
            callers: CallerCounts::default(),
            large: Vec::new(),
        };
        let mut sum = of("one", "a");
        sum.add(&of("two", "b"));
        sum.add(&of("one", "c"));
        let regions: Vec<u32> = sum.sample.iter().map(|sampled| sampled.region).collect();
        assert_eq!((sum.regions.len(), regions), (2, vec![0, 1, 0]));
        assert_eq!(sum.regions[0].writes.requests, 2);
    }
}
