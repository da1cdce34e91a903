//! Which timestamps writes get, so that the last write wins.
//!
//! A timestamp is a millisecond, and a thousand writes fit into one. A cell without a timestamp
//! gets the time of the write, and a later one only if an earlier write to its row is not before
//! that time:
//!
//! - A put after a put of its column gets the next millisecond, so that both versions are there, up
//!   to [`SPREAD_MAX_MS`] ahead of the clock. Beyond that it gets the same one, and the later wins.
//! - A put after an increment or append of its column gets the next, however far ahead.
//! - A put after a delete that covers it gets the next. It waits if that is over [`AHEAD_MAX_MS`]
//!   ahead.
//! - A delete gets the timestamp of the latest cell that it is to cover.
//!
//! Increments and appends follow the rules of puts, do not wait, and are always later than the
//! value that they read, as in HBase: they run ahead of the clock by one millisecond each. All puts
//! and deletes of one write to a row have the same timestamp, as in HBase.
//!
//! A clock that does not run cannot be waited for, nor is there any use in staying close to it:
//! each write gets a timestamp of its own.
//!
//! Timestamps that a client chose are kept as they are, and no other write takes account of them.
//!
//! What a write needs to know about the earlier ones is in [`super::recent_writes`]. Where that is
//! lost, and right after an open, the row is read. Threads: any, with the locks of the rows.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hblite_env::time::Instant;
use hblite_model::cell::key;
use hblite_model::{CellRef, CellType, Get, LATEST_TIMESTAMP, Mutation, MutationKind, Result};
use smallvec::SmallVec;

use super::Region;
use super::recent_writes::{Subject, Trace, Written};
use crate::given_times::WriteTime;
use crate::row_hash::row_hash;
use crate::store::Store;
use crate::store::latest_cell::LatestCell;

/// How far ahead of the clock a put may be for the sake of an earlier version: ten versions have
/// room.
const SPREAD_MAX_MS: i64 = 9;
/// How far ahead of the clock a put may be that would be hidden otherwise.
const AHEAD_MAX_MS: i64 = 10;
/// A write with more columns leaves one trace for all of them.
const COLUMNS_MAX: usize = 3;
/// How long a write waits for the clock in all.
const PATIENCE: Duration = Duration::from_millis(50);
/// How far ahead of the clock counters may have been when the region was opened: ten minutes.
const AHEAD_AT_OPEN_MAX_MS: i64 = 600_000;
const PAUSE: Duration = Duration::from_micros(200);

/// What the writes of one call may still wait for the clock.
#[derive(Default)]
pub(crate) struct Patience {
    since: Option<Instant>,
}

impl Patience {
    /// Waits a little. The caller holds no locks.
    pub(crate) fn wait(&mut self) {
        self.since.get_or_insert_with(Instant::now);
        hblite_env::thread::sleep(PAUSE);
    }

    fn is_over(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= PATIENCE)
    }
}

/// The timestamp of a write's cells, and whether the write must wait for the clock first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) timestamp: i64,
    pub(crate) must_wait: bool,
}

/// The timestamps of the mutations of a write.
pub(crate) type GivenTimes = SmallVec<[Given; 2]>;

impl Given {
    const fn at(timestamp: i64) -> Self {
        Self { timestamp, must_wait: false }
    }

    fn max(self, other: Self) -> Self {
        Self {
            timestamp: self.timestamp.max(other.timestamp),
            must_wait: self.must_wait || other.must_wait,
        }
    }
}

/// What the lock and the timestamps of a mutation depend on, from one pass over its cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Survey {
    /// The hash of its row.
    pub(super) row: u64,
    /// Whether it reads before it writes: a delete of the newest version must find out which one
    /// that is.
    pub(super) reads: bool,
    /// Whether the store gives a cell its timestamp.
    is_open: bool,
    /// Whether the writer chose the timestamp of a cell.
    has_chosen: bool,
}

/// The surveys of the mutations of a write.
pub(super) type Surveys = SmallVec<[Survey; 1]>;

impl Survey {
    #[inline]
    pub(super) fn of(mutation: &Mutation) -> Self {
        let row = row_hash(mutation.row());
        let mut survey = Self { row, reads: false, is_open: false, has_chosen: false };
        for cell in mutation.cells().keys() {
            let is_open = key::timestamp(cell) == LATEST_TIMESTAMP;
            survey.is_open |= is_open;
            survey.has_chosen |= !is_open;
            survey.reads |= is_open && key::type_code(cell) == CellType::Delete.code();
        }
        if mutation.is_whole_row_delete() {
            survey.is_open = mutation.timestamp() == LATEST_TIMESTAMP;
        }
        // The value that an increment reads may be later than the timestamp that it has.
        survey.is_open |= is_counter(mutation);
        survey
    }
}

