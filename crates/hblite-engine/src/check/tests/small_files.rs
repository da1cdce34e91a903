//! Damage to small files: an error or all data, and a check says so.

use std::time::Duration;

use super::*;
use crate::sealed;
use hblite_model::{Error, Scan};

/// A killed store whose table has just been split, so that it has references.
fn split() -> TestStore {
    TestStore::new().with_killed(|engine| {
        with_files(engine);
        engine.procedures().split_table(&name("t"), Some(b"a00050")).unwrap();
    })
}

fn references(store: &TestStore) -> Vec<PathBuf> {
    let mut files = store.store_files("t");
    files.retain(|path| path.extension().is_some());
    assert!(files.len() > 2, "{files:?}");
    files
}

/// The rows of table `t`.
pub(super) fn rows(store: &TestStore) -> Result<usize, Error> {
    let engine = Engine::open(store.env(), Path::new(DIR), store.options.clone())?;
    let count = || {
        let mut scanner = engine.table(name("t")).scan(&Scan::new())?;
        let (mut row, mut rows) = (hblite_model::RowResult::default(), 0);
        while scanner.next_row(&mut row)? {
            rows += 1;
        }
        Ok(rows)
    };
    let rows = count();
    engine.abandon();
    rows
}

/// A copy of the store in which one file has another content.
pub(super) fn with_content(store: &TestStore, path: &Path, content: &[u8]) -> TestStore {
    let fs = MemFileSystem::new();
    for (other, sound) in store.contents() {
        fs.create_dir_all(other.parent().unwrap()).unwrap();
        write(&fs, &other, if other == path { content } else { &sound });
    }
    TestStore { fs, options: store.options.clone(), random: Arc::clone(&store.random) }
}

/// Flips every `step`th bit of the file: the store is refused with the file's name, and a check
/// says the same, or the store has all of its rows.
fn flip_bits(store: &TestStore, path: &Path, content: &[u8], step: usize) {
    let all = rows(&with_content(store, path, content)).unwrap();
    for bit in (0..content.len() * 8).step_by(step) {
        let mut damaged = content.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match rows(&with_content(store, path, &damaged)) {
            Ok(rows) => assert_eq!(rows, all, "{} bit {bit}", path.display()),
            Err(error) => {
                assert_eq!(error.file(), Some(path), "bit {bit}: {error}");
                let report = with_content(store, path, &damaged).check();
                assert!(!report.is_clean(), "bit {bit}");
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_a_reference_loses_no_rows() {
    let store = split();
    let references = references(&store);
    for path in [&references[0], &references[2]] {
        let content = store.fs.read(path).unwrap();
        flip_bits(&store, path, &content, 3);
    }
}

/// As HBase and earlier versions wrote it: its key is compared with the region's boundaries.
#[test]
fn a_flipped_bit_in_a_reference_without_a_checksum_loses_no_rows() {
    let store = split();
    let references = references(&store);
    for path in [&references[0], &references[2]] {
        let content = store.fs.read(path).unwrap();
        let (fields, _) = sealed::unseal_with_magic(&content).unwrap();
        flip_bits(&store, path, &[b"PBUF", fields].concat(), 3);
    }
}

#[test]
fn a_flipped_bit_in_a_descriptor_or_region_info_is_an_error_or_repaired() {
    let store = TestStore::new().with(with_files);
    let files = store.files("/data/default/t/");
    for part in [".tableinfo", ".regioninfo"] {
        let path = files.iter().find(|path| with_slashes(path).contains(part)).unwrap();
        let content = store.fs.read(path).unwrap();
        flip_bits(&store, path, &content, 13);
    }
}

/// Flips each bit of a snapshot's description, including its time to live.
#[test]
fn a_damaged_description_removes_no_snapshot() {
    let store = TestStore::new().with(|engine| {
        with_files(engine);
        engine
            .procedures()
            .snapshot("s", &name("t"), &hblite_model::SnapshotOptions::default())
            .unwrap();
    });
    let path = store.files("/.hbase-snapshot/s/.snapshotinfo").remove(0);
    let sealed = store.fs.read(&path).unwrap();
    let (fields, _) = sealed::unseal(&sealed).unwrap();
    for content in [&sealed, fields] {
        for bit in 0..content.len() * 8 {
            let mut damaged = content.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let store = with_content(&store, &path, &damaged);
            // Long after any time to live that one flipped bit can produce.
            let env = Env {
                clock: Arc::new(ManualClock::new(1_700_000_000_000 + (1 << 40))),
                ..store.env()
            };
            let engine = Engine::open(env, Path::new(DIR), store.options.clone()).unwrap();
            let listed = engine.procedures().list_snapshots();
            engine.abandon();
            assert!(store.fs.exists(&path).unwrap(), "bit {bit}");
            match listed {
                Ok(snapshots) => assert_eq!(snapshots.len(), 1, "bit {bit}"),
                Err(error) => assert_eq!(error.file(), Some(&*path), "bit {bit}"),
            }
        }
    }
}

/// Cut off between two fields, a description looks like one without a checksum.
#[test]
fn a_description_that_is_cut_off_changes_no_snapshot() {
    let store = TestStore::new().with(|engine| {
        with_files(engine);
        let options =
            hblite_model::SnapshotOptions::default().with_time_to_live(Duration::from_secs(100));
        engine.procedures().snapshot("s", &name("t"), &options).unwrap();
    });
    let path = store.files("/.hbase-snapshot/s/.snapshotinfo").remove(0);
    let content = store.fs.read(&path).unwrap();
    for length in 0..content.len() {
        let store = with_content(&store, &path, &content[..length]);
        assert!(!store.check().is_clean(), "{length} bytes");
        let engine = store.open();
        let error = engine.procedures().list_snapshots().unwrap_err();
        engine.abandon();
        assert_eq!(error.file(), Some(&*path), "{length} bytes: {error}");
    }
}

#[test]
fn a_region_that_is_missing_in_a_snapshot_is_reported() {
    let store = TestStore::new().with(|engine| {
        with_files(engine);
        engine
            .procedures()
            .snapshot("s", &name("t"), &hblite_model::SnapshotOptions::default())
            .unwrap();
    });
    let infos: Vec<_> = store.files("/.hbase-snapshot/s/");
    let info = infos.iter().find(|path| path.ends_with(".regioninfo")).unwrap();
    store.fs.remove_dir_all(info.parent().unwrap()).unwrap();
    let report = store.check();
    assert_eq!(report.defects.len(), 1, "{report:#?}");
    assert!(report.defects[0].what.contains("a region of the snapshot is missing"));
    let engine = store.open();
    engine.procedures().clone_snapshot("s", &name("u"), &Ok).unwrap_err();
    engine.abandon();
}
