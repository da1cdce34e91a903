//! Ranges of rows in which nothing is visible, so that scans need not pass what is deleted there.
//!
//! The head of a queue leaves delete markers behind, which a scan from the beginning would pass
//! again and again until they are flushed and compacted. A scan that passed many rows without a
//! visible cell is a reason to *watch* the next one: what that one passes before its first row is a
//! dead range, except for rows that were written meanwhile. Later scans that begin in the range
//! begin behind it.
//!
//! Invariant: no row of a range has a visible cell for a scan at the range's read point and time,
//! or at later ones.
//!
//! - A write with a put makes the range end before its row, before the write becomes visible. A
//!   scan takes its read point first and looks at the ranges after that.
//! - A watch begins while no write is in progress, before its scan takes the read point, so that
//!   the scan sees a write or the watch does.
//! - Files that are loaded may have rows anywhere: no range survives a load.
//! - A compaction drops delete markers, and shows what they hid elsewhere, if that was written
//!   after them. With the store's own timestamps nothing is. With those of clients, or of a clock
//!   that was set back, no range survives such a compaction.
//!
//! Regions with a family that shows deleted cells, or in which the order of writes counts
//! (NEW_VERSION_BEHAVIOR), have no ranges. Threads: any.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hblite_env::sync::Mutex;
use hblite_model::{CellType, ColumnFamilyDescriptor, KeepDeletedCells, Scan, TableDescriptor};

use super::Region;
use crate::invariants::ARE_CHECKED;
use crate::store::Store;
use crate::wal::WalEdit;

/// A scan that passed fewer rows, or cells, is not worth a range. Tests have few rows.
const HIDDEN_MIN: u64 = if ARE_CHECKED { 1 } else { 64 };
/// How many ranges are kept: those of the queues that share a region.
const RANGES_MAX: usize = 64;
/// After this many puts since a range was of use, none is kept, and puts are free of this again.
const IDLE_PUTS_MAX: u32 = 16_384;

/// The dead ranges of a region.
#[derive(Debug, Default)]
pub(crate) struct DeadRows {
    /// Whether puts have to look at the state.
    is_active: AtomicBool,
    /// Whether the next scan is worth a watch.
    is_suspected: AtomicBool,
    /// Whether a marker may hide what was written after it.
    is_revivable: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By first row; none overlaps another.
    ranges: BTreeMap<Vec<u8>, Range>,
    watch: Option<Watched>,
    /// Loads and compactions that take effect now.
    loads: u32,
    idle_puts: u32,
    uses: u64,
    watches: u64,
}

#[derive(Debug)]
struct Range {
    /// `None` for the end of the region.
    end: Option<Vec<u8>>,
    read_point: u64,
    /// The time at which cells had expired.
    now: i64,
    last_use: u64,
}

/// What is written while a scan is watched.
#[derive(Debug)]
struct Watched {
    id: u64,
    start: Vec<u8>,
    lowest_put: Option<Vec<u8>>,
}

/// Where a scan may begin instead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    To(Vec<u8>),
    /// There is nothing in the scan's range.
    All,
}

/// A watched scan.
#[derive(Debug)]
pub(crate) struct Watch {
    rows: Arc<DeadRows>,
    id: u64,
    read_point: u64,
    now: i64,
    /// Where the scan ends; `None` for the end of the region.
    stop: Option<Vec<u8>>,
    is_over: bool,
}

/// A load or a compaction that takes effect: see [`DeadRows::suspend`].
pub(super) struct Suspended<'d>(&'d DeadRows);

impl Region {
    /// Watches a scan of the present if that is worth it, and if no write is in progress.
    pub(super) fn watch_rows(&self, scan: &Scan) -> Option<Watch> {
        let rows = self.dead_rows.as_ref().filter(|rows| rows.wants(scan))?;
        let lanes = self.lanes.all().map(|lane| lane.updates.try_write());
        let _updates = lanes.collect::<Option<Vec<_>>>()?;
        rows.watch(scan, self.first_row(scan), self.info.end_key())
    }
}