impl Region {
    /// The time of a write whose rows are locked.
    pub(crate) fn write_time(&self) -> WriteTime {
        self.context.write_clock.read(self.context.env.clock.as_ref())
    }

    /// Forgets what was known of the timestamps before the clock jumped.
    fn follow_jumps(&self, time: WriteTime) {
        if self.clock_jumps.load(Ordering::Relaxed) != time.jumps
            && self.clock_jumps.swap(time.jumps, Ordering::AcqRel) != time.jumps
        {
            self.row_locks.forget_writes();
            self.given.forget();
            self.given_at_open.forget();
            self.dead_rows.iter().for_each(|rows| rows.note_revivable());
        }
    }

    /// Whether a put might have to wait for the clock.
    pub(crate) fn may_wait_for_clock(&self) -> bool {
        let time = self.write_time();
        time.is_running && self.given.get() >= time.now.saturating_add(AHEAD_MAX_MS)
    }

    /// The timestamp of each of some puts and deletes that are written together.
    ///
    /// # Errors
    /// Those of reading a row.
    pub(super) fn give_all<'m>(
        &self,
        mutations: impl Iterator<Item = &'m Mutation> + Clone,
        surveys: &[Survey],
        time: WriteTime,
        patience: &Patience,
        given: &mut GivenTimes,
    ) -> Result<()> {
        self.follow_jumps(time);
        let (mut puts, mut deletes) = (0, 0);
        for (mutation, survey) in mutations.clone().zip(surveys) {
            given.push(self.give(mutation, survey, time, patience)?);
            match mutation.kind() {
                MutationKind::Delete => deletes += 1,
                _ => puts += 1,
            }
        }
        if puts > 0 && deletes > 0 {
            let rows: Vec<&[u8]> = mutations.map(Mutation::row).collect();
            share_by_row(&rows, given);
        }
        Ok(())
    }

    /// The timestamp of a mutation, according to the earlier writes to its row. For an increment or
    /// append, it is the earliest that its cells may have.
    fn give(
        &self,
        mutation: &Mutation,
        survey: &Survey,
        time: WriteTime,
        patience: &Patience,
    ) -> Result<Given> {
        if !survey.is_open {
            return Ok(Given::at(time.now));
        }
        let latest = self.latest_write(mutation, survey.row, time)?;
        Ok(latest.map_or(Given::at(time.now), |latest| match mutation.kind() {
            MutationKind::Delete => Given::at(latest.timestamp),
            MutationKind::Put => after(latest, time, patience.is_over()),
            MutationKind::Increment | MutationKind::Append => {
                Given { must_wait: false, ..after(latest, time, true) }
            }
        }))
    }

    /// The latest write, not before `time`, that a mutation must take account of.
    fn latest_write(
        &self,
        mutation: &Mutation,
        row: u64,
        time: WriteTime,
    ) -> Result<Option<Trace>> {
        let writes = self.row_locks.recent_writes(row);
        let latest = writes.latest(time.now, row, |subject| concerns(mutation, row, subject));
        let lost_until = writes.lost_until().max(self.given_before_open(time));
        // Traces are of a few columns, and may be those of another row. The same clock must always
        // give the same timestamps, and one that stands still keeps all traces.
        let is_exact = time.is_running || latest.is_none();
        if is_exact && lost_until < time.now {
            return Ok(latest);
        }
        let until = latest.map_or(lost_until, |latest| latest.timestamp.max(lost_until));
        let stored = self.latest_stored(mutation, &(time.now..=until.max(time.now)))?;
        let stored = stored.map(|LatestCell { timestamp, is_marker }| {
            let written = match is_marker {
                true => Written::Marker,
                false if timestamp > time.now.saturating_add(AHEAD_MAX_MS) => Written::Counter,
                false => Written::Value,
            };
            Trace { timestamp, written }
        });
        Ok(if is_exact { stored.max(latest) } else { stored })
    }

    /// The latest timestamp that was given before the region was opened. One much later than the
    /// clock says that the clock was set back since, and cells get its timestamps.
    fn given_before_open(&self, time: WriteTime) -> i64 {
        let given = self.given_at_open.get();
        let is_credible = given.saturating_sub(time.now) <= AHEAD_AT_OPEN_MAX_MS;
        if is_credible { given } else { i64::MIN }
    }

    /// The latest cell with one of these timestamps that a mutation must take account of.
    fn latest_stored(
        &self,
        mutation: &Mutation,
        times: &RangeInclusive<i64>,
    ) -> Result<Option<LatestCell>> {
        let row = mutation.row();
        let mut latest = None;
        if mutation.kind() == MutationKind::Delete && names_families(mutation) {
            for store in &self.stores {
                latest = latest.max(store.latest_of_row(row, times)?);
            }
            return Ok(latest);
        }
        let mut last_family: Option<&Arc<Store>> = None;
        for cell in open_cells(mutation) {
            let Some(store) = self.store_of(cell.family()) else { continue };
            latest = latest.max(store.latest_of_column(row, cell.qualifier(), times)?);
            let is_same = last_family.is_some_and(|last| Arc::ptr_eq(last, store));
            if !is_same && mutation.kind() != MutationKind::Delete {
                latest = latest.max(store.latest_family_marker(row, times)?);
            }
            last_family = Some(store);
        }
        Ok(latest)
    }

    /// Timestamp of the `nth` newest version of a column, for a delete of a single version.
    pub(super) fn newest_timestamp(
        &self,
        row: &[u8],
        family: &[u8],
        qualifier: &[u8],
        nth: usize,
    ) -> Result<Option<i64>> {
        let versions = u32::try_from(nth).unwrap_or(u32::MAX);
        let get = Get::new(row).with_column(family, qualifier).with_versions(versions);
        let found = self.read_row(&get)?;
        Ok(found.get(nth - 1).map(|cell| cell.timestamp()))
    }

    /// Leaves the traces of a mutation, before it can be acknowledged; `stored` are the keys of its
    /// cells.
    /// Returns the latest timestamp that it was given, or `i64::MIN`.
    pub(super) fn leave_traces<'c>(
        &self,
        mutation: &Mutation,
        &Survey { row, is_open, has_chosen, .. }: &Survey,
        stored: impl Iterator<Item = &'c [u8]>,
        time: WriteTime,
    ) -> i64 {
        if has_chosen || mutation.timestamp() != LATEST_TIMESTAMP {
            self.dead_rows.iter().for_each(|rows| rows.note_revivable());
        }
        if !is_open {
            return i64::MIN;
        }
        let chosen = || mutation.cells().iter().filter(|own| own.timestamp() != LATEST_TIMESTAMP);
        let writes = self.row_locks.recent_writes(row);
        let written = match mutation.kind() {
            MutationKind::Put => Written::Value,
            MutationKind::Delete => Written::Marker,
            MutationKind::Increment | MutationKind::Append => Written::Counter,
        };
        let is_wide = mutation.cells().len() > COLUMNS_MAX;
        let mut latest = i64::MIN;
        for cell in stored {
            let timestamp = key::timestamp(cell);
            // The timestamp is the client's, or follows one that is: that of the value which was
            // incremented, or of the version which was deleted.
            let is_chosen = has_chosen && chosen().any(|own| own.timestamp() == timestamp)
                || timestamp > self.given.get().max(time.now.saturating_add(AHEAD_MAX_MS)) + 1;
            if is_chosen || timestamp < time.now {
                continue;
            }
            latest = latest.max(timestamp);
            self.given.include(timestamp);
            if written == Written::Marker && is_family_marker(cell) {
                writes.leave(Subject::families(row), Trace { timestamp, written }, time.now);
            } else if !is_wide {
                let column = Subject::column(row, key::column(cell));
                writes.leave(column, Trace { timestamp, written }, time.now);
            }
            if mutation.is_whole_row_delete() {
                break;
            }
        }
        if is_wide && latest != i64::MIN {
            let trace = Trace { timestamp: latest, written };
            writes.leave(Subject::any_column(row), trace, time.now);
        }
        latest
    }
}

