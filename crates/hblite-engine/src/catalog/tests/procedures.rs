//! What the procedures do and say; messages as recorded from Apache HBase 2.6.1.

use std::sync::Arc;

use hblite_env::{Env, FileSystem, ManualClock, MemFileSystem};
use hblite_model::{
    ColumnFamilyDescriptor, CompactRequest, Delete, MergeKind, NamespaceDescriptor, RegionInfo,
    SplitPoints, SystemTables, TableName,
};

use super::{has, name, open, put, put_in, rows, starts, table, told};
use crate::{Engine, EngineOptions};

fn engine() -> Arc<Engine> {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    open(&fs).unwrap()
}

fn keys(keys: &[&str]) -> Vec<Vec<u8>> {
    keys.iter().map(|key| key.as_bytes().to_vec()).collect()
}

#[test]
fn states_of_a_table() {
    let engine = engine();
    let t = name("t");
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    assert_eq!(
        told(engine.procedures().create_table(&table("t", &["f"]), &[])),
        ("TableExistsException", "t".into())
    );
    put(&engine, "t", "r").unwrap();
    let enabled = "tableName=t, state=ENABLED";
    assert_eq!(
        told(engine.procedures().enable_table(&t)),
        ("TableNotDisabledException", enabled.into())
    );
    let message = format!("Not DISABLED; {enabled}");
    assert_eq!(told(engine.procedures().drop_table(&t)), ("TableNotDisabledException", message));
    assert_eq!(
        told(engine.procedures().truncate_table(&t, SplitPoints::Preserve)),
        ("TableNotDisabledException", "t".into())
    );
    engine.procedures().disable_table(&t).unwrap();
    assert_eq!(
        told(engine.procedures().disable_table(&t)),
        ("TableNotEnabledException", "t".into())
    );
    let disabled = ("TableNotEnabledException", "t is disabled.".to_owned());
    assert_eq!(told(has(&engine, "t", "r")), disabled);
    assert_eq!(told(put(&engine, "t", "r")), disabled);
    assert_eq!(told(rows(&engine, "t")), disabled);
    assert_eq!(told(engine.flush(&t)), ("TableNotEnabledException", "t".into()));
    engine.compact(CompactRequest::table(&t).major()).unwrap();
    assert_eq!(starts(&engine, "t"), [""]);
    assert_eq!(engine.catalog().locate_region(&t, b"r").unwrap().region.start_key(), b"");
    engine.procedures().enable_table(&t).unwrap();
    assert!(has(&engine, "t", "r").unwrap());
    engine.procedures().disable_table(&t).unwrap();
    engine.procedures().truncate_table(&t, SplitPoints::Discard).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), [""; 0]);
    engine.procedures().disable_table(&t).unwrap();
    engine.procedures().drop_table(&t).unwrap();
    let unknown = ("TableNotFoundException", "t".to_owned());
    assert_eq!(told(engine.procedures().drop_table(&t)), unknown);
    assert_eq!(told(engine.procedures().disable_table(&t)), unknown);
    assert_eq!(told(engine.procedures().enable_table(&t)), unknown);
    assert_eq!(told(engine.procedures().truncate_table(&t, SplitPoints::Preserve)), unknown);
    assert_eq!(told(engine.catalog().descriptor(&t)), unknown);
    assert_eq!(told(engine.catalog().table_state(&t)), unknown);
    assert_eq!(told(has(&engine, "t", "r")), unknown);
    assert!(engine.catalog().region_infos(&t).is_empty());
    // Created again in the same millisecond, it is not hidden by the markers of its drop.
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    assert!(!has(&engine, "t", "r").unwrap());
}

