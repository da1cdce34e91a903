//! Any bytes as the content of a small file of a store: reference, table descriptor, region info,
//! manifest, snapshot description, marker, id, version, the head of the log, or as a value in
//! hbase:meta. The store is checked, opened and read, also with salvage.
//!
//! The first byte selects the file; with its highest bit set, the bytes become the fields of a
//! message with a correct checksum.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use hblite::{
    ColumnFamilyDescriptor, Connection, Env, Options, Put, Result, Scan, SnapshotOptions,
    SystemTables, TableDescriptor,
};
use hblite_env::{FileSystem, MemFileSystem, files_below};
use hblite_hfile::{HFileWriter, HFileWriterOptions, StoreFileInfo};
use hblite_model::{Cell, CellComparator, CellType};

const STORE: &str = "/store";
const META: &str = "data/hbase/meta/1588230740";
/// Key of the field with the checksum of a sealed message.
const SEAL_KEY: [u8; 3] = [0xcd, 0x91, 0x33];
/// What selects a value in hbase:meta, and not a file.
const QUALIFIERS: [&str; 7] =
    ["regioninfo", "server", "state", "seqnumDuringOpen", "splitA", "merge0000", "x"];

/// Paths below the store with their contents.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// A closed store, and which of its files are changed.
static BASE: LazyLock<(Files, Vec<usize>)> = LazyLock::new(|| {
    let files = write();
    let small: Vec<usize> = (0..files.len()).filter(|at| is_small(&files[*at].0)).collect();
    assert!(small.len() > 8, "{small:?}");
    (files, small)
});

fn is_small(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_reference = name.len() == 65 && name.as_bytes()[32] == b'.';
    let is_named = [".tableinfo", ".regioninfo", ".manifest", ".snapshotinfo", "hb", "WALs.head"]
        .iter()
        .any(|start| name.starts_with(start));
    is_reference || (is_named && !name.starts_with("hblite-wal"))
}

fn open(fs: &MemFileSystem, salvage: bool) -> Result<Connection> {
    let engine = Options::new()
        .with_compaction_enabled(false)
        .with_split_enabled(false)
        .with_flush_on_close(false)
        .with_scrub_period(None);
    let env = Env::in_memory().with_fs(Arc::new(fs.clone()));
    engine.with_env(env).with_salvage(salvage).open(STORE)
}

fn write() -> Files {
    let fs = MemFileSystem::new();
    let fill = || -> Result<()> {
        let connection = open(&fs, false)?;
        let admin = connection.admin();
        let table =
            TableDescriptor::new("t".parse()?).with_family(ColumnFamilyDescriptor::new("f"));
        admin.create_table(&table)?;
        for row in ["a", "b", "c"] {
            connection.table("t")?.put(&Put::new(row).add("f", "q", "value"))?;
        }
        admin.flush_table("t")?;
        admin.split_table("t", Some(b"b"))?;
        admin.snapshot("s", "t", &SnapshotOptions::default())?;
        connection.close()
    };
    fill().expect("nothing fails");
    let files = files_below(&fs, Path::new(STORE)).expect("a directory");
    files.into_iter().map(|path| (path.clone(), fs.read(&path).expect("a file"))).collect()
}

/// The bytes as they are, or as the fields of a sealed message.
fn content(path: &Path, bytes: &[u8], is_sealed: bool) -> Vec<u8> {
    if !is_sealed {
        return bytes.to_vec();
    }
    let seal = crc32fast::hash(bytes).to_le_bytes();
    let message = [bytes, &SEAL_KEY, &seal].concat();
    match path.file_name().and_then(|name| name.to_str()) {
        Some(".snapshotinfo") => message,
        Some(".regioninfo") if message.len() < 128 => {
            [b"PBUF".as_slice(), &[message.len() as u8], &message].concat()
        }
        _ => [b"PBUF".as_slice(), &message].concat(),
    }
}

/// Adds a file to hbase:meta with this value in a row of its own, or in that of a region.
fn add_to_meta(fs: &MemFileSystem, qualifier: &str, value: &[u8]) {
    let meta = Path::new(STORE).join(META);
    let _ = fs.remove_file(&meta.join(".manifest"));
    let path = meta.join("info/0123456789abcdef0123456789abcdef");
    fs.create_dir_all(&meta.join("info")).expect("memory");
    let options = HFileWriterOptions::default().with_comparator(CellComparator::Meta);
    let mut writer = HFileWriter::create(fs, &path, options).expect("memory");
    let row = b"u,,1.0123456789abcdef0123456789abcdef.";
    let time = 1 << 50;
    let cell = Cell::new(row, b"info", qualifier.as_bytes(), time, CellType::Put, value);
    writer.append(&cell.as_ref()).expect("one cell");
    let sequence = StoreFileInfo { max_sequence_id: Some(1 << 20), ..StoreFileInfo::default() };
    writer.finish(&sequence).expect("memory");
}

pub(crate) fn run(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let (files, small) = &*BASE;
    let selected = usize::from(*first & 0x7f) % (small.len() + QUALIFIERS.len());
    for salvage in [false, true] {
        let fs = MemFileSystem::new();
        for (at, (path, sound)) in files.iter().enumerate() {
            let changed = (small.get(selected) == Some(&at))
                .then(|| content(path, bytes, *first & 0x80 != 0));
            fs.create_dir_all(path.parent().expect("a directory")).expect("memory");
            let mut file = fs.create(path).expect("memory");
            file.write_all(changed.as_ref().unwrap_or(sound)).expect("memory");
        }
        if let Some(qualifier) = selected.checked_sub(small.len()) {
            add_to_meta(&fs, QUALIFIERS[qualifier], bytes);
        }
        if salvage {
            let env = Env::in_memory().with_fs(Arc::new(fs.clone()));
            let _ = hblite_engine::check(&env, Path::new(STORE), &mut |_| {});
        }
        let _ = read(&fs, salvage);
    }
}

/// An open that succeeds gives a store that can be read, as far as it is not damaged.
fn read(fs: &MemFileSystem, salvage: bool) -> Result<()> {
    let connection = open(fs, salvage)?;
    let admin = connection.admin();
    for table in admin.list_tables(SystemTables::Exclude)? {
        let table = connection.table(table.name().clone())?;
        for row in table.scan(&Scan::new())? {
            row?;
        }
    }
    admin.list_snapshots()?;
    admin.clone_snapshot("s", "clone")
}
