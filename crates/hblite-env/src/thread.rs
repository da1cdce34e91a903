//! Threads of the engine.
//!
//! These are the standard library's under one name. With the feature `simulation` they are
//! instrumented, and `simulation` schedules them.

#[cfg(not(feature = "simulation"))]
pub use std::thread::{Builder, JoinHandle, available_parallelism, scope, sleep, yield_now};

#[cfg(feature = "simulation")]
pub use crate::simulation::thread::{
    Builder, JoinHandle, Scope, ScopedJoinHandle, available_parallelism, scope, sleep, yield_now,
};

/// Starts this many threads at the same time, and ends them: a runtime starts its threads where it
/// can only panic, or never answer, if the system refuses them.
///
/// # Errors
/// What the system says.
pub fn check_startable(count: usize) -> std::io::Result<()> {
    let mut waiting = Vec::with_capacity(count);
    let outcome = (0..count).try_for_each(|_| {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("hblite-check".to_owned());
        // Ends when the other half is dropped.
        let thread = thread.spawn(move || {
            let _ = ended.recv();
        });
        waiting.push((end, thread?));
        Ok(())
    });
    for (end, thread) in waiting {
        drop(end);
        // It does nothing that panics.
        let _ = thread.join();
    }
    outcome
}

/// Does the work, for threads that must outlive a panic in it.
///
/// # Errors
/// The message of the panic.
#[cfg(not(feature = "simulation"))]
pub fn catch_panic<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .map_err(|panic| crate::panic_message::of(&*panic))
}

/// Does the work. A panic ends the simulation, whichever thread has it.
///
/// # Errors
/// None.
#[cfg(feature = "simulation")]
pub fn catch_panic<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    Ok(work())
}
