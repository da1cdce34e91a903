//! Procedures while scanners have files open, on a file system that, like that of Windows, does not
//! rename a directory then.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{FaultFileSystem, MemFileSystem};
use hblite_model::{
    CompactRequest, FailSafeSnapshot, MergeKind, Result, RowResult, Scan, SnapshotOptions,
    SplitPoints,
};

use super::{DIR, env, name, options, picture, put_in, rows, table};
use crate::Engine;

/// Runs the procedure on a table of two regions, each with a file that a scanner reads.
fn check(what: &str, procedure: impl Fn(&Arc<Engine>) -> Result<()>) {
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    fs.pin_open_files();
    let open = || {
        let options = options().with_files_mapped(false);
        Engine::open(env(Arc::new(fs.clone())), Path::new(DIR), options).unwrap()
    };
    let engine = open();
    engine.procedures().create_table(&table("t", &["f", "g"]), &[b"m".to_vec()]).unwrap();
    for row in ["a", "b", "x", "y"] {
        put_in(&engine, "t", row, "f").unwrap();
        put_in(&engine, "t", row, "g").unwrap();
    }
    engine.flush(name("t")).unwrap();
    let options = SnapshotOptions::default();
    engine.procedures().snapshot("s", &name("t"), &options).unwrap();
    let mut scanners: Vec<_> = ["a", "x"]
        .iter()
        .map(|start| engine.table(name("t")).scan(&Scan::new().with_start_row(start)).unwrap())
        .collect();
    let mut row = RowResult::default();
    for scanner in &mut scanners {
        assert!(scanner.next_row(&mut row).unwrap());
    }
    procedure(&engine).unwrap_or_else(|error| panic!("{what}: {error}"));
    let after = picture(&engine);
    drop(scanners);
    engine.close().unwrap();
    drop(engine);
    assert_eq!(picture(&open()), after, "{what}: opened again");
}

fn disabled(engine: &Arc<Engine>) -> Result<()> {
    engine.procedures().disable_table(&name("t"))
}

fn encoded_names(engine: &Arc<Engine>) -> Vec<String> {
    let infos = engine.catalog().region_infos(&name("t"));
    infos.iter().map(|info| info.encoded_name().to_owned()).collect()
}

#[test]
fn tables_are_dropped_and_truncated() {
    check("drop", |engine| {
        disabled(engine)?;
        engine.procedures().drop_table(&name("t"))?;
        engine.procedures().create_table(&table("t", &["f"]), &[])
    });
    for splits in [SplitPoints::Preserve, SplitPoints::Discard] {
        check("truncate", |engine| {
            disabled(engine)?;
            engine.procedures().truncate_table(&name("t"), splits)
        });
    }
    check("delete a family", |engine| engine.procedures().delete_family(&name("t"), b"g"));
}

#[test]
fn regions_are_split_and_merged() {
    check("split", |engine| engine.procedures().split_table(&name("t"), Some(b"b")));
    check("merge", |engine| {
        let names = encoded_names(engine);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        engine.procedures().merge_regions(&names, MergeKind::Adjacent)?;
        // The files of the merged regions are referred to until a compaction.
        engine.compact(CompactRequest::table(name("t")).major())
    });
}

#[test]
fn snapshots_are_restored_and_deleted() {
    check("restore", |engine| {
        put_in(engine, "t", "c", "f")?;
        engine.flush(name("t"))?;
        disabled(engine)?;
        engine.procedures().restore_snapshot("s", FailSafeSnapshot::Skip)?;
        engine.procedures().enable_table(&name("t"))?;
        assert_eq!(rows(engine, "t")?, ["a", "b", "x", "y"]);
        Ok(())
    });
    check("delete a snapshot", |engine| {
        engine.compact(CompactRequest::table(name("t")).major())?;
        engine.procedures().delete_snapshot("s")
    });
}

/// Its directory cannot be renamed, nor its files removed, one by one or at once.
#[test]
fn a_region_whose_files_are_open_is_not_truncated() {
    check("truncate a region", |engine| {
        let before = picture(engine);
        let error = engine.procedures().truncate_region(&encoded_names(engine)[0]).unwrap_err();
        assert!(error.message().contains("is open"), "{error}");
        assert_eq!(picture(engine), before);
        Ok(())
    });
}
