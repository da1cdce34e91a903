//! Which directories are stores, and that a look changes nothing.

use std::path::{Path, PathBuf};

use hblite_env::{DirEntry, Env, FileSystem, MemFileSystem};
use hblite_model::{ErrorKind, Result};

use super::enter;
use crate::layout::{Layout, Marker, Place, StoreId, Tolerance, recognize};

const DIR: &str = "/d";

/// Files below `/d`, with `/` at the end of the names of directories.
fn contents(fs: &MemFileSystem) -> Vec<(PathBuf, Vec<u8>)> {
    fn collect(fs: &MemFileSystem, dir: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
        for DirEntry { name, is_dir } in fs.list_dir(dir).unwrap_or_default() {
            let path = dir.join(&name);
            let content = if is_dir { Vec::new() } else { fs.read(&path).unwrap() };
            found.push((path.clone(), content));
            if is_dir {
                collect(fs, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(fs, Path::new(DIR), &mut found);
    found
}

fn write(fs: &MemFileSystem, path: &str, content: &[u8]) {
    let path = Path::new(DIR).join(path);
    fs.create_dir_all(path.parent().unwrap()).unwrap();
    if fs.exists(&path).unwrap() {
        fs.remove_file(&path).unwrap();
    }
    fs.create(&path).unwrap().write_all(content).unwrap();
}

fn look_with(fs: &MemFileSystem, salvage: bool) -> Result<Place> {
    let before = contents(fs);
    let place =
        recognize(fs, &Layout::new(Path::new(DIR)), Tolerance { salvage, ..Tolerance::default() });
    assert!(contents(fs) == before, "a look has changed something");
    place
}

fn look(fs: &MemFileSystem) -> Result<Place> {
    look_with(fs, false)
}

fn refusal(fs: &MemFileSystem) -> String {
    let error = look(fs).expect_err("the directory must be refused");
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.message().contains("Nothing was changed"), "{error}");
    error.message().to_owned()
}

/// A store as its creation leaves it, with its id.
fn store() -> (MemFileSystem, StoreId) {
    let fs = MemFileSystem::new();
    let env = Env::in_memory().with_fs(std::sync::Arc::new(fs.clone()));
    let id = enter(&env, &Layout::new(Path::new(DIR))).unwrap();
    write(&fs, "LOCK", b"process 1");
    (fs, id)
}

fn with_table(fs: &MemFileSystem) {
    write(fs, "data/default/t/.tabledesc/.tableinfo.0000000001.7", b"settings");
}

fn remove(fs: &MemFileSystem, name: &str) {
    fs.remove_file(&Path::new(DIR).join(name)).unwrap();
}

#[test]
fn nothing_is_free() {
    let fs = MemFileSystem::new();
    assert_eq!(look(&fs).unwrap(), Place::Free(None));
    fs.create_dir_all(Path::new(DIR)).unwrap();
    assert_eq!(look(&fs).unwrap(), Place::Free(None));
}

#[test]
fn directories_of_others_are_refused_by_what_they_hold() {
    for (path, shown) in [
        ("notes.txt", "it holds notes.txt, and lacks hbase.version, hbase.id, hblite.store"),
        ("data/default/photos/2026/a.jpg", "it holds data, and lacks"),
        (".tmp/mine", "it holds .tmp, and lacks"),
        ("WALs/mine", "it holds WALs, and lacks"),
        ("data/hbase/meta/1588230740/info/0123", "it holds data, and lacks"),
        ("data/mine.txt", "it holds data, and lacks"),
        ("archive/a", "it holds archive, and lacks"),
    ] {
        let fs = MemFileSystem::new();
        write(&fs, path, b"mine");
        assert!(refusal(&fs).contains(shown), "{path}: {}", refusal(&fs));
        assert!(look_with(&fs, true).is_err(), "{path}");
    }
    let fs = MemFileSystem::new();
    for name in ["a", "b\n", "c", "d", "LOCK"] {
        write(&fs, name, b"mine");
    }
    assert!(refusal(&fs).contains("it holds a, b\\n, c and 2 more, and lacks"), "{}", refusal(&fs));
}

#[test]
fn a_store_is_known_by_three_files() {
    let (fs, id) = store();
    with_table(&fs);
    let marker = Marker::new(id);
    assert_eq!(look(&fs).unwrap(), Place::Store(marker));
    for name in ["hbase.id", "hbase.version"] {
        let (fs, id) = store();
        with_table(&fs);
        remove(&fs, name);
        assert!(refusal(&fs).contains(&format!("and lacks {name}.")), "{}", refusal(&fs));
        let marker = Marker::new(id);
        assert_eq!(look_with(&fs, true).unwrap(), Place::Store(marker));
    }
    let (fs, _) = store();
    with_table(&fs);
    remove(&fs, "hblite.store");
    // Neither log nor hbase:namespace of hblite: these could be files of HBase.
    assert!(refusal(&fs).contains("lacks hblite.store"), "{}", refusal(&fs));
}

#[test]
fn files_of_two_stores_are_not_one_store() {
    let (fs, _) = store();
    let (other, _) = store();
    let id = Path::new(DIR).join("hbase.id");
    write(&fs, "hbase.id", &other.read(&id).unwrap());
    let error = look(&fs).unwrap_err();
    assert_eq!(error.file(), Some(&*Path::new(DIR).join("hblite.store")));
    assert!(error.message().contains("files of two stores are mixed"), "{error}");
}

#[test]
fn damaged_files_of_a_store_are_named_and_salvage_does_without_one() {
    for name in ["hbase.id", "hbase.version", "hblite.store"] {
        let (fs, id) = store();
        write(&fs, "WALs/hblite-wal.0000000001", b"log");
        write(&fs, name, b"something of the length of a mark...");
        let error = look(&fs).unwrap_err();
        assert_eq!(error.file(), Some(&*Path::new(DIR).join(name)), "{name}");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}");
        assert_eq!(look_with(&fs, true).unwrap().require_store(Path::new(DIR)).unwrap(), id);
        let layout = Layout::new(Path::new(DIR)).with_store_id(id);
        layout.prepare(&fs, look_with(&fs, true).unwrap()).unwrap();
        let marker = Marker::new(id);
        assert_eq!(look(&fs).unwrap(), Place::Store(marker), "{name}");
    }
}

#[test]
fn salvage_knows_a_store_without_its_marker_by_its_log_or_its_catalog() {
    let log = "WALs/hblite-wal.0000000003";
    let namespace = "data/hbase/namespace/9775a09eb0d68f02f5c27657285bdd03/.regioninfo";
    for evidence in [log, namespace] {
        let (fs, id) = store();
        with_table(&fs);
        remove(&fs, "hblite.store");
        assert!(look_with(&fs, true).is_err());
        write(&fs, evidence, b"");
        assert!(refusal(&fs).contains("lacks hblite.store"), "{}", refusal(&fs));
        assert_eq!(look_with(&fs, true).unwrap(), Place::Unmarked(id));
        write(&fs, "hblite.store", b"");
        assert!(refusal(&fs).contains("lacks hblite.store"), "{}", refusal(&fs));
        assert_eq!(look_with(&fs, true).unwrap(), Place::Unmarked(id));
        remove(&fs, "hblite.store");
        for required in ["LOCK", "hbase.version", "hbase.id"] {
            let content = fs.read(&Path::new(DIR).join(required)).unwrap();
            remove(&fs, required);
            assert!(look_with(&fs, true).is_err(), "{required}");
            write(&fs, required, &content);
        }
    }
}

#[test]
fn a_repair_that_a_power_cut_ended_is_left_of_a_creation() {
    for name in ["hbase.id", "hbase.version", "hblite.store"] {
        let (fs, id) = store();
        let content = fs.read(&Path::new(DIR).join(name)).unwrap();
        remove(&fs, "hbase.version");
        for length in [0, content.len() / 2, content.len()] {
            write(&fs, &format!("{name}.tmp"), &content[..length]);
            assert_eq!(look(&fs).unwrap(), Place::Free(Some(id)), "{name}.tmp, {length} bytes");
        }
        write(&fs, &format!("{name}.tmp"), b"notes of my own, of some length.....");
        assert!(refusal(&fs).contains(&format!("it holds {name}.tmp")), "{}", refusal(&fs));
    }
}

/// A history of requests is written while the creation of a store may not be durable yet.
#[test]
fn a_history_of_requests_may_be_left_of_a_creation() {
    let (fs, id) = store();
    remove(&fs, "hbase.version");
    for name in ["hblite.history", "hblite.history.tmp"] {
        write(&fs, name, b"anything");
        assert_eq!(look(&fs).unwrap(), Place::Free(Some(id)), "{name}");
    }
    write(&fs, "hblite.history.old", b"mine");
    assert!(refusal(&fs).contains("hblite.history.old"), "{}", refusal(&fs));
}

#[test]
fn a_root_directory_of_hbase_is_refused_as_such() {
    let (fs, _) = store();
    for name in ["hblite.store", "LOCK"] {
        remove(&fs, name);
    }
    write(&fs, "MasterData/WALs/x", b"");
    write(&fs, "data/hbase/namespace/0123456789abcdef0123456789abcdef/.regioninfo", b"");
    assert!(refusal(&fs).contains("root directory of an Apache HBase cluster"), "{}", refusal(&fs));
}

/// What systems put into a directory does not count, and stays.
#[test]
fn a_new_volume_is_free() {
    let env = Env::in_memory();
    let layout = Layout::new(Path::new("/d"));
    env.fs.create_dir_all(Path::new("/d/lost+found")).unwrap();
    for file in [".DS_Store", ".gitkeep", ".gitignore"] {
        env.fs.create(&Path::new("/d").join(file)).unwrap();
    }
    let id = enter(&env, &layout).unwrap();
    let found = recognize(env.fs.as_ref(), &layout, Tolerance::default()).unwrap();
    assert!(matches!(found, Place::Store(marker) if marker.store_id == id));
    assert!(env.fs.exists(Path::new("/d/lost+found")).unwrap());
    // A file of this name is none of a file system.
    env.fs.create_dir_all(Path::new("/e")).unwrap();
    env.fs.create(Path::new("/e/lost+found")).unwrap();
    let refused = recognize(env.fs.as_ref(), &Layout::new(Path::new("/e")), Tolerance::default());
    let message = refused.unwrap_err().message().to_owned();
    assert!(message.contains("such as /e/hblite-data"), "{message}");
}
