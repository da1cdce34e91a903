//! Rows that a filter evaluates, and rows of several families.
//!
//! A row goes through up to three steps: its stores are read, then the joined ones; or the rest of
//! it is skipped. Reading may pause within each step and continues there with the next call.

use hblite_model::cell::CellRef;
use hblite_model::filter::{FilterState, RowVerdict};
use hblite_model::{Direction, Error, Exception, Result, RowPart};

use super::{CellSink, JUDGED_CELL_WORK, PausedRow, RegionScanner, RegionStep, RowBudget, RowStep};
use crate::store::key_value_scanner::KeyValueScanner;
use crate::store::store_scanner::StoreScanner;

impl<S: KeyValueScanner> RegionScanner<S> {
    pub(super) fn next_judged_row<C: CellSink>(
        &mut self,
        sink: &mut C,
        mut is_time_over: impl FnMut() -> bool,
    ) -> Result<RegionStep> {
        let mut may_pause = false;
        loop {
            may_pause |= self.pass_rejected_rows(&mut is_time_over);
            let mut budget = self.piece;
            let found = if let Some(paused) = self.paused.take() {
                self.resume_row(sink, &mut budget, &paused)?
            } else if self.is_row_joining {
                self.join_row(sink, &mut budget)?
            } else if !self.find_row() || self.stop.is_beyond(&self.row) {
                return Ok(RegionStep::End);
            } else if may_pause && (budget.work_left() == 0 || is_time_over()) {
                return Ok(RegionStep::Cursor(()));
            } else if self.is_row_key_rejected()? {
                self.rows.count(false, self.is_filter_done());
                if self.is_filter_done() {
                    return Ok(RegionStep::End);
                }
                if !self.skip_row()? {
                    return Ok(RegionStep::Cursor(()));
                }
                may_pause = true;
                continue;
            } else {
                self.read_row(sink, &mut budget, None)?
            };
            self.piece.allow_work(budget.work_left());
            may_pause = true;
            let may_have_more_cells = match found {
                Found::Paused => return Ok(RegionStep::Cursor(())),
                Found::Skipped => continue,
                Found::Rejected => {
                    self.rows.count(false, false);
                    if !self.skip_row()? {
                        return Ok(RegionStep::Cursor(()));
                    }
                    continue;
                }
                Found::Cells { may_have_more_cells } => may_have_more_cells,
            };
            self.rows.count(true, may_have_more_cells);
            if !may_have_more_cells && let Some(filter) = &mut self.filter {
                filter.reset();
            }
            self.is_done = self.is_filter_done();
            return Ok(RegionStep::Row(RowPart { may_have_more_cells }));
        }
    }

    /// Moves past rows of which the filter rejects every cell, as far as a loop over the cells of
    /// a block can tell, and until the time is over. Returns whether there were any.
    fn pass_rejected_rows(&mut self, mut is_time_over: impl FnMut() -> bool) -> bool {
        let is_within_row = self.paused.is_some() || self.is_row_joining || !self.joined.is_empty();
        let (Some(filter), [store], false) =
            (&mut self.filter, self.stores.as_mut_slice(), is_within_row)
        else {
            return false;
        };
        if !filter.judges_cells_alone() {
            return false;
        }
        let (stop, mut budget) = (&self.stop, self.piece);
        let cells_max = usize::try_from(budget.work_left() / JUDGED_CELL_WORK);
        let passed = store.pass_rejected_rows(
            cells_max.unwrap_or(usize::MAX),
            |row| stop.is_beyond(row) || is_time_over(),
            |cell| {
                budget.work_on(cell, true);
                filter.rejects_cell(cell)
            },
        );
        self.piece.allow_work(budget.work_left());
        self.rows.count_filtered(passed.rows);
        passed.rows > 0
    }

