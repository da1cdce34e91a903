//! A value that many threads read and few replace.
//!
//! Taking a lock for reading, or a reference count, writes to memory that all threads share. With
//! threads on processors without a common cache, each such write takes 200 ns and more. Reading a
//! [`Published`] value writes only to memory of the thread that reads.
//!
//! Threads: any. Readers never wait; each sees the value as it was at one moment.

use std::ops::Deref;
use std::sync::Arc;

#[cfg(feature = "simulation")]
use crate::sync::RwLock;

/// A shared value that is replaced as a whole.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use hblite_env::Published;
///
/// let names = Published::new(Arc::new(vec!["a"]));
/// let before = names.read();
/// names.set(Arc::new(vec!["a", "b"]));
/// assert_eq!((before.len(), names.read().len()), (1, 2));
/// ```
#[derive(Debug)]
pub struct Published<T> {
    #[cfg(not(feature = "simulation"))]
    value: arc_swap::ArcSwap<T>,
    /// A simulation also tries what happens around this lock.
    #[cfg(feature = "simulation")]
    value: RwLock<Arc<T>>,
}

/// The value at the moment of [`Published::read`], for a short time: a thread that keeps more than
/// a few of these slows itself down. Use [`Published::to_arc`] to keep the value.
#[derive(Debug)]
pub struct Current<T> {
    #[cfg(not(feature = "simulation"))]
    value: arc_swap::Guard<Arc<T>>,
    #[cfg(feature = "simulation")]
    value: Arc<T>,
}

impl<T> Deref for Current<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(not(feature = "simulation"))]
impl<T> Published<T> {
    /// Publishes a value.
    pub fn new(value: Arc<T>) -> Self {
        Self { value: arc_swap::ArcSwap::new(value) }
    }

    /// The current value.
    #[inline]
    pub fn read(&self) -> Current<T> {
        Current { value: self.value.load() }
    }

    /// The current value, to be kept.
    pub fn to_arc(&self) -> Arc<T> {
        self.value.load_full()
    }

    /// Replaces the value. Of several threads that do, one must be the last by other means.
    pub fn set(&self, value: Arc<T>) {
        self.value.store(value);
    }
}

#[cfg(feature = "simulation")]
impl<T> Published<T> {
    /// Publishes a value.
    pub fn new(value: Arc<T>) -> Self {
        Self { value: RwLock::new(value) }
    }

    /// The current value.
    pub fn read(&self) -> Current<T> {
        Current { value: self.to_arc() }
    }

    /// The current value, to be kept.
    pub fn to_arc(&self) -> Arc<T> {
        Arc::clone(&self.value.read())
    }

    /// Replaces the value. Of several threads that do, one must be the last by other means.
    pub fn set(&self, value: Arc<T>) {
        let replaced = std::mem::replace(&mut *self.value.write(), value);
        drop(replaced);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_see_whole_values_and_never_an_earlier_one_again() {
        const LAST: u64 = if cfg!(miri) { 50 } else { 20_000 };
        let pair = |number: u64| Arc::new((number, number * 3));
        let published = Published::new(pair(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut seen = 0;
                    while seen < LAST {
                        let current = published.read();
                        assert!(current.0 >= seen && current.1 == current.0 * 3);
                        seen = current.0;
                    }
                });
            }
            (1..=LAST).for_each(|number| published.set(pair(number)));
        });
    }

    #[test]
    fn a_value_lives_while_it_is_read_or_kept() {
        let value = Arc::new(String::from("first"));
        let published = Published::new(Arc::clone(&value));
        let (read, kept) = (published.read(), published.to_arc());
        published.set(Arc::new(String::from("second")));
        assert_eq!((read.as_str(), kept.as_str()), ("first", "first"));
        assert_eq!(published.read().as_str(), "second");
        drop((read, kept));
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
