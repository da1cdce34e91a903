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