    /// Continues where reading paused.
    fn resume_row<C: CellSink>(
        &mut self,
        sink: &mut C,
        budget: &mut RowBudget,
        paused: &PausedRow,
    ) -> Result<Found> {
        let work = *budget;
        match paused.step {
            RowStep::Skipping => {
                // The steps that skip rows count their own work.
                let is_passed = self.skip_row()?;
                *budget = self.piece;
                Ok(if is_passed { Found::Skipped } else { Found::Paused })
            }
            RowStep::Joining => {
                *budget = paused.budget.resumed(&work);
                self.read_joined(sink, budget)
            }
            RowStep::Reading => {
                *budget = paused.budget.resumed(&work);
                self.read_row(sink, budget, Some(paused.given))
            }
        }
    }

    /// Finds the first row.
    pub(super) fn find_row(&mut self) -> bool {
        let mut is_found = false;
        for store in &mut self.stores {
            let Some(row) = store.row() else {
                continue;
            };
            let order = self.comparator.compare_rows(row, &self.row);
            if !is_found || self.direction.apply(order).is_lt() {
                self.row.clear();
                self.row.extend_from_slice(row);
                is_found = true;
            }
        }
        is_found
    }

    fn is_row_key_rejected(&mut self) -> Result<bool> {
        self.filter.as_mut().map_or(Ok(false), |filter| filter.filter_row_key(&self.row))
    }

    /// Reads the row from the stores: `given` of its cells were returned or collected before
    /// reading paused.
    fn read_row<C: CellSink>(
        &mut self,
        sink: &mut C,
        budget: &mut RowBudget,
        given: Option<usize>,
    ) -> Result<Found> {
        let judges_rows = self.filter.as_ref().is_some_and(FilterState::has_filter_row);
        if judges_rows {
            // Such a row must not be cut by size.
            budget.forget_bytes();
        }
        if !judges_rows && self.joined.is_empty() {
            let returned =
                read_stores(&mut self.stores, &self.row, &mut self.filter, budget, sink)?;
            self.cells_returned += returned as u64;
            let given = given.unwrap_or(0) + returned;
            if budget.is_paused() {
                return Ok(self.pause(RowStep::Reading, budget, given));
            }
            // No such filter rejects a row after it has accepted one of its cells.
            if given == 0 {
                return Ok(Found::Rejected);
            }
            let may_have_more_cells = budget.is_exhausted() && self.has_more_in_row();
            return Ok(Found::Cells { may_have_more_cells });
        }
        if given.is_none() {
            self.collected.clear();
        }
        let returned = read_stores(
            &mut self.stores,
            &self.row,
            &mut self.filter,
            budget,
            &mut self.collected,
        )?;
        let given = given.unwrap_or(0) + returned;
        if budget.is_paused() {
            return Ok(self.pause(RowStep::Reading, budget, given));
        }
        if budget.is_exhausted() {
            if judges_rows {
                return Err(incompatible_filter());
            }
            if self.has_more_in_row() {
                self.give_collected(sink);
                return Ok(Found::Cells { may_have_more_cells: true });
            }
        }
        if given == 0 || self.is_row_rejected() {
            return Ok(Found::Rejected);
        }
        self.join_collected(sink, budget)
    }

    fn pause(&mut self, step: RowStep, budget: &RowBudget, given: usize) -> Found {
        self.paused = Some(PausedRow { step, budget: *budget, given });
        Found::Paused
    }

    fn has_more_in_row(&mut self) -> bool {
        self.stores.iter_mut().any(|store| store.is_at_row(&self.row))
    }

    /// Whether the filter rejects the collected row.
    fn is_row_rejected(&mut self) -> bool {
        match &mut self.filter {
            Some(filter) if filter.has_filter_row() => {
                filter.filter_row_cells(&mut self.collected) == RowVerdict::Exclude
            }
            Some(filter) => filter.filter_row(),
            None => false,
        }
    }

