//! One node of the index in memory, laid out for searching.
//!
//! Keys are contiguous. A search compares the numbers of their rows (`row_prefixes.rs`), and keys
//! only where the numbers are equal.
//!
//! Invariants: not empty; the blocks that it points to follow one another within the file, so that
//! all nodes of a level together cannot have more entries than the file has blocks.

use hblite_model::CellComparator;
use hblite_model::cell::key;

use super::ENTRY_FIXED_SIZE;
use crate::block::BlockOrder;
use crate::error::{Damage, Parsed, ensure, reserve};
use crate::input::Input;
use crate::row_prefixes::RowPrefixes;

/// Where an entry points, and where its key is.
#[derive(Debug, Clone, Copy)]
struct Entry {
    offset: u64,
    on_disk_size: u32,
    key_start: u32,
    key_length: u32,
}

/// Entries sorted by key.
#[derive(Debug)]
pub(crate) struct IndexNode {
    entries: Box<[Entry]>,
    keys: Box<[u8]>,
    /// `None` if rows are not ordered as bytes.
    rows: Option<RowPrefixes>,
}

impl IndexNode {
    /// Takes `count` entries in root format from the front of a payload. The blocks of the file end
    /// at `blocks_end`.
    pub(crate) fn parse_root(
        input: &mut Input<'_>,
        count: usize,
        comparator: CellComparator,
        blocks_end: u64,
    ) -> Parsed<Self> {
        let mut builder = NodeBuilder::new(blocks_end);
        for _ in 0..count {
            let offset = input.offset()?;
            let size = input.length()?;
            builder.push(input.byte_array()?, offset, size as u32)?;
        }
        builder.finish(comparator)
    }

    /// Number of entries.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The key of an entry.
    #[inline]
    pub(crate) fn key(&self, index: usize) -> &[u8] {
        let entry = &self.entries[index];
        &self.keys[entry.key_start as usize..][..entry.key_length as usize]
    }

    /// Offset and on-disk size of the block that an entry points at.
    #[inline]
    pub(crate) fn block(&self, index: usize) -> (u64, u32) {
        let entry = &self.entries[index];
        (entry.offset, entry.on_disk_size)
    }

