//! Stores whose files have no rows in common: what is compacted, and what is read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use hblite_env::{Clock, Env, ManualClock, MemFileSystem, Random, SeededRandom};
use hblite_model::{CompactRequest, Delete, Get, Put, Result, RowResult, Scan, TimeRange};

use super::{DIR, env, name, options, starts, table};
use crate::region::{Region, split};
use crate::store::CompactionTrigger;
use crate::{Engine, EngineOptions};

/// A store with an empty table, and the table's region. All files but empty ones are large.
fn store() -> (Arc<Engine>, Arc<Region>) {
    store_at(&Arc::new(ManualClock::new(1_700_000_000_000)))
}

fn store_at(clock: &Arc<ManualClock>) -> (Arc<Engine>, Arc<Region>) {
    let options = EngineOptions { compaction_small_file_bytes: 1, ..options() };
    let env =
        Env { clock: Arc::clone(clock) as Arc<dyn Clock>, ..env(Arc::new(MemFileSystem::new())) };
    let engine = Engine::open(env, Path::new(DIR), options).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    let region = region(&engine, 0);
    (engine, region)
}

fn region(engine: &Engine, at: usize) -> Arc<Region> {
    let of_table = |region: &&Arc<Region>| *region.info().table() == name("t");
    let mut regions: Vec<_> =
        engine.catalog().all_regions().iter().filter(of_table).cloned().collect();
    regions.sort_by(|left, right| left.info().start_key().cmp(right.info().start_key()));
    regions.swap_remove(at)
}

fn row_name(row: u64) -> String {
    format!("{row:05}")
}

/// Writes rows with this timestamp, and flushes them.
fn flush_rows(engine: &Arc<Engine>, rows: impl IntoIterator<Item = u64>, timestamp: i64) {
    for row in rows {
        let value = format!("{row} at {timestamp}");
        let put = Put::new(row_name(row)).add_at("f", "q", timestamp, value);
        engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    }
    engine.flush(name("t")).unwrap();
}

/// Files and sorted runs.
fn shape(region: &Region) -> (usize, usize) {
    let files = region.stores()[0].files();
    (files.len(), files.run_count())
}

fn compact(region: &Region) -> bool {
    region.compact(CompactionTrigger::Background).unwrap()
}

#[test]
fn a_load_in_the_order_of_keys_is_not_compacted_and_writers_do_not_wait() {
    let (engine, region) = store();
    for file in 0..40 {
        flush_rows(&engine, 5 * file..5 * file + 5, 1);
        assert!(!compact(&region), "{file} files");
    }
    let store = &region.stores()[0];
    assert_eq!((shape(&region), store.excess_files()), ((40, 1), 0));
    assert!(!store.is_crowded());
    // Rows that are written again are, as soon as there are enough of them.
    flush_rows(&engine, [3, 150], 2);
    flush_rows(&engine, [4, 150], 3);
    assert_eq!((shape(&region), compact(&region)), ((42, 3), false));
    flush_rows(&engine, [5, 150], 4);
    assert!(compact(&region));
    assert_eq!(shape(&region), (41, 2));
    engine.compact(CompactRequest::table(name("t")).major()).unwrap();
    assert_eq!(shape(&region), (1, 1));
}

#[test]
fn a_long_run_is_compacted_when_nothing_is_written_any_more() {
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let (engine, region) = store_at(&clock);
    for file in 0..140 {
        flush_rows(&engine, [file], 1);
        assert!(!compact(&region));
    }
    clock.advance(10 * 60 * 1000);
    assert!(!compact(&region));
    clock.advance(1);
    assert!(compact(&region));
    assert_eq!(shape(&region), (122, 1));
    assert!(!compact(&region));
}

#[test]
fn writers_wait_when_a_run_becomes_far_too_long() {
    let (engine, region) = store();
    let compactions = region.stores()[0].without_compactions();
    for file in 0..64 * 15 {
        flush_rows(&engine, [file], 1);
    }
    let store = &region.stores()[0];
    assert_eq!((shape(&region), store.excess_files()), ((960, 1), 0));
    flush_rows(&engine, [960], 1);
    assert_eq!(store.excess_files(), 1);
    drop(compactions);
    assert!(compact(&region));
    assert_eq!(shape(&region), (511, 1));
    assert_eq!(store.excess_files(), 0);
}

/// The rows of a scan: key and value of each.
fn read(engine: &Arc<Engine>, scan: &Scan) -> Result<Vec<(String, String)>> {
    let mut scanner = engine.table(name("t")).scan(scan)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (mut rows, mut row) = (Vec::new(), RowResult::default());
    while scanner.next_row(&mut row)? {
        let value = row.value("f", "q").map(text).unwrap_or_default();
        rows.push((text(row.row()), value));
    }
    Ok(rows)
}

/// What a scan should return: rows from `low` to `high` with timestamps from `since` on.
struct Selection {
    low: Option<String>,
    high: Option<String>,
    since: Option<i64>,
    is_reversed: bool,
}

impl Selection {
    fn random(roll: &dyn Fn(u64) -> u64, end: u64) -> Self {
        let (one, two) = (roll(end + 2), roll(end + 2));
        let bound = |row| (roll(3) > 0).then(|| row_name(row));
        let (low, high) = (bound(one.min(two)), bound(one.max(two)));
        let since = (roll(3) == 0).then(|| roll(30) as i64);
        Self { low, high, since, is_reversed: roll(2) == 0 }
    }

