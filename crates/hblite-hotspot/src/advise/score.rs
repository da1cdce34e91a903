//! What a candidate costs: the hotness of writes, and the regions and rows of reads.

use hblite_rowkey::{Access, Design, Value, quantile_splits};

use super::sample::Sample;
use super::wanted::{Wanted, WantedQuery};
use super::{AdviceOptions, NoAdvice};
use crate::figures::Windowed;
use crate::study::mixed;

/// Records that each query is tried with.
const ASKED: usize = 20;
/// Rows read in the time of one call to a region. HBase's scanner fetches as many rows per call as
/// fit; a hundred rows are about as much work as a call.
const ROWS_PER_CALL: f64 = 100.0;

/// A score within this factor of the best is about as good.
const AS_GOOD: f64 = 1.05;

/// A candidate with its costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The candidate.
    pub design: Design,
    /// Split keys of its table, from the quantiles of the sample.
    pub splits: Vec<Vec<u8>>,
    /// Windowed max/mean of writes.
    pub max_over_mean: f64,
    /// Mean bytes of a key.
    pub key_bytes: f64,
    /// The costs of the queries, in order.
    pub queries: Vec<QueryScore>,
    /// How many times worse than the best candidate it is, for writes and reads together.
    pub total: f64,
}

/// What a query costs a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryScore {
    /// Scans.
    pub scans: f64,
    /// Regions that they open.
    pub regions: f64,
    /// Rows that they read, scaled to the future size of the table.
    pub rows: f64,
    /// Whether the whole table must be read.
    pub is_full_scan: bool,
}

impl QueryScore {
    /// In calls to regions.
    pub(super) fn cost(&self) -> f64 {
        self.regions + self.rows / ROWS_PER_CALL
    }
}

impl Score {
    pub(super) fn of(
        design: Design,
        sample: &Sample,
        wanted: &Wanted,
        options: &AdviceOptions,
    ) -> Result<Self, NoAdvice> {
        let keys = keys(&design, sample, options.seed)?;
        let key_bytes = keys.iter().map(Vec::len).sum::<usize>() as f64 / keys.len() as f64;
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        let splits = quantile_splits(keys.clone(), options.regions)?;
        let splits = shortened(&splits, &sorted);
        let max_over_mean = hotness(&keys, &splits, options.windows);
        let rows_per_key = options.rows as f64 / sorted.len() as f64;
        let query =
            |query: &WantedQuery| ask(&design, sample, query, (&sorted, rows_per_key), &splits);
        let queries = wanted.queries.iter().map(query).collect::<Result<_, _>>()?;
        Ok(Self { design, splits, max_over_mean, key_bytes, queries, total: 0.0 })
    }
}

/// Split keys, shortened where neighbours differ early: a quantile may be off by a fiftieth of a
/// region.
fn shortened(splits: &[Vec<u8>], sorted: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let slack = sorted.len() / (splits.len() + 1) / 50;
    let shared = |position: usize| {
        hblite::bytes::common_prefix_length(&sorted[position - 1], &sorted[position])
    };
    let short = |split: &Vec<u8>| {
        let middle = sorted.partition_point(|key| key < split);
        let from = middle.saturating_sub(slack).max(1);
        let places = from..(middle + slack + 1).min(sorted.len());
        // Equal keys cannot be separated.
        let places = places.filter(|&place| sorted[place - 1] != sorted[place]);
        let best = places.min_by_key(|&place| (shared(place), place.abs_diff(middle)));
        best.map_or_else(|| split.clone(), |place| sorted[place][..=shared(place)].to_vec())
    };
    let mut short: Vec<Vec<u8>> = splits.iter().map(short).collect();
    short.dedup();
    short
}

/// The keys that a design gives to the records of a sample, in order.
fn keys(design: &Design, sample: &Sample, seed: u64) -> Result<Vec<Vec<u8>>, NoAdvice> {
    let places: Vec<usize> = design
        .fields()
        .iter()
        .map(|field| sample.design().field_index(&field.name))
        .collect::<Result<_, _>>()?;
    let key = |(index, record): (usize, &Vec<Value<'static>>)| {
        let values: Vec<Value<'_>> = places.iter().map(|place| record[*place].clone()).collect();
        let mut key = Vec::new();
        design.encode_into(&values, mixed(seed ^ index as u64), &mut key)?;
        Ok(key)
    };
    sample.records().iter().enumerate().map(key).collect()
}

