//! A switch that makes a gateway read-only, and that can be changed while the gateway runs.
//!
//! Threads: any. What counts for a request is the switch at the moment when the request is checked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a gateway refuses changes. Clones share one switch.
#[derive(Debug, Clone, Default)]
pub struct ReadOnly(Arc<AtomicBool>);

impl ReadOnly {
    /// Whether changes are refused.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Refuses changes from now on, or accepts them.
    pub fn set(&self, is_on: bool) {
        self.0.store(is_on, Ordering::Relaxed);
    }
}

impl From<bool> for ReadOnly {
    fn from(is_on: bool) -> Self {
        Self(Arc::new(AtomicBool::new(is_on)))
    }
}
