//! What the system says about this process.

use std::time::Duration;

/// The processor time of this thread so far, where the system tells it.
pub(crate) fn thread_cpu_time() -> Option<Duration> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(statistics.split(' ').next()?.parse().ok()?))
}

/// Resident memory that is not part of a file, in KiB, where the system tells it.
pub(crate) fn anonymous_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.split_whitespace().next()?.parse().ok()
}
