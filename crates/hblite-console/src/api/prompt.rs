//! Runs commands of the shell's language, with limits on output and time, and a way to stop them.
//!
//! Every request has its own shell, so variables last as long as their request. A stopped command
//! ends at its next row or table, as with Ctrl-C at a terminal.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use hblite_shell::{NoLines, Outcome, Shell, ShellOptions, command_names};
use http::StatusCode;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Failure};
use crate::state::{Prompts, State};

/// The maximum number of concurrent requests.
const RUNNING_MAX: usize = 4;
/// Bytes of output of a request.
pub(crate) const OUTPUT_MAX: usize = 256 * 1024;
/// How long a request may run.
const TIME_MAX: Duration = Duration::from_secs(60);
/// How often the command `sleep` checks whether it should stop.
const TURN: Duration = Duration::from_millis(50);
/// Maximum length of a request's id, in bytes.
const ID_MAX: usize = 64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    /// The id with which it can be stopped.
    id: String,
    source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stop {
    id: String,
}

/// The names of all commands.
pub(super) fn commands() -> Answer {
    let mut names: Vec<&str> = command_names().collect();
    names.sort_unstable();
    Ok(json!({ "commands": names }))
}

pub(super) fn run(state: &State, body: &[u8]) -> Answer {
    let Run { id, source } = super::body(body)?;
    let interrupt = Arc::new(AtomicBool::new(false));
    let _running = Running::begin(&state.prompts, &id, &interrupt)?;
    let output = Output::new(&interrupt);
    let sleeping = Arc::clone(&interrupt);
    let options = ShellOptions::default()
        .with_sleep(move |duration| sleep(duration, &sleeping))
        .with_interrupt(Arc::clone(&interrupt));
    let begin = Instant::now();
    let (over, is_over) = channel::<()>();
    let (result, is_late) = std::thread::scope(|scope| {
        let interrupt = &interrupt;
        // If no thread can be started, nothing but the user ends the commands.
        let watch = std::thread::Builder::new().spawn_scoped(scope, move || {
            let is_late = is_over.recv_timeout(TIME_MAX) == Err(RecvTimeoutError::Timeout);
            if is_late {
                interrupt.store(true, Ordering::Relaxed);
            }
            is_late
        });
        let connection = state.prompt.clone();
        let mut shell = Shell::new(connection, Box::new(output.clone()), options);
        let result = shell.run_line(&source, &mut NoLines);
        drop(over);
        (result, watch.is_ok_and(|watch| watch.join().unwrap_or(false)))
    });
    let written = output.take();
    let outcome = match result {
        Ok(Outcome::Done) => "done",
        Ok(Outcome::Failed(_)) => "failed",
        Ok(Outcome::Incomplete) => "incomplete",
        Ok(Outcome::Exit(_)) => "exit",
        Err(_) if written.is_full => "failed",
        Err(error) => return Err(Failure::bad(error.to_string())),
    };
    Ok(json!({
        "outcome": outcome,
        "output": String::from_utf8_lossy(&written.bytes),
        "is_truncated": written.is_full,
        "is_late": is_late,
        "is_stopped": interrupt.load(Ordering::Relaxed) && !written.is_full && !is_late,
        "took_ms": begin.elapsed().as_secs_f64() * 1000.0,
    }))
}

/// Stops a running request.
pub(super) fn stop(state: &State, body: &[u8]) -> Answer {
    let Stop { id } = super::body(body)?;
    let running = state.prompts.lock();
    let found = running.get(&id).map(|interrupt| interrupt.store(true, Ordering::Relaxed));
    Ok(json!({ "was_running": found.is_some() }))
}

fn sleep(duration: Duration, interrupt: &AtomicBool) {
    let begin = Instant::now();
    while !interrupt.load(Ordering::Relaxed) {
        let Some(left) = duration.checked_sub(begin.elapsed()) else { return };
        std::thread::sleep(left.min(TURN));
    }
}

/// A running request.
struct Running<'p> {
    prompts: &'p Prompts,
    id: String,
}

impl<'p> Running<'p> {
    fn begin(prompts: &'p Prompts, id: &str, interrupt: &Arc<AtomicBool>) -> Result<Self, Failure> {
        if id.is_empty() || id.len() > ID_MAX {
            return Err(Failure::bad(format!("an id has 1 to {ID_MAX} bytes")));
        }
        let mut running = prompts.lock();
        if running.contains_key(id) {
            return Err(Failure::new(StatusCode::CONFLICT, "a command with this id is running"));
        }
        if running.len() >= RUNNING_MAX {
            let message = format!("{RUNNING_MAX} commands are already running; stop one, or wait");
            return Err(Failure::new(StatusCode::TOO_MANY_REQUESTS, message));
        }
        running.insert(id.to_owned(), Arc::clone(interrupt));
        Ok(Self { prompts, id: id.to_owned() })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.prompts.lock().remove(&self.id);
    }
}

/// The output, up to the limit. The command ends when the limit is reached.
#[derive(Debug, Clone)]
struct Output {
    written: Arc<Mutex<Written>>,
    interrupt: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Written {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Output {
    fn new(interrupt: &Arc<AtomicBool>) -> Self {
        Self { written: Arc::default(), interrupt: Arc::clone(interrupt) }
    }

    fn take(&self) -> Written {
        std::mem::take(&mut *self.written.lock())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.written.lock();
        let room = OUTPUT_MAX - written.bytes.len();
        written.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            written.is_full = true;
            self.interrupt.store(true, Ordering::Relaxed);
        }
        // The rest is dropped, and the command ends as if it had been interrupted.
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
