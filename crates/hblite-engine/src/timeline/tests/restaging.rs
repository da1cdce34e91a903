//! Rewinds whose files are made from those that the rewind before replaced.

use std::collections::BTreeMap;

use hblite_env::CrashFileSystem;
use hblite_model::{CompactRequest, SnapshotOptions, SplitPoints, TableName};

use super::*;

const ROOT: &str = "/store";

/// The names below what is staged, with the contents of files; none if nothing is staged.
fn staged(timeline: &Timeline, fs: &CrashFileSystem) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    fn collect(
        fs: &CrashFileSystem,
        dir: &Path,
        below: &Path,
        found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>,
    ) {
        for entry in fs.list_dir(dir).unwrap() {
            let (path, below) = (dir.join(&entry.name), below.join(&entry.name));
            let content = (!entry.is_dir).then(|| fs.read(&path).unwrap());
            found.insert(below.clone(), content);
            if entry.is_dir {
                collect(fs, &path, &below, found);
            }
        }
    }
    assert!(timeline.staging.is_staged());
    let mut found = BTreeMap::new();
    let root = Path::new(ROOT);
    let names = fs.list_dir(root).unwrap();
    let partial = names.iter().find(|entry| entry.name.ends_with("-rewind.partial")).unwrap();
    collect(fs, &root.join(&partial.name), Path::new(""), &mut found);
    found
}

fn table(name: &str) -> TableName {
    name.parse().unwrap()
}

/// What a test does to a store: each changes other files of the checkpoint.
const CHANGES: [fn(&Timeline); 9] = [
    |timeline| change(timeline),
    |timeline| {
        put(timeline, "c", "4");
        timeline.engine().flush(table("t")).unwrap();
    },
    |timeline| {
        put(timeline, "c", "5");
        timeline.engine().flush(table("t")).unwrap();
        timeline.engine().compact(CompactRequest::table(table("t")).major()).unwrap();
    },
    |timeline| {
        let engine = timeline.engine();
        engine.procedures().disable_table(&table("t")).unwrap();
        engine.procedures().drop_table(&table("t")).unwrap();
    },
    |timeline| {
        let engine = timeline.engine();
        engine.procedures().disable_table(&table("t")).unwrap();
        engine.procedures().drop_table(&table("t")).unwrap();
        create(timeline, "t", ColumnFamilyDescriptor::new("f"));
        put(timeline, "d", "6");
        engine.flush(table("t")).unwrap();
    },
    |timeline| {
        let engine = timeline.engine();
        engine.procedures().disable_table(&table("t")).unwrap();
        engine.procedures().truncate_table(&table("t"), SplitPoints::Discard).unwrap();
    },
    |timeline| {
        let family = ColumnFamilyDescriptor::new("g");
        timeline.engine().procedures().add_family(&table("t"), &family).unwrap();
    },
    |timeline| {
        let engine = timeline.engine();
        let options = SnapshotOptions::default();
        engine.procedures().snapshot("s", &table("t"), &options).unwrap();
        put(timeline, "a", "7");
        put(timeline, "b", "7");
        engine.procedures().split_table(&table("t"), Some(b"b")).unwrap();
    },
    |timeline| {
        // Names that come and go.
        put(timeline, "a", "8");
        timeline.engine().flush(table("t")).unwrap();
        let engine = timeline.engine();
        engine.procedures().disable_table(&table("t")).unwrap();
        engine.procedures().delete_family(&table("t"), b"g").unwrap_err();
    },
];

#[test]
fn what_was_replaced_becomes_the_checkpoints_files_again() {
    for (number, change) in CHANGES.iter().enumerate() {
        let fs = CrashFileSystem::new();
        let timeline = with_checkpoint(&fs);
        let (before, expected) = (state(&timeline), staged(&timeline, &fs));
        for round in 0..3 {
            change(&timeline);
            timeline.rewind("one").unwrap();
            let found = staged(&timeline, &fs);
            for name in expected.keys().chain(found.keys()) {
                let (expected, found) = (expected.get(name), found.get(name));
                assert!(expected == found, "change {number}, round {round}: {}", name.display());
            }
            assert_eq!(state(&timeline), before);
        }
    }
}

