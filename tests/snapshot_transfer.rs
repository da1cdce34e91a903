//! Snapshots that are imported from what HBase exported, and exported for it.
//!
//! `tests/fixtures/hbase-snapshots` is what a real HBase wrote.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite::{Connection, Env, NamespaceDescriptor, Options, Scan};
use hblite_engine::{export_snapshot, import_snapshot};
use hblite_env::{FileSystem, MemFileSystem, files_below};

const STORE: &str = "/store";
const EXPORT: &str = "/export";
const CASES: [(&str, &[&str]); 3] = [
    ("plain", &["r a 1"]),
    ("halves", &["c a 1", "c b 1", "d a 4", "h a 2", "h b 2", "x a 3"]),
    ("links", &["c a 1", "c b 1", "d a 4", "e b 5", "h a 2", "h b 2", "x a 3"]),
];

fn env(fs: &MemFileSystem) -> Env {
    Env::in_memory().with_fs(Arc::new(fs.clone()))
}

fn open(fs: &MemFileSystem, dir: &str) -> Connection {
    let engine = Options::new().with_compaction_enabled(false);
    let connection = engine.with_env(env(fs)).open(dir).expect("it opens");
    let _ = connection.admin().create_namespace(&NamespaceDescriptor::new("n"));
    connection
}

/// An empty store, and what HBase exported.
fn prepared() -> MemFileSystem {
    let fs = MemFileSystem::new();
    open(&fs, STORE).close().expect("nothing fails");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hbase-snapshots");
    for (part, to) in [("hbase-snapshot", ".hbase-snapshot"), ("data", "archive/data")] {
        let mut pending = vec![fixture.join(part)];
        while let Some(path) = pending.pop() {
            if path.is_dir() {
                let entries = std::fs::read_dir(&path).expect("it is there");
                pending.extend(entries.map(|entry| entry.expect("readable").path()));
                continue;
            }
            let below = path.strip_prefix(fixture.join(part)).expect("it is below");
            let target = Path::new(EXPORT).join(to).join(below);
            fs.create_dir_all(target.parent().expect("a file")).expect("room");
            let content = std::fs::read(&path).expect("readable");
            fs.create(&target).and_then(|mut file| file.write_all(&content)).expect("room");
        }
    }
    fs
}

/// Row, family and value of each cell of a clone of the snapshot.
fn cells(fs: &MemFileSystem, dir: &str, snapshot: &str) -> Vec<String> {
    let connection = open(fs, dir);
    let clone = format!("n:{snapshot}");
    connection.admin().clone_snapshot(snapshot, clone.as_str()).expect("it is whole");
    let table = connection.table(clone.as_str()).expect("it is a name");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut cells = Vec::new();
    for row in table.scan(&Scan::new()).expect("it is there") {
        for cell in row.expect("nothing is damaged").cells() {
            cells.push([cell.row(), cell.family(), cell.value()].map(text).join(" "));
        }
    }
    connection.close().expect("nothing fails");
    cells
}

fn files(fs: &MemFileSystem, dir: &Path) -> Vec<PathBuf> {
    files_below(fs, dir).unwrap_or_default()
}

#[test]
fn what_hbase_exported_is_imported_and_exported_again() {
    let fs = prepared();
    for (name, expected) in CASES {
        let count = import_snapshot(&env(&fs), Path::new(STORE), Path::new(EXPORT), name);
        assert!(count.expect("nothing is wrong") > 0, "{name}");
        assert_eq!(cells(&fs, STORE, name), expected, "{name}");
        export_snapshot(&env(&fs), Path::new(STORE), name, Path::new("/second")).expect("whole");
    }
    open(&fs, "/other").close().expect("nothing fails");
    for (name, expected) in CASES {
        import_snapshot(&env(&fs), Path::new("/other"), Path::new("/second"), name)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(cells(&fs, "/other", name), expected, "{name}");
    }
    let report =
        hblite_engine::check(&env(&fs), Path::new("/other"), &mut |_| {}).expect("a store");
    assert!(report.defects.is_empty(), "{:?}", report.defects);
}

