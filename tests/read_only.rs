//! Stores opened read-only: nothing is written, changes are refused, and another process may write.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use hblite::{
    ColumnFamilyDescriptor, CompactRequest, Connection, Delete, Exception, FlushRequest, Get,
    Increment, NamespaceDescriptor, Options, Put, Scan, SnapshotOptions, SystemTables,
    TableDescriptor,
};
use hblite_env::{DirEntry, Env, FileLock, FileSystem, ReadableFile, StdFileSystem, WritableFile};

use crate::testkit;

/// The real file system, on media that cannot be written.
#[derive(Debug, Default)]
struct ReadOnlyFs {
    /// Calls that would have changed something.
    refused: AtomicU64,
    /// What another process does meanwhile.
    passing_table: Option<PassingTable>,
}

impl ReadOnlyFs {
    fn refuse<T>(&self) -> io::Result<T> {
        self.refused.fetch_add(1, Ordering::Relaxed);
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

impl FileSystem for ReadOnlyFs {
    fn create(&self, _: &Path) -> io::Result<Box<dyn WritableFile>> {
        self.refuse()
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        self.passing_table.iter().for_each(|table| table.file_is_opened(path));
        StdFileSystem.open(path)
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        self.refuse()
    }

    fn remove_file(&self, _: &Path) -> io::Result<()> {
        self.refuse()
    }

    fn remove_dir_all(&self, _: &Path) -> io::Result<()> {
        self.refuse()
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() { Ok(()) } else { self.refuse() }
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.passing_table.iter().for_each(PassingTable::directory_is_listed);
        StdFileSystem.list_dir(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        StdFileSystem.exists(path)
    }

    fn file_length(&self, path: &Path) -> io::Result<u64> {
        StdFileSystem.file_length(path)
    }

    fn hard_link(&self, _: &Path, _: &Path) -> io::Result<()> {
        self.refuse()
    }

    fn sync_file(&self, _: &Path) -> io::Result<()> {
        self.refuse()
    }

    fn rewrite(&self, _: &Path, _: u64) -> io::Result<()> {
        self.refuse()
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        self.refuse()
    }

    fn lock(&self, _: &Path, _: &str) -> io::Result<Box<dyn FileLock>> {
        self.refuse()
    }

    fn lock_existing(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        StdFileSystem.lock_existing(path)
    }
}

/// A table that is created after the names of a store were listed, and dropped before they are
/// listed again, once.
#[derive(Debug)]
struct PassingTable {
    writer: Connection,
    steps: AtomicU64,
}

impl PassingTable {
    fn step(&self, from: u64, act: impl FnOnce(&Connection)) {
        if self.steps.compare_exchange(from, from + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            act(&self.writer);
        }
    }

    fn file_is_opened(&self, path: &Path) {
        if path.components().any(|part| part.as_os_str() == "WALs") {
            self.step(0, |writer| {
                writer.admin().create_table(&testkit::descriptor("u", &["f"])).unwrap();
            });
        }
    }

    fn directory_is_listed(&self) {
        self.step(1, |writer| delete_table(writer, "u"));
    }
}

fn delete_table(connection: &Connection, name: &str) {
    let admin = connection.admin();
    admin.disable_table(name).unwrap();
    admin.delete_table(name).unwrap();
}

fn create(connection: &Connection) {
    let families = ["a", "b"].map(|name| ColumnFamilyDescriptor::new(name).with_versions(3));
    let descriptor = families
        .into_iter()
        .fold(TableDescriptor::new("t".parse().unwrap()), |table, f| table.with_family(f));
    connection.admin().create_table(&descriptor).unwrap();
}

/// A row with a cell in each family.
fn put(number: u64) -> Put {
    let value = number.to_string();
    Put::new(format!("row{number:06}")).add("a", "q", value.clone()).add("b", "q", value)
}

/// How many rows there are, which must be the first ones, and whole.
fn prefix(connection: &Connection) -> u64 {
    let mut count = 0;
    for row in connection.table("t").unwrap().scan(&Scan::new()).unwrap() {
        let row = row.unwrap();
        assert_eq!(row.row(), format!("row{count:06}").as_bytes(), "a row is missing");
        let value = count.to_string();
        for family in ["a", "b"] {
            assert_eq!(row.value(family, "q"), Some(value.as_bytes()), "{count}: {family}");
        }
        count += 1;
    }
    count
}

/// Every file below a directory, with its content.
fn content(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.insert(path.clone(), Vec::new());
            files.extend(content(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

/// What a kill leaves of a store: ten rows in files, ten in the log, and the leftovers of a
/// compaction.
fn killed_store(dir: &Path) {
    let living = dir.join("living");
    let connection = hblite::open(&living).unwrap();
    create(&connection);
    let table = connection.table("t").unwrap();
    (0..10).for_each(|number| table.put(&put(number)).unwrap());
    connection.admin().flush_table(table.name()).unwrap();
    (10..20).for_each(|number| table.put(&put(number)).unwrap());
    for (path, bytes) in content(&living) {
        let copy = dir.join("store").join(path.strip_prefix(&living).unwrap());
        if path.is_dir() {
            fs::create_dir_all(copy).unwrap();
        } else {
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::write(copy, bytes).unwrap();
        }
    }
}

/// A mapped file would kill this process with SIGBUS.
#[test]
fn a_file_that_is_truncated_under_a_read_only_open_is_an_error_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let writer = hblite::open(dir.path()).unwrap();
    create(&writer);
    let table = writer.table("t").unwrap();
    for number in 0..2000_u64 {
        let value = format!("{number:0100}");
        table.put(&Put::new(format!("row{number:06}")).add("a", "q", value)).unwrap();
    }
    writer.admin().flush_table(table.name()).unwrap();
    let engine = Options::new().with_files_mapped(false);
    let reader = engine.with_read_only(true).open(dir.path()).unwrap();
    let (file, _) = content(&dir.path().join("data/default/t"))
        .into_iter()
        .find(|(_, content)| content.len() > 100_000)
        .unwrap();
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(70_000).unwrap();
    let error = reader.table("t").unwrap().get(&Get::new("row001900")).unwrap_err();
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(error.to_string().contains(name), "{error}");
}

#[test]
fn nothing_is_written_and_the_log_is_read() {
    let dir = tempfile::tempdir().unwrap();
    killed_store(dir.path());
    let store = dir.path().join("store");
    for has_lock in [true, false] {
        if !has_lock {
            fs::remove_file(store.join("LOCK")).unwrap();
        }
        let before = content(&store);
        let media = Arc::new(ReadOnlyFs::default());
        let env = Env::system().with_fs(media.clone());
        let connection =
            Options::new().with_env(env.clone()).with_read_only(true).open(&store).unwrap();
        assert_eq!(prefix(&connection), 20);
        connection.close().unwrap();
        let report = hblite_engine::check(&env, &store, &mut |_| {}).unwrap();
        assert!(report.is_clean(), "{:?}", report.defects);
        let is_told = report.notes.iter().any(|note| note.path.ends_with("LOCK"));
        assert_eq!(is_told, !has_lock);
        assert_eq!(media.refused.load(Ordering::Relaxed), 0);
        assert_eq!(content(&store), before);
    }
}

#[test]
fn an_open_for_writing_says_how_to_read_what_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    hblite::open(dir.path()).unwrap().close().unwrap();
    let env = Env::system().with_fs(Arc::new(ReadOnlyFs::default()));
    let error = Options::new().with_env(env).open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("LOCK: read-only filesystem"), "{error}");
    assert!(error.contains("Options::with_read_only, or --read-only"), "{error}");
}

#[test]
fn changes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    killed_store(dir.path());
    let store = dir.path().join("store");
    let before = content(&store);
    let connection = Options::new().with_read_only(true).open(&store).unwrap();
    let (admin, table) = (connection.admin(), connection.table("t").unwrap());
    let name = testkit::name("t");
    let other = testkit::descriptor("u", &["f"]);
    let region = admin.regions(&name).unwrap()[0].encoded_name().to_owned();
    let copy = dir.path().join("copy");
    let refused = [
        ("put", table.put(&put(99))),
        ("put without log", table.put(&put(99).with_durability(hblite::Durability::SkipWal))),
        ("delete", table.delete(&Delete::new("row000001"))),
        ("increment", table.increment(&Increment::new("row000001").add("a", "c", 1)).map(drop)),
        ("create", admin.create_table(&other)),
        ("disable", admin.disable_table(&name)),
        ("modify", admin.modify_table(&admin.describe_table(&name).unwrap())),
        ("namespace", admin.create_namespace(&NamespaceDescriptor::new("n"))),
        ("flush", admin.flush_table(&name)),
        ("flush of a region", admin.flush(&FlushRequest::region(&region))),
        ("flush of a family", admin.flush(&FlushRequest::table(name.clone()).with_family("a"))),
        ("compact", admin.major_compact_table(&name)),
        ("compact of a region", admin.compact(&CompactRequest::region(&region))),
        ("split", admin.split_table(&name, Some(b"row000005"))),
        ("truncate of a region", admin.truncate_region(&region)),
        ("snapshot", admin.snapshot("s", &name, &SnapshotOptions::default())),
        ("backup", admin.backup(&copy).map(drop)),
    ];
    for (what, result) in refused {
        let error = result.expect_err(what);
        assert_eq!(error.exception(), Exception::DoNotRetryIo, "{what}: {error}");
        assert!(error.message().ends_with("store is open read-only"), "{what}: {error}");
    }
    assert!(admin.list_snapshots().unwrap().is_empty());
    assert_eq!(prefix(&connection), 20);
    assert!(table.get(&Get::new("row000099")).unwrap().is_empty());
    connection.close().unwrap();
    assert!(!copy.exists());
    assert_eq!(content(&store), before);
}

#[test]
fn a_directory_without_a_store_is_not_made_one() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none");
    let error = Options::new().with_read_only(true).open(&missing).unwrap_err();
    assert!(error.message().contains("no store is there"), "{error}");
    assert!(!missing.exists());
}

#[test]
fn a_table_that_comes_and_goes_during_an_open_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let writer = hblite::open(dir.path()).unwrap();
    create(&writer);
    writer.table("t").unwrap().put(&put(0)).unwrap();
    // The first table that is dropped leaves directories, which the next one does not.
    writer.admin().create_table(&testkit::descriptor("u", &["f"])).unwrap();
    delete_table(&writer, "u");
    let passing = PassingTable { writer: writer.clone(), steps: AtomicU64::new(0) };
    let fs = Arc::new(ReadOnlyFs { passing_table: Some(passing), ..ReadOnlyFs::default() });
    let env = Env::system().with_fs(Arc::clone(&fs) as Arc<dyn FileSystem>);
    let reader = Options::new().with_env(env).with_read_only(true).open(dir.path()).unwrap();
    let steps = fs.passing_table.as_ref().unwrap().steps.load(Ordering::Relaxed);
    assert_eq!(steps, 2, "the table came and went");
    assert_eq!(prefix(&reader), 1);
    let tables = reader.admin().list_tables(SystemTables::Exclude).unwrap();
    assert!(tables.iter().all(|table| table.name().qualifier() == "t"), "{tables:?}");
}