/// A directory has the checkpoint's names, and a power cut could bring another one back.
#[test]
fn a_name_that_came_and_went_does_not_come_back() {
    for seed in 0..20 {
        let fs = CrashFileSystem::new();
        let timeline = with_checkpoint(&fs);
        timeline.rewind("one").unwrap();
        assert!(timeline.staging.is_staged());
        let engine = timeline.engine();
        let family = engine.online_regions().into_iter().find_map(|region| {
            let region = engine.layout().region_dir(region.info());
            Some(region.join("f")).filter(|family| fs.exists(family).unwrap())
        });
        let name = family.unwrap().join("0123456789abcdef0123456789abcdef");
        engine.env().fs.create(&name).unwrap();
        engine.env().fs.remove_file(&name).unwrap();
        drop(engine);
        timeline.rewind("one").unwrap();
        assert!(timeline.staging.is_staged());
        timeline.rewind("one").unwrap();
        assert!(!fs.after_power_cut(seed).exists(&name).unwrap(), "{seed}");
    }
}

/// The work of staging grows with what was changed, not with the store.
#[test]
fn what_did_not_change_is_not_staged_again() {
    let fs = CrashFileSystem::new();
    let timeline = on_disk(&fs);
    for number in 0..20 {
        create(&timeline, &format!("t{number}"), ColumnFamilyDescriptor::new("f"));
    }
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    timeline.checkpoint("one").unwrap();
    let mut costs = Vec::new();
    for _ in 0..4 {
        put(&timeline, "a", "2");
        let before = fs.operation_count();
        timeline.rewind("one").unwrap();
        assert!(timeline.staging.is_staged());
        costs.push(fs.operation_count() - before);
    }
    // The first one replaces what the checkpoint was taken from.
    let [first, rest @ ..] = &costs[..] else { panic!("four rewinds") };
    assert!(*first > 100 && rest.iter().all(|cost| *cost < 60), "{costs:?}");
}

/// After a rewind, what another checkpoint was staged from is not used.
#[test]
fn another_checkpoint_is_staged_anew() {
    let fs = CrashFileSystem::new();
    let timeline = on_disk(&fs);
    create(&timeline, "t", ColumnFamilyDescriptor::new("f"));
    for name in ["one", "two"] {
        put(&timeline, "a", name);
        timeline.checkpoint(name).unwrap();
    }
    for name in ["one", "two", "two", "one", "one", "one", "two", "one", "two", "two"] {
        put(&timeline, "b", "3");
        timeline.rewind(name).unwrap();
        assert_eq!((value(&timeline, "a").as_deref(), value(&timeline, "b")), (Some(name), None));
    }
    assert!(timeline.staging.is_staged());
    timeline.close().unwrap();
    drop(timeline);
    assert_eq!(value(&on_disk(&fs), "a").as_deref(), Some("two"));
}

/// A power cut in the middle of a rewind or of the staging after it leaves a state before or after.
#[test]
fn a_power_cut_after_rewinds_in_a_row_leaves_one_of_their_states() {
    for change in [CHANGES[0], CHANGES[4], CHANGES[7]] {
        let mut rewound = 0;
        for operations in 0.. {
            let fs = CrashFileSystem::new();
            let timeline = with_checkpoint(&fs);
            let before = state(&timeline);
            for _ in 0..2 {
                change(&timeline);
                timeline.rewind("one").unwrap();
                assert!(timeline.staging.is_staged());
            }
            change(&timeline);
            // A durable write makes everything before it in the log durable too.
            create(&timeline, "v", ColumnFamilyDescriptor::new("f"));
            let after = state(&timeline);
            fs.power_off_after(operations);
            let is_done = timeline.rewind("one").is_ok();
            let is_staged = timeline.staging.is_staged();
            for (index, left) in remains(&fs).enumerate() {
                let place = format!("cut after {operations} operations, remains {index}");
                let opened = on_disk(&left);
                let now = state(&opened);
                assert!(now == before || now == after, "{place}: {now:?}");
                assert!(now == before || !is_done, "{place}: done, and forgotten");
                rewound += usize::from(now == before);
                drop(opened);
                let env = Env::in_memory().with_fs(Arc::new(left));
                let report = crate::check(&env, Path::new(ROOT), &mut |_| {}).unwrap();
                assert!(report.is_clean(), "{place}: {:?}", report.defects);
            }
            if is_staged {
                break;
            }
        }
        assert!(rewound > 30, "{rewound}");
    }
}
