//! Copies of closed and open stores: complete or absent, sound, and independent of the original.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{
    CrashFileSystem, Env, Fault, FaultFileSystem, FileSystem, MemFileSystem, Operation, Random,
    SeededRandom, files_below,
};
use hblite_model::{
    ColumnFamilyDescriptor, CompactRequest, Durability, Exception, Put, Result, Scan,
    TableDescriptor, TableName,
};

use super::backup;
use crate::{Engine, EngineOptions, check};

const DIR: &str = "/store";
const TO: &str = "/backups/monday";

/// Names of files, without those that differ each time a store is opened.
struct World {
    fs: Arc<dyn FileSystem>,
    random: Arc<dyn Random>,
}

impl World {
    fn new(fs: impl FileSystem + 'static, seed: u64) -> Self {
        Self { fs: Arc::new(fs), random: Arc::new(SeededRandom::new(seed)) }
    }

    fn in_memory() -> Self {
        let world = Self::new(MemFileSystem::new(), 11);
        world.fs.create_dir_all(Path::new("/backups")).unwrap();
        world
    }

    fn env(&self) -> Env {
        Env { random: self.random.clone(), ..Env::in_memory() }.with_fs(self.fs.clone())
    }

    fn open(&self, dir: &str) -> Result<Arc<Engine>> {
        let options = EngineOptions { is_compaction_enabled: false, ..EngineOptions::default() };
        Engine::open(self.env(), Path::new(dir), options)
    }

    fn backup(&self) -> Result<hblite_model::BackupReport> {
        backup(&self.env(), Path::new(DIR), Path::new(TO))
    }

    /// Opens a store and returns the rows of its table.
    fn rows(&self, dir: &str) -> Vec<String> {
        let report = check(&self.env(), Path::new(dir), &mut |_| {}).unwrap();
        assert_eq!(report.defects, []);
        let engine = self.open(dir).unwrap();
        let rows = rows(&engine);
        engine.close().unwrap();
        rows
    }

    fn files(&self, dir: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = files_below(self.fs.as_ref(), Path::new(dir)).unwrap();
        files.retain(|path| !path.ends_with("LOCK"));
        files.into_iter().map(|path| (path.clone(), self.fs.read(&path).unwrap())).collect()
    }
}

fn name() -> TableName {
    "t".parse().unwrap()
}

fn create(engine: &Arc<Engine>) -> Result<()> {
    let table = TableDescriptor::new(name())
        .with_family(ColumnFamilyDescriptor::new("f"))
        .with_family(ColumnFamilyDescriptor::new("g"));
    engine.procedures().create_table(&table, &[b"m".to_vec()])
}

fn put(engine: &Arc<Engine>, row: &str) -> Result<()> {
    let put = Put::new(row).add("f", "q", row).add("g", "q", row);
    engine.table(name()).mutate(put.as_mutation())
}

fn rows(engine: &Arc<Engine>) -> Vec<String> {
    let mut scanner = engine.table(name()).scan(&Scan::new()).unwrap();
    let mut rows = Vec::new();
    let mut row = hblite_model::RowResult::default();
    while scanner.next_row(&mut row).unwrap() {
        assert_eq!(row.len(), 2, "both families or none: {row:?}");
        rows.push(String::from_utf8_lossy(row.row()).into_owned());
    }
    rows
}

/// Rows in files, in references to a parent's files and in the log.
fn fill(engine: &Arc<Engine>) -> Result<()> {
    create(engine)?;
    for row in ["a", "c", "n"] {
        put(engine, row)?;
    }
    engine.flush(name())?;
    engine.procedures().split_table(&name(), Some(b"b"))?;
    for row in ["b", "z"] {
        put(engine, row)?;
    }
    Ok(())
}

const FILLED: [&str; 5] = ["a", "b", "c", "n", "z"];

#[test]
fn a_closed_store_is_linked() {
    let world = World::in_memory();
    let engine = world.open(DIR).unwrap();
    fill(&engine).unwrap();
    engine.close().unwrap();
    drop(engine);
    let report = world.backup().unwrap();
    assert!(report.files_linked > 10 && report.files_copied == 0, "{report:?}");
    let original: u64 = world.files(DIR).iter().map(|(_, content)| content.len() as u64).sum();
    assert_eq!(report.bytes, original);
    assert!(!world.fs.exists(Path::new("/backups/monday.partial")).unwrap());
    assert_eq!(world.rows(TO), FILLED);
    assert_eq!(world.rows(DIR), FILLED);
}

