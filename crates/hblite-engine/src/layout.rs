//! Paths on disk, in HBase's own layout.
//!
//! ```text
//! <root>/hbase.id                                            "PBUF" ClusterId { cluster_id = 1 }
//! <root>/hbase.version                                       "PBUF" { version = 1 } = "8"
//! <root>/hblite.store                                        see `marker`
//! <root>/hblite.reserve                                      see `reserve`
//! <root>/hblite.history                                      see `history`
//! <root>/LOCK                                                held by the process that writes
//! <root>/data/<namespace>/<table>/.tabledesc/.tableinfo.<number>.<length>
//! <root>/data/<namespace>/<table>/<region>/.regioninfo
//! <root>/data/<namespace>/<table>/<region>/.manifest         which store files it has
//! <root>/data/<namespace>/<table>/<region>/.tmp/<family>/    being written; gone after an open
//! <root>/data/<namespace>/<table>/<region>/.bulk/<load>/<family>/   a bulk load being finished
//! <root>/data/<namespace>/<table>/<region>/<family>/<file>   store files
//! <root>/.hbase-snapshot/<name>/                              see `catalog::snapshot`
//! <root>/archive/data/<namespace>/<table>/<region>/<family>/<file>   see `catalog::snapshot`
//! <root>/hblite-<store id>-moved/<number>/<path>              in the way, and not hblite's
//! <root>/WALs/                                               the log
//! <root>/WALs/<server>/                                      empty; see `catalog::master_data`
//! <root>/MasterData/                                         HBase's; see `catalog::master_data`
//! <root>/.tmp/hblite-<store id>-<name>/                      being removed; gone after an open
//! <root>/.tmp/hblite-<store id>-kept/                        see `image`; gone after an open
//! <root>/.checkpoints/, <root>/hblite-<store id>-rewind/      see `rewind`
//! ```
//!
//! A region's directory is its encoded name. A family's directory is its name; a name that is not
//! UTF-8, which HBase cannot represent as a directory, becomes `\` and its bytes in hex. Legal
//! family names contain no backslash, so no two families share a directory.
//!
//! Durability: a file survives a power cut only if the names of all directories above it do.
//! [`Layout::make_durable`] ensures that before anything relies on it, once per directory.
//! Threads: any; a `Layout` is shared by all of an open store.

pub(crate) mod emptying;
pub(crate) mod history;
mod image;
mod marker;
mod moving;
mod own;
mod recognition;
mod removal;
mod reserve;
pub(crate) mod rewind;
mod root;
pub(crate) mod stage;
mod store_id;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::FileSystem;
use hblite_env::sync::Mutex;
use hblite_model::{Error, RegionInfo, Result, TableName};

pub(crate) use self::image::image_of;
pub(crate) use self::marker::Marker;
pub(crate) use self::own::{Shape, foreign_entry, is_hex_name, is_region_name};
pub(crate) use self::recognition::{
    LOST_LOG, Place, Tolerance, has_lost_log, is_of_system, recognize,
};
pub(crate) use self::removal::Retired;
pub(crate) use self::reserve::{Reserve, is_out_of_space};
pub(crate) use self::root::{RootFile, RootFiles};
pub use self::store_id::StoreId;

/// Names of files in the root.
const ID_FILE: &str = "hbase.id";
const VERSION_FILE: &str = "hbase.version";
const MARKER_FILE: &str = "hblite.store";
const LOCK_FILE: &str = "LOCK";
/// See [`Reserve`].
const RESERVE_FILE: &str = "hblite.reserve";
/// See `history`.
const HISTORY_FILE: &str = "hblite.history";
/// The head of the log, which a close of an empty store may leave.
const LOG_HEAD_FILE: &str = "WALs.head";
/// The prefix of the names of hblite's log files.
const LOG_PREFIX: &str = "hblite-wal.";
/// What a rewind replaces, relative to the root.
const REWOUND_PARTS: [&str; 5] = ["data", "WALs", LOG_HEAD_FILE, ".hbase-snapshot", "archive/data"];
/// The suffix of the file that represents a missing part of a rewind.
const ABSENT_SUFFIX: &str = ".absent";
/// Name of the file by which an unfinished backup is known; see `backup::unfinished`.
pub(crate) const BACKUP_MARKER_FILE: &str = "hblite.backup";
/// The prefix of the names that only what a store is writing, removing or setting aside has.
const OWN_PREFIX: &str = "hblite-";
/// The end of the name of the directory with what was set aside.
const MOVED: &str = "moved";
/// The end of the name of the directory with what is kept for readers.
const KEPT: &str = "kept";
/// The end of the name of the directory in which a rewind is prepared.
const PARTIAL_REWIND: &str = "rewind.partial";
/// Name of the directory of what HBase's master keeps for itself.
const MASTER_DATA_DIR: &str = "MasterData";
/// The only region of hbase:namespace has this id, and so the same name in every store.
pub(crate) const NAMESPACE_REGION_ID: u64 = 1;
/// Name of the file with a region's identity, in its directory.
pub(crate) const REGION_INFO_FILE: &str = ".regioninfo";
/// Name of the file with the list of a region's store files, in its directory.
pub(crate) const MANIFEST_FILE: &str = ".manifest";
/// Name of the directory with a table's descriptor, in its directory.
pub(crate) const TABLE_DESCRIPTOR_DIR: &str = ".tabledesc";
/// Name of directories for files that are being written or removed.
pub(crate) const TEMPORARY_DIR: &str = ".tmp";
/// Name of a region's directory for bulk loads that are committed but not finished.
pub(crate) const BULK_LOAD_DIR: &str = ".bulk";
/// File that marks a region whose files belong to another region or a snapshot until hbase:meta
/// names the region.
pub(crate) const UNCLAIMED_FILE: &str = ".unclaimed";
/// Name of the file with a snapshot's description, in its directory.
pub(crate) const SNAPSHOT_INFO_FILE: &str = ".snapshotinfo";
/// Name of the file with the list of a snapshot's files, in its directory.
pub(crate) const DATA_MANIFEST_FILE: &str = "data.manifest";
/// Name of the file with the part of HBase's list whose files hblite linked into the archive.
pub(crate) const LINKED_MANIFEST_FILE: &str = ".linked.manifest";
/// Name of a region's directory with HBase's records about its logs.
pub(crate) const RECOVERED_EDITS_DIR: &str = "recovered.edits";

