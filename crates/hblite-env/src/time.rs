//! Elapsed time as the engine measures it. For the time that stamps cells, see [`crate::Clock`].
//!
//! This is the standard library's clock under one name, so that a build for simulation can put
//! virtual time in its place.

pub use std::time::{Duration, Instant};
