//! Goal: hblite reads what Apache HBase wrote, and writes the same bytes.
//!
//! Method: the files of `tests/golden/hfile` are read and compared with their descriptions; then
//! each is written again from its cells and settings. The bytes must be the same, except for
//! compressed payloads, which are compared after decompression by reading both files.
//!
//! `HBLITE_GOLDEN_HFILES` may name more folders, separated by colons: every HFile in them, and
//! below them, is verified and read forward, backward and by key, and compared with its description
//! if there is one next to it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use crate::support::{self, Golden, all, digest, open, read_backwards, write};
use hblite_env::{FileSystem as _, MemFileSystem, StdFileSystem};
use hblite_hfile::{BlockCache, HFileReader, HFileScanner};
use hblite_model::{Cell, CellComparator};

#[test]
fn there_are_all_files() {
    assert_eq!(all().len(), 98);
}

#[test]
fn forward_scans_give_the_cells() {
    for golden in all() {
        let cells = golden.scan();
        assert_eq!(cells.len() as u64, golden.number("/cell_count"), "{golden}");
        assert_eq!(digest(&cells), golden.text("/digest"), "{golden}");
        let Some(listed) = golden.description.cells().unwrap() else {
            continue;
        };
        assert_eq!(cells, listed, "{golden}");
        let ids = |cells: &[Cell]| cells.iter().map(Cell::sequence_id).collect::<Vec<_>>();
        assert_eq!(ids(&cells), ids(&listed), "{golden}");
    }
}

#[test]
fn reverse_scans_give_the_same_cells_backwards() {
    for golden in all() {
        let forward = golden.scan();
        let mut scanner = HFileScanner::new(golden.reader());
        assert_eq!(read_backwards(&mut scanner), forward, "{golden}");
        assert_eq!(scanner.stats().cells_read, forward.len() as u64, "{golden}");
        assert!(!scanner.prev().unwrap() && scanner.current().is_none(), "{golden}");
    }
}

#[test]
fn readers_say_what_the_descriptions_say() {
    for golden in all() {
        let reader = golden.reader();
        if let Err(difference) = golden.description.compare(&reader) {
            panic!("{golden}: {difference}");
        }
        assert_eq!(reader.meta_block(b"absent").unwrap(), None);
    }
}

#[test]
fn files_of_more_folders_are_read_in_all_ways() {
    let folders = std::env::var_os("HBLITE_GOLDEN_HFILES").unwrap_or_default();
    let mut read = 0;
    for folder in std::env::split_paths(&folders).filter(|folder| !folder.as_os_str().is_empty()) {
        let paths = support::hfiles_below(&folder);
        assert!(!paths.is_empty(), "no HFile below {}", folder.display());
        paths.iter().for_each(|path| read_in_all_ways(path));
        read += paths.len();
    }
    println!("{read} files of HBLITE_GOLDEN_HFILES");
}

fn read_in_all_ways(path: &Path) {
    let name = path.display();
    let verified = hblite_hfile::verify::verify(&StdFileSystem, path);
    let verified = verified.unwrap_or_else(|defect| panic!("{defect}"));
    for open in support::WAYS {
        let cache = Arc::new(BlockCache::new(64 << 20));
        let reader = Arc::new(open(&StdFileSystem, path, Some(cache)).unwrap());
        let cells = support::scan(&reader);
        assert_eq!(cells.len() as u64, verified.cells, "{name}");
        read_back_and_seek(&name, &reader, &cells);
        if let Some(description) = support::description_beside(path)
            && let Err(difference) = description.compare(&reader)
        {
            panic!("{name}: {difference}");
        }
    }
}

fn read_back_and_seek(name: &dyn std::fmt::Display, reader: &Arc<HFileReader>, cells: &[Cell]) {
    let mut scanner = HFileScanner::new(reader.clone());
    let mut more = scanner.seek_last().unwrap();
    for cell in cells.iter().rev() {
        assert!(more && current(&scanner).as_ref() == Some(cell), "{name}: {cell:?}");
        more = scanner.prev().unwrap();
    }
    assert!(!more, "{name}");
    for key in support::keys_around(cells, 200) {
        check_seeks(name, &mut scanner, reader.comparator(), cells, &key);
    }
}

#[test]
fn seeks_stand_where_a_sorted_list_says() {
    for golden in all() {
        let cells = golden.scan();
        let comparator = golden.reader().comparator();
        let keys = support::keys_around(&cells, 12);
        // With a capacity of 0 nothing is kept, not even cell offsets.
        let capacities = [None, Some(0), Some(1 << 20)];
        for (capacity, open) in
            capacities.into_iter().flat_map(|capacity| support::WAYS.map(|open| (capacity, open)))
        {
            let cache = capacity.map(|capacity| Arc::new(BlockCache::new(capacity)));
            let has_cache = capacity.is_some_and(|capacity| capacity > 0);
            let reader = Arc::new(golden.open_with(open, cache));
            let mut scanner = HFileScanner::new(reader.clone());
            let mut forward = HFileScanner::new(reader.clone());
            let mut sorted = keys.clone();
            sorted.sort_by(|left, right| comparator.compare_keys(left, right));
            // Without a cache each seek decodes a block: a few will do.
            let step = if reader.encoding().name() == "NONE" || has_cache { 1 } else { 7 };
            for key in keys.iter().step_by(step) {
                check_seeks(&golden, &mut scanner, comparator, &cells, key);
            }
            for key in &sorted {
                let expected = lower_bound(comparator, &cells, key);
                assert_eq!(forward.reseek(key).unwrap(), expected < cells.len(), "{golden}");
                assert_eq!(current(&forward), cells.get(expected).cloned(), "{golden}");
            }
        }
    }
}

