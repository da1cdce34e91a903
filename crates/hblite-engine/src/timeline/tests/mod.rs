//! Checkpoints, rewinds and forks below the API.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod restaging;

use std::sync::mpsc::{self, TryRecvError};
use std::time::Duration;

use hblite_model::{ColumnFamilyDescriptor, ErrorKind, Get, Put, Scan, TableDescriptor, TableName};

use hblite_env::FileSystem as _;

use super::*;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn open() -> Arc<Timeline> {
    let options = EngineOptions { is_flushed_on_close: false, ..EngineOptions::default() };
    Timeline::open(Env::in_memory(), Path::new("/memory"), options).unwrap()
}

fn create(timeline: &Timeline, name: &str, family: ColumnFamilyDescriptor) {
    let table = TableDescriptor::new(name.parse().unwrap()).with_family(family);
    timeline.engine().procedures().create_table(&table, &[]).unwrap();
}

fn put(timeline: &Timeline, row: &str, value: &str) {
    let put = Put::new(row).add("f", "q", value);
    timeline.engine().table("t".parse().unwrap()).mutate(&put.into()).unwrap();
}

fn value(timeline: &Timeline, row: &str) -> Option<String> {
    let row = timeline.engine().table("t".parse().unwrap()).get(&Get::new(row)).unwrap();
    row.value("f", "q").map(|value| String::from_utf8_lossy(value).into_owned())
}

#[test]
fn a_rewind_restores_data_tables_and_sequence_ids() {
    let timeline = open();
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    put(&timeline, "a", "1");
    timeline.checkpoint("one").unwrap();
    let ids = |timeline: &Timeline| -> Vec<(Vec<u8>, u64)> {
        let regions = timeline.engine().online_regions();
        regions.iter().map(|r| (r.info().region_name().to_vec(), r.last_sequence_id())).collect()
    };
    let before = ids(&timeline);
    for round in 0..3 {
        put(&timeline, "a", "2");
        put(&timeline, "b", "3");
        create(&timeline, "u", ColumnFamilyDescriptor::new("f"));
        if round == 1 {
            timeline.engine().flush("t".parse::<TableName>().unwrap()).unwrap();
        }
        let generation = timeline.generation();
        timeline.rewind("one").unwrap();
        assert_ne!(timeline.generation(), generation);
        assert_eq!(value(&timeline, "a").as_deref(), Some("1"));
        assert_eq!(value(&timeline, "b"), None);
        assert!(!timeline.engine().catalog().table_exists(&"u".parse().unwrap()));
        assert_eq!(ids(&timeline), before);
    }
}

#[test]
fn a_fork_is_independent_and_can_be_rewound_itself() {
    let timeline = open();
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    put(&timeline, "a", "1");
    timeline.checkpoint("one").unwrap();
    put(&timeline, "a", "2");
    let fork = timeline.fork("one").unwrap();
    let other = timeline.fork("one").unwrap();
    assert_eq!(value(&fork, "a").as_deref(), Some("1"));
    put(&fork, "a", "3");
    fork.checkpoint("own").unwrap();
    put(&fork, "a", "4");
    fork.rewind("own").unwrap();
    assert_eq!(value(&fork, "a").as_deref(), Some("3"));
    assert_eq!(value(&other, "a").as_deref(), Some("1"));
    assert_eq!(value(&timeline, "a").as_deref(), Some("2"));
    assert_eq!(timeline.rewind("own").unwrap_err().kind(), ErrorKind::NotFound);
    // It outlives its checkpoint.
    timeline.close().unwrap();
    drop(timeline);
    put(&fork, "a", "5");
    assert_eq!(value(&fork, "a").as_deref(), Some("5"));
}

