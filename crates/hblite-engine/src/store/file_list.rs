//! The files of a store, and the sorted runs among them.
//!
//! A *sorted run* is a sequence of files, adjacent by age, whose ranges of rows do not overlap.
//! Sorted by rows and read one after the other, they are as good as one file:
//!
//! ```text
//! by age    A  D  C  │ B'   │ E          A has the rows a to b, C those from c to d, ...
//! by row    A  C  D  │ B'   │ E          B' has the rows b to c: rows of A and of C
//! run       0        │ 1    │ 2
//! ```
//!
//! A load in the order of keys makes one long run; one in random order, a run for each file.
//!
//! Invariants: the list is sorted by age, the oldest first, and names each file once. In a run,
//!             each file ends before the next one by rows begins.
//! Costs:      a list is made once per flush and compaction, with a binary search for each file.

use std::collections::HashSet;
use std::ops::{Deref, Range};
use std::sync::Arc;

use hblite_model::CellComparator;
use hblite_model::cell::key;

use super::store_file::StoreFile;
use crate::invariants::ARE_CHECKED;
use crate::row_rank::row_rank_in;

/// A store's files, the oldest first.
#[derive(Debug)]
pub(crate) struct FileList {
    by_age: Box<[Arc<StoreFile>]>,
    /// Run by run, and the files of each run by their rows.
    by_row: Box<[Arc<StoreFile>]>,
    /// Where the runs end, in both.
    ends: Box<[usize]>,
    /// The ranks of the last rows, in the order of `by_row`.
    last_ranks: Box<[u128]>,
    comparator: CellComparator,
}

impl Deref for FileList {
    type Target = [Arc<StoreFile>];

    fn deref(&self) -> &Self::Target {
        &self.by_age
    }
}

impl FileList {
    /// A list of `files`, the oldest first, each once.
    pub(crate) fn new(files: Vec<Arc<StoreFile>>, comparator: CellComparator) -> Self {
        let ids = || files.iter().map(|file| file.sequence_id_max());
        assert!(ids().is_sorted(), "files are listed by age: {:?}", ids().collect::<Vec<_>>());
        let names: HashSet<&str> = files.iter().map(|file| file.name()).collect();
        assert_eq!(names.len(), files.len(), "a store lists a file twice");
        let mut by_row: Vec<Arc<StoreFile>> = Vec::with_capacity(files.len());
        let mut ends = Vec::new();
        let mut start = 0;
        for file in &files {
            let place = place_in_run(&by_row[start..], file, comparator);
            if place.is_none() && !by_row.is_empty() {
                start = by_row.len();
                ends.push(start);
            }
            by_row.insert(start + place.unwrap_or(0), Arc::clone(file));
        }
        if !by_row.is_empty() {
            ends.push(by_row.len());
        }
        let rank = |file: &Arc<StoreFile>| {
            row_range(file).map_or(0, |(_, last)| row_rank_in(comparator, last))
        };
        let last_ranks = by_row.iter().map(rank).collect();
        let list = Self {
            by_age: files.into(),
            by_row: by_row.into(),
            ends: ends.into(),
            last_ranks,
            comparator,
        };
        list.check();
        list
    }

    /// Checks the invariants from the head of this file that are not always checked.
    fn check(&self) {
        if !ARE_CHECKED {
            return;
        }
        for run in 0..self.run_count() {
            for pair in self.by_row[self.range(run)].windows(2) {
                let [left, right] = [&pair[0], &pair[1]].map(|file| row_range(file));
                let is_before = left.zip(right).is_some_and(|((_, last), (first, _))| {
                    self.comparator.compare_rows(last, first).is_lt()
                });
                assert!(is_before, "files of a run have rows in common: {pair:?}");
            }
        }
    }

    /// The number of sorted runs: how many files may have a row.
    #[inline]
    pub(crate) fn run_count(&self) -> usize {
        self.ends.len()
    }

    /// All files, run by run, the oldest run first; those of a run sorted by their rows.
    #[inline]
    pub(crate) fn by_row(&self) -> &[Arc<StoreFile>] {
        &self.by_row
    }

    /// Where the files of a run are, both in the list and in [`FileList::by_row`].
    #[inline]
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[index]
    }

    /// Of these files of a run, as places in [`FileList::by_row`], the first whose rows do not end
    /// before `row`; the end of `places` if there is none.
    pub(crate) fn place_of(&self, places: Range<usize>, row: &[u8]) -> usize {
        let rank = row_rank_in(self.comparator, row);
        let ranks = &self.last_ranks[places.clone()];
        let lower = ranks.partition_point(|of_last| *of_last < rank);
        let equal = ranks[lower..].partition_point(|of_last| *of_last == rank);
        let start = places.start + lower;
        let ends_before = |file: &Arc<StoreFile>| {
            let last = row_range(file).map(|(_, last)| last);
            last.is_none_or(|last| self.comparator.compare_rows(last, row).is_lt())
        };
        start + self.by_row[start..start + equal].partition_point(ends_before)
    }
}

