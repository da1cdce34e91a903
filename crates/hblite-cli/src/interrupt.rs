//! Ctrl-C and its like, for commands that clean up before they end.
//!
//! The first signal is noted: the running work asks [`Interrupt::answer`] at intervals, ends in
//! order, and the process exits with [`Interrupt::exit_status`]. A second signal ends the
//! process at once.
//!
//! A thread that waits for input notices nothing of a signal, so [`Interruptible`] waits in short
//! turns and asks in between.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
#[cfg(unix)]
use std::os::fd::{AsFd, AsFd as Source};
#[cfg(windows)]
use std::os::windows::io::{AsHandle, AsHandle as Source};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

#[cfg(unix)]
const SIGNALS: &[i32] = &[SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const SIGNALS: &[i32] = &[SIGINT, SIGTERM];

/// What a shell adds to the number of a signal that ended a process.
const STATUS_OF_SIGNALS: i32 = 128;

/// Whether the process was asked to end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Notes SIGINT, SIGTERM and (on Unix) SIGHUP from now on, instead of ending the process.
    pub(crate) fn catch(&self) -> io::Result<()> {
        let is_second = Arc::new(AtomicBool::new(false));
        for &signal in SIGNALS {
            let status = STATUS_OF_SIGNALS + signal;
            // The order counts: actions run as they were registered.
            flag::register_conditional_shutdown(signal, status, Arc::clone(&is_second))?;
            flag::register(signal, Arc::clone(&is_second))?;
            let noted = Arc::clone(&self.signal);
            flag::register_usize(signal, noted, usize::try_from(signal).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Whether to go on.
    pub(crate) fn answer(&self) -> ControlFlow<()> {
        match self.exit_status() {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }

    /// The status to exit with if there was a signal.
    pub(crate) fn exit_status(&self) -> Option<u8> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => u8::try_from(signal + STATUS_OF_SIGNALS as usize).ok(),
        }
    }
}

/// While it lives, Ctrl-C sets a flag; afterwards it ends the process.
#[derive(Debug)]
pub(crate) struct CtrlC {
    is_over: Arc<AtomicBool>,
}

impl CtrlC {
    pub(crate) fn catch(flag: &Arc<AtomicBool>) -> io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        flag::register_conditional_default(SIGINT, Arc::clone(&is_over))?;
        flag::register(SIGINT, Arc::clone(flag))?;
        Ok(Self { is_over })
    }
}

impl Drop for CtrlC {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// An input whose wait for bytes ends with a signal.
#[derive(Debug)]
pub(crate) struct Interruptible<R> {
    input: R,
    interrupt: Interrupt,
}

impl<R: Read + Source> Interruptible<R> {
    pub(crate) fn new(input: R, interrupt: Interrupt) -> Self {
        Self { input, interrupt }
    }
}

impl<R: Read + Source> Read for Interruptible<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.interrupt.answer().is_break() {
                // Not `Interrupted`, after which readers try again.
                return Err(io::Error::other("interrupted"));
            }
            if has_bytes(&self.input)? {
                return self.input.read(buffer);
            }
        }
    }
}

/// Standard input without the buffer of the standard library.
pub(crate) fn standard_input() -> io::Result<File> {
    #[cfg(unix)]
    let handle = io::stdin().as_fd().try_clone_to_owned();
    #[cfg(windows)]
    let handle = io::stdin().as_handle().try_clone_to_owned();
    handle.map(File::from)
}

/// Whether a read would not wait: looks for a short turn.
#[cfg(unix)]
fn has_bytes(input: &impl Source) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    /// How long a wait for input goes on without asking for a signal.
    const TURN: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    let mut waiting = [PollFd::new(input, PollFlags::IN)];
    match poll(&mut waiting, Some(&TURN)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// A wait on any kind of input that ends after a time does not exist on Windows; there a signal is
/// noticed after the next bytes.
#[cfg(windows)]
fn has_bytes(_: &impl Source) -> io::Result<bool> {
    Ok(true)
}
