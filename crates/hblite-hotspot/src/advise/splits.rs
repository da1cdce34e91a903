//! Where to split the table of a candidate.
//!
//! A salt, a bucket, a hash or a counter with reversed bits or digits at the front has natural
//! splits, which need no sample. Otherwise the sample decides, between entities only: the keys are
//! grouped by their stable prefix (see `growth`), and regions are filled group by group.

use hblite_rowkey::{Design, Encoding, HashForm, Number, Part};

use super::NoAdvice;

/// A sampled key and the length of its stable prefix.
pub(super) type Grouped = (Vec<u8>, usize);

/// The split keys for a design and sampled keys in ascending order. There may be fewer than
/// `regions - 1` if the sample has too few entities. `is_decimal` says that keys begin with the
/// digits of a counter, the last one first.
pub(super) fn splits(
    design: &Design,
    sorted: &[Grouped],
    regions: usize,
    is_decimal: bool,
) -> Result<Vec<Vec<u8>>, NoAdvice> {
    if regions < 2 || sorted.is_empty() {
        return Ok(Vec::new());
    }
    let front = design.parts().first();
    let labels = match front {
        Some(Part::Salt(salt)) => Some(salt.labels.count() as usize),
        Some(Part::Bucket(bucket)) => Some(bucket.count as usize),
        _ => None,
    };
    if let Some(count) = labels {
        let starts = design.natural_splits(count)?;
        return Ok(within_labels(&starts, sorted, regions));
    }
    let is_reversed_number = matches!(front, Some(Part::Field(field))
        if field.encoding == Encoding::Number(Number::BitReversedU64));
    if is_decimal || is_reversed_number {
        let keys =
            if is_decimal { decimal_splits(regions) } else { design.natural_splits(regions)? };
        // A counter that grows in steps, as of ten, does not use all last digits.
        return Ok(if is_even(&keys, sorted) { keys } else { between_groups(sorted, regions) });
    }
    let is_hashed = match front {
        Some(Part::Hash(hash)) => has_room(hash.form, regions),
        Some(Part::Field(field)) => !field.encoding.is_reversible(),
        _ => false,
    };
    if is_hashed && let Ok(keys) = design.natural_splits(regions) {
        return Ok(keys);
    }
    Ok(between_groups(sorted, regions))
}

/// Whether no region has more keys than chance explains.
fn is_even(splits: &[Vec<u8>], sorted: &[Grouped]) -> bool {
    let mean = sorted.len() as f64 / (splits.len() + 1) as f64;
    let place = |split: &Vec<u8>| sorted.partition_point(|(key, _)| key < split);
    let mut ends: Vec<usize> = splits.iter().map(place).collect();
    ends.insert(0, 0);
    ends.push(sorted.len());
    ends.windows(2).all(|pair| (pair[1] - pair[0]) as f64 <= mean + 4.0 * mean.sqrt())
}

/// Keys that divide all numbers of a few digits evenly, without the zeros at their ends.
fn decimal_splits(regions: usize) -> Vec<Vec<u8>> {
    let mut digits = 1;
    while 10_u128.pow(digits) < 100 * regions as u128 {
        digits += 1;
    }
    let key = |region: usize| {
        let number = region as u128 * 10_u128.pow(digits) / regions as u128;
        let text = format!("{number:0width$}", width = digits as usize);
        text.trim_end_matches('0').as_bytes().to_vec()
    };
    (1..regions).map(key).collect()
}

/// A short hash has few values, which even ranges would divide unevenly.
fn has_room(form: HashForm, regions: usize) -> bool {
    let values = match form {
        HashForm::Hex(digits) => 16_u128.checked_pow(u32::from(digits)),
        HashForm::Bytes(bytes) => 256_u128.checked_pow(u32::from(bytes)),
    };
    values.is_none_or(|values| values >= 8 * regions as u128)
}

/// Splits at the starts of labels; if they are fewer than the regions, also inside each of them.
fn within_labels(starts: &[Vec<u8>], sorted: &[Grouped], regions: usize) -> Vec<Vec<u8>> {
    let count = starts.len() + 1;
    if count >= regions {
        return (1..regions).map(|region| starts[region * count / regions - 1].clone()).collect();
    }
    let mut keys = Vec::new();
    let mut rest = sorted;
    for label in 0..count {
        let end = starts.get(label).map_or(rest.len(), |start| {
            rest.partition_point(|(key, _)| key.as_slice() < start.as_slice())
        });
        let (own, after) = rest.split_at(end);
        let share = (label + 1) * regions / count - label * regions / count;
        keys.extend(between_groups(own, share));
        keys.extend(starts.get(label).cloned());
        rest = after;
    }
    keys
}

/// Keys that start a new stable prefix: for each the number of keys before it and how many bytes
/// of it distinguish it from the prefix before.
struct Boundary {
    before: usize,
    width: usize,
}

