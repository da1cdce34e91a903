//! A heat map of a table: requests per range of keys and window of time.
//!
//! The rows of the map are the table's regions. Where there is space, a region is divided into
//! buckets at sampled keys; busier regions get more buckets. A region's count in a window is exact.
//! It is distributed over the region's buckets like the sample of all windows, and like that of a
//! part of them, down to the window, where the difference is more than chance. A region that has
//! been split since covers several rows.

mod ranges;

use std::collections::HashMap;
use std::ops::Range as StdRange;
use std::sync::Arc;

use hblite::{RegionInfo, TableName};

pub(crate) use self::ranges::Range;
use self::ranges::{covered, ends_after, is_one, range_of, ranges};
use crate::history::History;
use crate::shares::{DEVIANCE_MIN, deviance, supported};
use crate::window::{KeyInWindow, Load, Window};

/// Places where a time may be divided.
const DIVISIONS: usize = 16;

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
    /// Begin and end of the time, in milliseconds.
    pub(crate) times_ms: (i64, i64),
}

/// The map.
#[derive(Debug, Default)]
pub(crate) struct HeatMap {
    pub(crate) ranges: Vec<Range>,
    /// Begin and end of each window, in milliseconds.
    pub(crate) windows: Vec<(i64, i64)>,
    /// For each window a number per range.
    pub(crate) counts: Vec<Vec<f64>>,
    /// For each window, how many of its requests were sampled.
    pub(crate) sampled: Vec<usize>,
}

/// Draws the map of the regions of a table, which are in key order.
pub(crate) fn heat_map(history: &History, regions: &[Arc<RegionInfo>], frame: &Frame) -> HeatMap {
    let [map] = heat_maps(history, regions, frame, [frame.metric]);
    map
}

/// Draws a map of each of these metrics, all with the rows for that of the frame.
pub(crate) fn heat_maps<const N: usize>(
    history: &History,
    regions: &[Arc<RegionInfo>],
    frame: &Frame,
    metrics: [Metric; N],
) -> [HeatMap; N] {
    let Some(table) = regions.first().map(|region| region.table()) else {
        return metrics.map(|_| HeatMap::default());
    };
    let ranges = ranges(history, regions, table, frame);
    let overall = Overall::new(&ranges, history, table);
    let all: Vec<&Window> = history.windows().collect();
    let mut counts = metrics.map(|metric| (metric, vec![vec![0.0; ranges.len()]; all.len()]));
    for (region, seen) in seen(&all, table, &overall) {
        spread(&mut counts, &seen, &overall.of(region));
    }
    let is_shown =
        |window: &Window| window.end_ms > frame.times_ms.0 && window.start_ms < frame.times_ms.1;
    counts.map(|(_, columns)| {
        let mut map = HeatMap { ranges: ranges.clone(), ..HeatMap::default() };
        for (window, column) in all.iter().zip(columns).filter(|(window, _)| is_shown(window)) {
            map.windows.push((window.start_ms, window.end_ms));
            map.counts.push(column);
            let of_table = window.keys.iter().filter(|key| key.region.table() == table);
            map.sampled.push(of_table.filter(|key| is_kind(key, frame)).count());
        }
        map
    })
}

/// A window in which a region had requests: its place, its begin and end, the load, and the sampled
/// keys of reads and of writes in each range that the region covers, and outside of these.
struct Seen {
    place: usize,
    times_ms: (i64, i64),
    load: Load,
    found: [Vec<u64>; 2],
}

