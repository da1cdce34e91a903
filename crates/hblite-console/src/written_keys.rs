//! Samples the keys that are written to a cluster.
//!
//! Its servers count requests per region and report no keys. But cells have timestamps: the cells
//! of a region whose timestamps are within a window of time are its writes in that window, unless
//! clients set timestamps of their own. Reads leave no trace.
//!
//! For each window, [`PICKS_MAX`] places are picked, evenly spaced along the writes of all regions.
//! So a region's share of the sample is its share of the writes, over a few windows also for
//! regions with few of them.
//!
//! Bounded: the part of a window that is read is short enough to have a few hundred writes. After a
//! sample, the cluster is left alone for [`PAUSE_FACTOR`] times as long as the sample took.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::window::{KEYS_MAX, KeyInWindow, Load};
use hblite::{Connection, ROW_MAX, RegionInfo, RowCounts};
use hblite_hotspot::findings::SPREAD;
use hblite_hotspot::watch::{Watched, counts_of, written_rows};

/// Places that are picked in a window.
const PICKS_MAX: usize = 4;
/// Keys that a pick adds to the sample.
const KEYS_OF_PICK: usize = KEYS_MAX / PICKS_MAX;
/// Writes that are read for each key of the sample, so that it is not one burst of a client.
const WRITES_OF_KEY: usize = 4;
/// The pause after a sample is this many times what the sample took.
const PAUSE_FACTOR: u32 = 20;
/// A fetch of a scan that finds no row counts as one read: up to the first and the last.
const FETCHES_WITHOUT_ROWS: u64 = 2;

/// When the next sample may be taken.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    is_running: bool,
    not_before: Option<Instant>,
    round: u32,
}

impl Pace {
    /// Begins a sample: its number; `None` if it is too early, or the last one is not finished.
    pub(crate) fn begin(&mut self) -> Option<u32> {
        if self.is_running || self.not_before.is_some_and(|time| Instant::now() < time) {
            return None;
        }
        self.is_running = true;
        self.round = self.round.wrapping_add(1);
        Some(self.round)
    }

    /// Ends a sample that took this long.
    pub(crate) fn end(&mut self, took: Duration) {
        self.is_running = false;
        self.not_before = Instant::now().checked_add(took.saturating_mul(PAUSE_FACTOR));
    }
}

/// A region that was picked.
#[derive(Debug, Clone)]
pub(crate) struct Pick {
    pub(crate) region: Arc<RegionInfo>,
    /// Its writes in the window.
    writes: u64,
    /// How often it was picked.
    times: usize,
}

impl Pick {
    pub(crate) fn region(&self) -> &RegionInfo {
        &self.region
    }
}

/// Picks regions of a window by their writes; `round` is the number of the sample.
pub(crate) fn picks(loads: &[(Arc<RegionInfo>, Load)], round: u32) -> Vec<Pick> {
    let total: u64 = loads.iter().map(|(_, load)| load.writes).sum();
    let count = usize::try_from(total).unwrap_or(usize::MAX).min(PICKS_MAX);
    let offset = (f64::from(round) * SPREAD).fract();
    let mut places = (0..count).map(|pick| (pick as f64 + offset) * total as f64 / count as f64);
    let mut place = places.next();
    let mut picked: Vec<Pick> = Vec::new();
    let mut before = 0;
    for (region, load) in loads.iter().filter(|(_, load)| load.writes > 0) {
        before += load.writes;
        let mut times = 0;
        while place.is_some_and(|place| place < before as f64) {
            (times, place) = (times + 1, places.next());
        }
        if times > 0 {
            picked.push(Pick { region: Arc::clone(region), writes: load.writes, times });
        }
    }
    picked
}

/// What was read of a picked region.
#[derive(Debug)]
pub(crate) struct WrittenKeys {
    /// Keys for the sample.
    pub(crate) keys: Vec<KeyInWindow>,
    /// The rows of all writes that were found.
    pub(crate) rows: RowCounts,
    /// The reads that the region's server counts for it.
    pub(crate) reads: u64,
}

/// Reads keys of a picked region that were written between these times, in milliseconds.
///
/// # Errors
/// Those of the cluster.
pub(crate) fn read(
    connection: &Connection,
    pick: &Pick,
    (start_ms, end_ms): (i64, i64),
) -> hblite::Result<WrittenKeys> {
    let keys_max = pick.times * KEYS_OF_PICK;
    let writes_max = keys_max * WRITES_OF_KEY;
    // The first part of the window: even if the server's clock is a little behind, it is over.
    let part = (writes_max as f64 / pick.writes.max(1) as f64).min(1.0);
    let length_ms = ((end_ms - start_ms) as f64 * part).ceil() as i64;
    let watched = Watched {
        table: pick.region.table().to_string(),
        region: pick.region.encoded_name().to_owned(),
        start: pick.region.start_key().to_vec(),
        end: pick.region.end_key().to_vec(),
        times_ms: (start_ms, start_ms + length_ms.max(1)),
        writes: (pick.writes as f64 * part).round() as u64,
        regions: 1,
    };
    let rows = written_rows(connection, &watched, 2 * writes_max)?;
    let mut order: Vec<(i64, &[u8])> = Vec::new();
    for (row, times) in &rows {
        order.extend(times.iter().map(|time| (*time, &row[..row.len().min(ROW_MAX)])));
    }
    order.sort_unstable();
    let key = |(_, row): &(i64, &[u8])| KeyInWindow {
        region: Arc::clone(&pick.region),
        row: (*row).into(),
        is_write: true,
    };
    let reads = rows.len() as u64 + FETCHES_WITHOUT_ROWS;
    let counts = counts_of(pick.region.table().clone(), &watched.region, &rows, 0);
    Ok(WrittenKeys { keys: selected(&order, keys_max).map(key).collect(), rows: counts, reads })
}

