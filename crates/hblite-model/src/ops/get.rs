//! Reads one row.

use super::mutation::check_row;
use super::{ColumnSelection, Scan, TimeRange};
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
    /// A scan from the row to the row, both inclusive.
    scan: Scan,
}

impl Get {
    /// Reads the newest version of every column of `row`.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self { scan: Scan::of_row(row.as_ref()) }
    }

    /// Only this family (and others that are added).
    #[must_use]
    pub fn family(self, family: impl AsRef<[u8]>) -> Self {
        Self { scan: self.scan.family(family) }
    }

    /// Only this column (and others that are added).
    #[must_use]
    pub fn column(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        Self { scan: self.scan.column(family, qualifier) }
    }

    /// Up to this many versions of each column; less than one is refused.
    #[must_use]
    pub fn versions(self, versions: i32) -> Self {
        Self { scan: self.scan.versions(versions) }
    }

    /// All versions.
    #[must_use]
    pub fn all_versions(self) -> Self {
        self.versions(i32::MAX)
    }

    /// Only cells in this time range.
    #[must_use]
    pub fn time_range(self, time_range: TimeRange) -> Self {
        Self { scan: self.scan.time_range(time_range) }
    }

    /// Only cells of one family in this time range.
    #[must_use]
    pub fn family_time_range(self, family: impl AsRef<[u8]>, time_range: TimeRange) -> Self {
        Self { scan: self.scan.family_time_range(family, time_range) }
    }

    /// Only cells that pass the filter.
    #[must_use]
    pub fn filter(self, filter: Filter) -> Self {
        Self { scan: self.scan.filter(filter) }
    }

    /// At most this many cells of each family (0 gives one, negative all, as in HBase).
    #[must_use]
    pub fn family_limit(self, limit: i32) -> Self {
        Self { scan: self.scan.family_limit(limit) }
    }

    /// Skips this many cells at the beginning of each family.
    #[must_use]
    pub fn family_offset(self, offset: i32) -> Self {
        Self { scan: self.scan.family_offset(offset) }
    }

    /// The row.
    pub fn row(&self) -> &[u8] {
        self.scan.start()
    }

    /// The selected columns.
    pub fn columns(&self) -> &ColumnSelection {
        self.scan.columns()
    }

    /// The scan of one row that answers this get.
    pub fn as_scan(&self) -> &Scan {
        &self.scan
    }

    /// Refuses whatever HBase's client refuses.
    ///
    /// # Errors
    /// `IllegalArgument` (row length), `Io` (versions).
    pub fn check(&self) -> Result<()> {
        check_row(self.row())?;
        if self.scan.versions_max() <= 0 {
            return Err(Error::new(Exception::Io, "versions must be positive"));
        }
        Ok(())
    }
}
