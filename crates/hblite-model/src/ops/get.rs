//! Reads one row.

use super::mutation::check_row;
use super::{ColumnSelection, Consistency, Scan, TimeRange};
use crate::error::{Error, Exception, Result};
use crate::filter::Filter;

/// Reads one row.
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::Get;
/// let get = Get::new("row").with_column("f", "q").with_versions(3);
/// assert_eq!((get.row(), get.versions()), (&b"row"[..], 3));
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

    /// Selects a family. Further calls add to the selection.
    #[must_use]
    pub fn with_family(self, family: impl AsRef<[u8]>) -> Self {
        Self { scan: self.scan.with_family(family) }
    }

    /// Selects a column. Further calls add to the selection.
    #[must_use]
    pub fn with_column(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        Self { scan: self.scan.with_column(family, qualifier) }
    }

    /// Up to this many versions of each column; less than one is refused.
    #[must_use]
    pub fn with_versions(self, versions: u32) -> Self {
        Self { scan: self.scan.with_versions(versions) }
    }

    /// All versions.
    #[must_use]
    pub fn with_all_versions(self) -> Self {
        Self { scan: self.scan.with_all_versions() }
    }

    /// Only cells in this time range.
    #[must_use]
    pub fn with_time_range(self, time_range: TimeRange) -> Self {
        Self { scan: self.scan.with_time_range(time_range) }
    }

    /// Only cells of one family in this time range.
    #[must_use]
    pub fn with_family_time_range(self, family: impl AsRef<[u8]>, time_range: TimeRange) -> Self {
        Self { scan: self.scan.with_family_time_range(family, time_range) }
    }

    /// Only cells that pass the filter.
    #[must_use]
    pub fn with_filter(self, filter: Filter) -> Self {
        Self { scan: self.scan.with_filter(filter) }
    }

    /// At most this many cells of each family (0 gives one, as in HBase).
    #[must_use]
    pub fn with_family_limit(self, cells: u32) -> Self {
        Self { scan: self.scan.with_family_limit(cells) }
    }

    /// Skips this many cells at the beginning of each family.
    #[must_use]
    pub fn with_family_offset(self, cells: u32) -> Self {
        Self { scan: self.scan.with_family_offset(cells) }
    }

    /// Whether a replica of the region on a cluster may answer. A directory has only the region
    /// itself, so there it changes nothing.
    #[must_use]
    pub fn with_consistency(self, consistency: Consistency) -> Self {
        Self { scan: self.scan.with_consistency(consistency) }
    }

    /// With [`Consistency::Timeline`], reads only the replica with this id; 0 is the region itself.
    #[must_use]
    pub fn with_replica_id(self, id: u16) -> Self {
        Self { scan: self.scan.with_replica_id(id) }
    }

    /// An attribute, for coprocessors of a cluster's servers. A store has no use for it.
    #[must_use]
    pub fn with_attribute(self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        Self { scan: self.scan.with_attribute(name, value) }
    }

    /// Reads as one who has only these of the user's visibility labels, on a cluster with labels.
    #[must_use]
    pub fn with_authorizations<'a>(self, labels: impl IntoIterator<Item = &'a str>) -> Self {
        Self { scan: self.scan.with_authorizations(labels) }
    }

    /// The row.
    #[inline]
    pub fn row(&self) -> &[u8] {
        self.scan.start_row()
    }

    /// The selected columns.
    #[inline]
    pub fn columns(&self) -> &ColumnSelection {
        self.scan.columns()
    }

    /// Versions of each column.
    pub fn versions(&self) -> u32 {
        self.scan.versions()
    }

    /// The time range of families without one of their own.
    pub fn time_range(&self) -> TimeRange {
        self.scan.time_range()
    }

    /// The filter.
    pub fn filter(&self) -> Option<&Filter> {
        self.scan.filter()
    }

    /// Cells of each family; `None` for all.
    pub fn family_limit(&self) -> Option<u32> {
        self.scan.family_limit()
    }

    /// Cells skipped at the beginning of each family.
    pub fn family_offset(&self) -> u32 {
        self.scan.family_offset()
    }

    /// Whether a replica may answer.
    pub fn consistency(&self) -> Consistency {
        self.scan.consistency()
    }

    /// The only replica that may answer; `None` for any.
    pub fn replica_id(&self) -> Option<u16> {
        self.scan.replica_id()
    }

    /// The scan of one row that answers this get.
    #[inline]
    pub fn as_scan(&self) -> &Scan {
        &self.scan
    }

    /// Refuses whatever HBase's client refuses.
    ///
    /// # Errors
    /// `IllegalArgument` (row length), `Io` (versions).
    pub fn check(&self) -> Result<()> {
        check_row(self.row())?;
        if self.versions() == 0 {
            return Err(Error::invalid_argument(Exception::Io, "versions must be positive"));
        }
        Ok(())
    }
}