    /// The last entry whose key is not greater than `key`.
    pub(crate) fn last_at_most(&self, comparator: CellComparator, key: &[u8]) -> Option<usize> {
        let all = (0, self.len());
        let (mut low, mut high) =
            self.rows.as_ref().map_or(all, |rows| rows.candidates(key::row(key)));
        while low < high {
            let middle = low + (high - low) / 2;
            if comparator.compare_keys(self.key(middle), key).is_gt() {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low.checked_sub(1)
    }
}

/// Collects the entries of one node, or of all nodes of one level.
#[derive(Debug)]
pub(crate) struct NodeBuilder {
    entries: Vec<Entry>,
    keys: Vec<u8>,
    order: BlockOrder,
}

impl NodeBuilder {
    /// No entries yet, in a file whose blocks end at `blocks_end`.
    pub(crate) fn new(blocks_end: u64) -> Self {
        Self { entries: Vec::new(), keys: Vec::new(), order: BlockOrder::new(blocks_end) }
    }

    /// Adds an entry.
    pub(crate) fn push(&mut self, key: &[u8], offset: u64, on_disk_size: u32) -> Parsed<()> {
        ensure(key::is_well_formed(key), "lengths inside an index key do not fit")?;
        self.order.check(offset, on_disk_size)?;
        let key_start =
            u32::try_from(self.keys.len()).map_err(|_| Damage::new("index keys of over 4 GiB"))?;
        reserve(&mut self.keys, key.len())?;
        self.keys.extend_from_slice(key);
        let key_length = key.len() as u32;
        reserve(&mut self.entries, 1)?;
        self.entries.push(Entry { offset, on_disk_size, key_start, key_length });
        Ok(())
    }

    /// Number of entries so far.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The key of an entry.
    pub(crate) fn key(&self, index: usize) -> &[u8] {
        let entry = &self.entries[index];
        &self.keys[entry.key_start as usize..][..entry.key_length as usize]
    }

    /// Adds all entries of a payload in node format.
    pub(crate) fn push_node(&mut self, payload: &[u8]) -> Parsed<()> {
        let mut input = Input::new(payload);
        let count = input.length()?;
        ensure(count > 0, "index node without entries")?;
        let marks_size = count.saturating_add(1).saturating_mul(4);
        let mut marks = Input::new(input.take(marks_size)?);
        let mut start = marks.length()?;
        ensure(start == 0, "first index entry does not begin at 0")?;
        for _ in 0..count {
            let end = marks.length()?;
            let key_length = end.checked_sub(start).and_then(|s| s.checked_sub(ENTRY_FIXED_SIZE));
            let key_length = key_length.ok_or_else(|| Damage::new("index marks do not ascend"))?;
            let offset = input.offset()?;
            let size = input.length()?;
            self.push(input.take(key_length)?, offset, size as u32)?;
            start = end;
        }
        ensure(input.is_empty(), "bytes after the last index entry")
    }

    /// The node.
    pub(crate) fn finish(self, comparator: CellComparator) -> Parsed<IndexNode> {
        let mut node = IndexNode {
            entries: self.entries.into_boxed_slice(),
            keys: self.keys.into_boxed_slice(),
            rows: None,
        };
        ensure(node.len() > 0, "index without entries")?;
        if comparator == CellComparator::Default {
            node.rows = Some(RowPrefixes::of(node.len(), |index| key::row(node.key(index)))?);
        }
        Ok(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(rows: &[&str], comparator: CellComparator) -> IndexNode {
        let mut builder = NodeBuilder::new(u64::MAX);
        for (position, row) in rows.iter().enumerate() {
            let key = key::build(row.as_bytes(), b"f", b"q", 5, 4);
            builder.push(&key, position as u64 * 100, 100).unwrap();
        }
        builder.finish(comparator).unwrap()
    }

    #[test]
    fn the_last_entry_at_most_a_key_is_found() {
        let sets: [&[&str]; 4] = [
            &["user1", "user1\0", "user10", "user1000000000", "user10000000001", "user2"],
            &["a"],
            &["", "\0", "\0\0", "b"],
            &["abcdefgh1", "abcdefgh2", "abcdefgh2z"],
        ];
        let asked = [
            "",
            "\0",
            "a",
            "abcdefgh",
            "abcdefgh15",
            "abcdefgh2",
            "b",
            "user",
            "user1",
            "user10",
            "user100000000000",
            "user1z",
            "user3",
            "z",
        ];
        for rows in sets {
            for comparator in [CellComparator::Default, CellComparator::Meta] {
                let node = node(rows, comparator);
                for row in asked {
                    for timestamp in [4, 5, 6] {
                        let key = key::build(row.as_bytes(), b"f", b"q", timestamp, 4);
                        let expected = (0..node.len())
                            .rev()
                            .find(|i| comparator.compare_keys(node.key(*i), &key).is_le());
                        assert_eq!(node.last_at_most(comparator, &key), expected, "{row:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_that_no_file_can_have_so_are_refused() {
        let key = key::build(b"r", b"f", b"q", 5, 4);
        let mut builder = NodeBuilder::new(200);
        builder.push(&key, 7, 50).unwrap();
        assert!(builder.push(&key, 7, 50).is_err(), "twice");
        assert!(builder.push(&key, 56, 50).is_err(), "one in another");
        assert!(builder.push(&key, 57, 144).is_err(), "after the end");
        assert!(builder.push(&key, u64::MAX, 144).is_err(), "after any end");
        assert!(builder.push(&key, 57, 0).is_err(), "nothing");
        assert!(builder.push(b"short", 57, 50).is_err());
        builder.push(&key, 57, 143).unwrap();
        assert!(NodeBuilder::new(200).finish(CellComparator::Default).is_err());
    }
}
