//! The counters behind [`ClientMetrics`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::latencies::LatencyCounters;
use super::{CallMetrics, ClientMetrics};

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    pub(crate) fn add(&self, amount: usize) {
        self.0.fetch_add(amount as u64, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a call is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    Get,
    Mutate,
    Multi,
    Scan,
    Endpoint,
    Meta,
    Admin,
    Registry,
}

const KINDS: usize = CallKind::Registry as usize + 1;

/// How a call ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Answered,
    Refused,
    Unanswered,
}

#[derive(Debug, Default)]
struct CallCounters {
    answered: Counter,
    refused: Counter,
    unanswered: Counter,
    canceled: Counter,
    latencies: LatencyCounters,
}

impl CallCounters {
    fn snapshot(&self) -> CallMetrics {
        CallMetrics {
            answered: self.answered.get(),
            refused: self.refused.get(),
            unanswered: self.unanswered.get(),
            canceled: self.canceled.get(),
            latencies: self.latencies.snapshot(),
        }
    }
}

/// All counters of a client.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    calls: [CallCounters; KINDS],
    pub(crate) retries: Counter,
    pub(crate) retries_after_overload: Counter,
    pub(crate) operations_failed: Counter,
    pub(crate) location_hits: Counter,
    pub(crate) location_misses: Counter,
    pub(crate) locations_cleared: Counter,
    pub(crate) hedged_reads: Counter,
    pub(crate) hedged_read_wins: Counter,
    pub(crate) delayed_requests: Counter,
    pub(crate) connections_opened: Counter,
    pub(crate) connections_failed: Counter,
    pub(crate) bytes_sent: Counter,
    pub(crate) bytes_received: Counter,
}

impl Counters {
    /// A call begins now.
    pub(crate) fn begin(self: &Arc<Self>, kind: CallKind) -> CallTimer {
        CallTimer { counters: Arc::clone(self), kind, began: Instant::now(), has_ended: false }
    }

    pub(crate) fn snapshot(&self) -> ClientMetrics {
        let of = |kind: CallKind| self.calls[kind as usize].snapshot();
        ClientMetrics {
            get: of(CallKind::Get),
            mutate: of(CallKind::Mutate),
            multi: of(CallKind::Multi),
            scan: of(CallKind::Scan),
            endpoint: of(CallKind::Endpoint),
            meta: of(CallKind::Meta),
            admin: of(CallKind::Admin),
            registry: of(CallKind::Registry),
            retries: self.retries.get(),
            retries_after_overload: self.retries_after_overload.get(),
            operations_failed: self.operations_failed.get(),
            location_hits: self.location_hits.get(),
            location_misses: self.location_misses.get(),
            locations_cleared: self.locations_cleared.get(),
            hedged_reads: self.hedged_reads.get(),
            hedged_read_wins: self.hedged_read_wins.get(),
            delayed_requests: self.delayed_requests.get(),
            connections_opened: self.connections_opened.get(),
            connections_failed: self.connections_failed.get(),
            bytes_sent: self.bytes_sent.get(),
            bytes_received: self.bytes_received.get(),
        }
    }
}

/// A call in progress. If it is dropped before its end, the call counts as canceled.
#[derive(Debug)]
pub(crate) struct CallTimer {
    counters: Arc<Counters>,
    kind: CallKind,
    began: Instant,
    has_ended: bool,
}

impl CallTimer {
    /// The call has ended.
    pub(crate) fn end(mut self, outcome: Outcome) {
        self.has_ended = true;
        let calls = &self.counters.calls[self.kind as usize];
        match outcome {
            Outcome::Answered => calls.answered.increment(),
            Outcome::Refused => calls.refused.increment(),
            Outcome::Unanswered => return calls.unanswered.increment(),
        }
        calls.latencies.add(self.began.elapsed());
    }
}

impl Drop for CallTimer {
    fn drop(&mut self) {
        if !self.has_ended {
            self.counters.calls[self.kind as usize].canceled.increment();
        }
    }
}