fn boundaries(sorted: &[Grouped]) -> Vec<Boundary> {
    // Nothing is stable if all keys grow from the first byte on: then any key is a boundary.
    let is_grouped = sorted
        .first()
        .zip(sorted.last())
        .is_some_and(|(first, last)| first.0.get(..first.1) != last.0.get(..last.1));
    let prefix = |index: usize| {
        let (key, stable) = &sorted[index];
        if is_grouped { &key[..*stable] } else { key.as_slice() }
    };
    (1..sorted.len())
        .filter(|&index| prefix(index) != prefix(index - 1))
        .map(|index| {
            let shared = hblite::bytes::common_prefix_length(prefix(index - 1), prefix(index));
            Boundary { before: index, width: shared + 1 }
        })
        .collect()
}

/// Split keys at boundaries, so that regions have about the same number of keys. Of boundaries
/// that are about as good, the one with the shortest key is taken.
fn between_groups(sorted: &[Grouped], regions: usize) -> Vec<Vec<u8>> {
    let boundaries = boundaries(sorted);
    let mut keys = Vec::new();
    let (mut done, mut next) = (0, 0);
    for region in 1..regions {
        let left = regions - region + 1;
        // The remaining regions share what a heavy entity leaves.
        let size = (sorted.len() - done) as f64 / left as f64;
        let target = done as f64 + size;
        let miss = |boundary: &Boundary| (boundary.before as f64 - target).abs();
        let Some(rest) = boundaries.get(next..).filter(|rest| !rest.is_empty()) else { break };
        let least = rest.iter().map(miss).fold(f64::INFINITY, f64::min);
        let limit = least.max(size / 50.0);
        let good = rest.iter().enumerate().filter(|(_, boundary)| miss(boundary) <= limit);
        let best = good.min_by(|(_, one), (_, other)| {
            one.width.cmp(&other.width).then(miss(one).total_cmp(&miss(other)))
        });
        let Some((offset, boundary)) = best else { break };
        keys.push(sorted[boundary.before].0[..boundary.width].to_vec());
        done = boundary.before;
        next += offset + 1;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(keys: &[&str], stable: usize) -> Vec<Grouped> {
        let mut keys: Vec<Grouped> =
            keys.iter().map(|key| (key.as_bytes().to_vec(), stable)).collect();
        keys.sort();
        keys
    }

    fn design(text: &str) -> Design {
        Design::parse(text).expect("a design")
    }

    #[test]
    fn salts_and_hashes_are_split_where_they_begin() {
        let keys = vec![(vec![0, b'a'], 2), (vec![5, b'a'], 2)];
        let found = splits(&design("salt(8, *)|a:str"), &keys, 4, false).expect("splits");
        assert_eq!(found, [[2], [4], [6]]);
        let found = splits(&design("bucket(n, 8)|n:u64"), &keys, 8, false).expect("splits");
        assert_eq!(found, [[1], [2], [3], [4], [5], [6], [7]]);
        let keys = grouped(&["00001a", "ffffea"], 6);
        let found = splits(&design("md5hex(a, 5)|a:str"), &keys, 4, false).expect("splits");
        assert_eq!(found, [b"40000", b"80000", b"c0000"]);
    }

    #[test]
    fn counters_are_split_evenly_by_their_last_digits_or_bits() {
        let counted = |step: usize| {
            let keys = (0..800).map(|n| format!("{:06}", n * step).chars().rev().collect());
            let keys: Vec<String> = keys.collect();
            grouped(&keys.iter().map(String::as_str).collect::<Vec<_>>(), 6)
        };
        let by_digits =
            |keys: &[Grouped]| splits(&design("id:reversed_str"), keys, 8, true).expect("splits");
        let even = ["125", "25", "375", "5", "625", "75", "875"].map(str::as_bytes);
        assert_eq!(by_digits(&counted(1)), even);
        let steps_of_ten = by_digits(&counted(10));
        assert!(steps_of_ten.iter().all(|key| key[0] == b'0'), "{steps_of_ten:?}");

        let bytes = |n: u64| (n.reverse_bits().to_be_bytes().to_vec(), 8);
        let mut keys: Vec<Grouped> = (1000..1400).map(bytes).collect();
        keys.sort();
        let found = splits(&design("id:bit_reversed_u64"), &keys, 4, false).expect("splits");
        assert_eq!(found, [[0x40], [0x80], [0xC0]]);
    }

    #[test]
    fn fewer_salts_than_regions_are_split_inside() {
        let mut keys = Vec::new();
        for salt in 0..2_u8 {
            keys.extend((b'a'..=b'd').map(|letter| (vec![salt, letter], 2)));
        }
        let found = splits(&design("salt(2, *)|a:str"), &keys, 4, false).expect("splits");
        assert_eq!(found, [vec![0, b'c'], vec![1], vec![1, b'c']]);
    }

    #[test]
    fn an_entity_is_never_split() {
        // One user has more than half of the records.
        let mut keys: Vec<String> = (0..60).map(|ts| format!("b{ts:02}")).collect();
        keys.extend((0..20).map(|ts| format!("a{ts:02}")));
        keys.extend((0..20).map(|ts| format!("c{ts:02}")));
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        assert_eq!(between_groups(&grouped(&keys, 1), 4), [b"b", b"c"]);
        // Without anything stable, any key will do.
        assert_eq!(between_groups(&grouped(&keys, 0), 2).len(), 1);
    }
}
