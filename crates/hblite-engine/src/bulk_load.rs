//! Bulk load: what a caller says about it, and what comes back.
//!
//! The work is done in `catalog::bulk_load` (a folder into a table) and `region::bulk_load` (files
//! into one region).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hblite_env::FileSystem;

/// How files get into the store's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileTransfer {
    /// Copied: the files stay as they are, and whose they are.
    #[default]
    Copy,
    /// Hard links where the file system can: no room is taken. Nobody may write to the files from
    /// then on, not even in place.
    Link,
    /// As [`FileTransfer::Link`], and the files leave their folder once they are loaded.
    Move,
}

/// Settings of a bulk load; the defaults are HBase's unless it says otherwise.
#[derive(Debug, Clone)]
pub struct BulkLoadOptions {
    /// How files get into the store (copied; HBase moves them).
    pub transfer: FileTransfer,
    /// Whether the files count as newer than everything that the table has (true;
    /// `hbase.mapreduce.bulkload.assign.sequenceNumbers`). It matters for cells of which row,
    /// column, timestamp and type are equal; without it, theirs lose. Memory is flushed first.
    pub assign_sequence_id: bool,
    /// Whether the content of every file is checked before anything is loaded: order, index,
    /// filters, and that all cells are of its family (true; `hbase.hregion.bulkload.verify`, there
    /// false). Checksums are always verified.
    pub verify: bool,
    /// Whether folders of families that the table does not have are passed over (false;
    /// `ignore.unmatched.families`).
    pub ignore_unmatched_families: bool,
    /// Most files that one family of one region may get (32;
    /// `hbase.mapreduce.bulkload.max.hfiles.perRegion.perFamily`).
    pub files_per_region_and_family_max: usize,
    /// Where the files are, if that is not the store's own file system: they are copied then.
    pub source: Option<Arc<dyn FileSystem>>,
}

impl Default for BulkLoadOptions {
    fn default() -> Self {
        Self {
            transfer: FileTransfer::default(),
            assign_sequence_id: true,
            verify: true,
            ignore_unmatched_families: false,
            files_per_region_and_family_max: 32,
            source: None,
        }
    }
}

/// What a bulk load of a folder did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulkLoadReport {
    /// Files of the folder that are in the table now.
    pub files: u64,
    /// How many of them had rows of several regions and were cut at the borders.
    pub files_split: u64,
    /// Regions that got something.
    pub regions: u64,
    /// Cells in the files.
    pub cells: u64,
    /// Bytes of the files in the folder.
    pub bytes: u64,
    /// What stood in the folder and was passed over, and why.
    pub skipped: Vec<(PathBuf, &'static str)>,
    /// Files that are loaded and were to leave their folder, and could not be removed there.
    pub left_behind: Vec<PathBuf>,
    /// How long it took.
    pub duration: Duration,
}
