//! A table as its clients see it: operations find their region, batches are spread over regions.
//!
//! What HBase's Java client checks before it sends anything is checked here, with the same
//! messages. A region that closed under an operation (a split, an alter) is located again, as the
//! client does on `NotServingRegionException`.
//!
//! Threads: any.

mod region_handle;
mod scanner;

pub use crate::region::scanner::RegionStep;
pub use region_handle::{RegionHandle, RegionScan, StoreFiles};
pub use scanner::TableScanner;

use std::any::Any;
use std::sync::Arc;

use hblite_env::Clock;
use hblite_env::time::{Duration, Instant};
use hblite_model::{
    Action, CheckAndMutate, CheckAndMutateResult, Durability, Error, ErrorKind, Exception, Get,
    Increment, Mutation, MutationKind, Nonce, RegionInfo, Result, RowMutations, RowResult, Scan,
    TableDescriptor, TableName,
};

use crate::catalog::{Catalog, TableSlot};
use crate::options::EngineOptions;
use crate::region::Region;

/// How long an operation waits for a region that is closing: a large flush takes less.
const REGION_WAIT_MAX: Duration = Duration::from_secs(60);

/// A table of an open store. Cheap to clone.
#[derive(Clone)]
pub struct TableHandle {
    catalog: Arc<Catalog>,
    options: Arc<EngineOptions>,
    name: TableName,
    slot: Arc<TableSlot>,
    /// Keeps the store open.
    _store: Arc<dyn Any + Send + Sync>,
}

impl TableHandle {
    pub(crate) fn new(
        catalog: &Arc<Catalog>,
        options: &Arc<EngineOptions>,
        name: TableName,
        store: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        let slot = catalog.slot(&name);
        let (catalog, options) = (Arc::clone(catalog), Arc::clone(options));
        Self { catalog, options, name, slot, _store: store }
    }

    /// The store's clock.
    fn clock(&self) -> &Arc<dyn Clock> {
        self.catalog.clock()
    }

    /// The name.
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// The settings.
    pub fn descriptor(&self) -> Result<TableDescriptor> {
        Ok(self.catalog.descriptor(&self.name)?.as_ref().clone())
    }

    /// The regions in order of their start keys.
    pub fn regions(&self) -> Result<Vec<RegionInfo>> {
        Ok(self.catalog.region_infos(&self.name))
    }

    /// Runs `work` on the region of `row`, again if it closed meanwhile.
    fn on_region<T>(&self, row: &[u8], work: impl Fn(&Region) -> Result<T>) -> Result<T> {
        let mut deadline = None;
        loop {
            let result = work(self.slot.route(row)?.as_ref());
            let is_retried = result.as_ref().is_err_and(|error| {
                self.waits_after(error, &mut deadline, || self.slot.route(row))
            });
            if !is_retried {
                return result;
            }
        }
    }

