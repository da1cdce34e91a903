//! A family of a region: a memstore, files, and what flushes and compactions write.
//!
//! Cells are written row by row and column by column, the newest first:
//!
//! 1. If MIN_VERSIONS is 0, a cell older than the family's time to live ends its column.
//! 2. A cell older than its own time to live is dropped.
//! 3. A delete marker applies to all cells after it, unless KEEP_DELETED_CELLS keeps what it masks.
//!    Flushes and minor compactions write markers. Major compactions write them only if
//!    KEEP_DELETED_CELLS keeps them and the store has a put at least as old: a marker older than
//!    the oldest put ends its column.
//! 4. A masked put is dropped. If the marker also masks all older versions, the column ends.
//! 5. Of cells with equal keys, the first is kept. The column ends after VERSIONS puts, or at a put
//!    that is older than the time to live once MIN_VERSIONS puts are kept.
//!
//! When a column ends, its markers end too. The exception is the empty qualifier, under which the
//! family's markers are stored. With NEW_VERSION_BEHAVIOR, flushes and minor compactions write
//! everything.

use hblite::{CellType, KeepDeletedCells};
use hblite_reference::cell::{Family, StoredCell, sorted};
use hblite_reference::new_versions::survivors;

use super::engine::FileFound;

/// A file of a store.
#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    pub(crate) cells: Vec<StoredCell>,
    /// Timestamp of its oldest put; a half of a file has that of the whole.
    earliest_put: Option<i64>,
    /// Its timestamps, of a half those of the whole.
    timestamps: Option<(i64, i64)>,
    /// Half of a file of the region that was split or merged.
    pub(crate) is_reference: bool,
    /// The engine's file, if it is known which one that is.
    pub(crate) found: Option<FileFound>,
}

/// What happens to markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Markers {
    Retain,
    Drop,
}

/// One family of one region.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) family: Family,
    pub(crate) memstore: Vec<StoredCell>,
    /// Oldest first.
    pub(crate) files: Vec<File>,
}

impl Store {
    pub(crate) fn new(family: Family) -> Self {
        Self { family, memstore: Vec::new(), files: Vec::new() }
    }

    /// The cells of a row, in order. A memstore or file that has no timestamp in the range is not
    /// examined, which shows only where versions are counted regardless of the range: with
    /// NEW_VERSION_BEHAVIOR.
    pub(crate) fn row(&self, row: &[u8], (min, max): (i64, i64)) -> Vec<StoredCell> {
        let meets_range =
            |span: Option<(i64, i64)>| span.is_some_and(|(from, to)| from < max && to >= min);
        let is_memory_wanted = meets_range(span(&self.memstore));
        let in_memory = self.memstore.iter().filter(|_| is_memory_wanted);
        let files = self.files.iter().filter(|file| meets_range(file.timestamps));
        let cells = in_memory.chain(files.flat_map(|file| &file.cells));
        sorted(cells.filter(|cell| cell.row == row).cloned())
    }

