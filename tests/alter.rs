//! Settings that are altered on a running table: they apply to every file that is written from then
//! on, and earlier files remain readable.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite::{
    BloomType, ColumnFamilyDescriptor, Compression, Connection, DataBlockEncoding, Get,
    ManualClock, Options, Put, Result, Scan, TableDescriptor,
};
use hblite_env::MemFileSystem;
use hblite_hfile::HFileReader;

use crate::testkit::{STORE, env, files_below, name};

const ROWS: usize = 2_000;

struct Store {
    fs: MemFileSystem,
    clock: Arc<ManualClock>,
    connection: Connection,
}

impl Store {
    fn new(family: ColumnFamilyDescriptor) -> Self {
        let (fs, clock) = (MemFileSystem::new(), Arc::new(ManualClock::new(1_700_000_000_000)));
        let env = env(fs.clone()).with_clock(clock.clone());
        let engine = Options::new().with_compaction_enabled(false);
        let connection = engine.with_env(env).open(STORE).expect("an empty store");
        let table = TableDescriptor::new(name("t")).with_family(family);
        connection.admin().create_table(&table).expect("a new table");
        Self { fs, clock, connection }
    }

    /// Writes the rows, each with its number and `round`, and flushes them.
    fn write(&self, round: usize) -> Result<()> {
        self.clock.advance(1);
        let table = self.connection.table("t")?;
        for number in 0..ROWS {
            table.put(&Put::new(row(number)).add("f", "q", format!("{round}-{number:040}")))?;
        }
        self.connection.admin().flush_table(name("t"))
    }

    fn alter(&self, family: &ColumnFamilyDescriptor) {
        self.connection.admin().modify_family(name("t"), family).expect("legal settings");
    }

    /// The table's files, the oldest first.
    fn files(&self) -> Vec<HFileReader> {
        let table = Path::new(STORE).join("data/default/t");
        let mut paths = files_below(&self.fs, &table);
        // Settings, manifests and unfinished files are in files or directories with a dot in front.
        paths.retain(|path| !path.to_str().expect("text").contains("/."));
        let open = |path: &PathBuf| HFileReader::open(&self.fs, path, None).expect("a sound file");
        let mut files: Vec<HFileReader> = paths.iter().map(open).collect();
        files.sort_by_key(|file| file.max_sequence_id());
        files
    }

    /// Reads everything, as a scan and row by row; returns how many versions a row has.
    fn check_readable(&self, round: usize) -> usize {
        let table = self.connection.table("t").expect("a name");
        let rows = table.scan(&Scan::new()).expect("the table is there");
        for (number, row) in rows.enumerate() {
            let row = row.expect("nothing is damaged");
            let value = format!("{round}-{number:040}");
            assert_eq!(row.value("f", "q"), Some(value.as_bytes()));
        }
        let mut versions = 0;
        for number in (0..ROWS).step_by(97) {
            let found = table.get(&Get::new(row(number)).with_all_versions());
            versions = found.expect("nothing is damaged").len();
        }
        versions
    }
}

fn row(number: usize) -> String {
    format!("row-{number:06}")
}

fn family() -> ColumnFamilyDescriptor {
    ColumnFamilyDescriptor::new("f").with_versions(5)
}

fn block_count(file: &HFileReader) -> u64 {
    u64::from(file.trailer().data_index_count)
}

