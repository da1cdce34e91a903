//! Writes and actions on many rows, distributed to regions.
//!
//! Order:     of one row, each action sees what those before it did.
//! Invariant: every mutation and every action has exactly one result.
//! Threads:   any.

use std::collections::HashSet;

use hblite_model::{
    Action, ActionResult, Error, ErrorKind, Exception, Mutation, MutationKind, Result, RowResult,
};

use super::TableHandle;

impl TableHandle {
    /// Writes to many rows, each independently.
    ///
    /// # Errors
    /// The first error of a mutation, after all were tried. If a mutation is invalid, nothing is
    /// written.
    pub fn mutate_all(&self, mutations: &[&Mutation]) -> Result<()> {
        for (index, mutation) in mutations.iter().enumerate() {
            mutation.check_as_item(index)?;
            self.check_cell_size(mutation)?;
        }
        let (plain, others): (Vec<&Mutation>, Vec<&Mutation>) =
            mutations.iter().partition(|mutation| is_plain(mutation));
        let mut first_error = None;
        self.mutate_plain(&plain, |_, result| {
            if let Err(error) = result {
                first_error.get_or_insert(error);
            }
        });
        for mutation in others {
            if let Err(error) = self.read_modify_write(mutation, None) {
                first_error.get_or_insert(error);
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Writes mutations in groups, one per region; each group is one entry of the log. Calls
    /// `report` once for each mutation, with its index.
    fn mutate_plain(&self, mutations: &[&Mutation], mut report: impl FnMut(usize, Result<()>)) {
        let mut left: Vec<usize> = (0..mutations.len()).collect();
        let mut deadline = None;
        while let Some(first) = left.first() {
            let first_row = mutations[*first].row();
            let region = match self.slot.route(first_row) {
                Ok(region) => region,
                Err(error) => {
                    left.retain(|at| {
                        let is_of_row = mutations[*at].row() == first_row;
                        if is_of_row {
                            report(*at, Err(error.clone()));
                        }
                        !is_of_row
                    });
                    continue;
                }
            };
            let (mut mine, others): (Vec<usize>, Vec<usize>) =
                left.iter().partition(|at| region.info().contains_row(mutations[**at].row()));
            left = others;
            let write = |group: &[usize]| {
                let group: Vec<&Mutation> = group.iter().map(|at| mutations[*at]).collect();
                region.mutate_rows(&group, None)
            };
            let mut written = write(&mine);
            if written.as_ref().is_err_and(|error| error.kind() != ErrorKind::NotServing) {
                // Nothing was written. Mutations that can never succeed must not affect the others.
                let count = mine.len();
                mine.retain(|at| match region.check_mutation(mutations[*at]) {
                    Ok(()) => true,
                    Err(error) => {
                        report(*at, Err(error));
                        false
                    }
                });
                if mine.len() < count {
                    written = if mine.is_empty() { Ok(()) } else { write(&mine) };
                }
            }
            match written {
                Ok(()) => mine.into_iter().for_each(|at| report(at, Ok(()))),
                Err(error)
                    if self.waits_after(&error, &mut deadline, || self.slot.route(first_row)) =>
                {
                    left.extend(mine);
                }
                Err(error) => mine.into_iter().for_each(|at| report(at, Err(error.clone()))),
            }
        }
    }

    /// Runs actions independently. Puts and deletes of one region become one log entry; each action
    /// sees the effect of earlier actions on its row.
    ///
    /// # Errors
    /// That of the first invalid action: nothing was done. Other errors are in the results.
    pub fn batch(&self, actions: &[Action]) -> Result<Vec<Result<ActionResult>>> {
        for (index, action) in actions.iter().enumerate() {
            action.check_as_item(index, self.options.cell_size_max_bytes)?;
        }
        let mut results: Vec<Result<ActionResult>> = Vec::new();
        results.resize_with(actions.len(), || Ok(ActionResult::Row(RowResult::default())));
        let mut waiting = Waiting::default();
        for (index, action) in actions.iter().enumerate() {
            if waiting.rows.contains(action.row()) {
                self.write(&mut waiting, &mut results);
            }
            match action {
                Action::Mutation(mutation) if is_plain(mutation) => waiting.push(index, mutation),
                other => {
                    results[index] = self.run(other).map_err(|error| self.as_in_batch(error));
                }
            }
        }
        self.write(&mut waiting, &mut results);
        Ok(results)
    }

    /// Writes the waiting mutations, and sets the result of each.
    fn write(&self, waiting: &mut Waiting<'_>, results: &mut [Result<ActionResult>]) {
        let Waiting { indexes, mutations, .. } = std::mem::take(waiting);
        self.mutate_plain(&mutations, |at, result| {
            let result = result.map(|()| ActionResult::Row(RowResult::default()));
            results[indexes[at]] = result.map_err(|error| self.as_in_batch(error));
        });
    }

    fn run(&self, action: &Action) -> Result<ActionResult> {
        let row = match action {
            Action::Get(get) => self.get(get),
            Action::RowMutations(mutations) => self.mutate_row(mutations, None),
            Action::Mutation(mutation) => self.read_modify_write(mutation, None),
            Action::CheckAndMutate(check) => {
                return self.check_and_mutate(check, None).map(ActionResult::Check);
            }
        };
        row.map(ActionResult::Row)
    }

    /// The error as it is in a batch, where HBase's client does not check the table's state: the
    /// server refuses the region.
    fn as_in_batch(&self, error: Error) -> Error {
        if error.exception() != Exception::TableNotEnabled {
            return error;
        }
        match self.catalog.region_infos(&self.name).first() {
            Some(region) => self.catalog.not_online(region),
            None => error,
        }
    }
}

/// Whether a mutation does not depend on stored cells.
fn is_plain(mutation: &Mutation) -> bool {
    matches!(mutation.kind(), MutationKind::Put | MutationKind::Delete)
}

/// The puts and deletes of a batch that are not written yet.
#[derive(Default)]
struct Waiting<'a> {
    indexes: Vec<usize>,
    mutations: Vec<&'a Mutation>,
    rows: HashSet<&'a [u8]>,
}

impl<'a> Waiting<'a> {
    fn push(&mut self, index: usize, mutation: &'a Mutation) {
        self.indexes.push(index);
        self.mutations.push(mutation);
        self.rows.insert(mutation.row());
    }
}
