//! Measurements, and the tables made from them.
//!
//! Each measurement is one JSON line as soon as it is taken. The table has a row per workload and
//! a column per store with the median over the rounds, and says how hblite stands to RocksDB (the
//! better of its two set-ups) and to the fastest of the peers: above 1, hblite is faster.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde_json::{Value, json};

use crate::clocks::{self, Clocks};

/// The store that all others are compared with.
const SUBJECT: &str = "hblite";
const ROCKSDB: &str = "rocksdb";

/// What a measurement counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Operations of this kind per second; more is better.
    PerSecond(&'static str),
    /// Milliseconds; less is better.
    Milliseconds,
    /// An amount in this unit, which has no clock; less is better.
    Amount(&'static str),
}

impl Unit {
    fn name(self) -> String {
        match self {
            Self::PerSecond(what) => format!("{what}/s"),
            Self::Milliseconds => "ms".to_owned(),
            Self::Amount(name) => name.to_owned(),
        }
    }

    /// How much better `mine` is than `theirs`.
    fn ratio(self, mine: f64, theirs: f64) -> f64 {
        match self {
            Self::PerSecond(_) => mine / theirs,
            Self::Milliseconds | Self::Amount(_) => theirs / mine,
        }
    }
}

/// One measurement.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Name of the workload.
    pub(crate) workload: String,
    /// Name of the store.
    pub(crate) store: &'static str,
    /// Round, from 1.
    pub(crate) round: u32,
    /// What is counted.
    pub(crate) unit: Unit,
    /// The figure by the wall clock, or the amount.
    pub(crate) wall: f64,
    /// The figure by the CPU clock; none for an amount.
    pub(crate) cpu: Option<f64>,
    /// Load average when it was taken.
    pub(crate) load: Option<f64>,
    /// Nanoseconds that a line of memory then took from one processor to another.
    pub(crate) line: Option<f64>,
}

impl Sample {
    /// `count` operations that took this long.
    pub(crate) fn figures(unit: Unit, count: u64, clocks: Clocks) -> (f64, Option<f64>) {
        let (wall, cpu) = (clocks.wall.as_secs_f64(), clocks.cpu.as_secs_f64());
        match unit {
            Unit::PerSecond(_) => (count as f64 / wall, Some(count as f64 / cpu.max(1e-9))),
            Unit::Milliseconds => (wall * 1e3, Some(cpu * 1e3)),
            Unit::Amount(_) => (wall, None),
        }
    }

    /// The measurement as one line of JSON, without its end.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "workload": self.workload,
            "store": self.store,
            "round": self.round,
            "unit": self.unit.name(),
            "wall": self.wall,
            "cpu": self.cpu,
            "load_average": self.load,
            "line_nanoseconds": self.line,
        })
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wall, unit) = (figure(self.wall), self.unit.name());
        let (workload, store) = (&self.workload, self.store);
        write!(f, "{} {workload:28} {store:12} {wall:>8} {unit}", self.round)?;
        self.cpu.map_or(Ok(()), |cpu| write!(f, " (CPU {})", figure(cpu)))
    }
}

/// Which of a measurement's two figures a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The wall clock.
    Wall,
    /// The CPU clock.
    Cpu,
}

/// Describes the machine and the settings of the measurements.
pub(crate) fn heading(cells: u64, rounds: u32, samples: &[Sample]) -> String {
    let processor = clocks::processor().unwrap_or_else(|| "unknown processor".to_owned());
    let load = spread(samples.iter().filter_map(|sample| sample.load), 2);
    let line = spread(samples.iter().filter_map(|sample| sample.line), 0);
    format!(
        "{cells} cells, median of {rounds} rounds; {} cores, {processor}; load average {load}; \
         a line of memory from one processor to another, in ns: {line}\n",
        clocks::core_count(),
    )
}

/// The median and the range of some figures.
fn spread(figures: impl Iterator<Item = f64>, decimals: usize) -> String {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (figures.first().copied(), figures.last().copied()) else {
        return "unknown".to_owned();
    };
    let median = median(&mut figures);
    format!("median {median:.decimals$}, from {low:.decimals$} to {high:.decimals$}")
}

