//! From a request to its service.
//!
//! Quick calls are done where they were read: handing them to another thread would take longer than
//! they do. So is the beginning of a scan, and its rest if that is quick. The others wait for one
//! of a bounded number of threads; when too many wait, they are refused
//! (`CallQueueTooBigException`) and the client comes again.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hblite_model::Error;
use hblite_wire::RemoteException;
use hblite_wire::exception::class;
use hblite_wire::frame::{Request, Response};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::call::{Answer, Call, Client, Service};
use super::client::{Attempt, Rest};
use super::connection::Outbox;
use super::{admin, client, master, registry};
use crate::cluster::Cluster;
use crate::faults::{Outcome, Verdict};
use crate::options::Limits;

/// Does calls, and counts what waits.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    cluster: Arc<Cluster>,
    connections: Arc<Semaphore>,
    queued_calls: AtomicUsize,
    queued_bytes: AtomicUsize,
}

impl Dispatcher {
    pub(crate) fn new(cluster: Arc<Cluster>) -> Self {
        let connections = Arc::new(Semaphore::new(cluster.options.limits.connections_max));
        let (queued_calls, queued_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { cluster, connections, queued_calls, queued_bytes }
    }

    pub(super) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.cluster.options.limits
    }

    /// How many connections there are.
    pub(crate) fn connections(&self) -> usize {
        let free = self.connections.available_permits();
        self.limits().connections_max.saturating_sub(free)
    }

    /// How many calls wait for a thread.
    pub(crate) fn queued_calls(&self) -> usize {
        self.queued_calls.load(Ordering::Relaxed)
    }

    /// A place for one more connection, if there is one.
    pub(super) fn admit_connection(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.connections).try_acquire_owned().ok()
    }

    /// Does the call, or sees to it that `outbox` gets the answer.
    pub(super) fn dispatch(
        self: &Arc<Self>,
        client: &Arc<Client>,
        request: Result<Request, (u32, Error)>,
        outbox: &Arc<Outbox>,
    ) -> Option<Response> {
        let request = match request {
            Ok(request) => request,
            Err((id, error)) => return Some(Response::of_exception(id, &error.into())),
        };
        let deadline = deadline_of(&request);
        if let Some(verdict) = self.cluster.faults.verdict(&self.cluster, client.role, &request) {
            return self.dispatch_faulty(client, request, deadline, outbox, verdict);
        }
        if client::is_quick(client, &request) {
            let call = Call { client, request: &request, deadline, is_quick: true };
            let begin = Instant::now();
            let attempt = without_panic(&request, || client::try_quick(&self.cluster, &call));
            match attempt.unwrap_or_else(|exception| Attempt::Done(Err(exception))) {
                Attempt::Done(answer) => return Some(finish(&self.cluster, &call, begin, answer)),
                Attempt::TooSlow(rest) => {
                    let work = Work { rest, deadline, ending: Ending::Answered, is_begun: false };
                    return self.hand_over(client, request, outbox, work);
                }
                Attempt::Begun(rest) => {
                    let work = Work { rest, deadline, ending: Ending::Answered, is_begun: true };
                    return self.hand_over(client, request, outbox, work);
                }
            }
        }
        self.hand_over(client, request, outbox, Work::whole(deadline, Ending::Answered))
    }

    /// Does a call that a fault happens to.
    fn dispatch_faulty(
        self: &Arc<Self>,
        client: &Arc<Client>,
        request: Request,
        deadline: Option<Instant>,
        outbox: &Arc<Outbox>,
        verdict: Verdict,
    ) -> Option<Response> {
        let id = request.call_id();
        let (dispatcher, client) = (Arc::clone(self), Arc::clone(client));
        let waiting_for = Arc::clone(outbox);
        let go_on = move || match verdict.outcome {
            Outcome::CarriedOut => {
                let work = Work::whole(deadline, Ending::Answered);
                dispatcher.hand_over(&client, request, &waiting_for, work)
            }
            Outcome::Refused(exception) => Some(Response::of_exception(id, &exception)),
            Outcome::DroppedBefore => {
                waiting_for.cut();
                None
            }
            Outcome::DroppedAfter => {
                let work = Work::whole(deadline, Ending::Cut);
                dispatcher.hand_over(&client, request, &waiting_for, work)
            }
        };
        if verdict.delay.is_zero() {
            return go_on();
        }
        outbox.begin();
        let outbox = Arc::clone(outbox);
        tokio::spawn(async move {
            tokio::time::sleep(verdict.delay).await;
            outbox.end(go_on());
        });
        None
    }

    /// Lets a thread do the work, unless too much waits for one.
    fn hand_over(
        self: &Arc<Self>,
        client: &Arc<Client>,
        request: Request,
        outbox: &Arc<Outbox>,
        work: Work,
    ) -> Option<Response> {
        let size_bytes = request.message.len() + request.cells.len();
        let calls = self.queued_calls.fetch_add(1, Ordering::AcqRel);
        let bytes = self.queued_bytes.fetch_add(size_bytes, Ordering::AcqRel);
        let waiting = Waiting { dispatcher: Arc::clone(self), size_bytes };
        let limits = self.limits();
        let is_too_much = calls >= limits.queued_calls_max
            || bytes.saturating_add(size_bytes) > limits.queued_bytes_max.max(size_bytes);
        if is_too_much && !work.is_begun {
            drop(waiting);
            let server = self.cluster.identity(client.role).text(&client.host);
            let message = format!("Call queue is full on {server}, too many items queued ?");
            let exception = RemoteException::new(class::CALL_QUEUE_TOO_BIG, message);
            return Some(Response::of_exception(request.call_id(), &exception));
        }
        outbox.begin();
        let (cluster, client) = (Arc::clone(&self.cluster), Arc::clone(client));
        let outbox = Arc::clone(outbox);
        tokio::task::spawn_blocking(move || {
            drop(waiting);
            let Work { rest, deadline, ending, is_begun } = work;
            if !is_begun && deadline.is_some_and(|deadline| deadline < Instant::now()) {
                // The client has given up, and would not know what to do with an answer.
                outbox.end(None);
                return;
            }
            let call = Call { client: &client, request: &request, deadline, is_quick: false };
            let begin = Instant::now();
            let answer = without_panic(&request, || rest(&cluster, &call)).and_then(|done| done);
            match ending {
                Ending::Answered => outbox.end(Some(finish(&cluster, &call, begin, answer))),
                Ending::Cut => {
                    outbox.cut();
                    outbox.end(None);
                }
            }
        });
        None
    }
}

