//! hbase:meta lost, in whole or in part: an open refuses and changes nothing, and salvage brings
//! every acknowledged write back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{CrashFileSystem, FileSystem};
use hblite_model::{CompactRequest, ErrorKind, NamespaceDescriptor, Result};

use super::{DIR, env, name, open, options, put, rows, table};
use crate::{Engine, EngineOptions, check};

fn salvage(fs: &Arc<dyn FileSystem>) -> Result<Arc<Engine>> {
    let options = EngineOptions { salvage: true, ..options() };
    Engine::open(env(Arc::clone(fs)), Path::new(DIR), options)
}

fn contents(fs: &dyn FileSystem, dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs.list_dir(dir).unwrap() {
        let path = dir.join(&entry.name);
        if entry.is_dir {
            found.extend(contents(fs, &path));
            found.insert(path, Vec::new());
        } else if entry.name != "LOCK" {
            let content = fs.read(&path).unwrap();
            found.insert(path, content);
        }
    }
    found
}

/// Two tables with rows in files and in the log, ended by a close or a kill.
fn store(is_killed: bool) -> CrashFileSystem {
    let fs = CrashFileSystem::new();
    let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
    let engine = open(&shared).unwrap();
    engine.procedures().create_namespace(&NamespaceDescriptor::new("ns")).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[b"m".to_vec()]).unwrap();
    engine.procedures().create_table(&table("ns:u", &["f"]), &[]).unwrap();
    put(&engine, "t", "a").unwrap();
    engine.flush(name("t")).unwrap();
    put(&engine, "t", "z").unwrap();
    put(&engine, "ns:u", "r").unwrap();
    if is_killed {
        engine.flush(name("hbase:meta")).unwrap();
        put(&engine, "t", "late").unwrap();
        engine.abandon();
    } else {
        engine.close().unwrap();
    }
    drop(engine);
    fs.sync_everything();
    fs
}

fn remove(fs: &dyn FileSystem, path: &str) {
    fs.remove_dir_all(&Path::new(DIR).join(path)).unwrap();
}

#[test]
fn a_lost_catalog_is_refused_untouched_and_salvaged() {
    for is_killed in [false, true] {
        for lost in ["data/hbase/meta/1588230740/info", "data/hbase/meta", "data/hbase"] {
            let fs: Arc<dyn FileSystem> = Arc::new(store(is_killed));
            remove(fs.as_ref(), lost);
            let before = contents(fs.as_ref(), Path::new(DIR));
            let error = open(&fs).map(drop).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{lost}: {error}");
            assert!(error.message().contains("--salvage"), "{lost}: {error}");
            assert!(contents(fs.as_ref(), Path::new(DIR)) == before, "{lost}: changed");
            let report = check(&env(Arc::clone(&fs)), Path::new(DIR), &mut |_| {});
            assert!(!report.unwrap().is_clean(), "{lost}");
            let engine = salvage(&fs).unwrap();
            let expected = if is_killed { &["a", "late", "z"][..] } else { &["a", "z"] };
            assert_eq!(rows(&engine, "t").unwrap(), expected, "{lost}");
            assert_eq!(rows(&engine, "ns:u").unwrap(), ["r"], "{lost}");
            let rebuilt = engine.catalog().open_report().rebuilt.as_ref().unwrap();
            assert_eq!(rebuilt.ambiguities, [""; 0], "{lost}");
            // After the kill the log still has the rows.
            if !is_killed {
                assert_eq!(rebuilt.tables, [name("t"), name("ns:u")], "{lost}");
                assert_eq!(rebuilt.regions, 3, "{lost}");
            }
            engine.close().unwrap();
            drop(engine);
            let engine = open(&fs).unwrap();
            assert_eq!(rows(&engine, "t").unwrap(), expected, "{lost}");
            assert_eq!(engine.catalog().open_report(), &Default::default());
        }
    }
}

