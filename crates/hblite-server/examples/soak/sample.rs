//! The samples of one second.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The times of calls since they were last taken, in microseconds.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Mutex<Vec<u32>>);

impl Latencies {
    pub(crate) fn add(&self, micros: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(micros);
    }

    fn take(&self) -> Vec<u32> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Calls of one second; times in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Calls {
    pub(crate) count: u64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

impl Calls {
    fn of(mut times: Vec<u32>) -> Self {
        times.sort_unstable();
        let at = |share: usize| {
            let place = (times.len() * share / 100).min(times.len().saturating_sub(1));
            times.get(place).copied().map_or(0.0, f64::from)
        };
        Self { count: times.len() as u64, p50: at(50), p99: at(99) }
    }
}

/// One second of the soak.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) second: u64,
    /// Resident memory.
    pub(crate) memory_mib: f64,
    /// Anonymous memory in it: without pages of mapped files.
    pub(crate) anonymous_mib: f64,
    pub(crate) descriptors: u64,
    pub(crate) threads: u64,
    pub(crate) disk_mib: f64,
    /// The load average over a minute.
    pub(crate) load: f64,
    pub(crate) embedded: Calls,
    pub(crate) clients: Calls,
}

impl Sample {
    pub(crate) fn take(second: u64, dir: &Path, latencies: &Latencies) -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next());
            number.and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0)
        };
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            second,
            memory_mib: field("VmRSS:") / 1024.0,
            anonymous_mib: field("RssAnon:") / 1024.0,
            descriptors: std::fs::read_dir("/proc/self/fd").map_or(0, |all| all.count() as u64),
            threads: field("Threads:") as u64,
            disk_mib: size_of(dir) as f64 / f64::from(1 << 20),
            load: load.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0),
            embedded: Calls::of(latencies.take()),
            clients: Calls::default(),
        }
    }
}

/// Bytes of all files below a directory. Some may disappear while it is read.
fn size_of(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => size_of(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// Adds what clients wrote: `second,calls,p50,p99` in each line.
pub(crate) fn add_clients(samples: &mut [Sample], text: &str) {
    for line in text.lines() {
        let fields: Vec<f64> = line.split(',').filter_map(|field| field.parse().ok()).collect();
        let [second, count, p50, p99] = fields[..] else { continue };
        if let Some(sample) = samples.iter_mut().find(|sample| sample.second == second as u64) {
            sample.clients = Calls { count: count as u64, p50, p99 };
        }
    }
}

pub(crate) fn csv(samples: &[Sample]) -> String {
    let mut text = "second,rss_mib,anonymous_mib,descriptors,threads,disk_mib,load,embedded_calls,\
                    embedded_p50_us,embedded_p99_us,client_calls,client_p50_us,client_p99_us\n"
        .to_owned();
    for sample in samples {
        let Sample { second, descriptors, threads, embedded, clients, .. } = sample;
        let _ = writeln!(
            text,
            "{second},{:.1},{:.1},{descriptors},{threads},{:.1},{},{},{},{},{},{},{}",
            sample.memory_mib,
            sample.anonymous_mib,
            sample.disk_mib,
            sample.load,
            embedded.count,
            embedded.p50,
            embedded.p99,
            clients.count,
            clients.p50,
            clients.p99,
        );
    }
    text
}
