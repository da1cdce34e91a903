//! Stores that together have a file of every kind, and their states at earlier moments.
//!
//! - three stores of the same tables: one whose process was killed, with cells in the log only; one
//!   that was closed with a log; one that was closed after a flush
//! - stores in which an operation was cut off: a bulk load, a clone, a restore, a flush, an
//!   alteration, a snapshot, a removal
//! - a store with what Apache HBase leaves in a region, and one with moved directories

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hblite::{
    Admin, BloomType, BulkLoadOptions, Cell, CellType, ColumnFamilyDescriptor, Compression,
    Connection, DataBlockEncoding, Delete, Env, FailSafeSnapshot, ManualClock, MergeKind,
    NamespaceDescriptor, Options, Put, Result, SnapshotOptions, TableDescriptor,
};
use hblite_env::{CrashFileSystem, FileSystem, MemFileSystem, SeededRandom};
use hblite_hfile::{HFileWriter, HFileWriterOptions, StoreFileInfo};

use crate::contents::Contents;
use crate::image::{Image, STORE};
use crate::kind::Kind;
use crate::mutation::Changes;
use crate::outcome;

const FOLDER: &str = "/hfiles";
const NOW_MS: i64 = 1_700_000_000_000;
const ROWS: u32 = 20;
/// Moments of an operation at which it is cut off.
const CUTS: u64 = 40;

/// A store, as it is before a mutation.
pub(crate) struct Store {
    pub(crate) name: String,
    pub(crate) image: Image,
    /// The image, to be forked.
    files: MemFileSystem,
    pub(crate) contents: Contents,
    /// What an open reports about it.
    pub(crate) notes: String,
    /// Its earlier state.
    moments: Vec<Image>,
}

impl Store {
    fn new(name: &str, image: Image, moments: Vec<Image>) -> Self {
        for path in image.files.keys() {
            let what = "is of no kind that this test knows: add it to kind.rs";
            assert!(Kind::of(path).is_some(), "store {name}: {} {what}", path.display());
        }
        let files = image.to_memory();
        let fork = files.fork().expect("files in memory fork");
        let opened = outcome::open(&fork, false);
        let connection = opened.unwrap_or_else(|error| panic!("store {name}: {error}"));
        let notes = outcome::notes(&connection);
        let contents = Contents::read(&connection, true);
        let contents = contents.unwrap_or_else(|error| panic!("store {name}: {error}"));
        Self { name: name.to_owned(), image, files, contents, notes, moments }
    }

    /// A copy of the store with changed files. What is not changed is shared.
    pub(crate) fn with(&self, changes: &Changes) -> Arc<dyn FileSystem> {
        let fs = self.files.fork().expect("files in memory fork");
        for (path, content) in changes {
            let place = Path::new(STORE).join(path);
            if self.image.files.contains_key(path) {
                fs.remove_file(&place).expect("it is there");
            }
            if let Some(content) = content {
                let file = fs.create(&place);
                file.and_then(|mut file| file.write_all(content)).expect("room");
            }
        }
        fs
    }

    /// The contents of the file at `path` at earlier moments, or of other files of its kind.
    pub(crate) fn older(&self, kind: Kind, path: &Path) -> Vec<&Arc<Vec<u8>>> {
        let now = &self.image.files[path];
        let is_beside = |other: &Path| {
            other == path || (other.parent() == path.parent() && Kind::of(other) == Some(kind))
        };
        let files = self.moments.iter().flat_map(|image| &image.files);
        let beside = files.filter(|(other, content)| is_beside(other) && *content != now);
        let (same, others): (Vec<_>, Vec<_>) = beside.partition(|(other, _)| *other == path);
        let found = if same.is_empty() { others } else { same };
        found.into_iter().map(|(_, content)| content).collect()
    }
}

/// All stores and where files of each kind are.
pub(crate) struct Stores {
    stores: Vec<Store>,
    files: BTreeMap<Kind, Vec<(usize, PathBuf)>>,
}

impl Stores {
    /// Builds all of them.
    pub(crate) fn build() -> Self {
        let mut stores = Self { stores: Vec::new(), files: BTreeMap::new() };
        for store in [build_main("killed"), build_main("closed"), build_main("flushed")] {
            stores.add(store, &Kind::ALL);
        }
        stores.add(with_edits_mark(), &[Kind::EditsMark, Kind::Manifest]);
        stores.add(with_archive(), &[Kind::Archived]);
        for operation in OPERATIONS {
            let kinds: Vec<Kind> = operation.1.to_vec();
            for store in cut_off(operation) {
                stores.add(store, &kinds);
            }
        }
        for kind in Kind::ALL {
            assert!(!stores.files(kind).is_empty(), "no store has a file of kind {kind}");
        }
        stores
    }

