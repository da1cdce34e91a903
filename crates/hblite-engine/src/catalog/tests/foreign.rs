//! Files of others in a store's directories, while procedures are cut off.
//!
//! Each test prepares a store and puts a file of its own into every directory of its tables and
//! snapshots. Then a procedure is cut off after the 1st, 2nd, 3rd, … operation on the disk, and the
//! store is opened on what a kill and power cuts leave. The open must succeed, the procedure must
//! be done or not, and every file of others must be in its place, or set aside in a directory
//! that the open report names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{CrashFileSystem, FileSystem};
use hblite_model::{
    CompactRequest, FailSafeSnapshot, MergeKind, NamespaceDescriptor, Result, SnapshotOptions,
    SplitPoints,
};

use super::{DIR, name, open, picture, prepared, put, table};
use crate::Engine;

const SEEDS: u64 = 2;

/// Calls `visit` with each directory below `dir`, and each file.
fn walk(fs: &dyn FileSystem, dir: &Path, visit: &mut dyn FnMut(&Path, bool)) {
    for entry in fs.list_dir(dir).unwrap() {
        let path = dir.join(&entry.name);
        visit(&path, entry.is_dir);
        if entry.is_dir {
            walk(fs, &path, visit);
        }
    }
}

/// Puts a file into every directory of user tables and snapshots. Returns the places, by content.
fn plant(fs: &CrashFileSystem) -> BTreeMap<Vec<u8>, PathBuf> {
    let places = [Path::new(DIR).join("data/default"), Path::new(DIR).join(".hbase-snapshot")];
    let mut dirs = Vec::new();
    for place in places.iter().filter(|place| fs.exists(place).unwrap()) {
        dirs.push(place.clone());
        walk(fs, place, &mut |path, is_dir| dirs.extend(is_dir.then(|| path.to_path_buf())));
    }
    let mut planted = BTreeMap::new();
    for dir in dirs {
        let path = dir.join("notes.txt");
        let content = format!("mine, from {}", dir.display()).into_bytes();
        fs.write_atomically(&path, &content).unwrap();
        planted.insert(content, path);
    }
    fs.sync_everything();
    planted
}

/// Where the files of others are now.
fn find(fs: &CrashFileSystem) -> BTreeMap<Vec<u8>, Vec<PathBuf>> {
    let mut found: BTreeMap<Vec<u8>, Vec<PathBuf>> = BTreeMap::new();
    walk(fs, Path::new(DIR), &mut |path, is_dir| {
        if !is_dir && path.ends_with("notes.txt") {
            found.entry(fs.read(path).unwrap()).or_default().push(path.to_path_buf());
        }
    });
    found
}

/// Fails if a file is lost, or is where no report says.
fn verify(
    fs: &CrashFileSystem,
    engine: &Engine,
    planted: &BTreeMap<Vec<u8>, PathBuf>,
    place: &str,
) {
    let found = find(fs);
    let report = engine.catalog().open_report();
    for (content, path) in planted {
        let now = found.get(content).unwrap_or_else(|| panic!("{place}: lost {}", path.display()));
        let is_reported = |now: &PathBuf| {
            report
                .moved
                .iter()
                .map(|moved| &moved.to)
                .chain(&report.set_aside)
                .any(|dir| now.starts_with(dir))
        };
        let is_known = now.iter().any(|now| now == path || is_reported(now));
        assert!(is_known, "{place}: {} is in {now:?}, says nobody: {report:?}", path.display());
    }
}

/// `does_change` says whether users see something of the procedure.
fn check(
    prepare: impl Fn(&Arc<Engine>),
    procedure: impl Fn(&Arc<Engine>) -> Result<()>,
    does_change: bool,
) {
    let prepared = || {
        let (fs, engine) = prepared(CrashFileSystem::new(), &prepare);
        let planted = plant(&fs);
        (fs, engine, planted)
    };
    let (fs, engine, planted) = prepared();
    let before = picture(&engine);
    procedure(&engine).unwrap();
    let after = picture(&engine);
    assert_eq!(before != after, does_change);
    let moved = find(&fs);
    assert_eq!(moved.len(), planted.len());
    let notes = engine.file_notes();
    for (content, path) in planted.iter().filter(|(_, path)| !fs.exists(path).unwrap()) {
        let now = &moved[content][0];
        let is_noted = notes.iter().any(|note| path.starts_with(&note.path));
        assert!(is_noted, "{} is in {}: {notes:?}", path.display(), now.display());
    }
    engine.abandon();

    for operations in 0.. {
        let (fs, engine, planted) = prepared();
        let start = fs.operation_count();
        fs.power_off_after(operations);
        let is_done = procedure(&engine).is_ok();
        let has_power = is_done && fs.operation_count() - start < operations;
        engine.abandon();
        let left =
            std::iter::once(fs.after_kill()).chain((0..SEEDS).map(|seed| fs.after_power_cut(seed)));
        for (index, left) in left.enumerate() {
            let place = format!("cut after {operations} operations, remains {index}");
            let shared: Arc<dyn FileSystem> = Arc::new(left.clone());
            for round in ["opened", "opened again"] {
                let engine = open(&shared).unwrap_or_else(|error| panic!("{place}: {error}"));
                verify(&left, &engine, &planted, &format!("{place}, {round}"));
                let now = picture(&engine);
                let is_expected = now == after || (now == before && !is_done);
                assert!(is_expected, "{place}, {round}: {now}");
                engine.abandon();
            }
        }
        if has_power {
            return;
        }
    }
}

