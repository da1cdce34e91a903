//! The root of a store: its lock, and the files that identify a store.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::sync::Mutex;
use hblite_env::{Env, FileLock, FileSystem};
use hblite_model::protobuf::{self, MessageWriter};
use hblite_model::{Error, Exception, Result};

use super::{
    ID_FILE, LOG_HEAD_FILE, Layout, MARKER_FILE, Marker, Place, RootState, StoreId, VERSION_FILE,
};

/// How to read a store that cannot be locked.
const READ_ONLY: &str = "it can be read without its lock (Options::with_read_only, or --read-only)";

/// The version of HBase's layout.
const VERSION: &str = "8";
/// What replaces it while HBase must not start on the directory: HBase refuses a version that is
/// not its own, and quotes it.
const VERSION_IN_USE: &str =
    "8 of a store that hblite has open or did not close (run 'hblite to-hbase' on it)";

/// Who may start on the directory, as `hbase.version` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    /// HBase or hblite: the store was closed, and all of it is in files that both can read.
    Free,
    /// Only hblite: it has the store open, or did not close it.
    InUse,
}

/// The state of a file that a creation writes without a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RootFile<T> {
    Missing,
    /// What a power cut may have left of it.
    Unfinished,
    Whole(T),
}

impl<T> RootFile<T> {
    /// The same, without what the file says.
    pub(crate) fn forget(self) -> RootFile<()> {
        match self {
            Self::Missing => RootFile::Missing,
            Self::Unfinished => RootFile::Unfinished,
            Self::Whole(_) => RootFile::Whole(()),
        }
    }

    /// What the file says, if it is complete.
    pub(crate) fn whole(self) -> Option<T> {
        match self {
            Self::Whole(content) => Some(content),
            Self::Missing | Self::Unfinished => None,
        }
    }
}

/// Reads the files that identify a store.
impl Layout {
    /// `hbase.id`.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` for a file that does not hold an id or a part of one.
    pub(crate) fn read_id(&self, fs: &dyn FileSystem) -> Result<RootFile<StoreId>> {
        read(fs, &self.cluster_id_file(), decode_id)
    }

    /// `hbase.version`.
    ///
    /// # Errors
    /// `Io`; `UnsupportedOperation` for another version, `CorruptHFile` for a file that holds none.
    pub(crate) fn read_version(&self, fs: &dyn FileSystem) -> Result<RootFile<Usage>> {
        read(fs, &self.version_file(), decode_version)
    }

    /// `hblite.store`.
    ///
    /// # Errors
    /// As [`Marker::decode`]; `Io`.
    pub(crate) fn read_marker(&self, fs: &dyn FileSystem) -> Result<RootFile<Marker>> {
        read(fs, &self.marker_file(), Marker::decode)
    }

    /// One of the files above that does not have its final name yet, because its writing was
    /// interrupted.
    ///
    /// # Errors
    /// As for the file; `CorruptHFile` for any other file.
    pub(super) fn read_unnamed(&self, fs: &dyn FileSystem, name: &str) -> Result<RootFile<()>> {
        let path = self.root.join(name);
        match name.strip_suffix(".tmp") {
            Some(ID_FILE) => read(fs, &path, decode_id).map(RootFile::forget),
            Some(VERSION_FILE) => read(fs, &path, decode_version).map(RootFile::forget),
            Some(MARKER_FILE) => read(fs, &path, Marker::decode).map(RootFile::forget),
            _ => Err(Error::corrupt(Exception::CorruptHFile, &path, 0, "no store has such a file")),
        }
    }
}

fn read<T>(
    fs: &dyn FileSystem,
    path: &Path,
    decode: fn(&Path, &[u8]) -> Result<Option<T>>,
) -> Result<RootFile<T>> {
    match fs.read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(RootFile::Missing),
        Err(error) => Err(Error::io("cannot read", path, error)),
        Ok(content) => Ok(decode(path, &content)?.map_or(RootFile::Unfinished, RootFile::Whole)),
    }
}

/// Whether a lock was refused because the file system has no locks.
fn is_of_no_locks(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    source.is_some_and(|source: &io::Error| source.kind() == ErrorKind::Unsupported)
}

