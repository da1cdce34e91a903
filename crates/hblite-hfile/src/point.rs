//! Looks up cells in a file without a scanner.
//!
//! A get of one column ends within a few cells. It needs no position that outlives the call, so a
//! known block is borrowed from the index without a reference count: threads that read the same
//! block do not write to the same memory.
//!
//! Threads: any.

use hblite_model::{CellRef, Result};

use crate::data_block::{BlockUse, DataBlock};
use crate::index::{DataBlockPosition, DataIndex};
use crate::reader::HFileReader;

impl HFileReader {
    /// Lends the cells from the first whose key is `key` or greater, in order, to `visit` until it
    /// returns false or the file ends. `key` is a well-formed flat key.
    ///
    /// # Errors
    /// `Corrupt`: a block that is needed is damaged.
    pub fn visit_from(
        &self,
        key: &[u8],
        mut visit: impl FnMut(&CellRef<'_>) -> bool,
    ) -> Result<()> {
        let Some(index) = self.index() else { return Ok(()) };
        let first = index.locate(self.file(), key)?.unwrap_or_else(|| index.first());
        let wants_more = self.with_block(index, first, |block| {
            let start = block.lower_bound(self.comparator(), key);
            (start..block.len()).all(|cell| visit(&block.cell(cell)))
        })?;
        let mut position = first;
        let mut wants_more = wants_more;
        while wants_more && let Some(next) = index.next(self.file(), position)? {
            wants_more = self.with_block(index, next, |block| {
                (0..block.len()).all(|cell| visit(&block.cell(cell)))
            })?;
            position = next;
        }
        Ok(())
    }

    #[inline]
    fn with_block<R>(
        &self,
        index: &DataIndex,
        position: DataBlockPosition,
        read: impl FnOnce(&DataBlock) -> R,
    ) -> Result<R> {
        let (_, _, state) = index.block(self.file(), position)?;
        match state.known.get() {
            Some(block) => Ok(read(block)),
            None => Ok(read(&*self.data_block(index, position, BlockUse::Keep)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use hblite_env::MemFileSystem;
    use hblite_model::cell::key;
    use hblite_model::{Cell, CellType};

    use super::*;
    use crate::{HFileScanner, HFileWriter, HFileWriterOptions, StoreFileInfo};

    /// Compared with a scanner, over many small blocks, from keys at, between and around the cells.
    #[test]
    fn visits_what_a_scanner_finds() {
        let (fs, path) = (MemFileSystem::new(), Path::new("f"));
        let options = HFileWriterOptions { block_size: 200, ..HFileWriterOptions::default() };
        let mut writer = HFileWriter::create(&fs, path, options).unwrap();
        for row in 0..50 {
            for qualifier in ["a", "b", "c"] {
                let (row, qualifier) = (format!("r{row:02}"), qualifier.as_bytes());
                let cell = Cell::new(row.as_bytes(), b"f", qualifier, 5, CellType::Put, b"value");
                writer.append(&cell.as_ref()).unwrap();
            }
        }
        writer.finish(&StoreFileInfo::default()).unwrap();
        let reader = Arc::new(HFileReader::open_mapped(&fs, path, None).unwrap());
        for row in ["", "r", "r00", "r07", "r07\0", "r31x", "r49", "s"] {
            for qualifier in ["", "a", "b", "bb", "d"] {
                for timestamp in [4, 5, 6] {
                    let (row, qualifier) = (row.as_bytes(), qualifier.as_bytes());
                    let wanted = key::build(row, b"f", qualifier, timestamp, 4);
                    let mut scanner = HFileScanner::new(Arc::clone(&reader));
                    let mut expected = Vec::new();
                    let mut found = scanner.seek(&wanted).unwrap();
                    while found && expected.len() < 7 {
                        expected.push(scanner.current_key().unwrap().to_vec());
                        found = scanner.next().unwrap();
                    }
                    let mut visited = Vec::new();
                    let visit = |cell: &CellRef<'_>| {
                        visited.push(cell.key().to_vec());
                        visited.len() < 7
                    };
                    reader.visit_from(&wanted, visit).unwrap();
                    assert_eq!(visited, expected, "from {wanted:?}");
                }
            }
        }
    }
}
