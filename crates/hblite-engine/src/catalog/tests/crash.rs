//! Procedures interrupted at every operation on the disk.
//!
//! Each test prepares a store, cuts the power after the 1st, 2nd, 3rd, … modifying operation of a
//! procedure, and opens what is left, both as a kill and as a power cut leave it. The store must be
//! entirely in the state before or after the procedure; if the procedure reported success, in the
//! state after it. And the same procedure must succeed again.

use std::sync::Arc;

use hblite_env::{CrashFileSystem, FileSystem};
use hblite_model::{
    ColumnFamilyDescriptor, CompactRequest, MergeKind, NamespaceDescriptor, Result, SplitPoints,
};

use super::{name, open, picture, prepared, put, put_in, rows, table};
use crate::Engine;

const SEEDS: u64 = 3;

fn picture_of(fs: CrashFileSystem) -> (Arc<Engine>, String) {
    let fs: Arc<dyn FileSystem> = Arc::new(fs);
    let engine = open(&fs).unwrap();
    let picture = picture(&engine);
    (engine, picture)
}

fn check(prepare: impl Fn(&Arc<Engine>), procedure: impl Fn(&Arc<Engine>) -> Result<()>) {
    let prepared = || prepared(CrashFileSystem::new(), &prepare);
    let (_, engine) = prepared();
    let before = picture(&engine);
    procedure(&engine).unwrap();
    let after = picture(&engine);
    assert_ne!(before, after);

    for operations in 0.. {
        let (fs, engine) = prepared();
        let start = fs.operation_count();
        fs.power_off_after(operations);
        let is_done = procedure(&engine).is_ok();
        let has_power = is_done && fs.operation_count() - start < operations;
        engine.abandon();
        let left =
            std::iter::once(fs.after_kill()).chain((0..SEEDS).map(|seed| fs.after_power_cut(seed)));
        for (index, left) in left.enumerate() {
            let (engine, now) = picture_of(left);
            let place = format!("cut after {operations} operations, remains {index}");
            if is_done {
                assert_eq!(now, after, "{place}: done, and forgotten");
            } else if now != after {
                assert_eq!(now, before, "{place}");
                procedure(&engine).unwrap_or_else(|error| panic!("{place}: again: {error}"));
                assert_eq!(picture(&engine), after, "{place}: again");
            }
        }
        if has_power {
            return;
        }
    }
}

/// A table with a region in memory and files, and rows whose log is synced.
fn with_table(engine: &Arc<Engine>) {
    engine.procedures().create_table(&table("t", &["f", "g"]), &[b"m".to_vec()]).unwrap();
    for row in ["a", "n"] {
        put(engine, "t", row).unwrap();
    }
    engine.flush(name("t")).unwrap();
    for row in ["b", "z"] {
        put_in(engine, "t", row, "g").unwrap();
    }
    // A durable write makes everything before it in the log durable too.
    engine.procedures().create_namespace(&NamespaceDescriptor::new("sync")).unwrap();
}

fn with_disabled_table(engine: &Arc<Engine>) {
    with_table(engine);
    engine.procedures().disable_table(&name("t")).unwrap();
}

#[test]
fn create() {
    check(|_| {}, |engine| engine.procedures().create_table(&table("t", &["f"]), &[b"m".to_vec()]));
}

#[test]
fn create_again() {
    let prepare = |engine: &Arc<Engine>| {
        with_disabled_table(engine);
        engine.procedures().drop_table(&name("t")).unwrap();
    };
    check(prepare, |engine| engine.procedures().create_table(&table("t", &["f"]), &[]));
}

#[test]
fn disable() {
    check(with_table, |engine| engine.procedures().disable_table(&name("t")));
}

#[test]
fn enable() {
    check(with_disabled_table, |engine| engine.procedures().enable_table(&name("t")));
}

#[test]
fn drop_table() {
    check(with_disabled_table, |engine| engine.procedures().drop_table(&name("t")));
}

#[test]
fn truncate() {
    check(with_disabled_table, |engine| {
        engine.procedures().truncate_table(&name("t"), SplitPoints::Preserve)
    });
}

#[test]
fn add_family() {
    let family = ColumnFamilyDescriptor::new("h");
    check(with_table, |engine| engine.procedures().add_family(&name("t"), &family));
}

#[test]
fn delete_family() {
    check(with_table, |engine| engine.procedures().delete_family(&name("t"), b"g"));
}

/// A family that was deleted is empty when it is added again, wherever that is interrupted.
#[test]
fn add_family_again() {
    let prepare = |engine: &Arc<Engine>| {
        with_table(engine);
        engine.procedures().delete_family(&name("t"), b"g").unwrap();
    };
    let family = ColumnFamilyDescriptor::new("g");
    check(prepare, |engine| engine.procedures().add_family(&name("t"), &family));
}

#[test]
fn split() {
    check(with_table, |engine| engine.procedures().split_table(&name("t"), Some(b"b")));
}

#[test]
fn merge() {
    check(with_table, |engine| {
        let infos = engine.catalog().region_infos(&name("t"));
        let names: Vec<&str> = infos.iter().map(|info| info.encoded_name()).collect();
        engine.procedures().merge_regions(&names, MergeKind::Adjacent)
    });
}

#[test]
fn truncate_region() {
    check(with_table, |engine| {
        let infos = engine.catalog().region_infos(&name("t"));
        engine.procedures().truncate_region(infos[0].encoded_name())
    });
}

#[test]
fn namespace() {
    let namespace = NamespaceDescriptor::new("ns").with_property("k", "v");
    check(|_| {}, |engine| engine.procedures().create_namespace(&namespace));
    let prepare = |engine: &Arc<Engine>| engine.procedures().create_namespace(&namespace).unwrap();
    check(prepare, |engine| engine.procedures().drop_namespace("ns"));
}

/// Daughters that were compacted no longer need their parent, and it is removed.
#[test]
fn clean_parents() {
    let prepare = |engine: &Arc<Engine>| {
        // They would remove the parent, too.
        engine.stop_chores();
        with_table(engine);
        engine.procedures().split_table(&name("t"), Some(b"b")).unwrap();
        engine.compact(CompactRequest::table(name("t")).major()).unwrap();
    };
    let picture_of_parents = |engine: &Arc<Engine>| rows(engine, "hbase:meta").unwrap().len();
    for operations in 0.. {
        let fs = CrashFileSystem::new();
        let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
        let engine = open(&shared).unwrap();
        prepare(&engine);
        let (before, count) = (picture(&engine), picture_of_parents(&engine));
        let start = fs.operation_count();
        fs.power_off_after(operations);
        let is_done = engine.procedures().clean_parents().is_ok();
        let has_power = fs.operation_count() - start < operations;
        engine.abandon();
        for seed in 0..8 {
            let (engine, now) = picture_of(fs.after_power_cut(seed));
            assert_eq!(now, before, "cut after {operations} operations, seed {seed}");
            let left = picture_of_parents(&engine);
            assert!(left + 1 == count || (!is_done && left == count), "{left} of {count}");
        }
        if has_power {
            return;
        }
    }
}
