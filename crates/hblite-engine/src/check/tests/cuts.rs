//! A check after an interrupted procedure: no defect, since the next open handles it.
//!
//! Each procedure is interrupted after each of its operations on the disk, and the remains are
//! checked as a kill and as a power cut leave them.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{CrashFileSystem, Env, FileSystem, ManualClock, SeededRandom};
use hblite_model::{
    ColumnFamilyDescriptor, CompactRequest, FailSafeSnapshot, MergeKind, NamespaceDescriptor, Put,
    Result, SplitPoints, TableDescriptor,
};

use super::{DIR, name};
use crate::check::{FindingKind, check};
use crate::{Engine, EngineOptions};
use hblite_model::SnapshotOptions;

const POWER_CUTS: u64 = 2;

fn env(fs: CrashFileSystem) -> Env {
    Env {
        fs: Arc::new(fs),
        clock: Arc::new(ManualClock::new(1_700_000_000_000)),
        random: Arc::new(SeededRandom::new(7)),
    }
}

fn open(fs: &CrashFileSystem) -> Arc<Engine> {
    let options = EngineOptions { is_compaction_enabled: false, ..EngineOptions::default() };
    Engine::open(env(fs.clone()), Path::new(DIR), options).unwrap()
}

fn put(engine: &Arc<Engine>, rows: &[&str]) -> Result<()> {
    for row in rows {
        for family in ["f", "g"] {
            let put = Put::new(*row).add(family, "q", *row);
            engine.table(name("t")).mutate(put.as_mutation())?;
        }
    }
    Ok(())
}

/// A table of two regions with files and logged cells, and a snapshot of it.
fn with_table(engine: &Arc<Engine>) {
    let table = ["f", "g"].into_iter().fold(TableDescriptor::new(name("t")), |table, family| {
        table.with_family(ColumnFamilyDescriptor::new(family))
    });
    engine.procedures().create_table(&table, &[b"m".to_vec()]).unwrap();
    put(engine, &["a", "n"]).unwrap();
    engine.procedures().snapshot("s", &name("t"), &SnapshotOptions::default()).unwrap();
    put(engine, &["b", "z"]).unwrap();
    engine.procedures().create_namespace(&NamespaceDescriptor::new("sync")).unwrap();
}

fn names(engine: &Arc<Engine>) -> Vec<String> {
    let infos = engine.catalog().region_infos(&name("t"));
    infos.iter().map(|info| info.encoded_name().to_owned()).collect()
}

fn split(engine: &Arc<Engine>) -> Result<()> {
    engine.procedures().split_table(&name("t"), Some(b"b"))
}

fn merge(engine: &Arc<Engine>) -> Result<()> {
    let names = names(engine);
    engine.procedures().merge_regions(
        &names.iter().map(String::as_str).collect::<Vec<_>>()[..2],
        MergeKind::Adjacent,
    )
}

fn check_is_clean(prepare: impl Fn(&Arc<Engine>), procedure: impl Fn(&Arc<Engine>) -> Result<()>) {
    for operations in 0.. {
        let fs = CrashFileSystem::new();
        let engine = open(&fs);
        with_table(&engine);
        prepare(&engine);
        let start = fs.operation_count();
        fs.power_off_after(operations);
        let is_done = procedure(&engine).is_ok();
        let has_power = is_done && fs.operation_count() - start < operations;
        engine.abandon();
        drop(engine);
        let cuts = (0..POWER_CUTS).map(|seed| fs.after_power_cut(seed));
        for (index, left) in std::iter::once(fs.after_kill()).chain(cuts).enumerate() {
            assert!(left.exists(Path::new(DIR)).unwrap());
            let mut report = check(&env(left), Path::new(DIR), &mut |_| {}).unwrap();
            if index > 0 {
                // The directory of a region without files is not durable: an open creates it again.
                report.defects.retain(|defect| defect.kind != FindingKind::RegionMissing);
            }
            let place = format!("cut after {operations} operations, remains {index}");
            assert!(report.is_clean(), "{place}: {:#?}", report.defects);
        }
        if has_power {
            return;
        }
    }
}

#[test]
fn splits_merges_and_the_removal_of_their_parents() {
    check_is_clean(
        |_| {},
        |engine| {
            split(engine)?;
            engine.compact(CompactRequest::table(name("t")).major())?;
            engine.procedures().clean_parents()?;
            merge(engine)?;
            engine.compact(CompactRequest::table(name("t")).major())?;
            engine.procedures().clean_parents().map(drop)
        },
    );
}

#[test]
fn dropped_truncated_and_altered_tables() {
    let disabled = |engine: &Arc<Engine>| engine.procedures().disable_table(&name("t")).unwrap();
    check_is_clean(disabled, |engine| engine.procedures().drop_table(&name("t")));
    check_is_clean(disabled, |engine| {
        engine.procedures().truncate_table(&name("t"), SplitPoints::Preserve)
    });
    check_is_clean(|_| {}, |engine| engine.procedures().truncate_region(&names(engine)[0]));
    check_is_clean(
        |_| {},
        |engine| {
            engine.procedures().delete_family(&name("t"), b"g")?;
            engine.procedures().add_family(&name("t"), &ColumnFamilyDescriptor::new("g"))
        },
    );
}

#[test]
fn snapshots() {
    check_is_clean(
        |_| {},
        |engine| {
            engine.procedures().snapshot("s2", &name("t"), &SnapshotOptions::default())?;
            engine.procedures().clone_snapshot("s", &name("u"), &Ok)?;
            engine.procedures().disable_table(&name("t"))?;
            engine.procedures().restore_snapshot("s", FailSafeSnapshot::Skip)?;
            engine.procedures().delete_snapshot("s")
        },
    );
}
