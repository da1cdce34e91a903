//! Bulk load: its options and its report.

use std::path::PathBuf;
use std::time::Duration;

use crate::setters;

/// How the files of a bulk load get into the store's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileTransfer {
    /// Copy the files and leave the originals alone.
    #[default]
    Copy,
    /// Make hard links where the file system can, which takes no space. The files must not be
    /// written to from then on, not even in place.
    Link,
    /// Make links as [`FileTransfer::Link`] does, then remove the files from their folder.
    Move,
}

/// Options of a bulk load. Defaults are HBase's unless stated otherwise.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BulkLoadOptions {
    /// How files get into the store. Default: copied (HBase moves them).
    pub transfer: FileTransfer,
    /// Whether the files count as newer than everything in the table. This matters for cells with
    /// equal row, column, timestamp and type: if false, the cells of the table win. If true, memory
    /// is flushed first.
    /// Default true (`hbase.mapreduce.bulkload.assign.sequenceNumbers`).
    pub assign_sequence_id: bool,
    /// Whether the content of every file is checked before anything is loaded: order, index,
    /// filters, and that all cells belong to its family. Checksums are always verified. Default
    /// true (`hbase.hregion.bulkload.verify`, which defaults to false).
    pub verify: bool,
    /// Whether to skip folders of families that the table does not have. Default false
    /// (`ignore.unmatched.families`).
    pub ignore_unmatched_families: bool,
    /// The most files that one family of one region may receive. Default 32
    /// (`hbase.mapreduce.bulkload.max.hfiles.perRegion.perFamily`).
    pub files_per_region_and_family_max: u32,
}

impl Default for BulkLoadOptions {
    fn default() -> Self {
        Self {
            transfer: FileTransfer::default(),
            assign_sequence_id: true,
            verify: true,
            ignore_unmatched_families: false,
            files_per_region_and_family_max: 32,
        }
    }
}

setters! { BulkLoadOptions:
    with_transfer sets transfer: FileTransfer;
    with_assign_sequence_id sets assign_sequence_id: bool;
    with_verify sets verify: bool;
    with_ignore_unmatched_families sets ignore_unmatched_families: bool;
    with_files_per_region_and_family_max sets files_per_region_and_family_max: u32;
}

/// What a bulk load of a folder did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulkLoadReport {
    /// Files of the folder that are now in the table.
    pub files: u64,
    /// How many of them had rows of several regions and were cut at the boundaries.
    pub files_split: u64,
    /// Regions that received files.
    pub regions: u64,
    /// Cells in the files.
    pub cells: u64,
    /// Bytes of the files in the folder.
    pub bytes: u64,
    /// What was skipped in the folder, and why.
    pub skipped: Vec<(PathBuf, &'static str)>,
    /// Files that were loaded but could not be removed from their folder.
    pub left_behind: Vec<PathBuf>,
    /// How long the load took.
    pub duration: Duration,
}
