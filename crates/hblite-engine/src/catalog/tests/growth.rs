//! Regions that grow are split by their table's policy.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{FileSystem, MemFileSystem};
use hblite_model::Put;

use super::{DIR, env, name, options, rows, starts, table};
use crate::{Engine, EngineOptions};

const CONSTANT: &str = "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy";

fn engine() -> Arc<Engine> {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let options = EngineOptions {
        region_size_max_bytes: 300_000,
        region_split_first_size_bytes: Some(100_000),
        ..options()
    };
    Engine::open(env(fs), Path::new(DIR), options).unwrap()
}

/// Writes rows `first`.. of a kilobyte each, and flushes them.
fn fill(engine: &Arc<Engine>, first: usize, count: usize) {
    for row in first..first + count {
        let put = Put::new(format!("{row:05}")).add("f", "q", vec![b'v'; 1000]);
        engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    }
    engine.flush_table(&name("t")).unwrap();
    engine.compact_table(&name("t"), true).unwrap();
}

/// How many regions were split in one round over all.
fn split_round(engine: &Arc<Engine>) -> usize {
    let regions = engine.catalog().all_regions();
    regions.iter().filter(|region| engine.catalog().split_if_due(region).unwrap()).count()
}

#[test]
fn the_first_region_is_split_early_and_the_others_late() {
    let engine = engine();
    engine.create_table(&table("t", &["f"]), &[]).unwrap();
    fill(&engine, 0, 50);
    assert_eq!(split_round(&engine), 0);
    fill(&engine, 50, 70);
    assert_eq!(split_round(&engine), 1);
    assert_eq!(starts(&engine, "t").len(), 2);
    // Halves of the parent's files are not split again, and small regions are left alone.
    assert_eq!(split_round(&engine), 0);
    fill(&engine, 200, 200);
    assert_eq!(split_round(&engine), 0);
    fill(&engine, 400, 100);
    assert_eq!(split_round(&engine), 1);
    assert_eq!(rows(&engine, "t").unwrap().len(), 420);
}

#[test]
fn a_policy_and_a_switch_decide() {
    let engine = engine();
    let mut constant = table("t", &["f"]);
    constant.set_attribute("SPLIT_POLICY", CONSTANT).unwrap();
    engine.create_table(&constant, &[]).unwrap();
    fill(&engine, 0, 200);
    assert_eq!(split_round(&engine), 0);
    constant.set_attribute("SPLIT_ENABLED", "false").unwrap();
    engine.modify_table(&constant).unwrap();
    fill(&engine, 200, 200);
    assert_eq!(split_round(&engine), 0);
    constant.set_attribute("SPLIT_ENABLED", "true").unwrap();
    engine.modify_table(&constant).unwrap();
    assert_eq!(split_round(&engine), 1);
}

#[test]
fn one_row_is_never_split() {
    let engine = engine();
    engine.create_table(&table("t", &["f"]), &[]).unwrap();
    for column in 0..200 {
        let put = Put::new("row").add("f", format!("{column}"), vec![b'v'; 1000]);
        engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    }
    engine.flush_table(&name("t")).unwrap();
    assert_eq!(split_round(&engine), 0);
    assert_eq!(starts(&engine, "t"), [""]);
}
