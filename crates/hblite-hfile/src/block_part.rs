//! Parts of data blocks, for short scans.
//!
//! A scan needs the places of the cells that it reads. Where there is no memory to keep those of
//! all blocks, and a block has sparse marks instead, it would have to walk over the whole block to
//! find them, and read all of it from the disk. So it walks over a part, from a mark to a later
//! one. The size of the next part is doubled each time, up to whole blocks, so that a long scan
//! reads few parts.
//!
//! Invariant: only blocks with sparse marks are read in parts; they were verified, and their cells
//! checked, when the marks were made.

use std::ops::Range;
use std::sync::Arc;

use hblite_model::{Direction, Result};

use crate::data_block::{BlockUse, DataBlock};
use crate::error::{Damage, Parsed};
use crate::index::{DataBlockPosition, DataIndex};
use crate::reader::HFileReader;
use crate::sparse_marks::{PartSize, SparseMarks};

impl HFileReader {
    /// The block at `position`, or the part of it in which a scan in `direction` from `key` most
    /// likely begins.
    #[inline]
    pub(crate) fn block_near(
        &self,
        index: &DataIndex,
        position: DataBlockPosition,
        block_use: BlockUse,
        key: &[u8],
        direction: Direction,
    ) -> Result<Arc<DataBlock>> {
        let part = self.part(index, position, block_use, |marks, bytes| match direction {
            Direction::Forward => marks.part_from(bytes, key, PartSize::default()),
            Direction::Reverse => marks.part_until(bytes, key, PartSize::default()),
        })?;
        part.map_or_else(|| self.data_block(index, position, block_use), Ok)
    }

    /// The block at `position`, which a scan enters from its neighbor in `direction`, or the first
    /// part of it.
    pub(crate) fn block_after(
        &self,
        index: &DataIndex,
        position: DataBlockPosition,
        block_use: BlockUse,
        size: PartSize,
        direction: Direction,
    ) -> Result<Arc<DataBlock>> {
        let part = self.part(index, position, block_use, |marks, bytes| {
            if size.is_enough_for(bytes.len()) {
                return Ok(0..0);
            }
            let edge = if direction.is_reverse() { bytes.len() } else { 0 };
            Ok(marks.part_beyond(bytes, edge..edge, size, direction))
        })?;
        part.map_or_else(|| self.data_block(index, position, block_use), Ok)
    }

    /// The part that comes after `part` in `direction`; `None` if none is left of its block, which
    /// is the one at `position`.
    pub(crate) fn part_beyond(
        &self,
        index: &DataIndex,
        position: DataBlockPosition,
        block_use: BlockUse,
        part: &DataBlock,
        size: PartSize,
        direction: Direction,
    ) -> Result<Option<Arc<DataBlock>>> {
        self.part(index, position, block_use, |marks, bytes| {
            let (block, part_in_file) = (marks.range(), part.range());
            assert!(
                block.start <= part_in_file.start && part_in_file.end <= block.end,
                "a part is within its block"
            );
            // Both fit: they are at most the length of a slice.
            let start = (part_in_file.start - block.start) as usize;
            let end = (part_in_file.end - block.start) as usize;
            Ok(marks.part_beyond(bytes, start..end, size, direction))
        })
    }

