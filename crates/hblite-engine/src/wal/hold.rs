//! Keeps the log while a copy of it is made.
//!
//! While a [`LogFileHold`] lives, no log file is removed. [`LogFileHold::seal`] returns log files
//! that get no more records: together they are the log up to one moment, and they can be copied or
//! linked at any time.
//!
//! Threads: any; several holds may live at once.

use std::path::{Path, PathBuf};

use hblite_env::{Env, FileSystem};
use hblite_model::Result;

use super::entry::WalEntry;
use super::head::{Head, HeadState};
use super::log_file::log_file_path;
use super::replay::replay_from;
use super::report::ReplayOptions;
use super::writer::Previous;
use super::{ReplayReport, Wal};
use crate::layout::StoreId;

/// Prevents the removal of files of a log until it is dropped.
#[derive(Debug)]
pub struct LogFileHold<'a> {
    wal: &'a Wal,
}

/// The log up to one moment.
#[derive(Debug)]
pub struct SealedLog {
    files: Vec<PathBuf>,
    store: StoreId,
    /// `None` without a log file.
    head: Option<Head>,
}

impl SealedLog {
    /// Its log files, oldest first: complete and durable.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Writes the head of a copy of it, durably, next to `dir`, the directory for the log files.
    ///
    /// # Errors
    /// `Io`.
    pub fn write_head(&self, fs: &dyn FileSystem, dir: &Path) -> Result<()> {
        self.head.unwrap_or(Head::first(self.store)).write(fs, dir)
    }
}

impl Wal {
    /// Keeps all existing and future log files until the hold is dropped. Waits for a removal in
    /// progress.
    pub fn hold_log_files(&self) -> LogFileHold<'_> {
        self.removal.lock().holds += 1;
        LogFileHold { wal: self }
    }
}

impl LogFileHold<'_> {
    /// Ends the active log file and returns the log up to there, with everything appended before
    /// the call.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed.
    pub fn seal(&self) -> Result<SealedLog> {
        let syncer = &self.wal.syncer;
        syncer.check()?;
        let mut tail = syncer.tail.lock();
        if tail.active_number().is_none() && syncer.accounting.lock().closed_count() == 0 {
            return Ok(SealedLog { files: Vec::new(), store: tail.store(), head: None });
        }
        // Without this mark, removed log files would be reported as missing: the mark that says
        // that they are not needed may be in the next log file.
        tail.append_mark(syncer.context());
        tail.request_roll();
        tail.append_mark(syncer.context());
        let numbers = syncer.accounting.lock().closed_numbers();
        let Previous { end, salt } = tail.previous();
        let (store, state) = (tail.store(), HeadState::Closed { end: end.offset });
        let head = Head { store, newest: end.log_file, salt, state };
        drop(tail);
        // Their records may not have been written yet.
        self.wal.sync_all()?;
        let dir = &syncer.dir;
        let files = numbers.into_iter().map(|number| log_file_path(dir, number)).collect();
        Ok(SealedLog { files, store, head: Some(head) })
    }

    /// Like [`super::replay`], for a sealed log, while other threads keep writing.
    ///
    /// # Errors
    /// As [`super::replay`].
    pub fn replay(
        &self,
        sealed: &SealedLog,
        env: &Env,
        options: ReplayOptions,
        sink: &mut dyn FnMut(WalEntry<'_>) -> Result<()>,
    ) -> Result<ReplayReport> {
        match sealed.head {
            Some(head) => replay_from(env, &self.wal.syncer.dir, options, Some(head), sink),
            None => Ok(ReplayReport::default()),
        }
    }
}

impl Drop for LogFileHold<'_> {
    fn drop(&mut self) {
        let mut removal = self.wal.removal.lock();
        assert!(removal.holds > 0, "each hold ends once");
        removal.holds -= 1;
        drop(removal);
        // A failure is retried after the next flush.
        let _ = self.wal.remove_unneeded();
    }
}
