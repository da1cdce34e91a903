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
