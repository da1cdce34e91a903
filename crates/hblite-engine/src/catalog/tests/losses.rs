//! Any files or directories are deleted from a store that has something of everything, or a copy of
//! it is interrupted: an open or a check says what is missing, or all data is there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{CrashFileSystem, FileSystem, Random, SeededRandom, files_below};
use hblite_model::{
    CompactRequest, NamespaceDescriptor, RowResult, Scan, SnapshotOptions, SystemTables,
};

use super::{DIR, env, name, open, picture, put, put_in, table};
use crate::{Engine, check};

/// Random sets of deleted files; `HBLITE_LOSSES` sets another number.
const SETS: usize = 150;

/// Tables, regions, families, a namespace, a snapshot with archived files, a disabled table, halves
/// of a split region, and, if it was killed, writes that are only in the log.
fn store(is_killed: bool) -> (CrashFileSystem, String) {
    let crash = CrashFileSystem::new();
    let fs: Arc<dyn FileSystem> = Arc::new(crash.clone());
    let engine = open(&fs).unwrap();
    let procedures = engine.procedures();
    procedures.create_namespace(&NamespaceDescriptor::new("n1")).unwrap();
    procedures.create_table(&table("t", &["f", "g"]), &[b"m".to_vec()]).unwrap();
    for one in ["n1:u", "off", "half"] {
        procedures.create_table(&table(one, &["f"]), &[]).unwrap();
    }
    for row in ["a", "z"] {
        put(&engine, "t", row).unwrap();
        put_in(&engine, "t", row, "g").unwrap();
        for one in ["n1:u", "off", "half"] {
            put(&engine, one, row).unwrap();
        }
        for one in ["t", "n1:u", "off", "half", "hbase:namespace", "hbase:meta"] {
            engine.flush(name(one)).unwrap();
        }
    }
    procedures.snapshot("s", &name("t"), &SnapshotOptions::default()).unwrap();
    engine.compact(CompactRequest::table(name("t")).major()).unwrap();
    procedures.disable_table(&name("off")).unwrap();
    procedures.split_table(&name("half"), Some(b"m")).unwrap();
    put(&engine, "t", "b").unwrap();
    put(&engine, "n1:u", "late").unwrap();
    let seen = contents(&engine);
    if is_killed {
        engine.abandon();
    } else {
        engine.close().unwrap();
    }
    drop(engine);
    crash.sync_everything();
    (crash, seen)
}

/// Everything that a user sees, settings and cells.
fn contents(engine: &Arc<Engine>) -> String {
    let mut lines = vec![picture(engine)];
    let snapshots = engine.procedures().list_snapshots().unwrap_or_default();
    lines.push(format!("{snapshots:?}"));
    for table in engine.catalog().list_tables(SystemTables::Exclude) {
        let mut row = RowResult::default();
        let Ok(mut scanner) = engine.table(table.name().clone()).scan(&Scan::new()) else {
            continue;
        };
        while scanner.next_row(&mut row).is_ok_and(|is_row| is_row) {
            lines.push(format!("{row:?}"));
        }
    }
    lines.join("\n")
}

fn dirs_below(fs: &dyn FileSystem, dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs.list_dir(dir).unwrap().iter().filter(|entry| entry.is_dir) {
        let path = dir.join(&entry.name);
        dirs_below(fs, &path, found);
        found.push(path);
    }
}

/// Whether a check or an open says that something is missing, or nothing is.
fn is_noticed(left: &CrashFileSystem, seen: &str) -> bool {
    let fs: Arc<dyn FileSystem> = Arc::new(left.clone());
    let checked = check(&env(Arc::clone(&fs)), Path::new(DIR), &mut |_| {});
    if !checked.is_ok_and(|report| report.is_clean()) {
        return true;
    }
    open(&fs).map_or(true, |engine| contents(&engine) == seen)
}

fn below(path: &Path) -> String {
    path.strip_prefix(DIR).unwrap().display().to_string()
}

#[test]
fn whatever_is_deleted_is_named_or_not_needed() {
    for is_killed in [false, true] {
        let (disk, seen) = store(is_killed);
        assert!(is_noticed(&disk.after_kill(), &seen));
        let files = files_below(&disk, Path::new(DIR)).unwrap();
        let mut silent = Vec::new();
        for file in &files {
            let left = disk.after_kill();
            left.remove_file(file).unwrap();
            if !is_noticed(&left, &seen) {
                silent.push(below(file));
            }
        }
        let mut dirs = Vec::new();
        dirs_below(&disk, Path::new(DIR), &mut dirs);
        for dir in &dirs {
            let left = disk.after_kill();
            left.remove_dir_all(dir).unwrap();
            if !is_noticed(&left, &seen) {
                silent.push(below(dir));
            }
        }
        let sets = std::env::var("HBLITE_LOSSES").ok().and_then(|sets| sets.parse().ok());
        let random = SeededRandom::new(41);
        let below_count = |count: usize| random.next_u64() as usize % count;
        for _ in 0..sets.unwrap_or(SETS) {
            let left = disk.after_kill();
            let mut set: Vec<&PathBuf> = Vec::new();
            for _ in 0..2 + below_count(4) {
                let file = &files[below_count(files.len())];
                if !set.contains(&file) {
                    left.remove_file(file).unwrap();
                    set.push(file);
                }
            }
            if !is_noticed(&left, &seen) {
                silent
                    .push(format!("{:?}", set.iter().map(|file| below(file)).collect::<Vec<_>>()));
            }
        }
        assert!(silent.is_empty(), "killed {is_killed}: {silent:#?}");
    }
}

/// In two orders: that of the names, and the root's own files first.
#[test]
fn an_interrupted_copy_is_noticed_after_each_file() {
    for is_killed in [false, true] {
        let (disk, seen) = store(is_killed);
        let mut files = files_below(&disk, Path::new(DIR)).unwrap();
        let mut silent = Vec::new();
        for _ in 0..2 {
            let copy = CrashFileSystem::new();
            for (index, file) in files.iter().enumerate() {
                copy.create_dir_all(file.parent().unwrap()).unwrap();
                copy.write_atomically(file, &disk.read(file).unwrap()).unwrap();
                // Without these, an open takes what is there for a new store, or refuses it.
                let is_store = copy.exists(&Path::new(DIR).join("hblite.store")).unwrap();
                if is_store && !is_noticed(&copy.after_kill(), &seen) {
                    silent.push(format!("{} of {}: {}", index + 1, files.len(), below(file)));
                }
            }
            files.sort_by_key(|file| (file.components().count() > 3, file.clone()));
        }
        assert!(silent.is_empty(), "killed {is_killed}: {silent:#?}");
    }
}