/// Files with the snapshot `mine` of one cell, which hblite took and exported, and another store.
fn with_an_export() -> MemFileSystem {
    let fs = MemFileSystem::new();
    let connection = open(&fs, STORE);
    let family = hblite::ColumnFamilyDescriptor::new("f");
    let table = hblite::TableDescriptor::new("t".parse().expect("a name")).with_family(family);
    connection.admin().create_table(&table).expect("a new one");
    connection
        .table("t")
        .expect("a legal name")
        .put(&hblite::Put::new("r").add("f", "q", "v"))
        .expect("room");
    let options = hblite::SnapshotOptions::default();
    connection.admin().snapshot("mine", "t", &options).expect("nothing fails");
    connection.close().expect("nothing fails");
    export_snapshot(&env(&fs), Path::new(STORE), "mine", Path::new(EXPORT)).expect("it is whole");
    open(&fs, "/other").close().expect("nothing fails");
    fs
}

#[test]
fn a_snapshot_that_hblite_took_goes_to_another_store() {
    let fs = with_an_export();
    import_snapshot(&env(&fs), Path::new("/other"), Path::new(EXPORT), "mine").expect("whole");
    assert_eq!(cells(&fs, "/other", "mine"), ["r f v"]);
}

/// HBase's ExportSnapshot copies the description, the list and the files into the archive.
#[test]
fn a_snapshot_that_hblite_exported_is_adopted_where_hbase_copied_it() {
    let fs = with_an_export();
    for file in files(&fs, Path::new(EXPORT)) {
        let to = Path::new("/other").join(file.strip_prefix(EXPORT).expect("below"));
        fs.create_dir_all(to.parent().expect("a file")).expect("room");
        let content = fs.read(&file).expect("it is there");
        fs.create(&to).and_then(|mut new| new.write_all(&content)).expect("room");
    }
    let archived = files(&fs, Path::new("/other/archive"));
    assert_eq!(archived.len(), 1, "{archived:?}");
    let check = |when: &str| {
        let report = hblite_engine::check(&env(&fs), Path::new("/other"), &mut |_| {});
        let defects = report.expect("a store").defects;
        assert!(defects.is_empty(), "{when}: {defects:?}");
    };
    check("before it is opened");
    assert_eq!(cells(&fs, "/other", "mine"), ["r f v"]);
    check("afterwards");
    open(&fs, "/other").admin().delete_snapshot("mine").expect("it is there");
    assert_eq!(files(&fs, Path::new("/other/archive")), archived, "hblite did not write them");
}

/// Makes an import impossible.
type Spoil = fn(&MemFileSystem);

#[test]
fn what_is_missing_damaged_or_there_already_changes_nothing() {
    let spoils: [(&str, Spoil); 4] = [
        ("doesn't exist", |fs| fs.remove_dir_all(Path::new("/export/.hbase-snapshot")).unwrap()),
        ("neither there nor in the archive", |fs| {
            fs.remove_dir_all(Path::new("/export/archive")).unwrap();
        }),
        ("the snapshot lists", |fs| {
            for file in files(fs, Path::new("/export/archive")) {
                fs.remove_file(&file).unwrap();
                fs.create(&file).and_then(|mut new| new.write_all(b"short")).unwrap();
            }
        }),
        ("is there already", |fs| {
            import_snapshot(&env(fs), Path::new(STORE), Path::new(EXPORT), "halves").unwrap();
        }),
    ];
    for (words, spoil) in spoils {
        let fs = prepared();
        spoil(&fs);
        let before = files(&fs, Path::new(STORE));
        let error = import_snapshot(&env(&fs), Path::new(STORE), Path::new(EXPORT), "halves");
        let error = error.expect_err(words);
        assert!(error.to_string().contains(words), "{words}: {error}");
        let mut after = files(&fs, Path::new(STORE));
        after.retain(|file| !file.ends_with("LOCK"));
        assert!(
            before.iter().all(|file| file.ends_with("LOCK") || after.contains(file)),
            "{words}"
        );
        assert!(after.iter().all(|file| before.contains(file)), "{words}: {after:?}");
    }
}
