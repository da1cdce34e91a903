//! Files that are lost together with the list that names them: an open refuses by name, a check
//! finds it, and a salvage continues.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{CrashFileSystem, FileSystem, files_below};
use hblite_model::filter::Filter;
use hblite_model::{
    Delete, ErrorKind, Get, NamespaceDescriptor, RegionInfo, Result, Scan, SnapshotOptions,
    TableName,
};

use super::{DIR, env, name, open, options, put, rows, table};
use crate::catalog::meta::{self, ServerName};
use crate::catalog::survey::CatalogSurvey;
use crate::layout::Layout;
use crate::{Engine, EngineOptions, check};

fn salvage(fs: &Arc<dyn FileSystem>) -> Result<Arc<Engine>> {
    let options = EngineOptions { salvage: true, ..options() };
    Engine::open(env(Arc::clone(fs)), Path::new(DIR), options)
}

/// What an open and a check say to a store after `damage`; it is made by `make`, and closed or
/// killed.
#[track_caller]
fn assert_noticed(
    make: impl Fn(&Arc<Engine>),
    damage: impl Fn(&Arc<dyn FileSystem>),
    named: &str,
    salvaged: impl Fn(&Arc<Engine>),
) {
    for is_killed in [false, true] {
        let crash = CrashFileSystem::new();
        let fs: Arc<dyn FileSystem> = Arc::new(crash.clone());
        let engine = open(&fs).unwrap();
        make(&engine);
        if is_killed {
            engine.abandon();
        } else {
            engine.close().unwrap();
        }
        drop(engine);
        crash.sync_everything();
        damage(&fs);
        let error = open(&fs).map(drop).expect_err(named);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(named), "{is_killed}: {error}");
        assert!(error.message().contains("--salvage"), "{error}");
        let report = check(&env(Arc::clone(&fs)), Path::new(DIR), &mut |_| {}).unwrap();
        let said = format!("{:?}", report.defects);
        assert!(said.contains(named), "{is_killed}: {report:?}");
        let engine = salvage(&fs).unwrap();
        salvaged(&engine);
        engine.close().unwrap();
        drop(engine);
        let engine = open(&fs).unwrap();
        salvaged(&engine);
        engine.close().unwrap();
        let report = check(&env(Arc::clone(&fs)), Path::new(DIR), &mut |_| {}).unwrap();
        assert!(report.is_clean(), "{report:?}");
    }
}

fn region_dir(engine: &Arc<Engine>, table: &str) -> PathBuf {
    let info: RegionInfo = engine.catalog().region_infos(&name(table)).remove(0);
    Layout::new(Path::new(DIR)).region_dir(&info)
}

/// The directory of the only region of a table.
fn dir_of(fs: &Arc<dyn FileSystem>, table: &str) -> PathBuf {
    let dir = Path::new(DIR).join("data").join(table);
    let entries = fs.list_dir(&dir).unwrap();
    let region = entries.iter().find(|entry| !entry.name.starts_with('.')).unwrap();
    dir.join(&region.name)
}

fn with_two_files(engine: &Arc<Engine>) {
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    for row in ["a", "b"] {
        put(engine, "t", row).unwrap();
        engine.flush(name("t")).unwrap();
    }
}

fn remove_all(fs: &Arc<dyn FileSystem>, dir: &Path) {
    for file in files_below(fs.as_ref(), dir).unwrap() {
        fs.remove_file(&file).unwrap();
    }
}

