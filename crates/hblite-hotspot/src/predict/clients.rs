//! Clients: threads, each of which sends one call at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hblite::{Get, Put, Table};

use super::load::Call;
use super::table::{FAMILY, VALUE};
use crate::run::RunError;
use crate::simulate::{Kind, Latencies, Latency};

/// How long a client sleeps before it looks whether another one has failed.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Runs the work of each client in a thread of its own; returns the results in the order of the
/// clients. The work ends early if the flag is set, as it is once a client has failed.
pub(super) fn with_clients<T: Send>(
    clients: usize,
    work: impl Fn(usize, &AtomicBool) -> Result<T, RunError> + Sync,
) -> Result<Vec<T>, RunError> {
    let has_failed = AtomicBool::new(false);
    let guarded = |client| {
        let result = work(client, &has_failed);
        if result.is_err() {
            has_failed.store(true, Ordering::Relaxed);
        }
        result
    };
    std::thread::scope(|scope| {
        let mut handles = Vec::new();
        for client in 0..clients {
            let guarded = &guarded;
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || guarded(client));
            match thread {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    has_failed.store(true, Ordering::Relaxed);
                    return Err(RunError::Settings(format!(
                        "{clients} clients need as many threads: {error}; take fewer --clients"
                    )));
                }
            }
        }
        let results = handles.into_iter().map(|handle| match handle.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Sends one call.
pub(super) fn send(table: &Table, kind: Kind, row: &[u8], value: &[u8]) -> Result<(), RunError> {
    match kind {
        Kind::Write => table.put(&Put::new(row).add(FAMILY, VALUE, value))?,
        Kind::Read => drop(table.get(&Get::new(row))?),
    }
    Ok(())
}

/// Returns at that time, or soon after another client has failed.
fn sleep_until(due: Instant, has_failed: &AtomicBool) {
    while !has_failed.load(Ordering::Relaxed)
        && let Some(left) = due.checked_duration_since(Instant::now())
        && !left.is_zero()
    {
        std::thread::sleep(left.min(LOOK_AGAIN));
    }
}

/// When calls are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sent {
    /// When their time has come, which passes this many times as fast as in the recording.
    AtTheirTime(f64),
    /// As soon as a client is free.
    AtOnce,
}

/// What calls took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Driven {
    pub(super) per_second: f64,
    pub(super) latency: Latency,
}

/// Sends calls in order: the next one goes to the first client that is free. A latency begins with
/// the time of the call, or if it has none, when it is sent.
pub(super) fn drive(
    table: &Table,
    calls: &[Call],
    value: &[u8],
    clients: usize,
    sent: Sent,
) -> Result<Driven, RunError> {
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    let took = with_clients(clients, |_, has_failed| {
        let mut took = Vec::new();
        while !has_failed.load(Ordering::Relaxed)
            && let Some(call) = calls.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let since = match sent {
                Sent::AtOnce => Instant::now(),
                Sent::AtTheirTime(pace) => {
                    let due = began + Duration::from_nanos((call.at_ns as f64 / pace) as u64);
                    sleep_until(due, has_failed);
                    due
                }
            };
            send(table, call.kind, &call.row, value)?;
            took.push(since.elapsed().as_nanos() as u64);
        }
        Ok(took)
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let mut latencies = Latencies::new();
    took.iter().flatten().for_each(|&nanos| latencies.record(nanos));
    Ok(Driven { per_second: calls.len() as f64 / seconds, latency: latencies.summary() })
}
