//! Goal: no size in a file aborts the process: missing memory is an error with the file's name.
//!
//! Method: files with large blocks, large index nodes and large Bloom metas, one per encoding and
//! codec, are opened and read while an allocator refuses everything above a limit. Allocations that
//! cannot fail would abort the test. Then bytes of small files are changed so that sizes in them
//! become huge, under the same limit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "an allocator is unsafe to write")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use hblite_env::{FileSystem as _, MemFileSystem};
use hblite_hfile::verify::verify_reader;
use hblite_hfile::{
    ChecksumType, HFileReader, HFileScanner, HFileWriter, HFileWriterOptions, StoreFileInfo,
};
use hblite_model::{BloomType, CellType, Compression, DataBlockEncoding, Error, ErrorKind, Result};

/// Larger than what codecs take for their own state, whatever the file.
const LIMIT: usize = 160 * 1024;

thread_local! {
    static LIMIT_OF_THREAD: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Refuses allocations above the limit of the thread.
struct Limited;

fn is_allowed(size: usize) -> bool {
    LIMIT_OF_THREAD.try_with(|limit| size <= limit.get()).unwrap_or(true)
}

// SAFETY: everything is forwarded to the system's allocator, which may return null pointers.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_allowed(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise; all memory is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !is_allowed(new_size) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise; all memory is the system's.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

/// Runs `work` while no allocation may be larger than `limit`.
fn limited<T>(limit: usize, work: impl FnOnce() -> T) -> T {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            LIMIT_OF_THREAD.with(|limit| limit.set(usize::MAX));
        }
    }
    let _restore = Restore;
    LIMIT_OF_THREAD.with(|of_thread| of_thread.set(limit));
    work()
}

/// Does everything that can be done with a file; returns the number of its cells.
fn read_everything(fs: &MemFileSystem, path: &Path) -> Result<u64> {
    let reader = Arc::new(HFileReader::open(fs, path, None)?);
    let mut scanner = HFileScanner::new(reader.clone());
    let mut cells = 0;
    let mut is_at_cell = scanner.seek_first()?;
    while is_at_cell {
        cells += 1;
        is_at_cell = scanner.next()?;
    }
    reader.may_contain_row(b"row")?;
    reader.may_contain_column(b"row", b"q")?;
    reader.meta_block(b"large")?;
    verify_reader(&reader).map_err(Error::from)?;
    Ok(cells)
}

#[track_caller]
fn assert_is_shortage(result: Result<u64>, what: &dyn std::fmt::Debug) {
    let error = result.expect_err("there was too little memory");
    assert_eq!(error.kind(), ErrorKind::Io, "{what:?}: {error}");
    assert_eq!(error.file(), Some(Path::new("f")), "{what:?}: {error}");
    assert!(error.message().contains("memory"), "{what:?}: {error}");
}

/// A file with 6,000 cells of about 300 bytes, most of which every codec makes small.
fn write(options: HFileWriterOptions, meta_size: usize) -> MemFileSystem {
    let fs = MemFileSystem::new();
    let mut writer = HFileWriter::create(&fs, Path::new("f"), options).unwrap();
    if meta_size > 0 {
        writer.append_meta_block(b"large", vec![7; meta_size]);
    }
    for number in 0..6_000 {
        let row = format!("{number:0>150}");
        let value = vec![number as u8; 100];
        let cell = hblite_model::Cell::new(row.as_bytes(), b"f", b"q", 1, CellType::Put, &value);
        writer.append(&cell.as_ref()).unwrap();
    }
    writer.finish(&StoreFileInfo::default()).unwrap();
    fs
}

#[test]
fn large_blocks_that_memory_does_not_hold_are_errors() {
    use {Compression as C, DataBlockEncoding as E};
    let mut classes: Vec<(C, E)> =
        [C::None, C::Gz, C::Snappy, C::Lz4, C::Zstd].map(|codec| (codec, E::None)).into();
    classes.extend([E::Prefix, E::Diff, E::FastDiff, E::RowIndexV1].map(|e| (C::None, e)));
    classes.push((C::Zstd, E::FastDiff));
    for class in classes {
        let (compression, encoding) = class;
        let options = HFileWriterOptions::default()
            .with_block_size(1 << 20)
            .with_compression(compression)
            .with_encoding(encoding);
        let fs = write(options, 0);
        assert_eq!(read_everything(&fs, Path::new("f")).unwrap(), 6_000);
        assert_is_shortage(limited(LIMIT, || read_everything(&fs, Path::new("f"))), &class);
    }
}

#[test]
fn large_parts_beside_the_cells_are_errors_too() {
    // Each cell has a block of its own: one root of 6,000 keys.
    let small_blocks = HFileWriterOptions::default()
        .with_block_size(1)
        .with_index_chunk_size(1 << 24)
        .with_bloom(BloomType::None);
    // A Bloom chunk for some ten keys, so many first keys; and one chunk for all.
    let many_chunks = HFileWriterOptions::default().with_bloom_block_size(16);
    let one_chunk =
        HFileWriterOptions::default().with_bloom_block_size(1 << 20).with_bloom_error_rate(1e-30);
    let files = [
        ("index", small_blocks, 0, LIMIT),
        ("Bloom meta", many_chunks, 0, LIMIT / 4),
        ("meta block", HFileWriterOptions::default(), LIMIT + 1, LIMIT),
    ];
    for (what, options, meta_size, limit) in files {
        let fs = write(options, meta_size);
        assert_eq!(read_everything(&fs, Path::new("f")).unwrap(), 6_000);
        assert_is_shortage(limited(limit, || read_everything(&fs, Path::new("f"))), &what);
    }
    // Perhaps not large enough: it only must not abort the process.
    let fs = write(one_chunk, 0);
    let _ = limited(LIMIT, || read_everything(&fs, Path::new("f")));
}

/// Without checksums every byte gets as far as a parser.
#[test]
fn sizes_that_damage_made_huge_do_not_end_the_process() {
    let names = [
        "small-ctags-diff",
        "small-ctags-fast-diff",
        "small-ctags-prefix",
        "small-tags-row-index-v1",
        "index-4level-small",
        "comp-gz-small",
        "comp-lz4-small",
        "comp-snappy-small",
        "comp-zstd-small",
        "bloom-rowcol",
    ];
    for golden in support::all().iter().filter(|golden| names.contains(&golden.name.as_str())) {
        let fs = MemFileSystem::new();
        support::write_with(&fs, Path::new("f"), golden, &golden.scan(), |options| {
            options.checksum = ChecksumType::Null;
        });
        let whole = fs.read(Path::new("f")).unwrap();
        let step = (whole.len() / 250).max(1);
        for at in (0..whole.len() - 3_900).step_by(step) {
            for flip in [0x40, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                let fs = MemFileSystem::new();
                fs.create(Path::new("f")).unwrap().write_all(&bytes).unwrap();
                let _ = limited(LIMIT, || read_everything(&fs, Path::new("f")));
            }
        }
    }
}
