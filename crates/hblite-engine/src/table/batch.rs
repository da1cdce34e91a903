//! Writes and actions on many rows, distributed to regions.
//!
//! Order:     of one row, each action sees what those before it did.
//! Invariant: every mutation and every action has exactly one result.
//! Threads:   any.

use std::collections::HashSet;

use hblite_env::time::Instant;
use hblite_model::{
    Action, ActionResult, Error, ErrorKind, Exception, Mutation, MutationKind, Result, RowResult,
};

use super::TableHandle;
use crate::catalog::Routes;
use crate::region::{Patience, Region, RowsWrite};

/// How many regions a batch writes to at a time. While it does, none of them can be flushed.
const GROUPS_MAX: usize = 128;

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
        let mut first: Option<(usize, Error)> = None;
        self.mutate_plain(&plain, |at, result| {
            if let Err(error) = result
                && first.as_ref().is_none_or(|(first, _)| at < *first)
            {
                first = Some((at, error));
            }
        });
        let mut first_error = first.map(|(_, error)| error);
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
        let row = |at: &usize| mutations[*at].row();
        let mut left: Vec<usize> = (0..mutations.len()).collect();
        let mut deadline = None;
        while !left.is_empty() {
            // Each region's mutations are then together; those of a row keep their order.
            if !left.is_sorted_by_key(row) {
                left.sort_by_key(|at| mutations[*at].row());
            }
            let sorted: Vec<&Mutation> = left.iter().map(|at| mutations[*at]).collect();
            let routes = self.parts.slot.routes();
            let (groups, taken) = next_groups(&routes, &left, &sorted, &mut report);
            let mut again = Vec::new();
            for (group, written) in groups.iter().zip(write_groups(&groups)) {
                match written {
                    Ok(()) => group.places.iter().for_each(|at| report(*at, Ok(()))),
                    Err(error) => {
                        again.extend(self.after_failure(group, error, &mut deadline, &mut report));
                    }
                }
            }
            again.extend(&left[taken..]);
            left = again;
        }
    }

    /// Writes the valid mutations of a group of which nothing was written. Returns those that are
    /// to be tried again, when their region is in service.
    fn after_failure(
        &self,
        group: &Group<'_>,
        error: Error,
        deadline: &mut Option<Instant>,
        report: &mut impl FnMut(usize, Result<()>),
    ) -> Vec<usize> {
        let (mut tried, mut written) = (group.places.to_vec(), Err(error.clone()));
        if error.kind() != ErrorKind::NotServing {
            // Mutations that can never succeed must not affect the others.
            let mut others = Vec::new();
            tried.clear();
            for (at, mutation) in group.places.iter().zip(group.mutations) {
                match group.region.check_mutation(mutation) {
                    Ok(()) => {
                        tried.push(*at);
                        others.push(*mutation);
                    }
                    Err(error) => report(*at, Err(error)),
                }
            }
            if others.len() < group.mutations.len() {
                written = group.region.mutate_rows(&others, None);
            }
        }
        if let Err(error) = &written {
            let route = || self.parts.slot.route(group.mutations[0].row());
            if self.waits_after(error, deadline, route) {
                return tried;
            }
        }
        tried.into_iter().for_each(|at| report(at, written.clone()));
        Vec::new()
    }

    /// Runs actions independently. Puts and deletes of one region become one log entry; each action
    /// sees the effect of earlier actions on its row.
    ///
    /// # Errors
    /// That of the first invalid action: nothing was done. Other errors are in the results.
    pub fn batch(&self, actions: &[Action]) -> Result<Vec<Result<ActionResult>>> {
        for (index, action) in actions.iter().enumerate() {
            action.check_as_item(index, self.parts.options.cell_size_max_bytes)?;
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
        let catalog = self.catalog();
        match catalog.region_infos(self.name()).first() {
            Some(region) => catalog.not_online(region),
            None => error,
        }
    }
}

/// Groups the first mutations of `sorted`, which are those at `places`, for at most
/// [`GROUPS_MAX`] regions, in the order of the regions. Returns how many were taken.
fn next_groups<'b>(
    routes: &'b Routes<'_>,
    places: &'b [usize],
    sorted: &'b [&'b Mutation],
    report: &mut impl FnMut(usize, Result<()>),
) -> (Vec<Group<'b>>, usize) {
    let mut groups: Vec<Group<'b>> = Vec::new();
    let mut taken = 0;
    while taken < sorted.len() && groups.len() < GROUPS_MAX {
        let (sorted, places) = (&sorted[taken..], &places[taken..]);
        match routes.run(sorted, |mutation| mutation.row()) {
            Ok((region, count)) => {
                let (mutations, places) = (&sorted[..count], &places[..count]);
                groups.push(Group { region, mutations, places });
                taken += count;
            }
            Err(error) => {
                report(places[0], Err(error));
                taken += 1;
            }
        }
    }
    (groups, taken)
}

/// The mutations of a batch for one region.
struct Group<'b> {
    region: &'b Region,
    mutations: &'b [&'b Mutation],
    /// Their indexes in the batch.
    places: &'b [usize],
}

/// Writes each group. The log is written once for all of them: see
/// `region/mutate.rs`.
fn write_groups(groups: &[Group<'_>]) -> Vec<Result<()>> {
    match groups {
        [] => return Vec::new(),
        [Group { region, mutations, .. }] => return vec![region.mutate_rows(mutations, None)],
        _ => {}
    }
    let starts = groups.iter().map(|group| group.region.info().start_key());
    assert!(starts.is_sorted(), "regions are locked in the order of their rows");
    groups.iter().for_each(|group| group.region.approach_locks(group.mutations[0].row()));
    let admitted: Vec<Result<()>> =
        groups.iter().map(|group| group.region.admit_rows(group.mutations)).collect();
    let mut patience = Patience::default();
    let mut writes = loop {
        if let Some(writes) = lock_and_prepare(groups, &admitted, &patience) {
            break writes;
        }
        patience.wait();
    };
    writes.iter().flatten().for_each(RowsWrite::prefetch_memory);
    for write in &mut writes {
        if let Ok(locked) = write
            && let Err(error) = locked.append()
        {
            *write = Err(error);
        }
    }
    let finish = |(group, write): (&Group<'_>, Result<RowsWrite<'_>>)| {
        write?.finish()?;
        group.region.count_writes(group.mutations);
        Ok(())
    };
    groups.iter().zip(writes).map(finish).collect()
}

/// Locks the rows of each group that was admitted, and gives its cells their timestamps; `None` if
/// one of them has to wait for the clock.
fn lock_and_prepare<'b>(
    groups: &[Group<'b>],
    admitted: &[Result<()>],
    patience: &Patience,
) -> Option<Vec<Result<RowsWrite<'b>>>> {
    let lock = |(group, admitted): (&Group<'b>, &Result<()>)| {
        admitted.clone().and_then(|()| group.region.lock_rows(group.mutations, None))
    };
    let mut writes: Vec<_> = groups.iter().zip(admitted).map(lock).collect();
    // After all locks were taken: see `region/mutate.rs`.
    let time = groups.first()?.region.write_time();
    for (group, write) in groups.iter().zip(&mut writes) {
        if let Ok(locked) = write {
            match locked.prepare(group.mutations, time, patience) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => *write = Err(error),
            }
        }
    }
    Some(writes)
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
