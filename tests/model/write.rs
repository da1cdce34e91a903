//! Writes: makes the cells of puts, deletes, increments and appends.
//!
//! All writes of one call to one row have one sequence id, and all of them read the row as it was
//! before the call. Of equal keys in one call the last stays.
//!
//! The clock stands still during an operation, so that several calls may have its time. A later one
//! gets the millisecond after the cells that it must not hide behind.

use std::collections::BTreeMap;

use hblite::filter::CompareOperator;
use hblite::{CellType, Exception};
use hblite_reference::cell::{Family, StoredCell};
use hblite_reference::filter::holds;
use hblite_reference::read::Read;
use hblite_reference::reader::FamilyRead;

use super::answer::{Answer, AnsweredCell, Failure};
use super::generator::AHEAD_MS;
use super::operation::{
    BatchItem, Change, Check, CheckedWrites, Delta, PutCell, ReadModify, Write,
};
use super::table::{Region, Table, answered};

/// A cell to be written, with its family. It has no sequence id yet.
type NewCell = (Vec<u8>, StoredCell);

/// What one call writes, and what it returns.
#[derive(Default)]
struct Edit {
    cells: Vec<NewCell>,
    results: Vec<AnsweredCell>,
}

impl Table {
    pub(crate) fn write(&mut self, write: &Write, now: i64) -> Result<Vec<AnsweredCell>, Failure> {
        self.check_by_client(write, None)?;
        self.row_writes_checked(std::slice::from_ref(write), now)
    }

    pub(crate) fn row_writes(
        &mut self,
        row: &[u8],
        writes: &[Write],
        now: i64,
    ) -> Result<Vec<AnsweredCell>, Failure> {
        check_row_writes(row, writes)?;
        for (index, write) in writes.iter().enumerate() {
            self.check_by_client(write, Some(index))?;
        }
        self.row_writes_checked(writes, now)
    }

    /// Puts and deletes of many rows: one sequence id for each region. If one of them cannot be
    /// written, the others are, and its error is reported.
    pub(crate) fn write_all(&mut self, writes: &[Write], now: i64) -> Result<(), Failure> {
        for (index, write) in writes.iter().enumerate() {
            self.check_by_client(write, Some(index))?;
        }
        let mut failures = BTreeMap::new();
        let mut left: Vec<(usize, &Write)> = writes.iter().enumerate().collect();
        while let Some((_, first)) = left.first() {
            let region = self.region_of(&first.row);
            let (mine, others): (Vec<_>, Vec<_>) =
                left.iter().partition(|(_, write)| region.contains(&write.row));
            let mut edit = Edit::default();
            let mut valid = Vec::new();
            for (index, write) in mine {
                match self.check_families(region, write) {
                    Ok(()) => valid.push(write),
                    Err(failure) => drop(failures.insert(index, failure)),
                }
            }
            for (write, given) in valid.iter().zip(given(region, &valid, now)) {
                self.prepare(region, write, now, given, i64::MIN, &mut edit)?;
            }
            self.store(edit);
            left = others;
        }
        failures.into_values().next().map_or(Ok(()), Err)
    }

