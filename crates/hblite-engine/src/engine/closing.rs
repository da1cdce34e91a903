//! Closes a store: all work ends, and the directory is released.
//!
//! Threads: any; the first call closes it.

use std::sync::atomic::Ordering;

use hblite_model::Result;

use super::Engine;
use crate::catalog::master_data;

/// What becomes of the writes that are not in store files when the store is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// They are flushed.
    Flushed,
    /// They stay in the log, durably.
    Logged,
    /// They are not needed.
    Abandoned,
}

/// Closing.
impl Engine {
    /// Ends all work, flushes memory to files and releases the directory. A second call does
    /// nothing.
    ///
    /// # Errors
    /// `Io` if a flush fails: nothing is lost, since the log still has the writes.
    pub fn close(&self) -> Result<()> {
        self.end(match self.context.options.is_flushed_on_close {
            true => Ending::Flushed,
            false => Ending::Logged,
        })
    }

    /// Like [`Engine::close`], but without flushing memory: the directory is no longer needed.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn end_without_flush(&self) -> Result<()> {
        self.end(Ending::Logged)
    }

    /// Like [`Engine::close`], but nothing is made durable: the files are about to be replaced.
    ///
    /// # Errors
    /// None at present.
    pub(crate) fn give_way(&self) -> Result<()> {
        self.end(Ending::Abandoned)
    }

    fn end(&self, ending: Ending) -> Result<()> {
        let Some(mut running) = self.running.lock().take() else {
            return Ok(());
        };
        self.context.is_closed.store(true, Ordering::Release);
        running.chores.stop();
        let flushed = match ending {
            Ending::Flushed => self.catalog.close(),
            Ending::Logged | Ending::Abandoned => Ok(()),
        };
        // Whatever failed: no thread may write to the log once the directory is released.
        self.catalog.stop_serving();
        self.context.region_changes.notify();
        if ending == Ending::Abandoned {
            self.context.wal.abandon();
            self.catalog.end_flushes();
            return Ok(());
        }
        let closed = match (flushed, self.context.wal.close()) {
            // The whole store is in files that HBase can read.
            (Ok(()), Ok(true)) => master_data::hand_over(&self.context, running.lock.as_ref()),
            (flushed, closed) => flushed.and(closed.map(drop)),
        };
        drop(running);
        closed
    }
}
