//! Regions that grow are split by their table's policy; stores that age are compacted.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hblite_env::{
    Clock, Env, Fault, FaultFileSystem, FileSystem, ManualClock, MemFileSystem, Operation, Random,
    SeededRandom,
};
use hblite_model::{
    ColumnFamilyDescriptor, CompactRequest, CompactionKind, Delete, FlushRequest, KeepDeletedCells,
    Mutation, Put, RowResult, Scan, TableDescriptor,
};

use super::{DIR, env, name, options, rows, starts, table};
use crate::region::Region;
use crate::store::CompactionTrigger;
use crate::{Engine, EngineOptions};

const CONSTANT: &str = "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy";

fn engine() -> Arc<Engine> {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let options = EngineOptions {
        region_size_max_bytes: 300_000,
        region_split_first_size_bytes: Some(100_000),
        ..options()
    };
    Engine::open(env(fs), Path::new(DIR), options).unwrap()
}

/// Writes rows `first`.. of a kilobyte each, and flushes them.
fn fill(engine: &Arc<Engine>, first: usize, count: usize) {
    for row in first..first + count {
        let put = Put::new(format!("{row:05}")).add("f", "q", vec![b'v'; 1000]);
        engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    }
    engine.flush(name("t")).unwrap();
    engine.compact(CompactRequest::table(name("t")).major()).unwrap();
}

/// How many regions were split in one round over all.
fn split_round(engine: &Arc<Engine>) -> usize {
    let regions = engine.catalog().all_regions();
    regions.iter().filter(|region| engine.procedures().split_if_due(region).unwrap()).count()
}

#[test]
fn the_first_region_is_split_early_and_the_others_late() {
    let engine = engine();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    fill(&engine, 0, 50);
    assert_eq!(split_round(&engine), 0);
    fill(&engine, 50, 70);
    assert_eq!(split_round(&engine), 1);
    assert_eq!(starts(&engine, "t").len(), 2);
    // Halves of the parent's files are not split again, and small regions are not split.
    assert_eq!(split_round(&engine), 0);
    fill(&engine, 200, 200);
    assert_eq!(split_round(&engine), 0);
    fill(&engine, 400, 100);
    assert_eq!(split_round(&engine), 1);
    assert_eq!(rows(&engine, "t").unwrap().len(), 420);
}

#[test]
fn a_policy_and_a_switch_decide() {
    let engine = engine();
    let mut constant = table("t", &["f"]);
    constant.set_attribute("SPLIT_POLICY", CONSTANT).unwrap();
    engine.procedures().create_table(&constant, &[]).unwrap();
    fill(&engine, 0, 200);
    assert_eq!(split_round(&engine), 0);
    constant.set_attribute("SPLIT_ENABLED", "false").unwrap();
    engine.procedures().modify_table(&constant).unwrap();
    fill(&engine, 200, 200);
    assert_eq!(split_round(&engine), 0);
    constant.set_attribute("SPLIT_ENABLED", "true").unwrap();
    engine.procedures().modify_table(&constant).unwrap();
    assert_eq!(split_round(&engine), 1);
}

#[test]
fn rows_with_a_common_prefix_stay_in_one_region() {
    let engine = engine();
    let mut prefixes = table("t", &["f"]);
    let policy = "org.apache.hadoop.hbase.regionserver.KeyPrefixRegionSplitPolicy";
    prefixes.set_attribute("SPLIT_POLICY", policy).unwrap();
    prefixes.set_attribute("KeyPrefixRegionSplitPolicy.prefix_length", "3").unwrap();
    engine.procedures().create_table(&prefixes, &[]).unwrap();
    fill(&engine, 0, 250);
    assert_eq!(split_round(&engine), 1);
    assert_eq!(starts(&engine, "t"), ["", "001"]);
}

#[test]
fn one_row_is_never_split() {
    let engine = engine();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    for column in 0..200 {
        let put = Put::new("row").add("f", format!("{column}"), vec![b'v'; 1000]);
        engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    }
    engine.flush(name("t")).unwrap();
    assert_eq!(split_round(&engine), 0);
    assert_eq!(starts(&engine, "t"), [""]);
}

/// The largest family is a single row; the split point comes from the next one.
#[test]
fn the_largest_store_that_can_be_split_gives_the_row() {
    let engine = engine();
    engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
    for row in 0..150 {
        let put = Put::new(format!("{row:05}")).add("f", "q", vec![b'v'; 1000]);
        engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    }
    let put = Put::new("00000").add("g", "q", vec![b'v'; 200_000]);
    engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    engine.flush(name("t")).unwrap();
    assert_eq!(split_round(&engine), 1);
    assert_eq!(starts(&engine, "t").len(), 2);
}

