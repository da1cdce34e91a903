//! What the threads that wait for the log need to know: who waits, and what failed.
//!
//! Threads: under a lock of [`super::syncer`], which is held for moments.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use hblite_model::{Error, Exception};

use super::output::Failure;

/// Number of undone ranges of records to remember. Each costs at least one failed write, so no
/// thread sleeps so long that its range is forgotten; if one does, it gets an error.
const DROPPED_MAX: usize = 1000;

/// Who waits for what, and what failed.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) waiting_for_write: usize,
    pub(super) waiting_for_sync: usize,
    pub(super) failure: Option<String>,
    /// Records that are not in the log because their write failed, oldest first.
    dropped: VecDeque<Dropped>,
}

/// A range of records that could not be written, and were undone.
#[derive(Debug)]
struct Dropped {
    records: Range<u64>,
    failure: Failure,
}

impl Progress {
    /// Notes that these records were undone. Returns the end of the last record before them that
    /// was not.
    pub(super) fn drop_records(&mut self, records: Range<u64>, failure: &Failure) -> u64 {
        if let Some(last) = self.dropped.back_mut().filter(|d| d.records.end == records.start) {
            last.records.end = records.end;
            last.failure = failure.clone();
            return last.records.start;
        }
        if self.dropped.len() == DROPPED_MAX {
            self.dropped.pop_front();
        }
        let start = records.start;
        self.dropped.push_back(Dropped { records, failure: failure.clone() });
        start
    }

    /// Why the record that ends at `position` is not in the log, if it was undone.
    pub(super) fn dropped(&self, position: u64) -> Option<Error> {
        // For the oldest ones only the end is known: see DROPPED_MAX.
        let first = self.dropped.front().filter(|first| position <= first.records.start);
        let is_hit = |dropped: &&Dropped| {
            dropped.records.start < position && position <= dropped.records.end
        };
        let forgotten = first.filter(|_| self.dropped.len() == DROPPED_MAX);
        let Failure { what, is_full, .. } =
            &forgotten.or_else(|| self.dropped.iter().find(is_hit))?.failure;
        let advice = if *is_full { "free some space, and try again" } else { "try again" };
        let message = format!(
            "nothing was written, because the write-ahead log could not be ({what}); {advice}"
        );
        let error = Error::new(Exception::RegionTooBusy, message);
        Some(match is_full {
            true => error.with_source(io::Error::from(io::ErrorKind::StorageFull)),
            false => error,
        })
    }
}
