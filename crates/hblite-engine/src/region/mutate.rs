//! The write path, on one page: the only way a cell enters a region.
//!
//! 1. refuse what cannot be written (read-only, unknown family, memory full)
//! 2. lock the rows
//! 3. enter the region: from here on no flush freezes its memory, and the region stays open
//! 4. give timestamps, under the locks: a write that begins after another has ended gets one that
//!    makes it win (`timestamps`). A write that would get too far ahead of the clock releases its
//!    locks, waits, and begins again
//! 5. append to the log; the sequence id is assigned there, so log order is id order
//! 6. wait for the log as the durability requires
//! 7. insert into the memstores
//! 8. complete the id and wait until it is visible
//!
//! [`RowsWrite`] is a write between steps 2 and 8. A batch takes several regions through each step
//! together, so that one wait for the log serves all of them. It locks the regions in the order of
//! their rows, and appends only when it has all locks: from then on a write waits for no lock, so
//! those that wait for it in step 8 do not wait in a circle.
//!
//! Source: `HRegion.doMiniBatchMutate`.

use hblite_env::sync::RwLockReadGuard;
use hblite_model::cell::{TagType, key, push_tag};
use hblite_model::{
    CellBuffer, CellRef, CellType, Durability, Error, Exception, LATEST_TIMESTAMP, Mutation,
    MutationKind, Nonce, Result,
};

use super::Region;
use super::row_lock::{ExclusiveRows, SharedRows, Waits};
use super::timestamps::{GivenTimes, Patience, Survey, Surveys, stamp};
use crate::given_times::WriteTime;
use crate::invariants::ARE_CHECKED;
use crate::row_hash::row_hash;
use crate::wal::{EditOrigin, WalEdit, WalTicket};

/// A write that has the locks of its rows.
pub(crate) struct RowsWrite<'a> {
    region: &'a Region,
    surveys: Surveys,
    edit: WalEdit<'a>,
    /// The time of the write, or the latest timestamp that it was given.
    write_time: i64,
    durability: Durability,
    logged: Option<Logged<'a>>,
    _rows: LockedRows<'a>,
    _updates: RwLockReadGuard<'a, ()>,
}

enum LockedRows<'a> {
    Shared { _guard: SharedRows<'a> },
    Exclusive { _guard: ExclusiveRows<'a> },
}

/// A write with its sequence id. [`Logged::end`] ends it.
struct Logged<'r> {
    region: &'r Region,
    sequence_id: u64,
    /// What to wait for in the log; `None` if the write is not logged.
    ticket: Option<WalTicket>,
    durability: Durability,
}

impl Logged<'_> {
    /// Waits until readers see the write and all before it.
    fn end(self) {
        self.region.mvcc.complete_and_wait(self.sequence_id);
        std::mem::forget(self);
    }
}

/// A panic in the middle of a write: later writes must not wait for its end, and none may follow.
impl Drop for Logged<'_> {
    fn drop(&mut self) {
        self.region.context.wal.fail_after_panic();
        self.region.mvcc.complete(self.sequence_id);
    }
}

impl<'a> RowsWrite<'a> {
    /// Step 4, with a time that was taken after the locks. Returns false if the write must release
    /// its locks and wait for the clock.
    ///
    /// # Errors
    /// Those of reading what a delete of the newest version refers to.
    pub(crate) fn prepare<M: AsRef<Mutation>>(
        &mut self,
        mutations: &'a [M],
        time: WriteTime,
        patience: &Patience,
    ) -> Result<bool> {
        assert!(self.edit.is_empty(), "a write is prepared once");
        assert_eq!(mutations.len(), self.surveys.len(), "the rows of all mutations are locked");
        let mutations = mutations.iter().map(AsRef::as_ref);
        let mut given = GivenTimes::new();
        self.region.give_all(mutations.clone(), &self.surveys, time, patience, &mut given)?;
        if given.iter().any(|given| given.must_wait) {
            return Ok(false);
        }
        for (mutation, given) in mutations.clone().zip(&given) {
            self.region.prepare_cells(mutation, given.timestamp, &mut self.edit)?;
        }
        // Only now: the mutations of a row that are written together do not follow each other.
        self.write_time = time.now;
        let mut first = 0;
        for (mutation, survey) in mutations.zip(&self.surveys) {
            let count = self.region.stored_cells(mutation);
            let stored = self.edit.keys(first..first + count);
            let latest = self.region.leave_traces(mutation, survey, stored, time);
            self.write_time = self.write_time.max(latest);
            first += count;
        }
        Ok(true)
    }

    /// Brings memory that step 7 uses into the processor's cache, for several regions together.
    pub(crate) fn prefetch_memory(&self) {
        for store in &self.region.stores {
            let is_mine = |cell: &CellRef<'_>| cell.family() == store.family().name();
            if let Some(first) = self.edit.iter().find(is_mine) {
                store.memstore().prefetch(first.row());
            }
        }
    }

