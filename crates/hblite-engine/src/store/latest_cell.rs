//! The latest stored cell of a column or a row, visible or not, delete markers included.
//!
//! A write that knows nothing of the earlier writes to its row asks for it, to get a later
//! timestamp.

use std::ops::RangeInclusive;

use hblite_model::cell::key;
use hblite_model::{CellRef, CellType, Result};

use super::Store;
use super::key_value_scanner::{KeyValueScanner, SourceScanner};

/// The latest cell of those that were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LatestCell {
    pub(crate) timestamp: i64,
    pub(crate) is_marker: bool,
}

impl LatestCell {
    fn of(cell: &CellRef<'_>) -> Self {
        let is_marker = cell.type_code() != CellType::Put.code();
        Self { timestamp: cell.timestamp(), is_marker }
    }
}

impl Store {
    /// The latest cell of a column with one of these timestamps. Costs a search in each segment and
    /// in each file with such timestamps.
    ///
    /// # Errors
    /// Those of the files.
    pub(crate) fn latest_of_column(
        &self,
        row: &[u8],
        qualifier: &[u8],
        times: &RangeInclusive<i64>,
    ) -> Result<Option<LatestCell>> {
        self.latest(row, qualifier, times, |cell| {
            let is_mine = cell.qualifier() == qualifier && cell.timestamp() >= *times.start();
            is_mine.then_some(true)
        })
    }

    /// The latest marker of the whole family in a row, with one of these timestamps.
    ///
    /// # Errors
    /// Those of the files.
    pub(crate) fn latest_family_marker(
        &self,
        row: &[u8],
        times: &RangeInclusive<i64>,
    ) -> Result<Option<LatestCell>> {
        self.latest(row, b"", times, |cell| {
            let is_near = cell.qualifier().is_empty() && cell.timestamp() >= *times.start();
            is_near.then(|| {
                let types = [CellType::DeleteFamily, CellType::DeleteFamilyVersion];
                types.iter().any(|marker| marker.code() == cell.type_code())
            })
        })
    }

    /// The latest cell of a row with one of these timestamps. Costs a look at each cell of the row.
    ///
    /// # Errors
    /// Those of the files.
    pub(crate) fn latest_of_row(
        &self,
        row: &[u8],
        times: &RangeInclusive<i64>,
    ) -> Result<Option<LatestCell>> {
        let mut latest = None;
        self.latest(row, b"", times, |cell| {
            if times.contains(&cell.timestamp()) {
                latest = latest.max(Some(LatestCell::of(cell)));
            }
            Some(false)
        })?;
        Ok(latest)
    }

    /// The latest cell, from the beginning of a column on, for which `look` returns true; it
    /// returns `None` beyond the last cell that matters.
    fn latest(
        &self,
        row: &[u8],
        qualifier: &[u8],
        times: &RangeInclusive<i64>,
        mut look: impl FnMut(&CellRef<'_>) -> Option<bool>,
    ) -> Result<Option<LatestCell>> {
        let view = self.view();
        let segments = view.segments.scanners_of_row(u64::MAX, row).into_iter();
        let is_wanted = |max: i64| max >= *times.start();
        let segments = segments
            .filter(|segment| segment.timestamps().is_some_and(|(_, max)| is_wanted(max)))
            .map(SourceScanner::Memory);
        let files = view.files.iter().filter(|file| is_wanted(file.reader().time_range().1));
        let files = files.map(|file| SourceScanner::File(file.scanner(u64::MAX)));
        let family = self.family().name();
        let mut start = Vec::new();
        key::write(&mut start, row, family, qualifier, *times.end(), CellType::MAXIMUM);
        let mut latest = None;
        for mut source in segments.chain(files) {
            let mut is_at_cell = source.seek(&start)?;
            while let Some(cell) = source.current().filter(|_| is_at_cell) {
                if cell.row() != row || cell.family() != family {
                    break;
                }
                match look(&cell) {
                    None => break,
                    Some(true) => {
                        latest = latest.max(Some(LatestCell::of(&cell)));
                        break;
                    }
                    Some(false) => is_at_cell = source.next()?,
                }
            }
        }
        Ok(latest)
    }
}