/// Whether the error of a sync shows that no open of this store created a name in the directory: it
/// cannot be listed, or nothing in it can be written.
fn has_no_new_names(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

impl Layout {
    /// Creates the store's own directory, durably, if it does not exist.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn create_root(&self, fs: &dyn FileSystem) -> Result<()> {
        let io = |error| Error::io("cannot create directory", &self.root, error);
        // Without a version, the names of the directory and its parents may not be durable yet: a
        // killed or failed open may have created them as well.
        if fs.exists(&self.version_file()).map_err(io)? {
            return Ok(());
        }
        fs.create_dir_all(&self.root).map_err(io)?;
        let above: Vec<&Path> = self.root.ancestors().skip(1).collect();
        for dir in above.into_iter().rev() {
            let is_here = dir.as_os_str().is_empty();
            match fs.sync_dir(if is_here { Path::new(".") } else { dir }) {
                Err(error) if has_no_new_names(&error) => {}
                synced => synced.map_err(io)?,
            }
        }
        Ok(())
    }

    /// Takes the store's lock.
    ///
    /// # Errors
    /// `Locked` if another process holds the lock (the message names it); `Io`.
    pub(crate) fn lock(&self, env: &Env) -> Result<Box<dyn FileLock>> {
        let holder = format!("process {}", std::process::id());
        let path = self.absolute_lock_file(env);
        self.or_holder(path.and_then(|path| env.fs.lock(&path, &holder)))
    }

    /// Like [`Layout::lock`], for reading a store without changing it. `None` if the file system
    /// has no locks: then no hblite on this machine can have the store open for writing.
    ///
    /// # Errors
    /// As [`Layout::lock`].
    pub(crate) fn lock_if_possible(&self, env: &Env) -> Result<Option<Box<dyn FileLock>>> {
        match self.lock(env) {
            Err(error) if is_of_no_locks(&error) => Ok(None),
            locked => locked.map(Some),
        }
    }

    /// The process may change its directory while it holds the lock.
    fn absolute_lock_file(&self, env: &Env) -> io::Result<PathBuf> {
        env.fs.absolute(&self.lock_file())
    }

    /// The same layout, whatever directory the process changes to.
    pub(crate) fn resolved(self, fs: &dyn FileSystem) -> Result<Self> {
        let root = fs.absolute(&self.root);
        let root = root.map_err(|error| Error::io("cannot resolve", &self.root, error))?;
        Ok(Self { root, ..self })
    }

    /// Takes the store's lock for reading, if its file exists and the file system has locks.
    /// Nothing is written.
    ///
    /// # Errors
    /// As [`Layout::lock`].
    pub(crate) fn lock_existing(&self, env: &Env) -> Result<Option<Box<dyn FileLock>>> {
        let path = self.absolute_lock_file(env);
        match self.or_holder(path.and_then(|path| env.fs.lock_existing(&path))) {
            Err(error) if is_of_no_locks(&error) => Ok(None),
            locked => locked,
        }
    }

    fn or_holder<T>(&self, locked: std::io::Result<T>) -> Result<T> {
        locked.map_err(|error| {
            let path = self.lock_file();
            let (message, kind) = match error.kind() {
                ErrorKind::WouldBlock => {
                    let message = format!(
                        "{} is open in another process or handle ({error}): a store has one at a \
                         time; meanwhile {READ_ONLY}",
                        self.root.display()
                    );
                    (message, hblite_model::ErrorKind::Locked)
                }
                ErrorKind::ReadOnlyFilesystem
                | ErrorKind::PermissionDenied
                | ErrorKind::Unsupported => {
                    let message = format!("cannot lock {}: {error}; {READ_ONLY}", path.display());
                    (message, hblite_model::ErrorKind::Io)
                }
                _ => return Error::io("cannot lock", &path, error),
            };
            Error::new(Exception::Io, message).with_kind(kind).with_source(error)
        })
    }

    /// Writes the files and directories that every store has, if they are missing. The caller holds
    /// the lock; `place` is the result of [`super::recognize`], and the layout has the store's id.
    ///
    /// Nothing is synced: see [`RootFiles::begin_use`].
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn prepare(&self, fs: &dyn FileSystem, place: Place) -> Result<()> {
        let marker = self.marker_of(fs, place)?;
        let id_content = MessageWriter::new().bytes(1, marker.store_id.to_string());
        // Damaged files were refused before, or are to be repaired.
        let state = self.read_version(fs).unwrap_or(RootFile::Unfinished);
        let is_known = matches!(place, Place::Store(_));
        let version = version_content(VERSION);
        write_unless_whole(fs, &self.version_file(), state, &version, is_known)?;
        if !is_known {
            for dir in [self.data_dir(), self.wal_dir()] {
                let made = fs.create_dir_all(&dir);
                made.map_err(|error| Error::io("cannot create directory", &dir, error))?;
            }
            let state = self.read_marker(fs).unwrap_or(RootFile::Unfinished);
            write_unless_whole(fs, &self.marker_file(), state, &marker.encode(), false)?;
        }
        let state = self.read_id(fs).unwrap_or(RootFile::Unfinished);
        write_unless_whole(
            fs,
            &self.cluster_id_file(),
            state,
            &id_content.finish_with_magic(),
            is_known,
        )?;
        let mut state = self.root_state.lock();
        state.marker = marker;
        state.is_new = matches!(place, Place::Free(_));
        Ok(())
    }

    /// The marker of the store here, whether it is written yet or not.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn marker_of(&self, fs: &dyn FileSystem, place: Place) -> Result<Marker> {
        Ok(match place {
            Place::Store(marker) => marker,
            Place::Unmarked(store_id) => {
                let catalog_has_files = self.has_catalog_files(fs)?;
                Marker { catalog_has_files, ..Marker::new(store_id) }
            }
            Place::Free(_) => Marker::new(self.store_id()),
        })
    }

    /// The files that say which store this is, and who may start on it.
    pub(crate) fn root_files(&self) -> RootFiles {
        RootFiles {
            root: self.root.clone(),
            marker: self.marker_file(),
            version: self.version_file(),
            log_head: self.root.join(LOG_HEAD_FILE),
            state: Arc::clone(&self.root_state),
        }
    }

    /// Sets the head with which [`RootFiles::begin_use`] begins the log, if the log has none.
    pub(crate) fn set_first_log_head(&self, head: Option<Vec<u8>>) {
        self.root_state.lock().first_log_head = head;
    }

    /// [`RootFiles::begin_use`]. The names of the directories that [`Layout::prepare`] creates are
    /// durable, too.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn begin_use(&self, fs: &dyn FileSystem) -> Result<()> {
        self.root_files().begin_use(fs).map_err(|(path, e)| Error::io("cannot write", &path, e))?;
        let mut durable = self.durable.lock();
        for dir in [self.data_dir(), self.wal_dir()] {
            // Neither is created later.
            if !durable.contains(&dir) && fs.exists(&dir).unwrap_or(false) {
                durable.insert(dir);
            }
        }
        Ok(())
    }

    /// Lets HBase start on the directory again, durably. All of the store is in files.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn mark_free(&self, fs: &dyn FileSystem) -> Result<()> {
        if self.read_version(fs)? == RootFile::Whole(Usage::InUse) {
            let path = self.version_file();
            fs.write_atomically(&path, &version_content(VERSION))
                .map_err(|error| Error::io("cannot write", &path, error))?;
        }
        self.root_state.lock().is_in_use = false;
        Ok(())
    }
}

