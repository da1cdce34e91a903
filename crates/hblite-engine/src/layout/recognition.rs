//! Determines what a directory is, before anything in it is changed.
//!
//! | what is there | it is |
//! |---|---|
//! | nothing, or no directory | free: a store can be created |
//! | only what systems put there ([`is_of_system`]) | free |
//! | only the remains of an interrupted creation | free |
//! | `hbase.version`, `hbase.id` and a valid `hblite.store` with the same id | a store |
//! | the first two, `LOCK`, and hblite's log or hbase:namespace: if salvaged | an unmarked store |
//! | `hbase.version`, `hbase.id`, `MasterData` or `oldWALs`: if tolerated | an unmarked store |
//! | anything else | refused |
//!
//! A creation writes `LOCK`, the three files above, and empty directories, and syncs none of them:
//! a power cut may leave any of them, with a part of the content or zeros. Only a new version,
//! at first under a temporary name, is written before the marker is durable: see
//! [`super::RootFiles::begin_use`]. An unmarked store has lost its marker, or is HBase's; the open
//! writes one.
//!
//! A store that was not closed and has no log is refused: see [`super::Marker`].
//!
//! A log in a subdirectory of `WALs/`, where HBase keeps the logs of a server, is refused in any
//! store.
//!
//! hbase:namespace is recognized by its region: hblite's has a fixed name, the same in every store.
//!
//! A root directory that Apache HBase wrote, and its logs in a store, are refused unless the caller
//! tolerates them ([`Tolerance::hbase`]). Nothing is changed here.

use std::io::ErrorKind;
use std::path::Path;

use hblite_env::{DirEntry, FileSystem, Random};
use hblite_model::{Error, Exception, RegionInfo, Result, TableName};

use super::history::is_name_of_history;
use super::marker::Marker;
use super::rewind;
use super::root::{RootFile, Usage};
use super::{
    HISTORY_FILE, LOCK_FILE, LOG_HEAD_FILE, LOG_PREFIX, Layout, MARKER_FILE, NAMESPACE_REGION_ID,
    RESERVE_FILE, StoreId,
};
use super::{
    ID_FILE, MANIFEST_FILE, MASTER_DATA_DIR, REGION_INFO_FILE, TABLE_DESCRIPTOR_DIR, TEMPORARY_DIR,
    VERSION_FILE,
};
use crate::files::{exists, list};

/// The name that the head of the log has before its own.
const LOG_HEAD_TEMPORARY: &str = "WALs.head.tmp";
/// The suffix of a file's name while it is being written atomically.
const UNNAMED_SUFFIX: &str = ".tmp";
/// Maximum number of names in a refusal; further ones are counted.
const NAMES_SHOWN_MAX: usize = 3;

/// The directory in the root of ext4 for what its check finds.
const LOST_AND_FOUND: &str = "lost+found";
/// Files of macOS, Windows and Git.
const SYSTEM_FILES: [&str; 5] = [".DS_Store", "Thumbs.db", "desktop.ini", ".gitkeep", ".gitignore"];

/// What a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// No store, and nothing in the way of one. The id is what an interrupted creation left of it.
    Free(Option<StoreId>),
    /// A store.
    Store(Marker),
    /// A store without its marker: a salvage accepts it, or HBase wrote it.
    Unmarked(StoreId),
}

impl Place {
    /// The id of the existing store, or of the store to create.
    pub(crate) fn store_id(self, random: &dyn Random) -> StoreId {
        match self {
            Self::Store(marker) => marker.store_id,
            Self::Unmarked(id) | Self::Free(Some(id)) => id,
            Self::Free(None) => StoreId::random(random),
        }
    }

    /// The id of the existing store.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    pub(crate) fn require_store(self, root: &Path) -> Result<StoreId> {
        match self {
            Self::Store(marker) => Ok(marker.store_id),
            // A creation that got as far as the id left a complete, though empty, store.
            Self::Unmarked(id) | Self::Free(Some(id)) => Ok(id),
            Self::Free(None) => {
                let message = format!("{}: no store is there", root.display());
                Err(Error::new(Exception::Io, message).with_kind(hblite_model::ErrorKind::NotFound))
            }
        }
    }
}

