//! Snapshots that both hblite and Apache HBase use: those that HBase took are cloned and restored,
//! those of hblite have what HBase reads, and no store file is lost or left over.
//!
//! `tests/fixtures/hbase-snapshots` was written by a real HBase, and it printed the rows below.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite::{
    Connection, Durability, Env, FailSafeSnapshot, FindingKind, ManualClock, NamespaceDescriptor,
    Options, Put, Result, Scan, SnapshotKind, SnapshotOptions,
};
use hblite_env::{CrashFileSystem, FileSystem, MemFileSystem, StdFileSystem};

use crate::testkit::{self, STORE, cuts, files_below, name, text, write_file};

const HALVES: [&str; 6] = ["c a 1", "c b 1", "d a 4", "h a 2", "h b 2", "x a 3"];
const LINKS: [&str; 7] = ["c a 1", "c b 1", "d a 4", "e b 5", "h a 2", "h b 2", "x a 3"];
const PLAIN: [&str; 1] = ["r a 1"];

fn open(fs: &(impl FileSystem + Clone + 'static)) -> Result<Connection> {
    let engine = Options::new().with_compaction_enabled(false);
    let clock = Arc::new(ManualClock::new(1_800_000_000_000));
    let env = testkit::env(fs.clone()).with_clock(clock);
    engine.with_env(env).open(Path::new(STORE))
}

fn assert_sound(fs: &(impl FileSystem + Clone + 'static), context: &str) {
    let report = testkit::check(fs);
    assert!(report.defects.is_empty(), "{context}: {:?}", report.defects);
}

fn archived(fs: &dyn FileSystem) -> BTreeSet<PathBuf> {
    files_below(fs, &Path::new(STORE).join("archive/data")).into_iter().collect()
}

/// Copies a part of what HBase wrote into the store.
fn copy(fs: &dyn FileSystem, part: &str, to: &str) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hbase-snapshots");
    let from = fixture.join(part);
    testkit::copy_files((&StdFileSystem, &from), (fs, &Path::new(STORE).join(to)));
}

/// Where HBase left the files.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Files {
    InRegions,
    InArchive,
}

