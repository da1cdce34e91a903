//! The runtime that a connection to a cluster owns.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

use hblite_env::thread::check_startable;
use hblite_model::{Error, Exception, Result};
use tokio::runtime::{Builder, Handle};

/// Number of threads that read and write sockets; the calling threads do all other work.
const THREADS: usize = 2;
/// More steps than asynchronous code may make before it must yield.
const BUDGET_MAX: usize = 256;

/// Runs futures while the calling thread waits.
#[derive(Debug)]
pub(super) struct Runtime {
    /// `None` only while this is being dropped.
    tokio: Option<tokio::runtime::Runtime>,
    is_closed: AtomicBool,
}

impl Runtime {
    pub(super) fn start() -> Result<Self> {
        // One more looks up names of hosts.
        check_startable(THREADS + 1).map_err(Error::no_thread)?;
        let tokio = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("hblite-client")
            .enable_all()
            .build()
            .map_err(|error| Error::io_of("starting the threads of the client", error))?;
        Ok(Self { tokio: Some(tokio), is_closed: AtomicBool::new(false) })
    }

    /// Runs a future to its end.
    ///
    /// # Errors
    /// Those of the future; `Closed` after [`Runtime::close`]; `DoNotRetryIo` if the caller is
    /// asynchronous code, which must not wait.
    pub(super) fn run<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.run_to_end(pin!(work))
    }

    /// Compiled once for each result: tokio has three loops that run a future, and there are dozens
    /// of futures.
    fn run_to_end<T>(&self, work: Pin<&mut dyn Future<Output = Result<T>>>) -> Result<T> {
        let Some(tokio) = self.tokio.as_ref().filter(|_| !self.is_closed.load(Ordering::Acquire))
        else {
            let message = "the connection to the cluster is closed";
            return Err(Error::new(Exception::RegionServerStopped, message));
        };
        if is_asynchronous() {
            return Err(Error::do_not_retry(
                "the blocking API was called from asynchronous code; call it within \
                 tokio::task::spawn_blocking, or use the crate hblite-client",
            ));
        }
        tokio.block_on(work)
    }

    /// Refuses later calls.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }
}

/// Whether this is called from asynchronous code, where waiting panics.
///
/// The threads of `spawn_blocking` belong to a runtime too, but may wait. What differs is that
/// tokio gives only asynchronous code a budget.
fn is_asynchronous() -> bool {
    if Handle::try_current().is_err() {
        return false;
    }
    let mut context = Context::from_waker(Waker::noop());
    let mut is_used_up = || pin!(tokio::task::consume_budget()).poll(&mut context).is_pending();
    (0..BUDGET_MAX).any(|_| is_used_up())
}

/// The last handle may be dropped in asynchronous code, which must not wait for the threads.
impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(tokio) = self.tokio.take() {
            tokio.shutdown_background();
        }
    }
}