/// Files that did not change for a week become one, and expired cells are dropped from it.
#[test]
fn stores_are_compacted_when_their_time_has_come() {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let env = Env { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..env(fs) };
    let engine = Engine::open(env, Path::new(DIR), options()).unwrap();
    let days = Duration::from_secs(20 * 24 * 60 * 60);
    let short_lived = ColumnFamilyDescriptor::new("f").with_time_to_live(days);
    let table = TableDescriptor::new(name("t")).with_family(short_lived);
    engine.procedures().create_table(&table, &[]).unwrap();
    let regions = engine.catalog().all_regions();
    let region = regions.iter().find(|region| *region.info().table() == name("t")).unwrap();
    for row in ["a", "b"] {
        super::put(&engine, "t", row).unwrap();
        engine.flush(name("t")).unwrap();
    }
    let round = |days: i64| {
        clock.advance(days * DAY_MS);
        let has_compacted = region.compact(CompactionTrigger::Background).unwrap();
        let files = region.stores()[0].files();
        let cells: u64 = files.iter().map(|file| file.reader().entries()).sum();
        (has_compacted, files.len(), cells)
    };
    assert_eq!(round(6), (false, 2, 2));
    assert_eq!(round(2), (true, 1, 2));
    // Nothing would change: one file, and no cell has expired.
    assert_eq!(round(8), (false, 1, 2));
    assert_eq!(round(8), (true, 1, 0));
}

/// What many delete markers hide is dropped soon, unless the family keeps deleted cells.
#[test]
fn a_store_with_many_delete_markers_is_compacted_once() {
    const ROWS: usize = 12_000;
    let options = EngineOptions { compaction_files_min: 10, ..options() };
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = Engine::open(env(fs), Path::new(DIR), options).unwrap();
    let keeping = ColumnFamilyDescriptor::new("f").with_keep_deleted_cells(KeepDeletedCells::True);
    for (table, family) in [("t", ColumnFamilyDescriptor::new("f")), ("keeping", keeping)] {
        let descriptor = TableDescriptor::new(name(table)).with_family(family);
        engine.procedures().create_table(&descriptor, &[]).unwrap();
        let regions = engine.catalog().all_regions();
        let region = regions.iter().find(|region| *region.info().table() == name(table)).unwrap();
        let handle = engine.table(name(table));
        let write = |mutations: Vec<Mutation>| {
            handle.mutate_all(&mutations.iter().collect::<Vec<_>>()).unwrap();
            engine.flush(name(table)).unwrap();
        };
        let put = |row| Put::new(format!("{row:05}")).add("f", "q", "v").as_mutation().clone();
        let delete = |row| Delete::new(format!("{row:05}")).as_mutation().clone();
        let compact = || {
            let has_compacted = region.compact(CompactionTrigger::Background).unwrap();
            let files = region.stores()[0].files();
            (has_compacted, files.iter().map(|file| file.reader().entries()).sum())
        };
        write((0..ROWS).map(put).collect());
        write((0..9_999).map(delete).collect());
        assert_eq!(compact(), (false, 21_999), "{table}");
        write((9_999..10_000).map(delete).collect());
        if table == "keeping" {
            assert_eq!(compact(), (false, 22_000));
            continue;
        }
        assert_eq!(compact(), (true, 2_000));

        write((0..10_000).map(put).collect());
        let mut scanner = handle.scan(&Scan::new()).unwrap();
        write((0..10_000).map(delete).collect());
        assert_eq!(compact(), (true, 2_000));
        write(vec![delete(0)]);
        assert_eq!(compact(), (false, 2_001));
        let mut row = RowResult::default();
        let seen = std::iter::from_fn(|| scanner.next_row(&mut row).unwrap().then_some(())).count();
        assert_eq!(seen, ROWS, "a scanner from before still reads the old files");
    }
}

fn file_count(engine: &Arc<Engine>, table: &str) -> u64 {
    let regions = engine.status().unwrap().regions;
    regions
        .iter()
        .filter(|one| *one.region.table() == name(table))
        .map(|r| r.store_file_count)
        .sum()
}

/// A store with three files of 300,000 bytes, whose background compactions take days once they have
/// written more than a little.
fn slow_store(fs: &Arc<dyn FileSystem>) -> (Arc<Engine>, Arc<Region>) {
    let options = EngineOptions { compaction_bytes_per_second_max: Some(1), ..options() };
    let engine = Engine::open(env(Arc::clone(fs)), Path::new(DIR), options).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    for row in ["a", "b", "c"] {
        flush_row(&engine, row, 300_000);
    }
    let regions = engine.catalog().all_regions();
    let region = regions.iter().find(|region| *region.info().table() == name("t")).unwrap();
    (engine, Arc::clone(region))
}