/// The copy of a killed store includes its log.
#[test]
fn a_killed_store_is_linked_with_its_log() {
    let world = World::in_memory();
    let engine = world.open(DIR).unwrap();
    fill(&engine).unwrap();
    engine.abandon();
    drop(engine);
    world.backup().unwrap();
    assert_eq!(world.rows(TO), FILLED);
}

#[test]
fn an_open_store_is_copied_by_itself_only() {
    let world = World::in_memory();
    let engine = world.open(DIR).unwrap();
    fill(&engine).unwrap();
    let error = world.backup().unwrap_err();
    assert!(error.message().contains("is open in another process or handle"), "{error}");
    // Cells that are not in the log are flushed first.
    let unlogged = Put::new("y").add("f", "q", "y").add("g", "q", "y");
    let unlogged = unlogged.with_durability(Durability::SkipWal);
    engine.table(name()).mutate(unlogged.as_mutation()).unwrap();
    engine.procedures().backup(Path::new(TO)).unwrap();
    put(&engine, "later").unwrap();
    assert_eq!(world.rows(TO), ["a", "b", "c", "n", "y", "z"]);
    engine.close().unwrap();
    let closed = engine.procedures().backup(Path::new("/backups/tuesday")).unwrap_err();
    assert_eq!(closed.exception(), Exception::RegionServerStopped);
    assert!(!world.fs.exists(Path::new("/backups/tuesday")).unwrap());
    assert_eq!(world.rows(DIR), ["a", "b", "c", "later", "n", "y", "z"]);
}

/// A disabled table, and one of the namespaces; an empty store.
#[test]
fn tables_out_of_service_are_copied() {
    let world = World::in_memory();
    let engine = world.open(DIR).unwrap();
    engine.procedures().backup(Path::new("/backups/empty")).unwrap();
    fill(&engine).unwrap();
    engine.procedures().disable_table(&name()).unwrap();
    engine.procedures().backup(Path::new(TO)).unwrap();
    engine.close().unwrap();
    let copy = world.open(TO).unwrap();
    copy.procedures().enable_table(&name()).unwrap();
    assert_eq!(rows(&copy), FILLED);
    let empty = world.open("/backups/empty").unwrap();
    assert!(!empty.catalog().table_exists(&name()));
}

#[test]
fn what_is_there_is_not_replaced() {
    let world = World::in_memory();
    let engine = world.open(DIR).unwrap();
    fill(&engine).unwrap();
    let refused = |to: &str| {
        let error = engine.procedures().backup(Path::new(to)).unwrap_err();
        (error.exception(), error.message().to_owned())
    };
    world.fs.create_dir_all(Path::new(TO)).unwrap();
    world.fs.create(Path::new("/backups/monday/mine")).unwrap();
    let message = "/backups/monday is there already and not empty: name a new directory, such as \
                   /backups/monday/hblite-data";
    assert_eq!(refused(TO), (Exception::Io, message.to_owned()));
    assert_eq!(refused("/backups/monday/mine").0, Exception::Io);
    assert_eq!(refused("/").0, Exception::IllegalArgument);
    for within in ["/store", "/store/backup", "/backups/../store/data/x"] {
        let (exception, message) = refused(within);
        assert_eq!(exception, Exception::IllegalArgument);
        assert!(message.ends_with("is within the store /store"), "{message}");
    }
    let missing = backup(&world.env(), Path::new("/nowhere"), Path::new("/x")).unwrap_err();
    assert_eq!(missing.message(), "/nowhere: no store is there");
    assert!(!world.fs.exists(Path::new("/nowhere")).unwrap());
    world.fs.remove_file(Path::new("/backups/monday/mine")).unwrap();
    engine.procedures().backup(Path::new(TO)).unwrap();
    // In a directory that does not exist.
    engine.procedures().backup(Path::new("/new/one")).unwrap();
    assert_eq!(world.rows("/new/one"), FILLED);
}