/// The measurements as a table in Markdown.
pub(crate) fn table(samples: &[Sample], clock: Clock) -> String {
    let stores = in_order(samples.iter().map(|sample| sample.store.to_owned()));
    let mut text = String::from("| workload | unit |");
    for store in &stores {
        let _ = write!(text, " {store} |");
    }
    let has_subject = stores.iter().any(|store| store == SUBJECT);
    if has_subject {
        text.push_str(" to RocksDB | to the fastest peer |");
    }
    let columns = 2 + stores.len() + if has_subject { 2 } else { 0 };
    let _ = writeln!(text, "\n|{}", "---|".repeat(columns));

    for workload in in_order(samples.iter().map(|sample| sample.workload.clone())) {
        let Some(row) = Line::of(samples, &workload, clock) else {
            continue;
        };
        let _ = write!(text, "| {workload} | {} |", row.unit.name());
        for store in &stores {
            let cell = row.medians.get(store.as_str()).map_or("–".to_owned(), |m| figure(*m));
            let _ = write!(text, " {cell} |");
        }
        if has_subject {
            let _ = write!(text, " {} | {} |", row.to_rocksdb(), row.to_fastest());
        }
        text.push('\n');
    }
    text
}

/// One workload's medians.
struct Line<'a> {
    unit: Unit,
    medians: BTreeMap<&'a str, f64>,
}

impl<'a> Line<'a> {
    fn of(samples: &'a [Sample], workload: &str, clock: Clock) -> Option<Self> {
        let mut figures: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let mut unit = None;
        for sample in samples.iter().filter(|sample| sample.workload == workload) {
            let figure = match clock {
                Clock::Wall => Some(sample.wall),
                Clock::Cpu => sample.cpu,
            };
            let Some(figure) = figure else {
                continue;
            };
            figures.entry(sample.store).or_default().push(figure);
            unit = Some(sample.unit);
        }
        let medians = figures.into_iter().map(|(store, mut all)| (store, median(&mut all)));
        Some(Self { unit: unit?, medians: medians.collect() })
    }

    fn best(&self, is_peer: impl Fn(&str) -> bool) -> Option<(&'a str, f64)> {
        let peers = self.medians.iter().filter(|(store, _)| is_peer(store));
        let best = peers.max_by(|one, other| match self.unit {
            Unit::PerSecond(_) => one.1.total_cmp(other.1),
            Unit::Milliseconds | Unit::Amount(_) => other.1.total_cmp(one.1),
        });
        best.map(|(store, figure)| (*store, *figure))
    }

    fn to_rocksdb(&self) -> String {
        let subject = self.medians.get(SUBJECT);
        match (subject, self.best(|store| store.starts_with(ROCKSDB))) {
            (Some(mine), Some((_, theirs))) => self.ratio(*mine, theirs),
            _ => "–".to_owned(),
        }
    }

    fn to_fastest(&self) -> String {
        let subject = self.medians.get(SUBJECT);
        match (subject, self.best(|store| !store.starts_with(SUBJECT))) {
            (Some(mine), Some((store, theirs))) => {
                format!("{} ({store})", self.ratio(*mine, theirs))
            }
            _ => "–".to_owned(),
        }
    }

    /// How much better `mine` is; amounts may be zero, and then nothing can be said.
    fn ratio(&self, mine: f64, theirs: f64) -> String {
        let ratio = self.unit.ratio(mine, theirs);
        if ratio.is_finite() { format!("{ratio:.2}") } else { "–".to_owned() }
    }
}

/// The names as they first appear.
fn in_order(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut ordered: Vec<String> = Vec::new();
    for name in names {
        if !ordered.contains(&name) {
            ordered.push(name);
        }
    }
    ordered
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    if figures.len() % 2 == 1 {
        return figures[middle];
    }
    (figures[middle - 1] + figures[middle]) / 2.0
}

/// A figure to three digits.
fn figure(value: f64) -> String {
    match value {
        v if v >= 999_500.0 => format!("{:.2}M", v / 1e6),
        v if v >= 9_995.0 => format!("{:.0}k", v / 1e3),
        v if v >= 999.5 => format!("{:.2}k", v / 1e3),
        v if v >= 99.5 => format!("{v:.0}"),
        v if v >= 9.95 => format!("{v:.1}"),
        v if v >= 0.1 => format!("{v:.2}"),
        0.0 => "0".to_owned(),
        v => format!("{v:.4}"),
    }
}

#[cfg(test)]
mod tests;
