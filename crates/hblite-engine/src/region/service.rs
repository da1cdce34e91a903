//! Takes a region out of service, and puts it back.
//!
//! A region that is unassigned keeps its memory and its place in the table. It is flushed, copied
//! and closed like any other, and refuses operations until it is assigned.

use std::sync::atomic::Ordering;

use hblite_model::{Error, Exception, Result};

use super::Region;

impl Region {
    /// Whether the region is out of service until it is assigned.
    pub(crate) fn is_unassigned(&self) -> bool {
        self.is_unassigned.load(Ordering::Acquire)
    }

    /// Takes the region out of service until it is assigned, or puts it back.
    pub(crate) fn set_unassigned(&self, is_unassigned: bool) {
        self.is_unassigned.store(is_unassigned, Ordering::Release);
        match is_unassigned {
            true => self.stop_serving(),
            false => self.serve_again(),
        }
    }

    /// Whether operations get a result now: the region is in service, or no wait will help.
    pub(crate) fn answers(&self) -> bool {
        !self.is_closing() || self.is_unassigned() || self.context.check_open().is_err()
    }

    pub(super) fn not_serving(&self) -> Error {
        if let Err(closed) = self.context.check_open() {
            return closed;
        }
        let name = self.info.region_name_as_string();
        let message = match self.is_unassigned() {
            true => format!("{name} is not online: assign it"),
            false => format!("{name} is closing"),
        };
        Error::new(Exception::NotServingRegion, message)
    }

    /// Takes the region out of service: waits for writes in progress, flushes, and returns
    /// `NotServingRegion` from then on. Open scanners continue with what they see.
    ///
    /// # Errors
    /// `Io` if the flush fails: then the region is back in service.
    pub(crate) fn close(&self) -> Result<()> {
        self.stop_serving();
        if let Err(error) = leave_files_only(self) {
            self.serve_again();
            return Err(error);
        }
        // Only the removal of old logs can fail here; the next flush tries again.
        let _ = self.context.wal.region_removed(self.info.encoded_name());
        Ok(())
    }

    /// Puts a region back in service that stopped serving and still has its memory, unless it is
    /// unassigned.
    pub(crate) fn serve_again(&self) {
        if self.is_unassigned() {
            return;
        }
        for store in &self.stores {
            store.allow_compactions();
        }
        self.is_closing.store(false, Ordering::Release);
        self.context.region_changes.notify();
    }

    /// Takes the region out of service and discards its memory, because its table was dropped.
    pub(crate) fn discard(&self) -> Result<()> {
        self.abandon();
        self.context.wal.region_removed(self.info.encoded_name())
    }

    /// Takes the region out of service and discards its memory, which the log still has.
    pub(crate) fn abandon(&self) {
        self.stop_serving();
        self.flush.lock().is_discarded = true;
        for store in &self.stores {
            store.discharge();
        }
    }

    /// Refuses all operations from now on; waits for writes and a bulk load in progress.
    pub(crate) fn stop_serving(&self) {
        let updates = self.stop_updates();
        self.is_closing.store(true, Ordering::Release);
        drop(updates);
        self.context.region_changes.notify();
        self.context.memory.freed().notify();
        for store in &self.stores {
            store.stop_compactions();
        }
        drop(self.bulk_load.lock());
    }
}

/// Writes everything to files, and makes the directory match the region.
fn leave_files_only(region: &Region) -> Result<()> {
    while !region.is_memory_empty() {
        region.flush()?;
    }
    region.remove_dead_files()?;
    // A region without a valid manifest gets one.
    region.files.save()
}