#[test]
fn the_catalogs_own_tables_are_protected() {
    let engine = engine();
    let meta = name("hbase:meta");
    assert_eq!(
        told(engine.procedures().disable_table(&meta)),
        ("ConstraintException", "Cannot disable hbase:meta".into())
    );
    let message = "Can't modify catalog tables".to_owned();
    assert_eq!(told(engine.procedures().drop_table(&meta)), ("IOException", message));
    assert_eq!(
        told(engine.procedures().truncate_table(&meta, SplitPoints::Discard)),
        ("TableNotDisabledException", "hbase:meta".into())
    );
    assert_eq!(rows(&engine, "hbase:namespace").unwrap(), ["default", "hbase"]);
    assert!(engine.catalog().list_tables(SystemTables::Exclude).is_empty());
    let system = engine.catalog().list_tables(SystemTables::Include);
    let names: Vec<String> = system.iter().map(|table| table.name().to_string()).collect();
    assert_eq!(names, ["hbase:meta", "hbase:namespace"]);
}

#[test]
fn split_keys() {
    let engine = engine();
    engine.procedures().create_table(&table("pre", &["f"]), &keys(&["c", "a", "b"])).unwrap();
    assert_eq!(starts(&engine, "pre"), ["", "a", "b", "c"]);
    let refused = |split_keys: &[&str]| {
        told(engine.procedures().create_table(&table("x", &["f"]), &keys(split_keys)))
    };
    assert_eq!(
        refused(&["a", "a"]),
        ("IllegalArgumentException", "All split keys must be unique, found duplicate: a, a".into())
    );
    assert_eq!(
        refused(&["b", ""]),
        (
            "IllegalArgumentException",
            "Empty split key must not be passed in the split keys.".into()
        )
    );
    put(&engine, "pre", "aa").unwrap();
    engine.procedures().disable_table(&name("pre")).unwrap();
    engine.procedures().truncate_table(&name("pre"), SplitPoints::Preserve).unwrap();
    assert_eq!(starts(&engine, "pre"), ["", "a", "b", "c"]);
    assert_eq!(rows(&engine, "pre").unwrap(), [""; 0]);
}

#[test]
fn families_come_and_go() {
    let engine = engine();
    let t = name("t");
    engine.procedures().create_table(&table("t", &["f"]), &keys(&["m"])).unwrap();
    let family = |name: &str| ColumnFamilyDescriptor::new(name);
    engine.procedures().add_family(&t, &family("h")).unwrap();
    for row in ["a", "z"] {
        put(&engine, "t", row).unwrap();
        put_in(&engine, "t", row, "h").unwrap();
    }
    let invalid = "InvalidFamilyOperationException";
    let message = "Column family 'h' in table 't' already exists so cannot be added";
    assert_eq!(told(engine.procedures().add_family(&t, &family("h"))), (invalid, message.into()));
    let message = "Family 'zz' does not exist, so it cannot be modified";
    assert_eq!(
        told(engine.procedures().modify_family(&t, &family("zz"))),
        (invalid, message.into())
    );
    engine.procedures().modify_family(&t, &family("h").with_versions(4)).unwrap();
    assert_eq!(engine.catalog().descriptor(&t).unwrap().family(b"h").unwrap().versions(), 4);
    engine.procedures().delete_family(&t, b"h").unwrap();
    let message = "Family 'h' does not exist, so it cannot be deleted";
    assert_eq!(told(engine.procedures().delete_family(&t, b"h")), (invalid, message.into()));
    let message = "Family 'f' is the only column family in the table, so it cannot be deleted";
    assert_eq!(told(engine.procedures().delete_family(&t, b"f")), (invalid, message.into()));
    assert_eq!(told(put_in(&engine, "t", "a", "h")).0, "NoSuchColumnFamilyException");
    engine.procedures().add_family(&t, &family("h")).unwrap();
    let found = engine.table(t.clone()).get(&hblite_model::Get::new("a")).unwrap();
    assert_eq!(found.len(), 1, "a family that was deleted came back with its cells");

    let mut bad = engine.catalog().descriptor(&t).unwrap().as_ref().clone();
    bad.set_family(family("f").with_min_versions(3));
    let (class, message) = told(engine.procedures().modify_table(&bad));
    assert_eq!(class, "DoNotRetryIOException");
    assert!(message.starts_with("Min versions for column family f must be less"), "{message}");
    let message = told(engine.procedures().modify_table(&table("t", &[]))).1;
    assert!(message.starts_with("Table should have at least one column family."), "{message}");
    assert_eq!(
        told(engine.procedures().modify_table(&table("nope", &["f"]))),
        ("TableNotFoundException", "nope".into())
    );
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "z"]);
}

