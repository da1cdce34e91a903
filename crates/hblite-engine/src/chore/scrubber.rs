//! The scrubber: reads store files in the background and verifies every block again.
//!
//! A read verifies a block once, and blocks that are read often come from memory. Later damage
//! would be found only when the file is compacted or backed up, perhaps after the last good copy is
//! gone.
//!
//! A round visits every file of every region in service, one after the other, at a limited rate. It
//! reads from the file, not from a mapping or a cache, takes no lock and changes nothing: a damaged
//! file stays where it is and is listed in the store's status until it verifies again or is
//! replaced.
//!
//! Threads: one of its own, and callers of [`Scrubber::round`]. When the store is closed, it ends
//! after the current block at the latest.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_env::sync::Mutex;
use hblite_env::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use hblite_env::thread::JoinHandle;
use hblite_env::time::{Duration, Instant};
use hblite_model::{DamagedFile, Error, Result, ScrubStatus};

use crate::catalog::Catalog;
use crate::context::EngineContext;
use crate::pace::Pace;
use crate::region::Region;
use crate::store::Store;
use crate::store::store_file::StoreFile;

const THREAD_NAME: &str = "hblite-scrubber";
/// Delay of the first round after the store was opened: an open is busy enough, and many processes
/// have ended by then.
const FIRST_ROUND_DELAY: Duration = Duration::from_secs(60);
/// Shorter sleeps are not worth it.
const NAP_MIN: Duration = Duration::from_millis(20);
/// More damaged files than this are counted but not listed.
const LISTED_MAX: usize = 1_000;

/// What verifies files, and what it found.
pub(super) struct Scrubber {
    context: Arc<EngineContext>,
    catalog: Arc<Catalog>,
    status: Mutex<ScrubStatus>,
}

