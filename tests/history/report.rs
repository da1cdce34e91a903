//! The smallest part of a row's history that no order explains, as a table.
//!
//! Every step of the shrinking produces a history that is impossible only if the whole one is:
//!
//! 1. nothing that was called after the return that no order gets past
//! 2. nothing from before a read of the whole row with no write in progress: the row is known there
//! 3. no read that is not needed
//! 4. of writes that are not needed in their place only that they may have happened, some time
//!    after their call

use std::fmt::Write as _;

use super::atomic_row::{Answer, COLUMNS, Change, Operation, Row, is_read, show};
use super::checker::{Verdict, check};
use super::recorder::{Event, NEVER};

/// Steps that one check of a smaller history may take.
const STEPS_MAX: usize = 20_000;

/// Part of a history that no order explains.
#[derive(Debug)]
pub(crate) struct Unexplained {
    /// The row before it.
    pub(crate) start: Row,
    /// By the time of their calls.
    pub(crate) events: Vec<Event>,
}

impl Unexplained {
    /// Shrinks a history that no order explains beyond the return `at`.
    pub(crate) fn shrink(start: &Row, events: &[Event], mut at: u64) -> Self {
        let mut found = Self { start: start.clone(), events: events.to_vec() };
        found.events.sort_by_key(|event| event.invoked);
        found.end_early(at);
        while let Verdict::Impossible { at: earlier } = check(start, &found.events, STEPS_MAX)
            && earlier < at
        {
            at = earlier;
            found.end_early(at);
        }
        found.begin_late();
        if !found.is_proven() {
            return found;
        }
        found.drop_reads();
        found.loosen_writes();
        // The rest may end even earlier.
        let returns = found.events.iter().map(|event| event.returned);
        found.end_early(returns.filter(|at| *at != NEVER).max().unwrap_or(0));
        found
    }

    fn end_early(&mut self, at: u64) {
        self.events.retain(|event| event.invoked < at);
        for event in self.events.iter_mut().filter(|event| event.returned > at) {
            event.returned = NEVER;
        }
    }

    /// Whether it is certain, and not only likely, that no order explains it.
    pub(crate) fn is_proven(&self) -> bool {
        Self::is_impossible(&self.start, &self.events)
    }

    fn is_impossible(start: &Row, events: &[Event]) -> bool {
        matches!(check(start, events, STEPS_MAX), Verdict::Impossible { .. })
    }

    fn begin_late(&mut self) {
        for read in self.events.iter().rev() {
            let (Operation::Read(columns), Answer::Row(row)) = (&read.operation, &read.answer)
            else {
                continue;
            };
            let is_quiet = self.events.iter().all(|event| {
                let is_apart = event.returned < read.invoked || event.invoked > read.returned;
                is_apart || is_read(&event.operation, &event.answer)
            });
            if columns.len() < COLUMNS.len() || !is_quiet {
                continue;
            }
            let after = |event: &&Event| event.invoked > read.returned;
            let rest: Vec<Event> = self.events.iter().filter(after).cloned().collect();
            if Self::is_impossible(row, &rest) {
                *self = Self { start: row.clone(), events: rest };
                return;
            }
        }
    }

    fn drop_reads(&mut self) {
        for at in (0..self.events.len()).rev() {
            let event = &self.events[at];
            if is_read(&event.operation, &event.answer) {
                let mut fewer = self.events.clone();
                fewer.remove(at);
                if Self::is_impossible(&self.start, &fewer) {
                    self.events = fewer;
                }
            }
        }
    }

    fn loosen_writes(&mut self) {
        for at in 0..self.events.len() {
            let mut looser = self.events.clone();
            if !is_read(&looser[at].operation, &looser[at].answer) {
                looser[at].answer = Answer::Unknown;
                looser[at].returned = NEVER;
                if Self::is_impossible(&self.start, &looser) {
                    self.events = looser;
                }
            }
        }
    }

    /// Whether the event is a put that may have happened at any time and that no operation saw.
    fn is_irrelevant(&self, event: &Event) -> bool {
        let Operation::Write(changes) = &event.operation else { return false };
        let is_unseen = |change: &Change| match change {
            Change::Put(column, value) => {
                !self.events.iter().any(|event| mentions(event, column, value))
            }
            _ => false,
        };
        event.answer == Answer::Unknown && changes.iter().all(is_unseen)
    }

