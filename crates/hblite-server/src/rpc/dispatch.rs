//! Passes requests to their services.
//!
//! Short calls run on the task that read them, because passing them to another thread would take
//! longer than the calls themselves. There they may examine only a limited number of cells: a call
//! that is not finished by then continues on a thread from there. All other calls wait for a thread
//! immediately; if too many wait, or memory is used up, they are refused
//! (`CallQueueTooBigException`) and the client retries.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hblite_model::Error;
use hblite_wire::frame::Request;
use hblite_wire::memory::{MemoryBudget, MemoryCharge};
use hblite_wire::permits::Permits;

use super::call::{Attempt, Call, Pace, QUICK_WORK, Unfinished};
use super::link::Link;
use super::outgoing::Reply;
use super::peer::Service;
use super::work::{Ending, Handlers, Held, Waiting, Work, attempt, finish, too_many_calls};
use super::{admin, client, master, no_such_method, registry};
use crate::cluster::{Cluster, CurrentCluster, Shared};
use crate::faults::{Outcome, Target, Verdict};
use crate::options::Limits;

/// Maximum number of consecutive calls on the reading task before other connections get their turn.
const TURN_CALLS: u32 = 16;

/// Runs calls, and counts the waiting ones.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    handlers: Arc<Handlers>,
    connections: Arc<Permits>,
}

/// The work of a connection before others get their turn.
#[derive(Debug)]
pub(super) struct Turn {
    calls_left: u32,
    work_left: u64,
}

impl Turn {
    pub(super) fn new() -> Self {
        Self { calls_left: TURN_CALLS, work_left: QUICK_WORK }
    }

    fn note(&mut self, work: u64) {
        self.calls_left = self.calls_left.saturating_sub(1);
        self.work_left = self.work_left.saturating_sub(work);
    }

    pub(super) fn is_over(&self) -> bool {
        self.calls_left == 0 || self.work_left == 0
    }
}

impl Dispatcher {
    pub(crate) fn new(cluster: CurrentCluster) -> Self {
        let connections = Permits::new(cluster.shared().options.limits.connections_max);
        Self { handlers: Arc::new(Handlers::new(cluster)), connections }
    }

    pub(super) fn cluster(&self) -> Arc<Cluster> {
        self.handlers.cluster()
    }

    /// The part of it that survives a rewind.
    pub(super) fn shared(&self) -> &Shared {
        self.handlers.shared()
    }

    pub(super) fn limits(&self) -> &Limits {
        self.handlers.limits()
    }

    /// The memory budget of calls.
    pub(crate) fn memory(&self) -> &Arc<MemoryBudget> {
        &self.shared().memory
    }

    /// The permits of connections.
    pub(crate) fn connections(&self) -> &Arc<Permits> {
        &self.connections
    }

    /// The time of the store's clock.
    pub(super) fn now_millis(&self) -> i64 {
        self.cluster().engine.now_millis()
    }

    /// The number of calls waiting for a thread.
    pub(crate) fn queued_calls(&self) -> usize {
        self.handlers.queued_calls()
    }

    /// Runs the call, or makes sure that `link` gets the answer. `charge` is for the frame, if it
    /// has its own memory.
    pub(super) fn dispatch(
        self: &Arc<Self>,
        link: &Arc<Link>,
        request: Result<Request, (u32, Error)>,
        charge: Option<MemoryCharge>,
        turn: &mut Turn,
    ) -> Option<Reply> {
        let request = match request {
            Ok(request) => request,
            Err((id, error)) => return Some(Reply::of_exception(id, &error.into())),
        };
        let begin = Instant::now();
        let deadline = deadline_of(request.header.timeout, begin);
        let (role, cluster) = (link.client.role, self.cluster());
        let targets = |visit: &mut dyn FnMut(&Target)| cluster.for_each_target(&request, visit);
        if let Some(verdict) = cluster.faults.verdict(role, &request, targets) {
            return self.dispatch_faulty(link, request, charge, deadline, verdict);
        }
        if charge.is_some() || !client::is_quick(&link.client, &request) {
            turn.note(0);
            let rest = whole(&link.client.service, &request);
            return self.hand_over(link, request, charge, deadline, rest, cluster);
        }
        let call = Call::new(link, &request, deadline, Pace::Quick, None);
        let attempt = attempt(&request, || client::answer(&cluster, &call));
        turn.note(QUICK_WORK - call.work_left());
        match attempt {
            Attempt::Done(answer) => Some(finish(&cluster, &call, begin, answer)),
            Attempt::Unfinished(unfinished) => {
                drop(call);
                self.hand_over(link, request, charge, deadline, unfinished, cluster)
            }
        }
    }

