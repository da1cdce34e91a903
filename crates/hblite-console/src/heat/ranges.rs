//! The rows of a map: ranges of keys, which are regions, parts of them, or some together.

use std::collections::HashMap;
use std::ops::Range as StdRange;
use std::sync::Arc;

use hblite::{RegionInfo, TableName};

use super::{Frame, is_wanted, is_whole, keys_of};
use crate::history::History;

/// A region is divided only at keys with this many sampled ones between them, so that the standard
/// error of a row is a quarter.
const ROW_KEYS_MIN: usize = 16;
/// Ranges over which regions are distributed, in all windows combined. Regions that existed at one
/// time do not overlap, so this is rarely reached; beyond it, the map has fewer rows.
pub(super) const PARTS_MAX: usize = 1_000_000;

/// A row of the map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: Vec<u8>,
    /// Empty for the end of the table.
    pub(crate) end: Vec<u8>,
    /// The index of its region among those of the table, of the first if it covers several.
    pub(crate) region: usize,
}

/// Whether a range, with or without an end, extends beyond a key.
pub(super) fn ends_after(end: &[u8], key: &[u8]) -> bool {
    end.is_empty() || end > key
}

/// The rows of the map, as many as are wanted or as can be drawn.
pub(super) fn ranges(
    history: &History,
    regions: &[Arc<RegionInfo>],
    table: &TableName,
    frame: &Frame,
) -> Vec<Range> {
    let wanted = keys_of(history, table).filter(|key| is_wanted(key, frame));
    let mut keys: Vec<&[u8]> = wanted.map(|key| &*key.row).collect();
    keys.sort_unstable();
    // If the sample is the whole load, a key is enough for a row.
    let keys_min = if is_whole(history, table) { 1 } else { ROW_KEYS_MIN };
    let windows = windows_of(history, table);
    let mut rows_max = frame.rows_max.max(1);
    loop {
        let ranges = ranges_of(regions, &keys, keys_min, frame, rows_max);
        let parts = parts(&ranges, &windows);
        if parts <= PARTS_MAX || ranges.len() < 2 {
            return ranges;
        }
        rows_max = (ranges.len() * PARTS_MAX / parts).max(1);
    }
}

/// In how many windows each region had requests.
pub(super) fn windows_of<'h>(
    history: &'h History,
    table: &TableName,
) -> Vec<(&'h RegionInfo, usize)> {
    let mut windows: HashMap<&str, (&RegionInfo, usize)> = HashMap::new();
    let loads = history.windows().flat_map(|window| &window.loads);
    for (region, _) in loads.filter(|(region, _)| region.table() == table) {
        windows.entry(region.encoded_name()).or_insert((region, 0)).1 += 1;
    }
    windows.into_values().collect()
}

/// How many ranges the regions cover in all of their windows.
pub(super) fn parts(ranges: &[Range], windows: &[(&RegionInfo, usize)]) -> usize {
    let of_region = |(region, windows): &(&RegionInfo, usize)| match covered(ranges, region) {
        one if is_one(ranges, &one, region) => 0,
        covered => windows * covered.len(),
    };
    windows.iter().map(of_region).sum()
}

/// At most this many rows of the map, with at least this many of the sorted keys in each that is a
/// part of a region.
fn ranges_of(
    regions: &[Arc<RegionInfo>],
    keys: &[&[u8]],
    keys_min: usize,
    frame: &Frame,
    rows_max: usize,
) -> Vec<Range> {
    let is_shown = |region: &RegionInfo| {
        ends_after(region.end_key(), &frame.from) && ends_after(&frame.to, region.start_key())
    };
    let shown: Vec<(usize, &RegionInfo)> = regions
        .iter()
        .map(|region| region.as_ref())
        .enumerate()
        .filter(|(_, region)| is_shown(region))
        .collect();
    let mut starts: Vec<(Vec<u8>, usize)> = Vec::new();
    let together = shown.len().div_ceil(rows_max).max(1);
    let spare = rows_max.saturating_sub(shown.len());
    for (index, region) in shown.iter().step_by(together) {
        let start = region.start_key().max(&frame.from);
        starts.push((start.to_vec(), *index));
        if together == 1 && !keys.is_empty() {
            let from = keys.partition_point(|key| *key < start);
            let to = keys.partition_point(|key| ends_after(region.end_key(), key));
            let mine = &keys[from..to.max(from)];
            // Its share of the spare rows equals its share of the sample, if that is large enough.
            let buckets = (1 + spare * mine.len() / keys.len()).min(mine.len() / keys_min);
            let inner = bucket_starts(mine, buckets).into_iter();
            let inner = inner.filter(|key| **key > *start && ends_after(&frame.to, key));
            starts.extend(inner.map(|key| (key, *index)));
        }
    }
    starts.dedup_by(|next, one| next.0 == one.0);
    starts.truncate(rows_max);
    let ends = starts.iter().skip(1).map(|(start, _)| start.clone());
    let last = shown.last().map_or(&[][..], |(_, region)| region.end_key());
    let last = match (last.is_empty(), frame.to.is_empty()) {
        (true, _) => frame.to.clone(),
        (false, true) => last.to_vec(),
        (false, false) => last.min(&frame.to).to_vec(),
    };
    let ends: Vec<Vec<u8>> = ends.chain([last]).collect();
    let range = |((start, region), end)| Range { start, end, region };
    starts.into_iter().zip(ends).map(range).collect()
}

