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
    /// returns false or the file ends. `key` is a well-formed flat key. `block_use` says what is
    /// kept of the blocks that are read.
    ///
    /// # Errors
    /// `Corrupt`: a block that is needed is damaged.
    pub fn visit_from(
        &self,
        key: &[u8],
        block_use: BlockUse,
        mut visit: impl FnMut(&CellRef<'_>) -> bool,
    ) -> Result<()> {
        let Some(index) = self.index() else { return Ok(()) };
        let mut position = index.locate(self.file(), key)?.unwrap_or_else(|| index.first());
        let mut wants_more = self.visit_block(index, position, key, block_use, &mut visit)?;
        while wants_more && let Some(next) = index.next(self.file(), position)? {
            wants_more = self.visit_block(index, next, key, block_use, &mut visit)?;
            position = next;
        }
        Ok(())
    }

    /// The same within one block; false if `visit` returned false.
    #[inline]
    fn visit_block(
        &self,
        index: &DataIndex,
        position: DataBlockPosition,
        key: &[u8],
        block_use: BlockUse,
        visit: &mut impl FnMut(&CellRef<'_>) -> bool,
    ) -> Result<bool> {
        let (offset, _, state) = index.block(self.file(), position)?;
        if let Some(block) = state.known.get() {
            return Ok(self.visit_cells(block, key, visit));
        }
        if let Some(sparse) = state.sparse.get()
            && let Some(bytes) = self.file().mapped(sparse.range())
        {
            let visited = sparse.visit_from(bytes, self.layout(), key, visit);
            return visited.map_err(|damage| self.file().corrupt(offset, &damage));
        }
        Ok(self.visit_cells(&*self.data_block(index, position, block_use)?, key, visit))
    }

    #[inline]
    fn visit_cells(
        &self,
        block: &DataBlock,
        key: &[u8],
        visit: &mut impl FnMut(&CellRef<'_>) -> bool,
    ) -> bool {
        let start = block.lower_bound(self.comparator(), key);
        (start..block.len()).all(|cell| visit(&block.cell(cell)))
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
    use crate::{BlockCache, HFileScanner, HFileWriter, HFileWriterOptions, StoreFileInfo};

    /// Compared with a scanner, from keys at, between and around the cells: over small and large
    /// blocks, with and without memory for the places of cells.
    #[test]
    fn visits_what_a_scanner_finds() {
        for block_size in [200, 1 << 16] {
            let (fs, path) = (MemFileSystem::new(), Path::new("f"));
            let options = HFileWriterOptions { block_size, ..HFileWriterOptions::default() };
            let mut writer = HFileWriter::create(&fs, path, options).unwrap();
            for row in 0..50 {
                let more = if row == 7 { 0..60 } else { 0..0 };
                let qualifiers = ["a", "b", "c"].map(String::from).into_iter();
                for qualifier in qualifiers.chain(more.map(|column| format!("d{column:02}"))) {
                    let (row, qualifier) = (format!("r{row:02}"), qualifier.as_bytes());
                    let put = CellType::Put;
                    let cell = Cell::new(row.as_bytes(), b"f", qualifier, 5, put, b"value");
                    writer.append(&cell.as_ref()).unwrap();
                }
            }
            writer.finish(&StoreFileInfo::default()).unwrap();
            for (memory, is_sparse) in [(None, false), (Some(0), true)] {
                let cache = memory.map(|bytes| Arc::new(BlockCache::new(bytes)));
                let reader = Arc::new(HFileReader::open_mapped(&fs, path, cache).unwrap());
                visits_what_scanners_find(&reader);
                let index = reader.index().unwrap();
                let (_, _, state) = index.block(reader.file(), index.first()).unwrap();
                assert_eq!(state.sparse.get().is_some(), is_sparse);
                assert_eq!(state.known.get().is_none(), is_sparse);
            }
        }
    }

    fn visits_what_scanners_find(reader: &Arc<HFileReader>) {
        for row in ["", "r", "r00", "r07", "r07\0", "r31x", "r49", "s"] {
            for qualifier in ["", "a", "b", "bb", "d", "d00", "d31x", "d59", "e"] {
                for timestamp in [4, 5, 6] {
                    let (row, qualifier) = (row.as_bytes(), qualifier.as_bytes());
                    let wanted = key::build(row, b"f", qualifier, timestamp, 4);
                    let mut scanner = HFileScanner::new(Arc::clone(reader));
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
                    reader.visit_from(&wanted, BlockUse::Keep, visit).unwrap();
                    assert_eq!(visited, expected, "from {wanted:?}");
                }
            }
        }
    }
}
