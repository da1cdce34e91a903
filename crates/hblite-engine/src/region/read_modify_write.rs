//! Increment, Append, CheckAndMutate and RowMutations: writes that depend on existing cells.
//!
//! The row is locked exclusively from the read to the end of the write. All earlier writes to the
//! row are visible by then, since a writer releases its lock only after its write is visible.
//!
//! Source: `HRegion.MutationBatchOperation.reckonDeltas` and `HRegion.checkAndMutateInternal`.

use std::cmp::Ordering;

use hblite_model::cell::{self, Tag, TagIter, TagType, push_tag};
use hblite_model::filter::CompareOperator;
use hblite_model::{
    CellBuffer, CellRef, CellType, CheckAndMutate, CheckAndMutateResult, Condition, Error,
    Exception, Get, Mutation, MutationKind, Nonce, Result, RowResult,
};
use smallvec::SmallVec;

use super::Region;
use super::mutate::mutation_tags;
use super::timestamps::{GivenTimes, Patience, Survey, Surveys, stamp};
use crate::context::EngineContext;
use crate::nonces::Turn;
use crate::wal::WalEdit;

/// A write that was done.
struct Written {
    /// The results of its increments and appends.
    result: RowResult,
    sequence_id: u64,
}

impl Region {
    /// Applies several writes to one row in one step. Returns the results of increments and
    /// appends.
    ///
    /// # Errors
    /// As [`Region::mutate_rows`], and `DoNotRetryIo` if a counter is not 8 bytes wide: nothing
    /// was written then.
    pub(crate) fn mutate_row(
        &self,
        row: &[u8],
        mutations: &[Mutation],
        nonce: Option<Nonce>,
    ) -> Result<RowResult> {
        self.check_writable()?;
        for mutation in mutations {
            self.check_mutation(mutation)?;
        }
        let write = || {
            patiently(|patience| {
                let _row = self.lock_exclusively(std::iter::once(row));
                let _updates = self.enter()?;
                self.mutate_locked(mutations, i64::MIN, nonce, patience)
            })
        };
        let written = once(
            &self.context,
            nonce,
            || write().map(Some),
            |id| self.written_by(row, mutations, id).map(Some),
        )?;
        Ok(written.map(|written| written.result).unwrap_or_default())
    }

    /// Writes if the condition holds.
    ///
    /// # Errors
    /// As [`Region::mutate_row`]; a condition that does not hold is not an error, whatever the
    /// writes would have been.
    pub(crate) fn check_and_mutate(
        &self,
        check: &CheckAndMutate,
        nonce: Option<Nonce>,
    ) -> Result<CheckAndMutateResult> {
        let (condition, action) = check.parts()?;
        self.check_writable()?;
        if let Condition::Column { family, .. } = condition {
            self.check_family(family)?;
        }
        let mutations = action.mutations();
        let written = once(
            &self.context,
            nonce,
            || patiently(|patience| self.mutate_if(check, condition, mutations, nonce, patience)),
            |id| self.written_by(check.row(), mutations, id).map(Some),
        )?;
        Ok(written.map_or_else(CheckAndMutateResult::default, |Written { result, .. }| {
            let result = (!result.is_empty()).then_some(result);
            CheckAndMutateResult { is_success: true, result }
        }))
    }

    /// Writes to several rows of the region in one step, if every condition holds. Returns whether
    /// they were done (`MultiRowMutationEndpoint.mutateRows`).
    ///
    /// # Errors
    /// As [`Region::mutate_row`].
    pub(crate) fn mutate_rows_if(
        &self,
        checks: &[CheckAndMutate],
        mutations: &[Mutation],
    ) -> Result<bool> {
        self.check_writable()?;
        for mutation in mutations {
            self.check_mutation(mutation)?;
        }
        let checked = checks.iter().map(CheckAndMutate::row);
        let rows = || checked.clone().chain(mutations.iter().map(Mutation::row));
        patiently(|patience| {
            let _rows = self.lock_exclusively(rows());
            let _updates = self.enter()?;
            for check in checks {
                let Some(condition) = check.condition() else { continue };
                if let Condition::Column { family, .. } = condition {
                    self.check_family(family)?;
                }
                if !holds(condition, &self.read_row(&condition_get(check, condition))?)? {
                    return Ok(Some(false));
                }
            }
            let written = self.mutate_locked(mutations, i64::MIN, None, patience)?;
            Ok(written.map(|_| true))
        })
    }