/// Keys that divide sorted keys into at most this many buckets: the first of each after the first.
/// A key that would fill a bucket alone gets its own; the keys between two of these are divided
/// evenly.
fn bucket_starts(sorted: &[&[u8]], buckets: usize) -> Vec<Vec<u8>> {
    if buckets < 2 || sorted.is_empty() {
        return Vec::new();
    }
    let mut weight = sorted.len() as f64 / buckets as f64;
    loop {
        let starts = starts_of(sorted, weight);
        if starts.len() < buckets {
            return starts;
        }
        weight *= 1.1;
    }
}

/// The same for buckets of about this many keys.
fn starts_of(sorted: &[&[u8]], weight: f64) -> Vec<Vec<u8>> {
    let same: Vec<&[&[u8]]> = sorted.chunk_by(|one, other| one == other).collect();
    let is_heavy = |same: &[&[u8]]| same.len() as f64 > weight && same.len() > 1;
    let mut starts: Vec<Vec<u8>> = Vec::new();
    for alike in same.chunk_by(|one, other| !is_heavy(one) && !is_heavy(other)) {
        if let [heavy] = alike
            && is_heavy(heavy)
        {
            // After another heavy one, this one may begin where that one's bucket ended.
            starts.push(heavy[0].to_vec());
            starts.push([heavy[0], b"\0"].concat());
            continue;
        }
        let count: usize = alike.iter().map(|same| same.len()).sum();
        let parts = (count as f64 / weight).round().max(1.0);
        let (mut passed, mut next) = (0, 1.0);
        for same in alike {
            if passed as f64 >= next * count as f64 / parts {
                starts.push(same[0].to_vec());
                next += 1.0;
            }
            passed += same.len();
        }
    }
    starts.dedup();
    starts
}

/// The ranges that a region covers.
pub(super) fn covered(ranges: &[Range], region: &RegionInfo) -> StdRange<usize> {
    let from = ranges.partition_point(|range| !ends_after(&range.end, region.start_key()));
    let to = ranges.partition_point(|range| ends_after(region.end_key(), &range.start));
    from..to.max(from)
}

/// Whether a region lies within the only range that it covers: then there is nothing to divide.
pub(super) fn is_one(ranges: &[Range], covered: &StdRange<usize>, region: &RegionInfo) -> bool {
    let [range] = &ranges[covered.clone()] else { return false };
    let end = region.end_key();
    *range.start <= *region.start_key()
        && (range.end.is_empty() || (!end.is_empty() && *end <= *range.end))
}

/// The range that holds a key.
pub(super) fn range_of(ranges: &[Range], key: &[u8]) -> Option<usize> {
    let index = ranges.partition_point(|range| *range.start <= *key).checked_sub(1)?;
    ends_after(&ranges[index].end, key).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys next to a hot row are divided evenly: none of their ranges is darker for what was left
    /// over.
    #[test]
    fn ranges_next_to_a_hot_row_are_even() {
        let names: Vec<String> = (0..1_000).map(|key| format!("k{key:04}")).collect();
        for (hot, buckets) in [(150, 7), (400, 9), (900, 12), (999, 30), (10, 16)] {
            let mut keys: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
            let hot_row = keys[hot];
            keys.extend(vec![hot_row; 700]);
            keys.sort_unstable();
            let starts = bucket_starts(&keys, buckets);
            assert!(starts.len() < buckets && starts.windows(2).all(|pair| pair[0] < pair[1]));
            let bounds: Vec<&[u8]> = starts.iter().map(Vec::as_slice).collect();
            let of = |start: &[u8], end: &[u8]| {
                keys.iter().filter(|key| **key >= start && ends_after(end, key)).count()
            };
            let firsts = [&b""[..]].into_iter().chain(bounds.iter().copied());
            let ends = bounds.iter().copied().chain([&b""[..]]);
            let counts: Vec<usize> = firsts.zip(ends).map(|(start, end)| of(start, end)).collect();
            assert_eq!(counts.iter().sum::<usize>(), 1_700);
            assert_eq!(counts.iter().filter(|count| **count >= 700).count(), 1, "{counts:?}");
            let others: Vec<usize> = counts.into_iter().filter(|count| *count < 700).collect();
            // Ten keys, or fewer, may be all that there is before or after the row.
            let (most, least) = (others.iter().max(), others.iter().filter(|c| **c > 10).min());
            assert!(most.unwrap() < &(2 * least.unwrap()), "{hot} {buckets}: {others:?}");
        }
    }
}
