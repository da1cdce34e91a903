//! Decides whether the recorded operations can have left the row that was found.
//!
//! *Strict*: every operation that was acknowledged happened, in an order that explains all answers
//! and, at its end, the row. *A prefix*: the same up to some moment between two times; what was
//! called later never happened, and what was in progress may have. It can be limited to some
//! columns: without the log, each family of a row is in the state of its own last flush.

use std::collections::BTreeSet;

use crate::history::atomic_row::{Answer, Column, Operation, Row};
use crate::history::checker::{STEPS_MAX, Verdict, check};
use crate::history::recorder::{Event, NEVER};
use crate::history::report::Unexplained;

/// How much of a history must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// All that was acknowledged.
    All,
    /// All up to a moment not before the first and not after the second.
    Prefix(u64, u64),
}

/// The history as it was right after the stamp `moment`: operations that return later are in
/// progress.
pub(crate) fn until(events: &[Event], moment: u64) -> Vec<Event> {
    let begun = events.iter().filter(|event| event.invoked <= moment).cloned();
    let cut = |event: Event| match event.returned > moment {
        true => Event { answer: Answer::Unknown, returned: NEVER, ..event },
        false => event,
    };
    begun.map(cut).collect()
}

/// What was found in some columns of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) columns: &'a [Column],
    pub(crate) row: &'a Row,
}

/// Why `found` cannot be what these operations left of the row.
pub(crate) fn explain(
    start: &Row,
    events: &[Event],
    found: Found<'_>,
    kept: Kept,
) -> Result<(), String> {
    let Some(at) = obstacle(start, events, found, kept) else { return Ok(()) };
    let events = with_read(events, found);
    Err(format!("{kept:?}\n{}", Unexplained::shrink(start, &events, at).show()))
}

fn obstacle(start: &Row, events: &[Event], found: Found<'_>, kept: Kept) -> Option<u64> {
    let try_with = |events: &[Event]| match check(start, &with_read(events, found), STEPS_MAX) {
        Verdict::Impossible { at } => Some(at),
        // A search that takes too long proves nothing.
        Verdict::Explained | Verdict::GaveUp { .. } => None,
    };
    let Kept::Prefix(from, to) = kept else { return try_with(events) };
    let stamps = events.iter().flat_map(|event| [event.invoked, event.returned]);
    let mut moments: BTreeSet<u64> = stamps.filter(|at| (from..to).contains(at)).collect();
    moments.extend([from, to]);
    let mut last = None;
    for moment in moments.into_iter().rev() {
        last = Some(try_with(&until(events, moment))?);
    }
    last
}

/// The history with a final read of the row.
fn with_read(events: &[Event], found: Found<'_>) -> Vec<Event> {
    let row = found.row.iter().filter(|(column, _)| found.columns.contains(column));
    let row = row.map(|(column, value)| (*column, value.clone())).collect();
    let mut events = events.to_vec();
    events.push(Event {
        row: String::new(),
        thread: usize::MAX,
        call: "found",
        operation: Operation::Read(found.columns.to_vec()),
        answer: Answer::Row(row),
        invoked: NEVER - 2,
        returned: NEVER - 1,
    });
    events
}