#[test]
fn a_region_that_lost_its_manifest_and_its_files_is_refused() {
    let all = |fs: &Arc<dyn FileSystem>| {
        let dir = dir_of(fs, "default/t");
        fs.remove_file(&dir.join(".manifest")).unwrap();
        remove_all(fs, &dir.join("f"));
    };
    // The log of a store that was killed may still have rows.
    assert_noticed(with_two_files, all, ".manifest", |engine| {
        let found = rows(engine, "t").unwrap();
        assert!(found.is_empty() || found == ["a", "b"], "{found:?}");
    });
    let one = |fs: &Arc<dyn FileSystem>| {
        let dir = dir_of(fs, "default/t");
        fs.remove_file(&dir.join(".manifest")).unwrap();
        let file = files_below(fs.as_ref(), &dir.join("f")).unwrap().remove(0);
        fs.remove_file(&file).unwrap();
    };
    assert_noticed(with_two_files, one, ".manifest", |engine| {
        assert!(!rows(engine, "t").unwrap().is_empty());
    });
    let emptied = |fs: &Arc<dyn FileSystem>| {
        let dir = dir_of(fs, "default/t");
        fs.remove_dir_all(&dir).unwrap();
        fs.create_dir_all(&dir).unwrap();
    };
    assert_noticed(with_two_files, emptied, ".manifest", |engine| {
        rows(engine, "t").unwrap();
    });
}

#[test]
fn a_disabled_table_that_lost_a_manifest_is_refused() {
    let make = |engine: &Arc<Engine>| {
        with_two_files(engine);
        engine.procedures().disable_table(&name("t")).unwrap();
    };
    let damage = |fs: &Arc<dyn FileSystem>| {
        let dir = dir_of(fs, "default/t");
        fs.remove_file(&dir.join(".manifest")).unwrap();
        remove_all(fs, &dir.join("f"));
    };
    assert_noticed(make, damage, ".manifest", |_| {});
}

#[test]
fn heirs_and_clones_are_named_with_their_manifests() {
    let snapshot = |engine: &Arc<Engine>| {
        with_two_files(engine);
        let procedures = engine.procedures();
        procedures.snapshot("s", &name("t"), &SnapshotOptions::default()).unwrap();
        procedures.clone_snapshot("s", &name("c"), &Ok).unwrap();
    };
    let damage = |fs: &Arc<dyn FileSystem>| {
        let dir = dir_of(fs, "default/c");
        fs.remove_file(&dir.join(".manifest")).unwrap();
        remove_all(fs, &dir.join("f"));
    };
    assert_noticed(snapshot, damage, ".manifest", |_| {});
    let daughter = RefCell::new(PathBuf::new());
    let split = |engine: &Arc<Engine>| {
        with_two_files(engine);
        engine.procedures().split_table(&name("t"), Some(b"b")).unwrap();
        *daughter.borrow_mut() = region_dir(engine, "t");
    };
    let damage = |fs: &Arc<dyn FileSystem>| {
        remove_all(fs, &daughter.borrow().join("f"));
        fs.remove_file(&daughter.borrow().join(".manifest")).unwrap();
    };
    assert_noticed(split, damage, ".manifest", |_| {});
}

#[test]
fn a_truncated_region_needs_no_manifest() {
    for is_killed in [false, true] {
        let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
        let engine = open(&fs).unwrap();
        with_two_files(&engine);
        let info = engine.catalog().region_infos(&name("t")).remove(0);
        engine.procedures().truncate_region(info.encoded_name()).unwrap();
        if is_killed {
            engine.abandon();
        } else {
            engine.close().unwrap();
        }
        drop(engine);
        let engine = open(&fs).unwrap();
        assert_eq!(rows(&engine, "t").unwrap(), [""; 0]);
        put(&engine, "t", "c").unwrap();
        engine.close().unwrap();
        drop(engine);
        let dir = dir_of(&fs, "default/t");
        fs.remove_file(&dir.join(".manifest")).unwrap();
        open(&fs).map(drop).unwrap_err();
    }
}

#[test]
fn a_region_that_hbase_had_open_needs_no_manifest() {
    let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
    let engine = open(&fs).unwrap();
    with_two_files(&engine);
    let dir = region_dir(&engine, "t");
    engine.close().unwrap();
    drop(engine);
    // As HBase's `truncate_region` does, and the open after it.
    fs.remove_dir_all(&dir).unwrap();
    let edits = dir.join("recovered.edits");
    fs.create_dir_all(&edits).unwrap();
    fs.create(&edits.join("9.seqid")).unwrap();
    let engine = open(&fs).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), [""; 0]);
    put(&engine, "t", "c").unwrap();
    engine.close().unwrap();
    drop(engine);
    // From then on it has one again.
    remove_all(&fs, &dir.join("f"));
    fs.remove_file(&dir.join(".manifest")).unwrap();
    open(&fs).map(drop).unwrap_err();
}

