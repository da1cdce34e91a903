//! What a check found, as values: one line each for people, by kind for scripts.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hblite_model::Error;

macro_rules! finding_kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $advice:literal;)*) => {
        /// The kinds of findings.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$doc])* $name,)*
        }

        impl FindingKind {
            /// Every kind, for tools and tests.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name for scripts: lower case, words joined by `-`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What to do about it.
            pub fn advice(self) -> &'static str {
                match self { $(Self::$name => $advice,)* }
            }
        }
    };
}

finding_kinds! {
    /// hbase.id, hbase.version or hblite.store.
    Store = "store",
        "an open rewrites it if it was cut off, an open with salvage if it is missing or damaged";
    /// A table's settings cannot be read.
    Descriptor = "descriptor",
        "restore the table's .tabledesc from a backup; until then, no open succeeds";
    /// A row of hbase:meta, or all of it, is invalid.
    Catalog = "catalog",
        "restore the store from a backup, or open with salvage, which rebuilds lost rows";
    /// Rows that belong to no region of the table.
    Hole = "hole", "restore the table from a backup: these rows can be neither read nor written";
    /// Rows that belong to several regions of the table.
    Overlap = "overlap", "restore the table from a backup: some of these rows may not be found";
    /// The directory of a region is missing.
    RegionMissing = "region-missing",
        "put it back from a backup; an open makes an empty one in its place";
    /// A directory that hbase:meta does not name.
    UnknownDirectory = "unknown-directory",
        "the next open sets it aside, or removes it if hblite made it and it has no cells";
    /// A .regioninfo that is not what hbase:meta says.
    RegionInfo = "region-info", "remove it: the next open rewrites it from hbase:meta";
    /// A reference file that cannot be read, or refers to rows of other regions.
    Reference = "reference", "put it back from a backup; until then, the region does not open";
    /// A reference to a missing file.
    DanglingReference = "dangling-reference",
        "put the file that it refers to back from a backup; until then, the region does not open";
    /// The manifest of a region cannot be read, or is no longer valid.
    Manifest = "manifest",
        "put it back from a backup, or open with salvage, which rebuilds it";
    /// A store file that the manifest of its region lists is missing.
    StoreFileMissing = "store-file-missing",
        "put it back from a backup, or open with salvage and lose its cells";
    /// A store file that the manifest of its region does not list.
    UnlistedFile = "unlisted-file",
        "move it out of the store, or open with salvage, which keeps it";
    /// A store file with damaged blocks, index or trailer.
    StoreFile = "store-file",
        "put it back from a backup; without one, move it away and lose the cells in it alone";
    /// A Bloom filter that cannot be read, or denies rows that exist.
    Bloom = "bloom", "compact the table with a major compaction, which writes the filter anew";
    /// Cells that are not in the order of their keys.
    CellOrder = "cell-order", "put the file back from a backup: cells in it may not be found";
    /// Cells that belong to another region or family.
    ForeignCell = "foreign-cell", "put the file back from a backup, or move it away";
    /// A snapshot with a missing or invalid part.
    Snapshot = "snapshot", "delete the snapshot, or put its directory back from a backup";
    /// A damaged record or log file.
    Log = "log", "put the log back from a backup, or open with salvage and lose these bytes alone";
    /// The log breaks off, as a kill or a power cut leaves it.
    TornTail = "torn-tail", "nothing: the next open drops what follows, which was never durable";
    /// The log of a store that was not closed.
    UnclosedLog = "unclosed-log", "nothing: the next open replays the log and continues after it";
    /// Files that a process was writing or removing when it ended.
    LeftOver = "left-over", "nothing: the next open removes it";
    /// Something that is not part of a store and that an open ignores.
    Foreign = "foreign", "remove it if nothing needs it";
    /// Something was not checked because something else is damaged.
    NotChecked = "not-checked", "check again when the defects are repaired";
    /// The operating system returned an error.
    Unreadable = "unreadable", "check the disk and the permissions of the file, then check again";
}

/// Something that a check found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file or directory.
    pub path: PathBuf,
    /// The offset in the file, in bytes, if it is known.
    pub offset: Option<u64>,
    /// What kind of finding this is.
    pub kind: FindingKind,
    /// What is wrong.
    pub what: String,
}

impl Finding {
    pub(super) fn new(
        kind: FindingKind,
        path: &Path,
        offset: Option<u64>,
        what: impl Into<String>,
    ) -> Self {
        Self { path: path.to_path_buf(), offset, kind, what: what.into() }
    }

    /// An error as a finding; `path` is used if the error does not name a place.
    pub(super) fn of_error(kind: FindingKind, path: &Path, error: &Error) -> Self {
        let path = error.file().unwrap_or(path);
        let mut what = error.message();
        if let Some(offset) = error.offset() {
            // The finding already has the place.
            let place = format!("{} at offset {offset}: ", path.display());
            what = what.strip_prefix(&place).unwrap_or(what);
        }
        Self::new(kind, path, error.offset(), what)
    }
}

/// One line: place, kind, what is wrong and what to do. Control characters, which names of files
/// can have, are escaped.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in_line(f, &self.path.to_string_lossy())?;
        if let Some(offset) = self.offset {
            write!(f, " at offset {offset}")?;
        }
        write!(f, ": {}: ", self.kind.name())?;
        write_in_line(f, &self.what)?;
        write!(f, " ({})", self.kind.advice())
    }
}

fn write_in_line(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for character in text.chars() {
        if character.is_control() {
            write!(f, "{}", character.escape_default())?;
        } else {
            write!(f, "{character}")?;
        }
    }
    Ok(())
}

/// How far a check has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckProgress {
    /// Bytes of store files and log that were checked.
    pub bytes: u64,
    /// Bytes of all of them.
    pub bytes_total: u64,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What is wrong, by path.
    pub defects: Vec<Finding>,
    /// What a kill or a power cut leaves and an open cleans up, by path.
    pub notes: Vec<Finding>,
    /// Tables that hbase:meta names, and the catalog's own two.
    pub tables: usize,
    /// Regions that hold their rows.
    pub regions: usize,
    /// Store files that were read, completely or up to a defect; references do not count.
    pub files: usize,
    /// Cells in these files.
    pub cells: u64,
    /// Log files.
    pub log_segments: usize,
    /// Entries of the log.
    pub log_entries: u64,
    /// Bytes of all these files.
    pub bytes: u64,
    /// How long it took.
    pub duration: Duration,
}

impl CheckReport {
    /// Whether there is no defect.
    pub fn is_clean(&self) -> bool {
        self.defects.is_empty()
    }

    pub(super) fn sort(&mut self) {
        for findings in [&mut self.defects, &mut self.notes] {
            findings.sort();
            findings.dedup();
        }
    }
}
