//! Root directories that Apache HBase made: adopted with everything in them and in HBase's logs, or
//! refused with the file's name and left unchanged.
//!
//! A real HBase wrote `tests/fixtures/hbase-root`: 2.6.1 unless the name says otherwise.

mod directory;
mod exported;
mod medium_objects;
mod refused;

use std::path::Path;

use hblite::{NamespaceDescriptor, Put, Scan, TableState};
use hblite_env::{CrashFileSystem, FileSystem};

use crate::testkit::cuts;
use directory::{
    ROOT, adopt, assert_sound, cells, contents, copy_fixture, expected, find, fixture, options,
};

const FIXTURES: [&str; 6] = ["stopped", "killed", "compressed", "split", "hbase-2.4", "hbase-3"];

#[test]
fn all_that_hbase_left_is_there() {
    for name in FIXTURES {
        let fs = fixture(name);
        let before = contents(&fs);
        let connection = adopt(&fs).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(cells(&connection), expected(), "{name}");
        let admin = connection.admin();
        let namespace = NamespaceDescriptor::new("n").with_property("a", "b");
        assert_eq!(admin.describe_namespace("n").expect("it is there"), namespace, "{name}");
        let state = admin.table_state("d").expect("it is there");
        assert_eq!(state, TableState::Disabled, "{name}");
        assert_eq!(admin.regions("n:t").expect("it is there").len(), 2, "{name}");
        admin.enable_table("d").expect("nothing is wrong with it");
        connection.close().expect("nothing fails");
        for (path, content) in &before {
            let is_kept = ["MasterData", "archive", "oldWALs"]
                .iter()
                .any(|dir| path.starts_with(Path::new(ROOT).join(dir)));
            if is_kept && content.is_some() {
                assert_eq!(fs.read(path).ok().as_ref(), content.as_ref(), "{name}: {path:?}");
            }
        }
        assert_sound(&fs, name);
        // From now on it is a store like any other.
        let connection = options(&fs).open(ROOT).expect("it is a store");
        assert_eq!(cells(&connection), expected(), "{name}");
    }
}

#[test]
fn replayed_logs_go_where_hbase_puts_its_own() {
    let fs = fixture("killed");
    let logs: Vec<_> = contents(&fs)
        .into_iter()
        .filter(|(path, content)| path.starts_with("/hbase/WALs") && content.is_some())
        .collect();
    assert_eq!(logs.len(), 2);
    adopt(&fs).and_then(|connection| connection.close()).expect("nothing is wrong");
    for (path, content) in logs {
        assert!(!fs.exists(&path).expect("memory"));
        let old = Path::new("/hbase/oldWALs").join(path.file_name().expect("a file"));
        assert_eq!(fs.read(&old).ok(), content, "{old:?}");
    }
}

#[test]
fn logs_that_hbase_was_splitting_are_read() {
    let fs = fixture("split");
    let is_split = |path: &Path| {
        let path = path.to_string_lossy();
        path.contains("/recovered.edits/0") && !path.contains("/hbase/meta/")
    };
    for path in contents(&fs).into_keys().filter(|path| is_split(path)) {
        fs.remove_file(&path).expect("memory");
    }
    let log = find(&fs, "oldWALs/localhost", ".meta");
    let name = log.file_name().and_then(|name| name.to_str()).expect("text").to_owned();
    let splitting = Path::new("/hbase/WALs/localhost,43551,1795373852518-splitting");
    fs.create_dir_all(splitting).expect("room");
    fs.rename(&log, &splitting.join(name)).expect("memory");
    let connection = adopt(&fs).expect("the log is whole");
    assert_eq!(cells(&connection), expected());
    connection.close().expect("nothing fails");
    assert_sound(&fs, "splitting");
}

#[test]
fn master_data_of_hbase_2_4_gets_the_location_of_meta() {
    let info =
        Path::new("/hbase/MasterData/data/master/store/1595e783b53d99cd5eef43b6debb2682/info");
    for (name, is_added) in [("hbase-2.4", true), ("killed", false)] {
        let fs = fixture(name);
        assert!(!fs.exists(info).expect("memory"), "a killed HBase has it in its log alone");
        adopt(&fs).and_then(|connection| connection.close()).expect("nothing is wrong");
        assert_eq!(fs.exists(info).expect("memory"), is_added, "{name}");
    }
}

#[test]
fn namespaces_of_hbase_3_move_to_their_table() {
    let fs = fixture("hbase-3");
    let count = |connection: &hblite::Connection, table: &str, family: &str| {
        let table = connection.table(table).expect("it is there");
        table.scan(&Scan::new().with_family(family)).expect("nothing is damaged").count()
    };
    let connection = adopt(&fs).expect("nothing is wrong");
    assert_eq!(count(&connection, "hbase:namespace", "info"), 3);
    assert_eq!(count(&connection, "hbase:meta", "ns"), 0);
    let state = connection.admin().table_state("hbase:namespace").expect("it is there");
    assert_eq!(state, TableState::Enabled);
    connection.admin().create_namespace(&NamespaceDescriptor::new("m")).expect("it is new");
    connection.close().expect("nothing fails");
    let connection = options(&fs).open(ROOT).expect("it is a store");
    let names = connection.admin().list_namespaces().expect("they are there");
    let names: Vec<_> = names.iter().map(|namespace| namespace.name.as_str()).collect();
    assert_eq!(names, ["default", "hbase", "m", "n"]);
}

