//! The answer of an operation, in a form that both sides can produce.

use hblite::{CellRef, CellType, Error, Exception, RowResult};

/// A cell of an answer.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct AnsweredCell {
    pub(crate) family: Vec<u8>,
    pub(crate) qualifier: Vec<u8>,
    pub(crate) timestamp: i64,
    pub(crate) cell_type: Option<CellType>,
    pub(crate) value: Vec<u8>,
}

impl std::fmt::Debug for AnsweredCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = hblite::bytes::to_string_binary;
        write!(f, "{}:{}@{}", text(&self.family), text(&self.qualifier), self.timestamp)?;
        match self.cell_type {
            Some(CellType::Put) => write!(f, "={}", text(&self.value)),
            other => write!(f, " {other:?}"),
        }
    }
}

impl From<&CellRef<'_>> for AnsweredCell {
    fn from(cell: &CellRef<'_>) -> Self {
        Self {
            family: cell.family().to_vec(),
            qualifier: cell.qualifier().to_vec(),
            timestamp: cell.timestamp(),
            cell_type: cell.cell_type(),
            value: cell.value().to_vec(),
        }
    }
}

/// A row, or a piece of one.
#[derive(Clone)]
pub(crate) struct AnsweredRow {
    pub(crate) row: Vec<u8>,
    pub(crate) cells: Vec<AnsweredCell>,
    /// Whether the row may continue in the next piece. Its cells there may turn out to be
    /// invisible, so only a `false` is certain.
    pub(crate) has_more: bool,
}

impl AnsweredRow {
    fn is_as_wanted(&self, wanted: &Self) -> bool {
        (&self.row, &self.cells) == (&wanted.row, &wanted.cells)
            && (self.has_more || !wanted.has_more)
    }
}

impl std::fmt::Debug for AnsweredRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = if self.has_more { " …" } else { "" };
        write!(f, "{}{:?}{more}", hblite::bytes::to_string_binary(&self.row), self.cells)
    }
}

impl From<&RowResult> for AnsweredRow {
    fn from(row: &RowResult) -> Self {
        Self { row: row.row().to_vec(), cells: cells(row), has_more: row.may_have_more_cells() }
    }
}

pub(crate) fn cells(row: &RowResult) -> Vec<AnsweredCell> {
    row.cells().map(|cell| AnsweredCell::from(&cell)).collect()
}

/// Class and message of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) exception: Exception,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(exception: Exception, message: impl Into<String>) -> Self {
        Self { exception, message: message.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error.exception(), error.message())
    }
}

/// Whether the rows that the engine returned are the model's.
pub(crate) fn are_as_wanted(told: &[AnsweredRow], wanted: &[AnsweredRow]) -> bool {
    told.len() == wanted.len()
        && told.iter().zip(wanted).all(|(told, wanted)| told.is_as_wanted(wanted))
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Done,
    Cells(Vec<AnsweredCell>),
    Rows(Vec<AnsweredRow>),
    Checked { is_success: bool, cells: Vec<AnsweredCell> },
    Batch(Vec<Result<Vec<AnsweredCell>, Failure>>),
    Borders(Vec<(Vec<u8>, Vec<u8>)>),
}

impl Answer {
    /// Whether the engine's answer is the model's.
    pub(crate) fn is_as_wanted(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (Self::Done, Self::Done) => true,
            (Self::Cells(told), Self::Cells(wanted)) => told == wanted,
            (Self::Rows(told), Self::Rows(wanted)) => are_as_wanted(told, wanted),
            (
                Self::Checked { is_success: told, cells: told_cells },
                Self::Checked { is_success: wanted, cells: wanted_cells },
            ) => told == wanted && told_cells == wanted_cells,
            (Self::Batch(told), Self::Batch(wanted)) => told == wanted,
            (Self::Borders(told), Self::Borders(wanted)) => told == wanted,
            _ => false,
        }
    }
}
