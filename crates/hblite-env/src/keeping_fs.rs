//! The file system of a directory's writer, which keeps what it replaces for readers.
//!
//! As long as no reader is announced ([`FileSystem::announce_reader`]), it passes every call on.
//! While there is one, it first writes each change of names to a journal, and gives files that go
//! away another name ([`crate::kept`]), so that the reader gets an image of one moment
//! ([`crate::image`]) whatever changes meanwhile.
//!
//! The writer never waits for a reader. What is kept belongs to a generation, which takes changes
//! for [`PERIOD`] and lasts twice as long. So a reader has at least that time for an image, and one
//! that was stopped costs the space of what is replaced in twice that time, however long it stays.
//! If something cannot be kept, nothing is, and the reader begins again.
//!
//! Threads: any. Without readers, changes share a lock; otherwise they are made one at a time. A
//! thread that is there only while something is kept removes it after the last reader.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::fs::{
    Announcement, DirEntry, FileIdentity, FileLock, FileSystem, ReadableFile, ReaderWatch,
    WritableFile,
};
use crate::image::{ImagePart, SMALL};
use crate::kept::{Before, Change, journal_path, kept_path};
use crate::sync::{Mutex, RwLock};
use crate::thread;
use crate::time::{Duration, Instant};

/// How long changes belong to one generation.
const PERIOD: Duration = Duration::from_secs(30);
/// How soon after the last reader what was kept is removed.
const TIDY_PERIOD: Duration = Duration::from_millis(200);
const THREAD_NAME: &str = "hblite-keeper";

/// How an image of the directory treats a path.
type Part = dyn Fn(&Path) -> ImagePart + Send + Sync;

/// A file system that keeps what is replaced in a directory while that is being read.
#[derive(Debug, Clone)]
pub struct KeepingFileSystem(Arc<Shared>);

struct Shared {
    inner: Arc<dyn FileSystem>,
    root: PathBuf,
    /// Where files are kept, below the root.
    kept: PathBuf,
    /// Distinguishes generations of different processes.
    session: u64,
    period: Duration,
    part: Box<Part>,
    readers: Box<dyn ReaderWatch>,
    state: RwLock<State>,
    logs: Mutex<Vec<Weak<LogLength>>>,
    /// Held while files are removed that were kept.
    removal: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Oldest first; without any, nothing is kept.
    generations: VecDeque<Generation>,
    /// How many there have been.
    begun: u64,
    /// The directories of former ones.
    former: Vec<PathBuf>,
    has_thread: bool,
}

#[derive(Debug)]
struct Generation {
    dir: PathBuf,
    journal: Mutex<Box<dyn WritableFile>>,
    began: Instant,
    /// How many files are kept.
    files: u64,
}

/// How much was written to a log.
#[derive(Debug)]
struct LogLength {
    path: PathBuf,
    bytes: AtomicU64,
}

impl KeepingFileSystem {
    /// Wraps the file system of the directory `root`. `kept` is below it and used for nothing else,
    /// `session` returns a number of this call only, and `part` says how an image of the directory
    /// treats a path. `None` where readers cannot announce themselves.
    pub fn new(
        inner: &Arc<dyn FileSystem>,
        root: &Path,
        kept: PathBuf,
        session: impl FnOnce() -> u64,
        part: Box<Part>,
    ) -> Option<Self> {
        let readers = inner.watch_readers(root)?;
        let (inner, root, session) = (Arc::clone(inner), root.to_path_buf(), session());
        let (state, logs, removal) = (RwLock::default(), Mutex::default(), Mutex::default());
        let period = PERIOD;
        let shared =
            Shared { inner, root, kept, session, period, part, readers, state, logs, removal };
        Some(Self(Arc::new(shared)))
    }

    /// Removes what is kept: nothing is changed through this file system any longer.
    pub fn end(&self) {
        let shared = &self.0;
        let mut state = shared.state.write();
        if state.begun > 0 && shared.release(&mut state).is_ok() {
            let _removal = shared.removal.lock();
            state.former.clear();
            let _ = shared.inner.remove_dir_all(&shared.kept);
        }
    }
}

