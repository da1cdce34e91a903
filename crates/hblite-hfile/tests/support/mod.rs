//! Recorded files with their descriptions, and small helpers around readers.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{FileSystem, MemFileSystem};
use hblite_hfile::{BlockCache, HFileReader, HFileScanner, HFileWriter, HFileWriterOptions};
use hblite_hfile_json::{CellDigest, Description};
use hblite_model::cell::key;
use hblite_model::{Cell, Result};

/// A recorded file.
pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) description: Description,
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

/// The recorded files with these names.
pub(crate) fn named(names: &[&str]) -> Vec<Golden> {
    let is_wanted = |golden: &Golden| names.contains(&golden.name.as_str());
    let files: Vec<Golden> = all().into_iter().filter(is_wanted).collect();
    assert_eq!(files.len(), names.len());
    files
}

/// All cells in the order of the file, read from the last to the first.
pub(crate) fn read_backwards(scanner: &mut HFileScanner) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut more = scanner.seek_last().unwrap();
    while more {
        cells.push(scanner.current().unwrap().to_cell());
        more = scanner.prev().unwrap();
    }
    cells.reverse();
    cells
}

/// Files below `folder` that are or should be HFiles, sorted.
pub(crate) fn hfiles_below(folder: &Path) -> Vec<PathBuf> {
    const OTHERS: [&str; 4] = ["json", "txt", "md", "crc"];
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        let extension = path.extension().unwrap_or_default();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
        if path.is_dir() {
            found.extend(hfiles_below(&path));
        } else if !is_hidden && !OTHERS.iter().any(|other| extension == *other) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The description next to a file.
pub(crate) fn description_beside(path: &Path) -> Option<Description> {
    let text = fs::read_to_string(path.with_extension("json")).ok()?;
    Some(Description::parse(&text).unwrap())
}

type Open = fn(&dyn FileSystem, &Path, Option<Arc<BlockCache>>) -> Result<HFileReader>;

/// The ways to open a file.
pub(crate) const WAYS: [Open; 2] = [HFileReader::open, HFileReader::open_mapped];

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
    let mut digest = CellDigest::default();
    for cell in cells {
        digest.add(&cell.as_ref());
    }
    digest.finish()
}

/// About `count` keys of the cells, and keys just before, between and after them.
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
    let mut options = golden.description.options().unwrap();
    change(&mut options);
    let mut writer = HFileWriter::create(fs, path, options).unwrap();
    for (name, content) in golden.description.meta_blocks().unwrap() {
        writer.append_meta_block(&name, content);
    }
    for cell in cells {
        writer.append(&cell.as_ref()).unwrap();
    }
    let info = golden.description.store_file_info().unwrap();
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
            description: Description::parse(&description).unwrap(),
        }
    }

    pub(crate) fn open(&self, cache: Option<Arc<BlockCache>>) -> HFileReader {
        self.open_with(HFileReader::open, cache)
    }

    pub(crate) fn open_with(&self, open: Open, cache: Option<Arc<BlockCache>>) -> HFileReader {
        let fs = MemFileSystem::new();
        let path = Path::new("golden");
        fs.create(path).unwrap().write_all(&self.bytes).unwrap();
        open(&fs, path, cache).unwrap()
    }

    pub(crate) fn reader(&self) -> Arc<HFileReader> {
        Arc::new(self.open(None))
    }

    pub(crate) fn scan(&self) -> Vec<Cell> {
        scan(&self.reader())
    }

    pub(crate) fn number(&self, pointer: &str) -> u64 {
        self.description.number(pointer).unwrap().unwrap()
    }

    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.description.text(pointer).unwrap().unwrap()
    }

    pub(crate) fn is_compressed(&self) -> bool {
        self.text("/settings/compression") != "NONE"
    }
}
