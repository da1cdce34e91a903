//! Where everything lies on disk: HBase's own layout.
//!
//! ```text
//! <root>/hbase.id                                            "PBUF" ClusterId { cluster_id = 1 }
//! <root>/hbase.version                                       "PBUF" { version = 1 } = "8"
//! <root>/LOCK                                                held by the process that writes
//! <root>/data/<namespace>/<table>/.tabledesc/.tableinfo.<number>.<length>
//! <root>/data/<namespace>/<table>/<region>/.regioninfo
//! <root>/data/<namespace>/<table>/<region>/.tmp/<family>/    being written; gone after an open
//! <root>/data/<namespace>/<table>/<region>/.bulk/<load>/<family>/   a bulk load being finished
//! <root>/data/<namespace>/<table>/<region>/<family>/<file>   store files
//! <root>/.hbase-snapshot/<name>/                              see `catalog::snapshot`
//! <root>/archive/data/<namespace>/<table>/<region>/…         what was taken out of service
//! <root>/WALs/                                               the log
//! <root>/.tmp/                                               being removed; empty after an open
//! ```
//!
//! A region's directory is its encoded name. A family's directory is its name; a name that is no
//! UTF-8, for which HBase has no directory of its own, is `\` and its bytes in hex: no legal family
//! name has a backslash, so no two families share a directory.
//!
//! Durability: a file survives a power cut only if the names of all directories above it do.
//! [`Layout::make_durable`] sees to that before anything relies on it, once per directory.
//! Threads: any; a `Layout` is shared by all of an open store.

mod removal;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hblite_env::{Env, FileLock, FileSystem, Random};
use hblite_model::protobuf::{self, MessageWriter};
use hblite_model::{Error, Exception, RegionInfo, Result, TableName};
use parking_lot::Mutex;

/// The version of HBase's layout.
const VERSION: &str = "8";
/// Name of the file with a region's identity, in its directory.
pub(crate) const REGION_INFO_FILE: &str = ".regioninfo";
/// Name of the directory with a table's descriptor, in its directory.
pub(crate) const TABLE_DESCRIPTOR_DIR: &str = ".tabledesc";
/// Name of directories for files that are being written or removed.
pub(crate) const TEMPORARY_DIR: &str = ".tmp";
/// Name of a region's directory for bulk loads that are committed and not finished.
pub(crate) const BULK_LOAD_DIR: &str = ".bulk";
/// File of a region that is made of a snapshot: its files are that until hbase:meta names it.
pub(crate) const UNCLAIMED_FILE: &str = ".unclaimed";
/// Name of the file with a snapshot's description, in its directory.
pub(crate) const SNAPSHOT_INFO_FILE: &str = ".snapshotinfo";
/// Name of a region's directory with what HBase keeps about its logs.
pub(crate) const RECOVERED_EDITS_DIR: &str = "recovered.edits";

/// The paths of one store.
#[derive(Debug)]
pub(crate) struct Layout {
    root: PathBuf,
    /// Directories whose own names are known to be durable.
    durable: Mutex<HashSet<PathBuf>>,
}