/// A directory with the name of an unfinished backup counts as one only if a backup created it.
#[test]
fn only_what_an_interrupted_backup_left_is_cleared() {
    let world = World::in_memory();
    let engine = world.open(DIR).unwrap();
    fill(&engine).unwrap();
    let partial = Path::new("/backups/monday.partial");
    let put = |name: &str, content: &[u8]| {
        let path = partial.join(name);
        world.fs.create_dir_all(path.parent().unwrap()).unwrap();
        if world.fs.exists(&path).unwrap() {
            world.fs.remove_file(&path).unwrap();
        }
        world.fs.create(&path).unwrap().write_all(content).unwrap();
    };
    let foreign: [(&str, &[u8]); 5] = [
        ("photos/a.jpg", b"x"),
        ("data/left/over", b""),
        ("LOCK", b"my key"),
        ("hblite.backup", b"mine"),
        ("hbase.id", b""),
    ];
    for (name, content) in foreign {
        put(name, content);
        let before = world.files(partial.to_str().unwrap());
        let error = engine.procedures().backup(Path::new(TO)).unwrap_err();
        assert_eq!(error.exception(), Exception::Io);
        let expected = "/backups/monday.partial is there already and is not an unfinished backup";
        let message = error.message().replace('\\', "/");
        assert!(message.starts_with(expected), "{name}: {error}");
        assert_eq!(world.files(partial.to_str().unwrap()), before, "{name}");
        assert_eq!(world.fs.read(&partial.join(name)).unwrap(), content, "{name}");
        world.fs.remove_dir_all(partial).unwrap();
    }
    // What a kill leaves early, or later.
    let whole =
        b"Written by hblite backup. A directory TO.partial with this file is an unfinished \
        backup, which the next backup to TO deletes.\n";
    let beginnings: [&[(&str, &[u8])]; 4] = [
        &[],
        &[("LOCK", b"process 1")],
        &[("LOCK", b"process 1"), ("hblite.backup", b"Written by\0\0\0\0")],
        &[("LOCK", b""), ("hblite.backup", whole), ("data/left/over", b"x"), ("hbase.id", b"")],
    ];
    for files in beginnings {
        world.fs.create_dir_all(partial).unwrap();
        files.iter().for_each(|(name, content)| put(name, content));
        engine.procedures().backup(Path::new(TO)).unwrap();
        assert!(!world.fs.exists(partial).unwrap());
        assert!(!world.fs.exists(&Path::new(TO).join("data/left")).unwrap());
        assert!(!world.fs.exists(&Path::new(TO).join("hblite.backup")).unwrap());
        assert_eq!(world.rows(TO), FILLED);
        world.fs.remove_dir_all(Path::new(TO)).unwrap();
    }
}

/// Both the copy and the original are changed: neither affects the other.
#[test]
fn the_copy_and_the_original_go_their_own_ways() {
    let world = World::in_memory();
    let engine = world.open(DIR).unwrap();
    fill(&engine).unwrap();
    engine.procedures().backup(Path::new(TO)).unwrap();
    engine.abandon();
    drop(engine);
    let original = world.files(DIR);
    let copied = world.files(TO);
    let copy = world.open(TO).unwrap();
    for row in ["copy-1", "copy-2"] {
        put(&copy, row).unwrap();
        copy.flush(name()).unwrap();
    }
    copy.compact(CompactRequest::table(name()).major()).unwrap();
    copy.procedures().clean_parents().unwrap();
    put(&copy, "copy-3").unwrap();
    copy.abandon();
    drop(copy);
    assert!(world.files(DIR) == original, "the original was changed through the copy");
    assert!(world.files(TO) != copied);

    let worked_on = world.files(TO);
    let engine = world.open(DIR).unwrap();
    put(&engine, "original").unwrap();
    engine.compact(CompactRequest::table(name()).major()).unwrap();
    engine.procedures().disable_table(&name()).unwrap();
    engine.procedures().drop_table(&name()).unwrap();
    engine.close().unwrap();
    assert!(world.files(TO) == worked_on, "the copy was changed through the original");
    assert_eq!(world.rows(TO), ["a", "b", "c", "copy-1", "copy-2", "copy-3", "n", "z"]);
}

