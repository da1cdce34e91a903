//! Turns on the threads that read and write.
//!
//! The number of turns is limited, and so is the share of one address. What waits for the share of
//! its own address is not in the queue that all addresses have in common. A turn is taken to answer
//! a request, and again for each further piece of an answer, but not while a client takes a piece.
//!
//! Threads: any.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Weak};

use hblite_wire::permits::share_of;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// All turns.
#[derive(Debug)]
pub(crate) struct Turns {
    all: Arc<Semaphore>,
    share: usize,
    /// The share of each address that has or awaits a turn.
    of_address: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _of_all: Option<OwnedSemaphorePermit>,
    _of_address: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// At most `count_max` turns at a time.
    pub(crate) fn new(count_max: usize) -> Self {
        let (all, share) = (Arc::new(Semaphore::new(count_max)), share_of(count_max));
        Self { all, share, of_address: Mutex::default() }
    }

    /// Waits for a turn of a client at `address`.
    pub(crate) async fn next(&self, address: IpAddr) -> Turn {
        // The semaphores are never closed.
        let of_address = self.share_of(address).acquire_owned().await.ok();
        let of_all = Arc::clone(&self.all).acquire_owned().await.ok();
        Turn { _of_all: of_all, _of_address: of_address }
    }

    fn share_of(&self, address: IpAddr) -> Arc<Semaphore> {
        let mut of_address = self.of_address.lock();
        if let Some(semaphore) = of_address.get(&address).and_then(Weak::upgrade) {
            return semaphore;
        }
        of_address.retain(|_, semaphore| semaphore.strong_count() > 0);
        let semaphore = Arc::new(Semaphore::new(self.share));
        of_address.insert(address, Arc::downgrade(&semaphore));
        semaphore
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<T>(future: impl Future<Output = T>) -> Poll<T> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn one_address_does_not_take_every_turn() {
        let turns = Turns::new(16);
        let (greedy, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let taken: Vec<_> = (0..16).map(|_| poll(turns.next(greedy))).collect();
        assert_eq!(taken.iter().filter(|turn| turn.is_ready()).count(), 14);
        // Its requests wait, and those of others do not.
        let mut waiting = pin!(turns.next(greedy));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        let others = [poll(turns.next(other)), poll(turns.next(other))];
        assert!(others.iter().all(Poll::is_ready) && poll(turns.next(other)).is_pending());
        drop((taken, others));
        assert!(waiting.as_mut().poll(&mut context).is_ready());
        assert!(poll(turns.next(other)).is_ready());
        assert_eq!(turns.of_address.lock().len(), 1, "the addresses without turns are forgotten");
    }
}
