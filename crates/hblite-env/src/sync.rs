//! Locks, condition variables and channels of the engine.
//!
//! These are `parking_lot`'s locks and the standard library's channels under one name. With the
//! feature `simulation` they are instrumented ones, which `simulation` schedules.

#[cfg(not(feature = "simulation"))]
pub use parking_lot::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
};

#[cfg(not(feature = "simulation"))]
pub use std::sync::mpsc;

#[cfg(feature = "simulation")]
pub use crate::simulation::lock::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
};

/// Channels without bounds; see `std::sync::mpsc`.
#[cfg(feature = "simulation")]
pub mod mpsc {
    pub use crate::simulation::mpsc::{
        Receiver, RecvError, RecvTimeoutError, SendError, Sender, TryRecvError, channel,
    };
}
