//! What a store knows after it was closed, or killed, and opened again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{
    CrashFileSystem, Env, Fault, FaultFileSystem, FileSystem, ManualClock, MemFileSystem, Operation,
};
use hblite_model::{
    ColumnFamilyDescriptor, CompactRequest, Durability, FlushRequest, Get, MergeKind,
    NamespaceDescriptor, Put, SplitPoints, TableState,
};

use super::{DIR, env, has, name, open, options, put, put_in, rows, starts, table};
use crate::catalog::{descriptor_file, meta};
use crate::layout::Layout;
use crate::{Engine, EngineOptions};

/// Ends a store as a kill does: memory is lost, files and log stay.
fn kill(engine: Arc<Engine>) {
    engine.abandon();
    drop(engine);
}

fn end(engine: Arc<Engine>, is_killed: bool) {
    if is_killed { kill(engine) } else { engine.close().unwrap() }
}

#[test]
fn tables_regions_and_namespaces_stay() {
    for is_killed in [false, true] {
        let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
        let engine = open(&fs).unwrap();
        let namespace = NamespaceDescriptor::new("ns").with_property("k", "v");
        engine.procedures().create_namespace(&namespace).unwrap();
        engine.procedures().create_table(&table("ns:t", &["f", "g"]), &[b"m".to_vec()]).unwrap();
        engine.procedures().create_table(&table("off", &["f"]), &[]).unwrap();
        engine.procedures().create_table(&table("gone", &["f"]), &[]).unwrap();
        put(&engine, "ns:t", "a").unwrap();
        put(&engine, "off", "a").unwrap();
        engine.procedures().disable_table(&name("off")).unwrap();
        engine.procedures().disable_table(&name("gone")).unwrap();
        engine.procedures().drop_table(&name("gone")).unwrap();
        put(&engine, "ns:t", "z").unwrap();
        end(engine, is_killed);

        let engine = open(&fs).unwrap();
        assert_eq!(engine.catalog().namespace("ns").unwrap(), namespace);
        assert_eq!(engine.catalog().namespaces().len(), 3);
        assert_eq!(
            *engine.catalog().descriptor(&name("ns:t")).unwrap(),
            table("ns:t", &["f", "g"])
        );
        assert_eq!(starts(&engine, "ns:t"), ["", "m"]);
        assert_eq!(rows(&engine, "ns:t").unwrap(), ["a", "z"]);
        assert_eq!(engine.catalog().table_state(&name("off")).unwrap(), TableState::Disabled);
        assert_eq!(starts(&engine, "off"), [""]);
        engine.procedures().enable_table(&name("off")).unwrap();
        assert!(has(&engine, "off", "a").unwrap());
        assert!(!engine.catalog().table_exists(&name("gone")));
        assert_eq!(engine.catalog().open_report(), &Default::default());
    }
}

#[test]
fn splits_and_merges_stay() {
    for is_killed in [false, true] {
        let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
        let t = name("t");
        let engine = open(&fs).unwrap();
        engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
        let all = ["a", "m", "x"];
        for row in all {
            put(&engine, "t", row).unwrap();
        }
        engine.procedures().split_table(&t, Some(b"m")).unwrap();
        end(engine, is_killed);
        let engine = open(&fs).unwrap();
        assert_eq!(starts(&engine, "t"), ["", "m"]);
        assert_eq!(rows(&engine, "t").unwrap(), all);
        // The parent is still known, and is removed when possible.
        engine.compact(CompactRequest::table(&t).major()).unwrap();
        let infos = engine.catalog().region_infos(&t);
        engine
            .procedures()
            .merge_regions(&[infos[0].encoded_name(), infos[1].encoded_name()], MergeKind::Adjacent)
            .unwrap();
        end(engine, is_killed);
        let engine = open(&fs).unwrap();
        assert_eq!(starts(&engine, "t"), [""]);
        assert_eq!(rows(&engine, "t").unwrap(), all);
        engine.compact(CompactRequest::table(&t).major()).unwrap();
        engine.procedures().clean_parents().unwrap();
        end(engine, is_killed);
        let engine = open(&fs).unwrap();
        assert_eq!(rows(&engine, "t").unwrap(), all);
        assert_eq!(engine.catalog().open_report(), &Default::default());
        let entries = fs.list_dir(&Path::new(DIR).join("data/default/t")).unwrap();
        assert_eq!(entries.iter().filter(|entry| !entry.name.starts_with('.')).count(), 1);
    }
}

