//! The standby engine: opened from a checkpoint before it is requested.
//!
//! Opening an engine takes milliseconds for hundreds of regions; swapping in one that is open takes
//! microseconds. So after each checkpoint, rewind and fork a thread opens the next engine of the
//! same checkpoint. If it is requested earlier, the caller waits for it.
//!
//! There is at most one standby engine. The thread also closes the engine that was replaced, so
//! that no caller waits for that. Threads: any.

use std::sync::Arc;

use hblite_env::sync::{Condvar, Mutex};
use hblite_env::thread;
use hblite_model::Result;

use super::World;
use super::checkpoint::Checkpoint;

/// The slot of the engine.
#[derive(Debug, Default)]
pub(super) struct Standby(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Threads that have not ended.
    threads: Mutex<usize>,
    thread_ended: Condvar,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    /// A thread opens it.
    Opening(Arc<Checkpoint>),
    Ready(Arc<Checkpoint>, World),
    Ended,
}

impl State {
    fn is_opening(&self, wanted: &Arc<Checkpoint>) -> bool {
        matches!(self, Self::Opening(checkpoint) if Arc::ptr_eq(checkpoint, wanted))
    }

    fn is_of(&self, wanted: &Arc<Checkpoint>) -> bool {
        match self {
            Self::Opening(checkpoint) | Self::Ready(checkpoint, _) => {
                Arc::ptr_eq(checkpoint, wanted)
            }
            Self::Empty | Self::Ended => false,
        }
    }
}

impl Standby {
    /// The standby engine, or one that is opened now.
    ///
    /// # Errors
    /// Those of opening it.
    pub(super) fn take(&self, checkpoint: &Arc<Checkpoint>) -> Result<World> {
        let mut state = self.0.state.lock();
        while state.is_opening(checkpoint) {
            self.0.changed.wait(&mut state);
        }
        if state.is_of(checkpoint)
            && let State::Ready(_, world) = std::mem::take(&mut *state)
        {
            return Ok(world);
        }
        drop(state);
        checkpoint.open()
    }

    /// Starts a thread that opens an engine, unless there is a standby of this checkpoint.
    pub(super) fn prepare(&self, checkpoint: &Arc<Checkpoint>) {
        self.start(checkpoint, None);
    }

    /// The same, and closes what was replaced.
    pub(super) fn prepare_after(&self, checkpoint: &Arc<Checkpoint>, replaced: World) {
        self.start(checkpoint, Some(replaced));
    }

    fn start(&self, checkpoint: &Arc<Checkpoint>, replaced: Option<World>) {
        let mut state = self.0.state.lock();
        let is_needed = !state.is_of(checkpoint) && !matches!(*state, State::Ended);
        let previous =
            is_needed.then(|| std::mem::replace(&mut *state, State::Opening(checkpoint.clone())));
        drop(state);
        let (counted, checkpoint) = (Counted::new(&self.0), Arc::clone(checkpoint));
        let work = move || {
            if is_needed {
                counted.0.open(&checkpoint);
            }
            // Their threads end, and their memory is freed, outside of every lock.
            drop((previous, replaced, checkpoint));
            drop(counted);
        };
        let builder = thread::Builder::new().name("hblite-standby".to_owned());
        if builder.spawn(work).is_err() && is_needed {
            self.0.set_unless_ended(State::Empty);
        }
    }

    /// Drops the standby engine of this checkpoint.
    pub(super) fn forget(&self, checkpoint: &Arc<Checkpoint>) {
        let mut state = self.0.state.lock();
        if state.is_of(checkpoint) {
            let forgotten = std::mem::take(&mut *state);
            self.0.changed.notify_all();
            drop(state);
            drop(forgotten);
        }
    }

    /// Turns the standby off. Waits for running threads.
    pub(super) fn end(&self) {
        let ended = std::mem::replace(&mut *self.0.state.lock(), State::Ended);
        self.0.changed.notify_all();
        drop(ended);
        let mut threads = self.0.threads.lock();
        while *threads > 0 {
            self.0.thread_ended.wait(&mut threads);
        }
    }
}

/// Counts a thread until it ends.
struct Counted(Arc<Shared>);

impl Counted {
    fn new(shared: &Arc<Shared>) -> Self {
        *shared.threads.lock() += 1;
        Self(Arc::clone(shared))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        *self.0.threads.lock() -= 1;
        self.0.thread_ended.notify_all();
    }
}

impl Shared {
    fn open(&self, checkpoint: &Arc<Checkpoint>) {
        // The next request opens it again and gets the error.
        let opened = checkpoint.open().ok();
        opened.iter().for_each(|world| world.engine.set_standby(true));
        let mut state = self.state.lock();
        let unwanted = match opened {
            Some(world) if state.is_opening(checkpoint) => {
                *state = State::Ready(Arc::clone(checkpoint), world);
                None
            }
            Some(world) => Some(world),
            None => {
                if state.is_opening(checkpoint) {
                    *state = State::Empty;
                }
                None
            }
        };
        self.changed.notify_all();
        drop(state);
        drop(unwanted);
    }

    fn set_unless_ended(&self, new: State) {
        let mut state = self.state.lock();
        if !matches!(*state, State::Ended) {
            *state = new;
        }
        self.changed.notify_all();
    }
}