    fn add(&mut self, store: Store, kinds: &[Kind]) {
        let index = self.stores.len();
        for path in store.image.files.keys() {
            let kind = Kind::of(path).expect("checked when it was made");
            if kinds.contains(&kind) {
                self.files.entry(kind).or_default().push((index, path.clone()));
            }
        }
        self.stores.push(store);
    }

    pub(crate) fn len(&self) -> usize {
        self.stores.len()
    }

    /// Files of a kind, with the stores that have them.
    pub(crate) fn files(&self, kind: Kind) -> Vec<(&Store, &Path)> {
        let files = self.files.get(&kind).map(Vec::as_slice).unwrap_or_default();
        files.iter().map(|(store, path)| (&self.stores[*store], path.as_path())).collect()
    }
}

/// Settings without background work.
pub(crate) fn options(fs: Arc<dyn FileSystem>, is_flushed_on_close: bool) -> Options {
    let engine = Options::new()
        .with_compaction_enabled(false)
        .with_split_enabled(false)
        .with_flush_on_close(is_flushed_on_close)
        .with_scrub_period(None)
        .with_wal_roll_size_bytes(3 << 10);
    let env = Env {
        fs,
        clock: Arc::new(ManualClock::new(NOW_MS)),
        random: Arc::new(SeededRandom::new(7)),
    };
    engine.with_env(env)
}

fn open(fs: &CrashFileSystem, is_flushed_on_close: bool) -> Connection {
    let options = options(Arc::new(fs.clone()), is_flushed_on_close);
    options.open(STORE).expect("a sound store")
}

fn moment(fs: &CrashFileSystem) -> Image {
    Image::take(&fs.after_kill())
}

/// The values that are written one after the other, with their distance from the clock, which
/// stands still: a delete without a timestamp covers the first two.
const VALUES: [(&str, i64); 4] = [("first", -2), ("second", -1), ("third", 1), ("logged", 2)];

fn put(connection: &Connection, table: &str, families: &[&str], value: &str) {
    let table = connection.table(table).expect("a name");
    let distance = VALUES.iter().find(|(known, _)| *known == value).expect("it is listed").1;
    let time = NOW_MS + distance;
    for number in 0..ROWS {
        let mut put = Put::new(format!("row{number:02}"));
        for family in families {
            put = put.add_at(*family, "q", time, format!("{value}-{number:>40}"));
        }
        table.put(&put).expect("room");
    }
}

fn plain(name: &str, families: &[&str]) -> TableDescriptor {
    let table = TableDescriptor::new(name.parse().expect("a name"));
    families.iter().fold(table, |table, family| {
        table.with_family(ColumnFamilyDescriptor::new(*family).with_versions(3))
    })
}

/// A table with a family per codec and encoding, in small blocks.
fn coded() -> TableDescriptor {
    let family = |name: &str, compression, encoding, bloom| {
        ColumnFamilyDescriptor::new(name)
            .with_block_size(1024)
            .with_compression(compression)
            .with_data_block_encoding(encoding)
            .with_bloom(bloom)
    };
    TableDescriptor::new("coded".parse().expect("a name"))
        .with_family(family("g", Compression::Gz, DataBlockEncoding::FastDiff, BloomType::Row))
        .with_family(family("l", Compression::Lz4, DataBlockEncoding::Diff, BloomType::RowCol))
        .with_family(family("n", Compression::None, DataBlockEncoding::Prefix, BloomType::None))
        .with_family(family("r", Compression::None, DataBlockEncoding::RowIndexV1, BloomType::Row))
        .with_family(family("s", Compression::Snappy, DataBlockEncoding::None, BloomType::RowCol))
        .with_family(family("z", Compression::Zstd, DataBlockEncoding::None, BloomType::Row))
}

const CODED: [&str; 6] = ["g", "l", "n", "r", "s", "z"];

