//! A sorted run of store files as one source of cells.
//!
//! Only the file that the scan is at has a scanner. The next one is opened when the scan gets
//! there, so a scan opens one file at a time, and its cells need no merge.
//!
//! Invariant: no two files have a row in common (see `store/file_list.rs`), so every row is within
//! one file, and the files one after the other are in the order of keys.

use std::ops::Range;
use std::sync::Arc;

use hblite_hfile::{BlockCells, BlockUse};
use hblite_model::cell::{CellRef, key};
use hblite_model::{Direction, Result};

use super::{KeyValueScanner, StoreFileScanner, Timestamps, WalkedBack};
use crate::store::file_list::FileList;

/// A position in one of the files of a run.
pub(crate) struct RunScanner {
    list: Arc<FileList>,
    /// The files, as places in [`FileList::by_row`]; not empty.
    places: Range<usize>,
    /// The file that has a scanner.
    at: usize,
    scanner: StoreFileScanner,
    read_point: u64,
    block_use: BlockUse,
    /// `None`: all.
    timestamps: Option<Timestamps>,
}

impl RunScanner {
    /// A scanner of those cells of files of a run that `read_point` covers, at no cell yet.
    /// `places` are the files' in [`FileList::by_row`], at least one. Files without any of the
    /// `timestamps` are left out.
    pub(crate) fn new(
        list: Arc<FileList>,
        places: Range<usize>,
        read_point: u64,
        block_use: BlockUse,
        timestamps: Option<Timestamps>,
    ) -> Self {
        let first = &list.by_row()[places.start];
        Self {
            scanner: first.scanner(read_point).with_block_use(block_use),
            at: places.start,
            list,
            places,
            read_point,
            block_use,
            timestamps,
        }
    }

    /// Opens a file, and moves in it if it has timestamps that are wanted.
    fn enter(
        &mut self,
        at: usize,
        move_in: impl FnOnce(&mut StoreFileScanner) -> Result<bool>,
    ) -> Result<bool> {
        let file = &self.list.by_row()[at];
        if at != self.at {
            self.at = at;
            self.scanner = file.scanner(self.read_point).with_block_use(self.block_use);
        }
        let times = file.reader().time_range();
        if self.timestamps.is_none_or(|wanted| wanted.overlap(times)) {
            move_in(&mut self.scanner)
        } else {
            Ok(false)
        }
    }

    /// Moves on to the first cell of later files, or back to the last cell of earlier ones.
    #[cold]
    fn leave(&mut self, direction: Direction) -> Result<bool> {
        loop {
            let next = match direction {
                Direction::Forward => Some(self.at + 1),
                Direction::Reverse => self.at.checked_sub(1),
            };
            let Some(next) = next.filter(|at| self.places.contains(at)) else { return Ok(false) };
            // No cell of a file may be visible.
            let found = self.enter(next, |scanner| match direction {
                Direction::Forward => scanner.seek_first(),
                Direction::Reverse => scanner.seek_last(),
            })?;
            if found {
                return Ok(true);
            }
        }
    }

    /// The file that has the row of `key`, or the next row; the last one if there is none.
    fn place_of(&self, key: &[u8]) -> usize {
        let place = self.list.place_of(self.places.clone(), key::row(key));
        place.min(self.places.end - 1)
    }
}

impl KeyValueScanner for RunScanner {
    #[inline(always)]
    fn current(&self) -> Option<CellRef<'_>> {
        self.scanner.current()
    }

    #[inline(always)]
    fn current_key(&self) -> Option<&[u8]> {
        self.scanner.current_key()
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        Ok(self.scanner.next()? || self.leave(Direction::Forward)?)
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        Ok(self.scanner.prev()? || self.leave(Direction::Reverse)?)
    }

    fn seek(&mut self, key: &[u8]) -> Result<bool> {
        let found = self.enter(self.place_of(key), |scanner| scanner.seek(key))?;
        Ok(found || self.leave(Direction::Forward)?)
    }

    fn reseek(&mut self, key: &[u8]) -> Result<bool> {
        let current = self.at..self.at + 1;
        if self.list.place_of(current.clone(), key::row(key)) == current.end {
            return self.seek(key);
        }
        Ok(self.scanner.reseek(key)? || self.leave(Direction::Forward)?)
    }

    fn seek_before(&mut self, key: &[u8]) -> Result<bool> {
        let found = self.enter(self.place_of(key), |scanner| scanner.seek_before(key))?;
        Ok(found || self.leave(Direction::Reverse)?)
    }

    fn seek_first(&mut self) -> Result<bool> {
        let found = self.enter(self.places.start, StoreFileScanner::seek_first)?;
        Ok(found || self.leave(Direction::Forward)?)
    }

    fn seek_last(&mut self) -> Result<bool> {
        let found = self.enter(self.places.end - 1, StoreFileScanner::seek_last)?;
        Ok(found || self.leave(Direction::Reverse)?)
    }

    fn walk_back(&mut self, cells: usize, row: &mut Vec<u8>) -> Result<WalkedBack> {
        match self.scanner.walk_back(cells, row)? {
            WalkedBack::NoRow if self.leave(Direction::Reverse)? => self.scanner.walk_back(0, row),
            walked => Ok(walked),
        }
    }

    #[inline]
    fn block(&self) -> Option<(BlockCells<'_>, usize)> {
        self.scanner.block()
    }

    fn move_in_block(&mut self, cell: usize, cells_read: u64) {
        self.scanner.move_in_block(cell, cells_read);
    }
}

#[cfg(test)]
mod tests {
    use hblite_model::cell::{Cell, CellType};
    use hblite_model::{CellComparator, TimeRange};