#[test]
fn files_are_written_as_the_family_says_by_then() {
    let store = Store::new(family());
    store.write(0).expect("there is room");
    let settings = [
        (Compression::Gz, DataBlockEncoding::FastDiff, BloomType::RowCol),
        (Compression::Zstd, DataBlockEncoding::None, BloomType::None),
        (Compression::Snappy, DataBlockEncoding::Prefix, BloomType::Row),
        (Compression::Lz4, DataBlockEncoding::Diff, BloomType::Row),
        (Compression::None, DataBlockEncoding::RowIndexV1, BloomType::RowCol),
    ];
    for (round, (compression, encoding, bloom)) in settings.into_iter().enumerate() {
        let altered = family()
            .with_compression(compression)
            .with_data_block_encoding(encoding)
            .with_bloom(bloom);
        store.alter(&altered);
        store.write(round + 1).expect("there is room");
        let files = store.files();
        assert_eq!(files.len(), round + 2, "nothing is compacted");
        let newest = files.last().expect("the flushed one");
        let found = (newest.compression(), newest.encoding(), newest.bloom_type());
        assert_eq!(found, (compression, encoding, bloom));
        let first = files.first().expect("the one of the beginning");
        let found = (first.compression(), first.encoding(), first.bloom_type());
        assert_eq!(found, (Compression::None, DataBlockEncoding::None, BloomType::Row));
        assert_eq!(store.check_readable(round + 1), (round + 2).min(5));
    }
    store.alter(&family().with_compression(Compression::Zstd));
    assert_eq!(store.files().len(), 6, "an alter alone writes no file");
    store.connection.admin().major_compact_table(name("t")).expect("there is room");
    let files = store.files();
    assert_eq!(files.len(), 1);
    assert_eq!(
        files[0].compression(),
        Compression::Zstd,
        "a compaction writes by the settings too"
    );
    assert_eq!(store.check_readable(5), 5);
}

#[test]
fn blocks_are_as_large_as_the_family_says_by_then() {
    let store = Store::new(family().with_block_size(64 * 1024));
    store.write(0).expect("there is room");
    store.alter(&family().with_block_size(1024));
    store.write(1).expect("there is room");
    let counts: Vec<u64> = store.files().iter().map(block_count).collect();
    assert!(counts[1] > 20 * counts[0], "{counts:?}");
    store.alter(&family().with_block_size(16 * 1024));
    store.connection.admin().major_compact_table(name("t")).expect("there is room");
    let compacted = block_count(&store.files()[0]);
    assert!(compacted < counts[1] / 4 && compacted > counts[0], "{counts:?}, then {compacted}");
    assert_eq!(store.check_readable(1), 2);
}

#[test]
fn versions_and_time_to_live_hold_at_once_and_for_good_with_the_next_compaction() {
    let store = Store::new(family());
    for round in 0..4 {
        store.write(round).expect("there is room");
        store.clock.advance(1_000);
    }
    assert_eq!(store.check_readable(3), 4);
    store.alter(&family().with_versions(2));
    assert_eq!(store.check_readable(3), 2, "reads go by the new number");
    store.alter(&family().with_versions(5));
    assert_eq!(store.check_readable(3), 4, "the others were there all the time");
    store.alter(&family().with_versions(2));
    store.connection.admin().major_compact_table(name("t")).expect("there is room");
    store.alter(&family().with_versions(5));
    assert_eq!(store.check_readable(3), 2, "and now they are gone");

    let mut short_lived = family();
    short_lived.set_attribute("TTL", "1").expect("a legal time");
    store.clock.advance(10_000);
    store.alter(&short_lived);
    assert_eq!(store.check_readable(3), 0, "all are older");
    store.connection.admin().major_compact_table(name("t")).expect("there is room");
    store.alter(&family());
    assert_eq!(store.check_readable(3), 0, "and do not come back");
    let cells: u64 = store.files().iter().map(HFileReader::entries).sum();
    assert_eq!(cells, 0);
}

#[test]
fn settings_of_one_family_leave_the_others_alone() {
    let store = Store::new(family());
    let other = ColumnFamilyDescriptor::new("g").with_compression(Compression::Gz);
    store.connection.admin().add_family(name("t"), &other).expect("a new family");
    store.alter(&family().with_data_block_encoding(DataBlockEncoding::Diff));
    let table = store.connection.table("t").expect("a name");
    table.put(&Put::new("r").add("f", "q", "v").add("g", "q", "v")).expect("both are there");
    store.connection.admin().flush_table(name("t")).expect("there is room");
    for file in store.files() {
        let is_other = file.path().parent().is_some_and(|dir| dir.ends_with("g"));
        let expected = match is_other {
            true => (Compression::Gz, DataBlockEncoding::None),
            false => (Compression::None, DataBlockEncoding::Diff),
        };
        assert_eq!((file.compression(), file.encoding()), expected, "{}", file.path().display());
    }
}
