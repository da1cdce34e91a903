//! Work in the background: flushes, compactions, old logs.
//!
//! Two threads, one for flushes and one for compactions, so that a long compaction never keeps
//! memory from being freed. Lower layers ring a channel with a region's name and go on; what a
//! region needs is decided when its turn comes.
//!
//! An error of a chore is kept for the store's status and the chore is tried again after a pause:
//! nothing is lost by waiting, and writers that need memory are told when it takes too long.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use hblite_model::{Error, Exception, Result};
use parking_lot::Mutex;

use crate::catalog::Catalog;
use crate::chore_queue::{ChoreReceiver, ChoreSender, Request};
use crate::context::EngineContext;
use crate::region::Region;

const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// The running workers.
pub(crate) struct Chores {
    sender: ChoreSender,
    threads: Vec<JoinHandle<()>>,
    last_error: Arc<Mutex<Option<String>>>,
}

impl Chores {
    pub(crate) fn start(
        context: &Arc<EngineContext>,
        catalog: &Arc<Catalog>,
        receiver: ChoreReceiver,
    ) -> Result<Self> {
        let last_error = Arc::new(Mutex::new(None));
        let mut threads = Vec::new();
        let works: [(&str, Receiver<Request>, Work); 2] = [
            ("hblite-flusher", receiver.flushes, flush),
            ("hblite-compactor", receiver.compactions, compact),
        ];
        for (name, requests, work) in works {
            let worker = Worker {
                context: Arc::clone(context),
                catalog: Arc::clone(catalog),
                last_error: Arc::clone(&last_error),
                work,
            };
            let thread = std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || worker.run(&requests))
                .map_err(|error| {
                    Error::new(Exception::Io, format!("start thread {name}: {error}"))
                })?;
            threads.push(thread);
        }
        Ok(Self { sender: context.chores.clone(), threads, last_error })
    }

    /// The last thing that went wrong, if it has not succeeded since.
    pub(crate) fn last_error(&self) -> Option<String> {
        self.last_error.lock().clone()
    }

    /// Ends the workers after what they are doing.
    pub(crate) fn stop(&mut self) {
        let _ = self.sender.flushes.send(Request::Stop);
        let _ = self.sender.compactions.send(Request::Stop);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

type Work = fn(&EngineContext, &Catalog, &Region) -> Result<()>;

struct Worker {
    context: Arc<EngineContext>,
    catalog: Arc<Catalog>,
    last_error: Arc<Mutex<Option<String>>>,
    work: Work,
}

impl Worker {
    fn run(&self, requests: &Receiver<Request>) {
        let mut failed: Vec<String> = Vec::new();
        loop {
            let request = if failed.is_empty() {
                requests.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                requests.recv_timeout(RETRY_PAUSE)
            };
            let names = match request {
                Ok(Request::Region(name)) => vec![name],
                Ok(Request::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => std::mem::take(&mut failed),
            };
            for name in names {
                if let Err(error) = self.work_on(&name) {
                    *self.last_error.lock() = Some(error.to_string());
                    failed.push(name);
                }
            }
        }
    }

    fn work_on(&self, name: &str) -> Result<()> {
        // A region that was split or dropped meanwhile needs nothing any more.
        let Some(region) = self.catalog.region(name) else {
            return Ok(());
        };
        (self.work)(&self.context, &self.catalog, &region)?;
        *self.last_error.lock() = None;
        Ok(())
    }
}

fn flush(context: &EngineContext, catalog: &Catalog, region: &Region) -> Result<()> {
    region.flush()?;
    release_log(context, catalog)
}

/// Lets old segments of the log go. The catalog's own regions hold little and would keep each
/// segment that has a word of them, so they are flushed as soon as the log was rolled; others only
/// when there are too many segments.
pub(crate) fn release_log(context: &EngineContext, catalog: &Catalog) -> Result<()> {
    if context.wal.segment_count() > 1 {
        for region in catalog.all_regions() {
            if region.info().table().is_system() {
                region.flush()?;
            }
        }
    }
    for name in context.wal.regions_to_flush() {
        if let Some(region) = catalog.region(&name) {
            region.flush()?;
        }
    }
    Ok(())
}

fn compact(_context: &EngineContext, catalog: &Catalog, region: &Region) -> Result<()> {
    region.compact(false)?;
    catalog.clean_parents()
}
