//! A table as the catalog knows it: one immutable value, replaced when something changes.
//!
//! A [`TableSlot`] is the slot of a table's name. Handles keep it, and use it to find the region of
//! a row within nanoseconds, without a write to memory that threads share. When a store is rewound,
//! another engine takes over the slots that handles keep. Meanwhile they are empty, and whoever
//! needs one waits.
//!
//! Threads: any. Slots are written by catalog procedures and by rewinds only, one at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite_env::sync::{Condvar, Mutex};
use hblite_env::{Current, Published};
use hblite_model::{Error, Exception, RegionInfo, Result, TableDescriptor, TableName, TableState};

use super::Catalog;
use super::meta::RegionRow;
use super::router::Router;
use crate::invariants::ARE_CHECKED;
use crate::region::Region;

/// A table at one moment.
#[derive(Debug)]
pub(crate) struct TableEntry {
    pub(super) descriptor: Arc<TableDescriptor>,
    pub(super) state: TableState,
    /// Every region of the table in hbase:meta, including parents of splits, by start key.
    pub(super) rows: Vec<RegionRow>,
    /// The regions in service: none if the table is disabled.
    pub(super) router: Router,
}

impl TableEntry {
    pub(super) fn new(
        descriptor: Arc<TableDescriptor>,
        state: TableState,
        mut rows: Vec<RegionRow>,
        regions: Vec<Arc<Region>>,
    ) -> Self {
        rows.sort_by(|left, right| left.info.start_key().cmp(right.info.start_key()));
        if ARE_CHECKED {
            let is_known = |region: &Arc<Region>| rows.iter().any(|row| row.info == *region.info());
            assert!(regions.iter().all(is_known), "a region in service has a row");
        }
        Self { descriptor, state, rows, router: Router::new(regions) }
    }

    /// The same in another state, with these regions in service.
    pub(super) fn with_state(&self, state: TableState, regions: Vec<Arc<Region>>) -> Self {
        Self::new(Arc::clone(&self.descriptor), state, self.rows.clone(), regions)
    }

    /// The same with other regions.
    pub(super) fn with_rows(&self, rows: Vec<RegionRow>, regions: Vec<Arc<Region>>) -> Self {
        Self::new(Arc::clone(&self.descriptor), self.state, rows, regions)
    }

    /// Refuses a table that is not in this state: in service, or not.
    ///
    /// # Errors
    /// `TableNotEnabled`, `TableNotDisabled`.
    pub(super) fn check_state(&self, state: TableState) -> Result<()> {
        if self.state == state {
            return Ok(());
        }
        let exception = match state {
            TableState::Disabled => Exception::TableNotDisabled,
            _ => Exception::TableNotEnabled,
        };
        Err(Error::new(exception, self.descriptor.name().to_string()))
    }

    /// The regions in service.
    pub(super) fn regions(&self) -> &[Arc<Region>] {
        self.router.regions()
    }

    /// The regions that hold the table's rows, whether in service or not.
    pub(super) fn live_rows(&self) -> impl Iterator<Item = &RegionRow> {
        self.rows.iter().filter(|row| !row.info.is_split)
    }

    /// Parents of splits that may still be read from.
    pub(super) fn split_parents(&self) -> impl Iterator<Item = &RegionRow> {
        self.rows.iter().filter(|row| row.info.is_split)
    }

    /// The region in service with this encoded name.
    pub(super) fn region(&self, encoded_name: &str) -> Option<&Arc<Region>> {
        self.regions().iter().find(|region| region.info().encoded_name() == encoded_name)
    }

    /// The same, unless it is unassigned.
    pub(super) fn assigned_region(&self, encoded_name: &str) -> Option<&Arc<Region>> {
        self.region(encoded_name).filter(|region| !region.is_unassigned())
    }
}

/// The regions of a table at one moment.
pub(crate) struct Routes<'a> {
    slot: &'a TableSlot,
    entry: Option<Arc<TableEntry>>,
}

impl Routes<'_> {
    /// The region that holds the first of `items`, whose rows ascend, and how many it holds of
    /// them.
    ///
    /// # Errors
    /// As [`TableSlot::route`].
    pub(crate) fn run<T>(
        &self,
        items: &[T],
        row: impl Fn(&T) -> &[u8],
    ) -> Result<(&Region, usize)> {
        let entry = self.entry.as_deref();
        entry.and_then(|entry| entry.router.find_run(items, &row)).ok_or_else(|| {
            let first = items.first().map(row).unwrap_or_default();
            self.slot.no_region(entry, first)
        })
    }
}

/// The slot of a table's name.
#[derive(Debug)]
pub(crate) struct TableSlot {
    name: TableName,
    entry: Published<Option<Arc<TableEntry>>>,
    /// How often it has moved to another engine.
    moves: AtomicU64,
    is_moving: Mutex<bool>,
    moved: Condvar,
}

impl TableSlot {
    pub(super) fn new(name: TableName, entry: Option<Arc<TableEntry>>) -> Self {
        Self {
            name,
            entry: Published::new(Arc::new(entry)),
            moves: AtomicU64::new(0),
            is_moving: Mutex::new(false),
            moved: Condvar::new(),
        }
    }

    pub(crate) fn name(&self) -> &TableName {
        &self.name
    }