    /// Runs a call affected by a fault.
    fn dispatch_faulty(
        self: &Arc<Self>,
        link: &Arc<Link>,
        request: Request,
        charge: Option<MemoryCharge>,
        deadline: Option<Instant>,
        verdict: Verdict,
    ) -> Option<Reply> {
        let id = request.call_id();
        let held = match Held::new(link, request, charge) {
            Ok(held) => held,
            Err(exception) => return Some(Reply::of_exception(id, &exception)),
        };
        let (dispatcher, waiting_for) = (Arc::clone(self), Arc::clone(link));
        let go_on = move || {
            let rest = whole(&waiting_for.client.service, &held.request);
            let cluster = dispatcher.cluster();
            match verdict.outcome {
                Outcome::CarriedOut => {
                    dispatcher.queue(&waiting_for, held, deadline, rest, Ending::Answered, cluster)
                }
                Outcome::Refused(exception) => Some(Reply::of_exception(id, &exception)),
                Outcome::DroppedBefore => {
                    waiting_for.cut();
                    None
                }
                Outcome::DroppedAfter => {
                    dispatcher.queue(&waiting_for, held, deadline, rest, Ending::Cut, cluster)
                }
            }
        };
        if verdict.delay.is_zero() {
            return go_on();
        }
        link.begin();
        let link = Arc::clone(link);
        tokio::spawn(async move {
            tokio::time::sleep(verdict.delay).await;
            link.end(go_on());
        });
        None
    }

    fn hand_over(
        self: &Arc<Self>,
        link: &Arc<Link>,
        request: Request,
        charge: Option<MemoryCharge>,
        deadline: Option<Instant>,
        unfinished: Unfinished,
        cluster: Arc<Cluster>,
    ) -> Option<Reply> {
        let id = request.call_id();
        match Held::new(link, request, charge) {
            Ok(held) => self.queue(link, held, deadline, unfinished, Ending::Answered, cluster),
            Err(exception) => Some(Reply::of_exception(id, &exception)),
        }
    }

    /// Passes the work to a thread, unless too many calls wait for one.
    fn queue(
        self: &Arc<Self>,
        link: &Arc<Link>,
        held: Held,
        deadline: Option<Instant>,
        unfinished: Unfinished,
        ending: Ending,
        cluster: Arc<Cluster>,
    ) -> Option<Reply> {
        let Unfinished { rest, pace, must_end } = unfinished;
        let waiting = Waiting::new(&self.handlers);
        if waiting.is_none() && !must_end {
            let id = held.request.call_id();
            return Some(Reply::of_exception(id, &too_many_calls(link)));
        }
        link.begin();
        let (handlers, link) = (Arc::clone(&self.handlers), Arc::clone(link));
        let work =
            Work { handlers, cluster, link, held, rest, pace, must_end, deadline, ending, waiting };
        work.submit();
        None
    }
}

/// A call from its beginning.
fn whole(service: &Service, request: &Request) -> Unfinished {
    let is_read =
        *service == Service::Client && matches!(request.method(), "Get" | "Scan" | "ExecService");
    let pace = if is_read { Pace::Long } else { Pace::Ordinary };
    Unfinished { rest: Box::new(answer), pace, must_end: false }
}

/// When a call that began at `begin` is late, by the timeout in its header, in milliseconds.
pub(super) fn deadline_of(timeout: Option<u32>, begin: Instant) -> Option<Instant> {
    let timeout = timeout.filter(|millis| *millis > 0)?;
    begin.checked_add(Duration::from_millis(u64::from(timeout)))
}

fn answer(cluster: &Cluster, call: &Call<'_>) -> Attempt {
    Attempt::Done(match call.client.service {
        Service::Client => return client::answer(cluster, call),
        Service::Admin => admin::answer(cluster, call),
        Service::Master => master::answer(cluster, call),
        Service::ClientMeta | Service::BootstrapNode => registry::answer(cluster, call),
        Service::Hbck => master::answer_hbck(call),
        Service::Lock => Err(no_such_method(call)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_after_some_calls_or_much_work() {
        let mut turn = Turn::new();
        for _ in 1..TURN_CALLS {
            turn.note(10);
            assert!(!turn.is_over());
        }
        turn.note(10);
        assert!(turn.is_over());
        let mut turn = Turn::new();
        turn.note(QUICK_WORK - 1);
        assert!(!turn.is_over());
        turn.note(1);
        assert!(turn.is_over());
    }
}