fn flush_row(engine: &Arc<Engine>, row: &str, size: usize) {
    let put = Put::new(row).add("f", "q", vec![b'v'; size]);
    engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    engine.flush(name("t")).unwrap();
}

fn is_compacting(fs: &Arc<dyn FileSystem>) -> bool {
    let files = hblite_env::files_below(fs.as_ref(), Path::new(DIR)).unwrap();
    files.iter().any(|file| file.to_string_lossy().replace('\\', "/").contains("/.tmp/f/"))
}

/// Calls `meanwhile` while a compaction of the region is in progress, and returns whether that
/// compaction had a result.
fn during_compaction(fs: &Arc<dyn FileSystem>, region: &Region, meanwhile: impl FnOnce()) -> bool {
    std::thread::scope(|scope| {
        let background = scope.spawn(|| region.compact(CompactionTrigger::Background).unwrap());
        while !is_compacting(fs) {
            assert!(!background.is_finished(), "it takes days");
            std::thread::yield_now();
        }
        let hurry = Hurry(region);
        meanwhile();
        drop(hurry);
        background.join().unwrap()
    })
}

/// Has compactions of the region end, also when a test fails.
struct Hurry<'r>(&'r Region);

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        drop(self.0.stores()[0].without_compactions());
    }
}

/// The caller of the major compaction does not wait for work that it would do again.
#[test]
fn a_compaction_in_the_background_gives_way_to_a_major_one() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let (_engine, region) = slow_store(&fs);
    let has_compacted = during_compaction(&fs, &region, || {
        let major = CompactionTrigger::Requested(CompactionKind::Major);
        assert!(region.compact(major).unwrap());
    });
    assert!(!has_compacted, "it was abandoned");
    let files = region.stores()[0].files();
    assert_eq!((files.len(), files[0].reader().entries()), (1, 3));
    assert!(!is_compacting(&fs), "its file is gone");
}

/// New files do not pile up while a long compaction is in progress.
#[test]
fn newer_files_are_compacted_while_older_ones_are() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let (engine, region) = slow_store(&fs);
    let sizes = || {
        let files = region.stores()[0].files();
        files.iter().map(|file| file.reader().entries()).collect::<Vec<_>>()
    };
    let has_compacted = during_compaction(&fs, &region, || {
        for row in ["d", "e"] {
            flush_row(&engine, row, 10);
            // Asked first, because a compaction of what is taken would take days.
            assert!(!region.stores()[0].needs_compaction(), "too few");
            assert!(!region.compact(CompactionTrigger::Background).unwrap(), "too few");
        }
        flush_row(&engine, "f", 10);
        assert!(region.compact(CompactionTrigger::Background).unwrap());
        assert_eq!(sizes(), [1, 1, 1, 3]);
        // The older ones are still taken, and the new file alone is too little.
        assert!(!region.compact(CompactionTrigger::Background).unwrap());
        let _exclusive = region.stores()[0].without_compactions();
        assert_eq!(sizes(), [3, 3], "it hurried when it was waited for");
    });
    assert!(has_compacted);
    engine.compact(CompactRequest::table(name("t")).major()).unwrap();
    assert_eq!(sizes(), [6]);
    drop(engine);
}

