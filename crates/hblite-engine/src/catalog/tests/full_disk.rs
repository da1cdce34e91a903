//! A store whose process was killed on a full disk opens, and loses nothing.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{FaultFileSystem, FileSystem, MemFileSystem};
use hblite_model::{Put, Result, TableName};

use super::{DIR, env, name, options, rows, table};
use crate::{Engine, EngineOptions};

const FLUSH_SIZE_BYTES: usize = 64 << 10;

fn open(fs: &FaultFileSystem, memstore_flush_size_bytes: usize) -> Result<Arc<Engine>> {
    let options = EngineOptions { memstore_flush_size_bytes, ..options() };
    Engine::open(env(Arc::new(fs.clone()) as Arc<dyn FileSystem>), Path::new(DIR), options)
}

/// Writes rows of a kilobyte each until the disk is full; returns how many.
fn fill(engine: &Arc<Engine>, table: &TableName) -> usize {
    let put = |row: usize| Put::new(format!("{row:06}")).add("f", "q", vec![b'v'; 1_000]);
    let write = |row: &usize| engine.table(table.clone()).mutate(put(*row).as_mutation()).is_ok();
    (0..100_000).take_while(write).count()
}

#[test]
fn a_store_that_was_killed_on_a_full_disk_opens_and_has_everything() {
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    let engine = open(&fs, 128 << 20).unwrap();
    engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
    fs.limit_space(1 << 20);
    let written = fill(&engine, &name("t"));
    assert!(written * 1_000 > 4 * FLUSH_SIZE_BYTES, "{written}");
    engine.abandon();
    drop(engine);
    for is_full in [true, true, false] {
        if !is_full {
            fs.heal();
        }
        let engine = open(&fs, FLUSH_SIZE_BYTES).unwrap();
        assert_eq!(rows(&engine, "t").unwrap().len(), written, "{is_full}");
        if is_full {
            engine.abandon();
        } else {
            engine.flush(name("t")).unwrap();
            engine.close().unwrap();
        }
    }
    assert_eq!(rows(&open(&fs, FLUSH_SIZE_BYTES).unwrap(), "t").unwrap().len(), written);
}

/// How many bytes all files of the store have.
fn bytes_in(fs: &dyn FileSystem, dir: &Path) -> u64 {
    let entries = fs.list_dir(dir).unwrap();
    let size = |entry: &hblite_env::DirEntry| {
        let path = dir.join(&entry.name);
        if entry.is_dir { bytes_in(fs, &path) } else { fs.file_length(&path).unwrap() }
    };
    entries.iter().map(size).sum()
}

fn drop_table(engine: &Arc<Engine>, table: &str) {
    engine.procedures().disable_table(&name(table)).unwrap();
    engine.procedures().drop_table(&name(table)).unwrap();
}

/// A store with a table of which 2 MiB are in the log only, and another one, on a disk that has
/// this much space left.
fn full_store(fs: &FaultFileSystem, space: u64) -> (Arc<Engine>, usize) {
    let engine = open(fs, 128 << 20).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    engine.procedures().create_table(&table("kept", &["f"]), &[]).unwrap();
    let put = Put::new("row").add("f", "q", "v");
    engine.table(name("kept")).mutate(put.as_mutation()).unwrap();
    fs.limit_space(2 << 20);
    let written = fill(&engine, &name("t"));
    fs.limit_space(space);
    (engine, written)
}

#[test]
fn a_table_is_dropped_on_a_full_disk_and_its_space_is_free() {
    let cases = [0, 500, 1_500, 3_000, 6_000].map(|space| [(space, false), (space, true)]);
    for (space, is_killed) in cases.into_iter().flatten() {
        let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
        let (mut engine, _) = full_store(&fs, space);
        if is_killed {
            engine.abandon();
            drop(engine);
            engine = open(&fs, FLUSH_SIZE_BYTES).unwrap();
        }
        let before = bytes_in(&fs, Path::new(DIR));
        drop_table(&engine, "t");
        let after = bytes_in(&fs, Path::new(DIR));
        assert!(after + (1 << 20) < before, "{space}, {is_killed}: {before} to {after}");
        // Writes continue in what was freed.
        let put = Put::new("row2").add("f", "q", "v");
        engine.table(name("kept")).mutate(put.as_mutation()).unwrap();
        engine.close().unwrap();
        let engine = open(&fs, FLUSH_SIZE_BYTES).unwrap();
        assert!(!engine.catalog().table_exists(&name("t")));
        assert_eq!(rows(&engine, "kept").unwrap().len(), 2);
    }
}

#[test]
fn a_table_is_truncated_on_a_full_disk() {
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    let (engine, _) = full_store(&fs, 0);
    engine.procedures().disable_table(&name("t")).unwrap();
    engine.procedures().truncate_table(&name("t"), hblite_model::SplitPoints::Discard).unwrap();
    assert_eq!(rows(&engine, "t").unwrap().len(), 0);
    engine.abandon();
    drop(engine);
    let engine = open(&fs, FLUSH_SIZE_BYTES).unwrap();
    assert_eq!(rows(&engine, "t").unwrap().len(), 0);
    assert_eq!(rows(&engine, "kept").unwrap().len(), 1);
}

/// Disabled without a flush, whatever happens then.
#[test]
fn a_table_that_was_disabled_on_a_full_disk_keeps_its_rows() {
    for (is_killed, is_healed_first) in [(false, true), (true, true), (true, false)] {
        let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
        let (mut engine, written) = full_store(&fs, 0);
        engine.procedures().disable_table(&name("t")).unwrap();
        // Clients' writes do not use what was kept for this.
        let put = Put::new("row2").add("f", "q", "v");
        let refused = engine.table(name("kept")).mutate(put.as_mutation()).unwrap_err();
        assert_eq!(refused.kind(), hblite_model::ErrorKind::Busy, "{refused}");
        assert!(engine.procedures().enable_table(&name("t")).is_err(), "no space");
        if is_killed {
            engine.abandon();
            drop(engine);
            if is_healed_first {
                fs.heal();
            }
            engine = open(&fs, FLUSH_SIZE_BYTES).unwrap();
        }
        fs.heal();
        assert!(rows(&engine, "t").is_err(), "disabled");
        engine.close().unwrap();
        drop(engine);
        let engine = open(&fs, FLUSH_SIZE_BYTES).unwrap();
        assert!(rows(&engine, "t").is_err(), "disabled");
        engine.procedures().enable_table(&name("t")).unwrap();
        assert_eq!(rows(&engine, "t").unwrap().len(), written);
    }
}

/// The same, in one process.
#[test]
fn a_table_that_was_disabled_on_a_full_disk_is_enabled_when_there_is_space() {
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    let (engine, written) = full_store(&fs, 0);
    engine.procedures().disable_table(&name("t")).unwrap();
    fs.heal();
    hblite_env::thread::sleep(std::time::Duration::from_millis(1_100));
    engine.procedures().enable_table(&name("t")).unwrap();
    assert_eq!(rows(&engine, "t").unwrap().len(), written);
    let put = Put::new("row2").add("f", "q", "v");
    engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    engine.close().unwrap();
}
