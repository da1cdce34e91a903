//! Writes and actions on many rows, distributed to regions.
//!
//! Order:     of one row, each action sees what those before it did.
//! Invariant: every mutation and every action has exactly one result.
//! Threads:   any.

use std::collections::HashSet;
use std::sync::Arc;

use hblite_model::{
    Action, ActionResult, Error, ErrorKind, Exception, Mutation, MutationKind, Result, RowResult,
};

use super::TableHandle;
use crate::region::{Region, RowsWrite};

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
            let groups = self.next_groups(&mut left, mutations, &mut report);
            let written = write_groups(&groups);
            for (Group { region, mutations: mine, places }, mut written) in
                groups.iter().zip(written)
            {
                let mut tried: Vec<usize> = places.clone();
                if written.as_ref().is_err_and(|error| error.kind() != ErrorKind::NotServing) {
                    // Nothing was written. Mutations that can never succeed must not affect the
                    // others.
                    tried.retain(|at| match region.check_mutation(mutations[*at]) {
                        Ok(()) => true,
                        Err(error) => {
                            report(*at, Err(error));
                            false
                        }
                    });
                    if tried.len() < mine.len() {
                        let others: Vec<&Mutation> =
                            tried.iter().map(|at| mutations[*at]).collect();
                        written = region.mutate_rows(&others, None);
                    }
                }
                match written {
                    Ok(()) => tried.into_iter().for_each(|at| report(at, Ok(()))),
                    Err(error)
                        if self.waits_after(&error, &mut deadline, || {
                            self.slot.route(mutations[places[0]].row())
                        }) =>
                    {
                        left.extend(tried);
                    }
                    Err(error) => tried.into_iter().for_each(|at| report(at, Err(error.clone()))),
                }
            }
        }
    }

    /// Takes the first mutations of `left`, which is sorted by row: those of at most [`GROUPS_MAX`]
    /// regions, in the order of the regions.
    fn next_groups<'m>(
        &self,
        left: &mut Vec<usize>,
        mutations: &[&'m Mutation],
        report: &mut impl FnMut(usize, Result<()>),
    ) -> Vec<Group<'m>> {
        let mut groups: Vec<Group<'m>> = Vec::new();
        let mut rest = &left[..];
        while let Some(first) = rest.first().filter(|_| groups.len() < GROUPS_MAX) {
            let row = mutations[*first].row();
            let routed = self.slot.route(row);
            let is_of_group = |at: &usize| match &routed {
                Ok(region) => region.info().contains_row(mutations[*at].row()),
                Err(_) => mutations[*at].row() == row,
            };
            // The row itself, whatever the region says: the loop must come to an end.
            let count = 1 + rest[1..].partition_point(is_of_group);
            let (places, others) = rest.split_at(count);
            rest = others;
            match routed {
                Ok(region) => {
                    let mutations = places.iter().map(|at| mutations[*at]).collect();
                    groups.push(Group { region, mutations, places: places.to_vec() });
                }
                Err(error) => places.iter().for_each(|at| report(*at, Err(error.clone()))),
            }
        }
        let taken = left.len() - rest.len();
        left.drain(..taken);
        groups
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

/// The mutations of a batch for one region.
struct Group<'m> {
    region: Arc<Region>,
    mutations: Vec<&'m Mutation>,
    /// Their indexes in the batch.
    places: Vec<usize>,
}

/// Writes each group. The log is written once for all of them: see
/// `region/mutate.rs`.
fn write_groups(groups: &[Group<'_>]) -> Vec<Result<()>> {
    if let [Group { region, mutations, .. }] = groups {
        return vec![region.mutate_rows(mutations, None)];
    }
    let starts = groups.iter().map(|group| group.region.info().start_key());
    assert!(starts.is_sorted(), "regions are locked in the order of their rows");
    let admitted: Vec<Result<()>> =
        groups.iter().map(|group| group.region.admit_rows(&group.mutations)).collect();
    let mut writes: Vec<Result<RowsWrite<'_>>> = Vec::with_capacity(groups.len());
    for (group, admitted) in groups.iter().zip(admitted) {
        writes.push(admitted.and_then(|()| group.region.lock_rows(&group.mutations, None)));
    }
    for write in &mut writes {
        if let Ok(locked) = write
            && let Err(error) = locked.append()
        {
            *write = Err(error);
        }
    }
    let finish = |(group, write): (&Group<'_>, Result<RowsWrite<'_>>)| {
        write?.finish()?;
        group.region.count_writes(&group.mutations);
        Ok(())
    };
    groups.iter().zip(writes).map(finish).collect()
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
