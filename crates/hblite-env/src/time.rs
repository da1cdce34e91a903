//! Elapsed time as the engine measures it. For the time of cells, see [`crate::Clock`].
//!
//! This is the standard library's clock under one name. With the feature `simulation` it is
//! virtual time.

pub use std::time::Duration;

#[cfg(not(feature = "simulation"))]
pub use std::time::Instant;

#[cfg(feature = "simulation")]
pub use crate::simulation::time::Instant;
