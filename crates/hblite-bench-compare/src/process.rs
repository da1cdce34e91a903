//! What the system says about this process: bytes read and written, memory, and whether it is idle.
//!
//! Figures come from Linux's `/proc`; elsewhere there are none. They count all threads.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::clocks::process_cpu;

/// How often an idle process is looked at.
const SAMPLE_PERIOD: Duration = Duration::from_millis(25);
/// CPU time per period up to which a process counts as idle: timers, and the look itself.
const SAMPLE_CPU_MAX: Duration = Duration::from_millis(2);
/// How long a process must do nothing to count as idle.
const QUIET: Duration = Duration::from_secs(1);

/// Bytes that went between the process and its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileBytes {
    /// Bytes that were fetched from disk: not what was in memory. Mapped pages count too.
    pub(crate) read: u64,
    /// Bytes of pages that were to be written to disk. A page counts each time that it stops being
    /// the same as on disk, whether a write call or a mapping changed it.
    pub(crate) written: u64,
    /// Bytes that were passed to write calls.
    passed: u64,
}

/// Bytes so far.
pub(crate) fn file_bytes() -> Option<FileBytes> {
    let text = fs::read_to_string("/proc/self/io").ok()?;
    Some(FileBytes {
        read: field(&text, "read_bytes:")?,
        written: field(&text, "write_bytes:")?,
        passed: field(&text, "wchar:")?,
    })
}

/// Resident memory that is not part of a file, in KiB.
pub(crate) fn anonymous_kib() -> Option<u64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "RssAnon:")
}

fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// How a wait for the end of background work went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    /// From the beginning of the wait until the last work.
    pub(crate) after: Duration,
    /// Whether the work has ended, not the patience.
    pub(crate) is_idle: bool,
}

/// Waits until the process uses no processor time and writes nothing, at most `limit`.
pub(crate) fn wait_until_idle(limit: Duration) -> Idle {
    let began = Instant::now();
    let mut after = Duration::ZERO;
    let (mut cpu_seen, mut bytes_seen) = (process_cpu(), file_bytes());
    loop {
        thread::sleep(SAMPLE_PERIOD);
        let (cpu, bytes) = (process_cpu(), file_bytes());
        let elapsed = began.elapsed();
        let is_writing = bytes.map(|bytes| (bytes.written, bytes.passed))
            != bytes_seen.map(|bytes| (bytes.written, bytes.passed));
        if is_writing || cpu.saturating_sub(cpu_seen) > SAMPLE_CPU_MAX {
            after = elapsed;
        }
        (cpu_seen, bytes_seen) = (cpu, bytes);
        let is_idle = elapsed - after >= QUIET;
        if is_idle || elapsed >= limit {
            return Idle { after, is_idle };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "rchar: 1\nread_bytes: 20\ncancelled_write_bytes: 4\nRssAnon:\t  77 kB\n";
        assert_eq!(field(text, "read_bytes:"), Some(20));
        assert_eq!(field(text, "RssAnon:"), Some(77));
        assert_eq!(field(text, "write_bytes:"), None);
    }
}
