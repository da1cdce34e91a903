//! A file system that fails on demand.
//!
//! [`FaultFileSystem`] forwards everything to another file system, counts the operations by kind,
//! and makes chosen ones fail: the nth sync, every write to a path from now on, any write once the
//! disk is full. A failing write has written a part of its bytes, as a real one may have. An
//! operation can also be made slow. It can also refuse what other systems refuse: Windows
//! ([`FaultFileSystem::pin_open_files`]), overlayfs ([`FaultFileSystem::put_in_lower_layer`]),
//! mount points ([`FaultFileSystem::mount`]).
//!
//! Threads: one short lock over the plan; the operations themselves run concurrently.

mod open_files;
mod refusals;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use self::open_files::{OpenFile, OpenFiles};
use self::refusals::Refusals;
use crate::fs::{
    Announcement, DirEntry, FileBytes, FileIdentity, FileLock, FileSystem, ReadableFile,
    ReaderWatch, WritableFile,
};
use crate::thread;

/// The kinds of operations that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Creating a file or a directory, or linking a file.
    Create,
    /// Opening a file for reading.
    Open,
    /// Reading from a file: its length, its content, mapping it.
    Read,
    /// Writing to a file.
    Write,
    /// Truncating a file.
    Truncate,
    /// Syncing a file.
    Sync,
    /// Syncing a directory.
    SyncDir,
    /// Renaming.
    Rename,
    /// Removing a file or a directory.
    Remove,
    /// Listing a directory, or checking whether something exists.
    List,
    /// Taking the lock of a directory.
    Lock,
}

const OPERATION_COUNT: usize = Operation::Lock as usize + 1;

/// What fails, and when.
#[derive(Debug, Clone)]
pub struct Fault {
    operation: Operation,
    path_part: Option<String>,
    /// Number of matching operations that still succeed.
    skip: u64,
    /// Number of matching operations that then fail; `None` for all.
    failures: Option<u64>,
    effect: Effect,
}

#[derive(Debug, Clone, Copy)]
enum Effect {
    Fail(io::ErrorKind),
    Delay(Duration),
    Panic,
}

impl Fault {
    /// The next such operation fails once, with `ErrorKind::Other`.
    pub fn on(operation: Operation) -> Self {
        let effect = Effect::Fail(io::ErrorKind::Other);
        Self { operation, path_part: None, skip: 0, failures: Some(1), effect }
    }

    /// The `nth` matching operation from now on, counted from 1, is the first to fail.
    pub fn nth(self, nth: u64) -> Self {
        Self { skip: nth.saturating_sub(1), ..self }
    }

    /// Only operations on paths that contain `part` match. On Windows too, `/` may separate names.
    pub fn in_path(self, part: &str) -> Self {
        Self { path_part: Some(with_slashes(part)), ..self }
    }

    /// Matching operations fail until [`FaultFileSystem::heal`].
    pub fn forever(self) -> Self {
        Self { failures: None, ..self }
    }

    /// Fails with this kind of error.
    pub fn with_kind(self, kind: io::ErrorKind) -> Self {
        Self { effect: Effect::Fail(kind), ..self }
    }

    /// Takes this much longer instead of failing.
    pub fn delay(self, delay: Duration) -> Self {
        Self { effect: Effect::Delay(delay), ..self }
    }

    /// Panics instead of failing, as a bug may.
    pub fn panic(self) -> Self {
        Self { effect: Effect::Panic, ..self }
    }
}

fn with_slashes(path: &str) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() }
}

#[derive(Debug, Default)]
struct Plan {
    faults: Vec<Fault>,
    counts: [u64; OPERATION_COUNT],
    /// Remaining space on the disk in bytes.
    space_left: Option<u64>,
}

impl Plan {
    fn free(&mut self, bytes: u64) {
        if let Some(space_left) = &mut self.space_left {
            *space_left = space_left.saturating_add(bytes);
        }
    }

    /// Counts the operation; returns what happens to it.
    fn effect(&mut self, operation: Operation, path: &Path) -> Option<Effect> {
        self.counts[operation as usize] += 1;
        for fault in &mut self.faults {
            let in_path =
                |part: &String| with_slashes(&path.to_string_lossy()).contains(part.as_str());
            if fault.operation != operation || !fault.path_part.as_ref().is_none_or(in_path) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            match &mut fault.failures {
                Some(0) => continue,
                Some(left) => *left -= 1,
                None => {}
            }
            return Some(fault.effect);
        }
        None
    }
}

