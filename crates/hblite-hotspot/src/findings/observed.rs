//! The counts of regions joined with the rows of their requests.

use std::collections::HashMap;

use hblite::{RegionRows, RowCounts};

use super::motion::Motion;
use super::{SAMPLE_MIN, quoted};
use crate::result::Metric;

/// The fractional part of the root of 2, whose multiples are spread evenly. So are those of the
/// golden ratio, but many programs hash with them: what is chosen must not depend on that.
pub const SPREAD: f64 = 0.414_213_562_373_095;
/// The seconds of load that are the latest.
const LATEST_SECONDS: f64 = 5.0;
/// Part of these seconds that is enough: windows are not exactly as long as they should be.
const ENOUGH: f64 = 0.9;
/// Fewer requests than these are too few, and older ones are added.
const LATEST_MIN: u64 = 100;
/// Sampled rows that are judged: the standard error of a share is at most 0.4 percent.
pub(super) const JUDGED_MAX: usize = 20_000;
/// Up to this many requests of a region, hblite counts all.
const COUNTED_ALL: u64 = 2_048;

/// A region of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegionSeen {
    /// Its encoded name.
    pub name: String,
    /// First key, and the one after the last; `None` if they are not known.
    pub keys: Option<(Vec<u8>, Vec<u8>)>,
    /// Its requests.
    pub reads: u64,
    /// Its mutations.
    pub writes: u64,
}

impl RegionSeen {
    pub(super) fn text(&self) -> String {
        let Some((start, end)) = &self.keys else { return self.name.clone() };
        let text = |key: &[u8], empty: &str| match key {
            [] => empty.to_owned(),
            key => quoted(key),
        };
        format!("from {} to {}", text(start, "the first key"), text(end, "the last key"))
    }
}

/// How the rows of requests are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// hblite counted them.
    Counted,
    /// They are those of some of the cells that were written.
    Sampled,
}

/// The requests of a table in a few seconds.
#[derive(Debug)]
pub struct Observed<'a> {
    /// Its regions in key order.
    pub regions: Vec<RegionSeen>,
    /// How long it was observed.
    pub seconds: f64,
    /// The rows of the requests, if they are known.
    pub rows: Option<&'a RowCounts>,
    /// How they are known.
    pub method: Method,
    /// How the hottest region changes, for writes and for reads.
    pub motion: (Motion, Motion),
}

/// How many of the last windows are the latest load. For each window, the oldest first: its
/// requests of a table, and its length in seconds. Later windows without requests are included and
/// do not count.
pub fn latest(windows: &[(u64, f64)]) -> usize {
    let (mut seconds, mut requests) = (0.0, 0_u64);
    for (taken, (count, length)) in windows.iter().rev().enumerate() {
        if seconds >= LATEST_SECONDS * ENOUGH && requests >= LATEST_MIN {
            return taken;
        }
        if *count > 0 {
            seconds += length;
            requests = requests.saturating_add(*count);
        }
    }
    windows.len()
}

/// Reads or writes.
pub(super) struct Seen<'a> {
    pub(super) metric: Metric,
    pub(super) motion: Motion,
    /// The regions with their requests.
    pub(super) regions: Vec<(&'a RegionSeen, usize, u64)>,
    pub(super) total: u64,
    /// Rows with their share of all requests and its bounds.
    pub(super) heavy: Vec<Heavy<'a>>,
    /// The sampled rows in order.
    pub(super) sample: Vec<Weighted<'a>>,
}

/// A sampled row, and how many requests it stands for.
pub(super) type Weighted<'a> = (&'a [u8], f64);

pub(super) struct Heavy<'a> {
    pub(super) row: &'a [u8],
    pub(super) share: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Seen<'_> {
    /// Whether enough rows are known.
    pub(super) fn is_known(&self) -> bool {
        self.sample.len() >= SAMPLE_MIN
    }
}

