//! Holding on to the log while somebody makes a copy of it.
//!
//! While a [`SegmentHold`] lives no segment is removed. What it gives are segments that get no more
//! records: they can be copied or linked at leisure, and are the log up to one moment.
//!
//! Threads: any; several holds may live at once.

use std::path::PathBuf;

use hblite_env::Env;
use hblite_model::Result;

use super::entry::WalEntry;
use super::replay::{ReplayOptions, replay_of};
use super::segment::segment_path;
use super::{ReplayReport, Wal};

/// Keeps the segments of a log where they are.
#[derive(Debug)]
pub struct SegmentHold<'a> {
    wal: &'a Wal,
}

impl Wal {
    /// Keeps all segments that are there, and those to come, until the hold is dropped. Waits for a
    /// removal that is under way.
    pub fn hold_segments(&self) -> SegmentHold<'_> {
        self.removal.lock().holds += 1;
        SegmentHold { wal: self }
    }
}

impl SegmentHold<'_> {
    /// Ends the active segment and gives the files of the log up to there, oldest first, whole and
    /// durable. Everything that was appended before the call is in them.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed.
    pub fn seal(&self) -> Result<Vec<PathBuf>> {
        let syncer = &self.wal.syncer;
        syncer.check()?;
        let mut tail = syncer.tail.lock();
        if tail.active_number().is_none() && syncer.accounting.lock().closed_count() == 0 {
            return Ok(Vec::new());
        }
        // Without this mark removed segments would be missed: the one that tells that they are not
        // needed may stand in the next segment.
        tail.append_mark(syncer.context());
        tail.request_roll();
        tail.append_mark(syncer.context());
        let numbers = syncer.accounting.lock().closed_numbers();
        drop(tail);
        // Their records may not have been written so far.
        self.wal.sync_all()?;
        let dir = &syncer.dir;
        Ok(numbers.into_iter().map(|number| segment_path(dir, number)).collect())
    }

    /// As [`super::replay`], of the segments that [`SegmentHold::seal`] gave, while others are
    /// written.
    ///
    /// # Errors
    /// As [`super::replay`].
    pub fn replay(
        &self,
        sealed: &[PathBuf],
        env: &Env,
        options: ReplayOptions,
        sink: &mut dyn FnMut(WalEntry<'_>) -> Result<()>,
    ) -> Result<ReplayReport> {
        replay_of(env, &self.wal.syncer.dir, options, |path| sealed.iter().any(|s| s == path), sink)
    }
}

impl Drop for SegmentHold<'_> {
    fn drop(&mut self) {
        self.wal.removal.lock().holds -= 1;
        // What fails is tried again after the next flush.
        let _ = self.wal.remove_unneeded();
    }
}
