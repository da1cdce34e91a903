//! A shell on a store in memory, with a clock that the test controls, or on a cluster.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(dead_code, reason = "not every test needs all of it")]

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

use hblite::{Connection, ManualClock, Options};
use hblite_shell::{NoLines, Outcome, Shell, ShellOptions};

/// What a shell has printed.
#[derive(Clone, Default)]
pub(crate) struct Transcript(Rc<RefCell<Vec<u8>>>);

impl Transcript {
    pub(crate) fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.0.borrow_mut())).unwrap()
    }
}

impl Write for Transcript {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The variable with the URL of a cluster.
const CONNECT: &str = "HBLITE_SHELL_CONNECT";

/// A store whose clock is stopped, and a shell on it. Nothing is compacted unless a command says
/// so.
pub(crate) struct Session {
    /// Of the store; a cluster does not follow it.
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) connection: Connection,
    pub(crate) transcript: Transcript,
    pub(crate) shell: Shell,
    /// How far the clock advances before each line.
    step_ms: i64,
}

impl Session {
    pub(crate) fn new(start_ms: i64, step_ms: i64) -> Self {
        let clock = Arc::new(ManualClock::new(start_ms));
        let engine = Options::new().with_compaction_enabled(false);
        let options = engine.with_clock(clock.clone());
        Self::on(options.open_in_memory().unwrap(), clock, step_ms)
    }

    /// On the cluster that [`CONNECT`] names; `None` if it names none.
    pub(crate) fn on_cluster() -> Option<Self> {
        let url = std::env::var(CONNECT).ok()?;
        Some(Self::on(connect(&url), Arc::new(ManualClock::new(0)), 0))
    }

    fn on(connection: Connection, clock: Arc<ManualClock>, step_ms: i64) -> Self {
        let transcript = Transcript::default();
        let shell = shell(&clock, &connection, &transcript);
        Self { clock, connection, transcript, shell, step_ms }
    }

    pub(crate) fn restart_shell(&mut self) {
        self.shell = shell(&self.clock, &self.connection, &self.transcript);
    }

    /// Runs a line; returns its outcome and what it printed.
    pub(crate) fn run(&mut self, line: &str) -> (Outcome, String) {
        self.clock.advance(self.step_ms);
        let outcome = self.shell.run_line(line, &mut NoLines).unwrap();
        (outcome, self.transcript.take())
    }
}

pub(crate) fn is_on_cluster() -> bool {
    std::env::var_os(CONNECT).is_some()
}

#[cfg(feature = "cluster")]
fn connect(url: &str) -> Connection {
    hblite::connect(url).unwrap()
}

#[cfg(not(feature = "cluster"))]
fn connect(_: &str) -> Connection {
    panic!("{CONNECT} needs --features cluster")
}

fn shell(clock: &Arc<ManualClock>, connection: &Connection, out: &Transcript) -> Shell {
    let clock = Arc::clone(clock);
    let options = ShellOptions::default()
        .with_user("root".to_owned())
        .with_groups(|| vec!["root".to_owned()])
        .with_sleep(move |duration| match is_on_cluster() {
            true => std::thread::sleep(duration),
            false => clock.advance(duration.as_millis() as i64),
        });
    Shell::new(connection.clone(), Box::new(out.clone()), options)
}
