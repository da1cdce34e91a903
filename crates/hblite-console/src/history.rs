//! The requests of the last two days: reads and writes per region and window of time.
//!
//! Bounded: at most [`WINDOWS_MAX`] windows, with at most [`LOADS_MAX`] loads in all; beyond them,
//! old windows are joined (`thinning`). A window has only regions that had requests, and at most
//! [`KEYS_MAX`] sampled keys. The last [`ROWS_WINDOWS`] windows have [`LAST_KEYS_MAX`] of them, and
//! what was counted of rows.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use hblite::{CallerCounts, RegionInfo, RegionLoad, RegionStatus, RowCounts, SampledRow};
use hblite_hotspot::findings::thinned;

use crate::thinning;
use crate::window::{KEYS_MAX, KeyInWindow, Load, ROWS_WINDOWS, Window};

/// Windows that are kept. While there are no more, all are as they were recorded: for 83 minutes,
/// if a window has five seconds.
pub(crate) const WINDOWS_MAX: usize = 1_000;
/// How old a window may be.
const AGE_MAX_MS: i64 = 48 * 3_600 * 1_000;
/// Loads that are kept in all windows combined.
pub(crate) const LOADS_MAX: usize = 400_000;
/// Sampled keys of one of the last windows.
const LAST_KEYS_MAX: usize = 1_600;

/// Counters as they were last read.
#[derive(Debug)]
struct Last {
    info: Arc<RegionInfo>,
    load: RegionLoad,
    round: u64,
    /// Reads of the console itself that the counters have not shown yet.
    own_reads: u64,
}

/// The windows.
#[derive(Debug)]
pub(crate) struct History {
    windows_max: usize,
    loads_max: usize,
    windows: VecDeque<Window>,
    loads: usize,
    last: HashMap<String, Last>,
    last_calls: Option<u64>,
    /// When the counters were last read; `None` before the first time.
    read_at_ms: Option<i64>,
    round: u64,
    /// Whether there were requests since [`History::kept`].
    is_unkept: bool,
    /// Whether rows were counted, not sampled.
    is_counted: bool,
}

impl Default for History {
    fn default() -> Self {
        Self::with_limits(WINDOWS_MAX, LOADS_MAX)
    }
}

impl History {
    pub(crate) fn with_limits(windows_max: usize, loads_max: usize) -> Self {
        Self {
            windows_max,
            loads_max,
            windows: VecDeque::new(),
            loads: 0,
            last: HashMap::new(),
            last_calls: None,
            read_at_ms: None,
            round: 0,
            is_unkept: false,
            is_counted: false,
        }
    }

    /// Takes the counters of all regions; their growth since the last call is a window. The first
    /// call only sets the baseline.
    pub(crate) fn note(
        &mut self,
        now_ms: i64,
        regions: &[RegionStatus],
        calls: Option<u64>,
        rows: Option<RowCounts>,
    ) {
        // Of no time there is no window: its requests belong to the next one.
        if self.read_at_ms == Some(now_ms) {
            return;
        }
        self.round += 1;
        let is_first = self.read_at_ms.is_none();
        let mut loads = Vec::new();
        for status in regions {
            let name = status.region.encoded_name();
            let mut own_reads = 0;
            let (info, before) = match self.last.get_mut(name) {
                Some(last) => {
                    let before = std::mem::replace(&mut last.load, status.load);
                    last.round = self.round;
                    if status.load.read_requests != before.read_requests {
                        own_reads = std::mem::take(&mut last.own_reads);
                    }
                    (Arc::clone(&last.info), before)
                }
                None => {
                    let info = Arc::new(status.region.clone());
                    let (load, round) = (status.load, self.round);
                    let last = Last { info: Arc::clone(&info), load, round, own_reads };
                    self.last.insert(name.to_owned(), last);
                    // All requests of a new region happened in this window.
                    (info, RegionLoad::default())
                }
            };
            let mut load = Load::between(&before, &status.load);
            load.reads = load.reads.saturating_sub(own_reads);
            if !load.is_nothing() {
                loads.push((info, load));
            }
        }
        let round = self.round;
        self.last.retain(|_, last| last.round == round);
        let new_calls = calls.map(|calls| calls.saturating_sub(self.last_calls.unwrap_or(calls)));
        self.last_calls = calls;
        let start_ms = self.read_at_ms.replace(now_ms);
        if let (false, Some(start_ms)) = (is_first, start_ms)
            && now_ms > start_ms
        {
            self.loads += loads.len();
            self.is_unkept |= !loads.is_empty();
            self.is_counted = rows.is_some();
            let keys = rows.as_ref().map(|rows| self.keys_of(rows, &loads)).unwrap_or_default();
            let (end_ms, calls) = (now_ms, new_calls);
            self.windows.push_back(Window { start_ms, end_ms, loads, keys, rows, calls });
            if let Some(old) = self.windows.len().checked_sub(ROWS_WINDOWS + 1) {
                let old = &mut self.windows[old];
                old.rows = None;
                let keys = std::mem::take(&mut old.keys);
                let weights = vec![1.0; keys.len()];
                let kept = thinned(&weights, KEYS_MAX).take(KEYS_MAX);
                old.keys = kept.map(|at| keys[at].clone()).collect();
            }
        }
        self.forget(now_ms);
    }

