//! Each kind of damage is reported with its name and place, and nothing else is.

use super::*;
use hblite_hfile::HFileReader;

/// The only defect has this kind, and its path contains this.
#[track_caller]
fn assert_defect(store: &TestStore, kind: FindingKind, path: &Path) -> super::super::Finding {
    let report = store.check();
    assert_eq!(report.defects.len(), 1, "{:#?}", report.defects);
    assert_eq!((report.defects[0].kind, &*report.defects[0].path), (kind, path), "{report:#?}");
    report.defects[0].clone()
}

fn stored() -> TestStore {
    TestStore::new().with(with_files)
}

fn layout() -> Layout {
    Layout::new(Path::new(DIR))
}

/// A store file of family `f` with several data blocks.
fn store_file(store: &TestStore) -> (PathBuf, HFileReader) {
    let path = store.store_files("t").into_iter().find(|path| is_in(path, "/f/")).unwrap();
    let reader = HFileReader::open(&store.fs, &path, None).unwrap();
    (path, reader)
}

fn is_in(path: &Path, part: &str) -> bool {
    with_slashes(path).contains(part)
}

fn flip(store: &TestStore, path: &Path, at: u64) {
    store.change(path, |content| content[at as usize] ^= 0x40);
}

/// Where the first block with this magic begins.
fn block(store: &TestStore, path: &Path, magic: &[u8]) -> u64 {
    let content = store.fs.read(path).unwrap();
    content.windows(magic.len()).position(|bytes| bytes == magic).unwrap() as u64
}

#[test]
fn a_flipped_byte_in_a_data_block() {
    let store = stored();
    let (path, _) = store_file(&store);
    flip(&store, &path, 100);
    let defect = assert_defect(&store, FindingKind::StoreFile, &path);
    assert_eq!(defect.offset, Some(0), "the block's place");
    assert!(defect.to_string().contains(" at offset 0: store-file: "), "{defect}");
}

/// The first and the last damaged block of a file are reported, and other files' too.
#[test]
fn every_damaged_file_is_reported() {
    let store = stored();
    let files = store.store_files("t");
    let last_block = store_file(&store).1.trailer().last_data_block_offset;
    for path in &files {
        flip(&store, path, 100);
    }
    flip(&store, &store_file_path(&files), last_block as u64 + 40);
    let report = store.check();
    assert_eq!(report.defects.len(), files.len() + 1, "{:#?}", report.defects);
    assert!(report.defects.iter().all(|defect| defect.kind == FindingKind::StoreFile));
    assert!(report.defects.iter().any(|defect| defect.offset == Some(last_block as u64)));
}

fn store_file_path(files: &[PathBuf]) -> PathBuf {
    files.iter().find(|path| is_in(path, "/f/")).unwrap().clone()
}

#[test]
fn a_flipped_byte_in_index_filter_info_or_trailer() {
    let places: [(&[u8], FindingKind); 5] = [
        (b"IDXROOT2", FindingKind::StoreFile),
        (b"BLMFBLK2", FindingKind::Bloom),
        (b"BLMFMET2", FindingKind::StoreFile),
        (b"FILEINF2", FindingKind::StoreFile),
        (b"TRABLK\"$", FindingKind::StoreFile),
    ];
    for (magic, kind) in places {
        let store = stored();
        let (path, _) = store_file(&store);
        let at = block(&store, &path, magic);
        // After a block's header; in the trailer its magic.
        let after = if magic.starts_with(b"TRA") { 3 } else { 40 };
        flip(&store, &path, at + after);
        let defect = assert_defect(&store, kind, &path);
        if kind == FindingKind::Bloom {
            assert_eq!(defect.offset, Some(at));
        }
    }
}

#[test]
fn a_leaf_of_the_index() {
    let store = TestStore::new().with(|engine| {
        let family = ColumnFamilyDescriptor::new("f").with_block_size(1024);
        let table = TableDescriptor::new(name("t")).with_family(family);
        engine.procedures().create_table(&table, &[]).unwrap();
        let table = engine.table(name("t"));
        for number in 0..1500 {
            let row = format!("{number:01000}");
            table.mutate(Put::new(row).add("f", "q", "v").as_mutation()).unwrap();
        }
    });
    let (path, reader) = store_file(&store);
    assert!(reader.trailer().num_data_index_levels > 1);
    let at = block(&store, &path, b"IDXLEAF2");
    flip(&store, &path, at + 40);
    let defect = assert_defect(&store, FindingKind::StoreFile, &path);
    assert_eq!(defect.offset, Some(at));
}

