//! Group commit: one thread writes and syncs for all waiting threads.
//!
//! A thread that needs its record written or synced becomes the leader if there is none, takes
//! everything appended meanwhile, writes it with one call (and syncs it if a writer needs that),
//! and wakes the others. There is no dedicated thread: an uncontended write costs no thread switch.
//! Only writes that no thread waits for, and early syncs of a growing log file, are left to a
//! background thread, which starts when it is first needed.
//!
//! Order: a log file is synced before its successor is created, so only the newest one can have
//!        records that a power cut may take. Little remains to be synced then, because the
//!        background thread syncs a log file each time that it has grown by a few megabytes.
//! Failure: records whose write failed are undone if the file is as it was before (see
//!        [`super::output`]), and the threads that wait for them get an error: the records are not
//!        in the log and never will be. Those that no thread waits for (ASYNC_WAL) were
//!        acknowledged; they stay in the tail and are written when that is possible again. Until
//!        then the log is stalled: it accepts no further records. After a failed sync it is unknown
//!        what is on the disk, so everything is refused until the log is read again.
//! In place: a small record for a part of the log that is mapped is written there by the thread
//!        that appends it, while it holds the tail. That cannot fail.
//! Locks: `progress` is held for moments; `io` by the leader while it writes; the tail's lock and
//!        the accounting's may be taken under `io`. Under the tail's lock, `io` is only tried.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use hblite_env::Env;
use hblite_env::sync::{Condvar, Mutex, MutexGuard, spin_until};
use hblite_env::thread;
use hblite_env::time::{Duration, Instant};
use hblite_model::{Error, Exception, Result};

use super::accounting::Accounting;
use super::log_file::{LogPosition, log_file_path};
use super::output::{Failure, Outcome, Output, Unsynced};
use super::progress::Progress;
use super::watch::Watch;
use super::writer::{Context, EARLY_SYNC_BYTES, Tail, Unwritten};
use crate::layout::RootFiles;

/// A buffer larger than this is freed after use.
const SPARE_BUFFER_MAX: usize = 4 << 20;

/// The longest that a leader waits for others to join its group.
const GATHER_MAX: Duration = Duration::from_millis(1);

/// The state of a log that accepts records.
const WORKS: u8 = 0;
/// The state of a log that must write the records left by a failed write before it accepts others.
const STALLED: u8 = 1;
/// The state of a log that accepts nothing further.
const FAILED: u8 = 2;

/// What a waiting thread needs for its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// Handed to the operating system.
    Written,
    /// Durable across a power cut.
    Synced,
}

/// The shared parts of a log.
#[derive(Debug)]
pub(super) struct Syncer {
    pub(super) env: Env,
    pub(super) dir: PathBuf,
    pub(super) tail: CachePadded<Mutex<Tail>>,
    pub(super) accounting: Mutex<Accounting>,
    pub(super) watch: Watch,
    writing: CachePadded<Writing>,
    /// How far the log is synced, in the tail's unit.
    synced: AtomicU64,
    /// Records up to here may have been undone.
    dropped_end: AtomicU64,
    /// [`WORKS`], [`STALLED`] or [`FAILED`].
    state: AtomicU8,
    /// How many times a thread began to wait for a sync.
    sync_requests: AtomicU64,
    /// Whether there is a leader; written under the lock of `progress`.
    is_led: AtomicBool,
    progress: Mutex<Progress>,
    changed: Condvar,
}

/// What each write changes.
#[derive(Debug, Default)]
#[repr(C)]
struct Writing {
    /// How far the log is written, in the tail's unit.
    written: AtomicU64,
    io: Mutex<Io>,
}

#[derive(Debug, Default)]
#[repr(C)]
struct Io {
    output: Output,
    spare: Vec<u8>,
    group: Group,
}

/// The last group that was synced, which determines how large the next one should get.
#[derive(Debug, Default)]
struct Group {
    /// Requests of this and all earlier groups.
    requests_served: u64,
    /// Threads that waited for this sync or for the next one when it ended.
    threads: u64,
    /// How long the sync took.
    duration: Duration,
}

