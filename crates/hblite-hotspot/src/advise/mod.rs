//! The adviser: from a sample of real keys and the expected queries to a design with its regions.
//!
//! The sample is decoded by its present design, which gives its fields. The queries suggest field
//! orders that answer them with short scans; each order is tried plain, salted, bucketed and
//! hashed. Every candidate writes the sample, in its original order, into regions split at its
//! quantiles, which gives the hotness of writes. Every candidate also plans the queries about
//! records of the sample, which gives the regions to open and the rows to read. The score is how
//! many times worse both are than the best. Nothing is stored; all of this is arithmetic.

mod candidates;
mod proposal;
mod sample;
mod score;
#[cfg(test)]
mod tests;
mod wanted;

use std::fmt;

pub use proposal::{Advice, create_command};
pub use sample::Sample;
pub use score::Score;
pub use wanted::{Wanted, WantedQuery};

use crate::study::BadStudy;

/// What the adviser must know besides keys and queries.
#[derive(Debug, Clone, PartialEq)]
pub struct AdviceOptions {
    /// Regions of the new table.
    pub regions: usize,
    /// Rows that the table will have; the sample represents them.
    pub rows: u64,
    /// The weight of evenly spread writes relative to cheap reads, 0 to 1.
    pub write_weight: f64,
    /// Windows that the sample is divided into, in its original order.
    pub windows: usize,
    /// The table's name in the command.
    pub table: String,
    /// The seed of random salts.
    pub seed: u64,
}

impl Default for AdviceOptions {
    fn default() -> Self {
        Self {
            regions: 16,
            rows: 1_000_000,
            write_weight: 0.5,
            windows: 20,
            table: "t".to_owned(),
            seed: 1,
        }
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

impl From<BadStudy> for NoAdvice {
    fn from(error: BadStudy) -> Self {
        Self(error.to_string())
    }
}

/// Parses the text of a present design.
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
/// // Sequential keys of two hosts, of which the newest events of one host are wanted.
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
    ];
    if let Some((_, rule)) = rules.iter().find(|(holds, _)| !holds) {
        return Err(NoAdvice((*rule).to_owned()));
    }
    wanted.check(sample)?;
    let designs = candidates::candidates(sample, wanted, options.regions);
    let mut scores = Vec::new();
    for design in designs {
        scores.push(Score::of(design, sample, wanted, options)?);
    }
    score::rank(&mut scores, wanted, options.write_weight);
    Ok(Advice { scores, present: sample.design().to_string(), options: options.clone() })
}
