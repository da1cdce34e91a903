//! Checks whether some order of a row's operations explains all their answers.
//!
//! The algorithm of Wing and Gong with Lowe's memory: try operations one after the other on a row
//! that exists in memory only, depth first. An operation may be next if none of those that are left
//! returned before it was called. Where the same operations led to the same row before, there is
//! nothing new to find. Three short cuts keep sixteen threads on one row affordable:
//!
//! - A read that fits is taken immediately, without alternatives: whatever explains the rest also
//!   explains it with this one first.
//! - A value that is written only once must not be overwritten while a remaining operation has seen
//!   it.
//! - An operation that never returned is left for later where the row is the same without it.

use std::collections::{HashMap, HashSet};

use super::atomic_row::{Answer, Change, Column, Operation, Row, is_read, step};
use super::recorder::Event;

/// Steps after which the search gives up. An explainable history takes a few for each event.
pub(crate) const STEPS_MAX: usize = 200_000;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Explained,
    /// No order gets past the return at this time.
    Impossible {
        at: u64,
    },
    /// The search took too long, and did not get past the return at this time.
    GaveUp {
        at: u64,
    },
}

/// Looks for an order of `events`, all of one row, from `start` on.
///
/// An operation that never returned need not have happened.
pub(crate) fn check(start: &Row, events: &[Event], steps_max: usize) -> Verdict {
    let mut events: Vec<&Event> = events.iter().collect();
    events.sort_by_key(|event| event.invoked);
    Search {
        left_to_return: events.iter().filter(|event| event.has_returned()).count(),
        pending: (0..events.len()).filter(|at| !events[*at].has_returned()).collect(),
        rank: ranks(&events),
        is_taken: vec![false; events.len()],
        first: 0,
        row: start.clone(),
        path: Vec::new(),
        seen: HashMap::new(),
        seers: seers(start, &events),
        furthest: 0,
        events,
    }
    .run(steps_max)
}

/// The place of each event by the time of its return.
fn ranks(events: &[&Event]) -> Vec<usize> {
    let mut by_return: Vec<usize> = (0..events.len()).collect();
    by_return.sort_by_key(|event| events[*event].returned);
    let mut ranks = vec![0; events.len()];
    for (rank, event) in by_return.into_iter().enumerate() {
        ranks[event] = rank;
    }
    ranks
}

/// A value of a column.
type Cell<'a> = (Column, &'a [u8]);

/// The operations that saw each value that is written once: an overwritten value never returns.
fn seers<'a>(start: &'a Row, events: &[&'a Event]) -> HashMap<Cell<'a>, Vec<usize>> {
    let mut writes: HashMap<Cell<'_>, usize> = HashMap::new();
    for (column, value) in start {
        *writes.entry((column, value)).or_default() += 1;
    }
    let mut computed: HashSet<Column> = HashSet::new();
    for change in events.iter().flat_map(|event| event.operation.changes()) {
        match change {
            Change::Put(column, value) => *writes.entry((column, value)).or_default() += 1,
            Change::Increment(column, _) | Change::Append(column, _) => {
                computed.insert(column);
            }
            Change::DeleteColumn(_) | Change::DeleteRow => {}
        }
    }
    let mut seers: HashMap<Cell<'_>, Vec<usize>> = HashMap::new();
    for (at, event) in events.iter().enumerate().filter(|(_, event)| event.has_returned()) {
        for cell in seen_cells(event) {
            if writes.get(&cell) == Some(&1) && !computed.contains(cell.0) {
                seers.entry(cell).or_default().push(at);
            }
        }
    }
    seers
}

/// The cells that must exist for the event to fit.
fn seen_cells(event: &Event) -> Vec<Cell<'_>> {
    match (&event.operation, &event.answer) {
        (Operation::Read(_), Answer::Row(row)) => {
            row.iter().map(|(column, value)| (*column, value.as_slice())).collect()
        }
        (Operation::Check { column, expected: Some(value), .. }, Answer::Checked(true, _)) => {
            vec![(column, value)]
        }
        _ => Vec::new(),
    }
}

struct Search<'a> {
    /// By the time of their call.
    events: Vec<&'a Event>,
    /// The place of each event by the time of its return: the first to return was most likely
    /// first.
    rank: Vec<usize>,
    is_taken: Vec<bool>,
    /// All events before this one are taken.
    first: usize,
    /// How many that returned are not taken.
    left_to_return: usize,
    /// Those that never returned.
    pending: Vec<usize>,
    row: Row,
    path: Vec<Taken>,
    /// Which events that returned were taken (all before the first index, and the others), and the
    /// row then; with which of the others.
    seen: HashMap<(usize, Vec<usize>, Row), Vec<Vec<usize>>>,
    seers: HashMap<Cell<'a>, Vec<usize>>,
    /// The latest return that stopped the search.
    furthest: u64,
}

struct Taken {
    event: usize,
    row_before: Row,
    has_alternatives: bool,
}

