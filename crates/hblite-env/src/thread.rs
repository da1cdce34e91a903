//! Threads of the engine.
//!
//! These are the standard library's under one name, so that a build for simulation can put
//! instrumented ones in their place.

pub use std::thread::{Builder, JoinHandle, available_parallelism, scope, sleep, yield_now};