/// The log still has the cells of a deleted family; a new family of the same name must not show
/// them.
#[test]
fn a_family_made_again_stays_empty_after_a_kill() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let t = name("t");
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
    put(&engine, "t", "kept").unwrap();
    put_in(&engine, "t", "old", "g").unwrap();
    engine.procedures().delete_family(&t, b"g").unwrap();
    engine.procedures().add_family(&t, &ColumnFamilyDescriptor::new("g")).unwrap();
    put_in(&engine, "t", "new", "g").unwrap();
    kill(engine);
    let engine = open(&fs).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["kept", "new"]);
}

/// Writes after a region was emptied and opened again are not mistaken for old ones.
#[test]
fn sequence_ids_continue_when_a_region_is_opened_again() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let t = name("t");
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
    for row in ["1", "2", "3"] {
        put_in(&engine, "t", row, "g").unwrap();
    }
    engine.procedures().delete_family(&t, b"g").unwrap();
    engine.procedures().add_family(&t, &ColumnFamilyDescriptor::new("g")).unwrap();
    put(&engine, "t", "after").unwrap();
    engine.procedures().disable_table(&t).unwrap();
    engine.procedures().enable_table(&t).unwrap();
    put_in(&engine, "t", "last", "g").unwrap();
    kill(engine);
    let engine = open(&fs).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["after", "last"]);
}

#[test]
fn an_empty_store_leaves_no_store_files() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    for _ in 0..3 {
        let engine = open(&fs).unwrap();
        assert_eq!(rows(&engine, "hbase:namespace").unwrap(), ["default", "hbase"]);
        engine.close().unwrap();
        let region = Path::new(DIR).join("data/hbase/meta/1588230740");
        let entries = fs.list_dir(&region).unwrap();
        assert!(entries.iter().all(|entry| !entry.is_dir), "{entries:?}");
    }
}

/// Directories that no table has: those that hblite created and that have no cells are removed, all
/// others are kept and reported. Files belong to no table and stay.
#[test]
fn orphans_are_removed_or_set_aside() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    engine.close().unwrap();
    drop(engine);
    let data = Path::new(DIR).join("data/default");
    let region = |digit: &str| digit.repeat(32);
    let (file, parent) = (region("a"), region("b"));
    let write = |path: PathBuf| {
        fs.create_dir_all(path.parent().unwrap()).unwrap();
        fs.write_atomically(&path, b"content").unwrap();
    };
    let removed = [
        (data.join("empty"), ".tabledesc/.tableinfo.0000000001.7".to_owned()),
        (data.join("t").join(region("1")), format!("f/{file}.{parent}")),
        (data.join("t").join(region("2")), ".regioninfo".to_owned()),
    ];
    let moved = [
        (data.join("photos"), "2026/a.jpg".to_owned()),
        (data.join("t").join(region("3")), format!("f/{file}")),
        (data.join("t").join(region("4")), "f/a.jpg".to_owned()),
        (data.join("t/mine"), ".regioninfo".to_owned()),
        (data.join("unknown"), format!("{}/f/{file}", region("5"))),
        (data.join("without-settings"), format!("{}/.regioninfo", region("6"))),
    ];
    let kept = [data.join("notes.txt"), data.join("t/notes.txt"), Path::new(DIR).join("mine/a")];
    for (dir, file) in removed.iter().chain(&moved) {
        write(dir.join(file));
    }
    kept.iter().for_each(|path| write(path.clone()));
    let engine = open(&fs).unwrap();
    let report = engine.catalog().open_report();
    let expected: Vec<_> = removed.iter().map(|(dir, _)| dir.clone()).collect();
    assert_eq!(report.removed, expected);
    let from: Vec<_> = report.moved.iter().map(|moved| moved.from.clone()).collect();
    assert_eq!(from, moved.each_ref().map(|(dir, _)| dir.clone()));
    let aside = Path::new(DIR).join(format!("hblite-{}-moved", engine.store_id()));
    for (place, (_, file)) in report.moved.iter().zip(&moved) {
        assert!(!fs.exists(&place.from).unwrap() && fs.exists(&place.to.join(file)).unwrap());
        assert!(place.to.starts_with(&aside), "{place}");
        assert!(place.to.ends_with(place.from.strip_prefix(DIR).unwrap()), "{place}");
    }
    assert!(kept.iter().all(|path| fs.exists(path).unwrap()));
    assert_eq!(rows(&engine, "t").unwrap(), [""; 0]);
    drop(engine);
    // From then on they are listed as what is set aside.
    let engine = open(&fs).unwrap();
    let again = engine.catalog().open_report();
    assert!(again.moved.is_empty() && again.removed.is_empty());
    let numbers = (1..=moved.len()).map(|number| aside.join(number.to_string()));
    assert_eq!(again.set_aside, numbers.collect::<Vec<_>>());
    assert!(again.lines().any(|line| line.contains("hblite check --clean")));
}