impl Search<'_> {
    fn run(mut self, steps_max: usize) -> Verdict {
        let mut from = 0;
        for _ in 0..steps_max {
            if self.left_to_return == 0 {
                return Verdict::Explained;
            }
            if let Some(next) = self.advance(from) {
                from = next;
                continue;
            }
            self.note_obstacle();
            match self.go_back() {
                Some(next) => from = next,
                None => return Verdict::Impossible { at: self.furthest },
            }
        }
        Verdict::GaveUp { at: self.furthest }
    }

    /// Takes an event, if one is possible; those before `from` were tried. Returns where the search
    /// continues.
    fn advance(&mut self, from: usize) -> Option<usize> {
        let (mut candidates, end) = self.candidates();
        if from == 0
            && let Some(event) = candidates.iter().find(|event| self.is_idle(**event))
        {
            self.take(*event, self.row.clone(), false);
            return Some(0);
        }
        candidates.retain(|event| self.rank[*event] >= from);
        candidates.sort_unstable_by_key(|event| self.rank[*event]);
        for event in candidates {
            let Some(next) = self.after(event) else { continue };
            if !self.events[event].has_returned() && next == self.row {
                continue; // It may as well happen later, or never.
            }
            let row_before = self.row.clone();
            self.take(event, next, true);
            if let Some(too_late) = self.unseen_return(&row_before) {
                self.furthest = self.furthest.max(too_late);
                self.undo();
                continue;
            }
            if self.is_new(end) {
                return Some(0);
            }
            self.undo();
        }
        None
    }

    /// Whether the search was not here before, also with fewer of the events that never returned:
    /// those may still happen. None at or after `end` is taken.
    fn is_new(&mut self, end: usize) -> bool {
        let (events, is_taken) = (&self.events, &self.is_taken);
        let mut returned = (self.first..end).filter(|at| events[*at].has_returned());
        let first = returned.find(|at| !is_taken[*at]).unwrap_or(end);
        let others = returned.filter(|at| is_taken[*at]).collect();
        let pending: Vec<usize> = self.pending.iter().copied().filter(|at| is_taken[*at]).collect();
        let known = self.seen.entry((first, others, self.row.clone())).or_default();
        if known.iter().any(|fewer| fewer.iter().all(|at| pending.contains(at))) {
            return false;
        }
        known.push(pending);
        true
    }

    /// Whether a value is gone that a remaining operation must see. Returns the earliest return of
    /// the operations that can no longer be explained.
    fn unseen_return(&self, row_before: &Row) -> Option<u64> {
        let gone = row_before.iter().filter(|(column, value)| self.row.get(*column) != Some(value));
        let seers = gone.filter_map(|(column, value)| self.seers.get(&(*column, value.as_slice())));
        let left = seers.flatten().filter(|event| !self.is_taken[**event]);
        left.map(|event| self.events[*event].returned).min()
    }

    /// What may be next: nothing that is left returned before it was called. And where those end
    /// that could be taken so far.
    fn candidates(&self) -> (Vec<usize>, usize) {
        let mut found = Vec::new();
        let mut earliest_return = u64::MAX;
        for at in (self.first..self.events.len()).filter(|at| !self.is_taken[*at]) {
            let event = self.events[at];
            if event.invoked > earliest_return {
                return (found, at);
            }
            earliest_return = earliest_return.min(event.returned);
            found.push(at);
        }
        (found, self.events.len())
    }

    fn after(&self, event: usize) -> Option<Row> {
        step(&self.row, &self.events[event].operation, &self.events[event].answer)
    }

    /// Whether the event is a read that fits here. (A write that happens to change nothing here
    /// might have to change something later.)
    fn is_idle(&self, event: usize) -> bool {
        let Event { operation, answer, .. } = self.events[event];
        self.events[event].has_returned()
            && is_read(operation, answer)
            && self.after(event).is_some()
    }

    fn take(&mut self, event: usize, row: Row, has_alternatives: bool) {
        let row_before = std::mem::replace(&mut self.row, row);
        self.path.push(Taken { event, row_before, has_alternatives });
        self.is_taken[event] = true;
        self.left_to_return -= usize::from(self.events[event].has_returned());
        while self.is_taken.get(self.first) == Some(&true) {
            self.first += 1;
        }
    }

    /// Undoes the last step. Returns the event, and whether there are alternatives to it.
    fn undo(&mut self) -> Option<(usize, bool)> {
        let Taken { event, row_before, has_alternatives } = self.path.pop()?;
        self.row = row_before;
        self.is_taken[event] = false;
        self.left_to_return += usize::from(self.events[event].has_returned());
        self.first = self.first.min(event);
        Some((event, has_alternatives))
    }

    /// Undoes steps up to and including one that has alternatives. Returns where they begin.
    fn go_back(&mut self) -> Option<usize> {
        loop {
            if let (event, true) = self.undo()? {
                return Some(self.rank[event] + 1);
            }
        }
    }

    /// The operation that returns first of those that are left cannot be explained here.
    fn note_obstacle(&mut self) {
        let left = (self.first..self.events.len()).filter(|at| !self.is_taken[*at]);
        let obstacle = left.map(|at| self.events[at].returned).min().unwrap_or(0);
        self.furthest = self.furthest.max(obstacle);
    }
}