/// Ends the lead of a thread that panics. Otherwise the others would wait for it forever.
struct OnPanic<'s>(&'s Syncer);

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        // In this order: there is no other leader after a panic.
        self.0.fail_after_panic();
        self.0.is_led.store(false, Ordering::Release);
    }
}

impl Syncer {
    pub(super) fn new(env: Env, dir: PathBuf, tail: Tail, accounting: Accounting) -> Self {
        Self {
            env,
            dir,
            tail: CachePadded::new(Mutex::new(tail)),
            accounting: Mutex::new(accounting),
            watch: Watch::new(),
            writing: CachePadded::default(),
            synced: AtomicU64::new(0),
            dropped_end: AtomicU64::new(0),
            state: AtomicU8::new(WORKS),
            sync_requests: AtomicU64::new(0),
            is_led: AtomicBool::new(false),
            progress: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// What the tail needs for an append.
    #[inline]
    pub(super) fn context(&self) -> Context<'_> {
        Context { env: &self.env, accounting: &self.accounting }
    }

    /// Fails if the log has failed before.
    #[inline]
    pub(super) fn check(&self) -> Result<()> {
        if self.state.load(Ordering::Acquire) == FAILED {
            return Err(Self::failed(&self.progress.lock()));
        }
        Ok(())
    }

    /// Fails if the log has failed before, or the store's directory is no longer in place.
    pub(super) fn check_place(&self) -> Result<()> {
        self.check()?;
        if let Some(path) = self.watch.displaced_lock() {
            self.fail_and_wake(Failure::displaced(&path));
        }
        self.check()
    }

    /// Fails if the store's directory, or the active log file, is no longer in place.
    fn look(&self, output: &Output) -> Outcome<()> {
        let displaced = self.watch.displaced_lock().or_else(|| output.displaced_log_file());
        displaced.map_or(Ok(()), |path| Err(Failure::displaced(&path)))
    }

    /// Fails if the log accepts no records: it has failed, or it could not be written and still
    /// cannot be. This bounds the records left to be written.
    #[inline]
    pub(super) fn admit(&self) -> Result<()> {
        if self.state.load(Ordering::Acquire) == WORKS { Ok(()) } else { self.retry() }
    }

    /// Tries to write what an earlier write left.
    #[cold]
    fn retry(&self) -> Result<()> {
        self.check()?;
        let position = self.tail.lock().live_end();
        self.reach(position, Goal::Written)
    }

    fn failed(progress: &Progress) -> Error {
        let message = progress.failure.as_deref().unwrap_or("the write-ahead log failed");
        Error::new(Exception::RegionServerStopped, message)
    }

    fn fail(&self, progress: &mut Progress, message: String) {
        progress.failure.get_or_insert(message);
        self.state.store(FAILED, Ordering::Release);
    }

    /// Whether everything up to `position` is in the log, and none of it may have been undone.
    #[inline]
    fn has_reached(&self, position: u64, goal: Goal) -> bool {
        // In this order: undone records are recorded before the log grows beyond them.
        self.is_beyond(position, goal) && position > self.dropped_end.load(Ordering::Acquire)
    }

    #[inline]
    fn is_beyond(&self, position: u64, goal: Goal) -> bool {
        let reached = match goal {
            Goal::Written => &self.writing.written,
            Goal::Synced => &self.synced,
        };
        reached.load(Ordering::Acquire) >= position
    }

    /// Returns when the log has reached the goal up to `position`.
    ///
    /// # Errors
    /// `RegionTooBusy` if the record that ends there could not be written: it is not in the log.
    /// `RegionServerStopped` if the log failed, now or before.
    pub(super) fn reach(&self, position: u64, goal: Goal) -> Result<()> {
        if self.has_reached(position, goal) {
            return Ok(());
        }
        if goal == Goal::Synced {
            self.sync_requests.fetch_add(1, Ordering::Relaxed);
        }
        if goal == Goal::Written && self.is_written_soon(position) {
            return Ok(());
        }
        let mut progress = self.progress.lock();
        loop {
            if let Some(error) = progress.dropped(position) {
                return Err(error);
            }
            if self.is_beyond(position, goal) {
                return Ok(());
            }
            if progress.failure.is_some() {
                return Err(Self::failed(&progress));
            }
            if !self.is_led.load(Ordering::Relaxed) {
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

    /// Writes a record of this length, which ends at `position`, if it only has to be written to
    /// memory: most single writes need no leader then. False if nothing was done. The caller holds
    /// the tail's lock, and nothing else waits there.
    #[inline]
    pub(super) fn write_in_place(
        &self,
        length: usize,
        position: u64,
        write: &mut dyn FnMut(&mut [u8]),
    ) -> bool {
        // Whoever holds this lock may wait for that of the tail.
        let Some(mut io) = self.writing.io.try_lock() else { return false };
        let works = self.state.load(Ordering::Acquire) == WORKS && !self.watch.is_nearly_due();
        let is_written = works && io.output.write_in_place(length, write);
        if is_written {
            let before = self.writing.written.load(Ordering::Relaxed);
            assert!(before < position, "the log grows: {before} to {position}");
            self.writing.written.store(position, Ordering::Release);
        }
        is_written
    }

    /// Waits for a leader who is about to be done, most likely with an earlier record. A write
    /// takes about a microsecond, and waking a thread several.
    fn is_written_soon(&self, position: u64) -> bool {
        let is_written = || self.has_reached(position, Goal::Written);
        spin_until(|| !self.is_led.load(Ordering::Acquire) || is_written());
        is_written()
    }

    /// Writes everything appended so far, and syncs it if that is the goal.
    fn lead(&self, progress: &mut MutexGuard<'_, Progress>, goal: Goal) {
        self.is_led.store(true, Ordering::Relaxed);
        let write_out = || {
            let on_panic = OnPanic(self);
            let outcome = self.write_out(goal);
            std::mem::forget(on_panic);
            outcome
        };
        let outcome = MutexGuard::unlocked(progress, write_out);
        self.is_led.store(false, Ordering::Release);
        match outcome {
            Ok(position) if goal == Goal::Synced => {
                assert!(
                    position <= self.writing.written.load(Ordering::Acquire),
                    "written, then synced"
                );
                self.synced.fetch_max(position, Ordering::AcqRel);
            }
            Ok(_) => {}
            Err(failure) if !failure.is_undone => self.fail(progress, failure.message()),
            // `write_out` has noted the records that were undone.
            Err(_) => {}
        }
        if progress.waiting_for_write + progress.waiting_for_sync > 0 {
            self.changed.notify_all();
        }
    }

    fn write_out(&self, goal: Goal) -> Outcome<u64> {
        let mut io = self.writing.io.lock();
        let requests = match goal {
            Goal::Written => 0,
            Goal::Synced => self.gather(&io.group),
        };
        let spare = std::mem::take(&mut io.spare);
        let (unwritten, position) = self.tail.lock().take_unwritten(spare);
        if !unwritten.rolls.is_empty() {
            // A log file and the log's head are about to be created by their paths.
            self.look(&io.output)?;
        }
        let (written, outcome) = io.output.write(&self.env, &self.dir, &unwritten);
        if let Err(failure) = outcome {
            if failure.is_undone {
                self.take_back(&io.output, unwritten, written, position, &failure);
            }
            return Err(failure);
        }
        let mut spare = unwritten.bytes;
        if spare.capacity() <= SPARE_BUFFER_MAX {
            spare.clear();
            io.spare = spare;
        }
        if goal == Goal::Written && self.watch.is_due() {
            self.look(&io.output)?;
        }
        let before = self.writing.written.swap(position, Ordering::Release);
        assert!(before <= position, "the log grows: {before} to {position}");
        // Changes nothing if the log works, which is the usual case, or has failed.
        let _ = self.state.compare_exchange(STALLED, WORKS, Ordering::AcqRel, Ordering::Relaxed);
        if goal == Goal::Synced {
            if self.progress.lock().waiting_for_write > 0 {
                self.changed.notify_all();
            }
            let began = Instant::now();
            let end = io.output.sync(&self.env)?;
            self.look(&io.output)?;
            if let Some(end) = end {
                self.tail.lock().set_synced(end);
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

    /// Undoes all records from index `written` of `unwritten` on, which ends at `position`. Callers
    /// that wait for one of them get an error; records that no caller waits for are written later.
    fn take_back(
        &self,
        output: &Output,
        unwritten: Unwritten,
        written: usize,
        position: u64,
        failure: &Failure,
    ) {
        let from = position - (unwritten.bytes.len() - written) as u64;
        let mut tail = self.tail.lock();
        let to = tail.appended();
        // Recorded before the tail's lock is released, so the log cannot grow beyond them first.
        let live_end = self.progress.lock().drop_records(from..to, failure);
        self.dropped_end.store(to, Ordering::Release);
        self.writing.written.store(from, Ordering::Release);
        let is_left = tail.take_back(self.context(), unwritten, written, output.end(), live_end);
        if is_left {
            let _ =
                self.state.compare_exchange(WORKS, STALLED, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// Gives the threads of the last group time to arrive with their next write, at most half the
    /// time of a sync: one sync for all is worth the wait. Returns the number of requests so far.
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

    /// Continues after an existing log. The next sync, and the next log file, begin by making
    /// durable the parts of its log files that may not be: everything after each of `starts`.
    pub(super) fn resume(
        &self,
        has_head: bool,
        starts: impl IntoIterator<Item = LogPosition>,
        are_files_mapped: bool,
    ) {
        let paths = starts
            .into_iter()
            .map(|start| (log_file_path(&self.dir, start.log_file), start.offset));
        let output = &mut self.writing.io.lock().output;
        output.is_dir_durable = has_head;
        output.are_files_mapped = are_files_mapped;
        output.found.extend(paths);
    }

    /// Makes the next log file begin with these files.
    pub(super) fn begin_with(&self, root: Option<RootFiles>) {
        self.writing.io.lock().output.root = root;
    }

    /// Makes everything durable, including existing log files.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed, now or before.
    pub(super) fn sync_all(&self) -> Result<()> {
        let position = self.tail.lock().live_end();
        self.reach(position, Goal::Synced)?;
        // Nothing may have been appended after the existing log files.
        let mut io = self.writing.io.lock();
        if let Err(failure) = io.output.sync_found(&self.env) {
            self.fail_and_wake(failure);
        }
        drop(io);
        self.check()
    }

    /// The work of the background thread: writes everything appended, and syncs the active log file
    /// if much of it is not synced. False if there is something left to write.
    pub(super) fn catch_up(&self) -> bool {
        let position = self.tail.lock().live_end();
        // A failure is recorded, and returned to the next caller that appends or waits.
        if self.reach(position, Goal::Written).is_ok() {
            self.sync_early();
        }
        self.state.load(Ordering::Acquire) != STALLED
    }

    /// Syncs the active log file while others write to it.
    fn sync_early(&self) {
        let unsynced = self.writing.io.lock().output.unsynced();
        let Some(Unsynced { path, end, bytes }) = unsynced else { return };
        if bytes < EARLY_SYNC_BYTES / 2 {
            return;
        }
        if let Err(error) = self.env.fs.sync_file(&path) {
            self.fail_and_wake(Failure::unknown("sync", &path, &error));
            return;
        }
        self.writing.io.lock().output.note_synced(end);
        self.tail.lock().set_synced(end);
    }

    /// Refuses everything from now on, because a thread panicked during a write. Threads that wait
    /// for it are woken.
    #[cold]
    pub(super) fn fail_after_panic(&self) {
        self.fail_and_wake(Failure::panicked());
    }

    fn fail_and_wake(&self, failure: Failure) {
        let mut progress = self.progress.lock();
        self.fail(&mut progress, failure.message());
        self.changed.notify_all();
    }

    /// Removes the zeros after the end of the active log file.
    pub(super) fn trim(&self) {
        self.writing.io.lock().output.trim();
    }

    /// Refuses everything from now on.
    pub(super) fn close(&self) {
        self.fail(&mut self.progress.lock(), "the write-ahead log is closed".to_owned());
    }

    /// Refuses everything from now on, and waits for the write in progress.
    pub(super) fn abandon(&self) {
        self.close();
        self.changed.notify_all();
        drop(self.writing.io.lock());
    }
}