fn write_folder(fs: &dyn FileSystem) {
    let path = Path::new(FOLDER).join("a/0001");
    fs.create_dir_all(path.parent().expect("a folder")).expect("room");
    let mut writer = HFileWriter::create(fs, &path, HFileWriterOptions::default()).expect("room");
    for number in 0..ROWS {
        let row = format!("row{number:02}-loaded");
        let cell = Cell::new(row.as_bytes(), b"a", b"q", 5, CellType::Put, b"loaded");
        writer.append(&cell.as_ref()).expect("sorted");
    }
    writer.finish(&StoreFileInfo::default()).expect("room");
}

fn snapshot(admin: &Admin, name: &str, table: &str) -> Result<()> {
    let time_to_live = (name == "short").then_some(Duration::from_secs(86_400));
    admin.snapshot(name, table, &SnapshotOptions::default().with_time_to_live(time_to_live))
}

/// Tables with everything that a table can contain. The images are those of earlier moments.
fn fill(fs: &CrashFileSystem, connection: &Connection) -> Result<Vec<Image>> {
    let mut moments = Vec::new();
    let admin = connection.admin();
    admin.create_namespace(&NamespaceDescriptor::new("ns"))?;
    admin.create_table_with_splits(&plain("ns:plain", &["a", "b"]), &[b"row10".to_vec()])?;
    admin.create_table(&coded())?;
    put(connection, "coded", &CODED, "first");
    moments.push(moment(fs));
    admin.flush_table("coded")?;
    for table in ["halves", "off"] {
        admin.create_table(&plain(table, &["a", "b"]))?;
        put(connection, table, &["a", "b"], "first");
        admin.flush_table(table)?;
    }
    admin.create_table_with_splits(&plain("merged", &["a"]), &[b"row10".to_vec()])?;
    put(connection, "merged", &["a"], "first");
    moments.push(moment(fs));
    admin.split_table("halves", Some(b"row07"))?;
    let regions = admin.regions("merged")?;
    let names: Vec<&str> = regions.iter().map(|region| region.encoded_name()).collect();
    admin.merge_regions(&names, MergeKind::Adjacent)?;
    admin.disable_table("off")?;
    put(connection, "ns:plain", &["a", "b"], "first");
    snapshot(&admin, "whole", "ns:plain")?;
    snapshot(&admin, "short", "coded")?;
    snapshot(&admin, "references", "halves")?;
    moments.push(moment(fs));
    put(connection, "ns:plain", &["a", "b"], "second");
    connection.table("ns:plain")?.delete(&Delete::new("row03"))?;
    admin.flush_table("ns:plain")?;
    moments.push(moment(fs));
    put(connection, "ns:plain", &["a"], "third");
    admin.flush_table("ns:plain")?;
    admin.major_compact_table("ns:plain")?;
    let mut changed = plain("ns:plain", &["a", "b"]);
    changed.set_family(ColumnFamilyDescriptor::new("b").with_versions(9));
    admin.modify_table(&changed)?;
    write_folder(fs);
    admin.bulk_load("ns:plain", FOLDER, &BulkLoadOptions::default())?;
    moments.push(moment(fs));
    // In the log only.
    put(connection, "halves", &["b"], "logged");
    moments.push(moment(fs));
    put(connection, "ns:plain", &["b"], "logged");
    Ok(moments)
}

fn build_main(name: &str) -> Store {
    let fs = CrashFileSystem::new();
    let connection = open(&fs, name == "flushed");
    let moments = fill(&fs, &connection).expect("nothing fails");
    if name != "killed" {
        connection.clone().close().expect("nothing fails");
    }
    let store = Store::new(name, moment(&fs), moments);
    let rows = ROWS as usize;
    // Of family a, a row was deleted and written again; the third write of b is in the log.
    let cells = store.contents.cells("ns:plain");
    assert!(cells >= rows * 6 - 3, "{cells} cells");
    assert_eq!(store.contents.cells("halves"), rows * 3);
    assert_eq!(store.contents.cells("coded"), rows * CODED.len());
    let clones: Vec<_> = store.contents.clones().collect();
    assert_eq!(clones, [("references", 2 * rows), ("short", rows * 6), ("whole", 2 * rows)]);
    store
}

/// A store of one table and a snapshot of it, in which an operation is cut off.
fn small() -> Image {
    let fs = CrashFileSystem::new();
    let connection = open(&fs, false);
    let admin = connection.admin();
    let table = plain("t", &["a", "b"]);
    admin.create_table_with_splits(&table, &[b"row10".to_vec()]).expect("room");
    put(&connection, "t", &["a", "b"], "first");
    snapshot(&admin, "s", "t").expect("room");
    let mut changed = plain("t", &["a", "b"]);
    changed.set_family(ColumnFamilyDescriptor::new("b").with_versions(9));
    admin.modify_table(&changed).expect("room");
    put(&connection, "t", &["a", "b"], "second");
    moment(&fs)
}

