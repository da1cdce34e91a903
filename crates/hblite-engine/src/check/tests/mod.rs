//! What a check finds: nothing in sound stores (`shapes`), each damage under its name (`damage`,
//! `small_files`, `manifest`), and no panic in any (`random`).

mod cuts;
mod damage;
mod manifest;
mod random;
mod shapes;
mod small_files;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{Env, FileSystem, ManualClock, MemFileSystem, SeededRandom, files_below};
use hblite_model::{BloomType, ColumnFamilyDescriptor, Delete, Put, TableDescriptor, TableName};

use super::{CheckReport, FindingKind, check};
use crate::layout::Layout;
use crate::{Engine, EngineOptions};

const DIR: &str = "/store";

/// A store in memory that outlives its engines.
struct TestStore {
    fs: MemFileSystem,
    options: EngineOptions,
    /// Names of files must not recur when the store is opened again.
    random: Arc<SeededRandom>,
}

/// A path as tests write it, on every platform.
fn with_slashes(path: &Path) -> String {
    path.to_str().unwrap().replace('\\', "/")
}

impl TestStore {
    fn new() -> Self {
        let options = EngineOptions { is_compaction_enabled: false, ..EngineOptions::default() };
        Self { fs: MemFileSystem::new(), options, random: Arc::new(SeededRandom::new(7)) }
    }

    fn env(&self) -> Env {
        Env {
            fs: Arc::new(self.fs.clone()),
            clock: Arc::new(ManualClock::new(1_700_000_000_000)),
            random: self.random.clone(),
        }
    }

    fn open(&self) -> Arc<Engine> {
        Engine::open(self.env(), Path::new(DIR), self.options.clone()).unwrap()
    }

    /// Does something in an open store and closes it.
    fn with(self, work: impl FnOnce(&Arc<Engine>)) -> Self {
        let engine = self.open();
        work(&engine);
        engine.close().unwrap();
        self
    }

    /// Like [`TestStore::with`], but the process is killed.
    fn with_killed(self, work: impl FnOnce(&Arc<Engine>)) -> Self {
        let engine = self.open();
        work(&engine);
        engine.abandon();
        let fs = MemFileSystem::new();
        for path in self.files("") {
            fs.create_dir_all(path.parent().unwrap()).unwrap();
            write(&fs, &path, &self.fs.read(&path).unwrap());
        }
        Self { fs, ..self }
    }

    fn check(&self) -> CheckReport {
        check(&self.env(), Path::new(DIR), &mut |_| {}).unwrap()
    }

    /// All files whose path contains this, sorted.
    fn files(&self, part: &str) -> Vec<PathBuf> {
        let mut files = files_below(&self.fs, Path::new(DIR)).unwrap();
        let part = with_slashes(Path::new(part));
        files.retain(|path| with_slashes(path).contains(&part));
        files
    }

    /// The store files of a table.
    fn store_files(&self, table: &str) -> Vec<PathBuf> {
        let mut files = self.files(&format!("/data/default/{table}/"));
        files.retain(|path| !with_slashes(path).contains("/."));
        files
    }

    fn change(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut content = self.fs.read(path).unwrap();
        change(&mut content);
        self.fs.remove_file(path).unwrap();
        write(&self.fs, path, &content);
    }

    /// Everything but the lock.
    fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = self.files("").into_iter().filter(|path| !path.ends_with("LOCK"));
        files.map(|path| (path.clone(), self.fs.read(&path).unwrap())).collect()
    }
}

fn write(fs: &dyn FileSystem, path: &Path, content: &[u8]) {
    fs.create(path).unwrap().write_all(content).unwrap();
}

fn name(name: &str) -> TableName {
    name.parse().unwrap()
}

/// A table with small blocks, split at "m", and a filter of rows and one of columns.
fn create(engine: &Arc<Engine>, table: &str) {
    let table = TableDescriptor::new(name(table))
        .with_family(ColumnFamilyDescriptor::new("f").with_block_size(1024))
        .with_family(
            ColumnFamilyDescriptor::new("g").with_block_size(1024).with_bloom(BloomType::RowCol),
        );
    engine.procedures().create_table(&table, &[b"m".to_vec()]).unwrap();
}

/// Rows in both regions and both families, with deletes of every kind.
fn fill(engine: &Arc<Engine>, table: &str, from: u32) {
    let table = engine.table(name(table));
    for number in from..from + 100 {
        for side in ["a", "z"] {
            let row = format!("{side}{number:05}");
            let put = Put::new(&row).add("f", "q", "v".repeat(30)).add("g", "x", &row);
            table.mutate(put.as_mutation()).unwrap();
            if number % 10 == 0 {
                let delete = Delete::new(&row).family("f").columns("g", "x");
                table.mutate(delete.as_mutation()).unwrap();
            }
        }
    }
}

fn with_files(engine: &Arc<Engine>) {
    create(engine, "t");
    fill(engine, "t", 0);
    engine.flush(name("t")).unwrap();
}

#[track_caller]
fn assert_clean(store: &TestStore) -> CheckReport {
    let before = store.contents();
    let report = store.check();
    assert_eq!(report.defects, []);
    assert!(store.contents() == before, "something was changed");
    report
}
