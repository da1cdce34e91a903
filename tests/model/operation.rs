//! The operations of a sequence, as plain values, and how they are said to the engine.

use hblite::filter::CompareOperator;
use hblite::{
    Action, Append, CellType, CheckAndMutate, Delete, Durability, Get, Increment, Mutation, Put,
    RowMutations, Scan, TimeRange,
};

use crate::filter::FilterSpec;

/// Settings that a read shares with every other: of a get the row is both start and stop.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    pub(crate) start: Vec<u8>,
    pub(crate) is_start_inclusive: bool,
    pub(crate) stop: Vec<u8>,
    pub(crate) is_stop_inclusive: bool,
    pub(crate) is_reversed: bool,
    pub(crate) is_raw: bool,
    /// Families, or columns of them.
    pub(crate) columns: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    pub(crate) versions: i32,
    pub(crate) range: Option<(i64, i64)>,
    pub(crate) family_range: Option<(Vec<u8>, (i64, i64))>,
    pub(crate) filter: Option<FilterSpec>,
    pub(crate) family_limit: i32,
    pub(crate) family_offset: i32,
    pub(crate) limit: i32,
    pub(crate) batch: i32,
    pub(crate) is_on_demand: bool,
}

impl Read {
    /// The newest version of everything.
    pub(crate) fn all() -> Self {
        Self {
            start: Vec::new(),
            is_start_inclusive: true,
            stop: Vec::new(),
            is_stop_inclusive: false,
            is_reversed: false,
            is_raw: false,
            columns: Vec::new(),
            versions: 1,
            range: None,
            family_range: None,
            filter: None,
            family_limit: -1,
            family_offset: 0,
            limit: -1,
            batch: -1,
            is_on_demand: true,
        }
    }

    pub(crate) fn of_row(row: &[u8]) -> Self {
        let is_stop_inclusive = true;
        Self { start: row.to_vec(), stop: row.to_vec(), is_stop_inclusive, ..Self::all() }
    }

    /// The named columns of a family: `None` if nothing of it is wanted, `Some(None)` if all is.
    pub(crate) fn columns_of(&self, family: &[u8]) -> Option<Option<Vec<&[u8]>>> {
        let mut wanted: Option<Option<Vec<&[u8]>>> = self.columns.is_empty().then_some(None);
        for (_, qualifier) in self.columns.iter().filter(|(name, _)| name == family) {
            wanted = match (qualifier, wanted) {
                (None, _) => Some(None),
                (Some(qualifier), Some(Some(mut columns))) => {
                    columns.push(qualifier.as_slice());
                    Some(Some(columns))
                }
                (Some(qualifier), _) => Some(Some(vec![qualifier.as_slice()])),
            };
        }
        wanted
    }

    pub(crate) fn range_of(&self, family: &[u8]) -> (i64, i64) {
        match &self.family_range {
            Some((name, range)) if name == family => *range,
            _ => self.range.unwrap_or((0, i64::MAX)),
        }
    }

    pub(crate) fn to_get(&self) -> Get {
        let mut get = Get::new(&self.start).with_versions(self.versions);
        for (family, qualifier) in &self.columns {
            get = match qualifier {
                Some(qualifier) => get.with_column(family, qualifier),
                None => get.with_family(family),
            };
        }
        if let Some(range) = self.range {
            get = get.with_time_range(time_range(range));
        }
        if let Some((family, range)) = &self.family_range {
            get = get.with_family_time_range(family, time_range(*range));
        }
        if let Some(filter) = &self.filter {
            get = get.with_filter(filter.to_filter());
        }
        if let Ok(limit) = u32::try_from(self.family_limit) {
            get = get.with_family_limit(limit);
        }
        get.with_family_offset(natural(self.family_offset))
    }

    pub(crate) fn to_scan(&self) -> Scan {
        let mut scan = Scan::new()
            .with_start_bound(hblite::row_bound(&self.start, self.is_start_inclusive))
            .with_stop_bound(hblite::row_bound(&self.stop, self.is_stop_inclusive))
            .with_reversed(self.is_reversed)
            .with_raw(self.is_raw)
            .with_versions(self.versions)
            .with_family_offset(natural(self.family_offset))
            .with_batch(natural(self.batch) as usize)
            .with_families_on_demand(self.is_on_demand);
        if let Ok(limit) = u32::try_from(self.limit) {
            scan = scan.with_limit(limit);
        }
        if let Ok(limit) = u32::try_from(self.family_limit) {
            scan = scan.with_family_limit(limit);
        }
        for (family, qualifier) in &self.columns {
            scan = match qualifier {
                Some(qualifier) => scan.with_column(family, qualifier),
                None => scan.with_family(family),
            };
        }
        if let Some(range) = self.range {
            scan = scan.with_time_range(time_range(range));
        }
        if let Some((family, range)) = &self.family_range {
            scan = scan.with_family_time_range(family, time_range(*range));
        }
        match &self.filter {
            Some(filter) => scan.with_filter(filter.to_filter()),
            None => scan,
        }
    }
}

