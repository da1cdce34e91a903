//! Files that are missing, swapped, duplicated or unknown: an open refuses them by name, a check
//! reports them, and salvage continues without or with them.

use super::small_files::{rows, with_content};
use super::*;
use crate::layout::MANIFEST_FILE;
use crate::store::manifest::Manifest;
use hblite_model::{CompactRequest, Error};

/// Tables of the same shape, with two files in each store.
fn twins() -> TestStore {
    TestStore::new().with(|engine| {
        for table in ["t", "u"] {
            create(engine, table);
            fill(engine, table, 0);
            engine.flush(name(table)).unwrap();
            fill(engine, table, 0);
            engine.flush(name(table)).unwrap();
        }
    })
}

/// A copy of the store after `change`.
fn copy_with(store: &TestStore, change: impl FnOnce(&TestStore)) -> TestStore {
    let copy = with_content(store, Path::new(""), b"");
    change(&copy);
    copy
}

/// The store is refused with the name of this file, and a check names it too.
#[track_caller]
fn assert_refused(store: &TestStore, path: &Path) -> Error {
    let error = rows(store).unwrap_err();
    assert_eq!(error.file(), Some(path), "{error}");
    let report = store.check();
    assert!(report.defects.iter().any(|defect| defect.path == path), "{report:#?}");
    error
}

fn salvaged(store: &TestStore) -> (usize, Vec<crate::FileNote>) {
    let options = EngineOptions { salvage: true, ..store.options.clone() };
    let engine = Engine::open(store.env(), Path::new(DIR), options).unwrap();
    let notes = engine.file_notes();
    engine.close().unwrap();
    (rows(store).unwrap(), notes)
}

#[test]
fn every_missing_store_file_is_noticed() {
    let store = twins();
    let files = store.files("/store/data/");
    let is_store_file = |path: &&PathBuf| !with_slashes(path).contains("/.");
    let mut count = 0;
    for path in files.iter().filter(is_store_file) {
        let damaged = copy_with(&store, |copy| copy.fs.remove_file(path).unwrap());
        let catalog = Path::new(DIR).join("data/hbase/meta");
        if path.starts_with(&catalog) {
            // The only file of its family: the list of the store's tables is lost with it.
            let error = assert_refused(&damaged, &catalog);
            assert!(error.message().contains("--salvage"), "{error}");
        } else {
            let error = assert_refused(&damaged, path);
            assert!(error.message().contains("it is missing"), "{error}");
        }
        let report = damaged.check();
        let defect = report.defects.iter().find(|defect| defect.path == *path).unwrap();
        assert_eq!(defect.kind, FindingKind::StoreFileMissing, "{report:#?}");
        count += 1;
    }
    assert!(count > 16, "{count}");
    let dir = files.iter().find(is_store_file).unwrap().parent().unwrap();
    let damaged = copy_with(&store, |copy| copy.fs.remove_dir_all(dir).unwrap());
    rows(&damaged).unwrap_err();
    assert!(!damaged.check().is_clean());
}

#[test]
fn every_swap_of_two_store_files_is_noticed() {
    let store = twins();
    let mut files = store.store_files("t");
    files.extend(store.store_files("u"));
    for (index, left) in files.iter().enumerate() {
        for right in &files[index + 1..] {
            let swapped = copy_with(&store, |copy| {
                let content = copy.fs.read(left).unwrap();
                let other = copy.fs.read(right).unwrap();
                copy.change(left, |bytes| *bytes = other);
                copy.change(right, |bytes| *bytes = content);
            });
            let error = rows(&swapped).unwrap_err();
            let file = error.file();
            assert!(file == Some(left) || file == Some(right), "{error}");
            let report = swapped.check();
            assert!(report.defects.len() > 1, "{} {}", left.display(), right.display());
        }
    }
}

#[test]
fn a_doubled_or_strange_file_is_refused_and_salvage_takes_it_in() {
    let store = twins();
    let all = rows(&store).unwrap();
    let path = store.store_files("t").remove(0);
    let strange = path.with_file_name("00ff");
    let content = store.fs.read(&path).unwrap();
    let doubled = copy_with(&store, |copy| write(&copy.fs, &strange, &content));
    assert_refused(&doubled, &strange);
    assert_eq!(doubled.check().defects[0].kind, FindingKind::UnlistedFile);
    let (rows, notes) = salvaged(&doubled);
    assert_eq!(rows, all);
    assert!(notes.len() == 1 && notes[0].path == strange, "{notes:?}");
    assert_clean(&doubled);
}

#[test]
fn salvage_continues_without_what_is_lost() {
    let store = twins();
    let files = store.store_files("t");
    let missing = copy_with(&store, |copy| copy.fs.remove_file(&files[0]).unwrap());
    let (_, notes) = salvaged(&missing);
    assert!(notes.len() == 1 && notes[0].what.contains("its cells are lost"), "{notes:?}");
    assert_clean(&missing);

    // A file of the same region and family, from before.
    let changed = copy_with(&store, |copy| {
        let other = copy.fs.read(&files[1]).unwrap();
        copy.change(&files[0], |bytes| *bytes = other);
    });
    assert_refused(&changed, &files[0]);
    let (_, notes) = salvaged(&changed);
    assert!(notes.len() == 1 && notes[0].what.contains("was moved to"), "{notes:?}");
    assert!(!changed.files("-moved/").is_empty());
    assert_clean(&changed);
}

