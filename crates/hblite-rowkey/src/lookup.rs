//! Short numbers for long names, kept in a table: the lookup table for numeric substitution.
//!
//! ```text
//! row      [kind, 1 byte][name]    column id    = the number, 8 bytes
//! row      [kind, 1 byte]          column next  = the counter of the kind
//! ```
//!
//! Registering a name takes a number from the counter, which returns each number once, and stores
//! it under the name, in one step, if the name has none yet. The loser of a race uses the number
//! that is already stored; its own number stays unused, which leaves a gap and does no harm. So a
//! name keeps its number forever, and a number belongs to one name, however many processes register
//! at once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A table of numbers, by kind and name.
pub trait IdStore {
    /// The table's error type.
    type Error;

    /// The number of a name, if it has one.
    ///
    /// # Errors
    /// Those of the table.
    fn find(&self, kind: u8, name: &[u8]) -> Result<Option<u64>, Self::Error>;

    /// Adds one to the counter of a kind and returns its value (HBase's Increment).
    ///
    /// # Errors
    /// Those of the table.
    fn next_number(&self, kind: u8) -> Result<u64, Self::Error>;

    /// Stores this number for the name if it has none, in one step (HBase's checkAndMutate).
    /// Returns whether it did.
    ///
    /// # Errors
    /// Those of the table.
    fn register_if_absent(&self, kind: u8, name: &[u8], number: u64) -> Result<bool, Self::Error>;
}

/// How many names are remembered by default.
const CAPACITY_DEFAULT: usize = 1 << 20;

/// Numbers for names, with a cache. May be shared between threads.
#[derive(Debug)]
pub struct Ids<S> {
    store: S,
    cache: Mutex<Generations>,
    capacity: usize,
}

/// Recently used names, in two halves. When the newer half is full, the older one is dropped: a
/// cache of bounded size that keeps what is used, without a list.
#[derive(Debug, Default)]
struct Generations {
    newer: HashMap<(u8, Vec<u8>), u64>,
    older: HashMap<(u8, Vec<u8>), u64>,
}

impl<S: IdStore> Ids<S> {
    /// Numbers in this table; remembers up to a million names.
    pub fn new(store: S) -> Self {
        Self::with_capacity(store, CAPACITY_DEFAULT)
    }

    /// As [`Ids::new`], remembering at most this many names.
    pub fn with_capacity(store: S, capacity: usize) -> Self {
        Self { store, cache: Mutex::default(), capacity }
    }

    /// The table.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The number of a name, registering the name if it has none.
    ///
    /// # Errors
    /// Those of the table.
    pub fn id(&self, kind: u8, name: &[u8]) -> Result<u64, S::Error> {
        if let Some(number) = self.find(kind, name)? {
            return Ok(number);
        }
        loop {
            let number = self.store.next_number(kind)?;
            if self.store.register_if_absent(kind, name, number)? {
                self.remember(kind, name, number);
                return Ok(number);
            }
            // Another process was first. If the row was deleted meanwhile, the name is new again.
            if let Some(number) = self.store.find(kind, name)? {
                self.remember(kind, name, number);
                return Ok(number);
            }
        }
    }

    /// The number of a name, if it has one: for queries, which must not register names.
    ///
    /// # Errors
    /// Those of the table.
    pub fn find(&self, kind: u8, name: &[u8]) -> Result<Option<u64>, S::Error> {
        if let Some(number) = self.remembered(kind, name) {
            return Ok(Some(number));
        }
        let found = self.store.find(kind, name)?;
        if let Some(number) = found {
            self.remember(kind, name, number);
        }
        Ok(found)
    }

    fn remembered(&self, kind: u8, name: &[u8]) -> Option<u64> {
        let key = (kind, name.to_vec());
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = cache.newer.get(&key) {
            return Some(*number);
        }
        let number = cache.older.remove(&key)?;
        cache.insert(key, number, self.capacity);
        Some(number)
    }

    fn remember(&self, kind: u8, name: &[u8], number: u64) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.insert((kind, name.to_vec()), number, self.capacity);
    }
}

impl Generations {
    fn insert(&mut self, key: (u8, Vec<u8>), number: u64, capacity: usize) {
        if self.newer.len() >= capacity / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
        if capacity > 1 {
            self.newer.insert(key, number);
        }
    }
}
