//! The cluster over the current store: it follows the store through rewinds.
//!
//! Threads: any.

use std::sync::{Arc, Weak};

use hblite_engine::{ClientScanners, Timeline};
use parking_lot::RwLock;

use super::{Cluster, Shared};

/// Provides the current cluster. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct CurrentCluster(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    timeline: Arc<Timeline>,
    shared: Arc<Shared>,
    cluster: RwLock<Arc<Cluster>>,
}

impl CurrentCluster {
    pub(crate) fn new(timeline: Arc<Timeline>, cluster: Cluster) -> Self {
        let (shared, cluster) = (Arc::clone(&cluster.shared), RwLock::new(Arc::new(cluster)));
        let inner = Arc::new(Inner { timeline, shared, cluster });
        let scanners: Weak<Inner> = Arc::downgrade(&inner);
        inner.timeline.add_client_scanners(scanners);
        Self(inner)
    }

    /// The cluster since the last rewind.
    pub(crate) fn get(&self) -> Arc<Cluster> {
        self.0.get()
    }

    /// State that survives a rewind.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    /// The store.
    pub(crate) fn timeline(&self) -> &Arc<Timeline> {
        &self.0.timeline
    }
}

impl Inner {
    fn get(&self) -> Arc<Cluster> {
        let cluster = Arc::clone(&self.cluster.read());
        if cluster.generation == self.timeline.generation() {
            return cluster;
        }
        self.follow()
    }

    #[cold]
    fn follow(&self) -> Arc<Cluster> {
        let mut place = self.cluster.write();
        if place.generation != self.timeline.generation() {
            let new = Arc::new(place.after_rewind(&self.timeline));
            let old = std::mem::replace(&mut *place, Arc::clone(&new));
            drop(place);
            new.note_change();
            // Its scanners hold files; they are dropped outside the lock.
            drop(old);
            return new;
        }
        Arc::clone(&place)
    }
}

impl ClientScanners for Inner {
    fn open_count(&self) -> usize {
        self.get().scanners.len()
    }

    fn close_expired(&self, now_millis: i64) {
        self.get().scanners.expire(now_millis);
    }

    /// Also notifies ZooKeeper's clients now, not with the next call.
    fn close_all(&self) {
        self.get();
    }
}