/// The files that say which store this is, and who may start on it.
#[derive(Debug)]
pub(crate) struct RootFiles {
    root: PathBuf,
    marker: PathBuf,
    version: PathBuf,
    log_head: PathBuf,
    state: Arc<Mutex<RootState>>,
}

impl RootFiles {
    /// Makes the marker survive a power cut, and with it the names next to it, gives the log its
    /// first head, and prevents HBase from starting on the directory. Called before anything except
    /// [`Layout::prepare`] creates files or directories that must survive, so a directory without a
    /// complete marker holds nothing of value. Once per process.
    ///
    /// # Errors
    /// The file that could not be written, and why. The call can be repeated.
    pub(crate) fn begin_use(
        &self,
        fs: &dyn FileSystem,
    ) -> std::result::Result<(), (PathBuf, io::Error)> {
        let mut state = self.state.lock();
        if state.is_durable && state.is_in_use {
            return Ok(());
        }
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            |error| (path, error)
        };
        // First: the other files say that there is one.
        if let Some(head) = &state.first_log_head {
            fs.write_atomically(&self.log_head, head).map_err(failed(&self.log_head))?;
            state.first_log_head = None;
        }
        if !state.is_in_use {
            let content = version_content(VERSION_IN_USE);
            let replaced = match state.is_new {
                // A new store may have an incomplete version. All syncs follow, so that a file
                // system can commit everything at once.
                true => fs.replace_unsynced(&self.version, &content),
                false => fs.replace(&self.version, &content),
            };
            replaced.map_err(failed(&self.version))?;
        }
        if !state.is_durable {
            // A log that was salvaged may have no head until its next log file.
            let has_log = fs.exists(&self.log_head).map_err(failed(&self.log_head))?;
            let marker = Marker { has_log: state.marker.has_log || has_log, ..state.marker };
            let written = match marker == state.marker {
                // An earlier process may have failed to sync it.
                true => fs.rewrite(&self.marker, 0),
                false => fs.replace(&self.marker, &marker.encode()),
            };
            written.map_err(failed(&self.marker))?;
            state.marker = marker;
        }
        if state.is_new {
            fs.sync_file(&self.version).map_err(failed(&self.version))?;
        }
        fs.sync_dir(&self.root).map_err(failed(&self.root))?;
        (state.is_new, state.is_durable, state.is_in_use) = (false, true, true);
        Ok(())
    }
}

