//! Root directories of a real HBase, copied into a file system of memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite::{Connection, Env, ManualClock, Options, Result, Scan};
use hblite_env::{FileSystem, MemFileSystem, StdFileSystem};

use crate::testkit;

pub(crate) const ROOT: &str = "/hbase";
/// Later than every timestamp in the fixtures.
const NOW: i64 = 1_800_000_000_000;
/// Directories that HBase creates and that are empty in a fixture; Git keeps no empty directories.
const EMPTY: [&str; 6] = ["WALs", "oldWALs", "archive", "corrupt", "staging", "MasterData/oldWALs"];

/// What HBase left, after it was stopped or killed.
pub(crate) fn fixture(name: &str) -> MemFileSystem {
    let fs = MemFileSystem::new();
    copy_fixture(&fs, name);
    fs
}

pub(crate) fn copy_fixture(fs: &dyn FileSystem, name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hbase-root").join(name);
    testkit::copy_files((&StdFileSystem, &root), (fs, Path::new(ROOT)));
    for dir in EMPTY {
        fs.create_dir_all(&Path::new(ROOT).join(dir)).expect("room");
    }
}

/// Writes a file below the root, replacing an existing one.
pub(crate) fn write(fs: &dyn FileSystem, below: impl AsRef<Path>, content: &[u8]) {
    let path = Path::new(ROOT).join(below);
    if fs.exists(&path).expect("memory") {
        fs.remove_file(&path).expect("memory");
    }
    testkit::write_file(fs, &path, content);
}

/// Everything below the root: directories without content, files with theirs.
pub(crate) fn contents(fs: &dyn FileSystem) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![PathBuf::from(ROOT)];
    while let Some(dir) = pending.pop() {
        for entry in fs.list_dir(&dir).expect("it is there") {
            let path = dir.join(entry.name);
            let content = (!entry.is_dir).then(|| fs.read(&path).expect("readable"));
            if entry.is_dir {
                pending.push(path.clone());
            }
            found.insert(path, content);
        }
    }
    found
}

/// The only file whose path holds `part` and does not hold `other`.
pub(crate) fn find(fs: &dyn FileSystem, part: &str, other: &str) -> PathBuf {
    let files = contents(fs);
    let text = |path: &PathBuf| path.to_str().expect("text").to_owned();
    let is_meant = |path: &PathBuf| text(path).contains(part) && !text(path).contains(other);
    let mut found = files.into_iter().filter(|(path, content)| content.is_some() && is_meant(path));
    let path = found.next().unwrap_or_else(|| panic!("no {part}")).0;
    assert!(found.next().is_none(), "{part}: more than one");
    path
}

pub(crate) fn options(fs: &(impl FileSystem + Clone + 'static)) -> Options {
    let engine = Options::new()
        .with_compaction_enabled(false)
        .with_split_enabled(false)
        .with_scrub_period(None);
    let env = Env::in_memory().with_fs(Arc::new(fs.clone()));
    engine.with_env(env.with_clock(Arc::new(ManualClock::new(NOW))))
}

pub(crate) fn adopt(fs: &(impl FileSystem + Clone + 'static)) -> Result<Connection> {
    options(fs).with_create_if_missing(false).with_hbase_adopted(true).open(ROOT)
}

/// Row, column and value of every version of every cell of n:t, deletes applied.
pub(crate) fn cells(connection: &Connection) -> Vec<String> {
    cells_of(connection, "n:t")
}

/// The same of another table.
pub(crate) fn cells_of(connection: &Connection, table: &str) -> Vec<String> {
    let scan = Scan::new().with_versions(10);
    let rows = connection.table(table).and_then(|table| table.scan(&scan)).expect("it is there");
    let mut cells = Vec::new();
    for row in rows {
        for cell in row.expect("nothing is damaged").cells() {
            let value = match <[u8; 8]>::try_from(cell.value()) {
                Ok(count) if cell.family() == b"g" => i64::from_be_bytes(count).to_string(),
                _ => String::from_utf8_lossy(cell.value()).into_owned(),
            };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            cells.push(format!("{} {} {value}", text(cell.row()), text(cell.family())));
        }
    }
    cells
}

/// What a real HBase printed for the table before it ended.
pub(crate) fn expected() -> Vec<String> {
    let mut cells = Vec::new();
    for row in (0..20).filter(|row| ![7, 11].contains(row)) {
        cells.push(format!("row{row:02} f logged{row}"));
        match row {
            0 => cells.push("row00 f flushed".to_owned()),
            5 => cells.push("row05 g other".to_owned()),
            13 => cells.extend(["row13 g 8", "row13 g 4"].map(str::to_owned)),
            _ => {}
        }
    }
    cells
}

pub(crate) fn assert_sound(fs: &(impl FileSystem + Clone + 'static), context: &str) {
    let env = Env::in_memory().with_fs(Arc::new(fs.clone()));
    let report = hblite_engine::check(&env, Path::new(ROOT), &mut |_| {}).expect("a store");
    assert!(report.defects.is_empty(), "{context}: {:?}", report.defects);
}
