//! Recorded files with their descriptions, and small helpers around readers.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{FileSystem as _, MemFileSystem};
use hblite_hfile::{
    BlockCache, BloomHash, ChecksumType, HFileReader, HFileScanner, HFileWriter,
    HFileWriterOptions, StoreFileInfo, Trailer, file_info,
};
use hblite_model::cell::key;
use hblite_model::{BloomType, Cell, CellComparator, CellRef, Compression, DataBlockEncoding};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A recorded file.
pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) description: Value,
}

impl fmt::Display for Golden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// All recorded files.
pub(crate) fn all() -> Vec<Golden> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/hfile");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "hfile"))
        .collect();
    paths.sort();
    paths.iter().map(|path| Golden::load(path)).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

pub(crate) fn open(fs: &MemFileSystem, path: &Path) -> Arc<HFileReader> {
    Arc::new(HFileReader::open(fs, path, None).unwrap())
}

/// All cells, forward.
pub(crate) fn scan(reader: &Arc<HFileReader>) -> Vec<Cell> {
    let mut scanner = HFileScanner::new(reader.clone());
    let mut cells = Vec::new();
    let mut more = scanner.seek_first().unwrap();
    while more {
        cells.push(scanner.current().unwrap().to_cell());
        more = scanner.next().unwrap();
    }
    assert_eq!(scanner.stats().cells_read, cells.len() as u64);
    cells
}

pub(crate) fn digest(cells: &[Cell]) -> String {
    let mut sha = Sha256::new();
    for cell in cells {
        let cell = cell.as_ref();
        for part in [cell.key(), cell.value(), cell.tags()] {
            sha.update((part.len() as u32).to_be_bytes());
            sha.update(part);
        }
        sha.update(cell.sequence_id().to_be_bytes());
    }
    hex(&sha.finalize())
}

/// About `count` keys of the cells, and keys just before, between and behind them.
pub(crate) fn keys_around(cells: &[Cell], count: usize) -> Vec<Vec<u8>> {
    let mut keys = vec![key::first_on_row(b""), key::first_on_row(b"\xff\xff\xff\xff")];
    for cell in cells.iter().step_by((cells.len() / count).max(1)) {
        let cell = cell.as_ref();
        let (row, family, qualifier) = (cell.row(), cell.family(), cell.qualifier());
        keys.push(cell.key().to_vec());
        keys.push(key::first_on_row(row));
        keys.push(key::last_on_row(row));
        keys.push(key::first_on_column(row, family, qualifier));
        keys.push(key::last_on_column(row, family, qualifier));
        let timestamp = cell.timestamp().wrapping_sub(1);
        keys.push(key::build(row, family, qualifier, timestamp, cell.type_code()));
        if row.len() < key::ROW_LENGTH_MAX {
            keys.push(key::first_on_row(&[row, b"\0"].concat()));
        }
        keys.push(key::first_on_row(&row[..row.len() / 2]));
    }
    keys
}

/// Writes `cells` with the settings of `golden`.
pub(crate) fn write(fs: &MemFileSystem, path: &Path, golden: &Golden, cells: &[Cell]) {
    write_with(fs, path, golden, cells, |_| {});
}

/// The same with settings that `change` has changed.
pub(crate) fn write_with(
    fs: &MemFileSystem,
    path: &Path,
    golden: &Golden,
    cells: &[Cell],
    change: impl FnOnce(&mut HFileWriterOptions),
) {
    let mut options = golden.options();
    change(&mut options);
    let mut writer = HFileWriter::create(fs, path, options).unwrap();
    for (name, content) in golden.meta_blocks() {
        writer.append_meta_block(&name, content);
    }
    for cell in cells {
        writer.append(&cell.as_ref()).unwrap();
    }
    let info = StoreFileInfo {
        max_sequence_id: Some(golden.number("/settings/max_seq_id")),
        major_compaction: golden.flag("/settings/major_compaction"),
        compacted_files: Vec::new(),
    };
    let summary = writer.finish(&info).unwrap();
    assert_eq!(summary.cells, cells.len() as u64);
    assert_eq!(summary.length, fs.file_length(path).unwrap());
}

impl Golden {
    fn load(path: &Path) -> Self {
        let description = fs::read_to_string(path.with_extension("json")).unwrap();
        Self {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            bytes: fs::read(path).unwrap(),
            description: serde_json::from_str(&description).unwrap(),
        }
    }

    pub(crate) fn open(&self, cache: Option<Arc<BlockCache>>) -> HFileReader {
        let fs = MemFileSystem::new();
        let path = Path::new("golden");
        fs.create(path).unwrap().write_all(&self.bytes).unwrap();
        HFileReader::open(&fs, path, cache).unwrap()
    }

    pub(crate) fn reader(&self) -> Arc<HFileReader> {
        Arc::new(self.open(None))
    }

    pub(crate) fn scan(&self) -> Vec<Cell> {
        scan(&self.reader())
    }

    fn value(&self, pointer: &str) -> &Value {
        self.description.pointer(pointer).unwrap_or_else(|| panic!("{self}: no {pointer}"))
    }

    pub(crate) fn number(&self, pointer: &str) -> u64 {
        let value = self.value(pointer);
        value.as_u64().or_else(|| value.as_i64().map(|number| number as u64)).unwrap()
    }

