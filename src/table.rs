//! Reads and writes rows.

use hblite_model::{
    Action, ActionResult, Append, CheckAndMutate, CheckAndMutateResult, Delete, Get, Increment,
    Mutation, Nonce, Put, RegionInfo, Result, RowMutations, RowResult, Scan, TableDescriptor,
    TableName,
};

use crate::backend::{AnyTable, BackendTable, Rows, WriteBuffer};
use crate::buffered_mutator::BufferedMutator;
use crate::result_scanner::ResultScanner;

/// A table.
///
/// # Errors
/// Every method that touches rows may return `TableNotFound`, `TableNotEnabled`,
/// `NoSuchColumnFamily`, `IllegalArgument` (what HBase's client refuses), `RegionTooBusy` (memory
/// is full; try again) and `Closed`. The errors carry HBase's exception class and message.
#[derive(Debug, Clone)]
pub struct Table {
    table: BackendTable,
}

/// Calls the backend's table.
macro_rules! call {
    ($table:expr, $method:ident($($argument:expr),*)) => {
        match &$table.table.0 {
            AnyTable::Embedded(table) => table.$method($($argument),*),
            AnyTable::Other(table) => table.$method($($argument),*),
        }
    };
}

impl Table {
    pub(crate) fn new(table: BackendTable) -> Self {
        Self { table }
    }

    /// The name.
    pub fn name(&self) -> &TableName {
        call!(self, name())
    }

    /// The settings of the table and its families.
    pub fn descriptor(&self) -> Result<TableDescriptor> {
        call!(self, descriptor())
    }

    /// The regions in order of their start keys.
    pub fn regions(&self) -> Result<Vec<RegionInfo>> {
        call!(self, regions())
    }

