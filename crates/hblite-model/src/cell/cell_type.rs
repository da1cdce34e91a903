//! The type byte of a cell's key.
//!
//! Codes and their order are those of HBase's `KeyValue.Type`. Within one column and timestamp, the
//! higher code sorts first, so a delete marker precedes the puts that it masks.

use std::fmt;

/// What a cell does: store a value, or mark others as deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CellType {
    /// A value.
    Put = 4,
    /// Deletes the version of one column that has exactly this timestamp.
    Delete = 8,
    /// Deletes all cells of the family that have exactly this timestamp.
    DeleteFamilyVersion = 10,
    /// Deletes all versions of one column up to and including this timestamp.
    DeleteColumn = 12,
    /// Deletes all cells of the family up to and including this timestamp.
    DeleteFamily = 14,
}

impl CellType {
    /// The code of search keys that sort after every cell of a column (`KeyValue.Type.Minimum`).
    pub const MINIMUM: u8 = 0;
    /// The code of search keys that sort before every cell of a column (`KeyValue.Type.Maximum`).
    pub const MAXIMUM: u8 = 255;

    /// The byte in the key.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The type with this code, or `None` for codes that no stored cell has.
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            4 => Some(Self::Put),
            8 => Some(Self::Delete),
            10 => Some(Self::DeleteFamilyVersion),
            12 => Some(Self::DeleteColumn),
            14 => Some(Self::DeleteFamily),
            _ => None,
        }
    }

    /// Whether `code` is one of the four delete markers.
    pub fn is_delete_code(code: u8) -> bool {
        (Self::Delete as u8..=Self::DeleteFamily as u8).contains(&code)
    }
}

impl fmt::Display for CellType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
