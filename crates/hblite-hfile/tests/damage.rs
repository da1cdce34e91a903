//! Goal: damaged files give an error or the very same cells, and never a panic.
//!
//! Method: small recorded files, one per encoding and codec, are cut at every length and flipped at
//! every byte; then everything that a reader can do is done. Only the trailer, the headers'
//! previous offsets and blocks without checksums may be damaged without being detected.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use crate::support::{self, Golden, all, named};
use hblite_env::{FileSystem as _, MemFileSystem};
use hblite_hfile::{
    ChecksumType, HFileReader, HFileScanner, HFileWriter, HFileWriterOptions, StoreFileInfo,
};
use hblite_model::{Cell, CellType, ErrorKind, Result};

/// Bytes of the trailer, zero padding included.
const TRAILER_SIZE: usize = 4096;

/// Small files, by name, that together have every kind of block, encoding and codec.
const FILES: [&str; 14] = [
    "empty",
    "one",
    "one-tags",
    "small-ctags-diff",
    "small-ctags-fast-diff",
    "small-ctags-prefix",
    "small-tags-row-index-v1",
    "small-none",
    "index-4level-small",
    "checksum-crc32c-33",
    "comp-gz-small",
    "comp-lz4-small",
    "comp-snappy-small",
    "comp-zstd-small",
];

/// Opens `bytes` as a file and does everything that can be done with it; returns the cells of a
/// forward scan.
fn read_everything(bytes: &[u8], original: &[Cell]) -> Result<Vec<Cell>> {
    let fs = MemFileSystem::new();
    let path = Path::new("damaged");
    fs.create(path).unwrap().write_all(bytes).unwrap();
    let reader = Arc::new(HFileReader::open(&fs, path, None)?);
    let mut scanner = HFileScanner::new(reader.clone());
    let mut cells = Vec::new();
    let mut more = scanner.seek_first()?;
    while more {
        cells.push(scanner.current().unwrap().to_cell());
        more = scanner.next()?;
    }
    more = scanner.seek_last()?;
    while more {
        assert!(scanner.current().is_some());
        more = scanner.prev()?;
    }
    reader.mid_key()?;
    reader.meta_block(b"hblite.test.a")?;
    for cell in original.iter().step_by(5) {
        scanner.seek(cell.as_ref().key())?;
        scanner.seek_before(cell.as_ref().key())?;
        scanner.reseek(cell.as_ref().key())?;
        reader.may_contain_row(cell.row())?;
        reader.may_contain_column(cell.row(), cell.qualifier())?;
        reader.may_contain_delete_family(cell.row())?;
    }
    Ok(cells)
}

/// The error for detected damage; it must name the file.
fn check_error(golden: &Golden, error: &hblite_model::Error) {
    assert!(
        matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported),
        "{golden}: {error}"
    );
    assert!(error.message().contains("damaged"), "{golden}: {error}");
}

#[test]
fn a_flipped_byte_is_noticed_or_harmless() {
    for golden in named(&FILES) {
        let original = golden.scan();
        let blocks_end = golden.bytes.len() - TRAILER_SIZE;
        // The trailer ends with zeros that are never read.
        for at in 0..blocks_end + 160 {
            let mut bytes = golden.bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            match read_everything(&bytes, &original) {
                Err(error) => check_error(&golden, &error),
                Ok(cells) => {
                    assert!(at >= blocks_end, "{golden}: byte {at} is under a checksum");
                    // Fields of the trailer that no reader needs, and the class name.
                    assert!(cells == original, "{golden}: byte {at}");
                }
            }
        }
    }
}

#[test]
fn a_cut_file_is_refused() {
    for golden in named(&FILES) {
        let length = golden.bytes.len();
        let in_trailer = (length - TRAILER_SIZE..length).step_by(97);
        for cut in (0..length - TRAILER_SIZE).chain(in_trailer).chain([length - 1]) {
            let error = read_everything(&golden.bytes[..cut], &[]).unwrap_err();
            check_error(&golden, &error);
        }
    }
}

/// Without checksums nothing distinguishes damage from data, but nothing may panic or hang.
#[test]
fn damage_under_no_checksum_does_not_panic() {
    let settings = [
        "small-ctags-diff",
        "small-ctags-fast-diff",
        "small-ctags-prefix",
        "small-tags-row-index-v1",
        "deletes-none",
        "comp-lz4-small",
        "comp-snappy-small",
    ];
    for golden in all().iter().filter(|golden| settings.contains(&golden.name.as_str())) {
        let original = golden.scan();
        let fs = MemFileSystem::new();
        let path = Path::new("unchecked");
        support::write_with(&fs, path, golden, &original, |options| {
            options.checksum = hblite_hfile::ChecksumType::Null;
        });
        let whole = fs.read(path).unwrap();
        let (mut noticed, mut passed) = (0, 0);
        for at in 0..whole.len() - TRAILER_SIZE {
            let mut bytes = whole.clone();
            bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
            match read_everything(&bytes, &original) {
                Ok(_) => passed += 1,
                Err(_) => noticed += 1,
            }
        }
        assert!(noticed > 0 && passed > 0, "{golden}: {noticed} noticed, {passed} passed");
    }
}

/// A block whose rows are not in order: its first and last share more bytes than one between has.
#[test]
fn a_row_that_became_too_short_does_not_panic() {
    let fs = MemFileSystem::new();
    let path = Path::new("unchecked");
    let options = HFileWriterOptions::default().with_checksum(ChecksumType::Null);
    let mut writer = HFileWriter::create(&fs, path, options).unwrap();
    let row = |number: u32| [b"ab\x01cdefg".as_slice(), &number.to_be_bytes()].concat();
    let cells: Vec<Cell> =
        (0..100).map(|number| Cell::new(&row(number), b"f", b"q", 1, CellType::Put, b"")).collect();
    for cell in &cells {
        writer.append(&cell.as_ref()).unwrap();
    }
    writer.finish(&StoreFileInfo::default()).unwrap();
    let mut bytes = fs.read(path).unwrap();
    for number in (8..96).step_by(8) {
        let whole = [b"\0\x0c".as_slice(), &row(number)].concat();
        let at = bytes.windows(whole.len()).position(|window| window == whole).unwrap();
        // The row is `ab` now, and the family `c`.
        bytes[at + 1] = 2;
    }
    let scanned = read_everything(&bytes, &cells).unwrap();
    assert_eq!(scanned.iter().filter(|cell| cell.row() == b"ab").count(), 11);
}
