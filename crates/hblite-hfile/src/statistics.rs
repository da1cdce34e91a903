//! What a writer collects about the cells it writes, for the file info.

use hblite_model::cell::KEY_VALUE_HEADER_SIZE;
use hblite_model::{CellRef, CellType};

use crate::bloom::is_family_delete;
use crate::file_info::{self, FileInfo};

/// What HBase adds to the serialized size of a cell (`estimatedSerializedSizeOf`).
const CELL_SIZE_OVERHEAD: usize = 4;
/// Bytes of the length in front of tags.
const TAGS_LENGTH_SIZE: usize = 2;

/// Running figures over all cells.
#[derive(Debug)]
pub(crate) struct Statistics {
    pub(crate) cells: u64,
    key_bytes: u64,
    value_bytes: u64,
    biggest_size: usize,
    biggest_key: Vec<u8>,
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
