//! Flushes and compactions that fail halfway, and what is left when the store is opened again.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{CrashFileSystem, Fault, FaultFileSystem, FileSystem, MemFileSystem, Operation};
use hblite_model::{
    CellBuffer, CellComparator, ColumnFamilyDescriptor, CompactRequest, Delete, Durability,
    FlushRequest, Put, Result, RowResult, Scan, TableDescriptor,
};

use super::{DIR, env, has, name, open, options, put, rows, table};
use crate::region::FileGate;
use crate::region::region_scanner::{RegionScanner, ScanSources};
use crate::{Engine, EngineOptions, WalOptions};

const SEEDS: u64 = 6;

/// A store with the table `t` of the families `f` and `g`, and a disk that can be made to fail.
fn with_faults() -> (Arc<dyn FileSystem>, FaultFileSystem, Arc<Engine>) {
    let disk: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let fs = FaultFileSystem::new(Arc::clone(&disk));
    let engine = open(&(Arc::new(fs.clone()) as Arc<dyn FileSystem>)).unwrap();
    engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
    (disk, fs, engine)
}

fn fault_on(operation: Operation) -> Fault {
    Fault::on(operation).in_path(&format!("{DIR}/data/default/t"))
}

/// One cell in each family: a row that is torn if only one of them is there.
fn put_both(engine: &Arc<Engine>, row: &str, durability: Durability) -> Result<()> {
    let put = Put::new(row).add("f", "q", row).add("g", "q", row).with_durability(durability);
    engine.table(name("t")).mutate(put.as_mutation())
}

fn delete(engine: &Arc<Engine>, row: &str) {
    engine.table(name("t")).mutate(Delete::new(row).as_mutation()).unwrap();
}

/// The store as the next process finds it.
fn killed_and_opened(engine: Arc<Engine>, disk: &Arc<dyn FileSystem>) -> Arc<Engine> {
    engine.abandon();
    drop(engine);
    open(disk).unwrap()
}

fn flush(engine: &Arc<Engine>) -> Result<()> {
    engine.flush(name("t"))
}

fn assert_no_row_is_torn(engine: &Arc<Engine>, place: &str) {
    let scanned = engine.table(name("t")).scan(&Scan::new());
    let mut scanner = scanned.unwrap();
    let mut row = RowResult::default();
    while scanner.next_row(&mut row).unwrap() {
        assert_eq!(row.cells().len(), 2, "{place}: {row:?}");
    }
}

/// Names of the entries in the `.tmp` directories of all regions of `t`.
fn temporary_files(disk: &Arc<dyn FileSystem>) -> Vec<String> {
    let table = Path::new(DIR).join("data/default/t");
    let mut names = Vec::new();
    for region in disk.list_dir(&table).unwrap() {
        let dir = table.join(&region.name).join(".tmp");
        if !disk.exists(&dir).unwrap() {
            continue;
        }
        for family in disk.list_dir(&dir).unwrap() {
            names.extend(
                disk.list_dir(&dir.join(&family.name)).unwrap().into_iter().map(|e| e.name),
            );
        }
    }
    names
}

#[test]
fn threads_that_write_during_flushes_lose_nothing_and_are_all_counted() {
    const THREADS: usize = 10;
    const ROWS: usize = 200;
    let (_, _, engine) = with_faults();
    let write = |thread: usize| {
        for row in 0..ROWS {
            let row = format!("{thread}-{row}");
            put_both(&engine, &row, Durability::UseDefault).unwrap();
            assert!(has(&engine, "t", &row).unwrap(), "a put is seen by the next get: {row}");
        }
    };
    std::thread::scope(|scope| {
        let write = &write;
        let writers: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || write(thread))).collect();
        // One that has panicked is finished, too.
        while writers.iter().any(|writer| !writer.is_finished()) {
            flush(&engine).unwrap();
        }
    });
    assert_eq!(rows(&engine, "t").unwrap().len(), THREADS * ROWS);
    assert_no_row_is_torn(&engine, "after the threads");
    let regions = engine.online_regions();
    let region = regions.iter().find(|region| *region.info().table() == name("t")).unwrap();
    assert_eq!(region.load().write_requests, (THREADS * ROWS) as u64);
    assert_eq!(region.load().cells_written, 2 * (THREADS * ROWS) as u64);
}

