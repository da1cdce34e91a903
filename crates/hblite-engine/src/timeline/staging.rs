//! The next rewind of a store in a directory, staged before it is requested.
//!
//! Staging links every file of the checkpoint and waits for the disk; committing what is staged
//! renames a directory. So after each checkpoint and rewind a thread stages the same checkpoint
//! again. If the rewind is requested earlier, the caller waits for it.
//!
//! There is one place for what is staged (`layout::rewind`), so at most one checkpoint is. Nothing
//! is staged in a store that is closed. Threads: any; the caller of [`Staging::take`],
//! [`Staging::forget`] and [`Staging::end`] holds the timeline's lock for changes.

use std::sync::Arc;

use hblite_env::sync::{Condvar, Mutex, MutexGuard};
use hblite_env::thread;
use hblite_model::Result;

use super::checkpoint::Checkpoint;

/// What is staged, and the thread that stages.
#[derive(Debug, Default)]
pub(super) struct Staging(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    /// A thread is at work until this checkpoint, perhaps after another one, is staged.
    Working(Arc<Checkpoint>),
    Staged(Arc<Checkpoint>),
    Ended,
}

impl State {
    fn is_working(&self) -> bool {
        matches!(self, Self::Working(_))
    }

    fn has_staged(&self, wanted: &Arc<Checkpoint>) -> bool {
        matches!(self, Self::Staged(checkpoint) if Arc::ptr_eq(checkpoint, wanted))
    }
}

impl Staging {
    /// Starts to stage a checkpoint, if it is in a directory.
    pub(super) fn prepare(&self, checkpoint: &Arc<Checkpoint>) {
        let mut state = self.0.state.lock();
        if checkpoint.directory().is_none() || matches!(*state, State::Ended) {
            return;
        }
        let previous = std::mem::replace(&mut *state, State::Working(Arc::clone(checkpoint)));
        if previous.is_working() {
            return;
        }
        let shared = Arc::clone(&self.0);
        let builder = thread::Builder::new().name("hblite-staging".to_owned());
        if builder.spawn(move || shared.work()).is_err() {
            *state = State::Empty;
        }
    }

    /// Completes the staging of a checkpoint; the caller commits it.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn take(&self, checkpoint: &Arc<Checkpoint>) -> Result<()> {
        let mut state = self.0.at_rest();
        let is_staged = state.has_staged(checkpoint);
        if !matches!(*state, State::Ended) {
            *state = State::Empty;
        }
        drop(state);
        if is_staged { Ok(()) } else { checkpoint.stage() }
    }

    /// Removes what is staged of a checkpoint.
    pub(super) fn forget(&self, checkpoint: &Arc<Checkpoint>) {
        let mut state = self.0.at_rest();
        if state.has_staged(checkpoint) {
            *state = State::Empty;
            checkpoint.unstage();
        }
    }

    /// Removes what is staged. Nothing is staged from now on.
    pub(super) fn end(&self) {
        let mut state = self.0.at_rest();
        if let State::Staged(checkpoint) = std::mem::replace(&mut *state, State::Ended) {
            checkpoint.unstage();
        }
    }

    /// Waits until the thread has ended; returns whether a checkpoint is staged.
    #[cfg(test)]
    pub(super) fn is_staged(&self) -> bool {
        matches!(*self.0.at_rest(), State::Staged(_))
    }
}

impl Shared {
    /// The state while no thread is at work.
    fn at_rest(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        while state.is_working() {
            self.changed.wait(&mut state);
        }
        state
    }

    fn work(&self) {
        let mut state = self.state.lock();
        while let State::Working(checkpoint) = &*state {
            let checkpoint = Arc::clone(checkpoint);
            drop(state);
            let staged = checkpoint.stage();
            if staged.is_err() {
                // The rewind tries again, and reports the error.
                checkpoint.unstage();
            }
            state = self.state.lock();
            if matches!(&*state, State::Working(wanted) if Arc::ptr_eq(wanted, &checkpoint)) {
                // The last handle of a checkpoint removes its files: it stays with the state.
                *state = if staged.is_ok() { State::Staged(checkpoint) } else { State::Empty };
            }
        }
        self.changed.notify_all();
    }
}