/// Where `file` belongs among the files of a run, if it has no row in common with them and theirs
/// do not lie on both sides of one of its rows.
fn place_in_run(
    run: &[Arc<StoreFile>],
    file: &StoreFile,
    comparator: CellComparator,
) -> Option<usize> {
    // A file without cells is a run of its own.
    let (_, (first, last)) = (row_range(run.first()?)?, row_range(file)?);
    let is_before = |left: &[u8], right: &[u8]| comparator.compare_rows(left, right).is_lt();
    let place = run.partition_point(|other| {
        row_range(other).is_some_and(|(_, last_of_other)| is_before(last_of_other, first))
    });
    let next = run.get(place).and_then(|next| row_range(next));
    next.is_none_or(|(first_of_next, _)| is_before(last, first_of_next)).then_some(place)
}

/// The first and the last row of a file; `None` if it has no cells. For half a file, those of the
/// whole.
pub(crate) fn row_range(file: &StoreFile) -> Option<(&[u8], &[u8])> {
    let reader = file.reader();
    Some((key::row(reader.first_key()?), key::row(reader.last_key()?)))
}

#[cfg(test)]
mod tests {
    use hblite_model::CellType;
    use hblite_model::cell::Cell;

    use super::*;
    use crate::store::store_scanner::random_reads::{Dice, cell};
    use crate::store::test_files::list_of;

    fn cells_of(rows: &[&str]) -> Vec<Cell> {
        rows.iter().map(|row| cell((row, "f", "q"), 1, CellType::Put, 1)).collect()
    }

    /// The first rows of the files of each run, sorted by rows.
    fn runs(list: &FileList) -> Vec<String> {
        let first_row = |file: &Arc<StoreFile>| match row_range(file) {
            Some((first, _)) => String::from_utf8_lossy(first).into_owned(),
            None => "-".into(),
        };
        let of_run = |run| list.by_row()[list.range(run)].iter().map(first_row).collect();
        (0..list.run_count()).map(of_run).collect()
    }

    #[test]
    fn files_without_common_rows_are_a_run() {
        for (files, expected) in [
            (&[][..], &[][..]),
            (&[&["a", "b"][..]], &["a"]),
            (&[&["a", "b"], &["c", "d"], &["e"]], &["ace"]),
            (&[&["e"], &["c", "d"], &["a", "b"], &["f"]], &["acef"]),
            // A common row, at either end; rows inside of others; rows around others.
            (&[&["a", "c"], &["c", "d"]], &["a", "c"]),
            (&[&["c", "d"], &["a", "c"]], &["c", "a"]),
            (&[&["a", "d"], &["b", "c"]], &["a", "b"]),
            (&[&["b"], &["a", "c"], &["d"]], &["b", "ad"]),
            (&[&["a"], &["c"], &["b"], &["a", "b"], &["c"], &["b"]], &["abc", "ac", "b"]),
            (&[&["a"], &[], &["b"], &["c"]], &["a", "-", "bc"]),
        ] {
            let files: Vec<_> = files.iter().map(|rows| cells_of(rows)).collect();
            let list = list_of(files.iter().map(Vec::as_slice), 1000);
            assert_eq!(runs(&list), expected, "{files:?}");
        }
    }

    #[test]
    fn runs_divide_the_files_and_have_each_row_once() {
        for seed in 0..200 {
            let dice = Dice::new(seed);
            let rows: Vec<String> = (0..30).map(|row| format!("{row:02}")).collect();
            let file = || {
                let first = dice.roll(30);
                let last = (first + dice.roll(4)).min(29);
                let rows: Vec<_> = (first..=last).map(|row| rows[row as usize].as_str()).collect();
                cells_of(&rows)
            };
            let files: Vec<Vec<Cell>> = (0..dice.roll(20)).map(|_| file()).collect();
            let list = list_of(files.iter().map(Vec::as_slice), 1000);
            let mut end = 0;
            for run in 0..list.run_count() {
                let range = list.range(run);
                assert_eq!(range.start, end, "seed {seed}");
                end = range.end;
                let mut of_run = list.by_row()[range.clone()].to_vec();
                for pair in of_run.windows(2) {
                    let [left, right] = [&pair[0], &pair[1]].map(|file| row_range(file).unwrap());
                    assert!(left.1 < right.0, "seed {seed}");
                }
                of_run.sort_by_key(|file| file.name().to_owned());
                let same = of_run.iter().zip(&list[range]).all(|(one, two)| Arc::ptr_eq(one, two));
                assert!(same, "seed {seed}");
            }
            assert_eq!(end, files.len(), "seed {seed}");
        }
    }
}