    /// Reads the rest of a row from the joined stores.
    fn join_row<C: CellSink>(&mut self, sink: &mut C, budget: &mut RowBudget) -> Result<Found> {
        self.collected.clear();
        self.join_collected(sink, budget)
    }

    /// Adds the cells of the joined stores to the collected ones and passes all to `sink`.
    fn join_collected<C: CellSink>(
        &mut self,
        sink: &mut C,
        budget: &mut RowBudget,
    ) -> Result<Found> {
        for store in &mut self.joined {
            store.go_to_row(&self.row)?;
        }
        self.read_joined(sink, budget)
    }

    fn read_joined<C: CellSink>(&mut self, sink: &mut C, budget: &mut RowBudget) -> Result<Found> {
        if !budget.is_exhausted() {
            read_stores(
                &mut self.joined,
                &self.row,
                &mut self.filter,
                budget,
                &mut self.collected,
            )?;
            if budget.is_paused() {
                return Ok(self.pause(RowStep::Joining, budget, 0));
            }
        }
        self.is_row_joining =
            budget.is_exhausted() && self.joined.iter_mut().any(|store| store.is_at_row(&self.row));
        if self.collected.is_empty() {
            return Ok(Found::Rejected);
        }
        self.give_collected(sink);
        Ok(Found::Cells { may_have_more_cells: self.is_row_joining })
    }

    /// Passes the collected cells to `sink`, in order.
    fn give_collected<C: CellSink>(&mut self, sink: &mut C) {
        self.cells_returned += self.collected.len() as u64;
        if self.joined.is_empty() {
            for cell in &self.collected {
                sink.push(&cell);
            }
            return;
        }
        // Families of both kinds alternate.
        let mut cells: Vec<CellRef<'_>> = self.collected.iter().collect();
        cells.sort_by(|left, right| self.comparator.compare(left, right));
        for cell in &cells {
            sink.push(cell);
        }
    }

    /// Moves to the next row; false if reading pauses before it gets there.
    fn skip_row(&mut self) -> Result<bool> {
        let mut budget = self.piece.only_work();
        for store in &mut self.stores {
            if !store.is_at_row(&self.row) {
                continue;
            }
            match self.direction {
                Direction::Forward => {
                    store.next_row(&mut self.filter, &mut budget, &mut |_: &CellRef<'_>| {})?;
                }
                Direction::Reverse => store.pass_row(&self.row)?,
            }
            if budget.is_paused() {
                break;
            }
        }
        self.piece.allow_work(budget.work_left());
        if budget.is_paused() {
            self.pause(RowStep::Skipping, &budget, 0);
            return Ok(false);
        }
        if let Some(filter) = &mut self.filter {
            filter.reset();
        }
        Ok(true)
    }
}

/// The outcome of reading a row.
enum Found {
    /// Cells of it were returned.
    Cells {
        /// The row continues in the next part.
        may_have_more_cells: bool,
    },
    /// It has no cell for this scan; the rest of it must be skipped.
    Rejected,
    /// The rest of a rejected row was skipped.
    Skipped,
    /// Reading has paused in it.
    Paused,
}

/// Reads the cells of `row` from each store that has some, until the budget is exhausted or reading
/// pauses.
fn read_stores<S: KeyValueScanner, C: CellSink>(
    stores: &mut [StoreScanner<S>],
    row: &[u8],
    filter: &mut Option<FilterState>,
    budget: &mut RowBudget,
    sink: &mut C,
) -> Result<usize> {
    let mut returned = 0;
    for store in stores {
        if store.is_at_row(row) {
            returned += store.next_row(filter, budget, sink)?;
            if budget.is_exhausted() || budget.is_paused() {
                break;
            }
        }
    }
    Ok(returned)
}

fn incompatible_filter() -> Error {
    Error::new(
        Exception::IncompatibleFilter,
        "Filter whose hasFilterRow() returns true is incompatible with scans that must  stop \
         mid-row because of a limit.",
    )
}
