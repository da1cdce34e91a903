//! The same work on several threads.

use std::thread;

use crate::store::Result;

/// Does `work` on each of `threads` threads, and returns the answers in the order of the threads,
/// which count from 0. One thread is the caller's.
pub(super) fn on_threads<T: Send>(
    threads: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    if threads == 1 {
        return Ok(vec![work(0)?]);
    }
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        workers.into_iter().map(|worker| worker.join().map_err(|_| "a thread panicked")?).collect()
    })
}
