//! Any bytes as the description or the list of a snapshot that HBase exported, or changes to them:
//! the snapshot is imported or refused, and the store is as whole as before.
//!
//! The first byte selects the file, and whether the rest are its bytes or changes of four bytes: a
//! place (two bytes), what is done, a byte.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use hblite::{
    ColumnFamilyDescriptor, Connection, Env, Options, Put, Scan, SnapshotOptions, TableDescriptor,
};
use hblite_engine::{export_snapshot, import_snapshot};
use hblite_env::{FileSystem, MemFileSystem, files_below};

const FROM: &str = "/from";
const EXPORT: &str = "/export";
const STORE: &str = "/store";

/// Paths with their contents: a store without the snapshot, and the export of another.
static BASE: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let fs = MemFileSystem::new();
    for dir in [FROM, STORE] {
        let connection = open(&fs, dir).expect("a new store");
        let admin = connection.admin();
        let table = TableDescriptor::new("t".parse().expect("a name"))
            .with_family(ColumnFamilyDescriptor::new("f"));
        admin.create_table(&table).expect("a table");
        for row in ["a", "b", "c"] {
            let table = connection.table("t").expect("the table");
            table.put(&Put::new(row).add("f", "q", "value")).expect("a put");
        }
        if dir == FROM {
            admin.flush_table("t").expect("a flush");
            admin.split_table("t", Some(b"b")).expect("a split");
            admin.snapshot("s", "t", &SnapshotOptions::default()).expect("a snapshot");
        }
        connection.close().expect("closed");
    }
    export_snapshot(&env(&fs), Path::new(FROM), "s", Path::new(EXPORT)).expect("an export");
    let below = |dir: &str| files_below(&fs, Path::new(dir)).expect("a directory");
    let files = [EXPORT, STORE].into_iter().flat_map(below);
    files.map(|path| (path.clone(), fs.read(&path).expect("a file"))).collect()
});

fn env(fs: &MemFileSystem) -> Env {
    Env::in_memory().with_fs(Arc::new(fs.clone()))
}

fn open(fs: &MemFileSystem, dir: &str) -> hblite::Result<Connection> {
    let engine = Options::new()
        .with_compaction_enabled(false)
        .with_split_enabled(false)
        .with_scrub_period(None);
    engine.with_env(env(fs)).open(dir)
}

fn changed(content: &[u8], choice: u8, bytes: &[u8]) -> Vec<u8> {
    if choice & 0x80 == 0 {
        return bytes.to_vec();
    }
    let mut content = content.to_vec();
    for change in bytes.chunks_exact(4) {
        let place = usize::from(u16::from_be_bytes([change[0], change[1]]));
        let Some(at) = place.checked_rem(content.len()) else { break };
        match change[2] % 4 {
            0 => content.truncate(at),
            1 => content.insert(at, change[3]),
            2 => drop(content.remove(at)),
            _ => content[at] = change[3],
        }
    }
    content
}

/// The number of rows of a table, if it can be read.
fn count(connection: &Connection, table: &str) -> Option<usize> {
    let mut scanner = connection.table(table).ok()?.scan(&Scan::new()).ok()?;
    let mut rows = 0;
    while scanner.next_row().ok()?.is_some() {
        rows += 1;
    }
    Some(rows)
}

/// Imports the changed snapshot; returns the rows of its clone, if there is one.
pub(crate) fn run(bytes: &[u8]) -> Option<usize> {
    let (&choice, bytes) = bytes.split_first()?;
    let name = [".snapshotinfo", "data.manifest"][usize::from(choice & 1)];
    let fs = MemFileSystem::new();
    for (path, content) in &*BASE {
        fs.create_dir_all(path.parent().expect("a directory")).expect("memory");
        let is_changed = path.starts_with(EXPORT) && path.ends_with(name);
        let content = if is_changed { changed(content, choice, bytes) } else { content.clone() };
        fs.create(path).and_then(|mut file| file.write_all(&content)).expect("memory");
    }
    let imported = import_snapshot(&env(&fs), Path::new(STORE), Path::new(EXPORT), "s");
    let connection = open(&fs, STORE).expect("the store opens");
    assert_eq!(count(&connection, "t"), Some(3), "the store's own rows are there");
    let rows = match imported {
        Ok(_) => {
            let cloned = connection.admin().clone_snapshot("s", "clone");
            cloned.ok().and_then(|()| count(&connection, "clone"))
        }
        Err(_) => None,
    };
    connection.close().expect("nothing fails");
    rows
}