#[test]
fn namespaces() {
    let engine = engine();
    let foo = NamespaceDescriptor::new("foo");
    engine.procedures().create_namespace(&foo).unwrap();
    assert_eq!(
        told(engine.procedures().create_namespace(&foo)),
        ("NamespaceExistException", "Namespace foo already exists".into())
    );
    let message = "Illegal character <-> at 3. Namespaces may only contain 'alphanumeric \
                   characters' from any language and digits: bad-ns";
    let bad = NamespaceDescriptor::new("bad-ns");
    assert_eq!(told(engine.procedures().create_namespace(&bad)), ("IOException", message.into()));
    let properties = foo.clone().with_property("k", "v");
    engine.procedures().modify_namespace(&properties).unwrap();
    assert_eq!(engine.catalog().namespace("foo").unwrap(), properties);
    engine.procedures().create_table(&table("foo:bar", &["f"]), &[]).unwrap();
    let unknown = ("NamespaceNotFoundException", "nope".to_owned());
    assert_eq!(told(engine.procedures().create_table(&table("nope:t", &["f"]), &[])), unknown);
    assert_eq!(told(engine.procedures().drop_namespace("nope")), unknown);
    assert_eq!(told(engine.catalog().namespace_tables("nope")), unknown);
    let message = "Only empty namespaces can be removed. Namespace foo has 1 tables";
    assert_eq!(
        told(engine.procedures().drop_namespace("foo")),
        ("ConstraintException", message.into())
    );
    let message = "Reserved namespace default cannot be removed.";
    assert_eq!(
        told(engine.procedures().drop_namespace("default")),
        ("ConstraintException", message.into())
    );
    engine.procedures().disable_table(&name("foo:bar")).unwrap();
    engine.procedures().drop_table(&name("foo:bar")).unwrap();
    engine.procedures().drop_namespace("foo").unwrap();
    engine.procedures().create_namespace(&foo).unwrap();
    let names: Vec<String> = engine.catalog().namespaces().into_iter().map(|n| n.name).collect();
    assert_eq!(names, ["default", "foo", "hbase"]);
}

#[test]
fn splits_and_merges() {
    let engine = engine();
    let t = name("t");
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    let all = ["a", "b", "e", "j", "z"];
    for row in all {
        put(&engine, "t", row).unwrap();
    }
    engine.procedures().split_table(&t, Some(b"e")).unwrap();
    assert_eq!(starts(&engine, "t"), ["", "e"]);
    assert_eq!(rows(&engine, "t").unwrap(), all);
    let equal = ("IOException", "should not give a splitkey which equals to startkey!".to_owned());
    assert_eq!(told(engine.procedures().split_table(&t, Some(b"e"))), equal);
    assert_eq!(told(engine.procedures().split_table(&t, Some(b""))), equal);
    // Daughters still read their parent's files.
    let names: Vec<String> = engine
        .catalog()
        .region_infos(&t)
        .iter()
        .map(|info| info.encoded_name().to_owned())
        .collect();
    let expected = ("DoNotRetryIOException", format!("{} NOT splittable", names[0]));
    assert_eq!(told(engine.procedures().split_table(&t, Some(b"b"))), expected);
    engine.compact(CompactRequest::table(&t).major()).unwrap();
    engine.procedures().split_table(&t, Some(b"b\0")).unwrap();
    engine.compact(CompactRequest::table(&t).major()).unwrap();
    assert_eq!(starts(&engine, "t"), ["", "b\0", "e"]);

    let names: Vec<String> = engine
        .catalog()
        .region_infos(&t)
        .iter()
        .map(|info| info.encoded_name().to_owned())
        .collect();
    let (adjacent, forced) = (MergeKind::Adjacent, MergeKind::Forced);
    let merge = |indices: &[usize], kind| {
        let names: Vec<&str> = indices.iter().map(|index| names[*index].as_str()).collect();
        engine.procedures().merge_regions(&names, kind)
    };
    assert_eq!(
        told(merge(&[0], adjacent)),
        ("IllegalArgumentException", "Can not merge only 1 region".into())
    );
    let message = "Duplicate regions specified; cannot merge a region to itself. Passed in 2 but \
                   only 1 unique.";
    assert_eq!(told(merge(&[0, 0], adjacent)), ("MergeRegionException", message.into()));
    let message = format!(
        "Unable to merge non-adjacent or non-overlapping regions '{}', '{}' when force=false",
        names[0], names[2]
    );
    assert_eq!(told(merge(&[0, 2], adjacent)), ("MergeRegionException", message));
    assert_eq!(told(merge(&[0, 2], forced)).0, "MergeRegionException");
    put(&engine, "t", "c").unwrap();
    merge(&[0, 1, 2], adjacent).unwrap();
    assert_eq!(starts(&engine, "t"), [""]);
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "b", "c", "e", "j", "z"]);
    assert_eq!(told(merge(&[0, 1], adjacent)).0, "UnknownRegionException");
    assert_eq!(told(engine.procedures().split_region("nope", None)).1, "Invalid region: nope");
    assert_eq!(
        told(engine.procedures().split_table(&name("nope"), None)),
        ("TableNotFoundException", "nope".into())
    );
}

