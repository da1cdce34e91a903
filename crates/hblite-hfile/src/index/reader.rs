//! Finds data blocks by key, and steps from one to the next.
//!
//! Opening reads the root (and intermediate nodes, if any: they are few, and together at the end of
//! the file). A leaf is read when it is first needed, and then kept.
//!
//! What is known about a data block (that its checksums were verified, where its cells begin) is
//! attached to its index entry. Threads: shared; the first reader fills a slot.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hblite_model::{CellComparator, Result};

use super::{IndexNode, MID_KEY_SIZE, NodeBuilder};
use crate::block::{BlockFile, BlockType};
use crate::data_block::DataBlock;
use crate::error::{Damage, Parsed, collect, ensure};
use crate::input::Input;
use crate::sparse_marks::SparseMarks;

/// Which data block: an entry of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DataBlockPosition {
    leaf: usize,
    entry: usize,
}

/// What a reader has learned about a data block.
#[derive(Debug, Default)]
pub(crate) struct BlockState {
    verified: AtomicBool,
    /// The block itself, if its cells are used in place in the file.
    pub(crate) known: OnceLock<Arc<DataBlock>>,
    /// What is kept instead of the block if there is no memory for it.
    pub(crate) sparse: OnceLock<Box<SparseMarks>>,
}

impl BlockState {
    /// Whether the checksums of the block were verified by an earlier read.
    pub(crate) fn is_verified(&self) -> bool {
        self.verified.load(Ordering::Relaxed)
    }

    pub(crate) fn set_verified(&self) {
        self.verified.store(true, Ordering::Relaxed);
    }
}

/// A node that points at data blocks.
#[derive(Debug)]
struct Leaf {
    node: IndexNode,
    states: Box<[BlockState]>,
}

impl Leaf {
    fn new(node: IndexNode) -> Parsed<Self> {
        let states = collect((0..node.len()).map(|_| BlockState::default()))?;
        Ok(Self { node, states })
    }
}

/// The data index of a file that has cells.
#[derive(Debug)]
pub(crate) struct DataIndex {
    comparator: CellComparator,
    /// Points at the leaves; absent if the root is the only leaf.
    directory: Option<IndexNode>,
    leaves: Box<[OnceLock<Leaf>]>,
    mid_key: Option<MidKey>,
}

#[derive(Debug)]
struct MidKey {
    leaf_offset: u64,
    entry: usize,
}

impl DataIndex {
    /// Parses the root, which is at `root_offset` and has `count` entries.
    pub(crate) fn open(
        file: &BlockFile,
        comparator: CellComparator,
        root_offset: u64,
        root: &[u8],
        count: usize,
        levels: u32,
    ) -> Result<Self> {
        let (node, mid_key) = parse_root(root, count, levels, comparator, file.end())
            .map_err(|damage| file.corrupt(root_offset, &damage))?;
        let corrupt = |damage: Damage| file.corrupt(root_offset, &damage);
        if levels == 1 {
            let leaf = Leaf::new(node).map_err(corrupt)?;
            let leaves = Box::from([OnceLock::from(leaf)]);
            return Ok(Self { comparator, directory: None, leaves, mid_key });
        }
        let mut directory = node;
        for _ in 2..levels {
            directory = children(file, comparator, &directory)?;
        }
        let leaves = collect((0..directory.len()).map(|_| OnceLock::new())).map_err(corrupt)?;
        Ok(Self { comparator, directory: Some(directory), leaves, mid_key })
    }

    /// The leaf, read now if it was not read before.
    #[inline]
    fn leaf(&self, file: &BlockFile, leaf: usize) -> Result<&Leaf> {
        match self.leaves[leaf].get() {
            Some(loaded) => Ok(loaded),
            None => self.load_leaf(file, leaf),
        }
    }

    #[cold]
    fn load_leaf(&self, file: &BlockFile, leaf: usize) -> Result<&Leaf> {
        let directory =
            self.directory.as_ref().expect("the only leaf of a one-level index is always there");
        let (offset, size) = directory.block(leaf);
        let (_, payload) = file.read(offset, &[BlockType::LeafIndex], Some(size))?;
        let parse = || {
            let mut builder = NodeBuilder::new(file.end());
            builder.push_node(&payload)?;
            let node = builder.finish(self.comparator)?;
            ensure(node.key(0) == directory.key(leaf), "leaf begins with another key")?;
            Leaf::new(node)
        };
        let loaded = parse().map_err(|damage: Damage| file.corrupt(offset, &damage))?;
        Ok(self.leaves[leaf].get_or_init(|| loaded))
    }

    /// The last block whose index key is not greater than `key`; `None` if `key` is before all.
    #[inline]
    pub(crate) fn locate(&self, file: &BlockFile, key: &[u8]) -> Result<Option<DataBlockPosition>> {
        let leaf = match &self.directory {
            None => 0,
            Some(directory) => match directory.last_at_most(self.comparator, key) {
                None => return Ok(None),
                Some(leaf) => leaf,
            },
        };
        let node = &self.leaf(file, leaf)?.node;
        let entry = node.last_at_most(self.comparator, key);
        Ok(entry.map(|entry| DataBlockPosition { leaf, entry }))
    }

    /// The first data block.
    pub(crate) fn first(&self) -> DataBlockPosition {
        DataBlockPosition { leaf: 0, entry: 0 }
    }

