//! The disk of a simulated machine: files that lose unsynced data, with faults, delays and forks.
//!
//! Every operation is a switch point and is recorded in the trace with its path and bytes. While
//! faults are armed, an operation may fail with EIO, a write may find no space, a read may be
//! short, and any may be slow. Before an operation that changes something the disk may be forked:
//! the fork is the disk at that moment, for a power cut or a kill that is examined later.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hblite_env::simulation;
use hblite_env::{
    CrashFileSystem, DirEntry, FileBytes, FileLock, FileSystem, Random as _, ReadableFile,
    SeededRandom, WritableFile,
};

use crate::rates::Rates;

/// The disk as it was between two operations.
#[derive(Debug)]
pub(crate) struct Fork {
    pub(crate) files: CrashFileSystem,
    /// On the clock of the recorded history.
    pub(crate) at: u64,
}

/// What may go wrong.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Plan {
    /// Once in this many operations; 0 for never.
    pub(crate) error_one_in: u64,
    pub(crate) slow_one_in: u64,
    pub(crate) fork_one_in: u64,
    pub(crate) forks_max: usize,
}

#[derive(Debug)]
struct Shared {
    files: CrashFileSystem,
    plan: Plan,
    random: SeededRandom,
    rates: Arc<Rates>,
    time: Arc<AtomicU64>,
    is_armed: AtomicBool,
    /// The number of further writes that find no space.
    full_for: AtomicU64,
    forks: Mutex<Vec<Fork>>,
}

/// A file system with faults; clones share everything.
#[derive(Debug, Clone)]
pub(crate) struct SimulatedDisk(Arc<Shared>);

/// An operation of the disk: its name in the trace, how its failure is counted, and whether it
/// changes anything.
#[derive(Debug, Clone, Copy)]
struct Kind(&'static str, &'static str, bool);

const CREATE: Kind = Kind("create", "fault: EIO on create", true);
const OPEN: Kind = Kind("open", "fault: EIO on open", false);
const READ: Kind = Kind("read", "fault: EIO on read", false);
const WRITE: Kind = Kind("write", "fault: EIO on write", true);
const SYNC: Kind = Kind("sync", "fault: EIO on sync", true);
const SYNC_DIR: Kind = Kind("sync dir", "fault: EIO on directory sync", true);
const RENAME: Kind = Kind("rename", "fault: EIO on rename", true);
const REMOVE: Kind = Kind("remove", "fault: EIO on remove", true);
const LIST: Kind = Kind("list", "fault: EIO on list", false);

impl SimulatedDisk {
    pub(crate) fn new(
        files: CrashFileSystem,
        plan: Plan,
        seed: u64,
        rates: Arc<Rates>,
        time: Arc<AtomicU64>,
    ) -> Self {
        Self(Arc::new(Shared {
            files,
            plan,
            random: SeededRandom::new(seed),
            rates,
            time,
            is_armed: AtomicBool::new(plan.error_one_in > 0),
            full_for: AtomicU64::new(0),
            forks: Mutex::default(),
        }))
    }

    pub(crate) fn files(&self) -> &CrashFileSystem {
        &self.0.files
    }

    /// No more errors from now on.
    pub(crate) fn heal(&self) {
        self.0.is_armed.store(false, Ordering::Relaxed);
        self.0.full_for.store(0, Ordering::Relaxed);
    }

    pub(crate) fn take_forks(&self) -> Vec<Fork> {
        std::mem::take(&mut self.0.forks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn once_in(&self, times: u64) -> bool {
        times > 0 && self.0.random.next_u64().is_multiple_of(times)
    }

    fn is_armed(&self) -> bool {
        self.0.is_armed.load(Ordering::Relaxed)
    }

    fn fail(&self, counted: &'static str, kind: io::ErrorKind, path: &Path) -> io::Error {
        self.0.rates.count(counted);
        simulation::record(counted, &[]);
        io::Error::new(kind, format!("injected: {counted}: {}", path.display()))
    }

    /// Everything that may happen before an operation.
    fn before(&self, kind: Kind, path: &Path) -> io::Result<()> {
        let Kind(label, counted, is_change) = kind;
        simulation::point(label);
        simulation::record(label, path.as_os_str().as_encoded_bytes());
        let plan = &self.0.plan;
        if is_change && self.once_in(plan.fork_one_in) && !self.0.files.is_off() {
            let mut forks = self.0.forks.lock().unwrap_or_else(PoisonError::into_inner);
            if forks.len() < plan.forks_max {
                let at = self.0.time.fetch_add(1, Ordering::SeqCst);
                forks.push(Fork { files: self.0.files.fork(), at });
            }
        }
        if self.once_in(plan.slow_one_in) {
            self.0.rates.count("fault: slow disk");
            let millis = 1 << (self.0.random.next_u64() % 12);
            simulation::pass_time(Duration::from_millis(millis));
        }
        // These are rare, and failed syncs the most dangerous of all failures.
        let is_rare = [SYNC.0, RENAME.0, REMOVE.0].contains(&label);
        let error_one_in = if is_rare { plan.error_one_in / 8 } else { plan.error_one_in };
        if self.is_armed() && self.once_in(error_one_in) {
            if label == SYNC.0 {
                self.0.files.fail_sync(path);
            }
            return Err(self.fail(counted, io::ErrorKind::Other, path));
        }
        Ok(())
    }

    /// How much of a write fits.
    fn admit(&self, length: usize) -> Option<usize> {
        let full_for = &self.0.full_for;
        if !self.is_armed() {
            return None;
        }
        if full_for.load(Ordering::Relaxed) == 0 && self.once_in(self.0.plan.error_one_in / 2) {
            full_for.store(1 + self.0.random.next_u64() % 20, Ordering::Relaxed);
        }
        if full_for.load(Ordering::Relaxed) == 0 {
            return None;
        }
        full_for.fetch_sub(1, Ordering::Relaxed);
        Some((self.0.random.next_u64() % (length as u64 + 1)) as usize)
    }
}

impl FileSystem for SimulatedDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        self.before(CREATE, path)?;
        let inner = self.0.files.create(path)?;
        Ok(Box::new(Writing { disk: self.clone(), path: path.to_path_buf(), inner }))
    }

