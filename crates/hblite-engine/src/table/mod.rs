//! A table as its clients see it: operations find their region, batches are distributed to regions.
//!
//! What HBase's Java client checks before it sends anything is checked here, with the same
//! messages. A region that closed under an operation (a split, an alter) is located again, as the
//! client does on `NotServingRegionException`.
//!
//! Threads: any.

mod batch;
mod fetches;
mod region_handle;
mod table_scanner;

pub use crate::region::region_scanner::RegionStep;
pub use region_handle::{RegionHandle, RegionScan, StoreFiles};
pub use table_scanner::TableScanner;

use std::sync::Arc;

use hblite_env::Clock;
use hblite_env::time::{Duration, Instant};
use hblite_model::cell::CellBuffer;
use hblite_model::filter::Filter;
use hblite_model::{
    CheckAndMutate, CheckAndMutateResult, Error, ErrorKind, Exception, Get, Increment, Mutation,
    MutationKind, Nonce, RegionInfo, Result, RowMutations, RowResult, Scan, TableDescriptor,
    TableName,
};

use crate::catalog::{Catalog, TableSlot};
use crate::options::EngineOptions;
use crate::region::Region;

/// How long an operation waits for a region that is closing: a large flush takes less.
const REGION_WAIT_MAX: Duration = Duration::from_secs(60);

/// A table of an open store. Cheap to clone.
#[derive(Clone)]
pub struct TableHandle {
    parts: Arc<TableParts>,
}

/// What a handle needs, in one allocation: each scan keeps it.
struct TableParts {
    options: Arc<EngineOptions>,
    slot: Arc<TableSlot>,
    /// Keeps the store open.
    store: Arc<dyn OpenStore>,
}

/// A store that is open as long as a handle keeps it.
pub(crate) trait OpenStore: Send + Sync {
    /// The catalog of the engine that currently serves the store.
    fn catalog(&self) -> Arc<Catalog>;
}

impl TableHandle {
    pub(crate) fn new(
        slot: Arc<TableSlot>,
        options: Arc<EngineOptions>,
        store: Arc<dyn OpenStore>,
    ) -> Self {
        Self { parts: Arc::new(TableParts { options, slot, store }) }
    }

    fn catalog(&self) -> Arc<Catalog> {
        self.parts.store.catalog()
    }