/// Tables that were dropped, or left half-created by a kill, are not a sign of a loss.
#[test]
fn an_empty_catalog_of_a_store_without_tables_opens() {
    let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
    for round in 0..3 {
        let engine = open(&fs).unwrap();
        engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
        put(&engine, "t", "a").unwrap();
        engine.flush(name("t")).unwrap();
        engine.procedures().disable_table(&name("t")).unwrap();
        engine.procedures().drop_table(&name("t")).unwrap();
        if round == 1 { engine.abandon() } else { engine.close().unwrap() }
    }
    assert_eq!(open(&fs).unwrap().catalog().open_report(), &Default::default());
}

#[test]
fn a_salvage_that_is_cut_off_can_be_repeated() {
    for operations in 0.. {
        let fs = store(true);
        remove(&fs, "data/hbase/meta");
        fs.sync_everything();
        let start = fs.operation_count();
        fs.power_off_after(operations);
        let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
        let opened = salvage(&shared);
        let has_power = opened.is_ok() && fs.operation_count() - start < operations;
        if let Ok(engine) = &opened {
            engine.abandon();
        }
        drop(opened);
        for left in [fs.after_kill(), fs.after_power_cut(0), fs.after_power_cut(1)] {
            let left: Arc<dyn FileSystem> = Arc::new(left);
            let engine = salvage(&left).unwrap_or_else(|error| panic!("{operations}: {error}"));
            assert_eq!(rows(&engine, "t").unwrap(), ["a", "late", "z"], "{operations}");
            assert_eq!(rows(&engine, "ns:u").unwrap(), ["r"], "{operations}");
        }
        if has_power {
            return;
        }
    }
}

#[test]
fn a_log_of_hbase_is_refused_untouched() {
    let fs: Arc<dyn FileSystem> = Arc::new(store(false));
    let log = Path::new(DIR).join("WALs/localhost,40000,1795361306495");
    fs.create_dir_all(&log).unwrap();
    // A server that was stopped leaves this.
    open(&fs).unwrap().close().unwrap();
    fs.create(&log.join("localhost%2C40000%2C1795361306495.1795361313223")).unwrap();
    let before = contents(fs.as_ref(), Path::new(DIR));
    for opened in [open(&fs), salvage(&fs)] {
        let error = opened.map(drop).unwrap_err();
        assert!(error.message().contains("1795361306495 holds the log of"), "{error}");
        assert!(contents(fs.as_ref(), Path::new(DIR)) == before);
    }
}

/// The log still had writes to a dropped table, and a major compaction had dropped everything that
/// hbase:meta knew about it: the store looked as if rows of hbase:meta were lost, and did not open.
#[test]
fn a_dropped_table_in_the_log_is_no_loss_after_a_compaction_of_hbase_meta() {
    let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    put(&engine, "t", "a").unwrap();
    engine.procedures().disable_table(&name("t")).unwrap();
    engine.procedures().drop_table(&name("t")).unwrap();
    let meta = name("hbase:meta");
    engine.flush(&meta).unwrap();
    engine.compact(CompactRequest::table(&meta).major()).unwrap();
    engine.abandon();
    drop(engine);
    open(&fs).unwrap().close().unwrap();
}

/// What a catalog can lose: its files, their content, and directories.
const LOSSES: [&str; 4] = ["files", "contents", "data/hbase/meta", "data/hbase"];

fn lose(fs: &dyn FileSystem, what: &str) {
    if what.starts_with("data") {
        return remove(fs, what);
    }
    let dir = Path::new(DIR).join("data/hbase/meta/1588230740");
    for family in ["info", "table", "ns", "rep_barrier"] {
        let dir = dir.join(family);
        for entry in fs.list_dir(&dir).unwrap_or_default() {
            let path = dir.join(entry.name);
            fs.remove_file(&path).unwrap();
            if what == "contents" {
                fs.create(&path).unwrap();
            }
        }
    }
}