/// At most `count` of the items, one of each of `count` equal parts. Where in its part it is
/// changes from part to part, so that a pattern in the items does not show.
fn selected<T>(items: &[T], count: usize) -> impl Iterator<Item = &T> {
    let parts = count.min(items.len());
    let length = items.len() as f64 / parts.max(1) as f64;
    (0..parts).filter_map(move |part| {
        let within = if parts == items.len() { 0.0 } else { (part as f64 * SPREAD).fract() };
        items.get(((part as f64 + within) * length) as usize)
    })
}

#[cfg(test)]
mod tests {
    use hblite::{ColumnFamilyDescriptor, Put, TableDescriptor, TableName};

    use super::*;

    fn loads(writes: &[u64]) -> Vec<(Arc<RegionInfo>, Load)> {
        let table: TableName = "t".parse().unwrap();
        let region = |index: usize| {
            let (start, end) = (format!("{index:03}"), format!("{:03}", index + 1));
            Arc::new(RegionInfo::new(table.clone(), start.as_bytes(), end.as_bytes(), 1))
        };
        let load = |(index, &writes)| (region(index), Load { writes, ..Load::default() });
        writes.iter().enumerate().map(load).collect()
    }

    /// Over many samples, each region is picked in proportion to its writes.
    #[test]
    fn regions_are_picked_by_their_writes() {
        let loads = loads(&[10, 0, 600, 90, 300]);
        let mut times = [0; 5];
        for round in 0..1_000 {
            let picks = picks(&loads, round);
            assert_eq!(picks.iter().map(|pick| pick.times).sum::<usize>(), PICKS_MAX);
            for pick in picks {
                let index = loads.iter().position(|(region, _)| *region == pick.region).unwrap();
                times[index] += pick.times;
            }
        }
        for (times, (_, load)) in times.iter().zip(&loads) {
            let expected = PICKS_MAX as f64 * load.writes as f64;
            assert!((*times as f64 - expected).abs() <= 10.0, "{times} times, not {expected}");
        }
        assert_eq!(picks(&super::tests::loads(&[0, 0]), 1).len(), 0);
        assert_eq!(picks(&super::tests::loads(&[0, 2]), 1).len(), 1);
    }

    /// A row that is overwritten counts as often as it is written, and a busy region is read in
    /// part.
    #[test]
    fn keys_are_those_of_the_window() {
        let connection = hblite::open_in_memory().unwrap();
        let family = ColumnFamilyDescriptor::new("f").with_versions(1);
        let name: TableName = "t".parse().unwrap();
        let descriptor = TableDescriptor::new(name.clone()).with_family(family);
        connection.admin().create_table(&descriptor).unwrap();
        let table = connection.table("t").unwrap();
        for time in 0..6_000_i64 {
            let row = if time % 2 == 0 { "hot".to_owned() } else { format!("row{time:05}") };
            table
                .put(&Put::new(&row).with_timestamp(time).add("f", "q", "v").add("f", "r", "v"))
                .unwrap();
        }
        let region = Arc::new(RegionInfo::new(name, b"", b"", 1));
        let of = |writes, times| Pick { region: Arc::clone(&region), writes, times };
        let rows = |keys: &[KeyInWindow]| -> Vec<String> {
            keys.iter().map(|key| String::from_utf8(key.row.to_vec()).unwrap()).collect()
        };
        let keys = rows(&read(&connection, &of(10, 1), (1_000, 1_010)).unwrap().keys);
        assert_eq!(keys.len(), 10, "{keys:?}");
        assert_eq!(keys.iter().filter(|row| *row == "hot").count(), 5, "{keys:?}");
        assert!(keys.contains(&"row01001".to_owned()) && keys.contains(&"row01009".to_owned()));
        // 200 of the 5,000 writes are read, and 50 of those are the sample.
        let keys = rows(&read(&connection, &of(5_000, 1), (1_000, 6_000)).unwrap().keys);
        assert_eq!(keys.len(), KEYS_OF_PICK, "{keys:?}");
        assert!(keys.iter().all(|row| row == "hot" || row.as_str() < "row01200"), "{keys:?}");
    }

    /// Every third item, or every item of which there are few.
    #[test]
    fn patterns_do_not_show_in_a_selection() {
        let items: Vec<usize> = (0..3_000).map(|item| item % 3).collect();
        let ones = selected(&items, 1_000).filter(|item| **item == 1).count();
        assert!((320..347).contains(&ones), "{ones} of 1,000");
        assert_eq!(selected(&items[..5], 10).count(), 5);
        assert_eq!(selected(&items[..0], 10).count(), 0);
    }

    #[test]
    fn sampling_takes_a_small_part_of_the_time() {
        let mut pace = Pace::default();
        assert_eq!(pace.begin(), Some(1));
        assert_eq!(pace.begin(), None, "one at a time");
        pace.end(Duration::ZERO);
        assert_eq!(pace.begin(), Some(2));
        pace.end(Duration::from_secs(60));
        assert_eq!(pace.begin(), None, "a slow cluster is left alone for a while");
    }
}