/// While a writer puts rows one after the other, flushes, compacts, splits and makes and drops
/// tables, each open finds some number of the first rows, at least those that were acknowledged
/// before.
#[test]
fn a_store_is_read_while_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let writer = hblite::open(dir.path()).unwrap();
    create(&writer);
    let (acknowledged, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let (admin, table) = (writer.admin(), writer.table("t").unwrap());
            let name = table.name().clone();
            let other = testkit::descriptor("u", &["f"]);
            for number in 0.. {
                table.put(&put(number)).unwrap();
                acknowledged.store(number + 1, Ordering::Release);
                match number % 500 {
                    99 | 299 => admin.flush_table(&name).unwrap(),
                    399 => admin.major_compact_table(&name).unwrap(),
                    449 if number < 2_000 => {
                        let key = format!("row{:06}", number / 2);
                        admin.split_table(&name, Some(key.as_bytes())).unwrap();
                    }
                    199 => admin.create_table(&other).unwrap(),
                    249 => delete_table(&writer, "u"),
                    _ => {}
                }
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let _end = testkit::SetOnDrop(&is_over);
        let mut seen = Vec::new();
        while seen.len() < 30 {
            let before = acknowledged.load(Ordering::Acquire);
            let reader = Options::new().with_read_only(true).open(dir.path()).unwrap();
            let count = prefix(&reader);
            assert!(count >= before, "{count} of {before} rows");
            // Its view stays the same, even after its files are removed.
            assert_eq!(prefix(&reader), count);
            seen.push(count);
        }
        assert!(seen.first() < seen.last(), "the store has grown meanwhile: {seen:?}");
    });
}