fn with_table(engine: &Arc<Engine>) {
    engine.procedures().create_table(&table("t", &["f", "g"]), &[b"m".to_vec()]).unwrap();
    for row in ["a", "n"] {
        put(engine, "t", row).unwrap();
    }
    engine.flush(name("t")).unwrap();
    for row in ["b", "z"] {
        put(engine, "t", row).unwrap();
    }
    // A durable write makes all that is before it in the log durable too.
    engine.procedures().create_namespace(&NamespaceDescriptor::new("sync")).unwrap();
}

fn with_disabled_table(engine: &Arc<Engine>) {
    with_table(engine);
    engine.procedures().disable_table(&name("t")).unwrap();
}

fn with_snapshot(engine: &Arc<Engine>) {
    with_table(engine);
    engine.procedures().snapshot("s", &name("t"), &SnapshotOptions::default()).unwrap();
    put(engine, "t", "c").unwrap();
    engine.procedures().disable_table(&name("t")).unwrap();
}

#[test]
fn drop_table() {
    check(with_disabled_table, |engine| engine.procedures().drop_table(&name("t")), true);
}

#[test]
fn create_again() {
    let prepare = |engine: &Arc<Engine>| {
        with_disabled_table(engine);
        engine.procedures().drop_table(&name("t")).unwrap();
        // The directory is there again, with what someone puts into it.
        let dir = Path::new(DIR).join("data/default/t/sub");
        engine.env().fs.create_dir_all(&dir).unwrap();
    };
    check(prepare, |engine| engine.procedures().create_table(&table("t", &["f"]), &[]), true);
}

#[test]
fn truncate_without_boundaries() {
    check(
        with_disabled_table,
        |engine| engine.procedures().truncate_table(&name("t"), SplitPoints::Discard),
        true,
    );
}

#[test]
fn truncate_with_boundaries() {
    check(
        with_disabled_table,
        |engine| engine.procedures().truncate_table(&name("t"), SplitPoints::Preserve),
        true,
    );
}

#[test]
fn truncate_region() {
    let truncate = |engine: &Arc<Engine>| {
        let infos = engine.catalog().region_infos(&name("t"));
        engine.procedures().truncate_region(infos[0].encoded_name())
    };
    check(with_table, truncate, true);
}

#[test]
fn delete_family() {
    let other = |engine: &Arc<Engine>| engine.procedures().delete_family(&name("t"), b"g");
    check(with_table, other, true);
}

#[test]
fn split() {
    let split = |engine: &Arc<Engine>| engine.procedures().split_table(&name("t"), Some(b"b"));
    check(with_table, split, true);
}

#[test]
fn merge() {
    let merge = |engine: &Arc<Engine>| {
        let infos = engine.catalog().region_infos(&name("t"));
        let names: Vec<&str> = infos.iter().map(|info| info.encoded_name()).collect();
        engine.procedures().merge_regions(&names, MergeKind::Adjacent)
    };
    check(with_table, merge, true);
}

/// Compactions remove the files that they replace, and parents that nothing refers to.
#[test]
fn compaction_and_parents() {
    let prepare = |engine: &Arc<Engine>| {
        with_table(engine);
        engine.procedures().split_table(&name("t"), Some(b"b")).unwrap();
    };
    let compact = |engine: &Arc<Engine>| {
        engine.compact(CompactRequest::table(name("t")).major())?;
        engine.procedures().clean_parents().map(drop)
    };
    check(prepare, compact, false);
}

#[test]
fn delete_snapshot() {
    check(with_snapshot, |engine| engine.procedures().delete_snapshot("s"), false);
}

#[test]
fn restore_snapshot() {
    for fail_safe in [FailSafeSnapshot::Skip, FailSafeSnapshot::Take] {
        let restore = |engine: &Arc<Engine>| engine.procedures().restore_snapshot("s", fail_safe);
        check(with_snapshot, restore, false);
    }
}

#[test]
fn clone_of_a_snapshot() {
    let clone = |engine: &Arc<Engine>| engine.procedures().clone_snapshot("s", &name("c"), &Ok);
    check(with_snapshot, clone, true);
}

#[test]
fn snapshot_of_a_table() {
    let take = |engine: &Arc<Engine>| {
        engine.procedures().snapshot("s", &name("t"), &SnapshotOptions::default())
    };
    check(with_table, take, false);
}