    /// All rows with stored cells.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Vec<u8>> {
        let cells = self.memstore.iter().chain(self.files.iter().flat_map(|file| &file.cells));
        cells.map(|cell| &cell.row)
    }

    pub(crate) fn has_references(&self) -> bool {
        self.files.iter().any(|file| file.is_reference)
    }

    /// A file of what is in memory.
    pub(crate) fn flush(&mut self, now: i64) {
        if !self.memstore.is_empty() {
            let cells = std::mem::take(&mut self.memstore);
            self.files.push(self.write(cells, Markers::Retain, i64::MIN, now));
        }
    }

    /// Makes one file of all files. Cells in memory stay there, so a marker may be gone before a
    /// put that it masked.
    pub(crate) fn compact_major(&mut self, now: i64) {
        if !self.files.is_empty() {
            self.compact_run(0..self.files.len(), now);
        }
    }

    /// Compacts until nothing is left to do.
    pub(crate) fn compact_minor(&mut self, now: i64) {
        while self.compact_once(now) {}
    }

    /// One compaction, of what the policy chooses where sizes do not matter: of all files if one of
    /// them is a reference, else of three neighbours, the smallest together first. False if there
    /// is none.
    pub(crate) fn compact_once(&mut self, now: i64) -> bool {
        let run = if self.has_references() {
            0..self.files.len()
        } else if self.files.len() >= 3 {
            let size = |start: &usize| -> u64 {
                self.files[*start..start + 3]
                    .iter()
                    .flat_map(|file| &file.found)
                    .map(|(_, size)| size)
                    .sum()
            };
            let start = (0..=self.files.len() - 3).min_by_key(size).unwrap_or(0);
            start..start + 3
        } else {
            return false;
        };
        self.compact_run(run, now);
        true
    }

    /// Whether a minor compaction of more than three files depends on a size that is not known.
    pub(crate) fn depends_on_sizes(&self) -> bool {
        !self.has_references() && self.files.iter().any(|file| file.found.is_none())
    }

    /// A run of all files is a major compaction, however it came about.
    fn compact_run(&mut self, run: std::ops::Range<usize>, now: i64) {
        let is_all = run.len() == self.files.len();
        let markers = if is_all { Markers::Drop } else { Markers::Retain };
        let chosen: Vec<File> = self.files.drain(run.clone()).collect();
        let earliest_put = chosen.iter().filter_map(|file| file.earliest_put).min();
        let cells = chosen.into_iter().flat_map(|file| file.cells).collect();
        let file = self.write(cells, markers, earliest_put.unwrap_or(i64::MAX), now);
        self.files.insert(run.start, file);
    }

    /// The part of the store in the rows from `start` to `end` after a split: a file that has all
    /// its rows there as it is, and references to the others that have some.
    pub(crate) fn part(&self, start: &[u8], end: &[u8]) -> Self {
        let is_inside =
            |cell: &&StoredCell| &*cell.row >= start && (end.is_empty() || &*cell.row < end);
        let mut part = Self::new(self.family.clone());
        for file in &self.files {
            let cells: Vec<StoredCell> = file.cells.iter().filter(is_inside).cloned().collect();
            if cells.len() == file.cells.len() && !cells.is_empty() {
                part.files.push(file.clone());
            } else if !cells.is_empty() {
                let file = File { cells, ..file.clone() };
                part.files.push(File { is_reference: true, found: None, ..file });
            }
        }
        part
    }

    /// The store of a merged region: it refers to all files, also those without cells.
    pub(crate) fn merged_with(&self, other: &Self) -> Self {
        let mut merged = Self::new(self.family.clone());
        for file in self.files.iter().chain(&other.files) {
            merged.files.push(File { is_reference: true, found: None, ..file.clone() });
        }
        merged
    }

    fn write(&self, cells: Vec<StoredCell>, markers: Markers, earliest_put: i64, now: i64) -> File {
        let cells = sorted(cells);
        let mut kept = Vec::new();
        for row in cells.chunk_by(|left, right| left.row == right.row) {
            if self.family.new_version_behavior && markers == Markers::Drop {
                kept.extend(self.surviving_cells(row, now));
            } else if self.family.new_version_behavior {
                kept.extend(row.iter().cloned());
            } else {
                kept.extend(self.written_cells(row, markers, earliest_put, now));
            }
        }
        let puts = kept.iter().filter(|cell| !cell.is_marker());
        let earliest_put = puts.map(|put| put.timestamp).min();
        let timestamps = span(&kept);
        File { cells: kept, earliest_put, timestamps, is_reference: false, found: None }
    }

    fn written_cells(
        &self,
        row: &[StoredCell],
        markers: Markers,
        earliest_put: i64,
        now: i64,
    ) -> Vec<StoredCell> {
        let family = &self.family;
        let oldest = family.oldest_unexpired(now);
        let keep = family.keep_deleted_cells;
        let mut in_force: Vec<&StoredCell> = Vec::new();
        let mut kept: Vec<StoredCell> = Vec::new();
        for column in row.chunk_by(|left, right| left.qualifier == right.qualifier) {
            let has_family_markers = column[0].qualifier.is_empty();
            let mut count = 0;
            let mut last: Option<&StoredCell> = None;
            let mut is_over = false;
            for cell in column {
                let is_expired = cell.timestamp < oldest;
                is_over |= is_expired && family.min_versions == 0;
                if is_over && !(has_family_markers && cell.is_marker()) {
                    continue;
                }
                if cell.is_expired_itself(now) || (is_expired && family.min_versions == 0) {
                    continue;
                }
                if cell.is_marker() {
                    if masks_when_written(keep, is_expired) {
                        in_force.push(cell);
                    }
                    if markers == Markers::Retain {
                        kept.push(cell.clone());
                        continue;
                    }
                    if masks_when_written(keep, is_expired) {
                        continue;
                    }
                    if cell.timestamp < earliest_put {
                        is_over = true;
                        continue;
                    }
                } else if let Some(masks_older) = masked(cell, &in_force) {
                    is_over |= masks_older;
                    continue;
                }
                if is_over || last.is_some_and(|last| last.has_key_of(cell)) {
                    continue;
                }
                count += i32::from(!cell.is_marker());
                if count > family.versions || (count > family.min_versions && is_expired) {
                    is_over = true;
                    continue;
                }
                last = Some(cell);
                kept.push(cell.clone());
            }
        }
        kept
    }

    /// With NEW_VERSION_BEHAVIOR, what a major compaction writes.
    fn surviving_cells(&self, row: &[StoredCell], now: i64) -> Vec<StoredCell> {
        let oldest = self.family.oldest_unexpired(now);
        let mut kept = Vec::new();
        for column in row.chunk_by(|left, right| left.qualifier == right.qualifier) {
            let puts: Vec<&StoredCell> = column
                .iter()
                .filter(|cell| !cell.is_marker() && !cell.is_expired_itself(now))
                .collect();
            let markers: Vec<&StoredCell> = row.iter().filter(|cell| cell.is_marker()).collect();
            let survivors = survivors(&puts, &markers, self.family.versions as usize);
            let min = self.family.min_versions as usize;
            let is_wanted =
                |(index, put): &(usize, &&StoredCell)| *index < min || put.timestamp >= oldest;
            let newest = survivors.iter().take(self.family.versions as usize);
            let wanted = newest.enumerate().filter(is_wanted);
            kept.extend(wanted.map(|(_, put)| (*put).clone()));
        }
        kept
    }
}