/// A merged region's row may lose its parents to damage. While references lead to their files, an
/// open leaves them in place.
#[test]
fn regions_that_are_referred_to_stay() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let t = name("t");
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[b"m".to_vec()]).unwrap();
    let all = ["a", "x"];
    for row in all {
        put(&engine, "t", row).unwrap();
    }
    engine.flush(FlushRequest::table(&t)).unwrap();
    let parents = engine.catalog().region_infos(&t);
    let names = [parents[0].encoded_name(), parents[1].encoded_name()];
    engine.procedures().merge_regions(&names, MergeKind::Adjacent).unwrap();
    let merged = engine.catalog().region_infos(&t).remove(0);
    let catalog = engine.catalog();
    let timestamp = catalog.meta.next_timestamp().unwrap();
    catalog.meta.write(&[meta::delete_merge_parents(&merged, 2, timestamp)]).unwrap();
    engine.close().unwrap();
    drop(engine);

    let engine = open(&fs).unwrap();
    let report = engine.catalog().open_report();
    let dirs = names.map(|name| Path::new(DIR).join("data/default/t").join(name));
    let mut kept = report.kept.clone();
    kept.sort();
    let mut expected = dirs.to_vec();
    expected.sort();
    assert_eq!(kept, expected);
    assert!(report.moved.is_empty() && report.removed.is_empty(), "{report:?}");
    assert_eq!(report.lines().filter(|line| line.contains("refers to its files")).count(), 2);
    assert_eq!(rows(&engine, "t").unwrap(), all);
    // Once the region has files of its own, they are set aside like others.
    engine.compact(CompactRequest::table(&t).major()).unwrap();
    engine.close().unwrap();
    drop(engine);
    let engine = open(&fs).unwrap();
    let report = engine.catalog().open_report();
    assert_eq!((report.kept.len(), report.moved.len()), (0, 2), "{report:?}");
    assert_eq!(rows(&engine, "t").unwrap(), all);
}

/// Dropping or emptying removes nothing that hblite did not write.
#[test]
fn foreign_files_in_tables_outlive_them() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    let write = |dir: &Path| {
        fs.create_dir_all(dir).unwrap();
        fs.write_atomically(&dir.join("notes.txt"), b"mine").unwrap();
    };
    let data = Path::new(DIR).join("data");
    engine.procedures().create_namespace(&NamespaceDescriptor::new("ns")).unwrap();
    write(&data.join("ns"));
    engine.procedures().drop_namespace("ns").unwrap();
    assert!(fs.exists(&data.join("ns/notes.txt")).unwrap());
    type Removal = fn(&Arc<Engine>, &str) -> hblite_model::Result<()>;
    let removals: [Removal; 4] = [
        |engine, _| engine.procedures().delete_family(&name("t"), b"g"),
        |engine, region| engine.procedures().truncate_region(region),
        |engine, _| {
            engine.procedures().disable_table(&name("t")).and_then(|()| {
                engine.procedures().truncate_table(&name("t"), SplitPoints::Preserve)
            })
        },
        |engine, _| {
            engine
                .procedures()
                .disable_table(&name("t"))
                .and_then(|()| engine.procedures().drop_table(&name("t")))
        },
    ];
    let moved = Path::new(DIR).join(format!("hblite-{}-moved", engine.store_id()));
    for (number, remove) in (1..).zip(removals) {
        if number != 4 || !engine.catalog().table_exists(&name("t")) {
            let _ = engine
                .procedures()
                .disable_table(&name("t"))
                .and_then(|()| engine.procedures().drop_table(&name("t")));
            engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
        }
        put(&engine, "t", "row").unwrap();
        put_in(&engine, "t", "row", "g").unwrap();
        engine.flush(name("t")).unwrap();
        let region = engine.catalog().region_infos(&name("t"))[0].encoded_name().to_owned();
        let dir = data.join("default/t").join(&region).join("g");
        write(&dir);
        remove(&engine, &region).unwrap();
        assert!(!fs.exists(&dir.join("notes.txt")).unwrap(), "{number}");
        let place = moved.join(number.to_string()).join(dir.strip_prefix(DIR).unwrap());
        assert_eq!(fs.read(&place.join("notes.txt")).unwrap(), b"mine", "{number}");
    }
}

#[test]
fn a_table_without_a_descriptor_is_reported() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    engine.close().unwrap();
    drop(engine);
    let dir = Path::new(DIR).join("data/default/t/.tabledesc");
    fs.remove_dir_all(&dir).unwrap();
    let error = open(&fs).map(drop).unwrap_err();
    assert_eq!(error.file(), Some(&*dir));
    assert_eq!(error.kind(), hblite_model::ErrorKind::Corrupt);
}

