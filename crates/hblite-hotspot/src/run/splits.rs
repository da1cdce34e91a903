//! Where the table of a candidate is split.

use hblite::region_split::SplitAlgorithm;
use hblite_rowkey::{Spread, quantile_splits};

use super::error::RunError;
use super::options::{RunOptions, Splits};
use super::stream::Stream;
use crate::study::Candidate;

/// Keys of a sample.
const SAMPLE: usize = 20_000;

/// The split keys for a candidate.
pub(super) fn split_keys(
    candidate: &Candidate,
    stream: &Stream,
    options: &RunOptions,
) -> Result<Vec<Vec<u8>>, RunError> {
    let regions = options.regions;
    if options.splits == Splits::Growing || regions == 1 {
        return Ok(Vec::new());
    }
    let design = &candidate.design;
    let begins_with_field =
        matches!(design.spread(), Spread::Growing { .. } | Spread::ByValue { .. });
    let keys = match options.splits {
        Splits::Auto | Splits::Uniform if !begins_with_field => design.natural_splits(regions),
        Splits::Uniform => return Ok(SplitAlgorithm::Uniform.split(regions)?),
        _ => quantile_splits(sample(candidate, stream)?, regions),
    };
    keys.map_err(|error| RunError::Design(format!("{}: {error}", candidate.name)))
}

/// Keys of records that are spread evenly over the stream.
fn sample(candidate: &Candidate, stream: &Stream) -> Result<Vec<Vec<u8>>, RunError> {
    let count = stream.len().min(SAMPLE);
    let mut keys = Vec::with_capacity(count);
    for index in 0..count {
        let (moment, record) = stream.record(index * stream.len() / count);
        let mut key = Vec::new();
        candidate.encode_into(&record, moment.random(super::write::SALT), &mut key)?;
        keys.push(key);
    }
    Ok(keys)
}