impl Layout {
    /// The layout below `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), durable: Mutex::default() }
    }

    /// The store's own directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The file with the store's id.
    pub(crate) fn cluster_id_file(&self) -> PathBuf {
        self.root.join("hbase.id")
    }

    /// The store's id.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn cluster_id(&self, fs: &dyn FileSystem) -> Result<String> {
        let path = self.cluster_id_file();
        let content = fs.read(&path).map_err(|error| Error::io("cannot read", &path, error))?;
        let mut id = String::new();
        protobuf::read_message(protobuf::strip_magic(&content), |_, value| {
            id = value.as_text();
            Ok(())
        })?;
        Ok(id)
    }

    /// The file with the version of this layout.
    pub(crate) fn version_file(&self) -> PathBuf {
        self.root.join("hbase.version")
    }

    /// The file that the writing process locks.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.root.join("LOCK")
    }

    /// The directory of the log.
    pub(crate) fn wal_dir(&self) -> PathBuf {
        self.root.join("WALs")
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
        self.snapshots_dir().join(TEMPORARY_DIR).join(name)
    }

    /// The directory of what was taken out of service.
    fn archive_dir(&self) -> PathBuf {
        self.root.join("archive")
    }

    /// Where a path below the store's directory goes when it is archived.
    fn archived(&self, path: &Path) -> PathBuf {
        self.archive_dir().join(path.strip_prefix(&self.root).unwrap_or(path))
    }

    /// The directory of what is being removed.
    fn trash_dir(&self) -> PathBuf {
        self.root.join(TEMPORARY_DIR)
    }

    /// A directory for files that are on their way into the store; gone after an open.
    pub(crate) fn scratch_dir(&self, name: &str) -> PathBuf {
        self.trash_dir().join(name)
    }

    /// Makes the store's own directory, durably, if it is not there.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn create_root(&self, fs: &dyn FileSystem) -> Result<()> {
        let io = |error| Error::io("cannot create directory", &self.root, error);
        let mut parents = Vec::new();
        for dir in self.root.ancestors() {
            if dir.as_os_str().is_empty() || fs.exists(dir).map_err(io)? {
                break;
            }
            parents.extend(dir.parent());
        }
        if parents.is_empty() {
            return Ok(());
        }
        fs.create_dir_all(&self.root).map_err(io)?;
        for parent in parents.into_iter().rev() {
            let is_here = parent.as_os_str().is_empty();
            fs.sync_dir(if is_here { Path::new(".") } else { parent }).map_err(io)?;
        }
        Ok(())
    }

    /// Takes the store's lock, which its directory is there for.
    ///
    /// # Errors
    /// `Io`; if somebody else holds the lock, the message says who.
    pub(crate) fn lock(&self, env: &Env) -> Result<Box<dyn FileLock>> {
        let path = self.lock_file();
        let holder = format!("process {}", std::process::id());
        env.fs.lock(&path, &holder).map_err(|error| {
            if error.kind() == std::io::ErrorKind::WouldBlock {
                let message = format!(
                    "{} is open in another process or handle ({error}): a store has one at a time",
                    self.root.display()
                );
                return Error::new(Exception::Io, message).with_source(error);
            }
            Error::io("lock", &path, error)
        })
    }

    /// Makes what a new store has, as far as it is not there, and finishes removals.
    ///
    /// Nothing is waited for: the names beside the log become durable with its first file, other
    /// directories when something relies on them, and what a power cut takes before that is made
    /// again.
    ///
    /// # Errors
    /// `Io`; `UnsupportedOperation` if the directory has another version of HBase's layout.
    pub(crate) fn prepare(&self, env: &Env) -> Result<()> {
        let fs = env.fs.as_ref();
        self.prepare_version(fs)?;
        self.empty_trash(fs)?;
        let path = self.cluster_id_file();
        let io = |error| Error::io("cannot use", &path, error);
        match self.cluster_id_state(fs)? {
            RootFile::Whole => return Ok(()),
            RootFile::Unfinished => fs.remove_file(&path).map_err(io)?,
            RootFile::Missing => {}
        }
        for dir in [self.data_dir(), self.wal_dir()] {
            fs.create_dir_all(&dir).map_err(|e| Error::io("cannot create directory", &dir, e))?;
        }
        let id = random_uuid(env.random.as_ref());
        let content = MessageWriter::new().bytes(1, id).finish_with_magic();
        fs.create(&path).and_then(|mut file| file.write_all(&content)).map_err(io)
    }

    fn prepare_version(&self, fs: &dyn FileSystem) -> Result<()> {
        let path = self.version_file();
        let io = |error| Error::io("cannot use", &path, error);
        match self.version_state(fs)? {
            RootFile::Whole => return Ok(()),
            RootFile::Unfinished => fs.remove_file(&path).map_err(io)?,
            RootFile::Missing => {}
        }
        let content = version_content();
        fs.create(&path).and_then(|mut file| file.write_all(&content)).map_err(io)
    }

    /// What there is of the file with the version of the layout.
    ///
    /// # Errors
    /// `Io`; `UnsupportedOperation` for another version, `CorruptHFile` for what is none.
    pub(crate) fn version_state(&self, fs: &dyn FileSystem) -> Result<RootFile> {
        let path = self.version_file();
        let io = |error| Error::io("cannot use", &path, error);
        if !fs.exists(&path).map_err(io)? {
            return Ok(RootFile::Missing);
        }
        let (content, expected) = (fs.read(&path).map_err(io)?, version_content());
        if content == expected {
            return Ok(RootFile::Whole);
        }
        // Nobody waited for it to be safe: a power cut may have left a part of it, or zeros.
        if expected.starts_with(&content) || content.iter().all(|byte| *byte == 0) {
            return Ok(RootFile::Unfinished);
        }
        Err(unknown_version(&path, &content))
    }

    /// What there is of the file with the store's id.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn cluster_id_state(&self, fs: &dyn FileSystem) -> Result<RootFile> {
        let path = self.cluster_id_file();
        let io = |error| Error::io("cannot use", &path, error);
        if !fs.exists(&path).map_err(io)? {
            return Ok(RootFile::Missing);
        }
        let is_whole = is_cluster_id(&fs.read(&path).map_err(io)?);
        Ok(if is_whole { RootFile::Whole } else { RootFile::Unfinished })
    }

    /// Makes the name of `dir` and of all directories above it, up to the store's own, survive a
    /// power cut. What was done once in this process is not done again.
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

    /// Forgets that `dir` and everything in it are durable; for one that goes away or moves.
    fn forget(&self, dir: &Path) {
        self.durable.lock().retain(|name| !name.starts_with(dir));
    }
}

/// What there is of a file that every open makes again if it must.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RootFile {
    Missing,
    /// What a power cut may have left of it.
    Unfinished,
    Whole,
}

fn version_content() -> Vec<u8> {
    MessageWriter::new().bytes(1, VERSION).finish_with_magic()
}

/// Whether this is the whole content of a cluster's id file.
fn is_cluster_id(content: &[u8]) -> bool {
    let mut is_there = false;
    let read = protobuf::read_message(protobuf::strip_magic(content), |field, value| {
        is_there |= field == 1 && !value.as_bytes().is_empty();
        Ok(())
    });
    read.is_ok() && is_there && content.starts_with(protobuf::MAGIC)
}

fn unknown_version(path: &Path, content: &[u8]) -> Error {
    let mut version = String::new();
    let read = protobuf::read_message(protobuf::strip_magic(content), |field, value| {
        if field == 1 {
            version = value.as_text();
        }
        Ok(())
    });
    if read.is_err() || version.is_empty() {
        return Error::corrupt(Exception::CorruptHFile, path, 0, "no version of a store");
    }
    Error::new(
        Exception::UnsupportedOperation,
        format!("{} has version {version}, and only {VERSION} can be read", path.display()),
    )
}

/// A random UUID (version 4), as HBase has for the id of a cluster.
fn random_uuid(random: &dyn Random) -> String {
    let high = random.next_u64() & !0xf000 | 0x4000;
    let low = random.next_u64() >> 2 | 1 << 63;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
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
