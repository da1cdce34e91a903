//! A table of a cluster, and scans of it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use hblite_client::{Admin, ResultScanner, Table};
use hblite_model::{
    Action, ActionResult, CellRef, CheckAndMutate, CheckAndMutateResult, Get, Mutation, Nonce,
    RegionInfo, Result, RowMutations, RowResult, Scan, ScanMetrics, ScanStep, TableDescriptor,
    TableName,
};

use super::runtime::Runtime;
use crate::backend::{Rows, ScannerBackend, TableBackend, WriteBuffer};

/// A table.
#[derive(Debug)]
pub(super) struct ClusterTable {
    table: Table,
    admin: Admin,
    runtime: Arc<Runtime>,
}

impl ClusterTable {
    pub(super) fn new(table: Table, admin: Admin, runtime: Arc<Runtime>) -> Self {
        Self { table, admin, runtime }
    }
}

impl TableBackend for ClusterTable {
    fn name(&self) -> &TableName {
        self.table.name()
    }

    fn descriptor(&self) -> Result<TableDescriptor> {
        self.runtime.run(self.admin.describe_table(self.table.name()))
    }

    fn regions(&self) -> Result<Vec<RegionInfo>> {
        self.runtime.run(self.admin.regions(self.table.name()))
    }

    fn get(&self, get: &Get) -> Result<RowResult> {
        self.runtime.run(self.table.get(get))
    }

    fn exists(&self, get: &Get) -> Result<bool> {
        self.runtime.run(self.table.exists(get))
    }

    fn scan(&self, scan: &Scan) -> Result<Rows> {
        let scanner = self.runtime.run(self.table.scan(scan))?;
        let runtime = Arc::clone(&self.runtime);
        Ok(Rows::new(Box::new(ClusterScanner { scanner, skipped: None, runtime })))
    }

    fn mutate(&self, mutation: &Mutation) -> Result<()> {
        self.runtime.run(self.table.mutate(mutation))
    }

    fn mutate_all(&self, mutations: &[&Mutation]) -> Result<()> {
        let actions: Vec<Action> =
            mutations.iter().map(|mutation| Action::Mutation((*mutation).clone())).collect();
        self.batch(&actions)?.into_iter().try_for_each(|result| result.map(drop))
    }

    fn read_modify_write(&self, mutation: &Mutation, nonce: Option<Nonce>) -> Result<RowResult> {
        self.runtime.run(self.table.read_modify_write(mutation, nonce))
    }

    fn increment_column(
        &self,
        row: &[u8],
        family: &[u8],
        qualifier: &[u8],
        amount: i64,
    ) -> Result<i64> {
        self.runtime.run(self.table.increment_column(row, family, qualifier, amount))
    }

    fn mutate_row(&self, mutations: &RowMutations, nonce: Option<Nonce>) -> Result<RowResult> {
        self.runtime.run(self.table.mutate_row(mutations, nonce))
    }

    fn check_and_mutate(
        &self,
        check: &CheckAndMutate,
        nonce: Option<Nonce>,
    ) -> Result<CheckAndMutateResult> {
        self.runtime.run(self.table.check_and_mutate(check, nonce))
    }

    fn write_buffer(&self) -> WriteBuffer {
        let settings = self.table.settings();
        WriteBuffer {
            size_max_bytes: settings.write_buffer_size_bytes as u64,
            age_max: settings.write_buffer_age_max,
        }
    }

    fn batch(&self, actions: &[Action]) -> Result<Vec<Result<ActionResult>>> {
        self.runtime.run(self.table.batch(actions))
    }
}

/// A scan.
#[derive(Debug)]
struct ClusterScanner {
    // Dropped before the runtime, on which it closes its scanner.
    scanner: ResultScanner,
    /// A row whose remaining results are to be skipped.
    skipped: Option<Vec<u8>>,
    runtime: Arc<Runtime>,
}

impl ClusterScanner {
    /// Whether a result belongs to the row that is being skipped.
    fn is_skipped(&mut self, result: &RowResult) -> bool {
        let is_skipped = self.skipped.as_deref() == Some(result.row());
        if !is_skipped {
            self.skipped = None;
        }
        is_skipped
    }

    fn next(&mut self) -> Result<Option<RowResult>> {
        while let Some(row) = self.runtime.run(self.scanner.next_row())? {
            if !self.is_skipped(&row) {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

impl ScannerBackend for ClusterScanner {
    fn next_row(&mut self, row: &mut RowResult) -> Result<bool> {
        let next = self.next()?;
        let has_row = next.is_some();
        *row = next.unwrap_or_default();
        Ok(has_row)
    }

    fn next_row_within(&mut self, row: &mut RowResult, limit: Duration) -> Result<ScanStep> {
        loop {
            let step = self.runtime.run(self.scanner.next_row_within(limit))?;
            let step = step.map_row(|found| *row = found);
            if step != ScanStep::Row(()) || !self.is_skipped(row) {
                return Ok(step);
            }
        }
    }

    fn metrics(&self) -> ScanMetrics {
        self.scanner.metrics()
    }

    fn for_each_cell(
        &mut self,
        visit: &mut dyn FnMut(&CellRef<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        while let Some(row) = self.next()? {
            if row.cells().any(|cell| visit(&cell).is_break()) {
                self.skipped = Some(row.row().to_vec());
                return Ok(());
            }
        }
        Ok(())
    }
}
