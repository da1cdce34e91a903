//! Root directories to which HBase's ExportSnapshot copied a snapshot of another HBase. On a local
//! disk, Hadoop leaves a checksum file next to each file that it copied.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hblite::{NamespaceDescriptor, SnapshotKind};
use hblite_env::{FileSystem, MemFileSystem};

use super::directory::{
    ROOT, adopt, assert_sound, cells, cells_of, contents, copy_fixture, expected, fixture, options,
    write,
};

const SNAPSHOT: &str = "of-n-t";

/// Hadoop's checksum files and the files that they belong to, with their contents.
fn checked_files(fs: &dyn FileSystem) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut checked = BTreeMap::new();
    for (path, content) in contents(fs) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.strip_prefix('.').and_then(|name| name.strip_suffix(".crc"));
        if let (Some(name), Some(content)) = (name, content) {
            let file = path.with_file_name(name);
            checked.insert(file.clone(), fs.read(&file).expect("it is next to it"));
            checked.insert(path, content);
        }
    }
    checked
}

/// The checksum files fit their files: `crc`, the length of a part, and a CRC-32 of each.
fn assert_fits(checked: &BTreeMap<PathBuf, Vec<u8>>) {
    let mut count = 0;
    for (path, sums) in checked {
        let name = path.file_name().and_then(|name| name.to_str()).expect("text");
        let Some(name) = name.strip_suffix(".crc") else { continue };
        let file = &checked[&path.with_file_name(&name[1..])];
        let parts = file.chunks(512).flat_map(|part| crc32fast::hash(part).to_be_bytes());
        let expected: Vec<u8> = b"crc\0\0\0\x02\0".iter().copied().chain(parts).collect();
        assert_eq!(*sums, expected, "{path:?}");
        count += 1;
    }
    assert_eq!(count, 8);
}

#[test]
fn a_snapshot_that_was_exported_into_the_root_is_adopted_with_it() {
    for name in ["stopped", "killed"] {
        let fs = fixture(name);
        copy_fixture(&fs, "exported");
        let checked = checked_files(&fs);
        assert_fits(&checked);
        let connection = adopt(&fs).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(cells(&connection), expected(), "{name}");
        let admin = connection.admin();
        let listed = admin.list_snapshots().expect("it can be read");
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert_eq!((&*listed[0].name, listed[0].kind), (SNAPSHOT, SnapshotKind::Flush));
        admin.clone_snapshot(SNAPSHOT, "clone").expect("it is whole");
        assert_eq!(cells_of(&connection, "clone"), expected(), "{name}");
        connection.close().expect("nothing fails");
        assert_sound(&fs, name);
        assert_eq!(checked_files(&fs), checked, "{name}: HBase verifies them");
        // A deleted snapshot goes with Hadoop's files. Its files in the archive stay for HBase's
        // cleaner.
        let connection = options(&fs).open(ROOT).expect("it is a store");
        connection.admin().delete_snapshot(SNAPSHOT).expect("it is there");
        assert_eq!(cells_of(&connection, "clone"), expected(), "{name}");
        connection.close().expect("nothing fails");
        assert_sound(&fs, name);
        let left = checked_files(&fs);
        assert_eq!(left.len(), checked.len(), "{name}: set aside, not deleted");
        for (path, content) in checked.iter().filter(|(path, _)| !is_in_snapshot(path)) {
            assert_eq!(left.get(path), Some(content), "{name}: {path:?}");
        }
    }
}

fn is_in_snapshot(path: &Path) -> bool {
    path.starts_with(Path::new(ROOT).join(".hbase-snapshot"))
}

/// A snapshot can also be exported into a store.
#[test]
fn a_snapshot_that_was_exported_into_a_store_is_used() {
    let fs = MemFileSystem::new();
    let connection = options(&fs).open(ROOT).expect("an empty store");
    connection.admin().create_namespace(&NamespaceDescriptor::new("n")).expect("it is new");
    connection.close().expect("nothing fails");
    copy_fixture(&fs, "exported");
    let checked = checked_files(&fs);
    let connection = options(&fs).open(ROOT).expect("it is a store");
    let admin = connection.admin();
    admin.clone_snapshot(SNAPSHOT, "n:t").expect("it is whole");
    assert_eq!(cells(&connection), expected());
    connection.close().expect("nothing fails");
    assert_sound(&fs, "a store");
    assert_eq!(checked_files(&fs), checked);
}

#[test]
fn checksum_files_elsewhere_are_refused_because_hblite_changes_files_there() {
    for dir in ["data/n/t/.tabledesc", "data/hbase/meta/1588230740/info", "MasterData", "oldWALs"] {
        let fs = fixture("stopped");
        copy_fixture(&fs, "exported");
        write(&fs, format!("{dir}/.file.crc"), b"crc");
        let before = contents(&fs);
        let error = adopt(&fs).expect_err("it would become wrong");
        assert!(error.message().contains("checksum file of Hadoop"), "{dir}: {error}");
        assert!(contents(&fs) == before, "{dir}");
    }
}