/// A kill between the commits of two stores, and another after a recovery that had to flush
/// halfway: the first store's new file must not claim entries that had not been replayed yet. The
/// settings of hbase:namespace have no checksum: damaged ones can be readable and of no use.
#[test]
fn settings_of_hbase_namespace_that_lack_its_family_are_written_again() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    put_namespace(&engine);
    end(engine, false);
    let dir = Path::new(DIR).join("data/hbase/namespace/.tabledesc");
    let settings = || descriptor_file::read(fs.as_ref(), &dir, &name("hbase:namespace"));
    let path = dir.join(&fs.list_dir(&dir).unwrap()[0].name);
    let before = settings().unwrap().unwrap();
    let mut damaged = fs.read(&path).unwrap();
    let family = damaged.windows(4).position(|bytes| bytes == b"info").unwrap();
    damaged[family] ^= 1;
    fs.remove_file(&path).unwrap();
    fs.create(&path).unwrap().write_all(&damaged).unwrap();
    let engine = open(&fs).unwrap();
    assert!(engine.catalog().namespace("n").is_ok());
    end(engine, false);
    assert_eq!(settings().unwrap(), Some(before));
}

/// Those of hbase:meta are built in, whatever the file says.
#[test]
fn damaged_settings_of_hbase_meta_hide_no_table() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    end(engine, true);
    let dir = Path::new(DIR).join("data/hbase/meta/.tabledesc");
    let path = dir.join(&fs.list_dir(&dir).unwrap()[0].name);
    let mut damaged = fs.read(&path).unwrap();
    while let Some(at) = damaged.windows(10).position(|bytes| bytes == b"2147483647") {
        // A time to live of one second.
        damaged[at..at + 10].copy_from_slice(b"0000000001");
    }
    fs.remove_file(&path).unwrap();
    fs.create(&path).unwrap().write_all(&damaged).unwrap();
    let later = Env { clock: Arc::new(ManualClock::new(1_800_000_000_000)), ..env(fs) };
    let engine = Engine::open(later, Path::new(DIR), options()).unwrap();
    assert!(engine.catalog().table_exists(&name("t")));
    assert_eq!(starts(&engine, "t"), [""]);
}

fn put_namespace(engine: &Arc<Engine>) {
    engine.procedures().create_namespace(&hblite_model::NamespaceDescriptor::new("n")).unwrap();
}

#[test]
fn a_flush_in_the_middle_of_a_recovery_claims_only_what_came_back() {
    const ROWS: usize = 2_500;
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
    for row in 0..ROWS {
        let put = Put::new(format!("{row:04}")).add("f", "q", "v").add("g", "q", "v");
        engine.table(name("t")).mutate(put.as_mutation()).unwrap();
    }
    let info = engine.catalog().region_infos(&name("t")).remove(0);
    let region = engine.catalog().region(info.encoded_name()).unwrap();
    let later_store = &region.stores()[1];
    let flush = later_store.prepare_flush().unwrap();
    later_store.write_and_commit(&flush, region.last_sequence_id()).unwrap();
    drop((flush, region));
    kill(engine);

    let small = EngineOptions { memstore_flush_size_bytes: 64 << 10, ..options() };
    let engine = Engine::open(env(Arc::clone(&fs)), Path::new(DIR), small).unwrap();
    let status = engine.status().unwrap();
    let region = status.regions.iter().find(|region| region.region.table() == &name("t")).unwrap();
    assert!(region.store_file_count > 1, "the recovery flushed");
    assert!(region.memstore_size_bytes > 0, "and not at its end");
    kill(engine);

    let engine = open(&fs).unwrap();
    for row in 0..ROWS {
        for family in ["f", "g"] {
            let get = Get::new(format!("{row:04}")).with_family(family);
            assert!(engine.table(name("t")).exists(&get).unwrap(), "row {row}, family {family}");
        }
    }
}

/// A store whose log has files that no region needs after a flush.
fn with_files_to_free(fs: &Arc<dyn FileSystem>) -> Arc<Engine> {
    let engine = open(fs).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    for system in ["hbase:meta", "hbase:namespace", "t"] {
        engine.flush(name(system)).unwrap();
    }
    let wal = &engine.catalog().context.wal;
    wal.roll().unwrap();
    let large = Put::new("row").add("f", "q", vec![0; 100_000]);
    engine.table(name("t")).mutate(large.as_mutation()).unwrap();
    wal.roll().unwrap();
    engine
}