#[test]
fn a_cut_file() {
    let store = stored();
    let (path, _) = store_file(&store);
    store.change(&path, |content| content.truncate(content.len() - 1));
    assert_defect(&store, FindingKind::StoreFile, &path);
    store.change(&path, Vec::clear);
    assert_defect(&store, FindingKind::StoreFile, &path);
}

#[test]
fn a_file_of_another_region_or_family() {
    let store = stored();
    let files = store.store_files("t");
    let mut of_family = files.iter().filter(|path| is_in(path, "/f/"));
    let (first, second) = (of_family.next().unwrap(), of_family.next().unwrap());
    let strange = second.with_file_name("00ff");
    write(&store.fs, &strange, &store.fs.read(first).unwrap());
    let defect = assert_defect(&store, FindingKind::ForeignCell, &strange);
    assert!(defect.what.contains("are outside the region's rows, the first in row '"));
    store.fs.remove_file(&strange).unwrap();

    let strange = first.parent().unwrap().with_file_name("g").join("00ff");
    write(&store.fs, &strange, &store.fs.read(first).unwrap());
    let defect = assert_defect(&store, FindingKind::ForeignCell, &strange);
    assert!(defect.what.contains("are of another family"), "{defect}");
}

#[test]
fn directories_and_hbase_meta_disagree() {
    let store = stored();
    let region = store_file(&store).0.parent().unwrap().parent().unwrap().to_path_buf();
    let unknown = region.with_file_name("0123456789abcdef0123456789abcdef");
    for path in store.files(region.to_str().unwrap()) {
        let to = unknown.join(path.strip_prefix(&region).unwrap());
        store.fs.create_dir_all(to.parent().unwrap()).unwrap();
        write(&store.fs, &to, &store.fs.read(&path).unwrap());
    }
    assert_defect(&store, FindingKind::UnknownDirectory, &unknown);
    store.fs.remove_dir_all(&unknown).unwrap();

    let table = Path::new(DIR).join("data/default/unknown");
    store.fs.create_dir_all(&table.join("0123/f")).unwrap();
    let report = store.check();
    assert!(report.is_clean() && report.notes[0].kind == FindingKind::UnknownDirectory);
    write(&store.fs, &table.join("0123/f/0a"), b"x");
    assert_defect(&store, FindingKind::UnknownDirectory, &table);
    store.fs.remove_dir_all(&table).unwrap();

    store.fs.remove_dir_all(&region).unwrap();
    assert_defect(&store, FindingKind::RegionMissing, &region);
}

#[test]
fn holes_and_overlaps() {
    let with_meta = |change: &dyn Fn(&Arc<Engine>)| {
        TestStore::new().with_killed(|engine| {
            with_files(engine);
            change(engine);
        })
    };
    let table_dir = layout().table_dir(&name("t"));
    let hole = with_meta(&|engine| {
        let region = engine.catalog().region_infos(&name("t")).remove(0);
        let delete = Delete::new(region.region_name()).with_timestamp(i64::MAX - 1).family("info");
        engine.table(TableName::meta()).mutate(delete.as_mutation()).unwrap();
    });
    let report = hole.check();
    let kinds: Vec<_> = report.defects.iter().map(|defect| defect.kind).collect();
    assert_eq!(kinds, [FindingKind::Hole, FindingKind::UnknownDirectory], "{report:#?}");
    assert!(report.defects[0].what.ends_with("no region takes rows from '' up to 'm'"));
    assert_eq!(report.defects[0].path, table_dir);

    let overlap = with_meta(&|engine| {
        let region = hblite_model::RegionInfo::new(name("t"), b"b", b"c", 1);
        let value = crate::catalog::region_info_file::encode(&region);
        let put = Put::new(region.region_name()).add("info", "regioninfo", value);
        engine.table(TableName::meta()).mutate(put.as_mutation()).unwrap();
    });
    let report = overlap.check();
    let kinds: Vec<_> = report.defects.iter().map(|defect| defect.kind).collect();
    assert_eq!(kinds, [FindingKind::Overlap, FindingKind::RegionMissing], "{report:#?}");

    let strange = with_meta(&|engine| {
        let put = Put::new("t,,1.x.").add("info", "regioninfo", "PBUF\u{7f}");
        engine.table(TableName::meta()).mutate(put.as_mutation()).unwrap();
    });
    let defect =
        assert_defect(&strange, FindingKind::Catalog, &layout().table_dir(&TableName::meta()));
    assert!(defect.what.starts_with("hbase:meta, row t,,1.x.: "), "{defect}");
}