#[test]
fn errors_name_the_checkpoint() {
    let timeline = open();
    for name in ["", "a b", "../x", &"x".repeat(256)] {
        assert_eq!(timeline.checkpoint(name).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    for error in [timeline.rewind("no").unwrap_err(), timeline.fork("no").map(drop).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.message().contains("\"no\""), "{error}");
    }
    timeline.checkpoint("yes").unwrap();
    timeline.checkpoint("too").unwrap();
    assert_eq!(timeline.checkpoints(), ["too", "yes"]);
    assert!(timeline.delete_checkpoint("too"));
    assert!(!timeline.delete_checkpoint("too"));
    timeline.close().unwrap();
    assert_eq!(timeline.rewind("yes").unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(timeline.fork("yes").map(drop).unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(timeline.checkpoint("yes").unwrap_err().kind(), ErrorKind::Closed);
    assert!(!timeline.delete_checkpoint("yes"));
}

#[test]
fn cells_expire_by_the_clock_of_their_store() {
    let timeline = open();
    let day = ColumnFamilyDescriptor::new("f").with_time_to_live(Duration::from_secs(24 * 60 * 60));
    create(&timeline, "t", day);
    timeline.set_clock(ClockMode::Manual(5 * DAY_MS)).unwrap();
    put(&timeline, "a", "1");
    timeline.checkpoint("one").unwrap();
    let fork = timeline.fork("one").unwrap();
    timeline.set_clock(ClockMode::Manual(6 * DAY_MS + 1)).unwrap();
    assert_eq!(value(&timeline, "a"), None);
    assert_eq!(value(&fork, "a").as_deref(), Some("1"));
    assert_eq!(fork.clock_mode(), ClockMode::Manual(5 * DAY_MS));
    // The clock is not part of the state.
    timeline.rewind("one").unwrap();
    assert_eq!(timeline.clock_mode(), ClockMode::Manual(6 * DAY_MS + 1));
    assert_eq!(value(&timeline, "a"), None);
}

/// What seems to have expired by the system's clock may not have by the one that a fork gets.
#[test]
fn a_standby_does_no_background_work_until_it_has_its_clock() {
    let timeline = open();
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    timeline.checkpoint("one").unwrap();
    let checkpoint = timeline.find("one").unwrap();
    timeline.standby.prepare(&checkpoint);
    let world = timeline.standby.take(&checkpoint).unwrap();
    assert!(world.engine.is_standby());
    world.follow(ClockMode::Manual(5 * DAY_MS));
    assert!(!world.engine.is_standby());
    for _ in 0..2 {
        assert!(!timeline.fork("one").unwrap().engine().is_standby());
        timeline.rewind("one").unwrap();
        assert!(!timeline.engine().is_standby());
    }
}

#[test]
fn writers_during_a_checkpoint_lose_nothing_that_was_acknowledged_before_it() {
    let timeline = open();
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    let written = AtomicU64::new(0);
    let (end, has_ended) = mpsc::channel::<()>();
    hblite_env::thread::scope(|scope| {
        let (timeline, written) = (&timeline, &written);
        scope.spawn(move || {
            for number in 0.. {
                if has_ended.try_recv() == Err(TryRecvError::Disconnected) {
                    break;
                }
                put(timeline, &format!("{number:08}"), "x");
                written.store(number + 1, Ordering::Release);
            }
        });
        // It ends the writer when it is dropped, also by a panic.
        let _end = end;
        for round in 0..5 {
            let before = written.load(Ordering::Acquire);
            timeline.checkpoint("now").unwrap();
            let after = written.load(Ordering::Acquire);
            let fork = timeline.fork("now").unwrap();
            let mut rows = 0;
            let mut scanner = fork.engine().table("t".parse().unwrap()).scan(&Scan::new()).unwrap();
            let mut row = hblite_model::RowResult::default();
            while scanner.next_row(&mut row).unwrap() {
                // Without a gap: a writer's later write is there only if its earlier ones are.
                assert_eq!(row.row(), format!("{rows:08}").as_bytes());
                rows += 1;
            }
            // One more may have been written and not counted yet.
            assert!((before..=after + 1).contains(&rows), "{round}: {before} {rows} {after}");
        }
    });
}

/// The store on a disk that may lose power.
fn on_disk(fs: &hblite_env::CrashFileSystem) -> Arc<Timeline> {
    let env = Env::in_memory().with_fs(Arc::new(fs.clone()));
    let options = EngineOptions { is_flushed_on_close: false, ..EngineOptions::default() };
    Timeline::open(env, Path::new("/store"), options).unwrap()
}

/// The same, with a table `t`, a row `a` in it, and then a checkpoint `one`.
fn with_checkpoint(fs: &hblite_env::CrashFileSystem) -> Arc<Timeline> {
    let timeline = on_disk(fs);
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    put(&timeline, "a", "1");
    timeline.checkpoint("one").unwrap();
    timeline
}

/// What a kill leaves of a disk, and what two power cuts do.
fn remains(
    fs: &hblite_env::CrashFileSystem,
) -> impl Iterator<Item = hblite_env::CrashFileSystem> + '_ {
    std::iter::once(fs.after_kill()).chain((0..2).map(|seed| fs.after_power_cut(seed)))
}

fn state(timeline: &Timeline) -> (Option<String>, Option<String>, bool) {
    let has_more = timeline.engine().catalog().table_exists(&"u".parse().unwrap());
    (value(timeline, "a"), value(timeline, "b"), has_more)
}

fn change(timeline: &Timeline) {
    put(timeline, "a", "2");
    put(timeline, "b", "3");
    create(timeline, "u", ColumnFamilyDescriptor::new("f"));
}

#[test]
fn a_store_in_a_directory_is_rewound_and_opened_again() {
    let fs = hblite_env::CrashFileSystem::new();
    let timeline = with_checkpoint(&fs);
    let before = state(&timeline);
    for _ in 0..2 {
        change(&timeline);
        timeline.rewind("one").unwrap();
        assert_eq!(state(&timeline), before);
    }
    let fork = timeline.fork("one").unwrap();
    put(&fork, "b", "4");
    assert_eq!(state(&timeline), before);
    put(&timeline, "b", "5");
    let present = state(&timeline);
    timeline.close().unwrap();
    drop(timeline);
    // The checkpoint's files are gone, the fork's are not.
    assert!(
        !fs.exists(Path::new("/store/.checkpoints")).unwrap_or(true) || {
            fs.list_dir(Path::new("/store/.checkpoints")).unwrap().is_empty()
        }
    );
    assert_eq!(value(&fork, "b").as_deref(), Some("4"));
    assert_eq!(state(&on_disk(&fs)), present);
}

#[test]
fn a_rewind_that_is_cut_off_is_done_or_not() {
    let mut outcomes = [0, 0];
    cut_off_rewinds(false, &mut outcomes);
    assert!(outcomes.iter().all(|count| *count > 10), "{outcomes:?}");
    // With what is staged, and while the next rewind is being staged.
    cut_off_rewinds(true, &mut outcomes);
}

fn cut_off_rewinds(is_staged: bool, outcomes: &mut [usize; 2]) {
    for operations in 0.. {
        let fs = hblite_env::CrashFileSystem::new();
        let timeline = with_checkpoint(&fs);
        let before = state(&timeline);
        change(&timeline);
        // A durable write makes everything before it in the log durable too.
        create(&timeline, "v", ColumnFamilyDescriptor::new("f"));
        let after = state(&timeline);
        match is_staged {
            true => assert!(timeline.staging.is_staged()),
            false => timeline.staging.end(),
        }
        let start = fs.operation_count();
        fs.power_off_after(operations);
        let is_done = timeline.rewind("one").is_ok();
        let has_power = is_done && fs.operation_count() - start < operations;
        for (index, left) in remains(&fs).enumerate() {
            let place = format!("cut after {operations} operations, remains {index}");
            let opened = on_disk(&left);
            let now = state(&opened);
            let is_rewound = now == before;
            assert!(is_rewound || now == after, "{place}: {now:?}");
            assert!(is_rewound || !is_done, "{place}: done, and forgotten");
            outcomes[usize::from(is_rewound)] += 1;
            let names = left.list_dir(Path::new("/store")).unwrap();
            assert!(names.iter().all(|entry| !entry.name.contains("-rewind")), "{place}");
        }
        if has_power {
            break;
        }
    }
}

/// Windows does not rename a directory while a file in it is open.
#[test]
fn a_directory_is_rewound_while_its_open_files_hold_it() {
    let fs = hblite_env::CrashFileSystem::new();
    let pinning = hblite_env::FaultFileSystem::new(Arc::new(fs.clone()));
    pinning.pin_open_files();
    let env = Env::in_memory().with_fs(Arc::new(pinning));
    let options = EngineOptions { is_flushed_on_close: false, ..EngineOptions::default() }
        .with_files_mapped(false);
    let timeline = Timeline::open(env, Path::new("/store"), options).unwrap();
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    put(&timeline, "a", "1");
    timeline.checkpoint("one").unwrap();
    let before = state(&timeline);
    for _ in 0..3 {
        let table = timeline.engine().table("t".parse().unwrap());
        let mut scanner = table.scan(&Scan::new()).unwrap();
        assert!(scanner.next_row(&mut hblite_model::RowResult::default()).unwrap());
        change(&timeline);
        timeline.engine().flush("t".parse::<TableName>().unwrap()).unwrap();
        timeline.rewind("one").unwrap();
        assert_eq!(state(&timeline), before);
    }
    drop(timeline);
    assert_eq!(state(&on_disk(&fs)), before);
}

/// What is prepared for the next rewind is out of the way of everything else, and goes with the
/// checkpoint or the store.
#[test]
fn the_next_rewind_is_staged_ahead() {
    let fs = hblite_env::CrashFileSystem::new();
    let timeline = on_disk(&fs);
    let has_staged = |fs: &hblite_env::CrashFileSystem| {
        let names = fs.list_dir(Path::new("/store")).unwrap();
        names.iter().any(|entry| entry.name.ends_with("-rewind.partial"))
    };
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    put(&timeline, "a", "1");
    for name in ["one", "two", "two"] {
        timeline.checkpoint(name).unwrap();
        put(&timeline, "a", name);
    }
    assert!(timeline.staging.is_staged() && has_staged(&fs));
    // Another one than the staged one, then the staged one, at once and after a pause.
    for (name, expected) in [("one", "1"), ("one", "1"), ("two", "two"), ("one", "1")] {
        timeline.rewind(name).unwrap();
        assert_eq!(value(&timeline, "a").as_deref(), Some(expected));
        put(&timeline, "b", "later");
    }
    assert!(timeline.staging.is_staged());
    timeline.rewind("one").unwrap();
    assert_eq!(value(&timeline, "a").as_deref(), Some("1"));
    assert_eq!(value(&timeline, "b"), None);
    assert!(timeline.staging.is_staged());
    // A reader of the directory does not see it twice, and a kill leaves it to the next open.
    let killed = fs.after_kill();
    let read_only = EngineOptions { is_read_only: true, ..EngineOptions::default() };
    let env = Env::in_memory().with_fs(Arc::new(killed.clone()));
    let read = Timeline::open(env, Path::new("/store"), read_only).unwrap();
    assert_eq!(value(&read, "a").as_deref(), Some("1"));
    assert!(
        !read
            .engine()
            .env()
            .fs
            .list_dir(Path::new("/store"))
            .unwrap()
            .iter()
            .any(|entry| { entry.name.ends_with("-rewind.partial") })
    );
    assert!(has_staged(&killed));
    drop(on_disk(&killed));
    assert!(!has_staged(&killed));

    assert!(timeline.delete_checkpoint("two") && has_staged(&fs));
    assert!(timeline.delete_checkpoint("one") && !has_staged(&fs));
    timeline.checkpoint("three").unwrap();
    timeline.close().unwrap();
    assert!(!has_staged(&fs));
}

/// What a rewind finds in the files that it replaces, and hblite did not write, is kept and
/// reported; nothing else is.
#[test]
fn a_file_of_someone_else_is_set_aside_by_a_rewind() {
    let fs = hblite_env::CrashFileSystem::new();
    let timeline = on_disk(&fs);
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    timeline.checkpoint("one").unwrap();
    let foreign =
        ["data/default/t", "data/mine", "data", ".hbase-snapshot/mine", "archive/data/default/t"];
    for (number, dir) in foreign.into_iter().chain(["WALs", "WALs/server"]).enumerate() {
        put(&timeline, "a", "1");
        let foreign = Path::new("/store").join(dir).join("notes.txt");
        fs.create_dir_all(foreign.parent().unwrap()).unwrap();
        fs.create(&foreign).unwrap().write_all(b"mine").unwrap();
        timeline.rewind("one").unwrap();
        assert_eq!(value(&timeline, "a"), None);
        assert!(timeline.staging.is_staged());
        assert!(!fs.exists(&foreign).unwrap());
        let notes = timeline.engine().file_notes();
        assert_eq!(notes.len(), number + 1, "{dir}: {notes:?}");
        assert_eq!(notes[number].path, foreign);
        let place = notes[number].what.strip_prefix("moved to ").unwrap();
        let place = Path::new(place.split_once(": ").unwrap().0);
        assert!(place.ends_with(Path::new(dir).join("notes.txt")), "{}", place.display());
        assert_eq!(fs.read(place).unwrap(), b"mine");
    }
    timeline.rewind("one").unwrap();
    assert!(timeline.staging.is_staged());
    assert_eq!(timeline.engine().file_notes().len(), 7);
    assert!(fs.list_dir(Path::new("/store/.tmp")).unwrap().iter().all(|entry| entry.is_dir));
}

/// What someone else puts into a checkpoint does not get into the store, and stays.
#[test]
fn a_file_of_someone_else_in_a_checkpoint_stays() {
    let fs = hblite_env::CrashFileSystem::new();
    let timeline = on_disk(&fs);
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    timeline.checkpoint("one").unwrap();
    assert!(timeline.staging.is_staged());
    let place = Path::new("/store/.checkpoints");
    let checkpoint = place.join(&fs.list_dir(place).unwrap()[0].name);
    let foreign = ["data/default/t", "WALs"].map(|dir| checkpoint.join(dir).join("notes.txt"));
    for foreign in &foreign {
        fs.create(foreign).unwrap().write_all(b"mine").unwrap();
    }
    for _ in 0..2 {
        put(&timeline, "a", "1");
        timeline.rewind("one").unwrap();
        assert_eq!(value(&timeline, "a"), None);
    }
    assert!(timeline.staging.is_staged() && timeline.engine().file_notes().is_empty());
    for foreign in &foreign {
        assert_eq!(fs.read(foreign).unwrap(), b"mine");
        let below = foreign.strip_prefix(&checkpoint).unwrap();
        assert!(!fs.exists(&Path::new("/store").join(below)).unwrap());
    }
    timeline.delete_checkpoint("one");
    let files = hblite_env::files_below(&fs, Path::new("/store")).unwrap();
    assert_eq!(files.iter().filter(|file| file.ends_with("notes.txt")).count(), 2);
}

/// A file that arrives while a rewind is under way is kept, whatever interrupts it.
#[test]
fn a_file_that_arrives_during_a_rewind_is_set_aside() {
    for dir in ["data/default/t", "WALs", ".hbase-snapshot"] {
        let fs = hblite_env::CrashFileSystem::new();
        let timeline = with_checkpoint(&fs);
        put(&timeline, "a", "2");
        timeline.staging.end();
        let engine = timeline.engine();
        timeline.find("one").unwrap().stage(None).unwrap();
        let foreign = Path::new("/store").join(dir).join("notes.txt");
        fs.create_dir_all(foreign.parent().unwrap()).unwrap();
        fs.create(&foreign).unwrap().write_all(b"mine").unwrap();
        engine.end_without_flush().unwrap();
        rewind::commit(&fs, engine.layout()).unwrap();
        let killed = [fs.after_kill(), {
            // A kill before what was replaced is removed.
            rewind::replace_parts(&fs, engine.layout()).unwrap();
            fs.after_kill()
        }];
        for killed in killed {
            let opened = on_disk(&killed);
            assert_eq!(value(&opened, "a").as_deref(), Some("1"));
            let report = opened.open_report();
            assert_eq!(report.set_aside.len(), 1, "{dir}: {report:?}");
            let files = hblite_env::files_below(&killed, &report.set_aside[0]).unwrap();
            assert_eq!(files, [report.set_aside[0].join(dir).join("notes.txt")]);
            assert_eq!(killed.read(&files[0]).unwrap(), b"mine");
        }
    }
}

/// A kill in the middle of a rewind leaves a store that can be checked, read and backed up as it is
/// after the rewind, before it is opened.
#[test]
fn a_store_whose_rewind_was_cut_off_is_checked_read_and_backed_up() {
    let (mut interrupted, mut operations) = (0, 0);
    loop {
        let fs = hblite_env::CrashFileSystem::new();
        let timeline = with_checkpoint(&fs);
        let before = state(&timeline);
        change(&timeline);
        let after = state(&timeline);
        timeline.staging.end();
        let start = fs.operation_count();
        fs.power_off_after(operations);
        let is_done = timeline.rewind("one").is_ok();
        let has_power = is_done && fs.operation_count() - start < operations;
        let place = format!("killed after {operations} operations");
        let left = fs.after_kill();
        let env = Env::in_memory().with_fs(Arc::new(left.clone()));
        let (dir, to) = (Path::new("/store"), Path::new("/copy"));
        let is_rewinding =
            left.list_dir(dir).unwrap().iter().any(|entry| entry.name.ends_with("-rewind"));
        let changes = left.operation_count();
        let report = crate::check(&env, dir, &mut |_| {}).unwrap();
        assert!(report.defects.is_empty(), "{place}: {:?}", report.defects);
        let is_noted = report.notes.iter().any(|note| note.to_string().contains("rewind"));
        assert_eq!(is_noted, is_rewinding, "{place}: {:?}", report.notes);
        let read_only = EngineOptions { is_read_only: true, ..EngineOptions::default() };
        let read = Timeline::open(env.clone(), dir, read_only).unwrap();
        let now = state(&read);
        assert!(now == after && !is_rewinding || now == before, "{place}: {now:?}");
        assert_eq!(left.operation_count(), changes, "{place}: reading changes nothing");
        crate::backup(&env, dir, to).unwrap_or_else(|error| panic!("{place}: {error}"));
        let options = EngineOptions { is_flushed_on_close: false, ..EngineOptions::default() };
        let copy = Timeline::open(env, to, options).unwrap();
        assert_eq!(state(&copy), now, "{place}: the backup");
        interrupted += usize::from(is_rewinding);
        if has_power {
            break;
        }
        operations += 1;
    }
    assert!(interrupted > 5, "{interrupted} rewinds were interrupted");
}

/// Engines of a checkpoint are made from one that was opened before, without reading files. What
/// they write is a store like any other, even if they are killed.
#[test]
fn what_a_fork_writes_can_be_opened_and_checked() {
    let fs = hblite_env::CrashFileSystem::new();
    for timeline in [open(), on_disk(&fs)] {
        let table: TableName = "t".parse().unwrap();
        create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
        create(&timeline, "off", ColumnFamilyDescriptor::new("f"));
        for row in ["a", "b", "c", "d"] {
            put(&timeline, row, "1");
        }
        timeline.engine().procedures().disable_table(&"off".parse().unwrap()).unwrap();
        timeline.checkpoint("one").unwrap();
        let first = timeline.fork("one").unwrap();
        let fork = timeline.fork("one").unwrap();
        let checkpoint = timeline.find("one").unwrap();
        assert!(checkpoint.has_template(), "the files are read once");
        let ids = |timeline: &Timeline| -> Vec<_> {
            let regions = timeline.engine().online_regions();
            regions.iter().map(|r| (r.info().clone(), r.last_sequence_id())).collect()
        };
        assert_eq!(ids(&first), ids(&fork));
        put(&fork, "a", "2");
        fork.engine().flush(table.clone()).unwrap();
        let region = fork.engine().catalog().region_infos(&table).remove(0);
        fork.engine().procedures().split_region(region.encoded_name(), Some(b"c")).unwrap();
        fork.engine().procedures().enable_table(&"off".parse().unwrap()).unwrap();
        create(&fork, "new", ColumnFamilyDescriptor::new("f"));
        put(&fork, "d", "3");
        put(&fork, "e", "4");
        let left = fork.engine().env().fs.fork().unwrap();
        let env = Env::in_memory().with_fs(left);
        let report = crate::check(&env, fork.dir(), &mut |_| {}).unwrap();
        assert!(report.defects.is_empty(), "{:?}", report.defects);
        let options = EngineOptions { is_flushed_on_close: false, ..EngineOptions::default() };
        let opened = Timeline::open(env, fork.dir(), options).unwrap();
        for (row, expected) in [("a", "2"), ("b", "1"), ("c", "1"), ("d", "3"), ("e", "4")] {
            assert_eq!(value(&fork, row).as_deref(), Some(expected), "{row}");
            assert_eq!(value(&opened, row).as_deref(), Some(expected), "{row}");
        }
        assert_eq!(opened.engine().catalog().region_infos(&table).len(), 2);
        assert!(opened.engine().catalog().table_exists(&"new".parse().unwrap()));
        // The other fork shares files with it, and nothing else.
        assert_eq!(value(&first, "a").as_deref(), Some("1"));
        assert_eq!(value(&first, "e"), None);
        assert_eq!(first.engine().catalog().region_infos(&table).len(), 1);
        timeline.close().unwrap();
    }
}
