//! Procedures on file systems that refuse to rename directories: all existing ones, as overlayfs
//! does with those of lower layers, and mount points.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{CrashFileSystem, FaultFileSystem, FileSystem, MemFileSystem, files_below};
use hblite_model::{
    CompactRequest, FailSafeSnapshot, MergeKind, Result, SnapshotOptions, SplitPoints,
};

use super::{DIR, name, open, picture, put_in, rows, table};
use crate::{Engine, check};

type Procedure = fn(&Arc<Engine>) -> Result<()>;

/// What the file system refuses.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Refusal {
    Layer,
    TableMounted,
    DataMounted,
}

const REFUSALS: [Refusal; 3] = [Refusal::Layer, Refusal::TableMounted, Refusal::DataMounted];

impl Refusal {
    fn apply(self, fs: &FaultFileSystem) {
        match self {
            Self::Layer => fs.put_in_lower_layer(Path::new(DIR)).unwrap(),
            Self::TableMounted => fs.mount(Path::new("/store/data/default/t")),
            Self::DataMounted => fs.mount(Path::new("/store/data")),
        }
    }
}

fn prepare(engine: &Arc<Engine>) {
    let procedures = engine.procedures();
    procedures.create_table(&table("t", &["f", "g"]), &[b"m".to_vec()]).unwrap();
    procedures.create_table(&table("u", &["f"]), &[]).unwrap();
    for row in ["a", "b", "x", "y"] {
        put_in(engine, "t", row, "f").unwrap();
        put_in(engine, "t", row, "g").unwrap();
        put_in(engine, "u", row, "f").unwrap();
    }
    engine.flush(name("t")).unwrap();
    procedures.snapshot("s", &name("t"), &SnapshotOptions::default()).unwrap();
    put_in(engine, "t", "c", "f").unwrap();
}

/// A closed store.
fn closed_store(fs: Arc<dyn FileSystem>) {
    let engine = open(&fs).unwrap();
    prepare(&engine);
    engine.close().unwrap();
}

/// Runs the procedure under each refusal, and opens the store again.
fn check_procedure(what: &str, procedure: impl Fn(&Arc<Engine>) -> Result<()>) {
    for refusal in REFUSALS {
        let memory: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
        closed_store(Arc::clone(&memory));
        let fs = FaultFileSystem::new(memory);
        refusal.apply(&fs);
        let fs: Arc<dyn FileSystem> = Arc::new(fs);
        let engine = open(&fs).unwrap_or_else(|error| panic!("{what}, {refusal:?}: {error}"));
        procedure(&engine).unwrap_or_else(|error| panic!("{what}, {refusal:?}: {error}"));
        let after = picture(&engine);
        engine.close().unwrap();
        drop(engine);
        let engine = open(&fs).unwrap_or_else(|error| panic!("{what}, {refusal:?}: {error}"));
        assert_eq!(picture(&engine), after, "{what}, {refusal:?}: opened again");
        let report = engine.catalog().open_report();
        assert!(report.moved.is_empty() && report.set_aside.is_empty(), "{what}: {report:?}");
        assert_eq!(engine.file_notes(), [], "{what}, {refusal:?}");
        engine.close().unwrap();
        drop(engine);
        let found = check(&super::env(fs), Path::new(DIR), &mut |_| {}).unwrap();
        assert!(found.defects.is_empty() && found.notes.is_empty(), "{what}: {found:?}");
    }
}

fn disable(engine: &Arc<Engine>) -> Result<()> {
    engine.procedures().disable_table(&name("t"))
}

#[test]
fn tables_are_dropped_and_truncated() {
    check_procedure("drop", |engine| {
        disable(engine)?;
        engine.procedures().drop_table(&name("t"))
    });
    check_procedure("drop and create", |engine| {
        disable(engine)?;
        engine.procedures().drop_table(&name("t"))?;
        engine.procedures().create_table(&table("t", &["f"]), &[])?;
        assert_eq!(rows(engine, "t")?, [""; 0]);
        put_in(engine, "t", "new", "f")
    });
    for splits in [SplitPoints::Preserve, SplitPoints::Discard] {
        check_procedure("truncate", |engine| {
            disable(engine)?;
            engine.procedures().truncate_table(&name("t"), splits)
        });
    }
    check_procedure("delete a family", |engine| {
        engine.procedures().delete_family(&name("t"), b"g")
    });
}

#[test]
fn regions_are_split_and_merged() {
    let compact = |engine: &Arc<Engine>| {
        engine.compact(CompactRequest::table(name("t")).major())?;
        engine.procedures().clean_parents().map(drop)
    };
    check_procedure("split", |engine| {
        engine.procedures().split_table(&name("t"), Some(b"b"))?;
        compact(engine)
    });
    check_procedure("merge", |engine| {
        let infos = engine.catalog().region_infos(&name("t"));
        let names: Vec<&str> = infos.iter().map(|info| info.encoded_name()).collect();
        engine.procedures().merge_regions(&names, MergeKind::Adjacent)?;
        compact(engine)
    });
}