/// Counts the operation and delays it if it is slow; returns its error if it fails. Panics if that
/// was asked for.
fn check(plan: &Mutex<Plan>, operation: Operation, path: &Path) -> io::Result<()> {
    let effect = plan.lock().effect(operation, path);
    match effect {
        None => Ok(()),
        Some(Effect::Delay(delay)) => {
            thread::sleep(delay);
            Ok(())
        }
        Some(Effect::Fail(kind)) => {
            let message = format!("injected: {operation:?} of {}", path.display());
            Err(io::Error::new(kind, message))
        }
        Some(Effect::Panic) => panic!("injected: {operation:?} of {}", path.display()),
    }
}

/// Another file system, with faults.
#[derive(Debug, Clone)]
pub struct FaultFileSystem {
    inner: Arc<dyn FileSystem>,
    plan: Arc<Mutex<Plan>>,
    open_files: OpenFiles,
    are_open_files_pinned: Arc<AtomicBool>,
    refusals: Arc<Mutex<Refusals>>,
}

impl FaultFileSystem {
    /// Wraps `inner`, without faults so far.
    pub fn new(inner: Arc<dyn FileSystem>) -> Self {
        Self {
            inner,
            plan: Arc::default(),
            open_files: OpenFiles::default(),
            are_open_files_pinned: Arc::default(),
            refusals: Arc::default(),
        }
    }

    /// Adds a fault. If several match an operation, the one added first applies.
    pub fn inject(&self, fault: Fault) {
        self.plan.lock().faults.push(fault);
    }

    /// After `bytes` more bytes written to files, the disk is full: the write that crosses the
    /// limit writes what still fits and fails with `StorageFull`, as do all later ones.
    pub fn limit_space(&self, bytes: u64) {
        self.plan.lock().space_left = Some(bytes);
    }

    /// Adds `bytes` of space to a limited disk; no effect on others. Removing or truncating a file
    /// frees its space.
    pub fn free_space(&self, bytes: u64) {
        self.plan.lock().free(bytes);
    }

    /// From now on a directory cannot be renamed while a file in it is open, at any depth: that
    /// fails with `PermissionDenied`, as on Windows.
    pub fn pin_open_files(&self) {
        self.are_open_files_pinned.store(true, Ordering::Relaxed);
    }

    /// From now on `dir` and the directories that are below it cannot be renamed: that fails with
    /// `CrossesDevices`, as for the lower layers of overlayfs. Files can, and new directories too.
    ///
    /// # Errors
    /// Those of listing the directories.
    pub fn put_in_lower_layer(&self, dir: &Path) -> io::Result<()> {
        self.refusals.lock().add_layer(self.inner.as_ref(), dir)
    }

    /// From now on `dir` is a mount point. It can neither be renamed nor removed, with
    /// `ResourceBusy`; no name or link leads across it, with `CrossesDevices`.
    pub fn mount(&self, dir: &Path) {
        self.refusals.lock().add_mount(dir);
    }

    /// Removes all faults and the limit of space.
    pub fn heal(&self) {
        let mut plan = self.plan.lock();
        plan.faults.clear();
        plan.space_left = None;
    }

    /// How many operations of this kind were requested, including failed ones.
    pub fn count(&self, operation: Operation) -> u64 {
        self.plan.lock().counts[operation as usize]
    }

    fn check(&self, operation: Operation, path: &Path) -> io::Result<()> {
        check(&self.plan, operation, path)
    }

    fn writable(&self, path: &Path, inner: Box<dyn WritableFile>) -> Box<dyn WritableFile> {
        let _open = self.open_files.add(path);
        let (path, plan) = (path.to_path_buf(), self.plan.clone());
        Box::new(FaultWritableFile { inner, path, plan, length: 0, _open })
    }
}

