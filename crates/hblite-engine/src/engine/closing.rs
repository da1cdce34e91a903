//! Closes a store: all work ends, and the directory is released.
//!
//! Threads: any; the first call closes it.

use std::sync::atomic::Ordering;

use hblite_env::KeepingFileSystem;
use hblite_model::Result;

use super::{Engine, Running};
use crate::catalog::master_data;

/// Closing.
impl Engine {
    /// Ends all work, flushes memory to files and releases the directory. A second call does
    /// nothing.
    ///
    /// # Errors
    /// `Io` if a flush fails: nothing is lost, since the log still has the writes.
    pub fn close(&self) -> Result<()> {
        self.end(self.context.options.is_flushed_on_close)
    }

    /// Like [`Engine::close`], but without flushing memory: the directory is no longer needed.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn end_without_flush(&self) -> Result<()> {
        self.end(false)
    }

    /// Like [`Engine::close`], but nothing is made durable: the files are about to be replaced.
    pub(crate) fn give_way(&self) {
        let Some(running) = self.stop_work() else { return };
        self.stop_serving();
        self.context.wal.abandon();
        self.catalog.end_flushes();
        self.release(running);
    }

    fn end(&self, is_flushed: bool) -> Result<()> {
        let Some(running) = self.stop_work() else {
            return Ok(());
        };
        let flushed = match is_flushed {
            true => self.catalog.close(),
            false => Ok(()),
        };
        // Whatever failed: no thread may write to the log once the directory is released.
        self.stop_serving();
        let closed = match (flushed, self.context.wal.close()) {
            // The whole store is in files that HBase can read.
            (Ok(()), Ok(true)) => master_data::hand_over(&self.context, running.lock.as_ref()),
            (flushed, closed) => flushed.and(closed.map(drop)),
        };
        self.release(running);
        closed
    }

    /// Releases the directory.
    fn release(&self, running: Running) {
        self.context.keeping.iter().for_each(KeepingFileSystem::end);
        drop(running);
    }

    /// Ends background work; `None` if the engine has ended. The directory is released when the
    /// result is dropped.
    fn stop_work(&self) -> Option<Running> {
        let mut running = self.running.lock().take()?;
        self.context.is_closed.store(true, Ordering::Release);
        running.chores.stop();
        Some(running)
    }

    fn stop_serving(&self) {
        self.catalog.stop_serving();
        self.context.region_changes.notify();
    }
}