type Operation = (&'static str, &'static [Kind], fn(&Connection) -> Result<()>);

const OPERATIONS: [Operation; 8] = [
    ("load", &[Kind::LoadManifest, Kind::LoadedFile], |connection| {
        connection.admin().bulk_load("t", FOLDER, &BulkLoadOptions::default()).map(drop)
    }),
    ("clone", &[Kind::Unclaimed], |connection| connection.admin().clone_snapshot("s", "clone")),
    ("restore", &[Kind::RestoredDescriptor, Kind::Unclaimed], |connection| {
        connection.admin().disable_table("t")?;
        connection.admin().restore_snapshot("s", FailSafeSnapshot::Skip)
    }),
    ("flush", &[Kind::Temporary], |connection| connection.admin().flush_table("t")),
    ("alter", &[Kind::Temporary, Kind::Descriptor], |connection| {
        connection.admin().modify_table(&plain("t", &["a", "b", "c"]))
    }),
    ("snapshot", &[Kind::UnfinishedSnapshot], |connection| {
        snapshot(&connection.admin(), "another", "t")
    }),
    ("drop", &[Kind::Temporary], |connection| {
        connection.admin().disable_table("t")?;
        connection.admin().delete_table("t")
    }),
    ("split", &[Kind::Temporary, Kind::Reference, Kind::Manifest], |connection| {
        connection.admin().split_table("t", Some(b"row05"))
    }),
];

/// The stores that the operation leaves when it is cut off, one per set of kinds.
fn cut_off((name, kinds, operation): Operation) -> Vec<Store> {
    let before = small();
    let prepared = || {
        let fs = before.to_disk();
        write_folder(&fs);
        (open(&fs, false), fs)
    };
    let (connection, fs) = prepared();
    let begun = fs.operation_count();
    operation(&connection).unwrap_or_else(|error| panic!("{name}: {error}"));
    let operations = fs.operation_count() - begun;
    drop(connection);
    let mut found: BTreeMap<Vec<Kind>, Store> = BTreeMap::new();
    for cut in 0..CUTS {
        let (connection, fs) = prepared();
        fs.power_off_after(1 + operations * cut / CUTS);
        let _ = operation(&connection);
        let image = moment(&fs);
        drop(connection);
        let is_there = |kind: &Kind| image.files.keys().any(|path| Kind::of(path) == Some(*kind));
        let mut there: Vec<Kind> = kinds.iter().copied().filter(is_there).collect();
        // Unfinished files differ by their location.
        there.extend(image.files.keys().filter_map(|path| Kind::of(path)));
        there.sort();
        there.dedup();
        let is_new = kinds.iter().any(is_there) && !found.contains_key(&there);
        if is_new {
            let store = Store::new(&format!("{name}-{cut}"), image, vec![before.clone()]);
            found.insert(there, store);
        }
    }
    assert!(!found.is_empty(), "{name}: no cut of {operations} leaves {kinds:?}");
    found.into_values().collect()
}

/// A store of which Apache HBase has had a region open.
fn with_edits_mark() -> Store {
    let mut image = small();
    let region = image.files.keys().find(|path| Kind::of(path) == Some(Kind::RegionInfo));
    let region = region.and_then(|path| path.parent()).expect("a region").to_path_buf();
    image.files.insert(region.join("recovered.edits/4.seqid"), Arc::default());
    let fs = with_parents(image).to_disk();
    let connection = open(&fs, true);
    let moments = vec![moment(&fs)];
    connection.close().expect("nothing fails");
    Store::new("edits-mark", moment(&fs), moments)
}

/// A store in which directories were in the way.
fn with_archive() -> Store {
    let mut image = small();
    for file in ["data/default/photos/2026/a.jpg", "data/default/photos/b.jpg"] {
        image.files.insert(PathBuf::from(file), Arc::new(file.as_bytes().to_vec()));
    }
    let fs = with_parents(image).to_disk();
    open(&fs, true).close().expect("nothing fails");
    Store::new("archive", moment(&fs), Vec::new())
}

/// The same with the directories of all files.
fn with_parents(mut image: Image) -> Image {
    image.add_parents();
    image
}
