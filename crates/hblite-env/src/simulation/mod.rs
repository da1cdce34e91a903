//! Threads that run one at a time, in an order that a seed decides.
//!
//! [`run`] turns its caller into a small computer: every thread started inside is a fiber of the
//! calling thread, and time is a number. A fiber runs until it reaches a switch point (a lock, a
//! condition variable, a channel, a sleep, a join, an operation on files that calls [`point`]).
//! There the seed decides which fiber continues. Nothing else can interrupt a fiber, so the same
//! seed gives the same run, and [`Report::trace_hash`] proves it.
//!
//! Time moves by a few microseconds with every switch point, and jumps to the next deadline when
//! every fiber waits. If all wait without a deadline, the run ends as a deadlock and names them.
//!
//! Outside [`run`], the types of [`crate::sync`], [`crate::thread`] and [`crate::time`] behave as
//! usual.
//!
//! Invariant: code inside `run` blocks only through those modules. A fiber that blocked its
//!            operating system thread would block all others, too.
//! Threads:   everything stays on the thread that called `run`; several may run side by side.

mod fiber;
pub(crate) mod lock;
pub(crate) mod mpsc;
mod scheduler;
pub(crate) mod thread;
pub(crate) mod time;

use std::time::Duration;

pub use scheduler::Policy;
use scheduler::World;

/// How a simulation runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// Determines every choice.
    pub seed: u64,
    /// Which fiber continues at a switch point.
    pub policy: Policy,
    /// Number of switch points after which the run is considered stuck.
    pub steps_max: u64,
    /// Whether [`Report::trace`] keeps every event as text, to compare two runs.
    pub keeps_trace: bool,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Hash of every switch point, choice and recorded event, in order.
    pub trace_hash: u64,
    /// Events as text, if requested.
    pub trace: Vec<String>,
    /// Switch points passed.
    pub steps: u64,
    /// Number of switches to another fiber.
    pub switches: u64,
    /// Fibers started, the first included.
    pub fibers: usize,
    /// Virtual time that passed.
    pub elapsed: Duration,
}

/// Runs `main` and every thread that it starts. Returns when all of them have ended.
///
/// # Errors
/// The message of the first panic of any thread, or the threads that wait in a deadlock. After an
/// error no thread of the run continues, and what the threads own is leaked.
pub fn run<T>(options: Options, main: impl FnOnce() -> T) -> (Result<T, String>, Report) {
    let mut value = None;
    let outcome = scheduler::run(options, || value = Some(main()));
    let (failure, report) = outcome;
    let value = match (failure, value) {
        (None, Some(value)) => Ok(value),
        (failure, _) => Err(failure.unwrap_or_else(|| "the first thread did not end".to_owned())),
    };
    (value, report)
}

/// The number of the running thread; 0 outside a run.
pub(crate) fn thread_number() -> usize {
    World::current().map_or(0, |world| world.thread_number())
}

/// A point where another thread may continue. `label` names it in the trace.
pub fn point(label: &'static str) {
    if let Some(world) = World::current() {
        world.point(label);
    }
}

/// Adds an event to the trace: what happened, and the data that must be the same in every run.
pub fn record(label: &'static str, data: &[u8]) {
    if let Some(world) = World::current() {
        world.record(label, data);
    }
}

/// Lets this much virtual time pass for the caller; other threads run meanwhile.
pub fn pass_time(duration: Duration) {
    if let Some(world) = World::current() {
        world.sleep(duration);
    }
}

/// Virtual time since the beginning of the run; zero outside a run.
pub fn elapsed() -> Duration {
    World::current().map_or(Duration::ZERO, |world| Duration::from_nanos(world.now()))
}

#[cfg(test)]
mod tests;