/// Windowed max/mean of writes that arrive in the order of the keys.
fn hotness(keys: &[Vec<u8>], splits: &[Vec<u8>], windows: usize) -> f64 {
    let length = keys.len().div_ceil(windows.max(1)).max(1);
    let loads = |keys: &[Vec<u8>]| {
        let mut loads = vec![0u64; splits.len() + 1];
        for key in keys {
            loads[splits.partition_point(|split| split <= key)] += 1;
        }
        loads
    };
    let loads: Vec<Vec<u64>> = keys.chunks(length).map(loads).collect();
    let windowed = Windowed::of(loads.iter().map(Vec::as_slice));
    windowed.map_or(1.0, |windowed| windowed.mean.max_over_mean)
}

/// Plans a query for some of the records; the mean of what the plans read.
fn ask(
    design: &Design,
    sample: &Sample,
    wanted: &WantedQuery,
    (sorted, rows_per_key): (&[Vec<u8>], f64),
    splits: &[Vec<u8>],
) -> Result<QueryScore, NoAdvice> {
    let mut sum = QueryScore { scans: 0.0, regions: 0.0, rows: 0.0, is_full_scan: false };
    let count = sample.records().len().min(ASKED);
    for index in 0..count {
        let record = &sample.records()[index * sample.records().len() / count];
        let plan = design.plan(&wanted.about(sample, record))?;
        sum.is_full_scan |= plan.access == Access::Table;
        sum.scans += plan.ranges.len() as f64;
        let mut rows = 0.0;
        for range in &plan.ranges {
            let first = splits.partition_point(|split| *split <= range.start);
            let last = if range.stop.is_empty() {
                splits.len()
            } else {
                splits.partition_point(|split| *split < range.stop)
            };
            let position = |key: &[u8]| sorted.partition_point(|other| other.as_slice() < key);
            let end = if range.stop.is_empty() { sorted.len() } else { position(&range.stop) };
            let found = end.saturating_sub(position(&range.start)) as f64 * rows_per_key;
            let limit = plan.limit_per_scan().map_or(f64::INFINITY, |limit| limit as f64);
            rows += found.min(limit);
            // A scan that stops at its limit is mostly within one region.
            let regions = (last.max(first) - first + 1) as f64;
            sum.regions += if found > limit { 1.0 } else { regions };
        }
        sum.rows += rows;
    }
    let count = count as f64;
    Ok(QueryScore {
        scans: sum.scans / count,
        regions: sum.regions / count,
        rows: sum.rows / count,
        ..sum
    })
}

/// Computes totals and sorts. Geometric means make a factor of two equally bad everywhere.
pub(super) fn rank(scores: &mut [Score], wanted: &Wanted, write_weight: f64) {
    let best: Vec<f64> = (0..wanted.queries.len())
        .map(|index| {
            let costs = scores.iter().map(|score| score.queries[index].cost());
            costs.fold(f64::INFINITY, f64::min).max(1e-9)
        })
        .collect();
    let weights: f64 = wanted.queries.iter().map(|query| query.weight).sum();
    for score in scores.iter_mut() {
        let reads: f64 = wanted
            .queries
            .iter()
            .zip(&score.queries)
            .zip(&best)
            .map(|((query, cost), best)| query.weight / weights * (cost.cost() / best).ln())
            .sum();
        let writes = score.max_over_mean.max(1.0).ln();
        score.total = (write_weight * writes + (1.0 - write_weight) * reads).exp();
    }
    scores.sort_by(|left, right| left.total.total_cmp(&right.total));
    // Among designs about as good as the best, prefer the simplest, then the one with short keys.
    let limit = scores.first().map_or(0.0, |best| best.total * AS_GOOD);
    let count = scores.partition_point(|score| score.total <= limit);
    scores[..count].sort_by(|left, right| {
        let parts = |score: &Score| score.design.parts().len();
        let by_bytes = left.key_bytes.total_cmp(&right.key_bytes);
        parts(left).cmp(&parts(right)).then(by_bytes)
    });
}