    /// Puts windows of an earlier run, the oldest first, before those of this one.
    pub(crate) fn restore(&mut self, windows: Vec<Window>, now_ms: i64) {
        // The clock may have been set back since.
        let past = windows.into_iter().filter(|window| window.end_ms <= now_ms);
        let begun_ms = self.windows.front().map_or(now_ms, |window| window.start_ms);
        let past: Vec<Window> = past.filter(|window| window.end_ms <= begun_ms).collect();
        for window in past.into_iter().rev() {
            self.loads += window.loads.len();
            self.windows.push_front(window);
        }
        self.forget(now_ms);
    }

    /// Whether no window has ended since the start.
    pub(crate) fn is_new(&self) -> bool {
        self.round < 2
    }

    /// Whether there were requests since the last call.
    pub(crate) fn is_unkept(&mut self) -> bool {
        std::mem::take(&mut self.is_unkept)
    }

    /// Sampled keys, of each region in proportion to its load.
    fn keys_of(&self, rows: &RowCounts, loads: &[(Arc<RegionInfo>, Load)]) -> Vec<KeyInWindow> {
        let loads: HashMap<&str, (&Arc<RegionInfo>, &Load)> =
            loads.iter().map(|(region, load)| (region.encoded_name(), (region, load))).collect();
        let places: Vec<Option<&(&Arc<RegionInfo>, &Load)>> =
            rows.regions.iter().map(|region| loads.get(region.region.as_str())).collect();
        let mut counts = vec![[0_u64; 2]; places.len()];
        for one in &rows.sample {
            if let Some(count) = counts.get_mut(one.region as usize) {
                count[usize::from(one.is_write)] += 1;
            }
        }
        let place = |region: u32| places.get(region as usize).copied().flatten();
        let weight = |one: &SampledRow| {
            let Some((_, load)) = place(one.region) else { return 0.0 };
            let requests = if one.is_write { load.writes } else { load.reads };
            requests as f64 / counts[one.region as usize][usize::from(one.is_write)] as f64
        };
        let weights: Vec<f64> = rows.sample.iter().map(weight).collect();
        let key = |at: usize| {
            let one = &rows.sample[at];
            let region = Arc::clone(place(one.region)?.0);
            Some(KeyInWindow { region, row: one.row.clone().into(), is_write: one.is_write })
        };
        thinned(&weights, LAST_KEYS_MAX).filter_map(key).take(LAST_KEYS_MAX).collect()
    }

    /// Whether rows were counted, not sampled.
    pub(crate) fn is_counted(&self) -> bool {
        self.is_counted
    }

    /// Adds sampled keys and rows to the window that began at this time, if it is still kept.
    pub(crate) fn add_keys(&mut self, start_ms: i64, keys: Vec<KeyInWindow>, rows: &RowCounts) {
        if let Some(window) = self.windows.iter_mut().rfind(|window| window.start_ms == start_ms) {
            window.keys.extend(keys);
            window.keys.truncate(KEYS_MAX);
            window.rows.get_or_insert_default().add(rows);
        }
    }

    /// Leaves reads of the console itself out of the next window in which the counters of a region
    /// show any.
    pub(crate) fn leave_out(&mut self, region: &RegionInfo, reads: u64) {
        if let Some(last) = self.last.get_mut(region.encoded_name()) {
            last.own_reads += reads;
        }
    }

    fn forget(&mut self, now_ms: i64) {
        let is_old = |window: &Window| window.end_ms < now_ms.saturating_sub(AGE_MAX_MS);
        while self.windows.front().is_some_and(is_old) {
            self.forget_oldest();
        }
        while self.windows.len() > self.windows_max
            || (self.loads > self.loads_max && self.windows.len() > 1)
        {
            match thinning::place(&self.windows) {
                Some(place) => self.join(place),
                None => self.forget_oldest(),
            }
        }
    }

    fn forget_oldest(&mut self) {
        let gone = self.windows.pop_front();
        self.loads -= gone.map_or(0, |window| window.loads.len());
    }

    /// Joins a window with the next one.
    fn join(&mut self, place: usize) {
        let Some(next) = self.windows.remove(place + 1) else { return };
        self.loads -= self.windows[place].loads.len() + next.loads.len();
        self.windows[place].absorb(next);
        self.loads += self.windows[place].loads.len();
    }

    /// The windows that lie in a time in part, the oldest first.
    pub(crate) fn between(&self, since_ms: i64, until_ms: i64) -> impl Iterator<Item = &Window> {
        let is_within =
            move |window: &&Window| window.end_ms > since_ms && window.start_ms < until_ms;
        self.windows.iter().filter(is_within)
    }

    /// The windows, the oldest first.
    pub(crate) fn windows(&self) -> impl DoubleEndedIterator<Item = &Window> + ExactSizeIterator {
        self.windows.iter()
    }

