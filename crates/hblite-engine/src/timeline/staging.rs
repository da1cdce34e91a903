//! The next rewind of a store in a directory, staged before it is requested.
//!
//! Staging links every file of the checkpoint and waits for the disk; committing what is staged
//! renames a few directories. So after each checkpoint and rewind a thread completes the rewind,
//! stages the same checkpoint again, and prepares the engine that is to use the files. If the
//! rewind is requested earlier, the caller waits for it. From the second rewind in a row on, the
//! contents that were replaced came from the same checkpoint, and are turned into its files again
//! (`layout::stage`).
//!
//! There is one place for what is staged (`layout::rewind`), so at most one checkpoint is. Nothing
//! is staged in a store that is closed. Threads: any; the caller of [`Staging::take`],
//! [`Staging::forget`] and [`Staging::end`] holds the timeline's lock for changes.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use hblite_env::Env;
use hblite_env::sync::{Condvar, Mutex, MutexGuard};
use hblite_env::thread;
use hblite_model::Result;

use super::checkpoint::Checkpoint;
use super::{PreparedWorld, World};
use crate::engine::Engine;
use crate::options::EngineOptions;

/// What is staged, and the thread that stages.
#[derive(Debug, Default)]
pub(super) struct Staging(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// The store that is to be rewound.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) env: Env,
    pub(super) options: EngineOptions,
    /// It serves until the rewind.
    pub(super) engine: Arc<Engine>,
}

impl Target {
    /// Completes the rewind before, and stages the next one; with `changed`, from what the rewind
    /// before replaced. The engine is `None` if the files must be opened.
    fn stage(
        &self,
        checkpoint: &Arc<Checkpoint>,
        changed: Option<&BTreeSet<PathBuf>>,
    ) -> Result<Option<PreparedWorld>> {
        for kept in checkpoint.stage(changed)? {
            let to = kept.to.display();
            self.engine.note(&kept.from, format!("moved to {to}: hblite did not write it"));
        }
        match self.engine.lock() {
            Some(lock) => checkpoint.prepare_world(&self.env, &self.options, lock),
            None => Ok(None),
        }
    }
}

/// A checkpoint to be staged.
#[derive(Debug, Clone)]
struct Job {
    checkpoint: Arc<Checkpoint>,
    target: Target,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    /// A thread is at work until this checkpoint, perhaps after another one, is staged.
    Working(Job),
    Staged(Arc<Checkpoint>, Option<PreparedWorld>),
    Ended,
}

impl State {
    fn is_working(&self) -> bool {
        matches!(self, Self::Working(_))
    }

    fn has_staged(&self, wanted: &Arc<Checkpoint>) -> bool {
        matches!(self, Self::Staged(checkpoint, _) if Arc::ptr_eq(checkpoint, wanted))
    }

    /// Empties it; `None` if nothing was staged.
    fn take(&mut self) -> Option<(Arc<Checkpoint>, Option<PreparedWorld>)> {
        match std::mem::take(self) {
            Self::Staged(checkpoint, prepared) => Some((checkpoint, prepared)),
            other => {
                *self = other;
                None
            }
        }
    }
}

impl Staging {
    /// Starts to stage a checkpoint, if it is in a directory.
    pub(super) fn prepare(&self, checkpoint: &Arc<Checkpoint>, target: Target) {
        self.start(checkpoint, target, None);
    }

    /// The same, after a rewind to it, which is completed first. Drops what was replaced.
    pub(super) fn prepare_after(
        &self,
        checkpoint: &Arc<Checkpoint>,
        target: Target,
        replaced: World,
    ) {
        self.start(checkpoint, target, Some(replaced));
    }

    fn start(&self, checkpoint: &Arc<Checkpoint>, target: Target, replaced: Option<World>) {
        let mut state = self.0.state.lock();
        if !checkpoint.is_on_disk() || matches!(*state, State::Ended) {
            return;
        }
        let job = Job { checkpoint: Arc::clone(checkpoint), target };
        let previous = std::mem::replace(&mut *state, State::Working(job));
        if previous.is_working() {
            return;
        }
        drop(state);
        drop(previous);
        let shared = Arc::clone(&self.0);
        let builder = thread::Builder::new().name("hblite-staging".to_owned());
        if builder.spawn(move || shared.work(replaced)).is_err() {
            // The rewind does it. What was replaced has ended, outside of every lock.
            let abandoned = std::mem::take(&mut *self.0.state.lock());
            self.0.changed.notify_all();
            drop(abandoned);
        }
    }

    /// Completes the staging of a checkpoint; the caller commits it. Returns the engine for the
    /// files, which begins its work after that; `None` if the files must be opened.
    ///
    /// # Errors
    /// `Io`, and those of opening the checkpoint.
    pub(super) fn take(
        &self,
        checkpoint: &Arc<Checkpoint>,
        target: Target,
    ) -> Result<Option<PreparedWorld>> {
        let staged = self.0.at_rest().take();
        match staged {
            Some((staged, prepared)) if Arc::ptr_eq(&staged, checkpoint) => Ok(prepared),
            other => {
                drop(other);
                target.stage(checkpoint, None)
            }
        }
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
        if let State::Staged(checkpoint, _) = std::mem::replace(&mut *state, State::Ended) {
            checkpoint.unstage();
        }
    }

    /// Waits until the thread has ended; returns whether a checkpoint is staged.
    #[cfg(test)]
    pub(super) fn is_staged(&self) -> bool {
        matches!(*self.0.at_rest(), State::Staged(..))
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

    fn work(&self, replaced: Option<World>) {
        let mut replaced = replaced;
        let mut state = self.state.lock();
        while let State::Working(job) = &*state {
            let Job { checkpoint, target } = job.clone();
            drop(state);
            // Its memory is freed outside of every lock.
            let changed = replaced.take().and_then(|world| world.end(&checkpoint));
            let staged = target.stage(&checkpoint, changed.as_ref());
            if staged.is_err() {
                // The rewind tries again, and reports the error.
                checkpoint.unstage();
            }
            // The last handle of an engine closes it, which must not happen later than this.
            drop(target);
            state = self.state.lock();
            if matches!(&*state, State::Working(job) if Arc::ptr_eq(&job.checkpoint, &checkpoint)) {
                // The last handle of a checkpoint removes its files: it stays with the state.
                *state = staged.map_or(State::Empty, |next| State::Staged(checkpoint, next));
            }
        }
        self.changed.notify_all();
    }
}
