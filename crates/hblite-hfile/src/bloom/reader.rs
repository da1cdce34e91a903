//! Queries a Bloom filter.
//!
//! The list of chunks is read when the file is opened, a chunk when it is first queried. Chunks of
//! uncompressed files stay in the file; others are kept decompressed (about 10 bits per key).
//! Threads: shared.

use std::cmp::Ordering;
use std::sync::OnceLock;

use hblite_model::cell::key;
use hblite_model::{CellComparator, Result};

use super::{BloomHash, KeyHash, META_VERSION, RowProbe, write_row_column_key};
use crate::block::{BlockFile, BlockOrder, BlockType, Payload};
use crate::error::{Damage, Parsed, copied, ensure, reserve};
use crate::input::Input;
use crate::row_prefixes::RowPrefixes;

/// A hash count beyond this is damage: it would make every query slow.
const HASH_COUNT_MAX: u32 = 64;

#[derive(Debug)]
struct Chunk {
    first_key: Box<[u8]>,
    offset: u64,
    on_disk_size: u32,
    bits: OnceLock<Payload>,
}

/// The metadata of a Bloom filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloomMeta {
    /// Bytes of all chunks.
    pub bytes: u64,
    /// Positions per key.
    pub hash_count: u32,
    /// Hash function.
    pub hash: BloomHash,
    /// Keys that were added.
    pub keys: u64,
    /// The capacity of all chunks, in keys.
    pub keys_max: u64,
    /// Number of chunks.
    pub chunks: usize,
    /// Whether keys are flat keys (ROWCOL), not rows.
    pub has_flat_keys: bool,
}

/// A filter of an open file.
#[derive(Debug)]
pub(crate) struct BloomReader {
    hash: BloomHash,
    hash_count: u32,
    /// Bytes of all chunks, number of keys, and the capacity of all chunks in keys.
    sums: (u64, u64, u64),
    chunks: Box<[Chunk]>,
    /// The rows of their first keys; `None` if rows are not ordered as bytes.
    rows: Option<RowPrefixes>,
    /// Keys are flat keys (ROWCOL), not rows.
    has_flat_keys: bool,
    comparator: CellComparator,
}

impl BloomReader {
    /// Parses the payload of a meta block. The blocks of the file end at `blocks_end`.
    pub(crate) fn parse(
        payload: &[u8],
        has_flat_keys: bool,
        comparator: CellComparator,
        blocks_end: u64,
    ) -> Parsed<Self> {
        let mut input = Input::new(payload);
        ensure(input.i32()? == META_VERSION, "unknown version of Bloom filter")?;
        let bytes = input.offset()?;
        let hash_count = input.i32()? as u32;
        ensure((1..=HASH_COUNT_MAX).contains(&hash_count), "impossible hash count")?;
        let hash = BloomHash::from_code(input.i32()?)
            .ok_or_else(|| Damage::new("unknown hash of Bloom filter"))?;
        let sums = (bytes, input.offset()?, input.offset()?);
        let count = input.length()?;
        let _comparator_class = input.byte_array()?;
        let mut chunks = Vec::new();
        let mut order = BlockOrder::new(blocks_end);
        for _ in 0..count {
            let offset = input.offset()?;
            let on_disk_size = input.length()? as u32;
            order.check(offset, on_disk_size)?;
            let first_key = input.byte_array()?;
            ensure(
                !has_flat_keys || hblite_model::cell::key::is_well_formed(first_key),
                "lengths inside a Bloom key do not fit",
            )?;
            reserve(&mut chunks, 1)?;
            let (first_key, bits) = (copied(first_key)?.into_boxed_slice(), OnceLock::new());
            chunks.push(Chunk { first_key, offset, on_disk_size, bits });
        }
        ensure(input.is_empty(), "bytes after the last Bloom chunk")?;
        let rows = match comparator {
            CellComparator::Default => {
                let first_row = |index: usize| row_of(&chunks[index].first_key, has_flat_keys);
                Some(RowPrefixes::of(chunks.len(), first_row)?)
            }
            CellComparator::Meta => None,
        };
        Ok(Self { hash, hash_count, sums, chunks: chunks.into(), rows, has_flat_keys, comparator })
    }