impl DeadRows {
    /// Those of a region, unless there is more to see than what a plain scan does.
    pub(super) fn of(
        table: &TableDescriptor,
        stores: &[Arc<Store>],
        now: i64,
    ) -> Option<Arc<Self>> {
        let is_simple = |family: &ColumnFamilyDescriptor| {
            family.keep_deleted_cells() == KeepDeletedCells::False && !family.new_version_behavior()
        };
        if table.name().is_meta() || !table.families().all(is_simple) {
            return None;
        }
        let is_ahead = |store: &Arc<Store>| {
            store.files().iter().any(|file| file.reader().time_range().1 >= now)
        };
        let rows = Self::default();
        if stores.iter().any(is_ahead) {
            rows.note_revivable();
        }
        Some(Arc::new(rows))
    }

    /// Where a scan from `start`, at a read point that was taken before, may begin; `None` if
    /// nothing is known.
    pub(crate) fn skip(
        &self,
        scan: &Scan,
        start: &[u8],
        read_point: u64,
        now: i64,
    ) -> Option<Skip> {
        if !self.is_active.load(Ordering::Acquire) || scan.is_raw() || !is_forward_scan(scan) {
            return None;
        }
        let mut state = self.state.lock();
        let uses = state.uses + 1;
        let (_, range) = state.ranges.range_mut::<[u8], _>(up_to(start)).next_back()?;
        let is_inside = range.end.as_deref().is_none_or(|end| start < end);
        if !is_inside || read_point < range.read_point || now < range.now {
            return None;
        }
        range.last_use = uses;
        let end = range.end.clone();
        (state.uses, state.idle_puts) = (uses, 0);
        drop(state);
        let stop = stop_of(scan);
        Some(match end {
            Some(end) if stop.is_none_or(|stop| end < stop) => Skip::To(end),
            _ => Skip::All,
        })
    }

    /// Notes how many rows a scan passed without finding anything in them.
    #[inline]
    pub(super) fn note_hidden(&self, rows: u64) {
        if rows >= HIDDEN_MIN && !self.is_suspected.load(Ordering::Relaxed) {
            self.is_suspected.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a scan should be watched.
    #[inline]
    fn wants(&self, scan: &Scan) -> bool {
        self.is_suspected.load(Ordering::Relaxed) && sees_everything(scan)
    }

    /// Watches a scan from `start` to its end or that of the region, which is `region_end`. The
    /// caller keeps out writes until this returns, and takes the read point later.
    pub(super) fn watch(
        self: &Arc<Self>,
        scan: &Scan,
        start: &[u8],
        region_end: &[u8],
    ) -> Option<Watch> {
        let mut state = self.state.lock();
        if state.watch.is_some() || state.loads > 0 {
            return None;
        }
        state.watches += 1;
        let id = state.watches;
        state.watch = Some(Watched { id, start: start.to_vec(), lowest_put: None });
        self.is_active.store(true, Ordering::Release);
        self.is_suspected.store(false, Ordering::Relaxed);
        let region_end = (!region_end.is_empty()).then(|| region_end.to_vec());
        let stop = match (stop_of(scan), region_end) {
            (Some(stop), Some(end)) => Some(stop.min(end)),
            (stop, end) => stop.or(end),
        };
        Some(Watch { rows: Arc::clone(self), id, read_point: 0, now: 0, stop, is_over: false })
    }

    /// Called before what was put becomes visible.
    #[inline]
    pub(super) fn note_puts(&self, edit: &WalEdit<'_>) {
        // A watch begins while no write is in progress: each write sees that it has begun.
        if self.is_active.load(Ordering::Relaxed) {
            self.shorten(edit);
        }
    }

    #[cold]
    fn shorten(&self, edit: &WalEdit<'_>) {
        let is_put = |code| CellType::from_code(code).is_none_or(|kind| kind == CellType::Put);
        let mut state = self.state.lock();
        for cell in edit.iter().filter(|cell| is_put(cell.type_code())) {
            state.shorten(cell.row());
        }
        state.idle_puts += 1;
        if state.idle_puts > IDLE_PUTS_MAX && state.watch.is_none() {
            state.ranges.clear();
            self.is_active.store(false, Ordering::Release);
        }
    }

    /// Notes that a marker may hide what was written after it.
    #[inline]
    pub(super) fn note_revivable(&self) {
        if !self.is_revivable.load(Ordering::Relaxed) {
            self.is_revivable.store(true, Ordering::Relaxed);
        }
    }

    /// Learns nothing until the result is dropped. If a marker may hide what was written after it,
    /// forgets all ranges as well.
    pub(super) fn suspend(&self) -> Suspended<'_> {
        let mut state = self.state.lock();
        state.loads += 1;
        self.forget_revivable(&mut state);
        drop(state);
        Suspended(self)
    }

    fn forget_revivable(&self, state: &mut State) {
        if self.is_revivable.load(Ordering::Relaxed) {
            state.ranges.clear();
            state.watch = None;
        }
    }
}

impl Drop for Suspended<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        self.0.forget_revivable(&mut state);
        state.loads -= 1;
    }
}