    /// Writes if the condition holds; the inner result is `None` if it does not, the outer one if
    /// the write must wait for the clock.
    fn mutate_if(
        &self,
        check: &CheckAndMutate,
        condition: &Condition,
        mutations: &[Mutation],
        nonce: Option<Nonce>,
        patience: &Patience,
    ) -> Result<Option<Option<Written>>> {
        let get = condition_get(check, condition);
        let _row = self.lock_exclusively(std::iter::once(check.row()));
        let _updates = self.enter()?;
        let found = self.read_row(&get)?;
        if !holds(condition, &found)? {
            return Ok(Some(None));
        }
        for mutation in mutations {
            self.check_mutation(mutation)?;
        }
        // The version just read may be later than the clock: it must not hide the new one.
        let seen = found.get(0).map_or(i64::MIN, |cell| cell.timestamp());
        let written = self.mutate_locked(mutations, seen, nonce, patience)?;
        Ok(written.map(Some))
    }

    /// The results of the increments and appends with this sequence id. If files have been written
    /// since, older versions may be gone, and the current values are returned, as in HBase.
    fn written_by(&self, row: &[u8], mutations: &[Mutation], sequence_id: u64) -> Result<Written> {
        let returning = mutations.iter().filter(|mutation| {
            matches!(mutation.kind(), MutationKind::Increment | MutationKind::Append)
                && mutation.returns_results()
        });
        let mut get = Get::new(row);
        for cell in returning.flat_map(|mutation| mutation.cells().iter()) {
            get = get.with_column(cell.family(), cell.qualifier());
        }
        let result = match get.columns().is_empty() {
            true => RowResult::default(),
            false => RowResult::new(self.read_row_at(&get, sequence_id)?),
        };
        Ok(Written { result, sequence_id })
    }

    /// Writes to rows that the caller has locked. Puts get no timestamp before `timestamp_min`.
    /// `None` if the write must wait for the clock.
    fn mutate_locked(
        &self,
        mutations: &[Mutation],
        timestamp_min: i64,
        nonce: Option<Nonce>,
        patience: &Patience,
    ) -> Result<Option<Written>> {
        let time = self.write_time();
        let surveys: Surveys = mutations.iter().map(Survey::of).collect();
        let mut given = GivenTimes::new();
        self.give_all(mutations.iter(), &surveys, time, patience, &mut given)?;
        if given.iter().any(|given| given.must_wait) {
            return Ok(None);
        }
        let mut edit = WalEdit::default();
        let mut results = CellBuffer::new();
        let mut ends: SmallVec<[usize; 2]> = SmallVec::new();
        for (mutation, given) in mutations.iter().zip(&given) {
            let first = edit.len();
            match mutation.kind() {
                MutationKind::Put => {
                    let timestamp = given.timestamp.max(timestamp_min);
                    self.prepare_cells(mutation, timestamp, &mut edit)?;
                }
                MutationKind::Delete => {
                    self.prepare_cells(mutation, given.timestamp, &mut edit)?;
                }
                MutationKind::Increment | MutationKind::Append => {
                    self.apply_deltas(mutation, given.timestamp, &mut edit)?;
                    if mutation.returns_results() {
                        let new = edit.iter().skip(first);
                        new.for_each(|cell| results.push(&cell));
                    }
                }
            }
            ends.push(edit.len());
        }
        let (mut first, mut write_time) = (0, time.now);
        for ((mutation, survey), end) in mutations.iter().zip(&surveys).zip(&ends) {
            let stored = edit.keys(first..*end);
            write_time = write_time.max(self.leave_traces(mutation, survey, stored, time));
            first = *end;
        }
        let mut sequence_id = self.mvcc.read_point();
        if !edit.is_empty() {
            let durability = self.durability_of(mutations.iter());
            sequence_id = self.write_edit(&mut edit, durability, write_time, nonce)?;
        }
        self.counters().write_requests(mutations.len() as u64);
        let rows = mutations.iter().map(Mutation::row);
        self.context.row_counting.note(&self.row_counts, rows, true);
        Ok(Some(Written { result: RowResult::new(results), sequence_id }))
    }

