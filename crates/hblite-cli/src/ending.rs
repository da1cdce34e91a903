//! What ends a server: a signal or, if requested, the end of its standard input.
//!
//! A program that starts a server can hold the other end of a pipe on the server's standard input.
//! However that program ends, even by `kill -9`, the operating system closes the pipe, and the
//! server ends as after SIGTERM. This works the same on every platform, and unlike a parent-death
//! signal it does not depend on the thread that started the server.
//!
//! Threads: the caller of [`Ending::wait`] waits; one thread waits for signals, one for the input.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// Waits for the first reason to end.
#[derive(Debug)]
pub(crate) struct Ending {
    sender: Sender<()>,
    receiver: Receiver<()>,
}

impl Ending {
    /// Catches SIGTERM and SIGINT from now on; on Windows, Ctrl-C.
    pub(crate) fn catch() -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        signals::catch(sender.clone())?;
        Ok(Self { sender, receiver })
    }

    /// Also ends when standard input does. Its content is ignored.
    pub(crate) fn include_input(&self) -> io::Result<()> {
        let sender = self.sender.clone();
        let wait = move || {
            // Like the end of input, an error means that nothing more will come.
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            // Without a receiver, the server has already ended.
            let _ = sender.send(());
        };
        thread::Builder::new().name("parent".to_owned()).spawn(wait).map(drop)
    }

    /// What ends the wait, for another reason.
    pub(crate) fn trigger(&self) -> impl Fn() + Send + Sync + use<> {
        let sender = self.sender.clone();
        move || {
            // As above.
            let _ = sender.send(());
        }
    }

    /// Returns at the first reason to end.
    pub(crate) fn wait(&self) {
        // `self` has a sender, so this is never disconnected.
        let _ = self.receiver.recv();
    }
}

#[cfg(unix)]
mod signals {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    use super::{Sender, io, thread};

    pub(super) fn catch(sender: Sender<()>) -> io::Result<()> {
        let mut signals = Signals::new([SIGTERM, SIGINT])?;
        let wait = move || {
            if signals.forever().next().is_some() {
                let _ = sender.send(());
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
    }
}

#[cfg(windows)]
mod signals {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;

    use super::{Sender, io, thread};

    /// Windows calls a handler, which may only set a flag; the flag is polled this often.
    const TURN: Duration = Duration::from_millis(50);

    pub(super) fn catch(sender: Sender<()>) -> io::Result<()> {
        let is_over = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register(signal, Arc::clone(&is_over))?;
        }
        let wait = move || {
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(TURN);
            }
            let _ = sender.send(());
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
    }
}