    /// Step 5. [`RowsWrite::finish`] must follow.
    ///
    /// # Errors
    /// `RegionTooBusy`, `RegionServerStopped`: nothing was written.
    pub(crate) fn append(&mut self) -> Result<()> {
        assert!(self.logged.is_none(), "a write is appended once");
        self.logged = Some(self.region.append_edit(
            &mut self.edit,
            self.durability,
            self.write_time,
            None,
        )?);
        Ok(())
    }

    /// Steps 6 to 8.
    ///
    /// # Errors
    /// As [`Region::mutate_rows`].
    pub(crate) fn finish(self) -> Result<()> {
        let logged = self.logged.expect("a write is appended before it ends");
        self.region.finish_edit(&self.edit, logged)
    }
}

impl Region {
    /// Writes puts and deletes in one log entry: after a crash all of them are there or none.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`, `DoNotRetryIo` (read-only), `RegionTooBusy` (memory or the log's disk
    /// is full), `NotServingRegion`: nothing was written. `RegionServerStopped`: the log failed;
    /// the next open shows whether the write survived.
    pub(crate) fn mutate_rows<M: AsRef<Mutation>>(
        &self,
        mutations: &[M],
        durability: Option<Durability>,
    ) -> Result<()> {
        if mutations.is_empty() {
            return Ok(());
        }
        self.admit_rows(mutations)?;
        let mut patience = Patience::default();
        loop {
            let mut write = self.lock_rows(mutations, durability)?;
            if write.prepare(mutations, self.write_time(), &patience)? {
                write.append()?;
                write.finish()?;
                self.count_writes(mutations);
                return Ok(());
            }
            drop(write);
            patience.wait();
        }
    }

    /// Reads what step 2 will change for a row, so that the processor has it: a batch does so for
    /// many regions at once.
    pub(crate) fn approach_locks(&self, row: &[u8]) {
        self.row_locks.prefetch(row);
    }

    /// Step 1.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`, `DoNotRetryIo`, `RegionTooBusy`.
    pub(crate) fn admit_rows<M: AsRef<Mutation>>(&self, mutations: &[M]) -> Result<()> {
        self.check_writable()?;
        mutations.iter().try_for_each(|mutation| self.check_mutation(mutation.as_ref()))
    }