#[test]
fn a_region_is_emptied_and_stays() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    let t = name("t");
    engine.procedures().create_table(&table("t", &["f"]), &keys(&["m"])).unwrap();
    let infos = engine.catalog().region_infos(&t);
    for row in ["a", "x"] {
        put(&engine, "t", row).unwrap();
    }
    engine.flush(&t).unwrap();
    for row in ["b", "y"] {
        put(&engine, "t", row).unwrap();
    }
    engine.procedures().truncate_region(&infos[0].region_name_as_string()).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["x", "y"]);
    assert_eq!(engine.catalog().region_infos(&t), infos);
    put(&engine, "t", "c").unwrap();
    // Older entries in the log do not come back.
    engine.abandon();
    drop(engine);
    let engine = open(&fs).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["c", "x", "y"]);
    assert_eq!(engine.catalog().region_infos(&t), infos);
    engine.procedures().truncate_region(infos[0].encoded_name()).unwrap();
    engine.procedures().truncate_region(infos[0].encoded_name()).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["x", "y"]);
}

#[test]
fn what_is_not_emptied() {
    let engine = engine();
    let t = name("t");
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    put(&engine, "t", "a").unwrap();
    let catalog = ("IOException", "Can't truncate region in catalog tables".to_owned());
    assert_eq!(told(engine.procedures().truncate_region("hbase:meta,,1")), catalog);
    let namespaces = engine.catalog().region_infos(&name("hbase:namespace"));
    assert_eq!(told(engine.procedures().truncate_region(namespaces[0].encoded_name())), catalog);
    let unknown = ("UnknownRegionException", "Invalid region: nope".to_owned());
    assert_eq!(told(engine.procedures().truncate_region("nope")), unknown);
    let region = engine.catalog().region_infos(&t).remove(0);
    engine.procedures().disable_table(&t).unwrap();
    let disabled = ("TableNotEnabledException", "t".to_owned());
    assert_eq!(told(engine.procedures().truncate_region(region.encoded_name())), disabled);
    engine.procedures().enable_table(&t).unwrap();
    engine.procedures().split_table(&t, Some(b"m")).unwrap();
    assert_eq!(
        told(engine.procedures().truncate_region(region.encoded_name())).0,
        "UnknownRegionException"
    );
    assert!(has(&engine, "t", "a").unwrap());
}

/// Daughters that were emptied no longer need their parent.
#[test]
fn a_parent_goes_when_its_daughters_are_emptied() {
    let engine = engine();
    let t = name("t");
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    for row in ["a", "x"] {
        put(&engine, "t", row).unwrap();
    }
    engine.procedures().split_table(&t, Some(b"m")).unwrap();
    for info in engine.catalog().region_infos(&t) {
        engine.procedures().truncate_region(info.encoded_name()).unwrap();
    }
    engine.procedures().clean_parents().unwrap();
    let meta = rows(&engine, "hbase:meta").unwrap();
    assert_eq!(meta.iter().filter(|row| row.starts_with("t,")).count(), 2, "{meta:?}");
    assert_eq!(rows(&engine, "t").unwrap(), [""; 0]);
}