#[test]
fn a_flush_that_takes_up_a_failed_one_writes_what_came_since_too() {
    let (disk, fs, engine) = with_faults();
    put(&engine, "t", "a").unwrap();
    fs.inject(fault_on(Operation::Rename));
    flush(&engine).unwrap_err();
    put(&engine, "t", "b").unwrap();
    // It declares the log up to here to be in files, and is then interrupted.
    fs.inject(fault_on(Operation::Rename).nth(2).forever());
    let altered = engine.procedures().add_family(&name("t"), &ColumnFamilyDescriptor::new("h"));
    let engine = killed_and_opened(engine, &disk);
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "b"], "{altered:?}");
}

/// Whether the row is in the log of this process or in one that a killed process left.
#[test]
fn a_power_cut_in_a_flush_of_several_families_tears_no_row() {
    for is_killed_before in [false, true] {
        for operations in 0.. {
            let has_power = cut_power_in_flush(operations, is_killed_before);
            if has_power {
                break;
            }
        }
    }
}

fn cut_power_in_flush(operations: u64, is_killed_before: bool) -> bool {
    let open_on = |fs: &CrashFileSystem| {
        let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
        open(&shared).unwrap()
    };
    let mut fs = CrashFileSystem::new();
    let mut engine = open_on(&fs);
    engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
    put_both(&engine, "a", Durability::SyncWal).unwrap();
    if is_killed_before {
        engine.abandon();
        fs = fs.after_kill();
        engine = open_on(&fs);
    }
    let start = fs.operation_count();
    fs.power_off_after(operations);
    let is_done = flush(&engine).is_ok();
    let has_power = is_done && fs.operation_count() - start < operations;
    engine.abandon();
    for seed in 0..SEEDS {
        let engine = open_on(&fs.after_power_cut(seed));
        assert_no_row_is_torn(&engine, &format!("after {operations} operations, seed {seed}"));
        assert!(!is_done || has(&engine, "t", "a").unwrap());
    }
    has_power
}

/// It is unknown whether a write whose sync failed is in the log. A flush must not claim that it
/// is. Files in the stores of `f` and `g`.
fn files_of(engine: &Arc<Engine>) -> [usize; 2] {
    let regions = engine.catalog().regions(&name("t"));
    [0, 1].map(|at| regions[0].stores()[at].files().len())
}

#[test]
fn one_family_is_flushed_and_compacted_alone() {
    let (disk, _, engine) = with_faults();
    let t = name("t");
    for row in ["a", "b"] {
        put_both(&engine, row, Durability::SyncWal).unwrap();
        engine.flush(FlushRequest::table(&t).with_family(b"g")).unwrap();
    }
    assert_eq!(files_of(&engine), [0, 2]);
    engine.compact(CompactRequest::table(&t).with_family(b"g").major()).unwrap();
    assert_eq!(files_of(&engine), [0, 1]);
    for error in [
        engine.flush(FlushRequest::table(&t).with_family(b"h")).unwrap_err(),
        engine.compact(CompactRequest::table(&t).with_family(b"h").major()).unwrap_err(),
    ] {
        assert_eq!(error.exception(), hblite_model::Exception::NoSuchColumnFamily, "{error}");
    }
    engine.abandon();
    // Unflushed cells come back from the log, flushed ones from the file, each once.
    let engine = open(&disk).unwrap();
    assert_no_row_is_torn(&engine, "opened again");
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "b"]);
    flush(&engine).unwrap();
    assert_eq!(files_of(&engine), [1, 1]);
}

/// Old log files are removed when no region needs them; the family that was not flushed does.
#[test]
fn a_flush_of_one_family_lets_no_log_file_of_the_others_go() {
    let disk: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let wal = WalOptions { roll_size_bytes: 1 << 10, ..WalOptions::default() };
    let small_log = EngineOptions { wal, ..options() };
    let engine = Engine::open(env(Arc::clone(&disk)), Path::new(DIR), small_log).unwrap();
    engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
    let names: Vec<String> = (0..100).map(|number| format!("row-{number:03}")).collect();
    for row in &names {
        put_both(&engine, row, Durability::SyncWal).unwrap();
    }
    engine.flush(FlushRequest::table(name("t")).with_family(b"f")).unwrap();
    engine.procedures().create_table(&table("other", &["f"]), &[]).unwrap();
    put(&engine, "other", "a").unwrap();
    engine.flush(name("other")).unwrap();
    engine.abandon();
    let engine = open(&disk).unwrap();
    assert_no_row_is_torn(&engine, "opened again");
    assert_eq!(rows(&engine, "t").unwrap(), names);
}