    /// Whether an operation that failed is tried again: its region was closing, and before the
    /// deadline, which is set by the first wait, `find` gives one that answers.
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
        let deadline = *deadline.get_or_insert_with(|| Instant::now() + REGION_WAIT_MAX);
        let answers = || find().map_or(true, |region| region.answers());
        Instant::now() < deadline && self.catalog.region_changes().wait_until(deadline, answers)
    }

    /// Reads one row.
    pub fn get(&self, get: &Get) -> Result<RowResult> {
        get.check()?;
        self.on_region(get.row(), |region| region.read_row(get).map(RowResult::new))
    }

    /// Whether a get finds anything.
    pub fn exists(&self, get: &Get) -> Result<bool> {
        Ok(!self.get(get)?.is_empty())
    }

    /// Begins a scan.
    pub fn scan(&self, scan: &Scan) -> Result<TableScanner> {
        scan.check()?;
        TableScanner::open(self.clone(), scan.clone())
    }

    /// Writes one row.
    pub fn mutate(&self, mutation: &Mutation) -> Result<()> {
        self.check_mutation(mutation)?;
        if matches!(mutation.kind(), MutationKind::Increment | MutationKind::Append) {
            return self.read_modify_write(mutation, None).map(drop);
        }
        self.on_region(mutation.row(), |region| region.mutate_rows(&[mutation], None))
    }

    /// Increments or appends. A repeat with the same nonce writes nothing and gives the same.
    pub fn read_modify_write(
        &self,
        mutation: &Mutation,
        nonce: Option<Nonce>,
    ) -> Result<RowResult> {
        self.check_mutation(mutation)?;
        let mutations = std::slice::from_ref(mutation);
        self.on_region(mutation.row(), |region| region.mutate_row(mutation.row(), mutations, nonce))
    }

    /// Adds to one counter.
    pub fn increment_column(
        &self,
        row: &[u8],
        family: &[u8],
        qualifier: &[u8],
        amount: i64,
        durability: Durability,
    ) -> Result<i64> {
        // The client sends this one unchecked; the server refuses it, and the client may retry.
        if row.is_empty() {
            return Err(Error::new(Exception::Io, "Row length is 0"));
        }
        let increment =
            Increment::new(row).with_durability(durability).add(family, qualifier, amount);
        let result = self.read_modify_write(increment.as_mutation(), None)?;
        let value = result.value(family, qualifier).and_then(|value| value.try_into().ok());
        Ok(value.map_or(0, i64::from_be_bytes))
    }

    /// Several writes to one row in one step. For the nonce see [`TableHandle::read_modify_write`].
    pub fn mutate_row(&self, mutations: &RowMutations, nonce: Option<Nonce>) -> Result<RowResult> {
        if mutations.mutations().is_empty() {
            return Err(Error::new(
                Exception::ArrayIndexOutOfBounds,
                "Index 0 out of bounds for length 0",
            ));
        }
        mutations.check()?;
        for mutation in mutations.mutations() {
            mutation.check_cell_size(self.options.cell_size_max_bytes)?;
        }
        let row = mutations.row();
        self.on_region(row, |region| region.mutate_row(row, mutations.mutations(), nonce))
    }

    /// Writes if a condition holds. For the nonce see [`TableHandle::read_modify_write`].
    pub fn check_and_mutate(
        &self,
        check: &CheckAndMutate,
        nonce: Option<Nonce>,
    ) -> Result<CheckAndMutateResult> {
        let (_, action) = check.parts()?;
        for mutation in action.mutations() {
            mutation.check_cell_size(self.options.cell_size_max_bytes)?;
        }
        self.on_region(check.row(), |region| region.check_and_mutate(check, nonce))
    }

    /// Puts and deletes of many rows.
    ///
    /// Each row for itself; the first error is given after everything was tried.
    pub fn mutate_all(&self, mutations: &[&Mutation]) -> Result<()> {
        for (index, mutation) in mutations.iter().enumerate() {
            mutation.check_as_item(index)?;
            self.check_cell_size(mutation)?;
        }
        let (plain, others): (Vec<&Mutation>, Vec<&Mutation>) = mutations
            .iter()
            .partition(|m| matches!(m.kind(), MutationKind::Put | MutationKind::Delete));
        let mut first_error = self.mutate_plain(&plain).err();
        for mutation in others {
            if let Err(error) = self.read_modify_write(mutation, None) {
                first_error.get_or_insert(error);
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Groups by region; a group goes into the log as one entry.
    fn mutate_plain(&self, mutations: &[&Mutation]) -> Result<()> {
        let mut first_error = None;
        let mut left: Vec<&Mutation> = mutations.to_vec();
        let mut deadline = None;
        while let Some(&first) = left.first() {
            let region = self.slot.route(first.row())?;
            let (mine, others): (Vec<&Mutation>, Vec<&Mutation>) =
                left.iter().partition(|mutation| region.info().contains_row(mutation.row()));
            let mut written = region.mutate_rows(&mine, None);
            let mut valid = mine;
            if written.as_ref().is_err_and(is_of_one_mutation) {
                // Nothing was written: the others must not suffer for it.
                valid.retain(|mutation| match region.check_mutation(mutation) {
                    Ok(()) => true,
                    Err(error) => {
                        first_error.get_or_insert(error);
                        false
                    }
                });
                written = region.mutate_rows(&valid, None);
            }
            left = others;
            match written {
                Ok(()) => {}
                Err(error)
                    if self.waits_after(&error, &mut deadline, || self.slot.route(first.row())) =>
                {
                    left.extend(valid);
                }
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Runs actions, each for itself.
    pub fn batch(&self, actions: &[Action]) -> Result<Vec<Result<RowResult>>> {
        for (index, action) in actions.iter().enumerate() {
            match action {
                Action::Get(get) => get.check()?,
                Action::Mutation(mutation) => {
                    mutation.check_as_item(index)?;
                    self.check_cell_size(mutation)?;
                }
                Action::RowMutations(mutations) => mutations.check()?,
            }
        }
        let told = |result: Result<RowResult>| result.map_err(|error| self.as_in_batch(error));
        Ok(actions.iter().map(|action| told(self.run(action))).collect())
    }

    fn run(&self, action: &Action) -> Result<RowResult> {
        match action {
            Action::Get(get) => self.get(get),
            Action::RowMutations(mutations) => self.mutate_row(mutations, None),
            Action::Mutation(mutation) => match mutation.kind() {
                MutationKind::Put | MutationKind::Delete => {
                    self.mutate(mutation)?;
                    Ok(RowResult::default())
                }
                MutationKind::Increment | MutationKind::Append => {
                    self.read_modify_write(mutation, None)
                }
            },
        }
    }

    /// In a batch the client does not look at the table's state: its server has no such region.
    fn as_in_batch(&self, error: Error) -> Error {
        if error.exception() != Exception::TableNotEnabled {
            return error;
        }
        let regions = self.catalog.region_infos(&self.name);
        let name = regions.first().map(RegionInfo::region_name_as_string).unwrap_or_default();
        let server = self.catalog.server_name();
        let message = format!("{name} is not online on {server}");
        Error::new(Exception::NotServingRegion, message)
    }

    fn check_mutation(&self, mutation: &Mutation) -> Result<()> {
        mutation.check()?;
        self.check_cell_size(mutation)
    }

    fn check_cell_size(&self, mutation: &Mutation) -> Result<()> {
        // The limit is for puts; increments and appends are checked when their value is known.
        if mutation.kind() == MutationKind::Put {
            mutation.check_cell_size(self.options.cell_size_max_bytes)?;
        }
        Ok(())
    }
}

/// Whether the error is about one mutation of a list and not about the region.
fn is_of_one_mutation(error: &Error) -> bool {
    matches!(error.exception(), Exception::NoSuchColumnFamily | Exception::Io)
}

impl std::fmt::Debug for TableHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TableHandle({})", self.name)
    }
}