/// The scrubber's thread.
pub(super) struct ScrubberThread {
    stop: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl ScrubberThread {
    /// Starts the thread, unless the settings turn verification off.
    ///
    /// # Errors
    /// `Io` if no thread can be started.
    pub(super) fn start(scrubber: &Arc<Scrubber>) -> Result<Self> {
        let (stop, stopped) = channel();
        let Some(period_ms) = scrubber.context.options.scrub_period_ms else {
            return Ok(Self { stop, thread: None });
        };
        let scrubber = Arc::clone(scrubber);
        let thread = hblite_env::thread::Builder::new()
            .name(THREAD_NAME.to_owned())
            .spawn(move || scrubber.run(Duration::from_millis(period_ms), &stopped))
            .map_err(Error::no_thread)?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Ends the current round, and the thread.
    pub(super) fn stop(&mut self) {
        let _ = self.stop.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Scrubber {
    pub(super) fn new(context: &Arc<EngineContext>, catalog: &Arc<Catalog>) -> Self {
        let (context, catalog) = (Arc::clone(context), Arc::clone(catalog));
        Self { context, catalog, status: Mutex::default() }
    }

    pub(super) fn status(&self) -> ScrubStatus {
        self.status.lock().clone()
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.status.lock().damaged.first().map(|file| file.message.clone())
    }

    fn run(&self, period: Duration, stop: &Receiver<()>) {
        let mut wait = period.min(FIRST_ROUND_DELAY);
        while has_passed(stop, wait) {
            let began = Instant::now();
            let mut pace = Pace::new(self.context.options.scrub_bytes_per_second_max);
            if !self.round(&mut |bytes| pass(&mut pace, bytes, stop)) {
                return;
            }
            wait = period.saturating_sub(began.elapsed());
        }
    }

    /// Verifies every file of every region in service. `watch` is called after each block with its
    /// bytes and ends the round by returning false. Returns whether the round reached its end.
    pub(super) fn round(&self, watch: &mut dyn FnMut(u64) -> bool) -> bool {
        let mut visited = HashSet::new();
        for region in self.catalog.all_regions() {
            for store in region.stores() {
                for file in store.files().iter() {
                    // Two halves share one file.
                    let path = file.reader().path();
                    if visited.insert(path.to_path_buf())
                        && !self.visit(&region, store, file, watch)
                    {
                        return false;
                    }
                }
            }
        }
        let mut status = self.status.lock();
        // Files removed by a compaction or with a dropped table no longer matter.
        status.damaged.retain(|damaged| visited.contains(&damaged.file));
        status.rounds += 1;
        status.last_round_at_ms = Some(self.context.env.clock.now_millis());
        true
    }

    /// Verifies a file; false if `watch` ended that.
    fn visit(
        &self,
        region: &Arc<Region>,
        store: &Store,
        file: &Arc<StoreFile>,
        watch: &mut dyn FnMut(u64) -> bool,
    ) -> bool {
        if self.context.is_closed.load(Ordering::Relaxed) {
            return false;
        }
        let (reader, fs) = (file.reader(), self.context.env.fs.as_ref());
        let mut bytes = 0;
        let mut count = |block_bytes| {
            bytes += block_bytes;
            watch(block_bytes)
        };
        let verified =
            reader.reopen(fs, reader.path()).and_then(|file| file.verify_checksums(&mut count));
        let mut status = self.status.lock();
        status.bytes += bytes;
        match verified {
            Ok(false) => return false,
            Ok(true) => {
                status.files += 1;
                status.damaged.retain(|damaged| damaged.file != reader.path());
            }
            Err(error) if self.is_live(region, store, file) => {
                status.files += 1;
                status.damaged.retain(|damaged| damaged.file != reader.path());
                if status.damaged.len() < LISTED_MAX {
                    status.damaged.push(damaged_file(region, store, file, &error));
                }
            }
            // It was removed while it was read.
            Err(_) => {}
        }
        true
    }

    /// Whether the file still belongs to the store, and the region is in service.
    fn is_live(&self, region: &Arc<Region>, store: &Store, file: &Arc<StoreFile>) -> bool {
        let found = self.catalog.region(region.info().encoded_name());
        found.is_some_and(|found| Arc::ptr_eq(&found, region))
            && store.files().iter().any(|listed| Arc::ptr_eq(listed, file))
    }
}

fn damaged_file(region: &Region, store: &Store, file: &StoreFile, error: &Error) -> DamagedFile {
    DamagedFile {
        table: region.info().table().clone(),
        region: region.info().encoded_name().to_owned(),
        family: store.family().name().to_vec(),
        file: file.reader().path().to_path_buf(),
        offset: error.offset(),
        message: error.message().to_owned(),
    }
}

/// Waits; false if the thread must end before that.
fn has_passed(stop: &Receiver<()>, wait: Duration) -> bool {
    matches!(stop.recv_timeout(wait), Err(RecvTimeoutError::Timeout))
}

/// Records bytes that were read, and waits as long as they should have taken, if that is worth
/// sleeping; false if the thread must end.
fn pass(pace: &mut Pace, bytes: u64, stop: &Receiver<()>) -> bool {
    pace.record(bytes);
    let left = pace.left();
    has_passed(stop, if left < NAP_MIN { Duration::ZERO } else { left })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_their_time_unless_there_is_no_limit() {
        let (_stop, stopped) = channel();
        let mut pace = Pace::new(Some(1_000_000));
        let began = Instant::now();
        assert!((0..8).all(|_| pass(&mut pace, 5_000, &stopped)));
        assert!(began.elapsed() >= Duration::from_millis(20));
        assert!(pass(&mut Pace::new(None), u64::MAX, &stopped));
    }

    #[test]
    fn a_wait_ends_when_the_store_is_closed() {
        let (stop, stopped) = channel();
        stop.send(()).unwrap();
        assert!(!pass(&mut Pace::new(Some(1)), u64::MAX, &stopped));
        drop(stop);
        assert!(!pass(&mut Pace::new(None), 1, &stopped));
    }
}