/// What a thread is to do.
struct Work {
    rest: Rest,
    deadline: Option<Instant>,
    ending: Ending,
    /// A part is done, which would be lost if the rest were refused or given up.
    is_begun: bool,
}

impl Work {
    /// A call from its beginning.
    fn whole(deadline: Option<Instant>, ending: Ending) -> Self {
        Self { rest: Box::new(answer), deadline, ending, is_begun: false }
    }
}

/// How a call ends for its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Answered,
    /// The connection is cut instead.
    Cut,
}

/// A call that waits for a thread.
struct Waiting {
    dispatcher: Arc<Dispatcher>,
    size_bytes: usize,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.dispatcher.queued_calls.fetch_sub(1, Ordering::AcqRel);
        self.dispatcher.queued_bytes.fetch_sub(self.size_bytes, Ordering::AcqRel);
    }
}

/// A fault of ours must neither leave the client waiting nor end its connection.
fn without_panic<T>(request: &Request, work: impl FnOnce() -> T) -> Result<T, RemoteException> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let message = format!("{} failed in the server", request.method());
        RemoteException::do_not_retry(message)
    })
}

/// The answer as it is sent, told of if that is wanted.
fn finish(cluster: &Cluster, call: &Call<'_>, begin: Instant, answer: Answer) -> Response {
    if let Some(log) = &cluster.options.log {
        let exception = answer.as_ref().err().map(|exception| exception as &dyn Display);
        log.tell(&call.client.service, call.request.method(), begin.elapsed(), exception);
    }
    let id = call.request.call_id();
    answer.unwrap_or_else(|exception| Response::of_exception(id, &exception))
}

fn deadline_of(request: &Request) -> Option<Instant> {
    let timeout = request.header.timeout.filter(|millis| *millis > 0)?;
    Instant::now().checked_add(Duration::from_millis(u64::from(timeout)))
}

fn answer(cluster: &Cluster, call: &Call<'_>) -> Answer {
    match call.client.service {
        Service::Client => client::answer(cluster, call),
        Service::Admin => admin::answer(cluster, call),
        Service::Master => master::answer(cluster, call),
        Service::ClientMeta | Service::BootstrapNode => registry::answer(cluster, call),
        Service::Lock | Service::Hbck => Err(no_such_method(call)),
    }
}

/// What HBase says of a method that it does not have.
pub(super) fn no_such_method(call: &Call<'_>) -> RemoteException {
    let method = call.request.method();
    let service = call.client.service;
    RemoteException::do_not_retry(format!(
        "hblite does not answer {method} of its {service:?} service; see docs/compatibility.md: \
         java.lang.UnsupportedOperationException: {method}"
    ))
}
