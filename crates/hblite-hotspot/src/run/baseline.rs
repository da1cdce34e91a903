//! Measured service times, relative to a common baseline.
//!
//! The speed of a machine changes while designs are run one after the other, so that times of equal
//! designs differ. Each timed put of a design is paired with a put to a baseline table, the same in
//! all runs: a random key of 8 bytes and the same value, right before or right after. In each
//! window the design's times are divided by the median of the baseline's. A baseline put counts as
//! [`BASELINE_NS`].

use std::time::Instant;

use hblite::{
    ColumnFamilyDescriptor, Connection, Durability, Put, Table, TableDescriptor, TableName,
};

use super::error::RunError;
use crate::mix::mixed;
use crate::result::MeasuredPuts;

/// What a baseline put counts as: about what a put takes in HBase.
pub const BASELINE_NS: f64 = 200_000.0;

/// Relative times kept for the simulation.
const SAMPLES_MAX: usize = 8192;

const NAME: &str = "hblite_hotspot_baseline";
const FAMILY: &[u8] = b"d";

/// Times of a put of the design and of a baseline put, in nanoseconds.
pub(super) type Pair = (u64, u64);

/// The baseline table.
pub(super) struct Baseline {
    table: Table,
}

/// The baseline table, to be created.
pub(super) fn table() -> Result<TableDescriptor, RunError> {
    let family = ColumnFamilyDescriptor::new(FAMILY);
    Ok(TableDescriptor::new(NAME.parse::<TableName>()?).with_family(family))
}

impl Baseline {
    /// The table, which was created with those of the design.
    pub(super) fn open(connection: &Connection) -> Result<Self, RunError> {
        Ok(Self { table: connection.table(NAME)? })
    }

    /// Times a put of a design and a baseline put; which of them is first alternates.
    pub(super) fn pair(
        &self,
        table: &Table,
        put: &Put,
        value: &[u8],
        index: usize,
    ) -> Result<Pair, RunError> {
        let key = mixed(index as u64).to_be_bytes();
        let own =
            Put::new(key).with_durability(Durability::SkipWal).add(FAMILY, b"v".as_slice(), value);
        Ok(if index.is_multiple_of(2) {
            let first = timed(&self.table, &own)?;
            (timed(table, put)?, first)
        } else {
            (timed(table, put)?, timed(&self.table, &own)?)
        })
    }
}

/// How long a put takes, in nanoseconds; at least one.
pub(super) fn timed(table: &Table, put: &Put) -> Result<u64, RunError> {
    let started = Instant::now();
    table.put(put)?;
    Ok((started.elapsed().as_nanos() as u64).max(1))
}

/// The pairs of all windows.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// Relative cost of a put, per window.
    windows: Vec<f64>,
    /// Median of the baseline, per window, in nanoseconds.
    baselines: Vec<f64>,
    relative_ns: Vec<u64>,
    pairs: u64,
}

impl Measured {
    /// Adds the pairs of a window.
    pub(super) fn add(&mut self, pairs: &[Pair]) {
        if pairs.is_empty() {
            return;
        }
        let baseline = median(pairs.iter().map(|pair| pair.1 as f64).collect());
        let own = median(pairs.iter().map(|pair| pair.0 as f64).collect());
        self.pairs += pairs.len() as u64;
        self.windows.push(own / baseline);
        self.baselines.push(baseline);
        let relative = pairs.iter().map(|pair| (pair.0 as f64 / baseline * BASELINE_NS) as u64);
        let room = SAMPLES_MAX.saturating_sub(self.relative_ns.len());
        self.relative_ns.extend(relative.take(room));
    }

    /// Service times for the simulation, in nanoseconds.
    pub(super) fn relative_ns(&self) -> &[u64] {
        &self.relative_ns
    }

    /// The summary; `None` if nothing was measured.
    pub(super) fn summary(&self) -> Option<MeasuredPuts> {
        (!self.windows.is_empty()).then(|| MeasuredPuts {
            pairs: self.pairs,
            baseline_ns: median(self.baselines.clone()),
            relative_cost: median(self.windows.clone()),
            relative_cost_low: quantile(self.windows.clone(), 0.25),
            relative_cost_high: quantile(self.windows.clone(), 0.75),
        })
    }
}

fn median(values: Vec<f64>) -> f64 {
    quantile(values, 0.5)
}

/// The value below which a share of the values is; there is at least one.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that becomes four times as slow in the middle of a run, and at other moments for
    /// another design: relative costs stay the same.
    #[test]
    fn a_slow_machine_does_not_change_relative_costs() {
        let run = |cost: f64, slow: std::ops::Range<u64>| {
            let mut measured = Measured::default();
            for window in 0..40 {
                let speed = if slow.contains(&window) { 4.0 } else { 1.0 };
                let time = |index: u64, cost: f64| {
                    let noise = 0.9 + (mixed(index) % 200) as f64 / 1000.0;
                    (10_000.0 * speed * cost * noise) as u64
                };
                let pairs = (0..16).map(|index| {
                    let number = window * 100 + index;
                    (time(number, cost), time(number ^ 0xFFFF, 1.0))
                });
                measured.add(&pairs.collect::<Vec<_>>());
            }
            measured
        };
        let (one, other) = (run(1.5, 0..10), run(1.5, 25..40));
        for measured in [&one, &other] {
            let summary = measured.summary().expect("pairs");
            assert_eq!(summary.pairs, 640);
            let MeasuredPuts { relative_cost, relative_cost_low, relative_cost_high, .. } = summary;
            assert!((relative_cost - 1.5).abs() < 0.05, "{summary:?}");
            assert!(relative_cost_low <= relative_cost && relative_cost <= relative_cost_high);
            assert!(relative_cost_high - relative_cost_low < 0.2, "{summary:?}");
            let sum: u64 = measured.relative_ns().iter().sum();
            let mean = sum as f64 / measured.relative_ns().len() as f64;
            assert!((mean / (1.5 * BASELINE_NS) - 1.0).abs() < 0.05, "{mean}");
        }
        assert_eq!(Measured::default().summary(), None);
    }
}