fn time_range((min, max): (i64, i64)) -> TimeRange {
    TimeRange::new(min, max).expect("generated ranges are the right way round")
}

/// What a part of a delete says.
#[derive(Debug, Clone)]
pub(crate) struct DeletePart {
    pub(crate) cell_type: CellType,
    pub(crate) family: Vec<u8>,
    pub(crate) qualifier: Vec<u8>,
    pub(crate) timestamp: Option<i64>,
}

/// What an increment or append adds to a column.
#[derive(Debug, Clone)]
pub(crate) struct Delta {
    pub(crate) family: Vec<u8>,
    pub(crate) qualifier: Vec<u8>,
    /// Of an increment the 8 bytes of a number.
    pub(crate) value: Vec<u8>,
}

/// Settings of an increment or append.
#[derive(Debug, Clone)]
pub(crate) struct ReadModify {
    pub(crate) deltas: Vec<Delta>,
    pub(crate) range: Option<(i64, i64)>,
    pub(crate) time_to_live_ms: Option<i64>,
    pub(crate) returns_results: bool,
}

/// A column and what is put there.
#[derive(Debug, Clone)]
pub(crate) struct PutCell {
    pub(crate) family: Vec<u8>,
    pub(crate) qualifier: Vec<u8>,
    pub(crate) timestamp: Option<i64>,
    pub(crate) value: Vec<u8>,
}

/// What a write does to its row.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Put {
        cells: Vec<PutCell>,
        time_to_live_ms: Option<i64>,
    },
    /// Without parts the whole row, up to the timestamp.
    Delete {
        parts: Vec<DeletePart>,
        timestamp: Option<i64>,
    },
    Increment(ReadModify),
    Append(ReadModify),
}

/// A write to one row.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) row: Vec<u8>,
    pub(crate) change: Change,
}

impl Write {
    pub(crate) fn to_mutation(&self, durability: Durability) -> Mutation {
        let row = &self.row;
        match &self.change {
            Change::Put { cells, time_to_live_ms } => {
                put(row, cells, *time_to_live_ms).with_durability(durability).into()
            }
            Change::Delete { parts, timestamp } => {
                delete(row, parts, *timestamp).with_durability(durability).into()
            }
            Change::Increment(settings) => {
                increment(row, settings).with_durability(durability).into()
            }
            Change::Append(settings) => append(row, settings).with_durability(durability).into(),
        }
    }
}

pub(crate) fn put(row: &[u8], cells: &[PutCell], time_to_live_ms: Option<i64>) -> Put {
    let mut put = Put::new(row);
    for PutCell { family, qualifier, timestamp, value } in cells {
        put = match timestamp {
            Some(timestamp) => put.add_at(family, qualifier, *timestamp, value),
            None => put.add(family, qualifier, value),
        };
    }
    match time_to_live_ms {
        Some(millis) => put.with_time_to_live_ms(millis),
        None => put,
    }
}

pub(crate) fn delete(row: &[u8], parts: &[DeletePart], timestamp: Option<i64>) -> Delete {
    let delete = match timestamp {
        Some(timestamp) => Delete::at(row, timestamp),
        None => Delete::new(row),
    };
    parts.iter().fold(delete, add_part)
}

pub(crate) fn increment(row: &[u8], settings: &ReadModify) -> Increment {
    let mut increment = Increment::new(row).with_returned_results(settings.returns_results);
    for Delta { family, qualifier, value } in &settings.deltas {
        let amount = value.as_slice().try_into().map_or(0, i64::from_be_bytes);
        increment = increment.add(family, qualifier, amount);
    }
    if let Some(range) = settings.range {
        increment = increment.with_time_range(time_range(range));
    }
    match settings.time_to_live_ms {
        Some(millis) => increment.with_time_to_live_ms(millis),
        None => increment,
    }
}

