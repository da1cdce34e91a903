//! Returns memory that is free in this process to the system, some time after it was needed.
//!
//! Threads: one.

use std::fs;

/// How many calls of [`Heap::tidy`] are between two looks.
const PERIOD: u32 = 10;
/// The processor time since the last return after which memory may have become free, in ticks of
/// 10 ms: 1 % of a processor.
const WORK_MIN: u64 = 10;

/// When memory was last returned.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    calls: u32,
    /// The processor time of the process then, in ticks.
    worked: u64,
}

impl Heap {
    /// Called once a second. Returns free memory every ten seconds, unless the process was idle.
    pub(crate) async fn tidy(&mut self) {
        self.calls += 1;
        if !self.calls.is_multiple_of(PERIOD) {
            return;
        }
        let now = fs::read_to_string("/proc/self/stat").ok().and_then(|text| ticks_of(&text));
        let Some(now) = now.filter(|now| *now >= self.worked + WORK_MIN) else { return };
        // It takes milliseconds for a large heap.
        let _ = tokio::task::spawn_blocking(hblite_mem::release_free_memory).await;
        self.worked = now;
    }
}

/// User and system time; fields 14 and 15. Field 2, a name in parentheses, may have any character.
fn ticks_of(text: &str) -> Option<u64> {
    let (_, fields) = text.rsplit_once(')')?;
    let times = fields.split_ascii_whitespace().skip(11).take(2).map(str::parse::<u64>);
    times.sum::<Result<u64, _>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_after_any_name() {
        let text = "7 (a) b (c)) S 1 7 7 0 -1 4194304 500 0 0 0 12 30 0 0 20 0 1 0 100";
        assert_eq!(ticks_of(text), Some(42));
        assert_eq!(ticks_of("7 (a) S 1"), Some(0));
        assert_eq!(ticks_of("7 a"), None);
        #[cfg(target_os = "linux")]
        assert!(ticks_of(&fs::read_to_string("/proc/self/stat").unwrap()).is_some());
    }
}
