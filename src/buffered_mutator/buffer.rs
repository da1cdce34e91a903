//! The buffered writes, and sending them: shared by the caller and the timer.
//!
//! Order: writes are sent in the order they were given, because sending holds the lock.

use hblite_env::sync::{Condvar, Mutex};
use hblite_env::time::Instant;
use hblite_model::{Action, Mutation, Result};

use super::failed::{FailedMutation, FailedMutations};
use crate::Table;

/// The caller's listener: takes the writes that failed, and returns those that it leaves to the
/// caller of the buffer.
pub(super) type Listener =
    Box<dyn FnMut(FailedMutations) -> std::result::Result<(), FailedMutations> + Send>;

/// A buffer with its lock.
pub(super) struct Buffer {
    pub(super) table: Table,
    pub(super) state: Mutex<State>,
    /// Notified when the first write arrives and when the buffer is closed.
    pub(super) changed: Condvar,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) writes: Vec<Mutation>,
    pub(super) size_bytes: usize,
    /// When the first of the writes arrived.
    pub(super) oldest: Option<Instant>,
    pub(super) is_closed: bool,
    pub(super) listener: Option<Listener>,
    /// What failed since an error was last returned to the caller.
    failed: Option<FailedMutations>,
}

impl Buffer {
    pub(super) fn new(table: Table) -> Self {
        Self { table, state: Mutex::new(State::default()), changed: Condvar::new() }
    }

    /// Adds a write, and sends all of them if `is_full` returns true for their number and bytes.
    pub(super) fn push(&self, mutation: Mutation, is_full: impl Fn(usize, usize) -> bool) {
        let mut state = self.state.lock();
        state.size_bytes += mutation.cells().size_bytes();
        state.writes.push(mutation);
        if is_full(state.writes.len(), state.size_bytes) {
            state.send(&self.table);
        } else if state.oldest.is_none() {
            state.oldest = Some(Instant::now());
            self.changed.notify_all();
        }
    }

    /// Sends all writes.
    pub(super) fn flush(&self) {
        self.state.lock().send(&self.table);
    }

    /// Returns what failed since the last call.
    ///
    /// # Errors
    /// The writes that failed.
    pub(super) fn report(&self) -> std::result::Result<(), FailedMutations> {
        self.state.lock().failed.take().map_or(Ok(()), Err)
    }
}

impl State {
    /// Sends all writes. Failures go to the listener, or are kept for the caller.
    pub(super) fn send(&mut self, table: &Table) {
        let writes = std::mem::take(&mut self.writes);
        (self.size_bytes, self.oldest) = (0, None);
        if writes.is_empty() {
            return;
        }
        let Some(failed) = write(table, writes) else { return };
        let left = match &mut self.listener {
            Some(listener) => listener(failed),
            None => Err(failed),
        };
        match (left, &mut self.failed) {
            (Ok(()), _) => {}
            (Err(later), Some(failed)) => failed.join(later),
            (Err(failed), none) => *none = Some(failed),
        }
    }
}

/// Writes in one batch. Returns what failed.
fn write(table: &Table, writes: Vec<Mutation>) -> Option<FailedMutations> {
    let count = writes.len();
    let actions: Vec<Action> = writes.into_iter().map(Action::Mutation).collect();
    let results = results_of(table, &actions);
    assert_eq!(results.len(), count, "a batch has a result per action");
    let failed = actions.into_iter().zip(results).filter_map(|(action, result)| match action {
        Action::Mutation(mutation) => Some(FailedMutation { mutation, error: result.err()? }),
        _ => None,
    });
    FailedMutations::of(failed.collect(), count)
}

/// One result per action. A batch is refused as a whole if one of its actions can never succeed;
/// each action is then sent alone, so that the others are not affected.
fn results_of(table: &Table, actions: &[Action]) -> Vec<Result<()>> {
    let send_one = |action: &[Action]| {
        table.batch(action)?.into_iter().try_for_each(|result| result.map(drop))
    };
    match table.batch(actions) {
        Ok(results) => results.into_iter().map(|result| result.map(drop)).collect(),
        Err(_) => actions.chunks(1).map(send_one).collect(),
    }
}
