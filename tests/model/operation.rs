//! The operations of a sequence, as plain values, and their calls to the engine.

use hblite::filter::CompareOperator;
use hblite::{
    Action, Append, CellType, CheckAndMutate, Delete, Durability, Increment, Mutation, Put,
    RowMutations,
};
use hblite_reference::filter::FilterSpec;
use hblite_reference::read::{Read, time_range};

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
        Some(timestamp) => Delete::new(row).with_timestamp(timestamp),
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
