//! What a seed decides before it begins, and the settings from the environment.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use hblite::{Clock, Durability, Options};
use hblite_env::simulation::{self, Policy};
use hblite_env::{Random as _, SeededRandom};

const STEPS_MAX: u64 = 40_000_000;
const MILLIS_AT_FIRST: i64 = 1_000_000_000_000;

/// A setting of the environment.
pub(crate) fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// A number below `limit`.
pub(crate) fn below(random: &SeededRandom, limit: u64) -> u64 {
    random.next_u64() % limit
}

/// One of these.
pub(crate) fn pick<T: Copy>(random: &SeededRandom, values: &[T]) -> T {
    values[below(random, values.len() as u64) as usize]
}

/// Virtual time that differs at every reading.
#[derive(Debug, Default)]
pub(crate) struct VirtualClock(AtomicI64);

impl Clock for VirtualClock {
    fn now_millis(&self) -> i64 {
        let elapsed = simulation::elapsed().as_millis() as i64;
        let last = self.0.load(Ordering::Relaxed);
        let now = (MILLIS_AT_FIRST + elapsed).max(last + 1);
        self.0.store(now, Ordering::Relaxed);
        now
    }
}

/// How a seed's machine works.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) seed: u64,
    pub(crate) durability: Durability,
    pub(crate) engine: Options,
    pub(crate) is_flushed_on_close: bool,
    pub(crate) policy: Policy,
    pub(crate) clock: Arc<VirtualClock>,
}

impl Settings {
    pub(crate) fn of(seed: u64) -> Self {
        let random = SeededRandom::new(seed ^ 0x5e77_1265);
        let (fsync, sync, later) =
            (Durability::FsyncWal, Durability::SyncWal, Durability::AsyncWal);
        let durability = pick(&random, &[fsync, fsync, fsync, sync, sync, later]);
        let files_min = pick(&random, &[2, 3, 10]);
        let engine = Options::new()
            .with_memstore_flush_size_bytes(64 * 1024)
            .with_compaction_files_min(files_min)
            .with_compaction_files_max(files_min + pick(&random, &[0, 3]))
            .with_compaction_enabled(below(&random, 3) > 0);
        let is_flushed_on_close = below(&random, 2) == 0;
        let mut engine = engine
            .with_flush_on_close(is_flushed_on_close)
            .with_block_cache_size_bytes(pick(&random, &[0, 1 << 20]))
            .with_parents_kept(Duration::from_millis(pick(&random, &[0, 0, 60_000])));
        engine = engine.with_wal_roll_size_bytes(pick(&random, &[4 * 1024, 16 * 1024, 1 << 20]));
        let policy = match below(&random, 4) {
            0 => Policy::Random { switch_one_in: 1 },
            1 => Policy::Random { switch_one_in: 5 },
            2 => Policy::Random { switch_one_in: 40 },
            _ => Policy::Priorities { changes: 20, steps: 100_000 },
        };
        // Drawn last, so that other choices of a seed do not change.
        let durability = if below(&random, 8) == 0 { Durability::SkipWal } else { durability };
        engine = engine.with_compaction_threads_max(pick(&random, &[1, 2, 3]));
        engine = engine.with_compaction_small_file_bytes(pick(&random, &[1, 1, 16 << 20]));
        let clock = Arc::default();
        Self { seed, durability, engine, is_flushed_on_close, policy, clock }
    }

    pub(crate) fn simulation(&self, keeps_trace: bool) -> simulation::Options {
        let (seed, policy, steps_max) = (self.seed, self.policy, STEPS_MAX);
        simulation::Options { seed, policy, steps_max, keeps_trace }
    }
}
