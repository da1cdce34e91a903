//! The first open of a directory, interrupted at every operation on the disk.
//!
//! Whatever a kill or a power cut leaves must open, and keep its id once one file with the id is
//! complete.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{CrashFileSystem, FileSystem};
use hblite_model::{Durability, NamespaceDescriptor, Put, Result};

use super::{DIR, has, name, open, table};
use crate::Engine;

/// Power cuts tried after each operation; each decides at random about what was not synced.
const SEEDS: u64 = 12;

/// Interrupts `workload` after each of its operations, one at a time, on the disk from `disk`, and
/// passes what is left to `verify`, with the result of the workload.
fn cut_everywhere<T>(
    seeds: u64,
    disk: impl Fn() -> CrashFileSystem,
    workload: impl Fn(Arc<dyn FileSystem>) -> Result<T>,
    verify: impl Fn(&Arc<dyn FileSystem>, bool, &str),
) {
    for operations in 0.. {
        let fs = disk();
        let start = fs.operation_count();
        fs.power_off_after(operations);
        let is_done = workload(Arc::new(fs.clone())).is_ok();
        let has_power = fs.operation_count() - start < operations;
        let cuts = (0..seeds).map(|seed| fs.after_power_cut(seed));
        for (index, left) in std::iter::once(fs.after_kill()).chain(cuts).enumerate() {
            let left: Arc<dyn FileSystem> = Arc::new(left);
            verify(&left, is_done, &format!("cut after {operations} operations, remains {index}"));
        }
        if has_power {
            assert!(is_done);
            return;
        }
    }
}

fn put_durably(engine: &Arc<Engine>, table: &str, row: &str) -> Result<()> {
    let put = Put::new(row).add("f", "q", row).with_durability(Durability::FsyncWal);
    engine.table(name(table)).mutate(put.as_mutation())
}

#[test]
fn a_new_store_opens_after_any_cut() {
    let workload = |fs: Arc<dyn FileSystem>| {
        let engine = open(&fs)?;
        let done = engine
            .procedures()
            .create_table(&table("t", &["f"]), &[b"m".to_vec()])
            .and_then(|()| put_durably(&engine, "t", "row"));
        engine.abandon();
        done
    };
    cut_everywhere(SEEDS, CrashFileSystem::new, workload, |left, is_done, place| {
        if is_done {
            // HBase must not start on the directory: it would not see the log.
            let version = left.read(&Path::new(DIR).join("hbase.version")).unwrap();
            assert_ne!(version, b"PBUF\x0a\x018", "{place}");
        }
        let engine = open(left).unwrap_or_else(|error| panic!("{place}: {error}"));
        let report = engine.catalog().open_report();
        let mut out_of_place = report.moved.iter().map(|m| &m.from).chain(&report.removed);
        assert!(
            out_of_place.all(|dir| !is_done && dir.ends_with("data/default/t")),
            "{place}: {report:?}"
        );
        if is_done {
            assert!(has(&engine, "t", "row").unwrap(), "{place}");
        } else if !engine.catalog().table_exists(&name("t")) {
            engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
        }
        put_durably(&engine, "t", "other").unwrap();
        let id = engine.store_id();
        engine.close().unwrap();
        drop(engine);
        assert_eq!(open(left).unwrap().store_id(), id, "{place}");
    });
}

/// The power is cut at every operation of the first open, and again of the second.
#[test]
fn a_store_opens_after_one_cut_open_after_another() {
    let write = |fs: Arc<dyn FileSystem>, name: &str| {
        let engine = open(&fs)?;
        let done = engine.procedures().create_namespace(&NamespaceDescriptor::new(name));
        engine.abandon();
        done
    };
    let second = |fs: Arc<dyn FileSystem>| write(fs, "second");
    for operations in 0.. {
        let fs = CrashFileSystem::new();
        fs.power_off_after(operations);
        let is_done = write(Arc::new(fs.clone()), "first").is_ok();
        let first = || fs.after_power_cut(0);
        cut_everywhere(1, first, second, |left, is_second_done, place| {
            let place = format!("{operations} operations, then {place}");
            let engine = open(left).unwrap_or_else(|error| panic!("{place}: {error}"));
            let namespaces = engine.catalog().namespaces();
            let has = |name| namespaces.iter().any(|each| each.name == name);
            assert!(has("first") || !is_done, "{place}");
            assert!(has("second") || !is_second_done, "{place}");
        });
        if is_done {
            return;
        }
    }
}

#[test]
fn a_store_that_was_only_opened_and_closed_opens_after_any_cut() {
    let workload = |fs: Arc<dyn FileSystem>| open(&fs)?.close();
    cut_everywhere(SEEDS, CrashFileSystem::new, workload, |left, _, place| {
        let engine = open(left).unwrap_or_else(|error| panic!("{place}: {error}"));
        engine.close().unwrap();
    });
}
