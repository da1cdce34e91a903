//! Reads and writes rows.
//!
//! Whatever HBase's client refuses is refused here, with the same messages, before anything is
//! sent. Increments, appends and conditional writes carry a nonce, so that an attempt whose answer
//! was lost does not count twice.

mod aggregate;
mod assemble;
mod batch;
mod endpoint;
mod limit;
mod region_call;
mod regions_scan;
mod result_scanner;
mod scan_region;
mod timeline;

use std::sync::Arc;

use hblite_model::{
    Action, ActionResult, CheckAndMutate, CheckAndMutateResult, Error, Exception, Get, Increment,
    Mutation, MutationKind, Nonce, Result, RowMutations, RowResult, Scan, TableName,
};
use hblite_wire::cell_block::{CellReader, Codec};
use hblite_wire::convert::MultiRequest;
use hblite_wire::{convert, pb};

pub use self::result_scanner::ResultScanner;

use self::region_call::RegionCall;
use self::timeline::Replicas;
use crate::error::Thrown;
use crate::locator::Location;
use crate::rpc::Answer;
use crate::settings::ClientSettings;
use crate::shared::Shared;

/// The encoding of cells in requests and answers.
const CODEC: Codec = Codec::KeyValue;

/// A table of a cluster. Cheap to clone; used by any number of tasks at once.
#[derive(Debug, Clone)]
pub struct Table {
    shared: Arc<Shared>,
    name: TableName,
}

impl Table {
    pub(crate) fn new(shared: Arc<Shared>, name: TableName) -> Self {
        Self { shared, name }
    }

    /// The name.
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// The settings of the client.
    pub fn settings(&self) -> &ClientSettings {
        &self.shared.settings
    }

    /// Reads one row; empty if it does not exist.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`, `IllegalArgument`; `Io` if no
    /// server answered in time.
    pub async fn get(&self, get: &Get) -> Result<RowResult> {
        get.check()?;
        self.read(get, false, |result, cells| convert::result_from(&result, cells)).await
    }

    /// Whether a get finds anything.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub async fn exists(&self, get: &Get) -> Result<bool> {
        get.check()?;
        self.read(get, true, |result, _| Ok(result.exists.unwrap_or(false))).await
    }

    async fn read<T>(
        &self,
        get: &Get,
        existence_only: bool,
        read: impl Fn(pb::Result, &mut CellReader<'_>) -> Result<T>,
    ) -> Result<T> {
        let message =
            pb::Get { existence_only: Some(existence_only), ..convert::get_message(get)? };
        let request = |location: &Location| {
            let region = convert::region_specifier(&location.region_name);
            Ok((pb::GetRequest { region, get: message.clone() }, Vec::new()))
        };
        let call = RegionCall { table: &self.name, row: get.row(), method: "Get", request };
        let replicas = Replicas::of(get.as_scan(), self.shared.settings.primary_get_timeout);
        call.run(replicas, &self.shared, |_: &Location, answer: Answer<pb::GetResponse>| {
            let result = answer.message.result.unwrap_or_default();
            Ok(read(result, &mut CellReader::new(&answer.cells))?)
        })
        .await
    }

    /// Begins a scan. Rows are read when they are requested.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub async fn scan(&self, scan: &Scan) -> Result<ResultScanner> {
        scan.check()?;
        ResultScanner::open(Arc::clone(&self.shared), self.name.clone(), scan.clone()).await
    }

    /// Writes one row: a put, delete, increment or append.
    ///
    /// # Errors
    /// As [`Table::get`]; `RegionTooBusy` if the server had no room until the attempts were used
    /// up.
    pub async fn mutate(&self, mutation: &Mutation) -> Result<()> {
        self.check_mutation(mutation)?;
        let nonce = is_counted(mutation).then(|| self.shared.new_nonce());
        self.send(mutation, None, nonce).await.map(drop)
    }

    /// Increments or appends, and returns the new values. A retry with the same nonce has no
    /// further effect; without a nonce, this holds only for the client's own retries.
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn read_modify_write(
        &self,
        mutation: &Mutation,
        nonce: Option<Nonce>,
    ) -> Result<RowResult> {
        self.check_mutation(mutation)?;
        let nonce = nonce.unwrap_or_else(|| self.shared.new_nonce());
        Ok(self.send(mutation, None, Some(nonce)).await?.1)
    }

    /// Adds to one counter, and returns its new value.
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn increment_column(
        &self,
        row: &[u8],
        family: &[u8],
        qualifier: &[u8],
        amount: i64,
    ) -> Result<i64> {
        if row.is_empty() {
            return Err(Error::invalid_argument(Exception::Io, "Row length is 0"));
        }
        let increment = Increment::new(row).add(family, qualifier, amount);
        let result = self.read_modify_write(increment.as_mutation(), None).await?;
        let value = result.value(family, qualifier).and_then(|value| value.try_into().ok());
        Ok(value.map_or(0, i64::from_be_bytes))
    }

    /// Applies several writes to one row, all or none. For the nonce see
    /// [`Table::read_modify_write`].
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn mutate_row(
        &self,
        mutations: &RowMutations,
        nonce: Option<Nonce>,
    ) -> Result<RowResult> {
        if mutations.mutations().is_empty() {
            let message = "Index 0 out of bounds for length 0";
            return Err(Error::new(Exception::ArrayIndexOutOfBounds, message));
        }
        mutations.check()?;
        self.check_cell_sizes(mutations)?;
        Ok(self.send_row(mutations, None, nonce).await?.1)
    }

    /// Writes if a condition on the row holds. For the nonce see [`Table::read_modify_write`].
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn check_and_mutate(
        &self,
        check: &CheckAndMutate,
        nonce: Option<Nonce>,
    ) -> Result<CheckAndMutateResult> {
        let (_, mutations) = check.parts()?;
        self.check_cell_sizes(mutations)?;
        let condition = Some(convert::condition_message(check)?);
        let (is_success, row) = match mutations.mutations() {
            [one] => {
                let nonce = Some(nonce.unwrap_or_else(|| self.shared.new_nonce()));
                self.send(one, condition, nonce).await?
            }
            _ => self.send_row(mutations, condition, nonce).await?,
        };
        let result = (is_success && !row.is_empty()).then_some(row);
        Ok(CheckAndMutateResult { is_success, result })
    }

    /// Runs actions on many rows, grouped by server. Each succeeds or fails independently; the
    /// results are in the order of the actions.
    ///
    /// # Errors
    /// `IllegalArgument` for the whole batch if HBase's client would refuse one of the actions.
    pub async fn batch(&self, actions: &[Action]) -> Result<Vec<Result<ActionResult>>> {
        for (index, action) in actions.iter().enumerate() {
            action.check_as_item(index, self.cell_size_max())?;
        }
        batch::run(&self.shared, &self.name, actions).await
    }
}

