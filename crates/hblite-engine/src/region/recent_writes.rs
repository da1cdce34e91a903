//! Traces of the latest writes to the rows of one lock: which timestamps later writes must not
//! have.
//!
//! A trace matters only until the clock has passed its timestamp, within a few milliseconds, so a
//! fixed number of them suffices for any number of rows. If one that still matters has to make room
//! for another, its timestamp is remembered: until then, a row without a trace is a row of which
//! nothing is known, and the caller reads it.
//!
//! A trace is one number, zero if there is none:
//!
//! ```text
//! timestamp (ms) | part of the row's hash | of the column's | subject | set | written
//!        42 bits |                      7 |              10 |       2 |   1 |       2
//! ```
//!
//! What has the same hashes shares its traces. Writes to it may then get later timestamps than
//! necessary, never earlier ones.
//!
//! Threads: any.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::row_hash::row_hash;

/// With the lock and [`RecentWrites::lost_until`], these fill a line of memory.
const TRACES: usize = 6;

const WRITE_BITS: u32 = 2;
const SUBJECT_BITS: u32 = 2 + 1;
const COLUMN_BITS: u32 = 10;
const ROW_BITS: u32 = 7;
const ROW_SHIFT: u32 = WRITE_BITS + SUBJECT_BITS + COLUMN_BITS;
const TIMESTAMP_SHIFT: u32 = ROW_SHIFT + ROW_BITS;
/// The first timestamp, in the year 2109, that a trace cannot hold.
const TIMESTAMP_END: i64 = 1 << (u64::BITS - TIMESTAMP_SHIFT);

/// What a write did at a timestamp. Of two with the same timestamp, the greater one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Written {
    /// It put a value.
    Value,
    /// It put a counter's or an append's value.
    Counter,
    /// It wrote a delete marker.
    Marker,
}

/// A write that later ones have to take into account. Ordered by timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Trace {
    pub(super) timestamp: i64,
    pub(super) written: Written,
}

/// What of a row a trace is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Subject(u64);

impl Subject {
    /// One column, as [`hblite_model::cell::key::column`] returns it.
    #[inline]
    pub(super) fn column(row: u64, column: &[u8]) -> Self {
        Self::new(0, row, row_hash(column))
    }

    /// All columns, because a write had too many for traces of their own.
    #[inline]
    pub(super) fn any_column(row: u64) -> Self {
        Self::new(1, row, row << ROW_BITS)
    }

    /// Delete markers of families.
    #[inline]
    pub(super) fn families(row: u64) -> Self {
        Self::new(2, row, row << ROW_BITS)
    }

    #[inline]
    fn new(subject: u64, row: u64, column: u64) -> Self {
        let column = column >> (u64::BITS - COLUMN_BITS);
        Self(row_part(row) | (column << SUBJECT_BITS | subject << 1 | 1) << WRITE_BITS)
    }

    #[inline]
    fn of(trace: u64) -> Self {
        Self(trace & ((1 << TIMESTAMP_SHIFT) - (1 << WRITE_BITS)))
    }

    fn encode(self, trace: Trace) -> u64 {
        (trace.timestamp as u64) << TIMESTAMP_SHIFT | self.0 | trace.written as u64
    }
}

/// What the traces of a row have in common.
#[inline]
fn row_part(row: u64) -> u64 {
    row >> (u64::BITS - ROW_BITS) << ROW_SHIFT
}

#[inline]
fn timestamp_of(trace: u64) -> i64 {
    (trace >> TIMESTAMP_SHIFT) as i64
}

fn decode(trace: u64) -> Trace {
    let written = match trace & ((1 << WRITE_BITS) - 1) {
        0 => Written::Value,
        1 => Written::Counter,
        _ => Written::Marker,
    };
    Trace { timestamp: timestamp_of(trace), written }
}

/// Traces of writes to the rows of one lock.
///
/// Invariant: a trace is there, or `lost_until` is not before its timestamp.
#[derive(Debug)]
pub(super) struct RecentWrites {
    traces: [AtomicU64; TRACES],
    lost_until: AtomicI64,
}

impl Default for RecentWrites {
    fn default() -> Self {
        Self { traces: Default::default(), lost_until: AtomicI64::new(i64::MIN) }
    }
}

impl RecentWrites {
    /// The latest trace of the row with this hash that is not older than `since` and concerns the
    /// caller.
    #[inline]
    pub(super) fn latest(
        &self,
        since: i64,
        row: u64,
        concerns: impl Fn(Subject) -> bool,
    ) -> Option<Trace> {
        const ROW_MASK: u64 = (1 << TIMESTAMP_SHIFT) - (1 << ROW_SHIFT);
        let mut latest = None;
        for trace in &self.traces {
            let trace = trace.load(Ordering::Acquire);
            let is_of_row = (trace ^ row_part(row)) & ROW_MASK == 0 && trace != 0;
            if is_of_row && timestamp_of(trace) >= since && concerns(Subject::of(trace)) {
                latest = latest.max(Some(decode(trace)));
            }
        }
        latest
    }