impl Shared {
    /// Makes a change; `note` names the paths that it concerns.
    fn change<T>(
        self: &Arc<Self>,
        note: impl FnOnce(&mut Noting<'_>) -> io::Result<()>,
        make: impl FnOnce(&dyn FileSystem) -> io::Result<T>,
    ) -> io::Result<T> {
        let state = self.state.read();
        if state.generations.is_empty() && !self.readers.has_reader() {
            return make(self.inner.as_ref());
        }
        drop(state);
        let mut state = self.state.write();
        if !self.readers.has_reader() || self.keep(&mut state, note).is_err() {
            self.release(&mut state)?;
        }
        self.start_thread(&mut state);
        make(self.inner.as_ref())
    }

    /// Keeps what a change is going to replace.
    fn keep(
        &self,
        state: &mut State,
        note: impl FnOnce(&mut Noting<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        if state.generations.back().is_none_or(|newest| newest.began.elapsed() >= self.period) {
            let dir = self.kept.join(format!("{:016x}-{:010}", self.session, state.begun));
            state.begun += 1;
            self.inner.create_dir_all(&dir)?;
            let journal = Mutex::new(self.inner.create(&journal_path(&dir))?);
            let generation = Generation { dir, journal, began: Instant::now(), files: 0 };
            state.generations.push_back(generation);
        }
        while state.generations.len() > 2 {
            self.remove_oldest(state)?;
        }
        let Some(generation) = state.generations.back_mut() else { return Ok(()) };
        let mut noting = Noting { shared: self, generation, change: Change::default() };
        note(&mut noting)?;
        let Noting { generation, mut change, .. } = noting;
        if change.paths.is_empty() {
            return Ok(());
        }
        change.logs = self.log_lengths();
        let record = change.encode().ok_or(io::ErrorKind::InvalidFilename)?;
        generation.journal.lock().write_all(&record)
    }

    /// Ends all generations: readers that rely on them begin again.
    fn release(&self, state: &mut State) -> io::Result<()> {
        while !state.generations.is_empty() {
            self.remove_oldest(state)?;
        }
        Ok(())
    }

    fn remove_oldest(&self, state: &mut State) -> io::Result<()> {
        let Some(oldest) = state.generations.front() else { return Ok(()) };
        match self.inner.remove_file(&journal_path(&oldest.dir)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        state.former.extend(state.generations.pop_front().map(|generation| generation.dir));
        Ok(())
    }

    /// Starts the thread that removes what is no longer needed, if there is anything.
    fn start_thread(self: &Arc<Self>, state: &mut State) {
        if state.has_thread || state.generations.is_empty() && state.former.is_empty() {
            return;
        }
        let shared = Arc::downgrade(self);
        let tidy = move || {
            while let Some(shared) = shared.upgrade()
                && shared.tidy()
            {
                drop(shared);
                thread::sleep(TIDY_PERIOD);
            }
        };
        let started = thread::Builder::new().name(THREAD_NAME.to_owned()).spawn(tidy);
        state.has_thread = started.is_ok();
        if !state.has_thread {
            self.remove(&std::mem::take(&mut state.former));
        }
    }

    /// Removes what is no longer needed. False once nothing is kept.
    fn tidy(&self) -> bool {
        let mut state = self.state.write();
        if !self.readers.has_reader() {
            // If it fails, it is tried again.
            let _ = self.release(&mut state);
        }
        while state
            .generations
            .front()
            .is_some_and(|oldest| oldest.began.elapsed() >= 2 * self.period)
            && self.remove_oldest(&mut state).is_ok()
        {}
        let former = std::mem::take(&mut state.former);
        state.has_thread = !state.generations.is_empty();
        let is_needed = state.has_thread;
        let _removal = self.removal.lock();
        drop(state);
        self.remove(&former);
        is_needed
    }

    /// A failure leaves files for the next open to remove.
    fn remove(&self, dirs: &[PathBuf]) {
        dirs.iter().for_each(|dir| drop(self.inner.remove_dir_all(dir)));
    }

    fn log_lengths(&self) -> Vec<(PathBuf, u64)> {
        let mut logs = self.logs.lock();
        logs.retain(|log| log.strong_count() > 0);
        let open = logs.iter().filter_map(Weak::upgrade);
        open.map(|log| (log.path.clone(), log.bytes.load(Ordering::Acquire))).collect()
    }

    /// The path from the root on, if images have it.
    fn relative(&self, path: &Path) -> Option<PathBuf> {
        let relative = path.strip_prefix(&self.root).ok()?;
        let mut above = path.ancestors().take_while(|path| *path != self.root);
        let is_skipped = above.any(|path| (self.part)(path) == ImagePart::Skipped);
        (!is_skipped && relative != Path::new("")).then(|| relative.to_path_buf())
    }
}

/// What a change concerns.
struct Noting<'a> {
    shared: &'a Shared,
    generation: &'a mut Generation,
    change: Change,
}

impl Noting<'_> {
    /// Notes a path.
    fn add(&mut self, path: &Path) -> io::Result<()> {
        if let Some(relative) = self.shared.relative(path) {
            let before = self.before(path)?;
            self.change.paths.push((relative, before));
        }
        Ok(())
    }

    /// Notes a path and everything below it.
    fn add_all(&mut self, path: &Path) -> io::Result<()> {
        self.add(path)?;
        for entry in self.shared.inner.list_dir(path).unwrap_or_default() {
            self.add_all(&path.join(entry.name))?;
        }
        Ok(())
    }

    /// Notes that everything below `from` is about to be below `to`.
    fn add_new_below(&mut self, from: &Path, to: &Path) {
        for entry in self.shared.inner.list_dir(from).unwrap_or_default() {
            let (from, to) = (from.join(&entry.name), to.join(&entry.name));
            if let Some(relative) = self.shared.relative(&to) {
                self.change.paths.push((relative, Before::Nothing));
            }
            self.add_new_below(&from, &to);
        }
    }

    /// What is at a path. A file is kept.
    fn before(&mut self, path: &Path) -> io::Result<Before> {
        let inner = self.shared.inner.as_ref();
        if inner.list_dir(path).is_ok() {
            return Ok(Before::Directory);
        }
        if !inner.exists(path)? {
            return Ok(Before::Nothing);
        }
        let number = self.generation.files;
        let kept = kept_path(&self.generation.dir, number);
        if let Err(error) = inner.hard_link(path, &kept) {
            if inner.file_length(path)? > SMALL {
                return Err(error);
            }
            inner.create(&kept)?.write_all(&inner.read(path)?)?;
        }
        self.generation.files += 1;
        Ok(Before::File(number))
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, which keeps files in {}", self.inner, self.kept.display())
    }
}

impl FileSystem for KeepingFileSystem {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        self.0.change(|noting| noting.add(path), |inner| inner.create(path))
    }

