//! Group commit: one thread writes and syncs for all that wait.
//!
//! A thread that needs its record written or synced becomes the leader if there is none, takes all
//! that was appended meanwhile, writes it with one call (and syncs it if somebody needs that), and
//! wakes the others. There is no thread for it: an uncontended write costs no switch of threads.
//! Only writes that nobody waits for, and the sync of segments that are full, are left to a
//! background thread, which starts when it is first needed.
//!
//! Order: segments become durable in order. A sync of the active segment syncs the full ones
//!        before it first, so that nothing that is durable stands after something that is not.
//! Failure: after a failed write or sync nobody knows what is in the file, so all that follows is
//!        refused until the log is read again.
//! Locks: `progress` is held for moments; `io` by the leader while it writes; the tail's lock and
//!        the accounting's may be taken under `io`, never the other way round.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hblite_env::sync::{Condvar, Mutex, MutexGuard};
use hblite_env::thread;
use hblite_env::time::{Duration, Instant};
use hblite_env::{Env, WritableFile};
use hblite_model::{Error, Exception, Result};

use super::accounting::Accounting;
use super::segment::{HEADER_SIZE, LogPosition, SegmentHeader, segment_path};
use super::writer::{Context, Roll, Tail, Unwritten};

/// A buffer that has grown beyond this is given back after use.
const SPARE_BUFFER_MAX: usize = 4 << 20;

/// The longest that a leader waits for others to join its group.
const GATHER_MAX: Duration = Duration::from_millis(1);

/// What a waiting thread wants of its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// Handed to the operating system.
    Written,
    /// Safe from a power cut.
    Synced,
}

/// The shared parts of a log.
#[derive(Debug)]
pub(super) struct Syncer {
    pub(super) env: Env,
    pub(super) dir: PathBuf,
    pub(super) tail: Mutex<Tail>,
    pub(super) accounting: Mutex<Accounting>,
    /// How far the log is written and synced, in the tail's coin.
    written: AtomicU64,
    synced: AtomicU64,
    is_failed: AtomicBool,
    /// How many times a thread came to wait for a sync.
    sync_requests: AtomicU64,
    progress: Mutex<Progress>,
    changed: Condvar,
    io: Mutex<Io>,
    /// Full segments that are not synced yet, oldest first.
    full: Mutex<VecDeque<FullSegment>>,
    /// Held while full segments are synced.
    full_gate: Mutex<()>,
}

#[derive(Debug, Default)]
struct Progress {
    has_leader: bool,
    waiting_for_write: usize,
    waiting_for_sync: usize,
    failure: Option<String>,
}

#[derive(Debug, Default)]
struct Io {
    segment: Option<OpenSegment>,
    spare: Vec<u8>,
    group: Group,
}

/// The last group that was synced: how large the next one should get.
#[derive(Debug, Default)]
struct Group {
    /// Requests of this and all earlier groups.
    requests_served: u64,
    /// Threads that waited for this sync or for the next one when it ended.
    threads: u64,
    /// How long the sync took.
    duration: Duration,
}

#[derive(Debug)]
struct OpenSegment {
    file: Box<dyn WritableFile>,
    path: PathBuf,
    end: LogPosition,
}

/// A segment that gets no more records and may not survive a power cut yet.
#[derive(Debug)]
struct FullSegment {
    /// The handle that wrote it, unless another process did.
    file: Option<Box<dyn WritableFile>>,
    path: PathBuf,
    end: LogPosition,
}

/// What failed, in words.
type Failure = String;
type Outcome<T> = std::result::Result<T, Failure>;

fn failure(doing: &str, path: &Path, error: &io::Error) -> Failure {
    format!("{doing} {}: {error}", path.display())
}

impl OpenSegment {
    /// Creates the file and makes its name and its header durable.
    fn create(env: &Env, dir: &Path, header: &SegmentHeader) -> Outcome<Self> {
        let path = segment_path(dir, header.number);
        let create = || -> io::Result<Box<dyn WritableFile>> {
            let mut file = env.fs.create(&path)?;
            file.write_all(&header.encode())?;
            file.sync()?;
            env.fs.sync_dir(dir)?;
            if let Some(parent) = dir.parent() {
                env.fs.sync_dir(parent)?;
            }
            Ok(file)
        };
        let file = create().map_err(|error| failure("create", &path, &error))?;
        let end = LogPosition { segment: header.number, offset: HEADER_SIZE as u64 };
        Ok(Self { file, path, end })
    }

