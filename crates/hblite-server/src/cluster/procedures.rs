//! Procedures: the master's work for a client, and the results.
//!
//! HBase returns the id of a procedure immediately, and the client polls until it is done. Here it
//! is done when the id is returned; a retry with the same nonce gets the same id and does nothing.
//!
//! Threads: any. A retry waits for the first attempt.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use hblite_model::Nonce;
use hblite_wire::RemoteException;
use hblite_wire::exception::class;
use parking_lot::Mutex;

/// Number of procedures to remember.
const KEPT_MAX: usize = 10_000;

/// The result of a procedure.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// When it was done, in milliseconds.
    pub(crate) time_ms: i64,
    /// Its return value, in the encoding of its kind.
    pub(crate) result: Result<Vec<u8>, RemoteException>,
}

/// The slot of a nonce: empty until a call with it is done, and locked meanwhile.
type NoncePlace = Arc<Mutex<Option<u64>>>;

/// All procedures that are remembered.
#[derive(Debug, Default)]
pub(crate) struct Procedures {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    last_id: u64,
    outcomes: HashMap<u64, Outcome>,
    nonces: HashMap<Nonce, NoncePlace>,
    /// In the order in which they are forgotten.
    ids: VecDeque<u64>,
    nonce_order: VecDeque<Nonce>,
}

impl Procedures {
    /// Runs `work` unless it was done under this nonce. Returns the procedure's id.
    ///
    /// A plain `IOException` becomes the result of the procedure, as in HBase, and is not an error
    /// here: a client would retry the call for minutes.
    ///
    /// Other errors of `work`.
    pub(crate) fn run(
        &self,
        nonce: Option<Nonce>,
        now_ms: i64,
        work: impl FnOnce() -> Result<Vec<u8>, RemoteException>,
    ) -> Result<u64, RemoteException> {
        let run = || match work() {
            Err(exception) if exception.class_name != class::IO => Err(exception),
            outcome => Ok(self.note(now_ms, outcome)),
        };
        let Some(nonce) = nonce else {
            return run();
        };
        let place = self.place_of(nonce);
        let mut done = place.lock();
        if let Some(id) = *done {
            return Ok(id);
        }
        let id = run()?;
        *done = Some(id);
        Ok(id)
    }

    /// Records a procedure that has failed. Returns its id.
    pub(crate) fn failed(&self, time_ms: i64, exception: RemoteException) -> u64 {
        self.note(time_ms, Err(exception))
    }

    fn place_of(&self, nonce: Nonce) -> NoncePlace {
        let mut known = self.known.lock();
        if let Some(place) = known.nonces.get(&nonce) {
            return Arc::clone(place);
        }
        let place = NoncePlace::default();
        known.nonces.insert(nonce, Arc::clone(&place));
        known.nonce_order.push_back(nonce);
        if known.nonce_order.len() > KEPT_MAX
            && let Some(oldest) = known.nonce_order.pop_front()
        {
            known.nonces.remove(&oldest);
        }
        assert_eq!(known.nonce_order.len(), known.nonces.len(), "a place for each nonce");
        place
    }

    /// Records a procedure that is done. Returns its id.
    fn note(&self, time_ms: i64, result: Result<Vec<u8>, RemoteException>) -> u64 {
        let mut known = self.known.lock();
        known.last_id += 1;
        let id = known.last_id;
        let other = known.outcomes.insert(id, Outcome { time_ms, result });
        assert!(other.is_none(), "two procedures with the id {id}");
        known.ids.push_back(id);
        if known.ids.len() > KEPT_MAX
            && let Some(oldest) = known.ids.pop_front()
        {
            known.outcomes.remove(&oldest);
        }
        assert_eq!(known.ids.len(), known.outcomes.len(), "an outcome for each id that is kept");
        id
    }

    /// The result of a procedure.
    pub(crate) fn outcome(&self, id: u64) -> Option<Outcome> {
        self.known.lock().outcomes.get(&id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_does_nothing_and_gets_the_same_id() {
        let procedures = Procedures::default();
        let nonce = Some(Nonce { group: 1, number: 2 });
        let first = procedures.run(nonce, 5, || Ok(b"done".to_vec())).unwrap();
        let again = procedures.run(nonce, 6, || panic!("done before")).unwrap();
        assert_eq!(first, again);
        assert_eq!(procedures.outcome(first).unwrap().result.unwrap(), b"done");
        assert!(procedures.outcome(first + 1).is_none());
    }

    #[test]
    fn what_a_client_would_repeat_is_what_became_of_it() {
        let procedures = Procedures::default();
        let failed = RemoteException::new(class::IO, "no");
        let id = procedures.run(None, 5, || Err(failed.clone())).unwrap();
        assert_eq!(procedures.outcome(id).unwrap().result, Err(failed));
    }

    #[test]
    fn one_that_failed_may_be_tried_again() {
        let procedures = Procedures::default();
        let nonce = Some(Nonce { group: 1, number: 2 });
        let failed = procedures.run(nonce, 5, || Err(RemoteException::do_not_retry("no")));
        assert!(failed.is_err());
        assert!(procedures.run(nonce, 5, || Ok(Vec::new())).is_ok());
    }
}
