//! Remembers which writes with a nonce were done, so that a retry has no effect.
//!
//! A write with a nonce first registers. The first attempt proceeds; a retry waits until the first
//! attempt ends, and gets the sequence id under which it was written. A failed attempt is
//! forgotten, so its retry counts as a first attempt.
//!
//! A write is remembered for half an hour, or until a million later ones were done. Nonces are also
//! in the log, so they survive a crash as long as their writes are not yet in files.
//!
//! Source: HBase's `ServerNonceManager`.
//! Threads: any.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use hblite_env::sync::{Condvar, Mutex};
use hblite_model::Nonce;

/// How long a completed write is remembered (`hbase.server.hashNonce.gracePeriod`).
const KEPT_MS: i64 = 30 * 60 * 1000;
/// Maximum number of completed writes to remember.
const KEPT_MAX: usize = 1 << 20;

/// The nonces of a store.
#[derive(Debug, Default)]
pub(crate) struct Nonces {
    known: Mutex<Known>,
    /// Notified when a write with a nonce ends.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Known {
    writes: HashMap<Nonce, Progress>,
    /// Completed writes, ordered by time.
    done: VecDeque<(i64, Nonce)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    UnderWay,
    /// Written with this sequence id, at this time.
    Done(u64, i64),
}

impl Progress {
    fn time(self) -> Option<i64> {
        match self {
            Self::UnderWay => None,
            Self::Done(_, time) => Some(time),
        }
    }
}

/// What [`Nonces::begin`] found.
pub(crate) enum Turn<'n> {
    /// The write must be done now.
    First(Attempt<'n>),
    /// It was done, with this sequence id.
    Repeat(u64),
}

/// A write in progress. If it is dropped without [`Attempt::succeeded`], it has failed.
pub(crate) struct Attempt<'n> {
    nonces: &'n Nonces,
    nonce: Nonce,
}

impl Nonces {
    /// Registers a write; waits while the same write is in progress.
    pub(crate) fn begin(&self, nonce: Nonce) -> Turn<'_> {
        let mut known = self.known.lock();
        loop {
            match known.writes.entry(nonce) {
                Entry::Vacant(place) => {
                    place.insert(Progress::UnderWay);
                    return Turn::First(Attempt { nonces: self, nonce });
                }
                Entry::Occupied(found) => match *found.get() {
                    Progress::Done(sequence_id, _) => return Turn::Repeat(sequence_id),
                    Progress::UnderWay => self.ended.wait(&mut known),
                },
            }
        }
    }

    /// Records a write that was done at `time`, by the store's clock.
    pub(crate) fn note(&self, nonce: Nonce, sequence_id: u64, time: i64) {
        let mut known = self.known.lock();
        known.writes.insert(nonce, Progress::Done(sequence_id, time));
        known.done.push_back((time, nonce));
        while known.done.len() > KEPT_MAX
            || known.done.front().is_some_and(|(then, _)| *then < time.saturating_sub(KEPT_MS))
        {
            let Some((then, nonce)) = known.done.pop_front() else { break };
            // A write that was repeated since is remembered from the later time.
            if known.writes.get(&nonce).is_some_and(|done| done.time() == Some(then)) {
                known.writes.remove(&nonce);
            }
        }
        assert!(known.done.len() <= KEPT_MAX, "what is remembered is bounded");
    }
}

impl Attempt<'_> {
    /// Records that the write was done at `time`, with this sequence id.
    pub(crate) fn succeeded(self, sequence_id: u64, time: i64) {
        self.nonces.note(self.nonce, sequence_id, time);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut known = self.nonces.known.lock();
        if known.writes.get(&self.nonce) == Some(&Progress::UnderWay) {
            known.writes.remove(&self.nonce);
        }
        self.nonces.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const NONCE: Nonce = Nonce { group: 1, number: 2 };

    fn first(nonces: &Nonces, nonce: Nonce) -> Attempt<'_> {
        match nonces.begin(nonce) {
            Turn::First(attempt) => attempt,
            Turn::Repeat(id) => panic!("done before, as {id}"),
        }
    }

    fn is_repeat(nonces: &Nonces, nonce: Nonce) -> bool {
        matches!(nonces.begin(nonce), Turn::Repeat(_))
    }

    #[test]
    fn a_failed_write_may_be_repeated_and_one_that_was_done_not() {
        let nonces = Nonces::default();
        drop(first(&nonces, NONCE));
        first(&nonces, NONCE).succeeded(7, 0);
        assert!(matches!(nonces.begin(NONCE), Turn::Repeat(7)));
        drop(first(&nonces, Nonce { group: 2, ..NONCE }));
    }

    #[test]
    fn a_repeat_waits_for_the_first() {
        let nonces = Nonces::default();
        let attempt = first(&nonces, NONCE);
        thread::scope(|scope| {
            let repeats: Vec<_> =
                (0..4).map(|_| scope.spawn(|| is_repeat(&nonces, NONCE))).collect();
            attempt.succeeded(1, 0);
            assert!(repeats.into_iter().all(|repeat| repeat.join().unwrap()));
        });
    }

    #[test]
    fn nonces_are_forgotten_after_their_time() {
        let nonces = Nonces::default();
        let nonce = |number| Nonce { group: 0, number };
        nonces.note(nonce(1), 1, 0);
        nonces.note(nonce(2), 2, KEPT_MS);
        assert!(is_repeat(&nonces, nonce(1)) && is_repeat(&nonces, nonce(2)));
        nonces.note(nonce(3), 3, KEPT_MS + 1);
        assert!(!is_repeat(&nonces, nonce(1)) && is_repeat(&nonces, nonce(2)));
    }
}
