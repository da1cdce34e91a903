//! Goal: damage that occurs after a file was opened and read is found when the file is checked
//! again.
//!
//! Method: small recorded files, one per encoding and codec, are opened in both ways and read from
//! end to end. Then bytes of the file are flipped in place, or it is cut, replaced or removed.
//! Checking again must return an error with file and offset; a plain read must return the original
//! cells.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{Golden, all, named};
use hblite_env::StdFileSystem;
use hblite_hfile::{BlockCache, BlockType, BlockUse, HFileReader, HFileScanner};
use hblite_model::{Cell, ErrorKind, Result};

const TRAILER_SIZE: u64 = 4096;

/// Small files, by name, that together have every kind of block, encoding and codec.
const FILES: [&str; 15] = [
    "one",
    "one-tags",
    "small-ctags-diff",
    "small-ctags-fast-diff",
    "small-ctags-prefix",
    "small-tags-row-index-v1",
    "small-none",
    "index-4level-small",
    "bloom-row-deletefamily",
    "checksum-crc32c-33",
    "meta-blocks-gz",
    "comp-gz-small",
    "comp-lz4-small",
    "comp-snappy-small",
    "comp-zstd-small",
];

/// A copy of a recorded file on disk.
struct Copy {
    path: PathBuf,
    _dir: tempfile::TempDir,
}

impl Copy {
    fn of(golden: &Golden) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(&golden.name);
        fs::write(&path, &golden.bytes).unwrap();
        Self { path, _dir: dir }
    }

    /// Changes a byte in place; a second call changes it back.
    fn flip(&self, at: u64) {
        let file = OpenOptions::new().read(true).write(true).open(&self.path).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        byte[0] ^= 1 << (at % 8);
        file.write_all_at(&byte, at).unwrap();
    }

    fn truncate(&self, length: u64) {
        OpenOptions::new().write(true).open(&self.path).unwrap().set_len(length).unwrap();
    }

    fn open(&self, is_mapped: bool) -> Arc<HFileReader> {
        let cache = Some(Arc::new(BlockCache::new(16 << 20)));
        let open = if is_mapped { HFileReader::open_mapped } else { HFileReader::open };
        Arc::new(open(&StdFileSystem, &self.path, cache).unwrap())
    }
}

fn cells(mut scanner: HFileScanner) -> Result<Vec<Cell>> {
    let mut cells = Vec::new();
    let mut is_at_cell = scanner.seek_first()?;
    while is_at_cell {
        cells.push(scanner.current().unwrap().to_cell());
        is_at_cell = scanner.next()?;
    }
    Ok(cells)
}

/// What a backup, a compaction or the scrubber does.
fn look_again(reader: &HFileReader, path: &Path) -> Result<()> {
    let reopened = reader.reopen(&StdFileSystem, path)?;
    assert!(reopened.verify_checksums(&mut |_| true)?);
    reopened.verify_checksums_except_cells()
}

/// Offset, end and type of each block.
fn blocks(reader: &HFileReader) -> Vec<(u64, u64, BlockType)> {
    let block = |item: Result<(u64, hblite_hfile::BlockHeader)>| {
        let (offset, header) = item.unwrap();
        (offset, offset + header.on_disk_size() as u64, header.block_type)
    };
    reader.block_headers().map(block).collect()
}