/// HBase flushes a table by a procedure, which asks for no compaction, and a region by a call that
/// does. Opening a region does, too.
#[test]
fn the_flush_of_a_region_has_it_compacted_and_that_of_a_table_does_not() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let options = EngineOptions::default().with_compaction_threads_max(1);
    let engine = Engine::open(env(fs), Path::new(DIR), options).unwrap();
    let region = |table: &str| {
        let infos = engine.catalog().region_infos(&name(table));
        FlushRequest::region(infos[0].encoded_name())
    };
    // The compactor takes requests in order: when this one is done, earlier ones are.
    let has_at_most = |table: &str, files: u64| {
        let until = Instant::now() + Duration::from_secs(60);
        while file_count(&engine, table) > files {
            assert!(Instant::now() < until, "{table} has {} files", file_count(&engine, table));
            // The compactor has the processor meanwhile.
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    for table_name in ["t", "u"] {
        engine.procedures().create_table(&table(table_name, &["f"]), &[]).unwrap();
    }
    let flush = |table: &str, row: &str, request: FlushRequest| {
        super::put(&engine, table, row).unwrap();
        engine.flush(request).unwrap();
    };
    for row in ["a", "b", "c"] {
        flush("t", row, FlushRequest::table(name("t")));
    }
    for row in ["a", "b", "c"] {
        flush("u", row, region("u"));
    }
    has_at_most("u", 1);
    assert_eq!(file_count(&engine, "t"), 3);

    engine.procedures().disable_table(&name("t")).unwrap();
    engine.procedures().enable_table(&name("t")).unwrap();
    has_at_most("t", 1);
    // So many that each read would suffer are compacted whoever flushed.
    for row in 0..EngineOptions::default().blocking_store_files {
        flush("t", &row.to_string(), FlushRequest::table(name("t")));
    }
    has_at_most("t", 2);
}

/// The number of cells in files, after waiting until it is `wanted`.
#[track_caller]
fn await_cells(engine: &Arc<Engine>, wanted: u64) {
    let cells = || -> u64 {
        let regions = engine.catalog().all_regions();
        let of_table = regions.iter().filter(|region| *region.info().table() == name("t"));
        let stores = of_table.flat_map(|region| region.stores().iter().map(|store| store.files()));
        stores.map(|files| files.iter().map(|file| file.reader().entries()).sum::<u64>()).sum()
    };
    let until = Instant::now() + Duration::from_secs(60);
    while cells() != wanted {
        assert!(Instant::now() < until, "{} cells", cells());
        std::thread::yield_now();
    }
}

/// Files count, not who wrote them: the flush of a table, or a process that has ended.
#[test]
fn delete_markers_and_expired_files_go_whatever_left_them() {
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let disk = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    // A process that used the names of another one's files again would seem to have replaced them.
    let names = Arc::new(SeededRandom::new(7));
    let open = |is_compaction_enabled| {
        let env = Env {
            fs: Arc::new(disk.clone()),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            random: Arc::clone(&names) as Arc<dyn Random>,
        };
        let options = EngineOptions { is_compaction_enabled, ..EngineOptions::default() };
        Engine::open(env, Path::new(DIR), options).unwrap()
    };
    let engine = open(true);
    let family = ColumnFamilyDescriptor::new("f").with_time_to_live(Duration::from_secs(100));
    let table = TableDescriptor::new(name("t")).with_family(family);
    engine.procedures().create_table(&table, &[]).unwrap();
    let write = |engine: &Arc<Engine>, is_delete: bool| {
        let row = |row: usize| format!("{row:05}");
        let mutation = |at| match is_delete {
            true => Delete::new(row(at)).as_mutation().clone(),
            false => Put::new(row(at)).add("f", "q", "v").as_mutation().clone(),
        };
        let mutations: Vec<Mutation> = (0..12_000).map(mutation).collect();
        let mutations = mutations.iter().collect::<Vec<_>>();
        engine.table(name("t")).mutate_all(&mutations).unwrap();
        clock.advance(1);
    };
    write(&engine, false);
    engine.flush(name("t")).unwrap();
    write(&engine, true);
    engine.flush(name("t")).unwrap();
    await_cells(&engine, 0);
    engine.close().unwrap();

    let engine = open(false);
    write(&engine, false);
    engine.flush(name("t")).unwrap();
    write(&engine, true);
    engine.close().unwrap();
    let engine = open(true);
    engine.look_for_due_work();
    await_cells(&engine, 0);

    for _ in 0..2 {
        write(&engine, false);
        engine.flush(name("t")).unwrap();
    }
    engine.close().unwrap();
    clock.advance(99_999);
    let engine = open(true);
    engine.look_for_due_work();
    // The newer one is not old enough.
    await_cells(&engine, 12_000);
    engine.close().unwrap();
    clock.advance(60_000);

    // No one reads them.
    let engine = open(false);
    let regions = engine.catalog().all_regions();
    let region = regions.iter().find(|region| *region.info().table() == name("t")).unwrap();
    for file in region.stores()[0].files().iter() {
        for operation in [Operation::Open, Operation::Read] {
            disk.inject(Fault::on(operation).in_path(file.name()).forever());
        }
    }
    assert!(region.compact(CompactionTrigger::Background).unwrap());
    await_cells(&engine, 0);
    assert!(!region.compact(CompactionTrigger::Background).unwrap(), "nothing is left to do");
}

#[test]
fn an_expired_file_stays_where_versions_are_kept() {
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let env = Env { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..env(fs) };
    let engine = Engine::open(env, Path::new(DIR), options()).unwrap();
    let family = ColumnFamilyDescriptor::new("f")
        .with_time_to_live(Duration::from_secs(10))
        .with_min_versions(1);
    let table = TableDescriptor::new(name("t")).with_family(family);
    engine.procedures().create_table(&table, &[]).unwrap();
    super::put(&engine, "t", "a").unwrap();
    engine.flush(name("t")).unwrap();
    clock.advance(60_000);
    let regions = engine.catalog().all_regions();
    let region = regions.iter().find(|region| *region.info().table() == name("t")).unwrap();
    assert!(!region.compact(CompactionTrigger::Background).unwrap());
    assert_eq!(rows(&engine, "t").unwrap(), ["a"]);
}