#[test]
fn a_missing_or_damaged_manifest_is_refused_and_salvage_rebuilds_it() {
    let store = twins();
    let all = rows(&store).unwrap();
    let path = store.files(MANIFEST_FILE).remove(0);
    let missing = copy_with(&store, |copy| copy.fs.remove_file(&path).unwrap());
    assert_refused(&missing, &path);
    let (found, notes) = salvaged(&missing);
    assert_eq!((found, notes.len()), (all, 1));
    assert_clean(&missing);
    assert!(missing.fs.exists(&path).unwrap());

    let damaged = copy_with(&store, |copy| copy.change(&path, |content| content[9] ^= 4));
    assert_refused(&damaged, &path);
    let (rows, notes) = salvaged(&damaged);
    assert_eq!((rows, notes.len()), (all, 1));
}

/// Families that a table no longer has are ignored, so the files would count as removed long ago.
#[test]
fn a_manifest_that_lists_files_under_an_unknown_family_is_noticed() {
    let store = twins();
    let mut all = store.files(MANIFEST_FILE);
    all.retain(|path| !path.starts_with("/store/archive"));
    assert!(all.len() >= 4, "{all:?}");
    for path in all {
        let dir = path.parent().unwrap();
        let region = dir.file_name().unwrap().to_str().unwrap();
        let mut manifest = Manifest::read(&store.fs, dir, region).unwrap().unwrap();
        let files = std::mem::take(&mut manifest.files);
        let renamed = files.into_iter().map(|((_, name), file)| ((b"other".to_vec(), name), file));
        manifest.files = renamed.collect();
        let changed = with_content(&store, &path, &manifest.encode());
        let error = rows(&changed).unwrap_err();
        assert!(error.file().is_some_and(|file| file.starts_with(dir)), "{error}");
        assert!(changed.check().defects.iter().any(|defect| defect.path.starts_with(dir)));
    }
}

/// An open refuses it, because it could assign no other stamp.
#[test]
fn a_manifest_whose_stamp_no_region_gets_to_is_noticed() {
    let store = twins();
    let path = store.files(MANIFEST_FILE).remove(0);
    let dir = path.parent().unwrap();
    let region = dir.file_name().unwrap().to_str().unwrap();
    let mut manifest = Manifest::read(&store.fs, dir, region).unwrap().unwrap();
    manifest.settled = u64::MAX;
    assert_refused(&with_content(&store, &path, &manifest.encode()), &path);
}

/// A manifest of each earlier moment: newer files explain themselves, and files that were compacted
/// away since are either explained or reported.
#[test]
fn an_older_manifest_loses_nothing() {
    let mut older: Vec<Vec<(PathBuf, Vec<u8>)>> = Vec::new();
    let store = TestStore::new();
    let fs = store.fs.clone();
    let store = store.with(|engine| {
        create(engine, "t");
        for round in 0..6 {
            fill(engine, "t", round * 10);
            engine.flush(name("t")).unwrap();
            if round == 3 {
                engine.compact(CompactRequest::table(name("t")).major()).unwrap();
            }
            let mut files = files_below(&fs, &Path::new(DIR).join("data/default")).unwrap();
            files.retain(|path| path.ends_with(MANIFEST_FILE));
            older.push(files.into_iter().map(|p| (p.clone(), fs.read(&p).unwrap())).collect());
        }
    });
    let all = rows(&store).unwrap();
    let mut opened = 0;
    for (path, content) in older.iter().flatten() {
        match rows(&with_content(&store, path, content)) {
            Ok(rows) => {
                assert_eq!(rows, all);
                opened += 1;
            }
            Err(error) => assert!(error.message().contains("missing"), "{error}"),
        }
    }
    assert!(opened >= 6, "{opened}");
}

#[test]
fn a_manifest_is_void_after_hbase_has_had_the_region_open() {
    let store = twins();
    let all = rows(&store).unwrap();
    let path = store.store_files("t").remove(0);
    let renamed = path.with_file_name("00ff");
    let region = path.parent().unwrap().parent().unwrap();
    let by_hbase = copy_with(&store, |copy| {
        copy.fs.rename(&path, &renamed).unwrap();
        copy.fs.create_dir_all(&region.join("recovered.edits")).unwrap();
        write(&copy.fs, &region.join("recovered.edits/77.seqid"), b"");
    });
    let report = assert_clean(&by_hbase);
    assert!(report.notes.iter().any(|note| note.kind == FindingKind::Manifest), "{report:#?}");
    assert_eq!(rows(&by_hbase).unwrap(), all);
    // From the next close on it is valid again.
    let closed = by_hbase.with(|_| {});
    assert_eq!(assert_clean(&closed).notes, []);
    closed.fs.remove_file(&renamed).unwrap();
    rows(&closed).unwrap_err();
}

#[test]
fn a_snapshots_missing_or_swapped_file_is_noticed() {
    let store = twins().with(|engine| {
        engine
            .procedures()
            .snapshot("s", &name("t"), &hblite_model::SnapshotOptions::default())
            .unwrap();
    });
    let mut files = store.files("/.hbase-snapshot/s/");
    files.retain(|path| path.parent().unwrap().ends_with("f"));
    let clone_of = |store: &TestStore| {
        let engine = store.open();
        let cloned = engine.procedures().clone_snapshot("s", &name("v"), &Ok);
        engine.abandon();
        cloned
    };
    clone_of(&copy_with(&store, |_| {})).unwrap();
    let missing = copy_with(&store, |copy| copy.fs.remove_file(&files[0]).unwrap());
    let report = missing.check();
    assert_eq!(report.defects[0].kind, FindingKind::StoreFileMissing, "{report:#?}");
    assert_eq!(clone_of(&missing).unwrap_err().file(), Some(&*files[0]));
    let other = store.fs.read(&files[1]).unwrap();
    let swapped = with_content(&store, &files[0], &other);
    assert!(!swapped.check().is_clean());
    assert_eq!(clone_of(&swapped).unwrap_err().file(), Some(&*files[0]));
}