    /// Reads one row. For a missing row, the result is empty.
    ///
    /// ```
    /// # use hblite::*;
    /// # let connection = open_in_memory()?;
    /// # connection.admin().create_table(&TableDescriptor::new("t".parse()?)
    /// #     .with_family(ColumnFamilyDescriptor::new("f").with_versions(2)))?;
    /// let table = connection.table("t")?;
    /// table.put(&Put::new("row").add_at("f", "q", 1, "old").add_at("f", "q", 2, "new"))?;
    /// let row = table.get(&Get::new("row").with_column("f", "q").with_versions(2))?;
    /// let values: Vec<&[u8]> = row.cells().map(|cell| cell.value()).collect();
    /// assert_eq!(values, [b"new", b"old"]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn get(&self, get: &Get) -> Result<RowResult> {
        call!(self, get(get))
    }

    /// Reads many rows; the results are in the order of the gets.
    ///
    /// ```
    /// # use hblite::*;
    /// # let connection = open_in_memory()?;
    /// # connection.admin().create_table(&TableDescriptor::new("t".parse()?)
    /// #     .with_family(ColumnFamilyDescriptor::new("f")))?;
    /// let table = connection.table("t")?;
    /// table.put(&Put::new("b").add("f", "q", "v"))?;
    /// let rows = table.get_all(&[Get::new("a"), Get::new("b")])?;
    /// assert!(rows[0].is_empty() && !rows[1].is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error; [`Table::batch`] reports one for each action.
    pub fn get_all(&self, gets: &[Get]) -> Result<Vec<RowResult>> {
        let actions: Vec<Action> = gets.iter().cloned().map(Action::Get).collect();
        let results = self.batch(&actions)?.into_iter();
        results.map(|result| result.map(ActionResult::into_row)).collect()
    }

    /// Whether a get finds anything. Reads only the first cell, unless its filter evaluates whole
    /// rows.
    pub fn exists(&self, get: &Get) -> Result<bool> {
        call!(self, exists(get))
    }

    /// Reads rows in order.
    ///
    /// The scanner sees each region as it was when the scan reached it.
    pub fn scan(&self, scan: &Scan) -> Result<ResultScanner> {
        let rows = match &self.table.0 {
            AnyTable::Embedded(table) => Rows::embedded(table.scan(scan)?),
            AnyTable::Other(table) => table.scan(scan)?,
        };
        Ok(ResultScanner::new(rows))
    }

    /// Writes cells to one row: all or none.
    ///
    /// After `Ok`, every later read sees the cells, and they are as durable as the put requests.
    /// Cells without a timestamp get the store's time. A cell adds a version, or replaces the
    /// version with the same timestamp. Newer versions, delete markers and times to live decide
    /// whether reads return it.
    pub fn put(&self, put: &Put) -> Result<()> {
        call!(self, mutate(put.as_mutation()))
    }

    /// Writes many rows with one log entry per region. Each put is applied completely or not at
    /// all; after an error, some may have been applied.
    pub fn put_all(&self, puts: &[Put]) -> Result<()> {
        call!(self, mutate_all(&as_mutations(puts)))
    }

    /// Deletes versions, columns, families or the row by writing markers. Markers also hide cells
    /// that are put later with a timestamp that they cover.
    pub fn delete(&self, delete: &Delete) -> Result<()> {
        call!(self, mutate(delete.as_mutation()))
    }

    /// Deletes from many rows, like [`Table::put_all`].
    pub fn delete_all(&self, deletes: &[Delete]) -> Result<()> {
        call!(self, mutate_all(&as_mutations(deletes)))
    }

    /// Writes to many rows, like [`Table::put_all`]. Increments and appends are applied one by one,
    /// after the puts and deletes.
    pub fn mutate_all(&self, mutations: &[Mutation]) -> Result<()> {
        call!(self, mutate_all(&as_mutations(mutations)))
    }

    /// Adds to counters of one row, all or none, and returns their new values.
    pub fn increment(&self, increment: &Increment) -> Result<RowResult> {
        call!(self, read_modify_write(increment.as_mutation(), None))
    }

    /// Adds to one counter and returns its new value.
    pub fn increment_column(
        &self,
        row: impl AsRef<[u8]>,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        amount: i64,
    ) -> Result<i64> {
        call!(self, increment_column(row.as_ref(), family.as_ref(), qualifier.as_ref(), amount))
    }

    /// Appends to values of one row, all or none, and returns the new values.
    pub fn append(&self, append: &Append) -> Result<RowResult> {
        call!(self, read_modify_write(append.as_mutation(), None))
    }

    /// Applies several writes to one row, all or none. Returns the results of the increments and
    /// appends among them.
    pub fn mutate_row(&self, mutations: &RowMutations) -> Result<RowResult> {
        call!(self, mutate_row(mutations, None))
    }

    /// Writes only if a condition on the row holds, in one atomic step.
    ///
    /// ```
    /// # use hblite::*;
    /// # let connection = open_in_memory()?;
    /// # connection.admin().create_table(&TableDescriptor::new("t".parse()?)
    /// #     .with_family(ColumnFamilyDescriptor::new("f")))?;
    /// let table = connection.table("t")?;
    /// let claim = CheckAndMutate::new("job")
    ///     .if_not_exists("f", "owner")
    ///     .then(Put::new("job").add("f", "owner", "me"));
    /// assert!(table.check_and_mutate(&claim)?.is_success);
    /// assert!(!table.check_and_mutate(&claim)?.is_success);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn check_and_mutate(&self, check: &CheckAndMutate) -> Result<CheckAndMutateResult> {
        call!(self, check_and_mutate(check, None))
    }

    /// A handle for one write, which takes effect only once even if it is repeated with the same
    /// nonce. This is for callers that retry when they got no answer. The outcome is remembered for
    /// half an hour (or a million later writes) and survives a crash as long as its cells are in
    /// the log.
    ///
    /// ```
    /// # use hblite::*;
    /// # let connection = open_in_memory()?;
    /// # connection.admin().create_table(&TableDescriptor::new("t".parse()?)
    /// #     .with_family(ColumnFamilyDescriptor::new("f")))?;
    /// let table = connection.table("t")?;
    /// let nonce = Nonce { group: 1, number: 815 };
    /// let visit = Increment::new("page").add("f", "n", 1);
    /// for _ in 0..3 {
    ///     let row = table.once(nonce).increment(&visit)?;
    ///     assert_eq!(row.value("f", "n"), Some(1i64.to_be_bytes().as_slice()));
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn once(&self, nonce: Nonce) -> Once<'_> {
        Once { table: self, nonce }
    }

    /// Runs actions on many rows. Each succeeds or fails independently, and sees the effect of
    /// earlier actions on its row; the order among different rows is not specified. The puts and
    /// deletes of a region share one log entry, unless another action on the same row comes between
    /// them.
    ///
    /// # Errors
    /// The call itself fails, and no action is run, if HBase's client would refuse one of the
    /// actions. Errors of the store are in the results. A condition that does not hold is not an
    /// error.
    ///
    /// ```
    /// # use hblite::*;
    /// # let connection = open_in_memory()?;
    /// # connection.admin().create_table(&TableDescriptor::new("t".parse()?)
    /// #     .with_family(ColumnFamilyDescriptor::new("f")))?;
    /// let table = connection.table("t")?;
    /// let claim = CheckAndMutate::new("job").if_not_exists("f", "owner");
    /// let results = table.batch(&[
    ///     Action::from(claim.clone().then(Put::new("job").add("f", "owner", "me"))),
    ///     Action::from(claim.then(Put::new("job").add("f", "owner", "you"))),
    ///     Action::from(Get::new("job")),
    /// ])?;
    /// let results = results.into_iter().collect::<Result<Vec<ActionResult>>>()?;
    /// assert!(results[0].is_success() && !results[1].is_success());
    /// assert_eq!(results[2].row().and_then(|row| row.value("f", "owner")), Some(&b"me"[..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn batch(&self, actions: &[Action]) -> Result<Vec<Result<ActionResult>>> {
        call!(self, batch(actions))
    }
}

