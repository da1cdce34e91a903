//! Computes what a read returns from one row of one family.
//!
//! Cells are examined column by column, the newest first:
//!
//! 1. If MIN_VERSIONS is 0, a cell older than the family's time to live is ignored. Raw reads
//!    return it.
//! 2. A cell older than its own time to live is ignored, in raw reads too.
//! 3. Unless the read is raw, a delete marker masks the puts after it if its timestamp is in the
//!    time range, or after the range and the family has no KEEP_DELETED_CELLS.
//! 4. A cell outside the time range, or in a column that was not requested, is skipped.
//! 5. Of cells with equal keys, the first is kept. Puts are counted up to the requested versions,
//!    or, with a filter, up to VERSIONS; those older than the time to live only up to
//!    MIN_VERSIONS. In named columns, the first expired version at or after MIN_VERSIONS still
//!    passes; with NEW_VERSION_BEHAVIOR, the last of MIN_VERSIONS passes, however many were
//!    requested.
//! 6. The filter decides next, and the versions that pass it are counted again. If it names a later
//!    column, the read skips everything before that column, including the family's markers, which
//!    may follow the puts of the empty qualifier.
//! 7. Offset and limit count cells of the whole family; the limit ends the row.

use crate::cell::{Family, StoredCell};
use crate::filter::{FilterRun, Verdict};
use crate::new_versions::survivors;
use crate::read::Read;

/// A read of one family.
pub struct FamilyRead<'r> {
    read: &'r Read,
    family: &'r Family,
    range: (i64, i64),
    /// Named columns; `None` wants all.
    columns: Option<Vec<&'r [u8]>>,
    /// Versions of the answer.
    result_max: i32,
    /// Versions that are examined.
    checked_max: i32,
    oldest: i64,
    now: i64,
}

/// How far a column, and the row, has been read.
#[derive(Default)]
struct Progress {
    count: i32,
    passed: i32,
    last: Option<StoredCell>,
    is_column_over: bool,
}

impl<'r> FamilyRead<'r> {
    /// `None` if nothing of the family is wanted.
    pub fn new(read: &'r Read, family: &'r Family, now: i64) -> Option<Self> {
        let columns = read.columns_of(&family.name)?;
        let result_max =
            if read.is_raw { read.versions } else { read.versions.min(family.versions) };
        let checked_max = match (&read.filter, read.is_raw) {
            (None, _) => result_max,
            (Some(_), true) => i32::MAX,
            (Some(_), false) => family.versions,
        };
        let oldest = if read.is_raw { 0 } else { family.oldest_unexpired(now) };
        let range = read.range_of(&family.name);
        let has_new_versions = family.new_version_behavior && !read.is_raw;
        let checked_max = if has_new_versions { result_max } else { checked_max };
        Some(Self { read, family, range, columns, result_max, checked_max, oldest, now })
    }

    /// The timestamps that are wanted, from the first to before the second.
    pub fn range(&self) -> (i64, i64) {
        self.range
    }

    /// What is returned of a row whose cells, in their order, are `cells`.
    pub fn row(&self, cells: &[StoredCell], filter: &mut Option<FilterRun<'_>>) -> Vec<StoredCell> {
        let mut markers: Vec<&StoredCell> = Vec::new();
        let mut returned = Vec::new();
        let mut cells_of_family = 0;
        let mut skip_to: Option<Vec<u8>> = None;
        for column in cells.chunk_by(|left, right| left.qualifier == right.qualifier) {
            let survivors = self.survivors(cells, column);
            let mut progress = Progress::default();
            for cell in column {
                if skip_to.as_ref().is_some_and(|qualifier| cell.qualifier < *qualifier)
                    || !self.is_alive(cell)
                {
                    continue;
                }
                if cell.is_marker() && !self.read.is_raw {
                    if self.is_in_force(cell) {
                        markers.push(cell);
                    }
                    continue;
                }
                let is_masked = match &survivors {
                    _ if self.read.is_raw => false,
                    Some(survivors) => !survivors.contains(&cell),
                    None => markers.iter().any(|marker| marker.masks(cell)),
                };
                if is_masked || !self.is_wanted(cell) || !self.counts(cell, &mut progress) {
                    continue;
                }
                let verdict = filter.as_mut().map(|filter| filter.judge(&self.family.name, cell));
                match verdict {
                    None => {}
                    Some(Verdict::Include) => {
                        progress.passed += 1;
                        if progress.passed > self.result_max {
                            progress.is_column_over = self.ends_behind_filter(cell);
                            continue;
                        }
                    }
                    Some(Verdict::Skip) => continue,
                    Some(Verdict::SkipTo(qualifier)) => {
                        // In a reverse scan a hint leads the other way.
                        skip_to = Some(qualifier).filter(|_| !self.read.is_reversed);
                        continue;
                    }
                    Some(Verdict::EndRow) => return returned,
                }
                cells_of_family += 1;
                if cells_of_family > self.read.family_offset {
                    let mut cell = cell.clone();
                    if let Some(filter) = filter {
                        cell.value = filter.value(cell.value);
                    }
                    returned.push(cell);
                    let limit = self.read.family_limit;
                    if limit >= 0 && cells_of_family >= limit + self.read.family_offset {
                        return returned;
                    }
                }
            }
        }
        returned
    }

