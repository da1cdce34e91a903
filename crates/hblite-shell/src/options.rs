//! How a shell prints, sleeps and is interrupted.
//!
//! Threads: the shell's; `interrupt` is set by any.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Shows how far a long count or scan is.
pub trait Progress {
    /// So many rows have been read so far.
    fn rows(&mut self, count: u64);

    /// The count or scan is over.
    fn end(&mut self);
}

/// How a shell prints.
pub struct ShellOptions {
    /// Columns of the terminal; `None` for a pipe or file, which get no padding.
    pub width: Option<usize>,
    /// Whether headers and errors are colored.
    pub is_colored: bool,
    /// Seconds from UTC to local time, positive to the east, at an instant in milliseconds.
    pub utc_offset_seconds: fn(i64) -> i32,
    /// What `whoami` says.
    pub user: String,
    /// What `sleep` does. It should return early when `interrupt` is set.
    pub sleep: Box<dyn FnMut(Duration)>,
    /// Shows how far long counts and scans are.
    pub progress: Option<Box<dyn Progress>>,
    /// Ends the running command with an error while it is set: any thread, or a signal handler,
    /// may set it. Whoever runs lines clears it. Reads, counts and commands on many tables ask for
    /// it between rows and tables; one step of the store is not interrupted.
    pub interrupt: Arc<AtomicBool>,
}

/// A pipe, UTC, no progress.
impl Default for ShellOptions {
    fn default() -> Self {
        Self {
            width: None,
            is_colored: false,
            utc_offset_seconds: |_| 0,
            user: "hblite".to_owned(),
            sleep: Box::new(std::thread::sleep),
            progress: None,
            interrupt: Arc::default(),
        }
    }
}

impl fmt::Debug for ShellOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShellOptions")
            .field("width", &self.width)
            .field("is_colored", &self.is_colored)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