fn encoded(engine: &Engine, start: &str) -> String {
    let regions = engine.catalog().region_infos(&name("t"));
    let region = regions.iter().find(|info| info.start_key() == start.as_bytes()).unwrap();
    region.encoded_name().to_owned()
}

/// Rows of table `t`, written one by one, every third of them flushed.
const ROWS: [&str; 9] = ["a", "c", "e", "g", "i", "k", "m", "o", "q"];

fn fill(engine: &Arc<Engine>, split_at: &[&str]) {
    let splits: Vec<Vec<u8>> = split_at.iter().map(|key| key.as_bytes().to_vec()).collect();
    engine.procedures().create_table(&table("t", &["f"]), &splits).unwrap();
    for (index, row) in ROWS.iter().enumerate() {
        put(engine, "t", row).unwrap();
        if index % 3 == 2 {
            engine.flush(name("t")).unwrap();
        }
    }
}

fn split(engine: &Arc<Engine>) {
    fill(engine, &[]);
    engine.procedures().split_table(&name("t"), Some(b"h")).unwrap();
    put(engine, "t", "late").unwrap();
}

fn split_twice_and_compacted_in_part(engine: &Arc<Engine>) {
    split(engine);
    let low = encoded(engine, "");
    engine.compact(CompactRequest::region(&low).major()).unwrap();
    engine.procedures().split_region(&low, Some(b"d")).unwrap();
}

fn merged(engine: &Arc<Engine>) {
    fill(engine, &["d", "j"]);
    let (first, second) = (encoded(engine, ""), encoded(engine, "d"));
    engine
        .procedures()
        .merge_regions(&[&first, &second], hblite_model::MergeKind::Adjacent)
        .unwrap();
    put(engine, "t", "late").unwrap();
}

fn split_and_merged(engine: &Arc<Engine>) {
    split(engine);
    engine.compact(CompactRequest::table(name("t")).major()).unwrap();
    let (low, high) = (encoded(engine, ""), encoded(engine, "h"));
    engine.procedures().merge_regions(&[&low, &high], hblite_model::MergeKind::Adjacent).unwrap();
}

/// Opens a store that has lost its catalog: first refused, then salvaged with every row.
fn assert_salvaged(fs: &Arc<dyn FileSystem>, expected: &[&str], context: &str) {
    let before = contents(fs.as_ref(), Path::new(DIR));
    let error = open(fs).map(drop).expect_err(context);
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{context}: {error}");
    assert!(contents(fs.as_ref(), Path::new(DIR)) == before, "{context}: changed");
    let engine = salvage(fs).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(rows(&engine, "t").unwrap(), expected, "{context}");
    engine.close().unwrap();
    drop(engine);
    let engine = open(fs).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(rows(&engine, "t").unwrap(), expected, "{context}: again");
    engine.compact(CompactRequest::table(name("t")).major()).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), expected, "{context}: compacted");
    engine.close().unwrap();
    drop(engine);
    let report = check(&env(Arc::clone(fs)), Path::new(DIR), &mut |_| {}).unwrap();
    assert!(report.is_clean(), "{context}: {:?}", report.defects);
}

#[test]
fn a_lost_catalog_is_salvaged_after_splits_and_merges() {
    type Prepare = fn(&Arc<Engine>);
    let preparations: [(&str, Prepare); 4] = [
        ("split", split),
        ("split twice", split_twice_and_compacted_in_part),
        ("merged", merged),
        ("split and merged", split_and_merged),
    ];
    for (what, prepare) in preparations {
        for is_killed in [false, true] {
            for lost in LOSSES {
                let context = format!("{what}, killed {is_killed}, lost {lost}");
                let (fs, engine) = super::prepared(CrashFileSystem::new(), prepare);
                engine.flush(name("hbase:meta")).unwrap();
                if is_killed {
                    engine.abandon();
                } else {
                    engine.close().unwrap();
                }
                drop(engine);
                let mut expected = ROWS.to_vec();
                expected.push("late");
                expected.sort_unstable();
                lose(&fs, lost);
                assert_salvaged(&(Arc::new(fs) as Arc<dyn FileSystem>), &expected, &context);
            }
        }
    }
}