#[test]
fn where_no_link_can_be_made_files_are_copied() {
    let faults = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    let world = World::new(faults.clone(), 11);
    let engine = world.open(DIR).unwrap();
    fill(&engine).unwrap();
    for table in ["t", "hbase:meta"] {
        engine.flush(table.parse::<TableName>().unwrap()).unwrap();
    }
    let data = world.files("/store/data");
    let is_stored = |path: &Path| path.parent().unwrap().ends_with("f");
    let stored = data.iter().find(|(path, _)| is_stored(path)).unwrap();
    for path in [Path::new("/store/hbase.id"), &data[0].0, &stored.0] {
        let copy = Path::new("/backups/monday.partial").join(path.strip_prefix(DIR).unwrap());
        let fault = Fault::on(Operation::Create).in_path(copy.to_str().unwrap());
        faults.inject(fault.with_kind(std::io::ErrorKind::CrossesDevices));
    }
    let report = engine.procedures().backup(Path::new(TO)).unwrap();
    assert!(report.files_copied == 3 && report.files_linked > 10, "{report:?}");
    faults.heal();
    assert_eq!(world.rows(TO), FILLED);

    // Neither works: nothing is left, and the store continues.
    faults.inject(Fault::on(Operation::Create).in_path("tuesday.partial/data").forever());
    assert!(engine.procedures().backup(Path::new("/backups/tuesday")).is_err());
    faults.heal();
    let left: Vec<String> =
        world.fs.list_dir(Path::new("/backups")).unwrap().into_iter().map(|e| e.name).collect();
    assert_eq!(left, ["monday"]);
    put(&engine, "later").unwrap();
    engine.flush(name()).unwrap();
    engine.procedures().backup(Path::new("/backups/tuesday")).unwrap();
    assert_eq!(world.rows("/backups/tuesday").len(), FILLED.len() + 1);
}

/// Log files that the log would have removed during the backup are removed after it.
#[test]
fn log_files_that_a_backup_held_are_removed_after_it() {
    let world = World::in_memory();
    let engine = world.open(DIR).unwrap();
    fill(&engine).unwrap();
    for to in ["/backups/1", "/backups/2", "/backups/3"] {
        engine.procedures().backup(Path::new(to)).unwrap();
    }
    let log_files = world.fs.list_dir(Path::new("/store/WALs")).unwrap();
    assert!(log_files.len() <= 2, "{log_files:?}");
    engine.close().unwrap();
    let left = world.fs.list_dir(Path::new("/store/WALs")).unwrap();
    assert!(left.iter().all(|entry| entry.is_dir), "{left:?}");
}

/// Interrupted at every operation: the target is complete or does not exist, and the original is
/// unchanged.
fn cut_at_every_operation(is_online: bool) {
    for operations in 0.. {
        let fs = CrashFileSystem::new();
        let world = World::new(fs.clone(), 11);
        let engine = world.open(DIR).unwrap();
        fill(&engine).unwrap();
        if !is_online {
            engine.abandon();
        }
        fs.sync_everything();
        let start = fs.operation_count();
        fs.power_off_after(operations);
        let made =
            if is_online { engine.procedures().backup(Path::new(TO)) } else { world.backup() };
        let has_power = made.is_ok() && fs.operation_count() - start < operations;
        engine.abandon();
        // All unsynced data is lost, or some of it.
        let seed = if operations % 2 == 0 { 0 } else { operations };
        for left in [fs.after_kill(), fs.after_power_cut(seed)] {
            let left = World::new(left, 12 + operations);
            let is_there = left.fs.exists(Path::new(TO)).unwrap();
            let place = format!("cut after {operations} operations");
            assert!(is_there || made.is_err(), "{place}: done, and not there");
            if !is_there {
                left.backup().unwrap();
            }
            assert_eq!(left.rows(TO), FILLED, "{place}");
            assert_eq!(left.rows(DIR), FILLED, "{place}");
        }
        if has_power {
            return;
        }
    }
}

#[test]
fn a_crash_leaves_a_whole_copy_of_a_closed_store_or_none() {
    cut_at_every_operation(false);
}

#[test]
fn a_crash_leaves_a_whole_copy_of_an_open_store_or_none() {
    cut_at_every_operation(true);
}
