//! A get of one column or family takes the fast path; a get of two columns, or with a limit, uses a
//! scanner.
//!
//! Goal:   both give the same, whatever was written, flushed, compacted or expired.
//! Method: random puts and deletes with few rows, columns and timestamps, in families with all the
//!         settings that decide which cells are alive. After every few of them each column is read
//!         alone, and together with a column that no row has; and each family alone, and with a
//!         limit that no row reaches.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hblite_engine::{Engine, EngineOptions};
use hblite_env::{Env, ManualClock, MemFileSystem, Random as _, SeededRandom};
use hblite_model::{
    ColumnFamilyDescriptor, CompactRequest, Delete, FlushRequest, Get, KeepDeletedCells, Put,
    TableDescriptor, TableName,
};

const STEPS: usize = 600;
const STEPS_BETWEEN_READS: usize = 20;
const SEEDS: std::ops::Range<u64> = 0..4;
const NOW: i64 = 1_000_000;
const ROWS: [&str; 3] = ["a", "b", "b\0"];
const FAMILIES: [&str; 6] = ["plain", "versions", "kept", "expiring", "new", "small"];
const QUALIFIERS: [&str; 4] = ["", "p", "q", "qq"];

#[test]
fn a_short_get_gives_what_a_scanner_gives() {
    for seed in SEEDS {
        let store = Store::new(seed);
        for step in 0..STEPS {
            store.change();
            if step % STEPS_BETWEEN_READS == 0 {
                store.compare(&format!("seed {seed}, step {step}"));
            }
        }
    }
}

struct Store {
    engine: Arc<Engine>,
    clock: Arc<ManualClock>,
    random: SeededRandom,
    table: TableName,
}

impl Store {
    fn new(seed: u64) -> Self {
        let clock = Arc::new(ManualClock::new(NOW));
        let env = Env {
            fs: Arc::new(MemFileSystem::new()),
            clock: Arc::clone(&clock) as _,
            random: Arc::new(SeededRandom::new(seed)),
        };
        let options = EngineOptions::default().with_compaction_enabled(false);
        let engine = Engine::open(env, Path::new("/store"), options).expect("a store");
        let table: TableName = "t".parse().expect("a name");
        let family = ColumnFamilyDescriptor::new;
        let mut newer = family("new").with_versions(2);
        newer.set_attribute("NEW_VERSION_BEHAVIOR", "true").expect("an attribute");
        let descriptor = TableDescriptor::new(table.clone())
            .with_family(family("plain"))
            .with_family(family("versions").with_versions(3))
            .with_family(
                family("kept").with_versions(2).with_keep_deleted_cells(KeepDeletedCells::True),
            )
            .with_family(
                family("expiring").with_time_to_live(Duration::from_secs(1)).with_min_versions(1),
            )
            .with_family(newer)
            .with_family(family("small").with_block_size(1024).with_versions(2));
        engine.procedures().create_table(&descriptor, &[]).expect("a table");
        Self { engine, clock, random: SeededRandom::new(seed ^ 0xabcd), table }
    }

    fn pick(&self, count: usize) -> usize {
        (self.random.next_u64() % count as u64) as usize
    }

    fn change(&self) {
        let handle = self.engine.table(self.table.clone());
        let (row, family) = (ROWS[self.pick(ROWS.len())], FAMILIES[self.pick(FAMILIES.len())]);
        let qualifier = QUALIFIERS[self.pick(QUALIFIERS.len())];
        let timestamp = NOW - 1_000 + 400 * i64::try_from(self.pick(5)).expect("small");
        let delete = || Delete::new(row);
        let change = match self.pick(24) {
            0 => {
                let whole = FlushRequest::table(self.table.clone());
                return self.engine.flush(whole).expect("a flush");
            }
            1 => {
                let whole = CompactRequest::table(self.table.clone());
                return self.engine.compact(whole).expect("a compaction");
            }
            2 => return self.clock.advance(50),
            3 => delete().family(family).as_mutation().clone(),
            4 => delete().family_version(family, timestamp).as_mutation().clone(),
            5 => delete().columns_at(family, qualifier, timestamp).as_mutation().clone(),
            6 => delete().column_at(family, qualifier, timestamp).as_mutation().clone(),
            7 => {
                let put = Put::new(row).add_at(family, qualifier, timestamp, "short-lived");
                put.with_time_to_live_ms(100).as_mutation().clone()
            }
            _ => {
                let value = format!("value {}", self.random.next_u64());
                Put::new(row).add_at(family, qualifier, timestamp, value).as_mutation().clone()
            }
        };
        handle.mutate(&change).expect("a write");
    }

    fn compare(&self, when: &str) {
        for row in ROWS.into_iter().chain(["z"]) {
            for family in FAMILIES {
                for versions in 1..=3 {
                    let get = || Get::new(row).with_versions(versions);
                    let what = format!("{when}: {row:?} {family} {versions}");
                    let whole = get().with_family(family);
                    let limited = whole.clone().with_family_limit(1000);
                    assert_eq!(self.read(&whole), self.read(&limited), "{what}");
                    for qualifier in QUALIFIERS {
                        let short = get().with_column(family, qualifier);
                        let long = short.clone().with_column(family, "zz");
                        assert_eq!(self.read(&short), self.read(&long), "{what} {qualifier}");
                    }
                }
            }
        }
    }

    /// Keys and values.
    fn read(&self, get: &Get) -> Vec<(Vec<u8>, Vec<u8>)> {
        let found = self.engine.table(self.table.clone()).get(get).expect("an answer");
        found.cells().map(|cell| (cell.key().to_vec(), cell.value().to_vec())).collect()
    }
}
