//! The cluster over the current store: it follows the store through rewinds.
//!
//! Threads: any.

use std::sync::Arc;

use hblite_engine::Timeline;
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
        let shared = Arc::clone(&cluster.shared);
        Self(Arc::new(Inner { timeline, shared, cluster: RwLock::new(Arc::new(cluster)) }))
    }

    /// The cluster since the last rewind.
    pub(crate) fn get(&self) -> Arc<Cluster> {
        let cluster = Arc::clone(&self.0.cluster.read());
        if cluster.generation == self.0.timeline.generation() {
            return cluster;
        }
        self.follow()
    }

    #[cold]
    fn follow(&self) -> Arc<Cluster> {
        let mut place = self.0.cluster.write();
        if place.generation != self.0.timeline.generation() {
            let new = Arc::new(place.after_rewind(&self.0.timeline));
            let old = std::mem::replace(&mut *place, Arc::clone(&new));
            drop(place);
            new.note_change();
            // Its scanners hold files; they are dropped outside the lock.
            drop(old);
            return new;
        }
        Arc::clone(&place)
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
