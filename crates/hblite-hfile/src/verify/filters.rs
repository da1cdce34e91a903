//! Checks that the Bloom filters have the keys of the file.

use hblite_model::{BloomType, CellRef};

use super::blocks::Blocks;
use super::{Checked, DefectKind, check};
use crate::block::BlockType;
use crate::bloom::{BloomReader, is_family_delete, write_row_column_key};
use crate::file_info;
use crate::reader::HFileReader;

/// The filters of a file, and how many keys they must hold.
#[derive(Debug)]
pub(super) struct Filters<'a> {
    reader: &'a HFileReader,
    keys: u64,
    last_key: Vec<u8>,
    deleted_rows: u64,
    last_deleted_row: Vec<u8>,
}

impl<'a> Filters<'a> {
    pub(super) fn new(reader: &'a HFileReader) -> Self {
        Self {
            reader,
            keys: 0,
            last_key: Vec::new(),
            deleted_rows: 0,
            last_deleted_row: Vec::new(),
        }
    }

    /// Queries the keys of a cell.
    pub(super) fn check(
        &mut self,
        cell: &CellRef<'_>,
        is_new_column: bool,
        offset: u64,
    ) -> Checked<()> {
        let (general, deletes) = self.reader.filters();
        if let Some(filter) = general.filter(|_| is_new_column) {
            self.check_general(filter, cell, offset)?;
        }
        if let Some(filter) = deletes.filter(|_| is_family_delete(cell.type_code())) {
            self.check_delete(filter, cell, offset)?;
        }
        Ok(())
    }

    fn check_general(
        &mut self,
        filter: &BloomReader,
        cell: &CellRef<'_>,
        offset: u64,
    ) -> Checked<()> {
        let (file, row) = (self.reader.file(), cell.row());
        let knows = match self.reader.bloom_type() {
            BloomType::RowCol => {
                self.keys += 1;
                self.last_key.clear();
                write_row_column_key(&mut self.last_key, row, cell.qualifier());
                filter.may_contain_column(file, row, cell.qualifier())?
            }
            bloom_type => {
                let length = match bloom_type {
                    BloomType::RowPrefixFixedLength => self.reader.bloom_prefix_length(),
                    _ => row.len(),
                };
                let key = &row[..row.len().min(length)];
                if self.keys > 0 && key == self.last_key {
                    return Ok(());
                }
                self.keys += 1;
                self.last_key.clear();
                self.last_key.extend_from_slice(key);
                filter.may_contain_row(file, key)?
            }
        };
        self.check_bloom(knows, offset, || format!("the general filter denies {cell}"))
    }

    fn check_delete(
        &mut self,
        filter: &BloomReader,
        cell: &CellRef<'_>,
        offset: u64,
    ) -> Checked<()> {
        let row = cell.row();
        if self.deleted_rows > 0 && row == self.last_deleted_row {
            return Ok(());
        }
        self.deleted_rows += 1;
        self.last_deleted_row.clear();
        self.last_deleted_row.extend_from_slice(row);
        let knows = filter.may_contain_row(self.reader.file(), row)?;
        self.check_bloom(knows, offset, || format!("the filter of family deletes denies {cell}"))
    }

    fn check_bloom(
        &self,
        condition: bool,
        offset: u64,
        message: impl FnOnce() -> String,
    ) -> Checked<()> {
        check(self.reader, condition, DefectKind::Bloom, offset, message)
    }

    /// Compares the numbers of keys, after all cells.
    pub(super) fn finish(&self) -> Checked<()> {
        let at = self.reader.trailer().file_info_offset;
        let (general, deletes) = self.reader.filters();
        let counts =
            [("general", general, self.keys), ("delete family", deletes, self.deleted_rows)];
        for (name, filter, expected) in counts {
            let found = filter.map_or(expected, |filter| filter.meta().keys);
            self.check_bloom(found == expected, at, || {
                format!("the {name} filter gives {found} keys, but there are {expected}")
            })?;
        }
        let last = self.reader.file_info(file_info::LAST_BLOOM_KEY);
        let is_last = general.is_none() || last == Some(self.last_key.as_slice());
        self.check_bloom(is_last, at, || {
            "file info gives another last key than the general filter".to_owned()
        })?;
        let is_described = self.reader.described_bloom_type() != BloomType::None;
        self.check_bloom(is_described == general.is_some(), at, || {
            "file info names a general filter that the file does not have".to_owned()
        })
    }
}

/// Checks that the filters name every Bloom chunk, each once, in the order of their keys.
pub(super) fn check_chunks(reader: &HFileReader, blocks: &Blocks) -> Checked<()> {
    let (general, deletes) = reader.filters();
    let at = reader.trailer().file_info_offset;
    let mut places = Vec::new();
    for filter in [general, deletes].into_iter().flatten() {
        let mut last: Option<&[u8]> = None;
        for (offset, size, first_key) in filter.chunks() {
            let ascends = last.is_none_or(|last| filter.compare(last, first_key).is_lt());
            check(reader, ascends, DefectKind::Bloom, offset, || {
                "first keys of Bloom chunks do not ascend".to_owned()
            })?;
            last = Some(first_key);
            places.push((offset, size));
        }
    }
    places.sort_unstable();
    check(reader, places == blocks.of(BlockType::BloomChunk), DefectKind::Bloom, at, || {
        "the filters do not name the Bloom chunks of the file".to_owned()
    })
}