    pub(crate) fn checked_writes(
        &mut self,
        checked: &CheckedWrites,
        now: i64,
    ) -> Result<Answer, Failure> {
        for (index, write) in checked.writes.iter().enumerate() {
            if write.row != checked.row {
                let text = hblite::bytes::to_string_binary;
                let message = format!(
                    "The row of the action <{}> doesn't match the original one <{}>",
                    text(&write.row),
                    text(&checked.row)
                );
                return Err(Failure::new(Exception::IllegalArgument, message));
            }
            self.check_by_client(write, Some(index))?;
        }
        let read = Read { range: checked.range, ..Read::of_row(&checked.row) };
        let (is_success, seen) = match &checked.check {
            Check::Filter(filter) => {
                let found = self.get(&Read { filter: Some(filter.clone()), ..read }, now)?;
                (!found.is_empty(), found.first().map(|cell| cell.timestamp))
            }
            Check::Column { family, qualifier, operator, value } => {
                let columns = vec![(family.clone(), Some(qualifier.clone()))];
                let found = self.get(&Read { columns, ..read }, now)?;
                let stored = found.first().map(|cell| cell.value.as_slice());
                let is_success = column_holds(stored, *operator, value)?;
                (is_success, found.first().map(|cell| cell.timestamp))
            }
        };
        if !is_success {
            return Ok(Answer::Checked { is_success, cells: Vec::new() });
        }
        let region = self.region_of(&checked.row);
        for write in &checked.writes {
            self.check_families(region, write)?;
        }
        // A put without a timestamp must not be older than what was just read.
        let seen = seen.unwrap_or(i64::MIN);
        let mut edit = Edit::default();
        let writes: Vec<&Write> = checked.writes.iter().collect();
        for (write, given) in writes.iter().zip(given(region, &writes, now)) {
            self.prepare(region, write, now, given, seen, &mut edit)?;
        }
        let cells = self.store(edit);
        Ok(Answer::Checked { is_success, cells })
    }

    pub(crate) fn batch(&mut self, items: &[BatchItem], now: i64) -> Result<Answer, Failure> {
        for (index, item) in items.iter().enumerate() {
            match item {
                BatchItem::Get(_) => {}
                BatchItem::Write(write) => self.check_by_client(write, Some(index))?,
                BatchItem::RowWrites { row, writes } => {
                    check_row_writes(row, writes)?;
                    for (index, write) in writes.iter().enumerate() {
                        self.check_by_client(write, Some(index))?;
                    }
                }
            }
        }
        let mut run = |item: &BatchItem| match item {
            BatchItem::Get(read) => self.get(read, now),
            BatchItem::Write(write) => self.row_writes_checked(std::slice::from_ref(write), now),
            BatchItem::RowWrites { writes, .. } => self.row_writes_checked(writes, now),
        };
        Ok(Answer::Batch(items.iter().map(&mut run).collect()))
    }

    fn row_writes_checked(
        &mut self,
        writes: &[Write],
        now: i64,
    ) -> Result<Vec<AnsweredCell>, Failure> {
        let Some(first) = writes.first() else {
            let message = "Index 0 out of bounds for length 0";
            return Err(Failure::new(Exception::ArrayIndexOutOfBounds, message));
        };
        let region = self.region_of(&first.row);
        for write in writes {
            self.check_families(region, write)?;
        }
        let mut edit = Edit::default();
        let writes: Vec<&Write> = writes.iter().collect();
        for (write, given) in writes.iter().zip(given(region, &writes, now)) {
            self.prepare(region, write, now, given, i64::MIN, &mut edit)?;
        }
        Ok(self.store(edit))
    }

    /// What the client refuses; for a list, the error names the position.
    fn check_by_client(&self, write: &Write, index: Option<usize>) -> Result<(), Failure> {
        if write.row.is_empty() {
            return Err(Failure::new(Exception::IllegalArgument, "Row length is 0"));
        }
        let Change::Put { cells, .. } = &write.change else { return Ok(()) };
        if !cells.is_empty() {
            return Ok(());
        }
        let message = match index {
            Some(index) => format!("No columns to insert for #{} item", index + 1),
            None => "No columns to insert".to_owned(),
        };
        Err(Failure::new(Exception::IllegalArgument, message))
    }

    fn check_families(&self, region: &Region, write: &Write) -> Result<(), Failure> {
        let families: Vec<&Vec<u8>> = match &write.change {
            Change::Put { cells, .. } => cells.iter().map(|cell| &cell.family).collect(),
            Change::Delete { .. } => {
                let markers = delete_parts(write);
                return markers
                    .iter()
                    .try_for_each(|(family, ..)| self.check_family(region, family));
            }
            Change::Increment(settings) | Change::Append(settings) => {
                settings.deltas.iter().map(|delta| &delta.family).collect()
            }
        };
        families.into_iter().try_for_each(|family| self.check_family(region, family))
    }

