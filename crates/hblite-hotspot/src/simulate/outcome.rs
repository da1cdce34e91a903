//! The outcome of a simulation.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::timeline::Timeline;

/// The outcome of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Requests that were answered.
    pub completed: u64,
    /// Requests that failed after all attempts.
    pub failed: u64,
    /// Calls that were retried.
    pub retries: u64,
    /// From the first arrival to the last answer, in nanoseconds.
    pub duration_ns: u64,
    /// Answered requests a second.
    pub throughput: f64,
    /// From arrival to answer; of clients that send without pause, from sending to answer.
    pub latency: Latency,
    /// Each server.
    pub servers: Vec<ServerLoad>,
    /// Regions that the balancer moved.
    pub moves: u64,
    /// How busy each server was over time.
    #[serde(default)]
    pub timeline: Timeline,
}

/// Times from arrival to answer, in nanoseconds, to three digits.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99 % are at most this long.
    pub p99_ns: u64,
    /// 99.9 % are at most this long.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// One server in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ServerLoad {
    /// Calls that it answered.
    pub requests: u64,
    /// Share of its handlers' time spent working, 0 to 1.
    pub utilisation: f64,
}

/// Collects latencies.
#[derive(Debug)]
pub(crate) struct Latencies(Histogram<u64>);

impl Latencies {
    pub(crate) fn new() -> Self {
        Self(Histogram::new(3).expect("three digits are a precision that the histogram has"))
    }

    pub(crate) fn record(&mut self, latency_ns: u64) {
        // It resizes as needed, for any number.
        self.0 += latency_ns;
    }

    pub(crate) fn summary(&self) -> Latency {
        Latency {
            mean_ns: self.0.mean(),
            p50_ns: self.0.value_at_quantile(0.5),
            p99_ns: self.0.value_at_quantile(0.99),
            p999_ns: self.0.value_at_quantile(0.999),
            max_ns: self.0.max(),
        }
    }
}