    /// The table.
    pub(crate) fn show(&self) -> String {
        let head = ["call", "return", "thread", "operation", "answer"].map(str::to_owned);
        let lines = self.events.iter().filter(|event| !self.is_irrelevant(event)).map(|event| {
            let returned = match event.answer {
                Answer::Unknown => "?".to_owned(),
                _ if !event.has_returned() => "later".to_owned(),
                _ => event.returned.to_string(),
            };
            [
                event.invoked.to_string(),
                returned,
                event.thread.to_string(),
                format!("{} {}", event.call, show_operation(&event.operation)),
                show_answer(&event.answer),
            ]
        });
        let lines: Vec<[String; 5]> = [head].into_iter().chain(lines).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
        let mut text = format!("the row at first: {}\n", show_row(&self.start));
        for [call, returned, thread, operation, answer] in &lines {
            let _ = writeln!(
                text,
                "{call:>0$}  {returned:>1$}  {thread:>2$}  {operation:3$}  {answer}",
                width(0),
                width(1),
                width(2),
                width(3)
            );
        }
        if self.events.iter().any(|event| event.answer == Answer::Unknown) {
            text.push_str("(?: even if this happened any time after its call, or never)\n");
        }
        text
    }
}

fn mentions(event: &Event, column: &str, value: &[u8]) -> bool {
    let has = |row: &Row| row.get(column).is_some_and(|seen| seen.starts_with(value));
    let is_expected = match &event.operation {
        Operation::Check { column: checked, expected, .. } => {
            *checked == column && expected.as_deref() == Some(value)
        }
        Operation::Read(_) | Operation::Write(_) => false,
    };
    is_expected || matches!(&event.answer, Answer::Row(row) | Answer::Checked(_, row) if has(row))
}

fn show_operation(operation: &Operation) -> String {
    match operation {
        Operation::Read(columns) if columns.len() == COLUMNS.len() => "row".to_owned(),
        Operation::Read(columns) => columns.join(" "),
        Operation::Write(changes) => show_changes(changes),
        Operation::Check { column, expected, changes } => {
            let expected = expected.as_ref().map_or("absent".into(), |value| show(column, value));
            format!("if {column} is {expected}: {}", show_changes(changes))
        }
    }
}

fn show_changes(changes: &[Change]) -> String {
    let texts: Vec<String> = changes
        .iter()
        .map(|change| match change {
            Change::Put(column, value) => format!("{column}={}", show(column, value)),
            Change::DeleteColumn(column) => format!("delete {column}"),
            Change::DeleteRow => "delete row".to_owned(),
            Change::Increment(column, amount) => format!("{column}+{amount}"),
            Change::Append(column, value) => format!("{column}&{}", show(column, value)),
        })
        .collect();
    texts.join(" ")
}

fn show_answer(answer: &Answer) -> String {
    match answer {
        Answer::Unknown => "?".to_owned(),
        Answer::Done => "done".to_owned(),
        Answer::Row(row) => show_row(row),
        Answer::Checked(false, _) => "does not hold".to_owned(),
        Answer::Checked(true, row) if row.is_empty() => "holds".to_owned(),
        Answer::Checked(true, row) => format!("holds, {}", show_row(row)),
    }
}

fn show_row(row: &Row) -> String {
    if row.is_empty() {
        return "absent".to_owned();
    }
    let texts = row.iter().map(|(column, value)| format!("{column}={}", show(column, value)));
    texts.collect::<Vec<_>>().join(" ")
}

/// Checks the history of one row from its beginning.
///
/// # Panics
/// With the table if no order explains it.
pub(crate) fn assert_explained(what: &str, row: &str, events: &[Event]) {
    let start = Row::default();
    let at = match check(&start, events, super::checker::STEPS_MAX) {
        Verdict::Explained => return,
        Verdict::Impossible { at } | Verdict::GaveUp { at } => at,
    };
    let found = Unexplained::shrink(&start, events, at);
    let claim = if found.is_proven() { "no order explains" } else { "no order was found for" };
    panic!("{what}: {claim} what was seen of row {row} up to {at}\n{}", found.show());
}