    /// Steps 2 and 3 for mutations that were admitted. [`RowsWrite::prepare`] must follow.
    ///
    /// # Errors
    /// `NotServingRegion`.
    pub(crate) fn lock_rows<M: AsRef<Mutation>>(
        &self,
        mutations: &[M],
        durability: Option<Durability>,
    ) -> Result<RowsWrite<'_>> {
        let mutations = mutations.iter().map(AsRef::as_ref);
        let mut surveys = Surveys::new();
        mutations.clone().for_each(|mutation| surveys.push(Survey::of(mutation)));
        let rows = surveys.iter().map(|survey| survey.row);
        let _rows = match surveys.iter().any(|survey| survey.reads) {
            false => LockedRows::Shared { _guard: self.row_locks.shared(rows, self.waits()) },
            true => {
                let rows = rows.zip(mutations.clone().map(Mutation::row));
                LockedRows::Exclusive { _guard: self.row_locks.exclusive(rows, self.waits()) }
            }
        };
        let _updates = self.enter()?;
        let durability = durability.unwrap_or_else(|| self.durability_of(mutations));
        Ok(RowsWrite {
            region: self,
            surveys,
            edit: WalEdit::default(),
            write_time: 0,
            durability,
            logged: None,
            _rows,
            _updates,
        })
    }

    /// Where waits for locks of rows are counted.
    fn waits(&self) -> Waits<'_> {
        Waits { counting: &self.context.row_counting, counts: &self.row_counts }
    }

    /// Locks rows against every other write.
    pub(super) fn lock_exclusively<'r>(
        &self,
        rows: impl Iterator<Item = &'r [u8]> + Clone,
    ) -> ExclusiveRows<'_> {
        self.row_locks.exclusive(rows.map(|row| (row_hash(row), row)), self.waits())
    }

    /// Counts mutations that were written.
    pub(crate) fn count_writes<M: AsRef<Mutation>>(&self, mutations: &[M]) {
        self.counters().write_requests(mutations.len() as u64);
        let rows = mutations.iter().map(|mutation| mutation.as_ref().row());
        self.context.row_counting.note(&self.row_counts, rows, true);
    }

    /// Enters the region: until the guard is dropped, no memory is frozen and the region stays
    /// open.
    pub(super) fn enter(&self) -> Result<RwLockReadGuard<'_, ()>> {
        let updates = self.lanes.mine().updates.read();
        if self.is_closing() {
            return Err(self.not_serving());
        }
        if self.context.reserve.is_released() && !self.info.table().is_system() {
            self.context.reserve.check()?;
        }
        Ok(updates)
    }

    /// Steps 5 to 8. The edit has its timestamps; the caller holds the row locks and the region.
    /// Returns the sequence id.
    pub(super) fn write_edit(
        &self,
        edit: &mut WalEdit<'_>,
        durability: Durability,
        write_time: i64,
        nonce: Option<Nonce>,
    ) -> Result<u64> {
        let logged = self.append_edit(edit, durability, write_time, nonce)?;
        let sequence_id = logged.sequence_id;
        self.finish_edit(edit, logged)?;
        Ok(sequence_id)
    }

    /// Step 5.
    fn append_edit(
        &self,
        edit: &mut WalEdit<'_>,
        durability: Durability,
        write_time: i64,
        nonce: Option<Nonce>,
    ) -> Result<Logged<'_>> {
        keep_last_of_equal_keys(edit);
        if ARE_CHECKED {
            let is_mine = |row: &[u8]| self.info.contains_row(row);
            assert!(
                edit.iter().all(|cell| is_mine(cell.row())),
                "a region takes its own rows only"
            );
        }
        let wal = &self.context.wal;
        if durability == Durability::SkipWal {
            wal.admit_unlogged()?;
            return Ok(self.begin(durability));
        }
        let mut logged = None;
        let origin = EditOrigin { write_time, nonce };
        let ticket = wal.append(&self.wal_region, origin, edit, durability, || {
            logged.insert(self.begin(durability)).sequence_id
        })?;
        let mut logged = logged.expect("the log assigns a sequence id to what it appends");
        logged.ticket = Some(ticket);
        Ok(logged)
    }

    fn begin(&self, durability: Durability) -> Logged<'_> {
        Logged { region: self, sequence_id: self.mvcc.begin(), ticket: None, durability }
    }

    /// Steps 6 to 8.
    fn finish_edit(&self, edit: &WalEdit<'_>, logged: Logged<'_>) -> Result<()> {
        let (sequence_id, durability) = (logged.sequence_id, logged.durability);
        let synced = logged.ticket.map(|ticket| self.context.wal.sync(ticket, durability));
        if let Some(Err(error)) = synced {
            logged.end();
            return Err(error);
        }
        self.dead_rows.iter().for_each(|rows| rows.note_puts(edit));
        let mut size_bytes = 0;
        for store in &self.stores {
            let family = store.family().name();
            let mine = edit.iter().filter(|cell| cell.family() == family);
            size_bytes += store.add_to_memstore(mine.map(|c| c.with_sequence_id(sequence_id)));
        }
        logged.end();
        let load = self.counters();
        load.cells_written(edit.len() as u64);
        load.bytes_written(size_bytes as u64);
        let excess_files = self.excess_files();
        if excess_files > 0 {
            self.write_pace.charge(size_bytes, excess_files);
        }
        self.request_flush_if_large();
        Ok(())
    }

    /// Refuses any write that the region cannot accept.
    pub(super) fn check_writable(&self) -> Result<()> {
        self.context.check_not_read_only()?;
        if self.settings.is_read_only {
            return Err(Error::do_not_retry("region is read only"));
        }
        // The catalog's own writes are few, and regions stay out of service until they are done.
        if self.info.table().is_meta() { Ok(()) } else { self.wait_for_room() }
    }

    /// Refuses a mutation of a family that the table does not have.
    pub(crate) fn check_mutation(&self, mutation: &Mutation) -> Result<()> {
        for cell in mutation.cells() {
            if cell.family().is_empty() && mutation.kind() == MutationKind::Put {
                return Err(Error::invalid_argument(Exception::Io, "Family cannot be null"));
            }
            self.check_family(cell.family())?;
        }
        Ok(())
    }

    /// How many cells [`Region::prepare_cells`] makes of a put or delete.
    fn stored_cells(&self, mutation: &Mutation) -> usize {
        match mutation.is_whole_row_delete() {
            true => self.stores.len(),
            false => mutation.cells().len(),
        }
    }

    /// Step 4 for a put or delete: its cells as they are stored. Those without a timestamp get
    /// `given`.
    pub(super) fn prepare_cells<'m>(
        &self,
        mutation: &'m Mutation,
        given: i64,
        edit: &mut WalEdit<'m>,
    ) -> Result<()> {
        if mutation.is_whole_row_delete() {
            let timestamp = stamp(mutation.timestamp(), given);
            for store in &self.stores {
                let (row, family) = (mutation.row(), store.family().name());
                let marker = CellType::DeleteFamily.code();
                let key = key::build(row, family, b"", timestamp, marker);
                edit.push(&CellRef::new(&key, b"", b"", 0));
            }
            return Ok(());
        }
        let tags = mutation_tags(mutation);
        for (index, cell) in mutation.cells().iter().enumerate() {
            edit.push_borrowed(&cell, if tags.is_empty() { cell.tags() } else { &tags });
            if cell.timestamp() != LATEST_TIMESTAMP {
                continue;
            }
            let timestamp = if cell.type_code() == CellType::Delete.code() {
                let (row, family, qualifier) = (cell.row(), cell.family(), cell.qualifier());
                let nth = count_same_deletes(mutation.cells(), index);
                self.newest_timestamp(row, family, qualifier, nth)?.unwrap_or(given)
            } else {
                given
            };
            edit.set_timestamp(edit.len() - 1, timestamp);
        }
        Ok(())
    }

    /// The strongest durability that one of the mutations, or the table, requests.
    pub(super) fn durability_of<'m>(
        &self,
        mutations: impl Iterator<Item = &'m Mutation>,
    ) -> Durability {
        let table = self.settings.durability;
        mutations
            .map(|mutation| match mutation.durability() {
                Durability::UseDefault => table,
                durability => durability,
            })
            .max_by_key(|durability| *durability as u8)
            .unwrap_or(table)
    }
}