    /// Adds the cells of a write to the edit. Those without a timestamp get `given`; those of puts
    /// none before `put_min`.
    fn prepare(
        &self,
        region: &Region,
        write: &Write,
        now: i64,
        given: i64,
        put_min: i64,
        edit: &mut Edit,
    ) -> Result<(), Failure> {
        match &write.change {
            Change::Put { cells, time_to_live_ms } => {
                for PutCell { family, qualifier, timestamp, value } in cells {
                    let timestamp = timestamp.unwrap_or(given.max(put_min));
                    let mut cell = new_cell(write, qualifier, timestamp, CellType::Put);
                    cell.value = value.clone();
                    cell.time_to_live_ms = *time_to_live_ms;
                    edit.cells.push((family.clone(), cell));
                }
                Ok(())
            }
            Change::Delete { parts, timestamp } if parts.is_empty() => {
                for store in &region.stores {
                    let timestamp = timestamp.unwrap_or(given);
                    let cell = new_cell(write, b"", timestamp, CellType::DeleteFamily);
                    edit.cells.push((store.family.name.clone(), cell));
                }
                Ok(())
            }
            Change::Delete { .. } => {
                self.prepare_delete(region, write, now, given, edit);
                Ok(())
            }
            Change::Increment(settings) => {
                self.prepare_deltas(region, write, settings, (now, given), edit, incremented)
            }
            Change::Append(settings) => {
                self.prepare_deltas(region, write, settings, (now, given), edit, appended)
            }
        }
    }

    /// Deleting one version without a timestamp means the newest existing one; repeated requests
    /// mean the next ones. Deletes that name their version do not count.
    fn prepare_delete(
        &self,
        region: &Region,
        write: &Write,
        now: i64,
        given: i64,
        edit: &mut Edit,
    ) {
        let markers = delete_parts(write);
        for (index, (family, qualifier, timestamp, cell_type)) in markers.iter().enumerate() {
            let timestamp = timestamp.unwrap_or_else(|| {
                if *cell_type != CellType::Delete {
                    return given;
                }
                let is_same = |(other, name, named, kind): &&Marker| {
                    other == family
                        && name == qualifier
                        && named.is_none()
                        && *kind == CellType::Delete
                };
                let nth = markers[..=index].iter().filter(is_same).count();
                let mut read = Read::of_row(&write.row);
                read.columns = vec![(family.clone(), Some(qualifier.clone()))];
                read.versions = nth as i32;
                let found = self.family_cells(region, family, &read, now);
                found.get(nth - 1).map_or(given, |cell| cell.timestamp)
            });
            edit.cells.push((family.clone(), new_cell(write, qualifier, timestamp, *cell_type)));
        }
    }

    fn prepare_deltas(
        &self,
        region: &Region,
        write: &Write,
        settings: &ReadModify,
        (now, given): (i64, i64),
        edit: &mut Edit,
        new_value: impl Fn(Option<&[u8]>, &[u8]) -> Result<Vec<u8>, Failure>,
    ) -> Result<(), Failure> {
        let mut deltas: Vec<&Delta> = settings.deltas.iter().collect();
        deltas.sort_by_key(|delta| (&delta.family, &delta.qualifier));
        for delta in &deltas {
            let mut read = Read::of_row(&write.row);
            read.range = settings.range;
            let mine = deltas.iter().filter(|other| other.family == delta.family);
            read.columns = mine.map(|d| (d.family.clone(), Some(d.qualifier.clone()))).collect();
            let found = self.family_cells(region, &delta.family, &read, now);
            let present = found.iter().find(|cell| cell.qualifier == delta.qualifier);
            // A counter moves forward in time, whatever the clock does.
            let timestamp = present.map_or(given, |cell| given.max(cell.timestamp + 1));
            let mut cell = new_cell(write, &delta.qualifier, timestamp, CellType::Put);
            cell.value = new_value(present.map(|cell| cell.value.as_slice()), &delta.value)?;
            let inherited = present.and_then(|cell| cell.time_to_live_ms);
            cell.time_to_live_ms = settings.time_to_live_ms.or(inherited);
            if settings.returns_results {
                edit.results.push(answered(&delta.family, cell.clone()));
            }
            edit.cells.push((delta.family.clone(), cell));
        }
        Ok(())
    }