/// The windows of each region.
fn seen<'w>(
    windows: &[&'w Window],
    table: &TableName,
    overall: &Overall<'_>,
) -> Vec<(&'w RegionInfo, Vec<Seen>)> {
    let mut places: HashMap<&str, (usize, StdRange<usize>)> = HashMap::new();
    let mut regions: Vec<(&RegionInfo, Vec<Seen>)> = Vec::new();
    for (place, window) in windows.iter().enumerate() {
        for (region, load) in window.loads.iter().filter(|(region, _)| region.table() == table) {
            let (at, covered) = places.entry(region.encoded_name()).or_insert_with(|| {
                regions.push((region, Vec::new()));
                (regions.len() - 1, covered(overall.ranges, region))
            });
            let is_one = is_one(overall.ranges, covered, region);
            let none = if is_one { Vec::new() } else { vec![0; covered.len() + 1] };
            let (times_ms, found) = ((window.start_ms, window.end_ms), [none.clone(), none]);
            regions[*at].1.push(Seen { place, times_ms, load: *load, found });
        }
        for key in window.keys.iter().filter(|key| key.region.table() == table) {
            let Some((at, covered)) = places.get(key.region.encoded_name()) else { continue };
            let Some(seen) = regions[*at].1.last_mut().filter(|seen| seen.place == place) else {
                continue;
            };
            let range = range_of(&overall.ranges[covered.clone()], &key.row);
            let found = &mut seen.found[usize::from(key.is_write)];
            if let Some(count) = found.get_mut(range.unwrap_or(covered.len())) {
                *count += 1;
            }
        }
    }
    regions
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
    ranges: &'k [Range],
    /// All keys in order, read and written, including those outside the visible part.
    sorted: [Vec<&'k [u8]>; 2],
    /// The places in these of the keys of each range.
    places: [Vec<StdRange<usize>>; 2],
}

/// What is expected of a region: which ranges it covers, and their shares of its reads and writes.
/// After the ranges comes the part of it that is outside the visible part.
struct Expected {
    covered: StdRange<usize>,
    shares: [Vec<f64>; 2],
}

impl<'k> Overall<'k> {
    fn new(ranges: &'k [Range], history: &'k History, table: &'k TableName) -> Self {
        let mut sorted = [Vec::new(), Vec::new()];
        for key in keys_of(history, table) {
            sorted[usize::from(key.is_write)].push(&*key.row);
        }
        sorted.iter_mut().for_each(|keys| keys.sort_unstable());
        let within = |keys| move |range: &Range| places(keys, &range.start, &range.end);
        let places = [0, 1].map(|kind| ranges.iter().map(within(&sorted[kind])).collect());
        Self { ranges, sorted, places }
    }

    fn of(&self, region: &RegionInfo) -> Expected {
        let covered = covered(self.ranges, region);
        if is_one(self.ranges, &covered, region) {
            return Expected { covered, shares: [vec![1.0, 0.0], vec![1.0, 0.0]] };
        }
        Expected::new(self, region, covered)
    }
}

/// The places of the keys from one up to another among sorted ones.
fn places(sorted: &[&[u8]], start: &[u8], end: &[u8]) -> StdRange<usize> {
    let before = |key: &[u8]| sorted.partition_point(|other| *other < key);
    before(start)..if end.is_empty() { sorted.len() } else { before(end) }
}

impl Expected {
    fn new(overall: &Overall<'_>, region: &RegionInfo, covered: StdRange<usize>) -> Self {
        let shares = [0, 1].map(|kind| {
            let own = places(&overall.sorted[kind], region.start_key(), region.end_key());
            if own.is_empty() {
                let even = 1.0 / covered.len().max(1) as f64;
                return covered.clone().map(|_| even).chain([0.0]).collect();
            }
            let within = |range: &StdRange<usize>| {
                let (from, to) = (range.start.max(own.start), range.end.min(own.end));
                to.saturating_sub(from) as f64 / own.len() as f64
            };
            let ranges = &overall.places[kind][covered.clone()];
            let mut shares: Vec<f64> = ranges.iter().map(within).collect();
            let outside = 1.0 - shares.iter().sum::<f64>();
            // All that is missing from the sum of a region that is covered is lost by rounding.
            shares.push(if outside < 1e-9 { 0.0 } else { outside });
            shares
        });
        Self { covered, shares }
    }
}

/// Whether the requests that are known are all that were sampled.
fn is_whole(history: &History, table: &TableName) -> bool {
    let loads = history.windows().flat_map(|window| &window.loads);
    let loads = loads.filter(|(region, _)| region.table() == table);
    let requests: u64 = loads.map(|(_, load)| load.reads + load.writes).sum();
    keys_of(history, table).count() as u64 >= requests
}

/// Whether a sampled key is of the kind that is shown.
fn is_kind(key: &KeyInWindow, frame: &Frame) -> bool {
    match frame.metric {
        Metric::Requests | Metric::Bytes => true,
        Metric::Reads | Metric::BytesRead => !key.is_write,
        Metric::Writes | Metric::BytesWritten => key.is_write,
    }
}

/// Whether a sampled key is of the kind that is shown, and in the part of the key space.
fn is_wanted(key: &KeyInWindow, frame: &Frame) -> bool {
    is_kind(key, frame) && *key.row >= *frame.from && ends_after(&frame.to, &key.row)
}

/// Adds a region's counts to the ranges that it covers, in all of its windows.
fn spread(counts: &mut [(Metric, Vec<Vec<f64>>)], seen: &[Seen], expected: &Expected) {
    if expected.covered.is_empty() {
        return;
    }
    for (kind, expected_shares) in expected.shares.iter().enumerate() {
        let is_none = |metric: Metric| seen.iter().all(|seen| metric.parts(&seen.load)[kind] == 0);
        if counts.iter().all(|(metric, _)| is_none(*metric)) {
            continue;
        }
        let mut shares = Vec::with_capacity(seen.len());
        refine(seen, kind, expected_shares, &mut shares);
        for (metric, columns) in &mut *counts {
            for (seen, shares) in seen.iter().zip(&shares) {
                let count = metric.parts(&seen.load)[kind] as f64;
                let column = &mut columns[seen.place][expected.covered.clone()];
                column.iter_mut().zip(shares).for_each(|(cell, share)| *cell += count * share);
            }
        }
    }
}

/// The shares of the ranges in each window. Those of a time are those that are expected, unless its
/// sample differs by more than chance; then the same for both parts of that time, of which each
/// expects what was found of the whole: an earlier load is not drawn with the keys of a later one.
fn refine(seen: &[Seen], kind: usize, expected: &[f64], shares: &mut Vec<Vec<f64>>) {
    // A region that is one range, and visible as a whole.
    if let [_, 0.0] = expected {
        return shares.extend(seen.iter().map(|_| expected.to_vec()));
    }
    let mut found = vec![0; expected.len()];
    for seen in seen {
        found.iter_mut().zip(&seen.found[kind]).for_each(|(sum, count)| *sum += count);
    }
    let sampled: u64 = found.iter().sum();
    if sampled == 0 {
        return shares.extend(seen.iter().map(|_| expected.to_vec()));
    }
    if let [only] = seen {
        let requests = if kind == 0 { only.load.reads } else { only.load.writes };
        return shares.push(match sampled >= requests {
            true => found.iter().map(|found| *found as f64 / sampled as f64).collect(),
            false => supported(&found, expected),
        });
    }
    let known = supported(&found, expected);
    let (one, other) = seen.split_at(division(seen, kind, &found));
    refine(one, kind, &known, shares);
    refine(other, kind, &known, shares);
}

/// Where to divide a time: at the pause that is the closest to its middle; else, of some places,
/// where the samples before and after differ the most, if that is more than chance; else in the
/// middle.
fn division(seen: &[Seen], kind: usize, found: &[u64]) -> usize {
    let middle = seen.len() / 2;
    let is_pause = |at: &usize| seen[at - 1].times_ms.1 != seen[*at].times_ms.0;
    let pauses = (1..seen.len()).filter(is_pause);
    if let Some(pause) = pauses.min_by_key(|at| at.abs_diff(middle)) {
        return pause;
    }
    let total = found.iter().sum::<u64>().max(1) as f64;
    let ranges = found.iter().filter(|count| **count > 0).count();
    let mut before = vec![0_u64; found.len()];
    let mut best = (DEVIANCE_MIN + 2.0 * ranges as f64, middle);
    for at in 1..seen.len() {
        before.iter_mut().zip(&seen[at - 1].found[kind]).for_each(|(sum, count)| *sum += count);
        if !at.is_multiple_of(seen.len().div_ceil(DIVISIONS)) {
            continue;
        }
        let part = before.iter().sum::<u64>() as f64 / total;
        let differs: f64 = before
            .iter()
            .zip(found)
            .map(|(before, found)| {
                let (count, after) = (*before as f64, (found - before) as f64);
                let expected = *found as f64 * part;
                deviance(count, expected) + deviance(after, *found as f64 - expected)
            })
            .sum();
        if differs > best.0 {
            best = (differs, at);
        }
    }
    best.1
}

#[cfg(test)]
mod worst_cases;

#[cfg(test)]
mod tests {
    use hblite::{RegionLoad, RegionStatus, TableName};

    use super::*;
    use crate::window::KeyInWindow;

    fn region(start: &str, end: &str) -> Arc<RegionInfo> {
        let table: TableName = "t".parse().unwrap();
        Arc::new(RegionInfo::new(table, start.as_bytes(), end.as_bytes(), 1))
    }

    /// The writes of each region in a window, and the keys that were sampled in it.
    type Written<'a> = (&'a [(&'a Arc<RegionInfo>, u64)], &'a [&'a str]);

    fn history(windows: &[Written<'_>]) -> History {
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
        let times_ms = (i64::MIN, i64::MAX);
        Frame { metric: Metric::Writes, from: vec![], to: vec![], rows_max, times_ms }
    }

    #[test]
    fn regions_are_rows_and_their_counts_are_exact() {
        let (low, high) = (region("", "m"), region("m", ""));
        let history = history(&[(&[(&low, 10), (&high, 3)], &[]), (&[(&low, 0), (&high, 7)], &[])]);
        let regions = [low, high];
        let map = heat_map(&history, &regions, &frame(2));
        assert_eq!(map.windows, [(0, 5_000), (5_000, 10_000)]);
        assert_eq!(map.counts, [[10.0, 3.0], [0.0, 7.0]]);
        let later = Frame { times_ms: (5_000, 10_000), ..frame(2) };
        assert_eq!(heat_map(&history, &regions, &later).counts, [[0.0, 7.0]]);
        let bounds: Vec<_> =
            map.ranges.iter().map(|range| (&range.start[..], &range.end[..])).collect();
        assert_eq!(bounds, [(&b""[..], &b"m"[..]), (b"m", b"")]);
    }

    #[test]
    fn a_region_is_divided_where_its_load_is() {
        let (low, high) = (region("", "m"), region("m", ""));
        let keys = ["a", "b", "b", "b", "b", "b", "c", "d"].repeat(25);
        let history =
            history(&[(&[(&low, 2_000), (&high, 1)], &keys), (&[(&low, 8), (&high, 0)], &[])]);
        let map = heat_map(&history, &[Arc::clone(&low), Arc::clone(&high)], &frame(6));
        assert!(map.ranges.len() > 3 && map.ranges.len() <= 6, "{:?}", map.ranges);
        assert_eq!(map.sampled, [200, 0]);
        // The hot key has a row of the map of its own.
        let own = map.ranges.iter().position(|range| range.start == b"b").unwrap();
        assert_eq!(map.ranges[own].end, b"b\0");
        assert!((map.counts[0][own] - 1_250.0).abs() < 1e-6, "{:?}", map.counts);
        // A window without a sample is spread as the others are.
        assert!((map.counts[1][own] - 5.0).abs() < 1e-9);
        for (column, sum) in map.counts.iter().zip([2_001.0, 8.0]) {
            assert!((column.iter().sum::<f64>() - sum).abs() < 1e-6, "nothing is lost");
        }
        // When zoomed in, only that part is shown.
        let zoomed = Frame { from: b"b".to_vec(), to: b"b\0".to_vec(), ..frame(6) };
        let map = heat_map(&history, &[low, high], &zoomed);
        assert_eq!(map.ranges.len(), 1);
        assert!((map.counts[0][0] - 1_250.0).abs() < 1e-6, "{:?}", map.counts);
    }

    /// Of a few requests all are known, so each key may have a row of the map.
    #[test]
    fn a_small_load_is_shown_key_by_key() {
        let all = region("", "");
        let history = history(&[(&[(&all, 3)], &["a", "b", "c"]), (&[(&all, 1)], &["b"])]);
        let map = heat_map(&history, &[all], &frame(20));
        let starts: Vec<&[u8]> = map.ranges.iter().map(|range| &range.start[..]).collect();
        assert!(starts.len() >= 3, "{starts:?}");
        let of_b = starts.iter().rposition(|start| *start <= &b"b"[..]).unwrap();
        assert_eq!(map.counts[1][of_b], 1.0, "{map:?}");
    }

    /// The next number of a sequence without a pattern, below a limit.
    fn next(state: &mut u64, limit: u64) -> u64 {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % limit
    }

    const WRITES: u64 = 20_000;

    /// A region that counts its rows, of which it samples 1,024 in each window; `key` gives a key
    /// below 1,000,000 for the number of a window and of a write.
    fn counted(windows: u64, key: impl Fn(u64, u64) -> u64) -> (History, Arc<RegionInfo>) {
        let all = region("", "");
        let mut history = History::default();
        history.note(0, &[], None, None);
        for window in 0..windows {
            let row = |write| format!("{:06}", key(window, write)).into_bytes();
            let sampled = |row| hblite::SampledRow { region: 0, is_write: true, row };
            let none = hblite::HeavyRows::default();
            let rows = hblite::RowCounts {
                large: Vec::new(),
                until: window,
                regions: vec![hblite::RegionRows {
                    waits: Default::default(),
                    table: all.table().clone(),
                    region: all.encoded_name().to_owned(),
                    reads: none.clone(),
                    writes: hblite::HeavyRows { requests: WRITES, ..none },
                }],
                sample: (0..1_024).map(row).map(sampled).collect(),
                callers: Default::default(),
            };
            let status = RegionStatus {
                region: all.as_ref().clone(),
                load: RegionLoad { write_requests: WRITES * (window + 1), ..RegionLoad::default() },
                store_count: 1,
                store_file_count: 0,
                store_file_size_bytes: 0,
                memstore_size_bytes: 0,
            };
            history.note((window as i64 + 1) * 5_000, &[status], None, Some(rows));
        }
        (history, all)
    }

    /// The part of the numbers below 1,000,000 that a range of keys has.
    fn width(range: &Range) -> f64 {
        let number = |key: &[u8], empty: f64| match key {
            [] => empty,
            key => std::str::from_utf8(key).unwrap().trim_end_matches('\0').parse().unwrap(),
        };
        (number(&range.end, 1e6) - number(&range.start, 0.0)) / 1e6
    }

    /// From the first window on, and when the samples of old windows have become smaller.
    #[test]
    fn an_even_load_looks_even() {
        for windows in [1, 3, 40] {
            let seed = std::cell::Cell::new(windows);
            let key = |_, _| {
                let mut state = seed.get();
                let key = next(&mut state, 1_000_000);
                seed.set(state);
                key
            };
            let (history, all) = counted(windows, key);
            let map = heat_map(&history, &[all], &frame(119));
            let rows_min = if windows == 1 { 50 } else { 100 };
            assert!(map.ranges.len() >= rows_min, "{} rows of {windows}", map.ranges.len());
            for (window, column) in map.counts.iter().enumerate() {
                for (range, count) in map.ranges.iter().zip(column) {
                    let times = count / WRITES as f64 / width(range);
                    assert!((0.4..2.5).contains(&times), "{times} in window {window} of {windows}");
                }
            }
        }
    }

    /// What is not even is not evened out: a load that moves, and a row that is hot for a window.
    #[test]
    fn what_changes_is_seen_when_it_does() {
        let key = |window: u64, write: u64| match window {
            _ if window == 30 && write.is_multiple_of(12) => 777_777,
            _ => window * 25_000 + write * 7_919 % 25_000,
        };
        let (history, all) = counted(40, key);
        let map = heat_map(&history, &[all], &frame(119));
        for (window, column) in map.counts.iter().enumerate() {
            let (from, to) = (window as f64 * 25_000.0, (window + 1) as f64 * 25_000.0);
            let (mut sum, mut place) = (0.0, 0.0);
            for (range, count) in map.ranges.iter().zip(column) {
                let end = place + width(range) * 1e6;
                if place < to + 20_000.0 && end > from - 20_000.0 {
                    sum += count;
                }
                place = end;
            }
            let least = if window == 30 { 0.88 } else { 0.95 };
            assert!(sum > least * WRITES as f64, "{sum} in window {window}");
        }
        let row = map.ranges.iter().rposition(|range| *range.start <= b"777777"[..]).unwrap();
        let share = map.counts[30][row] / WRITES as f64;
        // A twelfth, known by 200 keys: two standard errors are 0.039.
        assert!((0.044..0.122).contains(&share), "{share}");
    }

    /// Few keys of each window, and another load before: the row that is hot later was not then.
    #[test]
    fn an_earlier_load_is_not_drawn_with_the_keys_of_a_later_one() {
        let all = region("", "");
        let mut state = 1_u64;
        let mut row = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            format!("{:05}", (state >> 33) % 100_000)
        };
        for begin in [30, 11, 47] {
            let keys: Vec<Vec<String>> = (0..60)
                .map(|window| {
                    let is_hot = |key: usize| window >= begin && key < 3;
                    (0..6).map(|key| if is_hot(key) { "hot".to_owned() } else { row() }).collect()
                })
                .collect();
            let keys: Vec<Vec<&str>> =
                keys.iter().map(|keys| keys.iter().map(String::as_str).collect()).collect();
            let loads = [(&all, 1_000)];
            let windows: Vec<Written<'_>> =
                keys.iter().map(|keys| (&loads[..], &keys[..])).collect();
            let map = heat_map(&history(&windows), &[Arc::clone(&all)], &frame(16));
            let hot = map.ranges.iter().position(|range| range.start == b"hot").unwrap();
            let mean = |windows: StdRange<usize>| {
                let counts = map.counts[windows.clone()].iter();
                counts.map(|column| column[hot]).sum::<f64>() / windows.len() as f64 / 1_000.0
            };
            let (before, after) = (mean(0..begin), mean(begin..60));
            assert!(before < 0.06 && after > 0.4 && after < 0.6, "{begin}: {before} {after}");
            assert!(
                map.counts.iter().all(|column| (column.iter().sum::<f64>() - 1e3).abs() < 1e-6)
            );
        }
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
