//! Directories that a version of hblite wrote, and that every later version must open with all
//! data.
//!
//! ```text
//! fixtures/<version>/cells.txt     every cell of every table, and of a clone of every snapshot
//! fixtures/<version>/killed/       a store whose process was killed: with cells in the log only
//! fixtures/<version>/closed/       the same, closed and flushed
//! ```
//!
//! A fixture is never changed. When a format gets a new version, `WRITE` names a new directory:
//!
//! ```sh
//! HBLITE_WRITE_FIXTURE=1 cargo test --test store store_fixtures
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite::{
    ColumnFamilyDescriptor, Compression, Connection, DataBlockEncoding, Delete, ManualClock,
    NamespaceDescriptor, Options, Put, Result, Scan, SnapshotOptions, SystemTables,
    TableDescriptor,
};
use hblite_env::{CrashFileSystem, FileSystem};

use crate::testkit::{self, STORE, copy_files, files_below, name, text};

/// All of them; the last is what this version writes.
const FIXTURES: [&str; 1] = ["store-0.1"];
const WRITE: &str = FIXTURES[FIXTURES.len() - 1];
const NOW_MS: i64 = 1_700_000_000_000;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn open(fs: CrashFileSystem) -> Result<Connection> {
    let engine = Options::new().with_compaction_enabled(false).with_wal_roll_size_bytes(1 << 10);
    let env = testkit::env(fs).with_clock(Arc::new(ManualClock::new(NOW_MS)));
    engine.with_env(env).open(STORE)
}

fn family(table: &str, compression: Compression, encoding: DataBlockEncoding) -> TableDescriptor {
    let family = ColumnFamilyDescriptor::new("f").with_versions(3);
    let family = family.with_compression(compression).with_data_block_encoding(encoding);
    TableDescriptor::new(name(table)).with_family(family)
}

fn put(connection: &Connection, table: &str, value: &str) -> Result<()> {
    let table = connection.table(table)?;
    for number in 0..8 {
        let time = NOW_MS + value.len() as i64;
        let value = format!("{value} {number}");
        table.put(&Put::new(format!("row{number}")).add_at("f", "q", time, value))?;
    }
    Ok(())
}

/// Tables, references, snapshots, and cells that are only in the log.
fn fill(connection: &Connection) -> Result<()> {
    let admin = connection.admin();
    admin.create_namespace(&NamespaceDescriptor::new("ns"))?;
    admin.create_table_with_splits(
        &family("ns:plain", Compression::None, DataBlockEncoding::None),
        &[b"row4".to_vec()],
    )?;
    admin.create_table(&family("coded", Compression::Gz, DataBlockEncoding::FastDiff))?;
    admin.create_table(&family("halves", Compression::None, DataBlockEncoding::Prefix))?;
    for table in ["ns:plain", "coded", "halves"] {
        put(connection, table, "a")?;
        admin.flush_table(table)?;
    }
    admin.split_table("halves", Some(b"row5"))?;
    admin.snapshot("s", "coded", &SnapshotOptions::default())?;
    put(connection, "ns:plain", "bb")?;
    connection.table("ns:plain")?.delete(&Delete::new("row2"))?;
    put(connection, "halves", "ccc")
}

/// Every cell of every table, and of a clone of every snapshot, a line each.
fn cells(connection: &Connection) -> Result<String> {
    let admin = connection.admin();
    for snapshot in admin.list_snapshots()? {
        admin.clone_snapshot(&snapshot.name, format!("clone-of-{}", snapshot.name))?;
    }
    let mut lines = String::new();
    for table in admin.list_tables(SystemTables::Exclude)? {
        for row in connection.table(table.name().clone())?.scan(&Scan::new().with_versions(10))? {
            for cell in row?.cells() {
                let (row, value) = (text(cell.row()), text(cell.value()));
                let column = format!("{}:{}", text(cell.family()), text(cell.qualifier()));
                let (table, time) = (table.name(), cell.timestamp());
                lines.push_str(&format!("{table} {row} {column} {time} {value}\n"));
            }
        }
    }
    Ok(lines)
}