/// The calls that send writes.
impl Table {
    /// Sends one write, possibly with a condition. Returns whether it took place, and new values.
    async fn send(
        &self,
        mutation: &Mutation,
        condition: Option<pb::Condition>,
        nonce: Option<Nonce>,
    ) -> Result<(bool, RowResult)> {
        let request = |location: &Location| {
            let mut cells = Vec::new();
            let mut message = convert::mutation_message(mutation, CODEC, &mut cells);
            message.nonce = nonce.map(|nonce| nonce.number);
            let request = pb::MutateRequest {
                region: convert::region_specifier(&location.region_name),
                mutation: message,
                condition: condition.clone(),
                nonce_group: nonce.map(|nonce| nonce.group),
            };
            Ok((request, cells))
        };
        let call = RegionCall { table: &self.name, row: mutation.row(), method: "Mutate", request };
        call.run(
            Replicas::PRIMARY,
            &self.shared,
            |_: &Location, answer: Answer<pb::MutateResponse>| {
                let mut cells = CellReader::new(&answer.cells);
                let result =
                    answer.message.result.map(|one| convert::result_from(&one, &mut cells));
                let row = result.transpose()?.unwrap_or_default();
                Ok((answer.message.processed.unwrap_or(true), row))
            },
        )
        .await
    }

    /// Sends several writes to one row, possibly with a condition.
    async fn send_row(
        &self,
        mutations: &RowMutations,
        condition: Option<pb::Condition>,
        nonce: Option<Nonce>,
    ) -> Result<(bool, RowResult)> {
        let nonce = nonce.unwrap_or_else(|| self.shared.new_nonce());
        let request = |location: &Location| {
            let mut request = MultiRequest::new(nonce.group, CODEC);
            let (region, condition) = (&location.region_name, condition.as_ref());
            request.add_row(region, 0, mutations, true, condition, nonce.number);
            Ok(request.finish())
        };
        let call = RegionCall { table: &self.name, row: mutations.row(), method: "Multi", request };
        call.run(
            Replicas::PRIMARY,
            &self.shared,
            |location: &Location, answer: Answer<pb::MultiResponse>| {
                let statistics = answer.message.region_statistics.as_ref();
                self.shared.pushback.note(statistics, std::iter::once(location));
                let results = answer.message.region_action_result;
                let Some(result) = results.into_iter().next() else {
                    return Err(Error::do_not_retry("an answer without a result").into());
                };
                if let Some(exception) = &result.exception {
                    return Err(Thrown::from_pair(exception).into());
                }
                let row = batch::row_of(&result, &mut CellReader::new(&answer.cells))?;
                Ok((result.processed.or(answer.message.processed).unwrap_or(true), row))
            },
        )
        .await
    }
}

/// The checks of HBase's client.
impl Table {
    fn check_mutation(&self, mutation: &Mutation) -> Result<()> {
        mutation.check()?;
        self.check_cell_size(mutation)
    }

    fn check_cell_size(&self, mutation: &Mutation) -> Result<()> {
        // The limit is for puts; the server checks the new values of the others.
        match mutation.kind() {
            MutationKind::Put => mutation.check_cell_size(self.cell_size_max()),
            _ => Ok(()),
        }
    }

    fn cell_size_max(&self) -> Option<usize> {
        Some(self.shared.settings.cell_size_max_bytes).filter(|max| *max > 0)
    }

    fn check_cell_sizes(&self, mutations: &RowMutations) -> Result<()> {
        mutations.mutations().iter().try_for_each(|mutation| self.check_cell_size(mutation))
    }
}

/// Whether the write would take effect again if it were repeated.
fn is_counted(mutation: &Mutation) -> bool {
    matches!(mutation.kind(), MutationKind::Increment | MutationKind::Append)
}