/// Buffered writes.
impl Table {
    /// A buffer that collects writes and sends them in batches.
    pub fn buffered_mutator(&self) -> BufferedMutator {
        let buffer = match &self.table.0 {
            AnyTable::Embedded(_) => WriteBuffer::default(),
            AnyTable::Other(table) => table.write_buffer(),
        };
        BufferedMutator::new(self.clone(), buffer)
    }
}

fn as_mutations<M: AsRef<Mutation>>(writes: &[M]) -> Vec<&Mutation> {
    writes.iter().map(AsRef::as_ref).collect()
}

/// A table for one write that takes effect once; see [`Table::once`].
#[derive(Debug)]
pub struct Once<'t> {
    table: &'t Table,
    nonce: Nonce,
}

/// Each method does what its namesake in [`Table`] does, unless that was already done.
///
/// # Errors
/// As in [`Table`]. A write that failed had no effect, and a retry attempts it again.
impl Once<'_> {
    /// Adds to counters.
    pub fn increment(&self, increment: &Increment) -> Result<RowResult> {
        call!(self.table, read_modify_write(increment.as_mutation(), Some(self.nonce)))
    }

    /// Appends to values.
    pub fn append(&self, append: &Append) -> Result<RowResult> {
        call!(self.table, read_modify_write(append.as_mutation(), Some(self.nonce)))
    }

    /// Applies several writes to one row.
    pub fn mutate_row(&self, mutations: &RowMutations) -> Result<RowResult> {
        call!(self.table, mutate_row(mutations, Some(self.nonce)))
    }

    /// Writes if a condition holds; a condition that did not hold is evaluated again.
    pub fn check_and_mutate(&self, check: &CheckAndMutate) -> Result<CheckAndMutateResult> {
        call!(self.table, check_and_mutate(check, Some(self.nonce)))
    }
}
