//! Errors of a transfer, with their position.

use std::fmt;
use std::io;

use hblite::ErrorKind;
use hblite::bytes::to_string_binary;

/// A line of the input that is not a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// The line, counted from 1, on which it begins, or on which the offending quote opens.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

/// A row whose key is not one of a design, or would be that of another row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// The row.
    pub row: Vec<u8>,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}: {}", to_string_binary(&self.row), self.reason)
    }
}

/// Why a transfer ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum TransferError {
    /// A line of the input is not a row, or the table refuses it.
    BadLine(BadLine),
    /// A row has no key of the design.
    BadRow(BadRow),
    /// The request is impossible, whatever the data.
    Invalid(String),
    /// The requested format cannot represent a row.
    Unwritable(String),
    /// The input cannot be read.
    Read(io::Error),
    /// The output cannot be written.
    Write(io::Error),
    /// The store failed.
    Store(hblite::Error),
    /// The caller ended the transfer.
    Interrupted,
}

impl TransferError {
    /// Whether the reader of the output has closed it.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<BadRow> for TransferError {
    fn from(bad: BadRow) -> Self {
        Self::BadRow(bad)
    }
}

impl From<hblite::Error> for TransferError {
    fn from(error: hblite::Error) -> Self {
        Self::Store(error)
    }
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadLine(bad) => bad.fmt(f),
            Self::BadRow(bad) => bad.fmt(f),
            Self::Invalid(message) | Self::Unwritable(message) => f.write_str(message),
            Self::Read(error) => write!(f, "reading: {error}"),
            Self::Write(error) => write!(f, "writing: {error}"),
            // HBase's message is only a name in this case.
            Self::Store(error) if error.kind() == ErrorKind::NotFound => {
                write!(f, "{}: {}", error.exception().simple_name(), error.message())
            }
            Self::Store(error) => f.write_str(error.message()),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for TransferError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) | Self::Write(error) => Some(error),
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}
