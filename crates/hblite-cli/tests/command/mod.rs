//! Runs the `hblite` command.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// Runs `hblite` with these arguments and this standard input, to its end.
pub(crate) fn hblite<'a>(arguments: impl IntoIterator<Item = &'a str>, input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hblite"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended before it read anything.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}