/// A flush during the replay frees the log file that was just read, and with it the next one, which
/// holds only a mark and is still to be read.
#[test]
fn a_flush_during_the_replay_removes_no_log_file_that_is_still_to_be_read() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    kill(with_files_to_free(&fs));
    let small = EngineOptions { memstore_flush_size_bytes: 65_536, ..options() };
    let engine = Engine::open(env(Arc::clone(&fs)), Path::new(DIR), small).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["row"]);
}

/// A process is killed during a flush of a row that is not in the log. The next open finds the
/// file, whose directory's name may not be durable yet, and its close lists the file in the
/// manifest. From then on a power cut must not take the file.
#[test]
fn a_file_that_a_killed_flush_left_is_durable_before_the_manifest_lists_it() {
    for operations in 0.. {
        let fs = CrashFileSystem::new();
        let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
        let engine = open(&shared).unwrap();
        engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
        let skips_log = Put::new("row").add("f", "q", "v").with_durability(Durability::SkipWal);
        engine.table(name("t")).mutate(skips_log.as_mutation()).unwrap();
        fs.power_off_after(operations);
        let is_flushed = engine.flush(name("t")).is_ok();
        kill(engine);

        let killed = fs.after_kill();
        let shared: Arc<dyn FileSystem> = Arc::new(killed.clone());
        let engine = open(&shared).unwrap();
        let found = has(&engine, "t", "row").unwrap();
        assert!(found || !is_flushed);
        engine.close().unwrap();
        for seed in 0..8 {
            let left: Arc<dyn FileSystem> = Arc::new(killed.after_power_cut(seed));
            let context = format!("killed after {operations} operations, power cut {seed}");
            let engine = open(&left).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert_eq!(has(&engine, "t", "row").unwrap(), found, "{context}");
        }
        if is_flushed {
            return;
        }
    }
}

/// A flush during the replay frees log files, and nothing waits for their removal. If the log fails
/// there, the store cannot take writes, and must not open.
#[test]
fn a_store_that_opens_takes_writes_whichever_directory_sync_failed() {
    let mut failures = 0;
    for nth in 1.. {
        let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
        let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
        let engine = with_files_to_free(&shared);
        put(&engine, "t", "small").unwrap();
        kill(engine);
        let count = fs.count(Operation::SyncDir);
        fs.inject(Fault::on(Operation::SyncDir).nth(nth));
        let small = EngineOptions { memstore_flush_size_bytes: 65_536, ..options() };
        let opened = Engine::open(env(Arc::clone(&shared)), Path::new(DIR), small);
        let has_failed = fs.count(Operation::SyncDir) - count >= nth;
        fs.heal();
        failures += usize::from(opened.is_err());
        let engine = opened.or_else(|_| open(&shared)).unwrap();
        put(&engine, "t", "new").unwrap_or_else(|error| panic!("sync {nth}: {error}"));
        assert_eq!(rows(&engine, "t").unwrap(), ["new", "row", "small"], "sync {nth}");
        if !has_failed {
            break;
        }
    }
    assert!(failures > 0, "no fault was noticed");
}

/// HBase had made the table of a snapshot and disabled it. Its files were links to those of another
/// table, which could be dropped before the links were examined.
#[test]
fn links_of_a_disabled_table_become_files_when_the_store_opens() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    for table_name in ["original", "copy"] {
        engine.procedures().create_table(&table(table_name, &["f"]), &[]).unwrap();
    }
    put(&engine, "original", "a").unwrap();
    engine.flush(name("original")).unwrap();
    engine.procedures().disable_table(&name("copy")).unwrap();
    let [original, copy] = ["original", "copy"].map(|table| {
        let region = engine.catalog().region_infos(&name(table)).remove(0);
        (region.encoded_name().to_owned(), Layout::new(Path::new(DIR)).family_dir(&region, b"f"))
    });
    end(engine, false);
    let file = fs.list_dir(&original.1).unwrap().remove(0).name;
    fs.create_dir_all(&copy.1).unwrap();
    fs.create(&copy.1.join(format!("original={}-{file}", original.0))).unwrap();
    // As an HBase that had the region open leaves it.
    let edits = copy.1.with_file_name("recovered.edits");
    fs.create_dir_all(&edits).unwrap();
    fs.create(&edits.join("9.seqid")).unwrap();

    let engine = open(&fs).unwrap();
    engine.procedures().disable_table(&name("original")).unwrap();
    engine.procedures().drop_table(&name("original")).unwrap();
    engine.procedures().enable_table(&name("copy")).unwrap();
    assert_eq!(rows(&engine, "copy").unwrap(), ["a"]);
}