/// Whether a mutation must take account of what was written to the subject.
fn concerns(mutation: &Mutation, row: u64, subject: Subject) -> bool {
    let is_delete = mutation.kind() == MutationKind::Delete;
    let is_column = |cell: CellRef<'_>| Subject::column(row, key::column(cell.key())) == subject;
    subject == Subject::any_column(row)
        || !is_delete && subject == Subject::families(row)
        || open_cells(mutation).any(is_column)
        || is_delete && names_families(mutation)
}

/// The timestamp of a put after `latest`, which is not before `time`.
fn after(latest: Trace, time: WriteTime, is_patience_over: bool) -> Given {
    let same = latest.timestamp;
    let next = same.saturating_add(1);
    if !time.is_running {
        return Given::at(next);
    }
    let limit = time.now.saturating_add(AHEAD_MAX_MS);
    match latest.written {
        Written::Value if same >= time.now.saturating_add(SPREAD_MAX_MS) => Given::at(same),
        Written::Value | Written::Counter => Given::at(next),
        // Only counters get further ahead than the limit, and what follows them does not wait.
        Written::Marker => Given { timestamp: next, must_wait: same == limit && !is_patience_over },
    }
}

/// The timestamp of a cell: its own, or `given` if it has none.
pub(super) fn stamp(timestamp: i64, given: i64) -> i64 {
    if timestamp == LATEST_TIMESTAMP { given } else { timestamp }
}

