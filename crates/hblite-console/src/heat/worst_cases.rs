//! The largest histories that there can be: to draw and to judge them is bounded.

use super::ranges::{PARTS_MAX, parts, windows_of};
use super::*;
use crate::findings;
use crate::history::{LOADS_MAX, WINDOWS_MAX};
use crate::window::KEYS_MAX;

const REGIONS: usize = LOADS_MAX / WINDOWS_MAX;
/// Windows of this length cover two days.
const LENGTH_MS: i64 = 172_800;
const LOAD: Load = Load { reads: 700, writes: 900, bytes_read: 5_000, bytes_written: 6_000 };

fn key(number: usize) -> Vec<u8> {
    if number == 0 { Vec::new() } else { format!("{number:04}").into_bytes() }
}

/// The region between two numbered keys, or up to the last key.
fn region(start: usize, end: Option<usize>, id: usize) -> Arc<RegionInfo> {
    let end = end.map(key).unwrap_or_default();
    Arc::new(RegionInfo::new("t".parse().unwrap(), &key(start), &end, id as u64))
}

/// Windows with these regions, each of which has requests, and with as many sampled keys as one may
/// have, at the beginning of any region.
fn history(windows: impl Iterator<Item = Vec<Arc<RegionInfo>>>) -> History {
    let window = |(at, regions): (usize, Vec<Arc<RegionInfo>>)| {
        let key = |number: usize| {
            let mixed = (at * KEYS_MAX + number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let region = Arc::clone(&regions[mixed % regions.len()]);
            let row = [region.start_key(), format!("-{:05}", mixed % 99_991).as_bytes()].concat();
            KeyInWindow { region, row: row.into(), is_write: number.is_multiple_of(2) }
        };
        let keys = (0..KEYS_MAX).map(key).collect();
        let loads = regions.iter().map(|region| (Arc::clone(region), LOAD)).collect();
        let start_ms = at as i64 * LENGTH_MS;
        Window { start_ms, end_ms: start_ms + LENGTH_MS, loads, keys, ..Window::default() }
    };
    let windows: Vec<Window> = windows.enumerate().map(window).collect();
    let now_ms = windows.last().map_or(0, |window| window.end_ms);
    let mut history = History::default();
    history.restore(windows, now_ms);
    assert_eq!(history.windows().len(), WINDOWS_MAX);
    history
}

/// The regions of a table whose last region was split again and again, and that last one at each
/// time.
fn chain() -> (Vec<Arc<RegionInfo>>, Vec<Arc<RegionInfo>>) {
    let last: Vec<_> = (0..REGIONS).map(|at| region(at, None, at)).collect();
    let before = (1..REGIONS).map(|at| region(at - 1, Some(at), at));
    (before.chain([Arc::clone(&last[REGIONS - 1])]).collect(), last)
}

/// Draws and judges all of a history: the map, and on how many ranges regions were distributed.
fn drawn(history: &History, regions: &[Arc<RegionInfo>]) -> (HeatMap, usize) {
    let times_ms = (i64::MIN, i64::MAX);
    let (metric, from, to) = (Metric::Requests, vec![], vec![]);
    let frame = Frame { metric, from, to, rows_max: REGIONS, times_ms };
    let metrics = [Metric::Requests, Metric::Writes, Metric::Bytes];
    let [map, writes, bytes] = heat_maps(history, regions, &frame, metrics);
    for (at, window) in history.windows().enumerate() {
        for (map, of_region) in [(&map, 1_600.0), (&writes, 900.0), (&bytes, 11_000.0)] {
            let (sum, exact): (f64, f64) =
                (map.counts[at].iter().sum(), window.loads.len() as f64 * of_region);
            assert!((sum / exact - 1.0).abs() < 1e-9, "{sum}, not {exact}, in window {at}");
        }
    }
    let all: Vec<&Window> = history.windows().collect();
    findings::hot(history, &all, None, regions);
    let parts = parts(&map.ranges, &windows_of(history, regions[0].table()));
    assert!(parts <= PARTS_MAX, "{parts} in {} rows", map.ranges.len());
    (map, parts)
}

/// A window has the regions of its time.
#[test]
fn a_chain_of_splits_is_drawn_in_full() {
    let (regions, last) = chain();
    let splits = |at: usize| at * (REGIONS - 1) / WINDOWS_MAX;
    let of_window = |at: usize| {
        let parents = &last[splits(at)..=splits(at + 1)];
        parents.iter().chain(&regions[..splits(at + 1)]).cloned().collect()
    };
    let (map, parts) = drawn(&history((0..WINDOWS_MAX).map(of_window)), &regions);
    assert_eq!(map.ranges.len(), REGIONS);
    assert!(parts > PARTS_MAX / 10, "{parts}");
}

/// More than can be: all regions that there ever were have requests in each window.
#[test]
fn regions_that_overlap_are_drawn_in_fewer_rows() {
    let (regions, last) = chain();
    let (map, _) = drawn(&history((0..WINDOWS_MAX).map(|_| last.clone())), &regions);
    assert!((2..REGIONS / 2).contains(&map.ranges.len()), "{} rows", map.ranges.len());
}

/// Each window has regions of its own.
#[test]
fn regions_that_live_for_a_window_are_drawn_and_judged() {
    let of_window = |at: usize| (0..50).map(|id| region(0, None, at * 50 + id)).collect();
    drawn(&history((0..WINDOWS_MAX).map(of_window)), &chain().0);
}

/// A region and an earlier one, each divided in all windows.
#[test]
fn a_region_is_divided_in_each_window() {
    let whole = [region(0, None, 0), region(0, None, 1)];
    let (map, parts) = drawn(&history((0..WINDOWS_MAX).map(|_| whole.to_vec())), &whole[1..]);
    assert!(map.ranges.len() > REGIONS / 2 && parts > PARTS_MAX / 2, "{parts}");
}
