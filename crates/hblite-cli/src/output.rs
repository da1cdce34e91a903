//! Output shared by all subcommands: failures, sizes, and progress.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Status for wrong usage or a refusal.
pub(crate) const FAILURE: u8 = 1;

/// Reports an error on standard error and returns the exit status.
pub(crate) fn fail(message: &str, status: u8) -> ExitCode {
    // Standard error may be closed; nothing can be done about that.
    let _ = writeln!(io::stderr(), "hblite: {message}");
    ExitCode::from(status)
}

/// Writes the ready line of a server. A process that waits for the file never sees a part of it.
/// Only its owner may read it, because it has the console's token.
pub(crate) fn write_port_file(file: &Path, line: &str) -> Result<(), String> {
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".tmp");
    let write = || {
        // A file from an earlier run may have other permissions.
        let _ = fs::remove_file(&unfinished);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut output = options.open(&unfinished)?;
        output.write_all(format!("{line}\n").as_bytes())?;
        fs::rename(&unfinished, file)
    };
    write().map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// Whether [`print`] failed.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Prints a text. Its reader may have closed the pipe; any other error is reported, once, and is in
/// [`status`].
pub(crate) fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
        && !HAS_FAILED.swap(true, Ordering::Relaxed)
    {
        fail(&format!("cannot write to standard output: {error}"), FAILURE);
    }
}

/// The exit status of a command that ended with `status`: a result that could not be printed is a
/// failure.
pub(crate) fn status(status: ExitCode) -> ExitCode {
    match HAS_FAILED.load(Ordering::Relaxed) && status == ExitCode::SUCCESS {
        true => ExitCode::from(FAILURE),
        false => status,
    }
}

/// Bytes in a suitable unit.
pub(crate) fn size(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

/// Prints a note on standard error that is not a failure.
pub(crate) fn tell(text: &str) {
    // As in `fail`.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A progress bar for bytes on standard error; nothing is shown if that is not a terminal.
pub(crate) fn byte_bar() -> ProgressBar {
    bar("{bar:30} {binary_bytes}/{binary_total_bytes}, {binary_bytes_per_sec}, {eta}", Some(0))
}

/// Like [`byte_bar`], with a message. The number of bytes may stay unknown.
pub(crate) fn transfer_bar() -> ProgressBar {
    bar("{wide_bar} {binary_bytes}/{binary_total_bytes}, {msg}, {eta}", None)
}

/// A progress bar for a number of things.
pub(crate) fn count_bar(things: &str) -> ProgressBar {
    bar(&format!("{{bar:30}} {{pos}}/{{len}} {things}, {{msg}}"), Some(0))
}

/// A count of rows whose total is unknown.
pub(crate) fn row_spinner() -> ProgressBar {
    bar("{spinner} {human_pos} rows, {per_sec}", None)
}

/// A progress bar for a number of records.
pub(crate) fn record_bar() -> ProgressBar {
    bar("{bar:30} {human_pos}/{human_len} records, {eta}", Some(0))
}

fn bar(template: &str, length: Option<u64>) -> ProgressBar {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(10)
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(length, target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}