/// Rewrites an incomplete file. For an existing store, whose files must not be missing after a
/// power cut, durably and in one step.
fn write_unless_whole<T>(
    fs: &dyn FileSystem,
    path: &Path,
    state: RootFile<T>,
    content: &[u8],
    is_of_store: bool,
) -> Result<()> {
    let io = |error| Error::io("cannot write", path, error);
    match state {
        RootFile::Whole(_) => return Ok(()),
        _ if is_of_store => return fs.write_atomically(path, content).map_err(io),
        RootFile::Unfinished => fs.remove_file(path).map_err(io)?,
        RootFile::Missing => {}
    }
    fs.create(path).and_then(|mut file| file.write_all(content)).map_err(io)
}

fn version_content(version: &str) -> Vec<u8> {
    MessageWriter::new().bytes(1, version).finish_with_magic()
}

fn decode_version(path: &Path, content: &[u8]) -> Result<Option<Usage>> {
    let known = [(VERSION, Usage::Free), (VERSION_IN_USE, Usage::InUse)];
    let known = known.map(|(version, usage)| (version_content(version), usage));
    if let Some((_, usage)) = known.iter().find(|(whole, _)| content == whole) {
        return Ok(Some(*usage));
    }
    let is_part = |whole: &[u8]| whole.starts_with(content) || is_zeros(content, whole.len());
    match known.iter().any(|(whole, _)| is_part(whole)) {
        true => Ok(None),
        false => Err(unknown_version(path, content)),
    }
}

fn decode_id(path: &Path, content: &[u8]) -> Result<Option<StoreId>> {
    let whole = MessageWriter::new().bytes(1, StoreId::NIL.to_string()).finish_with_magic();
    let text_at = whole.len() - StoreId::TEXT_SIZE;
    let text = content.strip_prefix(&whole[..text_at]).and_then(|id| std::str::from_utf8(id).ok());
    if let Some(id) = text.and_then(|text| text.parse().ok()) {
        return Ok(Some(id));
    }
    let is_cut = content.len() < whole.len()
        && content.iter().zip(&whole[..text_at]).all(|(left, right)| left == right);
    if is_cut || is_zeros(content, whole.len()) {
        return Ok(None);
    }
    Err(Error::corrupt(Exception::CorruptHFile, path, 0, "it does not hold the UUID of a store"))
}

fn is_zeros(content: &[u8], length_max: usize) -> bool {
    content.len() <= length_max && content.iter().all(|byte| *byte == 0)
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
