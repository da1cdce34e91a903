//! The settings of a log.

use hblite_model::{Error, Result, setters};

/// The maximum size of a log file: 1 GiB.
const ROLL_SIZE_BYTES_MAX: u64 = 1 << 30;

/// Settings of a log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WalOptions {
    /// A log file that has reached this size gets no more records; 1 KiB to 1 GiB, default 64 MiB
    /// (`hbase.regionserver.logroll.multiplier` times the block size).
    pub roll_size_bytes: u64,
    /// With more log files than this, [`super::Wal::regions_to_flush`] names regions; default 32
    /// (`hbase.regionserver.maxlogs`).
    pub files_max: usize,
    /// If more bytes than this wait to be written, an append writes them itself; default 1 MiB.
    pub buffer_size_bytes: usize,
    /// Whether small writes may go through a mapping: see [`hblite_env::FileSystem::create_log`].
    /// The engine decides that for all files ([`crate::EngineOptions::are_files_mapped`]).
    pub(crate) are_files_mapped: bool,
}

impl Default for WalOptions {
    fn default() -> Self {
        Self {
            roll_size_bytes: 64 << 20,
            files_max: 32,
            buffer_size_bytes: 1 << 20,
            are_files_mapped: false,
        }
    }
}

setters! { WalOptions:
    with_roll_size_bytes sets roll_size_bytes: u64;
    with_files_max sets files_max: usize;
    with_buffer_size_bytes sets buffer_size_bytes: usize;
}

impl WalOptions {
    /// Refuses settings out of range.
    pub(super) fn check(&self) -> Result<()> {
        if !(1 << 10..=ROLL_SIZE_BYTES_MAX).contains(&self.roll_size_bytes) {
            return Err(Error::illegal_argument("roll_size_bytes is not within 1 KiB and 1 GiB"));
        }
        Ok(())
    }
}