    use super::*;
    use crate::store::key_value_scanner::WALK_CELLS_MAX;
    use crate::store::store_file::StoreFile;
    use crate::store::store_scanner::random_reads::{Dice, cell};
    use crate::store::test_files::{list_of, reader_of};

    /// Cells of a few rows each, for up to five files. Each file's are around a time of its own.
    fn random_files(dice: &Dice) -> Vec<Vec<Cell>> {
        let (mut row, mut sequence_id) = (0, 0);
        let mut file = |time: u64| {
            let mut cells = Vec::new();
            for _ in 0..1 + dice.roll(5) {
                row += 1;
                let columns =
                    if dice.hit(9) { 2 * WALK_CELLS_MAX as u64 } else { 1 + dice.roll(4) };
                for column in 0..columns {
                    let (row, column) = (format!("r{row:02}"), format!("q{column:02}"));
                    let timestamp = (10 * time + dice.roll(10)) as i64;
                    sequence_id += 1;
                    cells.push(cell((&row, "f", &column), timestamp, CellType::Put, sequence_id));
                }
            }
            cells
        };
        (0..1 + dice.roll(5)).map(&mut file).collect()
    }

    /// What a move led to: the cell, and what the move said.
    type Outcome = (Option<Cell>, String, Vec<u8>);

    fn moved(
        scanner: &mut dyn KeyValueScanner,
        choice: u64,
        key: &[u8],
        cells_before: usize,
    ) -> Outcome {
        let mut row = Vec::new();
        let said = match choice {
            0 => scanner.seek_first().map(|found| found.to_string()),
            1 => scanner.seek_last().map(|found| found.to_string()),
            2 => scanner.seek(key).map(|found| found.to_string()),
            3 => scanner.seek_before(key).map(|found| found.to_string()),
            4 => scanner.reseek(key).map(|found| found.to_string()),
            5 => scanner.prev().map(|found| found.to_string()),
            6 => scanner.walk_back(cells_before, &mut row).map(|walked| format!("{walked:?}")),
            _ => scanner.next().map(|found| found.to_string()),
        };
        let said = said.unwrap();
        // The row is only told where the walk ended inside of one.
        let row = if said == "Inside" { row } else { Vec::new() };
        let cell =
            if said == "NoRow" { None } else { scanner.current().map(|cell| cell.to_cell()) };
        (cell, said, row)
    }

    #[test]
    fn a_run_moves_as_one_file_with_all_its_cells() {
        let mut crossings = 0;
        for seed in 0..400 {
            let dice = Dice::new(seed);
            let files = random_files(&dice);
            let cells_max = files.iter().map(Vec::len).sum::<usize>() as u64;
            let read_point = if dice.hit(2) { u64::MAX } else { dice.roll(cells_max + 2) };
            let (first, last) = (dice.roll(50) as i64, dice.roll(50) as i64);
            let timestamps = dice.hit(3).then(|| Timestamps {
                range: TimeRange::new(first.min(last), first.max(last)).unwrap(),
                oldest_unexpired: dice.roll(20) as i64,
            });
            let is_wanted = |cells: &&Vec<Cell>| {
                let times = || cells.iter().map(|cell| cell.as_ref().timestamp());
                let range = (times().min().unwrap(), times().max().unwrap());
                timestamps.is_none_or(|wanted| wanted.overlap(range))
            };
            let all: Vec<Cell> = files.iter().filter(is_wanted).flatten().cloned().collect();
            let block_size = [60, 300, 5000][dice.roll(3) as usize];
            // In any order by age.
            let mut by_age: Vec<&[Cell]> = files.iter().map(Vec::as_slice).collect();
            for at in 1..by_age.len() {
                by_age.swap(at, dice.roll(at as u64 + 1) as usize);
            }
            let list = list_of(by_age, block_size);
            assert_eq!(list.run_count(), 1, "seed {seed}");
            let whole = StoreFile::over("whole", reader_of(&all, block_size));
            let mut expected = StoreFileScanner::new(&whole, read_point);
            let (list, places) = (Arc::clone(&list), list.range(0));
            let mut run = RunScanner::new(list, places, read_point, BlockUse::Keep, timestamps);
            for step in 0..60 {
                let at = expected.current().map(|cell| cell.to_cell());
                let target = format!("r{:02}", dice.roll(30));
                let target = cell((&target, "f", "q01"), 25, CellType::Put, 1);
                let mut target = target.as_ref().key().to_vec();
                if let Some(at) = &at
                    && CellComparator::Default.compare_keys(&target, at.as_ref().key()).is_lt()
                {
                    target = at.as_ref().key().to_vec();
                }
                // Off the ends, only a seek is allowed.
                let choice = dice.roll(if at.is_some() { 12 } else { 4 });
                let in_row = |cell: &&Cell| {
                    let at = at.as_ref().unwrap().as_ref();
                    let cell = cell.as_ref();
                    cell.row() == at.row()
                        && cell.sequence_id() <= read_point
                        && CellComparator::Default.compare(&cell, &at).is_lt()
                };
                let leave = if choice == 6 && dice.hit(2) {
                    1 + all.iter().filter(in_row).count()
                } else {
                    0
                };
                let place = run.at;
                let case = format!("seed {seed}, step {step}, move {choice} {leave}");
                let told = moved(&mut run, choice, &target, leave);
                assert_eq!(told, moved(&mut expected, choice, &target, leave), "{case}");
                crossings += usize::from(choice > 4 && run.at != place && told.0.is_some());
                if told.1 == "NoRow" {
                    let _ = (run.seek_first().unwrap(), expected.seek_first().unwrap());
                }
                let row = run.current_key().map(key::row);
                assert_eq!(row, expected.current_key().map(key::row), "{case}");
            }
        }
        assert!(crossings > 200, "{crossings} moves went from one file to another");
    }
}
