//! Joins old windows, so that hours of them need little memory.
//!
//! Of all neighbors, those are joined that are the shortest for their age. So a window's length
//! grows in proportion to its age, to about 0.6 % of it at two days if windows had five seconds. It
//! never exceeds [`PART_MAX`]: before that, the oldest window is forgotten. Sums are exact. Windows
//! with a gap between them, as of a restart, are not joined, and the last ones stay as they are.

use std::collections::{HashMap, VecDeque};

use hblite_hotspot::findings::thinned;

use crate::window::{KEYS_MAX, KeyInWindow, ROWS_WINDOWS, Window};

/// How much of its age the length of a window may be that was joined.
const PART_MAX: f64 = 0.25;

/// The window to join with the next one; `None` if the oldest one should be forgotten.
pub(crate) fn place(windows: &VecDeque<Window>) -> Option<usize> {
    let now_ms = windows.back()?.end_ms;
    let part = |place: usize| {
        let (one, next) = (&windows[place], &windows[place + 1]);
        let age_ms = (now_ms - one.start_ms).max(1);
        (one.end_ms == next.start_ms).then(|| (next.end_ms - one.start_ms) as f64 / age_ms as f64)
    };
    let pairs = windows.len().saturating_sub(ROWS_WINDOWS + 1);
    let parts = (0..pairs).filter_map(|place| Some((part(place)?, place)));
    let (part, place) = parts.min_by(|one, other| one.0.total_cmp(&other.0))?;
    (part <= PART_MAX).then_some(place)
}

impl Window {
    /// Adds the next window to this one.
    pub(crate) fn absorb(&mut self, next: Self) {
        let weighted = [&*self, &next].into_iter().flat_map(weights).collect::<Vec<_>>();
        let mut keys = std::mem::take(&mut self.keys);
        keys.extend(next.keys);
        let kept = thinned(&weighted, KEYS_MAX).take(KEYS_MAX);
        self.keys = kept.map(|at| keys[at].clone()).collect();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (at, (region, _)) in self.loads.iter().enumerate() {
            places.insert(region.encoded_name().to_owned(), at);
        }
        for (region, load) in next.loads {
            match places.get(region.encoded_name()) {
                Some(at) => self.loads[*at].1.add(&load),
                None => self.loads.push((region, load)),
            }
        }
        self.end_ms = next.end_ms;
        self.rows = None;
        self.calls = self.calls.zip(next.calls).map(|(one, other)| one.saturating_add(other));
    }
}