    fn family_cells(
        &self,
        region: &Region,
        family: &[u8],
        read: &Read,
        now: i64,
    ) -> Vec<StoredCell> {
        let stores = region.stores.iter().filter(|store| store.family.name == family);
        let read_store = |store: &super::store::Store| {
            let settings: &Family = &store.family;
            FamilyRead::new(read, settings, now)
                .map(|reader| reader.row(&store.row(&read.start, reader.range()), &mut None))
        };
        stores.filter_map(read_store).flatten().collect()
    }

    /// Puts an edit into the memstores.
    fn store(&mut self, edit: Edit) -> Vec<AnsweredCell> {
        self.sequence_id += 1;
        for (index, (family, cell)) in edit.cells.iter().enumerate() {
            let is_same = |(name, other): &NewCell| name == family && other.has_key_of(cell);
            if edit.cells[index + 1..].iter().any(is_same) {
                continue;
            }
            let region = self.regions.iter_mut().find(|region| region.contains(&cell.row));
            let mut stores = region.into_iter().flat_map(|region| &mut region.stores);
            if let Some(store) = stores.find(|store| store.family.name == *family) {
                let sequence_id = self.sequence_id;
                store.memstore.push(StoredCell { sequence_id, ..cell.clone() });
            }
        }
        edit.results
    }
}

/// The timestamps that the writes of one call are given. Puts and deletes of one row that are
/// written together have the same.
fn given(region: &Region, writes: &[&Write], now: i64) -> Vec<i64> {
    let alone: Vec<i64> = writes.iter().map(|write| given_alone(region, write, now)).collect();
    let is_delete = |write: &&Write| matches!(write.change, Change::Delete { .. });
    let deletes = writes.iter().copied().filter(|write| is_delete(write)).count();
    if deletes == 0 || deletes == writes.len() {
        return alone;
    }
    let of_row = |row: &[u8]| {
        let mine = writes.iter().zip(&alone).filter(|(write, _)| write.row == row);
        mine.map(|(_, given)| *given).max().unwrap_or(now)
    };
    writes.iter().map(|write| of_row(&write.row)).collect()
}

/// After the values and markers of the columns of a put, an increment or an append; as late as what
/// a delete is to cover.
fn given_alone(region: &Region, write: &Write, now: i64) -> i64 {
    let latest = |is_meant: &dyn Fn(&[u8], &StoredCell) -> bool| {
        let stores = region.stores.iter();
        let cells = stores.flat_map(|store| {
            let all = store.memstore.iter().chain(store.files.iter().flat_map(|f| &f.cells));
            all.map(|cell| (store.family.name.as_slice(), cell))
        });
        cells
            .filter(|(_, cell)| cell.row == write.row)
            .filter(|(_, cell)| (now..now + AHEAD_MS).contains(&cell.timestamp))
            .filter(|(family, cell)| is_meant(family, cell))
            .map(|(_, cell)| cell.timestamp)
            .max()
    };
    let columns: Vec<(&Vec<u8>, &Vec<u8>)> = match &write.change {
        Change::Put { cells, .. } => {
            let open = cells.iter().filter(|cell| cell.timestamp.is_none());
            open.map(|cell| (&cell.family, &cell.qualifier)).collect()
        }
        Change::Increment(settings) | Change::Append(settings) => {
            settings.deltas.iter().map(|delta| (&delta.family, &delta.qualifier)).collect()
        }
        Change::Delete { parts, timestamp } => {
            let markers = delete_parts(write);
            let open: Vec<_> = markers.iter().filter(|(_, _, named, _)| named.is_none()).collect();
            let of_families = [CellType::DeleteFamily, CellType::DeleteFamilyVersion];
            let is_of_row = if parts.is_empty() {
                timestamp.is_none()
            } else {
                open.iter().any(|(.., cell_type)| of_families.contains(cell_type))
            };
            let is_meant = |family: &[u8], cell: &StoredCell| {
                let is_mine = |(name, qualifier, ..): &&&Marker| {
                    name.as_slice() == family && *qualifier == cell.qualifier
                };
                is_of_row || open.iter().find(is_mine).is_some()
            };
            return latest(&is_meant).unwrap_or(now);
        }
    };
    let is_meant = |family: &[u8], cell: &StoredCell| {
        columns.iter().any(|(name, qualifier)| {
            name.as_slice() == family && (cell.is_of_family() || **qualifier == cell.qualifier)
        })
    };
    latest(&is_meant).map_or(now, |latest| latest + 1)
}

