//! Goal: bytes of a store file that change while the store is open are never copied as data.
//!
//! Method: a store with one table per encoding and codec is read from end to end, so that every
//! block was verified once. Then a byte in each block of each file, and in the trailer, is flipped
//! in place. Every operation that copies the file must fail with its path and the block's offset,
//! and must leave it as it is. When the byte is flipped back, all of them succeed.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hblite::{
    Admin, BulkLoadOptions, ColumnFamilyDescriptor, Compression, Connection, DataBlockEncoding,
    Error, ErrorKind, Options, Put, Result, Scan, ScrubStatus, SnapshotOptions, TableDescriptor,
    TableName,
};
use hblite_hfile::{BlockType, HFileReader};

use crate::testkit::{name, store_files};

const ROWS: u32 = 120;
const TRAILER_SIZE: u64 = 4096;

/// Every encoding without compression, every codec without encoding, and one of both.
const CLASSES: [(Compression, DataBlockEncoding); 10] = [
    (Compression::None, DataBlockEncoding::None),
    (Compression::None, DataBlockEncoding::RowIndexV1),
    (Compression::None, DataBlockEncoding::Prefix),
    (Compression::None, DataBlockEncoding::Diff),
    (Compression::None, DataBlockEncoding::FastDiff),
    (Compression::Gz, DataBlockEncoding::None),
    (Compression::Snappy, DataBlockEncoding::None),
    (Compression::Lz4, DataBlockEncoding::None),
    (Compression::Zstd, DataBlockEncoding::None),
    (Compression::Gz, DataBlockEncoding::FastDiff),
];

fn options(are_files_mapped: bool) -> Options {
    Options::new().with_compaction_enabled(false).with_files_mapped(are_files_mapped)
}

/// A table with one file, all of which was read.
fn create(connection: &Connection, class: usize) -> Result<TableName> {
    let (compression, encoding) = CLASSES[class];
    let table = name(&format!("t{class}"));
    let family = ColumnFamilyDescriptor::new("f")
        .with_block_size(2048)
        .with_compression(compression)
        .with_data_block_encoding(encoding);
    let admin = connection.admin();
    admin.create_table(&TableDescriptor::new(table.clone()).with_family(family))?;
    let handle = connection.table(table.clone())?;
    for number in 0..ROWS {
        let value = format!("{:0>40}", number.wrapping_mul(2_654_435_761));
        handle.put(&Put::new(format!("row{number:05}")).add("f", "q", value))?;
    }
    admin.flush_table(&table)?;
    assert_eq!(read(connection, &table, true)?, ROWS);
    Ok(table)
}

fn read(connection: &Connection, table: &TableName, cache_blocks: bool) -> Result<u32> {
    let table = connection.table(table.clone())?;
    let mut scanner = table.scan(&Scan::new().with_cache_blocks(cache_blocks))?;
    let mut rows = 0;
    while scanner.next_row()?.is_some() {
        rows += 1;
    }
    Ok(rows)
}

/// The only store file of a table.
fn store_file(dir: &Path, table: &TableName) -> PathBuf {
    let files = store_files(dir, &table.to_string(), "f");
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

fn flip(path: &Path, at: u64) {
    let file = OpenOptions::new().read(true).write(true).open(path).expect("a file");
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).expect("a byte");
    byte[0] ^= 0x10;
    file.write_all_at(&byte, at).expect("a byte");
}

/// A place to damage: where the byte is, where the error must say it is, and whether cells are
/// there.
struct Place {
    at: u64,
    block: u64,
    has_cells: bool,
}

fn places(path: &Path) -> Vec<Place> {
    let reader = HFileReader::open(&hblite_env::StdFileSystem, path, None).expect("sound");
    let end = reader.length() - TRAILER_SIZE;
    let mut places: Vec<Place> = reader
        .block_headers()
        .map(|item| {
            let (block, header) = item.expect("sound");
            let has_cells = matches!(header.block_type, BlockType::Data | BlockType::EncodedData);
            Place { at: block + header.on_disk_size() as u64 / 2, block, has_cells }
        })
        .collect();
    // The magic, a number, and unused zeros.
    let in_trailer = [0, 12, 3_000].map(|at| Place { at: end + at, block: end, has_cells: false });
    places.extend(in_trailer);
    assert!(places.iter().filter(|place| place.has_cells).count() >= 3);
    places
}