    /// The new cells of an increment or append, in the order of families and qualifiers, with this
    /// timestamp or a later one.
    fn apply_deltas(&self, mutation: &Mutation, given: i64, edit: &mut WalEdit<'_>) -> Result<()> {
        let mut deltas: Vec<CellRef<'_>> = mutation.cells().iter().collect();
        deltas.sort_by(|left, right| {
            (left.family(), left.qualifier()).cmp(&(right.family(), right.qualifier()))
        });
        let size_max = self.cell_size_max();
        for family_deltas in deltas.chunk_by(|left, right| left.family() == right.family()) {
            let mut get = Get::new(mutation.row()).with_time_range(mutation.time_range());
            for delta in family_deltas {
                get = get.with_column(delta.family(), delta.qualifier());
            }
            let present = self.read_row(&get)?;
            for delta in family_deltas {
                let current = present.iter().find(|cell| cell.qualifier() == delta.qualifier());
                push_new_value(mutation, delta, current, given, edit)?;
                if let Some(cell) = edit.get(edit.len() - 1) {
                    check_new_cell(&cell, size_max)?;
                }
            }
        }
        Ok(())
    }
}

/// Runs `write` unless it was done before under the same nonce; in that case `read_back` returns
/// its result, from its sequence id.
fn once(
    context: &EngineContext,
    nonce: Option<Nonce>,
    write: impl FnOnce() -> Result<Option<Written>>,
    read_back: impl FnOnce(u64) -> Result<Option<Written>>,
) -> Result<Option<Written>> {
    let Some(nonce) = nonce else {
        return write();
    };
    match context.nonces.begin(nonce) {
        Turn::Repeat(sequence_id) => read_back(sequence_id),
        Turn::First(attempt) => {
            let written = write()?;
            if let Some(written) = &written {
                attempt.succeeded(written.sequence_id, context.env.clock.now_millis());
            }
            Ok(written)
        }
    }
}

/// Repeats a write that returns `None` because it must wait for the clock. It holds no lock
/// meanwhile.
fn patiently<T>(mut write: impl FnMut(&Patience) -> Result<Option<T>>) -> Result<T> {
    let mut patience = Patience::default();
    loop {
        if let Some(written) = write(&patience)? {
            return Ok(written);
        }
        patience.wait();
    }
}

/// Refuses a value that exceeds the size limit of a cell of the table.
fn check_new_cell(cell: &CellRef<'_>, size_max: Option<usize>) -> Result<()> {
    // What Java counts: serialized, with a length in front.
    let size = cell.serialized_size() + size_of::<u32>();
    if let Some(size_max) = size_max.filter(|max| size > *max) {
        let message = format!("Cell with size {size} exceeds limit of {size_max} bytes in region");
        return Err(Error::do_not_retry(message));
    }
    Ok(())
}