    /// The store's clock.
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(self.catalog().clock())
    }

    /// The name.
    pub fn name(&self) -> &TableName {
        self.parts.slot.name()
    }

    /// The settings.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub fn descriptor(&self) -> Result<TableDescriptor> {
        Ok(self.catalog().descriptor(self.name())?.as_ref().clone())
    }

    /// The regions in order of their start keys; none if the table does not exist.
    ///
    /// # Errors
    /// None at present.
    pub fn regions(&self) -> Result<Vec<RegionInfo>> {
        Ok(self.catalog().region_infos(self.name()))
    }

    /// Runs `work` on the region of `row`, and again if the region closed meanwhile.
    fn on_region<T>(&self, row: &[u8], work: impl Fn(&Region) -> Result<T>) -> Result<T> {
        let mut deadline = None;
        loop {
            let result = self.parts.slot.with_region(row, |region| work(region));
            let is_retried = result.as_ref().is_err_and(|error| {
                self.waits_after(error, &mut deadline, || self.parts.slot.route(row))
            });
            if !is_retried {
                return result;
            }
        }
    }

    /// Whether a failed operation is tried again: its region was closing, and `find` returns one in
    /// service before the deadline, which the first wait sets.
    #[cold]
    fn waits_after(
        &self,
        error: &Error,
        deadline: &mut Option<Instant>,
        find: impl Fn() -> Result<Arc<Region>>,
    ) -> bool {
        if error.kind() != ErrorKind::NotServing {
            return false;
        }
        if find().is_ok_and(|region| region.is_unassigned()) {
            return false;
        }
        let deadline = *deadline.get_or_insert_with(|| Instant::now() + REGION_WAIT_MAX);
        let answers = || find().map_or(true, |region| region.answers());
        Instant::now() < deadline && self.catalog().region_changes().wait_until(deadline, answers)
    }

    /// Reads one row.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; `NotServingRegion` if the region
    /// stays closed for a minute; those of the get's own check, of files and of filters.
    pub fn get(&self, get: &Get) -> Result<RowResult> {
        get.check()?;
        self.on_region(get.row(), |region| region.read_row(get).map(RowResult::new))
    }

    /// Whether a get finds anything. Reads only the first cell, unless its filter evaluates whole
    /// rows.
    ///
    /// # Errors
    /// As [`TableHandle::get`].
    pub fn exists(&self, get: &Get) -> Result<bool> {
        get.check()?;
        if get.filter().is_some_and(Filter::has_filter_row) {
            return Ok(!self.get(get)?.is_empty());
        }
        // A fetch of one part does not read ahead to the next one.
        let scan = get.as_scan().clone().with_batch(1).with_caching(1);
        self.on_region(get.row(), |region| {
            let (mut scanner, mut cells) = (region.scanner(&scan)?, CellBuffer::new());
            scanner.next_row(&mut cells)?;
            region.count_read(&scanner, cells.len(), cells.size_bytes());
            Ok(!cells.is_empty())
        })
    }

    /// Begins a scan.
    ///
    /// # Errors
    /// As [`TableHandle::get`].
    pub fn scan(&self, scan: &Scan) -> Result<TableScanner> {
        scan.check()?;
        TableScanner::open(self.clone(), scan.clone())
    }

    /// Writes one row.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`, `NotServingRegion`, `DoNotRetryIo`
    /// (read-only, or a counter that is not 8 bytes wide), `RegionTooBusy`, those of the mutation's
    /// own check: nothing was written. `RegionServerStopped`: the log failed, and the next open
    /// shows whether the write survived.
    pub fn mutate(&self, mutation: &Mutation) -> Result<()> {
        self.check_mutation(mutation)?;
        if matches!(mutation.kind(), MutationKind::Increment | MutationKind::Append) {
            return self.read_modify_write(mutation, None).map(drop);
        }
        self.on_region(mutation.row(), |region| region.mutate_rows(&[mutation], None))
    }

    /// Increments or appends. A retry with the same nonce writes nothing and returns the same
    /// result.
    ///
    /// # Errors
    /// As [`TableHandle::mutate`].
    pub fn read_modify_write(
        &self,
        mutation: &Mutation,
        nonce: Option<Nonce>,
    ) -> Result<RowResult> {
        self.check_mutation(mutation)?;
        let mutations = std::slice::from_ref(mutation);
        self.on_region(mutation.row(), |region| region.mutate_row(mutation.row(), mutations, nonce))
    }

    /// Adds to one counter, and returns its new value.
    ///
    /// # Errors
    /// As [`TableHandle::mutate`]; `Io` for an empty row.
    pub fn increment_column(
        &self,
        row: &[u8],
        family: &[u8],
        qualifier: &[u8],
        amount: i64,
    ) -> Result<i64> {
        // The client sends this one unchecked; the server refuses it, and the client may retry.
        if row.is_empty() {
            return Err(Error::invalid_argument(Exception::Io, "Row length is 0"));
        }
        let increment = Increment::new(row).add(family, qualifier, amount);
        let result = self.read_modify_write(increment.as_mutation(), None)?;
        let value = result.value(family, qualifier).and_then(|value| value.try_into().ok());
        Ok(value.map_or(0, i64::from_be_bytes))
    }

    /// Applies several writes to one row in one step. For the nonce see
    /// [`TableHandle::read_modify_write`].
    ///
    /// # Errors
    /// As [`TableHandle::mutate`]; `ArrayIndexOutOfBounds` if there is no mutation.
    pub fn mutate_row(&self, mutations: &RowMutations, nonce: Option<Nonce>) -> Result<RowResult> {
        if mutations.mutations().is_empty() {
            return Err(Error::new(
                Exception::ArrayIndexOutOfBounds,
                "Index 0 out of bounds for length 0",
            ));
        }
        mutations.check()?;
        for mutation in mutations.mutations() {
            mutation.check_cell_size(self.parts.options.cell_size_max_bytes)?;
        }
        let row = mutations.row();
        self.on_region(row, |region| region.mutate_row(row, mutations.mutations(), nonce))
    }

    /// Writes if a condition holds. For the nonce see [`TableHandle::read_modify_write`].
    ///
    /// # Errors
    /// As [`TableHandle::mutate`]; a condition that does not hold is not an error.
    pub fn check_and_mutate(
        &self,
        check: &CheckAndMutate,
        nonce: Option<Nonce>,
    ) -> Result<CheckAndMutateResult> {
        let (_, action) = check.parts()?;
        for mutation in action.mutations() {
            mutation.check_cell_size(self.parts.options.cell_size_max_bytes)?;
        }
        self.on_region(check.row(), |region| region.check_and_mutate(check, nonce))
    }

    fn check_mutation(&self, mutation: &Mutation) -> Result<()> {
        mutation.check()?;
        self.check_cell_size(mutation)
    }

    fn check_cell_size(&self, mutation: &Mutation) -> Result<()> {
        // The limit is for puts; increments and appends are checked when their value is known.
        if mutation.kind() == MutationKind::Put {
            mutation.check_cell_size(self.parts.options.cell_size_max_bytes)?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for TableHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TableHandle({})", self.name())
    }
}