#[test]
fn snapshots_are_restored_and_deleted() {
    check_procedure("restore", |engine| {
        disable(engine)?;
        engine.procedures().restore_snapshot("s", FailSafeSnapshot::Take)?;
        engine.procedures().enable_table(&name("t"))?;
        assert_eq!(rows(engine, "t")?, ["a", "b", "x", "y"]);
        Ok(())
    });
    check_procedure("delete a snapshot", |engine| {
        engine.procedures().delete_snapshot("s")?;
        assert_eq!(engine.procedures().list_snapshots()?, []);
        let options = SnapshotOptions::default();
        engine.procedures().snapshot("s", &name("t"), &options)?;
        engine.procedures().delete_snapshot("s")
    });
}

#[test]
fn a_region_is_truncated() {
    check_procedure("truncate a region", |engine| {
        truncate_first_region(engine)?;
        assert_eq!(rows(engine, "t")?, ["x", "y"]);
        put_in(engine, "t", "d", "f")
    });
}

fn truncate_first_region(engine: &Arc<Engine>) -> Result<()> {
    let infos = engine.catalog().region_infos(&name("t"));
    engine.procedures().truncate_region(infos[0].encoded_name())
}

/// What is set aside because hblite did not write all of it is moved in pieces.
#[test]
fn foreign_files_are_set_aside() {
    for refusal in REFUSALS {
        let memory: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
        closed_store(Arc::clone(&memory));
        for dir in ["/store/data/default/t/mine", "/store/data/default/unknown/1"] {
            memory.create_dir_all(Path::new(dir)).unwrap();
            memory.create(&Path::new(dir).join("notes.txt")).unwrap();
        }
        let fs = FaultFileSystem::new(memory);
        refusal.apply(&fs);
        let fs: Arc<dyn FileSystem> = Arc::new(fs);
        let engine = open(&fs).unwrap();
        assert_eq!(engine.catalog().open_report().moved.len(), 2, "{refusal:?}");
        assert_eq!(engine.file_notes(), [], "{refusal:?}");
        let kept = files_below(fs.as_ref(), &engine.layout().moved_dir()).unwrap();
        let kept: Vec<_> = kept.iter().filter(|path| path.ends_with("notes.txt")).collect();
        assert_eq!(kept.len(), 2, "{refusal:?}");
        engine.close().unwrap();
        assert_eq!(open(&fs).unwrap().catalog().open_report().moved, [], "{refusal:?}");
    }
}

/// An interruption at any operation leaves the state before or after, and the next open works, also
/// if all that is left is in a lower layer.
#[test]
fn an_interrupted_procedure_is_finished_by_an_open() {
    let procedures: [(&str, Procedure); 4] = [
        ("truncate a region", truncate_first_region),
        ("drop", |engine| engine.procedures().drop_table(&name("u"))),
        ("truncate", |engine| engine.procedures().truncate_table(&name("u"), SplitPoints::Discard)),
        ("delete a snapshot", |engine| engine.procedures().delete_snapshot("s")),
    ];
    let seen = |engine: &Arc<Engine>| {
        let snapshots = engine.procedures().list_snapshots().unwrap();
        format!("{}{snapshots:?}", picture(engine))
    };
    for (what, procedure) in procedures {
        let layered = |fs: &CrashFileSystem| {
            let fs = FaultFileSystem::new(Arc::new(fs.clone()));
            fs.put_in_lower_layer(Path::new(DIR)).unwrap();
            let fs: Arc<dyn FileSystem> = Arc::new(fs);
            open(&fs).unwrap_or_else(|error| panic!("{what}: {error}"))
        };
        let prepared = || {
            let fs = CrashFileSystem::new();
            let engine = open(&(Arc::new(fs.clone()) as Arc<dyn FileSystem>)).unwrap();
            prepare(&engine);
            engine.procedures().disable_table(&name("u")).unwrap();
            engine.close().unwrap();
            let engine = layered(&fs);
            (fs, engine)
        };
        let (_, engine) = prepared();
        let before = seen(&engine);
        procedure(&engine).unwrap();
        let after = seen(&engine);
        assert_ne!(before, after);
        for operations in 0.. {
            let (fs, engine) = prepared();
            let start = fs.operation_count();
            fs.power_off_after(operations);
            let is_done = procedure(&engine).is_ok();
            let has_power = is_done && fs.operation_count() - start < operations;
            engine.abandon();
            for left in [fs.after_kill(), fs.after_power_cut(1), fs.after_power_cut(2)] {
                let engine = layered(&left);
                let now = seen(&engine);
                assert!(now == after || (now == before && !is_done), "{what}: {operations}");
            }
            if has_power {
                break;
            }
        }
    }
}
