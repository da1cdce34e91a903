//! Whether memory, descriptors, threads, disk and latency stayed flat.
//!
//! The first sixth of the time is a warm-up. The median of the second sixth is compared with that
//! of the last. A value is flat if the later median is at most the earlier one, increased by a
//! share of it and by a fixed amount for noise:
//!
//! | value | share | noise |
//! |---|---|---|
//! | resident memory | 10 % | 16 MiB |
//! | descriptors, threads | 10 % | 8 |
//! | disk | 25 % | 16 MiB |
//! | p50 | 100 % | 2 ms |
//! | p99 | 100 % | 50 ms |
//!
//! The limits of latencies are wide, because other processes on the machine affect them.

use std::fmt;

use crate::sample::Sample;

/// The result for one value.
#[derive(Debug)]
pub(crate) struct Finding {
    name: &'static str,
    unit: &'static str,
    /// Medians.
    early: f64,
    late: f64,
    most: f64,
    limit: f64,
}

impl Finding {
    pub(crate) fn is_flat(&self) -> bool {
        self.late <= self.limit
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, unit, early, late, most, limit } = self;
        let verdict = if self.is_flat() { "flat" } else { "GREW" };
        write!(
            f,
            "{verdict} {name}: median {early:.1} {unit} early, {late:.1} {unit} late (limit \
             {limit:.1}), at most {most:.1}"
        )
    }
}

type Value = fn(&Sample) -> f64;

pub(crate) fn judge(samples: &[Sample]) -> Vec<Finding> {
    let values: [(&str, &str, Value, f64, f64); 9] = [
        ("resident memory", "MiB", |sample| sample.memory_mib, 1.1, 16.0),
        ("anonymous memory", "MiB", |sample| sample.anonymous_mib, 1.1, 16.0),
        ("descriptors", "", |sample| sample.descriptors as f64, 1.1, 8.0),
        ("threads", "", |sample| sample.threads as f64, 1.1, 8.0),
        ("disk", "MiB", |sample| sample.disk_mib, 1.25, 16.0),
        ("p50 embedded", "us", |sample| sample.embedded.p50, 2.0, 2_000.0),
        ("p99 embedded", "us", |sample| sample.embedded.p99, 2.0, 50_000.0),
        ("p50 of clients", "us", |sample| sample.clients.p50, 2.0, 2_000.0),
        ("p99 of clients", "us", |sample| sample.clients.p99, 2.0, 50_000.0),
    ];
    let sixth = samples.len() / 6;
    let (early, late) = (&samples[sixth..2 * sixth], &samples[samples.len() - sixth..]);
    let find = |(name, unit, value, share, noise): (_, _, Value, _, _)| {
        let (early, late) = (median(early, value), median(late, value));
        let most = samples.iter().map(value).fold(0.0, f64::max);
        Finding { name, unit, early, late, most, limit: early * share + noise }
    };
    values.into_iter().map(find).collect()
}

/// A second without calls has no latency.
fn median(samples: &[Sample], value: Value) -> f64 {
    let mut values: Vec<f64> = samples.iter().map(value).filter(|value| *value > 0.0).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