fn check_row_writes(row: &[u8], writes: &[Write]) -> Result<(), Failure> {
    if writes.is_empty() {
        return Ok(());
    }
    let text = hblite::bytes::to_string_binary;
    match writes.iter().find(|write| write.row != row) {
        Some(other) => Err(Failure::new(
            Exception::WrongRowIo,
            format!(
                "The row in the recently added Mutation <{}> doesn't match the original one <{}>",
                text(&other.row),
                text(row)
            ),
        )),
        None => Ok(()),
    }
}

type Marker = (Vec<u8>, Vec<u8>, Option<i64>, CellType);

/// The markers of a delete: one of a whole family drops earlier parts for the family, and the
/// timestamp of the delete replaces missing ones.
fn delete_parts(write: &Write) -> Vec<Marker> {
    let Change::Delete { parts, timestamp } = &write.change else { return Vec::new() };
    let mut markers: Vec<Marker> = Vec::new();
    for part in parts {
        if part.cell_type == CellType::DeleteFamily {
            markers.retain(|(family, ..)| *family != part.family);
        }
        let is_of_family =
            matches!(part.cell_type, CellType::DeleteFamily | CellType::DeleteFamilyVersion);
        let qualifier = if is_of_family { Vec::new() } else { part.qualifier.clone() };
        let timestamp = part.timestamp.or(*timestamp);
        markers.push((part.family.clone(), qualifier, timestamp, part.cell_type));
    }
    markers
}

fn new_cell(write: &Write, qualifier: &[u8], timestamp: i64, cell_type: CellType) -> StoredCell {
    StoredCell {
        row: write.row.clone(),
        qualifier: qualifier.to_vec(),
        timestamp,
        cell_type,
        sequence_id: 0,
        value: Vec::new(),
        time_to_live_ms: None,
    }
}

fn incremented(present: Option<&[u8]>, amount: &[u8]) -> Result<Vec<u8>, Failure> {
    let number = |bytes: &[u8]| -> Result<i64, Failure> {
        let message = format!("Field is not a long, it's {} bytes wide", bytes.len());
        let bytes = bytes.try_into().map_err(|_| Failure::new(Exception::DoNotRetryIo, message))?;
        Ok(i64::from_be_bytes(bytes))
    };
    let present = present.map_or(Ok(0), number)?;
    Ok(present.wrapping_add(number(amount)?).to_be_bytes().to_vec())
}

fn appended(present: Option<&[u8]>, addition: &[u8]) -> Result<Vec<u8>, Failure> {
    Ok([present.unwrap_or_default(), addition].concat())
}

/// Whether *given operator stored* holds. If the given value is empty, a missing value counts as an
/// empty one.
fn column_holds(
    stored: Option<&[u8]>,
    operator: CompareOperator,
    given: &[u8],
) -> Result<bool, Failure> {
    let is_unequal = operator == CompareOperator::NotEqual;
    match stored {
        None => Ok(given.is_empty() && !is_unequal),
        Some(stored) if given.is_empty() => Ok(stored.is_empty() != is_unequal),
        Some(_) if operator == CompareOperator::NoOp => {
            Err(Failure::new(Exception::Io, "Unknown Compare op NO_OP"))
        }
        Some(stored) => Ok(holds(operator, given, stored)),
    }
}