/// From the oldest to the newest timestamp. What deletes all older versions reaches down to 0.
fn span(cells: &[StoredCell]) -> Option<(i64, i64)> {
    let oldest = |cell: &StoredCell| match cell.cell_type {
        CellType::DeleteFamily | CellType::DeleteColumn => 0,
        _ => cell.timestamp,
    };
    let newest = cells.iter().map(|cell| cell.timestamp).max()?;
    Some((cells.iter().map(oldest).min()?, newest))
}

/// Whether a marker masks what is written to a file: not if deleted cells are kept.
fn masks_when_written(keep: KeepDeletedCells, is_expired: bool) -> bool {
    match keep {
        KeepDeletedCells::False => true,
        KeepDeletedCells::Ttl => is_expired,
        KeepDeletedCells::True => false,
    }
}

/// Whether a put is masked, and if so, whether all older versions of its column are too. A marker
/// of this version of the family is asked before those of the column.
fn masked(put: &StoredCell, markers: &[&StoredCell]) -> Option<bool> {
    [
        (CellType::DeleteFamily, true),
        (CellType::DeleteFamilyVersion, false),
        (CellType::DeleteColumn, true),
        (CellType::Delete, false),
    ]
    .into_iter()
    .find(|(kind, _)| markers.iter().any(|m| m.cell_type == *kind && m.masks(put)))
    .map(|(_, masks_older)| masks_older)
}