pub(crate) fn append(row: &[u8], settings: &ReadModify) -> Append {
    let mut append = Append::new(row).with_returned_results(settings.returns_results);
    for Delta { family, qualifier, value } in &settings.deltas {
        append = append.add(family, qualifier, value);
    }
    if let Some(range) = settings.range {
        append = append.with_time_range(time_range(range));
    }
    match settings.time_to_live_ms {
        Some(millis) => append.with_time_to_live_ms(millis),
        None => append,
    }
}

fn add_part(delete: Delete, part: &DeletePart) -> Delete {
    let (family, qualifier) = (&part.family, &part.qualifier);
    match (part.cell_type, part.timestamp) {
        (CellType::DeleteFamily, None) => delete.family(family),
        (CellType::DeleteFamily, Some(timestamp)) => delete.family_at(family, timestamp),
        (CellType::DeleteFamilyVersion, timestamp) => {
            delete.family_version(family, timestamp.unwrap_or(1))
        }
        (CellType::DeleteColumn, None) => delete.columns(family, qualifier),
        (CellType::DeleteColumn, Some(timestamp)) => {
            delete.columns_at(family, qualifier, timestamp)
        }
        (_, None) => delete.column(family, qualifier),
        (_, Some(timestamp)) => delete.column_at(family, qualifier, timestamp),
    }
}

/// What must hold of a row.
#[derive(Debug, Clone)]
pub(crate) enum Check {
    Column { family: Vec<u8>, qualifier: Vec<u8>, operator: CompareOperator, value: Vec<u8> },
    Filter(FilterSpec),
}

/// Writes to a row if something holds of it.
#[derive(Debug, Clone)]
pub(crate) struct CheckedWrites {
    pub(crate) row: Vec<u8>,
    pub(crate) check: Check,
    pub(crate) range: Option<(i64, i64)>,
    pub(crate) writes: Vec<Write>,
}

impl CheckedWrites {
    pub(crate) fn to_check_and_mutate(&self, durability: Durability) -> CheckAndMutate {
        let check = CheckAndMutate::new(&self.row);
        let check = match &self.check {
            Check::Column { family, qualifier, operator, value } => {
                check.if_matches(family, qualifier, *operator, value)
            }
            Check::Filter(filter) => check.if_filter(filter.to_filter()),
        };
        let check = match self.range {
            Some(range) => check.with_time_range(time_range(range)),
            None => check,
        };
        match self.writes.as_slice() {
            [write] => check.then(write.to_mutation(durability)),
            writes => check.then_mutate_row(row_mutations(&self.row, writes, durability)),
        }
    }
}

pub(crate) fn row_mutations(row: &[u8], writes: &[Write], durability: Durability) -> RowMutations {
    let mutations = RowMutations::new(row);
    writes.iter().fold(mutations, |all, write| all.add(write.to_mutation(durability)))
}

/// The number, 0 if it is negative.
fn natural(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// One action of a batch.
#[derive(Debug, Clone)]
pub(crate) enum BatchItem {
    Get(Read),
    Write(Write),
    RowWrites { row: Vec<u8>, writes: Vec<Write> },
}

impl BatchItem {
    pub(crate) fn to_action(&self, durability: Durability) -> Action {
        match self {
            Self::Get(read) => read.to_get().into(),
            Self::Write(write) => write.to_mutation(durability).into(),
            Self::RowWrites { row, writes } => row_mutations(row, writes, durability).into(),
        }
    }
}

/// Something that is asked of both the engine and the model.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Get(Read),
    Scan(Read),
    Write(Write),
    WriteAll(Vec<Write>),
    RowWrites {
        row: Vec<u8>,
        writes: Vec<Write>,
    },
    CheckedWrites(CheckedWrites),
    Batch(Vec<BatchItem>),
    Flush,
    Compact {
        is_major: bool,
    },
    Split {
        row: Vec<u8>,
    },
    /// Merges the region at this place with the next.
    Merge {
        first: usize,
    },
    /// Changes VERSIONS of a family.
    Alter {
        family: Vec<u8>,
        versions: i32,
    },
    /// Closes the store and opens it again.
    Reopen,
    /// The process or the power goes, and the store is opened on what is left.
    Crash {
        seed: u64,
    },
    /// As `Crash`, after so many steps of the file system in the midst of an operation.
    CrashDuring {
        operation: Box<Operation>,
        steps: u64,
        seed: u64,
    },
}