/// What a caller can handle in addition to a sound store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tolerance {
    /// A valid marker replaces a missing or damaged `hbase.id` or `hbase.version`, and the other
    /// files of a store replace a damaged marker.
    pub(crate) salvage: bool,
    /// A root directory of Apache HBase is a store, and may have HBase's logs.
    pub(crate) hbase: bool,
    /// The caller completes an interrupted rewind.
    pub(crate) rewind: bool,
}

/// Determines what the directory of `layout` is. Changes nothing.
///
/// # Errors
/// `Io` if it is neither free nor a store: the message says what is there and what is missing.
/// `CorruptHFile` for a damaged file, and for a marker of another store; `UnsupportedOperation`
/// for a store of a later version.
pub(crate) fn recognize(
    fs: &dyn FileSystem,
    layout: &Layout,
    tolerance: Tolerance,
) -> Result<Place> {
    let salvage = tolerance.salvage;
    let root = layout.root();
    let mut entries = match fs.list_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Place::Free(None)),
        Err(error) => return Err(Error::io("cannot use", root, error)),
    };
    entries.retain(|entry| !is_of_system(entry));
    if entries.is_empty() {
        return Ok(Place::Free(None));
    }
    let look = Look { fs, layout, entries: &entries, adopts_hbase: tolerance.hbase };
    let place = match layout.read_marker(fs) {
        Ok(RootFile::Whole(marker)) => look.with_marker(marker, salvage),
        Ok(RootFile::Missing | RootFile::Unfinished) => look.without_marker(salvage),
        Err(error) if salvage && error.kind() == hblite_model::ErrorKind::Corrupt => {
            look.without_marker(salvage).map_err(|_| error)
        }
        Err(error) => Err(error),
    }?;
    if !tolerance.hbase {
        look.check_log_dir()?;
    }
    let Place::Store(marker) = place else { return Ok(place) };
    let is_rewinding = rewind::is_interrupted(fs, layout, marker.store_id)?;
    if !is_rewinding && !salvage && has_lost_log(fs, layout, marker)? {
        return Err(lost_log(layout));
    }
    if is_rewinding && !tolerance.rewind {
        let message = format!(
            "{}: a rewind was interrupted. Opening the store, as `hblite shell` does, finishes it",
            root.display()
        );
        return Err(Error::new(Exception::Io, message));
    }
    Ok(place)
}

/// Whether a file system or a desktop puts this entry into directories, or a user to keep
/// an empty directory in a repository. Such an entry does not count, and stays.
pub(crate) fn is_of_system(entry: &DirEntry) -> bool {
    match entry.is_dir {
        true => entry.name == LOST_AND_FOUND,
        false => SYSTEM_FILES.contains(&entry.name.as_str()),
    }
}

/// Whether the log of a store with this marker was lost as a whole.
///
/// # Errors
/// `Io`, those of reading `hbase.version`.
pub(crate) fn has_lost_log(fs: &dyn FileSystem, layout: &Layout, marker: Marker) -> Result<bool> {
    let head = layout.root().join(LOG_HEAD_FILE);
    Ok(marker.has_log
        && layout.read_version(fs)? == RootFile::Whole(Usage::InUse)
        && !exists(fs, &head)?)
}

/// What is wrong with a store without its log.
pub(crate) const LOST_LOG: &str = "the store was not closed, and its log is missing: this file, \
        and the directory WALs next to it";

fn lost_log(layout: &Layout) -> Error {
    let what = format!(
        "{LOST_LOG}. Nothing was changed. Restore both from a backup; without one, open with \
         --salvage (Options::with_salvage), which continues without the writes that were only in \
         the log"
    );
    Error::corrupt(Exception::CorruptWal, &layout.root().join(LOG_HEAD_FILE), 0, what)
}

/// Whether a file was read but is not what its name says.
fn is_foreign<T>(read: Result<T>) -> Result<bool> {
    match read {
        Err(error) if error.kind() == hblite_model::ErrorKind::Io => Err(error),
        read => Ok(read.is_err()),
    }
}

/// The contents of a directory that is not empty.
struct Look<'a> {
    fs: &'a dyn FileSystem,
    layout: &'a Layout,
    entries: &'a [DirEntry],
    adopts_hbase: bool,
}

