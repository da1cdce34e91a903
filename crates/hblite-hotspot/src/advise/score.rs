//! What a candidate costs: the hotness of writes, and the regions and rows of reads.
//!
//! Splits are placed by a random half of the sample. Writes are those of the next period (see
//! `growth`) in the other half, so that splits are never scored with the keys that placed them.

use std::cell::RefCell;
use std::collections::HashMap;

use hblite_rowkey::{
    Access, Design, Encoding, End, Field, Number, Part, Plan, SaltBy, Turn, Value,
};

use super::growth::stable_parts;
use super::hot::{Hot, hottest};
use super::sample::Sample;
use super::splits::{Grouped, splits};
use super::wanted::{Known, Wanted, WantedQuery};
use super::{AdviceOptions, NoAdvice};
use crate::figures::{Figures, Windowed};
use crate::mix::mixed;

/// Rows read in the time of one call to a region. HBase's scanner fetches as many rows per call as
/// fit; a hundred rows are about as much work as a call.
pub(super) const ROWS_PER_CALL: f64 = 100.0;

/// How many times longer a reversed scan takes: HBase seeks to each row.
const BACKWARDS: f64 = 1.3;

/// A score within this factor of the best is about as good.
const AS_GOOD: f64 = 1.02;

/// Writes per region and window below which chance alone makes windows look uneven.
const WRITES_PER_CELL: usize = 60;

/// A candidate with its costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The candidate.
    pub design: Design,
    /// Split keys of its table.
    pub splits: Vec<Vec<u8>>,
    /// Windowed max/mean of the writes of the next period.
    pub max_over_mean: f64,
    /// The same, relative to what chance alone causes: 1 if a perfectly even design would look the
    /// same.
    pub unevenness: f64,
    /// The figures of these writes: per window, and for the whole period. `None` if there are none.
    pub writes: Option<(Windowed, Figures)>,
    /// Mean bytes of a key.
    pub key_bytes: f64,
    /// The entity that has the most writes of those that this design keeps together.
    pub hot: Option<Hot>,
    /// The costs of the queries, in order.
    pub queries: Vec<QueryScore>,
    /// How many times more its reads cost than those of the best candidate for each query.
    pub reads: f64,
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
    /// Whether rows are read backwards.
    pub is_reversed: bool,
}

impl QueryScore {
    /// In calls to regions.
    pub(super) fn cost(&self) -> f64 {
        let factor = if self.is_reversed { BACKWARDS } else { 1.0 };
        factor * (self.regions + self.rows / ROWS_PER_CALL)
    }
}

/// The input that all candidates share.
pub(super) struct Trial<'t> {
    sample: &'t Sample,
    next: Vec<Vec<Value<'static>>>,
    wanted: &'t Wanted,
    options: &'t AdviceOptions,
    /// Records that each query is tried with.
    asked: usize,
    coverage: RefCell<HashMap<Vec<usize>, f64>>,
}

impl<'t> Trial<'t> {
    pub(super) fn new(
        sample: &'t Sample,
        wanted: &'t Wanted,
        options: &'t AdviceOptions,
        asked: usize,
    ) -> Self {
        let next = sample.next_period();
        Self { sample, next, wanted, options, asked, coverage: RefCell::default() }
    }

    pub(super) fn score(&self, design: Design) -> Result<Score, NoAdvice> {
        self.score_with(design, None)
    }

    /// The score of a design whose table is split at these keys, if they are given.
    pub(super) fn score_with(
        &self,
        design: Design,
        given: Option<&Vec<Vec<u8>>>,
    ) -> Result<Score, NoAdvice> {
        let stable = stable_parts(&design, |field| self.sample.is_growing(field));
        let keys = self.keys(&design, self.sample.records(), stable)?;
        let key_bytes = keys.iter().map(|(key, _)| key.len()).sum::<usize>() as f64;
        let key_bytes = key_bytes / keys.len() as f64;
        let halves = |index: &usize| is_learned(*index);
        let learned = (0..keys.len()).filter(halves).map(|index| keys[index].clone());
        let mut learned: Vec<Grouped> = learned.collect();
        learned.sort_unstable();
        let is_decimal = self.sample.counts_in_decimals(&design);
        let (splits, regions) = match given {
            Some(given) => (given.clone(), given.len() + 1),
            None => {
                let regions = self.options.regions;
                (splits(&design, &learned, regions, is_decimal)?, regions)
            }
        };
        let unseen = (0..self.next.len()).filter(|index| !is_learned(*index));
        let unseen: Vec<_> = unseen.map(|index| self.next[index].clone()).collect();
        let unseen = self.keys(&design, &unseen, stable)?;
        let windows = window_count(unseen.len(), self.options);
        let writes = spread(&unseen, &splits, windows, regions);
        let by_chance = by_chance(unseen.len(), learned.len(), windows, regions);
        let mut sorted = keys;
        sorted.sort_unstable();
        let hot = hottest(&design, &sorted, stable);
        let query = |query: &WantedQuery| self.ask(&design, query, &sorted, &splits);
        let queries = self.wanted.queries.iter().map(query).collect::<Result<_, _>>()?;
        let max_over_mean = writes.map_or(1.0, |(windowed, _)| windowed.mean.max_over_mean);
        Ok(Score {
            unevenness: (max_over_mean / by_chance).max(1.0),
            design,
            splits,
            max_over_mean,
            writes,
            key_bytes,
            hot,
            queries,
            reads: 0.0,
            total: 0.0,
        })
    }

