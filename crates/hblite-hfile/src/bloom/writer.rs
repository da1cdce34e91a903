//! Builds one Bloom filter while cells are written.
//!
//! Chunks that are full wait in `ready` until the next data block has ended. Folding halves the
//! last chunk as long as its keys fit: the bits stay valid because positions are taken modulo the
//! size.

use hblite_model::CellRef;
use hblite_model::cell::key;
use hblite_model::{CellType, Result};

use super::{
    BloomHash, BloomKey, ChunkSizing, META_VERSION, ROWCOL_COMPARATOR, positions,
    write_row_column_key,
};
use crate::block::{BlockType, BlockWriter};
use crate::index::write_root_entry;
use crate::input::write_byte_array;

/// Bits of one part of the keys.
#[derive(Debug)]
struct Chunk {
    first_key: Vec<u8>,
    bits: Vec<u8>,
    keys: u64,
    keys_max: u64,
}

/// Collects keys and writes chunks.
#[derive(Debug)]
pub(crate) struct BloomWriter {
    key: BloomKey,
    hash: BloomHash,
    sizing: ChunkSizing,
    open: Option<Chunk>,
    ready: Vec<Chunk>,
    /// The source of the last key, to detect a new key.
    last_source: Vec<u8>,
    last_key: Vec<u8>,
    keys: u64,
    keys_max: u64,
    bytes: u64,
    chunks: u32,
    /// Entries of the chunks that were written.
    chunk_list: Vec<u8>,
}

impl BloomWriter {
    pub(crate) fn new(key: BloomKey, hash: BloomHash, chunk_size: usize, error_rate: f32) -> Self {
        Self {
            key,
            hash,
            sizing: ChunkSizing::new(chunk_size, error_rate, key),
            open: None,
            ready: Vec::new(),
            last_source: Vec::new(),
            last_key: Vec::new(),
            keys: 0,
            keys_max: 0,
            bytes: 0,
            chunks: 0,
            chunk_list: Vec::new(),
        }
    }

    /// Adds the key of `cell` unless the previous cell had the same.
    #[inline]
    pub(crate) fn add(&mut self, cell: &CellRef<'_>) {
        let source = match self.key {
            BloomKey::Row => cell.row(),
            BloomKey::RowPrefix(length) => {
                let row = cell.row();
                &row[..row.len().min(length)]
            }
            BloomKey::RowCol => key::without_version(cell.key()),
        };
        if source == self.last_source && self.keys > 0 {
            return;
        }
        self.last_source.clear();
        self.last_source.extend_from_slice(source);
        self.last_key.clear();
        match self.key {
            BloomKey::RowCol => {
                write_row_column_key(&mut self.last_key, cell.row(), cell.qualifier());
            }
            BloomKey::Row | BloomKey::RowPrefix(_) => self.last_key.extend_from_slice(source),
        }
        self.add_last_key();
    }

    /// Adds the row of `cell` if it deletes the family, for delete family filters.
    #[inline]
    pub(crate) fn add_if_family_delete(&mut self, cell: &CellRef<'_>) {
        if is_family_delete(cell.type_code()) {
            self.add(cell);
        }
    }

    fn add_last_key(&mut self) {
        self.retire_open(false);
        let sizing = self.sizing;
        let chunk = self.open.get_or_insert_with(|| Chunk {
            first_key: self.last_key.clone(),
            bits: vec![0; sizing.bytes],
            keys: 0,
            keys_max: sizing.keys_max,
        });
        let bits = sizing.bytes as u64 * 8;
        positions(self.hash.pair(&self.last_key), sizing.hash_count, bits, |position| {
            chunk.bits[position / 8] |= 1 << (position % 8);
            true
        });
        chunk.keys += 1;
        self.keys += 1;
    }

    /// Makes the open chunk ready if it is full, or anyway when `closing`.
    fn retire_open(&mut self, closing: bool) {
        let Some(mut chunk) = self.open.take_if(|chunk| closing || chunk.keys >= chunk.keys_max)
        else {
            return;
        };
        chunk.fold();
        self.keys_max += chunk.keys_max;
        self.bytes += chunk.bits.len() as u64;
        self.chunks += 1;
        self.ready.push(chunk);
    }

    /// Writes the chunks that are ready, or all when `closing`; returns blocks and payload bytes.
    pub(crate) fn write_chunks(
        &mut self,
        blocks: &mut BlockWriter,
        closing: bool,
    ) -> Result<(u64, u64)> {
        self.retire_open(closing);
        let mut written = (0, 0);
        for chunk in self.ready.drain(..) {
            let block = blocks.write(BlockType::BloomChunk, &chunk.bits)?;
            write_root_entry(&mut self.chunk_list, &chunk.first_key, block);
            written.0 += 1;
            written.1 += chunk.bits.len() as u64;
        }
        Ok(written)
    }

    /// Whether no key was added: such a filter is not written to the file.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// The last key that was added.
    pub(crate) fn last_key(&self) -> &[u8] {
        &self.last_key
    }

    /// The payload of the meta block, once all chunks are written.
    pub(crate) fn encode_meta(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.chunk_list.len() + 128);
        out.extend_from_slice(&META_VERSION.to_be_bytes());
        out.extend_from_slice(&self.bytes.to_be_bytes());
        out.extend_from_slice(&self.sizing.hash_count.to_be_bytes());
        out.extend_from_slice(&self.hash.code().to_be_bytes());
        out.extend_from_slice(&self.keys.to_be_bytes());
        out.extend_from_slice(&self.keys_max.to_be_bytes());
        out.extend_from_slice(&self.chunks.to_be_bytes());
        let comparator = if self.key == BloomKey::RowCol { ROWCOL_COMPARATOR } else { b"" };
        write_byte_array(&mut out, comparator);
        out.extend_from_slice(&self.chunk_list);
        out
    }
}

impl Chunk {
    fn fold(&mut self) {
        while self.bits.len().is_multiple_of(2) && self.keys_max > self.keys * 2 {
            let half = self.bits.len() / 2;
            let (lower, upper) = self.bits.split_at_mut(half);
            for (low, high) in lower.iter_mut().zip(upper) {
                *low |= *high;
            }
            self.bits.truncate(half);
            self.keys_max /= 2;
        }
    }
}

/// Whether cells of this type go into the delete family filter and its count.
pub(crate) fn is_family_delete(type_code: u8) -> bool {
    type_code == CellType::DeleteFamily.code() || type_code == CellType::DeleteFamilyVersion.code()
}
