//! Counters of calls, and the last slow ones.
//!
//! Counting takes a few atomic additions per call. The list of slow calls has a lock, which only
//! slow calls and readers of the list take.
//!
//! Threads: any.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

/// A call that took this long is slow.
const SLOW: Duration = Duration::from_millis(100);
/// Number of slow calls to keep.
const SLOW_CALLS_MAX: usize = 100;
/// The methods that are counted separately; the last entry counts all others.
const METHODS: [&str; 6] = ["Get", "Scan", "Mutate", "Multi", "ExecService", "other"];

/// A slow call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowCall {
    /// When it ended, by the store's clock, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Service and method.
    pub method: String,
    /// How long it took, including the time that it waited for a thread, in microseconds.
    pub micros: u64,
    /// The tables and encoded names of the regions that it named, at most ten.
    pub regions: Vec<(String, String)>,
    /// The class of the exception in its answer.
    pub exception: Option<String>,
}

/// Calls of one method since the server started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodCalls {
    /// The method, or `other`.
    pub method: &'static str,
    /// The number of answered calls.
    pub calls: u64,
    /// Their total duration, in microseconds.
    pub micros: u64,
}

#[derive(Debug, Default)]
struct Counter {
    calls: AtomicU64,
    micros: AtomicU64,
}

/// Counts of all calls.
#[derive(Debug, Default)]
pub(crate) struct CallStatistics {
    methods: [Counter; METHODS.len()],
    exceptions: AtomicU64,
    slow: Mutex<VecDeque<SlowCall>>,
}

impl CallStatistics {
    /// Counts a call; `describe` is called for slow ones.
    pub(crate) fn note(
        &self,
        method: &str,
        took: Duration,
        has_failed: bool,
        describe: impl FnOnce(u64) -> SlowCall,
    ) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let index = METHODS.iter().position(|known| *known == method);
        let counter = &self.methods[index.unwrap_or(METHODS.len() - 1)];
        counter.calls.fetch_add(1, Ordering::Relaxed);
        counter.micros.fetch_add(micros, Ordering::Relaxed);
        if has_failed {
            self.exceptions.fetch_add(1, Ordering::Relaxed);
        }
        if took >= SLOW {
            let call = describe(micros);
            let mut slow = self.slow.lock();
            if slow.len() == SLOW_CALLS_MAX {
                slow.pop_front();
            }
            slow.push_back(call);
        }
    }

    /// Calls by method.
    pub(crate) fn methods(&self) -> Vec<MethodCalls> {
        let counted = METHODS.iter().zip(&self.methods).map(|(method, counter)| MethodCalls {
            method,
            calls: counter.calls.load(Ordering::Relaxed),
            micros: counter.micros.load(Ordering::Relaxed),
        });
        counted.collect()
    }

    /// Calls that were answered with an exception.
    pub(crate) fn exceptions(&self) -> u64 {
        self.exceptions.load(Ordering::Relaxed)
    }

    /// The last slow calls, the newest first.
    pub(crate) fn slow(&self) -> Vec<SlowCall> {
        self.slow.lock().iter().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(at_ms: i64, micros: u64) -> SlowCall {
        let (method, regions) = ("Client.Get".to_owned(), Vec::new());
        SlowCall { at_ms, method, micros, regions, exception: None }
    }

    #[test]
    fn calls_are_counted_by_method_and_the_last_slow_ones_are_kept() {
        let statistics = CallStatistics::default();
        let quick = Duration::from_micros(30);
        statistics.note("Get", quick, false, |_| panic!("it is not slow"));
        statistics.note("Move", quick, true, |_| panic!("it is not slow"));
        for at_ms in 0..150 {
            statistics.note("Get", SLOW, false, |micros| slow(at_ms, micros));
        }
        let methods = statistics.methods();
        assert_eq!((methods[0].method, methods[0].calls), ("Get", 151));
        assert_eq!(methods[0].micros, 150 * 100_000 + 30);
        assert_eq!((methods[5].method, methods[5].calls), ("other", 1));
        assert_eq!(statistics.exceptions(), 1);
        let kept = statistics.slow();
        assert_eq!((kept.len(), kept[0].at_ms, kept[99].at_ms), (SLOW_CALLS_MAX, 149, 50));
    }
}