impl<'a> Observed<'a> {
    pub(super) fn seen(&'a self, metric: Metric) -> Seen<'a> {
        let is_write = metric == Metric::Writes;
        let load = |region: &RegionSeen| if is_write { region.writes } else { region.reads };
        let regions: Vec<(&RegionSeen, usize, u64)> =
            self.regions.iter().enumerate().map(|(at, one)| (one, at, load(one))).collect();
        let total = regions.iter().fold(0_u64, |sum, region| sum.saturating_add(region.2));
        let motion = if is_write { self.motion.0 } else { self.motion.1 };
        let (mut heavy, mut sample) = (Vec::new(), Vec::new());
        if let Some(rows) = self.rows {
            let loads: HashMap<&str, u64> =
                regions.iter().map(|(region, _, load)| (region.name.as_str(), *load)).collect();
            let load = |region: &RegionRows| loads.get(region.region.as_str()).copied();
            let loads: Vec<u64> =
                rows.regions.iter().map(|region| load(region).unwrap_or(0)).collect();
            let own = rows.sample.iter().filter(|one| one.is_write == is_write);
            let own = own.map(|one| (one.region as usize, &*one.row));
            let own: Vec<(usize, &[u8])> =
                own.filter(|(place, _)| loads.get(*place).is_some_and(|load| *load > 0)).collect();
            let alike = vec![1.0; own.len()];
            let own: Vec<_> = thinned(&alike, JUDGED_MAX).map(|at| own[at]).collect();
            let mut sampled = vec![0_u64; loads.len()];
            own.iter().for_each(|(place, _)| sampled[*place] += 1);
            let weighted = |(place, row)| (row, loads[place] as f64 / sampled[place] as f64);
            sample = own.into_iter().map(weighted).collect();
            for (load, region) in loads.into_iter().zip(&rows.regions) {
                if load == 0 {
                    continue;
                }
                let counts = if is_write { &region.writes } else { &region.reads };
                // The region's share of the table.
                let part = load as f64 / total.max(1) as f64;
                let requests = counts.requests.max(1);
                for (row, count) in &counts.rows {
                    let share = *count as f64 / requests as f64;
                    let size = match self.method {
                        Method::Counted if requests <= COUNTED_ALL => f64::INFINITY,
                        Method::Counted => COUNTED_ALL as f64,
                        Method::Sampled => requests.saturating_sub(counts.error) as f64,
                    };
                    let chance = super::chance(share, size);
                    let error = counts.error as f64 / requests as f64;
                    heavy.push(Heavy {
                        row,
                        share: part * share,
                        low: part * (share - chance),
                        high: part * (share + error + chance),
                    });
                }
            }
        }
        heavy.sort_by(|one, other| other.share.total_cmp(&one.share));
        Seen { metric, motion, regions, total, heavy, sample }
    }
}

impl Observed<'_> {
    /// The sampled writes in their order, at most `max`, thinned so that each region has its share.
    pub fn written_in_proportion(&self, max: usize) -> Vec<Vec<u8>> {
        let seen = self.seen(Metric::Writes);
        let weights: Vec<f64> = seen.sample.iter().map(|(_, weight)| *weight).collect();
        thinned(&weights, max).map(|at| seen.sample[at].0.to_vec()).collect()
    }
}

/// The places of at most about `max` of the items, with a chance proportional to their weights. The
/// choice follows no pattern in the items.
pub fn thinned(weights: &[f64], max: usize) -> impl Iterator<Item = usize> {
    let heaviest = weights.iter().copied().fold(0.0, f64::max);
    let sum: f64 = weights.iter().sum();
    let factor = (max as f64 / sum).min(1.0 / heaviest);
    let is_kept = move |(at, weight): (usize, &f64)| {
        let place = (at as f64 * SPREAD).fract();
        (place < weight * factor).then_some(at)
    };
    weights.iter().enumerate().filter_map(is_kept)
}