    fn create_log(&self, path: &Path, is_mapped: bool) -> io::Result<Box<dyn WritableFile>> {
        let create = |inner: &dyn FileSystem| {
            let file = inner.create_log(path, is_mapped)?;
            let Some(relative) = self.0.relative(path) else { return Ok(file) };
            let length = Arc::new(LogLength { path: relative, bytes: AtomicU64::new(0) });
            // Before another change is noted.
            self.0.logs.lock().push(Arc::downgrade(&length));
            let fs = Arc::clone(&self.0);
            Ok(Box::new(WatchedLog { end: 0, length, file, fs }) as Box<dyn WritableFile>)
        };
        self.0.change(|noting| noting.add(path), create)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        self.0.inner.open(path)
    }

    fn open_finished(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        self.0.inner.open_finished(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let note = |noting: &mut Noting<'_>| {
            noting.add_all(from)?;
            noting.add(to)?;
            noting.add_new_below(from, to);
            Ok(())
        };
        self.0.change(note, |inner| inner.rename(from, to))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.0.change(|noting| noting.add(path), |inner| inner.remove_file(path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        // It may take long, and others would wait for it.
        if self.0.relative(path).is_none() {
            return self.0.inner.remove_dir_all(path);
        }
        self.0.change(|noting| noting.add_all(path), |inner| inner.remove_dir_all(path))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let note = |noting: &mut Noting<'_>| {
            let root = noting.shared.root.as_path();
            path.ancestors().take_while(|dir| *dir != root).try_for_each(|dir| noting.add(dir))
        };
        self.0.change(note, |inner| inner.create_dir_all(path))
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.0.inner.list_dir(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.0.inner.exists(path)
    }

    fn file_length(&self, path: &Path) -> io::Result<u64> {
        self.0.inner.file_length(path)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.change(|noting| noting.add(to), |inner| inner.hard_link(from, to))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.0.inner.sync_file(path)
    }

    fn rewrite(&self, path: &Path, from: u64) -> io::Result<()> {
        self.0.inner.rewrite(path, from)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.inner.sync_dir(path)
    }

    fn lock(&self, path: &Path, holder: &str) -> io::Result<Box<dyn FileLock>> {
        self.0.inner.lock(path, holder)
    }

    fn lock_existing(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        self.0.inner.lock_existing(path)
    }

    fn announce_reader(&self, dir: &Path) -> Option<Box<dyn Announcement>> {
        self.0.inner.announce_reader(dir)
    }

    fn watch_readers(&self, dir: &Path) -> Option<Box<dyn ReaderWatch>> {
        self.0.inner.watch_readers(dir)
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.inner.real_path(path)
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.inner.absolute(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileIdentity>> {
        self.0.inner.identity(path)
    }

    fn take_space(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.0.inner.take_space(path, bytes)
    }

    fn renames_dirs_in_use(&self) -> bool {
        self.0.inner.renames_dirs_in_use()
    }

    fn fork(&self) -> Option<Arc<dyn FileSystem>> {
        self.0.inner.fork()
    }
}

/// A log that is being written, with its length for the journal.
#[derive(Debug)]
struct WatchedLog {
    end: u64,
    length: Arc<LogLength>,
    file: Box<dyn WritableFile>,
    fs: Arc<Shared>,
}

impl WatchedLog {
    #[inline]
    fn has_written(&mut self, length: usize) {
        self.end += length as u64;
        self.length.bytes.store(self.end, Ordering::Release);
    }
}

impl WritableFile for WatchedLog {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.has_written(bytes.len());
        Ok(())
    }

    #[inline]
    fn write_in_place(&mut self, length: usize, write: &mut dyn FnMut(&mut [u8])) -> bool {
        let is_written = self.file.write_in_place(length, write);
        if is_written {
            self.has_written(length);
        }
        is_written
    }

    /// A length in the journal would be wrong afterwards.
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.fs.state.write();
        self.fs.release(&mut state)?;
        self.file.truncate(length)?;
        self.end = length;
        self.length.bytes.store(length, Ordering::Release);
        Ok(())
    }

    fn trim(&mut self) -> io::Result<()> {
        self.file.trim()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }

    fn is_in_place(&self) -> io::Result<bool> {
        self.file.is_in_place()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
