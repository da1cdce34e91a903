//! The directory in which a backup is made, until it is renamed to the target.

use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use hblite_env::sync::Mutex;
use hblite_env::time::Instant;
use hblite_env::{Env, FileIdentity, FileLock, FileSystem};
use hblite_hfile::HFileReader;
use hblite_model::{BackupReport, Error, Exception, Result};

use super::unfinished;
use crate::files::verify_copy;
use crate::layout::{Layout, RECOVERED_EDITS_DIR, TEMPORARY_DIR};
use crate::parallel;
use crate::wal::SealedLog;

/// The suffix of the directory's name until it is complete.
const PARTIAL_SUFFIX: &str = ".partial";

/// Components of the path of a family's directory: `data/<namespace>/<table>/<region>/<family>`.
const FAMILY_DEPTH: usize = 5;
/// The same within snapshots: `.hbase-snapshot/<name>/<region>/<family>`.
const SNAPSHOT_FAMILY_DEPTH: usize = 4;

/// A backup in progress. If it is dropped before its end, it leaves nothing.
pub(crate) struct Target {
    env: Env,
    /// The store that is copied.
    source: PathBuf,
    /// Where the files are.
    partial: Layout,
    to: PathBuf,
    made: Mutex<Made>,
    began: Instant,
    is_finished: bool,
    lock: Option<Box<dyn FileLock>>,
}

/// What the backup contains so far.
#[derive(Default)]
struct Made {
    /// Directories.
    dirs: BTreeSet<PathBuf>,
    unverified: Vec<Unverified>,
    /// The copies of files that have several names.
    copies: HashMap<FileIdentity, Arc<Mutex<Option<PathBuf>>>>,
    report: BackupReport,
}

/// A store file whose copy is not verified yet.
struct Unverified {
    original: PathBuf,
    copy: PathBuf,
    /// Set if the store is open.
    open: Option<Arc<HFileReader>>,
}

impl Target {
    /// Begins a backup of the store in `source`.
    ///
    /// # Errors
    /// `IllegalArgument`, `Io`: nothing was changed.
    pub(crate) fn begin(env: &Env, source: &Path, to: &Path) -> Result<Self> {
        check_place(env.fs.as_ref(), source, to)?;
        Self::begin_anywhere(env, source, to)
    }

    /// Like [`Target::begin`], but also allowed in the directory of the store's checkpoints.
    ///
    /// # Errors
    /// `Io`: nothing was changed.
    pub(crate) fn begin_anywhere(env: &Env, source: &Path, to: &Path) -> Result<Self> {
        let began = Instant::now();
        let partial = Layout::new(&partial_path(to)?);
        check_free(env.fs.as_ref(), to)?;
        unfinished::check_own(env.fs.as_ref(), &partial)?;
        partial.create_root(env.fs.as_ref())?;
        let lock = partial.lock_if_possible(env)?;
        let dirs = BTreeSet::from([partial.root().to_path_buf()]);
        let made = Made { dirs, ..Made::default() };
        let target = Self {
            env: env.clone(),
            source: source.to_path_buf(),
            made: Mutex::new(made),
            partial,
            to: to.to_path_buf(),
            began,
            is_finished: false,
            lock,
        };
        unfinished::begin(env.fs.as_ref(), &target.partial)?;
        Ok(target)
    }

    /// Adds the files that identify a store.
    ///
    /// # Errors
    /// As [`Target::add_file`].
    pub(crate) fn add_root_files(&self, layout: &Layout) -> Result<()> {
        for path in [layout.cluster_id_file(), layout.version_file(), layout.marker_file()] {
            // A store from before the marker has none; opening the copy writes one.
            if self.exists(&path)? {
                self.add_file(&path)?;
            }
        }
        Ok(())
    }

    /// Adds a directory of the store with everything below it, except files that are being written.
    /// A missing directory counts as empty. It must not change meanwhile.
    ///
    /// # Errors
    /// As [`Target::add_file`].
    pub(crate) fn add_dir(&self, dir: &Path) -> Result<()> {
        let mut files = Vec::new();
        self.add_dirs(dir, &mut files)?;
        parallel::for_each(&files, |file| self.add_file(file))
    }

    /// Adds a directory and those below it, and finds their files.
    fn add_dirs(&self, dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
        if !self.exists(dir)? {
            return Ok(());
        }
        self.add_empty_dir(dir)?;
        let entries = self.env.fs.list_dir(dir);
        for entry in entries.map_err(|error| Error::io("cannot list", dir, error))? {
            let path = dir.join(&entry.name);
            if !entry.is_dir {
                files.push(path);
            } else if entry.name != TEMPORARY_DIR {
                self.add_dirs(&path, files)?;
            }
        }
        Ok(())
    }