/// Gives the mutations of each row the latest of their timestamps.
fn share_by_row(rows: &[&[u8]], given: &mut [Given]) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| rows[*at]);
    for same in order.chunk_by(|left, right| rows[*left] == rows[*right]) {
        let latest = same.iter().map(|at| given[*at]).reduce(Given::max);
        same.iter().for_each(|at| given[*at] = latest.unwrap_or(given[*at]));
    }
}

/// The cells of a mutation to which the store gives their timestamp.
fn open_cells(mutation: &Mutation) -> impl Iterator<Item = CellRef<'_>> + Clone {
    let is_counter = is_counter(mutation);
    let is_open = move |cell: &CellRef<'_>| is_counter || cell.timestamp() == LATEST_TIMESTAMP;
    mutation.cells().iter().filter(is_open)
}

fn is_counter(mutation: &Mutation) -> bool {
    matches!(mutation.kind(), MutationKind::Increment | MutationKind::Append)
}

/// Whether a delete affects columns that it does not name.
fn names_families(mutation: &Mutation) -> bool {
    mutation.is_whole_row_delete() || open_cells(mutation).any(|cell| is_family_marker(cell.key()))
}

fn is_family_marker(key: &[u8]) -> bool {
    const FAMILY: u8 = CellType::DeleteFamily.code();
    const FAMILY_VERSION: u8 = CellType::DeleteFamilyVersion.code();
    matches!(key::type_code(key), FAMILY | FAMILY_VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNNING: WriteTime = WriteTime { now: 1_000, is_running: true, jumps: 0 };
    const STOPPED: WriteTime = WriteTime { now: 1_000, is_running: false, jumps: 0 };

    fn given(timestamp: i64, written: Written, time: WriteTime) -> (i64, bool) {
        let given = after(Trace { timestamp, written }, time, false);
        (given.timestamp, given.must_wait)
    }

    #[test]
    fn versions_are_spread_and_then_shared() {
        assert_eq!(given(1_000, Written::Value, RUNNING), (1_001, false));
        assert_eq!(given(1_008, Written::Value, RUNNING), (1_009, false));
        assert_eq!(given(1_009, Written::Value, RUNNING), (1_009, false));
        assert_eq!(given(5_000, Written::Value, RUNNING), (5_000, false));
        assert_eq!(given(5_000, Written::Value, STOPPED), (5_001, false));
    }

    #[test]
    fn a_put_is_after_a_counter_however_far_ahead() {
        assert_eq!(given(1_009, Written::Counter, RUNNING), (1_010, false));
        assert_eq!(given(5_000, Written::Counter, RUNNING), (5_001, false));
    }

    #[test]
    fn a_put_after_a_delete_waits_if_it_would_be_too_far_ahead() {
        assert_eq!(given(1_000, Written::Marker, RUNNING), (1_001, false));
        assert_eq!(given(1_009, Written::Marker, RUNNING), (1_010, false));
        assert_eq!(given(1_010, Written::Marker, RUNNING), (1_011, true));
        assert_eq!(given(1_010, Written::Marker, STOPPED), (1_011, false));
        // Counters were there before.
        assert_eq!(given(5_000, Written::Marker, RUNNING), (5_001, false));
        let marker = Trace { timestamp: 1_010, written: Written::Marker };
        assert_eq!(after(marker, RUNNING, true), Given::at(1_011));
    }

    #[test]
    fn of_one_row_all_mutations_have_the_latest_timestamp() {
        let rows: [&[u8]; 5] = [b"a", b"b", b"a", b"c", b"b"];
        let mut given = [3, 1, 7, 5, 1].map(Given::at);
        share_by_row(&rows, &mut given);
        assert_eq!(given.map(|one| one.timestamp), [7, 1, 7, 5, 1]);
    }
}
