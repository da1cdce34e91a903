//! Which entity comes when: the same stream for all candidates of a study.

use std::ops::Range;

use super::error::RunError;
use super::options::RunOptions;
use super::target::Target;
use crate::generate::{Arrivals, Entities};
use crate::study::Moment;

/// The stream of a run.
#[derive(Debug)]
pub struct Stream {
    arrivals_ns: Vec<u64>,
    entities: Vec<u32>,
    entity_count: u64,
    windows: Vec<WindowOfStream>,
    /// Records a second.
    rate: f64,
    seed: u64,
}

/// A slice of the simulated clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WindowOfStream {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) records: Range<usize>,
}

impl Stream {
    /// The stream for the designs of a study, one of which supplies the number of entities if the
    /// options do not.
    ///
    /// # Errors
    /// [`RunError::Settings`] if a setting is out of range.
    pub fn new(target: &dyn Target, options: &RunOptions) -> Result<Self, RunError> {
        options.check()?;
        let entity_count = options.entities.unwrap_or_else(|| target.entities(options.records));
        let entity_count = entity_count.clamp(1, u64::from(u32::MAX));
        let law = options.distribution.entities;
        let mut entities = Entities::new(law, entity_count, options.records, options.seed);
        let burst = options.distribution.burst;
        let mut arrivals = Arrivals::new(options.rate, burst, options.records, options.seed);
        let count = options.records as usize;
        let arrivals_ns: Vec<u64> = (0..count).map(|_| arrivals.next_ns()).collect();
        // There are fewer than 2^32 entities.
        let entities = (0..count).map(|_| entities.next_entity() as u32).collect();
        let windows = windows(&arrivals_ns, options.windows);
        let (rate, seed) = (options.rate, options.seed);
        Ok(Self { arrivals_ns, entities, entity_count, windows, rate, seed })
    }

    /// The stream of recorded data: one record after the other, at these times in milliseconds
    /// or, without times, at the options' rate.
    ///
    /// # Errors
    /// [`RunError::Settings`] if a setting is out of range.
    pub fn recorded(times_ms: Option<&[u64]>, options: &RunOptions) -> Result<Self, RunError> {
        options.check()?;
        let count = options.records as usize;
        let arrivals_ns: Vec<u64> = match times_ms {
            Some(times) => {
                let first = times.first().copied().unwrap_or(0);
                let since = |time: &u64| time.saturating_sub(first).saturating_mul(1_000_000);
                times.iter().map(since).collect()
            }
            None => (0..count).map(|index| (index as f64 / options.rate * 1e9) as u64).collect(),
        };
        let windows = windows(&arrivals_ns, options.windows);
        let entities = vec![0; arrivals_ns.len()];
        let recorded_s = arrivals_ns.last().map_or(0.0, |last| *last as f64 / 1e9);
        let rate = match times_ms.is_some() && recorded_s > 0.0 {
            true => count as f64 / recorded_s,
            false => options.rate,
        };
        Ok(Self { arrivals_ns, entities, entity_count: 1, windows, rate, seed: options.seed })
    }

    /// Records.
    pub fn len(&self) -> usize {
        self.arrivals_ns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.arrivals_ns.is_empty()
    }

    /// The number of entities.
    pub fn entities(&self) -> u64 {
        self.entity_count
    }

    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    pub(super) fn windows(&self) -> &[WindowOfStream] {
        &self.windows
    }

    pub(super) fn duration_ms(&self) -> u64 {
        self.windows.last().map_or(1, |window| (window.end_ns / 1_000_000).max(1))
    }

    pub(super) fn arrival_ns(&self, index: usize) -> u64 {
        self.arrivals_ns[index]
    }

    pub(super) fn moment(&self, index: usize) -> Moment {
        Moment {
            entity: u64::from(self.entities[index]),
            sequence: index as u64,
            arrival_ns: self.arrivals_ns[index],
            seed: self.seed,
        }
    }
}

/// Slices of equal time.
fn windows(arrivals_ns: &[u64], count: usize) -> Vec<WindowOfStream> {
    let end_ns = arrivals_ns.last().map_or(0, |last| last + 1);
    let border = |index: usize| (u128::from(end_ns) * index as u128 / count as u128) as u64;
    let position = |at_ns: u64| arrivals_ns.partition_point(|arrival_ns| *arrival_ns < at_ns);
    let window = |index: usize| WindowOfStream {
        start_ns: border(index),
        end_ns: border(index + 1),
        records: position(border(index))..position(border(index + 1)),
    };
    (0..count).map(window).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_equal_in_time_and_hold_everything() {
        let arrivals = [0, 1, 2, 50, 98, 99];
        let windows = windows(&arrivals, 4);
        let borders: Vec<(u64, u64)> =
            windows.iter().map(|window| (window.start_ns, window.end_ns)).collect();
        assert_eq!(borders, [(0, 25), (25, 50), (50, 75), (75, 100)]);
        let records: Vec<_> = windows.into_iter().map(|window| window.records).collect();
        assert_eq!(records, [0..3, 3..3, 3..4, 4..6]);
    }

    /// The rate of recorded data is their own, not that of the options.
    #[test]
    fn recorded_times_have_their_rate() {
        let options = RunOptions::default().with_records(101).with_windows(4);
        let times: Vec<u64> = (0..101).map(|index| 1_700_000_000_000 + index * 500).collect();
        let rate = |times| Stream::recorded(times, &options).expect("a stream").rate();
        assert_eq!(rate(Some(times.as_slice())), 101.0 / 50.0);
        assert_eq!(rate(None), 10_000.0);
    }
}