impl State {
    /// Takes account of a put to `row`.
    fn shorten(&mut self, row: &[u8]) {
        if let Some(watch) = self.watch.as_mut().filter(|watch| *row >= *watch.start)
            && watch.lowest_put.as_deref().is_none_or(|lowest| row < lowest)
        {
            watch.lowest_put = Some(row.to_vec());
        }
        let Some((start, range)) = self.ranges.range_mut::<[u8], _>(up_to(row)).next_back() else {
            return;
        };
        if range.end.as_deref().is_none_or(|end| row < end) {
            range.end = Some(row.to_vec());
            if start == row {
                self.ranges.remove(row);
            }
        }
    }

    /// Adds a range, joined with those that it overlaps.
    fn add(&mut self, mut start: Vec<u8>, mut range: Range) {
        if let Some((first, before)) = self.ranges.range::<[u8], _>(up_to(&start)).next_back()
            && before.end.as_ref().is_none_or(|end| *end >= start)
        {
            start = first.clone();
        }
        let is_within =
            |first: &Vec<u8>, range: &Range| range.end.as_ref().is_none_or(|end| first <= end);
        while let Some((first, next)) = self.ranges.range(start.clone()..).next()
            && is_within(first, &range)
        {
            let first = first.clone();
            range.end = range.end.zip(next.end.clone()).map(|(left, right)| left.max(right));
            range.read_point = range.read_point.max(next.read_point);
            range.now = range.now.max(next.now);
            self.ranges.remove(&first);
        }
        if self.ranges.len() == RANGES_MAX {
            let oldest = self.ranges.iter().min_by_key(|(_, range)| range.last_use);
            let oldest = oldest.map(|(start, _)| start.clone());
            oldest.map(|start| self.ranges.remove(&start));
        }
        self.ranges.insert(start, range);
        if ARE_CHECKED {
            let ends = self.ranges.values().map(|range| range.end.as_ref());
            let mut pairs = ends.zip(self.ranges.keys().skip(1));
            assert!(pairs.all(|(end, next)| end.is_some_and(|end| end < next)), "ranges overlap");
        }
    }
}

impl Watch {
    /// What the scan sees.
    pub(crate) fn begin(&mut self, read_point: u64, now: i64) {
        (self.read_point, self.now) = (read_point, now);
    }

