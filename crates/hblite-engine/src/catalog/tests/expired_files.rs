//! Files of which all cells have expired: they are dropped without being read.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{Clock, Env, FileSystem, ManualClock, MemFileSystem};
use hblite_model::{ColumnFamilyDescriptor, CompactRequest, Delete, Put, TableDescriptor};

use super::{DIR, env, name, options, rows};
use crate::region::Region;
use crate::store::CompactionTrigger;
use crate::{Engine, EngineOptions};

const NOW: i64 = 1_700_000_000_000;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

struct Fixture {
    fs: MemFileSystem,
    clock: Arc<ManualClock>,
    engine: Arc<Engine>,
    region: Arc<Region>,
}

/// A family whose cells expire after a day.
fn family() -> ColumnFamilyDescriptor {
    ColumnFamilyDescriptor::new("f").with_time_to_live(24 * 60 * 60)
}

impl Fixture {
    fn new(family: ColumnFamilyDescriptor) -> Self {
        let (fs, clock) = (MemFileSystem::new(), Arc::new(ManualClock::new(NOW)));
        let engine = Self::open(&fs, &clock);
        let table = TableDescriptor::new(name("t")).with_family(family);
        engine.procedures().create_table(&table, &[]).unwrap();
        let region = Self::region_of(&engine);
        Self { fs, clock, engine, region }
    }

    fn open(fs: &MemFileSystem, clock: &Arc<ManualClock>) -> Arc<Engine> {
        let options = EngineOptions { compaction_small_file_bytes: 1, ..options() };
        let clock = Arc::clone(clock) as Arc<dyn Clock>;
        let env = Env { clock, ..env(Arc::new(fs.clone())) };
        Engine::open(env, Path::new(DIR), options).unwrap()
    }

    fn region_of(engine: &Arc<Engine>) -> Arc<Region> {
        let regions = engine.catalog().all_regions();
        let region = regions.iter().find(|region| *region.info().table() == name("t"));
        Arc::clone(region.unwrap())
    }

    /// Writes a file with one row, at this time after [`NOW`].
    fn flush(&self, row: &str, after_ms: i64) {
        let put = Put::new(row).add_at("f", "q", NOW + after_ms, row);
        self.engine.table(name("t")).mutate(put.as_mutation()).unwrap();
        self.engine.flush(name("t")).unwrap();
    }

    fn compact(&self) -> bool {
        self.region.compact(CompactionTrigger::Background).unwrap()
    }

    /// The names of the files and how many cells each has, the oldest file first.
    fn files(&self) -> Vec<(String, u64)> {
        let files = self.region.stores()[0].files();
        files.iter().map(|file| (file.name().to_owned(), file.reader().entries())).collect()
    }

    fn cells(&self) -> Vec<u64> {
        self.files().into_iter().map(|(_, cells)| cells).collect()
    }

    /// Whoever opens the file from now on fails.
    fn hide(&self, at: usize) {
        self.fs.remove_file(self.region.stores()[0].files()[at].path()).unwrap();
    }
}

#[test]
fn they_are_replaced_by_an_empty_file_and_the_others_stay() {
    let fixture = Fixture::new(family());
    let written_rows = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (second, row) in written_rows.into_iter().enumerate() {
        fixture.flush(row, 1000 * second as i64);
    }
    let written = fixture.files();
    fixture.clock.advance(DAY_MS);
    assert!(!fixture.compact(), "the first cell expires in a millisecond");
    fixture.clock.advance(1001);
    for at in [0, 1] {
        fixture.hide(at);
    }
    assert!(fixture.compact());
    let left = fixture.files();
    assert_eq!((left.len(), left[0].1), (7, 0));
    assert_eq!(left[1..], written[2..]);
    assert!(!fixture.compact(), "an empty file alone is left");
    assert_eq!(rows(&fixture.engine, "t").unwrap(), written_rows[2..]);

    // The next to expire takes the empty file with it.
    fixture.clock.advance(1000);
    assert!(fixture.compact());
    assert_eq!(fixture.files()[1..], written[3..]);
    assert!(!fixture.compact());
    fixture.clock.advance(5000);
    assert!(fixture.compact());
    assert_eq!(fixture.cells(), [0]);
    assert!(!fixture.compact());
    assert!(rows(&fixture.engine, "t").unwrap().is_empty());

    let Fixture { fs, clock, engine, region } = fixture;
    drop(region);
    engine.close().unwrap();
    drop(engine);
    let engine = Fixture::open(&fs, &clock);
    assert!(rows(&engine, "t").unwrap().is_empty());
    assert_eq!(Fixture::region_of(&engine).stores()[0].files().len(), 1);
}

#[test]
fn they_may_be_between_others_and_are_not_read_by_any_compaction() {
    let fixture = Fixture::new(family());
    for (row, after_ms) in [("a", 5000), ("b", 0), ("c", 1), ("d", 5000), ("e", 0)] {
        fixture.flush(row, after_ms);
    }
    fixture.clock.advance(DAY_MS + 1000);
    for at in [1, 2, 4] {
        fixture.hide(at);
    }
    for cells in [[1, 0, 1, 1], [1, 0, 1, 0]] {
        let store = &fixture.region.stores()[0];
        assert!(store.compact(CompactionTrigger::Background, u64::MAX).unwrap());
        assert_eq!(fixture.cells(), cells);
    }
    assert_eq!(rows(&fixture.engine, "t").unwrap(), ["a", "d"]);
    fixture.flush("f", 1500);
    fixture.clock.advance(1000);
    fixture.hide(4);
    fixture.engine.compact(CompactRequest::table(name("t")).major()).unwrap();
    assert_eq!(fixture.cells(), [2]);
    assert_eq!(rows(&fixture.engine, "t").unwrap(), ["a", "d"]);
}

/// A file expires with its newest cell, also if that is a delete marker.
#[test]
fn a_file_with_one_cell_that_has_not_expired_stays() {
    let fixture = Fixture::new(family());
    let delete = Delete::new("a").family_at("f", NOW + 2000);
    fixture.engine.table(name("t")).mutate(delete.as_mutation()).unwrap();
    fixture.flush("b", 0);
    fixture.flush("a", 1500);
    fixture.clock.advance(DAY_MS + 1000);
    assert!(!fixture.compact());
    assert!(rows(&fixture.engine, "t").unwrap().is_empty());
    fixture.clock.advance(2000);
    assert!(fixture.compact());
    assert_eq!(fixture.cells(), [0]);
}

#[test]
fn minimum_versions_and_a_setting_keep_them() {
    let kept = family().with_versions(2).with_min_versions(1);
    let mut set = family();
    set.set_configuration("hbase.store.delete.expired.storefile", "false");
    for family in [kept, set, ColumnFamilyDescriptor::new("f")] {
        let fixture = Fixture::new(family);
        fixture.flush("a", 0);
        fixture.flush("b", 0);
        fixture.clock.advance(2 * DAY_MS);
        assert!(!fixture.compact());
        assert_eq!(fixture.cells(), [1, 1]);
    }
}
