//! Calls that run on threads.
//!
//! There are two queues. Ordinary calls wait for one of the handlers. Long reads share a few of the
//! handlers and take turns: each reads for a few milliseconds and then goes to the end of the
//! queue. So, however many long reads there are, handlers remain for other calls, and a medium read
//! does not wait for large ones to end.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hblite_wire::RemoteException;
use hblite_wire::exception::class;
use hblite_wire::frame::Request;
use hblite_wire::memory::MemoryCharge;
use tokio::sync::Semaphore;

use super::call::{Answer, Attempt, Call, Pace, Rest, Unfinished, WORKING_BYTES};
use super::link::{Link, Parked};
use super::outgoing::Reply;
use crate::cluster::{Cluster, CurrentCluster, Shared};
use crate::options::Limits;
use crate::statistics::SlowCall;

/// The state that the threads share: the store, and the number of calls waiting for one of them.
#[derive(Debug)]
pub(super) struct Handlers {
    cluster: CurrentCluster,
    queued_calls: AtomicUsize,
    /// How many long reads run concurrently.
    long_calls: Arc<Semaphore>,
}

impl Handlers {
    pub(super) fn new(cluster: CurrentCluster) -> Self {
        let long_calls = Arc::new(Semaphore::new(cluster.shared().options.limits.long_calls()));
        Self { cluster, queued_calls: AtomicUsize::new(0), long_calls }
    }

    /// The cluster over the current store.
    pub(super) fn cluster(&self) -> Arc<Cluster> {
        self.cluster.get()
    }

    /// The part of it that survives a rewind.
    pub(super) fn shared(&self) -> &Shared {
        self.cluster.shared()
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.cluster.shared().options.limits
    }

    /// The number of calls waiting for a thread.
    pub(super) fn queued_calls(&self) -> usize {
        self.queued_calls.load(Ordering::Relaxed)
    }
}

/// How a call ends for its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Answered,
    /// The connection is closed instead.
    Cut,
}

/// A request in its own memory, and its charge.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) request: Request,
    /// When it was passed to a thread.
    since: Instant,
    _charge: MemoryCharge,
}

impl Held {
    /// Keeps a request beyond the read; `charge` is for its frame if that has its own memory.
    ///
    /// # Errors
    /// `CallQueueTooBig` if there is no memory for it.
    pub(super) fn new(
        link: &Link,
        request: Request,
        charge: Option<MemoryCharge>,
    ) -> Result<Self, RemoteException> {
        if let Some(charge) = charge {
            return Ok(Self { request, since: Instant::now(), _charge: charge });
        }
        let mut charge = link.memory.charge();
        // Decoded, a header takes a few hundred bytes more.
        if !charge.try_resize(request.message.len() + request.cells.len() + size_of::<Work>() + 512)
        {
            return Err(link.out_of_memory());
        }
        Ok(Self { request: request.detached(), since: Instant::now(), _charge: charge })
    }
}

/// The part of a call for a thread.
pub(super) struct Work {
    pub(super) handlers: Arc<Handlers>,
    /// The cluster when the call began, so that the call sees one state until its end.
    pub(super) cluster: Arc<Cluster>,
    pub(super) link: Arc<Link>,
    pub(super) held: Held,
    pub(super) rest: Rest,
    pub(super) pace: Pace,
    pub(super) must_end: bool,
    pub(super) deadline: Option<Instant>,
    pub(super) ending: Ending,
    /// Counts it as waiting for a thread, the first time.
    pub(super) waiting: Option<Waiting>,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Work({})", self.held.request.method())
    }
}

impl Work {
    /// Runs it on a thread.
    pub(super) fn submit(self) {
        if self.pace != Pace::Long {
            tokio::task::spawn_blocking(move || self.run());
            return;
        }
        let turns = Arc::clone(&self.handlers.long_calls);
        let runtime = tokio::runtime::Handle::current();
        runtime.spawn(async move {
            // The semaphore is never closed; if it were, only the limit would be lost.
            let turn = turns.acquire_owned().await.ok();
            tokio::task::spawn_blocking(move || {
                self.run();
                drop(turn);
            });
        });
    }

