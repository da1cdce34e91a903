//! The open scanners of the servers and gateways in front of a store.
//!
//! Their leases follow the store's clock, and they belong to the state that they read. So the clock
//! is not set back while there are any, and a rewind closes them.
//!
//! Threads: any. The sets are called without a lock of the timeline, and may call it.

use std::fmt::Debug;
use std::sync::{Arc, Weak};

use hblite_env::sync::Mutex;

/// The open scanners of a server's or gateway's clients.
pub trait ClientScanners: Debug + Send + Sync {
    /// How many are open.
    fn open_count(&self) -> usize;

    /// Closes those whose lease has ended at this time of the store's clock, in milliseconds since
    /// 1970-01-01 UTC.
    fn close_expired(&self, now_millis: i64);

    /// Closes all of them: the store was rewound.
    fn close_all(&self);
}

/// The sets of all servers and gateways. A set is forgotten when it is dropped.
#[derive(Debug, Default)]
pub(super) struct ClientScannerSets(Mutex<Vec<Weak<dyn ClientScanners>>>);

impl ClientScannerSets {
    pub(super) fn add(&self, set: Weak<dyn ClientScanners>) {
        let mut sets = self.0.lock();
        sets.retain(is_used);
        sets.push(set);
    }

    /// How many scanners are open, apart from those whose lease has ended.
    pub(super) fn open_count(&self, now_millis: i64) -> usize {
        self.close_expired(now_millis);
        self.sets().iter().map(|set| set.open_count()).sum()
    }

    pub(super) fn close_expired(&self, now_millis: i64) {
        self.sets().iter().for_each(|set| set.close_expired(now_millis));
    }

    pub(super) fn close_all(&self) {
        self.sets().iter().for_each(|set| set.close_all());
    }

    fn sets(&self) -> Vec<Arc<dyn ClientScanners>> {
        let mut sets = self.0.lock();
        sets.retain(is_used);
        sets.iter().filter_map(Weak::upgrade).collect()
    }
}

fn is_used(set: &Weak<dyn ClientScanners>) -> bool {
    set.strong_count() > 0
}
