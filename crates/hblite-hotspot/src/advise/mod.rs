//! The adviser: from a sample of real keys and the expected queries to a design with its regions.
//!
//! The sample is decoded by its current design, which gives its fields. `candidates` spans the
//! search space over them. Every candidate gets a table, split by `splits`, and writes the next
//! period of the workload (`growth`) into it, which gives the hotness of writes. Every candidate
//! also plans the queries about records of the sample, which gives the regions to open and the rows
//! to read. The score is how many times worse both are than the best. Nothing is stored; everything
//! is computed.
//!
//! Large spaces are searched twice: all candidates with a small part of the sample, then the best
//! of them and the front (`front`) with all of it. `paths` adds an index table where no single key
//! serves the queries.

mod candidates;
mod expected;
mod front;
mod growth;
mod hot;
#[cfg(test)]
mod key_sets;
mod paths;
mod proposal;
mod sample;
mod score;
mod splits;
#[cfg(test)]
mod tests;
mod wanted;

use std::fmt;

pub use expected::Expected;
pub use front::Tradeoff;
pub use hot::Hot;
pub use paths::{Path, TwoPaths};
pub use proposal::{Advice, create_command};
pub use sample::Sample;
pub use score::{QueryScore, Score};
pub use wanted::{Wanted, WantedQuery};

use hblite_model::setters;
use hblite_rowkey::Design;

use score::Trial;

/// The adviser's settings, in addition to keys and queries.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AdviceOptions {
    /// Regions of the new table.
    pub regions: usize,
    /// The split keys of the present table; `None` to split it as the candidates are.
    pub present_splits: Option<Vec<Vec<u8>>>,
    /// Rows that the table will have; the sample represents them.
    pub rows: u64,
    /// The time in which these rows are written, in milliseconds; `None` for the time that they
    /// take at the rate of the sample.
    pub period_ms: Option<u64>,
    /// The weight of evenly spread writes relative to cheap reads, 0 to 1.
    pub write_weight: f64,
    /// Windows that the sample is divided into, in its original order.
    pub windows: usize,
    /// The table's name in the command.
    pub table: String,
    /// The maximum number of scans of a query; `None` for any.
    pub scans_max: Option<u64>,
    /// The maximum mean length of keys in bytes; `None` for any.
    pub key_bytes_max: Option<u64>,
    /// The seed of random salts.
    pub seed: u64,
}

/// Records of the first search.
const FIRST_LOOK: usize = 500;
/// Records that each query is tried with, in the first search and in the second.
const ASKED: (usize, usize) = (4, 20);
/// Candidates with the best scores that enter the second search.
const FINALISTS: usize = 12;
/// Candidates with each kind of prefix that enter it.
const OF_EACH_KIND: usize = 2;
/// Candidates that are the best for a query alone, which enter it if there are several queries.
const FOR_EACH_QUERY: usize = 2;

impl Default for AdviceOptions {
    fn default() -> Self {
        Self {
            regions: 16,
            present_splits: None,
            rows: 1_000_000,
            period_ms: None,
            write_weight: 0.5,
            windows: 20,
            table: "t".to_owned(),
            scans_max: None,
            key_bytes_max: None,
            seed: 1,
        }
    }
}

setters! { AdviceOptions:
    with_regions sets regions: usize;
    with_present_splits sets present_splits: impl Into<Option<Vec<Vec<u8>>>>;
    with_rows sets rows: u64;
    with_period_ms sets period_ms: impl Into<Option<u64>>;
    with_write_weight sets write_weight: f64;
    with_windows sets windows: usize;
    with_table sets table: impl Into<String>;
    with_scans_max sets scans_max: impl Into<Option<u64>>;
    with_key_bytes_max sets key_bytes_max: impl Into<Option<u64>>;
    with_seed sets seed: u64;
}

impl AdviceOptions {
    /// How many times longer than the sample the rows are written.
    fn periods(&self, sample: &Sample) -> f64 {
        let periods = match (self.period_ms, sample.period_ms()) {
            (Some(rows), Some(sample)) => rows as f64 / sample as f64,
            _ => self.rows as f64 / sample.count() as f64,
        };
        periods.max(1.0)
    }
}

/// Why there is no advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAdvice(pub(crate) String);

impl fmt::Display for NoAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoAdvice {}

impl From<hblite_rowkey::Error> for NoAdvice {
    fn from(error: hblite_rowkey::Error) -> Self {
        Self(error.to_string())
    }
}

/// Parses the text of a current design.
///
/// # Errors
/// [`NoAdvice`] with the error marked.
pub fn design(text: &str) -> Result<hblite_rowkey::Design, NoAdvice> {
    hblite_rowkey::Design::parse(text).map_err(|error| NoAdvice(error.pointing_into(text)))
}