    fn run(mut self) {
        drop(self.waiting.take());
        let is_late = || self.deadline.is_some_and(|deadline| deadline < Instant::now());
        if !self.must_end && (self.link.is_gone() || is_late()) {
            // The client has given up, and would ignore an answer.
            self.link.end(None);
            return;
        }
        let link = Arc::clone(&self.link);
        let work = if self.must_end { Some(self) } else { link.park(self) };
        if let Some(work) = work {
            work.run_now();
        }
    }

    fn run_now(self) {
        let Self { handlers, cluster, link, held, rest, pace, must_end, deadline, ending, .. } =
            self;
        let mut working = link.memory.charge();
        let has_room = working.try_resize(WORKING_BYTES);
        let call = Call::new(&link, &held.request, deadline, pace, Some(working));
        let attempt = match has_room || must_end {
            true => attempt(&held.request, || rest(&cluster, &call)),
            false => Attempt::Done(Err(link.out_of_memory())),
        };
        match (attempt, ending) {
            (Attempt::Done(answer), Ending::Answered) => {
                let reply = finish(&cluster, &call, held.since, answer);
                drop(call);
                drop(held);
                link.end(Some(reply));
            }
            (Attempt::Done(_), Ending::Cut) => {
                link.cut();
                link.end(None);
            }
            (Attempt::Unfinished(Unfinished { rest, pace, must_end }), ending) => {
                drop(call);
                let waiting = None;
                let work = Self {
                    handlers,
                    cluster,
                    link,
                    held,
                    rest,
                    pace,
                    must_end,
                    deadline,
                    ending,
                    waiting,
                };
                work.submit();
            }
        }
    }
}

impl Parked for Work {
    fn resume(self: Box<Self>) {
        self.submit();
    }
}

/// Counts a call that waits for a thread.
pub(super) struct Waiting(Arc<Handlers>);

impl Waiting {
    /// `None` if too many wait.
    pub(super) fn new(handlers: &Arc<Handlers>) -> Option<Self> {
        let calls = handlers.queued_calls.fetch_add(1, Ordering::AcqRel);
        let waiting = Self(Arc::clone(handlers));
        (calls < handlers.limits().queued_calls_max).then_some(waiting)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let before = self.0.queued_calls.fetch_sub(1, Ordering::AcqRel);
        debug_assert!(before > 0, "each waiting call was counted");
    }
}

/// The error for a client when too many calls wait.
pub(super) fn too_many_calls(link: &Link) -> RemoteException {
    let message = format!("Call queue is full on {}, too many items queued ?", link.client.server);
    RemoteException::new(class::CALL_QUEUE_TOO_BIG, message)
}

/// A bug in the server must neither leave the client waiting nor end its connection.
pub(super) fn attempt(request: &Request, work: impl FnOnce() -> Attempt) -> Attempt {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let message = format!("{} failed in the server", request.method());
        Attempt::Done(Err(RemoteException::do_not_retry(message)))
    })
}

/// The answer to send. The call is counted, and logged if requested.
pub(super) fn finish(cluster: &Cluster, call: &Call<'_>, begin: Instant, answer: Answer) -> Reply {
    let took = begin.elapsed();
    let method = call.request.method();
    cluster.calls.note(method, took, answer.is_err(), |micros| SlowCall {
        at_ms: cluster.engine.now_millis(),
        method: format!("{:?}.{method}", call.client.service),
        micros,
        regions: cluster.named_regions(call.request),
        exception: answer.as_ref().err().map(|exception| exception.class_name.to_owned()),
    });
    if let Some(log) = &cluster.options.log {
        let exception = answer.as_ref().err().map(|exception| exception as &dyn Display);
        log.tell(&call.client.service, method, took, exception);
    }
    let id = call.request.call_id();
    answer.unwrap_or_else(|exception| Reply::of_exception(id, &exception))
}