/// The paths of one store.
#[derive(Debug)]
pub(crate) struct Layout {
    root: PathBuf,
    store_id: StoreId,
    /// Directories whose own names are known to be durable.
    durable: Mutex<HashSet<PathBuf>>,
    /// What is known about the files in the root.
    root_state: Arc<Mutex<RootState>>,
}

/// What this process knows about the files in the root.
#[derive(Debug, Default)]
struct RootState {
    /// Whether the store holds nothing of value, because this process is about to create it.
    is_new: bool,
    /// Whether the marker is durable.
    is_durable: bool,
    /// What the marker says.
    marker: Marker,
    /// The head for a log that has none yet.
    first_log_head: Option<Vec<u8>>,
    /// Whether HBase is prevented from starting on the directory.
    is_in_use: bool,
}

impl Layout {
    /// The layout below `root`, of a store whose id is not known yet.
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            store_id: StoreId::NIL,
            durable: Mutex::default(),
            root_state: Arc::default(),
        }
    }

    /// The same layout, of a copy of the store that nothing has been done to.
    pub(crate) fn unused_copy(&self) -> Self {
        let copy = Self::new(&self.root).with_store_id(self.store_id);
        copy.root_state.lock().marker = self.root_state.lock().marker;
        copy
    }

    /// The same layout, of the store with this id.
    pub(crate) fn with_store_id(self, store_id: StoreId) -> Self {
        Self { store_id, ..self }
    }

    /// The store's id; [`StoreId::NIL`] until it has been read.
    pub(crate) fn store_id(&self) -> StoreId {
        self.store_id
    }

    /// The store's own directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The file with the store's id.
    pub(crate) fn cluster_id_file(&self) -> PathBuf {
        self.root.join(ID_FILE)
    }

    /// The file with the version of this layout.
    pub(crate) fn version_file(&self) -> PathBuf {
        self.root.join(VERSION_FILE)
    }

    /// The marker file by which hblite recognizes its stores.
    pub(crate) fn marker_file(&self) -> PathBuf {
        self.root.join(MARKER_FILE)
    }

    /// The file that the writing process locks.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.root.join(LOCK_FILE)
    }

    /// The directory of the log.
    pub(crate) fn wal_dir(&self) -> PathBuf {
        self.root.join("WALs")
    }

    /// The directory of the old logs of HBase's servers, which HBase no longer needs.
    pub(crate) fn old_wal_dir(&self) -> PathBuf {
        self.root.join("oldWALs")
    }

    /// The directory of HBase's medium objects.
    pub(crate) fn mob_dir(&self) -> PathBuf {
        self.root.join("mobdir")
    }

    /// Where HBase has a file of the region `.mob` whose usual path would be `file`.
    pub(crate) fn mob_file(&self, file: &Path) -> PathBuf {
        self.mob_dir().join(file.strip_prefix(&self.root).unwrap_or(file))
    }

    /// The directory of the HBase master's own data.
    pub(crate) fn master_data_dir(&self) -> PathBuf {
        self.root.join(MASTER_DATA_DIR)
    }

    /// The directory of all namespaces.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.root.join("data")
    }

    /// The directory of a namespace's tables.
    pub(crate) fn namespace_dir(&self, namespace: &str) -> PathBuf {
        self.data_dir().join(namespace)
    }

    /// The directory of a table.
    pub(crate) fn table_dir(&self, table: &TableName) -> PathBuf {
        self.namespace_dir(table.namespace()).join(table.qualifier())
    }

    /// The directory with a table's descriptor files.
    pub(crate) fn table_descriptor_dir(&self, table: &TableName) -> PathBuf {
        self.table_dir(table).join(TABLE_DESCRIPTOR_DIR)
    }

    /// The directory of a region.
    pub(crate) fn region_dir(&self, region: &RegionInfo) -> PathBuf {
        self.table_dir(region.table()).join(region.encoded_name())
    }

    /// The file with a region's identity.
    pub(crate) fn region_info_file(&self, region: &RegionInfo) -> PathBuf {
        self.region_dir(region).join(REGION_INFO_FILE)
    }

    /// The directory of a family's store files that are being written.
    pub(crate) fn temporary_dir(&self, region_dir: &Path, family: &[u8]) -> PathBuf {
        region_dir.join(TEMPORARY_DIR).join(family_dir_name(family))
    }

    /// The directory of a family's store files.
    pub(crate) fn family_dir(&self, region: &RegionInfo, family: &[u8]) -> PathBuf {
        self.region_dir(region).join(family_dir_name(family))
    }

    /// The store file that a reference refers to: the file `name` of the same family in the
    /// region `encoded_name` of the same table.
    pub(crate) fn referred_file(
        &self,
        reference: &Path,
        name: &str,
        encoded_name: &str,
    ) -> PathBuf {
        let mut above = reference.ancestors().skip(1);
        let family = above.next().and_then(Path::file_name).unwrap_or_default();
        let table_dir = above.nth(1).unwrap_or(&self.root);
        table_dir.join(encoded_name).join(family).join(name)
    }

    /// The directory of all snapshots.
    pub(crate) fn snapshots_dir(&self) -> PathBuf {
        self.root.join(".hbase-snapshot")
    }

    /// The directory of a snapshot.
    pub(crate) fn snapshot_dir(&self, name: &str) -> PathBuf {
        self.snapshots_dir().join(name)
    }

    /// The directory of a snapshot that is being taken.
    pub(crate) fn snapshot_working_dir(&self, name: &str) -> PathBuf {
        self.snapshots_working_dir().join(self.own_name(name))
    }

    /// The directory of snapshots that are being taken or removed.
    pub(crate) fn snapshots_working_dir(&self) -> PathBuf {
        self.snapshots_dir().join(TEMPORARY_DIR)
    }

    /// The archive: files that are out of service.
    pub(crate) fn archive_dir(&self) -> PathBuf {
        self.root.join("archive")
    }

    /// Where HBase looks for a store file that is no longer in its region's directory: the same
    /// path below the archive.
    pub(crate) fn archived_file(&self, file: &Path) -> PathBuf {
        self.archive_dir().join(file.strip_prefix(&self.root).unwrap_or(file))
    }

    /// The directory for things that an open, or a change to tables, set aside. Each has a numbered
    /// subdirectory, which contains it under its path below the root. HBase does not look into a
    /// directory of this name; in its archive, it would delete the contents.
    pub(crate) fn moved_dir(&self) -> PathBuf {
        self.root.join(self.own_name(MOVED))
    }

    /// The trash: directories that are being removed.
    fn trash_dir(&self) -> PathBuf {
        self.root.join(TEMPORARY_DIR)
    }

    /// A directory for files that are on their way into the store; an open removes it.
    pub(crate) fn scratch_dir(&self, name: &str) -> PathBuf {
        self.trash_dir().join(self.own_name(name))
    }

    /// Makes the name of `dir` and of all directories above it, up to the store's own, survive a
    /// power cut. Each directory is synced only once per process.
    ///
    /// # Errors
    /// `Io`; nothing may rely on `dir` then.
    pub(crate) fn make_durable(&self, fs: &dyn FileSystem, dir: &Path) -> Result<()> {
        let mut names = Vec::new();
        for name in dir.ancestors().take_while(|name| *name != self.root) {
            if self.durable.lock().contains(name) {
                break;
            }
            names.push(name);
        }
        // From the top: a name is not durable before those above it are.
        for name in names.into_iter().rev() {
            let Some(parent) = name.parent() else { continue };
            fs.sync_dir(parent).map_err(|e| Error::io("cannot sync directory", parent, e))?;
            self.durable.lock().insert(name.to_path_buf());
        }
        Ok(())
    }

    /// Forgets that `dir` and everything in it are durable; called when it is removed or moved.
    fn forget(&self, dir: &Path) {
        self.durable.lock().retain(|name| !name.starts_with(dir));
    }
}

/// The name of a family's directory.
pub(crate) fn family_dir_name(family: &[u8]) -> String {
    match std::str::from_utf8(family) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let hex = family.iter().map(|byte| format!("{byte:02x}"));
            std::iter::once("\\".to_owned()).chain(hex).collect()
        }
    }
}
