//! Compactions requested by clients: run one after another, in the background.
//!
//! HBase answers such a call immediately; a client can query the state of the compaction.
//!
//! Threads: any may request; a dedicated one does the work, and ends with the compactor.

use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::thread;

use hblite_engine::Engine;
use hblite_model::{CompactRequest, Error, Result};
use parking_lot::Mutex;

/// What is to be compacted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Job {
    /// The region's encoded name.
    pub(crate) region: String,
    /// One family, or all.
    pub(crate) family: Option<Vec<u8>>,
    pub(crate) is_major: bool,
}

/// Counts of a region's jobs that are waiting or running.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) minor: usize,
    pub(crate) major: usize,
}

/// Runs compactions.
#[derive(Debug, Default)]
pub(crate) struct Compactor {
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    pending: Arc<Mutex<HashMap<String, Pending>>>,
}

impl Compactor {
    /// Appends a job to the queue.
    ///
    /// # Errors
    /// `DoNotRetryIo` if no thread can be started.
    pub(crate) fn request(&self, engine: &Arc<Engine>, job: Job) -> Result<()> {
        let mut jobs = self.jobs.lock();
        let sender = match jobs.as_ref() {
            Some(sender) => sender,
            None => jobs.insert(self.start(engine)?),
        };
        {
            let mut pending = self.pending.lock();
            *count_of(pending.entry(job.region.clone()).or_default(), &job) += 1;
        }
        // The thread ends only when this sender is dropped.
        let _ = sender.send(job);
        Ok(())
    }

    /// The jobs of a region that are waiting or running.
    pub(crate) fn pending(&self, region: &str) -> Pending {
        self.pending.lock().get(region).copied().unwrap_or_default()
    }

    fn start(&self, engine: &Arc<Engine>) -> Result<mpsc::Sender<Job>> {
        let (sender, receiver) = mpsc::channel::<Job>();
        let (engine, pending) = (Arc::downgrade(engine), Arc::clone(&self.pending));
        let work = move || {
            for job in receiver {
                let Some(engine) = engine.upgrade() else { return };
                // A failed job leaves its files unchanged; the next one runs anyway.
                let _ = compact(&engine, &job);
                let mut pending = pending.lock();
                if let Some(counts) = pending.get_mut(&job.region) {
                    *count_of(counts, &job) -= 1;
                    if *counts == Pending::default() {
                        pending.remove(&job.region);
                    }
                }
            }
        };
        let builder = thread::Builder::new().name("hblite-compact".to_owned());
        // Clients repeat a request for any other error, for minutes.
        let refused = |error| Error::do_not_retry(Error::no_thread(error).message());
        builder.spawn(work).map_err(refused)?;
        Ok(sender)
    }
}

fn count_of<'p>(pending: &'p mut Pending, job: &Job) -> &'p mut usize {
    if job.is_major { &mut pending.major } else { &mut pending.minor }
}

fn compact(engine: &Engine, job: &Job) -> Result<()> {
    let mut request = CompactRequest::region(&job.region);
    if let Some(family) = &job.family {
        request = request.with_family(family.clone());
    }
    if job.is_major {
        request = request.major();
    }
    engine.compact(request)
}
