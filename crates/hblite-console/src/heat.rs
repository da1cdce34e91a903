//! A heat map of a table: requests per range of keys and window of time.
//!
//! The rows of the map are the table's regions. Where there is space, a region is divided into
//! buckets at sampled keys; busier regions get more buckets. A region's count in a window is exact.
//! It is distributed over the region's buckets like the sample of that window, or like that of all
//! windows if the window has none. A region that has been split since covers several rows.

use std::collections::HashMap;
use std::sync::Arc;

use hblite::{RegionInfo, TableName};

use crate::history::{History, KeyInWindow, Load};

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    Requests,
    Reads,
    Writes,
    Bytes,
    BytesRead,
    BytesWritten,
}

impl Metric {
    /// All of them, with their names in requests.
    pub(crate) const ALL: [(&'static str, Self); 6] = [
        ("requests", Self::Requests),
        ("reads", Self::Reads),
        ("writes", Self::Writes),
        ("bytes", Self::Bytes),
        ("bytes_read", Self::BytesRead),
        ("bytes_written", Self::BytesWritten),
    ];

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, metric)| *metric)
    }

    /// The reads' and the writes' part of a load.
    pub(crate) fn parts(self, load: &Load) -> [u64; 2] {
        match self {
            Self::Requests => [load.reads, load.writes],
            Self::Reads => [load.reads, 0],
            Self::Writes => [0, load.writes],
            Self::Bytes => [load.bytes_read, load.bytes_written],
            Self::BytesRead => [load.bytes_read, 0],
            Self::BytesWritten => [0, load.bytes_written],
        }
    }
}

/// Which part of the key space, and how many rows of the map at most.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) metric: Metric,
    /// First key; empty for the first of the table.
    pub(crate) from: Vec<u8>,
    /// The key after the last; empty for the end of the table.
    pub(crate) to: Vec<u8>,
    pub(crate) rows_max: usize,
}

/// A row of the map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: Vec<u8>,
    /// Empty for the end of the table.
    pub(crate) end: Vec<u8>,
    /// The index of its region among those of the table, of the first if it covers several.
    pub(crate) region: usize,
}

/// The map.
#[derive(Debug)]
pub(crate) struct HeatMap {
    pub(crate) ranges: Vec<Range>,
    /// Begin and end of each window, in milliseconds.
    pub(crate) windows: Vec<(i64, i64)>,
    /// For each window a number per range.
    pub(crate) counts: Vec<Vec<f64>>,
}

/// Whether a range, with or without an end, extends beyond a key.
fn ends_after(end: &[u8], key: &[u8]) -> bool {
    end.is_empty() || end > key
}

/// Draws the map of the regions of a table, which are in key order.
pub(crate) fn heat_map(history: &History, regions: &[Arc<RegionInfo>], frame: &Frame) -> HeatMap {
    let Some(table) = regions.first().map(|region| region.table()) else {
        return HeatMap { ranges: vec![], windows: vec![], counts: vec![] };
    };
    let of_table = keys_of(history, table);
    let samples: Vec<&KeyInWindow> = of_table.filter(|key| is_wanted(key, frame)).collect();
    let ranges = ranges(regions, &samples, frame);
    let overall = Overall::new(&ranges, &samples, history, table);
    let mut windows = Vec::with_capacity(history.windows().len());
    let mut counts = Vec::with_capacity(windows.capacity());
    for window in history.windows() {
        windows.push((window.start_ms, window.end_ms));
        let mut column = vec![0.0; ranges.len()];
        let mut by_region: HashMap<&str, Vec<&KeyInWindow>> = HashMap::new();
        for key in window.keys.iter().filter(|key| key.region.table() == table) {
            by_region.entry(key.region.encoded_name()).or_default().push(key);
        }
        for (region, load) in window.loads.iter().filter(|(region, _)| region.table() == table) {
            let keys = by_region.get(region.encoded_name()).map_or(&[][..], Vec::as_slice);
            spread(&mut column, &ranges, region, &frame.metric.parts(load), keys, &overall);
        }
        counts.push(column);
    }
    HeatMap { ranges, windows, counts }
}

