//! Operations of one thread on a real store, each recorded with its answer.

use hblite::{
    Action, ActionResult, Append, CheckAndMutate, Delete, Get, Increment, Mutation, Put, Result,
    RowMutations, RowResult, Scan, Table,
};

use super::atomic_row::{Answer, COLUMNS, Change, Column, Operation, Row};
use super::recorder::Recorder;

pub(crate) struct Client<'a> {
    pub(crate) table: Table,
    pub(crate) recorder: Recorder<'a>,
}

impl Client<'_> {
    pub(crate) fn get(&mut self, row: &str, columns: Vec<Column>) -> Option<Row> {
        let get = get(row, &columns);
        let invoked = self.recorder.now();
        let seen = self.table.get(&get).map(|found| read_row(&found));
        let result = seen.map(Answer::Row);
        match self.recorder.record("get", row, Operation::Read(columns), invoked, result)? {
            Answer::Row(seen) => Some(seen.clone()),
            _ => None,
        }
    }

    /// Changes of one kind in a separate call.
    pub(crate) fn write(&mut self, row: &str, changes: Vec<Change>) {
        let (parts, table) = (Parts::new(row, &changes), &self.table);
        let nothing = |()| RowResult::default();
        let invoked = self.recorder.now();
        let (call, result) = match changes[0] {
            Change::Put(..) => ("put", table.put(&parts.put).map(nothing)),
            Change::DeleteColumn(_) | Change::DeleteRow => {
                ("delete", table.delete(&parts.delete).map(nothing))
            }
            Change::Increment(..) => ("increment", table.increment(&parts.increment)),
            Change::Append(..) => ("append", table.append(&parts.append)),
        };
        let result = result.map(|told| answer(&told, &changes));
        self.recorder.record(call, row, Operation::Write(changes), invoked, result);
    }

    pub(crate) fn mutate_row(&mut self, row: &str, changes: Vec<Change>) {
        let mutations = Parts::new(row, &changes).together();
        let invoked = self.recorder.now();
        let result = self.table.mutate_row(&mutations).map(|told| answer(&told, &changes));
        self.recorder.record("mutateRow", row, Operation::Write(changes), invoked, result);
    }

    pub(crate) fn check_and_mutate(
        &mut self,
        row: &str,
        column: Column,
        expected: Option<Vec<u8>>,
        changes: Vec<Change>,
    ) {
        let (family, qualifier) = split(column);
        let check = CheckAndMutate::new(row);
        let check = match &expected {
            Some(value) => check.if_equals(family, qualifier, value),
            None => check.if_not_exists(family, qualifier),
        };
        let check = check.then_mutate_row(Parts::new(row, &changes).together());
        let invoked = self.recorder.now();
        let result = self.table.check_and_mutate(&check).map(|result| {
            let told = result.result.map(|told| read_row(&told)).unwrap_or_default();
            Answer::Checked(result.is_success, told)
        });
        let operation = Operation::Check { column, expected, changes };
        self.recorder.record("checkAndMutate", row, operation, invoked, result);
    }

    /// Puts of some rows in one call; each row counts for itself.
    pub(crate) fn put_all(&mut self, changes: Vec<(&str, Vec<Change>)>) {
        let puts: Vec<Put> =
            changes.iter().map(|(row, changes)| Parts::new(row, changes).put).collect();
        let invoked = self.recorder.now();
        let result = self.table.put_all(&puts);
        for (row, changes) in changes {
            let operation = Operation::Write(changes);
            match &result {
                Ok(()) => {
                    self.recorder.record("puts", row, operation, invoked, Ok(Answer::Done));
                }
                // It is unknown which of the rows were written.
                Err(_) => self.recorder.record_lost("puts", row, operation, invoked),
            }
        }
        self.recorder.errors.extend(result.err());
    }

    /// Reads, and writes of one kind each, in one call.
    pub(crate) fn batch(&mut self, asked: Vec<(&str, Operation)>) {
        let actions: Vec<Action> = asked.iter().map(|(row, asked)| action(row, asked)).collect();
        let invoked = self.recorder.now();
        let results = self.table.batch(&actions).expect("the client refuses none of them");
        for ((row, operation), result) in asked.into_iter().zip(results) {
            let result = result.map(ActionResult::into_row).map(|told| match &operation {
                Operation::Write(changes) => answer(&told, changes),
                Operation::Read(_) | Operation::Check { .. } => Answer::Row(read_row(&told)),
            });
            self.recorder.record("batch", row, operation, invoked, result);
        }
    }

    /// Scans from the first to the last of `rows`, which are all rows that ever exist between them,
    /// and records what it found for each. Calls `between` after each row that it finds.
    ///
    /// # Errors
    /// Those of the scan; rows that it did not reach are not recorded then.
    pub(crate) fn scan(
        &mut self,
        rows: &[&str],
        family: Option<&str>,
        is_reversed: bool,
        mut between: impl FnMut(&mut Self),
    ) -> Result<()> {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(()) };
        let scan = Scan::new()
            .with_reversed(is_reversed)
            .with_start_row(first)
            .with_stop_row_inclusive(last);
        let scan = family.into_iter().fold(scan, |scan, family| scan.with_family(family));
        let is_wanted = |column: &Column| family.is_none_or(|family| column.starts_with(family));
        let columns: Vec<Column> = COLUMNS.into_iter().filter(is_wanted).collect();
        let invoked = self.recorder.now();
        let mut scanner = self.table.scan(&scan)?;
        let mut expected = rows.iter();
        loop {
            let found = scanner.next_row()?.map(|found| (found.row().to_vec(), read_row(found)));
            let mut is_due = false;
            while !is_due && let Some(row) = expected.next() {
                let seen = found.as_ref().filter(|(name, _)| name == row.as_bytes());
                is_due = seen.is_some();
                let seen = seen.map(|(_, seen)| seen.clone()).unwrap_or_default();
                let operation = Operation::Read(columns.clone());
                self.recorder.record("scan", row, operation, invoked, Ok(Answer::Row(seen)));
            }
            let Some((name, _)) = found else { return Ok(()) };
            let name = String::from_utf8_lossy(&name);
            assert!(is_due, "scan from {first} to {last}: row {name} again or out of order");
            between(self);
        }
    }
}