fn lower_bound(comparator: CellComparator, cells: &[Cell], key: &[u8]) -> usize {
    cells.partition_point(|cell| comparator.compare_keys(cell.as_ref().key(), key).is_lt())
}

fn current(scanner: &HFileScanner) -> Option<Cell> {
    let cell = scanner.current();
    assert_eq!(scanner.current_key(), cell.as_ref().map(|cell| cell.key()));
    cell.map(|cell| cell.to_cell())
}

fn check_seeks(
    golden: &dyn std::fmt::Display,
    scanner: &mut HFileScanner,
    comparator: CellComparator,
    cells: &[Cell],
    key: &[u8],
) {
    let at = lower_bound(comparator, cells, key);
    assert_eq!(scanner.seek(key).unwrap(), at < cells.len(), "{golden}");
    assert_eq!(current(scanner), cells.get(at).cloned(), "{golden}");
    if at + 1 < cells.len() {
        assert!(scanner.next().unwrap());
        assert_eq!(current(scanner), cells.get(at + 1).cloned(), "{golden}");
    }
    let before = at.checked_sub(1);
    assert_eq!(scanner.seek_before(key).unwrap(), before.is_some(), "{golden}");
    assert_eq!(current(scanner), before.map(|index| cells[index].clone()), "{golden}");
    if let Some(index) = before.and_then(|index| index.checked_sub(1)) {
        assert!(scanner.prev().unwrap());
        assert_eq!(current(scanner).as_ref(), Some(&cells[index]), "{golden}");
    }
}

#[test]
fn threads_share_a_reader() {
    for name in ["index-2level", "typical-fast-diff", "comp-lz4", "bloom-rowcol"] {
        let golden = all().into_iter().find(|golden| golden.name == name).unwrap();
        let cells = golden.scan();
        // Room for some of the blocks only.
        let cache = Arc::new(BlockCache::new(300_000));
        for open in support::WAYS {
            let reader = Arc::new(golden.open_with(open, Some(cache.clone())));
            std::thread::scope(|scope| {
                for start in 0..4 {
                    let (reader, cells) = (&reader, &cells);
                    scope.spawn(move || {
                        let mut scanner = HFileScanner::new(reader.clone());
                        for cell in cells.iter().skip(start).step_by(4) {
                            let cell = cell.as_ref();
                            assert!(scanner.seek(cell.key()).unwrap());
                            assert_eq!(scanner.current_key(), Some(cell.key()));
                            assert!(reader.may_contain_row(cell.row()).unwrap());
                        }
                        assert_eq!(&support::scan(reader), cells);
                    });
                }
            });
        }
    }
}

#[test]
fn bloom_filters_know_every_key_and_few_others() {
    for golden in all() {
        let reader = golden.reader();
        let (mut asked, mut wrong) = (0, 0);
        for cell in golden.scan() {
            assert!(reader.may_contain_row(cell.row()).unwrap(), "{golden}");
            assert!(reader.may_contain_column(cell.row(), cell.qualifier()).unwrap(), "{golden}");
            if matches!(cell.as_ref().type_code(), 10 | 14) {
                assert!(reader.may_contain_delete_family(cell.row()).unwrap(), "{golden}");
            }
            let other = [cell.row(), b"?"].concat();
            asked += 1;
            wrong += u32::from(reader.may_contain_column(&other, b"none").unwrap());
        }
        if golden.text("/settings/bloom") == "ROW" || golden.text("/settings/bloom") == "ROWCOL" {
            assert!(wrong * 20 <= asked.max(20), "{golden}: {wrong} of {asked} are false");
        }
    }
}

#[test]
fn a_file_written_again_has_the_same_bytes() {
    for golden in all() {
        let fs = MemFileSystem::new();
        let path = Path::new("again");
        write(&fs, path, &golden, &golden.scan());
        let again = fs.read(path).unwrap();
        if golden.is_compressed() {
            assert_same_content(&golden, &open(&fs, path));
        } else if again != golden.bytes {
            let at = again.iter().zip(&golden.bytes).position(|(left, right)| left != right);
            panic!("{golden}: {} and {} bytes, {at:x?}", again.len(), golden.bytes.len());
        }
    }
}

/// Compressors differ, so offsets and sizes do too; everything else must be the same.
fn assert_same_content(golden: &Golden, again: &Arc<HFileReader>) {
    let original = golden.reader();
    assert_eq!(support::scan(again), golden.scan(), "{golden}");
    assert_eq!(again.file_info_map(), original.file_info_map(), "{golden}");
    assert_eq!(again.mid_key().unwrap(), original.mid_key().unwrap(), "{golden}");
    let numbers = |reader: &HFileReader| {
        let trailer = reader.trailer();
        (
            trailer.uncompressed_data_index_size,
            trailer.total_uncompressed_bytes,
            trailer.data_index_count,
            trailer.num_data_index_levels,
            trailer.entry_count,
        )
    };
    assert_eq!(numbers(again), numbers(&original), "{golden}");
}
