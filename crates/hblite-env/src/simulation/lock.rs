//! Mutex, read-write lock and condition variable that a simulation schedules.
//!
//! Each wraps the `parking_lot` type of the same name and behaves like it outside a simulation.
//! Inside one, only the `try_` operations of the inner type are used, and a fiber that finds it
//! taken waits for its address. A reader waits after a waiting writer, as with `parking_lot`, so
//! the simulation finds the deadlock of a thread that takes the same read lock twice.
//!
//! Threads: any, inside or outside a simulation; a lock is used by one world at a time.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use super::scheduler::{Reason, World};
use super::time::Instant;

/// See `parking_lot::Mutex`.
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    inner: parking_lot::Mutex<T>,
}

/// See `parking_lot::MutexGuard`.
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    inner: Option<parking_lot::MutexGuard<'a, T>>,
}

fn address<T: ?Sized>(of: &T) -> usize {
    std::ptr::from_ref(of).cast::<()>() as usize
}

impl<T> Mutex<T> {
    /// An unlocked mutex.
    pub const fn new(value: T) -> Self {
        Self { inner: parking_lot::Mutex::new(value) }
    }

    /// The value, without the lock.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock and takes it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let Some(world) = World::current() else {
            return MutexGuard { lock: self, inner: Some(self.inner.lock()) };
        };
        world.point("lock");
        loop {
            if let Some(inner) = self.inner.try_lock() {
                return MutexGuard { lock: self, inner: Some(inner) };
            }
            world.wait(address(self), Reason::Mutex, None);
        }
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        super::point("try to lock");
        self.inner.try_lock().map(|inner| MutexGuard { lock: self, inner: Some(inner) })
    }

    /// Whether the lock is held.
    pub fn is_locked(&self) -> bool {
        self.inner.is_locked()
    }

    /// The value of a mutex that no other thread can reach.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Releases the lock while `work` runs.
    pub fn unlocked<R>(guard: &mut Self, work: impl FnOnce() -> R) -> R {
        guard.release();
        let result = work();
        guard.inner = guard.lock.lock().inner.take();
        result
    }

    fn release(&mut self) {
        self.inner = None;
        if let Some(world) = World::current() {
            world.wake(address(self.lock), Reason::Mutex);
        }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if self.inner.is_some() {
            self.release();
            super::point("unlock");
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard in use holds its lock")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("a guard in use holds its lock")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// See `parking_lot::RwLock`.
#[derive(Default)]
pub struct RwLock<T: ?Sized> {
    inner: parking_lot::RwLock<T>,
}

/// See `parking_lot::RwLockReadGuard`.
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    inner: Option<parking_lot::RwLockReadGuard<'a, T>>,
}

/// See `parking_lot::RwLockWriteGuard`.
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    inner: Option<parking_lot::RwLockWriteGuard<'a, T>>,
}

impl<T> RwLock<T> {
    /// An unlocked lock.
    pub const fn new(value: T) -> Self {
        Self { inner: parking_lot::RwLock::new(value) }
    }

    /// The value, without the lock.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits for the lock and shares it.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        let Some(world) = World::current() else {
            return RwLockReadGuard { lock: self, inner: Some(self.inner.read()) };
        };
        world.point("read lock");
        loop {
            if !world.is_awaited(address(self), Reason::Write)
                && let Some(inner) = self.inner.try_read()
            {
                return RwLockReadGuard { lock: self, inner: Some(inner) };
            }
            world.wait(address(self), Reason::Read, None);
        }
    }

    /// Waits for the lock and takes it exclusively.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        let Some(world) = World::current() else {
            return RwLockWriteGuard { lock: self, inner: Some(self.inner.write()) };
        };
        world.point("write lock");
        loop {
            if let Some(inner) = self.inner.try_write() {
                return RwLockWriteGuard { lock: self, inner: Some(inner) };
            }
            world.wait(address(self), Reason::Write, None);
        }
    }

    /// Shares the lock if that is possible without waiting.
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        super::point("try to read");
        self.inner.try_read().map(|inner| RwLockReadGuard { lock: self, inner: Some(inner) })
    }

    /// Takes the lock exclusively if that is possible without waiting.
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        super::point("try to write");
        self.inner.try_write().map(|inner| RwLockWriteGuard { lock: self, inner: Some(inner) })
    }

    /// Whether the lock is held.
    pub fn is_locked(&self) -> bool {
        self.inner.is_locked()
    }

    /// The value of a lock that no other thread can reach.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }

    fn wake(&self) {
        if let Some(world) = World::current() {
            world.wake(address(self), Reason::Write);
            world.wake(address(self), Reason::Read);
            world.point("unlock");
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.inner = None;
        self.lock.wake();
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.inner = None;
        self.lock.wake();
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard in use holds its lock")
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard in use holds its lock")
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("a guard in use holds its lock")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// See `parking_lot::Condvar`.
#[derive(Debug, Default)]
pub struct Condvar {
    inner: parking_lot::Condvar,
    /// Gives every condition variable its own address.
    _place: u8,
}

/// See `parking_lot::WaitTimeoutResult`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the wait ended because its time was up.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A condition variable without waiters.
    pub const fn new() -> Self {
        Self { inner: parking_lot::Condvar::new(), _place: 0 }
    }

    /// Releases the lock, waits to be notified, and takes the lock again.
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_at_most(guard, None);
    }

    /// Like [`Condvar::wait`], for at most this long.
    pub fn wait_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        limit: Duration,
    ) -> WaitTimeoutResult {
        WaitTimeoutResult(self.wait_at_most(guard, Some(limit)))
    }

    /// Like [`Condvar::wait`], until `deadline` at the latest.
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        self.wait_for(guard, deadline.saturating_duration_since(Instant::now()))
    }

    fn wait_at_most<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        limit: Option<Duration>,
    ) -> bool {
        if let Some(world) = World::current() {
            guard.release();
            let is_timed_out = world.wait(address(self), Reason::Condvar, limit);
            guard.inner = guard.lock.lock().inner.take();
            return is_timed_out;
        }
        let inner = guard.inner.as_mut().expect("a guard in use holds its lock");
        match limit {
            Some(limit) => self.inner.wait_for(inner, limit).timed_out(),
            None => {
                self.inner.wait(inner);
                false
            }
        }
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) -> bool {
        match World::current() {
            Some(world) => {
                let is_awaited = world.is_awaited(address(self), Reason::Condvar);
                world.wake_one(address(self), Reason::Condvar);
                world.point("notify");
                is_awaited
            }
            None => self.inner.notify_one(),
        }
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) -> usize {
        match World::current() {
            Some(world) => {
                let is_awaited = world.is_awaited(address(self), Reason::Condvar);
                world.wake(address(self), Reason::Condvar);
                world.point("notify");
                usize::from(is_awaited)
            }
            None => self.inner.notify_all(),
        }
    }
}