    fn write(&mut self, bytes: &[u8]) -> Outcome<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.write_all(bytes).map_err(|error| failure("write", &self.path, &error))?;
        self.end.offset += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Outcome<()> {
        self.file.sync().map_err(|error| failure("sync", &self.path, &error))
    }
}

impl Syncer {
    pub(super) fn new(env: Env, dir: PathBuf, tail: Tail, accounting: Accounting) -> Self {
        Self {
            env,
            dir,
            tail: Mutex::new(tail),
            accounting: Mutex::new(accounting),
            written: AtomicU64::new(0),
            synced: AtomicU64::new(0),
            is_failed: AtomicBool::new(false),
            sync_requests: AtomicU64::new(0),
            progress: Mutex::default(),
            changed: Condvar::new(),
            io: Mutex::default(),
            full: Mutex::default(),
            full_gate: Mutex::new(()),
        }
    }

    /// What the tail needs for an append.
    #[inline]
    pub(super) fn context(&self) -> Context<'_> {
        Context { env: &self.env, accounting: &self.accounting }
    }

    /// An error if the log has failed before.
    #[inline]
    pub(super) fn check(&self) -> Result<()> {
        if self.is_failed.load(Ordering::Acquire) {
            return Err(Self::failed(&self.progress.lock()));
        }
        Ok(())
    }

    fn failed(progress: &Progress) -> Error {
        let cause = progress.failure.as_deref().unwrap_or("unknown cause");
        let message = format!("the write-ahead log failed ({cause}); reopen the store");
        Error::new(Exception::RegionServerStopped, message)
    }

    fn fail(&self, progress: &mut Progress, failure: Failure) {
        progress.failure.get_or_insert(failure);
        self.is_failed.store(true, Ordering::Release);
    }

    #[inline]
    fn has_reached(&self, position: u64, goal: Goal) -> bool {
        let reached = match goal {
            Goal::Written => &self.written,
            Goal::Synced => &self.synced,
        };
        reached.load(Ordering::Acquire) >= position
    }

    /// Returns when the log has reached the goal up to `position`.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed, now or before.
    pub(super) fn reach(&self, position: u64, goal: Goal) -> Result<()> {
        if self.has_reached(position, goal) {
            return Ok(());
        }
        if goal == Goal::Synced {
            self.sync_requests.fetch_add(1, Ordering::Relaxed);
        }
        let mut progress = self.progress.lock();
        loop {
            if self.has_reached(position, goal) {
                return Ok(());
            }
            if progress.failure.is_some() {
                return Err(Self::failed(&progress));
            }
            if !progress.has_leader {
                self.lead(&mut progress, goal);
                continue;
            }
            match goal {
                Goal::Written => progress.waiting_for_write += 1,
                Goal::Synced => progress.waiting_for_sync += 1,
            }
            self.changed.wait(&mut progress);
            match goal {
                Goal::Written => progress.waiting_for_write -= 1,
                Goal::Synced => progress.waiting_for_sync -= 1,
            }
        }
    }

    /// Writes all that was appended so far, and syncs it if that is the goal.
    fn lead(&self, progress: &mut MutexGuard<'_, Progress>, goal: Goal) {
        progress.has_leader = true;
        let outcome = MutexGuard::unlocked(progress, || self.write_out(goal));
        progress.has_leader = false;
        match outcome {
            Ok(position) if goal == Goal::Synced => {
                self.synced.fetch_max(position, Ordering::AcqRel);
            }
            Ok(_) => {}
            Err(failure) => self.fail(progress, failure),
        }
        if progress.waiting_for_write + progress.waiting_for_sync > 0 {
            self.changed.notify_all();
        }
    }

    fn write_out(&self, goal: Goal) -> Outcome<u64> {
        let mut io = self.io.lock();
        let requests = match goal {
            Goal::Written => 0,
            Goal::Synced => self.gather(&io.group),
        };
        let spare = std::mem::take(&mut io.spare);
        let (unwritten, position) = self.tail.lock().take_unwritten(spare);
        self.write(&mut io, &unwritten)?;
        let mut spare = unwritten.bytes;
        if spare.capacity() <= SPARE_BUFFER_MAX {
            spare.clear();
            io.spare = spare;
        }
        self.written.store(position, Ordering::Release);
        if goal == Goal::Synced {
            if self.progress.lock().waiting_for_write > 0 {
                self.changed.notify_all();
            }
            self.sync_full()?;
            let began = Instant::now();
            if let Some(segment) = &mut io.segment {
                segment.sync()?;
                self.tail.lock().set_synced(segment.end);
            }
            let waiting = self.sync_requests.load(Ordering::Relaxed);
            io.group = Group {
                requests_served: requests,
                threads: waiting.saturating_sub(io.group.requests_served),
                duration: began.elapsed(),
            };
        }
        Ok(position)
    }

    /// Lets the threads of the last group come back with their next write, for at most half the
    /// time of a sync: one sync for all is worth the wait. The number of requests so far.
    fn gather(&self, last: &Group) -> u64 {
        let began = Instant::now();
        let limit = (last.duration / 2).min(GATHER_MAX);
        loop {
            let requests = self.sync_requests.load(Ordering::Relaxed);
            if requests.saturating_sub(last.requests_served) >= last.threads
                || began.elapsed() >= limit
            {
                return requests;
            }
            thread::yield_now();
        }
    }

    /// Writes the bytes, each piece into its segment.
    fn write(&self, io: &mut Io, unwritten: &Unwritten) -> Outcome<()> {
        let mut rest = unwritten.bytes.as_slice();
        let mut index = 0;
        for Roll { buffer_index, header } in &unwritten.rolls {
            let (before, after) = rest.split_at(buffer_index - index);
            if let Some(mut segment) = io.segment.take() {
                segment.write(before)?;
                let OpenSegment { file, path, end } = segment;
                self.full.lock().push_back(FullSegment { file: Some(file), path, end });
            }
            io.segment = Some(OpenSegment::create(&self.env, &self.dir, header)?);
            (rest, index) = (after, *buffer_index);
        }
        match &mut io.segment {
            Some(segment) => segment.write(rest),
            None => Ok(()),
        }
    }

    /// Lets the next sync begin with segments that were found and may not be durable.
    pub(super) fn add_found(&self, ends: impl IntoIterator<Item = LogPosition>) {
        let found = ends.into_iter().map(|end| {
            let path = segment_path(&self.dir, end.segment);
            FullSegment { file: None, path, end }
        });
        self.full.lock().extend(found);
    }

    /// Makes all full segments durable, if the log has not failed.
    fn sync_full(&self) -> Outcome<()> {
        let _gate = self.full_gate.lock();
        if self.is_failed.load(Ordering::Acquire) {
            return Err("failed before".to_owned());
        }
        loop {
            let Some(FullSegment { file, path, end }) = self.full.lock().pop_front() else {
                return Ok(());
            };
            let outcome = match file {
                Some(mut file) => file.sync(),
                None => self.env.fs.sync_file(&path),
            };
            if let Err(error) = outcome {
                // Remembered before the gate opens: the next one must not find all in order.
                let failure = failure("sync", &path, &error);
                self.fail(&mut self.progress.lock(), failure.clone());
                return Err(failure);
            }
            self.tail.lock().set_synced(end);
        }
    }

    /// Makes everything durable, segments that were found included.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed, now or before.
    pub(super) fn sync_all(&self) -> Result<()> {
        let appended = self.tail.lock().appended();
        self.reach(appended, Goal::Synced)?;
        // Nothing may have been appended behind the segments that were found.
        if self.sync_full().is_err() {
            let _progress = self.progress.lock();
            self.changed.notify_all();
        }
        self.check()
    }

    /// What the background thread does: writes all that was appended, syncs the full segments.
    pub(super) fn catch_up(&self) {
        let appended = self.tail.lock().appended();
        // A failure is remembered, and told to the next one who appends or waits.
        let is_written = self.reach(appended, Goal::Written).is_ok();
        if is_written && self.sync_full().is_err() {
            let _progress = self.progress.lock();
            self.changed.notify_all();
        }
    }

    /// Refuses all that follows.
    pub(super) fn close(&self) {
        self.fail(&mut self.progress.lock(), "it was closed".to_owned());
    }
}