    fn scan(&self) -> Scan {
        fn bound(row: Option<&String>) -> Bound<&str> {
            row.map_or(Bound::Unbounded, |row| Bound::Included(row))
        }
        let (mut start, mut stop) = (self.low.as_ref(), self.high.as_ref());
        if self.is_reversed {
            std::mem::swap(&mut start, &mut stop);
        }
        let scan = Scan::new().with_reversed(self.is_reversed);
        let scan = scan.with_start_bound(bound(start)).with_stop_bound(bound(stop));
        match self.since {
            Some(since) => scan.with_time_range(TimeRange::new(since, i64::MAX).unwrap()),
            None => scan,
        }
    }

    fn of(&self, map: &BTreeMap<String, (String, i64)>) -> Vec<(String, String)> {
        let is_selected = |row: &String, time: i64| {
            self.low.as_ref().is_none_or(|low| row >= low)
                && self.high.as_ref().is_none_or(|high| row <= high)
                && self.since.is_none_or(|since| time >= since)
        };
        let selected = map.iter().filter(|(row, (_, time))| is_selected(row, *time));
        let mut rows: Vec<_> =
            selected.map(|(row, (value, _))| (row.clone(), value.clone())).collect();
        if self.is_reversed {
            rows.reverse();
        }
        rows
    }
}

/// Most files continue where the last one ended; some repeat rows, and some delete one.
#[test]
fn gets_and_scans_of_runs_answer_as_a_sorted_map() {
    let mut long_runs = 0;
    for seed in 0..40 {
        let random = SeededRandom::new(seed);
        let roll = |sides: u64| random.next_u64() % sides;
        let (engine, region) = store();
        let handle = engine.table(name("t"));
        let (mut expected, mut deleted) = (BTreeMap::new(), BTreeSet::new());
        let mut end = 0;
        for time in 1..30_i64 {
            let first = if roll(4) == 0 { roll(end + 1) } else { end };
            if roll(8) == 0 {
                handle.mutate(Delete::new(row_name(first)).as_mutation()).unwrap();
                engine.flush(name("t")).unwrap();
                expected.remove(&row_name(first));
                deleted.insert(first);
            }
            let rows = first..first + 1 + roll(6);
            end = end.max(rows.end);
            // The marker would hide a put of an earlier time, until a compaction drops it.
            let rows: Vec<u64> = rows.filter(|row| !deleted.contains(row)).collect();
            flush_rows(&engine, rows.iter().copied(), time);
            for row in rows {
                expected.insert(row_name(row), (format!("{row} at {time}"), time));
            }
            if roll(5) == 0 {
                compact(&region);
            }
            let (files, runs) = shape(&region);
            long_runs += usize::from(files > 2 * runs);

            let (row, case) = (row_name(roll(end + 2)), format!("seed {seed}, time {time}"));
            let found = handle.get(&Get::new(row.as_str())).unwrap();
            let value = expected.get(&row).map(|(value, _)| value.as_bytes());
            assert_eq!(found.value("f", "q"), value, "{case}, row {row}");
            let selection = Selection::random(&roll, end);
            let scan = selection.scan();
            let rows = read(&engine, &scan).unwrap();
            assert_eq!(rows, selection.of(&expected), "{case}: {scan:?}");
        }
        engine.compact(CompactRequest::table(name("t")).major()).unwrap();
        let all = Selection { low: None, high: None, since: None, is_reversed: false };
        assert_eq!(read(&engine, &Scan::new()).unwrap(), all.of(&expected), "seed {seed}");
    }
    assert!(long_runs > 100, "{long_runs} times there were long runs");
}

/// The row in the middle of all files, and not of one of them; only halves are rewritten.
#[test]
fn a_region_with_a_long_run_is_split_in_its_middle() {
    let (engine, parent) = store();
    for file in 0..19 {
        for row in 50 * file..50 * file + 50 {
            // Two blocks in each file.
            let put = Put::new(row_name(row)).add("f", "q", vec![0; 2000]);
            engine.table(name("t")).mutate(put.as_mutation()).unwrap();
        }
        engine.flush(name("t")).unwrap();
    }
    let row = split::split_point(&parent).unwrap();
    let middle: u64 = String::from_utf8(row.clone()).unwrap().parse().unwrap();
    assert!((451..500).contains(&middle), "{middle}");
    engine.procedures().split_region(parent.info().encoded_name(), Some(&row)).unwrap();
    assert_eq!(starts(&engine, "t"), ["".to_owned(), row_name(middle)]);
    for at in [0, 1] {
        let daughter = region(&engine, at);
        let names = || {
            let files = daughter.stores()[0].files();
            files.iter().map(|file| file.name().to_owned()).collect::<Vec<_>>()
        };
        let before = names();
        let references = before.iter().filter(|name| name.contains('.')).count();
        assert_eq!(references, 1, "{before:?}");
        assert!(compact(&daughter));
        let after = names();
        let kept = after.iter().filter(|name| before.contains(name)).count();
        assert_eq!((after.len(), kept), (before.len(), before.len() - 1), "{before:?}, {after:?}");
        assert!(!split::has_references(&daughter) && !compact(&daughter));
    }
    let rows = read(&engine, &Scan::new()).unwrap();
    assert_eq!(rows.len(), 950);
}