#[test]
fn tables_may_forbid_splits_and_merges() {
    let engine = engine();
    let mut fixed = table("t", &["f"]);
    fixed.set_attribute("SPLIT_ENABLED", "false").unwrap();
    fixed.set_attribute("MERGE_ENABLED", "false").unwrap();
    engine.procedures().create_table(&fixed, &keys(&["k"])).unwrap();
    let infos = engine.catalog().region_infos(&name("t"));
    let message = format!(
        "Split region {} failed as region split is disabled for the table",
        infos[1].region_name_as_string()
    );
    let result = engine.procedures().split_table(&name("t"), Some(b"m"));
    assert_eq!(told(result), ("DoNotRetryIOException", message));
    let names = [infos[0].encoded_name(), infos[1].encoded_name()];
    let message = format!(
        "Merge of [{}, {}] failed as region merge is disabled for the table",
        names[0], names[1]
    );
    assert_eq!(
        told(engine.procedures().merge_regions(&names, MergeKind::Adjacent)),
        ("DoNotRetryIOException", message)
    );
}

/// A parent stays while it is read, and is then removed completely.
#[test]
fn parents_go_when_nothing_refers_to_them() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    let t = name("t");
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    for row in ["a", "x"] {
        put(&engine, "t", row).unwrap();
    }
    let dirs = || {
        let entries = fs.list_dir(&std::path::Path::new(super::DIR).join("data/default/t"));
        entries.unwrap().iter().filter(|entry| !entry.name.starts_with('.')).count()
    };
    engine.procedures().split_table(&t, Some(b"m")).unwrap();
    engine.procedures().clean_parents().unwrap();
    assert_eq!(dirs(), 3);
    engine.compact(CompactRequest::table(&t).major()).unwrap();
    engine.procedures().clean_parents().unwrap();
    assert_eq!(dirs(), 2);
    let infos = engine.catalog().region_infos(&t);
    engine
        .procedures()
        .merge_regions(&[infos[0].encoded_name(), infos[1].encoded_name()], MergeKind::Adjacent)
        .unwrap();
    assert_eq!(dirs(), 3);
    engine.compact(CompactRequest::table(&t).major()).unwrap();
    engine.procedures().clean_parents().unwrap();
    assert_eq!(dirs(), 1);
    let meta = rows(&engine, "hbase:meta").unwrap();
    assert_eq!(meta.iter().filter(|row| row.starts_with("t,")).count(), 1, "{meta:?}");
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "x"]);
}

/// The row of a split region may lose its daughters to damage. It stays while they refer to its
/// files.
#[test]
fn a_parent_that_names_no_daughters_stays_while_it_is_read() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    let t = name("t");
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    let all = ["a", "x"];
    for row in all {
        put(&engine, "t", row).unwrap();
    }
    let parent = engine.catalog().region_infos(&t).remove(0);
    engine.procedures().split_table(&t, Some(b"m")).unwrap();
    let timestamp = engine.catalog().meta.next_timestamp().unwrap();
    let delete =
        Delete::new(parent.region_name()).with_timestamp(timestamp).columns("info", "splitA");
    engine.catalog().meta.write(&[delete.columns("info", "splitB").into()]).unwrap();
    engine.close().unwrap();
    drop(engine);

    let engine = open(&fs).unwrap();
    let dir = std::path::Path::new(super::DIR).join("data/default/t").join(parent.encoded_name());
    engine.procedures().clean_parents().unwrap();
    assert!(fs.exists(&dir).unwrap());
    assert_eq!(rows(&engine, "t").unwrap(), all);
    engine.compact(CompactRequest::table(&t).major()).unwrap();
    engine.procedures().clean_parents().unwrap();
    assert!(!fs.exists(&dir).unwrap());
    engine.close().unwrap();
    drop(engine);
    assert_eq!(rows(&open(&fs).unwrap(), "t").unwrap(), all);
}

