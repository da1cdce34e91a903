//! How the parts of the engine request background work: they send a request and continue.
//!
//! Regions send their encoded names; the workers of `chore` receive them.
//!
//! Threads: any.

use hblite_env::sync::mpsc::{Receiver, Sender, channel};

/// What a worker is to do.
pub(crate) enum Request {
    /// Check the region with this encoded name.
    Region(String),
    /// Look again at what there is to do besides requests.
    Look,
    /// End.
    Stop,
}

/// Sends requests to the workers. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ChoreSender {
    pub(crate) flushes: Sender<Request>,
    pub(crate) compactions: Sender<Request>,
}

/// The receiving ends, until the workers are started.
pub(crate) struct ChoreReceiver {
    pub(crate) flushes: Receiver<Request>,
    pub(crate) compactions: Receiver<Request>,
}

/// The two ends of the channels to the workers.
pub(crate) fn chore_channel() -> (ChoreSender, ChoreReceiver) {
    let (flush_sender, flushes) = channel();
    let (compaction_sender, compactions) = channel();
    let sender = ChoreSender { flushes: flush_sender, compactions: compaction_sender };
    (sender, ChoreReceiver { flushes, compactions })
}

impl ChoreSender {
    /// Requests a flush of a region.
    pub(crate) fn flush(&self, encoded_name: &str) {
        // The workers end after everything else, so a failed send no longer matters.
        let _ = self.flushes.send(Request::Region(encoded_name.to_owned()));
    }

    /// Requests a compaction of a region.
    pub(crate) fn compact(&self, encoded_name: &str) {
        let _ = self.compactions.send(Request::Region(encoded_name.to_owned()));
    }
}