    /// Who sent the requests in the windows that ended in the last `span_ms` milliseconds of the
    /// history, and how many seconds these windows cover.
    pub(crate) fn recent_callers(&self, span_ms: i64) -> (CallerCounts, f64) {
        let end_ms = self.windows.back().map_or(0, |window| window.end_ms);
        let recent = self.windows.iter().rev();
        let recent = recent.take_while(|window| window.end_ms > end_ms - span_ms);
        let (mut counts, mut seconds) = (CallerCounts::default(), 0.0);
        for window in recent {
            seconds += window.seconds();
            if let Some(rows) = &window.rows {
                counts.add(&rows.callers);
            }
        }
        (counts, seconds)
    }

    /// The requests of each region, by encoded name, in the windows that ended in the last
    /// `span_ms` milliseconds of the history, and how many seconds these windows cover.
    pub(crate) fn recent(&self, span_ms: i64) -> (HashMap<&str, Load>, f64) {
        let end_ms = self.windows.back().map_or(0, |window| window.end_ms);
        let recent = self.windows.iter().rev();
        let recent = recent.take_while(|window| window.end_ms > end_ms - span_ms);
        let (mut sums, mut seconds) = (HashMap::<&str, Load>::new(), 0.0);
        for window in recent {
            seconds += window.seconds();
            for (info, load) in &window.loads {
                sums.entry(info.encoded_name()).or_default().add(load);
            }
        }
        (sums, seconds)
    }
}

#[cfg(test)]
mod tests {
    use hblite::TableName;

    use super::*;

    fn status(table: &str, writes: u64) -> RegionStatus {
        let name: TableName = table.parse().unwrap();
        RegionStatus {
            region: RegionInfo::new(name, b"", b"", 1),
            load: RegionLoad { write_requests: writes, ..RegionLoad::default() },
            store_count: 1,
            store_file_count: 0,
            store_file_size_bytes: 0,
            memstore_size_bytes: 0,
        }
    }

    #[test]
    fn windows_have_what_counters_grew() {
        let mut history = History::default();
        history.note(1_000, &[status("a", 100)], Some(7), None);
        assert_eq!(history.windows().len(), 0, "earlier counts are not a window");
        history.note(6_000, &[status("a", 160), status("b", 5)], Some(9), None);
        history.note(11_000, &[status("a", 160), status("b", 5)], Some(9), None);
        // The region was opened again.
        history.note(16_000, &[status("a", 20)], None, None);
        let writes: Vec<u64> = history.windows().map(|window| window.total().writes).collect();
        assert_eq!(writes, [65, 0, 20]);
        let calls: Vec<Option<u64>> = history.windows().map(|window| window.calls).collect();
        assert_eq!(calls, [Some(2), Some(0), None]);
        let (recent, seconds) = history.recent(10_000);
        assert_eq!((recent.len(), seconds), (1, 10.0));
        let name = status("a", 0).region.encoded_name().to_owned();
        assert_eq!(recent[name.as_str()].writes, 20);
    }

    /// The console reads rows to know their keys. Clients did not.
    #[test]
    fn own_reads_are_no_load() {
        let of = |reads| {
            let status = status("a", 0);
            let load = RegionLoad { read_requests: reads, ..status.load };
            RegionStatus { load, ..status }
        };
        let mut history = History::default();
        history.note(1_000, &[of(7)], None, None);
        history.leave_out(&of(0).region, 52);
        // The region's server has not reported them yet.
        history.note(6_000, &[of(7)], None, None);
        history.note(11_000, &[of(57)], None, None);
        history.note(16_000, &[of(60)], None, None);
        let reads: Vec<u64> = history.windows().map(|window| window.total().reads).collect();
        assert_eq!(reads, [0, 0, 3]);
        assert!(history.windows().nth(1).unwrap().loads.is_empty());
    }

    #[test]
    fn windows_of_an_earlier_run_come_before_those_of_this_one() {
        let mut history = History::default();
        let load =
            || vec![(Arc::new(status("a", 0).region), Load { writes: 1, ..Load::default() })];
        let window =
            |start_ms, end_ms| Window { start_ms, end_ms, loads: load(), ..Window::default() };
        history.note(90_000, &[status("a", 7)], None, None);
        assert!(history.is_new());
        // The clock was set back: the last one is of a time to come.
        history.restore(vec![window(10, 20), window(30, 40_000), window(80_000, 90_001)], 90_000);
        assert!(history.is_new() && !history.is_unkept());
        history.note(95_000, &[status("a", 9)], None, None);
        let times: Vec<(i64, u64)> =
            history.windows().map(|window| (window.start_ms, window.total().writes)).collect();
        assert_eq!(times, [(10, 1), (30, 1), (90_000, 2)]);
        assert!(!history.is_new() && history.is_unkept() && !history.is_unkept());
        history.note(48 * 3_600_000 + 30_000, &[status("a", 9)], None, None);
        assert_eq!(history.windows().next().unwrap().start_ms, 30, "older than two days");
        assert!(!history.is_unkept(), "there were no requests");
    }
}