/// How many deletes of the newest version of this column a mutation has up to `index`. Those that
/// name their version do not count (`HRegion.prepareDeleteTimestamps`).
fn count_same_deletes(cells: &CellBuffer, index: usize) -> usize {
    let Some(cell) = cells.get(index) else { return 1 };
    let is_same = |other: &CellRef<'_>| {
        other.type_code() == CellType::Delete.code()
            && other.timestamp() == LATEST_TIMESTAMP
            && other.family() == cell.family()
            && other.qualifier() == cell.qualifier()
    };
    cells.iter().take(index + 1).filter(is_same).count()
}

/// The tags that a mutation's settings give its cells.
pub(super) fn mutation_tags(mutation: &Mutation) -> Vec<u8> {
    let mut tags = Vec::new();
    if let Some(millis) = mutation.time_to_live_ms() {
        push_tag(&mut tags, TagType::TTL, &millis.to_be_bytes());
    }
    tags
}

/// Among cells with the same key, only the last may stay: one write has one sequence id, and the
/// memstore never replaces a cell.
fn keep_last_of_equal_keys(edit: &mut WalEdit<'_>) {
    let is_ascending = || edit.iter().is_sorted_by(|left, right| left.key() < right.key());
    if edit.len() < 2 || is_ascending() {
        return;
    }
    // Checksum and place of each key: equal keys are among those with equal checksums.
    let mut places: Vec<(u32, usize)> =
        edit.iter().map(|cell| crc32fast::hash(cell.key())).zip(0..).collect();
    places.sort_unstable();
    let key = |place: usize| edit.get(place).map(|cell| cell.key());
    let mut doubled = Vec::new();
    for group in places.chunk_by(|left, right| left.0 == right.0).filter(|group| group.len() > 1) {
        for (index, (_, place)) in group.iter().enumerate() {
            if group[index + 1..].iter().any(|(_, later)| key(*later) == key(*place)) {
                doubled.push(*place);
            }
        }
    }
    if !doubled.is_empty() {
        doubled.sort_unstable();
        edit.remove(&doubled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_deletes_of_the_newest_version_count() {
        let delete = hblite_model::Delete::new("r")
            .column_at("f", "q", 5)
            .column("f", "q")
            .column("f", "other")
            .column("f", "q");
        let cells = delete.as_mutation().cells();
        let counts = [1, 2, 3].map(|index: usize| count_same_deletes(cells, index));
        assert_eq!(counts, [1, 1, 2]);
    }

    #[test]
    fn many_equal_keys_take_no_longer_than_many_others() {
        let mut edit = WalEdit::default();
        let key = key::build(b"r", b"f", b"q", 7, CellType::Put.code());
        for _ in 0..200_000 {
            edit.push(&CellRef::new(&key, b"", b"", 0));
        }
        keep_last_of_equal_keys(&mut edit);
        assert_eq!(edit.len(), 1);
    }

    #[test]
    fn of_equal_keys_the_last_stays() {
        let mut edit = WalEdit::default();
        let put = CellType::Put.code();
        for (row, value) in [("b", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("b", "5")] {
            let key = key::build(row.as_bytes(), b"f", b"q", 7, put);
            edit.push(&CellRef::new(&key, value.as_bytes(), b"", 0));
        }
        keep_last_of_equal_keys(&mut edit);
        let values: Vec<&[u8]> = edit.iter().map(|cell| cell.value()).collect();
        assert_eq!(values, [b"2", b"4", b"5"]);
    }
}