impl FileSystem for FaultFileSystem {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        self.check(Operation::Create, path)?;
        Ok(self.writable(path, self.inner.create(path)?))
    }

    fn create_log(&self, path: &Path, is_mapped: bool) -> io::Result<Box<dyn WritableFile>> {
        self.check(Operation::Create, path)?;
        Ok(self.writable(path, self.inner.create_log(path, is_mapped)?))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        self.check(Operation::Open, path)?;
        let inner = self.inner.open(path)?;
        let _open = self.open_files.add(path);
        let (path, plan) = (path.to_path_buf(), self.plan.clone());
        Ok(Arc::new(FaultReadableFile { inner, path, plan, _open }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check(Operation::Rename, from)?;
        self.refusals.lock().check_rename(from, to)?;
        if !self.renames_dirs_in_use()
            && let Some(open) = self.open_files.below(from)
        {
            let what = format!("{} is open", open.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        self.inner.rename(from, to)?;
        self.open_files.renamed(from, to);
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.check(Operation::Remove, path)?;
        let length = self.inner.file_length(path);
        self.inner.remove_file(path)?;
        self.plan.lock().free(length.unwrap_or(0));
        Ok(())
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.check(Operation::Remove, path)?;
        let mut refusals = self.refusals.lock();
        if refusals.mounts_below(path) {
            return refusals::empty(self.inner.as_ref(), &refusals, path);
        }
        self.inner.remove_dir_all(path)?;
        refusals.removed(path);
        Ok(())
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.check(Operation::Create, path)?;
        self.inner.create_dir_all(path)
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.check(Operation::List, path)?;
        self.inner.list_dir(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.check(Operation::List, path)?;
        self.inner.exists(path)
    }

    fn file_length(&self, path: &Path) -> io::Result<u64> {
        self.check(Operation::Read, path)?;
        self.inner.file_length(path)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check(Operation::Create, to)?;
        self.refusals.lock().check_device(from, to)?;
        self.inner.hard_link(from, to)
    }

    fn renames_dirs_in_use(&self) -> bool {
        !self.are_open_files_pinned.load(Ordering::Relaxed) && self.inner.renames_dirs_in_use()
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.real_path(path)
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.absolute(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileIdentity>> {
        self.inner.identity(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.check(Operation::Sync, path)?;
        self.inner.sync_file(path)
    }

    fn rewrite(&self, path: &Path, from: u64) -> io::Result<()> {
        self.check(Operation::Sync, path)?;
        self.inner.rewrite(path, from)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.check(Operation::SyncDir, path)?;
        self.inner.sync_dir(path)
    }

    fn lock(&self, path: &Path, holder: &str) -> io::Result<Box<dyn FileLock>> {
        self.check(Operation::Lock, path)?;
        self.inner.lock(path, holder)
    }

    fn lock_existing(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        self.check(Operation::Lock, path)?;
        self.inner.lock_existing(path)
    }

    fn announce_reader(&self, dir: &Path) -> Option<Box<dyn Announcement>> {
        self.check(Operation::Lock, dir).ok()?;
        self.inner.announce_reader(dir)
    }

    fn watch_readers(&self, dir: &Path) -> Option<Box<dyn ReaderWatch>> {
        self.check(Operation::Lock, dir).ok()?;
        self.inner.watch_readers(dir)
    }
}

#[derive(Debug)]
struct FaultWritableFile {
    inner: Box<dyn WritableFile>,
    path: PathBuf,
    length: u64,
    plan: Arc<Mutex<Plan>>,
    _open: OpenFile,
}

impl FaultWritableFile {
    /// How many of `length` bytes are written, and the error after them.
    fn admit(&self, length: usize) -> (usize, io::Result<()>) {
        if let Err(error) = check(&self.plan, Operation::Write, &self.path) {
            return (length / 2, Err(error));
        }
        let mut plan = self.plan.lock();
        let Some(space_left) = &mut plan.space_left else {
            return (length, Ok(()));
        };
        let fitting = usize::try_from(*space_left).unwrap_or(usize::MAX).min(length);
        *space_left -= fitting as u64;
        if fitting == length {
            return (length, Ok(()));
        }
        let message = format!("injected: no space left for {}", self.path.display());
        (fitting, Err(io::Error::new(io::ErrorKind::StorageFull, message)))
    }
}

impl WritableFile for FaultWritableFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (length, outcome) = self.admit(bytes.len());
        if length > 0 {
            self.inner.write_all(&bytes[..length])?;
            self.length += length as u64;
        }
        outcome
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        check(&self.plan, Operation::Truncate, &self.path)?;
        self.inner.truncate(length)?;
        self.plan.lock().free(self.length.saturating_sub(length));
        self.length = self.length.min(length);
        Ok(())
    }

    fn trim(&mut self) -> io::Result<()> {
        check(&self.plan, Operation::Truncate, &self.path)?;
        self.inner.trim()
    }

    fn sync(&mut self) -> io::Result<()> {
        check(&self.plan, Operation::Sync, &self.path)?;
        self.inner.sync()
    }

    fn is_in_place(&self) -> io::Result<bool> {
        self.inner.is_in_place()
    }
}

#[derive(Debug)]
struct FaultReadableFile {
    inner: Arc<dyn ReadableFile>,
    path: PathBuf,
    plan: Arc<Mutex<Plan>>,
    _open: OpenFile,
}

impl FaultReadableFile {
    fn check(&self) -> io::Result<()> {
        check(&self.plan, Operation::Read, &self.path)
    }
}

impl ReadableFile for FaultReadableFile {
    fn length(&self) -> io::Result<u64> {
        self.check()?;
        self.inner.length()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.check()?;
        self.inner.read_exact_at(buffer, offset)
    }

    fn map(&self) -> io::Result<FileBytes> {
        self.check()?;
        self.inner.map()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemFileSystem;

    fn faulty() -> FaultFileSystem {
        FaultFileSystem::new(Arc::new(MemFileSystem::new()))
    }

    #[test]
    fn the_nth_operation_of_a_kind_fails_once() {
        let fs = faulty();
        let mut file = fs.create(Path::new("a")).unwrap();
        fs.inject(Fault::on(Operation::Sync).nth(2).with_kind(io::ErrorKind::TimedOut));
        assert!(file.sync().is_ok());
        assert_eq!(file.sync().unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(file.sync().is_ok() && file.write_all(b"x").is_ok());
        assert_eq!((fs.count(Operation::Sync), fs.count(Operation::Write)), (3, 1));
    }

    #[test]
    fn a_fault_can_be_bound_to_a_path_and_last() {
        let fs = faulty();
        fs.inject(Fault::on(Operation::Create).in_path("bad").forever());
        assert!(fs.create(Path::new("good")).is_ok());
        assert!(fs.create(Path::new("bad1")).is_err() && fs.create(Path::new("bad2")).is_err());
        fs.heal();
        assert!(fs.create(Path::new("bad1")).is_ok());
    }

    #[test]
    fn a_full_disk_takes_a_part_of_the_write() {
        let fs = faulty();
        let mut file = fs.create(Path::new("a")).unwrap();
        fs.limit_space(5);
        file.write_all(b"123").unwrap();
        assert_eq!(file.write_all(b"456").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(file.write_all(b"7").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs.read(Path::new("a")).unwrap(), b"12345");
        fs.heal();
        assert!(file.write_all(b"8").is_ok());
    }

    #[test]
    fn space_comes_back_from_files_that_shrink_or_go() {
        let fs = faulty();
        let (mut kept, mut removed) =
            (fs.create(Path::new("a")).unwrap(), fs.create(Path::new("b")).unwrap());
        fs.limit_space(10);
        kept.write_all(b"12345").unwrap();
        removed.write_all(b"12345").unwrap();
        assert!(kept.write_all(b"6").is_err());
        kept.truncate(2).unwrap();
        kept.write_all(b"xyz").unwrap();
        assert_eq!(fs.read(Path::new("a")).unwrap(), b"12xyz");
        assert!(kept.write_all(b"6").is_err());
        fs.remove_file(Path::new("b")).unwrap();
        kept.write_all(b"67890").unwrap();
        assert!(kept.write_all(b"1").is_err());
        fs.free_space(1);
        kept.write_all(b"1").unwrap();
    }

    #[test]
    fn a_failing_write_leaves_a_part_and_reads_can_fail() {
        let fs = faulty();
        let mut file = fs.create(Path::new("a")).unwrap();
        fs.inject(Fault::on(Operation::Write));
        assert!(file.write_all(b"1234").is_err());
        assert_eq!(fs.read(Path::new("a")).unwrap(), b"12");
        let reader = fs.open(Path::new("a")).unwrap();
        fs.inject(Fault::on(Operation::Read));
        assert!(reader.map().is_err() && reader.map().is_ok());
    }

    #[test]
    fn pinned_files_hold_the_directories_above_them() {
        let fs = faulty();
        fs.create_dir_all(Path::new("a/b")).unwrap();
        drop(fs.create(Path::new("a/b/file")).unwrap());
        fs.pin_open_files();
        fs.rename(Path::new("a/b"), Path::new("a/c")).unwrap();
        let open = fs.open(Path::new("a/c/file")).unwrap();
        for dir in ["a", "a/c"] {
            let refused = fs.rename(Path::new(dir), Path::new("x")).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        }
        // The file itself moves, and holds the directory where it is now.
        fs.create_dir_all(Path::new("d")).unwrap();
        fs.rename(Path::new("a/c/file"), Path::new("d/file")).unwrap();
        fs.rename(Path::new("a"), Path::new("x")).unwrap();
        assert!(fs.rename(Path::new("d"), Path::new("y")).is_err());
        drop(open);
        fs.rename(Path::new("d"), Path::new("y")).unwrap();
    }
}