/// What this version writes: as a kill leaves it, and closed.
fn written() -> [(&'static str, CrashFileSystem); 2] {
    let fs = CrashFileSystem::new();
    let connection = open(fs.clone()).expect("an empty store");
    fill(&connection).expect("nothing fails");
    let killed = fs.after_kill();
    connection.close().expect("nothing fails");
    [("killed", killed), ("closed", fs.after_kill())]
}

/// Kind and version of each versioned file of a store.
fn versions(fs: &dyn FileSystem, dir: &Path) -> BTreeSet<String> {
    let version = |path: PathBuf| {
        let content = fs.read(&path).expect("a file");
        let name = path.file_name()?.to_str()?;
        // A trailer ends with the version; the other formats have it after a magic of 8 bytes.
        let is_hfile = content.len() > 4096 && content.starts_with(b"DATABLK");
        match (name, is_hfile) {
            ("hblite.store" | "WALs.head", _) => {
                Some((name.to_owned(), content.get(8..12)?.to_vec()))
            }
            (name, _) if name.starts_with("hblite-wal.") => {
                Some(("log".to_owned(), content.get(8..12)?.to_vec()))
            }
            // The first field of the message after "PBUF".
            (".manifest", _) => Some((name.to_owned(), content.get(4..6)?.to_vec())),
            (_, true) => Some(("hfile".to_owned(), content[content.len() - 4..].to_vec())),
            _ => None,
        }
    };
    files_below(fs, dir)
        .into_iter()
        .filter_map(version)
        .map(|(name, version)| format!("{name} {version:?}"))
        .collect()
}

fn write() {
    let dir = fixtures().join(WRITE);
    assert!(!dir.exists(), "{}: a fixture is never changed", dir.display());
    let to = hblite_env::StdFileSystem;
    for (name, fs) in written() {
        copy_files((&fs, Path::new(STORE)), (&to, &dir.join(name)));
        let connection = open(fs).expect("a store");
        fs::write(dir.join("cells.txt"), cells(&connection).expect("sound")).expect("room");
    }
}

#[test]
fn stores_of_earlier_versions_have_all_of_their_data() {
    if std::env::var_os("HBLITE_WRITE_FIXTURE").is_some() {
        write();
    }
    for (fixture, name) in FIXTURES.iter().flat_map(|f| [(f, "killed"), (f, "closed")]) {
        let source = fixtures().join(fixture);
        let expected = fs::read_to_string(source.join("cells.txt")).expect("the fixture is there");
        assert!(expected.lines().count() > 30, "{expected}");
        let temporary = tempfile::tempdir().expect("a directory");
        let dir = temporary.path().join(name);
        let disk = hblite_env::StdFileSystem;
        copy_files((&disk, &source.join(name)), (&disk, &dir));
        let report = hblite::check(&dir).expect("a store");
        assert!(report.is_clean(), "{fixture} {name}: {report:?}");
        let connection = hblite::open(&dir).expect("every later version opens it");
        assert_eq!(cells(&connection).expect("sound"), expected, "{fixture} {name}");
        for table in connection.admin().list_tables(SystemTables::Exclude).expect("open") {
            connection.admin().major_compact_table(table.name().clone()).expect("room");
        }
        for snapshot in connection.admin().list_snapshots().expect("open") {
            let clone = format!("clone-of-{}", snapshot.name);
            connection.admin().disable_table(&*clone).expect("enabled");
            connection.admin().delete_table(&*clone).expect("disabled");
        }
        connection.close().expect("nothing fails");
        let connection = hblite::open(&dir).expect("it opens again");
        assert_eq!(cells(&connection).expect("sound"), expected, "{fixture} {name} again");
    }
}

#[test]
fn every_version_of_a_format_has_a_fixture() {
    let disk = hblite_env::StdFileSystem;
    let kept = ["killed", "closed"].map(|name| versions(&disk, &fixtures().join(WRITE).join(name)));
    let kept: BTreeSet<String> = kept.into_iter().flatten().collect();
    let [killed, closed] = written().map(|(_, fs)| versions(&fs, Path::new(STORE)));
    let now: BTreeSet<String> = killed.union(&closed).cloned().collect();
    assert_eq!(now.len(), 5, "log, its head, marker, manifest, store file: {now:?}");
    assert_eq!(now, kept, "a format has changed: keep {WRITE} and write another fixture");
}