    /// Up to this timestamp, there may have been writes whose traces are lost.
    #[inline]
    pub(super) fn lost_until(&self) -> i64 {
        self.lost_until.load(Ordering::Acquire)
    }

    /// Leaves a trace. It may take the place of one before `now`, which no longer matters.
    #[inline]
    pub(super) fn leave(&self, subject: Subject, trace: Trace, now: i64) {
        if !(0..TIMESTAMP_END).contains(&trace.timestamp) {
            self.lost_until.fetch_max(trace.timestamp, Ordering::AcqRel);
            return;
        }
        let new = subject.encode(trace);
        loop {
            let mut oldest = (u64::MAX, &self.traces[0]);
            let mut mine = None;
            for place in &self.traces {
                let present = place.load(Ordering::Acquire);
                if Subject::of(present) == subject {
                    mine = Some((present, place));
                    break;
                }
                if present < oldest.0 {
                    oldest = (present, place);
                }
            }
            let (present, place) = match mine {
                // The later one is the greater number.
                Some((present, _)) if present >= new => return,
                Some(mine) => mine,
                None => oldest,
            };
            if mine.is_none() && timestamp_of(present) >= now && present != 0 {
                // Before the trace is gone: whoever misses it sees this.
                self.lost_until.fetch_max(timestamp_of(present), Ordering::AcqRel);
            }
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            if place.compare_exchange(present, new, success, failure).is_ok() {
                return;
            }
        }
    }

    /// Forgets everything, because the clock has jumped.
    pub(super) fn forget(&self) {
        self.traces.iter().for_each(|trace| trace.store(0, Ordering::Release));
        self.lost_until.store(i64::MIN, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(timestamp: i64) -> Trace {
        Trace { timestamp, written: Written::Value }
    }

    #[test]
    fn the_latest_trace_of_a_subject_stays() {
        let writes = RecentWrites::default();
        let row = row_hash(b"row");
        let (column, families) = (Subject::column(row, b"\x01fq"), Subject::families(row));
        let latest = |since| writes.latest(since, row, |subject| subject == column);
        assert_eq!(latest(0), None);
        writes.leave(column, value(7), 7);
        assert_eq!((latest(7), latest(8)), (Some(value(7)), None));
        let marker = Trace { timestamp: 7, written: Written::Marker };
        writes.leave(column, marker, 7);
        writes.leave(column, value(6), 6);
        writes.leave(families, value(9), 7);
        assert_eq!(latest(7), Some(marker));
        assert_eq!(writes.latest(9, row, |_| true), Some(value(9)));
        assert_eq!(writes.latest(10, row, |_| true), None);
        assert_eq!(writes.latest(0, !row, |_| true), None);
        assert_eq!(writes.lost_until(), i64::MIN);
        writes.forget();
        assert_eq!(latest(0), None);
    }

    #[test]
    fn of_two_subjects_with_one_timestamp_the_marker_counts() {
        let row = row_hash(b"row");
        let marker = Trace { timestamp: 7, written: Written::Marker };
        for column in [b"\x01fa", b"\x01fb", b"\x01fc", b"\x01fd"] {
            let writes = RecentWrites::default();
            writes.leave(Subject::families(row), marker, 7);
            writes.leave(Subject::column(row, column), value(7), 7);
            assert_eq!(writes.latest(7, row, |_| true), Some(marker));
        }
    }

    #[test]
    fn what_is_lost_is_known_to_be_lost() {
        let writes = RecentWrites::default();
        let row = |number: u64| row_hash(&number.to_be_bytes());
        let subject = |number| Subject::column(row(number), b"\x01fq");
        for number in 0..100 {
            let timestamp = 1_000 + number as i64 % 7;
            writes.leave(subject(number), value(timestamp), 1_000);
            for earlier in 0..=number {
                let timestamp = 1_000 + earlier as i64 % 7;
                let is_it = |found| found == subject(earlier);
                let found = writes.latest(1_000, row(earlier), is_it);
                let is_known = found.is_some_and(|trace| trace.timestamp >= timestamp);
                assert!(is_known || writes.lost_until() >= timestamp, "{earlier} of {number}");
            }
        }
        // Traces that no longer matter make room.
        writes.forget();
        for number in 0..100 {
            writes.leave(subject(number), value(number as i64), number as i64);
        }
        assert_eq!(writes.lost_until(), i64::MIN);
    }

    #[test]
    fn times_that_no_trace_can_hold_count_as_lost() {
        for timestamp in [-5, i64::MIN + 1, TIMESTAMP_END, i64::MAX - 1] {
            let writes = RecentWrites::default();
            writes.leave(Subject::families(1), value(timestamp), timestamp);
            assert_eq!(writes.lost_until(), timestamp);
        }
        let writes = RecentWrites::default();
        writes.leave(Subject::families(1), value(TIMESTAMP_END - 1), 0);
        let found = writes.latest(0, 1, |subject| subject == Subject::families(1));
        assert_eq!(found, Some(value(TIMESTAMP_END - 1)));
    }
}