    /// The last data block.
    pub(crate) fn last(&self, file: &BlockFile) -> Result<DataBlockPosition> {
        let leaf = self.leaves.len() - 1;
        Ok(DataBlockPosition { leaf, entry: self.leaf(file, leaf)?.node.len() - 1 })
    }

    /// The block after `position`.
    pub(crate) fn next(
        &self,
        file: &BlockFile,
        position: DataBlockPosition,
    ) -> Result<Option<DataBlockPosition>> {
        let DataBlockPosition { leaf, entry } = position;
        if entry + 1 < self.leaf(file, leaf)?.node.len() {
            return Ok(Some(DataBlockPosition { leaf, entry: entry + 1 }));
        }
        let has_next = leaf + 1 < self.leaves.len();
        Ok(has_next.then_some(DataBlockPosition { leaf: leaf + 1, entry: 0 }))
    }

    /// The block before `position`.
    pub(crate) fn previous(
        &self,
        file: &BlockFile,
        position: DataBlockPosition,
    ) -> Result<Option<DataBlockPosition>> {
        let DataBlockPosition { leaf, entry } = position;
        if entry > 0 {
            return Ok(Some(DataBlockPosition { leaf, entry: entry - 1 }));
        }
        let Some(leaf) = leaf.checked_sub(1) else {
            return Ok(None);
        };
        let entry = self.leaf(file, leaf)?.node.len() - 1;
        Ok(Some(DataBlockPosition { leaf, entry }))
    }

    /// Offset and size of a data block, and what is known about it.
    #[inline]
    pub(crate) fn block(
        &self,
        file: &BlockFile,
        position: DataBlockPosition,
    ) -> Result<(u64, u32, &BlockState)> {
        let leaf = self.leaf(file, position.leaf)?;
        let (offset, size) = leaf.node.block(position.entry);
        Ok((offset, size, &leaf.states[position.entry]))
    }

    /// The index key of a data block.
    pub(crate) fn key(&self, file: &BlockFile, position: DataBlockPosition) -> Result<&[u8]> {
        Ok(self.leaf(file, position.leaf)?.node.key(position.entry))
    }

    /// The index key of the first block, which is the first key of the file.
    pub(crate) fn first_key(&self) -> &[u8] {
        match (&self.directory, self.leaves[0].get()) {
            (Some(directory), _) => directory.key(0),
            (None, Some(leaf)) => leaf.node.key(0),
            (None, None) => &[],
        }
    }

    /// The index key of the block in the middle.
    pub(crate) fn mid_key(&self, file: &BlockFile) -> Result<&[u8]> {
        let (Some(directory), Some(mid_key)) = (&self.directory, &self.mid_key) else {
            let middle = self.leaf(file, 0)?.node.len() / 2;
            return self.key(file, DataBlockPosition { leaf: 0, entry: middle });
        };
        let leaf = (0..directory.len()).find(|i| directory.block(*i).0 == mid_key.leaf_offset);
        if let Some(leaf) = leaf
            && mid_key.entry < self.leaf(file, leaf)?.node.len()
        {
            return self.key(file, DataBlockPosition { leaf, entry: mid_key.entry });
        }
        let damage = Damage::new("mid-key does not point to an entry of a leaf");
        Err(file.corrupt(mid_key.leaf_offset, &damage))
    }
}

/// Key, offset and on-disk size of each entry of a root, as stored in the file.
pub(crate) fn root_entries(
    payload: &[u8],
    count: usize,
    comparator: CellComparator,
    blocks_end: u64,
) -> Parsed<Vec<(Vec<u8>, u64, u32)>> {
    let node = IndexNode::parse_root(&mut Input::new(payload), count, comparator, blocks_end)?;
    let entry = |index| {
        let (offset, on_disk_size) = node.block(index);
        (node.key(index).to_vec(), offset, on_disk_size)
    };
    Ok((0..node.len()).map(entry).collect())
}

fn parse_root(
    payload: &[u8],
    count: usize,
    levels: u32,
    comparator: CellComparator,
    blocks_end: u64,
) -> Parsed<(IndexNode, Option<MidKey>)> {
    let mut input = Input::new(payload);
    let node = IndexNode::parse_root(&mut input, count, comparator, blocks_end)?;
    let mid_key_size = if levels == 1 { 0 } else { MID_KEY_SIZE };
    ensure(input.remaining() == mid_key_size, "root index does not have the size of its entries")?;
    if levels == 1 {
        return Ok((node, None));
    }
    let leaf_offset = input.offset()?;
    let _on_disk_size = input.length()?;
    let entry = input.length()?;
    Ok((node, Some(MidKey { leaf_offset, entry })))
}

/// All entries of the nodes that `level` points at.
fn children(file: &BlockFile, comparator: CellComparator, level: &IndexNode) -> Result<IndexNode> {
    let mut builder = NodeBuilder::new(file.end());
    let mut offset = 0;
    for index in 0..level.len() {
        let size;
        (offset, size) = level.block(index);
        let (_, payload) = file.read(offset, &[BlockType::IntermediateIndex], Some(size))?;
        let mut push = || {
            let first = builder.len();
            builder.push_node(&payload)?;
            ensure(builder.key(first) == level.key(index), "index node begins with another key")
        };
        push().map_err(|damage| file.corrupt(offset, &damage))?;
    }
    builder.finish(comparator).map_err(|damage| file.corrupt(offset, &damage))
}
