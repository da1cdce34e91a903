//! Files, clock and randomness behind one small layer.
//!
//! Every open store gets an [`Env`]; nothing above uses the operating system directly. So a store
//! can run in memory, on a clock that a test moves, or on a disk that fails or loses data.

mod clock;
mod crash_fs;
mod fault_fs;
mod finished_file;
mod fs;
mod image;
mod keeping_fs;
mod kept;
mod log_file;
mod mapping;
mod mem_fs;
mod pages;
mod panic_message;
mod platform;
mod published;
mod readable;
mod readers;
mod rng;
#[cfg(feature = "runtime")]
pub mod runtime;
#[cfg(feature = "simulation")]
pub mod simulation;
mod std_fs;
mod striped;
pub mod sync;
pub mod thread;
pub mod time;

use std::sync::Arc;

pub use clock::{AdjustableClock, Clock, ClockMode, ManualClock, SystemClock};
pub use crash_fs::{CrashFileSystem, Losses};
pub use fault_fs::{Fault, FaultFileSystem, Operation};
pub use fs::{
    Announcement, DirEntry, FileBytes, FileIdentity, FileLock, FileSystem, ReadableFile,
    ReaderWatch, WritableFile, copy_between, files_below,
};
pub use image::{ImagePart, LargeFiles, image};
pub use keeping_fs::KeepingFileSystem;
pub use kept::is_kept_name;
pub use mapping::Mapping;
pub use mem_fs::MemFileSystem;
pub use pages::Pages;
pub use published::{Current, Published};
pub use rng::{Random, SeededRandom};
pub use std_fs::StdFileSystem;
pub use striped::Striped;

/// What a store needs from its environment.
#[derive(Debug, Clone)]
pub struct Env {
    /// The file system.
    pub fs: Arc<dyn FileSystem>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of random names.
    pub random: Arc<dyn Random>,
}

impl Env {
    /// The real environment.
    pub fn system() -> Self {
        Self {
            fs: Arc::new(StdFileSystem),
            clock: Arc::new(SystemClock),
            random: Arc::new(SeededRandom::from_entropy()),
        }
    }

    /// Files in memory, the real clock.
    pub fn in_memory() -> Self {
        Self { fs: Arc::new(MemFileSystem::new()), ..Self::system() }
    }

    /// Replaces the clock.
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Replaces the file system.
    pub fn with_fs(self, fs: Arc<dyn FileSystem>) -> Self {
        Self { fs, ..self }
    }
}