    /// The filter's metadata.
    pub(crate) fn meta(&self) -> BloomMeta {
        let (bytes, keys, keys_max) = self.sums;
        BloomMeta {
            bytes,
            hash_count: self.hash_count,
            hash: self.hash,
            keys,
            keys_max,
            chunks: self.chunks.len(),
            has_flat_keys: self.has_flat_keys,
        }
    }

    /// Offset, on-disk size and first key of each chunk.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (u64, u32, &[u8])> {
        self.chunks.iter().map(|chunk| (chunk.offset, chunk.on_disk_size, &*chunk.first_key))
    }

    /// Whether `row` (or prefix of a row) may have been added.
    pub(crate) fn may_contain_row(&self, file: &BlockFile, row: &[u8]) -> Result<bool> {
        self.may_contain(file, row)
    }

    /// Whether the column of `row` may have been added to a ROWCOL filter.
    pub(crate) fn may_contain_column(
        &self,
        file: &BlockFile,
        row: &[u8],
        qualifier: &[u8],
    ) -> Result<bool> {
        let mut key = Vec::with_capacity(row.len() + qualifier.len() + 16);
        write_row_column_key(&mut key, row, qualifier);
        self.may_contain(file, &key)
    }

    /// Compares two keys of this filter.
    pub(crate) fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        if self.has_flat_keys {
            self.comparator.compare_keys(left, right)
        } else {
            self.comparator.compare_rows(left, right)
        }
    }

    fn may_contain(&self, file: &BlockFile, key: &[u8]) -> Result<bool> {
        Ok(self.probe(file, key, &mut KeyHash::default())?.may_contain())
    }

    /// Everything about a key of this filter but the bits. `hash` belongs to the key.
    pub(crate) fn probe<'b>(
        &'b self,
        file: &BlockFile,
        key: &[u8],
        hash: &mut KeyHash,
    ) -> Result<RowProbe<'b>> {
        let Some(chunk) = self.chunk_of(key) else { return Ok(RowProbe::decided(false)) };
        Ok(RowProbe::of(chunk.bits(file)?, hash.pair(self.hash, key), self.hash_count))
    }

    /// The chunk that has `key` if any has it.
    fn chunk_of(&self, key: &[u8]) -> Option<&Chunk> {
        let (low, high) = match &self.rows {
            Some(rows) => rows.candidates(row_of(key, self.has_flat_keys)),
            None => (0, self.chunks.len()),
        };
        let is_at_most = |chunk: &Chunk| self.compare(&chunk.first_key, key).is_le();
        let after = low + self.chunks[low..high].partition_point(is_at_most);
        after.checked_sub(1).map(|index| &self.chunks[index])
    }
}

/// The row of a filter's key.
fn row_of(key: &[u8], is_flat: bool) -> &[u8] {
    if is_flat { key::row(key) } else { key }
}

impl Chunk {
    #[inline]
    fn bits(&self, file: &BlockFile) -> Result<&Payload> {
        if let Some(bits) = self.bits.get() {
            return Ok(bits);
        }
        let (_, payload) =
            file.read(self.offset, &[BlockType::BloomChunk], Some(self.on_disk_size))?;
        if payload.is_empty() {
            return Err(file.corrupt(self.offset, &Damage::new("Bloom chunk without bits")));
        }
        Ok(self.bits.get_or_init(|| payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_that_no_file_can_have_so_are_refused() {
        let meta = |chunks: &[(u64, u32)]| {
            let mut payload = META_VERSION.to_be_bytes().to_vec();
            payload.extend_from_slice(&0_i64.to_be_bytes());
            payload.extend_from_slice(&[0, 0, 0, 5, 0, 0, 0, 1]);
            payload.extend_from_slice(&[0; 16]);
            payload.extend_from_slice(&(chunks.len() as u32).to_be_bytes());
            payload.push(0);
            for (offset, size) in chunks {
                payload.extend_from_slice(&offset.to_be_bytes());
                payload.extend_from_slice(&size.to_be_bytes());
                payload.extend_from_slice(b"\x01k");
            }
            BloomReader::parse(&payload, false, CellComparator::Default, 200)
        };
        assert!(meta(&[(0, 100), (100, 100)]).is_ok());
        assert!(meta(&[(0, 100), (0, 100)]).is_err());
        assert!(meta(&[(0, 100), (99, 100)]).is_err());
        assert!(meta(&[(0, 100), (150, 51)]).is_err());
        assert!(meta(&[(0, 32)]).is_err());
    }
}
