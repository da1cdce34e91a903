//! The last hour of requests: reads and writes per region and window of time.
//!
//! Bounded: at most [`WINDOWS_MAX`] windows, with at most [`LOADS_MAX`] loads in all; the oldest
//! windows are dropped first. A window has only regions that had requests, and at most [`KEYS_MAX`]
//! sampled keys. The last [`ROWS_WINDOWS`] windows have [`LAST_KEYS_MAX`] of them, and what was
//! counted of rows.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use hblite::{CallerCounts, RegionInfo, RegionLoad, RegionStatus, RowCounts, SampledRow};
use hblite_hotspot::findings::thinned;

/// Windows that are kept: an hour of five seconds each.
pub(crate) const WINDOWS_MAX: usize = 720;
/// Loads that are kept in all windows combined.
pub(crate) const LOADS_MAX: usize = 400_000;

/// Windows with what was counted of rows.
const ROWS_WINDOWS: usize = 12;
/// Sampled keys of a window, and of one of the last.
pub(crate) const KEYS_MAX: usize = 200;
const LAST_KEYS_MAX: usize = 1_600;

/// A sampled key.
#[derive(Debug, Clone)]
pub(crate) struct KeyInWindow {
    pub(crate) region: Arc<RegionInfo>,
    pub(crate) row: Box<[u8]>,
    pub(crate) is_write: bool,
}

/// The requests of a region in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Load {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) bytes_read: u64,
    pub(crate) bytes_written: u64,
}

impl Load {
    fn between(before: &RegionLoad, now: &RegionLoad) -> Self {
        // A counter that decreased belongs to a region that was opened again.
        let since = |before: u64, now: u64| if now >= before { now - before } else { now };
        Self {
            reads: since(before.read_requests, now.read_requests),
            writes: since(before.write_requests, now.write_requests),
            bytes_read: since(before.bytes_read, now.bytes_read),
            bytes_written: since(before.bytes_written, now.bytes_written),
        }
    }

    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
    }
}

/// A window of time.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Begin and end, in milliseconds since 1970-01-01 UTC.
    pub(crate) start_ms: i64,
    pub(crate) end_ms: i64,
    /// Regions with requests.
    pub(crate) loads: Vec<(Arc<RegionInfo>, Load)>,
    /// A sample of the rows of these requests.
    pub(crate) keys: Vec<KeyInWindow>,
    /// What is known of the rows of these requests, if the window is one of the last.
    pub(crate) rows: Option<RowCounts>,
    /// Calls that a server answered, if there is one.
    pub(crate) calls: Option<u64>,
}

impl Window {
    pub(crate) fn seconds(&self) -> f64 {
        (self.end_ms - self.start_ms).max(1) as f64 / 1000.0
    }

    pub(crate) fn total(&self) -> Load {
        let mut total = Load::default();
        for (_, load) in &self.loads {
            total.add(load);
        }
        total
    }
}

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
    /// Whether rows were counted, not sampled.
    is_counted: bool,
}

impl Default for History {
    fn default() -> Self {
        Self::with_limits(WINDOWS_MAX, LOADS_MAX)
    }
}

impl History {
    fn with_limits(windows_max: usize, loads_max: usize) -> Self {
        Self {
            windows_max,
            loads_max,
            windows: VecDeque::new(),
            loads: 0,
            last: HashMap::new(),
            last_calls: None,
            read_at_ms: None,
            round: 0,
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
        self.forget();
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

    fn forget(&mut self) {
        while self.windows.len() > self.windows_max
            || (self.loads > self.loads_max && self.windows.len() > 1)
        {
            let gone = self.windows.pop_front();
            self.loads -= gone.map_or(0, |window| window.loads.len());
        }
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
    fn the_oldest_windows_are_forgotten() {
        let mut history = History::with_limits(20, 1_000);
        for round in 0..50 {
            history.note(round as i64 * 5_000, &[status("a", round)], None, None);
        }
        assert_eq!((history.windows().len(), history.loads), (20, 20));
        let names: Vec<String> = (0..100).map(|number| format!("t{number}")).collect();
        for round in 1..30 {
            let regions: Vec<_> = names.iter().map(|name| status(name, round)).collect();
            history.note(1_000_000 + round as i64 * 5_000, &regions, None, None);
        }
        assert_eq!((history.windows().len(), history.loads), (10, 1_000));
    }
}