    /// The keys that a design gives to records, with the lengths of their stable prefixes.
    fn keys(
        &self,
        design: &Design,
        records: &[Vec<Value<'static>>],
        stable: usize,
    ) -> Result<Vec<Grouped>, NoAdvice> {
        let places: Vec<usize> = design
            .fields()
            .iter()
            .map(|field| self.sample.design().field_index(&field.name))
            .collect::<Result<_, _>>()?;
        let mut values: Vec<Value<'_>> = Vec::with_capacity(places.len());
        let mut keys = Vec::with_capacity(records.len());
        for (index, record) in records.iter().enumerate() {
            values.clear();
            values.extend(places.iter().map(|place| borrowed(&record[*place])));
            let mut key = Vec::with_capacity(32);
            let random = mixed(self.options.seed ^ index as u64);
            design.encode_into(&values, random, &mut key)?;
            let end = match stable {
                0 => 0,
                stable if stable == design.parts().len() => key.len(),
                stable => design.part_ends(&key)?[stable - 1],
            };
            keys.push((key, end));
        }
        Ok(keys)
    }

    /// Plans a query for some of the records; the mean of what the plans read.
    fn ask(
        &self,
        design: &Design,
        wanted: &WantedQuery,
        sorted: &[Grouped],
        splits: &[Vec<u8>],
    ) -> Result<QueryScore, NoAdvice> {
        let mut sum = QueryScore {
            scans: 0.0,
            regions: 0.0,
            rows: 0.0,
            is_full_scan: false,
            is_reversed: false,
        };
        let records = self.sample.records();
        let count = records.len().min(self.asked);
        for index in 0..count {
            let record = &records[index * records.len() / count];
            let plan = design.plan(&wanted.about(self.sample, record))?;
            let rows_per_key = self.rows_per_key(wanted, &plan);
            sum.is_full_scan |= plan.access == Access::Table;
            sum.is_reversed |= plan.is_reversed;
            sum.scans += plan.ranges.len() as f64;
            for range in &plan.ranges {
                let position =
                    |key: &[u8]| sorted.partition_point(|(other, _)| other.as_slice() < key);
                let is_open = range.stop.is_empty();
                let end = if is_open { sorted.len() } else { position(&range.stop) };
                let keys = end.saturating_sub(position(&range.start)) as f64;
                let found = keys * rows_per_key;
                let limit = plan.limit_per_scan().map_or(f64::INFINITY, |limit| limit as f64);
                sum.rows += found.min(limit);
                // A scan that stops at its limit is mostly within one region.
                let first = splits.partition_point(|split| *split <= range.start);
                let last = if is_open {
                    splits.len()
                } else {
                    splits.partition_point(|split| *split < range.stop)
                };
                let regions = (last.max(first) - first + 1) as f64;
                sum.regions += if found > limit { 1.0 } else { regions };
            }
        }
        let count = count as f64;
        Ok(QueryScore {
            scans: sum.scans / count,
            regions: sum.regions / count,
            rows: sum.rows / count,
            ..sum
        })
    }

    /// How many rows of the future table a sampled key in the ranges of a plan stands for.
    ///
    /// A table with more rows has more values of a unique field, not more rows for each of them.
    /// Of the values that a query knows exactly, the share that occur again in the sample (its
    /// *coverage*, after Good and Turing) is the share that will keep getting rows.
    fn rows_per_key(&self, wanted: &WantedQuery, plan: &Plan) -> f64 {
        let records = self.sample.records().len() as f64;
        let is_used = |name: &str| !plan.checks.iter().any(|check| check.field == name);
        let mut fields: Vec<usize> = wanted
            .asks
            .iter()
            .filter(|(name, known)| *known == Known::Value && is_used(name))
            .filter_map(|(name, _)| self.sample.design().field_index(name).ok())
            .collect();
        // What grows does not return: more rows have more days, not more rows of a day.
        let is_of_time = |(name, known): &(String, Known)| {
            matches!(known, Known::Value | Known::Begins(_)) && self.sample.is_growing(name)
        };
        let periods = match wanted.asks.iter().any(|ask| is_of_time(ask) && is_used(&ask.0)) {
            true => self.options.periods(self.sample),
            false => 1.0,
        };
        let scale = self.options.rows as f64 / records / periods;
        fields.sort_unstable();
        if fields.is_empty() {
            return scale;
        }
        let known = self.coverage.borrow().get(&fields).copied();
        let coverage = known.unwrap_or_else(|| {
            let coverage = coverage(self.sample.records(), &fields);
            self.coverage.borrow_mut().insert(fields, coverage);
            coverage
        });
        (scale * coverage).max(scale.min(1.0))
    }
}

/// The share of records whose values of these fields occur in another record, too.
fn coverage(records: &[Vec<Value<'static>>], fields: &[usize]) -> f64 {
    let mut counts: HashMap<Vec<&Value<'static>>, u32> = HashMap::new();
    for record in records {
        *counts.entry(fields.iter().map(|field| &record[*field]).collect()).or_default() += 1;
    }
    let single = counts.values().filter(|count| **count == 1).count();
    1.0 - single as f64 / records.len() as f64
}

/// Whether splits are placed by the record at a position. The choice is random: every second of
/// consecutive numbers would have only even digits at the end.
fn is_learned(index: usize) -> bool {
    mixed(index as u64 ^ 0x5317).is_multiple_of(2)
}

/// The same value, borrowing its text.
fn borrowed<'v>(value: &'v Value<'static>) -> Value<'v> {
    match value {
        Value::Text(text) => Value::Text(text.as_ref().into()),
        Value::Bytes(bytes) => Value::Bytes(bytes.as_ref().into()),
        Value::Digest(bytes) => Value::Digest(bytes.as_ref().into()),
        Value::Unsigned(number) => Value::Unsigned(*number),
        Value::Signed(number) => Value::Signed(*number),
    }
}

fn window_count(writes: usize, options: &AdviceOptions) -> usize {
    (writes / (options.regions * WRITES_PER_CELL)).clamp(2, options.windows.max(2))
}

/// The windowed max/mean that an even design is likely to show: the maximum of as many normal
/// variables as regions, whose variance has two sources: the counted writes and the keys that
/// placed the splits.
fn by_chance(writes: usize, learned: usize, windows: usize, regions: usize) -> f64 {
    let regions = regions.max(1) as f64;
    let per_cell = writes as f64 / windows as f64 / regions;
    let per_region = learned as f64 / regions;
    let variance = 1.0 / per_cell.max(1e-9) + 1.0 / per_region.max(1e-9);
    1.0 + (2.0 * regions.ln() * variance).sqrt()
}

/// How evenly writes that arrive in this order are spread, per window and in total.
fn spread(
    keys: &[Grouped],
    splits: &[Vec<u8>],
    windows: usize,
    regions: usize,
) -> Option<(Windowed, Figures)> {
    let length = keys.len().div_ceil(windows).max(1);
    let loads = |keys: &[Grouped]| {
        // Regions that the keys cannot use are idle.
        let mut loads = vec![0u64; regions.max(splits.len() + 1)];
        for (key, _) in keys {
            loads[splits.partition_point(|split| split <= key)] += 1;
        }
        loads
    };
    let windows: Vec<Vec<u64>> = keys.chunks(length).map(loads).collect();
    let windowed = Windowed::of(windows.iter().map(Vec::as_slice))?;
    Some((windowed, Figures::of(&loads(keys))?))
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
        let writes = score.unevenness.ln();
        score.reads = reads.exp();
        score.total = (write_weight * writes + (1.0 - write_weight) * reads).exp();
    }
    scores.sort_by(|left, right| left.total.total_cmp(&right.total));
    // Among designs about as good as the best, prefer the simplest, then the one with short keys.
    let limit = scores.first().map_or(0.0, |best| best.total * AS_GOOD);
    let count = scores.partition_point(|score| score.total <= limit);
    scores[..count].sort_by(simpler);
}

/// A number for the kind of prefix, in the order of preference.
pub(super) fn kind_of_prefix(design: &Design) -> usize {
    match design.parts().first() {
        Some(Part::Bucket(_)) => 1,
        Some(Part::Salt(salt)) if salt.by != SaltBy::Rest => 2,
        Some(Part::Salt(_)) => 3,
        Some(Part::Hash(_)) => 4,
        _ => 0,
    }
}

/// The order of simplicity: fewer parts, fewer reversed fields, a prefix that people can compute,
/// texts of any length, and shorter keys.
pub(super) fn simpler(left: &Score, right: &Score) -> std::cmp::Ordering {
    let turn = |part: &Part| match part {
        Part::Field(Field { encoding: Encoding::Text(text), .. }) => match text.turn {
            Turn::Plain => 0,
            Turn::Domain => 1,
            Turn::Reversed => 2,
        },
        Part::Field(Field { encoding: Encoding::Number(Number::BitReversedU64), .. }) => 2,
        _ => 0,
    };
    // A value that is longer than any of the sample would be refused.
    let is_padded = |part: &&Part| {
        matches!(part, Part::Field(Field { encoding: Encoding::Text(text), .. })
            if matches!(text.end, End::Fixed(_)))
    };
    let rank = |score: &Score| {
        let parts = score.design.parts();
        let turned = parts.iter().map(turn).sum::<usize>();
        let padded = parts.iter().filter(is_padded).count();
        (parts.len(), turned, kind_of_prefix(&score.design), padded)
    };
    rank(left).cmp(&rank(right)).then(left.key_bytes.total_cmp(&right.key_bytes))
}