/// The sampled keys of a table.
fn keys_of<'h>(
    history: &'h History,
    table: &'h TableName,
) -> impl Iterator<Item = &'h KeyInWindow> {
    let keys = history.windows().flat_map(|window| &window.keys);
    keys.filter(move |key| key.region.table() == table)
}

/// The sample of all windows together.
struct Overall<'k> {
    /// Reads and writes per range.
    counts: Vec<[u32; 2]>,
    /// All keys in order, read and written, including those outside the visible part.
    sorted: [Vec<&'k [u8]>; 2],
}

impl<'k> Overall<'k> {
    fn new(
        ranges: &[Range],
        shown: &[&KeyInWindow],
        history: &'k History,
        table: &'k TableName,
    ) -> Self {
        let mut sorted = [Vec::new(), Vec::new()];
        for key in keys_of(history, table) {
            sorted[usize::from(key.is_write)].push(&*key.row);
        }
        sorted.iter_mut().for_each(|keys| keys.sort_unstable());
        Self { counts: tally(ranges, shown.iter().copied()), sorted }
    }

    /// How many keys of a kind are in a region.
    fn within(&self, region: &RegionInfo, kind: usize) -> usize {
        let keys = &self.sorted[kind];
        let from = keys.partition_point(|key| *key < region.start_key());
        keys.partition_point(|key| ends_after(region.end_key(), key)).saturating_sub(from)
    }
}

/// Whether a sampled key is of the kind that is shown, and in the part of the key space.
fn is_wanted(key: &KeyInWindow, frame: &Frame) -> bool {
    let is_kind = match frame.metric {
        Metric::Requests | Metric::Bytes => true,
        Metric::Reads | Metric::BytesRead => !key.is_write,
        Metric::Writes | Metric::BytesWritten => key.is_write,
    };
    is_kind && *key.row >= *frame.from && ends_after(&frame.to, &key.row)
}