/// Scores candidates for a sample and queries, the best first.
///
/// ```
/// use hblite_hotspot::advise::{advise, AdviceOptions, Sample, Wanted};
/// // Sequential keys of two hosts, queried for the newest events of one host.
/// let present = hblite_rowkey::Design::parse("ts:timestamp|host:str")?;
/// let keys: Vec<Vec<u8>> = (0..2000u64)
///     .map(|ts| present.encode(&[ts.into(), format!("host{}", ts % 50).into()]))
///     .collect::<Result<_, _>>()?;
/// let sample = Sample::new(present, keys)?;
/// let wanted = Wanted::parse("host = ? newest ts limit 10")?;
/// let advice = advise(&sample, &wanted, &AdviceOptions::default())?;
/// let best = advice.best();
/// assert!(best.design.to_string().contains("host"));
/// assert!(best.max_over_mean < 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`NoAdvice`] if a query names a field that keys do not have, or options are out of range.
pub fn advise(
    sample: &Sample,
    wanted: &Wanted,
    options: &AdviceOptions,
) -> Result<Advice, NoAdvice> {
    let rules = [
        ((1..=10_000).contains(&options.regions), "--regions is 1 to 10000"),
        ((0.0..=1.0).contains(&options.write_weight), "--write-weight is 0 to 1"),
        (options.rows > 0, "--rows is at least 1"),
        (options.period_ms != Some(0), "--period is at least 1 ms"),
    ];
    if let Some((_, rule)) = rules.iter().find(|(holds, _)| !holds) {
        return Err(NoAdvice((*rule).to_owned()));
    }
    wanted.check(sample)?;
    let designs = candidates::candidates(sample, wanted, options.regions);
    let count = designs.len();
    let small = sample.thinned(FIRST_LOOK);
    let designs =
        finalists(designs, &Trial::new(&small, wanted, options, ASKED.0), wanted, options)?;
    let trial = Trial::new(sample, wanted, options, ASKED.1);
    let mut scores = scored(designs, &trial)?;
    score::rank(&mut scores, wanted, options.write_weight);
    let present = sample.design().to_string();
    limit(&mut scores, &present, options);
    let given = options.present_splits.as_ref();
    let today = given.map(|splits| trial.score_with(sample.design().clone(), Some(splits)));
    let paths = paths::find(&scores, wanted, options);
    Ok(Advice {
        scores,
        paths,
        today: today.transpose()?,
        wanted: wanted.clone(),
        present,
        options: options.clone(),
        candidates: count,
        sampled: (sample.count(), sample.period_ms()),
    })
}

/// Scores designs, the present one first. Others are dropped if a record does not fit them.
fn scored(designs: Vec<Design>, trial: &Trial<'_>) -> Result<Vec<Score>, NoAdvice> {
    let mut designs = designs.into_iter();
    let mut scores: Vec<Score> =
        designs.next().map(|present| trial.score(present)).into_iter().collect::<Result<_, _>>()?;
    scores.extend(designs.filter_map(|design| trial.score(design).ok()));
    Ok(scores)
}

/// The candidates that the first search does not rule out, and the current design.
fn finalists(
    designs: Vec<Design>,
    trial: &Trial<'_>,
    wanted: &Wanted,
    options: &AdviceOptions,
) -> Result<Vec<Design>, NoAdvice> {
    let present = designs[0].to_string();
    let mut scores = scored(designs, trial)?;
    score::rank(&mut scores, wanted, options.write_weight);
    limit(&mut scores, &present, options);
    let mut front: Vec<String> =
        front::front(&scores).iter().map(|score| score.design.to_string()).collect();
    front.extend(for_each_query(&scores, wanted, options));
    let mut of_kind = std::collections::HashMap::new();
    let is_kept = |(place, score): &(usize, Score)| {
        let text = score.design.to_string();
        // Each kind of prefix is represented: what helps against a hot entity is one of them.
        let count: &mut usize = of_kind.entry(score::kind_of_prefix(&score.design)).or_default();
        *count += 1;
        *count <= OF_EACH_KIND || *place < FINALISTS || text == present || front.contains(&text)
    };
    let kept = scores.into_iter().enumerate().filter(is_kept);
    let mut designs: Vec<Design> = kept.map(|(_, score)| score.design).collect();
    designs.sort_by_key(|design| design.to_string() != present);
    Ok(designs)
}

/// The best designs for each query alone, of several: those that an index may have.
fn for_each_query(scores: &[Score], wanted: &Wanted, options: &AdviceOptions) -> Vec<String> {
    let mut best = Vec::new();
    let queries = if wanted.queries.len() > 1 { wanted.queries.len() } else { 0 };
    for query in 0..queries {
        let total = |score: &Score| {
            let (writes, reads) = (score.unevenness.ln(), score.queries[query].cost().ln());
            options.write_weight * writes + (1.0 - options.write_weight) * reads
        };
        let mut order: Vec<&Score> = scores.iter().collect();
        order.sort_by(|one, other| {
            total(one).total_cmp(&total(other)).then_with(|| score::simpler(one, other))
        });
        best.extend(order.iter().take(FOR_EACH_QUERY).map(|score| score.design.to_string()));
    }
    best
}

/// Removes candidates beyond the limits, but never the current design.
fn limit(scores: &mut Vec<Score>, present: &str, options: &AdviceOptions) {
    let is_within = |score: &Score| {
        let scans = score.queries.iter().map(|query| query.scans).fold(0.0, f64::max);
        options.scans_max.is_none_or(|max| scans <= max as f64)
            && options.key_bytes_max.is_none_or(|max| score.key_bytes <= max as f64)
    };
    scores.retain(|score| is_within(score) || score.design.to_string() == present);
    // A candidate beyond a limit is proposed only if no other is left.
    scores.sort_by_key(|score| !is_within(score));
}