/// A flush of one family that failed does not make the log forget the others.
#[test]
fn a_failed_flush_of_one_family_keeps_the_log() {
    let (disk, fs, engine) = with_faults();
    put_both(&engine, "a", Durability::SyncWal).unwrap();
    fs.inject(fault_on(Operation::Rename));
    engine.flush(FlushRequest::table(name("t")).with_family(b"f")).unwrap_err();
    engine.flush(FlushRequest::table(name("t")).with_family(b"f")).unwrap();
    assert_eq!(files_of(&engine), [1, 0]);
    engine.abandon();
    assert_no_row_is_torn(&open(&disk).unwrap(), "opened again");
}

/// The file of one family must not be on the disk while the log, with the other one, is not.
#[test]
fn a_power_cut_after_a_flush_of_one_family_tears_no_row() {
    for operations in 0..40 {
        let fs = CrashFileSystem::new();
        let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
        let engine = open(&shared).unwrap();
        engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
        put_both(&engine, "a", Durability::AsyncWal).unwrap();
        fs.power_off_after(operations);
        let is_done = engine.flush(FlushRequest::table(name("t")).with_family(b"f")).is_ok();
        engine.abandon();
        for seed in 0..SEEDS {
            let left: Arc<dyn FileSystem> = Arc::new(fs.after_power_cut(seed));
            let engine = open(&left).unwrap();
            let place = format!("after {operations} operations, seed {seed}");
            assert_no_row_is_torn(&engine, &place);
            assert!(!is_done || has(&engine, "t", "a").unwrap(), "{place}");
        }
    }
}

#[test]
fn after_the_log_failed_nothing_is_flushed() {
    let (disk, fs, engine) = with_faults();
    put(&engine, "t", "a").unwrap();
    fs.inject(Fault::on(Operation::Sync).in_path("WALs"));
    put_both(&engine, "b", Durability::FsyncWal).unwrap_err();
    flush(&engine).unwrap_err();
    let engine = killed_and_opened(engine, &disk);
    delete(&engine, "a");
    assert_no_row_is_torn(&engine, "after the log failed");
}

/// The file was in place when its flush failed, and the flush was done again with another file.
#[test]
fn what_a_failed_flush_left_brings_no_cell_back() {
    for operation in [Operation::SyncDir, Operation::Open] {
        let (disk, fs, engine) = with_faults();
        put(&engine, "t", "a").unwrap();
        fs.inject(fault_on(operation));
        fs.inject(fault_on(Operation::Remove));
        flush(&engine).unwrap_err();
        flush(&engine).unwrap();
        delete(&engine, "a");
        flush(&engine).unwrap();
        engine.compact(CompactRequest::table(name("t")).major()).unwrap();
        let engine = killed_and_opened(engine, &disk);
        assert_eq!(rows(&engine, "t").unwrap(), [""; 0], "{operation:?}");
    }
}

/// A compaction's sources could not be removed; the next compaction replaces the file that names
/// them.
#[test]
fn what_a_failed_compaction_left_brings_no_cell_back() {
    for operation in [Operation::Remove, Operation::SyncDir, Operation::Open] {
        for nth in 1..6 {
            let (disk, fs, engine) = with_faults();
            for row in ["a", "b"] {
                put(&engine, "t", row).unwrap();
                flush(&engine).unwrap();
            }
            fs.inject(fault_on(operation).nth(nth));
            let compacted = engine.compact(CompactRequest::table(name("t")).major());
            fs.heal();
            delete(&engine, "a");
            flush(&engine).unwrap();
            engine.compact(CompactRequest::table(name("t")).major()).unwrap();
            engine.abandon();
            drop(engine);
            let engine = open(&disk).unwrap();
            assert_eq!(rows(&engine, "t").unwrap(), ["b"], "{operation:?} {nth} {compacted:?}");
        }
    }
}

#[test]
fn nothing_unfinished_is_left_behind() {
    let (disk, fs, engine) = with_faults();
    for operation in [Operation::Write, Operation::Sync, Operation::Rename] {
        put(&engine, "t", "a").unwrap();
        fs.inject(fault_on(operation));
        flush(&engine).unwrap_err();
        assert_eq!(temporary_files(&disk), [""; 0], "flush, {operation:?}");
        flush(&engine).unwrap();
        fs.inject(fault_on(operation));
        engine.compact(CompactRequest::table(name("t")).major()).unwrap_err();
        assert_eq!(temporary_files(&disk), [""; 0], "compaction, {operation:?}");
    }
    // A kill cannot be prevented; the next open handles what it left.
    fs.inject(fault_on(Operation::Rename).forever());
    fs.inject(fault_on(Operation::Remove).forever());
    engine.compact(CompactRequest::table(name("t")).major()).unwrap_err();
    assert_eq!(temporary_files(&disk).len(), 1);
    let engine = killed_and_opened(engine, &disk);
    assert_eq!(temporary_files(&disk), [""; 0]);
    assert_eq!(rows(&engine, "t").unwrap(), ["a"]);
}