#[test]
fn region_info_of_another_region() {
    let store = stored();
    let files = store.files("/data/default/t/");
    let infos: Vec<_> = files.iter().filter(|path| path.ends_with(".regioninfo")).collect();
    let other = store.fs.read(infos[1]).unwrap();
    store.change(infos[0], |content| *content = other);
    assert_defect(&store, FindingKind::RegionInfo, infos[0]);
    // A file from which no region can be read is written again.
    store.change(infos[0], |content| content.fill(0));
    let report = store.check();
    assert!(report.is_clean() && report.notes[0].kind == FindingKind::RegionInfo);
    store.fs.remove_file(infos[0]).unwrap();
    let report = store.check();
    assert!(report.is_clean() && report.notes[0].kind == FindingKind::RegionInfo);
    let opened = store.with(|_| {});
    assert_eq!(assert_clean(&opened).notes, []);
}

#[test]
fn references() {
    let store = TestStore::new().with_killed(|engine| {
        with_files(engine);
        engine.procedures().split_table(&name("t"), Some(b"a00050")).unwrap();
    });
    let files = store.store_files("t");
    let references: Vec<_> = files.iter().filter(|path| path.extension().is_some()).collect();
    let target = layout().referred_file(
        references[0],
        references[0].file_stem().unwrap().to_str().unwrap(),
        references[0].extension().unwrap().to_str().unwrap(),
    );
    let content = store.fs.read(&target).unwrap();
    store.fs.remove_file(&target).unwrap();
    let report = store.check();
    // The parent lists it, and both daughters refer to it.
    assert_eq!(report.defects.len(), 3, "{report:#?}");
    let (missing, dangling) = report.defects.split_first().unwrap();
    assert_eq!((missing.kind, &missing.path), (FindingKind::StoreFileMissing, &target));
    for defect in dangling {
        assert_eq!(defect.kind, FindingKind::DanglingReference);
        assert!(defect.what.contains(target.to_str().unwrap()), "{defect}");
    }
    write(&store.fs, &target, &content);
    assert_clean(&store);

    let before = store.fs.read(references[0]).unwrap();
    store.change(references[0], |content| content.truncate(7));
    assert_defect(&store, FindingKind::Reference, references[0]);
    // The other half.
    store.change(references[0], |content| {
        *content = before.clone();
        *content.last_mut().unwrap() ^= 1;
    });
    assert_defect(&store, FindingKind::Reference, references[0]);

    // The target of a reference is reported once, in its own place.
    store.change(references[0], |content| *content = before);
    flip(&store, &target, content.len() as u64 - 4096 + 3);
    assert_defect(&store, FindingKind::StoreFile, &target);
}

/// Bytes at the end of a descriptor that HBase does not write: its number, if that is small, and
/// its seal.
const NUMBER_AND_SEAL: usize = 11;

#[test]
fn settings_id_and_version() {
    let store = stored();
    let dir = layout().table_descriptor_dir(&name("t"));
    let path = store.files(dir.to_str().unwrap()).remove(0);
    let content = store.fs.read(&path).unwrap();
    store.change(&path, |content| content[4] = 0xff);
    assert_defect(&store, FindingKind::Descriptor, &path);
    let family = content.windows(3).position(|bytes| bytes == b"\x0a\x01f").unwrap();
    store.change(&path, |damaged| {
        damaged.clone_from(&content);
        damaged[family + 2] = b'e';
    });
    let defect = assert_defect(&store, FindingKind::Descriptor, &path);
    assert!(defect.what.contains("the checksum is wrong"), "{defect}");
    // Without a checksum, as HBase writes it, invalid values are reported all the same.
    store.fs.remove_file(&path).unwrap();
    let mut unsealed = content[..content.len() - NUMBER_AND_SEAL].to_vec();
    unsealed[family + 2] = b':';
    let other = dir.join(format!(".tableinfo.0000000009.{}", unsealed.len()));
    write(&store.fs, &other, &unsealed);
    let defect = assert_defect(&store, FindingKind::Descriptor, &other);
    assert!(defect.what.contains("illegal family"), "{defect}");
    store.fs.remove_file(&other).unwrap();
    write(&store.fs, &path, &content);
    store.fs.remove_file(&path).unwrap();
    assert_defect(&store, FindingKind::Descriptor, &dir);
    write(&store.fs, &path, &content);

    let version = layout().version_file();
    store.change(&version, |content| *content.last_mut().unwrap() = b'7');
    let defect = assert_defect(&store, FindingKind::Store, &version);
    assert!(defect.what.contains("version 7"), "{defect}");
    // What a power cut may leave is not a defect.
    store.change(&version, |content| content.truncate(3));
    store.change(&layout().cluster_id_file(), |content| content.fill(0));
    let report = store.check();
    assert!(report.is_clean());
    let kinds: Vec<_> = report.notes.iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [FindingKind::Store; 2]);
    // What no power cut removes is a defect: an open refuses it.
    let id = layout().cluster_id_file();
    store.fs.remove_file(&id).unwrap();
    assert_defect(&store, FindingKind::Store, &id);
}