    /// The scan found its first row, or none, after it had examined `hidden` cells.
    pub(crate) fn end(mut self, first_row: Option<&[u8]>, hidden: u64) {
        self.is_over = true;
        let rows = Arc::clone(&self.rows);
        let mut state = rows.state.lock();
        // A load may have ended the watch, and another scan begun one.
        let watched = state.watch.take_if(|watch| watch.id == self.id);
        let Some(Watched { start, lowest_put, .. }) = watched else { return };
        if hidden < HIDDEN_MIN {
            return;
        }
        let end = first_row.map(<[u8]>::to_vec).or_else(|| self.stop.take());
        let end = match (end, lowest_put) {
            (Some(end), Some(put)) => Some(end.min(put)),
            (end, put) => end.or(put),
        };
        if end.as_ref().is_none_or(|end| start < *end) {
            let (read_point, now, last_use) = (self.read_point, self.now, state.uses);
            state.add(start, Range { end, read_point, now, last_use });
            state.idle_puts = 0;
        }
    }
}

/// A scan that never got to its first row.
impl Drop for Watch {
    fn drop(&mut self) {
        if !self.is_over {
            self.rows.state.lock().watch.take_if(|watch| watch.id == self.id);
        }
    }
}

/// The bounds of the rows up to `row`.
fn up_to(row: &[u8]) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (Bound::Unbounded, Bound::Included(row))
}

fn is_forward_scan(scan: &Scan) -> bool {
    !scan.direction().is_reverse() && !scan.is_get()
}

/// Whether a row in which the scan finds nothing has no visible cell.
fn sees_everything(scan: &Scan) -> bool {
    is_forward_scan(scan)
        && !scan.is_raw()
        && scan.is_start_inclusive()
        && scan.versions() > 0
        && scan.columns().is_empty()
        && scan.filter().is_none()
        && scan.time_range().is_all()
        && scan.family_time_ranges().len() == 0
        && scan.family_limit().is_none()
        && scan.family_offset() == 0
}

