//! What all subcommands say alike: failures, sizes, and how far something long has come.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Status for what the caller did wrong or what was refused.
pub(crate) const FAILURE: u8 = 1;

/// Says on standard error what went wrong and gives the exit status.
pub(crate) fn fail(message: &str, status: u8) -> ExitCode {
    // Standard error may be closed; there is nothing to be done about that.
    let _ = writeln!(io::stderr(), "hblite: {message}");
    ExitCode::from(status)
}

/// Prints a text. Who reads it may have seen enough.
pub(crate) fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Bytes in the unit that fits.
pub(crate) fn size(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

/// A bar on standard error for so many bytes; nothing is shown if that is no terminal.
pub(crate) fn byte_bar() -> ProgressBar {
    bar("{bar:30} {binary_bytes}/{binary_total_bytes}, {binary_bytes_per_sec}, {eta}")
}

/// The same for so many records.
pub(crate) fn record_bar() -> ProgressBar {
    bar("{bar:30} {human_pos}/{human_len} records, {eta}")
}

fn bar(template: &str) -> ProgressBar {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(10)
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(0), target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}