/// The parents of a merge are listed for as long as the settings say, and no region that is split
/// or merged again knows two generations.
#[test]
fn parents_are_listed_for_a_while() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let env = Env { clock: clock.clone(), ..super::env(fs) };
    let options = EngineOptions { parents_kept_ms: 1000, ..super::options() };
    let engine = Engine::open(env, std::path::Path::new(super::DIR), options).unwrap();
    let t = name("t");
    engine.procedures().create_table(&table("t", &["f"]), &keys(&["b", "c", "d"])).unwrap();
    clock.advance(1);
    let merge = |first: usize| {
        let infos = engine.catalog().region_infos(&t);
        let names = [infos[first].encoded_name(), infos[first + 1].encoded_name()];
        engine.procedures().merge_regions(&names, MergeKind::Adjacent).unwrap();
    };
    let merged = || {
        let mut scanner =
            engine.table(name("hbase:meta")).scan(&hblite_model::Scan::new()).unwrap();
        let mut row = hblite_model::RowResult::default();
        let mut starts = Vec::new();
        while scanner.next_row(&mut row).unwrap() {
            if row.cell("info", "merge0000").is_some() {
                starts.push(row.row().to_vec());
            }
        }
        starts.len()
    };
    merge(0);
    merge(1);
    engine.procedures().clean_parents().unwrap();
    assert_eq!(merged(), 2);
    clock.advance(1);
    merge(0);
    assert_eq!(merged(), 1);
    engine.procedures().clean_parents().unwrap();
    assert_eq!(merged(), 1);
    clock.advance(1100);
    engine.procedures().clean_parents().unwrap();
    assert_eq!(merged(), 0);
}

/// Its cells stay, in memory and in files, through flushes, copies of its table and another open.
#[test]
fn an_unassigned_region_refuses_operations_until_it_is_assigned() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    let t = name("t");
    engine.procedures().create_table(&table("t", &["f"]), &keys(&["m"])).unwrap();
    put(&engine, "t", "a").unwrap();
    put(&engine, "t", "z").unwrap();
    let infos = engine.catalog().region_infos(&t);
    engine.procedures().unassign(&infos[0]).unwrap();
    let absent = format!("{} is not online: assign it", infos[0].region_name_as_string());
    let absent = ("NotServingRegionException", absent);
    assert_eq!(told(has(&engine, "t", "a")), absent);
    assert_eq!(told(put(&engine, "t", "b")), absent);
    assert_eq!(told(rows(&engine, "t")), absent);
    assert!(has(&engine, "t", "z").unwrap());
    let encoded = infos[0].encoded_name();
    for refused in [
        engine.procedures().split_region(encoded, Some(b"c")),
        engine.procedures().merge_regions(&[encoded, infos[1].encoded_name()], MergeKind::Adjacent),
        engine.procedures().truncate_region(encoded),
    ] {
        assert!(refused.unwrap_err().message().contains("not OPEN"));
    }
    engine.procedures().snapshot("s", &t, &Default::default()).unwrap();
    engine.procedures().clone_snapshot("s", &name("copy"), &Ok).unwrap();
    assert!(has(&engine, "copy", "a").unwrap());
    engine.procedures().modify_table(&table("t", &["f", "g"])).unwrap();
    assert_eq!(told(has(&engine, "t", "a")).0, "NotServingRegionException");
    assert!(has(&engine, "t", "z").unwrap());
    engine.procedures().assign(&infos[0]).unwrap();
    assert!(has(&engine, "t", "a").unwrap());
    for leave in [true, false] {
        engine.procedures().unassign(&infos[0]).unwrap();
        if leave {
            engine.procedures().disable_table(&t).unwrap();
            engine.procedures().enable_table(&t).unwrap();
            assert!(has(&engine, "t", "a").unwrap());
        }
    }
    engine.close().unwrap();
    let engine = open(&fs).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "z"]);
    for system in
        [RegionInfo::meta(), engine.catalog().region_infos(&TableName::namespace_table()).remove(0)]
    {
        let message = format!("hblite does not take {} out of service", system.table());
        assert_eq!(told(engine.procedures().unassign(&system)), ("DoNotRetryIOException", message));
    }
}
