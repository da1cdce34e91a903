//! Builds the data index while data blocks are written.
//!
//! Entries are collected in a leaf. When a leaf is large enough, it is written between the data
//! blocks and becomes one entry of the root. At the end, a root that is too large gets levels of
//! intermediate nodes below it. Source: `HFileBlockIndex.BlockIndexWriter`.

use hblite_model::Result;

use super::{ENTRY_FIXED_SIZE, LEVELS_MAX, MID_KEY_SIZE};
use crate::block::{BlockPosition, BlockType, BlockWriter};
use crate::input::{vlong_size, write_byte_array};

/// Entries of one node.
#[derive(Debug, Default)]
struct Chunk {
    entries: Vec<Entry>,
    keys_size: usize,
    root_size: usize,
}

#[derive(Debug, Clone)]
struct Entry {
    key: Vec<u8>,
    block: BlockPosition,
    /// Data blocks under this entry.
    data_blocks: u64,
}

impl Chunk {
    fn push(&mut self, entry: Entry) {
        self.keys_size += entry.key.len();
        self.root_size += ENTRY_FIXED_SIZE + vlong_size(entry.key.len() as i64) + entry.key.len();
        self.entries.push(entry);
    }

    /// Bytes in node format.
    fn node_size(&self) -> usize {
        let count = self.entries.len();
        4 + 4 * (count + 1) + count * ENTRY_FIXED_SIZE + self.keys_size
    }

    fn data_blocks(&self) -> u64 {
        self.entries.iter().map(|entry| entry.data_blocks).sum()
    }

    fn encode_node(&self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(self.node_size());
        payload.extend_from_slice(&(self.entries.len() as u32).to_be_bytes());
        let mut mark = 0_u32;
        payload.extend_from_slice(&mark.to_be_bytes());
        for entry in &self.entries {
            mark += (ENTRY_FIXED_SIZE + entry.key.len()) as u32;
            payload.extend_from_slice(&mark.to_be_bytes());
        }
        for entry in &self.entries {
            payload.extend_from_slice(&entry.block.offset.to_be_bytes());
            payload.extend_from_slice(&entry.block.on_disk_size.to_be_bytes());
            payload.extend_from_slice(&entry.key);
        }
        payload
    }
}

/// Appends an entry in root format.
pub(crate) fn write_root_entry(out: &mut Vec<u8>, key: &[u8], block: BlockPosition) {
    out.extend_from_slice(&block.offset.to_be_bytes());
    out.extend_from_slice(&block.on_disk_size.to_be_bytes());
    write_byte_array(out, key);
}

/// What the trailer says about the index.
#[derive(Debug)]
pub(crate) struct FinishedIndex {
    pub(crate) root: BlockPosition,
    pub(crate) root_entries: u32,
    pub(crate) levels: u32,
    /// Payload bytes of all its nodes.
    pub(crate) uncompressed_size: u64,
}

/// Collects entries and writes nodes.
#[derive(Debug)]
pub(crate) struct IndexWriter {
    leaf: Chunk,
    /// Entries that point at leaves.
    root: Chunk,
    node_size_max: usize,
    entries_min: usize,
    uncompressed_size: u64,
}

impl IndexWriter {
    pub(crate) fn new(node_size_max: usize, entries_min: usize) -> Self {
        Self {
            leaf: Chunk::default(),
            root: Chunk::default(),
            node_size_max,
            entries_min,
            uncompressed_size: 0,
        }
    }

    /// Adds a data block.
    pub(crate) fn push(&mut self, key: Vec<u8>, block: BlockPosition) {
        let last = self.leaf.entries.last().or(self.root.entries.last());
        assert!(last.is_none_or(|last| last.block.offset < block.offset), "data blocks ascend");
        assert!(!key.is_empty(), "a block has a key");
        self.leaf.push(Entry { key, block, data_blocks: 1 });
    }

