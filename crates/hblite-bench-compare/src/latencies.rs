//! The distribution of many short times, in a fixed amount of memory.
//!
//! Times are counted in classes: 64 for each doubling, so a percentile is exact to 1.6 %.

use std::time::Duration;

const CLASS_BITS: u32 = 6;
const CLASSES_PER_DOUBLING: u64 = 1 << CLASS_BITS;
const CLASSES: usize = (64 - CLASS_BITS as usize + 1) << CLASS_BITS;

/// Times of operations.
pub(crate) struct Latencies {
    counts: Vec<u64>,
    count: u64,
}

impl Latencies {
    /// No times.
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; CLASSES], count: 0 }
    }

    /// Counts one operation.
    pub(crate) fn add(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.counts[class_of(nanos)] += 1;
        self.count += 1;
    }

    /// The time within which this part of the operations ended, in microseconds; 0 if there are
    /// none.
    pub(crate) fn percentile_us(&self, part: f64) -> f64 {
        let wanted = (self.count as f64 * part).ceil() as u64;
        let mut seen = 0;
        for (class, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted.max(1) {
                return middle_of(class) / 1e3;
            }
        }
        0.0
    }
}

fn class_of(nanos: u64) -> usize {
    if nanos < CLASSES_PER_DOUBLING {
        return nanos as usize;
    }
    let shift = nanos.ilog2() - CLASS_BITS;
    let place = (nanos >> shift) - CLASSES_PER_DOUBLING;
    ((u64::from(shift) + 1) * CLASSES_PER_DOUBLING + place) as usize
}

/// The middle of a class, in nanoseconds.
fn middle_of(class: usize) -> f64 {
    let class = class as u64;
    if class < CLASSES_PER_DOUBLING {
        return class as f64;
    }
    let width = 2_f64.powi((class / CLASSES_PER_DOUBLING) as i32 - 1);
    ((CLASSES_PER_DOUBLING + class % CLASSES_PER_DOUBLING) as f64 + 0.5) * width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_close() {
        let mut latencies = Latencies::new();
        for micros in 1..=1000 {
            latencies.add(Duration::from_micros(micros));
        }
        for (part, expected) in [(0.5, 500.0), (0.99, 990.0), (0.999, 999.0), (1.0, 1000.0)] {
            let found = latencies.percentile_us(part);
            assert!((found / expected - 1.0).abs() < 0.016, "{part}: {found}");
        }
    }

    #[test]
    fn every_time_has_a_class() {
        for nanos in [0, 1, 63, 64, 65, 127, 128, 12_345, u64::MAX] {
            let class = class_of(nanos);
            assert!(class < CLASSES);
            assert!((middle_of(class) - nanos as f64).abs() <= nanos as f64 / 64.0);
        }
        assert_eq!(Latencies::new().percentile_us(0.5), 0.0);
    }
}
