//! The history of requests that a console keeps in the directory: see `layout::history`. A rewind
//! leaves it as it is.

use hblite_model::Result;

use super::Timeline;
use crate::layout::history;

impl Timeline {
    /// The history of requests; `None` if there is none.
    ///
    /// # Errors
    /// `CorruptHFile` if the file is damaged or of another store; `Io`.
    pub fn kept_history(&self) -> Result<Option<Vec<u8>>> {
        history::read(self.env.fs.as_ref(), self.engine().layout())
    }

    /// Replaces the history of requests. Returns false, and writes nothing, if the store is open
    /// read-only.
    ///
    /// # Errors
    /// `RegionServerStopped` if the store is closed or its directory replaced; `RegionTooBusy` if
    /// the disk is full; `Io`.
    pub fn keep_history(&self, history: &[u8]) -> Result<bool> {
        if self.options.is_read_only {
            return Ok(false);
        }
        let engine = self.engine();
        engine.check_open()?;
        engine.check_place_and_space()?;
        history::write(self.env.fs.as_ref(), engine.layout(), history)?;
        Ok(true)
    }
}