/// The region is closed and its cells are in files: a log file that stays longer is not a reason to
/// refuse the disable.
#[test]
fn a_region_closes_although_old_logs_stay() {
    let (disk, fs, engine) = with_faults();
    for round in 0..3 {
        put(&engine, "t", &format!("row {round}")).unwrap();
        engine.catalog().context.wal.roll().unwrap();
    }
    fs.inject(Fault::on(Operation::Remove).in_path("WALs").forever());
    let disabled = engine.procedures().disable_table(&name("t"));
    fs.heal();
    if disabled.is_err() {
        put(&engine, "t", "in service").unwrap();
    } else {
        engine.procedures().enable_table(&name("t")).unwrap();
    }
    assert!(has(&engine, "t", "row 2").unwrap(), "{disabled:?}");
    drop((engine, disk));
}

/// Memory of all regions is full of one that is below its own flush size; a write to another region
/// must not wait for it forever.
#[test]
fn the_largest_region_is_flushed_when_memory_is_full() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let options =
        EngineOptions { memstore_total_size_bytes: 1 << 20, busy_wait_ms: 5_000, ..options() };
    let engine = Engine::open(env(fs), Path::new(DIR), options).unwrap();
    for table_name in ["large", "small"] {
        engine.procedures().create_table(&table(table_name, &["f"]), &[]).unwrap();
    }
    let large = engine.table(name("large"));
    large.mutate(Put::new("row").add("f", "q", vec![0; 2 << 20]).as_mutation()).unwrap();
    put(&engine, "small", "row").unwrap();
    engine.close().unwrap();
}

/// The flush came between the read point and the list of files, and dropped the version that was
/// visible at that point.
#[test]
fn a_reader_misses_no_row_when_a_flush_comes_between() {
    let (_disk, _fs, engine) = with_faults();
    put(&engine, "t", "a").unwrap();
    let regions = engine.catalog().all_regions();
    let region = regions.iter().find(|region| *region.info().table() == name("t")).unwrap();
    let outdated = region.last_sequence_id();
    put(&engine, "t", "a").unwrap();
    flush(&engine).unwrap();
    let present = region.last_sequence_id();
    let read_points = std::cell::RefCell::new(vec![present, outdated]);
    let read_point = || read_points.borrow_mut().pop().unwrap();
    let (scan, comparator) = (Scan::new(), CellComparator::Default);
    let gate = FileGate::default();
    let sources =
        ScanSources { stores: region.stores(), gate: &gate, dead_rows: None, own_columns: false };
    let scanner = RegionScanner::open(sources, &scan, comparator, (read_point, 0), 0, None);
    let mut cells = CellBuffer::new();
    scanner.unwrap().next_row(&mut cells).unwrap();
    assert_eq!(cells.len(), 1);
}

/// It is unknown whether a split whose commit failed was committed. Its daughters' files belong to
/// the parent, so the parent keeps them.
#[test]
fn after_a_commit_of_unknown_outcome_nothing_is_compacted() {
    for operation in [Operation::Sync, Operation::Write] {
        let (disk, fs, engine) = with_faults();
        for row in ["a", "b", "c"] {
            put(&engine, "t", row).unwrap();
            flush(&engine).unwrap();
        }
        fs.inject(Fault::on(operation).in_path("WALs").nth(1));
        // Otherwise a failed write would be undone.
        fs.inject(Fault::on(Operation::Truncate));
        engine.procedures().split_table(&name("t"), Some(b"b")).unwrap_err();
        fs.heal();
        engine.compact(CompactRequest::table(name("t")).major()).unwrap_err();
        let engine = killed_and_opened(engine, &disk);
        assert_eq!(rows(&engine, "t").unwrap(), ["a", "b", "c"], "{operation:?}");
    }
}