#[test]
fn the_catalog_tables_are_named_too() {
    let make = |engine: &Arc<Engine>| {
        engine.procedures().create_namespace(&NamespaceDescriptor::new("n1")).unwrap();
        engine.procedures().create_table(&table("n1:t", &["f"]), &[]).unwrap();
        engine.flush(name("hbase:namespace")).unwrap();
        engine.flush(name("hbase:meta")).unwrap();
    };
    let region = |fs: &Arc<dyn FileSystem>| {
        fs.remove_dir_all(&dir_of(fs, "hbase/namespace")).unwrap();
    };
    assert_noticed(make, region, "namespace", |_| {});
    let dir = |fs: &Arc<dyn FileSystem>| {
        fs.remove_dir_all(&Path::new(DIR).join("data/hbase/namespace")).unwrap();
    };
    assert_noticed(make, dir, "namespace", |_| {});
    let meta = |fs: &Arc<dyn FileSystem>| {
        fs.remove_file(&dir_of(fs, "hbase/meta").join(".manifest")).unwrap();
    };
    assert_noticed(make, meta, ".manifest", |_| {});
}

/// Every write is in the log alone.
#[test]
fn a_lost_log_of_a_store_that_was_not_closed_is_refused() {
    let lost: [&[&str]; 3] = [&["WALs", "WALs.head"], &["WALs.head"], &["WALs"]];
    for paths in lost {
        for has_table in [false, true] {
            let crash = CrashFileSystem::new();
            let fs: Arc<dyn FileSystem> = Arc::new(crash.clone());
            let engine = open(&fs).unwrap();
            engine.procedures().create_namespace(&NamespaceDescriptor::new("n1")).unwrap();
            if has_table {
                engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
                put(&engine, "t", "a").unwrap();
            }
            engine.abandon();
            drop(engine);
            for path in paths.iter().map(|path| Path::new(DIR).join(path)) {
                let removed = fs.remove_file(&path).or_else(|_| fs.remove_dir_all(&path));
                removed.unwrap();
            }
            let error = open(&fs).map(drop).expect_err("the log is lost");
            assert!(error.to_string().contains("WALs"), "{error}");
            let report = check(&env(Arc::clone(&fs)), Path::new(DIR), &mut |_| {}).unwrap();
            assert!(!report.is_clean(), "{paths:?} {has_table}");
            salvage(&fs).unwrap().close().unwrap();
            open(&fs).unwrap().close().unwrap();
        }
    }
}

/// Only what identifies the store was copied: an interrupted copy is not a new store.
#[test]
fn a_copy_that_ends_after_the_root_files_is_refused() {
    let root = ["hblite.store", "hbase.id", "hbase.version", "WALs.head"];
    for is_killed in [false, true] {
        let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
        let engine = open(&fs).unwrap();
        engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
        put(&engine, "t", "a").unwrap();
        if is_killed {
            engine.abandon();
        } else {
            engine.close().unwrap();
        }
        drop(engine);
        for count in 1..=root.len() {
            let copy: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
            copy.create_dir_all(Path::new(DIR)).unwrap();
            for path in root[..count].iter().map(|name| Path::new(DIR).join(name)) {
                copy.write_atomically(&path, &fs.read(&path).unwrap()).unwrap();
            }
            open(&copy).map(drop).expect_err(&format!("killed {is_killed}, {count} files"));
        }
    }
}

#[test]
fn a_closed_store_needs_no_log() {
    let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
    let engine = open(&fs).unwrap();
    with_two_files(&engine);
    engine.close().unwrap();
    drop(engine);
    fs.remove_dir_all(&Path::new(DIR).join("WALs")).unwrap();
    fs.remove_file(&Path::new(DIR).join("WALs.head")).unwrap();
    let engine = open(&fs).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "b"]);
}

