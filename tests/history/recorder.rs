//! Records calls and answers, and their times.
//!
//! One counter for all threads stamps every call before it and every return after it: of two
//! operations whose stamps do not overlap, the first one had ended when the second one began.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite::{Error, ErrorKind, Result};

use super::atomic_row::{Answer, Operation};

/// The return time of an operation that never returned.
pub(crate) const NEVER: u64 = u64::MAX;

/// One operation on one row.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) row: String,
    pub(crate) thread: usize,
    /// How the store was called.
    pub(crate) call: &'static str,
    pub(crate) operation: Operation,
    pub(crate) answer: Answer,
    pub(crate) invoked: u64,
    pub(crate) returned: u64,
}

impl Event {
    pub(crate) fn has_returned(&self) -> bool {
        self.returned != NEVER
    }
}

/// The records of one thread.
#[derive(Debug)]
pub(crate) struct Recorder<'a> {
    time: &'a AtomicU64,
    thread: usize,
    pub(crate) events: Vec<Event>,
    /// Errors that the store answered with.
    pub(crate) errors: Vec<Error>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(time: &'a AtomicU64, thread: usize) -> Self {
        Self { time, thread, events: Vec::new(), errors: Vec::new() }
    }

    pub(crate) fn now(&self) -> u64 {
        self.time.fetch_add(1, Ordering::SeqCst)
    }

    /// An operation that began at `invoked` and has now ended. Returns its answer.
    ///
    /// A refused operation counts as never requested.
    pub(crate) fn record(
        &mut self,
        call: &'static str,
        row: &str,
        operation: Operation,
        invoked: u64,
        result: Result<Answer>,
    ) -> Option<&Answer> {
        let returned = self.now();
        match result {
            Ok(answer) => {
                let (row, thread) = (row.to_owned(), self.thread);
                self.events.push(Event { row, thread, call, operation, answer, invoked, returned });
                return self.events.last().map(|event| &event.answer);
            }
            Err(error) => {
                if may_have_happened(&error) {
                    self.record_lost(call, row, operation, invoked);
                }
                self.errors.push(error);
            }
        }
        None
    }

    /// An operation whose outcome is unknown.
    pub(crate) fn record_lost(
        &mut self,
        call: &'static str,
        row: &str,
        operation: Operation,
        invoked: u64,
    ) {
        let (row, thread) = (row.to_owned(), self.thread);
        let (answer, returned) = (Answer::Unknown, NEVER);
        self.events.push(Event { row, thread, call, operation, answer, invoked, returned });
    }

    /// Whether continuing is pointless.
    pub(crate) fn has_failed(&self) -> bool {
        !self.errors.is_empty()
    }
}

/// Whether a write that ended like this may take effect later: its log failed during it.
fn may_have_happened(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Closed | ErrorKind::Io)
}

/// The history of each row.
pub(crate) fn by_row(events: Vec<Event>) -> BTreeMap<String, Vec<Event>> {
    let mut rows: BTreeMap<String, Vec<Event>> = BTreeMap::new();
    for event in events {
        rows.entry(event.row.clone()).or_default().push(event);
    }
    rows
}