    /// How often it has moved to another engine.
    #[inline]
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Acquire)
    }

    /// Empties the slot until [`TableSlot::end_move`]. Returns another one with its contents.
    fn begin_move(&self) -> Self {
        let before = Self::new(self.name.clone(), Option::clone(&self.read()));
        *self.is_moving.lock() = true;
        self.moves.fetch_add(1, Ordering::AcqRel);
        self.set(None);
        before
    }

    fn end_move(&self, entry: Option<Arc<TableEntry>>) {
        self.set(entry);
        *self.is_moving.lock() = false;
        self.moved.notify_all();
    }

    #[inline]
    fn read(&self) -> Current<Option<Arc<TableEntry>>> {
        let entry = self.entry.read();
        if entry.is_some() { entry } else { self.read_when_moved() }
    }

    #[cold]
    fn read_when_moved(&self) -> Current<Option<Arc<TableEntry>>> {
        let mut is_moving = self.is_moving.lock();
        while *is_moving {
            self.moved.wait(&mut is_moving);
        }
        self.entry.read()
    }

    pub(super) fn set(&self, entry: Option<Arc<TableEntry>>) {
        self.entry.set(Arc::new(entry));
    }

    /// The current table.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub(crate) fn entry(&self) -> Result<Arc<TableEntry>> {
        Option::clone(&self.read()).ok_or_else(|| table_not_found(&self.name))
    }

    pub(super) fn is_present(&self) -> bool {
        self.read().is_some()
    }

    /// The region that holds `row`.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`.
    pub(crate) fn route(&self, row: &[u8]) -> Result<Arc<Region>> {
        self.with_region(row, |region| Ok(Arc::clone(region)))
    }

    /// Calls `work` with the region that holds `row`.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; those of `work`.
    #[inline]
    pub(crate) fn with_region<T>(
        &self,
        row: &[u8],
        work: impl FnOnce(&Arc<Region>) -> Result<T>,
    ) -> Result<T> {
        let entry = self.read();
        match entry.as_ref().and_then(|entry| entry.router.find(row)) {
            Some(region) => work(region),
            None => Err(self.no_region(entry.as_deref(), row)),
        }
    }

    /// The regions now, for many rows.
    pub(crate) fn routes(&self) -> Routes<'_> {
        Routes { slot: self, entry: Option::clone(&self.read()) }
    }

    /// The last region with rows before `row`; the last of all if `row` is empty.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`.
    pub(crate) fn route_before(&self, row: &[u8]) -> Result<Arc<Region>> {
        let entry = self.read();
        match entry.as_ref().and_then(|entry| entry.router.find_before(row)) {
            Some(region) => Ok(Arc::clone(region)),
            None => Err(self.no_region(entry.as_deref(), row)),
        }
    }

    #[cold]
    fn no_region(&self, entry: Option<&TableEntry>, row: &[u8]) -> Error {
        let Some(entry) = entry else {
            return table_not_found(&self.name);
        };
        if entry.state != TableState::Enabled {
            let message = format!("{} is disabled.", self.name);
            return Error::new(Exception::TableNotEnabled, message);
        }
        no_region(&self.name, row)
    }

    /// The identity of the region that holds `row`, in service or not.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub(crate) fn locate(&self, row: &[u8]) -> Result<RegionInfo> {
        let entry = self.entry()?;
        let region = entry.live_rows().find(|region| region.info.contains_row(row));
        region.map(|region| region.info.clone()).ok_or_else(|| self.no_region(Some(&entry), row))
    }
}

/// The slots that handles keep, on their way to another engine. They return if they get to none.
pub(crate) struct MovingSlots<'c> {
    from: &'c Catalog,
    slots: Vec<Arc<TableSlot>>,
}

impl Catalog {
    /// Takes the slots that handles keep out of the catalog, which has others for its own use from
    /// then on.
    pub(crate) fn move_slots(&self) -> MovingSlots<'_> {
        let mut tables = self.tables.write();
        let kept = tables.values_mut().filter(|slot| Arc::strong_count(slot) > 1);
        let slots = kept.map(|slot| {
            let own = Arc::new(slot.begin_move());
            std::mem::replace(slot, own)
        });
        MovingSlots { from: self, slots: slots.collect() }
    }

    fn take_slots(&self, slots: Vec<Arc<TableSlot>>) {
        let mut tables = self.tables.write();
        for slot in slots {
            let own = tables.insert(slot.name.clone(), Arc::clone(&slot));
            slot.end_move(own.and_then(|own| Option::clone(&own.read())));
        }
    }
}

impl MovingSlots<'_> {
    /// Puts the slots into another catalog, with its tables in them.
    pub(crate) fn move_to(mut self, catalog: &Catalog) {
        catalog.take_slots(std::mem::take(&mut self.slots));
    }
}

impl Drop for MovingSlots<'_> {
    fn drop(&mut self) {
        self.from.take_slots(std::mem::take(&mut self.slots));
    }
}

/// No region holds the row: there is a hole in the table.
pub(super) fn no_region(table: &TableName, row: &[u8]) -> Error {
    let row = hblite_model::bytes::to_string_binary(row);
    Error::new(Exception::Io, format!("No region of {table} holds row '{row}'"))
}

pub(super) fn table_not_found(name: &TableName) -> Error {
    Error::new(Exception::TableNotFound, name.to_string())
}