#[test]
fn a_lost_snapshot_is_refused() {
    let make = |engine: &Arc<Engine>| {
        with_two_files(engine);
        for one in ["s", "other"] {
            let options = SnapshotOptions::default();
            engine.procedures().snapshot(one, &name("t"), &options).unwrap();
        }
        engine.procedures().delete_snapshot("other").unwrap();
    };
    let snapshots = Path::new(DIR).join(".hbase-snapshot");
    for lost in [snapshots.join("s"), snapshots.clone()] {
        let damage = |fs: &Arc<dyn FileSystem>| fs.remove_dir_all(&lost).unwrap();
        assert_noticed(make, damage, ".hbase-snapshot/s", |engine| {
            assert_eq!(engine.procedures().list_snapshots().unwrap(), []);
            assert_eq!(rows(engine, "t").unwrap(), ["a", "b"]);
        });
    }
}

#[test]
fn hbase_may_remove_and_take_snapshots() {
    let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
    let engine = open(&fs).unwrap();
    with_two_files(&engine);
    for one in ["s", "copied"] {
        engine.procedures().snapshot(one, &name("t"), &SnapshotOptions::default()).unwrap();
    }
    engine.close().unwrap();
    drop(engine);
    let copied = Path::new(DIR).join(".hbase-snapshot/copied");
    let kept: Vec<_> = files_below(fs.as_ref(), &copied).unwrap();
    let kept: Vec<_> = kept.into_iter().map(|path| (fs.read(&path).unwrap(), path)).collect();
    // An HBase that has had the store may have removed both.
    fs.remove_dir_all(&Path::new(DIR).join(".hbase-snapshot")).unwrap();
    open(&fs).map(drop).unwrap_err();
    let edits = dir_of(&fs, "hbase/meta").join("recovered.edits");
    fs.create_dir_all(&edits).unwrap();
    fs.create(&edits.join("90.seqid")).unwrap();
    assert!(check(&env(Arc::clone(&fs)), Path::new(DIR), &mut |_| {}).unwrap().is_clean());
    let engine = open(&fs).unwrap();
    assert_eq!(engine.file_notes(), []);
    engine.close().unwrap();
    drop(engine);
    // One that is there without a name is named by the next open.
    for (content, path) in kept {
        fs.create_dir_all(path.parent().unwrap()).unwrap();
        fs.write_atomically(&path, &content).unwrap();
    }
    open(&fs).unwrap().close().unwrap();
    fs.remove_dir_all(&copied).unwrap();
    open(&fs).map(drop).unwrap_err();
}

fn copy_over(fs: &Arc<dyn FileSystem>, from: &Path) {
    for file in files_below(fs.as_ref(), from).unwrap() {
        let to = Path::new(DIR).join(file.strip_prefix(from).unwrap());
        fs.create_dir_all(to.parent().unwrap()).unwrap();
        fs.write_atomically(&to, &fs.read(&file).unwrap()).unwrap();
    }
}

#[test]
fn a_check_notes_what_a_backup_was_copied_over() {
    let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
    let engine = open(&fs).unwrap();
    with_two_files(&engine);
    engine.procedures().backup(Path::new("/backup")).unwrap();
    put(&engine, "t", "newer").unwrap();
    engine.close().unwrap();
    drop(engine);
    let notes = |dir: &Path| {
        let report = check(&env(Arc::clone(&fs)), dir, &mut |_| {}).unwrap();
        report.notes.into_iter().filter(|note| note.what.contains("copied over")).count()
    };
    assert_eq!((notes(Path::new(DIR)), notes(Path::new("/backup"))), (0, 0));
    copy_over(&fs, Path::new("/backup"));
    assert!(notes(Path::new(DIR)) > 0);
}

