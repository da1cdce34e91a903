//! What a check found, as values: for people one line each, for scripts by kind.

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
        "an open writes it again if it is cut, an open with salvage if it is missing or damaged";
    /// A table's settings cannot be read.
    Descriptor = "descriptor",
        "put the table's .tabledesc from a backup in its place; no open succeeds before";
    /// A row of hbase:meta, or all of it, makes no sense.
    Catalog = "catalog",
        "restore the store from a backup, or open with salvage, which rebuilds lost rows";
    /// Rows that no region of the table takes.
    Hole = "hole", "restore the table from a backup: rows there can be neither read nor written";
    /// Rows that several regions of the table take.
    Overlap = "overlap", "restore the table from a backup: rows there are found by chance";
    /// The directory of a region is not there.
    RegionMissing = "region-missing",
        "put it back from a backup; an open makes an empty one in its place";
    /// A directory that hbase:meta does not name.
    UnknownDirectory = "unknown-directory",
        "the next open moves it to archive/, or removes it if hblite made it and it has no cells";
    /// A .regioninfo that is not what hbase:meta says.
    RegionInfo = "region-info", "remove it: the next open writes it as hbase:meta has it";
    /// A reference file that cannot be read, or means rows of other regions.
    Reference = "reference", "put it back from a backup; the region does not open before";
    /// A reference to a file that is not there.
    DanglingReference = "dangling-reference",
        "put the file that it refers to back from a backup; the region does not open before";
    /// The manifest of a region cannot be read, or does not count any more.
    Manifest = "manifest",
        "put it back from a backup, or open with salvage, which makes it again";
    /// A store file that the manifest of its region lists is not there.
    StoreFileMissing = "store-file-missing",
        "put it back from a backup, or open with salvage and lose its cells";
    /// A store file that the manifest of its region does not list.
    UnlistedFile = "unlisted-file",
        "move it out of the store, or open with salvage, which takes it in";
    /// A store file with damaged blocks, index or trailer.
    StoreFile = "store-file",
        "put it back from a backup; without one, move it away and lose the cells in it alone";
    /// A Bloom filter that cannot be read, or denies what is there.
    Bloom = "bloom", "compact the table with a major compaction, which writes the filter anew";
    /// Cells that are not in the order of their keys.
    CellOrder = "cell-order", "put the file back from a backup: cells in it may not be found";
    /// Cells that do not belong where they are: another region's, another family's.
    ForeignCell = "foreign-cell", "put the file back from a backup, or move it away";
    /// A snapshot of which a part is missing or makes no sense.
    Snapshot = "snapshot", "delete the snapshot, or put its directory back from a backup";
    /// A damaged record or segment of the log.
    Log = "log", "put the log back from a backup, or open with salvage and lose these bytes alone";
    /// The log breaks off, as a kill or a power cut leaves it.
    TornTail = "torn-tail", "nothing: the next open drops what is behind it, which was never safe";
    /// The log of a store that was not closed.
    UnclosedLog = "unclosed-log", "nothing: the next open reads the log and goes on after it";
    /// Files that a process was writing or removing when it ended.
    LeftOver = "left-over", "nothing: the next open removes it";
    /// Something that a store does not have and an open does not look at.
    Foreign = "foreign", "remove it if nothing needs it";
    /// Something was not checked because something else is damaged.
    NotChecked = "not-checked", "check again when the defects are gone";
    /// The operating system gave an error.
    Unreadable = "unreadable", "see to the disk and the rights of the file, and check again";
}

/// Something that a check found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file or directory.
    pub path: PathBuf,
    /// The place in the file, in bytes, where it is known.
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

    /// An error as a finding; `path` is where, if it does not say.
    pub(super) fn of_error(kind: FindingKind, path: &Path, error: &Error) -> Self {
        let path = error.file().unwrap_or(path);
        let mut what = error.message();
        if let Some(offset) = error.offset() {
            // The place stands in the finding.
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
    /// What a kill or a power cut leaves and an open tidies up, by path.
    pub notes: Vec<Finding>,
    /// Tables that hbase:meta names, and the catalog's own two.
    pub tables: usize,
    /// Regions that hold their rows.
    pub regions: usize,
    /// Store files that were read, whole or up to a defect; references are none.
    pub files: usize,
    /// Cells in these files.
    pub cells: u64,
    /// Segments of the log.
    pub log_segments: usize,
    /// Entries of the log.
    pub log_entries: u64,
    /// Bytes of these files and segments.
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