impl Look<'_> {
    fn has(&self, name: &str, is_dir: bool) -> bool {
        self.entries.iter().any(|entry| entry.name == name && entry.is_dir == is_dir)
    }

    fn with_marker(&self, marker: Marker, salvage: bool) -> Result<Place> {
        let (id, version) = (self.layout.read_id(self.fs), self.layout.read_version(self.fs));
        if let Ok(RootFile::Whole(other)) = id
            && other != marker.store_id
        {
            let message = format!(
                "it names store {}, and {ID_FILE} names store {other}: files of two stores are \
                 mixed",
                marker.store_id
            );
            let path = self.layout.marker_file();
            return Err(Error::corrupt(Exception::CorruptHFile, &path, 0, message));
        }
        let is_missing =
            matches!(id, Ok(RootFile::Missing)) || matches!(version, Ok(RootFile::Missing));
        if is_missing && !marker.is_of_used_store() && self.is_left_of_creation()? {
            return Ok(Place::Free(Some(marker.store_id)));
        }
        if salvage {
            return Ok(Place::Store(marker));
        }
        id?;
        version?;
        if is_missing { Err(self.refused()) } else { Ok(Place::Store(marker)) }
    }

    fn without_marker(&self, salvage: bool) -> Result<Place> {
        if self.is_left_of_creation()? {
            return Ok(Place::Free(self.layout.read_id(self.fs)?.whole()));
        }
        // Without these two it is not a store, whatever else it contains.
        if !self.has(ID_FILE, false) || !self.has(VERSION_FILE, false) {
            return Err(self.refused());
        }
        let is_salvaged = salvage
            && self.has(LOCK_FILE, false)
            && self.layout.read_version(self.fs)?.whole().is_some()
            && (self.has_log()? || self.has_namespace_region()?);
        let is_hbase = self.adopts_hbase
            && self.is_hbase()
            && self.layout.read_version(self.fs)?.whole().is_some();
        match self.layout.read_id(self.fs)?.whole() {
            Some(id) if is_salvaged || is_hbase => Ok(Place::Unmarked(id)),
            _ => Err(self.refused()),
        }
    }

    /// Whether there is nothing except what [`Layout::prepare`] and the first open after it create.
    fn is_left_of_creation(&self) -> Result<bool> {
        for DirEntry { name, is_dir } in self.entries {
            let is_known = match (name.as_str(), is_dir) {
                (LOCK_FILE | MARKER_FILE | LOG_HEAD_FILE | LOG_HEAD_TEMPORARY, false) => true,
                (RESERVE_FILE, false) => true,
                (name, false) if is_name_of_history(name) => true,
                (VERSION_FILE, false) => !is_foreign(self.layout.read_version(self.fs))?,
                (ID_FILE, false) => !is_foreign(self.layout.read_id(self.fs))?,
                (name, false) if name.ends_with(UNNAMED_SUFFIX) => {
                    !is_foreign(self.layout.read_unnamed(self.fs, name))?
                }
                ("WALs", true) => list(self.fs, &self.layout.wal_dir())?.is_empty(),
                ("data", true) => self.has_only_empty_system_tables()?,
                _ => false,
            };
            if !is_known {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether `data` holds hbase:meta and hbase:namespace at most, without a store file.
    fn has_only_empty_system_tables(&self) -> Result<bool> {
        let data = self.layout.data_dir();
        for namespace in list(self.fs, &data)? {
            if namespace.name != "hbase" || !namespace.is_dir {
                return Ok(false);
            }
        }
        for table in [TableName::meta(), TableName::namespace_table()] {
            let table_dir = self.layout.table_dir(&table);
            for entry in list(self.fs, &table_dir)? {
                let dir = table_dir.join(&entry.name);
                if !entry.is_dir || !self.has_only_first_files(&dir, &entry.name)? {
                    return Ok(false);
                }
            }
        }
        let tables = list(self.fs, &data.join("hbase"))?;
        Ok(tables
            .iter()
            .all(|table| table.is_dir && matches!(table.name.as_str(), "meta" | "namespace")))
    }

    /// Refuses a log that HBase wrote, since its contents would be lost. A server that was stopped
    /// leaves its directory empty.
    fn check_log_dir(&self) -> Result<()> {
        let dir = self.layout.wal_dir();
        for server in list(self.fs, &dir)?.into_iter().filter(|entry| entry.is_dir) {
            let path = dir.join(&server.name);
            if list(self.fs, &path)?.is_empty() {
                continue;
            }
            let message = format!(
                "{} holds the log of an Apache HBase server, which is running on this directory \
                 or was killed. Nothing was changed. If HBase is not running, run `hblite \
                 from-hbase` on the directory (Options::with_hbase_adopted), which replays the log",
                path.display()
            );
            return Err(Error::new(Exception::Io, message));
        }
        Ok(())
    }

    /// Whether a directory of a system table holds what its first open writes.
    fn has_only_first_files(&self, dir: &Path, name: &str) -> Result<bool> {
        for file in list(self.fs, dir)? {
            let is_first = match file.is_dir {
                true => {
                    let temporary = list(self.fs, &dir.join(TEMPORARY_DIR))?;
                    file.name == TEMPORARY_DIR && temporary.iter().all(|f| f.name == MANIFEST_FILE)
                }
                false if name == TABLE_DESCRIPTOR_DIR => file.name.starts_with(".tableinfo."),
                false => [REGION_INFO_FILE, MANIFEST_FILE].contains(&file.name.as_str()),
            };
            if !is_first {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_log(&self) -> Result<bool> {
        let entries = list(self.fs, &self.layout.wal_dir())?;
        Ok(entries.iter().any(|entry| !entry.is_dir && entry.name.starts_with(LOG_PREFIX)))
    }

    fn has_namespace_region(&self) -> Result<bool> {
        let region = RegionInfo::new(TableName::namespace_table(), b"", b"", NAMESPACE_REGION_ID);
        let dir = self.layout.region_dir(&region);
        exists(self.fs, &dir)
    }

    /// Whether this is what Apache HBase has in its root directory.
    fn is_hbase(&self) -> bool {
        self.has(VERSION_FILE, false)
            && self.has(ID_FILE, false)
            && (self.has(MASTER_DATA_DIR, true) || self.has("oldWALs", true))
    }

    fn refused(&self) -> Error {
        let root = self.layout.root().display();
        let is_marker_cut = matches!(self.layout.read_marker(self.fs), Ok(RootFile::Unfinished));
        let is_lacking =
            |name: &&str| !self.has(name, false) || (*name == MARKER_FILE && is_marker_cut);
        let required = [VERSION_FILE, ID_FILE, MARKER_FILE];
        let missing: Vec<&str> = required.into_iter().filter(is_lacking).collect();
        let message = if self.is_hbase() {
            format!(
                "{root} is the root directory of an Apache HBase cluster, not of an hblite store \
                 (no {MARKER_FILE}). Nothing was changed. Stop HBase, and run `hblite \
                 from-hbase` on the directory (Options::with_hbase_adopted) to make it a store"
            )
        } else {
            format!(
                "{root} is not an hblite store: it holds {}, and lacks {}. Nothing was changed. \
                 To create a store, name a new or empty directory, such as {}; to use one, restore \
                 the missing files from its backup",
                self.names(),
                if missing.is_empty() {
                    "other files of a store".to_owned()
                } else {
                    missing.join(", ")
                },
                self.layout.root().join("hblite-data").display()
            )
        };
        Error::new(Exception::Io, message)
    }

    /// Some of the names, beginning with those that no store has.
    fn names(&self) -> String {
        let is_own = |name: &str| {
            matches!(
                name,
                LOCK_FILE
                    | MARKER_FILE
                    | VERSION_FILE
                    | ID_FILE
                    | RESERVE_FILE
                    | HISTORY_FILE
                    | "data"
                    | "WALs"
            )
        };
        let mut names: Vec<&str> = self.entries.iter().map(|entry| entry.name.as_str()).collect();
        names.sort_by_key(|name| is_own(name));
        let shown: Vec<String> = names
            .iter()
            .take(NAMES_SHOWN_MAX)
            .map(|name| name.escape_debug().to_string())
            .collect();
        match names.len() - shown.len() {
            0 => shown.join(", "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    }
}