#[test]
fn a_byte_that_flips_after_the_first_read_is_found_where_it_is() {
    for golden in named(&FILES) {
        let (copy, original) = (Copy::of(&golden), golden.scan());
        for is_mapped in [false, true] {
            let reader = copy.open(is_mapped);
            assert_eq!(cells(HFileScanner::new(reader.clone())).unwrap(), original);
            look_again(&reader, &copy.path).unwrap();
            let end = reader.length() - TRAILER_SIZE;
            for (start, end, block_type) in blocks(&reader) {
                let step = ((end - start) / 24).max(1) as usize;
                for at in (start..end).step_by(step) {
                    copy.flip(at);
                    let error = look_again(&reader, &copy.path).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{golden} {at}: {error}");
                    assert_eq!(error.file(), Some(copy.path.as_path()));
                    assert_eq!(error.offset(), Some(start), "{golden} {at}: {error}");
                    let is_data = matches!(block_type, BlockType::Data | BlockType::EncodedData);
                    let verified =
                        cells(HFileScanner::new(reader.clone()).with_block_use(BlockUse::Verify));
                    assert_eq!(verified.is_err(), is_data, "{golden} {at}");
                    if let Err(error) = verified {
                        assert_eq!(error.offset(), Some(start), "{golden} {at}: {error}");
                    }
                    copy.flip(at);
                }
            }
            for at in (end..end + 160).chain([reader.length() - 1]) {
                copy.flip(at);
                let error = look_again(&reader, &copy.path).unwrap_err();
                assert_eq!(error.file(), Some(copy.path.as_path()), "{golden} {at}: {error}");
                copy.flip(at);
            }
            look_again(&reader, &copy.path).unwrap();
        }
    }
}

#[test]
fn cached_blocks_stay_what_they_were() {
    for golden in named(&FILES) {
        let (copy, original) = (Copy::of(&golden), golden.scan());
        let reader = copy.open(false);
        assert_eq!(cells(HFileScanner::new(reader.clone())).unwrap(), original);
        for (start, end, _) in blocks(&reader) {
            copy.flip((start + end) / 2);
        }
        assert_eq!(cells(HFileScanner::new(reader.clone())).unwrap(), original, "{golden}");
        // Without the cache every read sees the damage.
        let uncached = Arc::new(HFileReader::open(&StdFileSystem, &copy.path, None));
        assert!(uncached.is_err(), "{golden}");
    }
}

#[test]
fn a_file_that_is_cut_while_it_is_open_is_an_error() {
    for golden in named(&FILES) {
        let copy = Copy::of(&golden);
        let reader = Arc::new(HFileReader::open(&StdFileSystem, &copy.path, None).unwrap());
        assert!(cells(HFileScanner::new(reader.clone())).is_ok());
        for length in [reader.length() - 1, TRAILER_SIZE, 40, 0] {
            copy.truncate(length);
            let error = look_again(&reader, &copy.path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{golden}: {error}");
            assert_eq!(error.offset(), Some(length), "{golden}: {error}");
            let opened = HFileReader::open(&StdFileSystem, &copy.path, None);
            assert_eq!(opened.unwrap_err().kind(), ErrorKind::Corrupt, "{golden}");
        }
        let error = cells(HFileScanner::new(reader.clone())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{golden}: {error}");
        assert!(error.message().contains("has become shorter"), "{golden}: {error}");
    }
}

#[test]
fn a_file_that_was_replaced_or_removed_is_an_error() {
    let files = named(&FILES);
    for (golden, other) in files.iter().zip(files.iter().skip(1)) {
        let copy = Copy::of(golden);
        for is_mapped in [false, true] {
            let reader = copy.open(is_mapped);
            fs::remove_file(&copy.path).unwrap();
            let error = look_again(&reader, &copy.path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Io, "{golden}: {error}");
            // An open file stays readable.
            assert_eq!(cells(HFileScanner::new(reader.clone())).unwrap(), golden.scan());
            fs::write(&copy.path, &other.bytes).unwrap();
            let error = look_again(&reader, &copy.path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{golden}: {error}");
            fs::remove_file(&copy.path).unwrap();
            fs::write(&copy.path, &golden.bytes).unwrap();
            look_again(&reader, &copy.path).unwrap();
        }
    }
}

#[test]
fn a_walk_ends_when_it_is_told_to() {
    let golden = all().into_iter().find(|golden| golden.name == "index-4level-small").unwrap();
    let reader = golden.reader();
    let (mut calls, mut bytes) = (0, 0);
    assert!(
        !reader
            .verify_checksums(&mut |_| {
                calls += 1;
                calls < 3
            })
            .unwrap()
    );
    assert_eq!(calls, 3);
    assert!(
        reader
            .verify_checksums(&mut |size| {
                bytes += size;
                true
            })
            .unwrap()
    );
    assert_eq!(bytes, reader.length() - TRAILER_SIZE);
}