    pub(crate) fn flag(&self, pointer: &str) -> bool {
        self.value(pointer).as_bool().unwrap()
    }

    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.value(pointer).as_str().unwrap()
    }

    pub(crate) fn optional_text(&self, pointer: &str) -> Option<String> {
        self.description.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
    }

    pub(crate) fn is_compressed(&self) -> bool {
        self.text("/settings/compression") != "NONE"
    }

    pub(crate) fn listed_cells(&self) -> Option<Vec<Cell>> {
        let cells = self.description.get("cells")?.as_array()?;
        Some(cells.iter().map(cell_of).collect())
    }

    pub(crate) fn meta_blocks(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let Some(blocks) = self.description.get("meta_blocks").and_then(Value::as_object) else {
            return Vec::new();
        };
        let pair = |(name, content): (&String, &Value)| {
            (name.clone().into_bytes(), unhex(content.as_str().unwrap()))
        };
        blocks.iter().map(pair).collect()
    }

    pub(crate) fn check_trailer(&self, trailer: &Trailer) {
        let codec = match self.text("/settings/compression") {
            "GZ" => 1,
            "NONE" => 2,
            "SNAPPY" => 3,
            "LZ4" => 4,
            _ => 6,
        };
        for (name, number) in [
            ("minor", u64::from(trailer.minor_version)),
            ("file_info_offset", trailer.file_info_offset),
            ("load_on_open_data_offset", trailer.load_on_open_data_offset),
            ("uncompressed_data_index_size", trailer.uncompressed_data_index_size),
            ("total_uncompressed_bytes", trailer.total_uncompressed_bytes),
            ("data_index_count", u64::from(trailer.data_index_count)),
            ("meta_index_count", u64::from(trailer.meta_index_count)),
            ("entry_count", trailer.entry_count),
            ("num_data_index_levels", u64::from(trailer.num_data_index_levels)),
            ("first_data_block_offset", trailer.first_data_block_offset as u64),
            ("last_data_block_offset", trailer.last_data_block_offset as u64),
            ("compression_codec", codec),
        ] {
            assert_eq!(number, self.number(&format!("/trailer/{name}")), "{self}: {name}");
        }
        let compression = Compression::from_name(self.text("/settings/compression")).unwrap();
        assert_eq!(trailer.compression, compression, "{self}");
    }

    pub(crate) fn check_file_info(&self, reader: &HFileReader) {
        let described = self.value("/file_info").as_object().unwrap();
        let found = reader.file_info_map();
        assert_eq!(found.iter().count(), described.len(), "{self}");
        for (name, value) in described {
            let found = found.get(name.as_bytes()).unwrap();
            let value = value.as_str().unwrap();
            match value.strip_prefix("sha256:") {
                Some(rest) => {
                    let sha = hex(&Sha256::digest(found));
                    assert_eq!(rest, format!("{sha}:{}", found.len()), "{self}: {name}");
                }
                None => assert_eq!(hex(found), value, "{self}: {name}"),
            }
        }
        let range = reader.file_info(file_info::TIME_RANGE).unwrap();
        let (min, max) = reader.time_range();
        assert_eq!([min.to_be_bytes(), max.to_be_bytes()].concat(), range, "{self}");
    }

    pub(crate) fn options(&self) -> HFileWriterOptions {
        let size = |name: &str| self.number(&format!("/settings/{name}")) as usize;
        let flag = |name: &str| self.flag(&format!("/settings/{name}"));
        let text = |name: &str| self.text(&format!("/settings/{name}"));
        HFileWriterOptions {
            block_size: size("block_size"),
            encoding: DataBlockEncoding::from_name(text("encoding")).unwrap(),
            compression: Compression::from_name(text("compression")).unwrap(),
            bloom: BloomType::from_name(text("bloom")).unwrap(),
            bloom_prefix_length: size("bloom_param") as u32,
            bloom_block_size: size("bloom_block_size"),
            bloom_error_rate: self.value("/settings/bloom_error_rate").as_f64().unwrap() as f32,
            hash: BloomHash::from_name(text("hash")).unwrap(),
            checksum: ChecksumType::from_name(text("checksum")).unwrap(),
            bytes_per_checksum: size("bytes_per_checksum"),
            include_mvcc: flag("include_mvcc"),
            include_tags: flag("include_tags"),
            compress_tags: flag("compress_tags"),
            index_chunk_size: size("index_chunk_size"),
            index_min_entries: size("index_min_entries"),
            comparator: match text("comparator") {
                "meta" => CellComparator::Meta,
                _ => CellComparator::Default,
            },
            create_time: self.number("/settings/create_time") as i64,
        }
    }
}

fn cell_of(value: &Value) -> Cell {
    let bytes = |name: &str| unhex(value[name].as_str().unwrap());
    let type_code = value["type"].as_u64().unwrap() as u8;
    let timestamp = value["ts"].as_i64().unwrap();
    let flat_key =
        key::build(&bytes("row"), &bytes("family"), &bytes("qualifier"), timestamp, type_code);
    let sequence_id = value["mvcc"].as_i64().unwrap() as u64;
    CellRef::new(&flat_key, &bytes("value"), &bytes("tags"), sequence_id).to_cell()
}
