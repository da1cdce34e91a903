//! How a shell prints, sleeps and is interrupted.
//!
//! Threads: the shell's; `interrupt` is set by any.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::format::Format;

/// Shows the progress of a long count or scan.
pub trait Progress {
    /// Called with the number of rows read so far.
    fn rows(&mut self, count: u64);

    /// The count or scan is over.
    fn end(&mut self);
}

/// How a shell prints, sleeps and is interrupted. The default is a pipe, UTC and no progress.
///
/// ```
/// use hblite_shell::ShellOptions;
/// let options = ShellOptions::default().with_width(80).with_user("ada");
/// assert_eq!(options.width, Some(80));
/// ```
#[non_exhaustive]
pub struct ShellOptions {
    /// The form of the output.
    pub format: Format,
    /// Where errors go, and what is not in the format, unless that is [`Format::Text`]. The default
    /// is standard error.
    pub errors: Box<dyn io::Write>,
    /// Columns of the terminal; `None` for a pipe or file, which get no padding.
    pub width: Option<usize>,
    /// Whether headers and errors are colored.
    pub is_colored: bool,
    /// The offset of local time from UTC in seconds, positive to the east, at an instant in
    /// milliseconds.
    pub utc_offset_seconds: fn(i64) -> i32,
    /// What `whoami` prints.
    pub user: String,
    /// The groups of the user.
    pub groups: fn() -> Vec<String>,
    /// What `sleep` does. It should return early when `interrupt` is set.
    pub sleep: Box<dyn FnMut(Duration)>,
    /// Shows the progress of long counts and scans.
    pub progress: Option<Box<dyn Progress>>,
    /// While it is set, the running command ends with an error. Any thread, or a signal handler,
    /// may set it; the caller that runs lines clears it. Reads, counts and commands on many tables
    /// check it between rows and tables; a single operation of the store is not interrupted.
    pub interrupt: Arc<AtomicBool>,
    /// Whether `trace` is on.
    pub(crate) is_tracing: bool,
}

impl Default for ShellOptions {
    fn default() -> Self {
        Self {
            format: Format::Text,
            errors: Box::new(io::stderr()),
            width: None,
            is_colored: false,
            utc_offset_seconds: |_| 0,
            user: "hblite".to_owned(),
            groups: Vec::new,
            sleep: Box::new(std::thread::sleep),
            progress: None,
            interrupt: Arc::default(),
            is_tracing: false,
        }
    }
}

impl ShellOptions {
    /// Sets [`format`](Self::format).
    #[must_use]
    pub fn with_format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    /// Sets [`errors`](Self::errors).
    #[must_use]
    pub fn with_errors(self, errors: impl io::Write + 'static) -> Self {
        Self { errors: Box::new(errors), ..self }
    }

    /// Sets [`width`](Self::width).
    #[must_use]
    pub fn with_width(self, width: impl Into<Option<usize>>) -> Self {
        Self { width: width.into(), ..self }
    }

    /// Sets [`is_colored`](Self::is_colored).
    #[must_use]
    pub fn with_colors(self, is_colored: bool) -> Self {
        Self { is_colored, ..self }
    }

    /// Sets [`utc_offset_seconds`](Self::utc_offset_seconds).
    #[must_use]
    pub fn with_utc_offset_seconds(self, offset: fn(i64) -> i32) -> Self {
        Self { utc_offset_seconds: offset, ..self }
    }

    /// Sets [`user`](Self::user).
    #[must_use]
    pub fn with_user(self, user: impl Into<String>) -> Self {
        Self { user: user.into(), ..self }
    }

    /// Sets [`groups`](Self::groups).
    #[must_use]
    pub fn with_groups(self, groups: fn() -> Vec<String>) -> Self {
        Self { groups, ..self }
    }

    /// Sets [`sleep`](Self::sleep).
    #[must_use]
    pub fn with_sleep(self, sleep: impl FnMut(Duration) + 'static) -> Self {
        Self { sleep: Box::new(sleep), ..self }
    }

    /// Sets [`progress`](Self::progress).
    #[must_use]
    pub fn with_progress(self, progress: impl Progress + 'static) -> Self {
        Self { progress: Some(Box::new(progress)), ..self }
    }

    /// Sets [`interrupt`](Self::interrupt).
    #[must_use]
    pub fn with_interrupt(self, interrupt: Arc<AtomicBool>) -> Self {
        Self { interrupt, ..self }
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