/// A kill interrupts a split at any operation, and then the catalog is lost.
#[test]
fn a_lost_catalog_is_salvaged_after_half_a_split() {
    for operations in 0.. {
        let (fs, engine) = super::prepared(CrashFileSystem::new(), |engine| fill(engine, &[]));
        engine.flush(name("hbase:meta")).unwrap();
        fs.power_off_after(operations);
        let is_done = engine.procedures().split_table(&name("t"), Some(b"h")).is_ok();
        engine.abandon();
        drop(engine);
        let fs = fs.after_kill();
        lose(&fs, LOSSES[operations as usize % LOSSES.len()]);
        let context = format!("cut after {operations}");
        assert_salvaged(&(Arc::new(fs) as Arc<dyn FileSystem>), &ROWS, &context);
        if is_done {
            assert!(operations > 10, "a split does something: {operations}");
            return;
        }
    }
}

/// A region whose directory is missing is not opened as an empty one.
#[test]
fn a_region_without_a_directory_is_refused_and_salvaged_empty() {
    for is_disabled in [false, true] {
        let (fs, engine) = super::prepared(CrashFileSystem::new(), |engine| fill(engine, &["j"]));
        let low = encoded(&engine, "");
        if is_disabled {
            engine.procedures().disable_table(&name("t")).unwrap();
        }
        engine.close().unwrap();
        drop(engine);
        let dir = Path::new(DIR).join("data/default/t").join(&low);
        fs.remove_dir_all(&dir).unwrap();
        let fs: Arc<dyn FileSystem> = Arc::new(fs);
        let before = contents(fs.as_ref(), &Path::new(DIR).join("data/default"));
        let error = open(&fs).map(drop).unwrap_err();
        assert_eq!((error.kind(), error.file()), (ErrorKind::Corrupt, Some(dir.as_path())));
        let message = error.message();
        assert!(message.contains(&low) && message.contains("salvage"), "{message}");
        assert!(contents(fs.as_ref(), &Path::new(DIR).join("data/default")) == before);
        let engine = salvage(&fs).unwrap();
        let notes = engine.file_notes();
        let paths: Vec<_> = notes.iter().map(|note| note.path.as_path()).collect();
        assert_eq!(paths, [dir.as_path(), &dir.join(".manifest")]);
        if is_disabled {
            engine.procedures().enable_table(&name("t")).unwrap();
        }
        assert_eq!(rows(&engine, "t").unwrap(), ["k", "m", "o", "q"]);
        engine.close().unwrap();
        drop(engine);
        assert_eq!(rows(&open(&fs).unwrap(), "t").unwrap(), ["k", "m", "o", "q"]);
    }
}

/// Regions that never had a file have a directory, whatever a power cut takes.
#[test]
fn a_power_cut_leaves_the_directories_of_new_regions() {
    for seed in 0..20 {
        let (fs, engine) = super::prepared(CrashFileSystem::new(), |engine| {
            engine
                .procedures()
                .create_table(&table("t", &["f"]), &[b"d".to_vec(), b"j".to_vec()])
                .unwrap();
            let (first, second) = (encoded(engine, ""), encoded(engine, "d"));
            engine.procedures().split_table(&name("t"), Some(b"x")).unwrap();
            engine
                .procedures()
                .merge_regions(&[&first, &second], hblite_model::MergeKind::Adjacent)
                .unwrap();
        });
        let starts = super::starts(&engine, "t");
        engine.abandon();
        drop(engine);
        let fs: Arc<dyn FileSystem> = Arc::new(fs.after_power_cut(seed));
        let engine = open(&fs).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(super::starts(&engine, "t"), starts, "seed {seed}");
    }
}
