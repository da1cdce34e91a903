//! Permits for a limited number of connections.
//!
//! A connection is waiting until its client has identified itself, and between two requests. When
//! all permits are taken, a new connection ends the one that has waited longest. Clients that hold
//! permits but send nothing, or send byte by byte, therefore do not lock out other clients.
//!
//! Threads: any.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The permits of one or several ports.
#[derive(Debug)]
pub(crate) struct Permits {
    count_max: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    count: usize,
    last_number: u64,
    /// The waiting connections, the one that has waited longest first.
    waiting: BTreeMap<u64, Arc<Notify>>,
}

/// A permit, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    permits: Arc<Permits>,
    /// Its number among the waiting ones.
    number: Mutex<Option<u64>>,
    eviction: Arc<Notify>,
}

impl Permits {
    pub(crate) fn new(count_max: usize) -> Arc<Self> {
        Arc::new(Self { count_max, taken: Mutex::default() })
    }

    /// The number of permits taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.lock().count
    }

    /// Takes a permit, in the waiting state; `None` if all are taken by connections that are not
    /// waiting.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Permit> {
        let mut taken = self.taken.lock();
        if taken.count >= self.count_max && !taken.evict() {
            return None;
        }
        taken.count += 1;
        drop(taken);
        let permit = Permit {
            permits: Arc::clone(self),
            number: Mutex::new(None),
            eviction: Arc::default(),
        };
        permit.wait();
        Some(permit)
    }

    /// Ends the connection that has waited longest, if one is waiting.
    pub(crate) fn evict(&self) -> bool {
        self.taken.lock().evict()
    }
}

impl Taken {
    fn evict(&mut self) -> bool {
        match self.waiting.pop_first() {
            Some((_, eviction)) => {
                eviction.notify_one();
                true
            }
            None => false,
        }
    }
}

impl Permit {
    /// The connection is waiting from now on, and may be ended.
    pub(crate) fn wait(&self) {
        let mut taken = self.permits.taken.lock();
        let mut number = self.number.lock();
        if number.is_none() {
            taken.last_number += 1;
            *number = Some(taken.last_number);
            let last = taken.last_number;
            taken.waiting.insert(last, Arc::clone(&self.eviction));
        }
    }

    /// The connection is busy from now on.
    pub(crate) fn work(&self) {
        let mut taken = self.permits.taken.lock();
        if let Some(number) = self.number.lock().take() {
            taken.waiting.remove(&number);
        }
    }

    /// Resolves when the connection must end in favour of a new one.
    pub(crate) async fn evicted(&self) {
        self.eviction.notified().await;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.work();
        self.permits.taken.lock().count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn is_evicted(permit: &Permit) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(permit.evicted()).poll(&mut context).is_ready()
    }

    #[test]
    fn who_has_waited_longest_makes_room() {
        let permits = Permits::new(3);
        let all: Vec<Permit> = (0..3).filter_map(|_| permits.enter()).collect();
        all[0].work();
        let fourth = permits.enter().unwrap();
        let evicted: Vec<bool> = all.iter().map(is_evicted).collect();
        assert_eq!(evicted, [false, true, false]);
        // A connection that starts waiting again moves to the end of the order.
        all[0].wait();
        all[0].wait();
        let fifth = permits.enter().unwrap();
        assert!(is_evicted(&all[2]) && !is_evicted(&fourth));
        drop(all);
        fourth.work();
        fifth.work();
        let sixth = permits.enter().unwrap();
        sixth.work();
        assert!(permits.enter().is_none() && !permits.evict());
        assert_eq!(permits.taken(), 3);
        drop((fourth, fifth, sixth));
        assert_eq!(permits.taken(), 0);
    }
}
