//! Errors while a study runs.

use std::fmt;

/// Short for this crate's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a study cannot continue.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The store returned an error.
    Store(hblite::Error),
    /// A key could not be encoded or decoded, or a query could not be planned.
    Key(hblite_rowkey::Error),
    /// A row does not contain what the study wrote: another program wrote it.
    Row {
        /// The row, printable.
        row: String,
        /// What is missing or wrong.
        what: String,
    },
    /// A cluster already has a table that a run would create and drop.
    Taken(hblite::TableName),
    /// The study, design or question does not exist.
    Unknown {
        /// The requested name.
        what: String,
        /// The known names.
        known: String,
    },
}

impl Error {
    pub(crate) fn row(row: &[u8], what: impl Into<String>) -> Self {
        Self::Row { row: hblite_rowkey::printable(row), what: what.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "{error}"),
            Self::Key(error) => write!(f, "{error}"),
            Self::Row { row, what } => write!(f, "row {row}: {what}"),
            Self::Taken(table) => write!(
                f,
                "the cluster already has a table {table}: a run creates and drops its tables"
            ),
            Self::Unknown { what, known } => write!(f, "no {what}; known: {known}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::Key(error) => Some(error),
            Self::Row { .. } | Self::Taken(_) | Self::Unknown { .. } => None,
        }
    }
}

impl From<hblite::Error> for Error {
    fn from(error: hblite::Error) -> Self {
        Self::Store(error)
    }
}

impl From<hblite_rowkey::Error> for Error {
    fn from(error: hblite_rowkey::Error) -> Self {
        Self::Key(error)
    }
}