#[test]
fn the_marker() {
    let store = stored();
    let marker = layout().marker_file();
    let content = store.fs.read(&marker).unwrap();
    flip(&store, &marker, 20);
    assert_defect(&store, FindingKind::Store, &marker);
    // Without the id, nothing identifies the store.
    let id = layout().cluster_id_file();
    store.change(&id, |content| content[10] = b'!');
    let report = store.check();
    assert_eq!(report.defects.len(), 1, "{report:?}");
    assert_eq!((report.defects[0].kind, &report.defects[0].path), (FindingKind::Store, &marker));
    assert_eq!(report.notes[0].kind, FindingKind::NotChecked);
    store.change(&marker, |damaged| damaged.clone_from(&content));
    assert_defect(&store, FindingKind::Store, &id);
    // Without the marker, or with a part of it, only a salvage opens the store.
    let store = stored();
    store.change(&marker, |content| content.truncate(3));
    assert_defect(&store, FindingKind::Store, &marker);
    store.fs.remove_file(&marker).unwrap();
    assert_defect(&store, FindingKind::Store, &marker);
}

#[test]
fn the_log() {
    let logged = || {
        TestStore::new().with_killed(|engine| {
            create(engine, "t");
            fill(engine, "t", 0);
        })
    };
    let store = logged();
    let path = store.files("/WALs/").remove(0);
    let middle = store.fs.file_length(&path).unwrap() / 2;
    flip(&store, &path, middle);
    let defect = assert_defect(&store, FindingKind::Log, &path);
    assert!(defect.offset.is_some_and(|at| at <= middle && at > middle - 300), "{defect}");
    // More than one: each is reported.
    flip(&store, &path, middle + 2000);
    assert_eq!(store.check().defects.len(), 2);

    let torn = logged();
    torn.change(&path, |content| content.truncate(content.len() - 5));
    let report = assert_clean(&torn);
    assert_eq!(report.notes[0].kind, FindingKind::TornTail);
    assert!(report.notes[0].offset.is_some_and(|at| at > middle), "{report:?}");

    let header = logged();
    flip(&header, &path, 9);
    let report = header.check();
    assert!(report.defects.iter().any(|d| d.kind == FindingKind::Log && d.path == path));
}

#[test]
fn a_log_file_that_is_gone() {
    let mut store = TestStore::new();
    store.options.wal.roll_size_bytes = 2048;
    let store = store.with_killed(|engine| {
        create(engine, "t");
        fill(engine, "t", 0);
    });
    let log_files = store.files("/WALs/");
    assert!(log_files.len() > 5);
    store.fs.remove_file(&log_files[3]).unwrap();
    let defect = assert_defect(&store, FindingKind::Log, &log_files[3]);
    assert!(defect.what.contains("missing"), "{defect}");
}

/// Store files are read even if no region is known to own them.
#[test]
fn hbase_meta_itself() {
    let store = stored();
    let meta = store.files("/data/hbase/meta/1588230740/info/").remove(0);
    flip(&store, &meta, 100);
    let (path, _) = store_file(&store);
    flip(&store, &path, 100);
    let report = store.check();
    let paths: Vec<_> = report.defects.iter().map(|defect| defect.path.clone()).collect();
    assert_eq!(paths, [path, meta], "{report:#?}");
    assert!(report.notes.iter().any(|note| note.kind == FindingKind::NotChecked));
}

#[test]
fn what_an_open_tidies_up_is_a_note() {
    let store = stored();
    let (path, _) = store_file(&store);
    let region = path.parent().unwrap().parent().unwrap().to_path_buf();
    let temporary = region.join(".tmp/f");
    store.fs.create_dir_all(&temporary).unwrap();
    write(&store.fs, &temporary.join("00ff"), b"half of a file");
    write(&store.fs, &path.with_file_name("READ\nME"), b"by hand");
    let report = assert_clean(&store);
    assert!(report.notes.iter().all(|note| note.to_string().lines().count() == 1));
    assert!(report.notes.iter().any(|note| note.to_string().contains("READ\\nME: foreign: ")));
    let kinds: Vec<_> = report.notes.iter().map(|note| note.kind).collect();
    assert_eq!(kinds.len(), 2, "{report:?}");
    assert!(kinds.contains(&FindingKind::LeftOver) && kinds.contains(&FindingKind::Foreign));
}