/// HBase reads the files of a snapshot there.
#[test]
fn damage_to_an_archived_file_of_a_snapshot_is_reported() {
    let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
    let engine = open(&fs).unwrap();
    with_two_files(&engine);
    engine.procedures().snapshot("s", &name("t"), &SnapshotOptions::default()).unwrap();
    engine.close().unwrap();
    drop(engine);
    for file in files_below(fs.as_ref(), &Path::new(DIR).join("archive")).unwrap() {
        let sound = fs.read(&file).unwrap();
        let mut content = sound.clone();
        content[60] ^= 1;
        // A file of its own, as in a copy of the directory.
        fs.remove_file(&file).unwrap();
        fs.write_atomically(&file, &content).unwrap();
        let report = check(&env(Arc::clone(&fs)), Path::new(DIR), &mut |_| {}).unwrap();
        assert!(report.defects.iter().any(|defect| defect.path == file), "{report:?}");
        fs.write_atomically(&file, &sound).unwrap();
    }
    assert!(check(&env(fs), Path::new(DIR), &mut |_| {}).unwrap().is_clean());
}

#[test]
fn clients_do_not_see_what_names_manifests_and_snapshots() {
    let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
    let engine = open(&fs).unwrap();
    with_two_files(&engine);
    engine.procedures().snapshot("s", &name("t"), &SnapshotOptions::default()).unwrap();
    let meta = engine.table(name("hbase:meta"));
    let assert_hidden = || {
        let plain = Scan::new();
        let named = Scan::new().with_column("info", "hblite.manifest");
        let raw = Scan::new().with_raw(true).with_all_versions();
        let filtered = Scan::new().with_filter(Filter::first_key_only());
        let mut columns = 0;
        for scan in [plain.clone(), plain.with_reversed(true), named, raw, filtered] {
            let mut scanner = meta.scan(&scan).unwrap();
            let mut row = hblite_model::RowResult::default();
            while scanner.next_row(&mut row).unwrap() {
                let own = row.cells().find(|cell| cell.qualifier().starts_with(b"hblite."));
                assert!(own.is_none(), "{scan:?}: {own:?}");
                columns += row.cells().count();
                let get = Get::new(row.row()).with_family("info");
                let got = meta.get(&get).unwrap();
                assert!(got.cells().all(|cell| !cell.qualifier().starts_with(b"hblite.")));
            }
        }
        assert!(columns > 0);
    };
    assert_hidden();
    // In files, and with deletes of the columns.
    engine.flush(name("hbase:meta")).unwrap();
    engine.procedures().delete_snapshot("s").unwrap();
    assert_hidden();
}

/// HBase counts a row of hbase:meta without a region as damage.
#[test]
fn snapshots_are_named_in_the_row_of_a_region() {
    let fs: Arc<dyn FileSystem> = Arc::new(CrashFileSystem::new());
    let engine = open(&fs).unwrap();
    with_two_files(&engine);
    // The region of hbase:namespace that HBase creates has another name than that of a new store.
    let table = TableName::namespace_table();
    let own = engine.catalog().region_infos(&table).remove(0);
    let created = RegionInfo::new(table.clone(), b"", b"", 77);
    let meta = engine.table(name("hbase:meta"));
    meta.mutate(&Delete::new(own.region_name()).into()).unwrap();
    let timestamp = engine.catalog().meta.next_timestamp().unwrap();
    let put = meta::put_open_region(&created, &ServerName::of_store(), 1, timestamp);
    meta.mutate(&put).unwrap();
    engine.abandon();
    drop(engine);
    for snapshot in ["s", "another"] {
        let engine = open(&fs).unwrap();
        assert_eq!(engine.catalog().region_infos(&table), std::slice::from_ref(&created));
        let procedures = engine.procedures();
        for taken in [snapshot, "gone"] {
            procedures.snapshot(taken, &name("t"), &SnapshotOptions::default()).unwrap();
        }
        procedures.delete_snapshot("gone").unwrap();
        engine.close().unwrap();
    }
    let layout = Layout::new(Path::new(DIR));
    let survey = CatalogSurvey::read(&env(Arc::clone(&fs)), &layout, &[], false).unwrap();
    for row in &survey.rows {
        let has_region = row.value("info", "regioninfo").is_some();
        assert!(has_region || row.cells().all(|cell| cell.family() != b"info"), "{row:?}");
    }
    // A lost one is missed.
    let dir = layout.snapshot_dir("s");
    fs.remove_dir_all(&dir).unwrap();
    let error = open(&fs).map(drop).unwrap_err();
    assert!(error.to_string().contains("snapshot"), "{error}");
}