    /// With NEW_VERSION_BEHAVIOR, the puts of a column that are there.
    fn survivors<'c>(
        &self,
        row: &'c [StoredCell],
        column: &'c [StoredCell],
    ) -> Option<Vec<&'c StoredCell>> {
        if !self.family.new_version_behavior || self.read.is_raw {
            return None;
        }
        let puts: Vec<&StoredCell> = column
            .iter()
            .filter(|cell| !cell.is_marker() && !cell.is_expired_itself(self.now))
            .collect();
        let markers: Vec<&StoredCell> =
            row.iter().filter(|cell| cell.is_marker() && self.is_in_force(cell)).collect();
        Some(survivors(&puts, &markers, self.family.versions as usize))
    }

    fn is_alive(&self, cell: &StoredCell) -> bool {
        let is_over = cell.timestamp < self.oldest
            && self.family.min_versions == 0
            && (self.read.is_raw || !self.family.new_version_behavior);
        !is_over && !cell.is_expired_itself(self.now)
    }

    fn is_in_force(&self, marker: &StoredCell) -> bool {
        let (min, max) = self.range;
        let keeps = self.family.keep_deleted_cells != hblite_model::KeepDeletedCells::False;
        marker.timestamp >= min && (marker.timestamp < max || !keeps)
    }

    fn is_wanted(&self, cell: &StoredCell) -> bool {
        let (min, max) = self.range;
        let columns = self.columns.as_ref();
        (min..max).contains(&cell.timestamp)
            && columns.is_none_or(|columns| columns.contains(&cell.qualifier.as_slice()))
    }

    /// Whether the rest of a column is skipped once enough versions have passed the filter. If not,
    /// the filter still sees those versions, and may judge the row by them. That concerns the empty
    /// qualifier, because the family's markers may be among its versions, and named columns with
    /// NEW_VERSION_BEHAVIOR.
    fn ends_behind_filter(&self, cell: &StoredCell) -> bool {
        let is_named = self.columns.is_some();
        match self.family.new_version_behavior && !self.read.is_raw {
            true => !is_named,
            false => is_named || !cell.qualifier.is_empty(),
        }
    }

    /// Counts a version; whether it is one of those that are wanted.
    fn counts(&self, cell: &StoredCell, progress: &mut Progress) -> bool {
        let is_repeated = progress.last.as_ref().is_some_and(|last| last.has_key_of(cell));
        if progress.is_column_over || is_repeated {
            return false;
        }
        progress.count += i32::from(!cell.is_marker());
        let (count, max, min) = (progress.count, self.checked_max, self.family.min_versions);
        let is_expired = cell.timestamp < self.oldest;
        let is_named = self.columns.is_some();
        let (passes, ends_column) = if self.family.new_version_behavior && !self.read.is_raw {
            let is_last_expired = is_expired && count >= min;
            let passes = if is_last_expired { count == min } else { count <= max };
            // The way to the next of named columns leads to the next version.
            (passes, !is_named && (count >= max || is_last_expired))
        } else if is_named {
            (true, count >= max || (count >= min && is_expired))
        } else {
            let passes = count <= max && (count <= min || !is_expired);
            (passes, !passes)
        };
        progress.is_column_over = ends_column;
        if passes {
            progress.last = Some(cell.clone());
        }
        passes
    }
}