    /// Writes the leaf if it is due; returns the payload bytes that were written.
    pub(crate) fn write_leaf_if_due(
        &mut self,
        blocks: &mut BlockWriter,
        closing: bool,
    ) -> Result<Option<usize>> {
        let is_due = if closing {
            // A file whose leaf was never full keeps its entries in the root.
            !self.root.entries.is_empty() && !self.leaf.entries.is_empty()
        } else {
            self.leaf.node_size() >= self.node_size_max
        };
        if !is_due {
            return Ok(None);
        }
        let leaf = std::mem::take(&mut self.leaf);
        let size = self.write_node(blocks, BlockType::LeafIndex, &leaf)?;
        Ok(Some(size))
    }

    /// Writes `chunk` as a node and makes it an entry of the root.
    fn write_node(
        &mut self,
        blocks: &mut BlockWriter,
        block_type: BlockType,
        chunk: &Chunk,
    ) -> Result<usize> {
        let payload = chunk.encode_node();
        let block = blocks.write(block_type, &payload)?;
        self.uncompressed_size += payload.len() as u64;
        let offsets = chunk.entries.iter().map(|entry| entry.block.offset);
        assert!(offsets.is_sorted_by(|left, right| left < right), "the entries of a node ascend");
        assert_eq!(payload.len(), chunk.node_size(), "a node has the size that it is cut by");
        let key = chunk.entries[0].key.clone();
        self.root.push(Entry { key, block, data_blocks: chunk.data_blocks() });
        Ok(payload.len())
    }

    /// Writes intermediate nodes and the root.
    pub(crate) fn finish(mut self, blocks: &mut BlockWriter) -> Result<FinishedIndex> {
        let mut levels = 1;
        let mut mid_key = Vec::new();
        if self.root.entries.is_empty() {
            self.root = std::mem::take(&mut self.leaf);
        } else {
            levels = 2;
            mid_key = self.encode_mid_key();
        }
        while self.root.root_size > self.node_size_max
            && self.root.entries.len() > self.entries_min
            && levels > 1
            && levels < LEVELS_MAX
        {
            self.write_intermediate_level(blocks)?;
            levels += 1;
        }
        let mut payload = Vec::with_capacity(self.root.root_size + MID_KEY_SIZE);
        for entry in &self.root.entries {
            write_root_entry(&mut payload, &entry.key, entry.block);
        }
        payload.extend_from_slice(&mid_key);
        assert!((1..=LEVELS_MAX).contains(&levels), "an index has {levels} levels");
        let root = blocks.write(BlockType::RootIndex, &payload)?;
        Ok(FinishedIndex {
            root,
            root_entries: self.root.entries.len() as u32,
            levels,
            uncompressed_size: self.uncompressed_size + payload.len() as u64,
        })
    }

    fn write_intermediate_level(&mut self, blocks: &mut BlockWriter) -> Result<()> {
        let level = std::mem::take(&mut self.root);
        let mut chunk = Chunk::default();
        for (index, entry) in level.entries.into_iter().enumerate() {
            chunk.push(entry);
            if index >= self.entries_min && chunk.root_size >= self.node_size_max {
                let full = std::mem::take(&mut chunk);
                self.write_node(blocks, BlockType::IntermediateIndex, &full)?;
            }
        }
        if !chunk.entries.is_empty() {
            self.write_node(blocks, BlockType::IntermediateIndex, &chunk)?;
        }
        Ok(())
    }

    /// Which entry of which leaf points at the data block in the middle.
    fn encode_mid_key(&self) -> Vec<u8> {
        let mut target = self.root.data_blocks().saturating_sub(1) / 2;
        let mut out = Vec::with_capacity(MID_KEY_SIZE);
        for leaf in &self.root.entries {
            if target < leaf.data_blocks {
                out.extend_from_slice(&leaf.block.offset.to_be_bytes());
                out.extend_from_slice(&leaf.block.on_disk_size.to_be_bytes());
                out.extend_from_slice(&(target as u32).to_be_bytes());
                break;
            }
            target -= leaf.data_blocks;
        }
        out
    }
}
