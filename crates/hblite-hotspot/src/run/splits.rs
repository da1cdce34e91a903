//! Where the table of a design is split.

use hblite::region_split::SplitAlgorithm;
use hblite_rowkey::quantile_splits;

use super::error::RunError;
use super::options::{RunOptions, Splits};
use super::stream::Stream;
use super::target::{Target, scratch};
use crate::mix::mixed;

/// Keys of a sample.
const SAMPLE: usize = 20_000;

/// Checks that a design fits records and regions, before anything is written. Returns what is
/// unusual about where its table will be split, in a sentence.
///
/// # Errors
/// [`RunError::Design`] or [`RunError::FewPlaces`] with the reason.
pub fn check_design(
    target: &dyn Target,
    stream: &Stream,
    options: &RunOptions,
) -> Result<Option<String>, RunError> {
    sample(target, stream)?;
    split_keys(target, stream, options)?;
    if options.splits != Splits::Auto || options.regions == 1 {
        return Ok(None);
    }
    match target.natural_splits(options.regions) {
        Err(RunError::FewPlaces(reason)) => {
            Ok(Some(format!("split at the quantiles of its keys: {reason}")))
        }
        _ => Ok(None),
    }
}

/// The split keys for a design.
pub(super) fn split_keys(
    target: &dyn Target,
    stream: &Stream,
    options: &RunOptions,
) -> Result<Vec<Vec<u8>>, RunError> {
    if options.splits == Splits::Given {
        return Ok(options.split_keys.clone());
    }
    let regions = options.regions;
    choose_splits(
        options.splits,
        regions,
        || target.natural_splits(regions),
        || sample(target, stream),
    )
}

/// Split keys: natural ones, equal parts of the key space, or the quantiles of a sample of keys.
pub(crate) fn choose_splits(
    splits: Splits,
    regions: usize,
    natural: impl FnOnce() -> Result<Option<Vec<Vec<u8>>>, RunError>,
    sample: impl FnOnce() -> Result<Vec<Vec<u8>>, RunError>,
) -> Result<Vec<Vec<u8>>, RunError> {
    if splits == Splits::Growing || regions == 1 {
        return Ok(Vec::new());
    }
    if matches!(splits, Splits::Auto | Splits::Uniform) {
        match natural() {
            Ok(Some(keys)) => return Ok(keys),
            Err(RunError::FewPlaces(_)) if splits == Splits::Auto => {}
            other => drop(other?),
        }
    }
    if splits == Splits::Uniform {
        return Ok(SplitAlgorithm::Uniform.split(regions)?);
    }
    Ok(quantile_splits(sample()?, regions)?)
}

/// Keys of records spread over the stream: a random one from each stretch, because numbers at even
/// distances may all end in the same digits.
fn sample(target: &dyn Target, stream: &Stream) -> Result<Vec<Vec<u8>>, RunError> {
    let opened = scratch(target)?;
    let count = stream.len().min(SAMPLE);
    let mut keys = Vec::with_capacity(count);
    for index in 0..count {
        let mut key = Vec::new();
        let stretch = index * stream.len() / count..(index + 1) * stream.len() / count;
        let chosen = stretch.start + mixed(index as u64) as usize % stretch.len().max(1);
        opened.row(&stream.moment(chosen), &mut key)?;
        keys.push(key);
    }
    Ok(keys)
}
