//! Reading one row.

use std::collections::BTreeMap;

use super::mutation::check_row;
use super::{ColumnSelection, TimeRange};
use crate::error::{Error, Exception, Result};
use crate::filter::Filter;

/// Reads one row.
///
/// ```
/// use hblite_model::{Get, TimeRange};
/// let get = Get::new("row").column("f", "q").versions(3).time_range(TimeRange::new(10, 20)?);
/// assert_eq!(get.row(), b"row");
/// # Ok::<(), hblite_model::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Get {
    row: Vec<u8>,
    pub(super) columns: ColumnSelection,
    pub(super) versions: i32,
    pub(super) time_range: TimeRange,
    pub(super) family_time_ranges: BTreeMap<Vec<u8>, TimeRange>,
    pub(super) filter: Option<Filter>,
    pub(super) family_limit: i32,
    pub(super) family_offset: i32,
}

impl Get {
    /// Reads the newest version of every column of `row`.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self {
            row: row.as_ref().to_vec(),
            columns: ColumnSelection::default(),
            versions: 1,
            time_range: TimeRange::ALL,
            family_time_ranges: BTreeMap::new(),
            filter: None,
            family_limit: -1,
            family_offset: 0,
        }
    }

    /// Only this family (and others that are named).
    #[must_use]
    pub fn family(mut self, family: impl AsRef<[u8]>) -> Self {
        self.columns.add_family(family.as_ref());
        self
    }

    /// Only this column (and others that are named).
    #[must_use]
    pub fn column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        self.columns.add_column(family.as_ref(), qualifier.as_ref());
        self
    }

    /// Up to this many versions of each column; less than one is refused.
    #[must_use]
    pub fn versions(self, versions: i32) -> Self {
        Self { versions, ..self }
    }

    /// All versions.
    #[must_use]
    pub fn all_versions(self) -> Self {
        self.versions(i32::MAX)
    }

    /// Only cells in this time range.
    #[must_use]
    pub fn time_range(self, time_range: TimeRange) -> Self {
        Self { time_range, ..self }
    }

    /// Only cells of one family in this time range.
    #[must_use]
    pub fn family_time_range(mut self, family: impl AsRef<[u8]>, time_range: TimeRange) -> Self {
        self.family_time_ranges.insert(family.as_ref().to_vec(), time_range);
        self
    }

    /// Only what the filter lets through.
    #[must_use]
    pub fn filter(self, filter: Filter) -> Self {
        Self { filter: Some(filter), ..self }
    }

    /// At most this many cells of each family (0 gives one, negative all, as in HBase).
    #[must_use]
    pub fn family_limit(self, limit: i32) -> Self {
        Self { family_limit: limit, ..self }
    }

    /// Leaves out this many cells at the beginning of each family.
    #[must_use]
    pub fn family_offset(self, offset: i32) -> Self {
        Self { family_offset: offset, ..self }
    }

    /// The row.
    pub fn row(&self) -> &[u8] {
        &self.row
    }

    /// The selected columns.
    pub fn columns(&self) -> &ColumnSelection {
        &self.columns
    }

    /// Refuses what HBase's client refuses.
    ///
    /// # Errors
    /// `IllegalArgument` (row length, offset), `Io` (versions).
    pub fn check(&self) -> Result<()> {
        check_row(&self.row)?;
        if self.versions <= 0 {
            return Err(Error::new(Exception::Io, "versions must be positive"));
        }
        Ok(())
    }
}
