//! How busy servers are over time.

use serde::{Deserialize, Serialize};

/// The maximum number of steps. There are at least half as many, unless the simulation is short.
const STEPS_MAX: usize = 120;
/// The first length of a step.
const STEP_NS: u64 = 1_000;

/// The utilization of each server in steps of equal length.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Length of a step, in nanoseconds.
    pub step_ns: u64,
    /// For each server the share of its handlers' time spent working, per step, 0 to 1.
    pub servers: Vec<Vec<f64>>,
}

/// Collects working times. Steps double in length when there are too many.
#[derive(Debug)]
pub(super) struct BusyTime {
    step_ns: u64,
    servers: Vec<Vec<u64>>,
}

impl BusyTime {
    pub(super) fn new(servers: usize) -> Self {
        Self { step_ns: STEP_NS, servers: vec![Vec::new(); servers] }
    }

    /// Adds an interval of work to every step that it overlaps.
    pub(super) fn add(&mut self, server: usize, start_ns: u64, duration_ns: u64) {
        let end_ns = start_ns.saturating_add(duration_ns);
        while end_ns / self.step_ns >= STEPS_MAX as u64 {
            self.step_ns *= 2;
            for steps in &mut self.servers {
                let merged = steps.chunks(2).map(|pair| pair.iter().sum());
                *steps = merged.collect();
            }
        }
        let steps = &mut self.servers[server];
        let (first, last) = (start_ns / self.step_ns, end_ns / self.step_ns);
        if steps.len() <= last as usize {
            steps.resize(last as usize + 1, 0);
        }
        for step in first..=last {
            let from = start_ns.max(step * self.step_ns);
            let to = end_ns.min((step + 1) * self.step_ns);
            steps[step as usize] += to - from;
        }
    }

    pub(super) fn finish(&self, handlers: usize) -> Timeline {
        let count = self.servers.iter().map(Vec::len).max().unwrap_or(0);
        let capacity = self.step_ns as f64 * handlers as f64;
        let shares = |steps: &Vec<u64>| {
            let share = |step| steps.get(step).map_or(0.0, |busy| *busy as f64 / capacity);
            (0..count).map(share).collect()
        };
        Timeline { step_ns: self.step_ns, servers: self.servers.iter().map(shares).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_kept_when_steps_grow() {
        let mut busy = BusyTime::new(2);
        for start in 0..1_000 {
            busy.add((start % 2) as usize, start * 10_000, 5_000);
        }
        let timeline = busy.finish(1);
        let worked =
            |server: usize| timeline.servers[server].iter().sum::<f64>() * timeline.step_ns as f64;
        assert!((worked(0) - 2_500_000.0).abs() < 1.0 && (worked(1) - 2_500_000.0).abs() < 1.0);
        let count = timeline.servers[0].len();
        assert!((STEPS_MAX / 2..=STEPS_MAX).contains(&count), "{count}");
        // Each server works a quarter of the time, in every step but the last.
        let steps = &timeline.servers[0][..count - 1];
        assert!(steps.iter().all(|share| (share - 0.25).abs() < 0.05), "{steps:?}");
    }
}