/// The first row behind a forward scan; `None` if it has no end.
fn stop_of(scan: &Scan) -> Option<Vec<u8>> {
    let stop = scan.stop_row();
    let mut row = (!stop.is_empty()).then(|| stop.to_vec())?;
    if scan.is_stop_inclusive() {
        row.push(0);
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use hblite_model::CellBuffer;

    use super::*;

    fn rows() -> Arc<DeadRows> {
        Arc::default()
    }

    /// A scan that passes `hidden` cells before `first_row`.
    fn scan(rows: &Arc<DeadRows>, start: &str, stop: &str, first_row: Option<&str>, hidden: u64) {
        let scan = Scan::new().with_start_row(start).with_stop_row(stop);
        let mut watch = rows.watch(&scan, start.as_bytes(), b"x").unwrap();
        watch.begin(10, 10);
        watch.end(first_row.map(str::as_bytes), hidden);
    }

    fn put(rows: &DeadRows, row: &str) {
        let mut edit = CellBuffer::new();
        edit.push_parts(row.as_bytes(), b"f", b"q", 1, CellType::Put.code(), b"");
        rows.note_puts(&(&edit).into());
    }

    fn skip(rows: &DeadRows, start: &str, stop: &str) -> Option<Skip> {
        let scan = Scan::new().with_start_row(start).with_stop_row(stop);
        rows.skip(&scan, start.as_bytes(), 10, 10)
    }

    fn to(row: &str) -> Option<Skip> {
        Some(Skip::To(row.into()))
    }

    #[test]
    fn scans_begin_behind_a_range() {
        let rows = rows();
        assert_eq!(skip(&rows, "b", ""), None);
        scan(&rows, "b", "", Some("d"), HIDDEN_MIN - 1);
        assert_eq!(skip(&rows, "b", ""), None, "too few");
        scan(&rows, "b", "", Some("d"), HIDDEN_MIN);
        assert_eq!((skip(&rows, "a", ""), skip(&rows, "d", "")), (None, None));
        assert_eq!((skip(&rows, "b", ""), skip(&rows, "c", "e")), (to("d"), to("d")));
        assert_eq!(skip(&rows, "c", "d"), Some(Skip::All));
        // The stop row itself is part of the scan.
        let inclusive = Scan::new().with_stop_row_inclusive("d");
        assert_eq!(rows.skip(&inclusive, b"b", 10, 10), to("d"));
        for (read_point, now) in [(9, 10), (10, 9)] {
            assert_eq!(rows.skip(&inclusive, b"b", read_point, now), None, "it may see more");
        }
        for other in [Scan::new().with_raw(true), Scan::new().with_reversed(true)] {
            assert_eq!(rows.skip(&other, b"b", 10, 10), None);
        }
    }

    #[test]
    fn ranges_that_meet_become_one() {
        let rows = rows();
        scan(&rows, "b", "", Some("d"), 64);
        scan(&rows, "f", "g", None, 64);
        assert_eq!(skip(&rows, "f", ""), to("g"), "to the end of the scan");
        scan(&rows, "b", "", Some("e"), 64);
        assert_eq!(skip(&rows, "c", ""), to("e"));
        scan(&rows, "c", "", Some("f"), 64);
        assert_eq!(skip(&rows, "b", ""), to("g"));
        assert_eq!(rows.state.lock().ranges.len(), 1);
        scan(&rows, "e", "", None, 64);
        assert_eq!(skip(&rows, "b", ""), to("x"), "to the end of the region");
    }

    #[test]
    fn a_range_ends_before_what_is_put() {
        let rows = rows();
        scan(&rows, "b", "", Some("g"), 64);
        put(&rows, "g");
        put(&rows, "a");
        assert_eq!(skip(&rows, "b", ""), to("g"));
        put(&rows, "d");
        assert_eq!((skip(&rows, "b", ""), skip(&rows, "d", "")), (to("d"), None));
        put(&rows, "b");
        assert_eq!(skip(&rows, "b", ""), None);
        // While a scan is watched, too.
        let all = Scan::new();
        let mut watch = rows.watch(&all, b"b", b"").unwrap();
        assert!(rows.watch(&all, b"b", b"").is_none(), "one at a time");
        watch.begin(10, 10);
        for row in ["f", "d", "e", "a"] {
            put(&rows, row);
        }
        watch.end(Some(b"g"), 64);
        assert_eq!(skip(&rows, "b", ""), to("d"));
        drop(rows.watch(&all, b"b", b"").unwrap());
        assert!(rows.watch(&all, b"b", b"").is_some(), "the last one was given up");
    }

    #[test]
    fn nothing_is_learned_during_a_load() {
        let rows = rows();
        scan(&rows, "b", "", Some("g"), 64);
        let all = Scan::new();
        let mut before = rows.watch(&all, b"b", b"").unwrap();
        before.begin(10, 10);
        rows.note_revivable();
        let load = rows.suspend();
        assert_eq!(skip(&rows, "b", ""), None);
        assert!(rows.watch(&all, b"b", b"").is_none());
        drop(load);
        let after = rows.watch(&all, b"c", b"").unwrap();
        before.end(Some(b"g"), 64);
        assert_eq!(skip(&rows, "b", ""), None);
        after.end(Some(b"e"), 64);
        assert_eq!(skip(&rows, "c", ""), to("e"));
    }

    #[test]
    fn few_ranges_are_kept_and_none_without_use() {
        let rows = rows();
        for number in 0..RANGES_MAX + 10 {
            let row = |part: char| format!("a{number:03}{part}");
            scan(&rows, &row('a'), &row('b'), None, 64);
            assert_eq!(skip(&rows, "a000a", ""), to("a000b"), "used all the time");
        }
        assert_eq!(rows.state.lock().ranges.len(), RANGES_MAX);
        for _ in 0..=IDLE_PUTS_MAX {
            put(&rows, "z");
        }
        assert_eq!(skip(&rows, "a000a", ""), None);
        assert!(!rows.is_active.load(Ordering::Relaxed));
    }
}
