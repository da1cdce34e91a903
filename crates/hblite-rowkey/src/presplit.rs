//! Where to split a new table so that a design uses all regions from the first row on.

use crate::design::{Design, Step};
use crate::error::{Error, Result};
use crate::number::Number;
use crate::part::{HashForm, push_numbered};

/// More regions are refused: the keys alone would fill the memory.
pub const REGIONS_MAX: usize = 1 << 20;

impl Design {
    /// The `regions - 1` keys that split the table at the salts, buckets, hashes or bit-reversed
    /// numbers that keys begin with. Bit-reversed numbers are taken to be successive.
    ///
    /// ```
    /// use hblite_rowkey::Design;
    /// let salted = Design::parse("salt(\"a-\", \"b-\", \"c-\", \"d-\")|name:str")?;
    /// assert_eq!(salted.natural_splits(4)?, [b"b-", b"c-", b"d-"]);
    /// let hashed = Design::parse("md5hex(car, 5)|car:str|ts:timestamp")?;
    /// assert_eq!(hashed.natural_splits(4)?, [b"40000", b"80000", b"c0000"]);
    /// # Ok::<(), hblite_rowkey::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FewPlaces` if keys begin with a field, or with fewer salts, buckets or hashes than regions:
    /// only a sample shows how they are distributed ([`quantile_splits`]). `Regions` if there are
    /// more salts or buckets than regions, because each extra one costs a scan and spreads nothing.
    pub fn natural_splits(&self, regions: usize) -> Result<Vec<Vec<u8>>> {
        check_regions(regions)?;
        match self.steps().first() {
            Some(
                Step::Random(labels) | Step::SaltByFields(labels, _) | Step::SaltByRest(labels),
            ) => {
                let count = labels.count();
                check_count("salts", count, regions)?;
                let mut keys: Vec<Vec<u8>> = (0..count)
                    .map(|index| {
                        let mut key = Vec::new();
                        labels.push(index, &mut key);
                        key
                    })
                    .collect();
                keys.sort();
                keys.remove(0);
                Ok(keys)
            }
            Some(Step::Bucket { count, .. }) => {
                check_count("buckets", *count, regions)?;
                let key = |index| {
                    let mut key = Vec::new();
                    push_numbered(*count, index, &mut key);
                    key
                };
                Ok((1..*count).map(key).collect())
            }
            Some(Step::Hash { form, .. } | Step::Md5 { form, .. }) => hash_splits(*form, regions),
            // Successive numbers differ in the first bits, as hashes do.
            Some(Step::Number { number: Number::BitReversedU64, .. }) => {
                hash_splits(HashForm::Bytes(reversed_width(regions)), regions)
            }
            _ => Err(Error::few_places(
                "keys begin with a field, and only a sample of them tells where they lie: take \
                 the quantiles of one",
            )),
        }
    }
}

/// Keys that split a sample of keys into `regions` equal parts; fewer if the sample has too few
/// different keys.
///
/// ```
/// use hblite_rowkey::quantile_splits;
/// let sample: Vec<Vec<u8>> = (0..100_u8).map(|byte| vec![byte]).collect();
/// assert_eq!(quantile_splits(sample, 4)?, [[25], [50], [75]]);
/// # Ok::<(), hblite_rowkey::Error>(())
/// ```
///
/// # Errors
/// `Regions` if `regions` is 0 or too large, or the sample is empty.
pub fn quantile_splits(mut sample: Vec<Vec<u8>>, regions: usize) -> Result<Vec<Vec<u8>>> {
    check_regions(regions)?;
    if sample.is_empty() {
        return Err(Error::regions("an empty sample has no quantiles"));
    }
    sample.sort_unstable();
    let mut keys: Vec<Vec<u8>> =
        (1..regions).map(|region| sample[region * sample.len() / regions].clone()).collect();
    keys.dedup();
    keys.retain(|key| *key > sample[0]);
    Ok(keys)
}

/// Bytes of split keys that divide bit-reversed numbers evenly.
fn reversed_width(regions: usize) -> u8 {
    if regions <= 256 && 256 % regions == 0 { 1 } else { 3 }
}

fn check_regions(regions: usize) -> Result<()> {
    match regions {
        0 => Err(Error::regions("a table has at least one region")),
        1..=REGIONS_MAX => Ok(()),
        _ => Err(Error::regions(format!("{regions} regions are more than {REGIONS_MAX}"))),
    }
}

fn check_count(what: &str, count: u32, regions: usize) -> Result<()> {
    let wanted = count as usize;
    if wanted > regions {
        return Err(Error::regions(format!(
            "{count} {what} over {regions} regions: those beyond {regions} spread nothing further, \
             and each costs every query one more scan; use {regions} {what} or {count} regions"
        )));
    }
    if wanted < regions {
        return Err(Error::few_places(format!(
            "{count} {what} begin keys in {count} places only, so {} of {regions} regions could \
             not be told apart by them; use {count} regions, or the quantiles of a sample",
            regions - wanted
        )));
    }
    Ok(())
}

fn hash_splits(form: HashForm, regions: usize) -> Result<Vec<Vec<u8>>> {
    let (base, width) = match form {
        HashForm::Hex(width) => (16_u128, width),
        HashForm::Bytes(width) => (256, width),
    };
    // 2^64 values are enough for the splits; the remaining bytes are zero.
    let significant = u32::from(width.min(if base == 16 { 16 } else { 8 }));
    let kinds = base.pow(significant);
    let regions = regions as u128;
    if regions > kinds {
        return Err(Error::few_places(format!(
            "the hash at the front has {kinds} values, fewer than {regions} regions: use more of \
             it, or the quantiles of a sample"
        )));
    }
    let key = |region: u128| {
        let mut rest = region * kinds / regions;
        let mut digits = vec![0; significant as usize];
        for digit in digits.iter_mut().rev() {
            *digit = (rest % base) as u8;
            rest /= base;
        }
        digits.resize(usize::from(width), 0);
        match form {
            HashForm::Bytes(_) => digits,
            HashForm::Hex(_) => {
                let character = |digit: u8| char::from_digit(u32::from(digit), 16).unwrap_or('0');
                digits.into_iter().map(|digit| character(digit) as u8).collect()
            }
        }
    };
    Ok((1..regions).map(key).collect())
}