#[test]
fn hbases_directories_are_refused_unless_they_are_asked_for() {
    for name in FIXTURES {
        let fs = fixture(name);
        let before = contents(&fs);
        let error = options(&fs).open(ROOT).expect_err("nobody asked");
        assert!(error.message().contains("hblite from-hbase"), "{error}");
        assert!(contents(&fs) == before, "{name}");
    }
}

/// Puts the log of a region server back that an adoption moved away.
fn put_log_back(fs: &dyn FileSystem) {
    let old = find(fs, "oldWALs/localhost", ".meta");
    let name = old.file_name().and_then(|name| name.to_str()).expect("text").to_owned();
    let log = Path::new("/hbase/WALs/localhost,1,1").join(name);
    fs.create_dir_all(log.parent().expect("a file")).expect("room");
    fs.rename(&old, &log).expect("memory");
}

#[test]
fn logs_of_an_hbase_that_had_a_store_are_refused_and_adopted() {
    let fs = fixture("killed");
    adopt(&fs).and_then(|connection| connection.close()).expect("nothing is wrong");
    put_log_back(&fs);
    let before = contents(&fs);
    let error = options(&fs).open(ROOT).expect_err("there is a log");
    assert!(error.message().contains("hblite from-hbase"), "{error}");
    assert!(contents(&fs) == before);
    let connection = adopt(&fs).expect("the log is of this directory");
    assert_eq!(cells(&connection), expected(), "nothing is there twice");
}

/// HBase opens a region that nothing was written to since it had closed it, flushes or compacts it,
/// and is killed: it leaves no new `.seqid`, and hblite's list of the region's files is old.
#[test]
fn files_that_a_killed_hbase_wrote_are_in_no_manifest() {
    let fs = fixture("killed");
    adopt(&fs).expect("it is adopted").close().expect("it closes");
    let family = find(&fs, "00223f9f32544c10", "\0");
    let region = family.ancestors().nth(2).expect("a region").to_path_buf();
    assert!(fs.exists(&region.join(".manifest")).expect("memory"));
    fs.rename(&family, &family.with_file_name("0".repeat(32))).expect("it is renamed");
    put_log_back(&fs);
    let connection = adopt(&fs).expect("it is adopted");
    assert_eq!(cells(&connection), expected());
    connection.close().expect("it closes");
    assert_sound(&fs, "HBase was killed");
    // Its manifest counts again.
    fs.remove_file(&family.with_file_name("0".repeat(32))).expect("it is there");
    adopt(&fs).expect_err("a file is missing");
}

#[test]
fn a_read_only_open_reads_logs_and_changes_nothing() {
    for name in FIXTURES {
        let fs = fixture(name);
        let before = contents(&fs);
        let connection =
            options(&fs).with_hbase_adopted(true).with_read_only(true).open(ROOT).expect(name);
        assert_eq!(cells(&connection), expected(), "{name}");
        connection.table("n:t").unwrap().put(&Put::new("r").add("f", "q", "v")).unwrap_err();
        connection.close().expect("nothing fails");
        assert!(contents(&fs) == before, "{name}");
    }
}

#[test]
fn an_adoption_that_is_cut_off_goes_on_where_it_was() {
    for fixture in ["killed", "hbase-3"] {
        assert_cuts_do_no_harm(fixture);
    }
}

fn assert_cuts_do_no_harm(fixture: &str) {
    let prepare = || {
        let fs = CrashFileSystem::new();
        copy_fixture(&fs, fixture);
        fs.sync_everything();
        (fs.clone(), fs)
    };
    cuts::at_every_operation(
        7,
        prepare,
        |fs| drop(adopt(&fs)),
        |fs, (), cut| {
            assert!(cut.of > 50, "{cut}");
            for rest in [fs.after_kill(), fs.after_power_cut(cut.after)] {
                let connection = adopt(&rest).unwrap_or_else(|error| panic!("{cut}: {error}"));
                assert_eq!(cells(&connection), expected(), "{fixture}, {cut}");
                let namespaces = connection.admin().list_namespaces().expect("they are there");
                assert_eq!(namespaces.len(), 3, "{fixture}, {cut}: {namespaces:?}");
                connection.close().unwrap_or_else(|error| panic!("{cut}: {error}"));
                assert_sound(&rest, &cut.to_string());
            }
        },
    );
}

#[test]
fn a_log_that_a_kill_cut_off_ends_at_the_last_whole_entry() {
    // A delete comes late in the log: what it deletes may still exist.
    let deleted = ["row07 f logged7", "row11 f logged11", "row11 f flushed"].map(str::to_owned);
    let known = [expected(), deleted.to_vec()].concat();
    let name = find(&fixture("killed"), "hbase/WALs/", ".meta");
    let log = fixture("killed").read(&name).expect("readable");
    let mut counts = Vec::new();
    for length in (0..log.len()).step_by(97) {
        let fs = fixture("killed");
        directory::write(&fs, name.strip_prefix(ROOT).expect("below"), &log[..length]);
        let connection = adopt(&fs).unwrap_or_else(|error| panic!("{length}: {error}"));
        let found = cells(&connection);
        assert!(found.iter().all(|cell| known.contains(cell)), "{length}: {found:?}");
        assert!(found.contains(&"row00 f flushed".to_owned()), "{length}");
        counts.push(found.len());
    }
    assert!(counts.len() > 20, "{counts:?}");
    assert!(counts.first() < counts.last(), "{counts:?}");
}