/// The rows of the map.
fn ranges(regions: &[Arc<RegionInfo>], samples: &[&KeyInWindow], frame: &Frame) -> Vec<Range> {
    let is_shown = |region: &RegionInfo| {
        ends_after(region.end_key(), &frame.from) && ends_after(&frame.to, region.start_key())
    };
    let shown: Vec<(usize, &RegionInfo)> = regions
        .iter()
        .map(|region| region.as_ref())
        .enumerate()
        .filter(|(_, region)| is_shown(region))
        .collect();
    let rows_max = frame.rows_max.max(1);
    let mut starts: Vec<(Vec<u8>, usize)> = Vec::new();
    let together = shown.len().div_ceil(rows_max).max(1);
    let spare = rows_max.saturating_sub(shown.len());
    let mut keys: Vec<&[u8]> = samples.iter().map(|key| &*key.row).collect();
    keys.sort_unstable();
    for (index, region) in shown.iter().step_by(together) {
        let start = region.start_key().max(&frame.from);
        starts.push((start.to_vec(), *index));
        if together == 1 && !keys.is_empty() {
            let from = keys.partition_point(|key| *key < start);
            let to = keys.partition_point(|key| ends_after(region.end_key(), key));
            let mine = &keys[from..to.max(from)];
            // Its share of the spare rows equals its share of the sample.
            let buckets = 1 + spare * mine.len() / keys.len();
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

/// Keys that divide sorted keys into about this many buckets of equal weight. A key that fills a
/// bucket alone gets its own.
fn bucket_starts(sorted: &[&[u8]], buckets: usize) -> Vec<Vec<u8>> {
    if buckets < 2 || sorted.is_empty() {
        return Vec::new();
    }
    let weight = sorted.len() as f64 / buckets as f64;
    let mut starts: Vec<Vec<u8>> = Vec::new();
    let mut filled = 0.0;
    for same in sorted.chunk_by(|one, other| one == other) {
        let is_heavy = same.len() as f64 > weight && same.len() > 1;
        if filled >= weight || (is_heavy && filled > 0.0) || starts.is_empty() {
            starts.push(same[0].to_vec());
            filled = 0.0;
        }
        filled += same.len() as f64;
        if is_heavy {
            starts.push([same[0], b"\0"].concat());
            filled = 0.0;
        }
    }
    starts.truncate(buckets);
    starts
}

/// The range that holds a key.
fn range_of(ranges: &[Range], key: &[u8]) -> Option<usize> {
    let index = ranges.partition_point(|range| *range.start <= *key).checked_sub(1)?;
    ends_after(&ranges[index].end, key).then_some(index)
}

/// Sampled reads and writes per range.
fn tally<'k>(ranges: &[Range], keys: impl Iterator<Item = &'k KeyInWindow>) -> Vec<[u32; 2]> {
    let mut counts = vec![[0; 2]; ranges.len()];
    for key in keys {
        if let Some(index) = range_of(ranges, &key.row) {
            counts[index][usize::from(key.is_write)] += 1;
        }
    }
    counts
}

/// Adds a region's counts of a window to the ranges that it covers.
fn spread(
    column: &mut [f64],
    ranges: &[Range],
    region: &RegionInfo,
    parts: &[u64; 2],
    keys: &[&KeyInWindow],
    overall: &Overall<'_>,
) {
    let from = ranges.partition_point(|range| !ends_after(&range.end, region.start_key()));
    let to = ranges.partition_point(|range| ends_after(region.end_key(), &range.start));
    if from >= to {
        return;
    }
    let covered = &ranges[from..to];
    // The part of the sample outside the visible part keeps its share.
    let now = tally(covered, keys.iter().copied());
    for (kind, &count) in parts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let sampled = keys.iter().filter(|key| usize::from(key.is_write) == kind).count();
        let known = overall.within(region, kind);
        for (index, cell) in column[from..to].iter_mut().enumerate() {
            let share = if sampled > 0 {
                f64::from(now[index][kind]) / sampled as f64
            } else if known > 0 {
                f64::from(overall.counts[from + index][kind]) / known as f64
            } else {
                1.0 / (to - from) as f64
            };
            *cell += count as f64 * share;
        }
    }
}

#[cfg(test)]
mod tests {
    use hblite::{RegionLoad, RegionStatus, TableName};

    use super::*;
    use crate::history::KeyInWindow;

    fn region(start: &str, end: &str) -> Arc<RegionInfo> {
        let table: TableName = "t".parse().unwrap();
        Arc::new(RegionInfo::new(table, start.as_bytes(), end.as_bytes(), 1))
    }

    /// The writes of each region in a window, and the keys that were sampled in it.
    type Window<'a> = (&'a [(&'a Arc<RegionInfo>, u64)], &'a [&'a str]);

    fn history(windows: &[Window<'_>]) -> History {
        let mut history = History::default();
        let mut totals: HashMap<String, u64> = HashMap::new();
        history.note(0, &[], None, None);
        for (number, (writes, keys)) in (1..).zip(windows) {
            let status = |(region, writes): &(&Arc<RegionInfo>, u64)| {
                let total = totals.entry(region.encoded_name().to_owned()).or_default();
                *total += writes;
                RegionStatus {
                    region: region.as_ref().clone(),
                    load: RegionLoad { write_requests: *total, ..RegionLoad::default() },
                    store_count: 1,
                    store_file_count: 0,
                    store_file_size_bytes: 0,
                    memstore_size_bytes: 0,
                }
            };
            let statuses: Vec<RegionStatus> = writes.iter().map(status).collect();
            let holder = |key: &str| {
                let holds =
                    |(region, _): &&(&Arc<RegionInfo>, u64)| region.contains_row(key.as_bytes());
                Arc::clone(writes.iter().find(holds).unwrap().0)
            };
            let keys = keys.iter().map(|key| KeyInWindow {
                region: holder(key),
                row: key.as_bytes().into(),
                is_write: true,
            });
            history.note(number * 5_000, &statuses, None, None);
            let start_ms = (number - 1) * 5_000;
            history.add_keys(start_ms, keys.collect(), &hblite::RowCounts::default());
        }
        history
    }

    fn frame(rows_max: usize) -> Frame {
        Frame { metric: Metric::Writes, from: vec![], to: vec![], rows_max }
    }

    #[test]
    fn regions_are_rows_and_their_counts_are_exact() {
        let (low, high) = (region("", "m"), region("m", ""));
        let history = history(&[(&[(&low, 10), (&high, 3)], &[]), (&[(&low, 0), (&high, 7)], &[])]);
        let map = heat_map(&history, &[low, high], &frame(2));
        assert_eq!(map.windows, [(0, 5_000), (5_000, 10_000)]);
        assert_eq!(map.counts, [[10.0, 3.0], [0.0, 7.0]]);
        let bounds: Vec<_> =
            map.ranges.iter().map(|range| (&range.start[..], &range.end[..])).collect();
        assert_eq!(bounds, [(&b""[..], &b"m"[..]), (b"m", b"")]);
    }

    #[test]
    fn a_region_is_divided_where_its_load_is() {
        let (low, high) = (region("", "m"), region("m", ""));
        let keys = ["a", "b", "b", "b", "b", "b", "c", "d"];
        let history =
            history(&[(&[(&low, 80), (&high, 1)], &keys), (&[(&low, 8), (&high, 0)], &[])]);
        let map = heat_map(&history, &[Arc::clone(&low), Arc::clone(&high)], &frame(6));
        assert!(map.ranges.len() > 3 && map.ranges.len() <= 6, "{:?}", map.ranges);
        // The hot key has a row of the map of its own.
        let own = map.ranges.iter().position(|range| range.start == b"b").unwrap();
        assert_eq!(map.ranges[own].end, b"b\0");
        assert!((map.counts[0][own] - 50.0).abs() < 1e-9, "{:?}", map.counts);
        // A window without a sample is spread as the others are.
        assert!((map.counts[1][own] - 5.0).abs() < 1e-9);
        for (column, sum) in map.counts.iter().zip([81.0, 8.0]) {
            assert!((column.iter().sum::<f64>() - sum).abs() < 1e-9, "nothing is lost");
        }
        // When zoomed in, only that part is shown.
        let zoomed = Frame { from: b"b".to_vec(), to: b"b\0".to_vec(), ..frame(6) };
        let map = heat_map(&history, &[low, high], &zoomed);
        assert_eq!(map.ranges.len(), 1);
        assert!((map.counts[0][0] - 50.0).abs() < 1e-9, "{:?}", map.counts);
    }

    #[test]
    fn parents_are_spread_over_their_daughters_and_many_regions_are_joined() {
        let (low, high) = (region("", "m"), region("m", ""));
        let parent = Arc::new(RegionInfo::new(low.table().clone(), b"", b"", 0));
        let history = history(&[(&[(&parent, 10)], &[]), (&[(&low, 4), (&high, 6)], &[])]);
        let regions = [low, high];
        let map = heat_map(&history, &regions, &frame(2));
        assert_eq!(map.counts, [[5.0, 5.0], [4.0, 6.0]]);
        let map = heat_map(&history, &regions, &frame(1));
        assert_eq!((map.ranges.len(), &map.counts[..]), (1, &[vec![10.0], vec![10.0]][..]));
        assert_eq!(heat_map(&history, &[], &frame(1)).ranges, []);
    }
}