fn push_new_value(
    mutation: &Mutation,
    delta: &CellRef<'_>,
    current: Option<CellRef<'_>>,
    given: i64,
    edit: &mut WalEdit<'_>,
) -> Result<()> {
    let value = match (mutation.kind(), &current) {
        (MutationKind::Increment, Some(current)) => {
            counter(current)?.wrapping_add(counter(delta)?).to_be_bytes().to_vec()
        }
        (_, Some(current)) => {
            let value_length = current.value().len() + delta.value().len();
            cell::check_size(delta.key().len(), value_length)?;
            [current.value(), delta.value()].concat()
        }
        (_, None) => delta.value().to_vec(),
    };
    // A counter's timestamps always increase, even if the clock does not. Only the first value has
    // the timestamp that its writer set.
    let timestamp = match &current {
        Some(current) => given.max(current.timestamp().saturating_add(1)),
        None => stamp(delta.timestamp(), given),
    };
    let mut tags = mutation_tags(mutation);
    if let Some(current) = current {
        let has_own_ttl = mutation.time_to_live_ms().is_some();
        for Tag { tag_type, value } in TagIter::new(current.tags()) {
            if !(has_own_ttl && tag_type == TagType::TTL) {
                push_tag(&mut tags, tag_type, value);
            }
        }
    }
    let put = CellType::Put.code();
    let (row, family, qualifier) = (delta.row(), delta.family(), delta.qualifier());
    let key = hblite_model::cell::key::build(row, family, qualifier, timestamp, put);
    edit.push(&CellRef::new(&key, &value, &tags, 0));
    Ok(())
}

fn counter(cell: &CellRef<'_>) -> Result<i64> {
    let bytes: [u8; 8] = cell.value().try_into().map_err(|_| {
        Error::do_not_retry(format!("Field is not a long, it's {} bytes wide", cell.value().len()))
    })?;
    Ok(i64::from_be_bytes(bytes))
}

/// The read that evaluates the condition.
fn condition_get(check: &CheckAndMutate, condition: &Condition) -> Get {
    let get = Get::new(check.row()).with_time_range(check.time_range());
    match condition {
        Condition::Column { family, qualifier, .. } => get.with_column(family, qualifier),
        Condition::Filter(filter) => get.with_filter(filter.clone()),
    }
}

fn holds(condition: &Condition, found: &CellBuffer) -> Result<bool> {
    let (operator, comparator) = match condition {
        Condition::Filter(_) => return Ok(!found.is_empty()),
        Condition::Column { operator, comparator, .. } => (*operator, comparator),
    };
    let value = comparator.value();
    let is_unequal = operator == CompareOperator::NotEqual;
    match found.get(0) {
        None => Ok(value.is_empty() && !is_unequal),
        Some(cell) if value.is_empty() => Ok(cell.value().is_empty() != is_unequal),
        Some(cell) => compare(operator, comparator.compare(cell.value())?),
    }
}

/// Whether *given operator stored* holds for this ordering of given and stored.
fn compare(operator: CompareOperator, ordering: Ordering) -> Result<bool> {
    match operator {
        CompareOperator::Less => Ok(ordering.is_lt()),
        CompareOperator::LessOrEqual => Ok(ordering.is_le()),
        CompareOperator::Equal => Ok(ordering.is_eq()),
        CompareOperator::NotEqual => Ok(ordering.is_ne()),
        CompareOperator::GreaterOrEqual => Ok(ordering.is_ge()),
        CompareOperator::Greater => Ok(ordering.is_gt()),
        CompareOperator::NoOp => {
            Err(Error::invalid_argument(Exception::Io, "Unknown Compare op NO_OP"))
        }
    }
}

#[cfg(test)]
mod tests {
    use hblite_model::Append;
    use hblite_model::cell::{CELL_SIZE_MAX, key};

    use super::*;

    #[test]
    fn a_value_does_not_grow_beyond_what_a_file_can_hold() {
        let append: Mutation = Append::new("r").add("f", "q", "v").into();
        let delta = append.cells().get(0).unwrap();
        let mut edit = WalEdit::default();
        // These bytes are never touched, so they take no memory.
        let huge = vec![0; CELL_SIZE_MAX - delta.key().len()];
        let key = key::build(b"r", b"f", b"q", 5, CellType::Put.code());
        let current = CellRef::new(&key, &huge, b"", 0);
        let error = push_new_value(&append, &delta, Some(current), 7, &mut edit).unwrap_err();
        assert_eq!(error.message(), "KeyValue size too large");
        assert!(edit.is_empty());
    }
}