#[track_caller]
fn assert_named<T: std::fmt::Debug>(result: Result<T>, path: &Path, place: &Place) {
    let error: Error = result.expect_err("the file is damaged");
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(error.file(), Some(path), "{error}");
    assert_eq!(error.offset(), Some(place.block), "{error}");
}

/// The files of one kind and the operations on them.
struct Victim<'a> {
    connection: &'a Connection,
    admin: Admin,
    dir: &'a Path,
    table: TableName,
    path: PathBuf,
    snapshot: String,
}

impl Victim<'_> {
    fn damaged(&self, place: &Place) {
        let before = fs::read(&self.path).expect("the file");
        let admin = &self.admin;
        assert_named(admin.major_compact_table(&self.table), &self.path, place);
        let to = self.dir.with_extension("copy");
        assert_named(admin.backup(&to), &self.path, place);
        assert!(!to.exists() && !self.dir.with_extension("copy.partial").exists());
        if place.has_cells {
            assert_named(read(self.connection, &self.table, false), &self.path, place);
        } else {
            let taken = admin.snapshot("another", &self.table, &SnapshotOptions::default());
            let is_read = place.block >= self.load_on_open();
            if is_read {
                assert_named(taken, &self.path, place);
            } else {
                taken.expect("not read");
                admin.delete_snapshot("another").expect("just taken");
            }
        }
        self.scrubbed(place);
        // Only a process that had the file open before can detect it.
        let is_in_padding = place.at > place.block + 1_000 && place.block == path_end(&self.path);
        if !is_in_padding {
            self.damaged_snapshot(place);
            self.damaged_bulk_load(place);
        }
        assert!(fs::read(&self.path).expect("the file") == before, "it is as it was");
        assert_eq!(store_file(self.dir, &self.table), self.path, "nothing was written anew");
    }

    fn scrubbed(&self, place: &Place) {
        let scrub = self.admin.scrub().expect("open");
        assert_eq!(scrub.damaged.len(), 1, "{:?}", scrub.damaged);
        let damaged = &scrub.damaged[0];
        assert_eq!((&damaged.table, damaged.family.as_slice()), (&self.table, b"f".as_slice()));
        let region = self.path.ancestors().nth(2).and_then(Path::file_name);
        assert_eq!(region, Some(damaged.region.as_ref()));
        assert_eq!((&damaged.file, damaged.offset), (&self.path, Some(place.block)));
        let status = self.admin.status().expect("open");
        assert_eq!(status.last_error.as_ref(), Some(&damaged.message));
        assert_eq!(status.scrub, scrub);
    }

    fn load_on_open(&self) -> u64 {
        let reader = HFileReader::open(&hblite_env::StdFileSystem, &self.path, None);
        reader.map_or(0, |reader| reader.trailer().load_on_open_data_offset)
    }

    /// The snapshot has the file under a name of its own.
    fn damaged_snapshot(&self, place: &Place) {
        let error = self.admin.clone_snapshot(&self.snapshot, name("clone"));
        let error = error.expect_err("the file is damaged");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(self.is_named(&error, place), "{error}");
        let file = error.file().map(|file| file.file_name());
        assert_eq!(file, Some(self.path.file_name()), "{error}");
        assert!(!self.admin.table_exists(name("clone")).expect("open"));
    }

    fn damaged_bulk_load(&self, place: &Place) {
        let folder = self.dir.with_extension("folder");
        fs::create_dir_all(folder.join("f")).expect("a directory");
        let file = folder.join("f").join(self.path.file_name().expect("a name"));
        fs::copy(&self.path, &file).expect("a copy");
        for verify in [true, false] {
            let options = BulkLoadOptions::default().with_verify(verify);
            let loaded = self.admin.bulk_load(&self.table, &folder, &options);
            let error = loaded.expect_err("the file is damaged");
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert_eq!(error.file(), Some(file.as_path()), "{error}");
            assert!(self.is_named(&error, place), "{error}");
        }
        fs::remove_dir_all(&folder).expect("made above");
    }

    /// The error for an invalid offset in the trailer names that offset.
    fn is_named(&self, error: &Error, place: &Place) -> bool {
        let is_in_trailer = place.block == path_end(&self.path);
        error.offset() == Some(place.block) || (is_in_trailer && error.offset().is_some())
    }
}

