//! Ctrl-C and its like, for commands that clean up before they end.
//!
//! The first signal is recorded: the running work checks [`Interrupt::answer`] at intervals and
//! ends cleanly, and the process exits with [`Interrupt::exit_status`]. A second signal ends the
//! process immediately.
//!
//! A thread that waits for input does not notice a signal, so [`Interruptible`] waits in short
//! intervals and checks in between.

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

/// The shell convention: exit status of a process ended by signal 0.
const STATUS_OF_SIGNALS: i32 = 128;

/// Whether the process was asked to end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// From now on, records SIGINT, SIGTERM and (on Unix) SIGHUP instead of ending the process.
    pub(crate) fn catch(&self) -> io::Result<()> {
        let is_second = Arc::new(AtomicBool::new(false));
        for &signal in SIGNALS {
            let status = STATUS_OF_SIGNALS + signal;
            // The order matters: actions run in the order of registration.
            flag::register_conditional_shutdown(signal, status, Arc::clone(&is_second))?;
            flag::register(signal, Arc::clone(&is_second))?;
            let noted = Arc::clone(&self.signal);
            flag::register_usize(signal, noted, usize::try_from(signal).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Whether to continue.
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

/// Lets a write beyond the limit on the size of files (`ulimit -f`) fail, like one to a full disk,
/// instead of ending the process.
pub(crate) fn survive_file_size_limit() {
    #[cfg(unix)]
    {
        // Whether the signal came is of no interest: the write reports an error.
        let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    }
}

/// While this lives, Ctrl-C sets a flag; afterwards it ends the process.
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

/// An input on which a wait for bytes ends with a signal.
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
                // Not `Interrupted`, after which readers retry.
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

/// Whether a read would not block; polls for a short time.
#[cfg(unix)]
fn has_bytes(input: &impl Source) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    /// How long to wait for input between checks for a signal.
    const TURN: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    let mut waiting = [PollFd::new(input, PollFlags::IN)];
    match poll(&mut waiting, Some(&TURN)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Windows has no wait with a timeout on all kinds of input; there a signal is noticed after the
/// next bytes.
#[cfg(windows)]
fn has_bytes(_: &impl Source) -> io::Result<bool> {
    Ok(true)
}
