//! Sound stores of many shapes.

use hblite_model::{CompactRequest, MergeKind, SplitPoints};

use super::*;

#[test]
fn an_empty_store_and_no_store() {
    let store = TestStore::new();
    let missing = check(&store.env(), Path::new("/nowhere"), &mut |_| {}).unwrap_err();
    assert_eq!(missing.message(), "/nowhere: no store is there");
    assert!(!store.fs.exists(Path::new("/nowhere")).unwrap(), "and none was made");
    let report = assert_clean(&store.with(|_| {}));
    assert_eq!((report.tables, report.regions, report.files), (2, 2, 0));
    assert_eq!(report.notes, []);
}

#[test]
fn an_open_store_is_not_looked_at() {
    let store = TestStore::new();
    let engine = store.open();
    let error = check(&store.env(), Path::new(DIR), &mut |_| {}).unwrap_err();
    assert!(error.message().contains("is open in another process or handle"), "{error}");
    assert!(error.message().contains(&std::process::id().to_string()), "{error}");
    engine.close().unwrap();
    assert_clean(&store);
}

#[test]
fn flushed_compacted_and_log_only() {
    let flushed = TestStore::new().with(with_files);
    let report = assert_clean(&flushed);
    // Two regions with two families each, and hbase:meta's two.
    assert_eq!((report.tables, report.regions, report.files), (3, 4, 6));
    assert!(report.cells > 400 && report.bytes > 20_000, "{report:?}");

    let compacted = flushed.with(|engine| {
        fill(engine, "t", 50);
        engine.flush(name("t")).unwrap();
        engine.compact(CompactRequest::table(name("t")).major()).unwrap();
    });
    assert_clean(&compacted);

    let logged = TestStore::new().with_killed(|engine| {
        create(engine, "t");
        fill(engine, "t", 0);
    });
    let report = assert_clean(&logged);
    assert!(report.log_segments == 1 && report.log_entries > 200, "{report:?}");
    assert_eq!((report.tables, report.regions, report.files), (3, 4, 0));

    let mixed = logged.with_killed(|engine| {
        engine.flush(name("t")).unwrap();
        fill(engine, "t", 80);
    });
    assert_clean(&mixed);
}

#[test]
fn split_and_merged_with_parents_and_without() {
    let split = TestStore::new().with_killed(|engine| {
        with_files(engine);
        engine.procedures().split_table(&name("t"), Some(b"a00050")).unwrap();
    });
    let report = assert_clean(&split);
    assert_eq!(report.regions, 5);
    assert!(split.store_files("t").iter().any(|path| path.extension().is_some()));

    let grown_up = split.with(|engine| {
        engine.compact(CompactRequest::table(name("t")).major()).unwrap();
        engine.procedures().clean_parents().unwrap();
    });
    assert_clean(&grown_up);
    assert!(grown_up.store_files("t").iter().all(|path| path.extension().is_none()));

    let merged = grown_up.with(|engine| {
        let regions = engine.catalog().region_infos(&name("t"));
        let names: Vec<&str> = regions.iter().map(|info| info.encoded_name()).collect();
        engine.procedures().merge_regions(&names[..2], MergeKind::Adjacent).unwrap();
        fill(engine, "t", 200);
    });
    assert_eq!(assert_clean(&merged).regions, 4);
    let cleaned = merged.with(|engine| {
        engine.compact(CompactRequest::table(name("t")).major()).unwrap();
        engine.procedures().clean_parents().unwrap();
    });
    assert_clean(&cleaned);
}

#[test]
fn altered_disabled_truncated_and_dropped() {
    let altered = TestStore::new().with_killed(|engine| {
        with_files(engine);
        engine.procedures().delete_family(&name("t"), b"g").unwrap();
        engine.procedures().add_family(&name("t"), &ColumnFamilyDescriptor::new("h")).unwrap();
        let put = Put::new("a").add("h", "q", "v");
        engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    });
    let notes: Vec<_> = assert_clean(&altered).notes.iter().map(|note| note.kind).collect();
    assert_eq!(notes, [FindingKind::UnclosedLog]);

    let disabled = altered.with(|engine| engine.procedures().disable_table(&name("t")).unwrap());
    assert_clean(&disabled);
    let truncated = disabled.with(|engine| {
        engine.procedures().truncate_table(&name("t"), SplitPoints::Preserve).unwrap();
        create(engine, "u");
        fill(engine, "u", 0);
    });
    assert_clean(&truncated);
    let dropped = truncated.with(|engine| {
        engine.procedures().disable_table(&name("u")).unwrap();
        engine.procedures().drop_table(&name("u")).unwrap();
    });
    assert_eq!(assert_clean(&dropped).notes, []);
}

#[test]
fn the_progress_ends_at_all_bytes() {
    let store = TestStore::new().with(with_files);
    let mut seen = Vec::new();
    check(&store.env(), Path::new(DIR), &mut |progress| seen.push(progress)).unwrap();
    assert!(seen.windows(2).all(|pair| pair[0].bytes <= pair[1].bytes), "{seen:?}");
    let last = seen.last().unwrap();
    assert!(last.bytes <= last.bytes_total && last.bytes > last.bytes_total / 2, "{last:?}");
}

/// A store that was interrupted at any operation has no defect, only things that the next open
/// cleans up.
#[test]
fn a_kill_or_power_cut_leaves_notes_at_most() {
    use hblite_env::CrashFileSystem;
    let store = TestStore::new();
    let prepared = || {
        let fs = CrashFileSystem::new();
        let env = store.env().with_fs(Arc::new(fs.clone()));
        (fs, Engine::open(env, Path::new(DIR), store.options.clone()).unwrap())
    };
    let work = |engine: &Arc<Engine>| -> hblite_model::Result<()> {
        let table = TableDescriptor::new(name("t")).with_family(ColumnFamilyDescriptor::new("f"));
        engine.procedures().create_table(&table, &[])?;
        for row in ["a", "n", "z"] {
            engine.table(name("t")).mutate(Put::new(row).add("f", "q", "v").as_mutation())?;
        }
        engine.flush(name("t"))?;
        engine.procedures().split_table(&name("t"), Some(b"m"))?;
        engine.compact(CompactRequest::table(name("t")).major())
    };
    for operations in 0.. {
        let (fs, engine) = prepared();
        let start = fs.operation_count();
        fs.power_off_after(operations);
        let is_done = work(&engine).is_ok() && fs.operation_count() - start < operations;
        engine.abandon();
        let left = [fs.after_kill(), fs.after_power_cut(0), fs.after_power_cut(operations + 1)];
        for (index, left) in left.into_iter().enumerate() {
            let env = store.env().with_fs(Arc::new(left));
            let Ok(report) = check(&env, Path::new(DIR), &mut |_| {}) else { continue };
            let defects: Vec<_> = report
                .defects
                .iter()
                // A region's directory that is not durable yet has nothing in it.
                .filter(|defect| defect.kind != FindingKind::RegionMissing)
                .collect();
            assert!(defects.is_empty(), "cut after {operations}, {index}: {defects:?}");
        }
        if is_done {
            return;
        }
    }
}
