//! Locks, condition variables and channels of the engine.
//!
//! These are `parking_lot`'s locks and the standard library's channels under one name, so that a
//! build for simulation can put instrumented ones in their place.

pub use parking_lot::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
};

pub use std::sync::mpsc;