    /// Adds a directory of the store without its contents.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn add_empty_dir(&self, dir: &Path) -> Result<()> {
        let copy = self.place_of(dir)?;
        self.make_dir(&copy)
    }

    /// Adds a file of the store that is never modified again. If it is a store file, its copy is
    /// verified at the end.
    ///
    /// # Errors
    /// `Io` if it can be neither linked nor copied.
    pub(crate) fn add_file(&self, path: &Path) -> Result<()> {
        let copy = self.add_unverified(path)?;
        if self.is_hfile(path) {
            let file = Unverified { original: path.to_path_buf(), copy, open: None };
            self.made.lock().unverified.push(file);
        }
        Ok(())
    }

    /// Like [`Target::add_file`], for an HFile that is open: at the end, the copy must still be the
    /// open file.
    ///
    /// # Errors
    /// As [`Target::add_file`].
    pub(crate) fn add_open_file(&self, open: &Arc<HFileReader>) -> Result<()> {
        let (original, open) = (open.path().to_path_buf(), Some(Arc::clone(open)));
        let copy = self.add_unverified(&original)?;
        self.made.lock().unverified.push(Unverified { original, copy, open });
        Ok(())
    }

    /// Reads the copies of all store files and verifies their checksums.
    fn verify(&self) -> Result<()> {
        let fs = self.env.fs.as_ref();
        let unverified = std::mem::take(&mut self.made.lock().unverified);
        parallel::for_each(&unverified, |file| match &file.open {
            Some(open) => open.reopen(fs, &file.copy)?.verify_checksums(&mut |_| true).map(drop),
            None => verify_copy(fs, &file.original, &file.copy),
        })
    }

    /// Whether the file of the store is an HFile: it is in the directory of a family, and is not a
    /// reference.
    fn is_hfile(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let depth = path.strip_prefix(&self.source).map_or(0, |path| path.components().count());
        let family_depth = match path.starts_with(Layout::new(&self.source).snapshots_dir()) {
            true => SNAPSHOT_FAMILY_DEPTH,
            false => FAMILY_DEPTH,
        };
        let is_family =
            path.parent().and_then(Path::file_name) != Some(RECOVERED_EDITS_DIR.as_ref());
        let is_plain = name.starts_with(|first: char| first.is_ascii_hexdigit());
        depth == family_depth + 1 && is_family && is_plain && !name.contains('.')
    }

    /// Links or copies a file that is still to be verified; returns the path of the copy.
    fn add_unverified(&self, path: &Path) -> Result<PathBuf> {
        let copy = self.place_of(path)?;
        if let Some(parent) = copy.parent() {
            self.make_dir(parent)?;
        }
        let fs = self.env.fs.as_ref();
        // Before it has two names. Usually it is durable already, and this does nothing.
        fs.sync_file(path).map_err(|error| Error::io("cannot sync", path, error))?;
        let is_linked = match fs.hard_link(path, &copy) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::io("cannot link", path, error));
            }
            // Another file system, too many links, no links at all: the reasons are many.
            Err(_) => {
                self.copy(path, &copy)?;
                false
            }
        };
        let length =
            fs.file_length(&copy).map_err(|error| Error::io("cannot read", &copy, error))?;
        let report = &mut self.made.lock().report;
        report.files_linked += u64::from(is_linked);
        report.files_copied += u64::from(!is_linked);
        report.bytes += length;
        Ok(copy)
    }

    /// Copies a file. Names of one file, such as those in a region and in snapshots, are names of
    /// one file in the copy as well.
    fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let fs = self.env.fs.as_ref();
        let io = |error| Error::io("cannot copy", from, error);
        let Some(identity) = fs.identity(from).map_err(io)? else {
            return fs.copy(from, to).map_err(io);
        };
        let copied = Arc::clone(self.made.lock().copies.entry(identity).or_default());
        // Held while the first name is copied, for others that copy the same file.
        let mut copied = copied.lock();
        let is_linked = copied.as_ref().is_some_and(|first| fs.hard_link(first, to).is_ok());
        if !is_linked {
            fs.copy(from, to).map_err(io)?;
            *copied = Some(to.to_path_buf());
        }
        Ok(())
    }

    /// Adds the file that says which log files belong to the log.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn add_log_head(&self, log: &SealedLog, layout: &Layout) -> Result<()> {
        log.write_head(self.env.fs.as_ref(), &self.place_of(&layout.wal_dir())?)
    }

    pub(crate) fn exists(&self, path: &Path) -> Result<bool> {
        self.env.fs.exists(path).map_err(|error| Error::io("cannot look for", path, error))
    }

    fn place_of(&self, path: &Path) -> Result<PathBuf> {
        let below = path.strip_prefix(&self.source).map_err(|_| {
            let message = format!("{} is not part of the store", path.display());
            Error::new(Exception::Io, message)
        })?;
        Ok(self.partial.root().join(below))
    }

    fn make_dir(&self, dir: &Path) -> Result<()> {
        if self.made.lock().dirs.contains(dir) {
            return Ok(());
        }
        let made = self.env.fs.create_dir_all(dir);
        made.map_err(|error| Error::io("cannot create directory", dir, error))?;
        let above = dir.ancestors().take_while(|above| above.starts_with(self.partial.root()));
        self.made.lock().dirs.extend(above.map(Path::to_path_buf));
        Ok(())
    }

    /// Verifies the store files and gives the directory its name. Durable on return.
    ///
    /// # Errors
    /// `CorruptHFile` with the offset for a damaged store file; `Io`: the target does not exist, or
    /// is not known to be durable.
    pub(crate) fn finish(mut self) -> Result<BackupReport> {
        self.verify()?;
        let (fs, from) = (self.env.fs.clone(), self.partial.root().to_path_buf());
        let made = std::mem::take(&mut *self.made.lock());
        let dirs: Vec<PathBuf> = made.dirs.into_iter().collect();
        parallel::for_each(&dirs, |dir| {
            fs.sync_dir(dir).map_err(|error| Error::io("cannot sync directory", dir, error))
        })?;
        fs.rename(&from, &self.to).map_err(|error| Error::io("cannot make", &self.to, error))?;
        (self.is_finished, self.lock) = (true, None);
        let parent = self.to.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        fs.sync_dir(parent).map_err(|error| Error::io("cannot sync directory", parent, error))?;
        unfinished::end(fs.as_ref(), &self.to);
        Ok(BackupReport { duration: self.began.elapsed(), ..made.report })
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if !self.is_finished {
            // What cannot be removed now is removed by the next backup to this target.
            let _ = self.env.fs.remove_dir_all(self.partial.root());
            self.lock = None;
        }
    }
}

