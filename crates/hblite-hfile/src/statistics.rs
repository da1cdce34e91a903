//! What a writer collects about the cells it writes, for the file info.

use hblite_model::cell::KEY_VALUE_HEADER_SIZE;
use hblite_model::{CellRef, CellType};

use crate::bloom::is_family_delete;
use crate::file_info::{self, FileInfo};

/// What HBase adds to the serialized size of a cell (`estimatedSerializedSizeOf`).
const CELL_SIZE_OVERHEAD: usize = 4;
/// Bytes of the length in front of tags.
const TAGS_LENGTH_SIZE: usize = 2;

/// Bytes from which the largest row is noted.
const ROW_NOTED: u64 = 1 << 20;

/// The largest row, by the blocks that consist of it: nothing is done for single cells.
#[derive(Debug, Default)]
struct Rows {
    /// Bytes of cells up to the last block's end.
    seen: u64,
    /// The last row of that block, and its bytes in blocks of its own since it began.
    row: Vec<u8>,
    bytes: u64,
    largest: Vec<u8>,
    largest_bytes: u64,
}

impl Rows {
    fn end_block(&mut self, seen: u64, first_row: &[u8], last_row: &[u8]) {
        let bytes = seen - std::mem::replace(&mut self.seen, seen);
        if self.row != last_row {
            self.row.clear();
            self.row.extend_from_slice(last_row);
            self.bytes = 0;
        }
        if first_row != last_row {
            return;
        }
        self.bytes += bytes;
        if self.bytes > self.largest_bytes {
            self.largest_bytes = self.bytes;
            self.largest.clone_from(&self.row);
        }
    }
}

/// Running figures over all cells.
#[derive(Debug)]
pub(crate) struct Statistics {
    pub(crate) cells: u64,
    key_bytes: u64,
    value_bytes: u64,
    biggest_size: usize,
    biggest_key: Vec<u8>,
    rows: Rows,
    tags_length_max: usize,
    sequence_id_max: u64,
    timestamp_min: i64,
    timestamp_max: i64,
    earliest_put: i64,
    family_deletes: u64,
    pub(crate) delete_markers: u64,
}

impl Statistics {
    pub(crate) fn new() -> Self {
        Self {
            cells: 0,
            key_bytes: 0,
            value_bytes: 0,
            biggest_size: 0,
            biggest_key: Vec::new(),
            rows: Rows::default(),
            tags_length_max: 0,
            sequence_id_max: 0,
            timestamp_min: i64::MAX,
            timestamp_max: -1,
            earliest_put: i64::MAX,
            family_deletes: 0,
            delete_markers: 0,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, cell: &CellRef<'_>) {
        self.cells += 1;
        self.key_bytes += cell.key().len() as u64;
        self.value_bytes += cell.value().len() as u64;
        let mut size = CELL_SIZE_OVERHEAD + KEY_VALUE_HEADER_SIZE;
        size += cell.key().len() + cell.value().len();
        if !cell.tags().is_empty() {
            size += TAGS_LENGTH_SIZE + cell.tags().len();
            self.tags_length_max = self.tags_length_max.max(cell.tags().len());
        }
        if size > self.biggest_size {
            self.biggest_size = size;
            self.biggest_key.clear();
            self.biggest_key.extend_from_slice(cell.key());
        }
        self.sequence_id_max = self.sequence_id_max.max(cell.sequence_id());
        self.add_timestamp(cell);
    }

    #[inline]
    fn add_timestamp(&mut self, cell: &CellRef<'_>) {
        let (timestamp, code) = (cell.timestamp(), cell.type_code());
        self.timestamp_min = self.timestamp_min.min(timestamp);
        self.timestamp_max = self.timestamp_max.max(timestamp);
        if code == CellType::Put.code() {
            self.earliest_put = self.earliest_put.min(timestamp);
            return;
        }
        self.delete_markers += u64::from(CellType::is_delete_code(code));
        // These delete everything from time 0 on.
        if code == CellType::DeleteColumn.code() || code == CellType::DeleteFamily.code() {
            self.timestamp_min = self.timestamp_min.min(0);
            self.timestamp_max = self.timestamp_max.max(0);
        }
        if is_family_delete(code) {
            self.family_deletes += 1;
        }
    }

    /// Notes that a block ends, whose first and last cell are of these rows.
    pub(crate) fn end_block(&mut self, first_row: &[u8], last_row: &[u8]) {
        self.rows.end_block(self.key_bytes + self.value_bytes, first_row, last_row);
    }

    /// Smallest and largest timestamp.
    pub(crate) fn time_range(&self) -> (i64, i64) {
        (self.timestamp_min, self.timestamp_max)
    }

    /// Adds the figures to the file info.
    pub(crate) fn describe(&self, info: &mut FileInfo, has_tags: bool, has_mvcc: bool) {
        let average = |bytes: u64| bytes.checked_div(self.cells).unwrap_or(0) as i32;
        info.insert(file_info::AVG_KEY_LENGTH, average(self.key_bytes).to_be_bytes());
        info.insert(file_info::AVG_VALUE_LENGTH, average(self.value_bytes).to_be_bytes());
        if self.cells > 0 {
            let size = self.biggest_size as u64;
            info.insert(file_info::KEY_OF_BIGGEST_CELL, self.biggest_key.as_slice());
            info.insert(file_info::LENGTH_OF_BIGGEST_CELL, size.to_be_bytes());
        }
        if self.rows.largest_bytes >= ROW_NOTED {
            let value = [&self.rows.largest_bytes.to_be_bytes()[..], &self.rows.largest];
            info.insert(file_info::LARGEST_ROW, value.concat());
        }
        if has_tags {
            let length = self.tags_length_max as i32;
            info.insert(file_info::MAX_TAGS_LENGTH, length.to_be_bytes());
        }
        if has_mvcc {
            info.insert_mvcc(self.sequence_id_max);
        }
        let range = [self.timestamp_min.to_be_bytes(), self.timestamp_max.to_be_bytes()];
        info.insert(file_info::TIME_RANGE, range.concat());
        info.insert(file_info::EARLIEST_PUT, self.earliest_put.to_be_bytes());
        info.insert(file_info::DELETE_FAMILY_COUNT, self.family_deletes.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of random sizes in blocks that a row may begin or end in: never too large, and too
    /// small by at most what two blocks have.
    #[test]
    fn the_largest_row_is_known_but_for_two_blocks() {
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let (mut rows, mut seen, mut block) = (Rows::default(), 0, Vec::new());
            let (mut begin, mut block_max, mut truth) = (0, 0, 0);
            let block_size = 1 + random(50);
            for row in 0..20_u8 {
                let before = seen;
                for _ in 0..=random(40) {
                    seen += 1 + random(9);
                    block.push([row]);
                    if seen - begin >= block_size {
                        rows.end_block(seen, &block[0], &block[block.len() - 1]);
                        block_max = block_max.max(seen - begin);
                        (begin, block) = (seen, Vec::new());
                    }
                }
                truth = truth.max(seen - before);
            }
            assert!(rows.largest_bytes <= truth, "{} of {truth}", rows.largest_bytes);
            assert!(
                rows.largest_bytes + 2 * block_max >= truth,
                "{} of {truth}",
                rows.largest_bytes
            );
        }
    }
}
