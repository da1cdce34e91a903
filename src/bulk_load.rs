//! Loads HFiles that another program wrote.

use std::path::{Path, PathBuf};

use hblite_model::{BulkLoadOptions, BulkLoadReport, Result};

use crate::admin::Admin;
use crate::table_name::IntoTableName;

/// Bulk load.
impl Admin {
    /// Loads a folder of HFiles, `folder/<family>/<file>`, into a table, while reads and writes
    /// continue. The folder may be the output of a job or a region's directory, as for HBase's
    /// `completebulkload`. Files with rows of several regions are split at region boundaries.
    ///
    /// All files are checked before the first is loaded. Each region then gets its files in one
    /// step, all families at once: a crash leaves all of them or none. Scans that have already
    /// begun in a region do not see them. If the call fails halfway, call it again: equal cells
    /// count once.
    ///
    /// Names that begin with `_` or `.` are ignored. The report lists what else was skipped, and
    /// why.
    ///
    /// ```no_run
    /// use hblite::BulkLoadOptions;
    /// # fn main() -> hblite::Result<()> {
    /// let connection = hblite::open("./my-data")?;
    /// let options = BulkLoadOptions::default();
    /// let report = connection.admin().bulk_load("t", "./hfiles", &options)?;
    /// println!("{} cells from {} files", report.cells, report.files);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `Io` for a folder with families that the table does not
    /// have, or with too many files for a region; `CorruptHFile`, `UnsupportedOperation` and
    /// `DoNotRetryIo` for a file that cannot be loaded. In these cases, nothing was loaded. `Io` or
    /// `RegionServerStopped` if the disk fails: some regions may already have their files.
    pub fn bulk_load(
        &self,
        table: impl IntoTableName,
        folder: impl AsRef<Path>,
        options: &BulkLoadOptions,
    ) -> Result<BulkLoadReport> {
        self.backend.bulk_load(&table.into_table_name()?, folder.as_ref(), options)
    }

    /// Loads HFiles into one region, named by its full or encoded name, each into the family given
    /// with it: all of them or none. Returns false, and loads nothing, if one of them has rows of
    /// other regions. A server does this for a client that handles the rest itself
    /// (`HRegion.bulkLoadHFiles`).
    ///
    /// # Errors
    /// `UnknownRegion`, `NotServingRegion`; and as [`Admin::bulk_load`].
    pub fn bulk_load_region(
        &self,
        region: &str,
        files: &[(Vec<u8>, PathBuf)],
        options: &BulkLoadOptions,
    ) -> Result<bool> {
        self.backend.bulk_load_region(region, files, options)
    }
}