    fn create_log(&self, path: &Path, is_mapped: bool) -> io::Result<Box<dyn WritableFile>> {
        self.before(CREATE, path)?;
        let inner = self.0.files.create_log(path, is_mapped)?;
        Ok(Box::new(Writing { disk: self.clone(), path: path.to_path_buf(), inner }))
    }

    fn take_space(&self, _: &Path, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        self.before(OPEN, path)?;
        let inner = self.0.files.open(path)?;
        Ok(Arc::new(Reading { disk: self.clone(), path: path.to_path_buf(), inner }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.before(RENAME, from)?;
        self.0.files.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.before(REMOVE, path)?;
        self.0.files.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.before(REMOVE, path)?;
        self.0.files.remove_dir_all(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.before(CREATE, path)?;
        self.0.files.create_dir_all(path)
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.before(LIST, path)?;
        self.0.files.list_dir(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.before(LIST, path)?;
        self.0.files.exists(path)
    }

    fn file_length(&self, path: &Path) -> io::Result<u64> {
        self.before(READ, path)?;
        self.0.files.file_length(path)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.before(CREATE, to)?;
        self.0.files.hard_link(from, to)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.before(SYNC, path)?;
        self.0.files.sync_file(path)
    }

    fn rewrite(&self, path: &Path, from: u64) -> io::Result<()> {
        self.before(SYNC, path)?;
        self.0.files.rewrite(path, from)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.before(SYNC_DIR, path)?;
        self.0.files.sync_dir(path)
    }

    fn lock(&self, path: &Path, holder: &str) -> io::Result<Box<dyn FileLock>> {
        self.before(OPEN, path)?;
        self.0.files.lock(path, holder)
    }

    fn lock_existing(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        self.before(OPEN, path)?;
        self.0.files.lock_existing(path)
    }
}

#[derive(Debug)]
struct Writing {
    disk: SimulatedDisk,
    path: PathBuf,
    inner: Box<dyn WritableFile>,
}

impl WritableFile for Writing {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        simulation::record("bytes", bytes);
        if let Err(error) = self.disk.before(WRITE, &self.path) {
            self.inner.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        match self.disk.admit(bytes.len()) {
            None => self.inner.write_all(bytes),
            Some(fitting) => {
                self.inner.write_all(&bytes[..fitting])?;
                Err(self.disk.fail("fault: no space", io::ErrorKind::StorageFull, &self.path))
            }
        }
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.disk.before(WRITE, &self.path)?;
        self.inner.truncate(length)
    }

    fn trim(&mut self) -> io::Result<()> {
        self.disk.before(WRITE, &self.path)?;
        self.inner.trim()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.before(SYNC, &self.path)?;
        self.inner.sync()
    }

    fn is_in_place(&self) -> io::Result<bool> {
        self.disk.before(LIST, &self.path)?;
        self.inner.is_in_place()
    }
}

#[derive(Debug)]
struct Reading {
    disk: SimulatedDisk,
    path: PathBuf,
    inner: Arc<dyn ReadableFile>,
}

impl ReadableFile for Reading {
    fn length(&self) -> io::Result<u64> {
        self.disk.before(READ, &self.path)?;
        self.inner.length()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.before(READ, &self.path)?;
        if self.disk.is_armed() && self.disk.once_in(self.disk.0.plan.error_one_in) {
            let half = buffer.len() / 2;
            self.inner.read_exact_at(&mut buffer[..half], offset)?;
            let kind = io::ErrorKind::UnexpectedEof;
            return Err(self.disk.fail("fault: short read", kind, &self.path));
        }
        self.inner.read_exact_at(buffer, offset)
    }

    fn map(&self) -> io::Result<FileBytes> {
        self.disk.before(READ, &self.path)?;
        self.inner.map()
    }
}