/// For each sampled key of a window, how many requests it stands for.
fn weights(window: &Window) -> Vec<f64> {
    let place = |key: &KeyInWindow| (key.region.encoded_name().to_owned(), key.is_write);
    let mut counts: HashMap<(String, bool), u64> = HashMap::new();
    window.keys.iter().for_each(|key| *counts.entry(place(key)).or_default() += 1);
    let mut loads: HashMap<&str, [u64; 2]> = HashMap::new();
    for (region, load) in &window.loads {
        loads.insert(region.encoded_name(), [load.reads, load.writes]);
    }
    let weight = |key: &KeyInWindow| {
        let load = loads.get(key.region.encoded_name()).copied().unwrap_or_default();
        load[usize::from(key.is_write)] as f64 / counts[&place(key)] as f64
    };
    window.keys.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hblite::{RegionInfo, RegionLoad, RegionStatus, TableName};

    use super::*;
    use crate::history::{History, LOADS_MAX, WINDOWS_MAX};

    const PERIOD_MS: i64 = 5_000;

    fn statuses(totals: &[u64]) -> Vec<RegionStatus> {
        let status = |(number, total): (usize, &u64)| {
            let table: TableName = "t".parse().unwrap();
            let start = format!("{number:05}");
            let load = RegionLoad {
                read_requests: 3 * total,
                write_requests: *total,
                ..RegionLoad::default()
            };
            RegionStatus {
                region: RegionInfo::new(table, start.as_bytes(), b"", 1),
                load,
                store_count: 1,
                store_file_count: 0,
                store_file_size_bytes: 0,
                memstore_size_bytes: 0,
            }
        };
        totals.iter().enumerate().map(status).collect()
    }

    /// A history of this many windows, and what each of the regions was written in each of them.
    fn recorded(history: &mut History, windows: usize, regions: usize) -> Vec<Vec<u64>> {
        let mut totals = vec![0_u64; regions];
        let mut written = Vec::new();
        history.note(0, &statuses(&totals), Some(0), None);
        let mut state = 88_172_645_463_325_252_u64;
        for window in 1..=windows {
            let row: Vec<u64> = totals
                .iter()
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    if state.is_multiple_of(5) { 0 } else { state % 1_000 }
                })
                .collect();
            totals.iter_mut().zip(&row).for_each(|(total, count)| *total += count);
            let calls = totals.iter().sum();
            history.note(window as i64 * PERIOD_MS, &statuses(&totals), Some(calls), None);
            written.push(row);
        }
        written
    }

    /// Two days and more: no request is lost or counted twice, whatever was joined; times are
    /// complete; and a window is short for its age.
    #[test]
    fn joined_windows_have_exact_sums() {
        let (regions, windows) = (3, 40_000);
        let mut history = History::default();
        let written = recorded(&mut history, windows, regions);
        assert_eq!(history.windows().len(), WINDOWS_MAX);
        let now_ms = windows as i64 * PERIOD_MS;
        let mut begin_ms = history.windows().next().unwrap().start_ms;
        let kept_ms = now_ms - begin_ms;
        assert!((48 * 3_600_000..49 * 3_600_000).contains(&kept_ms), "{kept_ms}");
        for window in history.windows() {
            assert_eq!(window.start_ms, begin_ms, "there is no gap");
            begin_ms = window.end_ms;
            let of_window =
                (window.start_ms / PERIOD_MS) as usize..(window.end_ms / PERIOD_MS) as usize;
            let mut all = 0;
            for region in 0..regions {
                let sum: u64 = written[of_window.clone()].iter().map(|row| row[region]).sum();
                let start = format!("{region:05}");
                let load =
                    window.loads.iter().find(|(info, _)| info.start_key() == start.as_bytes());
                let load = load.map(|(_, load)| *load).unwrap_or_default();
                assert_eq!((load.writes, load.reads), (sum, 3 * sum));
                all += sum;
            }
            assert_eq!(window.calls, Some(all));
            let (age, length) = (now_ms - window.start_ms, window.end_ms - window.start_ms);
            assert!(length == PERIOD_MS || length as f64 <= 0.01 * age as f64, "{length} of {age}");
        }
        assert_eq!(begin_ms, now_ms);
        let last = history.windows().rev().take(ROWS_WINDOWS + 100);
        assert!(last.into_iter().all(|window| window.end_ms - window.start_ms == PERIOD_MS));
    }

    /// Many busy regions: the number of counts is bounded, and there are still hours.
    #[test]
    fn many_regions_have_longer_windows() {
        let regions = 200;
        let mut history = History::with_limits(WINDOWS_MAX, 100 * regions);
        let written = recorded(&mut history, 3_000, regions);
        let loads: usize = history.windows().map(|window| window.loads.len()).sum();
        assert!(loads <= 100 * regions && 100 * regions < LOADS_MAX, "{loads}");
        assert_eq!(history.windows().next().unwrap().start_ms, 0, "four hours ago");
        let sum: u64 = history.windows().map(|window| window.total().writes).sum();
        assert_eq!(sum, written.iter().flatten().sum::<u64>());
        // Without room for two windows of all regions besides the last ones, the oldest go.
        let mut history = History::with_limits(WINDOWS_MAX, 10 * regions);
        recorded(&mut history, 200, regions);
        assert!(history.windows().len() <= 14, "{}", history.windows().len());
        assert_eq!(history.windows().next_back().unwrap().end_ms, 200 * PERIOD_MS);
    }

    fn window(start_ms: i64, writes: u64, keys: usize, row: &str) -> Window {
        let table: TableName = "t".parse().unwrap();
        let region = Arc::new(RegionInfo::new(table, b"", b"", 1));
        let key =
            KeyInWindow { region: Arc::clone(&region), row: row.as_bytes().into(), is_write: true };
        let load = crate::window::Load { writes, ..Default::default() };
        let (end_ms, keys) = (start_ms + 10, vec![key; keys]);
        Window { start_ms, end_ms, loads: vec![(region, load)], keys, ..Window::default() }
    }

    /// The sample of a window that had three times the requests has three times the weight.
    #[test]
    fn joined_samples_have_the_shares_of_their_windows() {
        let mut one = window(0, 30_000, 200, "a");
        one.absorb(window(10, 10_000, 200, "b"));
        let of = |row: &str| one.keys.iter().filter(|key| *key.row == *row.as_bytes()).count();
        assert!(one.keys.len() <= KEYS_MAX && one.keys.len() > 150, "{}", one.keys.len());
        let share = of("a") as f64 / one.keys.len() as f64;
        assert!((share - 0.75).abs() < 0.02, "{share}");
    }

    #[test]
    fn windows_beside_a_gap_stay() {
        let mut windows: VecDeque<Window> =
            (0..ROWS_WINDOWS as i64 + 2).map(|at| window(at * 10, 1, 0, "")).collect();
        assert_eq!(place(&windows), Some(0));
        windows[0].start_ms -= 5;
        windows[0].end_ms -= 5;
        assert_eq!(place(&windows), None);
    }
}