/// A close that fails still releases the directory, so nothing may be written afterwards.
#[test]
fn after_a_close_that_failed_nothing_is_written() {
    let (disk, fs, engine) = with_faults();
    put(&engine, "t", "a").unwrap();
    fs.inject(fault_on(Operation::Create).forever());
    engine.close().unwrap_err();
    fs.heal();
    put(&engine, "t", "b").unwrap_err();
    let again = open(&disk).unwrap();
    assert_eq!(rows(&again, "t").unwrap(), ["a"]);
    put(&engine, "t", "c").unwrap_err();
}

/// The new settings are in place, but the disk could neither make them durable nor undo them.
/// Whichever are in effect after a power cut, nothing acknowledged is lost.
#[test]
fn an_alter_of_unknown_outcome_loses_nothing() {
    let disk = CrashFileSystem::new();
    let fs = FaultFileSystem::new(Arc::new(disk.clone()));
    let engine = open(&(Arc::new(fs.clone()) as Arc<dyn FileSystem>)).unwrap();
    engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
    put_both(&engine, "a", Durability::FsyncWal).unwrap();
    let in_descriptors = |operation| Fault::on(operation).in_path(".tabledesc");
    fs.inject(in_descriptors(Operation::SyncDir));
    fs.inject(in_descriptors(Operation::Remove).forever());
    engine.procedures().delete_family(&name("t"), b"g").unwrap_err();
    fs.heal();
    put_both(&engine, "b", Durability::FsyncWal).unwrap_err();
    engine.abandon();
    let mut outcomes = [false; 2];
    for seed in 0..8 * SEEDS {
        let left: Arc<dyn FileSystem> = Arc::new(disk.after_power_cut(seed));
        let engine = open(&left).unwrap();
        let families = engine.catalog().descriptor(&name("t")).unwrap().families().len();
        outcomes[families - 1] = true;
        let mut scanner = engine.table(name("t")).scan(&Scan::new()).unwrap();
        let mut row = RowResult::default();
        assert!(scanner.next_row(&mut row).unwrap());
        assert_eq!(row.cells().len(), families, "seed {seed}");
        assert!(!scanner.next_row(&mut row).unwrap());
    }
    assert_eq!(outcomes, [true; 2], "both outcomes are met");
}

/// Files pile up while a compaction takes long. Without a limit, writes would add more and more.
#[test]
fn writes_are_slow_while_compactions_are_behind() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = Engine::open(env(fs), Path::new(DIR), EngineOptions::default()).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    let regions = engine.catalog().all_regions();
    let region = regions.iter().find(|region| *region.info().table() == name("t")).unwrap();
    let write = |row: &str| {
        let value = vec![0; 256 << 10];
        let put = Put::new(row).add("f", "q", value);
        engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    };
    let blocking_files = engine.options().blocking_store_files;
    let compaction = region.stores()[0].without_compactions();
    for file in 0..=blocking_files {
        assert_eq!(region.may_have_to_wait(), file >= blocking_files, "{file} files");
        put(&engine, "t", &format!("row {file}")).unwrap();
        flush(&engine).unwrap();
    }
    assert_eq!(region.stores()[0].excess_files(), 2);
    let began = std::time::Instant::now();
    (0..5).for_each(|row| write(&format!("slow {row}")));
    // 31 ms each, before each but the first.
    assert!(began.elapsed() >= std::time::Duration::from_millis(100), "{:?}", began.elapsed());
    drop(compaction);
    engine.compact(CompactRequest::table(name("t")).major()).unwrap();
    assert_eq!(region.stores()[0].excess_files(), 0);
    assert!(!region.may_have_to_wait());
}

/// HBase gives each key its own block then; without sanity checks it accepts any number.
#[test]
fn a_family_with_any_block_size_is_flushed_and_compacted() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    for (index, size) in ["0", "-1", "2147483647"].into_iter().enumerate() {
        let mut family = ColumnFamilyDescriptor::new("f");
        family.set_attribute("BLOCKSIZE", size).unwrap();
        let mut settings = TableDescriptor::new(name(&format!("t{index}"))).with_family(family);
        settings.set_attribute("hbase.table.sanity.checks", "false").unwrap();
        engine.procedures().create_table(&settings, &[]).unwrap();
        for row in ["a", "b"] {
            put(&engine, settings.name().qualifier(), row).unwrap();
            engine.flush(settings.name().clone()).unwrap();
        }
        engine.compact(CompactRequest::table(settings.name().clone()).major()).unwrap();
        assert_eq!(rows(&engine, settings.name().qualifier()).unwrap(), ["a", "b"], "{size}");
    }
}