fn check_class(class: usize, are_files_mapped: bool) -> Result<()> {
    let scratch = tempfile::tempdir().expect("a directory");
    let dir = scratch.path().join("store");
    let connection = options(are_files_mapped).open(&dir)?;
    let table = create(&connection, class)?;
    let admin = connection.admin();
    admin.snapshot("before", &table, &SnapshotOptions::default())?;
    let victim = Victim {
        connection: &connection,
        path: store_file(&dir, &table),
        admin,
        dir: &dir,
        table,
        snapshot: "before".to_owned(),
    };
    for place in places(&victim.path) {
        flip(&victim.path, place.at);
        victim.damaged(&place);
        flip(&victim.path, place.at);
    }
    let (admin, table) = (&victim.admin, &victim.table);
    assert_eq!(admin.scrub()?.damaged, []);
    assert_eq!(admin.status()?.last_error, None);
    admin.backup(dir.with_extension("copy"))?;
    admin.clone_snapshot("before", name("clone"))?;
    assert_eq!(read(&connection, &name("clone"), false)?, ROWS);
    admin.major_compact_table(table)?;
    assert_ne!(store_file(&dir, table), victim.path);
    assert_eq!(read(&connection, table, false)?, ROWS);
    connection.close()
}

#[test]
fn damage_behind_the_first_read_of_a_mapped_file_is_not_copied() -> Result<()> {
    (0..CLASSES.len()).try_for_each(|class| check_class(class, true))
}

#[test]
fn damage_behind_the_first_read_of_an_unmapped_file_is_not_copied() -> Result<()> {
    [0, 1, 4, 9].into_iter().try_for_each(|class| check_class(class, false))
}

/// No process has the files of a closed store open: only checksums detect it.
#[test]
fn a_damaged_closed_store_is_not_backed_up() -> Result<()> {
    let scratch = tempfile::tempdir().expect("a directory");
    let dir = scratch.path().join("store");
    let connection = options(true).open(&dir)?;
    let tables = [create(&connection, 0)?, create(&connection, 9)?];
    connection.admin().snapshot("s", &tables[0], &SnapshotOptions::default())?;
    connection.close()?;
    for table in &tables {
        let path = store_file(&dir, table);
        for place in places(&path).iter().filter(|place| place.block != path_end(&path)) {
            flip(&path, place.at);
            assert_named(hblite::backup(&dir, scratch.path().join("copy")), &path, place);
            flip(&path, place.at);
        }
    }
    hblite::backup(&dir, scratch.path().join("copy"))?;
    let copy = options(false).open(scratch.path().join("copy"))?;
    assert_eq!(read(&copy, &tables[0], false)?, ROWS);
    copy.close()
}

fn path_end(path: &Path) -> u64 {
    fs::metadata(path).expect("the file").len() - TRAILER_SIZE
}

/// The first round of the thread finds the damage while others read, and closing ends it
/// immediately.
#[test]
fn damage_is_found_in_the_background() -> Result<()> {
    let scratch = tempfile::tempdir().expect("a directory");
    let dir = scratch.path().join("store");
    let engine = Options::new().with_scrub_period(Duration::from_millis(20));
    let connection = engine.open(&dir)?;
    let table = create(&connection, 0)?;
    let path = store_file(&dir, &table);
    let place = &places(&path)[1];
    let wait_for = |is_there: &dyn Fn(&ScrubStatus) -> bool| -> Result<ScrubStatus> {
        let begun = Instant::now();
        loop {
            let scrub = connection.admin().status()?.scrub;
            if is_there(&scrub) {
                return Ok(scrub);
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{scrub:?}");
            assert_eq!(read(&connection, &table, true)?, ROWS);
        }
    };
    let before = wait_for(&|scrub| scrub.rounds > 0 && scrub.files > 1)?;
    assert_eq!(before.damaged, []);
    flip(&path, place.at);
    let found = wait_for(&|scrub| !scrub.damaged.is_empty())?;
    assert_eq!((&found.damaged[0].file, found.damaged[0].offset), (&path, Some(place.block)));
    assert!(found.bytes > before.bytes && found.last_round_at_ms.is_some());
    flip(&path, place.at);
    wait_for(&|scrub| scrub.damaged.is_empty())?;
    connection.close()
}

/// A round that would take years ends when the store is closed.
#[test]
fn closing_ends_a_round() -> Result<()> {
    let scratch = tempfile::tempdir().expect("a directory");
    let engine = Options::new()
        .with_scrub_period(Duration::from_millis(1))
        .with_scrub_bytes_per_second_max(1);
    let connection = engine.open(scratch.path().join("store"))?;
    create(&connection, 0)?;
    let begun = Instant::now();
    connection.close()?;
    assert!(begun.elapsed() < Duration::from_secs(30));
    Ok(())
}