/// Where the backup is made: next to the target, so that only a rename is left to do.
fn partial_path(to: &Path) -> Result<PathBuf> {
    let mut name = to
        .file_name()
        .ok_or_else(|| Error::illegal_argument(format!("{} has no name", to.display())))?
        .to_owned();
    name.push(PARTIAL_SUFFIX);
    Ok(to.with_file_name(name))
}

/// Refuses a target that exists, unless it is an empty directory.
pub(crate) fn check_free(fs: &dyn FileSystem, to: &Path) -> Result<()> {
    match fs.list_dir(to) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Ok(entries) if entries.is_empty() => Ok(()),
        Ok(_) => {
            let message = format!(
                "{} is there already and not empty: name a new directory, such as {}",
                to.display(),
                to.join("hblite-data").display()
            );
            Err(Error::new(Exception::Io, message)
                .with_kind(hblite_model::ErrorKind::AlreadyExists))
        }
        Err(error) => Err(Error::io("cannot use", to, error)),
    }
}

/// Refuses a target within the store.
fn check_place(fs: &dyn FileSystem, source: &Path, to: &Path) -> Result<()> {
    if resolved(fs, to)?.starts_with(resolved(fs, source)?) {
        let (source, to) = (source.display(), to.display());
        return Err(Error::illegal_argument(format!("{to} is within the store {source}")));
    }
    Ok(())
}

/// The path from the root on, without `.`, `..` and symbolic links. It need not exist.
fn resolved(fs: &dyn FileSystem, path: &Path) -> Result<PathBuf> {
    let path = fs.absolute(path).map_err(|error| Error::io("cannot resolve", path, error))?;
    let real = path.ancestors().find_map(|there| {
        let below = path.strip_prefix(there).ok()?;
        Some(fs.real_path(there).ok()?.join(below))
    });
    let mut resolved = PathBuf::new();
    for component in real.unwrap_or(path).components() {
        if component == Component::ParentDir {
            resolved.pop();
        } else {
            resolved.push(component);
        }
    }
    Ok(resolved)
}