/// A closed store to which HBase's snapshots were added.
fn add_snapshots(fs: &(impl FileSystem + Clone + 'static), files: Files) {
    let connection = open(fs).expect("an empty store");
    let namespace = NamespaceDescriptor::new("n");
    connection.admin().create_namespace(&namespace).expect("a new one");
    create(&connection, "another").expect("a new table");
    connection.close().expect("nothing fails");
    copy(fs, "hbase-snapshot", ".hbase-snapshot");
    copy(fs, "data", if files == Files::InRegions { "data" } else { "archive/data" });
}

/// Row, family and value of each cell.
fn cells(connection: &Connection, table: &str) -> Vec<String> {
    let scanner = connection.table(table).and_then(|table| table.scan(&Scan::new()));
    let mut cells = Vec::new();
    for row in scanner.unwrap_or_else(|error| panic!("{table}: {error}")) {
        for cell in row.expect("nothing is damaged").cells() {
            let cell = [cell.row(), cell.family(), cell.value()].map(text);
            cells.push(cell.join(" "));
        }
    }
    cells
}

#[test]
fn snapshots_that_hbase_took_are_cloned_and_restored() {
    for files in [Files::InRegions, Files::InArchive] {
        let fs = MemFileSystem::new();
        add_snapshots(&fs, files);
        if files == Files::InArchive {
            assert_sound(&fs, "as HBase left it");
        }
        let given = archived(&fs);
        let connection = open(&fs).expect("it opens");
        let admin = connection.admin();
        let list = admin.list_snapshots().expect("they can be listed");
        let list: Vec<_> = list.iter().map(|s| (&*s.name, s.table.to_string(), s.kind)).collect();
        let table = |text: &str| text.to_owned();
        let kind = SnapshotKind::Flush;
        assert_eq!(
            list,
            [
                ("halves", table("n:t"), kind),
                ("links", table("n:u"), kind),
                ("plain", table("plain"), kind)
            ]
        );
        let expected: [(&str, &[&str]); 3] =
            [("halves", &HALVES), ("links", &LINKS), ("plain", &PLAIN)];
        for (snapshot, expected) in expected {
            let clone = format!("clone-of-{snapshot}");
            admin.clone_snapshot(snapshot, name(&clone)).expect("a clone");
            assert_eq!(cells(&connection, &clone), expected, "{files:?}");
        }
        assert_eq!(admin.regions(name("clone-of-halves")).expect("a table").len(), 3);
        admin.restore_snapshot("halves", FailSafeSnapshot::Take).expect("the table is made");
        assert_eq!(cells(&connection, "n:t"), HALVES);
        connection.close().expect("nothing fails");
        assert_sound(&fs, "taken over");
        // Files that hblite linked are removed with the last snapshot that lists them; files that
        // HBase archived stay.
        let connection = open(&fs).expect("it opens again");
        assert!(archived(&fs).len() >= 6, "{files:?}");
        for snapshot in ["plain", "halves", "links"] {
            connection.admin().delete_snapshot(snapshot).expect("it is there");
        }
        assert_eq!(archived(&fs), given, "{files:?}");
        assert_eq!(cells(&connection, "clone-of-links"), LINKS);
        connection.close().expect("nothing fails");
        assert_sound(&fs, "closed");
    }
}

#[test]
fn a_snapshot_of_hbases_that_lacks_a_file_says_which() {
    let fs = MemFileSystem::new();
    add_snapshots(&fs, Files::InArchive);
    let files = files_below(&fs, &Path::new(STORE).join("archive/data/default"));
    fs.remove_file(&files[0]).expect("it is there");
    let report = testkit::check(&fs);
    assert_eq!(report.defects.len(), 1, "{:?}", report.defects);
    let file = files[0].file_name().expect("a name").to_string_lossy();
    assert!(report.defects[0].what.contains(&*file), "{:?}", report.defects);
    let description = Path::new(STORE).join(".hbase-snapshot/links/.snapshotinfo");
    fs.remove_file(&description).expect("it is there");
    let connection = open(&fs).expect("the store itself is sound");
    let error = connection.admin().clone_snapshot("plain", name("new")).expect_err("not whole");
    assert!(error.message().contains(&*file), "{error}");
    connection.admin().clone_snapshot("halves", name("new")).expect("whole");
    assert_eq!(cells(&connection, "new"), HALVES);
}

/// The open that takes HBase's snapshots over is cut off at every seventh of its operations.
#[test]
fn a_crash_loses_no_snapshot_of_hbases() {
    let prepare = || {
        let fs = CrashFileSystem::new();
        add_snapshots(&fs, Files::InRegions);
        (fs.clone(), fs)
    };
    let take_over = |fs: CrashFileSystem| drop(open(&fs));
    cuts::at_every_operation(7, prepare, take_over, |fs, (), cut| {
        assert!(cut.of > 50, "{cut}");
        for rest in [fs.after_kill(), fs.after_power_cut(cut.after)] {
            let connection = open(&rest).unwrap_or_else(|error| panic!("{cut}: {error}"));
            for (snapshot, expected) in [("halves", &HALVES[..]), ("links", &LINKS)] {
                let cloned = connection.admin().clone_snapshot(snapshot, name(snapshot));
                cloned.unwrap_or_else(|error| panic!("{cut}: {error}"));
                assert_eq!(cells(&connection, snapshot), expected, "{cut}");
            }
            connection.close().unwrap_or_else(|error| panic!("{cut}: {error}"));
            assert_sound(&rest, &cut.to_string());
        }
    });
}

fn create(connection: &Connection, table: &str) -> Result<()> {
    testkit::create(connection, table, &["a"])
}

fn put(connection: &Connection, row: &str) -> Result<()> {
    let put = Put::new(row).add("a", "q", "1").with_durability(Durability::FsyncWal);
    connection.table("t")?.put(&put)
}

fn snapshot(connection: &Connection, snapshot: &str) -> Result<()> {
    connection.admin().snapshot(snapshot, name("t"), &SnapshotOptions::default())
}

/// HBase finds every file of a snapshot in the archive, until the last snapshot with that file is
/// removed.
#[test]
fn files_of_snapshots_are_in_the_archive_as_long_as_one_lists_them() {
    let fs = MemFileSystem::new();
    let connection = open(&fs).expect("an empty store");
    let admin = connection.admin();
    create(&connection, "t").expect("a new table");
    put(&connection, "c").expect("it takes it");
    snapshot(&connection, "first").expect("a snapshot");
    let first = archived(&fs);
    assert_eq!(first.len(), 1);
    put(&connection, "x").expect("it takes it");
    snapshot(&connection, "second").expect("a snapshot");
    let both = archived(&fs);
    assert_eq!(both.len(), 2);
    admin.major_compact_table(name("t")).expect("room");
    admin.split_table(name("t"), Some(b"f")).expect("it can be split");
    snapshot(&connection, "halves").expect("a snapshot");
    assert_eq!(archived(&fs).len(), 3, "references name their target");
    admin.disable_table(name("t")).expect("enabled");
    admin.delete_table(name("t")).expect("disabled");
    assert_eq!(archived(&fs).len(), 3);
    admin.delete_snapshot("halves").expect("it is there");
    assert_eq!(archived(&fs), both);
    admin.delete_snapshot("second").expect("it is there");
    assert_eq!(archived(&fs), first, "the other snapshot lists it");
    // A table that HBase made of the snapshot links to the file.
    let file = first.first().expect("one");
    let link = format!(".links-{}", file.file_name().expect("a name").to_string_lossy());
    let link = file.with_file_name(link).join("0123456789abcdef0123456789abcdef.u");
    write_file(&fs, &link, b"");
    admin.delete_snapshot("first").expect("it is there");
    assert!(archived(&fs).is_superset(&first), "it is linked to");
    connection.close().expect("nothing fails");
    assert_sound(&fs, "closed");
}

#[test]
fn what_hbase_cannot_find_is_reported_and_a_backup_has_it() {
    let fs = MemFileSystem::new();
    let connection = open(&fs).expect("an empty store");
    create(&connection, "t").expect("a new table");
    put(&connection, "c").expect("it takes it");
    snapshot(&connection, "s").expect("a snapshot");
    connection.admin().disable_table(name("t")).expect("enabled");
    connection.admin().delete_table(name("t")).expect("disabled");
    connection.admin().backup("/open").expect("room");
    connection.close().expect("nothing fails");
    let env = Env::in_memory().with_fs(Arc::new(fs.clone()));
    hblite_engine::backup(&env, Path::new(STORE), Path::new("/closed")).expect("room");
    for copy in ["/open", "/closed"] {
        assert_eq!(files_below(&fs, &Path::new(copy).join("archive/data")).len(), 1, "{copy}");
    }
    for file in archived(&fs) {
        fs.remove_file(&file).expect("it is there");
    }
    let report = testkit::check(&fs);
    let kinds: Vec<_> = report.defects.iter().map(|defect| defect.kind).collect();
    assert_eq!(kinds, [FindingKind::StoreFileMissing], "{:?}", report.defects);
}

/// As an earlier hblite wrote it.
#[test]
fn a_snapshot_without_hbases_list_gets_one() {
    let fs = MemFileSystem::new();
    let connection = open(&fs).expect("an empty store");
    create(&connection, "t").expect("a new table");
    put(&connection, "c").expect("it takes it");
    put(&connection, "x").expect("it takes it");
    connection.admin().split_table(name("t"), Some(b"f")).expect("it can be split");
    snapshot(&connection, "s").expect("a snapshot");
    connection.close().expect("nothing fails");
    let list = Path::new(STORE).join(".hbase-snapshot/s/data.manifest");
    let (content, names) = (fs.read(&list).expect("it is there"), archived(&fs));
    fs.remove_file(&list).expect("it is there");
    fs.remove_dir_all(&Path::new(STORE).join("archive")).expect("it is there");
    let connection = open(&fs).expect("it opens");
    assert_eq!(fs.read(&list).expect("it is there again"), content);
    assert_eq!(archived(&fs), names);
    connection.admin().clone_snapshot("s", name("new")).expect("a clone");
    assert_eq!(cells(&connection, "new"), ["c a 1", "x a 1"]);
}