    /// The part of a block that `find` returns, given its marks and its bytes; `None` if the block
    /// is not read in parts, or `find` returns no bytes.
    #[inline]
    fn part(
        &self,
        index: &DataIndex,
        position: DataBlockPosition,
        block_use: BlockUse,
        find: impl FnOnce(&SparseMarks, &[u8]) -> Parsed<Range<usize>>,
    ) -> Result<Option<Arc<DataBlock>>> {
        let (offset, _, state) = index.block(self.file(), position)?;
        if state.known.get().is_some() || block_use == BlockUse::Verify {
            return Ok(None);
        }
        let Some(marks) = state.sparse.get() else { return Ok(None) };
        let Some(block) = self.file().in_place(marks.range()) else { return Ok(None) };
        let parse = || {
            let range = find(marks, &block)?;
            match range.is_empty() {
                true => Ok(None),
                false => DataBlock::part(block.slice(range), self.layout()).map(Arc::new).map(Some),
            }
        };
        parse().map_err(|damage: Damage| self.file().corrupt(offset, &damage))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hblite_env::{MemFileSystem, Random as _, SeededRandom};
    use hblite_model::cell::key;
    use hblite_model::{Cell, CellComparator, CellType};

    use super::*;
    use crate::{BlockCache, HFileScanner, HFileWriter, HFileWriterOptions, StoreFileInfo};

    const SEEDS: u64 = if cfg!(miri) { 3 } else { 150 };
    const KEYS_MAX: usize = if cfg!(miri) { 300 } else { 3_000 };

    fn below(random: &SeededRandom, limit: usize) -> usize {
        (random.next_u64() % limit as u64) as usize
    }

    /// Sorted keys: rows and columns of few letters, so that many marks are equal.
    fn random_keys(random: &SeededRandom) -> Vec<Vec<u8>> {
        let (letters, length) = (1 + below(random, 3), 1 + below(random, 12));
        let name = |length| -> Vec<u8> {
            (0..length).map(|_| b'a' + below(random, letters) as u8).collect()
        };
        let is_one_row = below(random, 4) == 0;
        let key = |_| {
            let row = if is_one_row { b"row".to_vec() } else { name(length) };
            key::build(&row, b"f", &name(2), below(random, 50) as i64, 4)
        };
        let mut keys: Vec<Vec<u8>> = (0..1 + below(random, KEYS_MAX)).map(key).collect();
        keys.sort_by(|left, right| CellComparator::Default.compare_keys(left, right));
        keys.dedup();
        keys
    }

    fn write(fs: &MemFileSystem, keys: &[Vec<u8>], block_size: usize, value: &[u8]) {
        let options = HFileWriterOptions { block_size, ..HFileWriterOptions::default() };
        let mut writer = HFileWriter::create(fs, Path::new("f"), options).unwrap();
        for flat in keys {
            let (row, qualifier, timestamp) =
                (key::row(flat), key::qualifier(flat), key::timestamp(flat));
            let cell = Cell::new(row, b"f", qualifier, timestamp, CellType::Put, value);
            writer.append(&cell.as_ref()).unwrap();
        }
        writer.finish(&StoreFileInfo::default()).unwrap();
    }

    /// A scanner without memory for the places of cells makes the same moves as one with it.
    #[test]
    fn a_scanner_of_parts_finds_what_one_of_blocks_finds() {
        let mut moves_in_parts = 0;
        for seed in 0..SEEDS {
            let (random, fs) = (SeededRandom::new(seed), MemFileSystem::new());
            let keys = random_keys(&random);
            let block_size = [1 << 10, 8 << 10, 64 << 10, 256 << 10][below(&random, 4)];
            write(&fs, &keys, block_size, &vec![7; below(&random, 200)]);
            let open = |cache: Option<Arc<BlockCache>>| {
                let reader = HFileReader::open_mapped(&fs, Path::new("f"), cache).unwrap();
                HFileScanner::new(Arc::new(reader))
            };
            let (mut by_block, mut by_part) =
                (open(None), open(Some(Arc::new(BlockCache::new(0)))));
            // The marks are made when a block is first read.
            let mut found = by_part.seek_first().unwrap();
            while found {
                found = by_part.next().unwrap();
            }
            for step in 0..300 {
                let mut wanted = keys[below(&random, keys.len())].clone();
                if below(&random, 3) == 0 {
                    wanted = key::first_on_row(&[key::row(&wanted), b"!"].concat());
                }
                let (choice, is_rare) = (below(&random, 8), below(&random, 10) == 0);
                let go = |scanner: &mut HFileScanner| match choice {
                    0 => scanner.seek(&wanted),
                    1 => scanner.seek_before(&wanted),
                    2 => scanner.reseek(&wanted),
                    3 if is_rare => scanner.seek_first(),
                    4 if is_rare => scanner.seek_last(),
                    3 | 5 => scanner.prev(),
                    _ => scanner.next(),
                };
                let context = format!("seed {seed}, step {step}, choice {choice}");
                assert_eq!(go(&mut by_part).unwrap(), go(&mut by_block).unwrap(), "{context}");
                assert_eq!(by_part.current_key(), by_block.current_key(), "{context}");
                moves_in_parts += u64::from(by_part.is_in_part());
            }
        }
        assert!(moves_in_parts > 50 * SEEDS, "{moves_in_parts} moves ended in parts");
    }

    /// From a part on, a scan reads ever larger ones.
    #[test]
    fn a_long_scan_reads_few_parts() {
        let fs = MemFileSystem::new();
        let keys: Vec<_> =
            (0..4_000_u32).map(|row| key::build(&row.to_be_bytes(), b"f", b"q", 1, 4)).collect();
        write(&fs, &keys, 64 << 10, &[7; 100]);
        let cache = Arc::new(BlockCache::new(0));
        let reader = Arc::new(HFileReader::open_mapped(&fs, Path::new("f"), Some(cache)).unwrap());
        let mut scanner = HFileScanner::new(Arc::clone(&reader));
        let mut found = scanner.seek_first().unwrap();
        while found {
            found = scanner.next().unwrap();
        }
        for direction in [Direction::Forward, Direction::Reverse] {
            let mut sizes = Vec::new();
            let wanted = &keys[2_000];
            let mut found = match direction {
                Direction::Forward => scanner.seek(wanted).unwrap(),
                Direction::Reverse => scanner.seek_before(wanted).unwrap(),
            };
            while found {
                let (block, _) = scanner.block().unwrap();
                sizes.push((block.len(), scanner.is_in_part()));
                let edge = if direction.is_reverse() { 0 } else { block.len() - 1 };
                scanner.move_in_block(edge, 0);
                found = match direction {
                    Direction::Forward => scanner.next().unwrap(),
                    Direction::Reverse => scanner.prev().unwrap(),
                };
            }
            let (parts, blocks): (Vec<(usize, bool)>, Vec<_>) =
                sizes.iter().partition(|(_, is_part)| *is_part);
            assert!((2..=6).contains(&parts.len()), "{sizes:?}");
            assert!(parts[0].0 < 64 && blocks.len() >= 2, "{sizes:?}");
        }
    }
}
