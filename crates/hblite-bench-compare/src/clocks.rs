//! Two clocks and the load: how far a measurement can be trusted depends on what else the machine
//! does.
//!
//! Wall time is how long a user waits. CPU time is that of the whole process with all its threads,
//! so it includes background work and excludes other programs.

use std::fs;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::codec::Result;

/// How long some work took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    /// Elapsed time.
    pub(crate) wall: Duration,
    /// CPU time of all threads of this process.
    pub(crate) cpu: Duration,
}

/// Does `work` and times it.
pub(crate) fn measure<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Clocks)> {
    let cpu_before = process_cpu();
    let before = Instant::now();
    let answer = work()?;
    let wall = before.elapsed();
    let cpu = process_cpu().saturating_sub(cpu_before);
    Ok((answer, Clocks { wall, cpu }))
}

/// CPU time of all threads of this process so far.
pub(crate) fn process_cpu() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(spent.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(spent.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}

/// Runnable programs, averaged over the last minute; none where the system does not report it.
pub(crate) fn load_average() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Cores that this process may use.
pub(crate) fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The processor's name; none where the system does not report it.
pub(crate) fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
