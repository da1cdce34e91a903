//! The reserve: a file that only takes up space, so that tables can be dropped on a full disk.
//!
//! Dropping a table is a write to the log and to hbase:meta. When a change that leads to more space
//! finds none, the file is removed, and the change uses its space. Until the file can be written
//! again, clients' writes, flushes and compactions are refused, since they would use it up; see
//! `catalog::parked` for what happens to rows that cannot be flushed then.
//!
//! It is written when the first table is created, and grows with the number of regions. What is in
//! it is of no interest; HBase ignores it. It is never synced: a power cut that takes a part of it
//! frees the space, and the next open takes it again.
//!
//! Threads: any.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hblite_env::FileSystem;
use hblite_env::sync::Mutex;
use hblite_env::time::{Duration, Instant};
use hblite_model::{Error, Exception, Result};

use super::{Layout, RESERVE_FILE};

/// Space for a new log file, some directories, and the files of a small hbase:meta.
const SIZE_STEP: u64 = 512 << 10;
/// Space for what a change writes about a region: to the log, and to files of hbase:meta.
const SIZE_PER_REGION: u64 = 2 << 10;
/// How often a write that is refused tries to end that.
const PAUSE: Duration = Duration::from_secs(1);

/// The reserve of an open store.
#[derive(Debug)]
pub(crate) struct Reserve {
    /// The file system itself: removed files are not kept for readers.
    fs: Arc<dyn FileSystem>,
    path: PathBuf,
    is_released: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How much the file is known to take up.
    size: u64,
    /// How much it should take up.
    wanted: u64,
    tried_at: Option<Instant>,
}

impl Reserve {
    pub(crate) fn new(fs: &Arc<dyn FileSystem>, layout: &Layout) -> Self {
        Self {
            fs: Arc::clone(fs),
            path: layout.root().join(RESERVE_FILE),
            is_released: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// Makes the reserve large enough for this many regions, if there is space.
    pub(crate) fn keep(&self, regions: usize) {
        let mut state = self.state.lock();
        state.wanted = (1 + regions as u64 * SIZE_PER_REGION).next_multiple_of(SIZE_STEP);
        self.try_to_keep(&mut state);
    }

    /// Like [`Reserve::keep`], for a store that was just opened: without a reserve, the space that
    /// may be left is only for changes that lead to more.
    pub(crate) fn begin(&self, regions: usize) {
        self.is_released.store(true, Ordering::Release);
        self.keep(regions);
    }

    /// Gives the space of the reserve to the change that is about to be repeated. False if it was
    /// not there.
    pub(crate) fn release(&self) -> bool {
        let mut state = self.state.lock();
        // First: nothing else may use the space.
        self.is_released.store(true, Ordering::Release);
        state.size = 0;
        state.tried_at = Some(Instant::now());
        self.fs.remove_file(&self.path).is_ok()
    }

    /// Whether only changes that lead to more space may use what is left.
    #[inline]
    pub(crate) fn is_released(&self) -> bool {
        self.is_released.load(Ordering::Acquire)
    }

    /// Refuses work that needs space while the reserve is in use.
    ///
    /// # Errors
    /// `RegionTooBusy`.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_released() { self.check_again() } else { Ok(()) }
    }

    /// Like [`Reserve::check`], and looks for space whenever it is called.
    ///
    /// # Errors
    /// As [`Reserve::check`].
    pub(crate) fn check_now(&self) -> Result<()> {
        if self.is_released() {
            self.state.lock().tried_at = None;
        }
        self.check()
    }

    #[cold]
    fn check_again(&self) -> Result<()> {
        let mut state = self.state.lock();
        if state.tried_at.is_none_or(|tried| tried.elapsed() >= PAUSE) {
            self.try_to_keep(&mut state);
        }
        if !self.is_released() {
            return Ok(());
        }
        let message = format!(
            "nothing was written, because the disk is full, and {} cannot be written again: free \
             at least {} KiB, for example by dropping a table, and try again",
            self.path.display(),
            state.wanted >> 10
        );
        let source = io::Error::from(io::ErrorKind::StorageFull);
        Err(Error::new(Exception::RegionTooBusy, message).with_source(source))
    }

    fn try_to_keep(&self, state: &mut State) {
        state.tried_at = Some(Instant::now());
        if state.size == 0 {
            let length = self.fs.file_length(&self.path).unwrap_or(0);
            state.size = if length < SIZE_STEP { 0 } else { length };
        }
        if state.size < state.wanted {
            let written = match state.size {
                0 => self.write_anew(state.wanted),
                // What is there stays until there is more.
                _ => self.replace(state.wanted),
            };
            match written {
                Ok(()) => state.size = state.wanted,
                Err(error) if state.size == 0 && is_full(&error) => return,
                // The smaller one has to do, or none, if such a file is refused for other reasons.
                Err(_) => {}
            }
        }
        self.is_released.store(false, Ordering::Release);
    }

    fn write_anew(&self, size: u64) -> io::Result<()> {
        let removed = self.fs.remove_file(&self.path);
        removed.or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        self.write(&self.path, size)
    }

    fn replace(&self, size: u64) -> io::Result<()> {
        let larger = self.path.with_extension("reserve.tmp");
        let _ = self.fs.remove_file(&larger);
        self.write(&larger, size)?;
        self.fs.rename(&larger, &self.path)
    }

    fn write(&self, path: &Path, size: u64) -> io::Result<()> {
        self.fs.take_space(path, size).inspect_err(|_| {
            let _ = self.fs.remove_file(path);
        })
    }
}

impl Layout {
    /// Whether this is the reserve, or a larger one that is being written.
    pub(super) fn is_reserve(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        path.parent() == Some(self.root()) && name.starts_with(RESERVE_FILE)
    }
}

/// Whether something failed because the disk is full.
pub(crate) fn is_out_of_space(error: &Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if cause.downcast_ref().is_some_and(is_full) {
            return true;
        }
        source = cause.source();
    }
    false
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
