//! Runs work on many items with several threads.
//!
//! For work that waits for the disk: concurrent syncs share a commit of the file system's journal
//! and a flush of the device, so more threads than cores pay off.
//!
//! Threads: the threads of a call end before it returns. The caller is one of them, and the only
//! one if no other can be started.

use std::sync::atomic::{AtomicUsize, Ordering};

use hblite_env::sync::Mutex;
use hblite_env::thread;
use hblite_model::{Error, Result};

/// Maximum number of threads of one call.
const THREADS_MAX: usize = 16;
/// Fewer items than this are not worth a thread.
const SHARE_MIN: usize = 8;

/// Runs `work` on every item, in no particular order if there are many.
///
/// # Errors
/// The first error that `work` returned. Other items may have been processed; none is started
/// later.
pub(crate) fn for_each<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let threads = (items.len() / SHARE_MIN).min(THREADS_MAX);
    if threads < 2 {
        return items.iter().try_for_each(work);
    }
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<Error>> = Mutex::default();
    let take_turns = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = work(item) {
                failure.lock().get_or_insert(error);
                next.store(items.len(), Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Without another thread, there are fewer.
            if thread::Builder::new().spawn_scoped(scope, take_turns).is_err() {
                break;
            }
        }
        take_turns();
    });
    failure.into_inner().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        for count in [0, 1, 15, 16, 1_000] {
            let items: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            for_each(&items, |item| {
                item.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
            .unwrap();
            assert!(items.iter().all(|item| item.load(Ordering::Relaxed) == 1), "{count}");
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        for count in [10, 100_000] {
            let (items, done): (Vec<usize>, _) = ((0..count).collect(), AtomicUsize::new(0));
            let error = for_each(&items, |item| {
                done.fetch_add(1, Ordering::Relaxed);
                if *item == 5 { Err(Error::illegal_argument("five")) } else { Ok(()) }
            });
            assert_eq!(error.unwrap_err().message(), "five");
            assert!(done.load(Ordering::Relaxed) < count, "{count}");
        }
    }
}
