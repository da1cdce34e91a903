//! What tests of a whole store have in common: a store on files in memory, tables, rows, a check.
//!
//! A test takes what it needs: `mod testkit;`.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod cuts;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use hblite::{
    CheckReport, ColumnFamilyDescriptor, Connection, Durability, Env, Options, Put, Result,
    TableDescriptor, TableName,
};
use hblite_env::{Clock, FileSystem};

/// The directory of a store on files in memory.
pub(crate) const STORE: &str = "/store";

/// A clock that is later at every reading, in all stores of the process. Otherwise a delete could
/// hide a put that follows in the same millisecond.
#[derive(Debug)]
struct LaterClock;

impl Clock for LaterClock {
    fn now_millis(&self) -> i64 {
        static NOW_MS: AtomicI64 = AtomicI64::new(1_700_000_000_000);
        NOW_MS.fetch_add(1, Ordering::Relaxed)
    }
}

/// Sets the flag when it is dropped, so that the other threads of a test end, too, if its holder
/// fails. The thread that ends the others holds one, and each whose end ends the test.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An environment with these files, and a clock that does not depend on how fast the test runs.
pub(crate) fn env(fs: impl FileSystem + 'static) -> Env {
    Env::in_memory().with_fs(Arc::new(fs)).with_clock(Arc::new(LaterClock))
}

/// The store on these files, with these settings.
pub(crate) fn open(fs: impl FileSystem + 'static, engine: Options) -> Result<Connection> {
    engine.with_env(env(fs)).open(Path::new(STORE))
}

/// Settings under which files change only when a test says so, and a close leaves the log.
pub(crate) fn by_hand() -> Options {
    Options::new().with_compaction_enabled(false).with_flush_on_close(false)
}

/// The name of a table.
pub(crate) fn name(text: &str) -> TableName {
    text.parse().expect("a legal name")
}

/// The descriptor of a table with these families.
pub(crate) fn descriptor(table: &str, families: &[&str]) -> TableDescriptor {
    let families = families.iter().map(|family| ColumnFamilyDescriptor::new(*family));
    families.fold(TableDescriptor::new(name(table)), |table, family| table.with_family(family))
}

/// Creates a table with these families.
pub(crate) fn create(connection: &Connection, table: &str, families: &[&str]) -> Result<()> {
    connection.admin().create_table(&descriptor(table, families))
}

/// A put of one value into column `q` of each family, durable on return.
pub(crate) fn durable_put(row: &str, families: &[&str], value: &str) -> Put {
    let put = Put::new(row).with_durability(Durability::FsyncWal);
    families.iter().fold(put, |put, family| put.add(*family, "q", value))
}

/// What a check of the store on these files reports.
pub(crate) fn check(fs: &(impl FileSystem + Clone + 'static)) -> CheckReport {
    hblite_engine::check(&env(fs.clone()), Path::new(STORE), &mut |_| {}).expect("a store")
}

/// Every file below a directory, none if there is no such directory.
pub(crate) fn files_below(fs: &dyn FileSystem, dir: &Path) -> Vec<PathBuf> {
    hblite_env::files_below(fs, dir).unwrap_or_default()
}

/// Copies the files below `from` to the same paths below `to`, and makes them durable.
pub(crate) fn copy_files(
    (from_fs, from): (&dyn FileSystem, &Path),
    (to_fs, to): (&dyn FileSystem, &Path),
) {
    for path in files_below(from_fs, from) {
        let content = from_fs.read(&path).expect("it was listed");
        write_file(to_fs, &to.join(path.strip_prefix(from).expect("it is below")), &content);
    }
}

/// Writes a file that is not there yet, and makes it and the directories above it durable.
pub(crate) fn write_file(fs: &dyn FileSystem, path: &Path, content: &[u8]) {
    fs.create_dir_all(path.parent().expect("a file is in a directory")).expect("room");
    let mut file = fs.create(path).expect("room");
    file.write_all(content).and_then(|()| file.sync()).expect("room");
    let above = path.ancestors().skip(1);
    for dir in above.take_while(|dir| dir.parent().is_some()) {
        fs.sync_dir(dir).expect("it is there");
    }
}

/// The bytes as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The store files of one family of a table of the store in `dir`.
pub(crate) fn store_files(dir: &Path, table: &str, family: &str) -> Vec<PathBuf> {
    let regions =
        fs::read_dir(dir.join("data/default").join(table)).expect("the table's directory");
    let families =
        regions.flatten().filter_map(|region| fs::read_dir(region.path().join(family)).ok());
    families.flatten().flatten().map(|file| file.path()).collect()
}