/// Changes as HBase's operations.
struct Parts {
    put: Put,
    delete: Delete,
    increment: Increment,
    append: Append,
    deletes: bool,
}

impl Parts {
    fn new(row: &str, changes: &[Change]) -> Self {
        let parts = Self {
            put: Put::new(row),
            delete: Delete::new(row),
            increment: Increment::new(row),
            append: Append::new(row),
            deletes: false,
        };
        changes.iter().fold(parts, Self::add)
    }

    fn add(self, change: &Change) -> Self {
        match change {
            Change::Put(column, value) => {
                let (family, qualifier) = split(column);
                Self { put: self.put.add(family, qualifier, value), ..self }
            }
            Change::DeleteColumn(column) => {
                let (family, qualifier) = split(column);
                Self { delete: self.delete.columns(family, qualifier), deletes: true, ..self }
            }
            Change::DeleteRow => Self { deletes: true, ..self },
            Change::Increment(column, amount) => {
                let (family, qualifier) = split(column);
                Self { increment: self.increment.add(family, qualifier, *amount), ..self }
            }
            Change::Append(column, value) => {
                let (family, qualifier) = split(column);
                Self { append: self.append.add(family, qualifier, value), ..self }
            }
        }
    }

    fn mutations(self) -> Vec<Mutation> {
        let deletes = self.deletes;
        let others: [Mutation; 3] = [self.put.into(), self.increment.into(), self.append.into()];
        let others = others.into_iter().filter(|mutation| !mutation.cells().is_empty());
        deletes.then(|| self.delete.into()).into_iter().chain(others).collect()
    }

    fn together(self) -> RowMutations {
        let all = RowMutations::new(self.put.row());
        self.mutations().into_iter().fold(all, RowMutations::add)
    }
}

fn action(row: &str, operation: &Operation) -> Action {
    match operation {
        Operation::Read(columns) => Action::Get(get(row, columns)),
        Operation::Write(changes) | Operation::Check { changes, .. } => {
            Action::Mutation(Parts::new(row, changes).mutations().remove(0))
        }
    }
}

fn get(row: &str, columns: &[Column]) -> Get {
    if columns.len() == COLUMNS.len() {
        return Get::new(row);
    }
    columns.iter().fold(Get::new(row), |get, column| {
        let (family, qualifier) = split(column);
        get.with_column(family, qualifier)
    })
}

fn split(column: &str) -> (&str, &str) {
    column.split_once(':').expect("columns have a family and a qualifier")
}

/// The answer to a write: nothing for puts and deletes.
fn answer(told: &RowResult, changes: &[Change]) -> Answer {
    let is_told = |change: &Change| matches!(change, Change::Increment(..) | Change::Append(..));
    if changes.iter().any(is_told) { Answer::Row(read_row(told)) } else { Answer::Done }
}

fn read_row(found: &RowResult) -> Row {
    let mut row = Row::default();
    for cell in found.cells() {
        let name = [cell.family(), b":", cell.qualifier()].concat();
        let column = COLUMNS.iter().find(|column| column.as_bytes() == name);
        let column = *column.expect("only these columns are written");
        let before = row.insert(column, cell.value().to_vec());
        let name = String::from_utf8_lossy(cell.row());
        assert!(before.is_none(), "row {name} shows column {column} twice");
    }
    row
}
