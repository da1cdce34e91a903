//! One row as if only one operation at a time could touch it.
//!
//! It is what the checker of histories needs: a state that can be stepped, compared and undone
//! quickly. Versions, markers, filters and time are left out on purpose: the workload writes
//! without timestamps and reads the newest version. What HBase answers in general is the subject
//! of the reference model in `tests/reference`.

use std::collections::BTreeMap;

/// Family and qualifier, as `a:x`.
pub(crate) type Column = &'static str;

/// The existing columns of a row, with their values.
pub(crate) type Row = BTreeMap<Column, Vec<u8>>;

pub(crate) const FAMILIES: [&str; 2] = ["a", "b"];
pub(crate) const TEXTS: [Column; 3] = ["a:x", "a:y", "b:x"];
pub(crate) const COUNTERS: [Column; 2] = ["a:n", "b:n"];
pub(crate) const LOG: Column = "b:log";
pub(crate) const COLUMNS: [Column; 6] = ["a:n", "a:x", "a:y", "b:log", "b:n", "b:x"];

const SHOWN_BYTES_MAX: usize = 32;

/// What a write does to a row. Changes of one write are for different columns, so that their
/// order does not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Put(Column, Vec<u8>),
    DeleteColumn(Column),
    DeleteRow,
    Increment(Column, i64),
    Append(Column, Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Reads these columns.
    Read(Vec<Column>),
    /// All changes in one step.
    Write(Vec<Change>),
    /// The changes if the column has this value, or none.
    Check { column: Column, expected: Option<Vec<u8>>, changes: Vec<Change> },
}

impl Operation {
    /// What it does to the row, if anything.
    pub(crate) fn changes(&self) -> &[Change] {
        match self {
            Self::Read(_) => &[],
            Self::Write(changes) | Self::Check { changes, .. } => changes,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The caller got no answer: it may have happened or not, or may still happen.
    Unknown,
    /// It happened.
    Done,
    /// What was read, or what increments and appends made of their columns.
    Row(Row),
    /// Whether the condition held, and what increments and appends made of their columns.
    Checked(bool, Row),
}

/// The row after the operation, if this can have been its answer.
pub(crate) fn step(row: &Row, operation: &Operation, answer: &Answer) -> Option<Row> {
    match operation {
        Operation::Read(columns) => {
            let is_right = match answer {
                Answer::Unknown => true,
                Answer::Row(seen) => *seen == project(row, columns),
                Answer::Done | Answer::Checked(..) => false,
            };
            is_right.then(|| row.clone())
        }
        Operation::Write(changes) => {
            let (next, told) = apply(row, changes);
            let is_right = match answer {
                Answer::Unknown | Answer::Done => true,
                Answer::Row(seen) => *seen == told,
                Answer::Checked(..) => false,
            };
            is_right.then_some(next)
        }
        Operation::Check { column, expected, changes } => {
            let holds = row.get(column) == expected.as_ref();
            let (next, told) =
                if holds { apply(row, changes) } else { (row.clone(), Row::default()) };
            let is_right = match answer {
                Answer::Unknown => true,
                Answer::Checked(is_success, seen) => *is_success == holds && *seen == told,
                Answer::Done | Answer::Row(_) => false,
            };
            is_right.then_some(next)
        }
    }
}

/// Whether the operation, with this answer, changes nothing.
pub(crate) fn is_read(operation: &Operation, answer: &Answer) -> bool {
    matches!(operation, Operation::Read(_)) || matches!(answer, Answer::Checked(false, _))
}

fn project(row: &Row, columns: &[Column]) -> Row {
    row.iter()
        .filter(|(column, _)| columns.contains(column))
        .map(|(column, value)| (*column, value.clone()))
        .collect()
}

/// The row after the changes, and what increments and appends return.
fn apply(row: &Row, changes: &[Change]) -> (Row, Row) {
    let (mut next, mut told) = (row.clone(), Row::default());
    for change in changes {
        match change {
            Change::Put(column, value) => {
                next.insert(column, value.clone());
            }
            Change::DeleteColumn(column) => {
                next.remove(column);
            }
            Change::DeleteRow => next.clear(),
            Change::Increment(column, amount) => {
                let present = next.get(column).map_or(0, |value| counter(value));
                let value = (present + amount).to_be_bytes().to_vec();
                told.insert(column, value.clone());
                next.insert(column, value);
            }
            Change::Append(column, more) => {
                let value = [next.get(column).map_or(&[][..], Vec::as_slice), more].concat();
                told.insert(column, value.clone());
                next.insert(column, value);
            }
        }
    }
    (next, told)
}

fn counter(value: &[u8]) -> i64 {
    i64::from_be_bytes(value.try_into().expect("counters are put with 8 bytes"))
}

/// A readable form of a value; for a long one, its length and its end.
pub(crate) fn show(column: Column, value: &[u8]) -> String {
    match <[u8; 8]>::try_from(value) {
        Ok(bytes) if COUNTERS.contains(&column) => i64::from_be_bytes(bytes).to_string(),
        _ if value.len() > SHOWN_BYTES_MAX => {
            let end = &value[value.len() - SHOWN_BYTES_MAX..];
            format!("({} bytes)..{}", value.len(), String::from_utf8_lossy(end))
        }
        _ => String::from_utf8_lossy(value).into_owned(),
    }
}
