//! What tools show of an open file: its blocks, its index, its filters.
//!
//! None of this is needed to read cells. Threads: as [`HFileReader`].

use hblite_model::Result;

use crate::block::{BlockHeader, BlockType};
use crate::bloom::{BloomMeta, BloomReader};
use crate::index::root_entries;
use crate::reader::HFileReader;

/// An entry of the root data index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// Flat key that is greater than every cell before this block, and not greater than any in it.
    pub key: Vec<u8>,
    /// Where the block, or the node of the index below, begins.
    pub offset: u64,
    /// Its bytes, with header and checksums.
    pub on_disk_size: u32,
}

impl HFileReader {
    /// Offset and header of every block from the front to the trailer. Payloads are not read.
    ///
    /// An item may be `Corrupt`; it is then the last one.
    pub fn block_headers(&self) -> impl Iterator<Item = Result<(u64, BlockHeader)>> {
        let end = self.file().end();
        let mut next = 0;
        std::iter::from_fn(move || {
            let offset = next;
            if offset >= end {
                return None;
            }
            let header = self.file().header(offset);
            next = header.as_ref().map_or(end, |header| offset + header.on_disk_size() as u64);
            Some(header.map(|header| (offset, header)))
        })
    }

    /// The entries of the root data index, which point at data blocks or, with more than one level,
    /// at nodes. None in an empty file.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn root_index(&self) -> Result<Vec<IndexEntry>> {
        let (file, trailer) = (self.file(), self.trailer());
        if self.index().is_none() {
            return Ok(Vec::new());
        }
        let offset = trailer.load_on_open_data_offset;
        let (_, root) = file.read(offset, &[BlockType::RootIndex], None)?;
        let count = trailer.data_index_count as usize;
        let entries = root_entries(&root, count, trailer.comparator, file.end())
            .map_err(|damage| file.corrupt(offset, &damage))?;
        let entry = |(key, offset, on_disk_size)| IndexEntry { key, offset, on_disk_size };
        Ok(entries.into_iter().map(entry).collect())
    }

    /// The metadata of the general Bloom filter, if there is one.
    pub fn bloom_meta(&self) -> Option<BloomMeta> {
        self.filters().0.map(BloomReader::meta)
    }

    /// The metadata of the Bloom filter of family deletes, if there is one.
    pub fn delete_family_bloom_meta(&self) -> Option<BloomMeta> {
        self.filters().1.map(BloomReader::meta)
    }

    /// The names of the meta blocks, sorted.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn meta_block_names(&self) -> Result<Vec<Vec<u8>>> {
        self.meta_index().map(|entry| entry.map(|(name, _, _)| name.to_vec())).collect()
    }
}
